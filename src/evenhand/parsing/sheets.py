"""From one reply to the answers of all items of a sheet, or to the reason why an item has none. Never guesses.

The prompt asks for ``{"answers": [{"index": 1, "reasoning": "…", "answer": "Yes"}, …]}``. Judges also send a list, an
object with a key an item, JSON in fences or prose or broken off, a Markdown table, and numbered lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from evenhand.errors import InvalidInputError
from evenhand.parsing.cleaning import spoken_parts
from evenhand.parsing.labels import compile_labels
from evenhand.parsing.match import Match, Reason
from evenhand.parsing.reading import match_closest_option
from evenhand.parsing.sheet_entries import Entry, Span, read_entries
from evenhand.votes import without_lone_surrogates

_OF_THE_WHOLE: frozenset[Reason] = frozenset({"empty", "refusal"})
_HEAD = re.compile(
    r"[\s*_`\"'“”(\[]*(?P<answer>[^\s*_`\"'“”(\[].{0,60}?)[*_`\"'“”)\]]*"
    r"(?=\s*$|\s*\n|\s+[-–—:|(]|[-–—:]\s|\s*[.,;!。，；](?:[*_`\"')\]]*\s|[*_`\"')\]]*$)|\s+(?:because|since|as)\b)",
    re.IGNORECASE,
)
_REST = re.compile(r"[\s*_`\"'“”)\].,;:!。，；|–—-]*(?:\bbecause\b)?\s*", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:^|(?<=[.!?;]))[\s>*_`#•+-]*(?:(?:my|the|final|overall)\s+){0,2}(?:answer|verdict|decision)[*_`\"' ]*"
    r"(?::|=|→|\bis\b|[-–—](?=\s))[*_`\"' ]*(?P<rest>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_BELOW = re.compile(r"(?<=\n)(?P<rest>[ \t]*\S.{0,80})$", re.MULTILINE)
_AFTER_QUESTION = re.compile(r"^[^\n]*(?:\?[*_`\"')\]]*|→|=>|->)[ \t]*[-–—:=>→]*[ \t]*(?P<rest>[^\n?]+)$")
_CONTRAST = re.compile(r"(?:but|however|or|and|though|although|yet|/)(?![\w'])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What a reply answers to one item.

    Attributes:
        match: Which of the item's answers, or why none.
        reasoning: The reasons given with it, where there are any.
        span: Where in the reply the words of the answer stand, so that log-probabilities can be read there.
    """

    match: Match
    reasoning: str | None = None
    span: Span | None = None


def read_sheet(
    text: str | None,
    answers: Sequence[Sequence[str]],
    *,
    finish_reason: str | None = None,
    numbers: Sequence[int] | None = None,
) -> tuple[SheetAnswer, ...]:
    """The answer to each item.

    An item that no entry names has none (``no_match``, or ``truncated`` where the reply was cut off before it), and an
    item that two entries name, even alike, is ``ambiguous``. Numbers that were not asked for are passed over, unless
    the reply numbers as many items as were asked about from 0, or anew from 1: then every answer is ``ambiguous``.
    The words of an answer are read by :func:`~evenhand.parsing.match_closest_option`, reasons never. A reply about
    one item need not number it.

    Args:
        text: The reply.
        answers: Per item the answers offered.
        finish_reason: What the engine reported.
        numbers: What the prompt called the items; 1, 2, … when None.

    Returns:
        One answer an item, in the order of ``answers``.

    Raises:
        InvalidInputError: If there are not as many numbers as items, a number is named twice, or an item's answers
            cannot be told apart.

    >>> [read.match.index for read in read_sheet('{"answers": [{"index": 2, "answer": "no"}]}', [["Yes", "No"]] * 2)]
    [None, 1]
    """
    asked = tuple(range(1, len(answers) + 1)) if numbers is None else tuple(numbers)
    if len(asked) != len(answers) or len(set(asked)) < len(asked):
        raise InvalidInputError(
            f"numbers is {asked!r} for {len(answers)} items; give each item a number of its own, or None for 1, 2, …"
        )
    for offered in answers:
        compile_labels(tuple(offered))
    spoken = _spoken(text)
    entries = read_entries(spoken, len(asked) if numbers is None else 0)
    if not entries and len(asked) == 1:
        return (SheetAnswer(match_closest_option(text, answers[0], finish_reason=finish_reason)),)
    if _numbers_anew({entry.number for entry in entries}, set(asked)):
        return (SheetAnswer(_none("ambiguous")),) * len(asked)
    by_number: dict[int, list[Entry]] = {}
    for entry in entries:
        by_number.setdefault(entry.number, []).append(entry)
    last = max((number for number in asked if number in by_number), default=None)
    return tuple(
        _answer(by_number[number], offered, finish_reason)
        if number in by_number
        else SheetAnswer(_none(_why_missing(text, offered, finish_reason, number, last)))
        for number, offered in zip(asked, answers, strict=True)
    )


def _numbers_anew(named: AbstractSet[int], asked: AbstractSet[int]) -> bool:
    """Whether all items are numbered from 0, or from 1, where other numbers were asked for."""
    count = len(asked)
    return count > 1 and named != asked and named in (set(range(count)), set(range(1, count + 1)))


