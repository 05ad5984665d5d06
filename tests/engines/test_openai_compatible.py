"""Every fault over real HTTP: what complete() gives, and how many requests the server saw."""

import asyncio
import errno
import re
import threading

import aiohttp
import pytest

from evenhand.engines.http import ServerAddress, lost_connection, normalized_base_url
from evenhand.errors import (
    FatalEngineError,
    InvalidInputError,
)
from tests.support.asking import ask, ask_all, request
from tests.support.judges import openai_compatible_judge
from tests.support.server import Fault, JudgeServer, Reply, conversation

KEY = "sk-test-0123456789abcdefghij"


def judge_at(server, *, api_key_env=None, headers_env=None, **settings):
    chosen = {"model": "judge", "backoff": 0.002, "max_retries": 3} | settings
    return openai_compatible_judge(server.base_url, **chosen, api_key_env=api_key_env, headers_env=headers_env)


def test_a_plain_call_sends_what_was_set_and_reads_everything():
    with JudgeServer(reply=lambda body: Reply("Good", prompt_tokens=7, completion_tokens=1)) as server:
        completion = ask(judge_at(server, max_tokens=50, top_p=0.9, stop=("END",), extra={"top_k": 3}))
    assert server.bodies == [
        {
            "model": "judge",
            "messages": [{"role": "user", "content": "judge this"}],
            "temperature": 0.0,
            "max_tokens": 50,
            "top_p": 0.9,
            "stop": ["END"],
            "top_k": 3,
        }
    ]
    assert (completion.text, completion.finish_reason, completion.model) == ("Good", "stop", "judge")
    assert (completion.prompt_tokens, completion.completion_tokens, completion.cost) == (7, 1, None)
    assert completion.cached is False


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [{"retry_after": 1}, {"retry_after_date": 0.5}])
def test_retry_after_stops_the_whole_engine(header):
    with JudgeServer(reply="Good", faults=[Fault("status", status=429, on=[1], **header)]) as server:
        judge = judge_at(server, max_in_flight=1)
        outcomes = ask_all(judge, [request(str(number)) for number in range(3)])
        arrivals = [seen.received_at for seen in server.requests]
    assert [outcome.text for outcome in outcomes] == ["Good"] * 3
    # an HTTP date has whole seconds: half a second from now means between 0.5 and 1.5 seconds
    assert arrivals[1] - arrivals[0] >= (0.98 if "retry_after" in header else 0.48)
    assert [conversation(body) for body in server.bodies] == ["0", "0", "1", "2"]


def test_a_server_with_a_low_limit_is_obeyed_without_a_lost_vote():
    """Most requests meet more 429s than max_retries, yet each is answered: four of them count as one attempt."""
    with JudgeServer(reply="Good", latency=0.02, capacity=2) as server:
        outcomes = ask_all(judge_at(server, max_in_flight=32, max_retries=2), [request(str(n)) for n in range(60)])
        assert server.refused > 30
        assert server.seen == 60 + server.refused
    assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["Good"] * 60


# -- structured output ------------------------------------------------------------------------------------------------


# -- samples, journal, loops ------------------------------------------------------------------------------------------


def test_one_judge_runs_twice_in_a_thread_and_on_two_loops_at_once():
    with JudgeServer(reply="Good", latency=0.05) as server:
        judge = judge_at(server)
        assert [ask(judge).text for _ in range(2)] == ["Good"] * 2
        texts = []
        threads = [threading.Thread(target=lambda: texts.append(ask(judge).text)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == ["Good"] * 3

        async def inside_a_running_loop():
            return await asyncio.to_thread(ask, judge)

        assert asyncio.run(inside_a_running_loop()).text == "Good"
    assert judge._sessions == {}


# -- keys and addresses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base_url", "sent"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com.example.org/v1", False),
        ("https://notapi.openai.com/v1", False),
        ("https://example.org/v1", False),
        ("http://192.168.1.4:8000/v1", False),
        ("http://localhost:8000/v1", True),
        ("http://localhost.example.org:8000/v1", False),
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.3.2.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
    ],
)
def test_the_openai_key_goes_unasked_to_openai_and_to_this_machine_only(monkeypatch, base_url, sent):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    headers, secrets = ServerAddress(base_url).headers()
    assert (headers.get("Authorization") == f"Bearer {KEY}", KEY in secrets) == (sent, sent)
    named, _ = ServerAddress(base_url, api_key_env="OPENAI_API_KEY").headers()
    assert named["Authorization"] == f"Bearer {KEY}"


