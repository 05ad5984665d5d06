"""How far systems differ, on the same rows or over their contests: tests, every pair, and who cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.fft import irfft, next_fast_len
from scipy.special import expit, logit, ndtr

from evenhand.errors import InvalidInputError
from evenhand.options import FOR_INDEPENDENT_ROWS
from evenhand.statistics.contests import Contests, win_rate_intervals
from evenhand.statistics.intervals import (
    Interval,
    IntervalLevel,
    bets_on,
    cluster_sums,
    mean_intervals,
    ratio_intervals,
)
from evenhand.statistics.resampling import FloatArray, IntArray
from evenhand.statistics.strength_contrasts import StrengthContrasts

SignFlipMethod = Literal["exact", "bound", "normal"]

MOST_ENUMERATED = 12
"""Up to so many informative prompts all assignments of signs are listed."""

MOST_CELLS = 10_000_000
"""Work allowed for the distribution of the sum on a grid: informative prompts times cells."""

_ROUNDING = 1e-9
"""Differences this close to a multiple of the unit, relative to the largest, are that multiple."""

_BY_ORDER = ("anytime", "bootstrap")
"""Methods whose numbers depend on the order of the clusters, that of their first rows."""

_CELLS_OF_PAIRS = 1 << 17
"""Cells of a table that holds a column for each of some pairs."""

_MANY_ALIKE = 25
"""Of so many differences a size and more the distribution of the sum is transformed and not convolved one by one."""

_NEGLIGIBLE = -60.0
"""The logarithm of what a transform that is 1 somewhere may leave out."""

_WIDEST_BOUND = 0.02
"""The rounding to a grid may move the sum by this share of its standard deviation, no more."""


@dataclass(frozen=True)
class DifferenceTest:
    """A two-sided test that two systems do not differ.

    Attributes:
        p_value: Of this test alone; of strengths by Student's t with one degree of freedom less than clusters; by
            ``"betting"`` it holds at all looks together.
        adjusted_p_value: After Holm's correction over all pairs that were tested; of strengths for all pairs at once,
            by the largest ratio of a difference to its standard error.
        method: ``"exact"``, ``"bound"`` or ``"normal"``: see :func:`sign_flip_p_value`; ``"max_t"``: of strengths, see
            :func:`~evenhand.statistics.strength_contrasts.contrast_strengths`; ``"betting"``: see
            :class:`~evenhand.statistics.anytime.ConfidenceSequence`.
        clusters: Prompts whose difference is not zero: only these inform; of strengths those with a scored contest.
    """

    p_value: float
    adjusted_p_value: float
    method: SignFlipMethod | Literal["max_t", "betting"]
    clusters: int


_Difference = tuple[Interval | None, DifferenceTest | None]


def sign_flip_p_value(differences: ArrayLike) -> tuple[float, SignFlipMethod, int]:
    """Test that the sum of independent differences is zero by flipping their signs.

    If the two systems are exchangeable within a prompt, a prompt's difference is as likely to have the one sign as
    the other. The p-value is the share of the 2^m assignments of signs whose absolute sum is at least the observed
    one, with m the number of differences that are not zero. With differences of equal size this is the exact McNemar
    or sign test: ``binomtest(wins, m, 0.5)``.

    How it is found:

    * ``"exact"``: all assignments listed for m <= 12; beyond, the differences being whole multiples of a common unit
      (half a contest, say), the distribution of the sum by convolution, m times.
    * ``"bound"``: without a common unit, or with one too small, the differences are rounded to a fine grid and the
      sum is asked to reach the observed one less all that rounding can have moved it: at most 0.02 of its standard
      deviation, and never a p-value below the exact one.
    * ``"normal"``: where neither can be had within 10^7 cells (from about 250 prompts without a unit, and 3,000
      differences of one size), the normal tail with the variance under the flips, the sum of squares, corrected for
      continuity by the unit, or without one by the largest difference.

    Source: Fisher, The Design of Experiments (1935), section 21; Good, Permutation, Parametric and Bootstrap Tests of
    Hypotheses (2005), section 3.2; the distribution on a grid is that of Pagano and Tritchler, On obtaining
    permutation distributions in polynomial time, Journal of the American Statistical Association 78 (1983).

    Args:
        differences: Shape (n,): one per prompt.

    Returns:
        The two-sided p-value (1.0 when every difference is zero), how it was found, and m.

    >>> sign_flip_p_value([1, 1, 1, 0, 1, 1])  # 2 of 2^5 assignments
    (0.0625, 'exact', 5)
    >>> p_value, method, m = sign_flip_p_value([0.5] * 11 + [-0.5] * 3)
    >>> round(p_value, 4), method, m  # 2 · (1 + 14 + 91 + 364) / 2^14
    (0.0574, 'exact', 14)
    """
    values = np.asarray(differences, dtype=np.float64)
    size = np.abs(values)
    size = np.sort(size[size > 1e-12 * size.max(initial=0.0)])
    observed = abs(float(values.sum()))
    if len(size) <= MOST_ENUMERATED:
        return _by_enumeration(size, observed), "exact", len(size)
    unit = common_unit(size)
    if unit is not None:
        multiples = np.rint(size / unit).astype(np.int64)
        if int(multiples.sum()) * len(size) <= MOST_CELLS:
            return _tail(multiples, observed / unit), "exact", len(size)
    deviation = float(np.sqrt(np.sum(size**2)))
    grid = max(_WIDEST_BOUND * deviation, float(size.sum()) * len(size) ** 2 / MOST_CELLS) / len(size)
    multiples = np.rint(size / grid).astype(np.int64)
    moved = float(np.abs(size - multiples * grid).sum())
    if moved <= _WIDEST_BOUND * deviation:
        return _tail(multiples, (observed - moved) / grid), "bound", len(size)
    corrected = max(0.0, observed - (float(size[-1]) if unit is None else unit))
    return float(2 * ndtr(-corrected / deviation)), "normal", len(size)


def _by_enumeration(size: FloatArray, observed: float) -> float:
    as_large = np.abs(_all_flips(len(size)) @ size) >= observed - _ROUNDING * size.sum()
    return float(as_large.mean())


@cache
def _all_flips(count: int) -> FloatArray:
    """Every assignment of signs, shape (2 ** count, count)."""
    return np.ones(1) - 2.0 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)


def common_unit(size: FloatArray) -> float | None:
    """The largest unit of which all sizes are whole multiples; None when there is none, or it is very small."""
    tolerance = _ROUNDING * float(size[-1])
    different = np.flatnonzero(np.diff(np.rint(size / tolerance))) + 1
    unit = float(size[0])
    for place in different:  # of sizes without a unit the first few settle it
        unit = _common_divisor(float(size[place]), unit, 10 * tolerance)
        if unit < size[-1] * len(size) / MOST_CELLS:
            return None
    multiples = np.rint(size / unit)
    unit = float(size @ multiples / (multiples @ multiples))
    return unit if bool((np.abs(size - multiples * unit) <= tolerance).all()) else None


def _common_divisor(larger: float, smaller: float, tolerance: float) -> float:
    """Euclid's algorithm, a remainder within the tolerance being none."""
    while smaller > tolerance:
        remainder = abs(larger - smaller * round(larger / smaller))
        larger, smaller = smaller, remainder
    return larger


