"""Scores by groups of rows, such as topics: of each group, between its systems, and hidden reversals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.labels.correct import checked_design, correction
from evenhand.labels.people import Labels, Paired, holds_labels, paired, read_gold
from evenhand.numbers import Missing, format_count, format_interval, format_level, state_p_value
from evenhand.options import Design
from evenhand.results.measures import Column, known, measure, measures_table
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.paired_differences import (
    DifferenceTest,
    name_of_tests,
    over_one_family,
    paired_differences,
)

ALL = "all rows"
"""The group name of all rows together."""

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
    """The difference of two systems in one group of rows.

    Attributes:
        difference: The mean of (the first's score - the second's) over the rows on which both have one; of contests
            the win rate of the first less that of the second.
        p_value: Of the test that it is 0, by Holm over all groups, systems and scores; of all rows by Holm over the
            systems and scores.
        num_rows: Rows that are compared.
        num_set_aside: Rows on which only one of the two has a score.
        test: The test behind the p-value.
    """

    difference: Interval | Missing = measure("difference")
    p_value: float | Missing = measure("p_value")
    num_rows: int = measure("count")
    num_set_aside: int = measure("count")
    test: DifferenceTest | None = None


ScoreName = tuple[str, str, str]
"""The group, the system, and the criterion of its score."""

ContrastName = tuple[str, str, str, str]
"""The group, the two systems, and the criterion of their scores."""


@dataclass(frozen=True)
class GroupedScores(PrintedTables):
    """The result of :meth:`~evenhand.result_methods.ResultMethods.by`.

    Attributes:
        by: What groups the rows.
        groups: Group -> how many rows are of it.
        scores: (Group, system, score of) -> the score there; those of all rows stand under ``all rows``.
        differences: (Group, first, second, score of) -> how far the two systems differ there.
        reversals: What the whole hides, in sentences.
        notes: How these scores differ from those of the printed tables, where they do.
        design: The sampling design of the labelled rows; None if scores are not corrected.
        level: The level of the intervals.
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
        """Return the scores, and how systems differ."""
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
        """Return notes on differences that the total hides."""
        return *self.notes, *self.reversals


def by_group(
    results: Results,
    by: object,
    *,
    gold: object = None,
    design: str | None = None,
    level: float | None = None,
) -> GroupedScores:
    """Return the scores of each group of rows, how far systems differ within groups, and what the whole hides.

    Args:
        results: What was judged.
        by: The groups: see :meth:`~evenhand.results.results.Results.group_of`.
        gold: Labels of people (:func:`evenhand.correct`); by default those that the result holds.
        design: How the labelled rows were chosen; with it, the scores of groups are corrected too.
        level: The level of the intervals; that of the results by default.

    Returns:
        Means with intervals over rows or clusters, differences by sign-flip tests with Holm's correction over all
        groups, systems and scores, and in words where a system that is ahead on all rows is behind in a group.

    Raises:
        InvalidInputError: If there are no such groups, or labels that fit no row.
    """
    names = results.group_of(by)
    what = by if isinstance(by, str) else "group"
    labels = read_gold(results, gold) if gold is not None or holds_labels(results) else Labels(())
    kept = results.level_over([])
    over = kept if level is None else replace(kept, level=level)
    wanted = float(over)
    asked = bool(len(labels)) and (design is not None or labels.design is not None)
    chosen = checked_design(design, labels) if asked else None
    samples = [each for pair in paired(results, labels) for each in pair.by_option()]
    group_of = {row: f"(no {what})" if name is None else name for row, name in enumerate(names)}
    groups = list(dict.fromkeys(group_of[int(row)] for sample in samples for row in sample.instances))
    parts: dict[str, Sequence[Paired]] = {ALL: samples}
    for group in groups:
        parts[group] = [
            each.only(np.array([group_of[int(row)] == group for row in each.instances])) for each in samples
        ]
    differences = _differences(parts, over, contests=results.kind == "winrates")
    return GroupedScores(
        by=what,
        groups={group: len({int(row) for sample in parts[group] for row in sample.instances}) for group in groups},
        scores={
            (group, sample.judge.system, _criterion(sample)): _score(sample, over, chosen)
            for group, own in parts.items()
            for sample in own
        },
        differences=differences,
        reversals=tuple(_reversals(differences, what, wanted)),
        design=chosen,
        level=wanted,
        notes=results.outcome_notes,
    )


def _criterion(sample: Paired) -> str:
    return ": ".join(filter(None, sample.what))


