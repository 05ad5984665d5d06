"""What a run's event loop asks of the journal, and when it goes on judging.

Whoever goes on with a reply (reads the verdict, makes the next prompt) or sends a request waits for its turn, a few at
a time, so that the loop looks at its sockets in between: a reply that has arrived is written down before others are
thought about.
What a few such turns bring is one transaction: the replies are recorded, and the next calls claimed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from evenhand.engines.claims import BEAT_SECONDS
from evenhand.engines.holding import HoldingJournal
from evenhand.engines.journal import Journal, JournalEntry
from evenhand.engines.journal_lines import Row
from evenhand.errors import JournalError
from evenhand.votes import Completion

FIRST_LOOK_SECONDS: Final = 0.01
LATER_LOOK_SECONDS: Final = 0.2
RETRY_SECONDS: Final = 0.5
TURNS_AT_ONCE: Final = 4
TURNS_A_TRANSACTION: Final = 2


class Turns:
    """The turns of one event loop, shared by all calls of a run.

    Attributes:
        journal: Where replies go.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._journal = HoldingJournal(journal)
        self._rows: list[Row] = []
        self._claims: dict[str, asyncio.Future[set[str]]] = {}
        self._released: list[str] = []
        self._asking: list[asyncio.Future[set[str]]] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._given = 0
        self._users = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def next(self) -> None:
        """Wait for a turn to go on with a reply."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            turn.get_loop().call_soon(self._give_turn)
        await turn

    def get(self, key: str) -> Completion | None:
        """The recorded reply, marked as cached; see :meth:`HoldingJournal.get`."""
        return self._journal.get(key)

    async def record(self, entry: JournalEntry) -> None:
        """Put a reply in the journal, or hold it; the claim on it is gone."""
        row = entry.row()
        self._journal.add(row)
        self._rows.append(row)
        await self._at_the_end()

    async def claim(self, key: str, check: Callable[[], None]) -> Completion | None:
        """The reply that another asker got meanwhile, or None when the key is ours to ask for, and it is our turn.

        Args:
            key: What is asked for.
            check: Called while waiting for another asker, or for room on the disk; what it raises ends the waiting.

        Raises:
            BudgetExhaustedError: If the reply could not be recorded.
        """
        while not await self._claimed(key):
            pause = FIRST_LOOK_SECONDS
            recorded = self.get(key)
            while recorded is None and self._journal.claimed(key):
                await asyncio.sleep(pause)
                check()
                pause = min(LATER_LOOK_SECONDS, pause * 1.5)
            recorded = recorded or self.get(key)
            if recorded is not None:
                return recorded
            while self._journal.trouble is not None:
                check()
                if self._journal.ended:
                    raise self._journal.refusal()
                await asyncio.sleep(LATER_LOOK_SECONDS)
        try:
            await self.next()
        except asyncio.CancelledError:
            self.release(key)
            raise
        return None

    def release(self, key: str) -> None:
        """Give up a claim at the end of this turn: no reply came."""
        self._released.append(key)
        self._at_the_end()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Shows other processes that this event loop is at work; at the end, nothing is left to hand over.

        Raises:
            JournalError: If calls were not made because their replies could not be recorded.
        """
        self._users += 1
        if self._users == 1:
            self._journal.start()
            self._tasks = [asyncio.create_task(each) for each in (self._beat(), self._retry())]
        failure = None
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                failure = await self._finish()
        if failure is not None:
            raise failure

    async def _finish(self) -> JournalError | None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._exchange()
        self._waiting.clear()
        return self._journal.finish()

    async def _beat(self) -> None:
        """What a power failure takes is no older than a beat."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(JournalError):  # where the disk is full, whoever is on this host sees that we are alive
                self.journal.beat()
                if self._journal.changed:
                    self._journal.changed = False
                    await asyncio.to_thread(self.journal.sync)

    async def _retry(self) -> None:
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            self._journal.try_again()

    async def _claimed(self, key: str) -> bool:
        """Whether the key is ours after this turn."""
        asked = self._at_the_end()
        if self._claims.setdefault(key, asked) is not asked:  # two judges that are one engine ask for the same
            await asked
            return False
        try:
            return key in await asked
        except asyncio.CancelledError:
            if not asked.cancelled() and key in asked.result():
                self.release(key)
            raise

    def _at_the_end(self) -> asyncio.Future[set[str]]:
        """Of this turn: done when what it brought is handed over, with the keys that are ours."""
        loop = asyncio.get_running_loop()
        if not self._asking and not self._waiting:
            loop.call_soon(self._exchange)
        self._asking.append(loop.create_future())
        return self._asking[-1]

    def _exchange(self) -> None:
        rows, claims, released, asking = self._rows, self._claims, self._released, self._asking
        self._rows, self._claims, self._released, self._asking = [], {}, [], []
        keys = [key for key, asked in claims.items() if not asked.cancelled()]
        taken = self._journal.exchange(rows, keys, released) if rows or keys or released else set()
        for asked in asking:
            if not asked.done():
                asked.set_result(taken)

    def _give_turn(self) -> None:
        loop = self._waiting[0].get_loop()
        for _ in range(min(TURNS_AT_ONCE, len(self._waiting))):
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
        self._given += 1
        if self._waiting:
            loop.call_soon(self._give_turn)
        if self._asking and (not self._waiting or self._given % TURNS_A_TRANSACTION == 0):
            loop.call_soon(self._exchange)
