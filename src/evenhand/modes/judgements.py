"""Responses assessed by criteria or a rubric: what is asked, what the votes result in, and the results of many rows.

:class:`DirectMode` asks for an option of one criterion, :class:`RubricMode` for one of each criterion of a rubric;
:class:`JudgementAnalysis` is the result of both: systems × criteria, each with its score, interval and measures.
"""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, get_args

import numpy as np
import pyarrow
import pyarrow.compute as pc

from evenhand.aggregation.scores import LengthPenalty, RubricScore, rubric_range, rubric_score
from evenhand.aggregation.verdict import DEFAULT_RULES, Levels, VoteRules, mean_covered_mass
from evenhand.criteria import Criterion, NaStrategy, Rubric, with_na_option
from evenhand.data.plain import by_key
from evenhand.errors import EvenhandWarning, InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.judge_reliability.panel_report import PanelReport, panel_report, panel_tables
from evenhand.judging.conversation import Flow, asked_together
from evenhand.judging.examples import ExamplePool
from evenhand.modes.mode import Mode, Subject, join_reasons, system_of
from evenhand.numbers import Missing, UnscoredBounds, measure, or_missing
from evenhand.options import AssessmentOptions
from evenhand.question import Question
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Outcome,
    Outcomes,
    Reported,
    measures_table,
    score_column,
    spread_note,
    unscored_bounds_notes,
)
from evenhand.results.render import TextTable
from evenhand.results.results import Analysis, with_votes
from evenhand.results.vote_columns import (
    OF_JUDGEMENTS,
    ROWS,
    Cell,
    FloatArray,
    OnDisk,
    VerdictColumns,
    first_rows,
    plain_verdict,
    verdict_columns,
    votes_table,
)
from evenhand.scoring import (
    NOT_REDRAWN,
    ReplyMeasures,
    ScoreSummary,
    bounded_mean,
    differences_tables,
    means_if_unscored,
    reply_measures,
    reported_differences,
    scored_rows,
    summarize,
    system_differences,
)
from evenhand.statistics import Interval
from evenhand.statistics.intervals import IntervalLevel, Level
from evenhand.statistics.ranking import PairedDifference
from evenhand.votes import UnscoredReason, Verdict, Vote, without_lone_surrogates


class DifferentRangesWarning(EvenhandWarning):
    """Scores in different units are averaged."""


@dataclass(frozen=True)
class DirectMode(Mode[Verdict]):
    """A judge chooses one of a criterion's options for each response. A subject is judged by a criterion."""

    kind: ClassVar = "direct"
    function: ClassVar = "judge"
    saved_as: ClassVar = "judgements"

    def __post_init__(self) -> None:
        self.flow.check_prompt("assess")

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return the one question; none about a response that is missing."""
        (name,) = about.texts
        identifier = f"{about.row_name}/{name}/{about.judged.name}" if name else about.row_name
        return tuple(assessment_question(identifier, about, self.pools) for _ in about.responses)

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> Verdict:
        """Return the verdict."""
        return self.rules.aggregate(votes[0] if votes else (), about.judged)

    def cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> Iterator[Cell]:
        """Give the one cell."""
        del place
        yield Cell(judgement_about(about, about.judged.name), tuple(votes[0]) if votes else ())

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the criteria."""
        return {"systems": [*systems], **super().judged_by(judged, systems), "rubric": None}

    def measures(self, subjects: Sequence[Subject], results: Sequence[Verdict], level: Level) -> ScoreSummary:
        """Return the measures; see :func:`~evenhand.scoring.summarize`."""
        rules = self.rules
        masses = [covered_mass(verdict, about.judged, rules) for about, verdict in zip(subjects, results, strict=True)]
        units = {about.judged.units: about.judged.name for about in subjects}  # rows may bring criteria of their own
        if len(units) > 1:
            listed = "; ".join(f"{name!r} from {low:g} to {high:g}" for (low, high), name in units.items())
            warnings.warn(
                f"the scores of the rows' criteria have different ranges ({listed}), so that their mean has no unit: "
                "give their options values of one range, or group the rows by their criteria",
                DifferentRangesWarning,
                stacklevel=2,
            )
        ranges = [about.judged.limits for about in subjects]
        return summarize(results, ranges, level=level, covered_masses=masses if rules.scoring == "expected" else ())


def judgement_about(about: Subject, criterion: str) -> dict[str, Any]:
    """Return what the cell of a response and a criterion is about."""
    return {
        "instance": about.instance,
        "system": system_of(about),
        "criterion": criterion,
        "gold": about.gold.get(criterion),
        "cluster": about.cluster,
        "length_penalty": about.facts.get("length_penalty"),
    }


def covered_mass(verdict: Verdict, criterion: Criterion, rules: VoteRules) -> float | None:
    """Return the probability behind an expected value; None without probabilities."""
    return mean_covered_mass(verdict.votes, criterion) if rules.scoring == "expected" else None


