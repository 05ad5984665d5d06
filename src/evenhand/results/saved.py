"""Results as files: Parquet with a row per vote, or JSON lines with a line per question."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError

from evenhand.data.arrow_files import PARQUET_HEADER, bounded_table, opened_parquet, parquet_file
from evenhand.data.rows import KINDS, SavedKind, saved_kind
from evenhand.errors import EvenhandError, InvalidInputError, UnwritableFileError
from evenhand.files import cache_folder, check_growth, check_layout, expanded, open_file, read_bytes
from evenhand.results.measures import as_json
from evenhand.results.votes_columns import (
    CELL,
    PLACES,
    PROMPTS,
    TEXTS,
    Cell,
    PromptsOfFile,
    abouts_of,
    cells_of,
    check_votes,
    votes_tables,
)
from evenhand.votes import Vote

if TYPE_CHECKING:
    import pyarrow

SUFFIXES = (".parquet", ".jsonl")
PART: Final = "part-*.parquet"
"""The names of the parts of a result that lies in a folder, in their order."""

LAYOUT: Final = 2
MOST_RESAMPLES: Final = 10**6
MOST_DEPTH: Final = 64
"""Of a header; what is written here has fewer than 10."""
ALWAYS_HELD: Final = 10**6
"""Rows that a file may have, however small it is; beyond, no more than it has bytes."""
VOTE_BYTES: Final = 2000
"""Of a vote in memory."""
SHOWN_CHARACTERS: Final = 300


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
    beside = target.with_name(f".{target.name}.{token_hex(8)}")
    try:
        _create(beside)
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


def _create(path: Path) -> None:
    """Make a file that was not there, and that is not a link."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666))


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
        cells: The votes.
    """

    header: dict[str, Any]
    cells: list[Cell]


class _Parameters(BaseModel):
    """The parameters in a header that decide how much is computed or held."""

    model_config = ConfigDict(extra="allow", strict=True)

    n: NonNegativeInt | None = None
    ids: list[str] | None = None
    groups: dict[str, list[JsonValue]] = Field(default_factory=dict)
    fingerprint: dict[str, JsonValue] = Field(default_factory=dict)
    resamples: Annotated[int, Field(ge=0, le=MOST_RESAMPLES)] = 0


class _Header(BaseModel):
    """A header; what else it holds is checked by the tables that are made of it."""

    model_config = ConfigDict(extra="allow", strict=True)

    rows: NonNegativeInt
    about: list[str]
    parameters: _Parameters


FAULTS: Final = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    RecursionError,
    MemoryError,
)
"""What Python, pyarrow and pydantic raise of a file that does not hold what it promises."""


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """The border at which files of others are read: whatever is wrong with one is one error, with its name.

    Raises:
        InvalidInputError: If the file cannot be read, or does not hold what it promises.
    """
    name = repr(str(path))
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{name} cannot be read ({error.strerror or error})") from error
    except EvenhandError as error:
        if str(path) in str(error):
            raise
        raise InvalidInputError(f"{name} cannot be used: {error}") from error
    except FAULTS as error:
        wrong = error.errors(include_url=False, include_input=False)[:3] if isinstance(error, ValidationError) else ()
        told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
        told = " ".join((told or f"{type(error).__name__}: {error}").split())[:SHOWN_CHARACTERS]
        raise InvalidInputError(
            f"{name} is not a saved result, or not a whole one ({told}); save it again from what it was made of"
        ) from error


def read(path: str | Path, kind: str, *, texts: bool = True, row: int | None = None) -> Saved:
    """What a saved result holds.

    Args:
        path: The file.
        kind: What it must be: one of :data:`KINDS`.
        texts: Read reasons, replies and prompts of a Parquet file too, of which no score is made.
        row: The only row of the data whose cells are read, without texts; all by default.

    Raises:
        InvalidInputError: If the file cannot be read, is not a saved result, or is not whole.
    """
    path = expanded(path)
    header = header_of(path)
    held = KINDS[header["evenhand"]]
    if header["evenhand"] != kind:
        raise InvalidInputError(
            f"{str(path)!r} is not a saved table of {kind}: it holds {held.holds}, which {held.class_name}.load reads"
        )
    with reading(path):
        if _is_parquet(path):
            cells = _parquet_cells(path, header, texts=texts, row=row)
        else:
            cells = [_checked_cell(cell_of(line, header["about"])) for line in _lines_after_header(path)]
        if row is None and header["rows"] != len(cells):
            raise ValueError(f"it has {len(cells)} of {header['rows']} rows")
    return Saved(header, cells)


def header_of(path: str | Path) -> dict[str, Any]:
    """What a saved result says before its votes.

    Raises:
        InvalidInputError: If it cannot be read, or holds no result.
    """
    header = header_if_saved(path)
    if header is None:
        raise InvalidInputError(
            f"{str(expanded(path))!r} is not a saved result of evenhand, or not a whole one; the save of a result "
            "writes one, as Parquet or JSON lines"
        )
    return header


def kind_if_saved(path: str | Path) -> SavedKind | None:
    """What kind of result a file holds; None where it holds something else.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    return saved_kind(header_if_saved(path))


