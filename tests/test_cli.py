"""The command line: its verbs, its files, and one clear message with exit code 2 for bad input."""

import inspect
import json
import os
import subprocess
import sys
import tempfile
from functools import wraps
from typing import Literal

import datasets
import pytest
from cyclopts import App

import evenhand
from evenhand.by_name import FUNCTIONS
from evenhand.cli import main
from evenhand.cli.command import LISTED
from evenhand.cli.flags import Declared, model_options
from evenhand.cli.verb_table import VERBS
from evenhand.cli.verbs import command_of, demo_command
from evenhand.errors import InvalidInputError
from evenhand.options import RunOptions, option
from tests.support.rows import write_rows
from tests.support.server import JudgeServer

ENGINE = ["--engine", "engines.evenhand.baseline", "--no-progress"]
RELEVANCE = ["--criteria", "criteria.evenhand.direct.relevance"]
ROWS = [
    {"question": "How many legs has a spider?", "answer": "A spider has eight legs.", "other": "Cheese."},
    {"question": "What is the capital of France?", "answer": "The capital of France is Paris.", "other": "No idea."},
]


@pytest.fixture
def jsonl(tmp_path):
    return write_rows(tmp_path / "answers.jsonl", ROWS)


def judge(path, *arguments):
    return main(
        [
            "judge",
            str(path),
            *RELEVANCE,
            *ENGINE,
            "--response-fields",
            "answer",
            "--context-fields",
            "question",
            *arguments,
        ]
    )


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
    table = evenhand.open(out)
    assert [judgement.instance for judgement in table.judgements] == [0, 1]
    assert table.parameters["judges"] == ["baseline-text-statistics"]


def test_several_systems_and_renamed_context(jsonl, tmp_path, capsys):
    out = tmp_path / "verdicts.jsonl"
    columns = ["--response-fields", "answer", "other", "--context-fields", "task=question"]
    assert main(["judge", str(jsonl), *RELEVANCE, *ENGINE, *columns, "--out", str(out)]) == 0
    table = evenhand.open(out)
    assert table.systems == ("answer", "other")
    assert table.parameters["context_fields"] == {"task": "question"}
    better, worse = (table.summaries[(system, "relevance")].score.estimate for system in table.systems)
    assert better > worse


def test_dry_run_makes_no_call(jsonl, capsys):
    with JudgeServer() as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        arguments = [
            "judge",
            str(jsonl),
            *RELEVANCE,
            "--engine",
            engine,
            "--response-fields",
            "answer",
            "--no-progress",
        ]
        assert main([*arguments, "--dry-run"]) == 0
        assert len(server.requests) == 0
        assert "calls: 8 " in capsys.readouterr().out
        assert main(arguments) == 0
        assert len(server.requests) == 8
        capsys.readouterr()
        assert main([*arguments, "--dry-run"]) == 0
        assert "calls: 0 (and 8 answered by the journal)" in capsys.readouterr().out


