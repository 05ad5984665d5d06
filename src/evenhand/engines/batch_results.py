"""What comes back from a batch: replies into the journal as they are read, then to those who wait for them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass
from typing import Final

from evenhand.engines.base import Request
from evenhand.engines.batch_services import Outcome
from evenhand.engines.journal import JournalEntry
from evenhand.engines.journal_batches import BatchRecord, BatchRecords
from evenhand.engines.remote import RemoteJudge
from evenhand.engines.replies import short_enough, speaks_of_logprobs, speaks_of_schema
from evenhand.errors import EngineError, JournalError, RejectedRequestError
from evenhand.numbers import format_count
from evenhand.votes import Completion, Message

ROWS_AT_ONCE: Final = 256

_logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Waiting:
    """A request that waits for its reply.

    Attributes:
        key: Its journal key.
        request: What is asked.
        reply: What it waits for.
        size: Bytes of its line.
        submissions: How often it was sent.
        schema: Structured output was asked for.
        schema_refused: And refused.
        logprobs: How many log-probabilities a place were asked for.
        batch: The number of the batch that it is in; None while it is in none.
    """

    key: str
    request: Request
    reply: asyncio.Future[Completion]
    size: int = 0
    submissions: int = 0
    schema: bool = False
    schema_refused: bool = False
    logprobs: int = 0
    batch: int | None = None

    def __post_init__(self) -> None:
        self.reply.add_done_callback(_heard)

    def answer(self, completion: Completion) -> None:
        """The reply is there."""
        if not self.reply.done():
            self.reply.set_result(completion)

    def fail(self, error: BaseException) -> None:
        """There is none."""
        if not self.reply.done():
            own = copy(error)  # as many as there are requests in the batch would add their tracebacks to one
            if isinstance(own, EngineError):
                own.attempts = max(1, self.submissions)
            self.reply.set_exception(own)


def _heard(reply: asyncio.Future[Completion]) -> None:
    """A request whose asker was cancelled may fail without anyone to hear of it; that is not an error."""
    if not reply.cancelled():
        reply.exception()


class Reader:
    """Reads the results of one batch; what was read stays read when reading is tried again.

    Attributes:
        left: The keys of the batch of which nothing has come.
        failed: Of those of which an error has come, the error.
        replies: How many replies there were.
        twice: Results that name a request again.
        strange: Results that name none of the batch.
        unrecorded: Replies could not be recorded, so that the batch stays in the journal.
    """

    def __init__(
        self,
        records: BatchRecords,
        identity: str,
        priced: Callable[[Completion, Iterable[Message]], Completion],
        keys: Iterable[str],
        waiting: Mapping[str, Waiting],
    ) -> None:
        self.left = dict.fromkeys(keys)
        self.failed: dict[str, EngineError] = {}
        self.replies = self.twice = self.strange = 0
        self.unrecorded = False
        self._keys = frozenset(self.left)
        self._records = records
        self._identity = identity
        self._priced = priced
        self._waiting = waiting
        self._held: list[tuple[str, Completion]] = []

    async def read(self, results: AsyncGenerator[Outcome, None]) -> None:
        """Read all results, in whatever order they come."""
        seen = set[str]()
        self.twice = self.strange = 0
        try:
            async with aclosing(results) as outcomes:
                async for key, outcome in outcomes:
                    if key not in self._keys:  # there may be more of them than anybody can hold
                        self.strange += 1
                        continue
                    self.twice += key in seen
                    seen.add(key)
                    if key in self.left:
                        self._take(key, outcome)
                    if len(self._held) >= ROWS_AT_ONCE:
                        self._hand_over()
                        await asyncio.sleep(0)
        finally:
            self._hand_over()

    def _take(self, key: str, outcome: Completion | EngineError) -> None:
        del self.left[key]
        if isinstance(outcome, EngineError):
            self.failed[key] = outcome
        else:
            self.replies += 1
            self._held.append((key, short_enough(outcome)))

    def _hand_over(self) -> None:
        """Record what is held, then answer those who wait for it."""
        held, self._held = self._held, []
        waited_for = [(key, reply) for key, reply in held if key in self._waiting]
        answers = {key: self._priced(reply, self._waiting[key].request.messages) for key, reply in waited_for}
        try:
            requests = self._records.requests([key for key, _ in held])  # none where another process has read the batch
            self._records.journal.exchange(
                [
                    self._entry(
                        key,
                        requests[key],
                        answers.get(key) or self._priced(reply, json.loads(requests[key])["messages"]),
                    ).row()
                    for key, reply in held
                    if key in requests
                ]
            )
        except JournalError as error:
            self.unrecorded = True
            _logger.warning("replies of a batch could not be recorded; it stays in the journal: %s", error)
        for key, reply in answers.items():
            self._waiting[key].answer(reply)

    def _entry(self, key: str, request: str, reply: Completion) -> JournalEntry:
        return JournalEntry(key, reply.model_copy(update={"attempts": 1}), self._identity, request)


def asks_less(judge: RemoteJudge, waiting: Waiting, told: str) -> bool:
    """Whether a refused request is another one now: without a schema, or with fewer log-probabilities."""
    if waiting.logprobs and speaks_of_logprobs(told):
        judge.give_fewer_logprobs(waiting.logprobs, told)
        return True
    if waiting.schema and judge.settings.structured_output == "auto" and speaks_of_schema(told):
        waiting.schema_refused = True
        return True
    return False


def unseen(error: EngineError, record: BatchRecord) -> EngineError:
    """A batch that the provider does not show. It is not given up, since it may have been paid for."""
    return RejectedRequestError(
        f"the batch {record.name!r} of {format_count(record.requests, 'request')} cannot be seen: {error}. It stays in "
        f"the journal; was it made with another key, or in another project? {_give_up(record)}",
        cause="batch_unseen",
    )


def lost_results(record: BatchRecord, replies: int, why: str) -> EngineError:
    """Replies that the provider no longer gives. They may have been paid for, and are not bought again unasked."""
    return RejectedRequestError(
        f"{format_count(replies, 'reply')} of the batch {record.name!r} cannot be read: {why}. They may have been paid "
        f"for, and are not asked for again. {_give_up(record)}",
        cause="lost_results",
    )


def _give_up(record: BatchRecord) -> str:
    return f"'evenhand resume --forget {record.label}' gives it up, and the next run asks for its requests again"
