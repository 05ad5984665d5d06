r"""Planning before any call or label: the number of rows and labels required, or what a given number can show.

Rows bring scores with the standard deviation :math:`s`; the differences of two systems whose scores correlate by
:math:`c` have :math:`s\sqrt{2(1-c)}`. Of people's scores the judge explains a share :math:`R^2`; a score corrected by n
labels of N judged rows has the variance :math:`s^2((1-R^2)/n + R^2/N)` (Cochran 1977, "Sampling techniques", 5A.9).
In simulations planned half-widths and power were within 2.6 % and 3.5 points of those of the data.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import optimize, stats
from scipy.special import ndtri

from evenhand.errors import InvalidInputError
from evenhand.labels.people import Paired, paired, read_gold
from evenhand.numbers import Kind, Missing, format_count, format_number, format_percent
from evenhand.options import PlanOptions, takes
from evenhand.results.measures import format_value
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics.correction import LABELS_PER_STRATUM
from evenhand.statistics.intervals import FAR_BOUND, NEAR_BOUND, FloatArray, IntArray, cluster_sums

FEWEST_ROWS, FEWEST_LABELS = 5, 15
MOST_ROWS: Final = 100_000_000
"""A plan that needs more rows is not possible."""

MOST_STRATA: Final = 5
"""The strata assumed for scores other than yes/no: a scale of five levels."""

NOTHING_SUFFICES: Final = Missing("nothing is enough")
OF_A_PILOT: Final = ("systems", "mean", "sd", "correlation", "judge_correlation")


class PlannedNumber(NamedTuple):
    """One line of a plan: a half-width, a difference or the power, with the rows and labels that it takes."""

    goal: str
    value: float | Missing
    rows: int | Missing
    labels: int | Missing | None = None
    kind: Kind = "number"


@dataclass(frozen=True, repr=False)
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
        sd_apart=sd * math.sqrt(2 * (1 - asked.correlation)),
        people=None if asked.judge_correlation is None else (sd, asked.judge_correlation**2),
        systems=asked.systems or (1 if asked.difference is None else 2),
        yes_no=yes_no,
        note=f"Assumed: {scores}; those of two systems correlate by {asked.correlation:g}.",
    )


def _of_pilot(results: Results, asked: PlanOptions, gold: object) -> _Ground:
    """Return the assumptions from a pilot."""
    for name in asked.model_fields_set.intersection(OF_A_PILOT):
        raise InvalidInputError(f"{name} is {getattr(asked, name)!r}, and the pilot shows it: leave it out")
    labels = read_gold(results, gold, required=False)
    pairs = [each for each in paired(results, labels) if each.judge.part_of is None]
    criteria = list(dict.fromkeys(each.judge.criterion for each in pairs))
    if len(criteria) > 1:
        raise InvalidInputError(f"the pilot has several criteria: give pilot.filter(criterion={criteria[0]!r})")
    of = {row.instance: name for each in pairs for row, name in zip(each.judge.rows, each.judge.clusters, strict=True)}
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(of.values()))}
    clusters = np.array([numbers[cluster] for cluster in of.values()])
    judged = np.column_stack([_by_row(each, each.judge.scores, list(of)) for each in pairs])
    human = np.column_stack([_by_row(each, each.people.scores, list(of)) for each in pairs])
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
    asked = PlanOptions(**options)
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
    """Yield what the rows show, or the number required; a test rejects at p-values below alpha."""
    goal, rows = f"difference found with {format_percent(asked.power)} power", asked.rows
    half_width_of = partial(half_width, ground.sd, level=asked.level, per_row=ground.per_row, yes_no=ground.yes_no)

    def power_of(difference: float, rows: int) -> float:
        return power(difference, ground.sd_apart, rows, alpha, per_row=ground.per_row, yes_no=ground.yes_no)

    if rows is not None:
        yield "half_width", PlannedNumber("half-width", half_width_of(rows=rows) * ground.width, rows)
        if ground.systems > 1:
            found: float | Missing = NOTHING_SUFFICES
            if power_of(1.0, rows) > asked.power:
                found = ground.width * optimize.brentq(lambda each: power_of(each, rows) - asked.power, 0.0, 1.0)
            yield "difference", PlannedNumber(goal, found, rows)
        if asked.difference is not None:
            reached = power_of(asked.difference / ground.width, rows)
            yield "power", PlannedNumber(f"power for {asked.difference:g}", reached, rows, kind="share")
        return
    if asked.half_width is not None:
        half = asked.half_width / ground.width
        needed = fewest(lambda n: half_width_of(rows=n) <= half)
        yield "half_width", PlannedNumber("half-width", asked.half_width, needed or NOTHING_SUFFICES)
    if asked.difference is not None:
        apart = asked.difference / ground.width
        needed = fewest(lambda n: power_of(apart, n) >= asked.power)
        yield "difference", PlannedNumber(goal, asked.difference, needed or NOTHING_SUFFICES)


def _of_labels(asked: PlanOptions, ground: _Ground) -> Iterator[tuple[str, PlannedNumber]]:
    """Yield the half-width of a corrected score, or the labels and rows that it takes."""
    half, labels, rows = (asked.half_width or 0.0) / ground.width, asked.labels, asked.rows
    if ground.people is None or not (half or (rows and labels)):
        return
    half_width_of = partial(corrected_half_width, *ground.people, level=asked.level, yes_no=ground.yes_no)
    if rows is not None and labels is not None:
        half = half_width_of(labels=labels, rows=rows)
    else:
        most = rows or MOST_ROWS
        labels = labels or fewest(lambda n: half_width_of(labels=n, rows=most) <= half, most)
        if rows is None and labels is not None:
            labels = asked.labels or math.ceil(1.1 * labels)
            rows = fewest(lambda n: half_width_of(labels=labels, rows=max(n, labels)) <= half)
            rows = None if rows is None else max(rows, labels)
    needed = rows or NOTHING_SUFFICES, labels or NOTHING_SUFFICES
    yield "corrected_half_width", PlannedNumber("corrected half-width", half * ground.width, *needed)


def half_width(sd: float, rows: int, level: float, *, per_row: float = 1.0, yes_no: bool = False) -> float:
    """Return the half-width to expect of the mean of scores in [0, 1] by `mean_intervals`.

    Of yes/no scores z·sd/√n; of others, and of clusters (``per_row`` of them), Student's, with the weight that the
    interval puts at both bounds.

    >>> round(half_width(0.5, 385, 0.95, yes_no=True), 3)
    0.05
    """
    if yes_no and per_row == 1:
        return float(ndtri((1 + level) / 2)) * sd / math.sqrt(rows)
    k = per_row * rows
    t = float(stats.t.ppf((1 + level) / 2, max(k - 1, 1)))
    return t * sd * math.sqrt(k / (rows * (k + 2))) + (NEAR_BOUND - FAR_BOUND) / (2 * (k + 1))


def power(
    difference: float, sd: float, rows: int, alpha: float, *, per_row: float = 1.0, yes_no: bool = False
) -> float:
    """Return the chance that a paired test finds a difference, by Student's noncentral t.

    Of yes/no scores the test is exact: a step from one row to the next is lost of the sum.

    Args:
        difference: The true mean of the rows' differences.
        sd: The standard deviation of these differences.
        rows: The number of rows.
        alpha: The p-value that has to be reached.
        per_row: Clusters per row; 1 where no rows belong together.
        yes_no: Whether scores are yes or no.

    >>> round(power(0.1, 0.5, 199, 0.05), 2), round(power(0.1, 0.5, 218, 0.05, yes_no=True), 2)
    (0.8, 0.8)
    """
    freedom = per_row * rows - 1
    if freedom <= 0 or 0.5**freedom > alpha:  # so few signs reject nothing
        return 0.0
    critical, spread, step = float(stats.t.ppf(1 - alpha / 2, freedom)), sd * math.sqrt(rows), yes_no and per_row == 1
    return float(sum(stats.nct.sf(critical, freedom, (side * rows * difference - step) / spread) for side in (1, -1)))


def corrected_half_width(
    sd: float, explained: float, labels: int, rows: int, level: float, *, yes_no: bool = False
) -> float:
    """Return the expected half-width of a score corrected by random labels, given the share the judge explains.

    With K strata, one for yes/no, the normal quantile is √((n + K) / (n - K)) times as large, as in `post_stratified`.
    Of a judge that is right in 95 % the interval is 7 % wider than this with 60 labels.

    >>> round(corrected_half_width(0.5, 0.0, 100, 1000, 0.95, yes_no=True), 3)  # explains nothing: the labels alone
    0.099
    """
    strata = 1 if yes_no else min(MOST_STRATA, 1 + labels // LABELS_PER_STRATUM)
    z = float(ndtri((1 + level) / 2)) * math.sqrt((labels + strata) / max(labels - strata, 1))
    return z * sd * math.sqrt((1 - explained) / labels + explained / rows)


def fewest(enough: Callable[[int], bool], most: int = MOST_ROWS) -> int | None:
    """Return the fewest rows, 2 or more, that are enough; None if even the most are not."""
    high = min(2, most)
    while high < most and not enough(high):
        high = min(2 * high, most)
    return bisect_left(range(high), True, lo=high // 2 + 1, key=enough) if enough(high) else None
