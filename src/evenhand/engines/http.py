"""HTTP as far as servers of models need it: addresses, keys, proxies, and bodies read no further than they may be long.

A body that is longer is not read in part: half a verdict may be another one. It is a reply that was paid for, so it is
told by a :class:`~evenhand.errors.ReplyTooLongError` and not asked for again.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from evenhand.engines.replies import redact
from evenhand.errors import (
    ConnectionLostError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    ReplyTooLongError,
    origins,
)

PATH: Final = "/chat/completions"
DEFAULT_KEY_VARIABLE: Final = "OPENAI_API_KEY"
DEFAULT_KEY_HOST: Final = "api.openai.com"
KEYLESS_ADVICE: Final = (
    " (no key was sent: name the environment variable that holds it in api_key_env; "
    f"{DEFAULT_KEY_VARIABLE} is sent unasked to https://{DEFAULT_KEY_HOST} and to this machine only)"
)
MOST_BYTES: Final = 4 * 2**20
"""Of a reply's body, as it is sent and as it is when it is unpacked. Ten thousand tokens with their log-probabilities
and those of the five likeliest take about 3 MB."""
MOST_ERROR_BYTES: Final = 64 * 2**10
"""Of the body of an error, of which a few hundred characters are shown."""
CONNECT_SECONDS: Final = 10.0
"""For a connection to be made; a host that drops what it is sent is away."""
ENCODINGS: Final = "gzip, deflate"
"""What servers are told that they may send. Both are unpacked to a bound; others cannot be."""


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server, and where its key is found: see :class:`.openai_compatible.OpenAICompatibleEngine`."""

    base_url: str
    api_key_env: str | None = None
    headers_env: str | None = None

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


def normalized_base_url(base_url: object, *, field: str = "base_url") -> str:
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


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read a body: of a reply all of it, or nothing; of an error as much as is looked at.

    Args:
        response: The response; aiohttp unpacks it piece by piece.
        most: Bytes that are read of a reply.

    Raises:
        ReplyTooLongError: If a reply is longer.
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
