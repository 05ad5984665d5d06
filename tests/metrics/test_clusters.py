"""Rows that belong together, in recipes: the metrics' intervals are over what cluster_field names."""

import pytest

from evenhand.metrics.judge_metrics import VoteAggregation
from evenhand.statistics import mean_intervals

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def scores_of(metric):
    """The global scores, without a recipe around them."""
    inputs = [(["yes" if row // 5 % 4 else "no"] * 3, [], {"doc": row // 5}) for row in range(40)]
    return metric.reduce_and_bootstrap(metric.map_stream(inputs))


def test_recorded_votes_are_over_documents():
    scores = scores_of(VoteAggregation(cluster_field="doc"))
    # Eight documents, of which two are no: the interval of eight means.
    (eight,) = mean_intervals([0.0, 1, 1, 1, 0, 1, 1, 1])
    assert (scores["votes_ci_low"], scores["votes_ci_high"]) == pytest.approx((eight.low, eight.high))
    assert scores["votes_num_clusters"] == 8
    plain = scores_of(VoteAggregation(cluster_field=False))
    assert "votes_num_clusters" not in plain
    assert plain["votes_ci_high"] - plain["votes_ci_low"] < 0.6 * (eight.high - eight.low)
