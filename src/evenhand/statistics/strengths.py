"""Models of paired comparisons: strengths with ties and order effects, and the preference for long responses.

With ``pi = exp(lambda)``, i shown first: ``P(i wins) : P(tie) : P(j wins)``
``= gamma · pi_i : nu · sqrt(gamma · pi_i · pi_j) : pi_j``, ``gamma = exp(delta)``, ``sum lambda = 0``. Davidson and
Beaver write ``pi_i : nu' sqrt(pi_i pi_j) : gamma' pi_j``; theirs are ``gamma' = 1/gamma`` and
``nu' = nu / sqrt(gamma)``, the likelihood is the same. Without a tie in the data, or with a tie counted as half a win
each, it is Bradley and Terry's.

All models of contests are one multinomial logit: an outcome (win, tie, loss) has a probability proportional to the
exponential of its utility, ``e/2``, ``tau`` and ``-e/2`` with a linear predictor ``e = x·beta``. They differ in ``x``
(strengths, the place, lengths) and in whether the tie is an outcome. The covariance is that of Liang and Zeger, robust
to any dependence within a cluster.

Sources: Bradley and Terry, Biometrika 39 (1952); Davidson, Journal of the American Statistical Association 65 (1970);
Davidson and Beaver, Biometrics 33 (1977); Ford, American Mathematical Monthly 64 (1957); Liang and Zeger, Biometrika 73
(1986).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.linalg import helmert
from scipy.sparse import csr_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit, logsumexp

from evenhand.errors import EstimationError
from evenhand.numbers import Missing
from evenhand.statistics.contests import Contests, Difference, DifferenceTest
from evenhand.statistics.intervals import FloatArray, IntArray, Interval, IntervalLevel, Level

Ties = Literal["davidson", "half"]
NotFinite = Literal["collinear", "separated"]

_NO_VARIANCE = 1e-12
"""The share of the variance of independent contests up to which that of clusters is 0, and rounding."""

_SINGULAR = 1e-9
"""The least eigenvalue of the information, relative to that at the start, below which a direction is unbounded."""

_MOST_STEPS = 100
"""The most steps of Newton's method; a handful is enough."""


def features_of(design: FloatArray, *, ties: bool) -> FloatArray:
    """Return the derivatives of the outcomes' utilities for linear predictors with this design: shape (u, o, p)."""
    if not ties:
        return np.stack([design / 2, -design / 2], axis=1)
    column, none = np.ones((len(design), 1)), np.zeros((len(design), 1))
    win, tie, loss = (np.hstack(parts) for parts in ((design / 2, none), (0 * design, column), (-design / 2, none)))
    return np.stack([win, tie, loss], axis=1)


