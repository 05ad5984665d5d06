"""The front door: what is shown before anything is known, mistyped ids, and completion in the shell."""

import inspect
import pickle
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import evenhand
from evenhand.cli import main
from evenhand.cli.command import command_line
from evenhand.cli.verb_table import VERBS
from evenhand.early_checks import Deferred
from evenhand.errors import ArtifactError
from evenhand.functions import FUNCTIONS
from evenhand.known_ids import check_ids


def test_without_a_verb_five_jobs_are_shown_with_a_command_that_can_be_run_and_the_exit_code_is_2(capsys):
    assert main([]) == 2
    printed = capsys.readouterr().out.replace("\\\n", " ")
    commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("    evenhand ")]
    verbs = [
        command_line().parse_args(words[1:], print_error=False, exit_on_error=False) and words[1] for words in commands
    ]
    assert verbs == ["demo", "judge", "compare", "judge-report", "correct"]


def test_the_help_lists_every_verb(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(verb.name in printed for verb in VERBS)


MISTYPED = [
    ("judge", "--criteria", "criteria.evenhand.direct.relevnce", "criteria.evenhand.direct.relevance"),
    ("judge", "--engine", "engines.evenhand.baselne[model=secret]", "engines.evenhand.baseline"),
    ("compare", "--criteria", "criteria.evenhand.pairwise.overal", "criteria.evenhand.pairwise.overall_quality"),
    ("demo", "--engine", "engines.evenhand.baselne", "engines.evenhand.baseline"),
    ("checklist", "--checklist", "checklists.evenhand.sumary", "checklists.evenhand.summary"),
    ("catalog", "show", "rubrics.evenhand.sumarization", "rubrics.evenhand.summarization"),
]
TYPES = """
import os, sys
from evenhand.cli import main

def ask(verb, option, mistyped):
    if verb == "catalog":
        return main([verb, option, mistyped])
    given = {"--criteria": "criteria.evenhand.direct.relevance", "--engine": "engines.evenhand.baseline"}
    needed = {"judge": ["--response", "a"], "compare": ["--systems", "a,b"], "checklist": ["--response", "a"]}
    given = {} if verb == "demo" else given if verb != "checklist" else {"--engine": given["--engine"]}
    options = [word for pair in {**given, option: mistyped}.items() for word in pair]
    return main([verb, *([] if verb == "demo" else ["rows.jsonl"]), *options, *needed.get(verb, [])])

os.environ.pop("UNITXT_CATALOGS", None)
for mistyped in MISTYPED:
    assert ask(*mistyped[:3]) == 2, mistyped
import evenhand

with open("run.yaml", "w") as file:
    file.write("{job: judge, data: demo, systems: alder, judges: engines.evenhand.baselne, criteria: polite?}")
assert main(["run", "run.yaml"]) == 2
try:
    evenhand.run("run.yaml")
except evenhand.EvenhandError as error:
    print(error, file=sys.stderr)
for function in (evenhand.judge, evenhand.winrates):
    try:
        function([{"answer": "Eight."}], ["criteria.evenhand.direct.relevnce"], engine="engines.evenhand.baseline")
    except evenhand.EvenhandError as error:
        print(error, file=sys.stderr)
print(sorted({"unitxt", "datasets", "litellm", "scipy", "pandas"} & sys.modules.keys()))
"""


def test_a_mistyped_id_is_told_with_the_nearest_one_before_anything_heavy_is_imported(tmp_path):
    code = TYPES.replace("MISTYPED", repr(MISTYPED))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    nearest = re.findall(r"Did you mean '([\w.]+)'", done.stderr)
    again = [*2 * ["engines.evenhand.baseline"], *2 * ["criteria.evenhand.direct.relevance"]]
    assert nearest == [*(each[-1] for each in MISTYPED), *again]
    assert "secret" not in done.stderr


JUDGE = ["judge", "rows.jsonl", "--engine", "engines.evenhand.baseline"]
CRITERIA = ["--criteria", "criteria.evenhand.direct.relevance"]
SHELL = [
    ([*JUDGE, "--response", "a", "--criteria", "relevnce"], "Did you mean 'criteria.evenhand.direct.relevance'"),
    ([*JUDGE, "--response", "a", "--rubric", "safty"], "Did you mean 'rubrics.evenhand.safety'"),
    ([*JUDGE, "--response", "a", *CRITERIA, "--engine", "baselne"], "no catalog holds the engine 'baselne'"),
    ([*JUDGE, "--response", "answr", *CRITERIA], "instance 0 has no field 'answr', which response_field names"),
    ([*JUDGE, "--response", "a", *CRITERIA, "--id-field", "ids"], "no field 'ids', which id_field names"),
    ([*JUDGE, "--response", "a", *CRITERIA, "--samples", "0"], "samples is 0; give a whole number of at least 1"),
    (["judge", "no.jsonl", *JUDGE[2:], "--response", "a", *CRITERIA], "there is no file or folder 'no.jsonl'"),
    ([*JUDGE, "--response", "answr", *CRITERIA, "--out", "a.parquet"], "no field 'answr', which response_field names"),
    (["compare", *JUDGE[1:], *CRITERIA, "--systems", "a,old"], "no field 'old', which systems names"),
    (["show", "no.parquet"], "'no.parquet' cannot be read"),
    (["run", "no.yaml"], "'no.yaml' cannot be read"),
    (["run", "run.yaml"], "no field 'answr', which response_field names"),
    (["run", "run.yaml", "--response", "a", "--criteria", "relevnce"], "Did you mean 'criteria.evenhand.direct.rele"),
]
PYTHON = [
    ("judge", {"criteria": "mistypd"}, "no local catalog holds the entry 'mistypd'"),
    ("judge", {"response_field": "answr"}, "instance 0 has no field 'answr', which response_field names"),
    ("judge", {"respons_field": "a"}, "there is no option 'respons_field'. Did you mean 'response_field'"),
    ("judge", {"orders": "bth"}, "orders is 'bth'. Did you mean 'both'"),
    ("winrates", {"criteria": "overal_quality", "systems": ["a", "b"]}, "holds the criterion 'overal_quality'"),
    ("winrates", {"systems": ["a", "old"]}, "no field 'old', which systems names"),
    ("load", {"reference": "relevnce"}, "no local catalog holds the entry 'relevnce'"),
    ("open", {"path": "no.parquet"}, "'no.parquet' cannot be read"),
]
EARLY = """
import sys
from evenhand.cli import main

for arguments, _ in SHELL:
    assert main(arguments) == 2, arguments
import evenhand

for name, given, _ in PYTHON:
    rows = {"dataset": [{"a": "Eight."}], "criteria": "polite?", "engine": "engines.evenhand.baseline"}
    try:
        getattr(evenhand, name)(**(given if name in {"load", "open"} else rows | given))
    except evenhand.EvenhandError as error:
        print(error, file=sys.stderr)
print(sorted({"unitxt", "datasets", "litellm", "scipy", "pandas", "numpy", "pyarrow", "jinja2"} & sys.modules.keys()))
"""


def test_what_is_mistyped_is_told_before_a_library_of_numbers_or_of_data_is_imported(tmp_path, monkeypatch):
    for name in ("UNITXT_CATALOGS", "UNITXT_ARTIFACTORIES"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "rows.jsonl").write_text('{"a": "Eight."}\n', encoding="utf-8")
    run_file = "{job: judge, data: rows.jsonl, response_field: answr, engine: engines.evenhand.baseline, criteria: ok?}"
    (tmp_path / "run.yaml").write_text(run_file, encoding="utf-8")
    code = EARLY.replace("SHELL", repr(SHELL)).replace("PYTHON", repr(PYTHON))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    told = [line for line in done.stderr.splitlines() if line]
    assert len(told) == len(SHELL) + len(PYTHON)
    wanted = [each[-1] for each in (*SHELL, *PYTHON)]
    assert [line for words, line in zip(wanted, told, strict=True) if words not in line] == []


def test_a_function_of_the_facade_is_itself_once_its_module_is_loaded_and_says_what_it_takes_before():
    function = FUNCTIONS["judge"]
    assert evenhand.judge is function
    deferred = Deferred("evenhand.tables.assessing", "judge")
    assert inspect.signature(deferred) == inspect.signature(evenhand.judge)
    assert inspect.getdoc(deferred) == inspect.getdoc(evenhand.judge)
    assert pickle.loads(pickle.dumps(deferred)).__wrapped__ is evenhand.judge


def test_an_id_of_ours_in_a_catalog_that_unitxt_was_told_of_is_not_refused(monkeypatch):
    monkeypatch.delitem(sys.modules, "unitxt")
    with pytest.raises(ArtifactError, match="no local catalog holds the criterion"):
        check_ids({"criteria": ["a question?", "criteria.evenhand.mine"]})
    check_ids(
        {"criteria": ["criteria.evenhand.direct.relevance"], "items": {"criteria.evenhand.mine": 1}, "rubric": None}
    )
    monkeypatch.setenv("UNITXT_CATALOGS", "/mine")
    check_ids({"criteria": "criteria.evenhand.mine"})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell_that_knows_verbs_and_options(shell, capsys, tmp_path):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in ("judge-report", "on-position-bias", "cluster-field"))
    if shutil.which(shell):
        (tmp_path / "script").write_text(script, encoding="utf-8")
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


TYPED = """
complete -p evenhand
for words in 'judge-' 'compare rows.jsonl --on-p'; do
  COMP_WORDS=(evenhand $words); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _evenhand; echo ${COMPREPLY[@]}
done
"""


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
    assert told[1].split() == ["judge-report"]
    assert told[2].split() == ["--on-position-bias"]
