"""Two workers of one run in one process, without Ray: every way of judging, one budget of dollars, what is kept."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import evenhand
from evenhand.data.identified import KnownRows
from evenhand.distributed.coordinator import Coordinator
from evenhand.distributed.shards import Shards
from evenhand.distributed.worker import STOPPED, Order, Worker
from evenhand.engines.journal import Journal, this_process
from evenhand.results.resumed import part_numbers, rows_of_part
from evenhand.row_runs import job_of
from tests.judging.test_max_cost import PROMPT_PRICE, REPLY_PRICE, billed, reply
from tests.support.server import JudgeServer
from tests.test_streams import SYSTEMS, noisy

HOW = {"context_fields": ["question"], "progress": False, "id_field": "id"}
WAYS = {
    "judge": {"criteria": "Is it clear?", "response_fields": "a", "orders": "shuffled"},
    "winrates": {"response_fields": ["a", "b"], "criteria": "Which is better?"},
    "checklist": {"checklist": ["Is it short?", "Is it kind?"], "response_fields": ["a", "b"]},
    "run_mode": {"mode": "best_of", "criteria": "Which is better?", "response_fields": ["a", "b"]},
    "grade_scores": {"response_fields": ["a", "b"], "criteria": "Which is better?"},
}


def records(result):
    """All that a result says of its rows and votes, but for the places of the rows."""
    said = ({**row, "instance": None} for row in result.records(votes=True))
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in said)


@contextmanager
def two_workers(folder, job, *, journal=None, **limits):
    """Workers, their coordinator, and what judges rows by both of them."""
    shards, numbers = Shards(folder), part_numbers(folder)
    limits = {"max_calls": None, "max_cost": None, **limits}
    coordinator = Coordinator(
        **limits,
        workers=2,
        first_part=max(numbers, default=-1) + 1,
        spent_by=shards.spent,
        shard_of=shards.shard_of,
    )
    lock = threading.Lock()
    ended = threading.Event()

    def ask(method, *given):
        if ended.is_set() and method == "sync":
            raise ConnectionError("the coordinator is gone")
        with lock:
            return getattr(coordinator, method)(*given)

    known = KnownRows(rows_of_part(folder, number) for number in numbers)
    order = Order(job, folder, journal, this_process().host, record=None, **limits)
    workers = [Worker(order, known, actor, ask) for actor in ("a" * 12, "b" * 12)]

    def judge(rows, size=4):
        blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
        with ThreadPoolExecutor(4) as pool:
            keys = range(len(blocks))
            said = list(pool.map(lambda key: workers[key % 2].judge(blocks[key], f"block {key}"), keys))
        assert coordinator.state()["errors"] == []
        return [each["told"] for each in said]

    try:
        yield workers, coordinator, judge
    finally:
        ended.set()
        for thread in [each for each in threading.enumerate() if "_keep_in_touch" in each.name]:
            thread.join(10)
        for worker in workers:
            worker._context.run(worker._stack.close)
        shards.put_in_place()
        shards.merge(journal)


@pytest.mark.parametrize("function", WAYS)
def test_every_way_of_judging_comes_to_the_verdicts_of_one_process(tmp_path, function):
    given = {**HOW, **WAYS[function]}
    folder = tmp_path / "out"
    with two_workers(folder, job_of(function, {**given, "engine": noisy()})) as (_, _, judge):
        judge(SYSTEMS)
    alone = getattr(evenhand, function)(SYSTEMS, engine=noisy(), **given)
    assert records(evenhand.open(folder)) == records(alone)


@pytest.mark.parametrize("max_tokens", [None, 120])
def test_dollars_are_kept_over_all_workers_and_a_run_with_more_buys_the_rest_once(tmp_path, max_tokens):
    rows = [{"id": f"r{n}", "question": f"Which is {n}?", "response": f"It is {n}, " * (1 + n % 4)} for n in range(40)]
    journal, folder = tmp_path / "journal.sqlite3", tmp_path / "out"
    Journal(journal).close()
    limit = "" if max_tokens is None else f",max_tokens={max_tokens}"
    with JudgeServer(reply=reply, latency=0.01) as server:
        engine = f"{server.base_url}[model=m,prompt_price={PROMPT_PRICE},completion_price={REPLY_PRICE}{limit}]"
        given = {**HOW, "criteria": "Is it clear?", "flow": "one_step", "check_positional_bias": False}
        given |= {"max_reasks": 0, "max_failure_rate": 1.0}
        evenhand.judge(rows, engine=engine, **given, journal=None)
        whole, calls = billed(server), server.seen
        most = whole / 2
        with two_workers(folder, job_of("judge", {**given, "engine": engine}), journal=journal, max_cost=most) as run:
            run[2](rows)
        spent = billed(server) - whole
        assert spent <= most
        assert spent >= most - 8 * whole / calls - 0.02, "about all of it is used"
        votes = [vote for cell in evenhand.open(folder).cells() for vote in cell.votes]
        assert {vote.unscored_reason for vote in votes} == {None, "budget"}
        with two_workers(folder, job_of("judge", {**given, "engine": engine}), journal=journal) as run:
            run[2](rows)
        assert server.seen == 2 * calls, "nothing is bought twice"
        table = evenhand.open(folder)
    assert len(table.to_pandas()) == len(rows)
    assert {vote.unscored_reason for cell in table.cells() for vote in cell.votes} == {None}


def test_replies_on_their_way_when_it_is_stopped_are_in_the_journal(tmp_path):
    rows = [{"id": f"r{n}", "question": "?", "response": f"It is {n}."} for n in range(40)]
    journal, folder = tmp_path / "journal.sqlite3", tmp_path / "out"
    Journal(journal).close()
    stop = []

    def answered(_):
        stop[0]()  # while others are on their way
        return "Yes"

    with JudgeServer(reply=answered, latency=0.3) as server:
        engine = f"{server.base_url}[model=m,max_in_flight=4]"
        given = {**HOW, "criteria": "Is it clear?", "flow": "one_step", "check_positional_bias": False}
        job = job_of("judge", {**given, "engine": engine})
        with two_workers(folder, job, journal=journal) as (_, coordinator, judge):
            stop.append(coordinator.stop)
            said = judge(rows)
        assert STOPPED in said
        assert server.seen < len(rows)
        with Journal(journal) as kept:
            assert kept.count() == server.seen == server.finished
