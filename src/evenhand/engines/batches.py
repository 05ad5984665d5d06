"""An engine that sends requests through its provider's batch interface: half the price, replies within a day.

Requests that wait together leave together, as a file from which the provider makes a batch. As soon as the batch has a
name, the journal holds that name and the requests, and only then is the batch waited for: a later run that asks for one
of them, on any machine, waits for that batch. When it has ended, all its replies are recorded, and the batch is
forgotten. Every asker has claimed its key in the journal, so that of two processes one sends it.

A process that is killed after the provider took a batch and before the name was written down may buy that batch twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from evenhand.engines.base import Request
from evenhand.engines.batch_providers import BatchHttp, BatchProvider, Standing, unfinished
from evenhand.engines.journal import Journal, Row, canonical_json, describe_request, request_key
from evenhand.engines.limits import tell
from evenhand.engines.remote import REFUSABLE, RemoteEngine, RemoteJudge, not_running
from evenhand.engines.replies import GONE, short_enough
from evenhand.errors import (
    BudgetExhaustedError,
    EngineError,
    EvenhandError,
    InvalidInputError,
    JournalError,
    RateLimitedError,
    RejectedRequestError,
    TransientEngineError,
)
from evenhand.numbers import format_count, format_duration
from evenhand.options import option
from evenhand.votes import Completion, Message

MOST_WAITING: Final = 50_000
"""Requests that wait at once, at most: they are in the batches of one wave."""
QUIET_SECONDS: Final = 0.5
"""A batch leaves when no request has come for this long."""
SLOWER: Final = 1.5
LONGEST_INTERVAL: Final = 60
"""Times the first interval, at most, between two looks at a batch."""
TOLD_SECONDS: Final = 600.0
SUBMISSIONS: Final = 2
"""The number of submissions of one request: after a failure that may pass, it is sent once more."""
ENDING_SECONDS: Final = 10.0
"""For a batch that is being made or recorded when a run is stopped."""
LONGEST_PAUSE: Final = 300.0
ROWS_AT_ONCE: Final = 256
FULL: Final = "token_limit_exceeded"
"""OpenAI's word for more tokens in all batches than an account may have waiting."""

_Reply = TypeVar("_Reply")
_logger = logging.getLogger(__name__)


class BatchableEngine(RemoteEngine):
    """An engine whose requests may go through its provider's batch interface."""

    batch: bool = option(False, "Send requests in batches: half the price, replies within a day; needs a journal.")
    batch_api: Literal["auto", "openai", "anthropic"] = option("auto", "Whose interface; auto goes by the address.")
    batch_price: float = option(0.5, "What a token costs in a batch, as a share of its price.", ge=0)
    batch_requests: int | None = option(None, "Requests in one batch; None is the provider's limit.", ge=1)
    batch_bytes: int | None = option(None, "Bytes in one batch; None is the provider's limit.", ge=1)
    batch_interval: float = option(5.0, "Seconds after which a batch is asked about; then ever longer.", ge=0)

    def to_judge(self) -> RemoteJudge | BatchJudge:
        """Return a judge with these settings, which asks for one reply at a time or in batches."""
        self.check_complete()
        return BatchJudge(self) if self.batch else RemoteJudge(self)

    def batch_provider(self) -> BatchProvider:
        """Return the batch interface of the provider."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch at a provider, as the journal records it.

    Attributes:
        number: In this journal.
        name: The provider's name for it.
        identity: The engine's identity, as canonical JSON.
        engine: The engine that sent it: its class, and its options without secrets.
        requests: The number of its requests.
        sent_at: In seconds since the epoch.
    """

    number: int
    name: str
    identity: str
    engine: Mapping[str, Any]
    requests: int
    sent_at: float


_SELECT: Final = """SELECT batch.id, name, identity, service, requests, sent_at
    FROM batch JOIN engine ON engine.id = batch.engine"""


