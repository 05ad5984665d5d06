"""An engine that sends requests through its provider's batch interface: half the price, replies within a day.

Requests that wait together leave together, as one batch. As soon as the batch has a name, the journal holds that name
and the requests, and only then is the batch waited for: a later run that asks for one of them, on any machine, waits
for that batch. When it has ended, all its replies are recorded, and the batch is forgotten. Every asker has claimed its
key in the journal, so that only one of two processes sends it.

A process that is killed after the provider took a batch and before the name was written down may buy that batch twice.

OpenAI's interface is that of Azure (``https://NAME.openai.azure.com/openai/v1``), gateways before vLLM, Together and
others too: a JSONL file is uploaded, a batch is made of it and asked about until it has ended, and its output and error
files are read. Anthropic's batch is made with its requests in it.

Sources: https://platform.openai.com/docs/guides/batch, https://docs.anthropic.com/en/api/creating-message-batches.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import aiohttp

from evenhand.engines.base import Request
from evenhand.engines.http import CONNECT_SECONDS, MOST_BYTES, HttpConnection, ServerAddress, read_body
from evenhand.engines.journal import BatchRecord, Journal, Row, canonical_json, describe_request, request_key
from evenhand.engines.limits import tell
from evenhand.engines.remote import RemoteEngine, RemoteJudge, not_running
from evenhand.engines.replies import (
    at,
    brief,
    decode_reply,
    mappings,
    read_completion,
    read_error,
    reply_without_text,
    short_enough,
)
from evenhand.errors import (
    BudgetExhaustedError,
    EngineError,
    EvenhandError,
    FatalEngineError,
    InvalidInputError,
    RejectedRequestError,
    TransientEngineError,
)
from evenhand.numbers import format_count
from evenhand.options import option
from evenhand.votes import Completion

MOST_WAITING: Final = 50_000
"""Requests that wait at once, at most: they are in the batches of one wave."""
QUIET_SECONDS: Final = 0.5
"""A batch leaves when no request has come for this long."""
SUBMISSIONS: Final = 2
"""The number of submissions of one request: after a failure that may pass, it is sent once more."""
ENDING_SECONDS: Final = 10.0
"""For a batch that is being made or recorded when a run is stopped."""
LONGEST_PAUSE: Final = 300.0
MOST_RESULT_BYTES: Final = 2**31
ANSWER_SECONDS: Final = 60.0
READ_SECONDS: Final = 600.0
"""For a server to answer after a batch was sent to it, and for the next piece of the results that it sends."""
GONE: Final = frozenset({"http_404", "http_410"})
"""The causes of failures that say that something is not, or no longer, there."""
FULL: Final = "token_limit_exceeded"
"""OpenAI's word for more tokens in all batches than an account may have waiting."""

ANTHROPIC_URL: Final = "https://api.anthropic.com/v1"
ANTHROPIC_HOST: Final = "anthropic.com"
ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"
DEFAULT_MAX_TOKENS: Final = 4096
"""The token limit of a reply where none is given: Anthropic wants one."""
FINISHES: Final = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}
ANTHROPIC_FAILURES: Final = frozenset({"rate_limit_error", "api_error", "timeout_error", "overloaded_error"})
"""The failures of a single request that may pass."""
_TRANSLATED: Final = frozenset(
    {"messages", "max_tokens", "max_completion_tokens", "stop", "response_format", "seed", "logprobs", "top_logprobs"}
)
_CUSTOM_ID: Final = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')

_Reply = TypeVar("_Reply")


class Standing(NamedTuple):
    """The state of a batch.

    Attributes:
        ended: Whether the batch has ended.
        results: The paths of the results.
        refused: The reason why the whole batch was refused; None if it was not.
        unfinished: The reason why a request has no result.
    """

    ended: bool
    results: tuple[str, ...]
    refused: str | None = None
    unfinished: str = "no_result"


