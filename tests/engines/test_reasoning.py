"""The reasoning trace of a thinking model: from the server's reply into votes, journal and files."""

import pytest

import evenhand
from tests.support.judges import litellm_judge, openai_compatible_judge
from tests.support.server import JudgeServer, Reply

CLARITY = "criteria.evenhand.direct.clarity"
ROWS = [{"response": "One."}, {"response": "Two."}]


def thinking(body):
    """A model that thinks of one option, and says another; its thoughts are numbered by the turn."""
    turn, asked = len(body["messages"]), body["messages"][-1]["content"]
    assessing = "Do not give the verdict yet" in asked
    text = "It could be clearer." if assessing else '{"selected_option": "Clear at once"}'
    return Reply(text, message={"reasoning_content": f"Thought {turn}: the selected option is Unclear."})


THOUGHTS = {
    "verdict_only": "Thought 1: the selected option is Unclear.",
    "two_step": "Thought 1: the selected option is Unclear.\n\nThought 3: the selected option is Unclear.",
}


@pytest.mark.parametrize("kind", ["own", "litellm"])
@pytest.mark.parametrize("flow", THOUGHTS)
def test_a_vote_has_the_trace_also_from_the_journal_and_no_verdict_is_read_from_it(flow, kind, tmp_path):
    options = {"flow": flow, "check_positional_bias": False, "context_fields": [], "progress": False}
    with JudgeServer(reply=thinking) as server:
        own = openai_compatible_judge(server.base_url)
        judge = own if kind == "own" else litellm_judge(api_base=server.base_url)
        for _ in range(2):
            table = evenhand.judge(ROWS, CLARITY, judge, journal=tmp_path / "journal.sqlite", **options)
            votes = [vote for entry in table for vote in entry.verdict.votes]
            assert {vote.selected_label for vote in votes} == {"Clear at once"}
            assert {vote.completion.reasoning for vote in votes} == {THOUGHTS[flow]}
        assert server.seen == len(ROWS) * (2 if flow == "two_step" else 1)
