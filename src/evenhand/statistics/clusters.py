"""Sums over the rows of a cluster: the step from rows that depend on each other to clusters that do not.

Rows of one document, conversation or user tell less than as many independent rows. With m rows a cluster and an
intraclass correlation r, the variance of a mean is 1 + (m - 1) r times that of independent rows (Kish, 1965, "Survey
sampling", section 5.4), so that intervals over rows are too narrow. Over the sums of clusters they are not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.run_options import INTERVALS, check_takes_clusters

FloatArray = NDArray[np.float64]


class IntervalLevel(float):
    """The level of intervals, with the clusters of the rows that they are over and the method asked for.

    A plain number is the level for rows that do not depend on each other, by the method ``auto``. Every function that
    takes a ``level`` takes one of these: what it computes from rows is then computed over their clusters, and other
    rows than those of the clusters are refused.

    Attributes:
        clusters: One label a row, in their order; None if every row stands for itself.
        method: One of `evenhand.run_options.INTERVALS`; `evenhand.statistics.intervals.ratio_intervals` says what each
            does.

    Raises:
        InvalidInputError: No such method, or one that takes no clusters, with clusters.

    >>> level = IntervalLevel(0.9, clusters=["b", "a", "b"])
    >>> level + 0, level.n_clusters, level.only([True, False, True]).n_clusters
    (0.9, 2, 1)
    """

    clusters: tuple[Hashable, ...] | None
    method: str

    def __new__(cls, level: float, clusters: Sequence[Hashable] | None = None, method: str = "auto") -> Self:
        """Check and build."""
        if method not in INTERVALS:
            raise InvalidInputError(f"interval is {method!r}. {did_you_mean(method, INTERVALS)}")
        check_takes_clusters(method, clustered=clusters is not None)
        made = super().__new__(cls, level)
        made.clusters = None if clusters is None else tuple(clusters)
        made.method = method
        return made

    @classmethod
    def of(cls, level: float) -> Self:
        """The level as it is, or a plain number for independent rows."""
        return level if isinstance(level, cls) else cls(level)

    @property
    def n_clusters(self) -> int | None:
        """How many clusters the rows are of; None if every row stands for itself."""
        return None if self.clusters is None else len(set(self.clusters))

    def labels(self, n_rows: int) -> NDArray[np.int64]:
        """The clusters of the rows, numbered from 0.

        Raises:
            InvalidInputError: If the level is for another number of rows.
        """
        if self.clusters is None:
            return np.arange(n_rows)
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(self.clusters))}
        return cluster_labels([numbers[cluster] for cluster in self.clusters], n_rows)

    def only(self, rows: ArrayLike) -> Self:
        """The level for some of the rows.

        Args:
            rows: (n_rows,) booleans, or the indices of rows, which may repeat.
        """
        if self.clusters is None:
            return self
        chosen = np.arange(len(self.clusters))[np.asarray(rows)]
        return type(self)(float(self), [self.clusters[row] for row in chosen], self.method)

    def of_clusters(self) -> Self:
        """The level for rows that are clusters: what is summed already is not summed again."""
        return type(self)(float(self), None, self.method)


def cluster_labels(clusters: ArrayLike | None, n_rows: int) -> NDArray[np.int64]:
    """The clusters of the rows, numbered from 0; every row is a cluster of its own if none are given.

    Args:
        clusters: (n_rows,), any labels that can be sorted, such as prompt numbers or names; or None.
        n_rows: How many there must be.

    >>> cluster_labels(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    if clusters is None:
        return np.arange(n_rows)
    labels = np.asarray(clusters)
    if labels.shape != (n_rows,):
        raise InvalidInputError(f"clusters has the shape {labels.shape!r} for {n_rows} rows; give one label a row")
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def size_of_unseen(labels: NDArray[np.int64]) -> float:
    """The rows of a cluster that nobody saw: the size-biased mean of those seen, sum(m²) / sum(m).

    >>> size_of_unseen(np.array([0, 0, 0, 1]))  # (9 + 1) / 4
    2.5
    """
    sizes = np.bincount(labels)
    return float((sizes**2).sum() / sizes.sum())


def cluster_sums(values: ArrayLike, labels: NDArray[np.int64]) -> FloatArray:
    """The sum over each cluster's rows, (n_clusters,) or (n_clusters, n_columns).

    >>> cluster_sums([1.0, 2.0, 4.0], np.array([1, 0, 1])).tolist()
    [2.0, 5.0]
    """
    table = np.asarray(values, dtype=float)
    sums = np.zeros((int(labels.max(initial=-1)) + 1, *table.shape[1:]))
    np.add.at(sums, labels, table)
    return sums
