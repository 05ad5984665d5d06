"""Best of N inside unitxt: selections, orders, missing candidates, names of scores."""

import json
import re

import pytest

from evenhand.metrics.judge_metrics import BestOfJudge
from tests.support.choosing import reply_for, shown_candidates
from tests.support.recipes import evaluated
from tests.support.scripted import SENT, ScriptedInferenceEngine, script

CRITERION = "criteria.evenhand.pairwise.overall_quality"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@script
def picker_of_the_best(messages):
    """The highest quality; refuses where one is negative."""
    shown = shown_candidates(messages[0]["content"])
    qualities = [int(re.search(r"quality (-?\d+)", text)[1]) for text in shown]
    return reply_for(None if min(qualities) < 0 else qualities.index(max(qualities)))


def test_selections_and_rates_by_hand():
    predictions = [
        {"a": "quality 1", "b": "quality 5", "c": "quality 3"},
        {"a": "quality 7", "b": "quality 5", "c": None},
        {"a": "quality 1", "b": None, "c": None},
        {"a": "quality -1", "b": "quality 2", "c": "quality 3"},
    ]
    engine = ScriptedInferenceEngine(script="picker_of_the_best")
    metric = BestOfJudge(inference_engine=engine, criteria=CRITERION, max_reasks=0, progress=False, journal=None)
    results = evaluated(metric, [{"question": f"question {row}"} for row in range(4)], predictions)
    scores, instances = results[0]["score"]["global"], [result["score"]["instance"] for result in results]
    assert [one.get("selected_candidate") for one in instances] == ["b", "a", None, None]
    assert [one.get("unscored_reason") for one in instances] == [None, None, "missing_response", "refusal"]
    assert instances[0]["selections"] == ["b", "b"]
    assert instances[0]["orders"] == [["a", "b", "c"], ["c", "b", "a"]]
    assert instances[0]["positional_bias"] is False
    assert (instances[0]["a_selection_rate"], instances[0]["b_selection_rate"]) == (0.0, 1.0)
    assert instances[1]["missing_candidates"] == ["c"]
    assert json.loads(instances[0]["criteria"])["name"] == "overall_quality"
    # Scored are 0 and 1; c is offered in 0 alone.
    assert (scores["a_selection_rate"], scores["b_selection_rate"], scores["c_selection_rate"]) == (0.5, 0.5, 0.0)
    assert (scores["score"], scores["score_name"]) == (0.5, "a_selection_rate")
    assert scores["a_selection_rate_ci_low"] < 0.5 < scores["a_selection_rate_ci_high"]
    # a is in all four, of which 2 and 3 count 0 or 1.
    assert scores["a_selection_rate_if_unscored_0"] == 0.25
    assert scores["a_selection_rate_if_unscored_1"] == 0.75
    assert (scores["c_num_missing"], scores["a_num_selected"], scores["num_unscored"]) == (2, 1, 2)
    assert scores["unscored_instances_refusal"] == scores["unscored_instances_missing_response"] == 1
    assert scores["unscored_votes_refusal"] == 2
    assert scores["parse_rate"] == pytest.approx(4 / 6)
    assert scores["positional_bias"] == 0.0
    assert scores["calls"] == len(SENT) == 6
