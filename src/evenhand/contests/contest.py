"""A contest: two systems on one instance, and what the judges say of them."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion, FrozenModel
from evenhand.errors import InvalidInputError
from evenhand.votes import Verdict, Vote

TOLERANCE = 1e-9
DEFAULT_RULES = VoteRules()


class Showing(FrozenModel):
    """What one judge says in one order, repeated draws collapsed.

    Attributes:
        judge_id: The judge.
        shown_first: The system shown first.
        value: The value for the contest's first system, in the criterion's terms; None when unscored.
    """

    judge_id: str
    shown_first: str
    value: float | None


class Contest(FrozenModel):
    """Two systems on one instance.

    Attributes:
        instance: The row of the data; all contests of a row are one cluster.
        first: The first system. Which of the two a judge was shown first is a matter of each vote's order.
        second: The second system.
        verdict: What the votes come to; its values count for ``first``: 1 a win, 0 a loss, ½ a tie.
        showings: What each judge says in each order.
        graded: The verdict's values are grades of preference: 1 much better, ¾ slightly better, ½ equal, …
        round: Of a Swiss design, from 0.
        cluster: What the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    first: str
    second: str
    verdict: Verdict
    showings: tuple[Showing, ...] = ()
    graded: bool = False
    round: int = 0
    cluster: str | None = None

    @property
    def score(self) -> float | None:
        """1 if ``first`` wins, 0 if it loses, ½ for a tie; None when unscored.

        A share between these only where the panel's rule averages the judges, and never for a graded contest: there a
        win counts 1 whatever its grade.
        """
        value = self.verdict.aggregated_value
        return None if value is None else self.score_at(value)

    @property
    def grade(self) -> float | None:
        """By how much ``first`` is better, from 2 (much) to −2; None when unscored or not graded."""
        value = self.verdict.aggregated_value
        return None if value is None else self.grade_at(value)

    def score_at(self, value: float) -> float:
        """The score if the verdict had this value."""
        return side_of(value) if self.graded or side_of(value) == 0.5 else value  # a mean may miss the half by rounding

    def grade_at(self, value: float) -> float | None:
        """The grade if the verdict had this value; None when not graded."""
        if not self.graded:
            return None
        return 0.0 if side_of(value) == 0.5 else 4 * (value - 0.5)

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
        """The system that a verdict on this contest prefers; None for a tie, and when unscored."""
        if verdict.aggregated_value is None:
            return None
        return {1.0: self.first, 0.0: self.second}.get(side_of(verdict.aggregated_value))

    def opponent(self, system: str) -> str:
        """The other system."""
        return self.second if self._is_first(system) else self.first

    def score_of(self, system: str) -> float | None:
        """The score for one of the two systems."""
        return self.score if self.score is None or self._is_first(system) else 1 - self.score

    def grade_of(self, system: str) -> float | None:
        """The grade for one of the two systems."""
        return self.grade if self.grade is None or self._is_first(system) else 0.0 - self.grade

    def _is_first(self, system: str) -> bool:
        if system not in {self.first, self.second}:
            raise InvalidInputError(f"the contest is between {self.first!r} and {self.second!r}, without {system!r}")
        return system == self.first


def resolve(
    contest: Contest,
    votes: Sequence[Vote],
    criterion: Criterion,
    rules: VoteRules = DEFAULT_RULES,
) -> Contest:
    """The contest with its verdict and showings, from the votes; see :func:`evenhand.aggregation.aggregate`.

    Stored votes can be resolved again under other rules, without a call::

        resolve(contest, contest.verdict.votes, criterion, VoteRules(on_position_bias="abstain"))

    A contest without votes, because a response was missing, stays as it is.
    """
    if not votes:
        return contest
    verdict = rules.aggregate(votes, criterion)
    groups: dict[tuple[str, tuple[int, ...]], list[Vote]] = {}
    for vote in votes:
        groups.setdefault((vote.judge_id, vote.order), []).append(vote)
    showings = tuple(
        Showing(
            judge_id=judge,
            shown_first=contest.first if order[0] == 0 else contest.second,
            value=draws[0].value
            if len(draws) == 1 and rules.scoring == "selected"
            else rules.aggregate(draws, criterion).aggregated_value,
        )
        for (judge, order), draws in groups.items()
    )
    return contest.model_copy(update={"verdict": verdict, "showings": showings})


def side_of(value: float) -> float:
    """1, ½ or 0: whom a value prefers."""
    if abs(value - 0.5) <= TOLERANCE:
        return 0.5
    return 1.0 if value > 0.5 else 0.0
