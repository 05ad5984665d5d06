"""Does a judge say the same again: in another order (position bias, flips, fairness of pairs), and when asked anew."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.intervals import (
    Interval,
    IntervalLevel,
    cluster_sums,
    exact_interval,
    ratio_intervals,
)
from evenhand.statistics.paired_differences import SignFlipMethod, sign_flip_p_value
from evenhand.statistics.resampling import BoolArray, IntArray, check_level

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
        p_value: Of the two-sided exact binomial test of n_first in n_stuck against a half; None as above.
        first_position_share: Share of the first position among the scored votes for one of the two, with an interval
            over instances; None without any.
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
    first_position_share: Interval | None
    level: float


def position_bias(selections: ArrayLike, *, level: float = 0.95) -> PositionBias:
    """How often the selection changes with the order, and towards which position.

    The flip rate is #(orders disagree) / #(all orders scored). When two options are shown in both orders, the judge
    that disagrees with itself chose the first both times or the second both times; without a preference for a
    position either is as likely, which the exact binomial test tests. A changed mind about a tie is inconsistent, but
    not stuck to a position.

    Consistent answers tell nothing about the preference of the first position, and with both orders asked they are
    balanced: `first_position_share` is a half for a judge without bias.

    Args:
        selections: (n_instances, 2) integers: the option selected when 0 and 1 were shown in this order, and when they
            were swapped; ``UNSCORED`` (-1) where no option could be read, ``NOT_ASKED`` (-2) where the order was not
            put, as for the instances outside a sampled share. 2 or more is an option without a position, such as a tie.
        level: Of the intervals; an `IntervalLevel` brings the clusters of the instances. The test then flips the signs
            of whole clusters.

    Raises:
        EstimationError: No instance.
        InvalidInputError: A shape that does not fit, a number below -2.

    Source: Zheng et al. (2023), arXiv:2306.05685, section 3.3 (consistency, bias toward first); Shi et al. (2024),
    arXiv:2406.07791 (repetition, consistency, preference). Shi et al. count an instance with a single verdict as
    consistent: their number is n_consistent + n_lone.

    Option 0 twice is consistent; 0 then 1 is the first shown both times; 1 then 0 the second; a single verdict.

    >>> bias = position_bias([[0, 0], [0, 1], [0, 1], [1, 0], [0, -1]])
    >>> bias.n_checked, bias.n_inconsistent, bias.n_first, bias.n_lone, bias.p_value
    (4, 3, 2, 1, 1.0)
    >>> bias.flip_rate.estimate, round(bias.first_position_share.estimate, 3)  # 6 of 9 votes
    (0.75, 0.667)
    """
    table = in_two_orders(selections)
    positions = shown_positions(table)
    asked, scored = table != NOT_ASKED, table >= 0
    n_asked, n_scored = asked.sum(axis=1), scored.sum(axis=1)
    checked = (n_asked >= 2) & (n_scored == n_asked)
    same_option, same_position = _all_same(table, asked), _all_same(positions, asked)
    inconsistent = checked & ~same_option
    stuck = inconsistent & same_position & (np.where(asked, positions, 0).max(axis=1) >= 0)
    first = stuck & (np.where(asked, positions, 0).max(axis=1) == 0)
    n_stuck, n_first = int(stuck.sum()), int(first.sum())
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
        p_value=_p_value(first, stuck, level) if n_stuck else None,
        first_position_share=ratio_intervals((positions == 0).sum(axis=1), (positions >= 0).sum(axis=1), level=level)[
            0
        ],
        level=float(level),
    )


def _preference(first: BoolArray, stuck: BoolArray, level: float) -> Interval | None:
    if IntervalLevel.of(level).clusters is None:
        return exact_interval(int(first.sum()), int(stuck.sum()), level=level)
    return ratio_intervals(first, stuck, level=level)[0]


def _p_value(first: BoolArray, stuck: BoolArray, level: float) -> float:
    confidence = IntervalLevel.of(level)
    if confidence.clusters is None:
        return float(stats.binomtest(int(first.sum()), int(stuck.sum())).pvalue)
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


def in_two_orders(selections: ArrayLike) -> IntArray:
    """The selections of two options in the orders (0, 1) and (1, 0), checked: (n_instances, 2)."""
    table = as_selections(selections)
    if table.shape[1] != 2:
        raise InvalidInputError(
            f"selections has the shape {table.shape!r}; give (n_instances, 2): a column for each of both orders"
        )
    return table


def shown_positions(table: IntArray) -> IntArray:
    """Where the selected one of two options was shown; the selection itself if negative, -1 for a tie."""
    places = np.column_stack([table[:, 0], 1 - table[:, 1]])
    return np.where((table >= 0) & (table < 2), places, np.minimum(table, UNSCORED))


def _all_same(table: IntArray, asked: BoolArray) -> BoolArray:
    high = np.where(asked, table, np.iinfo(np.int64).min).max(axis=1)
    low = np.where(asked, table, np.iinfo(np.int64).max).min(axis=1)
    return np.asarray(high == low)


@dataclass(frozen=True, slots=True)
class OptionFlips:
    """What becomes of one option when the order changes.

    Attributes:
        option: Its number in the criterion's own order.
        n_selected: Instances that selected it in some order and were scored in two orders or more.
        n_flipped: Of these, the ones in which another order selected another option.
        flip_rate: n_flipped / n_selected; None for an option that was not selected.
        specific_agreement: Given that one order selected it, the chance that another order does; None in the same case.
        moved_to: One number an option: pairs of orders of which one selected this option and the other that one;
            0 for itself.
    """

    option: int
    n_selected: int
    n_flipped: int
    flip_rate: Interval | None
    specific_agreement: Interval | None
    moved_to: tuple[int, ...]


def option_flips(selections: ArrayLike, n_options: int, *, level: float = 0.95) -> tuple[OptionFlips, ...]:
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
        level: Of the intervals, which are those of `ratio_intervals`; an `IntervalLevel` brings clusters.

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
    counts = (table[:, :, None] == np.arange(n_options)).sum(axis=1)
    scored = counts.sum(axis=1, keepdims=True)
    counts = np.where(scored >= 2, counts, 0)
    selected, flipped = counts > 0, (counts > 0) & (counts < scored)
    rates = ratio_intervals(flipped, selected, level=level)
    agreements = ratio_intervals(counts * (counts - 1), counts * (scored - 1), level=level)
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
        binomial_p_value: Two-sided and exact, of n_primacy against a half, the pairs independent; None as above.
        p_value: Of the sign-flip test over clusters, which without clusters is the binomial one; None in the same case.
        p_value_method: How that was found, see `sign_flip_p_value`; None in the same case.
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


def preference_fairness(selections: ArrayLike, *, level: float = 0.95) -> PreferenceFairness:
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

    `position_bias` counts only pairs stuck to a place twice.

    Args:
        selections: (n_pairs, 2) integers: the response selected, 0 or 1, in a numbering that does not depend on the
            order, when 0 was shown first and when 1 was; 2 or more is a tie; ``UNSCORED`` (-1), ``NOT_ASKED`` (-2). A
            pair not asked in both is left out.
        level: Of the intervals; an `IntervalLevel` brings the clusters of the pairs, such as prompts.

    Raises:
        EstimationError: No pair in the input.
        InvalidInputError: A shape that does not fit, a number below -2.

    Source: Shi et al. (2024), "Judging the Judges: A Systematic Study of Position Bias in LLM-as-a-Judge",
    arXiv:2406.07791, and the code published with it, which averages the fairness over units of model and task.

    Consistent twice; the first shown twice; the first shown, then a tie; the second shown twice.

    >>> fairness = preference_fairness([[0, 0], [1, 1], [0, 1], [0, 2], [1, 0]])
    >>> fairness.position_consistency.estimate, fairness.n_primacy, fairness.n_recency
    (0.4, 2, 1)
    >>> round(fairness.preference_fairness.estimate, 3), fairness.p_value
    (-0.2, 1.0)
    """
    table = in_two_orders(selections)
    confidence = IntervalLevel.of(level)
    positions = shown_positions(table)
    asked, scored = (table != NOT_ASKED).all(axis=1), (table >= 0).sum(axis=1)
    checked = asked & (scored == 2)
    consistent = checked & (np.minimum(table, 2)[:, 0] == np.minimum(table, 2)[:, 1])
    primacy = checked & ~consistent & (positions == 0).any(axis=1)
    recency = checked & ~consistent & ~primacy
    n, n_checked, n_consistent, n_primacy, n_recency = (
        int(rows.sum()) for rows in (asked, checked, consistent, primacy, recency)
    )
    n_lone, n_inconsistent = int((asked & (scored == 1)).sum()), n_primacy + n_recency
    sums = cluster_sums(np.column_stack([checked, consistent, primacy, recency]), confidence.labels(len(table)))
    over = confidence.of_clusters()
    rate, share = ratio_intervals(sums[:, [1, 2]], np.column_stack([sums[:, 0], sums[:, 2] + sums[:, 3]]), level=over)
    if confidence.clusters is None and n_inconsistent:
        share = exact_interval(n_primacy, n_inconsistent, level=level)
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
        preference_fairness=ratio_intervals(sums[:, 3] - sums[:, 2], sums[:, 0], level=over, bounds=(-1.0, 1.0))[0],
        published_preference_fairness=(n_recency - n_primacy) / n if n else None,
        n_clusters=int(np.count_nonzero(sums[:, 0])),
        level=float(level),
    )


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


