"""The one path by which a run reaches an engine: journal, requests in flight, budget, and what it came to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.journal import Entry, Journal, canonical_json, describe_request, request_key
from evenhand.errors import BudgetExhaustedError, EngineError, FatalEngineError, InvalidInputError, JournalError
from evenhand.votes import Completion, Usage


class Budget:
    """How many calls one run may launch, and what they may cost; shared by all its engines.

    A call counts when it is launched, whether or not it succeeds; the retries inside an engine are part of their
    call. Replies taken from a journal are free. The cost of the calls in flight is not known, so they are assumed to
    cost what the finished ones did on average; only the calls launched before the first reply can exceed ``max_cost``.

    Attributes:
        max_calls: None for no limit.
        max_cost: US dollars; None for no limit. Reached too when a reply has no known price.
        launched: Calls launched.
        in_flight: Calls launched and not yet answered.
        cost: US dollars that the answered calls cost.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        if max_calls is not None and max_calls < 0:
            raise InvalidInputError(f"max_calls is {max_calls!r}; give a number of calls from 0, or None for no limit")
        if max_cost is not None and not max_cost >= 0:
            raise InvalidInputError(f"max_cost is {max_cost!r}; give US dollars from 0, or None for no limit")
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.launched = 0
        self.in_flight = 0
        self.cost = 0.0
        self._priced = 0
        self._unpriced: str | None = None

    def __repr__(self) -> str:
        return f"Budget(max_calls={self.max_calls!r}, max_cost={self.max_cost!r})"

    def launch(self) -> None:
        """Count one more call in flight.

        Raises:
            BudgetExhaustedError: If it must not be launched.
        """
        if self.max_calls is not None and self.launched >= self.max_calls:
            raise BudgetExhaustedError(
                f"max_calls={self.max_calls!r} was reached: raise it and run again; what was answered is journaled"
            )
        if self.max_cost is not None:
            self._check_cost(self.max_cost)
        self.launched += 1
        self.in_flight += 1

    def settle(self, completion: Completion | None) -> None:
        """Count a call as answered, or as failed when there is no completion."""
        self.in_flight -= 1
        if completion is None:
            return
        if completion.cost is None:
            self._unpriced = completion.model or "the engine"
        else:
            self.cost += completion.cost
            self._priced += 1

    def _check_cost(self, max_cost: float) -> None:
        if self._unpriced is not None:
            raise BudgetExhaustedError(
                f"max_cost={max_cost!r} cannot be kept, because the price of {self._unpriced!r} is not known: "
                "limit the run with max_calls instead, or give the engine its prompt_price and completion_price "
                "(0 for a server of your own)"
            )
        mean = self.cost / self._priced if self._priced else 0.0
        if self.cost + self.in_flight * mean + mean > max_cost or max_cost == 0:
            raise BudgetExhaustedError(
                f"max_cost={max_cost!r} was reached ({self.cost:.6g} spent, {self.in_flight} calls in flight): "
                "raise it and run again; what was answered is journaled"
            )


