"""Any server that speaks ``/v1/chat/completions``, on aiohttp directly: its client costs little a call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import aiohttp
from pydantic import ValidationInfo, field_validator
from yarl import URL

from evenhand.engines.batch_providers import AnthropicBatches, BatchProvider, OpenAIBatches, is_anthropic
from evenhand.engines.batches import BatchableEngine
from evenhand.engines.http import (
    CONNECT_SECONDS,
    KEYLESS_ADVICE,
    PATH,
    ServerAddress,
    lost_connection,
    normalized_base_url,
    proxy_of,
    read_body,
)
from evenhand.engines.remote import Connection
from evenhand.engines.replies import (
    check_variable_name,
    decoded_reply,
    filtered_completion,
    read_completion,
    read_error,
    redact,
)
from evenhand.errors import FatalEngineError, InvalidInputError
from evenhand.options import option
from evenhand.votes import Completion, json_bytes


class OpenAICompatibleEngine(BatchableEngine):
    """A judge on vLLM, SGLang, Ollama, llama.cpp, TGI, LM Studio, OpenAI, or what else speaks their protocol.

    ``OpenAICompatibleEngine(base_url="http://localhost:8000/v1", model="qwen3-8b")``, or by its id
    ``engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=qwen3-8b]``.
    """

    example: ClassVar[str] = "engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=qwen3-8b]"
    needs: ClassVar[tuple[str, ...]] = ("base_url", "model")

    base_url: str | None = option(None, "With or without ``/v1``; without user name, password and query.")
    api_key_env: str | None = option(
        None,
        'The variable that holds the key; ``""`` sends none. None sends ``OPENAI_API_KEY`` to OpenAI (by https) and to '
        "servers on this machine only.",
    )
    headers_env: str | None = option(None, "The variable that holds further headers as a JSON object.")

    @field_validator("base_url", mode="before")
    @classmethod
    def _read_base_url(cls, base_url: object) -> str | None:
        return None if base_url is None else normalized_base_url(base_url)

    @field_validator("api_key_env", "headers_env", mode="before")
    @classmethod
    def _check_variable(cls, name: object, info: ValidationInfo) -> object:
        if name:
            check_variable_name(str(info.field_name), name)
        return name

    @property
    def address(self) -> ServerAddress:
        """Where the server is, and where its key is found."""
        return ServerAddress(str(self.base_url), self.api_key_env, self.headers_env)

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The address."""
        return {"endpoint": self.base_url}

    def check_complete(self) -> None:
        """Check that the address and the model are there.

        Raises:
            InvalidInputError: If one is missing.
        """
        if self.base_url is not None and self.model is None:
            raise InvalidInputError(
                f"the engine {self.base_url!r} is a server's address without a model: give model='…' too (in the shell "
                f"--model …), or write '{self.base_url}[model=…]'"
            )
        super().check_complete()

    def batch_provider(self) -> BatchProvider:
        """Return message batches at Anthropic, OpenAI's batches elsewhere."""
        if self.batch_api == "anthropic" or (self.batch_api == "auto" and is_anthropic(self.address.base_url)):
            return AnthropicBatches(self.address)
        return OpenAIBatches(self.address)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Connection]:
        """Open a pool of connections for the event loop that runs now."""
        headers, secrets = self.address.headers()
        connector = aiohttp.TCPConnector(limit=self.max_in_flight, ttl_dns_cache=300)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_SECONDS, self.timeout))
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=timeout,
            headers=headers,
        ) as session:
            keyless, url, most = "Authorization" not in headers, URL(f"{self.base_url}{PATH}"), self.max_reply_bytes
            proxy = proxy_of(str(self.base_url))
            yield _AiohttpConnection(session, url, secrets, proxy, keyless=keyless, most=most)


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
                status, headers = response.status, response.headers
                content = await read_body(response, self._most)
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

    def _advice(self, status: int) -> str:
        if status == 404:
            url = redact(str(self._url), self._secrets)
            return f" (asked at {url!r}: check the path of base_url, which often ends in '/v1', and the model)"
        return KEYLESS_ADVICE if status == 401 and self._keyless else ""

    def _describe(self, error: Exception) -> str:
        told = redact(str(error), self._secrets)
        return f"the connection to {str(self._url)!r} failed ({type(error).__name__}{': ' if told else ''}{told})"
