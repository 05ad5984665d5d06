"""Checklists: the questions to judges, the result of a response, and the report on many responses with its tables.

:class:`ChecklistMode` is where to begin; :class:`ChecklistAnalysis` is the result of :func:`evenhand.checklist`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

import numpy as np

from evenhand.aggregation.scores import (
    Answer,
    ChecklistScore,
    ItemReason,
    ItemResult,
    PrimaryScore,
    category_pass_rates,
    item_results,
    score_items,
)
from evenhand.aggregation.verdict import VoteRules, check_mean_over_draws
from evenhand.criteria import Checklist, Criterion
from evenhand.data.plain import by_key
from evenhand.judging.conversation import TOP_LOGPROBS, Flow
from evenhand.modes.mode import JudgedSubject, Mode, Subject, check_whole, join_reasons, subject_name, system_of
from evenhand.numbers import (
    Missing,
    UnscoredBounds,
    format_count,
    format_interval,
    format_level,
    format_score,
    measure,
    or_missing,
)
from evenhand.options import ChecklistMetric as Metric
from evenhand.options import ChecklistOptions, RunOptions
from evenhand.question import Question
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Measure,
    Outcome,
    Outcomes,
    Reported,
    UnscoredCounts,
    measures_table,
    unscored_bounds_notes,
)
from evenhand.results.render import TextTable
from evenhand.results.results import Analysis, with_votes
from evenhand.results.vote_columns import Cell, VoteColumns
from evenhand.scoring import (
    VoteMeasures,
    bounded_mean,
    differences_tables,
    means_if_unscored,
    reported_differences,
    scored_rows,
    system_differences,
    vote_measures,
)
from evenhand.statistics import Interval
from evenhand.statistics.intervals import IntervalLevel, Level, unscored_bounds
from evenhand.statistics.ranking import PairedDifference
from evenhand.votes import Verdict, Vote

Bounds = Mapping[str, UnscoredBounds | None]

OF_RESPONSE: Final = ("pass_rate", "weighted_score", "normalized_score", "primary_score", "scaled_score_1_5")
"""The scores of a response."""

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys((*OF_RESPONSE, "micro_pass_rate"), (0.0, 1.0)),
    "scaled_score_1_5": (1.0, 5.0),
}
"""Score -> between which numbers it lies."""

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
    def of(cls, checklist: Checklist, votes: Sequence[Sequence[Vote]], metric: Metric, rules: VoteRules) -> Self:
        """Return the result of the votes on each item, in the checklist's order; without votes there is no response."""
        primary = PRIMARY_SCORES[metric]
        asked = zip(votes, checklist.items, strict=True)
        items = item_results(
            [rules.aggregate(cast, item.as_criterion()) for cast, item in asked], checklist, rules=rules
        )
        scores, *ends = (score_items(items, primary=primary, end=end) for end in (None, 0, 1))
        return cls(checklist, items, scores, metric, (ends[0], ends[1]))

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
        return join_reasons({each.item.name: each.verdict.assessment for each in self.items})

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
            "primary_metric": None if self.score is None else self.asked_metric,
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
        "reasoning": result.verdict.assessment,
        "position_consistent": result.verdict.position_consistent,
        "agreement": result.verdict.agreement,
    }


OWN_OPTIONS: Final = tuple(name for name in ChecklistOptions.model_fields if name not in RunOptions.model_fields)
"""The options of a checklist that are not those of any run."""


