"""Engines behind a network: any server that speaks ``/v1/chat/completions``, and every provider that litellm knows.

The former are asked on aiohttp directly, which costs little per call. litellm is imported at its first call, as that
takes seconds.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from functools import cache, cached_property
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final

import aiohttp
from pydantic import field_validator

from evenhand.engines.batches import ANTHROPIC_URL, BatchableEngine, BatchProvider, provider_at
from evenhand.engines.http import (
    DEFAULT_KEY_HOST,
    DEFAULT_KEY_VARIABLE,
    KEYLESS_ADVICE,
    HttpConnection,
    ServerAddress,
    environment_value,
    lost_connection,
    may_have_default_key,
    normalized_base_url,
)
from evenhand.engines.remote import Connection, VariableName
from evenhand.engines.replies import brief, read_completion, read_error
from evenhand.errors import EngineError, FatalEngineError, InvalidInputError, origins
from evenhand.options import option
from evenhand.votes import Completion

NO_KEY: Final = "none"  # litellm insists on a key, and a server of one's own needs none
OPENAI_URL: Final = f"https://{DEFAULT_KEY_HOST}/v1"
_MISSING_KEY: Final = re.compile(r"(?i)missing credentials|missing [\w ]*api key|unable to locate credentials")
_OPENAI_MODEL: Final = re.compile(r"openai/|(gpt-|chatgpt-|o\d)[^/]*$")
_CLIENTS: Final = ("aiohttp", "httpx", "httpx2")
_UNREACHED: Final = {"ClientConnectorError", "ConnectionTimeoutError", "ConnectError", "ConnectTimeout", "ProxyError"}
"""The errors of these clients for a connection that was not made, by name: httpx need not be loaded."""
OWN_SERVERS: Final = {"openai": OPENAI_URL, "anthropic": ANTHROPIC_URL}
"""The providers in names of litellm that can be asked without it, and their addresses."""


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

    def batch_provider(self) -> BatchProvider:
        """Return message batches at Anthropic, OpenAI's batches elsewhere."""
        return provider_at(self.address, self.batch_api)

    def opened(self) -> AbstractAsyncContextManager[HttpConnection]:
        """Open a pool of connections for the event loop that runs now."""
        return self.connect(self.address)


