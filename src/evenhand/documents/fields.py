"""The fields of a document, checked one by one, with messages that name what is wrong and what is accepted."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError, did_you_mean


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


def context_mapping(fields: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Context fields in any of unitxt's forms, as name shown -> field read.

    >>> context_mapping(["question", "context"])
    {'question': 'question', 'context': 'context'}
    """
    if not fields:
        return {}
    if isinstance(fields, str):
        return {fields: fields}
    if isinstance(fields, Mapping):
        return dict(fields)
    if not isinstance(fields, Sequence):
        raise InvalidInputError(
            f"context_fields is {fields!r}; give a field name, a list of them, or a mapping name shown -> field"
        )
    return {field: field for field in fields}


def plain(value: object, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """A value as JSON would hold it; frozen values inside it become objects.

    Raises:
        ArtifactError: If JSON cannot say it.
    """

    def described(item: object) -> Any:  # noqa: ANN401 - as above
        if isinstance(item, BaseModel):
            return item.model_dump(mode="json")
        raise TypeError(f"a {type(item).__name__} is neither text, number, list nor mapping")

    try:
        return json.loads(json.dumps(value, default=described))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{what} holds what JSON cannot say: {error}") from error


def present(found: Mapping[str, Any], accepted: Collection[str], what: str) -> dict[str, Any]:
    """The fields that are given; one that is null counts as left out.

    Raises:
        InvalidCriterionError: If there is a field that is not accepted.
    """
    for name in found:
        if name not in accepted:
            raise InvalidCriterionError(f"{what} has the field {name!r}. {did_you_mean(name, sorted(accepted))}")
    return {name: value for name, value in found.items() if value is not None}


def under_one_name(found: Mapping[str, Any], names: Mapping[str, str], what: str) -> dict[str, Any]:
    """The fields with each alias replaced by the name it stands for.

    Raises:
        InvalidCriterionError: If a field is given under both names.
    """
    renamed: dict[str, Any] = {}
    for name, value in found.items():
        own = names.get(name, name)
        if own in renamed:
            both = sorted({name, *(alias for alias, known in names.items() if known == own)} | {own})
            raise InvalidCriterionError(f"{what} has one field under two names, {both!r}: give one of them")
        renamed[own] = value
    return renamed


def text(value: object, field: str, what: str) -> str:
    """The value when it is a text with something in it.

    Raises:
        InvalidCriterionError: If it is not.
    """
    if not isinstance(value, str) or not value.strip():
        hint = f": write {json.dumps(str(value))}, in quotes" if isinstance(value, (bool, int, float)) else ""
        raise InvalidCriterionError(f"{what} has the {field} {briefly(value)}; it must be a text{hint}")
    return value.strip()


def items(value: object, field: str, what: str) -> list[Any]:
    """The value when it is a list with something in it.

    Raises:
        InvalidCriterionError: If it is not.
    """
    if not isinstance(value, list) or not value:
        raise InvalidCriterionError(f"{what} has the {field} {briefly(value)}; give a list of at least one")
    return value


def contexts(value: object, what: str) -> dict[str, str]:
    """Context fields as name shown -> field read.

    Raises:
        InvalidCriterionError: If they are in none of the forms.
    """
    names = value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else [value]
    if not all(isinstance(name, str) for name in names):
        raise InvalidCriterionError(
            f"{what} has the context_fields {briefly(value)}; give a field name, a list of them, or a mapping name "
            "shown -> field"
        )
    return context_mapping(value)  # type: ignore[arg-type] # checked above


def briefly(value: object) -> str:
    """A value as messages show it, however large it is."""
    shortened = reprlib.Repr()
    shortened.maxlevel = shortened.maxlist = shortened.maxdict = 2
    shortened.maxstring = shortened.maxother = 80
    return shortened.repr(value)
