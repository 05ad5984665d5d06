"""The multinomial logit of contests: scikit-learn as oracle, and whether a finite maximum exists."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand.statistics.strengths import LogitFit, fit_logit


def random_contests(seed, rows=200, width=3):
    generator = np.random.default_rng(seed)
    design = generator.standard_normal((rows, width))
    return design, generator.choice([0.0, 0.25, 0.5, 1.0], size=rows), generator.integers(40, size=rows)


def test_without_ties_it_is_logistic_regression_with_fractional_outcomes():
    design, score, cluster = random_contests(3)
    twice = np.concatenate([design, design])  # a score s is a win of weight s and a loss of 1 - s
    oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
    oracle.fit(twice, np.repeat([1, 0], len(design)), sample_weight=np.concatenate([score, 1 - score]))
    fit = fit_logit(design, score, cluster, ties=False)
    np.testing.assert_allclose(fit.parameters, oracle.coef_[0], atol=1e-6)


def test_with_ties_it_is_multinomial_and_the_covariance_that_of_clusters():
    """The gradient of all clusters is 0 at the maximum, and the sandwich is made of those of the clusters, by hand."""
    design, score, cluster = random_contests(1)
    fit = fit_logit(design, score, cluster, ties=True)
    beta, tau = fit.parameters[:3], fit.parameters[3]
    utilities = np.column_stack([design @ beta / 2, np.full(200, tau), -design @ beta / 2])
    shares = np.exp(utilities) / np.exp(utilities).sum(axis=1, keepdims=True)
    decided = 2 * score - 1
    excess = np.column_stack([np.maximum(decided, 0), 1 - np.abs(decided), np.maximum(-decided, 0)]) - shares
    rows = np.column_stack([design * ((excess[:, 0] - excess[:, 2]) / 2)[:, None], excess[:, 1]])
    np.testing.assert_allclose(rows.sum(axis=0), 0, atol=1e-8)
    scores = np.array([rows[cluster == each].sum(axis=0) for each in range(40)])
    inverse = np.linalg.inv(fit.information)
    np.testing.assert_allclose(fit.covariance, 40 / 39 * inverse @ scores.T @ scores @ inverse, rtol=1e-8)


@pytest.mark.parametrize(
    ("x", "score", "answer"),
    [
        ([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1], "separated"),  # an intercept and a slope part them between 2 and 3
        ([1.0, 2.0, 2.0, 3.0], [0, 0, 1, 1], "separated"),  # quasi-complete: they touch at 2
        ([1.0, 2.0, 2.0, 3.0], [0, 1, 1, 0], None),
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 1, 0], "collinear"),
        ([1.0, 2.0, 3.0, 4.0], [0, 0.5, 0.5, 1], None),  # the ties at 2 and 3 hold intercept and slope in place
        ([1.0, 2.0, 2.0, 3.0], [0, 0.5, 0.5, 1], "separated"),  # the ties at 2 let the slope turn about 2 for ever
    ],
)
def test_existence_of_the_estimate(x, score, answer):
    design = np.column_stack([np.ones(4), x])
    found = fit_logit(design, np.array(score, dtype=float), np.arange(4), ties=False)
    assert isinstance(found, LogitFit) if answer is None else found == answer
