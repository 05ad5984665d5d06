"""Who is asking for what: the claims of the processes that share a journal, and which of these processes are alive.

A claim belongs to an owner, the journal object of one process. It is dead when that process is gone (seen from the same
host by its number and its start), or when its owner gives no sign of life for a minute: it hangs, or its host cannot be
seen from here. A sign of life is a number that changes. Whoever waits counts the silence by its own clock, and only as
long as it looks itself, so that no two clocks are ever compared, and what stood still with the others (a host that
slept) takes nobody for dead.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BEAT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.5
LONGEST_LOOK_SECONDS: Final = 2.0
"""Of the time between two looks, so much counts as silence at most."""

CLAIM_TABLES: Final = (
    """CREATE TABLE owner (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, pid INTEGER NOT NULL,
    started TEXT NOT NULL, beat INTEGER NOT NULL DEFAULT 0)""",
    "CREATE TABLE claim (key TEXT PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID",
)
_TAKE: Final = """INSERT INTO claim SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM reply WHERE key = ?1)
    ON CONFLICT DO NOTHING"""


class Claims:
    """The claims of one journal object; every method is given the journal's connection.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._process = this_process()
        self._id: int | None = None
        self._new = False
        self._beat_at = -BEAT_SECONDS
        self._watched: dict[int, _Watched] = {}

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
        if connection.execute("UPDATE owner SET beat = beat + 1 WHERE id = ?", (self._id,)).rowcount == 0:
            self._id = None  # taken for dead: this process hung
        self._beat_at = now

    def leave(self, connection: sqlite3.Connection) -> None:
        """Claim nothing any more."""
        if self._id is not None:
            self._remove_owner(connection, self._id)
            self._id = None

    def committed(self) -> None:
        """The transaction holds."""
        self._new = False

    def undone(self) -> None:
        """The transaction does not hold: what was known of the file may be wrong."""
        if self._new:
            self._id, self._new = None, False
        self._beat_at = -BEAT_SECONDS
        self._watched.clear()

    def _present(self, connection: sqlite3.Connection) -> int:
        """Our owner's number; the first time, those who are gone are cleared away."""
        self.beat(connection)
        if self._id is None:
            for (other,) in connection.execute("SELECT id FROM owner").fetchall():
                if not self._is_alive(connection, other):
                    self._remove_owner(connection, other)
            self._beat_at = self._clock()
            process = self._process
            added = connection.execute(
                "INSERT INTO owner (host, pid, started) VALUES (?, ?, ?)",
                (process.host, process.pid, process.started),
            )
            self._id, self._new = added.lastrowid, True
        assert self._id is not None  # noqa: S101 - SQLite numbers what it inserts
        return self._id

    def _take_over(self, connection: sqlite3.Connection, key: str, owner: int) -> bool:
        row = connection.execute("SELECT owner FROM claim WHERE key = ?", (key,)).fetchone()
        if row is None or self._is_alive(connection, row[0]):
            return False
        self._remove_owner(connection, row[0])
        return connection.execute(_TAKE, (key, owner)).rowcount == 1

    def _remove_owner(self, connection: sqlite3.Connection, owner: int) -> None:
        self._watched.pop(owner, None)
        connection.execute("DELETE FROM claim WHERE owner = ?", (owner,))
        connection.execute("DELETE FROM owner WHERE id = ?", (owner,))

    def _is_alive(self, connection: sqlite3.Connection, owner: int) -> bool:
        """Looked up at most twice a second for each owner: many wait for one."""
        now, watched = self._clock(), self._watched.get(owner)
        if watched is not None and now - watched.looked_at <= LOOK_SECONDS:
            return watched.silent <= SILENT_SECONDS
        row = connection.execute("SELECT host, pid, started, beat FROM owner WHERE id = ?", (owner,)).fetchone()
        if row is None or is_running(Process(*row[:3]), self._process.host) is False:
            return False
        if watched is None or watched.beat != row[3]:
            watched = self._watched[owner] = _Watched(row[3], now)
        else:
            watched.silent += min(now - watched.looked_at, LONGEST_LOOK_SECONDS)
            watched.looked_at = now
        return watched.silent <= SILENT_SECONDS


@dataclass(slots=True)
class _Watched:
    """What was seen of another owner: its last sign of life, when it was looked at, and how long it was silent."""

    beat: int
    looked_at: float
    silent: float = 0.0


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
