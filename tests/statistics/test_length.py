import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from evenhand.numbers import Missing
from evenhand.statistics.contests import Contests
from evenhand.statistics.strengths import length_controlled_win_rates, verbosity_slope


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
    assert found[0].estimate == pytest.approx(expit(oracle.coef_[0][0]), abs=1e-5)
    assert found[1].estimate == pytest.approx(1 - expit(oracle.coef_[0][0]), abs=1e-5)


def test_by_hand():
    # b is longer or shorter by one step of 10; at +10 a wins 3 of 4, at -10 1 of 2.
    # scale: 4 at +10 and 2 at -10, mean 10/3, sum of squares 600 - 6·100/9 = 533.33, over 5: 106.667, root 10.328.
    # logit at +: log 3 = intercept + phi·tanh(10/10.328), at -: 0 = intercept - phi·tanh(…): intercept = log(3)/2
    score = [1, 1, 1, 0, 1, 0]
    found = length_controlled_win_rates(
        Contests.of("ab", first=[0] * 6, second=[1] * 6, score=score), [10, 10, 10, 10, -10, -10]
    )
    assert found[0].estimate == pytest.approx(3**0.5 / (1 + 3**0.5), abs=1e-7)


@pytest.mark.parametrize(
    ("score", "difference", "reason"),
    [
        ([1, 0, 1, 0], [30, 30, 30, 30], "cannot be distinguished from the systems"),
        ([1, 0, 1, 0], [0, 0, 0, 0], "both responses of every contest have the same length"),
        ([1, 0, 1, 0], [50, -50, 40, -40], "complete separation"),
        ([1, 1, 1, 1], [50, -50, 40, -40], "between systems that both win some contests"),
        ([np.nan] * 4, [50, -50, 40, -40], "no contest has a score"),
        ([1, 0, 1, 0], [np.nan] * 4, "no contest has a score, both lengths"),
        # nearly constant: a is longer by 1e6 standard deviations, tanh is 1 throughout
        ([1, 0, 1, 0], [1e6, 1e6 + 1, 1e6 - 1, 1e6], "cannot be distinguished from the systems"),
    ],
)
def test_not_identified_is_said(score, difference, reason):
    found = length_controlled_win_rates(Contests.of("ab", first=[0] * 4, second=[1] * 4, score=score), difference)
    assert [reason in each.reason for each in found] == [True, True]


def test_it_is_logistic_regression_without_an_intercept():
    generator = np.random.default_rng(0)
    lengths = np.exp(generator.normal(6, 0.7, (300, 2))).round()
    quality, shown = generator.normal(0, 1, 300), generator.choice([-1, 1], 300)
    score = generator.choice([0.0, 0.5, 1.0], 300)
    design = np.column_stack([np.log((1 + lengths[:, 0]) / (1 + lengths[:, 1])), quality, shown])
    oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
    weights = np.concatenate([score, 1 - score])
    oracle.fit(np.vstack([design, design]), np.repeat([1, 0], 300), sample_weight=weights)
    found = verbosity_slope(score, lengths, quality_difference=quality, shown_first=shown)
    assert found.slope.estimate == pytest.approx(oracle.coef_[0][0], abs=1e-4)
    doubled = found.win_probability_at_double
    assert doubled.estimate == pytest.approx(expit(oracle.coef_[0][0] * np.log(2)), abs=1e-4)
    assert doubled.low == pytest.approx(expit(found.slope.low * np.log(2)))


def test_the_robust_standard_error_by_hand():
    # One ratio, log 2, 3 of 4 won: η = log 3, p = 3/4. H = 4 · (log 2)² · 3/16. Scores log 2 · (y - 3/4):
    # squares 3 · 1/16 + 9/16 = 3/4 (log 2)²; times 4/3 for four clusters: V = (log 2)² / (3/4 (log 2)²)².
    found = verbosity_slope([1, 1, 1, 0], [[1, 0]] * 4)
    error = np.log(2) / (0.75 * np.log(2) ** 2)
    quantile = 3.182446305
    interval = found.slope
    assert interval.estimate == pytest.approx(np.log(3) / np.log(2))
    assert interval.high - interval.estimate == pytest.approx(quantile * error, rel=1e-6)


@pytest.mark.parametrize(
    ("score", "lengths", "reason"),
    [
        ([1, 0, 1], [[5, 5]] * 3, "both responses of every contest have the same length"),
        ([1, 1, 0], [[5, 2], [9, 3], [1, 4]], "complete separation"),
        ([np.nan, 1], [[5, 2], [np.nan, 3]], "no contest has a score"),
        ([], np.empty((0, 2)), "no contest has a score"),
    ],
)
def test_verbosity_not_identified_is_said(score, lengths, reason):
    found = verbosity_slope(score, lengths)
    assert isinstance(found, Missing)
    assert reason in found.reason


def test_the_term_for_systems_is_a_column_a_system_less_one():
    generator = np.random.default_rng(3)
    size, strengths = 400, np.array([0.0, 0.7, -0.5])
    systems = np.array([generator.permutation(3)[:2] for _ in range(size)])
    lengths = np.exp(generator.normal(6, 0.7, (size, 2)) + 0.3 * systems).round()
    ratio = np.log1p(lengths[:, 0]) - np.log1p(lengths[:, 1])
    score = (generator.random(size) < expit(np.diff(strengths[systems[:, ::-1]], axis=1)[:, 0] + 0.5 * ratio)) * 1.0
    dummies = np.eye(3)[systems[:, 0]] - np.eye(3)[systems[:, 1]]
    oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
    oracle.fit(np.column_stack([ratio, dummies[:, 1:]]), score)
    names = np.array(["a", "b", "c"])[systems]
    found = verbosity_slope(score, lengths, systems=names)
    assert found.slope.estimate == pytest.approx(oracle.coef_[0][0], abs=1e-4)
    # A fourth system that never wins has no finite strength: its contests say nothing about length.
    more = verbosity_slope(
        [*score, 1.0, 1.0], [*lengths, (5, 9), (7, 2)], systems=[*names, ("a", "never"), ("b", "never")]
    )
    assert more.slope.estimate == pytest.approx(found.slope.estimate)


def test_lengths_that_follow_from_the_systems_are_not_identified():
    found = verbosity_slope([1, 0, 1, 1], [[199, 99]] * 4, systems=[("a", "b")] * 4)
    assert "cannot be distinguished from the systems" in found.reason
