"""From the verdicts on a rubric's criteria to one score per response, and from many responses to a summary.

:func:`rubric_result` is one response, :func:`summarize_rubric` many.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast, get_args

import numpy as np

from evenhand.aggregation.rubric_score import LengthPenalty, RubricRange, RubricScore, rubric_range, rubric_score
from evenhand.aggregation.verdict import Levels, VoteRules, mean_covered_mass
from evenhand.criteria import Criterion, NaStrategy, Rubric, with_na_option
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.judging.conversation import Flow
from evenhand.judging.examples import ExamplePool
from evenhand.judging.sheet import asked_together
from evenhand.modes.direct_assessment import assessment_question, judgement_about
from evenhand.modes.mode import MADE_OF_DATA, Mode, Subject, VoteCells, join_reasons
from evenhand.numbers import Missing, format_range
from evenhand.question import Question
from evenhand.results.analysis import Rules
from evenhand.results.measures import UNSCORED_VOTES, Column, known, measure, measures_table, score_column
from evenhand.results.notes import spread_note, unscored_bounds_note
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell, VerdictColumns
from evenhand.scoring import NOT_REDRAWN, ReplyMeasures, ScoreSummary, reply_measures, summarize
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.consistency import within_row_deviation
from evenhand.statistics.intervals import Level, UnscoredBounds, unscored_bounds
from evenhand.votes import MISSING_RESPONSE, UnscoredReason, Verdict, Vote


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
        spread: The population standard deviation of the scores of single draws; see :func:`with_spread`.
        draw_variance: The sample variance of the scores of single draws.
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
    draw_variance: float | None = None

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
        overall_spread: The variation of the score from draw to draw: the mean over responses of the standard deviation
            of the scores of single draws.
        overall_draw_deviation: The standard deviation of the score of one draw, estimated from these.
        criteria: Criterion name -> the summary of its verdicts; empty if responses have rubrics of their own.
    """

    score: Interval | Missing = measure("score", name="", always=True, bounds="unscored_bounds")
    raw_score: Interval | Missing = measure("score", bounds="raw_unscored_bounds")
    length_penalty: Interval | Missing = measure("score")
    overall_spread: Interval | Missing = measure("score")
    overall_draw_deviation: Interval | Missing = measure("score")
    num_instances: int
    num_unscored: int = measure("count")
    num_incomplete: int = measure("count")
    num_na: int = measure("count")
    score_if_unscored_0: float | Missing = measure("score", always=True)
    score_if_unscored_1: float | Missing = measure("score", always=True)
    criteria: Mapping[str, ScoreSummary]
    unscored_bounds: UnscoredBounds | None
    raw_unscored_bounds: UnscoredBounds | None


