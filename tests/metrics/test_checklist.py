"""Checklists inside unitxt: scores by hand, rows with their own questions, and every catalog entry."""

import json

import pytest

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.metrics.judge_metrics import ChecklistJudge
from tests.support.checklists import sheet
from tests.support.judges import ScriptedJudge
from tests.support.recipes import evaluated

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WEIGHTED = Checklist(
    name="mail",
    items=(
        ChecklistItem(name="polite", question="Is it polite?", weight=60, category="tone"),
        ChecklistItem(name="short", question="Is it short?", weight=20, category="form"),
        ChecklistItem(name="greets", question="Does it greet?", weight=20, category="tone"),
    ),
)


def checked(engine, checks=None, **settings):
    """The scores of one response, and global scores."""
    metric = ChecklistJudge(inference_engine=engine, journal=None, progress=False, **settings)
    given = {"prediction": "answer-0", "references": [], "task_data": {"topic": "t", "checks": checks}}
    return metric.compute([given])


def test_scores_by_hand():
    [scores], overall = checked(ScriptedJudge([sheet("Yes", "No", "Yes")]), checklist=WEIGHTED)
    assert [item["answer"] for item in scores["items"]] == ["yes", "no", "yes"]
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


@pytest.mark.parametrize(
    "given",
    [
        ["Is it kind?", "Is it short?"],
        [{"question": "Is it kind?", "weight": 5}, {"question": "Is it short?"}],
        {"name": "mine", "items": ["Is it kind?", "Is it short?"]},
        json.dumps(["Is it kind?", "Is it short?"]),
    ],
)
def test_a_row_holds_its_checklist_in_every_form(given):
    [scores], _ = checked(ScriptedJudge([sheet("Yes", "No")]), given, checklist_field="checks")
    assert [item["question"] for item in scores["items"]] == ["Is it kind?", "Is it short?"]
    assert scores["pass_rate"] == 0.5


@pytest.mark.parametrize("name", ["pass rate", "spread", "items", "Micro"])
def test_a_checklist_that_is_named_like_a_score_is_refused_before_a_call(name):
    judge = ScriptedJudge([sheet("Yes", "No", "Yes")])
    with pytest.raises(Exception, match=r"two scores would be called .*: rename the checklist"):
        checked(judge, checklist=WEIGHTED.model_copy(update={"name": name}))
    assert not judge.requests


@pytest.mark.parametrize("entry", ["batch", "batch_reasoned", "item", "item_reasoned", "weighted", "normalized"])
@pytest.mark.filterwarnings("ignore::evenhand.judging.run.NoLogprobsWarning")
def test_every_catalog_entry_in_a_recipe(entry):
    given = "checklist=checklists.evenhand.summary,inference_engine=engines.evenhand.baseline,progress=False"
    rows = [{"document": f"A fox number {row} ran over the hill."} for row in range(4)]
    said = [f"The fox number {row} ran away over the hill." for row in range(4)]
    results = evaluated(f"metrics.evenhand.checklist.{entry}[{given}]", rows, said)
    overall = results[0]["score"]["global"]
    expected = {"weighted": "weighted", "normalized": "normalized"}.get(entry, "pass")
    assert overall["primary_metric"] == expected
    assert overall["score_name"] == "summary"
    assert 0 <= overall["score"] <= 1
    items = results[0]["score"]["instance"]["items"]
    assert len(items) == 10
    assert all((item["reasoning"] is not None) == ("reasoned" in entry) for item in items)
