"""Several askers, one journal: no reply is bought twice, and no process waits for a dead one."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls, JournalWriter
from evenhand.engines.journal import SILENT_SECONDS, Journal, Row
from evenhand.errors import BudgetExhaustedError
from evenhand.votes import Completion
from tests.support.asking import ask, request
from tests.support.judges import ScriptedJudge


def slow(seconds=0.0):
    return ScriptedJudge(lambda request: "Good", concurrency=8, delay=lambda request: seconds)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite3"


def claims_in(path):
    connection = sqlite3.connect(path)
    found = [row[0] for row in connection.execute("SELECT key FROM claim")]
    connection.close()
    return found


def change_owners(path, **values):
    connection = sqlite3.connect(path)
    for name, value in values.items():
        connection.execute(f"UPDATE owner SET {name} = ?", (value,))
    connection.commit()
    connection.close()


def test_a_key_has_one_owner_until_its_reply_is_written(path):
    with Journal(path) as mine, Journal(path) as theirs:
        assert mine.exchange(claims=["a", "b"]) == {"a", "b"}
        assert theirs.exchange(claims=["b", "c"]) == {"c"}
        assert mine.exchange(claims=["a"]) == set()  # two judges of one process do not ask twice either
        mine.exchange([Row.of("a", "{}", "{}", Completion(text="Good"))])
        assert theirs.exchange(claims=["a"]) == set()
        assert theirs.get("a").text == "Good"
        mine.exchange(releases=["b", "c"])  # c is not its own
        assert theirs.exchange(claims=["b"]) == {"b"}
        assert mine.exchange(claims=["c"]) == set()
    assert claims_in(path) == []


def test_the_second_asker_waits_for_the_reply_of_the_first(path):
    """Each has a journal of its own, as two processes have."""
    first, second = slow(0.3), slow()

    async def run():
        with Journal(path) as mine, Journal(path) as theirs:
            early, late = Calls(first, mine), Calls(second, theirs)
            async with early.running(), late.running():
                asking = asyncio.create_task(early.complete(request()))
                await asyncio.sleep(0.05)
                return [await late.complete(request()), await asking]

    waited, asked = asyncio.run(run())
    assert (len(first.requests), len(second.requests)) == (1, 0)
    assert [(reply.text, reply.cached) for reply in (asked, waited)] == [("Good", False), ("Good", True)]


def test_an_interrupted_run_does_not_wait_for_another_process(path):
    budget = Budget()

    async def run():
        with Journal(path) as theirs, Journal(path) as mine:
            early, late = Calls(slow(60), theirs), Calls(slow(), mine, budget)
            async with early.running(), late.running():
                asking = asyncio.create_task(early.complete(request()))
                await asyncio.sleep(0.05)
                waiting = asyncio.create_task(late.complete(request()))
                await asyncio.sleep(0.05)
                budget.stop()
                with pytest.raises(BudgetExhaustedError, match="interrupted"):
                    await waiting
                asking.cancel()

    asyncio.run(run())


def test_a_cancelled_call_gives_its_claim_up(path):
    async def run(journal):
        calls = Calls(slow(60), journal)
        async with calls.running():
            waiter = asyncio.create_task(calls.complete(request()))
            await asyncio.sleep(0.05)
            assert len(claims_in(path)) == 1
            waiter.cancel()

    with Journal(path) as journal:
        asyncio.run(run(journal))
        assert claims_in(path) == []
        assert ask(slow(), journal=journal).text == "Good"


def test_an_asker_that_gives_up_leaves_the_claim_of_another_on_the_same_key(path):
    class Abandoned(Journal):
        def exchange(self, rows=(), claims=(), releases=()):
            taken = super().exchange(rows, claims, releases)
            second.cancel()
            return taken

    async def run(journal):
        nonlocal second
        writer = JournalWriter(journal, Budget())
        async with writer.running():
            first, second = (asyncio.create_task(writer.claim("a")) for _ in range(2))
            await asyncio.wait([first, second])
            await asyncio.sleep(0.01)
            return first.result(), second.cancelled(), claims_in(path)

    second = None
    with Abandoned(path) as journal:
        assert asyncio.run(run(journal)) == (None, True, ["a"])


class Clock:
    """The clock of a host, which a test moves."""

    now = 1000.0

    def __call__(self):
        return self.now


def test_an_owner_in_another_container_is_alive_as_long_as_it_gives_signs(path):
    clock = Clock()
    with Journal(path, clock=clock) as theirs, Journal(path, clock=clock) as mine:
        theirs.exchange(claims=["a", "b"])
        change_owners(path, host="elsewhere", pid=1)
        for _ in range(3):
            clock.now += SILENT_SECONDS - 5
            assert mine.exchange(claims=["a"]) == set()
            theirs.beat()
        clock.now += SILENT_SECONDS + 1
        assert mine.exchange(claims=["a", "b"]) == {"a", "b"}


def test_an_owner_from_before_the_host_was_started_anew_is_dead(path):
    with Journal(path, clock=lambda: 1e6) as theirs, Journal(path, clock=lambda: 10.0) as mine:
        theirs.exchange(claims=["a"])
        change_owners(path, host="another boot", pid=1)
        assert mine.exchange(claims=["a"]) == {"a"}


def test_a_hung_owner_is_replaced_and_may_come_back(path):
    clock = Clock()
    with Journal(path, clock=clock) as hung, Journal(path, clock=clock) as mine:
        hung.exchange(claims=["a", "b"])
        clock.now += SILENT_SECONDS + 1
        assert mine.exchange(claims=["a"]) == {"a"}
        hung.beat()
        assert hung.exchange(claims=["c"]) == {"c"}
        assert mine.exchange(claims=["c"]) == set()
        hung.exchange([Row.of("a", "{}", "{}", Completion(text="late"))])
        assert mine.get("a").text == "late"


def test_a_long_call_gives_signs_of_life(path, monkeypatch):
    monkeypatch.setattr("evenhand.engines.calls.BEAT_SECONDS", 0.01)
    clock = Clock()

    async def run(theirs):
        calls = Calls(slow(60), theirs)
        async with calls.running():
            waiter = asyncio.create_task(calls.complete(request()))
            await asyncio.sleep(0.05)
            [key] = claims_in(path)
            with Journal(path, clock=clock) as mine:
                for _ in range(4):
                    clock.now += SILENT_SECONDS - 1
                    await asyncio.sleep(0.1)
                    assert mine.exchange(claims=[key]) == set()
            waiter.cancel()

    with Journal(path, clock=clock) as theirs:
        asyncio.run(run(theirs))


HOLDER = """
import sys, time
from evenhand.engines.journal import Journal
journal = Journal(sys.argv[1])
journal.exchange(claims=["a"])
print("claimed", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_owner_is_not_waited_for(path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "claimed\n"
    with Journal(path) as mine:
        assert mine.exchange(claims=["a"]) == set()
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
        assert mine.exchange(claims=["a"]) == {"a"}
    with Journal(path) as restarted:
        assert restarted.exchange(claims=["a"]) == {"a"}
