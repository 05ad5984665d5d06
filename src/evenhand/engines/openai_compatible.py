"""Any server that speaks ``/v1/chat/completions``, on aiohttp directly: its client costs little a call."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from evenhand.engines.bodies import CONNECT_SECONDS, ENCODINGS, MOST_ERROR_BYTES, Reading, check_declared
from evenhand.engines.remote import Connection, RemoteSettings
from evenhand.engines.replies import (
    check_variable_name,
    decoded_reply,
    filtered_completion,
    read_completion,
    read_error,
    redact,
)
from evenhand.errors import (
    ConnectionLostError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    ReplyTooLongError,
    origins,
)
from evenhand.votes import Completion, json_bytes

DEFAULT_KEY_VARIABLE: Final = "OPENAI_API_KEY"
DEFAULT_KEY_HOST: Final = "api.openai.com"
KEYLESS_ADVICE: Final = (
    " (no key was sent: name the environment variable that holds it in api_key_env; "
    f"{DEFAULT_KEY_VARIABLE} is sent unasked to https://{DEFAULT_KEY_HOST} and to this machine only)"
)
PATH: Final = "/chat/completions"


@dataclass(frozen=True)
class OpenAICompatibleTransport:
    """The address of a server, and where its key is found.

    Attributes:
        base_url: With or without ``/v1`` and ``/chat/completions``; without user name, password and query.
        api_key_env: The environment variable that holds the key, never the key. None takes ``OPENAI_API_KEY`` when it
            is set and the server is OpenAI's own (by https) or on this machine, and no key otherwise: a server that
            anyone may run gets no key unless it is named for it. ``""`` sends none.
        headers_env: The environment variable that holds further headers as a JSON object.
    """

    base_url: str
    api_key_env: str | None = None
    headers_env: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", normalized_base_url(self.base_url))
        for field in ("api_key_env", "headers_env"):
            name = getattr(self, field)
            if name:
                check_variable_name(field, name)

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The address."""
        return {"endpoint": self.base_url}

    @asynccontextmanager
    async def opened(self, settings: RemoteSettings) -> AsyncIterator[Connection]:
        """A pool of connections for the event loop that runs now."""
        headers, secrets = self.headers()
        connector = aiohttp.TCPConnector(limit=settings.max_in_flight, ttl_dns_cache=300)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_SECONDS, settings.timeout))
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=timeout,
            headers=headers,
            auto_decompress=False,  # it knows no bound
        ) as session:
            keyless, url, most = "Authorization" not in headers, URL(self.base_url + PATH), settings.max_reply_bytes
            yield _AiohttpConnection(session, url, secrets, proxy_of(self.base_url), keyless=keyless, most=most)

    def headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """What every request carries, and what of it is secret."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "evenhand"}
        headers["Accept-Encoding"] = ENCODINGS
        secrets = []
        default = self.api_key_env is None and may_have_default_key(self.base_url)
        key = os.environ.get(DEFAULT_KEY_VARIABLE) if default else None
        if self.api_key_env:
            key = environment_value("api_key_env", self.api_key_env)
        if key:
            headers["Authorization"] = f"Bearer {key.strip()}"
            secrets.append(key.strip())
        if self.headers_env:
            further = _header_object(self.headers_env)
            headers |= further
            secrets += further.values()
            secrets += [value.rpartition(" ")[2] for value in further.values()]  # without its scheme, such as "Token"
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                raise InvalidInputError(
                    f"the value of the header {name!r} holds characters that a header cannot carry: "
                    "set the environment variable again, without line ends and other control characters"
                )
        return headers, tuple(secrets)


def normalized_base_url(base_url: str, *, field: str = "base_url") -> str:
    """The address without ``/chat/completions``, with ``/v1`` where no path was given.

    >>> normalized_base_url("http://localhost:8000/")
    'http://localhost:8000/v1'
    >>> normalized_base_url("https://example.org/api/v1/chat/completions")
    'https://example.org/api/v1'

    Raises:
        InvalidInputError: If it is not an http(s) address, or holds a user name, a password, a query or a fragment.
    """
    example = "such as 'http://localhost:8000/v1'"
    if not isinstance(base_url, str):
        raise InvalidInputError(f"{field} is a {type(base_url).__name__}; give an address {example}")
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidInputError(f"{field} is not an address; give one {example}") from error
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInputError(
            f"{field} holds a user name, a password, a query or a fragment (not shown here, in case it is secret): "
            f"give the bare address {example}, the key through api_key_env and further headers through headers_env"
        )
    if parts.scheme not in {"http", "https"} or not host:
        raise InvalidInputError(f"{field} is {redact(base_url)!r}; give an address with http:// or https://, {example}")
    path = parts.path.rstrip("/").removesuffix(PATH).rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path or "/v1", "", ""))


def environment_value(field: str, name: str) -> str:
    """What the environment variable holds that a field names.

    Raises:
        InvalidInputError: If it is not set.
    """
    value = os.environ.get(name)
    if not value:
        raise InvalidInputError(
            f"{field} names the environment variable {name!r}, which is not set: set it, or leave {field} out"
        )
    return value


def _header_object(name: str) -> dict[str, str]:
    try:
        headers = json.loads(environment_value("headers_env", name))
    except (ValueError, RecursionError):
        headers = None
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise InvalidInputError(
            f"the environment variable {name!r} (headers_env) must hold a JSON object of texts, such as "
            '{"X-Project": "evaluation"}'
        )
    return headers


def may_have_default_key(base_url: str) -> bool:
    """Whether the user's OpenAI key may go there unasked: to OpenAI, by https, and to servers of this machine."""
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


