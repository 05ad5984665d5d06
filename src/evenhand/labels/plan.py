"""Planning before any call or label: the number of rows and labels required, or what a given number can show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import combinations
from typing import Any, Final, NamedTuple, Self

import numpy as np
from pydantic import model_validator
from scipy import optimize, stats

from evenhand.errors import InvalidInputError
from evenhand.labels.people import Labels, Paired, holds_labels, paired, read_gold
from evenhand.numbers import Missing, format_count, format_number, format_percent
from evenhand.options import Options, option, takes
from evenhand.results.measures import Kind, format_value
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import planning as closed
from evenhand.statistics.intervals import FloatArray, IntArray, cluster_sums

FEWEST_ROWS, FEWEST_LABELS = 5, 15
OF_A_PILOT: Final = ("systems", "draws", "mean", "sd", "correlation", "judge_correlation")
_POSITIVE: Final[dict[str, Any]] = {"accepted": "a number above 0", "gt": 0, "allow_inf_nan": False}
_SD: Final[dict[str, Any]] = {"accepted": "a number above 0 and at most 0.5", "gt": 0, "le": 0.5}
_SHARE: Final[dict[str, Any]] = {"accepted": "a number above 0 and below 1", "gt": 0, "lt": 1}


class PlanOptions(Options):
    """What a plan is for, and what is assumed where there is no pilot."""

    half_width: float | None = option(None, "The half-width that the interval of a score shall have.", **_POSITIVE)
    difference: float | None = option(None, "How far apart two systems are that the test shall find.", **_POSITIVE)
    rows: int | None = option(None, "Say what this number of judged rows shows, instead of planning it.", ge=2)
    labels: int | None = option(None, "Rows, drawn at random, that people label; planned by default.", ge=2)
    systems: int | None = option(None, "How many are compared; 2 where a difference is asked for, else 1.", ge=1)
    draws: int = option(1, "Draws of each prompt; those of yes/no scores narrow nothing.", ge=1)
    mean: float = option(0.5, "Of yes/no scores; 0.5 takes the most rows.", **_SHARE)
    sd: float | None = option(None, "Standard deviation of scores from 0 to 1; without it they are yes/no.", **_SD)
    correlation: float = option(0.5, "Of the scores of two systems on the same rows.", ge=-1, lt=1)
    judge_correlation: float | None = option(None, "Of the judge's scores with people's: plans labels.", **_SHARE)
    power: float = option(0.8, "How often the test shall find the difference.", **_SHARE)
    level: float = option(0.95, "Of intervals; tests reject at p-values below 1 less this.", ge=0.5, lt=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.half_width is None and self.difference is None and self.rows is None:
            raise InvalidInputError("nothing is asked: give half_width=0.05, difference=0.05, or rows=300")
        if self.labels is not None and self.labels > (self.rows or (self.half_width and math.inf) or 0):
            raise InvalidInputError(f"labels is {self.labels!r}; give half_width too, or that number of rows or more")
        if self.sd is not None and "mean" in self.model_fields_set:
            raise InvalidInputError("mean is of yes/no scores, and sd of others: give one of them")
        return self


class PlannedNumber(NamedTuple):
    """One line of a plan: a half-width, a difference or the power, with the rows and labels that it takes."""

    goal: str
    value: float | Missing
    rows: int | Missing
    labels: int | Missing | None = None
    kind: Kind = "number"


@dataclass(frozen=True)
class Plan(PrintedTables):
    """The result of :func:`plan`.

    Attributes:
        lines: ``half_width``, ``difference``, ``power`` and ``corrected_half_width``, as far as they are asked for.
        notes: What they rest on.
    """

    lines: Mapping[str, PlannedNumber]
    notes: tuple[str, ...]

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the lines as a table, with the notes."""
        rows = []
        for goal, of, judged, labels, kind in self.lines.values():
            value = format_value(of, kind) if kind == "share" else format_number(of, digits=3)
            rows.append((goal, value, format_value(judged, "count"), format_value(labels, "count")))
        return (TextTable("Plan", ("what", "value", "rows", "labelled"), tuple(rows), self.notes, "plan"),)


