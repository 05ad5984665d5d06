"""What many responses come to by their checklists: scores, questions and categories, each with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation import ItemResult, VoteRules
from evenhand.aggregation.checklist_score import UNGROUPED
from evenhand.checklists.asking import ChecklistResult
from evenhand.judge_reliability import PanelReport, report_of_run
from evenhand.scoring import NO_REPLY, count_readings
from evenhand.statistics import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.correlation import item_rest_correlations
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.unread import UnreadBounds, unread_bounds
from evenhand.votes import MatchKind, Usage, Vote, total_usage, unselected_draws

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ItemReport:
    """One question over all responses that it was asked about.

    Attributes:
        label: The item's name; its question where it has none, or names do not tell the questions apart.
        question: The question.
        category: Of the item; empty for none.
        weight: Of the item; None where it differs between checklists.
        asked: Responses that it was asked about.
        yes: How many met it.
        no: How many did not.
        na: To how many it does not apply.
        unanswered: How many have no answer.
        by_prerequisite: How many of the no are due to a prerequisite alone.
        pass_rate: yes / (yes + no); None where nothing is answered.
        confidence: The mean probability of yes over the responses where it is known.
        discrimination: The correlation with the share passed of the other items (see
            :func:`~evenhand.statistics.correlation.item_rest_correlations`); None where it is undefined.
        finding: ``all pass``, ``all fail``, or why there is no discrimination; None where there is one.
    """

    label: str
    question: str
    category: str
    weight: float | None
    asked: int
    yes: int
    no: int
    na: int
    unanswered: int
    by_prerequisite: int
    pass_rate: Interval | None
    confidence: Interval | None
    discrimination: Interval | None
    finding: str | None


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """The items of one category.

    Attributes:
        category: Its name; ``ungrouped`` for items without one.
        pass_rate: yes / answered over all responses (micro: every answer counts the same, while the pass rate of the
            checklist is the mean over responses); None where nothing is answered.
        answered: Answers yes or no.
    """

    category: str
    pass_rate: Interval | None
    answered: int


@dataclass(frozen=True, slots=True)
class ChecklistReport:
    """What the checklists of ``num_instances`` responses come to. Intervals are over responses.

    Attributes:
        num_instances: Responses.
        num_clusters: Clusters that these are of; None where responses do not depend on each other.
        unread: The bounds of the primary score, where so much is unread that they lead; else None.
        num_unscored: Responses without a primary score for want of an answer.
        num_partial: Responses whose score rests on some of the items only, others being unanswered.
        num_na: Responses to which no item applies.
        num_other_metric: Responses whose primary score is the pass rate because the metric asked for is undefined.
        primary_score: Its mean.
        pass_rate: The mean of the responses' pass rates (the macro pass rate).
        micro_pass_rate: All yes / all answered.
        weighted_score: Its mean.
        normalized_score: Its mean.
        scaled_score_1_5: Its mean, between 1 and 5.
        answered_share: Items with an answer, NA being one, / all items.
        parse_rate: The share of the replies on items that named an answer; a reply that led to a re-ask did not.
        positional_bias: Where items or options were shown in several orders, how often the answer was not the same.
        agreement: The mean share of the votes on an item that equal its verdict, over items with more than one vote.
        spread: The mean standard deviation of repeated draws; None without them.
        score_if_unscored_0: The mean primary score if every missing answer had been no.
        score_if_unscored_1: The same with yes.
        answered: Items answered yes or no.
        na: Items that do not apply.
        unanswered: Items without an answer.
        unanswered_reasons: Reason -> number of items.
        unscored_votes: Reason -> number of votes without an answer.
        readings: How the others were read; see :func:`~evenhand.scoring.count_readings`.
        reasks: How many times an item was asked about again.
        usage: What all calls consumed.
        items: One a question, in the order of first appearance.
        categories: One a category, likewise.
    """

    num_instances: int
    num_unscored: int
    num_partial: int
    num_na: int
    num_other_metric: int
    primary_score: Interval | None
    pass_rate: Interval | None
    micro_pass_rate: Interval | None
    weighted_score: Interval | None
    normalized_score: Interval | None
    scaled_score_1_5: Interval | None
    answered_share: Interval | None
    parse_rate: Interval | None
    positional_bias: Interval | None
    agreement: Interval | None
    spread: Interval | None
    score_if_unscored_0: float | None
    score_if_unscored_1: float | None
    answered: int
    na: int
    unanswered: int
    unanswered_reasons: Mapping[str, int]
    unscored_votes: Mapping[str, int]
    readings: Mapping[MatchKind, int]
    reasks: int
    usage: Usage
    items: tuple[ItemReport, ...]
    categories: tuple[CategoryReport, ...]
    num_clusters: int | None = None
    unread: UnreadBounds | None = None

    @property
    def macro_pass_rate(self) -> Interval | None:
        """The mean of the responses' pass rates: ``pass_rate`` by its other name."""
        return self.pass_rate