def header_if_saved(path: str | Path) -> dict[str, Any] | None:
    """What a saved result says before its votes; None where the file holds something else.

    Raises:
        InvalidInputError: If it cannot be read, or its header is not one that is written here.
    """
    path = expanded(path)
    with reading(path):
        if path.is_dir():
            path = min(path.glob(PART), default=path)
        text = _header_text(path)
        if text is None:
            return None
        try:
            header = json.loads(text, parse_constant=_refuse_constant)
        except ValueError:
            return None
        if saved_kind(header) is None:
            return None
        check_layout(path, "a saved result", header.get("layout"), LAYOUT)
        _check_depth(header)
        said = _Header.model_validate(header)
        most = max(ALWAYS_HELD, path.stat().st_size)
        if max(said.rows, said.parameters.n or 0) > most:
            raise ValueError(f"a file of {path.stat().st_size} bytes does not hold so many rows")
        return dict(header)


def _header_text(path: Path) -> bytes | None:
    if not _is_parquet(path):
        with open_file(path) as file:
            return file.readline()
    with opened_parquet(path) as parquet:
        return (parquet.schema_arrow.metadata or {}).get(PARQUET_HEADER)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _check_depth(value: Any) -> None:  # noqa: ANN401 - JSON
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ValueError(f"its header is nested deeper than {MOST_DEPTH} levels")
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [item for each in inner for item in each if isinstance(item, dict | list)]


def _is_parquet(path: Path) -> bool:
    with open_file(path) as file:
        return file.read(4) == b"PAR1"


def _parquet_cells(path: Path, header: Mapping[str, Any], *, texts: bool, row: int | None) -> list[Cell]:
    import pyarrow.compute  # noqa: PLC0415 - half a second of import that only this needs

    data = read_bytes(path, None)
    file = parquet_file(pyarrow.BufferReader(data), path, texts_once=True)
    check_growth(len(data), VOTE_BYTES * file.metadata.num_rows)
    left_out = {PROMPTS} if texts else {PROMPTS, *TEXTS}
    table = bounded_table(file, len(data), [name for name in file.schema_arrow.names if name not in left_out])
    check_votes(table, header["about"])
    if row is not None:
        table = table.filter(pyarrow.compute.equal(table.column("instance"), row))
    prompts = PromptsOfFile(file, path, len(data)) if texts else repeat(None, len(table))
    return list(cells_of(table, prompts)) if len(table) else []


def read_columns(path: str | Path, names: Collection[str]) -> pyarrow.Table:
    """Some columns of a saved result in Parquet, and the number of the cell of each row; those that it lacks are not.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    path = expanded(path)
    with reading(path), open_file(path) as opened:
        file = parquet_file(opened, path, texts_once=True)
        table = bounded_table(file, path.stat().st_size, {CELL, *names})
        check_votes(table, ())
    return table.select([CELL, *(name for name in names if name in table.column_names)])


def read_schema(path: str | Path) -> pyarrow.Schema:
    """The columns of a saved result in Parquet.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    with reading(path), opened_parquet(expanded(path)) as file:
        return file.schema_arrow.remove_metadata()


def read_abouts(path: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header of a saved result in Parquet, and what each of its cells is about, but for the ids of the rows."""
    header = header_of(path)
    with reading(path):
        return header, abouts_of(read_columns(path, [name for name in header["about"] if name != "id"]))


def _lines_after_header(path: Path) -> Iterator[dict[str, Any]]:
    with io.TextIOWrapper(open_file(path), encoding="utf-8", newline="\n") as file:
        file.readline()
        for line in file:
            if line.strip():
                yield json.loads(line, parse_constant=_refuse_constant)


def _checked_cell(cell: Cell) -> Cell:
    """A cell whose numbers count from 0: one below would count from the end."""
    numbers = [cell.about.get(name) for name in PLACES]
    numbers += [number for vote in cell.votes for number in (vote.selected_index, vote.sample, *vote.order)]
    if any(isinstance(number, int) and number < 0 for number in numbers):
        raise ValueError("an index is below 0")
    return cell
