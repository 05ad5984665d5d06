"""What a run would take: the estimate is what an undisturbed run then does."""

import pytest

from evenhand.criteria import Criterion, Option
from evenhand.engines.baseline import BaselineEngine
from evenhand.engines.journal import Journal
from evenhand.errors import InvalidInputError
from evenhand.judging.conversation import Flow
from evenhand.judging.estimate import RunEstimate, estimate_run
from evenhand.judging.run import run_votes
from evenhand.options import Grid, Limits
from evenhand.question import Question
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.server import JudgeServer, conversation

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=(Option(label="High", value=1.0), Option(label="Mid", value=0.5), Option(label="Low", value=0.0)),
)
ONCE = Grid(check_positional_bias=False)
QUIET = Limits(progress=False, max_failure_rate=1.0)


def questions(count):
    return [
        Question(id=str(number), criterion=LEVELS, responses=(f"answer {number}",), instance=number)
        for number in range(count)
    ]


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite3") as opened:
        yield opened


def own_words(body):
    """A reply that names an option and is another for every request."""
    return f"High. ({hash(conversation(body))})" if "response_format" not in body else '{"selected_option": "High"}'


@pytest.mark.parametrize("flow", [Flow(), Flow(flow="one_step"), Flow(generate_summaries=True)])
@pytest.mark.parametrize("grid", [ONCE, Grid(check_positional_bias=0.4), Grid(orders="cyclic", samples=2)])
def test_an_estimate_is_the_number_of_calls_of_an_undisturbed_run(flow, grid, journal):
    asked = questions(5)
    with JudgeServer(reply=own_words) as server:
        judges = [http_judge(server.base_url, name="a", seed=1), http_judge(server.base_url, model="b", seed=2)]
        before = estimate_run(asked, judges, grid=grid, flow=flow, journal=journal)
        assert server.seen == 0
        votes = run_votes(asked, judges, grid=grid, flow=flow, limits=QUIET, journal=journal)
        after = estimate_run(asked, judges, grid=grid, flow=flow, journal=journal)
    assert (before.calls, before.cached) == (server.seen, 0)
    assert (after.calls, after.cached) == (0, server.seen)
    assert before.votes == after.votes == sum(map(len, votes))
    assert before.prompt_tokens > 0 == after.prompt_tokens


def test_an_estimate_follows_the_journaled_conversation_to_its_reasks(journal):
    with JudgeServer(reply=lambda body: "hm") as server:
        judge = http_judge(server.base_url)
        run_votes(questions(3), [judge], grid=ONCE, limits=QUIET, journal=journal)
        assert server.seen == 9  # assessment, selection and re-ask
        assert estimate_run(questions(3), [judge], grid=ONCE, journal=journal).calls == 0


def test_an_estimate_prices_the_calls_that_are_to_be_made():
    asked = questions(2)
    judge = http_judge("http://127.0.0.1:9", prompt_price=3.0, completion_price=10.0)
    estimate = estimate_run(asked, [judge], grid=ONCE)
    # two votes: an assessment of 200 tokens and a selection of 8 each; dollars a million tokens
    assert estimate.completion_tokens == 2 * (200 + 8)
    assert estimate.cost == pytest.approx((estimate.prompt_tokens * 3.0 + 416 * 10.0) / 1e6)
    assert estimate_run(asked, [http_judge("http://127.0.0.1:9")], grid=ONCE).cost is None
    assert estimate_run(asked, [BaselineEngine()], grid=ONCE).cost is None


def test_a_dry_run_refuses_weights_that_do_not_fit():
    with pytest.raises(InvalidInputError, match=r"judge_weights is \[1.0\]"):
        estimate_run(questions(1), [ScriptedJudge(chooses("Mid"), name=name) for name in "ab"], weights=[1.0])


def test_estimates_add_up_and_an_unknown_cost_is_not_zero():
    known = RunEstimate(votes=1, calls=2, cached=3, prompt_tokens=4, completion_tokens=5, cost=0.5)
    unknown = RunEstimate(votes=10, calls=20, cached=30, prompt_tokens=40, completion_tokens=50, cost=None)
    both = RunEstimate(votes=11, calls=22, cached=33, prompt_tokens=44, completion_tokens=55, cost=0.5)
    assert RunEstimate.total([known, unknown]) == both
    assert RunEstimate.total([unknown]) == unknown
