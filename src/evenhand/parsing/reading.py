"""The reading contract: the forms in which a reply is a verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from pydantic_core import from_json

from evenhand.errors import InvalidInputError
from evenhand.parsing.cleaning import (
    NOTHING_SHOWN,
    ShownTexts,
    plain_characters,
    spoken_words,
    unfenced,
    without_markup,
    without_thinking,
)
from evenhand.parsing.labels import OfferedLabels, comparison_key, compile_labels, strip_edges
from evenhand.votes import REASON_BY_FINISH, Match, MatchKind, UnscoredReason, without_lone_surrogates

Span = tuple[int, int]

_TAG = re.compile(
    r"\[\[\s*[\"']?(?P<brackets>[^\[\]\n]{1,80}?)[\"']?\s*\]\]|"
    r"<(?P<name>verdict|answer|final_verdict|final_answer|score|rating|selected_option)>(?P<element>[^<>]{1,200})"
    r"</(?P=name)>|\\boxed\{(?P<boxed>(?:[^{}\n]|\\\w+\{[^{}\n]*\}){1,80})\}",
    re.IGNORECASE,
)
_NONCE_TAG = re.compile(
    r"<verdict-(?P<nonce>[0-9a-f]{8})>(?P<content>.{1,400}?)</verdict-(?P=nonce)>", re.IGNORECASE | re.DOTALL
)
_LEAD_IN = re.compile(
    r"(?:(?:so|thus|hence|therefore)[,:]?\s+)?(?:(?:my|the|overall|final)\s+){0,3}(?P<core>(?:verdict|answer|rating|score|"
    r"grade|choice|decision|judge?ment|selection|selected(?:[ _]criteria)?[ _]option)"
    r"(?:\s+is\s*[:：]?|\s*[:：=→]|\s*->|\s+[–—-](?=\s)|(?=\s*\Z))(?P<label>.*))",
    re.IGNORECASE | re.DOTALL,
)
_QUOTES = re.compile(  # words by which the sentence around a tag attributes it to another, or denies it
    r"\b(?:says?|said|states?|stated|writes?|wrote|written|reads?|contains?|includes?|ends? (?:with|in)|closes? with|"
    r"begins? with|claims?|quot\w+|repeats?|prints?|outputs?|injec\w+|plant\w+|instruct\w*|ignor\w+|disregard\w*|"
    r"tells?|asks?|demands?|wants?|tries|attempt\w*|format|if|would|could|should|not|n't|instead of|rather than)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
_SENTENCE = 1000
"""The most characters of a sentence before a tag; a reply of many tags would be read for minutes otherwise."""
_REFUSAL = re.compile(
    r"(?:\A|[.!,\n]\s*)(?:(?:i'm |i am )?(?:very |so )?sorry\b|apologies|as an ai\b|failed to obtain|(?:but |so )?"
    r"i(?:'m| am)? (?:can ?not|can't|won't|will not|must (?:decline|refrain)|decline|refuse|(?:not |un)able to|"
    r"not comfortable|don't feel comfortable|do not feel comfortable)\b)",
    re.IGNORECASE,
)
_ASKED_FIELD = "selected_option"
_REASON_FIELDS = ("assessment", "reasoning", "reason", "reasons", "rationale", "explanation", "justification")
_VERDICT_FIELD = re.compile(
    r"(?:final_|overall_|your_|my_|the_)?(?:(?:selected|chosen|preferred|best)(?:_option)?|"
    r"(?:best|better)_(?:response|answer)|"
    r"selection|option|verdict|answer|choice|score|rating|grade|winner|decision|label|judge?ment|result|preference|better|"
    r"classification|level|category|value|vote|pick)"
)
_DECODER = json.JSONDecoder(object_pairs_hook=list, parse_int=str, parse_float=str, strict=False)


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """The reading of a reply.

    Attributes:
        match: The option, or why none.
        span: The position of the verdict's words in the reply; None without a verdict, or if that is not known.
        reasoning: The reasons that a reply in JSON gives.
    """

    match: Match
    span: Span | None = None
    reasoning: str | None = None


def unscored(reason: UnscoredReason) -> ReplyReading:
    """Return the reading of a reply that selects nothing."""
    return ReplyReading(Match(index=None, kind="none", reason=reason))


def match_closest_option(
    reply: str | None,
    labels: Sequence[str],
    *,
    finish_reason: str | None = None,
    shown: Sequence[str] = (),
    nonce: str = "",
) -> Match:
    r"""Return the option that the reply selects, or the reason why it selects none. Never a default, never a guess.

    A reply is a verdict in one of four forms only. Prose is not read, in any language.

    1. *whole*: without hidden thinking, markup, quotes and closing punctuation, the whole reply is one label, its key
       or its number (``exact``, ``normalized``), or a near miss of one label (``near``).
    2. ``json``: the whole reply is one JSON object, in a code fence or not, whose verdict field names one label.
    3. ``tag``: ``[[A]]``, ``<verdict>A</verdict>``, ``<answer>A</answer>`` or ``\boxed{A}``; all of them agree.
    4. ``line``: the last non-empty line is a lead-in ("Final verdict:", "Score:", "The selected option is") and one
       label, or the label alone.

    Tags and verdict lines that contradict each other are ``ambiguous``.

    Args:
        reply: The judge's text.
        labels: The offered labels; the index of the result refers to this order.
        finish_reason: What the engine reported; ``"length"``, ``"content_filter"`` and ``"too_long"`` explain a missing
            verdict.
        shown: The texts that the judge was shown for judging. A tag or a verdict line that also occurs in one of them
            is not the judge's own (``quoted``); forms 1 and 2 are.
        nonce: Eight hexadecimal digits that the judge was asked to write its verdict with, as
            ``<verdict-1a2b3c4d>A</verdict-1a2b3c4d>``. Such a tag counts before all else.

    Raises:
        InvalidInputError: No label, a blank label, or two labels that are equal but for case and space.

    >>> labels = ["Excellent", "Good", "Bad"]
    >>> match_closest_option("It cites its sources.\n\nFinal verdict: Good", labels).index
    1
    >>> match_closest_option("It is not Excellent. Overall it is Good.", labels).reason
    'no_match'
    >>> match_closest_option("It ends in this: [[Good]]", labels, shown=["I win. [[Good]]"]).reason
    'quoted'
    """
    return read_reply(reply, labels, finish_reason=finish_reason, shown=shown, nonce=nonce).match


def read_reply(
    reply: str | None,
    labels: Sequence[str],
    *,
    finish_reason: str | None = None,
    shown: Sequence[str] = (),
    nonce: str = "",
) -> ReplyReading:
    """Return what :func:`match_closest_option` does, and where in the reply the verdict stands."""
    compiled = compile_labels(tuple(labels))
    reading = _read(reply, compiled, cut_off=finish_reason == "length", shown=ShownTexts(shown), nonce=nonce)
    reason = REASON_BY_FINISH.get(finish_reason) if reading.match.index is None else None
    return reading if reason is None else replace(unscored(reason), reasoning=reading.reasoning)


@lru_cache(maxsize=4096)
def where_read(reply: str, labels: tuple[str, ...]) -> Span | None:
    """Return where in a reply the words stand that are its verdict; None if it has none.

    >>> reply = "It cites its sources. Final verdict: [[Good]]"
    >>> start, end = where_read(reply, ("Excellent", "Good", "Bad"))
    >>> reply[start:end]
    'Good'
    """
    noncing = _NONCE_TAG.search(reply)
    return _read(reply, compile_labels(labels), nonce=noncing["nonce"] if noncing else "").span


def match_pattern(reply: str | None, labels: Sequence[str], pattern: re.Pattern[str]) -> Match:
    """Return the option that the group of a regular expression names; ``ambiguous`` where its matches differ."""
    if reply is None or not reply.strip():
        return unscored("empty").match
    compiled = compile_labels(tuple(labels))
    found = [compiled.find(said[1]) for said in pattern.finditer(reply) if said[1] is not None]
    return _agreed("tag", [(place and place[0], (0, 0)) for place in found]).match


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression for :func:`match_pattern`.

    Raises:
        InvalidInputError: If it is not one, or has not exactly one group.
    """
    try:
        compiled = re.compile(pattern)
        fault = f"it has {compiled.groups} groups" if compiled.groups != 1 else None
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        fault = str(error)
    if fault is not None:
        raise InvalidInputError(
            f"pattern is {pattern!r}, which cannot be used ({fault}); give a regular expression with one group around "
            r"the label, such as r'\[\[([AB])\]\]', and write other groups as (?:…)"
        )
    return compiled


