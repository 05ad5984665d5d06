"""The journal of paid replies: one SQLite file, one row a reply, written when the reply arrives.

A reply is keyed by everything that it depends on: the engine's identity (model, endpoint, sampling parameters), the
messages, the response schema, the log-probabilities asked for and the sample index. Several processes may share one
file: whoever asks claims the key until the reply is written, and the others wait for it
(:mod:`~evenhand.engines.claims`), so that no process buys what another one is buying.

A process killed at any moment loses no reply that was handed over. A row whose checksum does not fit is no reply. Rows
are plain JSON: ``sqlite3 journal.sqlite3 "select json_extract(completion, '$.text') from reply"`` reads them.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Self

from pydantic import ValidationError

from evenhand.engines.base import Request
from evenhand.engines.claims import Claims
from evenhand.engines.journal_file import checksum, connect, default_journal_path, failure
from evenhand.engines.journal_lines import Row, canonical_json, request_key
from evenhand.errors import JournalError
from evenhand.files import expanded
from evenhand.votes import Completion

__all__ = [
    "Journal",
    "JournalEntry",
    "canonical_json",
    "default_journal_path",
    "describe_request",
    "open_journal",
    "request_key",
]

SELECT_REPLY: Final = (  # bytes, should they be no UTF-8
    "SELECT CAST(request AS BLOB), CAST(completion AS BLOB), checksum FROM reply WHERE key = ?"
)

_logger = logging.getLogger(__name__)


def describe_request(request: Request) -> str:
    """What a reply depends on besides the engine, as canonical JSON."""
    schema = request.response_schema
    return canonical_json(
        {
            "messages": request.messages,
            "response_schema": None if schema is None else dict(schema),
            "logprobs": request.logprobs,
            "sample": request.sample,
        }
    )


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A reply to record.

    Attributes:
        key: From :func:`~evenhand.engines.journal_lines.request_key`.
        completion: The reply.
        identity: The engine's identity as canonical JSON, without secrets.
        request: From :func:`describe_request`; kept so that the file can be read by people.
    """

    key: str
    completion: Completion
    identity: str
    request: str

    def row(self) -> Row:
        """As it is written now."""
        reply = self.completion.model_dump_json(exclude_defaults=True, exclude={"cached"})
        return Row(self.key, self.identity, self.request, reply, time.time())


