"""The reading of one reply, rule by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from evenhand.parsing import grammar
from evenhand.parsing.cleaning import (
    plain_characters,
    without_fences,
    without_markup,
    without_quotations,
    without_thinking,
)
from evenhand.parsing.fields import Field, JsonReading, is_grade_name, read_json
from evenhand.parsing.labels import MENTION, Labels, comparison_key, compile_labels
from evenhand.parsing.match import Match, Reason
from evenhand.parsing.mentions import only_mention, with_opposites
from evenhand.parsing.near import near_label
from evenhand.parsing.statements import Outcome, Statement, canonical_tags, corrections, sentences, statements

_REFUSAL = re.compile(
    r"(?:^|[.!\n]\s*|^[^.,!\n]{1,30}[,;:–—-]+\s*|\b(?:but|so|and|therefore),? )(?:i'm |i am )?(?:(?:very |so |"
    r"really )?sorry\b|"
    r"apologi[sz]e\b|my apologies|"
    r"(?:i|we)(?:'m| am| are| must| will| would| have to|'d)?(?: \w+){0,2}? ?(?:(?:can|could|will|shall|"
    r"do|am|would|may)? ?not "
    r"(?:be able to |able to |going to |feel comfortable |comfortable |be )?(?:\w+ly )?"
    r"(?:evaluat|assess|judg|rat|choos|select|decid|determin|provid|answer|assist|help|comply|compar|"
    r"engag|fulfil|give|offer|"
    r"discuss|respond|support|complet|continu|do (?:that|this)|make|encourag|promot|say|score|grad|pick|"
    r"review|create|generat)|"
    r"unable to|declin|refus)|as an ai\b|(?:i )?failed to obtain)",
    re.IGNORECASE,
)
_VERDICT_FIRST = re.compile(  # the two fields that a prompt asks for, written as lines: what follows is not the verdict
    r"\A(\W*selected[ _]option\W*[:=][^\n]+)\n\s*\W*assessment\W*[:=](?:(?!selected[ _]option).)*\Z",
    re.IGNORECASE | re.DOTALL,
)
_WHOLE_LIMIT = 400  # a longer reply is compared by its sentences only


def match_closest_option(reply: str | None, labels: Sequence[str], *, finish_reason: str | None = None) -> Match:
    """The option that the reply names, or the reason why it names none. Never a default, never a guess.

    Args:
        reply: The judge's text.
        labels: The offered labels; the index of the result refers to this order.
        finish_reason: What the engine reported; ``"length"`` and ``"content_filter"`` explain a missing verdict.

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
    if match.index is None and finish_reason == "length":
        return _none("truncated")
    if match.index is None and finish_reason == "content_filter":
        return _none("content_filter")
    return match


def _read(reply: str | None, labels: Labels, *, cut_off: bool) -> Match:
    if reply is None or not reply.strip():
        return _none("empty")
    whole = _whole(reply, labels, cut_off=cut_off)
    if whole is not None:
        return whole
    text = without_thinking(plain_characters(reply))
    if text is None:
        return _none("no_match")
    if not text.strip():
        return _none("empty")
    if text.strip() != reply.strip() and (whole := _whole(text, labels, cut_off=cut_off)) is not None:
        return whole if whole.kind != "exact" else Match(index=whole.index, kind="normalized")
    return _read_text(without_fences(text), labels, cut_off=cut_off)


def _read_text(text: str, labels: Labels, *, cut_off: bool) -> Match:
    json = read_json(text)
    if json is not None:
        from_json = _from_json(json, labels)
        if from_json is not None:
            return from_json
        text = json.rest
    cleaned = _VERDICT_FIRST.sub(r"\1", without_markup(without_quotations(text)))
    marked = with_opposites(canonical_tags(labels.mark(cleaned)), labels)
    decided = decide(found := statements(marked, labels), marked)
    refused = _REFUSAL.search(cleaned[:600]) is not None
    if refused and found and all(statement.opens for statement in found):
        return _none("refusal")
    if isinstance(decided, int):
        return (
            Match(index=decided, kind="verdict")
            if not (cut_off and _may_go_on(marked, decided, labels))
            else _none("truncated")
        )
    if decided == "unknown" and (misspelled := _near_slot(found, labels)) is not None:
        return Match(index=misspelled, kind="near")
    if decided is not None:
        return _none("refusal" if refused else "ambiguous" if decided == "ambiguous" else "no_match")
    return _without_statement(cleaned, marked, labels, refused=refused, cut_off=cut_off)


def _without_statement(cleaned: str, marked: str, labels: Labels, *, refused: bool, cut_off: bool) -> Match:
    if refused:
        return _none("refusal")
    if cut_off:
        return _none("truncated")
    named = only_mention(sentences(marked), labels)
    if isinstance(named, int):
        return Match(index=named, kind="mention")
    if named is not None:
        return _none("ambiguous")
    if (misspelled := None if re.search(MENTION, marked) else near_label(cleaned, labels)) is not None:
        return Match(index=misspelled, kind="near")
    return _none("no_match")


def _whole(text: str, labels: Labels, *, cut_off: bool) -> Match | None:
    """The match if the whole text is one label."""
    stripped = text.strip()
    if len(stripped) > _WHOLE_LIMIT and len(stripped) > 2 * max(map(len, labels.given)):
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
    if cut_off and any(
        other != index and label.casefold().startswith(labels.given[index].casefold())
        for other, label in enumerate(labels.given)
    ):
        return _none("truncated")
    return Match(index=index, kind="exact" if exact is not None else "normalized")


