"""Opening Arrow data of others: Parquet files, and data sets that Hugging Face's library saved.

A library may register extension types with pyarrow whose values run code when they are read, as Ray's
``ray.data.arrow_pickled_object`` is unpickled, and pyarrow calls a registered type as soon as it opens a file. So the
names of the types are read before pyarrow sees them, and only Arrow's own types are accepted.

Source: https://arrow.apache.org/docs/format/CanonicalExtensions.html.
"""

from __future__ import annotations

import binascii
import errno
import json
import os
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet

from evenhand.errors import InvalidInputError
from evenhand.files import check_growth, open_file

OWN_TYPES: Final = frozenset(
    {"arrow.bool8", "arrow.fixed_shape_tensor", "arrow.json", "arrow.opaque", "arrow.parquet.variant"}
    | {"arrow.timestamp_with_offset", "arrow.uuid", "arrow.variable_shape_tensor"}
)
"""Not ``arrow.py_extension_type``, which holds a pickle."""

PARQUET_HEADER: Final = b"evenhand"
"""The key in the metadata of a Parquet file under which a saved result has its header."""

_MAGIC: Final = b"PAR1"
_PART: Final = 1024**2
_VALUE_BYTES: Final = 8
_NAME: Final = b"ARROW:extension:name"
_HIDDEN_NAME: Final = b"ARROW:extension:NAME"
_SCHEMA: Final = b"ARROW:schema"
_HIDDEN_SCHEMA: Final = b"ARROW:SCHEMA"


def check_types(schema: pyarrow.Schema, where: str) -> None:
    """Check that a schema has no extension type but Arrow's own, nested ones included.

    Raises:
        InvalidInputError: If it has.
    """
    for field in schema:
        for name in _extension_names([field]):
            if name not in OWN_TYPES:
                raise InvalidInputError(
                    f"the column {field.name!r} of {where} has the extension type {name!r}, whose values may run code "
                    "when they are read: only Arrow's own types are accepted. Store the column as text or numbers, or "
                    "leave it out"
                )


def _extension_names(fields: Iterable[pyarrow.Field]) -> Iterator[str]:
    for field in fields:
        for key in (_NAME, _HIDDEN_NAME):
            if key in (field.metadata or {}):
                yield field.metadata[key].decode("utf-8", "replace")
        yield from _names_in(field.type)


def _names_in(kind: pyarrow.DataType) -> Iterator[str]:
    if isinstance(kind, pyarrow.BaseExtensionType):
        yield kind.extension_name
        yield from _names_in(kind.storage_type)
    elif pyarrow.types.is_dictionary(kind) or pyarrow.types.is_run_end_encoded(kind):
        yield from _names_in(kind.value_type)
    else:
        yield from _extension_names(kind.field(place) for place in range(kind.num_fields))


@contextmanager
def opened_parquet(path: Path) -> Iterator[pyarrow.parquet.ParquetFile]:
    """A Parquet file whose types were checked.

    Raises:
        InvalidInputError: If it is not a Parquet file, or has extension types that are not Arrow's own.
        OSError: If it cannot be read.
    """
    with open_file(path) as opened:
        try:
            yield parquet_file(opened, path)
        except pyarrow.ArrowException as error:
            raise InvalidInputError(f"{str(path)!r} is not a Parquet file, or not a whole one: {error}") from error


def parquet_file(source: Any, path: Path, *, texts_once: bool = False) -> pyarrow.parquet.ParquetFile:  # noqa: ANN401 - a file of Python's or pyarrow's
    """The Parquet file that a source holds, when its types were checked.

    Args:
        source: An open file.
        path: Its name, for messages.
        texts_once: Read columns of texts as dictionaries, for :func:`bounded_table`.

    Raises:
        InvalidInputError: If it is not a Parquet file, or has extension types that are not Arrow's own.
    """
    try:
        held = _checked_footer(source, path)
        texts = [each.path for each in held.schema if each.physical_type == "BYTE_ARRAY"] if texts_once else None
        file = pyarrow.parquet.ParquetFile(source, buffer_size=_PART, read_dictionary=texts)
        check_types(file.schema_arrow, repr(str(path)))
    except (pyarrow.ArrowException, binascii.Error) as error:
        raise InvalidInputError(f"{str(path)!r} is not a Parquet file, or not a whole one: {error}") from error
    return file


