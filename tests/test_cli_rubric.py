"""``evenhand judge`` with a rubric, and what the judge is shown beside it."""

import json
from functools import wraps

import pytest

import evenhand
from evenhand.by_name import FUNCTIONS
from evenhand.cli import main
from evenhand.options import AssessmentOptions, RunOptions
from tests.support.rows import write_rows

ROWS = [
    {"document": "Spiders have eight legs.", "answer": "Eight legs.", "level": "High"},
    {"document": "Paris is the capital of France.", "answer": "Paris is the capital.", "level": "Low"},
]
ENGINE = ["--engine", "engines.evenhand.simulated", "--no-progress"]
SUMMARIES = "rubrics.evenhand.summarization"
RUBRIC = {"name": "mine", "criteria": ["Is correct.", {"requirement": "Is long-winded.", "weight": -1}]}


@pytest.fixture
def jsonl(tmp_path):
    return write_rows(tmp_path / "answers.jsonl", ROWS)


@pytest.fixture
def called(monkeypatch):
    """What the verb hands to ``judge``; nothing is judged."""
    calls = []
    fake = wraps(FUNCTIONS["judge"])(lambda *given, **options: calls.append((given, options)) or "")
    monkeypatch.setitem(FUNCTIONS, "judge", fake)
    return calls


def test_a_rubric_by_id_and_from_a_file(jsonl, tmp_path, capsys):
    path, out = tmp_path / "rubric.json", tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps(RUBRIC), encoding="utf-8")
    columns = ["--response-fields", "answer", "--context-fields", "document"]
    assert main(["judge", str(jsonl), "--rubric", SUMMARIES, *ENGINE, *columns]) == 0
    assert capsys.readouterr().out.startswith("Rubric summarization")
    own = ["--calls", "per_item", "--na-strategy", "zero", "--length-penalty", "free_budget=2", "max_cap=3"]
    assert main(["judge", str(jsonl), "--rubric", str(path), *ENGINE, *columns, *own, "--out", str(out)]) == 0
    assert "4 verdicts written" in capsys.readouterr().out
    table = evenhand.open(out)
    assert (table.rubric.name, table.rubric.na_strategy) == ("mine", "zero")
    # two words are free; four are beyond the cap
    assert [item.length_penalty for item in table if item.criterion == table.criteria[0].name] == [0.0, 0.5]
    assert table.parameters["calls"] == "per_item"
    assert table.rubric_scores["answer"].usage.calls == 2


def test_a_file_behind_rubric_is_read_as_a_rubric(jsonl, tmp_path, capsys):
    plain = tmp_path / "plain.yaml"
    plain.write_text("- It names a date.\n- It is polite.\n", encoding="utf-8")
    given = ["judge", str(jsonl), *ENGINE, "--response-fields", "answer", "--context-fields", "document", "--rubric"]
    assert main([*given, str(plain)]) == 0
    assert capsys.readouterr().out.startswith("Rubric plain")
    assert main([*given, "criteria.evenhand.direct.relevance"]) == 2
    assert "which is not a rubric" in capsys.readouterr().err


OPTIONS = [
    (["--guidelines", "Be strict."], {"guidelines": "Be strict."}),
    (["--examples", "cases.jsonl"], {"examples": "cases.jsonl"}),
    (
        ["--examples", "cases.jsonl", "--num-examples", "3"],
        {"examples": "cases.jsonl", "num_examples": 3},
    ),
    (["--label-fields", "a=b", "c=d"], {"label_fields": {"a": "b", "c": "d"}}),
    (["--no-shuffle-options"], {"shuffle_options": False}),
    (["--auto-na-option"], {"auto_na_option": True}),
    (["--as-index"], {"as_index": True}),
    (["--calls", "per_item"], {"calls": "per_item"}),
    (["--na-strategy", "fail"], {"na_strategy": "fail"}),
    (["--na-partial", "0.25"], {"na_partial": 0.25}),
    (
        ["--length-penalty", "max_cap=300", "sections=output"],
        {"length_penalty": {"max_cap": 300.0, "sections": "output"}},
    ),
    (["--flow", "one_step"], {"flow": "one_step"}),
]


@pytest.mark.parametrize(("arguments", "expected"), [([], {}), *OPTIONS])
def test_an_option_reaches_the_function_and_nothing_else_does(arguments, expected, jsonl, called):
    assert main(["judge", str(jsonl), "--rubric", SUMMARIES, *ENGINE, "--response-fields", "answer", *arguments]) == 0
    ((_, judged, engine), options) = called[0]
    assert (judged.name, engine) == ("summarization", ["engines.evenhand.simulated"])
    own = {
        "as_index",
        "guidelines",
        "examples",
        "num_examples",
        "label_fields",
        "shuffle_options",
        "auto_na_option",
        "calls",
    }
    own |= {"na_strategy", "na_partial", "length_penalty", "flow", "orders", "check_positional_bias"}
    assert {name: value for name, value in options.items() if name in own} == expected


def test_every_option_of_judge_has_one_in_the_shell():
    own = AssessmentOptions.model_fields.keys() - RunOptions.model_fields.keys()
    assert {name for _, expected in OPTIONS for name in expected} - {"flow"} == own


def test_guidelines_from_a_file(jsonl, tmp_path, called):
    path = tmp_path / "guidelines.md"
    path.write_text("Dates must be exact.", encoding="utf-8")
    assert (
        main(
            [
                "judge",
                str(jsonl),
                "--rubric",
                SUMMARIES,
                *ENGINE,
                "--response-fields",
                "answer",
                "--guidelines",
                str(path),
            ]
        )
        == 0
    )
    assert called[0][1]["guidelines"] == "Dates must be exact."
    text = "Be strict. " * 1000  # no file's name
    assert (
        main(["judge", str(jsonl), "--rubric", SUMMARIES, *ENGINE, "--response-fields", "answer", "--guidelines", text])
        == 0
    )
    assert called[1][1]["guidelines"] == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--length-penalty", "300"], "accepted: FIELD=VALUE"),
        (["--length-penalty", "max_cap=many"], "'many' is not a number"),
        (["--label-fields", "level"], "accepted: CRITERION=COLUMN"),
        (["--num-examples", "2"], "there are no examples"),
        (["--examples", "nowhere.jsonl"], "no file or folder 'nowhere.jsonl'"),
    ],
)
def test_what_cannot_be_used_is_told(arguments, message, jsonl, capsys):
    given = ["--rubric", SUMMARIES, *ENGINE, "--response-fields", "answer", "--context-fields", "document"]
    assert main(["judge", str(jsonl), *given, *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_criteria_and_a_rubric_exclude_each_other(jsonl, capsys):
    with pytest.raises(SystemExit):
        main(["judge", str(jsonl), "--rubric", "r", "--criteria", "c", *ENGINE, "--response-fields", "answer"])
    with pytest.raises(SystemExit):
        main(["judge", str(jsonl), *ENGINE, "--response-fields", "answer"])
    capsys.readouterr()


def test_the_result_is_written_over_no_rubric_and_no_examples(jsonl, tmp_path, capsys):
    path = tmp_path / "rubric.json"
    path.write_text(json.dumps(RUBRIC), encoding="utf-8")
    columns = ["--response-fields", "answer", "--out", str(path)]
    assert main(["judge", str(jsonl), "--rubric", str(path), *ENGINE, *columns]) == 2
    assert main(["judge", str(jsonl), "--rubric", SUMMARIES, "--examples", str(path), *ENGINE, *columns]) == 2
    assert capsys.readouterr().err.count("the same file as the input") == 2
    assert json.loads(path.read_text(encoding="utf-8")) == RUBRIC
