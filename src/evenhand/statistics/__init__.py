"""Statistics of judges and scores: arrays in, frozen results out. Knows nothing of engines, prompts or unitxt."""

from __future__ import annotations

from evenhand.statistics.intervals import (
    Interval,
    cluster_resamples,
    mean_intervals,
    proportion_interval,
    ratio_intervals,
)

__all__ = [
    "Interval",
    "cluster_resamples",
    "mean_intervals",
    "proportion_interval",
    "ratio_intervals",
]
