"""Checklists inside unitxt: recipes, rows with their own questions, faults that leave an item unanswered, panels."""

import json
import math
from typing import Any, List  # noqa: UP035 - unitxt reads typing's generics

import numpy as np
import pytest
from unitxt import create_dataset, evaluate
from unitxt.task import Task

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError, InvalidPromptError
from evenhand.integrations.hf_evaluate import evaluation_module
from evenhand.judging.run import NoLogprobsWarning
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import ChecklistJudge
from evenhand.unitxt.bases import fetch_artifact
from evenhand.unitxt.criteria_artifacts import EvenhandChecklist
from evenhand.votes import Completion
from tests.support.checklists import (
    calibrated_item_judge,
    calibrated_sheet_judge,
    pass_probability,
    sheet,
    shown_items,
)
from tests.support.judges import ScriptedJudge, http_judge
from tests.support.scripted import ScriptedInferenceEngine, script
from tests.support.server import Fault, JudgeServer, conversation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

QUESTIONS = ["Is it polite?", "Is it short?", "Is it true?"]
WEIGHTED = Checklist(
    name="mail",
    items=(
        ChecklistItem(name="polite", question="Is it polite?", weight=60, category="tone"),
        ChecklistItem(name="short", question="Is it short?", weight=20, category="form"),
        ChecklistItem(name="greets", question="Does it greet?", weight=20, category="tone"),
    ),
)


@pytest.fixture(autouse=True)
def _catalog():
    register()


def stream(*predictions, **task_data):
    return [{"prediction": given, "references": [], "task_data": {"topic": "t", **task_data}} for given in predictions]


def checked(engine, *predictions, checklist=QUESTIONS, instances=None, **settings):
    """Instance scores and global scores."""
    given = {"journal": None, "progress": False, **({} if checklist is None else {"checklist": checklist}), **settings}
    metric = ChecklistJudge(inference_engine=engine, **given)
    return metric.compute(instances or stream(*(predictions or ("answer-0",))))


def scripted(*replies):
    return ScriptedJudge(list(replies))


def answers_of(scores):
    return [item["answer"] for item in scores["items"]]


def test_scores_by_hand():
    [scores], overall = checked(scripted(sheet("Yes", "No", "Yes")), checklist=WEIGHTED)
    assert answers_of(scores) == ["yes", "no", "yes"]
    assert scores["pass_rate"] == pytest.approx(2 / 3)
    assert scores["weighted_score"] == pytest.approx(80 / 100)
    assert scores["normalized_score"] == pytest.approx(2 / 3)  # without probabilities: the pass rate
    assert scores["scaled_score_1_5"] == pytest.approx(4 * 2 / 3 + 1)
    assert (scores["primary_metric"], scores["primary_score"]) == ("pass", scores["pass_rate"])
    assert scores["categories"] == {"tone": 1.0, "form": 0.0}
    assert scores["mail_num_answered"] == 3
    assert (overall["score_name"], overall["mail"]) == ("mail", overall["pass_rate"])
    for name in ("pass_rate", "weighted_score", "normalized_score", "primary_score", "scaled_score_1_5"):
        assert overall[f"{name}_ci_low"] <= overall[name] <= overall[f"{name}_ci_high"]
        assert overall[f"mail_{name}"] == overall[name]


@pytest.mark.parametrize("name", ["items", "pass_rate", "score_name"])
def test_a_checklist_that_is_called_like_a_score_is_refused_before_the_first_call(name):
    judge = scripted(sheet("Yes"))
    with pytest.raises(InvalidInputError, match=f"is called '{name}', and so is one of the scores"):
        checked(judge, checklist={"name": name, "items": ["Is it polite?"]})
    assert judge.requests == []


