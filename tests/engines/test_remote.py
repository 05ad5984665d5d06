"""Engines at a server: settings, what a server refuses, and bodies that are read to a bound and unpacked to one."""

import asyncio
import math

import pytest

from evenhand.engines.remote import RemoteEngine
from evenhand.engines.replies import MOST_CHARACTERS, decode_reply, short_enough
from evenhand.errors import InvalidInputError, RateLimitedError, ReplyTooLongError
from evenhand.votes import Completion
from tests.support.asking import ask, ask_all, request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer, Reply


def test_a_request_that_alone_is_refused_for_ever_ends_all_the_same():
    """Some servers answer 429 to a request that is too large, however long one waits, while others go through."""

    async def run(judge):
        async with judge.running():
            large = asyncio.create_task(judge.complete(request("large")))
            number = 0
            while not large.done():
                await judge.complete(request(str(number := number + 1)))
            return large.exception()

    with JudgeServer(reply="Good", faults=[Fault("status", status=429, retry_after=0, match="large")]) as server:
        judge = http_judge(server.base_url, max_retries=2, max_in_flight=8)
        error = asyncio.run(asyncio.wait_for(run(judge), 20))
    assert isinstance(error, RateLimitedError)
    assert error.attempts == 1 + 4 * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": ""},
        {"temperature": -1},
        {"temperature": math.nan},
        {"max_tokens": 0},
        {"top_p": 1.1},
        {"stop": ("",)},
        {"structured_output": "yes"},
        {"max_in_flight": 0},
        {"requests_per_minute": 0},
        {"tokens_per_minute": math.inf},
        {"timeout": 0},
        {"max_retries": -1},
        {"backoff": -0.1},
        {"prompt_price": -1},
        {"extra": {"temperature": 1}},
        {"extra": {"api_key": "x"}},
        {"extra": {"extra_headers": {}}},
        {"extra": {"top_k": math.nan}},
        {"extra": []},
    ],
)
def test_a_setting_that_cannot_be_is_refused(wrong):
    [field] = wrong
    with pytest.raises(InvalidInputError, match=field):
        RemoteEngine(**{"model": "m"} | wrong)


def test_tokens_that_the_server_did_not_count_cost_the_least_that_the_texts_can_have():
    judge = http_judge("http://127.0.0.1:9", prompt_price=1.0, completion_price=10.0)
    reply = judge.priced(Completion(text="Very good."), request("Is it good? Say so.").messages)
    assert reply.cost == pytest.approx((5 * 1.0 + 2 * 10.0) / 1e6)  # five words, and two
    assert not reply.counted


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


@pytest.mark.parametrize("body", [b"[" * 70_000, b"[" * 30_000 + b"]" * 30_000, b"[" + b"1," * 200_000 + b"1]"])
def test_json_that_is_little_but_brackets_and_commas_is_not_read(body):
    with pytest.raises(ReplyTooLongError):
        decode_reply(body)


def test_a_text_longer_than_a_verdict_is_looked_for_in_is_not_read_in_part():
    usage = {"prompt_tokens": 3, "completion_tokens": 9, "cost": 0.5}
    longer = short_enough(Completion(text="Yes" + " " * MOST_CHARACTERS, finish_reason="stop", **usage))
    assert longer == Completion(text=None, finish_reason="too_long", **usage)
    fits = Completion(text="Yes".ljust(MOST_CHARACTERS), finish_reason="stop")
    assert short_enough(fits) is fits
    assert short_enough(Completion(text="Yes", reasoning="x" * (MOST_CHARACTERS + 1))).reasoning is None


def own_judge(server, **settings):
    return http_judge(server.base_url, **{"max_retries": 2, "backoff": 0.001, "timeout": 30.0, **settings})


def test_the_limit_is_a_field_of_the_engine():
    with JudgeServer(reply="Good", faults=[Fault("inflated", size=100_000)]) as server:
        assert ask(own_judge(server)).text == "Good"
        assert ask(own_judge(server, max_reply_bytes=100_000)).text == "Good"
        assert ask(own_judge(server, max_reply_bytes=99_999)).finish_reason == "too_long"
        assert ask(own_judge(server, max_reply_bytes=100)).finish_reason == "too_long"  # as it is sent
    with pytest.raises(InvalidInputError, match="max_reply_bytes is 0"):
        RemoteEngine(model="m", max_reply_bytes=0)


def test_interim_answers_end_with_the_time_of_the_call():
    with JudgeServer(reply="Good", faults=[Fault("informational", size=50)]) as server:
        assert ask(own_judge(server)).text == "Good"


def test_an_errors_body_is_read_to_a_bound():
    body = Fault("status", status=500, message="overloaded " + "x" * 3_000_000, on=[1])
    with JudgeServer(reply="Good", faults=[body]) as server:
        assert ask(own_judge(server)).text == "Good"
    with JudgeServer(faults=[Fault("status", status=400, message="no such thing " + "x" * 3_000_000)]) as server:
        [refused] = ask_all(own_judge(server), [request()])
    assert "no such thing" in str(refused)
    assert len(str(refused)) < 1000
