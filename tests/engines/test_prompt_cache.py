"""What providers are told of the beginnings that prompts share, and what they say of what their caches held."""

import pytest

import evenhand
from evenhand.engines.base import Request
from evenhand.engines.hosted import OpenAICompatibleEngine
from evenhand.engines.remote import SHORTEST_CACHED, marks_for, with_marks
from tests.support.prefix_cache import PrefixCache, text_of
from tests.support.server import JudgeServer

SHARED = "Judge by this criterion. " * (SHORTEST_CACHED // 20)


def request(own="<response>Hello.", shared=SHARED, **more):
    return Request(messages=({"role": "user", "content": shared + own},), shared=len(shared), **more)


def sent(asked, marks):
    return with_marks({"model": "m", "messages": asked.messages}, asked, marks)


@pytest.mark.parametrize(("stage", "marked"), [("one_step", [True, False]), ("assessment", [True, True])])
def test_the_end_of_what_is_shared_is_marked_and_that_of_a_row_where_a_second_step_follows(stage, marked):
    asked = request(stage=stage)
    [message] = sent(asked, "blocks")["messages"]
    assert ["cache_control" in block for block in message["content"]] == marked
    assert [block["text"] for block in message["content"]] == [SHARED, "<response>Hello."]
    assert text_of(message["content"]) == asked.messages[0]["content"]


@pytest.mark.parametrize(
    ("model", "endpoint", "expected"),
    [
        ("gpt-4.1", {"endpoint": "https://api.openai.com/v1"}, "key"),
        ("gpt-4.1", {"endpoint": "https://api.openai.com.example.org/v1"}, None),
        ("gpt-4.1", {"provider": "litellm", "endpoint": "https://gateway.example.org"}, None),
        ("openai/gpt-4.1", {"provider": "litellm", "endpoint": None}, "key"),
        ("o4-mini", {"provider": "litellm", "endpoint": None}, "key"),
        ("claude-sonnet-4-5", {"provider": "litellm", "endpoint": None}, "blocks"),
        ("mistral/mistral-large", {"provider": "litellm", "endpoint": None}, None),
        ("ollama/claude-like", {"provider": "litellm", "endpoint": None}, None),
    ],
)
def test_marks_go_where_they_are_known_and_nowhere_else(model, endpoint, expected):
    assert marks_for(model, endpoint) == expected


def test_a_run_says_what_the_servers_cache_held_and_a_saved_one_too(tmp_path):
    rows = [{"question": f"What is {number}?", "response": f"It is {number}."} for number in range(6)]
    with JudgeServer(labels=["Yes", "No"], prefix_cache=PrefixCache()) as server:
        assert marks_for("m", OpenAICompatibleEngine(base_url=server.base_url).endpoint) is None
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