def _spoken(text: str | None) -> str:
    """The reply with what is hidden thinking blanked out, every character in its place."""
    parts = spoken_parts(text) if text else None
    if text is None or parts is None:
        return ""
    blank = ["\n"] * len(text)
    for start, end in parts:
        blank[start:end] = text[start:end]
    return "".join(blank)


def _why_missing(
    text: str | None, offered: Sequence[str], finish_reason: str | None, number: int, last: int | None
) -> Reason:
    """Why an item that no entry names has no answer; where there is no entry at all, the reason of the whole reply."""
    if finish_reason == "content_filter":
        return "content_filter"
    if finish_reason == "length" and (last is None or number > last):
        return "truncated"
    whole = match_closest_option(text, offered).reason if last is None else None
    return whole if whole in _OF_THE_WHOLE else "no_match"


def _answer(entries: Sequence[Entry], offered: Sequence[str], finish_reason: str | None) -> SheetAnswer:
    entry = entries[0]
    if len(entries) > 1 or entry.doubled:
        return SheetAnswer(_none("ambiguous"), _reasoning(entry.reasoning), entry.span)
    if entry.text is None or entry.span is None:
        return SheetAnswer(_none("no_match"), _reasoning(entry.reasoning))
    if entry.truth is not None and (truth := _truth(entry.truth, offered)) is not None:
        return SheetAnswer(truth, _reasoning(entry.reasoning), entry.span)
    ended = finish_reason if entry.last else None
    if entry.block:
        return _of_block(entry, offered, ended)
    match = match_closest_option(entry.text, offered, finish_reason=ended)
    return SheetAnswer(match, _reasoning(entry.reasoning), entry.span)


def _truth(truth: bool, offered: Sequence[str]) -> Match | None:
    """True and false are yes and no, where those are the answers and true and false are not."""
    folded = [label.strip().casefold() for label in offered]
    word = "yes" if truth else "no"
    if word not in folded or "true" in folded or "false" in folded:
        return None
    return Match(index=folded.index(word), kind="normalized")


def _of_block(entry: Entry, offered: Sequence[str], finish_reason: str | None) -> SheetAnswer:
    """The answer in what follows a number: its first words, those after "Answer:" or the question, or a line's all."""
    block, start = entry.text or "", (entry.span or (0, 0))[0]
    leads = [*_LEAD.finditer(block)] or [line for line in _LINE_BELOW.finditer(block) if _is_answer(line, offered)]
    found = [read for lead in leads if (read := _head(block, lead.start("rest"), offered, finish_reason)) is not None]
    first = _head(block, 0, offered, finish_reason)
    if first is not None and first[0].index is not None:
        found.insert(0, first)
    if not found and not leads:
        asked = _AFTER_QUESTION.match(block)
        after = _head(block, asked.start("rest"), offered, finish_reason) if asked else None
        found = [read for read in (after, first) if read is not None and (read is after or len(block.split()) <= 4)]
    if not found:
        return SheetAnswer(_none("truncated" if finish_reason == "length" else "no_match"), _reasoning(block))
    match, (head_start, head_end) = found[-1]
    if len({read.index for read, _ in found}) > 1:
        match = _none("ambiguous")
    reasoning = block[: leads[-1].start()] if leads and found[-1] is not first else block[head_end:]
    reasoning = reasoning[_rest_at(reasoning, 0) :]
    return SheetAnswer(match, _reasoning(reasoning), (start + head_start, start + head_end))


def _is_answer(line: re.Match[str], offered: Sequence[str]) -> bool:
    """Whether a line is an answer and nothing else."""
    return match_closest_option(line.group("rest"), offered).kind in {"exact", "normalized"}


def _rest_at(text: str, position: int) -> int:
    rest = _REST.match(text, position)
    return rest.end() if rest else position


def _head(block: str, position: int, offered: Sequence[str], finish_reason: str | None) -> tuple[Match, Span] | None:
    """What the first words from a position answer, if they are an answer and nothing takes it back.

    None where they are the beginning of a sentence.
    """
    head = _HEAD.match(block, position)
    if head is None:
        return None
    match = match_closest_option(
        head.group("answer"), offered, finish_reason=finish_reason if head.end() == len(block) else None
    )
    if match.index is not None and match.kind not in {"exact", "normalized", "near"}:
        return None
    rest = block[head.end("answer") :].lstrip("*_`\"'“”)],.;:!–—- ")
    if match.index is not None and _takes_back(rest, match.index, offered):
        match = _none("ambiguous")
    return match, head.span("answer")


def _takes_back(rest: str, index: int, offered: Sequence[str]) -> bool:
    """Whether what follows an answer names another one: "yes, but also no"."""
    line = rest.partition("\n")[0]
    contrast = _CONTRAST.match(line)
    read = match_closest_option(line[contrast.end() :] if contrast else line, offered)
    if contrast is not None:
        return read.reason == "ambiguous" or read.index not in {None, index}
    return read.index not in {None, index} and read.kind in {"exact", "normalized"}


def _reasoning(text: str | None) -> str | None:
    stripped = without_lone_surrogates(text).strip() if text else ""
    return stripped or None


def _none(reason: Reason) -> Match:
    return Match(index=None, kind="none", reason=reason)
