"""Every provider that litellm knows. litellm itself is imported when the first call is made: that takes seconds."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, ClassVar, Final

import aiohttp
from pydantic import field_validator

from evenhand.engines.batch_providers import ANTHROPIC_URL, AnthropicBatches, BatchProvider, OpenAIBatches
from evenhand.engines.batches import BatchableEngine
from evenhand.engines.http import (
    DEFAULT_KEY_HOST,
    KEYLESS_ADVICE,
    UNREACHED,
    ServerAddress,
    environment_value,
    lost_connection,
    may_have_default_key,
    normalized_base_url,
)
from evenhand.engines.replies import (
    CONTENT_FILTER_CODES,
    SHOWN_CHARACTERS,
    check_variable_name,
    filtered_completion,
    read_completion,
    read_error,
    redact,
)
from evenhand.errors import (
    EngineError,
    FatalEngineError,
    InvalidInputError,
    MissingDependencyError,
    origins,
)
from evenhand.options import option
from evenhand.votes import Completion

NO_KEY: Final = "none"  # litellm insists on a key, and a server of one's own needs none
_MISSING_KEY: Final = re.compile(r"(?i)missing credentials|missing [\w ]*api key|unable to locate credentials")
_OPENAI_MODEL: Final = re.compile(r"openai/|(gpt-|chatgpt-|o\d)[^/]*$")
BASE_VARIABLES: Final = ("_API_BASE", "_BASE_URL")

_logger = logging.getLogger(__name__)


class LiteLLMEngine(BatchableEngine):
    """A judge of any provider that litellm knows: ``LiteLLMEngine(model="openai/gpt-4.1-mini")``.

    Its id is ``engines.evenhand.litellm[model=openai/gpt-4.1-mini]``.
    """

    example: ClassVar[str] = "engines.evenhand.litellm[model=openai/gpt-4.1-mini]"

    api_base: str | None = option(None, "The server's address, where it is not the provider's own.")
    api_key_env: str | None = option(
        None,
        "The variable that holds the key. None leaves it to litellm (``ANTHROPIC_API_KEY``, …); ``OPENAI_API_KEY`` "
        "goes to OpenAI and to servers on this machine only.",
    )

    @field_validator("api_base", mode="before")
    @classmethod
    def _check_address(cls, api_base: object) -> object:
        if api_base is not None:
            normalized_base_url(api_base, field="api_base")
        return api_base

    @field_validator("api_key_env", mode="before")
    @classmethod
    def _check_variable(cls, name: object) -> object:
        if name is not None:
            check_variable_name("api_key_env", name)
        return name

    def model_post_init(self, _: object) -> None:
        """Check that the provider has batches, where they are asked for."""
        if self.batch and self.model is not None:
            self.batch_provider()

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The address that was given, or that the environment prescribes for the provider."""
        variables = [self._provider.upper() + suffix for suffix in BASE_VARIABLES]
        prescribed = [address for variable in variables if (address := os.environ.get(variable))]
        addresses = [normalized_base_url(address, field=variables[0]) for address in prescribed]
        return {"provider": "litellm", "endpoint": self.api_base or next(iter(addresses), None)}

    @property
    def _provider(self) -> str:
        return str(self.model).partition("/")[0] if "/" in str(self.model) else "openai"

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return US dollars at the prices given, or else of litellm's price list; None for an unlisted model."""
        cost = self.given_cost(prompt_tokens, completion_tokens)
        if cost is not None:
            return cost
        listed, model = import_litellm().model_cost, str(self.model)
        prices = listed.get(model) or listed.get(model.partition("/")[2]) or {}
        prompt, reply = prices.get("input_cost_per_token"), prices.get("output_cost_per_token")
        return None if prompt is None or reply is None else float(prompt_tokens * prompt + completion_tokens * reply)

    def batch_provider(self) -> BatchProvider:
        """Return the provider's batches, asked without litellm.

        Raises:
            InvalidInputError: If the provider speaks neither OpenAI's batches nor Anthropic's, or needs an address.
        """
        provider = self._provider
        url = self.endpoint["endpoint"] or OWN_BATCHES.get(provider)
        if provider not in OWN_BATCHES or url is None:
            raise InvalidInputError(
                f"model is {self.model!r}, and batch=True sends batches to 'openai/…', 'anthropic/…', and, with "
                "api_base, 'hosted_vllm/…' and 'litellm_proxy/…': leave batch out, or give the address of a server "
                "that speaks OpenAI's batches as the engine (engines.evenhand.openai_compatible)"
            )
        model, variable = str(self.model).removeprefix(f"{provider}/"), f"{provider.upper()}_API_KEY"
        named = self.api_key_env or (variable if provider != "openai" and os.environ.get(variable) else None)
        address = ServerAddress(normalized_base_url(url, field="api_base"), named)
        return AnthropicBatches(address, model) if provider == "anthropic" else OpenAIBatches(address, model)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[LiteLLMConnection]:
        """Have litellm make clients for the event loop that runs now, and close them at the end."""
        connection = LiteLLMConnection(str(self.model), self.server())
        try:
            yield connection
        finally:
            await connection.close()

    def server(self) -> dict[str, str]:
        """Return what litellm is told of the server: its address and its key."""
        given = {} if self.api_base is None else {"api_base": self.api_base}
        if self.api_key_env is not None:
            given["api_key"] = environment_value("api_key_env", self.api_key_env)
        elif self.api_base is not None and _OPENAI_MODEL.match(str(self.model)):
            trusted = may_have_default_key(normalized_base_url(self.api_base, field="api_base"))
            if not trusted or not os.environ.get("OPENAI_API_KEY"):
                given["api_key"] = NO_KEY
        return given


