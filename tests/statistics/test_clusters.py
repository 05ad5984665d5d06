"""Rows that belong together: intervals over clusters hold the truth, and count clusters."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics import cohen_kappa, krippendorff_alpha, mean_intervals, percent_agreement, ratio_intervals
from evenhand.statistics.clusters import IntervalLevel, cluster_sums
from evenhand.statistics.item_rest_correlation import item_rest_correlations
from evenhand.statistics.panel import effective_judges

DOCUMENTS = ["b", "b", "b", "a", "a", "c"]


def documents(generator, count, sizes, *, correlation, mean, repeats):
    """0/1 scores of documents whose own rates are Beta with this mean: (rows, repeats), and the rows' documents."""
    size = generator.integers(sizes[0], sizes[1] + 1, size=count)
    labels = np.repeat(np.arange(count), size)
    spread = 1 / correlation - 1  # of a Beta(a, b): the intraclass correlation is 1 / (a + b + 1)
    rates = generator.beta(mean * spread, (1 - mean) * spread, size=(count, repeats))
    return (generator.random((len(labels), repeats)) < rates[labels]) * 1.0, labels.tolist()


@pytest.mark.parametrize("correlation", [0.1, 0.6])
@pytest.mark.parametrize("mean", [0.5, 0.9])
@pytest.mark.parametrize("count", [20, 60])
def test_intervals_over_documents_hold_the_truth(count, mean, correlation):
    # Over rows the same intervals hold it in 40 to 85 % (python -m benchmarks.clusters).
    scores, labels = documents(
        np.random.default_rng(3), count, (5, 20), correlation=correlation, mean=mean, repeats=400
    )
    found = mean_intervals(scores, level=IntervalLevel(0.95, labels))
    held = np.mean([interval.low <= mean <= interval.high for interval in found])
    assert held >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / 400)
    assert {interval.n for interval in found} == {count}


def test_a_mean_over_clusters_is_a_ratio_of_their_sums():
    scores, level = [1, 0, 0.5, 1, 1, 0.25], IntervalLevel(0.95, DOCUMENTS)
    (clustered,) = mean_intervals(scores, level=level)
    (summed,) = ratio_intervals([1.5, 2.0, 0.25], [3, 2, 1])  # b, a, c
    assert (clustered.low, clustered.high) == pytest.approx((summed.low, summed.high), abs=1e-7)
    assert (clustered.n, clustered.estimate, clustered.level) == (3, pytest.approx(3.75 / 6), 0.95)


def test_a_cluster_whose_rows_are_all_missing_is_not_counted():
    (found,) = mean_intervals(
        [1, 0, float("nan"), float("nan"), float("nan"), 0.5], level=IntervalLevel(0.9, DOCUMENTS)
    )
    assert found.n == 2


@pytest.mark.parametrize("method", ["auto", "bounded", "t", "t_logit", "bootstrap"])
def test_repeated_rows_tell_nothing_new_by_any_method(method):
    # Each row five times, as a cluster: the interval is that of the rows once.
    scores = np.random.default_rng(1).random(12)
    (once,) = mean_intervals(scores, level=IntervalLevel(0.95, method=method))
    level = IntervalLevel(0.95, np.repeat(np.arange(12), 5).tolist(), method)
    (five,) = mean_intervals(np.repeat(scores, 5), level=level)
    assert (five.low, five.high) == pytest.approx((once.low, once.high), abs=1e-6)


@pytest.mark.parametrize("method", ["t", "t_logit", "bootstrap"])
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_a_sample_without_a_spread_says_nothing_of_the_spread_by_any_method(method, score):
    # Ten of ten right leaves the truth open down to 0.72 at least (2.5 % = 0.69^10); every draw of a bootstrap is 1.
    (found,) = mean_intervals([score] * 10, level=IntervalLevel(0.95, method=method))
    assert found.high - found.low > 0.28
    (open_ended,) = mean_intervals([score] * 10, level=IntervalLevel(0.95, method=method), bounds=None)
    assert (open_ended.low, open_ended.high) == (-np.inf, np.inf)


