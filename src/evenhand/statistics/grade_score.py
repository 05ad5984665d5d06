"""The Grade Score of a judge that chooses one of several options: fair to positions, and of one mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.statistics.intervals import Interval, mean_intervals
from evenhand.statistics.position import as_orders, as_selections, normalized_entropy, shown_positions


@dataclass(frozen=True, slots=True)
class GradeScore:
    """The Grade Score over questions, its two parts, and the score of each question.

    Attributes:
        grade_score: Mean of the questions' scores.
        position_entropy: Mean of the normalised entropy of the positions selected (the paper's LLM score).
        mode_frequency: Mean share of the option selected most (the paper's choice score).
        scores: One a question, in order; None for a question that was set aside.
        n_set_aside: Questions without a score.
        n_rotations: Orders in which each question was put.
        n_options: Options in each order.
        incomplete: What was done with questions that lack a rotation.
    """

    grade_score: Interval
    position_entropy: Interval
    mode_frequency: Interval
    scores: tuple[float | None, ...]
    n_set_aside: int
    n_rotations: int
    n_options: int
    incomplete: str


def grade_score(
    selections: ArrayLike,
    orders: ArrayLike,
    *,
    incomplete: Literal["skip", "partial"] = "skip",
    level: float = 0.95,
) -> GradeScore:
    r"""The harmonic mean of position entropy and mode frequency, averaged over the questions.

    For one question put in N orders of K options: :math:`L = H / \log K` with H the entropy of the positions
    selected, :math:`C = m / N` with m how often the option selected most was selected, and
    :math:`G = 2 L C / (L + C)`. In [0, 1]: 1 for the same option wherever it stands, 0 for the same position whatever
    stands there. C is at least 1 / N, so that G is always defined; a tie for the mode does not change m.

    Args:
        selections: (n_questions, n_rotations) integers: the option selected, in the numbering that does not depend
            on the order; -1 where none could be read.
        orders: (n_rotations, n_options), or (n_questions, n_rotations, n_options): the options in the order shown.
            Every option must stand at every position equally often, as in the K rotations; otherwise the judge
            that is of one mind could not reach 1.
        incomplete: ``skip`` sets aside a question that lacks a rotation. ``partial`` scores it by the
            rotations that are there, with the same :math:`\log K`, as the paper's program does: then the question
            cannot reach 1, and what is unreadable counts as bias.
        level: Of the intervals, which are those of `mean_intervals` over the questions.

    Raises:
        EstimationError: No question has a score.
        InvalidInputError: Shapes that do not fit, unbalanced orders, a selection that was not offered.

    Source: Iourovitski (2024), "Grade Score: Quantifying LLM Performance in Option Selection", arXiv:2406.12043v2, the
    definitions of LLM Score, Choice Score and Grade Score; averaged over questions as in its program, GradeLab.
    The program gives a question without any answer 0; here it has no score.

    Three rotations. Always option 2 stands at the positions 2, 1, 0; then always the first position; then the options
    0, 0, 1 at the positions 0, 2, 0: L = 0.579, C = 2/3.

    >>> rotations = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    >>> result = grade_score([[2, 2, 2], [0, 1, 2], [0, 0, 2]], rotations)
    >>> [round(score, 3) for score in result.scores]
    [1.0, 0.0, 0.62]
    """
    if incomplete not in {"skip", "partial"}:
        raise InvalidInputError(f"incomplete is {incomplete!r}. {did_you_mean(incomplete, ['skip', 'partial'])}")
    table = as_selections(selections)
    shown = as_orders(orders, *table.shape)
    n_rotations, n_options = shown.shape[1:]
    if table.max() >= n_options:
        raise InvalidInputError(f"a selection is {int(table.max())!r}, but the options are 0 to {n_options - 1}")
    standing = (shown[:, :, :, None] == np.arange(n_options)).sum(axis=1)
    if (standing * n_options != n_rotations).any():
        raise InvalidInputError(
            "the orders are not balanced: some option stands at some position more often than at another; "
            "use the rotations of the options"
        )
    positions = shown_positions(table, shown)
    scored = (table >= 0).sum(axis=1)
    used = scored == n_rotations if incomplete == "skip" else scored > 0
    if not used.any():
        raise EstimationError("the Grade Score is undefined: no question has the answers that it needs")
    position_counts = (positions[used, :, None] == np.arange(n_options)).sum(axis=1)
    choice_counts = (table[used, :, None] == np.arange(n_options)).sum(axis=1)
    entropy = np.clip(normalized_entropy(position_counts), 0, 1)
    frequency = choice_counts.max(axis=1) / scored[used]
    parts = np.full((3, len(table)), np.nan)
    parts[:, used] = 2 * entropy * frequency / (entropy + frequency), entropy, frequency
    score, position_entropy, mode_frequency = (
        interval for interval in mean_intervals(parts.T, level=level) if interval is not None
    )
    scores = tuple(float(value) if present else None for value, present in zip(parts[0], used, strict=True))
    return GradeScore(
        score, position_entropy, mode_frequency, scores, int((~used).sum()), n_rotations, n_options, incomplete
    )
