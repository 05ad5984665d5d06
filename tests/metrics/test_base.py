"""What all judge metrics share: every setting of a metric reaches the run."""

from typing import Any

import pytest

from evenhand.metrics.judge_metrics import DirectJudge, PairwiseJudge
from evenhand.metrics.metric import IntervalFields, RunFields
from evenhand.options import IntervalOptions, RunOptions


def options_of(metric):
    """The options of a run that a metric builds."""
    found = metric.mode_of(()).options
    return RunOptions(**{name: getattr(found, name) for name in RunOptions.model_fields})


FIELDS: list[dict[str, Any]] = [
    {"check_positional_bias": 0.2},
    {"check_positional_bias": False},
    {"orders": "cyclic"},
    {"shuffles": 3},
    {"samples": 4},
    {"flow": "one_step"},
    {"max_reasks": 2},
    {"generate_summaries": True},
    {"include_prompts_in_result": False},
    {"aggregation": "mean"},
    {"aggregation": {"ordinal": "median"}},
    {"scoring": "expected"},
    {"min_mass": 0.3},
    {"stop_early": True},
    {"on_position_bias": "abstain"},
    {"judge_weights": [1.0, 2.0], "aggregation": "weighted_mean"},
    {"max_failure_rate": 0.5},
    {"max_calls": 10},
    {"max_cost": 1.5},
    {"confidence_level": 0.9},
    {"interval": "t"},
    {"cluster_field": "document"},
    {"seed": 7},
    {"journal": "replies.sqlite3"},
    {"journal": None},
    {"progress": False},
    {"offline": True},
    {"data_classification": ["pii"]},
    {"group_fields": ["topic"]},
]


@pytest.mark.parametrize("metric", [DirectJudge, PairwiseJudge])
@pytest.mark.parametrize("fields", FIELDS)
def test_a_field_of_the_metric_reaches_the_run(metric, fields):
    options = {"level" if name == "confidence_level" else name: value for name, value in fields.items()}
    found = options_of(metric(**fields))
    assert found == RunOptions(**options)
    assert found != RunOptions()


def test_every_option_is_a_field_with_the_default_and_the_sentence_of_the_option():
    tested = {"level" if name == "confidence_level" else name for fields in FIELDS for name in fields}
    tested |= {"prompt", "model", "batch"}  # with an engine: tests/engines/test_named_engines.py, test_batches.py
    assert tested == RunOptions.model_fields.keys()
    for name, info in RunOptions.model_fields.items():
        field = "confidence_level" if name == "level" else name
        assert getattr(DirectJudge(), field) == info.default
        fields = IntervalFields if name in IntervalOptions.model_fields else RunFields
        assert name == "level" or f"{name}: {info.description}" in fields.__doc__
