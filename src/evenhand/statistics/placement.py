"""Which systems have finite strengths relative to one another, and the design matrix of those that have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import helmert
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from evenhand.statistics.contests import Contests

FloatArray = npt.NDArray[np.float64]


def placeable(scored: Contests) -> tuple[npt.NDArray[np.intp], dict[int, str]]:
    """The systems that have finite strengths relative to one another, and for every other system the reason why not.

    They are the largest strongly connected component of the graph with an edge from each system to those that it took
    anything from (a win, or a tie). A component of one system has nothing to be compared with; of two equally
    large ones neither is preferred, and nobody is placed.

    >>> swept = Contests.of("abc", first=[0, 1, 2, 1], second=[1, 2, 1, 0], score=[1, 1, 1, 0])
    >>> placed, reasons = placeable(swept)
    >>> placed.tolist(), reasons
    ([1, 2], {0: 'won every contest: no finite strength'})
    """
    size = len(scored.systems)
    took = np.zeros((size, size))
    np.add.at(took, (scored.first, scored.second), scored.score)
    np.add.at(took, (scored.second, scored.first), 1.0 - scored.score)
    _, label = connected_components(csr_array(took > 0), directed=True, connection="strong")
    sizes = np.bincount(label)
    largest = np.flatnonzero(sizes == sizes.max())
    unique = len(largest) == 1 and sizes.max() > 1
    placed = np.flatnonzero(label == largest[0]) if unique else np.empty(0, dtype=np.intp)
    chain = _NO_CHAIN if unique else _why_in_groups(took)
    reasons = {
        system: _why_not_placed(float(took[system].sum()), float(took[:, system].sum()), chain)
        for system in sorted(set(range(size)) - set(placed.tolist()))
    }
    return placed, reasons


_NO_CHAIN = "no chain of wins leads both from and to the systems that can be placed: no finite strength"
_NEVER_MET = "the systems fall into groups that never met in a scored contest: no finite strength"
_ONE_WAY = "the systems fall into groups between which all wins go one way: no finite strength"


def _why_in_groups(took: FloatArray) -> str:
    """Why nobody can be placed, where some systems both won and lost."""
    met = (took + took.T) > 0
    _, label = connected_components(csr_array(met), directed=False)
    return _NEVER_MET if len(np.unique(label[met.any(axis=1)])) > 1 else _ONE_WAY


def _why_not_placed(taken: float, given: float, chain: str) -> str:
    if taken + given == 0:
        return "no scored contest"
    if given == 0:
        return "won every contest: no finite strength"
    if taken == 0:
        return "lost every contest: no finite strength"
    return chain


def strength_design(core: Contests, placed: npt.NDArray[np.intp]) -> FloatArray:
    """Shape (m, len(placed) - 1): ``e_first - e_second`` in an orthonormal basis of the strengths that sum to zero."""
    basis = strength_basis(len(placed))
    where = np.full(len(core.systems), -1)
    where[placed] = np.arange(len(placed))
    difference: FloatArray = basis[where[core.first]] - basis[where[core.second]]
    return difference


def met_in_order(core: Contests) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """One contest of every two systems in every order that was shown, and which of these each contest is like.

    >>> kept, pattern = met_in_order(Contests.of("ab", first=[0, 1, 0], second=[1, 0, 1], score=[1, 1, 0]))
    >>> kept.tolist(), pattern.tolist()
    ([True, True, False], [0, 1, 0])
    """
    _, rows, pattern = np.unique(core.first * len(core.systems) + core.second, return_index=True, return_inverse=True)
    kept = np.zeros(len(core), dtype=np.bool_)
    kept[rows] = True
    places = np.argsort(np.argsort(rows))
    return kept, places[pattern]


def strength_basis(size: int) -> FloatArray:
    """Shape (size, size - 1): orthonormal columns, each of which sums to zero."""
    basis: FloatArray = helmert(size).T
    return basis
