"""The JSON schemas of the replies that a judge is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=512)
def selection_schema(answers: tuple[str, ...]) -> Mapping[str, Any]:
    """A reply that names one of the answers."""
    return _object({"selected_option": _one_of(answers)})


@lru_cache(maxsize=512)
def one_step_schema(answers: tuple[str, ...], *, verdict_first: bool = False) -> Mapping[str, Any]:
    """A reply with reasons and verdict: the reasons first, unless the prompt asks for the verdict first."""
    fields = {"assessment": {"type": "string"}, "selected_option": _one_of(answers)}
    return _object(dict(reversed(fields.items())) if verdict_first else fields)


@lru_cache(maxsize=512)
def sheet_schema(numbered: tuple[tuple[int, tuple[str, ...]], ...], *, reasoning: bool) -> Mapping[str, Any]:
    """A reply with one entry a question, each with its number and one of its own answers."""
    reasons: dict[str, Any] = {"reasoning": {"type": "string"}} if reasoning else {}
    by_answers: dict[tuple[str, ...], list[int]] = {}
    for number, answers in numbered:
        by_answers.setdefault(answers, []).append(number)
    kinds = [
        _object({"index": {"type": "integer", "enum": numbers}, **reasons, "answer": _one_of(answers)})
        for answers, numbers in by_answers.items()
    ]
    return _object({"answers": {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}})


def _one_of(answers: tuple[str, ...]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(answers)}


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
