"""Batches over real HTTP: the same replies as one request at a time, nothing bought twice, nothing lost."""

import asyncio
import json
import signal

import pytest

import evenhand
from evenhand.cli import main
from evenhand.engines import batches
from evenhand.engines.base import Request
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal
from evenhand.errors import InvalidInputError
from tests.support.batch_server import BatchServer, Plan
from tests.support.processes import Running
from tests.support.server import Reply

TEXTS = [f"case {number}: Good or Bad?" for number in range(8)]
SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["Good", "Bad"]}}}
SHAPES = pytest.mark.parametrize("shape", ["openai", "anthropic"])


@pytest.fixture(autouse=True)
def _swift(monkeypatch):
    monkeypatch.setattr(batches, "QUIET_SECONDS", 0.2)


@pytest.fixture
def server():
    with BatchServer(labels=["Good", "Bad"]) as running:
        yield running


def engine(server, shape="openai", **fields):
    given = {"batch": True, "batch_api": shape, "batch_interval": 0.01, "backoff": 0.01, **fields}
    return evenhand.OpenAICompatibleEngine(base_url=server.base_url, model="judge", **given)


def ask(engine, journal, texts=TEXTS, budget=None, **request):
    """The replies' texts, and for a request without one its error."""

    async def run():
        calls = Calls(engine.to_judge(), journal, budget)
        async with calls.running():
            asked = [Request(({"role": "user", "content": text},), **request) for text in texts]
            return await asyncio.gather(*map(calls.complete, asked), return_exceptions=True)

    return [each if isinstance(each, Exception) else each.text for each in asyncio.run(run())]


def directly(server, **request):
    return ask(engine(server, batch=False), None, **request)


def paid_once(server, texts=TEXTS):
    return len(server.answered) == len(texts) and set(server.answered.values()) == {1}


@SHAPES
def test_replies_are_those_of_single_requests_in_whatever_order_they_come(server, journal, shape):
    server.plan = Plan(shuffled=True)
    assert ask(engine(server, shape), journal) == directly(server)
    assert set(directly(server)) == {"Good", "Bad"}
    assert paid_once(server)
    assert len(server.batches) == 1
    assert ask(engine(server, shape), journal) == directly(server)  # all from the journal
    assert len(server.batches) == 1
    assert journal.batches() == []


@SHAPES
@pytest.mark.parametrize(
    "fault", [{"expired": {0, 5}}, {"missing": {0, 5}}, {"failed": {0: (500, "x"), 5: (503, "y")}}]
)
def test_what_may_pass_is_sent_once_more(server, journal, shape, fault):
    server.plan = Plan(**fault)
    assert ask(engine(server, shape), journal) == directly(server)
    assert [len(batch.lines) for batch in server.batches] == [8, 2]
    assert paid_once(server)


@SHAPES
def test_one_request_that_the_provider_refuses_costs_only_itself(server, journal, shape):
    server.plan = Plan(failed={2: (400, "max_tokens is too large")})
    replies = ask(engine(server, shape), journal)
    assert "max_tokens is too large" in str(replies[2])
    assert [reply for place, reply in enumerate(replies) if place != 2] == [
        reply for place, reply in enumerate(directly(server)) if place != 2
    ]
    assert len(server.batches) == 1


@SHAPES
@pytest.mark.parametrize(("status", "cause"), [(400, "http_400"), (401, "http_401"), (404, "http_404")])
def test_a_batch_that_cannot_be_made_says_why(server, journal, shape, status, cause):
    server.plan = Plan(create_fault=(status, "there is no such deployment"))
    replies = ask(engine(server, shape), journal)
    assert {reply.cause for reply in replies} == {cause}
    assert all("there is no such deployment" in str(reply) for reply in replies)
    assert ("batch interface" in str(replies[0])) == (status == 404)
    assert journal.batches() == []


def test_where_there_is_no_room_a_batch_waits_for_another_one(server, journal):
    """OpenAI bounds the tokens that wait in all batches of an account."""

    async def run():
        calls = Calls(engine(server).to_judge(), journal)
        async with calls.running():
            server.plan = Plan(hold=True)
            first = asyncio.gather(*(calls.complete(_asked(text)) for text in TEXTS[:4]))
            await _until(lambda: len(server.batches) == 1)
            server.plan = Plan(refused="token_limit_exceeded: Enqueued token limit reached for judge.")
            second = asyncio.gather(*(calls.complete(_asked(text)) for text in TEXTS[4:]))
            await _until(lambda: len(server.batches) == 2)
            await asyncio.sleep(0.2)
            assert len(server.batches) == 2
            server.finish()
            return [reply.text for reply in [*await first, *await second]]

    assert asyncio.run(run()) == directly(server)
    assert paid_once(server)


