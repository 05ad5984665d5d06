"""Strengths of systems from paired comparisons: Davidson's model of ties with Davidson and Beaver's order effect.

With ``pi = exp(lambda)``, i shown first: ``P(i wins) : P(tie) : P(j wins)``
``= gamma · pi_i : nu · sqrt(gamma · pi_i · pi_j) : pi_j``, ``gamma = exp(delta)``, ``sum lambda = 0``. Davidson and
Beaver write ``pi_i : nu' sqrt(pi_i pi_j) : gamma' pi_j``; theirs are ``gamma' = 1/gamma`` and
``nu' = nu / sqrt(gamma)``, the likelihood is the same. Without a tie in the data, or with a tie counted as half a win
each, it is Bradley and Terry's.

All models of contests are one multinomial logit: an outcome (win, tie, loss) has a probability proportional to the
exponential of its utility, ``e/2``, ``tau`` and ``-e/2`` with a linear predictor ``e = x·beta``. They differ in ``x``
and in whether the tie is an outcome. The covariance is that of Liang and Zeger, robust to any dependence within a
cluster.

Sources: Bradley and Terry, Biometrika 39 (1952); Davidson, Journal of the American Statistical Association 65 (1970);
Davidson and Beaver, Biometrics 33 (1977); Ford, American Mathematical Monthly 64 (1957); Liang and Zeger, Biometrika 73
(1986).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np
from scipy import stats
from scipy.linalg import helmert
from scipy.sparse import csr_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit, logsumexp

from evenhand.errors import EstimationError
from evenhand.numbers import Missing
from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import FloatArray, IntArray, Interval, IntervalLevel, Level

Ties = Literal["davidson", "half"]
NotFinite = Literal["collinear", "separated"]

_NO_VARIANCE = 1e-12
"""The share of the variance of independent contests up to which that of clusters is 0, and rounding."""

_SINGULAR = 1e-9
"""The least eigenvalue of the information, relative to that at the start, below which a direction is unbounded."""

_MOST_STEPS = 100
"""The most steps of Newton's method; a handful is enough."""


