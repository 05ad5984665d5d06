"""The command line: its verbs, its files, and one clear message with exit code 2 for bad input."""

import json

import datasets
import pytest

from evenhand.cli import main
from evenhand.tables import JudgementTable
from tests.support.server import JudgeServer

ENGINE = ["--engine", "engines.evenhand.baseline", "--no-progress"]
RELEVANCE = ["--criteria", "criteria.evenhand.direct.relevance"]
ROWS = [
    {"question": "How many legs has a spider?", "answer": "A spider has eight legs.", "other": "Cheese."},
    {"question": "What is the capital of France?", "answer": "The capital of France is Paris.", "other": "No idea."},
]


@pytest.fixture
def jsonl(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def judge(path, *arguments):
    return main(["judge", str(path), *RELEVANCE, *ENGINE, "--response", "answer", "--context", "question", *arguments])


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "saved"])
def test_judge_reads_every_kind_of_file(kind, tmp_path, jsonl, capsys):
    data = datasets.Dataset.from_list(ROWS)
    paths = {"jsonl": jsonl, "csv": tmp_path / "a.csv", "parquet": tmp_path / "a.parquet", "saved": tmp_path / "saved"}
    if kind == "csv":
        data.to_csv(str(paths[kind]))
    elif kind == "parquet":
        data.to_parquet(str(paths[kind]))
    elif kind == "saved":
        datasets.DatasetDict({"train": data.select([0]), "test": data}).save_to_disk(str(paths[kind]))
    split = ["--split", "test"] if kind == "saved" else []
    out = tmp_path / "verdicts.jsonl"
    assert judge(paths[kind], "--out", str(out), *split) == 0
    assert "2 verdicts written" in capsys.readouterr().out
    table = JudgementTable.load(out)
    assert [judgement.instance for judgement in table.judgements] == [0, 1]
    assert table.parameters["judges"] == ["baseline-text-statistics"]


def test_several_systems_and_renamed_context(jsonl, tmp_path, capsys):
    out = tmp_path / "verdicts.jsonl"
    columns = ["--response", "answer", "other", "--context", "task=question"]
    assert main(["judge", str(jsonl), *RELEVANCE, *ENGINE, *columns, "--out", str(out)]) == 0
    table = JudgementTable.load(out)
    assert table.systems == ("answer", "other")
    assert table.parameters["context_fields"] == {"task": "question"}
    better, worse = (table.summaries[(system, "relevance")].score.estimate for system in table.systems)
    assert better > worse


def test_dry_run_makes_no_call(jsonl, capsys):
    with JudgeServer() as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        arguments = ["judge", str(jsonl), *RELEVANCE, "--engine", engine, "--response", "answer", "--no-progress"]
        assert main([*arguments, "--dry-run"]) == 0
        assert len(server.requests) == 0
        assert "calls: 8 " in capsys.readouterr().out
        assert main(arguments) == 0
        assert len(server.requests) == 8
        capsys.readouterr()
        assert main([*arguments, "--dry-run"]) == 0
        assert "calls: 0 (and 8 answered by the journal)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--response", "anwser"], "no field 'anwser', which response_field names. Did you mean 'answer'?"),
        (["--context", "questoin"], "no field 'questoin', which context_fields names. Did you mean 'question'?"),
        (["--criteria", "criteria.evenhand.direct.relevence"], "Did you mean 'criteria.evenhand.direct.relevance'?"),
        (["--engine", "engines.evenhand.nothing"], "engines.evenhand.nothing"),
        (["--flow", "three_step"], "'three_step'"),
        (["--aggregation", "medain"], "Did you mean 'median'?"),
        (["--check-positional-bias", "often"], "'often'"),
        (["--check-positional-bias", "1.5"], "between 0 and 1"),
        (["--gold", "correctness=gold"], "'correctness'"),
        (["--out", "/nowhere/at/all/out.jsonl"], "does not exist"),
        (["--split", "test"], "without splits"),
    ],
)
def test_bad_input_ends_in_one_message_and_exit_code_2(arguments, message, jsonl, capsys):
    assert judge(jsonl, *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("evenhand: ")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.jsonl", '{"question": "q", "answer": "a"}\n{"question": \n', "not JSONL at line 2"),
        ("list.jsonl", "[1, 2]\n", "not JSONL at line 1: it holds a list"),
        ("empty.jsonl", "\n", "is empty"),
        ("ragged.csv", "question,answer\nq\n", "in line 2"),
        ("table.parquet", "no parquet", "not a Parquet file"),
        ("table.xlsx", "", "'.xlsx'"),
    ],
)
def test_files_that_are_not_what_they_promise(name, content, message, tmp_path, capsys):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert judge(path) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file(tmp_path, capsys):
    assert judge(tmp_path / "nothing.jsonl") == 2
    assert "there is no file" in capsys.readouterr().err


def test_a_duplicate_label_in_a_criterion_file(jsonl, tmp_path, capsys):
    option = {"__type__": "criteria_option", "name": "Good", "description": ""}
    criterion = {
        "__type__": "evenhand_criterion",
        "name": "twice",
        "description": "Is it good?",
        "options": [option, {**option, "name": " good"}],
        "option_map": {"Good": 1.0},
    }
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(criterion), encoding="utf-8")
    assert judge(jsonl, "--criteria", str(path)) == 2
    assert "twice" in capsys.readouterr().err


def test_too_many_failures_end_in_exit_code_1(jsonl, capsys):
    with JudgeServer(faults=[{"kind": "status", "status": 401}]) as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        assert judge(jsonl, "--engine", engine) == 1
    assert "votes failed" in capsys.readouterr().err


def test_catalog_list_show_path(capsys):
    assert main(["catalog", "list", "direct.relevance"]) == 0
    assert capsys.readouterr().out.startswith("criteria.evenhand.direct.relevance ")
    assert main(["catalog", "show", "criteria.evenhand.direct.relevance"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "relevance"
    assert main(["catalog", "path"]) == 0
    assert capsys.readouterr().out.strip().endswith("catalog")
    assert main(["catalog", "show", "criteria.evenhand.direct.relevant"]) == 2
    assert "Did you mean" in capsys.readouterr().err


def test_catalog_check(capsys):
    assert main(["catalog", "check"]) == 0
    done, _, rest = capsys.readouterr().out.partition(" of ")
    assert int(done) == int(rest.split()[0]) >= 80


def test_demo_shows_the_whole_job(capsys):
    assert main(["demo", "--no-progress"]) == 0
    out = capsys.readouterr().out
    for word in ("alder", "birch", "cedar", "relevance", "correctness", "agrees with gold", "engines.evenhand.litellm"):
        assert word in out


def test_unknown_verbs_and_abbreviations_are_refused(capsys):
    for arguments in (["judgement"], ["judge", "x.jsonl", "--crit", "y"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2


def test_unitxts_own_command_line_knows_the_catalog(capfd):
    code = main(["unitxt", "--help"])
    assert code == 0
    assert "--tasks" in capfd.readouterr().out
