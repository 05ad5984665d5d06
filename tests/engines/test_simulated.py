import asyncio
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.criteria import Criterion, Option
from evenhand.engines.calls import Calls
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.judging.conversation import Flow, ask
from evenhand.question import Question, choice_criterion, comparison_criterion
from tests.support.simulated import expected_value

LEVELS = Criterion(
    name="quality",
    description="How good is it?",
    options=(
        Option(label="Good", value=1.0),
        Option(label="Fair", value=0.5),
        Option(label="Bad", value=0.0),
        Option(label="Not applicable", na=True),
    ),
)
BOTH = ((0, 1), (1, 0))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def pair(*responses, kind="two", question_id="q"):
    criterion = comparison_criterion("better", "Which?", allow_ties=kind == "tie", graded=kind == "graded")
    return Question(id=question_id, criterion=criterion, responses=responses, mode="compare")


def single(response="r", criterion=LEVELS, question_id="q"):
    return Question(id=question_id, criterion=criterion, responses=(response,))


def votes(engine, questions, orders, *, flow=None, samples=1):
    async def run():
        calls = Calls(engine)
        async with calls.running():
            return [
                (await ask(flow or Flow(), [question], [order], sample, calls))[0]
                for question in questions
                for order in orders
                for sample in range(samples)
            ]

    return asyncio.run(run())


def near(observed, probability, n):
    """Within four standard errors of a share; fails for a right simulation once in 16,000."""
    return abs(observed - probability) < 4 * math.sqrt(probability * (1 - probability) / n) + 1e-12


def test_two_responses_follow_bradley_terry_with_an_order_effect():
    engine = SimulatedEngine(quality={"a": 1.2, "b": 0.5}, position_preference=0.8)
    question = pair("a", "b")
    # Shown a, b: log-odds of a = 0.7 + 0.8. Shown b, a: of b = -0.7 + 0.8, so a wins with 1 - sigmoid(0.1).
    assert engine.choice_probabilities(question, (0, 1)) == pytest.approx([sigmoid(1.5), 1 - sigmoid(1.5)])
    assert engine.choice_probabilities(question, (1, 0)) == pytest.approx([1 - sigmoid(0.1), sigmoid(0.1)])
    assert expected_value(engine, question, BOTH) == pytest.approx((sigmoid(1.5) + 1 - sigmoid(0.1)) / 2)
    assert expected_value(engine.changed(position_preference=0.0), question, BOTH) == pytest.approx(sigmoid(0.7))


def test_ties_follow_davidson():
    engine = SimulatedEngine(quality={"a": 0.0, "b": 0.0}, tie=0.5)
    # exp(0) : 0.5 : exp(0) = 0.4 : 0.2 : 0.4
    assert engine.choice_probabilities(pair("a", "b", kind="tie"), (0, 1)) == pytest.approx([0.4, 0.2, 0.4])
    stronger = engine.changed(quality={"a": 2.0, "b": 0.0})
    # exp(1) : 0.5 : exp(-1)
    total = math.exp(1) + 0.5 + math.exp(-1)
    expected = [math.exp(1) / total, 0.5 / total, math.exp(-1) / total]
    assert stronger.choice_probabilities(pair("a", "b", kind="tie"), (1, 0)) == pytest.approx(expected)


def test_graded_levels_cut_a_logistic_difference():
    engine = SimulatedEngine(quality={"a": 0.3, "b": 0.0})
    found = engine.choice_probabilities(pair("a", "b", kind="graded"), (0, 1))
    # The level nearest to sigmoid(y): cut at 7/8, 5/8, 3/8, 1/8, whose logits are ±ln 7 and ±ln(5/3).
    cuts = [math.log(7), math.log(5 / 3), -math.log(5 / 3), -math.log(7)]
    above = [0.0, *(sigmoid(0.3 - cut) for cut in cuts), 1.0]
    assert found == pytest.approx(np.diff(above))


def test_more_responses_follow_a_softmax_that_moves_with_the_first_place():
    engine = SimulatedEngine(quality={"a": 0.0, "b": math.log(2), "c": 0.0}, position_preference=math.log(3))
    question = Question(
        id="q", criterion=choice_criterion("best", "Which?", 3), responses=("a", "b", "c"), mode="choose"
    )
    assert engine.choice_probabilities(question, (0, 1, 2)) == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert engine.choice_probabilities(question, (1, 2, 0)) == pytest.approx([1 / 8, 6 / 8, 1 / 8])
    noisy = engine.changed(noise=2.0).choice_probabilities(question, (1, 2, 0))
    assert noisy[0] == pytest.approx(noisy[2], abs=0.02)
    assert 1 / 8 < noisy[0] < 1 / 3


def test_an_assessment_takes_the_nearest_level_and_noise_spreads_it():
    engine = SimulatedEngine(quality={"r": 0.6})
    assert list(engine.choice_probabilities(single(), (0, 1, 2, 3))) == [0, 1, 0, 0]
    noisy = engine.changed(noise=0.15)
    found = noisy.choice_probabilities(single(), (3, 2, 1, 0))
    # cut at 0.25 and 0.75: P(z > 1) = 0.158655, P(z < -2.3333) = 0.009815 (tables of the normal distribution)
    assert found == pytest.approx([0.158655, 1 - 0.158655 - 0.009815, 0.009815, 0], abs=1e-5)