def _bounds(bounds: tuple[float, float], scores: Numbers) -> tuple[float, float]:
    """Return the bounds of the scores, extended to scores that a penalty moves beyond them."""
    return float(np.nanmin(scores, initial=bounds[0])), float(np.nanmax(scores, initial=bounds[1]))


def _score(sample: Paired, over: IntervalLevel, design: Design | None) -> GroupScore:
    judged, bounds = sample.judged, _bounds(sample.bounds, sample.judged)
    score = mean_intervals(judged, level=over.over(sample.judge.clusters), bounds=bounds)[0] if len(judged) else None
    corrected: Interval | Missing = NOT_ASKED
    if design is not None:
        none = Missing("no row of the group is labelled")
        corrected = correction(sample, design, over.level).corrected if sample.num_labelled else none
    return GroupScore(
        score=known(score, "no row has a score"),
        corrected=corrected,
        num_rows=len(judged),
        num_labelled=sample.num_labelled,
        num_unscored=int(np.isnan(judged).sum()),
    )


def _differences(
    parts: Mapping[str, Sequence[Paired]], over: IntervalLevel, *, contests: bool
) -> dict[ContrastName, GroupContrast]:
    """Compare every two systems in each group, one family for Holm's correction; and on all rows, another."""
    found: dict[ContrastName, GroupContrast] = {}
    none = "no row has both scores"
    for family in ([ALL], [group for group in parts if group != ALL]):
        pairs = [
            (name, paired_differences(scores, level=over.over(clusters), bounds=_bounds(bounds, scores))[0])
            for group in family
            for name, scores, bounds, clusters in _pairs(group, parts[group], contests=contests)
        ]
        for (name, _), own in zip(pairs, over_one_family([each for _, each in pairs]), strict=True):
            found[name] = GroupContrast(
                difference=known(own.difference, none),
                p_value=known(own.p_value, none),
                num_rows=own.n_compared,
                num_set_aside=own.n_set_aside,
                test=own.test,
            )
    return found


def _pairs(
    group: str, samples: Sequence[Paired], *, contests: bool
) -> Iterator[tuple[ContrastName, Numbers, tuple[float, float], Sequence[Hashable]]]:
    """Yield the name of each pair of systems, their scores on the same rows, the bounds of these, and the clusters."""
    for one, other in combinations(samples, 2):
        if not contests and one.what == other.what and one.judge.system != other.judge.system:
            _, ours, theirs = np.intersect1d(one.instances, other.instances, return_indices=True)
            scores = np.column_stack([one.judged[ours], other.judged[theirs]])
            name = (group, one.judge.system, other.judge.system, _criterion(one))
            if len(ours):
                yield name, scores, one.bounds, [one.judge.clusters[place] for place in ours]
    systems = dict.fromkeys(sample.judge.system for sample in samples)
    for first, second in combinations(systems, 2) if contests else ():
        for sample in samples:  # one system's win is the other's loss
            of_both = len(systems) == 2 or sample.judge.criterion == f"against {second}"
            if sample.judge.system == first and of_both and len(sample.judged):
                scores = np.column_stack([sample.judged, 1 - sample.judged])
                yield (group, first, second, "win rate"), scores, (0.0, 1.0), sample.judge.clusters


def _reversals(differences: Mapping[ContrastName, GroupContrast], what: str, level: float) -> Iterator[str]:
    """Return gains on all rows that are losses in a group, and groups that may differ in sign by chance."""

    def shows(contrast: GroupContrast) -> bool:
        return not isinstance(contrast.p_value, Missing) and contrast.p_value <= 1 - level

    for (place, *names), whole in differences.items():
        if place != ALL or isinstance(whole.difference, Missing) or whole.difference.estimate == 0:
            continue
        one, other, score = names
        first, second = (one, other) if whole.difference.estimate > 0 else (other, one)
        sure = "" if shows(whole) else ", which may be chance"
        size = format_interval(whole.difference, signed=True)
        ahead = f"On all rows {first} is ahead of {second} on {score} ({size}{sure})"
        for (group, *own_names), own in differences.items():
            if group == ALL or own_names != names or isinstance(own.difference, Missing):
                continue
            if own.difference.estimate * whole.difference.estimate < 0:
                p_value = "" if isinstance(own.p_value, Missing) else f", {state_p_value(own.p_value)}"
                size = f"({format_interval(own.difference, signed=True)}{p_value}; {one} less {other})"
                where = f"where {what} is {group} it is behind"
                if shows(own):
                    yield f"{ahead}, and that hides a loss: {where} {size}."
                else:
                    yield f"{ahead}; {where}, which may be chance {size}."
