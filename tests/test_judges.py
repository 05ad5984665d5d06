"""A judge that is called for one response: it does what a run over rows does, and leaves nothing behind."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import evenhand
from evenhand.criteria import Checklist, ChecklistItem, Rubric, yes_no_criterion
from evenhand.engines.free_engines import BaselineEngine
from evenhand.engines.journal import Journal
from evenhand.errors import InvalidInputError, TransientEngineError, UnscoredError
from evenhand.judges import Judge
from evenhand.question import comparison_criterion
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.questions import LEVELS
from tests.support.server import Fault, JudgeServer, JudgeServerProcess

BETTER = comparison_criterion("better", "Which one answers the question?", allow_ties=True)
RUBRIC = Rubric(name="answer", criteria=(LEVELS, yes_no_criterion("polite", "Is it polite?")))
CHECKLIST = Checklist(
    name="facts", items=(ChecklistItem(question="Is it true?"), ChecklistItem(question="Is it short?", na=True))
)
NUMBERS = range(6)
ROWS = [
    {"id": f"r{number}", "question": f"What is {number}?", "response": f"It is {number}.", "other": "No idea."}
    for number in NUMBERS
]


@pytest.fixture
def server():
    with JudgeServer(labels=["High", "Mid", "Low", "Yes", "No", "Response A", "Response B", "Tie"]) as running:
        yield running


def by_rows(kind, criteria, engine, how):
    """The votes on each row, and its score, of a run over rows."""
    named = {"context_fields": ["question"], "id_field": "id", "progress": False, **how}
    if kind == "winrates":
        table = evenhand.winrates(ROWS, criteria, engine, response_fields=["response", "other"], **named)
        contests = list(table.contests)
        return [[contest.verdict.votes] for contest in contests], [contest.score for contest in contests]
    if kind == "checklist":
        table = evenhand.checklist(ROWS, criteria, engine, **named)
        return [[each.votes for each in result.verdicts] for result in table.results], [
            result.score for result in table.results
        ]
    table = evenhand.judge(ROWS, criteria, engine, **named)
    judged = [[each for each in table.entries if each.instance == row] for row in NUMBERS]
    if table.rubric is None:
        scores = [row[0].verdict.score for row in judged]
    else:
        scores = [result.score for result in table.rubric_results["response"]]
    return [[each.verdict.votes for each in row] for row in judged], scores


async def by_calls(kind, criteria, engine, how):
    """The same of a judge that is called for each row, all at once."""
    async with Judge(criteria, engine, **how) as judge:
        called = []
        for row in ROWS:
            shown = {name: row[name] for name in ("response", "other")}
            given = {"responses": shown} if kind == "winrates" else {"response": row["response"]}
            called.append(judge(id=row["id"], context={"question": row["question"]}, **given))
        results = await asyncio.gather(*called)
    votes = [[each.votes for each in getattr(result, "verdicts", [result])] for result in results]
    return votes, [result.score for result in results]


def told(votes):
    """What judges were asked and said."""
    return [
        [
            [(v.judge_id, v.order, v.sample, v.selected_label, v.assessment, v.probabilities, v.prompts) for v in cast]
            for cast in row
        ]
        for row in votes
    ]


WAYS = [
    ("judge", LEVELS, {}),
    ("judge", LEVELS, {"flow": "one_step", "samples": 3, "orders": "shuffled", "check_positional_bias": 0.5}),
    ("judge", LEVELS, {"flow": "verdict_only", "scoring": "expected"}),
    ("judge", LEVELS, {"flow": "verdict_only", "samples": 5, "stop_early": True}),
    ("judge", LEVELS, {"guidelines": "Be strict.", "generate_summaries": True, "auto_na_option": True}),
    ("judge", RUBRIC, {}),
    ("judge", RUBRIC, {"calls": "per_item", "length_penalty": {"free_budget": 1, "max_cap": 6}}),
    ("checklist", CHECKLIST, {}),
    ("checklist", CHECKLIST, {"mode": "item", "capture_reasoning": True, "guidelines": "Be strict."}),
    ("winrates", BETTER, {}),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows_first", [True, False])
@pytest.mark.filterwarnings("ignore::evenhand.judging.run.NoLogprobsWarning")
def test_rows_and_calls_come_to_the_same_votes_and_share_a_journal(way, rows_first, server, tmp_path):
    kind, criteria, how = way
    how = {**how, "journal": tmp_path / "journal.sqlite3"}

    def engine():
        return http_judge(server.base_url, temperature=1.0, seed=7)

    def rows():
        return by_rows(kind, criteria, engine(), how)

    def calls():
        return asyncio.run(by_calls(kind, criteria, engine(), how))

    first, second = (rows, calls) if rows_first else (calls, rows)
    votes, scores = first()
    bought = server.seen
    again, scores_again = second()
    assert server.seen == bought > 0
    assert told(again) == told(votes)
    assert scores_again == scores
    assert all(vote.usage.calls == 0 for row in again for cast in row for vote in cast)


@pytest.mark.parametrize(
    ("says", "label", "score"),
    [
        (lambda request: "Response A" if request.presentation.order == (0, 1) else "Response B", "new", 1.0),
        (lambda request: "Response B" if request.presentation.order == (0, 1) else "Response A", "old", 0.0),
        (lambda request: "Tie", "tie", 0.5),
        (lambda request: "Response A", "tie", 0.5),
    ],
)
def test_the_label_of_a_comparison_is_the_name_of_the_better_response(says, label, score):
    judge = ScriptedJudge(lambda request: says(request) if request.options else "reasons", identity=False)
    verdict = Judge(BETTER, judge).run(responses={"new": "x", "old": "y"})
    assert (verdict.label, verdict.score, verdict.unscored_reason) == (label, score, None)
    assert {vote.selected_label for vote in verdict.votes} <= set(BETTER.labels)


def test_calls_from_tasks_threads_and_loops_share_the_limits(server):
    server_limit = 4
    judge = Judge(LEVELS, http_judge(server.base_url, max_in_flight=server_limit), journal=None, flow="one_step")
    expected = Judge(LEVELS, http_judge(server.base_url), journal=None, flow="one_step").run(response="a 1").score

    async def many(prefix):
        return await asyncio.gather(*[judge(response=f"{prefix} {number}") for number in range(8)])

    with ThreadPoolExecutor(6) as threads:
        loops = [threads.submit(asyncio.run, many(prefix)) for prefix in "abc"]
        alone = [threads.submit(judge.run, response=f"{prefix} 1") for prefix in "abc"]
        results = [each for loop in loops for each in loop.result(60)]
        by_run = [each.result(60) for each in alone]
    assert len(results) == 24
    assert not any(each.unscored_reason for each in (*results, *by_run))
    assert results[1].score == by_run[0].score == expected
    assert server.max_in_flight <= server_limit
    judge.close()


def test_the_budget_holds_over_all_calls_and_after_closing():
    engine = ScriptedJudge(chooses("Mid"))
    judge = Judge(LEVELS, engine, journal=None, max_calls=5, flow="verdict_only", check_positional_bias=False)
    reasons = [judge.run(response=f"{number}").unscored_reason for number in range(4)]
    judge.close()
    reasons += [judge.run(response=f"{number}").unscored_reason for number in range(4, 8)]
    assert reasons == [None] * 5 + ["budget"] * 3
    assert len(engine.requests) == 5


@pytest.mark.parametrize("strict", [False, True])
def test_a_call_that_fails_is_unscored_and_never_0(strict):
    engine = ScriptedJudge(lambda request: TransientEngineError("away", cause="503"))
    judge = Judge(LEVELS, engine, strict=strict, journal=None)
    if strict:
        with pytest.raises(UnscoredError, match=r"'level' has no score \(engine_error\).*away") as raised:
            judge.run(response="x")
        result = raised.value.result
    else:
        result = judge.run(response="x")
    assert (result.score, result.label, result.unscored_reason) == (None, None, "engine_error")
    assert all("away" in vote.error for vote in result.votes)


def test_a_judge_goes_on_after_its_server_refused(server):
    """A wrong key ends a run; a judge is called again later, when it may have been mended."""
    server.faults.append(Fault("status", status=401, times=1))
    judge = Judge(LEVELS, http_judge(server.base_url), journal=None, flow="verdict_only", check_positional_bias=False)
    refused, later = judge.run(response="x"), judge.run(response="x")
    assert (refused.unscored_reason, later.unscored_reason) == ("engine_error", None)
    assert "401" in refused.votes[0].error
    assert server.seen == 2
    judge.close()


def test_a_call_that_is_cancelled_still_journals_its_reply(tmp_path):
    with JudgeServer(labels=["High"], latency=0.3) as server:
        path = tmp_path / "journal.sqlite3"
        how = {"journal": path, "flow": "verdict_only", "check_positional_bias": False}
        judge = Judge(LEVELS, http_judge(server.base_url), **how)

        async def cancelled():
            task = asyncio.create_task(judge(response="x"))
            await asyncio.to_thread(wait_until, lambda: server.seen)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        judge.close()
        with Journal(path) as journal:
            assert journal.count() == 1
        assert judge.run(response="x").label == "High"
        assert server.seen == 1
        judge.close()


def wait_until(happened):
    while not happened():
        time.sleep(0.01)


def loops_open():
    return {thread for thread in threading.enumerate() if "evenhand" in thread.name}


def test_a_judge_that_is_closed_or_forgotten_leaves_no_thread(server):
    before = loops_open()

    async def within():
        async with Judge(LEVELS, http_judge(server.base_url), journal=None) as judge:
            await judge(response="x")
            assert len(loops_open() - before) == 1

    asyncio.run(within())
    assert not loops_open() - before
    Judge(LEVELS, http_judge(server.base_url), journal=None).run(response="x")
    gc.collect()
    assert not loops_open() - before


SCRIPT = """
import asyncio, sys
from evenhand.judges import Judge
from tests.support.judges import http_judge
judge = Judge("Is it fine?", http_judge(sys.argv[1]), journal=sys.argv[2])
async def main():
    return await asyncio.gather(*[judge(response=str(number)) for number in range(3)])
