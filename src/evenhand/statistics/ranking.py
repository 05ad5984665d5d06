"""Which system is better, by how much, and how sure is that: one call from contests to a ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from evenhand.errors import InvalidInputError
from evenhand.statistics.contests import Contests, CycleRate, WinRate, cycle_rate, rate_against_each, win_rates
from evenhand.statistics.intervals import Interval, IntervalLevel, mean_intervals
from evenhand.statistics.length import LengthControlled, length_controlled_win_rates
from evenhand.statistics.paired_comparisons import PairedComparison, Parameter, Strength, fit_davidson
from evenhand.statistics.paired_differences import PairComparison, compare_pairs, indistinguishable_groups
from evenhand.statistics.resampling import FloatArray, cluster_resamples
from evenhand.statistics.strength_contrasts import NO_CONTEST, StrengthContrasts, contrast_strengths, swiss_inflation

AT_ANY_TIME = "its interval holds for a sample of a fixed size, and not at all looks together"
"""Why there is no estimate of a model, where intervals are asked for that hold at any time."""

NOT_ALL_MET = "not every two systems met, and strengths are of a sample of a fixed size"

STRENGTH_TOLERANCE = 1e-6
"""Strengths nearer to each other are equal: what the optimiser leaves of a difference is below it."""


@dataclass(frozen=True)
class Rank:
    """Where a system stands, by its win rate or its strength, and where it might stand.

    Attributes:
        system: Its name.
        rank: 1 + the number of systems with a higher win rate, or strength; None where there is a reason.
        low: Best rank that the tests leave open; None as ``rank``.
        high: Worst rank that the tests leave open; None as ``rank``.
        expected: Mean rank over the resamples, equals sharing theirs; None without a rank, or without a resample in
            which every ranked system is scored.
        first: Share of the resamples in which no system stands higher; None as ``expected``.
        mean_rank: See :func:`mean_ranks`.
        reason: Why there is no rank; None when there is one.
    """

    system: str
    rank: int | None
    low: int | None
    high: int | None
    expected: float | None
    first: float | None
    mean_rank: Interval | None
    reason: str | None = None


@dataclass(frozen=True)
class Ranks:
    """The ranks of all systems.

    Attributes:
        ranks: One a system, in the order of ``Contests.systems``.
        level: At which all intervals together hold the true ranks.
        resamples: Resamples asked for.
        undefined_resamples: Of these, in which a ranked system had no scored contest: left out.
        seed: Of the draws.
    """

    ranks: tuple[Rank, ...]
    level: float
    resamples: int
    undefined_resamples: int
    seed: int


def rank_by_win_rate(
    contests: Contests,
    *,
    comparisons: Sequence[PairComparison] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Ranks:
    """Rank the systems by win rate, with the ranks that they might truly have.

    The interval goes from 1 + the number of systems that are significantly better to k - the number that are
    significantly worse, by the Holm-corrected tests of ``compare_pairs``: with probability ``level`` all intervals
    together hold the true ranks. The ranks of resampled prompts (drawn with replacement, all contests of a prompt
    together: ``draws @ scores / draws @ contests``) are told by their mean and by how often a system comes first. Their
    quantiles are no interval: among systems nearly equal they held the true rank of the best in 86 % of simulated
    data sets instead of 95 %.

    Source: Mogstad, Romano, Shaikh and Wilhelm, Inference for ranks, Review of Economic Studies 91 (2024); Hall and
    Miller, Using the bootstrap to quantify the authority of an empirical ranking, Annals of Statistics 37 (2009).

    Args:
        contests: Resolved, or presented.
        comparisons: Of ``compare_pairs`` for the same contests, if they have been made already.
        level: In [0.5, 1).
        resamples: How many.
        seed: Of the draws.

    >>> who, whom, prompts = [0, 0, 1] * 9, [1, 2, 2] * 9, [prompt for prompt in range(9) for _ in range(3)]
    >>> contests = Contests.of("abc", first=who, second=whom, score=[1] * 27, cluster=prompts)
    >>> [(rank.rank, rank.low, rank.high) for rank in rank_by_win_rate(contests, resamples=10).ranks]
    [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    """
    scores, counts = contests.meetings.by_system
    ranked = np.flatnonzero(counts.sum(axis=0))
    scores, counts = scores[:, ranked], counts[:, ranked]
    found = {system: _unranked(name, NO_CONTEST) for system, name in enumerate(contests.systems)}
    if not len(ranked):
        return Ranks(tuple(found.values()), level, resamples, resamples, seed)
    draws = (drawn.astype(np.float64) for drawn in cluster_resamples(len(scores), resamples=resamples, seed=seed))
    drawn = np.concatenate([_rates(drawn @ scores, drawn @ counts) for drawn in draws])
    drawn = steps(drawn[~np.isnan(drawn).any(axis=1)])
    observed = rankdata(-steps(_rates(scores.sum(axis=0), counts.sum(axis=0))), method="min")
    mean_rank = _mean_ranks_of(contests, level)
    within = [mean_rank[system] for system in ranked.tolist()]
    if comparisons is None:
        comparisons = compare_pairs(contests, level=level)
    tests = _significantly(comparisons, level)
    placed = [contests.systems[system] for system in ranked.tolist()]
    found |= zip(ranked.tolist(), _placed_ranks(placed, observed, drawn, within, tests), strict=True)
    return Ranks(tuple(found.values()), level, resamples, resamples - len(drawn), seed)


def rank_at_any_time(
    contests: Contests, *, comparisons: Sequence[PairComparison], level: float, resamples: int, seed: int
) -> tuple[Ranks, tuple[WinRate, ...]]:
    """Rank the systems by their mean rate against the others, each counting alike, at any moment of a growing sample.

    The limits of a rank are made of the pairs that are decided head to head, as :func:`rank_by_win_rate` makes them of
    its tests: of a system, how many beat it, and how many it beats. Nothing is resampled. Where not every two systems
    met there are no ranks: the means are over other opponents.

    Args:
        contests: Resolved contests.
        comparisons: Of ``compare_pairs`` at the same level.
        level: An `IntervalLevel` of the method ``anytime``.
        resamples: For the result.
        seed: For the result.

    Returns:
        The ranks, and each system's record with that mean in place of its rate over all contests.
    """
    records = []
    for system, record in enumerate(win_rates(contests, level=level)):
        found = rate_against_each(*contests.meetings.of_system(system), level=level)
        records.append(replace(record, win_rate=None if found is None else found[0]))
    placed = {record.system: record.win_rate.estimate for record in records if record.win_rate is not None}
    all_met = all(pair.contests for pair in comparisons if pair.first in placed and pair.second in placed)
    if not all_met:
        placed.clear()
    observed = rankdata(-steps(np.array([*placed.values()])), method="min") if placed else np.empty(0)
    within = dict(zip(contests.systems, _mean_ranks_of(contests, level), strict=True))
    own = [within[name] for name in placed]
    drawn, tests = np.empty((0, len(placed))), _significantly(comparisons, level)
    ranked = {rank.system: rank for rank in _placed_ranks([*placed], observed, drawn, own, tests)}
    reason = NO_CONTEST if all_met else NOT_ALL_MET
    ranks = tuple(ranked.get(name) or _unranked(name, reason) for name in contests.systems)
    return Ranks(ranks, level, resamples, 0, seed), tuple(records)


def rank_by_strength(
    strengths: StrengthContrasts,
    *,
    comparisons: Sequence[PairComparison],
    mean_rank: Sequence[Interval | None],
    resamples: int = 1000,
    seed: int = 0,
) -> Ranks:
    """Rank the systems by strength, with the ranks that they might truly have: for designs that are not balanced.

    A win rate over opponents that are stronger than another's says nothing of who is better: against a baseline the
    baseline's own is over all the others, and in a Swiss design every one is drawn towards one half. The intervals are
    made of the contrasts as :func:`rank_by_win_rate` makes them of its tests; expected ranks are over the first draws
    of the strengths. Strengths within 1e-6 of each other are equal and share the rank.

    In ``python -m benchmarks.ranks`` (8 systems 2 log-odds apart, 40 prompts) all intervals together held the true
    ranks in all of 200 data sets with a tenth of the contests unscored, in all of 200 against a baseline and in all of
    200 Swiss designs of three rounds; how often equal systems are told apart is said by
    :func:`~evenhand.statistics.strength_contrasts.contrast_strengths`.

    Source: Mogstad, Romano, Shaikh and Wilhelm, Inference for ranks, Review of Economic Studies 91 (2024).

    Args:
        strengths: Of ``contrast_strengths``.
        comparisons: Of ``compare_pairs`` with these strengths.
        mean_rank: One a system, in the order of ``strengths.systems``; for the result.
        resamples: How many draws, at most as many as ``strengths`` has.
        seed: Of the draws, for the result.
    """
    observed = rankdata(-steps(strengths.strengths, STRENGTH_TOLERANCE), method="min")
    drawn = strengths.draws[:resamples]
    found = {system: _unranked(strengths.systems[system], why) for system, why in strengths.reasons.items()}
    ranked, tests = strengths.placed.tolist(), _significantly(comparisons, strengths.level)
    names, within = [strengths.systems[system] for system in ranked], [mean_rank[system] for system in ranked]
    found |= zip(ranked, _placed_ranks(names, observed, drawn, within, tests), strict=True)
    return Ranks(
        tuple(found[system] for system in range(len(found))), strengths.level, resamples, resamples - len(drawn), seed
    )


def _placed_ranks(
    names: Sequence[str],
    observed: FloatArray,
    drawn: FloatArray,
    mean_rank: Sequence[Interval | None],
    tests: tuple[Counter[str], Counter[str]],
) -> list[Rank]:
    """Of the systems that have a rank, in their order: what was observed, drawn and tested."""
    better, worse = tests
    ranks = []
    for position, name in enumerate(names):
        own = drawn[:, [position]]
        above, equal = (drawn > own).sum(axis=1), (drawn == own).sum(axis=1)
        ranks.append(
            Rank(
                name,
                int(observed[position]),
                low=1 + better[name],
                high=len(names) - worse[name],
                expected=float(np.mean(above + (equal + 1) / 2)) if len(drawn) else None,
                first=float(np.mean(own[:, 0] == drawn.max(axis=1))) if len(drawn) else None,
                mean_rank=mean_rank[position],
            )
        )
    return ranks


def _unranked(name: str, reason: str) -> Rank:
    return Rank(name, None, None, None, None, None, None, reason)


def steps(values: FloatArray, tolerance: float = 1e-9) -> FloatArray:
    """Number the different values along the last axis from 0, the least; what differs by rounding only is one value.

    Means of different votes that are equal on paper differ in the last bit. Rounding them to some digits would still
    part two that lie on either side of a half.

    >>> import numpy as np
    >>> steps(np.array([0.3, 0.1 + 0.2, 0.1])).tolist()
    [1.0, 1.0, 0.0]
    """
    order = np.argsort(values, axis=-1)
    ascending = np.take_along_axis(values, order, axis=-1)
    rises = np.concatenate(
        [np.zeros_like(ascending[..., :1]), np.cumsum(np.diff(ascending, axis=-1) > tolerance, axis=-1)], axis=-1
    )
    numbered: FloatArray = np.empty_like(rises)
    np.put_along_axis(numbered, order, rises, axis=-1)
    return numbered


def mean_ranks(
    wins: ArrayLike, meetings: ArrayLike, *, balanced: ArrayLike | None = None, level: float = 0.95
) -> tuple[Interval | None, ...]:
    """The mean over prompts of every system's rank within the prompt, 1 the best.

    Equals share the mean of the ranks that they take up (mid-ranks), so that on every prompt the ranks of k systems
    sum to k(k + 1)/2. Only complete prompts count, those on which every two ranked systems met, all equally often: a
    rank among fewer systems would be a better one for the same win rate, and one over easier opponents too. Ranked are
    the systems with a scored contest on any prompt.

    Source: mid-ranks as in Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).

    Args:
        wins: Shape (n prompts, k): of every system, on every prompt.
        meetings: The same shape: the scored contests that these are of.
        balanced: Shape (n prompts,): on which every two systems with a scored contest there met equally often; by
            default all.
        level: Of the intervals over the prompts, which lie between 1 and the number of ranked systems.

    Returns:
        One interval a system; None for a system without a scored contest, and for all when fewer than two are ranked
        or no prompt is complete.

    >>> first, second, third = mean_ranks([[2, 0.5, 0.5], [1, 2, 0], [1, 0, 0]], [[2, 2, 2], [2, 2, 2], [1, 1, 0]])
    >>> first.estimate, second.estimate, third.estimate  # (1 + 2)/2, (2.5 + 1)/2, (2.5 + 3)/2; the third is incomplete
    (1.5, 1.75, 2.75)
    """
    scores, counts = np.asarray(wins, dtype=np.float64), np.asarray(meetings, dtype=np.float64)
    found: list[Interval | None] = [None] * int(scores.shape[1])
    ranked = np.flatnonzero(counts.sum(axis=0))
    scores, counts = scores[:, ranked], counts[:, ranked]
    complete = (counts > 0).all(axis=1) & (True if balanced is None else np.asarray(balanced, dtype=np.bool_))
    if len(ranked) < 2 or not complete.any():
        return tuple(found)
    confidence = IntervalLevel.of(level).only(complete)
    ranks: FloatArray = rankdata(-steps(_rates(scores[complete], counts[complete])), axis=1)
    for system, interval in zip(
        ranked.tolist(),
        mean_intervals(ranks, level=confidence, bounds=(1.0, float(len(ranked)))),
        strict=True,
    ):
        found[system] = interval
    return tuple(found)


def field_mean_ranks(contests: Contests, strengths: StrengthContrasts) -> tuple[Interval | None, ...]:
    """The mean of every system's ranks within the prompts; where no prompt is complete, the one that strengths expect.

    On a prompt on which not all systems met, ranks would be over unequal opponents: against a baseline its own would be
    the best on average though each single system were better. What is expected is ``1 + (k - 1)(1 - p)``, with p the
    win rate against all k - 1 others by the model: 1 and the mean number of systems that win on a prompt.

    Returns:
        One a system, in the order of ``Contests.systems``; None for a system without a rank.
    """
    within = _mean_ranks_of(contests, strengths.level)
    if any(mean is not None for mean in within):
        return within
    found: list[Interval | None] = [None] * len(contests.systems)
    others = len(strengths.placed) - 1
    for system, rate in zip(strengths.placed.tolist(), strengths.field_win_rates, strict=True):
        estimate, low, high = (1 + others * (1 - value) for value in (rate.estimate, rate.high, rate.low))
        error = None if rate.standard_error is None else others * rate.standard_error
        found[system] = replace(rate, estimate=estimate, low=low, high=high, standard_error=error)
    return tuple(found)


def _mean_ranks_of(contests: Contests, level: float) -> tuple[Interval | None, ...]:
    """One a system, over the prompts, each by itself, and what the prompts belong to."""
    held = contests.by_prompt.meetings
    return mean_ranks(*held.by_system, balanced=held.balanced, level=contests.prompt_level(level))


def _significantly(comparisons: Sequence[PairComparison], level: float) -> tuple[Counter[str], Counter[str]]:
    """For every system, how many are significantly better, and how many worse."""
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    for pair in comparisons:
        test, difference = pair.difference_test, pair.difference
        if test is None or difference is None or test.adjusted_p_value >= 1 - level:
            continue
        winner, loser = (pair.first, pair.second) if difference.estimate > 0 else (pair.second, pair.first)
        worse[winner] += 1
        better[loser] += 1
    return better, worse


def _rates(scores: FloatArray, counts: FloatArray) -> FloatArray:
    rates: FloatArray = np.divide(scores, counts, out=np.full(np.shape(scores), np.nan), where=counts > 0)
    return rates


@dataclass(frozen=True)
class SystemRanking:
    """All that is said of one system.

    Attributes:
        system: Its name.
        record: Win rate and counts.
        rank: With its interval.
        strength: Davidson's log-strength, or why it has none.
        length_controlled_win_rate: None when not asked for, or not identified.
        field_win_rate: Where not all met equally often: the win rate that the model expects against all the others,
            each once in both orders. None in a balanced design, whose win rates are just that, and without a rank.
    """

    system: str
    record: WinRate
    rank: Rank
    strength: Strength
    length_controlled_win_rate: Interval | None
    field_win_rate: Interval | None = None


@dataclass(frozen=True)
class Ranking:
    """What the contests say of the systems.

    Attributes:
        systems: One a system, best rank first; systems without a rank last.
        pairs: Every two systems: head to head, difference, tests.
        groups: Systems that cannot be told apart, best first.
        cycles: Circular preferences.
        model: The fitted Davidson (and Beaver) model: ties and position advantage.
        length_controlled: None when no lengths were given.
        balanced: Every two systems with a scored contest met in equally many, or every opponent counts alike, since
            all is to hold at any time (:func:`rank_at_any_time`). Ranks, groups and differences are of win rates then.
            When not (a baseline, a Swiss design, replies that could not be read), win rates are over opponents of
            unequal strength, and ranks, groups and differences are of strengths.
        contests_added: Of strengths that the contests alone leave infinite, for which contests were added.
        level: Of the intervals, and one minus the error rate of the groups.
        resamples: For the expected ranks.
        undefined_resamples: Resamples in which a ranked system had no scored contest: left out.
        seed: Of the resamples.
        contests: Contests, scored or not.
        unscored: Of these without a score.
        prompts: Clusters.
        anytime: Intervals and tests hold at all looks at a growing sample together, and wherever it stops.
    """

    systems: tuple[SystemRanking, ...]
    pairs: tuple[PairComparison, ...]
    groups: tuple[tuple[str, ...], ...]
    cycles: CycleRate
    model: PairedComparison
    length_controlled: LengthControlled | None
    balanced: bool
    contests_added: bool
    level: float
    resamples: int
    undefined_resamples: int
    seed: int
    contests: int
    unscored: int
    prompts: int
    anytime: bool = False


def rank_systems(
    contests: Contests,
    *,
    presented: Contests | None = None,
    rounds: ArrayLike | None = None,
    length_difference: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Everything that the contests say of the systems.

    Win rates, pairs head to head and cycles come from ``contests``. Strengths and ties come from ``presented`` when
    it is given, together with the position advantage: an order's effect cannot be seen once the orders are collapsed.
    Ranks, groups and differences are of win rates where all systems met equally often
    (:func:`rank_by_win_rate`), and otherwise of strengths (:func:`rank_by_strength`).

    Args:
        contests: Resolved: a row per pair and prompt, the orders collapsed.
        presented: The same contests before that, a row for every order shown; the same systems.
        rounds: Shape of ``contests``: the round of each, where the results of one round decided who met in the next.
        length_difference: Shape of ``contests``: length of the first response minus that of the second, NaN unknown.
        level: Of all intervals; the groups have the error rate ``1 - level``.
        resamples: For the expected ranks.
        seed: Of the resamples.

    >>> contests = Contests.of(["a", "b"], first=[0] * 8, second=[1] * 8, score=[1, 1, 1, 0, 0.5, 1, 1, 0])
    >>> ranking = rank_systems(contests, resamples=100)
    >>> [(system.system, system.record.win_rate.estimate) for system in ranking.systems], ranking.groups
    ([('a', 0.6875), ('b', 0.3125)], (('a', 'b'),))
    """
    if presented is not None and presented.systems != contests.systems:
        raise InvalidInputError(
            f"presented names the systems {presented.systems!r}, contests {contests.systems!r}: "
            "give the same names in the same order."
        )
    records = win_rates(contests, level=level)
    anytime = IntervalLevel.of(level).method == "anytime"
    balanced = anytime or bool(contests.meetings.in_all.balanced.all())
    strengths = None if balanced else _strengths(contests, presented, rounds, level, seed)
    pairs = compare_pairs(contests, strengths=strengths, level=level)
    if anytime:
        ranks, records = rank_at_any_time(contests, comparisons=pairs, level=level, resamples=resamples, seed=seed)
    elif strengths is None:
        ranks = rank_by_win_rate(contests, comparisons=pairs, level=level, resamples=resamples, seed=seed)
    else:
        mean_rank = field_mean_ranks(contests, strengths)
        ranks = rank_by_strength(strengths, comparisons=pairs, mean_rank=mean_rank, resamples=resamples, seed=seed)
    field = dict(zip(strengths.placed.tolist(), strengths.field_win_rates, strict=True)) if strengths else {}
    model = fit_davidson(contests if presented is None else presented, order_effect=presented is not None, level=level)
    length_controlled = (
        None if length_difference is None else length_controlled_win_rates(contests, length_difference, level=level)
    )
    if anytime:
        model, length_controlled = _without_estimates_of_models(model, length_controlled)
    order = sorted(range(len(contests.systems)), key=lambda system: (ranks.ranks[system].rank or np.inf, system))
    return Ranking(
        systems=tuple(
            SystemRanking(
                contests.systems[system],
                records[system],
                ranks.ranks[system],
                model.strengths[system],
                None if length_controlled is None else length_controlled.win_rates[system],
                field.get(system),
            )
            for system in order
        ),
        pairs=pairs,
        groups=indistinguishable_groups(pairs, [contests.systems[system] for system in order], level=level),
        cycles=cycle_rate(contests, level=level),
        model=model,
        length_controlled=length_controlled,
        balanced=balanced,
        contests_added=strengths is not None and strengths.added,
        level=level,
        resamples=resamples,
        undefined_resamples=ranks.undefined_resamples,
        seed=seed,
        contests=len(contests),
        unscored=int(np.isnan(contests.score).sum()),
        prompts=len(np.unique(contests.prompt)),
        anytime=anytime,
    )


