"""A contest: two systems on one instance, the judges' verdict on them, and the winrates of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.options import Reduction
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED
from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import FloatArray
from evenhand.statistics.strengths import fit_strengths
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote, unselected_draws

TIE: Final = "tie"
TOLERANCE: Final = 1e-9
DEFAULT_RULES: Final = VoteRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Two systems on one instance.

    Attributes:
        instance: The row of the data; all contests of a row are one cluster.
        first: The first system. Each vote's order says which of the two the judge was shown first.
        second: The second system.
        verdict: The aggregated votes; its values count for ``first``: 1 a win, 0 a loss, ½ a tie.
        graded: The verdict's values are grades of preference: 1 much better, ¾ slightly better, ½ equal, …
        round: The round of a Swiss design, from 0.
        cluster: The cluster of the row; None if rows are independent.
        prompt_id: The id of the prompt, if it has one.
        first_length: Characters of the first system's response; None if there is none.
        second_length: Those of the second system's.
        gold: The system that a person preferred, or ``"tie"``, if there is such a label.
        selections: What each judge selects in the order of the two systems, and in the swapped one, as
            :func:`evenhand.statistics.consistency.position_bias` takes it: 0 the first system, 1 the second, 2 a tie.
            Repeated draws are collapsed; of a grade the side counts.
    """

    instance: int
    first: str
    second: str
    verdict: Verdict = MISSING_RESPONSE
    graded: bool = False
    round: int = 0
    cluster: str | None = None
    prompt_id: str | None = None
    first_length: int | None = None
    second_length: int | None = None
    gold: str | None = None
    selections: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        votes: Sequence[Vote],
        criterion: Criterion,
        rules: VoteRules = DEFAULT_RULES,
        **about: Any,  # noqa: ANN401 - the other fields
    ) -> Self:
        """Make a contest of its votes; see :func:`evenhand.aggregation.verdict.aggregate`.

        Args:
            votes: The votes on the two systems; none if a response is missing.
            criterion: By which they are compared.
            rules: The rules by which votes become a verdict.
            **about: The instance, the systems, and what else is known of them.
        """
        graded = is_graded(criterion)
        if not votes:
            return cls(graded=graded, **about)
        draws: dict[str, dict[bool, list[Vote]]] = {}
        for vote in votes:
            draws.setdefault(vote.judge_id, {}).setdefault(vote.order[0] == 0, []).append(vote)

        def selection(own: Sequence[Vote]) -> int:
            if not own:
                return NOT_ASKED
            alone = len(own) == 1 and rules.scoring == "selected"
            value = own[0].value if alone else rules.aggregate(own, criterion).aggregated_value
            return UNSCORED if value is None else {1.0: 0, 0.0: 1}.get(side_of(value), 2)

        selections = tuple((selection(own.get(True, ())), selection(own.get(False, ()))) for own in draws.values())
        return cls(verdict=rules.aggregate(votes, criterion), graded=graded, selections=selections, **about)

    @property
    def score(self) -> float | None:
        """1 if ``first`` wins, 0 if it loses, ½ for a tie; None when unscored.

        A share between these only where the panel's rule averages the judges, and never for a graded contest: there a
        win of any grade counts 1.
        """
        value = self.verdict.aggregated_value
        return None if value is None else self.score_at(value)

    @property
    def grade(self) -> float | None:
        """By how much ``first`` is better, from 2 (much) to −2; None when unscored or not graded."""
        value = self.verdict.aggregated_value
        return None if value is None else self.grade_at(value)

    def score_at(self, value: float) -> float:
        """Return the score if the verdict had this value."""
        return side_of(value) if self.graded or side_of(value) == 0.5 else value  # a mean may miss the half by rounding

    def grade_at(self, value: float) -> float | None:
        """Return the grade if the verdict had this value; None when not graded."""
        if not self.graded:
            return None
        return 0.0 if side_of(value) == 0.5 else 4 * (value - 0.5)

    @property
    def set_aside(self) -> bool:
        """Whether all its votes are scored, and it has no score all the same, since the orders disagree."""
        return self.score is None and self.verdict.complete

    @property
    def winner(self) -> str | None:
        """The system that wins; None for a tie, and when unscored."""
        return self.winner_in(self.verdict)

    @property
    def unscored_reason(self) -> str | None:
        """Why there is no score, when there is none."""
        if self.verdict.aggregated_value is not None:
            return None
        return "not_applicable" if self.verdict.na else self.verdict.unscored_reason

    def winner_in(self, verdict: Verdict) -> str | None:
        """Return the system that a verdict on this contest prefers; None for a tie, and when unscored."""
        if verdict.aggregated_value is None:
            return None
        return {1.0: self.first, 0.0: self.second}.get(side_of(verdict.aggregated_value))

    def opponent(self, system: str) -> str:
        """Return the other system."""
        return self.second if system == self.first else self.first

    def score_of(self, system: str) -> float | None:
        """Return the score for one of the two systems."""
        return self.score if self.score is None or system == self.first else 1 - self.score

    def grade_of(self, system: str) -> float | None:
        """Return the grade for one of the two systems."""
        return self.grade if self.grade is None or system == self.first else 0.0 - self.grade

    @property
    def length_difference(self) -> float:
        """The length of the first response less that of the second; NaN if one is not known."""
        lengths = np.array([self.first_length, self.second_length], dtype=float)  # NaN for None
        return float(lengths[0] - lengths[1])


