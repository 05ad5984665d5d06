"""Criteria, rubrics and checklists as frozen values, from references to them: :func:`load`.

A reference is a catalog id, the path of a JSON or YAML file, a JSON text, a mapping, a list, an artifact or a frozen
value; and, for a criterion, a plain sentence, which is a yes/no criterion. :func:`resolve` finds what it stands for
and builds nothing. Data in the format of another tool are translated (:mod:`evenhand.data.formats`). unitxt is imported
only for ids that are not evenhand's own, for overrides in brackets behind an id, and for artifacts.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from evenhand.catalog import catalog_path, own_entry, read_brackets, read_entry, unknown_id
from evenhand.criteria import Checklist, Criterion, FrozenModel, Rubric, yes_no_criterion
from evenhand.data.documents import (
    CRITERION_FIELDS,
    derive_name,
    names_a_file,
    read_checklist,
    read_criterion,
    read_rubric,
    reads_as_sentence,
)
from evenhand.data.fields import cell_name, field_of, text_of
from evenhand.data.formats import translate_format
from evenhand.data.plain import briefly, is_of, parse_json, plain, plain_cell, read_document
from evenhand.errors import ArtifactError, EvenhandWarning, InvalidCriterionError
from evenhand.files import expanded
from evenhand.question import comparison_criterion

if TYPE_CHECKING:
    from evenhand.unitxt.bases import Criteria

FURTHER_CATALOGS: Final = ("UNITXT_CATALOGS", "UNITXT_ARTIFACTORIES")
"""The settings of unitxt that name further catalogs, which may hold ids of the form ``….evenhand.…`` too."""

Kind = Literal["criterion", "rubric", "checklist"]
EXAMPLES: Final[Mapping[Kind, str]] = {
    "criterion": "criteria.evenhand.direct.relevance",
    "rubric": "rubrics.evenhand.summarization",
    "checklist": "checklists.evenhand.summary",
}
VALUES: Final[Mapping[Kind, type[FrozenModel]]] = {"criterion": Criterion, "rubric": Rubric, "checklist": Checklist}

_CATALOG_ID: Final = re.compile(r"[\w-]+(\.[\w-]+)+")


class UndefinedScoreWarning(EvenhandWarning):
    """A criterion has no values for its options: an option can be selected, but there is no score."""


def register_catalog() -> Path:
    """Add the catalog to those that unitxt searches, and return its folder. Doing it twice is harmless."""
    from evenhand.unitxt.bases import register_local_catalog  # noqa: PLC0415 - imports unitxt

    path = catalog_path()
    register_local_catalog(str(path))
    return path


@dataclass(frozen=True, slots=True)
class Referent:
    """The value of a reference. It is a reference itself, so that nothing is read twice.

    Attributes:
        data: A frozen value; else a mapping, or a list if the reference is or holds one. Of an artifact of unitxt's
            own, its fields with their ``__type__``.
        reference: The reference as given.
        what: Names it in messages.
        name: The name of its file or entry, used if the data have none.
    """

    data: Any
    reference: object
    what: str
    name: str | None = None


def resolve(reference: object, kind: Kind | None = None) -> Referent:
    """Find what a reference stands for.

    Args:
        reference: A catalog id, the path of a JSON or YAML file, a JSON text, a plain sentence, a mapping, a list, a
            frozen value, an artifact, or the result of another call.
        kind: The expected kind, for messages; None for any kind.

    Raises:
        ArtifactError: If there is no such thing, or it cannot be read.
    """
    if isinstance(reference, Referent):
        return reference
    what, kinds = describe(reference), (VALUES[kind],) if kind else tuple(VALUES.values())
    if isinstance(reference, kinds):
        return Referent(reference, reference, what)
    if isinstance(reference, (Mapping, list, tuple)):
        data = dict(reference) if isinstance(reference, Mapping) else list(reference)
        return Referent(translate_format(plain(data, what), what), reference, what)
    if isinstance(reference, Path) or (isinstance(reference, str) and names_a_file(reference)):
        path = expanded(reference)
        what = f"the file {str(path)!r}"
        return Referent(translate_format(read_document(path, what), what), reference, what, path.stem)
    if isinstance(reference, str):
        return _resolve_text(reference, kind)
    if is_of(reference, "unitxt"):
        from evenhand.unitxt.criteria_artifacts import data_of  # noqa: PLC0415 - imports unitxt

        found = data_of(reference)
        if isinstance(found, kinds) or (isinstance(found, dict) and kind in {None, "criterion"}):
            return Referent(found, reference, f"the {kind or 'artifact'} {getattr(reference, 'name', '')!r}")
    wanted = kind or "criterion"
    given = f"no {wanted} was given" if reference is None else f"{what} is a {type(reference).__name__}"
    raise ArtifactError(
        f"{given}; give a catalog id such as "
        f"{EXAMPLES[wanted]!r}, the path of a JSON or YAML file, a dict, or a {wanted}"
    )


def _resolve_text(reference: str, kind: Kind | None) -> Referent:
    """Find what a text stands for that is not a path."""
    text, what = reference.strip(), describe(reference)
    if text.startswith(("{", "[")):
        return Referent(translate_format(parse_json(reference, "the JSON text"), "the JSON text"), reference, what)
    if reads_as_sentence(text) and kind in {None, "criterion"}:
        return Referent(yes_no_criterion(derive_name(text), text), reference, what)
    name = reference.partition("[")[0].rpartition(".")[2]
    return Referent(catalog_object(reference, kind), reference, what, name)


def catalog_object(identifier: str, kind: Kind | None = None) -> dict[str, Any]:
    """Return the fields of a catalog id, with the overrides ``[name=value]`` behind it.

    Only catalogs on this machine are searched: unitxt would ask its catalog on the network about an unknown id.
    """
    name, bracket, rest = identifier.partition("[")
    overrides = read_brackets(name, bracket + rest)
    path = own_entry(name)
    further = any(map(os.environ.get, FURTHER_CATALOGS))
    if path is None and (".evenhand." not in name or further):
        from evenhand.unitxt.bases import Catalogs, LocalCatalog  # noqa: PLC0415 - imports unitxt

        register_catalog()
        local = (each for each in Catalogs() if isinstance(each, LocalCatalog) and each.is_local)
        path = next((Path(each.path(name)) for each in local if name.strip() and name in each), None)
    if path is None:
        raise unknown_id(identifier, kind)
    entry = read_entry(path)
    if entry.get("__type__") == "artifact_link":
        entry = catalog_object(str(entry.get("to")), kind)
    return {**entry, **overrides}


def resolve_of_row(given: object, kind: Kind) -> Referent:
    """Find what a row of data holds, or names by its catalog id.

    Rows are data: they may come from anywhere, so no file is opened, and nothing behind an id is overridden, because
    they say so.

    Args:
        given: A mapping or list, a JSON text of one, an id; for a criterion, a plain sentence; or what a Python program
            put there: a frozen value or an artifact.
        kind: The expected kind.

    Raises:
        ArtifactError: If it is something else, or no catalog holds the id.
    """
    given = plain_cell(given)
    if (isinstance(given, (VALUES[kind], Mapping, list, tuple)) or is_of(given, "unitxt")) and given:
        return resolve(given, kind)
    text = given.strip() if isinstance(given, str) else ""
    inline = text.startswith(("{", "[")) or (kind == "criterion" and reads_as_sentence(text))
    if inline or (_CATALOG_ID.fullmatch(text) and not names_a_file(text)):
        return _resolve_text(text, kind)
    raise ArtifactError(
        f"{describe(given)} is no {kind} of a row; give the content of a file with a {kind}, or an id such as "
        f"{EXAMPLES[kind]!r}, with nothing in brackets behind it; no file is read because a row of data names it"
    )


def describe(reference: object) -> str:
    """Return a reference as messages show it."""
    return briefly(reference.reference if isinstance(reference, Referent) else reference)


def load(reference: object) -> Criterion | Rubric | Checklist:
    """Load the criterion, rubric or checklist that a reference stands for.

    A mapping with ``criteria`` or ``sections`` is a rubric, one with ``items`` a checklist, any other a criterion
    (without options it is that of a comparison). A list is what its mappings are: a checklist if they have questions,
    a rubric if they have requirements. The format of another tool is recognised by its shape, and read as it is there:
    see :mod:`evenhand.data.formats`.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a plain sentence (``"Is it polite?"`` is a yes/no
            criterion), a dict, a list, a JSON text, an artifact or a frozen value.

    Raises:
        ArtifactError: If there is no such thing, or it is none of the three.
        InvalidCriterionError: If it contradicts itself.
    """
    referent = resolve(reference)
    kind = kind_of(referent)
    if kind == "rubric":
        return load_rubric(referent)
    return load_checklist(referent) if kind == "checklist" else load_any_criterion(referent)


def kind_of(reference: object) -> Kind:
    """Return whether a reference stands for a criterion, a rubric or a checklist; nothing is built.

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
            f"{referent.what} is a list that may be a rubric or a checklist: give a mapping with criteria or items, "
            "or name what it is with load_rubric or load_checklist"
        )
    if not isinstance(data, dict):
        return next((kind for kind in VALUES if isinstance(data, VALUES[kind])), "criterion")
    listings: tuple[tuple[Kind, set[str]], ...] = (("rubric", {"criteria", "sections"}), ("checklist", {"items"}))
    for kind, listed in listings:
        if data["__type__"] == f"evenhand_{kind}" if "__type__" in data else listed & data.keys():
            return kind
    return "criterion"


