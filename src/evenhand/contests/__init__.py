"""Contests between systems: from responses to questions, from votes to winrates. Knows nothing of unitxt.

:func:`hold_tournament` judges the pairs of a design, :func:`summarize_contests` says what came of it.
"""

from evenhand.contests.contest import (
    Contest,
    Reduction,
    check_reduction,
    cluster_numbers,
    instance_rankings,
    presented_contests,
    resolve,
    resolved_contests,
    winrates,
)
from evenhand.contests.summary import ContestSummary, SystemSummary, summarize_contests, unread_pairs
from evenhand.contests.tournament import (
    ComparisonRow,
    TournamentPlan,
    estimate_tournament,
    hold_tournament,
    plan_tournament,
)

__all__ = [
    "ComparisonRow",
    "Contest",
    "ContestSummary",
    "Reduction",
    "SystemSummary",
    "TournamentPlan",
    "check_reduction",
    "cluster_numbers",
    "estimate_tournament",
    "hold_tournament",
    "instance_rankings",
    "plan_tournament",
    "presented_contests",
    "resolve",
    "resolved_contests",
    "summarize_contests",
    "unread_pairs",
    "winrates",
]
