"""Pairwise judging inside unitxt: recipes, names of scores, and the numbers beside unitxt's own judge."""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import unitxt
from unitxt import create_dataset, evaluate
from unitxt.llm_as_judge import LLMJudgePairwise
from unitxt.task import Task

from evenhand.catalog import entry_ids
from evenhand.data.plain import context_mapping
from evenhand.engines.baseline import BaselineEngine
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import ArtifactError, InvalidInputError, UnknownRuleError
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import PairwiseJudge, check_system_names
from evenhand.unitxt.loading import load_criteria_artifact
from tests.support.scripted import SENT, ScriptedInferenceEngine, script

TEMPERATURE = "metrics.llm_as_judge.pairwise.criteria.temperature_in_celsius_and_fahrenheit"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _catalog():
    register()
    SENT.clear()


def qualities(messages):
    """The qualities that the two responses name, in the order shown: both judges' prompts quote them."""
    first, second = re.findall(r"quality (\d+) of", messages[0]["content"])[:2]
    return int(first), int(second)


def named(messages, place):
    """The option for a place: ours name places, unitxt's the systems, in the order shown."""
    shown = re.findall(r'Choose "(.+)" if', messages[-1]["content"])
    return f"Response {shown[place]}" if shown else ["Response A", "Response B"][place]


@script
def fair_judge(messages):
    """The better quality; of equals the one shown first."""
    if len(messages) == 1:
        return "They differ in quality."
    first, second = qualities(messages)
    return named(messages, 0 if first >= second else 1)


@script
def biased_judge(messages):
    """The one shown first, unless it is worse by more than 2."""
    if len(messages) == 1:
        return "They differ in quality."
    first, second = qualities(messages)
    return named(messages, 0 if first >= second - 2 else 1)


@script
def mumbling_comparer(messages):
    """Names no option when the sum of the qualities is even."""
    if len(messages) == 1:
        return "They differ in quality."
    first, second = qualities(messages)
    if (first + second) % 2 == 0:
        return "It depends on taste."
    return named(messages, 0 if first > second else 1)


@script
def grading_judge(messages):
    """Much better from a difference of 3, slightly from 1."""
    if len(messages) == 1:
        return "They differ in quality."
    first, second = qualities(messages)
    if first == second:
        return "Both are equally good"
    better = "Response A" if first > second else "Response B"
    return f"{better} is {'much' if abs(first - second) >= 3 else 'slightly'} better"


def responses(row, count=3):
    """Texts whose qualities differ from row to row and from system to system."""
    return [f"quality {(row * (2 * system + 3) + 5 * system) % 7} of {row}.{system}" for system in range(count)]


def run(metric, predictions, task_data=None):
    rows = task_data or [{"question": f"question {row}"} for row in range(len(predictions or []))]
    task = Task(
        input_fields=dict.fromkeys(rows[0], Any),
        reference_fields={},
        prediction_type=Any,
        metrics=[metric],
        default_template="templates.empty",
    )
    data = create_dataset(
        task=task, test_set=rows, split="test", data_classification_policy=["public"], postprocessors=[]
    )
    return evaluate(predictions=predictions, data=data)


def instance_scores(results):
    return [result["score"]["instance"] for result in results]


def global_scores(results):
    return results[0]["score"]["global"]


def pairwise(name="fair_judge", **settings):
    return PairwiseJudge(
        **{
            "inference_engine": ScriptedInferenceEngine(script=name),
            "criteria": TEMPERATURE,
            "context_fields": ["question"],
            "progress": False,
            "journal": None,
            **settings,
        }
    )


def unitxt_judge(name):
    return LLMJudgePairwise(
        inference_engine=ScriptedInferenceEngine(script=name), criteria=TEMPERATURE, context_fields=["question"]
    )


