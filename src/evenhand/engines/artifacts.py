"""The engines as unitxt artifacts: fields, checks, and the judge that they stand for.

Each is an ordinary unitxt ``InferenceEngine`` too: ``infer`` sends its instances through the same journal, limits and
retries as a judge's questions.
"""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Self, Union

from anyio.from_thread import start_blocking_portal

from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.baseline import BaselineJudge
from evenhand.engines.batch_services import BatchService, OpenAIBatches
from evenhand.engines.batches import BatchJudge, BatchSettings
from evenhand.engines.batches_anthropic import ANTHROPIC_URL, AnthropicBatches, is_anthropic
from evenhand.engines.calls import Calls
from evenhand.engines.door import HOSTED
from evenhand.engines.journal import Journal, open_journal
from evenhand.engines.litellm import LiteLLMJudge, LiteLLMTransport
from evenhand.engines.openai_compatible import DEFAULT_KEY_HOST, OpenAICompatibleTransport, normalized_base_url
from evenhand.engines.remote import RemoteJudge, RemoteSettings
from evenhand.engines.replay import ReplayJudge
from evenhand.engines.simulated import (
    QualityRule,
    SimulatedFaults,
    SimulatedJudge,
    quality_from_context,
    quality_of_text,
)
from evenhand.errors import EngineError, InvalidInputError, WithheldError, ungrouped
from evenhand.unitxt.bases import (
    InferenceEngine,
    Maybe,
    TextGenerationInferenceOutput,
    data_classifications_of,
    field_value,
    fields_class,
)
from evenhand.votes import Completion


class JudgeEngineArtifact(InferenceEngine):
    """A unitxt inference engine that stands for a judge.

    Attributes:
        use_cache: Stays False: unitxt's cache knows no sample index; replies are kept in the journal instead.
        journal: Where ``infer`` keeps replies: ``"default"`` (see
            :func:`~evenhand.engines.journal.default_journal_path`), a path, or None for nowhere. A metric has its own.
    """

    use_cache: bool = False
    journal: Maybe[str] = "default"
    label: str = "evenhand"
    needs: ClassVar[List[str]] = []

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, field_value(type(self), name, value))

    def to_judge(self) -> JudgeEngine:
        """A fresh judge with this artifact's settings."""
        raise NotImplementedError

    def changed(self, **fields: Any) -> Self:
        """The same engine with other values of these fields."""
        return type(self)(**{**self._init_dict, **fields})

    def may_see(self) -> Maybe[tuple[str, ...]]:
        """The classifications of the data that the judge may be shown; None for any."""
        return data_classifications_of(self)

    def missing_fields(self) -> List[str]:
        """Fields that the judge needs and that were not given: a catalog entry may leave them to its user."""
        return [name for name in self.needs if getattr(self, name) is None]

    def options_of(self, declared: type) -> Dict[str, Any]:
        """The fields that a dataclass declares, by name."""
        return {field.name: getattr(self, field.name) for field in fields(declared)}

    def verify(self) -> None:
        """Check the fields by building the judge, unless some are still to be given."""
        super().verify()
        if not self.missing_fields():
            self.to_judge()

    def prepare_engine(self) -> None:
        """Nothing is opened before the first call."""

    def get_engine_id(self) -> str:
        """The judge's name in the form of unitxt's engine ids, without the label: metrics add that themselves."""
        return re.sub(r"[^\w,]+", "_", self.to_judge().judge_id.split("/")[-1].replace(".", ",")).lower()

    def to_request(self, instance: Dict[str, Any]) -> Request:
        """The request that a unitxt instance stands for."""
        return Request(messages=tuple(self.to_messages(instance)))

    def _infer(self, dataset: List[Dict[str, Any]], return_meta_data: bool = False) -> List[Any]:
        judge, journal = self.to_judge(), open_journal(self.journal)
        try:
            requests = [self.to_request(instance) for instance in dataset]
            with ungrouped(), start_blocking_portal() as portal:
                outcomes = portal.call(_complete_all, judge, journal, requests)
        finally:
            if journal is not None:
                journal.close()
        failures = [outcome for outcome in outcomes if isinstance(outcome, EngineError | WithheldError)]
        if failures:
            kept = "" if journal is None else "; the others are journaled, and a second run asks only for what failed"
            raise EngineError(
                f"{len(failures)} of {len(outcomes)} requests to {judge.judge_id!r} failed{kept}. "
                f"The first: {failures[0]}",
                cause=getattr(failures[0], "cause", "withheld"),
            ) from failures[0]
        completions = [outcome for outcome in outcomes if isinstance(outcome, Completion)]
        outputs = [self._to_output(completion) for completion in completions]
        return self.get_return_object(outputs, return_meta_data)

    def _to_output(self, completion: Completion) -> TextGenerationInferenceOutput:
        text = completion.text or ""
        return TextGenerationInferenceOutput(
            prediction=text,
            generated_text=text,
            input_tokens=completion.prompt_tokens,
            output_tokens=completion.completion_tokens,
            stop_reason=completion.finish_reason,
            model_name=completion.model,
            inference_type=self.label,
        )

    def get_return_object(self, outputs: List[TextGenerationInferenceOutput], return_meta_data: bool) -> List[Any]:
        """Texts, or with meta data unitxt's outputs."""
        return outputs if return_meta_data else [output.prediction for output in outputs]


