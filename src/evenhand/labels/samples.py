"""One score of one system as arrays: what the judge said of each row, and what people say of those that they saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evenhand.labels.people import Paired
from evenhand.numbers import Missing
from evenhand.run_options import Design
from evenhand.statistics import Interval
from evenhand.statistics.correction import Correction, corrected_mean
from evenhand.statistics.intervals import BoolArray, FloatArray, IntArray

HALVINGS: Final = 16
"""Of the range of scores, where an interval is found by inversion: to 1.5e-5 of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How scores are corrected.

    Attributes:
        design: How labelled rows were chosen.
        level: Of the intervals.
        seed: Of draws.
    """

    design: Design
    level: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What :func:`~evenhand.statistics.correction.corrected_mean` is told of one score.

    Attributes:
        system: Whose score it is; empty where a result knows no systems.
        criterion: What it is a score of.
        option: Of a criterion whose options have no values, the one whose share is the score; None elsewhere.
        instances: The row of the data of each of the n rows.
        judged: (n,), the judge's scores, NaN where a row is unscored.
        human: (n,), people's, NaN where a row is not labelled.
        spared: (n,), whether people say that the criterion does not apply.
        strata: (n,), the place of the option selected, the number of options where it does not apply, and -1 for none;
            None where the score is of several questions.
        probabilities: (n,), with which each was drawn to be labelled, NaN where that is not known.
        clusters: (n,), what each belongs to.
        bounds: The least and the greatest score.
        support: The scores that one label can give; None where they are any numbers within the bounds.
        num_options: How many can be selected.
        averaged: Rows on which people are divided, whose label is the mean of what these say.
        undecided: Rows on which people are divided, and which have no label.
    """

    system: str
    criterion: str
    option: str | None = None
    instances: IntArray
    judged: FloatArray
    human: FloatArray
    spared: BoolArray
    strata: IntArray | None
    probabilities: FloatArray
    clusters: tuple[Hashable, ...]
    bounds: tuple[float, float]
    support: tuple[float, ...] | None
    num_options: int
    averaged: int = 0
    undecided: int = 0

    @property
    def labelled(self) -> BoolArray:
        """(n,), whether people gave a score."""
        return ~np.isnan(self.human)

    @property
    def num_labelled(self) -> int:
        """Rows that people scored."""
        return int(self.labelled.sum())

    @property
    def what(self) -> tuple[str, str | None]:
        """What systems are compared on: the criterion, and the option."""
        return self.criterion, self.option

    @property
    def name(self) -> str:
        """What it is called in sentences."""
        return named(self.system, *self.what)

    def only(self, rows: BoolArray) -> Sample:
        """Some of the rows."""
        return replace(
            self,
            instances=self.instances[rows],
            judged=self.judged[rows],
            human=self.human[rows],
            spared=self.spared[rows],
            strata=None if self.strata is None else self.strata[rows],
            probabilities=self.probabilities[rows],
            clusters=tuple(each for each, kept in zip(self.clusters, rows, strict=True) if kept),
        )

    def correction(self, way: Way) -> Correction:
        """The score of the judge, of the labels, and of both."""
        if self.spared.any():
            return self._where_it_applies(way)
        return corrected_mean(
            self.judged,
            self.human,
            strata=self.strata,
            design=way.design,
            support=self.support,
            probabilities=self.probabilities if way.design == "probabilities" else None,
            clusters=self.clusters if len({*self.clusters}) < len(self.clusters) else None,
            bounds=self.bounds,
            level=way.level,
        )

    def _where_it_applies(self, way: Way) -> Correction:
        r"""The mean over the rows to which it applies, as people see it, though most of these nobody saw.

        With :math:`a` 1 where it applies and 0 elsewhere, the mean :math:`\theta` is where :math:`E[a (y - \theta)] =
        0`; the interval holds each :math:`\theta` for which that of the corrected mean of :math:`a (y - \theta)` holds
        0 (Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B 16 (1954)).
        """
        plain = replace(self, spared=np.zeros_like(self.spared)).correction(way)
        if isinstance(plain.corrected, Missing):
            return plain

        def shifted(theta: float) -> Correction:
            support = None if self.support is None else tuple(sorted({0.0, *(each - theta for each in self.support)}))
            moved = replace(
                self,
                judged=self.judged - theta,
                human=np.where(self.spared, 0.0, self.human - theta),
                spared=np.zeros_like(self.spared),
                bounds=(min(self.bounds[0] - theta, 0.0), max(self.bounds[1] - theta, 0.0)),
                support=support,
            )
            return moved.correction(way)

        def crossing(part: str) -> float:
            return _crossing(lambda theta: _part(shifted(theta), part), *self.bounds)

        corrected = replace(
            plain.corrected,
            estimate=crossing("estimate"),
            low=crossing("low"),
            high=crossing("high"),
            standard_error=None,
        )
        saved = labels_saved(plain.labels, corrected, plain.num_labelled)
        return replace(plain, corrected=corrected, labels_saved=saved)


