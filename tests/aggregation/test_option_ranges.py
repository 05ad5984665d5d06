"""Option values on any scale: a verdict is in the criterion's own units, and a rubric counts shares of their range."""

import numpy as np
import pytest

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Rubric
from evenhand.modes.judgements import rubric_result
from evenhand.results.vote_columns import VerdictColumns
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


def test_a_weighted_sum_without_a_score_has_bounds():
    """What earns does not apply, and what costs is met: -1, which no weight divides."""
    earns, costs = (criterion_of([0, 1]).model_copy(update=given) for given in ({"name": "a"}, {"weight": -1.0}))
    result = rubric_result([Verdict(na=True), verdict_of(1)], Rubric(name="r", criteria=(earns, costs)))
    assert (result.score, result.bounds, result.raw_score, result.raw_bounds) == (None, None, -1, (-1, -1))