def repetition_stability(selections: ArrayLike, *, level: float = 0.95) -> RepetitionStability:
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
        level: Of the intervals, which are those of `ratio_intervals`; an `IntervalLevel` brings the clusters of the
            prompts, such as the instance whose two orders are two prompts.

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
    asked, scored = (table != NOT_ASKED).sum(axis=1), (table >= 0).sum(axis=1)
    if not asked.any():
        raise EstimationError("repetition stability is undefined: no draw was asked")
    counts = np.stack([(table == option).sum(axis=1) for option in np.unique(table[table >= 0])] or [scored], axis=1)
    mode = counts.max(axis=1)
    repeated, answered = scored >= 2, scored >= 1
    draws = np.maximum(scored, 2)
    pairs = (counts * (counts - 1)).sum(axis=1) / (draws * (draws - 1))
    shares = np.column_stack([mode / draws, pairs, mode == scored]) * repeated[:, None]
    mode_share, pair_agreement, unanimous = ratio_intervals(
        shares, np.repeat(repeated[:, None], 3, axis=1), level=level
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
        n_clusters=len(np.unique(IntervalLevel.of(level).labels(len(table))[repeated])),
        level=float(level),
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


def within_row_deviation(
    variances: ArrayLike, counts: ArrayLike, *, width: float = 1.0, level: float = 0.95
) -> Interval | None:
    r"""The standard deviation of one draw about what draws of its prompt are on average: :math:`\sqrt{\overline{s^2}}`.

    Of :math:`m_c` values drawn for prompt c the sample variance :math:`s_c^2`, with :math:`m_c - 1` in its denominator,
    has the variance of a draw for its expectation, however few draws there are; so does the mean over prompts. The mean
    of population standard deviations, which is what is called ``spread`` here, is less: for two draws by 29 % at least.

    Args:
        variances: (n_rows,) the sum of the sample variances of each row's prompts.
        counts: (n_rows,) of how many prompts; 0 for a row without repeated draws.
        width: Of the range of the values; the sample variance of two values is :math:`width^2 / 2` at most.
        level: Of the interval, the root of that of `ratio_intervals`; an `IntervalLevel` brings the rows' clusters.

    Returns:
        The deviation; None where nothing was drawn twice.

    Source: Bland and Altman (1996), BMJ 313:744, "Measurement error": the within-subject standard deviation.

    Draws 0 and 1 for one prompt, 1 and 1 for another: variances 1/2 and 0.

    >>> within_row_deviation([0.5, 0.0], [1, 1]).estimate
    0.5
    """
    (mean,) = ratio_intervals(variances, counts, level=level, bounds=(0.0, width**2 / 2))
    if mean is None:
        return None
    estimate, low, high = (math.sqrt(max(number, 0.0)) for number in (mean.estimate, mean.low, mean.high))
    return replace(mean, estimate=estimate, low=low, high=high, standard_error=None)
