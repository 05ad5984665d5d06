"""Results as files: Parquet with a row per vote, or JSON lines with a line per question; and what was saved before."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evenhand.data.row_files import PARQUET_HEADER
from evenhand.data.rows import KINDS, SavedKind, saved_kind
from evenhand.errors import InvalidInputError, UnwritableFileError
from evenhand.files import cache_folder, expanded, open_file
from evenhand.results.measures import as_json
from evenhand.results.votes_columns import CELL, PROMPTS, TEXTS, Cell, PromptsOfFile, abouts_of, cells_of, votes_tables
from evenhand.votes import Vote

if TYPE_CHECKING:
    import pyarrow

SUFFIXES = (".parquet", ".jsonl")
PART: Final = "part-*.parquet"
"""The names of the parts of a result that lies in a folder, in their order."""

LAYOUT: Final = 2
"""Of the rows: a cell each. Before, they were whatever the table held."""


def write(
    path: str | Path,
    kind: str,
    header: Mapping[str, Any],
    cells: Iterable[Cell],
    *,
    rows: int | None = None,
    schema: pyarrow.Schema | None = None,
) -> None:
    """Write a result: Parquet with a row per vote, or JSON lines with a line per question, as the path ends.

    Args:
        path: Ends in ``.parquet`` or ``.jsonl``.
        kind: One of :data:`KINDS`.
        header: What was judged, how, and what it came to, as plain JSON: the metadata ``evenhand`` of a Parquet file,
            the first line of JSON lines.
        cells: The votes.
        rows: How many cells there are, where these are not to be held.
        schema: The columns of a Parquet file, likewise.

    Raises:
        InvalidInputError: If the path ends otherwise.
        UnwritableFileError: If it cannot be written.
    """
    parquet = check_suffix(path) == ".parquet"
    if rows is None:
        cells = list(cells)
        rows = len(cells)
    cells = iter(cells)
    first = next(cells, None)
    about = [] if first is None else list(first.about)
    held = chain(() if first is None else (first,), cells)
    head = {"evenhand": kind, "layout": LAYOUT, "rows": rows, "about": about, **header}
    with written_whole(path) as beside:
        if parquet:
            _write_parquet(beside, head, votes_tables(held, schema))
        else:
            _write_lines(beside, chain([head], map(line_of, held)))


def line_of(cell: Cell) -> dict[str, Any]:
    """A cell as plain JSON, with its votes inside."""
    votes = [vote.model_dump(mode="json", exclude_defaults=True) for vote in cell.votes]
    return {**cell.about, **cell.verdict, "votes": votes}


def cell_of(line: Mapping[str, Any], about: Iterable[str]) -> Cell:
    """The cell that :func:`line_of` wrote.

    Args:
        line: What it wrote.
        about: The names of what a cell is about.
    """
    return Cell({name: line[name] for name in about if name in line}, tuple(map(Vote.model_validate, line["votes"])))


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A place beside a path, whose file is moved to it when all is written: until then, what was there stays.

    A link leads to the file that is replaced, and a file that was there keeps its permissions.

    Raises:
        InvalidInputError: If no file can have this name.
        UnwritableFileError: If the file cannot be written, as on a full disk.
    """
    path = check_path(path)
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        try:
            yield beside
            if target.is_relative_to(os.path.realpath(cache_folder())):  # as the journal: for this user alone
                beside.chmod(0o600)
            elif target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise UnwritableFileError(
            f"{str(path)!r} cannot be written ({error.strerror or error}), and what was there is as it was; mend that, "
            "or give another path"
        ) from error


def check_path(path: str | Path) -> Path:
    """A path, if it is one.

    Raises:
        InvalidInputError: If no file can have this name.
    """
    given: object = path
    if not isinstance(given, (str, Path)) or not str(given) or "\0" in str(given):
        raise InvalidInputError(f"{path!r} is no path of a file; give a text or a pathlib.Path")
    return Path(path)


def check_suffix(path: str | Path) -> str:
    """How a path ends.

    Raises:
        InvalidInputError: If results are not saved so.
    """
    suffix = check_path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInputError(
            f"{str(path)!r} ends in {Path(path).suffix!r}; "
            "a result is saved as Parquet (.parquet) or JSON lines (.jsonl)"
        )
    return suffix


def check_ending(path: str | Path, accepted: Collection[str]) -> str:
    """How a path ends, if what is written can end so.

    Raises:
        InvalidInputError: If its ending says none of the formats accepted.
    """
    suffix = check_path(path).suffix.lower()
    if suffix not in accepted:
        raise InvalidInputError(
            f"{str(path)!r} ends in {Path(path).suffix!r}. Accepted: {', '.join(map(repr, accepted))}"
        )
    return suffix


def write_as_it_ends(path: str | Path, written: Mapping[str, Callable[[], str]]) -> None:
    """Write a text in the format that the path's ending says.

    Args:
        path: The file.
        written: Ending -> what makes the text.

    Raises:
        InvalidInputError: If the name ends otherwise.
        UnwritableFileError: If the file cannot be written.
    """
    text = written[check_ending(path, written)]
    with written_whole(path) as beside:
        beside.write_text(text() + "\n", encoding="utf-8")


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(as_json(line) + "\n" for line in lines)


def _write_parquet(path: Path, header: Mapping[str, Any], tables: Iterator[pyarrow.Table]) -> None:
    import pyarrow.parquet  # noqa: PLC0415 - half a second of import that only this needs

    first = next(tables)
    schema = first.schema.with_metadata({PARQUET_HEADER: as_json(header).encode()})
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


