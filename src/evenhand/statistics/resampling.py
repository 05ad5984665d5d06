"""Averages under random Dirichlet weights: the Bayesian bootstrap, drawn or solved without a draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Quantile = Literal["linear", "lower", "higher"]

NEAR_ENDPOINT, FAR_ENDPOINT = 0.75, 0.25
CELLS_AT_ONCE = 1 << 21


def dirichlet_quantile(x: FloatArray, d: FloatArray, shapes: FloatArray, score: FloatArray) -> FloatArray:
    r"""The quantile of sum(G x) / sum(G d) at the probability Phi(score), G independent Gamma variables, by column.

    Solves :math:`P(\sum_i G_i (x_i - c\,d_i) \le 0) = \Phi(r)` for c, with the saddlepoint approximation
    :math:`\Phi(r^*)`, :math:`r^* = w + \log(u/w)/w`, of the left side: :math:`K(t) = -\sum_i g_i \log(1 - t\,a_i)`
    is the cumulant generating function of the sum, :math:`a_i = x_i - c\,d_i`, t its saddlepoint,
    :math:`w = \mathrm{sign}(t)\sqrt{-2K(t)}` and :math:`u = t\sqrt{K''(t)}`.

    Args:
        x: (n, m), with 0 <= x <= d, and in every column a row with x = 0 < d and one with x = d > 0.
        d: (n, m).
        shapes: (n, 1) or (n, m), the shapes of the Gamma variables, positive.
        score: (m,), the standard normal score of the probability.

    Returns:
        (m,), in [0, 1], to an absolute 1e-9 of the solution.

    Raises:
        EstimationError: No convergence.

    Source: Lugannani and Rice (1980); Barndorff-Nielsen (1986); Butler (2007), "Saddlepoint approximations", 1.2.

    One success in three trials and the shapes 1: the median of Beta(1 + 1, 2 + 1).

    >>> x, d = np.array([[1.0], [0.0], [0.0], [1.0], [0.0]]), np.ones((5, 1))
    >>> dirichlet_quantile(x, d, np.ones((5, 1)), np.zeros(1)).round(3)
    array([0.386])
    """
    total = (shapes * d).sum(axis=0)
    centre = (shapes * x).sum(axis=0) / total
    spread = np.sqrt((shapes * (x - centre * d) ** 2).sum(axis=0)) / total
    least, greatest = np.zeros_like(centre), np.ones_like(centre)
    c: FloatArray = np.clip(
        centre + np.sign(score) * np.minimum(np.abs(score) * spread, 0.9), 0.1 * centre, 0.9 + 0.1 * centre
    )
    tilt = np.zeros_like(centre)
    for step in range(100):
        reached, slope, tilt = _tail_score(c, x, d, shapes, tilt)
        least, greatest = np.where(reached < score, c, least), np.where(reached >= score, c, greatest)
        proposal = c + (score - reached) / slope
        # Newton's steps converge in about five; where they do not, every second step halves the bracket.
        inside = (proposal > least) & (proposal < greatest) & (step < 10 or step % 2 == 0)
        moved = np.where(inside, proposal, (least + greatest) / 2)
        settled = (np.abs(moved - c) <= 1e-9) | (greatest - least <= 1e-9)
        c = moved
        if settled.all():
            return c
    raise EstimationError("the limits of an interval did not converge in 100 steps; please report the data")


def _tail_score(
    c: FloatArray, x: FloatArray, d: FloatArray, shapes: FloatArray, tilt: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The r* with P(sum of Gamma(shapes) * (x - c d) <= 0) = Phi(r*), its slope in c, and the saddlepoint."""
    a = x - c * d
    tilt, cumulant, curvature = _saddlepoint(a, shapes, tilt)
    root = np.sign(tilt) * np.sqrt(np.maximum(-2 * cumulant, 0))
    small = np.abs(root) < 1e-4
    safe_root, safe_tilt = np.where(small, 1.0, root), np.where(small, 1.0, tilt)
    correction = np.log(safe_tilt * np.sqrt(curvature) / safe_root) / safe_root
    variance = (shapes * a**2).sum(axis=0)
    middle = (shapes * a**3).sum(axis=0) / (3 * variance**1.5)
    slope = np.where(small, 1 / np.sqrt(variance), safe_tilt / safe_root) * (shapes * d / (1 - tilt * a)).sum(axis=0)
    return root + np.where(small, middle, correction), slope, tilt


