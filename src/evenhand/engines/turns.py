"""What a run's event loop asks of the journal, and when it goes on judging.

Whoever goes on with a reply (reads the verdict, makes the next prompt) or sends a request waits for its turn, a few at
a time, so that the loop looks at its sockets in between: a reply that has arrived is written down before others are
thought about.
What a few such turns bring is one transaction: the replies are recorded, and the next calls claimed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

from evenhand.engines.claims import BEAT_SECONDS
from evenhand.engines.journal import Journal, JournalEntry
from evenhand.engines.journal_lines import Row
from evenhand.errors import BudgetExhaustedError, JournalError
from evenhand.numbers import format_count
from evenhand.votes import Completion

FIRST_LOOK_SECONDS: Final = 0.01
LATER_LOOK_SECONDS: Final = 0.2
TURNS_AT_ONCE: Final = 4
TURNS_A_TRANSACTION: Final = 2

Found = TypeVar("Found")

_logger = logging.getLogger(__name__)


class Turns:
    """The turns of one event loop, shared by all calls of a run.

    Attributes:
        journal: Where replies go.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._trouble: JournalError | None = None
        self._refused = False
        self._unrecorded: list[Row] = []
        self._stops: list[Callable[[], None]] = []
        self._changed = False
        self._rows: list[Row] = []
        self._claims: dict[str, asyncio.Future[set[str]]] = {}
        self._released: list[str] = []
        self._asking: list[asyncio.Future[set[str]]] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._given = 0
        self._users = 0
        self._beating: asyncio.Task[None] | None = None

    def when_stopped(self, stop: Callable[[], None]) -> None:
        """Call this when the journal cannot be used, so that no more calls are to be made."""
        self._stops.append(stop)

    async def next(self) -> None:
        """Wait for a turn to go on with a reply."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            turn.get_loop().call_soon(self._give_turn)
        await turn

    def get(self, key: str) -> Completion | None:
        """The recorded reply, marked as cached.

        Raises:
            BudgetExhaustedError: If the journal cannot be read; the run ends with its error.
        """
        return self._read(lambda: self.journal.get(key))

    async def record(self, entry: JournalEntry) -> None:
        """Put a reply in the journal; the claim on it is gone."""
        self._rows.append(entry.row())
        await self._at_the_end()

    async def claim(self, key: str, check: Callable[[], None]) -> Completion | None:
        """The reply that another asker got meanwhile, or None when the key is ours to ask for, and it is our turn.

        Args:
            key: What is asked for.
            check: Called while waiting for another asker; what it raises ends the waiting.

        Raises:
            BudgetExhaustedError: If the journal cannot be used, so that the reply could not be recorded.
        """
        while not await self._claimed(key):
            if self._trouble is not None:
                raise self._refusal()
            pause = FIRST_LOOK_SECONDS
            recorded = self.get(key)
            while recorded is None and self._read(lambda: self.journal.claimed(key)):
                await asyncio.sleep(pause)
                check()
                pause = min(LATER_LOOK_SECONDS, pause * 1.5)
            recorded = recorded or self.get(key)
            if recorded is not None:
                return recorded
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
            self._beating = asyncio.create_task(self._beat())
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
        """What ended a run before all its calls were made; None where they were."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        self._exchange()
        self._waiting.clear()
        kept = "every reply that came is in it"
        try:
            self.journal.exchange(self._unrecorded)  # there may be room again
        except JournalError as error:
            kept = f"{format_count(len(self._unrecorded), 'reply')} that came could not be recorded"
            _logger.warning("%s: %s", kept, error)
        self._unrecorded = []
        if self._trouble is None or not self._refused:
            return None
        return JournalError(
            f"{self._trouble}. No more calls were made; {kept}, and a second run asks only for what is missing. The "
            "votes that were cast are in this error's votes"
        )

    def _read(self, read: Callable[[], Found]) -> Found:
        try:
            return read()
        except JournalError as error:
            self._stop(error)
            raise self._refusal() from error

    def _stop(self, error: JournalError) -> None:
        """No more calls are made; what is on its way is waited for."""
        if self._trouble is None:
            _logger.warning("no new calls are made, and replies on their way are waited for: %s", error)
        self._trouble = self._trouble or error
        for stop in self._stops:
            stop()

    def _refusal(self) -> BudgetExhaustedError:
        """The error of a call that is not made."""
        self._refused = True
        return BudgetExhaustedError(f"no call is made whose reply could not be recorded: {self._trouble}")

    async def _beat(self) -> None:
        """What a power failure takes is no older than a beat."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(JournalError):  # where the disk is full, whoever is on this host sees that we are alive
                self.journal.beat()
                if self._changed:
                    self._changed = False
                    await asyncio.to_thread(self.journal.sync)

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
        taken = self._hand_over(rows, keys, released) if rows or keys or released else set()
        for asked in asking:
            if not asked.done():
                asked.set_result(taken)

    def _hand_over(self, rows: list[Row], claims: list[str], releases: list[str]) -> set[str]:
        """Record replies, and claim and release keys; where the journal fails, the replies stay in memory."""
        if self._trouble is None:
            try:
                taken = self.journal.exchange(rows, claims, releases)
            except JournalError as error:
                self._stop(error)
            else:
                self._changed = True
                return taken
        self._unrecorded += rows
        return set()

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
