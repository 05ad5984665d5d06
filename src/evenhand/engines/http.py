"""HTTP as far as servers of models need it: addresses, keys, proxies, and bodies of bounded size.

A body that is longer than the bound is not read in part: half a verdict may be another one. The server was paid for it,
so it raises :class:`~evenhand.errors.ReplyTooLongError` and is not asked for again.
"""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from pydantic import TypeAdapter, ValidationError

from evenhand.engines.replies import decoded_reply, read_completion, read_error, redact
from evenhand.errors import (
    ConnectionLostError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    ReplyTooLongError,
    TransientEngineError,
    origins,
)
from evenhand.votes import Completion, json_bytes

PATH: Final = "/chat/completions"
DEFAULT_KEY_VARIABLE: Final = "OPENAI_API_KEY"
DEFAULT_KEY_HOST: Final = "api.openai.com"
KEYLESS_ADVICE: Final = (
    " (no key was sent: name the environment variable that holds it in api_key_env; "
    f"{DEFAULT_KEY_VARIABLE} is sent unasked to https://{DEFAULT_KEY_HOST} and to this machine only)"
)
MOST_BYTES: Final = 4 * 2**20
"""The most bytes of a reply's body, as it is sent and as it is when it is unpacked. Ten thousand tokens with their
log-probabilities and those of the five likeliest take about 3 MB."""
MOST_ERROR_BYTES: Final = 64 * 2**10
CONNECT_SECONDS: Final = 10.0
ENCODINGS: Final = "gzip, deflate"
"""The accepted encodings of replies: both are unpacked to a bound; others cannot be."""


