"""A server that is away, or never answers: the queue waits, one call at a time looks, and the run ends after a time."""

import asyncio
import json
import threading
import time
from collections import Counter

import pytest

import evenhand
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls
from evenhand.engines.limits import Breaker
from evenhand.errors import (
    BudgetExhaustedError,
    ConnectionLostError,
    EngineError,
    ServerAwayError,
    TransientEngineError,
    UnreachableError,
)
from evenhand.results.notes import Spending
from tests.support.asking import ask_all, request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer

REFUSED = ConnectionLostError("refused")
BROKEN_OFF = ConnectionLostError("reset", reached=True)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def failing(error, patience=None, *, reached=True):
    """An open breaker on a clock that a test moves."""
    clock = Clock()
    breaker = Breaker("judge", patience, clock)
    if reached:
        breaker.answered()
    while not breaker.is_open:
        breaker.failed(error, clock.now)
    return breaker, clock


def probes(breaker, clock):
    """When each probe leaves, in seconds since the circuit opened, until nothing is sent any more."""
    start, left = clock.now, []
    while breaker.ended is None:
        clock.now = max(clock.now, breaker.probe_at)
        left.append(round(clock.now - start, 2))
        breaker.let_through(clock.now)
        breaker.failed(REFUSED, clock.now)
    return left


def test_connections_that_are_not_made_open_it_sooner_than_those_that_break_off():
    for error, enough in ((REFUSED, 3), (BROKEN_OFF, 8)):
        breaker = Breaker()
        for _ in range(enough - 1):
            breaker.failed(error, 0.0)
        assert not breaker.is_open
        breaker.failed(error, 0.0)
        assert breaker.is_open


def test_an_answer_between_failures_starts_the_count_again():
    breaker = Breaker()
    for _ in range(20):
        breaker.failed(REFUSED, 0.0)
        breaker.failed(REFUSED, 0.0)
        breaker.answered()
    assert not breaker.is_open


def test_pauses_double_up_to_five_seconds_and_the_last_probe_leaves_when_the_patience_ends():
    breaker, clock = failing(REFUSED, 20)
    assert probes(breaker, clock) == [0.25, 0.75, 1.75, 3.75, 7.75, 12.75, 17.75, 20.0]
    assert isinstance(breaker.ended, UnreachableError)
    assert "away for 20 seconds (patience=20)" in str(breaker.ended)


def test_the_patience_is_five_minutes_after_an_answer_and_a_second_before_one():
    assert probes(*failing(REFUSED))[-1] == 300.0
    breaker, clock = failing(REFUSED, reached=False)
    assert probes(breaker, clock)[-1] == 1.0
    assert "cannot be reached: refused. Check the address" in str(breaker.ended)
    assert probes(*failing(REFUSED, 60, reached=False))[-1] == 60.0  # asked for
    breaker, clock = failing(REFUSED, 0)
    assert breaker.ended is not None


NO_REPLY = TransientEngineError("no reply within 60 seconds", cause="timeout")


def test_calls_without_a_reply_in_time_open_it_and_four_more_end_it():
    clock = Clock()
    breaker = Breaker("judge", None, clock)
    for number in range(8):
        assert not breaker.is_open
        breaker.timed_out(NO_REPLY, number, first=True)
    left = 0
    while breaker.ended is None:
        assert breaker.is_open
        clock.now = breaker.probe_at
        breaker.let_through(clock.now)
        breaker.timed_out(NO_REPLY, clock.now, first=True)
        left += 1
    assert left == 4
    assert "4 calls after them; the last time, no reply within 60 seconds" in str(breaker.ended)


def test_one_call_that_is_never_answered_in_time_opens_nothing_and_an_answer_starts_the_count_again():
    breaker = Breaker()
    for attempt in range(100):
        breaker.timed_out(NO_REPLY, attempt, first=attempt == 0)
    for number in range(6):
        breaker.timed_out(NO_REPLY, number, first=True)
    breaker.answered()
    for number in range(7):
        breaker.timed_out(NO_REPLY, number, first=True)
    assert not breaker.is_open


def test_a_patience_that_was_given_holds_for_time_outs_too():
    clock = Clock()
    breaker = Breaker("judge", 600, clock)
    for number in range(8):
        breaker.timed_out(NO_REPLY, number, first=True)
    for _ in range(20):
        clock.now = breaker.probe_at
        breaker.let_through(clock.now)
        breaker.timed_out(NO_REPLY, clock.now, first=True)
    assert breaker.ended is None
    clock.now += 600
    breaker.let_through(clock.now)
    breaker.timed_out(NO_REPLY, clock.now, first=True)
    assert breaker.ended is not None


