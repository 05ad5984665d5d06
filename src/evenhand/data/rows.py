"""Rows of data from wherever users hold them: Hugging Face data sets, data frames, Arrow tables, lists, and files.

Files are read a part at a time: JSON lines and CSV line by line, Parquet batch by batch.
"""

from __future__ import annotations

import csv
import errno
import glob
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeGuard, cast

import pyarrow

from evenhand.data.arrow_files import PARQUET_HEADER, check_saved_set, check_types, opened_parquet
from evenhand.data.formats.logs import inspect_rows, is_inspect_log, rows_of_log
from evenhand.data.plain import is_of, parse_json_value, unique_keys
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import MOST_PIPED_BYTES, check_growth, expanded, is_opened, open_file

if TYPE_CHECKING:
    import datasets

Row = Mapping[str, Any]

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
"""The endings of files of rows; all but the last may have ``.gz`` behind it."""

ACCEPTED = (
    "a datasets.Dataset, a DatasetDict with split=…, a pandas or polars DataFrame, an Arrow table, a list of rows, or "
    f"the path of a file ({', '.join(SUFFIXES)}; .gz too), of a folder of such files, or of a saved data set"
)


def read_rows(dataset: object, split: str | None = None) -> list[Row]:
    """The rows of a data set, all of them: see :func:`row_batches`.

    Raises:
        InvalidInputError: As there.
    """
    if isinstance(dataset, IdentifiedRows):
        return dataset
    return [row for batch in row_batches(dataset, split, held=True) for row in batch]


class RowBatch(list[Row]):
    """Rows that follow one another, and where each comes from.

    Attributes:
        starts: Where in the batch the rows of another file begin: place in the batch, name of the file, and the number
            of this row among those of the file.
    """

    def __init__(self, rows: Iterable[Row] = (), starts: Iterable[tuple[int, str, int]] = ()) -> None:
        super().__init__(rows)
        self.starts = list(starts)

    def name(self, place: int) -> str:
        """What messages call a row: its number, from 0, among those of its file.

        >>> RowBatch([{}, {}, {}], [(0, "'a.csv'", 70), (1, "'b.csv'", 0)]).name(2)
        "row 1 of 'b.csv'"
        """
        start, name, number = next(each for each in reversed(self.starts) if each[0] <= place)
        return f"row {number + place - start} of {name}"


class IdentifiedRows(list[Row]):
    """Rows whose ids are known, as those of a stream are.

    Attributes:
        ids: One a row; of data with a row a response, one a prompt.
        contents: Digits for all that each of these holds, one after the other.
        id_field: The column that names a row; None where it is named by what it holds.
    """

    def __init__(self, rows: Iterable[Row], ids: Iterable[str], contents: str, id_field: str | None) -> None:
        super().__init__(rows)
        self.ids, self.contents, self.id_field = list(ids), contents, id_field


def row_batches(
    dataset: object, split: str | None = None, *, rows: int = 1024, held: bool = False
) -> Iterator[RowBatch]:
    """The rows of a data set, so many at a time, of which no more are held.

    Args:
        dataset: A ``datasets.Dataset`` or ``IterableDataset``, a ``DatasetDict`` (with ``split``, unless it has only
            one), a pandas or polars ``DataFrame``, an Arrow table or reader of record batches (or what else exports
            itself as one, such as a DuckDB relation), an iterable of rows, or the path of a file that
            :func:`read_file` reads, of a folder of such files, a pattern, or several paths: files follow one another.
            Columns of the type ``ClassLabel`` are read as the names of their classes.
        split: Which split of a ``DatasetDict``.
        rows: In a batch; the last one may have fewer.
        held: All rows will be held, so that a file that would fill the memory is not read to its end.

    Raises:
        InvalidInputError: No rows, no such split, a split that must be named, rows that are not mappings, or a file
            that cannot be read; what comes later in a file is found when it is read.
    """
    batch, empty, name = RowBatch(), True, ""
    for name, source in _sources(dataset, split, held=held):
        for number, row in enumerate(source):
            if not isinstance(row, Mapping):
                raise InvalidInputError(f"row {number} of {name} is a {type(row).__name__}; a row is a mapping")
            if number == 0 or not batch:
                batch.starts.append((len(batch), name, number))
            batch.append(row)
            if len(batch) == rows:
                yield batch
                batch, empty = RowBatch(), False
    if batch:
        yield batch
    elif empty:
        raise InvalidInputError(f"{name} is empty; there is nothing to judge")


