"""Rubrics inside unitxt: scores worked by hand, both ways of asking, recipes, panels and examples."""

import copy
import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest
from unitxt import create_dataset, evaluate
from unitxt.task import Task

from evenhand.criteria import Criterion, Option, Rubric, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError, UnknownRuleError
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import RubricJudge
from evenhand.statistics import mean_intervals
from evenhand.unitxt.bases import fetch_artifact
from evenhand.votes import Completion, TokenLogprob
from tests.support.judges import ScriptedJudge, http_judge
from tests.support.server import JudgeServer, conversation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CLEAR = Criterion(
    name="clear",
    description="How clear is it?",
    weight=3,
    options=(Option(label="Good", value=1.0), Option(label="Fair", value=0.5), Option(label="Bad", value=0.0)),
)
CITES = yes_no_criterion("cites", "Does it cite a source?", weight=1, na=True)
RUDE = yes_no_criterion("rude", "Is it rude?", weight=-2)
RUBRIC = Rubric(name="Good answer", criteria=(CLEAR, CITES, RUDE))

# response -> what the judge says of each criterion; None names no option
SAID = {
    "one": {"clear": "Good", "cites": "Yes", "rude": "No"},
    "two": {"clear": "Fair", "cites": "N/A", "rude": "Yes"},
    "three": {"clear": None, "cites": "No", "rude": "No"},
}


@pytest.fixture(autouse=True)
def _catalog():
    register()


def says(request):
    answer = SAID[request.question.responses[0]][request.question.criterion.name]
    if request.stage == "reask" or answer is None:
        return "Who can say?" if answer is None else answer
    return json.dumps({"assessment": f"Because of {request.question.criterion.name}.", "selected_option": answer})


def metric(engine=None, **settings):
    given = {"rubric": RUBRIC, "max_reasks": 0, "progress": False, "context_fields": [], "journal": None, **settings}
    return RubricJudge(inference_engine=engine or ScriptedJudge(says), **given)


def compute(judge, responses=tuple(SAID), **fields):
    return judge.compute([{"prediction": each, "references": [], "task_data": dict(fields)} for each in responses])


def test_the_scores_by_hand():
    engine = ScriptedJudge(says)
    instances, overall = compute(metric(engine))
    assert len(engine.requests) == 9  # one step, one order
    one, two, three = instances
    # (3·1 + 1·1 − 2·0) / 4; (3·½ − 2·1) / 3 < 0; (0 − 0) / 1, without clear
    assert [each["good_answer"] for each in instances] == [1.0, 0.0, 0.0]
    assert [each["good_answer_raw_score"] for each in instances] == [4.0, -0.5, 0.0]
    assert [each["good_answer_counted_criteria"] for each in instances] == [
        ["clear", "cites", "rude"],
        ["clear", "rude"],
        ["cites", "rude"],
    ]
    assert (two["good_answer_na_criteria"], three["good_answer_unscored_criteria"]) == (["cites"], ["clear"])
    assert (two["good_answer_cites_na"], two["good_answer_cites_selected_option"]) == (True, "N/A")
    assert math.isnan(two["good_answer_cites"])
    assert three["good_answer_clear_unscored_reason"] == "no_match"
    assert one["good_answer_clear_assessment"] == "Because of clear."
    assert (one["score_name"], one["good_answer_using_scripted"]) == ("good_answer", 1.0)
    assert one["good_answer_prompts"].keys() == {"clear", "cites", "rude"}

    (score,), (clear,) = mean_intervals([1.0, 0.0, 0.0]), mean_intervals([1.0, 0.5])
    expected = {
        "good_answer": score.estimate,
        "good_answer_ci_low": score.low,
        "good_answer_ci_high": score.high,
        "score": score.estimate,
        "good_answer_clear": clear.estimate,
        "good_answer_clear_ci_low": clear.low,
        "good_answer_clear_ci_high": clear.high,
        "good_answer_cites": 1 / 2,
        "good_answer_rude": 1 / 3,
        "good_answer_raw_score": 3.5 / 3,
        "good_answer_parse_rate": 8 / 9,
        "good_answer_num_unscored": 0,
        "good_answer_num_incomplete": 1,
        "good_answer_clear_num_unscored": 1,
        "good_answer_cites_num_na": 1,
        # three with clear at Bad: 0; at Good: 3 / 4
        "good_answer_score_if_unscored_0": 1 / 3,
        "good_answer_score_if_unscored_1": (1 + 0 + 0.75) / 3,
        "good_answer_num_asked_votes": 9,
        "good_answer_num_unscored_votes": 1,
        "good_answer_num_unscored_verdicts": 1,
        "good_answer_clear_num_unscored_votes": 1,
        "good_answer_cites_num_unscored_votes": 0,
        "good_answer_unscored_votes_no_match": 1,
        "good_answer_calls": 9,
    }
    assert {name: overall[name] for name in expected} == pytest.approx(expected)
    # one judge that was asked once says nothing about judges
    assert not [name for name in overall if "alpha" in name or "judge_" in name or "num_votes" in name]
    assert not [name for name, value in overall.items() if isinstance(value, float) and math.isnan(value)]


