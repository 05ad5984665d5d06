from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from evenhand.statistics.contests import Contests
from evenhand.statistics.pairwise import (
    PairComparison,
    SignFlipTest,
    compare_pairs,
    holm,
    indistinguishable_groups,
    sign_flip_p_value,
)


class TestSignFlip:
    def test_by_hand(self):
        # 2 + 1 - 1 = 2; of the eight sums ±2 ±1 ±1 the absolute values are 4, 2, 2, 0, 0, 2, 2, 4: six are at least 2
        assert sign_flip_p_value([2, 1, -1]) == (0.75, "exact", 3)

    def test_prompts_without_a_difference_inform_nothing(self):
        assert sign_flip_p_value([1, 0, 1, 0, 1]) == (0.25, "exact", 3)
        assert sign_flip_p_value([0.0, 0.0]) == (1.0, "exact", 0)

    @settings(max_examples=30, deadline=None)
    @given(st.lists(st.integers(-4, 4).filter(bool), min_size=2, max_size=10))
    def test_exact_is_that_of_scipy(self, differences):
        oracle = permutation_test(
            (np.array(differences, dtype=float),), np.sum, permutation_type="samples", n_resamples=np.inf
        )
        if sum(differences) != 0:  # scipy doubles the smaller tail, which is more than 1 at the centre
            assert sign_flip_p_value(differences)[0] == pytest.approx(oracle.pvalue)

    def test_beyond_twelve_it_is_normal_with_the_variance_of_the_flips(self):
        # 20 for, 10 against: McNemar's z = 10 / sqrt(30) = 1.825742, two-sided p = 0.067889
        p_value, method, informative = sign_flip_p_value([1] * 20 + [-1] * 10 + [0] * 7)
        assert (p_value, method, informative) == (pytest.approx(0.067889, abs=1e-6), "normal", 30)

    def test_normal_and_exact_agree_where_they_meet(self):
        generator = np.random.default_rng(0)
        for _ in range(20):
            differences = generator.normal(0.3, 1, 12)
            exact = sign_flip_p_value(differences)[0]
            normal = sign_flip_p_value(np.append(differences, 1e-6))
            assert normal[1] == "normal"
            assert normal[0] == pytest.approx(exact, abs=0.05)


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


def test_pairing_by_prompt_sharpens_the_difference():
    generator = np.random.default_rng(4)
    ease = generator.random(200) < 0.5  # the baseline is beaten on easy prompts, whoever plays
    a, b = ease.astype(float), ease.astype(float)
    b[:6] = 0.0
    contests = Contests.of(
        ["a", "b", "baseline"],
        first=[0, 1] * 200,
        second=[2, 2] * 200,
        score=np.column_stack([a, b]).ravel(),
        cluster=np.repeat(np.arange(200), 2),
    )
    difference = compare_pairs(contests)[0].difference
    unpaired = np.sqrt(2 * 0.25 / 200) * 1.96
    assert (difference.high - difference.low) / 2 < unpaired / 3


def test_a_system_without_contests_is_not_compared():
    pairs = compare_pairs(Contests.of("abc", first=[0, 0], second=[1, 1], score=[1, 0]))
    assert [pair.difference is None for pair in pairs] == [False, True, True]
    assert pairs[0].difference_test.adjusted_p_value == pairs[0].difference_test.p_value


def different(first, second, adjusted):
    return PairComparison(first, second, 1, None, None, None, SignFlipTest(0.0, adjusted, "exact", 1))


class TestGroups:
    def test_overlapping_groups(self):
        # a ~ b, b ~ c, but a is above c; d is below all
        told_apart = {("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")}
        pairs = [different(*pair, 0.01 if pair in told_apart else 0.5) for pair in combinations("abcd", 2)]
        assert indistinguishable_groups(pairs, "abcd") == (("a", "b"), ("b", "c"), ("d",))
        assert indistinguishable_groups(pairs, "dcba") == (("d",), ("c", "b"), ("b", "a"))

    @settings(max_examples=60, deadline=None)
    @given(
        st.integers(1, 6).flatmap(lambda k: st.tuples(st.just(k), st.lists(st.booleans(), min_size=15, max_size=15)))
    )
    def test_they_are_the_maximal_sets_without_a_difference(self, drawn):
        size, apart = drawn
        systems = [f"s{i}" for i in range(size)]
        edges = dict(zip(combinations(systems, 2), apart, strict=False))
        pairs = [different(*pair, 0.01 if told else 1.0) for pair, told in edges.items()]
        alike = [
            set(group)
            for n in range(1, size + 1)
            for group in combinations(systems, n)
            if not any(edges[pair] for pair in combinations(group, 2))
        ]
        maximal = {tuple(sorted(group)) for group in alike if not any(group < other for other in alike)}
        assert set(indistinguishable_groups(pairs, systems)) == maximal
