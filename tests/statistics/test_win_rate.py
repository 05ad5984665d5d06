import numpy as np
import pytest

from evenhand.statistics.contests import Contests
from evenhand.statistics.paired_comparisons import fit_bradley_terry
from evenhand.statistics.win_rate import win_rate_intervals, win_rates


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


def test_interval_by_hand():
    # 3 of 4: s² = 4/3 · (3 · (1/4)² + (3/4)²) / 4² = 1/16; on the logit scale 3.182446 · (1/4) / (3/16) = 4.243261
    (rate,) = win_rate_intervals(np.array([[1], [1], [1], [0.0]]), np.ones((4, 1)))
    assert rate.low == pytest.approx(1 / (1 + np.exp(-(np.log(3) - 4.243261))), abs=1e-6)
    assert rate.high == pytest.approx(1 / (1 + np.exp(-(np.log(3) + 4.243261))), abs=1e-6)


def test_of_two_systems_it_is_the_interval_of_the_bradley_terry_share():
    generator = np.random.default_rng(6)
    contests = Contests.of(
        "ab", first=[0] * 80, second=[1] * 80, score=generator.choice([0, 0.5, 1], 80), cluster=np.arange(80) // 3
    )
    share, rate = fit_bradley_terry(contests).strengths[0].share, win_rates(contests)[0].win_rate
    assert (rate.low, rate.estimate, rate.high) == pytest.approx((share.low, share.estimate, share.high), abs=1e-6)


@pytest.mark.parametrize("score", [1.0, 0.0, 0.5])
def test_without_any_spread_the_interval_still_has_a_width(score):
    (rate,) = win_rate_intervals(np.full((12, 1), score), np.ones((12, 1)))
    assert rate.method == "bounded_dirichlet"
    assert 0.05 < rate.high - rate.low < 0.6
