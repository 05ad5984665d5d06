"""What all judge metrics share: every setting of a metric reaches the run, and a wrong one is refused."""

import re
from typing import Any

import pytest

from evenhand.criteria import Rubric
from evenhand.errors import EvenhandError
from evenhand.metrics.judge_metrics import (
    BestOfJudge,
    ChecklistJudge,
    DirectJudge,
    GradeScore,
    PairwiseJudge,
    RubricJudge,
)
from evenhand.metrics.metric import IntervalFields, RunFields
from evenhand.options import IntervalOptions, RunOptions
from tests.support.questions import LEVELS


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


EXAMPLES = [{"response": f"case {level}", "question": "q", "level": level} for level in ("High", "Mid", "Low")]
LEVEL = LEVELS.model_copy(update={"context_fields": {"question": "question"}})
CHECKLIST, RUBRIC = {"checklist": ["Is it polite?"]}, {"rubric": Rubric(name="r", criteria=(LEVEL,))}
OVERALL = {"criteria": "criteria.evenhand.pairwise.overall_quality"}
WRONG: list[tuple[type[Any], dict[str, Any], dict[str, Any], str]] = [
    (ChecklistJudge, CHECKLIST, {"mode": "bach"}, "Did you mean 'batch'"),
    (
        ChecklistJudge,
        CHECKLIST,
        {"criteria": "criteria.evenhand.direct.relevance"},
        "judges by a checklist, and criteria and checklist are given",
    ),
    (ChecklistJudge, CHECKLIST, {"criteria_field": "c"}, "criteria_field and checklist are given"),
    (ChecklistJudge, CHECKLIST, {"checklist_field": "c"}, "checklist and checklist_field are given"),
    (ChecklistJudge, CHECKLIST, {"flow": "one_step"}, "does not belong to a checklist"),
    (ChecklistJudge, CHECKLIST, {"scoring": "expected"}, "does not belong to a checklist"),
    (ChecklistJudge, CHECKLIST, {"generate_summaries": True}, "does not belong to a checklist"),
    (ChecklistJudge, CHECKLIST, {"primary_metric": "normalized", "use_logprobs": False}, "use_logprobs=False asks for"),
    (ChecklistJudge, CHECKLIST, {"primary_metric": "normalized", "stop_early": True}, "stop_early does not go"),
    (ChecklistJudge, CHECKLIST, {"aggregation": "median"}, "median"),
    (ChecklistJudge, CHECKLIST, {"prompt": "direct_verdict"}, "asked about a sheet"),
    (ChecklistJudge, CHECKLIST, {"prompt": "Judge {{ response }}"}, "does not name {{ items }}"),
    (ChecklistJudge, CHECKLIST, {"allow_na": 3}, "allow_na is 3; it should be a valid boolean"),
    (PairwiseJudge, OVERALL, {"on_position_bias": "ties"}, "Did you mean 'tie'"),
    (GradeScore, OVERALL, {"prompt": "Judge {{ response }}"}, "names 'response', which is not one of its placeholders"),
    (GradeScore, OVERALL, {"prompt": "select", "flow": "two_step"}, "one_step"),
    (GradeScore, OVERALL, {"aggregation": "mode"}, "which is of one judge"),
    (GradeScore, OVERALL, {"stop_early": True}, "stop_early"),
    (GradeScore, OVERALL, {"scoring": "expected"}, "scoring"),
    (BestOfJudge, OVERALL, {"on_position_bias": "tie"}, "'average', 'abstain', 'first'"),
    (BestOfJudge, OVERALL, {"aggregation": "mean"}, "'mode', 'weighted_mode', 'unanimous'"),
    (RubricJudge, RUBRIC, {"criteria": "criteria.evenhand.direct.relevance"}, "judges by a rubric"),
    (RubricJudge, RUBRIC, {"rubric_field": "r"}, "rubric and rubric_field are given"),
    (RubricJudge, {}, {"rubric_field": "r", "examples": EXAMPLES}, "rubric_field is 'r' and examples is given too"),
    (RubricJudge, RUBRIC, {"calls": "per_items"}, "Did you mean 'per_item'"),
    (RubricJudge, RUBRIC, {"length_penalty": {"free": 3}}, "no option 'free'"),
    (RubricJudge, RUBRIC, {"aggregation": {"ordinal": "medain"}}, "Did you mean 'median'"),
    (DirectJudge, {"criteria": LEVEL}, {"cluster_field": 3}, "cluster_field is 3"),
    (DirectJudge, {"criteria": LEVEL}, {"examples": "cases.jsonl"}, "give a list of rows"),
    (DirectJudge, {"criteria": LEVEL}, {"examples": EXAMPLES, "label_fields": {"levle": "a"}}, "Did you mean 'level'"),
]


@pytest.mark.parametrize(("metric", "given", "settings", "message"), WRONG)
def test_settings_that_cannot_be_are_refused_when_the_metric_is_built(metric, given, settings, message):
    with pytest.raises(EvenhandError, match=re.escape(message)):
        metric(inference_engine="engines.evenhand.baseline", **{**given, **settings})
