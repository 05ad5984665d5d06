"""Two runs of the Grade Score on arrays, with and without an unrelated option: what votes are held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.resampling import FloatArray, IntArray
from tests.statistics.grade_score_of_arrays import GradeScoreResult, Incomplete, Rows, grade_score

ENOUGH_DIFFERENCES = 10
"""From so many questions that differ on, a mean difference has a t interval; below, one that allows for the unseen."""


@dataclass(frozen=True, slots=True)
class UnrelatedOption:
    """The same questions with and without an unrelated option.

    Attributes:
        chosen: Share of the answers that chose the unrelated option, with an interval over the questions.
        n_chosen: Their number.
        ever_chosen: Share of the answered questions in which it was chosen in some rotation.
        with_option: The Grade Score with the unrelated option, N + 1 options a question.
        without_option: The Grade Score without it.
        difference: Mean of score with - score without over the questions scored in both; None without any.
        corrected_difference: The same of the scores corrected for chance, which allow for the other N; as above.
        n_paired: Questions scored in both.
    """

    chosen: Interval
    n_chosen: int
    ever_chosen: Interval
    with_option: GradeScoreResult
    without_option: GradeScoreResult
    difference: Interval | None
    corrected_difference: Interval | None
    n_paired: int


def unrelated_option(
    with_option: Rows,
    without_option: Rows,
    unrelated: ArrayLike,
    *,
    orders_with: Rows | None = None,
    orders_without: Rows | None = None,
    incomplete: Incomplete = "answered",
    level: float = 0.95,
    draws: int = 100_000,
    seed: int = 0,
) -> UnrelatedOption:
    r"""How often an option from elsewhere is chosen, and what it does to the Grade Score.

    The share chosen is sum(choices of the unrelated option) / sum(answers); 0 for a judge that reads, 1 / (N + 1) for
    one that chooses by place or at random. The differences are :math:`\frac1n\sum_i (g_i - h_i)` over the n questions
    that have a score in both runs, in [-1, 1]; positive if the judge is steadier with the unrelated option. What
    chance brings depends on the number of options, so that the plain difference of a random judge is not 0; that of
    the corrected scores is.

    Args:
        with_option: As in `grade_score`: a row per question, one option and one rotation more than in
            ``without_option``; -1 where a reply named no option.
        without_option: The same questions in the same order.
        unrelated: (n_questions,) the number of the unrelated option in the rows of ``with_option``.
        orders_with: As in `grade_score`.
        orders_without: As in `grade_score`.
        incomplete: As in `grade_score`.
        level: Of the intervals: those of `ratio_intervals`, and for the differences of `mean_intervals` without bounds,
            which held 95 % in 93 to 97 % of simulations; with bounds if fewer than ten questions differ, where that
            one held as few as 84 %.
        draws: As in `grade_score`.
        seed: As in `grade_score`.

    Raises:
        EstimationError: No answer, or no question with a score in one of the runs.
        InvalidInputError: Runs of different length, a question without exactly one more option, a number of the
            unrelated option that is not among the options.

    Source: Iourovitski (2024), arXiv:2406.12043v2, section 4.6.

    The unrelated option 2 is taken once, where it stands first.

    >>> result = unrelated_option([[0, 0, 2], [1, 1, 1]], [[0, 0], [1, 1]], [2, 2])
    >>> result.n_chosen, round(result.chosen.estimate, 3), result.ever_chosen.estimate
    (1, 0.167, 0.5)
    >>> round(result.difference.estimate, 3)  # (0.620 - 1 + 1 - 1) / 2
    -0.19
    """
    number = np.asarray(unrelated)
    _check(with_option, without_option, number)
    first = grade_score(with_option, orders_with, incomplete=incomplete, level=level, draws=draws, seed=seed)
    second = grade_score(without_option, orders_without, incomplete=incomplete, level=level, draws=draws, seed=seed)
    chosen = np.array(
        [np.count_nonzero(np.asarray(row) == option) for row, option in zip(with_option, number, strict=True)]
    )
    answered = np.array(first.answered_rotations)
    share, ever = ratio_intervals(
        np.column_stack([chosen, chosen > 0]), np.column_stack([answered, answered > 0]), level=level
    )
    if share is None or ever is None:
        raise EstimationError("no rotation with the unrelated option was answered: nothing could be chosen")
    differences = _numbers(first.scores) - _numbers(second.scores)
    corrected = _numbers(first.corrected_scores) - _numbers(second.corrected_scores)
    least, least_without = (
        min(-chance.expected / (1 - chance.expected) for chance in run.chances) for run in (first, second)
    )
    many = np.count_nonzero(np.abs(np.nan_to_num(differences)) > 1e-9) >= ENOUGH_DIFFERENCES
    return UnrelatedOption(
        chosen=share,
        n_chosen=int(chosen.sum()),
        ever_chosen=ever,
        with_option=first,
        without_option=second,
        difference=mean_intervals(differences, level=level, bounds=None if many else (-1.0, 1.0))[0],
        corrected_difference=mean_intervals(
            corrected, level=level, bounds=None if many else (least - 1, 1 - least_without)
        )[0],
        n_paired=int(np.count_nonzero(~np.isnan(differences))),
    )


def _check(with_option: Rows, without_option: Rows, unrelated: IntArray) -> None:
    n_questions = len(with_option)
    if len(without_option) != n_questions or unrelated.shape != (n_questions,):
        raise InvalidInputError(
            f"with_option has {n_questions} questions, without_option {len(without_option)} and unrelated the shape "
            f"{unrelated.shape!r}; give the same questions in the same order"
        )
    pairs = zip(with_option, without_option, unrelated.tolist(), strict=True)
    for question, (more, fewer, option) in enumerate(pairs):
        if np.size(more) != np.size(fewer) + 1 or option not in range(np.size(more)):
            raise InvalidInputError(
                f"question {question} has {np.size(more)} options with and {np.size(fewer)} without the unrelated one, "
                f"which is the number {option!r}; there must be one more with it, and it must be one of them"
            )


def _numbers(scores: tuple[float | None, ...]) -> FloatArray:
    return np.array([np.nan if score is None else score for score in scores])