def test_a_rubric_whose_weights_are_all_0_has_no_score_but_a_reason():
    weightless = RUBRIC.model_copy(
        update={"criteria": tuple(each.model_copy(update={"weight": 0}) for each in RUBRIC.criteria)}
    )
    instances, overall = compute(metric(rubric=weightless))
    assert all(math.isnan(each["good_answer"]) for each in instances)
    reasons = [each["good_answer_unscored_reason"] for each in instances]
    assert reasons == ["no_value", "no_value", "no_match"]  # three: of one criterion nothing was read
    assert math.isnan(overall["score"])
    assert overall["good_answer_num_unscored"] == 3
    assert overall["good_answer_clear"] == 0.75


@pytest.mark.parametrize(
    ("strategy", "expected"),
    # of "two" with rude at No: clear 3·½, cites does not apply
    [("skip", 1.5 / 3), ("zero", 1.5 / 4), ("partial", (1.5 + 0.25) / 4), ("fail", 1.5 / 4)],
)
def test_the_na_strategies(strategy, expected):
    engine = ScriptedJudge(lambda request: "No" if request.question.criterion.name == "rude" else says(request))
    instances, _ = compute(metric(engine, na_strategy=strategy, na_partial=0.25), ["two"])
    assert instances[0]["score"] == pytest.approx(expected)


def test_the_rubrics_own_strategy_holds_where_none_is_given():
    own = RUBRIC.model_copy(update={"na_strategy": "zero"})
    engine = ScriptedJudge(lambda request: "No" if request.question.criterion.name == "rude" else says(request))
    assert compute(metric(engine, rubric=own), ["two"])[0][0]["score"] == pytest.approx(1.5 / 4)


def test_expected_values_are_weighed_when_they_are_asked_for():
    # a judge that means Fair, with accuracy 0.8: 0.8·½ + 0.1·1 + 0.1·0
    judge = SimulatedEngine(quality={"r": 0.5}, accuracy=0.8)
    rubric = Rubric(name="r", criteria=(CLEAR,))
    instances, _ = compute(metric(judge, rubric=rubric, scoring="expected"), ["r"])
    assert instances[0]["r_clear"] == pytest.approx(0.5)
    skewed = Rubric(
        name="r",
        criteria=(CLEAR.model_copy(update={"options": (*CLEAR.options[1:], Option(label="Good", value=0.9))}),),
    )
    instances, _ = compute(metric(judge, rubric=skewed, scoring="expected"), ["r"])
    assert instances[0]["score"] == pytest.approx(0.8 * 0.5 + 0.1 * 0.9)


