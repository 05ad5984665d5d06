"""The corrected item-rest correlation against numpy, by hand, and its interval against known truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evenhand.errors import InvalidInputError
from evenhand.statistics.item_rest_correlation import item_rest_correlations

NAN = float("nan")


def oracle(table, item):
    table = np.asarray(table, dtype=float)
    rest = np.array(
        [np.nanmean(np.delete(row, item)) if not np.isnan(np.delete(row, item)).all() else NAN for row in table]
    )
    known = ~np.isnan(table[:, item]) & ~np.isnan(rest)
    return np.corrcoef(table[known, item], rest[known])[0, 1]


def test_by_hand():
    # item 0 against the means of the others: (1, 1/2, 1/2, 0); corr((1, 1, 0, 0), ...) = .25 / (.5 * sqrt(1/8))
    table = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    found = item_rest_correlations(table)[0]
    assert found.estimate == pytest.approx(0.125 / (0.5 * np.sqrt(0.125)))
    assert found.low <= found.estimate <= found.high
    assert (found.n, found.method, found.resamples) == (4, "dirichlet_bootstrap", 1000)


def test_missing_answers_leave_a_row_to_the_other_items():
    random = np.random.default_rng(5)
    table = (random.random((60, 4)) < random.random((60, 1))).astype(float)
    table[random.random(table.shape) < 0.2] = NAN
    for item, found in enumerate(item_rest_correlations(table)):
        assert found.estimate == pytest.approx(oracle(table, item))


def test_what_tells_nothing_has_no_correlation():
    passed = item_rest_correlations([[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 1, 1]])
    assert passed[0] is None  # everybody passes it
    assert passed[1] is not None
    assert item_rest_correlations([[1, 0], [0, 1]]) == (None, None)  # two rows say nothing
    assert item_rest_correlations([[1.0], [0.0], [1.0]]) == (None,)  # there are no others
    assert item_rest_correlations(np.empty((0, 2))) == (None, None)


def test_a_question_the_wrong_way_round_is_negative():
    ability = np.repeat([0, 1], 20)
    table = np.column_stack([ability, ability, 1 - ability])
    found = item_rest_correlations(table)
    assert found[2].estimate == pytest.approx(-1)
    assert found[2].low == pytest.approx(-1)
    assert -1 < found[2].high < 0  # a sample without an exception is no proof that there is none


def test_bad_input():
    with pytest.raises(InvalidInputError, match="shape"):
        item_rest_correlations([1, 0, 1])
    with pytest.raises(InvalidInputError, match="level"):
        item_rest_correlations([[1, 0]], level=2)


@settings(deadline=None)
@given(arrays.arrays(float, (6, 3), elements=st.sampled_from([0.0, 1.0, NAN])))
def test_the_order_of_rows_and_items_does_not_matter(table):
    forward = item_rest_correlations(table, resamples=50)
    backward = item_rest_correlations(table[::-1, ::-1], resamples=50)[::-1]
    for one, other in zip(forward, backward, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.estimate == pytest.approx(other.estimate)
            assert -1 <= one.low <= one.estimate <= one.high <= 1


def test_the_interval_covers_the_truth():
    """Responses of a random quality q, each question passed with probability q on its own."""
    random = np.random.default_rng(11)
    quality = random.beta(2, 2, 1_000_000)
    answers = (random.random((1_000_000, 4)) < quality[:, None]).astype(float)
    truth = np.corrcoef(answers[:, 0], answers[:, 1:].mean(axis=1))[0, 1]
    covered = 0
    for _ in range(200):
        quality = random.beta(2, 2, 60)
        sample = (random.random((60, 4)) < quality[:, None]).astype(float)
        found = item_rest_correlations(sample, resamples=300, seed=int(random.integers(2**31)))[0]
        covered += found is not None and found.low <= truth <= found.high
    assert covered / 200 >= 0.92  # nominal 95 %, standard error 1.5 %
