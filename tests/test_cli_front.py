"""The front door: what is shown before anything is known, mistyped ids, and completion in the shell."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evenhand
from evenhand.catalog import catalog_entries
from evenhand.cli import main
from evenhand.cli.command import command_line
from evenhand.cli.verb_table import VERBS
from evenhand.errors import ArtifactError, InvalidInputError

ROOT = Path(__file__).resolve().parents[1]


def test_without_a_verb_five_jobs_are_shown_with_a_command_that_can_be_run_and_the_exit_code_is_2(capsys):
    assert main([]) == 2
    printed = capsys.readouterr().out.replace("\\\n", " ")
    commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("    evenhand ")]
    verbs = [
        command_line().parse_args(words[1:], print_error=False, exit_on_error=False) and words[1] for words in commands
    ]
    assert verbs == ["demo", "judge", "winrates", "reliability", "correct"]


def test_the_help_lists_every_verb(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(verb.name in printed for verb in VERBS)


MISTYPED = [
    ("judge", "--criteria", "criteria.evenhand.direct.relevnce", "criteria.evenhand.direct.relevance"),
    ("judge", "--rubric", "rubrics.evenhand.safty", "rubrics.evenhand.safety"),
    ("winrates", "--criteria", "criteria.evenhand.pairwise.overal", "criteria.evenhand.pairwise.overall_quality"),
    ("checklist", "--checklist", "checklists.evenhand.sumary", "checklists.evenhand.summary"),
    ("catalog", "show", "rubrics.evenhand.sumarization", "rubrics.evenhand.summarization"),
]
TYPES = """
import sys
import evenhand
from evenhand.cli import main
from tests.support.judges import ScriptedJudge

needed = {verb: ["--response-fields", "a,b"] for verb in ("judge", "checklist", "winrates")}
for verb, option, mistyped, _ in MISTYPED:
    rows = [] if verb == "catalog" else ["rows.jsonl", "--engine", "engines.evenhand.baseline", *needed[verb]]
    assert main([verb, *rows, option, mistyped]) == 2, mistyped
try:
    evenhand.judge([{"response": "Eight."}], "criteria.evenhand.direct.relevnce", engine=ScriptedJudge([]))
except evenhand.EvenhandError as error:
    print(error, file=sys.stderr)
print(sorted({"unitxt", "datasets", "litellm"} & sys.modules.keys()))
"""


def test_a_mistyped_id_of_ours_is_told_with_the_nearest_one_without_unitxt(tmp_path, monkeypatch):
    for name in ("UNITXT_CATALOGS", "UNITXT_ARTIFACTORIES"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "rows.jsonl").write_text('{"a": "Eight.", "b": "Six."}\n', encoding="utf-8")
    code = TYPES.replace("MISTYPED", repr(MISTYPED))
    command, path = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    nearest = re.findall(r"Did you mean '([\w.]+)'", done.stderr)
    assert nearest == [*(each[-1] for each in MISTYPED), "criteria.evenhand.direct.relevance"]


JUDGE = ["judge", "rows.jsonl", "--engine", "engines.evenhand.baseline"]
CRITERIA = ["--criteria", "criteria.evenhand.direct.relevance"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [*JUDGE, "--response-fields", "a", "--criteria", "relevnce"],
            "Did you mean 'criteria.evenhand.direct.relevance'",
        ),
        ([*JUDGE, "--response-fields", "a", "--rubric", "safty"], "Did you mean 'rubrics.evenhand.safety'"),
        ([*JUDGE, "--response-fields", "a", *CRITERIA, "--engine", "baselne"], "no catalog holds the engine 'baselne'"),
        (
            [*JUDGE, "--response-fields", "answr", *CRITERIA],
            "instance 0 has no field 'answr', which response_fields names",
        ),
        ([*JUDGE, "--response-fields", "a", *CRITERIA, "--id-field", "ids"], "no field 'ids', which id_field names"),
        (
            [*JUDGE, "--response-fields", "a", *CRITERIA, "--samples", "0"],
            "samples is 0; give a whole number of at least 1",
        ),
        (
            ["judge", "no.jsonl", *JUDGE[2:], "--response-fields", "a", *CRITERIA],
            "there is no file or folder 'no.jsonl'",
        ),
        (
            [*JUDGE, "--response-fields", "b", *CRITERIA, "--out", "a.parquet"],
            "no field 'b', which response_fields names",
        ),
        (
            ["winrates", *JUDGE[1:], *CRITERIA, "--response-fields", "a,old"],
            "no field 'old', which response_fields names",
        ),
        (["show", "no.parquet"], "'no.parquet' cannot be read"),
        (["run", "no.yaml"], "'no.yaml' cannot be read"),
        (["run", "run.yaml"], "no field 'answr', which response_fields names"),
        (
            ["run", "run.yaml", "--response-fields", "a", "--criteria", "relevnce"],
            "Did you mean 'criteria.evenhand.direct.re",
        ),
    ],
)
def test_what_is_mistyped_in_the_shell_is_told(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"a": "Eight."}\n', encoding="utf-8")
    run_file = (
        "{job: judge, data: rows.jsonl, response_fields: answr, engine: engines.evenhand.baseline, criteria: ok?}"
    )
    Path("run.yaml").write_text(run_file, encoding="utf-8")
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("judge", {"criteria": "mistypd"}, "no local catalog holds the entry 'mistypd'"),
        ("judge", {"response_fields": "answr"}, "instance 0 has no field 'answr', which response_fields names"),
        ("judge", {"respons_field": "a"}, "there is no option 'respons_field'. Did you mean 'response_fields'"),
        ("judge", {"orders": "bth"}, "orders is 'bth'. Did you mean 'both'"),
        (
            "winrates",
            {"criteria": "overal_quality", "response_fields": ["a", "b"]},
            "holds the criterion 'overal_quality'",
        ),
        ("winrates", {"response_fields": ["a", "old"]}, "no field 'old', which response_fields names"),
    ],
)
def test_what_is_mistyped_in_python_is_told(name, given, message):
    rows = {"data": [{"a": "Eight.", "b": "Six."}], "criteria": "polite?", "engine": "engines.evenhand.baseline"}
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        getattr(evenhand, name)(**(rows | given))


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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell_that_knows_verbs_and_options(shell, capsys, tmp_path):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in ("reliability", "on-position-bias", "cluster-field"))
    if shutil.which(shell):
        (tmp_path / "script").write_text(script, encoding="utf-8")
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


TYPED = """
complete -p evenhand
for words in 'judge-' 'compare rows.jsonl --on-p'; do
  COMP_WORDS=(evenhand $words); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _evenhand; echo ${COMPREPLY[@]}
done
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_verbs_and_options(capsys):
    main(["completion", "bash"])
    script = capsys.readouterr().out + TYPED
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "_evenhand" in told[0]
    assert told[1].split() == ["reliability"]
    assert told[2].split() == ["--on-position-bias"]
