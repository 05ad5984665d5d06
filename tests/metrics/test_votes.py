"""Recorded votes inside unitxt: every catalog entry, recipes, and the numbers beside other libraries."""

import math
from typing import Any

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, mean_squared_error
from unitxt import create_dataset, evaluate
from unitxt.task import Task
from unitxt.templates import InputOutputTemplate

from evenhand.aggregation.verdict import RULES
from evenhand.criteria import Criterion, Option
from evenhand.errors import InvalidInputError
from evenhand.functions import aggregate_votes
from evenhand.metrics.judge_metrics import VoteAggregation
from evenhand.statistics import mean_intervals
from evenhand.unitxt.bases import EvaluationInput, fetch_artifact
from tests.judge_reliability.criteria import KINDS, LEVELS, SAFE

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings(
        "ignore::evenhand.unitxt.loading.UndefinedScoreWarning"
    ),  # nominal options without values
]
ENTRIES = [(scale, rule) for scale in ("binary", "ordinal", "nominal") for rule in RULES[scale]]
RELEVANCE = "criteria=criteria.evenhand.direct.relevance"


def scores(metric, predictions, references=None):
    """Instance and global scores, as unitxt computes them from an evaluation stream."""
    references = references or [[]] * len(predictions)
    given = [EvaluationInput(*each, {}) for each in zip(predictions, references, strict=True)]
    mapped = metric.map_stream(given)
    instances = [metric.annotate_scores(metric.reduce_one(each)) for each in mapped]
    return instances, metric.annotate_scores(metric.reduce_and_bootstrap(mapped))


@pytest.mark.parametrize(("scale", "rule"), ENTRIES)
def test_every_entry_aggregates_as_the_table_does(scale, rule):
    criterion = {"binary": SAFE, "ordinal": LEVELS, "nominal": KINDS}[scale]
    entry = fetch_artifact(f"metrics.evenhand.votes.{scale}.{rule}")[0]
    assert (entry.scale, entry.rule) == (scale, rule)
    weights = [3.0, 1.0, 1.0] if "weighted" in rule else None
    metric = VoteAggregation(scale=scale, rule=rule, criteria=criterion, judge_weights=weights, as_index=True)
    votes = [[0, 1, 1], [1, None, 0], [None, None, None], [0, 0, 0]]
    if rule == "unanimous" and scale == "nominal":
        assert criterion.na_index is not None  # so that disagreement needs no other rule
    instances, together = scores(metric, votes)
    expected = aggregate_votes(
        [{"votes": row} for row in votes], "votes", criterion, rule, weights, as_index=True
    ).verdicts
    name = criterion.name
    assert [row.get(f"{name}_selected_option") for row in instances] == [verdict.selected_label for verdict in expected]
    values = [math.nan if verdict.aggregated_value is None else verdict.aggregated_value for verdict in expected]
    assert [row["score"] for row in instances] == pytest.approx(values, nan_ok=True)
    assert instances[2][f"{name}_unscored_reason"] == "abstained"
    (mean,) = mean_intervals(values)
    if mean is None:  # nominal options have no values here: an option is selected, and no score is defined
        assert math.isnan(together["score"])
    else:
        shown = (together["score"], together["score_ci_low"], together["score_ci_high"])
        assert shown == pytest.approx((mean.estimate, mean.low, mean.high))
    counts = {"num_votes": 12, "num_abstentions": 4}
    assert {key: together[f"{name}_{key}"] for key in counts} == counts


def test_against_the_truth_beside_other_libraries():
    generator = np.random.default_rng(0)
    truth = generator.integers(5, size=80)
    votes = np.clip(truth[:, None] + generator.integers(-1, 3, size=(80, 3)), 0, 3)  # the option 4 is never voted
    instances, together = scores(
        VoteAggregation(scale="ordinal", rule="median", criteria=LEVELS, as_index=True),
        [[int(vote) for vote in row] for row in votes],
        [[int(right)] for right in truth],
    )
    judged = np.median(votes, axis=1).astype(int)
    assert [row["clear_selected_option"] for row in instances] == [LEVELS.labels[place] for place in judged]
    assert [row["clear_match"] for row in instances] == (judged == truth).tolist()
    expected = {
        "accuracy": accuracy_score(truth, judged),
        "adjacent_accuracy": np.mean(np.abs(truth - judged) <= 1),
        "cohen_kappa": cohen_kappa_score(truth, judged),
        # over the full scale: the level that no verdict has counts in the weights
        "quadratic_weighted_kappa": cohen_kappa_score(truth, judged, weights="quadratic", labels=range(5)),
        "rmse": math.sqrt(mean_squared_error(1 - truth / 4, 1 - judged / 4)),
        "mae": np.mean(np.abs(truth - judged)) / 4,
        "bias": np.mean(truth - judged) / 4,  # the options are listed best first
        "krippendorff_alpha": krippendorff.alpha(votes.T, level_of_measurement="ordinal"),
    }
    assert {name: together[f"clear_{name}"] for name in expected} == pytest.approx(expected)
    for name in expected:
        assert together[f"clear_{name}_ci_low"] <= together[f"clear_{name}"] <= together[f"clear_{name}_ci_high"]
    matrix = together["clear_confusion_matrix"]
    counts = [[matrix[row][column] for column in LEVELS.labels] for row in LEVELS.labels]
    assert counts == confusion_matrix(truth, judged, labels=range(5)).tolist()


