"""Maintenance of a journal: check, describe and prune it, and export and import its replies as JSON lines.

{"key": "5f2a…", "identity": {"endpoint": "https://…", "sampling": {"model": "…"}}, "recorded_at": "2026-…",
"request": {"messages": [{"role": "user", "content": "…"}], …}, "completion": {"text": "…"}}
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from evenhand.engines.journal import (
    BUSY_SECONDS,
    COMPANIONS,
    Journal,
    Row,
    beside,
    canonical_json,
    check_format,
    checksum,
    failure,
    request_key,
)
from evenhand.errors import InvalidInputError, JournalError
from evenhand.numbers import format_bytes
from evenhand.votes import Completion


def is_reply(completion: str | bytes) -> bool:
    """Return whether the JSON of a reply can be read."""
    with suppress(ValidationError):
        return Completion.model_validate_json(completion) is not None
    return False


ROWS_A_TRANSACTION: Final = 500
MOST_FAULTS: Final = 20


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection to a journal, as it is."""
    if not path.is_file():
        raise InvalidInputError(
            f"there is no journal {str(path)!r}; name one with --journal, or set EVENHAND_CACHE_DIR"
        )
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        try:
            yield connection
        except sqlite3.Error as error:
            raise failure(path, error) from error


def check(path: Path) -> list[str]:
    """Return what is wrong with a journal, a sentence per fault, at most 20; nothing if it is sound.

    SQLite checks its pages, trees and index; the rows are checked by their checksums, and read.
    """
    faults: list[str] = []
    try:
        with _opened(path) as connection:
            check_format(path, connection)
            found = connection.execute(f"PRAGMA integrity_check({MOST_FAULTS})").fetchall()
            faults += [f"SQLite: {fault}" for (fault,) in found if fault != "ok"]
            faults += islice(_unsound_rows(connection), MOST_FAULTS)
    except JournalError as error:
        faults.append(str(error))
    return faults[:MOST_FAULTS]


def _unsound_rows(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT CAST(key AS BLOB), CAST(request AS BLOB), CAST(completion AS BLOB), checksum, identity "
        "FROM reply LEFT JOIN engine ON engine.id = reply.engine"
    )
    for key, request, completion, given, identity in rows:
        name = bytes(key).decode("utf-8", "replace")
        if given != checksum(key, request, completion):
            yield f"the reply {name!r} does not fit its checksum: it counts as missing"
        elif not is_reply(completion):
            yield f"the reply {name!r} cannot be read: it counts as missing"
        elif identity is None:
            yield f"the reply {name!r} names no engine"


@dataclass(frozen=True, slots=True)
class Pruning:
    """The replies that :func:`prune` removed.

    Attributes:
        rows: Replies removed.
        left: Replies kept.
        before: Bytes on disk before.
        after: And after.
    """

    rows: int
    left: int
    before: int
    after: int


def prune(path: Path, *, older_than: float | None = None, size: int | None = None) -> Pruning:
    """Remove the oldest replies, and give their room back to the disk. Other processes may use the journal meanwhile.

    Args:
        path: The journal.
        older_than: The age in seconds above which replies are removed.
        size: The greatest size of the file in bytes; the oldest replies are removed until it is reached.

    Raises:
        InvalidInputError: If there is no journal, or neither limit is given.
        JournalError: If it cannot be written.
    """
    if older_than is None and size is None:
        raise InvalidInputError("prune needs --older-than, --size or both: nothing is removed without a limit")
    with _opened(path) as connection, Journal(path) as journal:
        before, held = _bytes_of(path), journal.count()
        if older_than is not None:
            _remove(connection, "recorded_at < ?", time.time() - older_than)
        connection.execute("VACUUM")
        while size is not None and (there := _pages_of(connection)) > size:
            number = connection.execute("SELECT count(*) FROM reply").fetchone()[0]
            if not number:
                break
            most = max(1, round(number * (1 - size / there)))
            _remove(connection, "rowid IN (SELECT rowid FROM reply ORDER BY recorded_at LIMIT ?)", most)
            connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        left = journal.count()
    return Pruning(held - left, left, before, _bytes_of(path))


