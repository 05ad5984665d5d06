"""Where the catalog lies, and what a reference to a criterion, a rubric or a checklist stands for, as plain data.

A reference is a catalog id, the path of a JSON or YAML file, a JSON text, a mapping or a list. Nothing is built.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from evenhand.criteria import Criterion
from evenhand.data.documents import read_criterion
from evenhand.data.plain_data import parse_json, plain, read_document, validation_message
from evenhand.errors import ArtifactError, InvalidCriterionError, did_you_mean
from evenhand.unitxt.bases import (
    Artifact,
    Catalogs,
    LocalCatalog,
    own_words,
    register_local_catalog,
    separate_overrides,
)


def catalog_path() -> Path:
    """The folder of the catalog, in an installed wheel and in an editable install alike.

    Raises:
        ArtifactError: If the installation has none.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "catalog", package.parents[1] / "catalog"):
        if (candidate / "criteria" / "evenhand").is_dir():
            return candidate
    raise ArtifactError(f"this installation of evenhand has no catalog in {str(package)!r}: install it again")


ARTIFACT_MODULES = (
    "evenhand.engines.artifacts",
    "evenhand.metrics.best_of",
    "evenhand.metrics.checklist_judge",
    "evenhand.metrics.direct",
    "evenhand.metrics.grade_score_judge",
    "evenhand.metrics.pairwise_judge",
    "evenhand.metrics.recorded_votes_metric",
    "evenhand.metrics.rubric",
    "evenhand.unitxt.loading",
)
"""The modules of the classes that the catalog names: a class is known to unitxt once its module is imported."""


def register() -> Path:
    """Let unitxt find evenhand's metrics, engines and criteria by their ids; return the catalog's folder.

    Call it once before a recipe names an id of evenhand. Calling it again is harmless.
    """
    for module in ARTIFACT_MODULES:
        import_module(module)
    return register_catalog()


def register_catalog() -> Path:
    """Add the catalog to those that unitxt searches, and return its folder. Doing it twice is harmless."""
    path = catalog_path()
    register_local_catalog(str(path))
    return path


def catalog_entries() -> dict[str, Path]:
    """The ids of everything in evenhand's own catalog, sorted, and their files."""
    root = catalog_path()
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.json"))}


def entry_ids(prefix: str) -> list[str]:
    """The ids of evenhand's own entries below a prefix such as ``rubrics``, sorted."""
    return sorted(identifier for identifier in catalog_entries() if identifier.startswith(f"{prefix}.evenhand."))


def local_entry(identifier: str) -> tuple[Path, dict[str, Any]]:
    """The file of a catalog id, and what ``[name=value]`` behind the id overrides. Nothing is built.

    Only catalogs on this machine are searched: unitxt would ask its catalog on the network about an unknown id.

    Raises:
        LookupError: If no local catalog has the id.
        ArtifactError: If what is behind the id is not ``[name=value,…]``.
    """
    register_catalog()
    try:
        name, overrides = separate_overrides(identifier)
    except ValueError as error:
        raise ArtifactError(f"{identifier!r} is not of the form id[name=value,…]: {own_words(error)}") from error
    for catalog in Catalogs():
        if name.strip() and isinstance(catalog, LocalCatalog) and catalog.is_local and name in catalog:
            return Path(catalog.path(name)), overrides or {}
    raise LookupError(f"no local catalog holds {name!r}")


def read_object(path: Path, what: str) -> dict[str, Any]:
    """The JSON object in a file.

    Args:
        path: The file.
        what: It is called in messages.

    Raises:
        ArtifactError: If it cannot be read, or is something else.
    """
    value = read_document(path, what)
    if not isinstance(value, dict):
        raise ArtifactError(f"{what} is a JSON {type(value).__name__}; it must be an object")
    return value


def check_entry(path: Path) -> str | None:
    """What is wrong with a catalog entry, or None: it must build, say what it is, and come back from its own JSON."""
    entry = read_object(path, f"the catalog entry {str(path)!r}")
    for field in ("__description__", "__tags__"):
        if not entry.get(field):
            return f"has no {field}"
    try:
        artifact = Artifact.load(str(path))
    except Exception as error:  # noqa: BLE001 - unitxt raises many kinds; the caller is told which
        return f"cannot be built: {own_words(error)}"
    if json.loads(artifact.to_json()) != {key: value for key, value in entry.items() if key != "__id__"}:
        return "changes when it is built and written again"
    return None


