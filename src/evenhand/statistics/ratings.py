"""The rating systems of published leaderboards, as evalica computes them: for comparison, and without intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import evalica
import numpy as np
import numpy.typing as npt

from evenhand.errors import EstimationError, InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.statistics.contests import Contests
from evenhand.statistics.placement import placeable

RatingSystem = Literal["average_win_rate", "bradley_terry", "counting", "eigen", "elo", "newman", "pagerank"]

_CONVERGED = {"tolerance": 1e-10, "limit": 10_000}
_RATINGS: dict[RatingSystem, tuple[Callable[..., Any], dict[str, float]]] = {
    "average_win_rate": (evalica.average_win_rate, {}),
    "bradley_terry": (evalica.bradley_terry, _CONVERGED),
    "counting": (evalica.counting, {}),
    "eigen": (evalica.eigen, _CONVERGED),
    "elo": (evalica.elo, {"initial": 1000.0, "base": 10.0, "scale": 400.0, "k": 4.0}),
    "newman": (evalica.newman, _CONVERGED),
    "pagerank": (evalica.pagerank, {**_CONVERGED, "damping": 0.85}),
}
_NEEDS_FINITE_STRENGTHS = frozenset({"bradley_terry", "newman"})


@dataclass(frozen=True)
class Ratings:
    """What a rating system makes of the contests.

    Attributes:
        rating_system: Its name.
        systems: As in the contests.
        ratings: One a system, higher is better.
        parameters: The name and value of every setting.
        contests: Scored contests.
        unscored: Contests without a score, left out.
    """

    rating_system: RatingSystem
    systems: tuple[str, ...]
    ratings: tuple[float, ...]
    parameters: tuple[tuple[str, float], ...]
    contests: int
    unscored: int


def rate(contests: Contests, rating_system: RatingSystem) -> Ratings:
    """Rate the systems by one of the rating systems that evalica provides.

    ``average_win_rate`` is the mean over opponents of the share of wins; ``bradley_terry`` has sum 1; ``counting``
    counts wins; ``elo`` takes the contests in the order given, from 1000, K = 4, scale 400. A tie is half a win each,
    in ``newman`` an outcome of its own. They take no notice of who was shown first.

    Source: the evalica library (Ustalov, Reliable, Reproducible, and Really Fast Leaderboards with Evalica, COLING
    2025).

    Args:
        contests: Scores of 0, 0.5 and 1 only; other shares of a win are refused.
        rating_system: Its name.

    Raises:
        EstimationError: A system without a scored contest; no finite strengths (Ford's condition); no convergence.

    >>> contests = Contests.of(["a", "b"], first=[0, 0, 1], second=[1, 1, 0], score=[1, 1, 1])
    >>> [round(rating, 6) for rating in rate(contests, "bradley_terry").ratings]
    [0.666667, 0.333333]
    >>> [round(rating, 3) for rating in rate(contests, "elo").ratings]  # 1000 + 2 + 1.977 - 2.046
    [1001.931, 998.069]
    """
    if rating_system not in _RATINGS:
        raise UnknownRuleError(
            f"rating_system is {rating_system!r}. {did_you_mean(rating_system, get_args(RatingSystem))}"
        )
    scored = contests.scored
    _check(scored, rating_system)
    function, parameters = _RATINGS[rating_system]
    winners = np.select(
        [scored.score == 1.0, scored.score == 0.0],
        [evalica.Winner.X, evalica.Winner.Y],
        evalica.Winner.Draw,
    )
    rows = scored.first.tolist(), scored.second.tolist(), winners.tolist()
    result = function(*rows, **parameters)
    ratings = result.scores.reindex(range(len(scored.systems))).to_numpy(dtype=float)
    if "limit" in parameters:
        shorter = function(*rows, **{**parameters, "limit": parameters["limit"] // 2}).scores
        _check_converged(rating_system, ratings, shorter.reindex(range(len(scored.systems))).to_numpy(dtype=float))
    if rating_system == "bradley_terry":
        ratings = ratings / ratings.sum()
    return Ratings(
        rating_system,
        scored.systems,
        tuple(ratings.tolist()),
        tuple(sorted(parameters.items())),
        len(scored),
        len(contests) - len(scored),
    )


def _check_converged(rating_system: str, ratings: npt.NDArray[np.float64], earlier: npt.NDArray[np.float64]) -> None:
    """Compare with half the iterations: the number that evalica returns is the limit itself for some methods."""
    change = float(np.abs(ratings - earlier).max())
    if not change <= 1e-8 * float(np.abs(ratings).max()):
        raise EstimationError(f"{rating_system} did not converge: the last iterations moved a rating by {change:.3g}.")


def _check(scored: Contests, rating_system: RatingSystem) -> None:
    other = ~np.isin(scored.score, (0.0, 0.5, 1.0))
    if other.any():
        raise InvalidInputError(
            f"A score is {float(scored.score[other][0])!r}: {rating_system} knows 0, 0.5 and 1 only. "
            "Collapse the votes with on_position_bias='tie', or fit_bradley_terry, which takes any share of a win."
        )
    met = np.isin(np.arange(len(scored.systems)), np.concatenate([scored.first, scored.second]))
    if not met.all():
        name = scored.systems[int(np.flatnonzero(~met)[0])]
        raise EstimationError(f"The system {name!r} has no scored contest: it has no rating.")
    placed, reasons = placeable(scored)
    if rating_system in _NEEDS_FINITE_STRENGTHS and reasons:
        system, reason = next(iter(reasons.items()))
        raise EstimationError(
            f"{rating_system} has no finite estimate: {scored.systems[system]!r}: {reason}. "
            f"{len(placed)} of {len(scored.systems)} systems can be placed: fit_bradley_terry fits those."
        )
