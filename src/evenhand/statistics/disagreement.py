"""An agreement coefficient from disagreement observed and disagreement expected, and its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evenhand.errors import EstimationError
from evenhand.statistics.clusters import IntervalLevel, cluster_sums, size_of_unseen
from evenhand.statistics.dirichlet import check_level, dirichlet_weights
from evenhand.statistics.intervals import Interval

FloatArray = NDArray[np.float64]

Parts = tuple[FloatArray, FloatArray]
"""Observed and expected disagreement, each (draws,)."""

Disagreement = Callable[[FloatArray], Parts]
"""From sums over units, (draws, n_columns): every coefficient is a function of such sums."""


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """What the units contribute to the sums of which a coefficient is a function.

    Attributes:
        rows: (n_units, n_columns): a unit's contribution.
        agreeing: (n, n_columns): what a unit in perfect agreement would contribute, one row a category.
        disagreeing: (n, n_columns): what a unit in disagreement would contribute, one row a pair of categories.
        kept: (n_all_units,): which of the units given these are, the others lacking the ratings that are needed.
        categories: The values of the scale, in order.
    """

    rows: FloatArray
    agreeing: FloatArray
    disagreeing: FloatArray
    kept: NDArray[np.bool_]
    categories: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """An agreement coefficient and what it was computed from.

    Attributes:
        coefficient: ``percent_agreement``, ``cohen_kappa``, ``fleiss_kappa``, ``krippendorff_alpha`` or ``gwet_ac``.
        weighting: How far apart two categories are: None or ``nominal``, ``ordinal``, ``interval``, ``linear``,
            ``quadratic``.
        estimate: 1 - observed_disagreement / expected_disagreement.
        interval: Of the estimate; its ``n`` is the number of clusters of the units used.
        observed_disagreement: Mean disagreement of two ratings of one unit.
        expected_disagreement: Mean disagreement by chance; 1 for percent agreement, which allows none.
        categories: The values of the scale, in order.
        n_units: Units used.
        n_set_aside: Units left out because they lack the ratings that the coefficient needs.
    """

    coefficient: str
    weighting: str | None
    estimate: float
    interval: Interval
    observed_disagreement: float
    expected_disagreement: float
    categories: tuple[float, ...]
    n_units: int
    n_set_aside: int


def agreement_from(
    coefficient: str,
    weighting: str | None,
    units: Units,
    disagreement: Disagreement,
    *,
    level: float,
    resamples: int,
    seed: int,
) -> Agreement:
    """The coefficient 1 - D_o / D_e of the units, with its interval.

    Raises:
        EstimationError: No disagreement is expected by chance, so that the coefficient is 0 / 0.
    """
    check_level(level)
    confidence = IntervalLevel.of(level).only(units.kept)
    observed, expected = (float(part[0]) for part in disagreement(units.rows.sum(axis=0, keepdims=True)))
    if expected <= 1e-12:
        raise EstimationError(
            f"{coefficient} is undefined: only one category was used, so that chance alone gives perfect agreement; "
            "report percent_agreement or gwet_ac instead"
        )
    estimate = 1 - observed / expected
    labels = confidence.labels(len(units.rows))
    n = int(labels.max()) + 1
    low, high = _limits(units, labels, disagreement, level=level, resamples=resamples, seed=seed)
    interval = Interval(
        estimate, min(low, estimate), max(high, estimate), level, "dirichlet_bootstrap", n, resamples, seed
    )
    return Agreement(
        coefficient=coefficient,
        weighting=weighting,
        estimate=estimate,
        interval=interval,
        observed_disagreement=observed,
        expected_disagreement=expected,
        categories=units.categories,
        n_units=len(units.rows),
        n_set_aside=int((~units.kept).sum()),
    )


def _limits(
    units: Units, labels: NDArray[np.int64], disagreement: Disagreement, *, level: float, resamples: int, seed: int
) -> tuple[float, float]:
    rows, size = cluster_sums(units.rows, labels), size_of_unseen(labels)
    n = len(rows)
    worst = _most_influential(rows, units.disagreeing * size, disagreement, sign=-1)
    best = _most_influential(rows, units.agreeing * size, disagreement, sign=1)
    lows, highs = [], []
    for weights, unseen in dirichlet_weights(n, resamples=resamples, seed=seed):
        scale = n / weights.sum(axis=1, keepdims=True)
        sums, added = weights * scale @ rows, unseen[:, None] * scale
        lows.append(_coefficient(disagreement, sums + added * worst))
        highs.append(_coefficient(disagreement, sums + added * best))
    tail = float(stats.norm.sf(stats.t.ppf((1 + level) / 2, max(n - 1, 1))))
    low = np.quantile(np.concatenate(lows), tail, method="lower")
    return float(low), float(np.quantile(np.concatenate(highs), 1 - tail, method="higher"))


def _most_influential(rows: FloatArray, unseen: FloatArray, disagreement: Disagreement, *, sign: int) -> FloatArray:
    """The unseen unit that would move the coefficient most in the direction of the sign."""
    total = rows.sum(axis=0)
    moved = [sign * _coefficient(disagreement, (total + row)[None])[0] for row in unseen]
    return np.asarray(unseen[int(np.argmax(moved))])


def _coefficient(disagreement: Disagreement, sums: FloatArray) -> FloatArray:
    observed, expected = disagreement(sums)
    return 1 - observed / expected
