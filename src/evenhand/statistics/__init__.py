"""Statistics of judges and scores: arrays in, frozen results out. Knows nothing of engines, prompts or unitxt."""

from __future__ import annotations

from evenhand.statistics.agreement import (
    ALPHA_METRICS,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)
from evenhand.statistics.brier import BrierScore, brier_score
from evenhand.statistics.calibration import Calibration, ReliabilityBin, calibration
from evenhand.statistics.classification import ValueErrors, accuracy, confusion_matrix, value_errors
from evenhand.statistics.contests import Contests
from evenhand.statistics.cycles import CycleRate, cycle_rate
from evenhand.statistics.disagreement import Agreement
from evenhand.statistics.grade_score import GradeScore, GradeScoreOfSize, grade_score
from evenhand.statistics.grade_score_chance import GradeScoreChance, grade_score_chance
from evenhand.statistics.intervals import (
    Interval,
    cluster_resamples,
    mean_intervals,
    proportion_interval,
    ratio_intervals,
)
from evenhand.statistics.length import LengthControlled, length_controlled_win_rates
from evenhand.statistics.option_flips import OptionFlips, option_flips
from evenhand.statistics.paired_comparisons import (
    PairedComparison,
    Parameter,
    Strength,
    fit_bradley_terry,
    fit_davidson,
)
from evenhand.statistics.pairwise import (
    ContrastTest,
    PairComparison,
    compare_pairs,
    holm,
    indistinguishable_groups,
)
from evenhand.statistics.panel import EffectiveJudges, draw_stability, effective_judges, greatest_unseen_share
from evenhand.statistics.position import NOT_ASKED, UNSCORED, PositionBias, position_bias
from evenhand.statistics.preference_fairness import PreferenceFairness, preference_fairness
from evenhand.statistics.ranking import Ranking, SystemRanking, rank_systems
from evenhand.statistics.ranks import Rank, Ranks, mean_ranks, rank_by_strength, rank_by_win_rate
from evenhand.statistics.repetition import RepetitionStability, repetition_stability
from evenhand.statistics.sign_flip import SignFlipTest, sign_flip_p_value
from evenhand.statistics.strength_contrasts import StrengthContrasts, contrast_strengths
from evenhand.statistics.uniformity import Uniformity, uniformity
from evenhand.statistics.unrelated_option import UnrelatedOption, unrelated_option
from evenhand.statistics.verbosity import VerbositySlope, verbosity_slope
from evenhand.statistics.win_rate import WinRate, win_rate_intervals, win_rates

__all__ = [
    "ALPHA_METRICS",
    "NOT_ASKED",
    "UNSCORED",
    "Agreement",
    "BrierScore",
    "Calibration",
    "Contests",
    "ContrastTest",
    "CycleRate",
    "EffectiveJudges",
    "GradeScore",
    "GradeScoreChance",
    "GradeScoreOfSize",
    "Interval",
    "LengthControlled",
    "OptionFlips",
    "PairComparison",
    "PairedComparison",
    "Parameter",
    "PositionBias",
    "PreferenceFairness",
    "Rank",
    "Ranking",
    "Ranks",
    "ReliabilityBin",
    "RepetitionStability",
    "SignFlipTest",
    "Strength",
    "StrengthContrasts",
    "SystemRanking",
    "Uniformity",
    "UnrelatedOption",
    "ValueErrors",
    "VerbositySlope",
    "WinRate",
    "accuracy",
    "brier_score",
    "calibration",
    "cluster_resamples",
    "cohen_kappa",
    "compare_pairs",
    "confusion_matrix",
    "contrast_strengths",
    "cycle_rate",
    "draw_stability",
    "effective_judges",
    "fit_bradley_terry",
    "fit_davidson",
    "fleiss_kappa",
    "grade_score",
    "grade_score_chance",
    "greatest_unseen_share",
    "gwet_ac",
    "holm",
    "indistinguishable_groups",
    "krippendorff_alpha",
    "length_controlled_win_rates",
    "mean_intervals",
    "mean_ranks",
    "option_flips",
    "percent_agreement",
    "position_bias",
    "preference_fairness",
    "proportion_interval",
    "rank_by_strength",
    "rank_by_win_rate",
    "rank_systems",
    "ratio_intervals",
    "repetition_stability",
    "sign_flip_p_value",
    "uniformity",
    "unrelated_option",
    "value_errors",
    "verbosity_slope",
    "win_rate_intervals",
    "win_rates",
]
