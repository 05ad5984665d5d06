"""Results as files: Parquet with a row per vote, or JSON lines with a line per question; and a folder of such parts.

A part is a saved result of some rows of a run, ``part-000000.parquet`` and so on, whose votes carry the index that
their row has in the whole run. What the headers of the parts say is joined here (:class:`Parts`). No part is opened by
pyarrow before the types of its columns were checked, which a data set of pyarrow's would not do.
"""

from __future__ import annotations

import io
import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Self, overload

import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet
from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError

from evenhand.data.row_files import PARQUET_HEADER, bounded_table, open_parquet, parquet_file
from evenhand.data.rows import saved_kind
from evenhand.errors import EvenhandError, InvalidInputError
from evenhand.files import check_growth, check_layout, check_path, expanded, open_file, read_bytes, written_whole
from evenhand.results.made_by import DIGITS, NOTHING, digest
from evenhand.results.measures import as_json
from evenhand.results.notes import LIMITS
from evenhand.results.vote_columns import (
    CELL,
    PLACES,
    PROMPTS,
    TEXTS,
    TOLD,
    Cell,
    PromptsOfFile,
    abouts_of,
    cells_of,
    check_votes,
    votes_tables,
)
from evenhand.votes import Vote

SUFFIXES = (".parquet", ".jsonl")
PART: Final = "part-*.parquet"
"""The names of the parts of a result that lies in a folder, in their order."""

LAYOUT: Final = 2
MOST_RESAMPLES: Final = 10**6
MOST_DEPTH: Final = 64
"""The deepest nesting of a header; a header that is written here has fewer than 10 levels."""
ALWAYS_HELD: Final = 10**6
"""Rows that a file may have, however small it is; beyond, no more than it has bytes."""
VOTE_BYTES: Final = 2000
"""The size of a vote in memory."""
SHOWN_CHARACTERS: Final = 300


def write(
    path: str | Path,
    kind: str,
    header: Mapping[str, Any],
    cells: Iterable[Cell],
    *,
    rows: int | None = None,
    schema: pyarrow.Schema | None = None,
    first: int = 0,
) -> None:
    """Write a result: Parquet with a row per vote, or JSON lines with a line per question, as the path ends.

    Args:
        path: Ends in ``.parquet`` or ``.jsonl``.
        kind: One of :data:`KINDS`.
        header: The criteria, the parameters and a summary, as plain JSON: the metadata ``evenhand`` of a Parquet file,
            the first line of JSON lines.
        cells: The votes.
        rows: The number of cells, if these are not to be held.
        schema: The columns of a Parquet file, if the cells are not to be held.
        first: The index in the whole run of the row whose index is 0 here.

    Raises:
        InvalidInputError: If the path ends otherwise.
        UnwritableFileError: If it cannot be written.
    """
    parquet = check_suffix(path) == ".parquet"
    if rows is None:
        cells = list(cells)
        rows = len(cells)
    held = _moved(cells, first)
    shown = next(held, None)
    head = {"evenhand": kind, "layout": LAYOUT, "rows": rows, "about": [] if shown is None else list(shown.about)}
    head |= {**({"first": first} if first else {}), **header}
    held = held if shown is None else chain([shown], held)
    with written_whole(path) as temporary:
        if parquet:
            _write_parquet(temporary, head, votes_tables(held, schema))
        else:
            _write_lines(temporary, chain([head], map(line_of, held)))


def _moved(cells: Iterable[Cell], first: int) -> Iterator[Cell]:
    """Yield the cells, with the indices that their rows have in the whole run."""
    for cell in cells:
        yield cell._replace(about={**cell.about, "instance": cell.about["instance"] + first}) if first else cell


def _as_made(cell: Cell, first: int) -> Cell:
    """Return a cell as results make it, which number their rows from 0 and know these by their indices.

    Raises:
        ValueError: If an index is below 0.
    """
    about = {name: value for name, value in cell.about.items() if name != "id"}
    about["instance"] -= first
    if about["instance"] < 0:
        raise ValueError("an index is below 0")
    return cell._replace(about=about)


