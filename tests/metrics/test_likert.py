"""Option maps on any scale in recipes: the commonest one is 1 to 5."""

import re

import pytest
from unitxt.llm_as_judge import LLMJudgeDirect

from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.unitxt.bases import CriteriaOption, CriteriaWithOptions
from tests.support.recipes import evaluated
from tests.support.scripted import ScriptedInferenceEngine, script

LABELS = ["Very poor", "Poor", "Fair", "Good", "Excellent"]
MAPS = {
    "likert": {label: place + 1 for place, label in enumerate(LABELS)},
    "sentiment": dict(zip(LABELS, (-1.0, -0.5, 0.0, 0.5, 1.0), strict=True)),
    "percent": dict(zip(LABELS, (0, 25, 50, 75, 100), strict=True)),
}

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def criterion(name):
    options = [CriteriaOption(name=label, description=f"It is {label.lower()}.") for label in LABELS]
    return CriteriaWithOptions(name=name, description="How good is it?", options=options, option_map=MAPS[name])


@script
def likert_judge(messages):
    if len(messages) == 1:
        return "The response deals with the question."
    return LABELS[int(re.search(r"answer-(\d+)", messages[0]["content"]).group(1)) % 5]


def run(metric, rows=None):
    rows = rows or [{"question": f"question {row}"} for row in range(12)]
    results = evaluated(metric, rows, [f"answer-{row}" for row in range(len(rows))])
    return [result["score"]["instance"] for result in results], results[0]["score"]["global"]


@pytest.mark.parametrize("name", MAPS)
def test_scores_are_those_of_unitxt(name):
    given = {"criteria": criterion(name), "context_fields": ["question"]}
    theirs, their_global = run(LLMJudgeDirect(inference_engine=ScriptedInferenceEngine(script="likert_judge"), **given))
    judge = DirectJudge(inference_engine=ScriptedInferenceEngine(script="likert_judge"), progress=False, **given)
    ours, our_global = run(judge)
    values = list(MAPS[name].values())
    for place, (their, our) in enumerate(zip(theirs, ours, strict=True)):
        assert our[name] == their[name] == MAPS[name][our[f"{name}_selected_option"]] == values[place % 5]
    assert our_global[name] == pytest.approx(their_global[name])
    # of 12 answers the first two levels are chosen three times, the others twice
    assert our_global[name] == pytest.approx((2 * sum(values) + values[0] + values[1]) / 12)
    assert values[0] <= our_global[f"{name}_ci_low"] < our_global[name] < our_global[f"{name}_ci_high"] <= values[4]
