"""The journal of paid replies: one SQLite file, one row a reply, written when the reply arrives.

A reply is keyed by everything that it depends on: the engine's identity (model, endpoint, sampling parameters), the
messages, the response schema, the log-probabilities asked for and the sample index. Several processes may share one
file: whoever asks claims the key until the reply is written, and the others wait for it (:class:`Claims`), so that no
process buys what another one is buying. A claim belongs to an owner, the journal object of one process. It is dead when
that process is gone (seen from the same host), or when the owner has shown no sign of life for a minute: it hangs, or
its host cannot be seen from here.

A process killed at any moment loses no reply that was handed over. Rows are plain
JSON: ``sqlite3 journal.sqlite3 "select json_extract(completion, '$.text') from reply"`` reads them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import platformdirs
from pydantic import ValidationError

from evenhand.engines.base import Request
from evenhand.errors import JournalError
from evenhand.votes import Completion

BEAT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.5

CLAIM_TABLES: Final = (
    """CREATE TABLE owner (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, pid INTEGER NOT NULL,
    started TEXT NOT NULL, beat_at REAL NOT NULL)""",
    "CREATE TABLE claim (key TEXT PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID",
)
_TAKE: Final = """INSERT INTO claim SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM reply WHERE key = ?1)
    ON CONFLICT DO NOTHING"""


class Claims:
    """The claims of one journal object; every method is given the journal's connection."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._process = this_process()
        self._id: int | None = None
        self._new = False
        self._beat_at = 0.0
        self._alive_until: dict[int, float] = {}

    def take(self, connection: sqlite3.Connection, keys: Sequence[str]) -> set[str]:
        """Those of the keys that are ours now; within a transaction."""
        owner = self._present(connection)
        taken = set[str]()
        for key in keys:
            if connection.execute(_TAKE, (key, owner)).rowcount == 1 or self._take_over(connection, key, owner):
                taken.add(key)
        return taken

    def held(self, connection: sqlite3.Connection, key: str) -> bool:
        """Whether anyone alive has claimed the key."""
        row = connection.execute("SELECT owner FROM claim WHERE key = ?", (key,)).fetchone()
        return row is not None and self._is_alive(connection, row[0])

    def remove(self, connection: sqlite3.Connection, keys: Sequence[str]) -> None:
        """The replies to these keys are recorded: whoever claimed them."""
        connection.executemany("DELETE FROM claim WHERE key = ?", [(key,) for key in keys])

    def give_up(self, connection: sqlite3.Connection, keys: Sequence[str]) -> None:
        """No reply came to these keys, and none is on its way."""
        connection.executemany("DELETE FROM claim WHERE key = ? AND owner = ?", [(key, self._id) for key in keys])

    def beat(self, connection: sqlite3.Connection) -> None:
        """A sign of life, when one is due and there is an owner to give it."""
        now = self._clock()
        if self._id is None or 0 <= now - self._beat_at < BEAT_SECONDS:
            return
        if connection.execute("UPDATE owner SET beat_at = ? WHERE id = ?", (now, self._id)).rowcount == 0:
            self._id = None  # taken for dead: this process hung, or slept
        self._beat_at = now

    def leave(self, connection: sqlite3.Connection) -> None:
        """Claim nothing any more."""
        if self._id is not None:
            connection.execute("DELETE FROM claim WHERE owner = ?", (self._id,))
            connection.execute("DELETE FROM owner WHERE id = ?", (self._id,))
            self._id = None

    def committed(self) -> None:
        """The transaction holds."""
        self._new = False

    def undone(self) -> None:
        """The transaction does not hold: what was known of the file may be wrong."""
        if self._new:
            self._id, self._new = None, False
        self._beat_at = 0.0
        self._alive_until.clear()

    def _present(self, connection: sqlite3.Connection) -> int:
        """Our owner's number; the first time, those who are gone are cleared away."""
        self.beat(connection)
        if self._id is None:
            for (other,) in connection.execute("SELECT id FROM owner").fetchall():
                if not self._is_alive(connection, other):
                    connection.execute("DELETE FROM claim WHERE owner = ?", (other,))
                    connection.execute("DELETE FROM owner WHERE id = ?", (other,))
            self._beat_at = self._clock()
            process = self._process
            added = connection.execute(
                "INSERT INTO owner (host, pid, started, beat_at) VALUES (?, ?, ?, ?)",
                (process.host, process.pid, process.started, self._beat_at),
            )
            self._id, self._new = added.lastrowid, True
        assert self._id is not None  # noqa: S101 - SQLite numbers what it inserts
        return self._id

    def _take_over(self, connection: sqlite3.Connection, key: str, owner: int) -> bool:
        row = connection.execute("SELECT owner FROM claim WHERE key = ?", (key,)).fetchone()
        if row is None or self._is_alive(connection, row[0]):
            return False
        connection.execute("UPDATE claim SET owner = ? WHERE key = ?", (owner, key))
        return True

    def _is_alive(self, connection: sqlite3.Connection, owner: int) -> bool:
        """Looked up at most twice a second for each owner: many wait for one."""
        now = self._clock()
        if 0 <= self._alive_until.get(owner, 0.0) - now <= LOOK_SECONDS:
            return True
        row = connection.execute("SELECT host, pid, started, beat_at FROM owner WHERE id = ?", (owner,)).fetchone()
        if row is None:
            return False
        silent = now - row[3] > SILENT_SECONDS
        alive = not silent and is_running(Process(*row[:3]), self._process.host) is not False
        if alive:
            self._alive_until[owner] = now + LOOK_SECONDS
        return alive


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told apart from a later one with the same number.

    Attributes:
        host: Where process numbers mean the same: the boot and the process namespace on Linux, else the host's name.
        pid: The process number.
        started: When it started, as the system counts; empty where that cannot be read.
    """

    host: str
    pid: int
    started: str


def this_process() -> Process:
    """The process that runs now."""
    return Process(_host(), os.getpid(), _state_and_start(os.getpid())[1])


def is_running(process: Process, here: str) -> bool | None:
    """Whether a process is running, seen from the host ``here``; None when that cannot be told."""
    if process.host != here or os.name != "posix":  # Windows has no signal that only asks
        return None
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    state, started = _state_and_start(process.pid)
    return state not in {"Z", "X"} and (not started or not process.started or started == process.started)


def _host() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def _state_and_start(pid: int) -> tuple[str, str]:
    """The state's letter and the start time in ticks since boot, where there is a ``/proc``."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    fields = status.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return fields[0], fields[19]


