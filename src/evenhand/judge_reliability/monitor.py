"""Watching a stream of verdicts in production: the score so far, which holds at every look, and alarms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.criteria import fold_label
from evenhand.data.cells import is_abstention, is_written_nothing, number_of
from evenhand.data.plain_data import briefly
from evenhand.errors import InvalidInputError
from evenhand.numbers import Missing, format_count, format_level, format_score
from evenhand.statistics.anytime import ConfidenceSequence
from evenhand.statistics.intervals import Interval, UnscoredBounds, mean_leads
from evenhand.statistics.resampling import check_level

TRUTH: Mapping[str, float] = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""The labels that are scores without being named."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """That a score is not what it should be.

    Attributes:
        target: What it should be, at least or at most.
        below: Whether it is below the target, and not above it.
        verdicts: After how many verdicts, the unscored among them, this was certain enough.
        limit: The limit that passed the target, with all that was unscored counted against the alarm.
        level: Of that limit.
    """

    target: float
    below: bool
    verdicts: int
    limit: float
    level: float

    def __str__(self) -> str:
        side, limit = ("below", "at most") if self.below else ("above", "at least")
        return (
            f"ALARM after {format_count(self.verdicts, 'verdict')}: the score is {side} {self.target:g} "
            f"({limit} {self.limit:.4g}, {format_level(self.level)})"
        )


class Monitor:
    """The score of a stream of verdicts, looked at after each of them.

    Its interval is a confidence sequence (:class:`~evenhand.statistics.anytime.ConfidenceSequence`): with probability
    ``level`` it holds the score at all looks together. An alarm is raised once its upper limit falls below
    ``at_least``, or its lower limit rises above ``at_most``; so a stream that is always as good as it should be, on
    average, whatever came before, ever raises a false one with a probability of at most ``1 - level``, however long it
    is. What is unscored is counted against an alarm, and where there is so much of it that its mean cannot lead, the
    bounds do.

    The score is that of the whole stream: after a long good time a loss is noticed late. Begin anew with each version
    of what is judged, or each week: every monitor has an error rate of its own.

    Args:
        at_least: What the score should be at least.
        at_most: What it should be at most.
        level: Of the interval and the alarms.
        values: Label -> score; ``yes`` and ``true`` are 1, ``no`` and ``false`` are 0.

    Raises:
        InvalidInputError: A target, a level or a value that is none.

    >>> monitor = Monitor(at_least=0.9)
    >>> for verdict in ["yes", "no"] * 20:
    ...     if alarm := monitor.update(verdict):
    ...         print(alarm)
    ALARM after 14 verdicts: the score is below 0.9 (at most 0.8953, 99%)
    >>> print(monitor)
    after 40 verdicts: 0.50 [0.23, 0.77], 99% at all looks together
    """

    def __init__(
        self,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        level: float = 0.99,
        values: Mapping[str, float] | None = None,
    ) -> None:
        check_level(level)
        self.level, self.at_least, self.at_most = level, at_least, at_most
        for name, target in (("at_least", at_least), ("at_most", at_most)):
            if target is not None and not 0 < _number(name, target) < 1:
                raise InvalidInputError(f"{name} is {target!r}; give a number between 0 and 1, which scores can miss")
        self._values = dict(TRUTH)
        for label, value in (values or {}).items():
            if not 0 <= _number(f"the value of {label!r}", value) <= 1:
                raise InvalidInputError(f"the value of {label!r} is {value!r}; scores lie in [0, 1]")
            self._values[fold_label(label)] = float(value)
        self.alarms: list[Alarm] = []
        self.unscored = 0
        self._read, self._least, self._most = (ConfidenceSequence() for _ in range(3))

    @property
    def verdicts(self) -> int:
        """How many came, the unscored among them."""
        return self._least.n

    def update(self, verdict: object) -> Alarm | None:
        """Count one verdict more.

        Args:
            verdict: A score in [0, 1], a label, True or False; None, NaN and an empty text are unscored.

        Returns:
            The alarm that it raises; each is raised once.

        Raises:
            InvalidInputError: It is something else. It is not counted then.
        """
        score = self._score(verdict)
        if score is None:
            self.unscored += 1
        else:
            self._read.update(score)
        self._least.update(0.0 if score is None else score)
        self._most.update(1.0 if score is None else score)
        return self._alarm()

    def _score(self, verdict: object) -> float | None:
        if is_abstention(verdict) or is_written_nothing(verdict):
            return None
        label = fold_label(str(verdict)) if isinstance(verdict, (str, bool)) else None
        score = self._values[label] if label in self._values else number_of(verdict)
        if score is None or not 0 <= score <= 1:
            raise InvalidInputError(
                f"a verdict is {briefly(verdict)}; accepted are scores in [0, 1], nothing, and the labels "
                f"{sorted(self._values)!r}: name others with their scores (values)"
            )
        return score

    def _alarm(self) -> Alarm | None:
        raised = {alarm.below for alarm in self.alarms}
        for below, target, sequence in ((True, self.at_least, self._most), (False, self.at_most, self._least)):
            if target is None or below in raised or (sequence.mean < target) is not below or sequence.mean == target:
                continue
            if sequence.log_e_value(target) >= -math.log1p(-self.level):
                limit = sequence.limits(self.level)[below]
                alarm = Alarm(target, below, self.verdicts, limit, self.level)
                self.alarms.append(alarm)
                return alarm
        return None

    @property
    def score(self) -> Interval | Missing:
        """The mean of what was scored, with its confidence sequence at this moment."""
        if not self._read.n:
            return Missing("no verdict has a score")
        low, high = self._read.limits(self.level)
        return Interval(self._read.mean, low, high, self.level, "betting", self._read.n)

    @property
    def unscored_bounds(self) -> UnscoredBounds | None:
        """The bounds of the score, where too many verdicts are unscored for its mean to lead; else None."""
        score = self.score or None
        if not self.unscored or mean_leads(score, self._least.mean, self._most.mean):
            return None
        share = self.unscored / self.verdicts
        low, high = self._least.limits(self.level)[0], self._most.limits(self.level)[1]
        return UnscoredBounds(self._least.mean, self._most.mean, low, high, share, "verdicts")

    def __str__(self) -> str:
        if not self.verdicts:
            return "no verdict yet"
        unscored = f" ({format_count(self.unscored, 'verdict')} unscored)" if self.unscored else ""
        shown = format_score(self.score, self.unscored_bounds)
        return (
            f"after {format_count(self.verdicts, 'verdict')}{unscored}: {shown}, {format_level(self.level)} at all "
            "looks together"
        )


def _number(name: str, value: object) -> float:
    number = number_of(value)
    if number is None or isinstance(value, str):
        raise InvalidInputError(f"{name} is {value!r}; give a number")
    return number
