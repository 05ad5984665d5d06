import itertools

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import uniformity


def test_the_plain_test_is_scipys():
    counts = np.array([[3, 0, 1], [2, 2, 0], [4, 0, 0], [0, 0, 0]])
    result = uniformity(counts)
    expected = stats.chisquare(counts.sum(axis=0))
    assert (result.chi_square, result.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert (result.counts, result.degrees_of_freedom, result.n_instances) == ((9, 2, 1), 2, 3)


def test_the_shift_test_is_the_share_of_all_arrangements():
    rows = np.array([[3, 0, 0], [2, 1, 0], [2, 0, 1], [3, 0, 0], [1, 1, 1]])
    observed = (rows.sum(axis=0) ** 2).sum()
    squares = [
        (np.sum([np.roll(row, shift) for row, shift in zip(rows, shifts, strict=True)], axis=0) ** 2).sum()
        for shifts in itertools.product(range(3), repeat=5)
    ]
    exact = np.mean(np.array(squares) >= observed)
    assert uniformity(rows, draws=40_000).shift_p_value == pytest.approx(exact, abs=0.006)


def test_rows_that_say_nothing_say_nothing():
    result = uniformity([[1, 1, 1]] * 5)
    assert (result.chi_square, result.p_value, result.shift_p_value) == (0.0, 1.0, 1.0)


def test_five_instances_stuck_to_the_first_of_two():
    # All five at one end: 2 of 2^5 arrangements; the plain test takes ten votes for independent: chi2 = 10.
    result = uniformity([[2, 0]] * 5, draws=20_000)
    assert result.chi_square == 10
    assert result.p_value < 0.002
    assert result.shift_p_value == pytest.approx(2 / 32, abs=0.006)


def test_it_is_reproducible():
    rows = [[3, 0, 0], [2, 1, 0], [0, 1, 2], [3, 0, 0]]
    assert uniformity(rows, seed=4) == uniformity(rows, seed=4)
    assert uniformity(rows, draws=5000, seed=4).shift_p_value != uniformity(rows, draws=5000, seed=5).shift_p_value


@pytest.mark.slow
def test_the_shift_test_holds_its_level_where_the_plain_one_does_not():
    generator = np.random.default_rng(3)
    plain, shifted = [], []
    for _ in range(400):
        # Every instance is drawn to a place of its own, three votes of four; no place is preferred over all.
        home = generator.integers(4, size=40)
        votes = np.where(generator.random((40, 4)) < 0.75, home[:, None], generator.integers(4, size=(40, 4)))
        counts = (votes[:, :, None] == np.arange(4)).sum(axis=1)
        result = uniformity(counts, draws=199)
        plain.append(result.p_value <= 0.05)
        shifted.append(result.shift_p_value <= 0.05)
    assert np.mean(plain) > 0.2
    # The standard error of a rate of 0.05 over 400 is 0.011.
    assert 0.02 <= np.mean(shifted) <= 0.08


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uniformity([[1.5, 2]]), "whole numbers"),
        (lambda: uniformity([[1, -2]]), "whole numbers"),
        (lambda: uniformity([[1]]), "at least 2"),
        (lambda: uniformity([1, 2]), "shape"),
        (lambda: uniformity([[1, 2]], draws=0), "draws is 0"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_a_choice_there_is_no_test():
    with pytest.raises(EstimationError, match="without a choice"):
        uniformity([[0, 0], [0, 0]])