def _tail(multiples: IntArray, observed: float) -> float:
    """The probability that the sum of the multiples under random signs is at least as far from zero as observed."""
    total, needed = int(multiples.sum()), observed - 1e-6 * max(1.0, abs(observed))
    if needed <= 0:
        return 1.0
    least = int(np.ceil((total + needed) / 2))  # of the sum of those that keep a positive sign
    sizes, counts = np.unique(multiples, return_counts=True)
    if len(multiples) > _MANY_ALIKE * len(sizes):
        return min(1.0, 2 * _tail_of_alike(sizes, counts, least))
    positive = np.zeros(total + 1)
    positive[0] = 1.0
    reached = 0
    for multiple in multiples.tolist():
        shifted = positive[: reached + 1].copy()
        positive[multiple : reached + multiple + 1] += shifted
        reached += multiple
        positive[: reached + 1] /= 2
    return min(1.0, 2 * float(positive[least:].sum()))


def _tail_of_alike(sizes: IntArray, counts: IntArray, least: int) -> float:
    """P(sum of sizes · Binomial(counts, 1/2) >= least), where that is above the mean.

    By the characteristic function, under the weights e^(t · sum) that make ``least`` the mean: there the error of the
    transform is small beside what is looked for, and so it is when the weights are taken back.
    """
    total = int(sizes @ counts)
    if least >= total:
        return float(least == total) * 0.5 ** int(counts.sum())
    tilt = optimize.brentq(lambda t: float(sizes * counts @ expit(t * sizes)) - least, 0.0, 1 + np.log(total))
    kept = expit(tilt * sizes)
    length = next_fast_len(total + 1, real=True)
    around, steps = np.exp(-2j * np.pi / length * np.arange(length)), np.arange(length // 2 + 1)
    of_size = list(zip(sizes.tolist(), counts.tolist(), kept.tolist(), strict=True))
    with np.errstate(divide="ignore"):  # the logarithm of 0 is what it should be
        heights = sum(
            count / 2 * np.log1p(-2 * share * (1 - share) * (1 - around.real[size * steps % length]))
            for size, count, share in of_size
        )
    high = steps[heights > _NEGLIGIBLE]
    logs = sum(count * np.log(1 - share + share * around[size * high % length]) for size, count, share in of_size)
    transform = np.zeros(len(steps), dtype=np.complex128)
    transform[high] = np.exp(logs)
    beyond = irfft(transform, length)[least : total + 1]
    weight = float(counts @ (np.logaddexp(0.0, tilt * sizes) - np.log(2)) - tilt * least)
    return float(np.exp(weight) * (beyond @ np.exp(-tilt * np.arange(len(beyond)))))


def adjusted_tests(tests: Sequence[DifferenceTest | None]) -> list[DifferenceTest | None]:
    """The same tests, those that were made adjusted by :func:`holm` over all of them."""
    adjusted = iter(holm([test.p_value for test in tests if test is not None]).tolist())
    return [None if test is None else replace(test, adjusted_p_value=next(adjusted)) for test in tests]


def sign_flip_test(differences: ArrayLike) -> DifferenceTest:
    """The test of :func:`sign_flip_p_value` as a value, not adjusted."""
    p_value, method, informing = sign_flip_p_value(differences)
    return DifferenceTest(p_value, p_value, method, informing)


def sign_flip_tests(differences: FloatArray) -> list[DifferenceTest]:
    """One a column, shape (n, columns)."""
    return [sign_flip_test(column) for column in np.ascontiguousarray(differences.T)]


def betting_test(scores: FloatArray, counts: FloatArray) -> DifferenceTest:
    """The test that sum(scores) / sum(counts) of clusters is one half, valid at any time; not adjusted.

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
    informing = int(np.count_nonzero(np.abs(scores - counts / 2) > 1e-12))
    return DifferenceTest(p_value, p_value, "betting", informing)


def betting_tests(scores: FloatArray, counts: FloatArray) -> list[DifferenceTest]:
    """One a column, shape (n, columns) each."""
    return [betting_test(*column) for column in zip(scores.T, counts.T, strict=True)]


def name_of_tests(differences: Iterable[object]) -> str:
    """What stands above paired differences: how their p-values were made.

    >>> name_of_tests([None])
    'sign-flip test'
    """
    at_any_time = any(isinstance(each, Interval) and each.method == "betting" for each in differences)
    return "bets, which hold at any time" if at_any_time else "sign-flip test"


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's step-down correction: adjusted p-values that control the family-wise error rate under any dependence.

    With the p-values ascending, ``adjusted_(i) = max over j <= i of min(1, (n - j + 1) p_(j))``.

    Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).

    Args:
        p_values: Shape (n,), in [0, 1].

    >>> holm([0.01, 0.04, 0.03]).tolist()  # 3 · 0.01, 2 · 0.03, and 1 · 0.04 raised to the one before
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values)
    steps = np.minimum(1.0, values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


ENOUGH_CLUSTERS = 5
"""With fewer clusters whose difference is not 0 the standard error says too little: the interval with bounds."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One system's score less another's, over the rows on which both have one.

    Attributes:
        first: The place of the one system among the columns.
        second: That of the other.
        n_paired: Rows on which both have a score.
        n_set_aside: Rows on which only one of them has.
        difference: The mean of (score of the first - score of the second), in [-1, 1]; None without such a row.
        test: That it is 0; its ``adjusted_p_value`` holds over the whole family. None without such a row.
        if_unscored_low: The least that the difference of the means over all rows could be if everything had been read.
        if_unscored_high: The greatest. Both equal the difference where everything was read, and are None without a row.
    """

    first: int
    second: int
    n_paired: int
    n_set_aside: int
    difference: Interval | None
    test: DifferenceTest | None
    if_unscored_low: float | None
    if_unscored_high: float | None


def paired_differences(
    scores: ArrayLike,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[PairedDifference, ...]:
    r"""Compare every two systems by their scores on the same rows.

    The estimate is :math:`\bar d = \frac1n\sum_r (x_{rs} - x_{rt})` over the rows where both have a score. Its interval
    is Student's on the logit scale of :math:`(1 + \bar d / w)/2`, with w the width between the bounds of scores and the
    standard error over clusters, as for the differences of win rates; with fewer than five clusters whose difference is
    not 0 it is the one with the bounds -w and w. The test flips the signs of the clusters' sums
    (:func:`sign_flip_p_value`): exact where these are multiples of a unit, and McNemar's exact test for 0/1 scores.
    Holm's correction makes the p-values hold together, over all pairs here or over a larger family by
    :func:`over_one_family`.

    In ``python -m benchmarks.paired_differences`` (three systems, 10 to 200 clusters of 1 or 8 rows) nominal 95 %
    intervals held the truth in 93.9 to 99.6 % of the cases, and of families of three equal systems 0 to 5.0 % had an
    adjusted p-value below 0.05. The same rows of clusters taken as independent: 69 to 87 %, and 15 to 41 %.

    Args:
        scores: (n_rows, n_systems) within the bounds; NaN where there is none.
        low: The same shape: the least that the score could have been had every vote been read; NaN where the question
            does not apply. Without it a missing score could be anything.
        high: The greatest.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the rows.
        bounds: The least and the greatest that a score can be; a difference goes as far as they are apart.

    Returns:
        One a pair, the first system before the second in the order of the columns.

    Raises:
        InvalidInputError: Shapes that differ, a score outside the bounds, a bad level.

    Source: McNemar (1947), Psychometrika 12; Fisher (1935), The Design of Experiments, section 21; Holm (1979),
    Scandinavian Journal of Statistics 6; Liang and Zeger (1986), Biometrika 73, for the standard error.

    The first system is better on four of five rows, and one row has only its score.

    >>> nan = float("nan")
    >>> (pair,) = paired_differences([[1, 0], [1, 0], [1, 0], [1, 0], [1, 1], [1, nan]])
    >>> pair.n_paired, pair.n_set_aside, pair.difference.estimate, pair.test.p_value  # 2 of 2^4 signs
    (5, 1, 0.8, 0.125)
    >>> round(pair.if_unscored_low, 3), round(pair.if_unscored_high, 3)  # (4 + 0) / 6, (4 + 1) / 6
    (0.667, 0.833)
    """
    table = _table(scores, None, bounds)
    missing = np.isnan(table)
    least = np.where(missing, bounds[0], table) if low is None else _table(low, table.shape, bounds)
    most = np.where(missing, bounds[1], table) if high is None else _table(high, table.shape, bounds)
    asked, width = IntervalLevel.of(level), bounds[1] - bounds[0]
    tables, found = [np.asfortranarray(each) for each in (table, least, most)], []
    for pairs in _in_blocks([*combinations(range(table.shape[1]), 2)], len(table)):
        found += _compared(tables, asked, width, pairs)
    return over_one_family(found)


def _in_blocks(pairs: ArrayLike, rows: int) -> Iterator[IntArray]:
    """The pairs, as many at once as tables with these rows may have columns."""
    every, size = np.array(pairs, dtype=np.int64).reshape(-1, 2), max(1, _CELLS_OF_PAIRS // max(rows, 1))
    yield from (every[start : start + size] for start in range(0, len(every), size))


def over_one_family(pairs: Sequence[PairedDifference]) -> tuple[PairedDifference, ...]:
    """The same comparisons, the p-values adjusted by Holm over all of them."""
    tests = adjusted_tests([pair.test for pair in pairs])
    return tuple(replace(pair, test=test) for pair, test in zip(pairs, tests, strict=True))


def _compared(
    tables: Sequence[FloatArray], level: IntervalLevel, width: float, pairs: IntArray
) -> list[PairedDifference]:
    """Pairs of columns, a comparison each."""
    (x, least, most), (y, least_y, most_y) = ([table.T[side].T for table in tables] for side in pairs.T)
    differences = x - y
    both = ~np.isnan(differences)
    n_paired = both.sum(axis=0)
    n_set_aside = (np.isnan(x) != np.isnan(y)).sum(axis=0)
    if level.clusters is None or level.method not in _BY_ORDER:
        inferred = _inferred(differences, level, width)
    else:
        own = ((differences[rows][:, [pair]], level.only(rows)) for pair, rows in enumerate(both.T))
        inferred = [found for column, only in own for found in _inferred(column, only, width)]
    applies = ~(np.isnan(least) | np.isnan(least_y))
    of_rows = np.maximum(applies.sum(axis=0), 1)
    limits = (np.where(applies, side, 0.0).sum(axis=0) / of_rows for side in (least - most_y, most - least_y))
    columns = (each.tolist() for each in (*pairs.T, n_paired, n_set_aside, *limits, applies.any(axis=0)))
    return [
        PairedDifference(
            first=i,
            second=j,
            n_paired=paired,
            n_set_aside=aside,
            difference=interval,
            test=test,
            if_unscored_low=low if known else None,
            if_unscored_high=high if known else None,
        )
        for i, j, paired, aside, low, high, known, (interval, test) in zip(*columns, inferred, strict=True)
    ]


def _inferred(differences: FloatArray, level: IntervalLevel, width: float) -> list[_Difference]:
    """The mean of every column with its interval, and the test by the clusters of the rows that it is 0."""
    size = differences.shape[1]
    both = ~np.isnan(differences)
    labels, own = level.labels(len(differences)), np.where(both, differences, 0.0)
    if level.method == "anytime":
        won = cluster_sums(np.where(both, (1 + own / width) / 2, 0.0), labels)
        tests = betting_tests(won, cluster_sums(both, labels))
    else:
        tests = sign_flip_tests(own if level.clusters is None else cluster_sums(own, labels))
    enough = np.array([test.clusters >= ENOUGH_CLUSTERS for test in tests], dtype=np.bool_)
    intervals: list[Interval | None] = [None] * size
    for columns in (np.flatnonzero(enough), np.flatnonzero(~enough)):
        if columns.size:
            method = _with_method(level, enough=bool(enough[columns[0]]))
            made = mean_intervals(differences[:, columns], level=method, bounds=(-width, width))
            for column, interval in zip(columns.tolist(), made, strict=True):
                intervals[column] = interval
    return [(each, None if each is None else test) for each, test in zip(intervals, tests, strict=True)]


def _with_method(level: IntervalLevel, *, enough: bool) -> IntervalLevel:
    """The method asked for, where a difference can have it; else the logit, or bounds where too little differs."""
    if level.method not in {"auto", *FOR_INDEPENDENT_ROWS}:
        return level
    return IntervalLevel(float(level), level.clusters, "t_logit" if enough else "bounded")


def _table(values: ArrayLike, shape: tuple[int, ...] | None, bounds: tuple[float, float]) -> FloatArray:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or (shape is not None and table.shape != shape):
        expected = "(n_rows, n_systems)" if shape is None else f"{shape!r}, that of the scores"
        raise InvalidInputError(f"the scores or their limits have the shape {table.shape!r}; give {expected}")
    low, high = bounds
    outside = (table < low) | (table > high)
    if outside.any():
        raise InvalidInputError(
            f"a score is {float(table[outside][0])!r}; scores lie in [{low:g}, {high:g}], and NaN is missing"
        )
    return table


@dataclass(frozen=True)
class PairComparison:
    """Two systems against each other. What has no data is None.

    Attributes:
        first: The system whose side is told.
        second: The other.
        contests: Scored contests between the two.
        win_rate: Mean score of ``first`` in these; None when they never met.
        win_rate_test: Of a win rate of one half.
        difference: How far ``first`` stands above ``second`` in this field. Where all met equally often: its win rate
            over all its contests minus the other's, paired by prompt, with an interval of its own. Otherwise: its
            strength (log-odds) minus the other's, with an interval (``method`` is ``"max_t"``) that holds for all
            pairs at once.
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
    contests: Contests, *, strengths: StrengthContrasts | None = None, level: float = 0.95
) -> tuple[PairComparison, ...]:
    """Compare every two systems, head to head and by their win rates over all contests, or by their strengths.

    The head-to-head rate answers who wins when the two meet; the difference of win rates answers who stands higher in
    this field, and exists without a meeting (both against a baseline). It says so only where all systems met equally
    often: else the opponents differ, and the strengths are what to compare. Each family of tests is corrected by Holm
    for its own number of tests. The interval of the difference d is that of (1 + d) / 2 by `win_rate_intervals`, over
    the prompts' linearised contributions; its test flips the signs of the contributions, both rates replaced by the
    pooled one. At a level that holds at any time a difference is that of the two head to head: contests are asked for
    until they decide a pair, so that rates over all contests would be over opponents as the results chose them.

    Args:
        contests: Resolved contests, or presented ones: all contests of a prompt stay together.
        strengths: Take the differences and their tests from these contrasts.
        level: Of the intervals.

    Returns:
        One comparison for every i < j, in the order of ``Contests.systems``.

    >>> contests = Contests.of(["a", "b"], first=[0] * 4, second=[1] * 4, score=[1, 1, 1, 0.5])
    >>> (pair,) = compare_pairs(contests)
    >>> pair.win_rate.estimate, pair.difference.estimate, pair.win_rate_test.p_value
    (0.875, 0.75, 0.25)
    """
    pairs = np.array([*combinations(range(len(contests.systems)), 2)])
    anytime = IntervalLevel.of(level).method == "anytime"
    held: list[Interval | None] = [None] * len(pairs)
    made: list[DifferenceTest | None] = [None] * len(pairs)
    for block, won, met in contests.meetings.of_pairs(pairs):
        rates = win_rate_intervals(won, met, level=level)
        tests = (
            [betting_test(*column) for column in zip(won.T, met.T, strict=True)]
            if anytime
            else sign_flip_tests(won - met / 2)
        )
        for pair, rate, test in zip(block.tolist(), rates, tests, strict=True):
            held[pair], made[pair] = rate, test
    head_to_head = adjusted_tests(made)
    if anytime:
        differences = [
            (None if rate is None else rate.on_scale(-1.0, 2.0), test)
            for rate, test in zip(held, head_to_head, strict=True)
        ]
    elif strengths is None:
        differences = _of_win_rates(*contests.meetings.by_system, pairs, level)
    else:
        differences = _of_strengths(strengths, pairs)
    together = contests.meetings.in_all
    number = dict(zip(zip(together.first, together.second, strict=True), together.contests, strict=True))
    return tuple(
        PairComparison(contests.systems[i], contests.systems[j], int(number.get((i, j), 0)), rate, test, *difference)
        for (i, j), rate, test, difference in zip(pairs.tolist(), held, head_to_head, differences, strict=True)
    )