def is_graded(criterion: Criterion) -> bool:
    """Return whether a comparison is offered degrees of preference."""
    return len([option for option in criterion.options if not option.na]) > 3


def side_of(value: float) -> float:
    """Return 1, ½ or 0: the preference that a value means."""
    if abs(value - 0.5) <= TOLERANCE:
        return 0.5
    return 1.0 if value > 0.5 else 0.0


def check_reduction(reduction: Reduction, *, graded: bool) -> Reduction:
    """Return the reduction, if it fits.

    Raises:
        InvalidInputError: If it needs grades, and there are none.
    """
    if reduction == "weighted_win_rate" and not graded:
        raise InvalidInputError(
            "reduction='weighted_win_rate' weighs wins by their grade: set scale='graded' too, or use "
            "reduction='win_rate'"
        )
    return reduction


def winrates(
    contests: Sequence[Contest], systems: Sequence[str], reduction: Reduction = "win_rate"
) -> dict[str, float | None]:
    """Return each system's share of battles won over all its scored contests; None for a system without one.

    Every scored contest counts alike, so that the winrates, each weighted by its system's contests, sum to the number
    of scored contests (``win_rate``).
    """
    won, fought = np.sum(resolved_contests(contests, systems, reduction).meetings.by_system, axis=1).tolist()
    return {system: wins / met if met else None for system, wins, met in zip(systems, won, fought, strict=True)}


def unscored_limits(contests: Sequence[Contest], reduction: Reduction = "win_rate") -> FloatArray:
    """Return the least and the greatest results of the first systems, shape (n, 2, 2): wins and battles of each.

    The least are those if every unscored vote had been against the first system, the greatest if all had been for it.
    An unscored contest is then lost, or won, at the highest grade. One that is scored on some of its votes has the
    ``bounds`` of its verdict: if only one order is scored it may turn out to be a tie. The two are equal where all is
    scored. Battles count as a share of the most.
    """
    found = []
    for contest in contests:
        value = contest.verdict.aggregated_value
        ends = contest.verdict.bounds or (value, value)
        found += [
            (won, 1.0) if end is None else _battles(contest, end, reduction)
            for won, end in zip((0.0, 1.0), ends, strict=True)
        ]
    return np.array(found, dtype=float).reshape(len(contests), 2, 2)


def _battles(contest: Contest, value: float, reduction: Reduction) -> tuple[float, float]:
    """Return the wins of the first system and the battles if the verdict has this value, as shares of the most battles.

    ``win_rate``: a contest is one battle, a tie wins half of it. ``weighted_win_rate``: with the grade s in −2 … 2, a
    positive s is s battles won, a negative one |s| battles lost, and 0 two battles with one win.
    """
    if reduction == "win_rate":
        return contest.score_at(value), 1.0
    grade = contest.grade_at(value) or 0.0
    return (max(grade, 0.0) / 2, abs(grade) / 2) if grade else (0.5, 1.0)


