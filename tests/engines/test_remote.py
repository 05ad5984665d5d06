import asyncio
import math
from contextlib import asynccontextmanager

import pytest

from evenhand.engines.remote import RemoteEngine
from evenhand.errors import (
    InvalidInputError,
    RateLimitedError,
)
from evenhand.votes import Completion
from tests.support.asking import ask, request
from tests.support.judges import remote_judge


class ScriptedTransport:
    """Plays a list of outcomes; keeps the payloads."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.payloads = []
        self.endpoint = {"endpoint": "script"}

    @asynccontextmanager
    async def opened(self, engine):
        yield self

    supports_schema = False

    async def send(self, payload):
        self.payloads.append(payload)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def test_a_request_that_alone_is_refused_for_ever_ends_all_the_same():
    """Some servers answer 429 to a request that is too large, however long one waits, while others go through."""

    class OneIsRefused(ScriptedTransport):
        async def send(self, payload):
            self.payloads.append(payload)
            await asyncio.sleep(0.001)
            if payload["messages"][0]["content"] == "large":
                raise RateLimitedError("too large", retry_after=0.0)
            return Completion(text="Good")

    transport = OneIsRefused()
    judge = remote_judge(transport, max_retries=2, max_in_flight=8)

    async def run():
        async with judge.running():
            large = asyncio.create_task(judge.complete(request("large")))
            number = 0
            while not large.done():
                await judge.complete(request(str(number := number + 1)))
            return large.exception()

    error = asyncio.run(asyncio.wait_for(run(), 20))
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
    transport = ScriptedTransport(Completion(text="Very good."))
    judge = remote_judge(transport, prompt_price=1.0, completion_price=10.0)
    reply = ask(judge, request("Is it good? Say so."))
    assert reply.cost == pytest.approx((5 * 1.0 + 2 * 10.0) / 1e6)  # five words, and two
    assert not reply.counted