@pytest.mark.parametrize("judge", ["fair_judge", "biased_judge"])
def test_same_winrates_and_rankings_as_unitxt_where_the_first_order_decides(judge):
    predictions = [responses(row, 4) for row in range(8)]
    theirs = run(unitxt_judge(judge), predictions)
    ours = run(pairwise(judge, on_position_bias="first"), predictions)
    same = ("winrate", "llm_as_judge", "ranking", "contest_results", "selections", "compared_to", "positional_bias")
    for their, our in zip(instance_scores(theirs), instance_scores(ours), strict=True):
        assert set(their) <= set(our)
        for system, field in itertools.product("1234", same):
            assert our[f"{system}_{field}"] == their[f"{system}_{field}"], (system, field)
        assert our["score"] == their["score"]
        assert our["score_name"] == their["score_name"] == "1_winrate"
        assert json.loads(our["criteria"]) == json.loads(their["criteria"])
    for system in "1234":
        name = f"{system}_winrate"
        assert global_scores(ours)[name] == pytest.approx(global_scores(theirs)[name])
    assert global_scores(ours)["score"] == pytest.approx(global_scores(theirs)["score"])


def test_the_result_of_one_instance_by_hand():
    # qualities 3, 3, 6: of "x" and "y" the first shown wins, "tie" wins both
    given = {"x": "quality 3 of a", "y": "quality 3 of b", "tie": "quality 6 of c"}
    (scores,) = instance_scores(run(pairwise(generate_summaries=True), [given]))
    assert scores["x_contest_scores"] == [0.5, 0.0]
    assert scores["x_contest_results"] == [False, False]
    assert scores["x_compared_to"] == ["y", "tie"]
    assert scores["x_selections"] == ["x", "tie"]
    assert scores["x_positional_bias_selection"] == ["y", "tie"]
    assert scores["x_positional_bias"] == [True, False]
    assert scores["y_selections"] == ["x", "tie"]
    assert scores["y_contest_scores"] == [0.5, 0.0]
    assert scores["tie_contest_scores"] == [1.0, 1.0]
    assert scores["tie_contest_results"] == [True, True]
    assert scores["tie_option_selection_outputs"] == ["Response B", "Response B"]
    assert [scores[f"{name}_winrate"] for name in given] == [0.25, 0.25, 1.0]
    assert [scores[f"{name}_ranking"] for name in given] == [2, 2, 1]
    assert [scores[f"{name}_response_name"] for name in given] == list(given)
    assert scores["x_assessments"] == ["They differ in quality."] * 2
    assert scores["x_positional_bias_assessments"] == ["They differ in quality."] * 2
    assert len(scores["x_summaries"]) == 2
    assert (scores["score"], scores["score_name"]) == (0.25, "x_winrate")


def test_every_system_has_the_prompts_of_its_contests_without_names():
    given = {"model-x": "quality 3 of a", "model-y": "quality 3 of b", "model-z": "quality 6 of c"}
    (scores,) = instance_scores(run(pairwise(), [given]))
    assert scores["model-x_prompts"]["compared_to"] == ["model-y", "model-z"]
    assert scores["model-y_prompts"]["compared_to"] == ["model-x", "model-z"]
    assert scores["model-z_prompts"]["assessment"][0] == scores["model-x_prompts"]["assessment"][1]
    stages = ["assessment", "option_selection", "positional_bias_assessment", "positional_bias_option_selection"]
    assert list(scores["model-x_prompts"])[1:] == stages
    assert [len(scores["model-x_prompts"][stage]) for stage in stages] == [2] * 4
    # the second contest of model-x, reversed: model-z's response is shown as A
    text = scores["model-x_prompts"]["positional_bias_assessment"][1][0]["content"]
    assert text.index("quality 6 of c") < text.index("quality 3 of a")
    assert not re.search("model-[xyz]", json.dumps([scores["model-x_prompts"][stage] for stage in stages]))
    assert not re.search("model-[xyz]", json.dumps([sent["source"] for sent in SENT]))
    (bare,) = instance_scores(run(pairwise(include_prompts_in_result=False), [given]))
    assert not any(value for name, value in bare.items() if name.endswith("_prompts"))


