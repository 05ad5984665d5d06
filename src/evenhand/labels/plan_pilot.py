"""What the results of a pilot tell a plan: how scores spread, and how differences, clusters, draws and prices do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy import stats

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.labels.people import paired, read_gold
from evenhand.labels.plan_ground import DrawEffect, Ground
from evenhand.labels.plan_options import OF_A_PILOT, PlanOptions
from evenhand.numbers import format_count, format_number, format_percent
from evenhand.results.outcomes import Outcomes
from evenhand.results.results import Results
from evenhand.statistics.intervals import cluster_sums, ratio_intervals
from evenhand.statistics.planning import CorrectedScore
from evenhand.statistics.resampling import FloatArray, IntArray
from evenhand.statistics.row_distributions import Clusters, Distribution, Population, Told, equal_differences
from evenhand.votes import total_usage

FEWEST_ROWS = 5
"""A pilot of fewer rows tells nothing of a spread."""

FEWEST_LABELS = 15

_MOST_VALUES = 200
_MOST_ICC = 0.95


def of_pilot(results: Results[Any], options: PlanOptions, gold: object = None) -> Ground:
    """What a pilot says.

    Args:
        results: Its results.
        options: What is asked, and what it does not tell.
        gold: Labels of people, as `evenhand.labels.people.read_gold` takes them; those that the results hold, if None.

    Raises:
        InvalidInputError: Options that the pilot tells, no such criterion, or a pilot that tells too little.
    """
    for name in OF_A_PILOT:
        if name in options.model_fields_set:
            raise InvalidInputError(f"{name} is {getattr(options, name)!r}, and the pilot tells it: leave it out")
    top, bounds = _chosen(results, options)
    rows = _Rows.of(top, bounds)
    spread = rows.widest()
    pairs = rows.pairs()
    calls, price = _spent(results, options, rows)
    notes = [f"{rows.told(top[0].criterion)}, {format_number(calls, digits=1)} calls a row."]
    if pairs is None:
        notes.append(f"The pilot has one system; two are taken to correlate by {options.correlation:g} over rows.")
    at, most = _apart(spread, pairs, options)
    corrections = _corrections(results, top[0].criterion, rows, gold)
    return Ground(
        scores=spread.population(),
        at=at,
        most=most,
        bounds=bounds,
        calls_per_row=calls,
        price=price,
        open_scores=spread.open(options.level),
        open_differences=None if pairs is None else pairs.open(options.level),
        drawn=_drawn(results, options),
        systems=max(2, len(rows.systems)),
        criteria=len({each.criterion for each in results.outcomes() if each.part_of is None}),
        winrates=results.kind == "winrates",
        notes=(*notes, *_said_of_orders(results)),
        **corrections,
    )


def _chosen(results: Results[Any], options: PlanOptions) -> tuple[list[Outcomes], tuple[float, float]]:
    """The outcomes of the criterion to plan for, and the bounds of its scores."""
    own = [each for each in results.outcomes() if each.part_of is None]
    names = list(dict.fromkeys(each.criterion for each in own))
    if options.criterion is not None and options.criterion not in names:
        raise InvalidInputError(f"criterion is {options.criterion!r}. {did_you_mean(options.criterion, names)}")
    chosen = [each for each in own if each.criterion == (options.criterion or names[0])]
    scores = [each.scores[~np.isnan(each.scores)] for each in chosen]
    if not any(each.size for each in scores):
        raise InvalidInputError(f"the pilot has no score of {chosen[0].criterion!r}: its options need values to plan")
    low = min(chosen[0].bounds[0], *(float(each.min(initial=np.inf)) for each in scores))
    return chosen, (low, max(chosen[0].bounds[1], *(float(each.max(initial=-np.inf)) for each in scores)))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Scores between 0 and 1, one a row of the data: of several contests on a row their mean.

    Attributes:
        systems: Names.
        scores: (n_rows, n_systems), NaN where there is none.
        labels: (n_rows,), clusters.
        instances: The rows of the data.
    """

    systems: tuple[str, ...]
    scores: FloatArray
    labels: IntArray
    instances: tuple[int, ...]

    @classmethod
    def of(
        cls, outcomes: Sequence[Outcomes], bounds: tuple[float, float], scores: Sequence[FloatArray] | None = None
    ) -> Self:
        """Those of outcomes, or other scores (such as those that people give) of the same rows."""
        clusters = {
            row.instance: place for each in outcomes for row, place in zip(each.rows, each.clusters, strict=True)
        }
        instances = {instance: number for number, instance in enumerate(sorted(clusters))}
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters.values()))}
        sums, counts = (np.zeros((len(instances), len(outcomes))) for _ in range(2))
        given = [each.scores for each in outcomes] if scores is None else scores
        for system, (each, values) in enumerate(zip(outcomes, given, strict=True)):
            for row, value in zip(each.rows, values.tolist(), strict=True):
                if not math.isnan(value):
                    sums[instances[row.instance], system] += (value - bounds[0]) / (bounds[1] - bounds[0])
                    counts[instances[row.instance], system] += 1
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        labels = np.array([numbers[clusters[instance]] for instance in instances])
        return cls(tuple(each.system for each in outcomes), means, labels, tuple(instances))

    def widest(self) -> _Spread:
        """The scores of the system whose mean is known least."""
        found = [
            _Spread(column[kept] - column[kept].mean(), self.labels[kept], Distribution.of(column[kept]))
            for column in self.scores.T
            if (kept := ~np.isnan(column)).sum() >= FEWEST_ROWS
        ]
        if not found:
            raise InvalidInputError(
                f"the pilot has {format_count(len(self.scores), 'row')}; at least {FEWEST_ROWS} with a score tell how "
                "scores spread: judge more, or plan without a pilot"
            )
        spread = max(found, key=lambda each: each.values.variance * each.clusters.effect)
        if spread.values.variance <= 0:
            raise InvalidInputError(
                "every score of the pilot is the same, which tells nothing of how scores spread: judge more rows, or "
                "plan without a pilot, with mean and sd"
            )
        return spread

    def pairs(self) -> _Spread | None:
        """The differences of every two systems, all together, as likely the one sign as the other; None of one."""
        if len(self.systems) < 2:
            return None
        places = list(combinations(range(len(self.systems)), 2))
        table = np.column_stack([self.scores[:, i] - self.scores[:, j] for i, j in places])
        kept = ~np.isnan(table)
        if kept.sum() < FEWEST_ROWS or not np.nansum(table**2) > 0:
            raise InvalidInputError(
                "the pilot's systems differ on no row, which tells nothing of how differences spread: judge more rows, "
                "or plan without a pilot"
            )
        labels = (self.labels[:, None] * len(places) + np.arange(len(places)))[kept]
        named, labels = np.unique(labels, return_inverse=True)
        return _Spread(table[kept], labels, Distribution.of(table[kept]).symmetric(), named // len(places))

    def told(self, criterion: str) -> str:
        """How large the pilot is."""
        clusters = len(set(self.labels.tolist()))
        rows = format_count(len(self.scores), "row")
        grouped = f" in {format_count(clusters, 'cluster')}" if clusters < len(self.scores) else ""
        return f"From a pilot of {rows}{grouped} and {format_count(len(self.systems), 'system')}: {criterion}"


@dataclass(frozen=True, eq=False)
class _Spread:
    """How what rows bring spreads, and goes together.

    Attributes:
        apart: (n,), how far each lies from what is expected.
        labels: (n,), clusters; those of two pairs of systems differ.
        values: As a distribution.
        owners: (n clusters,), which of them are the same for all pairs; by default none.
    """

    apart: FloatArray
    labels: IntArray
    values: Distribution
    owners: IntArray | None = None

    @property
    def clusters(self) -> Clusters:
        """With the intraclass correlation by moments: products within clusters, by those of rows with themselves."""
        sizes = np.bincount(self.labels).astype(float)
        sizes = sizes[sizes > 0]
        twos = float((sizes * (sizes - 1)).sum())
        if not twos:
            return Clusters()
        squares = float((self.apart**2).sum())
        products = float((cluster_sums(self.apart, self.labels) ** 2).sum()) - squares
        alike = products / twos / (squares / len(self.apart)) if squares else 1.0  # equal scores do not tell
        icc = min(_MOST_ICC, max(0.0, alike))
        return Clusters(len(self.apart) / len(sizes), icc, float((sizes**2).sum() / sizes.sum()))

    def population(self) -> Population:
        """What rows are drawn from."""
        return Population(self.values, self.clusters)

    def open(self, level: float) -> tuple[float, float]:
        """The limits of the variance of a mean, as shares of its estimate; with clusters Student's on the log scale."""
        squares, sizes = cluster_sums(self.apart, self.labels) ** 2, np.bincount(self.labels).astype(float)
        owners = np.arange(len(sizes)) if self.owners is None else np.unique(self.owners, return_inverse=True)[1]
        together = cluster_sums(squares, owners), cluster_sums(sizes, owners)
        alone = bool(sizes.max() == 1)
        (found,) = ratio_intervals(*together, level=level, bounds=(0.0, 1.0) if alone else None)
        if found is None or not found.estimate > 0 or found.standard_error is None:
            return 0.0, math.inf
        if alone:
            return found.low / found.estimate, found.high / found.estimate
        far = float(stats.t.ppf((1 + level) / 2, found.n - 1)) * found.standard_error / found.estimate
        return math.exp(-far), math.exp(far)


def _apart(spread: _Spread, pairs: _Spread | None, options: PlanOptions) -> tuple[Callable[[float], Population], float]:
    """True difference -> differences, and the largest one."""
    if pairs is not None:
        population = pairs.population()
    else:
        one = spread.values
        if len(one.values) > _MOST_VALUES:
            one = Distribution.of(one.values.round(2), one.chances)
        population = Population(equal_differences(one, options.correlation), spread.clusters)
    return population.tilted, 0.99 * float(population.values.values[-1])


def _corrections(results: Results[Any], criterion: str, rows: _Rows, gold: object) -> dict[str, Any]:
    """What the labels of the pilot tell of how far the judge is right."""
    held = (cell.about.get("gold", cell.about.get("reference")) for cell in results.cells())
    if gold is None and all(each is None for each in held):
        return {}
    beside = [
        each
        for each in paired(results, read_gold(results, gold))
        if each.judge.part_of is None and each.judge.criterion == criterion
    ]
    outcomes = [each.judge for each in beside]
    human = _Rows.of(outcomes, outcomes[0].bounds, [each.human for each in beside]).scores
    said = np.where(np.isnan(rows.scores), -1.0, rows.scores)  # what is unscored is a stratum of its own
    clusters = rows.widest().clusters
    two = len(outcomes[0].labels) == 2
    told = [
        Told.of(human[kept, system], said[kept, system])
        for system in range(human.shape[1])
        if (kept := ~np.isnan(human[:, system])).sum() >= FEWEST_LABELS and np.ptp(human[kept, system]) > 0
    ]
    if not told:
        return {}
    widest = max(told, key=lambda each: each.within)
    found: dict[str, Any] = {"corrected": CorrectedScore(widest, clusters, two_values=two)}
    apart, seen = [], []
    for first, second in combinations(range(human.shape[1]), 2):
        difference = human[:, first] - human[:, second]
        kept = ~np.isnan(difference)
        apart.append(difference[kept])
        seen.append((said[:, first] - said[:, second])[kept])
    if apart and sum(each.size for each in apart) >= FEWEST_LABELS:
        both = CorrectedScore(Told.of(np.concatenate(apart), np.concatenate(seen)), clusters, (-1.0, 1.0), two)
        if both.told.within > 0:  # else people saw no difference, as where both systems have one label
            found["corrected_at"] = lambda difference: replace(both, told=both.told.moved(difference))
    return found


def _drawn(results: Results[Any], options: PlanOptions) -> tuple[DrawEffect, ...]:
    """What fewer draws of the pilot's come to: its own votes, reduced anew without the others."""
    cells = list(results.cells())
    most = 1 + max((vote.sample for cell in cells for vote in cell.votes), default=0)
    header = {**results.judged(), "parameters": results.parameters}
    found: list[DrawEffect] = []
    once: tuple[float, float] | None = None
    for samples in sorted({1, 3, most} & set(range(1, most + 1))) if most > 1 else ():
        fewer = type(results).of_cells(
            header,
            (cell._replace(votes=tuple(vote for vote in cell.votes if vote.sample < samples)) for cell in cells),
        )
        rows = _Rows.of(*_chosen(fewer, options))
        variances = float(np.nanmax(np.nanvar(rows.scores, axis=0))), _mean_square(rows)
        once = once or variances
        found.append(
            DrawEffect(samples, *(now / first if first else 1.0 for now, first in zip(variances, once, strict=True)))
        )
    return tuple(found)


def _mean_square(rows: _Rows) -> float:
    """Of the differences of all pairs; that of scores where there is one system."""
    pairs = rows.pairs() if len(rows.systems) > 1 else rows.widest()
    return 0.0 if pairs is None else float((pairs.apart**2).mean())


def _spent(results: Results[Any], options: PlanOptions, rows: _Rows) -> tuple[float, float | None]:
    """Calls for a row, and US dollars a call."""
    used = total_usage(vote.usage for cell in results.cells() for vote in cell.votes)
    per_row = (used.calls + used.cached) / len(rows.instances)
    known = used.cost / used.calls if used.cost is not None and used.calls else None
    return per_row, options.price if options.price is not None else known


def _said_of_orders(results: Results[Any]) -> list[str]:
    """How often the orders of a comparison disagree: these contests are ties, and cost rows."""
    consistent = [row["position_consistent"] for row in results.records() if row.get("position_consistent") is not None]
    if not consistent:
        return []
    share = 1 - float(np.mean(consistent))
    return [f"The orders disagree on {format_percent(share)} of {format_number(len(consistent), digits=0)} questions."]