@dataclass(frozen=True)
class RubricMode(Mode[RubricResult]):
    """A judge chooses an option of every criterion of a rubric. A subject is judged by a rubric as it is judged.

    Attributes:
        pools: Criterion name -> the labelled cases that are shown first; empty if there are no examples.
        together: Whether one reply answers for all criteria.
        own_rubrics: Whether responses have rubrics of their own, with different criteria under the same names.
    """

    pools: Mapping[str, ExamplePool] = field(default_factory=lambda: MappingProxyType({}), metadata=MADE_OF_DATA)
    together: bool = False
    own_rubrics: bool = False

    kind: ClassVar = "rubric"
    function: ClassVar = "judge"

    def __post_init__(self) -> None:
        if self.together and self.options.flow == "two_step":
            raise InvalidInputError(
                "calls='per_item' asks for one reply a response, and flow is 'two_step'; accepted: 'one_step', or "
                "'verdict_only' for answers without reasons"
            )

    @cached_property
    def flow(self) -> Flow:
        """How a judge is asked; without reasons where one reply holds verdicts alone."""
        return Flow.of(self.options, reasoning=self.options.flow != "verdict_only" or not self.together)

    def questions(self, about: Subject) -> Sequence[Question]:
        """Return one question for each criterion that has a response."""
        (name,) = about.texts
        asked = [
            assessment_question("/".join(filter(None, (about.named, name, criterion))), part, self.pools)
            for criterion, part in about.parts.items()
        ]
        return asked_together(asked, name or "rubric") if self.together else asked

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> RubricResult:
        """Return the verdicts and the score."""
        rubric, rules = about.judged, self.rules
        asked = about.parts or ([criterion.name for criterion in rubric.criteria] if votes else ())
        cast = dict(zip(asked, votes, strict=True))
        verdicts = _verdicts([cast.get(criterion.name, ()) for criterion in rubric.criteria], rubric, rules)
        expected, penalty = rules.scoring == "expected", about.facts.get("length_penalty")
        return with_spread(rubric_result(verdicts, rubric, expected=expected, length_penalty=penalty), rubric, rules)

    def record(self, about: Subject, result: RubricResult) -> dict[str, Any]:
        """Return the score, and the selection for each criterion."""
        chosen = [
            (criterion, verdict.selected_label)
            for criterion, verdict in zip(about.judged.criteria, result.verdicts, strict=True)
        ]
        named: Mapping[str, Any] = {criterion.name: label for criterion, label in chosen}
        if self.own_rubrics:
            own = [{"name": each.name, "weight": each.weight, "selected_option": label} for each, label in chosen]
            named = {"criteria": own}
        return {
            "score": result.score,
            "raw_score": result.raw_score,
            "unscored_reason": result.unscored_reason,
            **named,
        }

    def cells(self, about: Subject, result: RubricResult, place: int) -> VoteCells:
        """Give one cell per criterion."""
        cast = {name: verdict.votes for name, verdict in result.by_criterion.items()}
        return self.vote_cells(about, [cast[name] for name in about.parts], place)

    def vote_cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> VoteCells:
        """Give one cell per criterion."""
        if self.own_rubrics:
            yield from super().vote_cells(about, votes, place)
            return
        cast = dict(zip(about.parts, votes, strict=True))
        for criterion in about.judged.criteria:
            yield judgement_about(about, criterion.name), cast.get(criterion.name, ())

    def judged_cells(
        self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine], places: Sequence[int]
    ) -> list[Cell]:
        """Judge response by response; order the cells by criterion, system and instance."""
        found = super().judged_cells(subjects, judges, places)
        if self.own_rubrics:
            return found
        order = {
            name: {each: place for place, each in enumerate(dict.fromkeys(cell.about[name] for cell in found))}
            for name in ("criterion", "system")
        }
        return sorted(found, key=lambda cell: [order[name][cell.about[name]] for name in order])

    @property
    def saved_as(self) -> str:
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
        expected = self.rules.scoring == "expected"
        rubrics = list({id(about.judged): about.judged for about in subjects}.values())
        return summarize_rubric(results, *rubrics, expected=expected, level=level)

    def table(self, measures: Mapping[str, RubricSummary], title: str, level: float) -> TextTable:
        """Return the table of the scores by the rubrics of the rows."""
        return rubric_table(title, measures, level=level)


def rubric_as_judged(
    rubric: Rubric,
    *,
    auto_na_option: bool = True,
    na_strategy: str | None = None,
    na_partial: float | None = None,
) -> Rubric:
    """Return the rubric as a run judges it.

    Args:
        rubric: The rubric as it was written.
        auto_na_option: Offer an option that says that it does not apply to each criterion that has none, criteria
            whose options have no values included: whether a criterion applies does not depend on values.
        na_strategy: Instead of the rubric's own.
        na_partial: Instead of the rubric's own.

    Raises:
        UnknownRuleError: If there is no such strategy.
        InvalidCriterionError: If ``na_partial`` is out of its range.
    """
    if na_strategy is not None and na_strategy not in get_args(NaStrategy):
        raise UnknownRuleError(f"na_strategy is {na_strategy!r}. {did_you_mean(na_strategy, get_args(NaStrategy))}")
    if na_partial is not None and (isinstance(na_partial, bool) or not isinstance(na_partial, int | float)):
        raise InvalidInputError(f"na_partial is {na_partial!r}; it is a number in [0, 1]")
    judged: dict[str, Any] = {
        "criteria": tuple(with_na_option(each) if auto_na_option else each for each in rubric.criteria),
        "na_strategy": rubric.na_strategy if na_strategy is None else cast(NaStrategy, na_strategy),
        "na_partial": rubric.na_partial if na_partial is None else na_partial,
    }
    return Rubric(**{**dict(rubric), **judged})


