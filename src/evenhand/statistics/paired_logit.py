"""The likelihood that the paired-comparison models share: does it have a maximum, where, and how sure is that.

A contest has a linear predictor ``e = x·beta`` and up to three outcomes with utilities ``e/2`` (first wins), ``tau``
(tie) and ``-e/2`` (second wins); an outcome's probability is proportional to the exponential of its utility. Without
the tie outcome this is logistic regression, and a tie counts as half a win each. Bradley-Terry, Davidson,
Davidson-Beaver and the length-controlled model differ in nothing but ``x`` and the tie outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp

from evenhand.errors import EstimationError
from evenhand.statistics.dirichlet import check_level
from evenhand.statistics.intervals import Interval

FloatArray = npt.NDArray[np.float64]

GRADIENT_TOLERANCE = 1e-8
"""The largest gradient component of the mean log-likelihood that counts as converged."""


_ROWS_OF_FIRST_CHECK = 1000


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a fit is given, a row a contest.

    Attributes:
        design: Shape (m, p): ``x``.
        win: Shape (m,): weight of the outcome "first wins".
        tie: Shape (m,): weight of "tie"; all zero when ``ties`` is false.
        loss: Shape (m,): weight of "second wins".
        cluster: Shape (m,): 0 … G-1.
        ties: Whether the tie is an outcome with a parameter ``tau`` of its own.
    """

    design: FloatArray
    win: FloatArray
    tie: FloatArray
    loss: FloatArray
    cluster: npt.NDArray[np.intp]
    ties: bool

    @classmethod
    def of(cls, design: FloatArray, score: FloatArray, cluster: npt.NDArray[np.int64], *, ties: bool) -> Outcomes:
        """Split scores in [0, 1] into outcome weights of sum 1 that keep the score.

        With ``ties`` a score between a tie and a win is shared between these two: 0.75 is half a tie and half a win.
        """
        labels = np.unique(cluster, return_inverse=True)[1]
        if not ties:
            return cls(design, score, np.zeros_like(score), 1.0 - score, labels, ties=False)
        decided = 2.0 * score - 1.0
        win, loss = np.maximum(decided, 0.0), np.maximum(-decided, 0.0)
        return cls(design, win, 1.0 - win - loss, loss, labels, ties=True)

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(np.unique(self.cluster))


@dataclass(frozen=True, eq=False)
class LogitFit:
    """A maximum of the likelihood.

    Attributes:
        parameters: Shape (p,) or, with ties, (p + 1,): ``beta`` and then ``tau``.
        covariance: Cluster-robust (sandwich) covariance of the parameters; None with fewer than two clusters.
        log_likelihood: At the maximum.
        iterations: Steps that the optimiser took.
        gradient: Largest component of the mean gradient at the end.
        clusters: Number of clusters, G.
    """

    parameters: FloatArray
    covariance: FloatArray | None
    log_likelihood: float
    iterations: int
    gradient: float
    clusters: int


