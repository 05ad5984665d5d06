"""The Brier score of confidences, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.statistics.clusters import cluster_sums
from evenhand.statistics.forecasts import Binning, Forecasts, bin_edges, bin_numbers
from evenhand.statistics.intervals import Interval, ratio_intervals


@dataclass(frozen=True, slots=True)
class BrierScore:
    """Mean squared error of confidences, decomposed.

    Attributes:
        score: Mean of (confidence - outcome)², with an interval over clusters; 0 is best.
        reliability: Squared distance of the groups' outcomes from their confidences; 0 is calibrated.
        resolution: Squared distance of the groups' outcomes from the base rate; more is better.
        uncertainty: base_rate · (1 - base_rate): the score of always saying the base rate.
        within_groups: What grouping unequal confidences adds; 0 if every group has one confidence.
        skill: 1 - score / uncertainty: 0 no better than the base rate, 1 perfect; None if all outcomes are alike.
        base_rate: Share of outcomes 1.
        n: Rows used.
        n_set_aside: Rows without a confidence or an outcome.
        groups: Groups of the decomposition.
        level: Of the interval.
    """

    score: Interval
    reliability: float
    resolution: float
    uncertainty: float
    within_groups: float
    skill: float | None
    base_rate: float
    n: int
    n_set_aside: int
    groups: int
    level: float


def brier_score(
    confidences: ArrayLike,
    outcomes: ArrayLike,
    *,
    bins: int | None = None,
    binning: Binning = "equal_width",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> BrierScore:
    r"""The Brier score with Murphy's decomposition, which holds exactly.

    .. math:: \frac1n\sum_i (f_i - o_i)^2 = \frac1n\sum_k n_k(\bar f_k - \bar o_k)^2
              - \frac1n\sum_k n_k(\bar o_k - \bar o)^2 + \bar o(1 - \bar o)
              + \frac1n\sum_k\sum_{i\in k}\big[(f_i - \bar f_k)^2 - 2 (f_i - \bar f_k)(o_i - \bar o_k)\big]

    over groups k of :math:`n_k` rows: reliability, less resolution, plus uncertainty, plus what is within groups. In
    [0, 1]; 0.25 for always saying one half. Without ``bins`` a group is a distinct confidence and the last term is 0
    (Murphy); if nearly every confidence is distinct, reliability and resolution are then both near their maximum and
    say nothing: give bins.

    Args:
        confidences: (n,) in [0, 1], the probability given to the outcome 1; NaN is missing.
        outcomes: (n,) 0 or 1; NaN is missing.
        bins: Groups for the decomposition; None for one a distinct confidence.
        binning: ``equal_width`` or ``equal_mass``.
        clusters: (n,) labels of rows that depend on each other, such as the items of one response; None if none do.
        level: Of the interval, which is that of `ratio_intervals` over clusters.

    Raises:
        EstimationError: No row with both.
        InvalidInputError: Shapes that differ, numbers out of range.

    Source: Brier (1950); Murphy (1973); Stephenson, Coelho and Jolliffe (2008), "Two extra components in the Brier
    score decomposition".

    Confidence 0.8 right 1 of 2 times, 0.2 right 0 of 2: (0.04 + 0.64 + 0.04 + 0.04) / 4 = 0.19; reliability
    (2 · 0.09 + 2 · 0.04) / 4, resolution (2 · 0.0625 + 2 · 0.0625) / 4, uncertainty 0.25 · 0.75.

    >>> brier = brier_score([0.8, 0.8, 0.2, 0.2], [1, 0, 0, 0])
    >>> [round(part, 4) for part in (brier.score.estimate, brier.reliability, brier.resolution, brier.uncertainty)]
    [0.19, 0.065, 0.0625, 0.1875]
    """
    data = Forecasts.of(confidences, outcomes, clusters)
    forecast, outcome = data.confidences, data.outcomes
    if bins is None:
        group = np.unique(forecast, return_inverse=True)[1]
    else:
        group = bin_numbers(forecast, bin_edges(forecast, bins, binning))
    size = np.bincount(group)
    mean_forecast, mean_outcome = (np.bincount(group, values) / np.maximum(size, 1) for values in (forecast, outcome))
    base, n = float(outcome.mean()), len(outcome)
    around = forecast - mean_forecast[group]
    uncertainty = base * (1 - base)
    error = (forecast - outcome) ** 2
    sums = cluster_sums(np.column_stack([error, np.ones(n)]), data.clusters)
    score = next(found for found in ratio_intervals(sums[:, 0], sums[:, 1], level=level) if found)
    return BrierScore(
        score=score,
        reliability=float(size @ (mean_forecast - mean_outcome) ** 2 / n),
        resolution=float(size @ (mean_outcome - base) ** 2 / n),
        uncertainty=uncertainty,
        within_groups=float((around**2 - 2 * around * (outcome - mean_outcome[group])).mean()),
        skill=1 - float(error.mean()) / uncertainty if uncertainty > 0 else None,
        base_rate=base,
        n=n,
        n_set_aside=data.n_set_aside,
        groups=int(np.count_nonzero(size)),
        level=level,
    )
