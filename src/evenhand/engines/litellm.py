"""Every provider that litellm knows. litellm itself is imported when the first call is made: that takes seconds."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import aiohttp

from evenhand.engines.openai_compatible import (
    KEYLESS_ADVICE,
    environment_value,
    lost_connection,
    may_have_default_key,
    normalized_base_url,
)
from evenhand.engines.remote import RemoteJudge, RemoteSettings
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
    MissingDependencyError,
    origins,
)
from evenhand.votes import Completion

CLOSING_SECONDS: Final = 2.0
NO_KEY: Final = "none"  # litellm insists on a key, and a server of one's own needs none
_MISSING_KEY: Final = re.compile(r"(?i)missing credentials|missing [\w ]*api key|unable to locate credentials")
_OPENAI_MODEL: Final = re.compile(r"openai/|(gpt-|chatgpt-|o\d)[^/]*$")
BASE_VARIABLES: Final = ("_API_BASE", "_BASE_URL")

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LiteLLMTransport:
    """A provider that litellm knows, and where its key is found.

    Attributes:
        api_base: The server's address, where it is not the provider's own.
        api_key_env: The environment variable that holds the key, never the key. None leaves it to litellm, which reads
            the provider's own variable (``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY``, …); but ``OPENAI_API_KEY`` is not
            sent to an ``api_base`` that is neither OpenAI's nor on this machine.
    """

    api_base: str | None = None
    api_key_env: str | None = None

    def __post_init__(self) -> None:
        if self.api_base is not None:
            normalized_base_url(self.api_base, field="api_base")
        if self.api_key_env is not None:
            check_variable_name("api_key_env", self.api_key_env)

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The address, where it was given."""
        return {"provider": "litellm", "endpoint": self.api_base}

    @asynccontextmanager
    async def opened(self, settings: RemoteSettings) -> AsyncIterator[LiteLLMConnection]:
        """Clients for the event loop that runs now; litellm makes them, and they are closed at the end."""
        connection = LiteLLMConnection(settings.model, self._address(settings.model))
        try:
            yield connection
        finally:
            await connection.close()

    def _address(self, model: str) -> dict[str, str]:
        address = {}
        if self.api_base is not None:
            address["api_base"] = self.api_base
        if self.api_key_env is not None:
            address["api_key"] = environment_value("api_key_env", self.api_key_env)
        elif self.api_base is not None and _OPENAI_MODEL.match(model):
            trusted = may_have_default_key(normalized_base_url(self.api_base, field="api_base"))
            if not trusted or not os.environ.get("OPENAI_API_KEY"):
                address["api_key"] = NO_KEY
        return address


class LiteLLMJudge(RemoteJudge):
    """A judge behind litellm; an address that the environment prescribes for its provider is part of its identity."""

    def identity(self) -> Mapping[str, Any]:
        """The address, the model and the sampling parameters."""
        model = self.settings.model
        provider = (model.split("/")[0] if "/" in model else "openai").upper()
        prescribed = [os.environ.get(provider + suffix) for suffix in BASE_VARIABLES]
        addresses = [normalized_base_url(address, field=f"{provider}_API_BASE") for address in prescribed if address]
        identity = super().identity()
        return identity if identity["endpoint"] or not addresses else {**identity, "endpoint": addresses[0]}

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars at the prices of the settings, or else of litellm's price list; None for an unlisted model."""
        cost = super().estimated_cost(prompt_tokens, completion_tokens)
        if cost is not None:
            return cost
        listed, model = import_litellm().model_cost, self.settings.model
        prices = listed.get(model) or listed.get(model.partition("/")[2]) or {}
        prompt, reply = prices.get("input_cost_per_token"), prices.get("output_cost_per_token")
        return None if prompt is None or reply is None else float(prompt_tokens * prompt + completion_tokens * reply)


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
        await _stop_logging_worker()
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
    import httpx  # noqa: PLC0415 - where litellm is installed

    raised = [each for each in origins(error) if isinstance(each, aiohttp.ClientError | httpx.RequestError)]
    if not raised:
        return None
    below = raised[-1]
    unreached = (
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.ProxyError,
    )
    timed_out = isinstance(below, aiohttp.ServerTimeoutError | httpx.TimeoutException)
    if timed_out and not isinstance(below, unreached):
        return None
    told = f"the connection failed ({type(below).__name__}: {redact(str(below), secrets)[:SHOWN_CHARACTERS]})"
    return lost_connection(below, told, unreached)


def _code(error: Exception) -> str:
    """The code in the body of the server's answer: litellm's message leaves it out, its client's error has it."""
    for source in origins(error):
        code = None if isinstance(source, aiohttp.ClientError) else getattr(source, "code", None)
        if isinstance(code, str) and not code.isdecimal():
            return code
    return ""


async def _stop_logging_worker() -> None:
    """End the task in which litellm logs its calls: it would outlive the run."""
    try:
        from litellm.litellm_core_utils import logging_worker  # noqa: PLC0415 - as litellm itself
    except ImportError:  # other versions of litellm have none
        return
    worker, loop = logging_worker.GLOBAL_LOGGING_WORKER, asyncio.get_running_loop()
    if getattr(worker, "_bound_loop", None) is not loop:
        return
    try:
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await worker.flush()
        except TimeoutError:
            _logger.debug("litellm's logging did not end within %g seconds", CLOSING_SECONDS)
        if getattr(worker, "_bound_loop", None) is loop:
            await worker.stop()
    except RuntimeError as error:  # there is one for the whole process: another thread's loop has taken it over
        _logger.debug("litellm's logging went on in another event loop: %s", error)
