from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from evenhand.statistics.contests import Contests, cycle_rate, win_rates
from evenhand.statistics.strengths import fit_strengths


def test_win_rates_by_hand():
    contests = Contests.of(
        "abc", first=[0, 1, 0, 2], second=[1, 0, 2, 1], score=[1, 0.5, 0.75, np.nan], cluster=[0, 0, 1, 1]
    )
    a, b, c = win_rates(contests)
    # a: 1, 0.5 and 0.75 of three
    assert a.win_rate.estimate == pytest.approx(0.75)
    assert (a.contests, a.wins, a.ties, a.losses, a.unscored) == (3, 2, 1, 0, 0)
    assert (b.win_rate.estimate, b.contests, b.ties, b.losses, b.unscored) == (0.25, 2, 1, 1, 1)
    assert (c.win_rate.estimate, c.contests, c.losses, c.unscored) == (0.25, 1, 1, 1)
    assert a.win_rate.n == 2


def test_of_two_systems_it_is_the_interval_of_the_bradley_terry_strength():
    generator = np.random.default_rng(6)
    contests = Contests.of(
        "ab", first=[0] * 80, second=[1] * 80, score=generator.choice([0, 0.5, 1], 80), cluster=np.arange(80) // 3
    )
    own, rate = fit_strengths(contests, ties="half").strengths[0].log_strength, win_rates(contests)[0].win_rate
    shares = expit([2 * own.low, 2 * own.estimate, 2 * own.high])
    assert (rate.low, rate.estimate, rate.high) == pytest.approx(shares, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([None, 0.0, 0.5, 1.0]), min_size=10, max_size=10))
def test_counts_are_those_of_going_through_every_triple(scores):
    pairs = list(combinations(range(5), 2))
    result = {(i, j): s for (i, j), s in zip(pairs, scores, strict=True) if s is not None}
    result |= {(j, i): 1 - s for (i, j), s in result.items()}
    triples = [t for t in combinations(range(5), 3) if all(pair in result for pair in combinations(t, 2))]
    circular = [
        (a, b, c) for a, b, c in triples if result[a, b] == result[b, c] == result[c, a] and result[a, b] in {0.0, 1.0}
    ]
    contests = Contests.of(
        "abcde",
        first=[i for i, _ in pairs],
        second=[j for _, j in pairs],
        score=[np.nan if s is None else s for s in scores],
        cluster=[0] * 10,
    )
    rate = cycle_rate(contests)
    assert (rate.cyclic, rate.triples) == (len(circular), len(triples)) == (rate.prompt_cyclic, rate.prompt_triples)
