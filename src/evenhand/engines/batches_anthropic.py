"""Anthropic's message batches, and as much of its messages as they need.

A batch is made with its requests in it and carries no label. One that was perhaps made before a crash is known by when
it was made, how many requests it has, and, when it has ended, by their keys.

Source: https://docs.anthropic.com/en/api/creating-message-batches.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from evenhand.engines.batch_services import (
    CLOCK_SLACK,
    BatchConnection,
    BatchHttp,
    Outcome,
    Standing,
    count,
    listed_batches,
    named,
    one_request,
    read_lines,
    unfinished,
)
from evenhand.engines.http import ServerAddress
from evenhand.engines.journal_batches import BatchRecord
from evenhand.engines.remote import RemoteEngine
from evenhand.engines.replies import read_completion, read_error
from evenhand.errors import EngineError, TransientEngineError
from evenhand.votes import Completion

ANTHROPIC_URL: Final = "https://api.anthropic.com/v1"
ANTHROPIC_HOST: Final = "anthropic.com"
KEY_VARIABLE: Final = "ANTHROPIC_API_KEY"
VERSION: Final = "2023-06-01"
DEFAULT_MAX_TOKENS: Final = 4096
"""Of a reply: Anthropic wants a limit."""
FIRST_LOOK_SECONDS: Final = 2.0
LONGEST_LOOK_SECONDS: Final = 60.0
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


def is_anthropic(base_url: str) -> bool:
    """Whether an address is Anthropic's own."""
    host = (urlsplit(base_url).hostname or "").rstrip(".")
    return host == ANTHROPIC_HOST or host.endswith(f".{ANTHROPIC_HOST}")


@dataclass
class AnthropicBatches:
    """The message batches at an address.

    Attributes:
        address: The address, and where its key is found; ``ANTHROPIC_API_KEY`` is sent unasked to Anthropic only.
        model: As Anthropic names it; None takes that of the settings.
    """

    address: ServerAddress
    model: str | None = None
    most_requests: int = 100_000
    most_bytes: int = 256_000_000
    supports_schema: bool = False

    @asynccontextmanager
    async def opened(self, settings: RemoteEngine) -> AsyncIterator[BatchConnection]:
        """A connection for the event loop that runs now."""
        own = is_anthropic(self.address.base_url) and self.address.api_key_env is None
        named_key = replace(self.address, api_key_env=KEY_VARIABLE) if own and os.environ.get(KEY_VARIABLE) else None
        headers, secrets = (named_key or self.address).headers()
        bearer = headers.pop("Authorization", None)
        headers["anthropic-version"] = VERSION
        if bearer is not None:
            headers["x-api-key"] = bearer.removeprefix("Bearer ")
        async with BatchHttp.opened(self.address.base_url, headers, secrets, settings) as http:
            yield _AnthropicConnection(http, self.model)


class _AnthropicConnection:
    def __init__(self, http: BatchHttp, model: str | None) -> None:
        self._http = http
        self._model = model

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        params = anthropic_parameters(payload) | ({} if self._model is None else {"model": self._model})
        return json.dumps({"custom_id": key, "params": params}).encode()

    def write(self, lines: Iterable[bytes], file: BinaryIO) -> None:
        file.write(b'{"requests":[')
        for place, line in enumerate(lines):
            file.write(b",\n" if place else b"\n")
            file.write(line)
        file.write(b"\n]}")

    async def upload(self, label: str, path: Path) -> str | None:  # noqa: ARG002 - there are no files
        return None

    async def create(self, record: BatchRecord, path: Path) -> str:  # noqa: ARG002 - it can carry no label
        with path.open("rb") as file:
            return named(await self._http.ask("POST", "messages/batches", data=file))

    async def find(self, record: BatchRecord, keys: frozenset[str], others: frozenset[str]) -> str | None:
        """The batch whose requests these are, among those that may be it; it is waited for until they have ended."""
        pause = FIRST_LOOK_SECONDS
        tried = set(others)
        while True:
            waiting = False
            for batch in [each async for each in self._listed(record)]:
                name = named(batch)
                if name in tried or _total(batch) != record.requests:
                    continue
                standing = _standing(batch)
                if not standing.ended:
                    waiting = True
                    continue
                tried.add(name)
                async with aclosing(self.results(standing)) as results:
                    async for key, _ in results:
                        if key in keys:
                            return name
                        if key:  # else the line is damaged, and the next one tells
                            break
            if not waiting:
                return None
            await asyncio.sleep(pause)
            pause = min(LONGEST_LOOK_SECONDS, 1.5 * pause)

    async def _listed(self, record: BatchRecord) -> AsyncIterator[Mapping[str, Any]]:
        """The batches that may have been made when this one was sent, the newest first."""
        async for batch in listed_batches(self._http, "messages/batches", "after_id", record):
            if _created(batch) < record.sent_at - CLOCK_SLACK:
                return
            yield batch

    async def look(self, name: str) -> Standing:
        return _standing(await self._http.ask("GET", f"messages/batches/{name}"))

    async def results(self, standing: Standing) -> AsyncGenerator[Outcome, None]:
        for name in standing.results:  # not results_url: the key goes to the address that was given, and nowhere else
            async with aclosing(self._http.lines(f"messages/batches/{name}/results")) as lines:
                async for line, whole in lines:
                    for outcome in read_lines(line, whole, lambda entry: anthropic_outcome(entry, self._http.secrets)):
                        yield outcome


def _created(batch: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(batch.get("created_at"))).timestamp()
    except ValueError:
        return float("inf")


def _total(batch: Mapping[str, Any]) -> int:
    return count(batch.get("request_counts"), "processing", "succeeded", "errored", "canceled", "expired")


def _standing(batch: Mapping[str, Any]) -> Standing:
    counts, status = batch.get("request_counts"), str(batch.get("processing_status"))
    ended = status == "ended"
    return Standing(
        status=status,
        ended=ended,
        done=count(counts, "succeeded"),
        failed=count(counts, "errored", "expired", "canceled"),
        results=(named(batch),) if ended else (),
    )


def anthropic_parameters(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a chat completion as Anthropic's messages have it.

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


_TRANSLATED: Final = frozenset(
    {"messages", "max_tokens", "max_completion_tokens", "stop", "response_format"}
    | {"seed", "logprobs", "top_logprobs"}
)


def anthropic_outcome(entry: Mapping[str, Any], secrets: Iterable[str]) -> Completion | EngineError:
    """What a line of a batch's results says."""
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
        status = STATUSES.get(str(told.get("type")), 500)
        return one_request(read_error(status, json.dumps(told, ensure_ascii=False), None, secrets))
    return unfinished({"canceled": "cancelled"}.get(kind, kind))


def anthropic_completion(message: object, secrets: Iterable[str]) -> Completion:
    """The reply in a message of Anthropic's.

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
