"""When further draws are not needed: held against trying everything that they could still say."""

import gzip
import itertools
import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.aggregation.verdict import (
    Levels,
    aggregate,
    draws_are_settled,
    predictive_probability,
)
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion
from evenhand.votes import Vote
from tests.support.shared import shared_path


def levels(count, scale="ordinal", weight=1.0):
    """Equally spaced levels."""
    options = tuple(Option(label=str(level), value=level / (count - 1)) for level in range(count))
    return Criterion(name="c", description="d", options=options, scale=scale, weight=weight)


CRITERIA = {
    "binary": yes_no_criterion("c", "d", na=True),
    "binary, a fault": yes_no_criterion("c", "d", weight=-1.0),
    "ordinal": levels(4),
    "ordinal, a fault": levels(3, weight=-1.0),
    "nominal": levels(4, "nominal"),
    "pairwise": comparison_criterion("c", "d"),
    "pairwise with ties": comparison_criterion("c", "d", allow_ties=True),
    "graded": comparison_criterion("c", "d", graded=True),
}
TWINS = tuple(Option(label=f"level {place}", value=value) for place, value in enumerate((0.0, 0.5, 0.5, 1.0)))
WITH_TWINS = Criterion(name="c", description="d", options=(*TWINS, Option(label="N/A", na=True)))


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


@pytest.mark.parametrize("criterion", [*CRITERIA.values(), WITH_TWINS], ids=[*CRITERIA, "ordinal with twins"])
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
    if outcome(votes, criterion)[2] is None:
        assert draws_are_settled(votes, Levels.of(criterion), remaining) is (remaining == 0)
    else:
        counts = [made.count(place) * (not option.na) for place, option in enumerate(criterion.options)]
        certain = predictive_probability(Levels.of(criterion), counts, remaining) > 1 - 1e-9
        assert certain is (len(possible) == 1)


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
    assert draws_are_settled(draws(made, criterion), Levels.of(criterion), remaining) is settled


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
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


def test_the_predictive_rule_waits_for_three_draws_and_a_third():
    met = CRITERIA["binary"]
    ends = [
        draws_are_settled(draws([0] * made, met), Levels.of(met), planned - made)
        for planned, made in ((9, 2), (9, 4), (15, 4), (15, 5))
    ]
    # 2 of 9 are too few whatever they say, and so are 4 of 15
    assert ends == [False, True, False, True]
    # 5 : 3 of 9: one no is enough for 5 : 4, which is still yes
    assert draws_are_settled(draws([0] * 5 + [1] * 3, met), Levels.of(met), 1)


@pytest.mark.parametrize("scale", ["ordinal", "nominal"])
def test_the_rule_saves_two_calls_of_five_on_recorded_draws(scale):
    criterion = levels(10, scale)

    @cache
    def settled(said, remaining):
        return bool(said) and draws_are_settled(draws(said, criterion), Levels.of(criterion), remaining)

    @cache
    def selected(said):
        return aggregate(draws(said, criterion), criterion).selected_index

    with gzip.open(shared_path("data/composo_rewardbench2_k8.jsonl.gz"), "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    recorded = [cell for row in rows for cell in (*(row.get("full") or ()), *(row.get("mini") or ())) if any(cell)]
    made = planned = same = 0
    for cell in recorded[::8]:
        after = [tuple(sorted(level - 1 for level in cell[:end] if level)) for end in range(1, len(cell) + 1)]
        end = next((end for end, said in enumerate(after, 1) if settled(said, len(cell) - end)), len(cell))
        made, planned = made + end, planned + len(cell)
        same += selected(after[end - 1]) == selected(after[-1])
    assert same / len(recorded[::8]) >= 0.97
    assert made / planned < 0.65


def stopped(indices, criterion, planned):
    """Return draws that could stop early."""
    return [vote.model_copy(update={"draws_planned": planned}) for vote in draws(indices, criterion)]


def test_what_a_stop_would_bias_is_left_out_of_a_verdict():
    criterion = CRITERIA["binary"]
    votes = stopped([0, 1, 0, 0], criterion, 5)
    verdict = aggregate(votes, criterion)
    assert (verdict.aggregated_value, verdict.spread) == (1.0, None)
    assert verdict.agreement == 0.5  # of the first two, not 3/4
    assert aggregate(draws([0, 1, 0, 0], criterion), criterion).agreement == 0.75
    with pytest.raises(InvalidInputError, match=r"draws of 'j', which could stop early.*stop_early=False"):
        aggregate(votes, criterion, min_mass=0.5)


def test_draws_have_no_result_under_a_criterion_that_they_do_not_settle():
    # 3 of 3, one of 1 and one of 2: two more of 1 tie, which goes to the worse; two of 0 move the median of seven to 2
    ordinal, nominal = (levels(4, scale) for scale in ("ordinal", "nominal"))
    votes = stopped([3, 3, 3, 1, 2], ordinal, 7)
    assert aggregate(votes, nominal).unscored_reason == aggregate(votes, ordinal).unscored_reason == "stopped_early"
    assert aggregate(stopped([3, 3, 3, 1, 2, 0, 1], ordinal, 7), nominal).selected_index == 3
    # 4 : 1 is settled, whatever the two others are
    assert aggregate(stopped([3, 3, 3, 3, 0], ordinal, 7), nominal).selected_index == 3


def test_bounds_hold_what_unmade_draws_could_still_have_said():
    criterion = CRITERIA["binary"]
    # 4 yes and 2 unscored of seven: with two no, 4 : 2 is settled, for one no more is 4 : 3
    assert aggregate(stopped([0, 0, 0, 0, None, None], criterion, 7), criterion).bounds == (1.0, 1.0)
    # 4 yes end nine draws; with two no in place of the unscored ones 4 : 2 is not settled
    unsure = aggregate(stopped([0, None, 0, None, 0, 0], criterion, 9), criterion)
    assert (unsure.aggregated_value, unsure.bounds) == (1.0, (0.0, 1.0))
