"""Rows are drawn with exactly the probabilities that are kept, and estimates weighted by these are unbiased."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.labels.blind_sheet import drawn_rows

STRATA = ["yes"] * 30 + ["no"] * 17 + ["unscored"] * 3
DRAWS = 1500

SAME = [""] * 50


def draws(strata: list[str], times: int = DRAWS) -> list[list[int]]:
    orders = (np.random.default_rng(seed).permutation(len(strata)) for seed in range(times))
    return [drawn_rows(strata, 12, order)[0] for order in orders]


@pytest.mark.parametrize("strata", [SAME, STRATA], ids=["random", "by_verdict"])
def test_each_row_is_drawn_as_often_as_its_probability_says_and_the_number_drawn_is_fixed(strata):
    probabilities, found = drawn_rows(strata, 12, range(50))[1], draws(strata)
    assert {len(each) for each in found} == {12}
    times = np.bincount(np.concatenate(found), minlength=50)
    expected, spread = DRAWS * probabilities, np.sqrt(DRAWS * probabilities * (1 - probabilities))
    assert np.all(abs(times - expected) <= 4 * spread + 1e-9)  # 4 standard errors: 50 rows, p = .003 for any


def test_strata_have_their_share_in_every_draw():
    shares = {"yes": 6, "no": 4, "unscored": 2}  # in proportion to the roots 5.5, 4.1 and 1.7 of 12, at least 2
    _, probabilities = drawn_rows(STRATA, 12, range(50))
    assert probabilities[[0, 30, 47]].tolist() == pytest.approx([6 / 30, 4 / 17, 2 / 3])
    for each in draws(STRATA, times=50):
        assert {name: sum(STRATA[unit] == name for unit in each) for name in shares} == shares


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.integers(1, 60))
def test_any_strata_are_drawn_from(strata, n):
    n = min(n, len(strata))
    places, probabilities = drawn_rows(strata, n, range(len(strata)))
    assert len(places) == n
    assert probabilities.sum() == pytest.approx(n)
    assert probabilities.max() <= 1
