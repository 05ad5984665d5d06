"""When further draws are not needed: held against trying everything that they could still say."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.aggregation.verdict import (
    Levels,
    aggregate,
    draws_are_settled,
    posterior_of_lead,
    predictive_probability,
)
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.question import comparison_criterion
from evenhand.votes import EarlyStop, Vote
from tests.aggregation.stopping import RECORDED, Stopping, levels, recorded_cells, replay
from tests.support.shared import shared_path

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
@settings(max_examples=30, deadline=None)
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


@pytest.mark.parametrize(("leading", "runner_up"), [(1, 0), (4, 0), (5, 2), (20, 11), (3, 3)])
def test_the_posterior_of_the_lead_is_that_of_a_beta_distribution(leading, runner_up):
    assert posterior_of_lead(leading, runner_up) == pytest.approx(
        stats.beta(leading + 1, runner_up + 1).sf(0.5), abs=1e-12
    )


DISTINCT = {
    "binary": yes_no_criterion("c", "d", na=True),
    "binary, a fault": yes_no_criterion("c", "d", weight=-1.0),
    "ordinal": levels(4),
    "ordinal, a fault": levels(3).model_copy(update={"weight": -1.0}),
    "nominal": levels(4, "nominal"),
    "pairwise": comparison_criterion("c", "d"),
    "pairwise with ties": comparison_criterion("c", "d", allow_ties=True),
    "graded": comparison_criterion("c", "d", graded=True),
}


@pytest.mark.parametrize("criterion", DISTINCT.values(), ids=DISTINCT)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_the_predictive_probability_is_that_of_every_continuation(criterion, data):
    """The oracle lists every count of the further draws, with scipy's Dirichlet-multinomial mass."""
    scored = [place for place, option in enumerate(criterion.options) if not option.na]
    made = data.draw(st.lists(st.sampled_from(scored), min_size=1, max_size=5))
    remaining = data.draw(st.integers(1, 4))
    counts = [made.count(place) for place in range(len(criterion.options))]
    concentration = [counts[place] + 0.25 / len(scored) for place in scored]
    now = outcome(draws(made, criterion), criterion)
    stays = 0.0
    for further in itertools.combinations_with_replacement(scored, remaining):
        mass = stats.dirichlet_multinomial.pmf([further.count(place) for place in scored], concentration, remaining)
        stays += mass * (outcome(draws([*made, *further], criterion), criterion) == now)
    assert predictive_probability(Levels.of(criterion), counts, remaining) == pytest.approx(stays, abs=1e-9)


def test_the_default_saves_two_calls_of_five_on_recorded_draws():
    cells = recorded_cells(shared_path(RECORDED))
    some = type(cells)(dict(itertools.islice(cells.items(), 0, None, 8)))
    for criterion in (levels(10), levels(10, "nominal")):
        calls, same = replay(Stopping(criterion, "predictive"), cells if len(some) < 2000 else some)
        assert same >= 0.97
        assert calls < replay(Stopping(criterion, 0.95), some)[0]


def stopped(indices, criterion, planned, confidence=None, judge="j"):
    """Draws of which all but the first may depend on what was said."""
    rule = EarlyStop(planned=planned, confidence=confidence)
    return [vote.model_copy(update={"early_stop": rule, "judge_id": judge}) for vote in draws(indices, criterion)]


def test_bounds_hold_what_unmade_draws_could_still_have_said():
    criterion = CRITERIA["binary"]
    # 4 yes and 2 unscored of seven: with two no, 4 : 2 is settled, for one no more is 4 : 3
    assert aggregate(stopped([0, 0, 0, 0, None, None], criterion, 7), criterion).bounds == (1.0, 1.0)
    # under a posterior 4 yes end nine draws; with two no in place of the unscored ones nothing is certain
    unsure = aggregate(stopped([0, None, 0, None, 0, 0], criterion, 9, 0.95), criterion)
    assert (unsure.aggregated_value, unsure.bounds) == (1.0, (0.0, 1.0))