@pytest.mark.parametrize(("policy", "expected"), [(None, 0.25), ("average", 0.25), ("abstain", 0.0), ("first", 0.5)])
def test_policies_for_orders_that_disagree(policy, expected):
    # instance 0: qualities 3, 3, 6; instance 1: 4, 4, 4, where the first shown always wins
    given = [
        ["quality 3 of a", "quality 3 of b", "quality 6 of c"],
        ["quality 4 of a", "quality 4 of b", "quality 4 of c"],
    ]
    results = run(pairwise(on_position_bias=policy), given)
    first = instance_scores(results)[0]
    assert first["1_winrate"] == expected
    shared = global_scores(results)
    # system 1 over both instances: ties ½ of three contests and a loss; abstaining leaves the loss; else 3 wins of 4
    by_hand = {None: 1.5 / 4, "average": 1.5 / 4, "abstain": 0.0, "first": 3 / 4}
    assert shared["1_winrate"] == pytest.approx(by_hand[policy])
    if policy == "abstain":
        assert shared["unscored_contests_inconsistent"] == 4
        assert math.isnan(instance_scores(results)[1]["1_winrate"])
        assert instance_scores(results)[1]["1_ranking"] is None
    assert shared["positional_bias"] == pytest.approx(4 / 6)
    assert shared["position_consistency"] == pytest.approx(2 / 6)
    assert shared["first_shown_preference"] == 1.0
    # four of four: 2 / 2⁴
    assert shared["first_shown_preference_p_value"] == pytest.approx(0.125)


def test_global_scores_are_for_every_system_with_intervals():
    predictions = [dict(zip(("a", "a b", "b"), responses(row), strict=True)) for row in range(10)]
    results = run(pairwise(), predictions)
    shared = global_scores(results)
    for system in ("a", "a b", "b"):
        for name in ("winrate", "mean_rank"):
            value, low, high = (shared[f"{system}_{name}{bound}"] for bound in ("", "_ci_low", "_ci_high"))
            assert low <= value <= high
        instances = [scores[f"{system}_winrate"] for scores in instance_scores(results)]
        # every contest is scored, so that the mean of the instances is the share of all contests
        assert shared[f"{system}_winrate"] == pytest.approx(sum(instances) / 10)
        # equals share the mean of their ranks: 1 + those above + half of the others beside
        others = [
            [scores[f"{other}_winrate"] - scores[f"{system}_winrate"] for other in ("a", "a b", "b") if other != system]
            for scores in instance_scores(results)
        ]
        ranks = [1 + sum(0.5 * (gap > -1e-9) + 0.5 * (gap > 1e-9) for gap in gaps) for gaps in others]
        assert shared[f"{system}_mean_rank"] == pytest.approx(sum(ranks) / 10)
    assert (shared["score"], shared["score_name"]) == (shared["a_winrate"], "a_winrate")
    assert (shared["score_ci_low"], shared["score_ci_high"]) == (
        shared["a_winrate_ci_low"],
        shared["a_winrate_ci_high"],
    )
    assert shared["num_contests"] == 30
    assert shared["calls"] == 30 * 2 * 2
    assert shared["parse_rate"] == 1.0


def test_replies_that_name_no_option_are_counted_and_bounded():
    # qualities 1, 2, 4: 1 and 2 meet (odd: 2 wins), 1 and 4 (odd: 4 wins), 2 and 4 (even: nothing)
    given = ["quality 1 of a", "quality 2 of b", "quality 4 of c"]
    results = run(pairwise("mumbling_comparer"), [given])
    (scores,) = instance_scores(results)
    assert scores["2_contest_scores"] == [1.0, None]
    assert scores["2_contest_results"] == [True, None]
    assert scores["2_unscored_reasons"] == [None, "no_match"]
    assert [scores[f"{system}_winrate"] for system in "123"] == [0.0, 1.0, 1.0]
    shared = global_scores(results)
    # six votes, four of them read, and two replies more that led to a re-ask
    assert shared["parse_rate"] == pytest.approx(4 / 8)
    assert (shared["num_unscored"], shared["unscored_contests_no_match"], shared["unscored_votes_no_match"]) == (
        1,
        1,
        2,
    )
    assert (shared["2_winrate_if_unscored_0"], shared["2_winrate_if_unscored_1"]) == (0.5, 1.0)
    assert shared["reasks"] == 2


