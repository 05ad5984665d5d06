"""Differences of systems, on the same rows or over their contests, and rankings of systems from contests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.stats import rankdata

from evenhand.numbers import Missing, UnscoredBounds, measure
from evenhand.statistics.contests import (
    Contests,
    Difference,
    DifferenceTest,
    TestMethod,
    rate_against_each,
    win_rate_intervals,
)
from evenhand.statistics.intervals import (
    FloatArray,
    IntArray,
    Interval,
    IntervalLevel,
    Level,
    bets_on,
    cluster_sums,
    mean_intervals,
    mean_leads,
    ratio_intervals,
)
from evenhand.statistics.strengths import NO_CONTEST, StrengthModel, fit_strengths, length_controlled_win_rates

MOST_ENUMERATED = 12
"""The most differing clusters for which all assignments of signs are enumerated."""

ENOUGH_CLUSTERS = 5
"""The fewest clusters with a difference other than 0 for which the logit scale is used."""

_ROUNDING = 1e-9


def paired_test(differences: ArrayLike, labels: IntArray | None = None) -> DifferenceTest:
    """Test that the sum of differences is zero; not adjusted.

    If the two systems are exchangeable within a cluster, its difference is as likely to have the one sign as the other.
    With up to 12 clusters that differ the p-value is the share of the 2^m assignments of signs whose absolute sum is at
    least the observed one (``"exact"``); with differences of equal size, however many, that is McNemar's exact test or
    the sign test. Otherwise it is that of Student's t over the sums of all clusters (``"t"``), at least 2 / 2^m, below
    which no assignment of signs can fall.

    Source: Fisher, The Design of Experiments (1935), section 21; Student (1908).

    Args:
        differences: Shape (n,): one per row, without a gap.
        labels: Shape (n,): the cluster of each row, from 0; by default each is one.

    >>> test = paired_test([1, 1, 1, 0, 1, 1])  # 2 of 2^5 assignments
    >>> test.p_value, test.method, test.clusters
    (0.0625, 'exact', 5)
    """
    sums = np.asarray(differences, dtype=float)
    if labels is not None:
        sums = cluster_sums(sums, np.unique(labels, return_inverse=True)[1])
    differing = sums[np.abs(sums) > 1e-12 * np.abs(sums).max(initial=0.0)]
    size, m = np.abs(differing), len(differing)
    method: TestMethod = "exact"
    if m <= MOST_ENUMERATED:
        p_value = (np.abs(_all_signs(m) @ size) >= abs(sums.sum()) - _ROUNDING * size.sum()).mean()
    elif np.ptp(size) <= _ROUNDING * size[0]:
        p_value = stats.binomtest(int((differing > 0).sum()), m).pvalue
    else:
        p_value, method = max(stats.ttest_1samp(sums, 0.0).pvalue, 2.0 ** (1 - m)), "t"
    return DifferenceTest(float(p_value), float(p_value), method, m)


@cache
def _all_signs(count: int) -> FloatArray:
    """Return every assignment of signs, shape (2 ** count, count)."""
    return np.ones(1) - 2.0 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)


def betting_test(scores: FloatArray, counts: FloatArray) -> DifferenceTest:
    """Return the test that sum(scores) / sum(counts) of clusters is one half, valid at any time; not adjusted.

    Holm's correction holds at any time too. Whenever one looks, 1 / K of a pair is at least 1 over the largest K that
    the pair ever reaches, and that one, by Ville, is a p-value; Holm's procedure needs p-values and nothing else, and
    what it rejects for larger ones it rejects for smaller ones. So all that is rejected at any look is rejected by the
    correction over the p-values of all time, whose error over the family is at most the level. A pair that is not asked
    any further keeps its K.

    Args:
        scores: Shape (n,): between 0 and ``counts``.
        counts: Shape (n,).
    """
    p_value = bets_on(scores, counts).p_value()
    differing = int(np.count_nonzero(np.abs(scores - counts / 2) > 1e-12))
    return DifferenceTest(p_value, p_value, "betting", differing)


def name_of_tests(tests: Iterable[DifferenceTest | None]) -> str:
    """Return the heading of paired differences: the method of their p-values.

    >>> name_of_tests([paired_test([1, 1]), None]), name_of_tests([])
    ('sign-flip test', 'sign-flip test')
    """
    names = {"exact": "sign-flip test", "t": "paired t test", "betting": "bets, which hold at any time"}
    found = {test.method for test in tests if test is not None}
    return " or ".join(name for method, name in names.items() if method in found) or names["exact"]


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's step-down correction; it controls the family-wise error under any dependence.

    With the p-values ascending, ``adjusted_(i) = max over j <= i of min(1, (n - j + 1) p_(j))``.

    Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).

    Args:
        p_values: Shape (n,), in [0, 1].

    >>> holm([0.01, 0.04, 0.03]).tolist()  # 3 · 0.01, 2 · 0.03, and 1 · 0.04 raised to the one before
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values)
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, values[order] * np.arange(len(values), 0, -1)))
    return adjusted


def adjusted_tests(tests: Sequence[DifferenceTest | None]) -> list[DifferenceTest | None]:
    """Return the same tests, those that were made adjusted by :func:`holm` over all of them."""
    adjusted = iter(holm([test.p_value for test in tests if test is not None]).tolist())
    return [None if test is None else replace(test, adjusted_p_value=next(adjusted)) for test in tests]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One system's score less another's, over the rows on which both have one.

    Attributes:
        score: The name of the score, such as that of a criterion; empty if it has none.
        first: The system from which the other is subtracted.
        second: The other system.
        difference: The mean of (score of the first - score of the second); None without such a row.
        test: The test that it is 0, adjusted by Holm over the whole family; None without such a row.
        n_compared: Rows on which both systems have a score.
        n_set_aside: Rows on which only one of the systems has a score.
        if_unscored_low: The least possible difference of the means over all rows if every vote had been scored.
        if_unscored_high: The greatest. Both equal the difference if every vote was scored, and are None without a row.
    """

    score: str
    first: str
    second: str
    difference: Interval | None
    test: DifferenceTest | None
    n_compared: int
    n_set_aside: int
    if_unscored_low: float | None
    if_unscored_high: float | None

    @property
    def p_value(self) -> float | None:
        """The p-value of no difference, corrected over the whole family; None without a test."""
        return None if self.test is None else self.test.adjusted_p_value

    @property
    def unscored_bounds(self) -> UnscoredBounds | None:
        """The bounds that lead, if unscored votes could make the difference misleading; else None.

        Their interval extends as far beyond them as that of the difference.
        """
        known, low, high = self.difference, self.if_unscored_low, self.if_unscored_high
        if known is None or low is None or high is None or mean_leads(known, low, high):
            return None
        limits = low - (known.estimate - known.low), high + (known.high - known.estimate)
        return UnscoredBounds(low, high, *limits, self.n_set_aside / (self.n_compared + self.n_set_aside))