def line_of(cell: Cell) -> dict[str, Any]:
    """Return a cell as plain JSON, with its votes inside."""
    votes = [vote.model_dump(mode="json", exclude_defaults=True) for vote in cell.votes]
    return {**cell.about, **(cell.verdict or {}), "votes": votes}


def cell_of(line: Mapping[str, Any], about: Iterable[str]) -> Cell:
    """Return the cell that :func:`line_of` wrote.

    Args:
        line: The line that it wrote.
        about: The names of what a cell is about.
    """
    return Cell({name: line[name] for name in about if name in line}, tuple(map(Vote.model_validate, line["votes"])))


def check_suffix(path: str | Path) -> str:
    """Check and return the suffix of a path.

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


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(as_json(line) + "\n" for line in lines)


def _write_parquet(path: Path, header: Mapping[str, Any], tables: Iterator[pyarrow.Table]) -> None:
    first = next(tables)
    schema = first.schema.with_metadata({PARQUET_HEADER: as_json(header).encode()})
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


class Saved(NamedTuple):
    """The contents of a saved file.

    Attributes:
        header: The criteria, the parameters and a summary.
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
    """A header; the tables that are made of it check its other fields."""

    model_config = ConfigDict(extra="allow", strict=True)

    rows: NonNegativeInt
    first: NonNegativeInt = 0
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
"""The errors of Python, pyarrow and pydantic about a file that is not valid."""


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Turn every fault of a file of others into one error with its name.

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


def read(path: str | Path, *, texts: bool = True) -> Saved:
    """Read a saved result.

    Args:
        path: The file.
        texts: Read reasons, replies and prompts of a Parquet file too, which no score needs.

    Raises:
        InvalidInputError: If the file cannot be read, is not a saved result, or is not whole.
    """
    path = expanded(path)
    header = header_of(path)
    with reading(path):
        if _is_parquet(path):
            cells = _parquet_cells(path, header, texts=texts)
        else:
            cells = [_checked_cell(cell_of(line, header["about"])) for line in _lines_after_header(path)]
        cells = [_as_made(cell, header.get("first", 0)) for cell in cells]
        if header["rows"] != len(cells):
            raise ValueError(f"it has {len(cells)} of {header['rows']} rows")
    return Saved(header, cells)


def header_of(path: str | Path) -> dict[str, Any]:
    """Read the header of a saved result.

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


def kind_if_saved(path: str | Path) -> str | None:
    """Return the kind of a saved result; None if the file holds something else.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    return saved_kind(header_if_saved(path))


def header_if_saved(path: str | Path) -> dict[str, Any] | None:
    """Return the header of a saved result; None if the file holds something else.

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
    with open_parquet(path) as parquet:
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


def _parquet_cells(path: Path, header: Mapping[str, Any], *, texts: bool) -> list[Cell]:
    data = read_bytes(path, None)
    file = parquet_file(pyarrow.BufferReader(data), path, texts_once=True)
    check_growth(len(data), VOTE_BYTES * file.metadata.num_rows)
    left_out = {PROMPTS} if texts else {PROMPTS, *TEXTS}
    table = bounded_table(file, len(data), [name for name in file.schema_arrow.names if name not in left_out])
    check_votes(table, header["about"])
    prompts = PromptsOfFile(file, path, len(data)) if texts else repeat(None, len(table))
    return list(cells_of(table, prompts)) if len(table) else []


def read_columns(path: str | Path, names: Collection[str], first: int = 0) -> pyarrow.Table:
    """Read the columns of a saved result in Parquet that it has, and the number of the cell of each row.

    Args:
        path: The file.
        names: The names of the columns.
        first: The number in its header that is subtracted from ``instance``.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    path = expanded(path)
    with reading(path), open_file(path) as opened:
        file = parquet_file(opened, path, texts_once=True)
        table = bounded_table(file, path.stat().st_size, {CELL, *names})
        check_votes(table, ())
        if first and "instance" in table.column_names:
            rows = pc.subtract(table["instance"], first)
            table = table.set_column(table.column_names.index("instance"), "instance", rows)
            check_votes(table, ())
    return table.select([CELL, *(name for name in names if name in table.column_names)])


