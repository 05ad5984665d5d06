"""Compute the scores of a checklist from the answers to its items."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Final, Literal, get_args

from evenhand.aggregation.verdict import (
    VoteRules,
    aggregate,
    average_of,
    expected_value,
    mean_covered_mass,
    stopped_early,
)
from evenhand.criteria import Checklist, ChecklistItem
from evenhand.votes import UnscoredReason, Verdict, unselected_draws

Answer = Literal["yes", "no", "na"]
ConfidenceLevel = Literal["no_10", "no_30", "unsure", "yes_70", "yes_90"]

CONFIDENT: Final = 0.6
"""The least confidence of a yes: that of the level ``yes_70``."""


def confidence_level(confidence: float) -> ConfidenceLevel:
    """Return the confidence in five steps: < 0.2, < 0.4, < 0.6, < 0.8, and above.

    Example:
        >>> confidence_level(0.19), confidence_level(0.2), confidence_level(0.8)
        ('no_10', 'no_30', 'yes_90')
    """
    level: ConfidenceLevel = get_args(ConfidenceLevel)[bisect((0.2, 0.4, CONFIDENT, 0.8), confidence)]
    return level


ItemReason = UnscoredReason | Literal["prerequisite", "prerequisite_unanswered"]
DEFAULT_RULES = VoteRules()


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The result of one item of a checklist.

    Attributes:
        item: The item.
        verdict: The verdict on its question, with all votes.
        answer: What it counts, after its prerequisites; None when it is unanswered.
        confidence: The probability of yes; 0 for an item that its prerequisite fails. None if nothing but a single
            plain answer is known, and for an item that is NA or unanswered.
        covered_mass: The mean of P(yes) + P(no) over the votes that have log-probabilities; None without any.
        reason: Why it is unanswered; or ``prerequisite``, which makes it a no for any answer to its own question.
        judged: The answer to its own question, without regard to prerequisites.
        possible: What it would count if every unscored vote had said no, and if every one had said yes.
        possible_confidences: The confidence in these two cases.
    """

    item: ChecklistItem
    verdict: Verdict
    answer: Answer | None
    judged: Answer | None
    confidence: float | None
    covered_mass: float | None
    possible: tuple[Answer | None, Answer | None]
    possible_confidences: tuple[float, float]
    reason: ItemReason | None = None

    @property
    def confidence_level(self) -> ConfidenceLevel | None:
        """The confidence in five steps."""
        return None if self.confidence is None else confidence_level(self.confidence)

    @property
    def category(self) -> str:
        """The category of the item; ``ungrouped`` if it has none."""
        return self.item.category or UNGROUPED

    @property
    def met(self) -> float | None:
        """1 for yes, 0 for no; None if there is neither."""
        return _MET.get(self.answer)

    @property
    def possible_met(self) -> tuple[float, float] | None:
        """The same if every unscored vote had said no, and yes; None if the item does not apply."""
        low, high = map(_MET.get, self.possible)
        return None if low is None or high is None else (low, high)

    @property
    def sure_within(self) -> tuple[float, float] | None:
        """The limits of its confidence; None too if an answer that was scored has none."""
        lacking = self.possible_met is None or (self.answer is not None and self.confidence is None)
        return None if lacking else self.possible_confidences


def item_results(
    verdicts: Sequence[Verdict], checklist: Checklist, *, rules: VoteRules = DEFAULT_RULES
) -> tuple[ItemResult, ...]:
    """Compute the result of each item from one verdict per item, in the checklist's order.

    Args:
        verdicts: A verdict of value 1 is yes, of value 0 no.
        checklist: The checklist of the items.
        rules: The rules of the verdicts, and the least mass that log-probabilities may cover.
    """
    own = [_own_result(*asked, rules) for asked in zip(checklist.items, verdicts, strict=True)]
    needed = {item.name: item.prerequisites for item in checklist.items}
    met = met_answers({each.item.name: each.judged for each in own}, needed)
    least, greatest = (met_answers({each.item.name: each.possible[end] for each in own}, needed) for end in (0, 1))
    results = []
    for each in own:
        name = each.item.name
        answer, ends = met[name], (least[name], greatest[name])
        reason: ItemReason | None = None
        confidence = each.confidence if answer in {"yes", "no"} else None
        if answer == "no" and each.judged != "no":
            reason, confidence = "prerequisite", 0.0
        elif answer is None:
            reason = "prerequisite_unanswered" if each.judged == "yes" else each.verdict.unscored_reason or "no_match"
        sure = (0.0, 1.0) if "na" in ends else each.possible_confidences
        low, high = (one if end == mine else 0.0 for one, end, mine in zip(sure, ends, each.possible, strict=True))
        results.append(
            replace(
                each,
                answer=answer,
                confidence=confidence,
                reason=reason,
                possible=ends,
                possible_confidences=(low, high),
            )
        )
    return tuple(results)


