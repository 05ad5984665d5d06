"""Sentences that stand beneath more than one kind of result table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.aggregation import REDRAW
from evenhand.results.results import could_stop_early

BASELINE = (
    "The baseline judge is text statistics without a model, the same for every criterion and question: the floor that "
    "a real judge must beat, not a measure of quality."
)


def early_stop_note(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """What is not measured on all draws, where draws could stop early (:mod:`evenhand.aggregation.early_stop`)."""
    if not could_stop_early(parameters):
        return ()
    said = (
        "Draws stopped once their outcome was settled. Scores are those of the outcomes; agreement, parse rate, "
        "stability and what is estimated from single votes rest on the draws that are made in any case, the first two "
        f"of a prompt; means and spreads over draws are missing, because the stop would bias them: {REDRAW}."
    )
    return (said,)


def unscored_bounds_note(leading: Mapping[str, object | None]) -> tuple[str, ...]:
    """What it means that bounds stand in the place of a score; nothing where none do.

    Args:
        leading: What was scored -> its bounds, where these lead.
    """
    named = [name for name, bounds in leading.items() if bounds is not None]
    if not named:
        return ()
    text = (
        f"Bounds lead for {'; '.join(named)}: too many votes are unscored for the mean of the rest to be the score, "
        "since unscored votes are not a random sample. Had all been scored, the score would lie between the bounds; "
        "the brackets are the interval around both."
    )
    return (text,)


def baseline_note(judges: Iterable[str]) -> tuple[str, ...]:
    """What the baseline is, where it is among the judges."""
    if not any("baseline" in judge for judge in judges):
        return ()
    return (BASELINE,)


def spread_note(spreads: Iterable[object]) -> tuple[str, ...]:
    """What ± says beside a score; nothing where there is no spread.

    Args:
        spreads: Of the scores shown: each is missing where nothing was drawn again.
    """
    if not any(spreads):
        return ()
    said = (
        "± is the spread of draws: the standard deviation of what the draws of one prompt come to, on average over "
        "rows. It tells how steady the judge is on a row; the interval tells how well the rows tell the mean."
    )
    return (said,)
