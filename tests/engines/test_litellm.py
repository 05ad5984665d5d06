"""The litellm engine over real HTTP: litellm's own client, its errors mapped to ours, none of its retries."""

import subprocess
import sys

import pytest

from evenhand.engines.hosted import LiteLLMEngine, import_litellm
from evenhand.engines.journal import Journal
from evenhand.engines.names import as_judge
from evenhand.errors import (
    FatalEngineError,
    InvalidInputError,
    RateLimitedError,
    RejectedRequestError,
    TransientEngineError,
)
from evenhand.votes import Completion
from tests.support.asking import ask, ask_all, request
from tests.support.judges import litellm_judge
from tests.support.server import Fault, JudgeServer, Reply

KEY = "sk-test-0123456789abcdefghij"
SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["Yes", "No"]}}}


def judge_at(server, *, api_key_env=None, **settings):
    chosen = {"model": "openai/judge", "backoff": 0.002, "max_retries": 2} | settings
    return litellm_judge(**chosen, api_base=server.base_url, api_key_env=api_key_env)


def test_a_plain_call_sends_what_was_set_and_reads_everything():
    reply = Reply("Yes", logprobs=[("Yes", -0.25, {"Yes": -0.25, "No": -1.5})], prompt_tokens=7, completion_tokens=1)
    with JudgeServer(reply=lambda body: reply) as server:
        completion = ask(judge_at(server, max_tokens=50, seed=4), request(logprobs=2, sample=1))
    [body] = server.bodies
    assert body["messages"] == [{"role": "user", "content": "judge this"}]
    assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == ("judge", 0.0, 50, 5)
    assert (completion.text, completion.finish_reason, completion.model) == ("Yes", "stop", "judge")
    assert (completion.prompt_tokens, completion.completion_tokens, completion.cost) == (7, 1, None)
    assert completion.logprobs[0].top == (("Yes", -0.25), ("No", -1.5))


@pytest.mark.parametrize(
    ("status", "kind", "requests"),
    [
        (400, RejectedRequestError, 1),
        (401, FatalEngineError, 1),
        (403, FatalEngineError, 1),
        (404, FatalEngineError, 1),
        (413, RejectedRequestError, 1),
        (422, RejectedRequestError, 1),
        (429, RateLimitedError, 9),
        (500, TransientEngineError, 3),
    ],
)
def test_errors_are_ours_and_retries_are_ours(status, kind, requests):
    with JudgeServer(faults=[Fault("status", status=status, message="because of the test")]) as server:
        with pytest.raises(kind, match="because of the test") as caught:
            ask(judge_at(server))
        assert server.seen == requests
    assert (type(caught.value), caught.value.cause) == (kind, f"http_{status}")


def test_a_model_without_a_provider_is_fatal_and_sends_nothing():
    with JudgeServer() as server:
        with pytest.raises(FatalEngineError, match="LLM Provider NOT provided"):
            ask(litellm_judge(model="no-such-model"))
        assert server.seen == 0