def paired_differences(
    scores: ArrayLike,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    level: Level = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    systems: Sequence[str] = (),
    score: str = "",
) -> tuple[PairedDifference, ...]:
    r"""Compare every two systems by their scores on the same rows.

    The estimate is :math:`\bar d = \frac1n\sum_r (x_{rs} - x_{rt})` over the rows where both have a score. Its interval
    is Student's on the logit scale of :math:`(1 + \bar d / w)/2`, with w the width between the bounds of scores and the
    standard error over clusters, as for the differences of win rates; with fewer than five clusters whose difference is
    not 0 it is the one with the bounds -w and w. The test is :func:`paired_test`. Holm's correction makes the p-values
    hold together, over all pairs here or over a larger family by :func:`over_one_family`.

    In ``python -m benchmarks.paired_differences`` (three systems, 10 to 200 clusters of 1 or 8 rows) nominal 95 %
    intervals held the truth in 93.9 to 99.6 % of the cases, and of families of three equal systems 0 to 5.0 % had an
    adjusted p-value below 0.05. The same rows of clusters taken as independent: 69 to 87 %, and 15 to 41 %.

    Args:
        scores: (n_rows, n_systems) within the bounds; NaN where there is none.
        low: The same shape: the least that the score could have been had every vote been scored; NaN where the
            question does not apply. Without it a missing score could be anything.
        high: The greatest.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the rows.
        bounds: The least and the greatest that a score can be; a difference goes as far as they are apart.
        systems: The names of the systems; by default the places of their columns.
        score: The name of the score.

    Returns:
        One per pair, the first system before the second in the order of the columns.

    Source: McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6; Liang and Zeger (1986),
    Biometrika 73, for the standard error.

    The first system is better on four of five rows, and one row has only its score.

    >>> nan = float("nan")
    >>> (pair,) = paired_differences([[1, 0], [1, 0], [1, 0], [1, 0], [1, 1], [1, nan]])
    >>> pair.n_compared, pair.n_set_aside, pair.difference.estimate, pair.test.p_value  # 2 of 2^4 signs
    (5, 1, 0.8, 0.125)
    >>> round(pair.if_unscored_low, 3), round(pair.if_unscored_high, 3)  # (4 + 0) / 6, (4 + 1) / 6
    (0.667, 0.833)
    """
    over, table = IntervalLevel.of(level), np.asarray(scores, dtype=float)
    missing, labels = np.isnan(table), over.labels(len(table))
    least = np.where(missing, bounds[0], table) if low is None else np.asarray(low, dtype=float)
    most = np.where(missing, bounds[1], table) if high is None else np.asarray(high, dtype=float)
    columns, least, most = (np.asfortranarray(each) for each in (table, least, most))
    found, names = [], systems or [str(place) for place in range(table.shape[1])]
    for i, j in combinations(range(table.shape[1]), 2):
        differences = columns[:, i] - columns[:, j]
        both = ~np.isnan(differences)
        applies = ~(np.isnan(least[:, i]) | np.isnan(least[:, j]))
        limits = [
            float((mine[applies, i] - theirs[applies, j]).mean()) if applies.any() else None
            for mine, theirs in ((least, most), (most, least))
        ]
        inferred = _inferred(differences[both], labels[both], over, bounds[1] - bounds[0])
        counts = int(both.sum()), int((missing[:, i] != missing[:, j]).sum())
        found.append(PairedDifference(score, names[i], names[j], *inferred, *counts, *limits))
    return over_one_family(found)


