"""The journal's file: its tables, where it lies, who may read it, and what failed at it."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from evenhand.engines.claims import CLAIM_TABLES
from evenhand.errors import JournalError
from evenhand.files import cache_folder
from evenhand.numbers import format_bytes

APPLICATION_ID: Final = 0x65766E68  # "evnh": tells our files from other SQLite databases
SCHEMA_VERSION: Final = 4
BUSY_SECONDS: Final = 30.0

REPLY_COLUMNS: Final = """(key TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL REFERENCES engine (id),
    request TEXT NOT NULL, completion TEXT NOT NULL, recorded_at REAL NOT NULL, checksum BLOB NOT NULL)"""
BATCH_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS batch (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL UNIQUE,
    engine INTEGER NOT NULL REFERENCES engine (id), service TEXT NOT NULL, state TEXT NOT NULL, file TEXT, name TEXT,
    requests INTEGER NOT NULL, sent_at REAL NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS batched (key TEXT PRIMARY KEY, batch INTEGER NOT NULL, place INTEGER NOT NULL,
    request TEXT NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS batched_in ON batched (batch)",
)
SCHEMA: Final = (
    "CREATE TABLE engine (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE)",
    f"CREATE TABLE reply {REPLY_COLUMNS}",
    *CLAIM_TABLES,
    *BATCH_TABLES,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
ELSEWHERE: Final = "give another path (journal=…, or EVENHAND_CACHE_DIR), or switch the journal off (journal=None)"
LITTLE_ROOM: Final = 8 * 2**20
"""Bytes; where no more are free, a write that failed is taken to have failed of a full disk."""

CHECKPOINT_PAGES: Final = 4000
"""A checkpoint waits for the disk. A run has them made in a thread of their own, and only where that is too slow for
what it writes (16 MiB between two) does its event loop wait."""

COMPANIONS: Final = ("-wal", "-shm")
FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600


def default_journal_path() -> Path:
    """``journal.sqlite3`` in ``EVENHAND_CACHE_DIR``, or without it in the user's cache directory."""
    return cache_folder() / "journal.sqlite3"


def beside(path: Path, ending: str) -> Path:
    """A file that belongs to a journal, such as ``journal.sqlite3-wal``."""
    return path.with_name(path.name + ending)


def checksum(key: bytes, request: bytes, completion: bytes) -> bytes:
    """Of one row: 8 bytes of BLAKE2b over its key, its request and its reply."""
    return hashlib.blake2b(b"\x00".join((key, request, completion)), digest_size=8).digest()


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal, made where there is none.

    Raises:
        JournalError: If it cannot be opened, is not a journal, or was written by another version.
    """
    _make_private(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
        )
        _prepare(connection, path)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise failure(path, error) from error
        raise
    return connection


def failure(path: Path, error: sqlite3.Error) -> JournalError:
    """What SQLite says, with the next step."""
    reason, code = str(error), getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        step = f"{recovery(path)}; or move the file away (its replies will be asked for again), or {ELSEWHERE}"
    elif code == sqlite3.SQLITE_BUSY:
        step = f"another program has held it for {BUSY_SECONDS:g} seconds: end that program, or {ELSEWHERE}"
    elif code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _free(path) < LITTLE_ROOM):
        step = f"free room on the disk of {str(path.parent)!r}, or {ELSEWHERE}"
    elif code == sqlite3.SQLITE_IOERR and (limit := _file_size_limit()) is not None:
        step = (
            f"files of this process may have {format_bytes(limit)} at most: raise the limit (ulimit -f), or {ELSEWHERE}"
        )
    else:
        step = f"check that the file and its folder can be written, or {ELSEWHERE}"
    return JournalError(f"the journal {str(path)!r} cannot be used ({reason}): {step}")


def recovery(path: Path) -> str:
    """How the replies of a damaged journal are saved, as far as SQLite can read them."""
    file = shlex.quote(str(path))
    return f"'sqlite3 {file} \".recover\" | sqlite3 NEW.sqlite3' writes what can still be read to a new journal"


def _free(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return 0


def _file_size_limit() -> int | None:
    """The largest file that this process may write, where there is a limit."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _make_private(path: Path) -> None:
    """Make the folder and the file for their owner alone; what exists and is ours is tightened."""
    try:
        if not path.parent.is_dir():
            path.parent.parent.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
        elif _is_ours(path.parent, path):
            tighten(path.parent, FOLDER_MODE)
    except OSError as error:
        raise JournalError(
            f"the folder of the journal {str(path)!r} cannot be made ({error.strerror}): {ELSEWHERE}"
        ) from error
    with suppress(OSError):  # what is wrong with the place, SQLite says
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    for file in (path, *(beside(path, ending) for ending in COMPANIONS)):
        tighten(file, FILE_MODE)


def _is_ours(folder: Path, path: Path) -> bool:
    """Whether a folder that exists is evenhand's alone: the cache folder, with nothing in it but journals."""
    if folder != cache_folder():
        return False
    if not os.environ.get("EVENHAND_CACHE_DIR"):
        return True
    return all(entry.name.startswith(path.name) for entry in folder.iterdir())


def tighten(path: Path, mode: int) -> None:
    """Take from others what a mode does not give them, where the file is this user's; without effect on Windows."""
    if os.name != "posix":
        return
    with suppress(OSError):
        found = path.lstat()
        if found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode) and stat.S_IMODE(found.st_mode) & ~mode:
            path.chmod(stat.S_IMODE(found.st_mode) & mode)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    _use_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in SCHEMA:
                connection.execute(statement)
        application, version = identified(connection)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    check_identity(path, application, version)


def identified(connection: sqlite3.Connection) -> tuple[int, int]:
    """Whose database it is, and in which version."""
    application, version = (connection.execute(f"PRAGMA {name}_{kind}").fetchone()[0] for name, kind in _STAMPS)
    return application, version


_STAMPS: Final = (("application", "id"), ("user", "version"))


def check_identity(path: Path, application: int, version: int) -> None:
    """Refuse what is no journal, or is of a version that is not known here.

    Raises:
        JournalError: If it is so.
    """
    if application != APPLICATION_ID:
        raise JournalError(f"{str(path)!r} is an SQLite database but not a journal of evenhand: {ELSEWHERE}")
    if version != SCHEMA_VERSION:
        raise JournalError(
            f"the journal {str(path)!r} has the format {version!r}, and this version of evenhand reads "
            f"{SCHEMA_VERSION!r}: use the version that wrote it, or {ELSEWHERE}"
        )


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
