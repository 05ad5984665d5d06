"""The command line: a scenario for each verb; and for all verbs flags, help, missing options, files and exit codes."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import pytest

import evenhand
from evenhand.by_name import FUNCTIONS
from evenhand.catalog import catalog_entries
from evenhand.cli import main
from evenhand.cli.app import FIRST, MOST_SHOWN, VERBS, command_line
from evenhand.cli.flags import flag_of, value_of, words_of
from evenhand.errors import ArtifactError
from evenhand.labels.annotators import stand_in_test
from evenhand.metrics import register
from evenhand.run_files import JOBS, AgreementJob, ChecklistJob, JudgeJob
from evenhand.unitxt.bases import Artifact
from tests.judge_reliability.criteria import LEVELS
from tests.support.rows import write_rows
from tests.support.server import JudgeServer

BASELINE = ["--engine", "engines.evenhand.baseline", "--no-progress"]
RELEVANCE = ["--criteria", "criteria.evenhand.direct.relevance"]
QUALITY = ["--criteria", "criteria.evenhand.pairwise.overall_quality"]
BOTH = ["--response-fields", "answer", "other"]
SHOWN = ["--response-fields", "answer", "--context-fields", "question"]
ROWS = [
    {"question": "How many legs has a spider?", "answer": "A spider has eight legs.", "other": "Cheese."},
    {"question": "What is the capital of France?", "answer": "It is Paris.", "other": "No idea."},
]
VOTES = [
    {"gpt": "Excellent", "llama": "Good", "qwen": None, "human": "Excellent", "second": "Good"},
    {"gpt": "Good", "llama": "Good", "qwen": "Poor", "human": "Good", "second": "Good"},
    {"gpt": "Poor", "llama": "Fair", "qwen": "Poor", "human": "Fair", "second": "Poor"},
]
RUBRIC = {"name": "mine", "criteria": ["Is correct.", {"requirement": "Is long-winded.", "weight": -1}]}


@pytest.fixture
def rows(tmp_path):
    return str(write_rows(tmp_path / "rows.jsonl", ROWS))


@pytest.fixture
def votes(tmp_path):
    return str(write_rows(tmp_path / "votes.jsonl", VOTES))


@pytest.fixture
def levels(tmp_path):
    path = tmp_path / "clear.json"
    path.write_text(LEVELS.model_dump_json(), encoding="utf-8")
    return str(path)


def served(server):
    return f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"


def test_judge_reads_a_data_set_with_splits(tmp_path, capsys):
    data, path, out = datasets.Dataset.from_list(ROWS), str(tmp_path / "saved"), tmp_path / "verdicts.parquet"
    datasets.DatasetDict({"train": data.select([0]), "test": data}).save_to_disk(path)
    capsys.readouterr()
    assert main(["judge", path, *RELEVANCE, *BASELINE, *SHOWN]) == 2
    assert "name one of them with split=…, in the shell --split" in capsys.readouterr().err
    renamed = ["--response-fields", "answer", "other", "--context-fields", "task=question", "--split", "test"]
    assert main(["judge", path, *RELEVANCE, *BASELINE, *renamed, "--out", str(out)]) == 0
    assert f"the result was written to {out}" in capsys.readouterr().out
    table = evenhand.open(out)
    assert table.systems == ("answer", "other")
    assert table.parameters["context_fields"] == {"task": "question"}
    assert table.summaries["answer", "relevance"].score.estimate >= 0


def test_judge_by_a_rubric_of_a_file_and_by_a_mode(rows, tmp_path, capsys):
    path, out = tmp_path / "rubric.json", tmp_path / "verdicts.parquet"
    path.write_text(json.dumps(RUBRIC), encoding="utf-8")
    (tmp_path / "house.md").write_text("Dates must be exact.", encoding="utf-8")
    own = ["--calls", "per_item", "--na-strategy", "zero", "--length-penalty", "free_budget=2", "max_cap=3"]
    own += ["--guidelines", str(tmp_path / "house.md"), "--orders", "given"]
    assert main(["judge", rows, "--criteria", str(path), *BASELINE, *SHOWN, *own, "--out", str(out)]) == 0
    table = evenhand.open(out)
    assert (table.rubric.name, table.rubric.na_strategy) == ("mine", "zero")
    assert (table.parameters["calls"], table.parameters["guidelines"]) == ("per_item", "Dates must be exact.")
    assert table.run_file["orders"] == "given"
    own = write_rows(tmp_path / "own.jsonl", [{"answer": "Eight.", "rubric": ["It is short."]}])
    assert main(["judge", str(own), "--rubric-field", "rubric", *BASELINE, *SHOWN[:2], "--out", str(out)]) == 0
    assert main(["judge", rows, "--mode", "best_of", *QUALITY, *BASELINE, *BOTH, "--out", str(out)]) == 0
    assert evenhand.open(out).run_file["mode"] == "best_of"
    assert main(["judge", rows, "--mode", "best_of", "--calls", "per_item", *BASELINE, *BOTH]) == 2
    assert "there is no option 'calls'" in capsys.readouterr().err


def test_winrates_of_two_columns(rows, tmp_path, capsys):
    out = tmp_path / "contests.parquet"
    options = ["--design", "baseline:other", "--scale", "graded", "--context-fields", "task=question", "--level", "0.9"]
    assert main(["winrates", rows, *QUALITY, *BASELINE, *BOTH, *options, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for part in ("Winrates on 'overall_quality'", "Head to head"):
        assert part in printed
    table = evenhand.open(out)
    expected = {"design": "baseline:other", "scale": "graded", "context_fields": {"task": "question"}, "level": 0.9}
    assert expected.items() <= table.parameters.items()


def test_checklist_of_a_file_and_of_each_row(rows, tmp_path, capsys):
    path, out = tmp_path / "checks.yaml", tmp_path / "checked.parquet"
    path.write_text("name: x\nitems:\n  - Is it right?\n  - {question: Is it short?, weight: 3}\n", encoding="utf-8")
    assert main(["checklist", rows, "--checklist", str(path), *BASELINE, *BOTH, "--out", str(out)]) == 0
    assert [item.weight for item in evenhand.open(out).checklists[0].items] == [1.0, 3.0]
    own = str(write_rows(tmp_path / "own.jsonl", [{"response": "A cat sat.", "checks": ["Is it a sentence?"]}]))
    assert main(["checklist", own, "--checklist-field", "checks", *BASELINE]) == 0
    assert "Is it a sentence?" in capsys.readouterr().out
    assert main(["checklist", rows, "--checklist", str(path), *BASELINE, *BOTH, "--flow", "one_step"]) == 2
    assert "does not belong to a checklist" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["json", "md", "html"])
def test_reliability_is_printed_and_written(kind, rows, tmp_path, capsys):
    out = tmp_path / f"report.{kind}"
    judges = ["--engine", "engines.evenhand.simulated", "engines.evenhand.baseline", "--no-progress"]
    both = [*QUALITY, "criteria.evenhand.direct.clarity", *BOTH, "--context-fields", "question"]
    assert main(["reliability", rows, *judges, *both, "--samples", "3", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for part in ("position consistency", "Assessments on 'clarity'", f"the result was written to {out}"):
        assert part in printed
    assert "How far the judges agree on 'clarity'" in printed
    if kind == "json":
        assert json.loads(out.read_text(encoding="utf-8"))["results"][0]["num_samples"] == 3
    else:
        assert "position consistency" in out.read_text(encoding="utf-8")


def test_aggregate_votes_and_read_replies(votes, levels, tmp_path, capsys):
    out, judges = tmp_path / "verdicts.parquet", ["--votes", "gpt", "llama", "qwen", "--criteria", levels]
    how = ["--rule", "median", "--gold-fields", "human", "--out", str(out)]
    assert main(["aggregate-votes", votes, *judges, *how]) == 0
    assert "clear: median of gpt, llama, qwen" in capsys.readouterr().out
    assert evenhand.open(out).summary.scores.score.estimate == pytest.approx(1.875 / 3)  # .875, .75 and .25
    assert [each["selected_option"] for each in evenhand.open(out).records()] == ["Good", "Good", "Poor"]
    lines, weighted = tmp_path / "verdicts.jsonl", ["--rule", "weighted_mean", "--weights", "2", "1", "1"]
    assert main(["aggregate-votes", votes, *judges, *weighted, "--out", str(lines)]) == 0
    values = [json.loads(line)["score"] for line in lines.read_text(encoding="utf-8").splitlines()]
    assert values == pytest.approx([(2 + 0.75) / 3, (1.5 + 0.75 + 0.25) / 4, (0.5 + 0.5 + 0.25) / 4])
    assert main(["read-replies", votes, "--replies", "gpt", "llama", "--criteria", levels, "--out", str(out)]) == 0
    assert len(evenhand.open(out)) == 3


def test_agreement_and_the_annotator_test(votes, levels, tmp_path, capsys):
    out = tmp_path / "agreement.parquet"
    columns = ["--votes", "gpt", "llama", "qwen", "--gold-fields", "human", "second", "--criteria", levels]
    assert main(["agreement", votes, *columns, "--resamples", "50", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for part in ("human – gpt", "gpt – llama", "Krippendorff's alpha of the 3 judges"):
        assert part in printed
    assert evenhand.open(out).pairs[0].accuracy.estimate == 2 / 3
    people = [{"judge": "a", "p": "a", "q": "a" if n % 5 else "b", "r": "a" if n % 4 else "b"} for n in range(60)]
    path = str(write_rows(tmp_path / "people.jsonl", people))
    asked = ["agreement", path, "--votes", "judge", "--gold-fields", "p", "q", "r"]
    assert main([*asked, "--annotator-test", "0.2"]) == 0
    expected = stand_in_test(evenhand.agreement(path, ["judge"], gold_fields=["p", "q", "r"]), 0.2)
    assert str(expected) in capsys.readouterr().out
    assert main([*asked, "--annotator-test", "export"]) == 2
    assert "annotator_test is 'export'" in capsys.readouterr().err


WORDS = [
    (JudgeJob, "batch", True, True),
    (JudgeJob, "check_positional_bias", "false", False),
    (JudgeJob, "check_positional_bias", "0.2", 0.2),
    (JudgeJob, "samples", "4", 4),
    (JudgeJob, "aggregation", ["median"], "median"),
    (JudgeJob, "aggregation", ["ordinal=median", "binary=any"], {"ordinal": "median", "binary": "any"}),
    (JudgeJob, "response_fields", ["no, b", "a"], ["no, b", "a"]),
    (JudgeJob, "judge_weights", ["1", "0.5"], [1.0, 0.5]),
    (JudgeJob, "max_calls", "none", None),
    (JudgeJob, "cluster_field", "none", False),
    (JudgeJob, "group_fields", ["kind", "question"], ["kind", "question"]),
    (JudgeJob, "context_fields", ["question", "task=title"], {"question": "question", "task": "title"}),
    (JudgeJob, "gold_fields", ["a=b", "c=d"], {"a": "b", "c": "d"}),
    (JudgeJob, "length_penalty", ["max_cap=300"], {"max_cap": 300.0}),
    (JudgeJob, "criteria", ["a"], "a"),
    (JudgeJob, "mode_options", ["rounds=3", "name=x"], {"rounds": 3.0, "name": "x"}),
    (ChecklistJob, "use_logprobs", False, False),
    (AgreementJob, "annotator_test", "0.15", 0.15),
]


@pytest.mark.parametrize(("model", "name", "words", "value"), WORDS)
def test_words_of_the_shell_become_values(model, name, words, value):
    found = value_of(name, model.model_fields[name], words)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("verb", JOBS)
def test_every_option_of_a_job_is_a_flag_under_its_name(verb, capsys):
    model = JOBS[verb]
    assert words_of(model).model_fields.keys() == model.model_fields.keys() - model.not_flags
    assert main([verb, "--help-all"]) == 0
    shown = capsys.readouterr().out
    assert all(flag_of(name) in shown for name in words_of(model).model_fields)


@pytest.mark.parametrize("verb", ["judge", "winrates", "checklist", "reliability"])
def test_a_dry_run_makes_no_call_and_counts_those_of_the_run(verb, rows, capsys):
    judged = {"judge": RELEVANCE, "checklist": ["--checklist", "checklists.evenhand.summary"]}.get(verb, QUALITY)
    context = ["--context-fields", "document=question" if verb == "checklist" else "question"]
    with JudgeServer(reply=lambda _: "Yes") as server:
        assert main([verb, rows, *judged, "--engine", served(server), *BOTH, *context, "--dry-run"]) == 0
        assert server.seen == 0
    assert re.search(r"calls: [1-9]\d*\ncached: 0\n", capsys.readouterr().out)


@pytest.mark.parametrize("spelling", ["same", "relative", "symlink", "hard link", "criterion", "journal", "folder"])
def test_nothing_that_was_given_is_overwritten(spelling, rows, tmp_path, capsys):
    criterion, journal, link = tmp_path / "own.json", tmp_path / "replies.sqlite3", tmp_path / "link.jsonl"
    criterion.write_text("{}", encoding="utf-8")
    journal.write_text("", encoding="utf-8")
    if spelling == "hard link":
        os.link(rows, link)
    else:
        link.symlink_to(rows)
    named = {"same": rows, "relative": os.path.relpath(rows), "symlink": link, "hard link": link}
    out = {**named, "criterion": criterion, "journal": journal, "folder": tmp_path}[spelling]
    before = Path(rows).read_text(encoding="utf-8")
    given = ["--criteria", str(criterion), "--journal", str(journal), *BASELINE, *SHOWN]
    assert main(["judge", rows, *given, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert ("not a file that may be written" if spelling == "folder" else "the same file as the input") in shown.err
    assert (shown.out, Path(rows).read_text(encoding="utf-8")) == ("", before)


def test_a_run_that_fails_ends_in_1_and_one_that_is_interrupted_in_130(rows, monkeypatch, capsys):
    with JudgeServer(faults=[{"kind": "status", "status": 401}]) as server:
        assert main(["judge", rows, *RELEVANCE, "--engine", served(server), "--no-progress", *SHOWN]) == 1
    assert "votes failed" in capsys.readouterr().err

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(FUNCTIONS, "judge", FUNCTIONS["judge"]._replace(run=interrupted))
    assert main(["judge", rows, *RELEVANCE, *BASELINE, *SHOWN]) == 130
    assert "goes on where it stopped" in capsys.readouterr().err


def test_the_help_has_four_groups_and_shows_what_most_runs_need(capsys):
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    verbs = [name for name in command_line() if not name.startswith("-")]
    assert [*VERBS] == ["Judge", "Inspect", "Labels", "Maintenance"]
    assert len({*verbs}) == len(verbs) <= 21
    assert all(f"─ {group} ─" in shown for group in VERBS)
    assert all(f"│ {verb} " in shown for verb in verbs)
    assert "Exit codes: 0 done; 1 the run failed" in shown
    assert {verb for verb in verbs if verb.replace("-", "_") in FUNCTIONS} == {*JOBS}
    for verb in set(verbs) - {"unitxt"}:
        main([verb, "--help"])
        printed = capsys.readouterr().out
        assert len({*re.findall(r"^│ \*?\s*(--[\w-]+)", printed, re.MULTILINE)} - {"--help", "--version"}) <= MOST_SHOWN
    main(["judge", "--help"])
    printed = capsys.readouterr().out
    needed = ("--criteria", "--engine", "--response-fields", "--out", "--dry-run")
    assert all(flag in FIRST and flag in printed for flag in needed)
    assert "--min-mass" not in printed


def test_without_a_verb_five_jobs_are_shown_with_a_command_that_can_be_run(capsys):
    assert main([]) == 2
    printed = capsys.readouterr().out.replace("\\\n", " ")
    commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("    evenhand ")]
    for words in commands:
        command_line().parse_args(words[1:], print_error=False, exit_on_error=False)
    assert [words[1] for words in commands] == ["demo", "judge", "winrates", "reliability", "correct"]


def test_an_id_of_our_form_may_lie_in_a_catalog_that_unitxt_is_told_of(tmp_path):
    place = tmp_path / "criteria" / "evenhand"
    place.mkdir(parents=True)
    (place / "mine.json").write_text(catalog_entries()["criteria.evenhand.direct.relevance"].read_text("utf-8"))
    code = "import evenhand; print(evenhand.load('criteria.evenhand.mine').name)"
    command, told = [sys.executable, "-c", code], {**os.environ, "UNITXT_CATALOGS": str(tmp_path)}
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["relevance"]
    with pytest.raises(ArtifactError, match=r"no local catalog holds the criterion 'criteria\.evenhand\.mine'"):
        evenhand.load("criteria.evenhand.mine")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_verbs_and_options(tmp_path):
    script = command_line().generate_completion(shell="bash")
    typed = """