def test_one_call_for_all_items_or_one_for_each():
    batch, item = scripted(sheet("Yes", "No", "Yes")), scripted("Yes", "No", "Yes")
    in_one, _ = checked(batch)
    in_three, _ = checked(item, mode="item")
    assert (len(batch.requests), len(item.requests)) == (1, 3)
    assert answers_of(in_one[0]) == answers_of(in_three[0]) == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({}, ["index", "answer"]),
        ({"capture_reasoning": True}, ["index", "reasoning", "answer"]),
        ({"mode": "item"}, ["selected_option"]),
        ({"mode": "item", "capture_reasoning": True}, ["assessment", "selected_option"]),
    ],
)
def test_reasons_are_asked_for_before_the_answer(settings, fields):
    def reply(request):
        if request.items:
            return sheet("Yes", "No", "Yes", reasoning="It says so." if request.reasoning else None)
        return json.dumps({"assessment": "It says so.", "selected_option": "Yes"})

    engine = ScriptedJudge(reply)
    [scores], _ = checked(engine, **settings)
    schema = engine.requests[0].response_schema["properties"]
    asked = schema["answers"]["items"]["properties"] if "answers" in schema else schema
    assert list(asked) == fields
    reasons = {item["reasoning"] for item in scores["items"]}
    assert reasons == ({"It says so."} if "capture_reasoning" in settings else {None})


def test_macro_and_micro_pass_rates_differ_where_checklists_do():
    rows = [*stream("answer-0", checks=["A?"]), *stream("answer-1", checks=["A?", "B?", "C?"])]

    def reply(request):
        return sheet("Yes") if len(request.items) == 1 else sheet("Yes", "No", "No")

    _, overall = checked(ScriptedJudge(reply), checklist=None, checklist_field="checks", instances=rows)
    assert overall["macro_pass_rate"] == pytest.approx((1 + 1 / 3) / 2)
    assert overall["micro_pass_rate"] == pytest.approx(2 / 4)
    by_question = {item["name"]: item for item in overall["items"]}
    assert by_question["A?"]["asked"] == 2  # grouped where it recurs
    assert by_question["A?"]["finding"] == "all pass"
    assert by_question["B?"]["finding"] == "all fail"


@pytest.mark.parametrize(
    ("first", "second", "answers", "reason"),
    [
        (sheet("Yes", None, "No"), sheet(None), ["yes", None, "no"], "no_match"),
        (
            sheet("Yes", "maybe", "No"),
            '{"answers": [{"index": 2, "answer": "maybe"}]}',
            ["yes", None, "no"],
            "no_match",
        ),
    ],
    ids=["missing", "maybe"],
)
def test_a_faulty_entry_leaves_its_item_unanswered_and_is_asked_about_once_more(first, second, answers, reason):
    engine = scripted(first, second)
    [scores], overall = checked(engine)
    assert answers_of(scores) == answers
    assert scores["items"][1]["reason"] == reason
    assert scores["pass_rate"] == 0.5  # of the two that are answered
    assert (scores["checklist_num_unanswered"], overall["checklist_num_unanswered_items"]) == (1, 1)
    assert overall["answered_share"] == pytest.approx(2 / 3)
    assert overall["checklist_reasks"] == 1
    # no and yes for the missing one: 1 / 3 and 2 / 3
    assert overall["checklist_score_if_unscored_0"] == pytest.approx(1 / 3)
    assert overall["checklist_score_if_unscored_1"] == pytest.approx(2 / 3)
    assert engine.stages == ["sheet", "sheet_reask"]
    again = engine.sent(1)
    assert "these numbers: 2." in again
    assert "2: Yes / No" in again
    assert not any(f"{number}: Yes / No" in again for number in (1, 3))


def test_a_number_that_was_not_asked_for_voids_the_sheet_and_all_of_it_is_asked_again():
    shifted = (
        '{"answers": [{"index": 1, "answer": "Yes"}, {"index": 7, "answer": "Yes"}, {"index": 3, "answer": "No"}]}'
    )
    engine = scripted(shifted, sheet("No", "Yes", "Yes"))
    [scores], overall = checked(engine)
    assert answers_of(scores) == ["no", "yes", "yes"]
    assert "these numbers: 1, 2, 3." in engine.sent(1)
    assert overall["checklist_reasks"] == 3
    [scores], _ = checked(scripted(shifted, shifted))
    assert answers_of(scores) == [None] * 3
    assert {item["reason"] for item in scores["items"]} == {"ambiguous"}


def test_a_reask_that_is_answered_completes_the_sheet():
    engine = scripted(sheet("Yes", None, "No"), '{"answers": [{"index": 2, "answer": "yes."}]}')
    [scores], overall = checked(engine)
    assert answers_of(scores) == ["yes", "yes", "no"]
    assert scores["pass_rate"] == pytest.approx(2 / 3)
    # three answers from three entries and one that had to be asked about again
    assert overall["parse_rate"] == pytest.approx(3 / 4)


