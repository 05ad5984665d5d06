"""The HTTP clients that litellm and unitxt's engines bring: what they may do while they carry a judge's calls."""

import httpx
import pytest
from unitxt.inference import OpenAiInferenceEngine

from evenhand.engines.guarded_http import Watch, mark, noted_failure, watching
from evenhand.engines.remote import RemoteSettings
from evenhand.engines.unitxt import UnitxtBridge
from evenhand.errors import ConnectionLostError, FatalEngineError, ReplyTooLongError, TransientEngineError
from tests.support.asking import ask_all, request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer

KEY = "sk-test-0123456789abcdefghij"
BODY = {"model": "m", "messages": [{"role": "user", "content": "judge this"}]}


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


def judge_of(kind, server):
    if kind == "own":
        return http_judge(server.base_url)
    if kind == "bridge":
        return UnitxtBridge(
            OpenAiInferenceEngine(model_name="judge", base_url=server.base_url, data_classification_policy=["public"])
        )
    base = server.base_url if kind != "anthropic/judge" else server.base_url.removesuffix("/v1")
    return litellm_judge(RemoteSettings(model=kind, max_retries=1, backoff=0.001), api_base=base)


LITELLM = ("openai/judge", "hosted_vllm/judge", "anthropic/judge", "deepseek/judge", "mistral/judge")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("kind", ["own", "bridge", *LITELLM])
def test_no_engine_follows_a_redirect(kind, status, monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    with JudgeServer(reply="Bad") as stranger, JudgeServer(reply="Good") as server:
        server.add_fault(Fault("redirect", status=status, location=f"{stranger.base_url}/chat/completions"))
        judge = judge_of(kind, server)
        outcomes = ask_all(judge, [request("one"), request("two")])
        assert stranger.seen == 0
        assert server.seen >= 1
        if kind == "bridge":
            judge.engine.client.close()
    assert {outcome.cause for outcome in outcomes} == {f"http_{status}"}
    assert FatalEngineError in {type(outcome) for outcome in outcomes}


@pytest.mark.parametrize("kind", ["bridge", "openai/judge", "hosted_vllm/judge"])
@pytest.mark.parametrize("key", ["choices", "message", "content"])
def test_a_body_that_says_something_twice_is_no_verdict(kind, key):
    with JudgeServer(reply="Good", faults=[Fault("twice", key=key, other="Bad")]) as server:
        judge = judge_of(kind, server)
        [outcome] = ask_all(judge, [request()])
        if kind == "bridge":
            judge.engine.client.close()
    assert isinstance(outcome, TransientEngineError)
    assert outcome.cause == "repeated_key"


def test_the_bridge_keeps_a_reply_that_is_too_long_as_one():
    with JudgeServer(reply="Good", faults=[Fault("inflated", size=20_000_000)]) as server:
        judge = judge_of("bridge", server)
        [outcome] = ask_all(judge, [request()])
        judge.engine.client.close()
        assert server.seen == 1
    assert (outcome.text, outcome.finish_reason) == (None, "too_long")


def test_calls_of_the_rest_of_the_process_are_not_watched():
    with JudgeServer(reply="Bad") as stranger, JudgeServer() as server:
        server.add_fault(Fault("redirect", location=f"{stranger.base_url}/chat/completions"))
        with httpx.Client(follow_redirects=True) as client:
            with watching(Watch()), pytest.raises(FatalEngineError, match="redirect to 'http://127"):
                client.post(f"{server.base_url}/chat/completions", json=BODY)
            followed = client.post(f"{server.base_url}/chat/completions", json=BODY)
    assert followed.json()["choices"][0]["message"]["content"] == "Bad"
    assert stranger.seen == 1


def test_a_watched_response_is_what_its_caller_expects():
    with JudgeServer(reply="Good", faults=[Fault("inflated", size=50_000)]) as server, httpx.Client() as client:
        watch = Watch()
        mark(client, watch)
        mark(object(), watch)
        response = client.post(f"{server.base_url}/chat/completions", json=BODY)
        assert response.json()["choices"][0]["message"]["content"] == "Good"
        assert len(response.content) == 50_000
        assert "content-encoding" not in response.headers
        assert response.request.url.path == "/v1/chat/completions"
        assert (watch.answered, watch.failure) == (True, None)


def test_what_was_seen_of_a_failure_is_found_behind_what_was_made_of_it():
    with JudgeServer() as server:
        gone = server.base_url
    with watching(Watch()) as watch, httpx.Client() as client:
        with pytest.raises(httpx.ConnectError) as caught:
            client.get(f"{gone}/models?key={KEY}")
        assert isinstance(watch.failure, ConnectionLostError)
        assert not watch.failure.reached
        assert KEY not in str(watch.failure)
    made_of_it = RuntimeError("the package's own")
    made_of_it.__context__ = caught.value
    assert noted_failure(made_of_it) is watch.failure
    assert noted_failure(ValueError("none of ours")) is None


@pytest.mark.parametrize("size", [5_000_000, 50_000_000])
def test_a_client_that_awaits_is_watched_too(size):
    import asyncio  # noqa: PLC0415

    async def call(base_url):
        async with httpx.AsyncClient() as client:
            await client.post(f"{base_url}/chat/completions", json=BODY)

    with (
        JudgeServer(reply="Good", faults=[Fault("inflated", size=size)]) as server,
        watching(Watch()),
        pytest.raises(ReplyTooLongError),
    ):
        asyncio.run(call(server.base_url))
