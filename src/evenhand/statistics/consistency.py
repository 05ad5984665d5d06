r"""Consistency of a judge in another order (position bias), when asked again, and when it chooses among candidates.

The Grade Score of a judge that chooses one of several options has two parts: fairness to positions, and consistency.

A question with N options is asked in its N rotations; m of them were answered. :math:`L = H / \log m`, H the entropy of
the places chosen; :math:`C = c / m`, c how often the option chosen most was chosen; :math:`G = 2 L C / (L + C)`. In
[0, 1]. Exactly 1 if the same option was chosen wherever it stood, exactly 0 if always the same place. C
is at least 1 / m, so that L + C is never 0; a tie for the favourite does not change c.

With all rotations answered, log m = log N is the paper's norm. A reply that names no option is neither a place nor a
reason to drop the question: over m rotations a judge of one mind chooses m different places, so that log m is the
greatest entropy that it can reach, and the score stays 1 for it and 0 for a judge stuck to a place. One answer or none
says nothing about either: such a question has no score.

Chance: a uniformly random judge does not reach 0 but :math:`E_{N,m}` (N = m: 0.50 for 2 options, 0.57 for 4, 0.45 for
8, 0.36 for 12), and :math:`(G - E) / (1 - E)` is 0 for it on average; the least possible is -E / (1 - E).

Source: Iourovitski (2024), "Grade Score: Quantifying LLM Performance in Option Selection", arXiv:2406.12043v2, section
4. The correction has the form of Cohen's kappa; it and the treatment of unanswered rotations are ours. What is made of
votes is in `evenhand.modes.choices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import xlogy

from evenhand.errors import InvalidInputError
from evenhand.numbers import Missing, measure, or_missing
from evenhand.statistics.intervals import FloatArray, IntArray, Interval, IntervalLevel, Level, ratio_intervals
from evenhand.statistics.ranking import paired_test

UNSCORED = -1
NOT_ASKED = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """What changed when two options were shown in the other order.

    Attributes:
        n: Pairs asked in both orders.
        n_checked: Of these, the ones scored in both.
        n_consistent: Of those checked, the same verdict in both orders, a tie included.
        n_primacy: Inconsistent towards the first place: the first twice, or once and a tie.
        n_recency: Inconsistent towards the second place.
        n_inconsistent: Pairs checked whose orders disagree.
        n_lone: Pairs with exactly one order scored; they say nothing about consistency.
        position_consistency: n_consistent / n_checked; None when nothing was checked.
        preference_fairness: (n_recency - n_primacy) / n_checked, in [-1, 1]; 0 is fair; None when nothing was checked.
        first_shown_share: n_primacy / n_inconsistent.
        p_value: That n_primacy is a half of these: `evenhand.statistics.ranking.paired_test`.
        first_position_share: Share of the first position among all votes for one of the two.
    """

    n: int
    n_checked: int
    n_consistent: int
    n_primacy: int
    n_recency: int
    n_inconsistent: int = measure("count", name="num_inconsistent")
    n_lone: int = measure("count", name="num_lone")
    position_consistency: Interval | None
    preference_fairness: Interval | None
    first_shown_share: Interval | Missing = measure("share", name="first_shown_preference")
    p_value: float | Missing = measure("p_value", name="first_shown_preference_p_value")
    first_position_share: Interval | Missing = measure("share")


def position_bias(selections: Sequence[Sequence[int]] | IntArray, *, level: Level = 0.95) -> PositionBias:
    r"""Compute the consistency of a judge that saw pairs in both orders, and its preferred position elsewhere.

    A pair is consistent if both orders name the same response, or both a tie. Otherwise some place gained: the first
    (primacy: first and first, or first and tie) or the second (recency). With p and r such pairs of n, Shi et al.
    define the raw score :math:`r \cdot \frac{r}{p + r} - p \cdot \frac{p}{p + r}` and scale it to [-1, 1] by its
    extremes ±n. As :math:`r^2 - p^2 = (r - p)(r + p)`, that is :math:`(r - p) / n`, the preference fairness: a mean
    over pairs of -1, 0 and 1, which has an interval like any mean.

    A fair judge that flips is as likely to flip either way. The test is `paired_test` of each cluster's r - p. Without
    clusters that is the exact binomial one, and `first_shown_share` has Clopper and Pearson's interval, which excludes
    a half exactly when it rejects; with clusters it has that of `ratio_intervals`, as all others here.

    Consistent answers show nothing about a preference for the first position, and with both orders asked they are
    balanced: `first_position_share` is a half for a judge without bias.

    Args:
        selections: (n_pairs, 2) integers: the response selected, 0 or 1, in a numbering that does not depend on the
            order, when 0 was shown first and when 1 was; 2 or more is a tie; ``UNSCORED`` (-1) where no option could be
            read, ``NOT_ASKED`` (-2) where the order was not put. A pair not asked in both counts for
            `first_position_share` only.
        level: The level of the intervals; an `IntervalLevel` brings the clusters of the pairs, such as prompts.

    Source: Zheng et al. (2023), arXiv:2306.05685, section 3.3; Shi et al. (2024), "Judging the Judges: A Systematic
    Study of Position Bias in LLM-as-a-Judge", arXiv:2406.07791, who count a pair with a single verdict as consistent
    and divide by all pairs asked.

    Consistent twice; the first shown twice; the first shown, then a tie; the second shown twice.

    >>> bias = position_bias([[0, 0], [1, 1], [0, 1], [0, 2], [1, 0]])
    >>> bias.position_consistency.estimate, bias.n_primacy, bias.n_recency
    (0.4, 2, 1)
    >>> round(bias.preference_fairness.estimate, 3), bias.p_value, bias.first_position_share.estimate  # 5 of 9 votes
    (-0.2, 1.0, 0.5555555555555556)
    """
    table, over = _table(selections, 2), IntervalLevel.of(level)
    # where the selected one of the two was shown; negative where none was
    shown_at = np.where((table == 0) | (table == 1), np.abs(table - [0, 1]), UNSCORED)
    asked, scored = (table != NOT_ASKED).all(axis=1), (table >= 0).sum(axis=1)
    checked = asked & (scored == 2)
    consistent = checked & (np.minimum(table[:, 0], 2) == np.minimum(table[:, 1], 2))
    primacy = checked & ~consistent & (shown_at == 0).any(axis=1)
    recency = checked & ~consistent & ~primacy
    inconsistent = primacy | recency
    numerators = np.column_stack([consistent, (shown_at == 0).sum(axis=1)])
    rate, place = ratio_intervals(numerators, np.column_stack([checked, (shown_at >= 0).sum(axis=1)]), level=over)
    exact = replace(over, method="exact") if over.clusters is None else over
    (first_shown,), agree = ratio_intervals(primacy, inconsistent, level=exact), "the orders of no judge disagree"
    p_value: float | Missing = Missing(agree)
    if inconsistent.any():
        p_value = paired_test(1.0 * recency - primacy, over.labels(len(table))).p_value
    return PositionBias(
        n=int(asked.sum()),
        n_checked=int(checked.sum()),
        n_consistent=int(consistent.sum()),
        n_primacy=int(primacy.sum()),
        n_recency=int(recency.sum()),
        n_inconsistent=int(inconsistent.sum()),
        n_lone=int((asked & (scored == 1)).sum()),
        position_consistency=rate,
        preference_fairness=ratio_intervals(1.0 * recency - primacy, checked, level=over, bounds=(-1.0, 1.0))[0],
        first_shown_share=or_missing(first_shown, agree),
        p_value=p_value,
        first_position_share=or_missing(place, "no vote is for a place"),
    )


def _table(selections: Sequence[Sequence[int]] | IntArray, width: int = 0) -> IntArray:
    """Make a table of rows of selections, padded with ``NOT_ASKED`` to the longest; without rows it has ``width``."""
    width = max(map(len, selections), default=width)
    rows = [[*row, *[NOT_ASKED] * (width - len(row))] for row in selections]
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


@dataclass(frozen=True, slots=True)
class RepetitionStability:
    """The agreement of repeated draws of one prompt.

    Attributes:
        pair_agreement: Mean share of equal pairs of draws, over the prompts (an instance in one order) with two scored
            draws or more; None without any.
        mode_share: Mean share of the verdict given most, over the same.
    """

    pair_agreement: Interval | None
    mode_share: Interval | None


def repetition_stability(selections: Sequence[Sequence[int]] | IntArray, *, level: Level = 0.95) -> RepetitionStability:
    r"""Compute how often the same prompt brings the same verdict.

    Prompt i has :math:`m_i` scored draws, :math:`n_{ik}` of them option k. Pair agreement: the mean of
    :math:`\sum_k n_{ik}(n_{ik} - 1) / (m_i (m_i - 1))`, an unbiased estimate of the chance that two draws agree,
    however many there are. Mode share: the mean of :math:`\max_k n_{ik} / m_i`, which is at least 1 / m and on average
    the higher the fewer draws there are (a fair coin has 3/4 with two or three draws, 11/16 with four, 1/2 in the
    limit), so that it compares judges only at the same m. Both in [0, 1], 1 if nothing ever changes.

    If drawing stopped once draws agreed, prompts that disagree have more of them: give the first two draws of each.

    Args:
        selections: (n_prompts, n_draws) integers: the option selected, ties and NA numbered like any other;
            ``UNSCORED`` (-1), ``NOT_ASKED`` (-2).
        level: Of the intervals, which are those of `ratio_intervals`; an `IntervalLevel` brings the clusters of the
            prompts, such as the instance whose two orders are two prompts.

    Source: Shi et al. (2024), arXiv:2406.07791, repetition stability: the mode share, a draw without a verdict being a
    dissent to them.

    Three alike; two of three; a reply that could not be read among three.

    >>> result = repetition_stability([[0, 0, 0], [0, 1, 0], [1, 1, -1]])
    >>> round(result.mode_share.estimate, 3), round(result.pair_agreement.estimate, 3)
    (0.889, 0.778)
    """
    table = _table(selections)
    scored = (table >= 0).sum(axis=1)
    counts = np.stack([(table == option).sum(axis=1) for option in np.unique(table[table >= 0])] or [scored], axis=1)
    repeated, draws = scored >= 2, np.maximum(scored, 2)
    pairs = (counts * (counts - 1)).sum(axis=1) / (draws * (draws - 1))
    shares = np.column_stack([pairs, counts.max(axis=1) / draws]) * repeated[:, None]
    return RepetitionStability(*ratio_intervals(shares, np.column_stack([repeated, repeated]), level=level))


@dataclass(frozen=True, slots=True)
class Uniformity:
    """A histogram of choices and a test that all bars are equal.

    Attributes:
        counts: Choices of each place, or of each option.
        p_value: The p-value of the test over the instances, each as a whole.
    """

    counts: tuple[int, ...]
    p_value: float


def uniformity(counts: ArrayLike) -> Uniformity:
    r"""Test that totals are equal, for choices that depend on each other within instances.

    Pearson's test supposes independent choices. The choices of one instance are not: a judge of one mind chooses
    one option N times (its places are then more even than chance, its options less), a judge that is drawn to one
    place in this instance and to another in the next takes each N times. This test is over instances: with
    :math:`e_i` the counts of instance i less their mean and :math:`V = \sum e_i e_i'`, :math:`|\sum e_i|^2` is a sum of
    χ² variables weighted by the eigenvalues of V, and :math:`|\sum e_i|^2 / a` with :math:`a = \mathrm{tr} V^2 /
    \mathrm{tr} V` has about :math:`\mathrm{tr} V / a` degrees of freedom. In simulations of 5 to 100 instances of 2 to
    6 options, equal places were rejected at 5 % in 0.2 to 6.7 %.

    What a small p-value means. Of *places*: some place attracts the judge, with any option there; asked in all cyclic
    rotations, an order-blind judge has equal expected counts. Where rotations went unanswered this holds only if they
    are missing regardless of what stood where. Of *options*: the numbering matters. If option j is always the same
    system, that may be quality and no fault at all; if options were numbered at random, it is chance or a leak. What
    neither shows: an attraction that differs between instances and cancels in the totals; the Grade Score itself
    sees that.

    Args:
        counts: (n_instances, k) whole numbers, k at least 2, some above 0; a row of zeros is an instance without a
            choice.

    Source: Rao and Scott (1981), "The analysis of categorical data from complex sample surveys".

    One instance takes the first place thrice: it may as well have been another place, and says next to nothing.

    >>> round(uniformity([[3, 0, 0]]).p_value, 3)
    0.317
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] < 2 or not table.any() or (table < 0).any():
        raise InvalidInputError(f"counts is {counts!r}; give (n_instances, k) numbers of at least 0, with k at least 2")
    used = table[table.sum(axis=1) > 0]
    uneven = used - used.mean(axis=1, keepdims=True)
    spread, p_value = uneven.T @ uneven, 1.0
    if uneven.any():
        scale = (spread**2).sum() / np.trace(spread)
        p_value = float(stats.chi2.sf((uneven.sum(axis=0) ** 2).sum() / scale, np.trace(spread) / scale))
    return Uniformity(tuple(used.sum(axis=0).tolist()), p_value)


