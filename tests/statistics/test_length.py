import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from evenhand.errors import InvalidInputError
from evenhand.statistics.contests import Contests
from evenhand.statistics.length import length_controlled_win_rates


def test_two_systems_are_the_length_term_of_alpaca_eval():
    """Against scikit-learn's logistic regression on tanh(difference / standard deviation), ties as half a win each."""
    generator = np.random.default_rng(0)
    difference = generator.normal(40, 100, 150)
    score = generator.choice([0.0, 0.5, 1.0], 150, p=[0.3, 0.2, 0.5])
    feature = np.tanh(difference / difference.std(ddof=1))
    design = np.column_stack([np.ones(150), feature])
    oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
    oracle.fit(np.vstack([design, design]), np.repeat([1, 0], 150), sample_weight=np.concatenate([score, 1 - score]))
    found = length_controlled_win_rates(Contests.of("ab", first=[0] * 150, second=[1] * 150, score=score), difference)
    assert found.scale == pytest.approx(difference.std(ddof=1))
    assert found.win_rates[0].estimate == pytest.approx(expit(oracle.coef_[0][0]), abs=1e-5)
    assert found.win_rates[1].estimate == pytest.approx(1 - expit(oracle.coef_[0][0]), abs=1e-5)
    assert found.length_effect.interval.estimate == pytest.approx(oracle.coef_[0][1], abs=1e-4)


def test_by_hand():
    # b is longer or shorter by one step of 10; at +10 a wins 3 of 4, at -10 1 of 2.
    # scale: 4 at +10 and 2 at -10, mean 10/3, sum of squares 600 - 6·100/9 = 533.33, over 5: 106.667, root 10.328.
    # logit at +: log 3 = intercept + phi·tanh(10/10.328), at -: 0 = intercept - phi·tanh(…): intercept = log(3)/2
    score = [1, 1, 1, 0, 1, 0]
    found = length_controlled_win_rates(
        Contests.of("ab", first=[0] * 6, second=[1] * 6, score=score), [10, 10, 10, 10, -10, -10]
    )
    assert found.scale == pytest.approx(10.328, abs=1e-3)
    assert found.win_rates[0].estimate == pytest.approx(3**0.5 / (1 + 3**0.5), abs=1e-7)
    assert found.length_effect.interval.estimate == pytest.approx(np.log(3) / 2 / np.tanh(10 / 10.328), abs=1e-4)


def test_who_stands_first_in_a_row_does_not_matter():
    generator = np.random.default_rng(2)
    first, second = np.tile([[0, 1, 2], [1, 2, 0]], 40)
    score, difference = generator.choice([0, 0.5, 1.0], 120), generator.normal(20, 50, 120)
    turn = generator.random(120) < 0.5
    one = length_controlled_win_rates(Contests.of("abc", first=first, second=second, score=score), difference)
    turned = Contests.of(
        "abc",
        first=np.where(turn, second, first),
        second=np.where(turn, first, second),
        score=np.where(turn, 1 - score, score),
    )
    other = length_controlled_win_rates(turned, np.where(turn, -difference, difference))
    assert other.scale == pytest.approx(one.scale)
    for ours, theirs in zip(one.win_rates, other.win_rates, strict=True):
        assert theirs.estimate == pytest.approx(ours.estimate, abs=1e-6)
        assert theirs.low == pytest.approx(ours.low, abs=1e-5)


@pytest.mark.parametrize(
    ("score", "difference", "reason"),
    [
        ([1, 0, 1, 0], [30, 30, 30, 30], "constant within every pair"),
        ([1, 0, 1, 0], [0, 0, 0, 0], "the same length"),
        ([1, 0, 1, 0], [50, -50, 40, -40], "complete separation"),
        ([1, 1, 1, 1], [50, -50, 40, -40], "'a': won every contest"),
        ([np.nan] * 4, [50, -50, 40, -40], "no contest has a score"),
        ([1, 0, 1, 0], [np.nan] * 4, "no contest has a score and a length difference"),
        # nearly constant: a is longer by 1e6 standard deviations, tanh is 1 throughout
        ([1, 0, 1, 0], [1e6, 1e6 + 1, 1e6 - 1, 1e6], "cannot be told from the systems"),
    ],
)
def test_not_identified_is_said(score, difference, reason):
    found = length_controlled_win_rates(Contests.of("ab", first=[0] * 4, second=[1] * 4, score=score), difference)
    assert found.win_rates == (None, None)
    assert reason in found.reason
    assert found.length_effect.interval is None
    assert found.length_effect.reason == found.reason


def test_unknown_lengths_are_counted_and_left_out():
    score, difference = [1, 0, 1, 0, 1, 1], [10, 10, -10, -10, np.nan, 10]
    found = length_controlled_win_rates(Contests.of("ab", first=[0] * 6, second=[1] * 6, score=score), difference)
    assert (found.contests, found.unused, found.reason) == (5, 1, None)


def test_wrong_shapes_are_refused():
    contests = Contests.of("ab", first=[0, 0], second=[1, 1], score=[1, 0])
    with pytest.raises(InvalidInputError, match="the contests are 2"):
        length_controlled_win_rates(contests, [1.0])
    with pytest.raises(InvalidInputError, match="infinite"):
        length_controlled_win_rates(contests, [1.0, np.inf])