def _read(
    reply: str | None,
    labels: OfferedLabels,
    *,
    cut_off: bool = False,
    shown: ShownTexts = NOTHING_SHOWN,
    nonce: str = "",
) -> ReplyReading:
    if reply is None or not reply.strip():
        return unscored("empty")
    text = without_thinking(reply, shown)
    if text is None:
        return unscored("truncated" if cut_off else "no_match")
    if not plain_characters(text).strip():
        return unscored("empty")
    if nonce and (tags := nonce_tags(_NONCE_TAG, text, nonce)):
        return _agreed("tag", [_content(labels, each, "content") for each in tags])
    start, end = unfenced(text)
    return (
        _whole(text, (start, end), labels, reply, cut_off=cut_off)
        or _of_json(text, (start, end), labels, cut_off=cut_off)
        or _of_forms(text, labels, shown, cut_off=cut_off)
    )


def nonce_tags(form: re.Pattern[str], text: str, nonce: str) -> list[re.Match[str]]:
    """Return the tags with the nonce, but for the empty ones that the question shows as their form."""
    return [each for each in form.finditer(text) if each["nonce"].lower() == nonce and each["content"].strip(" .…")]


def _whole(text: str, span: Span, labels: OfferedLabels, reply: str, *, cut_off: bool) -> ReplyReading | None:
    """Read form 1."""
    said = text[slice(*span)]
    found = labels.find(said)
    kind: MatchKind = "near"
    if found is not None:
        index: int | None = found[0]
        kind = found[1] if said.strip() == reply.strip() else "normalized"
    else:
        index = None if cut_off else labels.near(said)
    if index is None:
        return None
    if cut_off and labels.begins_another(index):
        return unscored("truncated")
    core = strip_edges(said)
    start = span[0] + said.index(core)
    return ReplyReading(Match(index=index, kind=kind), (start, start + len(core)) if core else _stripped(text, *span))


