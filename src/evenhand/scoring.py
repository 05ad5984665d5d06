"""Scores of many instances from their verdicts, each with its interval, and differences of systems on the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evenhand.numbers import (
    Missing,
    UnscoredBounds,
    format_count,
    format_interval,
    format_level,
    format_p_value,
    format_range,
    measure,
    or_missing,
)
from evenhand.results.measures import Column, Reported, Spending, UnscoredCounts, measures_table, reported_difference
from evenhand.results.render import MOST_ROWS, TextTable
from evenhand.results.vote_columns import VerdictColumns, VoteColumns
from evenhand.statistics import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.intervals import FloatArray, IntArray, IntervalLevel, Level, cluster_sums, unscored_bounds
from evenhand.statistics.ranking import PairedDifference, name_of_tests, over_one_family, paired_differences
from evenhand.votes import MatchKind, Usage, Verdict, Vote

INDEPENDENT: Final = "instances do not depend on each other"

NOT_REDRAWN: Final = "nothing was drawn twice, or draws could stop early"

GRADED_ON_OTHERS: Final = (
    "A Grade Score is that of the scored votes. Had the unscored votes been scored it could be another one; how far it "
    "could move is not known."
)
"""The note on unscored votes for a score that has no bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMeasures:
    """Counts of the replies to the votes asked for. A missing number gives the reason.

    Attributes:
        num_clusters: The number of clusters of the instances.
        parse_rate: The share of the replies that named an option; a reply that led to a re-ask did not.
        unscored_counts: The numbers of unscored votes and verdicts, and the reasons.
        readings: The ways in which the selections were read, and how often each.
        reasks: The number of times that a judge was asked again.
        usage: The usage of all calls.
        spending: The replies bought and wasted by engines that send requests; None if none was asked.
    """

    num_clusters: int | Missing = measure("count")
    parse_rate: Interval | Missing = measure("share")
    unscored_counts: UnscoredCounts = measure("count", name="")
    readings: Mapping[MatchKind, int] = measure("share", name="match_share", shares=True)
    reasks: int = measure("count")
    usage: Usage = measure("count")
    spending: Spending | None = measure("count", name="")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteMeasures(ReplyMeasures):
    """Measures of the judging, from its votes. A missing number gives the reason.

    Attributes:
        positional_bias: The share of the questions read in several orders on which a judge changed its mind.
        agreement: The mean agreement of the votes with the verdict, over the questions with more than one vote.
        spread: The mean standard deviation of repeated draws.
    """

    positional_bias: Interval | Missing = measure("share")
    agreement: Interval | Missing = measure("share")
    spread: Interval | Missing = measure("score")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSummary(VoteMeasures):
    """The summary of the verdicts on ``num_instances`` instances. A missing number gives the reason.

    Attributes:
        num_instances: Instances judged.
        unscored_bounds: The bounds of the score, if too many votes are unscored for its mean to lead; else None.
        num_unscored: Instances without a score to which the criterion applies; ``score`` excludes them.
        num_na: Instances to which the criterion does not apply; ``score`` excludes them.
        score: The mean of the instances' scores.
        score_if_unscored_0: The mean if every unscored vote had selected the lowest value; an instance without votes,
            or whose orders contradict each other, counts the lower end of its criterion's range.
        score_if_unscored_1: The same with the highest value, and the upper end.
        covered_mass: The probability behind expected values: the mean of
            :func:`~evenhand.aggregation.verdict.mean_covered_mass` over the instances with probabilities; missing
            for scores of the options selected.
    """

    score: Interval | Missing = measure("score", name="", always=True, bounds="unscored_bounds")
    covered_mass: Interval | Missing = measure("share")
    num_instances: int
    num_unscored: int = measure("count")
    num_na: int = measure("count")
    score_if_unscored_0: float | Missing = measure("score", always=True)
    score_if_unscored_1: float | Missing = measure("score", always=True)
    unscored_bounds: UnscoredBounds | None


UNIT_RANGE: Final = (0.0, 1.0)
"""The range of the scores of a criterion whose values all lie in it."""