def rubric_result(
    verdicts: Sequence[Verdict], rubric: Rubric, *, expected: bool = False, length_penalty: float | None = None
) -> RubricResult:
    """Return the rubric's score of one response; see :func:`~evenhand.aggregation.rubric_score`.

    Args:
        verdicts: One per criterion, in the rubric's order.
        rubric: Gives weights, values and the NA strategy.
        expected: Weigh the number that each verdict was aggregated to (``scoring="expected"``), and not the value of
            the option that is nearest to it. So is a verdict weighed on votes in several orders: rounded to an option,
            the mean of two orders that disagree would be one of them.
        length_penalty: The penalty for the length of the response.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> rubric = Rubric(name="answer", criteria=(yes_no_criterion("correct", "…"), yes_no_criterion("polite", "…")))
        >>> met, empty = Verdict(selected_index=0, value=1.0, aggregated_value=1.0), Verdict(unscored_reason="empty")
        >>> result = rubric_result([met, empty], rubric, length_penalty=0.25)
        >>> result.score, result.bounds
        (0.75, (0.25, 0.75))
    """
    weighed = [_weighed(verdict, expected=expected) for verdict in verdicts]
    score = rubric_score(weighed, rubric)
    taken, ranges = length_penalty or 0.0, rubric_range(rubric)
    lowest, highest = ranges.raw_score
    least = 0.0 if rubric.clip == "score" else -math.inf
    extremes = [_extremes(verdict, criterion, expected=expected) for verdict, criterion in _pairs(verdicts, rubric)]
    limits = [rubric_score([pair[side] for pair in extremes], rubric) for side in (0, 1)]
    applies = any(limit.score is not None for limit in limits)

    def bounds(found: Sequence[float | None], ends: tuple[float, float], least: float) -> tuple[float, float] | None:
        low, high = (_known(_less(limit, taken, least), end) for limit, end in zip(found, ends, strict=True))
        return (low, high) if applies else None

    return RubricResult(
        rubric=rubric,
        verdicts=tuple(verdicts),
        unpenalized=score,
        length_penalty=length_penalty,
        score=_less(score.score, taken, least),
        raw_score=None if score.raw_score is None else score.raw_score - taken,
        bounds=bounds([limit.score for limit in limits], ranges.score, least),
        raw_bounds=bounds([limit.raw_score for limit in limits], (lowest - taken, highest - taken), -math.inf),
    )


def with_spread(result: RubricResult, rubric: Rubric, rules: VoteRules) -> RubricResult:
    """Return the result with the spread of its draws; unchanged if nothing was drawn twice.

    Each draw of a judge, in all its orders, is aggregated and scored as if there were no other: the spread of a
    rubric does not follow from the spreads of its criteria, as one draw may move them together or against each other. A
    draw with an unscored verdict has no score here. Mean over judges.

    Args:
        result: With all votes.
        rubric: Its own.
        rules: The rules by which votes become verdicts.
    """
    votes = [vote for verdict in result.verdicts for vote in verdict.votes]
    if not any(vote.sample for vote in votes) or any(vote.draws_planned for vote in votes):
        return result
    spreads, variances = [], []
    for judge in dict.fromkeys(vote.judge_id for vote in votes):
        scores = []
        for sample in sorted({vote.sample for vote in votes if vote.judge_id == judge}):
            drawn = [
                [vote for vote in verdict.votes if vote.judge_id == judge and vote.sample == sample]
                for verdict in result.verdicts
            ]
            verdicts = _verdicts(drawn, rubric, rules)
            expected, penalty = rules.scoring == "expected", result.length_penalty
            one = rubric_result(verdicts, rubric, expected=expected, length_penalty=penalty)
            if one.score is not None and not one.incomplete:
                scores.append(one.score)
        if len(scores) > 1:
            spreads.append(statistics.pstdev(scores))
            variances.append(statistics.variance(scores))
    if not spreads:
        return result
    return replace(result, spread=statistics.fmean(spreads), draw_variance=statistics.fmean(variances))


