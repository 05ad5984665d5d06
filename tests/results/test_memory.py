"""What a result takes in memory: no text is held twice, and a vote has no dictionary of its own."""

import gc
import json
import tracemalloc

import pytest

import evenhand
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.functions import judge

ROWS = 480


def judged(count):
    rows = [{"question": f"What is {row}?", "response": f"{row} is the number {row}. " * 20} for row in range(count)]
    asked = {"include_prompts_in_result": True, "journal": None, "progress": False}
    return judge(rows, "criteria.evenhand.direct.relevance", SimulatedEngine(), **asked)


@pytest.fixture
def traced(tmp_path):
    judged(2).save(tmp_path / "warm.parquet")
    assert evenhand.open(tmp_path / "warm.parquet")[0].verdict.votes  # imports, templates and caches
    gc.collect()
    tracemalloc.start()
    yield bytes_held
    tracemalloc.stop()


def bytes_held():
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / ROWS


def test_an_assessment_and_its_prompts_take_less_than_what_was_sent(traced, tmp_path):
    """In both orders, two prompts of each, of which the first is part of the second: 10 kB are sent in all."""
    table = judged(ROWS)
    assert len(table[0].verdict.votes) == 2
    assert len(json.dumps([dict(vote.prompts) for vote in table[0].verdict.votes])) > 9_000
    assert traced() < 3000
    table.save(tmp_path / "result.parquet")
    del table
    opened = evenhand.open(tmp_path / "result.parquet")
    assert len(opened) == ROWS
    assert traced() < 3000
