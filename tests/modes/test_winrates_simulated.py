"""Winrates through the whole pipeline before judges whose preferences are known exactly."""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit, logit

from evenhand import winrates
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.question import comparison_criterion

ADVANTAGE = float(logit(0.7))
"""Between equals the response shown first wins 70 %: its winrate is off by 0.2 when only one order is shown."""


@cache
def simulated(prompts, quality, **judge):
    """Systems a and b on so many prompts; a is better by ``quality`` in log-odds."""
    engine = SimulatedEngine(quality=lambda question, index: quality * (question.responses[index][0] == "a"), **judge)
    rows = [{"a": f"a{prompt}", "b": f"b{prompt}"} for prompt in range(prompts)]
    return winrates(
        rows,
        comparison_criterion("better", "Which response is better?"),
        engine,
        response_fields=["a", "b"],
        flow="one_step",
        max_reasks=0,
        include_prompts_in_result=False,
        progress=False,
    )


def score_of_a(quality):
    """Expected score and its variance: both orders, ½ unless they name the same winner."""
    won = expit([quality + ADVANTAGE, quality - ADVANTAGE])
    both_won, both_lost = np.prod(won), np.prod(1 - won)
    mean = 0.5 + both_won / 2 - both_lost / 2
    return mean, both_won + (1 - both_won - both_lost) / 4 - mean**2


def expect_winrate(table, mean, variance):
    """The estimate is within three Monte Carlo errors of the truth."""
    rate = table.winrate("a")
    assert abs(rate.estimate - mean) < 3 * np.sqrt(variance / rate.n)
    assert rate.low < mean < rate.high


@pytest.mark.slow
def test_equal_systems_before_a_judge_that_likes_the_first():
    table = simulated(900, 0.0, position_preference=ADVANTAGE)
    assert score_of_a(0.0)[0] == 0.5
    expect_winrate(table, *score_of_a(0.0))
    first_only = table.rescore(on_position_bias="first")
    expect_winrate(first_only, 0.7, 0.7 * 0.3)
    # The orders disagree in 0.7 · 0.7 + 0.3 · 0.3 of the contests, in 0.49 of 0.58 for the first.
    assert table.summary.positional_bias.estimate == pytest.approx(0.58, abs=0.05)
    assert table.summary.position.first_shown_share.estimate == pytest.approx(0.49 / 0.58, abs=0.05)
    assert table.summary.position.p_value < 1e-6
    assert len(table.ranking.groups) == 1


@pytest.mark.slow
@pytest.mark.parametrize("quality", [0.0, 0.8])
def test_the_order_effect_and_the_strengths_are_those_simulated(quality):
    table = simulated(2400 if quality else 900, quality, position_preference=ADVANTAGE)
    position = table.ranking.position
    assert logit(position.low) < ADVANTAGE < logit(position.high)
    assert position.estimate == pytest.approx(0.7, abs=0.04)
    strength = table.system("a").strength
    assert strength.low < quality / 2 < strength.high
    assert strength.estimate == pytest.approx(quality / 2, abs=0.08)
