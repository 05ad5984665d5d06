"""Intervals for scores that are averages over instances, and the rows that belong together.

The unit of sampling is the cluster: the instance, or the prompt, with all its votes inside. A row is a cluster, a
column a score. Everything here is linear in the number of clusters, in time and in memory.

Rows of one document, conversation or user carry less information than independent rows. With m rows per cluster and an
intraclass correlation r, the variance of a mean is 1 + (m - 1) r times that of independent rows (Kish, 1965, "Survey
sampling", section 5.4), so that intervals over rows are too narrow. Over the sums of clusters they are not.

A fixed interval holds for the sample that it was planned for. Looked at again and again, it sooner or later misses:
what holds at all looks together is a confidence sequence (:class:`ConfidenceSequence`).

When the mean of the scored votes is not the score, there are bounds for the unscored ones, and a rule for showing them
(:class:`UnscoredBounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Annotated, Final, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator
from scipy import optimize, stats
from scipy.sparse import csc_array
from scipy.special import expit, logit, logsumexp

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.numbers import UnscoredBounds
from evenhand.options import IntervalMethod

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

NEAR_BOUND, FAR_BOUND = 0.75, 0.25
"""The weights of two unseen clusters, at the bound whose limit is looked for and at the other one."""

RESAMPLES = 2000
"""The number of draws of ``interval="bootstrap"``."""

CELLS_AT_ONCE = 1 << 21
"""The number of cells of a block of draws."""

NO_ERROR = 1e-10
"""A standard error up to this is rounding."""


CELLS: Final = 240
"""The steps between 0 and 1 on which scores are counted; halves, thirds, fifths, eighths and tenths are among them."""

STAKES: Final[FloatArray] = np.geomspace(1e-5, 0.99, 64)
"""Shares of the highest stake on a score, all below 1, so that no gambler loses all capital."""


_LIKELY = 1 / (1 + (np.log(STAKES / 0.16) / 0.3) ** 2)
LOG_PRIOR: Final[FloatArray] = np.log(0.9 * _LIKELY / _LIKELY.sum() + 0.1 * STAKES / STAKES.sum())
"""The log shares of capital on the stakes: nine tenths by Cauchy's density of their logarithms, one tenth evenly.

