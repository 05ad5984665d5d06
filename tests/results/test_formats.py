"""Every kind of file has one format; another one is refused with its number, the number that is read, and a way on."""

import json
import sqlite3
from contextlib import closing

import pyarrow.parquet
import pytest

import evenhand
from evenhand.cli import main
from evenhand.data.rows import PARQUET_HEADER
from evenhand.engines.journal import Journal
from evenhand.errors import InvalidInputError, JournalError
from tests.engines.test_journal_tools import row_of

ROWS = [{"id": f"r{n}", "a": f"one {n}", "b": f"two {n}"} for n in range(4)]
HOW = {"id_field": "id", "response_fields": "a", "journal": None, "progress": False}


def judged(**options):
    return evenhand.judge(ROWS, "Is it right?", evenhand.SimulatedEngine(), **HOW, **options)


def of_another_format(path):
    """The same file, whose header or document says that it has the format 0."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        header = json.loads(table.schema.metadata[PARQUET_HEADER]) | {"layout": 0}
        pyarrow.parquet.write_table(table.replace_schema_metadata({PARQUET_HEADER: json.dumps(header)}), path)
        return path
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layout": 0}))
    return path


def refusal(path, kind, accepted):
    return rf"'{path}' is {kind} of the format 0\. Accepted: {accepted}\. Write it again .* or read it with the version"


def test_a_part_of_another_format_is_refused_where_it_is_opened_and_where_a_run_goes_on(tmp_path):
    how = {"stream_to": tmp_path / "to", "part_rows": 2}
    judged(**how)
    part = of_another_format(tmp_path / "to" / "part-000001.parquet")
    with pytest.raises(InvalidInputError, match=refusal(part, "a saved result", 2)):
        evenhand.open(tmp_path / "to")
    before = part.read_bytes()
    with pytest.raises(InvalidInputError, match=refusal(part, "a saved result", 2)):
        judged(**how)
    assert part.read_bytes() == before


def test_the_draw_of_a_sheet_of_another_format_is_refused(tmp_path):
    evenhand.to_label(judged(), 2, data=ROWS).save(tmp_path / "sheet.csv")
    draw = of_another_format(tmp_path / "sheet.draw.json")
    with pytest.raises(InvalidInputError, match=refusal(draw, "the draw of a sheet", 1)):
        evenhand.read_labels(tmp_path / "sheet.csv", draw=draw)


@pytest.mark.parametrize("version", [0, 1, 4, 99])
def test_a_journal_of_another_format_is_refused_with_its_replies_and_batches(tmp_path, capsys, version):
    path = tmp_path / "journal.sqlite3"
    with Journal(path) as journal:
        journal.exchange([row_of(1)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    said = rf"the journal '{path}' has the format {version}, .* reads 6: use the version that wrote it, or give another"
    with pytest.raises(JournalError, match=said):
        Journal(path)
    assert main(["journal", "export", "--journal", str(path)]) != 0
    assert f"has the format {version}" in " ".join(capsys.readouterr().err.split())
    assert path.read_bytes() == before
