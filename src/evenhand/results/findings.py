"""Findings: every number of a result under a name, for conditions, summaries, headlines and pictures.

A result says what it has measured of whom (:class:`Reported`); the numbers are those that it declares as measures
(:mod:`evenhand.results.measures`), and none is computed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.numbers import HasLimits, LeadingBounds, Missing, format_score
from evenhand.results.measures import Kind, Measure, format_value, measures_of
from evenhand.results.unscored import UnscoredCounts
from evenhand.statistics import Interval
from evenhand.statistics.intervals import UnscoredBounds, mean_leads


@dataclass(frozen=True, slots=True)
class Finding:
    """One number of a result.

    Attributes:
        name: What it is: ``relevance``, ``relevance.parse_rate``, ``winrate``, ``winrate.difference``, ``unscored``.
        of: Whose it is: a system, two systems of which the second is subtracted or beaten, or nothing for the whole.
        value: A number, an estimate with its interval, or why there is none.
        kind: What kind of number, by which it is written.
        n: On how many rows, contests or items it rests; None where that is not counted.
        unscored: How many of the votes that it is made of are unscored; None where that is not counted.
        bounds: Those that lead, where too many votes are unscored for the value to do so.
    """

    name: str
    of: tuple[str, ...]
    value: HasLimits | float | Missing
    kind: Kind
    n: int | None = None
    unscored: UnscoredCounts | None = None
    bounds: LeadingBounds | None = None

    def __str__(self) -> str:
        return f"{self.label} {self.written}"

    @property
    def written(self) -> str:
        """The number as it is shown: with its interval, or its bounds where these lead."""
        return format_value(self.value, self.kind) if self.bounds is None else format_score(None, self.bounds)

    @property
    def label(self) -> str:
        """The full name, as conditions give it: ``relevance.difference[new, old]``."""
        return f"{self.name}[{', '.join(self.of)}]" if self.of else self.name


@dataclass(frozen=True, slots=True)
class Reported:
    """What a result has measured of one system, pair, or the whole.

    Attributes:
        name: Of the score that the measures are about; what is the score itself stands under this name alone. Empty
            where each measure has a name of its own.
        of: As :attr:`Finding.of`.
        measured: A result with declared measures, or one number.
        n: As :attr:`Finding.n`.
        unscored: As :attr:`Finding.unscored`.
    """

    name: str
    of: tuple[str, ...]
    measured: object
    n: int | None = None
    unscored: UnscoredCounts | None = None

    def findings(self) -> Iterator[Finding]:
        """One a number."""
        if isinstance(self.measured, Measure):
            yield self._finding(self.measured)
            return
        for each in sorted(
            measures_of(self.measured), key=lambda measure: measure.name != ""
        ):  # the score itself first
            yield self._finding(each)
        if self.unscored is not None and (self.name or self.of):
            yield from unscored_findings(self.unscored, self.name, self.of)

    def _finding(self, measured: Measure) -> Finding:
        name = ".".join(part for part in (self.name, measured.name) if part)
        return Finding(name, self.of, measured.value, measured.kind, self.n, self.unscored, measured.bounds)


def unscored_findings(counts: UnscoredCounts, name: str = "", of: tuple[str, ...] = ()) -> Iterator[Finding]:
    """The shares of the votes (``unscored``) and of the verdicts (``unscored_verdicts``) that are unscored."""
    prefix = f"{name}." if name else ""
    yield Finding(f"{prefix}unscored", of, counts.share, "share", unscored=counts)
    yield Finding(f"{prefix}unscored_verdicts", of, counts.verdict_share, "share", unscored=counts)


def leading_bounds(
    difference: Interval | None, low: float | None, high: float | None, *, n: int, set_aside: int
) -> UnscoredBounds | None:
    """The bounds of a difference that lead, where unscored votes could make its mean misleading; None where it leads.

    Args:
        difference: Over the rows that both have a score on.
        low: The least that is possible if every vote had been scored.
        high: The greatest.
        n: How many rows both have a score on.
        set_aside: On how many only one has; the interval around the bounds goes as far beyond them as the difference's.
    """
    if difference is None or low is None or high is None or mean_leads(difference, low, high):
        return None
    below, above = difference.estimate - difference.low, difference.high - difference.estimate
    return UnscoredBounds(low, high, low - below, high + above, set_aside / (n + set_aside))


def reported_difference(
    name: str,
    of: tuple[str, str],
    difference: Interval | None,
    reason: str,
    n: int,
    *,
    bounds: UnscoredBounds | None = None,
) -> Iterator[Reported]:
    """How far the first of two stands above the second, and the second above the first.

    Args:
        name: Of what they differ in, such as ``relevance.difference``.
        of: The two.
        difference: That of the second from the first; None where there is none.
        reason: Why there is none.
        n: Rows that both have a score on.
        bounds: Those of the difference of the second from the first, where too many votes are unscored for it to lead.
    """
    there = Missing(reason) if difference is None else difference
    back = Missing(reason) if difference is None else difference.subtracted_from(0.0)
    reverse = None if bounds is None else bounds.subtracted_from(0.0)
    yield Reported("", of, Measure(name, there, "difference", bounds=bounds), n)
    yield Reported("", of[::-1], Measure(name, back, "difference", bounds=reverse), n)