def _own_result(item: ChecklistItem, verdict: Verdict, rules: VoteRules) -> ItemResult:
    """Return the result of an item on its own question (yes is option 0), without regard to prerequisites.

    A yes has to be earned, as in the table of levels: where votes have log-probabilities that cover at least
    ``rules.min_mass``,

    - a vote for yes with P(yes) / (P(yes) + P(no)) below 0.6 counts as a no under the panel's rule, and
    - under the rules that weigh all votes (``majority``, ``weighted``, and any under expected scoring) the item's
      confidence, the mean of theirs, must be 0.6 or more too, so that no item is both a yes and ``unsure``.

    A no stays a no at any probability: no vote said yes. Without log-probabilities the panel's rule alone decides.

    Confidence: a vote whose log-probabilities cover at least ``rules.min_mass`` counts P(yes) / (P(yes) + P(no)), any
    other one 1 or 0 for what it answers. They are averaged as all votes are: over the draws of an order, the orders of
    a judge, and the judges (weighted where the panel's rule is ``weighted``). There is none for a single vote without
    log-probabilities (one answer says nothing about how sure it is), and where draws could stop early, whose mean is
    biased by that.
    """
    votes, criterion, panel_rule = verdict.votes, item.as_criterion(), rules.panel_rule("binary")
    values = [option.value for option in criterion.options]
    known = [
        expected_value(vote.probabilities, values, min_mass=rules.min_mass)
        if vote.scored and vote.probabilities is not None
        else None
        for vote in votes
    ]
    expected = rules.scoring == "expected"  # which counts the probabilities themselves
    weighs = (expected or panel_rule not in {"any", "unanimous"}) and any(each is not None for each in known)
    doubted = [
        vote.selected_index == YES and each is not None and each < CONFIDENT
        for vote, each in zip(votes, known, strict=True)
    ]
    earned = verdict
    if any(doubted) and not expected:
        refused = {"selected_index": NO, "selected_label": None, "value": 0.0}
        heard = zip(votes, doubted, strict=True)
        earned = rules.aggregate(
            [vote.model_copy(update=refused) if doubts else vote for vote, doubts in heard], criterion
        )
    n_scored, stopped = sum(vote.scored for vote in votes), stopped_early(votes)
    center, ends = None, (0.0, 1.0)
    if n_scored and (weighs or not stopped):
        mean = aggregate(
            votes,
            criterion.model_copy(update={"scale": "ordinal"}),  # whose rules average the values: probabilities here
            "weighted_mean" if panel_rule == "weighted" else "mean",
            on_position_bias=rules.on_position_bias,
            min_mass=rules.min_mass,
        )
        center = mean.aggregated_value
        ends = ends if center is None else mean.bounds or (center, center)

    def earns(value: float | None, confidence: float | None) -> Answer:
        doubtful = weighs and confidence is not None and confidence < CONFIDENT
        return "no" if value is None or value <= 0.5 or doubtful else "yes"

    answer: Answer | None = None
    if verdict.na:
        answer = "na"
    elif verdict.value is not None:
        answer = earns(earned.value, center)
    possible: tuple[Answer, Answer] = ("no", "yes") if answer is None else (answer, answer)
    if earned.bounds is not None and not verdict.na:
        possible = (earns(earned.bounds[0], ends[0]), earns(earned.bounds[1], ends[1]))
    return ItemResult(
        item=item,
        verdict=verdict,
        answer=answer,
        judged=answer,
        confidence=None if stopped or (n_scored == 1 and not any(each is not None for each in known)) else center,
        covered_mass=mean_covered_mass(unselected_draws(votes), criterion),
        possible=possible,
        possible_confidences=ends,
    )


def met_answers(
    answers: Mapping[str, Answer | None], prerequisites: Mapping[str, Sequence[str]], *, transitive: bool = True
) -> dict[str, Answer | None]:
    """Apply prerequisites to the answers: an item is met if it and all its prerequisites are met.

    A yes needs a yes to its own question and no failed prerequisite. What is unknown stays unknown, and
    never becomes a no (Kleene's three-valued *and*):

    - a prerequisite that is not met makes the item a no, also where its own question has no answer;
    - a prerequisite without an answer leaves a yes unanswered, and a no a no;
    - a prerequisite that is NA does not apply, and so cannot fail: it is left out;
    - an item that is NA itself stays NA.

    Args:
        answers: Item -> the answer to its own question, None if there is none.
        prerequisites: Item -> the items that it needs, without a circle; an item that is not named needs none.
        transitive: A prerequisite fails too if one of its own does. Without it only its own answer counts, as where
            all ancestors are listed (so do Zhuge et al., 2024, "Agent-as-a-Judge").

    Returns:
        One answer an item, in the order of ``answers``.

    Example:
        >>> met_answers({"runs": "no", "fast": "yes"}, {"fast": ["runs"]})
        {'runs': 'no', 'fast': 'no'}
        >>> met_answers({"runs": None, "fast": "yes", "short": "no"}, {"fast": ["runs"], "short": ["runs"]})
        {'runs': None, 'fast': None, 'short': 'no'}
    """
    met: dict[str, Answer | None] = {}
    for name in TopologicalSorter({name: prerequisites.get(name, ()) for name in answers}).static_order():
        own = answers[name]
        needed = [(met if transitive else answers)[each] for each in prerequisites.get(name, ())]
        if own != "na" and (own == "no" or "no" in needed):
            own = "no"
        elif own == "yes" and None in needed:
            own = None
        met[name] = own
    return {name: met[name] for name in answers}


