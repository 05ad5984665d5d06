"""A verdict with all that is to be seen of it, in one form for all ways of judging: pages and terminals show it.

Results hold votes and no texts. What a judge was shown stands between the tags of the prompts that were sent; where
these were not kept, it is read from the data that were judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from evenhand.parsing import where_read
from evenhand.parsing.labels import comparison_key
from evenhand.prompts import ShownTexts, shown_texts
from evenhand.results.votes_columns import Cell
from evenhand.votes import Verdict, Vote

Texts = tuple[Mapping[str, str], Mapping[str, str | None]]
"""The context that was shown, and the responses."""

NOTHING: Mapping[str, Any] = MappingProxyType({})

NO_VERDICT = Verdict()
"""Of votes that come to none."""

Sent = Mapping[str, tuple[tuple[str, str], ...]]
"""Stage -> the messages that were sent, each with its role."""


@dataclass(frozen=True, slots=True)
class VoteView:
    """One vote.

    Attributes:
        judge: Who voted.
        sample: Which of repeated draws, from 0.
        shown: The options, or what was compared, in the order shown; empty where no order is known.
        selected: What it chose: a label, or the system that it prefers; None where it is unscored.
        value: Of what it chose; None where that has none.
        na: It said that the question does not apply.
        probabilities: What was chosen from -> probability, where the engine gave some.
        unscored_reason: Why nothing was selected.
        error: What failed, where something did.
        reasons: What the judge wrote before its verdict, or with it.
        reply: The text that the verdict was read from.
        reasoning: The trace of a thinking model.
        read_at: First character of the verdict in the reply, and the one after its last; None where no place decided.
        how: By which rule the reply was read.
        prompts: What was sent; empty where it was not kept.
        model: That answered, as the engine named it.
        cost: Of its calls, in US dollars; None without a price.
    """

    judge: str
    sample: int
    shown: tuple[str, ...]
    selected: str | None
    value: float | None
    na: bool
    probabilities: Mapping[str, float]
    unscored_reason: str | None
    error: str | None
    reasons: str | None
    reply: str | None
    reasoning: str | None
    read_at: tuple[int, int] | None
    how: str | None
    prompts: Sent
    model: str | None
    cost: float | None

    @property
    def unscored(self) -> bool:
        """Whether it selects nothing and is not NA."""
        return self.selected is None and not self.na


@dataclass(frozen=True, slots=True)
class VerdictView:
    """One question, what its votes came to, and all that was shown and said.

    Attributes:
        name: Unique in the result: ``3/alder/relevance``.
        row: The id of the row, or else its index as a text.
        instance: The row's index.
        criterion: By what it was judged.
        question: What was asked: the description of a criterion, or the text of an item.
        systems: Whose responses it is about; empty where results know no systems.
        selected: The label selected, or the system that is better, or ``tie``; None where nothing was.
        score: In the units of the criterion; of a comparison that of the first system. None where there is none.
        na: The question does not apply.
        spread: The standard deviation of repeated draws; None without these.
        agreement: The share of the votes that chose what was selected.
        flipped: A judge chose otherwise in another order; None where none was asked in two.
        unscored_reason: Why there is no score.
        gold: What a person said, where it is known.
        wrong: Something else was selected than the person said; None where either is not known.
        cluster: What the row belongs to.
        context: Name -> text, of what was shown beside the responses.
        responses: System -> its response; None for one that is missing. Those whose texts were not kept are left out.
        votes: All of them.
    """

    name: str
    row: str
    instance: int
    criterion: str
    question: str
    systems: tuple[str, ...]
    selected: str | None
    score: float | None
    na: bool
    spread: float | None
    agreement: float | None
    flipped: bool | None
    unscored_reason: str | None
    gold: str | None
    wrong: bool | None
    cluster: str | None
    context: Mapping[str, str]
    responses: Mapping[str, str | None]
    votes: tuple[VoteView, ...]

    @property
    def divided(self) -> bool:
        """Whether votes chose different things."""
        return len({vote.selected for vote in self.votes if vote.selected is not None}) > 1

    @property
    def unscored(self) -> bool:
        """Whether all its votes are unscored, or none was cast."""
        return all(vote.unscored for vote in self.votes)


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """What a kind of result says of one of its cells, beside the votes.

    Attributes:
        name: See :attr:`VerdictView.name`.
        criterion: By what it was judged.
        question: What was asked.
        options: What could be selected, in the order of the criterion's own options; empty where that is not known.
        judged: Whose responses it is about, in the order in which a vote's ``order`` counts them.
        selected: See :attr:`VerdictView.selected`.
        score: See :attr:`VerdictView.score`.
        verdict: What the votes come to.
        gold: See :attr:`VerdictView.gold`.
        compares: Whether several responses were shown together, so that orders are orders of these.
        offered: The labels as replies name them, where these are not the options.
    """

    name: str
    criterion: str
    question: str
    options: tuple[str, ...]
    judged: tuple[str, ...]
    selected: str | None
    score: float | None
    verdict: Verdict
    gold: str | None = None
    compares: bool = False
    offered: tuple[str, ...] = ()


def prompts_of(cell: Cell, asked: QuestionAsked, sheets: dict[Any, Any]) -> list[Sent]:
    """What was sent for each vote; of an answer on a sheet that another cell of the row holds whole, this sheet.

    Args:
        cell: With its votes.
        asked: What its result says of it.
        sheets: What sheets were sent so far, by row, responses, judge, draw and reply; it grows.
    """
    found: list[Sent] = []
    for vote in cell.votes:
        replied = None if vote.completion is None else vote.completion.text
        key = (cell.about["instance"], asked.judged, vote.judge_id, vote.sample, replied)
        held = sheets.get(key) if vote.prompts is None else vote.prompts
        plain = {} if held is None else held.plain()  # once, as they are unpacked each time
        if vote.prompts is not None and "sheet" in plain:
            sheets[key] = vote.prompts
        found.append({stage: tuple((str(m["role"]), str(m["content"])) for m in own) for stage, own in plain.items()})
    return found


def verdict_view(
    cell: Cell,
    asked: QuestionAsked,
    sent: Sequence[Sent],
    row: str,
    texts: Texts | None = None,
) -> VerdictView:
    """A cell as it is shown.

    Args:
        cell: The votes.
        asked: What its result says of it.
        sent: For each vote, as :func:`prompts_of` finds it.
        row: The id of its row.
        texts: The context and the responses, where the data were given.
    """
    verdict = asked.verdict
    context, responses = _texts(cell, asked, sent, texts)
    known = asked.gold is not None and asked.selected is not None
    return VerdictView(
        name=asked.name,
        row=row,
        instance=cell.about["instance"],
        criterion=asked.criterion,
        question=asked.question,
        systems=asked.judged,
        selected=asked.selected,
        score=asked.score,
        na=verdict.na,
        spread=verdict.spread,
        agreement=verdict.agreement,
        flipped=None if verdict.position_consistent is None else not verdict.position_consistent,
        unscored_reason=None if verdict.na else verdict.unscored_reason,
        gold=asked.gold,
        wrong=asked.selected.casefold() != asked.gold.casefold() if known else None,  # type: ignore[union-attr]
        cluster=cell.about.get("cluster"),
        context=context,
        responses=responses,
        votes=tuple(_vote_view(vote, asked, own) for vote, own in zip(cell.votes, sent, strict=True)),
    )


def _vote_view(vote: Vote, asked: QuestionAsked, sent: Sent) -> VoteView:
    reply = vote.completion
    selected = _selected(vote, asked)
    told = None if vote.match is None else vote.match.kind
    return VoteView(
        judge=vote.judge_id,
        sample=vote.sample,
        shown=_in_order(vote.order, asked.judged if asked.compares else asked.options),
        selected=selected,
        value=vote.value,
        na=vote.na,
        probabilities=_named(asked.options, vote.probabilities or ()),
        unscored_reason=vote.unscored_reason,
        error=vote.error,
        reasons=vote.assessment,
        reply=None if reply is None else reply.text,
        reasoning=None if reply is None else reply.reasoning,
        read_at=_read_at(vote, asked, sent),
        how=told,
        prompts=sent,
        model=None if reply is None else reply.model,
        cost=vote.usage.cost,
    )


def _selected(vote: Vote, asked: QuestionAsked) -> str | None:
    if vote.selected_index is None or vote.selected_index >= len(asked.options):
        return vote.selected_label
    return asked.options[vote.selected_index]


def _in_order(order: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    """The names in the order shown; none where the order is not one of these."""
    return tuple(names[place] for place in order) if order and max(order) < len(names) else ()


def _named(options: Sequence[str], probabilities: Sequence[float]) -> Mapping[str, float]:
    return dict(zip(options, probabilities, strict=True)) if len(options) == len(probabilities) else NOTHING


def _read_at(vote: Vote, asked: QuestionAsked, sent: Sent) -> tuple[int, int] | None:
    """Where the label stands that made the verdict; unknown in a sheet of many answers."""
    if vote.match is None or vote.match.index is None or vote.completion is None or not vote.completion.text:
        return None
    labels = () if "sheet" in sent else asked.offered or asked.options
    found = where_read(vote.completion.text, labels) if labels else None
    said = vote.completion.text[slice(*found)] if found else ""
    return found if asked.compares or comparison_key(said) == comparison_key(vote.selected_label or "") else None


def _texts(
    cell: Cell,
    asked: QuestionAsked,
    sent: Sequence[Sent],
    texts: Texts | None,
) -> Texts:
    """What was shown: from the data where they were given, else from what was sent."""
    if texts is not None:
        context, shown = texts
        return context, {name: shown.get(name, shown.get("")) for name in asked.judged or shown}
    if not cell.votes:
        return NOTHING, _missing(cell, asked)
    for vote, own in zip(cell.votes, sent, strict=True):
        first = next((messages[0][1] for messages in own.values() if messages), None)
        found = None if first is None else shown_texts(first)
        if found is not None and found.responses:
            return found.context, _responses(found, vote, asked)
    return NOTHING, NOTHING


def _missing(cell: Cell, asked: QuestionAsked) -> Mapping[str, str | None]:
    """The responses that are known to be missing, where nobody was asked."""
    if asked.verdict.unscored_reason != "missing_response":
        return NOTHING
    lengths = [cell.about.get(name) for name in ("first_length", "second_length")] if len(asked.judged) == 2 else []
    if not asked.compares:
        return dict.fromkeys(asked.judged or ("response",))
    return {name: None for name, length in zip(asked.judged, lengths, strict=False) if length is None}


def _responses(found: ShownTexts, vote: Vote, asked: QuestionAsked) -> dict[str, str | None]:
    names = asked.judged or ("response",)
    shown = _in_order(vote.order, names) if asked.compares else names
    if len(shown) != len(found.responses):  # a prompt of the user's own may show them in part
        return {}
    responses = dict(zip(shown, found.responses, strict=True))
    return {name: responses[name] for name in names if name in responses}