def summarize(
    verdicts: Sequence[Verdict] | VerdictColumns,
    ranges: tuple[float, float] | Sequence[tuple[float, float]] = (),
    *,
    level: Level = 0.95,
    covered_masses: Sequence[float | None] = (),
) -> ScoreSummary:
    """Return scores with intervals over instances, or their clusters; one verdict per instance.

    Args:
        verdicts: One per instance, with all its votes.
        ranges: The :attr:`~evenhand.criteria.Criterion.limits` of the criterion, or of each verdict's criterion;
            empty for [0, 1] throughout. The bounds of the mean are the least and the greatest of them.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        covered_masses: The probability behind each instance's expected value; empty for scores of the
            options selected. Columns have their own.
    """
    columns = verdicts if isinstance(verdicts, VerdictColumns) else VerdictColumns.of(verdicts, covered_masses)
    scored = np.isfinite(columns.score)
    own = np.array(ranges if len(ranges) else UNIT_RANGE, dtype=float).reshape(-1, 2)
    bounds = (float(np.fmin.reduce(own[:, 0])), float(np.fmax.reduce(own[:, 1])))  # NaN if all are
    low, width = bounds[0], bounds[1] - bounds[0]
    measures, (share, covered_mass) = vote_measures(
        columns,
        (columns.score - low) / width,
        columns.covered_mass,
        level=level,
        width=float(np.fmax.reduce(own[:, 1] - own[:, 0])),
    )
    score = share if share is None or bounds == UNIT_RANGE else share.on_scale(low, width)
    votes, limits = columns.votes, columns.limits(np.broadcast_to(own, (len(scored), 2)))
    if_unscored = means_if_unscored(limits)
    complete = (votes.sizes > 0) & (votes.sizes == votes.per_question(votes.answered))
    limits[~scored & complete] = np.nan  # no vote is to blame that a rule gives no score
    return ScoreSummary(
        score=or_missing(score, "no instance has a score"),
        covered_mass=or_missing(covered_mass, "no expected value rests on probabilities"),
        num_instances=len(scored),
        num_unscored=int((~scored & ~columns.na).sum()),
        num_na=int(columns.na.sum()),
        **if_unscored,
        unscored_bounds=unscored_bounds(score, limits, level=level, bounds=bounds),
        **measures,
    )


def bounded_mean(
    values: Sequence[float | None],
    limits: Sequence[tuple[float, float] | None],
    *,
    level: Level,
    bounds: tuple[float, float] = UNIT_RANGE,
) -> tuple[Interval | None, UnscoredBounds | None]:
    """Return the mean of the values with its interval, and its bounds if too many votes are unscored for it to lead.

    Args:
        values: One per instance; None without one. Values outside the bounds count as the nearer bound.
        limits: Per instance the least and the greatest value that it could have had; None if it does not apply.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        bounds: The least and the greatest value.
    """
    (mean,) = mean_intervals(np.clip(np.array(values, dtype=float), *bounds), level=level, bounds=bounds)
    return mean, unscored_bounds(mean, limits, level=level, bounds=bounds)


def reply_measures(
    votes: Sequence[Sequence[Vote]] | VoteColumns, *, rows: IntArray | None = None, level: Level
) -> dict[str, Any]:
    """Return the fields of :class:`ReplyMeasures`; the interval is over instances.

    Args:
        votes: The votes on each question.
        rows: Shape of the questions: the number of the instance of each, from 0; by default each has its own.
        level: The level of the interval; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
    """
    columns = votes if isinstance(votes, VoteColumns) else VoteColumns.of(votes)
    rows = np.arange(len(columns.sizes)) if rows is None else rows
    replies = cluster_sums(columns.replies(), rows)
    (parse_rate,) = ratio_intervals(replies[:, :1], replies[:, 1:], level=level)
    return {
        "num_clusters": or_missing(IntervalLevel.of(level).n_clusters, INDEPENDENT),
        "parse_rate": or_missing(parse_rate, "there are no replies"),
        "unscored_counts": UnscoredCounts.of(columns, rows),
        "readings": columns.readings(),
        "reasks": int(columns.reasks.sum()),
        "usage": columns.used(),
        "spending": Spending.of(columns),
    }


def vote_measures(
    verdicts: Sequence[Verdict] | VerdictColumns,
    *others: Sequence[float | None] | FloatArray,
    rows: IntArray | None = None,
    level: Level,
    width: float = 1.0,
) -> tuple[dict[str, Any], tuple[Interval | None, ...]]:
    """Return the fields of :class:`VoteMeasures`, and other means over the verdicts; intervals are over instances.

    Args:
        verdicts: The verdicts, with all their votes.
        *others: Other numbers of each verdict, in [0, 1]; None or NaN if it has none.
        rows: Shape of ``verdicts``: the number of the instance of each, from 0; by default each has its own.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        width: The width of the range of the values; draws spread by half of it at most.
    """
    columns = verdicts if isinstance(verdicts, VerdictColumns) else VerdictColumns.of(verdicts)
    rows = np.arange(len(columns.score)) if rows is None else rows
    table = np.stack(
        [
            1 - columns.position_consistent,
            np.where(columns.votes.sizes > 1, columns.agreement, np.nan),
            *(np.array(each, dtype=float) for each in others),  # NaN for None
            columns.spread,
        ],
        axis=1,
    )
    sums, counts = cluster_sums(np.nan_to_num(table), rows), cluster_sums(~np.isnan(table), rows)
    positional_bias, agreement, *means = ratio_intervals(sums[:, :-1], counts[:, :-1], level=level)
    (spread,) = ratio_intervals(sums[:, -1], counts[:, -1], level=level, bounds=(0.0, width / 2))
    measures = {
        "positional_bias": or_missing(positional_bias, "no instance was read in two orders"),
        "agreement": or_missing(agreement, "no instance with two votes has a verdict"),
        "spread": or_missing(spread, NOT_REDRAWN),
        **reply_measures(columns.votes, rows=rows, level=level),
    }
    return measures, tuple(means)


