"""The parts of a result as the run that writes them sees them: which rows they hold, and which of these lack votes.

Each part is a whole saved result, written at once or not at all. Whatever ends a run, what is in the parts holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from filelock import FileLock, Timeout

from evenhand.errors import InvalidInputError
from evenhand.results.measures import as_json
from evenhand.results.results import Results
from evenhand.results.saved import OF_ROWS, header_of, read_columns
from evenhand.results.vote_columns import Cell

RUN_FILE: Final = "run.yaml"
NOT_JUDGED: Final = ("budget", "engine_error", "offline")
"""Why a vote is missing that the next run asks for again."""

DIGITS: Final = 16
"""Of what a row held."""

_NAME: Final = re.compile(r"part-(\d{6,})\.parquet")


class RowsOfPart(NamedTuple):
    """Which rows a part holds.

    Attributes:
        number: Of the part.
        ids: Of its rows, in their order.
        contents: Digits for what each row held when it was judged.
        not_judged: The ids of those of which a vote failed, or was not asked for.
        votes: How many votes there are on the others.
        first: The index of its first row in the whole run.
    """

    number: int
    ids: Sequence[str]
    contents: Sequence[str]
    not_judged: frozenset[str]
    votes: int
    first: int


def part_path(folder: Path, number: int) -> Path:
    """Where a part lies, or will."""
    return folder / f"part-{number:06}.parquet"


def part_numbers(folder: Path) -> list[int]:
    """Those of the parts in a folder.

    Raises:
        InvalidInputError: If it is no folder, or holds something else and no part.
    """
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise InvalidInputError(f"stream_to is {str(folder)!r}, which is no folder; give one that is new or empty")
    names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    found = [_NAME.fullmatch(name) for name in names]
    if names and not any(found) and RUN_FILE not in names:
        raise InvalidInputError(
            f"stream_to is {str(folder)!r}, which holds {names[0]!r} and no part of a result: give a folder that is "
            "new or empty"
        )
    return sorted(int(each[1]) for each in found if each)


@contextmanager
def held_alone(folder: Path) -> Iterator[None]:
    """A folder in which no other process writes meanwhile; what one that was killed began to write is taken away.

    Raises:
        InvalidInputError: If another process writes there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            for begun in folder.glob(".part-*.parquet.*"):
                begun.unlink(missing_ok=True)
            yield
    except Timeout as error:
        raise InvalidInputError(
            f"stream_to is {str(folder)!r}, to which another run is writing: wait for it, or give another folder"
        ) from error


def write_part(path: Path, result: Results, run: Mapping[str, Any] | None = None, first: int = 0) -> None:
    """Write a part: wholly, or not at all.

    Args:
        path: As :func:`part_path` says, or beside the parts; what is there is replaced.
        result: What some rows came to.
        run: The run that made it, as results keep it.
        first: The index in the whole run of its first row.

    Raises:
        UnwritableFileError: If it cannot be written.
    """
    replace(result, run_file=run).save_part(path, first)


def rows_of_part(folder: Path, number: int) -> RowsOfPart:
    """Which rows a part holds, by its header and two columns.

    Raises:
        InvalidInputError: If it is no part.
    """
    import pyarrow.compute  # noqa: PLC0415 - half a second of import that only this needs

    path = part_path(folder, number)
    try:
        header = header_of(path)
        said, first = header["parameters"], header.get("first", 0)
        named = [] if "ids" in said else ["prompt_id"]
        table = read_columns(path, ["instance", "unscored_reason", *named], first)
        digits = str(said["fingerprint"]["contents"])
    except (InvalidInputError, LookupError) as error:
        raise InvalidInputError(
            f"{str(path)!r} is not a part that a streamed run wrote, or not a whole one ({error}): move it elsewhere, "
            "and its rows are judged again, with the replies that are in the journal"
        ) from error
    failed = pyarrow.compute.is_in(table["unscored_reason"], pyarrow.array(NOT_JUDGED))
    places = pyarrow.compute.unique(table.filter(failed)["instance"])
    again = pyarrow.compute.sum(pyarrow.compute.is_in(table["instance"], places)).as_py() or 0
    ids = said.get("ids") or _in_order(table.column("instance").to_pylist(), table.column("prompt_id").to_pylist())
    contents = [digits[start : start + DIGITS] for start in range(0, len(digits), DIGITS)]
    not_judged = frozenset(ids[place] for place in places.to_pylist())
    return RowsOfPart(number, ids, contents, not_judged, len(table) - again, first)


def _in_order(rows: Sequence[int], names: Sequence[str]) -> list[str]:
    named = dict(zip(rows, names, strict=True))
    return [named[row] for row in range(len(named))]


def check_same_run(header: Mapping[str, Any], fresh: Results, folder: Path) -> None:
    """Check that a part was made as a result is that is made now.

    Args:
        header: Of the part.
        fresh: A result of some rows, made now; of what was judged, and how.
        folder: Of the part, for the message.

    Raises:
        InvalidInputError: If something differs that changes verdicts or scores.
    """
    now = json.loads(as_json({"kind of result": fresh.kind, **fresh.judged(), **_made_by(fresh.parameters)}))
    then = {"kind of result": header["evenhand"], **header, **_made_by(header["parameters"])}
    own = {"checklists"} if now.get("checklist_field") else {"criteria"} if now.get("rubric_field") else set()
    for name in [name for name in now if name not in own]:
        if then.get(name) != now[name]:
            raise InvalidInputError(
                f"stream_to is {str(folder)!r}, which holds the parts of another run: {name} is "
                f"{_short(then.get(name))} there and {_short(now[name])} here. Give a folder that is new or empty, or "
                "the options of that run"
            )


def _made_by(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters in which all parts agree."""
    said = {name: value for name, value in parameters.items() if name not in {"grid", "flow"}}
    said |= {**parameters["grid"], **parameters["flow"]}
    left_out = {*OF_ROWS, "include_prompts_in_result"}
    digits = parameters["fingerprint"]
    return {
        **{name: value for name, value in said.items() if name not in left_out},
        "what the engine says of itself": digits["judge"],
        "the text of the prompts": digits["prompts"],
    }


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}…"


def with_rows(old: Results, new: Results) -> Results:
    """A result with the votes of another on rows of the same ids, which were asked the same, in place of its own."""
    place = {old.row_name(row): row for row in range(old.parameters["n"])}
    found = {_key(cell, place[new.row_name(cell.about["instance"])]): cell.votes for cell in new.cells()}
    cells = (cell._replace(votes=found.get(_key(cell, cell.about["instance"]), cell.votes)) for cell in old.cells())
    return old.remade({**old.header, "parameters": dict(old.parameters)}, cells)


def _key(cell: Cell, row: int) -> str:
    """What tells a cell from the others of its result."""
    return json.dumps({**cell.about, "instance": row}, sort_keys=True)
