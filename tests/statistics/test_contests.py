import numpy as np
import pytest
from scipy.special import expit

from evenhand.statistics.contests import Contests, win_rate_intervals
from evenhand.statistics.ranking import rank_systems
from evenhand.statistics.strengths import fit_strengths


def test_win_rates_by_hand():
    contests = Contests.of(
        "abc", first=[0, 1, 0, 2], second=[1, 0, 2, 1], score=[1, 0.5, 0.75, np.nan], cluster=[0, 0, 1, 1]
    )
    a, b, c = sorted(rank_systems(contests).systems, key=lambda one: one.system)
    # a: 1, 0.5 and 0.75 of three
    assert a.winrate.estimate == pytest.approx(0.75)
    assert (a.contests, a.ties, a.num_unscored) == (3, 1, 0)
    assert (b.winrate.estimate, b.contests, b.ties, b.num_unscored) == (0.25, 3, 1, 1)
    assert (c.winrate.estimate, c.contests, c.ties, c.num_unscored) == (0.25, 2, 0, 1)
    assert a.winrate.n == 2


def test_interval_by_hand():
    # 3 of 4: s² = 4/3 · (3 · (1/4)² + (3/4)²) / 4² = 1/16; on the logit scale 3.182446 · (1/4) / (3/16) = 4.243261
    (rate,) = win_rate_intervals(np.array([[1], [1], [1], [0.0]]), np.ones((4, 1)))
    assert rate.low == pytest.approx(1 / (1 + np.exp(-(np.log(3) - 4.243261))), abs=1e-6)
    assert rate.high == pytest.approx(1 / (1 + np.exp(-(np.log(3) + 4.243261))), abs=1e-6)


def test_of_two_systems_it_is_the_interval_of_the_bradley_terry_strength():
    generator = np.random.default_rng(6)
    contests = Contests.of(
        "ab", first=[0] * 80, second=[1] * 80, score=generator.choice([0, 0.5, 1], 80), cluster=np.arange(80) // 3
    )
    own, rate = fit_strengths(contests, ties="half").strengths[0], win_rate_intervals(*contests.meetings.by_system)[0]
    shares = expit([2 * own.low, 2 * own.estimate, 2 * own.high])
    assert (rate.low, rate.estimate, rate.high) == pytest.approx(shares, abs=1e-6)
