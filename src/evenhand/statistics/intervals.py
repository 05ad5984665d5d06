"""Intervals for scores that are averages over instances, and the rows that belong together.

The unit of sampling is the cluster: the instance, or the prompt, with all its votes inside. A row is a cluster, a
column a score. Everything here is linear in the number of clusters, in time and in memory.

Rows of one document, conversation or user tell less than as many independent rows. With m rows a cluster and an
intraclass correlation r, the variance of a mean is 1 + (m - 1) r times that of independent rows (Kish, 1965, "Survey
sampling", section 5.4), so that intervals over rows are too narrow. Over the sums of clusters they are not.

When the mean of what was read is not the score, there are bounds for what could not be read, and a rule for showing
them (:class:`UnscoredBounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator
from scipy import optimize, stats
from scipy.sparse import csc_array
from scipy.special import expit, logit

from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.options import INTERVALS, check_takes_clusters
from evenhand.statistics.anytime import ConfidenceSequence
from evenhand.statistics.resampling import (
    CELLS_AT_ONCE,
    FAR_ENDPOINT,
    NEAR_ENDPOINT,
    FloatArray,
    IntArray,
    Quantile,
    bootstrap_limits,
    check_level,
    cluster_resamples,
    dirichlet_quantile,
)


class IntervalLevel(float):
    """The level of intervals, with the clusters of the rows that they are over and the method asked for.

    A plain number is the level for rows that do not depend on each other, by the method ``auto``. Every function that
    takes a ``level`` takes one of these: what it computes from rows is then computed over their clusters, and other
    rows than those of the clusters are refused.

    Attributes:
        clusters: One label per row, in their order; None if every row stands for itself.
        method: One of `evenhand.options.INTERVALS`; `ratio_intervals` says what each does.
        sorted: Whether clusters are numbered in the order of their labels, and not as they occur.

    Raises:
        InvalidInputError: No such method, or one that takes no clusters, with clusters.

    >>> level = IntervalLevel(0.9, clusters=["b", "a", "b"])
    >>> level + 0, level.n_clusters, level.only([True, False, True]).n_clusters
    (0.9, 2, 1)
    """

    clusters: tuple[Hashable, ...] | None
    method: str
    sorted: bool = False

    def __new__(cls, level: float, clusters: Sequence[Hashable] | None = None, method: str = "auto") -> Self:
        """Check and build."""
        if method not in INTERVALS:
            raise InvalidInputError(f"interval is {method!r}. {did_you_mean(method, INTERVALS)}")
        check_takes_clusters(method, clustered=clusters is not None)
        made = super().__new__(cls, level)
        made.clusters = None if clusters is None else tuple(clusters)
        made.method = method
        return made

    @classmethod
    def of(cls, level: float) -> Self:
        """The level as it is, or a plain number for independent rows."""
        return level if isinstance(level, cls) else cls(level)

    @property
    def n_clusters(self) -> int | None:
        """How many clusters the rows are of; None if every row stands for itself."""
        return None if self.clusters is None else len(set(self.clusters))

    def labels(self, n_rows: int) -> IntArray:
        """The clusters of the rows, numbered from 0.

        Raises:
            InvalidInputError: If the level is for another number of rows.
        """
        if self.clusters is None:
            return np.arange(n_rows)
        if len(self.clusters) != n_rows:
            raise InvalidInputError(
                f"clusters has the shape {(len(self.clusters),)!r} for {n_rows} rows; give one label per row"
            )
        occurring = dict.fromkeys(self.clusters)
        ordered = sorted(occurring) if self.sorted else occurring  # type: ignore[type-var]
        numbers = {cluster: number for number, cluster in enumerate(ordered)}
        return np.array([numbers[cluster] for cluster in self.clusters], dtype=np.int64)

    def over(self, clusters: Sequence[int] | None) -> Self:
        """The same level and method for other rows, which are of these clusters; none where every label is another.

        Here clusters stand for what is always together, as the votes on one instance, and go with every method.
        """
        made = self._with(None if clusters is None or len(set(clusters)) == len(clusters) else clusters)
        made.sorted = True
        return made

    def _with(self, clusters: Sequence[Hashable] | None) -> Self:
        made = type(self)(float(self), clusters)
        made.method, made.sorted = self.method, self.sorted
        return made

    def only(self, rows: ArrayLike) -> Self:
        """The level for some of the rows.

        Args:
            rows: (n_rows,) booleans, or the indices of rows, which may repeat.
        """
        if self.clusters is None:
            return self
        chosen = np.arange(len(self.clusters))[np.asarray(rows)]
        return self._with([self.clusters[row] for row in chosen])

    def of_clusters(self) -> Self:
        """The level for rows that are clusters: what is summed already is not summed again."""
        return self._with(None)


def level_over(level: float, clusters: Sequence[Hashable]) -> IntervalLevel:
    """The level and method of intervals over rows of these clusters; over the rows where each is of another one.

    >>> level_over(0.9, ["a", "b", "a"]).n_clusters, level_over(0.9, ["a", "b"]).n_clusters
    (2, None)
    """
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    return IntervalLevel.of(level).over([numbers[cluster] for cluster in clusters])


def size_of_unseen(labels: IntArray) -> float:
    """The rows of a cluster that nobody saw: the size-biased mean of those seen, sum(m²) / sum(m).

    >>> size_of_unseen(np.array([0, 0, 0, 1]))  # (9 + 1) / 4
    2.5
    """
    sizes = np.bincount(labels)
    return float((sizes**2).sum() / sizes.sum())


def cluster_sums(values: ArrayLike, labels: IntArray) -> FloatArray:
    """The sum over each cluster's rows, (n_clusters, …).

    >>> cluster_sums([1.0, 2.0, 4.0], np.array([1, 0, 1])).tolist()
    [2.0, 5.0]
    """
    table = np.asarray(values, dtype=float)
    clusters, rows = int(labels.max(initial=-1)) + 1, len(labels)
    adding = csc_array((np.ones(rows), labels, np.arange(rows + 1)), shape=(clusters, rows))
    columns = int(np.prod(table.shape[1:]))
    sums: FloatArray = (adding @ table.reshape(rows, columns)).reshape(clusters, *table.shape[1:])
    return sums


RESAMPLES = 2000
"""Draws of ``interval="bootstrap"``."""

_STEP = 1e-4
"""Of a numeric derivative: a cluster's weight more and less."""

