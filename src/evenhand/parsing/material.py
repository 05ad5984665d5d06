"""Take from a reply what it repeats of the material that was judged: a verdict that stands there is not the judge's.

A response may hold whatever its author likes: a verdict in the words of a judge, a reply in JSON, the end of hidden
thinking. A judge that quotes it puts these words into its reply. What the prompt has shown is known here, so that a
quotation of it is told from the judge's own words, however long it is and whatever marks it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from evenhand.parsing.cleaning import is_json

_TAGS: Final = re.compile(r"<((?:response|context|case|option|assessment)(?:-\w+)?-[0-9a-f]{8})>.*?</\1>", re.DOTALL)
_QUOTE_LINE: Final = re.compile(r"^[ \t]*>+[ \t]?(.*)$", re.MULTILINE)
_FENCE_LINE: Final = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n", re.MULTILINE)
_OPENING: Final = re.compile(r"(?<![\w.!?])(?:``?|[\"'])|[“„«「『‹‘]")
_CLOSINGS: Final = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "「": "」",
    "『": "』",
    "‹": "›",
    "‘": "’",
    "'": "'",
    "`": "`",
}
_IN_JSON: Final = re.compile(r"(?:[{\[]|\"\s*:|[\"}\]\d]\s*,)\s*\Z")
"""What stands before a text in JSON, where its quotes are no quotation."""

_PROBE: Final = 6
"""So many characters at least are a quotation; fewer are words that the judge may well have itself."""

_SHOWN: Final = re.compile(r"[^\n]")


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
    hidden = _TAGS.sub(lambda found: _hide(found.group()), reply)
    known = "\x00".join(text for text in material if len(text) >= _PROBE)
    if not known:
        return hidden
    own = {label.strip().casefold() for label in labels}

    def quoted(text: str) -> bool:
        return len(text.strip()) >= _PROBE and text.strip().casefold() not in own and text.strip() in known

    hidden = _QUOTE_LINE.sub(lambda found: _without(found, 1) if quoted(found[1]) else found.group(), hidden)
    hidden = _hide_fenced(hidden, known)
    return _hide_between_marks(hidden, known, quoted)


def _hide(text: str) -> str:
    """As many characters that say nothing, in as many lines."""
    return _SHOWN.sub("x", text)


def _without(found: re.Match[str], group: int) -> str:
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found.group()[:start] + _hide(found.group()[start:end]) + found.group()[end:]


def _hide_fenced(text: str, known: str) -> str:
    """Hide what opens a code fence, as far as it is material."""
    for fence in list(_FENCE_LINE.finditer(text)):
        length = _repeated(text, fence.end(), known)
        if length >= _PROBE:
            text = text[: fence.end()] + _hide(text[fence.end() : fence.end() + length]) + text[fence.end() + length :]
    return text


def _hide_between_marks(text: str, known: str, quoted: Callable[[str], bool]) -> str:
    """Hide what stands between quotation marks and is material, whatever marks it holds itself."""
    parts, until = [], 0
    for mark in _OPENING.finditer(text):
        start = mark.end()
        if mark.start() < until or _IN_JSON.search(text[max(0, mark.start() - 40) : mark.start()]):
            continue
        length = _repeated(text, start, known)
        end = _closing(text, start, start + length, _CLOSINGS[mark.group()[0]]) if length >= _PROBE else start
        if end > start and quoted(text[start:end]):
            parts += [text[until:start], _hide(text[start:end])]
            until = end
    return "".join([*parts, text[until:]])


def _repeated(text: str, start: int, known: str) -> int:
    """How many characters from a place on stand in the material, one after the other."""
    if text[start : start + _PROBE] not in known:
        return 0
    least, most = min(_PROBE, len(text) - start), len(text) - start
    while least < most:
        middle = (least + most + 1) // 2
        if text[start : start + middle] in known:
            least = middle
        else:
            most = middle - 1
    return least


def _closing(text: str, start: int, last: int, marks: str) -> int:
    """Where the quotation ends that is material up to ``last``; punctuation of the judge may stand before its mark."""
    ends = [place for place in range(last, min(last + 3, len(text))) if text[place] in marks]
    if ends:
        return ends[0]
    return next((place for place in range(last - 1, start, -1) if text[place] in marks), start)
