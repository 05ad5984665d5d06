"""From votes to verdicts, and from verdicts to the scores of rubrics and checklists.

Read :func:`aggregate` first: it is the one way from the votes on a question to a verdict, in every mode.
"""

from evenhand.aggregation.checklist_items import (
    Answer,
    ConfidenceLevel,
    ItemReason,
    ItemResult,
    confidence_level,
    confident_answer,
    item_results,
    met_answers,
    verdict_answer,
    verdict_confidence,
)
from evenhand.aggregation.checklist_score import (
    ChecklistScore,
    PrimaryScore,
    category_pass_rates,
    check_primary_score,
    possible_scores,
    score_answers,
    score_items,
)
from evenhand.aggregation.collapse import SELECTED, Scoring, mean_covered_mass
from evenhand.aggregation.early_stop import (
    REDRAW,
    check_confidence,
    check_mean_over_draws,
    draws_are_settled,
    posterior_of_lead,
    predictive_probability,
    stopped_early,
)
from evenhand.aggregation.length_penalty import LengthPenalty
from evenhand.aggregation.levels import worst_option
from evenhand.aggregation.rubric_score import RubricScore, rubric_score
from evenhand.aggregation.rules import (
    ON_POSITION_BIAS,
    RULES,
    AggregationWarning,
    check_on_position_bias,
    check_rule,
    check_weights,
)
from evenhand.aggregation.verdict import REASONS_BY_SEVERITY, aggregate
from evenhand.aggregation.vote_rules import VoteRules

__all__ = [
    "ON_POSITION_BIAS",
    "REASONS_BY_SEVERITY",
    "REDRAW",
    "RULES",
    "SELECTED",
    "AggregationWarning",
    "Answer",
    "ChecklistScore",
    "ConfidenceLevel",
    "ItemReason",
    "ItemResult",
    "LengthPenalty",
    "PrimaryScore",
    "RubricScore",
    "Scoring",
    "VoteRules",
    "aggregate",
    "category_pass_rates",
    "check_confidence",
    "check_mean_over_draws",
    "check_on_position_bias",
    "check_primary_score",
    "check_rule",
    "check_weights",
    "confidence_level",
    "confident_answer",
    "draws_are_settled",
    "item_results",
    "mean_covered_mass",
    "met_answers",
    "possible_scores",
    "posterior_of_lead",
    "predictive_probability",
    "rubric_score",
    "score_answers",
    "score_items",
    "stopped_early",
    "verdict_answer",
    "verdict_confidence",
    "worst_option",
]
