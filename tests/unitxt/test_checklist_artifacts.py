"""Checklists as artifacts: what unitxt holds is what the frozen value says."""

import copy
import json

import pytest

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.errors import InvalidCriterionError
from evenhand.metrics import register
from evenhand.unitxt.bases import fetch_artifact
from evenhand.unitxt.criteria_artifacts import EvenhandChecklist, to_artifact
from evenhand.unitxt.loading import load_checklist

CHECKLIST = Checklist(
    name="reply",
    description="For replies.",
    prediction_field="reply",
    context_fields={"shown": "question"},
    items=(
        ChecklistItem(question="Is it polite?", weight=0),
        ChecklistItem(question="Is it short?", name="short", category="form", na=True, prerequisites=("1",)),
    ),
)


@pytest.fixture(autouse=True, scope="module")
def _registered():
    register()


@pytest.mark.parametrize("form", ["value", "dict", "text", "path", "artifact", "artifact's dict", "artifact's text"])
def test_a_checklist_is_the_same_in_every_form(form, tmp_path):
    path = tmp_path / "own.json"
    path.write_text(CHECKLIST.model_dump_json(), encoding="utf-8")
    artifact = to_artifact(CHECKLIST)
    given = {
        "value": CHECKLIST,
        "dict": CHECKLIST.model_dump(),
        "text": CHECKLIST.model_dump_json(),
        "path": path,
        "artifact": artifact,
        "artifact's dict": artifact.to_dict(),
        "artifact's text": artifact.to_json(),
    }[form]
    assert load_checklist(given) == CHECKLIST
    assert isinstance(artifact, EvenhandChecklist)


def test_unitxt_copies_and_writes_the_artifact():
    artifact = to_artifact(CHECKLIST)
    for same in (copy.deepcopy(artifact), fetch_artifact(json.loads(artifact.to_json()))[0]):
        assert load_checklist(same) == CHECKLIST
        assert same.to_json() == artifact.to_json()


def test_an_artifact_is_checked_when_it_is_made():
    with pytest.raises(InvalidCriterionError, match=r"the checklist 'x' has the items \[\]; give a list"):
        EvenhandChecklist(name="x", items=[])
    with pytest.raises(InvalidCriterionError, match="go in a circle"):
        EvenhandChecklist(name="x", items=[{"question": "Is it short?", "prerequisites": [1]}])
