"""Votes that were recorded elsewhere: read, aggregated and compared with the truth, without a call.

Read :func:`aggregate` first; :mod:`evenhand.recorded.reading` says what may stand for a vote.
"""

from evenhand.cells import NOT_ASKED
from evenhand.recorded.aggregating import aggregate
from evenhand.recorded.agreeing import PanelAgreement, Rater, RaterPair, all_pairs, panels
from evenhand.recorded.columns import Column, categories_of, columns_of, read_column
from evenhand.recorded.levels import Drawing, Scale, Undefined, defined
from evenhand.recorded.reading import (
    YES_OR_NO,
    RecordedVote,
    RecordedVotes,
    VoteReader,
    judge_weights,
    named_votes,
)
from evenhand.recorded.summary import (
    NO_VERDICT,
    Comparison,
    VoteSummary,
    adjacent_accuracy,
    summarize_votes,
)

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
    "RecordedVote",
    "RecordedVotes",
    "Scale",
    "Undefined",
    "VoteReader",
    "VoteSummary",
    "adjacent_accuracy",
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
