"""Judge metrics as modules of Hugging Face's evaluate."""

from pathlib import Path

import evaluate
import pytest
from unitxt import create_dataset
from unitxt import evaluate as unitxt_evaluate
from unitxt.task import Task

import evenhand
from evenhand.errors import InvalidInputError
from evenhand.integrations.hf_evaluate import evaluation_module
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import DirectJudge
from tests.support.judges import ScriptedJudge

QUESTIONS = ["How many legs has a spider?", "What is the capital of France?", "Who wrote Emma?"]
ANSWERS = ["A spider has eight legs.", "I like trains.", "Jane Austen wrote Emma."]


def metric_id(kind="direct", criterion="direct.relevance", **settings):
    given = {
        "criteria": f"criteria.evenhand.{criterion}",
        "inference_engine": "engines.evenhand.baseline",
        "progress": False,
        **settings,
    }
    return f"metrics.evenhand.{kind}[{','.join(f'{name}={value}' for name, value in given.items())}]"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_scores_are_those_of_a_recipe():
    register()
    task = Task(
        input_fields={"question": str},
        reference_fields={},
        prediction_type=str,
        metrics=[metric_id()],
        default_template="templates.empty",
    )
    rows = [{"question": question} for question in QUESTIONS]
    data = create_dataset(task=task, test_set=rows, split="test")
    expected = unitxt_evaluate(predictions=ANSWERS, data=data).global_scores
    scores = evenhand.evaluation_module(metric_id()).compute(predictions=ANSWERS, question=QUESTIONS)
    assert scores == {name: expected[name] for name in scores}
    assert scores["num_of_instances"] == 3
    assert scores["score_name"] == "relevance"


# the point is where the reference comes from; the question is left out on purpose
@pytest.mark.filterwarnings("ignore::evenhand.data.fields.LeftOutContextWarning")
def test_references_may_be_texts_lists_or_absent():
    judge = ScriptedJudge(
        lambda request: "It answers." if request.options is None else request.options[0], identity=False
    )
    given = {"criteria": "criteria.evenhand.direct.correctness", "context_fields": ["reference"], "progress": False}
    module = evaluation_module(DirectJudge(inference_engine=judge, **given))
    module.compute(predictions=["eight", "Paris"], references=["Eight legs.", ["Paris.", "The city of Paris."]])
    shown = [request.question.context["reference"] for request in judge.requests]
    assert set(shown) == {"Eight legs.", "Paris.\n\nThe city of Paris."}
    scores = evaluation_module(metric_id(criterion="direct.clarity")).compute(predictions=ANSWERS, question=QUESTIONS)
    assert 0 <= scores["score"] <= 1


def test_combined_modules_keep_their_scores_apart():
    relevance, clarity = evaluation_module(metric_id()), evaluation_module(metric_id(criterion="direct.clarity"))
    combined = evaluate.combine([relevance, clarity])
    scores = combined.compute(predictions=ANSWERS, question=QUESTIONS)
    alone = clarity.compute(predictions=ANSWERS, question=QUESTIONS)
    assert scores["clarity"] == alone["clarity"]
    assert scores["direct_clarity_score"] == alone["score"]
    assert scores["direct_relevance_score"] == scores["relevance"]
    combined.add_batch(predictions=ANSWERS[:1], references=None, question=QUESTIONS[:1])
    combined.add(prediction=ANSWERS[1], question=QUESTIONS[1])
    combined.add(prediction=ANSWERS[2], question=QUESTIONS[2])
    assert combined.compute() == scores


def test_the_module_says_what_it_needs_and_writes_no_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    module = evaluation_module(metric_id())
    assert list(module.features) == ["predictions", "references", "question"]
    module.compute(predictions=ANSWERS, question=QUESTIONS)
    assert not list(Path().iterdir())
    assert "stored examples: 0" in repr(module)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no instances to score"),
        ({"question": QUESTIONS}, r"the judge needs \['predictions'\]: pass predictions="),
        ({"predictions": ANSWERS}, r"the judge needs \['question'\]: pass question="),
        ({"predictions": ANSWERS, "question": QUESTIONS[:2]}, "differ in length, {3: 'predictions', 2: 'question'}"),
        ({"predictions": "one", "question": ["q"]}, "predictions is 'one'; give a list"),
    ],
)
def test_what_cannot_be_judged_is_named(given, message):
    with pytest.raises(InvalidInputError, match=message):
        evaluation_module(metric_id()).compute(**given)


def test_recorded_votes_are_aggregated():
    module = evaluation_module("metrics.evenhand.votes.ordinal.median[criteria=criteria.evenhand.direct.relevance]")
    assert (module.name, list(module.features)) == ("vote_aggregation_relevance", ["predictions", "references"])
    names = evenhand.load("criteria.evenhand.direct.relevance").labels  # 1, .75, .5, .25, 0
    votes = [[names[0], names[0], names[3]], [names[1], None, names[1]], {"a": names[2], "b": names[2]}, None]
    right = [names[0], names[2], 0.5, names[0]]  # the value of Partly relevant
    scores = module.compute(predictions=votes, references=right)
    # medians 1, .75 and .5; the last instance has no vote
    assert scores["score"] == scores["relevance"] == pytest.approx((1 + 0.75 + 0.5) / 3)
    assert (scores["relevance_num_unscored"], scores["relevance_num_votes"]) == (1, 8)
    assert scores["relevance_accuracy"] == pytest.approx(2 / 3)
    assert scores["num_of_instances"] == 4
    module.add(prediction=votes[0], reference=right[0])
    module.add_batch(predictions=votes[1:], references=right[1:])
    assert module.compute() == scores
    assert "relevance_accuracy" not in module.compute(predictions=votes)
