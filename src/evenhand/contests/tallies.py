"""From contests to each system's share of wins, its rank, and the arrays that statistics work on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from evenhand.contests.contest import TOLERANCE, Contest, side_of
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.statistics.contests import Contests
from evenhand.statistics.ranking import balanced_prompts
from evenhand.statistics.strength_contrasts import strengths_of_wins
from evenhand.votes import unselected_draws

Reduction = Literal["win_rate", "weighted_win_rate"]

MOST_BATTLES: Mapping[Reduction, int] = {"win_rate": 1, "weighted_win_rate": 2}
"""How many battles one contest is fought over, at most."""


class Tally(NamedTuple):
    """What some contests come to for one system.

    Attributes:
        wins: Battles won; half of one for a tie.
        battles: Battles fought.
    """

    wins: float
    battles: float

    @property
    def winrate(self) -> float | None:
        """The share of battles won; None without one."""
        return self.wins / self.battles if self.battles else None

    @property
    def mirrored(self) -> Tally:
        """The same for the other side."""
        return Tally(self.battles - self.wins, self.battles)


def check_reduction(reduction: str, *, graded: bool) -> Reduction:
    """The reduction, if it exists and fits.

    Raises:
        InvalidInputError: If there is no such reduction, or it needs grades and there are none.
    """
    if reduction not in get_args(Reduction):
        raise InvalidInputError(f"reduction is {reduction!r}. {did_you_mean(reduction, get_args(Reduction))}")
    if reduction == "weighted_win_rate" and not graded:
        raise InvalidInputError(
            "reduction='weighted_win_rate' weighs wins by their grade: set scale='graded' too, or use "
            "reduction='win_rate'"
        )
    return "win_rate" if reduction == "win_rate" else "weighted_win_rate"


def tallies(contests: Iterable[Contest], systems: Sequence[str], reduction: Reduction = "win_rate") -> dict[str, Tally]:
    """System -> the battles that it fought in the scored contests.

    ``win_rate``: a contest is one battle, a tie wins half of it. ``weighted_win_rate``: with the grade s in −2 … 2, a
    positive s is s battles won, a negative one |s| battles lost, and 0 two battles of which one is won.
    """
    wins, battles = dict.fromkeys(systems, 0.0), dict.fromkeys(systems, 0.0)
    for contest in contests:
        value = contest.verdict.aggregated_value
        if value is None:
            continue
        won, fought = _battles(contest, value, reduction)
        wins[contest.first] += won
        wins[contest.second] += fought - won
        battles[contest.first] += fought
        battles[contest.second] += fought
    return {system: Tally(wins[system], battles[system]) for system in systems}


def winrates(
    contests: Iterable[Contest], systems: Sequence[str], reduction: Reduction = "win_rate"
) -> dict[str, float | None]:
    """System -> share of battles won over all its scored contests; None for a system without one.

    Every scored contest counts alike, so that the winrates, each weighted by its system's contests, sum to the number
    of scored contests (``win_rate``).
    """
    return {system: tally.winrate for system, tally in tallies(contests, systems, reduction).items()}


def limits(contest: Contest, reduction: Reduction = "win_rate") -> tuple[Tally, Tally]:
    """The battles for the first system if every unscored vote had been against it, and if all had been for it.

    An unscored contest is then lost, or won, at the highest grade. One that is scored on some of its votes has the
    ``bounds`` of its verdict: read in one order only it may turn out to be a tie. The two are equal where all is read.
    """
    verdict = contest.verdict
    values = verdict.bounds
    if values is None and verdict.aggregated_value is not None:
        values = (verdict.aggregated_value, verdict.aggregated_value)
    if values is None:
        most = MOST_BATTLES[reduction]
        return Tally(0.0, most), Tally(most, most)
    low, high = (Tally(*_battles(contest, value, reduction)) for value in values)
    return low, high


def _battles(contest: Contest, value: float, reduction: Reduction) -> tuple[float, float]:
    """The battles that the first system wins where the verdict has this value, and those that are fought."""
    if reduction == "win_rate":
        return contest.score_at(value), 1.0
    grade = contest.grade_at(value)
    if grade is None:
        raise InvalidInputError(
            f"the contest of {contest.first!r} and {contest.second!r} has no grade, which {reduction!r} needs: judge "
            "with scale='graded', or use reduction='win_rate'"
        )
    return (max(grade, 0.0), abs(grade)) if grade else (1.0, 2.0)


def rankings(rates: Mapping[str, float | None]) -> dict[str, int | None]:
    """System -> rank, 1 the best; equals share the better rank, and a system without a winrate has none.

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
    """System -> rank among those that it can be compared with on one instance, 1 the best; equals share the better.

    By winrate where every two of the systems with a scored contest met equally often; otherwise, the opponents being
    unequal, by :func:`~evenhand.statistics.strength_contrasts.strengths_of_wins`. None for a system without a scored
    contest, and for all when some of the others are not connected by a chain of contests.
    """
    resolved = resolved_contests(contests, systems)
    if balanced_prompts(resolved.meetings).all():
        return rankings(winrates(contests, systems, reduction))
    strengths = strengths_of_wins(resolved.wins.sum(axis=0))
    return rankings(dict(zip(systems, strengths, strict=True)))


def resolved_contests(contests: Sequence[Contest], systems: Sequence[str]) -> Contests:
    """One row a contest, orders and judges collapsed; unscored contests included as such."""
    place = {system: position for position, system in enumerate(systems)}
    return Contests.of(
        systems,
        first=[place[contest.first] for contest in contests],
        second=[place[contest.second] for contest in contests],
        score=[_number(contest.score) for contest in contests],
        cluster=cluster_numbers(contests),
        prompt=[contest.instance for contest in contests],
    )


def cluster_numbers(contests: Sequence[Contest]) -> list[int]:
    """A number for what each contest belongs to: its instance, or the cluster of that."""
    numbers: dict[str, int] = {}
    return [
        contest.instance if contest.cluster is None else numbers.setdefault(contest.cluster, len(numbers))
        for contest in contests
    ]


def presented_contests(contests: Sequence[Contest], systems: Sequence[str]) -> Contests:
    """One row a vote, the system that the judge was shown first as ``first``; unscored votes included as such.

    Of draws that could stop early the first two: the others were made because those did not agree.

    Of a graded vote the side counts, as in :attr:`Contest.score`: a win is 1 whatever its grade.
    """
    place = {system: position for position, system in enumerate(systems)}
    first, second, score, cluster, prompt = [], [], [], [], []
    for contest, number in zip(contests, cluster_numbers(contests), strict=True):
        for vote in unselected_draws(contest.verdict.votes):
            given = vote.order[0] == 0
            shown = (contest.first, contest.second) if given else (contest.second, contest.first)
            first.append(place[shown[0]])
            second.append(place[shown[1]])
            side = None if vote.value is None else side_of(vote.value)
            score.append(_number(side if given else _mirrored(side)))
            cluster.append(number)
            prompt.append(contest.instance)
    return Contests.of(systems, first=first, second=second, score=score, cluster=cluster, prompt=prompt)


def _mirrored(value: float | None) -> float | None:
    return None if value is None else 1 - value


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
