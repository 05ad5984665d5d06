"""Criteria, rubrics and checklists as unitxt artifacts and as frozen values, and one door to them: :func:`load`.

unitxt's own ``Criteria`` and ``CriteriaWithOptions`` are read as they are. :class:`EvenhandCriterion` adds what they
cannot say: the scale, the weight, and which options mean that the criterion does not apply. The artifacts of rubrics
and checklists hold the plain data of a document (see :mod:`evenhand.data.documents`), in the catalog as in a file that
a user writes, and are read by the same reader.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Dict, Generic, List, TypeVar, Union, cast

from pydantic import ValidationError

from evenhand.criteria import Checklist, Criterion, Option, Rubric, Scale, fold_label
from evenhand.data.documents import (
    CHECKLIST_FIELDS,
    CRITERION_FIELDS,
    RUBRIC_FIELDS,
    SCALES,
    checklist_document,
    implied_scale,
    read_checklist,
    read_criterion_or_fields,
    read_rubric,
    rubric_document,
)
from evenhand.data.formats import FORMATS
from evenhand.data.plain_data import context_mapping, validation_message
from evenhand.errors import ArtifactError, EvenhandWarning, InvalidCriterionError, did_you_mean
from evenhand.question import comparison_criterion
from evenhand.unitxt.bases import (
    Artifact,
    Criteria,
    CriteriaOption,
    CriteriaWithOptions,
    Maybe,
    fetch_artifact,
    own_words,
)
from evenhand.unitxt.catalogs import Kind, register_catalog, resolve, resolve_of_row, shown


class UndefinedScoreWarning(EvenhandWarning):
    """A criterion has no values for its options: an option can be selected, but there is no score."""


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
        _frozen_criterion(self)


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
        CHECKLIST.frozen(self)


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
        RUBRIC.frozen(self)


Value = TypeVar("Value", Rubric, Checklist)
Document = TypeVar("Document", EvenhandRubric, EvenhandChecklist)


@dataclass(frozen=True)
class DocumentKind(Generic[Value, Document]):
    """What differs between the kinds of documents.

    Attributes:
        kind: Its name.
        value: Of which class the frozen value is.
        artifact: Of which class the artifact is.
        fields: Of the document.
        read: Makes data, with what messages call them and a name where it has none, the value.
        written: Makes a value data.
        check: Checks a value that was read or given.
    """

    kind: Kind
    value: type[Value]
    artifact: type[Document]
    fields: tuple[str, ...]
    read: Callable[..., Value]
    written: Callable[[Value], dict[str, Any]]
    check: Callable[[Value], None] = lambda _: None

    def load(self, reference: object) -> Value:
        """The frozen value that a reference stands for: see :func:`load_rubric`."""
        referent = resolve(reference, self.kind)
        value = self.frozen(referent.data) if isinstance(referent.data, Artifact) else referent.data
        if not isinstance(value, self.value):
            what = referent.what(self.kind)
            value = self.read(self._own_fields(value, what), what, name=referent.name or self.kind)
        self.check(value)
        return value

    def made(self, reference: object) -> Document:
        """The artifact that a reference stands for: what is given is checked before anything is built."""
        return (
            reference if isinstance(reference, self.artifact) else self.artifact(**self.written(self.load(reference)))
        )

    def frozen(self, artifact: Artifact) -> Value:
        """The frozen value of an artifact."""
        if not isinstance(artifact, self.artifact):
            raise ArtifactError(f"{shown(artifact)} is a {type(artifact).__name__}, not a {self.kind}")
        return self.read(
            {field: getattr(artifact, field) for field in self.fields}, f"the {self.kind} {artifact.name!r}"
        )

    def _own_fields(self, data: object, what: str) -> object:
        """The data without what only the catalog says about them."""
        if not isinstance(data, dict) or "__type__" not in data:
            return data
        named, expected = data["__type__"], f"evenhand_{self.kind}"
        if named != expected:
            raise ArtifactError(f"{what} has the type {named!r}, which is not a {self.kind}; accepted: {expected!r}")
        unread = "data_classification_policy"
        return {field: value for field, value in data.items() if not field.startswith("__") and field != unread}


RUBRIC = DocumentKind(
    "rubric", Rubric, EvenhandRubric, RUBRIC_FIELDS, read_rubric, rubric_document, Rubric.check_not_empty
)
CHECKLIST = DocumentKind(
    "checklist", Checklist, EvenhandChecklist, CHECKLIST_FIELDS, read_checklist, checklist_document
)


_TELLING = frozenset({"__type__", "name", *CRITERION_FIELDS})
"""A mapping that is a criterion has one of these fields."""


def load(reference: object) -> Union[Criterion, Rubric, Checklist]:
    """The criterion, rubric or checklist that a reference stands for.

    A mapping with ``criteria`` or ``sections`` is a rubric, one with ``items`` a checklist, any other a criterion
    (without options it is that of a comparison). A list is what its mappings are: a checklist if they have questions,
    a rubric if they have requirements. What is in the format of another tool is told by its shape, and read as it is
    there: see :mod:`evenhand.data.formats`.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a plain sentence (``"Is it polite?"`` is a yes/no
            criterion), a dict, a list, a JSON text, an artifact or a frozen value.

    Raises:
        ArtifactError: If there is no such thing, or it is none of the three.
        InvalidCriterionError: If it contradicts itself.
    """
    referent = resolve(reference)
    kind = kind_of(referent)
    if isinstance(referent.data, dict) and kind == "criterion" and not _TELLING & referent.data.keys():
        raise ArtifactError(
            f"{referent.what()} is an object with the fields {sorted(referent.data)!r}, which is neither a criterion "
            "(name, description, options), a rubric (criteria or sections), a checklist (items) nor in a format of "
            f"another tool that is known by its shape: {', '.join(FORMATS)}"
        )
    if kind == "rubric":
        return load_rubric(referent)
    return load_checklist(referent) if kind == "checklist" else load_any_criterion(referent)


def kind_of(reference: object) -> Kind:
    """Whether a reference stands for a criterion, a rubric or a checklist; nothing is built.

    Raises:
        ArtifactError: If there is no such thing, or it may be more than one.
    """
    referent = resolve(reference)
    data = referent.data
    if isinstance(data, list):
        fields = {field for item in data if isinstance(item, dict) for field in item}
        if "question" in fields:
            return "checklist"
        if fields & set(CRITERION_FIELDS):
            return "rubric"
        raise ArtifactError(
            f"{referent.what()} is a list that may be a rubric or a checklist: give a mapping with criteria or items, "
            "or name what it is with load_rubric or load_checklist"
        )
    for kind, listed in ((RUBRIC, {"criteria", "sections"}), (CHECKLIST, {"items"})):
        if isinstance(data, dict):
            found = data["__type__"] == f"evenhand_{kind.kind}" if "__type__" in data else bool(listed & data.keys())
        else:
            found = isinstance(data, (kind.value, kind.artifact))
        if found:
            return kind.kind
    return "criterion"


def load_rubric(reference: object) -> Rubric:
    """The rubric that a reference stands for.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a dict, a list of criteria, a JSON text, an artifact
            or a frozen value.

    Raises:
        ArtifactError: If there is no such thing, or it is not a rubric.
        InvalidCriterionError: If it contradicts itself.
    """
    rubric = RUBRIC.load(reference)
    for criterion in rubric.criteria:
        _warn_without_values(criterion)
    return rubric


def load_checklist(reference: object) -> Checklist:
    """The checklist that a reference stands for: see :func:`load_rubric`."""
    return CHECKLIST.load(reference)


def rubric_artifact(reference: object) -> EvenhandRubric:
    """The artifact of a rubric, for the field of a metric: see :func:`load_rubric`."""
    return RUBRIC.made(reference)


def checklist_artifact(reference: object) -> EvenhandChecklist:
    """The artifact of a checklist, for the field of a metric: see :func:`load_rubric`."""
    return CHECKLIST.made(reference)


def load_checklist_of_row(given: object, what: str) -> Checklist:
    """The checklist that a row of data holds, or names by its catalog id; see :func:`resolve_of_row`.

    Args:
        given: As it stands in the row.
        what: It is called in messages.

    Raises:
        ArtifactError: If it is something else, or the id is not that of a checklist.
        InvalidCriterionError: If it contradicts itself.
    """
    return _of_row(load_checklist, given, "checklist", what)


def load_rubric_of_row(given: object, what: str) -> Rubric:
    """The rubric that a row of data holds, or names by its catalog id: see :func:`load_checklist_of_row`."""
    return _of_row(load_rubric, given, "rubric", what)


def load_criteria_artifact_of_row(given: object, what: str) -> Criteria:
    """The criterion that a row of data holds, or names by its catalog id: see :func:`load_checklist_of_row`."""
    return _of_row(load_criteria_artifact, given, "criterion", what)


Loaded = TypeVar("Loaded", Rubric, Checklist, Criteria)


def _of_row(load_it: Callable[[object], Loaded], given: object, kind: Kind, what: str) -> Loaded:
    try:
        return load_it(resolve_of_row(given, kind))
    except (ArtifactError, InvalidCriterionError) as error:
        raise type(error)(f"{what}: {error}") from error


def load_criterion(reference: object) -> Criterion:
    """A criterion with options from a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion with options.
        InvalidCriterionError: If it contradicts itself.
    """
    found = _criterion_or_artifact(reference)
    if isinstance(found, Criteria) and not isinstance(found, CriteriaWithOptions):
        raise ArtifactError(
            f"{shown(reference)} is a criterion without options of its own, which fits a comparison; direct "
            "assessment needs one with options, such as 'criteria.evenhand.direct.relevance'"
        )
    if isinstance(found, Criterion) and found.scale == "pairwise":
        raise ArtifactError(
            f"the criterion {found.name!r} compares two responses: its options {list(found.labels)!r} say which one is "
            "better. It fits a comparison; direct assessment and recorded votes need a criterion on one response, such "
            "as 'criteria.evenhand.direct.relevance', or for recorded choices one of the scale nominal with these "
            "options"
        )
    return load_any_criterion(found)


def load_any_criterion(reference: object) -> Criterion:
    """The criterion that a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact stands for.

    Without options it is the criterion of a comparison.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
        InvalidCriterionError: If it contradicts itself.
    """
    found = _criterion_or_artifact(reference)
    if isinstance(found, Criterion):
        _warn_without_values(found)
        return found
    return criterion_from_artifact(found) if isinstance(found, CriteriaWithOptions) else comparison_from_artifact(found)


def load_comparison(reference: object, *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """The pairwise criterion from a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
    """
    found = _criterion_or_artifact(reference)
    if isinstance(found, Criterion) and found.scale == "pairwise":
        return found
    return comparison_from_artifact(found, allow_ties=allow_ties, graded=graded)


def load_criteria_artifact(reference: object) -> Criteria:
    """A criteria artifact, and nothing else: a description is checked before anything is built.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criteria artifact.
        InvalidCriterionError: If it contradicts itself.
    """
    found = _criterion_or_artifact(reference)
    return artifact_from_criterion(found) if isinstance(found, Criterion) else found


def _criterion_or_artifact(reference: object) -> Union[Criterion, Criteria]:
    """The frozen value that a reference stands for; an artifact where one is given, or it is written as unitxt does."""
    referent = resolve(reference, "criterion")
    if isinstance(referent.data, (Criterion, Criteria)):
        return referent.data
    if isinstance(referent.data, Artifact):
        raise ArtifactError(f"{shown(referent.data)} is a {type(referent.data).__name__}, not a criterion")
    register_catalog()
    found = read_criterion_or_fields(referent.data, referent.what("criterion"))
    if isinstance(found, Criterion):
        return found
    try:
        artifact: Criteria = fetch_artifact(found)[0]
    except Exception as error:  # unitxt raises many kinds, and boxes their words
        raise InvalidCriterionError(f"{shown(referent.reference)} cannot be used: {own_words(error)}") from error
    return artifact


def criterion_from_artifact(artifact: CriteriaWithOptions) -> Criterion:
    """The frozen value of an artifact with options.

    An artifact without an option map, or whose map leaves an option out, has no scores: values are not invented. The
    conversion warns (:class:`UndefinedScoreWarning`), the judge selects options, and every score stays undefined.

    Raises:
        InvalidCriterionError: If the artifact contradicts itself.
    """
    criterion = _frozen_criterion(artifact)
    _warn_without_values(criterion)
    if criterion.has_values:
        return criterion
    options = tuple(option.model_copy(update={"value": None}) for option in criterion.options)
    return criterion.model_copy(update={"options": options})


def comparison_from_artifact(
    artifact: Union[Criteria, Criterion], *, allow_ties: bool = False, graded: bool = False
) -> Criterion:
    """The pairwise criterion of an artifact or of a frozen value, whose own options play no part."""
    return comparison_criterion(
        artifact.name,
        artifact.description,
        allow_ties=allow_ties,
        graded=graded,
        context_fields=context_mapping(artifact.context_fields),
        prediction_field=artifact.prediction_field,
    )


def artifact_from_criterion(criterion: Criterion) -> Criteria:
    """The artifact of a frozen value, for the catalog and for unitxt's own judges.

    A pairwise criterion becomes unitxt's criterion without options: what a comparison offers is said where it is held.
    """
    shared: Dict[str, Any] = {
        "name": criterion.name,
        "description": criterion.description,
        "prediction_field": criterion.prediction_field,
        "context_fields": dict(criterion.context_fields) or None,
    }
    if criterion.scale == "pairwise":
        return Criteria(**shared)
    return EvenhandCriterion(
        **shared,
        scale=criterion.scale,
        weight=criterion.weight,
        options=[CriteriaOption(name=option.label, description=option.description) for option in criterion.options],
        option_map={option.label: option.value for option in criterion.options if option.value is not None} or None,
        na_options=[option.label for option in criterion.options if option.na],
        section=criterion.section,
        tags=list(criterion.tags),
    )


def _frozen_criterion(artifact: CriteriaWithOptions) -> Criterion:
    """The artifact's fields as they are; an option that the map leaves out has no value."""
    na_options = {fold_label(name) for name in getattr(artifact, "na_options", None) or ()}
    values = {fold_label(str(name)): value for name, value in (artifact.option_map or {}).items()}
    names = [fold_label(option.name) for option in artifact.options]
    for field, given in (("option_map", set(values)), ("na_options", na_options)):
        unknown = sorted(given - set(names))
        if unknown:
            raise InvalidCriterionError(
                f"the {field} of the criterion {artifact.name!r} names {unknown!r}, which are not among its options. "
                f"{did_you_mean(unknown[0], names)}"
            )
    try:
        options = tuple(
            Option(
                label=option.name,
                value=values.get(name),
                description=option.description or "",
                na=name in na_options,
            )
            for option, name in zip(artifact.options, names, strict=True)
        )
        return Criterion(
            name=artifact.name,
            description=artifact.description,
            options=options,
            scale=_scale_of(artifact, options),
            weight=getattr(artifact, "weight", 1.0),
            prediction_field=artifact.prediction_field,
            context_fields=context_mapping(artifact.context_fields),
            section=getattr(artifact, "section", ""),
            tags=tuple(getattr(artifact, "tags", ())),
        )
    except ValidationError as error:
        raise InvalidCriterionError(
            f"the criterion {artifact.name!r} cannot be read: {validation_message(error)}"
        ) from error


def _scale_of(artifact: CriteriaWithOptions, options: tuple[Option, ...]) -> Scale:
    """The artifact's own scale; for unitxt's: binary for two options with different values, else ordinal."""
    if not isinstance(artifact, EvenhandCriterion):
        return implied_scale(options)
    if artifact.scale not in SCALES:
        raise InvalidCriterionError(
            f"the scale of the criterion {artifact.name!r} is {artifact.scale!r}. "
            + did_you_mean(artifact.scale, SCALES)
        )
    return cast(Scale, artifact.scale)


def _warn_without_values(criterion: Criterion) -> None:
    """Warn (:class:`UndefinedScoreWarning`) if an option that is not NA has no value."""
    unvalued = [option.label for option in criterion.options if not option.na and option.value is None]
    if unvalued:
        warnings.warn(
            f"the criterion {criterion.name!r} gives no value to {unvalued!r}, so its score is undefined: options are "
            "selected, and every score is missing. Give each option a value (in unitxt's form: an option_map)",
            UndefinedScoreWarning,
            stacklevel=3,
        )
