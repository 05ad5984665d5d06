import gzip
import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.agreement import cohen_kappa
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED, position_bias
from tests.support.shared import shared_path

TIE = 2


def read_lines(relative):
    path = shared_path(relative)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


def test_by_hand():
    # Two consistent, three with the first shown both times, one with the second, one that changed to a tie,
    # one consistent tie, one lone verdict, one without any, one that was not put in the other order.
    selections = [[0, 0], [1, 1], [0, 1], [0, 1], [0, 1], [1, 0], [0, TIE], [TIE, TIE]]
    selections += [[1, UNSCORED], [UNSCORED, UNSCORED], [1, NOT_ASKED]]
    bias = position_bias(selections)
    assert (bias.n, bias.n_checked, bias.n_consistent, bias.n_inconsistent) == (10, 8, 3, 5)
    assert (bias.n_lone, bias.n_unscored, bias.n_primacy, bias.n_recency) == (1, 3, 4, 1)
    assert bias.position_consistency.estimate == pytest.approx(3 / 8)
    assert bias.first_shown_share.estimate == pytest.approx(4 / 5)
    # Four of five or more extreme: (1 + 5 + 5 + 1) / 32.
    assert bias.p_value == pytest.approx(12 / 32)
    # First order: 0 stands first. 00 -> first, second; 11 -> second, first; 01 -> first twice; 10 -> second twice;
    # 0 and tie -> first; lone 1 -> second; 1 in one order -> second. First 1 + 1 + 6 + 1 = 9, second 1 + 1 + 2 + 2 = 6.
    assert bias.first_position_share.estimate == pytest.approx(9 / 15)


def test_every_third_of_the_499_published_statistics_of_llmbar_recomputes():
    runs = defaultdict(list)
    for row in read_lines("data/llmbar_verdicts.jsonl.gz"):
        runs[row["sub"], row["ev"], row["st"]].append(row)
    published = read_lines("data/llmbar_published_statistics.jsonl")
    assert len(published) == 499
    for expected in published[::3]:
        rows = runs[expected["sub"], expected["ev"], expected["st"]]
        codes = {"1": 0, "2": 1, None: UNSCORED}
        gold = np.array([codes[row["label"]] for row in rows])
        selections = np.array([[codes[row["w0"]], codes[row["w1"]]] for row in rows])
        right = selections == gold[:, None]
        bias = position_bias(selections)
        # The authors divide by all instances; a pair of which neither verdict was read counts as equal there.
        blank = int((selections == UNSCORED).all(axis=1).sum())
        assert 100 * (bias.n_consistent + blank) / bias.n == pytest.approx(expected["equal"])
        assert 100 * right[:, 0].mean() == pytest.approx(expected["correct_False"])
        assert 100 * right[:, 1].mean() == pytest.approx(expected["correct_True"])
        assert 100 * right.mean() == pytest.approx(expected["correct_average"])
        assert 100 * right.all(axis=1).mean() == pytest.approx(expected["correct_both"])
        if (selections >= 0).all() and np.unique(selections).size == 2:
            kappa = cohen_kappa(selections[:, 0], selections[:, 1], resamples=1)
            assert kappa.estimate == pytest.approx(expected["kappa_agreement"], abs=1e-12)


def test_preference_fairness_by_hand():
    # Consistent: 00, 11, TT. First place: 01, 0T (first, then tie), T1 (tie, then 1 which stands first in the swap).
    # Second place: 10. One lone verdict, one without any, one not asked in both orders.
    selections = [[0, 0], [1, 1], [TIE, TIE], [0, 1], [0, TIE], [TIE, 1], [1, 0]]
    selections += [[0, UNSCORED], [UNSCORED, UNSCORED], [1, NOT_ASKED]]
    found = position_bias(selections)
    assert (found.n, found.n_checked, found.n_consistent, found.n_primacy, found.n_recency) == (9, 7, 3, 3, 1)
    assert (found.n_lone, found.n_unscored, found.n_clusters) == (1, 3, 7)
    assert found.position_consistency.estimate == pytest.approx(3 / 7)
    assert found.first_shown_share.estimate == 3 / 4
    # Three or more of four, or one or fewer: (4 + 1 + 4 + 1) / 16.
    assert found.p_value == pytest.approx(10 / 16)
    # Raw: 1 · 1/4 - 3 · 3/4 = -2; over the 7 checked.
    assert found.preference_fairness.estimate == pytest.approx(-2 / 7)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_the_interval_leaves_out_a_half_exactly_when_the_test_rejects(primacy, recency):
    if primacy + recency == 0:
        return
    found = position_bias([[0, 1]] * primacy + [[1, 0]] * recency)
    if abs(found.p_value - 0.05) > 1e-6:
        assert (found.p_value < 0.05) == (not found.first_shown_share.low <= 0.5 <= found.first_shown_share.high)
