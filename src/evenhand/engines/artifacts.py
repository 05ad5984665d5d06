"""The engines as unitxt artifacts: fields, checks, and the judge that they stand for.

Each is an ordinary unitxt ``InferenceEngine`` too: ``infer`` sends its instances through the same journal, limits and
retries as a judge's questions.
"""

import asyncio
from collections.abc import Iterator
from typing import Any, Dict, List

from anyio.from_thread import start_blocking_portal

from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal, open_journal
from evenhand.errors import EngineError
from evenhand.unitxt_bases import InferenceEngine, TextGenerationInferenceOutput
from evenhand.votes import Completion


class JudgeEngineArtifact(InferenceEngine):
    """A unitxt inference engine that stands for a judge.

    Attributes:
        use_cache: Stays False: unitxt's cache knows no sample index; replies are kept in the journal instead.
        journal: Where ``infer`` keeps replies: ``"default"`` (see
            :func:`~evenhand.engines.journal.default_journal_path`), a path, or None for nowhere. A metric has its own.
    """

    use_cache: bool = False
    journal: str = "default"
    label: str = "evenhand"

    def to_judge(self) -> JudgeEngine:
        """A fresh judge with this artifact's settings."""
        raise NotImplementedError

    def verify(self) -> None:
        """Check the fields by building the judge."""
        super().verify()
        self.to_judge()

    def prepare_engine(self) -> None:
        """Nothing is opened before the first call."""

    def get_engine_id(self) -> str:
        """The judge's name, without dots and dashes as unitxt's ids have it."""
        name = self.to_judge().judge_id.split("/")[-1].replace("-", "_").replace(".", ",").lower()
        return f"{name}_{self.label}"

    def to_request(self, instance: Dict[str, Any]) -> Request:
        """The request that a unitxt instance stands for."""
        return Request(messages=tuple(self.to_messages(instance)))

    def _infer(self, dataset: List[Dict[str, Any]], return_meta_data: bool = False) -> List[Any]:
        judge, journal = self.to_judge(), open_journal(self.journal)
        try:
            requests = [self.to_request(instance) for instance in dataset]
            with start_blocking_portal() as portal:
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
