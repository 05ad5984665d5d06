"""``evenhand show FILE``: what any file holds, and the verbs that take it."""

import csv
import json
import re

import pandas as pd
import pytest

import evenhand
from evenhand.cli import main
from evenhand.cli.app import command_line
from evenhand.cli.result_verbs import LABEL_VERBS, RESULT_VERBS, ROW_VERBS
from evenhand.engines.free_engines import SimulatedEngine

ROWS = [{"id": f"p{n}", "judge": ["yes", "no"][n % 2], "answer": "It is long enough to be cut here"} for n in range(4)]


def written(table, path):
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, table[0])
            writer.writeheader()
            writer.writerows(table)
    elif path.suffix == ".parquet":
        pd.DataFrame(table).to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
    return str(path)


def shown(path, capsys):
    assert main(["show", str(path)]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.parquet"])
def test_rows_have_columns_and_first_values(name, tmp_path, capsys):
    printed = shown(written(ROWS, tmp_path / name), capsys)
    assert f"{name}: 4 rows" in printed
    assert "id 4 p0, p1, p2" in printed
    assert "judge 4 yes, no" in printed  # what a column is for is not guessed
    assert "answer 4 It is long enough to…" in printed
    assert f"Verbs that take it: {ROW_VERBS}" in printed
    assert LABEL_VERBS not in printed


def test_a_saved_result_prints_its_tables_and_its_kind(tmp_path, capsys):
    path = tmp_path / "run.parquet"
    found = evenhand.judge(
        ROWS,
        "Is it good?",
        SimulatedEngine(),
        response_fields="answer",
        context_fields=[],
        progress=False,
        journal=None,
    )
    found.save(path)
    printed = shown(path, capsys)
    assert " ".join(str(found).split())[:80] in printed
    assert f"a saved result, 4 judgements. Verbs that take it: {RESULT_VERBS}." in printed
    assert main(["show", str(path), "--format", "json"]) == 0
    json.loads(capsys.readouterr().out)


def test_what_is_asked_of_a_result_is_not_asked_of_rows(tmp_path, capsys):
    rows = written(ROWS, tmp_path / "rows.jsonl")
    for more in (["p1"], ["--run-file"], ["--require", "unscored <= 0"], ["--flips"], ["--worst", "3"]):
        assert main(["show", rows, *more]) == 2
        assert "rows.jsonl" in capsys.readouterr().err
    assert main(["show", str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_the_verbs_that_are_named_exist():
    known = {name for name in command_line() if not name.startswith("-")}
    for verbs in (RESULT_VERBS, ROW_VERBS):
        assert set(re.sub("with recorded votes", "", verbs).replace(";", ",").replace(" ", "").split(",")) <= known