def over_one_family(pairs: Sequence[PairedDifference]) -> tuple[PairedDifference, ...]:
    """Return the same comparisons, the p-values adjusted by Holm over all of them."""
    tests = adjusted_tests([pair.test for pair in pairs])
    return tuple(replace(pair, test=test) for pair, test in zip(pairs, tests, strict=True))


def _inferred(differences: FloatArray, labels: IntArray, level: IntervalLevel, width: float) -> Difference:
    """Compute the mean with its interval, and the test by clusters that it is 0."""
    if not len(differences):
        return None, None
    labels = np.unique(labels, return_inverse=True)[1]
    sums, counts = cluster_sums(differences, labels), cluster_sums(np.ones(len(differences)), labels)
    anytime = level.method == "anytime"
    test = betting_test((counts + sums / width) / 2, counts) if anytime else paired_test(sums)
    (interval,) = ratio_intervals(
        sums,
        counts,
        level=level.over(None),
        bounds=(-width, width),
        on_logit_scale=test.clusters >= ENOUGH_CLUSTERS,
    )
    return interval, test


@dataclass(frozen=True)
class PairComparison:
    """The comparison of two systems. A value without data is None.

    Attributes:
        first: The one system.
        second: The other.
        contests: Scored contests between the two.
        win_rate: Mean score of ``first`` in these; None when they never met.
        win_rate_test: The test of a win rate of one half.
        difference: How far ``first`` stands above ``second`` in this field. Where all met equally often: its win rate
            over all its contests minus the other's, paired by prompt. Otherwise: its strength (log-odds) minus the
            other's.
        difference_test: Of no difference.
    """

    first: str
    second: str
    contests: int
    win_rate: Interval | None
    win_rate_test: DifferenceTest | None
    difference: Interval | None
    difference_test: DifferenceTest | None


