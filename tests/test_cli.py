"""The command line: its verbs, its files, and one clear message with exit code 2 for bad input."""

import json

import datasets
import pytest

from evenhand.cli import main
from evenhand.tables import JudgementTable, WinrateTable
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
    words = ["alder", "birch", "cedar", "relevance", "correctness", "agrees with gold", "engines.evenhand.litellm"]
    for word in [*words, "Winrates on 'overall_quality'", "Agrees with the gold preferences in", "Head to head"]:
        assert word in out


QUALITY = ["--criteria", "criteria.evenhand.pairwise.overall_quality"]
LONG = [
    {"prompt": f"p{number}", "model": name, "text": row[name], "question": row["question"]}
    for number, row in enumerate(ROWS)
    for name in ("answer", "other")
]


def compare(path, *arguments):
    return main(["compare", str(path), *QUALITY, *ENGINE, *arguments])


@pytest.mark.parametrize("systems", [["answer,other"], ["answer", "other"], ["answer,", "other"]])
def test_compare_prints_the_table_and_the_matrix_and_writes_the_contests(systems, jsonl, tmp_path, capsys):
    out = tmp_path / "contests.jsonl"
    assert compare(jsonl, "--systems", *systems, "--out", str(out)) == 0
    printed = capsys.readouterr().out
    for part in ("Winrates on 'overall_quality'", "Winrate of the row's system", "Head to head", "2 contests written"):
        assert part in printed
    table = WinrateTable.load(out)
    assert table.systems == ("answer", "other")
    assert table.winrate("answer").estimate == 1


def test_compare_reads_long_data_and_names_with_commas(tmp_path, capsys):
    rows = [{**row, "model": row["model"].replace("other", "no, other")} for row in LONG]
    path, out = tmp_path / "long.parquet", tmp_path / "contests.jsonl"
    datasets.Dataset.from_list(rows).to_parquet(str(path))
    long = ["--systems-field", "model", "--response", "text", "--id-field", "prompt", "--out", str(out)]
    assert compare(path, *long) == 0
    assert WinrateTable.load(out).systems == ("answer", "no, other")
    assert compare(path, *long, "--systems", "no, other", "answer") == 0
    assert WinrateTable.load(out).systems == ("no, other", "answer")
    assert compare(path, *long, "--systems", "nobody,answer") == 2
    assert "names no system 'nobody'" in capsys.readouterr().err


def test_compare_takes_the_options_of_the_function(jsonl, tmp_path):
    out = tmp_path / "contests.jsonl"
    options = ["--design", "baseline:other", "--scale", "graded", "--reduction", "weighted_win_rate", "--seed", "5"]
    options += ["--on-position-bias", "abstain", "--context", "task=question", "--level", "0.9", "--resamples", "20"]
    assert compare(jsonl, "--systems", "answer,other", *options, "--out", str(out)) == 0
    expected = {
        "design": "baseline:other",
        "scale": "graded",
        "reduction": "weighted_win_rate",
        "seed": 5,
        "on_position_bias": "abstain",
        "context_fields": {"task": "question"},
        "level": 0.9,
        "resamples": 20,
    }
    assert expected.items() <= WinrateTable.load(out).parameters.items()
    assert compare(jsonl, "--systems", "answer,other", "--allow-ties", "--out", str(out)) == 0
    assert WinrateTable.load(out).parameters["allow_ties"] is True


def test_compare_dry_run_makes_no_call(jsonl, capsys):
    with JudgeServer() as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        assert compare(jsonl, "--systems", "answer,other", "--engine", engine, "--dry-run") == 0
        assert len(server.requests) == 0
    # 2 prompts, 1 pair, 2 orders; an assessment and a selection each.
    assert "calls: 8 " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no systems were given"),
        (["--systems", "answer"], "name at least two"),
        (["--systems", "answer,ohter"], "no field 'ohter', which systems names. Did you mean 'other'?"),
        (["--systems", "answer,other", "--id-field", "question"], "belongs to data with one row a response"),
        (["--systems-field", "answer"], "must be named too"),
        (["--systems", "answer,other", "--design", "swiss"], "is not a number of rounds"),
        (["--systems", "answer,other", "--on-position-bias", "abstane"], "'abstane'"),
        (["--systems", "answer,other", "--scale", "grade"], "Did you mean 'graded'"),
        (["--systems", "answer,other", "--reduction", "weighted_win_rate"], "set scale='graded' too"),
        (["--systems", "answer,other", "--gold", "best"], "no field 'best', which gold_field names"),
        (["--systems", "answer,other", "--out", "/nowhere/at/all/out.jsonl"], "does not exist"),
    ],
)
def test_compare_ends_bad_input_in_one_message_and_exit_code_2(arguments, message, jsonl, capsys):
    assert compare(jsonl, *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("evenhand: ")
    assert "Traceback" not in error


def test_the_demo_refuses_what_only_its_second_part_refuses_before_the_first(capsys):
    assert main(["demo", "--no-progress", "--aggregation", "median"]) == 2
    captured = capsys.readouterr()
    assert "'median' is not a rule for the scale 'pairwise'" in captured.err
    assert "Direct assessment" not in captured.out


def test_unknown_verbs_and_abbreviations_are_refused(capsys):
    for arguments in (["judgement"], ["judge", "x.jsonl", "--crit", "y"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2


def test_unitxts_own_command_line_knows_the_catalog(capfd):
    code = main(["unitxt", "--help"])
    assert code == 0
    assert "--tasks" in capfd.readouterr().out