def _of_win_rates(scores: FloatArray, counts: FloatArray, pairs: IntArray, level: float) -> list[_Difference]:
    taken, fought = scores.sum(axis=0), counts.sum(axis=0)
    seen = (fought[pairs] > 0).all(axis=1)
    shares, weights = (np.asfortranarray(each / np.where(fought > 0, fought, 1.0)) for each in (scores, counts))
    rates: FloatArray = taken / np.where(fought > 0, fought, 1.0)
    own = shares - rates * weights
    found: list[Interval | None] = []
    tests: list[DifferenceTest] = []
    for block in _in_blocks(pairs[seen], len(scores)):
        first, second = block.T
        informing = ((weights.T[first] > 0) | (weights.T[second] > 0)).T.astype(np.float64)
        found += _differences(_between(own, block), informing, rates[first] - rates[second], level)
        pooled = (taken[first] + taken[second]) / (fought[first] + fought[second])
        tests += sign_flip_tests(_between(shares, block) - pooled * _between(weights, block))
    both = iter(zip(found, adjusted_tests(tests), strict=True))
    return [next(both) if tested else (None, None) for tested in seen.tolist()]


def _between(columns: FloatArray, pairs: IntArray) -> FloatArray:
    """For each pair of columns the first less the second."""
    first, second = columns.T[pairs.T]
    between: FloatArray = (first - second).T
    return between