def compare_pairs(
    contests: Contests,
    *,
    strengths: StrengthModel | None = None,
    adaptive: bool = False,
    level: Level = 0.95,
) -> tuple[PairComparison, ...]:
    """Compare every two systems, head to head and by their win rates over all contests, or by their strengths.

    The head-to-head rate answers who wins when the two meet; the difference of win rates answers who stands higher in
    this field, and exists without a meeting (both against a baseline). It says so only where all systems met equally
    often: else the opponents differ, and the strengths are what to compare. Each family of tests is corrected by Holm
    for its own number of tests. The interval of the difference d is that of (1 + d) / 2 by `win_rate_intervals`, over
    the prompts' linearised contributions; its test is :func:`paired_test` of the contributions, both rates replaced by
    the pooled one. At a level that holds at any time a difference is that of the two head to head: contests are asked
    for until they decide a pair, so that rates over all contests would be over opponents as the results chose them.

    Args:
        contests: Resolved contests, or presented ones: all contests of a prompt stay together.
        strengths: Take the differences and their tests from this model.
        adaptive: Whether results decided who met; with strengths.
        level: The level of the intervals.

    Returns:
        One comparison for every i < j, in the order of ``Contests.systems``.

    >>> contests = Contests.of(["a", "b"], first=[0] * 4, second=[1] * 4, score=[1, 1, 1, 0.5])
    >>> (pair,) = compare_pairs(contests)
    >>> pair.win_rate.estimate, pair.difference.estimate, pair.win_rate_test.p_value
    (0.875, 0.75, 0.25)
    """
    over, meetings, names = IntervalLevel.of(level), contests.meetings, contests.systems
    anytime, pairs = over.method == "anytime", [*combinations(range(len(names)), 2)]
    direct: list[tuple[int, Interval | None, DifferenceTest | None]] = []
    for pair in pairs:
        won, fought, number = meetings.of_pair(*pair)
        if number:
            (rate,) = win_rate_intervals(won, fought, level=over)
            direct.append((number, rate, betting_test(won, fought) if anytime else paired_test(won - fought / 2)))
        else:
            direct.append((0, None, None))
    if anytime:
        found: list[Difference] = [(rate and rate.on_scale(-1.0, 2.0), test) for _, rate, test in direct]
    elif strengths is None:
        scores, counts = meetings.by_system
        found = [_of_win_rates(scores[:, pair], counts[:, pair], over) for pair in pairs]
    else:
        found = [strengths.difference(*pair, adaptive=adaptive) for pair in pairs]
    tests, apart = adjusted_tests([test for *_, test in direct]), [test for _, test in found]
    apart = apart if adaptive and strengths else adjusted_tests(apart)
    columns = zip(pairs, direct, tests, found, apart, strict=True)
    return tuple(
        PairComparison(names[i], names[j], number, rate, test, difference, test_apart)
        for (i, j), (number, rate, _), test, (difference, _), test_apart in columns
    )


def _of_win_rates(scores: FloatArray, counts: FloatArray, level: IntervalLevel) -> Difference:
    """Compare two systems by what they took, and the weight of their contests: shape (clusters, 2) each."""
    taken, fought = scores.sum(axis=0), counts.sum(axis=0)
    if not fought.all():
        return None, None
    shares, weights, there = scores / fought, counts / fought, (counts > 0).any(axis=1)
    rates, apart = taken / fought, np.array([1.0, -1.0])
    difference = float(rates @ apart)
    parts = there * (1 + difference + there.sum() * (shares - rates * weights) @ apart) / 2
    # a prompt's part of the whole may lie outside [0, 1] where prompts have unequal numbers of contests
    (interval,) = ratio_intervals(parts, there, level=level, on_logit_scale=True)
    pooled = shares - taken.sum() / fought.sum() * weights
    return interval and replace(interval.on_scale(-1.0, 2.0), estimate=difference), paired_test((pooled @ apart)[there])


AT_ANY_TIME = "its interval holds for a sample of a fixed size, and not at all looks together"
"""The reason for missing model estimates if intervals are to hold at any time."""

ALL_MET = "all systems met equally often, or count alike"

