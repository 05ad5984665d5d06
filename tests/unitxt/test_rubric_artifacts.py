"""Rubrics as artifacts: what unitxt holds is what the frozen value says, and nothing else is ever built."""

import copy
import json

import pytest

from evenhand.catalog import catalog_path
from evenhand.criteria import Criterion, Option, Rubric, yes_no_criterion
from evenhand.errors import InvalidCriterionError
from evenhand.metrics import register
from evenhand.unitxt.bases import Artifact, fetch_artifact
from evenhand.unitxt.criteria_artifacts import EvenhandRubric, to_artifact
from evenhand.unitxt.loading import load_rubric

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
            prediction_field="reply",
            context_fields={"shown": "question"},
            options=(Option(label="Letter", value=1), Option(label="Note", value=0), Option(label="None", na=True)),
        ),
    ),
)


@pytest.fixture(autouse=True, scope="module")
def _registered():
    register()


@pytest.mark.parametrize("form", ["value", "dict", "text", "path", "artifact", "artifact's dict", "artifact's text"])
def test_a_rubric_is_the_same_in_every_form(form, tmp_path):
    path = tmp_path / "own.json"
    path.write_text(RUBRIC.model_dump_json(), encoding="utf-8")
    artifact = to_artifact(RUBRIC)
    given = {
        "value": RUBRIC,
        "dict": RUBRIC.model_dump(),
        "text": RUBRIC.model_dump_json(),
        "path": path,
        "artifact": artifact,
        "artifact's dict": artifact.to_dict(),
        "artifact's text": artifact.to_json(),
    }[form]
    assert load_rubric(given) == RUBRIC
    assert isinstance(artifact, EvenhandRubric)


def test_unitxt_copies_and_writes_the_artifact():
    artifact = to_artifact(RUBRIC)
    for same in (copy.deepcopy(artifact), fetch_artifact(json.loads(artifact.to_json()))[0]):
        assert load_rubric(same) == RUBRIC
        assert same.to_json() == artifact.to_json()


def test_an_artifact_is_checked_when_it_is_made_and_when_it_is_read():
    with pytest.raises(InvalidCriterionError, match="the rubric 'x' has the criteria"):
        EvenhandRubric(name="x", criteria=[])
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