def test_a_position_preference_takes_the_first_option_shown():
    engine = SimulatedEngine(quality={"r": 1.0}, position_preference=math.log(3))  # tanh(ln(3) / 2) = 1/2
    assert engine.choice_probabilities(single(), (0, 1, 2, 3)) == pytest.approx([1, 0, 0, 0])
    assert engine.choice_probabilities(single(), (2, 1, 0, 3)) == pytest.approx([0.5, 0, 0.5, 0])
    assert engine.choice_probabilities(single(), (3, 1, 0, 2)) == pytest.approx([0.5, 0.5, 0, 0])  # never the NA option
    last = engine.changed(position_preference=-math.log(3))
    assert last.choice_probabilities(single(), (0, 1, 2, 3)) == pytest.approx([0.5, 0, 0.5, 0])


def test_noise_in_a_comparison_is_integrated():
    engine = SimulatedEngine(quality={"a": 1.0, "b": 0.0}, noise=1.5, position_preference=0.3)
    draws = 1.3 + np.random.default_rng(7).normal(size=400_000) * 1.5 * math.sqrt(2)
    expected = (1 / (1 + np.exp(-draws))).mean()
    assert engine.choice_probabilities(pair("a", "b"), (0, 1))[0] == pytest.approx(expected, abs=0.003)


@settings(deadline=None, max_examples=30)
@given(
    st.tuples(st.floats(-4, 4), st.floats(-4, 4)), st.floats(-3, 3), st.sampled_from([0.0, 0.7]),
    st.floats(0, 1), st.sampled_from(["two", "tie", "graded"]),
)  # fmt: skip
def test_probabilities_sum_to_1_and_mirror_when_the_systems_do(qualities, position, noise, accuracy, kind):
    engine = SimulatedEngine(
        quality=dict(zip("ab", qualities, strict=True)), position_preference=position, noise=noise, accuracy=accuracy
    )
    for order in BOTH:
        found = engine.choice_probabilities(pair("a", "b", kind=kind), order)
        mirrored = engine.choice_probabilities(pair("b", "a", kind=kind), order[::-1])
        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()
        assert mirrored[::-1] == pytest.approx(found, abs=1e-9)


def test_the_same_seed_gives_the_same_votes_and_another_seed_others():
    questions = [pair("a", "b", question_id=str(i)) for i in range(40)]
    engine = SimulatedEngine(quality={"a": 0.0, "b": 0.0})
    one = [vote.selected_index for vote in votes(engine, questions, BOTH, samples=3)]
    assert one == [vote.selected_index for vote in votes(engine.changed(name="twin"), questions, BOTH, samples=3)]
    assert one != [vote.selected_index for vote in votes(engine.changed(seed=1), questions, BOTH, samples=3)]
    by_sample = np.array(one).reshape(40, 2, 3)
    assert (by_sample[:, :, 0] != by_sample[:, :, 1]).any()
    assert (by_sample[:, 0, 0] != by_sample[:, 1, 0]).any()


@pytest.mark.parametrize("flow", [Flow(max_reasks=1), Flow(flow="one_step", max_reasks=1)])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [("refusal_rate", "refusal"), ("truncation_rate", "truncated"), ("garbage_rate", "no_match")],
)
def test_replies_that_go_wrong_are_unscored_with_their_reason(fault, reason, flow):
    questions = [single(question_id=str(i)) for i in range(200)]
    engine = SimulatedEngine(quality={"r": 1.0}, **{fault: 0.25})
    cast = votes(engine, questions, [(0, 1, 2, 3)], flow=flow)
    unscored = [vote for vote in cast if not vote.scored]
    assert {vote.unscored_reason for vote in unscored} == {reason}
    assert near(len(unscored) / 200, 0.25, 200)
    assert {vote.selected_label for vote in cast if vote.scored} == {"Good"}
    assert all(vote.reasks == 1 for vote in unscored)
    mended = votes(engine.changed(recovery_rate=1.0), questions, [(0, 1, 2, 3)], flow=flow)
    assert all(vote.scored for vote in mended)
    assert [vote.reasks for vote in mended] == [0 if vote.scored else 1 for vote in cast]


@pytest.mark.parametrize("quality", [{}, {"r": math.nan}, lambda question, index: math.inf])
def test_a_quality_that_is_not_known_is_an_error(quality):
    question = Question(id="q7", criterion=LEVELS, responses=("r",))
    with pytest.raises(RejectedRequestError, match="q7"):
        SimulatedEngine(quality=quality).quality_of(question, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", 1.5), ("refusal_rate", -0.1), ("recovery_rate", math.nan), ("noise", -1.0), ("noise", math.inf),
        ("tie", -1.0), ("position_preference", math.nan), ("verbosity_preference", math.inf), ("typical_length", -1),
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused(name, value):
    with pytest.raises(InvalidInputError, match=name):
        SimulatedEngine(**{name: value})