@dataclass(frozen=True)
class OpenAIBatches:
    """The batch interface of a server that also has ``/chat/completions``.

    Attributes:
        address: The address, and where its key is found.
        model: The server's name for the model; None takes that of the engine.
    """

    address: ServerAddress
    model: str | None = None
    most_requests: ClassVar[int] = 50_000
    most_bytes: ClassVar[int] = 200_000_000
    supports_schema: ClassVar[bool] = True

    @property
    def _endpoint(self) -> str:
        azure = (urlsplit(self.address.base_url).hostname or "").endswith(".azure.com")
        return "/chat/completions" if azure else "/v1/chat/completions"

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        """Return one request as it stands in a batch."""
        body = payload if self.model is None else {**payload, "model": self.model}
        return json.dumps({"custom_id": key, "method": "POST", "url": self._endpoint, "body": body}).encode()

    async def upload(self, http: HttpConnection, lines: Iterable[bytes]) -> str:
        """Send the file of these requests, and return its name."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        content = io.BytesIO(b"\n".join(lines) + b"\n")
        form.add_field("file", content, filename="evenhand.jsonl", content_type="application/jsonl")
        body = form()
        return _name_of(await _ask(http, "POST", "/files", data=body, headers={"Content-Type": body.content_type}))

    async def create(self, http: HttpConnection, _: Iterable[bytes], file: str) -> str:
        """Make the batch of the file, and return its name."""
        body = {"input_file_id": file, "endpoint": self._endpoint, "completion_window": "24h"}
        return _name_of(await _ask(http, "POST", "/batches", json=body))

    async def look(self, http: HttpConnection, name: str) -> Standing:
        """Return how a batch stands."""
        batch = await _ask(http, "GET", f"/batches/{name}")
        status, errors = str(at(batch, "status")).casefold(), mappings(at(batch, "errors", "data"))[:3]
        reasons = "; ".join(brief(f"{each.get('code')}: {each.get('message')}", http.secrets) for each in errors)
        files = at(batch, "output_file_id"), at(batch, "error_file_id")
        return Standing(
            ended=status in {"completed", "expired", "cancelled", "failed"},
            results=tuple(f"/files/{each}/content" for each in files if each),
            refused=(reasons or "it did not say why") if status == "failed" else None,
            unfinished=status if status in {"expired", "cancelled"} else "no_result",
        )

    def read(self, entry: object, secrets: Iterable[str]) -> Completion:
        """Return the reply in a line of the results.

        Raises:
            EngineError: If it holds none.
        """
        status, body = at(entry, "response", "status_code"), at(entry, "response", "body")
        if status == 200:
            return read_completion(body, secrets)
        if isinstance(status, int):
            raise read_error(status, json.dumps(body, ensure_ascii=False), None, secrets)
        code = str(at(entry, "error", "code")).removeprefix("batch_")
        raise _unfinished(brief(code, secrets), brief(str(at(entry, "error", "message") or ""), secrets))


@dataclass(frozen=True)
class AnthropicBatches:
    """The message batches at an address.

    Attributes:
        address: The address, and where its key is found.
        model: Anthropic's name for the model; None takes that of the engine.
    """

    address: ServerAddress
    model: str | None = None
    most_requests: ClassVar[int] = 100_000
    most_bytes: ClassVar[int] = 256_000_000
    supports_schema: ClassVar[bool] = False

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        """Return one request as it stands in a batch, without seed and log-probabilities, which do not exist there."""
        messages, stop, schema = payload["messages"], payload.get("stop"), payload.get("response_format")
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        limit = payload.get("max_tokens") or payload.get("max_completion_tokens") or DEFAULT_MAX_TOKENS
        given = {
            **{name: value for name, value in payload.items() if name not in _TRANSLATED},
            "messages": [message for message in messages if message["role"] != "system"],
            "max_tokens": limit,
            "model": self.model or payload["model"],
            "system": system,
            "stop_sequences": [stop] if isinstance(stop, str) else stop,
            "output_config": schema and {"format": {"type": "json_schema", "schema": schema["json_schema"]["schema"]}},
        }
        params = {name: value for name, value in given.items() if value is not None and value != ""}
        return json.dumps({"custom_id": key, "params": params}).encode()

    async def upload(self, http: HttpConnection, lines: Iterable[bytes]) -> str:  # noqa: ARG002 - there are no files
        """Send nothing: the requests are sent when the batch is made."""
        return ""

    async def create(self, http: HttpConnection, lines: Iterable[bytes], _: str) -> str:
        """Make the batch of these requests, and return its name."""
        body = io.BytesIO(b'{"requests":[\n' + b",\n".join(lines) + b"\n]}")
        return _name_of(await _ask(http, "POST", "/messages/batches", data=body))

    async def look(self, http: HttpConnection, name: str) -> Standing:
        """Return how a batch stands."""
        path = f"/messages/batches/{name}"
        ended = at(await _ask(http, "GET", path), "processing_status") == "ended"
        return Standing(ended, (f"{path}/results",))  # not results_url: the key goes to the address that was given

    def read(self, entry: object, secrets: Iterable[str]) -> Completion:
        """Return the reply in a line of the results.

        Raises:
            EngineError: If it holds none.
        """
        kind, message = at(entry, "result", "type"), at(entry, "result", "message")
        if kind == "errored":
            body = at(entry, "result", "error", "error") or at(entry, "result", "error")
            status = 500 if (at(body, "type") or "api_error") in ANTHROPIC_FAILURES else 400
            raise read_error(status, json.dumps(body, ensure_ascii=False), None, secrets)
        if kind != "succeeded":
            raise _unfinished({"canceled": "cancelled"}.get(str(kind), brief(str(kind), secrets)))
        blocks, usage, stop = mappings(at(message, "content")), at(message, "usage"), at(message, "stop_reason")
        thoughts = "".join(str(block.get("thinking", "")) for block in blocks if block.get("type") == "thinking")
        texts = [{"text": block.get("text")} for block in blocks if block.get("type") == "text"]
        choice = {
            "message": {"content": texts, "reasoning_content": thoughts},
            "finish_reason": FINISHES.get(str(stop), stop),
        }
        cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
        counts = [count for name in ("input_tokens", *cached) if isinstance(count := at(usage, name), int)]
        tokens = {
            "prompt_tokens": sum(counts) if counts else None,
            "completion_tokens": at(usage, "output_tokens"),
            "cache_read_input_tokens": at(usage, cached[0]),
        }
        return read_completion({"choices": [choice], "model": at(message, "model"), "usage": tokens}, secrets)


BatchProvider = OpenAIBatches | AnthropicBatches


def provider_at(address: ServerAddress, interface: str, model: str | None = None) -> BatchProvider:
    """Return the batch interface at an address: ``"openai"``, ``"anthropic"``, or by the address (``"auto"``).

    ``ANTHROPIC_API_KEY`` is sent unasked to Anthropic only.
    """
    host = (urlsplit(address.base_url).hostname or "").rstrip(".")
    at_anthropic = host == ANTHROPIC_HOST or host.endswith(f".{ANTHROPIC_HOST}")
    if interface == "openai" or (interface == "auto" and not at_anthropic):
        return OpenAIBatches(address, model)
    default = ANTHROPIC_KEY if at_anthropic and os.environ.get(ANTHROPIC_KEY) else None
    key = default if address.api_key_env is None else address.api_key_env
    version = {"anthropic-version": "2023-06-01"}
    return AnthropicBatches(ServerAddress(address.base_url, key, address.headers_env, version, "x-api-key"), model)


async def _ask(http: HttpConnection, method: str, path: str, **given: Any) -> object:  # noqa: ANN401 - as aiohttp's
    """Return the JSON with which a server answers."""
    return decode_reply(await _fetch(http, method, path, max(http.most, MOST_BYTES), **given))


async def _fetch(http: HttpConnection, method: str, path: str, most: int, **given: Any) -> bytes:  # noqa: ANN401 - as aiohttp's
    """Return the body with which a server answers, of bounded size."""
    seconds = ANSWER_SECONDS if given.keys() <= {"json"} else READ_SECONDS
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=seconds)
    async with http.request(method, path, timeout=timeout, **given) as response:
        content = await read_body(response, most)
    if response.status >= 300:
        advice = " (asked at {url!r}: has the server a batch interface there?)"
        raise http.refusal(response, content, advice if response.status in {404, 405} and method == "POST" else "")
    return content


def _name_of(made: object) -> str:
    """Return the name of what a provider has made."""
    name = at(made, "id")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.:@=+-]+", name):
        raise TransientEngineError("the server's reply names nothing that was made (id)", cause="garbage")
    return name


def _unfinished(why: str, detail: str = "") -> EngineError:
    """Return why a request has no reply, though its batch has ended."""
    passing = why in {"expired", "no_result", "rate_limit_exceeded", "server_error"}
    message = f"its batch brought no reply ({why}){f': {detail}' if detail else ''}"
    return (TransientEngineError if passing else RejectedRequestError)(message, cause=why)


class BatchableEngine(RemoteEngine):
    """An engine whose requests may go through its provider's batch interface."""

    batch: bool = option(False, "Send requests in batches: half the price, replies within a day; needs a journal.")
    batch_api: Literal["auto", "openai", "anthropic"] = option("auto", "Whose interface; auto goes by the address.")
    batch_price: float = option(0.5, "What a token costs in a batch, as a share of its price.", ge=0)
    batch_requests: int | None = option(None, "Requests in one batch; None is the provider's limit.", ge=1)
    batch_bytes: int | None = option(None, "Bytes in one batch; None is the provider's limit.", ge=1)
    batch_interval: float = option(5.0, "Seconds after which a batch is asked about; then ever longer.", ge=0)

    def to_judge(self) -> RemoteJudge | BatchJudge:
        """Return a judge with these settings, which asks for one reply at a time or in batches.

        Raises:
            InvalidInputError: If something is missing that a judge needs.
        """
        missing = [name for name in self.needs if getattr(self, name) is None]
        if missing:
            given = ",".join(f"{name}=…" for name in missing)
            raise InvalidInputError(
                f"{type(self).__name__} needs {' and '.join(missing)}: give {given} (--{missing[0]} in the shell), or "
                f"write [{given}] behind its address or id, as in {self.example!r}"
            )
        return BatchJudge(self) if self.batch else RemoteJudge(self)

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float | None:
        """Return US dollars for these tokens; None if the price is not known."""
        cost = super().estimated_cost(prompt_tokens, completion_tokens, cached_tokens)
        return cost * self.batch_price if self.batch and cost is not None else cost

    def batch_provider(self) -> BatchProvider:
        """Return the batch interface of the provider."""
        raise NotImplementedError


