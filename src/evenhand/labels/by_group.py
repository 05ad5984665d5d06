"""Scores by groups of rows, such as topics: of each group, between systems within it, and what the whole hides."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.labels.correct import Sample, checked_design, samples_of
from evenhand.labels.people import Labels, holds_labels, paired, read_gold
from evenhand.numbers import Missing, format_count, format_interval, format_level, state_p_value
from evenhand.results.measures import Column, known, measure, measures_table
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.paired_differences import (
    DifferenceTest,
    PairedDifference,
    name_of_tests,
    over_one_family,
    paired_differences,
)

ALL = "all rows"
"""Of which group the whole is."""

NOT_ASKED = Missing("no design was given, or there are no labels")
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScore:
    """The score of a system in one group of rows.

    Attributes:
        score: The mean of the judge's scores.
        corrected: The score that people would give, by their labels of rows of this group.
        num_rows: Rows of the group.
        num_labelled: Of these, with a label of people.
        num_unscored: Of these, without a score of the judge.
    """

    score: Interval | Missing = measure("score")
    corrected: Interval | Missing = measure("score")
    num_rows: int = measure("count")
    num_labelled: int = measure("count")
    num_unscored: int = measure("count")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContrast:
    """How far two systems differ in one group of rows.

    Attributes:
        difference: The mean of (the first's score - the second's) over the rows on which both have one; of contests
            the win rate of the first less that of the second.
        p_value: Of the test that it is 0, by Holm over all groups, systems and scores; of all rows by Holm over the
            systems and scores.
        corrected: The difference that people would see, by their labels; all of these hold together (Bonferroni).
        num_rows: Rows that are compared.
        num_set_aside: Rows of which only one of the two has a score.
        test: Where the p-value is from.
    """

    difference: Interval | Missing = measure("difference")
    p_value: float | Missing = measure("p_value")
    corrected: Interval | Missing = measure("difference")
    num_rows: int = measure("count")
    num_set_aside: int = measure("count")
    test: DifferenceTest | None = None

    def sign(self, level: float, *, by_people: bool) -> int:
        """1 where the first is ahead, -1 where it is behind, 0 where that cannot be told.

        Args:
            level: One less the error that is allowed.
            by_people: Go by what people would see.
        """
        found = self.corrected if by_people else self.difference
        if isinstance(found, Missing):
            return 0
        told = not found.low <= 0 <= found.high if by_people else self.p_value <= 1 - level  # type: ignore[operator] # there is one where there is a difference
        return int(np.sign(found.estimate)) if told else 0


ScoreName = tuple[str, str, str]
"""The group, the system, and what its score is of."""

ContrastName = tuple[str, str, str, str]
"""The group, the two systems, and what their scores are of."""


@dataclass(frozen=True)
class GroupedScores(PrintedTables):
    """The result of :meth:`~evenhand.result_methods.Results.by`.

    Attributes:
        by: What groups the rows.
        groups: Group -> how many rows are of it.
        scores: (Group, system, score of) -> the score there; those of all rows stand under ``all rows``.
        differences: (Group, first, second, score of) -> how far the two systems differ there.
        reversals: What the whole hides, in sentences.
        notes: How these scores differ from those of the printed tables, where they do.
        design: How labelled rows were chosen; None where scores are not corrected.
        level: Of the intervals.
    """

    by: str
    groups: Mapping[str, int]
    scores: Mapping[ScoreName, GroupScore]
    differences: Mapping[ContrastName, GroupContrast]
    reversals: tuple[str, ...]
    notes: tuple[str, ...]
    design: str | None
    level: float

    def text_tables(self) -> tuple[TextTable, ...]:
        """The scores, and how systems differ."""
        level = format_level(self.level)
        columns = (
            Column(f"score by the judge [{level}]", "score"),
            Column(f"corrected [{level}]", "corrected", optional=True),
            Column("rows", "num_rows"),
            Column("labels", "num_labelled"),
            Column("no score", "num_unscored"),
        )
        named = (self.by, "system", "score of")
        scores = measures_table(f"Scores by {self.by}", named, self.scores, columns, kind="scores")
        if not self.differences:
            return (scores,)
        tests = format_count(sum(name[0] != ALL for name in self.differences), "comparison")
        how = name_of_tests(each.test for each in self.differences.values())
        contrasts = (
            Column(f"difference [{level}]", "difference"),
            Column("p", "p_value"),
            Column("corrected, all together", "corrected", optional=True),
            Column("rows", "num_rows"),
            Column("set aside", "num_set_aside"),
        )
        shown = {(name[0], f"{name[1]} – {name[2]}", name[3]): each for name, each in self.differences.items()}
        return scores, measures_table(
            f"Systems by {self.by} ({how}, p corrected by Holm over {tests} within groups)",
            (self.by, "systems", "score of"),
            shown,
            contrasts,
            kind="differences",
        )

    def closing_notes(self) -> tuple[str, ...]:
        """What the whole hides."""
        return *self.notes, *self.reversals


def by_group(
    results: Results,
    by: object,
    *,
    data: object = None,
    gold: object = None,
    design: str | None = None,
    level: float | None = None,
    seed: int = 0,
) -> GroupedScores:
    """The scores of each group of rows, how far systems differ within groups, and what the whole hides.

    Args:
        results: What was judged.
        by: The groups: see :meth:`~evenhand.results.results.Results.group_of`.
        data: The rows that were judged, where the result keeps no such column.
        gold: Labels of people (:func:`evenhand.correct`); by default those that the result holds.
        design: How the labelled rows were chosen; with it, scores and differences are corrected too.
        level: Of the intervals; that of the results by default.
        seed: Of draws.

    Returns:
        Means with intervals over rows or clusters, differences by sign-flip tests with Holm's correction over all
        groups, systems and scores, and in words where a system that is ahead on all rows is behind in a group.

    Raises:
        InvalidInputError: If there are no such groups, or labels that fit no row.
    """
    names = results.group_of(by, data)
    what = by if isinstance(by, str) else "group"
    labels = read_gold(results, gold) if gold is not None or holds_labels(results) else Labels(())
    kept = results.level_over([])
    over = kept if level is None else replace(kept, level=level)
    wanted = float(over)
    asked = bool(len(labels)) and (design is not None or labels.design is not None)
    chosen = checked_design(design, labels) if asked else None
    samples = samples_of(paired(results, labels), chosen or "random", seed)
    told = {row: f"(no {what})" if name is None else name for row, name in enumerate(names)}
    groups = list(dict.fromkeys(told[int(row)] for sample in samples for row in sample.instances))
    parts: dict[str, Sequence[Sample]] = {ALL: samples}
    for group in groups:
        parts[group] = [each.only(np.array([told[int(row)] == group for row in each.instances])) for each in samples]
    differences = _differences(parts, over, corrects=asked, contests=results.kind == "winrates")
    return GroupedScores(
        by=what,
        groups={group: len({int(row) for sample in parts[group] for row in sample.instances}) for group in groups},
        scores={
            (group, sample.system, _criterion(sample)): _score(sample, over, corrects=asked)
            for group, own in parts.items()
            for sample in own
        },
        differences=differences,
        reversals=tuple(_reversals(differences, what, wanted, by_people=asked)),
        design=chosen,
        level=wanted,
        notes=results.outcome_notes,
    )


def _criterion(sample: Sample) -> str:
    return sample.criterion if sample.option is None else f"{sample.criterion}: {sample.option}"


def _bounds(bounds: tuple[float, float], scores: Numbers) -> tuple[float, float]:
    """Those of the scores, and as far beyond as they go: a penalty may pass them."""
    return float(np.nanmin(scores, initial=bounds[0])), float(np.nanmax(scores, initial=bounds[1]))


def _score(sample: Sample, over: IntervalLevel, *, corrects: bool) -> GroupScore:
    judged = sample.judged
    own, bounds = over.over(sample.clusters), _bounds(sample.bounds, judged)
    score = mean_intervals(judged, level=own, bounds=bounds)[0] if len(judged) else None
    corrected: Interval | Missing = NOT_ASKED
    if corrects:
        none = Missing("nobody labelled a row of the group")
        corrected = sample.correction(over.level).corrected if sample.num_labelled else none
    return GroupScore(
        score=known(score, "no row has a score"),
        corrected=corrected,
        num_rows=len(judged),
        num_labelled=sample.num_labelled,
        num_unscored=int(np.isnan(judged).sum()),
    )


@dataclass(frozen=True)
class _SystemPair:
    """Two systems on the same rows, or the contests between them."""

    name: ContrastName
    scores: Numbers
    bounds: tuple[float, float]
    clusters: Sequence[Hashable]
    samples: tuple[Sample, Sample] | None

    def compared(self, over: IntervalLevel) -> PairedDifference:
        bounds = _bounds(self.bounds, self.scores)
        return paired_differences(self.scores, level=over.over(self.clusters), bounds=bounds)[0]

    def corrected(self, level: float | None) -> Interval | Missing:
        """What people would see; contests are seen as a whole."""
        if level is None or self.samples is None:
            return NOT_ASKED
        one, other = self.samples
        if not (one.labelled.any() and other.labelled.any()):
            return Missing("nobody labelled rows of both in the group")
        if one.spared.any() or other.spared.any():
            return Missing("people say that it does not apply to some of the rows")
        return one.minus(other, level).corrected


def _differences(
    parts: Mapping[str, Sequence[Sample]], over: IntervalLevel, *, corrects: bool, contests: bool
) -> dict[ContrastName, GroupContrast]:
    """Every two systems in each group, one family for Holm's correction; and on all rows, another."""
    found: dict[ContrastName, GroupContrast] = {}
    for family in ([ALL], [group for group in parts if group != ALL]):
        pairs = [pair for group in family for pair in _pairs(group, parts[group], contests=contests)]
        each = round(1 - (1 - over.level) / max(len(pairs), 1), 6) if corrects else None
        compared = over_one_family([pair.compared(over) for pair in pairs])
        for pair, told in zip(pairs, compared, strict=True):
            found[pair.name] = GroupContrast(
                difference=known(told.difference, "no row has both scores"),
                p_value=known(None if told.test is None else told.test.adjusted_p_value, "no row has both scores"),
                corrected=pair.corrected(each),
                num_rows=told.n_paired,
                num_set_aside=told.n_set_aside,
                test=told.test,
            )
    return found


