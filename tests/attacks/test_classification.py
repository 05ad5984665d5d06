"""Data reach no judge that may not see them, whoever asks and however the data are marked."""

import json

import pytest

import evenhand
from evenhand.cli import main
from evenhand.engines.base import HOSTED
from evenhand.engines.names import as_judge
from evenhand.errors import DataClassificationError, InvalidInputError
from evenhand.question import Question
from tests.attacks.ways import CRITERION, PAIR, QUIET, WAYS
from tests.support.asking import ask, request
from tests.support.server import JudgeServer, deterministic_reply

ROW = {"question": "Who wrote Emma?", "answer": "Jane Austen.", "other": "Nobody knows.", "third": "A pen."}
PLAIN = {**ROW, "question": "What is red?", "answer": "A rose.", "other": "Grass.", "third": "Snow."}


@pytest.fixture
def server():
    with JudgeServer(reply=deterministic_reply(["Yes", "No", "Response A", "Response B", "1", "2"])) as server:
        yield server


def address(server, allowed=None):
    return f"{server.base_url}[model=m{'' if allowed is None else f',data_classification_policy=[{allowed}]'}]"


@pytest.mark.parametrize("way", WAYS)
def test_a_row_that_a_judge_may_not_see_is_refused_before_the_first_call_by_every_way_of_judging(way, server):
    rows = [{**PLAIN, "data_classification_policy": ["public"]}, {**ROW, "data_classification_policy": ["pii"]}]
    with pytest.raises(InvalidInputError, match=r"instance 1 has the data classification \['pii'\].*'m' may"):
        WAYS[way](rows, address(server))
    with pytest.raises(InvalidInputError, match=r"classification \['pii'\].*shown data of \['public'\]"):
        WAYS[way]([PLAIN, ROW], address(server, "public"), data_classification="pii")
    assert server.seen == 0
    WAYS[way](rows, address(server, "public,pii"))
    assert server.seen > 0


@pytest.mark.parametrize("way", ["direct", "pairwise", "checklist", "grade_scores", "best_of"])
def test_what_a_run_would_take_is_not_counted_for_a_judge_that_may_not_see_the_data(way, server):
    with pytest.raises(InvalidInputError, match="may only be shown"):
        WAYS[way]([ROW], address(server), data_classification=["pii"], dry_run=True)


@pytest.mark.parametrize("marked", ["pii", " pii ", ["pii"], ("pii", "secret"), '["pii"]', "['pii']"])
def test_a_row_is_marked_by_a_text_a_list_or_the_text_of_a_list(marked, server):
    with pytest.raises(InvalidInputError, match="'pii'"):
        WAYS["direct"]([{**ROW, "data_classification_policy": marked}], address(server))


@pytest.mark.parametrize("marked", [None, "", [], float("nan"), "public", ["pii", "proprietary"]])
def test_a_row_that_says_nothing_or_names_a_class_that_is_allowed_is_judged(marked, server):
    WAYS["direct"]([{**ROW, "data_classification_policy": marked}], address(server))
    assert server.seen > 0


@pytest.mark.parametrize("marked", [3, [" "], {"pii": True}, True])
def test_a_mark_that_is_no_class_is_refused(marked, server):
    with pytest.raises(InvalidInputError, match=r"instance 0 has .* in 'data_classification_policy'"):
        WAYS["direct"]([{**ROW, "data_classification_policy": marked}], address(server))
    with pytest.raises(InvalidInputError, match="data_classification is"):
        WAYS["direct"]([ROW], address(server), data_classification=marked)
    assert server.seen == 0


def test_rows_of_several_classes_in_one_prompt_must_all_be_allowed(server):
    rows = [
        {"prompt": "p", "model": name, "output": text, "data_classification_policy": marked}
        for name, text, marked in (("a", "x", "public"), ("b", "y", "pii"))
    ]
    layout = {"systems_field": "model", "response_fields": "output", "id_field": "prompt", "context_fields": []}
    criterion = "criteria.evenhand.pairwise.overall_quality"
    with pytest.raises(InvalidInputError, match="'pii'"):
        evenhand.winrates(rows, criterion, address(server), **QUIET | layout)
    assert server.seen == 0


