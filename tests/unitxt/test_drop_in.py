"""What unitxt's own code does with its judges, done with ours: the same scenarios with both classes."""

import json
import math
import re
from pathlib import Path

import pytest
from unitxt import evaluate, load_dataset
from unitxt.benchmark import Benchmark
from unitxt.card import TaskCard
from unitxt.catalog import add_to_catalog
from unitxt.error_utils import UnitxtError
from unitxt.inference import MetricInferenceEngine
from unitxt.llm_as_judge import LLMJudgeDirect, LLMJudgePairwise
from unitxt.loaders import LoadFromDictionary
from unitxt.metrics import GroupMetric, MaxReduction, MeanReduction, MetricsEnsemble, MultiTurnMetric
from unitxt.settings_utils import get_constants
from unitxt.standard import DatasetRecipe
from unitxt.task import Task

import evenhand
from evenhand.unitxt.bases import Artifact, Criteria, CriteriaOption, CriteriaWithOptions, register_local_catalog
from tests.support.recipes import evaluated
from tests.support.scripted import ScriptedInferenceEngine, script

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
LABELS = ["great", "fair", "poor"]
USEFUL = CriteriaWithOptions(
    name="is useful",
    description="Does the answer help?",
    options=[CriteriaOption(name=label, description="") for label in LABELS],
    option_map={"great": 1.0, "fair": 0.5, "poor": 0.0},
)
CLEAR = CriteriaWithOptions(
    name="is clear", description="Is it clear?", options=USEFUL.options, option_map=USEFUL.option_map
)
SCALE = {"great": 100, "fair": 25, "poor": -1}
ANY_SCALE = CriteriaWithOptions(name="percent", description="How good?", options=USEFUL.options, option_map=SCALE)
DIRECT_JUDGES = (LLMJudgeDirect, evenhand.DirectJudge)
BETTER = Criteria(name="better", description="Which one helps more?")


@script
def marking_judge(messages):
    """Grades by the number that a response names; every fourth is judged one lower when the options are reversed."""
    if len(messages) == 1:
        return "It has been read."
    number = int(re.search(r"answer (\d+)", messages[0]["content"])[1])
    last = messages[-1]["content"]
    lower = number % 4 == 0 and last.index("poor") < last.index("great")
    return LABELS[min(number % 3 + lower, 2)]


@script
def comparing_judge(messages):
    """The greater number; of equal ones the first shown."""
    if len(messages) == 1:
        return "They differ."
    first, second = map(int, re.findall(r"answer (\d+)", messages[0]["content"])[:2])
    shown = re.findall(r'Choose "(.+)" if', messages[-1]["content"])
    place = 0 if first >= second else 1
    return f"Response {shown[place]}" if shown else ["Response A", "Response B"][place]


def made(kind, script, **settings):
    engine = ScriptedInferenceEngine(script=script)
    if kind in {LLMJudgeDirect, LLMJudgePairwise}:
        return kind(inference_engine=engine, **settings)
    return kind(inference_engine=engine, on_position_bias="first", journal=None, progress=False, **settings)


def both(kinds, script, rows, predictions, *, recipe=None, **settings):
    return [evaluated(made(kind, script, **settings), rows, predictions, **(recipe or {})) for kind in kinds]


def check_same(theirs, ours, but=()):
    """All that unitxt's judge says of an instance, ours says too; prompts are our own."""
    for their, our in zip(*([each["score"]["instance"] for each in found] for found in (theirs, ours)), strict=True):
        names = {name for name in their if not name.endswith("prompts") and not name.endswith(tuple(but))}
        assert names <= set(our)
        for name in names:
            same = json.loads(their[name]) == json.loads(our[name]) if name.endswith("criteria") else None
            assert same or their[name] == our[name], name
    shared = theirs[0]["score"]["global"], ours[0]["score"]["global"]
    assert shared[0]["score_name"] == shared[1]["score_name"]
    for name in ("score", shared[0]["score_name"], "num_of_instances"):
        assert shared[0][name] == pytest.approx(shared[1][name])


ROWS = [{"question": f"q{row}", "context": "Some text.", "kind": "ab"[row % 2]} for row in range(9)]
ANSWERS = [f"answer {row}" for row in range(9)]
DIRECT = {
    "context in one field": {"criteria": USEFUL},
    "context fields listed": {"criteria": USEFUL, "context_fields": ["question", "context"]},
    "context fields named": {"criteria": USEFUL, "context_fields": {"asked": "question"}},
    "values on any scale": {"criteria": ANY_SCALE},
    "one order": {"criteria": USEFUL, "check_positional_bias": False},
    "without prompts": {"criteria": USEFUL, "include_prompts_in_result": False},
    "a name for the judge": {"criteria": USEFUL, "evaluator_name": "Somebody"},
}


@pytest.mark.parametrize("case", DIRECT)
def test_direct_assessments_are_unitxts(case):
    check_same(*both(DIRECT_JUDGES, "marking_judge", ROWS, ANSWERS, **DIRECT[case]))


