"""Which of several reasons for having no score is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from evenhand.votes import UnscoredReason

REASONS_BY_SEVERITY: tuple[UnscoredReason, ...] = (
    "missing_response",
    "not_asked",
    "engine_error",
    "budget",
    "content_filter",
    "refusal",
    "truncated",
    "empty",
    "abstained",
    "no_match",
    "ambiguous",
    "inconsistent",
    "no_value",
    "stopped_early",
)
"""Which of two equally frequent reasons is named: the one further from an answer comes first."""


def most_frequent_reason(reasons: Iterable[UnscoredReason]) -> UnscoredReason:
    """The most frequent of at least one reason; the most severe of equally frequent ones.

    Example:
        >>> most_frequent_reason(["refusal", "no_match", "no_match"]), most_frequent_reason(["no_match", "refusal"])
        ('no_match', 'refusal')
    """
    counts = Counter(reasons)
    return min(counts, key=lambda reason: (-counts[reason], REASONS_BY_SEVERITY.index(reason)))
