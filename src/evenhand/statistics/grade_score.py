"""The Grade Score of a judge that chooses one of several options: fair to positions, and of one mind.

What a random judge reaches, and histograms of the places and options chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import xlogy

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED, as_selections
from evenhand.statistics.contests import win_rate_intervals
from evenhand.statistics.intervals import Interval, ratio_intervals
from evenhand.statistics.resampling import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Uniformity:
    """A histogram of choices and two tests that every bar is as high as the others.

    Attributes:
        counts: Choices of each place, or of each option.
        chi_square: Pearson's statistic against equal counts.
        degrees_of_freedom: Bars less one.
        p_value: Of the statistic in the χ² distribution, as if all choices were independent.
        shift_p_value: Of the same statistic when the instances' counts are shifted at random, each as a whole.
        n_instances: Instances with a choice.
        draws: Random shifts behind ``shift_p_value``.
        seed: Of the shifts.
    """

    counts: tuple[int, ...]
    chi_square: float
    degrees_of_freedom: int
    p_value: float
    shift_p_value: float
    n_instances: int
    draws: int
    seed: int


def uniformity(counts: ArrayLike, *, draws: int = 1999, seed: int = 0) -> Uniformity:
    r"""Pearson's χ² test of equal totals, and a test that respects that the choices of one instance hang together.

    :math:`X^2 = \sum_j (O_j - n/k)^2 / (n/k)` with :math:`O_j` the total of column j and n the total of all.

    The χ² distribution supposes independent choices. The choices of one instance are not: a judge of one mind chooses
    one option N times (its places are then more even than chance, its options less), a judge that is drawn to one
    place in this instance and to another in the next takes each N times. The second test shifts every instance's row
    cyclically by a random number of columns and counts how often :math:`X^2` is at least the observed one, the
    observed arrangement included: exact, up to the draws, for any dependence within instances, if every instance's
    row is as likely as its shifts. Shifted bars keep their neighbours; a pattern common to all instances is what it
    finds.

    What a small p-value means. Of *places*: some place attracts the judge, whatever stands there; asked in all cyclic
    rotations, an order-blind judge has equal expected counts. Where rotations went unanswered this holds only if they
    are missing regardless of what stood where. Of *options*: the numbering matters. If option j is always the same
    system, that may be quality and no fault at all; if options were numbered at random, it is chance or a leak. What
    neither shows: an attraction that differs between instances and cancels in the totals; the Grade Score itself
    sees that.

    Args:
        counts: (n_instances, k) whole numbers, k at least 2; a row of zeros is an instance without a choice.
        draws: Random shifts, at least 1.
        seed: Of the shifts.

    Raises:
        EstimationError: No choice.
        InvalidInputError: Another shape, a count that is negative or no whole number, no draw.

    Source: Pearson (1900); Fisher (1935), "The Design of Experiments", section 21, for the randomisation; Rao and
    Scott (1981) for what clusters do to the χ² test.

    One instance takes the first place thrice: it may as well have been another place, and says nothing.

    >>> result = uniformity([[3, 0, 0]])
    >>> result.chi_square, round(result.p_value, 3), result.shift_p_value
    (6.0, 0.05, 1.0)
    """
    table = _whole_counts(counts)
    if draws < 1:
        raise InvalidInputError(f"draws is {draws!r}; give at least 1")
    used = table[table.sum(axis=1) > 0]
    totals, width = used.sum(axis=0), table.shape[1]
    expected = totals.sum() / width
    if not expected:
        raise EstimationError("a histogram without a choice cannot be tested: every count is 0")
    chi_square = float(((totals - expected) ** 2).sum() / expected)
    squares = _shifted_sums_of_squares(used, draws, np.random.default_rng(seed))
    as_large = int((squares >= int((totals**2).sum())).sum())
    return Uniformity(
        counts=tuple(totals.tolist()),
        chi_square=chi_square,
        degrees_of_freedom=width - 1,
        p_value=float(stats.chi2.sf(chi_square, width - 1)),
        shift_p_value=(1 + as_large) / (1 + draws),
        n_instances=len(used),
        draws=draws,
        seed=seed,
    )


def _whole_counts(counts: ArrayLike) -> IntArray:
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] < 2 or table.dtype.kind not in "iu" or (table < 0).any():
        raise InvalidInputError(
            f"counts has the shape {table.shape!r} and the type {table.dtype}; give whole numbers that are not "
            "negative, of the shape (n_instances, k) with k at least 2"
        )
    return table.astype(np.int64)


def _shifted_sums_of_squares(table: IntArray, draws: int, generator: np.random.Generator) -> IntArray:
    """The sum of the squared totals after each draw of shifts; rows that are alike are shifted together, by number."""
    width = table.shape[1]
    totals = np.full((draws, width), int(table[(table == table[:, :1]).all(axis=1), 0].sum()), dtype=np.int64)
    uneven = table[(table != table[:, :1]).any(axis=1)]
    if len(uneven):
        rows, multiplicities = np.unique(uneven, axis=0, return_counts=True)
        shifts = np.full(width, 1 / width)
        places = (np.arange(width)[None, :] - np.arange(width)[:, None]) % width
        for row, multiplicity in zip(rows, multiplicities, strict=True):
            totals += generator.multinomial(multiplicity, shifts, size=draws) @ row[places]
    return np.asarray((totals**2).sum(axis=1))


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


@lru_cache(maxsize=1024)
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


@dataclass(frozen=True, slots=True)
class GradeScoreResult:
    """The Grade Score over questions, its two parts, and the score of each question.

    Attributes:
        grade_score: Mean of the questions' scores.
        chance_corrected: Mean of the questions' scores less what a random judge reaches; 0 is chance, 1 perfection.
        position_entropy: Mean of the normalised entropy of the places chosen (the paper's LLM score).
        mode_frequency: Mean share of the option chosen most (the paper's choice score).
        answered: Share of the rotations asked that were answered with an option.
        n_answered: Their number.
        n_unanswered: Rotations asked whose reply named no option.
        n_set_aside: Questions without a score.
        scores: One a question, in order; None for a question that was set aside.
        corrected_scores: Likewise, corrected for chance.
        answered_rotations: One a question: rotations answered.
        chances: What a random judge reaches, for every number of answers that was scored.
        level: Of the intervals.
        places: Histogram of the places chosen, first place first.
        options: Histogram of the options chosen, in the numbering that does not depend on the order.
    """

    grade_score: Interval
    chance_corrected: Interval
    position_entropy: Interval
    mode_frequency: Interval
    answered: Interval
    n_answered: int
    n_unanswered: int
    n_set_aside: int
    scores: tuple[float | None, ...]
    corrected_scores: tuple[float | None, ...]
    answered_rotations: tuple[int, ...]
    chances: tuple[GradeScoreChance, ...]
    level: float
    places: Uniformity
    options: Uniformity


def grade_score(selections: ArrayLike, *, level: float = 0.95, seed: int = 0) -> GradeScoreResult:
    r"""The harmonic mean of the evenness of places and the frequency of the favourite option, averaged over questions.

    A question with N options is asked in its N rotations; m of them were answered. :math:`L = H / \log m`, H the
    entropy of the places chosen; :math:`C = c / m`, c how often the option chosen most was chosen;
    :math:`G = 2 L C / (L + C)`. In [0, 1]. Exactly 1 if the same option was chosen wherever it stood, exactly 0 if
    the same place whatever stood there. C is at least 1 / m, so that L + C is never 0; a tie for the favourite does
    not change c.

    With all rotations answered, log m = log N is the paper's norm. A reply that names no option is neither a place
    nor a reason to drop the question: over m rotations a judge of one mind chooses m different places, so that log m
    is the greatest entropy that it can reach, and the score stays 1 for it and 0 for a judge stuck to a place. One
    answer or none says nothing about either: such a question has no score. What was not answered stands beside the
    score in ``answered``.

    Chance: a uniformly random judge does not reach 0 but :math:`E_{N,m}` (N = m: 0.50 for 2 options, 0.57 for 4, 0.45
    for 8, 0.36 for 12), and :math:`(G - E) / (1 - E)` is 0 for it on average; the least possible is -E / (1 - E).
    `grade_score_chance` says how E is found and when it is simulated.

    Args:
        selections: (n_questions, N) integers, N from 2: the option chosen in each rotation, in the numbering that does
            not depend on the order; rotation r shows the option (r + p) mod N at the place p. -1 where the reply named
            none, -2 where the rotation was not asked.
        level: Of the intervals, which are those of `win_rate_intervals` over the questions; for the corrected score
            with its least possible value in the place of 0. Nominal 95 % held the truth in 94 to 97 % of simulations
            of 30 and more questions, with N from 2 to 8, and in up to 99 % for two options, whose scores are 0 or 1.
        seed: Of what is drawn: chance where it is simulated, and the histograms' tests (`uniformity`).

    Raises:
        EstimationError: No question has a score.
        InvalidInputError: Shapes that do not fit, a selection that was not offered.

    Source: Iourovitski (2024), "Grade Score: Quantifying LLM Performance in Option Selection", arXiv:2406.12043v2,
    section 4. The correction has the form of Cohen's kappa; it and the treatment of unanswered rotations are ours.

    Three rotations. Always option 2 stands at the places 2, 1, 0; then always the first place; then the options
    0, 0, 1 at the places 0, 2, 2: L = 0.579, C = 2/3; then option 1 twice, and a reply without an option.

    >>> result = grade_score([[2, 2, 2], [0, 1, 2], [0, 0, 1], [1, -1, 1]])
    >>> [round(score, 3) for score in result.scores]
    [1.0, 0.0, 0.62, 1.0]
    >>> result.answered_rotations, result.n_unanswered
    ((3, 3, 3, 2), 1)
    """
    table = as_selections(selections)
    n_options = table.shape[1]
    if n_options < 2 or table.max() >= n_options:
        raise InvalidInputError(
            f"there are {n_options!r} rotations and the greatest selection is {int(table.max())!r}; ask in every "
            "rotation of two options or more, numbered from 0"
        )
    options = np.arange(n_options)
    shown_at = np.where(table >= 0, (table - options) % n_options, UNSCORED)
    place_counts, option_counts = ((chosen[:, :, None] == options).sum(axis=1) for chosen in (shown_at, table))
    answered, asked = option_counts.sum(axis=1), (table != NOT_ASKED).sum(axis=1)
    used = answered >= 2
    if not used.any():
        raise EstimationError("the Grade Score is undefined: no question has the answers that it needs")
    chances = {count: grade_score_chance(n_options, count, seed=seed) for count in np.unique(answered[used]).tolist()}
    expected = np.array([chances[count].expected for count in answered[used].tolist()])
    score, entropy, frequency = grade_score_parts(place_counts[used], option_counts[used])
    parts = np.full((len(table), 4), np.nan)
    parts[used] = np.column_stack([score, entropy, frequency, (score - expected) / (1 - expected)])
    least = min(-chance.expected / (1 - chance.expected) for chance in chances.values())
    means = [
        mean_score_interval(column, level, low) for column, low in zip(parts.T, (0.0, 0.0, 0.0, least), strict=True)
    ]
    mean, mean_entropy, mean_frequency, corrected = (found for found in means if found is not None)
    return GradeScoreResult(
        grade_score=mean,
        chance_corrected=corrected,
        position_entropy=mean_entropy,
        mode_frequency=mean_frequency,
        answered=next(interval for interval in ratio_intervals(answered, asked, level=level) if interval),
        n_answered=int(answered.sum()),
        n_unanswered=int((asked - answered).sum()),
        n_set_aside=int((~used).sum()),
        scores=_optional(parts[:, 0]),
        corrected_scores=_optional(parts[:, 3]),
        answered_rotations=tuple(answered.tolist()),
        chances=tuple(chances.values()),
        level=float(level),
        places=uniformity(place_counts, seed=seed),
        options=uniformity(option_counts, seed=seed),
    )


def mean_score_interval(
    values: Sequence[float | None] | FloatArray, level: float, least: float = 0.0
) -> Interval | None:
    """Of the mean of the values that are there, each between ``least`` and 1; None or NaN is missing.

    The interval is that of `win_rate_intervals` for the share of the way from ``least`` to 1.
    """
    column = np.array(values, dtype=float).reshape(-1, 1)
    present = ~np.isnan(column)
    (scaled,) = win_rate_intervals(
        np.where(present, (column - least) / (1 - least), 0.0), present.astype(float), level=level
    )
    if scaled is None:
        return None
    found = scaled.on_scale(least, 1 - least)
    estimate = float(column[present].mean())
    return replace(found, estimate=estimate, low=min(found.low, estimate), high=max(found.high, estimate))


def _optional(values: FloatArray) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)
