"""``evenhand catalog import``: the files of other tools in evenhand's own form."""

import json

import pytest

import evenhand
from evenhand.cli import main
from tests.data.formats.test_autorubric import DATA_SET, WRITTEN
from tests.data.formats.test_benchmark_rubrics import HEALTH_ROW, LEVELS


def written(path, data):
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_a_rubric_is_written_in_our_own_form(tmp_path, capsys, ending):
    theirs, ours = written(tmp_path / "essay.json", WRITTEN), tmp_path / f"essay.{ending}"
    assert main(["catalog", "import", theirs, "--out", str(ours)]) == 0
    assert "is a rubric of autorubric" in capsys.readouterr().err
    assert evenhand.load(ours) == evenhand.load(theirs)


def test_what_is_left_out_is_said(tmp_path, capsys):
    checklist = {"questions": [{"question": "Is it polite?"}]}
    assert main(["catalog", "import", written(tmp_path / "asked.json", checklist)]) == 0
    assert "left out" not in capsys.readouterr().err
    asked = {"items": [{"id": "a", "question": "Is it polite?"}], "source_method": "tick", "input": "Write a reply."}
    assert main(["catalog", "import", written(tmp_path / "asked.json", asked)]) == 0
    assert "evenhand: left out: input" in capsys.readouterr().err


def test_a_data_set_becomes_rows(tmp_path):
    rows = tmp_path / "rows.jsonl"
    assert main(["catalog", "import", written(tmp_path / "set.json", DATA_SET), "--out", str(rows)]) == 0
    first, second = map(json.loads, rows.read_text("utf-8").splitlines())
    assert (first["gold"]["depth"], evenhand.load(second["rubric"]).criteria[0].weight) == ("Best", 10)


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_rows_have_one_more_column(tmp_path, capsys, ending):
    rows = [HEALTH_ROW, {**HEALTH_ROW, "prompt_id": "y"}]
    text = "\n".join(map(json.dumps, rows)) if ending == "jsonl" else json.dumps(rows)
    assert main(["catalog", "import", written(tmp_path / f"rows.{ending}", text)]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["prompt_id"] for row in found] == ["x", "y"]
    assert evenhand.load(found[0]["rubric"]) == evenhand.load(HEALTH_ROW)


@pytest.mark.parametrize(
    ("row", "column"),
    [({"checklist": ["Is it short?"]}, "checklist"), ({"score_rubric": {"criteria": "x", **LEVELS}}, "criterion")],
)
def test_the_column_is_called_by_what_it_holds(tmp_path, capsys, row, column):
    assert main(["catalog", "import", written(tmp_path / "rows.jsonl", row)]) == 0
    assert evenhand.load(json.loads(capsys.readouterr().out)[column]) == evenhand.load(row)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import"], "catalog import needs a file"),
        (["list", "--out", "x.json"], "catalog list takes no --out"),
        (["import", "{good}", "--out", "x.jsonl"], "ends in .json or .yaml"),
        (["import", "{none}"], "cannot be read"),
        (["import", "{rows}"], "does not exist, or is empty"),
        (["import", "{stray}"], "holds an object with the fields ['foo'], which is in no format of another tool"),
        (["import", "{mixed}"], "row 1 of the file"),
        (["import", "{binary}"], "is not UTF-8 text (byte 0): save it as UTF-8"),
        (["import", "{good}", "--out", "no_such_folder/x.json"], "but its folder does not exist"),
    ],
)
def test_a_mistake_is_one_message(tmp_path, capsys, arguments, message):
    files = {
        "none": str(tmp_path / "none.json"),
        "rows": str(tmp_path / "none.jsonl"),
        "stray": written(tmp_path / "stray.json", {"foo": 1}),
        "mixed": written(tmp_path / "mixed.json", [HEALTH_ROW, {"foo": 1}]),
        "good": written(tmp_path / "good.json", WRITTEN),
        "binary": str(tmp_path / "binary.jsonl"),
    }
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe{}")
    assert main(["catalog", *(argument.format(**files) for argument in arguments)]) == 2
    assert message in capsys.readouterr().err