def proxy_of(base_url: str) -> str | None:
    """The proxy that the environment prescribes, looked up once instead of for every call."""
    parts = urlsplit(base_url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


UNREACHED: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


def lost_connection(
    error: BaseException, told: str, unreached: tuple[type[BaseException], ...] = UNREACHED
) -> EngineError:
    """What a failure below HTTP means.

    Args:
        error: The failure.
        told: The message.
        unreached: The errors of a connection that was not made.
    """
    if any(getattr(source, "errno", None) in {errno.EMFILE, errno.ENFILE} for source in origins(error)):
        return FatalEngineError(
            f"{told}: the process may open no more files and connections. Raise the limit (ulimit -n), or lower "
            "max_in_flight",
            cause="no_descriptors",
        )
    return ConnectionLostError(told, reached=not isinstance(error, unreached))


class _AiohttpConnection:
    """An open pool of connections to one address."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: URL,
        secrets: tuple[str, ...],
        proxy: str | None,
        *,
        keyless: bool,
        most: int,
    ) -> None:
        self._session = session
        self._url = url
        self._secrets = secrets
        self._proxy = proxy
        self._keyless = keyless
        self._most = most

    def supports_schema(self) -> bool:
        """Not known before asking."""
        return True

    async def send(self, payload: Mapping[str, Any]) -> Completion:
        """One POST."""
        body = json_bytes(payload)
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False, proxy=self._proxy) as response:
                status, headers, content = response.status, response.headers, await self._content(response)
        except (aiohttp.ClientConnectorCertificateError, aiohttp.InvalidURL) as error:
            raise FatalEngineError(self._describe(error), cause="connection") from None
        except (aiohttp.ClientError, OSError) as error:
            raise lost_connection(error, self._describe(error)) from None
        if status != 200:
            text = content.decode("utf-8", "replace")
            filtered = filtered_completion(status, text)
            if filtered is not None:
                return filtered
            raise read_error(status, text, headers.get("Retry-After"), self._secrets, advice=self._advice(status))
        return read_completion(await decoded_reply(content), self._secrets)

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        """The body: of a reply all of it, or nothing; of an error as much as is looked at."""
        failed = response.status != 200
        reading = Reading(MOST_ERROR_BYTES, in_part=True) if failed else Reading(self._most)
        try:
            if not failed:
                check_declared(response.content_length, self._most)
            async for piece in response.content.iter_any():
                if not reading.takes(piece):
                    break
            return reading.unpacked(response.headers.get("Content-Encoding", ""))
        except ReplyTooLongError:
            response.close()  # what is left of it is not waited for
            raise

    def _advice(self, status: int) -> str:
        if status == 404:
            url = redact(str(self._url), self._secrets)
            return f" (asked at {url!r}: check the path of base_url, which often ends in '/v1', and the model)"
        return KEYLESS_ADVICE if status == 401 and self._keyless else ""

    def _describe(self, error: Exception) -> str:
        told = redact(str(error), self._secrets)
        return f"the connection to {str(self._url)!r} failed ({type(error).__name__}{': ' if told else ''}{told})"
