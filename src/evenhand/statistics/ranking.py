"""Rankings of systems from contests, with differences and their uncertainty, in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from evenhand.numbers import Missing, measure
from evenhand.statistics.contests import Contests, WinRate, rate_against_each, win_rates
from evenhand.statistics.intervals import FloatArray, Interval, IntervalLevel, Level, mean_intervals
from evenhand.statistics.paired_differences import PairComparison, compare_pairs
from evenhand.statistics.strengths import (
    NO_CONTEST,
    StrengthModel,
    fit_strengths,
    length_controlled_win_rates,
)

AT_ANY_TIME = "its interval holds for a sample of a fixed size, and not at all looks together"
"""The reason for missing model estimates if intervals are to hold at any time."""

ALL_MET = "all systems met equally often, or count alike"

STRENGTH_TOLERANCE = 1e-6
"""Strengths nearer to each other are equal: what the optimiser leaves of a difference is below it."""


def _standing(
    systems: Sequence[str],
    rates: Sequence[Interval | None],
    pairs: Sequence[PairComparison],
    model: StrengthModel | None,
    *,
    anytime: bool,
) -> tuple[dict[int, float], dict[int, str]]:
    """Return the value of each system that has a rank, and the reasons why the others have none.

    Values are strengths for designs that are not balanced: a win rate over opponents that are stronger than another's
    does not show who is better. Against a baseline the baseline's own is over all the others, and in a Swiss design
    every one is drawn towards one half. If all is to hold at any time they are the mean rates against the others, with
    equal weights; where not every two systems met these are over other opponents, and there are no ranks.
    """
    if model is not None:
        values = dict(zip(model.placed, model.log_strengths.tolist(), strict=True))
        return values, {place: one.reason for place, one in enumerate(model.strengths) if isinstance(one, Missing)}
    values = {place: rate.estimate for place, rate in enumerate(rates) if rate is not None}
    names, reason = {systems[place] for place in values}, NO_CONTEST
    if anytime and not all(pair.contests for pair in pairs if {pair.first, pair.second} <= names):
        values, reason = {}, "not every two systems met, and strengths are of a sample of a fixed size"
    return values, dict.fromkeys(set(range(len(systems))) - values.keys(), reason)


def _rank_limits(systems: Iterable[str], pairs: Sequence[PairComparison], level: float) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each system that the tests leave open.

    They go from 1 + the number of systems that are significantly better to k - the number that are significantly
    worse, by the corrected tests: with probability ``level`` all intervals together hold the true ranks. Quantiles of
    the ranks of resampled prompts are not an interval: among systems nearly equal they held the true rank of the best
    in 86 % of simulated data sets instead of 95 %.

    Source: Mogstad, Romano, Shaikh and Wilhelm, Inference for ranks, Review of Economic Studies 91 (2024).
    """
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    for pair in pairs:
        test, difference = pair.difference_test, pair.difference
        if test is not None and difference is not None and test.adjusted_p_value < 1 - level:
            ahead = difference.estimate > 0
            worse[pair.first if ahead else pair.second] += 1
            better[pair.second if ahead else pair.first] += 1
    ranked = list(systems)
    return {system: (1 + better[system], len(ranked) - worse[system]) for system in ranked}


def steps(values: FloatArray, tolerance: float = 1e-9) -> FloatArray:
    """Number the different values along the last axis from 0, the least; what differs by rounding only is one value.

    Means of different votes that are equal on paper differ in the last bit. Rounding them to some digits would still
    part two that lie on either side of a half.

    >>> steps(np.array([0.3, 0.1 + 0.2, 0.1])).tolist()
    [1.0, 1.0, 0.0]
    """
    order = np.argsort(values, axis=-1)
    ascending = np.take_along_axis(values, order, axis=-1)
    rises = np.concatenate(
        [np.zeros_like(ascending[..., :1]), np.cumsum(np.diff(ascending, axis=-1) > tolerance, axis=-1)], axis=-1
    )
    numbered: FloatArray = np.empty_like(rises)
    np.put_along_axis(numbered, order, rises, axis=-1)
    return numbered