Against one half the stake c wins fastest where the mean stands 2c times the variance from it, c/2 without ties. So most
of the capital is on differences that some hundreds of scores can show, and some on all others: the tenth for means near
0 or 1, the tails for differences that take a million.
"""

_STEPS: Final[FloatArray] = np.linspace(0.0, 1.0, CELLS + 1)
_NEAREST = _ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    r"""A sequence of scores in [0, 1], with limits of their mean that hold at every look.

    A gambler who thinks that the mean is above m stakes the share c of what may be staked on each score,

    .. math:: K^+_c(m) = \prod_i \Big(1 + w_i c\,\frac{x_i - m}{m}\Big), \qquad
              K^-_c(m) = \prod_i \Big(1 - w_i c\,\frac{x_i - m}{1 - m}\Big),

    and the second one, who thinks that it is below, stakes as much. If the mean is m, no bet, after any scores,
    is expected to win or to lose. Both spread their capital over 64 stakes c, and

    .. math:: K(m) = \tfrac12\sum_c \pi_c K^+_c(m) + \tfrac12\sum_c \pi_c K^-_c(m)

    starts at 1 and is a nonnegative martingale: with a probability of at most a it ever reaches 1/a (Ville). So at all
    times together {m: K(m) < 1/a} holds the mean with probability 1 - a, and 1/K(m) is a p-value, however often and
    for any reason one looks or stops. Nothing else is assumed: no distribution, and not that scores do not depend
    on each other, but for a mean that does not depend on earlier scores.

    K is convex on the logarithmic scale, as each factor is, so that the set is an interval; it holds the mean of the
    scores, at which K is at most 1. The order of the scores does not matter to it.

    Scores between two of the 241 steps count on both in proportion. A logarithm being concave, K becomes smaller by
    that and never larger; the limits are wider by less than 1 % unless the standard deviation is below 0.02.

    Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", Journal of the
    Royal Statistical Society B 86, sections 4.1 to 4.4 (hedged capital; a fixed set of bets is their dKelly); Ryu and
    Bhatt (2022), arXiv:2207.12382, for mixtures over bets and why the sets are intervals; Ramdas, Grünwald, Vovk and
    Shafer (2023), "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38; Howard, Ramdas,
    McAuliffe and Sekhon (2021), Annals of Statistics 49, for confidence sequences.

    Attributes:
        n: Scores so far.
        mean: The mean of the scores, each with its share; ½ without a score.
        shares: Shape (k,): the different shares of a stake.
        counts: Shape (k, steps): how many scores of each share are at each step.

    >>> sequence = ConfidenceSequence.of([1, 1, 0.5, 1, 0, 1, 1, 1, 1, 1] * 3)
    >>> sequence.n, sequence.mean, [round(limit, 2) for limit in sequence.limits(0.95)]
    (30, 0.85, [0.57, 0.96])
    """

    n: int
    mean: float
    shares: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, scores: ArrayLike, shares: ArrayLike | None = None) -> Self:
        """Return the scores, and for each the share of a full stake that it takes, in (0, 1]; by default all.

        Of the mean of a cluster, its size as a share of the largest: then the mean that is estimated is that over rows.
        """
        values = np.atleast_1d(np.asarray(scores, dtype=float))
        weights = np.ones(values.shape) if shares is None else np.asarray(shares, dtype=float)
        each, row = np.unique(weights, return_inverse=True)
        cells, counts = values * CELLS, np.zeros((len(each), CELLS + 1))
        below = np.minimum(cells.astype(int), CELLS - 1)
        np.add.at(counts, (row, below), below + 1 - cells)
        np.add.at(counts, (row, below + 1), cells - below)
        mean = min(1.0, float(values @ weights / weights.sum())) if values.size else 0.5
        return cls(len(values), mean, each, counts)

    def log_capital(self, mean: float, *, above: bool) -> float:
        """Compute the log capital of the gambler who thinks that the mean is above this one, or below it."""
        gains = _STEPS / mean - 1 if above else (1 - _STEPS) / (1 - mean) - 1
        share, step = np.nonzero(self.counts)
        total = self.counts[share, step] @ np.log1p((self.shares[share] * gains[step])[:, None] * STAKES)
        return float(logsumexp(total + LOG_PRIOR))

    def log_e_value(self, mean: float = 0.5, below: Self | None = None) -> float:
        """Return log K(mean): the evidence against this mean, at any time; ``below``: other scores for bets on less."""
        other = (self if below is None else below).log_capital(mean, above=False)
        return float(np.logaddexp(self.log_capital(mean, above=True), other) - np.log(2))

    def p_value(self, below: Self | None = None) -> float:
        """Compute 1 / K(½), at most 1: the p-value of a mean of one half, two-sided and valid at any time."""
        evidence = self.log_e_value(0.5, below)
        return 1.0 if evidence < _ROUNDING else float(np.exp(-evidence))

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """Compute the confidence sequence now: all means that the bets leave open; 0 and 1 before the first score."""
        enough = -float(np.log1p(-level))

        def excess(mean: float) -> float:
            return self.log_e_value(mean) - enough

        least, most = _NEAREST, 1 - _NEAREST
        centre = min(max(self.mean, least), most)
        low = optimize.brentq(excess, least, centre, xtol=1e-10) if excess(least) > 0 > excess(centre) else 0.0
        high = optimize.brentq(excess, centre, most, xtol=1e-10) if excess(most) > 0 > excess(centre) else 1.0
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class IntervalLevel:
    """The level of intervals, with the clusters of the rows that they are over and the method asked for.

    Every function that takes a ``level`` takes one of these or a plain number, which is the level for rows that do not
    depend on each other by the method ``auto``. What is computed from rows is computed over their clusters, and other
    rows than those of the clusters are refused.

    Attributes:
        level: In [0.5, 1).
        clusters: One label per row, in their order; None if every row is its own cluster.
        method: An `evenhand.options.IntervalMethod`; `ratio_intervals` says what each does.
        resamples: The number of draws of :func:`bootstrap_interval`.
        seed: The seed of these draws.

    Raises:
        InvalidInputError: A level out of range, or no such method.

    >>> level = IntervalLevel(0.9, clusters=["b", "a", "b"])
    >>> level.n_clusters, level.only([True, False, True]).n_clusters
    (2, 1)
    """

    level: float = 0.95
    clusters: Sequence[Hashable] | None = None
    method: str = "auto"
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InvalidInputError(f"level is {self.level!r}; a confidence level lies in [0.5, 1), such as 0.95")
        methods = get_args(IntervalMethod)
        if self.method not in methods:
            raise InvalidInputError(f"interval is {self.method!r}. {did_you_mean(self.method, methods)}")

    @classmethod
    def of(cls, level: Level) -> Self:
        """Return the level as it is, or a plain number for independent rows."""
        return level if isinstance(level, cls) else cls(float(level))

    def __float__(self) -> float:
        return self.level

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters of the rows; None if every row is its own cluster."""
        return None if self.clusters is None else len(set(self.clusters))

    def labels(self, n_rows: int) -> IntArray:
        """Return the clusters of the rows, numbered from 0 as they occur.

        Raises:
            InvalidInputError: If the level is for another number of rows.
        """
        if self.clusters is None:
            return np.arange(n_rows)
        if len(self.clusters) != n_rows:
            raise InvalidInputError(
                f"clusters has the shape {(len(self.clusters),)!r} for {n_rows} rows; give one label per row"
            )
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self.clusters))}
        return np.array([numbers[cluster] for cluster in self.clusters], dtype=np.int64)

    def over(self, clusters: Sequence[Hashable] | None) -> Self:
        """Return the same level and method for other rows with these clusters; no clusters if all labels differ."""
        together = clusters is not None and len(set(clusters)) < len(clusters)
        return replace(self, clusters=clusters if together else None)

    def only(self, rows: ArrayLike) -> Self:
        """Return the level for some of the rows: those for which ``rows``, (n_rows,), is true."""
        if self.clusters is None:
            return self
        return replace(self, clusters=list(compress(self.clusters, np.asarray(rows).tolist())))


