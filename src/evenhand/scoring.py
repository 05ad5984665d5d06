"""From the verdicts on many instances to the numbers that are reported, each with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, get_args

import numpy as np

from evenhand.numbers import Missing, format_count, format_percent
from evenhand.results.measures import known, measure
from evenhand.results.spending import Spending
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.consistency import within_row_deviation
from evenhand.statistics.intervals import IntervalLevel, UnreadBounds, cluster_sums, unread_bounds
from evenhand.statistics.resampling import IntArray
from evenhand.votes import WITHHELD, MatchKind, Usage, Verdict, Vote, total_usage, unselected_draws

INDEPENDENT: Final = "instances do not depend on each other"

NOT_REDRAWN: Final = "nothing was drawn twice, or draws could stop early"

NO_REPLY = WITHHELD | {"engine_error", "not_asked"}

MOST_MENTIONS: Final = 0.05
"""The share of the selections that may rest on mentions without a word of caution."""

_HOW_READ: Final[tuple[MatchKind, ...]] = tuple(kind for kind in get_args(MatchKind) if kind != "none")


def count_readings(votes: Iterable[Vote]) -> Mapping[MatchKind, int]:
    """How the selections of votes were read off the replies: every kind -> votes.

    ``exact`` and ``normalized``: the option was the whole reply; ``verdict``: the reply states it; ``mention``: it
    states none and names this one only, which is evidence and no verdict; ``near``: a misspelling. Votes without a
    selection, and recorded ones, were not read and are not counted; without any vote that was, the result is empty.
    """
    read = [vote for vote in unselected_draws(list(votes)) if vote.selected_index is not None]
    counts = Counter(vote.match.kind for vote in read if vote.match is not None)
    return MappingProxyType({kind: counts[kind] for kind in _HOW_READ} if counts else {})


def mention_caution(readings: Mapping[MatchKind, int]) -> str | None:
    """What must be said where more than :data:`MOST_MENTIONS` of the selections rest on mentions; else None.

    >>> mention_caution({"exact": 95, "mention": 5}) is None
    True
    >>> print(mention_caution({"exact": 94, "mention": 6}))
    Caution: 6 of 100 selections rest on replies that merely mention an option and state no verdict; more than 5 % are \