OWN_BATCHES: Final[Mapping[str, str | None]] = {
    "openai": f"https://{DEFAULT_KEY_HOST}/v1",
    "anthropic": ANTHROPIC_URL,
    "hosted_vllm": None,
    "litellm_proxy": None,
}
"""The providers in names of litellm that have batches, and their address where it is always the same."""


def import_litellm() -> ModuleType:
    """litellm, without its network look-ups at import, its telemetry and its chatter.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm  # noqa: PLC0415 - takes seconds, and only this engine needs it
    except ImportError as error:
        raise MissingDependencyError(
            f"the litellm engine needs the package litellm, which cannot be imported ({error}): pip install litellm"
        ) from error
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    module: ModuleType = litellm
    return module


class LiteLLMConnection:
    """litellm's clients on one event loop."""

    def __init__(self, model: str, address: Mapping[str, str]) -> None:
        self._model = model
        self._address = address
        self._litellm: ModuleType | None = None

    def supports_schema(self) -> bool:
        """What litellm's table of models says."""
        return bool(self._imported().supports_response_schema(model=self._model))

    async def send(self, payload: Mapping[str, Any]) -> Completion:
        """One call, with none of litellm's own retries."""
        try:
            response = await self._imported().acompletion(
                **{**payload, "messages": list(payload["messages"])},
                **self._address,
                max_retries=0,
                drop_params=True,
            )
        except Exception as error:  # noqa: BLE001 - litellm passes on whatever its providers' clients raise
            failure = None if self._is_filtered(error) else self._failure(error)
        else:
            completion = read_completion(response.model_dump(), self._secrets())
            cost = response._hidden_params.get("response_cost")  # noqa: SLF001 - where litellm keeps the price
            return completion if cost is None else completion.model_copy(update={"cost": float(cost)})
        if failure is not None:
            raise failure  # outside the handler: litellm's own error, which may hold the key, is not chained
        return Completion(text=None, finish_reason="content_filter")

    async def close(self) -> None:
        """Close the clients that litellm made for this event loop, and forget them."""
        if self._litellm is None:
            return
        cached: dict[str, Any] = self._litellm.in_memory_llm_clients_cache.cache_dict
        suffix = f"-{id(asyncio.get_running_loop())}"
        for key in [key for key in cached if str(key).endswith(suffix)]:
            client = cached.pop(key)
            close = getattr(client, "close", None)
            if asyncio.iscoroutinefunction(close):
                await close()

    def _imported(self) -> ModuleType:
        """Litellm."""
        if self._litellm is None:
            self._litellm = import_litellm()
        return self._litellm

    def _secrets(self) -> list[str]:
        """What no message may show."""
        return [value for name, value in self._address.items() if name == "api_key"]

    def _is_filtered(self, error: Exception) -> bool:
        told = isinstance(error, self._imported().ContentPolicyViolationError) or _code(error) in CONTENT_FILTER_CODES
        return told or filtered_completion(getattr(error, "status_code", 0), str(error)) is not None

    def _without_key(self) -> FatalEngineError:
        """No attempt can succeed before the key is there."""
        missing = self._imported().validate_environment(model=self._model).get("missing_keys") or []
        variables = " or ".join(map(repr, missing)) or "that litellm's documentation names for this provider"
        return FatalEngineError(
            f"litellm finds no key for {self._model!r}: set the environment variable {variables}, or name the one "
            "that holds the key in api_key_env",
            cause="missing_key",
        )

    def _failure(self, error: Exception) -> EngineError:
        """Our error for one of litellm's, told by its status."""
        secrets = self._secrets()
        status = getattr(error, "status_code", None)
        text = f"{error} {_code(error)}".rstrip()
        broken = broken_connection(error, secrets)
        if broken is not None:
            return broken
        if not isinstance(status, int):
            return read_error(400, f"{type(error).__name__}: {text}", None, secrets)
        headers: Any = getattr(error, "litellm_response_headers", None)
        headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
        if _MISSING_KEY.search(text):
            return self._without_key()
        advice = KEYLESS_ADVICE if status == 401 and self._address.get("api_key") == NO_KEY else ""
        failure = read_error(status, text, headers.get("retry-after"), secrets, advice=advice)
        if "LLM Provider NOT provided" in text or isinstance(error.__context__, ImportError):
            return FatalEngineError(str(failure), cause=failure.cause)
        return failure


