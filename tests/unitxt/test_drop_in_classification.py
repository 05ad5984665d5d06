"""What data engines of unitxt's are shown: by our judges the same as by unitxt's, whatever engines and data declare."""

import json
import warnings

import pytest
from unitxt import evaluate
from unitxt.card import TaskCard
from unitxt.catalog import add_to_catalog
from unitxt.error_utils import UnitxtError
from unitxt.inference import (
    CrossProviderInferenceEngine,
    LiteLLMInferenceEngine,
    OpenAiInferenceEngine,
    RITSInferenceEngine,
    TogetherAiInferenceEngine,
    WMLInferenceEngineChat,
    WMLInferenceEngineGeneration,
)
from unitxt.llm_as_judge import LLMJudgeDirect, LLMJudgePairwise
from unitxt.loaders import LoadFromDictionary
from unitxt.standard import DatasetRecipe
from unitxt.task import Task

import evenhand
from evenhand.errors import DataClassificationError
from evenhand.metrics.metric import MarkedDataWarning
from evenhand.unitxt.bases import (
    Criteria,
    CriteriaOption,
    CriteriaWithOptions,
    TextGenerationInferenceOutput,
    register_local_catalog,
)
from tests.support.scripted import SENT, ScriptedInferenceEngine, script
from tests.support.server import JudgeServer

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::evenhand.metrics.metric.MarkedDataWarning"),
]
USEFUL = CriteriaWithOptions(
    name="useful",
    description="Does it help?",
    options=[CriteriaOption(name=label, description="") for label in ("yes", "no")],
    option_map={"yes": 1.0, "no": 0.0},
)
BETTER = Criteria(name="better", description="Which one helps more?")
ROWS = [{"question": f"q{row}", "context": "Some text."} for row in range(2)]
PAIRS = {"direct": (LLMJudgeDirect, evenhand.DirectJudge), "pairwise": (LLMJudgePairwise, evenhand.PairwiseJudge)}
GIVEN = {"direct": ({"criteria": USEFUL}, ["a", "b"]), "pairwise": ({"criteria": BETTER}, [["a", "b"], ["c", "d"]])}
QUIET = {"journal": None, "progress": False}
POLICIES = [None, ["public"], ["public", "proprietary"], ["proprietary"], ["confidential"], ["public", "confidential"]]
CLASSES = [None, ["public"], ["proprietary"], ["confidential"], ["confidential", "public"]]
"""Of data; None is what unitxt takes a dictionary for, which is proprietary."""


@script
def first_of_two(messages):
    return "yes, Response A" if len(messages) == 1 else "yes" if "yes" in messages[-1]["content"] else "Response A"


def made(kind, engine, **settings):
    ours = QUIET if kind.__module__.startswith("evenhand") else {}
    return kind(inference_engine=engine, **ours, **settings)


def judged(metric, predictions, classes, rows=ROWS, **recipe):
    """The global scores of a recipe whose rows are a dictionary."""
    task = Task(
        input_fields={"question": str, "context": str},
        reference_fields={},
        prediction_type="Any",
        metrics=[metric],
        default_template="templates.empty",
    )
    loader = LoadFromDictionary(data={"test": rows}, data_classification_policy=classes)
    card = DatasetRecipe(card=TaskCard(loader=loader, task=task), postprocessors=[], **recipe)
    return evaluate(predictions=predictions, data=list(card()["test"])).global_scores


def outcome(kind, way, policy, classes):
    """Whether something was judged, and how its prompts were marked."""
    SENT.clear()
    settings, predictions = GIVEN[way]
    engine = ScriptedInferenceEngine(script="first_of_two", data_classification_policy=policy)
    try:
        judged(made(kind, engine, **settings), predictions, classes)
    except UnitxtError as error:
        return "refused" if "classification" in str(error) and not SENT else str(error)
    return {tuple(instance["data_classification_policy"]) for instance in SENT}


@pytest.mark.parametrize("way", PAIRS)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_an_engine_is_shown_what_unitxts_judge_shows_it(way, policy):
    theirs, ours = PAIRS[way]
    found = {str(classes): [outcome(kind, way, policy, classes) for kind in (theirs, ours)] for classes in CLASSES}
    assert all(their == our for their, our in found.values()), found
    allowed = policy is None or "public" in policy
    assert all(our == ({("public",)} if allowed else "refused") for _, our in found.values())


def test_the_environment_says_the_same_to_both(monkeypatch):
    for named, expected in (("public", {("public",)}), ("confidential", "refused")):
        monkeypatch.setenv("UNITXT_DATA_CLASSIFICATION_POLICY", json.dumps({"ScriptedInferenceEngine": [named]}))
        for kind in PAIRS["direct"]:
            assert outcome(kind, "direct", None, ["confidential"]) == expected


@pytest.mark.parametrize("kind", PAIRS["direct"])
def test_a_metric_that_may_not_see_data_refuses_them_as_unitxts_does(kind):
    engine = ScriptedInferenceEngine(script="first_of_two")
    metric = made(kind, engine, criteria=USEFUL, data_classification_policy=["public"])
    assert judged(metric, ["a", "b"], ["public"])["score"] == 1.0
    with pytest.raises(Exception, match="confidential"):
        judged(metric, ["a", "b"], ["confidential"])


def answer(engine, dataset, return_meta_data=False):
    said = [first_of_two(instance["source"]) for instance in dataset]
    SENT.extend(dataset)
    with_more = [TextGenerationInferenceOutput(prediction=text, generated_text=text) for text in said]
    return with_more if return_meta_data else said


