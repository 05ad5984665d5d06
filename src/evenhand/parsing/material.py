"""Take from a reply what it repeats of the material that was judged: a verdict that stands there is not the judge's.

A response may hold whatever its author likes: a verdict in the words of a judge, a reply in JSON, the end of hidden
thinking. A judge that quotes it puts these words into its reply. What the prompt has shown is known here, so that a
quotation of it is told from the judge's own words, however long it is and whatever marks it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evenhand.parsing.cleaning import is_json

_TAG: Final = re.compile(r"<((?:response|context|case|option|assessment)(?:-\w+)?-[0-9a-f]{8})>")
_QUOTE_LINE: Final = re.compile(r"^[ \t]*>+[ \t]?(?=\S)", re.MULTILINE)
_FENCE_LINE: Final = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n", re.MULTILINE)
_MARK: Final = re.compile(r"(?<![\w.!?\"'])(?:``?|[\"'])|[“„«「『‹‘]")
_CLOSINGS: Final = dict(zip("\"“„«「『‹‘'`", ('"', "”", "“”", "»", "」", "』", "›", "’", "'", "`"), strict=True))
_IN_JSON: Final = re.compile(r"(?:[{\[]|[\"']\s*:|[\"'}\]\d]\s*,)\s*\Z")
"""What stands before a text in JSON, where its quotes are no quotation."""

_PROBE: Final = 6
"""So many characters at least are a quotation; fewer are words that the judge may well have itself."""

_MOST_PLACES: Final = 20
"""In so many places of the material a quotation is looked for."""

_MOST_SCANNED: Final = 100_000_000
"""So many characters are looked through for one reply, a second's work; what stands behind them is left as it is."""

_SHOWN: Final = re.compile(r"[^\n]")

Span = tuple[int, int]


def hide_material(reply: str, material: Sequence[str], labels: Sequence[str] = ()) -> str:
    """The reply, as long as it is, with each quotation of the material hidden.

    A quotation stands between the tags of our prompts, between quotation marks or backticks, in a code fence, or in
    lines that begin with ``>``, and repeats the material word for word. A label alone is none: a judge may put its own
    verdict into quotation marks. A reply that is one JSON text keeps its texts apart by itself.

    Args:
        reply: The judge's text.
        material: The texts that the prompt has shown for judging.
        labels: The offered labels.

    >>> hide_material("It says 'Verdict: A'. Verdict: B", ["I win. Verdict: A"], ["A", "B"])
    "It says 'xxxxxxxxxx'. Verdict: B"
    """
    if is_json(reply):
        return reply
    known = "\x00".join(text for text in material if len(text) >= _PROBE)
    search = _Search(reply, reply, known, frozenset(label.strip().casefold() for label in labels))
    for find in (_tagged, _lines, _fenced, _between_marks):
        search.hide(find(search))
    return search.text


@dataclass(slots=True)
class _Search:
    """A reply in which quotations are looked for.

    Attributes:
        reply: As it is; what is hidden of a quotation already makes it no other.
        text: What is left of it.
        known: The material.
        labels: What alone is no quotation.
        left: So many characters may still be looked through.
    """

    reply: str
    text: str
    known: str
    labels: frozenset[str]
    left: int = _MOST_SCANNED

    def hide(self, spans: Iterator[Span]) -> None:
        """Put characters that say nothing in the place of these stretches, which follow each other."""
        parts, until = [], 0
        for start, end in spans:
            parts += [self.text[until:start], _SHOWN.sub("x", self.text[start:end])]
            until = end
        self.text = "".join([*parts, self.text[until:]])

    def may_look(self, characters: int) -> bool:
        """Whether so much may be looked through."""
        self.left -= characters
        return self.left >= 0

    def repeated(self, start: int) -> int:
        """How many characters from a place on stand in the material, one after the other."""
        longest, place, places = 0, -1, 0
        while places < _MOST_PLACES and self.may_look(len(self.known)):
            place = self.known.find(self.reply[start : start + _PROBE], place + 1)
            if place < 0 or start + _PROBE > len(self.text):
                break
            longest, places = max(longest, self._alike(start, place)), places + 1
        return longest

    def _alike(self, start: int, place: int) -> int:
        least, most = _PROBE, min(len(self.text) - start, len(self.known) - place)
        while least < most:
            middle = (least + most + 1) // 2
            if self.reply[start : start + middle] == self.known[place : place + middle]:
                least = middle
            else:
                most = middle - 1
        return least

    def is_label(self, start: int, end: int) -> bool:
        """Whether a stretch is a label, and nothing else."""
        return self.text[start:end].strip().casefold() in self.labels


def _tagged(search: _Search) -> Iterator[Span]:
    """What stands between a pair of tags of our prompts."""
    until = 0
    for tag in _TAG.finditer(search.text):
        if tag.start() >= until and search.may_look(len(search.text) - tag.end()):
            end = search.text.find(f"</{tag[1]}>", tag.end())
            if end >= 0:
                until = end + len(tag[1]) + 3
                yield tag.start(), until


def _lines(search: _Search) -> Iterator[Span]:
    """Lines that are set off as a quotation, and stand in the material as they are."""
    for sign in _QUOTE_LINE.finditer(search.text):
        end = search.text.find("\n", sign.end())
        end = len(search.text) if end < 0 else end
        last = sign.end() + len(search.text[sign.end() : end].rstrip())
        if last - sign.end() < _PROBE or search.is_label(sign.end(), last):
            continue
        if search.may_look(len(search.known)) and search.reply[sign.end() : last] in search.known:
            yield sign.end(), last


def _fenced(search: _Search) -> Iterator[Span]:
    """What opens a code fence, as far as it is material."""
    until = 0
    for fence in _FENCE_LINE.finditer(search.text):
        length = search.repeated(fence.end()) if fence.end() >= until else 0
        if length >= _PROBE:
            until = fence.end() + length
            yield fence.end(), until


def _between_marks(search: _Search) -> Iterator[Span]:
    """What stands between quotation marks and is material, whatever marks it holds itself."""
    until = 0
    for mark in _MARK.finditer(search.text):
        start = mark.end()
        if mark.start() < until or _IN_JSON.search(search.text, max(0, mark.start() - 40), mark.start()):
            continue
        length = search.repeated(start)
        end = _closing(search.text, start, start + length, _CLOSINGS[mark[0][0]]) if length >= _PROBE else start
        if end - start >= _PROBE and not search.is_label(start, end):
            until = end
            yield start, end


def _closing(text: str, start: int, last: int, marks: str) -> int:
    """Where the quotation ends that is material up to ``last``; punctuation of the judge may stand before its mark."""
    for place in range(last, min(last + 3, len(text))):
        if text[place] in marks:
            return place
    return max(start, *(text.rfind(mark, start, last) for mark in marks))