def _verdicts(votes: Sequence[Sequence[Vote]], rubric: Rubric, rules: VoteRules) -> list[Verdict]:
    """Return one verdict per criterion; a criterion without votes has no response."""
    return [
        rules.aggregate(cast, criterion) if cast else MISSING_RESPONSE
        for cast, criterion in zip(votes, rubric.criteria, strict=True)
    ]


def summarize_rubric(
    results: Sequence[RubricResult], *rubrics: Rubric, expected: bool = False, level: Level = 0.95
) -> RubricSummary:
    """Return scores with intervals over responses, or their clusters; one result per response.

    Args:
        results: One per response.
        *rubrics: By which they were judged. If there are several, each for some responses, there is no summary of
            criteria: the same name may be another criterion elsewhere.
        expected: The verdicts are expected values (``scoring="expected"``).
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.

    Raises:
        InvalidInputError: If only some of the rubrics are clipped at the mean.
    """
    clips = {rubric.clip for rubric in rubrics}
    if len(clips) > 1:
        raise InvalidInputError(
            "the scores of some rubrics are clipped response by response and those of others at their mean only: judge "
            "the rows with the one and with the other apart"
        )
    penalties = [result.length_penalty for result in results]
    greatest = max((penalty for penalty in penalties if penalty is not None), default=0.0)
    ranges = [rubric_range(rubric) for rubric in rubrics]
    lowest, highest = min(each.raw_score[0] for each in ranges), max(each.raw_score[1] for each in ranges)
    weightless = "every weight of the rubric is 0" if lowest == highest else None
    limits = [result.bounds for result in results if result.bounds is not None]
    scores = [result.score for result in results]
    low, high = _range_of(ranges, scores, limits)
    bounds = (max(low - greatest, 0.0) if clips == {"score"} else low, high)
    score = _mean(scores, level, bounds)
    raw_range = (lowest - greatest, highest)
    raw_score = None if weightless else _mean([result.raw_score for result in results], level, raw_range)
    raw_unscored_bounds = unscored_bounds(
        raw_score, [result.raw_bounds for result in results], level=level, bounds=raw_range
    )
    lows, highs = zip(*limits, strict=True) if limits else ((), ())
    unlimited = Missing(weightless or "the rubric applies to no response")
    width = bounds[1] - bounds[0]
    spread = _mean([result.spread for result in results], level, (0.0, width / 2))
    variances = np.array([result.draw_variance for result in results], dtype=float)
    known_variances = ~np.isnan(variances)
    deviation = within_row_deviation(np.nan_to_num(variances), known_variances, width=width, level=level)
    leading = unscored_bounds(score, [result.bounds for result in results], level=level, bounds=bounds)
    return RubricSummary(
        score=known(
            None if score is None else _clipped(score, "estimate", "low", "high"),
            weightless or "no response has a score",
        ),
        raw_score=known(raw_score, weightless or "no criterion counts"),
        overall_spread=known(spread, NOT_REDRAWN),
        overall_draw_deviation=known(deviation, NOT_REDRAWN),
        length_penalty=known(_mean(penalties, level, (0.0, max(greatest, 1.0))), "there is no length penalty"),
        num_instances=len(results),
        num_unscored=sum(result.score is None and not result.na for result in results),
        num_incomplete=sum(result.incomplete for result in results),
        num_na=sum(result.na for result in results),
        score_if_unscored_0=float(np.clip(np.mean(lows), 0, 1)) if limits else unlimited,
        score_if_unscored_1=float(np.clip(np.mean(highs), 0, 1)) if limits else unlimited,
        criteria=MappingProxyType(
            {
                criterion.name: summarize_criterion(
                    [result.verdicts[place] for result in results], criterion, expected=expected, level=level
                )
                for place, criterion in enumerate(rubrics[0].criteria)
                if len(rubrics) == 1
            }
        ),
        unscored_bounds=None if leading is None else _clipped(leading, "low", "high", "interval_low", "interval_high"),
        raw_unscored_bounds=raw_unscored_bounds,
        **reply_measures(
            [verdict.votes for result in results for verdict in result.verdicts],
            rows=np.repeat(np.arange(len(results)), [len(result.verdicts) for result in results]),
            level=level,
        ),
    )


