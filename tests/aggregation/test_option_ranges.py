"""Option values on any scale: a verdict is in the criterion's own units, and a rubric counts shares of their range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.verdict import ON_POSITION_BIAS, RULES, VoteRules, aggregate
from evenhand.criteria import Criterion, Option, Rubric
from evenhand.modes.judgements import rubric_result
from evenhand.results.vote_columns import VerdictColumns
from evenhand.scoring import summarize
from evenhand.votes import Verdict, Vote
from tests.aggregation.builders import criterion_of, draws, orders, panel

LIKERT = criterion_of([1, 2, 3, 4, 5])
SENTIMENT = criterion_of([-1, 0, 1])
PERCENT = criterion_of([0, 25, 50, 75, 100])


def test_the_range_of_scores():
    assert LIKERT.score_range == (1.0, 5.0)
    assert SENTIMENT.score_range == (-1.0, 1.0)
    assert criterion_of([10, 7.5, None], na=[2]).score_range == (7.5, 10.0)
    assert criterion_of([0.25, 0.75]).score_range == (0.25, 0.75)
    assert criterion_of([None, None]).score_range == criterion_of([0.5, 0.5]).score_range == (0.0, 1.0)
    # where all values lie in [0, 1] a rubric counts them as they are
    assert criterion_of([0.25, 0.75]).units == (0.0, 1.0)
    assert criterion_of([0.25, 0.75]).share_of_range(0.25) == 0.25
    assert [LIKERT.share_of_range(value) for value in (1, 2, 5)] == [0, 0.25, 1]


def test_verdicts_by_hand():
    both = aggregate(orders(3, 4), LIKERT)
    # (4 + 5) / 2; halfway between two options the worse one is selected
    assert (both.aggregated_value, both.value, both.selected_label) == (4.5, 4.0, "o3")
    # draws of 25, 75 and 100: the median 75; their mean is 200/3, the variance ((125/3)² + (25/3)² + (100/3)²) / 3
    repeated = aggregate(draws(1, 3, 4), PERCENT)
    assert repeated.aggregated_value == 75
    assert repeated.spread == pytest.approx(((125**2 + 25**2 + 100**2) / 9 / 3) ** 0.5)
    # the panel's mean of -1, 0 and 1 is 0; of -1 and 1 with an unscored vote it goes from -1/3 to 1/3
    assert aggregate(panel(0, 1, 2), SENTIMENT).aggregated_value == 0
    unscored = aggregate(panel(0, 2, None), SENTIMENT)
    assert unscored.aggregated_value == 0
    assert unscored.bounds == pytest.approx((-1 / 3, 1 / 3))
    # two options are met or not met: met is the higher value, wherever it stands
    against = criterion_of([-1, 1], scale="binary")
    assert [aggregate(panel(0, 1, 0), against, rule).value for rule in ("majority", "any", "unanimous")] == [-1, 1, -1]
    # probabilities .5 of 1 and .5 of 5
    vote = Vote(judge_id="j", order=(0, 1, 2, 3, 4), selected_index=4, probabilities=(0.5, 0, 0, 0, 0.5))
    assert aggregate([vote], LIKERT, min_mass=0.5).aggregated_value == 3
    # nothing read: anything from the worst to the best value
    unscored = VerdictColumns.of([aggregate(panel(None), PERCENT), Verdict(unscored_reason="missing_response")])
    assert unscored.limits(np.array([(0, 1), SENTIMENT.score_range])).tolist() == [[0, 100], [-1, 1]]


def verdict_of(value):
    return Verdict(selected_index=0, value=value, aggregated_value=value)


def test_the_bounds_of_a_rubric_by_hand():
    likert, percent = (LIKERT.model_copy(update={"name": name}) for name in ("a", "b"))
    result = rubric_result(
        [verdict_of(2), Verdict(unscored_reason="empty")], Rubric(name="r", criteria=(likert, percent))
    )
    assert result.score == 0.25
    assert result.bounds == pytest.approx((0.125, 0.625))
    # the verdict of two orders counts their mean, 4.5 of 1 to 5
    assert rubric_result([aggregate(orders(3, 4), likert)], Rubric(name="r", criteria=(likert,))).score == 0.875


ORDERS = ((0, 1, 2, 3), (3, 2, 1, 0))
AFFINE = [(4.0, 1.0), (2.0, -1.0), (100.0, 0.0), (0.7, -3.3), (1e-3, 7.0), (1e6, -2e5)]
options_of = st.sampled_from(
    [(0, 0.25, 0.5, 1), (0, 1, 0.5, 0.5), (1, 0.625, 0.375, 0), (0, 0, 1, 1), (0, 0.1, 0.2, 1)]
)
masses = st.sampled_from([None, (0.25, 0.25, 0.25, 0.25), (0.1, 0.2, 0.3, 0.4), (0.7, 0.1, 0.1, 0.1)])
chosen = st.sampled_from([0, 1, 2, 3, "unscored"])
grids = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(ORDERS), chosen, masses), min_size=1, max_size=8)
scales = st.sampled_from([*((scale, rule) for scale in ("ordinal", "nominal") for rule in RULES[scale])])


def votes_of(grid):
    return [
        Vote(judge_id=judge, order=order, sample=place, unscored_reason="empty")
        if option == "unscored"
        else Vote(judge_id=judge, order=order, sample=place, selected_index=option, probabilities=shares)
        for place, (judge, order, option, shares) in enumerate(grid)
    ]


def with_values(values, scale, weight, affine=(1.0, 0.0)):
    factor, shift = affine
    options = tuple(Option(label=f"o{place}", value=factor * value + shift) for place, value in enumerate(values))
    return Criterion(name="c", description="", options=options, scale=scale, weight=weight)


@pytest.mark.filterwarnings("ignore::evenhand.aggregation.verdict.AggregationWarning")
@given(
    st.lists(grids, min_size=1, max_size=6),
    st.tuples(options_of, st.sampled_from([1.0, -2.0]), st.sampled_from(AFFINE)),
    scales,
    st.tuples(st.sampled_from(ON_POSITION_BIAS["ordinal"]), st.booleans()),
)
def test_other_units_change_the_units_alone(instances, criteria, scale_and_rule, how):
    (values, weight, affine), (scale, rule), (policy, expected) = criteria, scale_and_rule, how
    factor, shift = affine
    own, other = with_values(values, scale, weight), with_values(values, scale, weight, affine)
    close = {"rel": 1e-9, "abs": 1e-9 * factor}

    def mapped(number):
        return None if number is None else pytest.approx(factor * number + shift, **close)

    verdicts = [
        [
            aggregate(votes_of(grid), criterion, rule, on_position_bias=policy, min_mass=0.5 if expected else None)
            for grid in instances
        ]
        for criterion in (own, other)
    ]
    for one, two in zip(*verdicts, strict=True):
        assert two.aggregated_value == mapped(one.aggregated_value)
        assert two.value == mapped(one.value)
        assert (two.bounds is None) == (one.bounds is None)
        assert one.bounds is None or two.bounds == tuple(map(mapped, one.bounds))
        assert two.spread == (None if one.spread is None else pytest.approx(factor * one.spread, **close))
        for same in ("selected_index", "agreement", "position_consistent", "unscored_reason"):
            assert getattr(two, same) == getattr(one, same)
        rules = VoteRules(scoring="expected" if expected else "selected")
        results = [
            rubric_result([verdict], Rubric(name="r", criteria=(criterion,)), rules)
            for verdict, criterion in ((one, own), (two, other))
        ]
        assert results[1].score == (None if results[0].score is None else pytest.approx(results[0].score, abs=1e-9))
        assert results[1].bounds == (results[0].bounds and pytest.approx(results[0].bounds, abs=1e-9))
    one, two = (
        summarize(found, [criterion.score_range] * len(found))
        for found, criterion in zip(verdicts, (own, other), strict=True)
    )
    assert bool(two.score) == bool(one.score)
    for limit in ("estimate", "low", "high") if one.score else ():
        assert getattr(two.score, limit) == mapped(getattr(one.score, limit))
    assert two.score_if_unscored_0 == mapped(one.score_if_unscored_0)
    assert two.score_if_unscored_1 == mapped(one.score_if_unscored_1)
    assert (two.unscored_bounds is None) == (one.unscored_bounds is None)
    for limit in ("low", "high", "interval_low", "interval_high") if one.unscored_bounds else ():
        assert getattr(two.unscored_bounds, limit) == mapped(getattr(one.unscored_bounds, limit))
