"""The votes of a result: in memory, as a Parquet file with a row per vote, and as a folder of such parts.

A part is a saved result of some rows of a run, ``part-000000.parquet`` and so on, whose votes carry the index that
their row has in the whole run (:class:`OnDisk`). pyarrow opens no part before the types of its columns are checked,
which a data set of pyarrow's would not do. JSON lines, with a line per question, are an export.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, chain, compress, islice, repeat
from pathlib import Path
from typing import Annotated, Any, Final, Self

import numpy as np
import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet
from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError

from evenhand.data.rows import PARQUET_HEADER, bounded_table, open_parquet, parquet_file, saved_kind
from evenhand.errors import EvenhandError, InvalidInputError
from evenhand.files import check_growth, check_layout, check_path, expanded, open_file, read_bytes, written_whole
from evenhand.results.made_by import DIGITS, NOTHING, digest
from evenhand.results.measures import as_json
from evenhand.results.notes import LIMITS
from evenhand.results.vote_columns import (
    CELL,
    OF_VOTES,
    PREFIX,
    PROMPTS,
    TEXTS,
    BoolArray,
    Cell,
    PromptsOfFile,
    VoteColumns,
    cells_of,
    check_votes,
    first_rows,
    votes_tables,
)

SUFFIXES = (".parquet", ".jsonl")
PART: Final = "part-*.parquet"
"""The names of the parts of a result that lies in a folder, in their order."""

LAYOUT: Final = 2
MOST_RESAMPLES: Final = 10**6
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
) -> None:
    """Write a result: Parquet with a row per vote, which is read again, or as an export JSON lines, one per question.

    Args:
        path: Ends in ``.parquet`` or ``.jsonl``.
        kind: One of :data:`KINDS`.
        header: The criteria, the parameters and a summary, as plain JSON: the metadata ``evenhand`` of a Parquet file.
        cells: The votes.
        rows: The number of cells, if these are not to be held.
        schema: The columns of a Parquet file, if the cells are not to be held.

    Raises:
        InvalidInputError: If the path ends otherwise.
        UnwritableFileError: If it cannot be written.
    """
    if check_suffix(path) == ".jsonl":
        with written_whole(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            file.writelines(as_json(line_of(cell)) + "\n" for cell in cells)
        return
    if rows is None:
        cells = list(cells)
        rows = len(cells)
    held = iter(cells)
    first = list(islice(held, 1))
    head = {"evenhand": kind, "layout": LAYOUT, "rows": rows, "about": [name for each in first for name in each.about]}
    tables = votes_tables(chain(first, held), schema)
    table = next(tables)
    schema = table.schema.with_metadata({PARQUET_HEADER: as_json({**head, **header}).encode()})
    with (
        written_whole(path) as temporary,
        pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as writer,
    ):
        for each in chain([table], tables):
            writer.write_table(each)


def line_of(cell: Cell, *, prompts: bool = True) -> dict[str, Any]:
    """Return a cell as plain JSON, with its votes inside, with or without the prompts that were sent."""
    left_out = None if prompts else {"prompts"}
    votes = [vote.model_dump(mode="json", exclude_defaults=True, exclude=left_out) for vote in cell.votes]
    return {**cell.about, **(cell.verdict or {}), "votes": votes}


def check_suffix(path: str | Path) -> str:
    """Check and return the suffix of a path.

    Raises:
        InvalidInputError: If results are not saved so.
    """
    suffix = check_path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInputError(
            f"{str(path)!r} ends in {Path(path).suffix!r}; "
            "a result is saved as Parquet (.parquet), or exported as JSON lines (.jsonl)"
        )
    return suffix


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


FAULTS: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError)
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
        reason = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
        reason = " ".join((reason or f"{type(error).__name__}: {error}").split())[:SHOWN_CHARACTERS]
        raise InvalidInputError(
            f"{name} is not a saved result, or not a whole one ({reason}); save it again"
        ) from error


def read(path: str | Path, *, texts: bool = True) -> tuple[dict[str, Any], list[Cell]]:
    """Read the header and the votes of a saved result, whose rows are numbered from 0.

    Args:
        path: The file.
        texts: Read reasons, replies and prompts too, which no score needs.

    Raises:
        InvalidInputError: If the file cannot be read, is not a saved result, or is not whole.
    """
    path = expanded(path)
    header = header_of(path)
    with reading(path):
        data = read_bytes(path, None)
        file = parquet_file(pyarrow.BufferReader(data), path, texts_once=True)
        check_growth(len(data), VOTE_BYTES * file.metadata.num_rows)
        left_out = {"id", PROMPTS} if texts else {"id", PROMPTS, *TEXTS}
        names = [name for name in file.schema_arrow.names if name not in left_out]
        table = _checked_table(file, len(data), names, header)
        prompts = PromptsOfFile(file, path, len(data)) if texts else repeat(None, len(table))
        cells = list(cells_of(table, prompts)) if len(table) else []
        if header["rows"] != len(cells):
            raise ValueError(f"it has {len(cells)} of {header['rows']} rows")
    return header, cells


def read_columns(path: str | Path, names: Collection[str], header: Mapping[str, Any]) -> pyarrow.Table:
    """Read the columns of a saved result that it has, and the number of the cell of each row.

    Args:
        path: The file.
        names: The names of the columns.
        header: The number of its first row (``first``), which is subtracted from ``instance``, and the names of the
            columns that must be there (``about``).

    Raises:
        InvalidInputError: If it cannot be read.
    """
    path = expanded(path)
    with reading(path), open_file(path) as opened:
        file = parquet_file(opened, path, texts_once=True)
        table = _checked_table(file, path.stat().st_size, {CELL, *names}, header)
    return table.select([CELL, *(name for name in names if name in table.column_names)])


def _checked_table(
    file: pyarrow.parquet.ParquetFile, size: int, names: Collection[str], header: Mapping[str, Any]
) -> pyarrow.Table:
    """Read columns, with rows numbered from 0."""
    table = bounded_table(file, size, names)
    check_votes(table, [name for name in header.get("about", ()) if name != "id"])
    if header.get("first") and "instance" in table.column_names:
        rows = pc.subtract(table["instance"], header["first"])
        if (pc.min(rows).as_py() or 0) < 0:
            raise ValueError("an index is below 0")
        table = table.set_column(table.column_names.index("instance"), "instance", rows)
    return table


def header_of(path: str | Path) -> dict[str, Any]:
    """Read the header of a saved result.

    Raises:
        InvalidInputError: If it cannot be read, or holds no result.
    """
    header = header_if_saved(path)
    if header is None:
        raise InvalidInputError(
            f"{str(expanded(path))!r} is not a saved result of evenhand, or not a whole one: "
            "results.save('results.parquet') writes one; JSON lines are an export, which is not read again"
        )
    return header


def header_if_saved(path: str | Path) -> dict[str, Any] | None:
    """Return the header of a saved result; None if the file holds something else.

    Raises:
        InvalidInputError: If it cannot be read, or its header is not one that is written here.
    """
    path = expanded(path)
    with reading(path):
        if path.is_dir():
            path = min(path.glob(PART), default=path)
        with open_file(path) as file:
            if file.read(4) != b"PAR1":
                return None
        with open_parquet(path) as parquet:
            text = (parquet.schema_arrow.metadata or {}).get(PARQUET_HEADER)
        try:
            header = None if text is None else json.loads(text, parse_constant=_refuse_constant)
        except ValueError:
            return None
        if header is None or saved_kind(header) is None:
            return None
        check_layout(path, "a saved result", header.get("layout"), LAYOUT)
        checked = _Header.model_validate(header)
        size = path.stat().st_size
        if max(checked.rows, checked.parameters.n or 0) > max(ALWAYS_HELD, size):
            raise ValueError(f"a file of {size} bytes does not hold the rows that its header counts")
        return dict(header)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


OF_ROWS: Final = frozenset({"n", "ids", "groups", "fingerprint", "evenhand_version", *LIMITS})
"""The parameters that differ from part to part."""

_JUDGED: Final = ("systems", "criteria", "criterion", "rubric", "checklists")
"""The keys of headers that say what was judged."""

_OWN_LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "checklist": {"checklists": "checklist"},
    "mode_results": {"criteria": "criterion"},
}
"""Kind of result -> lists of headers that may differ from part to part, and the columns that count their entries."""

_LONGEST: Final = 200
"""The most characters of a value in a message."""


def run_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the headers of all parts of a run have in common: what was judged and how, by name."""
    found = header["parameters"]
    by_row = found.get("checklist_field") or found.get("rubric_field")
    own = _OWN_LISTS.get(header["evenhand"], {}) if by_row else {}
    common = {
        "kind of result": header["evenhand"],
        **{name: header[name] for name in _JUDGED if name in header and name not in own},
        **{name: value for name, value in found.items() if name not in {*OF_ROWS, "grid", "flow"}},
        **found.get("grid", {}),
        **found.get("flow", {}),
    }
    return {name: value for name, value in common.items() if name != "include_prompts_in_result"}


