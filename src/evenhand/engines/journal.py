"""The journal of paid replies: one SQLite file, one row per reply, written when the reply arrives.

A reply is keyed by everything that it depends on: the engine's identity (model, endpoint, sampling parameters), the
messages, the response schema, the log-probabilities asked for and the sample index. Several processes may share one
file: whoever asks claims the key until the reply is written, and the others wait for it, so that no
process buys what another one is buying.

A process killed at any moment loses no reply that was handed over. A row whose checksum does not fit is no reply. Rows
are plain JSON: ``sqlite3 journal.sqlite3 "select json_extract(completion, '$.text') from reply"`` reads them.

A claim belongs to an owner, the journal object of one process. It is dead when that process is gone, or when its owner
gives no sign of life for a minute, as one that hangs. A sign of life is the time by the system's monotonic clock: all
processes that share a write-ahead log are on one host, and share that clock, which stands still while the host sleeps.

An exported reply is a line of JSON:

{"key": "5f2a…", "identity": {"endpoint": "https://…", "sampling": {"model": "…"}}, "recorded_at": "2026-…",
"request": {"messages": [{"role": "user", "content": "…"}], …}, "completion": {"text": "…"}}
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import math
import os
import shlex
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, Self

from pydantic import ValidationError

from evenhand.engines.base import Request
from evenhand.errors import InvalidInputError, JournalError
from evenhand.files import cache_folder, expanded, open_file
from evenhand.numbers import format_count
from evenhand.votes import Completion

APPLICATION_ID: Final = 0x65766E68  # "evnh": marks our files among other SQLite databases
SCHEMA_VERSION: Final = 6
SQLITE: Final = b"SQLite format 3\x00"
BUSY_SECONDS: Final = 30.0

SCHEMA: Final = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS engine (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS reply (key TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL REFERENCES engine (id),
        request TEXT NOT NULL, completion TEXT NOT NULL, recorded_at REAL NOT NULL, checksum BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS owner (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, pid INTEGER NOT NULL,
        beat REAL NOT NULL);
    CREATE TABLE IF NOT EXISTS claim (key TEXT PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS batch (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,
        engine INTEGER NOT NULL REFERENCES engine (id));
    CREATE TABLE IF NOT EXISTS batched (key TEXT PRIMARY KEY, batch INTEGER NOT NULL, request TEXT NOT NULL)
        WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS batched_in ON batched (batch);
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {SCHEMA_VERSION};
    COMMIT;
"""
ELSEWHERE: Final = "give another path (journal=…, or EVENHAND_CACHE_DIR), or switch the journal off (journal=None)"
CHECKPOINT_PAGES: Final = 4000
"""A checkpoint waits for the disk. A run has them made in a thread of their own, and only where that is too slow for
what it writes (16 MiB between two) does its event loop wait."""


def default_journal_path() -> Path:
    """Return ``journal.sqlite3`` in ``EVENHAND_CACHE_DIR``, or without it in the user's cache directory."""
    return cache_folder() / "journal.sqlite3"


def checksum(key: bytes, request: bytes, completion: bytes) -> bytes:
    """Return the checksum of one row: 8 bytes of BLAKE2b over its key, its request and its reply."""
    return hashlib.blake2b(b"\x00".join((key, request, completion)), digest_size=8).digest()


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal, made where there is none.

    Raises:
        JournalError: If it cannot be opened, is not a journal, or was written by another version.
    """
    _make_private(path)
    try:
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
        )
        try:
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.executescript(SCHEMA)
            check_format(path, connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise failure(path, error) from error
    return connection


def failure(path: Path, error: sqlite3.Error) -> JournalError:
    """Return the error for a message of SQLite, with the next step."""
    reason, code = str(error), getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        step = (
            f"'sqlite3 {shlex.quote(str(path))} \".recover\" | sqlite3 NEW.sqlite3' writes what can still be read to a "
            f"new journal; or move the file away (its replies will be asked for again), or {ELSEWHERE}"
        )
    else:
        step = (
            f"check that the folder {str(path.parent)!r} can be written, that the disk has room and no other program "
            f"holds the file for {BUSY_SECONDS:g} seconds, raise the limit on file sizes (ulimit -f), or {ELSEWHERE}"
        )
    return JournalError(f"the journal {str(path)!r} cannot be used ({reason}): {step}")


def _make_private(path: Path) -> None:
    """Make the folder and the file for their owner alone, where they do not exist; SQLite's other files follow it."""
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise JournalError(
            f"the folder of the journal {str(path)!r} cannot be made ({error.strerror}): {ELSEWHERE}"
        ) from error
    with suppress(OSError):  # what is wrong with the place, SQLite says
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file that is not a journal, or has an unknown version.

    Raises:
        JournalError: If it is such a file.
    """
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if (application, version) != (APPLICATION_ID, SCHEMA_VERSION):
        raise JournalError(
            f"the journal {str(path)!r} has the format {version!r}, and this version of evenhand reads "
            f"{SCHEMA_VERSION!r}: use the version that wrote it, or {ELSEWHERE}"
        )


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch on the write-ahead log; SQLite does not wait for its lock here, however long the busy time-out."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


BEAT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 60.0


def this_host() -> str:
    """Return the scope of process numbers: the boot and the process namespace on Linux, else the host's name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