_MET: Mapping[str | None, float] = {"yes": 1.0, "no": 0.0}
YES, NO = 0, 1

PrimaryScore = Literal["pass_rate", "weighted_score", "normalized_score"]
UNGROUPED = "ungrouped"
"""The category of items without a category."""


@dataclass(frozen=True, slots=True)
class ChecklistScore:
    """The scores of one checklist. Every score is over the answered items only.

    Attributes:
        yes: Items answered yes.
        no: Items answered no.
        na: Items that do not apply.
        unanswered: Items without an answer; they are never counted as no.
        weighted_score: Σ w·yes / Σ w over the answered items; None when that is 0 / 0.
        normalized_score: The mean confidence over the answered items; None when there are none.
        primary: The name of the primary score.
    """

    yes: int
    no: int
    na: int = 0
    unanswered: int = 0
    weighted_score: float | None = None
    normalized_score: float | None = None
    primary: PrimaryScore = "pass_rate"

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
        """The score that ``primary`` names; None if it is undefined."""
        score: float | None = getattr(self, self.primary)
        return score


def score_answers(
    answers: Sequence[Answer | None],
    weights: Sequence[float] | None = None,
    *,
    confidences: Sequence[float | None] | None = None,
    primary: PrimaryScore = "pass_rate",
) -> ChecklistScore:
    """Return the scores of one checklist from the answers to its items.

    An item's confidence is the probability of yes among yes and no. An item without one counts as 1 or 0 in
    ``normalized_score``, which therefore equals the pass rate when no item has one.

    Args:
        answers: Per item ``"yes"``, ``"no"``, ``"na"``, or None for an item without an answer.
        weights: Per item, finite and >= 0; None weighs all alike.
        confidences: Per item in [0, 1], or None if log-probabilities were not given.
        primary: The score that ``primary_score`` is.

    Example:
        >>> score = score_answers(["yes", "no", None, "yes"], [100, 50, 10, 50])
        >>> score.pass_rate, score.weighted_score, score.unanswered
        (0.6666666666666666, 0.75, 1)
    """
    weights = [1.0] * len(answers) if weights is None else weights
    confidences = [None] * len(answers) if confidences is None else confidences
    met: list[tuple[float, float, float]] = []
    for answer, weight, confidence in zip(answers, weights, confidences, strict=True):
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


def score_items(
    items: Sequence[ItemResult], *, primary: PrimaryScore = "pass_rate", end: int | None = None
) -> ChecklistScore:
    """Return the scores of the items of one checklist.

    There is no normalized score if the draws of an answered item could stop early: it is a mean over draws
    (:mod:`evenhand.aggregation.verdict`).

    Args:
        items: One result per item.
        primary: The score that ``primary_score`` is.
        end: None for the answers as they are; 0 as if every missing answer had been no, 1 as if it had been yes. An
            unanswered item, and every unscored vote on an item that is answered, counts so; prerequisites are looked
            at after that. For any values of the missing answers, each score lies between these two.
    """
    answers = [result.answer if end is None else result.possible[end] for result in items]
    confidences = [result.confidence if end is None else result.possible_confidences[end] for result in items]
    weights = [result.item.weight for result in items]
    score = score_answers(answers, weights, confidences=confidences, primary=primary)
    stopped = any(result.answer in {"yes", "no"} and stopped_early(result.verdict.votes) for result in items)
    return replace(score, normalized_score=None) if stopped else score


def category_pass_rates(answers: Sequence[Answer | None], categories: Sequence[str | None]) -> dict[str, float | None]:
    """Return category -> yes / answered, in the order of first appearance; None if nothing is answered.

    Example:
        >>> category_pass_rates(["yes", "no", "no"], ["style", "facts", "style"])
        {'style': 0.5, 'facts': 0.0}
    """
    grouped: dict[str, list[Answer | None]] = {}
    for answer, category in zip(answers, categories, strict=True):
        grouped.setdefault(category or UNGROUPED, []).append(answer)
    return {category: score_answers(group).pass_rate for category, group in grouped.items()}
