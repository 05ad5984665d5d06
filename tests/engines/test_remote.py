import asyncio
import math
from contextlib import asynccontextmanager

import pytest

from evenhand.engines.calls import Calls
from evenhand.engines.remote import RemoteEngine
from evenhand.engines.replies import read_error
from evenhand.errors import (
    EngineError,
    FatalEngineError,
    InvalidInputError,
    RateLimitedError,
    RejectedRequestError,
    TransientEngineError,
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


def test_backoff_doubles_up_to_a_ceiling(monkeypatch):
    slept = []

    async def rest(_, seconds):
        slept.append(seconds)

    monkeypatch.setattr("evenhand.engines.limits.Gate.rest", rest)
    monkeypatch.setattr("evenhand.engines.remote.random.uniform", lambda _, high: high)
    transport = ScriptedTransport(*[TransientEngineError("down")] * 9, Completion(text="Good"))
    ask(remote_judge(transport, backoff=1, max_retries=9))
    assert slept == [1, 2, 4, 8, 16, 30, 30, 30, 30]


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


def script_of(status, body="no such thing"):
    """One request is refused, the others are answered; the judge and what each of them brings."""
    transport = ScriptedTransport(Completion(text="Good"), read_error(status, body), Completion(text="Good"))
    judge = remote_judge(transport)
    calls = Calls(judge)

    async def run():
        async with calls.running():
            outcomes = []
            for text in "abc":
                try:
                    outcomes.append(await calls.complete(request(text)))
                except EngineError as error:
                    outcomes.append(error)
            return outcomes

    return asyncio.run(run())


@pytest.mark.parametrize("status", [403, 404])
def test_a_refusal_after_a_reply_costs_one_request(status):
    first, refused, last = script_of(status)
    assert (first.text, last.text) == ("Good", "Good")
    assert (type(refused), refused.cause) == (RejectedRequestError, f"http_{status}")


@pytest.mark.parametrize("status", [401, 402])
def test_a_refused_key_is_the_end_at_any_time(status):
    _, *refused = script_of(status)
    assert [type(outcome) for outcome in refused] == [FatalEngineError] * 2


def test_the_identity_holds_what_a_reply_depends_on_and_nothing_else():
    given = {"name": "n", "temperature": 0.5, "seed": 3, "stop": "x", "extra": {"top_k": 1}, "timeout": 9}
    assert remote_judge(ScriptedTransport(), **given, max_retries=1).identity() == {
        "endpoint": "script",
        "sampling": {"model": "m", "temperature": 0.5, "seed": 3, "stop": ["x"], "top_k": 1},
        "structured_output": "auto",
    }


def test_no_schema_is_sent_where_the_transport_knows_better():
    transport = ScriptedTransport(Completion(text="Yes"))
    ask(remote_judge(transport), request(response_schema={"type": "object"}))
    assert "response_format" not in transport.payloads[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": ""},
        {"model": " "},
        {"temperature": -1},
        {"temperature": "0"},
        {"temperature": math.nan},
        {"max_tokens": 0},
        {"max_tokens": 1.5},
        {"top_p": 1.1},
        {"seed": 0.5},
        {"stop": ("",)},
        {"structured_output": "yes"},
        {"max_in_flight": 0},
        {"max_in_flight": None},
        {"max_in_flight": True},
        {"requests_per_minute": 0},
        {"requests_per_minute": -1},
        {"tokens_per_minute": math.inf},
        {"timeout": 0},
        {"timeout": None},
        {"max_retries": -1},
        {"backoff": -0.1},
        {"prompt_price": -1},
        {"extra": {"temperature": 1}},
        {"extra": {"n": 2}},
        {"extra": {"api_key": "x"}},
        {"extra": {"extra_headers": {}}},
        {"extra": {"top_k": math.nan}},
        {"extra": {"set": {1}}},
        {"extra": []},
    ],
)
def test_a_setting_that_cannot_be_is_refused(wrong):
    [field] = wrong
    with pytest.raises(InvalidInputError, match=field):
        RemoteEngine(**{"model": "m"} | wrong)


def test_extra_parameters_that_only_sound_like_secrets_are_accepted():
    assert RemoteEngine(model="m", extra={"max_completion_tokens": 5}).sampling()["max_completion_tokens"] == 5


def test_tokens_that_the_server_did_not_count_cost_the_least_that_the_texts_can_have():
    transport = ScriptedTransport(Completion(text="Very good."))
    judge = remote_judge(transport, prompt_price=1.0, completion_price=10.0)
    reply = ask(judge, request("Is it good? Say so."))
    assert reply.cost == pytest.approx((5 * 1.0 + 2 * 10.0) / 1e6)  # five words, and two
    assert not reply.counted


def test_cancelling_gives_the_place_back():
    class Hanging(ScriptedTransport):
        async def send(self, payload):
            if payload["messages"][0]["content"] == "hang":
                await asyncio.Event().wait()
            return Completion(text="Good")

    judge = remote_judge(Hanging(), max_in_flight=1)

    async def run():
        async with judge.running():
            hanging = asyncio.create_task(judge.complete(request("hang")))
            await asyncio.sleep(0.01)
            waiting = asyncio.create_task(judge.complete(request("next")))
            await asyncio.sleep(0.01)
            hanging.cancel()
            return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(run()).text == "Good"
