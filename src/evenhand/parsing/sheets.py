"""From one reply to the answers of all items of a sheet, or to the reason why an item has none. Never guesses.

The prompt asks for ``{"answers": [{"index": 1, "reasoning": "…", "answer": "Yes"}, …]}``. Judges also send a list, an
object with a key an item, JSON in fences or prose or broken off, a Markdown table, and numbered lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from evenhand.errors import InvalidInputError
from evenhand.parsing.cleaning import spoken_parts
from evenhand.parsing.grammar import phrase
from evenhand.parsing.labels import compile_labels
from evenhand.parsing.reading import match_closest_option, unread
from evenhand.parsing.sheet_entries import Entry, Source, Span, read_sources, sole_entry, without
from evenhand.votes import (
    FINAL_FINISHES,
    REASON_BY_FINISH,
    Match,
    MatchKind,
    UnscoredReason,
    without_lone_surrogates,
)

_OF_THE_WHOLE: frozenset[UnscoredReason] = frozenset({"empty", "refusal"})
_WHOLE: frozenset[MatchKind] = frozenset({"exact", "normalized"})
_HEAD = phrase(
    r"[\s*_`\"'“”(\[]*(?P<answer>[^\s*_`\"'“”(\[].{0,60}?)[*_`\"'“”)\]]*(?=\s*$|\s*\n|\s+[-–—:|(]|[-–—:]\s|"
    r"\s*[.,;!。，；](?:[*_`\"')\]]*\s|[*_`\"')\]]*$)|\s+(?:because|since|as)\b)"
)
_REST = phrase(r"\A[\s*_`\"'“”)\].,;:!。，；|–—-]*(?:\bbecause\b)?\s*")
_LEAD = phrase(
    r"(?:^|(?<=[.!?;,]))[\s>*_`#•+-]*(?:so |thus |hence |therefore )?(?:(?:my|the|final|overall)\s+){0,2}(?:answer|"
    r"verdict|decision|(?P<weak>judge?ment|rating|result|conclusion|evaluation|assessment|grade|score|status|"
    r"selection|selected option|choice|label|level))[*_`\"' ]*(?:(?::|=|→|\bis\b|[-–—](?=\s))[*_`\"' ]*|"
    r"(?=\n))(?P<rest>\n*[^\n]*)$",
    re.MULTILINE,
)
_LABEL_PART = re.compile(r"[^\W_]+|[+<>=%#≥≤±$€£&@^/-]+(?=\W*\Z)")
_EXTENDS = phrase(
    r"\W*(?:but|though|although|however|except|only|partly|partially|mostly|with|without|to some|in part|albeit)\b"
)
_LINE_BELOW = re.compile(r"(?<=\n)(?P<rest>[ \t]*\S.{0,80})$", re.MULTILINE)
_AFTER_QUESTION = re.compile(r"^[^\n]*(?:\?[*_`\"')\]]*|→|=>|->)[ \t]*[-–—:=>→]*[ \t]*(?P<rest>[^\n?]+)$")
_CONTRAST = phrase(r"(?:but|however|or|and|though|although|yet|/)(?![\w'])")


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
    known: Sequence[int] | None = None,
) -> tuple[SheetAnswer, ...]:
    """The answer to each item.

    Only a sheet that the judge gives in its own name counts: one that it quotes, attributes to the response or rejects
    is no verdict (:func:`~evenhand.parsing.sheet_entries.read_sources`). Of several sheets of its own the last counts
    where the judge says that it replaces the others; else an item counts where all that answer it agree, and, where
    the sheets contradict each other anywhere, where all of them answer it.

    An item that no entry names has none (``no_match``, or ``truncated`` where the reply was cut off before it), and an
    item that two entries of a sheet name, even alike, is ``ambiguous``. A number that was not asked for voids the
    reply (every answer is ``ambiguous``, or ``truncated`` where it was cut off): who counts from 0, or anew, has
    shifted the others too. Only a reply that names everything asked for again may repeat the rest of the sheet.
    The words of an answer are read by :func:`~evenhand.parsing.match_closest_option`, reasons never; where one option
    begins with another, the longest that the words begin with counts. A reply about one item need not number it.

    Args:
        text: The reply.
        answers: Per item the answers offered.
        finish_reason: What the engine reported.
        numbers: What the prompt called the items; 1, 2, … when None.
        known: The numbers of the whole sheet, where some of it is asked for again; ``numbers`` when None.

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
    sources = read_sources(spoken, len(asked) if numbers is None else 0)
    own = [source for source in sources if source.own]
    if not own and len(asked) == 1:
        foreign = [(source.start, source.end) for source in sources]
        return (_of_one_item(without(spoken, foreign) if foreign else text, answers[0], finish_reason),)
    offered_by = dict(zip(asked, answers, strict=True))
    if _is_void(own, offered_by, set(asked if known is None else known), finish_reason):
        return (SheetAnswer(unread("truncated" if finish_reason == "length" else "ambiguous")),) * len(asked)
    by_source = [
        {
            number: _answer(entries, offered, spoken, finish_reason)
            for number, offered in offered_by.items()
            if (entries := [entry for entry in source.entries if entry.number == number])
        }
        for source in own
    ]
    last = max((number for each in by_source for number in each), default=None)
    contradicted = any(
        len({each[number].match.index for each in by_source if number in each} - {None}) > 1 for number in asked
    )
    return tuple(
        _together([each.get(number) for each in by_source], own, contradicted=contradicted)
        or SheetAnswer(unread(_why_missing(text, offered, finish_reason, number, last)))
        for number, offered in offered_by.items()
    )


