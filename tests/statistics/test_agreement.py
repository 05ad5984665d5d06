"""Coefficients of agreement beside other packages; accuracy and errors of values beside scikit-learn."""

import csv
import gzip
import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error, mean_squared_error
from sklearn.metrics import confusion_matrix as sklearn_matrix

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics.agreement import (
    accuracy,
    cohen_kappa,
    confusion_matrix,
    krippendorff_alpha,
    percent_agreement,
    value_errors,
)
from evenhand.statistics.intervals import IntervalLevel
from tests.support.shared import shared_path

NAN = math.nan


def read_panel():
    with gzip.open(shared_path("data/llmjudge_trecdl23_panel.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    with shared_path("data/llmjudge_trecdl23_published.csv").open() as file:
        published = list(csv.DictReader(file))
    return rows, published


def test_the_published_kappas_and_alphas_of_33_labellers_recompute():
    rows, published = read_panel()
    human = np.array([float(row["human"]) for row in rows])
    kappas, alphas = [], []
    level = IntervalLevel(resamples=1)
    for row in published:
        labels = np.array([float(cells[row["submission"]]) for cells in rows])
        kappas.append((cohen_kappa(human, labels, level=level).estimate, float(row["cohen_kappa"])))
        for grade, name in enumerate(("kappa_0|123", "kappa_01|23", "kappa_012|3"), start=1):
            split = cohen_kappa(human >= grade, labels >= grade, level=level)
            kappas.append((split.estimate, float(row[name])))
        alpha = krippendorff_alpha(np.column_stack([human, labels]), metric="ordinal", level=level)
        alphas.append((alpha.estimate, float(row["krippendorff_alpha_ordinal"])))
    assert (len(kappas), len(alphas)) == (132, 33)
    assert np.abs(np.subtract(*zip(*kappas, strict=True))).max() < 6e-5  # four decimals were published
    assert np.abs(np.subtract(*zip(*alphas, strict=True))).max() < 2e-4


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40),
    st.sampled_from([None, "linear", "quadratic"]),
)
@settings(max_examples=60, deadline=None)
def test_kappa_is_scikit_learns(pairs, weights):
    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) == 1:
        with pytest.raises(EstimationError, match="only one category"):
            cohen_kappa(first, second, weights=weights)
        return
    ours = cohen_kappa(first, second, weights=weights, categories=range(5), level=IntervalLevel(resamples=5))
    assert ours.estimate == pytest.approx(cohen_kappa_score(first, second, weights=weights, labels=range(5)), abs=1e-12)
    assert ours.low <= ours.estimate <= ours.high <= 1
    swapped = cohen_kappa(second, first, weights=weights, level=IntervalLevel(resamples=5), categories=range(5))
    assert swapped.estimate == pytest.approx(ours.estimate)


@given(
    st.lists(st.lists(st.sampled_from([1.0, 2.0, 3.0, 5.0, NAN]), min_size=3, max_size=3), min_size=2, max_size=25),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
@settings(max_examples=60, deadline=None)
def test_alpha_is_that_of_the_package_krippendorff(rows, metric):
    ratings = np.array(rows)
    pairable = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    if np.unique(pairable[~np.isnan(pairable)]).size < 2:
        with pytest.raises(EstimationError):
            krippendorff_alpha(ratings, metric=metric)
        return
    expected = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=metric)
    result = krippendorff_alpha(ratings, metric=metric, level=IntervalLevel(resamples=5))
    assert result.estimate == pytest.approx(expected, abs=1e-9)
    assert result.n == len(pairable)


def test_alpha_of_two_judges_by_hand():
    # Coincidences: 00 twice, 11 twice, 01 and 10 once each; N = 6, n = (3, 3).
    # D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 0.6; alpha = 1 - 0.3333 / 0.6.
    result = krippendorff_alpha([[0, 0], [1, 1], [0, 1], [1, NAN]])
    assert result.estimate == pytest.approx(4 / 9)
    assert result.n == 3