def bounded_table(
    file: pyarrow.parquet.ParquetFile, size: int, names: Collection[str], *, group: int | None = None
) -> pyarrow.Table:
    """Columns of a file that was opened with ``texts_once``, whose values cannot fill the memory.

    A text that fills a page may stand in a million rows; so it is held once until the length of all is known.

    Args:
        file: The file.
        size: Its bytes.
        names: Which columns.
        group: The row group to read; all by default.

    Raises:
        OSError: If the values would be far larger than the file.
    """
    held = file.metadata
    groups = [held.row_group(each) for each in (range(held.num_row_groups) if group is None else [group])]
    chunks = [each.column(place) for each in groups for place in range(each.num_columns)]
    chosen = [each for each in chunks if each.path_in_schema.partition(".")[0] in names]
    check_growth(size, sum(max(_VALUE_BYTES * each.num_values, each.total_uncompressed_size) for each in chosen))
    ordered = [name for name in file.schema_arrow.names if name in names]
    table = file.read(ordered) if group is None else file.read_row_group(group, ordered)
    grown, columns = 0, []
    for column in table.columns:
        if pyarrow.types.is_dictionary(column.type):
            for chunk in column.chunks:
                grown += pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0
            check_growth(size, grown)
            column = column.cast(column.type.value_type)  # noqa: PLW2901 - as a file without dictionaries has it
        columns.append(column)
    return pyarrow.Table.from_arrays(columns, names=table.column_names)


def _checked_footer(opened: Any, path: Path) -> pyarrow.parquet.FileMetaData:  # noqa: ANN401 - as above
    """What a footer says, read with pyarrow's keys hidden, so that no registered type is called; its types are checked.

    Raises:
        InvalidInputError: If it is not a footer, or names extension types that are not Arrow's own.
    """
    opened.seek(0, os.SEEK_END)
    size = opened.tell()
    opened.seek(max(0, size - 8))
    end = opened.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > size - 12:
        raise InvalidInputError(f"{str(path)!r} is not a Parquet file, or not a whole one")
    opened.seek(size - 8 - length)
    footer = opened.read(length).replace(_SCHEMA, _HIDDEN_SCHEMA)
    opened.seek(0)
    held = pyarrow.parquet.read_metadata(pyarrow.BufferReader(_MAGIC + footer + end))
    written = (held.metadata or {}).get(_HIDDEN_SCHEMA)
    if written is not None:
        check_types(_schema_of(pyarrow.BufferReader(b64decode(written)), path), repr(str(path)))
    return held


def _schema_of(source: Any, path: Path) -> pyarrow.Schema:  # noqa: ANN401 - pyarrow's files
    """The schema at the beginning of Arrow's stream format, with the names of extension types as mere metadata."""
    try:
        message = pyarrow.ipc.read_message(source).serialize().to_pybytes()
        return pyarrow.ipc.read_schema(pyarrow.py_buffer(message.replace(_NAME, _HIDDEN_NAME)))
    except (pyarrow.ArrowException, EOFError) as error:
        raise InvalidInputError(f"{str(path)!r} does not begin with an Arrow schema: {error}") from error


def check_saved_set(folder: Path) -> None:
    """Check the types of every Arrow file that the folder of a saved data set, or of its splits, names.

    Raises:
        InvalidInputError: If one is not Arrow's own, or the folder names files that are not in it.
        OSError: If a file cannot be read.
    """
    splits = folder / "dataset_dict.json"
    folders = [folder / _plain_name(each) for each in _json_of(splits)["splits"]] if splits.exists() else [folder]
    for held in folders:
        said = _json_of(held / "state.json")
        for key in ("_data_files", "_indices_data_files", "_indices_files"):
            for each in said.get(key) or ():
                file = held / _plain_name(each["filename"])
                with pyarrow.OSFile(str(file)) as source:
                    check_types(_schema_of(source, file), repr(str(file)))


def _json_of(path: Path) -> Any:  # noqa: ANN401 - JSON
    with open_file(path) as opened:
        return json.load(opened)


def _plain_name(name: str) -> str:
    if Path(name).name != name:
        raise OSError(errno.EINVAL, f"it names the file {name!r}, which is not in its folder")
    return name
