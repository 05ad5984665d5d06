"""Rows of data from all sources of users.

Rows are those of a Hugging Face data set, a data frame, an Arrow table, a list, or files: JSON lines, JSON, CSV,
Parquet, logs of inspect_ai, and data sets that Hugging Face's library saved. Files are read a part at a time: JSON
lines and CSV line by line, Parquet batch by batch.

A library may register extension types with pyarrow whose values run code when they are read, as Ray's
``ray.data.arrow_pickled_object`` is unpickled, and pyarrow calls a registered type as soon as it opens a file. So the
names of the types are read before pyarrow sees them, and only Arrow's own types are accepted.

Source: https://arrow.apache.org/docs/format/CanonicalExtensions.html.
"""

from __future__ import annotations

import binascii
import csv
import errno
import glob
import gzip
import io
import json
import os
import re
import zlib
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet

from evenhand.data.fields import name_in
from evenhand.data.formats import inspect_rows, is_inspect_log, rows_of_log
from evenhand.data.plain import is_of, parse_json, unique_keys
from evenhand.errors import InvalidInputError
from evenhand.files import check_growth, expanded, is_opened, open_file

if TYPE_CHECKING:
    import datasets

Row = Mapping[str, Any]

SUFFIXES: Final = (".jsonl", ".json", ".csv", ".parquet")
"""The endings of files of rows; all but the last may have ``.gz`` behind it."""

OWN_TYPES: Final = frozenset(
    {"arrow.bool8", "arrow.fixed_shape_tensor", "arrow.json", "arrow.opaque", "arrow.parquet.variant"}
    | {"arrow.timestamp_with_offset", "arrow.uuid", "arrow.variable_shape_tensor"}
)
"""The accepted extension types: not ``arrow.py_extension_type``, which holds a pickle."""

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
        for name in _extension_names(field):
            if name not in OWN_TYPES:
                raise InvalidInputError(
                    f"the column {field.name!r} of {where} has the extension type {name!r}, whose values may run code "
                    "when they are read: only Arrow's own types are accepted. Store the column as text or numbers, or "
                    "leave it out"
                )


def _extension_names(field: pyarrow.Field) -> Iterator[str]:
    """Yield the names of the extension types in a field, nested ones included."""
    for key in (_NAME, _HIDDEN_NAME):
        if key in (field.metadata or {}):
            yield field.metadata[key].decode("utf-8", "replace")
    kind, inner = field.type, []
    if isinstance(kind, pyarrow.BaseExtensionType):
        yield kind.extension_name
        inner = [pyarrow.field("", kind.storage_type)]
    elif pyarrow.types.is_dictionary(kind) or pyarrow.types.is_run_end_encoded(kind):
        inner = [pyarrow.field("", kind.value_type)]
    else:
        inner = [kind.field(place) for place in range(kind.num_fields)]
    for each in inner:
        yield from _extension_names(each)


def _not_parquet(path: Path, error: object) -> InvalidInputError:
    return InvalidInputError(f"{str(path)!r} is not a Parquet file, or not a whole one: {error}")


def parquet_file(source: Any, path: Path, *, texts_once: bool = False) -> pyarrow.parquet.ParquetFile:  # noqa: ANN401 - a file of Python's or pyarrow's
    """Return the Parquet file that a source holds, after its types were checked.

    Args:
        source: An open file.
        path: Its name, for messages.
        texts_once: Read columns of texts as dictionaries, for :func:`bounded_table`.

    Raises:
        InvalidInputError: If it is not a Parquet file, or has extension types that are not Arrow's own.
    """
    try:
        held = _read_footer(source, path)
        texts = [each.path for each in held.schema if each.physical_type == "BYTE_ARRAY"] if texts_once else None
        file = pyarrow.parquet.ParquetFile(source, buffer_size=_PART, read_dictionary=texts)
        check_types(file.schema_arrow, repr(str(path)))
    except (pyarrow.ArrowException, binascii.Error) as error:
        raise _not_parquet(path, error) from error
    return file


