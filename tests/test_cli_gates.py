"""Verbs that judge and those of saved results check conditions, write summaries, and end in the exit code 3."""

import csv
import json
from xml.etree import ElementTree

import pytest

from evenhand.by_name import open as open_results
from evenhand.cli import main
from tests.support.rows import write_rows

JUDGE = ["--criteria", "criteria.evenhand.direct.relevance", "--engine", "engines.evenhand.baseline", "--no-progress"]
SHOWN = ["--response-fields", "new", "old", "--context-fields", "question", "--id-field", "id"]
SHOWN += ["--group-fields", "language"]
SAME = {"language": "de", "question": "What is two and two?", "gold": "Off topic"}
ROWS = [{**SAME, "id": "p-1", "new": "Two and two is four.", "old": "=1+1"}] + [
    {**SAME, "id": f"p-{number}", "new": "Two and two is four.", "old": "Cheese.", "language": "en"}
    for number in (2, 3)
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A saved result, as the shell wrote it."""
    folder = tmp_path_factory.mktemp("run")
    rows = write_rows(folder / "rows.jsonl", ROWS)
    required = ["--require", "relevance[old].low >= 0.9", "--require", "unscored <= 0"]
    told = ["--format", f"junit={folder / 'checks.xml'}", "--format", f"markdown={folder / 'run.md'}"]
    gold = ["--gold-fields", "relevance=gold"]
    out = ["--out", str(folder / "run.parquet")]
    assert main(["judge", str(rows), *JUDGE, *SHOWN, *gold, *required, *told, *out]) == 3
    return folder / "run.parquet"


def test_a_run_that_fails_is_saved_and_told_to_programs(run, capsys):
    assert len(open_results(run)) == 6
    suite = ElementTree.parse(run.with_name("checks.xml")).getroot().find("testsuite")
    assert [(case.get("name"), case.find("failure") is None) for case in suite.findall("testcase")][:2] == [
        ("relevance[old].low >= 0.9", False),
        ("unscored <= 0", True),
    ]
    assert "**Conditions: 1 of 2 hold**" in run.with_name("run.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--require", "relevance.low >="], "is not a condition"),
        (["--format", "xml"], "--format is 'xml'. Accepted: 'table', 'json', 'junit', 'markdown'."),
        (["--format", "json", "--format", "junit"], "only one is printed"),
        (["--format", "table=x.md"], "--format is 'table'. Accepted: 'json', 'junit'"),
    ],
)
def test_what_is_no_condition_and_no_format_is_refused_before_the_first_call(arguments, said, tmp_path, capsys):
    rows = write_rows(tmp_path / "rows.jsonl", ROWS)
    engine = ["--engine", "engines.evenhand.openai_compatible[base_url=http://127.0.0.1:9/v1,model=none]"]
    assert main(["judge", str(rows), *JUDGE[:2], *engine, "--response-fields", "new", *arguments]) == 2
    shown = capsys.readouterr()
    assert (shown.out, said in shown.err) == ("", True)


def test_one_line_per_condition_that_failed_and_json_for_programs(run, capsys):
    assert main(["show", str(run), "--require", "relevance[new].low >= 0.9", "--format", "json"]) == 3
    shown = capsys.readouterr()
    assert json.loads(shown.out)["passed"] is False
    (line,) = shown.err.splitlines()
    assert line.startswith("evenhand: FAILED relevance[new].low >= 0.9: relevance[new].low is ")
    assert main(["show", str(run), "--require", "unscored <= 0"]) == 0
    assert main(["show", str(run), "--require", "relevence.low >= 1"]) == 2
    shown = capsys.readouterr()
    assert "Did you mean 'relevance.low'?" in shown.err
    assert "relevance" in shown.out  # the name costs no result


def test_a_row_is_shown_whole(run, capsys):
    assert main(["show", str(run), "p-1"]) == 0
    shown = capsys.readouterr().out
    assert "verdict: 0/new/relevance;" in shown
    assert "verdict: 0/old/relevance;" in shown
    assert "  question: What is two and two?\n" in shown
    assert "  reply: " in shown
    assert main(["show", str(run), "0/old/relevance"]) == 0
    assert "0/new/relevance" not in capsys.readouterr().out
    assert main(["show", str(run), "p-11"]) == 2
    assert "Did you mean 'p-1'?" in capsys.readouterr().err


def test_verdicts_are_listed_by_what_makes_them_worth_reading(run, capsys):
    def listed(*options):
        assert main(["show", str(run), *options]) == 0
        return capsys.readouterr().out

    results = open_results(run)
    assert listed("--flips") == f"{results.flips()}\n"
    assert listed("--disagreements") == f"{results.disagreements()}\n"
    assert listed("--unscored") == f"{results.unscored()}\n"
    assert listed("--worst", "2") == f"{results.sort('score', ascending=True).head(2)}\n"
    assert listed("--flips", "--worst", "1") == f"{results.flips().sort('score', ascending=True).head(1)}\n"
    assert results.sort("score", ascending=True)[0].score == min(row["score"] for row in results.records())
    for more in (["p-1"], ["--require", "unscored <= 0"], ["--format", "json"]):
        assert main(["show", str(run), "--worst", "2", *more]) == 2
        assert "give one or the other" in capsys.readouterr().err
    assert main(["show", str(run), "--worst", "-1"]) == 2
    assert "n is -1" in capsys.readouterr().err


def test_rescored_filtered_and_compared_by_files_alone(run, tmp_path, capsys):
    first, german = tmp_path / "first.parquet", tmp_path / "de.parquet"
    assert main(["rescore", str(run), "--on-position-bias", "first", "--out", str(first)]) == 0
    assert open_results(first).parameters["on_position_bias"] == "first"
    assert main(["export", str(run), "--where", "system=new", "language=de", "--out", str(german)]) == 0
    assert [(each.instance, each.system) for each in open_results(german)] == [(0, "new")]
    capsys.readouterr()
    required = ["--require", "relevance.change[new].high >= 0", "--format", "json"]
    assert main(["compare", str(run), str(first), *required]) == 0
    (condition,) = json.loads(capsys.readouterr().out)["conditions"]
    assert (condition["holds"], condition["measure"], condition["of"]) == (True, "relevance.change.high", ["new"])
    assert f"is {condition['value']:.2f} (0.00 [" in condition["found"]
    assert main(["compare", str(run), str(first), "--require", "relevance.change.same[new] < 0.5"]) == 3
    assert main(["compare", "--require", "relevance.change.same[new] < 0.5", str(run), str(first)]) == 3
    assert main(["compare", str(run), "--require", "relevance.change.same[new] < 0.5", str(first)]) == 3
    assert main(["export", str(run), "--where", "langauge=de"]) == 2
    assert main(["rescore", str(run), "--rule", "mean"]) == 2
    assert "there is no column 'langauge'" in capsys.readouterr().err
    assert main(["compare", str(run), str(run.with_name("rows.jsonl"))]) == 2
    assert "rows.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "jsonl", "markdown", "latex", "html"])
def test_every_export_holds_what_was_judged(form, run, tmp_path):
    out = tmp_path / f"out.{form}"
    assert main(["export", str(run), "--as", form, "--out", str(out)]) == 0
    if form == "csv":
        read = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    elif form == "jsonl":
        read = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    else:
        assert "relevance" in out.read_text(encoding="utf-8")
        return
    assert [float(row["score"]) for row in read] == [row["score"] for row in open_results(run).records()]


def test_a_condition_on_corrected_scores_where_they_are_corrected(run, capsys):
    required = ["--require", "relevance.corrected[new].low >= 1"]
    assert main(["correct", str(run), "--design", "random", *required]) == 3
    said = capsys.readouterr().err
    assert "FAILED relevance.corrected[new].low >= 1: relevance.corrected[new].low is " in said
    assert main(["show", str(run), *required]) == 2
    assert "design is not given" in capsys.readouterr().err