def means_if_unscored(limits: Sequence[tuple[float, float]] | FloatArray) -> dict[str, Any]:
    """Return the mean score if every unscored vote had been the worst, and the best: fields of every summary.

    Args:
        limits: Per instance the least and the greatest score; NaN if nothing applies.
    """
    known = np.asarray(limits, dtype=float).reshape(-1, 2)
    known = known[~np.isnan(known[:, 0])]
    none = Missing("no instance applies, or its options have no values")
    ends = known.mean(axis=0).tolist() if len(known) else [none] * 2
    return dict(zip(("score_if_unscored_0", "score_if_unscored_1"), ends, strict=True))


Scored = FloatArray
"""Shape (n_rows, 3): what a system got on each row, and the least and the greatest that it could have got had all votes
been scored; NaN if there is none, or the question does not apply."""


def scored_rows(rows: Iterable[tuple[float | None, tuple[float, float] | None]]) -> Scored:
    """Return the scores of rows, each with its bounds.

    >>> scored_rows([(1.0, (1.0, 1.0)), (None, None)]).tolist()
    [[1.0, 1.0, 1.0], [nan, nan, nan]]
    """
    return np.array([(value, *(limits or (None, None))) for value, limits in rows], dtype=float).reshape(-1, 3)


def system_differences(
    scored: Mapping[str, Mapping[str, Scored]],
    level: Level,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> tuple[PairedDifference, ...]:
    """Return all pairs of systems on each score; one family for Holm's correction.

    Args:
        scored: Name of the score -> system -> its rows, the same ones for every system.
        level: The level of the intervals, with the clusters of the rows.
        ranges: Name of the score -> the least and the greatest that it can be, [0, 1] for those that are not named;
            extended to all scores: a length penalty may take them below it.
    """
    found: list[PairedDifference] = []
    for score, systems in scored.items():
        table = np.stack(list(systems.values()), axis=1).transpose(2, 0, 1)
        numbers, (least, most) = table[np.isfinite(table)], (ranges or {}).get(score, (0.0, 1.0))
        bounds, names = (float(numbers.min(initial=least)), float(numbers.max(initial=most))), list(systems)
        values, low, high = table
        found += paired_differences(values, low=low, high=high, level=level, bounds=bounds, systems=names, score=score)
    return over_one_family(found)


def reported_differences(differences: Iterable[PairedDifference]) -> Iterator[Reported]:
    """Give each difference in both directions."""
    for each in differences:
        name, of = f"{each.score.replace(' ', '_')}.difference", (each.first, each.second)
        found = or_missing(each.difference, "no row has both scores"), each.n_compared
        yield from reported_difference(name, of, *found, bounds=each.unscored_bounds, p_value=each.p_value)


def differences_tables(
    differences: Sequence[PairedDifference], *, level: float, kind: str = "differences"
) -> tuple[TextTable, ...]:
    """Return the table of the differences; none of a single system.

    Args:
        differences: One family.
        level: The level of the intervals.
        kind: The short name of the table.
    """
    if not differences:
        return ()
    if len(differences) > MOST_ROWS:  # a terminal shows those of the least p
        differences = sorted(differences, key=lambda each: 1.0 if each.p_value is None else each.p_value)
    several = len({each.score for each in differences}) > 1
    columns = [
        Column(f"difference [{format_level(level)}]", lambda each: format_interval(each.difference, signed=True)),
        Column("p", lambda each: format_p_value(each.p_value)),
        Column("rows", "n_compared"),
        Column("set aside", "n_set_aside"),
    ]
    if any(each.if_unscored_low != each.if_unscored_high for each in differences):
        columns.append(
            Column("if all were scored", lambda each: format_range(each.if_unscored_low, each.if_unscored_high))
        )
    rows = [((f"{each.first} – {each.second}", *([each.score] if several else [])), each) for each in differences]
    what = "the scores" if several else differences[0].score
    tests, family = name_of_tests(each.test for each in differences), format_count(len(differences), "comparison")
    title = f"Paired differences of {what} on the same rows ({tests}, p corrected by Holm over {family})"
    notes = []
    if any(each.n_set_aside for each in differences):
        notes.append("Set aside: rows on which only one of the two has a score; they are in no difference.")
    labels = ("systems", "score") if several else ("systems",)
    return (measures_table(title, labels, rows, columns, notes, kind=kind),)
