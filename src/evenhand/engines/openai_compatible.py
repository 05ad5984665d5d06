"""Any server that speaks ``/v1/chat/completions``, on aiohttp directly: its client costs little per call."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from pydantic import field_validator

from evenhand.engines.batches import BatchableEngine, BatchProvider, provider_at
from evenhand.engines.http import HttpConnection, ServerAddress, normalized_base_url
from evenhand.engines.remote import VariableName
from evenhand.errors import InvalidInputError
from evenhand.options import option


class OpenAICompatibleEngine(BatchableEngine):
    """A judge on vLLM, SGLang, Ollama, llama.cpp, TGI, LM Studio, OpenAI, or any server that speaks their protocol.

    ``OpenAICompatibleEngine(base_url="http://localhost:8000/v1", model="qwen3-8b")``, or by its id
    ``engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=qwen3-8b]``.
    """

    example: ClassVar[str] = "engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=qwen3-8b]"
    needs: ClassVar[tuple[str, ...]] = ("base_url", "model")

    base_url: str | None = option(None, "With or without ``/v1``; without user name, password and query.")
    api_key_env: VariableName = option(
        None,
        'The variable that holds the key; ``""`` sends none. None sends ``OPENAI_API_KEY`` to OpenAI (by https) and to '
        "servers on this machine only.",
    )
    headers_env: VariableName = option(None, "The variable that holds further headers as a JSON object.")

    @field_validator("base_url", mode="before")
    @classmethod
    def _read_base_url(cls, base_url: object) -> str | None:
        return None if base_url is None else normalized_base_url(base_url)

    @property
    def address(self) -> ServerAddress:
        """The address of the server, and the source of its key."""
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
        return provider_at(self.address, self.batch_api)

    def opened(self) -> AbstractAsyncContextManager[HttpConnection]:
        """Open a pool of connections for the event loop that runs now."""
        return self.connect(self.address)