class Saved(NamedTuple):
    """What a file holds.

    Attributes:
        header: What was judged, how, and what it came to.
        cells: The votes; None in a file from before there were cells.
        rows: The rows of such a file.
    """

    header: dict[str, Any]
    cells: list[Cell] | None
    rows: list[dict[str, Any]]


def read(path: str | Path, kind: str, *, texts: bool = True, row: int | None = None) -> Saved:
    """What a saved result holds.

    Args:
        path: The file.
        kind: What it must be: one of :data:`KINDS`.
        texts: Read reasons, replies and prompts of a Parquet file too, of which no score is made.
        row: The only row of the data whose cells are read, without texts; all by default.

    Raises:
        InvalidInputError: If the file cannot be read, is no saved result, or is not whole.
    """
    path = expanded(path)
    try:
        saved = _read_parquet(path, texts=texts, row=row) if _is_parquet(path) else _read_lines(path)
        held = saved.rows if saved.cells is None else saved.cells
        other = saved_kind(saved.header)
        if other is None or (row is None and saved.header["rows"] != len(held)):
            raise KeyError(kind)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    except (ValueError, LookupError, TypeError) as error:
        writer = KINDS[kind].class_name
        raise InvalidInputError(
            f"{str(path)!r} is not a saved table of {kind}, or not a whole one; {writer}.save writes one"
        ) from error
    if saved.header["evenhand"] != kind:
        raise InvalidInputError(
            f"{str(path)!r} is not a saved table of {kind}: it holds {other.holds}, which {other.class_name}.load reads"
        )
    return saved


def kind_of_file(path: str | Path) -> SavedKind:
    """What kind of result a file holds.

    Raises:
        InvalidInputError: If it cannot be read, or holds no result.
    """
    return KINDS[header_of(path)["evenhand"]]


def header_of(path: str | Path) -> dict[str, Any]:
    """What a saved result says before its votes.

    Raises:
        InvalidInputError: If it cannot be read, or holds no result.
    """
    header = header_if_saved(path)
    if header is None:
        raise InvalidInputError(
            f"{str(expanded(path))!r} is no saved result of evenhand; the save of a result writes one, as Parquet or "
            "JSON lines"
        )
    return header


def open_results(path: str | Path) -> Any:  # noqa: ANN401 - a result of any kind
    """The result that a file holds, of whatever kind: what the ``save`` of any result wrote.

    A folder of parts, as ``stream_to`` writes them, is a result too: it stays on disk, and what its scores need is read
    when they are asked for.

    Raises:
        InvalidInputError: If the file cannot be read, or holds no result.
    """
    return getattr(import_module("evenhand"), kind_of_file(check_path(path)).class_name).load(path)


def kind_if_saved(path: str | Path) -> SavedKind | None:
    """What kind of result a file holds; None where it holds something else.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    return saved_kind(header_if_saved(path))


def header_if_saved(path: str | Path) -> dict[str, Any] | None:
    """What a saved result says before its votes; None where the file holds something else.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    path = expanded(path)
    try:
        if path.is_dir():
            path = min(path.glob(PART), default=path)
        if _is_parquet(path):
            import pyarrow.parquet  # noqa: PLC0415 - as above

            header = json.loads((pyarrow.parquet.read_schema(path).metadata or {})[PARQUET_HEADER])
        else:
            with open_file(path) as file:
                header = json.loads(file.readline())
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    except (ValueError, LookupError):
        return None
    return None if saved_kind(header) is None else dict(header)


def _is_parquet(path: Path) -> bool:
    with open_file(path) as file:
        return file.read(4) == b"PAR1"


def _read_parquet(path: Path, *, texts: bool, row: int | None) -> Saved:
    import pyarrow.compute  # noqa: PLC0415 - as above
    import pyarrow.parquet  # noqa: PLC0415 - as above

    file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(path.read_bytes()))
    left_out = {PROMPTS} if texts else {PROMPTS, *TEXTS}
    table = file.read([name for name in file.schema_arrow.names if name not in left_out])
    header = json.loads((table.schema.metadata or {})[PARQUET_HEADER])
    if row is not None:
        table = table.filter(pyarrow.compute.equal(table.column("instance"), row))
    prompts = PromptsOfFile(file) if texts else repeat(None, len(table))
    return Saved(header, list(cells_of(table, prompts)) if len(table) else [], [])


def read_columns(path: str | Path, names: Collection[str]) -> pyarrow.Table:
    """Some columns of a saved result in Parquet, and the number of the cell of each row; those that it lacks are not.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    import pyarrow.parquet  # noqa: PLC0415 - as above

    try:
        with pyarrow.parquet.ParquetFile(expanded(path), memory_map=False) as file:
            held = set(file.schema_arrow.names)
            return file.read([CELL, *(name for name in names if name in held)], use_threads=False)
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error})") from error


def read_abouts(path: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header of a saved result in Parquet, and what each of its cells is about, but for the ids of the rows."""
    header = header_of(path)
    return header, abouts_of(read_columns(path, [name for name in header["about"] if name != "id"]))


def _read_lines(path: Path) -> Saved:
    with path.open(encoding="utf-8", newline="\n") as file:
        lines = (json.loads(line) for line in file if line.strip())
        header: Any = next(lines, None)
        if saved_kind(header) is None or header.get("layout") != LAYOUT:
            return Saved(header, None, list(lines))
        return Saved(header, [cell_of(row, header["about"]) for row in lines], [])
