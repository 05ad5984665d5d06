"""Rows of data from wherever users hold them: Hugging Face data sets, data frames, Arrow tables, lists, and files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.data.cells import different_keys
from evenhand.data.formats.logs import inspect_rows, is_inspect_log
from evenhand.data.plain_data import finite_number
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_growth, expanded, is_opened, open_file, read_bytes

if TYPE_CHECKING:
    import datasets

Row = Mapping[str, Any]
SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
"""What a file of rows ends in; all but the last may have ``.gz`` behind it."""

ACCEPTED = (
    "a datasets.Dataset, a DatasetDict with split=…, a pandas or polars DataFrame, an Arrow table, a list of rows, or "
    f"the path of a file ({', '.join(SUFFIXES)}; .gz too) or of a saved data set"
)


def read_rows(dataset: object, split: str | None = None) -> list[Row]:
    """The rows of a data set.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``, unless it has only one), a pandas or polars
            ``DataFrame``, an Arrow table (or what else exports itself as one, such as a DuckDB relation), rows, or the
            path of a file that :func:`read_file` reads. Columns of the type ``ClassLabel`` are read as the names of
            their classes.
        split: Which split of a ``DatasetDict``.

    Raises:
        InvalidInputError: No rows, no such split, a split that must be named, or rows that are not mappings.
    """
    import datasets  # noqa: PLC0415 - a second of import that only this needs

    if isinstance(dataset, (str, Path)):
        return read_file(dataset, split)
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        dataset = _split_of(dataset, split)
    elif split is not None:
        raise InvalidInputError(f"split is {split!r}, but the data set has no splits; leave it out")
    if isinstance(dataset, (bytes, Mapping)):
        raise InvalidInputError(f"the data set is a {type(dataset).__name__}; give {ACCEPTED}")
    if not isinstance(dataset, (datasets.Dataset, datasets.IterableDataset)):
        dataset = _rows_of_frame(dataset)
    if not isinstance(dataset, Iterable):
        raise InvalidInputError(f"the data set is {dataset!r}; give {ACCEPTED}")
    rows = _with_class_names(dataset)
    if not rows:
        raise InvalidInputError("the data set is empty; there is nothing to judge")
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInputError(f"row {index} of the data set is a {type(row).__name__}; a row is a mapping")
    return rows


def _rows_of_frame(dataset: Any) -> Any:  # noqa: ANN401 - of any library
    """The rows of a data frame or table; anything else as it is.

    pandas has cells of any type, which Arrow has not, so its rows are its own; all others export themselves as Arrow
    (the PyCapsule interface: polars, pyarrow, DuckDB, ibis), a lazy frame of polars once it is collected.
    """
    what = "the header of the data frame"
    if hasattr(dataset, "iterrows"):
        _check_columns(dataset.columns, what)
        return dataset.to_dict("records")
    if type(dataset).__module__.startswith("polars") and hasattr(dataset, "collect"):
        dataset = dataset.collect()
    if hasattr(dataset, "__arrow_c_stream__"):
        import pyarrow  # noqa: PLC0415 - as above

        try:
            table = pyarrow.table(dataset)
        except pyarrow.ArrowInvalid:  # one column alone, without a name
            return dataset
        _check_columns(table.column_names, what)
        return table.to_pylist()
    return dataset


def _with_class_names(dataset: Iterable[Any]) -> list[Any]:
    """The rows; a column of a Hugging Face data set that counts its classes holds their names.

    Such a number is the place of a class in the data set's own list, and neither a value nor a place of a criterion.
    """
    import datasets  # noqa: PLC0415 - as above

    features = getattr(dataset, "features", None) or {}
    classes = {name: kind for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}
    if not classes:
        return list(dataset)

    def named(row: Row) -> Row:
        return {name: _class_name(classes[name], value) if name in classes else value for name, value in row.items()}

    return [named(row) for row in dataset]


def _class_name(classes: datasets.ClassLabel, number: int | None) -> str | None:
    return None if number is None or number < 0 else str(classes.int2str(number))  # -1 is a test set without labels


def _split_of(splits: datasets.DatasetDict, split: str | None) -> datasets.Dataset:
    names = list(splits)
    if split is None and len(names) == 1:
        return splits[names[0]]
    if split is None:
        raise InvalidInputError(f"the data set has the splits {names!r}; say which with split=…, in the shell --split")
    if split not in names:
        raise InvalidInputError(f"the data set has no split {split!r}. {did_you_mean(split, names)}")
    return splits[split]


def read_file(path: str | Path, split: str | None = None) -> list[Row]:
    """The rows of a JSON lines, JSON, CSV or Parquet file, or of a Hugging Face data set saved to disk.

    A ``.json`` file is a list of objects, or JSON lines. Text files may be compressed: ``.jsonl.gz``. Logs of
    inspect_ai (``.eval``, ``.json``) are read too; :func:`~evenhand.read_log` knows those of other tools. What the
    shell has opened (``-`` for standard input, ``<(…)``) has no name that ends in a format: JSON lines, JSON and CSV
    are told apart there, compressed or not.

    Raises:
        InvalidInputError: No such file, a kind that is not read, a line that is not what the file promises, or a
            column or key that is there twice.
    """
    path = expanded("/dev/stdin" if str(path) == "-" else path)
    try:
        if path.is_dir():
            return _saved_rows(path, split)
        if not path.exists():
            raise InvalidInputError(f"there is no file or folder {str(path)!r}")
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    if split is not None:
        raise InvalidInputError(f"split is {split!r}, but {str(path)!r} is one file without splits; leave it out")
    readers = {
        ".jsonl": _jsonl_rows,
        ".json": _json_rows,
        ".csv": _csv_rows,
        ".parquet": _parquet_rows,
        ".eval": inspect_rows,
    }
    suffix = _suffix(path)
    reader = _rows_as_they_look if is_opened(path) else readers.get(suffix.removesuffix(".gz"))
    if reader is None or suffix in {".parquet.gz", ".eval.gz"}:
        raise InvalidInputError(
            f"{str(path)!r} ends in {suffix!r}. Accepted: {', '.join(map(repr, SUFFIXES))}, text files with '.gz' "
            "behind it too, or the folder of a data set saved with save_to_disk"
        )
    try:
        rows = reader(path)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror or error})") from error
    if not rows:
        raise InvalidInputError(f"the data set {str(path)!r} is empty; there is nothing to judge")
    saved = saved_kind(rows[0])
    if saved is not None:
        raise InvalidInputError(
            f"{str(path)!r} is a saved result, not a data set: it holds {saved.holds}, which "
            f"evenhand.{saved.class_name}.load reads; give the rows that it was made from"
        )
    return rows


def _suffix(path: Path) -> str:
    """The ending of a file's name, with what is before ``.gz``.

    >>> _suffix(Path("votes.v2.jsonl.GZ"))
    '.jsonl.gz'
    """
    *_, last = path.suffixes or [""]
    return "".join(path.suffixes[-2:] if last.lower() == ".gz" else [last]).lower()


def _saved_rows(path: Path, split: str | None) -> list[Row]:
    import datasets  # noqa: PLC0415 - as above

    try:
        saved = datasets.load_from_disk(str(path))
    except FileNotFoundError as error:
        raise InvalidInputError(
            f"the folder {str(path)!r} is not a Hugging Face data set: save one there with dataset.save_to_disk"
        ) from error
    return read_rows(saved, split)


def _text(path: Path) -> str:
    data = read_bytes(path, None)
    if path.suffix.lower() == ".gz" or (is_opened(path) and data.startswith(b"\x1f\x8b")):
        data = _inflated(data, path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{str(path)!r} is not UTF-8 text (byte {error.start}): save it as UTF-8, or give it its true ending"
        ) from error


def _inflated(packed: bytes, path: Path) -> bytes:
    """What a gzip file holds; one that would fill the memory is not read to its end."""
    parts, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            while part := file.read(_PART):
                size += len(part)
                check_growth(len(packed), size)
                parts.append(part)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInputError(f"{str(path)!r} is not a whole gzip file: {error}") from error
    return b"".join(parts)


_PART = 1024**2
"""So many bytes are inflated at a time."""


def _rows_as_they_look(path: Path) -> list[Row]:
    """The rows of a file whose name says no format."""
    text = _text(path)
    return _json_rows_of(text, path) if text.lstrip()[:1] in {"[", "{", ""} else _csv_rows_of(text, path)


def _value(text: str, where: str) -> Any:  # noqa: ANN401 - JSON
    """The value that a JSON text is.

    Raises:
        JSONDecodeError: If it is no JSON.
        InvalidInputError: If it has a key twice, or holds what cannot be read.
    """
    try:
        return json.loads(text, object_pairs_hook=partial(different_keys, where=where), parse_float=finite_number)
    except (json.JSONDecodeError, InvalidInputError):
        raise
    except ValueError as error:
        raise InvalidInputError(f"{where} holds a number that cannot be read: {error}") from error
    except RecursionError as error:
        raise InvalidInputError(f"{where} is nested too deeply to be read") from error


def _json_rows(path: Path) -> list[Row]:
    return _json_rows_of(_text(path), path)


def _json_rows_of(text: str, path: Path) -> list[Row]:
    """The objects of a list; a file that is no list is JSON lines, as some tools call theirs."""
    if not text.lstrip().startswith("["):
        log = _inspect_log(text)
        return _rows_of_lines(text, path) if log is None else inspect_rows(path, log)
    try:
        rows = _value(text, repr(str(path)))
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"{str(path)!r} is not JSON at line {error.lineno}: {error.msg} (column {error.colno})"
        ) from error
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InvalidInputError(
                f"{str(path)!r} holds a {type(row).__name__} at place {number} of its list; each row must be an object"
            )
    found: list[Row] = rows
    return found


def _inspect_log(text: str) -> Mapping[str, Any] | None:
    """The log of inspect_ai that a text is; None for any other."""
    try:
        log = json.loads(text) if '"eval"' in text[:4096] else None
    except (ValueError, RecursionError):
        return None
    return log if is_inspect_log(log) else None


def _jsonl_rows(path: Path) -> list[Row]:
    return _rows_of_lines(_text(path), path)


def _rows_of_lines(text: str, path: Path) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _value(line, f"line {number} of {str(path)!r}")
        except json.JSONDecodeError as error:
            raise InvalidInputError(
                f"{str(path)!r} is not JSONL at line {number}: {error.msg} (column {error.colno}); each line must be "
                "one JSON object"
            ) from error
        if not isinstance(row, dict):
            raise InvalidInputError(
                f"{str(path)!r} is not JSONL at line {number}: it holds a {type(row).__name__}; each line must be one "
                "JSON object"
            )
        rows.append(row)
    return rows


def _csv_rows(path: Path) -> list[Row]:
    return _csv_rows_of(_text(path), path)


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    """Python's csv refuses cells of more than 131,072 characters, and long documents are longer."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _csv_rows_of(text: str, path: Path) -> list[Row]:
    lines = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        with _cells_of_any_length():
            _check_columns(lines.fieldnames or (), f"the header of {str(path)!r}")
            for row in lines:
                if None in row or None in row.values():
                    raise InvalidInputError(
                        f"{str(path)!r} has another number of cells in line {lines.line_num} than in its header"
                    )
                rows.append(row)
    except csv.Error as error:
        raise InvalidInputError(f"{str(path)!r} is not CSV at line {lines.reader.line_num}: {error}") from error
    return rows