def mean_ranks(
    wins: ArrayLike, meetings: ArrayLike, *, balanced: ArrayLike | None = None, level: Level = 0.95
) -> tuple[Interval | None, ...]:
    """Compute the mean over prompts of every system's rank within the prompt, 1 the best.

    Equals share the mean of the ranks that they take up (mid-ranks), so that on every prompt the ranks of k systems
    sum to k(k + 1)/2. Only complete prompts count, those on which every two ranked systems met, all equally often: a
    rank among fewer systems would be a better one for the same win rate, and one over easier opponents too. Ranked are
    the systems with a scored contest on any prompt.

    Source: mid-ranks as in Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).

    Args:
        wins: Shape (n prompts, k): of every system, on every prompt.
        meetings: The same shape: the scored contests that these are of.
        balanced: Shape (n prompts,): on which every two systems with a scored contest there met equally often; by
            default all.
        level: The level of the intervals over the prompts, which lie between 1 and the number of ranked systems.

    Returns:
        One interval per system; None for a system without a scored contest, and for all when fewer than two are ranked
        or no prompt is complete.

    >>> first, second, third = mean_ranks([[2, 0.5, 0.5], [1, 2, 0], [1, 0, 0]], [[2, 2, 2], [2, 2, 2], [1, 1, 0]])
    >>> first.estimate, second.estimate, third.estimate  # (1 + 2)/2, (2.5 + 1)/2, (2.5 + 3)/2; the third is incomplete
    (1.5, 1.75, 2.75)
    """
    scores, counts = np.asarray(wins, dtype=float), np.asarray(meetings, dtype=float)
    found: list[Interval | None] = [None] * int(scores.shape[1])
    ranked = np.flatnonzero(counts.sum(axis=0))
    scores, counts = scores[:, ranked], counts[:, ranked]
    complete = (counts > 0).all(axis=1) & (True if balanced is None else np.asarray(balanced, dtype=np.bool_))
    if len(ranked) < 2 or not complete.any():
        return tuple(found)
    ranks = rankdata(-steps(scores[complete] / counts[complete]), axis=1)
    made = mean_intervals(ranks, level=IntervalLevel.of(level).only(complete), bounds=(1.0, float(len(ranked))))
    for system, interval in zip(ranked.tolist(), made, strict=True):
        found[system] = interval
    return tuple(found)


def _mean_ranks_of(contests: Contests, model: StrengthModel | None, level: Level) -> dict[int, Interval | None]:
    """Compute the mean ranks over single prompts, and over the clusters of the prompts.

    On a prompt on which not all systems met, ranks would be over unequal opponents: where no prompt is complete, the
    mean rank is the one that strengths expect, ``1 + (k - 1)(1 - p)``, with p the win rate against all k - 1 others by
    the model: 1 and the mean number of systems that win on a prompt.
    """
    held = contests.by_prompt.meetings
    within = mean_ranks(*held.by_system, balanced=held.balanced, level=contests.prompt_level(level))
    if any(within) or model is None:
        return dict(enumerate(within))
    expected = zip(model.placed, model.field_win_rates, strict=True)
    return {system: rate.subtracted_from(1.0).on_scale(1.0, len(model.placed) - 1) for system, rate in expected}


@dataclass(frozen=True, kw_only=True)
class SystemRanking:
    """The results of one system. A missing number gives the reason.

    Attributes:
        system: Its name.
        winrate: The mean score, a tie counting half; where it is to hold at any time, the mean of the rates against
            each of the others (:func:`~evenhand.statistics.contests.rate_against_each`).
        contests: Contests, scored or not.
        ties: Scored contests without a winner.
        num_unscored: Contests without a score.
        rank: 1 + the number of systems with a higher win rate, or strength.
        rank_low: The best rank that the tests leave open.
        rank_high: The worst rank that the tests leave open.
        mean_rank: See :func:`mean_ranks`; without a complete prompt the one that strengths expect.
        strength: Davidson's log-strength.
        field_winrate: Where not all met equally often: the win rate that the model expects against all the others,
            each once in both orders.
        length_controlled_winrate: The win rate as it would be if all responses were equally long.
    """

    system: str
    winrate: Interval | Missing = measure("score", always=True, bounds="unscored_bounds")
    field_winrate: Interval | Missing = measure("score")
    mean_rank: Interval | Missing = measure("number", always=True)
    rank: int | Missing = measure("count", always=True)
    rank_low: int | Missing = measure("count", name="rank_ci_low", always=True)
    rank_high: int | Missing = measure("count", name="rank_ci_high", always=True)
    strength: Interval | Missing
    length_controlled_winrate: Interval | Missing
    contests: int = measure("count", name="num_contests")
    ties: int = measure("count", name="num_ties")
    num_unscored: int = measure("count")