@pytest.mark.parametrize("reply", ["", "   ", None])
def test_an_empty_reply_answers_nothing_and_scores_nothing(reply):
    engine = ScriptedJudge(lambda request: Completion(text=reply, finish_reason="stop"))
    [scores], overall = checked(engine)
    assert answers_of(scores) == [None, None, None]
    assert {item["reason"] for item in scores["items"]} == {"empty"}
    assert math.isnan(scores["primary_score"])
    assert math.isnan(scores["pass_rate"])
    assert scores["checklist_unscored_reason"] == "empty"
    assert scores["primary_metric"] is None
    assert math.isnan(overall["score"])
    assert (overall["checklist_score_if_unscored_0"], overall["checklist_score_if_unscored_1"]) == (0.0, 1.0)


def test_a_reply_that_is_cut_off_answers_what_it_has():
    cut = Completion(text=sheet("Yes", "No", "Yes")[:75], finish_reason="length")
    [scores], _ = checked(ScriptedJudge(lambda request: cut), max_reasks=0)
    assert answers_of(scores) == ["yes", "no", None]
    assert scores["items"][2]["reason"] == "truncated"


@pytest.mark.parametrize(
    "reply",
    [
        sheet("yes", " NO ", "Yes."),
        "```json\n" + sheet("YES", "no", "yes") + "\n```",
        "1. Yes\n2. No\n3. Yes",
    ],
)
def test_case_spaces_fences_and_full_stops_are_read(reply):
    [scores], _ = checked(scripted(reply))
    assert answers_of(scores) == ["yes", "no", "yes"]


def test_a_missing_response_is_unanswered_and_nobody_is_asked():
    engine = scripted(sheet("Yes", "Yes", "Yes"))
    instances, overall = checked(engine, "answer-0", None)
    assert len(engine.requests) == 1
    assert instances[1]["checklist_unscored_reason"] == "missing_response"
    assert (overall["pass_rate"], overall["checklist_num_unscored"]) == (1.0, 1)
    assert (overall["checklist_score_if_unscored_0"], overall["checklist_score_if_unscored_1"]) == (0.5, 1.0)


def test_na_where_it_is_allowed():
    [scores], _ = checked(scripted(sheet("Yes", "N/A", "No")), allow_na=True)
    assert answers_of(scores) == ["yes", "na", "no"]
    assert scores["pass_rate"] == 0.5
    refused = scripted(sheet("Yes", "N/A", "No"), sheet("N/A"))
    [scores], _ = checked(refused)
    assert answers_of(scores) == ["yes", None, "no"]
    itself = [QUESTIONS[0], {"question": QUESTIONS[1], "na": True}, QUESTIONS[2]]
    [scores], _ = checked(scripted(sheet("Yes", "n/a", "No")), checklist=itself)
    assert answers_of(scores) == ["yes", "na", "no"]
    engine = scripted(sheet("Yes", "No", "No"))
    checked(engine, checklist=itself, allow_na=False)
    assert "N/A" not in engine.sent()


def test_an_item_whose_prerequisite_failed_is_not_met():
    checklist = ["Is it code?", {"question": "Does it run?", "prerequisites": [1]}, "Is it short?"]
    [scores], overall = checked(scripted(sheet("No", "Yes", "Yes")), checklist=checklist)
    assert answers_of(scores) == ["no", "no", "yes"]
    assert (scores["items"][1]["judged"], scores["items"][1]["reason"]) == ("yes", "prerequisite")
    assert overall["items"][1]["by_prerequisite"] == 1


def test_a_total_weight_of_zero_has_no_weighted_score_and_says_so():
    checklist = [{"question": question, "weight": 0} for question in QUESTIONS]
    [scores], overall = checked(scripted(sheet("Yes", "No", "Yes")), checklist=checklist, primary_metric="weighted")
    assert math.isnan(scores["weighted_score"])
    assert scores["checklist_weighted_score_reason"] == "the total weight of the answered items is 0"
    assert math.isnan(scores["primary_score"])
    assert (scores["primary_metric"], scores["checklist_unscored_reason"]) == (None, "no_value")
    assert scores["pass_rate"] == overall["pass_rate"] == pytest.approx(2 / 3)
    assert math.isnan(overall["weighted_score"])
    assert math.isnan(overall["score"])
    assert overall["checklist_num_unscored"] == 1