def _of_strengths(strengths: StrengthContrasts, pairs: IntArray) -> list[_Difference]:
    place = {system: position for position, system in enumerate(strengths.placed.tolist())}
    found: list[_Difference] = []
    for i, j in pairs.tolist():
        if i not in place or j not in place:
            found.append((None, None))
            continue
        where = place[i], place[j]
        alone, adjusted = float(strengths.alone[where]), float(strengths.adjusted[where])
        found.append((strengths.interval(*where), DifferenceTest(alone, adjusted, "max_t", strengths.clusters)))
    return found


def _differences(own: FloatArray, informing: FloatArray, difference: FloatArray, level: float) -> list[Interval | None]:
    """Of differences of win rates, from what each cluster adds to them and whether it does."""
    as_shares = informing * (1 + difference + informing.sum(axis=0) * own) / 2
    # a prompt's part of the whole may lie outside [0, 1] where prompts have unequal numbers of contests
    plain = ratio_intervals(as_shares, informing, level=level, bounds=None)
    slope = (1 + difference) * (1 - difference) / 4
    by_bounds = np.array([each is None or not np.isfinite(each.high) for each in plain]) | (slope < 1e-12)
    others = np.flatnonzero(by_bounds)
    bounded = win_rate_intervals(np.clip(as_shares[:, others], 0.0, 1.0), informing[:, others], level=level)
    shares = dict(zip(others.tolist(), bounded, strict=True))
    found: list[Interval | None] = []
    for pair, share in enumerate(plain):
        if share is not None and pair not in shares:
            centre, half = logit(share.estimate), (share.high - share.estimate) / slope[pair]
            low, high = float(expit(centre - half)), float(expit(centre + half))
            shares[pair] = replace(share, low=low, high=high, method="cluster_t_logit")
        known = shares[pair]
        found.append(known and replace(known.on_scale(-1.0, 2.0), estimate=float(difference[pair])))
    return found


