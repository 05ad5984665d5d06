"""Reading of one reply as answers to all items of a sheet, or reasons why an item has none. Never guesses.

The prompt asks for ``{"answers": [{"index": 1, "reasoning": "…", "answer": "Yes"}, …]}``. Judges also send a list, an
object with a key per item, or numbered lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from evenhand.parsing.cleaning import ShownTexts, spoken_words, unfenced, without_markup, without_thinking
from evenhand.parsing.reading import (
    ReplyReading,
    Span,
    field_places,
    folded_name,
    is_verdict_field,
    json_value,
    nonce_tags,
    read_reply,
    reasons_in,
    unscored,
)
from evenhand.votes import REASON_BY_FINISH, UnscoredReason

_INDEX = r"(?:q|question|item|criterion|check|no\.?|number)"
_INDEX_FIELDS = {"", "index", "id", "item", "item_index", "item_number", "number", "no", "question"}
_INDEX_FIELDS |= {"question_index", "question_number"}
_SHEET_FIELDS = frozenset({"answers", "verdicts", "items", "results", "checklist"})
_PREFIX = re.compile("^(?:final|overall|your|my|the)_")
"""A word that judges put before the name of a field: "final_answer" is an answer too."""
_NUMBER = re.compile(rf"\W*(?:{_INDEX}\W*)?(\d{{1,6}})(?:\.0+)?\W*", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:(?:here are )?(?:(?:my|the|final|own)\s+)*(?:answers?|verdicts?|ratings?|checklist))\s*[:：]?|[`~]{3,}\w*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    rf"^[ \t]*(?:[-*•+][ \t]+|\#{{1,6}}[ \t]+)?[*_`(\[]*(?:{_INDEX}[ \t]*[.#:]?[ \t]*)?\#?(?P<number>\d{{1,6}})"
    r"[*_`]*(?:[ \t]*(?:[.):\]=/–—→-]+>?|$)|[ \t]*(?=\n))[*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_NONCE_TAG = re.compile(  # a whole sheet
    r"<answers-(?P<nonce>[0-9a-f]{8})>(?P<content>(?:(?!<answers-).)*)</answers-(?P=nonce)>", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """The entry of a sheet for one item.

    Attributes:
        number: The item's number as written.
        text: The words of the answer, or the block that ends in it; None if the entry has none.
        start: The position in the reply; None if that is not known.
        reasoning: The reasons given with it.
        span: The position of the answer's value, if known.
    """

    number: int
    text: str | None
    start: int | None = None
    reasoning: str | None = None
    span: Span | None = None


def read_sheet(
    text: str | None,
    answers: Sequence[Sequence[str]],
    *,
    finish_reason: str | None = None,
    numbers: Sequence[int] | None = None,
    known: Sequence[int] | None = None,
    shown: Sequence[str] = (),
    nonce: str = "",
) -> tuple[ReplyReading, ...]:
    """Return the answer to each item.

    A sheet is the whole reply as JSON, in a code fence or not; or numbered lines, each with what follows it up to the
    next number. The words of an answer are read by the contract of :func:`~evenhand.parsing.match_closest_option`,
    reasons never. Numbered lines that a text in ``shown`` has too are not the judge's own (``quoted``).

    The whole sheet is ``ambiguous`` where it is contradicted anywhere: two entries have one number, a number was not
    asked for, or text outside the entries names an answer. Only a reply that answers everything asked for again may
    repeat the rest of the sheet. An item that no entry names is unscored (``no_match``, or ``truncated`` where the
    reply was cut off before it). A reply about one item need not number it.

    Args:
        text: The reply.
        answers: The offered answers of each item.
        finish_reason: The reason that the engine reported.
        numbers: The names of the items in the prompt; 1, 2, … when None.
        known: The numbers of the whole sheet, where some of it is asked for again; ``numbers`` when None.
        shown: The texts that the judge was shown for judging.
        nonce: Eight hexadecimal digits that the judge was asked to write the sheet with, as
            ``<answers-1a2b3c4d>…</answers-1a2b3c4d>``; nothing else of such a reply is read.

    Returns:
        One answer per item, in the order of ``answers``.

    Raises:
        InvalidInputError: The answers of an item cannot be distinguished.

    >>> [read.match.index for read in read_sheet('{"answers": [{"index": 2, "answer": "no"}]}', [["Yes", "No"]] * 2)]
    [None, 1]
    """
    asked = tuple(range(1, len(answers) + 1)) if numbers is None else tuple(numbers)
    offered_by = dict(zip(asked, answers, strict=True))
    held = ShownTexts(shown)
    spoken = (without_thinking(text, held) if text else None) or ""
    tags = nonce_tags(_NONCE_TAG, spoken, nonce)
    if tags:  # in its place, so that positions are those of the reply
        start, end = tags[-1].span("content")
        spoken, shown = re.sub(r"[^\n]", " ", spoken[:start]) + spoken[start:end], ()
        text, held = spoken, ShownTexts()
    entries, reason = _entries(spoken, offered_by, held)
    if not entries and len(asked) == 1:
        return (read_reply(text, answers[0], finish_reason=finish_reason, shown=shown, nonce=nonce),)
    named = [entry.number for entry in entries]
    allowed = set(asked) if known is None or not set(asked) <= set(named) else {*asked, *known}
    if len(set(named)) < len(named) or not set(named) <= allowed or len({tag["content"] for tag in tags}) > 1:
        reason = "ambiguous"
    if reason is not None:
        return (unscored("truncated" if finish_reason == "length" else reason),) * len(asked)
    by_number = {entry.number: entry for entry in entries}
    last = named[-1] if named else None
    return tuple(
        _answer(by_number[number], offered, finish_reason if number == last else None)
        if number in by_number
        else unscored(_why_missing(text, offered, finish_reason, number, last))
        for number, offered in offered_by.items()
    )


def _answer(entry: _Entry, offered: Sequence[str], finish_reason: str | None) -> ReplyReading:
    if entry.text is None:
        return replace(unscored("truncated" if finish_reason == "length" else "no_match"), reasoning=entry.reasoning)
    read = read_reply(entry.text, offered, finish_reason=finish_reason)
    span = entry.span
    if span is None and read.span is not None and entry.start is not None:
        span = entry.start + read.span[0], entry.start + read.span[1]
    return ReplyReading(read.match, span, entry.reasoning)


def _why_missing(
    text: str | None, offered: Sequence[str], finish_reason: str | None, number: int, last: int | None
) -> UnscoredReason:
    """Return why an item that no entry names has no answer; where there is no entry, the reason of the whole reply."""
    reason = REASON_BY_FINISH.get(finish_reason)
    if reason is not None and (reason != "truncated" or last is None or number > last):
        return reason
    whole = read_reply(text, offered).match.reason if last is None else None
    return whole if whole in {"empty", "refusal"} else "no_match"


def _entries(
    text: str, offered: Mapping[int, Sequence[str]], shown: ShownTexts
) -> tuple[list[_Entry], UnscoredReason | None]:
    """Return what a sheet says of each item, in its order, and why none of it counts."""
    start, end = unfenced(text)
    value = json_value(text[start:end])
    if isinstance(value, list):
        return _of_json(value, text, offered)
    entries, outside = _blocks(text)
    if any(
        shown.hold(spoken_words(form(f"{entry.number} {entry.text}")))
        for entry in entries
        for form in (str, without_markup)
    ):
        return entries, "quoted"
    if any(re.search(r"\w", line) and not _HEADING.fullmatch(without_markup(line)) for line in outside):
        return entries, "no_match"  # the sheet is not the whole reply
    said = {spoken_words(label) for labels in offered.values() for label in labels} - {"  "}
    contradicted = any(_contradicts(entry, said, offered.keys(), last=entry is entries[-1]) for entry in entries)
    return entries, "ambiguous" if contradicted else None


def _contradicts(entry: _Entry, said: AbstractSet[str], asked: AbstractSet[int], *, last: bool) -> bool:
    """Return whether a block names an answer to another item, or says more behind the answer that ends the sheet."""
    lines = [spoken_words(line) for line in (entry.text or "").split("\n") if line.strip()]
    trailing = last and any(line in said for line in lines[:-1])
    return trailing or any(
        any(label in line for label in said)
        and any(int(n) in asked - {entry.number} for n in re.findall(r" (\d{1,6})(?= )", line))
        for line in lines
        if line not in said
    )


def _blocks(text: str) -> tuple[list[_Entry], list[str]]:
    """Return each numbered line with the lines below it, up to the next number; and the lines above the first."""
    heads = list(_NUMBERED.finditer(text))
    entries = []
    for head, end in zip(heads, [*(after.start() for after in heads[1:]), len(text)], strict=False):
        block = text[head.end() : end]
        lines = [line for line in block.split("\n") if line.strip()]
        entries.append(_Entry(int(head["number"]), block, head.end(), "\n".join(lines[:-1]).strip() or None))
    return entries, text[: heads[0].start() if heads else 0].split("\n")


def _of_json(
    value: list[Any], text: str, offered: Mapping[int, Sequence[str]]
) -> tuple[list[_Entry], UnscoredReason | None]:
    """Return the entries of a sheet in JSON, in which an object is a list of pairs."""
    held = [pair for pair in _pairs(value) if isinstance(pair[1], list) and folded_name(pair[0]) in _SHEET_FIELDS]
    if len(held) == 1:
        others = [pair for pair in _pairs(value) if pair is not held[0]]
        if any(isinstance(said, list) or _number(name) is not None for name, said in others):
            return [], "ambiguous"
        value = held[0][1]
    if len(value) == len(offered) and all(isinstance(each, str) for each in value):
        return list(map(_Entry, offered, value)), None
    entries: list[_Entry] = []
    for each in value:
        numbers, said, fields = _json_entry(each)
        if len(numbers) > 1 or (numbers and len(said) > 1):
            return [_Entry(number, None) for number in numbers], "ambiguous"
        if numbers:
            answer = said[0] if said else None
            if isinstance(answer, bool):
                labels = {label.strip().casefold() for label in offered.get(numbers[0], ())}
                yes, no = ("true", "false") if labels & {"true", "false"} else ("yes", "no")
                answer = yes if answer else no
            words = answer if isinstance(answer, str) else None
            entries.append(_Entry(numbers[0], words, reasoning=reasons_in(fields)))
    places = [span for name, span in field_places(text) if is_verdict_field(name) or _number(name) is not None]
    if len(places) == len(entries):
        entries = [replace(entry, span=span) for entry, span in zip(entries, places, strict=True)]
    return entries, None


def _json_entry(value: object) -> tuple[list[int], list[Any], list[Any]]:
    """Return the numbers, the answers and the fields of one member of a sheet in JSON."""
    numbers: list[int] = []
    if isinstance(value, tuple):
        number, value = _number(value[0]), value[1]
        if number is None:
            return [], [], []
        numbers = [number]
    if not isinstance(value, list):
        return numbers, [value], []
    if not numbers:
        held = [str(index) for name, index in _pairs(value) if folded_name(name) in _INDEX_FIELDS]
        numbers = [found for found in map(_number, held) if found is not None]
    answers = _answers_in(value)
    if len(answers) == 1 and isinstance(answers[0], list):
        value, answers = answers[0], _answers_in(answers[0])
    return numbers, answers, value


def _pairs(fields: list[Any]) -> list[tuple[str, Any]]:
    return [pair for pair in fields if isinstance(pair, tuple)]


def _answers_in(fields: list[Any]) -> list[Any]:
    """Return the values of the answer: those under that name, or else those under names of verdicts."""
    pairs = [(_PREFIX.sub("", folded_name(name)), value) for name, value in _pairs(fields)]
    return [value for name, value in pairs if name == "answer"] or [
        value for name, value in pairs if is_verdict_field(name) and name not in _INDEX_FIELDS
    ]


def _number(written: str) -> int | None:
    found = _NUMBER.fullmatch(written)
    return int(found[1]) if found else None
