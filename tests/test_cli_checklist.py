"""``evenhand checklist``: its options, its files, and bad input."""

import json
from functools import wraps

import pytest

import evenhand
from evenhand.by_name import FUNCTIONS
from evenhand.cli import main
from evenhand.options import ChecklistOptions, RunOptions
from tests.support.checklists import sheet
from tests.support.rows import write_rows
from tests.support.server import JudgeServer

ROWS = [
    {
        "question": "How many legs has a spider?",
        "answer": "A spider has eight legs.",
        "other": "Cheese.",
        "gold": "yes",
    },
    {"question": "What is the capital of France?", "answer": "It is Paris.", "other": "No idea.", "gold": "no"},
]
ENGINE = ["--engine", "engines.evenhand.baseline", "--no-progress"]


@pytest.fixture
def jsonl(tmp_path):
    return write_rows(tmp_path / "answers.jsonl", ROWS)


@pytest.fixture
def checks(tmp_path):
    path = tmp_path / "checks.yaml"
    path.write_text(
        "name: answers\ncontext_fields: [question]\n"
        "items:\n  - Is it right?\n  - question: Is it short?\n    weight: 3\n",
        encoding="utf-8",
    )
    return path


def test_a_checklist_from_a_file(jsonl, checks, tmp_path, capsys):
    out = tmp_path / "checked.jsonl"
    columns = ["--response-fields", "answer", "other", "--out", str(out)]
    assert main(["checklist", str(jsonl), "--checklist", str(checks), *ENGINE, *columns]) == 0
    shown = capsys.readouterr().out
    assert "Is it short?" in shown
    assert "4 checked responses written" in shown
    table = evenhand.open(out)
    assert table.systems == ("answer", "other")
    assert [item.weight for item in table.checklists[0].items] == [1.0, 3.0]


def test_a_checklist_of_the_catalog(jsonl, capsys):
    arguments = ["--checklist", "checklists.evenhand.instruction_following", "--response-fields", "answer"]
    assert main(["checklist", str(jsonl), *arguments, *ENGINE]) == 0
    assert "instruction_following" in capsys.readouterr().out


def test_each_row_its_own(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"response": "A cat sat.", "checks": ["Is it a sentence?"]}) + "\n", encoding="utf-8")
    assert main(["checklist", str(path), "--checklist-field", "checks", "--response-fields", "response", *ENGINE]) == 0
    assert "Is it a sentence?" in capsys.readouterr().out


def test_a_dry_run_counts_the_calls_of_the_run(jsonl, checks, capsys):
    with JudgeServer(reply=lambda body: sheet("Yes", "No")) as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        arguments = [
            "checklist",
            str(jsonl),
            "--checklist",
            str(checks),
            "--engine",
            engine,
            "--response-fields",
            "answer",
        ]
        arguments += ["--no-progress"]
        assert main([*arguments, "--dry-run"]) == 0
        assert server.seen == 0
        assert "votes: 4" in (shown := capsys.readouterr().out)
        assert "calls: 2 " in shown
        assert main(arguments) == 0
        assert server.seen == 2
        assert main([*arguments, "--dry-run"]) == 0
        assert "calls: 0 (and 2 answered by the journal)" in capsys.readouterr().out


OPTIONS = [
    (["--mode", "item"], "mode", "item"),
    (["--primary-metric", "weighted"], "primary_metric", "weighted"),
    (["--capture-reasoning"], "capture_reasoning", True),
    (["--use-logprobs"], "use_logprobs", True),
    (["--no-use-logprobs"], "use_logprobs", False),
    (["--allow-na"], "allow_na", True),
    (["--no-allow-na"], "allow_na", False),
    (["--shuffle-items"], "shuffle_items", True),
    (["--scorer", "rlcf"], "scorer", "rlcf"),
    (["--guidelines", "Be strict."], "guidelines", "Be strict."),
    (["--check-positional-bias", "true"], "check_positional_bias", True),
    (["--samples", "3"], "samples", 3),
    (["--context-fields", "question"], "context_fields", {"question": "question"}),
    (["--gold-fields", "gold"], "gold_fields", "gold"),
    (["--gold-fields", "1=gold", "2=other"], "gold_fields", {"1": "gold", "2": "other"}),
]


@pytest.fixture
def called(monkeypatch):
    calls = []
    fake = wraps(FUNCTIONS["checklist"])(lambda *given, **options: calls.append((given, options)))
    monkeypatch.setitem(FUNCTIONS, "checklist", fake)
    return calls


@pytest.mark.parametrize(("arguments", "name", "value"), OPTIONS)
def test_an_option_reaches_the_function(arguments, name, value, jsonl, called):
    engine = ["--engine", "one", "two"]
    assert main(["checklist", str(jsonl), "--checklist", "c", *engine, "--response-fields", "answer", *arguments]) == 0
    [(given, options)] = called
    assert len(given) == 1
    assert (options["checklist"], options["engine"]) == ("c", ["one", "two"])
    assert options[name] == value


def test_every_option_of_a_checklist_has_one_in_the_shell_with_the_same_default(jsonl, called):
    assert main(["checklist", str(jsonl), "--checklist", "c", "--engine", "e", "--response-fields", "answer"]) == 0
    [(_, options)] = called
    own = ChecklistOptions.model_fields.keys() - RunOptions.model_fields.keys()
    assert not options.keys() & own
    assert {name for _, name, _ in OPTIONS} >= own
    assert options.get("check_positional_bias", False) is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checklist", "checklists.evenhand.sumary"], "Did you mean 'checklists.evenhand.summary'"),
        (["--checklist", "no/such/file.yaml"], "no/such/file.yaml"),
        (["--checklist", "criteria.evenhand.direct.relevance"], "not a checklist"),
    ],
)
def test_bad_input_is_one_clear_message(arguments, message, jsonl, capsys):
    assert main(["checklist", str(jsonl), *arguments, *ENGINE, "--response-fields", "answer"]) == 2
    assert message in capsys.readouterr().err


def test_options_that_do_not_belong_to_a_checklist(jsonl, checks, capsys):
    arguments = ["checklist", str(jsonl), "--checklist", str(checks), *ENGINE, "--response-fields", "answer"]
    assert main([*arguments, "--flow", "one_step"]) == 2
    assert "does not belong to a checklist" in capsys.readouterr().err
    assert main([*arguments, "--out", str(checks)]) == 2
    assert "the same file as the input" in capsys.readouterr().err


def test_either_a_checklist_or_a_column(jsonl, capsys):
    with pytest.raises(SystemExit):
        main(["checklist", str(jsonl), *ENGINE, "--response-fields", "answer"])
    assert "--checklist" in capsys.readouterr().err


def test_the_demo_has_a_checklist_part(capsys, tmp_path):
    out = ["--out", str(tmp_path / "demo.html")]
    assert main(["demo", "--no-progress", "--flow", "one_step", *out]) == 0
    out = capsys.readouterr().out
    for piece in ("Checked by the checklist 'demo'", "agrees_with_reference", "Pass rate of each category"):
        assert piece in out
    assert "answers all questions of the checklist alike" in out