@dataclass(frozen=True)
class Ranking:
    """The ranking of the systems of contests.

    Attributes:
        systems: One per system, best rank first; systems without a rank last.
        pairs: Every two systems: head to head, difference, tests.
        groups: Systems that are not distinguishable, best first.
        position: The probability that the system shown first wins a decided contest between equals.
        balanced: Every two systems with a scored contest met in equally many, or every opponent counts alike, since
            all is to hold at any time. Ranks, groups and differences are of win rates then.
            When not (a baseline, a Swiss design, replies that could not be read), win rates are over opponents of
            unequal strength, and ranks, groups and differences are of strengths.
        contests_added: Whether contests were added to strengths that the contests alone leave infinite.
        level: The level of the intervals, and one minus the error rate of the groups.
        prompts: The number of clusters.
        anytime: Intervals and tests hold at all looks at a growing sample together, and wherever it stops.
    """

    systems: tuple[SystemRanking, ...]
    pairs: tuple[PairComparison, ...]
    groups: tuple[tuple[str, ...], ...]
    position: Interval | Missing
    balanced: bool
    contests_added: bool
    level: float
    prompts: int
    anytime: bool


def rank_systems(
    contests: Contests,
    *,
    presented: Contests | None = None,
    rounds: ArrayLike | None = None,
    length_difference: ArrayLike | None = None,
    level: Level = 0.95,
) -> Ranking:
    """Rank the systems of contests.

    Win rates and pairs head to head come from ``contests``. Strengths and ties come from ``presented`` when
    it is given, together with the position advantage: an order's effect cannot be seen once the orders are collapsed.
    Ranks, groups and differences are of win rates where all systems met equally often, and otherwise of strengths.

    In ``python -m benchmarks.ranks`` (8 systems 2 log-odds apart, 40 prompts) all intervals together held the true
    ranks in all of 200 data sets with a tenth of the contests unscored, against a baseline and in Swiss designs of
    three rounds.

    Args:
        contests: Resolved: a row per pair and prompt, the orders collapsed.
        presented: The same contests before that, a row for every order shown; the same systems.
        rounds: Shape of ``contests``: the round of each, where the results of one round decided who met in the next.
        length_difference: Shape of ``contests``: length of the first response minus that of the second, NaN unknown.
        level: The level of all intervals; the groups have the error rate ``1 - level``.

    >>> contests = Contests.of(["a", "b"], first=[0] * 8, second=[1] * 8, score=[1, 1, 1, 0, 0.5, 1, 1, 0])
    >>> ranking = rank_systems(contests)
    >>> [(system.system, system.winrate.estimate) for system in ranking.systems], ranking.groups
    ([('a', 0.6875), ('b', 0.3125)], (('a', 'b'),))
    """
    over, shown = IntervalLevel.of(level), contests if presented is None else presented
    anytime, ordered = over.method == "anytime", presented is not None
    balanced = anytime or bool(contests.meetings.in_all.balanced.all())
    records, scored, field = win_rates(contests, level=over), contests.scored, None
    if not balanced:  # votes on systems without scored contests are excluded
        kept = np.union1d(scored.first, scored.second)
        rows = np.isin(shown.first, kept) & np.isin(shown.second, kept)
        field = fit_strengths(shown.only(rows), order_effect=ordered, level=over, place_all=True)
    adaptive = rounds is not None and len(np.unique(np.asarray(rounds)[~np.isnan(contests.score)])) > 1
    pairs = compare_pairs(contests, strengths=field, adaptive=adaptive, level=over)
    rates = [record.win_rate for record in records]
    if anytime:
        against = [rate_against_each(*contests.meetings.of_system(each), level=over) for each in range(len(records))]
        rates = [None if found is None else found[0] for found in against]
    values, reasons = _standing(contests.systems, rates, pairs, field, anytime=anytime)
    limits = _rank_limits([contests.systems[place] for place in values], pairs, over.level)
    tolerance = STRENGTH_TOLERANCE if field else 1e-9
    places = rankdata(-steps(np.array(list(values.values())), tolerance), method="min").astype(int).tolist()
    ranks = dict(zip(values, places, strict=True))
    mean = _mean_ranks_of(contests, field, over)
    position: Interval | Missing = Missing(AT_ANY_TIME)  # an interval that does not hold is not one
    strengths: Sequence[Interval | Missing] = [position] * len(records)
    at_equal_length = strengths if anytime else [Missing("no contest with lengths")] * len(records)
    if not anytime:
        model = fit_strengths(shown, order_effect=ordered, level=over)
        strengths, position = model.strengths, model.position_probability
        if length_difference is not None:
            at_equal_length = length_controlled_win_rates(contests, length_difference, level=over).win_rates
    expected = dict(zip(field.placed, field.field_win_rates, strict=True)) if field else {}
    order = sorted(range(len(records)), key=lambda place: (ranks.get(place, np.inf), place))
    entries = []
    for place in order:
        system, unranked = contests.systems[place], Missing(reasons.get(place, ALL_MET))
        low, high = limits.get(system, (unranked, unranked))
        entries.append(
            SystemRanking(
                system=system,
                winrate=rates[place] or Missing(NO_CONTEST),
                contests=records[place].contests + records[place].unscored,
                ties=records[place].ties,
                num_unscored=records[place].unscored,
                rank=ranks.get(place, unranked),
                rank_low=low,
                rank_high=high,
                mean_rank=mean.get(place) or Missing("no instance on which all systems met"),
                strength=_supported(strengths[place], records[place]),
                field_winrate=expected.get(place) or unranked,
                length_controlled_winrate=at_equal_length[place],
            )
        )
    return Ranking(
        systems=tuple(entries),
        pairs=pairs,
        groups=indistinguishable_groups(pairs, [each.system for each in entries], level=over.level),
        position=position,
        balanced=balanced,
        contests_added=field is not None and field.contests_added,
        level=over.level,
        prompts=len(np.unique(contests.prompt)),
        anytime=anytime,
    )