def test_expected_values_say_how_much_of_the_probability_was_on_the_options():
    # what the reply's only token spreads over the options by number; the rest is on no option
    spread = {"one": (0.5, 0.2, 0.1), "two": (0.6, 0.3, 0.1)}

    def reply(request):
        masses = spread[request.question.responses[0]]
        token = TokenLogprob(
            token="1",
            logprob=math.log(masses[0]),
            top=tuple((str(place), math.log(mass)) for place, mass in enumerate(masses, start=1)),
        )
        return Completion(text="1", finish_reason="stop", logprobs=(token,) if request.logprobs else None)

    rubric = Rubric(name="r", criteria=(CLEAR,))
    settings = {"rubric": rubric, "auto_na_option": False, "shuffle_options": False, "flow": "verdict_only"}
    instances, overall = compute(metric(ScriptedJudge(reply), scoring="expected", **settings), ["one", "two", None])
    assert instances[0]["r_clear"] == pytest.approx((0.5 * 1 + 0.2 * 0.5) / 0.8)
    assert instances[0]["r_clear_covered_mass"] == pytest.approx(0.8)  # .5 + .2 + .1
    assert instances[1]["r_clear_covered_mass"] == pytest.approx(1.0)
    assert instances[2]["r_clear_covered_mass"] is None
    assert overall["r_clear_covered_mass"] == pytest.approx((0.8 + 1.0) / 2)
    assert overall["r_clear_covered_mass_ci_low"] < 0.9 < overall["r_clear_covered_mass_ci_high"]
    selected = compute(metric(ScriptedJudge(lambda request: "Good"), **settings), ["one"])
    told = [value for scores in (*selected[0], selected[1]) for name, value in scores.items() if "covered_mass" in name]
    assert told == [None]


def test_the_length_penalty():
    engine = ScriptedJudge(lambda request: "Good" if request.question.criterion.name == "clear" else "No")
    long = "word " * 15
    judge = metric(engine, length_penalty={"free_budget": 10, "max_cap": 20, "penalty_at_cap": 0.4, "exponent": 1})
    instances, overall = compute(judge, ["short", long])
    # half-way between budget and cap: 0.4 · ½
    assert [each["good_answer_length_penalty"] for each in instances] == pytest.approx([0.0, 0.2])
    assert [each["score"] for each in instances] == pytest.approx([0.75, 0.55])
    assert overall["good_answer_length_penalty"] == pytest.approx(0.1)


def test_a_missing_response_is_unscored_and_nobody_is_asked():
    engine = ScriptedJudge(says)
    instances, overall = compute(metric(engine, length_penalty={"free_budget": 1}), ["one", None])
    assert len(engine.requests) == 3
    assert math.isnan(instances[1]["score"])
    assert instances[1]["good_answer_unscored_reason"] == "missing_response"
    assert instances[1]["good_answer_length_penalty"] is None
    assert (overall["good_answer_num_unscored"], overall["good_answer_score_if_unscored_0"]) == (1, 0.5)


def test_a_rubric_that_does_not_apply_says_so():
    engine = ScriptedJudge(lambda request: "N/A")
    instances, overall = compute(metric(engine), ["one"])
    assert math.isnan(instances[0]["score"])
    assert instances[0]["good_answer_na"] is True
    assert instances[0]["good_answer_unscored_reason"] is None
    assert (overall["good_answer_num_na"], overall["good_answer_num_unscored"]) == (1, 0)
    # under "zero" there is a score: 0 / 4
    assert compute(metric(engine, na_strategy="zero"), ["one"])[0][0]["score"] == 0.0


