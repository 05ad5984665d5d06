"""JSON as judges write it, read in two ways: the values of a sheet strictly, the verdict-like fields forgivingly.

:func:`json_values` is a strict automaton over tokens: text inside strings is never taken for structure, every key of an
object is kept, and what was complete before the text broke off is known to be. :func:`read_json` wants no more than the
field that holds the verdict: it goes on behind a quotation mark that should have been escaped, and says whether an
object is the judge's own or one that it quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache

from evenhand.parsing.cleaning import introduces_quotation
from evenhand.parsing.grammar import phrase

_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[{}\[\]:,])|\"(?P<double>[^\"\\]*(?:\\.[^\"\\]*)*)\"|'(?P<single>[^'\\\n]*(?:\\.[^'\\\n]*)*)'|"
    r"(?P<bare>[^\s{}\[\]:,\"']+))",
    re.DOTALL,
)
# Where the reader is -> the marks that may come, "a" for a scalar.
_MAY_STAND = {"key": "a}", ":": ":", "value": "a{[", "pair": ",}", "item": "a{[]", "member": ",]"}
_CONTAINER = re.compile(r"[{\[]")
_BREAKS_OFF = re.compile(r"\s*(?:[\"'].*)?\Z", re.DOTALL)

_FORGIVING_TOKEN = re.compile(
    r"\"(?P<double>[^\"\\]*(?:\\.[^\"\\]*)*)\"|(?<![\w\])}])'(?P<single>(?:[^'\\\n]|\\.|(?<=\w)'(?=\w))*)'|"
    r"(?P<bare>-?\d+(?:[.,]\d+)?(?:/\d+)?|[A-Za-z_][\w-]*)|(?P<mark>[{}\[\]:,])",
    re.DOTALL,
)
_START = re.compile(r"\{\s*[\"']?[\w -]{1,60}[\"']?\s*:")
_VERDICT_NAMES = frozenset(
    {"selected", "selected_option", "selection", "option", "verdict", "answer", "choice", "chosen", "chosen_option"}
    | {"score", "rating", "grade", "winner", "decision", "label", "judgment", "judgement", "result", "preference"}
    | {"preferred", "preferred_option", "better", "best", "best_option", "classification", "level", "category"}
    | {"selected_label", "selected_choice", "value", "vote", "pick", "final"}
)
_BEST_ONE = re.compile(
    r"(?:best|better|preferred|selected|chosen|winning)_(?:response|answer|output|candidate|assistant|model|choice|"
    r"index|id|number)"
)
_PREFIX = re.compile(r"^(?:final|overall|your|my|the|predicted|assigned)_")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ANNOUNCES = phrase(
    r"(?:[:=>→({\[.!?]|\b(?:verdict|answer|json|output|result|response|rating|score|decision)(?: is)?|"
    r"\b(?:is|be|return|conclude|with))\Z"
)
_GOES_ON = phrase(r"\s*(?:,|(?:is|was|are|which|that|but|appears?|in the|at the|as the|does|has|should)\b)")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, number, truth value or null, as text.

    Attributes:
        text: What it says, escapes resolved.
        quoted: Whether it is a string.
        start: Where the text begins in the reply, without its quotes.
        end: Where it ends.
    """

    text: str
    quoted: bool
    start: int
    end: int


@dataclass(slots=True)
class Array:
    """A list, as far as it was complete."""

    values: list[Value] = field(default_factory=list)
    start: int = 0
    end: int = 0
    closed: bool = False


@dataclass(slots=True)
class Object:
    """The pairs of an object in their order, those of equal keys included, as far as they were complete."""

    pairs: list[tuple[str, Value]] = field(default_factory=list)
    start: int = 0
    end: int = 0
    closed: bool = False

    def named(self, names: AbstractSet[str]) -> list[Value]:
        """The values under these names, whatever their case and spacing."""
        return [value for key, value in self.pairs if folded_name(key) in names]


Value = Scalar | Array | Object


def folded_name(name: str) -> str:
    """The name of a field in one spelling.

    >>> folded_name("Final Answer"), folded_name("item-index")
    ('final_answer', 'item_index')
    """
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


