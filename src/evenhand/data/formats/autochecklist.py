"""Checklists of autochecklist (https://pypi.org/project/autochecklist).

A checklist says where it is from (``source_method``, ``generation_level``) and gives its items an ``id``; a missing
weight is 100. What its generators reply, ``{"questions": […]}``, is read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.data.formats.translation import Format, Translated, kept, mappings_with

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


AUTOCHECKLIST = Format("autochecklist", "a checklist of autochecklist", _fits, _read)
