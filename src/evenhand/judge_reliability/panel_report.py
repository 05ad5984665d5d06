"""Reports on a panel of judges and repeated draws, from verdicts with all their votes.

Read :func:`panel_report` first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal, TypeVar

import numpy as np

from evenhand.aggregation.verdict import WEIGHTED_RULES, VoteRules, check_rule
from evenhand.criteria import Criterion
from evenhand.data.fields import NO_VERDICT
from evenhand.judge_reliability.reliability import Scale, as_array, defined
from evenhand.numbers import Missing, UnscoredBounds, format_level, format_range, measure, or_missing
from evenhand.results.measures import Column, Measure, measures_of, measures_table, score_entries
from evenhand.results.render import TextTable
from evenhand.scoring import summarize
from evenhand.statistics.agreement import effective_judges, percent_agreement
from evenhand.statistics.consistency import UNSCORED, repetition_stability
from evenhand.statistics.intervals import FloatArray, Interval, IntervalLevel, Level, mean_intervals
from evenhand.votes import Verdict, Vote, unselected_draws

Found = TypeVar("Found")

MOST_BY_JUDGE: Final = 4
"""The most cells of a table that lists the judges of a panel one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """One judge of the panel.

    Attributes:
        judge_id: The id of the judge.
        mean: The mean over instances of the judge's own score.
        same_option: The share of the pairs of draws in one order of one instance that select the same option, NA being
            an option; see `evenhand.statistics.consistency.repetition_stability`. Of draws that could stop early only
            the first two count, which no early stop selects.
        spread: The mean over instances of the standard deviation of the values drawn.
        flip_rate: The share of the instances answered in several orders whose selections disagree.
        score_without: The panel's score without this judge, over the instances that have one.
        change_without: The mean of (score without the judge - score of the whole panel) over the instances that have
            both, with a paired interval.
        unscored_bounds: Of the mean, where too many votes are unscored for it to lead; else None.
    """

    judge_id: str
    mean: Interval | Missing = measure("score", name="judge_mean", bounds="unscored_bounds")
    same_option: Interval | Missing = measure("share", name="judge_stability")
    spread: Interval | Missing = measure("number", name="judge_spread")
    flip_rate: Interval | Missing = measure("share", name="judge_flip_rate")
    score_without: Interval | Missing = measure("score")
    change_without: Interval | Missing = measure("difference")
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
            `evenhand.statistics.agreement.effective_judges`.
        judge_correlation: The mean correlation behind it.
        correlated: Whether the correlations are those of the judges' ``scores``, or of ``errors`` against a reference.
        kappas: ``<judge>_vs_<judge>`` -> Cohen's kappa of the selections of every two judges, quadratic-weighted over
            the full scale where it has an order.
        judges: The judges, in the order of their names.
        level: The level of the intervals.
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
    level: float

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
    rules: VoteRules,
    *,
    samples: int,
    reference: Sequence[float | None] | None = None,
    level: Level = 0.95,
) -> PanelReport | None:
    """Report on the judges from the votes on many instances of one criterion; no call is made.

    Every judge's votes are collapsed alone (samples, then orders), which gives its score and its selection for each
    instance. Agreement is that of the selections, correlation that of the scores. A judge that is NA or unscored on an
    instance is missing there. The panel without a judge is aggregated anew, by the same rule, on every instance;
    intervals are over instances.

    Alpha and kappa are nominal for binary and nominal scales; on ordinal scales alpha is ordinal and kappa is
    quadratic-weighted over the full scale, categories being the options' values (without values: their levels). In
    comparisons alpha is by interval, and a tie is on the scale whether it was offered or not.

    Where draws could stop early there is no spread (:mod:`evenhand.aggregation.verdict`).

    Args:
        verdicts: One per instance, each with all its votes.
        criterion: The criterion of the votes.
        rules: The rules that made the verdicts.
        samples: Draws of each prompt that the run was to make at most.
        reference: Per instance the value that is right, where it is known. With it the effective number of judges is
            that of their errors; without it, of their scores, which good judges have in common.
        level: The level of the intervals.

    Returns:
        The report; None if one judge was asked once, which says nothing about judges.

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
        >>> verdicts = [ask(0, 0, 0), ask(1, 1, 1), ask(0, 0, 1), ask(1, 1, 1)]
        >>> report = panel_report(verdicts, cites, VoteRules(), samples=1)
        >>> round(report.alpha.estimate, 4)  # 1 - (2 / 12) / (2 * 5 * 7 / (12 * 11))
        0.6857
        >>> report.judges[2].change_without.estimate, report.judges[0].same_option.reason
        (0.0, 'no question was answered in two draws')
    """
    names = sorted({vote.judge_id for verdict in verdicts for vote in verdict.votes})
    if len(names) < 2 and samples < 2:
        return None
    scale = Scale.of(criterion)
    weighted = check_rule(rules.panel_rule(criterion.scale), criterion.scale) in WEIGHTED_RULES
    alone = rules.model_copy(update={"aggregation": None})  # no panel rule applies to one judge

    def of_panel(votes: Sequence[Vote]) -> Verdict:
        counted = any(vote.weight > 0 or not weighted for vote in votes)
        return rules.aggregate(votes, criterion) if counted else NO_VERDICT

    whole, judges, own = [of_panel(verdict.votes) for verdict in verdicts], [], {}
    for name in names:
        votes = [[vote for vote in verdict.votes if vote.judge_id == name] for verdict in verdicts]
        others = [of_panel([vote for vote in verdict.votes if vote.judge_id != name]) for verdict in verdicts]
        own[name] = [alone.aggregate(cast, criterion) if cast else NO_VERDICT for cast in votes]
        judges.append(_judge_report(name, own[name], whole=whole, others=others, criterion=criterion, level=level))
    places = [as_array(map(scale.place_of, each)) for each in own.values()]
    selections = scale.as_ratings(np.column_stack(places)) if names else np.empty((len(verdicts), 0))
    scores = np.column_stack([_scores(each) for each in own.values()]) if names else selections
    right = None if reference is None else as_array(reference)

    def of_several(statistic: Callable[[], Found]) -> Found | Missing:
        """Compute what compares judges, where there are at least two."""
        return defined(statistic) if len(names) > 1 else Missing("the panel has one judge")

    effective = of_several(lambda: effective_judges(scores, right, level=level))
    worth, correlation = effective or (effective, effective)
    asked = [sum(vote.asked for vote in verdict.votes) for verdict in verdicts]
    # every order that was shown was to be drawn that often; if shown again, numbers go on from there
    cells = {
        (row, vote.judge_id, vote.order, vote.sample // samples)
        for row, verdict in enumerate(verdicts)
        for vote in verdict.votes
    }
    several = [verdict.agreement if n > 1 else None for verdict, n in zip(verdicts, asked, strict=True)]
    return PanelReport(
        criterion=criterion.name,
        num_instances=len(verdicts),
        num_judged=sum(bool(verdict.votes) for verdict in verdicts),
        num_votes=sum(asked),
        num_planned=len(cells) * samples,
        num_left_out=len(cells) * samples - sum(asked),
        agreement=or_missing(mean_intervals(as_array(several), level=level)[0], "no instance has two votes"),
        percent_agreement=of_several(lambda: percent_agreement(selections, level=level)),
        alpha=of_several(lambda: scale.alpha(selections, level=level)),
        effective_judges=worth,
        judge_correlation=correlation,
        correlated="scores" if reference is None else "errors",
        kappas={
            f"{first}_vs_{second}": scale.kappa(own_ratings, ratings, level=level)
            for (first, own_ratings), (second, ratings) in combinations(zip(names, selections.T, strict=True), 2)
        },
        judges=tuple(judges),
        level=float(level),
    )


def _scores(verdicts: Iterable[Verdict]) -> FloatArray:
    return as_array(verdict.aggregated_value for verdict in verdicts)


def _judge_report(
    judge: str,
    own: Sequence[Verdict],
    *,
    whole: Sequence[Verdict],
    others: Sequence[Verdict],
    criterion: Criterion,
    level: Level,
) -> JudgeReport:
    """Report one judge, by its own verdicts, those of the panel, and those of the panel without the judge."""
    low, high = criterion.score_range
    without, lost = _scores(others), "no instance has a score without this judge"
    (score,) = mean_intervals(without, level=level, bounds=(low, high))
    (change,) = mean_intervals(without - _scores(whole), level=level, bounds=(low - high, high - low))
    summary = summarize(own, criterion.limits, level=level)
    prompts: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for row, verdict in enumerate(own):
        for vote in unselected_draws(verdict.votes):
            if vote.asked:
                unselected = len(criterion.options) if vote.na else UNSCORED
                index = unselected if vote.selected_index is None else vote.selected_index
                prompts.setdefault((row, vote.order), []).append(index)
    clusters = IntervalLevel.of(level).labels(len(own)).tolist()
    over = IntervalLevel.of(level).over([clusters[row] for row, _ in prompts])
    same = repetition_stability([*prompts.values()], level=over).pair_agreement
    return JudgeReport(
        judge_id=judge,
        mean=summary.score,
        same_option=or_missing(same, "no question was answered in two draws"),
        spread=summary.spread,
        flip_rate=summary.positional_bias,
        score_without=or_missing(score, lost),
        change_without=or_missing(change, lost),
        unscored_bounds=summary.unscored_bounds,
    )


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
    shared = (
        "The effective number of votes (effective_judges) is that of the scores: judges that are right together count "
        "as repeating each other, so that three accurate judges with independent errors count as little more than one. "
        "How many independent judges the panel is worth is measured on the errors: give the values that are right as "
        "a reference."
    )
    notes = [shared] if any(report.effective_judges and report.correlated == "scores" for _, report in reports) else []
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