def test_how_often_an_answer_changes_with_its_place():
    def first_is_met(request):
        """Says yes to whatever is shown first, and to nothing else but the question of truth."""
        said = [
            "Yes" if item.number == 1 or "true" in item.question.criterion.description else "No"
            for item in request.items
        ]
        return sheet(*said)

    engine = ScriptedJudge(first_is_met)
    instances, overall = checked(engine, "answer-0", "answer-1", check_positional_bias=True)
    # given: polite, true yes; reversed, true comes first: true alone. Polite changes, short and true do not.
    assert len(engine.requests) == 4
    assert [item["position_consistent"] for item in instances[0]["items"]] == [False, True, True]
    assert overall["positional_bias"] == pytest.approx(1 / 3)
    assert overall["positional_bias_ci_low"] < 1 / 3 < overall["positional_bias_ci_high"]
    assert instances[0]["items"][0]["confidence"] == 0.5
    _, plain = checked(ScriptedJudge(first_is_met))
    assert "positional_bias" not in plain


def test_items_are_shuffled_by_a_seed_for_each_instance():
    def shown(seed, **settings):
        engine = ScriptedJudge(lambda request: sheet("Yes", "Yes", "Yes"))
        instances, _ = checked(engine, *(f"answer-{row}" for row in range(8)), seed=seed, **settings)
        sent = {
            request.items[0].question.responses[0]: shown_items(request.messages[0]["content"])
            for request in engine.requests
        }
        orders = {name: [QUESTIONS.index(question) for question in items.values()] for name, items in sent.items()}
        # the order shown is what each instance reports
        for row, scores in enumerate(instances):
            assert scores["items"][0]["orders"] == [orders[f"answer-{row}"]]
        return orders

    shuffled = shown(1, shuffle_items=True)
    assert len({tuple(order) for order in shuffled.values()}) > 1
    assert shown(1, shuffle_items=True) == shuffled
    assert shown(2, shuffle_items=True) != shuffled
    assert all(order == [0, 1, 2] for order in shown(1).values())


def test_an_answer_belongs_to_its_question_in_every_order():
    def by_question(request):
        return sheet(*("No" if "short" in item.question.criterion.description else "Yes" for item in request.items))

    for settings in ({"shuffle_items": True, "seed": 3}, {"orders": "reversed"}, {"check_positional_bias": True}):
        [scores], _ = checked(ScriptedJudge(by_question), **settings)
        assert answers_of(scores) == ["yes", "no", "yes"]


def test_a_panel_and_its_rule():
    def judge(name, *said):
        return ScriptedJudge(lambda request: sheet(*said), name=name)

    panel = [judge("a", "Yes", "No", "Yes"), judge("b", "Yes", "Yes", "No"), judge("c", "No", "No", "No")]
    [scores], _ = checked(panel)
    assert answers_of(scores) == ["yes", "no", "no"]
    assert [item["confidence"] for item in scores["items"]] == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert scores["normalized_score"] == pytest.approx(4 / 9)
    [scores], _ = checked(panel, aggregation="any")
    assert answers_of(scores) == ["yes", "yes", "yes"]
    [scores], _ = checked(panel, aggregation="weighted", judge_weights=[1.0, 1.0, 5.0])
    assert answers_of(scores) == ["no", "no", "no"]


def test_what_a_panel_says_about_itself():
    """On answer-0 the judges agree, on answer-1 one of three differs on the first question."""

    def judge(name):
        def reply(request):
            differs = name == "c" and request.items[0].question.responses[0] == "answer-1"
            return sheet("No" if differs else "Yes", "No", "Yes")

        return ScriptedJudge(reply, name=name)

    instances, overall = checked([judge("a"), judge("b"), judge("c")], "answer-0", "answer-1")
    assert [item["agreement"] for item in instances[1]["items"]] == pytest.approx([2 / 3, 1, 1])
    # five verdicts on which all agree, and one on which two of three do
    assert overall["agreement"] == pytest.approx((5 + 2 / 3) / 6)
    assert overall["agreement_ci_low"] < overall["agreement"] < overall["agreement_ci_high"]
    assert all(item["panel"] for item in overall["items"])
    assert "panel" not in checked(scripted(sheet("Yes", "No", "Yes")))[1]["items"][0]


