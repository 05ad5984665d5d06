"""Batches on one event loop: gathered, sent, waited for, read. A killed run resumes with the batches it has sent.

1. Before anything is sent, the journal says which requests are in the batch (``intended``).
2. The file is sent. Whoever finds a batch in this state sends its requests anew: none can have been made of it.
3. The journal says that the batch is being made (``sending``), then it is made. Whoever finds a batch in this state
   looks for it at the provider, by its label or its requests, before anything is sent again.
4. The journal says the batch's name (``submitted``), and only now is it waited for. Whoever finds it in this state,
   on whatever machine, waits for it and reads it.
5. Replies are recorded as they are read, those too that nobody waits for. When all are, the batch is forgotten.

Whoever asks for a key has claimed it in the journal, so that of two processes one sends it.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import uuid4

from evenhand.engines.base import Request
from evenhand.engines.batch_results import Reader, Waiting, asks_less, lost_results, unseen
from evenhand.engines.batch_services import BatchConnection, Standing, unfinished
from evenhand.engines.breaker import tell
from evenhand.engines.journal import describe_request
from evenhand.engines.journal_batches import BatchRecord, BatchRecords
from evenhand.engines.remote import RemoteJudge
from evenhand.engines.replies import GONE
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
from evenhand.votes import Completion, Message

QUIET_SECONDS: Final = 0.5
"""A batch leaves when no request has come for so long."""
SETTLE_SECONDS: Final = 30.0
"""A batch that was being made when a process ended may appear at the provider for so long after."""
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
FULL: Final = "token_limit_exceeded"
"""OpenAI's word for more tokens in all batches than an account may have waiting."""

_Reply = TypeVar("_Reply")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PaidInBatches:
    """What is asked of whom, and how batches are made.

    Attributes:
        judge: Words the requests.
        identity: Its identity, as canonical JSON.
        described: How to make it again.
        priced: A reply with what it cost in a batch.
        interval: Seconds after which a batch is first asked about.
        most_requests: Of one batch.
        most_bytes: Of one batch.
        supports_schema: The provider may be asked for structured output.
    """

    judge: RemoteJudge
    identity: str
    described: Mapping[str, Any]
    priced: Callable[[Completion, Iterable[Message]], Completion]
    interval: float
    most_requests: int
    most_bytes: int
    supports_schema: bool


@dataclass(frozen=True)
class Collected:
    """What :meth:`BatchRun.collect` left.

    Attributes:
        left: Batches that have not ended, or that another process may be making.
        failed: Those that cannot be read, or brought nothing, and why.
    """

    left: list[BatchRecord]
    failed: list[tuple[BatchRecord, EvenhandError]]