def test_a_missing_response_is_an_unscored_contest_and_an_empty_one_is_judged():
    results = run(pairwise(), [["quality 1 of a", None, "quality 4 of c"]])
    (scores,) = instance_scores(results)
    assert scores["1_contest_scores"] == [None, 0.0]
    assert scores["1_unscored_reasons"] == ["missing_response", None]
    assert math.isnan(scores["2_winrate"])
    assert scores["2_ranking"] is None
    assert scores["2_assessments"] == [None, None]
    assert scores["3_ranking"] == 1
    assert math.isnan(global_scores(results)["2_winrate"])
    assert global_scores(results)["num_contests"] == 3


def test_a_graded_scale_and_its_weighted_reduction():
    # 1 is much better than 2 (6 against 2), slightly better than 3 (6 against 5); 3 is much better than 2
    given = [
        ["quality 6 of a", "quality 2 of b", "quality 5 of c"],
        ["quality 4 of a", "quality 4 of b", "quality 5 of c"],
    ]
    results = run(pairwise("grading_judge", scale="graded", reduction="weighted_win_rate"), given)
    first, second = instance_scores(results)
    assert first["1_contest_grades"] == [2, 1]
    assert first["1_contest_scores"] == [1, 1]
    assert first["2_contest_grades"] == [-2, -2]
    assert second["1_contest_grades"] == [0, -1]
    # 1 on the first instance: 3 of 3 battles; on the second: 1 of 2, then 0 of 1
    assert (first["1_winrate"], second["1_winrate"]) == pytest.approx((1.0, 1 / 3))
    assert global_scores(results)["1_winrate"] == pytest.approx(4 / 6)
    # 3: 2 of 3 battles, then 2 of 2
    assert global_scores(results)["3_winrate"] == pytest.approx((2 + 2) / (3 + 2))
    plain = run(pairwise("grading_judge", scale="graded"), given)
    # unweighted: two wins; then a tie and a loss
    assert global_scores(plain)["1_winrate"] == pytest.approx(2.5 / 4)
    assert global_scores(plain)["num_ties"] == 1


def test_a_tie_that_the_judge_may_choose():
    @script
    def tying_judge(messages):
        return "They differ." if len(messages) == 1 else "Tie"

    (scores,) = instance_scores(run(pairwise("tying_judge", allow_ties=True), [responses(1, 2)]))
    assert scores["1_contest_scores"] == [0.5]
    assert scores["1_selections"] == [None]
    assert scores["1_positional_bias"] == [False]
    assert "- Tie" in SENT[-1]["source"][-1]["content"]


@pytest.mark.parametrize(
    ("design", "contests"),
    [("all", 18), ("baseline:2", 12), ("sample:1", 6), ("swiss:2", 12)],
)
def test_designs(design, contests):
    results = run(pairwise(design=design), [responses(row) for row in range(6)])
    shared = global_scores(results)
    # swiss: one of three sits out, so that a round has one contest an instance
    assert shared["num_contests"] == contests
    assert sum(shared[f"{system}_num_contests"] for system in "123") == 2 * contests
    if design == "sample:1":
        assert [shared[f"{system}_num_contests"] for system in "123"] == [4, 4, 4]


