"""A judge behind a network: limits, retries, structured output and log-probabilities, the same above every transport.

What a server refuses (structured output, log-probabilities, a parameter) it is not asked for again.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, Literal, Protocol

import aiohttp
from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from evenhand.engines.base import HOSTED, Engine, Request
from evenhand.engines.budget import believed_tokens, message_bytes
from evenhand.engines.http import CONNECT_SECONDS, MOST_BYTES, HttpConnection, ServerAddress
from evenhand.engines.limits import Gate, tell
from evenhand.engines.replies import check_variable_name, refused_parameter, reply_without_text, short_enough, speaks_of
from evenhand.errors import (
    BudgetExhaustedError,
    ConnectionLostError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    RateLimitedError,
    RejectedRequestError,
    TransientEngineError,
    UnreachableError,
)
from evenhand.options import option
from evenhand.votes import Completion, Message

READY_SHARE: Final = 1.25
RATE_LIMIT_PATIENCE: Final = 4
"""The number of 429 that count as one failed attempt."""
LONGEST_WAIT: Final = 300.0
GIVEN_UP_IN_A_ROW: Final = 8
"""The run ends after this many calls in a row that a 429 ended, as when a quota is used up."""
ASSUMED_REPLY_TOKENS: Final = 256
FEWER_LOGPROBS: Final = 5
"""The number of the likeliest tokens to ask for after a server has refused more; some give no more."""
DROPPABLE: Final = ("max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stop")
"""Parameters that are left out once a model refuses them, as reasoning models do."""
RESERVED_PARAMETERS: Final = frozenset(
    {"model", "messages", "n", "stream", "response_format", "logprobs", "top_logprobs", "temperature", "max_tokens"}
    | {"top_p", "seed", "stop"}
)
SHORTEST_CACHED: Final = 4000
"""Characters, about the 1,024 tokens from which on Anthropic keeps the beginning of a prompt."""
_ANTHROPIC_MODEL: Final = re.compile(r"(anthropic/)?claude-[^/]*$")
_CACHE_MARK: Final = {"cache_control": {"type": "ephemeral"}}
REFUSALS: Final = frozenset({"http_403", "http_404"})
"""They end a run before its first reply; after one, key and model are known to be right, and one request is refused."""
SECRET_PARAMETERS: Final = ("key", "token", "secret", "password", "authorization", "credential", "header")
HARMLESS_PARAMETERS: Final = ("max_completion_tokens", "min_tokens", "stop_token_ids", "skip_special_tokens")


def _variable(name: object, info: ValidationInfo) -> object:
    if name:
        check_variable_name(str(info.field_name), name)
    return name


VariableName = Annotated[str | None, BeforeValidator(_variable)]
"""The name of an environment variable, which holds a key."""
Texts = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
]


class RemoteEngine(Engine):
    """The parameters and limits of a model behind a network; the base of the engines that define the transport."""

    model_config = ConfigDict(allow_inf_nan=False)
    example: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ("model",)
    """Options that a judge needs: an entry of the catalog leaves them to its user."""

    model: str | None = option(None, "As the server names it.", pattern=r"\S")
    name: str | None = option(None, "The judge's name in votes and scores; the model when None.")
    temperature: float | None = option(
        0.0, "Repeated draws need more than 0; None is the server's default, which some models insist on.", ge=0
    )
    max_tokens: int | None = option(None, "Of one reply; None is the server's default.", ge=1)
    top_p: float | None = option(None, "None is the server's default.", ge=0, le=1)
    seed: int | None = option(None, "Sent with the sample index added to it, so that repeated draws differ.")
    stop: Texts = option((), "Texts that end a reply, or one of them.")
    extra: Mapping[str, JsonValue] = option(
        {}, 'More parameters of the request, such as ``{"reasoning_effort": "low"}``.'
    )
    structured_output: Literal["auto"] | bool = option(
        "auto", "Ask for replies that satisfy a JSON schema: always, never, or (``auto``) unless the server refuses it."
    )
    max_in_flight: int = option(64, "Calls in flight at once, at most; a 429 lowers it for a while.", ge=1)
    requests_per_minute: float | None = option(None, "Requests are spaced evenly.", gt=0)
    tokens_per_minute: float | None = option(
        None, "Of prompts and replies; estimated before a call and corrected after it.", gt=0
    )
    timeout: float = option(60.0, "Seconds for one attempt, the reading of its reply included.", gt=0)
    max_reply_bytes: int = option(
        MOST_BYTES,
        "A longer body is not read, and its vote is unscored (``too_long``); litellm has no such bound.",
        ge=1,
    )
    max_retries: int = option(5, "Attempts after the first for what may pass; four 429 count as one.", ge=0)
    backoff: float = option(0.5, "Seconds; the n-th retry waits a random time up to backoff × 2ⁿ⁻¹, at most 30.", ge=0)
    patience: float | None = option(
        None, "Seconds that the queue waits for a server that is away; None is 300, or 1 if it was never reached.", ge=0
    )
    prompt_price: float | None = option(
        None, "US dollars a million tokens; a larger cost that the server reports counts.", ge=0
    )
    completion_price: float | None = option(None, "US dollars a million tokens.", ge=0)
    cached_price: float | None = option(
        None, "US dollars a million tokens that the server's cache held; None counts them as the others.", ge=0
    )
    data_classification_policy: tuple[str, ...] | None = option(
        HOSTED, "The classifications of the data that it may be shown; None for any."
    )

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - each option says its own type
        for name in ("api_key", "credentials"):
            if given.pop(name, None) is not None:
                raise InvalidInputError(
                    f"{name} is not accepted, so that no key can reach a file or a log: put the key into an "
                    "environment variable, and that variable's name into api_key_env"
                )
        super().__init__(**given)

    @field_validator("extra")
    @classmethod
    def _check_extra(cls, extra: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """Return further request parameters if they are neither set elsewhere nor secret."""
        for name in extra:
            reason = None
            if name in RESERVED_PARAMETERS:
                reason = "it has a field of its own, or is set for each request"
            elif name not in HARMLESS_PARAMETERS and any(word in name.casefold() for word in SECRET_PARAMETERS):
                reason = "keys and headers are read from environment variables (see api_key_env)"
            if reason is not None:
                raise InvalidInputError(f"extra may not hold {name!r}: {reason}")
        return extra

    @property
    def most_reply_tokens(self) -> int | None:
        """The token limit of a reply, under either of its names; None if there is none."""
        given = [self.max_tokens, self.extra.get("max_completion_tokens")]
        return max((limit for limit in given if isinstance(limit, int)), default=None)

    def sampling(self) -> dict[str, Any]:
        """Return the parameters that every request carries and every reply depends on."""
        names = ("model", "temperature", "max_tokens", "top_p", "seed")
        given = {**{name: getattr(self, name) for name in names}, "stop": list(self.stop) or None}
        return {name: value for name, value in given.items() if value is not None} | dict(self.extra)

    @property
    def has_own_prices(self) -> bool:
        """Whether prices were given, which then count in place of any other."""
        return self.prompt_price is not None or self.completion_price is not None

    def rates(self) -> tuple[float, float, float] | None:
        """Return US dollars per million tokens of prompts, replies and cached prompts; None if they are not known."""
        if not self.has_own_prices:
            return None
        prompt = self.prompt_price or 0.0
        return prompt, self.completion_price or 0.0, prompt if self.cached_price is None else self.cached_price

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float | None:
        """Return US dollars for these tokens; None if the price is not known."""
        if (rates := self.rates()) is None:
            return None
        prompt, reply, cached = rates
        dollars = (prompt_tokens - cached_tokens) * prompt + completion_tokens * reply + cached_tokens * cached
        return dollars / 1e6

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The name of the server in a judge's identity, without secrets."""
        raise NotImplementedError

    def opened(self) -> AbstractAsyncContextManager[Connection]:
        """Open a connection for the event loop that runs now."""
        raise NotImplementedError

    @asynccontextmanager
    async def connect(self, address: ServerAddress, **further: Any) -> AsyncIterator[HttpConnection]:  # noqa: ANN401
        """Open a pool of HTTP connections for the event loop that runs now; see :class:`HttpConnection`."""
        headers, secrets = address.headers()
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self.max_in_flight, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_SECONDS, self.timeout)),
            headers=headers,
        ) as session:
            keyless, most = "Authorization" not in headers, self.max_reply_bytes
            yield HttpConnection(session, address, secrets, keyless=keyless, most=most, **further)