class BatchRun:
    """The batches of one judge on one event loop.

    Attributes:
        records: What the journal holds of batches, once it is known.
    """

    def __init__(self, way: PaidInBatches, connection: BatchConnection) -> None:
        self.records: BatchRecords | None = None
        self._way = way
        self._connection = connection
        wanted = way.judge.settings.structured_output
        self._schema = way.supports_schema if wanted == "auto" else wanted
        self._waiting: dict[str, Waiting] = {}
        self._queue: list[Waiting] = []
        self._arrivals = 0
        self._arrived = asyncio.Event()
        self._followed: set[int] = set()
        self._under_way: dict[int, BatchRecord] = {}
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unbroken: set[asyncio.Task[Any]] = set()
        self._stopped = False

    @property
    def _name(self) -> str:
        return repr(self._way.judge.judge_id)

    @property
    def _held(self) -> BatchRecords:
        if self.records is None:
            raise InvalidInputError("a judge of batches needs a journal before it is asked: call keep_in() first")
        return self.records

    def open(self, records: BatchRecords) -> None:
        """Begin to gather."""
        self.records = records
        self._start(self._gather())

    async def reply(self, key: str, request: Request) -> Completion:
        """The reply to a request, when its batch has brought it."""
        records = self._held
        if self._stopped:
            raise _stopped()
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = Waiting(key, request, asyncio.get_running_loop().create_future())
            self._place(records, waiting)
        try:
            return await asyncio.shield(waiting.reply)
        finally:
            if waiting.reply.done():
                self._waiting.pop(key, None)

    async def collect(self, *, wait: bool) -> Collected:
        """Record the replies of every batch that has ended, or of every one."""
        collected = Collected([], [])
        for record in self._held.all():
            if record.identity != self._way.identity or record.state == "intended":
                continue
            try:
                await self._collect_one(record, collected, wait=wait)
            except EvenhandError as error:  # the others can be read all the same
                collected.failed.append((record, error))
        return collected

    async def _collect_one(self, record: BatchRecord, collected: Collected, *, wait: bool) -> None:
        while record.state == "sending" and self._is_being_made(record):
            if not wait:
                collected.left.append(record)
                return
            await asyncio.sleep(self._way.interval)
        found = await self._found(record)
        if found is None:
            return
        standing = await self._end_of(found) if wait else await self._patiently(self._look_at(found))
        if not standing.ended:
            collected.left.append(found)
        elif (nothing := await self._collect(found, standing)) is not None:
            collected.failed.append((found, nothing))

    def _is_being_made(self, record: BatchRecord) -> bool:
        """Whether a process that may be alive is making a batch: it claimed the requests, and we claim none."""
        current = self._held.of_number(record.number)
        claimed = self._held.journal.claimed
        return current == record and any(claimed(key) for key in self._held.keys(record.number))

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
                f"'evenhand resume {self._held.journal.path}'"
            )
        for waiting in self._waiting.values():
            waiting.fail(_stopped())
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
        """Meanwhile the task is waited for when the run ends."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - coroutines run in tasks
        self._unbroken.add(task)
        try:
            yield
        finally:
            self._unbroken.discard(task)

    # What waits leaves together

    def _place(self, records: BatchRecords, waiting: Waiting) -> None:
        """A request waits for the batch that it is in, or for one to be made; its reply may be there meanwhile."""
        record = records.of_key(waiting.key)
        if record is not None:
            waiting.batch = record.number
            self._follow(record)
        elif (recorded := records.journal.get(waiting.key)) is not None:
            waiting.answer(recorded)
        else:
            self._enqueue(waiting)

    def _enqueue(self, waiting: Waiting) -> None:
        waiting.schema = self._schema and waiting.request.response_schema is not None
        waiting.logprobs = self._way.judge.logprobs_of(waiting.request)
        waiting.size, waiting.batch = len(self._line(waiting)), None
        self._queue.append(waiting)
        self._arrivals += 1
        self._arrived.set()

    def _line(self, waiting: Waiting) -> bytes:
        return self._connection.line(waiting.key, self._way.judge.payload(waiting.request, schema=waiting.schema))

    async def _gather(self) -> None:
        """Send what waits when nothing more has come for a moment, or when a batch is full."""
        while True:
            await self._arrived.wait()
            before = self._arrivals
            await asyncio.sleep(QUIET_SECONDS)
            quiet = self._arrivals == before
            while self._queue:
                part, full = self._part()
                if not (quiet or full):
                    break
                del self._queue[: len(part)]
                self._start(self._send(part))
            if not self._queue:
                self._arrived.clear()

    def _part(self) -> tuple[list[Waiting], bool]:
        """The first of the queue that fit into one batch, and whether that is full."""
        size, most = 64, self._way.most_requests
        for place, waiting in enumerate(self._queue):
            size += waiting.size + 2
            if place and (place >= most or size > self._way.most_bytes):
                return self._queue[:place], True
        return self._queue[:], len(self._queue) >= most

    # From the queue to the provider

    async def _send(self, part: list[Waiting]) -> None:
        """Make a batch of these, or tell them why not."""
        try:
            sent = await self._sent(part)
        except Exception as error:
            for waiting in part:
                waiting.fail(error)
            if not isinstance(error, EvenhandError):
                raise
        else:
            for waiting in part:
                waiting.batch = sent.number
            tell(
                f"{self._name}: the batch {sent.name!r} of {format_count(sent.requests, 'request')} was sent. Replies "
                "may take a day; to stop waiting is safe, since the journal holds its name"
            )
            self._follow(sent)

    async def _sent(self, part: list[Waiting]) -> BatchRecord:
        records = self._held
        for waiting in part:
            waiting.submissions += 1
        requests = ((waiting.key, describe_request(waiting.request)) for waiting in part)
        record = records.intend(f"evenhand-{uuid4().hex}", self._way.identity, self._way.described, requests)
        await asyncio.to_thread(records.journal.sync)
        with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
            path = Path(folder) / "batch.jsonl"
            await asyncio.to_thread(self._write, part, path)
            try:
                file = await self._patiently(lambda: self._connection.upload(record.label, path))
            except EngineError:
                records.close(record)
                raise
            if self._stopped:
                records.close(record)
                raise _stopped()
            async with self._not_broken_off():
                return await self._made(records, record, file, path)

    def _write(self, part: Sequence[Waiting], path: Path) -> None:
        with path.open("wb") as file:
            self._connection.write((self._line(waiting) for waiting in part), file)

    async def _made(self, records: BatchRecords, record: BatchRecord, file: str | None, path: Path) -> BatchRecord:
        """The batch, made at the provider and named in the journal."""
        sending = records.advance(record, "sending", file=file)
        sent = None
        if sending is not None:
            await asyncio.to_thread(records.journal.sync)  # or whoever finds it after a power failure sends it anew
            sent = records.advance(sending, "submitted", name=await self._created(records, sending, path))
            await asyncio.to_thread(records.journal.sync)
        if sent is None:
            raise JournalError(f"the batch {record.label!r} was given up by another process while it was made")
        return sent

    async def _created(self, records: BatchRecords, record: BatchRecord, path: Path) -> str:
        """Make the batch; after a failure that does not tell whether it was made, it is looked for first."""
        keys = frozenset(records.keys(record.number))
        attempts = 0
        while True:
            try:
                return await self._connection.create(record, path)
            except TransientEngineError as error:
                await asyncio.sleep(self._pause(error, attempts))
                if _may_be_made(error):
                    found = await self._patiently(lambda: self._connection.find(record, keys, records.names()))
                    if found is not None:
                        return found
                attempts += 1
                if attempts > self._way.judge.settings.max_retries:
                    raise
            except EngineError:
                records.close(record)
                raise

    def _pause(self, error: TransientEngineError, attempt: int) -> float:
        wait = error.retry_after if isinstance(error, RateLimitedError) else None
        return min(self._way.judge.settings.backoff * 2**attempt if wait is None else wait, LONGEST_PAUSE)

    async def _patiently(self, call: Callable[[], Awaitable[_Reply]]) -> _Reply:
        """What a call brings, after as many attempts as the settings allow."""
        for attempt in range(self._way.judge.settings.max_retries):
            try:
                return await call()
            except TransientEngineError as error:
                await asyncio.sleep(self._pause(error, attempt))
        return await call()

    # From the provider to those who wait

    def _follow(self, record: BatchRecord) -> None:
        """Wait for a batch, once."""
        if record.number not in self._followed:
            self._followed.add(record.number)
            self._start(self._wait_for(record))

    async def _wait_for(self, record: BatchRecord) -> None:
        try:
            found = await self._found(record)
            if found is not None:
                self._under_way[record.number] = found
                standing = await self._end_of(found)
                async with self._not_broken_off():
                    lost = await self._collect(found, standing)
                if lost is not None and standing.refused is None:
                    tell(f"{self._name}: {lost}")
        except Exception as error:
            for waiting in self._waiting_for(record):
                waiting.fail(error)
            if not isinstance(error, EvenhandError):
                raise
        finally:
            self._under_way.pop(record.number, None)
            self._followed.discard(record.number)
            self._ended.set()
        for waiting in self._waiting_for(record):  # it was never made, or another process has read it
            self._place(self._held, waiting)

    def _waiting_for(self, record: BatchRecord) -> list[Waiting]:
        return [each for each in self._waiting.values() if each.batch == record.number and not each.reply.done()]

    async def _found(self, record: BatchRecord) -> BatchRecord | None:
        """A batch that exists at the provider; None where it was never made, or was read meanwhile."""
        records = self._held
        if record.state == "intended" and records.close(record):  # whoever makes it would hold the claims
            return None
        current = records.of_number(record.number)
        if current is None or current.state == "submitted":
            return current
        keys = frozenset(records.keys(current.number))
        while True:
            name = await self._patiently(lambda: self._connection.find(current, keys, records.names()))
            if name is not None:
                return records.advance(current, "submitted", name=name)
            left = current.sent_at + SETTLE_SECONDS - time.time()
            if left <= 0:
                records.close(current)
                return None
            await asyncio.sleep(min(left, self._way.interval))

    def _look_at(self, record: BatchRecord) -> Callable[[], Awaitable[Standing]]:
        async def look() -> Standing:
            try:
                return await self._connection.look(str(record.name))
            except EngineError as error:
                raise unseen(error, record) if error.cause in GONE else error from error

        return look

    async def _end_of(self, record: BatchRecord) -> Standing:
        """How a batch stands when it has ended; what keeps it from being seen may pass, as a day is long."""
        look, interval, told_at = self._look_at(record), self._way.interval, time.monotonic()
        while True:
            try:
                standing = await look()
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
            interval = min(LONGEST_INTERVAL * self._way.interval, SLOWER * interval)

    async def _collect(self, record: BatchRecord, standing: Standing) -> EngineError | None:
        """Record the replies of a batch that has ended, answer those who wait, and send again what may yet pass.

        Returns:
            Why it has no replies, or not all that there were; None where it has.
        """
        records = self._held
        keys = records.keys(record.number)
        if not keys:  # another process has read it meanwhile
            return None
        if standing.refused is not None:
            records.close(record)
            return self._refuse(record, keys, standing)
        reader, lost = await self._read(record, standing, keys)
        failed, gone = list(reader.failed.items()), None
        if lost:  # paid for, perhaps: they are not bought again unasked
            gone = lost_results(record, len(reader.left), lost)
            failed += [(key, gone) for key in reader.left]
        else:
            failed += [(key, unfinished(standing.unfinished)) for key in reader.left]
            if not reader.unrecorded:
                records.close(record)
        self._pass_on(record, failed, gone)
        return gone

    async def _read(self, record: BatchRecord, standing: Standing, keys: Sequence[str]) -> tuple[Reader, str]:
        """What came of a batch, and why replies of it are lost, where some are."""
        reader = Reader(self._held, self._way.identity, self._way.priced, keys, self._waiting)
        lost = ""
        try:
            await self._patiently(lambda: reader.read(self._connection.results(standing)))
        except EngineError as error:
            if error.cause not in GONE:
                raise
            lost = str(error)
        if reader.twice or reader.strange:
            tell(
                f"{self._name}: of the results of the batch {record.name!r} {reader.twice} came twice, of which the "
                f"first count, and {reader.strange} are of no request of it"
            )
        if not lost and reader.left and reader.replies < standing.done:
            lost = f"the provider counts {standing.done} replies and gives {reader.replies}"
        return reader, lost

    def _pass_on(
        self, record: BatchRecord, failed: Sequence[tuple[str, EngineError]], gone: EngineError | None
    ) -> None:
        """Send again what may yet pass, tell those who wait of what may not, and say so where nobody waits."""
        unasked = [failure for key, failure in failed if key not in self._waiting and failure is not gone]
        if unasked:
            tell(
                f"{self._name}: of the batch {record.name!r} {format_count(len(unasked), 'request')} for which nobody "
                f"waits brought no reply, and will be sent again when a run asks for them; the first: {unasked[0]}"
            )
        for key, failure in failed:
            if key in self._waiting:
                self._once_more(self._waiting[key], failure)

    def _once_more(self, waiting: Waiting, error: EngineError) -> None:
        """Send again what may pass, or what asked for something that the server refuses; else it has failed."""
        less = isinstance(error, RejectedRequestError) and asks_less(self._way.judge, waiting, str(error))
        self._schema = self._schema and not (less and waiting.schema_refused)
        may_pass = isinstance(error, TransientEngineError) and waiting.submissions < SUBMISSIONS
        if not (less or may_pass):
            waiting.fail(error)
        elif self._stopped:
            waiting.fail(_stopped())
        else:
            try:
                if waiting.request.meter is not None:
                    waiting.request.meter.again(may_be_billed=error.may_be_billed)
            except BudgetExhaustedError as exhausted:
                waiting.fail(exhausted)
                return
            waiting.submissions -= less
            self._enqueue(waiting)

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

    async def _later(self, refused: Sequence[Waiting], before: AbstractSet[int]) -> None:
        """Send requests again for which the provider had no room, when one of the batches before has ended."""
        while before <= self._under_way.keys():
            self._ended.clear()
            await self._ended.wait()
        for waiting in refused:
            if not waiting.reply.done():
                waiting.submissions -= 1
                self._enqueue(waiting)


def _may_be_made(error: TransientEngineError) -> bool:
    """Whether there may be a batch after such a failure: not where the server was not reached, or said 'later'."""
    return error.cause != "http_429" and getattr(error, "reached", True) is True


def _stopped() -> BudgetExhaustedError:
    return BudgetExhaustedError("the run was interrupted before the batch of this call had ended")
