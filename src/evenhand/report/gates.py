"""Gates: what makes a run fail, checked against the numbers of its result.

A gate fails where what it says is so, and where that cannot be told: what has no number, or so many unscored votes that
either may be, is never passed in silence. A measure without brackets stands for every system that has it: a gate says
what must not be of any of them, as an assertion (:mod:`evenhand.pytest_plugin`) says what must be of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from evenhand.errors import GateFailedError
from evenhand.numbers import (
    HasLimits,
    Missing,
    format_about,
    format_apart,
    format_bounds,
    format_count,
    format_number,
    format_percent_apart,
)
from evenhand.report.gate_evidence import CLOSE, COUNTED, Bound, GateEvidence, GateReading
from evenhand.report.gate_expressions import Expression, GateComparison, Limit, Named, Negation, parse
from evenhand.results.compare import RunComparison
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics.consistency import draws_to_settle

MOST_TOLD: Final = 3
"""Of so many systems or groups a line says what was found; of the others how many they are."""

MOST_ROWS: Final = 10_000_000

Truth = bool | None
"""None: it cannot be told."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate, and what became of it.

    Attributes:
        expression: As it was written.
        failed: It did not pass.
        undecided: It did not pass because it cannot be told.
        in_noise: A limit lies within the noise of what is compared with it; ``found`` says what would settle it.
        found: What was found, in sentences: where it failed that which made it fail, for each system or group.
    """

    expression: str
    failed: bool
    undecided: bool
    in_noise: bool
    found: tuple[str, ...]

    @property
    def told(self) -> str:
        """What was found, in one line."""
        found = "; ".join(self.found[:MOST_TOLD])
        if len(self.found) > MOST_TOLD:
            found += f"; and {format_count(len(self.found) - MOST_TOLD)} more"
        return found

    def __str__(self) -> str:
        return f"{'FAILED' if self.failed else 'passed'} {self.expression}: {self.told}"


@dataclass(frozen=True)
class GateReport(PrintedTables):
    """What :meth:`~evenhand.results.results.Results.check` finds.

    Attributes:
        gates: In the order given.
    """

    gates: tuple[GateResult, ...]

    @property
    def failed(self) -> tuple[GateResult, ...]:
        """Those that did not pass."""
        return tuple(gate for gate in self.gates if gate.failed)

    def raise_if_failed(self) -> Self:
        """This report, if all gates passed.

        Raises:
            GateFailedError: One line a gate that failed.
        """
        if self.failed:
            raise GateFailedError("\n".join(map(str, self.failed)))
        return self

    def text_tables(self) -> tuple[TextTable, ...]:
        """A row for each gate."""
        passed = format_count(len(self.gates) - len(self.failed))
        title = f"Gates: {passed} of {format_count(len(self.gates))} passed"
        rows = [(gate.expression, "failed" if gate.failed else "passed", gate.told) for gate in self.gates]
        return (TextTable(title, ("fails where", "", "found"), tuple(rows), kind="gates"),)

    def __repr__(self) -> str:
        return f"<GateReport of {len(self.gates)} gate(s), {len(self.failed)} failed>\n{self}"


def told_as_gate(failure: str) -> GateResult:
    """A run that fails because too many votes are unscored, as a gate."""
    return GateResult("max_unscored", failed=True, undecided=False, in_noise=False, found=(failure,))


def check(
    results: Results[Any] | RunComparison,
    gates: Sequence[str],
    *,
    holding: bool = False,
    **known: Any,  # noqa: ANN401 - as GateEvidence has them
) -> GateReport:
    """Check gates: see :meth:`~evenhand.results.results.Results.check`.

    Args:
        results: What was judged.
        gates: Expressions.
        holding: They say what must hold, and not what makes it fail.
        **known: ``gold``, ``design``, ``data`` and ``corrected``, as
            :class:`~evenhand.report.gate_evidence.GateEvidence` has them.
    """
    evidence = GateEvidence(results, **known)
    meant = [(text, parse(text)) for text in gates]
    bounds = [list(evidence.bindings(expression)) for _, expression in meant]  # so that all names are checked first
    return GateReport(
        tuple(
            _checked(text, Negation(expression) if holding else expression, evidence, bound)
            for (text, expression), bound in zip(meant, bounds, strict=True)
        )
    )


def _checked(text: str, expression: Expression, evidence: GateEvidence, bounds: Sequence[Bound]) -> GateResult:
    outcomes = [_evaluated(expression, evidence, bound) for bound in bounds]
    failing = [(truth, seen) for truth, seen in outcomes if truth is not False]
    shown = failing or outcomes
    return GateResult(
        expression=text,
        failed=bool(failing),
        undecided=bool(failing) and all(truth is None for truth, _ in failing),
        in_noise=any(each.noise for _, seen in shown for each in seen),
        found=tuple(dict.fromkeys(str(each) for _, seen in shown for each in seen)),
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A comparison of one system or group, as it came out."""

    truth: Truth
    text: str
    noise: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text} ({'; '.join(self.noise)})" if self.noise else self.text


