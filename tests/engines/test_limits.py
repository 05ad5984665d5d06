"""The gate in front of a server: pace, places, 429, and a server that is away or never answers."""

import asyncio
import itertools
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.engines.journal import Journal
from evenhand.engines.limits import Gate, Pace
from evenhand.errors import (
    ConnectionLostError,
    ServerAwayError,
    TransientEngineError,
    UnreachableError,
)
from evenhand.results.measures import Spending
from tests.support.asking import ask_all, request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer

REFUSED = ConnectionLostError("refused")
BROKEN_OFF = ConnectionLostError("reset", reached=True)
NO_REPLY = TransientEngineError("no reply within 60 seconds", cause="timeout")


@given(per_minute=st.floats(0.1, 1e5), pauses=st.lists(st.floats(0, 100), min_size=2, max_size=60))
@settings(max_examples=60, deadline=None)
def test_no_window_of_a_minute_holds_more_than_the_limit_allows(per_minute, pauses):
    pace = Pace(per_minute, now=0.0)
    now, starts = 0.0, []
    for pause in pauses:
        now = max(now + pause, pace.ready_at)
        pace.take(1, now)
        starts.append(now)
    # any n + 1 calls span at least n intervals, less the 50 ms that may be caught up once
    interval = 60 / per_minute
    for first, last in itertools.combinations(range(len(starts)), 2):
        assert starts[last] - starts[first] >= (last - first) * interval - 0.05 - 1e-6


def test_a_pace_below_twenty_per_second_is_exact_and_corrected_by_what_was_used():
    pace = Pace(per_minute=30, now=0.0)  # one every two seconds
    starts, now = [], 0.0
    for _ in range(4):
        now = max(now, pace.ready_at)
        pace.take(1, now)
        starts.append(now)
    assert starts == [0.0, 2.0, 4.0, 6.0]
    pace.take(10, 100.0)  # an idle time is not saved up
    assert pace.ready_at == 120.0
    pace.correct(-4)
    assert pace.ready_at == 112.0


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_429_halves_once_for_all_calls_under_way_and_replies_raise_again():
    clock = Clock()
    gate = Gate("judge", 16, clock=clock)
    early = clock.now
    clock.now += 1
    gate.slow_down(early)
    gate.slow_down(early)
    assert gate.limit == 8
    clock.now += 1
    gate.slow_down(clock.now - 0.5)
    assert gate.limit == 4
    for _ in range(4):  # 4 + 1/4 + 1/4.25 + 1/4.485… + 1/4.708… = 4.92
        gate.answered(replied=True)
    assert gate.limit == pytest.approx(4.92, abs=0.01)
    for _ in range(1000):
        gate.answered(replied=True)
    assert gate.limit == 16
    for second in range(10):
        clock.now += 1
        gate.slow_down(clock.now - second / 100)
    assert gate.limit == 1


def test_first_come_first_served_within_the_limit_but_whoever_is_sent_again_goes_first():
    async def run():
        gate = Gate("judge", 2)
        order, highest = [], 0

        async def call(number, *, again):
            nonlocal highest
            entered_at = await gate.enter(again=again)
            order.append(number)
            highest = max(highest, gate.in_flight)
            await asyncio.sleep(0.001)
            gate.leave(entered_at)

        await asyncio.gather(*(call(number, again=number == 6) for number in range(9)))
        return order, highest, gate.in_flight

    assert asyncio.run(run()) == ([0, 1, 6, 2, 3, 4, 5, 7, 8], 2, 0)


