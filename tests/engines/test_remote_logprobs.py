"""Servers that refuse log-probabilities, or that many of them."""

import asyncio

import pytest

from tests.support.asking import request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer, Reply

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