def test_criteria_named_by_the_rows_are_unitxts(tmp_path):
    add_to_catalog(USEFUL, "criteria.test_useful", catalog_path=str(tmp_path), overwrite=True, verbose=False)
    add_to_catalog(CLEAR, "criteria.test_clear", catalog_path=str(tmp_path), overwrite=True, verbose=False)
    register_local_catalog(str(tmp_path))
    rows = [{**row, "by": f"criteria.test_{('useful', 'clear')[place % 2]}"} for place, row in enumerate(ROWS)]
    check_same(*both(DIRECT_JUDGES, "marking_judge", rows, ANSWERS, criteria_field="by"))


def test_groups_of_a_recipe_have_unitxts_scores():
    theirs, ours = both(DIRECT_JUDGES, "marking_judge", ROWS, ANSWERS, recipe={"group_by": ["kind"]}, criteria=USEFUL)
    check_same(theirs, ours)
    for group in ("a", "b"):
        their, our = (each[0]["score"]["groups"]["kind"][group] for each in (theirs, ours))
        assert their["is_useful"] == pytest.approx(our["is_useful"])


@pytest.mark.parametrize("systems", [2, 3, 4])
@pytest.mark.parametrize("form", ["list", "dict"])
def test_comparisons_are_unitxts(systems, form):
    names = ["first", "second", "third", "fourth"][:systems]
    given = [[f"answer {(row * place) % 5}" for place in range(1, systems + 1)] for row in range(6)]
    if form == "dict":
        given = [dict(zip(names, texts, strict=True)) for texts in given]
    theirs, ours = both((LLMJudgePairwise, evenhand.PairwiseJudge), "comparing_judge", ROWS[:6], given, criteria=BETTER)
    # what a reply says of places, ours says in its own words
    check_same(theirs, ours, but=("option_selection_outputs", "positional_bias_selection"))


def judge(**settings):
    return made(evenhand.DirectJudge, "marking_judge", criteria=USEFUL, **settings)


def test_an_ensemble_takes_judges_together():
    theirs = MetricsEnsemble(metrics=[judge(), made(evenhand.DirectJudge, "marking_judge", criteria=CLEAR)])
    scores = evaluated(theirs, ROWS, ANSWERS)
    values = [1.0, 0.5, 0.0] * 3
    assert scores[0]["score"]["global"]["ensemble_score"] == pytest.approx(sum(values) / 9)
    assert [each["score"]["instance"]["ensemble_score"] for each in scores] == pytest.approx(values)


RUBRIC = {"name": "r", "criteria": ["Is it polite?", "Is it short?"]}


@pytest.mark.parametrize(
    ("metric", "predictions"),
    [
        (lambda: judge(samples=1), ANSWERS),
        (lambda: evenhand.RubricJudge(rubric=RUBRIC, inference_engine="engines.evenhand.baseline"), ANSWERS),
        (
            lambda: evenhand.ChecklistJudge(checklist=["Is it short?"], inference_engine="engines.evenhand.baseline"),
            ANSWERS,
        ),
        (lambda: evenhand.VoteAggregation(scale="binary"), [[row % 2, 1, row % 2] for row in range(9)]),
        (
            lambda: made(evenhand.PairwiseJudge, "comparing_judge", criteria=BETTER),
            [[f"answer {row}", "answer 4"] for row in range(9)],
        ),
    ],
    ids=["direct", "rubric", "checklist", "votes", "pairwise"],
)
def test_groups_and_conversations_are_reduced(metric, predictions):
    """The mean within groups, and then over them, by hand; a conversation is a group of turns."""
    rows = [
        {**row, "conversation": {"id": str(place // 3), "dialog": [0] * (2 * (place % 3) + 2)}}
        for place, row in enumerate(ROWS)
    ]
    alone = [each["score"]["instance"]["score"] for each in evaluated(metric(), rows, predictions)]
    kept = [value for value in alone if not math.isnan(value)]
    for reduced in (
        GroupMetric(metric=metric(), group_id_field="conversation/id", item_id_field="question"),
        MultiTurnMetric(metric=metric()),
    ):
        found = evaluated(reduced, rows, predictions)
        score = found[0]["score"]["global"]["score"]
        groups = [[value for value in alone[at : at + 3] if not math.isnan(value)] for at in (0, 3, 6)]
        means = [sum(own) / len(own) for own in groups if own]
        assert kept
        assert score == pytest.approx(sum(means) / len(means))


@pytest.mark.parametrize(("reduction", "expected"), [(MeanReduction(), 0.5), (MaxReduction(), 1.0)])
def test_every_reduction_takes_the_scores_of_an_instance(reduction, expected):
    metric = judge()
    given = [evenhand.metrics.metric.EvaluationInput(text, [], row) for text, row in zip(ANSWERS, ROWS, strict=True)]
    scores = [metric.reduce_one(each) for each in metric.map_stream(given)]
    assert reduction.reduce(scores)["llm_as_judge"] == pytest.approx(expected)
    assert scores[0].texts["is_useful_selected_option"] == "great"


def test_a_metric_is_an_engine_as_the_cards_of_judge_bench_have_it():
    """Given to unitxt's engine that answers by a metric, both say the same."""
    rows = [
        {"task_data": json.dumps({**row, "said": text}), "references": []}
        for row, text in zip(ROWS, ANSWERS, strict=True)
    ]
    theirs, ours = (
        MetricInferenceEngine(metric=made(kind, "marking_judge", criteria=USEFUL), prediction_field="said")._infer(rows)
        for kind in (LLMJudgeDirect, evenhand.DirectJudge)
    )
    for their, our in zip(theirs, ours, strict=True):
        assert {name: our[name] for name in their if not name.endswith(("prompts", "criteria"))} == {
            name: value for name, value in their.items() if not name.endswith(("prompts", "criteria"))
        }


def test_every_judge_metric_of_unitxts_catalog_is_built_by_ours():
    """With the type swapped and an engine that can be built here."""
    types = {"llm_judge_direct": "direct_judge", "llm_judge_pairwise": "pairwise_judge"}
    folder = Path(get_constants().default_catalog_path) / "metrics"
    found = {path: json.loads(path.read_text()) for path in folder.rglob("*.json")}
    judges = {path: entry for path, entry in found.items() if entry["__type__"] in types}
    assert len(judges) >= 100
    for path, entry in judges.items():
        swapped = {**entry, "__type__": types[entry["__type__"]], "inference_engine": "engines.evenhand.baseline"}
        assert Artifact.from_dict(swapped).panel()[1], path


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"format": "formats.empty"}, "format is 'formats.empty'; judges are asked by chat"),
        ({"n_resamples": 100}, "n_resamples is 100"),
        ({"ci_method": "percentile"}, "interval="),
        ({"ci_score_names": ["x"]}, "means with intervals"),
        ({"ci_scores": ["x"]}, "means with intervals"),
        ({"implemented_reductions": ["mean"]}, "leave implemented_reductions out"),
        ({"reduction_map": {"weighted_win_rate": ["x"]}}, "reduction=weighted_win_rate"),
        ({"criteria": [USEFUL, CLEAR]}, "a metric judges by one criterion"),
        ({"inference_engine": object()}, "which cannot be asked"),
    ],
)
def test_what_would_do_nothing_is_refused_in_one_line(settings, told):
    given = {"criteria": USEFUL, "inference_engine": "engines.evenhand.baseline", **settings}
    with pytest.raises(evenhand.EvenhandError, match=re.escape(told)) as raised:
        evenhand.DirectJudge(**given)
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, UnitxtError)


