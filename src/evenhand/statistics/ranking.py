"""Which system is better, by how much, and how sure is that: one call from contests to a ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.errors import InvalidInputError
from evenhand.statistics.contests import Contests
from evenhand.statistics.cycles import CycleRate, cycle_rate
from evenhand.statistics.intervals import Interval
from evenhand.statistics.length import LengthControlled, length_controlled_win_rates
from evenhand.statistics.paired_comparisons import PairedComparison, Strength, fit_davidson
from evenhand.statistics.pairwise import PairComparison, compare_pairs, indistinguishable_groups
from evenhand.statistics.ranks import (
    Rank,
    balanced_prompts,
    field_mean_ranks,
    rank_by_strength,
    rank_by_win_rate,
)
from evenhand.statistics.strength_contrasts import StrengthContrasts, contrast_strengths, swiss_inflation
from evenhand.statistics.win_rate import WinRate, win_rates


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
        balanced: Every two systems with a scored contest met in equally many. Ranks, groups and differences are of win
            rates then. When not (a baseline, a Swiss design, replies that could not be read), win rates are over
            opponents of unequal strength, and ranks, groups and differences are of strengths.
        contests_added: Of strengths that the contests alone leave infinite, for which contests were added.
        level: Of the intervals, and one minus the error rate of the groups.
        resamples: For the expected ranks.
        undefined_resamples: Resamples in which a ranked system had no scored contest: left out.
        seed: Of the resamples.
        contests: Contests, scored or not.
        unscored: Of these without a score.
        prompts: Clusters.
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


def rank_systems(
    contests: Contests,
    *,
    presented: Contests | None = None,
    rounds: npt.ArrayLike | None = None,
    length_difference: npt.ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Everything that the contests say of the systems.

    Win rates, pairs head to head and cycles come from ``contests``. Strengths and ties come from ``presented`` when
    it is given, together with the position advantage: an order's effect cannot be seen once the orders are collapsed.
    Ranks, groups and differences are of win rates where all systems met equally often
    (:func:`~evenhand.statistics.ranks.rank_by_win_rate`), and otherwise of strengths
    (:func:`~evenhand.statistics.ranks.rank_by_strength`).

    Args:
        contests: Resolved: a row a pair and prompt, the orders collapsed.
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
    balanced = bool(balanced_prompts(contests.meetings.sum(axis=0)))
    strengths = None if balanced else _strengths(contests, presented, rounds, level, seed)
    pairs = compare_pairs(contests, strengths=strengths, level=level)
    if strengths is None:
        ranks = rank_by_win_rate(contests, comparisons=pairs, level=level, resamples=resamples, seed=seed)
    else:
        mean_rank = field_mean_ranks(contests, strengths)
        ranks = rank_by_strength(strengths, comparisons=pairs, mean_rank=mean_rank, resamples=resamples, seed=seed)
    field = dict(zip(strengths.placed.tolist(), strengths.field_win_rates, strict=True)) if strengths else {}
    model = fit_davidson(contests if presented is None else presented, order_effect=presented is not None, level=level)
    length_controlled = (
        None if length_difference is None else length_controlled_win_rates(contests, length_difference, level=level)
    )
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
    )


def _strengths(
    contests: Contests, presented: Contests | None, rounds: npt.ArrayLike | None, level: float, seed: int
) -> StrengthContrasts:
    """Of the systems with a scored contest: the votes of others, whom the rules set aside, take no part."""
    inflation = 1.0 if rounds is None else swiss_inflation(contests, rounds, level=level, seed=seed)
    scored = contests.scored
    if presented is not None:
        kept = np.union1d(scored.first, scored.second)
        scored = presented.only(np.isin(presented.first, kept) & np.isin(presented.second, kept))
    return contrast_strengths(scored, order_effect=presented is not None, inflation=inflation, level=level, seed=seed)
