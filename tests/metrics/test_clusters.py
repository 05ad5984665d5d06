"""Rows that belong together, in recipes: the metrics' intervals are over what cluster_field names."""

import pytest

from evenhand.errors import InvalidInputError
from evenhand.metrics.judge_metrics import (
    BestOfJudge,
    ChecklistJudge,
    DirectJudge,
    GradeScore,
    PairwiseJudge,
    RubricJudge,
)
from evenhand.metrics.recorded import VoteAggregation
from evenhand.statistics import mean_intervals

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

VOTES = [["yes"] * 3 if row // 5 % 4 else ["no"] * 3 for row in range(40)]
DOCUMENTS = [{"doc": row // 5} for row in range(40)]


def scores_of(metric, predictions, task_data):
    """The global scores, without a recipe around them."""
    inputs = [(prediction, [], row) for prediction, row in zip(predictions, task_data, strict=True)]
    return metric.reduce_and_bootstrap(metric.map_stream(inputs))


def test_recorded_votes_are_over_documents():
    scores = scores_of(VoteAggregation(cluster_field="doc"), VOTES, DOCUMENTS)
    # Eight documents, of which two are no: the interval of eight means.
    (eight,) = mean_intervals([0.0, 1, 1, 1, 0, 1, 1, 1])
    assert (scores["votes_ci_low"], scores["votes_ci_high"]) == pytest.approx((eight.low, eight.high))
    assert scores["votes_num_clusters"] == 8
    plain = scores_of(VoteAggregation(cluster_field=False), VOTES, DOCUMENTS)
    assert "votes_num_clusters" not in plain
    assert plain["votes_ci_high"] - plain["votes_ci_low"] < 0.6 * (eight.high - eight.low)


@pytest.mark.parametrize("metric", [DirectJudge, RubricJudge, ChecklistJudge, PairwiseJudge, BestOfJudge, GradeScore])
def test_settings_are_checked_when_a_metric_is_built(metric):
    with pytest.raises(InvalidInputError, match="interval is 'wald'"):
        metric(interval="wald")
    with pytest.raises(InvalidInputError, match="interval is 'exact', which counts rows"):
        metric(interval="exact", cluster_field="doc")
    with pytest.raises(InvalidInputError, match="cluster_field is 3"):
        metric(cluster_field=3)
