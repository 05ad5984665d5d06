"""Corrected scores: worked examples, properties, other computations as oracles, and simulations with known truth."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from evenhand.numbers import Missing
from evenhand.statistics.correction import corrected_mean, draw_p_value
from evenhand.statistics.intervals import IntervalLevel

NAN = float("nan")
DESIGNS = ("random", "by_verdict", "probabilities")


def judged_and_true(generator, rows=300, rate=0.6, right=(0.85, 0.85)):
    """0/1 scores of a judge that is right about bad rows, and about good ones, with these probabilities."""
    truth = (generator.random(rows) < rate).astype(float)
    judged = np.where(generator.random(rows) < np.where(truth == 1, right[1], right[0]), truth, 1 - truth)
    return judged, truth


def some_labelled(generator, truth, labels):
    """Random rows with their labels, NaN elsewhere."""
    human = np.full(truth.shape, NAN)
    chosen = generator.permutation(len(truth))[:labels]
    human[chosen] = truth[chosen]
    return human


def judged_and_labelled(seed=0, rows=300, labels=60):
    generator = np.random.default_rng(seed)
    judged, truth = judged_and_true(generator, rows)
    return judged, some_labelled(generator, truth, labels)


def test_the_limits_are_quantiles_of_weighted_beta_variables():
    """So many rows that frequencies are known, .7 and .3; the sum of two Beta variables by numeric integration."""
    judged = np.array([1.0] * 14_000 + [0.0] * 6_000)
    human = np.full(20_000, NAN)
    human[:40] = [1.0] * 36 + [0.0] * 4
    human[14_000:14_020] = [1.0] * 3 + [0.0] * 17
    found = corrected_mean(judged, human, design="random", support=(0, 1)).corrected

    def below(limit, near, far):
        p = (np.arange(2000) + 0.5) / 2000
        good = stats.beta.cdf((limit - 0.3 * p) / 0.7, 36 + far, 4 + near)
        return (stats.beta.pdf(p, 3 + far, 17 + near) * good).mean()

    low = optimize.brentq(lambda c: below(c, 0.5, 0.3) - 0.025, 0.3, 0.7, xtol=1e-4)
    high = optimize.brentq(lambda c: below(c, 0.3, 0.5) - 0.975, 0.6, 0.9, xtol=1e-4)
    assert found.low == pytest.approx(low, abs=0.006)
    assert found.high == pytest.approx(high, abs=0.006)


def test_the_standard_error_is_that_of_tuned_prediction_powered_inference():
    """For a 0/1 judge and many labels PPI++ with its best weight is the same estimate (arXiv 2311.01453, section 6)."""
    judged, human = judged_and_labelled(rows=4000, labels=1000)
    known = ~np.isnan(human)
    y, f, others = human[known], judged[known], judged[~known]
    n, m = len(y), len(others)
    weight = np.cov(y, f)[0, 1] / ((1 + n / m) * judged.var())
    error = np.sqrt((y - weight * f).var() / n + weight**2 * others.var() / m)
    estimate = y.mean() + weight * (others.mean() - f.mean())
    found = corrected_mean(judged, human, design="random", support=(0, 1)).corrected
    assert found.standard_error == pytest.approx(error, rel=0.02)
    assert found.estimate == pytest.approx(estimate, abs=0.1 * error)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.04)


def test_rows_that_the_judge_left_unscored_are_a_stratum():
    """Of 60 rows 20 are unscored; people say 1/10 of these are good, and 8/10 of the rest: 1/3 · .1 + 2/3 · .8."""
    judged = np.array([NAN] * 20 + [1.0] * 40)
    human = np.full(60, NAN)
    human[:10] = [1.0] + [0.0] * 9
    human[20:30] = [1.0] * 8 + [0.0] * 2
    said = np.array([-1] * 20 + [0] * 40)
    for strata in (None, said):
        found = corrected_mean(judged, human, strata=strata, design="random", support=(0, 1))
        assert found.judge.estimate == 1
        assert found.num_unscored == 20
        assert found.corrected.estimate == pytest.approx(17 / 30)


def test_a_stratum_that_nobody_labelled_could_have_any_score():
    """A quarter of the rows: without them .75 · 20/20, with them all of .25 more."""
    judged = np.array([1.0] * 75 + [0.0] * 25)
    human = np.full(100, NAN)
    human[:20] = 1.0
    found = corrected_mean(judged, human, design="by_verdict", support=(0, 1))
    assert found.corrected.low < 0.75
    assert found.corrected.high == 1
    assert found.notes == ("no row of some strata is labelled, 25 % of all rows: these could have any score",)


def test_labels_with_probabilities_stand_for_as_many_rows():
    """A judge that says the same of all: (1/.5 · 1 + 1/.25 · 0 + 1/.25 · 1) / (2 + 4 + 4)."""
    human = [1.0, 0.0, 1.0, *[NAN] * 7]
    chances = [0.5, 0.25, 0.25, *[0.3] * 7]
    found = corrected_mean([1.0] * 10, human, design="probabilities", probabilities=chances, support=(0, 1))
    assert found.labels.estimate == pytest.approx(0.6)
    assert found.corrected == found.labels
    assert found.method == "labels alone"
    assert found.notes[0] == "the judge said the same of every row: the corrected score is that of the labels"
    assert "are worth 1.0 equal ones" in found.notes[1]


@pytest.mark.parametrize("design", DESIGNS)
def test_where_every_row_is_labelled_the_judge_adds_nothing(design):
    judged, human = judged_and_labelled(rows=50, labels=50)
    found = corrected_mean(judged, human, design=design, support=(0, 1), probabilities=np.ones(50))
    assert found.corrected == found.labels
    assert found.corrected.estimate == human.mean()
    assert found.method == "labels alone"
    assert found.labels_saved == 0


def test_a_difference_from_rows_labelled_for_one_system_each():
    """Of 20 rows judged (1, 0), 6 labelled for the first, 5 of them good, and 8 for the second, 2 good: 5/6 - 2/8."""
    judged = np.array([[1.0, 0.0]] * 20)
    human = np.full((20, 2), NAN)
    human[:6, 0] = [1, 1, 1, 1, 1, 0]
    human[6:14, 1] = [1, 1, 0, 0, 0, 0, 0, 0]
    found = corrected_mean(judged, human, design="random", support=(0, 1))
    assert found.judge.estimate == 1
    assert found.corrected.estimate == pytest.approx(5 / 6 - 2 / 8)
    assert found.num_labelled == 14


@st.composite
def data_sets(draw):
    """Few rows with few levels, of which any may be unscored, and any labelled."""
    rows = draw(st.integers(1, 40))
    level = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    judged = draw(st.lists(st.one_of(level, st.just(NAN)), min_size=rows, max_size=rows))
    human = draw(st.lists(st.one_of(level, st.just(NAN)), min_size=rows, max_size=rows))
    return np.array(judged), np.array(human)


@settings(max_examples=20, deadline=None)
@given(data_sets(), st.sampled_from(DESIGNS), st.booleans())
@example((np.array([0.0, 1.0]), np.array([NAN, NAN])), "random", False)
def test_a_correction_is_within_the_bounds_or_missing_with_a_reason(data, design, clustered):
    judged, human = data
    level = IntervalLevel(clusters=[row // 3 for row in range(len(judged))] if clustered else None)
    support = (0.0, 0.25, 0.5, 1.0)
    chances = np.full(len(judged), 0.5)
    found = corrected_mean(judged, human, design=design, support=support, probabilities=chances, level=level)
    if np.isnan(human).all():
        assert found.corrected == found.labels == found.labels_saved == Missing("no row is labelled")
    assert isinstance(found.corrected, Missing) == bool(np.isnan(human).all())
    for interval in (found.judge, found.labels, found.corrected):
        if not isinstance(interval, Missing):
            assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert isinstance(found.labels_saved, Missing) or np.isfinite(found.labels_saved)


@settings(max_examples=15, deadline=None)
@given(data_sets(), st.integers(0, 3))
def test_neither_the_order_of_rows_nor_the_unit_matters(data, seed):
    judged, human = np.tile(data[0], 3), np.tile(data[1], 3)
    options = {"design": "random"}
    expected = corrected_mean(judged, human, **options).corrected
    if isinstance(expected, Missing):
        return
    order = np.random.default_rng(seed).permutation(len(judged))
    again = corrected_mean(judged[order], human[order], **options).corrected
    scaled = corrected_mean(1 + 4 * judged, 1 + 4 * human, bounds=(1.0, 5.0), **options).corrected
    for name in ("estimate", "low", "high"):
        assert getattr(again, name) == pytest.approx(getattr(expected, name), abs=1e-9)
        assert getattr(scaled, name) == pytest.approx(1 + 4 * getattr(expected, name), abs=1e-8)


def test_a_random_draw_is_seldom_doubted_and_its_p_values_are_uniform():
    generator = np.random.default_rng(0)
    strata = generator.choice(4, size=400, p=[0.6, 0.3, 0.08, 0.02])
    found = []
    for seed in range(40):
        labelled = np.zeros(400, dtype=bool)
        labelled[generator.choice(400, size=50, replace=False)] = True
        found.append(draw_p_value(strata, labelled, seed=seed))
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_a_draw_by_the_verdict_is_doubted():
    strata = np.repeat([0, 1], [360, 40])
    labelled = np.zeros(400, dtype=bool)
    labelled[:25] = labelled[360:385] = True  # 25 of each verdict, though one is nine times as frequent
    assert draw_p_value(strata, labelled) == pytest.approx(1e-4)