SCORES = ("primary_score", "pass_rate", "weighted_score", "normalized_score")
RATES = ("micro_pass_rate", "answered_share", "parse_rate", "positional_bias", "agreement")


def report_checklists(results: Sequence[ChecklistResult], *, level: float = 0.95, seed: int = 0) -> ChecklistReport:
    """What many responses come to, with intervals over responses, or the clusters that they are of.

    Args:
        results: One a response, with all its items and votes.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        seed: Of the draws for the intervals of discriminations.
    """
    table = [[_number(getattr(result.score, name)) for name in SCORES] for result in results]
    scores = mean_intervals(_columns(table, len(SCORES)), level=level)
    scaled = _columns([[_number(result.score.scaled_score_1_5)] for result in results], 1)
    counts = [_counts(result) for result in results]
    rates = ratio_intervals(*_shares(counts, len(RATES)), level=level)
    spreads = [_sum_and_count([item.verdict.spread for item in result.items]) for result in results]
    bounds = [result.bounds for result in results if result.bounds is not None]
    votes = [vote for result in results for item in result.items for vote in item.verdict.votes]
    unanswered = [item.reason for result in results for item in result.items if item.answer is None]
    return ChecklistReport(
        num_instances=len(results),
        num_unscored=sum(result.score.primary_score is None and not result.na for result in results),
        num_partial=sum(result.score.answered > 0 and result.score.unanswered > 0 for result in results),
        num_na=sum(result.na for result in results),
        num_other_metric=sum(result.primary_metric not in {None, result.asked_metric} for result in results),
        **dict(zip(SCORES, scores, strict=True)),
        **dict(zip(RATES, rates, strict=True)),
        spread=ratio_intervals(*_shares([[each] for each in spreads], 1), level=level, bounds=(0.0, 0.5))[0],
        scaled_score_1_5=mean_intervals(scaled, level=level, bounds=(1.0, 5.0))[0],
        score_if_unscored_0=_mean([low for low, _ in bounds]),
        score_if_unscored_1=_mean([high for _, high in bounds]),
        answered=sum(result.score.answered for result in results),
        na=sum(result.score.na for result in results),
        unanswered=len(unanswered),
        unanswered_reasons=_counted(unanswered),
        unscored_votes=_counted([vote.unscored_reason for vote in votes]),
        readings=count_readings(votes),
        reasks=sum(vote.reasks for vote in votes),
        usage=total_usage(vote.usage for vote in votes),
        items=_item_reports(results, level=level, seed=seed),
        categories=_category_reports(results, level=level),
        num_clusters=IntervalLevel.of(level).n_clusters,
        unread=unread_bounds(scores[0], [result.bounds for result in results], level=level),
    )


def _number(value: float | None) -> float:
    """Statistics take NaN for a missing number."""
    return float("nan") if value is None else float(value)


def _columns(rows: Sequence[Sequence[float]], width: int) -> FloatArray:
    return np.array(rows, dtype=float).reshape(len(rows), width)


def _shares(counts: Sequence[Sequence[tuple[float, float]]], width: int) -> tuple[FloatArray, FloatArray]:
    """Numerators and denominators, each (n_results, n_shares)."""
    table = np.array(counts, dtype=float).reshape(len(counts), width, 2)
    return table[:, :, 0], table[:, :, 1]


def _sum_and_count(values: Sequence[float | None]) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return float(sum(known)), float(len(known))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _counted(reasons: Sequence[str | None]) -> Mapping[str, int]:
    return MappingProxyType(dict(sorted(Counter(reason for reason in reasons if reason is not None).items())))


def _counts(result: ChecklistResult) -> tuple[tuple[float, float], ...]:
    """Numerator and denominator of each of :data:`RATES`."""
    score = result.score
    replied = [
        vote
        for item in result.items
        for vote in unselected_draws(item.verdict.votes)
        if vote.unscored_reason not in NO_REPLY
    ]
    checked = [item.verdict.position_consistent for item in result.items]
    return (
        (score.yes, score.answered),
        (score.answered + score.na, len(result.items)),
        (sum(map(_named, replied)), sum(1 + vote.reasks for vote in replied)),
        (checked.count(False), len(checked) - checked.count(None)),
        _sum_and_count([item.verdict.agreement for item in result.items if len(item.verdict.votes) > 1]),
    )


def _named(vote: Vote) -> bool:
    return vote.selected_index is not None


_Question = tuple[str, str]
_Cells = dict[int, ItemResult]


