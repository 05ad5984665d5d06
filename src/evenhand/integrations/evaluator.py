"""One callable for the frameworks whose evaluators get an input, an output and the expected output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.judges import Judge, Result
from evenhand.modes.checklist import ChecklistResult
from evenhand.modes.judgements import RubricResult
from evenhand.votes import Verdict

Evaluator = Callable[..., dict[str, Any]]
VOTE = {"judge_id", "order", "sample", "selected_label", "value", "unscored_reason", "error"}


def evaluator(judge: Judge, *, input_name: str = "question") -> Evaluator:
    """Make one callable of a judge, for mlflow, langfuse, phoenix, braintrust, promptfoo and others.

    It takes ``input``, ``output`` and ``expected`` by name, ignores all else, and returns ``score``, ``label``,
    ``reason`` and ``metadata``. What has no score is None with its reason in the metadata, and never 0.

    Args:
        judge: Of one response.
        input_name: The name of the input for the judge; an input that is a mapping is shown by its own names.

    Example:
        >>> rate = evaluator(Judge("criteria.evenhand.direct.relevance", "engines.evenhand.baseline"))
        >>> rate(input="What is the capital of France?", output="It is Paris.")["label"]
        'Barely relevant'
    """

    def rate(*, input: object = None, output: object = None, expected: object = None, **_: object) -> dict[str, Any]:  # noqa: A002 - as frameworks call it
        context = input if isinstance(input, Mapping) else {} if input is None else {input_name: input}
        result = judge.run(response=output, context=context, reference=expected)
        return {"score": result.score, "label": result.label, "reason": result.reason, "metadata": details(result)}

    rate.__name__ = judge.name
    return rate


def details(result: Result) -> dict[str, Any]:
    """Return the details of a result, as plain JSON: why there is no score, its parts, and every vote."""
    parts = _parts(result)
    votes = [
        {"part": name, **vote.model_dump(mode="json", include=VOTE)}
        for name, verdict in parts.items()
        for vote in verdict.votes
    ]
    described = {
        name: {"score": each.score, "label": each.label, "reason": each.reason, "unscored_reason": each.unscored_reason}
        for name, each in parts.items()
    }
    return {"unscored_reason": result.unscored_reason, "parts": described, "votes": votes}


def _parts(result: Result) -> Mapping[str, Verdict]:
    if isinstance(result, ChecklistResult):
        return {each.item.name: each.verdict for each in result.items}
    return result.by_criterion if isinstance(result, RubricResult) else {"": result}
