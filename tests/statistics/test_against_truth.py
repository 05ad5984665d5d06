"""Judgements against a truth: scikit-learn and scipy as oracles, by hand, and whether intervals hold over clusters."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from evenhand.errors import EstimationError
from evenhand.numbers import Missing
from evenhand.statistics.agreement import (
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    correlations,
    correlations_within,
    option_rates,
    value_errors,
)
from evenhand.statistics.intervals import IntervalLevel

NAN = float("nan")


def judged_levels(generator, clusters, rows, cor=0.7, shared=0.6):
    """Truths and judgements of five levels, correlated, in clusters that share a part of both."""
    of_cluster = generator.standard_normal((clusters, 1, 2))
    latent = np.sqrt(shared) * of_cluster + np.sqrt(1 - shared) * generator.standard_normal((clusters, rows, 2))
    truth, other = latent[..., 0].ravel(), latent[..., 1].ravel()
    judged = cor * truth + np.sqrt(1 - cor**2) * other
    return np.digitize(truth, [-1, -0.3, 0.3, 1]) / 4, np.digitize(judged, [-0.9, -0.2, 0.4, 1.1]) / 4


@pytest.mark.parametrize("seed", range(4))
def test_every_estimate_is_that_of_scikit_learn_and_scipy(seed):
    truth, judged = judged_levels(np.random.default_rng(seed), 40, 2)
    places, chosen = (4 * truth).astype(int), (4 * judged).astype(int)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(places, chosen, labels=range(5))
    for place, rates in enumerate(option_rates(places, chosen, "abcde")):
        assert rates.num_gold == support[place]
        assert rates.precision.estimate == pytest.approx(precision[place])
        assert rates.recall.estimate == pytest.approx(recall[place])
        assert rates.f1.estimate == pytest.approx(f1[place])
    expected = metrics.balanced_accuracy_score(places, chosen)
    assert balanced_accuracy(places, chosen).estimate == pytest.approx(expected)
    found = correlations(truth, judged)
    assert found.pearson.estimate == pytest.approx(stats.pearsonr(truth, judged).statistic)
    assert found.spearman.estimate == pytest.approx(stats.spearmanr(truth, judged).statistic)
    assert found.kendall.estimate == pytest.approx(stats.kendalltau(truth, judged).statistic)
    assert found.pair_accuracy.estimate == pytest.approx((1 + stats.somersd(truth, judged).statistic) / 2)


def test_with_a_truth_of_two_values_the_pairs_are_the_area_under_the_curve():
    truth, judged = judged_levels(np.random.default_rng(5), 60, 1)
    found = correlations(truth > 0.5, judged)
    assert found.pair_accuracy.estimate == pytest.approx(metrics.roc_auc_score(truth > 0.5, judged))


def test_within_groups_by_scipy_and_by_hand():
    generator = np.random.default_rng(7)
    truth, judged = judged_levels(generator, 30, 6)
    groups = np.repeat(np.arange(30), 6)
    own = [(truth[groups == group], judged[groups == group]) for group in range(30)]
    own = [(x, y) for x, y in own if np.ptp(x) > 0 and np.ptp(y) > 0]
    found = correlations_within(truth, judged, groups)
    assert found.num_groups == len(own)
    assert found.pearson.estimate == pytest.approx(np.mean([stats.pearsonr(x, y).statistic for x, y in own]))
    assert found.spearman.estimate == pytest.approx(np.mean([stats.spearmanr(x, y).statistic for x, y in own]))
    assert found.kendall.estimate == pytest.approx(np.mean([stats.kendalltau(x, y).statistic for x, y in own]))
    # a: gold orders 2 pairs of 3, both right; b: one pair, tied by the judge; c: gold orders nothing
    hand = correlations_within([1, 1, 2, 1, 2, 3, 3], [0, 1, 2, 1, 1, 0, 1], list("aaabbcc"))
    assert hand.pair_accuracy.estimate == pytest.approx(2.5 / 3)
    assert (hand.num_groups, hand.num_ordered_groups) == (1, 2)


def test_groups_that_share_a_cluster_are_one():
    truth, judged = judged_levels(np.random.default_rng(8), 12, 4)
    groups = np.repeat(np.arange(12), 4)
    alone = correlations_within(truth, judged, groups)
    paired = correlations_within(truth, judged, groups, level=IntervalLevel(0.95, np.repeat(np.arange(6), 8)))
    assert alone.pair_accuracy.n == alone.num_ordered_groups > paired.pair_accuracy.n == 6
    assert alone.kendall.estimate == pytest.approx(paired.kendall.estimate)


def test_standard_errors_are_those_of_the_jackknife():
    truth, judged = judged_levels(np.random.default_rng(9), 150, 2)
    clusters = np.repeat(np.arange(150), 2)
    level = IntervalLevel(0.95, clusters)
    places, chosen = 4 * truth, 4 * judged
    found = correlations(truth, judged, level=level)
    of_all = {
        "pearson": (found.pearson, lambda x, y: stats.pearsonr(x, y).statistic),
        "spearman": (found.spearman, lambda x, y: stats.spearmanr(x, y).statistic),
        "kendall": (found.kendall, lambda x, y: stats.kendalltau(x, y).statistic),
        "pairs": (found.pair_accuracy, lambda x, y: (1 + correlation_of_pairs(x, y)) / 2),
        "kappa": (
            cohen_kappa(places, chosen, weights="quadratic", categories=range(5), level=level),
            lambda x, y: metrics.cohen_kappa_score(np.rint(4 * x), np.rint(4 * y), weights="quadratic"),
        ),
        "balanced": (
            balanced_accuracy(places, chosen, level=level),
            lambda x, y: metrics.balanced_accuracy_score(np.rint(4 * x), np.rint(4 * y)),
        ),
        "root": (
            value_errors(truth, judged, level=level).root_mean_square,
            lambda x, y: metrics.mean_squared_error(x, y) ** 0.5,
        ),
        "accuracy": (accuracy(truth, judged, level=level), lambda x, y: np.mean(x == y)),
    }
    for name, (measured, statistic) in of_all.items():
        left_out = [statistic(truth[clusters != c], judged[clusters != c]) for c in range(150)]
        jackknife = np.sqrt(149 / 150 * np.sum((left_out - np.mean(left_out)) ** 2))
        assert measured.standard_error == pytest.approx(jackknife, rel=0.05), name


def correlation_of_pairs(truth, judged):
    signs = [np.sign(np.subtract.outer(values, values)) for values in (truth, judged)]
    return (signs[0] * signs[1]).sum() / (signs[0] ** 2).sum()


def test_a_perfect_order_is_not_certain():
    few, many = (correlations(np.arange(n), np.arange(n) ** 3) for n in (5, 100))
    assert [few.kendall.estimate, many.spearman.estimate, many.pair_accuracy.estimate] == pytest.approx([1.0] * 3)
    assert few.kendall.low < 0 < many.kendall.low < 1.0
    assert [many.kendall.high, many.pair_accuracy.high] == pytest.approx([1.0, 1.0])
    assert many.kendall.standard_error is None
    against = correlations(np.arange(100), -np.arange(100)).kendall
    assert (against.estimate, against.low, against.high) == pytest.approx((-1.0, -1.0, -many.kendall.low))


def test_what_is_undefined_is_missing():
    constant_judge = correlations([1, 2, 3], [1, 1, 1])
    for name in ("pearson", "spearman", "kendall"):
        assert "all the same" in getattr(constant_judge, name).reason
    assert constant_judge.pair_accuracy.estimate == 0.5  # every pair is a tie
    assert correlations([1, 1, 1], [1, 2, 3]).pair_accuracy == Missing("the gold scores are all the same")
    with pytest.raises(EstimationError, match="the same everywhere"):
        balanced_accuracy([1, 1, 1], [0, 1, 1])
    with pytest.raises(EstimationError, match="no unit has both"):
        correlations([1, NAN], [NAN, 1])
    rates = option_rates([0, 0, 1, NAN], [0, 0, 0, 1], "abc")
    assert rates[1].precision == Missing("no verdict is 'b'")
    assert rates[1].recall.estimate == rates[1].f1.estimate == 0.0
    assert not any((rates[2].precision, rates[2].recall, rates[2].f1))


def test_one_cluster_says_nothing_of_the_spread():
    found = correlations([1, 2, 3, 4], [1, 3, 2, 4], level=IntervalLevel(0.95, "aaaa"))
    assert (found.kendall.low, found.kendall.high, found.kendall.standard_error) == (-1.0, 1.0, None)
