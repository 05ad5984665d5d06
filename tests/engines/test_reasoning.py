"""The reasoning trace of a thinking model: from the server's reply into votes, journal and files."""

import pytest

import evenhand
from evenhand.engines.journal import Journal
from tests.support.asking import ask
from tests.support.judges import litellm_judge, openai_compatible_judge
from tests.support.server import JudgeServer, Reply

CLARITY = "criteria.evenhand.direct.clarity"
ROWS = [{"response": "One."}, {"response": "Two."}]


def thinking(body):
    """A model that thinks of one option, and says another; its thoughts are numbered by the turn."""
    turn = len(body["messages"])
    text = (
        "It could be clearer."
        if turn == 1 and "response_format" not in body
        else '{"selected_option": "Clear at once"}'
    )
    return Reply(text, message={"reasoning_content": f"Thought {turn}: the selected option is Unclear."})


def judged(server, **options):
    judge = openai_compatible_judge(server.base_url, backoff=0.002)
    return evenhand.judge(ROWS, CLARITY, judge, context_fields=[], progress=False, **options)


@pytest.mark.parametrize("engine", ["openai_compatible", "litellm"])
def test_the_trace_comes_over_the_wire_and_out_of_the_journal(engine, tmp_path):
    with JudgeServer(reply=thinking) as server:
        if engine == "litellm":
            judge = litellm_judge(model="openai/judge", api_base=server.base_url)
        else:
            judge = openai_compatible_judge(server.base_url, model="judge")
        with Journal(tmp_path / "journal.sqlite") as journal:
            fresh = ask(judge, journal=journal)
        with Journal(tmp_path / "journal.sqlite") as journal:
            again = ask(judge, journal=journal)
    assert server.seen == 1
    assert fresh.reasoning == again.reasoning == "Thought 1: the selected option is Unclear."
    assert (again.cached, again.text) == (True, "It could be clearer.")


@pytest.mark.parametrize(
    ("flow", "trace"),
    [
        ("verdict_only", "Thought 1: the selected option is Unclear."),
        (
            "two_step",
            "Thought 1: the selected option is Unclear.\n\nThought 3: the selected option is Unclear.",
        ),
    ],
)
def test_a_vote_has_the_trace_and_no_verdict_is_read_from_it(flow, trace, tmp_path):
    with JudgeServer(reply=thinking) as server:
        table = judged(server, flow=flow, check_positional_bias=False, journal=tmp_path / "journal.sqlite")
    votes = [vote for entry in table for vote in entry.verdict.votes]
    assert {vote.selected_label for vote in votes} == {"Clear at once"}
    assert {vote.completion.reasoning for vote in votes} == {trace}
