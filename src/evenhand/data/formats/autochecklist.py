"""Checklists of autochecklist (https://pypi.org/project/autochecklist).

A checklist says where it is from (``source_method``, ``generation_level``) and gives its items an ``id``; a missing
weight is 100. What its generators reply, ``{"questions": […]}``, is read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.data.formats.translation import Format, Translated, Value, checklist_of, kept, mappings_with

DEFAULT_WEIGHT = 100.0
_ITEM = frozenset({"id", "question", "weight", "category", "metadata"})
_ORIGIN = frozenset({"source_method", "generation_level"})


def _fits(data: object) -> bool:
    if not isinstance(data, dict):
        return mappings_with(data, {"id", "question"}, _ITEM)
    if "questions" in data:
        return data.keys() == {"questions"} and mappings_with(data["questions"], {"question"}, _ITEM)
    return mappings_with(data.get("items"), {"question"}, _ITEM) and bool(
        _ORIGIN & data.keys() or mappings_with(data["items"], {"id"})
    )


def _read(data: Any, what: str) -> Translated:  # noqa: ANN401, ARG001 - data may be anything
    fields: Mapping[str, Any] = data if isinstance(data, dict) else {"items": data}
    read = Translated(kept({"description": fields.get("corpus_description")}))
    if fields.get("input"):
        read.without("input (the judge is shown what context_fields names: give it as a column of the data)")
    read.data["items"] = [_item(item) for item in fields.get("questions", fields.get("items"))]
    return read


def _item(given: Mapping[str, Any]) -> dict[str, Any]:
    item = kept({"name": given.get("id"), "question": given["question"], "category": given.get("category")})
    weight = given.get("weight")
    return {**item, "weight": DEFAULT_WEIGHT if weight is None else weight}


def _write(value: Value) -> Translated:
    checklist = checklist_of(value, "autochecklist")
    written = Translated({})
    for field, said in (
        ("context_fields", bool(checklist.context_fields)),
        ("prediction_field", checklist.prediction_field is not None),
        ("na (an item can only be answered yes or no there)", any(item.na for item in checklist.items)),
        ("prerequisites", any(item.prerequisites for item in checklist.items)),
    ):
        if said:
            written.without(field)
    written.data = {
        "id": checklist.name,
        "items": [
            {"id": item.name, "question": item.question, "weight": item.weight, "category": item.category or None}
            for item in checklist.items
        ],
        "source_method": "evenhand",
        "generation_level": "corpus",
        "corpus_description": checklist.description or None,
    }
    return written


AUTOCHECKLIST = Format("autochecklist", "a checklist of autochecklist", _fits, _read, _write)