_TEXTS: Final = TypeAdapter(dict[str, str])


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server, and where its key is found: see :class:`.hosted.OpenAICompatibleEngine`."""

    base_url: str
    api_key_env: str | None = None
    headers_env: str | None = None
    further: Mapping[str, str] = field(default_factory=dict)
    key_header: str = "Authorization"

    def headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return what every request carries, and which of these values are secret."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "evenhand"}
        headers |= {"Accept-Encoding": ENCODINGS, **self.further}
        secrets = []
        default = self.api_key_env is None and may_have_default_key(self.base_url)
        key = os.environ.get(DEFAULT_KEY_VARIABLE) if default else None
        if self.api_key_env:
            key = environment_value("api_key_env", self.api_key_env)
        if key:
            bearer = "Bearer " if self.key_header == "Authorization" else ""
            headers[self.key_header] = f"{bearer}{key.strip()}"
            secrets.append(key.strip())
        if self.headers_env:
            try:
                given = _TEXTS.validate_json(environment_value("headers_env", self.headers_env), strict=True)
            except ValidationError:
                raise InvalidInputError(
                    f"the environment variable {self.headers_env!r} (headers_env) must hold a JSON object of texts, "
                    'such as {"X-Project": "evaluation"}'
                ) from None
            headers |= given
            secrets += [each for value in given.values() for each in (value, value.rpartition(" ")[2])]  # "Token …"
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                raise InvalidInputError(
                    f"the value of the header {name!r} holds characters that a header cannot carry: "
                    "set the environment variable again, without line ends and other control characters"
                )
        return headers, tuple(secrets)

    @cached_property
    def proxy(self) -> str | None:
        """The proxy that the environment prescribes."""
        parts = urlsplit(self.base_url)
        return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


def normalized_base_url(base_url: object, *, field: str = "base_url") -> str:
    """Return the address without ``/chat/completions``, with ``/v1`` where no path was given.

    >>> normalized_base_url("http://localhost:8000/")
    'http://localhost:8000/v1'
    >>> normalized_base_url("https://example.org/api/v1/chat/completions")
    'https://example.org/api/v1'

    Raises:
        InvalidInputError: If it is not an http(s) address, or holds a user name, a password, a query or a fragment.
    """
    example = "such as 'http://localhost:8000/v1'"
    try:
        parts = urlsplit(given := str(base_url).strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidInputError(f"{field} is not an address; give one {example}") from error
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInputError(
            f"{field} holds a user name, a password, a query or a fragment (not shown here, in case it is secret): "
            f"give the bare address {example}, the key through api_key_env and further headers through headers_env"
        )
    if parts.scheme not in {"http", "https"} or not host:
        raise InvalidInputError(f"{field} is {redact(given)!r}; give an address with http:// or https://, {example}")
    path = parts.path.rstrip("/").removesuffix(PATH).rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path or "/v1", "", ""))


def environment_value(field: str, name: str) -> str:
    """Return the value of the environment variable that a field names.

    Raises:
        InvalidInputError: If it is not set.
    """
    value = os.environ.get(name)
    if not value:
        raise InvalidInputError(
            f"{field} names the environment variable {name!r}, which is not set: set it, or leave {field} out"
        )
    return value


def may_have_default_key(base_url: str) -> bool:
    """Return whether the OpenAI key may go there unasked: to OpenAI, by https, and to servers of this machine."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".")
    if host == DEFAULT_KEY_HOST or host.endswith(f".{DEFAULT_KEY_HOST}"):
        return parts.scheme == "https"
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def lost_connection(error: BaseException, message: str, *, reached: bool) -> EngineError:
    """Return the error of ours, with this message, for a failure below HTTP; ``reached``: a connection was made."""
    if any(isinstance(source, OSError) and source.errno in {errno.EMFILE, errno.ENFILE} for source in origins(error)):
        return FatalEngineError(
            f"{message}: the process may open no more files and connections. Raise the limit (ulimit -n), or lower "
            "max_in_flight",
            cause="no_descriptors",
        )
    return ConnectionLostError(message, reached=reached)


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read a body: of a reply all of it, or nothing; of an error the beginning.

    Raises:
        ReplyTooLongError: If a reply has more bytes than ``most``, unpacked.
    """
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if response.status != 200 and len(body) >= MOST_ERROR_BYTES:
            break
        if len(body) > most:
            response.close()  # what is left of it is not waited for
            raise ReplyTooLongError(f"the server's reply has more than {most} bytes (max_reply_bytes)")
    return bytes(body)


@dataclass
class HttpConnection:
    """An open pool of connections to one address.

    Attributes:
        session: The pool.
        address: The address of the server.
        secrets: Texts that no message may show.
        keyless: No key is sent.
        most: The most bytes of a reply.
        model: The server's name for the model, if the payload has another.
        supports_schema: Whether the server may be asked for structured output.
        unusable: The message of an error that every request ends in: there is no key.
    """

    session: aiohttp.ClientSession
    address: ServerAddress
    secrets: tuple[str, ...]
    keyless: bool
    most: int
    model: str | None = None
    supports_schema: bool = True
    unusable: str | None = None

    async def send(self, payload: Mapping[str, Any]) -> Completion:
        """Send one chat completion, and return the reply.

        Raises:
            EngineError: If there is none.
        """
        if self.unusable is not None:
            raise FatalEngineError(self.unusable, cause="missing_key")
        body = json_bytes(payload if self.model is None else {**payload, "model": self.model})
        async with self.request("POST", PATH, data=body) as response:
            content = await read_body(response, self.most)
        if response.status == 200:
            return read_completion(await decoded_reply(content), self.secrets)
        advice = KEYLESS_ADVICE if response.status == 401 and self.keyless else ""
        if response.status == 404:
            advice = " (asked at {url!r}: check the path of base_url, which often ends in '/v1', and the model)"
        raise self.refusal(response, content, advice)

    @asynccontextmanager
    async def request(self, method: str, path: str, **given: Any) -> AsyncIterator[aiohttp.ClientResponse]:  # noqa: ANN401 - as aiohttp takes them
        """Send a request to a path below the address of the server; failures below HTTP are ours inside.

        Raises:
            EngineError: If the connection is not made, or breaks while the body is read.
        """
        url = f"{self.address.base_url}{path}"
        try:
            async with self.session.request(
                method, url, allow_redirects=False, proxy=self.address.proxy, **given
            ) as response:
                yield response
        except (aiohttp.ClientError, OSError) as error:
            reason = redact(str(error), self.secrets)
            why = f"{type(error).__name__}{': ' if reason else ''}{reason}"
            message = f"the connection to {url!r} failed ({why})"
            if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.InvalidURL):
                raise FatalEngineError(message, cause="connection") from None
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
                raise TransientEngineError(message, cause="timeout") from None
            unreached = aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
            raise lost_connection(error, message, reached=not isinstance(error, unreached)) from None

    def refusal(self, response: aiohttp.ClientResponse, content: bytes, advice: str = "") -> EngineError:
        """Return the error for a response with another status than 200; ``{url}`` in the advice is what was asked."""
        text, wait = content.decode("utf-8", "replace"), response.headers.get("Retry-After")
        advice = advice.format(url=redact(str(response.url), self.secrets))
        return read_error(response.status, text, wait, self.secrets, advice=advice)
