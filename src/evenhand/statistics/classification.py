"""Judgements against the truth: shares of right answers, the confusion matrix, and errors of values.

Categories are numbers (the places of the options in the criterion), NaN where there is no judgement or no truth. What
is beyond chance is in `evenhand.statistics.agreement`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.clusters import IntervalLevel
from evenhand.statistics.intervals import Interval, mean_intervals

FloatArray = NDArray[np.float64]


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
    truths, judgements, confidence = _complete(truth, judged, "accuracy", level)
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


def value_errors(truth: ArrayLike, judged: ArrayLike, *, level: float = 0.95) -> ValueErrors:
    r"""Root mean square error, mean absolute error and bias of values in [0, 1].

    :math:`\sqrt{\overline{(x - t)^2}}`, :math:`\overline{|x - t|}` and :math:`\overline{x - t}` over the units that
    have both a value judged x and a true value t; the others are set aside. Intervals as in `mean_intervals`, with the
    bounds (0, 1) for squares and distances and (-1, 1) for differences.

    Args:
        truth: (n_units,) values in [0, 1], NaN for missing.
        judged: (n_units,).
        level: Of the intervals.

    Raises:
        InvalidInputError: Shapes that differ, or values outside [0, 1].
        EstimationError: No unit has both.

    Errors 0.5, 0 and -0.25: squares 0.25, 0 and 0.0625.

    >>> errors = value_errors([0, 1, 1], [0.5, 1, 0.75])
    >>> round(errors.root_mean_square.estimate**2 * 3, 4), errors.mean_absolute.estimate
    (0.3125, 0.25)
    >>> round(errors.bias.estimate, 4)
    0.0833
    """
    truths, judgements, confidence = _complete(truth, judged, "the error of values", level)
    if min(truths.min(), judgements.min()) < 0 or max(truths.max(), judgements.max()) > 1:
        raise InvalidInputError("a value lies outside [0, 1]; rescale the values, as the options of a criterion are")
    errors = judgements - truths
    squared, absolute = mean_intervals(np.column_stack([errors**2, np.abs(errors)]), level=confidence)
    (bias,) = mean_intervals(errors, level=confidence, bounds=(-1.0, 1.0))
    return ValueErrors(_rooted(_defined(squared)), _defined(absolute), _defined(bias))


def _rooted(interval: Interval) -> Interval:
    return replace(
        interval,
        estimate=math.sqrt(interval.estimate),
        low=math.sqrt(max(interval.low, 0.0)),
        high=math.sqrt(interval.high),
    )


def _paired(truth: ArrayLike, judged: ArrayLike) -> FloatArray:
    if np.shape(truth) != np.shape(judged) or np.ndim(truth) != 1:
        raise InvalidInputError(
            f"truth and judgements have the shapes {np.shape(truth)!r} and {np.shape(judged)!r}; give (n,) twice"
        )
    return np.stack([np.asarray(truth, dtype=float), np.asarray(judged, dtype=float)])


def _complete(
    truth: ArrayLike, judged: ArrayLike, name: str, level: float
) -> tuple[FloatArray, FloatArray, IntervalLevel]:
    pair = _paired(truth, judged)
    both = ~np.isnan(pair).any(axis=0)
    if not both.any():
        raise EstimationError(f"{name} is undefined: no unit has both a judgement and a truth")
    return pair[0, both], pair[1, both], IntervalLevel.of(level).only(both)


def _defined(interval: Interval | None) -> Interval:
    if interval is None:
        raise EstimationError("the mean of no units is undefined")
    return interval
