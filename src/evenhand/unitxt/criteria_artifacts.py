"""Criteria, rubrics and checklists as artifacts of unitxt.

unitxt's own ``Criteria`` and ``CriteriaWithOptions`` are read as they are. :class:`EvenhandCriterion` adds what they
cannot say: the scale, the weight, and which options mean that the criterion does not apply. The artifacts of rubrics
and checklists hold the plain data of a document (see :mod:`evenhand.data.documents`), in the catalog as in a file that
a user writes, and are read by the same reader.
"""

from collections.abc import Collection, Sequence
from typing import Any, Dict, List, Tuple, Union

from evenhand.criteria import Checklist, Criterion, Rubric
from evenhand.data.documents import (
    ARTIFACT_FIELDS,
    CHECKLIST_FIELDS,
    RUBRIC_FIELDS,
    checklist_document,
    criterion_of_fields,
    read_checklist,
    read_rubric,
    rubric_document,
)
from evenhand.unitxt.bases import Artifact, Criteria, CriteriaOption, CriteriaWithOptions, Maybe


class EvenhandCriterion(CriteriaWithOptions):
    """A criterion with options that also has a scale, a weight and NA options.

    Attributes:
        scale: ``binary``, ``ordinal`` or ``nominal``.
        weight: What it counts in a rubric; negative for a fault.
        na_options: Names of the options that say that the criterion does not apply; their values are ignored.
        section: The part of a rubric that it belongs to; empty for none.
        tags: What it is about.
    """

    scale: str = "ordinal"
    weight: float = 1.0
    na_options: List[str] = []
    section: str = ""
    tags: List[str] = []

    def verify(self) -> None:
        """Check that the artifact is a valid :class:`~evenhand.criteria.Criterion`."""
        super().verify()
        kind = "evenhand_criterion"
        criterion_of_fields({"__type__": kind, **_fields_of(self, ARTIFACT_FIELDS[kind])})


class EvenhandChecklist(Artifact):
    """A list of yes/no questions about one response.

    Attributes:
        name: Names the score.
        description: What the checklist is for.
        prediction_field: The field that holds the response when predictions are not given.
        context_fields: What the judge is shown beside the response.
        items: Texts, or mappings with a question.
    """

    name: str
    description: str = ""
    prediction_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    items: List[Any]

    def verify(self) -> None:
        """Check that the artifact is a valid :class:`~evenhand.criteria.Checklist`."""
        super().verify()
        read_checklist(_fields_of(self, CHECKLIST_FIELDS), f"the checklist {self.name!r}")


class EvenhandRubric(Artifact):
    """Several criteria that together make one score.

    Attributes:
        name: Names the score.
        description: What the rubric is for.
        na_strategy: What a criterion that does not apply does: ``skip``, ``zero``, ``partial`` or ``fail``.
        na_partial: What ``partial`` counts, a share of a criterion's range in [0, 1].
        clip: Where what lies outside [0, 1] is clipped: ``score`` or ``mean``.
        prediction_field: The field that holds the response, for the criteria that name none.
        context_fields: What the judge is shown beside the response, for the criteria that say nothing about it.
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

    def verify(self) -> None:
        """Check that the artifact is a valid :class:`~evenhand.criteria.Rubric`."""
        super().verify()
        read_rubric(_fields_of(self, RUBRIC_FIELDS), f"the rubric {self.name!r}")


_KINDS: Sequence[Tuple[type, str, Collection[str]]] = (
    (EvenhandRubric, "evenhand_rubric", RUBRIC_FIELDS),
    (EvenhandChecklist, "evenhand_checklist", CHECKLIST_FIELDS),
    (EvenhandCriterion, "evenhand_criterion", ARTIFACT_FIELDS["evenhand_criterion"]),
    (CriteriaWithOptions, "criteria_with_options", ARTIFACT_FIELDS["criteria_with_options"]),
    (Criteria, "criteria", ARTIFACT_FIELDS["criteria"]),
)
"""The artifacts that can be judged by, a class before its base: the class, its type in catalogs, and its fields."""


def data_of(artifact: object) -> Union[Dict[str, Any], None]:
    """The fields of an artifact as plain data with their ``__type__``; None where nothing can be judged by it."""
    for artifact_class, kind, names in _KINDS:
        if isinstance(artifact, artifact_class):
            return {"__type__": kind, **_fields_of(artifact, names)}
    return None


def _fields_of(artifact: object, names: Collection[str]) -> Dict[str, Any]:
    fields = {name: getattr(artifact, name) for name in names}
    if "options" in fields:
        fields["options"] = [{"name": each.name, "description": each.description} for each in fields["options"]]
    return fields


def to_artifact(value: Union[Criterion, Rubric, Checklist]) -> Artifact:
    """The artifact of a frozen value, for the catalog, for the fields of metrics and for unitxt's own judges.

    A pairwise criterion becomes unitxt's criterion without options: what a comparison offers is said where it is held.
    """
    if isinstance(value, Rubric):
        return EvenhandRubric(**rubric_document(value))
    if isinstance(value, Checklist):
        return EvenhandChecklist(**checklist_document(value))
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
