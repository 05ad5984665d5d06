"""Planned half-widths and power are those of the intervals and tests that are reported."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from evenhand.labels.plan import corrected_half_width, fewest, half_width, power
from evenhand.statistics.correction import corrected_mean
from evenhand.statistics.intervals import IntervalLevel, mean_intervals
from evenhand.statistics.paired_differences import paired_test

NAN = float("nan")


def levels(random, rows, columns, *, count=5, mean=0.6, spread=0.3, alike=0.0):
    """Scores on levels from 0 to 1, of columns whose qualities correlate."""
    shared, own = random.standard_normal((rows, 1)), random.standard_normal((rows, columns))
    quality = mean + spread * (math.sqrt(alike) * shared + math.sqrt(1 - alike) * own)
    return np.clip(np.round(quality * (count - 1)), 0, count - 1) / (count - 1)


def reached(intervals):
    return float(np.mean([(each.high - each.low) / 2 for each in intervals]))


@pytest.mark.parametrize("rows", [60, 250])
@pytest.mark.parametrize("mean", [0.5, 0.8])
def test_planned_half_widths_of_yes_no_scores_come(rows, mean):
    found = mean_intervals((np.random.default_rng(3).random((rows, 300)) < mean).astype(float))
    assert half_width(math.sqrt(mean * (1 - mean)), rows, 0.95, yes_no=True) == pytest.approx(reached(found), rel=0.03)


@pytest.mark.parametrize("size", [1, 4])
def test_planned_half_widths_of_scales_come(size):
    """Rows of a cluster are alike: their standard deviation is √size times as large."""
    random = np.random.default_rng(5)
    scores = np.repeat(levels(random, 240 // size, 200), size, axis=0)
    over = IntervalLevel(0.95, [row // size for row in range(240)]) if size > 1 else 0.95
    planned = half_width(float(scores.std()) * math.sqrt(size), 240, 0.95, per_row=1 / size)
    assert planned == pytest.approx(reached(mean_intervals(scores, level=over)), rel=0.03)


@pytest.mark.parametrize(("count", "spread", "rows"), [(2, 1.0, 150), (5, 0.3, 120)])
def test_planned_power_comes(count, spread, rows):
    """Within 3 points and 3 standard errors, for a difference planned for 80 %."""
    random, sets = np.random.default_rng(7), 400
    many = levels(random, 200_000, 2, count=count, spread=spread, alike=0.5)
    sd, correlation = float(many.std()), float(np.corrcoef(many.T)[0, 1])
    apart = sd * math.sqrt(2 * (1 - correlation))
    assert apart == pytest.approx(float(np.subtract(*many.T).std()), rel=0.01)
    difference = next(
        each / 1000 for each in range(1000) if power(each / 1000, apart, rows, 0.05, yes_no=count == 2) >= 0.8
    )
    # the first system's mean is raised by giving it the higher score of the two in a share of the rows
    gain = difference / float(np.abs(np.subtract(*many.T)).mean())

    told = 0
    for _ in range(sets):
        apart_now = np.subtract(*levels(random, rows, 2, count=count, spread=spread, alike=0.5).T)
        turned = np.where(random.random(rows) < gain, np.abs(apart_now), apart_now)
        told += paired_test(turned).p_value < 0.05
    assert abs(told / sets - 0.8) < 0.03 + 3 * math.sqrt(0.16 / sets)


def test_many_rows_take_what_the_textbook_says():
    """n = (z sd / h)², and (z₁ + z₂) errors apart less the step of an exact test."""
    z, z_power = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.8)
    assert fewest(lambda n: half_width(0.5, n, 0.95, yes_no=True) <= 0.01) == math.ceil((z * 0.5 / 0.01) ** 2)
    apart = 0.5 * math.sqrt(2)
    rows = fewest(lambda n: power(0.03, apart, n, 0.05, yes_no=True) >= 0.8)
    assert (rows * 0.03 - 1) / (apart * math.sqrt(rows)) == pytest.approx(z + z_power, abs=0.005)


@pytest.mark.parametrize(("accuracy", "labels"), [(0.85, 100), (0.9, 60), (0.6, 100)])
def test_planned_corrected_half_widths_come(accuracy, labels):
    random, widths = np.random.default_rng(5), []
    for _ in range(40):
        human = (random.random(800) < 0.6).astype(float)
        judged = np.where(random.random(800) < accuracy, human, 1 - human)
        known = np.where(random.permutation(800) < labels, human, NAN)
        widths.append(corrected_mean(judged, known, design="random", support=[0, 1]).corrected)
    human = (random.random(200_000) < 0.6).astype(float)
    together = np.corrcoef(human, np.where(random.random(human.size) < accuracy, human, 1 - human))[0, 1]
    planned = corrected_half_width(math.sqrt(0.24), together**2, labels, 800, 0.95, yes_no=True)
    assert planned == pytest.approx(reached(widths), rel=0.06)
