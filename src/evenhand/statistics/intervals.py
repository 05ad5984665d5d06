"""Intervals for scores that are averages over instances, and the resampling of instances.

The unit of sampling is the cluster: the instance, or the prompt, with all its votes inside. A row is a cluster, a
column a score. Everything here is linear in the number of clusters, in time and in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.statistics.dirichlet import (
    CELLS_AT_ONCE,
    FAR_ENDPOINT,
    NEAR_ENDPOINT,
    block_sizes,
    check_level,
    check_resampling,
    dirichlet_quantile,
)

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval, and how it was made.

    Attributes:
        estimate: The score of the sample.
        low: The lower limit; ``-inf`` when the data say nothing about it.
        high: The upper limit; ``inf`` when the data say nothing about it.
        level: The nominal confidence level.
        method: ``bounded_dirichlet``, ``cluster_t``, ``cluster_t_logit``, ``cluster_sandwich_t``, ``wilson``,
            ``exact``, ``dirichlet_bootstrap`` or ``inverted_test``.
        n: Clusters that have data.
        resamples: Draws made; None for a method that draws none.
        seed: Of the draws; None for a method that draws none.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int
    resamples: int | None = None
    seed: int | None = None


def mean_intervals(
    values: ArrayLike, *, level: float = 0.95, bounds: tuple[float, float] | None = (0.0, 1.0)
) -> tuple[Interval | None, ...]:
    """The mean of every column, with an interval.

    The same as `ratio_intervals` with a denominator of 1 wherever there is a value; formula and source are there.

    Args:
        values: (n_clusters, n_scores), or (n_clusters,) for one score. NaN is missing.
        level: In [0.5, 1).
        bounds: The least and the greatest value that a score can take; None for a score without bounds.

    Returns:
        One interval a column; None for a column without a value.

    Raises:
        InvalidInputError: A value outside the bounds, an infinite value, a bad shape or level.

    >>> ten_of_ten, = mean_intervals([1.0] * 10)
    >>> round(ten_of_ten.low, 2), ten_of_ten.high
    (0.68, 1.0)
    >>> constant, nothing = mean_intervals([[0.75, float("nan")]] * 10)
    >>> round(constant.low, 2), constant.estimate, round(constant.high, 2), nothing
    (0.52, 0.75, 0.82, None)
    """
    table = _columns("values", values)
    present = ~np.isnan(table)
    return ratio_intervals(np.where(present, table, 0.0), present.astype(float), level=level, bounds=bounds)


def ratio_intervals(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> tuple[Interval | None, ...]:
    r"""The ratio sum(numerators) / sum(denominators) of every column, with an interval.

    For rates whose clusters bring unequal shares: flips of the pairs judged, replies parsed of the replies received,
    wins of the contests of a prompt.

    With bounds (method ``bounded_dirichlet``): give cluster i a random weight :math:`E_i` of the standard exponential
    distribution (normalised, they are Dirichlet: the Bayesian bootstrap), and add two clusters that nobody saw, one
    at each bound, with Gamma weights of shape 3/4 (the bound that is looked for) and 1/4 (the other). The lower limit
    is the value c with

    .. math:: P\Big(\sum_i E_i\,(x_i - c\,d_i) \le 0\Big) = \Phi(-t_{k-1,\,1-\alpha/2}),

    the upper limit its mirror image; k is the number of clusters with data. The added clusters have the size-biased
    mean size :math:`\sum d^2/\sum d`. The probability is not simulated but computed by the saddlepoint approximation
    :math:`\Phi(r^*)`, so no seed enters.

    For 0/1 scores the shapes (1, 0) would give Clopper and Pearson's interval and (1/2, 1/2) Jeffreys': 3/4 and 1/4
    lie half-way, and Student's quantile pays for a variance estimated from k clusters. A sample without spread still
    has an interval of positive width, because an unseen cluster may lie at a bound; what nobody saw in k
    clusters may be the truth for a share of about 3/k of them. The nominal 95 % were 93.5 % to 97 % in simulations, and
    more than that only for few clusters or where the scores use little of the range between the bounds.

    Without bounds (``cluster_t``): :math:`\hat\theta \pm t_{k-1} s`,
    :math:`s^2 = \frac{k}{k-1}\sum_i (x_i - \hat\theta d_i)^2 / (\sum d)^2`; infinite limits where that is 0 or k is 1,
    since a sample without spread says nothing about the spread.

    Args:
        numerators: (n_clusters, n_scores), or (n_clusters,) for one score. NaN is missing.
        denominators: The same shape, not negative. A cluster whose denominator is 0 or NaN is missing.
        level: In [0.5, 1).
        bounds: The least and greatest value of a ratio; None when it has none.

    Returns:
        One interval a column, in order; None for a column without data. The order of the clusters does not matter.

    Raises:
        InvalidInputError: Shapes that differ, a negative denominator, a ratio outside the bounds, a bad level.

    Sources: Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable"; Learned-Miller and Thomas (2019), arXiv:1905.06208, section 3 (one added point at the bound); Rubin
    (1981), "The Bayesian bootstrap"; Barndorff-Nielsen (1986) and Lugannani and Rice (1980) for the saddlepoint.

    >>> flips, = ratio_intervals([0, 1, 2, 0], [2, 2, 2, 1])
    >>> round(flips.estimate, 4), flips.n, flips.method
    (0.4286, 4, 'bounded_dirichlet')
    """
    check_level(level)
    numerator, denominator = _ratio_columns(numerators, denominators)
    lower, upper = (0.0, 1.0) if bounds is None else _checked_bounds(bounds)
    if bounds is not None:
        _check_within(numerator, denominator, lower, upper)
        numerator = (numerator - lower * denominator) / (upper - lower)
    clusters = np.count_nonzero(denominator, axis=0)
    results: list[Interval | None] = [None] * clusters.size
    defined = np.flatnonzero(clusters)
    width = max(1, CELLS_AT_ONCE // max(1, numerator.shape[0]))
    for start in range(0, defined.size, width):
        chosen = defined[start : start + width]
        part = numerator[:, chosen], denominator[:, chosen]
        limits = _cluster_t(*part, level) if bounds is None else _bounded_dirichlet(*part, level)
        method = "cluster_t" if bounds is None else "bounded_dirichlet"
        for column, triple in zip(chosen, np.stack(limits, axis=1), strict=True):
            estimate, low, high = (float(value) for value in lower + (upper - lower) * triple)
            results[column] = Interval(estimate, low, high, level, method, int(clusters[column]))
    return tuple(results)


def proportion_interval(
    successes: int, trials: int, *, level: float = 0.95, method: Literal["wilson", "exact"] = "wilson"
) -> Interval:
    """The rate successes / trials of independent trials.

    Args:
        successes: From 0 to ``trials``.
        trials: At least 1.
        level: In [0.5, 1).
        method: ``wilson`` (the score interval: 95 % on average over the rates, less for rates near 0 and 1) or
            ``exact`` (Clopper and Pearson's: never less).

    Raises:
        EstimationError: No trial.

    Source: `scipy.stats.binomtest`; Wilson (1927); Clopper and Pearson (1934).

    >>> rate = proportion_interval(8, 10)
    >>> round(rate.low, 4), rate.estimate, round(rate.high, 4)
    (0.4902, 0.8, 0.9433)
    """
    check_level(level)
    if method not in {"wilson", "exact"}:
        raise InvalidInputError(f"method is {method!r}. {did_you_mean(method, ['wilson', 'exact'])}")
    if not 0 <= successes <= trials:
        raise InvalidInputError(f"successes is {successes!r} of {trials!r} trials; it lies between 0 and the trials")
    if trials == 0:
        raise EstimationError("a rate of 0 trials is undefined; there was nothing to count")
    limits = stats.binomtest(successes, trials).proportion_ci(level, method)
    return Interval(successes / trials, float(limits.low), float(limits.high), level, method, trials)


def cluster_resamples(n_clusters: int, *, resamples: int = 1000, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """How often every cluster is drawn when as many are drawn with replacement, ``resamples`` times.

    A statistic that is a function of sums over clusters is resampled by one matrix product a block:
    ``weights @ sums_of_clusters``. The draws depend on the sizes and the seed only, not on the blocks.

    Args:
        n_clusters: At least 1.
        resamples: How many draws in all, at least 1.
        seed: The same seed gives the same draws.

    Yields:
        Blocks of shape (rows, n_clusters); every row sums to n_clusters; the rows of all blocks number
        ``resamples``. A block has about two million cells at most (or one row), whatever the number of clusters.

    >>> blocks = list(cluster_resamples(4, resamples=3, seed=1))
    >>> [block.shape for block in blocks], blocks[0].sum(axis=1).tolist()
    ([(3, 4)], [4, 4, 4])
    """
    check_resampling(n_clusters, resamples)
    generator = np.random.default_rng(seed)
    for rows in block_sizes(n_clusters, resamples):
        drawn = generator.integers(n_clusters, size=(rows, n_clusters))
        drawn += np.arange(rows)[:, None] * n_clusters
        yield np.bincount(drawn.ravel(), minlength=rows * n_clusters).reshape(rows, n_clusters)


def _columns(name: str, values: ArrayLike) -> FloatArray:
    table = np.asarray(values, dtype=float)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise InvalidInputError(f"{name} has the shape {table.shape!r}; give (n_clusters, n_scores) or (n_clusters,)")
    if np.isinf(table).any():
        raise InvalidInputError(f"{name} contains an infinite value; give numbers, and NaN for what is missing")
    return table


def _ratio_columns(numerators: ArrayLike, denominators: ArrayLike) -> tuple[FloatArray, FloatArray]:
    numerator, denominator = _columns("numerators", numerators), _columns("denominators", denominators)
    if numerator.shape != denominator.shape:
        raise InvalidInputError(
            f"numerators {numerator.shape!r} and denominators {denominator.shape!r} differ in shape"
        )
    if (denominator < 0).any():
        raise InvalidInputError(f"a denominator is {denominator.min()!r}; it counts something and is never negative")
    present = (denominator > 0) & ~np.isnan(numerator)
    return np.where(present, numerator, 0.0), np.where(present, denominator, 0.0)


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    lower, upper = bounds
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise InvalidInputError(f"bounds is {bounds!r}; give (least, greatest), both finite, or None")
    return float(lower), float(upper)


def _check_within(numerator: FloatArray, denominator: FloatArray, lower: float, upper: float) -> None:
    slack = 1e-9 * (upper - lower) * denominator
    outside = (numerator < lower * denominator - slack) | (numerator > upper * denominator + slack)
    if outside.any():
        row, column = (int(index) for index in np.argwhere(outside)[0])
        value = float(numerator[row, column] / denominator[row, column])
        raise InvalidInputError(
            f"row {row}, column {column} has the score {value!r}, outside the bounds ({lower!r}, {upper!r}); "
            "pass the bounds that hold for this score, or bounds=None"
        )


def _cluster_t(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    clusters, total = np.count_nonzero(denominator, axis=0), denominator.sum(axis=0)
    estimate = numerator.sum(axis=0) / total
    residual = numerator - estimate * denominator
    freedom = np.maximum(clusters - 1, 1)
    error = np.sqrt(clusters / freedom * (residual**2).sum(axis=0)) / total
    rounding = 1e-12 * np.abs(estimate)
    half = np.where((clusters > 1) & (error > rounding), stats.t.ppf((1 + level) / 2, freedom) * error, np.inf)
    return estimate, estimate - half, estimate + half


def _bounded_dirichlet(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    total = denominator.sum(axis=0)
    estimate = np.clip(numerator.sum(axis=0) / total, 0, 1)
    added = (denominator**2).sum(axis=0) / total
    x = np.vstack([numerator, np.zeros_like(added), added])
    d = np.vstack([denominator, added, added])
    freedom = np.maximum(np.count_nonzero(denominator, axis=0) - 1, 1)
    score = stats.t.ppf((1 + level) / 2, freedom)
    shapes = np.ones((x.shape[0], 1))
    shapes[-2:, 0] = NEAR_ENDPOINT, FAR_ENDPOINT
    low = dirichlet_quantile(x, d, shapes, -score)
    shapes[-2:, 0] = FAR_ENDPOINT, NEAR_ENDPOINT
    high = dirichlet_quantile(x, d, shapes, score)
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)
