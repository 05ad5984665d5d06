"""Sentences that stand beneath more than one kind of result table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from evenhand.numbers import format_count

BASELINE = (
    "The baseline judge is text statistics without a model, the same for every criterion and question: the floor that "
    "a real judge must beat, not a measure of quality."
)


class Counted(Protocol):
    """A summary that knows the clusters of its rows."""

    @property
    def num_clusters(self) -> int | None:
        """How many there are; None where rows do not depend on each other."""


def clusters_header(summaries: Iterable[Counted]) -> tuple[str, ...]:
    """The header of the column beside n; nothing where rows do not depend on each other."""
    return ("clusters",) if any(summary.num_clusters is not None for summary in summaries) else ()


def clusters_cell(summary: Counted) -> tuple[str, ...]:
    """What stands there."""
    return () if summary.num_clusters is None else (format_count(summary.num_clusters),)


def unscored_votes_note(counts: Mapping[str, int]) -> tuple[str, ...]:
    """How many votes selected nothing, and why; nothing when all selected.

    >>> unscored_votes_note({"refusal": 2, "empty": 1})
    ('Votes without a selection: 1 empty, 2 refusal. They are in no score.',)
    """
    if not counts:
        return ()
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
    return (f"Votes without a selection: {listed}. They are in no score.",)


def baseline_note(judges: Iterable[str]) -> tuple[str, ...]:
    """What the baseline is, where it is among the judges."""
    if not any("baseline" in judge for judge in judges):
        return ()
    return (BASELINE,)