def test_the_journal_answers_without_importing_litellm(tmp_path):
    path = tmp_path / "journal.sqlite3"
    with JudgeServer(reply="Good") as server, Journal(path) as journal:
        ask(judge_at(server), journal=journal)
        script = (
            "import sys\n"
            "from evenhand.engines.journal import Journal\n"
            "from tests.support.judges import litellm_judge\n"
            "from tests.support.asking import ask\n"
            f"judge = litellm_judge(model='openai/judge', api_base={server.base_url!r})\n"
            f"print(ask(judge, journal=Journal({str(path)!r})).cached, 'litellm' in sys.modules)\n"
        )
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert told.stdout.split() == ["True", "False"]
        assert server.seen == 1


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4.1-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-3-5-haiku-latest", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "GEMINI_API_KEY"),
    ],
)
def test_without_a_key_nothing_is_tried_again_and_the_variable_is_named(monkeypatch, model, variable):
    for name in (variable, "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    judge = litellm_judge(model=model, max_retries=5, backoff=60.0)
    with pytest.raises(FatalEngineError, match=f"no key for '{model}': set the environment variable .*{variable}") as e:
        ask(judge)
    assert (e.value.cause, e.value.attempts) == ("missing_key", 1)


def test_the_openai_key_is_not_sent_to_any_address(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for api_base, own in [("https://example.org/v1", True), ("http://127.0.0.1:1/v1", False)]:
        for model in ("openai/m", "gpt-4.1-mini"):
            assert LiteLLMEngine(model=model, api_base=api_base).server() == {"api_base": api_base} | (
                {"api_key": "none"} if own else {}
            )
    assert LiteLLMEngine(model="anthropic/m", api_base="https://example.org/v1").server() == {
        "api_base": "https://example.org/v1"
    }
    assert LiteLLMEngine(model="openai/m").server() == {}


# -- models of OpenAI, asked by our own client -------------------------------------------------------------------------

OPENAI = "openai/gpt-4.1-mini"
USED = {"prompt_tokens": 1000, "completion_tokens": 10}


@pytest.mark.parametrize("settings", [{}, {"max_tokens": 50, "seed": 3, "stop": "END", "top_p": 0.5}])
def test_a_model_of_openai_is_asked_alike_with_and_without_litellm(tmp_path, settings):
    logprobs = [("Yes", -0.25, {"Yes": -0.25, "No": -1.5})]
    reply = Reply('{"verdict": "Yes"}', logprobs=logprobs, **USED)
    asked, replies, journals = request(response_schema=SCHEMA, logprobs=2, sample=1), [], []
    with JudgeServer(reply=lambda body: reply) as server:
        for direct in (True, False):
            engine = LiteLLMEngine(model=OPENAI, api_base=server.base_url, max_retries=0, direct=direct, **settings)
            with Journal(tmp_path / f"{direct}.sqlite3") as journal:
                replies.append(ask(engine.to_judge(), asked, journal=journal))
                with journal.reading() as connection:
                    journals.append(connection.execute("SELECT key, request FROM reply").fetchall())
    assert server.bodies[0] == server.bodies[1]
    assert "response_format" in server.bodies[0]
    assert replies[0].cost == pytest.approx(replies[1].cost)
    assert replies[0].cost > 0
    assert replies[0].model_copy(update={"cost": replies[1].cost}) == replies[1]
    assert journals[0] == journals[1]


def test_the_price_of_cached_tokens_is_litellms():
    listed = import_litellm().model_cost["gpt-4.1-mini"]
    judge = LiteLLMEngine(model=OPENAI, direct=True).to_judge()
    reply = judge.priced(Completion(text="Yes", cached_tokens=800, **USED), request().messages)
    fresh, cached, written = (
        listed[name] for name in ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    )
    assert reply.cost == pytest.approx(200 * fresh + 800 * cached + 10 * written)


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_the_name_of_a_model_of_openai_goes_where_the_environment_says(monkeypatch, variable):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with JudgeServer(reply="Good") as server:
        monkeypatch.setenv(variable, server.base_url)
        judge = as_judge(OPENAI)
        assert ask(judge).text == "Good"
        [seen] = server.requests
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert seen.headers["User-Agent"] == "evenhand"
    assert seen.body["model"] == "gpt-4.1-mini"
    assert judge.identity() == litellm_judge(OPENAI, temperature=0.0).identity()
    assert as_judge(f"{OPENAI}[direct=False]").settings.direct is False
    assert as_judge(f"engines.evenhand.litellm[model={OPENAI}]").settings.direct is False


def test_our_own_client_asks_openai_and_litellm_is_not_imported():
    script = (
        "import sys\n"
        "from evenhand.engines.names import as_judge\n"
        f"judge = as_judge({OPENAI!r})\n"
        "print(judge.estimated_cost(1000, 10) > 0, judge.settings.rates() is not None, 'litellm' in sys.modules)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True", "False"]
    with pytest.raises(FatalEngineError, match=f"no key for '{OPENAI}': set the environment variable 'OPENAI_API_KEY'"):
        ask(as_judge(OPENAI))
    with pytest.raises(InvalidInputError, match="direct=True is for models of 'openai/…'"):
        LiteLLMEngine(model="anthropic/claude", direct=True)


def test_a_parameter_that_a_model_refuses_is_left_out_from_then_on(caplog):
    faults = [Fault("unsupported_temperature"), Fault("unsupported_max_tokens")]
    with JudgeServer(reply="Good", faults=faults) as server:
        judge = LiteLLMEngine(model="openai/o4-mini", api_base=server.base_url, direct=True, max_tokens=50).to_judge()
        outcomes = ask_all(judge, [request(str(number)) for number in range(3)])
        assert [outcome.text for outcome in outcomes] == ["Good"] * 3
        assert ask(judge, request("later")).text == "Good"
        sent = [body.keys() & {"temperature", "max_tokens", "max_completion_tokens"} for body in server.bodies]
    assert {"temperature", "max_tokens"} <= sent[0]
    assert sent[-1] == {"max_completion_tokens"}
    assert server.bodies[-1]["max_completion_tokens"] == 50
    assert sum("refuses the parameter" in record.message for record in caplog.records) == 2
    assert server.seen <= 3 * 3 + 1
    assert judge.identity()["sampling"]["temperature"] == 0.0
