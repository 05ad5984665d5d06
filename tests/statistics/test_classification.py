"""Accuracy, confusion matrix and errors of values, beside scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_squared_error
from sklearn.metrics import confusion_matrix as sklearn_matrix

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import accuracy, confusion_matrix, mean_intervals, value_errors

NAN = math.nan
CATEGORY = st.one_of(st.integers(0, 3), st.none())
PAIRS = st.lists(st.tuples(CATEGORY, CATEGORY), min_size=1, max_size=40)
UNIT = st.floats(0, 1, allow_subnormal=False)


def columns(pairs):
    return (
        np.array([NAN if value is None else value for value in side], dtype=float) for side in zip(*pairs, strict=True)
    )


@given(PAIRS)
@settings(max_examples=150, deadline=None)
def test_the_matrix_is_scikit_learns_and_drops_nothing(pairs):
    matrix = np.array(confusion_matrix(*columns(pairs), 4))
    assert matrix.sum() == len(pairs)
    complete = [pair for pair in pairs if None not in pair]
    expected = sklearn_matrix(*zip(*complete, strict=True), labels=range(4)) if complete else np.zeros((4, 4))
    assert (matrix[:4, :4] == expected).all()
    assert matrix[4].sum() == sum(truth is None for truth, _ in pairs)
    assert matrix[:, 4].sum() == sum(judged is None for _, judged in pairs)


@given(PAIRS)
@settings(max_examples=100, deadline=None)
def test_accuracy_is_scikit_learns_over_the_complete_pairs(pairs):
    truth, judged = columns(pairs)
    complete = [pair for pair in pairs if None not in pair]
    if not complete:
        with pytest.raises(EstimationError, match="no unit has both"):
            accuracy(truth, judged)
        return
    found = accuracy(truth, judged)
    assert found.estimate == pytest.approx(accuracy_score(*zip(*complete, strict=True)))
    assert found.n == len(complete)
    assert (
        found.estimate <= accuracy(truth, judged, within=1).estimate <= accuracy(truth, judged, within=3).estimate == 1
    )


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_errors_are_scikit_learns(pairs):
    truth, judged = zip(*pairs, strict=True)
    found = value_errors(truth, judged)
    assert found.root_mean_square.estimate == pytest.approx(math.sqrt(mean_squared_error(truth, judged)), abs=1e-7)
    assert found.mean_absolute.estimate == pytest.approx(mean_absolute_error(truth, judged), abs=1e-12)
    assert found.bias.estimate == pytest.approx(np.mean(judged) - np.mean(truth), abs=1e-12)
    for interval in (found.root_mean_square, found.mean_absolute, found.bias):
        assert interval.low <= interval.estimate <= interval.high


def test_the_limits_of_the_root_are_the_roots_of_the_limits():
    truth, judged = [0, 1, 1, 0.5], [0.5, 1, 0.75, NAN]
    (mean_square,) = mean_intervals([0.25, 0, 0.0625])
    found = value_errors(truth, judged).root_mean_square
    assert found.n == 3
    assert (found.low**2, found.high**2) == pytest.approx((mean_square.low, mean_square.high))


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InvalidInputError, match=r"shapes \(2,\) and \(3,\)"):
        accuracy([0, 1], [0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"category 4.0 is not one of 0 … 3"):
        confusion_matrix([0], [4], 4)
    with pytest.raises(InvalidInputError, match=r"category 0.5 is not"):
        confusion_matrix([0], [0.5], 4)
    with pytest.raises(InvalidInputError, match=r"outside \[0, 1\]"):
        value_errors([0, 5], [0, 1])
    with pytest.raises(EstimationError, match="no unit has both"):
        value_errors([NAN], [1])
