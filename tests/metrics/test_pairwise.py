"""Pairwise judging inside unitxt: recipes, names of scores, and the numbers beside unitxt's own judge."""

import json
import re
from typing import Any

import numpy as np
import pandas
import pytest
from unitxt import create_dataset, evaluate
from unitxt.task import Task

from evenhand.metrics.judge_metrics import PairwiseJudge
from tests.support.recipes import evaluated
from tests.support.scripted import SENT, ScriptedInferenceEngine, script

TEMPERATURE = "metrics.llm_as_judge.pairwise.criteria.temperature_in_celsius_and_fahrenheit"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def qualities(messages):
    """The qualities that the two responses name, in the order shown: both judges' prompts quote them."""
    first, second = re.findall(r"quality (\d+) of", messages[0]["content"])[:2]
    return int(first), int(second)


def named(messages, place):
    """The option for a place: ours name places, unitxt's the systems, in the order shown."""
    shown = re.findall(r'Choose "(.+)" if', messages[-1]["content"])
    return f"Response {shown[place]}" if shown else ["Response A", "Response B"][place]


@script
def fair_judge(messages):
    """The better quality; of equals the one shown first."""
    if len(messages) == 1:
        return "They differ in quality."
    first, second = qualities(messages)
    return named(messages, 0 if first >= second else 1)


def run(predictions, postprocessors=(), **settings):
    """The scores of each instance."""
    engine = ScriptedInferenceEngine(script="fair_judge")
    given = {"criteria": TEMPERATURE, "context_fields": ["question"], "progress": False, "journal": None, **settings}
    rows = [{"question": f"question {row}"} for row in range(len(predictions))]
    metric = PairwiseJudge(inference_engine=engine, **given)
    results = evaluated(metric, rows, predictions, postprocessors=[*postprocessors])
    return [result["score"]["instance"] for result in results]


def test_the_result_of_one_instance_by_hand():
    # qualities 3, 3, 6: of "x" and "y" the first shown wins, "tie" wins both
    given = {"x": "quality 3 of a", "y": "quality 3 of b", "tie": "quality 6 of c"}
    (scores,) = run([given], generate_summaries=True)
    assert scores["x_contest_scores"] == [0.5, 0.0]
    assert scores["x_contest_results"] == [False, False]
    assert scores["x_compared_to"] == ["y", "tie"]
    assert scores["x_selections"] == ["x", "tie"]
    assert scores["x_positional_bias_selection"] == ["y", "tie"]
    assert scores["x_positional_bias"] == [True, False]
    assert scores["y_selections"] == ["x", "tie"]
    assert scores["y_contest_scores"] == [0.5, 0.0]
    assert scores["tie_contest_scores"] == [1.0, 1.0]
    assert scores["tie_contest_results"] == [True, True]
    assert scores["tie_option_selection_outputs"] == ["Response B", "Response B"]
    assert [scores[f"{name}_winrate"] for name in given] == [0.25, 0.25, 1.0]
    assert [scores[f"{name}_ranking"] for name in given] == [2, 2, 1]
    assert [scores[f"{name}_response_name"] for name in given] == list(given)
    assert scores["x_assessments"] == ["They differ in quality."] * 2
    assert scores["x_positional_bias_assessments"] == ["They differ in quality."] * 2
    assert len(scores["x_summaries"]) == 2
    assert (scores["score"], scores["score_name"]) == (0.25, "x_winrate")


def test_only_the_pairs_of_the_design_meet():
    given = {"x": "quality 3 of a", "y": "quality 3 of b", "z": "quality 6 of c"}
    by_design = {design: run([given] * 3, design=design)[0] for design in ("baseline:x", "sample:1", "swiss:2")}
    assert [by_design["baseline:x"][f"{name}_compared_to"] for name in given] == [["y", "z"], ["x"], ["x"]]
    for design, contests in (("sample:1", 1), ("swiss:2", 2)):
        assert sum(len(by_design[design][f"{name}_compared_to"]) for name in given) == 2 * contests


def test_predictions_that_became_texts_on_the_way_are_read_back():
    plain = [{"x": f"quality {row} of x", "y": f"quality {5 * row % 7} of y"} for row in range(4)]
    expected = [scores["x_winrate"] for scores in run(plain)]
    for form in (json.dumps, str):
        assert [scores["x_winrate"] for scores in run([form(prediction) for prediction in plain])] == expected
    # a recipe's usual post-processor turns a dict into its Python text
    assert [scores["x_winrate"] for scores in run(plain, ["processors.to_string_stripped"])] == expected


def test_systems_whose_scores_would_share_a_name_are_refused():
    with pytest.raises(Exception, match="rename the system 'a_positional_bias'"):
        run([{"a": "x", "b": "y", "a_positional_bias": "z"}])
    for unnamed in ("", " ", 1):
        with pytest.raises(Exception, match=r"names a system .*; a system's name is a text"):
            run([{"a": "x", unnamed: "y"}])
    assert not SENT


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pandas.NA], ids=repr)
@pytest.mark.parametrize("postprocessors", [None, []], ids=["texts", "as given"])
@pytest.mark.parametrize(
    ("metric", "form"),
    [("pairwise", list), ("pairwise", dict), ("best_of", list), ("direct", str), ("checklist.item", str)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_kind_of_nothing_is_a_missing_response_in_every_recipe(metric, form, postprocessors, missing):
    """unitxt's default postprocessors make texts of predictions: "['a', nan]" is no list that can be read back."""
    judged = {
        "direct": "criteria=criteria.evenhand.direct.coherence",
        "checklist.item": "checklist=checklists.evenhand.essay",
    }.get(metric, "criteria=criteria.evenhand.pairwise.overall_quality")
    wrap = {list: list, dict: lambda texts: dict(zip("mn", texts, strict=True)), str: lambda texts: texts[1]}[form]
    row = {"question": "q", "essay": "e", "task": "t", "prompt": "p"}
    task = Task(
        input_fields=dict.fromkeys(row, Any),
        reference_fields={},
        prediction_type=Any,
        metrics=[f"metrics.evenhand.{metric}[{judged},inference_engine=engines.evenhand.baseline,progress=False]"],
        default_template="templates.empty",
    )
    recipe = {} if postprocessors is None else {"postprocessors": postprocessors}
    data = create_dataset(task=task, test_set=[row] * 2, split="test", data_classification_policy=["public"], **recipe)
    found = evaluate(predictions=[wrap(["a b", "b c"]), wrap(["a b", missing])], data=data).instance_scores
    reasons = [[value for name, value in scores.items() if "unscored_reason" in name] for scores in found]
    texts = [[str(value) for value in own if isinstance(value, str | list) and value] for own in reasons]
    assert texts[0] == []
    assert texts[1]
    assert all("missing_response" in reason for reason in texts[1])
