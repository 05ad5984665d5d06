"""Sentences that stand beneath more than one kind of result table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BASELINE = (
    "The baseline judge is text statistics without a model, the same for every criterion and question: the floor that "
    "a real judge must beat, not a measure of quality."
)


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
