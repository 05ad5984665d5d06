"""Who is stronger where not all systems meet equally often: contrasts of strength, of all pairs at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval
from evenhand.statistics.paired_comparisons import expected_win_rates, field_outcomes
from evenhand.statistics.paired_logit import (
    ContestOutcomes,
    cluster_scores,
    fit_logit,
    information_at,
    informations_of_clusters,
    strength_basis,
    why_not_finite,
)
from evenhand.statistics.resampling import CELLS_AT_ONCE, FloatArray, IntArray

DRAWS = 5_000
"""Draws for the largest of all contrasts: the error of an adjusted p-value of 0.05 is 0.003."""

MOST_DRAWN_CLUSTERS = 300
"""Up to so many clusters the covariance is drawn too; with more, what that adds is below the error of the draws."""

CLUSTERS_PER_STRENGTH = 2
"""With fewer clusters for each strength the correlations are not known well enough: Bonferroni's bound instead."""

MOST_STEPS = 100
"""Of Newton's method; a handful is what it takes."""

MOST_CELLS = 20_000_000
"""Work allowed for the correction of the covariance for few clusters: clusters times squared parameters."""


@dataclass(frozen=True, eq=False)
class StrengthContrasts:
    """The strengths of all systems that can be compared, and of every two which is stronger.

    Attributes:
        systems: As in the contests.
        placed: Shape (p,): the systems that have a strength here.
        reasons: System -> why it has none.
        added: The contests alone leave a strength infinite (a system won or lost everything), so that contests were
            added: :func:`~evenhand.statistics.paired_logit.added_contests`.
        strengths: Shape (p,): log-strengths, which sum to zero.
        covariance: Shape (p, p): of these, by cluster.
        field_win_rates: Of the placed: the expected win rate of each against all the others, each once in both orders.
        differences: Shape (p, p): the strength of the row less that of the column.
        errors: Shape (p, p): their standard errors; infinite where the clusters say nothing of it.
        adjusted: Shape (p, p): p-values adjusted for all pairs.
        alone: Shape (p, p): p-values of each pair alone.
        margin: What the standard errors are multiplied by for intervals that hold all true differences at once.
        level: With which they do.
        clusters: How many.
        draws: Shape (draws, p): strengths as other samples of clusters might have given them.
    """

    systems: tuple[str, ...]
    placed: IntArray
    reasons: dict[int, str]
    added: bool
    strengths: FloatArray
    covariance: FloatArray
    field_win_rates: tuple[Interval, ...]
    differences: FloatArray
    errors: FloatArray
    adjusted: FloatArray
    alone: FloatArray
    margin: float
    level: float
    clusters: int
    draws: FloatArray

    def interval(self, row: int, column: int) -> Interval:
        """The difference of two placed systems' strengths, with its simultaneous interval."""
        difference, half = float(self.differences[row, column]), float(self.margin * self.errors[row, column])
        return Interval(
            difference, difference - half, difference + half, self.level, "max_t", self.clusters, len(self.draws)
        )


