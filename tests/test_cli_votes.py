"""``evenhand aggregate-votes`` and ``evenhand agreement``: files, tables, and one clear message for bad input."""

import csv
import json

import pytest

from evenhand.cli import main
from tests.judge_reliability.criteria import LEVELS
from tests.support.rows import write_rows

ROWS = [
    {"gpt": "Excellent", "llama": "Good", "qwen": "", "human": "Excellent", "second": "Good"},
    {"gpt": "Good", "llama": "Good", "qwen": "Poor", "human": "Good", "second": "Good"},
    {"gpt": "Poor", "llama": "Fair", "qwen": "Poor", "human": "Fair", "second": "Poor"},
]


@pytest.fixture
def criteria(tmp_path):
    path = tmp_path / "clear.json"
    path.write_text(LEVELS.model_dump_json(), encoding="utf-8")
    return str(path)


@pytest.fixture(params=["csv", "jsonl"])
def votes(request, tmp_path):
    path = tmp_path / f"votes.{request.param}"
    with path.open("w", encoding="utf-8", newline="") as file:
        if request.param == "csv":
            table = csv.DictWriter(file, list(ROWS[0]))
            table.writeheader()
            table.writerows(ROWS)
        else:
            file.writelines(json.dumps({key: cell or None for key, cell in row.items()}) + "\n" for row in ROWS)
    return str(path)


def test_aggregate(votes, criteria, tmp_path, capsys):
    out = tmp_path / "verdicts.jsonl"
    columns = ["--votes", "gpt", "llama", "qwen", "--gold-fields", "human", "--out", str(out)]
    assert main(["aggregate-votes", votes, "--criteria", criteria, "--rule", "median", *columns]) == 0
    printed = capsys.readouterr().out
    assert "clear: median of gpt, llama, qwen" in printed
    # .875, .75 and .25
    assert "0.62 [" in printed or "0.63 [" in printed
    assert "3 verdicts written to" in printed
    header, *rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert header["summary"]["scores"]["score"]["estimate"] == pytest.approx(1.875 / 3)
    assert [row["selected_option"] for row in rows] == ["Good", "Good", "Poor"]
    assert header["summary"]["num_abstentions"] == 1


def test_aggregate_with_weights(votes, criteria, tmp_path, capsys):
    out = tmp_path / "verdicts.jsonl"
    how = ["--rule", "weighted_mean", "--weights", "2", "1", "1", "--votes", "gpt", "llama", "qwen", "--out", str(out)]
    assert main(["aggregate-votes", votes, "--criteria", criteria, *how]) == 0
    values = [json.loads(line)["aggregated_value"] for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    assert values == pytest.approx([(2 + 0.75) / 3, (1.5 + 0.75 + 0.25) / 4, (0.5 + 0.5 + 0.25) / 4])
    assert (
        main(["aggregate-votes", votes, "--criteria", criteria, *how[:2], "--votes", "gpt", "--weights", "1", "1"]) == 2
    )
    assert "there are 2 weights for the judges ['gpt']" in capsys.readouterr().err


def test_aggregate_yes_and_no_from_one_column_of_lists(tmp_path, capsys):
    path = tmp_path / "votes.jsonl"
    rows = [{"votes": ["yes", "no", "yes"], "right": "yes"}, {"votes": ["no", None, "no"], "right": "yes"}]
    write_rows(path, rows)
    assert main(["aggregate-votes", str(path), "--votes", "votes", "--gold-fields", "right"]) == 0
    printed = capsys.readouterr().out
    assert "votes: majority of votes_0, votes_1, votes_2" in printed
    assert "50 % [" in printed
    assert "References (rows) and verdicts (columns)" in printed


def test_agree(votes, criteria, tmp_path, capsys):
    out = tmp_path / "agreement.jsonl"
    columns = ["--votes", "gpt", "llama", "qwen", "--gold-fields", "human", "second", "--out", str(out)]
    assert main(["agreement", votes, "--criteria", criteria, "--resamples", "50", *columns]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for part in (
        "human – gpt",
        "human – second",
        "gpt – llama",
        "Krippendorff's alpha of the 3 judges",
        "10 pairs written",
    ):
        assert part in printed
    header, *instances = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    pairs = header["pairs"]
    assert header["missing"]["qwen"] == 1
    assert [len(each["votes"]) for each in instances] == [5] * 3
    assert len(pairs) == 10  # 2 × 3, 1 and 3
    assert pairs[0]["accuracy"]["estimate"] == pytest.approx(2 / 3)
    assert pairs[0]["quadratic_weighted_kappa"]["estimate"] <= 1


def test_agree_without_criteria(votes, capsys):
    assert main(["agreement", votes, "--votes", "gpt", "llama"]) == 0
    assert "Without criteria the options are the labels that occur" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("aggregate-votes", ["--votes", "gtp"], "votes names the column 'gtp', which no row has. Did you mean 'gpt'?"),
        (
            "aggregate-votes",
            ["--votes", "gpt"],
            "row 0: the judge 'gpt' voted 'Excellent', which is no option",
        ),
        ("aggregate-votes", ["--votes", "gpt", "--rule", "medain"], "'medain' is not a rule for the scale 'binary'"),
        ("agreement", ["--votes", "gpt"], "agreement is between at least two"),
        ("agreement", ["--votes", "gpt", "--gold-fields", "nobody"], "gold_fields names the column 'nobody'"),
        ("agreement", ["--votes", "gpt", "llama", "--resamples", "0"], "resamples is 0; give a whole number from 1"),
        ("agreement", ["--votes", "gpt", "llama", "--level", "2"], "level"),
        ("agreement", ["--votes", "gpt", "llama", "--criteria", "criteria.evenhand.direct.relevanc"], "Did you mean"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(verb, arguments, message, votes, capsys):
    assert main([verb, votes, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("evenhand: ")
    assert message in error


def test_the_result_is_written_over_nothing_that_was_given(votes, criteria, capsys):
    columns = ["--votes", "gpt", "llama", "--criteria", criteria]
    for given in (votes, criteria):
        for verb in ("agreement", "aggregate-votes"):
            assert main([verb, votes, *columns, "--out", given]) == 2
            assert "the same file as the input" in capsys.readouterr().err