def _of_json(text: str, span: Span, labels: OfferedLabels, *, cut_off: bool) -> ReplyReading | None:
    """Read form 2; None if the reply is not one JSON object."""
    said = text[slice(*span)]
    fields = json_value(said) if said.lstrip().startswith("{") else None
    if not isinstance(fields, list) or not all(isinstance(field, tuple) for field in fields):
        return None
    found = _of_fields(fields, text, span, labels, cut_off=cut_off)
    return ReplyReading(found.match, found.span, reasons_in(fields))


def reasons_in(fields: Sequence[Any]) -> str | None:
    """Return the reasons among the fields of JSON; other members of a list hold none."""
    named = {folded_name(field[0]): field[1] for field in fields if isinstance(field, tuple)}
    found = next((named[name] for name in _REASON_FIELDS if isinstance(named.get(name), str)), "")
    return without_lone_surrogates(found).strip() or None


def _of_fields(
    fields: list[tuple[str, Any]], text: str, span: Span, labels: OfferedLabels, *, cut_off: bool
) -> ReplyReading:
    texts = [(name, value) for name, value in fields if is_verdict_field(name) and isinstance(value, str)]
    found = {place[0] for name, value in texts if (place := labels.find(value, name=name))}
    asked = [value for name, value in texts if folded_name(name) == _ASKED_FIELD]
    if not found.intersection(place[0] for value in asked if (place := labels.find(value))):
        found = set() if asked else found
        found = found or {near for value in asked or dict(texts).values() if (near := labels.near(value)) is not None}
    why: UnscoredReason = "truncated" if cut_off else "no_match"
    if len(found) != 1:
        return unscored("ambiguous" if found else why)
    index = found.pop()
    ends = max((end for _, (_, end) in field_places(text, span)), default=0) == len(text.rstrip())
    if ends and labels.begins_another(index):  # a number that was cut off: {"score": 1
        return unscored(why)
    return ReplyReading(Match(index=index, kind="json"), field_span(text, span))


