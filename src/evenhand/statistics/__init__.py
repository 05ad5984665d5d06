"""Statistics of judges and scores: arrays in, frozen results out. Knows nothing of engines, prompts or unitxt."""

from __future__ import annotations

from evenhand.statistics.agreement import cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha, percent_agreement
from evenhand.statistics.disagreement import Agreement
from evenhand.statistics.grade_score import GradeScore, grade_score
from evenhand.statistics.intervals import (
    Interval,
    cluster_resamples,
    mean_intervals,
    proportion_interval,
    ratio_intervals,
)
from evenhand.statistics.position import NOT_ASKED, UNSCORED, PositionBias, position_bias

__all__ = [
    "NOT_ASKED",
    "UNSCORED",
    "Agreement",
    "GradeScore",
    "Interval",
    "PositionBias",
    "cluster_resamples",
    "cohen_kappa",
    "fleiss_kappa",
    "grade_score",
    "gwet_ac",
    "krippendorff_alpha",
    "mean_intervals",
    "percent_agreement",
    "position_bias",
    "proportion_interval",
    "ratio_intervals",
]