def summarize_criterion(
    verdicts: Sequence[Verdict] | VerdictColumns, criterion: Criterion, *, expected: bool = False, level: Level = 0.95
) -> ScoreSummary:
    """Summarize the verdicts on one criterion, one per response; see :func:`~evenhand.scoring.summarize`.

    Args:
        verdicts: One per response; columns have how much of the probability each rests on.
        criterion: Theirs.
        expected: They are expected values (``scoring="expected"``).
        level: The level of the intervals.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> from evenhand.votes import Vote
        >>> sure = Vote(judge_id="a", order=(0, 1), selected_index=0, value=1.0, probabilities=(0.75, 0.25))
        >>> vague = sure.model_copy(update={"probabilities": (0.5, 0.0)})
        >>> verdicts = [Verdict(votes=(sure,)), Verdict(votes=(vague,)), Verdict(unscored_reason="empty")]
        >>> summarize_criterion(verdicts, yes_no_criterion("correct", "…"), expected=True).covered_mass.estimate
        0.75
    """
    if not isinstance(verdicts, VerdictColumns):
        masses = [mean_covered_mass(verdict.votes, criterion) for verdict in verdicts] if expected else ()
        verdicts = VerdictColumns.of(verdicts, masses)
    return summarize(verdicts, np.tile(np.array(criterion.score_range), (len(verdicts), 1)), level=level)


