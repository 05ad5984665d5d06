"""What was read from a reply: the value that votes keep."""

from evenhand.votes import Match
from evenhand.votes import MatchKind as Kind
from evenhand.votes import UnscoredReason as Reason

__all__ = ["Kind", "Match", "Reason"]
