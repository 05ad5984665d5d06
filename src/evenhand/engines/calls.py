"""The one path by which a run reaches an engine: may it be asked at all, journal, requests in flight, budget.

A reply is in the journal before its asker goes on. Replies that arrive together, and the keys of the next calls, are
one transaction. While many slow calls are under way, each transaction waits 10 ms for more writes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from copy import copy
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from evenhand.engines.base import JudgeEngine, Request, not_sent
from evenhand.engines.batches import BatchJudge
from evenhand.engines.budget import Budget, Hold, Prices, Share
from evenhand.engines.journal import BEAT_SECONDS, Journal, Row, canonical_json, describe_request, request_key
from evenhand.errors import (
    BudgetExhaustedError,
    DataClassificationError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    JournalError,
    MockModeError,
    OfflineError,
    UnreachableError,
    WithheldError,
)
from evenhand.numbers import format_count
from evenhand.question import Question
from evenhand.votes import Completion

MOCK_VARIABLE: Final = "UNITXT_MOCK_INFERENCE_MODE"
OFFLINE_VARIABLE: Final = "EVENHAND_OFFLINE"
POLICY_VARIABLE: Final = "UNITXT_DATA_CLASSIFICATION_POLICY"


def mock_mode() -> bool:
    """Return whether unitxt's mock mode is on: its setting, or the environment variable, where unitxt is not loaded.

    A setting made with ``unitxt.settings.context`` holds for the thread that made it: ask in the thread of the caller.

    Raises:
        InvalidInputError: If the variable is set to something that unitxt does not understand.
    """
    loaded = sys.modules.get("unitxt.settings_utils")
    with suppress(ValueError):  # unitxt's own words for a variable that it cannot read do not name it
        if loaded is not None:
            return bool(loaded.get_settings().mock_inference_mode)
    return bool(_variable(MOCK_VARIABLE, TypeAdapter(bool), SWITCH))


_Value = TypeVar("_Value")
SWITCH: Final = "True, False, 1, 0"
_POLICIES: Final = TypeAdapter(dict[str, list[str]])


def _variable(name: str, kind: TypeAdapter[_Value], accepted: str) -> _Value | None:
    """Return the value of an environment variable; None if it has none.

    Raises:
        InvalidInputError: If it is not of this kind.
    """
    value = os.environ.get(name, "").strip()
    try:
        return kind.validate_json(value.casefold() if accepted is SWITCH else value) if value else None
    except ValidationError as error:
        message = f"the environment variable {name} is {value!r}; accepted: {accepted}"
        raise InvalidInputError(message) from error


def why_withheld(judge_id: str, *, offline: bool = False) -> WithheldError | None:
    """Return why nothing is sent now to an engine that sends; None if calls may leave.

    Args:
        judge_id: The judge that would be asked.
        offline: Whether the run is offline.
    """
    if mock_mode():
        return MockModeError(
            f"the judge {judge_id!r} was not asked: unitxt's mock_inference_mode is on, and then no engine sends "
            f"anything and nothing is judged; switch it off ({MOCK_VARIABLE}=False) to judge"
        )
    if offline or _variable(OFFLINE_VARIABLE, TypeAdapter(bool), SWITCH):
        how = "offline=True" if offline else f"{OFFLINE_VARIABLE}={os.environ.get(OFFLINE_VARIABLE)}"
        return OfflineError(
            f"the judge {judge_id!r} was not asked: {how} says that nothing is sent, and the journal holds no "
            "reply to this request; run it once without, with the same journal"
        )
    return None


def classifications_set(*names: str) -> tuple[str, ...] | None:
    """Return what the environment lets an engine of one of these names see; None if it says nothing of it.

    Raises:
        InvalidInputError: If the variable does not hold lists of classifications by name.
    """
    accepted = 'a JSON object such as {"OpenAICompatibleEngine": ["public"]}'
    policies = _variable(POLICY_VARIABLE, _POLICIES, accepted) or {}
    return next((tuple(policies[name]) for name in names if policies.get(name)), None)


def questions_of(request: Request) -> list[Question]:
    """Return the questions of a request: one, those of its sheet, or none if it has only messages."""
    return [item.question for item in request.items] if request.question is None else [request.question]


def check_classified(questions: Iterable[Question], judges: Sequence[JudgeEngine]) -> None:
    """Check that every judge may be shown what every question is about.

    As unitxt has it: a judge that names no classifications may be shown everything, data without one may be shown to
    everyone, and else one of the data's must be among the judge's.

    Raises:
        DataClassificationError: If a judge may not.
    """
    policies = [(judge, getattr(judge, "data_classification_policy", None) or ()) for judge in judges]
    for question in questions:
        for judge, allowed in policies:
            unseen = [each for each in question.classifications if allowed and not set(each) & set(allowed)]
            if unseen:
                raise DataClassificationError(
                    f"what is shown about instance {question.instance} has the data classification "
                    f"{list(unseen[0])!r}, and the judge {judge.judge_id!r} may only be shown data of "
                    f"{list(allowed)!r} (its data_classification_policy), so nothing was sent: take an engine that may "
                    "see them, or, where this one may, write "
                    f"[data_classification_policy=[{','.join([*allowed, unseen[0][0]])}]] behind its name, address or "
                    "id; or mend the classification of the data"
                )


_logger = logging.getLogger(__name__)

GATHERED_SECONDS: Final = 0.01
"""A transaction waits this long for more writes while many slow calls are under way: then other requests are ready."""
MANY_CALLS: Final = 32
SLOW_CALL_SECONDS: Final = 0.25


class JournalWriter:
    """Writes to a journal for all calls of a run on one event loop: one transaction for all writes of one turn.

    Where the journal fails, the budget is stopped, so that no more calls are made; the replies stay in memory.

    Attributes:
        journal: The journal that records replies.
        gathers: Transactions wait :data:`GATHERED_SECONDS` for more writes.
    """

    def __init__(self, journal: Journal, budget: Budget) -> None:
        self.journal, self._budget = journal, budget
        self.gathers = False
        self._trouble: JournalError | None = None
        self._changed = False
        self._unrecorded = 0
        self._rows: list[Row] = []
        self._claims: list[str] = []
        self._releases: list[str] = []
        self._handed_over: asyncio.Future[set[str]] | None = None
        self._users = 0
        self._beating: asyncio.Task[None] | None = None

    def get(self, key: str) -> Completion | None:
        """Return the recorded reply, marked as cached.

        Raises:
            BudgetExhaustedError: If the journal cannot be read; the run ends with its error.
        """
        try:
            return self.journal.get(key)
        except JournalError as error:
            self._stop(error)
            raise BudgetExhaustedError(f"no call is made whose reply could not be recorded: {error}") from error

    async def record(self, row: Row) -> None:
        """Put a reply in the journal; the claim on it is gone."""
        self._rows.append(row)
        await asyncio.shield(self._end_of_turn())

    async def claim(self, key: str) -> Completion | None:
        """Return the reply that another asker got meanwhile, or None when the key is ours to ask for.

        Args:
            key: The key of the request.

        Raises:
            BudgetExhaustedError: If the budget was stopped, or the journal cannot be used to record the reply.
        """
        pause = 0.01
        while True:
            ours = key not in self._claims  # two judges that are one engine ask for the same
            if ours:
                self._claims.append(key)
            try:
                ours = key in await asyncio.shield(self._end_of_turn()) and ours
            except asyncio.CancelledError:
                if ours:
                    self.release(key)
                raise
            if ours:
                return None
            if self._trouble is not None:
                raise BudgetExhaustedError(f"no call is made whose reply could not be recorded: {self._trouble}")
            if (recorded := self.get(key)) is not None:
                return recorded
            await asyncio.sleep(pause)
            if self._budget.stopped:
                raise BudgetExhaustedError("the run was interrupted while another process was asking for the reply")
            pause = min(0.2, pause * 1.5)

    def release(self, key: str) -> None:
        """Give up a claim: no reply came."""
        if key in self._claims:
            self._claims.remove(key)
        else:
            self._releases.append(key)
            self._end_of_turn()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Show other processes that this event loop is at work; at the end, nothing is left to hand over.

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
            if not self._users and self._beating is not None:
                self._beating.cancel()
                with suppress(asyncio.CancelledError):
                    await self._beating
                failure = self._finish()
        if failure is not None:
            raise failure

    def _finish(self) -> JournalError | None:
        """Hand over what is left; return the failure that ended a run before all its calls were made."""
        self._exchange()
        if self._trouble is None:
            return None
        lost = format_count(self._unrecorded, "reply")
        return JournalError(
            f"{self._trouble}. No more calls were made; {lost} that came could not be recorded, and a second run asks "
            "only for what is missing. The votes that were cast are in this error's votes"
        )

    def _stop(self, error: JournalError) -> None:
        if self._trouble is None:
            _logger.warning("no new calls are made, and replies on their way are waited for: %s", error)
        self._trouble = self._trouble or error
        self._budget.stop()

    async def _beat(self) -> None:
        """Sync the journal, so that a power failure loses no more than the replies since the last beat."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(JournalError):  # where the disk is full, processes on this host see that we are alive
                self.journal.beat()
                if self._changed:
                    self._changed = False
                    await asyncio.to_thread(self.journal.sync)

    def _end_of_turn(self) -> asyncio.Future[set[str]]:
        """Return a future that ends when the writes of this turn are handed over, with the keys that are ours."""
        if self._handed_over is None:
            loop = asyncio.get_running_loop()
            self._handed_over = loop.create_future()
            loop.call_later(GATHERED_SECONDS if self.gathers else 0.0, self._exchange)
        return self._handed_over

    def _exchange(self) -> None:
        """Record replies, and claim and release keys; where the journal fails, the replies stay in memory."""
        rows, claims, releases, done = self._rows, self._claims, self._releases, self._handed_over
        self._rows, self._claims, self._releases, self._handed_over = [], [], [], None
        taken: set[str] = set()
        if self._trouble is None and (rows or claims or releases):
            try:
                taken = self.journal.exchange(rows, claims, releases)
                self._changed = True
            except JournalError as error:
                self._stop(error)
        if self._trouble is not None:
            self._unrecorded += len(rows)
        if done is not None and not done.done():
            done.set_result(taken)


