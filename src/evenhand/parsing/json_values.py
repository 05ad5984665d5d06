"""JSON as judges write it, with the place of every value: fenced, in prose, in Python's spelling, broken off.

A strict automaton over tokens: text inside strings is never taken for structure, every key of an object is kept, and
what was complete before the text broke off is known to be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[{}\[\]:,])|\"(?P<double>[^\"\\]*(?:\\.[^\"\\]*)*)\"|'(?P<single>[^'\\\n]*(?:\\.[^'\\\n]*)*)'"
    r"|(?P<bare>[^\s{}\[\]:,\"']+))",
    re.DOTALL,
)
_CONTAINER = re.compile(r"[{\[]")
_BREAKS_OFF = re.compile(r"\s*(?:[\"'].*)?\Z", re.DOTALL)


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


class _Reader:
    """The containers that are open, innermost last, and what may come next."""

    def __init__(self) -> None:
        self.stack: list[Array | Object] = []
        self.keys: list[str | None] = []
        self.root: Array | Object | None = None
        self.expects = "value"

    def open(self, container: Array | Object) -> bool:
        if self.expects != "value":
            return False
        self.put(container)
        self.root = self.root or container
        self.stack.append(container)
        self.keys.append(None)
        self.expects = "key" if isinstance(container, Object) else "value"
        return True

    def put(self, value: Value) -> None:
        if self.stack:
            inside = self.stack[-1]
            if isinstance(inside, Object):
                inside.pairs.append((self.keys[-1] or "", value))
            else:
                inside.values.append(value)
        self.expects = "comma"

    def scalar(self, value: Scalar) -> bool:
        if self.expects == "key":
            self.keys[-1] = value.text
            self.expects = "colon"
            return True
        if self.expects != "value":
            return False
        self.put(value)
        return True

    def mark(self, mark: str, start: int, end: int) -> bool:
        if mark in "{[":
            return self.open(Object(start=start) if mark == "{" else Array(start=start))
        if mark in "}]":
            inside = self.stack[-1]
            if isinstance(inside, Object) != (mark == "}") or self.expects == "colon":
                return False
            if isinstance(inside, Object) and self.expects == "value":
                return False
            inside.end, inside.closed = end, True
            self.stack.pop()
            self.keys.pop()
            self.expects = "comma"
            return True
        if mark == ":":
            allowed = self.expects == "colon"
            self.expects = "value" if allowed else self.expects
            return allowed
        allowed = self.expects == "comma"
        if allowed:
            self.expects = "key" if isinstance(self.stack[-1], Object) else "value"
        return allowed


def _read(text: str, start: int) -> tuple[Array | Object, int]:
    """The value that begins here, and where to look for the next one."""
    reader, position = _Reader(), start
    while not reader.stack or reader.root is None or not reader.root.closed:
        token = _TOKEN.match(text, position)
        if token is None:
            position = len(text) if _BREAKS_OFF.match(text, position) else position + 1
            break
        if not _take(reader, token, breaks_off=token.end() == len(text)):
            position = max(token.start(token.lastgroup or 0), start + 1)
            break
        position = token.end()
        if not reader.stack:
            break
    root = reader.root or Array(start=start)
    for container in reader.stack:
        container.end = position
    return root, position


def _take(reader: _Reader, token: re.Match[str], *, breaks_off: bool) -> bool:
    """Whether the token may stand here; a bare word at the end of the text may go on."""
    if token.group("mark"):
        place = token.start("mark")
        return reader.mark(token.group("mark"), place, place + 1)
    kind = token.lastgroup or "bare"
    start, end = token.span(kind)
    written = token.group(kind)
    if kind == "bare":
        return not breaks_off and reader.scalar(Scalar(written, False, start, end))
    return reader.scalar(Scalar(_unescaped(written), True, start, end))


def _unescaped(written: str) -> str:
    if "\\" not in written:
        return written
    try:
        text: str = json.loads(f'"{written}"', strict=False)
    except ValueError:
        return written.replace("\\'", "'").replace('\\"', '"')
    return text