Kind = Literal["criterion", "rubric", "checklist"]
FOLDERS: Mapping[Kind, str] = {"criterion": "criteria", "rubric": "rubrics", "checklist": "checklists"}
EXAMPLES: Mapping[Kind, str] = {
    "criterion": "criteria.evenhand.direct.relevance",
    "rubric": "rubrics.evenhand.summarization",
    "checklist": "checklists.evenhand.summary",
}
FILE_ENDINGS = (".json", ".yaml", ".yml")
_UNREAD = frozenset({"data_classification_policy"})
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Referent:
    """What a reference stands for.

    Attributes:
        data: A mapping, or a list where the reference is or holds one.
        what: What messages call it.
        name: What it may be called when it does not say so itself: the name of its file or entry.
    """

    data: Any
    what: str
    name: str | None = None


def resolve(reference: object, kind: Kind | None = None) -> Referent:
    """What a reference stands for.

    Args:
        reference: A catalog id, the path of a JSON or YAML file, a JSON text, a mapping or a list.
        kind: What is expected, for messages; None for any kind.

    Raises:
        ArtifactError: If there is no such thing, or it cannot be read.
    """
    if isinstance(reference, Mapping):
        return Referent(plain(dict(reference), shown(reference)), shown(reference))
    if isinstance(reference, (list, tuple)):
        return Referent(plain(list(reference), shown(reference)), shown(reference))
    if isinstance(reference, str) and reference.lstrip().startswith(("{", "[")):
        return Referent(parse_json(reference, "the JSON text"), shown(reference))
    if isinstance(reference, Path) or (isinstance(reference, str) and names_a_file(reference)):
        path = Path(reference).expanduser()
        what = f"the {kind} file {str(path)!r}" if kind else f"the file {str(path)!r}"
        return Referent(read_document(path, what), what, path.stem)
    if isinstance(reference, str):
        return Referent(
            _catalog_object(reference, kind), shown(reference), reference.partition("[")[0].rpartition(".")[2]
        )
    raise ArtifactError(
        f"{shown(reference)} is a {type(reference).__name__}; give a catalog id such as "
        f"{EXAMPLES[kind or 'criterion']!r}, the path of a JSON or YAML file, a dict, or a {kind or 'criterion'}"
    )


def document_of(reference: object, kind: Kind) -> Referent:
    """What a reference to a rubric or a checklist stands for, without what only the catalog says about it.

    Raises:
        ArtifactError: If there is no such thing, or its ``__type__`` is another.
    """
    found = resolve(reference, kind)
    if not isinstance(found.data, dict) or "__type__" not in found.data:
        return found
    named, expected = found.data["__type__"], f"evenhand_{kind}"
    if named != expected:
        raise ArtifactError(f"{found.what} has the type {named!r}, which is not a {kind}; accepted: {expected!r}")
    own = {field: value for field, value in found.data.items() if not field.startswith("__") and field not in _UNREAD}
    return replace(found, data=own)


def shown(reference: object) -> str:
    """A reference as messages show it."""
    text = repr(reference)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def names_a_file(reference: str) -> bool:
    """Whether a text is a path: neither JSON nor a catalog id, which has no slash and no ending of a file."""
    if reference.lstrip().startswith(("{", "[")):
        return False
    return (
        reference.strip().lower().endswith(FILE_ENDINGS)
        or "/" in reference.partition("[")[0]
        or os.sep in reference.partition("[")[0]
    )


def _catalog_object(identifier: str, kind: Kind | None) -> dict[str, Any]:
    try:
        path, overrides = local_entry(identifier)
    except LookupError as error:
        folders = [FOLDERS[kind]] if kind else list(FOLDERS.values())
        known = [entry for folder in folders for entry in entry_ids(folder)]
        raise ArtifactError(
            f"no local catalog holds the {kind or 'entry'} {identifier!r}. {did_you_mean(identifier, known)}"
        ) from error
    entry = read_object(path, f"the catalog entry {str(path)!r}")
    if entry.get("__type__") == "artifact_link":
        entry = _catalog_object(str(entry.get("to")), kind)
    return {**entry, **overrides}