def schema_of(paths: Iterable[Path], *, verdicts: bool) -> pyarrow.Schema:
    """Return the columns of a file that holds all these Parquet files, with or without the columns of verdicts.

    Raises:
        InvalidInputError: If a file cannot be read.
    """
    schemas = []
    for path in paths:
        with reading(path), open_parquet(path) as file:
            schemas.append(file.schema_arrow.remove_metadata())
    united = pyarrow.unify_schemas(schemas)
    return pyarrow.schema(each for each in united if verdicts or not each.name.startswith(TOLD))


def read_abouts(path: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the header of a saved result in Parquet, and the subject of each cell, without the ids of the rows."""
    header = header_of(path)
    with reading(path):
        names = [name for name in header["about"] if name != "id"]
        return header, abouts_of(read_columns(path, names, header.get("first", 0)))


def _lines_after_header(path: Path) -> Iterator[dict[str, Any]]:
    with io.TextIOWrapper(open_file(path), encoding="utf-8", newline="\n") as file:
        file.readline()
        for line in file:
            if line.strip():
                yield json.loads(line, parse_constant=_refuse_constant)


def _checked_cell(cell: Cell) -> Cell:
    """Return the cell if its numbers are not negative: a negative one would count from the end."""
    numbers = [cell.about.get(name) for name in PLACES]
    numbers += [number for vote in cell.votes for number in (vote.selected_index, vote.sample, *vote.order)]
    if any(isinstance(number, int) and number < 0 for number in numbers):
        raise ValueError("an index is below 0")
    return cell


OF_ROWS: Final = frozenset({"n", "ids", "groups", "fingerprint", "evenhand_version", *LIMITS})
"""The parameters that differ from part to part."""

_OF_RUN: Final = ("evenhand", "about", "systems", "criteria", "criterion", "rubric")
"""The keys of headers that describe the run; the others, but for the parameters, summarize a part."""

OWN_LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "checklist": {"checklists": "checklist"},
    "mode_results": {"criteria": "criterion"},
}
"""Kind of result -> lists of headers that may differ from part to part, and the columns that count their entries."""


class JoinedColumn(Sequence[Any]):
    """A value for each row of all parts, held as Arrow holds it: a million ids take little more than their letters."""

    def __init__(self, parts: Iterable[Sequence[Any]]) -> None:
        """Join the values of the parts, in their order."""
        self._values: pyarrow.ChunkedArray = pyarrow.chunked_array([pyarrow.array(list(each)) for each in parts])

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, row: int) -> Any: ...  # noqa: ANN401 - as the data have it
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...

    def __getitem__(self, row: int | slice) -> Any:
        return self._values[row].to_pylist() if isinstance(row, slice) else self._values[row].as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.to_pylist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as a list

    def twice(self) -> tuple[int, int] | None:
        """Return the places of two equal values; None if there are none."""
        if pc.count_distinct(self._values).as_py() == len(self):
            return None
        known: dict[Any, int] = {}
        pairs = ((known.setdefault(value, place), place) for place, value in enumerate(self))
        return next((pair for pair in pairs if pair[0] != pair[1]), None)


def listed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with lists in the place of joined columns, as files have them."""
    return {
        name: listed(value) if isinstance(value, Mapping) else list(value) if isinstance(value, JoinedColumn) else value
        for name, value in parameters.items()
    }


@dataclass(frozen=True)
class Parts:
    """The files of a result on disk, in the order of their rows, and their common header.

    Attributes:
        folder: The folder of the files.
        paths: The files.
        header: The common header of the files.
        firsts: The number of each part's first row in the result.
        saved_firsts: The number of its first row in its file: greater if a part of the run is missing.
        cells: The number of cells of each part.
    """

    folder: Path
    paths: tuple[Path, ...]
    header: Mapping[str, Any]
    firsts: tuple[int, ...]
    saved_firsts: tuple[int, ...]
    cells: tuple[int, ...]

    @classmethod
    def of(cls, folder: str | Path) -> Self:
        """Read the headers of the parts in a folder.

        Args:
            folder: The folder of the files.

        Raises:
            InvalidInputError: If it holds no parts, parts of two runs, or a file that is not a saved result.
        """
        folder = expanded(folder).absolute()
        found = [(path, header_of(path)) for path in sorted(folder.glob(PART))]
        if not found:
            raise InvalidInputError(
                f"the folder {str(folder)!r} holds no parts of a result ({PART}), as stream_to writes them; give such "
                "a folder, or the file of a saved result"
            )
        found.sort(key=lambda each: each[1].get("first", 0))
        saved_firsts = tuple(header.get("first", 0) for _, header in found)
        paths, headers = zip(*found, strict=True)
        lists: dict[str, list[Any]] = {}
        run: dict[str, Any] = {}
        for path, header in found:
            own = OWN_LISTS.get(header["evenhand"], {}).keys() & header.keys()
            said: dict[str, Any] = {name: header[name] for name in _OF_RUN if name in header and name not in own}
            said["parameters"] = {name: each for name, each in header["parameters"].items() if name not in OF_ROWS}
            run = run or said
            _check_same(run, said, path, paths[0])
            for name in own:
                lists[name] = _united(lists.get(name, []), header[name])
        of_rows = [{name: each for name, each in header["parameters"].items() if name in OF_ROWS} for header in headers]
        parameters = {**joined(of_rows), **run["parameters"]}
        ends = list(accumulate(each["n"] for each in of_rows))
        _check_ids(parameters.get("ids"), ends, paths)
        cells = tuple(header["rows"] for header in headers)
        whole = {**run, "run": headers[0].get("run"), **lists, "rows": sum(cells), "parameters": parameters}
        return cls(folder, paths, whole, (0, *ends[:-1]), saved_firsts, cells)


def _check_same(run: Mapping[str, Any], said: Mapping[str, Any], path: Path, first: Path) -> None:
    for name, value in said.items():
        if run[name] != value:
            other = name
            if name == "parameters":
                other = next(each for each in {**value, **run[name]} if value.get(each) != run[name].get(each))
            raise InvalidInputError(
                f"{str(path)!r} is of another run than {str(first)!r}: they differ in {other!r}; a folder holds the "
                "parts of one run"
            )


def _check_ids(ids: JoinedColumn | None, ends: Sequence[int], paths: Sequence[Path]) -> None:
    """Check that no row is counted twice, as where a part was copied."""
    twice = None if ids is None else ids.twice()
    if ids is not None and twice is not None:
        one, other = (str(paths[bisect_right(ends, place)]) for place in twice)
        raise InvalidInputError(
            f"the row {ids[twice[0]]!r} is in {one!r} and in {other!r}, and would count twice: move one of the two "
            "elsewhere"
        )


def _united(known: list[Any], own: list[Any]) -> list[Any]:
    """Return a list with the entries of another added that it lacks."""
    if known == own:
        return known
    names = {digest(each): each for each in (*known, *own)}
    return list(names.values())


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the parameters of parts that describe their rows, for all rows."""
    first = parts[0]
    found = {**first, "n": sum(each["n"] for each in parts)}
    if "ids" in first:
        found["ids"] = JoinedColumn(each["ids"] for each in parts)
    if "groups" in first:
        found["groups"] = {name: JoinedColumn(each["groups"][name] for each in parts) for name in first["groups"]}
    if "fingerprint" in first:
        found["fingerprint"] = _joined_fingerprint(parts)
    return found


def _joined_fingerprint(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return digits for the judges and prompts, and those of each row one after the other."""
    prints = [each.get("fingerprint", {}) for each in parts]
    shown = dict.fromkeys(name for each in prints for name in each.get("shown", {}))
    said = {name: dict.fromkeys(each[name] for each in prints if name in each) for name in ("judge", "prompts")}
    digits = {name: next(iter(found)) if len(found) == 1 else digest(*found) for name, found in said.items() if found}
    return {
        **digits,
        "shown": {
            name: "".join(
                own.get("shown", {}).get(name, "").ljust(part["n"] * DIGITS, NOTHING[0])
                for own, part in zip(prints, parts, strict=True)
            )
            for name in shown
        },
    }
