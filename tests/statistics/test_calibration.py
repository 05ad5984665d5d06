import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from evenhand.statistics.agreement import calibration


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
    found = calibration(confidences, outcomes, bins=bins)
    beside = np.abs(confidences[:, None] - np.linspace(0, 1, bins + 1))
    if ((beside > 0) & (beside < 1e-9)).any():
        return  # edges that scikit-learn's rounding moves past a confidence
    assert found.brier.n == len(rows)
    sizes = np.bincount(np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidences))  # an edge is of the bin below
    sizes = sizes[sizes > 0]
    expected = float(sizes @ np.abs(accuracy - confidence) / len(rows))
    assert found.expected_calibration_error == pytest.approx(expected, abs=1e-9)


def test_by_hand():
    # Five bins of equal width. 0.1, 0.2 (on the edge: below) with outcomes 0, 1: 0.5 against 0.15; 0.7 twice with 1, 1.
    found = calibration([0.1, 0.2, 0.7, 0.7, np.nan, 0.5], [0, 1, 1, 1, 1, np.nan], bins=5)
    # (2 · 0.35 + 2 · 0.3) / 4 = 0.325; overconfidence (0.15 + 0.7) / 2 - 3/4.
    assert found.expected_calibration_error == pytest.approx(0.325)
    assert found.overconfidence.estimate == pytest.approx(0.425 - 0.75)
    assert found.brier.n == 4


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_brier_score_is_scikit_learns(rows):
    confidences, outcomes = np.array(rows).T
    expected = brier_score_loss(outcomes, confidences, labels=[0, 1])
    assert calibration(confidences, outcomes).brier.estimate == pytest.approx(expected, abs=1e-9)
