"""The test that a paired difference is zero, by flipping the signs of the prompts' differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

FloatArray = npt.NDArray[np.float64]
SignFlipMethod = Literal["exact", "bound", "normal"]

MOST_ENUMERATED = 12
"""Up to so many informative prompts all assignments of signs are listed."""

MOST_CELLS = 10_000_000
"""Work allowed for the distribution of the sum on a grid: informative prompts times cells."""

_ROUNDING = 1e-9
"""Differences this close to a multiple of the unit, relative to the largest, are that multiple."""

_WIDEST_BOUND = 0.02
"""The rounding to a grid may move the sum by this share of its standard deviation, no more."""


@dataclass(frozen=True)
class SignFlipTest:
    """A two-sided test that a paired difference is zero.

    Attributes:
        p_value: Of this test alone.
        adjusted_p_value: After Holm's correction over all pairs that were tested.
        method: ``"exact"``, ``"bound"`` or ``"normal"``: see :func:`sign_flip_p_value`.
        clusters: Prompts whose difference is not zero: only these inform.
    """

    p_value: float
    adjusted_p_value: float
    method: SignFlipMethod
    clusters: int


def sign_flip_p_value(differences: npt.ArrayLike) -> tuple[float, SignFlipMethod, int]:
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
        differences: Shape (n,): one a prompt.

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
    unit = _common_unit(size)
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
    return float(2 * stats.norm.sf(corrected / deviation)), "normal", len(size)


def _by_enumeration(size: FloatArray, observed: float) -> float:
    flips = 1 - 2 * ((np.arange(2 ** len(size))[:, None] >> np.arange(len(size))) & 1)
    as_large = np.abs(flips @ size) >= observed - _ROUNDING * size.sum()
    return float(as_large.mean())


def _common_unit(size: FloatArray) -> float | None:
    """The largest unit of which all sizes are whole multiples; None when there is none, or it is very small."""
    tolerance = _ROUNDING * float(size[-1])
    _, different = np.unique(np.rint(size / tolerance), return_index=True)
    unit = float(size[0])
    for other in size[different[1:]].tolist():
        unit = _common_divisor(other, unit, 10 * tolerance)
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


def _tail(multiples: npt.NDArray[np.int64], observed: float) -> float:
    """The probability that the sum of the multiples under random signs is at least as far from zero as observed."""
    total = int(multiples.sum())
    positive = np.zeros(total + 1)  # the distribution of the sum of those that keep a positive sign
    positive[0] = 1.0
    reached = 0
    for multiple in multiples.tolist():
        shifted = positive[: reached + 1].copy()
        positive[multiple : reached + multiple + 1] += shifted
        reached += multiple
        positive[: reached + 1] /= 2
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(positive[sums >= observed - 1e-6 * max(1.0, abs(observed))].sum()))
