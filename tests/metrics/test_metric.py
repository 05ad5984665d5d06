"""What every metric hands to unitxt when it is copied and written: all that it was made from."""

import copy
import json

from evenhand.metrics.judge_metrics import ChecklistJudge, DirectJudge, RubricJudge, VoteAggregation
from evenhand.unitxt.bases import Artifact, fetch_artifact


def fetched(identifier):
    return fetch_artifact(identifier)[0]


def copies(metric):
    """The metric as unitxt copies it, and as it comes back from a recipe's JSON."""
    return copy.deepcopy(metric), Artifact.from_dict(json.loads(metric.to_json()))


def test_an_engine_fetched_with_a_setting_keeps_it_in_copies():
    engines = ["engines.evenhand.baseline", fetched("engines.evenhand.simulated[seed=3]")]
    for copied in copies(RubricJudge(rubric="rubrics.evenhand.safety", inference_engine=engines)):
        assert copied.inference_engine[0].__id__ == engines[0]  # which UNITXT_DATA_CLASSIFICATION_POLICY may name
        assert copied.inference_engine[1].seed == 3
    for copied in copies(DirectJudge(criteria="criteria.evenhand.direct.relevance", inference_engine=engines[1])):
        assert copied.inference_engine.seed == 3


def test_what_is_judged_keeps_what_was_overridden():
    engine = fetched("engines.evenhand.simulated")
    criterion = fetched("criteria.evenhand.direct.relevance[description=Is it about the question?]")
    rubric = fetched("rubrics.evenhand.safety[na_strategy=zero]")
    checklist = fetched("checklists.evenhand.code_change[description=Mine.]")
    for copied in copies(DirectJudge(criteria=criterion, inference_engine=engine)):
        assert copied.criteria.description == "Is it about the question?"
    for copied in copies(VoteAggregation(scale="ordinal", criteria=criterion)):
        assert copied.criteria.description == "Is it about the question?"
    for copied in copies(RubricJudge(rubric=rubric, inference_engine=engine)):
        assert copied.own_judged().na_strategy == "zero"
    for copied in copies(ChecklistJudge(checklist=checklist, inference_engine=engine)):
        assert copied.checklist.description == "Mine."
