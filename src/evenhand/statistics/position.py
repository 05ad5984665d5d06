"""Position bias: does the judge choose what is shown, or where it is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.clusters import IntervalLevel, cluster_sums
from evenhand.statistics.intervals import Interval, proportion_interval, ratio_intervals
from evenhand.statistics.sign_flip import sign_flip_p_value

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

UNSCORED = -1
NOT_ASKED = -2


@dataclass(frozen=True, slots=True)
class PositionBias:
    """What changed when the options were shown in another order.

    Attributes:
        n: Instances in the input.
        n_checked: Instances scored in two orders or more, and in all that were asked.
        n_consistent: Of those checked, the ones in which every order selected the same option.
        n_inconsistent: The rest of those checked.
        n_lone: Instances asked in two orders or more of which exactly one was scored; they say nothing about flips.
        n_unscored: Votes that were asked and not scored.
        flip_rate: n_inconsistent / n_checked; None when nothing was checked.
        n_stuck: Inconsistent instances in which every order selected the same position.
        n_first: Those of them at the first position.
        first_shown_preference: n_first / n_stuck with Clopper and Pearson's interval; None without a stuck instance.
        p_value: Of the two-sided exact binomial test of n_first in n_stuck against 1 / n_options; None likewise.
        position_counts: Votes for each position, over all scored votes for an option that has one.
        first_position_share: Share of the first position among them, with an interval over instances; None without any.
        position_entropy: Entropy of the position shares / log(n_options): 1 if every position is chosen equally
            often, 0 if always the same; None without any.
        level: Of the intervals.
    """

    n: int
    n_checked: int
    n_consistent: int
    n_inconsistent: int
    n_lone: int
    n_unscored: int
    flip_rate: Interval | None
    n_stuck: int
    n_first: int
    first_shown_preference: Interval | None
    p_value: float | None
    position_counts: tuple[int, ...]
    first_position_share: Interval | None
    position_entropy: float | None
    level: float


def position_bias(selections: ArrayLike, orders: ArrayLike = ((0, 1), (1, 0)), *, level: float = 0.95) -> PositionBias:
    """How often the selection changes with the order, and towards which position.

    The flip rate is #(orders disagree) / #(all orders scored). When two options are shown in both orders, the judge
    that disagrees with itself chose the first both times or the second both times; without a preference for a
    position either is as likely, which the exact binomial test tests. A changed mind about a tie is inconsistent, but
    not stuck to a position.

    Consistent answers tell nothing about the preference of the first position, and with both orders asked they are
    balanced: `first_position_share` is 1 / n_options for a judge without bias.

    Args:
        selections: (n_instances, n_orders) integers: the option selected, in the numbering that does not depend on
            the order; ``UNSCORED`` (-1) where no option could be read, ``NOT_ASKED`` (-2) where the order was not put,
            as for the instances outside a sampled share. A number of n_options or more is an option without a
            position, such as a tie.
        orders: (n_orders, n_options), or (n_instances, n_orders, n_options): the options in the order shown. The
            default is two options, then swapped.
        level: Of the intervals; an `IntervalLevel` brings the clusters of the instances. The test then flips the signs
            of whole clusters, which needs two options; with more there is none.

    Raises:
        EstimationError: No instance.
        InvalidInputError: Shapes that do not fit, an order that is not a permutation, a number below -2.

    Source: Zheng et al. (2023), arXiv:2306.05685, section 3.3 (consistency, bias toward first); Shi et al. (2024),
    arXiv:2406.07791 (repetition, consistency, preference). Shi et al. count an instance with a lone verdict as
    consistent: their number is n_consistent + n_lone.

    Option 0 twice is consistent; 0 then 1 is the first shown both times; 1 then 0 the second; a lone verdict.

    >>> bias = position_bias([[0, 0], [0, 1], [0, 1], [1, 0], [0, -1]])
    >>> bias.n_checked, bias.n_inconsistent, bias.n_first, bias.n_lone, bias.p_value
    (4, 3, 2, 1, 1.0)
    >>> bias.flip_rate.estimate, bias.position_counts
    (0.75, (6, 3))
    """
    table = as_selections(selections)
    shown = as_orders(orders, *table.shape)
    positions = shown_positions(table, shown)
    asked, scored = table != NOT_ASKED, table >= 0
    n_asked, n_scored = asked.sum(axis=1), scored.sum(axis=1)
    checked = (n_asked >= 2) & (n_scored == n_asked)
    same_option, same_position = _all_same(table, asked), _all_same(positions, asked)
    inconsistent = checked & ~same_option
    stuck = inconsistent & same_position & (np.where(asked, positions, 0).max(axis=1) >= 0)
    first = stuck & (np.where(asked, positions, 0).max(axis=1) == 0)
    n_stuck, n_first, n_options = int(stuck.sum()), int(first.sum()), shown.shape[2]
    counts = np.bincount(positions[positions >= 0], minlength=n_options)
    return PositionBias(
        n=len(table),
        n_checked=int(checked.sum()),
        n_consistent=int((checked & same_option).sum()),
        n_inconsistent=int(inconsistent.sum()),
        n_lone=int(((n_asked >= 2) & (n_scored == 1)).sum()),
        n_unscored=int((table == UNSCORED).sum()),
        flip_rate=ratio_intervals(inconsistent, checked, level=level)[0],
        n_stuck=n_stuck,
        n_first=n_first,
        first_shown_preference=_preference(first, stuck, level) if n_stuck else None,
        p_value=_p_value(first, stuck, n_options, level) if n_stuck else None,
        position_counts=tuple(counts.tolist()),
        first_position_share=ratio_intervals((positions == 0).sum(axis=1), (positions >= 0).sum(axis=1), level=level)[
            0
        ],
        position_entropy=float(normalized_entropy(counts[None])[0]) if counts.any() else None,
        level=float(level),
    )


def _preference(first: NDArray[np.bool_], stuck: NDArray[np.bool_], level: float) -> Interval | None:
    if IntervalLevel.of(level).clusters is None:
        return proportion_interval(int(first.sum()), int(stuck.sum()), level=level, method="exact")
    return ratio_intervals(first, stuck, level=level)[0]


def _p_value(first: NDArray[np.bool_], stuck: NDArray[np.bool_], n_options: int, level: float) -> float | None:
    confidence = IntervalLevel.of(level)
    if confidence.clusters is None:
        return float(stats.binomtest(int(first.sum()), int(stuck.sum()), 1 / n_options).pvalue)
    if n_options > 2:
        return None
    differences = cluster_sums(2.0 * first - stuck, confidence.labels(len(first)))
    return sign_flip_p_value(differences)[0]


def as_selections(selections: ArrayLike) -> IntArray:
    """The selections as integers, checked: (n_instances, n_orders)."""
    table = np.asarray(selections)
    if table.ndim != 2 or (table.size and table.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"selections has the shape {table.shape!r} and the type {table.dtype}; give integers of the shape "
            "(n_instances, n_orders), with -1 for unscored"
        )
    if not table.size:
        raise EstimationError("position bias is undefined without an instance")
    if table.min() < NOT_ASKED:
        raise InvalidInputError(
            f"a selection is {int(table.min())!r}; below 0 only -1 (unscored) and -2 (not asked) mean something"
        )
    return table.astype(np.int64)


def as_orders(orders: ArrayLike, n_instances: int, n_orders: int) -> IntArray:
    """The orders shown as (n_instances, n_orders, n_options), each checked to be a permutation."""
    shown = np.asarray(orders)
    shown = shown[None] if shown.ndim == 2 else shown
    if shown.ndim != 3 or shown.shape[1] != n_orders or shown.shape[0] not in {1, n_instances} or shown.shape[2] < 2:
        raise InvalidInputError(
            f"orders has the shape {np.shape(orders)!r} for selections of the shape {(n_instances, n_orders)!r}; give "
            "(n_orders, n_options) or (n_instances, n_orders, n_options), with two options or more"
        )
    if (np.sort(shown, axis=2) != np.arange(shown.shape[2])).any():
        raise InvalidInputError("an order is not a permutation of 0 … n_options - 1; list every option once")
    return np.broadcast_to(shown.astype(np.int64), (n_instances, *shown.shape[1:]))


def shown_positions(selections: IntArray, orders: IntArray) -> IntArray:
    """Where the selected option was shown; the selection itself if negative, -1 for an option without a position."""
    n_options = orders.shape[2]
    places = np.argsort(orders, axis=2)
    within = (selections >= 0) & (selections < n_options)
    found = np.take_along_axis(places, np.where(within, selections, 0)[:, :, None], axis=2)[:, :, 0]
    return np.where(within, found, np.minimum(selections, UNSCORED))


def normalized_entropy(counts: ArrayLike) -> FloatArray:
    """Shannon's entropy of each row of counts over the logarithm of the number of columns, in [0, 1].

    >>> normalized_entropy([[2, 2], [4, 0]]).tolist()
    [1.0, 0.0]
    """
    table = np.asarray(counts, dtype=float)
    return np.asarray(stats.entropy(table, axis=1) / np.log(table.shape[1]))


def _all_same(table: IntArray, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    high = np.where(asked, table, np.iinfo(np.int64).min).max(axis=1)
    low = np.where(asked, table, np.iinfo(np.int64).max).min(axis=1)
    return np.asarray(high == low)
