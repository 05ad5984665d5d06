"""Bets on a mean: by hand, against exact capitals, and how often they miss the truth at any of many looks."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.intervals import (
    CELLS,
    LOG_PRIOR,
    STAKES,
    ConfidenceSequence,
    IntervalLevel,
    mean_intervals,
)
from evenhand.statistics.ranking import betting_test

UNITS = st.integers(0, CELLS).map(lambda cell: cell / CELLS)


def capital(scores, mean, shares=None):
    """K(mean), as the definition has it: a product for each stake, in exact arithmetic."""
    m, weights = Fraction(mean), shares or [1] * len(scores)
    total = Fraction(0)
    for stake, prior in zip(STAKES, np.exp(LOG_PRIOR), strict=True):
        above = below = Fraction(1)
        for score, weight in zip(map(Fraction, scores), map(Fraction, weights), strict=True):
            above *= 1 + weight * Fraction(stake) * (score - m) / m
            below *= 1 - weight * Fraction(stake) * (score - m) / (1 - m)
        total += Fraction(prior) * (above + below) / 2
    return float(total)


class TestByHand:
    def test_one_stake(self):
        # A win, at the mean 1/2 and the stake c: 1 + c for the one gambler, 1 - c for the other; together nothing.
        assert ConfidenceSequence.of([1]).log_e_value() == pytest.approx(0.0, abs=1e-12)
        # Two wins: (1 + c)^2/2 + (1 - c)^2/2 = 1 + c^2.
        expected = 1 + float(np.sum(np.exp(LOG_PRIOR) * STAKES**2))
        assert math.exp(ConfidenceSequence.of([1, 1]).log_e_value()) == pytest.approx(expected)

    def test_shares_of_a_stake(self):
        # A cluster of half the size stakes half.
        given_shares = ConfidenceSequence.of([1, 0.5], [0.5, 1])
        assert math.exp(given_shares.log_e_value(0.25)) == pytest.approx(capital([1, 0.5], 0.25, [0.5, 1]), rel=1e-10)
        assert given_shares.mean == pytest.approx((0.5 * 1 + 1 * 0.5) / 1.5)

    def test_the_limits_are_where_the_capital_is_one_over_alpha(self):
        sequence = ConfidenceSequence.of([1] * 12 + [0.5] * 3 + [0] * 5)
        for limit in sequence.limits(0.9):
            assert math.exp(sequence.log_e_value(limit)) == pytest.approx(10.0)


class TestProperties:
    @given(st.lists(UNITS, min_size=1, max_size=40), st.randoms())
    @settings(max_examples=15, deadline=None)
    def test_order_and_sides_do_not_matter_and_the_mean_is_inside(self, scores, random):
        sequence = ConfidenceSequence.of(scores)
        low, high = sequence.limits(0.95)
        assert 0 <= low <= sequence.mean + 1e-9
        assert sequence.mean - 1e-9 <= high <= 1
        shuffled = random.sample(scores, len(scores))
        assert ConfidenceSequence.of(shuffled).limits(0.95) == pytest.approx((low, high), abs=1e-7)
        assert ConfidenceSequence.of([1 - score for score in scores]).limits(0.95) == pytest.approx(
            (1 - high, 1 - low), abs=1e-7
        )

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.05, 0.95))
    @settings(max_examples=15, deadline=None)
    def test_steps_never_add_evidence(self, scores, mean):
        assert ConfidenceSequence.of(scores).log_e_value(mean) <= math.log(capital(scores, mean)) + 1e-9

    def test_the_bets_are_fair_at_the_mean(self):
        # The mean of K(m) over all outcomes of scores with the mean m is 1: 3 scores of 0 (1/2), 1/4 (1/4), 1 (1/4).
        outcomes, chances, mean = (0.0, 0.25, 1.0), (0.5, 0.25, 0.25), 0.3125
        expected = sum(
            math.prod(chances[place] for place in places)
            * math.exp(ConfidenceSequence.of([outcomes[place] for place in places]).log_e_value(mean))
            for places in np.ndindex(3, 3, 3)
        )
        assert expected == pytest.approx(1.0)


class TestAsAnInterval:
    def test_means_and_clusters(self):
        scores = [1, 1, 0.5, 1, 0, 1, 1, 1]
        (mean,) = mean_intervals(scores, level=IntervalLevel(0.9, None, "anytime"))
        assert (mean.method, mean.n) == ("betting", 8)
        assert (mean.low, mean.high) == pytest.approx(ConfidenceSequence.of(scores).limits(0.9))
        clustered = IntervalLevel(0.9, ["a", "a", "b", "c", "c", "c", "c", "d"], "anytime")
        (held,) = mean_intervals(scores, level=clustered)
        # The sums of the clusters are 2, .5, 3 and 1 of 2, 1, 4 and 1; the largest has 4.
        sequence = ConfidenceSequence.of([1, 0.5, 0.75, 1], [0.5, 0.25, 1, 0.25])
        assert (held.low, held.high) == pytest.approx(sequence.limits(0.9))
        assert held.estimate == mean.estimate == sequence.mean

    def test_other_bounds(self):
        (score,) = mean_intervals([1, 5, 4, 5], level=IntervalLevel(0.95, None, "anytime"), bounds=(1, 5))
        low, high = ConfidenceSequence.of([0, 1, 0.75, 1]).limits()
        assert (score.low, score.high) == pytest.approx((1 + 4 * low, 1 + 4 * high))

    def test_the_test_of_one_half(self):
        test = betting_test(np.array([2.0, 0.5, 0.0]), np.array([2.0, 1.0, 0.0]))
        assert test.p_value == ConfidenceSequence.of([1, 0.5], [1, 0.5]).p_value()
        assert test.clusters == 1
