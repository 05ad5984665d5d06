"""The likelihood that the paired-comparison models share: does it have a maximum, where, and how sure is that.

A contest has a linear predictor ``e = x·beta`` and up to three outcomes with utilities ``e/2`` (first wins), ``tau``
(tie) and ``-e/2`` (second wins); an outcome's probability is proportional to the exponential of its utility. Without
the tie outcome this is logistic regression, and a tie counts as half a win each. Bradley-Terry, Davidson,
Davidson-Beaver and the length-controlled model differ in nothing but ``x`` and the tie outcome.

Which systems have finite strengths at all, and the design matrix of those that have, is decided here too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.linalg import helmert
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from evenhand.errors import EstimationError
from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval
from evenhand.statistics.resampling import BoolArray, FloatArray, IntArray, check_level

GRADIENT_TOLERANCE = 1e-8
"""The largest gradient component of the mean log-likelihood that counts as converged."""


NO_VARIANCE = 1e-12
"""The share of the variance of independent contests up to which that of clusters is 0, and the optimiser's rounding."""

_ROWS_OF_FIRST_CHECK = 1000


@dataclass(frozen=True, eq=False)
class ContestOutcomes:
    """What a fit is given, a row per contest.

    Attributes:
        design: Shape (m, p): ``x``; or, with ``pattern``, (u, p), a row for each of the different ``x``.
        win: Shape (m,): weight of the outcome "first wins".
        tie: Shape (m,): weight of "tie"; all zero when ``ties`` is false.
        loss: Shape (m,): weight of "second wins".
        cluster: Shape (m,): 0 … G-1.
        ties: Whether the tie is an outcome with a parameter ``tau`` of its own.
        pattern: Shape (m,): the row of ``design`` that a contest has; None when it has its own.
    """

    design: FloatArray
    win: FloatArray
    tie: FloatArray
    loss: FloatArray
    cluster: IntArray
    ties: bool
    pattern: IntArray | None = None

    @classmethod
    def of(
        cls,
        design: FloatArray,
        score: FloatArray,
        cluster: IntArray,
        *,
        ties: bool,
        pattern: IntArray | None = None,
    ) -> ContestOutcomes:
        """Split scores in [0, 1] into outcome weights of sum 1 that keep the score.

        With ``ties`` a score between a tie and a win is shared between these two: 0.75 is half a tie and half a win.
        """
        labels = np.unique(cluster, return_inverse=True)[1]
        if not ties:
            return cls(design, score, np.zeros_like(score), 1.0 - score, labels, ties=False, pattern=pattern)
        decided = 2.0 * score - 1.0
        win, loss = np.maximum(decided, 0.0), np.maximum(-decided, 0.0)
        return cls(design, win, 1.0 - win - loss, loss, labels, ties=True, pattern=pattern)

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(np.unique(self.cluster))

    @property
    def totals(self) -> ContestOutcomes:
        """The same likelihood with a row a pattern: contests of one ``x`` added up, whatever their cluster."""
        if self.pattern is None:
            return self
        win, tie, loss = (
            np.bincount(self.pattern, weights=each, minlength=len(self.design)).astype(np.float64)
            for each in (self.win, self.tie, self.loss)
        )
        return ContestOutcomes(self.design, win, tie, loss, np.zeros(len(self.design), dtype=np.intp), ties=self.ties)


@dataclass(frozen=True, eq=False)
class LogitFit:
    """A maximum of the likelihood.

    Attributes:
        parameters: Shape (p,) or, with ties, (p + 1,): ``beta`` and then ``tau``.
        covariance: Cluster-robust (sandwich) covariance of the parameters; None with fewer than two clusters.
        information: The negative Hessian at the maximum.
        log_likelihood: At the maximum.
        iterations: Steps that the optimiser took.
        gradient: Largest component of the mean gradient at the end.
        clusters: Number of clusters, G.
    """

    parameters: FloatArray
    covariance: FloatArray | None
    information: FloatArray
    log_likelihood: float
    iterations: int
    gradient: float
    clusters: int

    def interval(
        self, index: int, level: float, *, scale: float = 1.0, transform: Callable[[float], float] = float
    ) -> Interval:
        """One parameter (-1 is the last), times ``scale``, with the interval of :func:`wald_interval`."""
        return wald_interval(self, np.eye(len(self.parameters))[index] * scale, level, transform=transform)