def test_without_log_probabilities_the_share_of_yes_among_the_draws():
    # 4 draws: polite yes yes yes no, short no, true yes
    engine = ScriptedJudge(lambda request: sheet("No" if request.sample == 3 else "Yes", "No", "Yes"))
    with pytest.warns(NoLogprobsWarning, match="gave no log-probabilities"):
        [scores], overall = checked(engine, samples=4, primary_metric="normalized")
    assert [item["confidence"] for item in scores["items"]] == [0.75, 0.0, 1.0]
    assert [item["confidence_level"] for item in scores["items"]] == ["yes_70", "no_10", "yes_90"]
    assert scores["primary_score"] == pytest.approx(1.75 / 3)
    assert (scores["primary_metric"], overall["primary_metric"]) == ("normalized", "normalized")


def test_draws_stop_when_nothing_can_change():
    engine = ScriptedJudge(lambda request: sheet("Yes", "No", "Yes"))
    checked(engine, samples=5, stop_early=True, confidence=None)
    assert len(engine.requests) == 3  # of five draws three agree


@pytest.mark.parametrize(("mode", "judge"), [("item", calibrated_item_judge), ("batch", calibrated_sheet_judge)])
def test_a_calibrated_judge_is_as_sure_as_it_is_right(mode, judge):
    predictions = [f"answer-{row}" for row in range(60)]
    with JudgeServer(reply=judge) as server:
        instances, overall = checked(
            http_judge(server.base_url), *predictions, mode=mode, primary_metric="normalized", min_mass=0.5
        )
        sent = server.bodies
    assert len(sent) == (180 if mode == "item" else 60)
    assert all(body["logprobs"] for body in sent)
    truth = np.array([[pass_probability(prediction, question) for question in QUESTIONS] for prediction in predictions])
    found = np.array([[item["confidence"] for item in scores["items"]] for scores in instances])
    assert found == pytest.approx(truth)
    assert {round(item["covered_mass"], 9) for scores in instances for item in scores["items"]} == {0.9}
    assert overall["primary_score"] == pytest.approx(truth.mean())
    # the simulated pass probability is uniform on [.02, .98]: its mean is .5, and n = 180 have a standard error of
    # .96 / sqrt(12 · 180)
    assert abs(overall["primary_score"] - 0.5) < 4 * 0.96 / math.sqrt(12 * 180)
    # the answers are draws with these probabilities, and a yes counts where they support it
    earned = np.where(truth >= 0.6, truth, 0.0)
    error = math.sqrt((earned * (1 - earned)).sum()) / truth.size
    assert abs(overall["micro_pass_rate"] - earned.mean()) < 4 * error


def test_log_probabilities_that_cover_too_little_fall_back_to_the_answers():
    with JudgeServer(reply=calibrated_sheet_judge) as server:
        [scores], _ = checked(http_judge(server.base_url), use_logprobs=True, min_mass=0.95)
    assert {item["confidence"] for item in scores["items"]} == {None}
    assert {round(item["covered_mass"], 9) for item in scores["items"]} == {0.9}
    assert scores["normalized_score"] == scores["pass_rate"]


def test_a_server_that_refuses_log_probabilities_is_asked_without_them():
    faults = [Fault("status", status=400, message="logprobs are not supported by this model", times=1)]
    with JudgeServer(reply=lambda body: sheet("Yes", "No", "Yes"), faults=faults) as server:
        with pytest.warns(NoLogprobsWarning):
            [scores], overall = checked(http_judge(server.base_url), primary_metric="normalized")
        assert [bool(body.get("logprobs")) for body in server.bodies] == [True, False]
    assert answers_of(scores) == ["yes", "no", "yes"]
    assert overall["primary_score"] == pytest.approx(2 / 3)


def test_a_server_that_refuses_schemas_is_asked_in_words_and_only_once():
    with JudgeServer(reply=lambda body: sheet("Yes", "No", "Yes"), faults=[Fault("unsupported_schema")]) as server:
        instances, _ = checked(http_judge(server.base_url, max_in_flight=1), *(f"answer-{row}" for row in range(5)))
        with_schema = ["response_format" in body for body in server.bodies]
    assert with_schema == [True] + [False] * 5
    assert all(answers_of(scores) == ["yes", "no", "yes"] for scores in instances)