def test_options_are_shuffled_and_the_order_is_in_the_scores():
    engine = ScriptedJudge(lambda request: request.presentation.labels[0])
    responses = [f"response {number}" for number in range(120)]
    instances, _ = compute(metric(engine, auto_na_option=False), responses)
    shown = [tuple(each["good_answer_clear_orders"][0]) for each in instances]
    asked = {
        request.question.responses[0]: request.presentation.order
        for request in engine.requests
        if request.question.criterion.name == "clear"
    }
    assert [asked[response] for response in responses] == shown
    # six permutations, each expected 20 times with a standard deviation of 4
    counts = Counter(shown)
    assert len(counts) == 6
    assert all(5 < count < 40 for count in counts.values())
    # a judge that takes what stands first selects every level equally often: no level is favoured
    chosen = Counter(each["good_answer_clear_selected_option"] for each in instances)
    assert all(20 < chosen[label] < 60 for label in CLEAR.labels)
    again, _ = compute(metric(engine, auto_na_option=False), responses)
    assert [each["good_answer_clear_orders"] for each in again] == [
        each["good_answer_clear_orders"] for each in instances
    ]
    other, _ = compute(metric(engine, auto_na_option=False, seed=1), responses)
    assert [each["good_answer_clear_orders"] for each in other] != [
        each["good_answer_clear_orders"] for each in instances
    ]


def test_the_alternatives_to_one_shuffled_order():
    as_written, _ = compute(metric(shuffle_options=False), ["one"])
    assert as_written[0]["good_answer_clear_orders"] == [[0, 1, 2, 3]]
    balanced, _ = compute(metric(check_positional_bias=True), ["one"])
    first, second = balanced[0]["good_answer_clear_orders"]
    assert first == second[::-1]
    assert balanced[0]["good_answer_clear_positional_bias"] is False
    cyclic, _ = compute(metric(orders="cyclic", auto_na_option=False), ["one"])
    assert len(cyclic[0]["good_answer_clear_orders"]) == 3


def test_both_orders_are_averaged():
    engine = ScriptedJudge(lambda request: request.presentation.labels[0])
    judge = metric(
        engine,
        rubric=Rubric(name="r", criteria=(RUDE.model_copy(update={"weight": 1.0}),)),
        check_positional_bias=True,
        auto_na_option=False,
    )
    instances, _ = compute(judge, ["one"])
    assert instances[0]["r_rude"] == 0.5
    assert instances[0]["r_rude_positional_bias"] is True


def test_na_is_offered_only_where_it_is_wanted():
    engine = ScriptedJudge(says)
    compute(metric(engine, auto_na_option=False), ["one"])
    offered = {request.question.criterion.name: request.presentation.labels for request in engine.requests}
    assert {name for name, labels in offered.items() if "N/A" in labels} == {"cites"}
    compute(metric(other := ScriptedJudge(says)), ["one"])
    assert all("N/A" in request.presentation.labels for request in other.requests)


def test_context_references_and_guidelines_reach_the_judge():
    clear = CLEAR.model_copy(update={"context_fields": {"the answer": "reference", "question": "question"}})
    engine = ScriptedJudge(lambda request: request.presentation.labels[0])
    judge = metric(
        engine, rubric=Rubric(name="r", criteria=(clear,)), context_fields=None, guidelines="Be strict about dates."
    )
    judge.compute([{"prediction": "x", "references": ["In 1969."], "task_data": {"question": "When?"}}])
    prompt = engine.sent()
    for text in ("In 1969.", "When?", "Be strict about dates."):
        assert text in prompt
    assert engine.requests[0].question.references == ("In 1969.",)


SHEETS = {
    # complete; broken off in the third entry; an answer that is not offered; prose
    "one": [{"index": 1, "answer": "Good"}, {"index": 2, "answer": "Yes"}, {"index": 3, "answer": "No"}],
    "two": [{"index": 1, "answer": "Fair"}, {"index": 2, "answer": "N/A"}],
    "three": [{"index": 1, "answer": "Splendid"}, {"index": 2, "answer": "No"}, {"index": 3, "answer": "No"}],
}


