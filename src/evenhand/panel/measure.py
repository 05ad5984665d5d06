"""From verdicts with all their votes to the report on the panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.aggregation import REDRAW, VoteRules
from evenhand.criteria import Criterion
from evenhand.errors import EstimationError, InvalidInputError
from evenhand.numbers import format_level, format_percent
from evenhand.panel.panel_report import (
    NOT_DRAWN,
    JudgeReport,
    JudgeStability,
    PairReport,
    PanelReport,
    PanelRule,
    PanelTable,
    categories_of,
    draws_of,
    is_ordered,
    panel_table,
)
from evenhand.run_options import NEEDS_ALL_DRAWS
from evenhand.statistics import (
    ALPHA_METRICS,
    Agreement,
    EffectiveJudges,
    Interval,
    cohen_kappa,
    draw_stability,
    effective_judges,
    greatest_unseen_share,
    krippendorff_alpha,
    mean_intervals,
    percent_agreement,
)
from evenhand.votes import Verdict

ENOUGH_DRAWS = 5
"""From so many draws on, no caution is given."""


def spread_caution(samples: int, *, level: float = 0.95) -> str | None:
    """What to bear in mind where ``samples`` equal draws of a judge are read as certainty.

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


Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Draws:
    """How the intervals that are drawn are drawn."""

    level: float
    resamples: int
    seed: int


