"""Verdicts in JSON: one pass over the tokens, so that text inside strings, broken or cut-off JSON cannot mislead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenhand.parsing.cleaning import introduces_quotation

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
_ANNOUNCES = re.compile(
    r"(?:[:=>→({\[]|\b(?:verdict|answer|json|output|result|response|rating|score|decision)(?: is)?|\b(?:is|be|"
    r"output|return|"
    r"answer|conclude|with)|[.!?])\Z",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*(?:,|(?:is|was|are|which|that|but|appears?|in the|at the|as the|does|has|should)\b)", re.IGNORECASE
)
_BEST_ONE = re.compile(
    r"(?:best|better|preferred|selected|chosen|winning)_(?:response|answer|output|candidate|assistant|model|choice|index|id|number)"
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
    """What the objects in a reply that are the judge's own say.

    Attributes:
        objects: The fields of each that are named like a verdict, those at the shallowest level at which there are any.
        rest: The reply without any object, quoted ones included.
        between: What stands between the objects, and after the last.
        complete: Whether the last object is.
    """

    objects: tuple[tuple[Field, ...], ...]
    rest: str
    between: tuple[str, ...]
    complete: bool


def read_json(text: str) -> JsonReading | None:
    """The verdict-like fields of the reply's own objects; None if the reply holds no object.

    An object inside a sentence, in a block quote, or behind words that say whose it is, is a quotation: its fields are
    no verdict, and it is left out of the rest.
    """
    start = _START.search(text) if "{" in text else None
    if start is None:
        return None
    objects: list[tuple[Field, ...]] = []
    outside: list[str] = [text[: start.start()]]
    between: list[str] = []
    complete = True
    while start is not None:
        end, found = _read_object(text, start.start())
        position = len(text) if end is None else end
        own = _is_own(text, start.start(), position)
        if own:
            complete = end is not None
            shallowest = min((field.depth for field in found), default=0)
            objects.append(tuple(field for field in found if field.depth == shallowest))
        start = _START.search(text, position)
        outside.append(text[position : start.start() if start else len(text)])
        if own:
            between.append(outside[-1])
        elif between:
            between[-1] += "\n" + outside[-1]
    return JsonReading(tuple(objects), "\n".join(outside), tuple(between), complete)


def _is_own(text: str, start: int, end: int) -> bool:
    """Whether an object stands for itself, or as what a lead-in announces."""
    before = text[max(0, start - 400) : start].rstrip(" \t")
    line = before[before.rfind("\n") + 1 :].strip(" \t*_`")
    above = before.rstrip()[-160:].rpartition("\n")[2]
    if text[end : end + 400].strip():  # what is only shown is talked about
        above = above.rstrip(".")
    if line.startswith(">") or introduces_quotation(line or above):
        return False
    after = text[end : end + 80].partition("\n")[0]
    return (not line or _ANNOUNCES.search(line) is not None) and _GOES_ON.match(after) is None


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
    return snake in _NAMES or _PREFIX.sub("", snake) in _NAMES or _BEST_ONE.fullmatch(snake) is not None


def is_grade_name(name: str) -> bool:
    """Whether a field of this name holds a number that grades, and not the number of a candidate."""
    return re.search(r"scor|rating|grade|level|value", name.casefold()) is not None


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    value = re.sub(r"\\u(00[0-7][0-9a-fA-F])", lambda code: chr(int(code.group(1), 16)), value)
    return value.replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/").replace("\\\\", "\\")