def _check_columns(names: Iterable[str], where: str) -> None:
    different_keys([(name, None) for name in names], where)


def _parquet_rows(path: Path) -> list[Row]:
    import pyarrow  # noqa: PLC0415 - as above
    import pyarrow.parquet  # noqa: PLC0415

    try:
        with open_file(path) as opened:
            file, size = pyarrow.parquet.ParquetFile(opened), os.fstat(opened.fileno()).st_size
            schema, grown = file.schema_arrow, 0
            header = (schema.metadata or {}).get(PARQUET_HEADER)
            if header is not None:
                return [json.loads(header)]  # which says that it is a saved result
            _check_columns(schema.names, f"the header of {str(path)!r}")
            check_growth(size, file.metadata.num_rows * len(schema.names) * _CELL_BYTES)
            rows: list[Row] = []
            for batch in file.iter_batches(_BATCH_ROWS):
                grown += batch.nbytes
                check_growth(size, grown)
                rows += batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise InvalidInputError(f"{str(path)!r} is not a Parquet file: {error}") from error
    return rows


_BATCH_ROWS = 256
_CELL_BYTES = 64
"""Of a cell as an object of Python, at least."""

PARQUET_HEADER = b"evenhand"
"""The key in the metadata of a Parquet file under which a saved result has its header."""


