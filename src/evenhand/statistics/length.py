"""The preference of a judge for long or short responses: its slope, and win rates adjusted for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from evenhand.numbers import Missing
from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import BoolArray, FloatArray, IntArray, Interval, IntervalLevel, Level
from evenhand.statistics.strengths import (
    LogitOutcomes,
    NotFinite,
    Ties,
    expected_win_rates,
    fit_logit,
    placeable,
    strength_design,
)


@dataclass(frozen=True)
class LengthControlled:
    """Win rates at equal length, or the reason why they are not identified.

    Attributes:
        win_rates: One per system; None if there is a reason, or the system has no usable contest.
        length_effect: Log-odds of a win for a response longer by much (``phi``); positive: the judge likes length;
            missing if there is a reason.
        scale: The length difference that ``tanh`` counts as 1, in the unit of the lengths; None when there is none.
        reason: The reason why nothing is identified; None when it is.
    """

    win_rates: tuple[Interval | None, ...]
    length_effect: Interval | Missing
    scale: float | None
    reason: str | None


def length_controlled_win_rates(
    contests: Contests, length_difference: ArrayLike, *, level: Level = 0.95
) -> LengthControlled:
    """Compute win rates as if both responses of every contest had the same length.

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
        level: The level of the intervals.

    >>> pairs = dict(first=[0] * 4, second=[1] * 4, score=[1, 0, 1, 0])  # won when longer: always at +30, never at -30
    >>> length_controlled_win_rates(Contests.of(["a", "b"], **pairs), [30, -30, 30, -30]).reason
    'outcomes follow from systems, lengths and covariates without an error (complete separation): no finite estimate'
    """
    difference = np.asarray(length_difference, dtype=float)
    usable = ~np.isnan(contests.score) & ~np.isnan(difference)
    used, difference = contests.only(usable), difference[usable]
    placed, unplaced = placeable(used)
    scale = _pooled_standard_deviation(used, difference)
    reason, fit = _why_none(used, unplaced, difference, scale), None
    if reason is None:
        opponents = np.column_stack([used.first, used.second])
        design = np.column_stack([strength_design(opponents, placed), np.tanh(difference / scale)])
        found = fit_logit(LogitOutcomes.of(design, used.score, used.cluster, ties=False))
        reason, fit = (_REASONS[found], None) if isinstance(found, str) else (None, found)
    rates: dict[int, Interval] = {}
    effect: Interval | Missing = Missing(reason or "")
    if fit is not None:
        meetings = (used.wins + used.wins.T)[np.ix_(placed, placed)]
        weights = meetings / meetings.sum(axis=1, keepdims=True)
        expected = expected_win_rates(fit, weights, ordered=False, ties=False, level=level)
        rates = dict(zip(placed.tolist(), expected, strict=True))
        effect = fit.interval(np.eye(len(fit.parameters))[-1], level)
    return LengthControlled(
        win_rates=tuple(map(rates.get, range(len(contests.systems)))),
        length_effect=effect,
        scale=scale or None,
        reason=reason,
    )


_REASONS: Mapping[NotFinite, str] = {
    "collinear": "length cannot be distinguished from the systems, the quality or the position (collinear)",
    "separated": "outcomes follow from systems, lengths and covariates without an error (complete separation): no "
    "finite estimate",
}


def _pooled_standard_deviation(used: Contests, difference: FloatArray) -> float:
    """Return the pooled standard deviation within pairs of systems; 0 if no pair has two contests."""
    low, high = np.minimum(used.first, used.second), np.maximum(used.first, used.second)
    towards = np.where(used.first == low, difference, -difference)
    label, size = np.unique(low * len(used.systems) + high, return_inverse=True, return_counts=True)[1:]
    centred = towards - (np.bincount(label, weights=towards) / size)[label]
    freedom = len(towards) - len(size)
    return float(np.sqrt(np.sum(centred**2) / freedom)) if freedom else 0.0


def _why_none(used: Contests, unplaced: dict[int, str], difference: FloatArray, scale: float) -> str | None:
    if not len(used):
        return "no contest has a score and a length difference"
    met = set(used.first.tolist()) | set(used.second.tolist())
    for system, why in unplaced.items():
        if system in met:
            return f"{used.systems[system]!r}: {why} (complete separation)"
    if not difference.any():
        return "all responses of a contest have the same length: there is no length effect to estimate"
    if scale <= 1e-9 * np.abs(difference).max():
        return "the length difference is constant within every pair: it cannot be distinguished from the systems"
    return None


@dataclass(frozen=True, slots=True)
class VerbositySlope:
    """The effect of length on winning, or the reason why it has no estimate.

    Attributes:
        slope: Log-odds of a win for each e-fold of the length ratio; positive: longer responses win.
        win_probability_at_double: The chance that a response twice as long as its equal wins, of decided verdicts
            with Davidson's ties; 0.5 is no effect.
        quality_effect: Log-odds of a win for each unit of the quality difference; None unless one was given.
        position_effect: Log-odds of a win for being shown first; None unless positions were given.
        reason: The reason why nothing is identified; None when it is.
        contests: Contests with a score, both lengths and the covariates.
    """

    slope: Interval | Missing
    win_probability_at_double: Interval | Missing
    quality_effect: Interval | Missing | None
    position_effect: Interval | Missing | None
    reason: str | None
    contests: int


def verbosity_slope(
    score: ArrayLike,
    lengths: ArrayLike,
    *,
    systems: ArrayLike | None = None,
    quality_difference: ArrayLike | None = None,
    shown_first: ArrayLike | None = None,
    ties: Ties = "half",
    level: Level = 0.95,
) -> VerbositySlope:
    r"""Fit a logistic regression of winning on the logarithm of the length ratio.

    .. math:: \mathrm{logit}\,P(a \text{ beats } b) =
              \lambda \log\frac{1 + \ell_a}{1 + \ell_b} + s_a - s_b + \beta (q_a - q_b) + \theta z

    by maximum likelihood; s is the strength of the system that wrote a response (``systems``), z is 1 if a is shown
    first, -1 if b is. No intercept: naming the responses the other way
    round changes nothing. At a doubled length the win probability is :math:`\sigma(\lambda \log 2)`; a slope below 0, a
    probability below 0.5: the judge prefers short responses. Intervals are cluster-robust, with Student's quantile for
    clusters less one.

    Ties. ``half`` counts one as half a win each: the slope of the win rate. ``davidson`` makes the tie an outcome of
    its own, :math:`P \propto e^{\eta/2} : \nu : e^{-\eta/2}`; λ is then that of decided verdicts, and larger (about
    :math:`1 + \nu/2` times), because a tie between unlike responses does not count as having no preference.

    What the slope is. Systems differ in length and in quality: without ``systems`` a better system that writes more
    gives a slope to a judge with no preference for length. With it the slope is that of responses of the same systems,
    where these are longer or shorter than usual. Simulated, at 95 %: two systems
    1.5 log-odds apart, the better one 1.6 times as long, no preference for length: a preference is found in 63 % (50
    prompts) and 100 % (200) of 300 data sets without the term, in 5 % and 6 % with it; a preference of 0.8, a better,
    shorter system (200 prompts): found in 22 % and covered in none without it, in 93 % and 96 % with it. Length
    and quality also go together within a system: without ``quality_difference`` the slope says how much more often a
    system wins with its longer responses, not that length is why. Given a quality (a gold preference as 1, 0, -1,
    or a score), it is the effect among pairs of equal quality, as far as that quality is the one the judge sees.

    Even if quality is independent of length, the slope without it is nearer to 0 than the judge's own preference: pairs
    far apart in quality are decided regardless of their lengths. For a quality difference with standard deviation s (in
    log-odds) it is a little less than :math:`\lambda / \sqrt{1 + 0.35\,s^2}`: for s = 1 five sixths of λ, for s = 2 six
    tenths. That is the effect averaged over the pairs at hand, not wrong but another number. With the quality on the
    judge's own scale the slope is the ``verbosity_preference`` of `evenhand.engines.free_engines`, λ itself; with a
    coarser one, something between. A position preference does the same to votes of single orders: give ``shown_first``.

    Args:
        score: (m,) the result of the first response a: 1, 0, 0.5 for a tie, anything between for an average of votes;
            NaN where there is none.
        lengths: (m, 2) the lengths of a and b, not negative, in any unit (one is added, so that an empty response has
            a ratio); NaN if unknown.
        systems: (m, 2) names or numbers of the systems that wrote a and b; None for no such term. Contests of systems
            that won or lost all of theirs, or that no chain of wins ties to the others, say nothing about length then
            and are left out.
        quality_difference: (m,) the quality of a less that of b; NaN if unknown.
        shown_first: (m,) 1 if a was shown first in the votes behind the score, -1 if b was, 0 if both orders are in it.
        ties: ``half`` or ``davidson``; the same where there are none.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters, such as prompts.

    Not identified, and said so: no contest, lengths that never differ, covariates that cannot be told from the
    lengths, outcomes that follow from them without an error (complete separation). With one cluster, or without any
    spread between clusters, the limits are infinite.

    Source: Davidson (1970) for ties; Zeger, Liang and Albert (1988), "Models for longitudinal data", for the
    attenuation (their constant is (16√3 / 15π)² = 0.346); Liang and Zeger (1986) for the standard errors.

    Twice as long (lengths 3 and 1 count as 4 and 2) wins 3 of 4 however named: the log-odds are log 3 = λ log 2.

    >>> found = verbosity_slope([1, 1, 0, 1, 0, 0, 1, 0], [[3, 1]] * 4 + [[1, 3]] * 4)
    >>> round(found.win_probability_at_double.estimate, 4), round(found.slope.estimate, 4)
    (0.75, 1.585)
    """
    won, long = np.asarray(score, dtype=float), np.asarray(lengths, dtype=float)
    labels = IntervalLevel.of(level).labels(len(won))
    given = {"quality": quality_difference, "position": shown_first}
    columns = {"length": np.log1p(long[:, 0]) - np.log1p(long[:, 1])}
    columns |= {name: np.asarray(values, dtype=float) for name, values in given.items() if values is not None}
    design = np.column_stack(list(columns.values()))
    usable = ~np.isnan(won) & ~np.isnan(design).any(axis=1)
    if systems is not None:
        strengths, usable = _strengths(systems, won, usable)
        design = np.column_stack([design, strengths])
    undecided = ties == "davidson" and bool(((won[usable] > 0) & (won[usable] < 1)).any())
    reason, fit = None, None
    if not usable.any():
        reason = "no contest has a score, both lengths and the covariates, between systems that both win some contests"
    elif not columns["length"][usable].any():
        reason = "both responses of every contest have the same length: there is no length effect to estimate"
    else:
        found = fit_logit(LogitOutcomes.of(design[usable], won[usable], labels[usable], ties=undecided))
        reason, fit = (_REASONS[found], None) if isinstance(found, str) else (None, found)

    def parameter(place: int, scale: float = 1.0, transform: Callable[[float], float] = float) -> Interval | Missing:
        slope = scale * np.eye(design.shape[1])[place]
        return Missing(reason or "") if fit is None else fit.interval(slope, level, transform=transform)

    effects = {name: parameter(place) for place, name in enumerate(columns)}
    return VerbositySlope(
        slope=effects["length"],
        win_probability_at_double=parameter(0, float(np.log(2)), expit),
        quality_effect=effects.get("quality"),
        position_effect=effects.get("position"),
        reason=reason,
        contests=int(usable.sum()),
    )


def _strengths(systems: ArrayLike, won: FloatArray, usable: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Return the columns of the systems' strengths, and the contests between systems whose strengths are finite."""
    names, index = np.unique(np.asarray(systems), return_inverse=True)
    pairs: IntArray = index.reshape(np.shape(systems))
    apart = pairs[:, 0] != pairs[:, 1]
    met = usable & apart
    contests = Contests.of([str(name) for name in names], first=pairs[met, 0], second=pairs[met, 1], score=won[met])
    placed, _ = placeable(contests)
    if not len(placed):
        return np.empty((len(won), 0)), usable & ~apart
    inside = np.isin(pairs, placed).all(axis=1)
    columns = np.zeros((len(won), len(placed) - 1))
    columns[inside] = strength_design(pairs[inside], placed)
    return columns, usable & (inside | ~apart)