if TYPE_CHECKING:

    class BatchFields(JudgeEngineArtifact):
        """How batches are made, as fields."""

        def __getattr__(self, name: str) -> Any: ...

    class RemoteFields(BatchFields):
        """The settings as fields."""

    class SimulatedFields(JudgeEngineArtifact):
        """The faults as fields."""
else:
    BatchFields = fields_class("BatchFields", JudgeEngineArtifact, BatchSettings, module=__name__)
    RemoteFields = fields_class("RemoteFields", BatchFields, RemoteSettings, module=__name__)
    SimulatedFields = fields_class("SimulatedFields", JudgeEngineArtifact, SimulatedFaults, module=__name__)


class RemoteJudgeArtifact(RemoteFields):
    """A judge behind a network.

    Every field is explained in :class:`~evenhand.engines.remote.RemoteSettings` and, those of batches, in
    :class:`~evenhand.engines.batches.BatchSettings`.

    Attributes:
        api_key: Refused, like ``credentials``, and a field only for that: unitxt's own error for an unknown field would
            show the key.
        credentials: Refused.
    """

    api_key: Maybe[str] = None
    credentials: Maybe[Dict[str, Any]] = None
    data_classification_policy = [*HOSTED]
    example = ""
    needs = ["model"]

    def verify(self) -> None:
        """Refuse keys, then check the rest."""
        for field in ("api_key", "credentials"):
            if getattr(self, field) is not None:
                raise InvalidInputError(
                    f"{field} is not accepted, so that no key can reach a file or a log: put the key into an "
                    "environment variable, and that variable's name into api_key_env"
                )
        super().verify()

    def to_settings(self) -> RemoteSettings:
        """The fields as checked, frozen settings.

        Raises:
            InvalidInputError: If a field is missing or cannot be what it is.
        """
        missing = self.missing_fields()
        if missing:
            given = ",".join(f"{name}=…" for name in missing)
            raise InvalidInputError(
                f"{self.get_pretty_print_name()} needs {' and '.join(missing)}: add [{given}] to its id, "
                f"as in {self.example!r}"
            )
        settings = self.options_of(RemoteSettings) | {"stop": self.stop or (), "extra": self.extra or {}}
        return RemoteSettings(**settings)

    def to_judge(self) -> Union[RemoteJudge, BatchJudge]:
        """A fresh judge with this artifact's settings."""
        batches = BatchSettings(**self.options_of(BatchSettings))
        if not batches.batch:
            return self.direct_judge()
        given = {name: getattr(self, name) for name in self._init_dict if name != "__type__"}
        described = {"engine": type(self).__name__, "fields": given}
        return BatchJudge(self.direct_judge(), self.batch_service(), batches, described)

    def direct_judge(self) -> RemoteJudge:
        """A judge that is asked one request at a time."""
        raise NotImplementedError

    def batch_service(self) -> BatchService:
        """The batch interface of its provider."""
        raise NotImplementedError


