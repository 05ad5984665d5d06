"""The contests of a pair in a cluster, added up, beside tables with a cell for every two systems in every cluster."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.contests import Contests


@st.composite
def contests(draw):
    systems = draw(st.integers(2, 6))
    pair = st.tuples(st.integers(0, systems - 1), st.integers(1, systems - 1))
    score = st.sampled_from([0.0, 0.5, 1.0, 0.25, np.nan])
    rows = draw(st.lists(st.tuples(pair, score, st.integers(0, 5)), min_size=1, max_size=40))
    first = [one for (one, _), _, _ in rows]
    second = [(one + further) % systems for (one, further), _, _ in rows]
    names = [f"s{system}" for system in range(systems)]
    scores, clusters = [score for _, score, _ in rows], [cluster for _, _, cluster in rows]
    weights = draw(st.sampled_from([None, np.arange(1, len(rows) + 1) / 4]))
    return Contests.of(names, first=first, second=second, score=scores, cluster=clusters, weight=weights)


def dense(held):
    """Shape (clusters, k, k) each: what row system took from column system, with its weight, and the contests."""
    size = len(held.systems)
    labels = sorted(set(held.cluster.tolist()))
    won, met, contests = np.zeros((3, len(labels), size, size))
    columns = (held.first, held.second, held.score, held.cluster, held.weight)
    for one, other, score, cluster, weight in zip(*columns, strict=True):
        if not np.isnan(score):
            row = labels.index(cluster)
            won[row, one, other] += score * weight
            won[row, other, one] += (1 - score) * weight
            for cell in ((row, one, other), (row, other, one)):
                met[cell] += weight
                contests[cell] += 1
    return won, met, contests


@given(contests())
@settings(max_examples=60, deadline=None)
def test_every_sum_is_that_of_the_dense_tables(held):
    (won, met, _), found = dense(held), held.meetings
    assert np.array_equal(found.by_system[0], won.sum(axis=2))
    assert np.array_equal(found.by_system[1], met.sum(axis=2))
    for system in range(len(held.systems)):
        assert np.array_equal(found.of_system(system)[0], won[:, system])
        assert np.array_equal(found.of_system(system)[1], met[:, system])
    assert np.array_equal(found.in_all.by_system[0][0], won.sum(axis=(0, 2)))


@given(contests())
@settings(max_examples=60, deadline=None)
def test_balance_and_circles_are_counted_as_one_would_by_hand(held):
    won, met, contests = dense(held)
    cyclic, triples = held.meetings.circular_triads()
    for cluster in range(len(won)):
        prefers = won[cluster] > met[cluster] / 2
        present = np.flatnonzero(met[cluster].any(axis=1)).tolist()
        between = {contests[cluster, one, other] for one, other in combinations(present, 2)}
        assert held.meetings.balanced[cluster] == (len(between) <= 1)
        every = [
            three for three in combinations(present, 3) if all(met[cluster, a, b] for a, b in combinations(three, 2))
        ]
        circles = sum(
            (prefers[a, b] and prefers[b, c] and prefers[c, a]) or (prefers[b, a] and prefers[c, b] and prefers[a, c])
            for a, b, c in every
        )
        assert (cyclic[cluster], triples[cluster]) == (circles, len(every))
