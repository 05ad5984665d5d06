"""The JSON object that a reference to a criterion stands for: read and checked, with nothing built.

A criterion is written in one of two ways: as unitxt's artifacts are, with ``__type__``, options that have a ``name``,
and their values in ``option_map``; or as evenhand's :class:`~evenhand.criteria.Criterion` is, without ``__type__``,
with the ``label`` and the ``value`` in each option.

Data rows may name their criterion, so a reference is not trusted to be harmless: what is not a criterion, or contains
another artifact or the id of one, is refused here, before unitxt could build it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evenhand.catalogs import criteria_ids, local_entry, parse_object, read_object
from evenhand.criteria import Criterion
from evenhand.errors import ArtifactError, InvalidCriterionError, did_you_mean

_BARE_FIELDS = frozenset({"name", "description", "prediction_field", "context_fields", "data_classification_policy"})
_OPTION_FIELDS = _BARE_FIELDS | {"options", "option_map"}
_OWN_FIELDS = frozenset({"scale", "weight", "na_options"})
FIELDS: Mapping[str, frozenset[str]] = {
    "criteria": _BARE_FIELDS,
    "criteria_with_options": _OPTION_FIELDS,
    "evenhand_criterion": _OPTION_FIELDS | _OWN_FIELDS,
}
"""The types that are criteria, and their fields."""

OPTION_TYPE = "criteria_option"
_SHOWN_CHARACTERS = 200


def read_reference(reference: object) -> Criterion | dict[str, Any]:
    """The frozen criterion, or the checked description of an artifact with its ``__type__``, that a reference gives.

    Args:
        reference: A catalog id, the path of a JSON file, a dict, or a JSON text.

    Raises:
        ArtifactError: If there is no such thing, or it is not a criterion.
        InvalidCriterionError: If it is a criterion with a field that is wrong.
    """
    what, found = _object_of(reference)
    if "__type__" not in found:
        if not _written_as_unitxt_does(found):
            return _frozen(found, what)
        found = {"__type__": _implied_type(found), **found}
    return _checked(found, what)


def validation_message(error: ValidationError, fields: Mapping[str, object] | None = None) -> str:
    """What pydantic found wrong, in one line."""
    parts = []
    for fault in error.errors(include_url=False):
        place = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = did_you_mean(fault["loc"][-1], fields) if fields and len(fault["loc"]) == 1 else ""
            parts.append(f"there is no field {place!r}. {known}".strip())
        else:
            parts.append(f"{place}: {fault['msg']}")
    return "; ".join(parts)


def shown(reference: object) -> str:
    """A reference as messages show it."""
    text = repr(reference)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _object_of(reference: object) -> tuple[str, dict[str, Any]]:
    """What messages call the reference, and its JSON object."""
    if isinstance(reference, Mapping):
        try:
            return shown(reference), json.loads(json.dumps(dict(reference)))
        except (TypeError, ValueError) as error:
            raise ArtifactError(f"{shown(reference)} holds what JSON cannot say: {error}") from error
    if isinstance(reference, str) and reference.lstrip().startswith("{"):
        return shown(reference), parse_object(reference, "the JSON text")
    if isinstance(reference, Path) or (isinstance(reference, str) and _names_a_file(reference)):
        path = Path(reference).expanduser()
        what = f"the criterion file {str(path)!r}"
        return what, read_object(path, what)
    if not isinstance(reference, str):
        raise ArtifactError(
            f"{shown(reference)} is a {type(reference).__name__}; give a catalog id such as "
            "'criteria.evenhand.direct.relevance', the path of a JSON file, a dict, or a criterion"
        )
    return shown(reference), _catalog_object(reference)


def _names_a_file(reference: str) -> bool:
    """Whether a text is a path and no catalog id, which has neither a slash nor an ending."""
    return (
        reference.strip().endswith(".json")
        or "/" in reference.partition("[")[0]
        or os.sep in reference.partition("[")[0]
    )


def _catalog_object(identifier: str) -> dict[str, Any]:
    try:
        path, overrides = local_entry(identifier)
    except LookupError as error:
        raise ArtifactError(
            f"no local catalog holds the criterion {identifier!r}. {did_you_mean(identifier, criteria_ids())}"
        ) from error
    entry = read_object(path, f"the catalog entry {str(path)!r}")
    if entry.get("__type__") == "artifact_link":
        entry = _catalog_object(str(entry.get("to")))
    return {**entry, **overrides}


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
