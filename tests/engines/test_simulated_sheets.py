"""What the judges without a model say on sheets of questions, and the log-probabilities that go with it."""

import asyncio
import json
import math

import pytest

from evenhand.engines.base import Request
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.judging.conversation import one_step_schema
from evenhand.judging.token_probabilities import option_probabilities
from evenhand.parsing import match_closest_option
from evenhand.question import Question, choice_criterion


def reply(engine, request):
    return asyncio.run(engine.complete(request))


def best_of(count=3, **more):
    question = Question(
        id="q", criterion=choice_criterion("best", "Which?", count), responses=("a", "b", "c")[:count], mode="choose"
    )
    shown = question.present(tuple(reversed(range(count))), coded=True)
    return Request(messages=(), question=question, presentation=shown, **more)


@pytest.mark.parametrize(
    ("more", "form"),
    [
        ({"stage": "selection"}, "{answer}"),
        ({"stage": "reask"}, "{answer}"),
        ({"stage": "verdict", "reasoning": False}, "{answer}"),
        ({"stage": "verdict", "response_schema": {"type": "object"}}, "{answer}"),
        ({"stage": "verdict", "reasoning": True}, "…\nSelected option: {answer}"),
        ({"stage": "one_step"}, "…\nSelected option: {answer}"),
        ({"stage": "one_step", "response_schema": one_step_schema(("1", "2", "3"))}, "json"),
        ({"stage": "one_step", "response_schema": one_step_schema(("1", "2", "3"), verdict_first=True)}, "json"),
    ],
)
def test_a_choice_is_named_by_its_code_with_its_probabilities_at_every_stage(more, form):
    engine = SimulatedEngine(quality={"a": 0.0, "b": math.log(2), "c": math.log(3)})
    request = best_of(logprobs=20, **more)
    completion = reply(engine, request)
    assert "".join(token.token for token in completion.logprobs) == completion.text
    if form == "json":
        fields = json.loads(completion.text)
        assert list(fields) == list(request.response_schema["properties"])
        answer = fields["selected_option"]
    else:
        answer = completion.text.rpartition(" ")[2]
        assert completion.text.endswith(form.format(answer=answer).lstrip("…"))
    assert answer in ("1", "2", "3")
    read_as = match_closest_option(completion.text, request.presentation.answers).index
    assert request.presentation.answers[read_as] == answer
    found = option_probabilities(completion.logprobs, request.presentation.answers, read_as, text=completion.text)
    # shown as c, b, a: 3 : 2 : 1
    assert found == pytest.approx((3 / 6, 2 / 6, 1 / 6))
