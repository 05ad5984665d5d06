"""Plain votes to a verdict, and what holds for every rule."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.aggregation import RULES
from evenhand.errors import EvenhandWarning, InvalidInputError, UnknownRuleError
from evenhand.read_votes import aggregate_votes
from tests.judge_reliability.criteria import KINDS, LEVELS, SAFE

CASES = [(criterion, rule) for criterion in (LEVELS, SAFE, KINDS) for rule in RULES[criterion.scale]]
BY_RULE = pytest.mark.parametrize(("criterion", "rule"), CASES, ids=lambda case: getattr(case, "scale", case))
SCORED = {"ordinal": 5, "binary": 2, "nominal": 3}


def panels(criterion, *, abstentions=True):
    vote = st.integers(0, SCORED[criterion.scale] - 1)
    return st.lists(st.none() | vote if abstentions else vote, min_size=1, max_size=7)


def aggregated(votes, criterion, rule=None, weights=None, **options):
    (verdict,) = aggregate_votes([{"votes": votes}], "votes", criterion, rule, weights, **options).verdicts
    return verdict


def chosen(votes, criterion, rule, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenhandWarning)
        verdict = aggregated(votes, criterion, rule, weights, as_index=True)
    return verdict.selected_index, verdict.aggregated_value, verdict.na, verdict.unscored_reason


@BY_RULE
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_judges_never_matters(criterion, rule, data):
    votes = data.draw(panels(criterion))
    shuffled = data.draw(st.permutations(votes))
    assert chosen(votes, criterion, rule) == chosen(shuffled, criterion, rule)
    named = {f"judge {place}": vote for place, vote in enumerate(votes)}
    assert chosen(named, criterion, rule) == chosen(dict(reversed(named.items())), criterion, rule)


@BY_RULE
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_an_added_abstention_never_changes_the_choice(criterion, rule, data):
    votes = data.draw(panels(criterion))
    if rule == "absolute_majority":  # which counts those who abstain
        return
    assert chosen([*votes, None], criterion, rule) == chosen(votes, criterion, rule)


@BY_RULE
@given(data=st.data(), scale=st.sampled_from([0.25, 3, 7.5]))
@settings(max_examples=15, deadline=None)
def test_weights_scaled_by_a_constant_change_nothing(criterion, rule, data, scale):
    votes = data.draw(panels(criterion))
    weighted = rule in {"weighted", "weighted_mean", "weighted_mode"}
    weight = st.integers(1, 4) if weighted else st.just(2)
    weights = data.draw(st.lists(weight, min_size=len(votes), max_size=len(votes)))
    index, value, *rest = chosen(votes, criterion, rule, weights)
    again = chosen(votes, criterion, rule, [scale * weight for weight in weights])
    assert (again[0], *again[2:]) == (index, *rest)
    assert again[1] == pytest.approx(value)


@BY_RULE
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_unanimous_panel_is_followed(criterion, rule, data):
    option = data.draw(st.integers(0, SCORED[criterion.scale] - 1))
    silent = [] if rule == "absolute_majority" else [None]  # that rule counts those who abstain
    votes = data.draw(st.lists(st.sampled_from([option, *silent]), max_size=5))
    assert chosen([option, *votes], criterion, rule)[:2] == (option, criterion.options[option].value)


@given(votes=panels(LEVELS))
@settings(max_examples=30, deadline=None)
def test_the_least_the_mean_and_the_greatest(votes):
    least, mean, median, greatest = (chosen(votes, LEVELS, rule)[1] for rule in ("min", "mean", "median", "max"))
    if least is None:
        assert set(votes) == {None}
        return
    assert least <= mean <= greatest
    assert least <= median <= greatest


def test_hand_worked():
    # 1, 0.75 and 0.25: the mean 2/3 is nearest to 0.75, the median is 0.75
    votes = {"ann": "Excellent", "bob": "Good", "eve": "Poor", "joe": None}
    mean = aggregated(votes, LEVELS)
    assert mean.aggregated_value == pytest.approx(2 / 3)
    assert mean.selected_label == "Good"
    assert mean.agreement == 1 / 4
    assert mean.bounds == pytest.approx((2 / 4, 3 / 4))  # joe's vote as the lowest and the highest level
    # (3·1 + 1·0.75 + 0·0.25) / 4
    weights = {"ann": 3, "bob": 1, "eve": 0, "joe": 1}
    assert aggregated(votes, LEVELS, "weighted_mean", weights).aggregated_value == pytest.approx(3.75 / 4)
    assert aggregated([True, False, True], SAFE).selected_label == "Safe"
    assert aggregated([True, False], SAFE).selected_label == "Unsafe"  # a tie is not met
    assert aggregated(["N/A", None], SAFE).na
    assert aggregated([None, ""], SAFE).unscored_reason == "abstained"


def test_what_cannot_be_aggregated_is_refused():
    with pytest.raises(InvalidInputError, match="row 0: the judge 'votes_1' voted 'Great'"):
        aggregated(["Good", "Great"], LEVELS)
    with pytest.raises(InvalidInputError, match="'votes_1' has the weight -2"):
        aggregated(["Good", "Good"], LEVELS, "mean", [1, -2])
    with pytest.raises(UnknownRuleError, match="'medain' is not a rule"):
        aggregated(["Good"], LEVELS, "medain")