@dataclass(slots=True, eq=False)
class _Awaited:
    """A request that waits for its reply: what it asks for, and the batch that it is in."""

    key: str
    request: Request
    reply: asyncio.Future[Completion]
    line: bytes = b""
    sent: Mapping[str, Any] = field(default_factory=dict)
    batch: int | None = None

    def fail(self, error: BaseException) -> None:
        if not self.reply.done():
            self.reply.set_exception(copy(error))  # one error would get the tracebacks of all requests in the batch


class BatchJudge(RemoteJudge):
    """A judge behind a network whose requests travel in batches, on one event loop at a time.

    Its replies are recorded under the same keys as those of a judge that asks one at a time.
    """

    settings: BatchableEngine
    _http: HttpConnection
    _journal: Journal

    def __init__(self, engine: BatchableEngine) -> None:
        super().__init__(engine)
        self.concurrency = MOST_WAITING
        self._provider = engine.batch_provider()
        self._identity = canonical_json(dict(self.identity()))
        if self.takes_schema is None:
            self.takes_schema = self._provider.supports_schema
        self._loop: asyncio.AbstractEventLoop | None = None  # where it runs
        self._stopped = False
        self._waiting: dict[str, _Awaited] = {}
        self._queue: list[_Awaited] = []
        self._under_way: dict[int, tuple[BatchRecord, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._unbroken: set[asyncio.Task[Any]] = set()  # waited for when the run ends meanwhile

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold a connection for the event loop that runs now, in one run at a time."""
        if self._loop is not None:
            raise not_running(self.judge_id)
        async with self.settings.connect(self._provider.address) as self._http:
            self._loop, self._stopped, self._arrived = asyncio.get_running_loop(), False, asyncio.Event()
            try:
                yield
            finally:
                self._loop = None
                if self._unbroken:
                    await asyncio.wait(list(self._unbroken), timeout=ENDING_SECONDS if self._stopped else None)
                for task in self._tasks:
                    task.cancel()
                if self._tasks:
                    await asyncio.wait(list(self._tasks))
                self._waiting, self._queue, self._under_way = {}, [], {}

    def keep_in(self, journal: Journal) -> None:
        """Keep in this journal which requests are in which batch; called once before anything is asked."""
        if not self._tasks:
            self._journal = journal
            self._start(self._gather(), self._tasks)

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request, when its batch has brought it.

        What may pass is sent once more, and what asks for something that the server refuses is sent without it.

        Raises:
            EngineError: When there is none.
            BudgetExhaustedError: When the run was stopped; the batch stays with the provider.
        """
        if self._loop is not asyncio.get_running_loop():
            raise not_running(self.judge_id)
        key, submissions = request_key(self._identity, describe_request(request)), 0
        while True:
            if self._stopped:
                raise _interrupted()
            waiting = self._waiting.get(key) or self._start_waiting(key, request)
            submissions += 1
            try:
                return await asyncio.shield(waiting.reply)
            except EngineError as error:
                error.attempts = submissions
                less = isinstance(error, RejectedRequestError) and self.asks_for_less(str(error), waiting.sent)
                others = [task for number, (_, task) in self._under_way.items() if number != waiting.batch]
                full = error.cause == FULL and bool(others)
                may_pass = isinstance(error, TransientEngineError) and submissions < SUBMISSIONS
                if not (less or full or may_pass):
                    raise
                if request.again is not None:
                    request.again(error.may_be_billed)
                if full:
                    await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
                submissions -= less or full

    def stop_sending(self) -> None:
        """Send nothing more, and wait for no batch: they stay with the provider."""
        if self._stopped or self._loop is None:
            return
        self._stopped = True
        if self._under_way:
            requests = sum(record.requests for record, _ in self._under_way.values())
            tell(
                f"{self.judge_id!r}: {format_count(len(self._under_way), 'batch')} of "
                f"{format_count(requests, 'request')} left with the provider. Run the same again to go on from there"
            )
        for waiting in self._waiting.values():
            waiting.fail(_interrupted())
        self._queue.clear()

    def _start(self, work: Coroutine[Any, Any, _Reply], among: set[asyncio.Task[Any]]) -> asyncio.Task[_Reply]:
        task = asyncio.get_running_loop().create_task(work)
        among.add(task)
        task.add_done_callback(among.discard)
        return task

    async def _with_retries(
        self, call: Callable[[], Awaitable[_Reply]], unless: Callable[[EngineError], bool] = lambda _: False
    ) -> _Reply:
        """Return what a call brings, after as many attempts as the engine allows."""
        attempt = 0
        while True:
            try:
                return await call()
            except TransientEngineError as error:
                if attempt == self.settings.max_retries or unless(error):
                    raise
                wait = error.retry_after or self.settings.backoff * 2**attempt
            await asyncio.sleep(min(wait, LONGEST_PAUSE))
            attempt += 1

    def _start_waiting(self, key: str, request: Request) -> _Awaited:
        """Let a request wait for the batch that it is in, or for one to be made; its reply may be there meanwhile."""
        waiting = self._waiting[key] = _Awaited(key, request, asyncio.get_running_loop().create_future())
        waiting.reply.add_done_callback(lambda _: self._waiting.pop(key, None))
        waiting.reply.add_done_callback(lambda reply: reply.cancelled() or reply.exception())  # its waiters may be gone
        self._place(waiting)
        return waiting

    def _place(self, waiting: _Awaited) -> None:
        records = self._journal.batches("WHERE id = (SELECT batch FROM batched WHERE key = ?)", waiting.key)
        if records:
            waiting.batch = records[0].number
            if waiting.batch not in self._under_way:
                self._follow(records[0])
            return
        if (recorded := self._journal.get(waiting.key)) is not None:
            waiting.reply.set_result(recorded)
            return
        waiting.batch, waiting.sent = None, self.payload(waiting.request)
        waiting.line = self._provider.line(waiting.key, waiting.sent)
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
                part = self._queue[: self._fitting()]
                if not quiet and len(part) == len(self._queue):  # a batch that may have room for more
                    break
                del self._queue[: len(part)]
                self._start(self._send(part), self._unbroken)

    def _fitting(self) -> int:
        """Return the number of requests at the head of the queue that fit into one batch."""
        provider, engine = self._provider, self.settings
        most = min(engine.batch_requests or provider.most_requests, provider.most_requests)
        left = min(engine.batch_bytes or provider.most_bytes, provider.most_bytes) - 64
        for place, waiting in enumerate(self._queue[:most]):
            left -= len(waiting.line) + 2
            if place and left < 0:
                return place
        return most

    async def _send(self, part: list[_Awaited]) -> None:
        """Make a batch of these at the provider and write it down, or fail them."""
        lines, provider = [waiting.line for waiting in part], self._provider
        try:
            uploaded = await self._with_retries(lambda: provider.upload(self._http, lines))
            if self._stopped:
                raise _interrupted()
            name = await self._with_retries(lambda: provider.create(self._http, lines, uploaded), unless=_may_be_made)
            requests = {waiting.key: describe_request(waiting.request) for waiting in part}
            record = self._journal.add_batch(name, self._identity, requests)
            await asyncio.to_thread(self._journal.sync)
        except EvenhandError as error:
            if isinstance(error, TransientEngineError):  # it may have been made, and is not made again unasked
                error = RejectedRequestError(str(error), cause=error.cause)
            for waiting in part:
                waiting.fail(error)
            return
        for waiting in part:
            waiting.batch = record.number
        tell(
            f"{self.judge_id!r}: {record} was sent. Replies may take a day; to stop waiting is safe, since the journal "
            "holds its name"
        )
        if self._loop is not None:
            self._follow(record)

    def _follow(self, record: BatchRecord) -> None:
        self._under_way[record.number] = record, self._start(self._wait_for(record), self._tasks)

    async def _wait_for(self, record: BatchRecord) -> None:
        failure: EvenhandError | None = None
        try:
            standing = await self._end_of(record)
            await asyncio.shield(self._start(self._collect(record, standing), self._unbroken))
        except EvenhandError as error:
            gone = isinstance(error, EngineError) and error.cause in GONE
            failure = self._lost(record, error) if gone else error
        finally:
            self._under_way.pop(record.number, None)
        for waiting in [each for each in self._waiting.values() if each.batch == record.number]:
            if failure is not None:
                waiting.fail(failure)
            elif not waiting.reply.done():  # another process has read it
                self._place(waiting)

    async def _end_of(self, record: BatchRecord) -> Standing:
        """Return the state of the batch after it ends; errors while asking may pass, as a day is long."""
        interval = self.settings.batch_interval
        while True:
            with suppress(TransientEngineError):
                if (standing := await self._provider.look(self._http, record.name)).ended:
                    return standing
            await asyncio.sleep(interval)
            interval = min(60 * self.settings.batch_interval, 1.5 * interval)

    async def _collect(self, record: BatchRecord, standing: Standing) -> None:
        """Record the replies of a batch that has ended, and answer those who wait."""
        requests = self._journal.requests_in(record)
        if standing.refused is not None:  # none was answered or has to be paid for
            self._journal.forget_batch(record)
            message = f"the provider refused {record}: {standing.refused}"
            if FULL in standing.refused:
                tell(f"{self.judge_id!r}: {message}. It is sent again when another batch has ended")
                raise TransientEngineError(message, cause=FULL)
            raise RejectedRequestError(message, cause="batch_refused")
        outcomes: dict[str, EngineError | None] = {}
        try:
            await self._with_retries(lambda: self._read(standing, requests, outcomes))
            self._journal.forget_batch(record)
            outcomes = {**dict.fromkeys(requests, _unfinished(standing.unfinished)), **outcomes}
        finally:
            for key, problem in outcomes.items():
                if problem is not None and key in self._waiting:
                    self._waiting[key].fail(problem)

    def _lost(self, record: BatchRecord, error: Exception) -> EngineError:
        """Return the error for replies that are no longer at the provider, or not to be seen with this key."""
        failure = RejectedRequestError(
            f"replies of {record} cannot be read: {error}. They may have been paid for, and are not asked for again; "
            "was the batch made with another key, or in another project? 'evenhand journal forget "
            f"{record.name}' gives it up, and the next run asks for its requests again",
            cause="lost_results",
        )
        tell(f"{self.judge_id!r}: {failure}")
        return failure

    async def _read(
        self, standing: Standing, requests: Mapping[str, str], outcomes: dict[str, EngineError | None]
    ) -> None:
        """Read the results, in any order, record the replies, and answer those who wait for them.

        Args:
            standing: The state of the batch, with the places of the results.
            requests: The requests of the batch, by key.
            outcomes: Per key the error that came, or None for a reply.
        """
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        gone: EngineError | None = None
        for path in standing.results:
            try:
                content = await _fetch(self._http, "GET", path, MOST_RESULT_BYTES, headers=headers)
            except FatalEngineError as error:
                gone = error  # raised after the other file was read
                continue
            replies: dict[str, Completion] = {}
            for line in io.BytesIO(content):
                key, outcome = self._outcome_of(line)
                if key in outcomes or key not in requests:  # of a result that comes twice the first counts
                    continue
                outcomes[key] = outcome if isinstance(outcome, EngineError) else None
                if not isinstance(outcome, EngineError):
                    replies[key] = self.priced(short_enough(outcome), json.loads(requests[key])["messages"])
                if len(outcomes) % 256 == 0:  # let other tasks run
                    await asyncio.sleep(0)
            own = {key: reply.model_copy(update={"attempts": 1}) for key, reply in replies.items()}
            rows = [Row.of(key, self._identity, requests[key], reply) for key, reply in own.items()]
            try:
                self._journal.exchange(rows)
            finally:
                for key, reply in replies.items():
                    if key in self._waiting and not self._waiting[key].reply.done():
                        self._waiting[key].reply.set_result(reply)
        if gone is not None:
            raise gone

    def _outcome_of(self, line: bytes) -> tuple[str, Completion | EngineError]:
        """Read one line of a results file, with the request that it answers; an empty line answers none."""
        found = _CUSTOM_ID.search(line)
        key = found[1].decode() if found else ""
        if len(line) > self._http.most or not line.strip():
            return key, Completion(text=None, finish_reason="too_long")
        try:
            entry = decode_reply(line)
            return str(at(entry, "custom_id")), self._provider.read(entry, self._http.secrets)
        except FatalEngineError as error:  # of one request, whose others are answered
            return key, RejectedRequestError(str(error), cause=error.cause)
        except EngineError as error:
            return key, reply_without_text(error) or error


def _may_be_made(error: EngineError) -> bool:
    """Return whether a batch may exist after such a failure: not if the server was not reached, or said 'later'."""
    return error.cause != "http_429" and error.reached


def _interrupted() -> BudgetExhaustedError:
    return BudgetExhaustedError("the run was interrupted before the batch of this call had ended")
