r"""Parts of the Grade Score of a judge that chooses one of several options: fairness to positions, consistency.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import xlogy

from evenhand.statistics.intervals import FloatArray, IntArray, Interval, Level, ratio_intervals


@dataclass(frozen=True, slots=True)
class Uniformity:
    """A histogram of choices and two tests that all bars are equal.

    Attributes:
        counts: Choices of each place, or of each option.
        chi_square: Pearson's statistic against equal counts.
        p_value: The p-value of the statistic in the χ² distribution, as if all choices were independent.
        instance_p_value: The p-value of a test over the instances, each as a whole.
    """

    counts: tuple[int, ...]
    chi_square: float
    p_value: float
    instance_p_value: float


def uniformity(counts: ArrayLike) -> Uniformity:
    r"""Compute Pearson's χ² test of equal totals, and a test for choices that depend on each other within instances.

    :math:`X^2 = \sum_j (O_j - n/k)^2 / (n/k)` with :math:`O_j` the total of column j and n the total of all.

    The χ² distribution supposes independent choices. The choices of one instance are not: a judge of one mind chooses
    one option N times (its places are then more even than chance, its options less), a judge that is drawn to one
    place in this instance and to another in the next takes each N times. The second test is over instances: with
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

    Source: Pearson (1900); Rao and Scott (1981), "The analysis of categorical data from complex sample surveys".

    One instance takes the first place thrice: it may as well have been another place, and says next to nothing.

    >>> result = uniformity([[3, 0, 0]])
    >>> result.chi_square, round(result.p_value, 3), round(result.instance_p_value, 3)
    (6.0, 0.05, 0.317)
    """
    table = np.asarray(counts)
    used = table[table.sum(axis=1) > 0]
    totals = used.sum(axis=0)
    chi_square, p_value = stats.chisquare(totals)
    uneven, counted = used - used.mean(axis=1, keepdims=True), tuple(totals.tolist())
    spread, whole = uneven.T @ uneven, 1.0
    if uneven.any():
        scale = (spread**2).sum() / np.trace(spread)
        whole = float(stats.chi2.sf((uneven.sum(axis=0) ** 2).sum() / scale, np.trace(spread) / scale))
    return Uniformity(counted, float(chi_square), float(p_value), whole)


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
    patterns = comb(n_options - 1, n_answered - 1) * n_options ** (n_answered - 1)
    if patterns <= MOST_ENUMERATED:
        total = sum(float(block.sum()) for block in _every_choice(n_options, n_answered))
        return float(total / patterns)
    drawn = _drawn_choices(n_options, n_answered, np.random.default_rng(seed))
    return float(np.concatenate(list(drawn)).mean())


def _every_choice(n_options: int, n_answered: int) -> Iterator[FloatArray]:
    others = np.indices((n_options,) * (n_answered - 1)).reshape(n_answered - 1, -1).T
    places = np.column_stack([np.zeros(len(others), dtype=np.int64), others])
    for answered in combinations(range(1, n_options), n_answered - 1):
        yield _scores(places, np.array([[0, *answered]]), n_options)


def _drawn_choices(n_options: int, n_answered: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    for rows in (50_000, 50_000):  # to save memory
        rotations = np.argsort(generator.random((rows, n_options)), axis=1)[:, :n_answered]
        yield _scores(generator.integers(n_options, size=(rows, n_answered)), rotations, n_options)


def _scores(places: IntArray, rotations: IntArray, n_options: int) -> FloatArray:
    """Return the scores; in rotation r the option (r + p) mod N has position p."""
    return grade_score_parts(_counts(places, n_options), _counts((places + rotations) % n_options, n_options))[0]


def _counts(chosen: IntArray, n_options: int) -> IntArray:
    rows = len(chosen)
    flat = chosen + n_options * np.arange(rows)[:, None]
    return np.bincount(flat.ravel(), minlength=rows * n_options).reshape(rows, n_options)


def mean_score_interval(
    values: Sequence[float | None] | FloatArray, level: Level, least: float = 0.0
) -> Interval | None:
    """Compute the interval of the mean of the values, each between ``least`` and 1; None or NaN is missing.

    The interval is Student's on the logit scale (`ratio_intervals`) for the share of the way from ``least`` to 1.
    Nominal 95 % held the truth in 94 to 97 % of simulations of 30 and more questions, with N from 2 to 8, and in up to
    99 % for two options, whose scores are 0 or 1.
    """
    column = np.array(values, dtype=float)
    present = ~np.isnan(column)
    shares = np.where(present, (column - least) / (1 - least), 0.0)
    (scaled,) = ratio_intervals(shares, present, level=level, on_logit_scale=True)
    if scaled is None:
        return None
    found, estimate = scaled.on_scale(least, 1 - least), float(column[present].mean())
    return replace(found, estimate=estimate, low=min(found.low, estimate), high=max(found.high, estimate))