def _pairs(group: str, samples: Sequence[Sample], *, contests: bool) -> Iterator[_SystemPair]:
    if contests:
        yield from _contests(group, samples)
        return
    for one, other in combinations(samples, 2):
        if one.what != other.what or one.system == other.system:
            continue
        _, ours, theirs = np.intersect1d(one.instances, other.instances, return_indices=True)
        scores = np.column_stack([one.judged[ours], other.judged[theirs]])
        clusters = [one.clusters[place] for place in ours]
        name = (group, one.system, other.system, _criterion(one))
        if len(ours):
            yield _SystemPair(name, scores, one.bounds, clusters, (one, other))


def _contests(group: str, samples: Sequence[Sample]) -> Iterator[_SystemPair]:
    """The contests of each two systems: the score of one is what is left of that of the other."""
    systems = list(dict.fromkeys(sample.system for sample in samples))
    for first, second in combinations(systems, 2):
        against = f"against {second}" if len(systems) > 2 else None
        for sample in samples:
            if sample.system == first and against in {None, sample.criterion} and len(sample.judged):
                scores = np.column_stack([sample.judged, 1 - sample.judged])
                yield _SystemPair((group, first, second, "win rate"), scores, (0.0, 1.0), sample.clusters, None)


def _reversals(
    differences: Mapping[ContrastName, GroupContrast], what: str, level: float, *, by_people: bool
) -> Iterator[str]:
    """Gains of the whole that are losses in a group, and groups that point the other way though it may be chance."""
    by_people = by_people and any(not isinstance(each.corrected, Missing) for each in differences.values())
    for name, whole in differences.items():
        found = whole.corrected if by_people else whole.difference
        if name[0] != ALL or isinstance(found, Missing) or found.estimate == 0:
            continue
        first, second = name[1:3] if found.estimate > 0 else (name[2], name[1])
        sure = "" if whole.sign(level, by_people=by_people) else ", which may be chance"
        size = format_interval(found, signed=True)
        ahead = f"On all rows {first} is ahead of {second} on {name[3]} ({size}{sure})"
        for other, group in differences.items():
            own = group.corrected if by_people else group.difference
            if other[0] == ALL or other[1:] != name[1:] or isinstance(own, Missing):
                continue
            if own.estimate * found.estimate < 0:
                told = "" if by_people else f", {state_p_value(float(group.p_value))}"  # type: ignore[arg-type] # there is one
                size = f"{format_interval(own, signed=True)}{told}; {name[1]} less {name[2]}"
                if group.sign(level, by_people=by_people):
                    yield f"{ahead}, and that hides a loss: where {what} is {other[0]} it is behind ({size})."
                else:
                    yield f"{ahead}; where {what} is {other[0]} it is behind, which may be chance ({size})."
