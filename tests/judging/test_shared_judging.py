"""Runs that share their judging: one queue, one budget, one bar; and none waits for another."""

import contextvars
import json
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from evenhand.engines.journal import Journal
from evenhand.errors import Terminated, TooManyFailuresError, TransientEngineError
from evenhand.judging import loop
from evenhand.judging.flow import Flow
from evenhand.judging.loop import InterruptedJudgingError, opened_journal, shared_judging
from evenhand.options import Grid
from tests.judging.test_run import ONCE, questions, run, selections
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.server import Fault, JudgeServer


@pytest.fixture
def default_action():
    """Tests may be run where the signal is ignored."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def in_blocks(pool, blocks, judges, **how):
    """The votes on each block, judged in threads."""
    return [pool.submit(contextvars.copy_context().run, run, block, judges, **how) for block in blocks]


def waited_for(futures):
    return [each.result(60) for each in futures]


def blocks_of(asked, size):
    return [asked[start : start + size] for start in range(0, len(asked), size)]


@pytest.mark.parametrize("size", [1, 7, 30])
def test_blocks_come_to_the_votes_of_one_run(size):
    asked, how = questions(30), {"grid": Grid(orders="both", samples=2)}
    panel = [
        ScriptedJudge(lambda request: ["High", "Mid", "Low"][int(request.question.id) % 3], name=name) for name in "ab"
    ]
    whole = selections(run(asked, panel, **how))
    with ThreadPoolExecutor(3) as pool, shared_judging():
        blocks = [future.result() for future in in_blocks(pool, blocks_of(asked, size), panel, **how)]
    assert [row for block in blocks for row in selections(block)] == whole


def test_no_block_waits_for_another():
    """With 8 in flight and blocks of 5 questions: a barrier between blocks would keep it at 5."""
    with JudgeServer(latency=0.05, labels=["High", "Mid", "Low"]) as server:
        judge = http_judge(server.base_url, max_in_flight=8)
        with ThreadPoolExecutor(3) as pool, shared_judging():
            for future in in_blocks(pool, blocks_of(questions(60), 5), [judge], grid=ONCE):
                assert all(len(row) == 1 for row in future.result())
        assert server.max_in_flight == 8
        assert server.finished == 120


def test_limits_count_over_all_blocks():
    judge = ScriptedJudge(chooses("Mid"))
    with ThreadPoolExecutor(2) as pool, shared_judging():
        found = [
            each.result() for each in in_blocks(pool, blocks_of(questions(40), 10), [judge], grid=ONCE, max_calls=30)
        ]
    votes = [vote for block in found for row in block for vote in row]
    assert len(judge.requests) == 30
    assert Counter(vote.unscored_reason for vote in votes) == {None: 15, "budget": 25}


def test_what_one_block_bought_is_not_bought_again_by_another(tmp_path):
    """The blocks hold the same questions; the journal is opened once, and closed."""
    judge = ScriptedJudge(chooses("Mid"))
    with ThreadPoolExecutor(3) as pool, shared_judging():
        with (
            opened_journal(tmp_path / "journal.sqlite3") as journal,
            opened_journal(tmp_path / "journal.sqlite3") as same,
        ):
            assert journal is same
        waited_for(in_blocks(pool, [questions(20)] * 6, [judge], grid=ONCE, journal=journal))
    assert len(judge.requests) == 40
    with Journal(tmp_path / "journal.sqlite3") as again:
        assert again.count() == 40


def test_failures_are_counted_over_the_blocks_that_are_done():
    """2 of 20 votes fail, which .15 allows, though 2 of the 10 of one block do."""
    mid = chooses("Mid")
    judge = ScriptedJudge(
        lambda request: TransientEngineError("away") if request.question.id in {"10", "11"} else mid(request)
    )

    def judged(max_failure_rate):
        blocks = blocks_of(questions(20), 10)
        with ThreadPoolExecutor(1) as pool, shared_judging():
            return waited_for(in_blocks(pool, blocks, [judge], grid=ONCE, max_failure_rate=max_failure_rate))

    assert list(map(len, judged(0.15))) == [10, 10]
    with pytest.raises(TooManyFailuresError, match="2 of 20 votes failed"):
        judged(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that only asks")
@pytest.mark.usefixtures("default_action")
def test_an_interrupt_ends_every_block_and_what_was_on_its_way_is_kept(tmp_path):
    with JudgeServer(latency=0.3, labels=["High", "Mid", "Low"]) as server:
        judge = http_judge(server.base_url, max_in_flight=8)
        found = []

        def interrupted():
            with ThreadPoolExecutor(2) as pool, shared_judging():
                with opened_journal(tmp_path / "journal.sqlite3") as journal:
                    found.extend(in_blocks(pool, blocks_of(questions(40), 20), [judge], grid=ONCE, journal=journal))
                while server.in_flight < 8:
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGTERM)
                waited_for(found)

        with pytest.raises(Terminated):
            interrupted()
        assert [type(each.exception(10)) for each in found] == [InterruptedJudgingError] * 2
        with Journal(tmp_path / "journal.sqlite3") as again:
            assert again.count() == server.finished == server.seen < 80
        asked = Counter(json.dumps(body["messages"]) for body in server.bodies)
        assert set(asked.values()) == {1}


def test_a_block_that_fails_ends_the_others_and_is_told():
    with JudgeServer(faults=[Fault("status", status=401)], labels=["High", "Mid", "Low"]) as server:
        judge = http_judge(server.base_url)

        def refused():
            with ThreadPoolExecutor(2) as pool, shared_judging():
                waited_for(in_blocks(pool, blocks_of(questions(40), 10), [judge], grid=ONCE, max_failure_rate=0.2))

        with pytest.raises(TooManyFailuresError, match="401"):
            refused()


def test_replies_that_no_journal_keeps_are_held_in_part(monkeypatch):
    """Of 3 replies held at most, the first is forgotten when the fourth comes; the others are not asked for again."""
    monkeypatch.setattr(loop, "MOST_REPLIES", 3)
    judge = ScriptedJudge(chooses("Mid"), concurrency=1)
    how = {"grid": ONCE, "flow": Flow(flow="verdict_only")}
    with ThreadPoolExecutor(1) as pool, shared_judging():
        waited_for(in_blocks(pool, [questions(4)], [judge], **how))
        waited_for(in_blocks(pool, [questions(4)[::-1]], [judge], **how))
    assert [request.question.id for request in judge.requests] == ["0", "1", "2", "3", "0"]