@lru_cache(maxsize=1024)
def is_verdict_name(name: str) -> bool:
    """Whether a field of this name holds the verdict.

    >>> is_verdict_name("finalVerdict"), is_verdict_name("Selected Option"), is_verdict_name("reasoning")
    (True, True, False)
    """
    snake = folded_name(_CAMEL.sub("_", name.strip()))
    return not _VERDICT_NAMES.isdisjoint({snake, _PREFIX.sub("", snake)}) or _BEST_ONE.fullmatch(snake) is not None


def is_grade_name(name: str) -> bool:
    """Whether a field of this name holds a number that grades, and not the number of a candidate."""
    return re.search(r"scor|rating|grade|level|value", name.casefold()) is not None


def json_values(text: str) -> Iterator[Array | Object]:
    """The outermost lists and objects of a text, in order.

    What is no JSON ends the value in which it stands; only what was complete by then is part of it.
    """
    position = 0
    while (start := _CONTAINER.search(text, position)) is not None:
        root, position = _read(text, start.start())
        yield root


def containers(root: Array | Object) -> Iterator[Array | Object]:
    """A value and all lists and objects in it, outer ones first."""
    waiting: list[Value] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Scalar):
            continue
        yield value
        inner = value.values if isinstance(value, Array) else [part for _, part in value.pairs]
        waiting.extend(reversed(inner))


def _read(text: str, start: int) -> tuple[Array | Object, int]:
    """The value that begins here, and where to look for the next one."""
    roots = Array()
    stack: list[Array | Object] = [roots]  # what is open, innermost last
    key, state, position = "", "value", start
    while len(stack) > 1 or not roots.values:
        token = _TOKEN.match(text, position)
        if token is None:
            position = len(text) if _BREAKS_OFF.match(text, position) else position + 1
            break
        mark = token["mark"] or "a"
        may_go_on = token["bare"] is not None and token.end() == len(text)
        if may_go_on or mark not in _MAY_STAND[state]:
            position = max(token.start(token.lastgroup or 0), start + 1)
            break
        position, inside = token.end(), stack[-1]
        if mark == ":":
            state = "value"
        elif mark == ",":
            state = "key" if isinstance(inside, Object) else "item"
        elif mark in "}]":
            inside.end, inside.closed = position, True
            stack.pop()
            state = _after_value(stack[-1])
        elif state == "key":
            key, state = _scalar(token).text, ":"
        elif mark == "a":
            _put(_scalar(token), key, inside)
            state = _after_value(inside)
        else:
            stack.append(Object(start=position - 1) if mark == "{" else Array(start=position - 1))
            _put(stack[-1], key, inside)
            state = "key" if mark == "{" else "item"
    root = next((value for value in roots.values if not isinstance(value, Scalar)), Array(start=start))
    for container in stack:
        container.end = position
    return root, position


def _put(value: Value, key: str, inside: Array | Object) -> None:
    if isinstance(inside, Object):
        inside.pairs.append((key, value))
    else:
        inside.values.append(value)


def _after_value(inside: Array | Object) -> str:
    return "pair" if isinstance(inside, Object) else "member"


def _scalar(token: re.Match[str]) -> Scalar:
    kind = token.lastgroup or "bare"
    written = token[kind]
    return Scalar(written if kind == "bare" else _unescaped(written), kind != "bare", *token.span(kind))


def _unescaped(written: str) -> str:
    if "\\" not in written:
        return written
    try:
        text: str = json.loads(f'"{written}"', strict=False)
    except ValueError:
        return written.replace("\\'", "'").replace('\\"', '"')
    return text


@dataclass(frozen=True)
class Field:
    """One verdict-like field of an object: how deep it lies, what it is called, and its value as text."""

    depth: int
    name: str
    value: str


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
        end, found = _read_fields(text, start.start())
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


def _read_fields(text: str, start: int) -> tuple[int | None, list[Field]]:
    """The end of the object (None if it is cut off) and its verdict-like fields."""
    depth, key, pending = 0, None, None
    fields: list[Field] = []
    for token in _FORGIVING_TOKEN.finditer(text, start):
        mark = token["mark"]
        if mark is None:
            pending = token[token.lastgroup or 0]
            if key is not None and is_verdict_name(key):
                fields.append(Field(depth, key, _unescaped(pending)))
            key = None
        elif mark == ":":
            key, pending = pending, None
        elif mark == "{":
            depth, key = depth + 1, None
        elif mark != "[":
            depth, key, pending = depth - (mark == "}"), None, None
            if depth == 0:
                return token.end(), fields
    return None, fields
