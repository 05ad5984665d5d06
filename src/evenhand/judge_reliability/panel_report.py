"""Reports on a panel of judges and repeated draws, from verdicts with all their votes.

Read :func:`panel_report` first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from evenhand.aggregation.verdict import WEIGHTED_RULES, VoteRules, check_rule, stopped_early
from evenhand.criteria import Criterion
from evenhand.data.cells import NO_VERDICT
from evenhand.judge_reliability.against_people import Drawing, Scale, as_array, defined
from evenhand.numbers import Missing, format_level, format_percent, format_range
from evenhand.results.measures import (
    Column,
    Measure,
    measure,
    measures_of,
    measures_table,
    or_missing,
    score_entries,
)
from evenhand.results.render import TextTable
from evenhand.scoring import summarize
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.agreement import percent_agreement
from evenhand.statistics.consistency import NOT_ASKED, greatest_unseen_share, repetition_stability
from evenhand.statistics.correlation import effective_judges
from evenhand.statistics.intervals import FloatArray, IntArray, IntervalLevel, Level, UnscoredBounds
from evenhand.votes import Verdict, Vote, unselected_draws

Found = TypeVar("Found")

MOST_BY_JUDGE: Final = 4
"""The most cells of a table that lists the judges of a panel one by one."""

ENOUGH_DRAWS = 5
"""The number of draws from which on no caution is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """One judge of the panel.

    Attributes:
        judge_id: The id of the judge.
        num_votes: Draws made of this judge.
        num_unscored: Those of them that are unscored.
        num_na: Those of them that said that the criterion does not apply.
        mean: The mean over instances of the judge's own score.
        same_option: The share of the pairs of draws in one order of one instance that select the same option, NA being
            an option; see `evenhand.statistics.consistency.repetition_stability`.
        first_two: Only the first two draws were compared, because draws could stop early, or not every question had the
            same number of draws.
        spread: The mean over instances of the standard deviation of the values drawn.
        flip_rate: The share of the instances answered in several orders whose selections disagree.
        score_without: The panel's score without this judge, over the instances that have one.
        change_without: The mean of (score without the judge - score of the whole panel) over the instances that have
            both, with a paired interval.
        num_lost: Instances that have a score only with this judge.
        unscored_bounds: Of the mean, where too many votes are unscored for it to lead; else None.
    """

    judge_id: str
    num_votes: int
    num_unscored: int
    num_na: int
    mean: Interval | Missing = measure("score", name="judge_mean", bounds="unscored_bounds")
    same_option: Interval | Missing = measure("share", name="judge_stability")
    first_two: bool
    spread: Interval | Missing = measure("number", name="judge_spread")
    flip_rate: Interval | Missing = measure("share", name="judge_flip_rate")
    score_without: Interval | Missing = measure("score")
    change_without: Interval | Missing = measure("difference")
    num_lost: int
    unscored_bounds: UnscoredBounds | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelReport:
    """The report on the judges from the votes on many instances of one criterion.

    Attributes:
        criterion: The criterion's name.
        num_instances: Verdicts in the input.
        num_judged: Those of them that have votes.
        num_votes: Draws made: votes recorded, except those that the budget kept from being asked for.
        num_planned: Draws of the full grid.
        num_left_out: num_planned - num_votes: what stopping early, and the budget, saved.
        agreement: The mean share of an instance's votes that equal its verdict, over the instances with several votes.
        percent_agreement: The share of agreeing pairs of judges.
        alpha: Krippendorff's alpha of the judges' selections, by the metric that belongs to the scale.
        effective_judges: Of errors, how many independent judges the panel is worth; of scores, how many votes do not
            repeat each other, for a shared truth or a shared error. See
            `evenhand.statistics.correlation.effective_judges`.
        judge_correlation: The mean correlation behind it.
        correlated: Whether the correlations are those of the judges' ``scores``, or of ``errors`` against a reference.
        kappas: ``<judge>_vs_<judge>`` -> Cohen's kappa of the selections of every two judges, quadratic-weighted over
            the full scale where it has an order.
        judges: The judges, in the order of their names.
        notes: Notes for the reader of the numbers, in sentences.
        level: The level of the intervals.
        seed: The seed of the draws.
    """

    criterion: str
    num_instances: int
    num_judged: int
    num_votes: int = measure("count")
    num_planned: int = measure("count", name="num_votes_planned")
    num_left_out: int = measure("count", name="num_votes_left_out")
    agreement: Interval | Missing = measure("share")
    percent_agreement: Interval | Missing = measure("share")
    alpha: Interval | Missing = measure("number", name="krippendorff_alpha")
    effective_judges: Interval | Missing = measure("number")
    judge_correlation: Interval | Missing = measure("number")
    correlated: Literal["scores", "errors"]
    kappas: Mapping[str, Interval | Missing] = measure("number", name="cohen_kappa")
    judges: tuple[JudgeReport, ...]
    notes: tuple[str, ...]
    level: float
    seed: int

    def measures(self) -> Iterator[Measure]:
        """Yield every number under its score's name.

        ``krippendorff_alpha``, ``percent_agreement``, ``agreement``, ``effective_judges``, ``judge_correlation``,
        ``num_votes``, ``num_votes_planned``, ``num_votes_left_out``; of each judge ``judge_mean_<judge>``,
        ``judge_stability_<judge>``, ``judge_spread_<judge>``, ``judge_flip_rate_<judge>``, ``score_without_<judge>``,
        ``change_without_<judge>``; of each pair ``cohen_kappa_<judge>_vs_<judge>``.
        """
        yield from measures_of(self)
        for judge in self.judges:
            for each in measures_of(judge):
                yield replace(each, name=f"{each.name}_{judge.judge_id}")

    def scores(self, *, with_intervals: bool = True) -> dict[str, float]:
        """Score name -> number, the defined ones only; limits as ``<name>_ci_low`` and ``<name>_ci_high``."""
        scores: dict[str, float] = {}
        for each in self.measures():
            scores |= score_entries(each.name, each.value, always=each.always, with_intervals=with_intervals)
        return scores