def bounded_table(
    file: pyarrow.parquet.ParquetFile, size: int, names: Collection[str], *, group: int | None = None
) -> pyarrow.Table:
    """Return columns of a file opened with ``texts_once``, whose values cannot fill the memory.

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


def _read_footer(opened: Any, path: Path) -> pyarrow.parquet.FileMetaData:  # noqa: ANN401 - as above
    """Read a footer with pyarrow's keys hidden, so that no registered type is called, and check its types.

    Raises:
        InvalidInputError: If it is not a footer, or names extension types that are not Arrow's own.
    """
    opened.seek(0, os.SEEK_END)
    size = opened.tell()
    opened.seek(max(0, size - 8))
    end = opened.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > size - 12:
        raise _not_parquet(path, "it has no footer")
    opened.seek(size - 8 - length)
    footer = opened.read(length).replace(_SCHEMA, _HIDDEN_SCHEMA)
    opened.seek(0)
    held = pyarrow.parquet.read_metadata(pyarrow.BufferReader(_MAGIC + footer + end))
    written = (held.metadata or {}).get(_HIDDEN_SCHEMA)
    if written is not None:
        check_types(_schema_of(pyarrow.BufferReader(b64decode(written)), path), repr(str(path)))
    return held


def _schema_of(source: Any, path: Path) -> pyarrow.Schema:  # noqa: ANN401 - pyarrow's files
    """Read the schema at the start of Arrow's stream format, with the names of extension types as mere metadata."""
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
        state = _json_of(held / "state.json")
        for key in ("_data_files", "_indices_data_files", "_indices_files"):
            for each in state.get(key) or ():
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


_SHELL = "shell"
_TEXT_ENDINGS = {".jsonl", ".json", ".csv"}
_BATCH_ROWS = 256
_ROWS_AT_ONCE = 1024
_CELL_BYTES = 64
"""The least size of a cell as an object of Python."""

_SAVED_SETS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""One of these lies in the folder of a data set that Hugging Face's library saved."""


def files_named(given: str | Path) -> list[Path]:
    """Return the files that a path names: one, those of a folder, or those that fit a pattern as ``shards/*.jsonl.gz``.

    In a folder, files count whose ending says that they hold rows, in the order of their names, unless the name begins
    with a dot or an underscore.

    Raises:
        InvalidInputError: If there is none.
    """
    path = expanded("/dev/stdin" if str(given) == "-" else given)
    try:
        if not path.exists():
            if found := sorted(map(Path, glob.glob(str(path), recursive=True))):  # noqa: PTH207 - an absolute pattern too
                return found
            raise InvalidInputError(f"there is no file or folder {str(path)!r}")
        if not path.is_dir() or any((path / name).exists() for name in _SAVED_SETS):
            return [path]
        shards = sorted(each for each in path.iterdir() if each.name[0] not in "._" and _kind_of(each) is not None)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    if not shards:
        raise InvalidInputError(
            f"the folder {str(path)!r} is not a data set saved with save_to_disk, and no file in it ends in "
            f"{', '.join(map(repr, SUFFIXES))}; name files in folders below it by a pattern such as '**/*.parquet'"
        )
    return shards


def _kind_of(path: Path) -> str | None:
    """Return the ending by which a file is read, without ``.gz``; None if a file with this name is not read.

    >>> [_kind_of(Path(name)) for name in ("votes.v2.jsonl.GZ", "rows.parquet.gz", "/dev/fd/63")]
    ['.jsonl', None, 'shell']
    """
    if is_opened(path):
        return _SHELL
    suffix, is_packed = path.suffix.lower(), path.suffix.lower() == ".gz"
    kind = path.with_suffix("").suffix.lower() if is_packed else suffix
    return kind if kind in _TEXT_ENDINGS or (kind in {".parquet", ".eval"} and not is_packed) else None


def rows_of_file(path: Path) -> Iterator[Row]:
    """Yield the rows of a JSON lines, JSON, CSV or Parquet file.

    A ``.json`` file is a list of objects, or JSON lines. Text files may be compressed: ``.jsonl.gz``. Logs of
    inspect_ai (``.eval``, ``.json``) are read too. What the shell has opened has no name that ends in a format: JSON
    lines, JSON and CSV are distinguished there. A list of JSON, and a log, are read whole.

    Raises:
        InvalidInputError: If the kind of file is not read, a line is not what the file promises, or a column or key is
            there twice.
    """
    kind = _kind_of(path)
    try:
        if kind is None:
            raise InvalidInputError(
                f"{str(path)!r} is not a file of rows by its ending. Accepted: {', '.join(map(repr, SUFFIXES))}, "
                "text files with '.gz' behind it too, or the folder of a data set saved with save_to_disk"
            )
        if kind == ".parquet":
            yield from _parquet_rows(path)
        elif kind == ".eval":
            yield from inspect_rows(path)
        else:
            with _open_text(path, "\n" if kind in {".jsonl", ".json"} else "") as lines:
                yield from _rows_of_text(lines, path, kind)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror or error})") from error


