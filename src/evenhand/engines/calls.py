"""The one path by which a run reaches an engine: journal, requests in flight, budget, and what it came to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass

from evenhand.engines.base import InterruptibleEngine, JudgeEngine, Request
from evenhand.engines.breaker import tell
from evenhand.engines.budget import Budget, Hold, Share
from evenhand.engines.door import check_may_see, classifications_of, why_withheld
from evenhand.engines.journal import Journal, JournalEntry, canonical_json, describe_request, request_key
from evenhand.engines.journal_batches import BatchingEngine, BatchRecords
from evenhand.engines.prices import REASKS, Prices
from evenhand.engines.turns import Turns
from evenhand.errors import (
    BudgetExhaustedError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    JournalError,
    MockModeError,
    UnreachableError,
    WithheldError,
)
from evenhand.numbers import format_count
from evenhand.votes import Completion


class Calls:
    """One engine's calls within one run, on one event loop.

    A request is answered, in this order, by an identical request in flight, by the journal, by another process that
    shares the journal and is asking for it, or by the engine. A call outlives a waiter that is cancelled, so that a
    reply already paid for is journaled all the same. Nothing leaves that the engine may not be shown, nor in mock mode,
    nor offline; what holds is read when the calls are made ready, in the thread of the caller.

    Attributes:
        engine: What answers.
        launched: Calls sent to the engine.

    Raises:
        InvalidInputError: If the budget limits the cost, and the engine's price is not known; or if an engine of
            batches has no journal.
    """

    def __init__(
        self,
        engine: JudgeEngine,
        journal: Journal | Turns | None = None,
        budget: Budget | None = None,
        *,
        offline: bool = False,
        most_replies: int | None = None,
    ) -> None:
        self.engine = engine
        self.launched = 0
        identity = engine.identity()
        self._identity = None if identity is None else canonical_json(dict(identity))
        self._withheld = None if identity is None else why_withheld(engine.judge_id, offline=offline)
        self._turns = Turns(journal) if isinstance(journal, Journal) else journal
        self._budget = budget if budget is not None else Budget()
        limited = self._budget.max_cost is not None and identity is not None
        self._prices = Prices(engine, self._budget.max_cost or 0.0) if limited else None
        if isinstance(engine, BatchingEngine) and not offline and self._budget.max_calls != 0:  # else nothing is sent
            _check_batches(engine, journaled=journal is not None, limited=limited)
        self._pending: dict[str, asyncio.Task[Completion]] = {}
        self._replies: dict[str, Completion] = {}  # of this run, where no journal keeps them
        self._most_replies = most_replies  # that are held so, the latest ones; None for all
        self._fatal: FatalEngineError | None = None

    @property
    def judge_id(self) -> str:
        """The engine's name in every vote."""
        return self.engine.judge_id

    @asynccontextmanager
    async def running(self, *, grace: float = 0.0) -> AsyncIterator[None]:
        """The engine's own context.

        When it ends by an error, the calls that are under way get ``grace`` seconds to bring their replies, which are
        journaled; when it is cancelled, none.
        """
        if isinstance(self.engine, InterruptibleEngine):
            self._budget.when_stopped(self.engine.stop_sending)
            if self._turns is not None:
                self._turns.when_stopped(self.engine.stop_sending)
        turns = nullcontext() if self._turns is None or self._identity is None else self._turns.running()
        opened = self.engine.running() if self._withheld is None else nullcontext()
        async with opened, turns:
            if self._withheld is None and self._turns is not None:
                if isinstance(self.engine, BatchingEngine):
                    self.engine.keep_in(self._turns.journal)
                else:
                    self._tell_of_batches(self._turns.journal)
            try:
                yield
            except asyncio.CancelledError:
                await self._wind_up(0.0)
                raise
            except BaseException:
                await self._wind_up(grace)
                raise
            await self._wind_up(grace)

    @property
    def away(self) -> UnreachableError | None:
        """Why nothing more can be asked of the engine: its server stayed away."""
        return self._fatal if isinstance(self._fatal, UnreachableError) else None

    def journaled(self, request: Request) -> Completion | None:
        """The journal's reply to a request, if it holds one; nothing is called and nothing is counted."""
        if self._identity is None or self._turns is None:
            return None
        return self._turns.journal.get(request_key(self._identity, describe_request(request)))

    @property
    def budgeted(self) -> bool:
        """Whether the engine's calls count in a budget."""
        return self._identity is not None

    def within(self, share: Share) -> SharedCalls:
        """These calls, launched on the places of one vote."""
        return SharedCalls(self, share)

    async def complete(self, request: Request, share: Share | None = None) -> Completion:
        """The reply to one request, on a place of this share of the budget, or else on any that is free.

        Raises:
            EngineError: When there is no reply.
            WithheldError: When the call must not be launched.
            DataClassificationError: When the engine may not be shown what is asked about.
            JournalError: When the journal fails.
        """
        check_may_see(self.engine, classifications_of(request))
        if self._identity is None:
            return await self._complete_free(request)
        if isinstance(self._withheld, MockModeError):
            raise MockModeError(str(self._withheld))
        description = describe_request(request)
        key = request_key(self._identity, description)
        if share is not None:
            return await self._complete_within(share, key, description, request)
        share = self._budget.share()
        try:
            return await self._complete_within(share, key, description, request)
        finally:
            share.close()

    async def _complete_within(self, share: Share, key: str, description: str, request: Request) -> Completion:
        quote = None if self._prices is None else self._prices.quote(request)
        if request.stage in REASKS:
            share.expect(1)
        while True:
            pending = self._pending.get(key)
            if pending is not None:
                share.skip()
                return await _shared(pending)
            recorded = self._replies.get(key) if self._turns is None else self._turns.get(key)
            if recorded is not None:
                share.skip()
                self._learn(request, recorded)
                return await self._in_turn(recorded)
            self._check_may_leave()
            if share.ready(quote):
                break
            await share.granted()
        task = asyncio.get_running_loop().create_task(self._call(key, description, request, share, share.take()))
        self._pending[key] = task
        task.add_done_callback(_retrieve)
        return await self._in_turn(await asyncio.shield(task))

    async def _in_turn(self, completion: Completion) -> Completion:
        """A reply, when it is its turn to be gone on with: others that have arrived are recorded first."""
        if self._turns is not None:
            await self._turns.next()
        return completion

    def _check_may_leave(self) -> None:
        """Nothing leaves offline, nor to an engine that has said that no request to it can succeed."""
        if self._withheld is not None:
            raise type(self._withheld)(str(self._withheld))
        if self._fatal is not None:
            raise FatalEngineError(str(self._fatal), cause=self._fatal.cause, attempts=0) from self._fatal

    async def _complete_free(self, request: Request) -> Completion:
        """An engine without identity costs nothing and repeats itself: no journal, no budget."""
        self.launched += 1
        return await self.engine.complete(request)

    async def _call(self, key: str, description: str, request: Request, share: Share, hold: Hold) -> Completion:
        try:
            if self._turns is None:
                completion = await self._ask(request, share, hold)
                if len(self._replies) == self._most_replies:
                    del self._replies[next(iter(self._replies))]
                self._replies[key] = completion.model_copy(update={"cached": True})
                return completion
            recorded = await self._turns.claim(key, self._check_budget)
            if recorded is not None:
                share.skip(hold)
                return recorded
            try:
                completion = await self._ask(request, share, hold)
                await self._turns.record(JournalEntry(key, completion, str(self._identity), description))
            except BaseException:
                self._turns.release(key)
                raise
            return completion
        finally:
            hold.release()
            del self._pending[key]

    async def _ask(self, request: Request, share: Share, hold: Hold) -> Completion:
        share.launch()
        self.launched += 1
        try:
            request.meter = hold
            completion = await self.engine.complete(request)
        except EngineError as error:
            if isinstance(error, FatalEngineError):
                self._fatal = self._fatal or error
            hold.settle(None, may_be_billed=error.may_be_billed)
            error.attempts = min(error.attempts, hold.attempts)  # without connections that were not made
            error.lost, error.at_risk = hold.lost, hold.at_risk
            if self.away is not None:
                self._budget.stop()
            raise
        except BudgetExhaustedError as error:  # what it risked is counted
            hold.settle(None)
            error.attempts, error.lost, error.at_risk = hold.attempts, hold.lost, hold.at_risk
            raise
        except BaseException:  # such as a run that is cancelled
            hold.settle(None, may_be_billed=True)
            raise
        self._learn(request, completion)
        hold.settle(completion)
        sent = {"attempts": hold.attempts, "lost": hold.lost, "at_risk": hold.at_risk}
        return completion.model_copy(update=sent)

    def _learn(self, request: Request, completion: Completion) -> None:
        if self._prices is not None:
            self._prices.learn(request, completion)

    def _tell_of_batches(self, journal: Journal) -> None:
        """Say where an earlier run left batches of this engine, whose requests are bought again one at a time."""
        with suppress(JournalError):  # which ends the run when a reply is looked for
            sent = [record for record in BatchRecords(journal).all() if record.identity == self._identity]
            requests = sum(record.requests for record in sent if record.state != "intended")
            if requests:
                tell(
                    f"{self.judge_id!r}: {format_count(requests, 'request')} in batches that were not collected yet: "
                    f"those that this run needs are bought again, unless 'evenhand resume {journal.path}' goes first"
                )

    def _check_budget(self) -> None:
        """Whoever waits for another process's reply stops waiting when the run is stopped."""
        if self._budget.stopped:
            raise BudgetExhaustedError("the run was interrupted while another process was asking for the reply")

    async def _wind_up(self, grace: float) -> None:
        if not self._pending:
            return
        _, late = await asyncio.wait(list(self._pending.values()), timeout=grace)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """A judge's calls for one vote, launched on that vote's places in the budget."""

    calls: Calls
    share: Share

    @property
    def judge_id(self) -> str:
        """The engine's name in every vote."""
        return self.calls.judge_id

    async def complete(self, request: Request) -> Completion:
        """The reply to one request; see :meth:`Calls.complete`."""
        return await self.calls.complete(request, self.share)


def _check_batches(engine: BatchingEngine, *, journaled: bool, limited: bool) -> None:
    """Refuse what would lose batches that were paid for, or would send a first vote in a batch of its own.

    Raises:
        InvalidInputError: If it is so.
    """
    if not journaled:
        raise InvalidInputError(
            "batch=True needs a journal, which keeps the names of the batches that were paid for: leave journal out, "
            "or name a file"
        )
    if limited and engine.most_reply_tokens is None:
        raise InvalidInputError(
            "max_cost with batch=True needs to know how long a reply may be: give the engine its max_tokens, or limit "
            "the run with max_calls instead"
        )


async def _shared(pending: asyncio.Task[Completion]) -> Completion:
    """The reply that another asker is waiting for, or the same failure; it is theirs to count."""
    try:
        completion = await asyncio.shield(pending)
    except (EngineError, WithheldError) as error:
        failure = copy(error)
        failure.attempts = failure.lost = 0
        failure.at_risk = 0.0
        raise failure from error
    return completion.model_copy(update={"cached": True})


def _retrieve(task: asyncio.Task[Completion]) -> None:
    """A call whose waiters were all cancelled ends without anyone to hear of its failure; that is not an error."""
    if not task.cancelled():
        task.exception()
