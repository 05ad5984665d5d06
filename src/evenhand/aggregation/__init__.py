"""From votes to verdicts, and from verdicts to the scores of rubrics and checklists.

Read :func:`aggregate` first: it is the one way from the votes on a question to a verdict, in every mode.
"""

from evenhand.aggregation.checklist_score import (
    Answer,
    ChecklistScore,
    ItemReason,
    ItemResult,
    PrimaryScore,
    category_pass_rates,
    item_results,
    possible_ends,
    possible_scores,
    score_items,
)
from evenhand.aggregation.collapse import mean_covered_mass
from evenhand.aggregation.early_stop import REDRAW, check_mean_over_draws, draws_are_settled, stopped_early
from evenhand.aggregation.rubric_score import LengthPenalty, RubricRange, RubricScore, rubric_range, rubric_score
from evenhand.aggregation.rules import RULES, AggregationWarning, check_rule, check_weights
from evenhand.aggregation.verdict import VoteRules, aggregate

__all__ = [
    "REDRAW",
    "RULES",
    "AggregationWarning",
    "Answer",
    "ChecklistScore",
    "ItemReason",
    "ItemResult",
    "LengthPenalty",
    "PrimaryScore",
    "RubricRange",
    "RubricScore",
    "VoteRules",
    "aggregate",
    "category_pass_rates",
    "check_mean_over_draws",
    "check_rule",
    "check_weights",
    "draws_are_settled",
    "item_results",
    "mean_covered_mass",
    "possible_ends",
    "possible_scores",
    "rubric_range",
    "rubric_score",
    "score_items",
    "stopped_early",
]
