"""A judge behind a network: limits, retries, structured output and log-probabilities, the same above every transport.

What a server refuses (structured output, log-probabilities, so many of them) it is not asked for again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import random
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from evenhand.engines.base import Request
from evenhand.engines.bodies import MOST_BYTES
from evenhand.engines.breaker import Breaker, tell
from evenhand.engines.forecast import CallSize, TokenForecast, believed_tokens
from evenhand.engines.limits import Gate
from evenhand.engines.prompt_cache import CacheMarks, marks_for, speaks_of_marks, with_marks
from evenhand.engines.replies import short_enough, speaks_of_fewer_logprobs, speaks_of_logprobs, speaks_of_schema
from evenhand.errors import (
    BudgetExhaustedError,
    ConnectionLostError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    RateLimitedError,
    RejectedRequestError,
    ReplyTooLongError,
    TransientEngineError,
    UnreachableError,
    did_you_mean,
)
from evenhand.numbers import format_number
from evenhand.visible import visible
from evenhand.votes import Completion, Message

_logger = logging.getLogger(__name__)

READY_SHARE: Final = 1.25
RATE_LIMIT_PATIENCE: Final = 4
LONGEST_BACKOFF: Final = 30.0
LONGEST_WAIT: Final = 300.0
TOLD_TO_WAIT_IN_A_ROW: Final = 8
"""So many replies in a row that ask for a longer wait, as of a quota that is used up, and the run ends."""
ROOM: Final = 1.25
"""How much longer than the longest seen a call is taken to be until it ends, where tokens a minute are limited."""
REFUSABLE: Final = 3
"""Times that a request is changed at most: no structured output, fewer log-probabilities, none."""
FEWER_LOGPROBS: Final = 5
"""How many of the likeliest tokens are asked for where a server answers that it gives fewer; some give no more."""
RESERVED_PARAMETERS: Final = frozenset(
    {"model", "messages", "n", "stream", "response_format", "logprobs", "top_logprobs", "temperature", "max_tokens"}
    | {"top_p", "seed", "stop"}
)
REFUSALS: Final = frozenset({"http_403", "http_404"})
"""They end a run before its first reply; after one, key and model are known to be right, and one request is refused."""
SECRET_PARAMETERS: Final = ("key", "token", "secret", "password", "authorization", "credential", "header")
HARMLESS_PARAMETERS: Final = ("max_completion_tokens", "min_tokens", "stop_token_ids", "skip_special_tokens")

StructuredOutput = Literal["auto"] | bool


@dataclass(frozen=True)
class RemoteSettings:
    """What is asked of a model behind a network, and how fast.

    Attributes:
        model: As the server names it.
        name: The judge's name in votes and scores; the model when None.
        temperature: 0 by default, so that a verdict can be repeated. Repeated draws (``samples`` > 1) need more, and
            models that accept no temperature need None (the server's default).
        max_tokens: Of one reply; None is the server's default.
        top_p: None is the server's default.
        seed: Sent with the sample index added to it, so that repeated draws differ. Without a seed nothing tells
            repeated draws apart but the temperature.
        stop: Texts that end a reply, or one of them.
        extra: More parameters of the request body, such as ``{"reasoning_effort": "low"}``.
        structured_output: ``True`` asks for replies that satisfy the request's JSON schema; ``"auto"`` does so until
            the server answers that it cannot, and then never again with this judge; ``False`` never does.
        max_in_flight: Calls in flight at once, at most; a 429 lowers it for a while.
        requests_per_minute: May be a fraction; requests are spaced evenly.
        tokens_per_minute: Of prompts and replies; estimated before a call and corrected after it.
        timeout: Seconds for one attempt, the reading of its reply included.
        max_reply_bytes: Of a reply's body, as it is sent and as it is unpacked; 4 MiB. litellm reads replies itself,
            without this bound. A longer one is not read: the
            vote is unscored (``too_long``), and the reply, which was paid for, is not asked for again. The same holds
            for a text of more than 131,072 characters, and for JSON nested deeper than can be read.
        max_retries: Attempts after the first for what may pass (429, 5xx, a lost connection, a time-out, a reply that
            is no reply). A 429 counts only at a standstill: no other call under way, and no other reply since this
            request's last attempt; four times as many attempts are the end in any case.
        backoff: Seconds; the n-th retry waits a random time up to backoff × 2ⁿ⁻¹, at most 30.
        patience: Seconds that the queue waits while the server is away (connections refused, reset or not made in time,
            its name not found, 502, 503, 504; or no reply in time to eight calls in a row), with one call at a time to
            look; then the run ends. None waits five minutes for a server that has been reached before, and about a
            second for one that never has, and makes no more than four calls without a reply in time; a number holds
            from the first call on; 0 does not wait.
        prompt_price: US dollars a million tokens. What the server says a reply cost counts only where that is more.
        completion_price: US dollars a million tokens.
        cached_price: US dollars a million tokens of a prompt that the server's own cache held, where it says how many;
            None counts them as the others.
    """

    model: str
    name: str | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: str | tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    structured_output: StructuredOutput = "auto"
    max_in_flight: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 60.0
    max_reply_bytes: int = MOST_BYTES
    max_retries: int = 5
    backoff: float = 0.5
    patience: float | None = None
    prompt_price: float | None = None
    completion_price: float | None = None
    cached_price: float | None = None

    def __post_init__(self) -> None:
        if not _is_text(self.model) or not self.model.strip():
            raise InvalidInputError(f"model is {self.model!r}; name the model as the server knows it")
        self._check_range("temperature", self.temperature, 0, None)
        self._check_range("max_tokens", self.max_tokens, 1, None, whole=True)
        self._check_range("top_p", self.top_p, 0, 1)
        self._check_range("seed", self.seed, None, None, whole=True)
        self._check_range("max_in_flight", self.max_in_flight, 1, None, whole=True)
        self._check_range("max_retries", self.max_retries, 0, None, whole=True)
        self._check_range("max_reply_bytes", self.max_reply_bytes, 1, None, whole=True)
        self._check_range("backoff", self.backoff, 0, None)
        for name in ("patience", "prompt_price", "completion_price", "cached_price"):
            self._check_range(name, getattr(self, name), 0, None)
        for name in ("requests_per_minute", "tokens_per_minute", "timeout"):
            self._check_range(name, getattr(self, name), 0, None)
            if getattr(self, name) == 0:
                raise InvalidInputError(f"{name} is {getattr(self, name)!r}; it must be above 0")
        if self.structured_output not in ("auto", True, False):
            raise InvalidInputError(
                f"structured_output is {self.structured_output!r}. "
                f"{did_you_mean(self.structured_output, ('auto', True, False))}"
            )
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        object.__setattr__(self, "stop", stop)
        if not all(_is_text(text) for text in stop):
            raise InvalidInputError(f"stop is {self.stop!r}; give texts that end a reply")
        _check_extra(self.extra)

    @staticmethod
    def _check_range(
        name: str, value: float | None, least: float | None, most: float | None, *, whole: bool = False
    ) -> None:
        if value is None and name not in {"max_in_flight", "max_retries", "max_reply_bytes", "timeout", "backoff"}:
            return
        kinds = int if whole else (int, float)
        if (
            isinstance(value, kinds)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and (least is None or value >= least)
            and (most is None or value <= most)
        ):
            return
        kind = "a whole number" if whole else "a number"
        low = "" if least is None else f" from {least}"
        high = "" if most is None else f" to {most}"
        raise InvalidInputError(f"{name} is {value!r}; it must be {kind}{low}{high}")

    @property
    def most_reply_tokens(self) -> int | None:
        """The token limit of a reply, by whichever name; None where there is none."""
        given = [self.max_tokens, self.extra.get("max_completion_tokens")]
        return max((limit for limit in given if isinstance(limit, int)), default=None)

    def sampling(self) -> dict[str, Any]:
        """The parameters that every request carries and every reply depends on."""
        given = {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
            "seed": self.seed,
            "stop": list(self.stop) or None,
        }
        return {name: value for name, value in given.items() if value is not None} | dict(self.extra)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _check_extra(extra: Mapping[str, Any]) -> None:
    if not isinstance(extra, Mapping):
        raise InvalidInputError(f"extra is a {type(extra).__name__}; give a mapping of request parameters")
    for name in extra:
        if name in RESERVED_PARAMETERS:
            raise InvalidInputError(
                f"extra may not hold {name!r}: it has a field of its own, or is set for each request"
            )
        if name not in HARMLESS_PARAMETERS and any(word in str(name).casefold() for word in SECRET_PARAMETERS):
            raise InvalidInputError(
                f"extra may not hold {name!r}: keys and headers are read from environment variables (see api_key_env)"
            )
    try:
        json.dumps(dict(extra), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"extra must be plain JSON: {error}") from error


class Transport(Protocol):
    """Carries one request body to a server and its reply back."""

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """What names the server in a judge's identity, without secrets."""

    def opened(self, settings: RemoteSettings) -> AbstractAsyncContextManager[Connection]:
        """A connection for the event loop that runs now."""


class Connection(Protocol):
    """An open transport on one event loop."""

    async def send(self, payload: Mapping[str, Any]) -> Completion:
        """The reply to one attempt.

        Raises:
            EngineError: Of the kind that says whether another attempt makes sense.
        """

    def supports_schema(self) -> bool:
        """Whether the server may be asked for structured output, as far as is known without asking.

        Asked once, before the first call, and outside its time-out: what takes long to load may be loaded here.
        """


@dataclass(slots=True)
class _Session:
    """What one event loop shares: the open connection, the gate, and what was learnt."""

    connection: Connection
    resources: AsyncExitStack
    gate: Gate
    schema: bool | None = None
    marks: CacheMarks | None = None
    users: int = 0
    replies: int = 0
    told_to_wait: int = 0
    told_too_long: bool = False


@dataclass(slots=True)
class _Trial:
    """One request on its way: what the last attempt asked for beside the text, and how many there were."""

    request: Request
    replies_before: int
    schema: bool = False
    logprobs: int = 0
    attempts: int = 0
    unreached: int = 0
    retries: int = 0
    timed_out_after: int | None = None


class RemoteJudge:
    """A judge behind a network.

    It may run on several event loops at once, each with connections and limits of its own, and any number of times.

    Attributes:
        settings: What is asked, and how fast.
        transport: How it travels.
        data_classification_policy: Of which classifications the data may be that it is shown; None for any.
        forecast: How many tokens its calls are expected to have, as its replies have taught.
    """

    def __init__(
        self,
        settings: RemoteSettings,
        transport: Transport,
        *,
        jitter: random.Random | None = None,
        data_classification_policy: tuple[str, ...] | None = None,
    ) -> None:
        self.settings = settings
        self.transport = transport
        self.data_classification_policy = data_classification_policy
        self.forecast = TokenForecast(settings.most_reply_tokens)
        self._sampling = settings.sampling()
        self._jitter = jitter or random.Random()  # noqa: S311 - spreads retries, guards nothing
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}
        self._share = 1.0
        self._schema_refused = False
        self._most_logprobs: int | None = None

    def __repr__(self) -> str:
        return f"RemoteJudge({self.settings!r}, {self.transport!r})"

    @property
    def judge_id(self) -> str:
        """The name given, or the model's."""
        return self.settings.name or self.settings.model

    @property
    def concurrency(self) -> int:
        """A quarter more than may be in flight, so that the next request is ready when a reply comes."""
        return math.ceil(self.settings.max_in_flight * READY_SHARE)

    def identity(self) -> Mapping[str, Any]:
        """The server, the model and the sampling parameters."""
        return {
            **self.transport.endpoint,
            "sampling": self.settings.sampling(),
            "structured_output": self.settings.structured_output,
        }

    @property
    def most_reply_tokens(self) -> int | None:
        """The token limit of a reply; None where there is none."""
        return self.settings.most_reply_tokens

    @property
    def most_attempts(self) -> int:
        """Requests of one call at most: retries, and without what a server may refuse (a schema, log-probabilities)."""
        return 1 + RATE_LIMIT_PATIENCE * self.settings.max_retries + REFUSABLE + (self._marks is not None)

    @property
    def _marks(self) -> CacheMarks | None:
        """What the server is known to take as a mark of what prompts share."""
        return marks_for(self.settings.model, self.identity())

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars for so many tokens at the prices of the settings, where there are any."""
        prompt, reply = self.settings.prompt_price, self.settings.completion_price
        if prompt is None and reply is None:
            return None
        return (prompt_tokens * (prompt or 0.0) + completion_tokens * (reply or 0.0)) / 1e6

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connections for the event loop that runs now, shared by all who enter meanwhile."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop) or await self._open(loop)
        session.users += 1
        try:
            yield
        finally:
            session.users -= 1
            if not session.users:
                del self._sessions[loop]
                session.gate.close()
                await session.resources.aclose()

    async def _open(self, loop: asyncio.AbstractEventLoop) -> _Session:
        settings, resources = self.settings, AsyncExitStack()
        connection = await resources.enter_async_context(self.transport.opened(settings))
        breaker = Breaker(self.judge_id, settings.patience)
        gate = Gate(settings.max_in_flight, settings.requests_per_minute, settings.tokens_per_minute, breaker=breaker)
        if self._share < 1:
            gate.scale(self._share)
        session = self._sessions[loop] = _Session(connection, resources, gate, marks=self._marks)
        return session

    async def complete(self, request: Request) -> Completion:
        """The reply to one request, after as many attempts as it takes.

        Raises:
            EngineError: When there is no reply.
            InvalidInputError: When the judge is not running on this event loop.
        """
        session = self._sessions.get(asyncio.get_running_loop())
        if session is None:
            raise InvalidInputError(
                f"the judge {self.judge_id!r} is not running on this event loop: call complete() inside "
                "'async with judge.running():'"
            )
        trial = self._trial(session, request)
        while True:
            expected = used = self._expected_tokens(request)
            entered_at = await session.gate.enter(expected, again=trial.attempts > 0)
            try:
                completion = await self._attempt(session, trial)
                completion = self.priced(completion, request.messages)
                used = self._used_tokens(completion, request, expected)
            except EngineError as error:
                reached, may_be_billed = getattr(error, "reached", True), error.may_be_billed
                used = expected if may_be_billed else 0.0
                error.attempts = trial.attempts
                delay = self._after_failure(error, session, trial, entered_at)
                _logger.info(
                    "%s: attempt %d brought no reply (%s), and is made again%s",
                    visible(self.judge_id),
                    trial.attempts,
                    error.cause,
                    f" in {format_number(delay, digits=1)} s" if delay else "",
                )
            else:
                return self._received(completion, session)
            finally:
                session.gate.used(used, expected)
                session.gate.leave(entered_at)
            if request.meter is not None and reached:
                request.meter.again(may_be_billed=may_be_billed)
            if delay:
                await session.gate.rest(delay)

    def take_share(self, share: float) -> bool:
        """Keep to a share of the limits of the settings from now on, on the event loop that runs now.

        Returns:
            Whether no more calls are in flight than that.
        """
        self._share = share
        session = self._sessions.get(asyncio.get_running_loop())
        if session is None:
            return True
        session.gate.scale(share)
        return session.gate.in_flight <= session.gate.max_in_flight

    def stop_sending(self) -> None:
        """Send nothing more on this event loop; only what is on its way is waited for."""
        session = self._sessions.get(asyncio.get_running_loop())
        if session is not None:
            session.gate.end(lambda: BudgetExhaustedError("the run was interrupted before this call was sent"))

    def _trial(self, session: _Session, request: Request) -> _Trial:
        if session.schema is None:
            supported, wanted = session.connection.supports_schema(), self.settings.structured_output
            session.schema = (supported and not self._schema_refused) if wanted == "auto" else wanted
        return _Trial(request, replies_before=session.replies)

    async def _attempt(self, session: _Session, trial: _Trial) -> Completion:
        trial.attempts += 1
        trial.schema = bool(session.schema) and trial.request.response_schema is not None
        trial.logprobs = self.logprobs_of(trial.request)
        payload = self.payload(trial.request, schema=trial.schema)  # now that the gate let it in: others were refused
        payload = with_marks(payload, trial.request, session.marks)
        try:
            async with asyncio.timeout(self.settings.timeout):
                return short_enough(await session.connection.send(payload))
        except ReplyTooLongError as error:  # a reply all the same: it was paid for, and another would be no shorter
            if not session.told_too_long:
                session.told_too_long = True
                tell(f"{self.judge_id!r}: {error}. Such votes are unscored (too_long), and not asked for again")
            return Completion(text=None, finish_reason="too_long")
        except TimeoutError as error:
            raise TransientEngineError(f"no reply within {self.settings.timeout:g} seconds", cause="timeout") from error

    def _received(self, completion: Completion, session: _Session) -> Completion:
        session.replies += 1
        session.told_to_wait = 0
        session.gate.breaker.answered()
        session.gate.succeeded()
        return completion

    def _after_failure(self, error: EngineError, session: _Session, trial: _Trial, entered_at: float) -> float:
        """Seconds that the request waits by itself before it queues again.

        Raises:
            EngineError: If it is not sent again.
        """
        self._count_failure(error, session, trial, entered_at)
        if isinstance(error, ConnectionLostError):
            return self._delay_without_server(error, session, trial, entered_at)
        if isinstance(error, TransientEngineError):
            return self._delay(error, session, trial, entered_at)
        if isinstance(error, FatalEngineError) and error.cause in REFUSALS and session.replies:
            raise RejectedRequestError(str(error), cause=error.cause, attempts=error.attempts) from error
        if isinstance(error, FatalEngineError):
            self._end(session, error)
        elif trial.logprobs and speaks_of_logprobs(str(error)):
            self.give_fewer_logprobs(trial.logprobs, str(error))
            return 0.0
        elif trial.schema and self.settings.structured_output == "auto" and speaks_of_schema(str(error)):
            session.schema = False
            self._schema_refused = True
            return 0.0
        elif session.marks is not None and speaks_of_marks(str(error)):
            session.marks = None
            return 0.0
        raise error

    def _count_failure(self, error: EngineError, session: _Session, trial: _Trial, entered_at: float) -> None:
        """Tell the breaker whether the server answered.

        Raises:
            UnreachableError: If it has stayed away for too long.
        """
        breaker = session.gate.breaker
        if isinstance(error, ConnectionLostError):
            breaker.failed(error, entered_at)
        elif error.cause == "timeout":
            breaker.timed_out(error, entered_at, first=trial.timed_out_after != breaker.answers)
            trial.timed_out_after = breaker.answers
        else:
            breaker.answered()
        if breaker.is_open and breaker.ended is not None:
            self._end(session, breaker.ended)
            raise UnreachableError(str(breaker.ended), attempts=error.attempts) from error

    @staticmethod
    def _end(session: _Session, fatal: FatalEngineError) -> None:
        """Whoever waits is told, and sends nothing."""
        kind, told, cause = type(fatal), str(fatal), fatal.cause
        session.gate.end(lambda: kind(told, cause=cause, attempts=0))

    def _delay_without_server(
        self, error: ConnectionLostError, session: _Session, trial: _Trial, entered_at: float
    ) -> float:
        """While the server is away, a call waits in the queue, and connections that are not made cost no attempt."""
        if error.reached:
            delay = self._delay(error, session, trial, entered_at)
        else:
            trial.unreached += 1
            delay = self._jitter.uniform(0, self.settings.backoff)
        return 0.0 if session.gate.breaker.is_open else delay

    def logprobs_of(self, request: Request) -> int:
        """How many log-probabilities a place a request asks for, as far as the server gives them."""
        return request.logprobs if self._most_logprobs is None else min(request.logprobs, self._most_logprobs)

    def give_fewer_logprobs(self, refused: int, told: str) -> None:
        """Ask for fewer log-probabilities from now on, or for none; requests sent before may be refused later."""
        fewer = FEWER_LOGPROBS if refused > FEWER_LOGPROBS and speaks_of_fewer_logprobs(told) else 0
        self._most_logprobs = fewer if self._most_logprobs is None else min(self._most_logprobs, fewer)

    def _delay(self, error: TransientEngineError, session: _Session, trial: _Trial, entered_at: float) -> float:
        stalled = session.replies == trial.replies_before and session.gate.in_flight <= 1
        trial.retries += stalled or not isinstance(error, RateLimitedError)
        trial.replies_before = session.replies
        most = self.settings.max_retries
        if isinstance(error, RateLimitedError):
            session.gate.slow_down(entered_at)
            if error.retry_after is not None and error.retry_after > LONGEST_WAIT:
                raise self._told_to_wait(error, error.retry_after, session) from error
        if trial.retries > most or trial.attempts - trial.unreached > RATE_LIMIT_PATIENCE * most:
            raise self._gave_up(error) from error
        backoff = min(LONGEST_BACKOFF, self.settings.backoff * 2 ** max(0, trial.retries - 1))
        wait = self._jitter.uniform(0, backoff)
        if not isinstance(error, RateLimitedError):
            return wait
        if error.retry_after is not None:
            wait = error.retry_after
        session.gate.pause(wait)
        return 0.0

    def _told_to_wait(self, error: RateLimitedError, seconds: float, session: _Session) -> EngineError:
        """Why a request is not sent again that the server wants so much later; nor is any other, after several."""
        session.told_to_wait += 1
        if session.told_to_wait < TOLD_TO_WAIT_IN_A_ROW:
            return self._gave_up(error)
        used_up = UnreachableError(
            f"the server wants no request for another {seconds:g} seconds (Retry-After), and said so "
            f"{session.told_to_wait} times in a row; the last time, {error}",
            cause=error.cause,
            attempts=error.attempts,
        )
        self._end(session, used_up)
        return used_up

    def _gave_up(self, error: TransientEngineError) -> TransientEngineError:
        times = "once" if error.attempts == 1 else f"{error.attempts} times"
        message = f"{self.judge_id!r} was asked {times} and gave no reply; the last time, {error}"
        if isinstance(error, RateLimitedError):
            return RateLimitedError(message, cause=error.cause, attempts=error.attempts, retry_after=error.retry_after)
        return TransientEngineError(message, cause=error.cause, attempts=error.attempts)

    def payload(self, request: Request, *, schema: bool) -> dict[str, Any]:
        """The body of a request, with what the server has not refused."""
        payload = {**self._sampling, "messages": request.messages}
        if self.settings.seed is not None:
            payload["seed"] = self.settings.seed + request.sample
        if logprobs := self.logprobs_of(request):
            payload["logprobs"] = True
            payload["top_logprobs"] = logprobs
        if schema and request.response_schema is not None:
            payload["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": dict(request.response_schema)},
            }
        return payload

    def _expected_tokens(self, request: Request) -> float:
        """What an attempt counts for until it ends: somewhat more than the most that was seen."""
        if self.settings.tokens_per_minute is None:
            return 0.0
        call = CallSize.of(request)
        likely, most = self.forecast.likely(call), self.forecast.most(call)
        return min(most.prompt, ROOM * likely.prompt) + min(most.reply, ROOM * likely.reply)

    def _used_tokens(self, completion: Completion, request: Request, expected: float) -> float:
        """What a reply used, where the server counted it; remembered for the calls to come."""
        if self.settings.tokens_per_minute is None:
            return expected
        self.forecast.learn(CallSize.of(request), completion)
        if completion.prompt_tokens is None or completion.completion_tokens is None:
            return expected
        return float(completion.prompt_tokens + completion.completion_tokens)

    def priced(self, completion: Completion, messages: Iterable[Message], *, share: float = 1.0) -> Completion:
        """Price a reply, and drop counts of tokens that are smaller than what its texts have (:func:`believed_tokens`).

        The prices of the settings hold, unless the server says that it cost more. Without them the server's word holds,
        or litellm's, and its list of prices where a reply is said to cost nothing or its tokens are not counted. What
        was not counted is priced at the least that it can have been.

        Args:
            completion: As it was read.
            messages: The prompt.
            share: What a token costs, as a share of its price.
        """
        prompt, prompt_counted = believed_tokens(completion.prompt_tokens, *(each["content"] for each in messages))
        reply, reply_counted = believed_tokens(completion.completion_tokens, completion.text, completion.reasoning)
        update: dict[str, Any] = {} if prompt_counted else {"prompt_tokens": None, "cached_tokens": None}
        if not reply_counted:
            update["completion_tokens"] = None
        cost = RemoteJudge.estimated_cost(self, prompt, reply)
        if cost is None and (update or not completion.cost):
            cost = self.estimated_cost(prompt, reply)
        elif cost is not None and self.settings.cached_price is not None and "cached_tokens" not in update:
            cheaper = self.settings.cached_price - (self.settings.prompt_price or 0.0)
            cost += (completion.cached_tokens or 0) * cheaper / 1e6
        if cost is not None:
            update["cost"] = max(completion.cost or 0.0, share * cost)
        return completion.model_copy(update=update) if update else completion
