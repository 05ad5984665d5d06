"""What must hold for every grid of votes, under every rule and policy."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.verdict import ON_POSITION_BIAS, RULES, AggregationWarning, aggregate
from evenhand.criteria import Criterion, Option
from evenhand.question import comparison_criterion
from evenhand.votes import Vote

# Eighths are exact in binary, so a tie is a tie however the numbers are added.
VALUES = st.integers(0, 8).map(lambda eighths: eighths / 8)
WEIGHTS = st.sampled_from([0.5, 1.0, 2.0, 3.0])
REASONS = st.sampled_from(["refusal", "truncated", "no_match", "engine_error"])


@st.composite
def criteria(draw, scale=None, distinct=False):
    scale = scale or draw(st.sampled_from(["binary", "ordinal", "nominal"]))
    size = 2 if scale == "binary" else draw(st.integers(2, 5))
    values = draw(st.lists(VALUES, min_size=size, max_size=size, unique=distinct or scale == "binary"))
    options = [Option(label=f"o{place}", value=value) for place, value in enumerate(values)]
    if draw(st.booleans()):
        options.insert(draw(st.integers(0, size)), Option(label="n/a", na=True))
    weight = draw(st.sampled_from([-2.0, 0.0, 1.0]))
    return Criterion(name="c", description="", options=tuple(options), scale=scale, weight=weight)


PAIRWISE = st.builds(
    comparison_criterion,
    st.just("c"),
    st.just(""),
    allow_ties=st.booleans(),
    graded=st.booleans(),
)


@st.composite
def grids(draw, criterion, max_votes=8):
    """Votes of up to three judges, in up to two orders, some of them unscored."""
    judge_weights = {judge: draw(WEIGHTS) for judge in "abc"}
    votes = []
    for sample in range(draw(st.integers(1, max_votes))):
        judge = draw(st.sampled_from("abc"))
        common = {
            "judge_id": judge,
            "order": draw(st.sampled_from([(0, 1), (1, 0)])),
            "sample": sample,
            "weight": judge_weights[judge],
        }
        index = draw(st.none() | st.integers(0, len(criterion.options) - 1))
        if index is None:
            votes.append(Vote(**common, unscored_reason=draw(REASONS)))
        else:
            votes.append(Vote(**common, selected_index=index, na=criterion.options[index].na))
    return votes


@st.composite
def runs(draw, strategy=None, **limits):
    """A criterion, votes on it, and a rule and a policy that fit it."""
    criterion = draw(strategy if strategy is not None else criteria() | PAIRWISE)
    rule = draw(st.sampled_from(RULES[criterion.scale]))
    policy = draw(st.sampled_from(ON_POSITION_BIAS[criterion.scale]))
    return criterion, draw(grids(criterion, **limits)), rule, policy


def verdict_of(criterion, votes, rule, policy, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AggregationWarning)
        return aggregate(votes, criterion, rule, weights=weights, on_position_bias=policy)


def outcome(verdict):
    """Everything but the votes."""
    return verdict.model_dump(exclude={"votes"})


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_the_votes_never_matters(run, random):
    criterion, votes, rule, policy = run
    shuffled = random.sample(votes, len(votes))
    assert outcome(verdict_of(criterion, votes, rule, policy)) == outcome(verdict_of(criterion, shuffled, rule, policy))


@given(runs(criteria(distinct=True)), st.randoms(use_true_random=False))
def test_the_order_of_the_options_never_changes_the_label(run, random):
    # With distinct values no tie is decided by the index; the one index tie left is that of min and max between two
    # judges of equal value but unequal option, which averaged orders can make.
    criterion, votes, rule, policy = run
    places = random.sample(range(len(criterion.options)), len(criterion.options))
    moved = criterion.model_copy(update={"options": tuple(criterion.options[place] for place in places)})
    recast = [
        vote.model_copy(update={"selected_index": places.index(vote.selected_index)})
        if vote.selected_index is not None
        else vote
        for vote in votes
    ]
    before, after = verdict_of(criterion, votes, rule, policy), verdict_of(moved, recast, rule, policy)
    assert after.selected_label == before.selected_label
    assert after.aggregated_value == before.aggregated_value
    assert (after.na, after.unscored_reason, after.agreement) == (before.na, before.unscored_reason, before.agreement)


@given(runs(), st.data())
def test_an_unscored_vote_never_changes_the_value(run, data):
    criterion, votes, rule, policy = run
    before = verdict_of(criterion, votes, rule, policy)
    votes_of = data.draw(st.sampled_from(votes))  # another draw in a cell that was asked, so no order is new
    missing = votes_of.model_copy(
        update={"sample": 99, "selected_index": None, "na": False, "unscored_reason": "refusal"}
    )
    after = verdict_of(criterion, [*votes, missing], rule, policy)
    if before.scored or before.na:
        kept = {"selected_index", "selected_label", "value", "aggregated_value", "na", "spread", "position_consistent"}
        assert after.model_dump(include=kept) == before.model_dump(include=kept)
        assert after.agreement == pytest.approx(before.agreement * len(votes) / (len(votes) + 1))
    else:
        assert not after.scored


@given(runs(), st.data())
def test_a_judge_that_abstains_never_changes_the_choice(run, data):
    criterion, votes, rule, policy = run
    before = verdict_of(criterion, votes, rule, policy)
    if (not before.scored and not before.na) or rule == "absolute_majority":  # which counts those who abstain
        return
    orders = data.draw(st.sampled_from([[(0, 1)], [(0, 1), (1, 0)]]))
    na = before.scored and data.draw(st.booleans())  # "does not apply" is set aside where others found that it does
    abstaining = [
        Vote(judge_id="new", order=order, na=na, unscored_reason=None if na else "no_match", weight=data.draw(WEIGHTS))
        for order in orders[:1]
    ] + [Vote(judge_id="other", order=order, unscored_reason="refusal") for order in orders]
    after = verdict_of(criterion, [*votes, *abstaining], rule, policy)
    kept = {"selected_index", "selected_label", "value", "aggregated_value", "na", "spread", "position_consistent"}
    assert after.model_dump(include=kept) == before.model_dump(include=kept)
    assert after.agreement == pytest.approx(before.agreement * len(votes) / (len(votes) + len(abstaining)))


@given(runs(), st.floats(1e-12, 1e12))
def test_weights_scaled_by_a_constant_change_nothing(run, factor):
    criterion, votes, rule, policy = run
    own = {vote.judge_id: vote.weight for vote in votes}
    scaled = {judge: factor * weight for judge, weight in own.items()}
    before, after = (verdict_of(criterion, votes, rule, policy, weights) for weights in (own, scaled))
    assert after.selected_index == before.selected_index
    assert after.aggregated_value == pytest.approx(before.aggregated_value, abs=1e-12)
    exact = {"aggregated_value", "votes", "bounds"}
    assert after.model_dump(exclude=exact) == before.model_dump(exclude=exact)
    recast = [vote.model_copy(update={"weight": factor * vote.weight}) for vote in votes]
    assert verdict_of(criterion, recast, rule, policy).model_dump(exclude=exact) == verdict_of(
        criterion, votes, rule, policy
    ).model_dump(exclude=exact)


@given(runs())
def test_the_value_lies_within_the_values_voted_for(run):
    criterion, votes, rule, policy = run
    verdict = verdict_of(criterion, votes, rule, policy)
    values = [criterion.options[vote.selected_index].value for vote in votes if vote.scored]
    if not values:
        assert not verdict.scored
    elif verdict.scored:
        assert min(values) <= verdict.aggregated_value <= max(values)
        assert 0 <= verdict.agreement <= 1


@given(runs(PAIRWISE))
def test_swapping_the_two_responses_mirrors_the_verdict(run):
    criterion, votes, rule, policy = run
    last = len(criterion.options) - 1
    mirrored = [
        vote.model_copy(update={"selected_index": last - vote.selected_index})
        if vote.selected_index is not None
        else vote
        for vote in votes
    ]
    there, back = verdict_of(criterion, votes, rule, policy), verdict_of(criterion, mirrored, rule, policy)
    assert there.scored is back.scored
    if there.scored:
        assert back.aggregated_value == pytest.approx(1 - there.aggregated_value, abs=1e-12)
        assert back.value == 1 - there.value
        assert (there.selected_index is None) is (back.selected_index is None)
        if there.selected_index is not None:
            assert back.selected_index == last - there.selected_index
    assert there.spread == pytest.approx(back.spread)
    for name in ("agreement", "position_consistent", "unscored_reason"):
        assert getattr(there, name) == getattr(back, name)
