"""Rows are drawn with exactly the probabilities that are kept, and estimates weighted by these are unbiased."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.labels.drawing import (
    FLOOR,
    FloatArray,
    check_design,
    drawn_systematically,
    drawn_within,
    probabilities_by_stratum,
    probabilities_by_uncertainty,
    random_order,
)

STRATA = ["yes"] * 30 + ["no"] * 17 + ["unscored"] * 3
DRAWS = 1500


SAME = [""] * 400
UNCERTAINTY = np.random.default_rng(1).random(50) ** 3


def draws(probabilities: FloatArray, strata: list[str] | None = None, times: int = DRAWS) -> list[list[int]]:
    found = []
    for seed in range(times):
        order, start = random_order(len(probabilities), seed)
        by_strata = strata is not None
        found.append(
            drawn_within(strata, probabilities, order)
            if by_strata
            else drawn_systematically(probabilities, order, start)
        )
    return found


@pytest.mark.parametrize(
    ("probabilities", "strata"),
    [
        (probabilities_by_stratum(SAME[:50], 12), SAME[:50]),
        (probabilities_by_stratum(STRATA, 12), STRATA),
        (probabilities_by_uncertainty(UNCERTAINTY, 12), None),
    ],
    ids=["random", "by_verdict", "active"],
)
def test_each_row_is_drawn_as_often_as_its_probability_says_and_the_number_drawn_is_fixed(probabilities, strata):
    found = draws(probabilities, strata)
    assert {len(each) for each in found} == {12}
    times = np.bincount(np.concatenate(found), minlength=50)
    expected, spread = DRAWS * probabilities, np.sqrt(DRAWS * probabilities * (1 - probabilities))
    assert np.all(abs(times - expected) <= 4 * spread + 1e-9)  # 4 standard errors: 50 rows, p = .003 for any


def test_strata_have_their_share_in_every_draw():
    shares = {"yes": 6, "no": 4, "unscored": 2}  # in proportion to the roots 5.5, 4.1 and 1.7 of 12, at least 2
    probabilities = probabilities_by_stratum(STRATA, 12)
    assert probabilities[[0, 30, 47]].tolist() == pytest.approx([6 / 30, 4 / 17, 2 / 3])
    for each in draws(probabilities, STRATA, times=50):
        assert {name: sum(STRATA[unit] == name for unit in each) for name in shares} == shares


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.integers(1, 60), st.integers(0, 9))
def test_any_strata_are_drawn_from(strata, n, seed):
    n = min(n, len(strata))
    probabilities = probabilities_by_stratum(strata, n)
    assert probabilities.sum() == pytest.approx(n)
    assert probabilities.max() <= 1
    order, _ = random_order(len(strata), seed)
    assert len(drawn_within(strata, probabilities, order)) == n


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 0.5), min_size=2, max_size=60), st.integers(1, 60), st.integers(0, 9))
def test_any_uncertainty_is_bounded_below(uncertain, n, seed):
    n, values = min(n, len(uncertain)), np.array(uncertain)
    if np.ptp(values) <= 1e-9:
        with pytest.raises(InvalidInputError, match="all equally certain"):
            probabilities_by_uncertainty(values, n)
        return
    probabilities = probabilities_by_uncertainty(values, n)
    assert probabilities.sum() == pytest.approx(n)
    assert probabilities.min() >= FLOOR * n / len(values) - 1e-12
    assert probabilities.max() <= 1 + 1e-12
    order, start = random_order(len(values), seed)
    assert len(drawn_systematically(probabilities, order, start)) == n


def test_a_mean_weighted_by_the_probabilities_is_unbiased_and_narrower_where_the_judge_is_unsure():
    """A judge with a probability for each row, right about it: people say yes with that probability."""
    generator = np.random.default_rng(0)
    rows, n = 400, 60
    chance = generator.beta(0.15, 0.15, rows)  # sure of most rows
    people = (generator.random(rows) < chance).astype(float)
    judge = (chance > 0.5).astype(float)
    truth = people.mean()

    def estimates(probabilities: FloatArray, strata: list[str] | None = None) -> FloatArray:
        found = []
        for each in draws(probabilities, strata, times=700):
            weights = 1 / probabilities[each]
            error = (weights * (people[each] - judge[each])).sum() / weights.sum()  # Hájek
            found.append(judge.mean() + error)
        return np.array(found)

    random = estimates(probabilities_by_stratum(SAME, n), SAME)
    active = estimates(probabilities_by_uncertainty(np.sqrt(chance * (1 - chance)), n))
    for each in (random, active):
        assert abs(each.mean() - truth) < 4 * each.std() / np.sqrt(len(each)) + 0.002  # Hájek's own bias is O(1/n)
    assert active.std() < 0.9 * random.std()


def test_systems_are_drawn_together():
    """With the same verdicts two systems have the same rows; with others, more in common than the 10 of chance."""
    order, _ = random_order(1000, 5)
    first, second = (np.random.default_rng(seed).choice(["yes", "no"], 1000, p=[0.8, 0.2]).tolist() for seed in (1, 2))
    one, same, other = (
        drawn_within(each, probabilities_by_stratum(each, 100), order) for each in (first, first, second)
    )
    assert one == same
    assert len({*one} & {*other}) > 50


def test_a_design_that_does_not_exist_is_refused():
    with pytest.raises(InvalidInputError, match=r"'activ', which is no way to draw rows. Did you mean 'active'"):
        check_design("activ")