if TYPE_CHECKING:

    class LiteLLMFields(RemoteJudgeArtifact):
        """The fields of a transport, too."""

    class OpenAICompatibleFields(RemoteJudgeArtifact):
        """The fields of a transport, too."""
else:
    LiteLLMFields = fields_class("LiteLLMFields", RemoteJudgeArtifact, LiteLLMTransport, module=__name__)
    OpenAICompatibleFields = fields_class(
        "OpenAICompatibleFields", RemoteJudgeArtifact, OpenAICompatibleTransport, module=__name__
    )


class LiteLLMEngine(LiteLLMFields):
    """A judge of any provider that litellm knows: ``engines.evenhand.litellm[model=openai/gpt-4.1-mini]``.

    Its fields are those of :class:`~evenhand.engines.remote.RemoteSettings` and of
    :class:`~evenhand.engines.litellm.LiteLLMTransport`.
    """

    label: str = "evenhand_litellm"
    example = "engines.evenhand.litellm[model=openai/gpt-4.1-mini]"

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...

    def direct_judge(self) -> RemoteJudge:
        """A judge that is asked one request at a time."""
        transport = LiteLLMTransport(**self.options_of(LiteLLMTransport))
        return LiteLLMJudge(self.to_settings(), transport, data_classification_policy=self.may_see())

    def batch_service(self) -> BatchService:
        """The provider's batches, asked without litellm.

        Raises:
            InvalidInputError: If the provider speaks neither OpenAI's batches nor Anthropic's, or needs an address.
        """
        provider = self.model.split("/", maxsplit=1)[0] if "/" in self.model else "openai"
        address = self.direct_judge().identity()["endpoint"] or OWN_BATCHES.get(provider)
        if provider not in OWN_BATCHES or address is None:
            raise InvalidInputError(
                f"model is {self.model!r}, and batch=True sends batches to 'openai/…', 'anthropic/…', and, with "
                "api_base, 'hosted_vllm/…' and 'litellm_proxy/…': leave batch out, or give the address of a server "
                "that speaks OpenAI's batches as the engine (engines.evenhand.openai_compatible)"
            )
        model, variable = self.model.partition("/")[2] or self.model, f"{provider.upper()}_API_KEY"
        named = self.api_key_env or (variable if provider != "openai" and os.environ.get(variable) else None)
        there = OpenAICompatibleTransport(address, api_key_env=named)
        return AnthropicBatches(there, model) if provider == "anthropic" else OpenAIBatches(there, model)


class OpenAICompatibleEngine(OpenAICompatibleFields):
    """A judge on vLLM, SGLang, Ollama, llama.cpp, TGI, LM Studio, OpenAI, or what else speaks their protocol.

    ``engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=…]``; its fields are those of
    :class:`~evenhand.engines.remote.RemoteSettings` and of
    :class:`~evenhand.engines.openai_compatible.OpenAICompatibleTransport`.
    """

    label: str = "evenhand_openai_compatible"
    example = "engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=qwen3-8b]"
    needs = ["base_url", "model"]

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...

    def verify(self) -> None:
        """Refuse an address with a password or a key in it, also before the model is given; then check the rest."""
        super().verify()
        if self.base_url is not None:
            normalized_base_url(self.base_url)

    def direct_judge(self) -> RemoteJudge:
        """A judge that is asked one request at a time."""
        return RemoteJudge(self.to_settings(), self._transport(), data_classification_policy=self.may_see())

    def batch_service(self) -> BatchService:
        """Message batches at Anthropic, OpenAI's batches elsewhere."""
        transport = self._transport()
        if self.batch_api == "anthropic" or (self.batch_api == "auto" and is_anthropic(transport.base_url)):
            return AnthropicBatches(transport)
        return OpenAIBatches(transport)

    def _transport(self) -> OpenAICompatibleTransport:
        return OpenAICompatibleTransport(**self.options_of(OpenAICompatibleTransport))