def test_ranks_against_a_baseline_are_not_of_shares_over_unequal_opponents():
    # system 1, the baseline, beats 3 on all rows and loses to 2 on six of eight: raw shares 10/16, 6/8 and 0
    rows = [["quality 3 of a", f"quality {5 if row < 6 else 1} of b", "quality 2 of c"] for row in range(8)]
    results = run(pairwise(design="baseline:1"), rows)
    for row, scores in enumerate(instance_scores(results)):
        expected = [1, 2, 3] if row < 6 else [2, 1, 2]  # 2 won against the baseline, or lost as 3 did
        assert [scores[f"{system}_ranking"] for system in "213"] == expected
    shared = global_scores(results)
    assert [shared[f"{system}_rank"] for system in "213"] == [1, 2, 3]
    assert shared["2_mean_rank"] < shared["1_mean_rank"] < shared["3_mean_rank"]
    assert shared["2_field_winrate"] > shared["1_field_winrate"] > shared["3_field_winrate"]
    assert shared["1_rank_ci_low"] <= 2 <= shared["1_rank_ci_high"]
    assert "1_field_winrate" not in global_scores(run(pairwise(), rows))


def test_an_instance_without_a_contest_of_a_system():
    results = run(pairwise(design="sample:1"), [responses(row) for row in range(3)])
    for scores in instance_scores(results):
        idle = [system for system in "123" if math.isnan(scores[f"{system}_winrate"])]
        assert len(idle) == 1
        assert scores[f"{idle[0]}_contest_scores"] == []
        assert scores[f"{idle[0]}_ranking"] is None
        assert scores[f"{idle[0]}_response_name"] == idle[0]


def test_predictions_that_became_texts_on_the_way_are_read_back():
    plain = [dict(zip(("x", "y"), responses(row, 2), strict=True)) for row in range(4)]
    expected = [scores["x_winrate"] for scores in instance_scores(run(pairwise(), plain))]
    for form in (json.dumps, str):
        results = run(pairwise(), [form(prediction) for prediction in plain])
        assert [scores["x_winrate"] for scores in instance_scores(results)] == expected
    # a recipe's usual post-processor turns a dict into its Python text
    task = Task(
        input_fields={"question": str},
        reference_fields={},
        prediction_type=Any,
        metrics=[pairwise()],
        default_template="templates.empty",
    )
    data = create_dataset(
        task=task,
        test_set=[{"question": str(row)} for row in range(4)],
        split="test",
        data_classification_policy=["public"],
        postprocessors=["processors.to_string_stripped"],
    )
    results = evaluate(predictions=plain, data=data)
    assert [scores["x_winrate"] for scores in instance_scores(results)] == expected


def test_responses_in_a_field_of_the_task_data_and_a_criterion_of_the_row():
    criterion = {
        "__type__": "criteria",
        "name": "quality",
        "description": "Which is better?",
        "prediction_field": "answers",
    }
    rows = [
        {
            "question": f"q{row}",
            "answers": responses(row, 2),
            "criterion": TEMPERATURE if row else json.dumps(criterion),
        }
        for row in range(2)
    ]
    with pytest.raises(Exception, match="instance 1 has no field 'response', which prediction_field names"):
        run(pairwise(criteria=None, criteria_field="criterion"), None, rows)
    rows[1]["criterion"] = json.dumps({**criterion, "name": "other"})
    results = run(pairwise(criteria=None, criteria_field="criterion"), None, rows)
    assert [json.loads(scores["criteria"])["name"] for scores in instance_scores(results)] == ["quality", "other"]
    assert "The criterion: other" in json.dumps(SENT[-1]["source"])


def test_guidelines_are_shown():
    run(pairwise(guidelines="Be strict about dates."), [responses(1, 2)])
    assert "Be strict about dates." in SENT[0]["source"][0]["content"]


def test_calling_twice_gives_the_same_and_changes_nothing():
    metric = pairwise(design="swiss:2")
    before = metric.to_json()
    predictions = [dict(zip(("a", "b", "c"), responses(row), strict=True)) for row in range(5)]
    copies = json.loads(json.dumps(predictions))
    first, second = (run(metric, predictions) for _ in range(2))
    assert json.dumps(instance_scores(first)) == json.dumps(instance_scores(second))
    assert global_scores(first).pop("a_winrate_run") == global_scores(second).pop("a_winrate_run")
    assert global_scores(first) == pytest.approx(global_scores(second), nan_ok=True)
    assert metric.to_json() == before
    assert metric.main_score == "1_winrate"
    assert predictions == copies


