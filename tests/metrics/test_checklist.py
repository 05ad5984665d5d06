"""Checklists inside unitxt: recipes, rows with their own questions, faults that leave an item unanswered, panels."""

import json

import pytest

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.metrics.judge_metrics import ChecklistJudge
from tests.support.checklists import (
    sheet,
)
from tests.support.judges import ScriptedJudge, http_judge
from tests.support.recipes import evaluated
from tests.support.server import Fault, JudgeServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

QUESTIONS = ["Is it polite?", "Is it short?", "Is it true?"]
WEIGHTED = Checklist(
    name="mail",
    items=(
        ChecklistItem(name="polite", question="Is it polite?", weight=60, category="tone"),
        ChecklistItem(name="short", question="Is it short?", weight=20, category="form"),
        ChecklistItem(name="greets", question="Does it greet?", weight=20, category="tone"),
    ),
)


def stream(*predictions, **task_data):
    return [{"prediction": given, "references": [], "task_data": {"topic": "t", **task_data}} for given in predictions]


def checked(engine, *predictions, checklist=QUESTIONS, instances=None, **settings):
    """Instance scores and global scores."""
    given = {"journal": None, "progress": False, **({} if checklist is None else {"checklist": checklist}), **settings}
    metric = ChecklistJudge(inference_engine=engine, **given)
    return metric.compute(instances or stream(*(predictions or ("answer-0",))))


def scripted(*replies):
    return ScriptedJudge(list(replies))


def answers_of(scores):
    return [item["answer"] for item in scores["items"]]


def test_scores_by_hand():
    [scores], overall = checked(scripted(sheet("Yes", "No", "Yes")), checklist=WEIGHTED)
    assert answers_of(scores) == ["yes", "no", "yes"]
    assert scores["pass_rate"] == pytest.approx(2 / 3)
    assert scores["weighted_score"] == pytest.approx(80 / 100)
    assert scores["normalized_score"] == pytest.approx(2 / 3)  # without probabilities: the pass rate
    assert scores["scaled_score_1_5"] == pytest.approx(4 * 2 / 3 + 1)
    assert (scores["primary_metric"], scores["primary_score"]) == ("pass", scores["pass_rate"])
    assert scores["categories"] == {"tone": 1.0, "form": 0.0}
    assert scores["mail_num_answered"] == 3
    assert (overall["score_name"], overall["mail"]) == ("mail", overall["pass_rate"])
    for name in ("pass_rate", "weighted_score", "normalized_score", "primary_score", "scaled_score_1_5"):
        assert overall[f"{name}_ci_low"] <= overall[name] <= overall[f"{name}_ci_high"]
        assert overall[f"mail_{name}"] == overall[name]


def test_faults_of_the_server_leave_their_instances_unanswered():
    faults = [
        Fault("empty", match="answer-1"),
        Fault("truncate", match="answer-2"),
        Fault("content_filter", match="answer-3"),
        Fault("status", status=500, match="answer-4"),
    ]
    with JudgeServer(reply=lambda body: sheet("Yes", "No", "Yes"), faults=faults) as server:
        instances, overall = checked(
            http_judge(server.base_url), *(f"answer-{row}" for row in range(10)), max_failure_rate=0.5
        )
    reasons = [[item["reason"] for item in scores["items"]] for scores in instances[:5]]
    assert reasons[0] == [None, None, None]
    assert reasons[1] == ["empty"] * 3
    assert reasons[2][-1] == "truncated"
    assert reasons[3] == ["content_filter"] * 3
    assert reasons[4] == ["engine_error"] * 3
    assert overall["pass_rate"] > 0.5
    assert overall["checklist_num_unscored"] >= 3


class TestRows:
    """A checklist in each row."""

    @pytest.mark.parametrize(
        "given",
        [
            ["Is it kind?", "Is it short?"],
            [{"question": "Is it kind?", "weight": 5}, {"question": "Is it short?"}],
            {"name": "mine", "items": ["Is it kind?", "Is it short?"]},
            json.dumps(["Is it kind?", "Is it short?"]),
        ],
    )
    def test_in_every_form(self, given):
        engine = scripted(sheet("Yes", "No"))
        [scores], _ = checked(
            engine, checklist=None, checklist_field="checks", instances=stream("answer-0", checks=given)
        )
        assert [item["question"] for item in scores["items"]] == ["Is it kind?", "Is it short?"]
        assert scores["pass_rate"] == 0.5


def recipe(metric, rows, **more):
    return evaluated(
        metric, rows, [f"The fox number {row} ran away over the hill." for row in range(len(rows))], **more
    )


@pytest.mark.parametrize("entry", ["batch", "batch_reasoned", "item", "item_reasoned", "weighted", "normalized"])
@pytest.mark.filterwarnings("ignore::evenhand.judging.run.NoLogprobsWarning")
def test_every_catalog_entry_in_a_recipe(entry):
    rows = [{"document": f"A fox number {row} ran over the hill."} for row in range(4)]
    results = recipe(
        f"metrics.evenhand.checklist.{entry}[checklist=checklists.evenhand.summary,"
        "inference_engine=engines.evenhand.baseline,progress=False]",
        rows,
    )
    overall = results[0]["score"]["global"]
    expected = {"weighted": "weighted", "normalized": "normalized"}.get(entry, "pass")
    assert overall["primary_metric"] == expected
    assert overall["score_name"] == "summary"
    assert 0 <= overall["score"] <= 1
    items = results[0]["score"]["instance"]["items"]
    assert len(items) == 10
    assert all((item["reasoning"] is not None) == ("reasoned" in entry) for item in items)