class Journal:
    """The replies recorded in one file. Safe to use from several threads and processes.

    Attributes:
        path: The SQLite file; it and its folder are created if they do not exist, for this user alone.

    Args:
        path: None is the default place.
        clock: Seconds that only grow, by which a silent process is told.

    Raises:
        JournalError: If the file cannot be opened, is not a journal, or was written by another version.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = default_journal_path() if path is None else expanded(path)
        self._lock = threading.Lock()
        self._engines: dict[str, int] = {}
        self._broken = set[str]()
        self._clock = clock
        self._claims = Claims(clock)
        self._closed = False
        self._connection = connect(self.path)
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def count(self) -> int:
        """How many replies are recorded."""
        with self._connected() as connection:
            replies: int = connection.execute("SELECT count(*) FROM reply").fetchone()[0]
        return replies

    def get(self, key: str) -> Completion | None:
        """The recorded reply, marked as cached; None when there is none, or none that can be read.

        Raises:
            JournalError: If the file cannot be read.
        """
        with self._connected() as connection:
            row = connection.execute(SELECT_REPLY, (key,)).fetchone()
        if row is None:
            return None
        completion = reply_of(key, *row)
        if completion is None and key not in self._broken:
            self._broken.add(key)
            _logger.warning(
                "the reply %r in the journal %r cannot be read; it counts as missing, and the next reply takes its "
                "place ('evenhand journal check' looks for more)",
                key,
                str(self.path),
            )
        return completion

    def exchange(self, rows: Sequence[Row] = (), claims: Sequence[str] = (), releases: Sequence[str] = ()) -> set[str]:
        """Record replies, claim keys and give up claims, all of it or nothing.

        The first reply recorded under a key stays; claims on it are gone. A claim is had where there is no reply and
        nobody alive has claimed the key; it ends when the reply is recorded, when it is given up, with this process, or
        when :meth:`beat` was not called for a minute.

        Args:
            rows: Replies to record.
            claims: Keys to claim.
            releases: Claims of ours to which no reply came.

        Returns:
            The keys that are ours now.

        Raises:
            JournalError: If the file cannot be written.
        """
        with self._writing() as connection:
            if rows:
                self._record(connection, rows)
            if releases:
                self._claims.give_up(connection, releases)
            if not claims:
                return set()
            self._remove_broken(connection, claims)
            return self._claims.take(connection, claims)

    def put(self, entries: Sequence[JournalEntry]) -> None:
        """Record replies; see :meth:`exchange`."""
        self.exchange([entry.row() for entry in entries])

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Claim keys; see :meth:`exchange`."""
        return self.exchange(claims=keys)

    def release(self, keys: Sequence[str]) -> None:
        """Give up claims of ours: no reply came."""
        self.exchange(releases=keys)

    def claimed(self, key: str) -> bool:
        """Whether anyone alive has a claim on the key."""
        with self._connected() as connection:
            return self._claims.held(connection, key)

    def beat(self) -> None:
        """Show the other processes that this one is at work. Cheap, and without effect before it is due."""
        with self._connected() as connection:
            self._claims.beat(connection)

    def sync(self) -> None:
        """Have the disk hold what was recorded until now: it then survives a power failure too. For any thread.

        Raises:
            JournalError: If the disk cannot.
        """
        try:
            with closing(sqlite3.connect(self.path, timeout=0.0)) as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            raise failure(self.path, error) from error

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """The connection, for what lies beside the replies (:class:`~evenhand.engines.batches.BatchRecords`)."""
        return self._connected()

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """As :meth:`reading`, within one transaction: all of it or nothing."""
        return self._writing()

    def close(self) -> None:
        """Close the file. Closing twice is harmless; using a closed journal is an error."""
        with self._lock:
            if self._process == os.getpid() and not self._closed:
                with suppress(sqlite3.Error):  # claims that stay are dead as soon as the process is
                    self._claims.leave(self._connection)
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._connection.close()
            self._closed = True

    def _record(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        recorded = [row.key for row in rows]
        self._remove_broken(connection, recorded)
        connection.executemany(
            "INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?, ?)", [self._cells(connection, row) for row in rows]
        )
        self._claims.remove(connection, recorded)

    def _remove_broken(self, connection: sqlite3.Connection, keys: Sequence[str]) -> None:
        """Make room for replies to be asked for; what another process has put there meanwhile can be read and stays."""
        for key in self._broken.intersection(keys):
            row = connection.execute(SELECT_REPLY, (key,)).fetchone()
            if row is not None and reply_of(key, *row) is None:
                connection.execute("DELETE FROM reply WHERE key = ?", (key,))

    def _cells(self, connection: sqlite3.Connection, row: Row) -> tuple[str, int, str, str, float, bytes]:
        engine = self._engines.get(row.identity)
        if engine is None:
            engine = self._engines[row.identity] = self._engine_id(connection, row.identity)
        proof = checksum(row.key.encode(), row.request.encode(), row.completion.encode())
        return row.key, engine, row.request, row.completion, row.recorded_at, proof

    @staticmethod
    def _engine_id(connection: sqlite3.Connection, identity: str) -> int:
        connection.execute("INSERT OR IGNORE INTO engine (identity) VALUES (?)", (identity,))
        found: int = connection.execute("SELECT id FROM engine WHERE identity = ?", (identity,)).fetchone()[0]
        return found

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._closed:
                raise JournalError(f"the journal {str(self.path)!r} is closed: open a new one")
            if self._process != os.getpid():  # SQLite's connections do not survive a fork
                self._connection, self._process, self._engines = connect(self.path), os.getpid(), {}
                self._claims = Claims(self._clock)
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise failure(self.path, error) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self._connected() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
                self._claims.committed()
            except BaseException:
                self._engines.clear()
                self._claims.undone()
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def reply_of(key: str, request: bytes, completion: bytes, proof: bytes) -> Completion | None:
    """The reply in a row; None where it is damaged."""
    if proof != checksum(key.encode(), request, completion):
        return None
    try:
        return Completion.model_validate_json(completion).model_copy(update={"cached": True})
    except ValidationError:
        return None


def open_journal(setting: str | os.PathLike[str] | None) -> Journal | None:
    """The journal that a field or an option names: ``"default"``, a path, or None for none."""
    if setting is None:
        return None
    return Journal(None if setting == "default" else setting)
