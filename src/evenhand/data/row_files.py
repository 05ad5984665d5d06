"""Files of rows, read a part at a time: JSON lines and CSV line by line, Parquet batch by batch."""

from __future__ import annotations

import csv
import errno
import glob
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from evenhand.data.arrow_files import opened_parquet
from evenhand.data.cells import different_keys
from evenhand.data.formats.logs import inspect_rows, is_inspect_log
from evenhand.data.plain_data import finite_number
from evenhand.errors import InvalidInputError
from evenhand.files import MOST_PIPED_BYTES, check_growth, expanded, is_opened, open_file

Row = Mapping[str, Any]
SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
"""What a file of rows ends in; all but the last may have ``.gz`` behind it."""

PARQUET_HEADER = b"evenhand"
"""The key in the metadata of a Parquet file under which a saved result has its header."""

_PART = 1024**2
"""So many bytes are inflated at a time."""

_BATCH_ROWS = 256
_CELL_BYTES = 64
"""Of a cell as an object of Python, at least."""

_HEAD_SIGNS = 4096
"""So many signs show what a text is."""

_SAVED_SETS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""One of these lies in the folder of a data set that Hugging Face's library saved."""


def is_saved_set(path: Path) -> bool:
    """Whether a folder holds a data set that was saved with ``save_to_disk``."""
    return any((path / name).exists() for name in _SAVED_SETS)


def files_named(given: str | Path) -> list[Path]:
    """The files that a path names: one, those of a folder, or those that fit a pattern such as ``shards/*.jsonl.gz``.

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
        shards = sorted(each for each in path.iterdir() if each.name[0] not in "._" and _reader_of(each) is not None)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    if not shards:
        raise InvalidInputError(
            f"the folder {str(path)!r} is not a Hugging Face data set (save one there with dataset.save_to_disk), and "
            f"no file in it ends in {', '.join(map(repr, SUFFIXES))}; files in folders below it are named by a "
            f"pattern, as {str(path / '**' / '*.parquet')!r}"
        )
    return shards


def rows_of_file(path: Path, *, held: bool) -> Iterator[Row]:
    """The rows of a JSON lines, JSON, CSV or Parquet file, one after the other.

    A ``.json`` file is a list of objects, or JSON lines. Text files may be compressed: ``.jsonl.gz``. Logs of
    inspect_ai (``.eval``, ``.json``) are read too. What the shell has opened has no name that ends in a format: JSON
    lines, JSON and CSV are told apart there, compressed or not. A list of JSON, and a log, are read whole.

    Args:
        path: The file.
        held: All rows will be held, so that a file or pipe that would fill the memory is not read to its end.

    Raises:
        InvalidInputError: A kind that is not read, a line that is not what the file promises, or a column or key that
            is there twice.
    """
    reader = _rows_as_they_look if is_opened(path) else _reader_of(path)
    if reader is None:
        raise InvalidInputError(
            f"{str(path)!r} ends in {_suffix(path)!r}. Accepted: {', '.join(map(repr, SUFFIXES))}, text files with "
            "'.gz' behind it too, or the folder of a data set saved with save_to_disk"
        )
    try:
        yield from reader(path, held)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror or error})") from error


def rows_in_file(path: Path) -> int | None:
    """How many rows a file says that it has, as Parquet does; None where it does not."""
    if is_opened(path) or _reader_of(path) is not _parquet_rows:
        return None
    try:
        with opened_parquet(path) as file:
            rows: int = file.metadata.num_rows
    except (OSError, InvalidInputError):  # which is told when it is read
        return None
    return rows


def _reader_of(path: Path) -> Callable[[Path, bool], Iterator[Row]] | None:
    """What reads a file of this name; None for no kind that is read."""
    suffix = _suffix(path)
    packed = suffix in {".parquet.gz", ".eval.gz"}
    return None if packed else _READERS.get(suffix.removesuffix(".gz"))


def _suffix(path: Path) -> str:
    """The ending of a file's name, with what is before ``.gz``.

    >>> _suffix(Path("votes.v2.jsonl.GZ"))
    '.jsonl.gz'
    """
    *_, last = path.suffixes or [""]
    return "".join(path.suffixes[-2:] if last.lower() == ".gz" else [last]).lower()


class _Bytes(io.BufferedIOBase):
    """The bytes of a file, inflated where it is a gzip file.

    One that would fill the memory is not read to its end: what is compressed may grow as data do
    (:func:`~evenhand.files.check_growth`), and where all is held, a pipe may bring so much.
    """

    def __init__(self, path: Path, *, held: bool) -> None:
        self._path, self.given, piped = path, 0, is_opened(path)
        self._bound = held and piped
        self._size: int | None = None
        self._packed = cast("Any", open_file(path))
        self._file = self._packed
        if path.suffix.lower() == ".gz" or (piped and self._packed.peek(2)[:2] == b"\x1f\x8b"):
            if piped:  # whose size nobody knows before
                with self._packed as file:
                    self._packed = io.BytesIO(file.read(MOST_PIPED_BYTES + 1))
            self._size = self._packed.seek(0, io.SEEK_END)
            _check_piped(self._size if piped else 0)
            self._packed.seek(0)
            self._file = cast("Any", gzip.GzipFile(fileobj=self._packed))

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        try:
            part: bytes = self._file.read1(_PART if size < 0 else size)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInputError(f"{str(self._path)!r} is not a whole gzip file: {error}") from error
        self.given += len(part)
        if self._size is not None:
            check_growth(self._size, self.given)
        if self._bound:
            _check_piped(self.given)
        return part

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size >= 0:
            return self.read1(size)
        return b"".join(iter(self.read1, b""))

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def _check_piped(size: int) -> None:
    if size > MOST_PIPED_BYTES:
        raise OSError(errno.EFBIG, f"it holds more than {MOST_PIPED_BYTES // 1024**2} MiB, the most that is read")


@contextmanager
def _opened_text(path: Path, newline: str, *, held: bool) -> Iterator[Iterable[str]]:
    """The text of a file, which is read as it is asked for.

    Args:
        path: The file.
        newline: Which line ends end its lines: as of Python's ``open``.
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