for words in 'reli' 'winrates rows.jsonl --on-p'; do
  COMP_WORDS=(evenhand $words); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _evenhand; echo ${COMPREPLY[@]}
done
"""
    told = subprocess.run(["bash", "-c", script + typed], capture_output=True, text=True, check=True).stdout.split()
    assert told == ["reliability", "--on-position-bias"]


def test_catalog_list_and_show(capsys):
    assert main(["catalog", "list", "direct.relevance"]) == 0
    assert capsys.readouterr().out.startswith("criteria.evenhand.direct.relevance ")
    assert main(["catalog", "show", "criteria.evenhand.direct.relevance"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "relevance"


def test_unitxt_builds_every_entry_of_the_catalog():
    register()
    built = [Artifact.load(str(path)) for path in catalog_entries().values()]
    assert len(built) >= 80


def test_a_setting_that_unitxt_refuses_is_one_message():
    environment = {**os.environ, "UNITXT_USE_ONLY_LOCAL_CATALOGS": "1"}
    command = [sys.executable, "-m", "evenhand", "unitxt", "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("evenhand: unitxt refuses the environment variable UNITXT_USE_ONLY_LOCAL_CATALOGS")
    assert done.stderr.count("\n") == 1


def test_the_demo_writes_a_report_that_holds_every_verdict(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what it prints is tests/golden/demo.txt
    assert main(["demo", "--no-progress"]) == 0
    assert "The report, with every verdict: evenhand-demo.html" in capsys.readouterr().out
    page = (tmp_path / "evenhand-demo.html").read_text(encoding="utf-8")
    assert "alder" in page
    assert "default-src 'none'" in page