@dataclass(frozen=True)
class ChecklistMode(Mode[ChecklistResult]):
    """How a checklist is put to judges. A subject is judged by a checklist."""

    options: ChecklistOptions

    kind: ClassVar = "checklist"
    function: ClassVar = "checklist"
    saved_as: ClassVar = "checklist"

    run_defaults: ClassVar = MappingProxyType({"check_positional_bias": False})

    def __post_init__(self) -> None:
        self.rules.check("binary")
        in_one_call = self.options.mode == "batch"
        self.flow.check_prompt("check" if in_one_call else "assess", sheet=in_one_call)

    @cached_property
    def flow(self) -> Flow:
        """How a judge is asked: as the mode of the checklist and its reasons say."""
        in_one_call, reasoning = self.options.mode == "batch", self.options.capture_reasoning
        of_item = "checklist_item_reasoned" if reasoning else "checklist_item"
        return Flow.of(
            self.options,
            flow="one_step" if reasoning and not in_one_call else "verdict_only",
            reasoning=reasoning,
            logprobs=TOP_LOGPROBS if self.asks_logprobs else 0,
            prompt=self.options.prompt or ("checklist_sheet" if in_one_call else of_item),
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
        sheet = " / ".join(filter(None, (name, checklist.name)))
        in_one_call = {"mode": "check", "sheet": sheet, "sheet_size": len(checklist.items)}
        how: dict[str, Any] = in_one_call if self.options.mode == "batch" else {}
        return tuple(
            about.question(
                "/".join(filter(None, (about.row_name, name, item.name))), item.as_criterion(), about.responses, **how
            )
            for item in (checklist.items if about.responses else ())
        )

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> ChecklistResult:
        """Return the result of the votes on each item."""
        cast = votes or [()] * len(about.judged.items)
        return ChecklistResult.of(about.judged, cast, self.options.primary_metric, self.rules)

    def cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> Iterator[Cell]:
        """Give one cell per item."""
        fields = {"instance": about.instance, "system": system_of(about), "checklist": place}
        for item, cast in zip(about.judged.items, votes or [()] * len(about.judged.items), strict=True):
            own = {"item": item.name, "gold": about.gold.get(item.name), "cluster": about.cluster}
            yield Cell({**fields, **own}, tuple(cast))

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the checklists."""
        return {"systems": [*systems], "checklists": [each.model_dump(mode="json") for each in judged]}

    def measures(
        self, subjects: Sequence[Subject], results: Sequence[ChecklistResult], level: Level
    ) -> ChecklistReport:
        """Return the measures; see :func:`report_checklists`."""
        del subjects
        return report_checklists(results, level=level)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a result, as plain JSON."""
        own = {name: getattr(self.options, name) for name in OWN_OPTIONS}
        return {**own, "use_logprobs": self.asks_logprobs, **self.run_parameters()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """One question over all responses that it was asked about.

    Attributes:
        label: The item's name; its question if it has none, or if responses have checklists of their own.
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
        unscored_bounds_of: Score -> its bounds, if too many votes are unscored for the mean to lead; else None.
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
    unscored_bounds_of: Bounds
    unscored_counts: UnscoredCounts

    @property
    def finding(self) -> str | None:
        """``all pass``, ``all fail``, or ``no answer``; None if some pass and some fail."""
        found = {(True, False): "all pass", (False, True): "all fail", (False, False): "no answer"}
        return found.get((self.yes > 0, self.no > 0))


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
class ChecklistReport(VoteMeasures):
    """The report on the checklists of ``num_instances`` responses. Intervals are over responses.

    Attributes:
        num_instances: The number of responses.
        unscored_bounds_of: Score -> its bounds, if too many votes are unscored for the mean to lead; else None.
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


RATES: Final = ("micro_pass_rate", "answered_share", "positional_bias", "agreement")
"""Rates over all items of all responses."""


def report_checklists(results: Sequence[ChecklistResult], *, level: Level = 0.95) -> ChecklistReport:
    """Report on many responses, with intervals over responses, or over their clusters.

    Args:
        results: One per response, with all its items and votes.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
    """
    items = [(row, item) for row, result in enumerate(results) for item in result.items]
    rows = np.array([row for row, _ in items], dtype=np.int64)
    found = {
        name: bounded_mean(
            [getattr(result.scores, name) for result in results],
            [result.limits(name) for result in results],
            level=level,
            bounds=RANGES[name],
        )
        for name in OF_RESPONSE
    }
    categories = by_key((item.category, (row, item)) for row, item in items)
    measures, (micro, answered, *rates) = vote_measures(
        [item.verdict for _, item in items],
        [item.met for _, item in items],
        [float(item.answer is not None) for _, item in items],
        *([item.met if item.category == name else None for _, item in items] for name in categories),
        rows=rows,
        level=level,
    )
    answers = Counter(item.answer for _, item in items)
    reasons = Counter(str(item.reason) for _, item in items if item.answer is None)
    scores: dict[str, Any] = {name: or_missing(mean, "no response has one") for name, (mean, _) in found.items()}
    led = {name: bounds for name, (_, bounds) in found.items()}
    led["micro_pass_rate"] = _unscored_rate(micro, items, len(results), level=level)
    return ChecklistReport(
        **scores,
        micro_pass_rate=or_missing(micro, "no item is answered"),
        answered_share=or_missing(answered, "there are no items"),
        num_instances=len(results),
        num_unscored=sum(result.scores.primary_score is None and not result.na for result in results),
        num_partial=sum(result.scores.answered > 0 and result.scores.unanswered > 0 for result in results),
        num_na=sum(result.na for result in results),
        answered=answers["yes"] + answers["no"],
        na=answers["na"],
        unanswered=answers[None],
        unanswered_reasons=MappingProxyType(dict(sorted(reasons.items()))),
        **means_if_unscored([result.bounds for result in results if result.bounds is not None]),
        items=_item_reports(results, level=level),
        categories=tuple(
            CategoryReport(
                name,
                or_missing(rate, "no answer"),
                sum(item.met is not None for _, item in own),
                _unscored_rate(rate, own, len(results), level=level),
            )
            for (name, own), rate in zip(categories.items(), rates, strict=True)
        ),
        unscored_bounds_of=MappingProxyType(led),
        **measures,
    )


def _unscored_rate(
    rate: Interval | None, items: Sequence[tuple[int, ItemResult]], n_results: int, *, level: Level
) -> UnscoredBounds | None:
    """Return the bounds of yes / answered over items, each with the row of its response, if these lead."""
    labels = IntervalLevel.of(level).labels(n_results)
    over = IntervalLevel.of(level).over([int(labels[row]) for row, _ in items])
    return unscored_bounds(rate, [item.possible_met for _, item in items], level=over, unit="items")


def _item_reports(results: Sequence[ChecklistResult], *, level: Level) -> tuple[ItemReport, ...]:
    """Report each question: the items of the same name where all responses share a checklist, else of the same text."""
    found: dict[str, dict[int, ItemResult]] = {}
    shared = all(result.checklist == results[0].checklist for result in results)
    for row, result in enumerate(results):
        for item in result.items:
            key = item.item.name if shared else " ".join(item.item.question.split())
            found.setdefault(key, {}).setdefault(row, item)
    reports = []
    for by_row in found.values():
        asked = list(by_row.values())
        met, possible, sure, within = (
            [getattr(by_row.get(row), name, None) for row in range(len(results))]
            for name in ("met", "possible_met", "confidence", "sure_within")
        )
        pass_rate, unscored = bounded_mean(met, possible, level=level)
        confidence, unsure = bounded_mean(sure, within, level=level)
        answers, weights, first = Counter(item.answer for item in asked), {item.item.weight for item in asked}, asked[0]
        has_name = shared and not first.item.name.isdigit()
        reports.append(
            ItemReport(
                label=first.item.name if has_name else " ".join(first.item.question.split()),
                question=first.item.question,
                category=first.item.category,
                weight=weights.pop() if len(weights) == 1 else None,
                asked=len(asked),
                yes=answers["yes"],
                no=answers["no"],
                na=answers["na"],
                unanswered=answers[None],
                by_prerequisite=sum(item.reason == "prerequisite" for item in asked),
                pass_rate=or_missing(pass_rate, "no answer"),
                confidence=or_missing(confidence, "no confidence is known"),
                unscored_bounds_of=MappingProxyType(
                    {"pass_rate": unscored, "confidence": unsure if confidence else None}
                ),
                unscored_counts=UnscoredCounts.of(VoteColumns.of([item.verdict.votes for item in asked]), list(by_row)),
            )
        )
    return tuple(reports)


_MICRO: Final = (
    "Here and in the table of questions every answer counts the same (micro); the score of a system is a mean over "
    "responses (macro)."
)


class ChecklistAnalysis(Analysis):
    """The result of :func:`evenhand.checklist`: every verdict, the scores of each response, and a report per system."""

    kind: ClassVar = "checklist"
    judged: ClassVar = ("systems", "checklists")
    names: ClassVar = ("instance", "system")
    compared: ClassVar = ("primary_score", "primary_score")
    agreement_by: ClassVar = ("system",)
    same_rows: ClassVar = ("system",)
    labelled_by: ClassVar = ("system", "item")
    further_ranges: ClassVar = RANGES

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check that the systems have the same rows, and each response all items of its checklist."""
        items = [[item["name"] for item in each["items"]] for each in header["checklists"]]
        check_whole(abouts, "item", lambda own: items[own[0]["checklist"]])
        return super().check(header, abouts)

    def read(self, cells: Iterable[Cell]) -> Iterator[JudgedSubject]:
        """Make a response of the cells on its items."""
        for (system, instance), grouped in groupby(cells, lambda cell: subject_name(cell.about)):
            own = list(grouped)
            about, votes = own[0].about, tuple(cell.votes for cell in own)
            checklist = self.checklists[about["checklist"]]
            gold = {cell.about["item"]: cell.about["gold"] for cell in own}
            subject = Subject(instance, {system: None}, judged=checklist, cluster=about["cluster"], gold=gold)
            result = ChecklistResult.of(checklist, votes, self.parameters["primary_metric"], self.rules)
            yield JudgedSubject(subject, system, votes, result)

    @cached_property
    def checklists(self) -> tuple[Checklist, ...]:
        """The checklists as they were asked; one unless each row had its own."""
        return tuple(map(Checklist.model_validate, self.header["checklists"]))

    @property
    def results(self) -> tuple[ChecklistResult, ...]:
        """The result of each response."""
        return tuple(response.result for response in self.entries)

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the primary score of each system, and its answers to each item of a checklist that all rows share."""
        found = []
        shared = self.checklists[0] if len(self.checklists) == 1 else None
        name = "checklist" if shared is None else shared.name
        for system, own in self.by_system.items():
            rows = [
                Outcome(
                    each.instance,
                    tuple((each.instance, system, item.name) for item in each.result.checklist.items),
                    each.result.score,
                    na=each.result.na,
                    cluster=each.cluster,
                )
                for each in own
            ]
            found.append(Outcomes(system, name, tuple(rows)))
            for place, item in enumerate(() if shared is None else shared.items):
                answers = [
                    Outcome.of_verdict((each.instance, system, item.name), each.result.verdicts[place], each.cluster)
                    for each in own
                ]
                found.append(Outcomes.by(item.as_criterion(), answers, system=system, part_of=name))
        return tuple(found)

    def reported(self) -> Iterator[Reported]:
        """Return, per system, the primary score under the name of the checklist, other scores, items and categories."""
        name = self.checklists[0].name if len(self.checklists) == 1 else "checklist"
        for system, report in self.reports.items():
            n, counts = report.num_instances - report.num_unscored - report.num_na, report.unscored_counts
            main = Measure("", (), report.primary_score, "score", bounds=report.unscored_bounds)
            yield Reported(name, (system,), main, n, counts)
            yield Reported("", (system,), report, n, counts)
            for item in report.items:
                of_item = item.asked - item.unanswered, item.unscored_counts
                yield Reported(f"item.{item.label}", (system,), item, *of_item)
            for category in report.categories:
                yield Reported(f"category.{category.category}", (system,), category, category.answered)
        yield from reported_differences(self.differences)
        yield from self.reported_agreements()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each cell."""
        return tuple(verdict for response in self.entries for verdict in response.result.verdicts)

    def asked(self) -> Iterator[QuestionAsked]:
        """Give the questions of items under the names of their checklists."""
        labels = {"yes": "Yes", "no": "No", "na": "N/A"}
        for cell, asked in zip(self.stored.cells(), super().asked(), strict=True):
            checklist = self.checklists[cell.about["checklist"]].name
            yield replace(asked, criterion=checklist, gold=labels.get(str(cell.about["gold"])))

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the item, as a criterion that is shown with the context of the checklist."""
        checklist: Checklist = self.checklists[cell.about["checklist"]]
        criterion = next(item.as_criterion() for item in checklist.items if item.name == cell.about["item"])
        return criterion.model_copy(update={"context_fields": checklist.context_fields})

    @cached_property
    def reports(self) -> Mapping[str, ChecklistReport]:
        """System -> the report on its responses."""
        return {
            system: report_checklists([each.result for each in own], level=self.level_of(system))
            for system, own in self.by_system.items()
        }

    @cached_property
    def differences(self) -> tuple[PairedDifference, ...]:
        """Every two systems by their primary scores: paired over the rows that both have one on, p by Holm over all."""
        scored = {
            system: scored_rows((each.result.score, each.result.bounds) for each in own)
            for system, own in self.by_system.items()
        }
        return system_differences({self._primary: scored}, self.level_of(self.systems[0]))

    def rescored(self, *, primary_metric: str | None = None, **rules: Any) -> dict[str, Any]:  # noqa: ANN401 - rules by name
        """Return the same votes under another primary metric or other rules, without a call.

        Args:
            primary_metric: ``pass``, ``weighted`` or ``normalized``; None leaves it as it was.
            **rules: ``aggregation``, ``on_position_bias`` or ``min_mass``; what is not given stays as it was.

        Raises:
            InvalidInputError: A metric or a rule that does not exist, or ``normalized`` of draws that could stop early.
            UnknownRuleError: A rule that does not fit yes/no questions.
        """
        asked: Any = self.parameters["primary_metric"] if primary_metric is None else primary_metric
        metric = ChecklistOptions(primary_metric=asked).primary_metric
        if metric == "normalized":
            votes = [vote for each in self.entries for own in each.votes for vote in own]
            check_mean_over_draws(votes, "primary_metric='normalized'")
        held = super().rescored(**rules)
        return {**held, "parameters": {**held["parameters"], "primary_metric": metric}}

    def ruled(self) -> Iterable[Criterion]:
        """Return the items of a checklist, as criteria."""
        return [item.as_criterion() for item in self.checklists[0].items]

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of systems, their differences, the questions, and the categories if there are several."""
        differences = differences_tables(self.differences, level=self.parameters["level"])
        return (self._systems_table(), *differences, *self._rates_tables())

    @property
    def _primary(self) -> str:
        """The name of the primary score."""
        return PRIMARY_SCORES[self.parameters["primary_metric"]].replace("_", " ")

    def _systems_table(self) -> TextTable:
        reports, checklists, level = self.reports, self.checklists, format_level(self.parameters["level"])
        what = f"the checklist {checklists[0].name!r}" if len(checklists) == 1 else f"{len(checklists)} checklists"
        columns = (
            Column(f"{self._primary} [{level}]", lambda each: format_score(each.primary_score, each.unscored_bounds)),
            Column("all items", "micro_pass_rate", limits=False),
            Column("n", "num_instances"),
            Column("clusters", "num_clusters", optional=True),
            Column("no score", "num_unscored"),
            UNSCORED_VOTES,
            Column("answered", "answered_share", limits=False),
            Column("parse rate", "parse_rate", limits=False),
            Column("flips", "positional_bias", optional=True),
        )
        title = f"Checked by {what}, by {', '.join(self.parameters['judges'])}"
        by_name = {(system,): report for system, report in reports.items()}
        table = measures_table(title, ("system",), by_name, columns, self._notes(), kind="scores")
        return self.with_agreements(table, by_name)

    def _notes(self) -> tuple[str, ...]:
        reasons = Counter[str]()
        for report in self.reports.values():
            reasons.update(report.unanswered_reasons)
        listed = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(reasons.items()))
        return (
            *unscored_bounds_notes(self.reports),
            *([f"Items without an answer: {listed}."] if listed else []),
            "All items: the share of yes among all answered items of all responses.",
            *self.run_notes,
        )

    def _rates_tables(self) -> Iterator[TextTable]:
        """Give the pass rates of the questions and of several categories, with a column for each system."""
        questions: dict[tuple[str, ...], dict[str, ItemReport]] = {}
        categories: dict[tuple[str, ...], dict[str, CategoryReport]] = {}
        for system, report in self.reports.items():
            for item in report.items:
                questions.setdefault((item.label, item.category), {})[system] = item
            for each in report.categories:
                categories.setdefault((each.category,), {})[system] = each

        def rate_of(system: str) -> Column:
            return Column(system, lambda own: format_interval(own[system].pass_rate if system in own else None))

        rates, level = [*map(rate_of, self.reports)], format_level(self.parameters["level"])
        unanswered = Column("unanswered", lambda own: format_count(sum(item.unanswered for item in own.values())))
        title, labels = f"Pass rate of each question [{level}]", ("question", "category")
        yield measures_table(title, labels, questions, [*rates, unanswered], kind="questions")
        if len(categories) > 1:
            title = f"Pass rate of each category, over its answers about all responses [{level}]"
            yield measures_table(title, ("category",), categories, rates, [_MICRO], kind="categories")

    def flat_records(self) -> Iterator[dict[str, Any]]:
        """Give a row for each item of a response."""
        for record in self.records():
            response = {name: record[name] for name in ("instance", "system", "checklist")}
            yield from ({**response, **item, "cluster": record["cluster"]} for item in record["items"])

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each response: its scores, with its items inside."""
        for response in self.entries:
            items, result = [], response.result
            for item, (name, gold) in zip(result.items, response.about.gold.items(), strict=True):
                record = {"item": name, **item_record(item), "spread": item.verdict.spread, "gold": gold}
                items.append(with_votes(record, item.verdict.votes, votes=votes))
            yield {
                "instance": response.instance,
                "system": response.system,
                "checklist": result.checklist.name,
                **result.record(),
                "cluster": response.cluster,
                **result.counts(),
                "items": items,
            }
