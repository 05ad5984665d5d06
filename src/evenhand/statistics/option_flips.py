"""Flip rates: how often an option chosen in one order is abandoned in another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import InvalidInputError
from evenhand.statistics.clusters import cluster_labels, cluster_sums
from evenhand.statistics.intervals import Interval, ratio_intervals
from evenhand.statistics.position import as_selections


@dataclass(frozen=True, slots=True)
class OptionFlips:
    """What becomes of one option when the order changes.

    Attributes:
        option: Its number in the criterion's own order.
        n_selected: Instances that selected it in some order and were scored in two orders or more.
        n_flipped: Of these, the ones in which another order selected another option.
        flip_rate: n_flipped / n_selected; None for an option that was not selected.
        specific_agreement: Given that one order selected it, the chance that another order does; None likewise.
        moved_to: One number an option: pairs of orders of which one selected this option and the other that one;
            0 for itself.
    """

    option: int
    n_selected: int
    n_flipped: int
    flip_rate: Interval | None
    specific_agreement: Interval | None
    moved_to: tuple[int, ...]


def option_flips(
    selections: ArrayLike, n_options: int, *, clusters: ArrayLike | None = None, level: float = 0.95
) -> tuple[OptionFlips, ...]:
    r"""The flip rate of every option of a criterion.

    With :math:`c_{ik}` of the :math:`m_i` scored orders of instance i selecting option k: the flip rate is
    :math:`\#\{i: 0 < c_{ik} < m_i\} / \#\{i: c_{ik} > 0\}` over the instances with :math:`m_i \ge 2`, in [0, 1], 0 if
    the option is never left. The specific agreement is
    :math:`\sum_i c_{ik}(c_{ik} - 1) / \sum_i c_{ik}(m_i - 1)`, which for two orders is :math:`2a / (2a + d)`: a
    instances agree on k, d have it in one order only. The flip rate is then :math:`d / (a + d)`. An option that is
    rarely selected flips more often than a common one by chance alone; compare an option's rates between judges or
    prompts.

    Args:
        selections: (n_instances, n_orders) integers in 0 … n_options - 1, in the criterion's own numbering; -1 for
            unscored, -2 for not asked: both are left out, and instances with one scored order too.
        n_options: Options of the criterion.
        clusters: (n_instances,) labels of instances that depend on each other; None if none do.
        level: Of the intervals, which are those of `ratio_intervals` over clusters.

    Returns:
        One an option, in order.

    Raises:
        EstimationError: No instance.
        InvalidInputError: Shapes that do not fit, a number out of range.

    Source: Spitzer and Fleiss (1974) and Cicchetti and Feinstein (1990) for the specific agreement.

    Option 0 in both orders; then 0 and 1; then 1 in both; then 1 and 2.

    >>> zero, one, two = option_flips([[0, 0], [0, 1], [1, 1], [1, 2]], 3)
    >>> zero.flip_rate.estimate, round(one.flip_rate.estimate, 3), two.flip_rate.estimate
    (0.5, 0.667, 1.0)
    >>> one.specific_agreement.estimate, one.moved_to
    (0.5, (1, 0, 1))
    """
    table = as_selections(selections)
    if n_options < 2 or table.max() >= n_options:
        raise InvalidInputError(
            f"n_options is {n_options!r} and the greatest selection {int(table.max())!r}; options are numbered from 0, "
            "and a criterion has at least two"
        )
    labels = cluster_labels(clusters, len(table))
    counts = (table[:, :, None] == np.arange(n_options)).sum(axis=1)
    scored = counts.sum(axis=1, keepdims=True)
    counts = np.where(scored >= 2, counts, 0)
    selected, flipped = counts > 0, (counts > 0) & (counts < scored)
    rates = ratio_intervals(cluster_sums(flipped, labels), cluster_sums(selected, labels), level=level)
    agreements = ratio_intervals(
        cluster_sums(counts * (counts - 1), labels), cluster_sums(counts * (scored - 1), labels), level=level
    )
    moved = counts.T @ counts
    np.fill_diagonal(moved, 0)
    return tuple(
        OptionFlips(
            option=option,
            n_selected=int(selected[:, option].sum()),
            n_flipped=int(flipped[:, option].sum()),
            flip_rate=rates[option],
            specific_agreement=agreements[option],
            moved_to=tuple(moved[option].tolist()),
        )
        for option in range(n_options)
    )
