import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.calibration import brier_score, calibration
from evenhand.statistics.intervals import IntervalLevel


@given(
    st.lists(st.tuples(st.integers(0, 40).map(lambda k: k / 40), st.integers(0, 1)), min_size=2, max_size=60),
    st.integers(1, 10),
)
@settings(max_examples=30, deadline=None)
def test_the_bins_are_scikit_learns(rows, bins):
    confidences, outcomes = np.array(rows).T
    if len(np.unique(outcomes)) < 2:
        return
    accuracy, confidence = calibration_curve(outcomes, confidences, n_bins=bins, strategy="uniform")
    found = calibration(confidences, outcomes, bins=bins, draws=100)
    beside = np.abs(confidences[:, None] - np.linspace(0, 1, bins + 1))
    if ((beside > 0) & (beside < 1e-9)).any():
        return  # edges that scikit-learn's rounding moves past a confidence
    assert [one.accuracy.estimate for one in found.bins] == pytest.approx(accuracy, abs=1e-9)
    assert [one.mean_confidence for one in found.bins] == pytest.approx(confidence, abs=1e-9)
    assert sum(one.n for one in found.bins) == found.n == len(rows)
    sizes = np.array([one.n for one in found.bins])
    expected = float(sizes @ np.abs(accuracy - confidence) / len(rows))
    assert found.expected_calibration_error == pytest.approx(expected, abs=1e-9)


def test_by_hand():
    # Five bins of equal width. 0.1, 0.2 (on the edge: below) with outcomes 0, 1: 0.5 against 0.15; 0.7 twice with 1, 1.
    found = calibration([0.1, 0.2, 0.7, 0.7, np.nan, 0.5], [0, 1, 1, 1, 1, np.nan], bins=5)
    low, high = found.bins
    assert (low.low, low.high, low.n, low.accuracy.estimate) == (0.0, pytest.approx(0.2), 2, 0.5)
    assert low.mean_confidence == pytest.approx(0.15)
    assert (high.n, high.accuracy.estimate, high.mean_confidence) == (2, 1.0, pytest.approx(0.7))
    # (2 · 0.35 + 2 · 0.3) / 4 = 0.325; overconfidence (0.15 + 0.7) / 2 - 3/4.
    assert found.expected_calibration_error == pytest.approx(0.325)
    assert found.overconfidence.estimate == pytest.approx(0.425 - 0.75)
    assert (found.n, found.n_set_aside, found.n_clusters) == (4, 2, 4)


def test_noise_alone_is_not_taken_for_miscalibration():
    generator = np.random.default_rng(1)
    confidences = generator.random(60)
    plain, debiased, p_values = [], [], []
    for _ in range(60):
        found = calibration(confidences, generator.random(60) < confidences, draws=100)
        plain.append(found.expected_calibration_error)
        debiased.append(found.debiased_error.estimate)
        p_values.append(found.p_value)
    assert np.mean(plain) > 0.1
    assert found.error_if_calibrated == pytest.approx(np.mean(plain), rel=0.1)
    assert np.mean(debiased) < 0.4 * np.mean(plain)
    assert np.mean(np.array(debiased) == 0) > 0.3
    # Under calibration the p-values are uniform: 60 of them.
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_a_known_error_is_found():
    # Confidence 0.95 and right in 70 %, confidence 0.55 and right in 55 %: the error is 0.5 · 0.25.
    generator = np.random.default_rng(2)
    sure = np.arange(2000) % 2 == 0
    outcomes = generator.random(2000) < np.where(sure, 0.7, 0.55)
    found = calibration(np.where(sure, 0.95, 0.55), outcomes, level=0.99)
    assert found.debiased_error.low < 0.125 < found.debiased_error.high
    assert found.p_value < 0.001
    assert found.overconfidence.low < 0.125 < found.overconfidence.high
    assert found.debiased_error.high - found.debiased_error.low < 0.12


def test_rows_of_a_cluster_count_together():
    # Fifteen responses of eight items each, whose items are right or wrong together at the confidence claimed.
    generator = np.random.default_rng(4)
    confidences = np.repeat(generator.uniform(0.3, 0.9, 15), 8)
    outcomes = np.repeat(generator.random(15) < confidences[::8], 8)
    clusters = np.repeat(np.arange(15), 8)
    alone = calibration(confidences, outcomes, bins=4)
    together = calibration(confidences, outcomes, bins=4, level=IntervalLevel(0.95, clusters))
    assert together.n_clusters == 15
    assert together.expected_calibration_error == pytest.approx(alone.expected_calibration_error)
    assert together.error_if_calibrated > 2 * alone.error_if_calibrated
    assert together.p_value > alone.p_value
    assert together.debiased_error.high > alone.debiased_error.high


