"""The reading of one reply, rule by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from evenhand.parsing import grammar
from evenhand.parsing.cleaning import (
    plain_characters,
    without_fences,
    without_markup,
    without_quotations,
    without_thinking,
)
from evenhand.parsing.grammar import MENTIONED, phrase
from evenhand.parsing.json_values import Field, JsonReading, is_grade_name, read_json
from evenhand.parsing.labels import SoughtLabels, comparison_key, compile_labels, near_label
from evenhand.parsing.mentions import only_mention, with_opposites
from evenhand.parsing.statements import Outcome, Statement, canonical_tags, sentences, statements
from evenhand.votes import REASON_BY_FINISH, Match, UnscoredReason

_REFUSAL = phrase(
    r"(?:^|[.!\n]\s*|^[^.,!\n]{1,30}[,;:–—-]+\s*|\b(?:but|so|and|therefore),? )(?:i'm |i am )?(?:(?:very |so |"
    r"really )?sorry\b|apologi[sz]e\b|my apologies|(?:i|we)(?:'m| am| are| must| will| would| have to|"
    r"'d)?(?: \w+){0,2}? ?(?:(?:can|could|will|shall|do|am|would|may)? ?not (?:be able to |able to |going to |"
    r"feel comfortable |comfortable |be )?(?:\w+ly )?(?:evaluat|assess|judg|rat|choos|select|decid|determin|provid|"
    r"answer|assist|help|comply|compar|engag|fulfil|give|offer|discuss|respond|support|complet|continu|"
    r"do (?:that|this)|make|encourag|promot|say|score|grad|pick|review|create|generat)|unable to|declin|refus)|"
    r"as an ai\b|(?:i )?failed to obtain)"
)
_VERDICT_FIRST = phrase(  # the two fields that a prompt asks for, written as lines: what follows is not the verdict
    r"\A(\W*selected[ _]option\W*[:=][^\n]+)\n\s*\W*assessment\W*[:=](?:(?!selected[ _]option).)*\Z", re.DOTALL
)
_WHOLE_LIMIT = 400  # a longer reply is compared by its sentences only
_WHOLE_OBJECT_LIMIT = 60  # and a longer object by its fields


def match_closest_option(reply: str | None, labels: Sequence[str], *, finish_reason: str | None = None) -> Match:
    """The option that the reply names, or the reason why it names none. Never a default, never a guess.

    Args:
        reply: The judge's text.
        labels: The offered labels; the index of the result refers to this order.
        finish_reason: What the engine reported; ``"length"``, ``"content_filter"`` and ``"too_long"`` explain a missing
            verdict.

    Returns:
        A match of kind ``exact``, ``normalized``, ``verdict``, ``mention`` or ``near``, or ``none`` with a reason.

    Raises:
        InvalidInputError: No label, a blank label, or two labels that are equal but for case and space.

    >>> match_closest_option("It is not Excellent. Overall it is Good.", ["Excellent", "Good", "Bad"]).index
    1
    >>> match_closest_option("I would say between 3 and 4.", ["1", "2", "3", "4", "5"]).reason
    'ambiguous'
    """
    compiled = compile_labels(tuple(labels))
    match = _read(reply, compiled, cut_off=finish_reason == "length")
    reason = REASON_BY_FINISH.get(finish_reason) if match.index is None else None
    return match if reason is None else unread(reason)


@lru_cache(maxsize=4096)
def where_read(reply: str, labels: tuple[str, ...]) -> tuple[int, int] | None:
    """Where in a reply the words stand that make it read as it is: those without which it says something else.

    Args:
        reply: The judge's text.
        labels: The offered labels.

    Returns:
        The place of the first character and of the one after the last; None where the reply names no option, or no one
        place decides, as where the verdict is stated twice.

    >>> reply = "It is not Excellent. Overall it is Good."
    >>> start, end = where_read(reply, ("Excellent", "Good", "Bad"))
    >>> reply[start:end]
    'Good'
    """
    match = match_closest_option(reply, labels)
    if match.index is None:
        return None
    stripped = reply.strip()
    if match.kind in {"exact", "normalized"} and _whole(stripped, compile_labels(labels), cut_off=False) is not None:
        start = reply.index(stripped)
        return start, start + len(stripped)
    said = re.escape(labels[match.index].strip()).replace(r"\ ", r"[\s_-]+")
    bare = [word for word in compile_labels(labels).by_bare.items() if word[1] == match.index]
    spelled = "|".join([said, *(re.escape(word) for word, _ in bare)])
    for found in reversed(list(re.finditer(rf"(?<!\w)(?:{spelled})(?!\w)", reply, re.IGNORECASE))):
        without = reply[: found.start()] + " " * (found.end() - found.start()) + reply[found.end() :]
        if match_closest_option(without, labels).index != match.index:
            return found.span()
    return None


def _read(reply: str | None, labels: SoughtLabels, *, cut_off: bool) -> Match:
    if reply is None or not reply.strip():
        return unread("empty")
    whole = _whole(reply, labels, cut_off=cut_off)
    if whole is not None:
        return whole
    text = without_thinking(plain_characters(reply))
    if text is None:
        return unread("no_match")
    if not text.strip():
        return unread("empty")
    if text.strip() != reply.strip() and (whole := _whole(text, labels, cut_off=cut_off)) is not None:
        return whole if whole.kind != "exact" else Match(index=whole.index, kind="normalized")
    text = without_fences(text)
    json = read_json(text)
    given = None if json is None else _from_json(json, labels)
    return given or _read_prose(text if json is None else json.rest, labels, cut_off=cut_off)


def _read_prose(text: str, labels: SoughtLabels, *, cut_off: bool) -> Match:
    cleaned = _VERDICT_FIRST.sub(r"\1", without_markup(without_quotations(text)))
    marked = _marked(cleaned, labels)
    pieces = sentences(marked)
    found = statements(marked, pieces, labels)
    decided = _decided(found, pieces)
    refused = _REFUSAL.search(cleaned[:600]) is not None
    if refused and found and all(statement.opens for statement in found):
        return unread("refusal")
    if isinstance(decided, int):
        goes_on = cut_off and MENTIONED.match(marked[-1:]) and labels.begins_another(decided)
        return unread("truncated") if goes_on else Match(index=decided, kind="verdict")
    if decided == "unknown":
        slots = [statement.slot for statement in found if statement.firm]
        if slots and slots[-1] and (misspelled := near_label(slots[-1], labels)) is not None:
            return Match(index=misspelled, kind="near")
    if decided is not None:
        return unread("refusal" if refused else "ambiguous" if decided == "ambiguous" else "no_match")
    if refused or cut_off:
        return unread("refusal" if refused else "truncated")
    return _without_statement(cleaned, pieces, labels)


def _marked(text: str, labels: SoughtLabels) -> str:
    """The text with labels as marks, tags of every kind as ``[[…]]``, and "not X" as what it comes to."""
    return with_opposites(canonical_tags(labels.mark(text)), labels)


def _without_statement(cleaned: str, pieces: Sequence[str], labels: SoughtLabels) -> Match:
    named = only_mention(pieces, labels)
    if isinstance(named, int):
        return Match(index=named, kind="mention")
    if named is not None:
        return unread("ambiguous")
    misspelled = None if any(map(MENTIONED.search, pieces)) else near_label(cleaned, labels)
    return unread("no_match") if misspelled is None else Match(index=misspelled, kind="near")


def _whole(text: str, labels: SoughtLabels, *, cut_off: bool) -> Match | None:
    """The match if the whole text is one label."""
    stripped = text.strip()
    limit = _WHOLE_OBJECT_LIMIT if stripped.startswith('{"') else _WHOLE_LIMIT
    if len(stripped) > limit and len(stripped) > 2 * max(map(len, labels.given)):
        return None
    exact = labels.given.index(stripped) if stripped in labels.given else None
    index = exact
    if index is None:
        index = labels.by_key.get(comparison_key(stripped))
    if index is None:
        index = labels.bare_index(stripped)
    if index is None and labels.by_number:
        index = labels.whole_number(without_markup(plain_characters(stripped)))
    if index is None:
        return None
    if cut_off and labels.begins_another(index):
        return unread("truncated")
    return Match(index=index, kind="exact" if exact is not None else "normalized")


def _from_json(json: JsonReading, labels: SoughtLabels) -> Match | None:
    """The match that the verdict-like fields give; None if the reply's own objects have no such field.

    Of several objects the last counts where the words before it correct the others.
    """
    objects = [fields for fields in json.objects if fields]
    if not objects:
        return None if json.complete else unread("no_match")
    if len(objects) > 1 and len(json.objects) == len(objects) and grammar.CORRECTION.search(json.between[-2]):
        objects = objects[-1:]
    given = _from_fields([field for fields in objects for field in fields], labels)
    return _unless_corrected(given, json.between[-1], labels)


def _from_fields(fields: Sequence[Field], labels: SoughtLabels) -> Match:
    readings = [_of_field(field, labels) for field in fields]
    indexes = {index for index in readings if index is not None}
    if not indexes:
        outcomes = [_stated(field.value, labels) for field in fields]
        indexes = {outcome for outcome in outcomes if isinstance(outcome, int)}
    if len(indexes) == 1:
        return Match(index=indexes.pop(), kind="verdict")
    if indexes:
        return unread("ambiguous")
    misspelled = {near for field in fields if (near := near_label(field.value, labels)) is not None}
    return Match(index=misspelled.pop(), kind="near") if len(misspelled) == 1 else unread("no_match")


def _of_field(field: Field, labels: SoughtLabels) -> int | None:
    """The label that the whole value is; a bare number is no candidate's where the field is a score."""
    whole = _whole(field.value, labels, cut_off=False)
    if whole is None or (is_grade_name(field.name) and labels.bare_index(field.value) is not None):
        return None
    return whole.index