def _supported(strength: Interval | Missing, record: WinRate) -> Interval | Missing:
    """Return the strength, or why the data do not support it."""
    if not strength:
        return strength
    if record.win_rate is None:  # strengths come from single votes, which the rules may have set aside
        return Missing(NO_CONTEST)
    return strength if np.isfinite(strength.low) else Missing("the data leave its interval open")


def indistinguishable_groups(
    comparisons: Sequence[PairComparison], systems: Sequence[str], *, level: float = 0.95
) -> tuple[tuple[str, ...], ...]:
    """Group the systems that are not distinguishable: the maximal sets without a significant difference inside.

    Two systems differ when the adjusted p-value of their difference is below ``1 - level``; a pair that was not tested
    is not distinguishable. A system may stand in several groups (a with b, b with c, yet a above c), as letters do in a
    compact letter display, and every system stands in at least one.

    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
    Computational and Graphical Statistics 13 (2004), whose insert-and-absorb algorithm this is.

    Args:
        comparisons: Of ``compare_pairs``.
        systems: In the order in which they are to be listed, best first.
        level: One minus the family-wise error rate.

    >>> contests = Contests.of(["a", "b"], first=[0] * 9, second=[1] * 9, score=[1] * 9)
    >>> indistinguishable_groups(compare_pairs(contests), ["a", "b"])  # p = 2 / 2^9
    (('a',), ('b',))
    """
    groups = {frozenset(systems)}
    for pair in comparisons:
        if pair.difference_test is not None and pair.difference_test.adjusted_p_value < 1 - level:
            for group in [each for each in groups if {pair.first, pair.second} <= each]:
                groups.remove(group)
                parts = (group - {pair.first}, group - {pair.second})
                groups |= {part for part in parts if not any(part <= other for other in groups)}
    place = {system: position for position, system in enumerate(systems)}
    listed = sorted(sorted(place[system] for system in group) for group in groups)
    return tuple(tuple(systems[position] for position in group) for group in listed)
