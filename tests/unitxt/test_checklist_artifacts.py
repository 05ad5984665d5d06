"""Checklists as artifacts: what unitxt holds is what the frozen value says."""

import copy
import json

import pytest

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.errors import ArtifactError, InvalidCriterionError
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


def test_a_checklist_takes_its_name_from_its_file(tmp_path):
    path = tmp_path / "tone.yml"
    path.write_text("- Is it polite?\n- question: Is it short?\n  prerequisites: [1]\n", encoding="utf-8")
    checklist = load_checklist(path)
    assert (checklist.name, checklist.items[1].prerequisites) == ("tone", ("1",))
    assert load_checklist(["Is it polite?"]).name == "checklist"


def test_an_id_may_override_fields():
    reference = "checklists.evenhand.essay[name=mine,context_fields=task]"
    for checklist in (load_checklist(reference), load_checklist(fetch_artifact(reference)[0])):
        assert (checklist.name, checklist.context_fields) == ("mine", {"task": "task"})


def test_an_artifact_is_checked_when_it_is_made():
    with pytest.raises(InvalidCriterionError, match=r"the checklist 'x' has the items \[\]; give a list"):
        EvenhandChecklist(name="x", items=[])
    with pytest.raises(InvalidCriterionError, match="go in a circle"):
        EvenhandChecklist(name="x", items=[{"question": "Is it short?", "prerequisites": [1]}])


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        ("rubrics.evenhand.safety", ArtifactError, "has the type 'evenhand_rubric', which is not a checklist"),
        ("checklists.evenhand.esay", ArtifactError, "Did you mean 'checklists.evenhand.essay'?"),
        ({"items": [{"__type__": "accuracy_fast"}]}, InvalidCriterionError, "has the field '__type__'"),
        (7, ArtifactError, "7 is a int; give a catalog id such as 'checklists.evenhand.summary'"),
    ],
)
def test_what_is_no_checklist_is_refused_in_one_line(reference, error, message):
    with pytest.raises(error) as caught:
        load_checklist(reference)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_artifact_is_refused():
    other = fetch_artifact("rubrics.evenhand.safety")[0]
    with pytest.raises(ArtifactError, match="is a EvenhandRubric, not a checklist"):
        load_checklist(other)