def rows_known(dataset: Any, split: str | None = None) -> int | None:  # noqa: ANN401 - of any library
    """How many rows a data set has, where that is known without reading them; else None.

    Of files that is known of Parquet.

    >>> rows_known([{"response": "a"}, {"response": "b"}]), rows_known(iter(()))
    (2, None)
    """
    if isinstance(dataset, str | Path) or _are_paths(dataset):
        paths = [dataset] if isinstance(dataset, str | Path) else dataset
        counts = [rows_in_file(path) for given in paths for path in files_named(given)]
        return None if None in counts else sum(filter(None, counts))
    if isinstance(dataset, Mapping):  # splits
        dataset = dataset.get(split) if split is not None or len(dataset) != 1 else next(iter(dataset.values()))
    counted = getattr(dataset, "num_rows", None)
    if isinstance(counted, int):
        return counted
    return len(dataset) if hasattr(dataset, "__len__") else None


def _sources(dataset: object, split: str | None, *, held: bool) -> Iterator[tuple[str, Iterable[Any]]]:
    """The files, or the one data set, with the names that messages give them."""
    if isinstance(dataset, str | Path) or _are_paths(dataset):
        paths = [dataset] if isinstance(dataset, str | Path) else list(dataset)
        for path in [path for given in paths for path in files_named(given)]:
            if path.is_dir():
                yield f"the data set {str(path)!r}", _rows_of_object(_saved_set(path), split)
            elif split is not None:
                raise InvalidInputError(
                    f"split is {split!r}, but {str(path)!r} is one file without splits; leave it out"
                )
            else:
                yield f"the data set {str(path)!r}", _rows_of_data_file(path, held=held)
        return
    yield "the data set", _rows_of_object(dataset, split)


def _are_paths(dataset: object) -> TypeGuard[Sequence[str | Path]]:
    named = isinstance(dataset, list | tuple) and bool(dataset)
    return named and all(isinstance(each, str | Path) for each in dataset)  # type: ignore[attr-defined] # as above


def _saved_set(path: Path) -> object:
    import datasets  # noqa: PLC0415 - a second of import that only its data sets need

    try:
        check_saved_set(path)
        return datasets.load_from_disk(str(path))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a data set saved with save_to_disk ({error})") from error


def _rows_of_data_file(path: Path, *, held: bool) -> Iterator[Row]:
    """The rows of a file, which is no saved result."""
    rows = rows_of_file(path, held=held)
    for row in rows:
        saved = saved_kind(row)
        if saved is not None:
            raise InvalidInputError(
                f"{str(path)!r} is a saved result, not a data set: it holds {saved}, which "
                "evenhand.open reads; give the rows that it was made from"
            )
        yield row
        break
    yield from rows


def _rows_of_object(dataset: Any, split: str | None) -> Iterable[Any]:  # noqa: ANN401 - of any library
    """The rows of what is no file.

    pandas has cells of any type, which Arrow has not, so its rows are its own; all others export themselves as Arrow
    (the PyCapsule interface: polars, pyarrow, DuckDB, ibis), a lazy frame of polars once it is collected.
    """
    if is_of(dataset, "datasets") and isinstance(dataset, Mapping):  # a DatasetDict or an IterableDatasetDict
        dataset = split_of(dataset, split)
    elif split is not None:
        raise InvalidInputError(f"split is {split!r}, but the data set has no splits; leave it out")
    if isinstance(dataset, (bytes, Mapping)):
        raise InvalidInputError(f"the data set is a {type(dataset).__name__}; give {ACCEPTED}")
    if is_of(dataset, "datasets") and hasattr(dataset, "info"):  # not one of its columns
        return _with_class_names(dataset)
    if hasattr(dataset, "iterrows"):
        check_columns(dataset.columns, _FRAME)
        _check_frame(dataset)
        return _rows_of_frame(dataset)
    if type(dataset).__module__.startswith("polars") and hasattr(dataset, "collect"):
        dataset = dataset.collect()
    if hasattr(dataset, "__arrow_c_stream__"):
        try:
            reader = pyarrow.RecordBatchReader.from_stream(dataset)
        except (pyarrow.ArrowInvalid, TypeError):  # one column alone, without a name
            return cast("Iterable[Any]", dataset)
        check_columns(reader.schema.names, _FRAME)
        check_types(reader.schema, "the data frame")
        return _rows_of_reader(reader)
    if not isinstance(dataset, Iterable):
        raise InvalidInputError(f"the data set is {dataset!r}; give {ACCEPTED}")
    return dataset