class TestPerItem:
    """One reply for the whole rubric, over HTTP."""

    def reply(self, body):
        response = re.search(r"<response-\w+>\n(.*)\n</response", conversation(body)).group(1)
        answers = SHEETS.get(response)
        if answers is None:
            return "I would rather not say."
        return json.dumps({"answers": [{**answer, "reasoning": f"Reason {answer['index']}."} for answer in answers]})

    def test_a_missing_entry_leaves_only_its_own_criterion_unscored(self):
        with JudgeServer(reply=self.reply) as server:
            judge = metric(http_judge(server.base_url), calls="per_item", max_failure_rate=1.0)
            instances, overall = compute(judge, ["one", "two", "three", "four"])
            assert server.seen == 4
        one, two, three, four = instances
        assert [each["good_answer_unscored_criteria"] for each in instances] == [
            [],
            ["rude"],
            ["clear"],
            ["clear", "cites", "rude"],
        ]
        # one: 4 / 4; two: 3·½ / 3; three: 0 / 1
        assert [each["score"] for each in (one, two, three)] == [1.0, 0.5, 0.0]
        assert math.isnan(four["score"])
        assert one["good_answer_rude_assessment"] == "Reason 3."
        assert overall["good_answer_num_unscored"] == 1
        assert overall["good_answer_num_incomplete"] == 2
        # two with rude at its worst: (1.5 − 2) / 3; three with clear at its best: 3 / 4
        assert overall["good_answer_score_if_unscored_0"] == pytest.approx((1 + 0 + 0 + 0) / 4)
        assert overall["good_answer_score_if_unscored_1"] == pytest.approx((1 + 0.5 + 0.75 + 1) / 4)
        assert overall["good_answer_calls"] == 4
        assert [order for each in instances for order in each["good_answer_clear_orders"]] != [[0, 1, 2, 3]] * 4

    def test_the_missing_entries_are_asked_for_again_and_nothing_else(self):
        def reply(body):
            text = body["messages"][-1]["content"]
            if len(body["messages"]) == 1:
                return self.reply(body)
            assert "for these numbers: 3." in text
            return json.dumps({"answers": [{"index": 3, "reasoning": "Again.", "answer": "Yes"}]})

        with JudgeServer(reply=reply) as server:
            instances, overall = compute(
                metric(http_judge(server.base_url), calls="per_item", max_reasks=1), ["one", "two"]
            )
            assert server.seen == 3
        assert instances[1]["good_answer_rude_selected_option"] == "Yes"
        assert overall["good_answer_reasks"] == 1

    def test_a_second_run_makes_no_call(self, tmp_path):
        journal = str(tmp_path / "journal.sqlite3")
        with JudgeServer(reply=self.reply) as server:
            first = compute(metric(http_judge(server.base_url), calls="per_item", journal=journal), ["one", "two"])
            second = compute(metric(http_judge(server.base_url), calls="per_item", journal=journal), ["one", "two"])
            assert server.seen == 2
        assert second[1]["good_answer_calls"] == 0
        assert [each["score"] for each in second[0]] == [each["score"] for each in first[0]]

    def test_what_any_criterion_needs_is_shown_to_all(self):
        fields = [{"document": "document"}, {"document": "document", "question": "question"}, {}]
        criteria = tuple(
            criterion.model_copy(update={"context_fields": each})
            for criterion, each in zip(RUBRIC.criteria, fields, strict=True)
        )
        engine = ScriptedJudge(lambda request: json.dumps({"answers": [{"index": 1, "answer": "Good"}]}))
        judge = metric(engine, rubric=Rubric(name="r", criteria=criteria), context_fields=None, calls="per_item")
        compute(judge, ["one"], document="The document.", question="The question?")
        assert len(engine.requests) == 1
        assert all(text in engine.sent() for text in ("The document.", "The question?"))

    def test_criteria_that_cannot_share_a_call(self):
        other = CITES.model_copy(update={"context_fields": {"text": "b"}})
        both = Rubric(name="r", criteria=(CLEAR.model_copy(update={"context_fields": {"text": "a"}}), other))
        with pytest.raises(InvalidInputError, match="'cites' shows another field as 'text'"):
            compute(metric(rubric=both, context_fields=None, calls="per_item"), ["one"], a="x", b="y")

    def test_without_reasons(self):
        engine = ScriptedJudge(lambda request: json.dumps({"answers": [{"index": 1, "answer": "Good"}]}))
        compute(metric(engine, calls="per_item", flow="verdict_only"), ["one"])
        assert "reasoning" not in json.dumps(engine.requests[0].response_schema)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rubric": "rubrics.evenhand.sumarization"}, ArtifactError, "Did you mean 'rubrics.evenhand.summarization'"),
        ({"rubric": {"criteria": []}}, InvalidCriterionError, "."),
        ({"criteria": "criteria.evenhand.direct.relevance"}, InvalidInputError, "takes neither criteria nor"),
        ({"criteria_field": "criterion"}, InvalidInputError, "takes neither criteria nor"),
        ({"calls": "per_items"}, InvalidInputError, "Did you mean 'per_item'"),
        ({"calls": "per_item", "flow": "two_step"}, InvalidInputError, "one reply a response"),
        ({"calls": "per_item", "generate_summaries": True}, InvalidInputError, "drop generate_summaries"),
        ({"calls": "per_item", "examples": [{"response": "x"}]}, InvalidInputError, "shows no examples"),
        ({"na_strategy": "ignore"}, UnknownRuleError, "na_strategy is 'ignore'"),
        ({"na_partial": 2.0}, InvalidCriterionError, "na_partial"),
        ({"length_penalty": {"free": 3}}, InvalidInputError, "no field 'free'"),
        ({"aggregation": {"ordinal": "medain"}}, UnknownRuleError, "Did you mean 'median'"),
        ({"aggregation": "median"}, UnknownRuleError, "median"),
        ({"shuffle_options": "yes"}, InvalidInputError, "shuffle_options is 'yes'"),
        ({"auto_na_option": 1}, InvalidInputError, "auto_na_option is 1"),
        ({"num_examples": 2}, InvalidInputError, "there are no examples"),
        (
            {"examples": [{"response": "x", "clear": "Grand"}]},
            InvalidInputError,
            "row 0 of the examples has the label 'Grand'",
        ),
        ({"examples": [], "label_fields": {"claer": "a"}}, InvalidInputError, "Did you mean 'clear'"),
    ],
)
def test_a_wrong_setting_is_an_error_when_the_metric_is_built(settings, error, message):
    with pytest.raises(error, match=message):
        metric(**settings)


