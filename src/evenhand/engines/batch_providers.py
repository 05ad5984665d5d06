"""The batch interfaces of two providers: OpenAI's files and batches, and Anthropic's message batches.

OpenAI's is that of Azure (``https://NAME.openai.azure.com/openai/v1``), gateways before vLLM, Together and others too:
a JSONL file is uploaded, a batch is made of it and asked about until it has ended, and its output and error files are
read. Anthropic's batch is made with its requests in it.

Sources: https://platform.openai.com/docs/guides/batch, https://docs.anthropic.com/en/api/creating-message-batches.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

import aiohttp

from evenhand.engines.http import CONNECT_SECONDS, MOST_BYTES, ServerAddress, lost_connection, read_body
from evenhand.engines.remote import RemoteEngine
from evenhand.engines.replies import (
    MOST_ERROR_CHARACTERS,
    SHOWN_CHARACTERS,
    decode_reply,
    filtered_completion,
    read_completion,
    read_error,
    redact,
)
from evenhand.errors import EngineError, FatalEngineError, RejectedRequestError, TransientEngineError
from evenhand.votes import Completion

Outcome = tuple[str, "Completion | EngineError"]
"""The key of a request, and what came of it."""

READ_SECONDS: Final = 600.0
"""For a server to answer after a file was sent to it, and for the next piece of one that it sends."""
_CUSTOM_ID: Final = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a batch.

    Attributes:
        status: The status as the provider names it.
        ended: Whether the batch has ended.
        done: Requests that were answered, as far as the provider says.
        failed: Requests that failed.
        results: The address or file of the results.
        refused: The reason why the whole batch was refused; None if it was not.
        refused_lines: The reasons that are about one line, by its number from 1.
        unfinished: The reason why a request has no result.
    """

    status: str
    ended: bool
    done: int = 0
    failed: int = 0
    results: tuple[str, ...] = ()
    refused: str | None = None
    refused_lines: Mapping[int, str] = field(default_factory=dict)
    unfinished: str = "no_result"


