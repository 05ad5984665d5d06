"""Strengths of systems from paired comparisons: Bradley-Terry, Davidson's ties, Davidson and Beaver's order effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit, logsumexp

from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval
from evenhand.statistics.paired_logit import (
    ContestOutcomes,
    LogitFit,
    added_contests,
    fit_logit,
    met_in_order,
    placeable,
    strength_basis,
    strength_design,
    wald_interval,
    why_not_finite,
)
from evenhand.statistics.resampling import FloatArray, IntArray


@dataclass(frozen=True)
class Strength:
    """What a model says of one system.

    Attributes:
        system: Its name.
        log_strength: ``lambda``; those of the placed systems sum to zero. None when it has no finite value.
        share: ``exp(lambda)`` as a share of the placed systems' sum: the strength on the probability scale. Its
            interval is formed on the logit scale.
        reason: Why there is no finite strength; None when there is one.
    """

    system: str
    log_strength: Interval | None
    share: Interval | None
    reason: str | None


@dataclass(frozen=True)
class Parameter:
    """A parameter of the whole model, or the reason why it has no value.

    Attributes:
        interval: The estimate with its interval; None when there is a reason.
        reason: Why there is no estimate; None when there is one.
    """

    interval: Interval | None
    reason: str | None


@dataclass(frozen=True)
class PairedComparison:
    """A fitted paired-comparison model.

    Attributes:
        model: ``"bradley_terry"`` (a tie is half a win each) or ``"davidson"`` (a tie is an outcome of its own).
        strengths: One a system, in the order of ``Contests.systems``.
        tie: Davidson's ``nu``: between equals a tie has probability ``nu / (2 + nu)``. Without a tie in the
            data it is 0, on the boundary: a reason, no interval.
        position_log_odds: The log-odds that the first-shown wins a decided contest between equals; positive favours it.
        position_probability: The same as a probability: 0.5 is no position advantage.
        level: Of the intervals.
        contests: Scored contests.
        unscored: Contests without a score, left out.
        clusters: Prompts with a scored contest.
        log_likelihood: At the maximum; None when nothing could be fitted.
        iterations: Steps of the optimiser.
        gradient: The largest component of the mean gradient at the end.
    """

    model: Literal["bradley_terry", "davidson"]
    strengths: tuple[Strength, ...]
    tie: Parameter
    position_log_odds: Parameter
    position_probability: Parameter
    level: float
    contests: int
    unscored: int
    clusters: int
    log_likelihood: float | None
    iterations: int
    gradient: float | None


def fit_bradley_terry(contests: Contests, *, order_effect: bool = False, level: float = 0.95) -> PairedComparison:
    """Bradley-Terry strengths by maximum likelihood, a tie as half a win each.

    ``logit P(i beats j) = lambda_i - lambda_j (+ delta when i is shown first)``, ``sum lambda = 0``.

    Any score in [0, 1] counts as that share of a win. A system that won or lost every contest has no finite strength,
    and more generally the strengths are finite only within a set of systems in which a chain of wins leads from each
    to each (Ford's condition): the largest such set is placed, every other system carries a reason. The intervals are
    ``estimate ± t(G-1) · standard error`` with the covariance robust to any dependence within a prompt, G prompts.

    Source: Bradley and Terry, Biometrika 39 (1952); Ford, American Mathematical Monthly 64 (1957).

    Args:
        contests: With ``order_effect``, presented contests: who was shown first must be true.
        order_effect: Estimate the advantage ``delta`` of the system shown first.
        level: Of the intervals.

    >>> twice, once = [1.0, 1.0], [0.0]  # a beats b two times of three: log-odds log 2
    >>> contests = Contests.of(["a", "b"], first=[0] * 3, second=[1] * 3, score=twice + once)
    >>> fit = fit_bradley_terry(contests)
    >>> [round(strength.share.estimate, 4) for strength in fit.strengths if strength.share]
    [0.6667, 0.3333]
    """
    return _fit("bradley_terry", contests, order_effect=order_effect, level=level)


def fit_davidson(contests: Contests, *, order_effect: bool = False, level: float = 0.95) -> PairedComparison:
    """Davidson's model, in which a tie is an outcome; with ``order_effect``, Davidson and Beaver's.

    With ``pi = exp(lambda)``, i shown first: ``P(i wins) : P(tie) : P(j wins)``
    ``= gamma · pi_i : nu · sqrt(gamma · pi_i · pi_j) : pi_j``, ``gamma = exp(delta)``. Davidson and Beaver write
    ``pi_i : nu' sqrt(pi_i pi_j) : gamma' pi_j``; theirs are ``gamma' = 1/gamma`` and ``nu' = nu / sqrt(gamma)``, the
    likelihood is the same. Without a tie in the data ``nu`` is 0 and the model is Bradley-Terry's.

    A score between a tie and a win (votes averaged) is shared between the two outcomes so that the score is kept. A tie
    connects both ways in Ford's condition; the rest is as in ``fit_bradley_terry``.

    Source: Davidson, Journal of the American Statistical Association 65 (1970); Davidson and Beaver, Biometrics 33
    (1977).

    Args:
        contests: With ``order_effect``, presented contests: who was shown first must be true.
        order_effect: Estimate the advantage ``delta`` of the system shown first.
        level: Of the intervals.

    >>> score = [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]  # equals; two ties of six: nu / (2 + nu) = 1/3, nu = 1
    >>> fit = fit_davidson(Contests.of(["a", "b"], first=[0] * 6, second=[1] * 6, score=score))
    >>> round(fit.tie.interval.estimate, 6) if fit.tie.interval else fit.tie.reason
    1.0
    """
    return _fit("davidson", contests, order_effect=order_effect, level=level)


_NOT_ASKED = "the model was fitted without an order effect"


def _fit(
    model: Literal["bradley_terry", "davidson"], contests: Contests, *, order_effect: bool, level: float
) -> PairedComparison:
    scored = contests.scored
    placed, reasons = placeable(scored)
    rows = np.isin(scored.first, placed) & np.isin(scored.second, placed)
    core = scored.only(rows)
    has_ties = bool(np.any((core.score > 0) & (core.score < 1)))
    ties = model == "davidson" and has_ties
    tie_reason = "no tie was seen: nu is 0" if len(placed) else "no system could be placed"
    if model == "bradley_terry":
        tie_reason = "a tie counts as half a win each"

    outcomes, position_reason = field_outcomes(core, placed, order_effect=order_effect, ties=ties)
    problem = why_not_finite(outcomes) if len(placed) else None
    if problem is not None:
        why = (
            "every contest between systems that can be placed was a tie: strengths and tie parameter have no finite "
            "estimate"
            if np.all(core.score == 0.5)
            else f"the likelihood has no unique finite maximum ({problem})"
        )
        reasons = {**dict.fromkeys(placed.tolist(), why), **reasons}
        placed, tie_reason = placed[:0], why
        position_reason = position_reason or why
    fit = fit_logit(outcomes) if len(placed) else None

    log_odds, probability = _position(fit, len(placed) - 1, position_reason, level)
    return PairedComparison(
        model=model,
        strengths=_strengths(contests.systems, placed, reasons, fit, level),
        tie=Parameter(fit.interval(-1, level, transform=np.exp), None)
        if fit is not None and ties
        else Parameter(None, tie_reason),
        position_log_odds=log_odds,
        position_probability=probability,
        level=level,
        contests=len(scored),
        unscored=len(contests) - len(scored),
        clusters=len(np.unique(scored.cluster)),
        log_likelihood=None if fit is None else fit.log_likelihood,
        iterations=0 if fit is None else fit.iterations,
        gradient=None if fit is None else fit.gradient,
    )


def field_outcomes(
    core: Contests, placed: IntArray, *, order_effect: bool, ties: bool, added: bool = False
) -> tuple[ContestOutcomes, str | None]:
    """What to fit, with the order effect where that is identified, and the reason where it is not.

    Args:
        core: The scored contests of the placed systems.
        placed: Which these are.
        order_effect: Whether one is asked for.
        ties: Whether the tie is an outcome of its own.
        added: Add :func:`added_contests`, as rows behind those of the contests, each a cluster of its own.
    """
    kept, pattern = met_in_order(core)
    alike = core.only(kept)

    def of(design: FloatArray) -> ContestOutcomes:
        outcomes = ContestOutcomes.of(design, core.score, core.cluster, ties=ties, pattern=pattern)
        return added_contests(outcomes, len(placed) - 1) if added else outcomes

    if not len(placed):
        return of(np.empty((0, 0))), "no system could be placed" if order_effect else _NOT_ASKED
    design = strength_design(alike.opponents, placed, len(alike.systems))
    strengths = of(design)
    if not order_effect:
        return strengths, _NOT_ASKED
    with_order = of(np.column_stack([design, np.ones(len(alike))]))
    problem = why_not_finite(with_order)
    if problem == "collinear":
        return strengths, "the orders cannot be told from the systems: show pairs in both orders"
    if problem == "separated" and why_not_finite(strengths) is None:
        return strengths, "position decides every contest that strength does not: no finite estimate"
    return with_order, None


def _strengths(
    systems: tuple[str, ...],
    placed: IntArray,
    reasons: dict[int, str],
    fit: LogitFit | None,
    level: float,
) -> tuple[Strength, ...]:
    found: dict[int, Strength] = {
        system: Strength(systems[system], None, None, reason) for system, reason in reasons.items()
    }
    if fit is not None:
        basis = strength_basis(len(placed))
        width = basis.shape[1]
        log_strengths = basis @ fit.parameters[:width]
        unused = len(fit.parameters) - width
        for position, system in enumerate(placed.tolist()):
            # logit(share) = lambda - log(sum of the others' exp(lambda)): value and derivative
            others = np.delete(log_strengths, position)
            log_odds = log_strengths[position] - logsumexp(others)
            slope = np.insert(-np.exp(others - logsumexp(others)), position, 1.0) @ basis
            found[system] = Strength(
                systems[system],
                wald_interval(fit, np.pad(basis[position], (0, unused)), level),
                wald_interval(fit, np.pad(slope, (0, unused)), level, transform=expit, at=log_odds),
                None,
            )
    return tuple(found[system] for system in range(len(systems)))


def _position(fit: LogitFit | None, column: int, reason: str | None, level: float) -> tuple[Parameter, Parameter]:
    if fit is None or reason is not None:
        return Parameter(None, reason), Parameter(None, reason)
    log_odds = fit.interval(column, level)
    if not np.isfinite(log_odds.low):
        reason = "it is the same in every prompt, which leaves no spread to make an interval of"
        return Parameter(None, reason), Parameter(None, reason)
    return Parameter(log_odds, None), Parameter(fit.interval(column, level, transform=expit), None)


def expected_win_rates(
    fit: LogitFit, weights: FloatArray, *, ordered: bool, ties: bool, level: float
) -> tuple[Interval, ...]:
    """Of every placed system the win rate that the model expects against the others, each in both orders alike.

    The intervals are formed on the logit scale by the delta method.

    Args:
        fit: Of the strengths, then of the order effect if there is one, then of the tie.
        weights: Shape (p, p): how much each opponent counts; the rows sum to 1.
        ordered: Whether the order has an effect.
        ties: Whether the tie is an outcome of its own.
        level: Of the intervals.
    """
    basis = strength_basis(len(weights))
    width = basis.shape[1]
    strengths = basis @ fit.parameters[:width]
    advantage = float(fit.parameters[width]) if ordered else 0.0
    log_tie = float(fit.parameters[-1]) if ties else -np.inf
    margins = strengths[:, None] - strengths[None, :]
    ahead, behind = (_expected_score(margins + shown * advantage, log_tie) for shown in (1, -1))
    found = []
    for system, half in enumerate(weights / 2):
        rate = float(half @ (ahead[0] + behind[0])[system])
        by_margin = half * (ahead[1] + behind[1])[system]
        slope = np.zeros(len(fit.parameters))
        slope[:width] = by_margin.sum() * basis[system] - by_margin @ basis
        if ordered:
            slope[width] = half @ (ahead[1] - behind[1])[system]
        if ties:
            slope[-1] = half @ (ahead[2] + behind[2])[system]
        found.append(wald_interval(fit, slope / (rate * (1 - rate)), level, transform=expit, at=float(logit(rate))))
    return tuple(found)


def _expected_score(margins: FloatArray, log_tie: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(win) + P(tie)/2 at these margins, and its derivatives by the margin and by the tie parameter."""
    utilities = np.stack([margins / 2, np.full_like(margins, log_tie), -margins / 2])
    win, tie, loss = np.exp(utilities - np.logaddexp.reduce(utilities, axis=0))
    ahead = win - loss
    return win + tie / 2, win * (1 - ahead) / 2 - tie * ahead / 4, -tie * ahead / 2
