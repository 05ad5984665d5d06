"""Rubrics inside unitxt: scores worked by hand, both ways of asking, recipes, panels and examples."""

import json
import math

import pytest

from evenhand.criteria import Rubric
from evenhand.errors import InvalidCriterionError
from evenhand.metrics.judge_metrics import RubricJudge
from evenhand.statistics import mean_intervals
from tests.modes.test_rubrics import CITES, CLEAR, RUDE
from tests.support.judges import ScriptedJudge

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

RUBRIC = Rubric(name="Good answer", criteria=(CLEAR, CITES, RUDE))

# response -> what the judge says of each criterion; None names no option
SAID = {
    "one": {"clear": "Good", "cites": "Yes", "rude": "No"},
    "two": {"clear": "Fair", "cites": "N/A", "rude": "Yes"},
    "three": {"clear": None, "cites": "No", "rude": "No"},
}


def says(request):
    answer = SAID[request.question.responses[0]][request.question.criterion.name]
    if request.stage == "reask" or answer is None:
        return "Who can say?" if answer is None else answer
    return json.dumps({"assessment": f"Because of {request.question.criterion.name}.", "selected_option": answer})


def test_the_scores_by_hand():
    engine = ScriptedJudge(says)
    given = {"max_reasks": 0, "progress": False, "context_fields": [], "journal": None}
    metric = RubricJudge(inference_engine=engine, rubric=RUBRIC, **given)
    instances, overall = metric.compute([{"prediction": each, "references": [], "task_data": {}} for each in SAID])
    assert len(engine.requests) == 9  # one step, one order
    one, two, three = instances
    # (3·1 + 1·1 − 2·0) / 4; (3·½ − 2·1) / 3 < 0; (0 − 0) / 1, without clear
    assert [each["good_answer"] for each in instances] == [1.0, 0.0, 0.0]
    assert [each["good_answer_raw_score"] for each in instances] == [4.0, -0.5, 0.0]
    assert [each["good_answer_counted_criteria"] for each in instances] == [
        ["clear", "cites", "rude"],
        ["clear", "rude"],
        ["cites", "rude"],
    ]
    assert (two["good_answer_na_criteria"], three["good_answer_unscored_criteria"]) == (["cites"], ["clear"])
    assert (two["good_answer_cites_na"], two["good_answer_cites_selected_option"]) == (True, "N/A")
    assert math.isnan(two["good_answer_cites"])
    assert three["good_answer_clear_unscored_reason"] == "no_match"
    assert one["good_answer_clear_assessment"] == "Because of clear."
    assert (one["score_name"], one["good_answer_using_scripted"]) == ("good_answer", 1.0)
    assert one["good_answer_prompts"].keys() == {"clear", "cites", "rude"}

    (score,), (clear,) = mean_intervals([1.0, 0.0, 0.0]), mean_intervals([1.0, 0.5])
    expected = {
        "good_answer": score.estimate,
        "good_answer_ci_low": score.low,
        "good_answer_ci_high": score.high,
        "score": score.estimate,
        "good_answer_clear": clear.estimate,
        "good_answer_clear_ci_low": clear.low,
        "good_answer_clear_ci_high": clear.high,
        "good_answer_cites": 1 / 2,
        "good_answer_rude": 1 / 3,
        "good_answer_raw_score": 3.5 / 3,
        "good_answer_parse_rate": 8 / 9,
        "good_answer_num_unscored": 0,
        "good_answer_num_incomplete": 1,
        "good_answer_clear_num_unscored": 1,
        "good_answer_cites_num_na": 1,
        # three with clear at Bad: 0; at Good: 3 / 4
        "good_answer_score_if_unscored_0": 1 / 3,
        "good_answer_score_if_unscored_1": (1 + 0 + 0.75) / 3,
        "good_answer_num_asked_votes": 9,
        "good_answer_num_unscored_votes": 1,
        "good_answer_num_unscored_verdicts": 1,
        "good_answer_clear_num_unscored_votes": 1,
        "good_answer_cites_num_unscored_votes": 0,
        "good_answer_unscored_votes_no_match": 1,
        "good_answer_calls": 9,
    }
    assert {name: overall[name] for name in expected} == pytest.approx(expected)
    # one judge that was asked once says nothing about judges
    assert not [name for name in overall if "alpha" in name or "judge_" in name or "num_votes" in name]
    assert not [name for name, value in overall.items() if isinstance(value, float) and math.isnan(value)]


def test_scores_that_would_share_a_name_are_refused():
    of_one = ["raw_score", "score_if_unscored_1", "length_penalty_ci_low", "cost", "unscored_votes_refusal", "votes"]
    for names in (["a", "A"], ["a", "a_agreement"], ["a", "a_parse_rate_ci_high"], *([name] for name in of_one)):
        criteria = tuple(CLEAR.model_copy(update={"name": name}) for name in names)
        with pytest.raises(InvalidCriterionError, match=r"two scores would be called .*: rename the criterion"):
            RubricJudge(inference_engine=ScriptedJudge(says), rubric=Rubric(name="r", criteria=criteria))