class BatchHttp:
    """Requests to one address, with files in both directions."""

    def __init__(
        self, session: aiohttp.ClientSession, address: ServerAddress, secrets: tuple[str, ...], engine: RemoteEngine
    ) -> None:
        self.secrets = secrets
        self._session, self._base_url, self._proxy = session, address.base_url, address.proxy
        self._short = aiohttp.ClientTimeout(total=engine.timeout)
        self._long = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS)
        self._most = engine.max_reply_bytes

    @classmethod
    @asynccontextmanager
    async def opened(cls, provider: BatchProvider, engine: RemoteEngine) -> AsyncIterator[BatchHttp]:
        """Open one for the event loop that runs now."""
        headers, secrets = provider.headers()
        del headers["Content-Type"]
        headers |= {"Accept-Encoding": "identity", "Accept": "*/*"}
        async with aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.DummyCookieJar()) as session:
            yield cls(session, provider.address, secrets, engine)

    async def ask(self, method: str, path: str, **request: Any) -> Mapping[str, Any]:  # noqa: ANN401 - as aiohttp's
        """Return the JSON object that a request is answered with."""
        async with self._sent(method, path, **request) as response:
            content = await read_body(response, max(self._most, MOST_BYTES))
        found = decode_reply(content)
        if not isinstance(found, Mapping):
            raise TransientEngineError("the server's reply is JSON but not an object", cause="garbage")
        return found

    async def outcomes(
        self, path: str, read: Callable[[Mapping[str, Any]], Completion | EngineError]
    ) -> AsyncGenerator[Outcome, None]:
        """Return what the lines of a results file say; a line that is too long is a reply that is too long."""
        held, cut = bytearray(), False
        async with self._sent("GET", path, long=True) as response:
            try:
                async for piece in response.content.iter_any():
                    *ended, rest = piece.split(b"\n")
                    for part in ended:
                        yield _outcome_of(bytes(held if cut else held + part), cut, read)
                        held, cut = bytearray(), False
                    if not cut:
                        held += rest
                        cut = len(held) > self._most
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                raise self._lost(error, path) from None
        yield _outcome_of(bytes(held), cut, read)

    @asynccontextmanager
    async def _sent(
        self,
        method: str,
        path: str,
        *,
        long: bool = False,
        **request: Any,  # noqa: ANN401 - as aiohttp takes them
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        timeout = self._long if long or "data" in request else self._short
        url = f"{self._base_url}/{path}"
        try:
            response = await self._session.request(
                method, url, timeout=timeout, proxy=self._proxy, allow_redirects=False, **request
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._lost(error, path) from None
        async with response:
            if response.status >= 300:
                told = (await read_body(response, self._most)).decode("utf-8", "replace")
                wait, advice = response.headers.get("Retry-After"), ""
                if response.status in {404, 405} and method == "POST":
                    advice = f" (asked at {redact(url, self.secrets)!r}: has the server a batch interface there?)"
                raise read_error(response.status, told, wait, self.secrets, advice=advice)
            yield response

    def _lost(self, error: Exception, path: str) -> EngineError:
        told = redact(str(error), self.secrets)
        why = f"{type(error).__name__}{': ' if told else ''}{told}"
        message = f"the connection to '{self._base_url}/{path}' failed ({why})"
        timed_out = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
        return TransientEngineError(message, cause="timeout") if timed_out else lost_connection(error, message)


def _outcome_of(line: bytes, cut: bool, read: Callable[[Mapping[str, Any]], Completion | EngineError]) -> Outcome:
    """Read one line of a results file, with the request that it answers; an empty line answers none."""
    found = _CUSTOM_ID.search(line)
    key = found[1].decode() if found else ""
    if cut or not line.strip():
        return key, Completion(text=None, finish_reason="too_long")
    try:
        entry = decode_reply(line)
        if not isinstance(entry, Mapping):
            raise TransientEngineError("the line is JSON but not an object", cause="garbage")
        return str(entry.get("custom_id")), read(entry)
    except EngineError as error:
        return key, error


def _failure(status: int, body: object, secrets: Iterable[str]) -> Completion | EngineError:
    """Return what is wrong with one request of a batch whose others are answered."""
    text = json.dumps(body, ensure_ascii=False)
    error = filtered_completion(status, text) or read_error(status, text, None, secrets)
    return RejectedRequestError(str(error), cause=error.cause) if isinstance(error, FatalEngineError) else error


def count(counts: object, *names: str) -> int:
    """Add up what a provider counts under these names."""
    found = [counts.get(name) for name in names] if isinstance(counts, Mapping) else []
    return sum(number for number in found if isinstance(number, int))


def name_of(made: Mapping[str, Any]) -> str:
    """Return the name of what a provider has made."""
    name = made.get("id")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.:@=+-]+", name):
        raise TransientEngineError("the server's reply names nothing that was made (id)", cause="garbage")
    return name


def unfinished(why: str, told: str = "") -> EngineError:
    """Return why a request has no reply, though its batch has ended."""
    said = {
        "expired": "its batch ended before it was answered (expired)",
        "cancelled": "its batch was cancelled before it was answered",
        "no_result": "its batch has ended, and neither a reply nor an error came for it",
    }.get(why, f"its batch brought no reply ({why})")
    message = f"{said}{f': {told}' if told else ''}"
    if why in {"expired", "no_result", "rate_limit_exceeded", "server_error"}:
        return TransientEngineError(message, cause=why)
    return RejectedRequestError(message, cause=why)


def _briefly(told: object, secrets: Iterable[str]) -> str:
    """Shorten a provider's message about a batch or a request, as every vote repeats it."""
    return " ".join(redact(str(told)[:MOST_ERROR_CHARACTERS], secrets).split())[:SHOWN_CHARACTERS]


@dataclass(frozen=True)
class OpenAIBatches:
    """The batch interface of a server that also has ``/chat/completions``.

    Attributes:
        address: The address, and where its key is found.
        model: The server's name for the model; None takes that of the engine.
    """

    address: ServerAddress
    model: str | None = None
    most_requests: int = 50_000
    most_bytes: int = 200_000_000
    supports_schema: bool = True

    @property
    def _endpoint(self) -> str:
        azure = (urlsplit(self.address.base_url).hostname or "").endswith(".azure.com")
        return "/chat/completions" if azure else "/v1/chat/completions"

    def headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return those of single requests."""
        return self.address.headers()

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        """Return one request as it stands in the file."""
        body = payload if self.model is None else {**payload, "model": self.model}
        return json.dumps({"custom_id": key, "method": "POST", "url": self._endpoint, "body": body}).encode() + b"\n"

    def write(self, lines: Iterable[bytes], file: BinaryIO) -> None:
        """Write the file of these requests."""
        file.writelines(lines)

    async def upload(self, http: BatchHttp, path: Path) -> str:
        """Send the file."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        with path.open("rb") as file:
            form.add_field("file", file, filename="evenhand.jsonl", content_type="application/jsonl")
            return name_of(await http.ask("POST", "files", data=form))

    async def create(self, http: BatchHttp, path: Path, file: str) -> str:  # noqa: ARG002 - the file is there
        """Make the batch of the file."""
        body = {"input_file_id": file, "endpoint": self._endpoint, "completion_window": "24h"}
        return name_of(await http.ask("POST", "batches", json=body))

    async def look(self, http: BatchHttp, name: str) -> Standing:
        """Return how a batch stands."""
        batch = await http.ask("GET", f"batches/{name}")
        status = str(batch.get("status"))[:SHOWN_CHARACTERS].casefold()
        errors, counts = batch.get("errors"), batch.get("request_counts")
        listed = errors.get("data") if isinstance(errors, Mapping) else None
        told = [each for each in listed or () if isinstance(each, Mapping)]
        words = [_briefly(f"{each.get('code')}: {each.get('message')}", http.secrets) for each in told]
        files = (batch.get("output_file_id"), batch.get("error_file_id"))
        return Standing(
            status=status,
            ended=status in {"completed", "expired", "cancelled", "failed"},
            done=count(counts, "completed"),
            failed=count(counts, "failed"),
            results=tuple(each for each in files if isinstance(each, str) and each),
            refused="; ".join(dict.fromkeys(words[:3])) or "it did not say why" if status == "failed" else None,
            refused_lines={
                each["line"]: said for each, said in zip(told, words, strict=True) if isinstance(each.get("line"), int)
            },
            unfinished=status if status in {"expired", "cancelled"} else "no_result",
        )

    async def results(self, http: BatchHttp, standing: Standing) -> AsyncGenerator[Outcome, None]:
        """Return what its output and error files say; one that is gone is told when the other was read."""
        gone: EngineError | None = None
        for name in standing.results:
            try:
                path = f"files/{name}/content"
                async with aclosing(http.outcomes(path, lambda entry: self._outcome(entry, http.secrets))) as outcomes:
                    async for outcome in outcomes:
                        yield outcome
            except FatalEngineError as error:
                gone = error
        if gone is not None:
            raise gone

    @staticmethod
    def _outcome(entry: Mapping[str, Any], secrets: Iterable[str]) -> Completion | EngineError:
        response, error = entry.get("response"), entry.get("error")
        if isinstance(response, Mapping) and isinstance(status := response.get("status_code"), int):
            if status == 200:
                return read_completion(response.get("body"), secrets)
            return _failure(status, response.get("body"), secrets)
        told = error if isinstance(error, Mapping) else {"message": error}
        code = str(told.get("code")).removeprefix("batch_")
        return unfinished(_briefly(code, secrets), _briefly(told.get("message"), secrets))


ANTHROPIC_URL: Final = "https://api.anthropic.com/v1"
ANTHROPIC_HOST: Final = "anthropic.com"
ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"
ANTHROPIC_VERSION: Final = "2023-06-01"
DEFAULT_MAX_TOKENS: Final = 4096
"""The token limit of a reply: Anthropic wants one."""
FINISHES: Final = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}
STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 408,
    "overloaded_error": 503,
}
_TRANSLATED: Final = frozenset(
    {"messages", "max_tokens", "max_completion_tokens", "stop", "response_format"}
    | {"seed", "logprobs", "top_logprobs"}
)