def test_a_cancelled_call_gives_its_place_back():
    async def run():
        gate = Gate("judge", 1)
        entered_at = await gate.enter()
        waiting = [asyncio.create_task(gate.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        gate.leave(entered_at)  # the place goes to the second, which is cancelled in the same moment
        waiting[1].cancel()
        await asyncio.wait(waiting, timeout=1)
        return [task.cancelled() for task in waiting], gate.in_flight

    assert asyncio.run(run()) == ([True, True, False], 1)


def test_pauses_and_tokens_hold_everybody():
    async def seconds(gate, *tokens, pause=0.0):
        started = asyncio.get_running_loop().time()
        gate.pause(0.01)
        entering = [asyncio.create_task(gate.enter(each)) for each in tokens]
        await asyncio.sleep(0)
        gate.pause(pause)  # a longer one replaces the timer that was set before
        await asyncio.gather(*entering)
        return asyncio.get_running_loop().time() - started

    async def run():
        assert await seconds(Gate("judge", 4), 0, 0, 0, 0, pause=0.08) >= 0.079
        assert await seconds(Gate("judge", 4, tokens_per_minute=60_000), 30, 20, 1) >= 0.049  # a token per millisecond
        gate = Gate("judge", 1, tokens_per_minute=60_000)
        entered_at = await gate.enter(30_000)
        waiting = asyncio.create_task(gate.enter(10))
        await asyncio.sleep(0.01)
        assert not waiting.done()  # for half a minute
        gate.leave(entered_at, 5 - 30_000)
        await asyncio.wait_for(waiting, 10)

    asyncio.run(run())


async def away(error, patience=None, *, reached=True):
    """A gate to a server that has just gone away, on a clock that a test moves."""
    clock = Clock()
    gate = Gate("judge", 1000, patience=patience, clock=clock)
    if reached:
        gate.answered()
    while not gate.away:
        gate.failed(error, clock.now, first=True)
    return gate, clock


async def probes(gate, clock, error=REFUSED):
    """When each probe leaves, in seconds since the server went away, until nothing is sent any more."""
    start, left = clock.now, []
    while gate.ended is None:
        clock.now = max(clock.now, gate._paused_until)
        left.append(round(clock.now - start, 2))
        entered_at = await gate.enter()
        gate.failed(error, entered_at, first=True)
        gate.leave(entered_at)
    return left


@pytest.mark.parametrize("error", [REFUSED, BROKEN_OFF, NO_REPLY])
def test_a_server_is_away_after_eight_failures_in_a_row(error):
    gate = Gate("judge", 4)
    for _ in range(20):
        for _ in range(7):
            gate.failed(error, 0.0, first=True)
        assert not gate.away
        gate.answered()
    for _ in range(8):
        assert not gate.away
        gate.failed(error, 0.0, first=True)
    assert gate.away
    gate.answered()
    assert not gate.away
    for attempt in range(100):  # one call that is never answered
        gate.failed(NO_REPLY, 0.0, first=attempt == 0)
    assert not gate.away


@pytest.mark.parametrize(
    ("patience", "reached", "error", "leaves", "message"),
    [
        (
            20,
            True,
            REFUSED,
            [0.25, 0.75, 1.75, 3.75, 7.75, 12.75, 17.75, 20.0],
            r"away for 20 seconds \(patience=20\): refused",
        ),
        (None, True, REFUSED, [0.25, 0.75, 1.75, 3.75, 7.75, *range(13, 300, 5), 300.0], "away for 300 seconds"),
        (None, False, REFUSED, [0.25, 0.75, 1.0], "away for 1 second .*: refused. Check its address"),
        (60, False, REFUSED, [0.25, 0.75, 1.75, 3.75, 7.75, *range(13, 60, 5), 60.0], "away for 60 seconds"),
        (20, True, NO_REPLY, [0.25, 0.75, 1.75, 3.75, 7.75, 12.75, 17.75, 20.0], "no reply within 60 seconds"),
        (0, True, REFUSED, [], "patience=0"),
    ],
)
def test_one_call_at_a_time_tries_a_server_that_is_away_until_the_patience_ends(
    patience, reached, error, leaves, message
):
    async def run():
        gate, clock = await away(error, patience, reached=reached)
        for _ in range(50):  # calls that left before tell nothing new
            gate.failed(error, clock.now - 5, first=True)
        assert await probes(gate, clock, error) == [pytest.approx(each, abs=0.26) for each in leaves]
        return gate.ended

    ended = asyncio.run(run())
    assert isinstance(ended, UnreachableError)
    with pytest.raises(UnreachableError, match=message):
        raise ended


def judge_of(kind, server, **settings):
    given = {"timeout": 10.0, "max_in_flight": 8, "backoff": 0.01, "max_retries": 2, **settings}
    if kind == "own":
        return http_judge(server.base_url, **given)
    return litellm_judge(model="openai/judge", **given, api_base=server.base_url)


def bought(server):
    """How many replies to each request were sent in full."""
    return Counter(json.dumps(seen.body["messages"]) for seen in server.requests if seen.status == 200)


def test_a_server_that_goes_away_in_the_middle_costs_no_call(tmp_path, caplog):
    fault = Fault("away", on=[20], seconds=2.0)
    with JudgeServer(reply="Good", latency=0.02, faults=[fault]) as server:
        with Journal(tmp_path / "j.sqlite3") as journal:
            judge = judge_of("own", server)
            outcomes = ask_all(judge, [request(f"judge {number}") for number in range(60)], journal=journal)
        assert {outcome.text for outcome in outcomes} == {"Good"}
        assert set(bought(server).values()) == {1}
    told = [record.message for record in caplog.records if record.name == "evenhand.engines.limits"]
    assert len(told) == 1, told
    assert "the server is away" in told[0]
    assert "300 seconds (patience)" in told[0]


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


@pytest.mark.parametrize(("kind", "in_flight", "answered"), [("own", 4, 0), ("own", 64, 20), ("litellm", 64, 0)])
def test_a_server_that_takes_requests_and_answers_none_ends_the_run(kind, in_flight, answered, tmp_path):
    rows = [{"answer": f"It is {number}."} for number in range(60)]  # each in two orders
    options = {"response_fields": "answer", "progress": False, "flow": "verdict_only", "max_failure_rate": 1.0}
    options["journal"] = str(tmp_path / "j.sqlite3")
    with JudgeServer(reply="Yes", faults=[Fault("hang", on=range(answered + 1, 10_000))]) as server:
        judge = judge_of(kind, server, timeout=1.0, max_in_flight=in_flight, patience=3)
        with pytest.raises(ServerAwayError, match=r"(?s)been away for.*of 120 votes came.*run the same") as ended:
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


@pytest.mark.parametrize("slow", [1, 4])
def test_calls_that_are_too_slow_among_others_end_by_themselves(slow):
    faults = [Fault("hang", match=f"slow {number}") for number in range(slow)]
    with JudgeServer(reply="Good", faults=faults) as server:
        judge = judge_of("own", server, timeout=1.0, max_retries=5)
        asked = [request(f"slow {number}") for number in range(slow)] + [request(f"judge {n}") for n in range(30)]
        outcomes = ask_all(judge, asked)
    assert {outcome.text for outcome in outcomes[slow:]} == {"Good"}
    assert [(outcome.cause, outcome.attempts) for outcome in outcomes[:slow]] == [("timeout", 6)] * slow


def test_calls_that_a_429_ends_while_others_are_being_answered_end_no_run():
    faults = [Fault("latency", seconds=1.0, on=[1, 2]), Fault("status", status=429, on=range(3, 21))]
    with JudgeServer(reply="Good", faults=faults) as server:
        judge = judge_of("own", server, max_in_flight=20, max_retries=0)
        outcomes = ask_all(judge, [request(str(number)) for number in range(40)])
    assert Counter(type(outcome).__name__ for outcome in outcomes) == {"Completion": 22, "RateLimitedError": 18}


def test_a_quota_that_is_used_up_ends_the_run_and_does_not_burn_the_queue(tmp_path):
    used_up = Fault("status", status=429, retry_after=7200, on=range(11, 1000))
    options = {"response_fields": "answer", "journal": str(tmp_path / "j.sqlite3"), "progress": False}
    told = r"(?s)no request for another 7200 seconds.*10 of 40 votes came.*run the same"
    with JudgeServer(reply="Yes", latency=0.01, faults=[used_up]) as server:
        judge = http_judge(server.base_url, max_in_flight=4)
        with pytest.raises(ServerAwayError, match=told):
            evenhand.judge(ROWS, "Is it right? Yes or no.", judge, flow="verdict_only", max_failure_rate=1.0, **options)
        assert 18 <= server.seen <= 22  # ten replies, eight refusals, and what was in flight with the last