MANY_ROWS = 1 << 14
"""From so many rows on, equal ones are counted before limits are looked for."""

_NO_ERROR = 1e-10
"""A standard error below this is the rounding of that derivative."""


LowerLimit = Annotated[float, BeforeValidator(lambda limit: -np.inf if limit is None else limit)]
UpperLimit = Annotated[float, BeforeValidator(lambda limit: np.inf if limit is None else limit)]
"""In a saved file, which has no infinity, a limit that is null is none."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval, and how it was made.

    Attributes:
        estimate: The score of the sample.
        low: The lower limit; ``-inf`` when the data say nothing about it.
        high: The upper limit; ``inf`` when the data say nothing about it.
        level: The nominal confidence level.
        method: ``beta``, ``bounded_dirichlet``, ``mid_p``, ``cluster_t``, ``cluster_t_logit``, ``cluster_t_fisher``,
            ``cluster_bootstrap``, ``cluster_sandwich_t``, ``exact``, ``betting`` (holds at any time),
            ``dirichlet_bootstrap``, ``inverted_test``, ``max_t`` (of all differences at once) or ``mover`` (of a
            difference, of the limits of its two parts).
        n: Clusters that have data.
        resamples: Draws made; None for a method that draws none.
        seed: Of the draws; None for a method that draws none.
        standard_error: Of the estimate, by its linearisation over the clusters (Liang and Zeger, 1986); None where a
            sample without spread or of one cluster says nothing about it, and where a method states none.
    """

    estimate: float
    low: LowerLimit
    high: UpperLimit
    level: float
    method: str
    n: int
    resamples: int | None = None
    seed: int | None = None
    standard_error: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", float(self.level))

    def on_scale(self, low: float, width: float) -> Self:
        """The same in units of which ``low`` is what is 0 here, and ``width`` higher what is 1 here."""
        estimate, lower, upper = (low + width * number for number in (self.estimate, self.low, self.high))
        error = None if self.standard_error is None else width * self.standard_error
        return replace(self, estimate=estimate, low=lower, high=upper, standard_error=error)

    def subtracted_from(self, total: float) -> Self:
        """That of ``total`` less what this is of: its limits change places."""
        return replace(self, estimate=total - self.estimate, low=total - self.high, high=total - self.low)