def test_calls_that_left_before_tell_nothing_new_and_an_answer_to_one_closes_it():
    breaker, clock = failing(REFUSED, 20)
    before = breaker.probe_at
    for _ in range(50):
        breaker.failed(REFUSED, clock.now - 5)
    assert breaker.probe_at == before
    breaker.answered()
    assert not breaker.is_open


def test_a_probe_that_ends_without_an_answer_is_followed_by_another():
    breaker, clock = failing(REFUSED, 20)
    clock.now = breaker.probe_at
    breaker.let_through(clock.now)
    assert breaker.probing
    breaker.left(clock.now - 1)  # another call, of before
    assert breaker.probing
    breaker.left(clock.now)
    assert not breaker.probing
    assert breaker.probe_at > clock.now


def judge_of(kind, server, **settings):
    given = {"timeout": 10.0, "max_in_flight": 8, "backoff": 0.01, "max_retries": 2, **settings}
    if kind == "own":
        return http_judge(server.base_url, **given)
    return litellm_judge(model="openai/judge", **given, api_base=server.base_url)


def bought(server):
    """How many replies to each request were sent in full."""
    return Counter(json.dumps(seen.body["messages"]) for seen in server.requests if seen.status == 200)


@pytest.mark.parametrize("kind", ["own", "litellm"])
def test_a_server_that_goes_away_in_the_middle_costs_no_call(kind, tmp_path, caplog, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    away = Fault("away", on=[20], seconds=2.0)
    with JudgeServer(reply="Good", latency=0.02, faults=[away]) as server:
        with evenhand.engines.journal.Journal(tmp_path / "j.sqlite3") as journal:
            judge = judge_of(kind, server)
            outcomes = ask_all(judge, [request(f"judge {number}") for number in range(60)], journal=journal)
        assert {outcome.text for outcome in outcomes} == {"Good"}
        assert set(bought(server).values()) == {1}
    told = [record.message for record in caplog.records if record.name == "evenhand.engines.limits"]
    assert len(told) == 2, told
    assert "the server is away" in told[0]
    assert "300 seconds (patience)" in told[0]
    assert "is back" in told[1]


def test_a_gateway_with_nothing_behind_it_is_a_server_that_is_away():
    gateway = Fault("status", status=502, on=range(10, 21))
    with JudgeServer(reply="Good", latency=0.01, faults=[gateway]) as server:
        outcomes = ask_all(judge_of("own", server), [request(f"judge {number}") for number in range(40)])
    assert {getattr(outcome, "text", outcome) for outcome in outcomes} == {"Good"}


def test_one_request_that_breaks_its_connection_ends_by_itself():
    """It may be what breaks the server; the others are answered, and the run goes on."""
    with JudgeServer(reply="Good", faults=[Fault("cut", match="poison")]) as server:
        asked = [request(f"judge {number}") for number in range(10)] + [request("poison")]
        *others, poison = ask_all(judge_of("own", server), asked)
        assert sum(seen.body["messages"][0]["content"] == "poison" for seen in server.requests) == 3
    assert {outcome.text for outcome in others} == {"Good"}
    assert (poison.cause, poison.attempts) == ("connection", 3)
    assert not isinstance(poison, UnreachableError)


WENT_AWAY = r"(?s)away for .* \(patience=0.6\).*of 40 votes came.*run the same"
ROWS = [{"answer": f"It is {number}."} for number in range(20)]  # each in two orders


def test_a_server_that_stays_away_ends_the_run_however_few_votes_are_left(tmp_path):
    journal = str(tmp_path / "j.sqlite3")

    def assess(server, **settings):
        judge = http_judge(server.base_url, max_in_flight=4, max_retries=3, **settings)
        options = {"response_fields": "answer", "journal": journal, "progress": False, "flow": "verdict_only"}
        return evenhand.judge(ROWS, "Is it right? Yes or no.", judge, max_failure_rate=1.0, **options)

    with JudgeServer(reply="Yes", latency=0.01, faults=[Fault("away", on=[38], seconds=60)]) as server:
        with pytest.raises(ServerAwayError, match=WENT_AWAY) as caught:
            assess(server, patience=0.6)
        port, paid = int(server.base_url.split(":")[2].split("/")[0]), sum(bought(server).values())
    came = [vote for row in caught.value.votes for vote in row if vote.scored]
    assert paid >= len(came) >= 34
    with JudgeServer(reply="Yes", port=port) as server:
        table = assess(server)
        assert server.seen == 40 - paid
    assert all(vote.scored for cell in table.cells() for vote in cell.votes)


@pytest.mark.parametrize("answered", [0, 20])
@pytest.mark.parametrize("in_flight", [4, 64])
@pytest.mark.parametrize("kind", ["own", "litellm"])
def test_a_server_that_takes_requests_and_answers_none_ends_the_run(kind, in_flight, answered, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    rows = [{"answer": f"It is {number}."} for number in range(60)]  # each in two orders
    options = {"response_fields": "answer", "progress": False, "flow": "verdict_only", "max_failure_rate": 1.0}
    options["journal"] = str(tmp_path / "j.sqlite3")
    with JudgeServer(reply="Yes", faults=[Fault("hang", on=range(answered + 1, 10_000))]) as server:
        judge = judge_of(kind, server, timeout=1.0, max_in_flight=in_flight)
        with pytest.raises(ServerAwayError, match=r"(?s)answered none.*of 120 votes came.*run the same") as ended:
            evenhand.judge(rows, "Is it right? Yes or no.", judge, **options)
        assert server.seen <= answered + in_flight + 30
        server.clear_faults()
        votes = [vote for row in ended.value.votes for vote in row]
        came = sum(vote.scored for vote in votes)
        assert answered - 5 <= came <= answered  # a reply may come too late where the machine is busy
        spent = Spending.of(votes)
        assert answered < spent.requests <= answered + in_flight + 30
        assert spent.lost == spent.requests - came  # all that brought no reply may be billed
        before = server.seen
        evenhand.judge(rows, "Is it right? Yes or no.", judge_of(kind, server), **options)
        assert server.seen - before == 120 - came


@pytest.mark.parametrize("kind", ["own", "litellm"])
@pytest.mark.parametrize("slow", [1, 4])
def test_calls_that_are_too_slow_among_others_end_by_themselves(kind, slow, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    faults = [Fault("hang", match=f"slow {number}") for number in range(slow)]
    with JudgeServer(reply="Good", faults=faults) as server:
        judge = judge_of(kind, server, timeout=1.0, max_retries=5)
        asked = [request(f"slow {number}") for number in range(slow)] + [request(f"judge {n}") for n in range(30)]
        outcomes = ask_all(judge, asked)
    assert {outcome.text for outcome in outcomes[slow:]} == {"Good"}
    assert [(outcome.cause, outcome.attempts) for outcome in outcomes[:slow]] == [("timeout", 6)] * slow


def test_a_quota_that_is_used_up_ends_the_run_and_does_not_burn_the_queue(tmp_path):
    used_up = Fault("status", status=429, retry_after=7200, on=range(11, 1000))
    options = {"response_fields": "answer", "journal": str(tmp_path / "j.sqlite3"), "progress": False}
    told = r"(?s)no request for another 7200 seconds.*10 of 40 votes came.*run the same"
    with JudgeServer(reply="Yes", latency=0.01, faults=[used_up]) as server:
        judge = http_judge(server.base_url, max_in_flight=4)
        with pytest.raises(ServerAwayError, match=told):
            evenhand.judge(ROWS, "Is it right? Yes or no.", judge, flow="verdict_only", max_failure_rate=1.0, **options)
        assert 18 <= server.seen <= 22  # ten replies, eight refusals, and what was in flight beside the last


def test_where_nobody_listens_that_is_told_at_once_with_the_address():
    with JudgeServer() as server:
        base_url = server.base_url
    for address in (base_url, "http://no-such-host.invalid/v1"):
        judge = http_judge(address, max_retries=5, backoff=0.5)
        outcomes = ask_all(judge, [request(f"judge {number}") for number in range(20)])
        assert {type(outcome) for outcome in outcomes} == {UnreachableError}
        assert {outcome.cause for outcome in outcomes} == {"unreachable"}
        assert address.split("/")[2] in str(outcomes[0])
        assert "patience=600" in str(outcomes[0])


def test_a_server_that_is_still_starting_is_waited_for_where_that_is_asked():
    with JudgeServer() as server:
        base_url, port = server.base_url, int(server.base_url.split(":")[2].split("/")[0])
    late = JudgeServer(reply="Good", port=port)
    timer = threading.Timer(2.0, late.__enter__)
    timer.start()
    try:
        [outcome] = ask_all(http_judge(base_url, patience=60), [request()])
    finally:
        timer.join()
        late.__exit__()
    assert outcome.text == "Good"


def test_an_interrupt_ends_the_waiting_at_once():
    with JudgeServer() as server:
        base_url = server.base_url
    budget, judge = Budget(), http_judge(base_url, patience=600)

    async def run():
        calls = Calls(judge, None, budget)
        async with calls.running():
            asked = [asyncio.create_task(calls.complete(request(f"judge {number}"))) for number in range(20)]
            await asyncio.sleep(0.5)
            budget.stop()
            return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 10)

    started = time.monotonic()
    outcomes = asyncio.run(run())
    assert time.monotonic() - started < 30
    assert {type(outcome) for outcome in outcomes} <= {BudgetExhaustedError, EngineError, ConnectionLostError}
    assert BudgetExhaustedError in {type(outcome) for outcome in outcomes}
