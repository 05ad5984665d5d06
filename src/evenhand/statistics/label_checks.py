"""Check whether labelled rows were drawn as is said."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.statistics.resampling import IntArray

DRAWS = 9999
"""Permutations of a test."""


def draw_p_value(strata: ArrayLike, labelled: ArrayLike, *, seed: int = 0) -> float:
    r"""The p-value of "the labelled rows are a simple random draw" by what the judge said of them.

    The statistic is :math:`\chi^2 = \sum_h (n_h - n N_h / N)^2 / (n N_h / N)`, with :math:`n_h` labelled of the
    :math:`N_h` rows of stratum h; its distribution is that of multivariate hypergeometric draws, so that few labels and
    rare verdicts are no trouble. p = (1 + draws at least as far) / (1 + draws).

    Args:
        strata: (n_rows,), whole numbers.
        labelled: (n_rows,), booleans.
        seed: Of the draws.

    >>> said = [0] * 50 + [1] * 50
    >>> draw_p_value(said, [True] * 20 + [False] * 80)  # all 20 labels are of one verdict
    0.0001
    >>> draw_p_value(said, ([True] * 10 + [False] * 40) * 2)  # 10 of each, the likeliest draw
    1.0
    """
    _, places = np.unique(np.asarray(strata), return_inverse=True)
    drawn = np.asarray(labelled, dtype=bool)
    sizes: IntArray = np.bincount(places)
    n = int(drawn.sum())
    if n in {0, len(drawn)} or len(sizes) == 1:
        return 1.0
    expected = n * sizes / len(drawn)
    observed = np.bincount(places[drawn], minlength=len(sizes))
    draws = np.random.default_rng(seed).multivariate_hypergeometric(sizes, n, size=DRAWS, method="marginals")
    far = ((draws - expected) ** 2 / expected).sum(axis=1) >= ((observed - expected) ** 2 / expected).sum() - 1e-9
    return float((1 + far.sum()) / (1 + DRAWS))