class SavedKind(NamedTuple):
    """What a saved result is.

    Attributes:
        holds: What its rows are, for messages.
        class_name: Of the result.
    """

    holds: str
    class_name: str


KINDS = {
    "judgements": SavedKind("judgements", "JudgementTable"),
    "winrates": SavedKind("contests", "WinrateTable"),
    "checklist": SavedKind("checked responses", "ChecklistTable"),
    "grade_scores": SavedKind("graded instances", "GradeTable"),
    "mode_results": SavedKind("results of a mode", "ModeResults"),
    "aggregated_votes": SavedKind("aggregated votes", "VoteTable"),
    "agreement": SavedKind("the agreement of raters", "AgreementTable"),
}
"""What the header of a saved result calls it -> what it is."""


def saved_kind(header: object) -> SavedKind | None:
    """What a saved result holds, and which class loads it, by its header; None for anything else.

    >>> saved_kind({"evenhand": "winrates", "rows": 3, "parameters": {}})
    SavedKind(holds='contests', class_name='WinrateTable')
    >>> saved_kind({"question": "Who?", "response": "Jane Austen."}) is None
    True
    """
    if not isinstance(header, Mapping) or not {"evenhand", "rows", "parameters"} <= header.keys():
        return None
    kind = header["evenhand"]
    return KINDS.get(kind) if isinstance(kind, str) else None