@dataclass(frozen=True, eq=False, slots=True)
class LogitOutcomes:
    """The outcomes to which a logit is fitted.

    Attributes:
        features: Shape (u, o, p): for each of the different contests the derivative of the utility of each outcome.
        counts: Shape (clusters, u · o), sparse: how often each outcome occurred in each cluster.
        added: Shape (u · o,): outcomes added to those of all clusters; not data, so that they have no variance between
            clusters.
    """

    features: FloatArray
    counts: csr_array
    added: FloatArray

    @classmethod
    def of(
        cls, design: FloatArray, score: FloatArray, cluster: IntArray, *, ties: bool, pattern: IntArray | None = None
    ) -> LogitOutcomes:
        """Split scores in [0, 1] into outcome weights of sum 1 that keep the score.

        With ties as an outcome a score between a tie and a win is shared between these two: 0.75 is half a tie and half
        a win; else a score is that share of a win.

        Args:
            design: Shape (u, q): ``x``.
            score: Shape (m,).
            cluster: Shape (m,), any labels.
            ties: Whether the tie is an outcome with a parameter of its own, the last one.
            pattern: Shape (m,): the row of ``design`` that a contest has; by default each has its own.
        """
        decided = 2.0 * score - 1.0
        tied = [np.maximum(decided, 0.0), 1.0 - np.abs(decided), np.maximum(-decided, 0.0)]
        weights = np.column_stack(tied if ties else [score, 1.0 - score])
        labels = np.unique(cluster, return_inverse=True)[1]
        pattern = np.arange(len(score)) if pattern is None else pattern
        size = weights.shape[1]
        columns = pattern[:, None] * size + np.arange(size)
        shape = (int(labels.max(initial=-1)) + 1, len(design) * size)
        counts = csr_array((weights.ravel(), (np.repeat(labels, size), columns.ravel())), shape=shape)
        return cls(features_of(design, ties=ties), counts, np.zeros(shape[1]))

    def with_half_wins(self, strengths: int) -> LogitOutcomes:
        """Return the same and, for every two that met, a part of a contest that both won half of, shown in no order.

        The parts add up to one contest a strength and are shared out in proportion to the contests held. With them the
        strengths of all systems that a chain of contests connects are finite, whoever won everything: of two systems, n
        wins of n become n + ½ of n + 1.

        Source: Clogg, Rubin, Schenker, Schultz and Weidman, Multiple imputation of industry and occupation codes in
        census public-use samples using Bayesian logistic regression, Journal of the American Statistical Association 86
        (1991), section 4; for one rate, Haldane, Annals of Human Genetics 20 (1956).

        Args:
            strengths: Of the parameters, those that are strengths; order effects are 0 in what is added.
        """
        size, outcomes, _ = self.features.shape
        contests = self.counts.sum(axis=0).reshape(size, outcomes).sum(axis=1)
        halves = np.zeros((size, outcomes))
        halves[:, [0, -1]] = (strengths * contests / contests.sum() / 2)[:, None]
        plain = self.features.copy()
        plain[:, [0, -1], strengths:] = 0.0
        counts = hstack([self.counts, csr_array((self.counts.shape[0], halves.size))], format="csr")
        return LogitOutcomes(
            np.concatenate([self.features, plain]), counts, np.concatenate([self.added, halves.ravel()])
        )


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
        log_likelihood: The log-likelihood at the maximum.
        clusters: Number of clusters, G.
    """

    parameters: FloatArray
    covariance: FloatArray | None
    information: FloatArray
    log_likelihood: float
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


def fit_logit(outcomes: LogitOutcomes) -> LogitFit | NotFinite:
    """Maximise the likelihood by Newton's method, or say why it has no unique finite maximum.

    The log-likelihood is concave. A direction of the parameters in which it has no curvature at the start is not
    identified (``"collinear"``); one that loses its curvature while the likelihood still grows leaves every observed
    outcome at least as likely for ever (``"separated"``; Albert and Anderson, Biometrika 71 (1984)).

    The covariance is ``H⁻¹ (G/(G-1) Σ_g s_g s_gᵀ + A) H⁻¹`` with H the negative Hessian, s_g the score of cluster g and
    A the information of what was added.

    Raises:
        EstimationError: No convergence.

    >>> won = np.array([1.0, 1.0, 1.0, 0.0])  # three of four: log-odds log 3
    >>> fit = fit_logit(LogitOutcomes.of(np.ones((4, 1)), won, np.arange(4), ties=False))
    >>> round(float(np.exp(fit.parameters[0])), 6)
    3.0
    """
    features, size = outcomes.features, outcomes.features.shape[2]
    known = (outcomes.counts.sum(axis=0) + outcomes.added).reshape(features.shape[:2])
    parameters, scale, step = np.zeros(size), np.ones(size), 0
    logs, shares, centred = _around(features, parameters)
    while step < _MOST_STEPS:
        information = _information(known.sum(axis=1), shares, centred)
        scale = np.sqrt(np.maximum(np.diag(information), 1e-300)) if step == 0 else scale
        if np.linalg.eigvalsh(information / np.outer(scale, scale)).min(initial=1.0) < _SINGULAR:
            return "separated" if step else "collinear"
        move = np.linalg.solve(information, np.einsum("uo,uop->p", known, centred))
        likelihood = float((known * logs).sum())
        for _ in range(_MOST_STEPS):  # a whole step may lead too far
            logs, shares, centred = _around(features, parameters + move)
            if (known * logs).sum() >= likelihood - 1e-9 * abs(likelihood):
                break
            move = move / 2
        parameters, step = parameters + move, step + 1
        if np.abs(move * scale).max(initial=0.0) <= 1e-11 * max(1.0, np.abs(parameters * scale).max(initial=0.0)):
            break
    else:
        raise EstimationError(f"the likelihood was not maximised in {_MOST_STEPS} steps; please report the data")
    clusters, covariance = outcomes.counts.shape[0], None
    information = _information(known.sum(axis=1), shares, centred)
    if clusters > 1:
        scores = outcomes.counts @ centred.reshape(-1, size)
        of_added = _information(outcomes.added.reshape(known.shape).sum(axis=1), shares, centred)
        inverse = np.linalg.inv(information)
        covariance = inverse @ (clusters / (clusters - 1) * scores.T @ scores + of_added) @ inverse
    return LogitFit(parameters, covariance, information, float((known * logs).sum()), clusters)


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
        contests_added: Whether contests were added to keep strengths finite.
        placed: The systems that have a strength.
        fit: The fit: the strengths of these, the order effect if there is one, and the tie if it is an outcome.
        ordered: Whether there is an order effect.
        tied: Whether the tie is an outcome.
    """

    strengths: tuple[Interval | Missing, ...]
    position_probability: Interval | Missing
    level: float
    contests_added: bool
    placed: tuple[int, ...]
    fit: LogitFit | None = field(compare=False, repr=False)
    ordered: bool
    tied: bool

    @property
    def log_strengths(self) -> FloatArray:
        """The log strengths of the placed systems."""
        basis = strength_basis(len(self.placed))
        return basis @ self.fit.parameters[: basis.shape[1]] if self.fit else np.empty(0)

    def difference(self, first: int, second: int, *, adaptive: bool = False) -> tuple[Interval, float] | None:
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
            None if one of them is not placed.
        """
        if self.fit is None or not {first, second} <= set(self.placed):
            return None
        basis, fit = strength_basis(len(self.placed)), self.fit
        slope = basis[self.placed.index(first)] - basis[self.placed.index(second)]
        freedom, contrasts = max(fit.clusters - 1, 1), len(self.placed) - 1
        scheffe = float(np.sqrt(contrasts * stats.f.ppf(self.level, contrasts, freedom))) if adaptive else None
        found = fit.interval(slope, self.level, quantile=scheffe)
        ratio = abs(found.estimate) / fit.error(slope)
        alone = 2 * stats.t.sf(ratio, freedom)
        return found, float(stats.f.sf(ratio**2 / contrasts, contrasts, freedom) if adaptive else alone)

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
            contest a strength is added, half won by each side (:meth:`LogitOutcomes.with_half_wins`).

    >>> contests = Contests.of("ab", first=[0] * 3, second=[1] * 3, score=[1, 1, 0])  # the odds are 2 to 1
    >>> [round(2 * strength.estimate, 4) for strength in fit_strengths(contests).strengths]  # ± log 2
    [0.6931, -0.6931]
    >>> score = [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]  # equals; two ties of six: nu / (2 + nu) = 1/3, nu = 1
    >>> model = fit_strengths(Contests.of(["a", "b"], first=[0] * 6, second=[1] * 6, score=score))
    >>> round(float(np.exp(model.fit.parameters[-1])), 6)
    1.0
    """
    scored, level = contests.scored, IntervalLevel.of(level).level
    placed, reasons = (connected if place_all else placeable)(scored)
    core = scored.only(np.isin(scored.first, placed) & np.isin(scored.second, placed))
    tied = ties == "davidson" and bool(np.any((core.score > 0) & (core.score < 1)))
    fit, added, ordered = None, False, False
    no_fit, no_position = "no system could be placed", "the model was fitted without an order effect"
    attempts = product((False, True) if place_all else (False,), (True, False) if order_effect else (False,))
    for added, ordered in attempts if len(placed) else ():
        found = _fit(core, placed, ordered=ordered, ties=tied, halves=added)
        if isinstance(found, LogitFit):
            fit = found
            break
        no_fit = f"the likelihood has no unique finite maximum ({found})"
        no_fit = _ONLY_TIES if np.all(core.score == 0.5) else no_fit
        no_position = _NO_ORDER_EFFECT[found] if ordered else no_position
    strengths: dict[int, Interval | Missing] = {system: Missing(reason) for system, reason in reasons.items()}
    position: Interval | Missing = Missing(no_fit if order_effect and fit is None else no_position)
    if fit is None:
        strengths = {**dict.fromkeys(placed.tolist(), Missing(no_fit)), **strengths}
        placed = placed[:0]
    else:
        for system, own in zip(placed.tolist(), strength_basis(len(placed)), strict=True):
            strengths[system] = fit.interval(own, level)
        if ordered:
            slope = np.eye(len(placed))[-1]
            spread = np.isfinite(fit.error(slope))
            position = fit.interval(slope, level, transform=expit) if spread else Missing(_NO_SPREAD)
    return StrengthModel(
        strengths=tuple(strengths[system] for system in range(len(contests.systems))),
        position_probability=position,
        level=level,
        contests_added=added,
        placed=tuple(placed.tolist()),
        fit=fit,
        ordered=ordered and fit is not None,
        tied=tied,
    )