@contextmanager
def _open_text(path: Path, newline: str) -> Iterator[Iterator[str]]:
    """Open the lines of a file, which is read as they are asked for; a gzip file that grows too much is not read.

    Args:
        path: The file.
        newline: The ends of its lines, as of Python's ``open``.
    """
    with open_file(path) as file:
        source: Any = file
        try:
            if path.suffix.lower() == ".gz":
                source, size, grown = gzip.GzipFile(fileobj=file), os.fstat(file.fileno()).st_size, 0
                while part := source.read1(_PART):
                    grown += len(part)
                    check_growth(size, grown)
                source.seek(0)
            with io.TextIOWrapper(source, "utf-8-sig", newline=newline) as text:
                yield text
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInputError(f"{str(path)!r} is not a whole gzip file: {error}") from error
        except UnicodeDecodeError as error:
            raise InvalidInputError(
                f"{str(path)!r} is not UTF-8 text ({error.reason}): save it as UTF-8, or give it its true ending"
            ) from error


def _rows_of_text(lines: Iterator[str], path: Path, kind: str) -> Iterable[Row]:
    """Return the rows of a text: a list of objects, JSON lines, CSV, or a log of inspect_ai."""
    if kind == ".jsonl":
        return _rows_of_lines(lines, path)
    head: list[str] = []
    for line in lines:
        head.append(line if line.strip() else "\n")
        if line.strip():
            break
    begun = "".join(head).lstrip()[:1]
    if kind == ".csv" or (kind == _SHELL and begun not in {"[", "{", ""}):
        return _csv_rows(head, lines, path)
    try:
        is_lines = begun == "{" and not is_inspect_log(json.loads(head[-1]))
    except (ValueError, RecursionError):
        is_lines = False
    if is_lines:
        return _rows_of_lines(chain(head, lines), path)
    data: Any = parse_json("".join([*head, *lines]), repr(str(path))) if begun else []
    if is_inspect_log(data):
        return inspect_rows(path, data)
    return data if isinstance(data, list) else [data]


def _rows_of_lines(lines: Iterable[str], path: Path) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield parse_json(line, f"line {number} of {str(path)!r}")


