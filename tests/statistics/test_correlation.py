"""The worth of a panel: by hand, numpy as oracle, known truth."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import EstimationError
from evenhand.statistics.agreement import effective_judges
from evenhand.statistics.intervals import IntervalLevel

NAN = float("nan")


class TestEffectiveJudges:
    def test_identical_judges_are_worth_one(self):
        worth, correlation = effective_judges([[0.0] * 4, [0.5] * 4, [1.0] * 4, [0.5] * 4])
        assert correlation.estimate == pytest.approx(1)
        assert worth.estimate == pytest.approx(1)
        assert correlation.low < 1  # four instances do not prove that the judges never differ
        assert worth.high > 1

    def test_missing_votes_are_left_out_pair_by_pair(self):
        table = np.array([[1, 2, NAN], [2, 1, 1], [3, NAN, 2], [4, 4, 4], [NAN, 3, 1], [2, 5, NAN], [0, 1, 3]])
        expected = []
        for pair in combinations(range(3), 2):
            both = table[:, pair][~np.isnan(table[:, pair]).any(axis=1)]
            expected.append(np.corrcoef(both.T)[0, 1])
        _, correlation = effective_judges(table)
        assert correlation.estimate == pytest.approx(np.mean(expected))
        assert correlation.n == 7

    def test_errors_against_a_reference_are_what_a_reference_leaves(self):
        # Both judges follow the truth; their errors (+1, -1, +1, -1) and (+1, +1, -1, -1) are uncorrelated.
        truth = np.array([0, 10, 20, 30.0])
        judges = truth[:, None] + np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])
        assert effective_judges(judges)[0].estimate < 1.01
        assert effective_judges(judges, truth)[0].estimate == pytest.approx(2)

    @pytest.mark.parametrize("table", [[[1.0], [2.0], [3.0]], [[1, 1], [2, 2]], [[1, 0]] * 5, [[NAN, NAN]] * 5])
    def test_without_two_judges_that_vary_it_is_undefined(self, table):
        with pytest.raises(EstimationError, match="undefined"):
            effective_judges(table)

    @given(st.integers(2, 5), st.integers(4, 12), st.integers(0, 10_000))
    @settings(max_examples=20, deadline=None)
    def test_neither_units_nor_offset_nor_the_order_of_the_judges_matters(self, k, n, seed):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(n, k))
        worth, correlation = effective_judges(table, level=IntervalLevel(resamples=20))
        _, moved = effective_judges(1e4 + 3 * table[:, rng.permutation(k)], level=IntervalLevel(resamples=20))
        assert moved.estimate == pytest.approx(correlation.estimate, abs=1e-6)
        assert 1 <= worth.low <= worth.estimate <= worth.high <= k
        assert -1 <= correlation.low <= correlation.estimate <= correlation.high <= 1