class Calls:
    """One engine's calls within one run, on one event loop.

    A request is answered, in this order, by an identical request in flight, by the journal, or by the engine. A call
    outlives a waiter that is cancelled, so that a reply already paid for is journaled all the same.

    Attributes:
        engine: What answers.
        launched: Calls sent to the engine.
        failed: Calls that brought no reply.
        usage: What the replies given out consumed, those from the journal marked as such.
    """

    def __init__(self, engine: JudgeEngine, journal: Journal | None = None, budget: Budget | None = None) -> None:
        self.engine = engine
        self.launched = 0
        self.failed = 0
        identity = engine.identity()
        self._identity = None if identity is None else canonical_json(dict(identity))
        self._journal = journal
        self._budget = budget if budget is not None else Budget()
        self._pending: dict[str, asyncio.Task[Completion]] = {}
        self._unwritten: list[Entry] = []
        self._written: asyncio.Future[None] | None = None
        self._fatal: FatalEngineError | None = None
        self._answered = 0
        self._cached = 0
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._cost: float | None = None

    @property
    def judge_id(self) -> str:
        """The engine's name in every vote."""
        return self.engine.judge_id

    @property
    def usage(self) -> Usage:
        """What the replies given out consumed so far."""
        return Usage(
            calls=self._answered,
            cached=self._cached,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            cost=self._cost,
        )

    @asynccontextmanager
    async def running(self, *, grace: float = 0.0) -> AsyncIterator[None]:
        """The engine's own context; at its end, calls whose waiters were cancelled get ``grace`` seconds to finish."""
        async with self.engine.running():
            try:
                yield
            finally:
                await self._wind_up(grace)

    def journaled(self, request: Request) -> Completion | None:
        """The journal's reply to a request, if it holds one; nothing is called and nothing is counted."""
        if self._identity is None or self._journal is None:
            return None
        return self._journal.get(request_key(self._identity, describe_request(request)))

    async def complete(self, request: Request) -> Completion:
        """The reply to one request.

        Raises:
            EngineError: When there is no reply.
            BudgetExhaustedError: When the call must not be launched.
            JournalError: When the journal fails.
        """
        if self._identity is None:
            return await self._complete_free(request)
        description = describe_request(request)
        key = request_key(self._identity, description)
        pending = self._pending.get(key)
        if pending is not None:
            completion = await asyncio.shield(pending)
            return self._count(completion.model_copy(update={"cached": True}))
        if self._journal is not None:
            recorded = self._journal.get(key)
            if recorded is not None:
                return self._count(recorded)
        if self._fatal is not None:
            raise FatalEngineError(str(self._fatal), cause=self._fatal.cause, attempts=0) from self._fatal
        self._budget.launch()
        self.launched += 1
        task = asyncio.get_running_loop().create_task(self._call(key, description, self._identity, request))
        self._pending[key] = task
        task.add_done_callback(_retrieve)
        return self._count(await asyncio.shield(task))

    async def _complete_free(self, request: Request) -> Completion:
        """An engine without identity costs nothing and repeats itself: no journal, no budget."""
        self.launched += 1
        try:
            completion = await self.engine.complete(request)
        except EngineError:
            self.failed += 1
            raise
        return self._count(completion)

    async def _call(self, key: str, description: str, identity: str, request: Request) -> Completion:
        completion: Completion | None = None
        try:
            completion = await self.engine.complete(request)
            if self._journal is not None:
                await self._record(self._journal, Entry(key, completion, identity, description))
        except FatalEngineError as error:
            self._fatal = self._fatal or error
            self.failed += 1
            raise
        except EngineError:
            self.failed += 1
            raise
        finally:
            self._budget.settle(completion)
            del self._pending[key]
        return completion

    def _record(self, journal: Journal, entry: Entry) -> asyncio.Future[None]:
        """Done when the reply is in the journal: replies that arrive in one turn of the event loop share a write."""
        if self._written is None:
            loop = asyncio.get_running_loop()
            self._written = loop.create_future()
            loop.call_soon(self._write, journal)
        self._unwritten.append(entry)
        return self._written

    def _write(self, journal: Journal) -> None:
        entries, written = self._unwritten, self._written
        self._unwritten, self._written = [], None
        failure: JournalError | None = None
        try:
            journal.put(entries)
        except JournalError as error:
            failure = error
        if written is None or written.done():  # the run was ended meanwhile; what was paid for is recorded all the same
            return
        if failure is None:
            written.set_result(None)
        else:
            written.set_exception(failure)

    def _count(self, completion: Completion) -> Completion:
        if completion.cached:
            self._cached += 1
        else:
            self._answered += 1
            if completion.cost is not None:
                self._cost = (self._cost or 0.0) + completion.cost
        self._prompt_tokens += completion.prompt_tokens or 0
        self._completion_tokens += completion.completion_tokens or 0
        return completion

    async def _wind_up(self, grace: float) -> None:
        if not self._pending:
            return
        _, late = await asyncio.wait(list(self._pending.values()), timeout=grace)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


def _retrieve(task: asyncio.Task[Completion]) -> None:
    """A call whose waiters were all cancelled ends without anyone to hear of its failure; that is not an error."""
    if not task.cancelled():
        task.exception()