def _evaluated(expression: Expression, evidence: GateEvidence, bound: Bound) -> tuple[Truth, list[_Seen]]:
    """Whether it is so (three-valued, after Kleene), and the comparisons that decide it."""
    if isinstance(expression, GateComparison):
        seen = _compared(expression, evidence, bound)
        return seen.truth, [seen]
    if isinstance(expression, Negation):
        truth, decisive = _evaluated(expression.part, evidence, bound)
        return None if truth is None else not truth, decisive
    parts = [_evaluated(part, evidence, bound) for part in expression.parts]
    decides = expression.kind == "or"
    found = {truth for truth, _ in parts}
    whole: Truth = decides if decides in found else None if None in found else not decides
    return whole, [each for truth, seen in parts if truth is whole for each in seen]


_MEANS: Final[Mapping[str, frozenset[int]]] = {
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
    "==": frozenset({0}),
    "!=": frozenset({-1, 1}),
}
"""How the left side may stand to the right one: -1 below it, 0 equal, 1 above."""

_WORDS: Final[Mapping[frozenset[int], str]] = {
    frozenset({-1}): "below",
    frozenset({0}): "equal to",
    frozenset({1}): "above",
    frozenset({-1, 0}): "at most",
    frozenset({0, 1}): "at least",
}

_ASPECTS: Final = {
    "estimate": "",
    "low": "its lower limit ",
    "high": "its upper limit ",
    "n": "its n ",
    "unscored": "its share of votes unscored ",
    "unscored_verdicts": "its share of verdicts unscored ",
}


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a comparison.

    Attributes:
        low: The least that it may be.
        high: The greatest: the same number, unless unscored votes leave it open.
        reading: What it is read from; None for a number.
        text: As the number was written.
    """

    low: float
    high: float
    reading: GateReading | None = None
    text: str = ""

    @classmethod
    def of(cls, given: Limit | Named, evidence: GateEvidence, bound: Bound) -> Self:
        """A number, or what a measure comes to; NaN where that has none."""
        if isinstance(given, Limit):
            return cls(given.value, given.value, None, given.text)
        reading = evidence.reading(given, bound)
        leading = reading.finding.bounds
        if leading is not None and reading.aspect in {"estimate", "low", "high"}:
            low = leading.interval_low if reading.aspect == "low" else leading.low
            high = leading.interval_high if reading.aspect == "high" else leading.high
            return cls(low, high, reading)
        number = math.nan if isinstance(reading.number, Missing) else reading.number
        return cls(number, number, reading)


def _compared(comparison: GateComparison, evidence: GateEvidence, bound: Bound) -> _Seen:
    left, right = (_Side.of(each, evidence, bound) for each in (comparison.left, comparison.right))
    readings = [each.reading for each in (left, right) if each.reading is not None]
    about = "; ".join(dict.fromkeys(map(_described, readings)))
    if any(math.isnan(each.low) for each in (left, right)):
        return _Seen(None, about)
    possible = frozenset(
        relation
        for relation, may_be in (
            (-1, left.low < right.high - CLOSE),
            (0, left.low <= right.high + CLOSE and right.low <= left.high + CLOSE),
            (1, left.high > right.low + CLOSE),
        )
        if may_be
    )
    truths = {relation in _MEANS[comparison.sign] for relation in possible}
    if len(truths) > 1:
        meant = _WORDS.get(_MEANS[comparison.sign], "other than")
        other = right.text or left.text or "the other"
        return _Seen(None, f"{about}: too many votes are unscored to tell whether it is {meant} {other}")
    ours, theirs = _told_apart(left, right), _told_apart(right, left)
    seen = left.reading or right.reading
    what = "" if left.reading is None or seen is None else _ASPECTS[left.reading.aspect]
    if left.reading is None and right.reading is not None:
        theirs = f"{_ASPECTS[right.reading.aspect]}{theirs}"
    text = f"{about}: {what}{ours} is {_WORDS[possible]} {theirs}"
    limit = comparison.left if isinstance(comparison.left, Limit) else comparison.right
    return _Seen(truths.pop(), text, tuple(_noise(readings[0], limit)) if isinstance(limit, Limit) else ())


def _described(reading: GateReading) -> str:
    """A measure with its interval and counts."""
    finding = reading.finding
    link = " less " if finding.kind == "difference" else " against "
    of = f" of {link.join(finding.of)}" if finding.of else ""
    groups = " and ".join(f"{column} is {group}" for column, group in reading.group.items())
    where = groups and f", where {groups},"
    number = reading.number
    if isinstance(number, Missing) and (finding.bounds is None or reading.aspect in COUNTED):
        return f"{finding.name}{of}{where} has no number: {number.reason}"
    counted = "" if finding.n is None else f"{'labels' if reading.corrected else 'n'} {format_count(finding.n)}"
    if finding.unscored is not None:
        counted += f"{'; ' if counted else ''}{finding.unscored}"
    return f"{finding.name}{of}{where} is {finding.written}{f' ({counted})' if counted else ''}"


def _told_apart(side: _Side, other: _Side) -> str:
    """A number as it was written, or with as many digits as tell it from the other."""
    if side.text:
        return side.text
    if side.low < side.high:
        return format_bounds(side.low, side.high)
    if side.reading is not None and side.reading.kind == "count":
        return format_count(side.low)
    if other.text.endswith("%"):
        return format_percent_apart(side.low, other.low)
    return format_apart(side.low, other.low)


def _noise(reading: GateReading, limit: Limit) -> Iterator[str]:
    """Whether a limit lies within the noise of a measure, and what would settle it."""
    value = reading.finding.value
    if reading.aspect in COUNTED or isinstance(value, (Missing, int, float)) or reading.finding.bounds:
        return
    if value.low <= limit.value <= value.high:
        yield f"{limit.text} lies within its interval{_rows_that_tell(reading, value, limit.value)}"
    yield from _draws_that_settle(reading, value, limit.value)


def _draws_that_settle(reading: GateReading, value: HasLimits, limit: float) -> Iterator[str]:
    """How many draws of each prompt it takes, where to draw anew could move the mean past the limit."""
    deviation, made, n = reading.deviation, reading.draws, reading.finding.n
    if deviation is None or made < 2 or not n:
        return
    margin = abs(float(getattr(value, reading.aspect)) - limit)
    draws = draws_to_settle(deviation, made, n, margin, level=getattr(value, "level", 0.95))
    if draws is None or draws > made:
        settled = "" if draws is None else f": {format_count(draws)} draws in place of {format_count(made)} settle it"
        yield f"to draw again could decide otherwise, as draws differ by ± {format_number(deviation)}{settled}"


def _rows_that_tell(reading: GateReading, value: HasLimits, limit: float) -> str:
    """About how many rows would leave the limit out of the interval.

    An interval narrows with the square root of the rows; that of a share which is 0 or 1, as far as was seen, with the
    rows: its limit is that share of others at which so many rows without any are just as unlikely.
    """
    n, apart = reading.finding.n, abs(value.estimate - limit)
    reach = value.estimate - value.low if limit < value.estimate else value.high - value.estimate
    if n is None or reading.corrected or not math.isfinite(reach):
        return ""
    if apart <= CLOSE:
        needed = math.inf
    elif value.estimate in {value.low, value.high} and reach < 1:
        needed = n * math.log1p(-reach) / math.log1p(-apart)
    else:
        needed = n * (reach / apart) ** 2
    if needed > MOST_ROWS:
        return ", and is too near for any number of rows to tell"
    return f": about {format_about(needed)} in place of {format_count(n)} would tell, if it stays where it is"