STRENGTH_TOLERANCE = 1e-6
"""Strengths nearer to each other are equal: what the optimiser leaves of a difference is below it."""


def _standing(
    contests: Contests, rates: Sequence[Interval | None], model: StrengthModel | None, *, anytime: bool
) -> tuple[dict[int, float], list[Missing]]:
    """Return the value of each system that has a rank, and the reason why a system has none.

    Values are strengths for designs that are not balanced: a win rate over opponents that are stronger than another's
    does not show who is better. Against a baseline the baseline's own is over all the others, and in a Swiss design
    every one is drawn towards one half. If all is to hold at any time they are the mean rates against the others, with
    equal weights; where not every two systems met these are over other opponents, and there are no ranks.
    """
    values, reason = {place: rate.estimate for place, rate in enumerate(rates) if rate is not None}, NO_CONTEST
    if model is not None:
        values = dict(zip(model.placed, model.log_strengths.tolist(), strict=True))
        return values, [Missing(one.reason if isinstance(one, Missing) else ALL_MET) for one in model.strengths]
    held = contests.meetings.totals[1][np.ix_([*values], [*values])]
    if anytime and np.count_nonzero(held) < len(values) * (len(values) - 1):
        values, reason = {}, "not every two systems met, and strengths are of a sample of a fixed size"
    return values, [Missing(ALL_MET if place in values else reason) for place in range(len(rates))]


