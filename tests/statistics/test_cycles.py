from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.contests import Contests
from evenhand.statistics.cycles import cycle_rate


def test_a_circle_over_all_prompts_made_of_judges_that_rank():
    # Condorcet's paradox: three prompts rank abc, bca, cab. No prompt is circular, the majority is: 2 of 3 put a before
    # b, b before c, c before a.
    rankings = ["abc", "bca", "cab"]
    rows = [(p, *pair) for p, ranking in enumerate(rankings) for pair in combinations(ranking, 2)]
    contests = Contests.of(
        "abc",
        first=["abc".index(row[1]) for row in rows],
        second=["abc".index(row[2]) for row in rows],
        score=[1] * 9,
        cluster=[row[0] for row in rows],
    )
    rate = cycle_rate(contests)
    assert (rate.cyclic, rate.triples, rate.rate) == (1, 1, 1.0)
    assert (rate.prompt_cyclic, rate.prompt_triples, rate.prompt_rate.estimate) == (0, 3, 0.0)


def test_a_tie_breaks_a_circle_and_an_unscored_contest_the_triple():
    tied = Contests.of("abc", first=[0, 1, 2], second=[1, 2, 0], score=[1, 1, 0.5], cluster=[0, 0, 0])
    assert cycle_rate(tied).rate == 0.0
    gap = Contests.of("abc", first=[0, 1, 2], second=[1, 2, 0], score=[1, 1, np.nan], cluster=[0, 0, 0])
    assert (cycle_rate(gap).triples, cycle_rate(gap).rate, cycle_rate(gap).prompt_rate) == (0, None, None)


def test_a_coin_makes_a_quarter_of_the_triples_circular():
    generator = np.random.default_rng(1)
    pairs = list(combinations(range(5), 2))
    contests = Contests.of(
        "abcde",
        first=[i for i, _ in pairs] * 1000,
        second=[j for _, j in pairs] * 1000,
        score=generator.integers(2, size=10_000).astype(float),
        cluster=np.repeat(np.arange(1000), 10),
    )
    assert cycle_rate(contests).prompt_rate.estimate == pytest.approx(0.25, abs=0.02)  # 10,000 triples: error 0.005


@settings(max_examples=50, deadline=None)
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
