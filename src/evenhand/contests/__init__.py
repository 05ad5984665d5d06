"""Contests between systems: from responses to questions, from votes to winrates. Knows nothing of unitxt.

:func:`hold_tournament` judges the pairs of a design, :func:`summarize_contests` says what came of it.
"""

from evenhand.contests.contest import Contest, Showing, resolve
from evenhand.contests.responses import common_systems, read_responses
from evenhand.contests.summary import ContestSummary, SystemSummary, order_selections, summarize_contests, unread_pairs
from evenhand.contests.tallies import (
    Reduction,
    Tally,
    check_reduction,
    cluster_numbers,
    instance_rankings,
    limits,
    presented_contests,
    rankings,
    resolved_contests,
    tallies,
    winrates,
)
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
    "Showing",
    "SystemSummary",
    "Tally",
    "TournamentPlan",
    "check_reduction",
    "cluster_numbers",
    "common_systems",
    "estimate_tournament",
    "hold_tournament",
    "instance_rankings",
    "limits",
    "order_selections",
    "plan_tournament",
    "presented_contests",
    "rankings",
    "read_responses",
    "resolve",
    "resolved_contests",
    "summarize_contests",
    "tallies",
    "unread_pairs",
    "winrates",
]