class BatchRecords:
    """The batches in one journal: which requests are in which batch, until their replies are recorded.

    Raises:
        JournalError: If the file cannot be read or written; of every method.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def all(self, where: str = "", *values: object) -> list[BatchRecord]:
        """Return every batch whose replies are not all recorded, the oldest first."""
        with self.journal.reading() as connection:
            rows = connection.execute(f"{_SELECT} {where} ORDER BY batch.id", values).fetchall()
        return [
            BatchRecord(number, name, identity, json.loads(engine), requests, sent_at)
            for number, name, identity, engine, requests, sent_at in rows
        ]

    def of_key(self, key: str) -> BatchRecord | None:
        """Return the batch that holds the request of a key, if one does."""
        found = self.all("JOIN batched ON batched.batch = batch.id WHERE batched.key = ?", key)
        return found[0] if found else None

    def requests(self, record: BatchRecord) -> dict[str, str]:
        """Return the requests of a batch as canonical JSON, by key, in the order in which they were sent."""
        with self.journal.reading() as connection:
            query = "SELECT key, request FROM batched WHERE batch = ? ORDER BY place"
            return dict(connection.execute(query, (record.number,)).fetchall())

    def add(
        self, name: str, identity: str, engine: Mapping[str, Any], requests: Sequence[tuple[str, str]]
    ) -> BatchRecord:
        """Write down a batch that was made: keys, and requests as canonical JSON."""
        with self.journal.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO engine (identity) VALUES (?)", (identity,))
            number = connection.execute(
                """INSERT INTO batch (name, engine, service, requests, sent_at)
                VALUES (?, (SELECT id FROM engine WHERE identity = ?), ?, ?, ?)""",
                (name, identity, json.dumps(engine), len(requests), time.time()),
            ).lastrowid
            connection.executemany(
                "INSERT OR REPLACE INTO batched VALUES (?, ?, ?, ?)",
                [(key, number, place, request) for place, (key, request) in enumerate(requests)],
            )
        return self.all("WHERE batch.id = ?", number)[0]

    def forget(self, record: BatchRecord) -> None:
        """Remove a batch: its replies are recorded, or none come."""
        with self.journal.writing() as connection:
            connection.execute("DELETE FROM batch WHERE id = ?", (record.number,))
            connection.execute("DELETE FROM batched WHERE batch = ?", (record.number,))


@dataclass(frozen=True)
class Collected:
    """The batches that :meth:`BatchJudge.collect` left: those that run, those that cannot be read, and why."""

    left: list[BatchRecord]
    failed: list[tuple[BatchRecord, EvenhandError]]


@dataclass(slots=True, eq=False)
class _Unanswered:
    """A request that waits for its reply, how often it was sent, what it asked for, and the batch that it is in."""

    key: str
    request: Request
    reply: asyncio.Future[Completion]
    line: bytes = b""
    submissions: int = 0
    schema: bool = False
    logprobs: int = 0
    batch: int | None = None

    def fail(self, error: BaseException) -> None:
        if not self.reply.done():
            own = copy(error)  # one error would get the tracebacks of all requests in the batch
            if isinstance(own, EngineError):
                own.attempts = max(1, self.submissions)
            self.reply.set_exception(own)


class BatchJudge:
    """A judge behind a network whose requests travel in batches, on one event loop at a time.

    Its replies are recorded under the same keys as those of the judge that it stands for.

    Attributes:
        engine: The model, its parameters, and the limits of batches.
        judge: The judge that it stands for.
    """

    def __init__(self, engine: BatchableEngine) -> None:
        self.engine = engine
        self.judge = RemoteJudge(engine)
        self.judge_id = self.judge.judge_id
        self.data_classification_policy = self.judge.data_classification_policy
        self.most_reply_tokens = self.judge.most_reply_tokens
        self.concurrency = MOST_WAITING
        self.most_attempts = SUBMISSIONS + REFUSABLE
        self._provider = engine.batch_provider()
        self._identity = canonical_json(dict(self.judge.identity()))
        self._name = repr(self.judge_id)
        if self.judge.takes_schema is None:
            self.judge.takes_schema = self._provider.supports_schema
        self._resources, self._users, self._stopped = AsyncExitStack(), 0, False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._http: BatchHttp
        self._records: BatchRecords | None = None
        self._waiting: dict[str, _Unanswered] = {}
        self._queue: list[_Unanswered] = []
        self._under_way: dict[int, BatchRecord] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unbroken: set[asyncio.Task[Any]] = set()  # waited for when the run ends meanwhile

    def __repr__(self) -> str:
        return f"BatchJudge({self.engine!r})"

    def identity(self) -> Mapping[str, Any]:
        """Return that of the judge without batches: a reply is the same, however it travelled."""
        return self.judge.identity()

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return US dollars for these tokens in a batch."""
        cost = self.judge.estimated_cost(prompt_tokens, completion_tokens)
        return None if cost is None else cost * self.engine.batch_price

    def priced(self, completion: Completion, messages: Iterable[Message]) -> Completion:
        """Return a reply with what it cost in a batch."""
        return self.judge.priced(completion, messages, share=self.engine.batch_price)

    def described(self) -> dict[str, Any]:
        """Return the engine, without secrets: by it the batch is collected elsewhere."""
        fields = self.engine.model_dump(mode="json", exclude_defaults=True)
        return {"engine": type(self.engine).__name__, "fields": fields}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold a connection for the event loop that runs now, shared by all who enter meanwhile."""
        if not self._users:
            self._loop, self._stopped = asyncio.get_running_loop(), False
            self._arrived, self._ended = asyncio.Event(), asyncio.Event()
            self._http = await self._resources.enter_async_context(BatchHttp.opened(self._provider, self.engine))
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                if self._unbroken:
                    await asyncio.wait(list(self._unbroken), timeout=ENDING_SECONDS if self._stopped else None)
                for task in self._tasks:
                    task.cancel()
                if self._tasks:
                    await asyncio.wait(list(self._tasks))
                self._waiting, self._queue, self._under_way, self._records = {}, [], {}, None
                await self._resources.aclose()

    def keep_in(self, journal: Journal) -> None:
        """Keep in this journal which requests are in which batch."""
        if self._records is None:
            self._records = BatchRecords(journal)
            self._start(self._gather())

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request, when its batch has brought it.

        Raises:
            EngineError: When there is none.
            BudgetExhaustedError: When the run was stopped; the batch stays with the provider.
        """
        if not self._users or self._loop is not asyncio.get_running_loop():
            raise not_running(self.judge_id)
        if self._stopped:
            raise _interrupted()
        key = request_key(self._identity, describe_request(request))
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Unanswered(key, request, self._loop.create_future())
            waiting.reply.add_done_callback(lambda reply: reply.cancelled() or reply.exception())
            self._place(waiting)
        try:
            return await asyncio.shield(waiting.reply)
        finally:
            if waiting.reply.done():
                self._waiting.pop(key, None)

    async def collect(self, *, wait: bool) -> Collected:
        """Record the replies of every batch of this judge that has ended, with ``wait`` of the others, too."""
        collected = Collected([], [])
        for record in self._held.all("WHERE identity = ?", self._identity):
            try:
                standing = await (self._end_of(record) if wait else self._patiently(partial(self._look, record)))
                if not standing.ended:
                    collected.left.append(record)
                elif (nothing := await self._collect(record, standing)) is not None:
                    collected.failed.append((record, nothing))
            except EvenhandError as error:  # the others can be read all the same
                collected.failed.append((record, error))
        return collected

    def stop_sending(self) -> None:
        """Send nothing more, and wait for no batch: they stay with the provider."""
        if self._stopped or not self._users:
            return
        self._stopped = True
        if self._under_way:
            requests = sum(record.requests for record in self._under_way.values())
            tell(
                f"{self._name}: {format_count(len(self._under_way), 'batch')} of {format_count(requests, 'request')} "
                "left with the provider. Run the same again to go on from there, or collect the replies with "
                f"'evenhand journal collect --journal {self._held.journal.path}'"
            )
        for waiting in self._waiting.values():
            waiting.fail(_interrupted())
        self._queue.clear()

    @property
    def _held(self) -> BatchRecords:
        if self._records is None:
            raise InvalidInputError("a judge of batches needs a journal before it is asked: call keep_in() first")
        return self._records

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _unbroken_off(self, work: Coroutine[Any, Any, _Reply]) -> _Reply:
        """Run to the end, even when the run ends meanwhile."""
        task = asyncio.get_running_loop().create_task(work)
        self._unbroken.add(task)
        task.add_done_callback(self._unbroken.discard)
        return await asyncio.shield(task)

    async def _patiently(
        self, call: Callable[[], Awaitable[_Reply]], unless: Callable[[EngineError], bool] = lambda _: False
    ) -> _Reply:
        """Return what a call brings, after as many attempts as the engine allows."""
        for attempt in range(self.engine.max_retries):
            try:
                return await call()
            except TransientEngineError as error:
                if unless(error):
                    raise
                wait = error.retry_after if isinstance(error, RateLimitedError) else None
                await asyncio.sleep(min(self.engine.backoff * 2**attempt if wait is None else wait, LONGEST_PAUSE))
        return await call()

    def _place(self, waiting: _Unanswered) -> None:
        """Let a request wait for the batch that it is in, or for one to be made; its reply may be there meanwhile."""
        record = self._held.of_key(waiting.key)
        if record is not None:
            waiting.batch = record.number
            self._follow(record)
        elif (recorded := self._held.journal.get(waiting.key)) is not None:
            waiting.reply.set_result(recorded)
        else:
            self._enqueue(waiting)

    def _enqueue(self, waiting: _Unanswered) -> None:
        waiting.batch = None
        waiting.schema = bool(self.judge.takes_schema) and waiting.request.response_schema is not None
        waiting.logprobs = self.judge.logprobs_of(waiting.request)
        payload = self.judge.payload(waiting.request, schema=waiting.schema)
        waiting.line = self._provider.line(waiting.key, payload)
        self._queue.append(waiting)
        self._arrived.set()

    async def _gather(self) -> None:
        """Send what waits when nothing more has come for a moment, or when a batch is full."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await asyncio.sleep(QUIET_SECONDS)
            quiet = not self._arrived.is_set()
            while self._queue:
                part, full = self._part()
                if not (quiet or full):
                    break
                del self._queue[: len(part)]
                self._start(self._send(part))

    def _part(self) -> tuple[list[_Unanswered], bool]:
        """Return the first requests of the queue that fit into one batch, and whether it is full."""
        provider, engine = self._provider, self.engine
        most = min(engine.batch_requests or provider.most_requests, provider.most_requests)
        most_bytes = min(engine.batch_bytes or provider.most_bytes, provider.most_bytes)
        size = 64
        for place, waiting in enumerate(self._queue):
            size += len(waiting.line) + 2
            if place and (place >= most or size > most_bytes):
                return self._queue[:place], True
        return self._queue[:], len(self._queue) >= most

    async def _send(self, part: list[_Unanswered]) -> None:
        """Make a batch of these, or fail them."""
        for waiting in part:
            waiting.submissions += 1
        try:
            record = await self._unbroken_off(self._made(part))
        except EvenhandError as error:
            for waiting in part:
                waiting.fail(error)
            return
        for waiting in part:
            waiting.batch = record.number
        tell(
            f"{self._name}: the batch {record.name!r} of {format_count(record.requests, 'request')} was sent. Replies "
            "may take a day; to stop waiting is safe, since the journal holds its name"
        )
        self._follow(record)

    async def _made(self, part: Sequence[_Unanswered]) -> BatchRecord:
        """Make the batch at the provider, and write it down."""
        with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
            path = Path(folder) / "batch.jsonl"
            with path.open("wb") as file:
                await asyncio.to_thread(self._provider.write, (waiting.line for waiting in part), file)
            uploaded = await self._patiently(lambda: self._provider.upload(self._http, path))
            if self._stopped:
                raise _interrupted()
            name = await self._patiently(lambda: self._provider.create(self._http, path, uploaded), unless=_may_be_made)
        requests = [(waiting.key, describe_request(waiting.request)) for waiting in part]
        record = self._held.add(name, self._identity, self.described(), requests)
        await asyncio.to_thread(self._held.journal.sync)
        return record

    def _follow(self, record: BatchRecord) -> None:
        """Wait for a batch, once."""
        if record.number not in self._under_way:
            self._under_way[record.number] = record
            self._start(self._wait_for(record))

    async def _wait_for(self, record: BatchRecord) -> None:
        try:
            standing = await self._end_of(record)
            lost = await self._unbroken_off(self._collect(record, standing))
            if lost is not None and standing.refused is None:
                tell(f"{self._name}: {lost}")
        except EvenhandError as error:
            for waiting in self._waiting_for(record):
                waiting.fail(error)
        finally:
            self._under_way.pop(record.number, None)
            self._ended.set()
        for waiting in self._waiting_for(record):  # another process has read it
            self._place(waiting)

    def _waiting_for(self, record: BatchRecord) -> list[_Unanswered]:
        return [each for each in self._waiting.values() if each.batch == record.number and not each.reply.done()]

    async def _look(self, record: BatchRecord) -> Standing:
        try:
            return await self._provider.look(self._http, record.name)
        except EngineError as error:
            if error.cause not in GONE:
                raise
            raise RejectedRequestError(
                f"the batch {record.name!r} of {format_count(record.requests, 'request')} cannot be seen: {error}. It "
                f"stays in the journal; was it made with another key, or in another project? {_give_up(record)}",
                cause="batch_unseen",
            ) from error

    async def _end_of(self, record: BatchRecord) -> Standing:
        """Return the state of the batch after it ends; errors while asking may pass, as a day is long."""
        interval, told_at = self.engine.batch_interval, time.monotonic()
        while True:
            try:
                standing = await self._look(record)
            except TransientEngineError as error:
                _logger.info("%s: the batch %s could not be asked about (%s)", self._name, record.name, error)
            else:
                if standing.ended:
                    return standing
                if time.monotonic() - told_at >= TOLD_SECONDS:
                    told_at = time.monotonic()
                    age = format_duration(max(0.0, time.time() - record.sent_at))
                    tell(
                        f"{self._name}: the batch {record.name!r} is {standing.status!r} after {age}; {standing.done} "
                        f"of {format_count(record.requests, 'request')} are done, {standing.failed} failed"
                    )
            await asyncio.sleep(interval)
            interval = min(LONGEST_INTERVAL * self.engine.batch_interval, SLOWER * interval)

    async def _collect(self, record: BatchRecord, standing: Standing) -> EngineError | None:
        """Record the replies of a batch that has ended, answer those who wait, and send again what may yet pass.

        Returns:
            Why it has no replies, or not all that there were; None if it has.
        """
        requests = self._held.requests(record)
        if not requests:  # another process has read it meanwhile
            return None
        if standing.refused is not None:
            self._held.forget(record)
            return self._refuse(record, list(requests), standing)
        came: dict[str, EngineError | None] = {}
        unrecorded: list[str] = []
        lost = ""
        try:
            await self._patiently(lambda: self._read(standing, requests, came, unrecorded))
        except EngineError as error:
            if error.cause not in GONE:
                raise
            lost = str(error)
        missing, replies = [key for key in requests if key not in came], list(came.values()).count(None)
        if not lost and missing and replies < standing.done:
            lost = f"the provider counts {standing.done} replies and gives {replies}"
        gone = _lost_results(record, len(missing), lost) if lost else None  # not bought again unasked
        if gone is None and not unrecorded:
            self._held.forget(record)
        failed = {key: error for key, error in came.items() if error is not None}
        for key, failure in {**failed, **{key: gone or unfinished(standing.unfinished) for key in missing}}.items():
            if key in self._waiting:
                self._once_more(self._waiting[key], failure)
        return gone

    async def _read(
        self,
        standing: Standing,
        requests: Mapping[str, str],
        came: dict[str, EngineError | None],
        unrecorded: list[str],
    ) -> None:
        """Read all results, in any order, and record replies as they are read; what came stays when it is tried again.

        Args:
            standing: The state of the batch, with the place of the results.
            requests: The requests of the batch, by key.
            came: Per key the error that came, or None for a reply.
            unrecorded: Keys of replies that could not be recorded.
        """
        held: list[tuple[str, Completion]] = []
        try:
            async with aclosing(self._provider.results(self._http, standing)) as outcomes:
                async for key, outcome in outcomes:
                    if key in came or key not in requests:  # of a result that comes twice the first counts
                        continue
                    came[key] = outcome if isinstance(outcome, EngineError) else None
                    if not isinstance(outcome, EngineError):
                        held.append((key, short_enough(outcome)))
                    if len(held) >= ROWS_AT_ONCE:
                        unrecorded += self._record(held, requests)
                        held = []
                        await asyncio.sleep(0)
        finally:
            unrecorded += self._record(held, requests)

    def _record(self, held: Sequence[tuple[str, Completion]], requests: Mapping[str, str]) -> list[str]:
        """Record replies, then answer those who wait for them; return the keys of those that could not be recorded."""
        unrecorded: list[str] = []
        priced = {key: self.priced(reply, json.loads(requests[key])["messages"]) for key, reply in held}
        try:
            own = {key: reply.model_copy(update={"attempts": 1}) for key, reply in priced.items()}
            rows = [Row.of(key, self._identity, requests[key], reply) for key, reply in own.items()]
            self._held.journal.exchange(rows)
        except JournalError as error:
            unrecorded = list(priced)
            _logger.warning("replies of a batch could not be recorded; it stays in the journal: %s", error)
        for key, reply in priced.items():
            waiting = self._waiting.get(key)
            if waiting is not None and not waiting.reply.done():
                waiting.reply.set_result(reply)
        return unrecorded

    def _once_more(self, waiting: _Unanswered, error: EngineError) -> None:
        """Send again what may pass, or what asked for something that the server refuses; else it has failed."""
        less = isinstance(error, RejectedRequestError) and self.judge.asks_for_less(
            str(error), logprobs=waiting.logprobs, schema=waiting.schema
        )
        if not (less or (isinstance(error, TransientEngineError) and waiting.submissions < SUBMISSIONS)):
            waiting.fail(error)
            return
        try:
            if self._stopped:
                raise _interrupted()
            if waiting.request.again is not None:
                waiting.request.again(error.may_be_billed)
        except BudgetExhaustedError as exhausted:
            waiting.fail(exhausted)
            return
        waiting.submissions -= less
        self._enqueue(waiting)

    def _refuse(self, record: BatchRecord, keys: Sequence[str], standing: Standing) -> EngineError:
        """Fail the requests of a batch that was refused as a whole: none was answered or has to be paid for."""
        refused = [(place, self._waiting[key]) for place, key in enumerate(keys, start=1) if key in self._waiting]
        size = format_count(len(keys), "request")
        message = f"the provider refused the batch {record.name!r} of {size}: {standing.refused}"
        if FULL in str(standing.refused) and len(self._under_way) > 1:
            tell(f"{self._name}: {message}. It is sent again when another batch has ended")
            for _, waiting in refused:
                waiting.batch = None
            self._start(self._later([waiting for _, waiting in refused], set(self._under_way) - {record.number}))
            return RateLimitedError(message, cause="batch_refused")
        for place, waiting in refused:
            line = standing.refused_lines.get(place)
            error: EngineError = RejectedRequestError(message, cause="batch_refused")
            if line is not None:
                error = RejectedRequestError(f"the provider refused this request: {line}", cause="batch_refused")
            elif standing.refused_lines:
                error = TransientEngineError(message, cause="batch_refused")
            self._once_more(waiting, error)
        return RejectedRequestError(message, cause="batch_refused")

    async def _later(self, refused: Sequence[_Unanswered], before: set[int]) -> None:
        """Send requests again for which the provider had no room, when one of the batches before has ended."""
        while before <= self._under_way.keys():
            self._ended.clear()
            await self._ended.wait()
        for waiting in refused:
            if not waiting.reply.done():
                waiting.submissions -= 1
                self._enqueue(waiting)


def _may_be_made(error: EngineError) -> bool:
    """Return whether a batch may exist after such a failure: not if the server was not reached, or said 'later'."""
    return error.cause != "http_429" and getattr(error, "reached", True) is True


def _interrupted() -> BudgetExhaustedError:
    return BudgetExhaustedError("the run was interrupted before the batch of this call had ended")


def _lost_results(record: BatchRecord, replies: int, why: str) -> EngineError:
    """Return errors for replies that the provider no longer gives: they may be billed and are not bought again."""
    return RejectedRequestError(
        f"{format_count(replies, 'reply')} of the batch {record.name!r} cannot be read: {why}. They may have been paid "
        f"for, and are not asked for again. {_give_up(record)}",
        cause="lost_results",
    )


def _give_up(record: BatchRecord) -> str:
    return f"'evenhand journal forget {record.name}' gives it up, and the next run asks for its requests again"