class LiteLLMEngine(BatchableEngine):
    """A judge of any provider that litellm knows: ``LiteLLMEngine(model="anthropic/claude-sonnet-4-5")``.

    Its id is ``engines.evenhand.litellm[model=anthropic/claude-sonnet-4-5]``. The name ``openai/gpt-4.1-mini`` alone
    stands for this engine with ``direct=True``: evenhand's own client asks OpenAI, which takes a fraction of the time.
    """

    example: ClassVar[str] = "engines.evenhand.litellm[model=openai/gpt-4.1-mini]"

    api_base: str | None = option(None, "The server's address, where it is not the provider's own.")
    api_key_env: VariableName = option(
        None,
        "The variable that holds the key. None leaves it to litellm (``ANTHROPIC_API_KEY``, …); ``OPENAI_API_KEY`` "
        "goes to OpenAI and to servers on this machine only.",
    )
    direct: bool = option(
        False, "Ask a model of ``openai/`` with evenhand's own client: the same replies and journal, without litellm."
    )

    @field_validator("api_base", mode="before")
    @classmethod
    def _check_address(cls, api_base: object) -> object:
        if api_base is not None:
            normalized_base_url(api_base, field="api_base")
        return api_base

    def model_post_init(self, _: object) -> None:
        """Check that the provider is one that is asked without litellm, where that is wanted."""
        wanted = (["anthropic", "openai"] if self.batch else []) or (["openai"] if self.direct else [])
        if self.model is not None and wanted and self._provider not in wanted:
            raise InvalidInputError(
                f"model is {self.model!r}, and batch=True sends batches to 'openai/…' and 'anthropic/…' (direct=True "
                "is for models of 'openai/…'): leave batch out, or give the address of a server that speaks OpenAI's "
                "protocol as the engine (engines.evenhand.openai_compatible)"
            )

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The address that was given, or that the environment prescribes for the provider."""
        return {"provider": "litellm", "endpoint": self.api_base or self._prescribed_address}

    @property
    def _prescribed_address(self) -> str | None:
        variables = [f"{self._provider.upper()}_API_BASE", f"{self._provider.upper()}_BASE_URL"]
        addresses = [address for variable in variables if (address := os.environ.get(variable))]
        return normalized_base_url(addresses[0], field=variables[0]) if addresses else None

    @property
    def _provider(self) -> str:
        return str(self.model).partition("/")[0] if "/" in str(self.model) else "openai"

    def rates(self) -> tuple[float, float, float] | None:
        """Return the prices given, or else those of litellm's price list; None for an unlisted model."""
        if self.has_own_prices:
            return super().rates()
        listed, tier = listed_model(str(self.model)), self.extra.get("service_tier")
        names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
        prompt, reply, cached = (listed.get(f"{name}_{tier}", listed.get(name)) for name in names)
        if prompt is None or reply is None:
            return None
        return 1e6 * prompt, 1e6 * reply, 1e6 * (prompt if cached is None else cached)

    def _own_server(self) -> ServerAddress:
        """Return the address and the key of OpenAI or Anthropic, which are asked without litellm."""
        provider, prescribed, key = self._provider, self._prescribed_address, self.api_key_env
        url = normalized_base_url(self.api_base or prescribed or OWN_SERVERS[provider], field="api_base")
        variable = f"{provider.upper()}_API_KEY"
        meant = provider != "openai" or (self.api_base is None and prescribed is not None)  # who sets it means its key
        if key is None and meant and os.environ.get(variable):
            key = variable
        headers = {"OpenAI-Organization": "OPENAI_ORGANIZATION", "OpenAI-Project": "OPENAI_PROJECT_ID"}
        further = {header: value for header, name in headers.items() if (value := os.environ.get(name))}
        return ServerAddress(url, key, further=further if url == OPENAI_URL else {})

    def batch_provider(self) -> BatchProvider:
        """Return the provider's batches, asked without litellm."""
        return provider_at(self._own_server(), self._provider, str(self.model).removeprefix(f"{self._provider}/"))

    def opened(self) -> AbstractAsyncContextManager[Connection]:
        """Open our own client for the event loop that runs now, or have litellm make its clients."""
        model, listed = str(self.model), listed_model(str(self.model))
        if not self.direct:
            return aclosing(LiteLLMConnection(model, self.server()))
        address = self._own_server()
        has_key = address.api_key_env or os.environ.get(DEFAULT_KEY_VARIABLE) or address.base_url != OPENAI_URL
        return self.connect(
            address,
            model=model.removeprefix("openai/"),
            supports_schema=bool(listed.get("supports_response_schema", not listed)),
            unusable=None if has_key else missing_key(model, repr(DEFAULT_KEY_VARIABLE)),
        )

    def server(self) -> dict[str, str]:
        """Return the server's address and key as litellm takes them."""
        given = {} if self.api_base is None else {"api_base": self.api_base}
        if self.api_key_env is not None:
            given["api_key"] = environment_value("api_key_env", self.api_key_env)
        elif self.api_base is not None and _OPENAI_MODEL.match(str(self.model)):
            trusted = may_have_default_key(normalized_base_url(self.api_base, field="api_base"))
            if not trusted or not os.environ.get(DEFAULT_KEY_VARIABLE):
                given["api_key"] = NO_KEY
        return given


def listed_model(model: str) -> Mapping[str, Any]:
    """Return what the table of models in litellm's package says of a model; nothing for one that is not in it."""
    listed = _price_list()
    return listed.get(model) or listed.get(model.partition("/")[2]) or {}


@cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    """Read the price table from its file, as importing litellm takes seconds."""
    path = distribution("litellm").locate_file("litellm/model_prices_and_context_window_backup.json")
    listed: Mapping[str, Mapping[str, Any]] = json.loads(Path(str(path)).read_bytes())
    return listed


