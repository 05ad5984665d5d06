"""A checklist as a person writes it, and as a frozen value.

A checklist is a list of questions, or a mapping that holds them under ``items``::

    name: minutes
    context_fields: [transcript]
    items:
      - Does every task have an owner?              # a text is a question of weight 1
      - question: Is every owner somebody who was there?
        weight: 50
        category: tasks
        prerequisites: [1]                          # numbers count from 1; names are texts
        na: true

An item without a name is called by its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.documents.text import briefly, contexts, items, plain, present, text, validation_message
from evenhand.errors import InvalidCriterionError

CHECKLIST_FIELDS = ("name", "description", "items", "prediction_field", "context_fields")
ITEM_FIELDS = tuple(ChecklistItem.model_fields)


def read_checklist(data: object, what: str, *, name: str = "checklist") -> Checklist:
    """The checklist that a document says.

    Args:
        data: A mapping or a list, of texts, numbers, lists and mappings; frozen items may stand in it.
        what: The document is called in messages.
        name: The checklist's, when the document gives none.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
        ArtifactError: If it holds something that is no data.

    Example:
        >>> [item.name for item in read_checklist(["Is it polite?", "Is it short?"], "the list").items]
        ['1', '2']
    """
    data = plain(data, what)
    if isinstance(data, list):
        data = {"items": data}
    if not isinstance(data, dict):
        raise InvalidCriterionError(
            f"{what} holds {briefly(data)}; a checklist is a list of questions, or a mapping with items"
        )
    fields = present(data, CHECKLIST_FIELDS, what)
    written = _mappings(items(fields.get("items"), "items", what), what)
    names = [item.get("name", str(number)) for number, item in enumerate(written, start=1)]
    try:
        return Checklist.model_validate(
            {
                **fields,
                "name": text(fields.get("name", name), "name", what),
                "context_fields": contexts(fields.get("context_fields", []), what),
                "items": tuple(_item(item, names, what) for item in written),
            }
        )
    except ValidationError as error:
        raise InvalidCriterionError(f"{what} is not a checklist: {validation_message(error)}") from error


def checklist_document(checklist: Checklist) -> dict[str, Any]:
    """The document of a checklist: what has its usual value is left out."""
    document = checklist.model_dump(mode="json", exclude={"items"}, exclude_defaults=True)
    written = []
    for number, item in enumerate(checklist.items, start=1):
        fields = item.model_dump(mode="json", exclude_defaults=True)
        if fields.get("name") == str(number):
            del fields["name"]
        written.append(fields)
    return {**document, "items": written}


def _mappings(given: Sequence[object], what: str) -> list[dict[str, Any]]:
    found = []
    for number, item in enumerate(given, start=1):
        where = f"item {number} of {what}"
        fields = {"question": item} if isinstance(item, str) else item
        if not isinstance(fields, dict):
            raise InvalidCriterionError(f"{where} is {briefly(item)}; give a text, or a mapping with a question")
        fields = present(fields, ITEM_FIELDS, where)
        fields["question"] = text(fields.get("question"), "question", where)
        if fields.get("name") == "":
            del fields["name"]
        if "name" in fields:
            fields["name"] = text(fields["name"], "name", where)
        found.append(fields)
    return found


def _item(given: Mapping[str, Any], names: Sequence[str], what: str) -> ChecklistItem:
    where = f"the item {given.get('name', given['question'])!r} of {what}"
    needed = given.get("prerequisites", [])
    if not isinstance(needed, list):
        raise InvalidCriterionError(
            f"{where} has the prerequisites {briefly(needed)}; give a list of names or of numbers from 1 on"
        )
    try:
        return ChecklistItem.model_validate(
            {**given, "prerequisites": tuple(_named(item, names, where) for item in needed)}
        )
    except ValidationError as error:
        raise InvalidCriterionError(f"{where} cannot be read: {validation_message(error)}") from error


def _named(prerequisite: object, names: Sequence[str], where: str) -> str:
    """The name of the item that a name or a number means."""
    if isinstance(prerequisite, str):
        return prerequisite.strip()
    if isinstance(prerequisite, int) and not isinstance(prerequisite, bool) and 1 <= prerequisite <= len(names):
        return names[prerequisite - 1]
    raise InvalidCriterionError(
        f"{where} has the prerequisite {briefly(prerequisite)}; give a name, or a number from 1 to {len(names)}"
    )
