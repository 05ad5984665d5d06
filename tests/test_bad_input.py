"""What cannot be used is one message that names it, before the first call: in the shell and from Python."""

import os
import shlex

import pandas as pd
import pytest

import evenhand
from evenhand.cli import main
from evenhand.errors import InvalidInputError
from tests.support.judges import ScriptedJudge
from tests.support.rows import write_rows

ENGINE = "--engine engines.evenhand.baseline --no-progress"
JUDGE = f"judge rows.jsonl --criteria 'Is it so?' --response-fields answer {ENGINE}"
RELIABILITY = f"reliability rows.jsonl --response-fields one two {ENGINE}"
ROWS = [{"question": "How many?", "answer": "Eight.", "one": "Yes", "two": "No"}]


@pytest.fixture(autouse=True)
def _data(tmp_path, monkeypatch):
    write_rows(tmp_path / "rows.jsonl", ROWS)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("", "'' is not the path of a file"),
        ("a\0b.jsonl", r"'a\x00b.jsonl' is not the path of a file"),
        ("x" * 300 + ".jsonl", "cannot be written (File name too long)"),
        ("x" * 246 + ".jsonl", "cannot be written (File name too long)"),  # as a temporary file with a longer name
        ("/proc/out.jsonl", "cannot be written ("),
        ("queue.jsonl", "is not a file that may be written"),
        ("journal.jsonl", "the same file as the input"),
        ("~nobody-has-this-name/out.jsonl", "cannot be written (No such file or directory)"),
    ],
)
def test_a_place_where_nothing_can_be_saved_is_found_before_the_run(out, message, tmp_path, capsys):
    if out == "queue.jsonl":
        os.mkfifo(out)
    assert main([*shlex.split(JUDGE), "--journal", "journal.jsonl", "--out", out]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err[:10]) == ("", "evenhand: ")
    assert message in shown.err
    assert {path.name for path in tmp_path.iterdir()} <= {"rows.jsonl", "queue.jsonl"}


def test_a_long_criterion_is_no_file_that_the_result_could_overwrite(tmp_path):
    (tmp_path / "out.jsonl").write_text("old", encoding="utf-8")
    long = f"Is it {'so ' * 200}?"
    assert main([*shlex.split(JUDGE.replace("Is it so?", long)), "--out", "out.jsonl"]) == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("judge", "judge needs DATA, which is missing"),
        (
            "judge rows.jsonl --criteria x --response-fields a",
            "needs --engine, which is missing",
        ),
        ("judge rows.jsonl --engine", "--engine requires at least 1 element"),
        (f"{JUDGE} --rubric-field r", "needs --criteria or --rubric-field, and only one of them may be given"),
        (f"checklist rows.jsonl {ENGINE}", "checklist needs --checklist or --checklist-field"),
        ("winrates rows.jsonl --criteria x", "winrates needs --engine or --votes, which is missing"),
        (
            f"winrates rows.jsonl --criteria 'Is it?' {ENGINE} --systems-field one --response-fields two",
            "do not say where the responses",
        ),
        ("aggregate-votes rows.jsonl", "aggregate-votes needs --votes, which is missing"),
        ("aggregate-votes rows.jsonl --votes one two --weights 0 0", "every judge has the weight 0"),
        ("aggregate-votes rows.jsonl --votes one two --weights x", "weights is ['x']; it should be a valid"),
        ("read-labels x.json", "parameter --draw requires"),
        ("correct", "parameter RUN requires"),
        ("run", "run needs FILE"),
        (RELIABILITY, "no criterion was given; give a catalog id"),
        (f"{RELIABILITY} --criteria x --out report.txt", "Accepted: '.json', '.md', '.html'"),
        (f"{RELIABILITY} --criteria x --aggregation mean", "every judge is reported by itself"),
        (f"{RELIABILITY} --criteria x --require 'x > 1'", "which takes no --require"),
        (f"{JUDGE} --gold x", "Unknown option: --gold"),
        (f"{JUDGE} --label-fields level", "it should be a valid dictionary"),
        (f"{JUDGE} --split test", "without splits"),
        (f"{JUDGE} --guidelines house.md", "--guidelines is 'house.md', which looks like the name of a file"),
        (f"{JUDGE} --guidelines /tmp", "it is a folder"),
        (f"{JUDGE} --context-fields =answer", "all of them texts that are not empty"),
        (f"{JUDGE} --reference-field ''", "no field '', which reference_field names"),
        (f"{JUDGE} --journal ''", "journal is '', which is not the path of a file"),
        (f"{JUDGE} --journal /tmp", "journal is '/tmp', which is not the path of a file"),
        (f"{JUDGE} --journal a\0b", r"journal is 'a\x00b', which is not the path of a file"),
        (f"{JUDGE} --samples {'9' * 20}", "it should be less than or equal to 10000"),
        (f"{JUDGE} --engine ''", "no catalog holds the engine ''. Give one in any of four ways"),
        (f"{JUDGE} --engine ftp://x", "no catalog holds the engine 'ftp://x'"),
        ("catalog show criteria.evenhand.direct.relevence", "Did you mean 'criteria.evenhand.direct.relevance'?"),
        (f"judge rows.jsonl --response-fields a {ENGINE} --criteria ./broken.json", "is not JSON (line 1"),
        (f"judge rows.jsonl --response-fields a {ENGINE} --criteria /tmp", "cannot be read (it is a folder"),
        ("demo --no-progress --out mine.pdf", "Accepted: '.html'"),
        ("demo --no-progress --out nowhere/mine.html", "cannot be written (No such file or directory)"),
    ],
)
def test_what_the_shell_cannot_use_is_one_message(command, message, tmp_path, capsys):
    (tmp_path / "broken.json").write_bytes(b"{")
    assert main(shlex.split(command)) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err[:10]) == ("", "evenhand: ")
    assert message in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("wrong", [5, True, float("nan"), b"answer", [None], {"a": 5}, [], ""])
@pytest.mark.parametrize("setting", ["response_fields", "context_fields", "reference_field", "id_field", "gold_fields"])
def test_a_column_that_is_no_name_is_named_and_no_judge_is_asked(setting, wrong):
    if setting in {"context_fields", "gold_fields"} and wrong in ([], ""):  # as none
        return
    engine = ScriptedJudge("Yes")
    given = {"response_fields": "answer", setting: wrong}
    with pytest.raises(InvalidInputError, match=setting):
        evenhand.judge(ROWS, "Is it so?", engine, **given, journal=None, progress=False)
    assert engine.requests == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evenhand.judge(pd.Series(["x"]), "Is it so?", None, response_fields="answer"), "a row is a mapping"),
        (lambda: evenhand.aggregate_votes(ROWS, 5), "votes is 5; name at least 1"),
        (lambda: evenhand.agreement(ROWS, 5), "votes is 5; name at least 1"),
        (lambda: evenhand.open(None), "None is not the path of a file"),
        (lambda: evenhand.from_results(None), "the results hold no votes of evenhand"),
        (lambda: evenhand.from_results([{"prediction": "x"}]), "the results hold no votes of evenhand"),
    ],
)
def test_what_a_function_cannot_use_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