class BaselineEngine(JudgeEngineArtifact):
    """The embedded judge without a model: text statistics, free, offline. See :mod:`evenhand.engines.baseline`."""

    journal: Maybe[str] = None

    def to_judge(self) -> JudgeEngine:
        """The judge; it has no settings."""
        return BaselineJudge(data_classification_policy=self.may_see())


class SimulatedEngine(SimulatedFields):
    """A judge with known faults, each of which is explained in :class:`~evenhand.engines.simulated.SimulatedFaults`.

    Attributes:
        quality: Where the truth comes from: response text -> latent quality, or a function of the question and of the
            response's index. Without this and the two below, a response's quality is a number in [0, 1) that depends
            on its text alone.
        quality_by_response: Response text -> its latent quality.
        quality_context: Name of the context that holds the quality (a number, or a JSON list with one per response).
    """

    quality: Any = None
    quality_by_response: Maybe[Dict[str, float]] = None
    quality_context: Maybe[str] = None
    journal: Maybe[str] = None

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...

    def to_judge(self) -> SimulatedJudge:
        """A judge with these preferences and faults."""
        faults = self.options_of(SimulatedFaults)
        return SimulatedJudge(quality=self._quality(), data_classification_policy=self.may_see(), **faults)

    def _quality(self) -> Union[Mapping[str, float], QualityRule]:
        sources = ("quality", "quality_by_response", "quality_context")
        given = [name for name in sources if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInputError(f"{' and '.join(given)} are both given; the truth has one source")
        if self.quality_context is not None:
            return quality_from_context(self.quality_context)
        known = self.quality if self.quality_by_response is None else self.quality_by_response
        return quality_of_text if known is None else known


class ReplayEngine(JudgeEngineArtifact):
    """Recorded replies as a judge: ``engines.evenhand.replay[path=run.jsonl]``. See :mod:`evenhand.engines.replay`.

    Attributes:
        path: The recording, a JSONL file.
        name: The judge's name; by default made of the file's.
    """

    path: Maybe[str] = None
    name: Maybe[str] = None
    journal: Maybe[str] = None
    needs = ["path"]

    def to_judge(self) -> JudgeEngine:
        """The judge that holds the recording.

        Raises:
            InvalidInputError: If no path is given, or the file is no recording.
        """
        if self.path is None:
            raise InvalidInputError("a replay engine needs a recording: engines.evenhand.replay[path=run.jsonl]")
        return ReplayJudge(self.path, judge_id=self.name, data_classification_policy=self.may_see())

    def get_engine_id(self) -> str:
        """The same for every recording: what it holds is another judge's."""
        return "replay"


OWN_BATCHES: Dict[str, Maybe[str]] = {
    "openai": f"https://{DEFAULT_KEY_HOST}/v1",
    "anthropic": ANTHROPIC_URL,
    "hosted_vllm": None,
    "litellm_proxy": None,
}
"""The providers in names of litellm that have batches, and their address where it is always the same."""


async def _complete_all(
    judge: JudgeEngine, journal: Journal | None, requests: List[Request]
) -> List[Completion | EngineError | WithheldError]:
    """Every request's reply or failure, in order."""
    outcomes: Dict[int, Completion | EngineError | WithheldError] = {}
    calls = Calls(judge, journal)

    async def work(queue: Iterator[tuple[int, Request]]) -> None:
        for place, request in queue:
            try:
                outcomes[place] = await calls.complete(request)
            except (EngineError, WithheldError) as error:
                outcomes[place] = error

    queue = iter(enumerate(requests))
    async with calls.running(), asyncio.TaskGroup() as group:
        for _ in range(min(judge.concurrency, len(requests))):
            group.create_task(work(queue))
    return [outcomes[place] for place in range(len(requests))]
