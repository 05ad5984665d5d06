"""What a recipe shows beside the response, criterion by criterion, next to what unitxt's own judges show."""

import json
from pathlib import Path

import pytest
import unitxt
from unitxt.llm_as_judge import LLMJudgeDirect, LLMJudgePairwise

from evenhand.criteria import Checklist, Rubric, context_mapping, yes_no_criterion
from evenhand.data.fields import LeftOutContextWarning
from evenhand.engines.free_engines import BaselineEngine
from evenhand.errors import InvalidInputError
from evenhand.metrics.judge_metrics import BestOfJudge, ChecklistJudge, DirectJudge, PairwiseJudge, RubricJudge
from evenhand.question import comparison_criterion
from evenhand.unitxt.bases import EvaluationInput
from evenhand.unitxt.loading import load_criteria_artifact
from tests.support.scripted import SENT, ScriptedInferenceEngine, script

JUDGES = {"direct": (DirectJudge, LLMJudgeDirect), "pairwise": (PairwiseJudge, LLMJudgePairwise)}
CATALOG = Path(unitxt.__file__).parent / "catalog" / "metrics" / "llm_as_judge"
CASES = [
    (mode, f"metrics.llm_as_judge.{mode}.criteria.{path.stem}")
    for mode in JUDGES
    for path in sorted((CATALOG / mode / "criteria").glob("*.json"))
]


def shown(mode, criterion, row, **settings):
    """The contexts of evenhand's judge (name -> text) and of unitxt's (a text), of the same recipe."""
    ours, theirs = JUDGES[mode]
    metric = ours(inference_engine=BaselineEngine(), criteria=criterion, journal=None, progress=False, **settings)
    frozen = metric.freeze(metric.criteria)
    unitxts = theirs(inference_engine=ScriptedInferenceEngine(script="yes_judge"), criteria=criterion, **settings)
    (text,) = unitxts.get_contexts([row], [criterion])
    prediction = "r" if mode == "direct" else ["r", "s"]
    return metric.subject(0, EvaluationInput(prediction, [], row), frozen).context, text


def as_unitxt_writes_it(context):
    only = len(context) == 1 and next(iter(context)).lower() == "context"
    return "".join(context.values()) if only else "\n".join(f"{name}: {text}" for name, text in context.items())


@pytest.mark.parametrize(("mode", "identifier"), CASES)
def test_the_swap_shows_what_unitxt_shows(mode, identifier):
    criterion = load_criteria_artifact(identifier)
    own = context_mapping(criterion.context_fields) or {}
    row = {"context": "the passage", **{field: f"its {field}" for field in own.values()}}
    # As recipes are written: nothing set. unitxt shows the row's context, which is all where the criterion names none.
    ours, theirs = shown(mode, criterion, row)
    assert ours == {"context": "the passage", **{name: f"its {field}" for name, field in own.items()}} or (
        "context" in own or "context" in own.values()
    )
    assert theirs == row["context"]
    assert theirs in ours.values()
    if not own:
        assert as_unitxt_writes_it(ours) == theirs
    # Set to nothing: the criterion's own. Set to something: that.
    for settings in ({"context_fields": []}, {"context_fields": ["context"]}, {"context_fields": {"text": "context"}}):
        ours, theirs = shown(mode, criterion, row, **settings)
        assert as_unitxt_writes_it(ours) == theirs


@script
def says_no(messages):
    return "no"


QUESTION = yes_no_criterion("right", "Is it right?")


@pytest.mark.parametrize(
    "judge",
    [
        DirectJudge(criteria=QUESTION),
        RubricJudge(rubric=Rubric(name="r", criteria=(QUESTION,))),
        ChecklistJudge(checklist=Checklist(name="c", items=({"question": "Is it right?", "name": "right"},))),
        PairwiseJudge(criteria=comparison_criterion("better", "Which?")),
        BestOfJudge(criteria=comparison_criterion("better", "Which?")),
    ],
    ids=lambda judge: type(judge).__name__,
)
def test_every_metric_sends_the_context_of_the_row(judge):
    SENT.clear()
    judge.inference_engine, judge.journal, judge.progress = ScriptedInferenceEngine(script="says_no"), None, False
    judge.max_failure_rate = 1.0
    several = isinstance(judge, (PairwiseJudge, BestOfJudge))
    row = {"prediction": ["7", "8"] if several else "7", "references": [], "task_data": {"context": "the passage: 7"}}
    judge.compute([row]) if hasattr(judge, "compute") else list(judge.map_stream([row]))
    assert SENT
    assert all("the passage: 7" in json.dumps(each["source"]) for each in SENT)


def test_a_field_that_the_data_lack_is_an_error_only_where_there_is_no_context():
    criterion = QUESTION.model_copy(update={"context_fields": {"question": "question"}})
    with pytest.warns(LeftOutContextWarning, match=r"judged by \['question'\], which the data do not have"):
        ours, theirs = shown("direct", load_criteria_artifact(criterion), {"context": "c"})
    assert (ours, theirs) == ({"context": "c"}, "c")
    metric = DirectJudge(inference_engine=BaselineEngine(), criteria=criterion, journal=None)
    with pytest.raises(InvalidInputError, match="has no field 'question'"):
        metric.subject(0, EvaluationInput("r", [], {"passage": "c"}), criterion)
