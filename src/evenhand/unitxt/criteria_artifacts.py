"""Criteria, rubrics and checklists as artifacts of unitxt.

unitxt's own ``Criteria`` and ``CriteriaWithOptions`` are read as they are. :class:`EvenhandCriterion` adds what they
cannot say: the scale, the weight, and which options mean that the criterion does not apply. The artifacts of rubrics
and checklists hold the plain data of a document (see :mod:`evenhand.data.documents`), in the catalog as in a file that
a user writes, and are read by the same reader.
"""

from functools import cached_property
from typing import Any, Dict, List, Union, cast

from evenhand.criteria import Checklist, Criterion, Rubric
from evenhand.data.documents import (
    ARTIFACT_FIELDS,
    CHECKLIST_FIELDS,
    RUBRIC_FIELDS,
    read_checklist,
    read_criterion,
    read_rubric,
)
from evenhand.unitxt.bases import Artifact, Criteria, CriteriaOption, CriteriaWithOptions, Maybe


class FrozenArtifact(Artifact):
    """An artifact of a value that is frozen, and so checked, once: until a field is set to something else."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self.__dict__.pop("value", None)

    def verify(self) -> None:
        """Check the fields by freezing the value."""
        super().verify()
        self.value  # noqa: B018 - it is frozen on first use

    @cached_property
    def value(self) -> Any:
        """The frozen value, with the fields as they are now."""
        raise NotImplementedError


class EvenhandCriterion(FrozenArtifact, CriteriaWithOptions):
    """A criterion with options that also has a scale, a weight and NA options.

    Attributes:
        scale: ``binary``, ``ordinal`` or ``nominal``.
        weight: What it counts in a rubric; negative for a fault.
        na_options: Names of the options that say that the criterion does not apply; their values are ignored.
        section: The part of a rubric that it belongs to; empty for none.
        tags: The tags of its subject.
    """

    scale: str = "ordinal"
    weight: float = 1.0
    na_options: List[str] = []
    section: str = ""
    tags: List[str] = []

    @cached_property
    def value(self) -> Criterion:
        """The criterion."""
        return cast(Criterion, read_criterion(_fields_of(self, "evenhand_criterion"), f"the criterion {self.name!r}"))


class EvenhandChecklist(FrozenArtifact):
    """A list of yes/no questions about one response.

    Attributes:
        name: Names the score.
        description: The purpose of the checklist.
        prediction_field: The field that holds the response when predictions are not given.
        context_fields: What the judge is shown with the response.
        items: Texts, or mappings with a question.
    """

    name: str
    description: str = ""
    prediction_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    items: List[Any]

    @cached_property
    def value(self) -> Checklist:
        """The checklist."""
        fields = {name: getattr(self, name) for name in CHECKLIST_FIELDS}
        return read_checklist(fields, f"the checklist {self.name!r}")


class EvenhandRubric(FrozenArtifact):
    """Several criteria that together make one score.

    Attributes:
        name: Names the score.
        description: The purpose of the rubric.
        na_strategy: What a criterion that does not apply does: ``skip``, ``zero``, ``partial`` or ``fail``.
        na_partial: What ``partial`` counts, a share of a criterion's range in [0, 1].
        clip: Where what lies outside [0, 1] is clipped: ``score`` or ``mean``.
        prediction_field: The field that holds the response, for the criteria that name none.
        context_fields: What the judge is shown with the response, for the criteria that say nothing about it.
        criteria: Texts, or mappings with a requirement; there are either criteria or sections, or in a nested rubric
            both.
        sections: Mappings with a name and criteria; with a weight they are those of a nested rubric.
    """

    name: str
    description: str = ""
    na_strategy: str = "skip"
    na_partial: float = 0.5
    clip: str = "score"
    prediction_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    criteria: Maybe[List[Any]] = None
    sections: Maybe[List[Any]] = None

    @cached_property
    def value(self) -> Rubric:
        """The rubric."""
        fields = {name: getattr(self, name) for name in RUBRIC_FIELDS}
        return read_rubric(fields, f"the rubric {self.name!r}")


def data_of(artifact: object) -> Union[Criterion, Rubric, Checklist, Dict[str, Any], None]:
    """Return the frozen value of our artifact, or the fields of unitxt's criterion; None for anything else."""
    if isinstance(artifact, FrozenArtifact):
        value: Union[Criterion, Rubric, Checklist] = artifact.value
        return value
    if not isinstance(artifact, Criteria):
        return None
    return _fields_of(artifact, "criteria_with_options" if isinstance(artifact, CriteriaWithOptions) else "criteria")


def _fields_of(artifact: Criteria, kind: str) -> Dict[str, Any]:
    held = {name: getattr(artifact, name) for name in ARTIFACT_FIELDS if hasattr(artifact, name)}
    fields: Dict[str, Any] = {"__type__": kind, **held}
    if "options" in fields:
        fields["options"] = [{"name": each.name, "description": each.description} for each in fields["options"]]
    return fields


def to_artifact(value: Union[Criterion, Rubric, Checklist]) -> Artifact:
    """Return the artifact of a frozen value, for the catalog, for the fields of metrics and for unitxt's own judges.

    A pairwise criterion becomes unitxt's criterion without options: what a comparison offers is said where it is held.
    """
    if isinstance(value, Rubric):
        return EvenhandRubric(**value.model_dump(mode="json"))
    if isinstance(value, Checklist):
        return EvenhandChecklist(**value.model_dump(mode="json"))
    shared: Dict[str, Any] = {
        "name": value.name,
        "description": value.description,
        "prediction_field": value.prediction_field,
        "context_fields": dict(value.context_fields) or None,
    }
    if value.scale == "pairwise":
        return Criteria(**shared)
    return EvenhandCriterion(
        **shared,
        scale=value.scale,
        weight=value.weight,
        options=[CriteriaOption(name=option.label, description=option.description) for option in value.options],
        option_map={option.label: option.value for option in value.options if option.value is not None} or None,
        na_options=[option.label for option in value.options if option.na],
        section=value.section,
        tags=list(value.tags),
    )