def test_one_order_only():
    (scores,) = instance_scores(run(pairwise("biased_judge", check_positional_bias=False), [responses(1, 2)]))
    assert not [name for name, value in scores.items() if "positional_bias" in name and value]
    assert scores["1_contest_scores"] in ([0.0], [1.0])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"design": "swiss"}, InvalidInputError, "not a number of rounds"),
        ({"scale": "grade"}, InvalidInputError, "Did you mean 'graded'"),
        ({"reduction": "weighted_win_rate"}, InvalidInputError, "scale='graded'"),
        ({"reduction": "mean"}, InvalidInputError, "'weighted_win_rate'"),
        ({"on_position_bias": "ties"}, UnknownRuleError, "Did you mean 'tie'"),
        ({"aggregation": "median"}, UnknownRuleError, "'mode'"),
        ({"criteria": "metrics.evenhand.direct"}, (ArtifactError, InvalidInputError), "not a criterion"),
    ],
)
def test_wrong_settings_fail_when_the_metric_is_built(settings, error, message):
    with pytest.raises(error, match=message):
        pairwise(**settings)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([["x", "y"], ["x", "y", "z"]], "instance 1 does not name the same systems as instance 0: it adds"),
        ([{"a": "x"}], "1 system"),
        (["x"], "the predictions of instance 0 are a str"),
        ([{"a": "x", "b": "y", "a_positional_bias": "z"}], "rename the system 'a_positional_bias'"),
    ],
)
def test_predictions_that_cannot_be_compared(predictions, message):
    with pytest.raises(Exception, match=message):
        run(pairwise(), predictions)
    assert not SENT


@pytest.mark.parametrize(
    ("rule", "weights", "score"),
    [
        (None, None, 1.0),
        ("mean", None, 2 / 3),
        ("weighted_mode", [1.0, 1.0, 2.0], 0.5),
        ("weighted_mean", [1.0, 2.0, 5.0], 3 / 8),
    ],
)
def test_a_panel_votes_by_its_rule(rule, weights, score):
    # log-odds of 40: a choice is certain; two judges prefer "good", one "bad"
    tastes = [{"good": 40.0, "bad": 0.0}] * 2 + [{"good": 0.0, "bad": 40.0}]
    panel = [SimulatedEngine(quality_by_response=taste, name=f"judge {place}") for place, taste in enumerate(tastes)]
    metric = pairwise(inference_engine=panel, aggregation=rule, judge_weights=weights)
    results = run(metric, [{"a": "good", "b": "bad"}])
    (scores,) = instance_scores(results)
    assert scores["a_contest_scores"] == pytest.approx([score])
    assert scores["b_contest_scores"] == pytest.approx([1 - score])
    assert scores["a_positional_bias"] == [False]
    assert global_scores(results)["calls"] == 3 * 2 * 2


def test_the_baseline_judges_offline():
    results = run(
        pairwise(inference_engine=BaselineEngine(), context_fields=["question"]), [responses(0), responses(1)]
    )
    assert global_scores(results)["parse_rate"] == 1.0
    assert global_scores(results)["positional_bias"] == 0.0


def test_samples_are_drawn_in_each_order():
    engine = SimulatedEngine(quality_by_response={"x": 0.0, "y": 0.0}, noise=1.0)
    results = run(pairwise(inference_engine=engine, samples=5), [["x", "y"]] * 3)
    assert global_scores(results)["calls"] == 3 * 2 * 5 * 2
    assert 0 < global_scores(results)["spread"] <= 0.5


def test_an_engine_is_not_shown_data_of_a_class_that_it_may_not_see():
    engine = ScriptedInferenceEngine(script="fair_judge", data_classification_policy=["internal"])
    with pytest.raises(Exception, match="data_classification_policy"):
        run(pairwise(inference_engine=engine), [responses(0, 2)])
    assert not SENT