def length_penalty_of(given: LengthPenalty | Mapping[str, Any] | None) -> LengthPenalty | None:
    """Return the penalty that the fields of :class:`~evenhand.aggregation.rubric_score.LengthPenalty` describe.

    Raises:
        InvalidInputError: If there is no such field, or its value is not accepted.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        accepted = [field.name for field in fields(LengthPenalty)]
        for name, value in given.items():
            if name not in accepted:
                raise InvalidInputError(f"length_penalty has no field {name!r}. {did_you_mean(name, accepted)}")
            if name != "sections" and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise InvalidInputError(f"length_penalty has {name}={value!r}; it is a number")
        given = LengthPenalty(**given)
    if not isinstance(given, LengthPenalty):
        raise InvalidInputError(
            f"length_penalty is {given!r}; give its fields, as {{'free_budget': 300, 'max_cap': 600}}, or None"
        )
    if given.sections == "thinking":
        raise InvalidInputError(
            "length_penalty has sections='thinking', but what is judged is one text, of which no part is known to be "
            "thinking; accepted: 'all' or 'output'"
        )
    return given


def _pairs(verdicts: Sequence[Verdict], rubric: Rubric) -> list[tuple[Verdict, Criterion]]:
    return list(zip(verdicts, rubric.criteria, strict=True))


def _is_mean(verdict: Verdict, *, expected: bool) -> bool:
    """Return whether the verdict counts its aggregated number, and not the option nearest to it."""
    return expected or len({vote.order for vote in verdict.votes}) > 1


def _weighed(verdict: Verdict, *, expected: bool) -> Verdict:
    if not _is_mean(verdict, expected=expected):
        return verdict
    return verdict.model_copy(update={"value": verdict.aggregated_value})


def _extremes(verdict: Verdict, criterion: Criterion, *, expected: bool) -> tuple[Verdict, Verdict]:
    """Return the verdict with the worst and with the best value that it could have, had every vote been scored."""
    if (verdict.na and verdict.bounds is None) or not criterion.has_values:
        return verdict, verdict
    weighed = _weighed(verdict, expected=expected).value
    if verdict.bounds is None:
        values = [option.value for option in criterion.options if option.value is not None]
        low, high = (min(values), max(values)) if weighed is None else (weighed, weighed)
    else:
        low, high = verdict.bounds
        if not _is_mean(verdict, expected=expected):
            levels = Levels.of(criterion)
            low, high = (levels.number(levels.snap(limit)) for limit in (low, high))
    ordered = (low, high) if criterion.weight >= 0 else (high, low)
    worst, best = (Verdict(value=value, aggregated_value=value) for value in ordered)
    return worst, best


def _less(score: float | None, taken: float, least: float) -> float | None:
    return None if score is None else max(score - taken, least)


def _known(limit: float | None, otherwise: float) -> float:
    return otherwise if limit is None else limit


def _range_of(
    ranges: Sequence[RubricRange], scores: Sequence[float | None], limits: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """Return the range that holds all scores and their limits."""
    given = [score for score in scores if score is not None]
    numbers = [*chain(*limits), *chain(*(each.score for each in ranges)), *given]
    return min(numbers), max(numbers)


Clipped = TypeVar("Clipped", Interval, UnscoredBounds)


def _clipped(measured: Clipped, *names: str) -> Clipped:
    """Return a mean score with the named numbers clipped to [0, 1], as single responses may lie outside."""
    return replace(measured, **{name: min(max(getattr(measured, name), 0.0), 1.0) for name in names})


def _mean(values: Sequence[float | None], level: Level, bounds: tuple[float, float]) -> Interval | None:
    numbers = np.array([np.nan if value is None else value for value in values])
    (interval,) = mean_intervals(np.clip(numbers, *bounds), level=level, bounds=bounds)
    return interval


class RubricRules(Rules, total=False):
    """How votes become verdicts, and the verdicts on a rubric its score.

    Attributes:
        na_strategy: The effect of a criterion that does not apply: ``skip``, ``zero``, ``partial`` or ``fail``.
        na_partial: The share of the range that ``partial`` counts.
    """

    na_strategy: str | None
    na_partial: float | None


def changed_rubric(rubric: Rubric | None, rules: RubricRules) -> tuple[Rubric | None, Rules]:
    """Return the rubric under other rules, and the rules that are not the rubric's.

    Raises:
        InvalidInputError: If there is no rubric whose rules could change, or a rule is not accepted.
    """
    own = {"na_strategy": rules.get("na_strategy"), "na_partial": rules.get("na_partial")}
    rest = cast(Rules, {name: rule for name, rule in rules.items() if name not in own})
    if all(rule is None for rule in own.values()):
        return rubric, rest
    if rubric is None:
        raise InvalidInputError("na_strategy and na_partial are for the table of a rubric; this one is of criteria")
    return (
        rubric_as_judged(
            rubric,
            auto_na_option=False,
            na_strategy=rules.get("na_strategy"),
            na_partial=rules.get("na_partial"),
        ),
        rest,
    )


def rubric_table(title: str, scores: Mapping[str, RubricSummary], *, level: float) -> TextTable:
    """Return the table of the scores by a rubric, or by rubrics, one row per system."""
    columns = (
        score_column("rubric score", scores.values(), level=level, spread="overall_spread"),
        Column("n", "num_instances"),
        Column("clusters", "num_clusters", optional=True),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        Column("incomplete", "num_incomplete"),
        Column("NA", "num_na"),
        Column("parse rate", "parse_rate"),
        Column("length penalty", "length_penalty", optional=True),
    )
    results = {(system,): summary for system, summary in scores.items()}
    return measures_table(title, ("system",), results, columns, _score_notes(scores), kind="rubric")


def _score_notes(scores: Mapping[str, RubricSummary]) -> tuple[str, ...]:
    lacking = {
        system: summary
        for system, summary in scores.items()
        if summary.score_if_unscored_0 != summary.score_if_unscored_1
    }
    drawn = spread_note(summary.overall_spread for summary in scores.values())
    if not lacking:
        return drawn
    bounds = "; ".join(
        f"{system}: {format_range(summary.score_if_unscored_0, summary.score_if_unscored_1, digits=3)}"
        for system, summary in lacking.items()
    )
    leading = unscored_bounds_note({system: summary.unscored_bounds for system, summary in scores.items()})
    return (
        *drawn,
        *leading,
        f"Rubric scores if every unscored vote had selected the worst or the best option: {bounds}.",
    )
