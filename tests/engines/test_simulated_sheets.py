"""What the judges without a model say on sheets of questions, and the log-probabilities that go with it."""

import asyncio
import json
import math

import numpy as np
import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.engines.base import Request, SheetItem
from evenhand.engines.simulated import SimulatedEngine, quality_from_context
from evenhand.judging.conversation import one_step_schema
from evenhand.judging.token_probabilities import option_probabilities
from evenhand.parsing import match_closest_option, read_sheet
from evenhand.question import Question, choice_criterion


def check(item, count, *, instance=0):
    return Question(
        id=f"{instance}/{item}",
        criterion=yes_no_criterion(f"item {item}", f"Is it {item}?"),
        responses=("r",),
        mode="check",
        sheet=f"sheet {instance}",
        sheet_size=count,
        context={"truth": json.dumps({f"item {item}": item / 10 for item in range(10)})},
    )


def sheet_request(count, *, order=None, instance=0, coded=False, numbers=None, **more):
    order = tuple(range(count)) if order is None else order
    questions = [check(item, count, instance=instance) for item in range(count)]
    items = tuple(
        SheetItem(place + 1, questions[own], questions[own].present(order, coded=coded))
        for place, own in enumerate(order)
        if numbers is None or place + 1 in numbers
    )
    return Request(messages=(), items=items, **{"stage": "sheet", "reasoning": False, **more})


def reply(engine, request):
    return asyncio.run(engine.complete(request))


def read(request, completion):
    return read_sheet(
        completion.text,
        [item.presentation.answers for item in request.items],
        finish_reason=completion.finish_reason,
        numbers=[item.number for item in request.items],
    )


NOISY = SimulatedEngine(quality=quality_from_context("truth"), noise=0.25)


def masses(request, completion):
    return [
        option_probabilities(
            completion.logprobs,
            item.presentation.answers,
            answer.match.index,
            text=completion.text,
            span=answer.span,
        )
        for item, answer in zip(request.items, read(request, completion), strict=True)
    ]


def test_confidence_is_calibrated():
    """The mean confidence, and the share of yes, are the pass probability within Monte Carlo error."""
    yes, confidence, known = [], [], []
    for instance in range(300):
        request = sheet_request(4, instance=instance, logprobs=5)
        completion = reply(NOISY, request)
        for answer, found, item in zip(
            read(request, completion), masses(request, completion), request.items, strict=True
        ):
            yes.append(answer.match.index == 0)
            confidence.append(found[0] / sum(found))
            known.append(NOISY.choice_probabilities(item.question, (0, 1, 2, 3))[0])
    assert confidence == pytest.approx(known)
    # qualities 0, .1, .2, .3 and noise .25: P(z > 2, 1.6, 1.2, .8) = .02275, .05480, .11507, .21186, mean .10112
    assert np.mean(known) == pytest.approx(0.10112, abs=1e-5)
    spread = math.sqrt(sum(share * (1 - share) for share in known)) / len(known)
    assert abs(np.mean(yes) - np.mean(known)) < 4 * spread


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