def added_contests(outcomes: ContestOutcomes, strengths: int) -> ContestOutcomes:
    """The outcomes and, for every two that met, a part of a contest that both won half of, shown in no order.

    The parts add up to one contest a strength and are shared out in proportion to the contests held. With them the
    strengths of all systems that a chain of contests connects are finite, whoever won everything: of two systems, n
    wins of n become n + ½ of n + 1.

    Source: Clogg, Rubin, Schenker, Schultz and Weidman, Multiple imputation of industry and occupation codes in census
    public-use samples using Bayesian logistic regression, Journal of the American Statistical Association 86 (1991),
    section 4; for one rate, Haldane, Annals of Human Genetics 20 (1956).

    Args:
        outcomes: With a pattern.
        strengths: Of the columns of the design, those that are strengths; the others are 0 in what is added.

    >>> import numpy as np
    >>> won = ContestOutcomes.of(np.ones((1, 1)), np.ones(3), np.arange(3), ties=False, pattern=np.zeros(3, dtype=int))
    >>> with_one_more = added_contests(won, 1)
    >>> with_one_more.totals.win.tolist(), with_one_more.totals.loss.tolist()
    ([3.0, 0.5], [0.0, 0.5])
    """
    totals = outcomes.totals
    contests = totals.win + totals.tie + totals.loss
    share = strengths * contests / contests.sum()
    plain = outcomes.design.copy()
    plain[:, strengths:] = 0.0
    own = np.arange(len(outcomes.design))
    pattern = own if outcomes.pattern is None else outcomes.pattern
    return ContestOutcomes(
        np.concatenate([outcomes.design, plain]),
        np.concatenate([outcomes.win, share / 2]),
        np.concatenate([outcomes.tie, np.zeros(len(share))]),
        np.concatenate([outcomes.loss, share / 2]),
        np.concatenate([outcomes.cluster, outcomes.cluster.max() + 1 + own]),
        outcomes.ties,
        np.concatenate([pattern, len(own) + own]),
    )


def why_not_finite(outcomes: ContestOutcomes) -> str | None:
    """Say why no unique finite maximum exists, or None when one does.

    The log-likelihood is concave. It has a unique finite maximum exactly when no direction of the parameters leaves
    every observed outcome's utility at least as far above each other outcome's as before. Such a direction is looked
    for by linear programming: with A the stacked utility differences of the observed outcomes, maximise sum(A d)
    subject to A d >= 0, |d| <= 1. If rank(A) < p the answer is ``"collinear"``; otherwise, if the optimum is
    positive, ``"separated"``.

    Source: Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression models,
    Biometrika 71 (1984); for Bradley-Terry alone it is Ford's condition, American Mathematical Monthly 64 (1957).

    >>> import numpy as np
    >>> ones, prompts = np.ones((2, 1)), np.array([0, 1])
    >>> why_not_finite(ContestOutcomes.of(ones, np.array([1.0, 1.0]), prompts, ties=False))
    'separated'
    >>> why_not_finite(ContestOutcomes.of(ones, np.array([1.0, 0.0]), prompts, ties=False)) is None
    True
    """
    differences = _utility_differences(outcomes.totals)
    size = min(_ROWS_OF_FIRST_CHECK, len(differences))
    while _has_separating_direction(differences[np.linspace(0, len(differences) - 1, size).astype(int)]):
        if size == len(differences):
            return "collinear" if np.linalg.matrix_rank(differences) < differences.shape[1] else "separated"
        size = min(8 * size, len(differences))
    return None


def _has_separating_direction(differences: FloatArray) -> bool:
    """Whether these rows leave a direction open; once some rows do not, no further row can: a part often settles it."""
    if np.linalg.matrix_rank(differences) < differences.shape[1]:
        return True
    solution = linprog(-differences.sum(axis=0), A_ub=-differences, b_ub=np.zeros(len(differences)), bounds=(-1.0, 1.0))
    if solution.status != 0:
        raise EstimationError(f"The check for a finite estimate did not finish: {solution.message}")
    return bool(-solution.fun > 1e-7)