@dataclass(frozen=True, kw_only=True)
class _Ground:
    """The basis of a plan; scores lie from 0 to 1.

    Attributes:
        sd: Standard deviation of the judge's scores; of clustered rows times the root of the design effect.
        sd_apart: That of the differences of two systems.
        people: That of people's scores, and the share of these that the judge explains; None if unknown.
        systems: The number of systems.
        yes_no: Whether all scores are yes or no.
        per_row: Clusters per row.
        width: The width of the range of scores, in their own units.
        note: Where this comes from.
    """

    sd: float
    sd_apart: float
    people: tuple[float, float] | None
    systems: int
    yes_no: bool
    per_row: float = 1.0
    width: float = 1.0
    note: str


def _assumed(asked: PlanOptions) -> _Ground:
    """Return the assumptions that the options give."""
    yes_no, sd = asked.sd is None, asked.sd or math.sqrt(asked.mean * (1 - asked.mean))
    scores = f"yes/no scores with a mean of {asked.mean:g}" if yes_no else f"scores with a standard deviation of {sd:g}"
    return _Ground(
        sd=sd,
        sd_apart=closed.sd_of_differences(sd, asked.correlation, 1 if yes_no else asked.draws),  # yes/no: as one draw
        people=None if asked.judge_correlation is None else (sd, asked.judge_correlation**2),
        systems=asked.systems or (1 if asked.difference is None else 2),
        yes_no=yes_no,
        note=f"Assumed: {scores}; those of two systems correlate by {asked.correlation:g}.",
    )


def _of_pilot(results: Results, asked: PlanOptions, gold: object) -> _Ground:
    """Return the assumptions from a pilot."""
    for name in asked.model_fields_set.intersection(OF_A_PILOT):
        raise InvalidInputError(f"{name} is {getattr(asked, name)!r}, and the pilot shows it: leave it out")
    labels = read_gold(results, gold) if gold is not None or holds_labels(results) else Labels(())
    pairs = [each for each in paired(results, labels) if each.judge.part_of is None]
    criteria = list(dict.fromkeys(each.judge.criterion for each in pairs))
    if len(criteria) > 1:
        raise InvalidInputError(f"the pilot has several criteria: give pilot.filter(criterion={criteria[0]!r})")
    of = {row.instance: name for each in pairs for row, name in zip(each.judge.rows, each.judge.clusters, strict=True)}
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(of.values()))}
    clusters = np.array([numbers[cluster] for cluster in of.values()])
    judged = np.column_stack([_by_row(each, each.judge.scores, list(of)) for each in pairs])
    human = np.column_stack([_by_row(each, each.human, list(of)) for each in pairs])
    sds = [_sd(column, clusters) for column in judged.T]
    apart = [_sd(judged[:, one] - judged[:, two], clusters) for one, two in combinations(range(len(pairs)), 2)]
    if not max(sds) > 0 or (apart and not max(apart) > 0):
        raise InvalidInputError(
            f"the pilot does not show how scores vary: it needs {FEWEST_ROWS} rows that do not all have the same "
            "score, and on which systems differ; judge more rows, or plan without a pilot"
        )
    rows, count, (low, high) = len(judged), len(numbers), pairs[0].judge.bounds
    least, most = (count - 1) / stats.chi2.ppf([(1 + asked.level) / 2, (1 - asked.level) / 2], count - 1)
    return _Ground(
        sd=max(sds),
        sd_apart=float(np.sqrt(np.mean(np.square(apart)))) if apart else 0.0,
        people=_labelled(judged, human, clusters),
        systems=len(pairs),
        yes_no=bool(np.isin(judged[~np.isnan(judged)], (0.0, 1.0)).all()),
        per_row=count / rows,
        width=high - low,
        note=f"From a pilot of {format_count(rows, 'row')} and {format_count(len(pairs), 'system')}, which leaves the "
        f"rows that are needed open by a factor of {least:.2g} to {most:.2g}.",
    )


