"""Statistics of judges and scores: arrays in, frozen results out. Knows nothing of engines, prompts or unitxt."""

from __future__ import annotations

from evenhand.statistics.agreement import (
    ALPHA_METRICS,
    Agreement,
    ValueErrors,
    accuracy,
    cohen_kappa,
    confusion_matrix,
    krippendorff_alpha,
    percent_agreement,
    value_errors,
)
from evenhand.statistics.calibration import BrierScore, Calibration, brier_score, calibration
from evenhand.statistics.consistency import (
    NOT_ASKED,
    UNSCORED,
    OptionFlips,
    PreferenceFairness,
    RepetitionStability,
    draw_stability,
    greatest_unseen_share,
    option_flips,
    preference_fairness,
    repetition_stability,
)
from evenhand.statistics.contests import win_rate_intervals
from evenhand.statistics.correlation import EffectiveJudges, effective_judges
from evenhand.statistics.grade_score import (
    GradeScoreChance,
    GradeScoreResult,
    Uniformity,
    grade_score,
    grade_score_chance,
    uniformity,
)
from evenhand.statistics.intervals import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.length import VerbositySlope, verbosity_slope
from evenhand.statistics.ranking import mean_ranks

__all__ = [
    "ALPHA_METRICS",
    "NOT_ASKED",
    "UNSCORED",
    "Agreement",
    "BrierScore",
    "Calibration",
    "EffectiveJudges",
    "GradeScoreChance",
    "GradeScoreResult",
    "Interval",
    "OptionFlips",
    "PreferenceFairness",
    "RepetitionStability",
    "Uniformity",
    "ValueErrors",
    "VerbositySlope",
    "accuracy",
    "brier_score",
    "calibration",
    "cohen_kappa",
    "confusion_matrix",
    "draw_stability",
    "effective_judges",
    "grade_score",
    "grade_score_chance",
    "greatest_unseen_share",
    "krippendorff_alpha",
    "mean_intervals",
    "mean_ranks",
    "option_flips",
    "percent_agreement",
    "preference_fairness",
    "ratio_intervals",
    "repetition_stability",
    "uniformity",
    "value_errors",
    "verbosity_slope",
    "win_rate_intervals",
]
