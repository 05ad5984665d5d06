"""What goes wrong on plan at the loopback server, and the bytes that it sends then."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

WHOLE = frozenset({"latency", "empty", "none", "content_filter", "truncate", "says", "drip"})
"""The kinds after which a server has answered, and bills for the answer, usable or not."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and for which requests.

    Attributes:
        kind: ``latency`` adds ``seconds`` and goes on; ``status`` answers ``status``, its body echoing the
            Authorization header as real servers do; ``hang`` never answers; ``cut`` closes the connection before the
            headers and ``cut_body`` in the middle of the body; ``garbage`` is a body that is not JSON; ``no_choices``
            a JSON body without choices; ``unsupported_schema`` is a 400 for requests with a response_format,
            ``unsupported_logprobs`` for those that ask for log-probabilities, and ``too_many_logprobs`` for those that
            ask for more than ``most`` a token;
            ``unsupported_temperature`` and ``unsupported_max_tokens`` are what OpenAI's reasoning models answer;
            ``empty``, ``none``, ``content_filter`` and ``truncate`` change the content of the reply.

            ``away`` cuts every connection and refuses new ones for ``seconds``, and ``reset`` cuts this one by a TCP
            reset; ``redirect`` sends on to ``location``, with ``status`` where that is a 3xx, else 307.

            ``error_reply`` is a 200 whose body is an error; ``long`` a reply with a content of ``size`` characters;
            ``inflated`` one that is ``size`` bytes when it is unpacked (``encoding``: gzip or deflate) and little
            before; ``nested`` one with a field of ``depth`` arrays in each other; ``twice`` one in which ``key``
            (choices, message or content) stands twice in its object, first with ``other`` as the content, then with
            the reply; ``drip`` sends it one byte every ``seconds``.

            ``bad_status`` is a status line that is none; ``informational`` sends ``size`` times "100 Continue" before
            the reply; ``wrong_length`` names a length that is half of
            its body's; ``bad_chunks`` has chunks whose lengths are no numbers, ``cut_chunks`` no last one;
            ``bad_encoding`` says that it is gzip, and it is not.

            ``says`` puts ``body`` in the place of the content, and ``made`` sends the body that ``make`` makes of the
            reply's.
        on: The numbers of the requests, from 1; None for all.
        match: Only for requests whose messages contain this text.
        times: The number of matching requests that it affects; None for all.
        status: For ``status``.
        retry_after: The Retry-After header, as it is sent, in seconds.
        retry_after_date: The Retry-After header as an HTTP date, in seconds from now (rounded up to whole ones).
        seconds: For ``latency``.
        message: The message in the error's body.
        code: The code in the error's body.
        body: For ``garbage`` and ``says``.
        most: For ``too_many_logprobs``.
        location: For ``redirect``.
        size: For ``long``, ``inflated`` and ``informational``.
        encoding: For ``inflated``.
        depth: For ``nested``.
        key: For ``twice``.
        other: For ``twice``.
        make: For ``made``.
    """

    kind: str
    on: Collection[int] | None = None
    match: str | None = None
    times: int | None = None
    status: int = 500
    retry_after: float | str | None = None
    retry_after_date: float | None = None
    seconds: float = 0.0
    message: str = "the fault that the test asked for"
    code: str | None = None
    body: str = "<html>Bad gateway"
    most: int = 5
    location: str = "http://127.0.0.1:9/v1/chat/completions"
    size: int = 20_000_000
    encoding: Literal["gzip", "deflate"] = "gzip"
    depth: int = 100_000
    key: Literal["choices", "message", "content"] = "content"
    other: str = "planted"
    make: Callable[[bytes], bytes] = bytes


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def _whole(payload: bytes, headers: bytes = b"") -> bytes:
    return HEAD + headers + b"Content-Length: %d\r\n\r\n" % len(payload) + payload


def _long(fault: Fault, payload: bytes) -> bytes:
    body = json.loads(payload)
    message = body["choices"][0]["message"]
    message["content"] = f"{message['content']}\n".ljust(fault.size, "x")
    return json.dumps(body).encode()


def _inflated(fault: Fault, payload: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=31 if fault.encoding == "gzip" else 15)
    blanks = (b" " * min(2**20, fault.size - start) for start in range(len(payload), fault.size, 2**20))
    packed = [packer.compress(piece) for piece in (payload, *blanks)]
    return _whole(b"".join(packed) + packer.flush(), b"Content-Encoding: %s\r\n" % fault.encoding.encode())


def _says(fault: Fault, payload: bytes) -> bytes:
    body = json.loads(payload)
    body["choices"][0]["message"]["content"] = fault.body
    return json.dumps(body).encode()


def _nested(fault: Fault, payload: bytes) -> bytes:
    return b'{"extra": ' + b"[" * fault.depth + b"]" * fault.depth + b", " + payload[1:]


def _twice(fault: Fault, payload: bytes) -> bytes:
    own, other = json.loads(payload), json.loads(payload)
    other["choices"][0]["message"]["content"] = fault.other
    holder, planted = _holder(own, fault.key), _holder(other, fault.key)
    both = json.dumps({fault.key: planted[fault.key]})[:-1] + ", " + json.dumps(holder)[1:]
    return json.dumps(own).replace(json.dumps(holder), both).encode()


def _holder(body: dict[str, Any], key: str) -> dict[str, Any]:
    choice = body["choices"][0]
    return {"choices": body, "message": choice, "content": choice["message"]}[key]


MADE_UP: Mapping[str, Callable[[Fault, bytes], bytes]] = {
    "long": _long,
    "nested": _nested,
    "twice": _twice,
    "says": _says,
    "made": lambda fault, payload: fault.make(payload),
}
"""The body that a fault makes of the reply's."""

WRITTEN: Mapping[str, Callable[[Fault, bytes], bytes]] = {
    "inflated": _inflated,
    "drip": lambda fault, payload: _whole(payload),
    "bad_status": lambda fault, payload: b"HTTP/1.1 two hundred, more or less\r\n\r\n" + payload,
    "informational": lambda fault, payload: b"HTTP/1.1 100 Continue\r\n\r\n" * fault.size + _whole(payload),
    "wrong_length": lambda fault, payload: HEAD + b"Content-Length: %d\r\n\r\n" % (len(payload) // 2) + payload,
    "bad_chunks": lambda fault, payload: HEAD + b"Transfer-Encoding: chunked\r\n\r\nmany\r\n" + payload,
    "cut_chunks": lambda fault, payload: (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(payload) + payload + b"\r\n"
    ),
    "bad_encoding": lambda fault, payload: _whole(payload, b"Content-Encoding: gzip\r\n"),
}
"""The whole response that a fault makes of the reply's body."""