def is_anthropic(base_url: str) -> bool:
    """Return whether an address is Anthropic's own."""
    host = (urlsplit(base_url).hostname or "").rstrip(".")
    return host == ANTHROPIC_HOST or host.endswith(f".{ANTHROPIC_HOST}")


@dataclass(frozen=True)
class AnthropicBatches:
    """The message batches at an address.

    Attributes:
        address: The address, and where its key is found; ``ANTHROPIC_API_KEY`` is sent unasked to Anthropic only.
        model: Anthropic's name for the model; None takes that of the engine.
    """

    address: ServerAddress
    model: str | None = None
    most_requests: int = 100_000
    most_bytes: int = 256_000_000
    supports_schema: bool = False

    def headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return those of single requests, with the key as Anthropic wants it."""
        own = is_anthropic(self.address.base_url) and self.address.api_key_env is None
        address = replace(self.address, api_key_env=ANTHROPIC_KEY) if own and os.environ.get(ANTHROPIC_KEY) else None
        headers, secrets = (address or self.address).headers()
        bearer = headers.pop("Authorization", None)
        headers["anthropic-version"] = ANTHROPIC_VERSION
        if bearer is not None:
            headers["x-api-key"] = bearer.removeprefix("Bearer ")
        return headers, secrets

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        """Return one request as it stands in the file."""
        given = {} if self.model is None else {"model": self.model}
        return json.dumps({"custom_id": key, "params": anthropic_parameters(payload) | given}).encode()

    def write(self, lines: Iterable[bytes], file: BinaryIO) -> None:
        """Write the body that makes a batch of these requests."""
        file.write(b'{"requests":[')
        for place, line in enumerate(lines):
            file.write(b",\n" if place else b"\n")
            file.write(line)
        file.write(b"\n]}")

    async def upload(self, http: BatchHttp, path: Path) -> str:  # noqa: ARG002 - there are no files
        """Send nothing: the requests are sent when the batch is made."""
        return ""

    async def create(self, http: BatchHttp, path: Path, file: str) -> str:  # noqa: ARG002 - as above
        """Make the batch."""
        with path.open("rb") as body:
            return name_of(await http.ask("POST", "messages/batches", data=body))

    async def look(self, http: BatchHttp, name: str) -> Standing:
        """Return how a batch stands."""
        batch = await http.ask("GET", f"messages/batches/{name}")
        counts, status = batch.get("request_counts"), str(batch.get("processing_status"))
        ended = status == "ended"
        return Standing(
            status=status,
            ended=ended,
            done=count(counts, "succeeded"),
            failed=count(counts, "errored", "expired", "canceled"),
            results=(name,) if ended else (),  # not results_url: the key goes to the address that was given
        )

    async def results(self, http: BatchHttp, standing: Standing) -> AsyncGenerator[Outcome, None]:
        """Return what its results say."""
        for name in standing.results:
            path = f"messages/batches/{name}/results"
            async with aclosing(http.outcomes(path, lambda entry: anthropic_outcome(entry, http.secrets))) as outcomes:
                async for outcome in outcomes:
                    yield outcome


BatchProvider = OpenAIBatches | AnthropicBatches


def provider_at(address: ServerAddress, interface: str) -> BatchProvider:
    """Return the batch interface at an address: ``"openai"``, ``"anthropic"``, or by the address (``"auto"``)."""
    if interface == "anthropic" or (interface == "auto" and is_anthropic(address.base_url)):
        return AnthropicBatches(address)
    return OpenAIBatches(address)


def anthropic_parameters(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a chat completion as Anthropic's messages have it.

    There are no seeds and no log-probabilities there; a schema is asked for as ``output_config``.
    """
    given = {name: value for name, value in payload.items() if name not in _TRANSLATED}
    messages = [dict(message) for message in payload["messages"]]
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    given["messages"] = [message for message in messages if message["role"] != "system"]
    given["max_tokens"] = payload.get("max_tokens") or payload.get("max_completion_tokens") or DEFAULT_MAX_TOKENS
    if system:
        given["system"] = system
    if stop := payload.get("stop"):
        given["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    if schema := payload.get("response_format"):
        given["output_config"] = {"format": {"type": "json_schema", "schema": schema["json_schema"]["schema"]}}
    return given


def anthropic_outcome(entry: Mapping[str, Any], secrets: Iterable[str]) -> Completion | EngineError:
    """Return what a line of a batch's results says."""
    result = entry.get("result")
    kind = result.get("type") if isinstance(result, Mapping) else None
    if not isinstance(result, Mapping) or not isinstance(kind, str):
        raise TransientEngineError("the line has no result", cause="garbage")
    if kind == "succeeded":
        return anthropic_completion(result.get("message"), secrets)
    if kind == "errored":
        error = result.get("error")
        inner = error.get("error") if isinstance(error, Mapping) else None
        told = inner if isinstance(inner, Mapping) else error if isinstance(error, Mapping) else {}
        return _failure(STATUSES.get(str(told.get("type")), 500), told, secrets)
    return unfinished({"canceled": "cancelled"}.get(kind, kind))


def anthropic_completion(message: object, secrets: Iterable[str]) -> Completion:
    """Return the reply in a message of Anthropic's.

    Raises:
        TransientEngineError: If it is none.
    """
    if not isinstance(message, Mapping) or not isinstance(message.get("content"), list):
        raise TransientEngineError("the result has no message with content", cause="garbage")
    blocks = [block for block in message["content"] if isinstance(block, Mapping)]
    thoughts = "".join(str(block.get("thinking", "")) for block in blocks if block.get("type") == "thinking")
    usage, stop = message.get("usage"), message.get("stop_reason")
    choice = {
        "message": {
            "content": [{"text": block.get("text")} for block in blocks if block.get("type") == "text"],
            "reasoning_content": thoughts or None,
        },
        "finish_reason": FINISHES.get(str(stop), stop),
    }
    read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    tokens = {
        "prompt_tokens": count(usage, *read),
        "completion_tokens": count(usage, "output_tokens"),
        "cache_read_input_tokens": count(usage, "cache_read_input_tokens"),
    }
    return read_completion(
        {"choices": [choice], "model": message.get("model"), "usage": tokens if isinstance(usage, Mapping) else {}},
        secrets,
    )
