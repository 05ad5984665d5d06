"""The Grade Score on arrays of any numbers of options, in any rotations: what the package's own is held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED, as_selections
from evenhand.statistics.grade_score import (
    GradeScoreChance,
    Uniformity,
    grade_score_chance,
    grade_score_parts,
    mean_score_interval,
    uniformity,
)
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.resampling import BoolArray, FloatArray, IntArray

Incomplete = Literal["answered", "skip"]
Rows = Sequence[ArrayLike] | IntArray


@dataclass(frozen=True, slots=True)
class GradeScoreOfSize:
    """The questions that have the same number of options.

    Attributes:
        n_options: Options, and rotations asked.
        n_questions: Questions with so many options.
        n_set_aside: Those of them without a score.
        grade_score: As in `GradeScoreResult`; None without a scored question.
        chance_corrected: Likewise.
        places: Histogram of the places chosen, first place first; None without an answer.
        options: Histogram of the options chosen, in the numbering that does not depend on the order; as above.
    """

    n_options: int
    n_questions: int
    n_set_aside: int
    grade_score: Interval | None
    chance_corrected: Interval | None
    places: Uniformity | None
    options: Uniformity | None


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
        sizes: The same by number of options, with the histograms, which cannot be pooled over numbers of options.
        chances: What a random judge reaches, for every number of options and of answers that was scored.
        incomplete: What was done with questions that lack the answer of a rotation.
        level: Of the intervals.
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
    sizes: tuple[GradeScoreOfSize, ...]
    chances: tuple[GradeScoreChance, ...]
    incomplete: Incomplete
    level: float


def grade_score(
    selections: Rows,
    orders: Rows | None = None,
    *,
    incomplete: Incomplete = "answered",
    level: float = 0.95,
    draws: int = 100_000,
    shift_draws: int = 1999,
    seed: int = 0,
) -> GradeScoreResult:
    """As `evenhand.statistics.grade_score`, for questions of several sizes and orders of their own."""
    if incomplete not in {"answered", "skip"}:
        raise InvalidInputError(f"incomplete is {incomplete!r}. {did_you_mean(incomplete, ['answered', 'skip'])}")
    blocks = _blocks(selections, orders)
    n_questions = sum(len(block.rows) for block in blocks)
    answered, asked = np.zeros((2, n_questions), dtype=np.int64)
    parts = np.full((n_questions, 4), np.nan)
    chances: list[GradeScoreChance] = []
    for block in blocks:
        answered[block.rows], asked[block.rows] = block.answered, block.asked
        used = (block.answered >= 2) & ((block.answered == block.n_options) | (incomplete == "answered"))
        found, parts[block.rows[used]] = _scored(block, used, draws, seed)
        chances += found
    scored = ~np.isnan(parts[:, 0])
    if not scored.any():
        raise EstimationError("the Grade Score is undefined: no question has the answers that it needs")
    limits = (0.0, 0.0, 0.0, _least_corrected(chances))
    means = [mean_score_interval(column, level, least) for column, least in zip(parts.T, limits, strict=True)]
    score, entropy, frequency, corrected = (mean for mean in means if mean is not None)
    sizes = []
    for block in blocks:
        places, options = _histograms(block, shift_draws, seed)
        own = [chance for chance in chances if chance.n_options == block.n_options]
        within = IntervalLevel.of(level).only(block.rows)
        sizes.append(
            GradeScoreOfSize(
                n_options=block.n_options,
                n_questions=len(block.rows),
                n_set_aside=int((~scored[block.rows]).sum()),
                grade_score=mean_score_interval(parts[block.rows, 0], within),
                chance_corrected=mean_score_interval(parts[block.rows, 3], within, _least_corrected(own)),
                places=places,
                options=options,
            )
        )
    return GradeScoreResult(
        grade_score=score,
        chance_corrected=corrected,
        position_entropy=entropy,
        mode_frequency=frequency,
        answered=next(interval for interval in ratio_intervals(answered, asked, level=level) if interval),
        n_answered=int(answered.sum()),
        n_unanswered=int((asked - answered).sum()),
        n_set_aside=int((~scored).sum()),
        scores=_optional(parts[:, 0]),
        corrected_scores=_optional(parts[:, 3]),
        answered_rotations=tuple(answered.tolist()),
        sizes=tuple(sizes),
        chances=tuple(chances),
        incomplete=incomplete,
        level=float(level),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Block:
    """The questions of one number of options: where they stand among all, and their counts."""

    n_options: int
    rows: IntArray
    asked: IntArray
    place_counts: IntArray
    option_counts: IntArray

    @property
    def answered(self) -> IntArray:
        return np.asarray(self.place_counts.sum(axis=1))


def _blocks(selections: Rows, orders: Rows | None) -> list[_Block]:
    rows = [np.asarray(row) for row in selections]
    if not rows:
        raise EstimationError("the Grade Score is undefined without a question")
    if any(row.ndim != 1 for row in rows):
        raise InvalidInputError("selections is not a sequence of rows; give a row per question, an option per rotation")
    sizes = np.array([row.size for row in rows])
    shown = _orders_of_questions(orders, sizes)
    blocks = []
    for n_options in np.unique(sizes).tolist():
        chosen = np.flatnonzero(sizes == n_options)
        table = as_selections(np.stack([rows[index] for index in chosen]))
        given = _rotations(n_options)[None] if shown is None else np.stack([shown[index] for index in chosen])
        blocks.append(_block(n_options, chosen, table, given))
    return blocks


def _block(n_options: int, rows: IntArray, table: IntArray, orders: IntArray) -> _Block:
    if n_options < 2:
        raise InvalidInputError(f"question {int(rows[0])} has {n_options} rotations; give at least two options")
    shown = as_orders(orders, *table.shape)
    if shown.shape[2] != n_options:
        raise InvalidInputError(
            f"question {int(rows[0])} has {n_options} rotations of {shown.shape[2]} options; ask every question "
            "once in each rotation of its options"
        )
    if table.max() >= n_options:
        raise InvalidInputError(f"a selection is {int(table.max())!r}, but the options are 0 to {n_options - 1}")
    _check_rotations(orders, rows)
    positions = shown_positions(table, shown)
    place_counts = (positions[:, :, None] == np.arange(n_options)).sum(axis=1)
    option_counts = (table[:, :, None] == np.arange(n_options)).sum(axis=1)
    return _Block(n_options, rows, (table != NOT_ASKED).sum(axis=1), place_counts, option_counts)


def _rotations(n_options: int) -> IntArray:
    places = np.arange(n_options)
    return np.asarray((places[:, None] + places) % n_options)


def _orders_of_questions(orders: Rows | None, sizes: IntArray) -> list[IntArray] | None:
    if orders is None:
        return None
    listed = [np.asarray(order) for order in orders]
    if listed and listed[0].ndim == 1:
        shared = np.asarray(orders)
        listed = [shared] * len(sizes)
    if len(listed) != len(sizes) or any(order.shape[:1] != (n,) for order, n in zip(listed, sizes, strict=True)):
        raise InvalidInputError(
            f"orders has the shapes {sorted({order.shape for order in listed})!r} for {len(sizes)} questions with "
            f"{sorted(set(sizes.tolist()))!r} rotations; give (N, N) for all, or one (N, N) a question"
        )
    return listed


def _check_rotations(orders: IntArray, rows: IntArray) -> None:
    """Every order of a question must be another rotation of its first."""
    n_options = orders.shape[2]
    shift = np.argmax(orders[:, :1, :] == orders[:, :, :1], axis=2)
    columns = (np.arange(n_options) + shift[:, :, None]) % n_options
    turned = np.take_along_axis(np.broadcast_to(orders[:, :1], orders.shape), columns, axis=2)
    wrong = (turned != orders).any(axis=(1, 2)) | (np.sort(shift, axis=1) != np.arange(n_options)).any(axis=1)
    if wrong.any():
        raise InvalidInputError(
            f"the orders of question {int(rows[np.argmax(wrong)])} are not the {n_options} rotations of one order; "
            "every option must stand at every position once"
        )


def _least_corrected(chances: Sequence[GradeScoreChance]) -> float:
    return min((-chance.expected / (1 - chance.expected) for chance in chances), default=0.0)


def _scored(block: _Block, used: BoolArray, draws: int, seed: int) -> tuple[list[GradeScoreChance], FloatArray]:
    """What chance brings for the numbers of answers that occur, and the columns G, L, C and G corrected."""
    answers = block.answered[used]
    chances = {m: grade_score_chance(block.n_options, m, draws=draws, seed=seed) for m in np.unique(answers).tolist()}
    expected = np.array([chances[m].expected for m in answers.tolist()])
    score, entropy, frequency = grade_score_parts(block.place_counts[used], block.option_counts[used])
    corrected = (score - expected) / (1 - expected)
    return list(chances.values()), np.column_stack([score, entropy, frequency, corrected])


def _histograms(block: _Block, draws: int, seed: int) -> tuple[Uniformity, Uniformity] | tuple[None, None]:
    if not block.answered.any():
        return None, None
    places, options = (
        uniformity(counts, draws=draws, seed=seed) for counts in (block.place_counts, block.option_counts)
    )
    return places, options


def _optional(values: FloatArray) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def as_orders(orders: ArrayLike, n_instances: int, n_orders: int) -> IntArray:
    """The orders shown as (n_instances, n_orders, n_options), each checked to be a permutation."""
    shown = np.asarray(orders)
    shown = shown[None] if shown.ndim == 2 else shown
    if shown.ndim != 3 or shown.shape[1] != n_orders or shown.shape[0] not in {1, n_instances} or shown.shape[2] < 2:
        raise InvalidInputError(
            f"orders has the shape {np.shape(orders)!r} for selections of the shape {(n_instances, n_orders)!r}; give "
            "(n_orders, n_options) or (n_instances, n_orders, n_options), with two options or more"
        )
    if (np.sort(shown, axis=2) != np.arange(shown.shape[2])).any():
        raise InvalidInputError("an order is not a permutation of 0 … n_options - 1; list every option once")
    return np.broadcast_to(shown.astype(np.int64), (n_instances, *shown.shape[1:]))


def shown_positions(selections: IntArray, orders: IntArray) -> IntArray:
    """Where the selected option was shown; the selection itself if negative, -1 for an option without a position."""
    n_options = orders.shape[2]
    places = np.argsort(orders, axis=2)
    within = (selections >= 0) & (selections < n_options)
    found = np.take_along_axis(places, np.where(within, selections, 0)[:, :, None], axis=2)[:, :, 0]
    return np.where(within, found, np.minimum(selections, UNSCORED))
