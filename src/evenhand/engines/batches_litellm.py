"""Batches at the providers for which litellm can create them, with its functions for files and batches.

Where a provider speaks OpenAI's batches or Anthropic's itself, it is asked without litellm: see
:meth:`evenhand.engines.artifacts.LiteLLMEngine.batch_service`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from evenhand.engines.batch_services import (
    CLOCK_SLACK,
    PAGE,
    BatchConnection,
    JsonLines,
    Outcome,
    Standing,
    is_batch_of,
    openai_outcome,
    openai_standing,
    read_lines,
)
from evenhand.engines.journal_batches import BatchRecord
from evenhand.engines.litellm import LiteLLMConnection, LiteLLMTransport
from evenhand.engines.remote import RemoteSettings
from evenhand.errors import FatalEngineError, InvalidInputError, RejectedRequestError

PROVIDERS: Final = ("openai", "azure", "hosted_vllm", "litellm_proxy", "vertex_ai", "bedrock", "mistral", "xai")
LISTED: Final = frozenset({"openai", "azure", "hosted_vllm", "litellm_proxy", "vertex_ai", "xai"})
"""Those whose batches litellm can list, so that one that was perhaps made can be found."""


def provider_of(model: str) -> str:
    """The provider in the name of a model as litellm has it."""
    return model.split("/", maxsplit=1)[0] if "/" in model else "openai"


@dataclass
class LiteLLMBatches:
    """The batch interface of the provider of a model.

    Raises:
        InvalidInputError: If litellm can create no batches there.
    """

    transport: LiteLLMTransport
    model: str
    most_requests: int = 50_000
    most_bytes: int = 200_000_000
    supports_schema: bool = True

    def __post_init__(self) -> None:
        if provider_of(self.model) not in PROVIDERS:
            raise InvalidInputError(
                f"model is {self.model!r}, and litellm creates batches for {', '.join(PROVIDERS)}; 'anthropic/…' and "
                "servers that speak OpenAI's batches (engines.evenhand.openai_compatible) are asked without it: leave "
                "batch out, or take another model"
            )

    @asynccontextmanager
    async def opened(self, settings: RemoteSettings) -> AsyncIterator[BatchConnection]:
        """Litellm's clients for the event loop that runs now."""
        async with self.transport.opened(settings) as connection:
            yield _LiteLLMConnection(connection, provider_of(self.model), settings)


class _LiteLLMConnection(JsonLines):
    def __init__(self, connection: LiteLLMConnection, provider: str, settings: RemoteSettings) -> None:
        super().__init__(model=settings.model.partition("/")[2] or settings.model)
        self._connection = connection
        self._provider = provider
        self._most = settings.max_reply_bytes

    async def upload(self, label: str, path: Path) -> str | None:
        with path.open("rb") as file:
            made = await self._asked("acreate_file", file=(f"{label}.jsonl", file), purpose="batch")
        return str(made["id"])

    async def create(self, record: BatchRecord, path: Path) -> str:  # noqa: ARG002 - the file is there
        made = await self._asked(
            "acreate_batch",
            completion_window="24h",
            endpoint=self.endpoint,
            input_file_id=record.file,
            metadata={"evenhand": record.label},
        )
        return str(made["id"])

    async def find(self, record: BatchRecord, *_: frozenset[str]) -> str | None:
        if self._provider not in LISTED:
            raise RejectedRequestError(
                f"whether the batch {record.label!r} was made cannot be told, because litellm lists no batches of "
                f"{self._provider}: look for it there, and give it up if it is not there",
                cause="not_listed",
            )
        after: str | None = None
        while True:
            listed = await self._asked("alist_batches", limit=PAGE, after=after)
            batches = listed.get("data") or []
            for batch in batches:
                if is_batch_of(record, batch):
                    return str(batch["id"])
            created = batches[-1].get("created_at") if batches else None
            too_old = isinstance(created, int | float) and created < record.sent_at - CLOCK_SLACK
            if not listed.get("has_more") or not batches or too_old:
                return None
            after = str(batches[-1]["id"])

    async def look(self, name: str) -> Standing:
        return openai_standing(await self._asked("aretrieve_batch", batch_id=name), self._connection.secrets())

    async def results(self, standing: Standing) -> AsyncGenerator[Outcome, None]:
        secrets, gone = self._connection.secrets(), None
        for name in standing.results:
            try:
                content = await self._connection.asked(partial(self._content, name))
            except FatalEngineError as error:
                gone = error
                continue
            for line in content.splitlines():
                whole = len(line) <= self._most
                for outcome in read_lines(line, whole, lambda entry: openai_outcome(entry, secrets)):
                    yield outcome
        if gone is not None:
            raise gone

    async def _content(self, name: str) -> bytes:
        litellm = self._connection.imported()
        found = await litellm.afile_content(
            file_id=name, custom_llm_provider=self._provider, max_retries=0, **self._connection.address
        )
        content: bytes = found.content
        return content

    async def _asked(self, function: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - as litellm takes them
        """What one of litellm's functions says, as a plain mapping."""
        litellm = self._connection.imported()
        call: Callable[..., Awaitable[Any]] = getattr(litellm, function)
        reply = await self._connection.asked(
            lambda: call(custom_llm_provider=self._provider, max_retries=0, **self._connection.address, **given)
        )
        return _plain(reply)


def _plain(reply: Any) -> dict[str, Any]:  # noqa: ANN401 - one of litellm's or openai's models, or a page of them
    if isinstance(reply, dict):
        return reply
    if hasattr(reply, "data") and not hasattr(reply, "input_file_id"):
        return {"data": [_plain(each) for each in reply.data], "has_more": bool(getattr(reply, "has_more", False))}
    dumped: dict[str, Any] = reply.model_dump()
    return dumped
