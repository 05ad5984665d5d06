"""Reading what is judged out of a row of data: fields, contexts, texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import without_lone_surrogates

REFERENCE_FIELDS = frozenset({"reference", "references"})


def field_of(row: Mapping[str, Any], field: str, instance: int, setting: str) -> Any:  # noqa: ANN401 - data may be anything
    """A field of a row; ``a/b`` reaches into a nested one when there is no field of that name.

    Args:
        row: The row.
        field: The field's name.
        instance: The row's index, for the message.
        setting: The setting that names the field, for the message.

    Raises:
        InvalidInputError: If the row has no such field.
    """
    value: Any = row
    for part in [field] if field in row else field.split("/"):
        if not isinstance(value, Mapping) or part not in value:
            raise InvalidInputError(
                f"instance {instance} has no field {field!r}, which {setting} names. {did_you_mean(field, row)}"
            )
        value = value[part]
    return value


def text_of(value: object) -> str:
    """A value as the judge reads it: text as it is, nothing for None, anything else as JSON."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return without_lone_surrogates(text)


def context_of(
    row: Mapping[str, Any], fields: Mapping[str, str], instance: int, references: Sequence[str] = ()
) -> dict[str, str]:
    """What the judge is shown beside the response: name shown -> text.

    A field called ``reference`` or ``references`` that the row lacks is filled from the instance's references.

    Raises:
        InvalidInputError: If the row lacks any other field.
    """
    context = {}
    for name, field in fields.items():
        if field in REFERENCE_FIELDS and field not in row and references:
            context[name] = "\n\n".join(references)
        else:
            context[name] = text_of(field_of(row, field, instance, "context_fields"))
    return context
