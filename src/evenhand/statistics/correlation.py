"""Correlations of items and of judges: the discrimination of items, and the effective number of judges."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import EstimationError
from evenhand.statistics.intervals import FloatArray, Interval, IntervalLevel, Level, bootstrap_interval

FEWEST_SHARED = 3
"""The fewest shared rows of a correlation: with two points it is always 1 or -1."""

_NO_SPREAD = 1e-12


def item_rest_correlations(
    answers: ArrayLike, *, level: Level = 0.95, resamples: int = 1000, seed: int = 0
) -> tuple[Interval | None, ...]:
    r"""Compute the correlation of every item with the share passed of the others, with an interval.

    .. math:: r_j = \mathrm{corr}_i\Big(x_{ij},\ \frac{\sum_{k \ne j} x_{ik}}{\#\{k \ne j: x_{ik} \text{ known}\}}\Big)

    over the rows that have an answer to item j and to another one. The item itself is left out of the rest, or it would
    correlate with itself. Near 1: those who pass it pass the others; near 0: it says nothing about the others; below 0:
    it is passed where the others fail, as by a question that is worded the wrong way round.

    The interval is that of `evenhand.statistics.intervals.bootstrap_interval`; the unseen row is the item
    alone passed or failed, or all or nothing.

    Args:
        answers: (n_rows, n_items): 1 for yes, 0 for no, anything between; NaN is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the clusters of the rows, which then take their place.
        resamples: Draws of weights.
        seed: The seed of the draws.

    Returns:
        One interval per item, in [-1, 1]; None for an item that every row passes or fails, where the rest does not
        vary, and with fewer than three rows.

    Source: Henrysson (1963), "Correction of item-total correlations in item analysis"; Rubin (1981).

    >>> answers = [[1, 1, 1], [1, 1, 1], [0, 1, 0], [0, 1, 0]]
    >>> [None if found is None else round(found.estimate, 3) for found in item_rest_correlations(answers)]
    [1.0, None, 1.0]
    """
    over, table = IntervalLevel.of(level), np.asarray(answers, dtype=float)
    known = ~np.isnan(table)
    passed = np.where(known, table, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    rest = (passed.sum(axis=1, keepdims=True) - passed) / np.maximum(others, 1)
    against, towards = _moments(np.array([[1.0, 0.0], [0.0, 1.0]])), _moments(np.array([[1.0, 1.0], [0.0, 0.0]]))
    found: list[Interval | None] = []
    for item, used in enumerate((known & (others > 0)).T):
        pair, own = np.column_stack([passed[used, item], rest[used, item]]), over.only(used)
        if len(np.unique(own.labels(len(pair)))) < FEWEST_SHARED or not (np.ptp(pair, axis=0) > _NO_SPREAD).all():
            found.append(None)
            continue
        rows = _moments(pair)
        found.append(
            bootstrap_interval(rows, _correlations, against, towards, level=own, resamples=resamples, seed=seed)
        )
    return tuple(found)


def effective_judges(
    values: ArrayLike,
    reference: ArrayLike | None = None,
    *,
    level: Level = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[Interval, Interval]:
    r"""Compute the number of independent judges whose mean varies as much as the mean of this panel.

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
    than its judges. The correlation keeps its sign. **Degenerate judges**: a pair without a correlation (one of
    the two does not vary over the shared instances, or there are fewer than three) is left out of the mean; a judge
    without any correlation is left out of k, for a constant vote adds nothing. **Missing votes** are left out
    pair by pair; nothing is filled in.

    The intervals are quantiles of the Bayesian bootstrap over the instances and one unseen instance, which has, for
    the lower limit of rho, the least value of one judge of a pair and the greatest of the other, and for the upper
    limit the extreme value on which both agree. Those of :math:`k_e` follow from those of rho.

    Args:
        values: (n_instances, n_judges), NaN for missing.
        reference: (n_instances,), NaN where it is not known.
        level: The level of the intervals.
        resamples: Draws for the intervals.
        seed: The seed of the draws.

    Returns:
        The number, in [1, k], and the mean correlation.

    Raises:
        EstimationError: Fewer than two judges, or no pair of them has a correlation.

    Sources: Kish (1965), "Survey sampling", section 5.4; Kohli (2026), arXiv:2605.29800, for panels of LLM judges
    (correlations of errors).

    Two judges with the correlation 0.8 (means 2.5, sums of squares 5 and 5, of products 4): 2 / (1 + 0.8).

    >>> effective, correlation = effective_judges([[1, 2], [2, 1], [3, 3], [4, 4]])
    >>> round(correlation.estimate, 4), round(effective.estimate, 4)
    (0.8, 1.1111)
    """
    table = np.asarray(values, dtype=float)
    if reference is not None:
        table = table - np.asarray(reference, dtype=float)[:, None]
    n_judges = table.shape[1]
    if n_judges < 2:
        raise EstimationError(
            f"the effective number of judges is undefined for {n_judges} judge(s); it compares judges"
        )
    pairs = [pair for pair in combinations(range(n_judges), 2) if _has_correlation(table[:, pair])]
    if not pairs:
        raise EstimationError(
            "the effective number of judges is undefined: no two judges vary over three instances that both scored"
        )
    table = table - np.nanmean(table[(~np.isnan(table)).sum(axis=1) >= 2])  # keeps the differences of large sums exact
    rows = np.stack([_moments(table[:, pair]) for pair in pairs], axis=1)
    counted = rows[:, :, 0].any(axis=1)
    least, greatest = float(np.nanmin(table[counted])), float(np.nanmax(table[counted]))
    found = bootstrap_interval(
        rows[counted],
        lambda sums: _correlations(sums).mean(axis=1),
        _moments(np.array([[least, greatest]]))[:, None],
        _moments(np.array([[least, least], [greatest, greatest]]))[:, None],
        level=IntervalLevel.of(level).only(counted),
        resamples=resamples,
        seed=seed,
    )
    k = len({judge for pair in pairs for judge in pair})
    worth, low, high = (k / (1 + (k - 1) * max(rho, 0.0)) for rho in (found.estimate, found.high, found.low))
    return replace(found, estimate=worth, low=low, high=high, standard_error=None), found


def _has_correlation(pair: FloatArray) -> bool:
    shared = pair[~np.isnan(pair).any(axis=1)]
    return len(shared) >= FEWEST_SHARED and bool((np.ptp(shared, axis=0) > _NO_SPREAD).all())


def _moments(pair: FloatArray) -> FloatArray:
    """Return per instance the terms of the sums in a correlation; 0 where a value is missing."""
    shared = ~np.isnan(pair).any(axis=1)
    first, second = np.where(shared, pair.T, 0.0)
    return np.stack([shared.astype(float), first, second, first**2, second**2, first * second], axis=-1)


def _correlations(sums: FloatArray) -> FloatArray:
    """Compute correlations, (…), from sums of moments (…, 6); 0 where a value has no spread."""
    n, first, second, first_squared, second_squared, product = np.moveaxis(sums, -1, 0)
    variances = np.maximum(n * first_squared - first**2, 0) * np.maximum(n * second_squared - second**2, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(variances > 0, (n * product - first * second) / np.sqrt(variances), 0.0)
    return np.asarray(np.clip(found, -1.0, 1.0))
