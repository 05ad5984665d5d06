import gzip
import json
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import NOT_ASKED, UNSCORED, cohen_kappa, position_bias
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
    assert (bias.n, bias.n_checked, bias.n_consistent, bias.n_inconsistent) == (11, 8, 3, 5)
    assert (bias.n_lone, bias.n_unscored, bias.n_stuck, bias.n_first) == (1, 3, 4, 3)
    assert bias.flip_rate.estimate == pytest.approx(5 / 8)
    assert bias.first_shown_preference.estimate == pytest.approx(3 / 4)
    # Three of four or more extreme: (1 + 4 + 4 + 1) / 16.
    assert bias.p_value == pytest.approx(10 / 16)
    # First order: 0 stands first. 00 -> first, second; 11 -> second, first; 01 -> first twice; 10 -> second twice;
    # 0 and tie -> first; lone 1 -> second; 1 in one order -> second. First 1 + 1 + 6 + 1 = 9, second 1 + 1 + 2 + 2 = 6.
    assert bias.position_counts == (9, 6)
    assert bias.first_position_share.estimate == pytest.approx(9 / 15)
    assert bias.position_entropy == pytest.approx(stats.entropy([9, 6], base=2))


def test_three_options_in_three_orders():
    rotations = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    # The same option; the first shown each time; the last shown each time; a changed mind.
    bias = position_bias([[1, 1, 1], [0, 1, 2], [2, 0, 1], [0, 0, 2]], rotations)
    assert (bias.n_consistent, bias.n_inconsistent, bias.n_stuck, bias.n_first) == (1, 3, 2, 1)
    # Positions: 1,0,2; 0,0,0; 2,2,2; 0,2,0.
    assert bias.position_counts == (6, 1, 5)
    assert bias.p_value == pytest.approx(stats.binomtest(1, 2, 1 / 3).pvalue)


def test_every_instance_may_have_its_own_orders():
    orders = [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]
    # The second instance was shown swapped first: 1 then 0 is the first shown both times.
    bias = position_bias([[0, 1], [1, 0]], orders)
    assert (bias.n_stuck, bias.n_first, bias.position_counts) == (2, 2, (4, 0))
    assert bias.position_entropy == 0


def test_a_sampled_share_is_judged_by_the_sampled_instances():
    sampled = [[0, 0]] * 15 + [[0, 1]] * 5
    rest = [[1, NOT_ASKED]] * 80
    part, whole = position_bias(sampled), position_bias(sampled + rest)
    assert (whole.n, whole.n_checked, whole.n_unscored) == (100, 20, 0)
    assert whole.flip_rate.n == 20
    assert (whole.flip_rate.low, whole.flip_rate.high) == pytest.approx((part.flip_rate.low, part.flip_rate.high))


def test_what_was_not_seen_has_no_number():
    bias = position_bias([[0, UNSCORED], [UNSCORED, UNSCORED]])
    assert bias.flip_rate is None
    assert bias.first_shown_preference is None
    assert bias.p_value is None
    assert bias.first_position_share is not None
    silent = position_bias([[UNSCORED, UNSCORED]])
    assert silent.first_position_share is None
    assert silent.position_entropy is None


def test_a_judge_that_never_flips_may_still_flip():
    bias = position_bias([[0, 0]] * 10)
    assert (bias.flip_rate.estimate, bias.flip_rate.low) == (0, 0)
    assert bias.flip_rate.high > 0.2


@pytest.mark.parametrize("preference", [0.0, 0.3])
def test_a_simulated_preference_for_the_first_is_found_and_a_fair_judge_acquitted(preference):
    # The judge takes the first shown with the given probability, else option 0 with probability 0.6, each time anew.
    generator = np.random.default_rng(9)
    free = (generator.random((4000, 2)) < 0.4).astype(int)
    selections = np.where(generator.random((4000, 2)) < preference, [0, 1], free)
    bias = position_bias(selections, level=0.99)
    in_first_order, in_second_order = preference + 0.6 * (1 - preference), 0.6 * (1 - preference)
    first_twice = in_first_order * (1 - in_second_order)
    flips = first_twice + (1 - in_first_order) * in_second_order
    assert bias.flip_rate.low < flips < bias.flip_rate.high
    assert bias.first_shown_preference.low < first_twice / flips < bias.first_shown_preference.high
    assert (bias.p_value < 0.001) == (preference > 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: position_bias([[0.0, 1.0]]), "integers"),
        (lambda: position_bias([0, 1]), "shape"),
        (lambda: position_bias([[0, -3]]), "a selection is -3"),
        (lambda: position_bias([[0, 1, 0]]), "orders has the shape"),
        (lambda: position_bias([[0, 1]], [[0, 1], [1, 1]]), "permutation"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_no_instance_is_undefined():
    with pytest.raises(EstimationError, match="without an instance"):
        position_bias(np.empty((0, 2), dtype=int))


def test_the_499_published_statistics_of_llmbar_recompute():
    runs = defaultdict(list)
    for row in read_lines("data/llmbar_verdicts.jsonl.gz"):
        runs[row["sub"], row["ev"], row["st"]].append(row)
    published = read_lines("data/llmbar_published_statistics.jsonl")
    assert len(published) == 499
    for expected in published:
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
        ours, theirs = 1 - bias.flip_rate.estimate, log["consistent_pct"] / 100
        assert ours == pytest.approx(theirs, abs=5e-5) if not bias.n_lone else ours < theirs
        compared += 1
        lone += bias.n_lone > 0
    # Of the 72 logs, 57 have their verdicts in the recorded data.
    assert compared == 57
    assert 0 < lone < compared
