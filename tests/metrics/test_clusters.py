"""Rows that belong together, in recipes: the metrics' intervals are over what cluster_field names."""

import pytest

from evenhand.errors import InvalidInputError
from evenhand.metrics import register
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
from tests.support.scripted import ScriptedInferenceEngine, script

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

VOTES = [["yes"] * 3 if row // 5 % 4 else ["no"] * 3 for row in range(40)]
DOCUMENTS = [{"doc": row // 5} for row in range(40)]


@pytest.fixture(autouse=True)
def _catalog():
    register()


@script
def first_always(messages):
    """Names what is shown first."""
    return "Option 1" if "Option 1" in messages[-1]["content"] else "1. Yes"


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


def test_a_group_of_the_data_has_the_clusters_of_its_rows():
    metric = VoteAggregation(cluster_field="doc")
    mapped = metric.map_stream([(votes, [], row) for votes, row in zip(VOTES, DOCUMENTS, strict=True)])
    assert metric.reduce(mapped[:15])["votes_num_clusters"] == 3


def test_an_instance_without_a_document_is_named():
    with pytest.raises(InvalidInputError, match="instance 2 has nan in 'doc'"):
        scores_of(VoteAggregation(cluster_field="doc"), VOTES[:3], [{"doc": 1}, {"doc": 1}, {"doc": float("nan")}])


@pytest.mark.parametrize("metric", [DirectJudge, RubricJudge, ChecklistJudge, PairwiseJudge, BestOfJudge, GradeScore])
def test_settings_are_checked_when_a_metric_is_built(metric):
    with pytest.raises(InvalidInputError, match="interval is 'wald'"):
        metric(interval="wald")
    with pytest.raises(InvalidInputError, match="interval is 'exact', which counts rows"):
        metric(interval="exact", cluster_field="doc")
    with pytest.raises(InvalidInputError, match="cluster_field is 3"):
        metric(cluster_field=3)


def test_the_best_of_several_is_over_documents():
    engine = ScriptedInferenceEngine(script="first_always")
    criteria = "criteria.evenhand.pairwise.overall_quality"
    given = [["one", "two"]] * 40
    options = {"criteria": criteria, "inference_engine": engine, "context_fields": [], "journal": None}
    chosen = scores_of(BestOfJudge(cluster_field="doc", progress=False, **options), given, DOCUMENTS)
    assert chosen["num_clusters"] == 8
    graded = scores_of(GradeScore(cluster_field="doc", progress=False, **options), given, DOCUMENTS)
    assert graded["num_clusters"] == 8
