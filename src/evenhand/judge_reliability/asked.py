"""Questions with the votes on them, as the arrays that statistics take; what the length of responses does to votes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion
from evenhand.judge_reliability.raters import Scale
from evenhand.numbers import Missing, format_count
from evenhand.question import response_label
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED
from evenhand.statistics.intervals import IntervalLevel, Level
from evenhand.statistics.length import VerbositySlope, verbosity_slope
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


def _rows(rows: Sequence[Sequence[int]], instances: Sequence[int], level: Level) -> Rows:
    """Pad the rows to the longest with what was not asked; those of an instance belong together."""
    table = np.full((len(rows), max(map(len, rows), default=0)), NOT_ASKED, dtype=np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table, IntervalLevel.of(level).over(instances)


def level_over(asked: Sequence[Asked], level: Level) -> IntervalLevel:
    """The level of intervals over questions, with what they belong to where that is the same for some."""
    return IntervalLevel.of(level).over([question.together for question in asked])


def reversed_pairs(asked: Sequence[Asked], categories: Categories, level: Level) -> Rows:
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


def draws_of_prompts(asked: Sequence[Asked], categories: Categories, level: Level) -> Rows:
    """One row per question and order, one column per draw."""
    prompts = [(question.together, votes) for question in asked for votes in question.prompts.values()]
    rows = [[categories.of_vote(vote) for vote in votes] for _, votes in prompts]
    return _rows(rows, [instance for instance, _ in prompts], level)


def orders_of_draws(asked: Sequence[Asked], level: Level) -> Rows:
    """One row per question and draw, one column per order: the option selected, in the criterion's own order."""
    draws = [(question.together, votes) for question in asked for votes in question.draws.values()]
    rows = [
        [UNSCORED if vote.selected_index is None else vote.selected_index for _, vote in sorted(votes.items())]
        for _, votes in draws
    ]
    return _rows(rows, [instance for instance, _ in draws], level)


SIDE_SCORES = {FIRST: 1.0, SECOND: 0.0, NEITHER: 0.5}
PREFERENCES = {FIRST: 1.0, SECOND: -1.0, NEITHER: 0.0}
NO_PEOPLE = Missing("no preferences of people were given")


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two responses to one instance, and which one the judge holds better.

    Attributes:
        instance: The row of the data.
        score: 1 if the first wins, 0 if the second, ½ if neither does; None where that is not known.
        lengths: Of both, in characters.
        preference: 1, -1 or 0 as people prefer the first, the second or neither; None where that is not known.
        shown_first: 1 if the first response was shown first, -1 if the second was, 0 if they were not shown together.
        systems: Which wrote the two; None where that is not known.
    """

    instance: int
    score: float | None
    lengths: tuple[int, int]
    preference: float | None
    shown_first: int
    systems: tuple[str, ...] | None


def verbosity(
    asked: Sequence[Asked], categories: Categories, level: Level, *, given_people: bool = False
) -> VerbositySlope | Missing:
    """The slope of winning on the logarithm of the ratio of lengths, the systems' own strengths held fixed.

    In comparisons every vote is a meeting, and the place is held fixed. In assessments two responses to an instance
    meet where both have a score: the higher one wins.

    Args:
        asked: The questions.
        categories: Of the criterion.
        level: Of the intervals.
        given_people: Hold fixed which of the two people hold better.
    """
    meetings = list(_votes(asked, categories) if categories.compares else _scores(asked, categories))
    if not meetings and not categories.compares:
        return Missing("no two responses to one instance were assessed, so there is no ratio of lengths")
    if given_people and all(meeting.preference is None for meeting in meetings):
        return NO_PEOPLE
    if (why := _without_contrast(meetings, given_people=given_people)) is not None:
        return Missing(why)
    places = [meeting.shown_first for meeting in meetings]
    named = [meeting.systems for meeting in meetings if meeting.systems is not None]
    found = verbosity_slope(
        _numbers([meeting.score for meeting in meetings]),
        np.array([meeting.lengths for meeting in meetings], dtype=float).reshape(len(meetings), 2),
        systems=np.array(named) if named and len(named) == len(meetings) else None,
        quality_difference=_numbers([meeting.preference for meeting in meetings]) if given_people else None,
        shown_first=places if any(places) else None,
        ties="davidson" if any(meeting.score == 0.5 for meeting in meetings) else "half",
        level=IntervalLevel.of(level).over([meeting.instance for meeting in meetings]),
    )
    if found.reason is None:
        return found
    return Missing(found.reason if given_people else found.reason + _decided_by_length(meetings))


def _without_contrast(meetings: Sequence[Meeting], *, given_people: bool) -> str | None:
    """What a slope needs and these meetings lack, where they lack it."""
    scores = [meeting.score for meeting in meetings if meeting.score is not None]
    if scores and all(score == 0.5 for score in scores):
        return "neither of two responses was ever held better"
    if given_people and not any(meeting.preference for meeting in meetings):
        return "people never held either of two responses better, so that nothing need be held fixed"
    return None


def _decided_by_length(meetings: Sequence[Meeting]) -> str:
    """How often the longer response wins, which can be said where no slope is finite: no judge likes length more."""
    decided = [
        (meeting.score == 1.0) == (meeting.lengths[0] > meeting.lengths[1])
        for meeting in meetings
        if meeting.score in {0.0, 1.0} and meeting.lengths[0] != meeting.lengths[1]
    ]
    return (
        f"; the longer response wins {format_count(sum(decided))} of {format_count(len(decided), 'time')}"
        if decided
        else ""
    )


def _votes(asked: Sequence[Asked], categories: Categories) -> Iterator[Meeting]:
    for question in asked:
        if question.lengths is None or len(question.lengths) != 2:
            continue
        preference = None if question.label is None else PREFERENCES.get(question.label)
        for vote in question.verdict.votes:
            score = SIDE_SCORES.get(categories.of_vote(vote))
            place = 1 if vote.order == (0, 1) else -1
            lengths = question.lengths[0], question.lengths[1]
            yield Meeting(question.together, score, lengths, preference, place, question.systems)


def _scores(asked: Sequence[Asked], categories: Categories) -> Iterator[Meeting]:
    of_instance: dict[int, list[Asked]] = {}
    for question in asked:
        if question.lengths is not None:
            of_instance.setdefault(question.instance, []).append(question)
    levels = categories.scale.levels
    for questions in of_instance.values():
        for first, second in combinations(questions, 2):
            if first.lengths is None or second.lengths is None:
                continue
            score = _order(first.verdict.aggregated_value, second.verdict.aggregated_value)
            people = _order(*(None if each.label is None else levels[each.label] for each in (first, second)))
            yield Meeting(
                first.together,
                None if score is None else (1 + score) / 2,
                (first.lengths[0], second.lengths[0]),
                people,
                0,
                None if first.systems is None or second.systems is None else (*first.systems, *second.systems),
            )


def _order(first: float | None, second: float | None) -> float | None:
    """1 if the first is greater, -1 if the second is, 0 if they are equal."""
    if first is None or second is None:
        return None
    return 0.0 if abs(first - second) < 1e-9 else float(np.sign(first - second))


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]