def test_an_option_called_unscored_is_not_taken_for_missing_votes():
    options = (Option(label="unscored"), Option(label="scored"))
    criterion = Criterion(name="state", description="", options=options, scale="nominal")
    votes, truth = [["unscored"], ["scored"], [None]], [["unscored"], ["unscored"], ["scored"]]
    _, together = scores(VoteAggregation(scale="nominal", criteria=criterion), votes, truth)
    assert together["state_confusion_matrix"]["unscored"] == {"unscored": 1, "scored": 1, "(unscored)": 0}


def test_a_vote_that_is_no_option_and_a_second_reference_are_named():
    metric = VoteAggregation(scale="ordinal", criteria=LEVELS)
    with pytest.raises(InvalidInputError, match="row 1: the judge 'ann' voted 'Grand', which is not an option"):
        scores(metric, [{"ann": "Good"}, {"ann": "Grand"}])
    with pytest.raises(InvalidInputError, match=r"instance 0 has the references \['Good', 'Bad'\]"):
        scores(metric, [["Good"]], [["Good", "Bad"]])


def test_references_count_as_the_labels_that_they_name():
    instances, _ = scores(
        VoteAggregation(), [[1, "yes"], ["no"], ["no"]], [["Yes", "yes", 1], [0, "No "], [None, "no"]]
    )
    assert [each["votes_reference"] for each in instances] == ["Yes", "No", "No"]
    assert [each["votes_match"] for each in instances] == [True, True, True]
    with pytest.raises(InvalidInputError, match=r"instance 1 has the references .*, which name different options"):
        scores(VoteAggregation(), [["yes"], ["no"]], [["yes"], ["no", 1]])


def test_columns_of_the_task_data_never_replace_votes_references_or_clusters():
    rows = [{"judge": "x", "votes": each, "reference": "No", "judge_field": 1} for each in ("a", "a", "b", "b")]
    given = [EvaluationInput(["yes"], ["yes"], row) for row in rows]
    for field in ("votes", "reference", "judge"):
        metric = VoteAggregation(cluster_field=field, judge_weights={"judge_0": 2.0})
        mapped = metric.map_stream(given)
        assert [each.cluster for each in mapped] == [row[field] for row in rows]
        assert metric.reduce(mapped)["votes_accuracy"] == 1.0


@pytest.mark.parametrize("postprocessors", [["processors.to_string_stripped"], []])
@pytest.mark.parametrize("nothing", [None, math.nan])
def test_a_recipe_with_gaps_in_truth_predictions_and_votes(postprocessors, nothing):
    best, good, *_ = fetch_artifact("criteria.evenhand.direct.relevance")[0].option_map
    task = Task(
        input_fields={"question": str},
        reference_fields={"gold": Any},
        prediction_type=Any,
        metrics=[f"metrics.evenhand.votes.ordinal.max[{RELEVANCE}]"],
    )
    data = create_dataset(
        task=task,
        test_set=[{"question": str(row), "gold": gold} for row, gold in enumerate([best, nothing, good])],
        split="test",
        format="formats.empty",
        template=InputOutputTemplate(input_format="{question}", output_format="{gold}", postprocessors=postprocessors),
    )
    result = evaluate(predictions=[[best, nothing], [good, good], nothing], data=data).global_scores
    # the second has no truth, the third no vote; one vote of the first is missing
    named = ("num_references", "num_compared", "num_unscored", "num_votes", "num_abstentions", "accuracy")
    assert [result[f"relevance_{name}"] for name in named] == [2, 1, 1, 4, 1, 1.0]
