"""Servers that refuse log-probabilities, or so many of them, and a calibrated judge behind HTTP."""

import asyncio
import json
import math

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.engines.base import Request, SheetItem
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.judging.token_probabilities import option_probabilities
from evenhand.parsing import read_sheet
from evenhand.question import Question
from tests.support.asking import ask_all, request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer, Reply
from tests.support.simulated import SimulatedReplies

YES = Reply("Yes", logprobs=[("Yes", -0.25, {"Yes": -0.25, "No": -1.5})])


def by_litellm(base_url, **settings):
    return litellm_judge(**{"max_retries": 0, "timeout": 20.0, **settings}, api_base=base_url)


JUDGES = pytest.mark.parametrize("judge_at", [http_judge, by_litellm], ids=["http", "litellm"])


def one_after_another(judge, requests):
    async def run():
        async with judge.running():
            return [await judge.complete(asked) for asked in requests]

    return asyncio.run(run())


@JUDGES
def test_a_server_without_log_probabilities_is_asked_for_them_once(judge_at):
    with JudgeServer(reply=lambda body: YES, faults=[Fault("unsupported_logprobs")]) as server:
        judge = judge_at(server.base_url)
        replies = one_after_another(judge, [request(text, logprobs=20) for text in "abc"])
        again = one_after_another(judge, [request("d", logprobs=20)])
    assert [(reply.text, reply.logprobs) for reply in [*replies, *again]] == [("Yes", None)] * 4
    assert [seen.status for seen in server.requests] == [400, 200, 200, 200, 200]
    assert [body.get("top_logprobs") for body in server.bodies] == [20, None, None, None, None]
    assert not any("logprobs" in body for body in server.bodies[1:])


@JUDGES
def test_a_server_that_gives_fewer_is_asked_for_five(judge_at):
    with JudgeServer(reply=lambda body: YES, faults=[Fault("too_many_logprobs", most=5)]) as server:
        replies = one_after_another(judge_at(server.base_url), [request(text, logprobs=20) for text in "ab"])
    assert [reply.logprobs[0].top for reply in replies] == [(("Yes", -0.25), ("No", -1.5))] * 2
    assert [body.get("top_logprobs") for body in server.bodies] == [20, 5, 5]


def test_structured_output_and_log_probabilities_may_both_be_refused():
    faults = [Fault("unsupported_schema"), Fault("unsupported_logprobs")]
    with JudgeServer(reply=lambda body: YES, faults=faults) as server:
        asked = [request(text, logprobs=5, response_schema={"type": "object"}) for text in "ab"]
        replies = one_after_another(http_judge(server.base_url), asked)
    assert [reply.text for reply in replies] == ["Yes", "Yes"]
    assert [seen.status for seen in server.requests] == [400, 400, 200, 200]


def sheet(instance, chances):
    """A sheet whose items pass with these chances, by the quality in the context and noise of 1."""
    questions = [
        Question(
            id=f"{instance}/{item}",
            criterion=yes_no_criterion(f"item {item}", "Is it?"),
            responses=("r",),
            mode="check",
            sheet=str(instance),
            sheet_size=len(chances),
        )
        for item in range(len(chances))
    ]
    order = tuple(range(len(chances)))
    items = tuple(SheetItem(place + 1, question, question.present(order)) for place, question in enumerate(questions))
    text = json.dumps({"sheet": instance})
    return Request(({"role": "user", "content": text},), logprobs=20, stage="sheet", items=items)


def test_over_http_the_mean_confidence_is_the_pass_probability_of_a_calibrated_judge():
    truth = {"item 0": 0.5 + 1.0, "item 1": 0.5, "item 2": 0.5 - 1.5}
    engine = SimulatedEngine(quality=lambda question, index: truth[question.criterion.name], noise=1.0)
    # P(yes) = P(quality + z > ½): Φ(1) = .841345, Φ(0) = .5, Φ(−1.5) = .066807 (tables of the normal distribution)
    chances = (0.841345, 0.5, 0.066807)
    simulated = SimulatedReplies(engine)
    requests = [sheet(instance, chances) for instance in range(200)]
    with JudgeServer(reply=simulated) as server:
        replies = ask_all(simulated.in_front_of(http_judge(server.base_url)), requests)
    yes = [0, 0, 0]
    for asked, reply in zip(requests, replies, strict=True):
        answers = read_sheet(reply.text, [("Yes", "No")] * 3, finish_reason=reply.finish_reason)
        for place, answer in enumerate(answers):
            masses = option_probabilities(
                reply.logprobs,
                asked.items[place].presentation.answers,
                answer.match.index,
                text=reply.text,
                span=answer.span,
            )
            assert masses == pytest.approx((chances[place], 1 - chances[place]), abs=1e-6)
            yes[place] += answer.match.index == 0
    for count, chance in zip(yes, chances, strict=True):
        assert abs(count / 200 - chance) < 4 * math.sqrt(chance * (1 - chance) / 200)