def _from_json(json: JsonReading, labels: Labels) -> Match | None:
    """The match that the verdict-like fields give; None if the reply's own objects have no such field.

    Of several objects the last counts where the words before it correct the others.
    """
    objects = [fields for fields in json.objects if fields]
    if not objects:
        return None if json.complete else _none("no_match")
    if len(objects) > 1 and len(json.objects) == len(objects) and grammar.CORRECTION.search(json.between[-2]):
        objects = objects[-1:]
    given = _from_fields([field for fields in objects for field in fields], labels)
    return _unless_corrected(given, json.between[-1], labels)


def _from_fields(fields: Sequence[Field], labels: Labels) -> Match:
    readings = [_of_field(field, labels) for field in fields]
    indexes = {index for index in readings if index is not None}
    if not indexes:
        for field in fields:
            inner = with_opposites(labels.mark(without_markup(plain_characters(field.value))), labels)
            outcome = decide(statements(inner, labels), inner)
            outcome = only_mention(sentences(inner), labels) if outcome is None else outcome
            if isinstance(outcome, int):
                indexes.add(outcome)
    if len(indexes) == 1:
        return Match(index=indexes.pop(), kind="verdict")
    if indexes:
        return _none("ambiguous")
    misspelled = {near for field in fields if (near := near_label(field.value, labels)) is not None}
    return Match(index=misspelled.pop(), kind="near") if len(misspelled) == 1 else _none("no_match")


def _of_field(field: Field, labels: Labels) -> int | None:
    """The label that the whole value is; a bare number is no candidate's where the field is a score."""
    whole = _whole(field.value, labels, cut_off=False)
    if whole is None or (is_grade_name(field.name) and labels.bare_index(field.value) is not None):
        return None
    return whole.index


def _unless_corrected(given: Match, after: str, labels: Labels) -> Match:
    """The match of the field, unless the words after it state another verdict."""
    if given.index is None or not after.strip():
        return given
    marked = canonical_tags(labels.mark(without_markup(without_quotations(after))))
    found = [statement for statement in statements(with_opposites(marked, labels), labels) if statement.explicit]
    later = found[-1].outcome if found else given.index
    if not isinstance(later, int) or later == given.index:
        return given
    return Match(index=later, kind="verdict") if grammar.CORRECTION.search(marked) else _none("ambiguous")


def decide(found: list[Statement], marked: str) -> Outcome | None:
    """The verdict of all statements: the last firm one; without a firm one, what all plain ones agree on.

    Two explicit verdicts that differ are ambiguous, unless a word of correction or conclusion stands between them.

    Args:
        found: The statements, in any order.
        marked: The text that makes them.
    """
    firm = [statement for statement in found if statement.firm]
    if firm:
        explicit = [statement for statement in firm if statement.explicit]
        if explicit and all(later.nobody for later in firm if later.sentence > explicit[-1].sentence):
            firm = explicit
        place = max(statement.sentence for statement in firm)
        last = {statement.outcome for statement in firm if statement.sentence == place}
        if _contradicted([statement for statement in explicit if statement.sentence < place], last, place, marked):
            return "ambiguous"
        indexes = {outcome for outcome in last if isinstance(outcome, int)}
        if len(indexes) == 1 and "ambiguous" not in last:
            return indexes.pop()
        return last.pop() if len(last) == 1 else "ambiguous"
    passing = [statement for statement in found if not statement.weak] or found
    plain = {statement.outcome for statement in passing}
    if len(plain) > 1 and grammar.RETRACTION.search(marked):
        plain = _after_retraction(passing, marked)
    return plain.pop() if len(plain) == 1 else "ambiguous" if plain else None


def _after_retraction(passing: list[Statement], marked: str) -> set[Outcome]:
    """What is stated from the last sentence on that takes something back; all that is stated, if nothing is."""
    taken_back = [number for number, piece in enumerate(sentences(marked)) if grammar.RETRACTION.search(piece)]
    later = {statement.outcome for statement in passing if taken_back and statement.sentence >= taken_back[-1]}
    return later or {statement.outcome for statement in passing}


def _contradicted(explicit: list[Statement], last: AbstractSet[Outcome], place: int, marked: str) -> bool:
    """Whether earlier explicit verdicts are other ones, and nothing says that they were corrected."""
    if not any(isinstance(outcome, int) for outcome in last):
        return False
    others = [
        earlier.sentence for earlier in explicit if isinstance(earlier.outcome, int) and earlier.outcome not in last
    ]
    if not others:
        return False
    corrected = corrections(marked)
    return not any(max(others) < sentence <= place for sentence in corrected)


def _may_go_on(marked: str, index: int, labels: Labels) -> bool:
    """Whether a cut-off reply ends in a label that is the beginning of another."""
    if not re.search(rf"{MENTION}\Z", marked):
        return False
    label = labels.given[index].casefold()
    return any(other != index and text.casefold().startswith(label) for other, text in enumerate(labels.given))


def _near_slot(found: list[Statement], labels: Labels) -> int | None:
    slots = [statement.slot for statement in found if statement.firm]
    return near_label(slots[-1], labels) if slots and slots[-1] else None


def _none(reason: Reason) -> Match:
    return Match(index=None, kind="none", reason=reason)
