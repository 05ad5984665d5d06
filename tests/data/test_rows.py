"""Rows from wherever users hold them, and what bad data is told."""

import csv
import gzip
import json
import sys
from types import ModuleType

import datasets
import pandas as pd
import pyarrow.parquet
import pytest

from evenhand.data.rows import named_rows, read_rows
from evenhand.errors import InvalidInputError
from evenhand.functions import aggregate_votes
from evenhand.votes import is_missing

ROWS = [{"q": "one", "n": 1}, {"q": "two", "n": 2}]


@pytest.fixture
def dataset():
    return datasets.Dataset.from_list(ROWS)


def test_a_split_is_named_or_the_only_one(dataset):
    assert read_rows(datasets.DatasetDict(test=dataset)) == ROWS
    both = datasets.DatasetDict(train=dataset, test=dataset.select([1]))
    assert read_rows(both, "test") == ROWS[1:]
    with pytest.raises(InvalidInputError, match=r"split is None, and the data set has the splits \['train', 'test'\]"):
        read_rows(both)
    with pytest.raises(InvalidInputError, match=r"split is 'tset', and the data set has"):
        read_rows(both, "tset")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"data", "the data set is a bytes; give a datasets.Dataset, .* or the path of a file"),
        ({"q": ["one"]}, "the data set is a dict"),
        (3, "the data set is 3; give a datasets.Dataset"),
        ([ROWS[0], "two"], "row 1 of the data set is a str; a row is a mapping"),
        ([None], "row 0 of the data set is a NoneType"),
    ],
)
def test_what_is_no_data_set_is_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        read_rows(given)


def test_data_frames_and_tables_are_their_rows():
    frame = pd.DataFrame(ROWS)
    assert read_rows(frame) == ROWS
    assert read_rows(frame.iloc[[1]]) == ROWS[1:]  # whatever its index
    table = pyarrow.Table.from_pylist(ROWS)
    assert read_rows(table) == read_rows(table.to_reader()) == read_rows(ExportsItself(table)) == ROWS
    with pytest.raises(InvalidInputError, match="is empty"):
        read_rows(frame.iloc[:0])


