"""What cannot be used is one message that names it, before the first call: in the shell and from Python."""

import os

import pandas as pd
import pytest

import evenhand
from evenhand.by_name import FUNCTIONS
from evenhand.cli import main
from evenhand.errors import InvalidInputError
from tests.support.judges import ScriptedJudge
from tests.support.rows import write_rows

BASELINE = ["--engine", "engines.evenhand.baseline", "--no-progress"]
ROWS = [{"question": "How many?", "answer": "Eight.", "one": "Yes", "two": "No"}]


@pytest.fixture
def data(tmp_path):
    return write_rows(tmp_path / "rows.jsonl", ROWS)


@pytest.fixture
def nothing_is_judged(monkeypatch):
    def judge(*_):
        raise AssertionError("a call was made")

    monkeypatch.setitem(FUNCTIONS, "judge", FUNCTIONS["judge"]._replace(run=judge))


@pytest.mark.usefixtures("nothing_is_judged")
@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("", "--out is ''; name a file"),
        ("a\0b.jsonl", r"--out is 'a\x00b.jsonl'; name a file"),
        ("x" * 300 + ".jsonl", "cannot be written (File name too long)"),
        ("x" * 246 + ".jsonl", "cannot be written (File name too long)"),  # beside it, under a longer name
        ("/proc/out.jsonl", "cannot be written ("),
        ("queue.jsonl", "is no regular file"),
        ("journal.jsonl", "the same file as the input"),
        ("~nobody-has-this-name/out.jsonl", "its folder does not exist"),
    ],
)
def test_a_place_where_nothing_can_be_saved_is_found_before_the_run(out, message, data, monkeypatch, capsys):
    monkeypatch.chdir(data.parent)
    if out == "queue.jsonl":
        os.mkfifo(out)
    asked = ["--criteria", "Is it so?", "--response-fields", "answer", "--journal", "journal.jsonl", *BASELINE]
    assert main(["judge", str(data), *asked, "--out", out]) == 2
    said = capsys.readouterr().err
    assert said.startswith("evenhand: ")
    assert message in said
    assert [path.name for path in data.parent.iterdir() if path.name not in {"rows.jsonl", "queue.jsonl"}] == []


def test_a_long_criterion_is_no_file_that_the_result_could_overwrite(data, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("old", encoding="utf-8")
    asked = ["--criteria", f"Is it {'so ' * 200}?", "--response-fields", "answer", *BASELINE]
    assert main(["judge", str(data), *asked, "--out", str(out)]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--leave-out", "prompts"], "there is no --out: give one"),
        (["--guidelines", "guidelines.md"], "--guidelines is 'guidelines.md', which looks like the name of a file"),
        (["--guidelines", "/tmp"], "it is a folder"),
        (["--context-fields", "=answer"], "all of them texts that are not empty"),
        (["--reference-field", ""], "no field '', which reference_field names"),
        (["--journal", ""], "journal is ''; give 'default', a path, or None for no journal"),
        (["--journal", "a\0b"], r"journal is 'a\x00b'; give"),
        (["--journal", "/tmp"], "journal is '/tmp', which is a folder; name a file in it"),
        (["--journal", "x" * 300], "which names no file (File name too long)"),
        (["--samples", "9" * 20], "one run holds 100,000,000 of a judge at most"),
        (["--engine", ""], "no catalog holds the engine ''. Give one in any of four ways"),
        (["--engine", "ftp://x"], "no catalog holds the engine 'ftp://x'"),
    ],
)
def test_what_the_shell_cannot_use_is_named(arguments, message, data, capsys):
    asked = ["--criteria", "Is it so?", "--response-fields", "answer", *BASELINE]
    assert main(["judge", str(data), *asked, *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("evenhand: ")
    assert message in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["aggregate-votes", "--votes", "one", "two", "--weights", "0", "0"], "every judge has the weight 0"),
        (
            ["aggregate-votes", "--votes", "one", "two", "--weights", "x"],
            "weights is ['x']; give None, or a list, a number each",
        ),
        (
            ["judge", "--mode", "../x:y", "--response-fields", "answer", *BASELINE],
            "--mode is '../x:y', which cannot be",
        ),
        (["reliability", "--response-fields", "answer", *BASELINE], "no criterion was given; give a catalog id"),
    ],
)
def test_what_other_verbs_cannot_use_is_named(arguments, message, data, capsys):
    assert main([arguments[0], str(data), *arguments[1:]]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [5, True, float("nan"), b"answer", [None], {"a": 5}, [], ""])
@pytest.mark.parametrize("setting", ["response_fields", "context_fields", "reference_field", "id_field", "gold_fields"])
def test_a_column_that_is_no_name_is_named_and_nobody_is_asked(setting, wrong):
    empty = setting in {"context_fields", "gold_fields"} and wrong in ([], "")  # as none
    if empty:
        return
    engine = ScriptedJudge("Yes")
    with pytest.raises(InvalidInputError, match=setting):
        evenhand.judge(
            ROWS, "Is it so?", engine, **{"response_fields": "answer", setting: wrong}, journal=None, progress=False
        )
    assert engine.requests == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evenhand.judge(pd.Series(["x"]), "Is it so?", None, response_fields="answer"), "a row is a mapping"),
        (lambda: evenhand.aggregate_votes(ROWS, 5), "votes is a int; with a data set it names the column"),
        (lambda: evenhand.agreement(ROWS, 5), "votes is 5; name at least one column"),
        (lambda: evenhand.open(None), "None is not the path of a file"),
        (lambda: evenhand.from_results(None), "the results hold no votes of evenhand"),
        (lambda: evenhand.from_results([{"prediction": "x"}]), "the results hold no votes of evenhand"),
        (
            lambda: evenhand.judge([{}], "Is it so?", "engines.evenhand.baseline", response_fields="answer"),
            "Accepted: none.",
        ),
    ],
)
def test_what_a_function_cannot_use_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
