from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.contests import Contests
from evenhand.statistics.ranking import compare_pairs, holm, indistinguishable_groups


def test_holm_by_hand():
    # ascending 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04 -> 0.06
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([]).tolist() == []
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


@pytest.fixture
def three_systems():
    """Five prompts; a beats b on all; c draws with both everywhere, but with a it is unscored on the last."""
    prompts = np.repeat(np.arange(5), 3)
    score = np.tile([1.0, 0.5, 0.5], 5)
    score[-2] = np.nan
    return Contests.of("abc", first=[0, 0, 1] * 5, second=[1, 2, 2] * 5, score=score, cluster=prompts)


def test_head_to_head_and_difference_by_hand(three_systems):
    pairs = {(pair.first, pair.second): pair for pair in compare_pairs(three_systems)}
    a_b = pairs["a", "b"]
    assert (a_b.win_rate.estimate, a_b.contests) == (1.0, 5)
    # a scores 5 + 4/2 of 9, b 5/2 of 10, so that the difference is 7/9 - 1/4 = 19/36
    assert a_b.difference.estimate == pytest.approx(19 / 36)
    assert a_b.win_rate_test.p_value == 2 / 2**5
    assert a_b.win_rate_test.adjusted_p_value == pytest.approx(3 * 2 / 2**5)
    assert a_b.difference_test.p_value == 2 / 2**5
    assert pairs["a", "c"].contests == 4
    assert pairs["a", "c"].win_rate_test.p_value == 1.0
    assert (a_b.difference.low > -1, a_b.difference.high <= 1) == (True, True)


def test_two_systems_that_met_only_the_baseline_are_compared_by_prompt():
    # against c: a wins on all of 6 prompts, b loses on all; they never meet
    contests = Contests.of(
        "abc", first=[0, 1] * 6, second=[2, 2] * 6, score=[1, 0] * 6, cluster=np.repeat(np.arange(6), 2)
    )
    a_b = compare_pairs(contests)[0]
    assert a_b.win_rate is None
    assert a_b.win_rate_test is None
    assert a_b.difference.estimate == 1.0
    assert a_b.difference_test.p_value == 2 / 2**6
    # the tests of c against a and b are in the family, so that Holm multiplies the smallest of three
    assert a_b.difference_test.adjusted_p_value == pytest.approx(3 * 2 / 2**6)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6).flatmap(lambda k: st.tuples(st.just(k), st.lists(st.booleans(), min_size=15, max_size=15))))
def test_groups_are_the_maximal_sets_without_a_difference(drawn):
    size, apart = drawn
    systems = [f"s{i}" for i in range(size)]
    edges = dict(zip(combinations(systems, 2), apart, strict=False))
    alike = [
        set(group)
        for n in range(1, size + 1)
        for group in combinations(systems, n)
        if not any(edges[pair] for pair in combinations(group, 2))
    ]
    maximal = {tuple(sorted(group)) for group in alike if not any(group < other for other in alike)}
    assert set(indistinguishable_groups([pair for pair, differ in edges.items() if differ], systems)) == maximal