def test_an_example_brings_its_own_class_into_the_prompt(server):
    cases = [
        {**PLAIN, "correct": "Yes", "data_classification_policy": "pii"},
        {**PLAIN, "answer": "Snow.", "correct": "No"},
    ]
    with pytest.raises(InvalidInputError, match="'pii'"):
        WAYS["direct"]([ROW], address(server), examples=cases)
    assert server.seen == 0


def test_an_unrelated_option_brings_the_class_of_its_row_into_the_prompt(server):
    rows = [ROW, {**PLAIN, "answer": None, "other": None, "data_classification_policy": "pii"}]
    with pytest.raises(InvalidInputError, match=r"instance 0 has .*'pii'"):
        WAYS["grade_scores"](rows, address(server), unrelated_option=True)
    assert server.seen == 0


def test_every_judge_of_a_panel_must_be_allowed_to_see_the_data(server):
    panel = [address(server, "pii"), f"{server.base_url}[model=other]"]
    with pytest.raises(InvalidInputError, match="the judge 'other' may only"):
        WAYS["direct"]([ROW], panel, data_classification="pii")
    assert server.seen == 0


def test_the_environment_says_what_an_engine_may_see_as_for_unitxt(server, monkeypatch):
    monkeypatch.setenv("UNITXT_DATA_CLASSIFICATION_POLICY", json.dumps({"OpenAICompatibleEngine": ["pii"]}))
    WAYS["direct"]([ROW], address(server), data_classification="pii")
    with pytest.raises(InvalidInputError, match=r"data of \['pii'\]"):
        WAYS["direct"]([ROW], address(server), data_classification="public")


def test_hosted_judges_see_what_is_public_or_proprietary_and_judges_without_a_network_see_everything():
    hosted = [as_judge("openai/gpt-4.1-mini"), as_judge("http://localhost:1/v1[model=m]")]
    assert [judge.data_classification_policy for judge in hosted] == [HOSTED, HOSTED]
    WAYS["direct"]([ROW], "engines.evenhand.baseline", data_classification="pii")
    limited = "engines.evenhand.simulated[data_classification_policy=[public]]"
    with pytest.raises(InvalidInputError, match="'pii'"):
        WAYS["direct"]([ROW], limited, data_classification="pii")


def test_the_door_refuses_what_nobody_checked_before(server):
    question = Question("q", evenhand.load(CRITERION), ("r",), data_classifications=(("public",), ("pii",)))
    with pytest.raises(DataClassificationError, match="'pii'"):
        ask(as_judge(address(server)), request(question=question))
    assert server.seen == 0


OVERALL = ["--criteria", "criteria.evenhand.pairwise.overall_quality"]
MAPPED = ["--context-fields", "document=question"]
VERBS = {
    "judge": ["--criteria", "Is it correct?", "--response-fields", "answer"],
    "winrates": [*OVERALL, "--response-fields", *PAIR, "--context-fields", "question"],
    "checklist": ["--checklist", "checklists.evenhand.summary", "--response-fields", "answer", *MAPPED],
    "judge --mode": ["--mode", "best_of", "--response-fields", *PAIR, *OVERALL, "--context-fields", "question"],
    "reliability": ["--criteria", "Is it correct?", "--response-fields", "answer"],
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("marked", ["row", "option"])
def test_every_verb_refuses_what_the_judge_may_not_see(verb, marked, server, tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**ROW, **({"data_classification_policy": "pii"} if marked == "row" else {})}) + "\n")
    option = ["--data-classification", "pii"] if marked == "option" else []
    assert main([verb.split()[0], str(path), *VERBS[verb], "--engine", address(server), *option]) == 2
    assert "has the data classification ['pii']" in " ".join(capsys.readouterr().err.split())
    assert server.seen == 0
