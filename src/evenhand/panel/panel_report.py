"""The report on a panel: frozen results, their plain forms (JSON and score names), and the arrays they are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation import VoteRules, check_rule, stopped_early
from evenhand.aggregation.rules import WEIGHTED_RULES
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.statistics import Agreement, EffectiveJudges, Interval
from evenhand.votes import Verdict, Vote, unselected_draws


@dataclass(frozen=True, slots=True)
class JudgeStability:
    """What one judge's repeated draws and orders say about it.

    Attributes:
        same_option: The share of the pairs of draws in one order of one instance that select the same option, NA being
            an option; see `evenhand.statistics.draw_stability`.
        first_two: Only the first two draws were compared, because draws could stop early, or not every question had the
            same number of draws.
        spread: The mean over instances of the standard deviation of the values drawn.
        flip_rate: The share of the instances answered in several orders whose selections disagree.
    """

    same_option: Interval | None
    first_two: bool
    spread: Interval | None
    flip_rate: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """One judge of the panel.

    Attributes:
        judge_id: Which judge.
        num_votes: Draws made of this judge.
        num_unscored: Those of them that named no option.
        num_na: Those of them that said that the criterion does not apply.
        mean: The mean over instances of the judge's own score.
        stability: Of its draws and orders.
        score_without: The panel's score without this judge, over the instances that have one.
        change_without: The mean of (score without the judge - score of the whole panel) over the instances that have
            both, with a paired interval.
        num_lost: Instances that have a score only with this judge.
    """

    judge_id: str
    num_votes: int
    num_unscored: int
    num_na: int
    mean: Interval | None
    stability: JudgeStability
    score_without: Interval | None
    change_without: Interval | None
    num_lost: int


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two judges: Cohen's kappa of their selections, quadratic-weighted over the full scale where it has an order."""

    first: str
    second: str
    kappa: Agreement | None


@dataclass(frozen=True, slots=True)
class PanelReport:
    """What the votes on many instances of one criterion say about the judges.

    What is undefined is None here and absent from :meth:`scores`; ``undefined`` names it and says why.

    Attributes:
        criterion: The criterion's name.
        scale: Its scale.
        rule: The panel rule, by which the scores without a judge were made too.
        num_instances: Verdicts in the input.
        num_judged: Those of them that have votes.
        num_votes: Draws made: votes recorded, except those that the budget kept from being asked for.
        num_planned: Draws of the full grid, where it was told.
        num_left_out: num_planned - num_votes: what stopping early, and the budget, saved.
        agreement: The mean share of an instance's votes that equal its verdict, over the instances with several votes.
        percent_agreement: The share of agreeing pairs of judges.
        alpha: Krippendorff's alpha of the judges' selections, by the metric that belongs to the scale.
        effective: Of errors, how many independent judges the panel is worth; of scores, how many votes do not repeat
            each other, for a shared truth or a shared error. See `evenhand.statistics.effective_judges`.
        correlated: Whether its correlations are those of the judges' ``scores``, or of ``errors`` against a reference.
        judges: In the order of their names.
        pairs: Every two judges.
        undefined: Score name -> why there is none.
        notes: What a reader of the numbers must know, in sentences.
        level: Of the intervals.
        resamples: Of the intervals that are drawn.
        seed: Of the draws.
    """

    criterion: str
    scale: str
    rule: str
    num_instances: int
    num_judged: int
    num_votes: int
    num_planned: int | None
    num_left_out: int | None
    agreement: Interval | None
    percent_agreement: Agreement | None
    alpha: Agreement | None
    effective: EffectiveJudges | None
    correlated: Literal["scores", "errors"]
    judges: tuple[JudgeReport, ...]
    pairs: tuple[PairReport, ...]
    undefined: Mapping[str, str]
    notes: tuple[str, ...]
    level: float
    resamples: int
    seed: int

    def scores(self, *, with_intervals: bool = True) -> dict[str, float]:
        """Score name -> number, the defined ones only; limits as ``<name>_ci_low`` and ``<name>_ci_high``.

        ``krippendorff_alpha``, ``percent_agreement``, ``agreement``, ``effective_judges``, ``judge_correlation``,
        ``num_votes``, ``num_votes_planned``, ``num_votes_left_out``; of each judge ``judge_mean_<judge>``,
        ``judge_stability_<judge>``, ``judge_spread_<judge>``, ``judge_flip_rate_<judge>``, ``score_without_<judge>``,
        ``change_without_<judge>``; of each pair ``cohen_kappa_<judge>_vs_<judge>``.
        """
        found: dict[str, float] = {"num_votes": self.num_votes}
        if self.num_planned is not None and self.num_left_out is not None:
            found |= {"num_votes_planned": self.num_planned, "num_votes_left_out": self.num_left_out}
        for name, interval in self._intervals():
            if interval is not None:
                found[name] = interval.estimate
                if with_intervals:
                    found |= {f"{name}_ci_low": interval.low, f"{name}_ci_high": interval.high}
        return found

    def as_json(self) -> dict[str, Any]:
        """The whole report as plain JSON values: numbers, texts, lists, objects and null, never NaN."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def _intervals(self) -> Iterator[tuple[str, Interval | None]]:
        yield "agreement", self.agreement
        yield "percent_agreement", _interval(self.percent_agreement)
        yield "krippendorff_alpha", _interval(self.alpha)
        yield "effective_judges", self.effective.effective if self.effective else None
        yield "judge_correlation", self.effective.mean_correlation if self.effective else None
        for judge in self.judges:
            name = judge.judge_id
            yield f"judge_mean_{name}", judge.mean
            yield f"judge_stability_{name}", judge.stability.same_option
            yield f"judge_spread_{name}", judge.stability.spread
            yield f"judge_flip_rate_{name}", judge.stability.flip_rate
            yield f"score_without_{name}", judge.score_without
            yield f"change_without_{name}", judge.change_without
        for pair in self.pairs:
            yield f"cohen_kappa_{pair.first}_vs_{pair.second}", _interval(pair.kappa)


def _interval(agreement: Agreement | None) -> Interval | None:
    return None if agreement is None else agreement.interval


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a result
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value


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