def _by_row(pair: Paired, values: FloatArray, instances: Sequence[int]) -> FloatArray:
    """Return scores from 0 to 1, shape (n instances); the mean if a row has several contests."""
    (low, high), places = pair.judge.bounds, {instance: place for place, instance in enumerate(instances)}
    at = np.array([places[row.instance] for row in pair.judge.rows])[~np.isnan(values)]
    counts = np.bincount(at, minlength=len(places))
    sums = np.bincount(at, (values[~np.isnan(values)] - low) / (high - low), len(places))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _sd(values: FloatArray, clusters: IntArray) -> float:
    """Return the standard error of the mean, over clusters, times the root of the rows; 0 of too few."""
    known = ~np.isnan(values)
    if known.sum() < FEWEST_ROWS:
        return 0.0
    sums = cluster_sums(values[known] - values[known].mean(), np.unique(clusters[known], return_inverse=True)[1])
    return float(np.sqrt((sums**2).sum() / known.sum() * len(sums) / max(len(sums) - 1, 1)))


def _labelled(judged: FloatArray, human: FloatArray, clusters: IntArray) -> tuple[float, float] | None:
    """Return the deviation of people's scores and the share that the judge explains; None for few labels."""
    known, sd = ~np.isnan(judged) & ~np.isnan(human), max(_sd(column, clusters) for column in human.T)
    n = int(known.sum())
    if n < FEWEST_LABELS or not sd > 0:
        return None
    together = float(np.corrcoef(judged[known], human[known])[0, 1])  # scores of the judge differ, or there is no plan
    return sd, max(0.0, 1 - (1 - together**2) * (n - 1) / (n - 2))


@takes(PlanOptions)
def plan(pilot: Results | None = None, *, gold: object = None, **options: Any) -> Plan:  # noqa: ANN401 - declared
    """Plan the number of rows and labels before any call or label, or say what a given number can show.

    ``half_width`` asks for the rows with which the interval of a score is that narrow; ``difference`` for those with
    which a paired test finds that difference as often as ``power`` says, with Holm's correction over all pairs of
    systems; ``rows`` for what that number shows. With ``judge_correlation``, or a pilot that people labelled, the
    half-width of scores corrected by labels is planned too, where neither rows nor labels are given with a tenth more
    labels than with endless rows. What a run costs is what its ``dry_run=True`` says.

    Args:
        pilot: The result of judging some rows on one criterion: it shows how scores, differences and clusters vary.
            Without one, plan winrates with ``correlation=-1``: what one system wins the other loses.
        gold: Labels of people for the rows of the pilot; those that it holds by default.
        **options: See :class:`PlanOptions`.

    Raises:
        InvalidInputError: Nothing is asked, options that do not go together, or a pilot that is too small.

    >>> plan(half_width=0.05).lines["half_width"].rows
    385
    """
    asked = PlanOptions.of_call(options, signature(plan).parameters)
    if pilot is not None and not isinstance(pilot, Results):
        raise InvalidInputError(f"pilot is a {type(pilot).__name__}; give a result, or evenhand.open(path)")
    if pilot is None and gold is not None:
        raise InvalidInputError("gold is for the rows of a pilot, and there is none: give pilot=results too")
    ground = _assumed(asked) if pilot is None else _of_pilot(pilot, asked, gold)
    if asked.labels is not None and ground.people is None:
        raise InvalidInputError(
            f"labels is {asked.labels!r}, and nothing says how far the judge agrees with people: give "
            f"judge_correlation=0.7, or a pilot with labels of people for at least {FEWEST_LABELS} rows"
        )
    if asked.difference is not None and ground.systems < 2:
        raise InvalidInputError(f"difference is {asked.difference!r}, and there is one system: give at least 2")
    for name in ("half_width", "difference"):
        if (getattr(asked, name) or 0.0) >= ground.width:
            raise InvalidInputError(f"{name} is {getattr(asked, name)!r}; give less than the range, {ground.width:g}")
    pairs = math.comb(ground.systems, 2)
    lines = {**dict(_of_judge(asked, ground, (1 - asked.level) / max(pairs, 1))), **dict(_of_labels(asked, ground))}
    judge = "These are intervals and tests of the judge. What people would say takes labels of some rows."
    holm = f"The {pairs} pairs of systems share the level by Holm's correction."
    notes = [ground.note, *[holm] * (pairs > 1), *[judge] * (ground.people is None)]
    missing = (value for each in lines.values() for value in each if isinstance(value, Missing))
    return Plan(lines, (*notes, *dict.fromkeys(f"–: {each.reason}." for each in missing)))


