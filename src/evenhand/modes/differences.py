"""Differences of systems that were scored on the same rows, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.numbers import Missing, format_count, format_interval, format_level, format_p_value, format_range
from evenhand.results.measures import Column, Reported, measures_table, reported_difference
from evenhand.results.render import TextTable
from evenhand.statistics import Interval
from evenhand.statistics.intervals import Level
from evenhand.statistics.paired_differences import PairedDifference, name_of_tests, over_one_family, paired_differences

MOST_PAIRS = 15
"""Pairs of one score that are printed: all of six systems. Of more systems those with the best one are."""

Scored = NDArray[np.float64]
"""Shape (n_rows, 3): what a system got on each row, and the least and the greatest that it could have got had all votes
been scored; NaN if there is none, or the question does not apply."""


def scored_rows(rows: Iterable[tuple[float | None, tuple[float, float] | None]]) -> Scored:
    """Return the scores of rows, each with its bounds.

    >>> scored_rows([(1.0, (1.0, 1.0)), (None, None)]).tolist()
    [[1.0, 1.0, 1.0], [nan, nan, nan]]
    """
    return np.array([(value, *(limits or (None, None))) for value, limits in rows], dtype=float).reshape(-1, 3)


def system_differences(
    scored: Mapping[str, Mapping[str, Scored]],
    level: Level,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> tuple[PairedDifference, ...]:
    """Return all pairs of systems on each score; one family for Holm's correction.

    Args:
        scored: Name of the score -> system -> its rows, the same ones for every system.
        level: The level of the intervals, with the clusters of the rows.
        ranges: Name of the score -> the least and the greatest that it can be, [0, 1] for those that are not named;
            extended to all scores: a length penalty may take them below it.
    """
    found: list[PairedDifference] = []
    for score, systems in scored.items():
        table = np.stack(list(systems.values()), axis=1).transpose(2, 0, 1)
        numbers, (least, most) = table[np.isfinite(table)], (ranges or {}).get(score, (0.0, 1.0))
        bounds, named = (float(numbers.min(initial=least)), float(numbers.max(initial=most))), list(systems)
        values, low, high = table
        found += paired_differences(values, low=low, high=high, level=level, bounds=bounds, systems=named, score=score)
    return over_one_family(found)


def reported_differences(differences: Iterable[PairedDifference]) -> Iterator[Reported]:
    """Give each difference in both directions."""
    for each in differences:
        name, of = f"{each.score.replace(' ', '_')}.difference", (each.first, each.second)
        found = each.difference, "no row has both scores", each.n_compared
        yield from reported_difference(name, of, *found, bounds=each.unscored_bounds, p_value=each.p_value)


def best_system(scores: Mapping[str, Interval | Missing | None]) -> str:
    """Return the system with the highest mean score, the first of equals."""
    return max(scores, key=lambda system: found.estimate if (found := scores[system]) else -math.inf)


def differences_tables(
    differences: Sequence[PairedDifference], best: Mapping[str, str], *, level: float, kind: str = "differences"
) -> tuple[TextTable, ...]:
    """Return the table of the differences; none of a single system.

    Args:
        differences: One family.
        best: Name of the score -> the system with the highest, for choosing where there are too many pairs.
        level: The level of the intervals.
        kind: The table's.
    """
    if not differences:
        return ()
    scores = {each.score for each in differences}
    few, several = len(differences) // len(scores) <= MOST_PAIRS, len(scores) > 1
    shown = [each for each in differences if few or best.get(each.score) in {each.first, each.second}]
    columns = [
        Column(f"difference [{format_level(level)}]", lambda each: format_interval(each.difference, signed=True)),
        Column("p", lambda each: format_p_value(each.p_value)),
        Column("rows", "n_compared"),
        Column("set aside", "n_set_aside"),
    ]
    if any(each.if_unscored_low != each.if_unscored_high for each in differences):
        columns.append(
            Column("if all were scored", lambda each: format_range(each.if_unscored_low, each.if_unscored_high))
        )
    named = [((f"{each.first} – {each.second}", *([each.score] if several else [])), each) for each in shown]
    what = "the scores" if several else differences[0].score
    tests, family = name_of_tests(each.test for each in differences), format_count(len(differences), "comparison")
    title = f"Paired differences of {what} on the same rows ({tests}, p corrected by Holm over {family})"
    notes = _notes(differences, level)
    if more := len(differences) - len(shown):
        notes.append(
            f"Shown are the pairs with the best system; differences of the table has {format_count(more)} more."
        )
    labels = ("systems", "score") if several else ("systems",)
    return (measures_table(title, labels, named, columns, notes, kind=kind),)


def _notes(differences: Sequence[PairedDifference], level: float) -> list[str]:
    significant = [each for each in differences if each.p_value is not None and each.p_value <= 1 - level]
    notes = []
    if len(significant) < len(differences):
        notes.append(
            f"{format_count(len(differences) - len(significant))} of {format_count(len(differences))} pairs are not "
            f"distinguishable at the {format_level(level)} level."
        )
    if any(each.n_set_aside for each in differences):
        notes.append("Set aside: rows on which only one of the two has a score; they are in no difference.")
    reversible = [
        f"{each.first} – {each.second}" + (f" ({each.score})" if each.score != differences[0].score else "")
        for each in significant
        if each.if_unscored_low is not None
        and each.if_unscored_high is not None
        and each.if_unscored_low <= 0 <= each.if_unscored_high
    ]
    if reversible:
        notes.append(f"Unscored votes could undo the difference of: {', '.join(reversible)}.")
    return notes
