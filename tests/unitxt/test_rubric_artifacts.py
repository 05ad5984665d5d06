"""Rubrics and checklists as artifacts: unitxt holds what the frozen value says, and builds nothing else."""

import copy
import json

import pytest

from evenhand.catalog import catalog_path
from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Rubric, yes_no_criterion
from evenhand.errors import InvalidCriterionError
from evenhand.unitxt.bases import Artifact, fetch_artifact
from evenhand.unitxt.criteria_artifacts import EvenhandChecklist, EvenhandRubric, to_artifact
from evenhand.unitxt.loading import load_checklist, load_rubric

SHOWN = {"prediction_field": "reply", "context_fields": {"shown": "question"}}
RUBRIC = Rubric(
    name="reply",
    na_strategy="fail",
    criteria=(
        yes_no_criterion("polite", "Is it polite?", weight=2),
        Criterion(
            name="kind",
            description="Which kind is it?",
            scale="nominal",
            section="form",
            weight=-1,
            options=(Option(label="Letter", value=1), Option(label="Note", value=0), Option(label="None", na=True)),
            **SHOWN,
        ),
    ),
)
CHECKLIST = Checklist(
    name="reply",
    description="For replies.",
    items=(
        ChecklistItem(question="Is it polite?", weight=0),
        ChecklistItem(question="Is it short?", name="short", category="form", na=True, prerequisites=("1",)),
    ),
    **SHOWN,
)
KINDS = [(RUBRIC, EvenhandRubric, load_rubric), (CHECKLIST, EvenhandChecklist, load_checklist)]


@pytest.mark.parametrize(("value", "kind", "load"), KINDS, ids=["rubric", "checklist"])
def test_a_value_is_the_same_in_every_form(value, kind, load, tmp_path):
    path = tmp_path / "own.json"
    path.write_text(value.model_dump_json(), encoding="utf-8")
    artifact = to_artifact(value)
    assert isinstance(artifact, kind)
    own = [value, value.model_dump(), value.model_dump_json(), path]
    for form in [*own, artifact, artifact.to_dict(), artifact.to_json()]:
        assert load(form) == value
    for same in (copy.deepcopy(artifact), fetch_artifact(json.loads(artifact.to_json()))[0]):
        assert load(same) == value
        assert same.to_json() == artifact.to_json()


def test_an_artifact_is_checked_when_it_is_made_and_when_it_is_read():
    with pytest.raises(InvalidCriterionError, match=r"the checklist 'x' has the items \[\]; give a list"):
        EvenhandChecklist(name="x", items=[])
    artifact = EvenhandRubric(name="x", criteria=["Is polite."])
    artifact.na_strategy = "never"
    with pytest.raises(InvalidCriterionError, match=r"the rubric 'x' has the na_strategy 'never'\. Accepted"):
        load_rubric(artifact)


def test_reading_a_rubric_builds_no_other_artifact(monkeypatch):
    built = []
    monkeypatch.setattr(Artifact, "__post_init__", lambda self: built.append(type(self).__name__), raising=False)
    load_rubric("rubrics.evenhand.summarization")
    load_rubric(json.loads((catalog_path() / "rubrics/evenhand/safety.json").read_text(encoding="utf-8")))
    assert built == []
    fetch_artifact("rubrics.evenhand.safety")
    assert built == ["EvenhandRubric"]
