"""Contests: the pair of systems, the prompt, the order shown and the result; win rates.

Two levels share this one value. *Presented* contests have a row for every showing of a pair (both orders, every draw):
they carry the order effect. *Resolved* contests have a row for a pair and prompt, the orders already collapsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evenhand.statistics.intervals import (
    BoolArray,
    FloatArray,
    IntArray,
    Interval,
    IntervalLevel,
    Level,
    ratio_intervals,
)


@dataclass(frozen=True, eq=False)
class Meetings:
    """Two systems in a cluster per row, sorted by pair and then by cluster: as long as the contests held.

    Attributes:
        systems: The number of systems.
        clusters: The number of clusters, including those in which no two met.
        cluster: Shape (m,): 0 … ``clusters`` - 1.
        first: Shape (m,): of the two systems the one with the lower position.
        second: Shape (m,): the other.
        won: Shape (m,): the score that ``first`` took, times the weights of the contests.
        met: Shape (m,): the sum of these weights: without weights the number of contests.
        contests: Shape (m,): how many contests they are; at least one.
    """

    systems: int
    clusters: int
    cluster: IntArray
    first: IntArray
    second: IntArray
    won: FloatArray
    met: FloatArray
    contests: FloatArray

    @property
    def in_all(self) -> Meetings:
        """The same meetings with all clusters together."""
        pairs, row = np.unique(self.first * self.systems + self.second, return_inverse=True)
        won, met, contests = (
            np.bincount(row, column, len(pairs)).astype(float) for column in (self.won, self.met, self.contests)
        )
        first, second = pairs // self.systems, pairs % self.systems
        return Meetings(self.systems, 1, np.zeros_like(pairs), first, second, won, met, contests)

    @property
    def by_system(self) -> tuple[FloatArray, FloatArray]:
        """Shape (clusters, systems) each: what every system took, and the weight of its contests."""
        taken, met = np.zeros((2, self.clusters, self.systems))
        for system, won in ((self.first, self.won), (self.second, self.met - self.won)):
            np.add.at(taken, (self.cluster, system), won)
            np.add.at(met, (self.cluster, system), self.met)
        return taken, met

    def of_system(self, system: int) -> tuple[FloatArray, FloatArray]:
        """Return what a system took from every other, and the weight: shape (clusters, systems) each."""
        taken, met = np.zeros((2, self.clusters, self.systems))
        for own, other, won in ((self.first, self.second, self.won), (self.second, self.first, self.met - self.won)):
            rows = own == system
            taken[self.cluster[rows], other[rows]] = won[rows]
            met[self.cluster[rows], other[rows]] = self.met[rows]
        return taken, met

    def of_pairs(self) -> Iterator[tuple[tuple[int, int], FloatArray, FloatArray]]:
        """Yield each pair that met, the first's score and the weight, with one value per cluster of the pair."""
        pairs, start = np.unique(self.first * self.systems + self.second, return_index=True)
        columns = (np.split(column, start[1:]) for column in (self.won, self.met))
        for pair, won, met in zip(pairs.tolist(), *columns, strict=False):
            yield (pair // self.systems, pair % self.systems), won, met

    @property
    def balanced(self) -> BoolArray:
        """Shape (clusters,): whether every two of the systems that met another one there met equally often."""
        most, present = np.zeros(self.clusters), np.zeros((self.clusters, self.systems), dtype=np.bool_)
        np.maximum.at(most, self.cluster, self.contests)
        present[self.cluster, self.first] = present[self.cluster, self.second] = True
        equally = np.bincount(self.cluster[self.contests == most[self.cluster]], minlength=self.clusters)
        size = present.sum(axis=1)
        return np.asarray(equally == size * (size - 1) // 2)


@dataclass(frozen=True, eq=False)
class Contests:
    """Outcomes of paired comparisons, one row per contest; :meth:`of` builds them.

    Attributes:
        systems: The names; every array below refers to them by position.
        first: Shape (m,): the system shown first.
        second: Shape (m,): the system shown second; never the same as ``first``.
        score: Shape (m,): the result for ``first``: 1 a win, 0 a loss, 0.5 a tie, any other number in [0, 1] an average
            of several votes, NaN not scored.
        cluster: Shape (m,): the prompt, or what several prompts belong to (any integer label). Contests of a cluster
            are dependent, those of two clusters are not.
        prompt: Shape (m,): the prompt (any integer label).
        weight: Shape (m,): how much the contest counts in win rates, ranks and differences, 1 for a whole one.
            Strengths and other models count every contest once.

    >>> contests = Contests.of(["a", "b"], first=[0, 1], second=[1, 0], score=[1, 0.5], cluster=[7, 9])
    >>> contests.meetings.won.tolist(), contests.meetings.cluster.tolist()  # of the two clusters, in which they met
    ([1.0, 0.5], [0, 1])
    """

    systems: tuple[str, ...]
    first: IntArray
    second: IntArray
    score: FloatArray
    cluster: IntArray
    prompt: IntArray
    weight: FloatArray

    @classmethod
    def of(
        cls,
        systems: Sequence[str],
        *,
        first: ArrayLike,
        second: ArrayLike,
        score: ArrayLike,
        cluster: ArrayLike | None = None,
        prompt: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> Contests:
        """Build contests from any sequences.

        Without ``cluster`` every contest is one, and each with its own prompt; without ``weight`` all weigh 1.
        """
        size = len(np.atleast_1d(np.asarray(first)))
        together = np.arange(size) if cluster is None else cluster
        labels = (first, second, together, together if prompt is None else prompt)
        places = [np.asarray(column, dtype=np.int64) for column in labels]
        weights = np.ones(size) if weight is None else np.array(weight, dtype=float)
        return cls(tuple(systems), places[0], places[1], np.array(score, dtype=float), places[2], places[3], weights)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def scored(self) -> Contests:
        """Only the contests that have a score."""
        return self.only(~np.isnan(self.score))

    def only(self, rows: BoolArray) -> Contests:
        """Return the contests for which ``rows``, shape (m,), is true; the systems stay as they are."""
        first, second, cluster, prompt = (each[rows] for each in (self.first, self.second, self.cluster, self.prompt))
        return Contests(self.systems, first, second, self.score[rows], cluster, prompt, self.weight[rows])

    @property
    def wins(self) -> FloatArray:
        """Shape (k, k): the score that row system took from column system over the scored contests, without weights."""
        won, known = np.zeros((len(self.systems), len(self.systems))), self.scored
        np.add.at(won, (known.first, known.second), known.score)
        np.add.at(won, (known.second, known.first), 1.0 - known.score)
        return won

    @cached_property
    def meetings(self) -> Meetings:
        """The scored contests, those of a pair in a cluster added up; clusters stand in the order of their labels."""
        labels, place = np.unique(self.cluster, return_inverse=True)
        kept = ~np.isnan(self.score)
        first, second, score, cluster, weight = (
            column[kept] for column in (self.first, self.second, self.score, place, self.weight)
        )
        low, high = np.minimum(first, second), np.maximum(first, second)
        systems, clusters = len(self.systems), len(labels)
        cells, row = np.unique((low * systems + high) * clusters + cluster, return_inverse=True)
        to_lower = np.where(first == low, score, 1.0 - score)
        sums = (np.bincount(row, column, len(cells)).astype(float) for column in (to_lower * weight, weight, None))
        pair = cells // max(clusters, 1)
        return Meetings(systems, clusters, cells % max(clusters, 1), pair // systems, pair % systems, *sums)


def win_rate_intervals(scores: FloatArray, contests: FloatArray, *, level: Level = 0.95) -> tuple[Interval | None, ...]:
    """Compute the rate sum(scores) / sum(contests) of every column with a cluster-robust interval on the logit scale.

    For win rates it is shorter than the one that ``ratio_intervals`` has by default and nearer to its level: nominal
    95 % held the truth in 94 to 96 % of simulated tournaments of 2 to 4 systems over 15 to 60 prompts, rates of 0.07 to
    0.97, where that one held it in 97 to 99 % and the one without a transformation in 89 to 95 %.

    Args:
        scores: Shape (n prompts, k).
        contests: Shape (n prompts, k); a prompt without a contest is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the clusters of the prompts and another method.

    Returns:
        One interval per column; None for a column without contests.

    Source: Agresti, Categorical Data Analysis, section 3.1, for the logit.
    """
    return ratio_intervals(scores, contests, level=level, on_logit_scale=True)


def rate_against_each(
    scores: FloatArray, contests: FloatArray, *, level: Level = 0.95
) -> tuple[Interval, tuple[Interval, ...]] | None:
    """Compute the mean of a system's rates against its opponents, each counting alike however often they met.

    Where contests are asked for until they decide a pair, the rate over all contests is over opponents as the results
    chose them; this one is not. Its limits are the means of the opponents' limits, each at the level
    ``1 - (1 - level) / opponents``: all of these hold together at the level asked for (Bonferroni).

    Args:
        scores: Shape (n prompts, opponents).
        contests: The same shape; an opponent that was never met is left out.
        level: The level of the interval; an `IntervalLevel` brings the clusters of the prompts and the method.

    Returns:
        The mean, and the rates that it is of; None without a contest.
    """
    over, met = IntervalLevel.of(level), np.flatnonzero(contests.sum(axis=0))
    if not met.size:
        return None
    each = replace(over, level=1 - (1 - over.level) / met.size)
    rates = [rate for rate in win_rate_intervals(scores[:, met], contests[:, met], level=each) if rate is not None]
    estimate, low, high = np.mean([(rate.estimate, rate.low, rate.high) for rate in rates], axis=0).tolist()
    n = int(np.count_nonzero(contests.sum(axis=1)))
    return Interval(estimate, low, high, over.level, rates[0].method, n), tuple(rates)