def _asked(text):
    return Request(({"role": "user", "content": text},))


async def _until(reached):
    while not reached():  # noqa: ASYNC110 - a server in another thread is looked at
        await asyncio.sleep(0.01)


def test_results_that_are_lost_are_not_bought_again_unasked(server, journal, tmp_path, capsys):
    server.plan = Plan(lost_output=True, failed={1: (400, "too long")})
    for _ in range(2):
        replies = ask(engine(server), journal)
        assert "No such File" in str(replies[0])
        assert "too long" in str(replies[1])
        assert replies[0].cause == "lost_results"
    assert len(server.batches) == 1
    [record] = journal.batches()
    assert record.name in str(replies[0])
    assert main(["journal", "forget", record.name, "--journal", str(journal.path)]) == 0
    assert "given up" in capsys.readouterr().out
    assert ask(engine(server), journal) == directly(server)
    assert len(server.batches) == 2


@SHAPES
@pytest.mark.parametrize("fault", ["create_lost", "create_unmade"])
def test_a_batch_whose_making_was_not_answered_is_not_made_again_unasked(server, journal, shape, fault):
    server.plan = Plan(**{fault: 1})
    outcomes = ask(engine(server, shape), journal)
    assert {each.cause for each in outcomes} == {"connection"}
    assert len(server.batches) == (fault == "create_lost")
    assert journal.batches() == []
    assert ask(engine(server, shape), journal) == directly(server)


@SHAPES
def test_number_and_size_split_batches(server, journal, shape):
    assert ask(engine(server, shape, batch_requests=3), journal) == directly(server)
    assert sorted(len(batch.lines) for batch in server.batches) == [2, 3, 3]
    one = len(json.dumps(server.batches[0].lines[0]))
    ask(engine(server, shape, batch_bytes=int(2.9 * one), temperature=0.5), journal)
    assert sorted(len(batch.lines) for batch in server.batches[3:]) == [2, 2, 2, 2]
    assert set(server.answered.values()) == {1}