def test_faults_of_the_server_leave_their_instances_unanswered():
    faults = [
        Fault("empty", match="answer-1"),
        Fault("truncate", match="answer-2"),
        Fault("content_filter", match="answer-3"),
        Fault("status", status=500, match="answer-4"),
    ]
    with JudgeServer(reply=lambda body: sheet("Yes", "No", "Yes"), faults=faults) as server:
        instances, overall = checked(
            http_judge(server.base_url), *(f"answer-{row}" for row in range(10)), max_failure_rate=0.5
        )
    reasons = [[item["reason"] for item in scores["items"]] for scores in instances[:5]]
    assert reasons[0] == [None, None, None]
    assert reasons[1] == ["empty"] * 3
    assert reasons[2][-1] == "truncated"
    assert reasons[3] == ["content_filter"] * 3
    assert reasons[4] == ["engine_error"] * 3
    assert overall["pass_rate"] > 0.5
    assert overall["checklist_num_unscored"] >= 3


def test_a_second_run_makes_no_call(tmp_path):
    with JudgeServer(reply=lambda body: sheet("Yes", "No", "Yes")) as server:
        for calls in (4, 0):
            _, overall = checked(
                http_judge(server.base_url), *(f"answer-{row}" for row in range(4)), journal=str(tmp_path / "j.sqlite3")
            )
            assert (overall["checklist_calls"], overall["checklist_cached_calls"]) == (calls, 4 - calls)
        assert server.seen == 4


def test_a_budget_leaves_the_rest_unanswered():
    engine = ScriptedJudge(lambda request: sheet("Yes", "No", "Yes"))
    instances, overall = checked(engine, *(f"answer-{row}" for row in range(5)), max_calls=2)
    assert len(engine.requests) == 2
    assert [scores.get("checklist_unscored_reason") for scores in instances] == [
        None,
        None,
        "budget",
        "budget",
        "budget",
    ]
    assert overall["checklist_unanswered_items_budget"] == 9


class TestRows:
    """A checklist in each row."""

    @pytest.mark.parametrize(
        "given",
        [
            ["Is it kind?", "Is it short?"],
            [{"question": "Is it kind?", "weight": 5}, {"question": "Is it short?"}],
            {"name": "mine", "items": ["Is it kind?", "Is it short?"]},
            json.dumps(["Is it kind?", "Is it short?"]),
        ],
    )
    def test_in_every_form(self, given):
        engine = scripted(sheet("Yes", "No"))
        [scores], _ = checked(
            engine, checklist=None, checklist_field="checks", instances=stream("answer-0", checks=given)
        )
        assert [item["question"] for item in scores["items"]] == ["Is it kind?", "Is it short?"]
        assert scores["pass_rate"] == 0.5

    def test_by_the_id_of_a_checklist(self):
        rows = stream("answer-0", checks="checklists.evenhand.summary", document="d")
        engine = ScriptedJudge(lambda request: sheet(*["Yes"] * len(request.items)))
        [scores], overall = checked(engine, checklist=None, checklist_field="checks", instances=rows)
        assert len(scores["items"]) == 10
        assert overall["score_name"] == "summary"

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            (
                "metrics.accuracy",
                ArtifactError,
                "'metrics.accuracy' has the type 'accuracy_fast', which is not a check",
            ),
            ({"__type__": "shell_metric", "items": ["A?"]}, ArtifactError, "has the type 'shell_metric'"),
            ("secrets.yaml", ArtifactError, "no file is read because a row of data names it"),
            ("../../etc/x.json", ArtifactError, "no file is read"),
            ([], ArtifactError, r"the field 'checks' of instance 0: \[\] is no checklist"),
            (None, ArtifactError, "the field 'checks' of instance 0: None is no checklist"),
            (7, ArtifactError, "the field 'checks' of instance 0: 7 is no checklist"),
            ([{"question": "A?", "wieght": 3}], InvalidCriterionError, "Did you mean 'weight'"),
        ],
    )
    def test_only_a_checklist(self, given, error, message):
        engine = scripted()
        with pytest.raises(error, match=message):
            checked(engine, checklist=None, checklist_field="checks", instances=stream("answer-0", checks=given))
        assert engine.requests == []

    def test_a_missing_field_is_named(self):
        with pytest.raises(InvalidInputError, match=r"instance 0 has no field 'cheks'.*Did you mean 'checks'"):
            checked(scripted(), checklist=None, checklist_field="cheks", instances=stream("answer-0", checks=["A?"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "bach"}, "Did you mean 'batch'"),
        ({"primary_metric": "weigthed"}, "Did you mean 'weighted'"),
        ({"criteria": "criteria.evenhand.direct.relevance"}, "has no criteria"),
        ({"criteria_field": "c"}, "has no criteria_field"),
        ({"checklist_field": "c"}, "both checklist and checklist_field"),
        ({"flow": "one_step"}, "mode and capture_reasoning say"),
        ({"scoring": "expected"}, "primary_metric='normalized'"),
        ({"generate_summaries": True}, "no assessments to summarize"),
        ({"mode": "item", "shuffle_items": True}, "mode='batch'"),
        ({"shuffle_items": True, "orders": "reversed"}, "give one of the two"),
        ({"primary_metric": "normalized", "use_logprobs": False}, "use_logprobs=False asks for none"),
        ({"primary_metric": "normalized", "stop_early": True}, "stop_early does not go"),
        ({"aggregation": "median"}, "median"),
        ({"prompt": "direct_verdict"}, "the prompt is 'checklist_sheet'"),
        ({"prompt": "Judge {{ response }}"}, "does not name {{ items }}"),
        ({"capture_reasoning": "yes"}, "give True or False"),
        ({"allow_na": 3}, "True or False, or None"),
    ],
)
def test_settings_that_cannot_be_are_refused_when_the_metric_is_built(settings, message):
    with pytest.raises(Exception, match=message):
        ChecklistJudge(checklist=QUESTIONS, **settings)