class ExportsItself:
    """Such as a polars DataFrame or a DuckDB relation: an object of a library that is not known here."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_polars_frames_are_their_rows():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    assert read_rows(frame) == ROWS


@pytest.mark.parametrize("frame", [pd.DataFrame([[1, 2]], columns=["q", "q"]), pyarrow.table([[1], [2]], ["q", "q"])])
def test_a_frame_with_a_column_twice_is_refused(frame):
    with pytest.raises(InvalidInputError, match="the header of the data frame has 'q' twice"):
        read_rows(frame)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("q;n\n1;2\n", {"q": "1", "n": "2"}),
        ("q\tn\n1\t2\n", {"q": "1", "n": "2"}),
        ("q (a;b;c),n\n1,2\n", {"q (a;b;c)": "1", "n": "2"}),
        ('"a, b";n\n1;2\n', {"a, b": "1", "n": "2"}),
    ],
)
def test_a_table_has_the_separator_of_its_header(tmp_path, text, row):
    assert read_rows(write(tmp_path / "rows.csv", text)) == [row]


def test_the_kinds_of_file(tmp_path, dataset):
    jsonl = write(tmp_path / "rows.jsonl", "".join(json.dumps(row) + "\n\n" for row in ROWS))
    csv = write(tmp_path / "rows.CSV", 'q,n\none,1\n"two\nlines, and a comma",2\n')
    dataset.to_parquet(str(tmp_path / "rows.parquet"))
    dataset.save_to_disk(str(tmp_path / "saved"))
    datasets.DatasetDict(test=dataset).save_to_disk(str(tmp_path / "splits"))
    assert read_rows(jsonl) == ROWS
    assert read_rows(str(jsonl)) == ROWS
    assert read_rows(csv) == [{"q": "one", "n": "1"}, {"q": "two\nlines, and a comma", "n": "2"}]
    assert read_rows(tmp_path / "rows.parquet") == ROWS
    assert read_rows(write(tmp_path / "list.json", json.dumps(ROWS, indent=1))) == ROWS
    assert read_rows(write(tmp_path / "lines.json", jsonl.read_text())) == ROWS
    for whole in (jsonl, csv, tmp_path / "list.json"):
        packed = tmp_path / f"{whole.name}.gz"
        packed.write_bytes(gzip.compress(whole.read_bytes()))
        assert read_rows(packed) == read_rows(whole)
    assert read_rows(tmp_path / "saved") == ROWS
    assert read_rows(tmp_path / "splits", "test") == ROWS


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rows.jsonl", '{"q": 1}\n{"q": }\n', r"line 2 of .* is not JSON \(line 1, column 7: Expecting value\)"),
        ("rows.jsonl", '{"q": 1}\n\n[1]\n', "row 1 of .* is a list; a row is a mapping"),
        ("rows.csv", "q,n\n", "is empty"),
        ("rows.csv", "q,n\none,1\ntwo\n", "another number of cells in line 3 than in its header"),
        ("rows.csv", "\n \nq,n\none,1\ntwo\n", "another number of cells in line 5 than in its header"),
        ("rows.json", '\n{"q": "one"}\n{"q": }\n', "line 3 of "),
        ("rows.csv", 'q,n\none,"1\ntwo,2\n', "is not CSV at line 3"),
        ("rows.parquet", "PAR1 no", "is not a Parquet file"),
        ("rows.txt", "one", "by its ending. Accepted: '.jsonl', '.json', '.csv', '.parquet'"),
        ("rows.json", '[{"q": 1},\n{"q": }]', r"is not JSON \(line 2, column 7: Expecting value\)"),
        ("rows.json", '[{"q": 1}, 2]', "row 1 of .* is a int; a row is a mapping"),
        ("rows.jsonl.gz", '{"q": 1}', "is not a whole gzip file"),
        ("rows.parquet.gz", "", "by its ending. Accepted: .*, text files with '.gz' behind it too"),
    ],
)
def test_a_file_that_is_not_what_it_says(tmp_path, name, text, message):
    with pytest.raises(InvalidInputError, match=message):
        read_rows(write(tmp_path / name, text))


def test_long_cells_of_csv_files_that_are_read_in_turns(tmp_path):
    long = "x" * 200_000
    one = named_rows(write(tmp_path / "one.csv", f"q\n1\n{long}\n"))
    two = named_rows(write(tmp_path / "two.csv", f"q\n1\n2\n{long}\n"))
    next(one), next(two)
    assert csv.field_size_limit() == 131_072
    assert [row["q"] for _, row in [*one, *two]] == [long, "2", long]


def test_a_saved_result_is_no_data_set(tmp_path):
    aggregate_votes([{"a": True, "b": False}], ["a", "b"]).save(tmp_path / "votes.parquet")
    with pytest.raises(InvalidInputError, match=r"is a saved result, not a data set, which evenhand\.open reads"):
        read_rows(tmp_path / "votes.parquet")


def test_a_column_or_key_that_is_there_twice_is_refused_by_name(tmp_path):
    for name, text in (("t.csv", "q,naïve,q\n1,2,3\n"), ("t.jsonl", '{"a": 1}\n{"a": {"q": 1, "b": 2, "q": 1}}\n')):
        with pytest.raises(InvalidInputError, match=r"has 'q' twice, .*: rename or drop one"):
            read_rows(write(tmp_path / name, text))
    table = pyarrow.table([pyarrow.array([1]), pyarrow.array([2])], names=["q", "q"])
    pyarrow.parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(InvalidInputError, match=r"the header of .* has 'q' twice"):
        read_rows(tmp_path / "twice.parquet")
    for cell in ('{"ann": "yes", "ann": "no"}', "{'ann': 'yes', 'ann': 'no'}"):
        with pytest.raises(InvalidInputError, match=r"instance 0 has 'ann' twice|row 0 has 'ann' twice"):
            aggregate_votes([{"votes": cell}], "votes")


def test_a_parquet_file_with_a_text_that_is_none_is_one_message(tmp_path):
    texts = pyarrow.array([b"\xff"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"a": texts}), tmp_path / "rows.parquet")
    with pytest.raises(InvalidInputError, match=r"rows\.parquet' is not a Parquet file, or not a whole one"):
        read_rows(tmp_path / "rows.parquet")


def test_a_text_is_read_while_another_thread_imports_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", ModuleType("pandas"))
    assert not is_missing("It is 28.")
