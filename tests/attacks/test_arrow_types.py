"""Extension types whose values run code when they are read: refused in every reader, before pyarrow calls them.

Ray's ``ray.data.arrow_pickled_object`` is unpickled by ``to_pylist()``; here a type of the same name writes down that
it was called. ``tests/integrations`` has the same with Ray itself.
"""

import json
from pathlib import Path

import datasets
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import evenhand
from evenhand.data.rows import PARQUET_HEADER, check_types, read_rows
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.functions import judge
from evenhand.results.vote_columns import OnDisk, header_of, read, read_columns
from evenhand.streams import Block
from tests.support.questions import LEVELS

NAME = "ray.data.arrow_pickled_object"
CALLS = []


class _Scalar(pyarrow.ExtensionScalar):
    def as_py(self, **_):
        CALLS.append("value")
        return "unpickled"


class _Pickled(pyarrow.ExtensionType):
    def __init__(self):
        super().__init__(pyarrow.binary(), NAME)

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        CALLS.append("type")
        return cls()

    def __arrow_ext_scalar_class__(self):
        return _Scalar


@pytest.fixture(autouse=True)
def _registered():
    pyarrow.register_extension_type(_Pickled())
    CALLS.clear()
    yield
    pyarrow.unregister_extension_type(NAME)


def pickled(count=2):
    return pyarrow.ExtensionArray.from_storage(_Pickled(), pyarrow.array([b"x"] * count))


NESTED = {
    "plain": pickled,
    "in a list": lambda: pyarrow.ListArray.from_arrays([0, 1, 2], pickled()),
    "in a large list": lambda: pyarrow.LargeListArray.from_arrays([0, 1, 2], pickled()),
    "in a list of structs": lambda: pyarrow.ListArray.from_arrays(
        [0, 1, 2], pyarrow.StructArray.from_arrays([pickled()], ["inner"])
    ),
    "in a map": lambda: pyarrow.MapArray.from_arrays([0, 1, 2], pyarrow.array(["a", "b"]), pickled()),
}


def table_of(column):
    return pyarrow.table({"question": ["a", "b"], "response": ["Yes.", "No."], "extra": column})


def in_parquet(table, folder):
    pyarrow.parquet.write_table(table, folder / "rows.parquet")
    return folder / "rows.parquet"


def in_a_saved_set(table, folder):
    datasets.Dataset.from_dict({"question": ["a", "b"], "response": ["Yes.", "No."]}).save_to_disk(folder / "set")
    [file] = (folder / "set").glob("*.arrow")
    with pyarrow.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return folder / "set"


PLACES = {
    "Parquet": in_parquet,
    "a folder of Parquet": lambda table, folder: in_parquet(table, folder).parent,
    "a saved data set": in_a_saved_set,
    "a data frame": lambda table, folder: table.to_pandas(types_mapper=pandas.ArrowDtype),
    "an Arrow table": lambda table, folder: table,
    "a reader": lambda table, folder: table.to_reader(),
}


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_rows_with_a_type_that_is_not_arrows_own_are_refused(place, nested, tmp_path):
    given = place(table_of(nested()), tmp_path)
    CALLS.clear()
    with pytest.raises(InvalidInputError, match=f"extension type '{NAME}'"):
        read_rows(given)
    if isinstance(given, Path):  # the others pyarrow had made before
        assert CALLS == []
    assert "value" not in CALLS


def test_a_dictionary_of_such_a_type_is_refused():
    kind = pyarrow.dictionary(pyarrow.int32(), _Pickled())
    with pytest.raises(InvalidInputError, match="extension type"):
        check_types(pyarrow.schema([("extra", kind)]), "the data set")


@pytest.mark.parametrize("name", ["somebody.else", "arrow.py_extension_type", NAME])
def test_a_type_that_nobody_registered_is_refused_by_its_name(name, tmp_path):
    pyarrow.unregister_extension_type(NAME)
    try:
        field = pyarrow.field("extra", pyarrow.binary(), metadata={"ARROW:extension:name": name})
        schema = pyarrow.schema([("response", pyarrow.string()), field])
        path = in_parquet(pyarrow.table({"response": ["a"], "extra": [b"x"]}, schema=schema), tmp_path)
        with pytest.raises(InvalidInputError, match=f"extension type '{name}'"):
            read_rows(path)
    finally:
        pyarrow.register_extension_type(_Pickled())


def test_arrows_own_types_are_read(tmp_path):
    identifier = pyarrow.array([b"0123456789abcdef"], pyarrow.uuid())
    path = in_parquet(pyarrow.table({"response": ["a"], "id": identifier}), tmp_path)
    [row] = read_rows(path)
    assert row["id"].bytes == b"0123456789abcdef"


def of_part(path):
    path.rename(path.with_name("part-000000.parquet"))
    block = Block(0, 0)
    block.rows.add({"response": "r"}, "0", "0" * 16)
    block.names.append("row 0")
    return block.votes_held(path.parent)


HEADER = {"evenhand": "judgements", "about": ["instance"]}
READERS = {
    "open": evenhand.open,
    "header_of": header_of,
    "read": read,
    "read_columns": lambda path: read_columns(path, ["judge_id"], {}),
    "abouts": lambda path: list(OnDisk(((path, 0, np.ones(1, dtype=bool)),), HEADER).abouts()),
    "tables": lambda path: list(OnDisk(((path, 0, np.ones(1, dtype=bool)),), HEADER).tables(["judge_id"])),
    "schema": lambda path: OnDisk(((path, 0, np.ones(1, dtype=bool)),), HEADER).schema(),
    "votes_held": of_part,
    "a folder": lambda path: (path.rename(path.with_name("part-000000.parquet")), evenhand.open(path.parent)),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_results_with_such_a_type_are_refused(reader, tmp_path):
    path = tmp_path / "result.parquet"
    judge([{"response": "r"}], LEVELS, SimulatedEngine(), progress=False, journal=None).save(path)
    table = pyarrow.parquet.read_table(path)
    assert json.loads(table.schema.metadata[PARQUET_HEADER])
    column = pickled(len(table))
    pyarrow.parquet.write_table(table.set_column(0, table.column_names[0], column), path)
    CALLS.clear()
    with pytest.raises(InvalidInputError, match=r"extension type|not a part"):
        reader(path)
    assert CALLS == []


@pytest.mark.parametrize("named", ["../else.arrow", "/else.arrow", "in/else.arrow"])
def test_a_saved_set_that_names_files_elsewhere_is_refused(named, tmp_path):
    datasets.Dataset.from_dict({"response": ["a"]}).save_to_disk(tmp_path / "set")
    state = tmp_path / "set" / "state.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "_data_files": [{"filename": named}]}))
    with pytest.raises(InvalidInputError, match="not in its folder"):
        read_rows(tmp_path / "set")
