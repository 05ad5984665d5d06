"""What the end of a run says of what it bought: the server counts the same."""

import json
from dataclasses import asdict

import pytest

import evenhand
from evenhand.criteria import yes_no_criterion
from evenhand.engines.hosted import OpenAICompatibleEngine
from evenhand.errors import TooManyFailuresError
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.report.gates import CheckReport, Summary
from evenhand.results.measures import Spending
from tests.support.judges import http_judge, litellm_judge
from tests.support.prefix_cache import PrefixCache
from tests.support.questions import ONCE, questions, run
from tests.support.recipes import evaluated
from tests.support.server import Fault, JudgeServer, Reply, conversation

ROWS = [{"q": f"question {number}", "answer": f"answer {number}."} for number in range(12)]
PRICES = "prompt_price=10,completion_price=30,backoff=0"


def reply(body):
    text = '{"selected_option": "Yes"}' if "response_format" in body else f"Fine {hash(conversation(body))}"
    if "answer 7." in conversation(body) and "response_format" in body:
        text = "hm"
    return Reply(text, prompt_tokens=500, completion_tokens=20)


COST = (500 * 10 + 20 * 30) / 1e6


def judged(server, tmp_path, rows=ROWS, **options):
    engine = f"{server.base_url}[model=m,{PRICES}]"
    how = {"context_fields": ["q"], "check_positional_bias": False, "progress": False, "max_failure_rate": 1.0}
    journal = tmp_path / "journal.sqlite3"
    return evenhand.judge(rows, "Is it good?", engine, response_fields="answer", journal=journal, **how, **options)


def test_a_run_says_what_it_bought_wasted_and_has_left(tmp_path):
    faults = [Fault("garbage", on=[5, 6]), Fault("status", on=[9])]
    with JudgeServer(reply=reply, faults=faults) as server:
        table = judged(server, tmp_path, max_cost=1.0, max_calls=100)
        spent = table.spending
        assert spent.requests == server.seen
        assert spent.bought == server.seen - 3  # two were no reply, one was refused
        assert spent.cost == pytest.approx(COST * spent.bought)
        assert spent.lost == 2
        assert spent.cost_reserved >= 2 * COST
        assert spent.wasted == 3  # an assessment, a selection and a re-ask without a vote
        assert spent.wasted_cost == pytest.approx(3 * COST)
        assert spent.cost_left == pytest.approx(1.0 - spent.cost - spent.cost_reserved)
        assert spent.calls_left == 100 - spent.bought
        assert str(spent) in " ".join(str(table).split())
        part = table.filter(instance=[0, 7]).spending
        assert (part.wasted, part.cost_left) == (3, None)  # a part has no budget
        again = judged(server, tmp_path, max_cost=1.0).spending
        assert (again.bought, again.requests, again.cost, again.cost_left) == (0, 0, 0.0, 1.0)
        assert again.from_journal == spent.bought
        assert "3 from the journal made no vote; to ask again, name a new journal" in str(again)
        more = judged(server, tmp_path, [*ROWS, {"q": "one more", "answer": "new"}]).spending
    assert (more.bought, more.from_journal) == (2, spent.bought)
    assert more.cost_left is None
    assert str(more).startswith(f"Bought 2 replies for $0.0112 with 2 requests; {spent.bought} came from the journal.")


def reply_with(usage, **message):
    def make(_):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes", **message}}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        return body if usage is None else {**body, "usage": usage}

    return make


UNBELIEVED = {
    "none": None,
    "zero": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -200, "completion_tokens": -1, "total_tokens": -201},
    "absurdly small": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    "no prompt": {"completion_tokens": 1, "total_tokens": 1},
    "no reply": {"prompt_tokens": 300, "completion_tokens": 0, "total_tokens": 300},
    "zero, and a cost": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cost": 1e-9},
}
OWN_PRICES = {"prompt_price": 2.0, "completion_price": 10.0}


def judged_at_a_price(server, kind, *, max_tokens=200, max_cost=0.1, **options):
    settings = {"max_tokens": max_tokens, "max_in_flight": 8, **OWN_PRICES}
    own = http_judge(server.base_url, **settings)
    judge = own if kind == "own" else litellm_judge(api_base=server.base_url, **settings)
    rows = [{"answer": f"answer {number}."} for number in range(60)]
    how = {"check_positional_bias": False, "progress": False, "max_failure_rate": 1.0, "flow": "verdict_only"}
    asked = {"response_fields": "answer", "max_cost": max_cost, "journal": None, **how, **options}
    return evenhand.judge(rows, "Is it good? Yes or no.", judge, **asked)