def _fit(core: Contests, placed: IntArray, *, ordered: bool, ties: bool, halves: bool) -> LogitFit | NotFinite:
    """Fit contests between placed systems; two systems in one order have one row of the design."""
    orders, pattern = np.unique(core.first * len(core.systems) + core.second, return_inverse=True)
    opponents = np.column_stack([orders // len(core.systems), orders % len(core.systems)])
    design = strength_design(opponents, placed)
    if ordered:
        design = np.column_stack([design, np.ones(len(design))])
    outcomes = LogitOutcomes.of(design, core.score, core.cluster, ties=ties, pattern=pattern)
    return fit_logit(outcomes.with_half_wins(len(placed) - 1) if halves else outcomes)


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


def connected(scored: Contests) -> tuple[IntArray, dict[int, str]]:
    """Return the systems with a scored contest if contests connect them all, and why the others have no place."""
    size = len(scored.systems)
    met = np.unique(np.concatenate([scored.first, scored.second]))
    reasons = {system: NO_CONTEST for system in range(size) if system not in set(met.tolist())}
    graph = csr_array((np.ones(len(scored)), (scored.first, scored.second)), shape=(size, size))
    label = connected_components(graph, directed=False)[1]
    if len(np.unique(label[met])) > 1:
        return met[:0], {**reasons, **{int(system): _APART for system in met}}
    return met, reasons


def placeable(scored: Contests) -> tuple[IntArray, dict[int, str]]:
    """Return the systems with finite strengths relative to one another, and per other system the reason.

    They are the largest strongly connected component of the graph with an edge from each system to those that it took
    anything from (a win, or a tie). A component of one system has nothing to be compared with; if two are equally
    large, no system is placed.

    >>> swept = Contests.of("abc", first=[0, 1, 2, 1], second=[1, 2, 1, 0], score=[1, 1, 1, 0])
    >>> placed, reasons = placeable(swept)
    >>> placed.tolist(), reasons
    ([1, 2], {0: 'won every contest: no finite strength'})
    """
    took = scored.wins
    _, label = connected_components(csr_array(took > 0), directed=True, connection="strong")
    sizes = np.bincount(label)
    unique = sizes.max() > 1 and (sizes == sizes.max()).sum() == 1
    placed = np.flatnonzero(label == sizes.argmax()) if unique else np.empty(0, dtype=np.int64)
    reasons = {}
    for system in sorted(set(range(len(took))) - set(placed.tolist())):
        taken, given = took[system].any(), took[:, system].any()
        known = {(False, False): NO_CONTEST, (True, False): "won", (False, True): "lost", (True, True): _NO_CHAIN}
        reason = known[bool(taken), bool(given)]
        reasons[system] = f"{reason} every contest: no finite strength" if reason in {"won", "lost"} else reason
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