def _of_one_item(text: str | None, offered: Sequence[str], finish_reason: str | None) -> SheetAnswer:
    """The answer of a reply that does not number its only item."""
    if text and (entry := sole_entry(text)) is not None and not entry.doubled:
        answer = _answer([entry], offered, text, finish_reason)
        if answer.match.index is not None:
            return answer
    return SheetAnswer(match_closest_option(text, offered, finish_reason=finish_reason))


def _is_void(
    own: Sequence[Source], offered: Mapping[int, Sequence[str]], known: AbstractSet[int], finish_reason: str | None
) -> bool:
    """Whether a sheet names a number that was not asked for, so that no number of it can be trusted.

    A numbered line of prose, which is no answer to anything, names none.
    """
    for source in own:
        named = {
            entry.number
            for entry in source.entries
            if not source.lines
            or entry.number in offered
            or any(_answer([entry], each, "", finish_reason).match.index is not None for each in offered.values())
        }
        if not named <= offered.keys() and not (named >= offered.keys() and named <= known):
            return True
    return False


def _together(
    answers: Sequence[SheetAnswer | None], own: Sequence[Source], *, contradicted: bool
) -> SheetAnswer | None:
    """What the judge's own sheets come to on one item; None where none names it."""
    given = [answer for answer in answers if answer is not None]
    if len(own) < 2 or not given:
        return given[0] if given else None
    if own[-1].final and answers[-1] is not None:
        return answers[-1]
    stated = [answer for answer in given if answer.match.index is not None]
    doubtful = any(answer.match.reason == "ambiguous" for answer in given)
    doubtful = doubtful or len({each.match.index for each in stated}) > 1
    if doubtful or (stated and contradicted and len(stated) < len(own)):
        return SheetAnswer(unread("ambiguous"))
    return (stated or given)[-1]


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
) -> UnscoredReason:
    """Why an item that no entry names has no answer; where there is no entry at all, the reason of the whole reply."""
    if finish_reason in FINAL_FINISHES:
        return REASON_BY_FINISH[finish_reason]
    if finish_reason == "length" and (last is None or number > last):
        return "truncated"
    whole = match_closest_option(text, offered).reason if last is None else None
    return whole if whole in _OF_THE_WHOLE else "no_match"


