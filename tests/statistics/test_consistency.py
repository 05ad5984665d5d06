import gzip
import json
from collections import defaultdict
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.numbers import Missing
from evenhand.statistics.agreement import cohen_kappa
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED, position_bias
from evenhand.statistics.intervals import IntervalLevel
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
    assert (bias.n_lone, bias.n_primacy, bias.n_recency) == (1, 4, 1)
    assert bias.position_consistency.estimate == pytest.approx(3 / 8)
    assert bias.first_shown_share.estimate == pytest.approx(4 / 5)
    # Raw: 1 · 1/5 - 4 · 4/5 = -3; over the 8 checked.
    assert bias.preference_fairness.estimate == pytest.approx(-3 / 8)
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
            kappa = cohen_kappa(selections[:, 0], selections[:, 1], level=IntervalLevel(resamples=1))
            assert kappa.estimate == pytest.approx(expected["kappa_agreement"], abs=1e-12)


def read_position_bias_runs():
    runs = defaultdict(lambda: defaultdict(lambda: [NOT_ASKED, NOT_ASKED]))
    rows = [("MTBench", row["judge"], 0, row) for row in read_lines("data/posbias_mtbench_raw.jsonl.gz")]
    rows += [
        (row["bench"], row["judge"], row["rep"], row) for row in read_lines("data/posbias_repetition_verdicts.jsonl.gz")
    ]
    for bench, judge, repetition, row in rows:
        systems = sorted((row["a"], row["b"]))
        order = systems.index(row["a"])
        codes = {"A": order, "B": 1 - order, "C": TIE, None: UNSCORED}
        runs[bench, judge, repetition][row["q"], row.get("task"), *systems][order] = codes[row["parsed"]]
    return {key: np.array(list(pairs.values())) for key, pairs in runs.items()}


def test_the_published_logs_of_the_position_bias_study_recompute_by_their_rule_and_ours():
    logs = json.loads(shared_path("data/posbias_published_logs.json").read_text())
    runs = read_position_bias_runs()
    compared = lone = 0
    for log in logs:
        selections = runs.get((log["bench"], log["judge"], log["rep"]))
        if selections is None:
            continue
        bias = position_bias(selections)
        # They count verdicts, two a pair, and take a lone verdict for a consistent one.
        assert 2 * bias.n_checked + bias.n_lone == log["extracted"]
        assert 2 * bias.n_consistent + bias.n_lone == log["consistent"]
        # Ours leaves the lone verdict out; without one the two rates are the same.
        ours, theirs = bias.position_consistency.estimate, log["consistent_pct"] / 100
        assert ours == pytest.approx(theirs, abs=5e-5) if not bias.n_lone else ours < theirs
        compared += 1
        lone += bias.n_lone > 0
    # Of the 72 logs, 57 have their verdicts in the recorded data.
    assert compared == 57
    assert 0 < lone < compared


PAIRS = st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3)), min_size=1, max_size=25)


@given(PAIRS)
@settings(max_examples=30, deadline=None)
def test_swapping_the_responses_names_changes_nothing_and_swapping_places_turns_it_over(pairs):
    table = np.array(pairs)
    found = position_bias(table)
    renamed = np.where(table == 0, 1, np.where(table == 1, 0, table))
    again = position_bias(renamed[:, ::-1])
    names = [each.name for each in fields(found) if each.name != "first_position_share"]  # counts single votes too
    assert [getattr(again, name) for name in names] == [getattr(found, name) for name in names]
    turned = position_bias(table[:, ::-1])
    assert (turned.n_primacy, turned.n_recency) == (found.n_recency, found.n_primacy)
    assert turned.n_consistent == found.n_consistent
    assert turned.p_value == found.p_value
    if found.n_primacy + found.n_recency:
        p, r = found.n_primacy, found.n_recency
        raw = r * r / (p + r) - p * p / (p + r)
        assert found.preference_fairness.estimate == pytest.approx(raw / found.n_checked, abs=1e-9)
        assert found.p_value == pytest.approx(stats.binomtest(p, p + r).pvalue, abs=1e-9)


def test_preference_fairness_what_was_not_seen_has_no_number():
    consistent = position_bias([[0, 0], [1, 1]])
    assert consistent.first_shown_share == consistent.p_value == Missing("the orders of no judge disagree")
    assert consistent.preference_fairness.estimate == pytest.approx(0)
    lone = position_bias([[0, UNSCORED]])
    assert (lone.position_consistency, lone.preference_fairness, lone.n_lone) == (None, None, 1)
    nothing = position_bias([[0, NOT_ASKED]])
    assert (nothing.n, nothing.preference_fairness) == (0, None)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_the_interval_leaves_out_a_half_exactly_when_the_test_rejects(primacy, recency):
    if primacy + recency == 0:
        return
    found = position_bias([[0, 1]] * primacy + [[1, 0]] * recency)
    if abs(found.p_value - 0.05) > 1e-6:
        assert (found.p_value < 0.05) == (not found.first_shown_share.low <= 0.5 <= found.first_shown_share.high)
