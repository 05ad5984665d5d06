"""Where a run may be started: in a notebook's event loop, in threads, several at once, and under a slow limit."""

import asyncio
import time

import pytest

from evenhand.functions import judge
from tests.support.judges import http_judge
from tests.support.questions import LEVELS
from tests.support.server import JudgeServer


def assess(server, count, **settings):
    rows = [{"response": f"answer {number}"} for number in range(count)]
    options = {"flow": "one_step", "check_positional_bias": False, "journal": None, "progress": False}
    return judge(rows, LEVELS, http_judge(server.base_url, **settings), **options)


def labels(table):
    return [vote.selected_label for judgement in table.entries for vote in judgement.verdict.votes]


@pytest.fixture
def server():
    with JudgeServer(labels=LEVELS.labels, latency=0.01) as running:
        yield running


def test_inside_a_running_loop_as_in_a_notebook(server):
    async def cell():
        before = asyncio.get_running_loop()
        table = assess(server, 8)
        assert asyncio.get_running_loop() is before
        await asyncio.sleep(0)
        return table

    expected = labels(assess(server, 8))
    assert None not in expected
    assert labels(asyncio.run(cell())) == expected


def test_half_a_request_a_second(server):
    """A limit below one a second, at which unitxt's own engine hangs: three calls, two seconds apart."""
    begun = time.monotonic()
    table = assess(server, 3, requests_per_minute=30)
    assert None not in labels(table)
    assert server.seen == 3
    assert server.requests[2].received_at - begun > 3.99  # at the earliest: the first at once, the third 4 s later