def test_a_bootstrap_of_few_yes_or_no_scores_holds_the_truth_on_average():
    # 11 possible numbers of yes in 10 rows; as zero-width intervals 0 and 10 held nothing, and the average was .78.
    rates = np.arange(1, 1000) / 1000
    table = (np.arange(10)[:, None] < np.arange(11)).astype(float)
    found = mean_intervals(table, level=IntervalLevel(0.95, method="bootstrap"))
    low, high = (np.array([getattr(each, side) for each in found])[:, None] for side in ("low", "high"))
    chances = stats.binom.pmf(np.arange(11)[:, None], 10, rates)
    held = (chances * ((low <= rates) & (rates <= high))).sum(axis=0)
    assert held.mean() > 0.93
    assert held.min() > 0.8


@pytest.mark.parametrize("method", ["mid_p", "exact"])
def test_methods_that_count_rows_take_no_clusters(method):
    with pytest.raises(InvalidInputError, match=rf"interval is '{method}', which counts rows .* 'bootstrap'"):
        IntervalLevel(0.95, DOCUMENTS, method)
    with pytest.raises(InvalidInputError, match="interval is 'wald'"):
        IntervalLevel(0.95, method="wald")


def test_other_rows_than_those_of_the_clusters_are_refused():
    with pytest.raises(InvalidInputError, match=r"clusters has the shape \(6,\) for 5 rows"):
        mean_intervals([1, 0, 1, 1, 0], level=IntervalLevel(0.95, DOCUMENTS))


def test_a_level_is_a_number_that_copies_and_pickles_with_its_clusters():
    level = IntervalLevel(0.9, DOCUMENTS, "t")
    for again in (copy.deepcopy(level), pickle.loads(pickle.dumps(level))):
        assert (again, again.clusters, again.method) == (0.9, tuple(DOCUMENTS), "t")
    assert level.only([5, 0]).clusters == ("c", "b")
    assert level.labels(6).tolist() == [0, 0, 0, 1, 1, 2]


def coefficients():
    def kappa(table, level):
        return cohen_kappa(table[:, 0], table[:, 1], level=level).interval

    return {
        "alpha": lambda table, level: krippendorff_alpha(table, level=level).interval,
        "kappa": kappa,
        "percent": lambda table, level: percent_agreement(table, level=level).interval,
        "effective": lambda table, level: effective_judges(table, level=level).mean_correlation,
        "item": lambda table, level: item_rest_correlations(table, level=level)[0],
    }


@pytest.mark.parametrize("name", list(coefficients()))
def test_coefficients_of_repeated_rows_have_the_interval_of_the_rows_once(name):
    generator = np.random.default_rng(7)
    truth = generator.random(40) < 0.5
    table = np.column_stack([truth ^ (generator.random(40) < 0.2) for _ in range(3)]).astype(float)
    table[3, 1] = np.nan
    labels = np.repeat(np.arange(40), 4)
    measure = coefficients()[name]
    once, four = measure(table, 0.95), measure(np.repeat(table, 4, axis=0), IntervalLevel(0.95, labels.tolist()))
    assert four.n == once.n
    assert four.estimate == pytest.approx(once.estimate, abs=0.01)  # alpha counts N (N - 1)
    assert (four.low, four.high) == pytest.approx((once.low, once.high), abs=0.02)


def test_alpha_over_documents_holds_the_truth_where_over_rows_it_does_not():
    # Two judges that differ only where a document misleads both or neither: the rate of agreement is the document's.
    generator, held, naive = np.random.default_rng(11), 0, 0
    for _ in range(60):
        (agree,), labels = (part for part in _agreeing(generator))
        first = generator.random(len(labels)) < 0.5
        table = np.column_stack([first, np.where(agree, first, ~first)]).astype(float)
        over = [krippendorff_alpha(table, level=level, resamples=300).interval for level in (0.95, _level(labels))]
        # With balanced categories alpha is 1 - (1 - .75) / .5.
        naive += over[0].low <= 0.5 <= over[0].high
        held += over[1].low <= 0.5 <= over[1].high
    assert held >= 54
    assert naive <= 45


def _agreeing(generator):
    scores, labels = documents(generator, 30, (10, 20), correlation=0.4, mean=0.75, repeats=1)
    return (scores[:, 0].astype(bool),), labels


def _level(labels):
    return IntervalLevel(0.95, labels)


def test_sums_over_clusters_keep_further_axes():
    assert cluster_sums(np.ones((3, 2, 2)), np.array([0, 1, 0])).tolist() == [[[2, 2], [2, 2]], [[1, 1], [1, 1]]]