_BARE_FIELDS = frozenset({"name", "description", "prediction_field", "context_fields", "data_classification_policy"})
_OPTION_FIELDS = _BARE_FIELDS | {"options", "option_map"}
_OWN_FIELDS = frozenset({"scale", "weight", "na_options", "section"})
FIELDS: Mapping[str, frozenset[str]] = {
    "criteria": _BARE_FIELDS,
    "criteria_with_options": _OPTION_FIELDS,
    "evenhand_criterion": _OPTION_FIELDS | _OWN_FIELDS,
}
"""The types that are criteria, and their fields."""

OPTION_TYPE = "criteria_option"


def read_reference(reference: object) -> Criterion | dict[str, Any]:
    """The frozen criterion, or the checked description of an artifact with its ``__type__``, that a reference gives.

    Args:
        reference: A catalog id, the path of a JSON or YAML file, a dict, or a JSON text.

    Raises:
        ArtifactError: If there is no such thing, or it is not a criterion.
        InvalidCriterionError: If it is a criterion with a field that is wrong.
    """
    referent = resolve(reference, "criterion")
    what, found = referent.what, referent.data
    if not isinstance(found, dict):
        raise ArtifactError(
            f"{what} is a {type(found).__name__}; a criterion is an object with a name and a description"
        )
    if "__type__" not in found:
        if {"requirement", "scale_type"} & found.keys():
            return read_criterion(found, what)
        if not _written_as_unitxt_does(found):
            return _frozen(found, what)
        found = {"__type__": _implied_type(found), **found}
    return _checked(found, what)


def _written_as_unitxt_does(found: Mapping[str, Any]) -> bool:
    options = found.get("options")
    if not isinstance(options, list) or {"option_map", "na_options"} & found.keys():
        return True
    return any(isinstance(option, dict) and "name" in option and "label" not in option for option in options)


def _implied_type(found: Mapping[str, Any]) -> str:
    if _OWN_FIELDS & found.keys():
        return "evenhand_criterion"
    return "criteria_with_options" if {"options", "option_map"} & found.keys() else "criteria"


def _frozen(found: dict[str, Any], what: str) -> Criterion:
    try:
        return Criterion.model_validate(found)
    except ValidationError as error:
        raise InvalidCriterionError(
            f"{what} is not a criterion: {validation_message(error, Criterion.model_fields)}"
        ) from error


def _checked(found: dict[str, Any], what: str) -> dict[str, Any]:
    """The description, when it is a criterion's, all its fields exist, and nothing else is nested in it."""
    kind = found["__type__"]
    if not isinstance(kind, str) or kind not in FIELDS:
        raise ArtifactError(f"{what} has the type {kind!r}, which is not a criterion; accepted: {sorted(FIELDS)!r}")
    for name, value in found.items():
        if not name.startswith("__") and name not in FIELDS[kind]:
            raise InvalidCriterionError(
                f"{what} has the field {name!r}, which {kind} does not. {did_you_mean(name, sorted(FIELDS[kind]))}"
            )
        for nested in _nested_types(value):
            if nested != OPTION_TYPE:
                raise ArtifactError(f"{what} contains an artifact of the type {nested!r}; a criterion may not")
    for name in ("name", "description"):
        if not isinstance(found.get(name), str):
            raise InvalidCriterionError(f"{what} has the {name} {found.get(name)!r}; a criterion's {name} is a text")
    if "options" not in FIELDS[kind]:
        return found
    return {**found, "options": [_option(option, what) for option in _options(found, what)]}


def _options(found: Mapping[str, Any], what: str) -> list[Any]:
    options = found.get("options")
    if not isinstance(options, list):
        raise InvalidCriterionError(f"{what} has the options {options!r}; give a list of objects with a name")
    values = found.get("option_map")
    if not isinstance(values, dict | None):
        raise InvalidCriterionError(
            f"{what} has the option_map {values!r}; give an object: the name of an option -> its value in [0, 1]"
        )
    return options


def _option(option: object, what: str) -> dict[str, Any]:
    """An option's object; not a text, which unitxt would take for the id of any artifact."""
    if not isinstance(option, dict) or not isinstance(option.get("name"), str):
        raise InvalidCriterionError(
            f"{what} has the option {option!r}; with __type__ or option_map, an option is an object with a name and "
            "a description"
        )
    return {"__type__": OPTION_TYPE, "description": "", **option}


def _nested_types(value: object) -> list[object]:
    if isinstance(value, dict):
        own = [value["__type__"]] if "__type__" in value else []
        return own + [found for item in value.values() for found in _nested_types(item)]
    if isinstance(value, list):
        return [found for item in value for found in _nested_types(item)]
    return []
