"""Sign flips and paired differences: by hand, against scipy, and by simulation with known truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest, permutation_test

from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.ranking import DifferenceTest, paired_differences, paired_test


def test_by_hand():
    # 2 + 1 - 1 = 2; of the eight sums ±2 ±1 ±1 the absolute values are 4, 2, 2, 0, 0, 2, 2, 4: six are at least 2
    assert paired_test([2, 1, -1]) == DifferenceTest(0.75, 0.75, "exact", 3)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-4, 4).filter(bool), min_size=2, max_size=10))
def test_exact_is_that_of_scipy(differences):
    oracle = permutation_test(
        (np.array(differences, dtype=float),), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    if sum(differences) != 0:  # scipy doubles the smaller tail, which is more than 1 at the centre
        assert paired_test(differences).p_value == pytest.approx(oracle.pvalue)


@pytest.mark.parametrize("m", range(2, 61))
def test_equal_sizes_are_the_exact_sign_test(m):
    for wins in range(m + 1):
        test = paired_test([0.1] * wins + [-0.1] * (m - wins))
        assert test.p_value == pytest.approx(binomtest(wins, m, 0.5).pvalue, rel=1e-9)
        assert (test.method, test.clusters) == ("exact", m)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(13, 40))
def test_many_of_unequal_sizes_are_students(seed, m):
    differences = np.random.default_rng(seed).normal(0.3, 1, m)
    test = paired_test([*differences, 0.0])
    assert test.p_value == pytest.approx(stats.ttest_1samp([*differences, 0.0], 0).pvalue)
    assert (test.method, test.clusters) == ("t", m)


def test_nearly_equal_differences_are_no_more_certain_than_signs_can_be():
    # 14 of one sign: Student's t alone would say 1e-53
    noise = np.random.default_rng(1).uniform(-1e-4, 1e-4, 14)
    assert paired_test(1 + noise).p_value == 2 / 2**14


NAN = float("nan")


def test_rows_of_a_cluster_flip_together_and_widen_the_interval():
    rows = [[1, 0]] * 12  # four documents of three rows: 2 of 2^4 signs instead of 2 of 2^12
    level = IntervalLevel(0.95, clusters=[number // 3 for number in range(12)])
    (pair,), (loose,) = paired_differences(rows, level=level), paired_differences(rows)
    assert pair.test is not None
    assert loose.test is not None
    assert pair.difference is not None
    assert loose.difference is not None
    assert pair.test.p_value == pytest.approx(2 / 2**4)
    assert loose.test.p_value == pytest.approx(2 / 2**12)
    assert pair.difference.low < loose.difference.low


def test_all_pairs_are_one_family():
    rows = [[1, 0, 0]] * 8 + [[1, 1, 1]] * 4
    found = paired_differences(rows)
    assert [(pair.first, pair.second) for pair in found] == [("0", "1"), ("0", "2"), ("1", "2")]
    # 2 / 2^8 twice and 1: Holm multiplies by 3, then by 2 but no less than before, then by 1.
    adjusted = [pair.test.adjusted_p_value for pair in found if pair.test is not None]
    assert adjusted == pytest.approx([6 / 2**8, 6 / 2**8, 1.0])


def test_what_only_one_has_is_set_aside_and_bounded():
    rows = [[1, 0.5], [NAN, 0.5], [1, NAN], [NAN, NAN]]
    low = [[1, 0.5], [0, 0.5], [1, 0.25], [NAN, 0]]
    high = [[1, 0.5], [1, 0.5], [1, 0.75], [NAN, 1]]
    (pair,) = paired_differences(rows, low=low, high=high)
    assert (pair.n_compared, pair.n_set_aside) == (1, 2)
    # The last row does not apply to the first system: (0.5 - 0.5 + 0.25) / 3 and (0.5 + 0.5 + 0.75) / 3.
    assert (pair.if_unscored_low, pair.if_unscored_high) == pytest.approx((0.25 / 3, 1.75 / 3))


def test_nothing_to_compare_is_no_number():
    (pair,) = paired_differences([[1, NAN], [NAN, 0]])
    assert pair.difference is None
    assert pair.test is None
    assert pair.n_set_aside == 2