RUN_OPTIONS = [
    (["--flow", "one_step"], "flow", "one_step"),
    (["--batch"], "batch", True),
    (["--model", "qwen3-8b"], "model", "qwen3-8b"),
    (["--orders", "cyclic"], "orders", "cyclic"),
    (["--shuffles", "3"], "shuffles", 3),
    (["--check-positional-bias", "true"], "check_positional_bias", True),
    (["--check-positional-bias", "false"], "check_positional_bias", False),
    (["--check-positional-bias", "0.2"], "check_positional_bias", 0.2),
    (["--samples", "4"], "samples", 4),
    (["--max-reasks", "2"], "max_reasks", 2),
    (["--generate-summaries"], "generate_summaries", True),
    (["--no-include-prompts-in-result"], "include_prompts_in_result", False),
    (["--aggregation", "median"], "aggregation", "median"),
    (["--aggregation", "ordinal=median", "binary=any"], "aggregation", {"ordinal": "median", "binary": "any"}),
    (["--scoring", "expected"], "scoring", "expected"),
    (["--min-mass", "0.7"], "min_mass", 0.7),
    (["--stop-early"], "stop_early", True),
    (["--confidence", "none"], "confidence", None),
    (["--confidence", "0.9"], "confidence", 0.9),
    (["--prompt", "direct_verdict"], "prompt", "direct_verdict"),
    (["--on-position-bias", "first"], "on_position_bias", "first"),
    (["--judge-weights", "1", "2.5"], "judge_weights", [1.0, 2.5]),
    (["--max-failure-rate", "0.5"], "max_failure_rate", 0.5),
    (["--offline"], "offline", True),
    (["--data-classification", "pii"], "data_classification", "pii"),
    (["--data-classification", "pii", "secret"], "data_classification", ["pii", "secret"]),
    (["--max-calls", "10"], "max_calls", 10),
    (["--max-cost", "1.5"], "max_cost", 1.5),
    (["--level", "0.9"], "level", 0.9),
    (["--interval", "bootstrap"], "interval", "bootstrap"),
    (["--cluster-field", "kind"], "cluster_field", "kind"),
    (["--cluster-field", "false"], "cluster_field", False),
    (["--cluster-field", "none"], "cluster_field", False),
    (["--group-fields", "kind"], "group_fields", "kind"),
    (["--group-fields", "kind", "question"], "group_fields", ["kind", "question"]),
    (["--confidence", "predictive"], "confidence", "predictive"),
    (["--seed", "7"], "seed", 7),
    (["--journal", "none"], "journal", None),
    (["--journal", "replies.sqlite3"], "journal", "replies.sqlite3"),
    (["--no-progress"], "progress", False),
]
DATA_OPTIONS = [
    (["--context-fields", "question"], "context_fields", {"question": "question"}),
    (["--reference-field", "answer"], "reference_field", "answer"),
    (["--id-field", "question"], "id_field", "question"),
    (["--context-fields", "question", "task=title"], "context_fields", {"question": "question", "task": "title"}),
    (["--reference-field", "answer"], "reference_field", "answer"),
]


class Shown(str):
    __slots__ = ()

    def to_html(self, path, **how):
        """Nothing is judged, and nothing is written."""


@pytest.fixture
def called(monkeypatch):
    """What the verbs hand to the functions of the package; nothing is judged."""
    calls = []

    def fake(name):
        @wraps(FUNCTIONS[name])
        def call(*arguments, **options):
            calls.append((name, arguments, options))
            return Shown("the table")

        return call

    for name in ("judge", "winrates"):
        monkeypatch.setitem(FUNCTIONS, name, fake(name))
    return calls