def broken_connection(error: BaseException, secrets: Iterable[str]) -> EngineError | None:
    """The failure below HTTP that an error of litellm or of a unitxt engine was raised from.

    None where there was none, and for a time-out after the connection was made.
    """
    raised = [each for each in origins(error) if isinstance(each, aiohttp.ClientError) or _httpx_kinds(each)]
    if not raised:
        return None
    below = raised[-1]
    kinds = _httpx_kinds(below)
    unreached = (*UNREACHED, *([type(below)] if kinds & {"ConnectError", "ConnectTimeout", "ProxyError"} else []))
    timed_out = isinstance(below, aiohttp.ServerTimeoutError) or "TimeoutException" in kinds
    if timed_out and not isinstance(below, unreached):
        return None
    told = f"the connection failed ({type(below).__name__}: {redact(str(below), secrets)[:SHOWN_CHARACTERS]})"
    return lost_connection(below, told, unreached)


def _httpx_kinds(error: BaseException) -> set[str]:
    """The classes of a failed request of httpx, or of httpx2, which newer releases of openai use; else nothing."""
    kinds = {kind.__name__ for kind in type(error).__mro__ if kind.__module__.partition(".")[0] in {"httpx", "httpx2"}}
    return kinds if "RequestError" in kinds else set()


def _code(error: Exception) -> str:
    """The code in the body of the server's answer: litellm's message leaves it out, its client's error has it."""
    for source in origins(error):
        code = None if isinstance(source, aiohttp.ClientError) else getattr(source, "code", None)
        if isinstance(code, str) and not code.isdecimal():
            return code
    return ""
