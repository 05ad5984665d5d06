"""Planning before any call or label: how many rows, labels, calls and dollars, or what a given plan can see."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from evenhand.errors import InvalidInputError
from evenhand.labels.plan_ground import Ground, guessed
from evenhand.labels.plan_options import PlanOptions
from evenhand.labels.plan_pilot import of_pilot
from evenhand.labels.planned import LINES, Plan, PlannedNumber
from evenhand.numbers import Missing, format_count, format_level, format_number, format_percent
from evenhand.results.measures import Kind
from evenhand.results.render import TextTable
from evenhand.results.results import Results
from evenhand.statistics import planning
from evenhand.statistics.planning import Found, Method
from evenhand.statistics.row_distributions import Population

METHODS: Final[Mapping[str, str]] = {
    "exact": "exact: added up over all that the rows can show",
    "closed form": "closed form: the formula of the interval, or Student's noncentral t for the sign-flip test",
    "simulated": "simulated: many data sets by the simulated judge's model (in vectorised form), and the test itself",
}


def planned(options: PlanOptions, pilot: Results[Any] | None = None, gold: object = None) -> Plan:
    """The plan that the options ask for: see `evenhand.plan`.

    Raises:
        InvalidInputError: Guesses that do not go together, or a pilot that tells too little.
    """
    if pilot is not None and not isinstance(pilot, Results):
        raise InvalidInputError(
            f"pilot is a {type(pilot).__name__}; give the result of judge, winrates, checklist or aggregate_votes, or "
            "evenhand.open(path)"
        )
    if pilot is None and gold is not None:
        raise InvalidInputError("gold is for the rows of a pilot, and there is none: give pilot=results too")
    ground = guessed(options) if pilot is None else of_pilot(pilot, options, gold)
    if options.labels is not None and ground.corrected is None:
        raise InvalidInputError(
            f"labels is {options.labels!r}, and nothing says how far the judge is right: give judge_accuracy=0.85, or "
            "a pilot with labels of people for at least 15 rows"
        )
    return _Planner(options, ground).plan()


@dataclass(frozen=True)
class _Planner:
    options: PlanOptions
    ground: Ground

    def plan(self) -> Plan:
        found = {name: line for name in LINES if (line := getattr(self, f"_{name}")()) is not None}
        return Plan(
            parameters=self.options.model_dump(),
            notes=tuple(self._notes(list(found.values()))),
            repetition=self._repetition(),
            **found,
        )

    @property
    def _tests(self) -> int:
        return self.ground.criteria * math.comb(self.ground.systems, 2)

    @property
    def _alpha(self) -> float:
        return (1 - self.options.level) / self._tests

    def _inner(self, number: float | None) -> float | None:
        """A number in units of scores, of which the width is 1."""
        if number is None:
            return None
        inner = number / self.ground.unit
        if inner >= 1:
            low, high = self.ground.bounds
            raise InvalidInputError(
                f"half_width or difference is {number:g}, and scores lie between {low:g} and {high:g}: give less"
            )
        return inner

    # What the judge's own scores show

    def _half_width(self) -> PlannedNumber | None:
        wanted, rows = self._inner(self.options.half_width), self.options.rows
        if wanted is None and rows is None:
            return None
        goal = f"half-width of a {'winrate' if self.ground.winrates else 'score'}"
        if rows is not None:
            return self._line(goal, self._half_width_at(rows), rows)
        found = planning.rows_for_half_width(self._half_width_at, wanted or 0.0, self.ground.scores.clusters)
        return self._for_rows(goal, wanted or 0.0, found, self.ground.open_scores)

    def _half_width_at(self, rows: int) -> Found:
        scores, level = self.ground.scores, self.options.level
        if self.ground.winrates:
            return planning.logit_half_width(scores, rows, level, (0.0, 1.0))
        return planning.mean_half_width(scores, rows, level)

    def _difference(self) -> PlannedNumber | None:
        wanted, rows, options = self._inner(self.options.difference), self.options.rows, self.options
        if self.ground.systems < 2 or (wanted is None and rows is None):
            return None
        goal = f"difference told apart with {format_percent(options.power)} power"
        if rows is not None:
            found = planning.smallest_difference(
                self.ground.at, self.ground.most, rows, self._alpha, options.power, seed=options.seed
            )
            nothing = Found(math.nan, "closed form")
            return self._line(goal, found or nothing, rows, kind="difference")
        needed = planning.rows_for_power(self._apart(wanted or 0.0), self._alpha, options.power, seed=options.seed)
        return self._for_rows(goal, wanted or 0.0, needed, self.ground.open_differences, kind="difference")

    def _power(self) -> PlannedNumber | None:
        wanted, rows = self._inner(self.options.difference), self.options.rows
        if wanted is None or rows is None or self.ground.systems < 2:
            return None
        found = planning.power(self._apart(wanted), rows, self._alpha, seed=self.options.seed)
        return self._line(self._power_goal("a difference"), found, rows, kind="share")

    def _power_goal(self, of: str) -> str:
        return f"power for {of} of {format_number(self.options.difference)}"

    def _apart(self, difference: float) -> Population:
        if difference > self.ground.most:
            raise InvalidInputError(
                f"difference is {self.options.difference:g}, and the largest that is possible here is "
                f"{self.ground.most * self.ground.unit:.3g}: give less, or another mean"
            )
        return self.ground.at(difference)

    # What scores corrected by labels show

    def _corrected_half_width(self) -> PlannedNumber | None:
        corrected, level, wanted = self.ground.corrected, self.options.level, self._inner(self.options.half_width)
        if corrected is None or (wanted is None and (self.options.rows is None or self.options.labels is None)):
            return None
        return self._corrected(
            _CORRECTED,
            wanted,
            lambda labels, rows: corrected.half_width(labels, rows, level),
            lambda labels, rows: corrected.half_width(labels, rows, level) <= (wanted or 0.0),
        )

    def _corrected_difference(self) -> PlannedNumber | None:
        at, options, wanted = self.ground.corrected_at, self.options, self._inner(self.options.difference)
        if at is None or (wanted is None and (options.rows is None or options.labels is None)):
            return None

        def smallest(labels: int, rows: int) -> float:
            found = planning.least_difference(
                lambda each: at(each).power(labels, rows, self._alpha) - options.power, self.ground.most
            )
            return math.nan if found is None else found

        score = at(wanted or 0.0)
        return self._corrected(
            f"corrected difference told apart with {format_percent(options.power)} power",
            wanted,
            smallest,
            lambda labels, rows: score.power(labels, rows, self._alpha) >= options.power,
            kind="difference",
        )

    def _corrected_power(self) -> PlannedNumber | None:
        options, wanted = self.options, self._inner(self.options.difference)
        if self.ground.corrected_at is None or wanted is None or options.rows is None or options.labels is None:
            return None
        score = self.ground.corrected_at(wanted)
        found = Found(score.power(options.labels, options.rows, self._alpha), "closed form")
        goal = self._power_goal("a corrected difference")
        return self._line(goal, found, options.rows, options.labels, kind="share")

    def _corrected(
        self,
        goal: str,
        wanted: float | None,
        reached: Callable[[int, int], float],
        enough: Callable[[int, int], bool],
        kind: Kind = "score",
    ) -> PlannedNumber:
        """The line of what labels and rows show, or of how many are enough."""
        rows, labels = self.options.rows, self.options.labels
        if rows is not None and labels is not None:
            return self._line(goal, Found(reached(labels, rows), "closed form"), rows, labels, kind=kind)
        value = Found(wanted or 0.0, "closed form")
        if rows is not None:
            needed = planning.fewest_labels(enough, rows)
            short = Missing(f"labels of all {format_count(rows)} rows are not enough")
            return self._line(goal, value, rows, short if needed is None else needed, kind=kind)
        if labels is not None:
            judged = planning.fewest_rows(enough, labels)
            short = Missing(f"with {format_count(labels, 'label')} no number of rows is enough")
            return self._line(goal, value, short if judged is None else judged, labels, kind=kind)
        row_price = None if self.ground.price is None else self.ground.price * self.ground.calls_per_row
        both = planning.labels_and_rows(enough, row_price=row_price, label_price=self._label_price)
        if both is None:
            return self._line(goal, value, _TOO_MANY, _TOO_MANY, kind=kind)
        return self._line(goal, value, both[1], both[0], kind=kind)

    def _labels_alone(self) -> PlannedNumber | None:
        corrected, wanted = self.ground.corrected, self._inner(self.options.half_width)
        if corrected is None or wanted is None:
            return None
        level = self.options.level
        alone = replace(corrected, told=corrected.told.joined(np.zeros(len(corrected.told.shares), dtype=int)))
        labels = planning.fewest_labels(lambda n, rows: alone.half_width(n, rows, level) <= wanted, None)
        known = _TOO_MANY if labels is None else labels
        return self._line(_ALONE, Found(wanted, "closed form"), known, known, calls=0)

    # Lines

    def _for_rows(
        self, goal: str, wanted: float, found: Found | None, doubt: tuple[float, float] | None, kind: Kind = "score"
    ) -> PlannedNumber:
        if found is None:
            return self._line(goal, Found(wanted, "closed form"), _TOO_MANY, kind=kind)
        rows = int(found.value)
        between = None
        if doubt is not None:
            low, high = (min(share * rows, planning.MOST_ROWS) for share in doubt)
            between = math.floor(low), math.ceil(high)
        return self._line(goal, Found(wanted, found.method), rows, kind=kind, rows_open=between)

    def _line(
        self,
        goal: str,
        found: Found,
        rows: int | Missing,
        labels: int | Missing | None = None,
        *,
        kind: Kind = "score",
        calls: float | None = None,
        rows_open: tuple[int, int] | None = None,
    ) -> PlannedNumber:
        ground, value = self.ground, found.value * (1.0 if kind == "share" else self.ground.unit)
        method: Method = "simulated" if ground.simulated else found.method
        asked = ground.calls_per_row if calls is None else calls
        made: float | Missing = rows if isinstance(rows, Missing) else math.ceil(asked * rows)
        return PlannedNumber(
            goal=goal,
            value=Missing("so few rows find no difference at all") if math.isnan(value) else value,
            rows=rows,
            rows_open=rows_open,
            labels=labels,
            calls=Missing("the pilot's votes were recorded") if calls is None and not asked else made,
            cost=self._cost(made, labels),
            method=method,
            kind=kind,
        )

    def _cost(self, calls: float | Missing, labels: int | Missing | None) -> float | Missing:
        if isinstance(calls, Missing) or isinstance(labels, Missing):
            return Missing("not possible")
        if calls and self.ground.price is None:
            return Missing("no price of a call is known")
        if labels and self._label_price is None:
            return Missing("no price of a label is known")
        return calls * (self.ground.price or 0.0) + (labels or 0) * (self._label_price or 0.0)

    @property
    def _label_price(self) -> float | None:
        """US dollars for labelling a row: the response of each system, or of two that meet the one that is better."""
        each = math.comb(self.ground.systems, 2) if self.ground.winrates else self.ground.systems
        return None if self.options.label_price is None else each * self.options.label_price

    # Words

    def _repetition(self) -> TextTable | None:
        drawn = self.ground.drawn
        if len(drawn) < 2:
            return None
        rows = tuple(
            (format_count(each.samples), *(_narrower(share) for share in (each.scores, each.differences)))
            for each in drawn
        )
        last = drawn[-1]
        as_rows = 1 / last.differences - 1 if last.differences > 0 else math.inf
        said = (
            f"{format_count(last.samples)} draws make {format_count(last.samples)} times the calls, and narrow the "
            f"interval of a difference by {_narrower(last.differences)}"
        )
        if last.differences > _LITTLE_NARROWER:
            note = f"One draw is enough: {said}."
        elif as_rows < last.samples - 1:
            note = (
                f"{said}, as {format_percent(as_rows)} more rows would: more draws only where there are no more rows."
            )
        else:
            note = f"{said}, more than the same calls would with more rows."
        headers = ("draws of each prompt", "intervals of scores narrower by", "of differences")
        return TextTable("What more draws come to", headers, rows, (note,), "draws")

    def _said_of_both(self, lines: Sequence[PlannedNumber]) -> str:
        """How labels and rows were chosen, where neither was given."""
        if self.ground.price is None or self.options.label_price is None:
            return (
                "Beside these rows no more than a tenth more labels are needed than beside any number; with prices of "
                "calls and labels, the cheapest of both is planned."
            )
        costs = {each.goal: each.cost for each in lines if not isinstance(each.cost, Missing)}
        if costs.get(_ALONE, math.inf) < costs.get(_CORRECTED, 0.0):
            return "Of all that a judge and labels can do together this is the cheapest, and labels alone cost less."
        return "Labels and rows together are the cheapest that are enough."

    def _notes(self, lines: Sequence[PlannedNumber]) -> Iterator[str]:
        options, ground = self.options, self.ground
        yield from ground.notes
        if any(each.rows_open for each in lines):
            yield (
                f"In brackets: what the pilot leaves open (at {format_level(options.level)}, roughly), since it shows "
                "the spread of few rows only. The upper number is the safe one."
            )
        if ground.corrected is None:
            yield (
                "These are intervals and tests of the judge. What people would say is another matter, which labels "
                "tell: plan them with judge_accuracy=0.85, or with a pilot that people have labelled."
            )
        if self._tests > 1 and any(each.kind != "score" for each in lines):
            yield (
                f"{format_count(self._tests)} comparisons share the level by Holm's correction: each is planned for a "
                f"p-value below {1 - options.level:.2g} / {self._tests}, which is always enough."
            )
        if self.ground.winrates and options.difference is not None:
            high = 0.5 + options.difference / 2
            yield (
                f"Winrates that are {format_number(options.difference)} apart are {format_percent(high)} against "
                f"{format_percent(1 - high)} where two systems meet."
            )
        if any(each.labels is not None for each in lines):
            yield (
                "Labelled rows are drawn at random, and the response of each system is labelled in them (where two "
                "meet, which is better). Of the other rows the judge alone speaks."
            )
            if options.rows is None and options.labels is None:
                yield self._said_of_both(lines)
        shown = (value for each in lines for value in (each.value, each.rows, each.labels))
        yield from dict.fromkeys(f"–: {value.reason}." for value in shown if isinstance(value, Missing))
        yield "; ".join(METHODS[name] for name in METHODS if name in {each.method for each in lines}) + "."


_LITTLE_NARROWER: Final = 0.9
"""The variance, as a share, above which more draws are not worth a word."""

_CORRECTED: Final = "half-width of a corrected score"
_ALONE: Final = "half-width by labels alone"

_TOO_MANY: Final = Missing(f"more than {format_count(planning.MOST_ROWS)} rows would be needed")


def _narrower(share: float) -> str:
    return format_percent(max(0.0, 1 - math.sqrt(share)))