def test_scores_that_would_share_a_name_are_refused():
    for names in (["a", "A"], ["a", "a_agreement"], ["raw_score"]):
        criteria = tuple(CLEAR.model_copy(update={"name": name}) for name in names)
        with pytest.raises(InvalidCriterionError, match="rename the criterion"):
            metric(rubric=Rubric(name="r", criteria=criteria))


def test_a_metric_without_a_rubric_says_what_to_give():
    with pytest.raises(InvalidInputError, match=r"rubrics\.evenhand\.summarization"):
        compute(metric(rubric=None), ["one"])


def test_a_rubric_in_every_form(tmp_path):
    document = {"name": "Good answer", "criteria": [criterion.model_dump() for criterion in RUBRIC.criteria]}
    path = tmp_path / "rubric.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    expected = compute(metric())[1]
    for given in (document, str(path), json.dumps(document), Path(path)):
        assert compute(metric(rubric=given))[1] == expected


def test_a_file_in_the_brackets_of_an_id(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ncriteria:\n  - Is polite.\n", encoding="utf-8")
    built = fetch_artifact(f"metrics.evenhand.rubric[rubric={path},inference_engine=engines.evenhand.baseline]")[0]
    assert built.judged_rubric().criteria[0].name == "is_polite"


def test_it_is_copied_and_written_as_unitxt_does():
    built = RubricJudge(inference_engine="engines.evenhand.baseline", rubric=RUBRIC, na_strategy="zero")
    for again in (copy.deepcopy(built), fetch_artifact(json.loads(built.to_json()))[0]):
        assert again.judged_rubric() == built.judged_rubric()
    kept = RubricJudge(inference_engine="engines.evenhand.baseline", rubric="rubrics.evenhand.summarization")
    assert json.loads(kept.to_json())["rubric"] == "rubrics.evenhand.summarization"


SUMMARIZATION = (
    "metrics.evenhand.rubric[rubric=rubrics.evenhand.summarization,context_fields=[document],"
    "inference_engine=engines.evenhand.simulated,progress=False]"
)


def test_a_recipe_by_catalog_id_with_groups():
    task = Task(
        input_fields={"document": str, "topic": str},
        reference_fields={},
        prediction_type=str,
        metrics=[SUMMARIZATION],
        default_template="templates.empty",
    )
    rows = [{"document": f"document {number}", "topic": "ab"[number % 2]} for number in range(6)]
    data = create_dataset(
        task=task, test_set=rows, split="test", group_by=["topic"], data_classification_policy=["public"]
    )
    results = evaluate(predictions=[f"summary {number}" for number in range(6)], data=data)
    instances = [result["score"]["instance"] for result in results]
    scores = results[0]["score"]["global"]
    assert scores["score_name"] == "summarization"
    assert scores["score"] == pytest.approx(sum(each["score"] for each in instances) / 6)
    groups = results[0]["score"]["groups"]["topic"]
    # the groups draw the same orders as the whole, so their scores are those of its instances
    for topic, first in (("a", 0), ("b", 1)):
        expected = sum(each["score"] for each in instances[first::2]) / 3
        assert groups[topic]["summarization"] == pytest.approx(expected)


def test_examples_of_a_recipe():
    examples = [
        {"response": f"case {number}", "label": label} for number, label in enumerate(["Good", "Fair", "Bad"] * 4)
    ]
    engine = ScriptedJudge(lambda request: request.presentation.labels[0])
    judge = metric(
        engine,
        rubric=Rubric(name="r", criteria=(CLEAR,)),
        examples=examples,
        num_examples=6,
        label_fields={"clear": "label"},
    )
    compute(judge, ["case 0", "something else"])
    for request in engine.requests:
        cases = request.question.examples
        assert Counter(case.label for case in cases) == {"Good": 2, "Fair": 2, "Bad": 2}
        assert request.question.responses[0] not in {case.response for case in cases}
        assert all(case.response in request.messages[0]["content"] for case in cases)


@pytest.mark.slow
def test_a_panel_of_three_with_five_draws_finds_the_truth():
    """With many draws the median of each judge is what it means, so the score is that of the true qualities."""
    truth = {f"response {number}": (number % 3) / 2 for number in range(45)}
    panel = [SimulatedEngine(quality=truth, accuracy=0.85, seed=seed) for seed in range(3)]
    rubric = Rubric(name="r", criteria=(CLEAR, CITES.model_copy(update={"name": "firm"})))
    judge = RubricJudge(
        inference_engine=panel, rubric=rubric, samples=5, context_fields=[], progress=False, journal=None
    )
    instances, overall = compute(judge, list(truth))
    assert overall["r_calls"] == 45 * 2 * 3 * 5
    # clear: the option of the quality; firm: a quality of ½ is as near to Yes as to No
    clear = [each["r_clear_selected_option"] for each in instances]
    right = [{0.0: "Bad", 0.5: "Fair", 1.0: "Good"}[quality] for quality in truth.values()]
    assert sum(one == other for one, other in zip(clear, right, strict=True)) >= 43
    assert overall["r_clear"] == pytest.approx(0.5, abs=0.03)
    for name in (
        "krippendorff_alpha",
        "agreement",
        "effective_judges",
        "judge_mean_simulated-0",
        "judge_stability_simulated-1",
        "change_without_simulated-2",
        "cohen_kappa_simulated-0_vs_simulated-1",
        "num_votes_planned",
    ):
        assert f"r_clear_{name}" in overall
    # two draws of one judge: 0.85² + 2·0.075² = 0.734
    assert (
        overall["r_clear_judge_stability_simulated-1_ci_low"]
        < 0.734
        < overall["r_clear_judge_stability_simulated-1_ci_high"]
    )
    assert overall["r_clear_num_votes_left_out"] == 0
