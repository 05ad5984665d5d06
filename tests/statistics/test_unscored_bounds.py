"""Unscored is not random: when the bounds lead, and what the mean holds where it does."""

import pytest

from evenhand.numbers import format_score
from evenhand.statistics import mean_intervals
from evenhand.statistics.intervals import IntervalLevel, unscored_bounds

OPEN = (0.0, 1.0)


def test_a_third_unscored_lets_the_bounds_lead():
    (score,) = mean_intervals([1.0] * 19 + [0.0])
    found = unscored_bounds(score, [(1.0, 1.0)] * 19 + [(0.0, 0.0)] + [OPEN] * 10)
    assert found is not None
    assert (found.low, found.high, found.share) == pytest.approx((19 / 30, 29 / 30, 1 / 3))
    assert found.interval_low < found.low < found.high < found.interval_high
    assert format_score(score, found).startswith("0.63–0.97 [")
    assert format_score(score, found).endswith("], 33 % of rows affected")


def test_1_of_800_unscored_at_a_half_does_not():
    scores = [0.0, 1.0] * 400
    (score,) = mean_intervals(scores[:-1])
    assert unscored_bounds(score, [(each, each) for each in scores[:-1]] + [OPEN]) is None
    assert format_score(score, None).startswith("0.50")


@pytest.mark.parametrize(("unscored", "leads"), [(17, True), (12, False)])
def test_the_threshold_is_a_fifth_of_the_half_width(unscored: int, leads: bool):
    # 700 of 1,400 read: the half-width is about 1.96 · 0.5 / √1400 = 0.0262, a fifth of it 0.0052. Unscored votes move
    # the mean by half their share at the worst: 17 of 1,417 by 0.0060, 12 of 1,412 by 0.0042.
    (score,) = mean_intervals([0.0, 1.0] * 700)
    assert (unscored_bounds(score, [(0.0, 0.0), (1.0, 1.0)] * 700 + [OPEN] * unscored) is not None) == leads


def test_what_does_not_apply_is_not_unscored():
    (score,) = mean_intervals([1.0, 0.0])
    assert unscored_bounds(score, [(1.0, 1.0), (0.0, 0.0), None, None]) is None


def test_the_brackets_are_over_clusters():
    limits = [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0), OPEN, OPEN] * 3
    (score,) = mean_intervals([1.0, 1.0, 0.0, 0.0] * 3)
    alone = unscored_bounds(score, limits)
    together = unscored_bounds(score, limits, level=IntervalLevel(0.95, [row // 2 for row in range(18)]))
    assert alone is not None
    assert together is not None
    assert together.interval_low < alone.interval_low
