"""The answers to a checklist's items to its scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from evenhand.aggregation.checklist_items import (
    DEFAULT_RULES,
    Answer,
    ItemResult,
    met_answers,
    possible_answers,
    possible_confidences,
)
from evenhand.aggregation.early_stop import stopped_early
from evenhand.aggregation.rules import average_of
from evenhand.aggregation.vote_rules import VoteRules
from evenhand.criteria import Checklist
from evenhand.errors import InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.votes import Verdict

PrimaryScore = Literal["pass_rate", "weighted_score", "normalized_score"]
UNGROUPED = "ungrouped"
"""The category of the items that name none."""


@dataclass(frozen=True, slots=True)
class ChecklistScore:
    """What the answers to one checklist come to. Every score is over the answered items only.

    Attributes:
        yes: Items answered yes.
        no: Items answered no.
        na: Items that do not apply.
        unanswered: Items without an answer; they are never counted as no.
        weighted_score: Σ w·yes / Σ w over the answered items; None when that is 0 / 0.
        normalized_score: The mean confidence over the answered items; None when there are none.
        primary: Which score is the primary one.
    """

    yes: int
    no: int
    na: int = 0
    unanswered: int = 0
    weighted_score: float | None = None
    normalized_score: float | None = None
    primary: PrimaryScore = "pass_rate"

    def __post_init__(self) -> None:
        check_primary_score(self.primary)

    @property
    def answered(self) -> int:
        """Items answered yes or no."""
        return self.yes + self.no

    @property
    def pass_rate(self) -> float | None:
        """Yes / answered; None when nothing is answered."""
        return self.yes / self.answered if self.answered else None

    @property
    def scaled_score_1_5(self) -> float | None:
        """The pass rate on a scale from 1 to 5: 4 · pass_rate + 1."""
        return None if self.pass_rate is None else 4 * self.pass_rate + 1

    @property
    def primary_score(self) -> float | None:
        """The score that ``primary`` names; the pass rate where that one is undefined."""
        named: float | None = getattr(self, self.primary)
        return self.pass_rate if named is None else named


def check_primary_score(primary: str) -> None:
    """Raise :class:`UnknownRuleError` unless ``primary`` names a score."""
    if primary not in get_args(PrimaryScore):
        raise UnknownRuleError(
            f"{primary!r} is not a score of a checklist. {did_you_mean(primary, get_args(PrimaryScore))}"
        )


def score_answers(
    answers: Sequence[Answer | None],
    weights: Sequence[float] | None = None,
    *,
    confidences: Sequence[float | None] | None = None,
    primary: PrimaryScore = "pass_rate",
) -> ChecklistScore:
    """The scores of one checklist from the answers to its items.

    An item's confidence is the probability of yes among yes and no. An item without one counts as 1 or 0 in
    ``normalized_score``, which therefore equals the pass rate when no item has one.

    Args:
        answers: Per item ``"yes"``, ``"no"``, ``"na"``, or None for an item without an answer.
        weights: Per item, finite and >= 0; None weighs all alike.
        confidences: Per item in [0, 1], or None where log-probabilities were not given.
        primary: The score that ``primary_score`` is.

    Raises:
        InvalidInputError: If the lengths differ, or an answer, a weight or a confidence is out of its range.
        UnknownRuleError: If ``primary`` names no score.

    Example:
        >>> score = score_answers(["yes", "no", None, "yes"], [100, 50, 10, 50])
        >>> score.pass_rate, score.weighted_score, score.unanswered
        (0.6666666666666666, 0.75, 1)
    """
    weights = [1.0] * len(answers) if weights is None else weights
    confidences = [None] * len(answers) if confidences is None else confidences
    _check_lengths(len(answers), {"weights": weights, "confidences": confidences})
    met: list[tuple[float, float, float]] = []
    for answer, weight, confidence in zip(answers, weights, confidences, strict=True):
        _check_item(answer, weight, confidence)
        if answer in {"yes", "no"}:
            passed = 1.0 if answer == "yes" else 0.0
            met.append((passed, weight, passed if confidence is None else confidence))
    total = math.fsum(weight for _, weight, _ in met)
    return ChecklistScore(
        yes=sum(answer == "yes" for answer in answers),
        no=sum(answer == "no" for answer in answers),
        na=sum(answer == "na" for answer in answers),
        unanswered=sum(answer is None for answer in answers),
        weighted_score=math.fsum(passed * weight for passed, weight, _ in met) / total if total > 0 else None,
        normalized_score=average_of([confidence for *_, confidence in met]) if met else None,
        primary=primary,
    )


def score_items(items: Sequence[ItemResult], *, primary: PrimaryScore = "pass_rate") -> ChecklistScore:
    """The scores of the items of one checklist.

    There is no normalized score where the draws of an answered item could stop early: it is a mean over draws
    (:mod:`evenhand.aggregation.early_stop`).
    """
    score = score_answers(
        [result.answer for result in items],
        [result.item.weight for result in items],
        confidences=[result.confidence for result in items],
        primary=primary,
    )
    stopped = any(result.answer in {"yes", "no"} and stopped_early(result.verdict.votes) for result in items)
    return replace(score, normalized_score=None) if stopped else score


def possible_scores(
    verdicts: Sequence[Verdict],
    checklist: Checklist,
    *,
    primary: PrimaryScore = "pass_rate",
    rules: VoteRules = DEFAULT_RULES,
) -> tuple[float, float] | None:
    """The least and the greatest primary score if every answer that is missing had been given.

    An unanswered item, and every unscored vote on an item that is answered, counts as a no for the least and as a yes
    for the greatest; prerequisites are looked at after that. None where every item is NA, so that there is no score.

    Raises:
        InvalidInputError: If there are more or fewer verdicts than items.
        UnknownRuleError: If ``primary`` names no score.
    """
    judged = [possible_answers(verdict, rules=rules) for verdict in verdicts]
    confidences: list[tuple[float | None, float | None]] = [(None, None)] * len(verdicts)
    if primary == "normalized_score":
        confidences = [possible_confidences(verdict, rules=rules) for verdict in verdicts]
    _check_lengths(len(checklist.items), {"verdicts": verdicts})
    needed = {item.name: item.prerequisites for item in checklist.items}
    limits = []
    for end in (0, 1):
        own = {item.name: answers[end] for item, answers in zip(checklist.items, judged, strict=True)}
        met = met_answers(own, needed)
        failed = [met[name] != own[name] for name in own]
        score = score_answers(
            list(met.values()),
            [item.weight for item in checklist.items],
            confidences=[0.0 if fails else one[end] for fails, one in zip(failed, confidences, strict=True)],
            primary=primary,
        )
        limits.append(score.primary_score)
    low, high = limits
    return None if low is None or high is None else (low, high)


def category_pass_rates(answers: Sequence[Answer | None], categories: Sequence[str | None]) -> dict[str, float | None]:
    """Category -> yes / answered, in the order of first appearance; None where nothing is answered.

    Example:
        >>> category_pass_rates(["yes", "no", "no"], ["style", "facts", "style"])
        {'style': 0.5, 'facts': 0.0}
    """
    _check_lengths(len(answers), {"categories": categories})
    grouped: dict[str, list[Answer | None]] = {}
    for answer, category in zip(answers, categories, strict=True):
        grouped.setdefault(category or UNGROUPED, []).append(answer)
    return {category: score_answers(group).pass_rate for category, group in grouped.items()}


def _check_lengths(expected: int, sequences: Mapping[str, Sequence[object]]) -> None:
    for name, values in sequences.items():
        if len(values) != expected:
            raise InvalidInputError(f"{len(values)} {name} for {expected} checklist items; give one per item")


def _check_item(answer: str | None, weight: float, confidence: float | None) -> None:
    if answer is not None and answer not in get_args(Answer):
        raise InvalidInputError(
            f"{answer!r} is not an answer to a checklist item. {did_you_mean(answer, get_args(Answer))} "
            "None stands for an item without an answer"
        )
    if not (math.isfinite(weight) and weight >= 0):
        raise InvalidInputError(f"a checklist item has the weight {weight!r}; it must be finite and >= 0")
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidInputError(f"a checklist item has the confidence {confidence!r}; it lies in [0, 1]")