def _utility_differences(outcomes: ContestOutcomes) -> FloatArray:
    design = outcomes.design
    if not outcomes.ties:
        rows = [design[outcomes.win > 0], -design[outcomes.loss > 0]]
    else:
        above = np.column_stack([design / 2, np.full(len(design), -1.0)])
        below = np.column_stack([-design / 2, np.full(len(design), -1.0)])
        tied = outcomes.tie > 0
        rows = [above[outcomes.win > 0], below[outcomes.loss > 0], -above[tied], -below[tied]]
        margin = np.column_stack([design, np.zeros(len(design))])
        rows += [margin[outcomes.win > 0], -margin[outcomes.loss > 0]]
    return np.unique(np.concatenate(rows), axis=0)


def fit_logit(outcomes: ContestOutcomes) -> LogitFit:
    """Maximise the likelihood by a trust-region Newton method with analytic gradient and Hessian.

    The covariance is ``G/(G-1) · H⁻¹ (Σ_g s_g s_gᵀ) H⁻¹`` with H the negative Hessian and s_g the score of cluster g:
    contests of one cluster may depend on one another in any way.

    Source: Liang and Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73 (1986).

    Args:
        outcomes: For which ``why_not_finite`` gives None; otherwise the result is meaningless.

    Raises:
        EstimationError: The optimiser did not converge.

    >>> import numpy as np
    >>> won = np.array([1.0, 1.0, 1.0, 0.0])  # three of four: log-odds log 3
    >>> fit = fit_logit(ContestOutcomes.of(np.ones((4, 1)), won, np.arange(4), ties=False))
    >>> round(float(np.exp(fit.parameters[0])), 6)
    3.0
    """
    totals = outcomes.totals
    weight = float((totals.win + totals.tie + totals.loss).sum())
    size = outcomes.design.shape[1] + int(outcomes.ties)

    def negative(parameters: FloatArray) -> tuple[float, FloatArray]:
        likelihood, scores = _log_likelihood_and_scores(totals, parameters)
        return -likelihood / weight, -scores.sum(axis=0) / weight

    solution = minimize(
        negative,
        np.zeros(size),
        jac=True,
        hess=lambda parameters: information_at(totals, parameters) / weight,
        method="trust-exact",
        options={"gtol": GRADIENT_TOLERANCE / 100, "maxiter": 200, "max_trust_radius": 1e6},
    )
    parameters = np.asarray(solution.x, dtype=np.float64)
    if not np.abs(solution.jac).max() <= GRADIENT_TOLERANCE / 100:
        # near the maximum the likelihood changes by less than its rounding, which stops the trust region too early
        parameters = parameters - np.linalg.solve(information_at(totals, parameters) / weight, solution.jac)
    gradient = float(np.abs(negative(parameters)[1]).max())
    if not gradient <= GRADIENT_TOLERANCE:
        raise EstimationError(
            f"The likelihood was not maximised: the gradient is {gradient:.3g} after {solution.nit} steps "
            f"({solution.message})."
        )
    likelihood, _ = _log_likelihood_and_scores(totals, parameters)
    information = information_at(totals, parameters)
    return LogitFit(
        parameters,
        _sandwich(outcomes, parameters, information),
        information,
        float(likelihood),
        int(solution.nit),
        gradient,
        outcomes.clusters,
    )


def wald_interval(
    fit: LogitFit,
    slope: FloatArray,
    level: float,
    *,
    transform: Callable[[float], float] = float,
    at: float | None = None,
) -> Interval:
    """A function of the parameters with its interval ``f ± t(G-1) · sqrt(slopeᵀ V slope)``, limits and all transformed.

    The limits are infinite (before the transformation) with one cluster, or without any spread between clusters.

    Args:
        fit: The parameters and their covariance V.
        slope: Shape of the parameters: the derivative of ``f``.
        level: In [0.5, 1).
        transform: Increasing; applied to the estimate and to both limits.
        at: The value of ``f``; by default ``slope·parameters``, which is right for a linear ``f``.
    """
    check_level(level)
    centre = float(slope @ fit.parameters) if at is None else float(at)
    variance = 0.0 if fit.covariance is None else float(slope @ fit.covariance @ slope)
    of_contests = float(slope @ np.linalg.solve(fit.information, slope))
    informed = variance > NO_VARIANCE * of_contests
    half = float(stats.t.ppf((1 + level) / 2, fit.clusters - 1)) * variance**0.5 if informed else np.inf
    estimate, low, high = (float(transform(value)) for value in (centre, centre - half, centre + half))
    return Interval(estimate, low, high, level, "cluster_sandwich_t", fit.clusters)


