"""Paired differences: by hand, against scipy, and by simulation with known truth."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics.clusters import IntervalLevel
from evenhand.statistics.paired_differences import paired_differences

NAN = float("nan")


@pytest.mark.parametrize(("wins", "losses", "ties"), [(9, 1, 4), (14, 6, 0), (3, 0, 20), (40, 22, 8)])
def test_on_0_1_scores_the_test_is_mcnemars(wins: int, losses: int, ties: int):
    rows = [[1, 0]] * wins + [[0, 1]] * losses + [[1, 1]] * ties
    (pair,) = paired_differences(rows)
    assert pair.test is not None
    assert pair.test.p_value == pytest.approx(stats.binomtest(wins, wins + losses, 0.5).pvalue)
    assert pair.difference is not None
    assert pair.difference.estimate == pytest.approx((wins - losses) / len(rows))


def test_few_rows_are_tested_over_all_signs():
    differences = [0.3, 0.1, -0.05, 0.2, 0.45]
    (pair,) = paired_differences([[0.5 + each, 0.5] for each in differences])
    observed = abs(sum(differences))
    listed = [abs(np.dot(signs, differences)) >= observed - 1e-9 for signs in product((1, -1), repeat=5)]
    assert pair.test is not None
    assert pair.test.p_value == pytest.approx(np.mean(listed))


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
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (0, 2), (1, 2)]
    # 2 / 2^8 twice and 1: Holm multiplies by 3, then by 2 but no less than before, then by 1.
    adjusted = [pair.test.adjusted_p_value for pair in found if pair.test is not None]
    assert adjusted == pytest.approx([6 / 2**8, 6 / 2**8, 1.0])


def test_what_only_one_has_is_set_aside_and_bounded():
    rows = [[1, 0.5], [NAN, 0.5], [1, NAN], [NAN, NAN]]
    low = [[1, 0.5], [0, 0.5], [1, 0.25], [NAN, 0]]
    high = [[1, 0.5], [1, 0.5], [1, 0.75], [NAN, 1]]
    (pair,) = paired_differences(rows, low=low, high=high)
    assert (pair.n_paired, pair.n_set_aside) == (1, 2)
    # The last row does not apply to the first system: (0.5 - 0.5 + 0.25) / 3 and (0.5 + 0.5 + 0.75) / 3.
    assert (pair.if_unscored_low, pair.if_unscored_high) == pytest.approx((0.25 / 3, 1.75 / 3))


def test_nothing_to_compare_is_no_number():
    (pair,) = paired_differences([[1, NAN], [NAN, 0]])
    assert pair.difference is None
    assert pair.test is None
    assert pair.n_set_aside == 2


@pytest.mark.parametrize("scores", [[[1.5, 0]], [1, 0], [[[1, 0]]]])
def test_what_are_no_scores_is_refused(scores):
    with pytest.raises(InvalidInputError):
        paired_differences(scores)


def test_a_simulated_difference_is_held_and_equal_systems_are_left_alone():
    """A lighter form of ``benchmarks.paired_differences``; 3 standard errors of 250 data sets are 4 points."""
    generator = np.random.default_rng(5)
    held, wrong, sets = 0, 0, 250
    level = IntervalLevel(0.95, clusters=[row // 5 for row in range(100)])
    for _ in range(sets):
        document = np.repeat(generator.normal(size=(20, 3)) * 0.8, 5, axis=0)
        quality = document + generator.normal(size=(100, 1)) + generator.normal(size=(100, 3))
        scores = (quality > [0.0, 0.0, 0.0]).astype(float)
        found = paired_differences(scores, level=level)
        held += sum(pair.difference.low <= 0 <= pair.difference.high for pair in found if pair.difference is not None)
        wrong += any(pair.test.adjusted_p_value < 0.05 for pair in found if pair.test is not None)
    assert held / (3 * sets) >= 0.93
    assert wrong / sets <= 0.05 + 0.04
