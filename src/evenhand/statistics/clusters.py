"""Sums over the rows of a cluster: the step from rows that depend on each other to clusters that do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InvalidInputError

FloatArray = NDArray[np.float64]


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


def cluster_sums(values: ArrayLike, labels: NDArray[np.int64]) -> FloatArray:
    """The sum over each cluster's rows, (n_clusters,) or (n_clusters, n_columns).

    >>> cluster_sums([1.0, 2.0, 4.0], np.array([1, 0, 1])).tolist()
    [2.0, 5.0]
    """
    table = np.asarray(values, dtype=float)
    sums = np.zeros((int(labels.max(initial=-1)) + 1, *table.shape[1:]))
    np.add.at(sums, labels, table)
    return sums