def _without_estimates_of_models(
    model: PairedComparison, controlled: LengthControlled | None
) -> tuple[PairedComparison, LengthControlled | None]:
    """The models without their estimates: a number with an interval that does not hold is none."""
    unknown = Parameter(None, AT_ANY_TIME)
    strengths = tuple(Strength(strength.system, None, None, AT_ANY_TIME) for strength in model.strengths)
    model = replace(model, strengths=strengths, tie=unknown, position_log_odds=unknown, position_probability=unknown)
    if controlled is not None:
        missing = (None,) * len(controlled.win_rates)
        controlled = replace(controlled, win_rates=missing, length_effect=unknown, reason=AT_ANY_TIME)
    return model, controlled


def _strengths(
    contests: Contests, presented: Contests | None, rounds: ArrayLike | None, level: float, seed: int
) -> StrengthContrasts:
    """Of the systems with a scored contest: the votes of others, whom the rules set aside, take no part."""
    inflation = 1.0 if rounds is None else swiss_inflation(contests, rounds, level=level, seed=seed)
    scored = contests.scored
    if presented is not None:
        kept = np.union1d(scored.first, scored.second)
        scored = presented.only(np.isin(presented.first, kept) & np.isin(presented.second, kept))
    return contrast_strengths(scored, order_effect=presented is not None, inflation=inflation, level=level, seed=seed)