def difference_of(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """Say what differs between two runs, as :func:`run_of` describes them; None if nothing does."""
    for name in {**here, **there}:
        if there.get(name) != here.get(name):
            values = [repr(each.get(name)) for each in (there, here)]
            one, other = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in values)
            return f"{name} is {one} there and {other} here"
    return None


@dataclass(frozen=True)
class InMemory:
    """Votes that are held in memory.

    Attributes:
        held: The votes on each question.
    """

    held: tuple[Cell, ...]

    def cells(self, *, texts: bool = True) -> Iterator[Cell]:  # noqa: ARG002 - texts are held anyway
        """Give the votes on each question."""
        return iter(self.held)

    def abouts(self) -> Iterator[Mapping[str, Any]]:
        """Give what each cell is about."""
        return (cell.about for cell in self.held)

    def only(self, stays: Sequence[bool]) -> Self:
        """Return the votes of some of the cells."""
        return replace(self, held=tuple(compress(self.held, stays)))

    def vote_columns(self) -> VoteColumns:
        """Return every vote, as far as measures need it."""
        return VoteColumns.of([cell.votes for cell in self.held])

    def schema(self, *, verdicts: bool = True) -> None:
        """None: the columns are known when the cells are written."""

    def __len__(self) -> int:
        return len(self.held)


