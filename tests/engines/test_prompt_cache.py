"""What Anthropic's cache is told of the beginnings that prompts share."""

import pytest

import evenhand
from evenhand.engines.hosted import LiteLLMEngine, OpenAICompatibleEngine
from evenhand.engines.remote import SHORTEST_CACHED
from tests.support.judges import ScriptedJudge

ROWS = [{"response": f"{word} " * SHORTEST_CACHED} for word in ("It", "is")]
CLAUDE = LiteLLMEngine(model="anthropic/claude-sonnet-4-5")


def asked(question, flow):
    requests = []

    def reply(request):
        requests.append(request)
        return "Yes"

    how = {"flow": flow, "context_fields": [], "journal": None, "progress": False}
    evenhand.judge(ROWS, question, ScriptedJudge(reply), check_positional_bias=False, **how)
    return requests


def blocks(request, engine=CLAUDE):
    judge = engine.to_judge()
    return judge.marked(judge.payload(request), request)["messages"][0]["content"]


@pytest.mark.parametrize(("flow", "stages"), [("one_step", [1, 1]), ("two_step", [2, 2, 2, 2])])
def test_the_end_of_what_rows_share_is_marked_and_that_of_a_row_where_a_second_step_follows(flow, stages):
    requests = asked("Is it right? " + "Judge with care. " * (SHORTEST_CACHED // 16) + "Is it?", flow)
    found = [blocks(request) for request in requests]
    assert [sum("cache_control" in block for block in each) for each in found] == stages
    assert all("cache_control" in shared and "cache_control" not in own for shared, own in found) is (
        flow == "one_step"
    )
    assert len({shared["text"] for shared, _ in found}) == 1 < len({own["text"] for _, own in found})
    for request, each in zip(requests, found, strict=True):
        assert "".join(block["text"] for block in each) == request.messages[0]["content"]


@pytest.mark.parametrize(
    "engine",
    [
        LiteLLMEngine(model="mistral/mistral-large"),
        LiteLLMEngine(model="ollama/claude-like"),
        LiteLLMEngine(model="anthropic/claude-sonnet-4-5", api_base="https://gateway.example.org"),
        OpenAICompatibleEngine(model="claude-sonnet-4-5", base_url="https://api.anthropic.com/v1"),
    ],
)
def test_no_marks_go_where_they_are_not_known(engine):
    assert isinstance(blocks(asked("Is it right?", "one_step")[0], engine), str)


def test_a_server_that_refuses_marks_gets_none():
    judge, [request, *_] = CLAUDE.to_judge(), asked("Is it right?", "two_step")
    sent = judge.marked(judge.payload(request), request)
    for _ in range(2):  # what was sent before the first refusal came is refused too
        assert judge.asks_for_less("messages.0.content.0.cache_control: Extra inputs are not permitted", sent)
    assert judge.marked(judge.payload(request), request) == judge.payload(request)
