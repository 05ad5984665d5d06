"""Of two responses in both orders: how often the verdict survives the swap, and which place gains when it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics.clusters import cluster_labels, cluster_sums
from evenhand.statistics.intervals import Interval, proportion_interval, ratio_intervals
from evenhand.statistics.position import NOT_ASKED, UNSCORED, as_orders, as_selections, shown_positions
from evenhand.statistics.sign_flip import SignFlipMethod, sign_flip_p_value


@dataclass(frozen=True, slots=True)
class PreferenceFairness:
    """Position consistency, and the balance between primacy and recency.

    Attributes:
        n: Pairs asked in both orders.
        n_checked: Of these, the ones scored in both.
        n_consistent: Of those checked, the same verdict in both orders, a tie included.
        n_primacy: Inconsistent towards the first place: the first twice, or once and a tie.
        n_recency: Inconsistent towards the second place.
        n_lone: Pairs of which exactly one order was scored.
        n_unscored: Orders asked and not scored.
        position_consistency: n_consistent / n_checked; None when nothing was checked.
        published_position_consistency: By the rule of the published logs: an order whose partner has no verdict
            counts as consistent, (2 n_consistent + n_lone) / (2 n_checked + n_lone); None without a verdict.
        first_shown_share: n_primacy / (n_primacy + n_recency); None without an inconsistent pair.
        binomial_p_value: Two-sided and exact, of n_primacy against a half, the pairs independent; None likewise.
        p_value: Of the sign-flip test over clusters, which without clusters is the binomial one; None likewise.
        p_value_method: How that was found, see `sign_flip_p_value`; None likewise.
        preference_fairness: (n_recency - n_primacy) / n_checked, in [-1, 1]; 0 is fair; None when nothing was checked.
        published_preference_fairness: The same over all pairs asked, as Shi et al. scale it; None without a pair.
        n_clusters: Clusters with a pair that was checked.
        level: Of the intervals.
    """

    n: int
    n_checked: int
    n_consistent: int
    n_primacy: int
    n_recency: int
    n_lone: int
    n_unscored: int
    position_consistency: Interval | None
    published_position_consistency: float | None
    first_shown_share: Interval | None
    binomial_p_value: float | None
    p_value: float | None
    p_value_method: SignFlipMethod | None
    preference_fairness: Interval | None
    published_preference_fairness: float | None
    n_clusters: int
    level: float


def preference_fairness(
    selections: ArrayLike,
    orders: ArrayLike = ((0, 1), (1, 0)),
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> PreferenceFairness:
    r"""Position consistency and preference fairness of a judge that saw every pair in both orders.

    A pair is consistent if both orders name the same response, or both a tie. Otherwise some place gained: the first
    (primacy: first and first, or first and tie) or the second (recency). With p and r such pairs of n,
    Shi et al. define the raw score :math:`r \cdot \frac{r}{p + r} - p \cdot \frac{p}{p + r}` and scale it to [-1, 1]
    by its extremes ±n. As :math:`r^2 - p^2 = (r - p)(r + p)`, that is :math:`(r - p) / n`: a mean over pairs of -1, 0
    and 1, which has an interval like any mean. 1: every pair goes to the second place; -1: to the first.

    A fair judge that flips is as likely to flip either way. The test flips the sign of each cluster's r - p: exact
    where pairs of one prompt depend on each other, and the exact binomial test where none do. `first_shown_share` has
    Clopper and Pearson's interval without clusters: its coverage is never below the level, while that of Wilson's
    falls to 84 % for shares near 0 and 1, and it excludes a half exactly when the binomial test rejects. With
    clusters it has that of `ratio_intervals`, like all other intervals here.

    `position_bias` counts only pairs stuck to a place twice, and takes any number of options and orders.

    Args:
        selections: (n_pairs, 2) integers: the response selected, 0 or 1, in a numbering that does not depend on the
            order; 2 or more is a tie; ``UNSCORED`` (-1), ``NOT_ASKED`` (-2). A pair not asked in both is left out.
        orders: (2, 2), or (n_pairs, 2, 2): the responses in the order shown; the two orders must differ.
        clusters: (n_pairs,) labels, such as prompts, whose pairs depend on each other; None if none do.
        level: Of the intervals.

    Raises:
        EstimationError: No pair in the input.
        InvalidInputError: Shapes that do not fit, more than two responses or orders, the same order twice.

    Source: Shi et al. (2024), "Judging the Judges: A Systematic Study of Position Bias in LLM-as-a-Judge",
    arXiv:2406.07791, and the code published with it, which averages the fairness over units of model and task.

    Consistent twice; the first shown twice; the first shown, then a tie; the second shown twice.

    >>> fairness = preference_fairness([[0, 0], [1, 1], [0, 1], [0, 2], [1, 0]])
    >>> fairness.position_consistency.estimate, fairness.n_primacy, fairness.n_recency
    (0.4, 2, 1)
    >>> round(fairness.preference_fairness.estimate, 3), fairness.p_value
    (-0.2, 1.0)
    """
    table = as_selections(selections)
    shown = as_orders(orders, *table.shape)
    if shown.shape[1:] != (2, 2) or (shown[:, 0] == shown[:, 1]).any():
        raise InvalidInputError(
            f"orders has the shape {np.shape(orders)!r}; give two responses in both orders, (2, 2) or (n_pairs, 2, 2)"
        )
    labels = cluster_labels(clusters, len(table))
    positions = shown_positions(table, shown)
    asked, scored = (table != NOT_ASKED).all(axis=1), (table >= 0).sum(axis=1)
    checked = asked & (scored == 2)
    consistent = checked & (np.minimum(table, 2)[:, 0] == np.minimum(table, 2)[:, 1])
    primacy = checked & ~consistent & (positions == 0).any(axis=1)
    recency = checked & ~consistent & ~primacy
    n, n_checked, n_consistent, n_primacy, n_recency = (
        int(rows.sum()) for rows in (asked, checked, consistent, primacy, recency)
    )
    n_lone, n_inconsistent = int((asked & (scored == 1)).sum()), n_primacy + n_recency
    sums = cluster_sums(np.column_stack([checked, consistent, primacy, recency]), labels)
    rate, share = ratio_intervals(sums[:, [1, 2]], np.column_stack([sums[:, 0], sums[:, 2] + sums[:, 3]]), level=level)
    if clusters is None and n_inconsistent:
        share = proportion_interval(n_primacy, n_inconsistent, level=level, method="exact")
    flips = sign_flip_p_value(sums[:, 3] - sums[:, 2]) if n_inconsistent else None
    return PreferenceFairness(
        n=n,
        n_checked=n_checked,
        n_consistent=n_consistent,
        n_primacy=n_primacy,
        n_recency=n_recency,
        n_lone=n_lone,
        n_unscored=int((table[asked] == UNSCORED).sum()),
        position_consistency=rate,
        published_position_consistency=(
            (2 * n_consistent + n_lone) / (2 * n_checked + n_lone) if n_checked + n_lone else None
        ),
        first_shown_share=share,
        binomial_p_value=float(stats.binomtest(n_primacy, n_inconsistent).pvalue) if n_inconsistent else None,
        p_value=flips[0] if flips else None,
        p_value_method=flips[1] if flips else None,
        preference_fairness=ratio_intervals(sums[:, 3] - sums[:, 2], sums[:, 0], level=level, bounds=(-1.0, 1.0))[0],
        published_preference_fairness=(n_recency - n_primacy) / n if n else None,
        n_clusters=int(np.count_nonzero(sums[:, 0])),
        level=level,
    )
