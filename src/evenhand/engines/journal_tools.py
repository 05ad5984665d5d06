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
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from evenhand.engines.journal import (
    BUSY_SECONDS,
    Journal,
    Row,
    canonical_json,
    check_format,
    checksum,
    failure,
    request_key,
)
from evenhand.errors import InvalidInputError, JournalError
from evenhand.votes import Completion

ROWS_A_TRANSACTION: Final = 500
MOST_FAULTS: Final = 20


def is_reply(completion: str | bytes) -> bool:
    """Return whether the JSON of a reply can be read."""
    with suppress(ValidationError):
        return Completion.model_validate_json(completion) is not None
    return False


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


def prune(path: Path, older_than: float) -> tuple[int, int]:
    """Remove old replies, and give their room back to the disk. Other processes may use the journal meanwhile.

    Args:
        path: The journal.
        older_than: The age in seconds above which replies are removed.

    Returns:
        How many replies were removed, and how many are left.

    Raises:
        InvalidInputError: If there is no journal.
        JournalError: If it cannot be written.
    """
    with _opened(path) as connection, Journal(path) as journal:
        removed = 0
        query = "DELETE FROM reply WHERE rowid IN (SELECT rowid FROM reply WHERE recorded_at < ? LIMIT ?)"
        limits = time.time() - older_than, ROWS_A_TRANSACTION
        while part := connection.execute(query, limits).rowcount:  # in parts, so that others may write in between
            removed += part
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed, journal.count()


def export_lines(path: Path) -> Iterator[str]:
    """Yield the sound replies of a journal as JSON lines, oldest first."""
    with _opened(path) as connection:
        check_format(path, connection)
        for *row, proof in connection.execute(
            "SELECT key, identity, request, completion, recorded_at, checksum "
            "FROM reply JOIN engine ON engine.id = reply.engine ORDER BY recorded_at"
        ):
            key, identity, request, completion, recorded_at = row
            if proof == checksum(key.encode(), request.encode(), completion.encode()) and is_reply(completion):
                line = {
                    "key": key,
                    "identity": json.loads(identity),
                    "recorded_at": datetime.fromtimestamp(recorded_at, UTC).isoformat(),
                    "request": json.loads(request),
                    "completion": json.loads(completion),
                }
                yield json.dumps(line) + "\n"


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
        for number, text in enumerate(lines, start=1):
            try:
                line = json.loads(text)
                identity, request = canonical_json(line["identity"]), canonical_json(line["request"])
                completion = json.dumps(line["completion"])
                recorded_at = datetime.fromisoformat(line["recorded_at"]).timestamp()
                sound = line["key"] == request_key(identity, request) and is_reply(completion)
            except (ValueError, LookupError, TypeError, RecursionError):
                sound = False
            if sound:
                yield Row(line["key"], identity, request, completion, recorded_at)
            else:
                faults.append(number)

    with Journal(path) as journal:
        before, left = journal.count(), rows()
        while part := list(islice(left, ROWS_A_TRANSACTION)):
            journal.exchange(part)
        return journal.count() - before, faults


class EngineStats(NamedTuple):
    """The replies of one engine in a journal.

    Attributes:
        identity: The engine's.
        replies: The number of replies.
        cost: US dollars that they cost, as far as that was reported.
        tokens: Of prompts and replies, as far as they were reported.
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