def import_litellm() -> ModuleType:
    """Import litellm, without its network look-ups at import, its telemetry and its chatter."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm  # noqa: PLC0415 - takes seconds, and only this engine needs it

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    module: ModuleType = litellm
    return module


def missing_key(model: str, variables: str) -> str:
    """Return the message of the error for a provider without a key: no attempt can succeed."""
    return (
        f"there is no key for {model!r}: set the environment variable {variables}, or name the one that holds the key "
        "in api_key_env"
    )


class LiteLLMConnection:
    """litellm's clients on one event loop."""

    def __init__(self, model: str, address: Mapping[str, str]) -> None:
        self._model = model
        self._address = address
        self._secrets = [value for name, value in address.items() if name == "api_key"]

    @cached_property
    def _litellm(self) -> ModuleType:
        return import_litellm()

    @property
    def supports_schema(self) -> bool:
        """Whether the model supports schemas, by litellm's table of models."""
        return bool(self._litellm.supports_response_schema(model=self._model))

    async def send(self, payload: Mapping[str, Any]) -> Completion:
        """Make one call, with none of litellm's own retries.

        Raises:
            EngineError: If there is no reply.
        """
        try:
            response = await self._litellm.acompletion(
                **{**payload, "messages": list(payload["messages"])}, **self._address, max_retries=0, drop_params=True
            )
        except Exception as error:  # noqa: BLE001 - litellm passes on any error of its providers' clients
            failure = self._failure(error)
        else:
            completion = read_completion(response.model_dump(), self._secrets)
            cost = response._hidden_params.get("response_cost")  # noqa: SLF001 - where litellm keeps the price
            return completion if cost is None else completion.model_copy(update={"cost": float(cost)})
        raise failure  # outside the handler: litellm's own error, which may hold the key, is not chained

    async def aclose(self) -> None:
        """Close the clients that litellm made for this event loop, and forget them."""
        if "_litellm" not in vars(self):
            return
        cached: dict[str, Any] = self._litellm.in_memory_llm_clients_cache.cache_dict
        suffix = f"-{id(asyncio.get_running_loop())}"
        for key in [key for key in cached if str(key).endswith(suffix)]:
            client = cached.pop(key)
            close = getattr(client, "close", None)
            if asyncio.iscoroutinefunction(close):
                await close()

    def _failure(self, error: Exception) -> EngineError:
        """Return evenhand's error for one of litellm's, by its status."""
        # litellm's message leaves out the code in the server's answer; its client's error has it
        sources = [each for each in origins(error) if not isinstance(each, aiohttp.ClientError)]
        codes = [
            code for each in sources if isinstance(code := getattr(each, "code", None), str) and not code.isdecimal()
        ]
        status, text = getattr(error, "status_code", None), " ".join([str(error), *codes[:1]])
        broken = broken_connection(error, self._secrets)
        if broken is not None:
            return broken
        if not isinstance(status, int):
            return read_error(400, f"{type(error).__name__}: {text}", None, self._secrets)
        headers: Any = getattr(error, "litellm_response_headers", None)
        headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
        if _MISSING_KEY.search(text):
            missing = self._litellm.validate_environment(model=self._model).get("missing_keys") or []
            variables = " or ".join(map(repr, missing)) or "that litellm's documentation names for this provider"
            return FatalEngineError(missing_key(self._model, variables), cause="missing_key")
        advice = KEYLESS_ADVICE if status == 401 and self._address.get("api_key") == NO_KEY else ""
        failure = read_error(status, text, headers.get("retry-after"), self._secrets, advice=advice)
        if "LLM Provider NOT provided" in text or isinstance(error.__context__, ImportError):
            return FatalEngineError(str(failure), cause=failure.cause)
        return failure


def broken_connection(error: BaseException, secrets: Iterable[str]) -> EngineError | None:
    """Return the failure below HTTP that an error of litellm or of a unitxt engine was raised from.

    None if there was none, and for a time-out after the connection was made.
    """
    below, kinds = error, set[str]()
    for each in origins(error):
        names = {kind.__name__ for kind in type(each).__mro__}
        if type(each).__module__.partition(".")[0] in _CLIENTS and names & {"ClientError", "RequestError"}:
            below, kinds = each, names
    reached = not kinds & _UNREACHED
    if not kinds or (reached and kinds & {"ServerTimeoutError", "TimeoutException"}):
        return None
    message = f"the connection failed ({type(below).__name__}: {brief(str(below), secrets)})"
    return lost_connection(below, message, reached=reached)
