"""What a run would take: the estimate is what an undisturbed run then does."""

import pytest

from evenhand.judging.conversation import Flow
from evenhand.options import Grid
from tests.support.judges import http_judge
from tests.support.questions import ONCE, estimated, questions, run
from tests.support.server import JudgeServer, conversation


def own_words(body):
    """A reply that names an option and is another for every request."""
    return f"High. ({hash(conversation(body))})" if "response_format" not in body else '{"selected_option": "High"}'


@pytest.mark.parametrize("flow", [Flow(), Flow(flow="one_step"), Flow(generate_summaries=True)])
@pytest.mark.parametrize("grid", [ONCE, Grid(check_positional_bias=0.4), Grid(orders="cyclic", samples=2)])
def test_an_estimate_is_the_number_of_calls_of_an_undisturbed_run(flow, grid, journal):
    asked = questions(5)
    with JudgeServer(reply=own_words) as server:
        judges = [http_judge(server.base_url, model=name, seed=1, temperature=1.0) for name in "ab"]
        before = estimated(asked, judges, grid=grid, flow=flow, journal=journal)
        assert server.seen == 0
        votes = run(asked, judges, grid=grid, flow=flow, journal=journal)
        after = estimated(asked, judges, grid=grid, flow=flow, journal=journal)
    assert (before.calls, before.cached) == (server.seen, 0)
    assert (after.calls, after.cached) == (0, server.seen)
    assert before.votes == after.votes == sum(map(len, votes))
    assert before.prompt_tokens > 0 == after.prompt_tokens


def test_an_estimate_follows_the_journaled_conversation_to_its_reasks(journal):
    with JudgeServer(reply=lambda body: "hm") as server:
        judge = http_judge(server.base_url)
        run(questions(3), [judge], grid=ONCE, journal=journal)
        assert server.seen == 9  # assessment, selection and re-ask
        assert estimated(questions(3), [judge], grid=ONCE, journal=journal).calls == 0