def _csv_rows(head: Sequence[str], lines: Iterable[str], path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV file, as spreadsheets save it: with commas, semicolons or tabs.

    pyarrow is not used: it accepts a file that ends within a quoted cell, and refuses a cell longer than its block.
    """
    unquoted = re.sub('"[^"]*"?', "", "".join(head))
    delimiter = next((each for each in ",;\t" if each in unquoted), ",")
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)

    def read_line() -> list[str] | None:
        before = csv.field_size_limit(2**31 - 1)  # Python's csv refuses cells of more than 131,072 characters
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)

    rows = filter(None, iter(read_line, None))
    try:
        header = next(rows, [])
        check_columns(header, f"the header of {str(path)!r}")
        for cells in rows:
            if len(cells) != len(header):
                raise InvalidInputError(
                    f"{str(path)!r} has another number of cells in line {reader.line_num} than in its header"
                )
            yield dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InvalidInputError(f"{str(path)!r} is not CSV at line {reader.line_num}: {error}") from error


def check_columns(names: Iterable[str], where: str) -> None:
    """Check that no column is there twice.

    Raises:
        InvalidInputError: If one is.
    """
    unique_keys([(name, None) for name in names], where)


def _parquet_rows(path: Path) -> Iterator[Row]:
    size, grown = path.stat().st_size, 0
    with open_file(path) as opened:
        file = parquet_file(opened, path)
        schema = file.schema_arrow
        if PARQUET_HEADER in (schema.metadata or {}):
            raise InvalidInputError(
                f"{str(path)!r} is a saved result, not a data set, which evenhand.open reads; give the rows that it "
                "was made from"
            )
        check_columns(schema.names, f"the header of {str(path)!r}")
        check_growth(size, file.metadata.num_rows * len(schema.names) * _CELL_BYTES)
        try:
            for batch in file.iter_batches(_BATCH_ROWS):
                grown += batch.nbytes
                check_growth(size, grown)
                yield from batch.to_pylist()
        except (pyarrow.ArrowException, UnicodeDecodeError) as error:
            raise _not_parquet(path, error) from error


ACCEPTED = (
    "a datasets.Dataset, a DatasetDict with split=…, a pandas or polars DataFrame, an Arrow table, a list of rows, or "
    f"the path of a file ({', '.join(SUFFIXES)}; .gz too), of a folder of such files, or of a saved data set"
)


def read_rows(data: object, split: str | None = None) -> list[Row]:
    """Return the rows of a data set, all of them: see :func:`named_rows`.

    Raises:
        InvalidInputError: As there.
    """
    if isinstance(data, IdentifiedRows):
        return data
    return [row for _, row in named_rows(data, split)]


class IdentifiedRows(list[Row]):
    """Rows whose ids are known, as those of a stream are.

    Attributes:
        ids: One per row.
        contents: The digests of their contents, joined.
    """

    def __init__(self) -> None:
        self.ids, self.contents = list[str](), ""

    def add(self, row: Row, row_id: str, digest: str) -> None:
        """Append a row."""
        self.append(row)
        self.ids.append(row_id)
        self.contents += digest


def named_rows(data: object, split: str | None = None) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a data set, each with its name in messages; only some rows are held at a time.

    Args:
        data: A ``datasets.Dataset`` or ``IterableDataset``, a ``DatasetDict`` (with ``split``, unless it has only
            one), a pandas or polars ``DataFrame``, an Arrow table or reader of record batches (or what else exports
            itself as one, such as a DuckDB relation), an iterable of rows, or the path of a file
            (:func:`rows_of_file`), of a folder of such files, or a pattern: files follow one another. Columns of the
            type ``ClassLabel`` are read as the names of their classes.
        split: The split of a ``DatasetDict``.

    Raises:
        InvalidInputError: No rows, no such split, a split that must be named, rows that are not mappings, or a file
            that cannot be read; what comes later in a file is found when it is read.
    """
    name = row = None
    for name, source in _sources(data, split):
        for number, row in enumerate(source):
            if not isinstance(row, Mapping):
                raise InvalidInputError(f"row {number} of {name} is a {type(row).__name__}; a row is a mapping")
            yield f"row {number} of {name}", row
    if row is None:
        raise InvalidInputError(f"{name} is empty; there is nothing to judge")


def _sources(data: object, split: str | None) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield the files, or the one data set, with the names that messages give them."""
    if not isinstance(data, str | Path):
        yield "the data set", _rows_of_object(data, split)
        return
    for path in files_named(data):
        if not path.is_dir() and split is not None:
            raise InvalidInputError(f"split is {split!r}, but {str(path)!r} is one file without splits; leave it out")
        rows = _rows_of_object(_saved_set(path), split) if path.is_dir() else rows_of_file(path)
        yield f"the data set {str(path)!r}", rows


def _saved_set(path: Path) -> object:
    import datasets  # noqa: PLC0415 - a second of import that only its data sets need

    try:
        check_saved_set(path)
        return datasets.load_from_disk(str(path))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a data set saved with save_to_disk ({error})") from error


def _rows_of_object(data: Any, split: str | None) -> Iterator[Any]:  # noqa: ANN401 - of any library
    """Yield the rows of an object that is not a path.

    pandas has cells of any type, which Arrow has not, so its rows are its own; all others export themselves as Arrow
    (the PyCapsule interface: polars, pyarrow, DuckDB, ibis).
    """
    if is_of(data, "datasets") and isinstance(data, Mapping):  # a DatasetDict or an IterableDatasetDict
        data = _split_of(data, split)
    elif split is not None:
        raise InvalidInputError(f"split is {split!r}, but the data set has no splits; leave it out")
    if isinstance(data, (bytes, Mapping)):
        raise InvalidInputError(f"the data set is a {type(data).__name__}; give {ACCEPTED}")
    if is_of(data, "datasets") and hasattr(data, "info"):  # not one of its columns
        yield from _with_class_names(data)
        return
    reader = None
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "iterrows"):
        with suppress(pyarrow.ArrowInvalid, TypeError):  # one column alone, without a name
            reader = pyarrow.RecordBatchReader.from_stream(data)
    if reader is not None or hasattr(data, "iterrows"):
        yield from _rows_of_frame(data, reader)
    elif isinstance(data, Iterable):
        yield from data
    else:
        raise InvalidInputError(f"the data set is {data!r}; give {ACCEPTED}")


def _rows_of_frame(frame: Any, reader: pyarrow.RecordBatchReader | None) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Yield the rows of a data frame of pandas, or of what a reader holds, after checking columns and types."""
    where = "the data frame"
    check_columns(frame.columns if reader is None else reader.schema.names, f"the header of {where}")
    if reader is not None:
        check_types(reader.schema, where)
        for batch in reader:
            for first in range(0, batch.num_rows, _ROWS_AT_ONCE):
                yield from batch.slice(first, _ROWS_AT_ONCE).to_pylist()
        return
    kinds = ((str(name), getattr(kind, "pyarrow_dtype", None)) for name, kind in frame.dtypes.items())
    check_types(pyarrow.schema([(name, kind) for name, kind in kinds if kind is not None]), where)
    for first in range(0, len(frame), _ROWS_AT_ONCE):
        yield from frame.iloc[first : first + _ROWS_AT_ONCE].to_dict("records")


def _with_class_names(dataset: datasets.Dataset | datasets.IterableDataset) -> Iterator[Any]:
    """Yield the rows; a column of a Hugging Face data set that counts its classes holds their names.

    Such a number is the place of a class in the data set's own list, and neither a value nor a place of a criterion.
    """
    import datasets  # noqa: PLC0415 - as above

    features = getattr(dataset, "features", None) or datasets.Features()
    held = dataset.data.schema if isinstance(dataset, datasets.Dataset) else features.arrow_schema
    check_types(held, "the data set")
    classes = {name: kind for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}
    for row in dataset:
        numbers = {name: row[name] for name in classes if name in row}
        without = {name: None for name, number in numbers.items() if number is None or number < 0}  # -1: no label
        named = {name: str(classes[name].int2str(number)) for name, number in numbers.items() if name not in without}
        yield {**row, **named, **without} if classes else row


def row_ids(rows: Sequence[Mapping[str, Any]], field: str | None) -> dict[str, Any]:
    """Return ``id_field`` and ``ids``, as a result repeats them; empty if rows have no ids.

    Args:
        rows: The data.
        field: The column that names each row; None for none.

    Raises:
        InvalidInputError: If a row has no id, or one that another has.
    """
    if isinstance(rows, IdentifiedRows):
        return {"id_field": field, "ids": rows.ids}
    if field is None:
        return {}
    known: dict[str, int] = {}
    for number, row in enumerate(rows):
        name = name_in(row, number, field, "id_field")
        if name in known:
            raise InvalidInputError(
                f"rows {known[name]} and {number} both have the id {name!r} in {field!r}, which id_field names: every "
                "row needs an id of its own; for rows that belong together, name the column with cluster_field"
            )
        known[name] = number
    return {"id_field": field, "ids": list(known)}


def _split_of(splits: datasets.DatasetDict, split: str | None) -> datasets.Dataset:
    """Return the split of this name; without one, the only one that there is."""
    name = next(iter(splits)) if split is None and len(splits) == 1 else split
    if name not in splits:
        raise InvalidInputError(
            f"split is {split!r}, and the data set has the splits {list(splits)!r}: name one of them with split=…, in "
            "the shell --split"
        )
    return splits[name]


def read_log(source: object) -> list[Row]:
    """Return the rows of another tool's log, which is recognised by its shape; the tool need not be installed.

    - inspect_ai, ``.eval`` and ``.json``: :func:`~evenhand.data.formats.inspect_rows`
    - lm-eval, ``samples_*.jsonl``: :func:`~evenhand.data.formats.lm_eval_rows`
    - AlpacaEval, ``annotations.json``: :func:`~evenhand.data.formats.alpaca_eval_rows`
    - MT-Bench, ``*_pair.jsonl``: :func:`~evenhand.data.formats.mt_bench_pair_rows`; votes of people, and those of
      Chatbot Arena: :func:`~evenhand.data.formats.arena_rows`

    Args:
        source: The path of the file (``.gz`` too), or its rows as a data set, a data frame or a list.

    Raises:
        InvalidInputError: If it cannot be read, or has no shape that is known, or not throughout.
    """
    return rows_of_log(read_rows(source), repr(str(source)) if isinstance(source, (str, Path)) else "the log")