def panel_report(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    rules: VoteRules | None = None,
    *,
    samples: int = 1,
    reference: Sequence[float | None] | None = None,
    level: Level = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> PanelReport:
    """Report on the judges from the votes on many instances of one criterion; no call is made.

    Every judge's votes are collapsed alone (samples, then orders), which gives its score and its selection for each
    instance. Agreement is that of the selections, correlation that of the scores. A judge that is NA or unscored on an
    instance is missing there. The panel without a judge is aggregated anew, by the same rule, on every instance;
    intervals are over instances.

    Alpha and kappa are nominal for binary and nominal scales; on ordinal scales alpha is ordinal and kappa is
    quadratic-weighted over the full scale, categories being the options' values (without values: their levels). In
    comparisons alpha is by interval, and a tie is on the scale whether it was offered or not.

    The stability of draws compares all pairs, unless draws could stop early, or the questions put to the judge had
    different numbers of draws: then only the first two of each, since how many draws there are depends on what they
    said. Where draws could stop early there is no spread (:mod:`evenhand.aggregation.verdict`).

    Args:
        verdicts: One per instance, each with all its votes.
        criterion: The criterion of the votes.
        rules: The rules that made the verdicts; None for the defaults.
        samples: Draws of each prompt that the run was to make at most.
        reference: Per instance the value that is right, where it is known. With it the effective number of judges is
            that of their errors; without it, of their scores, which good judges have in common.
        level: The level of the intervals.
        resamples: For the intervals that are drawn.
        seed: The seed of the draws.

    Raises:
        UnknownRuleError: As `evenhand.aggregation.verdict.aggregate`.

    Example:
        >>> from evenhand.aggregation.verdict import aggregate
        >>> from evenhand.criteria import yes_no_criterion
        >>> from evenhand.votes import Vote
        >>> cites = yes_no_criterion("cites", "Does the response cite a source?")
        >>> def ask(*answers):
        ...     votes = [Vote(judge_id=name, order=(0, 1), selected_index=index) for name, index in zip("abc", answers)]
        ...     return aggregate(votes, cites)
        >>> report = panel_report([ask(0, 0, 0), ask(1, 1, 1), ask(0, 0, 1), ask(1, 1, 1)], cites)
        >>> round(report.alpha.estimate, 4)  # 1 - (2 / 12) / (2 * 5 * 7 / (12 * 11))
        0.6857
        >>> report.judges[2].change_without.estimate, report.judges[0].same_option.reason
        (0.0, 'no question was answered in two draws')
    """
    drawn = Drawing(level=level, resamples=resamples, seed=seed)
    scale, rule = Scale.of(criterion), PanelRule(criterion, rules or VoteRules())
    names = sorted({vote.judge_id for verdict in verdicts for vote in verdict.votes})
    whole = [rule.of_panel(verdict.votes) for verdict in verdicts]
    own = {name: [rule.of_judge(_votes_of(name, verdict)) for verdict in verdicts] for name in names}
    judges = tuple(_judge_report(name, verdicts, (own[name], whole), rule, level) for name in names)
    places = [as_array(None if each is None else scale.place_of(each) for each in alone) for alone in own.values()]
    selections = scale.as_ratings(np.column_stack(places)) if names else np.empty((len(verdicts), 0))
    scores = np.column_stack([_scores(alone) for alone in own.values()]) if names else selections
    right = None if reference is None else as_array(reference)

    def of_several(statistic: Callable[[], Found]) -> Found | Missing:
        """Compute what compares judges, where there are at least two."""
        if len(names) < 2:
            return Missing("the panel has one judge" if names else "there are no votes")
        return defined(statistic)

    effective = of_several(lambda: effective_judges(scores, right, **drawn))
    worth, correlation = effective or (effective, effective)
    asked = [sum(vote.asked for vote in verdict.votes) for verdict in verdicts]
    made, planned = sum(asked), planned_votes(verdicts, samples)
    several = [verdict.agreement if n > 1 else None for verdict, n in zip(verdicts, asked, strict=True)]
    return PanelReport(
        criterion=criterion.name,
        num_instances=len(verdicts),
        num_judged=sum(bool(verdict.votes) for verdict in verdicts),
        num_votes=made,
        num_planned=planned,
        num_left_out=planned - made,
        agreement=_mean(as_array(several), level, "no instance has two votes"),
        percent_agreement=of_several(lambda: percent_agreement(selections, level=level)),
        alpha=of_several(lambda: scale.alpha(selections, **drawn)),
        effective_judges=worth,
        judge_correlation=correlation,
        correlated="scores" if reference is None else "errors",
        kappas={
            f"{first}_vs_{second}": scale.kappa(own_ratings, ratings, **drawn)
            for (first, own_ratings), (second, ratings) in combinations(zip(names, selections.T, strict=True), 2)
        },
        judges=judges,
        notes=_notes(verdicts, judges, shared_truth=bool(effective) and reference is None),
        level=float(level),
        seed=seed,
    )


def _votes_of(judge: str, verdict: Verdict) -> list[Vote]:
    return [vote for vote in verdict.votes if vote.judge_id == judge]


def _scores(verdicts: Iterable[Verdict | None]) -> FloatArray:
    return as_array(None if verdict is None else verdict.aggregated_value for verdict in verdicts)


def _judge_report(
    judge: str,
    verdicts: Sequence[Verdict],
    aggregated: tuple[Sequence[Verdict | None], Sequence[Verdict | None]],
    rule: PanelRule,
    level: Level,
) -> JudgeReport:
    """Report one judge, by the verdicts of the judge alone and of the whole panel."""
    own, whole = aggregated
    without = [
        panel if alone is None else rule.of_panel([vote for vote in verdict.votes if vote.judge_id != judge])
        for verdict, alone, panel in zip(verdicts, own, whole, strict=True)
    ]
    bounds = low, high = rule.criterion.score_range
    panel, others = _scores(whole), _scores(without)
    alone_in_panel = all(vote.judge_id == judge for verdict in verdicts for vote in verdict.votes)
    lost = "the panel has one judge" if alone_in_panel else "no instance has a score without this judge"
    if not rule.criterion.has_values:
        lost = "the options have no values"
    summary = summarize([each or NO_VERDICT for each in own], [bounds] * len(own), level=level)
    drawn = draws_of(judge, verdicts, rule.criterion)
    counts = (drawn != NOT_ASKED).sum(axis=2)
    votes = [vote for each in own if each is not None for vote in each.votes]
    uneven = stopped_early(votes) or len(np.unique(counts[counts > 0])) > 1
    instances, orders, draws = drawn.shape
    prompts = drawn.reshape(instances * orders, draws)[:, : 2 if uneven else draws]
    of_rows = np.repeat(IntervalLevel.of(level).labels(instances), orders).tolist()
    same = None
    if counts.any():
        same = repetition_stability(prompts, level=IntervalLevel.of(level).over(of_rows)).pair_agreement
    return JudgeReport(
        judge_id=judge,
        num_votes=summary.unscored_counts.votes,
        num_unscored=summary.unscored_counts.unscored_votes,
        num_na=sum(vote.na for vote in votes),
        mean=summary.score,
        same_option=or_missing(same, "no question was answered in two draws"),
        first_two=uneven,
        spread=summary.spread,
        flip_rate=summary.positional_bias,
        score_without=_mean(others, level, lost, bounds=bounds),
        change_without=_mean(others - panel, level, lost, bounds=(low - high, high - low)),
        num_lost=int((~np.isnan(panel) & np.isnan(others)).sum()),
        unscored_bounds=summary.unscored_bounds,
    )


def _mean(
    values: ArrayLike, level: Level, missing: str, *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Interval | Missing:
    (interval,) = mean_intervals(values, level=level, bounds=bounds)
    return or_missing(interval, missing)


def _notes(verdicts: Sequence[Verdict], judges: Sequence[JudgeReport], *, shared_truth: bool) -> tuple[str, ...]:
    cells = Counter(
        (row, vote.judge_id, vote.order) for row, verdict in enumerate(verdicts) for vote in verdict.votes if vote.asked
    )
    caution = spread_caution(max(cells.values())) if cells else None
    uneven = [judge.judge_id for judge in judges if judge.first_two]
    stopped = (
        f"The draws of {', '.join(map(repr, uneven))} could stop early or are of different numbers; the stability of "
        "draws compares only the first two of each, which no early stop selects."
    )
    shared = (
        "The effective number of votes (effective_judges) is that of the scores: judges that are right together count "
        "as repeating each other, so that three accurate judges with independent errors count as little more than one. "
        "How many independent judges the panel is worth is measured on the errors: give the values that are right as "
        "a reference."
    )
    notes = (caution, stopped if uneven else None, shared if shared_truth else None)
    return tuple(note for note in notes if note is not None)


def spread_caution(samples: int, *, level: float = 0.95) -> str | None:
    """Return a caution against reading ``samples`` equal draws of a judge as certainty.

    Args:
        samples: Draws from each judge in each order.
        level: Confidence of the number in the sentence.

    Returns:
        The sentence; None for a single draw, which has no spread, and for five draws or more.

    Raises:
        InvalidInputError: No draw, or a bad level.

    Example:
        >>> print(spread_caution(3))
        A spread of 0 from 3 draws proves little: 3 equal draws are compatible (95% confidence) with a probability \
of 63 % for other answers. Where a threshold decides, draw at least 5 times.
    """
    share = greatest_unseen_share(samples, level=level)
    if samples == 1 or samples >= ENOUGH_DRAWS:
        return None
    return (
        f"A spread of 0 from {samples} draws proves little: {samples} equal draws are compatible "
        f"({format_level(level)} confidence) with a probability of {format_percent(share)} for other answers. "
        f"Where a threshold decides, draw at least {ENOUGH_DRAWS} times."
    )


def report_of_run(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    rules: VoteRules,
    *,
    samples: int,
    reference: Sequence[float | None] | None = None,
    level: Level = 0.95,
    seed: int = 0,
) -> PanelReport | None:
    """Return the report on the judges of a run; None if one judge was asked once, which says nothing about judges.

    Args:
        verdicts: One per instance, each with all its votes.
        criterion: The criterion of the votes.
        rules: The rules that made the verdicts.
        samples: Draws of each prompt that the run was to make at most.
        reference: Per instance the value that is right, where it is known.
        level: The level of the intervals.
        seed: The seed of the intervals that are drawn.
    """
    judges = {vote.judge_id for verdict in verdicts for vote in verdict.votes}
    if len(judges) < 2 and samples < 2:
        return None
    return panel_report(verdicts, criterion, rules, samples=samples, reference=reference, level=level, seed=seed)


def planned_votes(verdicts: Sequence[Verdict], samples: int) -> int:
    """Return how many votes the full grid has; stopping early may have left out some.

    Every order that was shown was to be drawn ``samples`` times, and the first of those draws is always made. An order
    that was shown again, as other questions have more orders, has the numbers from ``samples`` on.

    >>> from evenhand.votes import Vote
    >>> drawn = tuple(Vote(judge_id="a", order=order) for order in [(0, 1), (1, 0)])
    >>> planned_votes([Verdict(votes=drawn)], samples=5)
    10
    """
    cells = {
        (row, vote.judge_id, vote.order, vote.sample // samples)
        for row, verdict in enumerate(verdicts)
        for vote in verdict.votes
    }
    return len(cells) * samples


@dataclass(frozen=True, slots=True)
class PanelRule:
    """The aggregation rule of the verdicts on one criterion.

    Attributes:
        criterion: The criterion of the votes.
        rules: The rules.
    """

    criterion: Criterion
    rules: VoteRules

    @property
    def name(self) -> str:
        """The panel rule, the default spelt out."""
        return check_rule(self.rules.panel_rule(self.criterion.scale), self.criterion.scale)

    def of_panel(self, votes: Sequence[Vote]) -> Verdict | None:
        """Return the verdict of several judges; None if there is no vote, or none that counts."""
        if not any(self.name not in WEIGHTED_RULES or vote.weight > 0 for vote in votes):
            return None
        return self.rules.aggregate(votes, self.criterion)

    def of_judge(self, votes: Sequence[Vote]) -> Verdict | None:
        """Return the verdict of one judge, to which no panel rule applies; None if there is no vote."""
        return self.rules.model_copy(update={"aggregation": None}).aggregate(votes, self.criterion) if votes else None


def draws_of(judge: str, verdicts: Sequence[Verdict], criterion: Criterion) -> IntArray:
    """Return one judge's selections in every draw: (n_instances, n_orders, n_draws), the draws by their number.

    An NA answer is an option of its own; a draw that named no option is -1, and what was not drawn -2. Of draws that
    could stop early only those are listed that do not depend on the others.
    """
    rows: list[dict[tuple[int, ...], list[int]]] = []
    for verdict in verdicts:
        cells: dict[tuple[int, ...], list[int]] = {}
        for vote in sorted(unselected_draws(verdict.votes), key=lambda vote: (vote.order, vote.sample)):
            if vote.judge_id == judge and vote.asked:
                unselected = len(criterion.options) if vote.na else -1
                index = unselected if vote.selected_index is None else vote.selected_index
                cells.setdefault(vote.order, []).append(index)
        rows.append(cells)
    n_orders = max((len(cells) for cells in rows), default=0)
    n_draws = max((len(draws) for cells in rows for draws in cells.values()), default=0)
    table = np.full((len(rows), n_orders, n_draws), NOT_ASKED, dtype=np.int64)
    for row, cells in enumerate(rows):
        for place, draws in enumerate(cells.values()):
            table[row, place, : len(draws)] = draws
    return table


def panel_tables(reports: Sequence[tuple[tuple[str, str], PanelReport]], *, level: float) -> tuple[TextTable, ...]:
    """Make the table of whole panels and, where there are few cells, that of the judges; nothing without reports.

    Args:
        reports: ``((system, criterion), report)``.
        level: The level of the intervals.
    """
    if not reports:
        return ()
    on_errors = all(report.correlated == "errors" for _, report in reports)

    def kappas(report: PanelReport) -> str:
        found = [kappa.estimate for kappa in report.kappas.values() if isinstance(kappa, Interval)]
        return format_range(min(found, default=None), max(found, default=None))

    columns: tuple[Column, ...] = (
        Column("votes", "num_votes"),
        Column("left out", "num_left_out"),
        Column(f"agreement [{format_level(level)}]", "agreement"),
        Column("alpha", "alpha"),
        Column("kappas", kappas),
        Column("effective judges" if on_errors else "effective votes", "effective_judges"),
    )
    notes = list(dict.fromkeys(note for _, report in reports for note in report.notes))
    if left_out := sum(report.num_left_out for _, report in reports):
        made = sum(report.num_votes for _, report in reports)
        notes.append(f"Of the {made + left_out} draws of the full grid {left_out} were not made.")
    few = len(reports) <= MOST_BY_JUDGE
    notes += [] if few else ["Judge by judge: table.panel(system, criterion)."]
    labels, title = ("system", "criterion"), "What the votes say about the judges"
    panels = measures_table(title, labels, reports, columns, notes, kind="panel")
    if not few:
        return (panels,)
    judges = {(*cell, judge.judge_id): judge for cell, report in reports for judge in report.judges}
    columns = (
        Column("score", "mean"),
        Column("equal draws", "same_option"),
        Column("spread", "spread"),
        Column("flips", "flip_rate"),
        Column("score without it", "change_without"),
    )
    last = "The last column is the score of the panel without the judge, less that of the whole panel."
    notes = [last] if any(judge.change_without for judge in judges.values()) else []
    return panels, measures_table("Judge by judge", (*labels, "judge"), judges, columns, notes, kind="judges")
