"""A chat-completions server on the loopback interface, with faults on plan and a record of every request.

In a thread of the test, for everything that looks at requests or replies with a function of the test::

    with JudgeServer(reply=lambda body: "Good", faults=[Fault("status", status=429, retry_after=1, times=2)]) as server:
        engine = ...  # base_url=server.base_url
    assert server.seen == 3

In a process of its own, for crash tests and benchmarks (the record is then read over HTTP)::

    with JudgeServerProcess(latency=0.5, labels=["Good", "Bad"]) as server:
        ...
        assert server.stats()["seen"] == 3
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from tests.support.fault import MADE_UP, WHOLE, WRITTEN, Fault
from tests.support.prefix_cache import PrefixCache

UNSUPPORTED: Mapping[str, tuple[str, str]] = {
    "unsupported_schema": ("response_format", "response_format of type json_schema is not supported by this model"),
    "unsupported_logprobs": ("logprobs", "this model does not support logprobs"),
    "unsupported_temperature": (
        "temperature",
        "Unsupported value: 'temperature' does not support 0.0 with this model.",
    ),
    "unsupported_max_tokens": (
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "too_many_logprobs": ("top_logprobs", "Invalid value for 'top_logprobs': must be less than or equal to {most}"),
}
"""Kind -> the parameter that the model lacks, and the message."""


@dataclass(frozen=True)
class Reply:
    """One reply in full.

    Attributes:
        text: The content.
        finish_reason: As OpenAI names it.
        logprobs: Per token: the token, its log-probability, and the likeliest tokens at its place.
        prompt_tokens: None counts the words of the messages.
        completion_tokens: None counts the words of the reply.
        message: More fields of the message, such as ``{"refusal": …}``.
    """

    text: str | None
    finish_reason: str = "stop"
    logprobs: Sequence[tuple[str, float, Mapping[str, float]]] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    message: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class SeenRequest:
    """One request as the server received it.

    Attributes:
        status: None until the reply was sent in full.
        sent_at: When it was, by the monotonic clock, which all processes of one host share.
        reply: The content of a chat completion that was sent in full, if no fault spoilt more than its content.
        tokens: What it says of its prompt and its content; 0 while it is not sent.
    """

    number: int
    received_at: float
    headers: dict[str, str]
    body: dict[str, Any]
    status: int | None = None
    sent_at: float | None = None
    reply: str | None = None
    tokens: int = 0

    def has_reply(self, payload: bytes) -> None:
        """Note that this body was sent in full."""
        body = json.loads(payload)
        if body.get("choices") and "usage" in body:
            self.reply = body["choices"][0]["message"]["content"] or ""
            self.tokens = body["usage"]["total_tokens"]


ReplyFunction = Callable[[dict[str, Any]], "Reply | str | Mapping[str, Any] | None"]


def deterministic_reply(labels: Sequence[str] = ()) -> ReplyFunction:
    """A judge whose choice is a stable hash of the messages.

    Under a JSON schema it fills the schema; otherwise it names one of ``labels`` that the conversation contains.
    """

    def reply(body: dict[str, Any]) -> str:
        text = conversation(body)
        draw = int.from_bytes(hashlib.sha256(f"{text}{body.get('seed')}".encode()).digest()[:8])
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        if schema is not None:
            return json.dumps(_fill(schema, draw))
        offered = [label for label in labels if label in text]
        return offered[draw % len(offered)] if offered else "The response answers the question in part."

    return reply


def _fill(schema: Mapping[str, Any], draw: int) -> Any:
    if "enum" in schema:
        return schema["enum"][draw % len(schema["enum"])]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: _fill(part, draw) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [_fill(schema.get("items", {"type": "string"}), draw)]
    return {"string": "The response answers the question in part.", "boolean": draw % 2 == 0}.get(kind, draw % 2)


def conversation(body: Mapping[str, Any]) -> str:
    """The contents of all messages of a request."""
    return "\n".join(str(message.get("content")) for message in body.get("messages", ()))


class JudgeServer:
    """The server in a thread of this process, as a context manager.

    ``capacity`` is how many calls it works on at once; it answers 429 with Retry-After: 0 to the others. With a
    ``prefix_cache`` its replies say how many tokens of the prompt were in it.

    Attributes:
        base_url: ``http://127.0.0.1:<port>/v1``
        requests: Every request in the order received.
        refused: The number of requests beyond the capacity.
        finished: The number of requests that were answered in full, errors included.
    """

    def __init__(
        self,
        *,
        reply: ReplyFunction | Sequence[Reply | str | None] | str | None = None,
        labels: Sequence[str] = (),
        latency: float = 0.0,
        faults: Sequence[Fault] = (),
        capacity: int | None = None,
        port: int = 0,
        prefix_cache: PrefixCache | None = None,
    ) -> None:
        self.capacity = capacity
        self.prefix_cache = prefix_cache
        self.reply = _reply_function(reply, labels)
        self.latency = latency
        self.faults = list(faults)
        self.requests: list[SeenRequest] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.refused = 0
        self.used: Counter[int] = Counter()
        self._port = port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="judge-server", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the loopback server did not start within 10 seconds")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self.stopping.set)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [seen.body for seen in list(self.requests)]

    @property
    def seen(self) -> int:
        """The number of requests that arrived."""
        return len(self.requests)

    def clear_faults(self) -> None:
        """From now on nothing goes wrong."""
        self.faults.clear()
        self.used.clear()

    async def _run(self) -> None:
        self._loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        self._server = web.Server(self.handle, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=0.2)
        self._returns = set[asyncio.Task[None]]()
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=2048).start()
        self._port = self._runner.addresses[0][1]
        self._ready.set()
        await self.stopping.wait()
        for task in self._returns:
            task.cancel()
        await self._runner.cleanup()
        for _ in range(3):  # what was accepted while it ended
            await asyncio.sleep(0)
            self._cut_all()

    def _cut_all(self) -> None:
        for connection in list(self._server.connections):
            if connection.transport is not None:
                connection.transport.abort()

    async def _leave(self, seconds: float) -> None:
        """Be away for so long."""
        for listening in list(self._runner.sites):
            await listening.stop()
        self._returns.add(asyncio.create_task(self._come_back(seconds)))
        self._cut_all()

    async def _come_back(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=2048).start()

    @property
    def finished(self) -> int:
        return sum(seen.status is not None for seen in list(self.requests))

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/_stats":
            return web.json_response(self.stats())
        if request.path == "/_requests":
            return web.json_response([vars(seen) for seen in self.requests])
        if request.method == "GET" and request.path == "/v1/models":
            return web.json_response({"object": "list", "data": [{"id": "judge", "object": "model"}]})
        if request.method != "POST" or request.path not in {"/v1/chat/completions", "/v1/messages"}:
            return web.json_response({"error": {"message": f"no such path: {request.path}"}}, status=404)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            body = json.loads(await request.read())
            seen = SeenRequest(len(self.requests) + 1, time.monotonic(), dict(request.headers), body)
            self.requests.append(seen)
            return await self._answer(request, seen)
        finally:
            self.in_flight -= 1

    def stats(self) -> dict[str, int]:
        return {
            "seen": len(self.requests),
            "finished": self.finished,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
        }

    def _due(self, seen: SeenRequest) -> Iterator[Fault]:
        for index, fault in enumerate(self.faults):
            if fault.on is not None and seen.number not in fault.on:
                continue
            if fault.match is not None and fault.match not in conversation(seen.body):
                continue
            if fault.kind in UNSUPPORTED:
                asked = seen.body.get(UNSUPPORTED[fault.kind][0], False)
                if asked is False or (fault.kind == "too_many_logprobs" and asked <= fault.most):
                    continue
            if fault.times is not None and self.used[index] >= fault.times:
                continue
            self.used[index] += 1
            yield fault

    async def _answer(self, request: web.BaseRequest, seen: SeenRequest) -> web.StreamResponse:
        if self.capacity is not None and self.in_flight > self.capacity:
            self.refused += 1
            return await self._send(request, seen, self._error(request, Fault("status", status=429, retry_after=0)))
        if self.latency:
            await asyncio.sleep(self.latency)
        kinds, faults = set[str](), list[Fault]()
        for fault in self._due(seen):
            if fault.kind == "latency":
                await asyncio.sleep(fault.seconds)
            elif fault.kind == "hang":
                await self.stopping.wait()
            elif fault.kind in {"cut", "reset", "away"}:
                await self._cut(request, fault)
                return web.Response(status=500)
            elif (answer := self._instead(request, fault)) is not None:
                return await self._send(request, seen, answer)
            kinds.add(fault.kind)
            faults.append(fault)
        return await self._reply(request, seen, kinds, faults)

    def _instead(self, request: web.BaseRequest, fault: Fault) -> web.Response | None:
        """What is sent in place of a reply."""
        if fault.kind == "redirect":
            status = fault.status if 300 <= fault.status < 400 else 307
            return web.Response(status=status, headers={"Location": fault.location})
        if fault.kind == "error_reply":
            return web.json_response({"error": {"message": fault.message, "code": fault.code}})
        if fault.kind == "garbage":
            return web.Response(text=fault.body, content_type="text/html")
        return self._error(request, fault) if fault.kind == "status" or fault.kind in UNSUPPORTED else None

    async def _reply(
        self, request: web.BaseRequest, seen: SeenRequest, kinds: set[str], faults: Sequence[Fault]
    ) -> web.StreamResponse:
        payload = json.dumps(self._payload(seen.body, kinds)).encode()
        if "cut_body" in kinds:
            return await self._cut_body(request, payload)
        for fault in faults:
            if fault.kind in MADE_UP:
                payload = MADE_UP[fault.kind](fault, payload)
            if fault.kind in WRITTEN:
                response = await self._write(request, seen, WRITTEN[fault.kind](fault, payload), fault)
                break
        else:
            response = await self._send(request, seen, web.Response(body=payload, content_type="application/json"))
        if kinds <= WHOLE:
            seen.has_reply(payload)
        return response

    @staticmethod
    async def _send(request: web.BaseRequest, seen: SeenRequest, response: web.Response) -> web.Response:
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionError:  # cut meanwhile
            return response
        seen.status, seen.sent_at = response.status, time.monotonic()
        return response

    async def _cut(self, request: web.BaseRequest, fault: Fault) -> None:
        if fault.kind == "reset":
            linger = struct.pack("ii", 1, 0)
            request.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        request.transport.abort()
        if fault.kind == "away":
            await self._leave(fault.seconds)

    @staticmethod
    async def _write(request: web.BaseRequest, seen: SeenRequest, response: bytes, fault: Fault) -> web.StreamResponse:
        """Send these bytes past aiohttp, which would not send what is no response, and end the connection."""
        pieces = [response[place : place + 1] for place in range(len(response))] if fault.seconds else [response]
        for piece in pieces:
            request.transport.write(piece)
            await asyncio.sleep(fault.seconds)
            if request.transport.is_closing():
                raise ConnectionResetError
        seen.status = 200
        request.transport.close()
        return web.Response()

    @staticmethod
    async def _cut_body(request: web.BaseRequest, payload: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(payload))})
        await response.prepare(request)
        await response.write(payload[: len(payload) // 2])
        request.transport.close()
        return response

    @staticmethod
    def _error(request: web.BaseRequest, fault: Fault) -> web.Response:
        if fault.kind in UNSUPPORTED:
            parameter, message = UNSUPPORTED[fault.kind]
            error = {"message": message.format(most=fault.most), "param": parameter}
            return web.json_response({"error": error}, status=400)
        headers = {}
        if fault.retry_after is not None:
            headers["Retry-After"] = str(fault.retry_after)
        if fault.retry_after_date is not None:
            now = datetime.now(UTC).timestamp()
            wait = math.ceil(now + fault.retry_after_date) - now
            headers["Retry-After"] = format_datetime(datetime.now(UTC) + timedelta(seconds=wait), usegmt=True)
        message = f"{fault.message} (Authorization: {request.headers.get('Authorization')})"
        error = {"message": message} | ({"code": fault.code} if fault.code else {})
        return web.json_response({"error": error}, status=fault.status, headers=headers)

    def _payload(self, body: dict[str, Any], kinds: Collection[str]) -> Mapping[str, Any]:
        if "no_choices" in kinds:
            return {"object": "chat.completion", "choices": []}
        given = self.reply(body)
        if isinstance(given, Mapping):
            return given
        reply = given if isinstance(given, Reply) else Reply(given)
        text, finish_reason = reply.text, reply.finish_reason
        if "empty" in kinds:
            text = ""
        if "none" in kinds:
            text = None
        if "content_filter" in kinds:
            text, finish_reason = None, "content_filter"
        if "truncate" in kinds:
            text, finish_reason = (text or "")[: len(text or "") // 2], "length"
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": finish_reason,
            "message": {"role": "assistant", "content": text, **reply.message},
        }
        if body.get("logprobs"):
            choice["logprobs"] = {"content": _logprobs(reply, text, body.get("top_logprobs") or 0)}
        prompt = len(conversation(body).split()) if reply.prompt_tokens is None else reply.prompt_tokens
        answer = len((text or "").split()) if reply.completion_tokens is None else reply.completion_tokens
        details = {}
        if self.prefix_cache is not None:
            details["prompt_tokens_details"] = {"cached_tokens": int(prompt * self.prefix_cache.read(body))}
            self.prefix_cache.replied(body, text)
        return {
            "id": "chatcmpl-loopback",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [choice],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": answer,
                "total_tokens": prompt + answer,
                **details,
            },
        }


def _logprobs(reply: Reply, text: str | None, top: int) -> list[dict[str, Any]]:
    tokens = reply.logprobs
    if tokens is None:
        tokens = [(token, -0.1, {token: -0.1, "other": -2.3}) for token in re.findall(r"\s*\S+", text or "")]
    return [
        {
            "token": token,
            "logprob": logprob,
            "bytes": list(token.encode()),
            "top_logprobs": [
                {"token": name, "logprob": value, "bytes": list(name.encode())}
                for name, value in sorted(likeliest.items(), key=lambda pair: -pair[1])[:top]
            ],
        }
        for token, logprob, likeliest in tokens
    ]


def _reply_function(
    reply: ReplyFunction | Sequence[Reply | str | None] | str | None, labels: Sequence[str]
) -> ReplyFunction:
    if reply is None:
        return deterministic_reply(labels)
    if isinstance(reply, str):
        return lambda body: reply
    if callable(reply):
        return reply
    script = iter(reply)
    return lambda body: next(script)


class JudgeServerProcess:
    """The server in a process of its own, as a context manager; it answers as :func:`deterministic_reply`."""

    def __init__(self, *, latency: float = 0.0, labels: Sequence[str] = ()) -> None:
        given = json.dumps({"latency": latency, "labels": list(labels)})
        self._command = [sys.executable, "-m", "tests.support.server", given]

    def __enter__(self) -> Self:
        root = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(self._command, cwd=root, stdout=subprocess.PIPE, text=True)
        self.base_url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)
        self._process.stdout.close()

    def stats(self) -> dict[str, int]:
        """``seen``, ``finished``, ``in_flight`` and ``max_in_flight``."""
        return self._get("_stats")

    def requests(self) -> list[dict[str, Any]]:
        """Every request: the fields of :class:`SeenRequest`."""
        return self._get("_requests")

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.base_url.removesuffix('v1')}{path}", timeout=10) as response:
            return json.load(response)


if __name__ == "__main__":
    with JudgeServer(**json.loads(sys.argv[1])) as running:
        print(running.base_url, flush=True)  # noqa: T201
        threading.Event().wait()
