"""Criteria, rubrics and checklists as frozen values, by whatever stands for them: :func:`load`.

unitxt is imported only where a reference needs it (see :mod:`evenhand.unitxt.catalogs`), and for artifacts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evenhand.criteria import Checklist, Criterion, Rubric
from evenhand.data.documents import (
    CRITERION_FIELDS,
    criterion_of_fields,
    read_checklist,
    read_criterion_or_fields,
    read_rubric,
)
from evenhand.data.formats.rubrics import FORMATS
from evenhand.data.plain import context_mapping
from evenhand.errors import ArtifactError, EvenhandWarning, InvalidCriterionError
from evenhand.question import comparison_criterion
from evenhand.unitxt.catalogs import VALUES, Kind, Referent, resolve, resolve_of_row, shown

if TYPE_CHECKING:
    from evenhand.unitxt.bases import Criteria


class UndefinedScoreWarning(EvenhandWarning):
    """A criterion has no values for its options: an option can be selected, but there is no score."""


_TELLING = frozenset({"__type__", "name", *CRITERION_FIELDS})
"""A mapping that is a criterion has one of these fields."""


def load(reference: object) -> Criterion | Rubric | Checklist:
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
    listings: tuple[tuple[Kind, set[str]], ...] = (("rubric", {"criteria", "sections"}), ("checklist", {"items"}))
    for kind, listed in listings:
        if isinstance(data, dict):
            found = data["__type__"] == f"evenhand_{kind}" if "__type__" in data else bool(listed & data.keys())
        else:
            found = isinstance(data, VALUES[kind])
        if found:
            return kind
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
    rubric = _load_document(reference, "rubric", Rubric, read_rubric)
    rubric.check_not_empty()
    for criterion in rubric.criteria:
        _warn_without_values(criterion)
    return rubric


def load_checklist(reference: object) -> Checklist:
    """The checklist that a reference stands for: see :func:`load_rubric`."""
    return _load_document(reference, "checklist", Checklist, read_checklist)


Document = TypeVar("Document", Rubric, Checklist)


def _load_document(reference: object, kind: Kind, value: type[Document], read: Callable[..., Document]) -> Document:
    referent = resolve(reference, kind)
    if isinstance(referent.data, value):
        return referent.data
    what = referent.what(kind)
    return read(_own_fields(referent.data, kind, what), what, name=referent.name or kind)


def _own_fields(data: object, kind: Kind, what: str) -> object:
    """The data without what only the catalog says about them."""
    if not isinstance(data, dict) or "__type__" not in data:
        return data
    named, expected = data["__type__"], f"evenhand_{kind}"
    if named != expected:
        raise ArtifactError(f"{what} has the type {named!r}, which is not a {kind}; accepted: {expected!r}")
    skipped = "data_classification_policy"
    return {field: value for field, value in data.items() if not field.startswith("__") and field != skipped}


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


Loaded = TypeVar("Loaded")


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
    found = _criterion_or_fields(resolve(reference, "criterion"))
    if isinstance(found, dict) and "options" not in found:
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
    return _frozen(found)


def load_any_criterion(reference: object) -> Criterion:
    """The criterion that a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact stands for.

    Without options it is the criterion of a comparison.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
        InvalidCriterionError: If it contradicts itself.
    """
    return _frozen(_criterion_or_fields(resolve(reference, "criterion")))


def load_comparison(reference: object, *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """The pairwise criterion from a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact.

    The options of a criterion that is not pairwise play no part.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
    """
    found = _criterion_or_fields(resolve(reference, "criterion"))
    if isinstance(found, Criterion) and found.scale == "pairwise":
        return found
    if isinstance(found, dict) and found["__type__"] == "evenhand_criterion":
        criterion_of_fields(found)  # one that contradicts itself is refused here too
    return _comparison(dict(found), allow_ties=allow_ties, graded=graded)


def load_criteria_artifact(reference: object) -> Criteria:
    """A criteria artifact, and nothing else: a description is checked before anything is built.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criteria artifact.
        InvalidCriterionError: If it contradicts itself.
    """
    from evenhand.unitxt.bases import Criteria, fetch_artifact, own_words  # noqa: PLC0415 - imports unitxt
    from evenhand.unitxt.criteria_artifacts import to_artifact  # noqa: PLC0415 - imports unitxt

    if isinstance(reference, Criteria):
        return reference
    referent = resolve(reference, "criterion")
    if isinstance(referent.reference, Criteria):
        return referent.reference
    found = _criterion_or_fields(referent)
    try:
        return cast("Criteria", to_artifact(found) if isinstance(found, Criterion) else fetch_artifact(found)[0])
    except Exception as error:  # unitxt raises many kinds, and boxes their words
        raise InvalidCriterionError(f"{shown(reference)} cannot be used: {own_words(error)}") from error


def _criterion_or_fields(referent: Referent) -> Criterion | dict[str, Any]:
    """The frozen value that a reference stands for; where it is written as unitxt does, its fields."""
    if isinstance(referent.data, Criterion):
        return referent.data
    return read_criterion_or_fields(referent.data, referent.what("criterion"))


def _frozen(found: Criterion | dict[str, Any]) -> Criterion:
    """The frozen value of what was read.

    One without an option map, or whose map leaves an option out, has no scores: values are not invented. The judge
    selects options, and every score stays undefined, of which this warns (:class:`UndefinedScoreWarning`).
    """
    if isinstance(found, Criterion):
        _warn_without_values(found)
        return found
    if "options" not in found:
        return _comparison(found)
    criterion = criterion_of_fields(found)
    _warn_without_values(criterion)
    if criterion.has_values:
        return criterion
    options = tuple(option.model_copy(update={"value": None}) for option in criterion.options)
    return criterion.model_copy(update={"options": options})


def _comparison(fields: dict[str, Any], *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """The pairwise criterion of a criterion's fields, without its own options."""
    return comparison_criterion(
        fields["name"],
        fields["description"],
        allow_ties=allow_ties,
        graded=graded,
        context_fields=context_mapping(fields.get("context_fields")),
        prediction_field=fields.get("prediction_field"),
    )


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
