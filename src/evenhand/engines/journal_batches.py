"""What a journal holds of batches at providers: which requests are in which batch, until their replies are recorded.

A row is there before anything is sent, and says how far it got, so that whoever finds it after a crash knows whether
a batch may exist at the provider (``sending``) or cannot (``intended``).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, Self, runtime_checkable

from evenhand.engines.journal import Journal


@runtime_checkable
class BatchingEngine(Protocol):
    """An engine whose replies may come a day after they were asked for, and that writes down what it waits for."""

    @property
    def most_reply_tokens(self) -> int | None:
        """The token limit of a reply; None where there is none."""

    def keep_in(self, journal: Journal) -> None:
        """Write it there, on the event loop that runs now."""


State = Literal["intended", "sending", "submitted"]


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One batch, as the journal knows it.

    Attributes:
        number: In this journal.
        label: What it is called at the provider: unique, and made before it is sent.
        identity: The engine's identity, as canonical JSON.
        service: The engine that sent it, by its fields, without secrets.
        state: ``intended`` (it does not exist at the provider), ``sending`` (it may), ``submitted`` (it does).
        file: The name that the provider gave its file, where there is one.
        name: And the batch.
        requests: How many it has.
        sent_at: When it got into this state, in seconds since the epoch.
    """

    number: int
    label: str
    identity: str
    service: Mapping[str, Any]
    state: State
    file: str | None
    name: str | None
    requests: int
    sent_at: float

    @classmethod
    def read(cls, row: tuple[Any, ...]) -> Self:
        """A row of :data:`_SELECT`."""
        number, label, identity, service, *rest = row
        return cls(number, label, identity, json.loads(service), *rest)


_SELECT: Final = """SELECT batch.id, label, identity, service, state, file, name, requests, sent_at
    FROM batch JOIN engine ON engine.id = batch.engine"""


class BatchRecords:
    """The batches in one journal.

    Raises:
        JournalError: Where the file cannot be read or written; of every method.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def all(self) -> list[BatchRecord]:
        """Every batch whose replies are not all recorded, the oldest first."""
        with self.journal.reading() as connection:
            return [BatchRecord.read(row) for row in connection.execute(f"{_SELECT} ORDER BY batch.id")]

    def names(self) -> frozenset[str]:
        """What the providers call those that are known to be there."""
        return frozenset(record.name for record in self.all() if record.name is not None)

    def of_number(self, number: int) -> BatchRecord | None:
        """The batch with this number, unless its replies are all recorded."""
        return next((record for record in self.all() if record.number == number), None)

    def of_key(self, key: str) -> BatchRecord | None:
        """The batch that holds the request of a key, if one does."""
        with self.journal.reading() as connection:
            row = connection.execute(
                f"{_SELECT} JOIN batched ON batched.batch = batch.id WHERE batched.key = ?", (key,)
            ).fetchone()
        return None if row is None else BatchRecord.read(row)

    def keys(self, number: int) -> list[str]:
        """The keys of a batch, in the order in which its requests were sent."""
        with self.journal.reading() as connection:
            rows = connection.execute("SELECT key FROM batched WHERE batch = ? ORDER BY place", (number,))
            return [key for (key,) in rows]

    def requests(self, keys: Sequence[str]) -> dict[str, str]:
        """The requests of these keys, as canonical JSON."""
        with self.journal.reading() as connection:
            found = (connection.execute("SELECT request FROM batched WHERE key = ?", (key,)).fetchone() for key in keys)
            return {key: row[0] for key, row in zip(keys, found, strict=True) if row is not None}

    def intend(
        self, label: str, identity: str, service: Mapping[str, Any], requests: Iterable[tuple[str, str]]
    ) -> BatchRecord:
        """Write down what is about to be sent, before any of it is: keys, and requests as canonical JSON."""
        with self.journal.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO engine (identity) VALUES (?)", (identity,))
            cursor = connection.execute(
                """INSERT INTO batch (label, engine, service, state, requests, sent_at)
                VALUES (?, (SELECT id FROM engine WHERE identity = ?), ?, 'intended', 0, ?)""",
                (label, identity, json.dumps(service), time.time()),
            )
            number = cursor.lastrowid
            connection.executemany(
                "INSERT OR REPLACE INTO batched VALUES (?, ?, ?, ?)",
                ((key, number, place, request) for place, (key, request) in enumerate(requests)),
            )
            connection.execute(
                "UPDATE batch SET requests = (SELECT count(*) FROM batched WHERE batch = ?1) WHERE id = ?1", (number,)
            )
            row = connection.execute(f"{_SELECT} WHERE batch.id = ?", (number,)).fetchone()
        return BatchRecord.read(row)

    def advance(
        self, record: BatchRecord, state: State, *, file: str | None = None, name: str | None = None
    ) -> BatchRecord | None:
        """Note how far a batch got; None where another process has done so meanwhile, and nothing is noted."""
        after = replace(record, state=state, sent_at=time.time(), file=file or record.file, name=name or record.name)
        with self.journal.writing() as connection:
            changed = connection.execute(
                "UPDATE batch SET state = ?, file = ?, name = ?, sent_at = ? WHERE id = ? AND state = ?",
                (after.state, after.file, after.name, after.sent_at, record.number, record.state),
            )
        return after if changed.rowcount else None

    def close(self, record: BatchRecord) -> bool:
        """Forget a batch, unless it has got further than this record knows; its replies are recorded, or none come."""
        with self.journal.writing() as connection:
            return forget(connection, record)


def forget(connection: sqlite3.Connection, record: BatchRecord) -> bool:
    """Remove the rows of a batch that is in this state; within a transaction."""
    removed = connection.execute("DELETE FROM batch WHERE id = ? AND state = ?", (record.number, record.state)).rowcount
    if removed:
        connection.execute("DELETE FROM batched WHERE batch = ?", (record.number,))
    return bool(removed)
