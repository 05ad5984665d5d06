"""Crafted files of results: each ends in one error with the file's name, and takes little memory."""

import json
import tracemalloc
import zlib

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest

import evenhand
from evenhand.data.rows import PARQUET_HEADER
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.functions import judge
from evenhand.results.vote_columns import PART, header_of
from tests.support.questions import LEVELS

MOST_BYTES = 400 * 2**20


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    result = judge([{"response": f"r{n}"} for n in range(6)], LEVELS, SimulatedEngine(), progress=False, journal=None)
    result.save(folder / "result.parquet")
    return folder


def with_header(**changes):
    """A header with other fields; None leaves one out."""

    def change(header):
        return {name: value for name, value in {**header, **changes}.items() if value is not None}

    return change


def with_parameters(**changes):
    return lambda header: {**header, "parameters": {**header["parameters"], **changes}}


HEADERS = {
    "a list": lambda header: [header],
    "another layout": with_header(layout=1),
    "rows that are a text": with_header(rows="6"),
    "rows below 0": with_header(rows=-6),
    "a first row below 0": with_header(first=-1),
    "a first row that no column counts to": with_header(first=10**30),
    "a million times the rows": with_header(rows=10**15),
    "no criteria": with_header(criteria=None),
    "criteria without options": with_header(criteria=[{"name": "level", "description": "", "options": []}]),
    "about that lacks the system": with_header(about=["instance", "nothing"]),
    "parameters that are a list": with_header(parameters=[1]),
    "a number of rows that fills the memory": with_parameters(n=10**12),
    "rows that are a fraction": with_parameters(n=0.5),
    "rules that are numbers": with_parameters(grid=3, scoring=4, judge_weights=5),
    "more resamples than can be drawn": with_parameters(resamples=10**12),
    "deep brackets": with_header(rubric=json.loads("[" * 500 + "]" * 500)),
}


def refused(path):
    """It is refused, and little memory was used."""
    tracemalloc.start()
    before = pyarrow.default_memory_pool().max_memory() or 0
    try:
        with pytest.raises(InvalidInputError) as caught:
            evenhand.open(path)
        peak = tracemalloc.get_traced_memory()[1] + max(0, pyarrow.default_memory_pool().max_memory() - before)
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)
    assert peak < MOST_BYTES
    return str(caught.value)


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_a_header_that_does_not_hold_is_refused(saved, tmp_path, change):
    path, header = tmp_path / "result.parquet", json.dumps(change(header_of(saved / "result.parquet")))
    table = pyarrow.parquet.read_table(saved / "result.parquet")
    pyarrow.parquet.write_table(table.replace_schema_metadata({PARQUET_HEADER: header.encode()}), path)
    refused(path)


def changed(name, values):
    def change(table):
        column = pyarrow.array(values(len(table)) if callable(values) else values)
        return table.set_column(table.column_names.index(name), name, column)

    return change


def repeated(count, text=None):
    """So many rows of one cell, in which one text may stand that takes its room in the file once."""

    def change(table):
        zeros = pyarrow.array([0] * count)
        held = {field.name: pyarrow.nulls(count, field.type) for field in table.schema}
        held |= {"cell": zeros, "instance": zeros}
        if text is not None:
            held["reply"] = pyarrow.DictionaryArray.from_arrays(zeros.cast("int32"), [text])
        return pyarrow.table(held)

    return change


COLUMNS = {
    "a column less": lambda table: table.drop_columns(["judge_id"]),
    "no cells": lambda table: table.drop_columns(["cell"]),
    "an index that is a text": changed("selected_index", lambda n: ["0"] * n),
    "an index below 0": changed("selected_index", lambda n: [-1] * n),
    "an index beyond the options": changed("selected_index", lambda n: [99] * n),
    "an instance below 0": changed("instance", lambda n: [-1] * n),
    "a value that is NaN": changed("value", lambda n: [float("nan")] * n),
    "cells that count down": changed("cell", lambda n: list(range(n, 0, -1))),
    "cells that are far apart": changed("cell", lambda n: [10**15 * each for each in range(n)]),
    "an order below 0": changed("order", lambda n: [[-1, 0]] * n),
    "log-probabilities that are not JSON": changed("reply_logprobs", lambda n: ["[" * 100_000] * n),
    "a criterion of its own": changed("criterion", lambda n: ["another"] * n),
    "a judge that is a list": changed("judge_id", lambda n: [["a"]] * n),
    "run-length encoded rows": repeated(2_000_000),
    "a long text in each of many rows": repeated(100_000, "x" * 100_000),
}


@pytest.mark.parametrize("change", COLUMNS.values(), ids=COLUMNS)
def test_columns_that_do_not_hold_are_refused(saved, tmp_path, change):
    path, table = tmp_path / "result.parquet", pyarrow.parquet.read_table(saved / "result.parquet")
    pyarrow.parquet.write_table(
        change(table).replace_schema_metadata(table.schema.metadata), path, compression="zstd", use_dictionary=True
    )
    assert path.stat().st_size < 2_000_000
    refused(path)


def cut(share):
    return lambda data: data[: int(len(data) * share)]


BYTES = {
    "cut at the end": cut(0.99),
    "cut in the middle": cut(0.5),
    "nothing": cut(0),
    "zeros in the middle": lambda data: data[: len(data) // 2] + bytes(200) + data[len(data) // 2 + 200 :],
    "a footer longer than the file": lambda data: data[:-8] + b"\xff\xff\xff\x7f" + data[-4:],
    "compressed": zlib.compress,
}


@pytest.mark.parametrize("change", BYTES.values(), ids=BYTES)
def test_a_file_that_is_not_whole_is_refused(saved, tmp_path, change):
    path = tmp_path / "result.parquet"
    path.write_bytes(change((saved / "result.parquet").read_bytes()))
    refused(path)


def test_parts_that_do_not_hold_are_refused(saved, tmp_path):
    part = tmp_path / PART.replace("*", "000000")
    part.write_bytes((saved / "result.parquet").read_bytes()[:-100])
    refused(tmp_path)
    table = pyarrow.parquet.read_table(saved / "result.parquet")
    header = with_parameters(n=10**12)(header_of(saved / "result.parquet"))
    pyarrow.parquet.write_table(table.replace_schema_metadata({PARQUET_HEADER: json.dumps(header).encode()}), part)
    refused(tmp_path)


def test_what_was_saved_opens(saved):
    assert len(evenhand.open(saved / "result.parquet")) == 6