def test_every_option_of_a_run_has_one_in_the_shell_and_what_is_not_given_is_not_passed_on(jsonl, called, capsys):
    assert main(["judge", str(jsonl), "--criteria", "a", "--engine", "one", "--response-fields", "answer"]) == 0
    [(_, _, options)] = called
    assert options.keys() == {"response_fields"}
    assert main(["judge", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')}" in shown for name in RunOptions.model_fields)
    assert {name for _, name, _ in RUN_OPTIONS} == RunOptions.model_fields.keys()


@pytest.mark.parametrize(("arguments", "name", "value"), [*RUN_OPTIONS, *DATA_OPTIONS])
def test_an_option_reaches_the_function(arguments, name, value, jsonl, called):
    engine = ["--engine", "one", "two"]
    assert main(["judge", str(jsonl), "--criteria", "a", "b", *engine, "--response-fields", "answer", *arguments]) == 0
    assert (
        main(["winrates", str(jsonl), "--criteria", "a", *engine, "--response-fields", "answer,other", *arguments]) == 0
    )
    (first, given, judged), (second, _, compared) = called
    assert (first, second) == ("judge", "winrates")
    assert given == (ROWS, ["a", "b"], ["one", "two"])
    assert (judged["response_fields"], compared["response_fields"]) == (["answer"], ["answer", "other"])
    assert (compared["criteria"], compared["engine"]) == ("a", ["one", "two"])
    for options in (judged, compared):
        assert options[name] == value
        assert {each for each in options if each in RunOptions.model_fields} <= {name}
        assert type(options[name]) is type(value)


# no rule of aggregation other than the default fits both parts of the demo; the defaults take no weights and no model
@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [case for case in RUN_OPTIONS if case[1] not in {"aggregation", "judge_weights", "model", "batch"}],
)
def test_an_option_of_the_demo_reaches_both_functions(arguments, name, value, called, monkeypatch):
    checklist = FUNCTIONS["checklist"]  # it is really filled in, for two rows instead of all
    fewer = wraps(checklist)(lambda rows, *given, **options: checklist(rows[:2], *given, **options))
    monkeypatch.setitem(FUNCTIONS, "checklist", fewer)
    assert main(["demo", *arguments]) == 0
    assert [verb for verb, _, _ in called] == ["judge", "winrates"]
    assert all(
        {each: options[each] for each in options if each in RunOptions.model_fields} == {name: value}
        for _, _, options in called
    )


def test_the_gold_columns_reach_the_function(jsonl, called):
    assert judge(jsonl, "--gold-fields", "relevance=gold_relevance", "clarity=gold_clarity") == 0
    assert called[0][2]["gold_fields"] == {"relevance": "gold_relevance", "clarity": "gold_clarity"}


def test_an_interruption_ends_in_exit_code_130(jsonl, monkeypatch, capsys):
    @wraps(FUNCTIONS["judge"])
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setitem(FUNCTIONS, "judge", interrupted)
    assert judge(jsonl) == 130
    assert "goes on where it stopped" in capsys.readouterr().err


def test_one_verdict_is_singular(tmp_path, capsys):
    path, out = tmp_path / "one.jsonl", tmp_path / "out.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    assert judge(path, "--out", str(out)) == 0
    assert "1 verdict written" in capsys.readouterr().out
    assert compare(path, "--response-fields", "answer,other", "--out", str(out)) == 0
    assert "1 contest written" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["judge", "winrates"])
@pytest.mark.parametrize("spelling", ["same", "relative", "symlink", "hard link", "criterion", "journal", "folder"])
def test_nothing_that_was_given_is_overwritten(verb, spelling, jsonl, capsys, called):
    folder = jsonl.parent
    criterion, journal, link = folder / "own.json", folder / "replies.sqlite3", folder / "link.jsonl"
    criterion.write_text("{}", encoding="utf-8")
    journal.write_text("", encoding="utf-8")
    if spelling == "hard link":
        os.link(jsonl, link)
    else:
        link.symlink_to(jsonl)
    outs = {
        "same": jsonl,
        "relative": os.path.relpath(jsonl),
        "symlink": link,
        "hard link": link,
        "criterion": criterion,
        "journal": journal,
        "folder": folder,
    }
    before = jsonl.read_text(encoding="utf-8")
    arguments = ["--criteria", str(criterion), "--journal", str(journal), "--out", str(outs[spelling])]
    code = (
        judge(jsonl, *arguments) if verb == "judge" else compare(jsonl, "--response-fields", "answer,other", *arguments)
    )
    assert code == 2
    error = capsys.readouterr().err
    assert ("which is a folder" if spelling == "folder" else "the same file as the input") in error
    assert called == []
    assert jsonl.read_text(encoding="utf-8") == before


def test_another_file_that_exists_is_written_anew(jsonl, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("old\n", encoding="utf-8")
    assert judge(jsonl, "--out", str(out)) == 0
    assert len(evenhand.open(out).judgements) == 2


def test_the_file_has_the_summary_in_its_first_line(jsonl, tmp_path):
    out = tmp_path / "out.jsonl"
    assert judge(jsonl, "--out", str(out)) == 0
    first = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    (summary,) = first["summaries"]
    expected = evenhand.open(out).summaries["answer", "relevance"]
    assert (summary["system"], summary["criterion"], summary["num_instances"]) == ("answer", "relevance", 2)
    assert summary["score"]["estimate"] == expected.score.estimate
    assert (summary["score"]["low"], summary["score"]["high"]) == (expected.score.low, expected.score.high)
    assert summary["gold_agreement"] is None
    assert summary["usage"] == expected.usage.model_dump()


def test_a_data_set_with_splits_asks_for_the_option(tmp_path, capsys):
    data = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"train": data, "test": data}).save_to_disk(str(tmp_path / "saved"))
    capsys.readouterr()
    assert judge(tmp_path / "saved") == 2
    assert "has the splits ['train', 'test']; say which with split=…, in the shell --split" in capsys.readouterr().err