def _item_reports(results: Sequence[ChecklistResult], *, level: float, seed: int) -> tuple[ItemReport, ...]:
    found: dict[_Question, _Cells] = {}
    shared = len({result.checklist.name for result in results}) <= 1 and _alike(results)
    for row, result in enumerate(results):
        for item in result.items:
            key = (item.item.name if shared else "", " ".join(item.item.question.split()))
            found.setdefault(key, {}).setdefault(row, item)
    labels = _labels(found)
    passed = np.full((len(results), len(found)), np.nan)
    for column, cells in enumerate(found.values()):
        for row, item in cells.items():
            passed[row, column] = _number(_met(item))
    confidences = np.full_like(passed, np.nan)
    for column, cells in enumerate(found.values()):
        for row, item in cells.items():
            confidences[row, column] = _number(item.confidence)
    rates = mean_intervals(passed, level=level)
    sure = mean_intervals(confidences, level=level)
    telling = item_rest_correlations(passed, level=level, seed=seed)
    return tuple(
        _item_report(label, list(cells.values()), *intervals)
        for label, cells, *intervals in zip(labels, found.values(), rates, sure, telling, strict=True)
    )


def _alike(results: Sequence[ChecklistResult]) -> bool:
    """Whether an item's name means the same question in every checklist."""
    questions: dict[str, str] = {}
    return all(
        questions.setdefault(item.name, item.question) == item.question
        for result in results
        for item in result.checklist.items
    )


def _labels(found: Mapping[_Question, _Cells]) -> list[str]:
    """Names where they tell the questions apart and are more than numbers, else the questions."""
    names = [sorted({item.item.name for item in cells.values()}) for cells in found.values()]
    known = Counter(name for given in names for name in given)
    return [
        given[0] if len(given) == 1 and known[given[0]] == 1 and not given[0].isdigit() else question
        for given, (_, question) in zip(names, found, strict=True)
    ]


def _met(item: ItemResult) -> float | None:
    return {"yes": 1.0, "no": 0.0}.get(item.answer or "")


def _item_report(
    label: str,
    cells: Sequence[ItemResult],
    pass_rate: Interval | None,
    confidence: Interval | None,
    discrimination: Interval | None,
) -> ItemReport:
    answers = Counter(item.answer for item in cells)
    weights = {item.item.weight for item in cells}
    first = cells[0].item
    return ItemReport(
        label=label,
        question=first.question,
        category=first.category,
        weight=weights.pop() if len(weights) == 1 else None,
        asked=len(cells),
        yes=answers["yes"],
        no=answers["no"],
        na=answers["na"],
        unanswered=answers[None],
        by_prerequisite=sum(item.reason == "prerequisite" for item in cells),
        pass_rate=pass_rate,
        confidence=confidence,
        discrimination=discrimination,
        finding=None if discrimination is not None else _finding(answers["yes"], answers["no"]),
    )


def _finding(yes: int, no: int) -> str:
    if yes + no == 0:
        return "no answer"
    if no == 0:
        return "all pass"
    return "all fail" if yes == 0 else "too little to compare with"


def _category_reports(results: Sequence[ChecklistResult], *, level: float) -> tuple[CategoryReport, ...]:
    categories = list(dict.fromkeys(item.item.category or UNGROUPED for result in results for item in result.items))
    place = {category: column for column, category in enumerate(categories)}
    yes = np.zeros((len(results), len(categories)))
    answered = np.zeros_like(yes)
    for row, result in enumerate(results):
        for item in result.items:
            met = _met(item)
            if met is not None:
                column = place[item.item.category or UNGROUPED]
                answered[row, column] += 1
                yes[row, column] += met
    rates = ratio_intervals(yes, answered, level=level)
    totals = answered.sum(axis=0)
    return tuple(
        CategoryReport(category, rate, int(total))
        for category, rate, total in zip(categories, rates, totals, strict=True)
    )


def item_panels(
    results: Sequence[ChecklistResult], rules: VoteRules, *, samples: int, level: float = 0.95, seed: int = 0
) -> dict[str, PanelReport]:
    """Item name -> the report on the judges that answered it; empty where each response had its own checklist.

    Empty too where one judge was asked once, which says nothing about judges.

    Args:
        results: One a response.
        rules: The rules that made the verdicts.
        samples: Draws of each prompt that the run was to make at most.
        level: Of the intervals.
        seed: Of the intervals that are drawn.
    """
    if not results or any(result.checklist != results[0].checklist for result in results):
        return {}
    reports = {
        item.name: report_of_run(
            [result.items[place].verdict for result in results],
            item.as_criterion(),
            rules,
            samples=samples,
            level=level,
            seed=seed,
        )
        for place, item in enumerate(results[0].checklist.items)
    }
    return {name: report for name, report in reports.items() if report is not None}