APPLICATION_ID: Final = 0x65766E68  # "evnh": tells our files from other SQLite databases
SCHEMA_VERSION: Final = 2  # 1 had no claims
BUSY_SECONDS: Final = 30.0

_SCHEMA: Final = (
    "CREATE TABLE engine (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE)",
    """CREATE TABLE reply (key TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL REFERENCES engine (id),
    request TEXT NOT NULL, completion TEXT NOT NULL, recorded_at REAL NOT NULL)""",
    *CLAIM_TABLES,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_SELECT: Final = "SELECT CAST(completion AS BLOB) FROM reply WHERE key = ?"  # bytes, should they be no UTF-8
_FROM_VERSION_1: Final = (*CLAIM_TABLES, f"PRAGMA user_version = {SCHEMA_VERSION}")
_ELSEWHERE: Final = "give another path (journal=…, or EVENHAND_CACHE_DIR), or switch the journal off (journal=None)"

_logger = logging.getLogger(__name__)


def default_journal_path() -> Path:
    """``journal.sqlite3`` in ``EVENHAND_CACHE_DIR``, or without it in the user's cache directory."""
    folder = os.environ.get("EVENHAND_CACHE_DIR")
    return (Path(folder).expanduser() if folder else platformdirs.user_cache_path("evenhand")) / "journal.sqlite3"


def canonical_json(value: object) -> str:
    """The one way to write a value as JSON, so that equal values have equal keys.

    >>> canonical_json({"b": 1, "a": [None, "x"]})
    '{"a":[null,"x"],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


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


def request_key(identity: str, description: str) -> str:
    """The journal's key: the SHA-256 of the engine's identity and the request, both as canonical JSON."""
    return hashlib.sha256(f"{identity}\n{description}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A reply to record.

    Attributes:
        key: From :func:`request_key`.
        completion: The reply.
        identity: The engine's identity as canonical JSON, without secrets.
        request: From :func:`describe_request`; kept so that the file can be read by people.
    """

    key: str
    completion: Completion
    identity: str
    request: str


class Journal:
    """The replies recorded in one file. Safe to use from several threads and processes.

    Attributes:
        path: The SQLite file; it and its folder are created if they do not exist.

    Args:
        path: None is the default place.
        clock: Seconds since the epoch, by which a silent process is told.

    Raises:
        JournalError: If the file cannot be opened, is not a journal, or was written by a newer version.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path).expanduser() if path is not None else default_journal_path()
        self._lock = threading.Lock()
        self._engines: dict[str, int] = {}
        self._unreadable = set[str]()
        self._clock = clock
        self._claims = Claims(clock)
        self._closed = False
        self._connection = self._open()
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
            row = connection.execute(_SELECT, (key,)).fetchone()
        if row is None:
            return None
        try:
            return Completion.model_validate_json(row[0]).model_copy(update={"cached": True})
        except ValidationError as error:
            if key not in self._unreadable:
                self._unreadable.add(key)
                _logger.warning(
                    "the reply %r in the journal %r cannot be read (%d fault(s)); it counts as missing, and the next "
                    "reply takes its place",
                    key,
                    str(self.path),
                    error.error_count(),
                )
            return None

    def put(self, entries: Sequence[JournalEntry]) -> None:
        """Record replies, all of them or none. The first reply recorded under a key stays; claims on it are gone.

        Raises:
            JournalError: If the file cannot be written.
        """
        with self._writing() as connection:
            self._remove_unreadable(connection, [entry.key for entry in entries])
            connection.executemany(
                "INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?)",
                [self._row(connection, entry) for entry in entries],
            )
            self._claims.remove(connection, [entry.key for entry in entries])

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Claim the keys that have no reply and are not claimed by anyone alive; those that are now ours.

        A claim ends with :meth:`put`, :meth:`release` or :meth:`close`, with this process, or when :meth:`beat` was not
        called for a minute.

        Raises:
            JournalError: If the file cannot be written.
        """
        with self._writing() as connection:
            self._remove_unreadable(connection, keys)
            return self._claims.take(connection, keys)

    def claimed(self, key: str) -> bool:
        """Whether anyone alive has a claim on the key."""
        with self._connected() as connection:
            return self._claims.held(connection, key)

    def release(self, keys: Sequence[str]) -> None:
        """Give up claims of ours: no reply came."""
        with self._writing() as connection:
            self._claims.give_up(connection, keys)

    def beat(self) -> None:
        """Show the other processes that this one is at work. Cheap, and without effect before it is due."""
        with self._connected() as connection:
            self._claims.beat(connection)

    def close(self) -> None:
        """Close the file. Closing twice is harmless; using a closed journal is an error."""
        with self._lock:
            if self._process == os.getpid() and not self._closed:
                with suppress(sqlite3.Error):  # claims that stay are dead as soon as the process is
                    self._claims.leave(self._connection)
                self._connection.close()
            self._closed = True

    def _remove_unreadable(self, connection: sqlite3.Connection, keys: Sequence[str]) -> None:
        """Make room for replies to be asked for; what another process has put there meanwhile can be read and stays."""
        for key in self._unreadable.intersection(keys):
            row = connection.execute(_SELECT, (key,)).fetchone()
            if row is not None and not _is_readable(row[0]):
                connection.execute("DELETE FROM reply WHERE key = ?", (key,))

    def _row(self, connection: sqlite3.Connection, entry: JournalEntry) -> tuple[str, int, str, str, float]:
        engine = self._engines.get(entry.identity)
        if engine is None:
            engine = self._engines[entry.identity] = self._engine_id(connection, entry.identity)
        reply = entry.completion.model_dump_json(exclude_defaults=True, exclude={"cached"})
        return entry.key, engine, entry.request, reply, self._clock()

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
                self._connection, self._process, self._engines = self._open(), os.getpid(), {}
                self._claims = Claims(self._clock)
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise self._failure(error) from error

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

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(
                f"the folder of the journal {str(self.path)!r} cannot be made ({error.strerror}): {_ELSEWHERE}"
            ) from error
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
            )
            self._prepare(connection)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise self._failure(error) from error
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        self._use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not tables:
                for statement in _SCHEMA:
                    connection.execute(statement)
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if (application, version) == (APPLICATION_ID, 1):
                for statement in _FROM_VERSION_1:
                    connection.execute(statement)
                version = SCHEMA_VERSION
        finally:
            connection.execute("COMMIT")
        if application != APPLICATION_ID:
            raise JournalError(f"{str(self.path)!r} is an SQLite database but not a journal of evenhand: {_ELSEWHERE}")
        if version != SCHEMA_VERSION:
            raise JournalError(
                f"the journal {str(self.path)!r} has the format {version!r}, and this version of evenhand reads "
                f"{SCHEMA_VERSION!r}: update evenhand, or {_ELSEWHERE}"
            )

    @staticmethod
    def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
        """SQLite does not wait for its lock here, however long the busy time-out; another process may hold it."""
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

    def _failure(self, error: sqlite3.Error) -> JournalError:
        reason = str(error)
        if "not a database" in reason or "malformed" in reason:
            step = f"move the file away (its replies will be asked for again), or {_ELSEWHERE}"
        elif "locked" in reason:
            step = f"another program has held it for {BUSY_SECONDS:g} seconds: end that program, or {_ELSEWHERE}"
        elif "full" in reason:
            step = f"make room on the disk, or {_ELSEWHERE}"
        else:
            step = f"check that the file and its folder can be written, or {_ELSEWHERE}"
        return JournalError(f"the journal {str(self.path)!r} cannot be used ({reason}): {step}")


def _is_readable(completion: bytes) -> bool:
    try:
        Completion.model_validate_json(completion)
    except ValidationError:
        return False
    return True


def open_journal(setting: str | os.PathLike[str] | None) -> Journal | None:
    """The journal that a field or an option names: ``"default"``, a path, or None for none."""
    if setting is None:
        return None
    return Journal(None if setting == "default" else setting)
