"""The result of a plan: what it takes, or what can be seen, with where each number comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evenhand.numbers import Missing, format_count, format_number
from evenhand.results.measures import Column, Kind, format_value, measure, measures_table
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import read_only
from evenhand.statistics.planning import MOST_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNumber:
    """One line of a plan.

    Attributes:
        goal: What it is about.
        value: The half-width or the difference, in units of scores, or the power.
        rows: Rows of the data that are judged.
        rows_open: Between how many rows the pilot leaves it open, at the level of intervals; None without a pilot.
        labels: Rows that people label, drawn at random.
        calls: Calls to judges, re-asks and retries not counted.
        cost: US dollars, for calls and labels.
        method: ``exact``, ``closed form`` or ``simulated``; of several numbers the last of these.
        kind: Whether the value is a score, a difference or a share.
    """

    goal: str
    value: float | Missing = measure("number")
    rows: int | Missing = measure("count")
    rows_open: tuple[int, int] | None = None
    labels: int | Missing | None = measure("count")
    calls: float | Missing = measure("count")
    cost: float | Missing = measure("money")
    method: str
    kind: Kind = "score"


@dataclass(frozen=True)
class Plan(PrintedTables):
    """The result of :func:`plan`.

    Attributes:
        half_width: Of the interval of a score, or of a winrate: the widest of all systems.
        difference: Of two systems that are told apart as often as asked; the smallest such, where rows were given.
        power: How often the difference asked about is found with the rows given.
        corrected_half_width: Of a score corrected by labels.
        corrected_difference: Of two systems that are told apart by corrected scores.
        corrected_power: How often the difference is found with the rows and labels given.
        labels_alone: The labels that would do without a judge.
        parameters: What was asked and taken for true.
        notes: What has to be said.
        repetition: A table of what more draws come to, where something is known of that.
    """

    parameters: Mapping[str, Any]
    half_width: PlannedNumber | None = None
    difference: PlannedNumber | None = None
    power: PlannedNumber | None = None
    corrected_half_width: PlannedNumber | None = None
    corrected_difference: PlannedNumber | None = None
    corrected_power: PlannedNumber | None = None
    labels_alone: PlannedNumber | None = None
    notes: tuple[str, ...] = ()
    repetition: TextTable | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))

    @property
    def numbers(self) -> tuple[PlannedNumber, ...]:
        """Its lines."""
        found = (getattr(self, name) for name in LINES)
        return tuple(each for each in found if each is not None)

    def text_tables(self) -> tuple[TextTable, ...]:
        """What it takes, or what can be seen; and what more draws come to."""
        columns = [
            Column("value", _value),
            Column("rows", _rows),
            Column("labelled", "labels", optional=True),
            Column("calls", "calls", optional=True),
            Column("cost", "cost", optional=True),
            Column("found by", lambda each: str(each.method)),
        ]
        lines = {(each.goal,): each for each in self.numbers}
        title = "What it takes" if self.parameters["rows"] is None else "What this plan shows"
        table = measures_table(title, ("what",), lines, columns, self.notes, kind="plan")
        return (table,) if self.repetition is None else (table, self.repetition)

    def __repr__(self) -> str:
        return f"<Plan of {format_count(len(self.numbers), 'number')}>\n{self}"


LINES: Final = (
    "half_width",
    "difference",
    "power",
    "corrected_half_width",
    "corrected_difference",
    "corrected_power",
    "labels_alone",
)


def _value(number: PlannedNumber) -> str:
    if number.kind == "share":
        return format_value(number.value, "share")
    return format_number(number.value, digits=3)


def _rows(number: PlannedNumber) -> str:
    rows = format_value(number.rows, "count")
    if number.rows_open is None:
        return rows
    low, high = number.rows_open
    return f"{rows} [{format_count(low)}, {format_count(high) if high < MOST_ROWS else format_number(math.inf)}]"