def test_percent_agreement_by_hand():
    # Pairs that agree: 3 of 3, 1 of 3, 1 of 1; the unit with one rating has no pair.
    result = percent_agreement([[1, 1, 1], [1, 2, 2], [2, NAN, 2], [NAN, 1, NAN]])
    assert result.estimate == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert result.n == 3


@pytest.mark.parametrize("statistic", [krippendorff_alpha, lambda r: cohen_kappa(*np.transpose(r))])
def test_perfect_agreement_of_ten_units_is_not_certainty(statistic):
    result = statistic([[0, 0], [1, 1]] * 5)
    assert result.estimate == 1
    assert result.high == 1
    assert result.low < 0.7
    longer = statistic([[0, 0], [1, 1]] * 500)
    assert 0.97 < longer.low < 1


@pytest.mark.parametrize("statistic", [krippendorff_alpha, lambda r: cohen_kappa(*np.transpose(r))])
def test_one_category_throughout_is_undefined_and_says_what_to_report(statistic):
    with pytest.raises(EstimationError, match="one category"):
        statistic([[1, 1], [1, 1]])


def test_the_order_of_an_ordinal_scale_is_the_callers():
    ratings = [[1, 1], [2, 2], [3, 3], [1, 3], [2, 3]]
    usual = krippendorff_alpha(ratings, metric="ordinal").estimate
    assert krippendorff_alpha(ratings, metric="ordinal", categories=[3, 2, 1]).estimate == pytest.approx(usual)
    assert krippendorff_alpha(ratings, metric="ordinal", categories=[1, 3, 2]).estimate != pytest.approx(usual)


CATEGORY = st.one_of(st.integers(0, 3), st.none())
PAIRS = st.lists(st.tuples(CATEGORY, CATEGORY), min_size=1, max_size=40)
UNIT = st.floats(0, 1, allow_subnormal=False)


def columns(pairs):
    return (
        np.array([NAN if value is None else value for value in side], dtype=float) for side in zip(*pairs, strict=True)
    )


@given(PAIRS)
@settings(max_examples=60, deadline=None)
def test_the_matrix_is_scikit_learns_and_drops_nothing(pairs):
    matrix = np.array(confusion_matrix(*columns(pairs), 4))
    assert matrix.sum() == len(pairs)
    complete = [pair for pair in pairs if None not in pair]
    expected = sklearn_matrix(*zip(*complete, strict=True), labels=range(4)) if complete else np.zeros((4, 4))
    assert (matrix[:4, :4] == expected).all()
    assert matrix[4].sum() == sum(truth is None for truth, _ in pairs)
    assert matrix[:, 4].sum() == sum(judged is None for _, judged in pairs)


@given(PAIRS)
@settings(max_examples=60, deadline=None)
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
@settings(max_examples=60, deadline=None)
def test_errors_are_scikit_learns(pairs):
    truth, judged = zip(*pairs, strict=True)
    found = value_errors(truth, judged)
    assert found.root_mean_square.estimate == pytest.approx(math.sqrt(mean_squared_error(truth, judged)), abs=1e-7)
    assert found.mean_absolute.estimate == pytest.approx(mean_absolute_error(truth, judged), abs=1e-12)
    assert found.bias.estimate == pytest.approx(np.mean(judged) - np.mean(truth), abs=1e-12)
    for interval in (found.root_mean_square, found.mean_absolute, found.bias):
        assert interval.low <= interval.estimate <= interval.high


def test_what_the_data_do_not_define_is_named():
    with pytest.raises(InvalidInputError, match=r"rating 7.0 is not in the scale"):
        krippendorff_alpha([[1, 7]], categories=[1, 2])
    with pytest.raises(EstimationError, match="no unit has the ratings of two"):
        krippendorff_alpha([[1, NAN]])
    with pytest.raises(EstimationError, match="no unit has both"):
        value_errors([NAN], [1])