def _of_judge(asked: PlanOptions, ground: _Ground, alpha: float) -> Iterator[tuple[str, PlannedNumber]]:
    """Return what the rows show, or the number required; a test rejects at p-values below alpha."""
    half, apart = (None if each is None else each / ground.width for each in (asked.half_width, asked.difference))
    goal, rows = f"difference found with {format_percent(asked.power)} power", asked.rows

    def half_width(rows: int) -> float:
        return closed.half_width(ground.sd, rows, asked.level, per_row=ground.per_row, yes_no=ground.yes_no)

    def power(difference: float, rows: int) -> float:
        return closed.power(difference, ground.sd_apart, rows, alpha, per_row=ground.per_row, yes_no=ground.yes_no)

    if rows is not None:
        yield "half_width", PlannedNumber("half-width", half_width(rows) * ground.width, rows)
        if ground.systems > 1:
            most = power(1.0, rows) > asked.power
            found = optimize.brentq(lambda each: power(each, rows) - asked.power, 0.0, 1.0) if most else None
            yield "difference", PlannedNumber(goal, _NONE if found is None else found * ground.width, rows)
        if apart is not None:
            yield "power", PlannedNumber(f"power for {asked.difference:g}", power(apart, rows), rows, kind="share")
        return
    if half is not None:
        needed = closed.fewest(lambda n: half_width(n) <= half)
        yield "half_width", PlannedNumber("half-width", asked.half_width or 0.0, needed or _NONE)
    if apart is not None:
        needed = closed.fewest(lambda n: power(apart, n) >= asked.power)
        yield "difference", PlannedNumber(goal, asked.difference or 0.0, needed or _NONE)


def _of_labels(asked: PlanOptions, ground: _Ground) -> Iterator[tuple[str, PlannedNumber]]:
    """Yield the half-width of a corrected score, or the labels and rows that it takes."""
    half, labels, rows = (asked.half_width or 0.0) / ground.width, asked.labels, asked.rows
    if ground.people is None or not (half or (rows and labels)):
        return
    sd, explained = ground.people

    def half_width(labels: int, rows: int) -> float:
        return closed.corrected_half_width(sd, explained, labels, max(rows, labels), asked.level, yes_no=ground.yes_no)

    if rows is not None and labels is not None:
        half = half_width(labels, rows)
    else:
        most = rows or closed.MOST_ROWS
        labels = labels or closed.fewest(lambda n: half_width(n, most) <= half, most)
        if rows is None and labels is not None:
            labels = asked.labels or math.ceil(1.1 * labels)
            rows = closed.fewest(lambda n: half_width(labels, n) <= half)
            rows = None if rows is None else max(rows, labels)
    found = PlannedNumber("corrected half-width", half * ground.width, rows or _NONE, labels or _NONE)
    yield "corrected_half_width", found


_NONE: Final = Missing("nothing is enough")
