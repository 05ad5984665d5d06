"""Corrected scores in a recipe: through the same code as evenhand.correct, for every way of judging."""

import pytest

import evenhand
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.metrics.judge_metrics import DirectJudge, PairwiseJudge, RubricJudge
from evenhand.question import comparison_criterion
from tests.support.recipes import evaluated
from tests.support.scripted import SENT, ScriptedInferenceEngine, script

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

GOOD = yes_no_criterion("good", "Is it good?")
N = 40
RIGHT = {row: "Yes" if row < 12 else "No" for row in range(0, N, 2)}
"""The labels: of 10 responses that the judge finds good (those below 20) people find 6 good, and none of 10 others."""


@script
def says_what_is_there(messages):
    """Yes where the response says "fine"."""
    return "Yes" if "fine" in messages[0]["content"] else "No"


HOW = {
    "inference_engine": ScriptedInferenceEngine(script="says_what_is_there"),
    "progress": False,
    "flow": "verdict_only",
    "check_positional_bias": False,
    "gold_field": "gold",
    "gold_design": "random",
}


def run(metric, gold):
    rows = [{"question": f"q {row}", "gold": label, "chance": 0.5} for row, label in enumerate(gold)]
    results = evaluated(metric, rows, ["fine" if row < N // 2 else "poor" for row in range(N)])
    return results, results[0]["score"]["global"]


def test_the_main_score_is_corrected_as_by_the_function():
    results, scores = run(DirectJudge(criteria=GOOD, **HOW), [RIGHT.get(row) for row in range(N)])
    found = evenhand.correct(evenhand.from_results(results), RIGHT, design="random").scores[0]
    assert scores["good"] == 0.5
    assert scores["good_corrected"] == pytest.approx(0.5 * 0.6)
    assert scores["good_corrected"] == found.corrected.estimate
    assert scores["good_corrected_ci_low"] == found.corrected.low
    assert scores["good_corrected_ci_high"] == found.corrected.high
    assert (scores["good_by_labels"], scores["good_num_labelled"]) == (pytest.approx(6 / 20), 20)
    assert scores["good_labels_saved"] == found.labels_saved
    assert any("the judge is worth" in note for note in scores["good_corrected_notes"])


WHOLE = Rubric(name="whole", criteria=(GOOD, yes_no_criterion("short", "Is it short?")))


@pytest.mark.parametrize(
    ("metric", "judged_by", "prediction", "labels", "corrected"),
    [
        (PairwiseJudge, {"criteria": comparison_criterion("better", "?")}, {"a": "x", "b": "y"}, "aab", "a_winrate"),
        (RubricJudge, {"rubric": WHOLE}, "x", (1.0, 1.0, 0.0), "whole"),
    ],
)
def test_labels_of_pairs_and_of_whole_responses_correct_scores(metric, judged_by, prediction, labels, corrected):
    engine = SimulatedEngine(quality={"x": 1.0, "y": -30.0})
    rows = [{"gold": label} for label in [*labels] * 10]
    judge = metric(**judged_by, **{**HOW, "inference_engine": engine, "flow": "one_step"})
    scores = evaluated(judge, rows, [prediction] * len(rows))[0]["score"]["global"]
    assert (scores[corrected], scores[f"{corrected}_corrected"]) == (1.0, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("gold", "changed", "message"),
    [
        (["Yes"] * N, {"gold_design": None}, "gold_design is None: give both.*'by_verdict': rows"),
        (["Yes"] * N, {"gold_field": None}, "gold_field is None and gold_design is 'random'"),
        ([None] * N, {}, "no label"),
        (["Yes"] * N, {"gold_design": "probabilities"}, "column 'probability'"),
    ],
)
def test_what_cannot_be_corrected_is_refused_before_the_first_call(gold, changed, message):
    with pytest.raises(InvalidInputError, match=message):
        run(DirectJudge(criteria=GOOD, **{**HOW, **changed}), gold)
    assert not SENT