Level = float | IntervalLevel


def cluster_sums(values: ArrayLike, labels: IntArray) -> FloatArray:
    """Compute the sum over each cluster's rows, (n_clusters, …).

    >>> cluster_sums([1.0, 2.0, 4.0], np.array([1, 0, 1])).tolist()
    [2.0, 5.0]
    """
    table = np.asarray(values, dtype=float)
    clusters, rows = int(labels.max(initial=-1)) + 1, len(labels)
    adding = csc_array((np.ones(rows), labels, np.arange(rows + 1)), shape=(clusters, rows))
    columns = int(np.prod(table.shape[1:]))
    sums: FloatArray = (adding @ table.reshape(rows, columns)).reshape(clusters, *table.shape[1:])
    return sums


LowerLimit = Annotated[float, BeforeValidator(lambda limit: -np.inf if limit is None else limit)]
UpperLimit = Annotated[float, BeforeValidator(lambda limit: np.inf if limit is None else limit)]
"""A limit in a saved file; null stands for infinity, which JSON lacks."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval, and how it was made.

    Attributes:
        estimate: The score of the sample.
        low: The lower limit; ``-inf`` if the data give none.
        high: The upper limit; ``inf`` if the data give none.
        level: The nominal confidence level.
        method: ``beta``, ``bounded_beta``, ``exact``, ``cluster_t``, ``cluster_t_logit``, ``cluster_t_fisher``,
            ``cluster_bootstrap``, ``cluster_sandwich_t``, ``betting`` (holds at any time), ``dirichlet_bootstrap`` or
            ``post_stratified_beta``.
        n: Clusters that have data.
        resamples: Draws made; None for a method that draws none.
        seed: The seed of the draws; None for a method that draws none.
        standard_error: Of the estimate, by its linearisation over the clusters (Liang and Zeger, 1986) or from the
            draws; None if a sample without spread or of one cluster says nothing about it, and where a method states
            none.
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

    def on_scale(self, low: float, width: float) -> Self:
        """Rescale from [0, 1] to [``low``, ``low + width``]."""
        estimate, lower, upper = (low + width * number for number in (self.estimate, self.low, self.high))
        error = None if self.standard_error is None else width * self.standard_error
        return replace(self, estimate=estimate, low=lower, high=upper, standard_error=error)

    def subtracted_from(self, total: float) -> Self:
        """Compute the interval of ``total - x``; the limits are swapped."""
        return replace(self, estimate=total - self.estimate, low=total - self.high, high=total - self.low)


def mean_intervals(
    values: ArrayLike, *, level: Level = 0.95, bounds: tuple[float, float] = (0.0, 1.0), on_logit_scale: bool = False
) -> tuple[Interval | None, ...]:
    """Compute the mean of every column, with an interval.

    The same as `ratio_intervals` with a denominator of 1 wherever there is a value; formula and source are there.

    Args:
        values: (n_rows, n_scores), or (n_rows,) for one score. NaN is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the rows' clusters and a method.
        bounds: The least and the greatest value that a score can take.
        on_logit_scale: See `ratio_intervals`.

    Returns:
        One interval per column; None for a column without a value.

    Raises:
        InvalidInputError: A value outside the bounds, or a bad level.

    >>> ten_of_ten, = mean_intervals([1.0] * 10)
    >>> round(ten_of_ten.low, 2), ten_of_ten.high
    (0.76, 1.0)
    >>> constant, nothing = mean_intervals([[0.75, float("nan")]] * 10)
    >>> round(constant.low, 2), constant.estimate, round(constant.high, 2), nothing
    (0.57, 0.75, 0.83, None)
    """
    table = np.asarray(values, dtype=float)
    present = ~np.isnan(table)
    ratios = np.where(present, table, 0.0), present.astype(float)
    return ratio_intervals(*ratios, level=level, bounds=bounds, on_logit_scale=on_logit_scale)


def ratio_intervals(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    level: Level = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    on_logit_scale: bool = False,
) -> tuple[Interval | None, ...]:
    r"""Compute the ratio sum(numerators) / sum(denominators) of every column, with an interval.

    For rates whose clusters bring unequal shares: flips of the pairs judged, replies parsed of the replies received,
    wins of the contests of a prompt. Where the level is an `IntervalLevel` with clusters, rows are summed over them
    first. k is the number of clusters with data, or of rows where none belong together; "held" is the share of
    simulated data sets whose nominal 95 % interval holds the truth (``python -m benchmarks.clusters``).

    **auto**: limits are quantiles of Beta distributions. Give cluster i, with the numerator :math:`x_i` and the
    denominator :math:`d_i`, a random weight of the standard exponential distribution (normalised, they are Dirichlet:
    the Bayesian bootstrap), and add two unseen clusters, of the size-biased mean size
    :math:`a = \sum d^2 / \sum d`, one at each bound, with Gamma weights of shape u and v. The weighted ratio has, to
    first order, the mean :math:`m = (\sum x + a v) / D`, :math:`D = \sum d + a (u + v)`, and the variance

    .. math:: \frac{A}{A + 1}\,\frac{\sum_i (x_i - m d_i)^2 + a^2 (u m^2 + v (1 - m)^2)}{D^2}, \qquad A = k + u + v;

    the Beta distribution with this mean and variance takes its place. It is exact for scores of 0 and 1. The greater
    weight is at the bound whose limit is looked for: 3/4 against 1/4, at the tail probability
    :math:`\Phi(-t_{k-1,\,1-\alpha/2})` of Student's t (method ``bounded_beta``). Scores of 0 and 1 with equal
    denominators take 3/5 against 2/5, and for k < 5 1/2 against 1/2, at the normal tail (method ``beta``; Jeffreys'
    interval has 1/2): held, by enumeration, on average over all rates: .961–.968 at k = 5 to 12, .955–.960 at k = 15 to
    50, and .895 or more at the worst rate; for k = 2 to 4 .960–.968 and .866; for k = 1 .978 and .854. Other scores are
    held in 93.5 % to 97 %, and in more only for few clusters or where they use little of the range. A sample without
    spread still has an interval of positive width, because an unseen cluster may lie at a bound.

    **exact**: Clopper and Pearson's limits of 0/1 scores, which never hold less than the level: weights of 1 against 0
    at the normal tail. Other scores as by ``auto``.

    **t** (``cluster_t``): :math:`\hat\theta \pm t_{k-1} s`,
    :math:`s^2 = \frac{k}{k-1}\sum_i (x_i - \hat\theta d_i)^2 / (\sum d)^2`, cut at the bounds; all between the bounds
    where that is 0 or k is 1, since a sample without spread says nothing about the spread. For scores far from their
    bounds; near them it holds too little.

    **bootstrap** (``cluster_bootstrap``): the quantiles of the ratio over 2,000 draws of k clusters with replacement.
    It assumes nothing and holds too little for few clusters, or near a bound (0/1 scores: .938–.959 on average over the
    rates for k = 10 to 50, .83 at the worst one). A ratio without a spread, whose draws are all the same, is
    ``bounded_beta``.

    **anytime** (``betting``): holds at all looks at a growing sample together; see
    :class:`~evenhand.statistics.intervals.ConfidenceSequence`.

    Args:
        numerators: (n_rows, n_scores) or (n_rows,), each ratio of a row within the bounds (on the logit scale only that
            of all rows); NaN is missing.
        denominators: The same shape, not negative. A row whose denominator is 0 or NaN is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the rows' clusters and a method.
        bounds: The least and greatest value of a ratio.
        on_logit_scale: Let ``auto`` and ``exact`` take Student's interval on the logit scale of the way between the
            bounds, with the standard error s / (p (1 - p)), where a ratio varies and does not lie at a bound (method
            ``cluster_t_logit``).

    Returns:
        One interval per column, in order; None for a column without data. The order of the clusters does not matter.

    Sources: Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion"; Liang and Zeger (1986) for
    the standard error; Rubin (1981), "The Bayesian bootstrap"; Learned-Miller and Thomas (2019), arXiv:1905.06208,
    section 3 (one added point at the bound).

    >>> flips, = ratio_intervals([0, 1, 2, 0], [2, 2, 2, 1])
    >>> round(flips.estimate, 4), flips.n, flips.method
    (0.4286, 4, 'bounded_beta')
    """
    over = IntervalLevel.of(level)
    x, d = _ratio_columns(numerators, denominators)
    if not d.any():
        return tuple([None] * d.shape[1])
    lower, upper = bounds
    if not -np.inf < lower < upper < np.inf:
        raise InvalidInputError(f"bounds is {bounds!r}; give the least and the greatest score, both finite")
    x = (x - lower * d) / (upper - lower)
    outside = np.abs(x - d / 2) > (0.5 + 1e-9) * d
    if outside.any() and not on_logit_scale:
        score = float(lower + (upper - lower) * x[outside][0] / d[outside][0])
        raise InvalidInputError(f"the score {score!r} is outside the bounds {bounds!r}; pass those that hold for it")
    if over.clusters is not None:
        labels = over.labels(len(x))
        x, d = cluster_sums(x, labels), cluster_sums(d, labels)
    n = np.count_nonzero(d, axis=0)
    known = np.flatnonzero(n)
    errors = np.full(n.size, np.nan)
    errors[known] = _standard_errors(x[:, known], d[:, known])
    methods = _methods(over.method, x, d, errors, on_logit_scale=on_logit_scale)
    found: list[Interval | None] = [None] * n.size
    for method in dict.fromkeys(methods[known].tolist()):
        own = np.flatnonzero((methods == method) & (n > 0))
        low, high = _limits(method, x[:, own], d[:, own], over.level)
        estimate = x[:, own].sum(axis=0) / d[:, own].sum(axis=0)
        estimate, low, high = (np.clip(each, 0.0, 1.0) for each in (estimate, low, high))
        limits = np.stack([estimate, np.minimum(low, estimate), np.maximum(high, estimate)], axis=1)
        resamples, seed = (RESAMPLES, 0) if method == "cluster_bootstrap" else (None, None)
        for column, numbers in zip(own.tolist(), (lower + (upper - lower) * limits).tolist(), strict=True):
            error = None if np.isnan(errors[column]) else float((upper - lower) * errors[column])
            point, below, above = numbers
            found[column] = Interval(point, below, above, over.level, method, int(n[column]), resamples, seed, error)
    return tuple(found)


def _standard_errors(x: FloatArray, d: FloatArray) -> FloatArray:
    """Compute the standard errors of columns of ratios; NaN if there is one cluster, or no spread."""
    k, total = np.count_nonzero(d, axis=0), d.sum(axis=0)
    estimate = x.sum(axis=0) / total
    error = np.sqrt(k / np.maximum(k - 1, 1) * ((x - estimate * d) ** 2).sum(axis=0)) / total
    return np.where((k > 1) & (error > 1e-12 * np.abs(estimate)), error, np.nan)


def _ratio_columns(numerators: ArrayLike, denominators: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, d = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if x.shape != d.shape or x.ndim not in {1, 2} or (d < 0).any():
        raise InvalidInputError(
            f"numerators of the shape {x.shape!r} and denominators of the shape {d.shape!r} do not fit: give both as "
            "(n_rows, n_scores) or (n_rows,), and no negative denominator"
        )
    x, d = (each[:, None] if each.ndim == 1 else each for each in (x, d))
    present = (d > 0) & ~np.isnan(x)
    return np.where(present, x, 0.0), np.where(present, d, 0.0)


def _methods(asked: str, x: FloatArray, d: FloatArray, errors: FloatArray, *, on_logit_scale: bool) -> NDArray[np.str_]:
    """Return the method of each column."""
    if asked in {"anytime", "t"}:
        return np.full(errors.size, {"anytime": "betting", "t": "cluster_t"}[asked])
    varied, sums, totals, greatest = ~np.isnan(errors), x.sum(axis=0), d.sum(axis=0), d.max(axis=0, initial=0.0)
    rounding = 1e-9 * greatest
    of_0_and_1 = (d <= 0) | ((d >= greatest - rounding) & ((x <= rounding) | (x >= d - rounding)))
    counted = "exact" if asked == "exact" else "beta"
    method = np.where(of_0_and_1.all(axis=0), counted, "bounded_beta")
    if on_logit_scale:
        inside = varied & (sums > 1e-12 * totals) & (sums < (1 - 1e-12) * totals)
        method = np.where(method == "exact", "exact", np.where(inside, "cluster_t_logit", "bounded_beta"))
    if asked == "bootstrap":
        return np.where(varied, "cluster_bootstrap", "bounded_beta")
    return method


Limits = tuple[FloatArray, FloatArray]


def _beta(x: FloatArray, d: FloatArray, near: FloatArray, quantile: FloatArray) -> Limits:
    """Compute quantiles of the Beta distributions of `ratio_intervals`, at the tail of a normal quantile.

    Args:
        x: (k, columns), from 0 to ``d``.
        d: (k, columns).
        near: (columns,), the weight of the unseen cluster at the bound that is looked for; that at the other is 1 less.
        quantile: (columns,).
    """
    k, total, tail = np.count_nonzero(d, axis=0), d.sum(axis=0), stats.norm.sf(quantile)
    size = (d**2).sum(axis=0) / total
    limits = []
    for at_0, at_1, probability in ((near, 1 - near, tail), (1 - near, near, 1 - tail)):
        mean = (x.sum(axis=0) + size * at_1) / (total + size)
        squares = ((x - mean * d) ** 2).sum(axis=0) + size**2 * (at_0 * mean**2 + at_1 * (1 - mean) ** 2)
        varied = squares > 0  # with all weight at a bound that bound is the limit
        variance = (k + 1) / (k + 2) * np.where(varied, squares, 1.0) / (total + size) ** 2
        shape = mean * (1 - mean) / variance - 1
        shapes = (np.where(varied, part * shape, 1.0) for part in (mean, 1 - mean))
        limits.append(np.where(varied, stats.beta.ppf(probability, *shapes), mean))
    return limits[0], limits[1]


def bets_on(x: FloatArray, d: FloatArray) -> ConfidenceSequence:
    """Return the clusters of one column of ratios between 0 and 1, as what is bet on.

    The largest cluster takes a whole stake, and one whole contest does. A stake may not depend on results: where a
    contest counts by its grade, so does the weight of a cluster.
    """
    present = d > 0
    return ConfidenceSequence.of(np.clip(x[present] / d[present], 0.0, 1.0), d[present] / d.max(initial=1.0))


def _limits(method: str, x: FloatArray, d: FloatArray, level: float) -> Limits:
    """Compute lower and upper limits of columns of ratios in [0, 1] by a method of `ratio_intervals`."""
    if method == "betting":
        low, high = np.array([bets_on(*column).limits(level) for column in zip(x.T, d.T, strict=True)]).T
        return low, high
    if method == "cluster_bootstrap":
        limits = []
        for present, own_x, own_d in zip(d.T > 0, x.T, d.T, strict=True):
            k, generator, ratios = int(present.sum()), np.random.default_rng(0), []
            for rows in block_sizes(k, RESAMPLES):  # as many clusters are drawn with replacement
                drawn = generator.integers(k, size=(rows, k)) + k * np.arange(rows)[:, None]
                weights = np.bincount(drawn.ravel(), minlength=rows * k).reshape(rows, k)
                ratios.append((weights @ own_x[present]) / (weights @ own_d[present]))
            limits.append(np.quantile(np.concatenate(ratios), [(1 - level) / 2, (1 + level) / 2]))
        low, high = np.array(limits).T
        return low, high
    k = np.count_nonzero(d, axis=0)
    student = np.asarray(stats.t.ppf((1 + level) / 2, np.maximum(k - 1, 1)))
    if method == "bounded_beta":
        return _beta(x, d, np.full(k.shape, NEAR_BOUND), student)
    if method in {"beta", "exact"}:
        near = np.ones(k.shape) if method == "exact" else np.where(k < 5, 0.5, 0.6)
        return _beta(x, d, near, stats.norm.ppf((1 + level) / 2))
    estimate, half = x.sum(axis=0) / d.sum(axis=0), student * _standard_errors(x, d)
    if method == "cluster_t":
        half = np.where(np.isnan(half), np.inf, half)
        return estimate - half, estimate + half
    half = half / (estimate * (1 - estimate))
    return expit(logit(estimate) - half), expit(logit(estimate) + half)


def block_sizes(n_clusters: int, resamples: int) -> Iterator[int]:
    """Yield the rows of each block of draws, so that a block stays small.

    >>> list(block_sizes(1_000_000, 5))
    [2, 2, 1]
    """
    rows = max(1, CELLS_AT_ONCE // n_clusters)
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


def bootstrap_interval(
    rows: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    against: FloatArray,
    towards: FloatArray,
    *,
    level: IntervalLevel,
) -> Interval:
    r"""Bootstrap a statistic of sums over rows: Bayesian, over the rows' clusters and an unseen one.

    They are quantiles of the statistic of weighted sums, the weight of each cluster being standard exponential, at the
    tail probability of Student's t for one degree of freedom less than clusters. To the lower limit a cluster that
    was not seen is added, of the size-biased mean size of those seen (sum of squares / sum) and with a Gamma weight of
    shape 3/4: that which lowers the statistic of the sample most; to the upper one that which raises it most. Weights
    are positive, so that a statistic that is defined for the sample is defined for every draw. The standard error is
    the standard deviation of the draws without the unseen one, times :math:`\sqrt{(k + 1) / (k - 1)}`, which makes that
    of a mean the usual one.

    Args:
        rows: (n_rows, …), the terms of the sums.
        statistic: Of sums (draws, …) the statistic of each, (draws,).
        against: (n_candidates, …), the terms of unseen rows that would lower the statistic.
        towards: The same for those that would raise it.
        level: With the clusters of the rows, and the number and the seed of the draws.

    Source: Rubin (1981), "The Bayesian bootstrap".
    """
    labels = level.labels(len(rows))
    sums, sizes = cluster_sums(rows, labels), np.bincount(labels)
    k, size, total = len(sums), (sizes**2).sum() / sizes.sum(), sums.sum(axis=0)
    estimate = float(statistic(total[None])[0])
    least = size * against[int(np.argmin(statistic(total + size * against)))]
    most = size * towards[int(np.argmax(statistic(total + size * towards)))]
    # k equal clusters with standard exponential weights are one with a Gamma weight of shape k
    alike, counts = np.unique(sums.reshape(k, -1), axis=0, return_counts=True)
    generator = np.random.default_rng(level.seed)
    drawn: list[FloatArray] = []
    for block in block_sizes(len(alike), level.resamples):
        weights = generator.standard_gamma(counts, (block, len(counts)))
        scale = k / weights.sum(axis=1, keepdims=True)
        own = (weights * scale @ alike).reshape(block, *total.shape)
        added = (generator.standard_gamma(NEAR_BOUND, (block, 1)) * scale).reshape(block, *(1,) * total.ndim)
        drawn.append(np.stack([statistic(own + added * least), statistic(own + added * most), statistic(own)]))
    lows, highs, plain = np.concatenate(drawn, axis=1)
    tail = float(stats.norm.sf(stats.t.ppf((1 + level.level) / 2, max(k - 1, 1))))
    low, high = float(np.quantile(lows, tail, method="lower")), float(np.quantile(highs, 1 - tail, method="higher"))
    error = float(plain.std() * np.sqrt((k + 1) / (k - 1))) if k > 1 else 0.0
    return Interval(
        estimate,
        min(low, estimate),
        max(high, estimate),
        level.level,
        "dirichlet_bootstrap",
        k,
        level.resamples,
        level.seed,
        error if error > NO_ERROR else None,
    )


GREATEST_BIAS = 0.2
"""The share of an interval's half-width by which unscored votes may move the score, at the worst."""

