"""An engine whose requests go through its provider's batch interface: half the price, and replies within a day.

What waits together leaves together, as a file from which the provider makes a batch. As soon as the batch has a name,
the journal holds that name and the requests, and only then is the batch waited for: whoever asks for one of them later,
on whatever machine, waits for that batch. When it has ended, its replies are recorded, those too that nobody waits for,
and the batch is forgotten. Whoever asks for a key has claimed it in the journal, so that of two processes one sends it.

A process that is killed after the provider took a batch and before the name was written down may buy that batch twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from evenhand.engines.base import Request
from evenhand.engines.batch_providers import BatchHttp, BatchProvider, Standing, unfinished
from evenhand.engines.journal import Journal, JournalEntry, canonical_json, describe_request, request_key
from evenhand.engines.limits import tell
from evenhand.engines.remote import REFUSABLE, RemoteEngine, RemoteJudge
from evenhand.engines.replies import GONE, short_enough, speaks_of_logprobs, speaks_of_schema
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
"""Requests that wait at once, at most: so many are in the batches of one wave."""
QUIET_SECONDS: Final = 0.5
"""A batch leaves when no request has come for so long."""
SLOWER: Final = 1.5
LONGEST_INTERVAL: Final = 60
"""Times the first interval, at most, between two looks at a batch."""
TOLD_SECONDS: Final = 600.0
"""Between two lines about a batch that does not end."""
SUBMISSIONS: Final = 2
"""Of one request: what failed in a way that may pass is sent once more."""
ENDING_SECONDS: Final = 10.0
"""For what is being made or recorded when a run is stopped."""
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
    """A batch at a provider, as the journal knows it.

    Attributes:
        number: In this journal.
        name: What the provider calls it.
        identity: The engine's identity, as canonical JSON.
        engine: The engine that sent it: its class, and its options without secrets.
        requests: How many it has.
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
        JournalError: Where the file cannot be read or written; of every method.
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

    def keys(self, record: BatchRecord) -> list[str]:
        """Return the keys of a batch, in the order in which its requests were sent."""
        with self.journal.reading() as connection:
            rows = connection.execute("SELECT key FROM batched WHERE batch = ? ORDER BY place", (record.number,))
            return [key for (key,) in rows]

    def requests(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the requests of these keys, as canonical JSON."""
        with self.journal.reading() as connection:
            found = (connection.execute("SELECT request FROM batched WHERE key = ?", (key,)).fetchone() for key in keys)
            return {key: row[0] for key, row in zip(keys, found, strict=True) if row is not None}

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
    """What :meth:`BatchJudge.collect` left.

    Attributes:
        left: Batches that have not ended.
        failed: Those that cannot be read, or brought nothing, and why.
    """

    left: list[BatchRecord]
    failed: list[tuple[BatchRecord, EvenhandError]]


class BatchJudge:
    """A judge behind a network whose requests travel in batches.

    Its replies are recorded under the same keys as those of the judge that it stands for.

    Attributes:
        engine: What is asked, of whom, and how batches are made.
        judge: The judge that it stands for.
        provider: The provider's batch interface.
        forecast: As of that judge.
    """

    def __init__(self, engine: BatchableEngine) -> None:
        self.engine = engine
        self.judge = RemoteJudge(engine)
        self.provider = engine.batch_provider()
        self.judge_id = self.judge.judge_id
        self.forecast = self.judge.forecast
        self.data_classification_policy = self.judge.data_classification_policy
        self.most_reply_tokens = self.judge.most_reply_tokens
        self.concurrency = MOST_WAITING
        self.most_attempts = SUBMISSIONS + REFUSABLE
        self._runs: dict[asyncio.AbstractEventLoop, tuple[BatchRun, AsyncExitStack]] = {}
        self._users = 0

    def __repr__(self) -> str:
        return f"BatchJudge({self.engine!r})"

    def identity(self) -> Mapping[str, Any]:
        """Return that of the judge without batches: a reply is the same, however it travelled."""
        return self.judge.identity()

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return US dollars for so many tokens in a batch."""
        cost = self.judge.estimated_cost(prompt_tokens, completion_tokens)
        return None if cost is None else cost * self.engine.batch_price

    def priced(self, completion: Completion, messages: Iterable[Message]) -> Completion:
        """Return a reply with what it cost in a batch; what the server's cache held is cheaper there too."""
        return self.judge.priced(completion, messages, share=self.engine.batch_price)

    def described(self) -> dict[str, Any]:
        """Return the engine, without secrets: by it the batch is collected by others."""
        fields = self.engine.model_dump(mode="json", exclude_defaults=True)
        return {"engine": type(self.engine).__name__, "fields": fields}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold a connection for the event loop that runs now, shared by all who enter meanwhile."""
        loop = asyncio.get_running_loop()
        if loop not in self._runs:
            resources = AsyncExitStack()
            http = await resources.enter_async_context(BatchHttp.opened(self.provider, self.engine))
            self._runs[loop] = BatchRun(self, http), resources
        run, resources = self._runs[loop]
        run.users += 1
        try:
            yield
        finally:
            run.users -= 1
            if not run.users:
                del self._runs[loop]
                await run.close()
                await resources.aclose()

    def keep_in(self, journal: Journal) -> None:
        """Keep in this journal which requests are in which batch, on the event loop that runs now."""
        run = self._run()
        if run.records is None:
            run.open(BatchRecords(journal))

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request, when its batch has brought it.

        Raises:
            EngineError: When there is none.
            BudgetExhaustedError: When the run was stopped; the batch stays with the provider.
        """
        return await self._run().reply(request)

    async def collect(self, *, wait: bool) -> Collected:
        """Record the replies of every batch of this judge that has ended.

        Args:
            wait: Wait for the others, too.
        """
        return await self._run().collect(wait=wait)

    def stop_sending(self) -> None:
        """Send nothing more on this event loop, and wait for no batch: they stay with the provider."""
        if asyncio.get_running_loop() in self._runs:
            self._run().stop()

    def _run(self) -> BatchRun:
        run = self._runs.get(asyncio.get_running_loop())
        if run is None:
            raise InvalidInputError(
                f"the judge {self.judge_id!r} is not running on this event loop: call complete() inside "
                "'async with judge.running():'"
            )
        return run[0]


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

    def __post_init__(self) -> None:
        self.reply.add_done_callback(lambda reply: reply.cancelled() or reply.exception())  # its asker may be gone

    def answer(self, completion: Completion) -> None:
        if not self.reply.done():
            self.reply.set_result(completion)

    def fail(self, error: BaseException) -> None:
        if not self.reply.done():
            own = copy(error)  # as many as there are requests in the batch would add their tracebacks to one
            if isinstance(own, EngineError):
                own.attempts = max(1, self.submissions)
            self.reply.set_exception(own)


@dataclass(slots=True)
class _Results:
    """What was read of the results of a batch; it stays read when reading is tried again.

    Attributes:
        left: The keys of the batch of which nothing has come.
        failed: Of those of which an error has come, the error.
        replies: How many replies there were.
        twice: Results that name a request again.
        strange: Results that name none of the batch.
        recorded: All replies could be recorded, so that the batch may be forgotten.
    """

    left: dict[str, None]
    failed: dict[str, EngineError] = field(default_factory=dict)
    replies: int = 0
    twice: int = 0
    strange: int = 0
    recorded: bool = True


class BatchRun:
    """The batches of one judge on one event loop.

    Attributes:
        records: The journal's batches, once the journal is known.
        users: How many have entered.
    """

    def __init__(self, judge: BatchJudge, http: BatchHttp) -> None:
        self.records: BatchRecords | None = None
        self.users = 0
        self._judge, self._engine, self._provider = judge, judge.engine, judge.provider
        self._http = http
        self._identity = canonical_json(dict(judge.identity()))
        self._name = repr(judge.judge_id)
        wanted = self._engine.structured_output
        self._schema = self._provider.supports_schema if wanted == "auto" else wanted
        self._waiting: dict[str, _Unanswered] = {}
        self._queue: list[_Unanswered] = []
        self._arrived = asyncio.Event()
        self._under_way: dict[int, BatchRecord] = {}
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unbroken: set[asyncio.Task[Any]] = set()
        self._stopped = False

    @property
    def _held(self) -> BatchRecords:
        if self.records is None:
            raise InvalidInputError("a judge of batches needs a journal before it is asked: call keep_in() first")
        return self.records

    def open(self, records: BatchRecords) -> None:
        """Begin to gather."""
        self.records = records
        self._start(self._gather())

    async def reply(self, request: Request) -> Completion:
        """Return the reply to a request, when its batch has brought it."""
        key = request_key(self._identity, describe_request(request))
        records = self._held
        if self._stopped:
            raise _interrupted()
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Unanswered(key, request, asyncio.get_running_loop().create_future())
            self._place(records, waiting)
        try:
            return await asyncio.shield(waiting.reply)
        finally:
            if waiting.reply.done():
                self._waiting.pop(key, None)

    async def collect(self, *, wait: bool) -> Collected:
        """Record the replies of every batch that has ended, or of every one."""
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

    def stop(self) -> None:
        """Send nothing more, and wait for no batch."""
        if self._stopped:
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

    async def close(self) -> None:
        """End what waits; what is being made or recorded is ended first."""
        if self._unbroken:
            await asyncio.wait(list(self._unbroken), timeout=ENDING_SECONDS if self._stopped else None)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def _start(self, work: Awaitable[None]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @asynccontextmanager
    async def _not_broken_off(self) -> AsyncIterator[None]:
        """Have the task waited for when the run ends meanwhile."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - coroutines run in tasks
        self._unbroken.add(task)
        try:
            yield
        finally:
            self._unbroken.discard(task)

    # What waits leaves together

    def _place(self, records: BatchRecords, waiting: _Unanswered) -> None:
        """Let a request wait for the batch that it is in, or for one to be made; its reply may be there meanwhile."""
        record = records.of_key(waiting.key)
        if record is not None:
            waiting.batch = record.number
            self._follow(record)
        elif (recorded := records.journal.get(waiting.key)) is not None:
            waiting.answer(recorded)
        else:
            self._enqueue(waiting)

    def _enqueue(self, waiting: _Unanswered) -> None:
        waiting.batch = None
        waiting.schema = self._schema and waiting.request.response_schema is not None
        waiting.logprobs = self._judge.judge.logprobs_of(waiting.request)
        payload = self._judge.judge.payload(waiting.request, schema=waiting.schema)
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
        """The first of the queue that fit into one batch, and whether that is full."""
        provider, engine = self._provider, self._engine
        most = min(engine.batch_requests or provider.most_requests, provider.most_requests)
        most_bytes = min(engine.batch_bytes or provider.most_bytes, provider.most_bytes)
        size = 64
        for place, waiting in enumerate(self._queue):
            size += len(waiting.line) + 2
            if place and (place >= most or size > most_bytes):
                return self._queue[:place], True
        return self._queue[:], len(self._queue) >= most

    async def _send(self, part: list[_Unanswered]) -> None:
        """Make a batch of these, or tell them why not."""
        for waiting in part:
            waiting.submissions += 1
        try:
            async with self._not_broken_off():
                record = await self._made(part)
        except Exception as error:
            for waiting in part:
                waiting.fail(error)
            if not isinstance(error, EvenhandError):
                raise
            return
        for waiting in part:
            waiting.batch = record.number
        tell(
            f"{self._name}: the batch {record.name!r} of {format_count(record.requests, 'request')} was sent. Replies "
            "may take a day; to stop waiting is safe, since the journal holds its name"
        )
        self._follow(record)

    async def _made(self, part: Sequence[_Unanswered]) -> BatchRecord:
        """The batch, made at the provider and written down."""
        with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
            path = Path(folder) / "batch.jsonl"
            with path.open("wb") as file:
                await asyncio.to_thread(self._provider.write, (waiting.line for waiting in part), file)
            uploaded = await self._patiently(lambda: self._provider.upload(self._http, path))
            if self._stopped:
                raise _interrupted()
            name = await self._patiently(lambda: self._provider.create(self._http, path, uploaded), unless=_may_be_made)
        requests = [(waiting.key, describe_request(waiting.request)) for waiting in part]
        record = self._held.add(name, self._identity, self._judge.described(), requests)
        await asyncio.to_thread(self._held.journal.sync)
        return record

    async def _patiently(
        self, call: Callable[[], Awaitable[_Reply]], unless: Callable[[EngineError], bool] = lambda _: False
    ) -> _Reply:
        """What a call brings, after as many attempts as the engine allows."""
        for attempt in range(self._engine.max_retries):
            try:
                return await call()
            except TransientEngineError as error:
                if unless(error):
                    raise
                wait = error.retry_after if isinstance(error, RateLimitedError) else None
                await asyncio.sleep(min(self._engine.backoff * 2**attempt if wait is None else wait, LONGEST_PAUSE))
        return await call()

    # From the provider to those who wait

    def _follow(self, record: BatchRecord) -> None:
        """Wait for a batch, once."""
        if record.number not in self._under_way:
            self._under_way[record.number] = record
            self._start(self._wait_for(record))

    async def _wait_for(self, record: BatchRecord) -> None:
        try:
            standing = await self._end_of(record)
            async with self._not_broken_off():
                lost = await self._collect(record, standing)
            if lost is not None and standing.refused is None:
                tell(f"{self._name}: {lost}")
        except Exception as error:
            for waiting in self._waiting_for(record):
                waiting.fail(error)
            if not isinstance(error, EvenhandError):
                raise
        finally:
            self._under_way.pop(record.number, None)
            self._ended.set()
        for waiting in self._waiting_for(record):  # another process has read it
            self._place(self._held, waiting)

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
        """How a batch stands when it has ended; what keeps it from being seen may pass, as a day is long."""
        interval, told_at = self._engine.batch_interval, time.monotonic()
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
                    tell(
                        f"{self._name}: the batch {record.name!r} is {standing.status!r} after "
                        f"{format_duration(max(0.0, time.time() - record.sent_at))}; of "
                        f"{format_count(record.requests, 'request')} {standing.done} are done, {standing.failed} failed"
                    )
            await asyncio.sleep(interval)
            interval = min(LONGEST_INTERVAL * self._engine.batch_interval, SLOWER * interval)

    async def _collect(self, record: BatchRecord, standing: Standing) -> EngineError | None:
        """Record the replies of a batch that has ended, answer those who wait, and send again what may yet pass.

        Returns:
            Why it has no replies, or not all that there were; None where it has.
        """
        keys = self._held.keys(record)
        if not keys:  # another process has read it meanwhile
            return None
        if standing.refused is not None:
            self._held.forget(record)
            return self._refuse(record, keys, standing)
        reading, lost = _Results(dict.fromkeys(keys)), ""
        try:
            await self._patiently(lambda: self._read(standing, frozenset(keys), reading))
        except EngineError as error:
            if error.cause not in GONE:
                raise
            lost = str(error)
        if reading.twice or reading.strange:
            tell(
                f"{self._name}: of the results of the batch {record.name!r} {reading.twice} came twice, of which the "
                f"first count, and {reading.strange} are of no request of it"
            )
        if not lost and reading.left and reading.replies < standing.done:
            lost = f"the provider counts {standing.done} replies and gives {reading.replies}"
        gone = _lost_results(record, len(reading.left), lost) if lost else None  # not bought again unasked
        if gone is None and reading.recorded:
            self._held.forget(record)
        self._pass_on(
            record, {**reading.failed, **{key: gone or unfinished(standing.unfinished) for key in reading.left}}
        )
        return gone

    async def _read(self, standing: Standing, keys: AbstractSet[str], reading: _Results) -> None:
        """Read all results, in whatever order they come, and record replies as they are read."""
        seen, held = set[str](), list[tuple[str, Completion]]()
        reading.twice = reading.strange = 0
        try:
            async with aclosing(self._provider.results(self._http, standing)) as outcomes:
                async for key, outcome in outcomes:
                    if key not in keys:  # there may be more of them than anybody can hold
                        reading.strange += 1
                        continue
                    reading.twice += key in seen
                    seen.add(key)
                    if key not in reading.left:
                        continue
                    del reading.left[key]
                    if isinstance(outcome, EngineError):
                        reading.failed[key] = outcome
                        continue
                    reading.replies += 1
                    held.append((key, short_enough(outcome)))
                    if len(held) >= ROWS_AT_ONCE:
                        reading.recorded &= self._record(held)
                        held.clear()
                        await asyncio.sleep(0)
        finally:
            reading.recorded &= self._record(held)

    def _record(self, held: Sequence[tuple[str, Completion]]) -> bool:
        """Record replies, then answer those who wait for them; return whether they could be recorded."""
        recorded, waited_for = True, [(self._waiting[key], reply) for key, reply in held if key in self._waiting]
        priced = {each.key: self._judge.priced(reply, each.request.messages) for each, reply in waited_for}
        try:
            requests = self._held.requests([key for key, _ in held])  # none where another process has read the batch
            entries = []
            for key, reply in held:
                if key in requests:
                    found = priced.get(key) or self._judge.priced(reply, json.loads(requests[key])["messages"])
                    own = found.model_copy(update={"attempts": 1})
                    entries.append(JournalEntry(key, own, self._identity, requests[key]))
            self._held.journal.put(entries)
        except JournalError as error:
            recorded = False
            _logger.warning("replies of a batch could not be recorded; it stays in the journal: %s", error)
        for each, _ in waited_for:
            each.answer(priced[each.key])
        return recorded

    def _pass_on(self, record: BatchRecord, failed: Mapping[str, EngineError]) -> None:
        """Send again what may yet pass, tell those who wait of what may not, and say so where nobody waits."""
        unasked = [failure for key, failure in failed.items() if key not in self._waiting]
        unasked = [failure for failure in unasked if failure.cause != "lost_results"]
        if unasked:
            tell(
                f"{self._name}: of the batch {record.name!r} {format_count(len(unasked), 'request')} for which nobody "
                f"waits brought no reply, and will be sent again when a run asks for them; the first: {unasked[0]}"
            )
        for key, failure in failed.items():
            if key in self._waiting:
                self._once_more(self._waiting[key], failure)

    def _once_more(self, waiting: _Unanswered, error: EngineError) -> None:
        """Send again what may pass, or what asked for something that the server refuses; else it has failed."""
        less = isinstance(error, RejectedRequestError) and self._asks_less(waiting, str(error))
        if not (less or (isinstance(error, TransientEngineError) and waiting.submissions < SUBMISSIONS)):
            waiting.fail(error)
            return
        try:
            if self._stopped:
                raise _interrupted()
            if waiting.request.meter is not None:
                waiting.request.meter.again(may_be_billed=error.may_be_billed)
        except BudgetExhaustedError as exhausted:
            waiting.fail(exhausted)
            return
        waiting.submissions -= less
        self._enqueue(waiting)

    def _asks_less(self, waiting: _Unanswered, told: str) -> bool:
        """Whether a refused request is another one now: without a schema, or with fewer log-probabilities."""
        if waiting.logprobs and speaks_of_logprobs(told):
            self._judge.judge.give_fewer_logprobs(waiting.logprobs, told)
            return True
        if waiting.schema and self._engine.structured_output == "auto" and speaks_of_schema(told):
            self._schema = False
            return True
        return False

    def _refuse(self, record: BatchRecord, keys: Sequence[str], standing: Standing) -> EngineError:
        """Of a batch that was refused as a whole, nothing was answered or has to be paid for."""
        refused = [(place, self._waiting[key]) for place, key in enumerate(keys, start=1) if key in self._waiting]
        size = format_count(len(keys), "request")
        told = f"the provider refused the batch {record.name!r} of {size}: {standing.refused}"
        if FULL in str(standing.refused) and len(self._under_way) > 1:
            tell(f"{self._name}: {told}. It is sent again when another batch has ended")
            for _, waiting in refused:
                waiting.batch = None
            self._start(self._later([waiting for _, waiting in refused], self._under_way.keys() - {record.number}))
            return RateLimitedError(told, cause="batch_refused")
        for place, waiting in refused:
            line = standing.refused_lines.get(place)
            error: EngineError = RejectedRequestError(told, cause="batch_refused")
            if line is not None:
                error = RejectedRequestError(f"the provider refused this request: {line}", cause="batch_refused")
            elif standing.refused_lines:
                error = TransientEngineError(told, cause="batch_refused")
            self._once_more(waiting, error)
        return RejectedRequestError(told, cause="batch_refused")

    async def _later(self, refused: Sequence[_Unanswered], before: AbstractSet[int]) -> None:
        """Send requests again for which the provider had no room, when one of the batches before has ended."""
        while before <= self._under_way.keys():
            self._ended.clear()
            await self._ended.wait()
        for waiting in refused:
            if not waiting.reply.done():
                waiting.submissions -= 1
                self._enqueue(waiting)


def _may_be_made(error: EngineError) -> bool:
    """Whether there may be a batch after such a failure: not where the server was not reached, or said 'later'."""
    return error.cause != "http_429" and getattr(error, "reached", True) is True


def _interrupted() -> BudgetExhaustedError:
    return BudgetExhaustedError("the run was interrupted before the batch of this call had ended")


def _lost_results(record: BatchRecord, replies: int, why: str) -> EngineError:
    """Replies that the provider no longer gives. They may have been paid for, and are not bought again unasked."""
    return RejectedRequestError(
        f"{format_count(replies, 'reply')} of the batch {record.name!r} cannot be read: {why}. They may have been paid "
        f"for, and are not asked for again. {_give_up(record)}",
        cause="lost_results",
    )


def _give_up(record: BatchRecord) -> str:
    return f"'evenhand journal forget {record.name}' gives it up, and the next run asks for its requests again"
