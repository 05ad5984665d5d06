"""What rows are judged by is data: an id or the thing itself, and never a file, a class or a change of an entry."""

import json
import os
from pathlib import Path

import pytest

import evenhand
from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError
from evenhand.unitxt.bases import LocalCatalog
from evenhand.unitxt.loading import load_criteria_artifact
from tests.attacks.ways import CHECKLIST, CRITERION, RUBRIC

BASELINE = "engines.evenhand.baseline"
QUIET = {"progress": False, "journal": None}
ROW = {"question": "Who wrote Emma?", "answer": "Jane Austen.", "context": "A novel.", "reference": "Austen"}


METRICS = {
    "direct": (evenhand.DirectJudge, "criteria_field", CRITERION, "Austen."),
    "pairwise": (evenhand.PairwiseJudge, "criteria_field", CRITERION, {"a": "Austen.", "b": "No."}),
    "best_of": (evenhand.BestOfJudge, "criteria_field", CRITERION, ["Austen.", "No."]),
    "rubric_metric": (evenhand.RubricJudge, "rubric_field", RUBRIC, "Austen."),
    "checklist_metric": (evenhand.ChecklistJudge, "checklist_field", CHECKLIST, "Austen."),
}


def judged(name, given):
    """Judge two rows: the first by a criterion, rubric or checklist of its own, the second by what is given."""
    if name == "rubric":
        rows = [{**ROW, "own": RUBRIC}, {**ROW, "own": given}]
        return evenhand.judge(rows, None, BASELINE, response_fields="answer", rubric_field="own", **QUIET)
    if name == "checklist":
        rows = [{**ROW, "own": CHECKLIST}, {**ROW, "own": given}]
        return evenhand.checklist(rows, None, BASELINE, response_fields="answer", checklist_field="own", **QUIET)
    kind, setting, own, prediction = METRICS[name]
    metric = kind(inference_engine=BASELINE, **{setting: "own"}, **QUIET)
    return metric.compute(predictions=[prediction] * 2, task_data=[{**ROW, "own": own}, {**ROW, "own": given}])


ALL = [*METRICS, "rubric", "checklist"]
PATHS = {
    "absolute": "/etc/passwd",
    "planted": "{folder}/planted.json",
    "relative": "../planted.json",
    "named": "planted.json",
    "link": "{folder}/link.json",
    "queue": "{folder}/queue.json",
    "endless": "/dev/zero",
    "nul": "a/b\0c",
    "long": "/" + "a" * 5000 + ".json",
    "address": "https://example.com/planted",
    "windows": "C:\\planted.json",
    "dots": "criteria.evenhand/../../planted",
    "bracket": "criteria.evenhand.direct.relevance[description=/etc/passwd]",
    "type": "criteria.evenhand.direct.relevance[__type__=load_csv]",
    "object": Path("/etc/passwd"),
    "infinite": float("inf"),
    "not_a_number": float("nan"),
    "empty": "",
    "no_fields": {},
    "text": "[",
    "deep": "[" * 100_000,
    "deep_object": json.loads('{"a":' * 800 + "1" + "}" * 800),
    "huge_number": '{"name": "n", "description": "d", "weight": ' + "9" * 5000 + "}",
    "infinite_number": '{"name": "n", "description": "d", "options": [{"label": "a", "value": 1e400}, {"label": "b"}]}',
    "nowhere": "criteria.evenhand.nowhere",
    "metric": "metrics.accuracy",
}
TYPES = {
    "loader": {"__type__": "load_csv", "files": {"test": "{folder}/planted.json"}},
    "link": {"__type__": "artifact_link", "to": "criteria.evenhand.direct.relevance"},
    "nested": {**CRITERION, "__type__": "criteria_with_options", "context_fields": {"__type__": "load_csv"}},
    "option": {**CRITERION, "options": [{"__type__": "load_csv", "name": "a", "files": {}}, {"name": "b"}]},
    "option_id": {"name": "n", "description": "d", "options": ["engines.evenhand.baseline"], "option_map": {}},
    "text": '{"__type__": "lite_llm_engine", "model": "m"}',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files that must not be read, in and above the one that the run is in."""
    planted = {**CRITERION, "name": "planted", "criteria": [CRITERION], "items": CHECKLIST}
    (tmp_path / "planted.json").write_text(json.dumps(planted))
    (tmp_path / "link.json").symlink_to(tmp_path / "planted.json")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "queue.json")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "planted.json").write_text(json.dumps(planted))
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path


def placed(given, folder):
    return json.loads(json.dumps(given).replace("{folder}", str(folder))) if isinstance(given, (str, dict)) else given


def refusal(name, given):
    with pytest.raises((ArtifactError, InvalidCriterionError, InvalidInputError)) as refused:
        judged(name, given)
    return str(refused.value)


EACH = [(judge, path) for judge in ALL for path in PATHS if judge in ("direct", "rubric")]
EACH += [(judge, path) for judge in ALL for path in ("planted", "queue", "endless", "nul") if (judge, path) not in EACH]


@pytest.mark.parametrize(("judge", "path"), EACH)
def test_no_row_makes_the_run_open_a_file_or_end_in_another_error_than_one_that_names_the_row(judge, path, folder):
    message = refusal(judge, placed(PATHS[path], folder))
    assert message.startswith("the field 'own' of instance 1")
    assert len(message) < 2000
    assert message.isprintable()


@pytest.mark.parametrize("judge", ALL)
@pytest.mark.parametrize("kind", TYPES)
def test_no_row_makes_the_run_build_an_artifact_that_is_not_a_criterion(judge, kind, folder):
    assert refusal(judge, placed(TYPES[kind], folder)).startswith("the field 'own' of instance 1")


@pytest.mark.parametrize("judge", ["direct", "pairwise", "best_of"])
@pytest.mark.parametrize(
    "given",
    [
        CRITERION,
        json.dumps(CRITERION),
        {"name": "n", "description": "d", "options": [{"name": "a"}, {"name": "b"}], "option_map": {"a": 1, "b": 0}},
        "criteria.evenhand.direct.relevance",
        "Polite?",
        evenhand.load(CRITERION),
        load_criteria_artifact(CRITERION),
    ],
)
def test_a_row_holds_its_criterion_or_names_it_by_its_id(judge, given, folder):
    assert len(judged(judge, given)) == 2


def test_a_question_that_is_also_the_name_of_a_file_is_a_question(folder):
    (folder / "run" / "is it").mkdir()
    (folder / "run" / "is it" / "good?").write_text("{}")
    assert "planted" not in str(judged("direct", "is it/good?"))


def test_an_id_never_leaves_the_folders_of_the_catalogs(folder, monkeypatch):
    looked = []
    found = LocalCatalog.__contains__
    monkeypatch.setattr(LocalCatalog, "__contains__", lambda self, name: looked.append(name) or found(self, name))
    for given in PATHS.values():
        refusal("direct", placed(given, folder))
    assert {name for name in looked if not name.replace(".", "").replace("_", "").isalnum()} == set()
