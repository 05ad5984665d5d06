"""inspect_ai: a judge as a scorer, and inspect's own models, roles and cache as the engine of a judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from evenhand.engines.base import Request
from evenhand.errors import EngineError, InvalidInputError, MissingDependencyError
from evenhand.integrations.evaluator import details
from evenhand.judges import Judge
from evenhand.votes import Completion, TokenLogprob

try:
    from inspect_ai import model as models
    from inspect_ai import scorer as scorers
    from inspect_ai.solver import TaskState
except ImportError as error:
    raise MissingDependencyError("inspect_ai is not installed: pip install 'evenhand[inspect]'") from error

_inspects_loop: ContextVar[asyncio.AbstractEventLoop] = ContextVar("_inspects_loop")
"""The event loop of the evaluation, to which inspect's models are bound."""


def scorer(judge: Judge, *, context: Callable[[TaskState], Mapping[str, Any]] | None = None) -> scorers.Scorer:
    """Make a scorer of a judge; a sample on which there is no verdict is unscored, and in no metric.

    Args:
        judge: Of one response.
        context: What the judge is shown of a sample; by default its input, as ``question``. Its target is shown too,
            as ``reference``, where it has one.
    """

    @scorers.scorer(metrics=[scorers.mean(), scorers.stderr()], name=judge.name)  # type: ignore[untyped-decorator] # inspect is not followed
    def judged() -> scorers.Scorer:
        async def score(state: TaskState, target: scorers.Target) -> scorers.Score:
            _inspects_loop.set(asyncio.get_running_loop())
            shown = {"question": state.input_text} if context is None else context(state)
            answer = state.output.completion
            result = await judge(response=answer, context=shown, reference=target.text or None)
            shown = {"explanation": result.reason, "metadata": {"label": result.label, **details(result)}}
            if result.score is not None:
                return scorers.Score(value=result.score, answer=answer, **shown)
            return scorers.Score.unscored(reason=result.unscored_reason or "not_applicable", answer=answer, **shown)

        return score

    return judged()


def engine(model: str | models.Model | None, *, cache: bool | models.CachePolicy = False) -> InspectEngine:
    """Let one of inspect's models judge within :func:`scorer`, with inspect's retries, limits, cache and log.

    Args:
        model: Its name, or a model such as ``get_model(role="grader")``.
        cache: Whether, or how, inspect keeps replies.
    """
    policy = models.CachePolicy() if cache is True else cache
    return InspectEngine(models.get_model(model), policy or None)


@dataclass(frozen=True)
class InspectEngine:
    """A model of inspect as an engine."""

    model: models.Model
    cache: models.CachePolicy | None

    @property
    def judge_id(self) -> str:
        """The model's name."""
        return str(self.model)

    @property
    def concurrency(self) -> int:
        """The number of connections that the model allows, if it is known."""
        return self.model.config.max_connections or 10

    def identity(self) -> Mapping[str, Any]:
        """Return the model, its server and its parameters."""
        parameters = self.model.config.model_dump(mode="json", exclude_none=True)
        return {"inspect_ai": self.judge_id, "endpoint": self.model.api.base_url, "sampling": parameters}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold nothing."""
        yield

    async def complete(self, request: Request) -> Completion:
        """Return the reply of the model, in inspect's event loop."""
        loop = _inspects_loop.get(None)
        if loop is None:
            raise InvalidInputError(f"the model {self.judge_id!r} of inspect answers within scorer(judge) only")
        try:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._generate(request), loop))
        except Exception as error:
            raise EngineError(f"{self.judge_id!r}: {error}", cause=type(error).__name__) from error

    async def _generate(self, request: Request) -> Completion:
        said = {"user": models.ChatMessageUser, "assistant": models.ChatMessageAssistant}
        messages = [said[each["role"]](content=each["content"]) for each in request.messages]
        config = models.GenerateConfig(logprobs=bool(request.logprobs) or None, top_logprobs=request.logprobs or None)
        cache: bool | models.CachePolicy = False
        if self.cache is not None:  # else the second draw of a prompt would be the first
            scopes = {**self.cache.scopes, "evenhand_sample": str(request.sample)}
            cache = self.cache.model_copy(update={"scopes": scopes})
        return _completion(await self.model.generate(messages, config=config, cache=cache))


def _completion(output: models.ModelOutput) -> Completion:
    choice, usage = output.choices[0] if output.choices else None, output.usage
    stopped = choice.stop_reason if choice else "unknown"
    tokens = choice.logprobs.content if choice and choice.logprobs else ()
    return Completion(
        text=output.completion,
        finish_reason={"max_tokens": "length", "model_length": "length"}.get(stopped, stopped),
        prompt_tokens=usage and usage.total_tokens - usage.output_tokens,
        completion_tokens=usage and usage.output_tokens,
        cost=usage and usage.total_cost,
        model=output.model,
        logprobs=tuple(map(_logprob, tokens)) or None,
    )


def _logprob(given: models.Logprob) -> TokenLogprob:
    top = tuple((each.token, each.logprob) for each in given.top_logprobs or ())
    return TokenLogprob(token=given.token, logprob=given.logprob, top=top)
