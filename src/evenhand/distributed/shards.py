"""The folder of a distributed run beside its parts: a journal and a ledger for each worker, and who is at work.

A worker writes into a journal of its own, a shard, which no other machine writes, so that no two machines ever share an
SQLite file that is written. It looks for a reply there, in the run's journal, which nobody writes meanwhile, and in the
shards of workers that have died. When the run ends, and before the next one begins, the shards are put into the run's
journal.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Final

from evenhand.by_name import open as open_results
from evenhand.distributed.coordinator import Amount
from evenhand.distributed.lease import Ledger
from evenhand.engines.journal import SELECT_REPLY, Journal, Process, failure, is_running, reply_of, this_process
from evenhand.engines.journal_tools import merged
from evenhand.errors import InvalidInputError
from evenhand.results.resumed import part_path, with_rows, write_part
from evenhand.votes import Completion

SILENT_SECONDS: Final = 15.0
"""A worker on another machine whose sign of life stood still for so long is taken for dead."""

LONGEST_WAIT: Final = 90.0
_LOOK_SECONDS: Final = 0.2


class ShardJournal(Journal):
    """The journal of one worker, which finds what others have bought, too."""

    def __init__(self, path: Path, run: Path, *, elsewhere: bool) -> None:
        super().__init__(path)
        self._others: dict[Path, Journal] = {}
        self._run = _ReadOnly(run, elsewhere=elsewhere) if run.is_file() else None

    def get(self, key: str) -> Completion | None:
        """The recorded reply, marked as cached, wherever it is."""
        found = super().get(key)
        for other in () if found is not None else (self._run, *self._others.values()):
            if other is not None and (found := other.get(key)) is not None:
                break
        return found

    def read_too(self, shard: Path) -> None:
        """Look for replies in the shard of a worker that has died, too."""
        if shard not in self._others and shard != self.path and shard.exists():
            self._others[shard] = Journal(shard)


class _ReadOnly:
    """A journal in which a reply is looked for and nothing is written, on its own machine or another one."""

    def __init__(self, path: Path, *, elsewhere: bool) -> None:
        self._path = path
        self._lock = threading.Lock()
        how = "mode=ro&immutable=1" if elsewhere else "mode=ro"  # no lock of SQLite's is seen on another machine
        try:
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise failure(path, error) from error

    def get(self, key: str) -> Completion | None:
        """The recorded reply, marked as cached."""
        try:
            with self._lock:
                row = self._connection.execute(SELECT_REPLY, (key,)).fetchone()
        except sqlite3.Error as error:
            raise failure(self._path, error) from error
        return None if row is None else reply_of(key, *row)


class Shards:
    """The folder, ``shards``, in that of the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shards"

    def journal(self, worker: str) -> Path:
        """The journal of a worker."""
        return self.folder / f"{worker}.sqlite3"

    def ledger(self, worker: str) -> Path:
        """What it has spent."""
        return self.folder / f"{worker}.spent"

    def shard_of(self, worker: str) -> str | None:
        """The journal of a worker, where it kept one."""
        path = self.journal(worker)
        return str(path) if path.exists() else None

    def again_of(self, part: int) -> Callable[[int], Path]:
        """Where rows go that are judged again, which a part holds without all their votes."""
        return lambda number: self.folder / f"again-{part:06}-{number:06}.parquet"

    def put_in_place(self) -> None:
        """Put the rows that were judged again into the parts that hold them."""
        for path in sorted(self.folder.glob("again-*.parquet")):
            place = part_path(self.folder.parent, int(path.name.split("-")[1]))
            old = open_results(place)
            write_part(place, with_rows(old, open_results(path)), old.run_file)
            path.unlink()

    def spent(self, worker: str) -> Amount | None:
        """What a worker wrote down of its spending."""
        return Ledger.read(self.ledger(worker))

    def begin(self, worker: str) -> None:
        """Say that a worker, this process, is at work."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._alive(worker).write_text(json.dumps(astuple(this_process())), encoding="utf-8")

    def beat(self, worker: str) -> None:
        """Give a sign of life."""
        with suppress(OSError):
            os.utime(self._alive(worker))

    def wait(self) -> None:
        """Wait until no worker of an earlier run is at work: where its driver was killed, they end within seconds.

        Raises:
            InvalidInputError: If one goes on.
        """
        begun, marks = time.monotonic(), dict[Path, tuple[float, float]]()
        while alive := [path for path in self.folder.glob("*.alive") if _is_alive(path, marks)]:
            if time.monotonic() - begun > LONGEST_WAIT:
                raise InvalidInputError(
                    f"another run is writing to {str(self.folder.parent)!r} ({len(alive)} workers are at work): wait "
                    "for its end, or name another folder"
                )
            time.sleep(_LOOK_SECONDS)

    def merge(self, journal: Path | None) -> None:
        """Put the replies of all shards into the run's journal, and remove the folder.

        Raises:
            JournalError: If one of them cannot be read or written; all shards stay that were not put there.
        """
        shards = sorted(self.folder.glob("*.sqlite3"))
        if shards and journal is not None:
            with Journal(journal) as whole:
                for shard in shards:
                    merged(whole, shard)
        if not shards or journal is not None:
            for path in [*self.folder.glob("*.alive"), *self.folder.glob("*.spent")]:
                path.unlink(missing_ok=True)
            with suppress(OSError):
                self.folder.rmdir()

    def _alive(self, worker: str) -> Path:
        return self.folder / f"{worker}.alive"


def _is_alive(path: Path, marks: dict[Path, tuple[float, float]]) -> bool:
    """Whether a worker is at work: seen by its process here, and by its signs of life on other machines."""
    try:
        process, beat = Process(*json.loads(path.read_text(encoding="utf-8"))), path.stat().st_mtime
    except (OSError, ValueError, TypeError):
        return False
    running = is_running(process, this_process().host)
    if running is not None:
        return running
    now = time.monotonic()
    last, since = marks.get(path, (beat, now))
    marks[path] = (beat, since if beat == last else now)
    return now - marks[path][1] < SILENT_SECONDS