def _saddlepoint(a: FloatArray, shapes: FloatArray, tilt: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The minimum of K(t) = -sum(shapes * log(1 - t a)) by safeguarded Newton steps: t, K(t) and K''(t)."""
    least, greatest = 1 / a.min(axis=0), 1 / a.max(axis=0)
    tilt = np.where((tilt > least) & (tilt < greatest), tilt, 0.0)
    curvature = np.zeros_like(tilt)
    for _ in range(200):
        ratio = a / (1 - tilt * a)
        gradient, curvature = (shapes * ratio).sum(axis=0), (shapes * ratio**2).sum(axis=0)
        if (np.abs(gradient) <= 1e-9 * np.sqrt(curvature)).all():
            break
        least, greatest = np.where(gradient < 0, tilt, least), np.where(gradient > 0, tilt, greatest)
        proposal = tilt - gradient / curvature
        inside = (proposal > least) & (proposal < greatest)
        tilt = np.where(inside, proposal, (least + greatest) / 2)
    return tilt, -(shapes * np.log1p(-tilt * a)).sum(axis=0), curvature


def dirichlet_weights(
    n_clusters: int, *, resamples: int = 1000, seed: int = 0
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Draws of the Bayesian bootstrap: random weights of the clusters, and of an unseen one beside them.

    Weights are positive, so that a statistic that is defined for the sample is defined for every draw; drawing with
    replacement may leave a category out.

    Args:
        n_clusters: At least 1.
        resamples: How many draws in all.
        seed: The same seed gives the same draws.

    Yields:
        Blocks ``(weights, unseen)`` of shapes (rows, n_clusters) and (rows,): standard exponential weights, and Gamma
        weights of shape 3/4. A block has about two million cells at most (or one row).

    Source: Rubin (1981), "The Bayesian bootstrap".

    >>> [(weights.shape, unseen.shape) for weights, unseen in dirichlet_weights(5, resamples=3, seed=1)]
    [((3, 5), (3,))]
    """
    check_resampling(n_clusters, resamples)
    generator = np.random.default_rng(seed)
    for rows in block_sizes(n_clusters, resamples):
        yield generator.standard_exponential((rows, n_clusters)), generator.standard_gamma(NEAR_ENDPOINT, rows)


def bootstrap_limits(
    rows: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    against: FloatArray,
    towards: FloatArray,
    *,
    level: float,
    resamples: int,
    seed: int,
    quantiles: tuple[Quantile, Quantile] = ("lower", "higher"),
) -> tuple[float, float]:
    """The limits of a statistic of sums over clusters, by the Bayesian bootstrap with an unseen cluster.

    They are the quantiles of the statistic under `dirichlet_weights`, at the tail probability of Student's t for one
    degree of freedom less than clusters. To the lower limit the unseen cluster is added that lowers the statistic of
    the sample most, to the upper one that which raises it most.

    Args:
        rows: (n_clusters, …), the terms of the sums.
        statistic: Of sums (draws, …) the statistic of each, (draws,).
        against: (n_candidates, …), the terms of clusters that nobody saw and that would lower the statistic.
        towards: The same for those that would raise it.
        level: In [0.5, 1).
        resamples: How many draws.
        seed: Of the draws.
        quantiles: How `numpy.quantile` takes the lower and the upper one; by default a draw, the one further out.
    """
    n, total = len(rows), rows.sum(axis=0)
    least = against[int(np.argmin(statistic(total + against)))]
    most = towards[int(np.argmax(statistic(total + towards)))]
    lows, highs = [], []
    for weights, unseen in dirichlet_weights(n, resamples=resamples, seed=seed):
        scale = n / weights.sum(axis=1)
        sums = np.tensordot(weights * scale[:, None], rows, axes=1)
        added = (unseen * scale).reshape(-1, *(1,) * total.ndim)
        lows.append(statistic(sums + added * least))
        highs.append(statistic(sums + added * most))
    tail = float(stats.norm.sf(stats.t.ppf((1 + level) / 2, max(n - 1, 1))))
    below, above = quantiles
    low = np.quantile(np.concatenate(lows), tail, method=below)
    return float(low), float(np.quantile(np.concatenate(highs), 1 - tail, method=above))


def block_sizes(n_clusters: int, resamples: int) -> Iterator[int]:
    """The rows of each block of draws, so that a block stays small.

    >>> list(block_sizes(1_000_000, 5))
    [2, 2, 1]
    """
    rows = max(1, CELLS_AT_ONCE // n_clusters)
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


def cluster_resamples(n_clusters: int, *, resamples: int = 1000, seed: int = 0) -> Iterator[IntArray]:
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


def check_level(level: float) -> None:
    """Raise unless the level is one that an interval can have."""
    if not 0.5 <= level < 1:
        raise InvalidInputError(f"level is {level!r}; a confidence level lies in [0.5, 1), such as 0.95")


def check_resampling(n_clusters: int, resamples: int) -> None:
    """Raise unless there is something to draw, and a draw to make."""
    if n_clusters < 1:
        raise EstimationError("there is no cluster to resample")
    if resamples < 1:
        raise InvalidInputError(f"resamples is {resamples!r}; make at least one draw, 1000 by default")