def indistinguishable_groups(
    comparisons: Sequence[PairComparison], systems: Sequence[str], *, level: float = 0.95
) -> tuple[tuple[str, ...], ...]:
    """Group the systems that cannot be told apart: the maximal sets without a significant difference inside.

    Two systems differ when the adjusted p-value of their difference is below ``1 - level``; a pair that was not tested
    is not told apart. A system may stand in several groups (a with b, b with c, yet a above c), as letters do in a
    compact letter display, and every system stands in at least one.

    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
    Computational and Graphical Statistics 13 (2004); the sets are found by Bron and Kerbosch, Communications of the
    ACM 16 (1973).

    Args:
        comparisons: Of ``compare_pairs``.
        systems: In the order in which they are to be listed, best first.
        level: One minus the family-wise error rate.

    >>> contests = Contests.of(["a", "b"], first=[0] * 9, second=[1] * 9, score=[1] * 9)
    >>> indistinguishable_groups(compare_pairs(contests), ["a", "b"])  # p = 2 / 2^9
    (('a',), ('b',))
    """
    place = {system: position for position, system in enumerate(systems)}
    alike: dict[int, set[int]] = {position: set() for position in place.values()}
    for pair in comparisons:
        if pair.difference_test is None or pair.difference_test.adjusted_p_value >= 1 - level:
            alike[place[pair.first]].add(place[pair.second])
            alike[place[pair.second]].add(place[pair.first])
    cliques = sorted(sorted(clique) for clique in _maximal_cliques(alike, set(), set(alike), set()))
    return tuple(tuple(systems[position] for position in clique) for clique in cliques)


def _maximal_cliques(
    alike: dict[int, set[int]], chosen: set[int], candidates: set[int], excluded: set[int]
) -> list[set[int]]:
    if not candidates and not excluded:
        return [chosen]
    pivot = max(candidates | excluded, key=lambda node: len(alike[node] & candidates))
    found: list[set[int]] = []
    for node in sorted(candidates - alike[pivot]):
        found += _maximal_cliques(alike, chosen | {node}, candidates & alike[node], excluded & alike[node])
        candidates = candidates - {node}
        excluded = excluded | {node}
    return found
