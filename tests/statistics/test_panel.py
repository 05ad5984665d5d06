"""The worth of a panel and the stability of draws: worked examples, numpy and scipy as oracles, known truth."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import draw_stability, effective_judges, greatest_unseen_share

NAN = math.nan


def correlated(rng, n, k, rho):
    """Values of k judges with the same variance and the correlation rho between any two."""
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, k))
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * own


class TestEffectiveJudges:
    def test_identical_judges_are_worth_one(self):
        found = effective_judges([[0.0] * 4, [0.5] * 4, [1.0] * 4, [0.5] * 4])
        assert found.mean_correlation.estimate == pytest.approx(1)
        assert found.effective.estimate == pytest.approx(1)
        assert found.mean_correlation.low < 1  # four instances do not prove that the judges never differ
        assert found.effective.high > 1
        assert (found.n_judges, found.n_used, found.n_pairs, found.n_undefined_pairs) == (4, 4, 6, 0)

    def test_a_negative_correlation_makes_no_panel_worth_more_than_its_judges(self):
        found = effective_judges([[0, 1], [1, 0], [0, 1], [1, 0]])
        assert found.mean_correlation.estimate == pytest.approx(-1)
        assert found.effective.estimate == 2
        assert found.effective.high == 2

    def test_a_judge_that_always_says_the_same_is_left_out(self):
        two = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [1, 1]], float)
        with_constant = np.column_stack([two, np.full(5, 0.5)])
        plain, found = effective_judges(two), effective_judges(with_constant)
        assert found.effective.estimate == pytest.approx(plain.effective.estimate)
        assert (found.n_judges, found.n_used, found.n_pairs, found.n_undefined_pairs) == (3, 2, 1, 2)

    def test_missing_votes_are_left_out_pair_by_pair(self):
        table = np.array([[1, 2, NAN], [2, 1, 1], [3, NAN, 2], [4, 4, 4], [NAN, 3, 1], [2, 5, NAN], [0, 1, 3]])
        expected = []
        for pair in combinations(range(3), 2):
            both = table[:, pair][~np.isnan(table[:, pair]).any(axis=1)]
            expected.append(np.corrcoef(both.T)[0, 1])
        found = effective_judges(table)
        assert found.mean_correlation.estimate == pytest.approx(np.mean(expected))
        assert found.mean_correlation.n == 7

    def test_two_shared_instances_are_no_correlation(self):
        table = [[0, 0, NAN], [1, 1, NAN], [0, 1, 1], [1, 0, 0]]
        found = effective_judges(table)
        assert (found.n_used, found.n_pairs) == (2, 1)

    def test_errors_against_a_reference_are_what_a_reference_leaves(self):
        # Both judges follow the truth; their errors (+1, -1, +1, -1) and (+1, +1, -1, -1) are uncorrelated.
        truth = np.array([0, 10, 20, 30.0])
        judges = truth[:, None] + np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])
        assert effective_judges(judges).effective.estimate < 1.01
        assert effective_judges(judges, truth).effective.estimate == pytest.approx(2)

    @pytest.mark.parametrize("table", [[[1.0], [2.0], [3.0]], [[1, 1], [2, 2]], [[1, 0]] * 5, [[NAN, NAN]] * 5])
    def test_without_two_judges_that_vary_it_is_undefined(self, table):
        with pytest.raises(EstimationError, match="undefined"):
            effective_judges(table)

    def test_shapes_that_do_not_fit_are_refused(self):
        with pytest.raises(InvalidInputError, match="n_instances, n_judges"):
            effective_judges([1, 2, 3])
        with pytest.raises(InvalidInputError, match="one value for 3 instances"):
            effective_judges([[1, 2], [2, 3], [3, 1]], [1, 2])

    def test_an_instance_that_no_two_judges_scored_does_not_matter(self):
        table = [[0, 1, NAN], [1, 1, 0], [1, 0, 1], [0, 0, 0]]
        assert effective_judges([*table, [NAN, NAN, 1], [NAN] * 3]) == effective_judges(table)

    @given(st.integers(2, 5), st.integers(4, 12), st.integers(0, 10_000))
    @settings(max_examples=40, deadline=None)
    def test_neither_units_nor_offset_nor_the_order_of_the_judges_matters(self, k, n, seed):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(n, k))
        found = effective_judges(table, resamples=20)
        moved = effective_judges(1e4 + 3 * table[:, rng.permutation(k)], resamples=20)
        assert moved.mean_correlation.estimate == pytest.approx(found.mean_correlation.estimate, abs=1e-6)
        assert 1 <= found.effective.low <= found.effective.estimate <= found.effective.high <= k
        assert -1 <= found.mean_correlation.low <= found.mean_correlation.estimate <= found.mean_correlation.high <= 1

    @pytest.mark.parametrize(("k", "rho"), [(3, 0.2), (5, 0.6)])
    def test_the_mean_of_the_panel_varies_as_that_of_so_many_independent_judges(self, k, rho):
        table = correlated(np.random.default_rng(1), 40_000, k, rho)
        found = effective_judges(table, resamples=2)
        assert found.effective.estimate == pytest.approx(k / (1 + (k - 1) * rho), rel=0.03)
        assert found.effective.estimate == pytest.approx(1 / table.mean(axis=1).var(), rel=0.03)

    def test_the_interval_covers_the_true_worth(self):
        rng = np.random.default_rng(2)
        truth = 3 / (1 + 2 * 0.5)
        covered = 0
        for seed in range(200):
            found = effective_judges(correlated(rng, 40, 3, 0.5), resamples=400, seed=seed).effective
            covered += found.low <= truth <= found.high
        assert covered >= 180  # 95 % of 200 less three standard deviations


class TestDrawStability:
    def test_pairs_of_draws_are_counted_within_a_cell(self):
        # 0 0 1: one pair of three. 1 1: one of one. 2 2 2: three of three. A lone draw: no pair.
        selections = [[[0, 0, 1], [1, 1, -1]], [[2, 2, 2], [0, -1, -1]]]
        assert draw_stability(selections).estimate == pytest.approx(5 / 7)
        assert draw_stability(selections).n == 2

    def test_the_first_two_draws_are_the_first_two_made(self):
        # 0 0 (then 1): equal. 1 1: equal. 2, unscored, 2: the second is missing, so there is no pair.
        selections = [[[0, 0, 1], [1, 1, -1]], [[2, -1, 2], [0, 1, -1]]]
        assert draw_stability(selections, first_two=True).estimate == pytest.approx(2 / 3)

    def test_without_two_draws_there_is_nothing_to_compare(self):
        assert draw_stability([[[0]], [[1]]]) is None
        assert draw_stability([[[-1, -1]]]) is None
        assert draw_stability([[[0, -1], [-1, 1]]]) is None

    def test_shapes_that_do_not_fit_are_refused(self):
        with pytest.raises(InvalidInputError, match="n_instances, n_cells, n_draws"):
            draw_stability([[0, 1]])
        with pytest.raises(InvalidInputError, match="integers"):
            draw_stability([[[0.5, 1.0]]])

    @given(
        st.lists(
            st.lists(st.lists(st.integers(-1, 3), min_size=4, max_size=4), min_size=2, max_size=2),
            min_size=1,
            max_size=6,
        )
    )
    @settings(deadline=None)
    def test_it_is_the_count_of_the_pairs(self, selections):
        pairs = [
            first == second
            for instance in selections
            for cell in instance
            for first, second in combinations([option for option in cell if option >= 0], 2)
        ]
        found = draw_stability(selections)
        assert (found is None) == (not pairs)
        if found is not None:
            assert found.estimate == pytest.approx(np.mean(pairs))

    def test_only_the_first_two_draws_survive_early_stopping(self):
        # Two draws of a judge that selects option 0 with probability 0.9 agree with probability 0.81 + 0.01 = 0.82. A
        # third draw is made only where the first two disagree.
        rng = np.random.default_rng(3)
        drawn = (rng.random((40_000, 1, 3)) >= 0.9).astype(int)
        stopped = np.where((drawn[:, :, :1] == drawn[:, :, 1:2]) & (np.arange(3) == 2), -1, drawn)
        assert draw_stability(drawn).estimate == pytest.approx(0.82, abs=0.006)
        assert draw_stability(stopped, first_two=True).estimate == pytest.approx(0.82, abs=0.006)
        assert draw_stability(stopped).estimate < 0.75


class TestGreatestUnseenShare:
    @pytest.mark.parametrize("draws", [1, 2, 3, 5, 20])
    @pytest.mark.parametrize("level", [0.8, 0.95])
    def test_it_is_the_one_sided_exact_limit_of_no_success(self, draws, level):
        limit = stats.binomtest(0, draws, alternative="less").proportion_ci(level, "exact").high
        assert greatest_unseen_share(draws, level=level) == pytest.approx(limit)

    def test_without_a_draw_there_is_no_limit(self):
        with pytest.raises(InvalidInputError, match="at least one draw"):
            greatest_unseen_share(0)
        with pytest.raises(InvalidInputError, match="level"):
            greatest_unseen_share(3, level=95)
