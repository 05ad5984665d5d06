"""Repetition stability: does the judge say the same when it is asked the same again, as a prompt or as a draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.intervals import (
    Interval,
    cluster_labels,
    cluster_sums,
    ratio_intervals,
)
from evenhand.statistics.position import NOT_ASKED, UNSCORED, as_selections
from evenhand.statistics.resampling import check_level


@dataclass(frozen=True, slots=True)
class RepetitionStability:
    """How far repeated draws of one prompt agree.

    Attributes:
        n: Prompts (an instance in one order) with a draw asked.
        n_repeated: Of these, the ones with two scored draws or more; the intervals are over their clusters.
        n_lone: Prompts with exactly one scored draw: they say nothing about repetition.
        n_unscored: Draws asked and not scored.
        mode_share: Mean over the repeated prompts of the share of the verdict given most; None without any.
        pair_agreement: Mean over the repeated prompts of the share of equal pairs of draws; as above.
        unanimous: Share of the repeated prompts whose draws all agree; as above.
        published_stability: Shi et al.'s repetition stability: the count of the verdict given most over all draws
            asked, so that a draw without a verdict is a dissent, averaged over the prompts with a verdict; None without
            any.
        n_clusters: Clusters with a repeated prompt.
        level: Of the intervals.
    """

    n: int
    n_repeated: int
    n_lone: int
    n_unscored: int
    mode_share: Interval | None
    pair_agreement: Interval | None
    unanimous: Interval | None
    published_stability: float | None
    n_clusters: int
    level: float


def repetition_stability(
    selections: ArrayLike, *, clusters: ArrayLike | None = None, level: float = 0.95
) -> RepetitionStability:
    r"""How often the same prompt brings the same verdict.

    Prompt i has :math:`m_i` scored draws, :math:`n_{ik}` of them option k. Mode share: the mean of
    :math:`\max_k n_{ik} / m_i`. Pair agreement: the mean of
    :math:`\sum_k n_{ik}(n_{ik} - 1) / (m_i (m_i - 1))`. Both in [0, 1], 1 if nothing ever changes.

    They answer different questions. Pair agreement is an unbiased estimate of the chance that two draws agree,
    however many there are. The mode share is at least 1 / m and on average the higher the fewer draws there are (a
    fair coin has 3/4 with two or three draws, 11/16 with four, 1/2 in the limit), so that it compares judges only at
    the same m. A tie for the mode does not change it.

    Args:
        selections: (n_prompts, n_draws) integers: the option selected, ties and NA numbered like any other;
            ``UNSCORED`` (-1), ``NOT_ASKED`` (-2).
        clusters: (n_prompts,) labels, such as the instance whose two orders are two prompts; None if prompts are
            independent.
        level: Of the intervals, which are those of `ratio_intervals` over clusters.

    Raises:
        EstimationError: No draw was asked.
        InvalidInputError: Shapes that do not fit, a number below -2.

    Source: Shi et al. (2024), arXiv:2406.07791, repetition stability, and the code published with it;
    `draw_stability` pools the pairs of draws instead of averaging over prompts.

    Three alike; two of three; a reply that could not be read among three.

    >>> result = repetition_stability([[0, 0, 0], [0, 1, 0], [1, 1, -1]])
    >>> round(result.mode_share.estimate, 3), round(result.pair_agreement.estimate, 3)
    (0.889, 0.778)
    >>> round(result.published_stability, 3), result.n_unscored
    (0.778, 1)
    """
    table = as_selections(selections)
    labels = cluster_labels(clusters, len(table))
    asked, scored = (table != NOT_ASKED).sum(axis=1), (table >= 0).sum(axis=1)
    if not asked.any():
        raise EstimationError("repetition stability is undefined: no draw was asked")
    counts = np.stack([(table == option).sum(axis=1) for option in np.unique(table[table >= 0])] or [scored], axis=1)
    mode = counts.max(axis=1)
    repeated, answered = scored >= 2, scored >= 1
    draws = np.maximum(scored, 2)
    pairs = (counts * (counts - 1)).sum(axis=1) / (draws * (draws - 1))
    shares = np.column_stack([mode / draws, pairs, mode == scored]) * repeated[:, None]
    prompts = cluster_sums(repeated, labels)
    mode_share, pair_agreement, unanimous = ratio_intervals(
        cluster_sums(shares, labels), np.repeat(prompts[:, None], 3, axis=1), level=level
    )
    return RepetitionStability(
        n=int((asked > 0).sum()),
        n_repeated=int(repeated.sum()),
        n_lone=int((scored == 1).sum()),
        n_unscored=int((table == UNSCORED).sum()),
        mode_share=mode_share,
        pair_agreement=pair_agreement,
        unanimous=unanimous,
        published_stability=float((mode[answered] / asked[answered]).mean()) if answered.any() else None,
        n_clusters=int(np.count_nonzero(prompts)),
        level=level,
    )


def draw_stability(selections: ArrayLike, *, first_two: bool = False, level: float = 0.95) -> Interval | None:
    r"""The share of the pairs of draws of the same question that select the same option.

    With :math:`n_{ick}` draws of option k in cell c (one judge, one order) of instance i:
    :math:`\sum_{ic}\sum_k \binom{n_{ick}}{2} / \sum_{ic}\binom{n_{ic}}{2}`. It estimates the probability that two draws
    agree: 1 for a judge that always says the same, 1/2 for a fair coin. The interval is that of `ratio_intervals` over
    the instances.

    If drawing stopped once the draws agreed, the cells that disagree have more pairs and the share is too low (and the
    average of the cells' shares too high). ``first_two`` compares only the first two draws of every cell, which
    depends on no stopping rule that always lets two be made.

    `repetition_stability` averages the shares of the prompts, and has more to say where nothing stopped early.

    Args:
        selections: (n_instances, n_cells, n_draws) integers: the option selected; negative for a draw that is missing
            or unscored. The draws stand in the order in which they were made.
        first_two: Compare only the first two draws of every cell.
        level: Of the interval.

    Returns:
        The share; None when no cell has two draws to compare.

    Raises:
        InvalidInputError: A bad shape or type.

    One cell of three draws, two of which agree (1 of 3 pairs), and one of two that agree (1 of 1).

    >>> draw_stability([[[0, 0, 1]], [[2, 2, -1]]]).estimate
    0.5
    """
    table = np.asarray(selections)
    if table.ndim != 3 or (table.size and table.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"selections has the shape {table.shape!r} and the type {table.dtype}; give integers of the shape "
            "(n_instances, n_cells, n_draws), negative for missing"
        )
    table = table[:, :, :2] if first_two else table
    scored = table >= 0
    counts = np.stack([(table == option).sum(axis=2) for option in np.unique(table[scored])] or [scored.sum(axis=2)])
    agreeing = (counts * (counts - 1) // 2).sum(axis=(0, 2))
    made = scored.sum(axis=2)
    (share,) = ratio_intervals(agreeing, (made * (made - 1) // 2).sum(axis=1), level=level)
    return share


def greatest_unseen_share(draws: int, *, level: float = 0.95) -> float:
    r"""The greatest probability of other answers that equal draws are still compatible with: :math:`1 - (1-l)^{1/k}`.

    If the other answers together have a greater probability, k independent draws are all equal with a probability
    below 1 - l. It is the one-sided Clopper–Pearson limit of 0 in k.

    Args:
        draws: k, at least 1.
        level: l, in [0.5, 1).

    Raises:
        InvalidInputError: No draw, or a bad level.

    >>> [round(greatest_unseen_share(draws), 2) for draws in (3, 5, 10)]
    [0.63, 0.45, 0.26]
    """
    check_level(level)
    if draws < 1:
        raise InvalidInputError(f"draws is {draws!r}; at least one draw was made")
    return float(1 - (1 - level) ** (1 / draws))