def _rows_as_they_look(path: Path, held: bool) -> Iterator[Row]:
    """The rows of a file whose name says no format."""
    with _opened_text(path, "", held=held) as text:
        head = _head(text)
        looks = "".join(head).lstrip()[:1]
        yield from (_json_rows_of if looks in {"[", "{", ""} else _csv_rows_of)(chain(head, text), path)


def _head(lines: Iterable[str]) -> list[str]:
    """The first lines, of so many signs as show what a text is."""
    head: list[str] = []
    for line in lines:
        head.append(line)
        if line.strip() and sum(map(len, head)) >= _HEAD_SIGNS:
            break
    return head


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


def _json_rows(path: Path, held: bool) -> Iterator[Row]:
    with _opened_text(path, "\n", held=held) as text:
        yield from _json_rows_of(text, path)


def _json_rows_of(lines: Iterable[str], path: Path) -> Iterator[Row]:
    """The objects of a list; a file that is no list is JSON lines, as some tools call theirs."""
    lines = iter(lines)
    head = _head(lines)
    begun = "".join(head).lstrip()
    if begun.startswith("["):
        yield from _listed_rows("".join([*head, *lines]), path)
    elif '"eval"' in begun[:_HEAD_SIGNS]:
        whole = [*head, *lines]
        log = _inspect_log("".join(whole))
        yield from _rows_of_lines(whole, path) if log is None else inspect_rows(path, log)
    else:
        yield from _rows_of_lines(chain(head, lines), path)


def _listed_rows(text: str, path: Path) -> list[Row]:
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
        log = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return log if is_inspect_log(log) else None


def _jsonl_rows(path: Path, held: bool) -> Iterator[Row]:
    with _opened_text(path, "\n", held=held) as text:
        yield from _rows_of_lines(text, path)


def _rows_of_lines(lines: Iterable[str], path: Path) -> Iterator[Row]:
    return (_row_of_line(line, number, path) for number, line in enumerate(lines, start=1) if line.strip())


def rows_of_lines(path: Path) -> Iterator[Row | tuple[str, InvalidInputError]]:
    """The rows of a JSON lines file; for a line that is none, what it is called and why."""
    with _opened_text(path, "\n", held=False) as text:
        for number, line in enumerate(text, start=1):
            try:
                if line.strip():
                    yield _row_of_line(line, number, path)
            except InvalidInputError as error:
                yield f"line {number} of {path.name!r}", error


def _row_of_line(line: str, number: int, path: Path) -> Row:
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
    found: Row = row
    return found


def _csv_rows(path: Path, held: bool) -> Iterator[Row]:
    with _opened_text(path, "", held=held) as text:
        yield from _csv_rows_of(text, path)


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    """Python's csv refuses cells of more than 131,072 characters, and long documents are longer."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _csv_rows_of(lines: Iterable[str], path: Path) -> Iterator[Row]:
    read = csv.DictReader(lines, strict=True)
    try:
        with _cells_of_any_length():
            check_columns(read.fieldnames or (), f"the header of {str(path)!r}")
        while True:
            with _cells_of_any_length():
                row = next(read, None)
            if row is None:
                return
            if None in row or None in row.values():
                raise InvalidInputError(
                    f"{str(path)!r} has another number of cells in line {read.line_num} than in its header"
                )
            yield row
    except csv.Error as error:
        raise InvalidInputError(f"{str(path)!r} is not CSV at line {read.reader.line_num}: {error}") from error


def check_columns(names: Iterable[str], where: str) -> None:
    """Check that no column is there twice.

    Raises:
        InvalidInputError: If one is.
    """
    different_keys([(name, None) for name in names], where)


def _parquet_rows(path: Path, held: bool) -> Iterator[Row]:
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


def _eval_rows(path: Path, held: bool) -> Iterator[Row]:  # noqa: ARG001 - as all readers
    yield from inspect_rows(path)


_READERS: Mapping[str, Callable[[Path, bool], Iterator[Row]]] = {
    ".jsonl": _jsonl_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
    ".eval": _eval_rows,
}