_FRAME = "the header of the data frame"
_ROWS_AT_ONCE = 1024


def _check_frame(frame: Any) -> None:  # noqa: ANN401 - as above
    """Check the columns that pandas holds as Arrow does."""
    kinds = ((str(name), getattr(kind, "pyarrow_dtype", None)) for name, kind in frame.dtypes.items())
    check_types(pyarrow.schema([(name, kind) for name, kind in kinds if kind is not None]), "the data frame")


def _rows_of_frame(frame: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    for first in range(0, len(frame), _ROWS_AT_ONCE):
        yield from frame.iloc[first : first + _ROWS_AT_ONCE].to_dict("records")


def _rows_of_reader(reader: pyarrow.RecordBatchReader) -> Iterator[Any]:
    for batch in reader:
        for first in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield from batch.slice(first, _ROWS_AT_ONCE).to_pylist()


def _with_class_names(dataset: datasets.Dataset | datasets.IterableDataset) -> Iterator[Any]:
    """The rows; a column of a Hugging Face data set that counts its classes holds their names.

    Such a number is the place of a class in the data set's own list, and neither a value nor a place of a criterion.
    """
    import datasets  # noqa: PLC0415 - as above

    features = getattr(dataset, "features", None) or datasets.Features()
    held = dataset.data.schema if isinstance(dataset, datasets.Dataset) else features.arrow_schema
    check_types(held, "the data set")
    classes = {name: kind for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}

    def named(row: Row) -> Row:
        return {name: _class_name(classes[name], value) if name in classes else value for name, value in row.items()}

    return map(named, dataset) if classes else iter(dataset)


def _class_name(classes: datasets.ClassLabel, number: int | None) -> str | None:
    return None if number is None or number < 0 else str(classes.int2str(number))  # -1 is a test set without labels


def split_of(splits: datasets.DatasetDict, split: str | None) -> datasets.Dataset:
    """The split of this name; without one, the only one that there is.

    Raises:
        InvalidInputError: If there is none such, or several without a name.
    """
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
    are told apart there, compressed or not. A folder of such files, and a pattern such as ``shards/*.jsonl.gz``, stand
    for the files one after the other.

    Raises:
        InvalidInputError: No such file, a kind that is not read, a line that is not what the file promises, or a
            column or key that is there twice.
    """
    return read_rows(Path(path), split)


def read_log(source: object) -> list[Row]:
    """The rows of another tool's log, which is recognised by its shape; the tool need not be installed.

    - inspect_ai, ``.eval`` and ``.json``: :func:`~evenhand.data.formats.logs.inspect_rows`
    - lm-eval, ``samples_*.jsonl``: :func:`~evenhand.data.formats.logs.lm_eval_rows`
    - AlpacaEval, ``annotations.json``: :func:`~evenhand.data.formats.logs.alpaca_eval_rows`
    - MT-Bench, ``*_pair.jsonl``: :func:`~evenhand.data.formats.logs.mt_bench_pair_rows`; ``*_single.jsonl``:
      :func:`~evenhand.data.formats.logs.mt_bench_single_rows`; votes of people, and those of Chatbot Arena:
      :func:`~evenhand.data.formats.logs.arena_rows`

    Args:
        source: The path of the file (``.gz`` too), or its rows as a data set, a data frame or a list.

    Raises:
        InvalidInputError: If it cannot be read, or has no shape that is known, or not throughout.
    """
    return rows_of_log(read_rows(source), repr(str(source)) if isinstance(source, (str, Path)) else "the log")


KINDS: Final[Mapping[str, str]] = {
    "judgements": "judgements",
    "winrates": "contests",
    "checklist": "checked responses",
    "grade_scores": "graded instances",
    "mode_results": "results of a mode",
    "aggregated_votes": "aggregated votes",
    "agreement": "the agreement of raters",
}
"""Kind of a saved result in its header -> what it holds, for messages."""


def saved_kind(header: object) -> str | None:
    """Return what a saved result holds, by its header; None for anything else.

    >>> saved_kind({"evenhand": "winrates", "rows": 3, "parameters": {}})
    'contests'
    >>> saved_kind({"question": "Who?", "response": "Jane Austen."}) is None
    True
    """
    if not isinstance(header, Mapping) or not {"evenhand", "rows", "parameters"} <= header.keys():
        return None
    kind = header["evenhand"]
    return KINDS.get(kind) if isinstance(kind, str) else None


_SHELL = "shell"
_ENDINGS = {*SUFFIXES, ".eval", ".jsonl.gz", ".json.gz", ".csv.gz"}
_PART_BYTES = 1024**2
_BATCH_ROWS = 256
_CELL_BYTES = 64
"""The least size of a cell as an object of Python."""

_HEAD_CHARACTERS = 4096
"""So many characters show what a text is."""

_SAVED_SETS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""One of these lies in the folder of a data set that Hugging Face's library saved."""


def is_saved_set(path: Path) -> bool:
    """Return whether a folder holds a data set that was saved with ``save_to_disk``."""
    return any((path / name).exists() for name in _SAVED_SETS)


def files_named(given: str | Path) -> list[Path]:
    """Return the files that a path names: one, those of a folder, or those that fit a pattern as ``shards/*.jsonl.gz``.

    Of a folder those count that hold rows by their ending, in the order of their names; a name that begins with a dot
    or an underscore is some tool's own.

    Raises:
        InvalidInputError: If there is none.
    """
    path = expanded("/dev/stdin" if str(given) == "-" else given)
    try:
        if not path.exists() and glob.has_magic(str(path)):
            found = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207 - an absolute pattern too
            if not found:
                raise InvalidInputError(f"no file fits the pattern {str(path)!r}")
            return found
        if not path.exists():
            raise InvalidInputError(f"there is no file or folder {str(path)!r}")
        if not path.is_dir() or is_saved_set(path):
            return [path]
        shards = sorted(each for each in path.iterdir() if each.name[0] not in "._" and _kind_of(each) is not None)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    if not shards:
        raise InvalidInputError(
            f"the folder {str(path)!r} is not a Hugging Face data set (save one there with dataset.save_to_disk), and "
            f"no file in it ends in {', '.join(map(repr, SUFFIXES))}; files in folders below it are named by a "
            f"pattern, as {str(path / '**' / '*.parquet')!r}"
        )
    return shards


def _kind_of(path: Path) -> str | None:
    """The ending by which a file is read, without ``.gz``; None if a file with this name is not read.

    >>> [_kind_of(Path(name)) for name in ("votes.v2.jsonl.GZ", "rows.parquet.gz", "/dev/fd/63")]
    ['.jsonl', None, 'shell']
    """
    if is_opened(path):
        return _SHELL
    suffix = _suffix(path)
    return suffix.removesuffix(".gz") if suffix in _ENDINGS else None


def _suffix(path: Path) -> str:
    *_, last = path.suffixes or [""]
    return "".join(path.suffixes[-2:] if last.lower() == ".gz" else [last]).lower()


def rows_of_file(path: Path, *, held: bool) -> Iterator[Row]:
    """Yield the rows of a JSON lines, JSON, CSV or Parquet file.

    A ``.json`` file is a list of objects, or JSON lines. Text files may be compressed: ``.jsonl.gz``. Logs of
    inspect_ai (``.eval``, ``.json``) are read too. What the shell has opened has no name that ends in a format: JSON
    lines, JSON and CSV are told apart there, compressed or not. A list of JSON, and a log, are read whole.

    Args:
        path: The file.
        held: Whether all rows will be held, so that a file or pipe that would fill the memory is not read to its end.

    Raises:
        InvalidInputError: If the kind of file is not read, a line is not what the file promises, or a column or key is
            there twice.
    """
    kind = _kind_of(path)
    try:
        if kind is None:
            raise InvalidInputError(
                f"{str(path)!r} ends in {_suffix(path)!r}. Accepted: {', '.join(map(repr, SUFFIXES))}, text files with "
                "'.gz' behind it too, or the folder of a data set saved with save_to_disk"
            )
        if kind == ".parquet":
            yield from _parquet_rows(path, held=held)
        elif kind == ".eval":
            yield from inspect_rows(path)
        else:
            with _open_text(path, "\n" if kind in {".jsonl", ".json"} else "", held=held) as lines:
                yield from _rows_of_text(lines, path, kind)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror or error})") from error


def rows_in_file(path: Path) -> int | None:
    """Return how many rows a file says that it has, as Parquet does; None where it does not."""
    if _kind_of(path) != ".parquet":
        return None
    try:
        with opened_parquet(path) as file:
            rows: int = file.metadata.num_rows
    except (OSError, InvalidInputError):  # which is raised again when it is read
        return None
    return rows


class _Bytes(io.BufferedIOBase):
    """The bytes of a file, decompressed where it is a gzip file.

    One that would fill the memory is not read to its end: what is compressed may grow as data do
    (:func:`~evenhand.files.check_growth`), and where all is held, a pipe has a largest size.
    """

    def __init__(self, path: Path, *, held: bool) -> None:
        self._path, self.given, is_piped = path, 0, is_opened(path)
        self._is_bounded = held and is_piped
        self._size: int | None = None
        self._packed = cast("Any", open_file(path))
        self._file = self._packed
        if path.suffix.lower() == ".gz" or (is_piped and self._packed.peek(2)[:2] == b"\x1f\x8b"):
            if is_piped:  # its size is not known before it is read
                with self._packed as file:
                    self._packed = io.BytesIO(file.read(MOST_PIPED_BYTES + 1))
            self._size = self._packed.seek(0, io.SEEK_END)
            _check_piped(self._size if is_piped else 0)
            self._packed.seek(0)
            self._file = cast("Any", gzip.GzipFile(fileobj=self._packed))

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        try:
            part: bytes = self._file.read1(_PART_BYTES if size < 0 else size)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInputError(f"{str(self._path)!r} is not a whole gzip file: {error}") from error
        self.given += len(part)
        if self._size is not None:
            check_growth(self._size, self.given)
        if self._is_bounded:
            _check_piped(self.given)
        return part

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def _check_piped(size: int) -> None:
    if size > MOST_PIPED_BYTES:
        raise OSError(errno.EFBIG, f"it holds more than {MOST_PIPED_BYTES // 1024**2} MiB, the most that is read")


@contextmanager
def _open_text(path: Path, newline: str, *, held: bool) -> Iterator[Iterator[str]]:
    """The lines of a file, which is read as they are asked for.

    Args:
        path: The file.
        newline: The ends of its lines, as of Python's ``open``.
        held: As of :func:`rows_of_file`.
    """
    source = _Bytes(path, held=held)
    with io.TextIOWrapper(cast("BinaryIO", source), "utf-8-sig", newline=newline) as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            place = source.given - len(error.object) + error.start
            raise InvalidInputError(
                f"{str(path)!r} is not UTF-8 text (byte {place}): save it as UTF-8, or give it its true ending"
            ) from error


def _rows_of_text(lines: Iterator[str], path: Path, kind: str) -> Iterable[Row]:
    """The rows of a text: the objects of a list, a log of inspect_ai, JSON lines, or CSV."""
    if kind == ".jsonl":
        return _rows_of_lines(lines, path)
    if kind == ".csv":
        return _csv_rows(lines, path)
    head: list[str] = []
    for line in lines:
        head.append(line)
        if line.strip() and sum(map(len, head)) >= _HEAD_CHARACTERS:
            break
    begun = "".join(head).lstrip()
    if kind == _SHELL and begun[:1] not in {"[", "{", ""}:
        return _csv_rows(chain(head, lines), path)
    if begun.startswith("["):
        return _rows_of_list("".join([*head, *lines]), path)
    if '"eval"' in begun[:_HEAD_CHARACTERS]:
        head += lines
        try:
            log = json.loads("".join(head))
        except (ValueError, RecursionError):
            log = None
        if is_inspect_log(log):
            return inspect_rows(path, log)
    return _rows_of_lines(chain(head, lines), path)


def _rows_of_list(text: str, path: Path) -> list[Row]:
    try:
        rows: list[Row] = parse_json_value(text, repr(str(path)))
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"{str(path)!r} is not JSON at line {error.lineno}: {error.msg} (column {error.colno})"
        ) from error
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InvalidInputError(
                f"{str(path)!r} holds a {type(row).__name__} at place {number} of its list; each row must be an object"
            )
    return rows


def _rows_of_lines(lines: Iterable[str], path: Path) -> Iterator[Row]:
    return (_row_of_line(line, number, path) for number, line in enumerate(lines, start=1) if line.strip())


def rows_of_lines(path: Path) -> Iterator[Row | tuple[str, InvalidInputError]]:
    """Yield the rows of a JSON lines file; for a line that is not a row, its name and the error."""
    with _open_text(path, "\n", held=False) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    yield _row_of_line(line, number, path)
            except InvalidInputError as error:
                yield f"line {number} of {path.name!r}", error


def _row_of_line(line: str, number: int, path: Path) -> Row:
    try:
        row: Row = parse_json_value(line, f"line {number} of {str(path)!r}")
        wrong = "" if isinstance(row, dict) else f"it holds a {type(row).__name__}"
    except json.JSONDecodeError as error:
        wrong = f"{error.msg} (column {error.colno})"
    if wrong:
        raise InvalidInputError(
            f"{str(path)!r} is not JSONL at line {number}: {wrong}; each line must be one JSON object"
        )
    return row


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    """Lift the limit of Python's csv, which refuses cells of more than 131,072 characters."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _csv_rows(lines: Iterable[str], path: Path) -> Iterator[Row]:
    """The rows of a CSV file.

    pyarrow is not used: it accepts a file that ends within a quoted cell, and refuses a cell longer than its block.
    """
    reader = csv.DictReader(lines, strict=True)
    try:
        with _cells_of_any_length():
            check_columns(reader.fieldnames or (), f"the header of {str(path)!r}")
        while True:
            with _cells_of_any_length():
                row = next(reader, None)
            if row is None:
                return
            if None in row or None in row.values():
                raise InvalidInputError(
                    f"{str(path)!r} has another number of cells in line {reader.line_num} than in its header"
                )
            yield row
    except csv.Error as error:
        raise InvalidInputError(f"{str(path)!r} is not CSV at line {reader.reader.line_num}: {error}") from error


def check_columns(names: Iterable[str], where: str) -> None:
    """Check that no column is there twice.

    Raises:
        InvalidInputError: If one is.
    """
    unique_keys([(name, None) for name in names], where)


def _parquet_rows(path: Path, *, held: bool) -> Iterator[Row]:
    size, grown = path.stat().st_size, 0
    with opened_parquet(path) as file:
        schema = file.schema_arrow
        header = (schema.metadata or {}).get(PARQUET_HEADER)
        if header is not None:
            yield json.loads(header)  # which says that it is a saved result
            return
        check_columns(schema.names, f"the header of {str(path)!r}")
        if held:
            check_growth(size, file.metadata.num_rows * len(schema.names) * _CELL_BYTES)
        for batch in file.iter_batches(_BATCH_ROWS):
            grown = batch.nbytes + (grown if held else 0)
            check_growth(size, grown)
            yield from batch.to_pylist()
