"""What the length of a response does to its chance of winning: of votes on two responses, or of scores of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evenhand.judge_reliability.asked import FIRST, NEITHER, SECOND, Asked, Categories
from evenhand.numbers import Missing, format_count
from evenhand.statistics import VerbositySlope, verbosity_slope
from evenhand.statistics.intervals import IntervalLevel

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
    asked: Sequence[Asked], categories: Categories, level: float, *, given_people: bool = False
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
