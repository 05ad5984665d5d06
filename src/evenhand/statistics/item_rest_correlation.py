"""Which questions of a test tell good responses from bad ones: the corrected item-rest correlation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics.clusters import IntervalLevel, cluster_sums, size_of_unseen
from evenhand.statistics.dirichlet import check_level, dirichlet_weights
from evenhand.statistics.intervals import Interval

FloatArray = NDArray[np.float64]

_FEWEST_ROWS = 3
_NO_SPREAD = 1e-12


def item_rest_correlations(
    answers: ArrayLike, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> tuple[Interval | None, ...]:
    r"""The correlation of every item with the share passed of the others, with an interval.

    .. math:: r_j = \mathrm{corr}_i\Big(x_{ij},\ \frac{\sum_{k \ne j} x_{ik}}{\#\{k \ne j: x_{ik} \text{ known}\}}\Big)

    over the rows that have an answer to item j and to another one. The item itself is left out of the rest, or it would
    correlate with itself. Near 1: those who pass it pass the others; near 0: it says nothing about the others; below 0:
    it is passed where the others fail, as by a question that is worded the wrong way round.

    The interval is a Bayesian bootstrap of the rows: the quantiles of r under random Dirichlet weights, at the tail
    probability of Student's t for one degree of freedom less than rows. For each limit a row that nobody saw is added,
    with a Gamma weight of shape 3/4, that moves r towards it: the item alone passed or failed, or all or nothing.

    Args:
        answers: (n_rows, n_items): 1 for yes, 0 for no, anything between; NaN is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the clusters of the rows, which then take their place.
        resamples: Draws of weights.
        seed: Of the draws.

    Returns:
        One interval an item, in [-1, 1]; None for an item that everybody passes or fails, where the rest does not
        vary, and with fewer than three rows. The order of the rows matters to the draws alone.

    Raises:
        InvalidInputError: If ``answers`` is no table, or holds an infinite number.

    Source: Henrysson (1963), "Correction of item-total correlations in item analysis"; Rubin (1981).

    >>> answers = [[1, 1, 1], [1, 1, 1], [0, 1, 0], [0, 1, 0]]
    >>> [None if found is None else round(found.estimate, 3) for found in item_rest_correlations(answers)]
    [1.0, None, 1.0]
    """
    check_level(level)
    table = np.asarray(answers, dtype=float)
    if table.ndim != 2 or np.isinf(table).any():
        raise InvalidInputError(
            f"answers has the shape {table.shape!r}; give a table (n_rows, n_items) of finite numbers, NaN for missing"
        )
    known = ~np.isnan(table)
    passed = np.where(known, table, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    rest = (passed.sum(axis=1, keepdims=True) - passed) / np.maximum(others, 1)
    used = known & (others > 0)
    return tuple(
        _correlation(
            passed[used[:, item], item],
            rest[used[:, item], item],
            IntervalLevel.of(level).only(used[:, item]),
            resamples,
            seed,
        )
        for item in range(table.shape[1])
    )


def _correlation(
    item: FloatArray, rest: FloatArray, level: IntervalLevel, resamples: int, seed: int
) -> Interval | None:
    labels = level.labels(len(item))
    n = int(labels.max(initial=-1)) + 1
    if n < _FEWEST_ROWS or min(np.ptp(item), np.ptp(rest)) <= _NO_SPREAD:
        return None
    rows, size = cluster_sums(_columns(item, rest), labels), size_of_unseen(labels)
    estimate = float(_weighted(rows.sum(axis=0, keepdims=True))[0])
    against = _most_influential(rows, _DISCORDANT * size, sign=-1)
    towards = _most_influential(rows, _CONCORDANT * size, sign=1)
    lows, highs = [], []
    for weights, unseen in dirichlet_weights(n, resamples=resamples, seed=seed):
        sums = weights @ rows
        lows.append(_weighted(sums + unseen[:, None] * against))
        highs.append(_weighted(sums + unseen[:, None] * towards))
    tail = float(stats.norm.sf(stats.t.ppf((1 + level) / 2, n - 1)))
    low = float(np.quantile(np.concatenate(lows), tail))
    high = float(np.quantile(np.concatenate(highs), 1 - tail))
    return Interval(estimate, min(low, estimate), max(high, estimate), level, "dirichlet_bootstrap", n, resamples, seed)


def _columns(item: FloatArray, rest: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(item)), item, rest, item**2, rest**2, item * rest])


_DISCORDANT = _columns(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
_CONCORDANT = _columns(np.array([1.0, 0.0]), np.array([1.0, 0.0]))


def _most_influential(rows: FloatArray, unseen: FloatArray, *, sign: int) -> FloatArray:
    """The unseen row that would move the correlation most in the direction of the sign."""
    moved = [sign * float(_weighted((rows.sum(axis=0) + row)[None])[0]) for row in unseen]
    return np.asarray(unseen[int(np.argmax(moved))])


def _weighted(sums: FloatArray) -> FloatArray:
    """The correlation of each row of sums of weights, x, y, x², y² and xy."""
    total, x, y, xx, yy, xy = sums.T
    spread = np.sqrt(np.maximum(total * xx - x**2, 0) * np.maximum(total * yy - y**2, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(spread > 0, (total * xy - x * y) / spread, 0.0)
    return np.asarray(np.clip(found, -1.0, 1.0))