def rankings(rates: Mapping[str, float | None]) -> dict[str, int | None]:
    """Return ranks, 1 the best; equals share the better rank, and a system without a winrate has none.

    >>> rankings({"a": 0.5, "b": 1.0, "c": 0.5, "d": None})
    {'a': 2, 'b': 1, 'c': 2, 'd': None}
    """
    placed = [rate for rate in rates.values() if rate is not None]
    return {
        system: None if rate is None else 1 + sum(other > rate + TOLERANCE for other in placed)
        for system, rate in rates.items()
    }


def instance_rankings(
    contests: Sequence[Contest], systems: Sequence[str], reduction: Reduction = "win_rate"
) -> dict[str, int | None]:
    """Return ranks among systems that can be compared on one instance, 1 the best; equals share the better.

    By winrate where every two of the systems with a scored contest met equally often; otherwise, the opponents being
    unequal, by strength, for which every contest counts once. None for a system without a scored contest, and for all
    when some of the others are not connected by a chain of contests.
    """
    resolved = resolved_contests(contests, systems, reduction)
    if resolved.meetings.balanced.all():
        return rankings(winrates(contests, systems, reduction))
    strengths = fit_strengths(resolved, ties="half", place_all=True).strengths
    return rankings({system: each.estimate if each else None for system, each in zip(systems, strengths, strict=True)})


def resolved_contests(
    contests: Sequence[Contest], systems: Sequence[str], reduction: Reduction = "win_rate"
) -> Contests:
    """Return one row per contest, orders and judges collapsed; unscored contests included as such.

    A contest weighs the battles that it is fought over, as a share of the most.
    """
    rows, weights = [], []
    for contest, number in zip(contests, cluster_numbers(contests), strict=True):
        value = contest.verdict.aggregated_value
        rows.append((contest.first, contest.second, contest.score, number, contest.instance))
        weights.append(1.0 if value is None else _battles(contest, value, reduction)[1])
    return _arrays(systems, rows, weights)


def presented_contests(contests: Sequence[Contest], systems: Sequence[str]) -> Contests:
    """Return one row per vote, the system shown first as ``first``; unscored votes included as such.

    Of draws that could stop early the first two: the others were made because those did not agree.

    Of a graded vote the side counts, as in :attr:`Contest.score`: a win of any grade is 1.
    """
    rows: list[_Row] = []
    for contest, number in zip(contests, cluster_numbers(contests), strict=True):
        for vote in unselected_draws(contest.verdict.votes):
            side = None if vote.value is None else side_of(vote.value)
            if vote.order[0] == 0:
                rows.append((contest.first, contest.second, side, number, contest.instance))
            else:
                mirrored = None if side is None else 1 - side
                rows.append((contest.second, contest.first, mirrored, number, contest.instance))
    return _arrays(systems, rows)


def cluster_numbers(contests: Sequence[Contest]) -> list[int]:
    """Return a number for the cluster of each contest: its instance, or the cluster of its instance."""
    numbers: dict[str, int] = {}
    return [
        contest.instance if contest.cluster is None else numbers.setdefault(contest.cluster, len(numbers))
        for contest in contests
    ]


_Row = tuple[str, str, float | None, int, int]
"""First and second system, score, cluster and prompt."""


def _arrays(systems: Sequence[str], rows: Sequence[_Row], weight: Sequence[float] | None = None) -> Contests:
    place = {system: position for position, system in enumerate(systems)}
    first, second, score, cluster, prompt = zip(*rows, strict=True) if rows else ((),) * 5
    return Contests.of(
        systems,
        first=[place[system] for system in first],
        second=[place[system] for system in second],
        score=np.array(score, dtype=float),
        cluster=cluster,
        prompt=prompt,
        weight=weight,
    )
