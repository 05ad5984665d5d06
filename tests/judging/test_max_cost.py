"""Every mode keeps to max_cost by the count of the server, and spends it on whole votes."""

import pytest

import evenhand
from tests.support.server import Fault, JudgeServer, Reply, conversation, deterministic_reply

PROMPT_PRICE, REPLY_PRICE = 10.0, 30.0
ROWS = [
    {"q": f"question {n} " + "which? " * (n % 7 * 20), "a": f"answer {n} " * (1 + n % 5), "b": f"reply {n}", "c": "ok"}
    for n in range(24)
]
CANDIDATES = [{"options": [row["a"], row["b"], row["c"]]} for row in ROWS[:8]]
RUBRIC = "rubrics.evenhand.summarization"
SUMMARY = {"response_fields": "a", "context_fields": {"document": "q"}}
MODES = {
    "direct": lambda *how, **more: evenhand.judge(ROWS, "Is it clear?", *how, response_fields="a", **more),
    "rubric": lambda *how, **more: evenhand.judge(ROWS[:6], RUBRIC, *how, **SUMMARY, **more),
    "rubric in one call": lambda *how, **more: evenhand.judge(ROWS, RUBRIC, *how, **SUMMARY, calls="per_item", **more),
    "checklist": lambda *how, **more: evenhand.checklist(
        ROWS, ["Is it clear?", "Is it short?"], *how, response_fields="a", **more
    ),
    "pairwise": lambda *how, **more: evenhand.winrates(
        ROWS, "Which is clearer?", *how, response_fields=["a", "b"], **more
    ),
    "swiss": lambda *how, **more: evenhand.winrates(
        ROWS[:8], "Which is clearer?", *how, response_fields=["a", "b", "c", "q"], design="swiss:3", **more
    ),
    "grade scores": lambda *how, **more: evenhand.grade_scores(
        CANDIDATES, "Which is best?", *how, response_fields="options", prompts=["select", "grade"], **more
    ),
}
ANSWERS = deterministic_reply(["Yes", "No"])


def reply(body):
    """Tokens of the usual size: of four bytes in prompts, of three in replies."""
    text = str(ANSWERS(body))
    return Reply(text, prompt_tokens=len(conversation(body).encode()) // 4, completion_tokens=len(text) // 3 + 1)


def billed(server):
    """US dollars for what the server worked on; what it refused costs nothing."""
    replies = [reply(seen.body) for seen in server.requests if seen.status == 200]
    return sum(each.prompt_tokens * PROMPT_PRICE + each.completion_tokens * REPLY_PRICE for each in replies) / 1e6


def run(mode, server, *, max_tokens, **more):
    limit = "" if max_tokens is None else f",max_tokens={max_tokens}"
    prices = f"prompt_price={PROMPT_PRICE},completion_price={REPLY_PRICE}{limit}"
    engine = f"{server.base_url}[model=m,backoff=0,{prices}]"
    return MODES[mode](engine, journal=None, progress=False, max_failure_rate=1.0, max_reasks=0, **more)


@pytest.mark.parametrize("max_tokens", [None, 120])
@pytest.mark.parametrize("mode", MODES)
def test_no_mode_is_billed_more_than_max_cost_and_about_all_of_it_is_used(mode, max_tokens):
    with JudgeServer(reply=reply) as server:
        run(mode, server, max_tokens=max_tokens)
        whole, calls = billed(server), server.seen
    with JudgeServer(reply=reply, faults=[Fault("status", on=range(3, 1000, 9))]) as server:
        table = run(mode, server, max_tokens=max_tokens, max_cost=whole / 2)
        assert billed(server) <= whole / 2
        assert table.spending.cost == pytest.approx(billed(server))
        assert table.spending.requests == server.seen
    assert table.spending.cost >= whole / 2 - 8 * whole / calls - 0.02  # the last calls, at their most, did not fit
    reasons = {vote.unscored_reason for cell in table.cells() for vote in cell.votes}
    assert "budget" in reasons