def test_neither_checklist_nor_field():
    with pytest.raises(InvalidInputError, match="neither checklist nor checklist_field"):
        checked(scripted(), checklist=None)


def test_what_is_not_a_checklist_is_refused():
    with pytest.raises(Exception, match="which is not a checklist") as caught:
        ChecklistJudge(checklist="criteria.evenhand.direct.relevance")
    assert isinstance(caught.value, ArtifactError) or "not a checklist" in str(caught.value)


def test_a_prompt_of_the_users_own():
    own = "A strict editor reads this:\n{{ response }}\nand is asked:\n{{ items }}"
    engine = scripted(sheet("Yes", "No", "Yes"))
    checked(engine, prompt=own)
    assert "A strict editor reads this:" in engine.sent()
    assert shown_items(engine.sent()) == dict(enumerate(QUESTIONS, start=1))
    item = scripted("Yes", "No", "Yes")
    checked(item, mode="item", prompt="Editor: {{ criterion_description }} {{ response }} {{ options }}")
    assert "Editor: Is it polite?" in item.sent(0)
    with pytest.raises((InvalidPromptError, Exception), match="itmes"):
        ChecklistJudge(checklist=QUESTIONS, prompt="{{ itmes }} {{ response }}")


def test_guidelines_and_context_are_shown():
    engine = scripted(sheet("Yes", "No", "Yes"))
    checked(
        engine, guidelines="Be strict.", context_fields={"the subject": "topic"}, instances=stream("a", topic="fish")
    )
    assert "Be strict." in engine.sent()
    assert "Context, the subject:" in engine.sent()
    assert "fish" in engine.sent()


def test_the_metric_is_written_and_read_again():
    for given in (QUESTIONS, WEIGHTED, "checklists.evenhand.summary", EvenhandChecklist(name="x", items=["A?"])):
        metric = ChecklistJudge(checklist=given, inference_engine="engines.evenhand.baseline")
        again = fetch_artifact(json.loads(metric.to_json()))[0]
        assert again.judged_by([{}]) == metric.judged_by([{}])


def test_calling_twice_gives_the_same_scores():
    engine = ScriptedJudge(lambda request: sheet("Yes", "No", "Yes"))
    metric = ChecklistJudge(inference_engine=engine, checklist=QUESTIONS, journal=None, progress=False)
    rows = stream("answer-0", "answer-1")
    first = metric.compute([dict(row) for row in rows])
    assert json.dumps(metric.compute(rows), sort_keys=True) == json.dumps(first, sort_keys=True)


