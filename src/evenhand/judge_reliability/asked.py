"""Questions with the votes on them, as the arrays that statistics take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion
from evenhand.judge_reliability.raters import Scale
from evenhand.question import response_label
from evenhand.statistics import NOT_ASKED, UNSCORED
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import Verdict, Vote

IntArray = NDArray[np.int64]
Order = tuple[int, ...]

FIRST, SECOND, NEITHER, NOT_APPLICABLE = range(4)
SIDES = ("first", "second")
TIE_LABEL = "tie"
SIDE_VALUES = (1.0, 0.0, 0.5)
_RESPONSE = re.compile("|".join(rf"\b{response_label(place)}\b" for place in (FIRST, SECOND)))


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, what the votes on it come to, and what is known besides.

    Attributes:
        instance: The row of the data; all questions of a row are of one cluster.
        verdict: With the votes: those of all judges, or of the one that is reported; none where a response is missing.
        label: The category (`Categories`) that people chose; None where it is not known.
        lengths: In characters: of both responses of a comparison, of the one that was assessed.
        systems: Which wrote them, as many as there are lengths; None where that is not known.
        cluster: A number for what the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    verdict: Verdict
    label: int | None = None
    lengths: tuple[int, ...] | None = None
    systems: tuple[str, ...] | None = None
    cluster: int | None = None

    @property
    def together(self) -> int:
        """The cluster, or the row where it is one of its own: questions with the same number depend on each other."""
        return self.instance if self.cluster is None else self.cluster

    @property
    def draws(self) -> dict[int, dict[Order, Vote]]:
        """Sample -> order -> vote."""
        found: dict[int, dict[Order, Vote]] = {}
        for vote in self.verdict.votes:
            found.setdefault(vote.sample, {})[vote.order] = vote
        return found

    @property
    def prompts(self) -> dict[Order, list[Vote]]:
        """Order -> its draws."""
        found: dict[Order, list[Vote]] = {}
        for vote in sorted(self.verdict.votes, key=lambda vote: vote.sample):
            found.setdefault(vote.order, []).append(vote)
        return found


@dataclass(frozen=True, slots=True)
class Questions:
    """All questions on one criterion, with the votes of all judges.

    Attributes:
        criterion: Whose options were voted on.
        rules: How a judge's own votes become its verdict.
        asked: The questions.
        sides: What the two systems are called, where there are only two.
    """

    criterion: Criterion
    rules: VoteRules
    asked: tuple[Asked, ...]
    sides: tuple[str, str] = SIDES

    def of_judge(self, judge_id: str) -> list[Asked]:
        """The questions with the votes of one judge, and what these come to alone."""
        found = []
        for question in self.asked:
            votes = [vote for vote in question.verdict.votes if vote.judge_id == judge_id]
            if votes:
                found.append(replace(question, verdict=self.rules.aggregate(votes, self.criterion)))
        return found

    @property
    def num_missing(self) -> int:
        """Questions that were not put because a response is missing."""
        return sum(not question.verdict.votes for question in self.asked)


@dataclass(frozen=True)
class Categories:
    """Votes, verdicts and labels on one criterion under one numbering.

    An assessment has the numbers of its options. A comparison has sides: 0 the first response is better, 1 the second,
    2 neither, 3 not applicable; of a graded one the side counts, not the grade. People can find a tie where the judge
    was offered none, and so can the verdict of two orders.

    Attributes:
        criterion: Whose options are voted on.
        sides: What the first and the second response of a comparison are called, where all comparisons are between the
            same two.
    """

    criterion: Criterion
    sides: tuple[str, str] = SIDES

    @property
    def compares(self) -> bool:
        """Whether the criterion is of two responses."""
        return self.criterion.scale == "pairwise"

    @cached_property
    def scale(self) -> Scale:
        """The categories as a scale, for kappas and matrices."""
        if not self.compares:
            return Scale.of(self.criterion)
        na = self.criterion.na_index
        named = (*self.sides, TIE_LABEL)
        return Scale(
            kind="pairwise",
            labels=named if na is None else (*named, self.criterion.labels[na]),
            levels=(2, 0, 1) if na is None else (2, 0, 1, None),
            values=SIDE_VALUES if na is None else (*SIDE_VALUES, None),
        )

    @property
    def option_labels(self) -> tuple[str, ...]:
        """The labels of the options; those of a comparison name its sides and not the places that a judge is shown."""
        if not self.compares:
            return self.criterion.labels
        named = {response_label(place): side for place, side in enumerate(self.sides)}
        return tuple(_RESPONSE.sub(lambda found: named[found.group()], label) for label in self.criterion.labels)

    @cached_property
    def _sides(self) -> Mapping[int, int]:
        """Option -> side. Without values, options count in the order in which they are listed."""
        options = self.criterion.options
        ranked = [index for index, option in enumerate(options) if not option.na]
        if self.criterion.has_values:
            values = {index: options[index].value or 0.0 for index in ranked}
        else:
            values = {index: 1 - place / (len(ranked) - 1) for place, index in enumerate(ranked)}
        sides = {
            index: NEITHER if abs(value - 0.5) < 1e-9 else FIRST if value > 0.5 else SECOND
            for index, value in values.items()
        }
        return {**sides, **{index: NOT_APPLICABLE for index, option in enumerate(options) if option.na}}

    def of_vote(self, vote: Vote) -> int:
        """The category that a vote selects; -1 for none."""
        if vote.selected_index is None:
            return UNSCORED
        return self.of_option(vote.selected_index)

    def of_option(self, index: int) -> int:
        """The category of an option."""
        return self._sides[index] if self.compares else index

    def of_verdict(self, verdict: Verdict) -> int | None:
        """The category that a verdict selects; None for none."""
        index = verdict.selected_index
        if index is None:
            return NEITHER if self.compares and verdict.aggregated_value == 0.5 else None
        return self.of_option(index)


Rows = tuple[IntArray, IntervalLevel]
"""A table of selections, (n_rows, n_columns) with -1 for unscored and -2 for not asked, and the level over its rows."""


def _rows(rows: Sequence[Sequence[int]], instances: Sequence[int], level: float) -> Rows:
    """Pad the rows to the longest with what was not asked; those of an instance belong together."""
    table = np.full((len(rows), max(map(len, rows), default=0)), NOT_ASKED, dtype=np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table, IntervalLevel.of(level).over(instances)


def level_over(asked: Sequence[Asked], level: float) -> IntervalLevel:
    """The level of intervals over questions, with what they belong to where that is the same for some."""
    together = [question.together for question in asked]
    repeated = len(set(together)) < len(together)
    return IntervalLevel(level, together if repeated else None, IntervalLevel.of(level).method)


def reversed_pairs(asked: Sequence[Asked], categories: Categories, level: float) -> Rows:
    """Every draw that was asked for in an order and in its reverse, as pairs of sides.

    A comparison has the sides themselves, in the order (0, 1) and then (1, 0). A pair of assessments has 0 and 0 if it
    selects the same option twice, 0 and 1 if each order selects an option that it shows earlier than the other order
    does, 1 and 0 if later: in the terms of `preference_fairness`, primacy and recency.
    """
    rows, instances = [], []
    for question in asked:
        for votes in question.draws.values():
            for order in sorted(votes):
                if order > order[::-1] or order[::-1] not in votes:
                    continue
                pair = votes[order], votes[order[::-1]]
                rows.append([categories.of_vote(vote) for vote in pair] if categories.compares else _moved(pair))
                instances.append(question.together)
    return _rows(rows, instances, level)


def _moved(pair: tuple[Vote, Vote]) -> list[int]:
    first, second = (vote.selected_index for vote in pair)
    if first is None or second is None:
        return [UNSCORED if index is None else 0 for index in (first, second)]
    place, other = (pair[0].order.index(index) for index in (first, second))
    return [0, 0] if place == other else [0, 1] if place < other else [1, 0]


def draws_of_prompts(asked: Sequence[Asked], categories: Categories, level: float) -> Rows:
    """One row per question and order, one column per draw."""
    prompts = [(question.together, votes) for question in asked for votes in question.prompts.values()]
    rows = [[categories.of_vote(vote) for vote in votes] for _, votes in prompts]
    return _rows(rows, [instance for instance, _ in prompts], level)


def orders_of_draws(asked: Sequence[Asked], level: float) -> Rows:
    """One row per question and draw, one column per order: the option selected, in the criterion's own order."""
    draws = [(question.together, votes) for question in asked for votes in question.draws.values()]
    rows = [
        [UNSCORED if vote.selected_index is None else vote.selected_index for _, vote in sorted(votes.items())]
        for _, votes in draws
    ]
    return _rows(rows, [instance for instance, _ in draws], level)
