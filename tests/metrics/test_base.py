"""What all judge metrics share: every setting of a metric reaches the run."""

from dataclasses import replace

import pytest

from evenhand.aggregation import VoteRules
from evenhand.judging.flow import TOP_LOGPROBS
from evenhand.judging.settings import DEFAULTS, RunSettings
from evenhand.metrics.base import JudgeMetric
from evenhand.metrics.direct import DirectJudge
from evenhand.metrics.pairwise import PairwiseJudge
from evenhand.metrics.rubric import RubricJudge
from evenhand.tables.judge_options import RUBRIC_DEFAULTS

STANDARD = RunSettings.from_options({})


def with_grid(**fields):
    return replace(STANDARD, grid=replace(STANDARD.grid, **fields))


def with_flow(**fields):
    return replace(STANDARD, flow=replace(STANDARD.flow, **fields))


def with_rules(**fields):
    return replace(STANDARD, rules=VoteRules(**fields))


def with_limits(**fields):
    return replace(STANDARD, limits=replace(STANDARD.limits, **fields))


FIELDS = [
    ({"check_positional_bias": 0.2}, with_grid(check_positional_bias=0.2)),
    ({"check_positional_bias": False}, with_grid(check_positional_bias=False)),
    ({"orders": "cyclic"}, with_grid(orders="cyclic")),
    ({"shuffles": 3}, with_grid(shuffles=3)),
    ({"samples": 4}, with_grid(samples=4)),
    ({"flow": "one_step"}, with_flow(name="one_step")),
    ({"max_reasks": 2}, with_flow(max_reasks=2)),
    ({"generate_summaries": True}, with_flow(generate_summaries=True)),
    ({"include_prompts_in_result": False}, with_flow(include_prompts=False)),
    ({"aggregation": "mean"}, with_rules(aggregation="mean")),
    ({"aggregation": {"ordinal": "median"}}, with_rules(aggregation={"ordinal": "median"})),
    (
        {"scoring": "expected"},
        replace(with_rules(scoring="expected"), flow=with_flow(logprobs=TOP_LOGPROBS, coded=True).flow),
    ),
    ({"min_mass": 0.3}, with_rules(min_mass=0.3)),
    ({"stop_early": True}, with_grid(stop_early=True)),
    ({"confidence": None}, with_grid(confidence=None)),
    ({"on_position_bias": "abstain"}, with_rules(on_position_bias="abstain")),
    (
        {"judge_weights": [1.0, 2.0], "aggregation": "weighted_mean"},
        replace(with_rules(aggregation="weighted_mean"), judge_weights=(1.0, 2.0)),
    ),
    ({"max_failure_rate": 0.5}, with_limits(max_failure_rate=0.5)),
    ({"max_calls": 10}, with_limits(max_calls=10)),
    ({"max_cost": 1.5}, with_limits(max_cost=1.5)),
    ({"confidence_level": 0.9}, replace(STANDARD, level=0.9)),
    (
        {"seed": 7},
        replace(STANDARD, seed=7, grid=replace(STANDARD.grid, seed=7), flow=replace(STANDARD.flow, seed=7)),
    ),
    ({"journal": "replies.sqlite3"}, replace(STANDARD, journal="replies.sqlite3")),
    ({"journal": None}, replace(STANDARD, journal=None)),
    ({"progress": False}, with_limits(progress=False)),
]
NOT_OF_A_RUN = {
    "main_score",
    "prediction_type",
    "n_resamples",
    "inference_engine",
    "criteria",
    "criteria_field",
    "context_fields",
    "evaluator_name",
    "guidelines",
}
"""What the metric itself reads; the tests of the metrics show what for."""


@pytest.mark.parametrize(
    ("metric", "prompt"), [(DirectJudge, "{{ response }}"), (PairwiseJudge, "{{ responses }} {{ options }}")]
)
def test_a_prompt_reaches_the_run(metric, prompt):
    assert metric(prompt=prompt).settings() == with_flow(prompt=prompt)


@pytest.mark.parametrize("metric", [DirectJudge, PairwiseJudge])
@pytest.mark.parametrize(("fields", "expected"), FIELDS)
def test_a_field_of_the_metric_reaches_the_run(metric, fields, expected):
    settings = metric(**fields).settings()
    assert settings == expected
    assert settings != STANDARD


def test_without_fields_the_defaults_of_a_run_hold():
    assert DirectJudge().settings() == PairwiseJudge().settings() == STANDARD


def test_a_rubric_has_defaults_of_its_own():
    """They are those of a rubric judged without a recipe too."""
    assert RubricJudge().settings() == RunSettings.from_options(RUBRIC_DEFAULTS)


def test_no_field_and_no_option_is_left_out():
    own = set(JudgeMetric.__annotations__)
    tested = {name for fields, _ in FIELDS for name in fields}
    tested |= {"prompt"}
    assert own - NOT_OF_A_RUN == tested - {"confidence_level"}
    assert {"level" if name == "confidence_level" else name for name in tested} == DEFAULTS.keys()