class Connection(Protocol):
    """An open transport on one event loop.

    Attributes:
        supports_schema: Whether the server may be asked for structured output, as far as is known without asking. Asked
            before the first call, and outside its time-out: what takes long to load may be loaded here.
    """

    @property
    def supports_schema(self) -> bool:
        """See above."""

    async def send(self, payload: Mapping[str, Any]) -> Completion:
        """Make one attempt.

        Raises:
            EngineError: If there is no reply; its class says whether another attempt makes sense.
        """


@dataclass(slots=True)
class _Session:
    """The state shared on one event loop: the open connection, the gate, and how many use them."""

    connection: Connection
    resources: AsyncExitStack
    gate: Gate
    users: int = 0


@dataclass(slots=True)
class _Trial:
    """One request in progress.

    Attributes:
        sent: What was sent last.
        attempts: Times that it was sent.
        retries: Attempts that count: not those without a connection, and of those that a 429 refused a quarter.
        timed_out_after: Answers to all requests when it timed out last.
    """

    sent: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    retries: float = 0.0
    timed_out_after: int | None = None


class RemoteJudge:
    """A judge behind a network.

    It may run on several event loops at once, each with connections and limits of its own, and any number of times.

    Attributes:
        settings: The engine: what is asked, how fast, and how it travels.
        judge_id: The name given, or the model's.
        concurrency: A quarter more than may be in flight, so that the next request is ready when a reply comes.
        data_classification_policy: The classifications of the data that it may be shown; None for any.
        estimated_cost: US dollars for tokens of a prompt and a reply; None if the price is not known.
        most_reply_tokens: The token limit of a reply; None if there is none.
        takes_schema: Whether it is asked for structured output; None until the connection says so.
    """

    def __init__(self, settings: RemoteEngine) -> None:
        self.settings = settings
        self.judge_id = settings.name or str(settings.model)
        self.concurrency = math.ceil(settings.max_in_flight * READY_SHARE)
        self.data_classification_policy = settings.data_classification_policy
        self.estimated_cost = settings.estimated_cost
        self.most_reply_tokens = settings.most_reply_tokens
        self.takes_schema: bool | None = None if settings.structured_output == "auto" else settings.structured_output
        self._sampling = settings.sampling()
        anthropic = settings.endpoint == {"provider": "litellm", "endpoint": None}
        self._marks = anthropic and _ANTHROPIC_MODEL.match(str(settings.model)) is not None
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}
        self._dropped: set[str] = set()
        self._most_logprobs = sys.maxsize
        self._longest_reply = min(ASSUMED_REPLY_TOKENS, settings.most_reply_tokens or ASSUMED_REPLY_TOKENS)

    def identity(self) -> Mapping[str, Any]:
        """Return the server, the model and the sampling parameters."""
        return {
            **self.settings.endpoint,
            "sampling": self.settings.sampling(),
            "structured_output": self.settings.structured_output,
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold connections for the event loop that runs now, shared by all who enter meanwhile."""
        loop, settings = asyncio.get_running_loop(), self.settings
        session = self._sessions.get(loop)
        if session is None:
            resources = AsyncExitStack()
            connection = await resources.enter_async_context(settings.opened())
            limits = settings.max_in_flight, settings.requests_per_minute, settings.tokens_per_minute
            gate = Gate(self.judge_id, *limits, settings.patience)
            session = self._sessions[loop] = _Session(connection, resources, gate)
        session.users += 1
        try:
            yield
        finally:
            session.users -= 1
            if not session.users:
                del self._sessions[loop]
                session.gate.end(BudgetExhaustedError("the run ended before this call was sent"))
                await session.resources.aclose()

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request, after as many attempts as it takes.

        Raises:
            EngineError: When there is no reply.
            InvalidInputError: When the judge is not running on this event loop.
        """
        session = self._sessions.get(asyncio.get_running_loop())
        if session is None:
            raise not_running(self.judge_id)
        if self.takes_schema is None:
            self.takes_schema = session.connection.supports_schema
        gate, trial = session.gate, _Trial()
        while True:
            expected = used = 0.0
            if self.settings.tokens_per_minute is not None:  # until it ends: its prompt, and as the longest reply seen
                prompt = sum(map(message_bytes, request.messages)) / 4  # bytes per token
                expected = used = prompt + self._longest_reply
            entered_at = await gate.enter(expected, again=trial.attempts > 0)
            try:
                completion = self.priced(await self._attempt(session, trial, request), request.messages)
            except EngineError as error:
                reached, may_be_billed = error.reached, error.may_be_billed
                used = expected if may_be_billed else 0.0
                error.attempts = trial.attempts
                delay = self._after_failure(error, gate, trial, entered_at)
            else:
                gate.answered(replied=True)
                if expected and completion.prompt_tokens is not None:
                    used = float(completion.prompt_tokens + (completion.completion_tokens or 0))
                    self._longest_reply = max(self._longest_reply, completion.completion_tokens or 0)
                return completion
            finally:
                gate.leave(entered_at, used - expected)
            if request.again is not None and reached:
                request.again(may_be_billed)
            if delay:
                await gate.rest(delay)

    def stop_sending(self) -> None:
        """Send nothing more on this event loop; only what is on its way is waited for."""
        session = self._sessions.get(asyncio.get_running_loop())
        if session is not None:
            session.gate.end(BudgetExhaustedError("the run was interrupted before this call was sent"))

    async def _attempt(self, session: _Session, trial: _Trial, request: Request) -> Completion:
        trial.attempts += 1
        trial.sent = self.marked(self.payload(request), request)  # without what was refused meanwhile
        try:
            async with asyncio.timeout(self.settings.timeout):
                return short_enough(await session.connection.send(trial.sent))
        except TimeoutError as error:
            raise TransientEngineError(f"no reply within {self.settings.timeout:g} seconds", cause="timeout") from error
        except EngineError as error:
            if (reply := reply_without_text(error)) is None:
                raise
            return reply

    def _after_failure(self, error: EngineError, gate: Gate, trial: _Trial, entered_at: float) -> float:
        """Return the seconds that the request waits by itself before it queues again.

        Raises:
            EngineError: If it is not sent again.
        """
        if isinstance(error, ConnectionLostError) or error.cause == "timeout":
            gate.failed(error, entered_at, first=trial.timed_out_after != gate.answers)
            trial.timed_out_after = gate.answers
            if isinstance(gate.ended, UnreachableError):
                raise UnreachableError(str(gate.ended), attempts=error.attempts) from error
        else:
            gate.answered()
        if not error.reached:  # which costs no attempt
            return 0.0 if gate.away else random.uniform(0, self.settings.backoff)  # noqa: S311 - spreads retries
        if isinstance(error, TransientEngineError):
            delay = self._delay(error, gate, trial, entered_at)
            return 0.0 if gate.away else delay
        if isinstance(error, FatalEngineError):
            if error.cause in REFUSALS and gate.replied:
                raise RejectedRequestError(str(error), cause=error.cause, attempts=error.attempts) from error
            gate.end(error)
        elif self.asks_for_less(str(error), trial.sent):
            return 0.0
        raise error

    def asks_for_less(self, message: str, sent: Mapping[str, Any]) -> bool:
        """Leave out what the server's answer to a request refuses, from now on; return whether there was anything."""
        logprobs = sent.get("top_logprobs", 0)
        if logprobs and speaks_of("logprobs", message):
            fewer = FEWER_LOGPROBS if logprobs > FEWER_LOGPROBS and speaks_of("fewer logprobs", message) else 0
            self._most_logprobs = min(self._most_logprobs, fewer)
        elif "response_format" in sent and self.settings.structured_output == "auto" and speaks_of("schema", message):
            self.takes_schema = False
        elif "cache_control" in message and not isinstance(sent["messages"][0]["content"], str):
            self._marks = False
        else:
            name = refused_parameter(message, [each for each in DROPPABLE if each in sent])
            if name is not None and name not in self._dropped:  # requests sent before may be refused later
                self._dropped.add(name)
                tell(f"{self.judge_id!r} refuses the parameter {name!r}, which is left out from now on: {message}")
            return name is not None
        return True

    def _delay(self, error: TransientEngineError, gate: Gate, trial: _Trial, entered_at: float) -> float:
        """Return the seconds after which a request that may pass is sent again; a 429 pauses the whole gate.

        Raises:
            TransientEngineError: After too many attempts, or where the server wants none for a long time.
            UnreachableError: After several calls in a row that were given up because of a 429.
        """
        settings, limited = self.settings, isinstance(error, RateLimitedError)
        after = error.retry_after
        trial.retries += 1 / RATE_LIMIT_PATIENCE if limited else 1
        if limited:
            gate.slow_down(entered_at)
        too_long = (after or 0.0) > LONGEST_WAIT
        if trial.retries > settings.max_retries or too_long:
            times = "once" if error.attempts == 1 else f"{error.attempts} times"
            wait = "" if after is None else f" (it wants no request for another {after:g} seconds)"
            message = f"{self.judge_id!r} was asked {times} and gave no reply; the last time, {error}{wait}"
            gate.given_up += limited and (too_long or gate.in_flight <= 1)  # else others are being answered
            if gate.given_up >= GIVEN_UP_IN_A_ROW:
                gate.end(ended := UnreachableError(message, cause=error.cause, attempts=error.attempts))
                raise ended from error
            failure = copy(error)
            failure.args = (message,)
            raise failure from error
        backoff = min(30.0, settings.backoff * 2 ** max(0.0, trial.retries - 1))
        delay = random.uniform(0, backoff)  # noqa: S311 - spreads retries, guards nothing
        if not limited:
            return delay
        gate.pause(delay if after is None else after)
        return 0.0

    def payload(self, request: Request) -> dict[str, Any]:
        """Return the body of a request, with what the server has not refused."""
        payload = {name: value for name, value in self._sampling.items() if name not in self._dropped}
        if "max_tokens" in self._dropped and "max_tokens" in self._sampling:  # the model may want its newer name
            payload.setdefault("max_completion_tokens", self._sampling["max_tokens"])
        payload["messages"] = request.messages
        if "seed" in payload:
            payload["seed"] += request.sample
        if logprobs := min(request.logprobs, self._most_logprobs):
            payload |= {"logprobs": True, "top_logprobs": logprobs}
        if self.takes_schema and request.response_schema is not None:
            schema = {"name": "verdict", "strict": True, "schema": dict(request.response_schema)}
            payload["response_format"] = {"type": "json_schema", "json_schema": schema}
        return payload

    def marked(self, payload: dict[str, Any], request: Request) -> dict[str, Any]:
        """Return the payload with the marks that Anthropic's cache needs: other servers need none, or may refuse them.

        The end of what other rows share is marked, and that of the first message where the conversation goes on.
        """
        first, shared = request.messages[0]["content"], request.shared
        if not self._marks or len(first) < SHORTEST_CACHED:
            return payload
        continued = len(request.messages) > 1 or request.stage == "assessment"
        parts = ((first[:shared], shared >= SHORTEST_CACHED), (first[shared:], continued))
        content = [{"type": "text", "text": text, **(_CACHE_MARK if marks else {})} for text, marks in parts if text]
        return {**payload, "messages": ({**request.messages[0], "content": content}, *request.messages[1:])}

    def priced(self, completion: Completion, messages: Iterable[Message]) -> Completion:
        """Price a reply, and drop counts of tokens that are smaller than what its texts have (:func:`believed_tokens`).

        The prices of the settings hold, unless the server says that it cost more. Without them the server's word holds,
        or litellm's, and its list of prices where it reports no cost or its tokens are not counted. What
        was not counted is priced at the least that it can have been.

        Args:
            completion: The reply as it was read.
            messages: The prompt.
        """
        prompt, prompt_counted = believed_tokens(completion.prompt_tokens, *(each["content"] for each in messages))
        reply, reply_counted = believed_tokens(completion.completion_tokens, completion.text, completion.reasoning)
        update: dict[str, Any] = {} if prompt_counted else {"prompt_tokens": None, "cached_tokens": None}
        if not reply_counted:
            update["completion_tokens"] = None
        settings, cached = self.settings, (completion.cached_tokens or 0) if prompt_counted else 0
        if settings.has_own_prices or update or not completion.cost:
            cost = settings.estimated_cost(prompt, reply, cached)
            if cost is not None:
                update["cost"] = max(completion.cost or 0.0, cost)
        return completion.model_copy(update=update) if update else completion


def not_running(judge_id: str) -> InvalidInputError:
    """Return the error for a judge that is asked on an event loop where it does not run."""
    return InvalidInputError(
        f"the judge {judge_id!r} is not running on this event loop: call complete() inside "
        "'async with judge.running():'"
    )