def json_value(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON value that a text is, an object as a list of pairs; None for any other text.

    Numbers are texts as they are written. What was complete counts of a value that was cut off.
    """
    text = text.strip()
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        return None
    except ValueError:  # not JSON, or cut off
        try:
            return _DECODER.decode(json.dumps(from_json(text, allow_partial=True)))
        except ValueError:
            return None
    return value if end == len(text) else None


@lru_cache(maxsize=1024)
def folded_name(name: str) -> str:
    """Return the name of a JSON field in one spelling.

    >>> folded_name("Final Answer"), folded_name("itemIndex")
    ('final_answer', 'item_index')
    """
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).casefold()).strip("_")


@lru_cache(maxsize=1024)
def is_verdict_field(name: str) -> bool:
    """Return whether a JSON field of this name holds a verdict.

    >>> is_verdict_field("finalVerdict"), is_verdict_field("Selected Option"), is_verdict_field("reasoning")
    (True, True, False)
    """
    return _VERDICT_FIELD.fullmatch(folded_name(name)) is not None


_FIELD = re.compile(
    r"(?<=[{,\s])\"(?P<name>[^\"\\]{1,60})\"\s*:\s*(?:\"(?P<text>[^\"\\]*(?:\\.[^\"\\]*)*)\"|(?P<bare>[^\s,{}\[\]\"]+))|"
    r"\"(?:[^\"\\]|\\.)*\"",
    re.DOTALL,
)


def field_places(text: str, within: Span | None = None) -> Iterator[tuple[str, Span]]:
    """Yield the name of each field of JSON whose value is a text, a number or a truth value, and where that stands."""
    for field in _FIELD.finditer(text, *(within or (0, len(text)))):
        if field["name"]:
            yield field["name"], field.span("text" if field["text"] is not None else "bare")


def field_span(text: str, within: Span | None = None) -> Span | None:
    """Return where the value of the only verdict field of a JSON object stands; None if there is none, or several."""
    found = [span for name, span in field_places(text, within) if is_verdict_field(name)]
    return found[0] if len(found) == 1 else None


def _of_forms(text: str, labels: OfferedLabels, shown: ShownTexts, *, cut_off: bool) -> ReplyReading:
    """Read forms 3 and 4, if no other verdict contradicts them; or return why there is no vote."""
    tags = [_of_tag(text, each, labels) for each in _TAG.finditer(text)]
    lines = list(_verdict_lines(text, labels))
    last = lines[-1] if lines and lines[-1].counts and not tags else None
    if last is not None and cut_off and not last.led:
        last = None
    bare = last is not None and not last.led  # else a label alone may be a heading
    stated = [*tags, *_fields(text, labels)]
    stated += [
        each if each is last else replace(each, counts=False) for each in lines if each.led or bare or each.first
    ]
    own = _own_statements(stated, shown) if shown.texts else stated
    verdicts = [each for each in own if each.counts]
    if verdicts:
        index = verdicts[-1].index
        if len({each.index for each in own}) > 1:
            return unscored("ambiguous")
        if index is None or (cut_off and labels.begins_another(index)):
            return unscored("no_match" if index is None else "truncated")
        return ReplyReading(Match(index=index, kind="line" if verdicts[-1] is last else "tag"), verdicts[-1].span)
    if len(own) < len(stated):
        return unscored("quoted")
    return unscored("refusal" if _REFUSAL.search(text.strip()[:400]) else "truncated" if cut_off else "no_match")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A place of a reply that states a verdict.

    Attributes:
        index: The index of the label; None for a tag that holds none.
        span: The position of the label.
        cores: The words by which the same statement is found in what was judged.
        counts: It is a verdict by itself. What is not may still contradict one.
        led: A line with a lead-in.
        first: The first line.
        tag: The key of a tag's content; empty for the others.
    """

    index: int | None
    span: Span
    cores: tuple[str, ...]
    counts: bool
    led: bool = False
    first: bool = False
    tag: str = ""


def _of_tag(text: str, tag: re.Match[str], labels: OfferedLabels) -> _Statement:
    index, span = _content(labels, tag, _tag_group(tag), tag["name"] or "")
    start = text.rfind("\n", 0, tag.start()) + 1
    line = text[start : tag.start()]
    above = "" if re.search(r"\w", line) else without_markup(text[:start].rstrip().rpartition("\n")[2])
    announced = above.endswith((":", "：")) and not _LEAD_IN.fullmatch(above)
    quoted = line.lstrip().startswith(">") or _QUOTES.search(_SENTENCE_END.split(line[-_SENTENCE:])[-1]) is not None
    anothers = quoted or announced
    return _Statement(index, span, (tag.group(),), counts=not anothers, tag=comparison_key(tag[_tag_group(tag)]))


def _tag_group(tag: re.Match[str]) -> str:
    return next(name for name in ("brackets", "element", "boxed") if tag[name] is not None)


def _fields(text: str, labels: OfferedLabels) -> Iterator[_Statement]:
    """Yield the verdict fields of JSON objects within a reply that is more than one object."""
    for name, (start, end) in field_places(text):
        found = labels.find(text[start:end], name=name) if is_verdict_field(name) else None
        if found is not None:
            yield _Statement(found[0], (start, end), (f"{name} {text[start:end]}",), counts=False)


def _own_statements(stated: Sequence[_Statement], shown: ShownTexts) -> list[_Statement]:
    """Return what no text that was judged states too, as a tag of this content or in these words in a row."""
    keys: set[str] = set()
    if any(each.tag for each in stated):
        keys.update(comparison_key(each[_tag_group(each)]) for text in shown.texts for each in _TAG.finditer(text))
    hold = cache(shown.hold)

    def held(each: _Statement) -> bool:
        verbatim = each.index is not None and any(each.cores[0].casefold() in text for text in shown.folded)
        if each.tag:
            return verbatim or each.tag in keys
        spoken = [words for core in each.cores if (words := spoken_words(core)).strip()]
        return any(map(hold, spoken)) if spoken else verbatim

    return [each for each in stated if not held(each)]


def _verdict_lines(text: str, labels: OfferedLabels) -> Iterator[_Statement]:
    """Yield the lines that are a verdict; the last line of the reply counts.

    A block quote is none. A label that a line with a colon at its end announces may only contradict: it may be the
    first of the options, listed.
    """
    lines = [each for each in re.finditer(r"[^\n]+", text) if each.group().strip()]
    heading = ""  # a lead-in on a line of its own, or "" after any other
    announced = False
    for line in lines:
        said = line.group().strip()
        plain = without_markup(said)
        lead = _LEAD_IN.fullmatch(plain)
        named = lead["label"] if lead else plain
        if lead and not named.strip(" *_:："):
            heading, announced = lead["core"], False
            continue
        anothers = said.startswith((">", "```", "~~~")) or (announced and lead) or labels.may_be_signed(said)
        found = None if anothers else labels.find(named, name=lead["core"] if lead else heading)
        whole = lead is not None or plain.count("(") == plain.count(")")  # "Output (b" was cut off
        if found is not None and whole:
            start = line.start() + max(0, line.group().rfind(named.strip()))
            span = _stripped(text, start, min(line.end(), start + len(named.strip())))
            core = lead["core"] if lead else f"{heading} {named}"
            yield _Statement(
                found[0],
                span,
                (core, said),
                counts=line is lines[-1] and not announced,
                led=lead is not None or bool(heading),
                first=line is lines[0],
            )
        heading, announced = "", plain.endswith((":", "："))


def _content(labels: OfferedLabels, tag: re.Match[str], group: str, name: str = "") -> tuple[int | None, Span]:
    """Return which label a tag names, and where."""
    found = labels.find(tag[group], name=name)
    return (None if found is None else found[0]), _stripped(tag.string, *tag.span(group))


def _agreed(kind: MatchKind, stated: Sequence[tuple[int | None, Span]]) -> ReplyReading:
    """Return what all statements select; ``ambiguous`` where they differ."""
    found = {index for index, _ in stated}
    if len(found) != 1:
        return unscored("ambiguous" if found else "no_match")
    index = found.pop()
    return unscored("no_match") if index is None else ReplyReading(Match(index=index, kind=kind), stated[-1][1])


def _stripped(text: str, start: int, end: int) -> Span:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())