def contrast_strengths(
    contests: Contests,
    *,
    order_effect: bool = False,
    inflation: float = 1.0,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> StrengthContrasts:
    """Compare the strengths of every two systems, all at once.

    The strengths are those of ``fit_davidson``. Where a system won or lost everything, so that they are not finite,
    contests are added (one a strength in all, half won by each side): every system that a chain of contests connects
    with the others has a strength then. Systems in groups that never met have none.

    Two systems differ when ``|difference| / standard error`` exceeds a quantile of the largest such ratio over all
    pairs, by simulation with the correlations of the estimates and G - 1 degrees of freedom, G clusters; with few
    clusters that quantile is Bonferroni's. Up to 300 clusters the covariance is drawn with each draw (from Wishart's
    distribution), since every pair has a variance of its own to be estimated. The adjusted p-value is the share of the
    draws in which the largest ratio is at least the pair's (at most Bonferroni's), so that it is below ``1 - level``
    exactly where the pair's simultaneous interval excludes 0. The covariance is the sandwich by cluster with every
    cluster's part as leaving it out would move the estimate (the jackknife):
    ``(G - 1)/G · sum over g of d_g d_gᵀ``, ``d_g = (H - H_g)⁻¹ s_g``.

    With 8 equal systems on 40 prompts a difference was found in 5.0 % of 200 data sets where a tenth of the contests is
    unscored, in 2.0 % against a baseline, and in 4.5 % of Swiss designs of three rounds, with :func:`swiss_inflation`
    (``python -m benchmarks.ranks``; standard error 1.5 points); with 5 systems against a baseline, shown in both orders
    with the advantage of the first estimated, in 6.0 % of 400: the nominal 5 % is not a strict limit.

    Source: Davidson, Journal of the American Statistical Association 65 (1970); Hothorn, Bretz and Westfall,
    Simultaneous inference in general parametric models, Biometrical Journal 50 (2008), for the largest ratio; Bell and
    McCaffrey, Bias reduction in standard errors for linear regression with multi-stage samples, Survey Methodology 28
    (2002), for the covariance.

    Args:
        contests: Resolved, or, with ``order_effect``, presented.
        order_effect: Estimate the advantage of the system shown first.
        inflation: What the ratios are divided by: :func:`swiss_inflation` where results decided who met.
        level: With which all intervals together hold the true differences.
        draws: For the quantile, and for what ranks are drawn from.
        seed: Of the draws.

    >>> ladder = Contests.of("abc", first=[0, 1] * 20, second=[1, 2] * 20, score=[1, 1, 0, 1, 1, 1, 1, 0] * 5)
    >>> found = contrast_strengths(ladder)
    >>> (found.strengths.round(3) + 0.0).tolist()  # b is log 3 below a, and c is as much below b
    [1.099, 0.0, -1.099]
    """
    scored = contests.scored
    placed, reasons = _connected(scored)
    if not len(placed):
        return _nothing(contests.systems, reasons, level)
    ties = bool(np.any((scored.score > 0) & (scored.score < 1)))
    outcomes, order_reason = field_outcomes(scored, placed, order_effect=order_effect, ties=ties)
    added = why_not_finite(outcomes) is not None
    if added:
        outcomes, order_reason = field_outcomes(scored, placed, order_effect=order_effect, ties=ties, added=True)
    fit = fit_logit(outcomes)
    clusters = len(np.unique(scored.cluster))
    covariance = _covariance(outcomes, fit.parameters, clusters)
    basis = strength_basis(len(placed))
    width = basis.shape[1]
    strengths = basis @ fit.parameters[:width]
    of_strengths = basis @ covariance[:width, :width] @ basis.T
    errors = _standard_errors(of_strengths, informed=clusters > 1)
    errors = errors * inflation
    deviations, largest = _draw(of_strengths, errors / inflation, clusters, draws, seed)
    differences = strengths[:, None] - strengths[None, :]
    alone, adjusted, margin = _all_at_once(differences, errors, largest, clusters, level)
    return StrengthContrasts(
        systems=contests.systems,
        placed=placed,
        reasons=reasons,
        added=added,
        strengths=strengths,
        covariance=of_strengths,
        field_win_rates=expected_win_rates(
            replace(fit, covariance=covariance, clusters=clusters),
            (1.0 - np.eye(len(placed))) / max(len(placed) - 1, 1),
            ordered=order_effect and order_reason is None,
            ties=ties,
            level=level,
        ),
        differences=differences,
        errors=errors,
        adjusted=adjusted,
        alone=alone,
        margin=margin,
        level=level,
        clusters=clusters,
        draws=strengths + deviations,
    )


NO_CONTEST = "no scored contest"
_APART = "the systems fall into groups that never met in a scored contest: nobody can be ranked among all"


def _connected(scored: Contests) -> tuple[IntArray, dict[int, str]]:
    """The systems with a scored contest, if a chain of contests connects them all, and why the others have no place."""
    size = len(scored.systems)
    met = np.unique(np.concatenate([scored.first, scored.second]))
    reasons = {system: NO_CONTEST for system in range(size) if system not in set(met.tolist())}
    graph = csr_array((np.ones(len(scored)), (scored.first, scored.second)), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    if len(np.unique(label[met])) > 1:
        return met[:0].astype(np.intp), {**reasons, **{int(system): _APART for system in met}}
    return met.astype(np.intp), reasons


def _nothing(systems: tuple[str, ...], reasons: dict[int, str], level: float) -> StrengthContrasts:
    none, square = np.empty(0), np.empty((0, 0))
    nobody = np.empty(0, dtype=np.intp)
    return StrengthContrasts(
        systems, nobody, reasons, False, none, square, (), square, square, square, square, np.inf, level, 0, square
    )


def _covariance(outcomes: ContestOutcomes, parameters: FloatArray, clusters: int) -> FloatArray:
    """By cluster, the first ``clusters`` of the outcomes; what was added has the variance of the model."""
    information = information_at(outcomes.totals, parameters)
    scores = cluster_scores(outcomes, parameters)
    moved = np.linalg.solve(information, scores[:clusters].T).T
    if clusters * information.size <= MOST_CELLS:
        # one cluster that settles a strength alone moves it far when it is left out, but not for ever
        left = information - 0.999 * informations_of_clusters(outcomes, parameters, clusters)
        moved = np.linalg.solve(left, scores[:clusters, :, None])[:, :, 0]
    covariance: FloatArray = (clusters - 1) / clusters * (moved.T @ moved)
    if len(scores) > clusters:
        added = outcomes.cluster >= clusters
        only_added = ContestOutcomes(
            outcomes.design,
            np.where(added, outcomes.win, 0.0),
            np.where(added, outcomes.tie, 0.0),
            np.where(added, outcomes.loss, 0.0),
            outcomes.cluster,
            outcomes.ties,
            outcomes.pattern,
        )
        inverse = np.linalg.inv(information)
        covariance += inverse @ information_at(only_added.totals, parameters) @ inverse
    return covariance


def _standard_errors(covariance: FloatArray, *, informed: bool) -> FloatArray:
    variances = np.diag(covariance)
    squared = variances[:, None] + variances[None, :] - 2 * covariance
    known = (squared > 1e-18) & informed
    errors = np.sqrt(np.where(known, squared, np.inf))
    np.fill_diagonal(errors, 0.0)
    return errors


def strengths_of_wins(wins: FloatArray) -> tuple[float | None, ...]:
    """Bradley-Terry strengths from the wins of each against each alone, with one contest a strength added.

    Of few contests, as on one instance: what is added (see ``added_contests``) keeps every strength finite, and those
    of systems with equal results equal. By Newton's method.

    Args:
        wins: Shape (k, k): the score that row system took from column system.

    Returns:
        One a system, summing to zero; None for a system without a contest, and for all when a chain of contests does
        not connect the others.

    >>> beats = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0.5, 0, 0, 0]])  # of the first; it beats the third
    >>> beats[0] = 0, 0, 1, 0.5
    >>> [round(strength, 3) + 0.0 for strength in strengths_of_wins(beats)]  # 1 + 1/2 of 2: the odds are 3 to 1
    [0.0, 1.099, -1.099, 0.0]
    """
    first, second = np.nonzero(wins + wins.T)
    rows = np.zeros(len(first))
    placed, _ = _connected(
        Contests.of([str(each) for each in range(len(wins))], first=first, second=second, score=rows)
    )
    found: list[float | None] = [None] * len(wins)
    won = wins[np.ix_(placed, placed)]
    met = won + won.T
    won = won + (len(placed) - 1) * met / max(met.sum(), 1.0)
    met = won + won.T
    strengths = np.zeros(len(placed))
    for _ in range(MOST_STEPS if len(placed) else 0):
        expected = expit(strengths[:, None] - strengths[None, :])
        weights = met * expected * (1 - expected)
        curvature = np.diag(weights.sum(axis=1)) - weights + 1.0  # the ones hold the sum at zero
        step = np.clip(np.linalg.solve(curvature, (won - met * expected).sum(axis=1)), -1.0, 1.0)
        strengths = strengths + step
        if np.abs(step).max() < 1e-12:
            break
    for position, system in enumerate(placed.tolist()):
        found[system] = float(strengths[position])
    return tuple(found)


def swiss_inflation(contests: Contests, rounds: ArrayLike, *, level: float = 0.95, seed: int = 0) -> float:
    """How much larger the largest ratio of a difference to its error is because results decided who met.

    In a Swiss design neighbours of the ranking so far meet. Who leads by luck then meets others who do, never those at
    the bottom, and the luck of the first round stays in the difference to them: with ten equal systems and three rounds
    the unadjusted quantile found a difference in 21 % of the data sets instead of 5 %, with 20 prompts and with 200.
    With the result, eight equal systems, 40 prompts and three rounds: 4.5 % of 200 (``python -m benchmarks.ranks``).

    The design is played again under equal systems: in each round the places of the ranking so far meet as often as they
    did in the data, the outcomes are normal, and the largest ratio over all pairs is taken. The result is the quantile
    of that, divided by the quantile when the pairings of the data are held fixed; at least 1. Where systems are not
    equal the rankings vary less, and so does their effect.

    Args:
        contests: Resolved.
        rounds: Shape of the contests: the round in which each was drawn; the first round's pairs are drawn by lot.
        level: Of the quantiles.
        seed: Of the draws.
    """
    kept = ~np.isnan(contests.score)
    scored, number = contests.only(kept), np.asarray(rounds)[kept]
    placed, _ = _connected(scored)
    played = np.unique(number)
    if len(played) < 2 or len(placed) < 3:
        return 1.0
    generator = np.random.default_rng(seed)
    size, draws = len(placed), max(500, min(4000, CELLS_AT_ONCE // len(placed) ** 2))
    ahead, met = np.zeros((draws, size)), np.zeros((draws, size, size))
    for which in played:
        before, now = (_totals(scored.only(rows), placed) for rows in (number < which, number == which))
        standing = np.argsort(-_share(before[0].sum(axis=1), before[1].sum(axis=1)), kind="stable")
        by_place = now[1][np.ix_(standing, standing)]
        place = np.argsort(np.argsort(-_share(ahead + met.sum(axis=2) / 2, met.sum(axis=2)), axis=1), axis=1)
        again = by_place[place[:, :, None], place[:, None, :]]
        luck = np.triu(generator.standard_normal((draws, size, size)), 1) * np.sqrt(again) / 2
        ahead += luck.sum(axis=2) - luck.sum(axis=1)
        met += again
    adaptive = np.quantile(_largest(*_of_equals(ahead, met)), level)
    fixed = np.broadcast_to(_totals(scored, placed)[1], met.shape)
    luck = np.triu(generator.standard_normal(met.shape), 1) * np.sqrt(fixed) / 2
    ratio = adaptive / np.quantile(_largest(*_of_equals(luck.sum(axis=2) - luck.sum(axis=1), fixed)), level)
    return max(1.0, float(ratio))


def _totals(contests: Contests, placed: IntArray) -> tuple[FloatArray, FloatArray]:
    """Wins and meetings of the placed, shape (p, p)."""
    chosen = contests.wins_in_all[np.ix_(placed, placed)]
    return chosen, chosen + chosen.T


def _share(wins: FloatArray, meetings: FloatArray) -> FloatArray:
    share: FloatArray = np.divide(wins, meetings, out=np.full(wins.shape, 0.5), where=meetings > 0)
    return share


def _of_equals(ahead: FloatArray, met: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-strengths of systems nearly equal and the errors of their differences, from wins above a half of each."""
    size = met.shape[-1]
    laplacian = np.eye(size) * met.sum(axis=-1)[:, :, None] - met
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    strengths = 4 * (inverse @ ahead[:, :, None])[:, :, 0]
    variances = 4 * np.diagonal(inverse, axis1=1, axis2=2)
    squared = variances[:, :, None] + variances[:, None, :] - 8 * inverse
    return strengths, np.sqrt(np.where(squared > 1e-12, squared, np.inf))


def _draw(
    covariance: FloatArray, errors: FloatArray, clusters: int, draws: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Deviations of estimates with this covariance, shape (draws, p), and each draw's largest ratio, ascending."""
    generator = np.random.default_rng(seed)
    size, freedom = len(covariance), max(clusters - 1, 1)
    values, vectors = np.linalg.eigh(covariance)
    factor = vectors[:, 1:] * np.sqrt(np.maximum(values[1:], 0.0))  # the strengths sum to zero: the first value is 0
    deviations = generator.standard_normal((draws, size - 1)) @ factor.T
    drawn_t = deviations / np.sqrt(generator.chisquare(freedom, (draws, 1)) / freedom)
    if clusters > MOST_DRAWN_CLUSTERS or freedom < size:
        return drawn_t, np.sort(_largest(drawn_t, errors))
    largest = np.empty(draws)
    block = max(1, CELLS_AT_ONCE // size**2)
    for start in range(0, draws, block):
        part = deviations[start : start + block]
        roots = _wishart_roots(generator, len(part), size - 1, freedom)
        images = factor @ roots
        grams = images @ images.transpose(0, 2, 1)
        squares = np.diagonal(grams, axis1=1, axis2=2)
        variances = squares[:, :, None] + squares[:, None, :] - 2 * grams
        again = np.sqrt(np.maximum(variances, 1e-12 * errors**2))
        largest[start : start + block] = _largest(part, again)
    return drawn_t, np.sort(largest)


def _wishart_roots(generator: np.random.Generator, draws: int, size: int, freedom: int) -> FloatArray:
    """Lower triangular A with A Aᵀ a Wishart matrix divided by its degrees of freedom (Bartlett's decomposition)."""
    roots = np.tril(generator.standard_normal((draws, size, size)), -1)
    diagonal = np.arange(size)
    roots[:, diagonal, diagonal] = np.sqrt(generator.chisquare(freedom - diagonal, (draws, size)))
    scaled: FloatArray = roots / np.sqrt(freedom)
    return scaled


def _largest(deviations: FloatArray, errors: FloatArray) -> FloatArray:
    """The largest ratio of a difference to its error in every draw; errors of all draws or of each."""
    largest = np.zeros(len(deviations))
    for row in range(deviations.shape[1] - 1):
        gaps = np.abs(deviations[:, [row]] - deviations[:, row + 1 :]) / errors[..., row, row + 1 :]
        largest = np.maximum(largest, gaps.max(axis=1))
    return largest


def _all_at_once(
    differences: FloatArray, errors: FloatArray, largest: FloatArray, clusters: int, level: float
) -> tuple[FloatArray, FloatArray, float]:
    """P-values alone and adjusted, and the multiple of the standard errors that agrees with the adjusted ones."""
    rows, columns = np.triu_indices(len(differences), 1)
    freedom = max(clusters - 1, 1)
    ratios = np.abs(differences[rows, columns]) / errors[rows, columns]
    alone = 2 * stats.t.sf(ratios, freedom)
    adjusted = np.minimum(1.0, len(rows) * alone)
    margin = float(stats.t.isf((1 - level) / (2 * len(rows)), freedom))
    if clusters > CLUSTERS_PER_STRENGTH * (len(differences) - 1):
        reached = len(largest) - np.searchsorted(largest, ratios, side="left")
        adjusted = np.minimum(adjusted, (1 + reached) / (1 + len(largest)))
        above = int(np.ceil((1 - level) * (1 + len(largest)))) - 2  # as many draws may reach a ratio with p < 1 - level
        margin = min(margin, float(largest[len(largest) - 1 - above])) if above >= 0 else margin
    return _square(alone, len(differences)), _square(adjusted, len(differences)), margin


def _square(values: FloatArray, size: int) -> FloatArray:
    square = np.ones((size, size))
    rows, columns = np.triu_indices(size, 1)
    square[rows, columns] = square[columns, rows] = values
    return square
