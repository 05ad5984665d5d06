"""A judge whose requests go through its provider's batch interface: half the price, and replies within a day.

What waits together leaves together. A request whose key is in a batch already is waited for there, whoever sent it; see
:mod:`evenhand.engines.batch_run` for how an interrupted run resumes without paying again for the batches it has sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from evenhand.checked_options import option
from evenhand.engines.base import Request
from evenhand.engines.batch_run import SUBMISSIONS, BatchRun, Collected, PaidInBatches
from evenhand.engines.batch_services import BatchService
from evenhand.engines.journal import Journal, canonical_json, describe_request, request_key
from evenhand.engines.journal_batches import BatchRecords
from evenhand.engines.remote import REFUSABLE, RemoteEngine, RemoteJudge
from evenhand.errors import InvalidInputError
from evenhand.votes import Completion, Message

MOST_WAITING: Final = 50_000
"""Requests that wait at once, at most: so many are in the batches of one wave."""


class BatchableEngine(RemoteEngine):
    """An engine whose requests may go through its provider's batch interface."""

    batch: bool = option(False, "Send them so. Replies take up to a day and cost about half; the run needs a journal.")
    batch_api: Literal["auto", "openai", "anthropic"] = option(
        "auto",
        '``"openai"`` (files and batches), ``"anthropic"`` (message batches), or ``"auto"``, which takes the second at '
        "Anthropic's own address.",
    )
    batch_price: float = option(0.5, "What a token costs in a batch, as a share of its price.", ge=0)
    batch_requests: int | None = option(
        None, "Requests in one batch at most; None is the provider's limit (50,000; Anthropic 100,000).", ge=1
    )
    batch_bytes: int | None = option(
        None, "Bytes in one batch at most; None is the provider's limit (200 MB; Anthropic 256 MB).", ge=1
    )
    batch_interval: float = option(
        5.0, "Seconds after which a batch is asked about; each time half as long again, up to 60 times that.", ge=0
    )

    def to_judge(self) -> RemoteJudge | BatchJudge:
        """Return a judge with these settings, which asks for one reply at a time or in batches."""
        self.check_complete()
        return BatchJudge(self) if self.batch else RemoteJudge(self)

    def batch_service(self) -> BatchService:
        """Return the batch interface of the provider."""
        raise NotImplementedError


@dataclass(slots=True)
class _OpenRun:
    """What one event loop shares."""

    run: BatchRun
    resources: AsyncExitStack
    users: int = 0


class BatchJudge:
    """A judge behind a network whose requests travel in batches.

    Its replies are recorded under the same keys as those of the judge that it stands for.

    Attributes:
        engine: What is asked, of whom, and how batches are made.
        judge: The judge that it stands for.
        described: The engine, without secrets: by it the batch is collected by others.
        forecast: As of that judge.
    """

    def __init__(self, engine: BatchableEngine) -> None:
        self.engine = engine
        self.judge = judge = RemoteJudge(engine)
        fields = engine.model_dump(mode="json", exclude_defaults=True)
        self.described = {"engine": type(engine).__name__, "fields": fields}
        self._service = engine.batch_service()
        self.forecast = judge.forecast
        self._identity = canonical_json(dict(judge.identity()))
        self._sessions: dict[asyncio.AbstractEventLoop, _OpenRun] = {}

    def __repr__(self) -> str:
        return f"BatchJudge({self.engine!r})"

    @property
    def judge_id(self) -> str:
        """The judge's name."""
        return self.judge.judge_id

    @property
    def data_classification_policy(self) -> tuple[str, ...] | None:
        """Of which classifications the data may be that it is shown."""
        return self.judge.data_classification_policy

    @property
    def concurrency(self) -> int:
        """As many as a wave may have."""
        return MOST_WAITING

    @property
    def most_reply_tokens(self) -> int | None:
        """The token limit of a reply."""
        return self.judge.most_reply_tokens

    @property
    def most_attempts(self) -> int:
        """Requests of one call at most."""
        return SUBMISSIONS + REFUSABLE

    def identity(self) -> Mapping[str, Any]:
        """As without batches: a reply is the same, however it travelled."""
        return self.judge.identity()

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars for so many tokens in a batch."""
        cost = self.judge.estimated_cost(prompt_tokens, completion_tokens)
        return None if cost is None else cost * self.engine.batch_price

    def priced(self, completion: Completion, messages: Iterable[Message]) -> Completion:
        """With what it cost in a batch; what the server's cache held is cheaper there too."""
        return self.judge.priced(completion, messages, share=self.engine.batch_price)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A connection for the event loop that runs now, shared by all who enter meanwhile."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            resources = AsyncExitStack()
            connection = await resources.enter_async_context(self._service.opened(self.engine))
            session = self._sessions[loop] = _OpenRun(BatchRun(self._way(), connection), resources)
        session.users += 1
        try:
            yield
        finally:
            session.users -= 1
            if not session.users:
                del self._sessions[loop]
                await session.run.close()
                await session.resources.aclose()

    def keep_in(self, journal: Journal) -> None:
        """Where it is written which requests are in which batch, on the event loop that runs now."""
        run = self._run()
        if run.records is None:
            run.open(BatchRecords(journal))

    async def complete(self, request: Request) -> Completion:
        """The reply to one request, when its batch has brought it.

        Raises:
            EngineError: When there is none.
            BudgetExhaustedError: When the run was stopped; the batch stays with the provider.
        """
        return await self._run().reply(request_key(self._identity, describe_request(request)), request)

    async def collect(self, *, wait: bool) -> Collected:
        """Record the replies of every batch of this judge that has ended.

        Args:
            wait: Wait for the others, too.
        """
        return await self._run().collect(wait=wait)

    def stop_sending(self) -> None:
        """Send nothing more on this event loop, and wait for no batch: they stay with the provider."""
        session = self._sessions.get(asyncio.get_running_loop())
        if session is not None:
            session.run.stop()

    def _way(self) -> PaidInBatches:
        engine, service = self.engine, self._service
        return PaidInBatches(
            judge=self.judge,
            identity=self._identity,
            described=self.described,
            priced=self.priced,
            interval=engine.batch_interval,
            most_requests=min(engine.batch_requests or service.most_requests, service.most_requests),
            most_bytes=min(engine.batch_bytes or service.most_bytes, service.most_bytes),
            supports_schema=service.supports_schema,
        )

    def _run(self) -> BatchRun:
        session = self._sessions.get(asyncio.get_running_loop())
        if session is None:
            raise InvalidInputError(
                f"the judge {self.judge_id!r} is not running on this event loop: call complete() inside "
                "'async with judge.running():'"
            )
        return session.run
