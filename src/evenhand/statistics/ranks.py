"""Ranks by win rate, and the ranks that another sample of prompts might have given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval, cluster_resamples, mean_intervals
from evenhand.statistics.pairwise import PairComparison, compare_pairs

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rank:
    """Where a system stands by its win rate, and where it might stand.

    Attributes:
        system: Its name.
        rank: 1 + the number of systems with a higher win rate; None without a scored contest.
        low: Best rank that the tests leave open; None as ``rank``.
        high: Worst rank that the tests leave open; None as ``rank``.
        expected: Mean rank over the resamples, equals sharing theirs; None without a rank, or without a resample in
            which every ranked system is scored.
        first: Share of the resamples in which no system has a higher win rate; None as ``expected``.
        mean_rank: See :func:`mean_ranks`.
    """

    system: str
    rank: int | None
    low: int | None
    high: int | None
    expected: float | None
    first: float | None
    mean_rank: Interval | None


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
    scores, counts = contests.wins.sum(axis=2), contests.meetings.sum(axis=2)
    ranked = np.flatnonzero(counts.sum(axis=0))
    scores, counts = scores[:, ranked], counts[:, ranked]
    found = {system: Rank(name, None, None, None, None, None, None) for system, name in enumerate(contests.systems)}
    if not len(ranked):
        return Ranks(tuple(found.values()), level, resamples, resamples, seed)
    draws = cluster_resamples(len(scores), resamples=resamples, seed=seed)
    drawn = np.concatenate([_rates(drawn @ scores, drawn @ counts) for drawn in draws])
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    observed = rankdata(-_rates(scores.sum(axis=0), counts.sum(axis=0)), method="min")
    within = mean_ranks(scores, counts, level=level)
    if comparisons is None:
        comparisons = compare_pairs(contests, level=level)
    better, worse = _significantly(comparisons, level)
    for position, system in enumerate(ranked.tolist()):
        name = contests.systems[system]
        above, equal = ((drawn > drawn[:, [position]]).sum(axis=1), (drawn == drawn[:, [position]]).sum(axis=1))
        found[system] = Rank(
            name,
            int(observed[position]),
            low=1 + better[name],
            high=len(ranked) - worse[name],
            expected=float(np.mean(above + (equal + 1) / 2)) if len(drawn) else None,
            first=float(np.mean(above == 0)) if len(drawn) else None,
            mean_rank=within[position],
        )
    return Ranks(tuple(found.values()), level, resamples, resamples - len(drawn), seed)


def mean_ranks(wins: npt.ArrayLike, meetings: npt.ArrayLike, *, level: float = 0.95) -> tuple[Interval | None, ...]:
    """The mean over prompts of every system's rank within the prompt, 1 the best.

    Equals share the mean of the ranks that they take up (mid-ranks), so that on every prompt the ranks of k systems
    sum to k(k + 1)/2. Only complete prompts count, those on which every ranked system has a scored contest: a rank
    among fewer systems would be a better one for the same win rate. Ranked are the systems with a scored contest on any
    prompt.

    Source: mid-ranks as in Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).

    Args:
        wins: Shape (n prompts, k): of every system, on every prompt.
        meetings: The same shape: the scored contests that these are of.
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
    complete = (counts > 0).all(axis=1)
    if len(ranked) < 2 or not complete.any():
        return tuple(found)
    ranks: FloatArray = rankdata(-_rates(scores[complete], counts[complete]), axis=1)
    for system, interval in zip(
        ranked.tolist(), mean_intervals(ranks, level=level, bounds=(1.0, float(len(ranked)))), strict=True
    ):
        found[system] = interval
    return tuple(found)


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
    """Rounded, so that equal rates stay equal whatever the order of summation."""
    rates = np.divide(scores, counts, out=np.full(np.shape(scores), np.nan), where=counts > 0)
    rounded: FloatArray = np.round(rates, 12)
    return rounded