def test_a_401_without_a_key_says_how_to_give_one_and_with_a_key_does_not(monkeypatch):
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    with JudgeServer(faults=[Fault("status", status=401)]) as server:
        with pytest.raises(FatalEngineError, match=r"no key was sent: name the environment variable.*api_key_env"):
            ask(judge_at(server))
        with pytest.raises(FatalEngineError) as caught:
            ask(judge_at(server, api_key_env="TEAM_API_KEY"))
    assert "no key was sent" not in str(caught.value)


def test_a_404_names_the_address_and_what_to_check():
    with JudgeServer() as server:
        root = server.base_url.removesuffix("/v1")
        judge = openai_compatible_judge(f"{root}/api", model="m")
        with pytest.raises(FatalEngineError) as caught:
            ask(judge)
    assert f"asked at '{root}/api/chat/completions'" in str(caught.value)
    assert "often ends in '/v1'" in str(caught.value)


@pytest.mark.parametrize("value", ["no json", "[]", '{"X": 1}'])
def test_headers_are_a_json_object_of_texts(monkeypatch, value):
    monkeypatch.setenv("TEAM_HEADERS", value)
    judge = openai_compatible_judge("http://localhost:1", model="m", headers_env="TEAM_HEADERS")
    with pytest.raises(InvalidInputError, match=r"'TEAM_HEADERS'.*JSON object"):
        ask(judge)


def test_a_key_with_a_line_end_inside_is_refused_unseen(monkeypatch):
    monkeypatch.setenv("TEAM_API_KEY", "first\nsecond")
    judge = openai_compatible_judge("http://localhost:1", model="m", api_key_env="TEAM_API_KEY")
    with pytest.raises(InvalidInputError, match="'Authorization'") as caught:
        ask(judge)
    assert "second" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1"),
        ("http://localhost:8000/", "http://localhost:8000/v1"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1"),
        ("HTTPS://Example.org/Api/v1", "https://example.org/Api/v1"),
        ("https://example.org/v1beta/openai/", "https://example.org/v1beta/openai"),
        ("http://[::1]:8000", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_taken_with_and_without_its_path(given, used):
    assert normalized_base_url(given) == used


@pytest.mark.parametrize(
    "given", ["localhost:8000", "ftp://example.org", "", "http://", "http://host:port", "judge", 8000, None]
)
def test_what_is_no_address_is_refused(given):
    with pytest.raises(InvalidInputError, match="localhost:8000/v1"):
        normalized_base_url(given)


@pytest.mark.parametrize(
    "given", ["http://user:hunter22@host/v1", "http://host/v1?key=hunter22", "http://host/v1#hunter22"]
)
def test_an_address_with_a_secret_is_refused_unseen(given):
    with pytest.raises(InvalidInputError, match="not shown here") as caught:
        normalized_base_url(given)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_a_process_without_file_descriptors_says_what_to_do(number):
    error = aiohttp.ClientConnectorError(None, OSError(number, "Too many open files"))
    error.__cause__ = OSError(number, "Too many open files")
    lost = lost_connection(error, "the connection failed", reached=False)
    assert isinstance(lost, FatalEngineError)
    assert re.search(r"Raise the limit \(ulimit -n\), or lower max_in_flight", str(lost))