def load_rubric(reference: object) -> Rubric:
    """Load the rubric that a reference stands for.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a dict, a list of criteria, a JSON text, an artifact
            or a frozen value.

    Raises:
        ArtifactError: If there is no such thing, or it is not a rubric.
        InvalidCriterionError: If it contradicts itself.
    """
    rubric = _load_document(reference, "rubric", Rubric, read_rubric)
    for criterion in rubric.criteria:
        _warn_without_values(criterion)
    return rubric


def load_checklist(reference: object) -> Checklist:
    """Load the checklist that a reference stands for: see :func:`load_rubric`."""
    return _load_document(reference, "checklist", Checklist, read_checklist)


Document = TypeVar("Document", Rubric, Checklist)
Loaded = TypeVar("Loaded")


def _load_document(reference: object, kind: Kind, value: type[Document], read: Callable[..., Document]) -> Document:
    referent = resolve(reference, kind)
    data, what = referent.data, referent.what
    if isinstance(data, value):
        return data
    if isinstance(data, dict) and "__type__" in data:
        if data["__type__"] != f"evenhand_{kind}":
            raise ArtifactError(
                f"{what} has the type {data['__type__']!r}, which is not a {kind}; accepted: {f'evenhand_{kind}'!r}"
            )
        of_the_catalog = "data_classification_policy"
        data = {field: data[field] for field in data if not field.startswith("__") and field != of_the_catalog}
    return read(data, what, name=referent.name or kind)


