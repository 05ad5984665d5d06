"""Verdicts in JSON: one pass over the tokens, so that text inside strings, broken or cut-off JSON cannot mislead."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|(?<![\w\])}])'(?P<single>(?:[^'\\\n]|\\.|(?<=\w)'(?=\w))*)'|"
    r"(?P<bare>-?\d+(?:[.,]\d+)?(?:/\d+)?|[A-Za-z_][\w-]*)|(?P<mark>[{}\[\]:,])",
    re.DOTALL,
)
_START = re.compile(r"\{\s*[\"']?[\w -]{1,60}[\"']?\s*:")
_NAMES = frozenset(
    {
        "selected",
        "selected_option",
        "selection",
        "option",
        "verdict",
        "answer",
        "choice",
        "chosen",
        "chosen_option",
        "score",
        "rating",
        "grade",
        "winner",
        "decision",
        "label",
        "judgment",
        "judgement",
        "result",
        "preference",
        "preferred",
        "preferred_option",
        "better",
        "best",
        "best_option",
        "classification",
        "level",
        "category",
        "selected_label",
        "selected_choice",
        "value",
        "vote",
        "pick",
        "final",
    }
)
_PREFIX = re.compile(r"^(?:final|overall|your|my|the|predicted|assigned)_")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Field:
    """One field of an object: how deep it lies, what it is called, and its value as text."""

    depth: int
    name: str
    value: str
    start: int


@dataclass(frozen=True)
class JsonReading:
    """The fields of the objects in a reply that are named like a verdict, and the reply without those objects."""

    fields: tuple[Field, ...]
    rest: str
    complete: bool


def read_json(text: str) -> JsonReading | None:
    """The verdict-like fields at the shallowest level at which there are any; None if the reply holds no object."""
    start = _START.search(text) if "{" in text else None
    if start is None:
        return None
    fields: list[Field] = []
    outside: list[str] = [text[: start.start()]]
    position, complete = start.start(), True
    while start is not None:
        end, found = _read_object(text, start.start())
        fields.extend(found)
        complete = end is not None
        position = len(text) if end is None else end
        start = _START.search(text, position)
        outside.append(text[position : start.start() if start else len(text)])
    shallowest = min((field.depth for field in fields), default=0)
    return JsonReading(
        fields=tuple(field for field in fields if field.depth == shallowest),
        rest="\n".join(outside),
        complete=complete,
    )


def _read_object(text: str, start: int) -> tuple[int | None, list[Field]]:
    """The end of the object (None if it is cut off) and its verdict-like fields."""
    depth, key, pending = 0, None, None
    fields: list[Field] = []
    for token in _TOKEN.finditer(text, start):
        mark = token.group("mark")
        if mark is None:
            value = next(
                part for part in (token.group("double"), token.group("single"), token.group("bare")) if part is not None
            )
            if key is not None:
                if is_verdict_name(key):
                    fields.append(Field(depth, key, _unescape(value), token.start()))
                key = None
            pending = value
        elif mark in "{[":
            depth += mark == "{"
            key = key if mark == "[" else None
        elif mark == ":":
            key, pending = pending, None
        elif mark == "}":
            depth, key, pending = depth - 1, None, None
            if depth == 0:
                return token.end(), fields
        else:
            key, pending = None, None
    return None, fields


def is_verdict_name(name: str) -> bool:
    """Whether a field of this name holds the verdict.

    >>> is_verdict_name("finalVerdict"), is_verdict_name("Selected Option"), is_verdict_name("reasoning")
    (True, True, False)
    """
    snake = re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name.strip()).casefold()).strip("_")
    return snake in _NAMES or _PREFIX.sub("", snake) in _NAMES


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code.group(1), 16)), value)
    return value.replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/").replace("\\\\", "\\")
