"""Intervals: by hand, against scipy, by enumeration; over rows that belong together they hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics import mean_intervals, ratio_intervals
from evenhand.statistics.agreement import (
    cohen_kappa,
    effective_judges,
    krippendorff_alpha,
    percent_agreement,
)
from evenhand.statistics.intervals import Interval, IntervalLevel


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.parametrize(("score", "width"), [(0.0, 0.28), (0.5, 0.23), (1.0, 0.28)])
def test_a_sample_without_a_spread_says_nothing_of_the_spread_by_any_method(method, score, width):
    # Ten of ten right leaves the truth open down to 0.72 at least (2.5 % = 0.69^10); every draw of a bootstrap is 1.
    # Ten halves: scores at one bound for a share of 0.23, which ten do not show with 7 % (0.77^10), move it by 0.115.
    (found,) = mean_intervals([score] * 10, level=IntervalLevel(0.95, method=method))
    assert found.high - found.low > width


COEFFICIENTS = {
    "alpha": lambda table, level: krippendorff_alpha(table, level=level),
    "kappa": lambda table, level: cohen_kappa(table[:, 0], table[:, 1], level=level),
    "percent": lambda table, level: percent_agreement(table, level=level),
    "effective": lambda table, level: effective_judges(table, level=level)[1],
}


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_of_repeated_rows_have_the_interval_of_the_rows_once(name):
    generator = np.random.default_rng(7)
    truth = generator.random(40) < 0.5
    table = np.column_stack([truth ^ (generator.random(40) < 0.2) for _ in range(3)]).astype(float)
    table[3, 1] = np.nan
    labels = np.repeat(np.arange(40), 4)
    measure = COEFFICIENTS[name]
    once, four = measure(table, 0.95), measure(np.repeat(table, 4, axis=0), IntervalLevel(0.95, labels.tolist()))
    assert four.n == once.n
    assert four.estimate == pytest.approx(once.estimate, abs=0.01)  # alpha counts N (N - 1)
    assert (four.low, four.high) == pytest.approx((once.low, once.high), abs=0.02)


def only(results: tuple[Interval | None, ...]) -> Interval:
    (result,) = results
    assert result is not None
    return result


def test_the_coverage_of_rates_is_exact_arithmetic_and_what_the_docstring_promises():
    # Clopper and Pearson's interval never holds less than .95 and, at n = 2 to 15, .98 to .997 on average: too wide.
    rates = np.linspace(0.001, 0.999, 999)
    for n in (2, 5, 10, 15, 40, 150):
        found = [only(mean_intervals([1.0] * k + [0.0] * (n - k))) for k in range(n + 1)]
        low, high = np.array([(result.low, result.high) for result in found]).T
        chance = stats.binom.pmf(np.arange(n + 1)[:, None], n, rates)
        coverage = (chance * ((low[:, None] <= rates) & (rates <= high[:, None]))).sum(axis=0)
        assert 0.95 <= coverage.mean() <= 0.97
        assert coverage.min() >= (0.866 if n < 5 else 0.895)


def test_a_sample_without_spread_has_an_interval_that_the_truth_may_lie_in():
    # With a tenth of zeros among scores of 0.75 the mean is 0.675, and ten of ten are 0.75 with probability 0.35.
    constant = only(mean_intervals([0.75] * 10))
    assert constant.low < 0.675 < constant.high
    # Held in 89.5 % or more at any rate p: where ten of ten would be missed, its probability p^10 is 0.105 at most.
    assert only(mean_intervals([1.0] * 10)).low < 0.105**0.1
    # Where that is not enough, Clopper and Pearson's: a rate of 0.75 gives ten of ten with probability 0.056.
    assert only(mean_intervals([1.0] * 10, level=IntervalLevel(0.95, method="exact"))).low < 0.75


@given(st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0, math.nan]), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_every_interval_has_width_and_holds_its_estimate_within_the_bounds(values):
    result = mean_intervals(values)[0]
    present = [value for value in values if not math.isnan(value)]
    if not present:
        assert result is None
        return
    assert result is not None
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    assert result.high - result.low > 0.01
    assert result.estimate == pytest.approx(sum(present) / len(present))
    assert result.n == len(present)
    without = only(mean_intervals(present))
    assert (without.low, without.high) == pytest.approx((result.low, result.high), abs=1e-8)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=25))
@settings(max_examples=30, deadline=None)
def test_a_mirrored_scale_mirrors_the_interval(values):
    result, mirrored = only(mean_intervals(values)), only(mean_intervals([1 - value for value in values]))
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - result.high, 1 - result.low), abs=1e-6)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1e-9, 0.4, 0.4, 1.0]), st.sampled_from([1, 1, 1000, 0.01])), min_size=1),
    st.sampled_from([0.5, 0.8, 0.95, 0.999999]),
)
@settings(max_examples=60, deadline=None)
def test_the_limits_are_found_for_any_level_and_any_sizes_and_widen_with_the_level(clusters, level):
    score, size = np.array(clusters).T
    result = only(ratio_intervals(score * size, size, level=level))
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    wider = only(ratio_intervals(score * size, size, level=1 - (1 - level) / 2))
    assert wider.low <= result.low + 1e-6
    assert wider.high >= result.high - 1e-6


def test_t_is_students_interval():
    values = [3.0, -1.0, 10.0, 4.5]
    result = only(mean_intervals([*values, math.nan], level=IntervalLevel(method="t"), bounds=(-99.0, 99.0)))
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))
    assert (result.method, result.n) == ("cluster_t", 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_intervals([1.5]), "the score 1.5 is outside the bounds"),
        (lambda: mean_intervals([0.5, math.inf]), "the score inf"),
        (lambda: mean_intervals(np.zeros((1, 1, 1))), "shape"),
        (lambda: mean_intervals([1.0], level=95), "level is 95"),
        (lambda: mean_intervals([1.0], level=IntervalLevel(method="T")), "interval is 'T'"),
        (lambda: mean_intervals([1.0], bounds=(1, 0)), "bounds is"),
        (lambda: mean_intervals([1.0], bounds=(0, math.nan)), "bounds is"),
        (lambda: ratio_intervals([1.0], [1.0, 2.0]), "shape"),
        (lambda: ratio_intervals([1.0], [-1.0]), "no negative denominator"),
        (lambda: ratio_intervals([3.0, 1.0], [1.0, 1.0]), "the score 3.0 is outside the bounds"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
    assert mean_intervals([math.nan], bounds=(0, 0)) == (None,)  # a rubric whose weights are all 0


@pytest.mark.parametrize("n", [1, 4, 10, 41])
def test_exact_limits_are_clopper_and_pearsons(n):
    for wins in range(n + 1):
        exact = only(mean_intervals([1.0] * wins + [0.0] * (n - wins), level=IntervalLevel(0.95, method="exact")))
        expected = stats.binomtest(wins, n).proportion_ci(0.95, "exact")
        assert (exact.low, exact.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
        assert exact.method == "exact"