def assessment_question(identifier: str, about: Subject, pools: Mapping[str, ExamplePool]) -> Question:
    """Return the question about one response on one criterion, with its examples."""
    question = about.question(identifier, about.judged, about.responses)
    pool = pools.get(about.judged.name)
    return question if pool is None else pool.shown_to(question)


@dataclass(frozen=True, slots=True)
class RubricResult:
    """The result of one response.

    Attributes:
        rubric: The rubric as it was judged.
        verdicts: One per criterion, in the rubric's order.
        unpenalized: The rubric's score before the length penalty, with its parts.
        length_penalty: The penalty for the length of the response; None if no penalty was asked for, or there is no
            response.
        score: In [0, 1], less the penalty, not below 0; None when it is undefined. Of a rubric that is clipped at the
            mean, it may lie below 0 and above 1.
        raw_score: The weighted sum, less the penalty; None when nothing is counted.
        bounds: The score if every unscored vote had selected the worst, and the best, option of its criterion; a
            criterion whose options have no values plays no part. None if no reading of them would give a score.
        raw_bounds: The bounds of ``raw_score``.
        spread: The population standard deviation of the scores of single draws; None without repeated draws.
    """

    rubric: Rubric
    verdicts: tuple[Verdict, ...]
    unpenalized: RubricScore
    length_penalty: float | None
    score: float | None
    raw_score: float | None
    bounds: tuple[float, float] | None
    raw_bounds: tuple[float, float] | None
    spread: float | None = None

    @property
    def label(self) -> None:
        """None: a rubric has no label of its own."""

    @property
    def reason(self) -> str | None:
        """The judge's reasons, one line per criterion."""
        return join_reasons({name: verdict.reason for name, verdict in self.by_criterion.items()})

    @property
    def by_criterion(self) -> dict[str, Verdict]:
        """The name of each criterion -> its verdict."""
        return {each.name: verdict for each, verdict in zip(self.rubric.criteria, self.verdicts, strict=True)}

    @property
    def unscored_reason(self) -> UnscoredReason | None:
        """Why there is no score."""
        return self.unpenalized.unscored_reason

    @property
    def na(self) -> bool:
        """Whether no criterion applies, so that there is nothing to score."""
        return self.score is None and self.unscored_reason is None

    @property
    def incomplete(self) -> bool:
        """Whether the score leaves out criteria that are unscored; one without values has no part in it anyway."""
        return self.score is not None and any(
            verdict.value is None and not verdict.na and verdict.unscored_reason != "no_value"
            for verdict in self.verdicts
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricSummary(ReplyMeasures):
    """The summary of ``num_instances`` responses.

    Attributes:
        num_instances: Responses judged.
        unscored_bounds: The bounds of the score, if too many votes are unscored for the mean to lead; else None.
        num_unscored: Responses without a score to which a criterion applies; ``score`` excludes them.
        num_incomplete: Responses whose score leaves out criteria that are unscored, not counting those without values.
        num_na: Responses to which no criterion applies; ``score`` excludes them.
        score: The mean rubric score, in [0, 1].
        raw_score: The mean weighted sum, minus the penalty.
        raw_unscored_bounds: The bounds of ``raw_score``, if too many votes are unscored for the mean to lead.
        score_if_unscored_0: The mean if every unscored vote had selected the worst option of its criterion.
        score_if_unscored_1: The mean if every unscored vote had selected the best option of its criterion.
        length_penalty: The mean penalty.
        spread: The variation of the score from draw to draw: the mean over responses of the standard deviation
            of the scores of single draws.
    """

    score: Interval | Missing = measure("score", name="", always=True, bounds="unscored_bounds")
    raw_score: Interval | Missing = measure("score", bounds="raw_unscored_bounds")
    length_penalty: Interval | Missing = measure("score")
    spread: Interval | Missing = measure("score", name="overall_spread")
    num_instances: int
    num_unscored: int = measure("count")
    num_incomplete: int = measure("count")
    num_na: int = measure("count")
    score_if_unscored_0: float | Missing = measure("score", always=True)
    score_if_unscored_1: float | Missing = measure("score", always=True)
    unscored_bounds: UnscoredBounds | None
    raw_unscored_bounds: UnscoredBounds | None


@dataclass(frozen=True)
class RubricMode(Mode[RubricResult]):
    """A judge chooses an option of every criterion of a rubric. A subject is judged by a rubric as it is judged.

    Attributes:
        together: Whether one reply answers for all criteria.
        own_rubrics: Whether responses have rubrics of their own, with different criteria under the same names.
    """

    together: bool = False
    own_rubrics: bool = False

    kind: ClassVar = "rubric"
    function: ClassVar = "judge"
    run_defaults: ClassVar = MappingProxyType(
        {"flow": "one_step", "check_positional_bias": False, "orders": "shuffled"}
    )

    def __post_init__(self) -> None:
        if self.together and self.options.flow == "two_step":
            raise InvalidInputError(
                "calls='per_item' asks for one reply a response, and flow is 'two_step'; accepted: 'one_step', or "
                "'verdict_only' for answers without reasons"
            )
        self.flow.check_prompt("assess", sheet=self.together)

    @cached_property
    def flow(self) -> Flow:
        """How a judge is asked; without reasons where one reply holds verdicts alone."""
        return Flow.of(self.options, reasoning=self.options.flow != "verdict_only" or not self.together)

    def questions(self, about: Subject) -> Sequence[Question]:
        """Return one question for each criterion that has a response."""
        (name,) = about.texts
        asked = [
            assessment_question("/".join(filter(None, (about.row_name, name, criterion))), part, self.pools)
            for criterion, part in about.parts.items()
        ]
        return asked_together(asked, name or "rubric") if self.together else asked

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> RubricResult:
        """Return the verdicts and the score."""
        rubric, rules = about.judged, self.rules
        asked = about.parts or ([criterion.name for criterion in rubric.criteria] if votes else ())
        cast = dict(zip(asked, votes, strict=True))
        verdicts = _verdicts([cast.get(criterion.name, ()) for criterion in rubric.criteria], rubric, rules)
        return rubric_result(verdicts, rubric, rules, length_penalty=about.facts.get("length_penalty"))

    def record(self, about: Subject, result: RubricResult) -> dict[str, Any]:
        """Return the score, and the selection for each criterion of the response's own rubric."""
        chosen = [
            {"name": criterion.name, "weight": criterion.weight, "selected_option": verdict.selected_label}
            for criterion, verdict in zip(about.judged.criteria, result.verdicts, strict=True)
        ]
        return {**super().record(about, result), "raw_score": result.raw_score, "criteria": chosen}

    def cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> Iterator[Cell]:
        """Give one cell per criterion."""
        if self.own_rubrics:
            yield from super().cells(about, votes, place)
            return
        cast = dict(zip(about.parts, votes, strict=True))
        for criterion in about.judged.criteria:
            yield Cell(judgement_about(about, criterion.name), tuple(cast.get(criterion.name, ())))

    @property
    def saved_as(self) -> str:  # type: ignore[override] # not of the class alone
        """The kind of the Python function's results."""
        return "mode_results" if self.own_rubrics else "judgements"

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the rubric and its criteria."""
        if self.own_rubrics:
            return super().judged_by(judged, systems)
        (rubric,) = judged
        return {
            "systems": [*systems],
            **super().judged_by(rubric.criteria, systems),
            "rubric": rubric.model_dump(mode="json"),
        }

    def measures(self, subjects: Sequence[Subject], results: Sequence[RubricResult], level: Level) -> RubricSummary:
        """Return the measures; see :func:`summarize_rubric`."""
        rubrics = list({id(about.judged): about.judged for about in subjects}.values())
        return summarize_rubric(results, *rubrics, level=level)

    def table(self, measures: Mapping[str, RubricSummary], title: str, level: float) -> TextTable:
        """Return the table of the scores by the rubrics of the rows."""
        return scores_table(title, ("system",), {(system,): each for system, each in measures.items()}, level=level)


def rubric_as_judged(rubric: Rubric, options: AssessmentOptions) -> Rubric:
    """Return the rubric as a run judges it, with the NA options and the NA strategy of the run.

    Whether a criterion applies does not depend on values: one whose options have no values is offered NA too.

    Raises:
        UnknownRuleError: If there is no such strategy.
        InvalidCriterionError: If ``na_partial`` is out of its range.
    """
    strategy, partial, accepted = options.na_strategy, options.na_partial, get_args(NaStrategy)
    if strategy is not None and strategy not in accepted:
        raise UnknownRuleError(f"na_strategy is {strategy!r}. {did_you_mean(strategy, accepted)}")
    judged: dict[str, Any] = {
        "criteria": tuple(with_na_option(each) if options.auto_na_option else each for each in rubric.criteria),
        "na_strategy": rubric.na_strategy if strategy is None else strategy,
        "na_partial": rubric.na_partial if partial is None else partial,
    }
    return Rubric(**{**dict(rubric), **judged})


def subject_of_rubric(rubric: Rubric, seen: Iterable[Subject], penalty: LengthPenalty | None) -> Subject:
    """Return a response as each criterion of a rubric sees it.

    Args:
        rubric: The rubric as it is judged.
        seen: The subject of each criterion.
        penalty: The penalty for the length of the response.
    """
    subjects = list(seen)
    parts = {about.judged.name: about for about in subjects if about.responses}
    first = next(iter([*parts.values(), *subjects]))
    facts = {} if penalty is None or not parts else {"length_penalty": penalty.of(first.responses[0])}
    return replace(first, judged=rubric, facts=facts, parts=parts)


def rubric_result(
    verdicts: Sequence[Verdict],
    rubric: Rubric,
    rules: VoteRules = DEFAULT_RULES,
    *,
    length_penalty: float | None = None,
) -> RubricResult:
    """Return the rubric's score of one response; see :func:`~evenhand.aggregation.scores.rubric_score`.

    Args:
        verdicts: One per criterion, in the rubric's order.
        rubric: Gives weights, values and the NA strategy.
        rules: The rules by which votes became verdicts. With ``scoring="expected"`` each verdict counts the number
            that it was aggregated to, and not the value of the option nearest to it. So does a verdict on votes in
            several orders: rounded to an option, the mean of two orders that disagree would be one of them.
        length_penalty: The penalty for the length of the response.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> rubric = Rubric(name="answer", criteria=(yes_no_criterion("correct", "…"), yes_no_criterion("polite", "…")))
        >>> met, empty = Verdict(selected_index=0, value=1.0, aggregated_value=1.0), Verdict(unscored_reason="empty")
        >>> result = rubric_result([met, empty], rubric, length_penalty=0.25)
        >>> result.score, result.bounds
        (0.75, (0.25, 0.75))
    """
    expected = rules.scoring == "expected"
    means = [expected or len({vote.order for vote in verdict.votes}) > 1 for verdict in verdicts]
    values = [each.aggregated_value if mean else each.value for each, mean in zip(verdicts, means, strict=True)]
    score = rubric_score(verdicts, rubric, values)
    taken = length_penalty or 0.0
    least = 0.0 if rubric.clip == "score" else -math.inf
    judged = zip(verdicts, values, rubric.criteria, means, strict=True)
    extremes = [_extremes(verdict, value, criterion, is_mean=mean) for verdict, value, criterion, mean in judged]
    ends = [rubric_score(verdicts, rubric, own) for own in zip(*extremes, strict=True)]

    def bounds(name: str, floor: float) -> tuple[float, float] | None:
        if all(getattr(end, name) is None for end in ends):
            return None
        limits = zip((getattr(end, name) for end in ends), getattr(rubric_range(rubric), name), strict=True)
        low, high = (max((limit if end is None else end) - taken, floor) for end, limit in limits)
        return low, high

    return RubricResult(
        rubric=rubric,
        verdicts=tuple(verdicts),
        unpenalized=score,
        length_penalty=length_penalty,
        score=None if score.score is None else max(score.score - taken, least),
        raw_score=None if score.raw_score is None else score.raw_score - taken,
        bounds=bounds("score", least),
        raw_bounds=bounds("raw_score", -math.inf),
        spread=_spread_of_draws(verdicts, rubric, rules, length_penalty),
    )


def _spread_of_draws(
    verdicts: Sequence[Verdict], rubric: Rubric, rules: VoteRules, length_penalty: float | None
) -> float | None:
    """Return the standard deviation of the scores of single draws; None if nothing was drawn twice.

    Each draw of a judge, in all its orders, is aggregated and scored as if there were no other: the spread of a
    rubric does not follow from the spreads of its criteria, as one draw may move them together or against each other. A
    draw with an unscored verdict has no score here. Mean over judges.
    """
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    if len({vote.sample for vote in votes}) < 2 or any(vote.draws_planned for vote in votes):
        return None
    spreads = []
    for judge in dict.fromkeys(vote.judge_id for vote in votes):
        scores = []
        for sample in sorted({vote.sample for vote in votes if vote.judge_id == judge}):
            drawn = [
                [vote for vote in verdict.votes if vote.judge_id == judge and vote.sample == sample]
                for verdict in verdicts
            ]
            one = rubric_result(_verdicts(drawn, rubric, rules), rubric, rules, length_penalty=length_penalty)
            if one.score is not None and not one.incomplete:
                scores.append(one.score)
        if len(scores) > 1:
            spreads.append(statistics.pstdev(scores))
    return statistics.fmean(spreads) if spreads else None


def _verdicts(votes: Sequence[Sequence[Vote]], rubric: Rubric, rules: VoteRules) -> list[Verdict]:
    """Return one verdict per criterion; a criterion without votes has no response."""
    return [rules.aggregate(cast, criterion) for cast, criterion in zip(votes, rubric.criteria, strict=True)]


def _extremes(
    verdict: Verdict, value: float | None, criterion: Criterion, *, is_mean: bool
) -> tuple[float | None, float | None]:
    """Return the worst and the best value that a verdict could have, had every vote been scored.

    Args:
        verdict: The verdict.
        value: Its value.
        criterion: The criterion of the verdict.
        is_mean: It counts its aggregated number, and not the option nearest to it.
    """
    if (verdict.na and verdict.bounds is None) or not criterion.has_values:
        return verdict.value, verdict.value
    if verdict.bounds is None:
        values = [option.value for option in criterion.options if option.value is not None]
        low, high = (min(values), max(values)) if value is None else (value, value)
    else:
        low, high = verdict.bounds
        if not is_mean:
            levels = Levels.of(criterion)
            low, high = (levels.number(levels.snap(limit)) for limit in (low, high))
    return (low, high) if criterion.weight >= 0 else (high, low)


def summarize_rubric(results: Sequence[RubricResult], *rubrics: Rubric, level: Level = 0.95) -> RubricSummary:
    """Return scores with intervals over responses, or their clusters; one result per response.

    Args:
        results: One per response.
        *rubrics: By which they were judged.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
    """
    penalties = [result.length_penalty for result in results]
    greatest = max((penalty for penalty in penalties if penalty is not None), default=0.0)
    ranges = [rubric_range(rubric) for rubric in rubrics]
    lowest, highest = min(each.raw_score[0] for each in ranges), max(each.raw_score[1] for each in ranges)
    scores, limits = [result.score for result in results], [result.bounds for result in results]
    ends = np.array([each for each in limits if each is not None]).reshape(-1, 2)
    possible = [*chain(*(each.score for each in ranges)), *ends.ravel(), *(each for each in scores if each is not None)]
    low, high = float(min(possible)), float(max(possible))
    bounds = (max(low - greatest, 0.0) if all(rubric.clip == "score" for rubric in rubrics) else low, high)
    score, leading = bounded_mean(scores, limits, level=level, bounds=bounds)
    raw_score, raw_leading = bounded_mean(
        [None if lowest == highest else result.raw_score for result in results],
        [result.raw_bounds for result in results],
        level=level,
        bounds=(lowest - greatest, highest),
    )
    half = (bounds[1] - bounds[0]) / 2
    spread, _ = bounded_mean([result.spread for result in results], (), level=level, bounds=(0.0, half))
    penalty, _ = bounded_mean(penalties, (), level=level, bounds=(0.0, max(greatest, 1.0)))
    return RubricSummary(
        score=or_missing(score and _clipped(score, "estimate", "low", "high"), "no response has a score"),
        raw_score=or_missing(raw_score, "no criterion counts"),
        spread=or_missing(spread, NOT_REDRAWN),
        length_penalty=or_missing(penalty, "there is no length penalty"),
        num_instances=len(results),
        num_unscored=sum(result.score is None and not result.na for result in results),
        num_incomplete=sum(result.incomplete for result in results),
        num_na=sum(result.na for result in results),
        **{name: mean and min(max(mean, 0.0), 1.0) for name, mean in means_if_unscored(ends).items()},
        unscored_bounds=leading and _clipped(leading, "low", "high", "interval_low", "interval_high"),
        raw_unscored_bounds=raw_leading,
        **reply_measures(
            [verdict.votes for result in results for verdict in result.verdicts],
            rows=np.repeat(np.arange(len(results)), [len(result.verdicts) for result in results]),
            level=level,
        ),
    )


Clipped = TypeVar("Clipped", Interval, UnscoredBounds)


def _clipped(measured: Clipped, *names: str) -> Clipped:
    """Return a mean score with the named numbers clipped to [0, 1], as single responses may lie outside."""
    return replace(measured, **{name: min(max(getattr(measured, name), 0.0), 1.0) for name in names})


def length_penalty_of(given: LengthPenalty | Mapping[str, Any] | None) -> LengthPenalty | None:
    """Return the penalty that the fields of :class:`~evenhand.aggregation.scores.LengthPenalty` describe.

    Raises:
        InvalidInputError: If there is no such field, or its value is not accepted.
    """
    if given is None or isinstance(given, LengthPenalty):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"length_penalty is {given!r}; give its fields, as {{'free_budget': 300, 'max_cap': 600}}, or None"
        )
    return LengthPenalty(**given)


def scores_table(
    title: str,
    labels: Sequence[str],
    scores: Mapping[Any, Any],
    notes: Iterable[str] = (),
    *,
    level: float,
) -> TextTable:
    """Return the table of the scores by criteria, or by rubrics.

    Args:
        title: The title.
        labels: The headers of the names of the scores.
        scores: The names of a score -> its :class:`RubricSummary`, or :class:`~evenhand.scoring.ScoreSummary`.
        notes: Sentences before those on the scores.
        level: The level of the intervals.
    """
    by_rubric = all(isinstance(each, RubricSummary) for each in scores.values())
    columns = [
        score_column("rubric score" if by_rubric else "score", scores.values(), level=level),
        Column("n", "num_instances"),
        Column("clusters", "num_clusters", optional=True),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        *([Column("incomplete", "num_incomplete")] if by_rubric else []),
        Column("NA", "num_na"),
        Column("parse rate", "parse_rate"),
    ]
    if by_rubric:
        columns.append(Column("length penalty", "length_penalty", optional=True))
    else:
        columns += [Column("flips", "positional_bias"), Column("covered mass", "covered_mass", optional=True)]
    by_name = {", ".join(name): each for name, each in scores.items()}
    spread = spread_note(each.spread for each in scores.values())
    sentences = (*notes, *spread, *unscored_bounds_notes(by_name))
    return measures_table(title, labels, scores, columns, sentences, kind="rubric" if by_rubric else "scores")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One response on one criterion.

    Attributes:
        instance: The row's index.
        system: The column that held the response.
        criterion: The criterion's name.
        verdict: The verdict with all votes.
        gold: The label that a person gave, if there is one.
        cluster: The cluster of the row; None if rows are independent.
        length_penalty: The penalty of a rubric's score for the length of the response, if a penalty was asked for.
    """

    instance: int
    system: str
    criterion: str
    verdict: Verdict
    gold: str | None = None
    cluster: str | None = None
    length_penalty: float | None = None


class VerdictAnalysis(Analysis):
    """Results with a verdict on each response and criterion."""

    names: ClassVar[tuple[str, ...]] = ("instance", "system", "criterion")
    compared: ClassVar = ("score", "selected_option")
    labelled_by: ClassVar[tuple[str, ...]] = ("system", "criterion")

    def read(self, cells: Iterable[Cell]) -> Iterator[Judgement]:
        """Make a judgement of each cell."""
        for cell in cells:
            yield Judgement(**cell.about, verdict=self.rules.aggregate(cell.votes, self.criterion_of(cell)))

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria, in the order asked for."""
        return tuple(map(Criterion.model_validate, self.header["criteria"]))

    @cached_property
    def by_name(self) -> Mapping[str, Criterion]:
        """Name -> criterion."""
        return {each.name: each for each in self.criteria}

    @cached_property
    def columns(self) -> Mapping[tuple[str, str], tuple[pyarrow.Table, VerdictColumns]]:
        """``(system, criterion name)`` -> its rows, and the verdicts on them, from which all scores are made.

        For results on disk under the rules by which they were saved, they are columns of the files.
        """
        stored, rules = self.stored, ("rule", "weights", *VoteRules.model_fields)
        if isinstance(stored, OnDisk) and all(
            self.parameters.get(name) == stored.header["parameters"].get(name) for name in rules
        ):
            tables = stored.tables(OF_JUDGEMENTS.names)
        else:
            tables = (votes_table(list(part.cells_with_verdicts()), OF_JUDGEMENTS) for part in self.parts(texts=False))
        found: dict[tuple[str, str], list[tuple[pyarrow.Table, VerdictColumns]]] = {
            (system, name): [] for name, system in product(self.by_name, self.systems)
        }
        for table in tables:
            rows, verdicts = first_rows(table), VerdictColumns.of_table(table)
            for (system, name), parts in found.items():
                is_of_system = pc.equal(rows["system"], without_lone_surrogates(system))
                own = pc.and_(is_of_system, pc.equal(rows["criterion"], name))
                parts.append((rows.select(ROWS).filter(own), verdicts.only(own.to_numpy())))
        return {
            key: (
                pyarrow.concat_tables([rows for rows, _ in parts], promote_options="default"),
                VerdictColumns.joined([verdicts for _, verdicts in parts]),
            )
            for key, parts in found.items()
        }

    def level_of(self, system: str) -> IntervalLevel:
        """Return the level of intervals over the rows of a system, with their clusters."""
        rows, _ = self.columns[system, self.criteria[0].name]
        return self.level_over(rows["cluster"].to_pylist())

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the outcomes of each system on each criterion."""
        return tuple(self.outcomes_of(*cell) for cell in product(self.systems, self.by_name))

    def outcomes_of(self, system: str, criterion: str, part_of: str | None = None) -> Outcomes:
        """Return the outcomes of a system on a criterion, which may be part of a rubric."""
        names = {"system": system, "criterion": criterion}
        label = [names[name] for name in self.labelled_by]
        table, _ = self.columns[system, criterion]
        rows = [
            Outcome(row, ((row, *label),), score, selected, na=na, cluster=cluster)
            for row, cluster, score, selected, na in zip(*(column.to_pylist() for column in table.columns), strict=True)
        ]
        return Outcomes.by(self.by_name[criterion], rows, system=system, part_of=part_of)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each cell."""
        return tuple(each.verdict for each in self.entries)

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the criterion that the cell names."""
        return self.by_name[cell.about["criterion"]]

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the score range of the criterion."""
        criterion = self.by_name.get(group.get("criterion", self.criteria[0].name))
        return None if criterion is None else criterion.score_range

    @cached_property
    def by_system_and_criterion(self) -> Mapping[tuple[str, str], list[Judgement]]:
        """``(system, criterion name)`` -> its judgements."""
        cells: dict[tuple[str, str], list[Judgement]] = {cell: [] for cell in product(self.systems, self.by_name)}
        return cells | by_key(((item.system, item.criterion), item) for item in self.entries)

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Give a row for each judgement."""
        for each in self.entries:
            about = {name: getattr(each, name) for name in self.names}
            record = {**about, **plain_verdict(each.verdict), "gold": each.gold, "cluster": each.cluster}
            yield with_votes(record, each.verdict.votes, votes=votes)

    def cells_with_verdicts(self) -> Iterator[Cell]:
        """Give the cells with the columns of their verdicts: those of the records, and what else measures need."""
        for cell, record, each in zip(self.stored.cells(), self.records(), self.entries, strict=True):
            mass = covered_mass(each.verdict, self.by_name[each.criterion], self.rules)
            row = {name: value for name, value in record.items() if name not in cell.about}
            yield cell._replace(about={**cell.about, **verdict_columns(each.verdict, mass, row)})


class JudgementAnalysis(VerdictAnalysis):
    """The result of :func:`evenhand.judge`: every verdict, and a summary of each system and criterion."""

    kind: ClassVar = "judgements"
    judged: ClassVar = ("systems", "criteria", "rubric")
    agreement_by: ClassVar = ("system", "criterion")
    same_rows: ClassVar = ("system", "criterion")

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check that the systems have the same rows, and that a rubric has all its criteria."""
        left = {about["criterion"] for about in abouts}
        lacking = [each["name"] for each in header["criteria"] if each["name"] not in left]
        if lacking and header["rubric"] is not None:
            raise InvalidInputError(
                f"the criteria {lacking!r} of the rubric are left out; keep all criteria of a rubric"
            )
        criteria = [each for each in header["criteria"] if each["name"] in left]
        return {**super().check(header, abouts), "criteria": criteria}

    @cached_property
    def rubric(self) -> Rubric | None:
        """The rubric as it was judged, if the criteria are those of one."""
        rubric = self.header["rubric"]
        return None if rubric is None else Rubric.model_validate(rubric)

    @cached_property
    def summaries(self) -> Mapping[tuple[str, str], ScoreSummary]:
        """``(system, criterion name)`` -> the summary of the verdicts."""
        return {
            cell: summarize(verdicts, self.by_name[cell[1]].limits, level=self.level_of(cell[0]))
            for cell, (_, verdicts) in self.columns.items()
        }

    @cached_property
    def rubric_results(self) -> Mapping[str, tuple[RubricResult, ...]]:
        """System -> the rubric's score of each instance; empty without a rubric."""
        rubric = self.rubric
        if rubric is None:
            return {}
        return {
            system: tuple(
                rubric_result([item.verdict for item in row], rubric, self.rules, length_penalty=row[0].length_penalty)
                for row in self._rows_of(system)
            )
            for system in self.systems
        }

    @cached_property
    def rubric_scores(self) -> Mapping[str, RubricSummary]:
        """System -> the summary of its rubric scores; empty without a rubric."""
        return {
            system: summarize_rubric(results, results[0].rubric, level=self.level_of(system))
            for system, results in self.rubric_results.items()
        }

    @cached_property
    def differences(self) -> tuple[PairedDifference, ...]:
        """Every two systems on every criterion: paired over the rows that both were judged on, p by Holm over all."""
        scored: dict[str, dict[str, FloatArray]] = {name: {} for name in self.by_name}
        ranges = {each.name: each.score_range for each in self.criteria}
        for (system, name), (rows, verdicts) in self.columns.items():
            limits = verdicts.limits(np.broadcast_to(np.array(self.by_name[name].limits), (len(rows), 2)))
            scored[name][system] = np.column_stack([verdicts.score, limits])
        return system_differences(scored, self.level_of(self.systems[0]), ranges)

    @cached_property
    def rubric_differences(self) -> tuple[PairedDifference, ...]:
        """Every two systems by their rubric scores, a family of its own; empty without a rubric."""
        if self.rubric is None:
            return ()
        scored = {
            system: scored_rows((result.score, result.bounds) for result in results)
            for system, results in self.rubric_results.items()
        }
        ranges = {self.rubric.name: rubric_range(self.rubric).score}
        return system_differences({self.rubric.name: scored}, self.level_of(self.systems[0]), ranges)

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the outcomes of each system on each criterion, and by the rubric."""
        rubric, found = self.rubric, []
        for system in self.systems:
            if rubric is not None:
                scored = zip(self._rows_of(system), self.rubric_results[system], strict=True)
                of_rubric = []
                for row, result in scored:
                    asked = tuple((item.instance, system, item.criterion) for item in row)
                    of_rubric.append(Outcome(asked[0][0], asked, result.score, na=False, cluster=row[0].cluster))
                found.append(Outcomes(system, rubric.name, tuple(of_rubric), rubric_range(rubric).score))
            part_of = None if rubric is None else rubric.name
            found += [self.outcomes_of(system, name, part_of) for name in self.by_name]
        return tuple(found)

    def reported(self) -> Iterator[Reported]:
        """Return the measures of the rubric and each criterion, the differences, and the agreement with labels."""
        for system, rubric in self.rubric_scores.items():
            n = rubric.num_instances - rubric.num_unscored - rubric.num_na
            yield Reported(self.rubric.name if self.rubric else "", (system,), rubric, n, rubric.unscored_counts)
        for (system, criterion), each in self.summaries.items():
            n = each.num_instances - each.num_unscored - each.num_na
            yield Reported(criterion, (system,), each, n, each.unscored_counts)
        for (system, criterion), panel in self._panels.items():
            for found in panel.measures():
                if found.name != "agreement":  # which the summary has
                    yield Reported(criterion, (system,), found, panel.num_judged)
        yield from reported_differences((*self.rubric_differences, *self.differences))
        yield from self.reported_agreements()

    def panel(self, system: str, criterion: str) -> PanelReport | None:
        """Return the measures of the judges of a cell: agreement, stability, the score without each.

        None if one judge was asked once.

        Raises:
            InvalidInputError: If there is no such system or criterion.
        """
        if system not in self.systems or criterion not in self.by_name:
            raise InvalidInputError(
                f"the table has no cell {(system, criterion)!r}; systems: {list(self.systems)!r}, criteria: "
                f"{list(self.by_name)!r}"
            )
        return self._panels.get((system, criterion))

    @cached_property
    def _panels(self) -> Mapping[tuple[str, str], PanelReport]:
        """The measures of the judges of each cell; empty if one judge was asked once, and then no vote is read."""
        samples = self.parameters["grid"]["samples"]
        found: dict[tuple[str, str], PanelReport] = {}
        several = len(self.parameters["judges"]) > 1 or samples > 1
        for criterion, system in product(self.criteria, self.systems) if several else ():
            cell = self.by_system_and_criterion[system, criterion.name]
            values: dict[str | None, float | None] = {each.label: each.value for each in criterion.options}
            right = [values.get(item.gold) for item in cell]
            report = panel_report(
                [item.verdict for item in cell],
                criterion,
                self.rules,
                samples=samples,
                reference=None if all(value is None for value in right) else right,
                level=self.level_of(system),
            )
            found |= {} if report is None else {(system, criterion.name): report}
        return found

    def rescored(
        self,
        *,
        na_strategy: str | None = None,
        na_partial: float | None = None,
        **rules: Any,  # noqa: ANN401 - rules by name
    ) -> dict[str, Any]:
        """Return the header and the parameters for the same votes under other rules.

        Args:
            na_strategy: The effect of a criterion of a rubric that does not apply: ``skip``, ``zero``, ``partial`` or
                ``fail``.
            na_partial: The share of the range that ``partial`` counts.
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; the others stay as they were.

        Raises:
            UnknownRuleError: If a rule does not exist or does not fit a criterion.
            InvalidInputError: If a rule of rubrics is given for criteria, or ``scoring="expected"`` is asked for and
                draws could stop early.
        """
        rubric = self.rubric
        if na_strategy is not None or na_partial is not None:
            if rubric is None:
                raise InvalidInputError(
                    "na_strategy and na_partial are for the table of a rubric; this one is of criteria"
                )
            rubric = rubric_as_judged(rubric, AssessmentOptions(na_strategy=na_strategy, na_partial=na_partial))
        return {**super().rescored(**rules), "rubric": None if rubric is None else rubric.model_dump(mode="json")}

    def ruled(self) -> Iterable[Criterion]:
        """Return the criteria."""
        return self.criteria

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of rubric scores if any, of the criteria, of the differences, and of the panel."""
        level, of_rubric = self.parameters["level"], []
        if self.rubric is not None:
            found = {(system,): each for system, each in self.rubric_scores.items()}
            of_rubric = [scores_table(f"Rubric {self.rubric.name}", ("system",), found, level=level)]
        title, labels = f"Direct assessment by {', '.join(self.parameters['judges'])}", ("system", "criterion")
        table = scores_table(title, labels, self.summaries, self.run_notes, level=level)
        table = self.with_agreements(table, self.summaries)
        return (
            *of_rubric,
            *differences_tables(self.rubric_differences, level=level, kind="rubric-differences"),
            table,
            *differences_tables(self.differences, level=level),
            *panel_tables(list(self._panels.items()), level=level),
        )

    def _rows_of(self, system: str) -> Iterator[tuple[Judgement, ...]]:
        """Give the judgements of each response of a system, one per criterion."""
        return zip(*(self.by_system_and_criterion[system, name] for name in self.by_name), strict=True)

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Give a row for each judgement."""
        of_rubric = {
            (item.system, item.instance): result
            for system, results in self.rubric_results.items()
            for (item, *_), result in zip(self._rows_of(system), results, strict=True)
        }
        for each, record in zip(self.entries, super().records(votes=votes), strict=True):
            if (result := of_rubric.get((each.system, each.instance))) is not None:
                record |= {"rubric_score": result.score, "rubric_unscored_reason": result.unscored_reason}
            yield record
