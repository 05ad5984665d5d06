"""No key is let out: not in place of a variable's name, not in messages, logs or files."""

import logging
import traceback

import pytest

from evenhand.engines.journal import Journal
from evenhand.engines.replies import check_variable_name, redact
from evenhand.errors import EngineError, InvalidInputError
from tests.support.asking import ask_all, request
from tests.support.judges import http_judge, litellm_judge
from tests.support.server import Fault, JudgeServer

KEY = "sk-test-0123456789abcdefghij"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "KEY", "TEAM_2_KEY", "AZURE_API_KEY"])
def test_names_of_environment_variables_are_accepted(name):
    check_variable_name("api_key_env", name)


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdef0123456789",
        "gsk_abcdefABCDEF0123456789",
        "hf_AbCdEfGhIjKl",
        "AKIA1234567890ABCDEF",
        "0123456789abcdef0123456789abcdef",
        "Bearer abc",
        "my key",
        "-",
    ],
)
def test_a_key_in_place_of_a_name_is_refused_and_not_repeated(key):
    with pytest.raises(InvalidInputError, match="environment variable") as caught:
        check_variable_name("api_key_env", key)
    assert key == "-" or key not in str(caught.value)


def test_the_environments_secrets_go(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plainwordkey")
    monkeypatch.setenv("SOME_FOLDER", "plainfolder")
    assert redact("plainwordkey in plainfolder") == "[redacted] in plainfolder"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-abcdefghijkl",
        "header Authorization: Bearer abc.def_ghi",
        "Authorization: Basic dXNlcjpwYXNz",
        "at https://user:password@example.org/v1",
        "key gsk_0123456789abc",
        "AIzaSyA1234567890123456789012345678",
    ],
)
def test_what_looks_like_a_key_goes(text):
    redacted = redact(text)
    assert "[redacted]" in redacted
    for secret in ("sk-abc", "abc.def", "dXNl", "password", "gsk_0", "AIza"):
        assert secret not in redacted


def test_ordinary_text_stays():
    text = "the model 'gpt-4.1-mini' is a basic one; see https://example.org/docs?a=b, task-oriented, key-value"
    assert redact(text) == text


@pytest.mark.parametrize("kind", ["own", "litellm"])
def test_a_key_reaches_the_server_and_nothing_else(kind, monkeypatch, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    monkeypatch.setenv("TEAM_HEADERS", '{"X-Gateway": "gateway-pass-phrase"}')
    faults = [Fault("status", status=status, match=str(status)) for status in (400, 401, 429, 500)]
    settings = {"api_key_env": "TEAM_API_KEY", "max_retries": 1, "backoff": 0.002}
    with JudgeServer(reply="Good", faults=faults) as server, Journal(tmp_path / "journal.sqlite3") as journal:
        if kind == "own":
            judge = http_judge(server.base_url, headers_env="TEAM_HEADERS", **settings)
        else:
            judge = litellm_judge(api_base=server.base_url, **settings)
        outcomes = [
            ask_all(judge, [request(text)], journal=journal)[0] for text in ("good", "400", "429", "500", "401")
        ]
        assert {seen.headers["Authorization"] for seen in server.requests} == {f"Bearer {KEY}"}
        if kind == "own":
            assert {seen.headers["X-Gateway"] for seen in server.requests} == {"gateway-pass-phrase"}
    assert [isinstance(outcome, EngineError) for outcome in outcomes] == [False, True, True, True, True]
    chain = "".join(line for error in outcomes[1:] for line in traceback.format_exception(error))
    written = repr([repr(judge), judge.identity(), outcomes, chain, caplog.text, capfd.readouterr()]).encode()
    written += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"[redacted]" in written
    for secret in (KEY, KEY[3:], "gateway-pass-phrase"):
        assert secret.encode() not in written
