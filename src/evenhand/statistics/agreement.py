"""Agreement of judges beyond chance, each coefficient with an interval over the units.

Every coefficient here is :math:`1 - D_o / D_e`: the disagreement observed over the disagreement expected by chance; 1
is perfect agreement, 0 is chance, below 0 is worse than chance. They differ in what they call chance.

Ratings are numbers (the values of the options, or their indices), NaN where a judge gave none. ``categories`` lists
the values of the scale in order; without it, those that occur. Neither the order of the judges nor that of the
units changes an estimate; the limits of an interval change with them as with the seed.

The intervals are quantiles of the Bayesian bootstrap over the units, or the clusters that an
`evenhand.statistics.intervals.IntervalLevel` says they are of, and one unseen unit (or cluster), which has the weight
that `evenhand.statistics.intervals.ratio_intervals` gives to its unseen cluster at the bound, at that function's
probabilities. For the lower limit it is the pair of categories that would lower the estimate most, for the upper
limit the category that, agreed upon, would raise it most. So perfect agreement of ten units has an interval that
reaches below 1, and a rare category that the sample nearly missed is allowed for.

Against the truth: shares of right answers, the confusion matrix, and errors of values. There, too, categories are
numbers (the places of the options in the criterion), NaN where there is no judgement or no truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.criteria import Scale
from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.statistics.intervals import Interval, IntervalLevel, bootstrap_interval, mean_intervals
from evenhand.statistics.resampling import BoolArray, FloatArray, IntArray, check_level

Parts = tuple[FloatArray, FloatArray]
"""Observed and expected disagreement, each (draws,)."""

Disagreement = Callable[[FloatArray], Parts]
"""From sums over units, (draws, n_columns): every coefficient is a function of such sums."""


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """What the units contribute to the sums of which a coefficient is a function.

    Attributes:
        rows: (n_units, n_columns): a unit's contribution.
        agreeing: (n, n_columns): what a unit in perfect agreement would contribute, one row per category.
        disagreeing: (n, n_columns): what a unit in disagreement would contribute, one row per pair of categories.
        kept: (n_all_units,): which of the units given these are, the others lacking the ratings that are needed.
        categories: The values of the scale, in order.
    """

    rows: FloatArray
    agreeing: FloatArray
    disagreeing: FloatArray
    kept: BoolArray
    categories: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """An agreement coefficient and what it was computed from.

    Attributes:
        coefficient: ``percent_agreement``, ``cohen_kappa`` or ``krippendorff_alpha``.
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

    @property
    def low(self) -> float:
        """The lower limit of the interval."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper limit."""
        return self.interval.high

    @property
    def standard_error(self) -> float | None:
        """Of the estimate; None where the sample says nothing about it."""
        return self.interval.standard_error


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
            "report percent_agreement instead"
        )
    estimate = 1 - observed / expected

    def coefficients(sums: FloatArray) -> FloatArray:
        observed, expected = disagreement(sums)
        return 1 - observed / expected

    interval = bootstrap_interval(
        units.rows,
        coefficients,
        units.disagreeing,
        units.agreeing,
        estimate=estimate,
        level=confidence,
        resamples=resamples,
        seed=seed,
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


Weighting = Literal["linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval"]

ALPHA_METRICS: Mapping[Scale, Metric] = MappingProxyType(
    {"binary": "nominal", "nominal": "nominal", "ordinal": "ordinal", "pairwise": "interval"}
)
"""Scale of a criterion -> how far apart two selections are for `krippendorff_alpha`, wherever it is reported.

A comparison has a natural distance: its values are equally spaced around the tie (0, ½, 1; graded 0, ¼, ½, ¾, 1), so
that a win against a loss is twice as far as a win against a tie, whatever the data. Levels of an ordinal criterion are
ordered and no more: their distance is that of the mid-ranks, which does not depend on the values given to them.
"""


def percent_agreement(ratings: ArrayLike, *, level: float = 0.95) -> Agreement:
    """The share of agreeing pairs of ratings of a unit, averaged over the units with two ratings or more.

    Not corrected for chance; range 0 to 1. The interval is that of `mean_intervals`.

    Args:
        ratings: (n_units, n_judges), NaN for missing.
        level: Of the interval.

    Raises:
        EstimationError: No unit has two ratings.

    >>> percent_agreement([[1, 1], [2, 2], [1, 2], [3, float("nan")]]).estimate.__round__(4)
    0.6667
    """
    counts, categories, kept = _pairable(ratings, None, "percent agreement")
    disagreement = _pair_disagreement(counts)
    confidence = IntervalLevel.of(level).only(kept)
    (interval,) = (found for found in mean_intervals(1 - disagreement, level=confidence) if found is not None)
    observed, set_aside = float(disagreement.mean()), int((~kept).sum())
    return Agreement(
        "percent_agreement", None, 1 - observed, interval, observed, 1.0, categories, len(counts), set_aside
    )


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: Weighting | None = None,
    categories: Sequence[float] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    r"""Cohen's kappa of two judges.

    :math:`D_o = \frac1n\sum_i \delta(a_i, b_i)`, :math:`D_e = \sum_{kl} p_k q_l \delta_{kl}` with p and q the
    shares of the categories of either judge; :math:`\delta_{kl}` is 1 for two categories, or :math:`|k - l|`
    (linear) or :math:`(k - l)^2` (quadratic) with k, l the places in ``categories``, as in scikit-learn.

    Args:
        first: (n_units,), NaN for missing.
        second: (n_units,). Units without both ratings are set aside.
        weights: None, ``linear`` or ``quadratic``.
        categories: The scale; needed for weights if a category in the middle does not occur.
        level: Of the interval.
        resamples: Draws for the interval.
        seed: Of the draws.

    Raises:
        EstimationError: No unit has both ratings, or both judges used one and the same category throughout.

    Source: Cohen (1960, 1968).

    Four of six agree; p = (3, 3)/6, q = (3, 3)/6, so that chance is 1/2: kappa = (4/6 - 1/2) / (1/2).

    >>> round(cohen_kappa([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]).estimate, 4)
    0.3333
    """
    if np.shape(first) != np.shape(second) or np.ndim(first) != 1:
        raise InvalidInputError(
            f"the judges have the shapes {np.shape(first)!r} and {np.shape(second)!r}; give (n,) twice"
        )
    indices, scale = _indexed(np.stack([np.asarray(first, float), np.asarray(second, float)], axis=1), categories)
    both = np.asarray((indices >= 0).all(axis=1))
    if not both.any():
        raise EstimationError("Cohen's kappa is undefined: no unit has a rating of both judges")
    count = len(scale)
    distance = _distances(weights, count)

    def rows(pairs: IntArray) -> FloatArray:
        chosen = np.eye(count)[pairs]
        return np.column_stack([distance[pairs[:, 0], pairs[:, 1]], np.ones(len(pairs)), chosen[:, 0], chosen[:, 1]])

    def disagreement(sums: FloatArray) -> Parts:
        shares = sums[:, 2:] / sums[:, 1:2]
        return sums[:, 0] / sums[:, 1], ((shares[:, :count] @ distance) * shares[:, count:]).sum(axis=1)

    every = np.argwhere(np.ones((count, count), dtype=bool))
    same = every[:, 0] == every[:, 1]
    units = Units(rows(indices[both]), rows(every[same]), rows(every[~same]), both, scale)

    return agreement_from("cohen_kappa", weights, units, disagreement, level=level, resamples=resamples, seed=seed)


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    metric: Metric = "nominal",
    categories: Sequence[float] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    r"""Krippendorff's alpha of any number of judges, with missing ratings.

    :math:`D_o = \frac1N\sum_u \frac{1}{m_u - 1}\sum_{i \ne j}\delta(r_{ui}, r_{uj})` over the units with
    :math:`m_u \ge 2` ratings, :math:`D_e = \frac{1}{N(N-1)}\sum_{kl} n_k n_l \delta_{kl}`, N the number of those
    ratings and :math:`n_k` how many of them are category k. :math:`\delta` is 1 for two categories (nominal),
    the squared difference of the values (interval), or of the mid-ranks
    :math:`n_1 + \dots + n_{k-1} + n_k / 2` (ordinal; it depends on the data).

    Args:
        ratings: (n_units, n_judges), NaN for missing. Units with fewer than two ratings are set aside.
        metric: ``nominal``, ``ordinal`` or ``interval``.
        categories: The scale in order; those that occur, in ascending order, if not given.
        level: Of the interval.
        resamples: Draws for the interval.
        seed: Of the draws.

    Raises:
        EstimationError: No unit with two ratings, or a single category throughout.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability", sections C to E.

    Two units agree, one does not; n = (3, 3): D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 0.6.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [0, 1]]).estimate, 4)
    0.4444
    """
    if metric not in {"nominal", "ordinal", "interval"}:
        raise InvalidInputError(f"metric is {metric!r}. {did_you_mean(metric, ['nominal', 'ordinal', 'interval'])}")
    counts, scale, kept = _pairable(ratings, categories, "Krippendorff's alpha")
    count = len(scale)
    below, above = np.triu_indices(count, k=1)
    values = np.asarray(scale)

    def rows(units: FloatArray) -> FloatArray:
        size = units.sum(axis=1, keepdims=True)
        return np.column_stack([units, 2 * units[:, below] * units[:, above] / (size - 1)])

    def disagreement(sums: FloatArray) -> Parts:
        totals, pairs = sums[:, :count], sums[:, count:]
        size = totals.sum(axis=1)
        place = np.cumsum(totals, axis=1) - totals / 2 if metric == "ordinal" else np.broadcast_to(values, totals.shape)
        apart = np.ones_like(pairs) if metric == "nominal" else (place[:, below] - place[:, above]) ** 2
        chance = 2 * (totals[:, below] * totals[:, above] * apart).sum(axis=1) / (size * (size - 1))
        return (pairs * apart).sum(axis=1) / size, chance

    units = _with_unseen(rows, counts, kept, scale)
    return agreement_from(
        "krippendorff_alpha", metric, units, disagreement, level=level, resamples=resamples, seed=seed
    )


def _table(ratings: ArrayLike) -> FloatArray:
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise InvalidInputError(f"ratings has the shape {table.shape!r}; give (n_units, n_judges), NaN for missing")
    return table


def _indexed(table: FloatArray, categories: Sequence[float] | None) -> tuple[IntArray, tuple[float, ...]]:
    """Every rating's place in the scale, -1 for a missing one."""
    present = ~np.isnan(table)
    if categories is None:
        scale = np.unique(table[present])
    else:
        scale = np.asarray(categories, dtype=float)
        if scale.ndim != 1 or np.unique(scale).size != scale.size or np.isnan(scale).any():
            raise InvalidInputError(f"categories is {categories!r}; give every value of the scale once, in order")
    indices = np.full(table.shape, -1, dtype=np.int64)
    for place, value in enumerate(scale):
        indices[table == value] = place
    unknown = present & (indices < 0)
    if unknown.any():
        value = float(table[unknown][0])
        raise InvalidInputError(f"the rating {value!r} is not in the scale {scale.tolist()!r}; complete categories=…")
    return indices, tuple(float(value) for value in scale)


def _pairable(
    ratings: ArrayLike, categories: Sequence[float] | None, name: str
) -> tuple[FloatArray, tuple[float, ...], BoolArray]:
    """How often each category occurs in each unit with two ratings or more, the scale, and which units these are."""
    indices, scale = _indexed(_table(ratings), categories)
    counts = np.stack([(indices == place).sum(axis=1) for place in range(len(scale))], axis=1) if scale else None
    if counts is None or not (counts.sum(axis=1) >= 2).any():
        raise EstimationError(f"{name} is undefined: no unit has the ratings of two judges")
    enough = counts.sum(axis=1) >= 2
    return counts[enough].astype(float), scale, enough


def _with_unseen(
    rows: Callable[[FloatArray], FloatArray], counts: FloatArray, kept: BoolArray, scale: tuple[float, ...]
) -> Units:
    """The rows of the units, and of the unseen ones: all ratings in one category, or half of them in each of two."""
    count, size = len(scale), counts.sum(axis=1).mean()
    below, above = np.triu_indices(count, k=1)
    one = np.eye(count) * size
    return Units(rows(counts), rows(one), rows((one[below] + one[above]) / 2), kept, scale)


def _pair_disagreement(counts: FloatArray) -> FloatArray:
    size = counts.sum(axis=1)
    return np.asarray(1 - (counts * (counts - 1)).sum(axis=1) / (size * (size - 1)))


def _distances(weights: Weighting | None, count: int) -> FloatArray:
    if weights not in {None, "linear", "quadratic"}:
        raise InvalidInputError(f"weights is {weights!r}. {did_you_mean(weights, [None, 'linear', 'quadratic'])}")
    steps = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(float)
    return steps if weights == "linear" else steps**2 if weights == "quadratic" else np.minimum(steps, 1.0)


def confusion_matrix(truth: ArrayLike, judged: ArrayLike, n_categories: int) -> tuple[tuple[int, ...], ...]:
    """How often each category of the truth was judged to be each category.

    Rows are the truth, columns the judgements, both 0 … ``n_categories`` - 1 and then one more for the missing ones, so
    that the cells add up to the number of units and nothing is dropped. Without that last row and column it is
    scikit-learn's matrix.

    Args:
        truth: (n_units,) categories, NaN for missing.
        judged: (n_units,).
        n_categories: Of the scale, whether they occur or not.

    Raises:
        InvalidInputError: Shapes that differ, or a category outside the scale.

    >>> confusion_matrix([0, 0, 1], [0, 1, float("nan")], 2)
    ((1, 1, 0), (0, 0, 1), (0, 0, 0))
    """
    pair = _paired(truth, judged)
    missing = np.isnan(pair)
    codes = np.where(missing, n_categories, pair)
    outside = (codes != np.floor(codes)) | (codes < 0) | ((codes >= n_categories) & ~missing)
    if outside.any():
        raise InvalidInputError(
            f"the category {float(codes[outside][0])!r} is not one of 0 … {n_categories - 1}; pass the places"
        )
    counts = np.zeros((n_categories + 1, n_categories + 1), dtype=np.int64)
    np.add.at(counts, tuple(codes.astype(np.int64)), 1)
    return tuple(tuple(int(count) for count in row) for row in counts)


def accuracy(truth: ArrayLike, judged: ArrayLike, *, within: float = 0.0, level: float = 0.95) -> Interval:
    """The share of judgements that equal the truth, or differ from it by at most ``within``.

    With ``within=1`` on the levels of an ordinal scale it is the adjacent accuracy: right, or one level beside it.
    Range 0 to 1, not corrected for chance. Units without a judgement or without a truth are set aside. The interval
    is that of `mean_intervals`.

    Args:
        truth: (n_units,) categories or levels, NaN for missing.
        judged: (n_units,).
        within: The greatest difference that counts as right.
        level: Of the interval.

    Raises:
        InvalidInputError: Shapes that differ.
        EstimationError: No unit has both.

    >>> accuracy([0, 1, 2, 2], [0, 1, 1, 0]).estimate, accuracy([0, 1, 2, 2], [0, 1, 1, 0], within=1).estimate
    (0.5, 0.75)
    """
    truths, judgements, confidence = complete(truth, judged, "accuracy", level)
    (interval,) = mean_intervals((np.abs(truths - judgements) <= within).astype(float), level=confidence)
    return _defined(interval)


@dataclass(frozen=True, slots=True)
class ValueErrors:
    """How far values judged lie from true ones; the unit is that of the values.

    Attributes:
        root_mean_square: The square root of the mean squared error; its limits are those of the mean's, rooted.
        mean_absolute: The mean distance.
        bias: The mean of judged minus true: above 0 the judge is generous.
    """

    root_mean_square: Interval
    mean_absolute: Interval
    bias: Interval


def value_errors(
    truth: ArrayLike, judged: ArrayLike, *, level: float = 0.95, bounds: tuple[float, float] = (0.0, 1.0)
) -> ValueErrors:
    r"""Root mean square error, mean absolute error and bias of values on one scale, in its units.

    :math:`\sqrt{\overline{(x - t)^2}}`, :math:`\overline{|x - t|}` and :math:`\overline{x - t}` over the units that
    have both a value judged x and a true value t; the others are set aside. Intervals as in `mean_intervals`: with
    values from a to b and the width w = b - a, the bounds are (0, w²) for squares, (0, w) for distances and (-w, w) for
    differences.

    Args:
        truth: (n_units,) values within the bounds, NaN for missing.
        judged: (n_units,).
        level: Of the intervals.
        bounds: The least and the greatest value.

    Raises:
        InvalidInputError: Shapes that differ, or values outside the bounds.
        EstimationError: No unit has both.

    Errors 0.5, 0 and -0.25: squares 0.25, 0 and 0.0625.

    >>> errors = value_errors([0, 1, 1], [0.5, 1, 0.75])
    >>> round(errors.root_mean_square.estimate**2 * 3, 4), errors.mean_absolute.estimate
    (0.3125, 0.25)
    >>> round(errors.bias.estimate, 4)
    0.0833
    """
    truths, judgements, confidence = complete(truth, judged, "the error of values", level)
    low, high = bounds
    if min(truths.min(), judgements.min()) < low or max(truths.max(), judgements.max()) > high:
        raise InvalidInputError(f"a value lies outside [{low:g}, {high:g}]; give the bounds that hold for these values")
    width = high - low
    errors = (judgements - truths) / width
    squared, absolute = mean_intervals(np.column_stack([errors**2, np.abs(errors)]), level=confidence)
    (bias,) = mean_intervals(errors, level=confidence, bounds=(-1.0, 1.0))
    shares = (_rooted(_defined(squared)), _defined(absolute), _defined(bias))
    return ValueErrors(*(share.on_scale(0.0, width) for share in shares))


def _rooted(interval: Interval) -> Interval:
    root, error = math.sqrt(interval.estimate), interval.standard_error
    return replace(
        interval,
        estimate=root,
        low=math.sqrt(max(interval.low, 0.0)),
        high=math.sqrt(interval.high),
        standard_error=None if error is None or root == 0 else error / (2 * root),
    )


def _paired(truth: ArrayLike, judged: ArrayLike) -> FloatArray:
    if np.shape(truth) != np.shape(judged) or np.ndim(truth) != 1:
        raise InvalidInputError(
            f"truth and judgements have the shapes {np.shape(truth)!r} and {np.shape(judged)!r}; give (n,) twice"
        )
    return np.stack([np.asarray(truth, dtype=float), np.asarray(judged, dtype=float)])


def complete(
    truth: ArrayLike, judged: ArrayLike, name: str, level: float
) -> tuple[FloatArray, FloatArray, IntervalLevel]:
    """The truths and judgements of the units that have both, and the level over these.

    Raises:
        InvalidInputError: Shapes that differ.
        EstimationError: No unit has both.
    """
    pair = _paired(truth, judged)
    both = ~np.isnan(pair).any(axis=0)
    if not both.any():
        raise EstimationError(f"{name} is undefined: no unit has both a judgement and a truth")
    return pair[0, both], pair[1, both], IntervalLevel.of(level).only(both)


def _defined(interval: Interval | None) -> Interval:
    if interval is None:
        raise EstimationError("the mean of no units is undefined")
    return interval