class Calls:
    """One engine's calls within one run, on one event loop.

    A request is answered, in this order, by an identical request in flight, by the journal, by another process that
    shares the journal and is asking for it, or by the engine. A call outlives a waiter that is cancelled, so that a
    reply already paid for is journaled all the same. Nothing leaves that the engine may not be shown, nor in mock mode,
    nor offline; what holds is read when the calls are made ready, in the thread of the caller.

    Attributes:
        engine: The engine that answers.
        budget: The budget of the run.
        budgeted: The engine's calls count in a budget.
        fatal: Why nothing more can be asked of the engine.

    Raises:
        InvalidInputError: If the budget limits the cost, and the engine's price is not known; or if an engine of
            batches has no journal.
    """

    def __init__(
        self,
        engine: JudgeEngine,
        journal: Journal | JournalWriter | None = None,
        budget: Budget | None = None,
        *,
        offline: bool = False,
    ) -> None:
        self.engine = engine
        self.judge_id = engine.judge_id
        self.fatal: FatalEngineError | None = None
        identity = engine.identity()
        self.budgeted = identity is not None
        self._identity = canonical_json(dict(identity)) if identity is not None else ""
        self._withheld = why_withheld(engine.judge_id, offline=offline) if self.budgeted else None
        self.budget = Budget() if budget is None else budget
        self._writer = JournalWriter(journal, self.budget) if isinstance(journal, Journal) else journal
        limited = self.budget.max_cost is not None and self.budgeted
        self._prices = Prices(engine, self.budget.max_cost or 0.0) if limited else None
        if isinstance(engine, BatchJudge) and not offline and self.budget.max_calls != 0:  # else nothing is sent
            if journal is None:
                raise InvalidInputError(
                    "batch=True needs a journal, which keeps the names of the batches that were paid for: leave "
                    "journal out, or name a file"
                )
            if limited and engine.most_reply_tokens is None:  # the first vote would be a batch of its own
                raise InvalidInputError(
                    "max_cost with batch=True needs to know how long a reply may be: give the engine its max_tokens, "
                    "or limit the run with max_calls instead"
                )
        self._pending: dict[str, asyncio.Task[Completion]] = {}

    @asynccontextmanager
    async def running(self, *, grace: float = 0.0) -> AsyncIterator[None]:
        """Run the engine.

        When this ends by an error, the calls that are under way get ``grace`` seconds to bring their replies, which are
        journaled; when it is cancelled, none.
        """
        if (stop_sending := getattr(self.engine, "stop_sending", None)) is not None:
            self.budget.on_stop.append(stop_sending)
        writing = nullcontext() if self._writer is None or not self.budgeted else self._writer.running()
        opened = self.engine.running() if self._withheld is None else nullcontext()
        async with opened, writing:
            if isinstance(self.engine, BatchJudge) and self._withheld is None and self._writer is not None:
                self.engine.keep_in(self._writer.journal)
            try:
                yield
            except asyncio.CancelledError:
                grace = 0.0
                raise
            finally:
                if self._pending:
                    _, late = await asyncio.wait(list(self._pending.values()), timeout=grace)
                    for task in late:
                        task.cancel()
                    if late:
                        await asyncio.wait(late)

    async def complete(self, request: Request, share: Share | None = None) -> Completion:
        """Return the reply to one request, with what this share of the budget holds, or else with what is free.

        Raises:
            EngineError: When there is no reply.
            WithheldError: When the call must not be launched.
            DataClassificationError: When the engine may not be shown what is asked about.
            JournalError: When the journal fails.
        """
        check_classified(questions_of(request), [self.engine])
        if not self.budgeted:  # it costs nothing and repeats itself: no journal, no budget
            return await self.engine.complete(request)
        if isinstance(self._withheld, MockModeError):
            raise copy(self._withheld)
        description = describe_request(request)
        key = request_key(self._identity, description)
        own = Share(self.budget) if share is None else share
        try:
            return await self._complete(key, description, request, own)
        finally:
            own.skip()
            if share is None:
                own.close()

    async def _complete(self, key: str, description: str, request: Request, share: Share) -> Completion:
        hold: Hold | None = None
        try:
            while (pending := self._pending.get(key)) is None:
                if hold is None and self._writer is not None and (recorded := self._writer.get(key)) is not None:
                    if self._prices is not None:
                        self._prices.learn(request, recorded)
                    return recorded
                if self._withheld is not None:
                    raise copy(self._withheld)
                if self.fatal is not None:
                    raise not_sent(self.fatal) from self.fatal
                if hold is None:
                    hold = await share.reserve(request, self._prices)
                    continue  # another may have asked for it meanwhile; a reply in the journal is found with the claim
                task = asyncio.get_running_loop().create_task(self._call(key, description, request, hold))
                hold, self._pending[key] = None, task
                task.add_done_callback(lambda task: task.cancelled() or task.exception())  # its waiters may be gone
                return await asyncio.shield(task)
        finally:
            if hold is not None:
                hold.release()
        try:
            completion = await asyncio.shield(pending)
        except (EngineError, WithheldError) as error:  # which the other asker counts
            raise not_sent(error) from error
        return completion.model_copy(update={"cached": True})

    async def _call(self, key: str, description: str, request: Request, hold: Hold) -> Completion:
        writer = self._writer
        try:
            if writer is None:
                return await self._ask(request, hold)
            if (recorded := await writer.claim(key)) is not None:
                if self._prices is not None:
                    self._prices.learn(request, recorded)
                return recorded
            sent_at = time.monotonic()
            try:
                completion = await self._ask(request, hold)
                slow = time.monotonic() - sent_at >= SLOW_CALL_SECONDS
                writer.gathers = slow and len(self._pending) >= MANY_CALLS
                await writer.record(Row.of(key, self._identity, description, completion))
            except BaseException:
                writer.release(key)
                raise
            return completion
        finally:
            hold.release()
            del self._pending[key]

    async def _ask(self, request: Request, hold: Hold) -> Completion:
        hold.launch()
        request.again = hold.again
        try:
            completion = await self.engine.complete(request)
        except (EngineError, BudgetExhaustedError) as error:  # what it risked is counted
            hold.settle(None, may_be_billed=isinstance(error, EngineError) and error.may_be_billed)
            most = error.attempts if isinstance(error, EngineError) else hold.attempts
            error.attempts = min(most, hold.attempts)  # without connections that were not made
            error.lost, error.at_risk = hold.lost, hold.at_risk
            if isinstance(error, FatalEngineError):
                self.fatal = self.fatal or error
            if isinstance(self.fatal, UnreachableError):
                self.budget.stop()
            raise
        except BaseException:  # such as a run that is cancelled
            hold.settle(None, may_be_billed=True)
            raise
        if self._prices is not None:
            self._prices.learn(request, completion)
        hold.settle(completion)
        sent = {"attempts": hold.attempts, "lost": hold.lost, "at_risk": hold.at_risk}
        return completion.model_copy(update=sent)


class SharedCalls(Share):
    """A judge's calls for one vote, launched on that vote's share of the budget."""

    def __init__(self, calls: Calls, expected: int) -> None:
        super().__init__(calls.budget, expected)
        self._judge_calls, self.judge_id = calls, calls.judge_id

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request; see :meth:`Calls.complete`."""
        return await self._judge_calls.complete(request, self)
