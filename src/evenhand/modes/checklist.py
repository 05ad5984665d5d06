"""Checklists: the questions to judges, the result of a response, and the report on many responses.

:class:`ChecklistMode` is where to begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation.checklist_score import (
    UNGROUPED,
    Answer,
    ChecklistScore,
    ItemReason,
    ItemResult,
    PrimaryScore,
    category_pass_rates,
    item_results,
    possible_ends,
    score_items,
)
from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Checklist
from evenhand.errors import InvalidPromptError
from evenhand.judging.conversation import TOP_LOGPROBS, Flow
from evenhand.modes.mode import Mode, Subject, VoteCells, join_reasons, system_of
from evenhand.numbers import Missing
from evenhand.options import ChecklistMetric as Metric
from evenhand.options import ChecklistOptions, CheckMode, RunOptions
from evenhand.prompts import is_prompt_name
from evenhand.question import Question
from evenhand.results.measures import UnscoredCounts, known, measure
from evenhand.results.vote_columns import VoteColumns
from evenhand.scoring import ReplyMeasures, reply_measures
from evenhand.statistics import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.correlation import item_rest_correlations
from evenhand.statistics.intervals import IntervalLevel, Level, UnscoredBounds, unscored_bounds
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote

FloatArray = NDArray[np.float64]
Bounds = Mapping[str, UnscoredBounds]

OF_RESPONSE: Final = ("pass_rate", "weighted_score", "normalized_score", "primary_score", "scaled_score_1_5")
"""The scores that every response has."""

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys((*OF_RESPONSE, "micro_pass_rate"), (0.0, 1.0)),
    "scaled_score_1_5": (1.0, 5.0),
}
"""Score -> between which numbers it lies."""

NOTHING_APPLIES: Final = "the checklist applies to no response"

PRIMARY_SCORES: Final[Mapping[Metric, PrimaryScore]] = {
    "pass": "pass_rate",
    "weighted": "weighted_score",
    "normalized": "normalized_score",
}


@dataclass(frozen=True, slots=True)
class ChecklistResult:
    """The result of one response by a checklist.

    Attributes:
        checklist: The checklist as it was asked, with N/A if that was offered.
        items: The result of each item, in the checklist's order.
        scores: All scores, with the counts behind them.
        asked_metric: The primary metric that was asked for.
        ends: The scores if every missing answer had been no, and yes.
    """

    checklist: Checklist
    items: tuple[ItemResult, ...]
    scores: ChecklistScore
    asked_metric: Metric
    ends: tuple[ChecklistScore, ChecklistScore]

    @classmethod
    def of(cls, checklist: Checklist, verdicts: Sequence[Verdict], metric: Metric, rules: VoteRules) -> Self:
        """Return the result of one verdict per item, in the checklist's order."""
        primary = PRIMARY_SCORES[metric]
        items = item_results(verdicts, checklist, rules=rules)
        ends = possible_ends(items, primary=primary)
        return cls(checklist, items, score_items(items, primary=primary), metric, ends)

    @property
    def score(self) -> float | None:
        """The primary score; None if there is none."""
        return self.scores.primary_score

    @property
    def label(self) -> None:
        """None: a checklist has no label of its own."""

    @property
    def reason(self) -> str | None:
        """The judge's reasons, one line per item."""
        return join_reasons({each.item.name: each.reasoning for each in self.items})

    @property
    def answers(self) -> dict[str, Answer | None]:
        """The name of each item -> ``yes``, ``no`` or ``na``; None if it is unanswered."""
        return {each.item.name: each.answer for each in self.items}

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The primary score if every missing answer had been no, and yes; None if no answer would give one."""
        return self.limits("primary_score")

    def limits(self, name: str) -> tuple[float, float] | None:
        """Return the limits of any score; None if it has no value."""
        low, high = (getattr(end, name) for end in self.ends)
        return None if low is None or high is None else (low, high)

    @property
    def primary_metric(self) -> Metric | None:
        """The metric of the primary score; None without a score."""
        return None if self.scores.primary_score is None else self.asked_metric

    @property
    def weighted_score_reason(self) -> str | None:
        """Why there is no weighted score; None if there is one."""
        if self.scores.weighted_score is not None:
            return None
        return "no item is answered" if not self.scores.answered else "the total weight of the answered items is 0"

    @property
    def na(self) -> bool:
        """Whether the checklist does not apply: every item is NA."""
        return self.scores.na == len(self.items)

    @property
    def unscored_reason(self) -> ItemReason | None:
        """Why there is no primary score: the most frequent reason of items without an answer, or ``no_value``."""
        if self.scores.primary_score is not None or self.na:
            return None
        reasons = [result.reason for result in self.items if result.answer is None and result.reason is not None]
        if not reasons:
            return "no_value"
        return max(reasons, key=reasons.count)

    @property
    def category_pass_rates(self) -> dict[str, float | None]:
        """Category -> yes / answered; None if nothing is answered."""
        return category_pass_rates([each.answer for each in self.items], [each.item.category for each in self.items])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each item's own question."""
        return tuple(result.verdict for result in self.items)

    def record(self) -> dict[str, Any]:
        """Return the scores and the counts behind them, as a flat row."""
        return {
            **{name: getattr(self.scores, name) for name in OF_RESPONSE},
            "primary_metric": self.primary_metric,
            "unscored_reason": self.unscored_reason,
        }

    def counts(self) -> dict[str, int]:
        """Count the items by answer."""
        return {name: getattr(self.scores, name) for name in ("yes", "no", "na", "answered", "unanswered")}


