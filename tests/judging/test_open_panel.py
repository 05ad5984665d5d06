"""Runs that ask one panel: one queue, one budget, one bar; and none waits for another."""

import gc
import json
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from evenhand.engines.journal import Journal
from evenhand.errors import Terminated, TooManyFailuresError, TransientEngineError
from evenhand.judging.loop import InterruptedJudgingError, open_panel
from evenhand.options import Grid
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.questions import ONCE, questions, run, run_options, selections
from tests.support.server import JudgeServer


@contextmanager
def in_blocks(threads, blocks, judges, *, journal=None, grid=ONCE, flow=None, **limits):
    """The votes on each block, judged in threads."""
    with (
        ThreadPoolExecutor(threads) as pool,
        open_panel(judges, run_options(**limits).model_copy(update={"journal": journal}), many=True) as panel,
    ):
        yield [pool.submit(run, block, panel, grid=grid, flow=flow) for block in blocks]


def votes_in_blocks(*given, **how):
    with in_blocks(*given, **how) as futures:
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
    blocks = votes_in_blocks(3, blocks_of(asked, size), panel, **how)
    assert [row for block in blocks for row in selections(block)] == whole


def test_what_one_block_bought_is_not_bought_again_by_another(tmp_path):
    """The blocks hold the same questions."""
    judge = ScriptedJudge(chooses("Mid"))
    votes_in_blocks(3, [questions(20)] * 6, [judge], journal=tmp_path / "journal.sqlite3")
    assert len(judge.requests) == 40
    with Journal(tmp_path / "journal.sqlite3") as again:
        assert again.count() == 40


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_block_that_begins_after_the_end_is_interrupted():
    """As where another block failed: its votes are never begun, and no coroutine is left behind."""
    judge = ScriptedJudge(chooses("Mid"))
    with open_panel([judge], run_options(), many=True) as panel:
        run(questions(2), panel, grid=ONCE)
    with pytest.raises(InterruptedJudgingError):
        run(questions(2), panel, grid=ONCE)
    gc.collect()
    assert len(judge.requests) == 4


def test_failures_are_counted_over_the_blocks_that_are_done():
    """2 of 20 votes fail, which .15 allows, though 2 of the 10 of one block do."""
    mid = chooses("Mid")
    judge = ScriptedJudge(
        lambda request: TransientEngineError("away") if request.question.id in {"10", "11"} else mid(request)
    )

    def judged(max_failure_rate):
        blocks = blocks_of(questions(20), 10)
        return votes_in_blocks(1, blocks, [judge], max_failure_rate=max_failure_rate)

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
            with in_blocks(2, blocks_of(questions(40), 20), [judge], journal=tmp_path / "journal.sqlite3") as futures:
                found.extend(futures)
                while server.in_flight < 8:
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGTERM)
                found[0].result(60)

        with pytest.raises(Terminated):
            interrupted()
        assert [type(each.exception(10)) for each in found] == [InterruptedJudgingError] * 2
        with Journal(tmp_path / "journal.sqlite3") as again:
            assert again.count() == server.finished == server.seen < 80
        asked = Counter(json.dumps(body["messages"]) for body in server.bodies)
        assert set(asked.values()) == {1}
