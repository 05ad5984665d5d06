"""The votes on many instances as arrays: one row an instance, one column a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation import VoteRules, check_rule, stopped_early
from evenhand.aggregation.rules import WEIGHTED_RULES
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.votes import Verdict, Vote, unselected_draws

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NAN = float("nan")
SAME = 1e-9
NOT_DRAWN = -2


@dataclass(frozen=True, slots=True)
class PanelRule:
    """How the verdicts on one criterion were aggregated.

    Attributes:
        criterion: Whose options were voted on.
        rules: The rules.
        weights: As they were given to `evenhand.aggregation.aggregate`.
    """

    criterion: Criterion
    rules: VoteRules
    weights: Mapping[str, float] | None = None

    @property
    def name(self) -> str:
        """The panel rule, the default spelt out."""
        return check_rule(self.rules.panel_rule(self.criterion.scale), self.criterion.scale)

    def of_panel(self, votes: Sequence[Vote]) -> Verdict | None:
        """The verdict of several judges; None when there is no vote, or none that counts."""
        if not any(self._weight(vote) > 0 for vote in votes):
            return None
        return self.rules.aggregate(votes, self.criterion, weights=self.weights)

    def of_judge(self, votes: Sequence[Vote]) -> Verdict:
        """The verdict of one judge, to which no panel rule applies."""
        return self.rules.changed(aggregation=None).aggregate(votes, self.criterion)

    def _weight(self, vote: Vote) -> float:
        if self.name not in WEIGHTED_RULES:
            return 1.0
        return vote.weight if self.weights is None else self.weights.get(vote.judge_id, 1.0)


@dataclass(frozen=True, eq=False, slots=True)
class PanelTable:
    """What every judge of a panel says about every instance. NaN is missing.

    Attributes:
        judges: The judges' names, sorted.
        scores: (n_instances, n_judges): the judge's own score.
        selections: (n_instances, n_judges): the category of the option that the judge comes to, see `category_of`.
        flips: (n_instances, n_judges): 1 where the judge's orders disagree, 0 where they agree.
        spreads: (n_instances, n_judges): the standard deviation of the values that the judge drew.
        panel: (n_instances,): the score of the whole panel.
        without: (n_instances, n_judges): the score of the panel without the judge.
        stopped: Per judge whether draws could stop early.
    """

    judges: tuple[str, ...]
    scores: FloatArray
    selections: FloatArray
    flips: FloatArray
    spreads: FloatArray
    panel: FloatArray
    without: FloatArray
    stopped: tuple[bool, ...]


def panel_table(verdicts: Sequence[Verdict], rule: PanelRule) -> PanelTable:
    """Collapse the votes of every judge alone, and those of the panel without each judge.

    Raises:
        InvalidInputError: If the votes do not collapse to the score that they came with.
    """
    judges = tuple(sorted({vote.judge_id for verdict in verdicts for vote in verdict.votes}))
    size = len(verdicts), len(judges)
    scores, selections, consistent, spreads, without = (np.full(size, NAN) for _ in range(5))
    panel = np.full(size[0], NAN)
    for row, verdict in enumerate(verdicts):
        panel[row] = _score(rule.of_panel(verdict.votes))
        _check_same(panel[row], verdict, row, rule)
        for column, judge in enumerate(judges):
            own = [vote for vote in verdict.votes if vote.judge_id == judge]
            if not own:
                without[row, column] = panel[row]
                continue
            alone = rule.of_judge(own)
            scores[row, column] = _score(alone)
            selections[row, column] = _number(category_of(alone, rule.criterion))
            consistent[row, column] = _number(alone.position_consistent)
            spreads[row, column] = _number(alone.spread)
            without[row, column] = _score(rule.of_panel([vote for vote in verdict.votes if vote.judge_id != judge]))
    early = {vote.judge_id for verdict in verdicts for vote in verdict.votes if stopped_early([vote])}
    stopped = tuple(judge in early for judge in judges)
    return PanelTable(judges, scores, selections, 1 - consistent, spreads, panel, without, stopped)


def category_of(verdict: Verdict, criterion: Criterion) -> float | None:
    """What the agreement of judges is measured on: the option's value where options have an order, else its index."""
    if verdict.na or (verdict.selected_index is None and verdict.selected_label is None):
        return None
    return verdict.value if is_ordered(criterion) and criterion.has_values else verdict.selected_index


def categories_of(criterion: Criterion) -> list[float]:
    """The full scale of :func:`category_of`; that of a comparison has a tie, whether an option names it or not."""
    scored = [(index, option.value) for index, option in enumerate(criterion.options) if not option.na]
    if not (is_ordered(criterion) and criterion.has_values):
        return [float(index) for index, _ in scored]
    tie = {0.5} if criterion.scale == "pairwise" else set()
    return sorted({value for _, value in scored if value is not None} | tie)


def is_ordered(criterion: Criterion) -> bool:
    """Whether one option can be nearer to another than a third is."""
    return criterion.scale in {"ordinal", "pairwise"}


def draws_of(judge: str, verdicts: Sequence[Verdict], criterion: Criterion) -> IntArray:
    """What one judge selected in every draw: (n_instances, n_orders, n_draws), the draws by their number.

    An NA answer is an option of its own; a draw that named no option is -1, and what was not drawn -2. Of draws that
    could stop early only those are listed that are made whatever the others say.
    """
    rows: list[dict[tuple[int, ...], list[int]]] = []
    for verdict in verdicts:
        cells: dict[tuple[int, ...], list[int]] = {}
        for vote in sorted(unselected_draws(verdict.votes), key=lambda vote: (vote.order, vote.sample)):
            if vote.judge_id == judge and vote.asked:
                cells.setdefault(vote.order, []).append(_drawn(vote, criterion))
        rows.append(cells)
    n_orders = max((len(cells) for cells in rows), default=0)
    n_draws = max((len(draws) for cells in rows for draws in cells.values()), default=0)
    table = np.full((len(rows), n_orders, n_draws), NOT_DRAWN, dtype=np.int64)
    for row, cells in enumerate(rows):
        for place, draws in enumerate(cells.values()):
            table[row, place, : len(draws)] = draws
    return table


def _drawn(vote: Vote, criterion: Criterion) -> int:
    if vote.na and vote.selected_index is None:
        return len(criterion.options)
    return -1 if vote.selected_index is None else vote.selected_index


def _check_same(score: float, verdict: Verdict, row: int, rule: PanelRule) -> None:
    given = _number(verdict.aggregated_value)
    if not np.isclose(score, given, rtol=0, atol=SAME, equal_nan=True):
        raise InvalidInputError(
            f"the votes of verdict {row} come to {score!r} under the rule {rule.name!r}, but the verdict says "
            f"{verdict.aggregated_value!r}: pass the rules and weights that it was made with"
        )


def _score(verdict: Verdict | None) -> float:
    return NAN if verdict is None else _number(verdict.aggregated_value)


def _number(value: float | None) -> float:
    return NAN if value is None else float(value)
