"""The results of a recipe as those of a function: the same votes, verdicts, numbers and files."""

from typing import Any

import pytest
from unitxt import evaluate
from unitxt.benchmark import Benchmark
from unitxt.card import TaskCard
from unitxt.loaders import LoadFromDictionary
from unitxt.standard import DatasetRecipe
from unitxt.task import Task
from unitxt.templates import NullTemplate

import evenhand
from evenhand.errors import InvalidInputError
from tests.support.recipes import evaluated

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ENGINE = "engines.evenhand.simulated[seed=4,noise=2.0,refusal_rate=0.2]"
ROWS = [{"question": f"Which is number {row}?", "doc": f"d{row // 3}"} for row in range(8)]
TEXTS = [None if row == 5 else f"It is {row}, as I said." for row in range(8)]
PAIRS = [{"a": f"It is {row}.", "b": None if row == 2 else f"No, {row + 1}.", "c": "No idea."} for row in range(8)]
RUBRIC = {"name": "r", "criteria": ["Is it polite?", {"name": "short", "description": "Is it short?", "weight": 2}]}
QUIET = {"journal": None, "progress": False, "cluster_field": "doc"}
RELEVANCE, BETTER = "criteria.evenhand.direct.relevance", "criteria.evenhand.pairwise.overall_quality"


def recipe(metric, predictions):
    return evaluated(metric, ROWS, predictions)


def asked(kind, **settings):
    evenhand.register()
    return kind(**{"inference_engine": ENGINE, **QUIET, **settings})


@pytest.fixture(scope="module")
def recipes():
    """Kind -> what a recipe found."""
    shown = {"context_fields": {"question": "question"}}

    def grouped(kind, **settings):
        return asked(kind, group_fields="doc", **settings)

    return {
        "judgements": recipe(grouped(evenhand.DirectJudge, criteria=RELEVANCE, samples=2, **shown), TEXTS),
        "rubric": recipe(grouped(evenhand.RubricJudge, rubric=RUBRIC, length_penalty={"free_budget": 3}), TEXTS),
        "checklist": recipe(grouped(evenhand.ChecklistJudge, checklist=["Is it short?", "Is it polite?"]), TEXTS),
        "winrates": recipe(grouped(evenhand.PairwiseJudge, criteria=BETTER, **shown), PAIRS),
        "grade_scores": recipe(grouped(evenhand.GradeScore, criteria=BETTER, unrelated_option=True), PAIRS),
        "best_of": recipe(grouped(evenhand.BestOfJudge, criteria=BETTER), PAIRS),
    }


def global_scores(results):
    return results[0]["score"]["global"]


def test_it_is_what_the_function_finds_on_the_same_rows(recipes):
    rows = [{**row, "response": text} for row, text in zip(ROWS, TEXTS, strict=True)]
    found = evenhand.judge(rows, RELEVANCE, ENGINE, samples=2, context_fields={"question": "question"}, **QUIET)
    again = evenhand.from_results(recipes["judgements"])
    assert [item.instance for item in again] == [item.instance for item in found]
    assert again.parameters["judges"] == found.parameters["judges"]
    assert len(again.votes()) == len(found.votes())
    first = again.rescore(on_position_bias="first").summaries["response", "relevance"].score
    by_recipe = recipe(
        asked(
            evenhand.DirectJudge,
            criteria=RELEVANCE,
            samples=2,
            on_position_bias="first",
            context_fields={"question": "question"},
        ),
        TEXTS,
    )
    assert first.estimate == pytest.approx(global_scores(by_recipe)["relevance"])


def test_a_rubric_a_checklist_and_comparisons_have_them_too(recipes):
    for results in recipes.values():
        assert evenhand.from_results(results).group_of("doc") == tuple(row["doc"] for row in ROWS)
    rubric = evenhand.from_results(recipes["rubric"])
    assert rubric.rubric_scores["response"].score.estimate == pytest.approx(global_scores(recipes["rubric"])["r"])
    report = evenhand.from_results(recipes["checklist"]).reports["response"]
    assert report.pass_rate.low == pytest.approx(global_scores(recipes["checklist"])["pass_rate_ci_low"])
    winrates = evenhand.from_results(recipes["winrates"])
    for system in "abc":
        scores = global_scores(recipes["winrates"])
        found = winrates.winrate(system)
        assert [found.estimate, found.low] == pytest.approx(
            [scores[f"{system}_winrate"], scores[f"{system}_winrate_ci_low"]]
        )
        assert winrates.system(system).rank == scores[f"{system}_rank"]
    grades = evenhand.from_results(recipes["grade_scores"])
    (judge,) = grades.parameters["judges"]
    scores = global_scores(recipes["grade_scores"])
    for unrelated, prefix in ((False, ""), (True, "with_unrelated_")):
        found = grades.gradings[judge, "evaluate_first", unrelated].grade_score
        assert found.estimate == pytest.approx(scores[f"{prefix}grade_score"])
    best = evenhand.from_results(recipes["best_of"]).measures[""].candidates["a"].rate
    assert best.estimate == pytest.approx(global_scores(recipes["best_of"])["a_selection_rate"])


def test_of_several_metrics_one_is_named():
    shown = {"context_fields": {"question": "question"}}
    metrics = [
        asked(evenhand.DirectJudge, criteria=RELEVANCE, **shown),
        asked(evenhand.DirectJudge, criteria=RELEVANCE, seed=3, score_prefix="second_", **shown),
    ]
    results = recipe(metrics, TEXTS)
    with pytest.raises(InvalidInputError, match=r"of 2 metric.*'second_relevance'"):
        evenhand.from_results(results)
    assert evenhand.from_results(results, "second_relevance").parameters["seed"] == 3


def test_of_a_benchmark_the_rows_of_one_subset_are_a_result():
    """Those of a subset within a subset too."""

    def subset(criteria, rows):
        loader = LoadFromDictionary(data={"test": ROWS[:rows]}, data_classification_policy=["public"])
        shown = {"context_fields": {"question": "question"}}
        task = Task(
            input_fields=dict.fromkeys(ROWS[0], Any),
            reference_fields={},
            prediction_type=Any,
            metrics=[asked(evenhand.DirectJudge, criteria=criteria, **shown)],
        )
        card = TaskCard(loader=loader, task=task)
        return DatasetRecipe(card=card, template=NullTemplate())

    inner = Benchmark(subsets={"two": subset("criteria.evenhand.direct.coherence", 8), "three": subset(RELEVANCE, 5)})
    data = list(Benchmark(subsets={"one": subset(RELEVANCE, 8), "in": inner})()["test"])
    results = evaluate(predictions=[*TEXTS, *TEXTS, *TEXTS[:5]], data=data)
    with pytest.raises(InvalidInputError, match=r"those of 3 subsets.*row\['subset'\] == \['one'\]"):
        evenhand.from_results(results)
    for path, rows in ((["one"], 8), (["in", "two"], 8), (["in", "three"], 5)):
        own = [row for row in results if row["subset"] == path]
        scores = own[0]["score"]["subsets"]
        for each in path:
            scores = scores[each]
        found = evenhand.from_results(own)
        assert found.parameters["n"] == rows
        (summary,) = found.summaries.values()
        assert [summary.score.estimate, summary.score.low] == pytest.approx([scores["score"], scores["score_ci_low"]])