def test_a_setting_that_unitxt_refuses_is_one_message():
    environment = {**os.environ, "UNITXT_USE_ONLY_LOCAL_CATALOGS": "1"}
    command = [sys.executable, "-m", "evenhand", "unitxt", "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("evenhand: unitxt refuses the environment variable UNITXT_USE_ONLY_LOCAL_CATALOGS")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--response-fields", "anwser"], "no field 'anwser', which response_fields names. Did you mean 'answer'?"),
        (["--context-fields", "questoin"], "no field 'questoin', which context_fields names. Did you mean 'question'?"),
        (["--criteria", "criteria.evenhand.direct.relevence"], "Did you mean 'criteria.evenhand.direct.relevance'?"),
        (["--engine", "engines.evenhand.nothing"], "engines.evenhand.nothing"),
        (["--flow", "three_step"], "'three_step'"),
        (["--aggregation", "medain"], "Did you mean 'median'?"),
        (["--check-positional-bias", "often"], "'often'"),
        (["--check-positional-bias", "1.5"], "between 0 and 1"),
        (["--gold-fields", "correctness=gold"], "'correctness'"),
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
    ("verb", "name", "message"),
    [
        (verb, name, "a result is saved as Parquet (.parquet) or JSON lines (.jsonl)")
        for verb in ("judge", "winrates", "checklist", "aggregate-votes", "agreement")
        for name in ("out.csv", "out")
    ],
)
def test_a_name_that_nothing_is_saved_under_is_refused_before_the_run(verb, name, message, jsonl, capsys):
    recorded, asked = ["--votes", "answer", "other"], [*RELEVANCE, *ENGINE]
    given = {
        "judge": [*asked, "--response-fields", "answer"],
        "winrates": [*asked, "--response-fields", "answer,other"],
        "checklist": ["--checklist", "checklists.evenhand.summary", *ENGINE, "--response-fields", "answer"],
    }
    assert main([verb, str(jsonl), *given.get(verb, recorded), "--out", str(jsonl.with_name(name))]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""  # the table is printed when the run has ended


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


def test_catalog_check_of_one_entry(tmp_path, capsys):
    assert main(["catalog", "check", "criteria.evenhand.direct.relevance"]) == 0
    assert capsys.readouterr().out == "1 of 1 entry is sound\n"
    entry = tmp_path / "own.json"
    entry.write_text(json.dumps({"__type__": "criteria", "name": "x", "description": "y"}), encoding="utf-8")
    assert main(["catalog", "check", str(entry)]) == 1
    captured = capsys.readouterr()
    assert captured.out == "0 of 1 entry is sound\n"
    assert captured.err == f"evenhand: {entry}: has no __description__\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("criteria.evenhand.direct.relevence", None, "Did you mean 'criteria.evenhand.direct.relevance'?"),
        ("missing.json", None, "has no entry"),
        ("broken.json", b"{", "is not JSON (line 1"),
        ("latin.json", b'"\xe9"', "is not UTF-8 text"),
        (".", None, "cannot be read (it is a folder"),
    ],
)
def test_catalog_check_of_what_is_no_entry(name, content, message, tmp_path, capsys):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["catalog", "check", name if name.startswith("criteria.") else str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("evenhand: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"name": "tone", "description": "d", "options": [], "sacle": "binary"}', "Did you mean 'scale'?"),
        (b'{"__type__": "evenhand_criterion", "name": "tone"}', "has the description None"),
        (b'{"name": "\xe9"}', "is not UTF-8 text"),
    ],
)
def test_a_faulty_criterion_file_is_one_message(content, message, jsonl, tmp_path, capsys):
    path = tmp_path / "own.json"
    path.write_bytes(content)
    assert judge(jsonl, "--criteria", str(path)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_demo_shows_the_whole_job_and_writes_a_report_that_holds_every_verdict(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--no-progress"]) == 0
    out = capsys.readouterr().out
    assert "The report, with every verdict: evenhand-demo.html" in out
    page = (tmp_path / "evenhand-demo.html").read_text(encoding="utf-8")
    assert "alder" in page
    assert "default-src 'none'" in page
    words = ["alder", "birch", "cedar", "relevance", "correctness", "agrees with gold", "engines.evenhand.litellm"]
    for word in [*words, "Winrates on 'overall_quality'", "Agrees with the gold preferences in", "Head to head"]:
        assert word in out


@pytest.fixture
def _quick_demo(monkeypatch, called):
    monkeypatch.setitem(FUNCTIONS, "checklist", wraps(FUNCTIONS["checklist"])(lambda *_, **__: "the checklist"))


@pytest.mark.usefixtures("_quick_demo")
def test_the_report_of_the_demo_goes_where_it_is_said_and_elsewhere_where_it_cannot_be(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evenhand-demo.html").mkdir()  # in the way
    assert main(["demo"]) == 0
    assert f"{tempfile.gettempdir()}{os.sep}evenhand-" in capsys.readouterr().out
    assert main(["demo", "--out", "mine.html"]) == 0
    assert "every verdict: mine.html" in capsys.readouterr().out
    assert main(["demo", "--out", "mine.pdf"]) == 2
    assert main(["demo", "--out", "nowhere/mine.html"]) == 2
    assert "its folder does not exist" in capsys.readouterr().err


QUALITY = ["--criteria", "criteria.evenhand.pairwise.overall_quality"]
LONG = [
    {"prompt": f"p{number}", "model": name, "text": row[name], "question": row["question"]}
    for number, row in enumerate(ROWS)
    for name in ("answer", "other")
]


def compare(path, *arguments):
    return main(["winrates", str(path), *QUALITY, *ENGINE, *arguments])


@pytest.mark.parametrize("systems", [["answer,other"], ["answer", "other"], ["answer,", "other"]])
def test_compare_prints_the_table_and_the_matrix_and_writes_the_contests(systems, jsonl, tmp_path, capsys):
    out = tmp_path / "contests.jsonl"
    assert compare(jsonl, "--response-fields", *systems, "--out", str(out)) == 0
    printed = capsys.readouterr().out
    for part in ("Winrates on 'overall_quality'", "Winrate of the row's system", "Head to head", "2 contests written"):
        assert part in printed
    table = evenhand.open(out)
    assert table.systems == ("answer", "other")
    assert table.winrate("answer").estimate == 1


def test_compare_reads_long_data_and_names_with_commas(tmp_path, capsys):
    rows = [{**row, "model": row["model"].replace("other", "no, other")} for row in LONG]
    path, out = tmp_path / "long.parquet", tmp_path / "contests.jsonl"
    datasets.Dataset.from_list(rows).to_parquet(str(path))
    long = ["--systems-field", "model", "--response-fields", "text", "--id-field", "prompt", "--out", str(out)]
    assert compare(path, *long) == 0
    assert evenhand.open(out).systems == ("answer", "no, other")
    assert compare(path, *long, "--systems", "no, other", "answer") == 0
    assert evenhand.open(out).systems == ("no, other", "answer")
    assert compare(path, *long, "--systems", "nobody,answer") == 2
    assert "names no system 'nobody'" in capsys.readouterr().err


def test_compare_takes_the_options_of_the_function(jsonl, tmp_path):
    out = tmp_path / "contests.jsonl"
    options = ["--design", "baseline:other", "--scale", "graded", "--reduction", "weighted_win_rate", "--seed", "5"]
    options += [
        "--on-position-bias",
        "abstain",
        "--context-fields",
        "task=question",
        "--level",
        "0.9",
        "--resamples",
        "20",
    ]
    assert compare(jsonl, "--response-fields", "answer,other", *options, "--out", str(out)) == 0
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
    assert expected.items() <= evenhand.open(out).parameters.items()
    assert compare(jsonl, "--response-fields", "answer,other", "--allow-ties", "--out", str(out)) == 0
    assert evenhand.open(out).parameters["allow_ties"] is True


def test_compare_dry_run_makes_no_call(jsonl, capsys):
    with JudgeServer() as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        assert compare(jsonl, "--response-fields", "answer,other", "--engine", engine, "--dry-run") == 0
        assert len(server.requests) == 0
    # 2 prompts, 1 pair, 2 orders; an assessment and a selection each.
    assert "calls: 8 " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no systems were given"),
        (["--response-fields", "answer"], "name at least two"),
        (["--response-fields", "answer,ohter"], "no field 'ohter', which response_fields names. Did you mean 'other'?"),
        (["--response-fields", "answer,other", "--systems", "answer,other"], "data with one row per response"),
        (["--systems-field", "answer"], "must be named too"),
        (["--response-fields", "answer,other", "--design", "swiss"], "is not a number of rounds"),
        (["--response-fields", "answer,other", "--on-position-bias", "abstane"], "'abstane'"),
        (["--response-fields", "answer,other", "--scale", "grade"], "Did you mean 'graded'"),
        (["--response-fields", "answer,other", "--reduction", "weighted_win_rate"], "set scale='graded' too"),
        (["--response-fields", "answer,other", "--gold-fields", "best"], "no field 'best', which gold_fields names"),
        (["--response-fields", "answer,other", "--out", "/nowhere/at/all/out.jsonl"], "does not exist"),
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


@pytest.mark.parametrize("arguments", [[], ["judge"], ["catalog"]])
def test_help_waits_for_no_heavy_import(arguments):
    code = (
        "import sys; from evenhand.cli import main; code = main(sys.argv[1:]); "
        "print(sorted({'unitxt', 'litellm', 'datasets'} & sys.modules.keys())); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *arguments, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_help_lists_every_verb_with_the_first_sentence_of_its_own():
    commands = {"demo": demo_command(), **{verb.name: command_of(verb) for verb in VERBS}}
    sentences = {name: inspect.getdoc(command).partition("\n\n")[0] for name, command in commands.items()}
    assert {name: " ".join(sentence.split()) for name, sentence in sentences.items()} == LISTED


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_what_is_read_of_a_function_is_its_signature(verb):
    function = FUNCTIONS[verb.function]
    parameters = inspect.signature(function).parameters
    declared = Declared.of(verb.function)
    further = {name for model in declared.models for name in model.model_fields}
    assert [*declared.own] == [name for name in parameters if name in declared.own]
    assert further == parameters.keys() - declared.own.keys()
    for name, info in declared.own.items():
        default = parameters[name].default
        assert info.is_required() if default is inspect.Parameter.empty else info.default == default


def test_an_option_is_declared_in_its_model_and_nowhere_else(capsys):
    class WithMore(RunOptions):
        tea_breaks: int = option(0, "How many ``samples`` are drawn between two cups.", ge=0)
        leaf: Literal["assam", "sencha"] = option("assam", "Which tea.")

    called = []

    def brew(**given):
        """Brew."""
        called.append(given)

    brew.__signature__ = inspect.Signature(list(model_options(WithMore, [*WithMore.model_fields])))
    app = App(result_action="return_value", print_error=False, exit_on_error=False)
    app.default(brew)
    app(["--help"])
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--tea-breaks N How many --samples are drawn between two cups. [default: 0]" in printed
    assert "--leaf NAME Which tea. One of assam, sencha. [default: assam]" in printed
    app(["--tea-breaks", "3"])
    assert called == [{"tea_breaks": 3}]
    with pytest.raises(InvalidInputError, match="--tea-breaks is 'many'; give a whole number of at least 0"):
        app(["--tea-breaks", "many"])


def test_an_option_given_again_replaces_what_was_given_before(jsonl, called):
    assert judge(jsonl, "--criteria", "a", "b", "--samples", "3", "--samples", "5", "--criteria", "c", "d") == 0
    assert called[0][1][1] == ["c", "d"]
    assert called[0][2]["samples"] == 5