TOLERANCE = 1e-12


def unscored_bounds(
    score: Interval | None,
    limits: Sequence[tuple[float, float] | None] | FloatArray,
    *,
    level: Level = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    unit: str = "rows",
) -> UnscoredBounds | None:
    r"""Return the bounds that lead, where unscored votes could make the mean of the scored ones untrue; else None.

    Judges refuse, break off and ramble more on some responses than on others: unscored votes are not a random sample.
    With m the mean of what is scored, [L, H] its interval, and [a, b] the mean over all rows if every unscored vote had
    been the lowest, or the highest, the mean leads only if

    .. math:: m - a \le 0.2\,(m - L) \quad\text{and}\quad b - m \le 0.2\,(H - m).

    The bias is then at most 0.2 · 1.96 = 0.39 standard errors, and an interval that holds the truth in 95 % of the data
    sets without it holds it in :math:`\Phi(1.96 - 0.39) - \Phi(-1.96 - 0.39)` = 93.2 % at the worst, whichever votes
    are unscored. As a share of rows that is little: with scores around a half 4 % of 100 rows, 1.3 % of 1,000.
    Otherwise the bounds lead, with the lower limit of a and the upper one of b, which together hold the truth at least
    as often as the level says.

    Simulated judges refused at random, what is bad, or what is good, over 50 to
    1,000 rows with 0/1 scores whose truth is .3, .5 or .9: 108 designs of 400 data sets. Where the mean led, its
    interval held the truth in 94.5 % of all cells, and in 91.4 % or more in every design in which it leads in half of
    the data sets. (In one in which it leads in a fifth of them, 84.9 % of these: that little is unscored is then no
    accident either.) Where the bounds led, they held the score of all rows always, and their brackets the truth in
    97.9 %, and in 96 % or more in every design in which they lead in half of the data sets. So what was printed held
    the truth in 96.6 % on average and 91.5 % in the worst design; the interval of the mean, for any unscored votes, in
    80.4 % on average, below 90 % in 30 designs, and never in 7.

    Args:
        score: Of what is scored.
        limits: One per row: the least and the greatest score that it could have; None, or NaN, where the question does
            not apply.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the rows.
        bounds: The least and the greatest value that a score can take.
        unit: The noun for what ``limits`` are of, in the plural.

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
    known = ~np.isnan(limits[:, 0])
    tolerance = TOLERANCE * (bounds[1] - bounds[0])
    open_rows = known & (limits[:, 1] - limits[:, 0] > tolerance)
    if not open_rows.any() or mean_leads(score, *limits[known].mean(axis=0), tolerance=tolerance):
        return None
    return bounds_between(
        *mean_intervals(limits, level=level, bounds=bounds), share=float(open_rows.sum() / known.sum()), unit=unit
    )


def mean_leads(score: Interval | None, least: float, greatest: float, *, tolerance: float = TOLERANCE) -> bool:
    """Return whether the mean leads by the rule of :func:`unscored_bounds`, for a score with known bounds.

    Args:
        score: Of what is scored.
        least: The score if every unscored vote had been the lowest.
        greatest: The same with the highest.
        tolerance: Differences up to this are 0.
    """
    if score is None:
        return False
    below = GREATEST_BIAS * (score.estimate - score.low) + tolerance
    above = GREATEST_BIAS * (score.high - score.estimate) + tolerance
    return bool(score.estimate - least <= below and greatest - score.estimate <= above)


def bounds_between(
    least: Interval | None, greatest: Interval | None, *, share: float, unit: str
) -> UnscoredBounds | None:
    """Return the bounds if all unscored votes were the lowest, or the highest; None without such scores."""
    if least is None or greatest is None:
        return None
    return UnscoredBounds(least.estimate, greatest.estimate, least.low, greatest.high, share, unit)
