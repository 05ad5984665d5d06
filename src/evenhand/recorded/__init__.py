"""Votes that were recorded elsewhere: read, aggregated and compared with the truth, without a call.

Read :func:`aggregate` first; :mod:`evenhand.recorded.columns` says what may stand for a vote.
"""

from evenhand.data.cells import NOT_ASKED
from evenhand.recorded.columns import (
    YES_OR_NO,
    Column,
    VoteReader,
    categories_of,
    columns_of,
    judge_weights,
    named_votes,
    read_column,
)
from evenhand.recorded.raters import PanelAgreement, Rater, RaterPair, all_pairs, panels
from evenhand.recorded.scales import Drawing, Scale, Undefined, defined
from evenhand.recorded.vote_scores import NO_VERDICT, Comparison, VoteSummary, aggregate, summarize_votes

__all__ = [
    "NOT_ASKED",
    "NO_VERDICT",
    "YES_OR_NO",
    "Column",
    "Comparison",
    "Drawing",
    "PanelAgreement",
    "Rater",
    "RaterPair",
    "Scale",
    "Undefined",
    "VoteReader",
    "VoteSummary",
    "aggregate",
    "all_pairs",
    "categories_of",
    "columns_of",
    "defined",
    "judge_weights",
    "named_votes",
    "panels",
    "read_column",
    "summarize_votes",
]
