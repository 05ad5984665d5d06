"""Who met whom in which cluster, what came of it, and what runs in a circle: as long as the contests held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.statistics.resampling import CELLS_AT_ONCE, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Meetings:
    """Two systems in a cluster a row, by pair and in that by cluster; of 60 systems most pairs never meet on a prompt.

    Attributes:
        systems: How many there are.
        clusters: How many there are, with those in which nobody met.
        cluster: Shape (m,): 0 … ``clusters`` - 1.
        first: Shape (m,): of the two systems the one with the lower position.
        second: Shape (m,): the other.
        won: Shape (m,): the score that ``first`` took, times the weights of the contests.
        met: Shape (m,): the sum of these weights: without weights the number of contests.
        contests: Shape (m,): of how many contests; at least one.
    """

    systems: int
    clusters: int
    cluster: IntArray
    first: IntArray
    second: IntArray
    won: FloatArray
    met: FloatArray
    contests: FloatArray

    @classmethod
    def of(
        cls,
        opponents: IntArray,
        score: FloatArray,
        cluster: IntArray,
        weight: FloatArray,
        *,
        systems: int,
        clusters: int,
    ) -> Meetings:
        """Add up the contests of a pair in a cluster.

        Args:
            opponents: Shape (m, 2).
            score: Shape (m,): of the first of the two, none missing.
            cluster: Shape (m,): 0 … ``clusters`` - 1.
            weight: Shape (m,).
            systems: How many.
            clusters: How many.
        """
        low, high = opponents.min(axis=1), opponents.max(axis=1)
        cells, row = np.unique((low * systems + high) * clusters + cluster, return_inverse=True)
        to_lower = np.where(opponents[:, 0] == low, score, 1.0 - score)
        summed = (
            np.bincount(row, column, len(cells)).astype(np.float64) for column in (to_lower * weight, weight, None)
        )
        pair, place = cells // max(clusters, 1), cells % max(clusters, 1)
        return cls(systems, clusters, place, pair // systems, pair % systems, *summed)

    def only(self, rows: BoolArray) -> Meetings:
        """Those for which ``rows``, shape (m,), is true; the clusters stay as they are."""
        pairs = (self.first[rows], self.second[rows])
        columns = (self.won[rows], self.met[rows], self.contests[rows])
        return Meetings(self.systems, self.clusters, self.cluster[rows], *pairs, *columns)

    @property
    def in_all(self) -> Meetings:
        """The same, all clusters together."""
        pairs, row = np.unique(self.first * self.systems + self.second, return_inverse=True)
        first, second = pairs // self.systems, pairs % self.systems
        columns = (self.won, self.met, self.contests)
        summed = (np.bincount(row, column, len(pairs)).astype(np.float64) for column in columns)
        return Meetings(self.systems, 1, np.zeros_like(pairs), first, second, *summed)

    @property
    def matrix(self) -> FloatArray:
        """Shape (systems, systems): what the row's system took from the column's, all clusters together."""
        taken, held = np.zeros((self.systems, self.systems)), self.in_all
        taken[held.first, held.second], taken[held.second, held.first] = held.won, held.met - held.won
        return taken

    @property
    def by_system(self) -> tuple[FloatArray, FloatArray]:
        """Shape (clusters, systems) each: what every system took, and the weight of its contests."""
        return self._sums(self.won, self.met - self.won), self._sums(self.met, self.met)

    def _sums(self, to_first: FloatArray, to_second: FloatArray) -> FloatArray:
        """Shape (clusters, systems), of what the two of every row get."""
        sums = np.zeros((self.clusters, self.systems))
        np.add.at(sums, (self.cluster, self.first), to_first)
        np.add.at(sums, (self.cluster, self.second), to_second)
        return sums

    def of_system(self, system: int) -> tuple[FloatArray, FloatArray]:
        """Shape (clusters, systems) each: what a system took from every other, and the weight of these contests."""
        taken, contests = np.zeros((2, self.clusters, self.systems))
        for own, other, won in ((self.first, self.second, self.won), (self.second, self.first, self.met - self.won)):
            rows = own == system
            taken[self.cluster[rows], other[rows]] = won[rows]
            contests[self.cluster[rows], other[rows]] = self.met[rows]
        return taken, contests

    def of_pairs(self, pairs: IntArray) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """What the first of every pair won from the second, cluster by cluster, in blocks of pairs that met as often.

        Args:
            pairs: Shape (p, 2): the systems of each, the lower position first.

        Yields:
            Which pairs of the p; and, shape (rows, pairs) each, what the first took and the weight: a row for each
            cluster in which the two met, in order. Of those with fewer, by half at most, the last rows are zeros.

        >>> opponents, score, cluster = np.array([[0, 1], [1, 0]]), np.ones(2), np.array([0, 2])
        >>> held = Meetings.of(opponents, score, cluster, np.ones(2), systems=2, clusters=3)
        >>> [(which.tolist(), won.T.tolist(), met.T.tolist()) for which, won, met in held.of_pairs(np.array([[0, 1]]))]
        [([0], [[1.0, 0.0]], [[1.0, 1.0]])]
        """
        known = self.first * self.systems + self.second
        start, end = (np.searchsorted(known, pairs @ (self.systems, 1), side=side) for side in ("left", "right"))
        length = end - start
        order = np.argsort(length, kind="stable")
        for block in _alike(length[order], 1):
            which = order[block]
            row = np.arange(length[which[-1]])[:, None]
            there = row < length[which]
            cells = np.where(there, start[which] + row, 0)
            yield which, np.where(there, self.won[cells], 0.0), np.where(there, self.met[cells], 0.0)

    @property
    def balanced(self) -> BoolArray:
        """Shape (clusters,): whether every two of the systems that met anybody there met equally often.

        >>> opponents, cluster = np.array([[0, 1], [0, 2], [1, 2], [0, 1]]), np.array([0, 0, 0, 1])
        >>> held = Meetings.of(opponents, np.ones(4), cluster, np.ones(4), systems=3, clusters=2)
        >>> held.balanced.tolist(), held.only(held.first == 0).balanced.tolist()
        ([True, True], [False, True])
        """
        most = np.zeros(self.clusters)
        np.maximum.at(most, self.cluster, self.contests)
        equally = np.bincount(self.cluster[self.contests == most[self.cluster]], minlength=self.clusters)
        present = self.present.sum(axis=1)
        balanced: BoolArray = equally == present * (present - 1) // 2
        return balanced

    @property
    def present(self) -> BoolArray:
        """Shape (clusters, systems): whether a system met anybody."""
        present = np.zeros((self.clusters, self.systems), dtype=np.bool_)
        present[self.cluster, self.first] = present[self.cluster, self.second] = True
        return present

    def circular_triads(self) -> tuple[FloatArray, FloatArray]:
        """Circular triads and triples, shape (clusters,) each: closed walks of length 3, over preferences and meetings.

        The first of a pair is preferred when it took more than half. Only systems of which a triple could be are
        looked at, numbered within their cluster: a matrix is as large as they are many there.
        """
        held = self._in_triples()
        present = held.present
        size, place = present.sum(axis=1), np.cumsum(present, axis=1) - 1
        order = np.argsort(size, kind="stable")
        at = np.empty_like(order)
        at[order] = np.arange(len(order))
        rows = np.argsort(at[held.cluster], kind="stable")
        cyclic, triples = np.zeros((2, self.clusters))
        for block in _alike(size[order], size[order]):
            clusters = order[block]
            own = rows[slice(*np.searchsorted(at[held.cluster[rows]], (block.start, block.stop)))]
            shape = (len(clusters), size[clusters[-1]], size[clusters[-1]])
            prefers, met = np.zeros((2, *shape), dtype=np.float32)
            cluster = held.cluster[own]
            first, second = place[cluster, held.first[own]], place[cluster, held.second[own]]
            lead = held.won[own] - held.met[own] / 2
            prefers[at[cluster] - block.start, first, second] = lead > _EVEN
            prefers[at[cluster] - block.start, second, first] = lead < -_EVEN
            met[at[cluster] - block.start, first, second] = met[at[cluster] - block.start, second, first] = 1
            cyclic[clusters] = _closed_walks(prefers) / 3
            triples[clusters] = _closed_walks(met) / 6
        return np.rint(cyclic), np.rint(triples)

    def _in_triples(self) -> Meetings:
        """Without systems that met only one other in a cluster, and then without those that met only such ones."""
        held = self
        while True:
            ones = np.ones(len(held.won))
            others = held._sums(ones, ones)
            kept = (others[held.cluster, held.first] > 1) & (others[held.cluster, held.second] > 1)
            if kept.all():
                return held
            held = held.only(kept)


_EVEN = 1e-9
"""Of scores so near to a half neither is preferred."""


def _closed_walks(edges: NDArray[np.float32]) -> FloatArray:
    """Of length 3, in each of the graphs, shape (n, p, p)."""
    walks: FloatArray = np.sum((edges @ edges) * edges.transpose(0, 2, 1), axis=(1, 2), dtype=np.float64)
    return walks


def _alike(sizes: IntArray, cells: IntArray | int) -> Iterator[slice]:
    """Blocks of ascending sizes, the last of each twice the first at most, and as many as cells may be held at once.

    Args:
        sizes: Ascending; those of 0 are in no block.
        cells: Of one of them, for each unit of its size.
    """
    start = int(np.searchsorted(sizes, 1))
    each = np.broadcast_to(cells, sizes.shape)
    while start < len(sizes):
        end = int(np.searchsorted(sizes, 2 * sizes[start], side="right"))
        largest = int(sizes[end - 1]) * int(each[end - 1])
        end = min(end, start + max(1, CELLS_AT_ONCE // largest))
        yield slice(start, end)
        start = end