MOST_ENUMERATED = 300_000
"""The largest number of answer patterns that is enumerated; more are sampled."""


def grade_score_parts(place_counts: IntArray, option_counts: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Compute Grade Score, entropy of places and frequency of the mode per row; every row has two choices or more.

    :math:`L = 1 - \sum_j c_j \log c_j / (m \log m)` is the entropy of the m places chosen over its greatest value
    log m, written so that m different places give exactly 1 and one place exactly 0.

    >>> score, entropy, frequency = grade_score_parts(np.array([[1, 1, 0]]), np.array([[2, 0, 0]]))
    >>> score.tolist(), entropy.tolist(), frequency.tolist()
    ([1.0], [1.0], [1.0])
    """
    answered = place_counts.sum(axis=1)
    entropy = 1 - xlogy(place_counts, place_counts).sum(axis=1) / xlogy(answered, answered)
    frequency = option_counts.max(axis=1) / answered
    return 2 * entropy * frequency / (entropy + frequency), entropy, frequency


@lru_cache(maxsize=1024)
def grade_score_chance(n_options: int, n_answered: int, *, seed: int = 0) -> float:
    """Compute E[G] if choices are uniform and independent, and all rotations equally likely to be answered.

    By symmetry one answered rotation and the place chosen in it can be held fixed; the rest leaves
    C(N - 1, m - 1) · N^(m - 1) equally likely patterns for m of N rotations. Up to 300,000 they are listed: always for
    N up to 7, for N = 8 up to m = 5, for N = 12 up to m = 4. Beyond, 100,000 patterns are drawn; the standard error is
    below 0.0005.

    Args:
        n_options: N, at least 2.
        n_answered: m, from 2 to N.
        seed: The seed of the draws.

    Two options: the places agree (G = 0) or the options do (G = 1), each half of the time.

    >>> grade_score_chance(2, 2)
    0.5
    """
    if not 2 <= n_answered <= n_options:
        raise InvalidInputError(f"n_answered is {n_answered} of {n_options} options; give at least 2, and at most all")
    if comb(n_options - 1, n_answered - 1) * n_options ** (n_answered - 1) <= MOST_ENUMERATED:
        others = np.indices((n_options,) * (n_answered - 1)).reshape(n_answered - 1, -1).T
        places = np.column_stack([np.zeros(len(others), dtype=np.int64), others])
        rotations = [np.array([[0, *answered]]) for answered in combinations(range(1, n_options), n_answered - 1)]
        return float(np.mean([_scores_of_choices(places, each, n_options).mean() for each in rotations]))
    generator, drawn = np.random.default_rng(seed), []
    for rows in (50_000, 50_000):  # to save memory
        asked = np.argsort(generator.random((rows, n_options)), axis=1)[:, :n_answered]
        drawn.append(_scores_of_choices(generator.integers(n_options, size=(rows, n_answered)), asked, n_options))
    return float(np.mean(drawn))


def _scores_of_choices(places: IntArray, rotations: IntArray, n_options: int) -> FloatArray:
    """Return the scores; in rotation r the option (r + p) mod N has position p."""
    row = n_options * np.arange(len(places))[:, None]
    counts = (
        np.bincount((chosen + row).ravel(), minlength=row.size * n_options).reshape(-1, n_options)
        for chosen in (places, (places + rotations) % n_options)
    )
    return grade_score_parts(*counts)[0]
