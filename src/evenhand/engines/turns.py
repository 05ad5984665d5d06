"""What one event loop asks of the journal: one transaction for all that comes up in one turn of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from evenhand.engines.claims import BEAT_SECONDS
from evenhand.engines.journal import Journal, JournalEntry
from evenhand.errors import JournalError
from evenhand.votes import Completion

FIRST_LOOK_SECONDS: Final = 0.01
LATER_LOOK_SECONDS: Final = 0.2


class JournalTurns:
    """Replies to record, keys to claim and claims to give up, gathered and handed over once a turn.

    Attributes:
        journal: Where they go.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._entries: list[JournalEntry] = []
        self._written: asyncio.Future[None] | None = None
        self._keys: list[str] = []
        self._taken: asyncio.Future[set[str]] | None = None
        self._released: list[str] = []

    def record(self, entry: JournalEntry) -> asyncio.Future[None]:
        """Done when the reply is in the journal, and the claim on it gone."""
        if self._written is None:
            loop = asyncio.get_running_loop()
            self._written = loop.create_future()
            loop.call_soon(self._write)
        self._entries.append(entry)
        return self._written

    async def claim(self, key: str, check: Callable[[], None]) -> Completion | None:
        """The reply that another asker got meanwhile, or None when the key is ours to ask for.

        Args:
            key: What is asked for.
            check: Called while waiting for another asker; what it raises ends the waiting.
        """
        while not await self._claimed(key):
            pause = FIRST_LOOK_SECONDS
            recorded = self.journal.get(key)
            while recorded is None and self.journal.claimed(key):
                await asyncio.sleep(pause)
                check()
                pause = min(LATER_LOOK_SECONDS, pause * 1.5)
            recorded = recorded or self.journal.get(key)
            if recorded is not None:
                return recorded
        return None

    def release(self, key: str) -> None:
        """Give up a claim at the end of this turn: no reply came."""
        if not self._released:
            asyncio.get_running_loop().call_soon(self._give_up)
        self._released.append(key)

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Shows other processes that this event loop is at work; at the end, nothing is left to hand over."""
        task = asyncio.get_running_loop().create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self._give_up()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self.journal.beat()

    async def _claimed(self, key: str) -> bool:
        """Whether the key is ours after this turn."""
        if self._taken is None:
            loop = asyncio.get_running_loop()
            self._taken = loop.create_future()
            loop.call_soon(self._take)
        self._keys.append(key)
        taken = self._taken
        try:
            return key in await asyncio.shield(taken)
        except asyncio.CancelledError:
            taken.add_done_callback(lambda _: self._release_unused(key, taken))
            raise

    def _release_unused(self, key: str, taken: asyncio.Future[set[str]]) -> None:
        if not taken.cancelled() and taken.exception() is None and key in taken.result():
            self.release(key)

    def _take(self) -> None:
        keys, taken = self._keys, self._taken
        self._keys, self._taken = [], None
        if taken is None or taken.done():  # the run was ended meanwhile
            return
        try:
            taken.set_result(self.journal.claim(keys))
        except JournalError as error:
            taken.set_exception(error)

    def _write(self) -> None:
        entries, written = self._entries, self._written
        self._entries, self._written = [], None
        failure: JournalError | None = None
        try:
            self.journal.put(entries)
        except JournalError as error:
            failure = error
        if written is None or written.done():  # the run was ended meanwhile; what was paid for is recorded all the same
            return
        if failure is None:
            written.set_result(None)
        else:
            written.set_exception(failure)

    def _give_up(self) -> None:
        keys, self._released = self._released, []
        if keys:
            with suppress(JournalError):  # the claims die with this process, or when it falls silent
                self.journal.release(keys)
