"""The JSON object that a reference to a criterion stands for: read and checked, with nothing built.

A criterion is written in one of three ways: as unitxt's artifacts are, with ``__type__``, options that have a ``name``,
and their values in ``option_map``; as evenhand's :class:`~evenhand.criteria.Criterion` is, without ``__type__``,
with the ``label`` and the ``value`` in each option; or, with a ``requirement``, as it would stand in a rubric.

Data rows may name their criterion, so a reference is not trusted to be harmless: what is not a criterion, or contains
another artifact or the id of one, is refused here, before unitxt could build it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from evenhand.artifacts.references import resolve
from evenhand.criteria import Criterion
from evenhand.documents import read_criterion, validation_message
from evenhand.errors import ArtifactError, InvalidCriterionError, did_you_mean

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