def mean_intervals(
    values: ArrayLike, *, level: float = 0.95, bounds: tuple[float, float] | None = (0.0, 1.0)
) -> tuple[Interval | None, ...]:
    """The mean of every column, with an interval.

    The same as `ratio_intervals` with a denominator of 1 wherever there is a value; formula and source are there.

    Args:
        values: (n_rows, n_scores), or (n_rows,) for one score. NaN is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the rows' clusters and a method.
        bounds: The least and the greatest value that a score can take; None for a score without bounds.

    Returns:
        One interval a column; None for a column without a value.

    Raises:
        InvalidInputError: A value outside the bounds, an infinite value, a bad shape or level.

    >>> ten_of_ten, = mean_intervals([1.0] * 10)
    >>> round(ten_of_ten.low, 2), ten_of_ten.high
    (0.76, 1.0)
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
    wins of the contests of a prompt. Where the level is an `IntervalLevel` with clusters, rows are summed over them
    first. k is the number of clusters with data, or of rows where none belong together; "held" is the share of
    simulated data sets whose nominal 95 % interval holds the truth (``python -m benchmarks.clusters``).

    **auto**: ``bounded``, but for 0/1 scores (every ratio at a bound, all denominators equal) the quantiles of
    Beta(x + 1 - s, k - x + s) for the lower limit and Beta(x + s, k - x + 1 - s) for the upper one, 0 at x = 0 and 1
    at x = k (method ``beta``). s = 1 gives Clopper and Pearson's interval, s = 1/2 Jeffreys'; here s = 3/5, and 1/2
    for k < 5. Held, by enumeration, on average over all rates: .961–.968 at k = 5 to 12, .955–.960 at k = 15 to 50, and
    .895 or more at the worst rate; for k = 2 to 4 .960–.968 and .866; for k = 1 .978 and .854. Without bounds: ``t``.

    **bounded** (``bounded_dirichlet``): give cluster i a random weight :math:`E_i` of the standard exponential
    distribution (normalised, they are Dirichlet: the Bayesian bootstrap), and add two clusters that nobody saw, one
    at each bound, with Gamma weights of shape 3/4 (the bound that is looked for) and 1/4 (the other). The lower limit
    is the value c with

    .. math:: P\Big(\sum_i E_i\,(x_i - c\,d_i) \le 0\Big) = \Phi(-t_{k-1,\,1-\alpha/2}),

    the upper limit its mirror image. The added clusters have the size-biased mean size :math:`\sum d^2/\sum d`. The
    probability is not simulated but computed by the saddlepoint approximation :math:`\Phi(r^*)`, so no seed enters.
    Student's quantile pays for a variance estimated from k clusters. A sample without spread still has an interval of
    positive width, because an unseen cluster may lie at a bound; what nobody saw in k clusters may be the truth for a
    share of about 3/k of them. Held in 93.5 % to 97 %, and in more only for few clusters or where the scores use
    little of the range between the bounds.

    **t** (``cluster_t``): :math:`\hat\theta \pm t_{k-1} s`,
    :math:`s^2 = \frac{k}{k-1}\sum_i (x_i - \hat\theta d_i)^2 / (\sum d)^2`, cut at the bounds; all between the bounds
    where that is 0 or k is 1, since a sample without spread says nothing about the spread. For scores far from their
    bounds; near them it holds too little.

    **t_logit** (``cluster_t_logit``): the same on the logit scale of the way between the bounds, with the standard
    error s / (p (1 - p)). A ratio at a bound, or without a spread, takes ``bounded``.

    **bootstrap** (``cluster_bootstrap``): the quantiles of the ratio over 2,000 draws of k clusters with replacement.
    It assumes nothing and holds too little for few clusters, or near a bound (0/1 scores: .938–.959 on average over the
    rates for k = 10 to 50, .831 at the worst one). A ratio without a spread, of which every draw is the same, takes
    ``bounded``, or without bounds ``t``.

    **mid_p**, **exact**: for 0/1 scores of rows that do not depend on each other, the limits at which the tail
    probability, with half or all of the probability of the number observed, is :math:`\alpha/2`. ``exact`` (Clopper
    and Pearson) never holds less than its level; ``mid_p`` holds .95 or more on average and .91 or more at any rate.
    A score that is not 0/1 takes ``auto``.

    **anytime** (``betting``): the limits of `evenhand.statistics.anytime.ConfidenceSequence`, which hold at all looks
    at a growing sample together and wherever one stops; between bounds only. 1.6 to 1.9 times as wide as others. Of
    ratios the score of a cluster is its own one, with its denominator as a share of the greatest, which is taken as
    known.

    Args:
        numerators: (n_rows, n_scores), or (n_rows,) for one score. NaN is missing.
        denominators: The same shape, not negative. A row whose denominator is 0 or NaN is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the rows' clusters and a method.
        bounds: The least and greatest value of a ratio; None when it has none.

    Returns:
        One interval a column, in order; None for a column without data. The order of the clusters does not matter.

    Raises:
        InvalidInputError: Shapes that differ, a negative denominator, a ratio outside the bounds, a bad level.

    Sources: Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", for Beta and mid-P
    limits; Liang and Zeger (1986) for the standard error; Gaffke (2005), "Three test statistics for a nonparametric
    one-sided hypothesis on the mean of a nonnegative variable"; Learned-Miller and Thomas (2019), arXiv:1905.06208,
    section 3 (one added point at the bound); Rubin (1981), "The Bayesian bootstrap"; Barndorff-Nielsen (1986) and
    Lugannani and Rice (1980) for the saddlepoint.

    >>> flips, = ratio_intervals([0, 1, 2, 0], [2, 2, 2, 1])
    >>> round(flips.estimate, 4), flips.n, flips.method
    (0.4286, 4, 'bounded_dirichlet')
    """
    check_level(level)
    confidence = IntervalLevel.of(level)
    numerator, denominator = _ratio_columns(numerators, denominators)
    lower, upper = (0.0, 1.0) if bounds is None else _checked_bounds(bounds)
    if bounds is not None:
        _check_within(numerator, denominator, lower, upper)
        numerator = (numerator - lower * denominator) / (upper - lower)
    if confidence.clusters is not None:
        labels = confidence.labels(len(numerator))
        numerator, denominator = cluster_sums(numerator, labels), cluster_sums(denominator, labels)
    clusters = np.count_nonzero(denominator, axis=0)
    defined = np.flatnonzero(clusters)
    methods = _methods(confidence.method, numerator[:, defined], denominator[:, defined], bounded=bounds is not None)
    results: list[Interval | None] = [None] * clusters.size
    width = max(1, CELLS_AT_ONCE // max(1, numerator.shape[0]))
    for method in dict.fromkeys(methods.tolist()):
        alike = defined[methods == method]
        for start in range(0, alike.size, width):
            chosen = alike[start : start + width]
            every = chosen.size == clusters.size
            own = (numerator, denominator) if every else (numerator[:, chosen], denominator[:, chosen])
            limits = _LIMITS[method](*own, float(level))
            if bounds is not None:
                limits = tuple(np.clip(limit, 0.0, 1.0) for limit in limits)
            drawn = (RESAMPLES, 0) if method == "cluster_bootstrap" else (None, None)
            errors = (upper - lower) * _standard_errors(*own)
            for column, triple, spread in zip(chosen, np.stack(limits, axis=1), errors.tolist(), strict=True):
                estimate, low, high = (float(value) for value in lower + (upper - lower) * triple)
                error = None if np.isnan(spread) else spread
                n, (resamples, seed) = int(clusters[column]), drawn
                results[column] = Interval(estimate, low, high, level, method, n, resamples, seed, error)
    return tuple(results)


def exact_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """The rate successes / trials of independent trials, with Clopper and Pearson's limits: never less than the level.

    Args:
        successes: From 0 to ``trials``.
        trials: At least 1.
        level: In [0.5, 1).

    Raises:
        EstimationError: No trial.

    Source: `scipy.stats.binomtest`; Clopper and Pearson (1934).

    >>> rate = exact_interval(8, 10)
    >>> round(rate.low, 4), rate.estimate, round(rate.high, 4)
    (0.4439, 0.8, 0.9748)
    """
    check_level(level)
    if not 0 <= successes <= trials:
        raise InvalidInputError(f"successes is {successes!r} of {trials!r} trials; it lies between 0 and the trials")
    if trials == 0:
        raise EstimationError("a rate of 0 trials is undefined; there was nothing to count")
    limits = stats.binomtest(successes, trials).proportion_ci(level, "exact")
    return Interval(successes / trials, float(limits.low), float(limits.high), level, "exact", trials)


def bootstrap_interval(
    rows: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    against: FloatArray,
    towards: FloatArray,
    *,
    estimate: float,
    level: IntervalLevel,
    resamples: int,
    seed: int,
    quantiles: tuple[Quantile, Quantile] = ("lower", "higher"),
) -> Interval:
    """An estimate from sums over rows, with the limits of `bootstrap_limits` over the rows' clusters.

    The unseen cluster has the size-biased mean size of those seen; other arguments are as in that function.
    """
    labels = level.labels(len(rows))
    sums, size = cluster_sums(rows, labels), size_of_unseen(labels)
    low, high = bootstrap_limits(
        sums,
        statistic,
        against * size,
        towards * size,
        level=float(level),
        resamples=resamples,
        seed=seed,
        quantiles=quantiles,
    )
    limits = min(low, estimate), max(high, estimate)
    error = sandwich_error(_influences(sums, statistic))
    return Interval(estimate, *limits, level, "dirichlet_bootstrap", len(sums), resamples, seed, error)


def sandwich_error(influences: FloatArray) -> float | None:
    r"""The standard error :math:`\sqrt{\frac{k}{k-1}\sum_c \psi_c^2}` of a statistic by the influence of k clusters.

    Args:
        influences: (k,): the derivative of the statistic by the weight of each cluster, 1 in the sample; their sum is
            0.

    Returns:
        None for one cluster, and where no cluster has any influence: then the sample says nothing about it.

    Source: Liang and Zeger (1986); Efron (1982), "The jackknife, the bootstrap and other resampling plans", section 6.3
    (the infinitesimal jackknife).

    >>> round(sandwich_error(np.array([0.1, -0.1, 0.1, -0.1])), 4)  # sqrt(4/3 · 0.04)
    0.2309
    """
    k = len(influences)
    if k < 2:
        return None
    error = float(np.sqrt(k / (k - 1) * (influences**2).sum()))
    return error if error > _NO_ERROR else None


def _influences(sums: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The derivative of a statistic of sums by the weight of each cluster."""
    total = sums.sum(axis=0)
    found = (statistic(total + _STEP * sums) - statistic(total - _STEP * sums)) / (2 * _STEP)
    return np.asarray(found - found.mean())


def _standard_errors(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Of columns of ratios; NaN where there is one cluster or none, or no spread."""
    clusters, total = np.count_nonzero(denominator, axis=0), np.maximum(denominator.sum(axis=0), 1e-300)
    estimate = numerator.sum(axis=0) / total
    error = np.sqrt(clusters / np.maximum(clusters - 1, 1) * ((numerator - estimate * denominator) ** 2).sum(axis=0))
    error /= total
    return np.where((clusters > 1) & (error > 1e-12 * np.abs(estimate)), error, np.nan)


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


def _methods(asked: str, numerator: FloatArray, denominator: FloatArray, *, bounded: bool) -> NDArray[np.str_]:
    """The method of each column."""
    size = numerator.shape[1]
    if asked == "anytime":
        if not bounded:
            raise InvalidInputError("interval='anytime' bets on scores between two bounds, and these have none")
        return np.full(size, "betting")
    if asked in {"t", "bounded"} or (not bounded and asked != "bootstrap"):
        return np.full(size, "bounded_dirichlet" if bounded and asked == "bounded" else "cluster_t")
    if asked in {"t_logit", "bootstrap"}:
        low, high = _cluster_t(numerator, denominator, 0.95)[1:]
        varied = np.isfinite(high - low)
        if asked == "t_logit":
            total, sums = denominator.sum(axis=0), numerator.sum(axis=0)
            varied &= (sums > 1e-12 * total) & (sums < (1 - 1e-12) * total)
        otherwise = "bounded_dirichlet" if bounded else "cluster_t"
        return np.where(varied, "cluster_t_logit" if asked == "t_logit" else "cluster_bootstrap", otherwise)
    greatest = denominator.max(axis=0, initial=0.0)
    rounding = 1e-9 * greatest
    equal = (denominator <= 0) | (denominator >= greatest - rounding)
    at_bound = (numerator <= rounding) | (numerator >= denominator - rounding)
    method = {"auto": "beta", "mid_p": "mid_p", "exact": "exact"}[asked]
    return np.where((equal & at_bound).all(axis=0), method, "bounded_dirichlet")


def _counts(numerator: FloatArray, denominator: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Successes and trials of 0/1 scores."""
    scale = denominator.max(axis=0)
    return np.round(numerator.sum(axis=0) / scale), np.round(denominator.sum(axis=0) / scale)


def _beta(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    x, n = _counts(numerator, denominator)
    share = np.where(n < 5, 0.5, 0.6)
    return beta_limits(x, n, share, (1 - level) / 2)


def _exact(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    x, n = _counts(numerator, denominator)
    return beta_limits(x, n, np.ones_like(n), (1 - level) / 2)


def beta_limits(x: FloatArray, n: FloatArray, share: FloatArray, tail: float) -> tuple[FloatArray, ...]:
    """Rates x / n with the limits of the method ``beta``, a share of 1 being Clopper and Pearson's."""
    none, every = x == 0, x == n
    low = stats.beta.ppf(tail, np.where(none, 1.0, x + 1 - share), n - x + share)
    high = stats.beta.ppf(1 - tail, x + share, np.where(every, 1.0, n - x + 1 - share))
    return x / n, np.where(none, 0.0, low), np.where(every, 1.0, high)


def _mid_p(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    x, n = _counts(numerator, denominator)
    tail = (1 - level) / 2

    def lower(successes: float, trials: float) -> float:
        def excess(p: float) -> float:
            found = stats.binom.sf(successes, trials, p) + 0.5 * stats.binom.pmf(successes, trials, p)
            return float(found) - tail

        return 0.0 if successes == 0 else float(optimize.brentq(excess, 0.0, 1.0, xtol=1e-12))

    pairs = list(zip(x.tolist(), n.tolist(), strict=True))
    low = np.array([lower(successes, trials) for successes, trials in pairs])
    high = np.array([1 - lower(trials - successes, trials) for successes, trials in pairs])
    return x / n, low, high


def _cluster_t_logit(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    estimate, _, high = _cluster_t(numerator, denominator, level)
    centre, half = logit(estimate), (high - estimate) / (estimate * (1 - estimate))
    return estimate, expit(centre - half), expit(centre + half)


def _cluster_bootstrap(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    estimate = numerator.sum(axis=0) / denominator.sum(axis=0)
    limits = []
    for x, d in zip(numerator.T, denominator.T, strict=True):
        present = d > 0
        blocks = cluster_resamples(int(present.sum()), resamples=RESAMPLES)
        drawn = np.concatenate([(block @ x[present]) / (block @ d[present]) for block in blocks])
        limits.append(np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    low, high = np.array(limits).T
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def bets_on(numerator: FloatArray, denominator: FloatArray) -> ConfidenceSequence:
    """The clusters of one column of ratios between 0 and 1, as what is bet on.

    The largest cluster takes a whole stake, and one whole contest does. A stake may not depend on results: where a
    contest counts by its grade, so does the weight of a cluster.
    """
    present = denominator > 0
    x, d = numerator[present], denominator[present]
    return ConfidenceSequence.of(np.clip(x / d, 0.0, 1.0), d / d.max(initial=1.0))


def _betting(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    estimate = numerator.sum(axis=0) / denominator.sum(axis=0)
    columns = zip(numerator.T, denominator.T, strict=True)
    low, high = np.array([bets_on(*column).limits(level) for column in columns]).T
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def _cluster_t(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    clusters, total = np.count_nonzero(denominator, axis=0), denominator.sum(axis=0)
    estimate = numerator.sum(axis=0) / total
    error = _standard_errors(numerator, denominator)
    quantile = stats.t.ppf((1 + level) / 2, np.maximum(clusters - 1, 1))
    half = np.where(np.isnan(error), np.inf, quantile * error)
    return estimate, estimate - half, estimate + half


def _bounded_dirichlet(numerator: FloatArray, denominator: FloatArray, level: float) -> tuple[FloatArray, ...]:
    total = denominator.sum(axis=0)
    estimate = np.clip(numerator.sum(axis=0) / total, 0, 1)
    added = (denominator**2).sum(axis=0) / total
    freedom = np.maximum(np.count_nonzero(denominator, axis=0) - 1, 1)
    score = stats.t.ppf((1 + level) / 2, freedom)
    ends = np.array([NEAR_ENDPOINT, FAR_ENDPOINT])
    if len(numerator) < MANY_ROWS:
        x, d = np.vstack([numerator, np.zeros_like(added), added]), np.vstack([denominator, added, added])
        shapes = np.ones((len(numerator), 1))
        low, high = (
            dirichlet_quantile(x, d, np.vstack([shapes, own[:, None]]), way * score)
            for own, way in ((ends, -1), (ends[::-1], 1))
        )
    else:
        columns = zip(numerator.T, denominator.T, added, score, strict=True)
        low, high = np.array([_limits_of_many(*column, ends) for column in columns]).T
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def _limits_of_many(
    numerator: FloatArray, denominator: FloatArray, added: float, score: float, ends: FloatArray
) -> tuple[float, float]:
    """Both limits of one column: m equal rows with standard exponential weights are one with a Gamma weight of shape m.

    Where a million scores are of five levels, five rows are left.
    """
    present = denominator > 0
    pairs, counts = np.unique(numerator[present] + 1j * denominator[present], return_counts=True)
    x, d = np.array([*pairs.real, 0.0, added])[:, None], np.array([*pairs.imag, added, added])[:, None]
    low, high = (
        dirichlet_quantile(x, d, np.array([*counts, *own])[:, None], np.array([way * score]))[0]
        for own, way in ((ends, -1), (ends[::-1], 1))
    )
    return float(low), float(high)


_LIMITS: Mapping[str, Callable[[FloatArray, FloatArray, float], tuple[FloatArray, ...]]] = {
    "beta": _beta,
    "exact": _exact,
    "mid_p": _mid_p,
    "bounded_dirichlet": _bounded_dirichlet,
    "cluster_t": _cluster_t,
    "cluster_t_logit": _cluster_t_logit,
    "cluster_bootstrap": _cluster_bootstrap,
    "betting": _betting,
}
"""Method -> estimates, lower and upper limits of columns of ratios between 0 and 1."""

GREATEST_BIAS = 0.2
"""The share of an interval's half-width by which unscored votes may move the score, at the worst."""

TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class UnscoredBounds:
    """The bounds of a score that so many unscored votes leave open that they lead, and not its mean.

    Attributes:
        low: The score of these rows if every unscored vote had been the lowest.
        high: The same with the highest. Had every vote been scored, the score would lie between the two, whatever the
            unscored votes have in common.
        interval_low: The lower limit of the interval of ``low``.
        interval_high: The upper limit of the interval of ``high``.
        share: The share of the rows, among those to which the question applies, that have an unscored vote.
        unit: What ``share`` is a share of: rows, contests, items or verdicts.
    """

    low: float
    high: float
    interval_low: float
    interval_high: float
    share: float
    unit: str = "rows"

    def subtracted_from(self, total: float) -> UnscoredBounds:
        """Those of ``total`` less what these are of: the sides change places."""
        ends = (total - self.high, total - self.low, total - self.interval_high, total - self.interval_low)
        return UnscoredBounds(*ends, self.share, self.unit)


def unscored_bounds(
    score: Interval | None,
    limits: Sequence[tuple[float, float] | None] | FloatArray,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    unit: str = "rows",
) -> UnscoredBounds | None:
    r"""The bounds that lead, where unscored votes could make the mean of the scored ones untrue; else None.

    Judges refuse, break off and ramble more on some responses than on others: unscored votes are not a random sample.
    With m the mean of what is scored, [L, H] its interval, and [a, b] the mean over all rows if every unscored vote had
    been the lowest, or the highest, the mean leads only if

    .. math:: m - a \le 0.2\,(m - L) \quad\text{and}\quad b - m \le 0.2\,(H - m).

    The bias is then at most 0.2 · 1.96 = 0.39 standard errors, and an interval that holds the truth in 95 % of the data
    sets without it holds it in :math:`\Phi(1.96 - 0.39) - \Phi(-1.96 - 0.39)` = 93.2 % at the worst, whatever the
    unscored depend on. As a share of rows that is little: with scores around a half 4 % of 100 rows, 1.3 % of 1,000.
    Otherwise the bounds lead, with the lower limit of a and the upper one of b, which together hold the truth at least
    as often as the level says.

    ``python -m benchmarks.unscored`` simulates judges that refuse at random, what is bad, or what is good, over 50 to
    1,000 rows with 0/1 scores whose truth is .3, .5 or .9: 108 designs of 400 data sets. Where the mean led, its
    interval held the truth in 94.5 % of all cells, and in 91.4 % or more in every design in which it leads in half of
    the data sets. (In one in which it leads in a fifth of them, 84.9 % of these: that little is unscored is then no
    accident either.) Where the bounds led, they held the score of all rows always, and their brackets the truth in
    97.9 %, and in 96 % or more in every design in which they lead in half of the data sets. So what was printed held
    the truth in 96.6 % on average and 91.5 % in the worst design; the interval of the mean, whatever was unscored, in
    80.4 % on average, below 90 % in 30 designs, and never in 7.

    Args:
        score: Of what is scored.
        limits: One a row: the least and the greatest score that it could have; None, or NaN, where the question does
            not apply.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the rows.
        bounds: The least and the greatest value that a score can take.
        unit: What ``limits`` has one of.

    Source: Manski (1989), "Anatomy of the selection problem", Journal of Human Resources 24, for the bounds; Horowitz
    and Manski (2000), Journal of the American Statistical Association 95, for the interval around both.

    A third is unscored: 20 rows of 1, and 10 that could be anything.

    >>> (score,) = mean_intervals([1.0] * 20)
    >>> found = unscored_bounds(score, [(1.0, 1.0)] * 20 + [(0.0, 1.0)] * 10)
    >>> round(found.low, 3), found.high, round(found.share, 3)
    (0.667, 1.0, 0.333)
    >>> unscored_bounds(score, [(1.0, 1.0)] * 20) is None
    True
    """
    if not isinstance(limits, np.ndarray):
        limits = np.array([(np.nan, np.nan) if each is None else each for each in limits], dtype=float).reshape(-1, 2)
    table = limits
    known = ~np.isnan(table[:, 0])
    tolerance = TOLERANCE * (bounds[1] - bounds[0])
    open_rows = known & (table[:, 1] - table[:, 0] > tolerance)
    if not open_rows.any() or mean_leads(score, *table[known].mean(axis=0), tolerance=tolerance):
        return None
    return bounds_between(
        *mean_intervals(table, level=level, bounds=bounds), share=float(open_rows.sum() / known.sum()), unit=unit
    )


def mean_leads(score: Interval | None, least: float, greatest: float, *, tolerance: float = TOLERANCE) -> bool:
    """The rule of :func:`unscored_bounds`, for a score whose bounds are known: whether the mean leads.

    Args:
        score: Of what is scored.
        least: The score if every unscored vote had been the lowest.
        greatest: The same with the highest.
        tolerance: What is no difference.
    """
    if score is None:
        return False
    below = GREATEST_BIAS * (score.estimate - score.low) + tolerance
    above = GREATEST_BIAS * (score.high - score.estimate) + tolerance
    return bool(score.estimate - least <= below and greatest - score.estimate <= above)


def bounds_between(
    least: Interval | None, greatest: Interval | None, *, share: float, unit: str
) -> UnscoredBounds | None:
    """The bounds from the scores if every unscored vote had been the lowest, or the highest; None without them."""
    if least is None or greatest is None:
        return None
    return UnscoredBounds(least.estimate, greatest.estimate, least.low, greatest.high, share, unit)
