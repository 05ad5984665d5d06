"""Systems that were scored on the same rows, compared with each other: the differences, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.numbers import Missing, format_count, format_interval, format_level, format_p_value, format_range
from evenhand.results.measures import Reported, leading_bounds, reported_difference
from evenhand.results.render import TextTable
from evenhand.statistics import Interval
from evenhand.statistics.intervals import Level, UnscoredBounds
from evenhand.statistics.paired_differences import (
    DifferenceTest,
    PairedDifference,
    name_of_tests,
    over_one_family,
    paired_differences,
)

MOST_PAIRS = 15
"""Pairs of one score that are printed: all of six systems. Of more systems those with the best one are."""

Scored = NDArray[np.float64]
"""Shape (n_rows, 3): what a system got on each row, and the least and the greatest that it could have got had all been
read; NaN if there is none, or the question does not apply."""


def scored_rows(rows: Iterable[tuple[float | None, tuple[float, float] | None]]) -> Scored:
    """Return the scores of rows, each with its bounds.

    >>> scored_rows([(1.0, (1.0, 1.0)), (None, None)]).tolist()
    [[1.0, 1.0, 1.0], [nan, nan, nan]]
    """
    return np.array([(value, *(limits or (None, None))) for value, limits in rows], dtype=float).reshape(-1, 3)


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """The difference of two systems on one score: see `evenhand.statistics.paired_differences`.

    Attributes:
        score: The name of the score: a criterion's, a rubric's, or ``pass rate``.
        first: The system from which the other is subtracted.
        second: The other system.
        difference: The mean paired difference; None if no row has both scores.
        test: The test that it is 0, adjusted by Holm over all pairs of all criteria (or of the rubric or checklist).
        n_compared: Rows on which both systems have a score.
        n_set_aside: Rows on which only one of the systems has a score.
        if_unscored_low: The least possible difference if every vote had been scored.
        if_unscored_high: The greatest possible difference.
    """

    score: str
    first: str
    second: str
    difference: Interval | None
    test: DifferenceTest | None
    n_compared: int
    n_set_aside: int
    if_unscored_low: float | None
    if_unscored_high: float | None

    def reported(self) -> Iterator[Reported]:
        """Return the difference, in both directions."""
        name = f"{self.score.replace(' ', '_')}.difference"
        no_row = "no row has both scores"
        of = (self.first, self.second)
        p_value = None if self.test is None else self.test.adjusted_p_value
        found = (self.difference, no_row, self.n_compared)
        yield from reported_difference(name, of, *found, bounds=self._bounds(), p_value=p_value)

    def _bounds(self) -> UnscoredBounds | None:
        limits = self.if_unscored_low, self.if_unscored_high
        return leading_bounds(self.difference, *limits, n=self.n_compared, set_aside=self.n_set_aside)


def system_differences(
    scored: Mapping[str, Mapping[str, Scored]],
    level: Level,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> tuple[SystemDifference, ...]:
    """Return all pairs of systems on each score; one family for Holm's correction.

    Args:
        scored: Name of the score -> system -> its rows, the same ones for every system.
        level: The level of the intervals, with the clusters of the rows.
        ranges: Name of the score -> the least and the greatest that it can be, [0, 1] for those that are not named;
            and as far beyond as the scores go.
    """
    named: list[tuple[str, list[str]]] = []
    pairs: list[PairedDifference] = []
    for score, systems in scored.items():
        values, low, high = np.stack(list(systems.values()), axis=1).transpose(2, 0, 1)
        bounds = _range((ranges or {}).get(score, (0.0, 1.0)), values, low, high)
        found = paired_differences(values, low=low, high=high, level=level, bounds=bounds)
        pairs += found
        named += [(score, list(systems))] * len(found)
    return tuple(
        SystemDifference(
            score=score,
            first=systems[pair.first],
            second=systems[pair.second],
            difference=pair.difference,
            test=pair.test,
            n_compared=pair.n_paired,
            n_set_aside=pair.n_set_aside,
            if_unscored_low=pair.if_unscored_low,
            if_unscored_high=pair.if_unscored_high,
        )
        for (score, systems), pair in zip(named, over_one_family(pairs), strict=True)
    )


def _range(known: tuple[float, float], *tables: NDArray[np.float64]) -> tuple[float, float]:
    """Return the known range, extended to all scores: a length penalty may take them below it."""
    numbers = np.concatenate([table[np.isfinite(table)] for table in tables])
    return float(numbers.min(initial=known[0])), float(numbers.max(initial=known[1]))


def best_system(scores: Mapping[str, Interval | Missing | None]) -> str:
    """Return the system with the highest mean score, the first of equals."""
    return max(scores, key=lambda system: found.estimate if (found := scores[system]) else -math.inf)


def differences_tables(
    differences: Sequence[SystemDifference], best: Mapping[str, str], *, level: float, kind: str = "differences"
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
    per_score = len(differences) // len({each.score for each in differences})
    few = per_score <= MOST_PAIRS
    shown = [each for each in differences if few or best.get(each.score) in {each.first, each.second}]
    several = len({each.score for each in differences}) > 1
    unscored = any(each.if_unscored_low != each.if_unscored_high for each in differences)
    headers = ["systems", *(["score"] if several else []), f"difference [{format_level(level)}]", "p", "rows"]
    headers += ["set aside", "if all were scored"] if unscored else ["set aside"]
    rows = []
    for each in shown:
        cells = [f"{each.first} – {each.second}", *([each.score] if several else [])]
        cells += [format_interval(each.difference, signed=True)]
        cells += [format_p_value(None if each.test is None else each.test.adjusted_p_value)]
        cells += [format_count(each.n_compared), format_count(each.n_set_aside)]
        cells += [format_range(each.if_unscored_low, each.if_unscored_high)] if unscored else []
        rows.append(tuple(cells))
    title = f"Paired differences of {differences[0].score if not several else 'the scores'} on the same rows"
    family, tests = format_count(len(differences), "comparison"), name_of_tests(each.test for each in differences)
    return (
        TextTable(
            title=f"{title} ({tests}, p corrected by Holm over {family})",
            headers=tuple(headers),
            rows=tuple(rows),
            notes=(*_notes(differences, level), *_left_out(len(differences) - len(shown))),
            kind=kind,
            naming=2 if several else 1,
        ),
    )


def _notes(differences: Sequence[SystemDifference], level: float) -> list[str]:
    told = [each for each in differences if each.test is not None and each.test.adjusted_p_value <= 1 - level]
    notes = []
    if len(told) < len(differences):
        notes.append(
            f"{format_count(len(differences) - len(told))} of {format_count(len(differences))} pairs cannot be told "
            f"apart at the {format_level(level)} level."
        )
    if any(each.n_set_aside for each in differences):
        notes.append("Set aside: rows on which only one of the two has a score; they are in no difference.")
    reversible = [
        f"{each.first} – {each.second}" + (f" ({each.score})" if each.score != differences[0].score else "")
        for each in told
        if each.if_unscored_low is not None
        and each.if_unscored_high is not None
        and each.if_unscored_low <= 0 <= each.if_unscored_high
    ]
    if reversible:
        notes.append(f"Unscored votes could undo the difference of: {', '.join(reversible)}.")
    return notes


def _left_out(pairs: int) -> list[str]:
    if not pairs:
        return []
    return [f"Shown are the pairs with the best system; {format_count(pairs)} more are in differences of the table."]
