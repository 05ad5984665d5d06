"""Do the intervals hold the truth as often as they say? 120 data sets each, the outcomes of a prompt dependent."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from evenhand.statistics.contests import Contests, win_rates
from evenhand.statistics.length import length_controlled_win_rates
from evenhand.statistics.paired_differences import compare_pairs
from evenhand.statistics.ranking import rank_systems
from evenhand.statistics.strengths import fit_strengths
from tests.statistics.simulated_contests import expected_score, simulated_contests

DATA_SETS = 120
"""The standard error of a rate of 0.95 over so many is 0.02."""
SCENARIOS = {
    "equal systems, position advantage": {"strengths": (0.0, 0.0, 0.0), "advantage": 0.8, "ties": 0.0},
    "unequal systems, ties": {"strengths": (0.9, 0.3, -0.2, -1.0), "advantage": 0.5, "ties": 0.6},
}


def data_sets(scenario, seed, number=DATA_SETS):
    generator = np.random.default_rng(seed)
    for _ in range(number):
        yield simulated_contests(generator, **SCENARIOS[scenario])


def holds(interval, truth):
    return interval.low <= truth <= interval.high


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_win_rates(scenario):
    strengths, advantage, ties = (SCENARIOS[scenario][name] for name in ("strengths", "advantage", "ties"))
    margins = np.subtract.outer(strengths, strengths)
    in_both_orders = (expected_score(margins + advantage, ties) + expected_score(margins - advantage, ties)) / 2
    size = len(strengths)
    truth = (in_both_orders.sum(axis=1) - 0.5) / (size - 1)
    rates = [[record.win_rate for record in win_rates(contests)] for contests in data_sets(scenario, 1)]
    held = np.mean([[holds(rate, true) for rate, true in zip(row, truth, strict=True)] for row in rates], axis=0)
    assert 0.915 <= held.mean() <= 0.985
    assert (held >= 0.9).all()
    error = np.std([[rate.estimate for rate in row] for row in rates], axis=0) / DATA_SETS**0.5
    assert (np.abs(np.mean([[rate.estimate for rate in row] for row in rates], axis=0) - truth) < 4 * error).all()


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_pairs(scenario):
    strengths, advantage, ties = (SCENARIOS[scenario][name] for name in ("strengths", "advantage", "ties"))
    margins = np.subtract.outer(strengths, strengths)
    head_to_head = (expected_score(margins + advantage, ties) + expected_score(margins - advantage, ties)) / 2
    rate = (head_to_head.sum(axis=1) - 0.5) / (len(strengths) - 1)
    pairs = list(combinations(range(len(strengths)), 2))
    compared = [list(zip(pairs, compare_pairs(contests), strict=True)) for contests in data_sets(scenario, 6)]
    met = [[holds(pair.win_rate, head_to_head[i, j]) for (i, j), pair in row] for row in compared]
    differ = [[holds(pair.difference, rate[i] - rate[j]) for (i, j), pair in row] for row in compared]
    assert 0.915 <= np.mean(met) <= 0.985
    assert 0.915 <= np.mean(differ) <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_strengths_ties_and_position_advantage(scenario):
    truth = SCENARIOS[scenario]
    fits = [fit_strengths(contests, order_effect=True) for contests in data_sets(scenario, 2, 200)]
    held = np.mean(
        [
            [holds(s.log_strength, true) for s, true in zip(fit.strengths, truth["strengths"], strict=True)]
            for fit in fits
        ],
        axis=0,
    )
    # The standard error of a rate of 0.95 over 200 is 0.0154.
    assert 0.92 <= held.mean() <= 0.98
    assert (held >= 0.91).all()
    advantages = [fit.position_log_odds.interval for fit in fits]
    assert 0.91 <= np.mean([holds(interval, truth["advantage"]) for interval in advantages]) <= 0.99
    estimates = [interval.estimate for interval in advantages]
    assert np.mean(estimates) == pytest.approx(truth["advantage"], abs=0.025)
    if truth["ties"]:
        assert 0.91 <= np.mean([holds(fit.tie.interval, truth["ties"]) for fit in fits]) <= 0.99


@pytest.mark.slow
def test_equal_systems_are_told_apart_as_rarely_as_the_level_says():
    tests = [
        [pair.difference_test for pair in compare_pairs(contests)]
        for contests in data_sets("equal systems, position advantage", 3)
    ]
    alone = np.mean([[test.p_value < 0.05 for test in row] for row in tests])
    any_of_them = np.mean([any(test.adjusted_p_value < 0.05 for test in row) for row in tests])
    assert 0.02 <= alone <= 0.08
    assert any_of_them <= 0.09  # 0.05 and two Monte Carlo errors


@pytest.mark.slow
def test_rank_intervals_hold_the_true_ranks_together_of_nearly_equal_systems():
    generator = np.random.default_rng(4)
    truth = (1, 2, 3, 4)
    held = []
    for _ in range(100):
        contests = simulated_contests(generator, (0.15, 0.05, -0.05, -0.15), advantage=0.5, ties=0.4)
        ranks = {each.system: each.rank for each in rank_systems(contests, resamples=1).systems}
        held.append(
            all(rank.low <= true <= rank.high for (_, rank), true in zip(sorted(ranks.items()), truth, strict=True))
        )
    assert np.mean(held) >= 0.906  # 0.95 less two Monte Carlo errors


@pytest.mark.slow
def test_length_controlled_win_rates():
    """System 0 writes more and the judge likes length: the truth is the win rate at equal length, 0.5 for equals."""
    generator = np.random.default_rng(5)
    held, effects, controlled, plain = [], [], [], []
    for _ in range(DATA_SETS):
        difference = generator.normal(1.0, np.sqrt(2), 100)
        won = generator.random(100) < expit(1.2 * np.tanh(difference / np.sqrt(2)))
        contests = Contests.of("ab", first=[0] * 100, second=[1] * 100, score=won.astype(float))
        found = length_controlled_win_rates(contests, difference)
        held.append(holds(found.win_rates[0], 0.5))
        effects.append(holds(found.length_effect.interval, 1.2))
        controlled.append(found.win_rates[0].estimate)
        plain.append(won.mean())
    assert np.mean(plain) > 0.6
    assert np.mean(controlled) == pytest.approx(0.5, abs=0.02)
    assert 0.9 <= np.mean(held) <= 0.99
    assert 0.9 <= np.mean(effects) <= 0.99
