"""Expected values from log-probabilities, over real HTTP: exact for a judge whose probabilities are known."""

from dataclasses import replace

import pytest

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.judging.conversation import Flow
from evenhand.judging.run import ask
from evenhand.options import RunOptions
from evenhand.question import Question
from evenhand.votes import Vote
from tests.support.judges import http_judge
from tests.support.server import JudgeServer
from tests.support.simulated import SimulatedReplies, expected_value

LEVELS = Criterion(
    name="clarity",
    description="How clear is it?",
    options=(
        Option(label="Quite clear", value=1.0),
        Option(label="Partly clear", value=0.5),
        Option(label="Not clear", value=0.0),
        Option(label="Does not apply", na=True),
    ),
)
NOISY = SimulatedEngine(
    quality=lambda question, _: float(question.context["quality"]), noise=0.3, position_preference=0.4, seed=5
)


def questions(criterion, count=6, **more):
    return [
        Question(
            id=str(number),
            criterion=criterion,
            responses=(f"answer {number}",),
            context={"quality": str(number / max(count - 1, 1))},
            instance=number,
            **more,
        )
        for number in range(count)
    ]


def settings(**options):
    return RunOptions(**{"flow": "verdict_only", "scoring": "expected", "journal": None, "progress": False, **options})


def votes_on(asked, judge, options):
    return ask(asked, [judge], options, Flow.of(options))


def verdicts(options, asked, judge):
    rules = VoteRules.from_parameters(dict(options))
    return [
        rules.aggregate(votes, question.criterion)
        for question, votes in zip(asked, votes_on(asked, judge, options), strict=True)
    ]


@pytest.mark.parametrize("flow", ["verdict_only", "one_step", "two_step"])
@pytest.mark.parametrize("criterion", [LEVELS, yes_no_criterion("met", "Is it met?")], ids=["levels", "yes or no"])
def test_one_reply_gives_the_expected_value_and_not_a_draw_from_it(criterion, flow):
    simulated = SimulatedReplies(NOISY)
    asked, run = questions(criterion), settings(flow=flow)
    with JudgeServer(reply=simulated) as server:
        found = verdicts(run, asked, simulated.in_front_of(http_judge(server.base_url)))
    given = tuple(range(len(criterion.options)))
    for question, verdict in zip(asked, found, strict=True):
        truth = expected_value(NOISY, question, [given, given[::-1]])
        assert verdict.aggregated_value == pytest.approx(truth, abs=1e-6)
        assert all(sum(vote.probabilities) == pytest.approx(1.0) for vote in verdict.votes)


def test_each_answer_of_a_sheet_has_the_probability_of_a_calibrated_judge():
    # P(yes) = P(quality + z > ½): Φ(1) = .841345, Φ(0) = .5, Φ(−1.5) = .066807 (tables of the normal distribution)
    chances = {1.5: 0.841345, 0.5: 0.5, -1.0: 0.066807}
    engine = SimulatedEngine(quality=lambda question, index: float(question.criterion.name), noise=1.0)
    simulated = SimulatedReplies(engine)
    asked = [
        replace(each, id=str(quality), mode="check", sheet="list", sheet_size=len(chances))
        for quality in chances
        for each in questions(yes_no_criterion(str(quality), f"Has it {quality}?"), count=1)
    ]
    with JudgeServer(reply=simulated) as server:
        cast = votes_on(asked, simulated.in_front_of(http_judge(server.base_url)), settings())
        assert server.seen == 2  # the sheet in both orders
    for votes, chance in zip(cast, chances.values(), strict=True):
        for vote in votes:
            assert vote.probabilities == pytest.approx((chance, 1 - chance), abs=1e-6)


@pytest.mark.parametrize(
    ("masses", "min_mass", "value"),
    [
        ((0.3, 0.15), 0.5, 1.0),  # 0.45 is covered: the answer counts
        ((0.3, 0.3), 0.5, 0.5),  # 0.3 / 0.6
        ((0.3, 0.15), 0.4, 0.3 / 0.45),
    ],
)
def test_log_probabilities_that_cover_too_little_give_way_to_the_selection(masses, min_mass, value):
    vote = Vote(judge_id="j", order=(0, 1), selected_index=0, probabilities=masses)
    verdict = VoteRules.from_parameters(dict(settings(min_mass=min_mass))).aggregate(
        [vote], yes_no_criterion("met", "?")
    )
    assert verdict.aggregated_value == pytest.approx(value)
