"""The engines as unitxt artifacts: fields, checks, and the judge that they stand for.

Each is an ordinary unitxt ``InferenceEngine`` too: ``infer`` sends its instances through the same journal, limits and
retries as a judge's questions.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Dict, List, Union

from anyio.from_thread import start_blocking_portal

from evenhand.engines import baseline, replay, simulated
from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal, open_journal
from evenhand.engines.litellm import litellm_judge
from evenhand.engines.openai_compatible import openai_compatible_judge
from evenhand.engines.remote import RemoteJudge, RemoteSettings
from evenhand.errors import EngineError, InvalidInputError, ungrouped
from evenhand.unitxt.bases import InferenceEngine, Maybe, TextGenerationInferenceOutput
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

    def to_judge(self) -> JudgeEngine:
        """A fresh judge with this artifact's settings."""
        raise NotImplementedError

    def missing_fields(self) -> List[str]:
        """Fields that the judge needs and that were not given: a catalog entry may leave them to its user."""
        return []

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
        failures = [outcome for outcome in outcomes if isinstance(outcome, EngineError)]
        if failures:
            kept = "" if journal is None else "; the others are journaled, and a second run asks only for what failed"
            raise EngineError(
                f"{len(failures)} of {len(outcomes)} requests to {judge.judge_id!r} failed{kept}. "
                f"The first: {failures[0]}",
                cause=failures[0].cause,
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


class RemoteJudgeArtifact(JudgeEngineArtifact):
    """A judge behind a network; every field is explained in :class:`~evenhand.engines.remote.RemoteSettings`.

    Attributes:
        api_key: Refused, like ``credentials``, and a field only for that: unitxt's own error for an unknown field would
            show the key.
        credentials: Refused.
    """

    model: Maybe[str] = None
    name: Maybe[str] = None
    temperature: Maybe[float] = 0.0
    max_tokens: Maybe[int] = None
    top_p: Maybe[float] = None
    seed: Maybe[int] = None
    stop: Maybe[Union[str, List[str]]] = None
    extra: Maybe[Dict[str, Any]] = None
    structured_output: Any = "auto"
    max_in_flight: int = 64
    requests_per_minute: Maybe[float] = None
    tokens_per_minute: Maybe[float] = None
    timeout: float = 60.0
    max_retries: int = 5
    backoff: float = 0.5
    prompt_price: Maybe[float] = None
    completion_price: Maybe[float] = None
    api_key: Maybe[str] = None
    credentials: Maybe[Dict[str, Any]] = None
    example = ""

    def verify(self) -> None:
        """Refuse keys, then check the rest."""
        for field in ("api_key", "credentials"):
            if getattr(self, field) is not None:
                raise InvalidInputError(
                    f"{field} is not accepted, so that no key can reach a file or a log: put the key into an "
                    "environment variable, and that variable's name into api_key_env"
                )
        super().verify()

    def missing_fields(self) -> List[str]:
        """The model, when it was not given."""
        return ["model"] if self.model is None else []

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
        settings = {field.name: getattr(self, field.name) for field in fields(RemoteSettings)}
        settings["stop"] = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        settings["extra"] = self.extra or {}
        return RemoteSettings(**settings)


class LiteLLMEngine(RemoteJudgeArtifact):
    """A judge of any provider that litellm knows: ``engines.evenhand.litellm[model=openai/gpt-4.1-mini]``.

    Attributes:
        api_base: The server's address, where it is not the provider's own.
        api_key_env: The environment variable that holds the key; None leaves it to litellm.
    """

    api_base: Maybe[str] = None
    api_key_env: Maybe[str] = None
    label: str = "evenhand_litellm"
    example = "engines.evenhand.litellm[model=openai/gpt-4.1-mini]"

    def to_judge(self) -> RemoteJudge:
        """A fresh judge with this artifact's settings."""
        return litellm_judge(self.to_settings(), api_base=self.api_base, api_key_env=self.api_key_env)


class OpenAICompatibleEngine(RemoteJudgeArtifact):
    """A judge on any server that speaks ``/v1/chat/completions``.

    ``engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=…]``

    Attributes:
        base_url: With or without ``/v1``.
        api_key_env: The environment variable that holds the key; None takes ``OPENAI_API_KEY`` when it is set and
            the server is OpenAI's own or on this machine.
        headers_env: The environment variable that holds further headers as a JSON object.
    """

    base_url: Maybe[str] = None
    api_key_env: Maybe[str] = None
    headers_env: Maybe[str] = None
    label: str = "evenhand_openai_compatible"
    example = "engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=qwen3-8b]"

    def missing_fields(self) -> List[str]:
        """The address and the model, where they were not given."""
        return (["base_url"] if self.base_url is None else []) + super().missing_fields()

    def to_judge(self) -> RemoteJudge:
        """A fresh judge with this artifact's settings."""
        settings = self.to_settings()
        return openai_compatible_judge(
            settings, self.base_url or "", api_key_env=self.api_key_env, headers_env=self.headers_env
        )


class BaselineEngine(JudgeEngineArtifact):
    """The embedded judge without a model: text statistics, free, offline. See :mod:`evenhand.engines.baseline`."""

    journal: Maybe[str] = None
    label: str = "evenhand"

    def to_judge(self) -> JudgeEngine:
        """The judge; it has no settings."""
        return baseline.BaselineEngine()


class SimulatedEngine(JudgeEngineArtifact):
    """A judge with known faults; every field is explained in :class:`evenhand.engines.simulated.SimulatedEngine`.

    Attributes:
        quality_by_response: Response text -> its latent quality.
        quality_context: Name of the context that holds the quality (a number, or a JSON list with one a response).
            Without either, a response's quality is a number in [0, 1) that depends on its text alone.
    """

    quality_by_response: Maybe[Dict[str, float]] = None
    quality_context: Maybe[str] = None
    position_preference: float = 0.0
    verbosity_preference: float = 0.0
    noise: float = 0.0
    accuracy: float = 1.0
    tie: float = 1.0
    refusal_rate: float = 0.0
    truncation_rate: float = 0.0
    garbage_rate: float = 0.0
    recovery_rate: float = 0.0
    typical_length: int = 500
    seed: int = 0
    name: Maybe[str] = None
    journal: Maybe[str] = None
    label: str = "evenhand"

    def to_judge(self) -> JudgeEngine:
        """A judge with these preferences and faults."""
        own = {field.name: getattr(self, field.name) for field in fields(simulated.SimulatedEngine)[1:]}
        return simulated.SimulatedEngine(quality=self._quality(), **own)

    def _quality(self) -> Mapping[str, float] | simulated.QualityRule:
        if self.quality_by_response is not None and self.quality_context is not None:
            raise InvalidInputError("quality_by_response and quality_context are both given; the truth has one source")
        if self.quality_by_response is not None:
            return dict(self.quality_by_response)
        if self.quality_context is not None:
            return simulated.quality_from_context(self.quality_context)
        return simulated.quality_of_text


class ReplayEngine(JudgeEngineArtifact):
    """Recorded replies as a judge: ``engines.evenhand.replay[path=run.jsonl]``. See :mod:`evenhand.engines.replay`.

    Attributes:
        path: The recording, a JSONL file.
        name: The judge's name; by default made of the file's.
    """

    path: Maybe[str] = None
    name: Maybe[str] = None
    journal: Maybe[str] = None
    label: str = "evenhand"

    def missing_fields(self) -> List[str]:
        """The recording, when it was not given."""
        return ["path"] if self.path is None else []

    def to_judge(self) -> JudgeEngine:
        """The judge that holds the recording.

        Raises:
            InvalidInputError: If no path is given, or the file is no recording.
        """
        if self.path is None:
            raise InvalidInputError("a replay engine needs a recording: engines.evenhand.replay[path=run.jsonl]")
        return replay.ReplayEngine(self.path, judge_id=self.name)

    def get_engine_id(self) -> str:
        """The same for every recording: what it holds is another judge's."""
        return "replay"


async def _complete_all(
    judge: JudgeEngine, journal: Journal | None, requests: List[Request]
) -> List[Completion | EngineError]:
    """Every request's reply or failure, in order."""
    outcomes: Dict[int, Completion | EngineError] = {}
    calls = Calls(judge, journal)

    async def work(queue: Iterator[tuple[int, Request]]) -> None:
        for place, request in queue:
            try:
                outcomes[place] = await calls.complete(request)
            except EngineError as error:
                outcomes[place] = error

    queue = iter(enumerate(requests))
    async with calls.running(), asyncio.TaskGroup() as group:
        for _ in range(min(judge.concurrency, len(requests))):
            group.create_task(work(queue))
    return [outcomes[place] for place in range(len(requests))]