def test_what_unitxts_judges_take_is_taken():
    taken = judge(
        format="formats.chat_api",
        reduction_map={"mean": ["is_useful"]},
        confidence_interval_calculation=False,
        n_resamples=0,
    )
    scores = evaluated(taken, ROWS, ANSWERS)[0]["score"]["global"]
    assert not [name for name in scores if "_ci_" in name]
    assert "is_useful_ci_low" in evaluated(judge(n_resamples=0), ROWS, ANSWERS)[0]["score"]["global"]


def benchmark(kind):
    """Two parts, each judged by the metric."""

    def part(first, last):
        rows = [{**row, "said": text} for row, text in zip(ROWS, ANSWERS, strict=True)][first:last]
        task = Task(
            input_fields={"question": str, "context": str},
            reference_fields={},
            prediction_type=str,
            metrics=[made(kind, "marking_judge", criteria=USEFUL)],
            default_template="templates.empty",
        )
        loader = LoadFromDictionary(data={"test": rows}, data_classification_policy=["public"])
        return DatasetRecipe(card=TaskCard(loader=loader, task=task))

    data = load_dataset(Benchmark(subsets={"early": part(0, 5), "late": part(5, 9)}), split="test")
    return evaluate(predictions=ANSWERS, data=data)


def test_a_benchmark_with_its_parts_has_unitxts_scores():
    theirs, ours = (benchmark(kind) for kind in DIRECT_JUDGES)
    assert ours.global_scores["score"] == pytest.approx(theirs.global_scores["score"])
    for part in ("early", "late"):
        their, our = (each.subsets_scores[part] for each in (theirs, ours))
        assert our["score"] == pytest.approx(their["score"])
        assert our["score_name"] == their["score_name"]


@script
def turn_counting_judge(messages):
    """Great where the context holds two turns."""
    if len(messages) == 1:
        return f"{messages[0]['content'].count('turn')} turns."
    return "great" if "2 turns" in messages[1]["content"] or "2 turns" in json.dumps(messages) else "poor"


def test_a_conversation_as_context_is_shown_as_unitxt_shows_it():
    dialog = [{"role": "user", "content": "turn one"}, {"role": "assistant", "content": "turn two"}]
    rows = [{"conversation": dialog, "context": "none"} for _ in range(2)]
    theirs, ours = both(
        DIRECT_JUDGES, "turn_counting_judge", rows, ["a", "b"], criteria=USEFUL, context_fields=["conversation"]
    )
    assert [each["score"]["instance"]["score"] for each in ours] == [1.0, 1.0]
    assert [each["score"]["instance"]["score"] for each in theirs] == [1.0, 1.0]
