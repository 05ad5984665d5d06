"""From the verdicts on many instances to the numbers that are reported, each with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, get_args

import numpy as np

from evenhand.numbers import format_count, format_percent
from evenhand.statistics import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.clusters import IntervalLevel
from evenhand.statistics.unread import UnreadBounds, unread_bounds
from evenhand.votes import MatchKind, Usage, Verdict, Vote, total_usage, unselected_draws

NO_REPLY = frozenset({"engine_error", "budget"})

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


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What the verdicts on ``num_instances`` instances come to.

    Attributes:
        num_instances: Instances judged.
        num_clusters: Clusters that these are of; None where instances do not depend on each other.
        unread: The bounds of the score, where so much is unread that they lead; else None.
        num_unscored: Instances without a score for want of a readable verdict; they are not in ``score``.
        num_lone: Instances whose score rests on only some of the votes asked for, the others being unscored.
        num_na: Instances to which the criterion does not apply; they are not in ``score`` either.
        score: The mean of the instances' scores; None when no instance has one.
        score_if_unscored_0: The mean if every unscored vote had selected the lowest value; an instance without votes,
            or whose orders contradict each other, counts 0.
        score_if_unscored_1: The same with the highest value, and 1.
        positional_bias: The share of the instances shown in several orders whose selections disagree.
        parse_rate: The share of the replies that named an option; a reply that led to a re-ask did not.
        agreement: The mean agreement of the votes with the verdict, over the instances with more than one vote.
        spread: The mean standard deviation of repeated draws; None without them.
        unscored_votes: Reason -> number of votes without a selection.
        readings: How the others were read; see :func:`count_readings`.
        reasks: How many times a judge was asked again.
        usage: What all calls consumed.
    """

    num_instances: int
    num_unscored: int
    num_lone: int
    num_na: int
    score: Interval | None
    score_if_unscored_0: float | None
    score_if_unscored_1: float | None
    positional_bias: Interval | None
    parse_rate: Interval | None
    agreement: Interval | None
    spread: Interval | None
    unscored_votes: Mapping[str, int]
    readings: Mapping[MatchKind, int]
    reasks: int
    usage: Usage
    num_clusters: int | None = None
    unread: UnreadBounds | None = None


def summarize(verdicts: Sequence[Verdict], *, level: float = 0.95) -> ScoreSummary:
    """Scores with intervals over instances, or the clusters that they are of; one verdict an instance.

    Args:
        verdicts: One an instance, with all its votes.
        level: Of the intervals; an `evenhand.statistics.clusters.IntervalLevel` brings the clusters.
    """
    columns = np.array(
        [
            (
                _number(verdict.aggregated_value),
                _number(None if verdict.position_consistent is None else not verdict.position_consistent),
                _number(verdict.agreement if len(verdict.votes) > 1 else None),
            )
            for verdict in verdicts
        ],
        dtype=float,
    ).reshape(len(verdicts), 3)
    score, positional_bias, agreement = mean_intervals(columns, level=level)
    spreads = np.array([[_number(verdict.spread)] for verdict in verdicts], dtype=float).reshape(len(verdicts), 1)
    (spread,) = mean_intervals(spreads, level=level, bounds=(0.0, 0.5))
    replies = np.array([_replies(verdict) for verdict in verdicts], dtype=float).reshape(len(verdicts), 2)
    (parse_rate,) = ratio_intervals(replies[:, :1], replies[:, 1:], level=level)
    limits = [score_limits(verdict) for verdict in verdicts]
    known = [each for each in limits if each is not None]
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    reasons = Counter(vote.unscored_reason for vote in votes if vote.unscored_reason is not None)
    return ScoreSummary(
        num_instances=len(verdicts),
        num_unscored=sum(not verdict.scored and not verdict.na for verdict in verdicts),
        num_lone=sum(verdict.scored and _unscored(verdict) > 0 for verdict in verdicts),
        num_na=sum(verdict.na for verdict in verdicts),
        score=score,
        score_if_unscored_0=_mean([low for low, _ in known]),
        score_if_unscored_1=_mean([high for _, high in known]),
        positional_bias=positional_bias,
        parse_rate=parse_rate,
        agreement=agreement,
        spread=spread,
        unscored_votes=MappingProxyType(dict(sorted(reasons.items()))),
        readings=count_readings(votes),
        reasks=sum(vote.reasks for vote in votes),
        usage=total_usage(vote.usage for vote in votes),
        num_clusters=IntervalLevel.of(level).n_clusters,
        unread=None
        if score is None and any(verdict.unscored_reason == "no_value" for verdict in verdicts)
        else unread_bounds(score, [_unread_limits(verdict) for verdict in verdicts], level=level),
    )


def _number(value: float | None) -> float:
    """Statistics take NaN for a missing number."""
    return float("nan") if value is None else float(value)


def _replies(verdict: Verdict) -> tuple[int, int]:
    """How many replies named an option, and how many replies there were."""
    replied = [vote for vote in unselected_draws(verdict.votes) if vote.unscored_reason not in NO_REPLY]
    return sum(vote.selected_index is not None for vote in replied), sum(1 + vote.reasks for vote in replied)


def _unscored(verdict: Verdict) -> int:
    return sum(vote.selected_index is None and not vote.na for vote in verdict.votes)


def score_limits(verdict: Verdict) -> tuple[float, float] | None:
    """The least and the greatest score that the instance could have had if every vote had been readable.

    None where all that voted said that the criterion does not apply.
    """
    if verdict.bounds is not None:
        return verdict.bounds
    if verdict.na:
        return None
    value = verdict.aggregated_value
    return (0.0, 1.0) if value is None else (value, value)


def _unread_limits(verdict: Verdict) -> tuple[float, float] | None:
    """The same for the bounds that lead; None too where all was read and a rule gives no score, and without a value."""
    no_score = verdict.aggregated_value is None and (verdict.read or verdict.unscored_reason == "no_value")
    return None if no_score else score_limits(verdict)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