def stand_in(kind, **fields):
    """A class of unitxt's engines without its network."""
    own = {
        "__module__": __name__,
        "__qualname__": f"DropIn{kind.__name__}",
        "__annotations__": {},
        "_requirements_list": {},
        "prepare_engine": lambda self: None,
        "_infer": answer,
        "get_engine_id": lambda self: "stand_in",
        "get_return_object": lambda self, *given, **more: None,
    }
    return type(kind)(f"DropIn{kind.__name__}", (kind,), own), fields


ENGINES = [
    stand_in(OpenAiInferenceEngine, model_name="m"),
    stand_in(TogetherAiInferenceEngine, model_name="m"),
    stand_in(RITSInferenceEngine, model_name="m"),
    stand_in(WMLInferenceEngineChat, model_name="m"),
    stand_in(WMLInferenceEngineGeneration, model_name="m"),
    stand_in(LiteLLMInferenceEngine, model="m"),
    stand_in(CrossProviderInferenceEngine, model="m", provider="rits"),
]


@pytest.mark.parametrize("way", PAIRS)
@pytest.mark.parametrize(("engine", "fields"), ENGINES, ids=[engine.__name__ for engine, _ in ENGINES])
def test_every_class_of_unitxts_engines_judges_rows_of_a_dictionary(engine, fields, way, tmp_path):
    settings, predictions = GIVEN[way]
    add_to_catalog(
        engine(**fields, use_cache=False), "engines.stand_in", catalog_path=str(tmp_path), overwrite=True, verbose=False
    )
    register_local_catalog(str(tmp_path))
    theirs, ours = PAIRS[way]
    scores = [
        judged(made(kind, given, **settings), predictions, None)["score"]
        for kind in (theirs, ours)
        for given in (engine(**fields, use_cache=False), "engines.stand_in")
    ]
    assert (scores[0], scores[2]) == (scores[1], scores[3])
    assert way != "direct" or scores == [1.0] * 4
    assert {tuple(each["data_classification_policy"]) for each in SENT} == {("public",)}


def test_an_engine_object_of_openais_judges_over_http_as_it_does_for_unitxts_judge(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    with JudgeServer(reply="yes") as server:
        engine = {"model_name": "m", "base_url": server.base_url, "use_cache": False}
        scores = [
            judged(made(kind, OpenAiInferenceEngine(**engine), criteria=USEFUL), ["a", "b"], None)["score"]
            for kind in PAIRS["direct"]
        ]
        assert scores == [1.0, 1.0]
        assert server.seen > 0


OVERALL = {"criteria": "criteria.evenhand.pairwise.overall_quality"}
THREE = [["a", "b", "c"], ["d", "e", "f"]]


@pytest.mark.parametrize(
    ("kind", "settings", "predictions"),
    [
        (evenhand.RubricJudge, {"rubric": {"name": "r", "criteria": ["Is it polite?"]}}, ["a", "b"]),
        (evenhand.ChecklistJudge, {"checklist": ["Is it short?"]}, ["a", "b"]),
        (evenhand.BestOfJudge, OVERALL, THREE),
        (evenhand.GradeScore, OVERALL, THREE),
    ],
)
def test_every_metric_marks_its_prompts(kind, settings, predictions):
    engine = ScriptedInferenceEngine(script="first_of_two", data_classification_policy=["public"])
    judged(made(kind, engine, **settings), predictions, None)
    assert {tuple(each["data_classification_policy"]) for each in SENT} == {("public",)}


@pytest.mark.parametrize("recipe", [{}, {"group_by": ["question"]}], ids=["plain", "groups"])
def test_it_warns_once_and_only_where_the_engine_declares_something_else(recipe):
    for policy, classes, count in (
        (["public"], None, 1),
        (["public"], ["public"], 0),
        (["public", "proprietary"], None, 0),
        (None, ["confidential"], 0),
    ):
        engine = ScriptedInferenceEngine(script="first_of_two", data_classification_policy=policy)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            judged(made(evenhand.DirectJudge, engine, criteria=USEFUL), ["a", "b"], classes, **recipe)
        told = [str(each.message) for each in caught if each.category is MarkedDataWarning]
        assert len(told) == count, (policy, classes)
        assert all("'proprietary'" in each and "data_classification='proprietary'" in each for each in told)


def test_a_class_that_the_metric_names_is_the_mark():
    engine = ScriptedInferenceEngine(script="first_of_two", data_classification_policy=["public"])
    metric = made(evenhand.DirectJudge, engine, criteria=USEFUL, data_classification="pii")
    with pytest.raises(DataClassificationError, match="'pii'"):
        judged(metric, ["a", "b"], None)
    assert not SENT
    engine = ScriptedInferenceEngine(script="first_of_two", data_classification_policy=["pii"])
    metric = made(evenhand.DirectJudge, engine, criteria=USEFUL, data_classification="pii")
    assert judged(metric, ["a", "b"], None)["score"] == 1.0
    assert {tuple(each["data_classification_policy"]) for each in SENT} == {("pii",)}


def test_our_own_engines_and_functions_keep_their_own_rule():
    rows = [{**row, "answer": "a", "data_classification_policy": "confidential"} for row in ROWS]
    engine = ScriptedInferenceEngine(script="first_of_two", data_classification_policy=["public"])
    with pytest.raises(DataClassificationError, match="confidential"):
        evenhand.judge(rows, "Is it short?", engine, response_fields="answer", **QUIET)
    with JudgeServer(reply="yes") as server:
        own = evenhand.OpenAICompatibleEngine(base_url=server.base_url, model="m")
        panel = [ScriptedInferenceEngine(script="first_of_two"), own]
        for given in (own, panel):
            with pytest.raises(DataClassificationError, match="confidential"):
                judged(made(evenhand.DirectJudge, given, criteria=USEFUL), ["a", "b"], ["confidential"])
        assert server.seen == 0
    assert not SENT
