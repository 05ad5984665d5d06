"""``evenhand reliability``: its options, its files, and one clear message for what cannot be used."""

from functools import wraps

import pytest

from evenhand.by_name import FUNCTIONS
from evenhand.cli import main
from evenhand.reliability_report import ReliabilityReport
from tests.support.rows import write_rows

ROWS = [
    {
        "question": "How many legs has a spider?",
        "answer": "A spider has eight legs." + " Indeed." * place,
        "other": "Cheese.",
        "third": "Six.",
        "preferred": ("answer", "tie", "other")[place % 3],
    }
    for place in range(4)
]
ENGINE = ["--engine", "engines.evenhand.simulated", "--no-progress", "--journal", "none"]
PAIRWISE = ["--criteria", "criteria.evenhand.pairwise.overall_quality", "--response-fields", "answer,other"]
DIRECT = ["--criteria", "criteria.evenhand.direct.clarity", "--response-fields", "answer"]


@pytest.fixture
def data(tmp_path):
    return write_rows(tmp_path / "answers.jsonl", ROWS)


def report(path, *arguments):
    return main(["reliability", str(path), *ENGINE, "--context-fields", "question", *arguments])


@pytest.mark.parametrize("kind", ["json", "md", "html"])
def test_the_report_is_printed_and_written(kind, data, tmp_path, capsys):
    out = tmp_path / f"report.{kind}"
    given = [*PAIRWISE, "--gold-fields", "preferred", "--samples", "3", "--allow-ties", "--out", str(out)]
    assert report(data, *given) == 0
    printed = capsys.readouterr().out
    assert "position consistency" in printed
    assert f"the report was written to {out}" in printed
    assert "inconsistent towards the first" in out.read_text()
    if kind == "json":
        found = ReliabilityReport.load(out)
        assert found.of().num_samples == 3
        assert found.of().people.num_references == 4
        assert found.of().scale == "pairwise"


def test_both_kinds_and_several_judges(data, capsys):
    engines = ["engines.evenhand.simulated", "engines.evenhand.baseline"]
    criteria = ["criteria.evenhand.pairwise.overall_quality", "criteria.evenhand.direct.clarity"]
    gold = "overall_quality=preferred"
    arguments = [
        "--criteria",
        *criteria,
        "--response-fields",
        "answer",
        "other",
        "--gold-fields",
        gold,
    ]
    given = [
        "reliability",
        str(data),
        "--engine",
        *engines,
        *arguments,
        "--context-fields",
        "question",
        "--no-progress",
    ]
    assert main([*given, "--journal", "none"]) == 0
    printed = capsys.readouterr().out
    assert "Assessments on 'clarity'" in printed
    assert "Comparisons on 'overall_quality'" in printed
    assert "How far the judges agree on 'clarity'" in printed
    assert "baseline judge is text statistics" in " ".join(printed.split())


def test_all_prompts(data, capsys):
    given = ["--response-fields", "answer", "other", "third", "--prompts", "all", "--unrelated-option"]
    assert report(data, *PAIRWISE[:2], *given) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for prompt in ("select", "evaluate_first", "avoid_order_bias", "grade"):
        assert f" {prompt} no " in printed
        assert f" {prompt} chosen " in printed


def test_dry_run_makes_no_call(data, capsys):
    assert report(data, "--criteria", PAIRWISE[1], DIRECT[1], *PAIRWISE[2:], "--dry-run") == 0
    printed = capsys.readouterr().out
    # Four rows, both orders, a comparison and two assessments, two calls each.
    assert "48" in printed


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--samples", "5"], "samples", 5),
        (["--scale", "graded"], "scale", "graded"),
        (["--confidences"], "confidences", True),
        (["--prompts", "all"], "prompts", "all"),
        (["--prompts", "grade", "select"], "prompts", ["grade", "select"]),
        (["--unrelated-option"], "unrelated_option", True),
        (["--resamples", "50"], "resamples", 50),
        (["--gold-fields", "preferred"], "gold_fields", "preferred"),
        (["--gold-fields", "overall_quality=preferred"], "gold_fields", {"overall_quality": "preferred"}),
        (["--response-fields", "answer", "other,third"], "response_fields", ["answer", "other", "third"]),
        (["--seed", "4"], "seed", 4),
    ],
)
def test_an_option_reaches_the_function(arguments, name, value, data, monkeypatch):
    calls = []

    @wraps(FUNCTIONS["reliability"])
    def fake(*given, **options):
        calls.append(options)
        return "a report"

    monkeypatch.setitem(FUNCTIONS, "reliability", fake)
    assert report(data, *PAIRWISE, *arguments) == 0
    assert calls[0][name] == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*PAIRWISE, "--out", "report.txt"], "Accepted: '.json', '.md', '.html'"),
        ([*PAIRWISE, "--out", "missing/report.json"], "its folder does not exist"),
        (PAIRWISE[:2], "two or more for"),
        ([*PAIRWISE, "--stop-early"], "stop_early"),
        ([*PAIRWISE, "--aggregation", "mean"], "every judge is reported by itself"),
        ([*PAIRWISE, "--gold-fields", "a", "b"], "accepted: CRITERION=COLUMN"),
        ([*PAIRWISE, "--prompts", "best"], "prompts names 'best'"),
    ],
)
def test_bad_input_ends_in_one_message_and_exit_code_2(arguments, message, data, capsys):
    assert report(data, *arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("evenhand: ")
    assert captured.out == ""