def named(*parts: str | None) -> str:
    """A system, a criterion and an option in a sentence; what is empty is left out."""
    return ", ".join(part for part in parts if part)


def _part(found: Correction, name: str) -> float:
    return math.nan if isinstance(found.corrected, Missing) else float(getattr(found.corrected, name))


def _crossing(decreasing: Callable[[float], float], low: float, high: float) -> float:
    """Where a decreasing function is 0; the end of the range at which it is not yet, or no more."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > 0 else (low, middle)
    return (low + high) / 2


def samples_of(pairs: Sequence[Paired]) -> tuple[Sample, ...]:
    """One a score; of a criterion whose options have no values, one an option."""
    return tuple(sample for pair in pairs for sample in _samples(pair))


def _samples(pair: Paired) -> Iterator[Sample]:
    judge, given = pair.judge, {*pair.human[pair.labelled].tolist()}
    values = {value for value in judge.values if value is not None}
    base = Sample(
        system=judge.system,
        criterion=judge.criterion,
        instances=np.array([row.instance for row in judge.rows], dtype=np.int64),
        judged=judge.scores,
        human=pair.human,
        spared=np.array([bool(judge.labels) and told not in {None, *judge.labels} for told in pair.selected]),
        strata=np.where([row.na for row in judge.rows], len(judge.labels), judge.places) if judge.labels else None,
        probabilities=pair.probabilities,
        clusters=tuple(judge.clusters),
        bounds=judge.bounds,
        support=tuple(sorted(values)) if values and given <= values else None,
        num_options=len(judge.labels),
        averaged=pair.averaged,
        undecided=pair.undecided,
    )
    if None not in judge.values:
        yield base
        return
    said = [row.selected for row in judge.rows]

    def share(selected: Sequence[str | None], option: str) -> FloatArray:
        return np.array([np.nan if each not in judge.labels else each == option for each in selected], dtype=float)

    for option in judge.labels:
        judged, human = share(said, option), share(pair.selected, option)
        yield replace(base, option=option, judged=judged, human=human, bounds=(0.0, 1.0), support=(0.0, 1.0))


def difference_of(first: Sample, second: Sample, way: Way) -> Correction:
    """First minus second, paired over the rows that both have."""
    _, ours, theirs = np.intersect1d(first.instances, second.instances, return_indices=True)

    def both(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.column_stack([one[ours], other[theirs]])

    strata, clusters = None, [first.clusters[place] for place in ours]
    if first.strata is not None and second.strata is not None:
        strata = np.column_stack([first.strata[ours], second.strata[theirs]])
    return corrected_mean(
        both(first.judged, second.judged),
        both(first.human, second.human),
        strata=strata,
        design=way.design,
        support=first.support if first.support == second.support else None,
        probabilities=both(first.probabilities, second.probabilities) if way.design == "probabilities" else None,
        clusters=clusters if len({*clusters}) < len(clusters) else None,
        bounds=first.bounds,
        level=way.level,
    )


def labels_saved(labels: Interval | Missing, corrected: Interval | Missing, num_labelled: int) -> float | Missing:
    """How many more labels would make the interval of the labels alone as narrow as the corrected one.

    The width of an interval goes with 1/√n: n · ((width of the labels alone / width of the corrected)² − 1).
    """
    if isinstance(labels, Missing):
        return labels
    if isinstance(corrected, Missing):
        return corrected
    wide, narrow = labels.high - labels.low, corrected.high - corrected.low
    if not narrow or not math.isfinite(wide):
        return Missing("the intervals cannot be compared")
    return num_labelled * ((wide / narrow) ** 2 - 1)