def recipe(metric, rows, **more):
    lists = List[str]  # noqa: UP006 - unitxt reads typing's generics
    fields: dict[str, Any] = {name: str if isinstance(value, str) else lists for name, value in rows[0].items()}
    task = Task(
        input_fields=fields,
        reference_fields={},
        prediction_type=str,
        metrics=metric if isinstance(metric, list) else [metric],
        default_template="templates.empty",
    )
    data = create_dataset(task=task, test_set=rows, split="test", data_classification_policy=["public"], **more)
    return evaluate(
        predictions=[f"The fox number {row} ran away over the hill." for row in range(len(rows))], data=data
    )


@pytest.mark.parametrize("entry", ["batch", "batch_reasoned", "item", "item_reasoned", "weighted", "normalized"])
@pytest.mark.filterwarnings("ignore::evenhand.judging.run.NoLogprobsWarning")
def test_every_catalog_entry_in_a_recipe(entry):
    rows = [{"document": f"A fox number {row} ran over the hill."} for row in range(4)]
    results = recipe(
        f"metrics.evenhand.checklist.{entry}[checklist=checklists.evenhand.summary,"
        "inference_engine=engines.evenhand.baseline,progress=False]",
        rows,
    )
    overall = results[0]["score"]["global"]
    expected = {"weighted": "weighted", "normalized": "normalized"}.get(entry, "pass")
    assert overall["primary_metric"] == expected
    assert overall["score_name"] == "summary"
    assert 0 <= overall["score"] <= 1
    items = results[0]["score"]["instance"]["items"]
    assert len(items) == 10
    assert all((item["reasoning"] is not None) == ("reasoned" in entry) for item in items)


def test_rows_with_questions_of_their_own_in_a_recipe_and_groups():
    rows = [
        {"topic": "odd" if row % 2 else "even", "checks": ["Is it a sentence?", f"Is it about fox {row}?"]}
        for row in range(6)
    ]
    results = recipe(
        "metrics.evenhand.checklist.batch[checklist_field=checks,inference_engine=engines.evenhand.baseline,"
        "progress=False]",
        rows,
        group_by=["topic"],
    )
    overall = results[0]["score"]["global"]
    assert {item["name"]: item["asked"] for item in overall["items"]}["Is it a sentence?"] == 6
    groups = results[0]["score"]["groups"]["topic"]
    assert {group["checklist_num_unscored"] for group in groups.values()} == {0}
    assert groups["even"]["items"][0]["asked"] == 3


@script
def says_yes(messages):
    return sheet("Yes", "Yes")


@script
def denies(messages):
    return sheet("No", "No")


def test_two_checklists_in_one_recipe_keep_their_scores_apart():
    def metric(name, said):
        return ChecklistJudge(
            inference_engine=ScriptedInferenceEngine(script=said),
            checklist={"name": name, "items": ["A?", "B?"]},
            progress=False,
        )

    overall = recipe([metric("first", "says_yes"), metric("second", "denies")], [{"topic": "t"}])[0]["score"]["global"]
    assert (overall["first"], overall["second"]) == (1.0, 0.0)
    assert (overall["first_pass_rate"], overall["second_pass_rate"]) == (1.0, 0.0)


def test_a_group_asks_what_the_whole_asked():
    seen = []
    with JudgeServer(reply=lambda body: seen.append(conversation(body)) or sheet("Yes", "No", "Yes")) as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        metric = ChecklistJudge(inference_engine=engine, checklist=QUESTIONS, shuffle_items=True, progress=False)
        rows = [{"topic": "odd" if row % 2 else "even"} for row in range(6)]
        recipe(metric, rows, group_by=["topic"])
        assert server.seen == 6


def test_as_a_module_of_hugging_face():
    module = evaluation_module(
        "metrics.evenhand.checklist.batch[checklist=checklists.evenhand.summary,"
        "inference_engine=engines.evenhand.baseline,progress=False]"
    )
    assert module.name == "checklist_summary"
    assert "document" in module.features
    with pytest.raises(InvalidInputError, match="document"):
        module.compute(predictions=["It is Paris."])
    scores = module.compute(predictions=["It is Paris."], document=["Paris is a town."])
    assert scores["score_name"] == "summary"
    of_rows = evaluation_module(
        "metrics.evenhand.checklist.batch[checklist_field=checks,inference_engine=engines.evenhand.baseline,"
        "progress=False]"
    )
    assert of_rows.name == "checklist"
    assert of_rows.compute(predictions=["It is Paris."], checks=[["Is it a town?"]])["items"][0]["asked"] == 1
