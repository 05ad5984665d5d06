"""What a panel of judges is worth, and what repeated draws of one judge say about that judge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.clusters import IntervalLevel, cluster_sums, size_of_unseen
from evenhand.statistics.dirichlet import check_level, dirichlet_weights
from evenhand.statistics.intervals import Interval, ratio_intervals

FloatArray = NDArray[np.float64]

SHARED_INSTANCES = 3
"""A correlation needs this many shared instances: of two points it is always 1 or -1."""


@dataclass(frozen=True, slots=True)
class EffectiveJudges:
    """Of errors, how many independent judges a panel is worth; of scores, how many votes do not repeat each other.

    Attributes:
        effective: k / (1 + (k - 1) max(rho, 0)), in [1, k].
        mean_correlation: rho, with its sign.
        n_judges: Judges in the input.
        n_used: k: judges that have a correlation with another one.
        n_pairs: Pairs of judges that rho is the mean of.
        n_undefined_pairs: Pairs without a correlation: a judge that does not vary, or too few shared instances.
    """

    effective: Interval
    mean_correlation: Interval
    n_judges: int
    n_used: int
    n_pairs: int
    n_undefined_pairs: int


def effective_judges(
    values: ArrayLike,
    reference: ArrayLike | None = None,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> EffectiveJudges:
    r"""The number of independent judges whose mean varies as much as the mean of this panel.

    The mean of k votes of equal variance :math:`\sigma^2` and mean correlation :math:`\rho` has the variance
    :math:`\frac{\sigma^2}{k}(1 + (k-1)\rho)`: the factor is Kish's design effect, and the panel is worth

    .. math:: k_e = \frac{k}{1 + (k-1)\max(\rho, 0)}

    independent votes. :math:`\rho` is the plain mean, over the pairs of judges, of Pearson's correlation of their
    values over the instances that both scored.

    **What is correlated.** Without a reference, the values themselves: judges that see the same differences between
    instances are correlated for that good reason too, so that :math:`k_e` says how much the votes repeat each other,
    and is 1 for a panel of perfect judges. With a reference (the values that are right), the errors ``values -
    reference``: then :math:`k_e` is the worth of the panel against chance errors, as in the studies of judge panels.

    **Negative correlation** counts as 0: with few instances it is mostly noise, and no panel is called worth more
    than its judges. ``mean_correlation`` keeps the sign. **Degenerate judges**: a pair without a correlation (one of
    the two does not vary over the shared instances, or there are fewer than three) is left out of the mean; a judge
    without any correlation is left out of k, for a constant vote adds nothing. **Missing votes** are left out
    pair by pair; nothing is filled in.

    The intervals are quantiles of the Bayesian bootstrap over the instances and one unseen instance, which has, for
    the lower limit of rho, the least value of one judge of a pair and the greatest of the other, and for the upper
    limit the extreme value on which both agree. Those of :math:`k_e` follow from those of rho.

    Args:
        values: (n_instances, n_judges), NaN for missing.
        reference: (n_instances,), NaN where it is not known.
        level: Of the intervals.
        resamples: Draws for the intervals.
        seed: Of the draws.

    Raises:
        EstimationError: Fewer than two judges, or no pair of them has a correlation.
        InvalidInputError: Shapes that do not fit.

    Sources: Kish (1965), "Survey sampling", section 5.4; Kohli (2026), arXiv:2605.29800, for panels of LLM judges
    (correlations of errors).

    Two judges with the correlation 0.8 (means 2.5, sums of squares 5 and 5, of products 4): 2 / (1 + 0.8).

    >>> found = effective_judges([[1, 2], [2, 1], [3, 3], [4, 4]])
    >>> round(found.mean_correlation.estimate, 4), round(found.effective.estimate, 4)
    (0.8, 1.1111)
    """
    check_level(level)
    table = _against_reference(values, reference)
    n_judges = table.shape[1]
    if n_judges < 2:
        raise EstimationError(
            f"the effective number of judges is undefined for {n_judges} judge(s); it compares judges"
        )
    several = (~np.isnan(table)).sum(axis=1) >= 2
    table, confidence = table[several], IntervalLevel.of(level).only(several)
    every = list(combinations(range(n_judges), 2))
    pairs = [pair for pair in every if _has_correlation(table[:, pair])]
    if not pairs:
        raise EstimationError(
            "the effective number of judges is undefined: no two judges vary over three instances that both scored"
        )
    table = table - np.nanmean(table)  # keeps the differences of large sums exact
    rows = np.stack([_moments(table[:, pair]) for pair in pairs], axis=1)
    counted = rows[:, :, 0].any(axis=1)
    rows = rows[counted]
    labels = confidence.only(counted).labels(len(rows))
    rows, size = cluster_sums(rows, labels), size_of_unseen(labels)
    (rho,) = _mean_correlation(rows.sum(axis=0)[None])
    low, high = _correlation_limits(rows, table, size, level=level, resamples=resamples, seed=seed)

    def interval(estimate: float, lower: float, upper: float) -> Interval:
        bounds = min(lower, estimate), max(upper, estimate)
        return Interval(estimate, *bounds, level, "dirichlet_bootstrap", len(rows), resamples, seed)

    k = len({judge for pair in pairs for judge in pair})
    worth = [k / (1 + (k - 1) * max(each, 0.0)) for each in (float(rho), high, low)]
    return EffectiveJudges(
        effective=interval(*worth),
        mean_correlation=interval(float(rho), low, high),
        n_judges=n_judges,
        n_used=k,
        n_pairs=len(pairs),
        n_undefined_pairs=len(every) - len(pairs),
    )


def draw_stability(selections: ArrayLike, *, first_two: bool = False, level: float = 0.95) -> Interval | None:
    r"""The share of the pairs of draws of the same question that select the same option.

    With :math:`n_{ick}` draws of option k in cell c (one judge, one order) of instance i:
    :math:`\sum_{ic}\sum_k \binom{n_{ick}}{2} / \sum_{ic}\binom{n_{ic}}{2}`. It estimates the probability that two draws
    agree: 1 for a judge that always says the same, 1/2 for a fair coin. The interval is that of `ratio_intervals` over
    the instances.

    If drawing stopped once the draws agreed, the cells that disagree have more pairs and the share is too low (and the
    average of the cells' shares too high). ``first_two`` compares only the first two draws of every cell, which
    depends on no stopping rule that always lets two be made.

    `repetition_stability` averages the shares of the prompts, and has more to say where nothing stopped early.

    Args:
        selections: (n_instances, n_cells, n_draws) integers: the option selected; negative for a draw that is missing
            or unscored. The draws stand in the order in which they were made.
        first_two: Compare only the first two draws of every cell.
        level: Of the interval.

    Returns:
        The share; None when no cell has two draws to compare.

    Raises:
        InvalidInputError: A bad shape or type.

    One cell of three draws, two of which agree (1 of 3 pairs), and one of two that agree (1 of 1).

    >>> draw_stability([[[0, 0, 1]], [[2, 2, -1]]]).estimate
    0.5
    """
    table = np.asarray(selections)
    if table.ndim != 3 or (table.size and table.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"selections has the shape {table.shape!r} and the type {table.dtype}; give integers of the shape "
            "(n_instances, n_cells, n_draws), negative for missing"
        )
    table = table[:, :, :2] if first_two else table
    scored = table >= 0
    counts = np.stack([(table == option).sum(axis=2) for option in np.unique(table[scored])] or [scored.sum(axis=2)])
    agreeing = (counts * (counts - 1) // 2).sum(axis=(0, 2))
    made = scored.sum(axis=2)
    (share,) = ratio_intervals(agreeing, (made * (made - 1) // 2).sum(axis=1), level=level)
    return share


def greatest_unseen_share(draws: int, *, level: float = 0.95) -> float:
    r"""The greatest probability of other answers that equal draws are still compatible with: :math:`1 - (1-l)^{1/k}`.

    If the other answers together have a greater probability, k independent draws are all equal with a probability
    below 1 - l. It is the one-sided Clopper–Pearson limit of 0 in k.

    Args:
        draws: k, at least 1.
        level: l, in [0.5, 1).

    Raises:
        InvalidInputError: No draw, or a bad level.

    >>> [round(greatest_unseen_share(draws), 2) for draws in (3, 5, 10)]
    [0.63, 0.45, 0.26]
    """
    check_level(level)
    if draws < 1:
        raise InvalidInputError(f"draws is {draws!r}; at least one draw was made")
    return float(1 - (1 - level) ** (1 / draws))


def _against_reference(values: ArrayLike, reference: ArrayLike | None) -> FloatArray:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2:
        raise InvalidInputError(f"values has the shape {table.shape!r}; give (n_instances, n_judges), NaN for missing")
    if reference is None:
        return table
    right = np.asarray(reference, dtype=float)
    if right.shape != table.shape[:1]:
        raise InvalidInputError(
            f"reference has the shape {right.shape!r}; give one value for {table.shape[0]} instances"
        )
    return np.asarray(table - right[:, None])


def _has_correlation(pair: FloatArray) -> bool:
    shared = pair[~np.isnan(pair).any(axis=1)]
    return len(shared) >= SHARED_INSTANCES and bool((np.ptp(shared, axis=0) > 1e-12).all())


def _moments(pair: FloatArray) -> FloatArray:
    """Per instance the terms of the sums that a correlation is a function of; 0 where a value is missing."""
    shared = ~np.isnan(pair).any(axis=1)
    first, second = np.where(shared, pair.T, 0.0)
    return np.stack([shared.astype(float), first, second, first**2, second**2, first * second], axis=-1)


def _mean_correlation(sums: FloatArray) -> FloatArray:
    """Of sums of moments (draws, n_pairs, 6) the mean correlation of the pairs, (draws,)."""
    n, first, second, first_squared, second_squared, product = np.moveaxis(sums, -1, 0)
    variances = (n * first_squared - first**2) * (n * second_squared - second**2)
    return np.asarray(np.clip((n * product - first * second) / np.sqrt(variances), -1, 1).mean(axis=1))


def _correlation_limits(
    rows: FloatArray, table: FloatArray, size: float, *, level: float, resamples: int, seed: int
) -> tuple[float, float]:
    least, greatest = float(np.nanmin(table)), float(np.nanmax(table))
    total = rows.sum(axis=0)
    (apart,) = size * _moments(np.array([[least, greatest]]))
    alike = size * _moments(np.array([[least, least], [greatest, greatest]]))
    best = alike[int(np.argmax([_mean_correlation((total + unit)[None])[0] for unit in alike]))]
    n = len(rows)
    lows, highs = [], []
    for weights, unseen in dirichlet_weights(n, resamples=resamples, seed=seed):
        sums = np.tensordot(weights, rows, axes=1)
        lows.append(_mean_correlation(sums + unseen[:, None, None] * apart))
        highs.append(_mean_correlation(sums + unseen[:, None, None] * best))
    tail = float(stats.norm.sf(stats.t.ppf((1 + level) / 2, max(n - 1, 1))))
    low = np.quantile(np.concatenate(lows), tail, method="lower")
    return float(low), float(np.quantile(np.concatenate(highs), 1 - tail, method="higher"))
