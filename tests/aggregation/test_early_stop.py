"""When further draws are not needed: held against trying everything that they could still say."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.aggregation import aggregate, draws_are_settled, posterior_of_lead
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion
from evenhand.votes import Vote

LEVELS = (0.0, 0.5, 0.5, 1.0)


def scaled(scale, weight=1.0, *, na=False):
    options = tuple(Option(label=f"level {place}", value=value) for place, value in enumerate(LEVELS))
    if na:
        options += (Option(label="N/A", na=True),)
    return Criterion(name="c", description="d", options=options, scale=scale, weight=weight)


CRITERIA = {
    "binary": yes_no_criterion("c", "d", na=True),
    "binary, a fault": yes_no_criterion("c", "d", weight=-1.0),
    "ordinal": scaled("ordinal", na=True),
    "ordinal, a fault": scaled("ordinal", -1.0),
    "nominal": scaled("nominal"),
    "pairwise": comparison_criterion("c", "d", allow_ties=True),
    "graded": comparison_criterion("c", "d", graded=True),
}


def draws(indices, criterion):
    return [
        Vote(
            judge_id="j",
            order=(0, 1),
            sample=sample,
            selected_index=index,
            na=index is not None and criterion.options[index].na,
            unscored_reason="no_match" if index is None else None,
        )
        for sample, index in enumerate(indices)
    ]


def outcome(votes, criterion):
    verdict = aggregate(votes, criterion)
    return verdict.selected_index, verdict.selected_label, verdict.aggregated_value, verdict.na


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_settled_is_what_no_continuation_can_change(criterion, data):
    said = st.sampled_from([None, *range(len(criterion.options))])
    made = data.draw(st.lists(said, min_size=1, max_size=5))
    remaining = data.draw(st.integers(0, 3))
    votes = draws(made, criterion)
    possible = {
        outcome(draws([*made, *further], criterion), criterion)
        for further in itertools.product([None, *range(len(criterion.options))], repeat=remaining)
    }
    has_choice = outcome(votes, criterion)[2] is not None
    expected = len(possible) == 1 if has_choice else remaining == 0
    assert draws_are_settled(votes, criterion, remaining) is expected


@pytest.mark.parametrize(
    ("made", "remaining", "settled"),
    [
        ([0, 0], 1, True),  # two of three
        ([0, 1], 1, False),
        ([0, 0], 2, False),  # 2 : 2 would be a tie, which is not met
        ([1, 1], 2, True),  # a tie is not met either
        ([0, None], 1, False),
        ([None, None], 1, False),
        ([0, 2], 1, False),  # N/A is set aside; 1 : 1 would be a tie
    ],
)
def test_worked_examples_of_yes_and_no(made, remaining, settled):
    criterion = CRITERIA["binary"]
    assert draws_are_settled(draws(made, criterion), criterion, remaining) is settled


def test_a_median_is_settled_when_neither_end_of_the_scale_can_move_it():
    criterion = scaled("ordinal")
    # 3, 3, 3 of five: the median of 3, 3, 3, x, y is 3 whatever x and y
    assert draws_are_settled(draws([3, 3, 3], criterion), criterion, 2)
    # 0, 3, 3 of five: with 0, 0 the median is 0
    assert not draws_are_settled(draws([0, 3, 3], criterion), criterion, 2)


@pytest.mark.parametrize(("leading", "runner_up"), [(1, 0), (4, 0), (5, 2), (20, 11), (3, 3)])
def test_the_posterior_of_the_lead_is_that_of_a_beta_distribution(leading, runner_up):
    assert posterior_of_lead(leading, runner_up) == pytest.approx(
        stats.beta(leading + 1, runner_up + 1).sf(0.5), abs=1e-12
    )


def test_unanimous_draws_stop_at_a_confidence():
    # P(theta > 1/2) after k equal draws is 1 - (1/2)^(k+1): 0.9375 for 3, 0.96875 for 4
    criterion = CRITERIA["binary"]
    assert not draws_are_settled(draws([0] * 3, criterion), criterion, 30, confidence=0.95)
    assert draws_are_settled(draws([0] * 4, criterion), criterion, 30, confidence=0.95)
    assert not draws_are_settled(draws([0] * 4, criterion), criterion, 30)


def test_the_option_drawn_most_does_not_stop_draws_whose_median_is_another():
    criterion = Criterion(
        name="c",
        description="d",
        options=tuple(Option(label=str(level), value=level / 10) for level in range(11)),
    )
    made = [10] * 6 + [0, 1, 2, 3, 4, 5, 6]  # the mode is 10, the median 6
    assert math.isclose(aggregate(draws(made, criterion), criterion).aggregated_value, 0.6)
    assert posterior_of_lead(6, 1) > 0.95
    assert not draws_are_settled(draws(made, criterion), criterion, 20, confidence=0.95)


@pytest.mark.parametrize("confidence", [0.5, 1, 1.5, 0])
def test_a_confidence_lies_between_a_half_and_one(confidence):
    criterion = CRITERIA["binary"]
    with pytest.raises(InvalidInputError, match=r"give a number between 0\.5 and 1"):
        draws_are_settled(draws([0], criterion), criterion, 1, confidence=confidence)
