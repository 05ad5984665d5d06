"""Win rates with the judge's taste for length taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from evenhand.errors import InvalidInputError
from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval
from evenhand.statistics.paired_comparisons import Parameter
from evenhand.statistics.paired_logit import LogitFit, Outcomes, fit_logit, wald_interval, why_not_finite
from evenhand.statistics.placement import placeable, strength_basis, strength_design

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LengthControlled:
    """Win rates at equal length, or the reason why they are not identified.

    Attributes:
        systems: As in the contests.
        win_rates: One a system; None where there is a reason, or the system has no usable contest.
        length_effect: Log-odds of a win for a response longer by much (``phi``); positive: the judge likes length.
        scale: The length difference that ``tanh`` counts as 1, in the unit of the lengths; None when there is none.
        reason: Why nothing is identified; None when it is.
        level: Of the intervals.
        contests: Contests with a score and a length difference.
        unused: Contests without a score or without a length difference, left out.
        clusters: Prompts of the contests used.
    """

    systems: tuple[str, ...]
    win_rates: tuple[Interval | None, ...]
    length_effect: Parameter
    scale: float | None
    reason: str | None
    level: float
    contests: int
    unused: int
    clusters: int


def length_controlled_win_rates(
    contests: Contests, length_difference: npt.ArrayLike, *, level: float = 0.95
) -> LengthControlled:
    """Win rates as they would be if both responses of every contest had the same length.

    ``logit P(i beats j) = lambda_i - lambda_j + phi · tanh((length_i - length_j) / s)``, fitted by maximum likelihood,
    a tie as half a win each. ``s`` is the standard deviation of the length difference within a pair of systems, pooled
    over pairs. The win rate of i is the mean, over its contests, of ``expit(lambda_i - lambda_opponent)``. Intervals
    are cluster-robust by prompt, formed on the logit scale.

    For two systems this is the length term of AlpacaEval 2 (Dubois, Galambosi, Liang and Hashimoto, Length-Controlled
    AlpacaEval, 2024: ``tanh`` of the difference over its standard deviation, set to zero for the prediction). Left
    out are its instruction-difficulty term, which needs the verdicts on many other systems, and its penalty, which
    pulls the result towards the uncontrolled one; for more systems ``phi`` is common to all, being a trait of the
    judge.

    Not identified, and said so: lengths that differ by a constant within every pair (length cannot be told from the
    system), lengths that are all equal, a system that won or lost every contest, outcomes that length and system
    predict without an error (complete separation).

    Args:
        contests: Resolved contests.
        length_difference: Shape (m,): length of the first response minus that of the second; NaN when unknown.
        level: Of the intervals.

    >>> pairs = dict(first=[0] * 4, second=[1] * 4, score=[1, 0, 1, 0])  # won when longer: always at +30, never at -30
    >>> length_controlled_win_rates(Contests.of(["a", "b"], **pairs), [30, -30, 30, -30]).reason
    'outcomes follow from system and length without an error (complete separation): no finite estimate'
    """
    difference = np.asarray(length_difference, dtype=np.float64)
    if difference.shape != (len(contests),):
        raise InvalidInputError(
            f"length_difference has shape {difference.shape}, the contests are {len(contests)}: give one a contest."
        )
    if np.isinf(difference).any():
        raise InvalidInputError(
            "length_difference contains an infinite value: give numbers, NaN for an unknown length."
        )
    usable = ~np.isnan(contests.score) & ~np.isnan(difference)
    used, difference = contests.only(usable), difference[usable]
    placed, unplaced = placeable(used)
    scale = _pooled_standard_deviation(used, difference)
    design = np.empty((0, 0))
    reason = _why_unplaced(used, unplaced) or _why_no_scale(difference, scale)
    if reason is None:
        design = np.column_stack([strength_design(used, placed), np.tanh(difference / scale)])
        reason = _REASONS[why_not_finite(Outcomes.of(design, used.score, used.cluster, ties=False))]
    fit = None if reason is not None else fit_logit(Outcomes.of(design, used.score, used.cluster, ties=False))
    return LengthControlled(
        systems=contests.systems,
        win_rates=(None,) * len(contests.systems) if fit is None else _win_rates(used, placed, fit, level),
        length_effect=Parameter(None if fit is None else wald_interval(fit, _last(fit), level), reason),
        scale=scale or None,
        reason=reason,
        level=level,
        contests=len(used),
        unused=len(contests) - len(used),
        clusters=len(np.unique(used.cluster)),
    )


_REASONS = {
    None: None,
    "collinear": "the length difference cannot be told from the systems (collinear)",
    "separated": "outcomes follow from system and length without an error (complete separation): no finite estimate",
}


def _pooled_standard_deviation(used: Contests, difference: FloatArray) -> float:
    """Within pairs of systems; 0 when no pair has two contests."""
    towards = np.where(used.first < used.second, difference, -difference)
    pair = np.minimum(used.first, used.second) * len(used.systems) + np.maximum(used.first, used.second)
    label, size = np.unique(pair, return_inverse=True, return_counts=True)[1:]
    centred = towards - (np.bincount(label, weights=towards) / size)[label]
    freedom = len(towards) - len(size)
    return float(np.sqrt(np.sum(centred**2) / freedom)) if freedom else 0.0


def _why_no_scale(difference: FloatArray, scale: float) -> str | None:
    if not difference.any():
        return "all responses of a contest have the same length: there is no length effect to estimate"
    if scale <= 1e-9 * np.abs(difference).max():
        return "the length difference is constant within every pair: it cannot be told from the systems"
    return None


def _why_unplaced(used: Contests, unplaced: dict[int, str]) -> str | None:
    if not len(used):
        return "no contest has a score and a length difference"
    met = set(used.first.tolist()) | set(used.second.tolist())
    for system, why in unplaced.items():
        if system in met:
            return f"{used.systems[system]!r}: {why} (complete separation)"
    return None


def _last(fit: LogitFit) -> FloatArray:
    direction: FloatArray = np.eye(len(fit.parameters))[-1]
    return direction


def _win_rates(
    used: Contests, placed: npt.NDArray[np.intp], fit: LogitFit, level: float
) -> tuple[Interval | None, ...]:
    basis = strength_basis(len(placed))
    strengths = basis @ fit.parameters[:-1]
    meetings = used.meetings.sum(axis=0)[np.ix_(placed, placed)]
    expected = expit(strengths[:, None] - strengths[None, :])
    weights = meetings / meetings.sum(axis=1, keepdims=True)
    found: dict[int, Interval] = {}
    for position, system in enumerate(placed.tolist()):
        rate = float(weights[position] @ expected[position])
        slopes = weights[position] * expected[position] * (1 - expected[position])
        slope = (slopes.sum() * basis[position] - slopes @ basis) / (rate * (1 - rate))
        found[system] = wald_interval(fit, np.append(slope, 0.0), level, transform=expit, at=float(logit(rate)))
    return tuple(found.get(system) for system in range(len(used.systems)))
