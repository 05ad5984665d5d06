"""Forecasts: confidences beside what came true, and their bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.statistics.clusters import cluster_labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Binning = Literal["equal_width", "equal_mass"]

EDGE_ROUNDING = 1e-12
"""Confidences this little above an edge are on it: quantiles and multiples of a width are not exact."""


@dataclass(frozen=True, eq=False, slots=True)
class Forecasts:
    """Confidences, outcomes and clusters of the same length, without a gap.

    Attributes:
        confidences: (n,) in [0, 1].
        outcomes: (n,) 0 or 1.
        clusters: (n,) numbered from 0.
        n_set_aside: Rows left out for want of a confidence or an outcome.
    """

    confidences: FloatArray
    outcomes: FloatArray
    clusters: IntArray
    n_set_aside: int

    @classmethod
    def of(cls, confidences: ArrayLike, outcomes: ArrayLike, clusters: ArrayLike | None) -> Forecasts:
        """Check the input and set the incomplete rows aside.

        Raises:
            EstimationError: No row has both.
            InvalidInputError: Shapes that differ, a confidence outside [0, 1], an outcome other than 0 and 1.
        """
        confidence, outcome = np.asarray(confidences, dtype=float), np.asarray(outcomes, dtype=float)
        if confidence.ndim != 1 or outcome.shape != confidence.shape:
            raise InvalidInputError(
                f"confidences has the shape {confidence.shape!r} and outcomes {outcome.shape!r}; give (n,) twice"
            )
        known = ~np.isnan(confidence) & ~np.isnan(outcome)
        wrong = (confidence < 0) | (confidence > 1)
        if wrong.any():
            raise InvalidInputError(f"a confidence is {float(confidence[wrong][0])!r}; it lies between 0 and 1")
        odd = ~np.isnan(outcome) & (outcome != 0) & (outcome != 1)
        if odd.any():
            raise InvalidInputError(f"an outcome is {float(outcome[odd][0])!r}; it is 0 or 1, NaN if unknown")
        if not known.any():
            raise EstimationError("calibration is undefined: no row has a confidence and an outcome")
        labels = cluster_labels(None if clusters is None else np.asarray(clusters), len(known))[known]
        return cls(
            confidence[known],
            outcome[known],
            np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64),
            int((~known).sum()),
        )


def bin_edges(confidences: FloatArray, bins: int, binning: Binning) -> FloatArray:
    """The edges of the bins, ascending: bins of equal width on [0, 1], or between the quantiles of the confidences.

    Equal quantiles are one edge, so that heaped confidences give fewer bins.

    >>> bin_edges(np.array([0.1, 0.2, 0.2, 0.9]), 2, "equal_mass").tolist()
    [0.1, 0.2, 0.9]
    """
    if binning not in {"equal_width", "equal_mass"}:
        raise InvalidInputError(f"binning is {binning!r}. {did_you_mean(binning, ['equal_width', 'equal_mass'])}")
    if bins < 1:
        raise InvalidInputError(f"bins is {bins!r}; give at least 1")
    shares = np.linspace(0, 1, bins + 1)
    if binning == "equal_width":
        return shares
    edges = np.unique(np.quantile(confidences, shares))
    return np.repeat(edges, 2) if len(edges) == 1 else edges


def bin_numbers(confidences: FloatArray, edges: FloatArray) -> IntArray:
    """The bin of each confidence; a confidence on an edge, or past it by a rounding, belongs to the bin below it.

    >>> bin_numbers(np.array([0.0, 0.5, 0.6, 1.0]), np.array([0, 0.5, 1])).tolist()
    [0, 0, 1, 1]
    """
    return np.asarray(np.searchsorted(edges[1:-1] + EDGE_ROUNDING, confidences), dtype=np.int64)