def _probabilities(outcomes: ContestOutcomes, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Utilities and probabilities, shape (m, 3): first wins, tie, second wins."""
    width = outcomes.design.shape[1]
    half = outcomes.design @ parameters[:width] / 2
    tie = np.full_like(half, parameters[width] if outcomes.ties else -np.inf)
    utilities = np.column_stack([half, tie, -half])
    log_probabilities = utilities - logsumexp(utilities, axis=1, keepdims=True)
    return log_probabilities, np.exp(log_probabilities)


def _excesses(outcomes: ContestOutcomes, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-probabilities of the patterns, and of every row how far its outcomes exceed what was expected: (m, 3)."""
    log_probabilities, probabilities = _probabilities(outcomes, parameters)
    counts = np.column_stack([outcomes.win, outcomes.tie, outcomes.loss])
    if outcomes.pattern is not None:
        log_probabilities, probabilities = log_probabilities[outcomes.pattern], probabilities[outcomes.pattern]
    return log_probabilities, counts - counts.sum(axis=1, keepdims=True) * probabilities


def _log_likelihood_and_scores(outcomes: ContestOutcomes, parameters: FloatArray) -> tuple[float, FloatArray]:
    log_probabilities, excess = _excesses(outcomes, parameters)
    counts = np.column_stack([outcomes.win, outcomes.tie, outcomes.loss])
    likelihood = float(np.sum(counts * np.where(counts > 0, log_probabilities, 0.0)))
    scores = outcomes.design * ((excess[:, 0] - excess[:, 2]) / 2)[:, None]
    return likelihood, np.column_stack([scores, excess[:, 1]]) if outcomes.ties else scores


def information_at(outcomes: ContestOutcomes, parameters: FloatArray) -> FloatArray:
    """The negative Hessian of the log-likelihood, of outcomes with a row a pattern."""
    total = outcomes.win + outcomes.tie + outcomes.loss
    return _information(outcomes.design, total[:, None] * _curvatures(outcomes, parameters), ties=outcomes.ties)


def informations_of_clusters(outcomes: ContestOutcomes, parameters: FloatArray, clusters: int) -> FloatArray:
    """The negative Hessian of every one of the first clusters, shape (clusters, p, p), p with the tie parameter."""
    pattern = np.arange(len(outcomes.win)) if outcomes.pattern is None else outcomes.pattern
    total = outcomes.win + outcomes.tie + outcomes.loss
    curvatures = total[:, None] * _curvatures(outcomes, parameters)[pattern]
    order = np.argsort(outcomes.cluster, kind="stable")
    ends = np.searchsorted(outcomes.cluster[order], np.arange(1, clusters + 1))
    found = np.empty((clusters, len(parameters), len(parameters)))
    for cluster, rows in enumerate(np.split(order, ends)[:clusters]):
        found[cluster] = _information(outcomes.design[pattern[rows]], curvatures[rows], ties=outcomes.ties)
    return found


def _curvatures(outcomes: ContestOutcomes, parameters: FloatArray) -> FloatArray:
    """Of one contest of each pattern, shape (m, 3): by the margin, by margin and tie, by the tie parameter."""
    _, probabilities = _probabilities(outcomes, parameters)
    win, tie, loss = probabilities.T
    return np.column_stack([((win + loss) - (win - loss) ** 2) / 4, -(win - loss) * tie / 2, tie * (1 - tie)])


def _information(design: FloatArray, curvatures: FloatArray, *, ties: bool) -> FloatArray:
    width = design.shape[1]
    information = np.empty((width + ties, width + ties))
    information[:width, :width] = design.T @ (design * curvatures[:, :1])
    if ties:
        information[:width, width] = information[width, :width] = curvatures[:, 1] @ design
        information[width, width] = curvatures[:, 2].sum()
    return information


def cluster_scores(outcomes: ContestOutcomes, parameters: FloatArray) -> FloatArray:
    """The gradient of every cluster's log-likelihood, shape (G, p) or, with ties, (G, p + 1)."""
    _, excess = _excesses(outcomes, parameters)
    rows = len(excess)
    columns = np.arange(rows) if outcomes.pattern is None else outcomes.pattern
    clusters = int(outcomes.cluster.max(initial=-1)) + 1
    shape = (clusters, len(outcomes.design))
    margins = csr_array(((excess[:, 0] - excess[:, 2]) / 2, (outcomes.cluster, columns)), shape=shape)
    scores: FloatArray = margins @ outcomes.design
    if not outcomes.ties:
        return scores
    return np.column_stack([scores, np.bincount(outcomes.cluster, weights=excess[:, 1], minlength=clusters)])


def _sandwich(outcomes: ContestOutcomes, parameters: FloatArray, information: FloatArray) -> FloatArray | None:
    clusters = outcomes.clusters
    if clusters < 2:
        return None
    by_cluster = cluster_scores(outcomes, parameters)
    spread = np.linalg.solve(information, by_cluster.T)
    covariance: FloatArray = clusters / (clusters - 1) * (spread @ spread.T)
    return covariance


def placeable(scored: Contests) -> tuple[IntArray, dict[int, str]]:
    """The systems that have finite strengths relative to one another, and for every other system the reason why not.

    They are the largest strongly connected component of the graph with an edge from each system to those that it took
    anything from (a win, or a tie). A component of one system has nothing to be compared with; of two equally
    large ones neither is preferred, and nobody is placed.

    >>> swept = Contests.of("abc", first=[0, 1, 2, 1], second=[1, 2, 1, 0], score=[1, 1, 1, 0])
    >>> placed, reasons = placeable(swept)
    >>> placed.tolist(), reasons
    ([1, 2], {0: 'won every contest: no finite strength'})
    """
    size, took = len(scored.systems), scored.wins_in_all
    _, label = connected_components(csr_array(took > 0), directed=True, connection="strong")
    sizes = np.bincount(label)
    largest = np.flatnonzero(sizes == sizes.max())
    unique = len(largest) == 1 and sizes.max() > 1
    placed = np.flatnonzero(label == largest[0]) if unique else np.empty(0, dtype=np.intp)
    chain = _NO_CHAIN if unique else _why_in_groups(took)
    reasons = {
        system: _why_not_placed(float(took[system].sum()), float(took[:, system].sum()), chain)
        for system in sorted(set(range(size)) - set(placed.tolist()))
    }
    return placed, reasons


_NO_CHAIN = "no chain of wins leads both from and to the systems that can be placed: no finite strength"
_NEVER_MET = "the systems fall into groups that never met in a scored contest: no finite strength"
_ONE_WAY = "the systems fall into groups between which all wins go one way: no finite strength"


def _why_in_groups(took: FloatArray) -> str:
    """Why nobody can be placed, where some systems both won and lost."""
    met = (took + took.T) > 0
    _, label = connected_components(csr_array(met), directed=False)
    return _NEVER_MET if len(np.unique(label[met.any(axis=1)])) > 1 else _ONE_WAY


def _why_not_placed(taken: float, given: float, chain: str) -> str:
    if taken + given == 0:
        return "no scored contest"
    if given == 0:
        return "won every contest: no finite strength"
    if taken == 0:
        return "lost every contest: no finite strength"
    return chain


def strength_design(opponents: IntArray, placed: IntArray, systems: int) -> FloatArray:
    """Shape (m, len(placed) - 1): ``e_first - e_second`` in an orthonormal basis of the strengths that sum to zero.

    Args:
        opponents: Shape (m, 2): the first and the second of each contest, both placed.
        placed: Which systems are.
        systems: How many there are in all.
    """
    where = np.full(systems, -1)
    where[placed] = np.arange(len(placed))
    first, second = strength_basis(len(placed))[where[opponents.T]]
    difference: FloatArray = first - second
    return difference


def met_in_order(core: Contests) -> tuple[BoolArray, IntArray]:
    """One contest of every two systems in every order that was shown, and which of these each contest is like.

    >>> kept, pattern = met_in_order(Contests.of("ab", first=[0, 1, 0], second=[1, 0, 1], score=[1, 1, 0]))
    >>> kept.tolist(), pattern.tolist()
    ([True, True, False], [0, 1, 0])
    """
    _, rows, pattern = np.unique(core.first * len(core.systems) + core.second, return_index=True, return_inverse=True)
    kept = np.zeros(len(core), dtype=np.bool_)
    kept[rows] = True
    places = np.argsort(np.argsort(rows))
    return kept, places[pattern]


def strength_basis(size: int) -> FloatArray:
    """Shape (size, size - 1): orthonormal columns, each of which sums to zero."""
    basis: FloatArray = helmert(size).T
    return basis