@dataclass(frozen=True)
class OnDisk:
    """Votes in the parts of a folder, in the order of their rows. A walk holds one part at a time.

    Attributes:
        paths: The parts.
        header: Their common header.
        firsts: The number of each part's first row in the result.
        saved_firsts: The number of its first row in its file: greater if a part of the run is missing.
        sizes: The number of cells of each part.
        kept: The cells of each part that are left; None if all are.
    """

    paths: tuple[Path, ...]
    header: Mapping[str, Any]
    firsts: tuple[int, ...]
    saved_firsts: tuple[int, ...]
    sizes: tuple[int, ...]
    kept: tuple[BoolArray, ...] | None = None

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
        paths, headers = zip(*found, strict=True)
        first, lists = headers[0], {}
        for path, header in found:
            if difference := difference_of(run_of(first), run_of(header)):
                raise InvalidInputError(
                    f"{str(path)!r} is of another run than {str(paths[0])!r}: {difference}; a folder holds the "
                    "parts of one run"
                )
        for name in _OWN_LISTS.get(first["evenhand"], {}).keys() & first.keys():
            lists[name] = list({digest(each): each for header in headers for each in header[name]}.values())
        parameters = {**first["parameters"], **joined([header["parameters"] for header in headers])}
        ends = list(accumulate(header["parameters"]["n"] for header in headers))
        _check_ids(parameters.get("ids", ()), ends, paths)
        sizes = tuple(header["rows"] for header in headers)
        whole = {**first, **lists, "rows": sum(sizes), "parameters": parameters}
        return cls(paths, whole, (0, *ends[:-1]), tuple(header.get("first", 0) for header in headers), sizes)

    @property
    def numbers(self) -> Sequence[int]:
        """The parts that still have cells."""
        return [number for number in range(len(self.paths)) if self.kept is None or self.kept[number].any()]

    def parts(self, *, texts: bool = True) -> Iterator[InMemory]:
        """Give the votes part by part, with rows numbered as in the whole run.

        Args:
            texts: Read reasons and replies, which no score needs.

        Raises:
            InvalidInputError: If a part cannot be read.
        """
        for number in self.numbers:
            with reading(self.paths[number]):
                header, cells = read(self.paths[number], texts=texts)
            left = cells if self.kept is None else compress(cells, self.kept[number])
            yield InMemory(tuple(cell._replace(about=self._placed(number, header, cell.about)) for cell in left))

    def _placed(self, number: int, header: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a cell is about, with the numbers of its row and of its criterion in the whole run."""
        found = {**about, "instance": about["instance"] + self.firsts[number]}
        for name, column in _OWN_LISTS.get(self.header["evenhand"], {}).items():
            if column in about and header.get(name) != self.header.get(name):
                found[column] = self.header[name].index(header[name][about[column]])
        return found

    def cells(self, *, texts: bool = True) -> Iterator[Cell]:
        """Give the votes on each question."""
        for part in self.parts(texts=texts):
            yield from part.held

    def abouts(self) -> Iterator[dict[str, Any]]:
        """Give what each cell is about; no vote is read."""
        for number in self.numbers:
            path = self.paths[number]
            header = header_of(path)
            with reading(path):
                columns = read_columns(path, [name for name in header["about"] if name != "id"], header)
                abouts = first_rows(columns).drop_columns([CELL]).to_pylist()
            for about in abouts if self.kept is None else compress(abouts, self.kept[number]):
                yield self._placed(number, header, about)

    def columns(self, number: int, names: Collection[str]) -> pyarrow.Table:
        """Return columns of one part, with all its cells, whose rows are counted from 0."""
        return read_columns(self.paths[number], names, {"first": self.saved_firsts[number]})

    def only(self, stays: Sequence[bool]) -> Self:
        """Return the votes of some of the cells.

        Args:
            stays: For each of :meth:`abouts`, whether it stays.
        """
        left = iter(stays)
        masks = []
        for number, size in enumerate(self.sizes):
            mask = np.ones(size, dtype=bool) if self.kept is None else self.kept[number].copy()
            mask[mask] = list(islice(left, int(mask.sum())))
            masks.append(mask)
        return replace(self, kept=tuple(masks))

    def vote_columns(self) -> VoteColumns:
        """Return every vote, as far as measures need it."""
        found = []
        for number in self.numbers:
            votes = VoteColumns.of_table(self.columns(number, OF_VOTES))
            found.append(votes if self.kept is None else votes.only(self.kept[number]))
        return VoteColumns.joined(found)

    def schema(self, *, verdicts: bool = True) -> pyarrow.Schema:
        """Return the columns of a file that holds all parts, with or without the columns of verdicts."""
        schemas = []
        for path in self.paths:
            with reading(path), open_parquet(path) as file:
                schemas.append(file.schema_arrow.remove_metadata())
        united = pyarrow.unify_schemas(schemas)
        return pyarrow.schema(each for each in united if verdicts or not each.name.startswith(PREFIX))

    def __len__(self) -> int:
        return sum(self.sizes) if self.kept is None else sum(int(each.sum()) for each in self.kept)


def _check_ids(ids: Sequence[str], ends: Sequence[int], paths: Sequence[Path]) -> None:
    """Check that no row is counted twice, as where a part was copied."""
    if len(set(ids)) < len(ids):
        places: dict[str, int] = {}
        twice = next(place for place, name in enumerate(ids) if places.setdefault(name, place) != place)
        one, other = (str(paths[bisect_right(ends, place)]) for place in (places[ids[twice]], twice))
        raise InvalidInputError(
            f"the row {ids[twice]!r} is in {one!r} and in {other!r}, and would count twice: move one of the two "
            "elsewhere"
        )


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the parameters of parts that describe their rows, for all rows."""
    first = parts[0]
    found: dict[str, Any] = {"n": sum(each["n"] for each in parts)}
    if "ids" in first:
        found["ids"] = [name for each in parts for name in each["ids"]]
    if "groups" in first:
        found["groups"] = {name: [own for each in parts for own in each["groups"][name]] for name in first["groups"]}
    if "fingerprint" in first:
        prints = [each.get("fingerprint", {}) for each in parts]
        digits = {name: dict.fromkeys(each[name] for each in prints if name in each) for name in ("judge", "prompts")}
        found["fingerprint"] = {
            **{name: next(iter(own)) if len(own) == 1 else digest(*own) for name, own in digits.items() if own},
            "shown": {
                name: "".join(
                    own.get("shown", {}).get(name, "").ljust(part["n"] * DIGITS, NOTHING[0])
                    for own, part in zip(prints, parts, strict=True)
                )
                for name in dict.fromkeys(name for each in prints for name in each.get("shown", {}))
            },
        }
    return found


Stored = InMemory | OnDisk