def criteria_of_unitxt():
    folder = Path(unitxt.__file__).parent / "catalog" / "metrics" / "llm_as_judge" / "pairwise" / "criteria"
    return sorted(f"metrics.llm_as_judge.pairwise.criteria.{path.stem}" for path in folder.glob("*.json"))


def test_all_criteria_of_unitxt_and_our_own_are_judged_as_they_are():
    ours = [identifier for identifier in entry_ids("criteria") if ".pairwise." in identifier]
    assert len(ours) >= 12
    assert criteria_of_unitxt()
    for identifier in [*criteria_of_unitxt(), *ours]:
        fields = context_mapping(load_criteria_artifact(identifier).context_fields).values()
        rows = [dict.fromkeys(fields, "the context") | {"question": "q"}]
        metric = pairwise(criteria=identifier, context_fields=None)
        (scores,) = instance_scores(run(metric, [["quality 3 of a", "quality 5 of b"]], rows))
        assert (scores["1_winrate"], scores["2_winrate"]) == (0.0, 1.0)


def test_without_an_engine_the_error_names_three_ways():
    with pytest.raises(Exception, match="has no inference_engine"):
        run(pairwise(inference_engine=None), [["x", "y"]])


def test_names_that_contain_one_another_collide_only_when_their_scores_would():
    check_system_names(["a", "a_winrate", "a b", "a.b", "tie", "1", "score", "num"])
    with pytest.raises(InvalidInputError, match="the system 'a_positional_bias' and the system 'a' would both"):
        check_system_names(["a", "a_positional_bias"])
    with pytest.raises(InvalidInputError, match="both have a score"):
        check_system_names(["x_positional_bias", "x"])


def test_the_catalog_entry_is_the_metric():
    (scores,) = instance_scores(
        run(
            "metrics.evenhand.pairwise[inference_engine=engines.evenhand.simulated,"
            "criteria=criteria.evenhand.pairwise.helpfulness,context_fields=[question],progress=False]",
            [{"gpt-4.1": "x", "tie": "y"}],
        )
    )
    assert scores["score_name"] == "gpt-4.1_winrate"
    assert scores["gpt-4.1_winrate"] + scores["tie_winrate"] == 1


@pytest.mark.parametrize("missing", [float("nan"), np.float32("nan"), pandas.NA], ids=repr)
@pytest.mark.parametrize("postprocessors", [None, []], ids=["texts", "as given"])
@pytest.mark.parametrize(
    ("metric", "form"),
    [("pairwise", list), ("pairwise", dict), ("best_of", list), ("direct", str), ("checklist.item", str)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_kind_of_nothing_is_a_missing_response_in_every_recipe(metric, form, postprocessors, missing):
    """unitxt's default postprocessors make texts of predictions: "['a', nan]" is no list that can be read back."""
    judged = {
        "direct": "criteria=criteria.evenhand.direct.coherence",
        "checklist.item": "checklist=checklists.evenhand.essay",
    }.get(metric, "criteria=criteria.evenhand.pairwise.overall_quality")
    wrap = {list: list, dict: lambda texts: dict(zip("mn", texts, strict=True)), str: lambda texts: texts[1]}[form]
    row = {"question": "q", "essay": "e", "task": "t", "prompt": "p"}
    task = Task(
        input_fields=dict.fromkeys(row, Any),
        reference_fields={},
        prediction_type=Any,
        metrics=[f"metrics.evenhand.{metric}[{judged},inference_engine=engines.evenhand.baseline,progress=False]"],
        default_template="templates.empty",
    )
    recipe = {} if postprocessors is None else {"postprocessors": postprocessors}
    data = create_dataset(task=task, test_set=[row] * 2, split="test", data_classification_policy=["public"], **recipe)
    found = evaluate(predictions=[wrap(["a b", "b c"]), wrap(["a b", missing])], data=data).instance_scores
    reasons = [[value for name, value in scores.items() if "unscored_reason" in name] for scores in found]
    told = [[str(value) for value in own if isinstance(value, str | list) and value] for own in reasons]
    assert told[0] == []
    assert told[1]
    assert all("missing_response" in reason for reason in told[1])
