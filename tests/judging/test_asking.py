"""The options under the names that users give them: what is taken, what is refused, what they become."""

import json

import pytest
from evenhand.judging.settings import RunSettings

from evenhand.aggregation import VoteRules
from evenhand.engines.baseline import BaselineEngine
from evenhand.engines.journal import default_journal_path
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.judging.flow import Flow
from evenhand.judging.grid import Grid
from evenhand.judging.run import Limits
from evenhand.options import RunOptions
from tests.judging.test_run import questions
from tests.support.judges import ScriptedJudge, chooses


def test_every_option_has_a_default_and_is_explained():
    for name, info in RunOptions.model_fields.items():
        assert not info.is_required(), name
        assert f"\n        {name}: {info.description}" in RunOptions.__doc__
        assert info.description.endswith(".")


def test_without_options_the_defaults_hold():
    settings = RunSettings.from_options({})
    assert (settings.grid, settings.flow, settings.limits) == (Grid(), Flow(), Limits())
    assert (settings.level, settings.seed, settings.journal) == (0.95, 0, "default")
    assert settings.rules == VoteRules()
    assert settings.judge_weights is None


def test_every_option_arrives():
    settings = RunSettings.from_options(
        {
            "check_positional_bias": 0.2,
            "orders": "shuffled",
            "shuffles": 3,
            "samples": 4,
            "stop_early": True,
            "confidence": None,
            "prompt": "direct_one_step",
            "flow": "one_step",
            "max_reasks": 2,
            "generate_summaries": True,
            "include_prompts_in_result": False,
            "aggregation": "weighted_mean",
            "on_position_bias": "abstain",
            "judge_weights": [1, 2],
            "max_failure_rate": 0.5,
            "max_calls": 10,
            "max_cost": 1.5,
            "level": 0.9,
            "seed": 7,
            "journal": None,
            "progress": False,
        },
        ["ordinal"],
    )
    assert settings.grid == Grid(
        orders="shuffled",
        check_positional_bias=0.2,
        samples=4,
        shuffles=3,
        seed=7,
        stop_early=True,
        confidence=None,
    )
    assert settings.flow == Flow(
        flow="one_step",
        max_reasks=2,
        generate_summaries=True,
        include_prompts_in_result=False,
        seed=7,
        prompt="direct_one_step",
    )
    assert settings.limits == Limits(max_calls=10, max_cost=1.5, max_failure_rate=0.5, progress=False)
    assert settings.rules == VoteRules(aggregation="weighted_mean", on_position_bias="abstain")
    assert settings.judge_weights == (1, 2)
    assert (settings.level, settings.seed, settings.journal) == (0.9, 7, None)


def test_an_expected_value_asks_for_log_probabilities_and_short_answers():
    settings = RunSettings.from_options({"scoring": "expected", "min_mass": 0.7}, ["ordinal"])
    assert settings.rules == VoteRules(scoring="expected", min_mass=0.7)
    assert (settings.flow.logprobs, settings.flow.coded) == (20, True)


