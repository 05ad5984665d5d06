"""Option maps on any scale in recipes: the commonest one is 1 to 5."""

import re

import pytest
from unitxt.llm_as_judge import LLMJudgeDirect

from evenhand.metrics import register
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.modes.direct_assessment import DifferentRangesWarning
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


@pytest.fixture(autouse=True)
def _catalog():
    register()


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


@script
def broken_off_judge(messages):
    """Reads nothing of every fourth response, and chooses the best level for the others."""
    number = int(re.search(r"answer-(\d+)", messages[0]["content"]).group(1))
    return "Hm." if len(messages) == 1 or number % 4 == 0 else "Excellent"


def test_bounds_of_what_was_not_read_are_the_ends_of_the_scale():
    engine = ScriptedInferenceEngine(script="broken_off_judge")
    _, scores = run(DirectJudge(inference_engine=engine, criteria=criterion("likert"), max_reasks=0, progress=False))
    assert (scores["likert"], scores["likert_num_unscored"]) == (5, 3)
    assert (scores["likert_score_if_unscored_0"], scores["likert_score_if_unscored_1"]) == ((9 * 5 + 3 * 1) / 12, 5)


def test_a_mean_over_units_is_told():
    names = ("likert", "sentiment")
    rows = [{"question": "q", "criterion": criterion(name).to_json()} for name in names for _ in range(3)]
    engine = ScriptedInferenceEngine(script="likert_judge")
    judge = DirectJudge(
        inference_engine=engine, criteria_field="criterion", context_fields=["question"], progress=False
    )
    with pytest.warns(DifferentRangesWarning, match="'likert' from 1 to 5; 'sentiment' from -1 to 1"):
        ours, scores = run(judge, rows)
    assert [each["llm_as_judge"] for each in ours] == [1, 2, 3, 0.5, 1, -1]
    assert -1 <= scores["llm_as_judge_ci_low"] <= scores["llm_as_judge_ci_high"] <= 5