def panel_report(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    rules: VoteRules | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    planned_votes: int | None = None,
    reference: Sequence[float | None] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> PanelReport:
    """What the votes on many instances of one criterion say about the judges; no call is made.

    Every judge's votes are collapsed alone (samples, then orders), which gives its score and its selection for each
    instance. Agreement is that of the selections, correlation that of the scores. A judge that is NA or unscored on an
    instance is missing there. The panel without a judge is aggregated anew, by the same rule, on every instance;
    intervals are over instances.

    Alpha and kappa are nominal for binary and nominal scales; on ordinal scales alpha is ordinal and kappa is
    quadratic-weighted over the full scale, categories being the options' values (without values: their places). In
    comparisons alpha is by interval, and a tie is on the scale whether it was offered or not.

    The stability of draws compares all pairs, unless draws could stop early, or the questions put to the judge had
    different numbers of draws: then only the first two of each, since how many draws there are depends on what they
    said. Where draws could stop early there is no spread (:mod:`evenhand.aggregation.early_stop`).

    Args:
        verdicts: One an instance, each with all its votes.
        criterion: Whose options were voted on.
        rules: The rules that made the verdicts; None for the defaults.
        weights: As they were given to `evenhand.aggregation.aggregate`.
        planned_votes: Draws that the full grid has over all instances; None where nothing was left out on purpose.
        reference: Per instance the value that is right, where it is known. With it the effective number of judges is
            that of their errors; without it, of their scores, which good judges have in common.
        level: Of the intervals.
        resamples: For the intervals that are drawn.
        seed: Of the draws.

    Raises:
        InvalidInputError: If the votes do not collapse to the verdicts that they came with, or more draws were made
            than planned.
        UnknownRuleError: As `evenhand.aggregation.aggregate`.

    Example:
        >>> from evenhand.aggregation import aggregate
        >>> from evenhand.criteria import yes_no_criterion
        >>> from evenhand.votes import Vote
        >>> cites = yes_no_criterion("cites", "Does the response cite a source?")
        >>> def ask(*answers):
        ...     votes = [Vote(judge_id=name, order=(0, 1), selected_index=index) for name, index in zip("abc", answers)]
        ...     return aggregate(votes, cites)
        >>> report = panel_report([ask(0, 0, 0), ask(1, 1, 1), ask(0, 0, 1), ask(1, 1, 1)], cites)
        >>> round(report.alpha.estimate, 4)  # 1 - (2 / 12) / (2 * 5 * 7 / (12 * 11))
        0.6857
        >>> report.judges[2].change_without.estimate, report.undefined["judge_spread_a"]
        (0.0, 'no question was drawn twice')
    """
    draws = _Draws(level, resamples, seed)
    panel_rule = PanelRule(criterion, rules or VoteRules(), weights)
    table = panel_table(verdicts, panel_rule)
    undefined: dict[str, str] = {}
    judges = _judges(verdicts, table, criterion, level, undefined)
    right = None if reference is None else [np.nan if value is None else value for value in reference]
    effective = _effective(table, right, draws, undefined)
    made = sum(vote.asked for verdict in verdicts for vote in verdict.votes)
    several = [verdict.agreement if sum(vote.asked for vote in verdict.votes) > 1 else None for verdict in verdicts]
    agreement = _mean(
        [np.nan if each is None else each for each in several],
        level,
        "agreement",
        "no instance has two votes",
        undefined,
    )
    return PanelReport(
        criterion=criterion.name,
        scale=criterion.scale,
        rule=panel_rule.name,
        num_instances=len(verdicts),
        num_judged=sum(bool(verdict.votes) for verdict in verdicts),
        num_votes=made,
        num_planned=planned_votes,
        num_left_out=_left_out(planned_votes, made),
        agreement=agreement,
        percent_agreement=_of_panel(
            "percent_agreement", lambda: percent_agreement(table.selections, level=level), table, undefined
        ),
        alpha=_of_panel("krippendorff_alpha", lambda: _alpha(table, criterion, draws), table, undefined),
        effective=effective,
        correlated="scores" if reference is None else "errors",
        judges=judges,
        pairs=_pairs(table, criterion, draws, undefined),
        undefined=MappingProxyType(undefined),
        notes=_notes(verdicts, judges, shared_truth=effective is not None and reference is None),
        level=float(level),
        resamples=resamples,
        seed=seed,
    )


def _left_out(planned: int | None, made: int) -> int | None:
    if planned is None:
        return None
    if planned < made:
        raise InvalidInputError(
            f"planned_votes is {planned!r}, but {made!r} draws were made; give those of the full grid"
        )
    return planned - made


def _judges(
    verdicts: Sequence[Verdict], table: PanelTable, criterion: Criterion, level: float, undefined: dict[str, str]
) -> tuple[JudgeReport, ...]:
    reports = []
    for column, judge in enumerate(table.judges):
        votes = [vote for verdict in verdicts for vote in verdict.votes if vote.judge_id == judge and vote.asked]
        without = table.without[:, column]
        alone = "the panel has one judge" if len(table.judges) == 1 else "no instance has a score without this judge"
        no_score = "the options have no values" if not criterion.has_values else "no instance has a score of this judge"
        lost = "the options have no values" if not criterion.has_values else alone
        reports.append(
            JudgeReport(
                judge_id=judge,
                num_votes=len(votes),
                num_unscored=sum(vote.selected_index is None and not vote.na for vote in votes),
                num_na=sum(vote.na for vote in votes),
                mean=_mean(table.scores[:, column], level, f"judge_mean_{judge}", no_score, undefined),
                stability=_stability(judge, draws_of(judge, verdicts, criterion), table, level, undefined),
                score_without=_mean(without, level, f"score_without_{judge}", lost, undefined),
                change_without=_mean(
                    without - table.panel, level, f"change_without_{judge}", lost, undefined, bounds=(-1.0, 1.0)
                ),
                num_lost=int((~np.isnan(table.panel) & np.isnan(without)).sum()),
            )
        )
    return tuple(reports)


def _stability(
    judge: str, drawn: NDArray[np.int64], table: PanelTable, level: float, undefined: dict[str, str]
) -> JudgeStability:
    column = table.judges.index(judge)
    counts = (drawn != NOT_DRAWN).sum(axis=2)
    stopped = table.stopped[column]
    uneven = stopped or len(np.unique(counts[counts > 0])) > 1
    same = draw_stability(drawn, first_two=uneven, level=level)
    if same is None:
        undefined[f"judge_stability_{judge}"] = "no question was answered in two draws"
    return JudgeStability(
        same_option=same,
        first_two=uneven,
        spread=_mean(
            table.spreads[:, column],
            level,
            f"judge_spread_{judge}",
            f"{NEEDS_ALL_DRAWS}: {REDRAW}" if stopped else "no question was drawn twice",
            undefined,
            bounds=(0.0, 0.5),
        ),
        flip_rate=_mean(
            table.flips[:, column],
            level,
            f"judge_flip_rate_{judge}",
            "no instance was answered in two orders",
            undefined,
        ),
    )


def _alpha(table: PanelTable, criterion: Criterion, draws: _Draws) -> Agreement:
    return krippendorff_alpha(
        table.selections,
        metric=ALPHA_METRICS[criterion.scale],
        categories=categories_of(criterion),
        level=draws.level,
        resamples=draws.resamples,
        seed=draws.seed,
    )


def _effective(
    table: PanelTable, reference: ArrayLike | None, draws: _Draws, undefined: dict[str, str]
) -> EffectiveJudges | None:
    found = _of_panel(
        "effective_judges",
        lambda: effective_judges(
            table.scores, reference, level=draws.level, resamples=draws.resamples, seed=draws.seed
        ),
        table,
        undefined,
    )
    if found is None:
        undefined["judge_correlation"] = undefined["effective_judges"]
    return found


def _pairs(table: PanelTable, criterion: Criterion, draws: _Draws, undefined: dict[str, str]) -> tuple[PairReport, ...]:
    def kappa(first: int, second: int) -> Agreement:
        return cohen_kappa(
            table.selections[:, first],
            table.selections[:, second],
            weights="quadratic" if is_ordered(criterion) else None,
            categories=categories_of(criterion),
            level=draws.level,
            resamples=draws.resamples,
            seed=draws.seed,
        )

    found = []
    for first, second in combinations(range(len(table.judges)), 2):
        names = table.judges[first], table.judges[second]
        name = f"cohen_kappa_{names[0]}_vs_{names[1]}"
        found.append(PairReport(*names, _defined(name, partial(kappa, first, second), undefined)))
    return tuple(found)


def _notes(verdicts: Sequence[Verdict], judges: Sequence[JudgeReport], *, shared_truth: bool) -> tuple[str, ...]:
    cells = Counter(
        (row, vote.judge_id, vote.order) for row, verdict in enumerate(verdicts) for vote in verdict.votes if vote.asked
    )
    caution = spread_caution(max(cells.values())) if cells else None
    uneven = [judge.judge_id for judge in judges if judge.stability.first_two]
    stopped = (
        f"The draws of {', '.join(map(repr, uneven))} could stop early or are of different numbers; the stability of "
        "draws compares only the first two of each, which no early stop selects."
    )
    shared = (
        "The effective number of votes (effective_judges) is that of the scores: judges that are right together count "
        "as repeating each other, so that three accurate judges with independent errors come to little more than one. "
        "How many independent judges the panel is worth is measured on the errors: give the values that are right as "
        "a reference."
    )
    notes = (caution, stopped if uneven else None, shared if shared_truth else None)
    return tuple(note for note in notes if note is not None)


def _mean(
    values: ArrayLike,
    level: float,
    name: str,
    reason: str,
    undefined: dict[str, str],
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval | None:
    (interval,) = mean_intervals(values, level=level, bounds=bounds)
    if interval is None:
        undefined[name] = reason
    return interval


def _of_panel(name: str, measure: Callable[[], Found], table: PanelTable, undefined: dict[str, str]) -> Found | None:
    if len(table.judges) < 2:
        undefined[name] = "the panel has one judge" if table.judges else "there are no votes"
        return None
    return _defined(name, measure, undefined)


def _defined(name: str, measure: Callable[[], Found], undefined: dict[str, str]) -> Found | None:
    """The measurement, or None and the reason why these data have none."""
    try:
        return measure()
    except EstimationError as error:
        undefined[name] = str(error)
        return None


def report_of_run(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    rules: VoteRules,
    *,
    samples: int,
    reference: Sequence[float | None] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> PanelReport | None:
    """The report on the judges of a run; None where one judge was asked once, which says nothing about judges.

    Args:
        verdicts: One an instance, each with all its votes.
        criterion: Whose options were voted on.
        rules: The rules that made the verdicts.
        samples: Draws of each prompt that the run was to make at most.
        reference: Per instance the value that is right, where it is known.
        level: Of the intervals.
        seed: Of the intervals that are drawn.
    """
    judges = {vote.judge_id for verdict in verdicts for vote in verdict.votes}
    if len(judges) < 2 and samples < 2:
        return None
    return panel_report(
        verdicts,
        criterion,
        rules,
        reference=reference,
        planned_votes=planned_votes(verdicts, samples),
        level=level,
        seed=seed,
    )


def planned_votes(verdicts: Sequence[Verdict], samples: int) -> int:
    """How many votes the full grid has, of which stopping early may have left out some.

    Every order that was shown was to be drawn ``samples`` times, and the first of those draws is always made. An order
    that was shown again, beside questions that have more orders, has the numbers from ``samples`` on.

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