def _remove(connection: sqlite3.Connection, which: str, limit: float) -> None:
    """Remove the rows in parts, so that others may write in between."""
    keys = [row[0] for row in connection.execute(f"SELECT rowid FROM reply WHERE {which}", (limit,))]  # noqa: S608
    for start in range(0, len(keys), ROWS_A_TRANSACTION):
        part = keys[start : start + ROWS_A_TRANSACTION]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM reply WHERE rowid = ?", [(key,) for key in part])
        connection.execute("COMMIT")


def _pages_of(connection: sqlite3.Connection) -> int:
    size: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return size * int(connection.execute("PRAGMA page_size").fetchone()[0])


def _bytes_of(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, *(beside(path, end) for end in COMPANIONS)) if file.exists())


def export_lines(path: Path) -> Iterator[str]:
    """Yield the sound replies of a journal as JSON lines, oldest first."""
    for row in _sound_rows(path):
        if is_reply(row.completion):
            line = {
                "key": row.key,
                "identity": json.loads(row.identity),
                "recorded_at": datetime.fromtimestamp(row.recorded_at, UTC).isoformat(),
                "request": json.loads(row.request),
                "completion": json.loads(row.completion),
            }
            yield json.dumps(line) + "\n"


def _sound_rows(path: Path) -> Iterator[Row]:
    """Yield the replies of a journal that fit their checksums, oldest first."""
    with _opened(path) as connection:
        check_format(path, connection)
        for *row, proof in connection.execute(
            "SELECT key, identity, request, completion, recorded_at, checksum "
            "FROM reply JOIN engine ON engine.id = reply.engine ORDER BY recorded_at"
        ):
            found = Row(*row)
            if proof == checksum(found.key.encode(), found.request.encode(), found.completion.encode()):
                yield found


def import_lines(path: Path, lines: Iterable[str]) -> tuple[int, list[int]]:
    """Record the replies of exported lines; those that a journal has already stay as they are.

    Args:
        path: The journal.
        lines: The exported lines.

    Returns:
        How many replies are new, and the numbers of the lines, from 1, that are none, or whose key is not that of what
        they hold.
    """
    faults: list[int] = []

    def rows() -> Iterator[Row]:
        for number, line in enumerate(lines, start=1):
            try:
                yield _row_of(json.loads(line))
            except (ValueError, LookupError, TypeError, RecursionError):
                faults.append(number)

    with Journal(path) as journal:
        before, left = journal.count(), rows()
        while part := list(islice(left, ROWS_A_TRANSACTION)):
            journal.exchange(part)
        return journal.count() - before, faults


def _row_of(line: dict[str, Any]) -> Row:
    identity, request = canonical_json(line["identity"]), canonical_json(line["request"])
    completion = json.dumps(line["completion"])
    if line["key"] != request_key(identity, request) or not is_reply(completion):
        raise KeyError(line["key"])
    return Row(line["key"], identity, request, completion, datetime.fromisoformat(line["recorded_at"]).timestamp())


@dataclass(frozen=True, slots=True)
class EngineStats:
    """The replies of one engine in a journal.

    Attributes:
        identity: The engine's.
        replies: The number of replies.
        cost: US dollars that they cost, as far as that was told.
        tokens: Of prompts and replies, as far as they were told.
        first: When the oldest came, in seconds since the epoch.
        last: And the newest.
    """

    identity: dict[str, Any]
    replies: int
    cost: float | None
    tokens: int
    first: float
    last: float


_STATS: Final = """
    SELECT identity, count(*), sum(json_extract(completion, '$.cost')),
        coalesce(sum(json_extract(completion, '$.prompt_tokens')), 0)
            + coalesce(sum(json_extract(completion, '$.completion_tokens')), 0),
        min(recorded_at), max(recorded_at)
    FROM reply JOIN engine ON engine.id = reply.engine
    WHERE json_valid(completion) GROUP BY engine.id ORDER BY 2 DESC"""


def stats(path: Path) -> list[EngineStats]:
    """Summarize the contents of a journal by engine, the most replies first."""
    with _opened(path) as connection:
        check_format(path, connection)
        return [EngineStats(json.loads(identity), *rest) for identity, *rest in connection.execute(_STATS)]


def describe_files(path: Path) -> str:
    """Describe the sizes of a journal's files in words."""
    parts = [f"{format_bytes(path.stat().st_size)} in the file"]
    for ending, name in zip(COMPANIONS, ("write-ahead log", "shared memory"), strict=True):
        file = beside(path, ending)
        if file.exists():
            parts.append(f"{format_bytes(file.stat().st_size)} {name}")
    return ", ".join(parts)