def _answer(entries: Sequence[Entry], offered: Sequence[str], spoken: str, finish_reason: str | None) -> SheetAnswer:
    entry = entries[0]
    whole = [(match_closest_option(spoken[slice(*cell)], offered), cell) for cell in entry.cells]
    whole = [(match, cell) for match, cell in whole if match.kind in _WHOLE]
    if len(entries) == len(whole) == 1:
        return SheetAnswer(whole[0][0], span=whole[0][1])
    if len(entries) > 1 or entry.doubled:
        return SheetAnswer(unread("ambiguous"), _reasoning(entry.reasoning), entry.span)
    if entry.text is None or entry.span is None:
        return SheetAnswer(unread("no_match"), _reasoning(entry.reasoning))
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
    leads = [(lead, _head(block, lead.start("rest"), offered, finish_reason)) for lead in _LEAD.finditer(block)]
    leads = [  # "Answer:" leads to an answer whether it can be read or not, "Assessment:" only to one that can
        (lead, read) for lead, read in leads if not lead["weak"] or (read and read[0].index is not None)
    ] or [
        (line, _head(block, line.start("rest"), offered, finish_reason))
        for line in _LINE_BELOW.finditer(block)
        if match_closest_option(line["rest"], offered).kind in _WHOLE
    ]
    found = [read for _, read in leads if read is not None]
    first = _head(block, 0, offered, finish_reason)
    if first is not None and first[0].index is not None:
        found.insert(0, first)
    if not found and not leads:
        asked = _AFTER_QUESTION.match(block)
        after = _head(block, asked.start("rest"), offered, finish_reason) if asked else None
        found = [read for read in (after, first) if read is not None and (read is after or len(block.split()) <= 4)]
    if not found:
        return SheetAnswer(unread("truncated" if finish_reason == "length" else "no_match"), _reasoning(block))
    match, (head_start, head_end) = found[-1]
    if len({read.index for read, _ in found}) > 1:
        match = unread("ambiguous")
    reasoning = block[: leads[-1][0].start()] if leads and found[-1] is not first else block[head_end:]
    return SheetAnswer(match, _reasoning(_REST.sub("", reasoning)), (start + head_start, start + head_end))


def _head(block: str, position: int, offered: Sequence[str], finish_reason: str | None) -> tuple[Match, Span] | None:
    """What the first words from a position answer, if they are an answer and nothing takes it back.

    None where they are the beginning of a sentence.
    """
    head = _HEAD.match(block, position)
    if head is None:
        return None
    longest = _longest_option(block, head.start("answer"), offered)
    start, end = longest[1] if longest else head.span("answer")
    ended = finish_reason if not block[end:].strip("*_`\"'“”)],.;:! ") else None
    if longest is None:
        match = match_closest_option(block[start:end], offered, finish_reason=ended)
    elif ended == "length" and _begins_another(offered[longest[0]], offered):
        match = unread("truncated")
    else:
        match = Match(index=longest[0], kind="normalized")
    if match.index is not None and match.kind not in {*_WHOLE, "near"}:
        return None
    rest = block[end:].lstrip("*_`\"'“”)],.;:!–—- ")
    if match.index is not None and (
        _takes_back(rest, match.index, offered)
        or (_EXTENDS.match(rest) and _begins_another(offered[match.index], offered))
    ):
        match = unread("ambiguous")
    return match, (start, end)


def _longest_option(block: str, position: int, offered: Sequence[str]) -> tuple[int, Span] | None:
    """The longest option that a block begins with, and where, if any option begins with another; else None.

    Words count and what parts them does not, so that "yes - but incompletely" is the option "Yes, but incompletely".
    """
    if not any(_begins_another(label, offered) for label in offered):
        return None
    matches = [(index, _label_pattern(label).match(block, position)) for index, label in enumerate(offered)]
    return max(((index, match.span()) for index, match in matches if match), key=lambda each: each[1][1], default=None)


@lru_cache(maxsize=2048)
def _label_pattern(label: str) -> re.Pattern[str]:
    parts = _LABEL_PART.findall(label) or [label.strip()]
    joined = "".join(
        (r"[\W_]{1,6}" if place and part[0].isalnum() else "") + re.escape(part) for place, part in enumerate(parts)
    )
    return phrase(joined + r"[)\]]?(?![\w+#%])")


def _begins_another(label: str, offered: Sequence[str]) -> bool:
    """Whether another option begins with the words of this one."""
    return any(other != label and _label_pattern(label).match(other) is not None for other in offered)


def _takes_back(rest: str, index: int, offered: Sequence[str]) -> bool:
    """Whether what follows an answer names another one: "yes, but also no"."""
    line = rest.partition("\n")[0]
    contrast = _CONTRAST.match(line)
    read = match_closest_option(line[contrast.end() :] if contrast else line, offered)
    if contrast is not None:
        return read.reason == "ambiguous" or read.index not in {None, index}
    return read.index not in {None, index} and read.kind in _WHOLE


def _reasoning(text: str | None) -> str | None:
    stripped = without_lone_surrogates(text).strip() if text else ""
    return stripped or None
