"""Repetition and draw stability: worked examples, another package's cases, known truth."""

import pytest
from scipy import stats

from evenhand.statistics.consistency import (
    NOT_ASKED,
    UNSCORED,
    greatest_unseen_share,
    repetition_stability,
)


def test_by_hand():
    # Three alike; two of three; three different; two alike and one unscored; a lone verdict; none; one not asked.
    selections = [[0, 0, 0], [0, 1, 0], [0, 1, 2], [2, 2, UNSCORED], [1, UNSCORED, UNSCORED]]
    selections += [[UNSCORED] * 3, [NOT_ASKED] * 3, [1, 1, NOT_ASKED]]
    found = repetition_stability(selections)
    assert (found.n, found.n_repeated, found.n_lone, found.n_unscored) == (7, 5, 1, 6)
    assert found.mode_share.estimate == pytest.approx((1 + 2 / 3 + 1 / 3 + 1 + 1) / 5)
    assert found.pair_agreement.estimate == pytest.approx((1 + 1 / 3 + 0 + 1 + 1) / 5)


class TestGreatestUnseenShare:
    @pytest.mark.parametrize("draws", [1, 2, 3, 5, 20])
    @pytest.mark.parametrize("level", [0.8, 0.95])
    def test_it_is_the_one_sided_exact_limit_of_no_success(self, draws, level):
        limit = stats.binomtest(0, draws, alternative="less").proportion_ci(level, "exact").high
        assert greatest_unseen_share(draws, level=level) == pytest.approx(limit)