def test_each_scale_has_its_own_rule():
    rules = {"binary": "unanimous", "ordinal": "median"}
    settings = RunSettings.from_options({"aggregation": rules}, ["binary", "ordinal", "nominal"])
    assert [settings.rules.panel_rule(scale) for scale in ("binary", "ordinal", "nominal")] == [
        "unanimous",
        "median",
        None,
    ]
    assert settings.parameters()["aggregation"] == rules


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregation": {"ordnal": "median"}}, r"aggregation names the scale 'ordnal'. Did you mean 'ordinal'\?"),
        ({"aggregation": {"ordinal": "majority"}}, "'majority' is not a rule for the scale 'ordinal'"),
        ({"aggregation": ["median"]}, r"aggregation is \['median'\]; give the name of a rule"),
        ({"scoring": "mean"}, "scoring is 'mean'"),
        ({"min_mass": 2}, "min_mass is 2"),
        ({"stop_early": 1}, "stop_early is 1"),
        ({"confidence": 0.5}, "confidence is 0.5"),
        ({"confidence": "high"}, "confidence is 'high'"),
        ({"prompt": 3}, "prompt is 3"),
        ({"stop_early": True, "scoring": "expected"}, "every further draw changes a mean"),
        ({"sample": 3}, r"there is no option 'sample'. Did you mean 'samples'\?"),
        ({"temperature": 0}, "there is no option 'temperature'"),
        ({"flow": "three_step"}, "flow is 'three_step'"),
        ({"orders": "random"}, "orders is 'random'"),
        ({"level": 95}, "level is 95"),
        ({"level": 0}, "level is 0"),
        ({"level": 1}, "level is 1"),
        ({"max_failure_rate": 20}, "max_failure_rate is 20"),
        ({"max_failure_rate": "0.2"}, "max_failure_rate is '0.2'; give a number between 0 and 1"),
        ({"max_reasks": "2"}, "max_reasks is '2'; give a whole number"),
        ({"max_reasks": True}, "max_reasks is True"),
        ({"max_calls": 2.5}, "max_calls is 2.5; give a whole number, or None for no limit"),
        ({"max_cost": "1"}, "max_cost is '1'"),
        ({"level": "0.9"}, "level is '0.9'; give a number such as 0.95"),
        ({"generate_summaries": "no"}, "generate_summaries is 'no'; give True or False"),
        ({"progress": 1}, "progress is 1; give True or False"),
        ({"judge_weights": 2.0}, "judge_weights is 2.0; give a list with one number a judge"),
        ({"judge_weights": ["a"]}, r"judge_weights is \['a'\]; give a list"),
        ({"journal": 3}, "journal is 3; give 'default', a path, or None"),
        ({"seed": None}, "seed is None"),
    ],
)
def test_what_is_no_option_is_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        RunSettings.from_options(options)


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({"aggregation": "medain"}, "ordinal"),
        ({"aggregation": "mean"}, "nominal"),
        ({"aggregation": "majority"}, "ordinal"),
        ({"on_position_bias": "flip"}, "ordinal"),
    ],
)
def test_a_rule_that_does_not_fit_the_scale_is_refused_before_the_first_call(options, scale):
    RunSettings.from_options({})
    with pytest.raises(UnknownRuleError):
        RunSettings.from_options(options, [scale])


def test_the_parameters_are_plain_json_and_hold_what_a_result_depends_on():
    settings = RunSettings.from_options(
        {"judge_weights": [1.0, 2.0], "seed": 3, "samples": 2, "journal": "/some/where"}
    )
    parameters = json.loads(json.dumps(settings.parameters()))
    assert parameters["grid"]["samples"] == 2
    assert parameters["judge_weights"] == [1.0, 2.0]
    assert parameters["seed"] == parameters["grid"]["seed"] == parameters["flow"]["seed"] == 3
    assert "/some/where" not in json.dumps(parameters)


def test_the_journal_is_opened_where_the_option_says(tmp_path):
    path = tmp_path / "deep" / "replies.sqlite3"
    settings = RunSettings.from_options({"journal": str(path), "progress": False})
    judge = ScriptedJudge(chooses("Mid"))
    settings.run(questions(2), [judge])
    assert path.exists()
    asked = len(judge.requests)
    settings.run(questions(2), [judge])
    assert len(judge.requests) == asked == 8
    assert settings.estimate(questions(2), [judge]).calls == 0
    assert not default_journal_path().exists()


def test_the_default_journal_is_in_the_cache_folder():
    RunSettings.from_options({"progress": False}).run(questions(1), [ScriptedJudge(chooses("Mid"))])
    assert default_journal_path().exists()


def test_judges_that_cost_nothing_open_no_journal():
    RunSettings.from_options({"progress": False}).run(questions(1), [BaselineEngine()])
    assert not default_journal_path().exists()


def test_without_a_journal_every_run_asks_again():
    settings = RunSettings.from_options({"journal": None, "progress": False})
    judge = ScriptedJudge(chooses("Mid"))
    settings.run(questions(1), [judge])
    settings.run(questions(1), [judge])
    assert len(judge.requests) == 8
