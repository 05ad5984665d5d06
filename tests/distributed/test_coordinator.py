"""One budget and one rate over many workers, without Ray: whatever order messages come in, and whoever dies."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.distributed.coordinator import Amount, Coordinator, Report
from evenhand.engines.limits import Gate


class Worker:
    """Spends calls as a worker does, as far as its lease reaches; what it spent is written down at once."""

    def __init__(self, coordinator, actor, ledgers, life):
        self.coordinator, self.actor, self.ledgers, self.name = coordinator, actor, ledgers, f"{actor}-{life}"
        terms = coordinator.join(actor, self.name)
        self.spent, self.lease, self.share = 0, terms.lease.calls, terms.share
        self.scarce = self.refused = False
        ledgers[self.name] = Amount()

    def spend(self, calls):
        spent = min(calls, self.lease - self.spent)
        self.spent += spent
        self.ledgers[self.name] = Amount(self.spent)
        return spent

    def sync(self, wants, busy=True):
        if self.scarce:
            self.lease = self.spent
        report = Report(Amount(self.spent), Amount(self.lease), Amount(wants), self.share, busy)
        terms = self.coordinator.sync(self.actor, self.name, report)
        self.lease, self.share, self.scarce = terms.lease.calls, terms.share, terms.scarce
        self.refused = terms.no_more_calls


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(0, 200), st.integers())
def test_no_more_is_spent_than_there_is_and_all_of_it_whatever_happens(number, most, seed):
    chance = random.Random(seed)
    ledgers = {}
    coordinator = Coordinator(max_calls=most, workers=number, spent_by=ledgers.get)
    lives = [Worker(coordinator, str(actor), ledgers, 0) for actor in range(number)]
    everyone = list(lives)
    for step in range(5_000):
        place = chance.randrange(number)
        worker = lives[place]
        if step < 300 and chance.random() < 0.02:  # killed; its replacement joins in its place
            lives[place] = Worker(coordinator, str(place), ledgers, step + 1)
            everyone.append(lives[place])
            continue
        worker.spend(chance.randrange(1, 6))
        worker.sync(wants=chance.randrange(1, 9))
        assert sum(each.spent for each in everyone) <= most
        assert sum(each.share for each in lives) <= 1 + 1e-9
        if step > 300 and all(each.refused for each in lives):
            break
    assert all(each.refused for each in lives), "who waits is told in the end"
    assert sum(each.spent for each in everyone) == most


def test_what_one_worker_does_not_need_another_one_gets():
    coordinator = Coordinator(max_calls=10, workers=2)
    first, second = Worker(coordinator, "a", {}, 0), Worker(coordinator, "b", {}, 0)
    first.sync(wants=6)
    assert first.lease == 6
    second.sync(wants=8)  # of which 4 are left
    assert second.lease == 4
    second.spend(4)
    second.sync(wants=4)
    assert second.lease == 4
    assert not second.refused, "the first one may not need its 6"
    first.spend(1)
    first.sync(wants=0)
    assert first.scarce
    first.sync(wants=0)  # gives back 5
    second.sync(wants=4)
    assert second.lease == 8


def test_a_worker_that_died_gives_back_what_it_had_not_spent_by_what_it_wrote_down():
    ledgers = {}
    coordinator = Coordinator(max_calls=10, workers=1, spent_by=ledgers.get)
    first = Worker(coordinator, "a", ledgers, 0)
    first.sync(wants=10)
    first.spend(3)  # and is killed before it tells
    second = Worker(coordinator, "a", ledgers, 1)
    second.sync(wants=10)
    assert second.lease == 7


def test_what_a_dead_worker_spent_nobody_knows_counts_as_spent():
    coordinator = Coordinator(max_calls=10, workers=1)
    first = Worker(coordinator, "a", {}, 0)
    first.sync(wants=4)
    second = Worker(coordinator, "a", {}, 1)
    second.sync(wants=10)
    assert first.lease + second.lease == 10


def test_who_was_taken_for_dead_and_lives_is_stopped():
    coordinator = Coordinator(max_calls=10)
    worker = Worker(coordinator, "a", {}, 0)
    Worker(coordinator, "a", {}, 1)
    terms = coordinator.sync("a", worker.name, Report())
    assert terms.stopped
    assert terms.share == 0


def test_the_rate_goes_to_those_at_work_in_even_parts_and_is_never_given_twice():
    coordinator = Coordinator(workers=2)
    first, second = Worker(coordinator, "a", {}, 0), Worker(coordinator, "b", {}, 0)
    first.sync(wants=0)
    assert first.share == 1  # nobody else is at work
    second.sync(wants=0)
    assert second.share == 0  # until the first one has told that it keeps to a half
    first.sync(wants=0)
    assert first.share == 0.5
    second.sync(wants=0)
    assert second.share == 0, "it may still use what it held until it tells"
    first.sync(wants=0)
    second.sync(wants=0)
    assert (first.share, second.share) == (0.5, 0.5)
    first.sync(wants=0, busy=False)
    first.sync(wants=0, busy=False)
    second.sync(wants=0)
    assert (first.share, second.share) == (0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_gate_lets_no_more_in_than_its_share(seed):
    chance = random.Random(seed)

    async def run():
        gate = Gate(10)
        inside = []

        async def call():
            inside.append(await gate.enter())

        for _ in range(200):
            share = chance.choice([0, 0.25, 0.5, 1])
            gate.scale(share)
            tasks = [asyncio.create_task(call()) for _ in range(chance.randrange(5))]
            before = len(inside)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert gate.in_flight <= max(before, int(10 * share))
            while inside and chance.random() < 0.7:
                gate.leave(inside.pop())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)

    asyncio.run(run())