def _stated(value: str, labels: SoughtLabels) -> Outcome | None:
    """What the words of a field state or, if they state nothing, name."""
    marked = _marked(without_markup(plain_characters(value)), labels)
    pieces = sentences(marked)
    outcome = _decided(statements(marked, pieces, labels), pieces)
    return only_mention(pieces, labels) if outcome is None else outcome


def _unless_corrected(given: Match, after: str, labels: SoughtLabels) -> Match:
    """The match of the field, unless the words after it state another verdict."""
    if given.index is None or not after.strip():
        return given
    marked = _marked(without_markup(without_quotations(after)), labels)
    explicit = [each.outcome for each in statements(marked, sentences(marked), labels) if each.explicit]
    later = explicit[-1] if explicit else None
    if not isinstance(later, int) or later == given.index:
        return given
    return Match(index=later, kind="verdict") if grammar.CORRECTION.search(marked) else unread("ambiguous")


def _decided(found: Sequence[Statement], pieces: Sequence[str]) -> Outcome | None:
    """The verdict of all statements: the last firm one; without a firm one, what all plain ones agree on.

    Two explicit verdicts that differ are ambiguous, unless a word of correction or conclusion stands between them.

    Args:
        found: The statements, in any order.
        pieces: The sentences that make them.
    """
    firm = [statement for statement in found if statement.firm]
    if not firm:
        return _agreed([statement for statement in found if not statement.weak] or found, pieces)
    explicit = [statement for statement in firm if statement.explicit]
    if explicit and all(later.nobody for later in firm if later.sentence > explicit[-1].sentence):
        firm = explicit
    place = max(statement.sentence for statement in firm)
    last = {statement.outcome for statement in firm if statement.sentence == place}
    last = (last - {"unknown"}) or last
    others = [
        earlier.sentence
        for earlier in explicit
        if earlier.sentence < place and isinstance(earlier.outcome, int) and earlier.outcome not in last
    ]
    contradicted = others and not any(map(grammar.CORRECTION.search, pieces[max(others) + 1 : place + 1]))
    if contradicted and last != {"unknown"}:
        return "ambiguous"
    return last.pop() if len(last) == 1 else "ambiguous"


def _agreed(passing: Sequence[Statement], pieces: Sequence[str]) -> Outcome | None:
    """What all statements made in passing agree on, from the last sentence on that takes something back."""
    outcomes = {statement.outcome for statement in passing}
    if len(outcomes) > 1:
        retractions = [number for number, piece in enumerate(pieces) if grammar.RETRACTION.search(piece)]
        after = {each.outcome for each in passing if retractions and each.sentence >= retractions[-1]}
        outcomes = after or outcomes
    return outcomes.pop() if len(outcomes) == 1 else "ambiguous" if outcomes else None


def unread(reason: UnscoredReason) -> Match:
    """No option, because."""
    return Match(index=None, kind="none", reason=reason)