SELECT_REPLY: Final = (  # bytes, should they be no UTF-8
    "SELECT CAST(request AS BLOB), CAST(completion AS BLOB), checksum FROM reply WHERE key = ?"
)

_logger = logging.getLogger(__name__)


class Row(NamedTuple):
    """A recorded reply as the journal stores it.

    Attributes:
        key: From :func:`request_key`.
        identity: The engine's, as canonical JSON.
        request: The request as canonical JSON.
        completion: The reply as JSON.
        recorded_at: Seconds since the epoch.
    """

    key: str
    identity: str
    request: str
    completion: str
    recorded_at: float

    @classmethod
    def of(cls, key: str, identity: str, request: str, completion: Completion) -> Self:
        """Return the row of a reply that is written now."""
        reply = Completion.adapter.dump_json(completion, exclude_defaults=True, exclude={"cached"}).decode()
        return cls(key, identity, request, reply, time.time())


class BatchRecord(NamedTuple):
    """A batch at a provider, as the journal records it: its number there, the provider's name for it, its requests."""

    number: int
    name: str
    requests: int

    def __str__(self) -> str:
        return f"the batch {self.name!r} of {format_count(self.requests, 'request')}"


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """Write a value as JSON in one fixed way, so that equal values have equal keys.

    >>> canonical_json({"b": 1, "a": [None, "x"]})
    '{"a":[null,"x"],"b":1}'
    """
    return _CANONICAL.encode(value)


def request_key(identity: str, description: str) -> str:
    """Return the journal's key: the SHA-256 of the engine's identity and the request, both as canonical JSON."""
    return hashlib.sha256(f"{identity}\n{description}".encode()).hexdigest()


def describe_request(request: Request) -> str:
    """Return all that a reply depends on except the engine, as canonical JSON."""
    described = {"messages": request.messages, "logprobs": request.logprobs, "sample": request.sample}
    schema = request.response_schema
    return canonical_json({**described, "response_schema": None if schema is None else dict(schema)})