def load_criterion(reference: object) -> Criterion:
    """Load a criterion with options from a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact.

    A criterion without values for its options has no scores: values are not invented. The judge selects options, and
    every score stays undefined, with a warning (:class:`UndefinedScoreWarning`).

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion with options.
        InvalidCriterionError: If it contradicts itself.
    """
    criterion = load_any_criterion(reference)
    if criterion.scale == "pairwise":
        raise ArtifactError(
            f"{describe(reference)} fits a comparison; direct assessment and recorded votes need a criterion with "
            "options on one response, such as 'criteria.evenhand.direct.relevance'"
        )
    return criterion


def load_any_criterion(reference: object) -> Criterion:
    """Load the criterion that a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact stands for.

    Without options it is the criterion of a comparison. Where an option lacks a value, all do.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
        InvalidCriterionError: If it contradicts itself.
    """
    found = _criterion_or_fields(reference)
    if isinstance(found, dict):
        return _comparison(found)
    _warn_without_values(found)
    if found.has_values:
        return found
    options = tuple(option.model_copy(update={"value": None}) for option in found.options)
    return found.model_copy(update={"options": options})


def load_comparison(reference: object, *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """Load the pairwise criterion from a catalog id, a JSON or YAML file, a dict, a JSON text or an artifact.

    The options of a criterion that is not pairwise play no part.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
    """
    found = _criterion_or_fields(reference)
    if isinstance(found, Criterion) and found.scale == "pairwise":
        return found
    return _comparison(dict(found), allow_ties=allow_ties, graded=graded)


def load_criteria_artifact(reference: object) -> Criteria:
    """Load a criteria artifact, and nothing else: a description is checked before anything is built.

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
    found, data = _criterion_or_fields(referent), referent.data
    try:
        if not isinstance(data, dict) or "__type__" not in data:
            return cast("Criteria", to_artifact(found if isinstance(found, Criterion) else _comparison(found)))
        own = {name: data[name] for name in data if name == "__type__" or not name.startswith("__")}
        if "options" in own:
            own["options"] = [{"__type__": "criteria_option", "description": "", **each} for each in own["options"]]
        return cast("Criteria", fetch_artifact(own)[0])
    except Exception as error:  # unitxt raises many kinds, and boxes their words
        raise InvalidCriterionError(f"{describe(reference)} cannot be used: {own_words(error)}") from error


def load_of_rows(
    rows: Sequence[Mapping[str, Any]],
    field: str,
    setting: str,
    kind: Kind,
    made: Callable[[Any], Loaded] = lambda value: value,
) -> list[Loaded]:
    """Load the criterion artifact, rubric or checklist that each row holds or names; see :func:`resolve_of_row`.

    Equal cells are loaded once.

    Args:
        rows: The data.
        field: The field of the rows.
        setting: The setting that names the field.
        kind: The expected kind.
        made: Makes the result of what was loaded.

    Raises:
        InvalidInputError: If a row has no such field.
        ArtifactError: If a row holds something else, or an id that is not of this kind.
        InvalidCriterionError: If it contradicts itself.
    """
    load: Callable[[object], Any] = _LOADERS[kind]
    known: dict[str, Loaded] = {}
    found = []
    for number, row in enumerate(rows):
        given = field_of(row, field, number, setting)
        key = text_of(given, cell_name(field, number))
        if key not in known:
            try:
                known[key] = made(load(resolve_of_row(given, kind)))
            except (ArtifactError, InvalidCriterionError) as error:
                raise type(error)(f"the field {field!r} of instance {number}: {error}") from error
        found.append(known[key])
    return found


_LOADERS: Final = {"criterion": load_criteria_artifact, "rubric": load_rubric, "checklist": load_checklist}


def _criterion_or_fields(reference: object) -> Criterion | dict[str, Any]:
    """Return the criterion that a reference stands for, or its fields if it has no options."""
    referent = resolve(reference, "criterion")
    if isinstance(referent.data, Criterion):
        return referent.data
    return read_criterion(referent.data, referent.what)


def _comparison(fields: dict[str, Any], *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """Return the pairwise criterion of a criterion's fields, without its own options."""
    return comparison_criterion(
        fields["name"],
        fields["description"],
        allow_ties=allow_ties,
        graded=graded,
        context_fields=fields.get("context_fields") or {},
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
