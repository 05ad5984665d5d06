import asyncio

import pytest

from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal
from evenhand.errors import (
    FatalEngineError,
    InvalidInputError,
    TransientEngineError,
)
from evenhand.votes import Completion
from tests.support.asking import ask, ask_all, request
from tests.support.judges import ScriptedJudge, http_judge, litellm_judge


def asked(judge):
    return [request.messages[0]["content"] for request in judge.requests]


def test_a_reply_with_a_lone_surrogate_is_journaled_and_the_same_both_times(journal):
    engine = ScriptedJudge(lambda request: Completion(text="Good \ud83d!"))
    assert [ask(engine, journal=journal).text for _ in range(2)] == ["Good \ufffd!"] * 2
    assert len(engine.requests) == 1


def test_identical_requests_in_flight_are_sent_once():
    engine = ScriptedJudge(lambda request: "Good")
    replies = ask_all(engine, [request()] * 5 + [request(sample=1)])
    assert len(engine.requests) == 2
    assert [reply.cached for reply in replies] == [False, True, True, True, True, False]


def test_a_failure_is_everyones_and_is_not_journaled(journal):
    failures = iter([TransientEngineError("down", cause="http_500")])
    engine = ScriptedJudge(lambda request: next(failures, None) or "Good")
    assert [type(outcome) for outcome in ask_all(engine, [request()] * 2, journal=journal)] == [
        TransientEngineError
    ] * 2
    assert (len(engine.requests), journal.count()) == (1, 0)
    assert ask(engine, journal=journal).cached is False


def test_after_a_fatal_error_nothing_more_is_launched_and_the_journal_still_answers(journal):
    ask(ScriptedJudge(["Good"]), request("known"), journal=journal)
    engine = ScriptedJudge(lambda request: FatalEngineError("wrong key", cause="http_401"))
    calls = Calls(engine, journal)
    for _ in range(3):
        with pytest.raises(FatalEngineError, match="wrong key") as caught:
            ask(engine, request("new"), calls=calls)
    assert (caught.value.cause, caught.value.attempts) == ("http_401", 0)
    assert asked(engine) == ["new"]
    assert ask(engine, request("known"), calls=calls).text == "Good"


def test_max_cost_with_an_unknown_price_is_refused_before_the_first_call():
    for engine in (ScriptedJudge([]), http_judge("http://127.0.0.1:9"), litellm_judge("openai/x")):
        with pytest.raises(InvalidInputError, match=r"price of the judge .* is not known.*prompt_price and c"):
            Calls(engine, budget=Budget(max_cost=1.0))
    assert Calls(litellm_judge("openai/gpt-4.1-mini"), budget=Budget(max_cost=1.0))  # has a list
    assert Calls(ScriptedJudge([], identity=False), budget=Budget(max_cost=1.0))  # costs nothing


def test_a_cancelled_waiter_loses_neither_the_reply_nor_the_other_waiters(journal):
    release = asyncio.Event()

    class Slow(ScriptedJudge):
        async def complete(self, request):
            await release.wait()
            return await super().complete(request)

    engine = Slow(lambda request: "Good")
    calls = Calls(engine, journal)

    async def run():
        async with calls.running(grace=5):
            first, second = (asyncio.create_task(calls.complete(request("shared"))) for _ in range(2))
            alone = asyncio.create_task(calls.complete(request("alone")))
            await asyncio.sleep(0.01)
            first.cancel()
            alone.cancel()
            await asyncio.sleep(0)
            release.set()
            return await second

    assert asyncio.run(run()).text == "Good"
    assert sorted(asked(engine)) == ["alone", "shared"]
    assert journal.count() == 2


def test_replies_of_many_slow_calls_are_written_together(tmp_path):
    class Counted(Journal):
        transactions = 0

        def exchange(self, *given, **named):
            self.transactions += 1
            return super().exchange(*given, **named)

    delays = iter([0.3 + 0.004 * number for number in range(96)])
    engine = ScriptedJudge(lambda request: "Good", delay=lambda request: next(delays))
    with Counted(tmp_path / "journal.sqlite3") as journal:
        ask_all(engine, [request(sample=number) for number in range(96)], journal=journal)
        assert journal.count() == 96
        assert journal.transactions < 80  # one for the claims; 10 ms are one for the first 64 replies
