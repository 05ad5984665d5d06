import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engines.limits import Gate, Pace, TokenPace


class FakeTime:
    """A clock that a test moves, and an event loop's timers on it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_a_pace_below_twenty_a_second_is_exact():
    pace = Pace(per_minute=30, now=0.0)  # one every two seconds
    starts = []
    now = 0.0
    for _ in range(4):
        now = max(now, pace.ready_at)
        pace.take(1, now)
        starts.append(now)
    assert starts == [0.0, 2.0, 4.0, 6.0]
    pace.take(1, 100.0)  # an idle time is not saved up
    assert pace.ready_at == 102.0


@given(
    per_minute=st.floats(0.1, 1e5),
    pauses=st.lists(st.floats(0, 100), min_size=2, max_size=60),
)
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


def test_corrected_tokens_delay_or_hasten_the_next():
    pace = Pace(per_minute=60, now=0.0)
    pace.take(10, 0.0)
    assert pace.ready_at == 10.0
    pace.correct(-4)
    assert pace.ready_at == 6.0


def test_a_429_halves_once_for_all_calls_under_way_and_replies_raise_again():
    clock = FakeTime()
    gate = Gate(16, clock=clock)
    early = clock.now
    clock.now += 1
    gate.slow_down(early)
    gate.slow_down(early)
    assert gate.limit == 8
    clock.now += 1
    gate.slow_down(clock.now - 0.5)
    assert gate.limit == 4
    for _ in range(4):  # 4 + 1/4 + 1/4.25 + 1/4.485… + 1/4.708… = 4.92
        gate.succeeded()
    assert gate.limit == pytest.approx(4.92, abs=0.01)
    for _ in range(1000):
        gate.succeeded()
    assert gate.limit == 16
    for second in range(10):
        clock.now += 1
        gate.slow_down(clock.now - second / 100)
    assert gate.limit == 1


def test_first_come_first_served_within_the_limit():
    async def run():
        gate = Gate(2)
        order, highest = [], 0

        async def call(number):
            nonlocal highest
            await gate.enter()
            order.append(number)
            highest = max(highest, gate.in_flight)
            await asyncio.sleep(0.001)
            gate.leave()

        await asyncio.gather(*(call(number) for number in range(9)))
        return order, highest, gate.in_flight

    assert asyncio.run(run()) == (list(range(9)), 2, 0)


def test_who_is_sent_again_goes_first():
    async def run():
        gate = Gate(1)
        await gate.enter()
        order = []

        async def call(name, *, again):
            await gate.enter(again=again)
            order.append(name)
            gate.leave()

        calls = [asyncio.create_task(call("new", again=False)), asyncio.create_task(call("again", again=True))]
        await asyncio.sleep(0)
        gate.leave()
        await asyncio.gather(*calls)
        return order

    assert asyncio.run(run()) == ["again", "new"]


def test_a_cancelled_call_gives_its_place_back():
    async def run():
        gate = Gate(1)
        await gate.enter()
        waiting = [asyncio.create_task(gate.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        gate.leave()  # the place goes to the second, which is cancelled in the same moment
        waiting[1].cancel()
        await asyncio.wait(waiting, timeout=1)
        return [task.cancelled() for task in waiting], gate.in_flight

    assert asyncio.run(run()) == ([True, True, False], 1)


def test_a_pause_holds_everybody():
    async def run():
        gate = Gate(4)
        gate.pause(0.05)
        started = asyncio.get_running_loop().time()
        await asyncio.gather(*(gate.enter() for _ in range(4)))
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) >= 0.049


def test_a_longer_pause_replaces_a_timer_that_was_set_before():
    async def run():
        gate = Gate(4)
        gate.pause(0.01)
        entering = asyncio.create_task(gate.enter())
        await asyncio.sleep(0)
        gate.pause(0.08)
        started = asyncio.get_running_loop().time()
        await entering
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) >= 0.07


def test_token_pace_spaces_by_size():
    async def run():
        gate = Gate(4, tokens_per_minute=60_000)  # a token a millisecond
        started = asyncio.get_running_loop().time()
        await asyncio.gather(gate.enter(30), gate.enter(20), gate.enter(1))
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) >= 0.049


class Server:
    """What a server counts: tokens at some time between the beginning and the end of each call, in any minute."""

    def __init__(self):
        self.counted = []

    def count(self, at, tokens):
        self.counted.append((at, tokens))

    def most_in_a_minute(self):
        return max(sum(tokens for at, tokens in self.counted if end - 60 < at <= end) for end, _ in self.counted)


@given(
    limit=st.integers(500, 5000),
    calls=st.lists(
        st.tuples(st.integers(1, 500), st.floats(1.0, 6.0), st.floats(0.0, 40.0), st.floats(0, 1), st.booleans()),
        min_size=1,
        max_size=60,
    ),
    at_once=st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_no_minute_of_the_servers_count_holds_more_tokens_than_allowed_and_every_call_gets_in(limit, calls, at_once):
    pace, server, now, under_way = TokenPace(limit, 0.0), Server(), 0.0, []
    for used, excess, seconds, counted_after, answered in calls:
        expected = used * excess
        while len(under_way) >= at_once or (ready := pace.ready_at(expected, now)) > now:
            next_end = min((ends for ends, *_ in under_way), default=float("inf"))
            if len(under_way) >= at_once or next_end <= ready:
                now = max(now, next_end)
                under_way.sort(key=lambda each: each[0])
                _, taken, spent = under_way.pop(0)
                pace.settle(taken, spent, now)
            else:
                assert ready < float("inf")  # else nobody would ever get in
                now = ready
        pace.take(expected, now)
        if answered:
            server.count(now + seconds * counted_after, used)
        under_way.append((now + seconds, expected, used if answered else 0.0))
    if server.counted and all(used * excess <= limit for used, excess, *_ in calls):
        assert server.most_in_a_minute() <= limit + 1e-3


def test_what_was_estimated_too_high_is_credited_to_whoever_waits():
    async def run():
        gate = Gate(1, tokens_per_minute=60_000)  # a token a millisecond
        await gate.enter(30_000)
        waiting = asyncio.create_task(gate.enter(10))
        await asyncio.sleep(0.01)
        assert not waiting.done()  # for half a minute
        gate.used(5, 30_000)
        gate.leave()
        await asyncio.wait_for(waiting, 10)

    asyncio.run(run())


def test_a_failed_call_that_used_nothing_counts_for_nothing():
    async def run():
        gate = Gate(1, tokens_per_minute=60)
        for _ in range(50):
            await asyncio.wait_for(gate.enter(50), 10)
            gate.used(0, 50)
            gate.leave()

    asyncio.run(run())


def test_a_call_of_more_than_a_minutes_tokens_is_let_in_alone():
    pace = TokenPace(100, 0.0)
    assert pace.ready_at(250, 0.0) == 0.0
    pace.take(250, 0.0)
    assert pace.ready_at(10, 200.0) == float("inf")
    pace.settle(250, 250, 200.0)
    assert pace.ready_at(10, 201.0) == 260.0