too many to trust the score. Read some of these replies, ask for structured output, or raise max_reasks.
    """
    total, mentioned = sum(readings.values()), readings.get("mention", 0)
    if mentioned <= MOST_MENTIONS * total:
        return None
    return (
        f"Caution: {mentioned} of {total} selections rest on replies that merely mention an option and state no "
        f"verdict; more than {format_percent(MOST_MENTIONS)} are too many to trust the score. Read some of "
        "these replies, ask for structured output, or raise max_reasks."
    )


def readings_note(readings: Iterable[Mapping[MatchKind, int]]) -> tuple[str, ...]:
    """How the selections behind a table were read, and a caution where too many rest on mentions; nothing for none.

    >>> readings_note([{"exact": 40, "mention": 0}, {"exact": 59, "mention": 1}])
    ('How the 100 selections were read: 99 exact (99 %), 1 mention (1 %).',)
    """
    counts: Counter[MatchKind] = Counter()
    for each in readings:
        counts.update(each)
    total = sum(counts.values())
    if not total:
        return ()
    listed = ", ".join(f"{count} {kind} ({format_percent(count / total)})" for kind, count in counts.items() if count)
    caution = mention_caution(counts)
    return (f"How the {total} selections were read: {listed}.", *(() if caution is None else (caution,)))


def unread_choices_note(unread: int) -> tuple[str, ...]:
    """What unread choices mean for a score that has no bounds; nothing where all were read.

    >>> print(*unread_choices_note(2))
    2 choices are unread: a Grade Score is that of the others. Reading them could move it, by how much is not known.
    """
    if not unread:
        return ()
    are, them = ("is", "it") if unread == 1 else ("are", "them")
    said = (
        f"{format_count(unread, 'choice')} {are} unread: a Grade Score is that of the others. Reading {them} could "
        "move it, by how much is not known."
    )
    return (said,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMeasures:
    """What became of the votes that were asked for, whatever they come to. What is missing says why.

    Attributes:
        num_clusters: Clusters that the instances are of.
        parse_rate: The share of the replies that named an option; a reply that led to a re-ask did not.
        unscored_votes: Reason -> number of votes without a selection.
        readings: How the others were read; see :func:`count_readings`.
        reasks: How many times a judge was asked again.
        usage: What all calls consumed.
        spending: Of the engines that send something, what was bought and wasted; None where none was asked.
    """

    num_clusters: int | Missing = measure("count")
    parse_rate: Interval | Missing = measure("share")
    unscored_votes: Mapping[str, int] = measure("count")
    readings: Mapping[MatchKind, int] = measure("share", name="match_share", shares=True)
    reasks: int = measure("count")
    usage: Usage = measure("count")
    spending: Spending | None = measure("count", name="")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteMeasures(ReplyMeasures):
    """What the votes say of the judging, whatever they were asked about. What is missing says why.

    Attributes:
        positional_bias: The share of the questions read in several orders on which a judge changed its mind.
        agreement: The mean agreement of the votes with the verdict, over the questions with more than one vote.
        spread: The mean standard deviation of repeated draws.
        draw_deviation: The standard deviation of one draw, by the draws made: the root of their mean sample variance.
    """

    positional_bias: Interval | Missing = measure("share")
    agreement: Interval | Missing = measure("share")
    spread: Interval | Missing = measure("score")
    draw_deviation: Interval | Missing = measure("score")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSummary(VoteMeasures):
    """What the verdicts on ``num_instances`` instances come to.

    What is missing says why.

    Attributes:
        num_instances: Instances judged.
        unread: The bounds of the score, where so much is unread that they lead; else None.
        num_unscored: Instances without a score because no verdict could be read; they are not in ``score``.
        num_lone: Instances whose score rests on only some of the votes asked for, the others being unscored.
        num_na: Instances to which the criterion does not apply; they are not in ``score`` either.
        score: The mean of the instances' scores.
        score_if_unscored_0: The mean if every unscored vote had selected the lowest value; an instance without votes,
            or whose orders contradict each other, counts the lower end of its criterion's range.
        score_if_unscored_1: The same with the highest value, and the upper end.
        covered_mass: How much of the probability expected values rest on: the mean of
            :func:`~evenhand.aggregation.mean_covered_mass` over the instances whose votes have probabilities; missing
            for scores of the options selected.
    """

    score: Interval | Missing = measure("score", name="", always=True)
    covered_mass: Interval | Missing = measure("share")
    num_instances: int
    num_unscored: int = measure("count")
    num_lone: int = measure("count")
    num_na: int = measure("count")
    score_if_unscored_0: float | Missing = measure("score", always=True)
    score_if_unscored_1: float | Missing = measure("score", always=True)
    unread: UnreadBounds | None


UNIT_RANGE: Final = (0.0, 1.0)
"""The range of the scores of a criterion whose values all lie in it."""


def summarize(
    verdicts: Sequence[Verdict],
    ranges: Sequence[tuple[float, float]] = (),
    *,
    level: float = 0.95,
    covered_masses: Sequence[float | None] = (),
) -> ScoreSummary:
    """Scores with intervals over instances, or the clusters that they are of; one verdict an instance.

    Args:
        verdicts: One an instance, with all its votes.
        ranges: Of each verdict the :attr:`~evenhand.criteria.Criterion.score_range` of its criterion; empty for [0, 1]
            throughout. The bounds of the mean are the least and the greatest of them.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        covered_masses: How much of the probability each instance's expected value rests on; empty for scores of the
            options selected.
    """
    ranges = ranges or [UNIT_RANGE] * len(verdicts)
    bounds = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else UNIT_RANGE
    low, width = bounds[0], bounds[1] - bounds[0]
    scores = [verdict.aggregated_value for verdict in verdicts]
    shares = [None if score is None else (score - low) / width for score in scores]
    measures, (share, covered_mass) = vote_measures(
        verdicts,
        shares,
        covered_masses or [None] * len(verdicts),
        level=level,
        width=max((high - low for low, high in ranges), default=1.0),
    )
    score = None if share is None else share.on_scale(low, width)
    of = list(zip(verdicts, ranges, strict=True))
    known_limits = [each for each in (score_limits(*pair) for pair in of) if each is not None]
    return ScoreSummary(
        score=known(score, "no instance has a score"),
        covered_mass=known(covered_mass, "no expected value rests on probabilities"),
        num_instances=len(verdicts),
        num_unscored=sum(not verdict.scored and not verdict.na for verdict in verdicts),
        num_lone=sum(verdict.scored and _unscored(verdict) > 0 for verdict in verdicts),
        num_na=sum(verdict.na for verdict in verdicts),
        score_if_unscored_0=_mean([low for low, _ in known_limits]),
        score_if_unscored_1=_mean([high for _, high in known_limits]),
        unread=None
        if score is None and any(verdict.unscored_reason == "no_value" for verdict in verdicts)
        else unread_bounds(score, [_unread_limits(*pair) for pair in of], level=level, bounds=bounds),
        **measures,
    )


def reply_measures(votes: Sequence[Sequence[Vote]], *, rows: IntArray | None = None, level: float) -> dict[str, Any]:
    """The fields of :class:`ReplyMeasures`; the interval is over instances.

    Args:
        votes: On each question, or on all questions about an instance.
        rows: Shape of ``votes``: the number of the instance of each, from 0; by default each has its own.
        level: Of the interval; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the instances.
    """
    rows = np.arange(len(votes)) if rows is None else rows
    replies = cluster_sums(np.array([count_replies(cast) for cast in votes], dtype=float).reshape(-1, 2), rows)
    (parse_rate,) = ratio_intervals(replies[:, :1], replies[:, 1:], level=level)
    every = [vote for cast in votes for vote in cast]
    reasons = Counter(vote.unscored_reason for vote in every if vote.unscored_reason is not None)
    return {
        "num_clusters": known(IntervalLevel.of(level).n_clusters, INDEPENDENT),
        "parse_rate": known(parse_rate, "there are no replies"),
        "unscored_votes": MappingProxyType(dict(sorted(reasons.items()))),
        "readings": count_readings(every),
        "reasks": sum(vote.reasks for vote in every),
        "usage": total_usage(vote.usage for vote in every),
        "spending": Spending.of(every),
    }


def vote_measures(
    verdicts: Sequence[Verdict],
    *beside: Sequence[float | None],
    rows: IntArray | None = None,
    level: float,
    width: float = 1.0,
) -> tuple[dict[str, Any], tuple[Interval | None, ...]]:
    """The fields of :class:`VoteMeasures`, and other means over the verdicts; intervals are over instances.

    Args:
        verdicts: With all their votes.
        *beside: Other numbers of each verdict, in [0, 1]; None where it has none.
        rows: Shape of ``verdicts``: the number of the instance of each, from 0; by default each has its own.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the instances.
        width: Of the range of the values that are voted on; draws spread by half of it at most.
    """
    rows = np.arange(len(verdicts)) if rows is None else rows
    columns = [
        [None if verdict.position_consistent is None else not verdict.position_consistent for verdict in verdicts],
        [verdict.agreement if len(verdict.votes) > 1 else None for verdict in verdicts],
        *beside,
        [verdict.spread for verdict in verdicts],
        [verdict.draw_variance for verdict in verdicts],
    ]
    table = np.array(columns, dtype=float).T  # NaN for None
    sums, counts = cluster_sums(np.nan_to_num(table), rows), cluster_sums(~np.isnan(table), rows)
    positional_bias, agreement, *means = ratio_intervals(sums[:, :-2], counts[:, :-2], level=level)
    (spread,) = ratio_intervals(sums[:, -2:-1], counts[:, -2:-1], level=level, bounds=(0.0, width / 2))
    deviation = within_row_deviation(sums[:, -1], counts[:, -1], width=width, level=level)
    measures = {
        "positional_bias": known(positional_bias, "no instance was read in two orders"),
        "agreement": known(agreement, "no instance has two votes"),
        "spread": known(spread, NOT_REDRAWN),
        "draw_deviation": known(deviation, NOT_REDRAWN),
        **reply_measures([verdict.votes for verdict in verdicts], rows=rows, level=level),
    }
    return measures, tuple(means)


def count_replies(votes: Sequence[Vote]) -> tuple[int, int]:
    """How many replies named an option, and how many replies there were; a re-ask follows one that named none."""
    replied = [vote for vote in unselected_draws(votes) if vote.unscored_reason not in NO_REPLY]
    return sum(vote.selected_index is not None for vote in replied), sum(1 + vote.reasks for vote in replied)


def _unscored(verdict: Verdict) -> int:
    return sum(vote.selected_index is None and not vote.na for vote in verdict.votes)


def score_limits(verdict: Verdict, score_range: tuple[float, float] = UNIT_RANGE) -> tuple[float, float] | None:
    """The least and the greatest score that the instance could have had if every vote had been readable.

    None where all that voted said that the criterion does not apply.

    Args:
        verdict: On the instance.
        score_range: Of its criterion.
    """
    if verdict.bounds is not None:
        return verdict.bounds
    if verdict.na:
        return None
    value = verdict.aggregated_value
    return score_range if value is None else (value, value)


def _unread_limits(verdict: Verdict, score_range: tuple[float, float]) -> tuple[float, float] | None:
    """The same for the bounds that lead; None too where all was read and a rule gives no score, and without a value."""
    no_score = verdict.aggregated_value is None and (verdict.read or verdict.unscored_reason == "no_value")
    return None if no_score else score_limits(verdict, score_range)


def _mean(values: Sequence[float]) -> float | Missing:
    return float(np.mean(values)) if values else Missing("no instance applies")