print([verdict.unscored_reason for verdict in asyncio.run(main())], judge.run(response="4").unscored_reason)
if sys.argv[3] == "hang":
    async def left():
        asyncio.create_task(judge(response="hangs"))
        await asyncio.sleep(0.5)
    asyncio.run(left())
"""


@pytest.mark.parametrize("end", ["", "hang"])
def test_a_script_needs_not_close_anything(end, tmp_path):
    """No warning of what was left open, and no wait for a call that hangs."""
    with JudgeServerProcess(labels=["Yes", "No"]) as server:
        slow = Fault("hang", match="hangs")
        with JudgeServer(labels=["Yes", "No"], faults=[slow]) as hanging:
            address = hanging.base_url if end else server.base_url
            begun = time.monotonic()
            command = ["-W", "always::ResourceWarning", "-c", SCRIPT, address, tmp_path / "j", end]
            done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("[None, None, None] None\n", "", 0)
    assert time.monotonic() - begun < 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork")
def test_a_fork_has_a_loop_of_its_own():
    code = (
        "import os, sys; from evenhand.judges import Judge; judge = Judge('Is it fine?', 'engines.evenhand.baseline')\n"
        "first = judge.run(response='x').score\n"
        "if (child := os.fork()) == 0:\n"
        "    assert judge.run(response='x').score == first\n"
        "    sys.exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "7\n", done.stderr


@pytest.mark.parametrize(
    ("criteria", "given", "message"),
    [
        (LEVELS, {}, "'level' judges one response: give response="),
        (LEVELS, {"responses": {"a": "x", "b": "y"}}, "'level' judges one response: give response="),
        (LEVELS, {"response": "x", "context": "a question"}, "context is 'a question'; give a mapping from names"),
        (BETTER, {"response": "x"}, r"'better' compares two: give responses="),
        (BETTER, {"responses": {"a": "x", "b": None}}, r"'b': None}} was given, and 'better' compares two"),
        (BETTER, {"responses": dict.fromkeys("abc", "x")}, "evenhand.winrates compares more"),
        ("criteria.evenhand.direct.relevance", {"response": "x"}, "is judged with 'question', which is not given"),
        ("criteria.evenhand.direct.correctness", {"response": "x", "context": {"question": "q"}}, "give reference="),
    ],
)
def test_what_cannot_be_judged_is_refused(criteria, given, message):
    judge = Judge(criteria, BaselineEngine())
    with pytest.raises(InvalidInputError, match=message):
        judge.run(**given)
    with pytest.raises(InvalidInputError, match=message):
        asyncio.run(judge(**given))