class Journal(AbstractContextManager["Journal"]):
    """The replies recorded in one file. Safe to use from several threads and processes.

    Attributes:
        path: The SQLite file; it and its folder are created if they do not exist, for this user alone.

    Args:
        path: None is the default place.
        clock: The system's monotonic clock.

    Raises:
        JournalError: If the file cannot be opened, is not a journal, or was written by another version.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = default_journal_path() if path is None else expanded(path)
        self._lock = threading.Lock()
        self._engines: dict[str, int] = {}
        self._clock = clock
        self._host = this_host()
        self._owner: int | None = None
        self._beat_at = -math.inf
        self._closed = False
        self._connection = connect(self.path)
        self._process = os.getpid()

    def __exit__(self, *_: object) -> None:
        self.close()

    def count(self) -> int:
        """Count the recorded replies."""
        with self.reading() as connection:
            replies: int = connection.execute("SELECT count(*) FROM reply").fetchone()[0]
        return replies

    def get(self, key: str) -> Completion | None:
        """Return the recorded reply, marked as cached; None where there is none. One that cannot be read is removed.

        Raises:
            JournalError: If the file cannot be read.
        """
        with self.reading() as connection:
            row = connection.execute(SELECT_REPLY, (key,)).fetchone()
            if row is None or (completion := reply_of(key, *row)) is not None:
                return row and completion
            connection.execute("DELETE FROM reply WHERE key = ? AND checksum IS ?", (key, row[-1]))
        _logger.warning("the reply %r in the journal %r cannot be read, and is removed", key, str(self.path))
        return None

    def exchange(self, rows: Sequence[Row] = (), claims: Sequence[str] = (), releases: Sequence[str] = ()) -> set[str]:
        """Record replies, claim keys and give up claims, all of it or nothing.

        The first reply recorded under a key stays; claims on it are gone. A key can be claimed if there is no reply and
        no living process has claimed it; the claim ends when the reply is recorded, when it is given up, with this
        process, or when :meth:`beat` was not called for a minute.

        Args:
            rows: Replies to record.
            claims: Keys to claim.
            releases: Claims of ours to which no reply came.

        Returns:
            The keys that are ours now.

        Raises:
            JournalError: If the file cannot be written.
        """
        with self.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?, ?)", [self._cells(connection, row) for row in rows]
            )
            connection.executemany("DELETE FROM claim WHERE key = ?", [(row.key,) for row in rows])
            given_up = [(key, self._owner) for key in releases]
            connection.executemany("DELETE FROM claim WHERE key = ? AND owner = ?", given_up)
            return self._take(connection, claims) if claims else set()

    def _take(self, connection: sqlite3.Connection, keys: Sequence[str]) -> set[str]:
        """Claim the keys that are free, or whose owner is dead, and return those that are ours now."""
        self._show_life(connection)
        if self._owner is None:
            for (other,) in connection.execute("SELECT id FROM owner").fetchall():
                self._is_alive(connection, other)
            query = "INSERT INTO owner (host, pid, beat) VALUES (?, ?, ?)"
            self._beat_at = self._clock()
            self._owner = connection.execute(query, (self._host, os.getpid(), self._beat_at)).lastrowid
        taken = set[str]()
        for key in keys:
            row = connection.execute("SELECT owner FROM claim WHERE key = ?", (key,)).fetchone()
            if row is None or not self._is_alive(connection, row[0]):
                query = "INSERT INTO claim SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM reply WHERE key = ?1)"
                taken |= {key} if connection.execute(query, (key, self._owner)).rowcount == 1 else set()
        return taken

    def _is_alive(self, connection: sqlite3.Connection, owner: int) -> bool:
        """Return whether an owner is alive, and remove a dead one."""
        row = connection.execute("SELECT host, pid, beat FROM owner WHERE id = ?", (owner,)).fetchone()
        gone = row is None or abs(self._clock() - row[2]) > SILENT_SECONDS
        if not gone and row[0] == self._host and os.name == "posix":  # Windows has no signal that only asks
            with suppress(PermissionError):  # it is another user's, and runs
                try:
                    os.kill(row[1], 0)
                except ProcessLookupError:
                    gone = True
        if gone:
            self._remove_owner(connection, owner)
        return not gone

    @staticmethod
    def _remove_owner(connection: sqlite3.Connection, owner: int) -> None:
        connection.execute("DELETE FROM claim WHERE owner = ?", (owner,))
        connection.execute("DELETE FROM owner WHERE id = ?", (owner,))

    def beat(self) -> None:
        """Show the other processes that this one is at work. Cheap, and without effect before it is due."""
        with self.reading() as connection:
            self._show_life(connection)

    def _show_life(self, connection: sqlite3.Connection) -> None:
        now = self._clock()
        if self._owner is None or now - self._beat_at < BEAT_SECONDS:
            return
        if connection.execute("UPDATE owner SET beat = ? WHERE id = ?", (now, self._owner)).rowcount == 0:
            self._owner = None  # taken for dead, as this process hung, or never written
        self._beat_at = now

    def sync(self) -> None:
        """Flush all recorded replies to the disk, so that they survive a power failure. For any thread.

        Raises:
            JournalError: If the disk cannot.
        """
        try:
            with closing(sqlite3.connect(self.path, timeout=0.0)) as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            raise failure(self.path, error) from error

    def close(self) -> None:
        """Close the file. Closing twice is harmless; using a closed journal is an error."""
        with self._lock:
            if self._process == os.getpid() and not self._closed:
                with suppress(sqlite3.Error):  # claims that stay are dead as soon as the process is
                    if self._owner is not None:
                        self._remove_owner(self._connection, self._owner)
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._connection.close()
            self._closed = True

    def _cells(self, connection: sqlite3.Connection, row: Row) -> tuple[str, int, str, str, float, bytes]:
        engine = self._engine_number(connection, row.identity)
        proof = checksum(row.key.encode(), row.request.encode(), row.completion.encode())
        return row.key, engine, row.request, row.completion, row.recorded_at, proof

    def _engine_number(self, connection: sqlite3.Connection, identity: str) -> int:
        if identity not in self._engines:
            connection.execute("INSERT OR IGNORE INTO engine (identity) VALUES (?)", (identity,))
            found = connection.execute("SELECT id FROM engine WHERE identity = ?", (identity,)).fetchone()
            self._engines[identity] = found[0]
        return self._engines[identity]

    def batches(self, where: str = "", *values: object) -> list[BatchRecord]:
        """Return every batch whose replies are not all recorded, the oldest first."""
        query = f"""SELECT id, name, (SELECT count(*) FROM batched WHERE batch = batch.id)
            FROM batch {where} ORDER BY id"""  # noqa: S608 - ours
        with self.reading() as connection:
            return [BatchRecord(*row) for row in connection.execute(query, values).fetchall()]

    def requests_in(self, batch: BatchRecord) -> dict[str, str]:
        """Return the requests of a batch as canonical JSON, by key."""
        with self.reading() as connection:
            query = "SELECT key, request FROM batched WHERE batch = ?"
            return dict(connection.execute(query, (batch.number,)).fetchall())

    def add_batch(self, name: str, identity: str, requests: Mapping[str, str]) -> BatchRecord:
        """Write down a batch that was made: the requests as canonical JSON, by key."""
        with self.writing() as connection:
            query = "INSERT INTO batch (name, engine) VALUES (?, ?)"
            number = connection.execute(query, (name, self._engine_number(connection, identity))).lastrowid or 0
            rows = [(key, number, request) for key, request in requests.items()]
            connection.executemany("INSERT OR REPLACE INTO batched VALUES (?, ?, ?)", rows)
        return BatchRecord(number, name, len(requests))

    def forget_batch(self, batch: BatchRecord) -> None:
        """Remove a batch: its replies are recorded, or none come."""
        with self.writing() as connection:
            connection.execute("DELETE FROM batch WHERE id = ?", (batch.number,))
            connection.execute("DELETE FROM batched WHERE batch = ?", (batch.number,))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection; a sqlite3.Error within becomes a JournalError."""
        with self._lock:
            if self._closed:
                raise JournalError(f"the journal {str(self.path)!r} is closed: open a new one")
            if self._process != os.getpid():  # SQLite's connections do not survive a fork
                self._connection, self._process, self._engines = connect(self.path), os.getpid(), {}
                self._owner = None
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise failure(self.path, error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection within one transaction: all of it or nothing."""
        with self.reading() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._engines.clear()
                self._beat_at = -math.inf  # the owner may not be written
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def reply_of(key: str, request: bytes, completion: bytes, proof: bytes) -> Completion | None:
    """Return the reply in a row; None if it is damaged."""
    if proof != checksum(key.encode(), request, completion):
        return None
    try:
        found: Completion = Completion.adapter.validate_json(completion)
        return found.model_copy(update={"cached": True})
    except ValidationError:
        return None


def open_journal(setting: str | os.PathLike[str] | None) -> Journal | None:
    """Open the journal that a field or an option names: ``"default"``, a path, or None for none."""
    if setting is None:
        return None
    return Journal(None if setting == "default" else setting)


ROWS_A_TRANSACTION: Final = 500


def existing_journal(path: Path) -> Journal:
    """Open a journal that is there.

    Raises:
        InvalidInputError: If there is none.
        JournalError: If it cannot be used.
    """
    if not path.is_file():
        raise InvalidInputError(
            f"there is no journal {str(path)!r}; name one with --journal, or set EVENHAND_CACHE_DIR"
        )
    return Journal(path)


def check(path: Path) -> list[str]:
    """Return the keys of the replies that cannot be read, or do not fit their checksums.

    Raises:
        InvalidInputError: If there is no journal.
        JournalError: If it cannot be used, or SQLite finds a fault in its pages, trees or index.
    """
    with existing_journal(path) as journal, journal.reading() as connection:
        if faults := [fault for (fault,) in connection.execute("PRAGMA integrity_check(20)") if fault != "ok"]:
            damage = sqlite3.DatabaseError("; ".join(faults))
            damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise damage
        rows = connection.execute("SELECT key, CAST(request AS BLOB), CAST(completion AS BLOB), checksum FROM reply")
        return [key for key, *cells in rows if reply_of(key, *cells) is None]


def prune(path: Path, older_than: float) -> tuple[int, int]:
    """Remove old replies, and give their room back to the disk.

    Args:
        path: The journal.
        older_than: The age in seconds above which replies are removed.

    Returns:
        The numbers of replies that were removed, and that are left.

    Raises:
        InvalidInputError: If there is no journal.
        JournalError: If it cannot be written.
    """
    with existing_journal(path) as journal:
        with journal.reading() as connection:
            query = "DELETE FROM reply WHERE recorded_at < ?"
            removed = connection.execute(query, (time.time() - older_than,)).rowcount
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed, journal.count()


def export_lines(path: Path) -> Iterator[str]:
    """Yield the sound replies of a journal as JSON lines, oldest first."""
    with existing_journal(path) as journal, journal.reading() as connection:
        for key, identity, recorded_at, request, completion, proof in connection.execute(
            "SELECT key, identity, recorded_at, CAST(request AS BLOB), CAST(completion AS BLOB), checksum "
            "FROM reply JOIN engine ON engine.id = reply.engine ORDER BY recorded_at"
        ):
            if reply_of(key, request, completion, proof) is not None:
                line = {
                    "key": key,
                    "identity": json.loads(identity),
                    "recorded_at": datetime.fromtimestamp(recorded_at, UTC).isoformat(),
                    "request": json.loads(request),
                    "completion": json.loads(completion),
                }
                yield json.dumps(line) + "\n"


def row_of_line(text: str) -> tuple[Row, Completion] | None:
    """Return the row and the reply of an exported line; None if it is none, or its key does not fit its content."""
    try:
        line = json.loads(text)
        identity, request = canonical_json(line["identity"]), canonical_json(line["request"])
        recorded_at = datetime.fromisoformat(line["recorded_at"]).timestamp()
        reply = Completion.model_validate(line["completion"])
        row = Row(line["key"], identity, request, json.dumps(line["completion"]), recorded_at)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return (row, reply) if row.key == request_key(identity, request) else None


def recorded_rows(path: Path) -> Iterator[tuple[Row, Completion]]:
    """Yield the rows and replies of a recording: a journal, or an exported one.

    Raises:
        InvalidInputError: If it cannot be read, or has a line that is not a reply.
        JournalError: If it is a journal that cannot be used.
    """
    try:
        with open_file(path) as file:
            is_journal = file.read(len(SQLITE)) == SQLITE
            file.seek(0)
            lines = export_lines(path) if is_journal else io.TextIOWrapper(file, encoding="utf-8", errors="replace")
            for number, text in enumerate(lines, start=1):
                if (recorded := row_of_line(text)) is None:
                    raise InvalidInputError(
                        f"line {number} of the recording {str(path)!r} is not a reply: give what 'evenhand journal "
                        "export' writes"
                    )
                yield recorded
    except OSError as error:
        raise InvalidInputError(f"the recording {str(path)!r} cannot be read ({error.strerror})") from error


def import_lines(path: Path, lines: Iterable[str]) -> tuple[int, list[int]]:
    """Record the replies of exported lines; those that a journal has already stay as they are.

    Args:
        path: The journal.
        lines: The exported lines.

    Returns:
        The number of new replies, and the numbers of the lines, from 1, that are not replies, or whose key does not fit
        their content.
    """
    faults: list[int] = []
    rows = enumerate(map(row_of_line, lines), start=1)
    with Journal(path) as journal:
        before = journal.count()
        while part := list(islice(rows, ROWS_A_TRANSACTION)):
            journal.exchange([recorded[0] for _, recorded in part if recorded is not None])
            faults += [number for number, recorded in part if recorded is None]
        return journal.count() - before, faults
