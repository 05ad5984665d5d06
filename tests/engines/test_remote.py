import asyncio
import math

import pytest

from evenhand.engines.remote import RemoteEngine
from evenhand.errors import (
    InvalidInputError,
    RateLimitedError,
)
from evenhand.votes import Completion
from tests.support.asking import request
from tests.support.judges import http_judge
from tests.support.server import Fault, JudgeServer


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
