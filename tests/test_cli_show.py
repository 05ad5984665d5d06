"""``evenhand show FILE``: what any file holds."""

import json

import evenhand
from evenhand.cli import main
from evenhand.engines.free_engines import SimulatedEngine
from tests.support.rows import write_rows

ROWS = [{"id": f"p{n}", "judge": ["yes", "no"][n % 2], "answer": "It is long enough to be cut here"} for n in range(4)]


def shown(path, capsys):
    assert main(["show", str(path)]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_rows_are_counted_and_the_first_is_shown(tmp_path, capsys):
    printed = shown(write_rows(tmp_path / "rows.jsonl", ROWS), capsys)
    assert "rows.jsonl: 4 rows, the first one: id: 'p0' judge: 'yes' answer: 'It is long" in printed


def test_a_saved_result_prints_its_tables(tmp_path, capsys):
    path = tmp_path / "run.parquet"
    how = {"response_fields": "answer", "context_fields": [], "progress": False, "journal": None}
    found = evenhand.judge(ROWS, "Is it good?", SimulatedEngine(), **how)
    found.save(path)
    printed = shown(path, capsys)
    assert " ".join(str(found).split())[:80] in printed
    assert main(["show", str(path), "--format", "json"]) == 0
    json.loads(capsys.readouterr().out)


def test_what_is_asked_of_a_result_is_not_asked_of_rows(tmp_path, capsys):
    rows = str(write_rows(tmp_path / "rows.jsonl", ROWS))
    for more in (["p1"], ["--run-file"], ["--require", "unscored <= 0"], ["--flips"], ["--worst", "3"]):
        assert main(["show", rows, *more]) == 2
        assert "rows.jsonl" in capsys.readouterr().err
    assert main(["show", str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err