def _around(features: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return logarithms of the probabilities of the outcomes, the probabilities, and the features less their mean."""
    utilities = features @ parameters
    logs = utilities - logsumexp(utilities, axis=1, keepdims=True)
    shares = np.exp(logs)
    return logs, shares, features - np.einsum("uo,uop->up", shares, features)[:, None]


@dataclass(frozen=True, eq=False, slots=True)
class LogitFit:
    """A maximum of the likelihood.

    Attributes:
        parameters: Shape (p,): ``beta``, and then ``tau`` where the tie is an outcome.
        covariance: Robust to dependence within clusters; None with fewer than two clusters.
        information: The negative Hessian at the maximum.
        clusters: Number of clusters, G.
    """

    parameters: FloatArray
    covariance: FloatArray | None
    information: FloatArray
    clusters: int

    def interval(
        self,
        slope: FloatArray,
        level: Level,
        *,
        transform: Callable[[float], float] = float,
        at: float | None = None,
        quantile: float | None = None,
    ) -> Interval:
        """Return a function of the parameters with interval ``f ± t(G-1) · sqrt(slopeᵀ V slope)``, limits transformed.

        The limits are infinite (before the transformation) with one cluster, or without any spread between clusters.

        Args:
            slope: Shape of the parameters, or shorter where the last ones do not matter: the derivative of ``f``.
            level: In [0.5, 1).
            transform: Increasing; applied to the estimate and to both limits.
            at: The value of ``f``; by default ``slope·parameters``, which is right for a linear ``f``.
            quantile: In place of Student's.
        """
        level = float(IntervalLevel.of(level))
        centre, error = float(slope @ self.parameters[: len(slope)]) if at is None else at, self.error(slope)
        quantile = float(stats.t.ppf((1 + level) / 2, max(self.clusters - 1, 1))) if quantile is None else quantile
        half = quantile * error if np.isfinite(error) else np.inf
        estimate, low, high = (float(transform(value)) for value in (centre, centre - half, centre + half))
        return Interval(estimate, low, high, level, "cluster_sandwich_t", self.clusters)

    def error(self, slope: FloatArray) -> float:
        """Compute the standard error of a linear function of the parameters; infinite if it is not identified."""
        slope = np.pad(slope, (0, len(self.parameters) - len(slope)))
        variance = 0.0 if self.covariance is None else float(slope @ self.covariance @ slope)
        of_contests = float(slope @ np.linalg.solve(self.information, slope))
        return variance**0.5 if variance > _NO_VARIANCE * of_contests else np.inf


def fit_logit(
    design: FloatArray,
    score: FloatArray,
    cluster: IntArray,
    *,
    ties: bool,
    pattern: IntArray | None = None,
    half_wins: int = 0,
) -> LogitFit | NotFinite:
    r"""Maximise the likelihood by Newton's method, and compute the sandwich covariance over clusters.

    Scores in [0, 1] are split into outcome weights of sum 1 that keep the score. With ties as an outcome a score
    between a tie and a win is shared between these two: 0.75 is half a tie and half a win; else a score is that share
    of a win.

    With ``half_wins`` a fraction of a contest, half won by each side and without an order, is added for every two that
    met. The fractions are proportional to the contests held, and their sum is one contest per strength. With them the
    strengths of all systems that a chain of contests connects are finite, even if one won everything: of two systems, n
    wins of n become n + ½ of n + 1. They are not data, and have no variance between clusters.

    The log-likelihood is concave. A direction of the parameters in which it has no curvature at the start is not
    identified (``"collinear"``); one that loses its curvature while the likelihood still grows leaves every observed
    outcome at least as likely for ever (``"separated"``; Albert and Anderson, Biometrika 71 (1984)).

    The covariance is ``H⁻¹ (G/(G-1) Σ_g s_g s_gᵀ + A) H⁻¹`` with H the negative Hessian, s_g the score of cluster g and
    A the information of what was added.

    Args:
        design: Shape (u, q): ``x``.
        score: Shape (m,).
        cluster: Shape (m,), any labels.
        ties: Whether the tie is an outcome with a parameter of its own, the last one.
        pattern: Shape (m,): the row of ``design`` that a contest has; by default each has its own.
        half_wins: The number of strengths, which are the first parameters, if half wins are to be added; order effects
            are 0 in what is added.

    Raises:
        EstimationError: No convergence.

    Source: for the half wins, Clogg, Rubin, Schenker, Schultz and Weidman, Multiple imputation of industry and
    occupation codes in census public-use samples using Bayesian logistic regression, Journal of the American
    Statistical Association 86 (1991), section 4; for one rate, Haldane, Annals of Human Genetics 20 (1956).

    >>> won = np.array([1.0, 1.0, 1.0, 0.0])  # three of four: log-odds log 3
    >>> fit = fit_logit(np.ones((4, 1)), won, np.arange(4), ties=False)
    >>> round(float(np.exp(fit.parameters[0])), 6)
    3.0
    """
    decided = 2.0 * score - 1.0
    tied = [np.maximum(decided, 0.0), 1.0 - np.abs(decided), np.maximum(-decided, 0.0)]
    weights = np.column_stack(tied if ties else [score, 1.0 - score])
    labels = np.unique(cluster, return_inverse=True)[1]
    features, (contests, outcomes) = features_of(design, ties=ties), (len(design), weights.shape[1])
    columns = (np.arange(len(score)) if pattern is None else pattern)[:, None] * outcomes + np.arange(outcomes)
    shape = int(labels.max(initial=-1)) + 1, contests * outcomes
    counts = csr_array((weights.ravel(), (np.repeat(labels, outcomes), columns.ravel())), shape=shape)
    added = np.zeros((contests, outcomes))
    if half_wins:
        held, plain = counts.sum(axis=0).reshape(added.shape).sum(axis=1), features.copy()
        plain[:, [0, -1], half_wins:] = 0.0
        halves = np.zeros_like(added)
        halves[:, [0, -1]] = (half_wins * held / held.sum() / 2)[:, None]
        features, added = np.concatenate([features, plain]), np.concatenate([added, halves])
        counts = hstack([counts, csr_array(shape)], format="csr")
    known = counts.sum(axis=0).reshape(added.shape) + added
    parameters = _maximum(features, known)
    if isinstance(parameters, str):
        return parameters
    _, shares, centred = _around(features, parameters)
    information, clusters, covariance = _information(known.sum(axis=1), shares, centred), shape[0], None
    if clusters > 1:
        scores = counts @ centred.reshape(-1, len(parameters))
        inverse, of_added = np.linalg.inv(information), _information(added.sum(axis=1), shares, centred)
        covariance = inverse @ (clusters / (clusters - 1) * scores.T @ scores + of_added) @ inverse
    return LogitFit(parameters, covariance, information, clusters)


def _maximum(features: FloatArray, known: FloatArray) -> FloatArray | NotFinite:
    """Return the parameters of the greatest likelihood of these numbers of outcomes, shape (u, o)."""
    size = features.shape[2]
    parameters, scale = np.zeros(size), np.ones(size)
    logs, shares, centred = _around(features, parameters)
    for step in range(_MOST_STEPS):
        information = _information(known.sum(axis=1), shares, centred)
        scale = scale if step else np.sqrt(np.maximum(np.diag(information), 1e-300))
        if np.linalg.eigvalsh(information / np.outer(scale, scale)).min(initial=1.0) < _SINGULAR:
            return "separated" if step else "collinear"
        move = np.linalg.solve(information, np.einsum("uo,uop->p", known, centred))
        likelihood = float((known * logs).sum())
        for _ in range(_MOST_STEPS):  # a whole step may lead too far
            logs, shares, centred = _around(features, parameters + move)
            if (known * logs).sum() >= likelihood - 1e-9 * abs(likelihood):
                break
            move = move / 2
        parameters = parameters + move
        if np.abs(move * scale).max(initial=0.0) <= 1e-11 * max(1.0, np.abs(parameters * scale).max(initial=0.0)):
            return parameters
    raise EstimationError(f"the likelihood was not maximised in {_MOST_STEPS} steps; please report the data")


def _information(contests: FloatArray, shares: FloatArray, centred: FloatArray) -> FloatArray:
    flat = centred.reshape(-1, centred.shape[2])
    found: FloatArray = flat.T @ (flat * (contests[:, None] * shares).reshape(-1, 1))
    return found


@dataclass(frozen=True)
class StrengthModel:
    """A fitted model of strengths. What has no estimate gives the reason.

    Attributes:
        strengths: ``lambda`` of each system, in the order of ``Contests.systems``; those of the placed systems sum to
            zero.
        position_probability: The probability that the first-shown wins a decided contest between equals: 0.5 is no
            position advantage.
        level: The level of the intervals.
        placed: The systems that have a strength.
        fit: The fit: the strengths of these, the order effect if there is one, and the tie if it is an outcome.
        ordered: Whether there is an order effect.
        tied: Whether the tie is an outcome.
    """

    strengths: tuple[Interval | Missing, ...]
    position_probability: Interval | Missing
    level: float
    placed: tuple[int, ...] = ()
    fit: LogitFit | None = field(default=None, compare=False, repr=False)
    ordered: bool = False
    tied: bool = False

    @property
    def log_strengths(self) -> FloatArray:
        """The log strengths of the placed systems."""
        basis = strength_basis(len(self.placed))
        return basis @ self.fit.parameters[: basis.shape[1]] if self.fit else np.empty(0)

    def difference(self, first: int, second: int, *, adaptive: bool = False) -> Difference:
        r"""Return how far one system stands above another, with its interval and the p-value of no difference.

        Both are Wald's, with Student's t for one degree of freedom less than clusters. Where the results of one round
        decide who meets in the next, who leads by luck never meets those at the bottom, and the luck of the first round
        stays in the difference to them. Such pairs are picked by the data, and take Scheffé's quantile for p placed
        systems, :math:`\sqrt{(p - 1) F_{p-1, G-1}}`, which holds for all contrasts at once: that p-value is adjusted.

        Args:
            first: The position of the one system among all.
            second: That of the other.
            adaptive: Whether results decided who met.

        Returns:
            ``(None, None)`` if one of them is not placed.
        """
        if self.fit is None or not {first, second} <= set(self.placed):
            return None, None
        basis, fit = strength_basis(len(self.placed)), self.fit
        slope = basis[self.placed.index(first)] - basis[self.placed.index(second)]
        freedom, contrasts = max(fit.clusters - 1, 1), len(self.placed) - 1
        scheffe = float(np.sqrt(contrasts * stats.f.ppf(self.level, contrasts, freedom))) if adaptive else None
        found = fit.interval(slope, self.level, quantile=scheffe)
        ratio = abs(found.estimate) / fit.error(slope)
        p_value = stats.f.sf(ratio**2 / contrasts, contrasts, freedom) if adaptive else 2 * stats.t.sf(ratio, freedom)
        return found, DifferenceTest(float(p_value), float(p_value), "scheffe" if adaptive else "wald", fit.clusters)

    @property
    def field_win_rates(self) -> tuple[Interval, ...]:
        """The expected win rate of every placed system against all others, with equal weights."""
        size = len(self.placed)
        if self.fit is None:
            return ()
        weights = (1.0 - np.eye(size)) / max(size - 1, 1)
        return expected_win_rates(self.fit, weights, ordered=self.ordered, ties=self.tied, level=self.level)


NO_CONTEST = "no scored contest"
_APART = "the systems fall into groups that never met in a scored contest: no system can be ranked among all"
_NO_CHAIN = "no chain of wins leads both from and to the systems that can be placed: no finite strength"
_ONLY_TIES = (
    "every contest between systems that can be placed was a tie: strengths and tie parameter have no finite estimate"
)
_NO_SPREAD = "it is the same in every prompt, which leaves no spread to make an interval of"
_NO_ORDER_EFFECT: Mapping[NotFinite, str] = {
    "collinear": "the orders cannot be distinguished from the systems: show pairs in both orders",
    "separated": "position decides every contest that strength does not: no finite estimate",
}


def fit_strengths(
    contests: Contests,
    *,
    order_effect: bool = False,
    ties: Ties = "davidson",
    level: Level = 0.95,
    place_all: bool = False,
) -> StrengthModel:
    """Estimate strengths by maximum likelihood, with Wald intervals over clusters.

    A system that won or lost every contest has no finite strength, and more generally strengths are finite only within
    a set of systems in which a chain of wins and ties leads from each to each (Ford's condition): the largest such set
    is placed, every other system carries a reason.

    Args:
        contests: With ``order_effect``, presented contests: who was shown first must be true.
        order_effect: Estimate the advantage ``delta`` of the system shown first.
        ties: ``davidson`` makes the tie an outcome; ``half`` counts it as half a win each.
        level: The level of the intervals.
        place_all: Place all systems that a chain of contests connects. Where that leaves a strength infinite, one
            contest per strength is added, half won by each side (:func:`fit_logit`).

    >>> contests = Contests.of("ab", first=[0] * 3, second=[1] * 3, score=[1, 1, 0])  # the odds are 2 to 1
    >>> [round(2 * strength.estimate, 4) for strength in fit_strengths(contests).strengths]  # ± log 2
    [0.6931, -0.6931]
    >>> score = [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]  # equals; two ties of six: nu / (2 + nu) = 1/3, nu = 1
    >>> model = fit_strengths(Contests.of(["a", "b"], first=[0] * 6, second=[1] * 6, score=score))
    >>> round(float(np.exp(model.fit.parameters[-1])), 6)
    1.0
    """
    scored, level = contests.scored, IntervalLevel.of(level).level
    placed, reasons = placeable(contests, connected=place_all)
    core = scored.only(np.isin(scored.first, placed) & np.isin(scored.second, placed))
    tied = ties == "davidson" and bool(np.any((core.score > 0) & (core.score < 1)))
    no_fit, size = "no system could be placed", len(contests.systems)
    orders, pattern = np.unique(core.first * size + core.second, return_inverse=True)
    opponents = np.column_stack(np.divmod(orders, size))
    position: Interval | Missing = Missing("the model was fitted without an order effect")
    attempts = product((False, True) if place_all else (False,), (True, False) if order_effect else (False,))
    for added, ordered in attempts if len(placed) else ():
        design = np.column_stack([strength_design(opponents, placed), *[np.ones(len(orders))] * ordered])
        halves = (len(placed) - 1) * added
        fit = fit_logit(design, core.score, core.cluster, ties=tied, pattern=pattern, half_wins=halves)
        if isinstance(fit, str):
            no_fit = f"the likelihood has no unique finite maximum ({fit})"
            no_fit = _ONLY_TIES if np.all(core.score == 0.5) else no_fit
            position = Missing(_NO_ORDER_EFFECT[fit]) if ordered else position
            continue
        found = {each: fit.interval(own, level) for each, own in zip(placed, strength_basis(len(placed)), strict=True)}
        strengths = tuple(found.get(system) or Missing(reasons[system]) for system in range(size))
        if ordered:
            slope = np.eye(len(placed))[-1]
            spread = np.isfinite(fit.error(slope))
            position = fit.interval(slope, level, transform=expit) if spread else Missing(_NO_SPREAD)
        return StrengthModel(strengths, position, level, tuple(placed.tolist()), fit, ordered, tied)
    missing = tuple(Missing(reasons.get(system, no_fit)) for system in range(size))
    return StrengthModel(missing, Missing(no_fit) if order_effect else position, level)


def expected_win_rates(
    fit: LogitFit, weights: FloatArray, *, ordered: bool, ties: bool, level: Level
) -> tuple[Interval, ...]:
    """Compute every placed system's expected win rate against the others, with both orders weighted equally.

    The intervals are formed on the logit scale by the delta method.

    Args:
        fit: Of the strengths, then of the order effect and of covariates if there are some, which are 0 in what is
            expected, then of the tie.
        weights: Shape (p, p): how much each opponent counts; the rows sum to 1.
        ordered: Whether the order has an effect.
        ties: Whether the tie is an outcome of its own.
        level: The level of the intervals.
    """
    size = len(weights)
    first, second = np.nonzero(weights)
    basis, width = strength_basis(size), len(fit.parameters) - ties
    rates, slopes = np.zeros(size), np.zeros((size, len(fit.parameters)))
    for shown in (1.0, -1.0):
        design = np.zeros((len(first), width))
        design[:, : size - 1] = basis[first] - basis[second]
        if ordered:
            design[:, size - 1] = shown
        _, shares, centred = _around(features_of(design, ties=ties), fit.parameters)
        counted = shares * np.linspace(1.0, 0.0, shares.shape[1])  # a tie is half a win
        half = weights[first, second] / 2
        np.add.at(rates, first, half * counted.sum(axis=1))
        np.add.at(slopes, first, half[:, None] * np.einsum("uo,uop->up", counted, centred))
    return tuple(
        fit.interval(slope / (rate * (1 - rate)), level, transform=expit, at=float(logit(rate)))
        for rate, slope in zip(rates.tolist(), slopes, strict=True)
    )


def placeable(contests: Contests, *, connected: bool = False) -> tuple[IntArray, dict[int, str]]:
    """Return the systems with finite strengths relative to one another, and per other system the reason.

    They are the largest strongly connected component of the graph with an edge from each system to those that it took
    anything from (a win, or a tie). A component of one system has nothing to be compared with; if two are equally
    large, no system is placed. If it suffices that contests connect the systems, they are all that have one, or none.

    >>> swept = Contests.of("abc", first=[0, 1, 2, 1], second=[1, 2, 1, 0], score=[1, 1, 1, 0])
    >>> placed, reasons = placeable(swept)
    >>> placed.tolist(), reasons
    ([1, 2], {0: 'won every contest: no finite strength'})
    """
    took, held = replace(contests, weight=np.ones(len(contests))).meetings.totals
    _, label = connected_components(csr_array((held if connected else took) > 0), connection="strong")
    sizes = np.bincount(label)
    rivals = (sizes > 1) if connected else (sizes == sizes.max(initial=0))
    unique = sizes.max(initial=0) > 1 and rivals.sum() == 1
    placed = np.flatnonzero(label == sizes.argmax()) if unique else np.empty(0, dtype=np.int64)
    reasons = {}
    for system in sorted(set(range(len(took))) - set(placed.tolist())):
        won, lost = took[system].any(), took[:, system].any()
        reason = _APART if connected else _NO_CHAIN
        if not won and not lost:
            reason = NO_CONTEST
        elif not connected and not (won and lost):
            reason = f"{'won' if won else 'lost'} every contest: no finite strength"
        reasons[system] = reason
    return placed, reasons


def strength_design(opponents: IntArray, placed: IntArray) -> FloatArray:
    """Return the design (m, len(placed) - 1): ``e_first - e_second`` in a basis of strengths that sum to zero.

    Args:
        opponents: Shape (m, 2): the first and the second of each contest, both placed.
        placed: The placed systems, ascending.
    """
    first, second = strength_basis(len(placed))[np.searchsorted(placed, opponents.T)]
    difference: FloatArray = first - second
    return difference


def strength_basis(size: int) -> FloatArray:
    """Return orthonormal columns that each sum to zero: shape (size, size - 1)."""
    basis: FloatArray = helmert(size).T if size else np.empty((0, 0))
    return basis


def length_controlled_win_rates(
    contests: Contests, length_difference: ArrayLike, *, level: Level = 0.95
) -> tuple[Interval | Missing, ...]:
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

    A system that won or lost every contest has no such rate, and its contests are left out. Not identified (the
    result gives the reason): lengths that differ by a constant within every pair (length cannot be distinguished from
    the system), lengths that are all equal, outcomes that length and system predict without an error (complete
    separation).

    Args:
        contests: Resolved contests.
        length_difference: Shape (m,): length of the first response minus that of the second; NaN when unknown.
        level: The level of the intervals.

    >>> pairs = dict(first=[0] * 4, second=[1] * 4, score=[1, 0, 1, 0])  # won when longer: always at +30, never at -30
    >>> length_controlled_win_rates(Contests.of(["a", "b"], **pairs), [30, -30, 30, -30])[0].reason
    'outcomes follow from systems, lengths and covariates without an error (complete separation): no finite estimate'
    """
    difference = np.asarray(length_difference, dtype=float)
    usable = ~np.isnan(contests.score) & ~np.isnan(difference)
    placed, unplaced = placeable(contests.only(usable))
    usable &= np.isin(contests.first, placed) & np.isin(contests.second, placed)
    used, difference = contests.only(usable), difference[usable]
    scale = _pooled_standard_deviation(used, difference) or 1.0
    strengths = strength_design(np.column_stack([used.first, used.second]), placed)
    fit = _fit_lengths(strengths, np.tanh(difference / scale)[:, None], used.score, used.cluster, ties=False)
    if isinstance(fit, Missing):
        return (fit,) * len(contests.systems)
    rates: dict[int, Interval | Missing] = {system: Missing(reason) for system, reason in unplaced.items()}
    meetings = used.meetings.totals[1][np.ix_(placed, placed)]
    weights = meetings / meetings.sum(axis=1, keepdims=True)
    rates |= zip(placed.tolist(), expected_win_rates(fit, weights, ordered=False, ties=False, level=level), strict=True)
    return tuple(rates[system] for system in range(len(rates)))


def _fit_lengths(
    strengths: FloatArray, covariates: FloatArray, score: FloatArray, cluster: IntArray, *, ties: bool
) -> LogitFit | Missing:
    """Fit strengths and covariates, length first, or return the reason why length has no estimate."""
    if not len(score):
        return Missing(
            "no contest has a score, both lengths and the covariates, between systems that both win some contests"
        )
    if not covariates[:, 0].any():
        return Missing("both responses of every contest have the same length: there is no length effect to estimate")
    found = fit_logit(np.column_stack([strengths, covariates]), score, cluster, ties=ties)
    return found if isinstance(found, LogitFit) else Missing(_NO_LENGTH_EFFECT[found])


_NO_LENGTH_EFFECT: Mapping[NotFinite, str] = {
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


@dataclass(frozen=True, slots=True)
class VerbositySlope:
    """The effect of length on winning.

    Attributes:
        slope: Log-odds of a win for each e-fold of the length ratio; positive: longer responses win.
        win_probability_at_double: The chance that a response twice as long as its equal wins, of decided verdicts
            with Davidson's ties; 0.5 is no effect.
    """

    slope: Interval
    win_probability_at_double: Interval


def verbosity_slope(
    score: ArrayLike,
    lengths: ArrayLike,
    *,
    systems: ArrayLike | None = None,
    quality_difference: ArrayLike | None = None,
    shown_first: ArrayLike | None = None,
    ties: Ties = "half",
    level: Level = 0.95,
) -> VerbositySlope | Missing:
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

    Not identified (the result gives the reason): no contest, lengths that never differ, covariates that cannot be
    distinguished from the lengths, outcomes that follow from them without an error (complete separation). With one
    cluster, or without any spread between clusters, the limits are infinite.

    Source: Davidson (1970) for ties; Zeger, Liang and Albert (1988), "Models for longitudinal data", for the
    attenuation (their constant is (16√3 / 15π)² = 0.346); Liang and Zeger (1986) for the standard errors.

    Twice as long (lengths 3 and 1 count as 4 and 2) wins 3 of 4 however named: the log-odds are log 3 = λ log 2.

    >>> found = verbosity_slope([1, 1, 0, 1, 0, 0, 1, 0], [[3, 1]] * 4 + [[1, 3]] * 4)
    >>> round(found.win_probability_at_double.estimate, 4), round(found.slope.estimate, 4)
    (0.75, 1.585)
    """
    won, long = np.asarray(score, dtype=float), np.asarray(lengths, dtype=float).reshape(-1, 2)
    given = (np.log1p(long[:, 0]) - np.log1p(long[:, 1]), quality_difference, shown_first)
    covariates = np.column_stack([np.asarray(values, dtype=float) for values in given if values is not None])
    usable = ~np.isnan(won) & ~np.isnan(covariates).any(axis=1)
    strengths = np.empty((int(usable.sum()), 0))
    if systems is not None:
        names, places = np.unique(np.asarray(systems), return_inverse=True)
        pairs = places.reshape(-1, 2)
        contests = Contests.of(names.tolist(), first=pairs[:, 0], second=pairs[:, 1], score=won)
        placed, _ = placeable(contests.only(usable))
        usable &= np.isin(pairs, placed).all(axis=1)
        strengths = strength_design(pairs[usable], placed)
    labels, won = IntervalLevel.of(level).labels(len(won))[usable], won[usable]
    undecided = ties == "davidson" and bool(((won > 0) & (won < 1)).any())
    fit = _fit_lengths(strengths, covariates[usable], won, labels, ties=undecided)
    if isinstance(fit, Missing):
        return fit
    of_length = np.eye(len(fit.parameters))[strengths.shape[1]]
    double = fit.interval(float(np.log(2)) * of_length, level, transform=expit)
    return VerbositySlope(fit.interval(of_length, level), double)
