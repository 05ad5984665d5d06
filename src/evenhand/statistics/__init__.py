"""Statistics of judges and scores: arrays in, frozen results out. Independent of engines, prompts and unitxt.

This module exports what most callers need; import the rest from its own module.
"""

from __future__ import annotations

from evenhand.statistics.consistency import Uniformity, grade_score_chance, uniformity
from evenhand.statistics.intervals import Interval, mean_intervals, ratio_intervals

__all__ = [
    "Interval",
    "Uniformity",
    "grade_score_chance",
    "mean_intervals",
    "ratio_intervals",
    "uniformity",
]
