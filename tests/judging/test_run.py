"""A run of the grid: every vote in its place, no call too many, and failures that are told."""

import warnings

import pytest

from evenhand import Judge, OpenAICompatibleEngine
from evenhand.criteria import yes_no_criterion
from evenhand.errors import (
    TooManyFailuresError,
    TransientEngineError,
)
from evenhand.judging.conversation import Flow
from evenhand.judging.run import AlikeDrawsWarning
from evenhand.options import Grid
from evenhand.question import Question
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.questions import LEVELS, ONCE, questions, run
from tests.support.server import Fault, JudgeServer


def test_votes_stand_in_the_order_of_judges_orders_and_samples():
    judges = [ScriptedJudge(chooses("High"), name="a"), ScriptedJudge(chooses("Low"), name="b")]
    votes = run(questions(3), judges, grid=Grid(orders="both", samples=2), judge_weights=[1.0, 3.0])
    expected = [(judge, order, sample) for judge in ("a", "b") for order in ((0, 1, 2), (2, 1, 0)) for sample in (0, 1)]
    for row in votes:
        assert [(vote.judge_id, vote.order, vote.sample) for vote in row] == expected
        assert [vote.weight for vote in row] == [1.0] * 4 + [3.0] * 4
        assert [vote.selected_label for vote in row] == ["High"] * 4 + ["Low"] * 4


@pytest.mark.parametrize("max_calls", [0, 1, 5, 12])
def test_max_calls_is_kept_to_the_call(max_calls):
    with JudgeServer(labels=LEVELS.labels) as server:
        votes = run(questions(6), [http_judge(server.base_url, max_in_flight=3)], grid=ONCE, max_calls=max_calls)
    assert server.seen == max_calls  # the whole run takes 12: 6 votes of two calls
    flat = [row[0] for row in votes]
    assert {vote.unscored_reason for vote in flat} <= {None, "budget"}
    assert sum(vote.usage.calls for vote in flat) == max_calls
    finished = sum(vote.selected_index is not None for vote in flat)
    assert finished <= max_calls // 2
    assert all("max_calls" in vote.error for vote in flat if vote.unscored_reason == "budget")
    assert (finished == 6) == (max_calls == 12)


def test_the_replies_of_the_journal_cost_no_budget(journal):
    with JudgeServer(labels=LEVELS.labels) as server:
        judge = http_judge(server.base_url)
        first = run(questions(4), [judge], grid=ONCE, journal=journal, max_calls=5)
        second = run(questions(4), [judge], grid=ONCE, journal=journal, max_calls=3)
    assert server.seen == 8
    assert any(vote.unscored_reason == "budget" for row in first for vote in row)
    assert all(vote.selected_index is not None for row in second for vote in row)


@pytest.mark.parametrize(
    ("failing", "of", "rate", "raises"),
    [
        (2, 10, 0.2, False),
        (3, 10, 0.2, True),
        (0, 10, 0.0, False),
        (1, 10, 0.0, True),
        (29, 100, 0.29, False),  # 0.29 · 100 is 28.999999999999996 in floating point
    ],
)
def test_too_many_failures_end_the_run_when_all_is_judged(failing, of, rate, raises):
    def reply(request):
        if int(request.question.id) < failing:
            return TransientEngineError("gone", cause="http_500")
        return "Mid" if request.options else "It is."

    judge = ScriptedJudge(reply)
    if not raises:
        votes = run(questions(of), [judge], grid=ONCE, max_failure_rate=rate)
    else:
        with pytest.raises(TooManyFailuresError, match=f"{failing} of {of} votes failed") as caught:
            run(questions(of), [judge], grid=ONCE, max_failure_rate=rate)
        votes = caught.value.votes
    assert [row[0].unscored_reason for row in votes] == ["engine_error"] * failing + [None] * (of - failing)


def test_one_dead_judge_does_not_stop_the_panel():
    with JudgeServer(labels=LEVELS.labels) as good, JudgeServer(faults=[Fault("status", status=401)]) as dead:
        panel = [http_judge(dead.base_url, name="dead", max_in_flight=2), http_judge(good.base_url, name="good")]
        votes = run(questions(20), panel, grid=ONCE)
    assert all(row[0].unscored_reason == "engine_error" for row in votes)
    assert all(row[1].selected_index is not None for row in votes)
    assert good.seen == 40


def jitter(request):
    """Up to 20 ms, another for every request."""
    return hash((request.question.id, request.presentation.order, request.stage)) % 20 / 1000


@pytest.mark.parametrize("concurrency", [1, 2, 7, 64])
def test_the_result_does_not_depend_on_concurrency_or_latency(concurrency):
    def choice(request):
        return LEVELS.labels[len(request.question.id) * 7 % 3] if request.options else f"on {request.question.id}"

    grid = Grid(orders="shuffled", shuffles=3, samples=2)
    plain = run(questions(12), [ScriptedJudge(choice, concurrency=1)], grid=grid)
    other = run(questions(12), [ScriptedJudge(choice, concurrency=concurrency, delay=jitter)], grid=grid)
    assert plain == other


def test_no_more_calls_are_in_flight_than_the_judge_allows():
    with JudgeServer(labels=LEVELS.labels, latency=0.02) as server:
        run(questions(20), [http_judge(server.base_url, max_in_flight=3)])
    assert server.max_in_flight == 3


def test_an_error_of_our_own_loses_no_reply_that_is_on_its_way(journal):
    def faulty(request):
        return "answer 0" in request.messages[0]["content"]

    judge = ScriptedJudge(
        lambda request: KeyError("a fault in the program") if faulty(request) else "an assessment",
        concurrency=8,
        delay=lambda request: 0.0 if faulty(request) else 0.2,
    )
    with pytest.raises(KeyError, match="a fault in the program"):
        run(questions(8), [judge], grid=ONCE, journal=journal)
    assert journal.count() == 7


def drawn(judge, question, **grid):
    grid = {"check_positional_bias": False, "samples": 5, **grid}
    [votes] = run([question], [judge], grid=Grid(**grid), flow=Flow(flow="verdict_only"))
    return votes


@pytest.mark.parametrize(
    ("script", "made"),
    [
        ("YYY", 3),  # three of five
        ("YNYY", 4),
        ("YNYNY", 5),
        ("Y??YY", 4),  # unreadable draws settle nothing: after three, 1 : 0 can still become 1 : 2
    ],
)
def test_no_draw_is_made_that_could_not_change_the_outcome(script, made):
    replies = {"Y": "Yes", "N": "No", "?": "hm"}
    judge = ScriptedJudge(lambda request: "hm" if request.stage == "reask" else replies[script[request.sample]])
    question = Question(id="1", criterion=yes_no_criterion("met", "Is it met?"), responses=("r",))
    votes = drawn(judge, question, stop_early=True)
    assert [vote.sample for vote in votes] == list(range(made))
    assert max(request.sample for request in judge.requests) == made - 1


@pytest.mark.parametrize(("temperature", "samples", "warned"), [(0.0, 3, True), (0.0, 1, False), (0.7, 3, False)])
def test_repeated_draws_at_temperature_0_are_warned_of(temperature, samples, warned):
    judge = OpenAICompatibleEngine(model="judge", base_url="http://127.0.0.1:9/v1", temperature=temperature)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Judge("Is it right?", judge, samples=samples, journal=None)
    assert [each.category for each in told] == [AlikeDrawsWarning] * warned