def why_not_finite(outcomes: Outcomes) -> str | None:
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
    >>> why_not_finite(Outcomes.of(ones, np.array([1.0, 1.0]), prompts, ties=False))
    'separated'
    >>> why_not_finite(Outcomes.of(ones, np.array([1.0, 0.0]), prompts, ties=False)) is None
    True
    """
    differences = _utility_differences(outcomes)
    if np.linalg.matrix_rank(differences) < differences.shape[1]:
        return "collinear"
    size = min(_ROWS_OF_FIRST_CHECK, len(differences))
    while _has_separating_direction(differences[np.linspace(0, len(differences) - 1, size).astype(int)]):
        if size == len(differences):
            return "separated"
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


def _utility_differences(outcomes: Outcomes) -> FloatArray:
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


def fit_logit(outcomes: Outcomes) -> LogitFit:
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
    >>> fit = fit_logit(Outcomes.of(np.ones((4, 1)), won, np.arange(4), ties=False))
    >>> round(float(np.exp(fit.parameters[0])), 6)
    3.0
    """
    weight = float((outcomes.win + outcomes.tie + outcomes.loss).sum())
    size = outcomes.design.shape[1] + int(outcomes.ties)

    def negative(parameters: FloatArray) -> tuple[float, FloatArray]:
        likelihood, scores = _log_likelihood_and_scores(outcomes, parameters)
        return -likelihood / weight, -scores.sum(axis=0) / weight

    solution = minimize(
        negative,
        np.zeros(size),
        jac=True,
        hess=lambda parameters: _information(outcomes, parameters) / weight,
        method="trust-exact",
        options={"gtol": GRADIENT_TOLERANCE / 100, "maxiter": 200, "max_trust_radius": 1e6},
    )
    parameters = np.asarray(solution.x, dtype=np.float64)
    if not np.abs(solution.jac).max() <= GRADIENT_TOLERANCE / 100:
        # near the maximum the likelihood changes by less than its rounding, which stops the trust region too early
        parameters = parameters - np.linalg.solve(_information(outcomes, parameters) / weight, solution.jac)
    gradient = float(np.abs(negative(parameters)[1]).max())
    if not gradient <= GRADIENT_TOLERANCE:
        raise EstimationError(
            f"The likelihood was not maximised: the gradient is {gradient:.3g} after {solution.nit} steps "
            f"({solution.message})."
        )
    likelihood, scores = _log_likelihood_and_scores(outcomes, parameters)
    return LogitFit(
        parameters,
        _sandwich(outcomes, parameters, scores),
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
    informed = variance > 1e-24
    half = float(stats.t.ppf((1 + level) / 2, fit.clusters - 1)) * variance**0.5 if informed else np.inf
    estimate, low, high = (float(transform(value)) for value in (centre, centre - half, centre + half))
    return Interval(estimate, low, high, level, "cluster_sandwich_t", fit.clusters)


def _probabilities(outcomes: Outcomes, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Utilities and probabilities, shape (m, 3): first wins, tie, second wins."""
    width = outcomes.design.shape[1]
    half = outcomes.design @ parameters[:width] / 2
    tie = np.full_like(half, parameters[width] if outcomes.ties else -np.inf)
    utilities = np.column_stack([half, tie, -half])
    log_probabilities = utilities - logsumexp(utilities, axis=1, keepdims=True)
    return log_probabilities, np.exp(log_probabilities)


def _log_likelihood_and_scores(outcomes: Outcomes, parameters: FloatArray) -> tuple[float, FloatArray]:
    log_probabilities, probabilities = _probabilities(outcomes, parameters)
    counts = np.column_stack([outcomes.win, outcomes.tie, outcomes.loss])
    likelihood = float(np.sum(counts * np.where(counts > 0, log_probabilities, 0.0)))
    excess = counts - counts.sum(axis=1, keepdims=True) * probabilities
    scores = outcomes.design * ((excess[:, 0] - excess[:, 2]) / 2)[:, None]
    return likelihood, np.column_stack([scores, excess[:, 1]]) if outcomes.ties else scores


def _information(outcomes: Outcomes, parameters: FloatArray) -> FloatArray:
    _, probabilities = _probabilities(outcomes, parameters)
    total = outcomes.win + outcomes.tie + outcomes.loss
    win, tie, loss = probabilities.T
    of_margin = total * ((win + loss) - (win - loss) ** 2) / 4
    design = outcomes.design
    information: FloatArray = design.T @ (design * of_margin[:, None])
    if not outcomes.ties:
        return information
    mixed = -(total * (win - loss) * tie / 2) @ design
    return np.block([[information, mixed[:, None]], [mixed[None, :], np.array([[np.sum(total * tie * (1 - tie))]])]])


def _sandwich(outcomes: Outcomes, parameters: FloatArray, scores: FloatArray) -> FloatArray | None:
    clusters = outcomes.clusters
    if clusters < 2:
        return None
    by_cluster = np.zeros((clusters, scores.shape[1]))
    np.add.at(by_cluster, outcomes.cluster, scores)
    spread = np.linalg.solve(_information(outcomes, parameters), by_cluster.T)
    covariance: FloatArray = clusters / (clusters - 1) * (spread @ spread.T)
    return covariance