@pytest.mark.parametrize("kind", ["own", "litellm"])
@pytest.mark.parametrize("usage", UNBELIEVED.values(), ids=UNBELIEVED)
def test_a_usage_that_cannot_be_true_is_paid_for_at_most_and_said(kind, usage, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with JudgeServer(reply=reply_with(usage)) as server:
        table = judged_at_a_price(server, kind)
        spent, seen = table.spending, server.seen
        words = [len(conversation(body).split()) for body in server.bodies]
    assert 10 < seen < 60
    assert spent.unreported == spent.bought == seen
    assert sum(words) * 0.8 * 2.0 / 1e6 <= spent.cost <= 0.1
    assert spent.cost + spent.cost_reserved >= (sum(words) * 2.0 + seen * 200 * 10.0) / 1e6  # all that it can have cost
    assert spent.cost + spent.cost_reserved <= 0.1 + 1e-9
    assert spent.cost_left == pytest.approx(0.1 - spent.cost - spent.cost_reserved, abs=1e-9)
    said = "of max_cost is reserved for them."
    assert said in str(spent)
    assert said in " ".join(str(table).split())
    table.save(tmp_path / "result.parquet")
    assert evenhand.open(tmp_path / "result.parquet").spending == spent
    assert json.loads(Summary(table, CheckReport(())).to_json())["spending"] == pytest.approx(asdict(spent))


def test_without_a_token_limit_one_reply_without_usage_reserves_all_that_is_left():
    with JudgeServer(reply=reply_with(UNBELIEVED["zero"])) as server:
        spent = judged_at_a_price(server, "own", max_tokens=None).spending
        assert server.seen == 1
    assert (spent.unreported, spent.cost_left) == (1, 0.0)
    assert spent.cost + spent.cost_reserved == pytest.approx(0.1)


@pytest.mark.parametrize("kind", ["own", "litellm"])
@pytest.mark.parametrize("claimed", [0, 0.0, 1e-9, -1.0, 1e-4, 0.01])
def test_of_the_users_prices_and_the_cost_that_the_server_claims_the_greater_holds(kind, claimed, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    usage = {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420, "cost": claimed}
    with JudgeServer(reply=reply_with(usage)) as server:
        spent = judged_at_a_price(server, kind, max_cost=10.0).spending
    assert spent.cost == pytest.approx(60 * max(claimed, (400 * 2.0 + 20 * 10.0) / 1e6))
    assert (spent.unreported, spent.cost_reserved) == (0, 0.0)


@pytest.mark.parametrize("through_litellm", [False, True])
def test_requests_of_votes_that_failed_are_counted_and_told_too(through_litellm):
    with JudgeServer(reply=reply, faults=[Fault("status", status=500)]) as server:
        own = http_judge(server.base_url, max_retries=2)
        judge = litellm_judge(api_base=server.base_url, max_retries=2, backoff=0.0) if through_litellm else own
        with pytest.raises(TooManyFailuresError) as failed:
            run(questions(4), [judge], grid=ONCE, max_failure_rate=0.2)
        spent = Spending.of(vote for row in failed.value.votes for vote in row)
        assert (spent.requests, spent.bought, spent.lost) == (server.seen, 0, 0)
    assert spent.requests == 4 * 3
    assert str(failed.value).endswith("Bought 0 replies with 12 requests; 0 came from the journal.")


def test_a_recipe_reports_what_was_sent_and_wasted_and_is_left(tmp_path):
    with JudgeServer(reply=reply, faults=[Fault("status", on=[3])]) as server:
        priced = {"prompt_price": 10.0, "completion_price": 30.0, "backoff": 0.0}
        engine = OpenAICompatibleEngine(base_url=server.base_url, model="m", **priced)
        how = {"journal": str(tmp_path / "journal.sqlite3"), "progress": False, "context_fields": [], "max_calls": 500}
        good = yes_no_criterion("good", "Is it good?")
        metric = DirectJudge(inference_engine=engine, criteria=good, max_cost=1.0, **how)
        scores = evaluated(metric, ROWS, [row["answer"] for row in ROWS])[0]["score"]["global"]
        assert scores["good_requests"] == server.seen == scores["good_calls"] + 1
    assert scores["good_wasted_replies"] == 2 * 3  # both orders of one row: assessment, selection and re-ask
    assert scores["good_wasted_cost"] == pytest.approx(6 * COST)
    assert scores["good_cost_left"] == pytest.approx(1.0 - scores["good_cost"])
    assert scores["good_calls_left"] == 500 - scores["good_calls"]


def test_a_report_on_judges_says_what_all_its_runs_bought_and_keeps_to_one_budget():
    asked = {"criteria": ["Is it good?", "criteria.evenhand.pairwise.overall_quality"], "context_fields": []}
    criteria = {**asked, "response_fields": ["q", "answer"]}
    quiet = {"progress": False, "max_failure_rate": 1.0, "journal": None}
    with JudgeServer(reply=reply) as server:
        engine = f"{server.base_url}[model=m,{PRICES},max_tokens=30]"
        report = evenhand.reliability(ROWS, engine=engine, max_cost=0.2, **criteria, **quiet)
        assert report.spending.requests == server.seen
        assert server.seen * COST <= 0.2
        assert report.spending.cost == pytest.approx(server.seen * COST)
    assert report.spending.cost_left == pytest.approx(0.2 - report.spending.cost)
    assert str(report.spending) in " ".join(str(report).split())


def test_a_run_says_what_the_servers_cache_held_and_a_saved_one_too(tmp_path):
    rows = [{"question": f"What is {number}?", "response": f"It is {number}."} for number in range(6)]
    with JudgeServer(labels=["Yes", "No"], prefix_cache=PrefixCache()) as server:
        run = {"flow": "one_step", "check_positional_bias": False, "context_fields": ["question"], "progress": False}
        asked = {**run, "journal": str(tmp_path / "journal.sqlite3")}
        engine = f"{server.base_url}[model=m,max_in_flight=1]"
        result = evenhand.judge(rows, "Is it right?", engine, **asked)
        again = evenhand.judge(rows, "Is it right?", engine, **asked)
    held = [vote.usage.cached_tokens for cell in result.cells() for vote in cell.votes]
    assert held[0] == 0 < min(held[1:])
    assert result.spending.cached_tokens == sum(held)
    assert f"The servers' own caches held {sum(held)} tokens of the prompts." in str(result)
    assert again.spending.cached_tokens == 0
    result.save(tmp_path / "saved.parquet")
    opened = evenhand.open(tmp_path / "saved.parquet")
    assert opened.spending == result.spending
    assert [vote for cell in opened.cells() for vote in cell.votes] == [
        vote for cell in result.cells() for vote in cell.votes
    ]