def test_it_is_reproducible():
    data = np.random.default_rng(3)
    confidences, outcomes = data.random(40), data.integers(0, 2, 40)
    assert calibration(confidences, outcomes, seed=7) == calibration(confidences, outcomes, seed=7)
    assert calibration(confidences, outcomes, seed=7).p_value != calibration(confidences, outcomes, seed=8).p_value


def test_a_single_row_says_next_to_nothing():
    found = calibration([0.8], [1])
    assert found.expected_calibration_error == pytest.approx(0.2)
    assert found.debiased_error.low == 0
    assert found.p_value > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.15])
def test_the_interval_covers_the_true_error(gap):
    generator = np.random.default_rng(5)
    values = np.array([0.05, 0.35, 0.75, 0.95])
    true = np.clip(values - gap * values, 0, 1)
    # Four confidences, each in a bin of its own and equally often: the error is the mean of the gaps.
    truth = float(np.abs(values - true).mean())
    for n in (60, 240):
        held, repeats = 0, 60
        for _ in range(repeats):
            chosen = generator.integers(4, size=n)
            found = calibration(values[chosen], generator.random(n) < true[chosen], draws=200).debiased_error
            held += found.low - 1e-9 <= truth <= found.high
        # The standard error of a rate of 0.95 over 60 is 0.028.
        assert held >= 0.88 * repeats


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibration([1.2], [1]), "confidence is 1.2"),
        (lambda: calibration([0.2], [2]), "outcome is 2.0"),
        (lambda: calibration([[0.2]], [[1]]), "twice"),
        (lambda: calibration([0.2], [1], bins=0), "bins is 0"),
        (lambda: calibration([0.2], [1], draws=10), "draws is 10"),
        (lambda: calibration([0.2], [1], level=IntervalLevel(0.95, [1, 2])), "one label per row"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_a_row_it_is_undefined():
    with pytest.raises(EstimationError, match="no row"):
        calibration([], [])


ROWS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@given(ROWS, st.one_of(st.none(), st.integers(1, 12)))
@settings(max_examples=60, deadline=None)
def test_it_is_scikit_learns_and_its_parts_add_up(rows, bins):
    confidences, outcomes = np.array(rows).T
    found = brier_score(confidences, outcomes, bins=bins)
    expected = brier_score_loss(outcomes, confidences, labels=[0, 1])
    assert found.score.estimate == pytest.approx(expected, abs=1e-9)
    parts = found.reliability - found.resolution + found.uncertainty + found.within_groups
    assert parts == pytest.approx(expected, abs=1e-9)
    assert min(found.reliability, found.resolution, found.uncertainty) >= 0
    if bins is None:
        assert found.within_groups == pytest.approx(0, abs=1e-9)
    if bins == 1:
        assert (found.groups, found.resolution) == (1, pytest.approx(0, abs=1e-12))


def test_brier_by_hand():
    # 0.9: 3 of 4; 0.4: 1 of 2. Base 4/6. Score (3 · 0.01 + 0.81 + 0.36 + 0.16) / 6 = 1.36 / 6.
    # Reliability (4 · 0.0225 + 2 · 0.01) / 6, resolution (4 · (1/12)² + 2 · (1/6)²) / 6, uncertainty 2/9.
    found = brier_score([0.9, 0.9, 0.9, 0.9, 0.4, 0.4, np.nan, 0.3], [1, 1, 1, 0, 1, 0, 1, np.nan])
    assert found.score.estimate == pytest.approx(1.36 / 6)
    assert found.reliability == pytest.approx(0.11 / 6)
    assert found.resolution == pytest.approx((4 / 144 + 2 / 36) / 6)
    assert found.uncertainty == pytest.approx(2 / 9)
    assert found.skill == pytest.approx(1 - (1.36 / 6) / (2 / 9))
    assert (found.n, found.n_set_aside, found.groups) == (6, 2, 2)
    assert found.base_rate == pytest.approx(2 / 3)


def test_without_two_kinds_of_outcome_there_is_no_skill():
    assert brier_score([0.9, 0.8], [1, 1]).skill is None


def test_brier_rows_of_a_cluster_count_together():
    generator = np.random.default_rng(0)
    confidences, outcomes = np.repeat(generator.random(15), 8), np.repeat(generator.integers(0, 2, 15), 8)
    alone = brier_score(confidences, outcomes).score
    together = brier_score(confidences, outcomes, level=IntervalLevel(0.95, np.repeat(np.arange(15), 8))).score
    assert (together.n, together.estimate) == (15, pytest.approx(alone.estimate))
    assert together.high - together.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier_score([1.2], [1]), "confidence is 1.2"),
        (lambda: brier_score([0.2], [0.5]), "outcome is 0.5"),
        (lambda: brier_score([0.2, 0.3], [1]), "twice"),
        (lambda: brier_score([0.2], [1], bins=0), "bins is 0"),
    ],
)
def test_brier_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_brier_without_a_row_it_is_undefined():
    with pytest.raises(EstimationError, match="no row"):
        brier_score([np.nan], [1])
