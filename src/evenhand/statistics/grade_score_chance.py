"""The Grade Score of a judge that chooses at random: what chance alone brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from evenhand.errors import InvalidInputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_ENUMERATED = 300_000
"""Up to so many patterns of answers are listed; beyond, they are drawn."""

_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class GradeScoreChance:
    """The expected Grade Score of a uniformly random judge.

    Attributes:
        n_options: Options, and rotations asked.
        n_answered: Rotations answered.
        expected: The mean Grade Score.
        method: ``exact``: every pattern of answers was listed; ``simulated``: patterns were drawn.
        standard_error: Of a simulated mean; 0 if exact.
        draws: Patterns drawn; None if exact.
        seed: Of the draws; None if exact.
    """

    n_options: int
    n_answered: int
    expected: float
    method: Literal["exact", "simulated"]
    standard_error: float
    draws: int | None
    seed: int | None


def grade_score_parts(place_counts: IntArray, option_counts: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Grade Score, entropy of the places and frequency of the mode of each row; every row has two choices or more.

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


def grade_score_chance(n_options: int, n_answered: int, *, draws: int = 100_000, seed: int = 0) -> GradeScoreChance:
    """E[G] when every choice is uniform and independent, and any rotations are as likely to be the answered ones.

    By symmetry one answered rotation and the place chosen in it can be held fixed; the rest leaves
    C(N - 1, m - 1) · N^(m - 1) equally likely patterns for m of N rotations. Up to 300,000 they are listed: always for
    N up to 7, for N = 8 up to m = 5, for N = 12 up to m = 4. Beyond, ``draws`` patterns are drawn; with 100,000 the
    standard error is below 0.0005.

    Args:
        n_options: N, at least 2.
        n_answered: m, from 2 to N.
        draws: Patterns drawn where they cannot be listed.
        seed: Of the draws.

    Raises:
        InvalidInputError: N, m or the draws out of range.

    Two options: the places agree (G = 0) or the options do (G = 1), each half of the time.

    >>> grade_score_chance(2, 2).expected
    0.5
    """
    if not 2 <= n_answered <= n_options:
        raise InvalidInputError(
            f"n_answered is {n_answered!r} of {n_options!r} options; a Grade Score takes 2 or more, at most all"
        )
    if draws < 2:
        raise InvalidInputError(f"draws is {draws!r}; give at least 2")
    patterns = comb(n_options - 1, n_answered - 1) * n_options ** (n_answered - 1)
    if patterns <= MOST_ENUMERATED:
        total = sum(float(block.sum()) for block in _listed(n_options, n_answered))
        return GradeScoreChance(n_options, n_answered, total / patterns, "exact", 0.0, None, None)
    scores = np.concatenate(list(_drawn(n_options, n_answered, draws, np.random.default_rng(seed))))
    error = float(scores.std(ddof=1) / np.sqrt(draws))
    return GradeScoreChance(n_options, n_answered, float(scores.mean()), "simulated", error, draws, seed)


def _listed(n_options: int, n_answered: int) -> Iterator[FloatArray]:
    patterns = n_options ** (n_answered - 1)
    powers = n_options ** np.arange(n_answered - 1)
    for others in combinations(range(1, n_options), n_answered - 1):
        rotations = np.array([0, *others])
        for start in range(0, patterns, _ROWS_AT_ONCE):
            numbers = np.arange(start, min(start + _ROWS_AT_ONCE, patterns))
            places = np.zeros((len(numbers), n_answered), dtype=np.int64)
            places[:, 1:] = numbers[:, None] // powers % n_options
            yield _scores(places, rotations[None, :], n_options)


def _drawn(n_options: int, n_answered: int, draws: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    for start in range(0, draws, _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, draws - start)
        rotations = np.argsort(generator.random((rows, n_options)), axis=1)[:, :n_answered]
        yield _scores(generator.integers(n_options, size=(rows, n_answered)), rotations, n_options)


def _scores(places: IntArray, rotations: IntArray, n_options: int) -> FloatArray:
    """In rotation r the option (r + p) mod N stands at the place p."""
    return grade_score_parts(_counts(places, n_options), _counts((places + rotations) % n_options, n_options))[0]


def _counts(chosen: IntArray, n_options: int) -> IntArray:
    rows = len(chosen)
    flat = chosen + n_options * np.arange(rows)[:, None]
    return np.bincount(flat.ravel(), minlength=rows * n_options).reshape(rows, n_options)