def steps(values: FloatArray, tolerance: float = 1e-9) -> IntArray:
    """Number the different values along the last axis from 0, the least; what differs by rounding only is one value.

    Means of different votes that are equal on paper differ in the last bit. Rounding them to some digits would still
    part two that lie on either side of a half.

    >>> steps(np.array([0.3, 0.1 + 0.2, 0.1])).tolist()
    [1, 1, 0]
    """
    order = np.argsort(values, axis=-1)
    ascending = np.take_along_axis(values, order, axis=-1)
    rises = np.cumsum(np.diff(ascending, axis=-1, prepend=ascending[..., :1]) > tolerance, axis=-1)
    numbered: IntArray = np.empty_like(rises)
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
    held = replace(contests, cluster=contests.prompt).meetings
    over = IntervalLevel.of(level).over(contests.cluster[np.unique(contests.prompt, return_index=True)[1]].tolist())
    within = mean_ranks(*held.by_system, balanced=held.balanced, level=over)
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
        rank_low: The best rank that the tests leave open: 1 + the number of systems that are significantly better.
        rank_high: The worst one: k less the number that are significantly worse.
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
        level: The level of the intervals, and one minus the error rate of the groups.
        anytime: Intervals and tests hold at all looks at a growing sample together, and wherever it stops.
    """

    systems: tuple[SystemRanking, ...]
    pairs: tuple[PairComparison, ...]
    groups: tuple[tuple[str, ...], ...]
    position: Interval | Missing
    balanced: bool
    level: float
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

    All rank intervals together hold the true ranks with probability ``level`` (Mogstad, Romano, Shaikh and Wilhelm,
    Inference for ranks, Review of Economic Studies 91 (2024)). Quantiles of the ranks of resampled prompts are not an
    interval: among systems nearly equal they held the true rank of the best in 86 % of simulated data sets instead of
    95 %. In ``python -m benchmarks.ranks`` (8 systems 2 log-odds apart, 40 prompts) all intervals together held the
    true ranks in all of 200 data sets with a tenth of the contests unscored, against a baseline and in Swiss designs of
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
    held = contests.meetings.totals[1]
    size = np.count_nonzero(held.any(axis=0))
    balanced = anytime or np.count_nonzero(held == held.max(initial=1)) == size * (size - 1)
    scored, field, count = contests.scored, None, len(contests.systems)
    if not balanced:  # votes on systems without scored contests are excluded
        kept = np.union1d(scored.first, scored.second)
        rows = np.isin(shown.first, kept) & np.isin(shown.second, kept)
        field = fit_strengths(shown.only(rows), order_effect=ordered, level=over, place_all=True)
    adaptive = rounds is not None and len(np.unique(np.asarray(rounds)[~np.isnan(contests.score)])) > 1
    pairs = compare_pairs(contests, strengths=field, adaptive=adaptive, level=over)
    alone = win_rate_intervals(*contests.meetings.by_system, level=over)
    against = [rate_against_each(*contests.meetings.of_system(each), level=over) for each in range(count * anytime)]
    rates = against if anytime else alone
    values, reasons = _standing(contests, rates, field, anytime=anytime)
    apart = [
        (pair.first, pair.second) if pair.difference.estimate > 0 else (pair.second, pair.first)
        for pair in pairs
        if pair.difference and pair.difference_test and pair.difference_test.adjusted_p_value < 1 - over.level
    ]
    worse, better = (Counter(pair[side] for pair in apart) for side in (0, 1))
    tolerance = STRENGTH_TOLERANCE if field else 1e-9
    places = rankdata(-steps(np.array(list(values.values())), tolerance), method="min").astype(int).tolist()
    ranks = dict(zip(values, places, strict=True))
    mean = _mean_ranks_of(contests, field, over)
    position: Interval | Missing = Missing(AT_ANY_TIME)  # an interval that does not hold is not one
    strengths: Sequence[Interval | Missing] = [position] * count
    at_equal_length = strengths if anytime else [Missing("no contest with lengths")] * count
    if not anytime:
        model = fit_strengths(shown, order_effect=ordered, level=over)
        strengths, position = model.strengths, model.position_probability
        if length_difference is not None:
            at_equal_length = length_controlled_win_rates(contests, length_difference, level=over)
    expected = dict(zip(field.placed, field.field_win_rates, strict=True)) if field else {}
    order = sorted(range(count), key=lambda place: (ranks.get(place, np.inf), place))
    entries = []
    for place in order:
        system, unranked = contests.systems[place], reasons[place]
        own, strength = contests.score[(contests.first == place) | (contests.second == place)], strengths[place]
        if strength and alone[place] is None:  # strengths come from single votes, which the rules may have set aside
            strength = Missing(NO_CONTEST)
        elif isinstance(strength, Interval) and not np.isfinite(strength.low):
            strength = Missing("the data leave its interval open")
        entries.append(
            SystemRanking(
                system=system,
                winrate=rates[place] or Missing(NO_CONTEST),
                contests=len(own),
                ties=int((own == 0.5).sum()),
                num_unscored=int(np.isnan(own).sum()),
                rank=ranks.get(place, unranked),
                rank_low=1 + better[system] if place in values else unranked,
                rank_high=len(values) - worse[system] if place in values else unranked,
                mean_rank=mean.get(place) or Missing("no instance on which all systems met"),
                strength=strength,
                field_winrate=expected.get(place) or unranked,
                length_controlled_winrate=at_equal_length[place],
            )
        )
    return Ranking(
        systems=tuple(entries),
        pairs=pairs,
        groups=indistinguishable_groups(apart, [each.system for each in entries]),
        position=position,
        balanced=balanced,
        level=over.level,
        anytime=anytime,
    )


def indistinguishable_groups(apart: Iterable[tuple[str, str]], systems: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Group the systems that are not distinguishable: the maximal sets without a significant difference inside.

    A pair that was not tested is not distinguishable. A system may stand in several groups (a with b, b with c, yet a
    above c), as letters do in a compact letter display, and every system stands in at least one.

    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
    Computational and Graphical Statistics 13 (2004), whose insert-and-absorb algorithm this is.

    Args:
        apart: The pairs of systems whose difference is significant.
        systems: In the order in which they are to be listed, best first.

    >>> indistinguishable_groups([("a", "c")], ["a", "b", "c"])
    (('a', 'b'), ('b', 'c'))
    """
    groups = {frozenset(systems)}
    for pair in apart:
        for group in [each for each in groups if each.issuperset(pair)]:
            groups.remove(group)
            parts = [group - {system} for system in pair]
            groups |= {part for part in parts if not any(part <= other for other in groups)}
    place = {system: position for position, system in enumerate(systems)}
    listed = sorted(sorted(place[system] for system in group) for group in groups)
    return tuple(tuple(systems[position] for position in group) for group in listed)
