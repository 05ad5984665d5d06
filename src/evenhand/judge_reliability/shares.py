"""A share of rows, with an interval over the instances that the rows belong to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.clusters import cluster_labels, cluster_sums


def share_of(
    numerators: Sequence[float],
    denominators: Sequence[float],
    instances: Sequence[int],
    level: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval | None:
    """The ratio of two sums over rows, with an interval over the instances of the rows; None without a denominator."""
    labels = cluster_labels(instances, len(instances))
    sums = cluster_sums(np.column_stack([numerators, denominators]), labels) if len(labels) else np.zeros((0, 2))
    (interval,) = ratio_intervals(sums[:, 0], sums[:, 1], level=level, bounds=bounds)
    return interval