def item_record(result: ItemResult) -> dict[str, Any]:
    """Return one item of one response, as a flat row."""
    return {
        "question": result.item.question,
        "category": result.item.category,
        "weight": result.item.weight,
        "answer": result.answer,
        "judged": result.judged,
        "reason": result.reason,
        "confidence": result.confidence,
        "confidence_level": result.confidence_level,
        "covered_mass": result.covered_mass,
        "reasoning": result.reasoning,
        "position_consistent": result.verdict.position_consistent,
        "agreement": result.verdict.agreement,
    }


OWN_OPTIONS: Final = tuple(name for name in ChecklistOptions.model_fields if name not in RunOptions.model_fields)
"""The options of a checklist that are not those of any run."""

_PROMPTS: Final[Mapping[tuple[CheckMode, bool], str]] = {
    ("batch", False): "checklist_sheet",
    ("batch", True): "checklist_sheet",
    ("item", False): "checklist_item",
    ("item", True): "checklist_item_reasoned",
}
"""Mode and whether reasons are asked for -> our prompt."""


@dataclass(frozen=True)
class ChecklistMode(Mode[ChecklistResult]):
    """How a checklist is put to judges. A subject is judged by a checklist."""

    options: ChecklistOptions

    kind: ClassVar = "checklist"
    function: ClassVar = "checklist"

    run_defaults: ClassVar = MappingProxyType({"check_positional_bias": False})

    def __post_init__(self) -> None:
        self.rules.check("binary")
        in_one_call = self.options.mode == "batch"
        self.flow.check_prompt("check" if in_one_call else "assess", sheet=in_one_call)

    @cached_property
    def flow(self) -> Flow:
        """How a judge is asked: as the mode of the checklist and its reasons say.

        Raises:
            InvalidPromptError: If the prompt is that of another way to ask.
        """
        mode, reasoning, prompt = self.options.mode, self.options.capture_reasoning, self.options.prompt
        ours = _PROMPTS[mode, reasoning]
        if prompt is not None and is_prompt_name(prompt) and prompt != ours:
            raise InvalidPromptError(
                f"prompt is {prompt!r}; with mode={mode!r} and capture_reasoning={reasoning!r} the prompt is {ours!r}, "
                "or the text of one of your own"
            )
        return Flow.of(
            self.options,
            flow="one_step" if mode == "item" and reasoning else "verdict_only",
            reasoning=reasoning,
            logprobs=TOP_LOGPROBS if self.asks_logprobs else 0,
            prompt=prompt or ours,
        )

    @property
    def asks_logprobs(self) -> bool:
        """Whether judges are asked for log-probabilities: by default where the primary metric needs them."""
        asked = self.options.use_logprobs
        return self.options.primary_metric == "normalized" if asked is None else asked

    def offered(self, checklist: Checklist) -> Checklist:
        """Return the checklist with N/A offered as it is allowed."""
        if self.options.allow_na is None:
            return checklist
        items = tuple(item.model_copy(update={"na": self.options.allow_na}) for item in checklist.items)
        return checklist.model_copy(update={"items": items})

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return one question per item; none about a response that is missing.

        Args:
            about: The one response, and the checklist as it was :meth:`offered`. Its name tells the response from
                others of the row; it is empty if there are none.
        """
        checklist: Checklist = about.judged
        (name,) = about.texts
        if not about.responses:
            return ()
        how: dict[str, Any] = {"mode": "assess"}
        if self.options.mode == "batch":
            sheet = " / ".join(filter(None, (name, checklist.name)))
            how = {"mode": "check", "sheet": sheet, "sheet_size": len(checklist.items)}
        return tuple(
            about.question(
                "/".join(filter(None, (about.named, name, item.name))),
                item.as_criterion(),
                about.responses,
                **how,
            )
            for item in checklist.items
        )

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> ChecklistResult:
        """Return the result of the votes on each item."""
        rules, checklist = self.rules, about.judged
        verdicts = [
            rules.aggregate(cast, item.as_criterion()) if cast else MISSING_RESPONSE
            for item, cast in zip(checklist.items, votes or [()] * len(checklist.items), strict=True)
        ]
        return ChecklistResult.of(checklist, verdicts, self.options.primary_metric, rules)

    def record(self, about: Subject, result: ChecklistResult) -> dict[str, Any]:
        """Return the score, the number of items by answer, and the items."""
        del about
        return {**result.record(), **result.counts(), "items": [item_record(item) for item in result.items]}

    def cells(self, about: Subject, result: ChecklistResult, place: int) -> VoteCells:
        """Give one cell per item."""
        return self.vote_cells(about, [verdict.votes for verdict in result.verdicts], place)

    def vote_cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> VoteCells:
        """Give one cell per item."""
        named = {"instance": about.instance, "system": system_of(about), "checklist": place}
        for item, cast in zip(about.judged.items, votes or [()] * len(about.judged.items), strict=True):
            yield {**named, "item": item.name, "gold": about.gold.get(item.name), "cluster": about.cluster}, cast

    @property
    def saved_as(self) -> str:
        """The kind of the Python function's results."""
        return "checklist"

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the checklists."""
        return {"systems": [*systems], "checklists": [each.model_dump(mode="json") for each in judged]}

    def measures(
        self, subjects: Sequence[Subject], results: Sequence[ChecklistResult], level: Level
    ) -> ChecklistReport:
        """Return the measures; see :func:`report_checklists`."""
        del subjects
        return report_checklists(results, level=level, seed=self.options.seed)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a result, as plain JSON."""
        own = {name: getattr(self.options, name) for name in OWN_OPTIONS}
        return {**own, "use_logprobs": self.asks_logprobs, **self.run_parameters()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """One question over all responses that it was asked about.

    Attributes:
        label: The item's name; its question if it has none, or if names do not distinguish the questions.
        question: The question.
        category: The category of the item; empty for none.
        weight: The weight of the item; None if it differs between checklists.
        asked: Responses that it was asked about.
        yes: The number of responses that met it.
        no: The number of responses that did not.
        na: The number of responses to which it does not apply.
        unanswered: The number of responses without an answer to it.
        by_prerequisite: The number of ``no`` that are due to a prerequisite alone.
        pass_rate: yes / (yes + no).
        confidence: The mean probability of yes over the responses where it is known.
        discrimination: The correlation with the share passed of the other items (see
            :func:`~evenhand.statistics.correlation.item_rest_correlations`).
        unscored_bounds_of: Score -> its bounds, if too many votes are unscored for the mean to lead.
        unscored_counts: The unscored votes on it.
    """

    label: str
    question: str
    category: str
    weight: float | None
    asked: int = measure("count")
    yes: int = measure("count")
    no: int = measure("count")
    na: int = measure("count")
    unanswered: int = measure("count")
    by_prerequisite: int = measure("count")
    pass_rate: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    confidence: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    discrimination: Interval | Missing = measure("number", always=True)
    unscored_bounds_of: Bounds
    unscored_counts: UnscoredCounts

    @property
    def finding(self) -> str | None:
        """``all pass``, ``all fail``, or why there is no discrimination; None if there is one."""
        return self.discrimination.reason if isinstance(self.discrimination, Missing) else None


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """The items of one category.

    Attributes:
        category: Its name; ``ungrouped`` for items without one.
        pass_rate: yes / answered over all responses (micro: every answer counts the same, while the pass rate of the
            checklist is the mean over responses).
        answered: Answers yes or no.
        unscored_bounds: The bounds of the pass rate, if too many votes are unscored for the mean to lead; else None.
    """

    category: str
    pass_rate: Interval | Missing = measure("score", always=True, bounds="unscored_bounds")
    answered: int = measure("count")
    unscored_bounds: UnscoredBounds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistReport(ReplyMeasures):
    """The report on the checklists of ``num_instances`` responses. Intervals are over responses.

    Attributes:
        num_instances: The number of responses.
        unscored_bounds_of: Score -> its bounds, for scores with too many unscored votes for the mean to lead.
        num_unscored: Responses without a primary score to which some item applies.
        num_partial: Responses with some items unanswered, whose score uses the other items only.
        num_na: Responses to which no item applies.
        primary_score: The mean primary score.
        pass_rate: The mean of the responses' pass rates (the macro pass rate).
        micro_pass_rate: All yes / all answered.
        weighted_score: The mean weighted score.
        normalized_score: The mean normalized score.
        scaled_score_1_5: The mean scaled score, between 1 and 5.
        answered_share: Items with an answer, NA being one, / all items.
        positional_bias: The share of items shown in several orders whose answer was not always the same.
        agreement: The mean share of the votes on an item that equal its verdict, over items with more than one vote.
        spread: The mean standard deviation of repeated draws.
        score_if_unscored_0: The mean primary score if every missing answer had been no.
        score_if_unscored_1: The mean primary score if every missing answer had been yes.
        answered: Items answered yes or no.
        na: Items that do not apply.
        unanswered: Items without an answer.
        unanswered_reasons: Reason -> number of items.
        items: One report per question, in the order of first appearance.
        categories: One report per category, in the order of first appearance.
    """

    primary_score: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    pass_rate: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    weighted_score: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    normalized_score: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    scaled_score_1_5: Interval | Missing = measure("score", always=True, bounds="unscored_bounds_of")
    micro_pass_rate: Interval | Missing = measure("score", bounds="unscored_bounds_of")
    answered_share: Interval | Missing = measure("share")
    positional_bias: Interval | Missing = measure("share")
    agreement: Interval | Missing = measure("share")
    spread: Interval | Missing = measure("score")
    num_instances: int
    num_unscored: int = measure("count")
    num_partial: int = measure("count")
    num_na: int = measure("count")
    answered: int = measure("count", name="num_answered_items")
    na: int = measure("count", name="num_na_items")
    unanswered: int = measure("count", name="num_unanswered_items")
    unanswered_reasons: Mapping[str, int] = measure("count", name="unanswered_items")
    score_if_unscored_0: float | Missing = measure("score", always=True)
    score_if_unscored_1: float | Missing = measure("score", always=True)
    items: tuple[ItemReport, ...]
    categories: tuple[CategoryReport, ...]
    unscored_bounds_of: Bounds

    @property
    def unscored_bounds(self) -> UnscoredBounds | None:
        """The bounds of the primary score, where too many votes are unscored for the mean to lead; else None."""
        return self.unscored_bounds_of.get("primary_score")

    @property
    def macro_pass_rate(self) -> Interval | Missing:
        """The mean of the responses' pass rates: ``pass_rate`` by its other name."""
        return self.pass_rate


SCORES: Final = {
    "primary_score": "no response has a primary score",
    "pass_rate": "no response has an answered item",
    "weighted_score": "the answered items weigh nothing",
    "normalized_score": "no response has a mean over draws",
}
"""The scores of a response, and why there may be none."""

RATES: Final = {
    "micro_pass_rate": "no item is answered",
    "answered_share": "there are no items",
    "positional_bias": "no item was read in two orders",
    "agreement": "no item has two votes",
}
"""Rates over all items of all responses, and why there may be none."""


def report_checklists(results: Sequence[ChecklistResult], *, level: Level = 0.95, seed: int = 0) -> ChecklistReport:
    """Report on many responses, with intervals over responses, or over their clusters.

    Args:
        results: One per response, with all its items and votes.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        seed: The seed of the draws for the intervals of discriminations.
    """
    scored = _columns([[getattr(result.scores, name) for name in SCORES] for result in results], len(SCORES))
    scores = mean_intervals(scored, level=level)
    scaled = _columns([[result.scores.scaled_score_1_5] for result in results], 1)
    rates = ratio_intervals(*_shares([_counts(result) for result in results], len(RATES)), level=level)
    spreads = _shares([[_sum_and_count(item.verdict.spread for item in result.items)] for result in results], 1)
    bounds = [result.bounds for result in results if result.bounds is not None]
    unlimited = Missing(NOTHING_APPLIES if all(result.na for result in results) else SCORES["primary_score"])
    lows, highs = zip(*bounds, strict=True) if bounds else ((), ())
    unanswered = Counter(item.reason for result in results for item in result.items if item.reason and not item.answer)
    named: dict[str, Any] = {
        name: known(interval, reason)
        for (name, reason), interval in zip((SCORES | RATES).items(), (*scores, *rates), strict=True)
    }
    ends = RANGES["scaled_score_1_5"]
    (scaled_score,) = mean_intervals(scaled, level=level, bounds=ends)
    limits = {name: [result.limits(name) for result in results] for name in (*SCORES, "scaled_score_1_5")}
    led = {name: unscored_bounds(one, limits[name], level=level) for name, one in zip(SCORES, scores, strict=True)}
    led["scaled_score_1_5"] = unscored_bounds(scaled_score, limits["scaled_score_1_5"], level=level, bounds=ends)
    every = [(row, item) for row, result in enumerate(results) for item in result.items]
    led["micro_pass_rate"] = _unscored_rate(rates[0], every, len(results), level=level)
    return ChecklistReport(
        **named,
        scaled_score_1_5=known(scaled_score, SCORES["pass_rate"]),
        spread=known(ratio_intervals(*spreads, level=level, bounds=(0.0, 0.5))[0], "nothing was drawn twice"),
        num_instances=len(results),
        num_unscored=sum(result.scores.primary_score is None and not result.na for result in results),
        num_partial=sum(result.scores.answered > 0 and result.scores.unanswered > 0 for result in results),
        num_na=sum(result.na for result in results),
        answered=sum(result.scores.answered for result in results),
        na=sum(result.scores.na for result in results),
        unanswered=sum(result.scores.unanswered for result in results),
        unanswered_reasons=MappingProxyType(dict(sorted(unanswered.items()))),
        score_if_unscored_0=float(np.mean(lows)) if bounds else unlimited,
        score_if_unscored_1=float(np.mean(highs)) if bounds else unlimited,
        items=_item_reports(results, level=level, seed=seed),
        categories=_category_reports(results, level=level),
        unscored_bounds_of=_leading(led),
        **reply_measures(
            [verdict.votes for result in results for verdict in result.verdicts],
            rows=np.repeat(np.arange(len(results)), [len(result.verdicts) for result in results]),
            level=level,
        ),
    )


def _leading(bounds: Mapping[str, UnscoredBounds | None]) -> Bounds:
    return MappingProxyType({name: each for name, each in bounds.items() if each is not None})


def _item_limits(item: ItemResult) -> tuple[float, float] | None:
    """Return whether the item is met if every missing answer was no, and yes; None if it does not apply."""
    low, high = (_MET.get(answer) for answer in item.possible or (item.answer, item.answer))
    return None if low is None or high is None else (low, high)


def _unscored_rate(
    rate: Interval | None, cells: Sequence[tuple[int, ItemResult]], n_results: int, *, level: Level
) -> UnscoredBounds | None:
    """Return the bounds of yes / answered over items, each with the row of its response, if these lead."""
    labels = IntervalLevel.of(level).labels(n_results)
    over = IntervalLevel.of(level).over([int(labels[row]) for row, _ in cells])
    return unscored_bounds(rate, [_item_limits(item) for _, item in cells], level=over, unit="items")


def _columns(rows: Sequence[Sequence[float | None]], width: int) -> FloatArray:
    """Return rows as statistics take them: NaN for a missing number."""
    return np.array(rows, dtype=float).reshape(len(rows), width)


def _shares(counts: Sequence[Sequence[tuple[float, float]]], width: int) -> tuple[FloatArray, FloatArray]:
    """Return numerators and denominators, each (n_results, n_shares)."""
    table = np.array(counts, dtype=float).reshape(len(counts), width, 2)
    return table[:, :, 0], table[:, :, 1]


def _sum_and_count(values: Iterable[float | None]) -> tuple[float, float]:
    present = [value for value in values if value is not None]
    return float(sum(present)), float(len(present))


def _counts(result: ChecklistResult) -> tuple[tuple[float, float], ...]:
    """Return the numerator and denominator of each of :data:`RATES`."""
    scores, verdicts = result.scores, result.verdicts
    return (
        (scores.yes, scores.answered),
        (scores.answered + scores.na, len(verdicts)),
        _sum_and_count(None if each.position_consistent is None else not each.position_consistent for each in verdicts),
        _sum_and_count(each.agreement for each in verdicts if len(each.votes) > 1),
    )


_Question = tuple[str, str]
_Cells = dict[int, ItemResult]


def _item_reports(results: Sequence[ChecklistResult], *, level: Level, seed: int) -> tuple[ItemReport, ...]:
    found: dict[_Question, _Cells] = {}
    shared = len({result.checklist.name for result in results}) <= 1 and _alike(results)
    for row, result in enumerate(results):
        for item in result.items:
            key = (item.item.name if shared else "", " ".join(item.item.question.split()))
            found.setdefault(key, {}).setdefault(row, item)
    passed = _by_item(found, len(results), _met)
    confidences = _by_item(found, len(results), lambda item: item.confidence)
    rates = mean_intervals(passed, level=level)
    sure = mean_intervals(confidences, level=level)
    telling = item_rest_correlations(passed, level=level, seed=seed)
    return tuple(
        _item_report(label, by_row, intervals, _item_unscored(by_row, len(results), *intervals[:2], level=level))
        for label, by_row, *intervals in zip(_labels(found), found.values(), rates, sure, telling, strict=True)
    )


def _by_item(
    found: Mapping[_Question, _Cells], n_results: int, number: Callable[[ItemResult], float | None]
) -> FloatArray:
    """Return shape (n_results, n_items), NaN for a missing number, as for the items of other responses."""
    table = np.full((n_results, len(found)), np.nan)
    for column, cells in enumerate(found.values()):
        table[list(cells), column] = [number(item) for item in cells.values()]
    return table


def _alike(results: Sequence[ChecklistResult]) -> bool:
    """Return whether an item's name means the same question in every checklist."""
    questions: dict[str, str] = {}
    return all(
        questions.setdefault(item.name, item.question) == item.question
        for result in results
        for item in result.checklist.items
    )


def _labels(found: Mapping[_Question, _Cells]) -> list[str]:
    """Return names if they distinguish the questions and are more than numbers, else the questions."""
    names = [sorted({item.item.name for item in cells.values()}) for cells in found.values()]
    times = Counter(name for given in names for name in given)
    return [
        given[0] if len(given) == 1 and times[given[0]] == 1 and not given[0].isdigit() else question
        for given, (_, question) in zip(names, found, strict=True)
    ]


_MET: Final[Mapping[str | None, float]] = {"yes": 1.0, "no": 0.0}


def _met(item: ItemResult) -> float | None:
    return _MET.get(item.answer)


def _item_unscored(
    by_row: _Cells, n_results: int, pass_rate: Interval | None, confidence: Interval | None, *, level: Level
) -> Bounds:
    """Return the leading bounds of an item's scores; a confidence has some if that of another response is known."""
    if all(item.possible is None for item in by_row.values()):
        return MappingProxyType({})
    places = [by_row.get(row) for row in range(n_results)]
    met = [None if item is None else _item_limits(item) for item in places]
    sure = [None if item is None else _confidence_limits(item) for item in places]
    led = {"pass_rate": unscored_bounds(pass_rate, met, level=level)}
    if confidence is not None:
        led["confidence"] = unscored_bounds(confidence, sure, level=level)
    return _leading(led)


def _confidence_limits(item: ItemResult) -> tuple[float, float] | None:
    """Return the limits of its confidence; None too if an answer that was read has none."""
    if _item_limits(item) is None or (item.answer is not None and item.confidence is None):
        return None
    one = item.confidence
    return item.possible_confidences if item.possible is not None or one is None else (one, one)


def _item_report(label: str, by_row: _Cells, intervals: Sequence[Interval | None], bounds: Bounds) -> ItemReport:
    pass_rate, confidence, discrimination = intervals
    cells = list(by_row.values())
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
        pass_rate=known(pass_rate, "no answer"),
        confidence=known(confidence, "no confidence is known"),
        discrimination=known(discrimination, _finding(answers["yes"], answers["no"])),
        unscored_bounds_of=bounds,
        unscored_counts=UnscoredCounts.of(VoteColumns.of([item.verdict.votes for item in cells]), list(by_row)),
    )


def _finding(yes: int, no: int) -> str:
    if yes + no == 0:
        return "no answer"
    if no == 0:
        return "all pass"
    return "all fail" if yes == 0 else "too little to compare with"


def _category_reports(results: Sequence[ChecklistResult], *, level: Level) -> tuple[CategoryReport, ...]:
    categories = list(dict.fromkeys(item.item.category or UNGROUPED for result in results for item in result.items))
    place = {category: column for column, category in enumerate(categories)}
    yes, answered = np.zeros((2, len(results), len(categories)))
    cells: dict[str, list[tuple[int, ItemResult]]] = {category: [] for category in categories}
    for row, result in enumerate(results):
        for item in result.items:
            cells[item.item.category or UNGROUPED].append((row, item))
            if (met := _met(item)) is not None:
                column = place[item.item.category or UNGROUPED]
                yes[row, column] += met
                answered[row, column] += 1
    rates = ratio_intervals(yes, answered, level=level)
    return tuple(
        CategoryReport(
            category,
            known(rate, "no answer"),
            int(total),
            _unscored_rate(rate, cells[category], len(results), level=level),
        )
        for category, rate, total in zip(categories, rates, answered.sum(axis=0), strict=True)
    )