def test_anthropic_is_asked_in_its_own_words(server, journal, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-ant-secret")
    given = {"api_key_env": "MY_KEY", "stop": ["END"], "temperature": 0.5, "structured_output": True}
    judge = engine(server, "anthropic", **given)
    messages = ({"role": "system", "content": "Be fair."}, {"role": "user", "content": "Good or Bad?"})

    async def run():
        calls = Calls(judge.to_judge(), journal)
        async with calls.running():
            return await calls.complete(Request(messages, response_schema=SCHEMA))

    reply = asyncio.run(run())
    assert reply.finish_reason == "stop"
    assert reply.prompt_tokens > 0
    [line] = server.batches[0].lines
    assert line["params"] == {
        "model": "judge",
        "temperature": 0.5,
        "max_tokens": 4096,
        "stop_sequences": ["END"],
        "system": "Be fair.",
        "messages": [{"role": "user", "content": "Good or Bad?"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_a_batch_costs_half(server, journal):
    judge = engine(server, prompt_price=2.0, completion_price=10.0, max_tokens=50)
    assert judge.to_judge().estimated_cost(1_000_000, 100_000) == 1.5  # half of 2 + 1
    assert engine(server, prompt_price=2.0, batch_price=0.25).to_judge().estimated_cost(1_000_000, 0) == 0.5
    budget = Budget(max_cost=1.0)
    ask(judge, journal, budget=budget)
    [first] = [seen for seen in server.batches[0].lines if seen["body"]["messages"][0]["content"] == TEXTS[0]]
    assert first["body"]["max_tokens"] == 50
    words = sum(len(text.split()) for text in TEXTS)  # the server counts words; each reply has one
    assert budget.cost == pytest.approx((words * 2.0 + len(TEXTS) * 10.0) / 1e6 / 2)


@SHAPES
def test_a_batch_whose_usage_is_zero_is_paid_for_at_most(journal, shape):
    with BatchServer(reply=lambda _: Reply("Good", prompt_tokens=0, completion_tokens=0)) as server:
        judge = engine(server, shape, prompt_price=2000.0, completion_price=10000.0, max_tokens=50)
        budget = Budget(max_cost=10.0)
        ask(judge, journal, budget=budget)
    words = sum(len(text.split()) for text in TEXTS)
    assert budget.cost == pytest.approx((words * 2000.0 + len(TEXTS) * 10000.0) / 1e6 / 2)
    assert budget.at_risk >= len(TEXTS) * 49 * 10000.0 / 1e6 / 2  # of each 50 tokens, less the word that it has


def test_what_cannot_work_is_refused_before_anything_is_sent(server, journal):
    with pytest.raises(InvalidInputError, match="needs a journal"):
        ask(engine(server), None)
    with pytest.raises(InvalidInputError, match="max_tokens"):
        ask(engine(server, prompt_price=1.0), journal, budget=Budget(max_cost=1.0))
    with pytest.raises(InvalidInputError, match=r"batch_interval is -1"):
        engine(server, batch_interval=-1)
    with pytest.raises(InvalidInputError, match=r"batch_requests is 0"):
        engine(server, batch_requests=0)
    with pytest.raises(InvalidInputError, match="Did you mean 'anthropic'"):
        engine(server, "antropic")
    for model in ("groq/llama", "azure/gpt", "hosted_vllm/judge"):
        with pytest.raises(InvalidInputError, match=rf"'{model}', and batch=True sends batches to .*leave batch out"):
            evenhand.LiteLLMEngine(model=model, batch=True)
    assert not server.batches


# Processes that end

RUN = """
import sys
from evenhand.engines import batches
from evenhand.engines.journal import Journal
from tests.engines.test_batches import ask, engine, TEXTS
class Server: base_url = sys.argv[1]
batches.QUIET_SECONDS = 0.2
with Journal(sys.argv[3]) as journal:
    ask(engine(Server, sys.argv[2]), journal)
print("DONE")
"""


def looked_at(server):
    return any(server.events[f"look {each.name}"] for each in server.batches)


def killed(server, shape, tmp_path, reached):
    path = tmp_path / "journal.sqlite3"
    run = Running(RUN, server.base_url, shape, path, output=tmp_path / "told")
    run.kill_when(reached)
    return path


KILLED = {
    "while the file is sent": ({"stall_upload": True}, lambda server: server.events["POST files"]),
    "before the batch is made": ({"stall_create": True}, lambda server: server.events["stalled"]),
    "while it is waited for": ({"hold": True}, looked_at),
    "half way through the results": ({"stall_results": 5}, lambda server: server.events["stalled"]),
}


@pytest.mark.parametrize(
    ("shape", "moment"),
    [("openai", moment) for moment in KILLED] + [("anthropic", moment) for moment in list(KILLED)[1:]],
)
def test_a_run_that_is_killed_goes_on_and_buys_nothing_twice(server, tmp_path, shape, moment):
    plan, reached = KILLED[moment]
    server.plan = Plan(**plan)
    path = killed(server, shape, tmp_path, lambda: reached(server))
    made = len(server.batches)
    for batch in server.batches:
        batch.plan.stall_results = 0
    server.plan = Plan()
    server.finish()
    with Journal(path) as journal:
        assert len(journal.batches()) == made
        assert ask(engine(server, shape), journal) == directly(server)
        assert journal.batches() == []
    assert len(server.batches) == 1
    assert paid_once(server)


def test_control_c_ends_the_wait_at_once_and_says_how_to_go_on(server, tmp_path):
    server.plan = Plan(hold=True)
    heeded = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # as in the foreground
    run = Running(heeded + JUDGE, server.base_url, tmp_path / "journal.sqlite3", output=tmp_path / "told")
    run.wait_until(lambda: looked_at(server))
    run.send(signal.SIGINT)
    assert run.wait(30) == 1
    assert "1 batch of 6 requests left with the provider" in run.told
    assert "KeyboardInterrupt" in run.told
    server.finish()
    again = Running(JUDGE, server.base_url, tmp_path / "journal.sqlite3", output=tmp_path / "again")
    assert again.wait() == 0, again.told
    assert "judged 3 one_step" in again.told
    assert len(server.batches) == 1


JUDGE = """
import sys, evenhand
from evenhand.engines import batches
batches.QUIET_SECONDS = 0.1
engine = evenhand.OpenAICompatibleEngine(base_url=sys.argv[1], model="judge", batch_interval=0.01)
rows = [{"response": f"answer {number}"} for number in range(3)]
table = evenhand.judge(rows, "Is it good?", engine, batch=True, journal=sys.argv[2])
print("judged", len(table), table.parameters["flow"]["flow"])
"""


def test_two_processes_with_one_journal_send_a_batch_once(server, tmp_path):
    server.plan = Plan(hold=True)
    path = tmp_path / "journal.sqlite3"
    runs = [Running(RUN, server.base_url, "openai", path, output=tmp_path / f"told{number}") for number in range(2)]
    runs[0].wait_until(lambda: len(server.submitted) == 8)
    server.finish()
    assert [run.wait() for run in runs] == [0, 0], [run.told for run in runs]
    assert paid_once(server)
    assert max(server.submitted.values()) == 1
