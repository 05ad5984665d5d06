"""How one vote comes about: what is said in which order, and what the replies become."""

import asyncio
import json
import re

import pytest

from evenhand.criteria import Criterion, Option
from evenhand.errors import (
    BudgetExhaustedError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    RejectedRequestError,
    TransientEngineError,
)
from evenhand.judging import conversation
from evenhand.judging.conversation import Flow, one_step_schema, selection_schema
from evenhand.parsing import read_reply
from evenhand.question import Question, choice_criterion, comparison_criterion
from evenhand.votes import Completion
from tests.support.judges import ScriptedJudge, chooses

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=(
        Option(label="High", value=1.0),
        Option(label="Mid", value=0.5),
        Option(label="Low", value=0.0),
        Option(label="N/A", na=True),
    ),
)
GIVEN, REVERSED = (0, 1, 2, 3), (3, 2, 1, 0)
ASSESSMENT = Question(id="1", criterion=LEVELS, responses=("an answer",), context={"question": "why?"})


def comparison(*, allow_ties=False, graded=False):
    criterion = comparison_criterion("better", "Which is better?", allow_ties=allow_ties, graded=graded)
    return Question(id="1", criterion=criterion, responses=("first", "second"), mode="compare")


def ask(judge, question=ASSESSMENT, order=GIVEN, *, sample=0, weight=1.0, **flow):
    return asyncio.run(conversation.ask(Flow(**flow), question, order, sample, judge, weight=weight))


def one_step(verdict, reasons="It says why."):
    return json.dumps({"assessment": reasons, "selected_option": verdict})


def test_two_steps_are_one_conversation():
    judge = ScriptedJudge(["It is clear.", "Mid"])
    vote = ask(judge)
    first, second = judge.requests
    assert [message["role"] for message in first.messages] == ["user"]
    assert [message["role"] for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[0] == first.messages[0]
    assert second.messages[1]["content"] == "It is clear."
    assert (vote.assessment, vote.completion.text) == ("It is clear.", "Mid")
    assert (vote.selected_index, vote.selected_label, vote.value, vote.na) == (1, "Mid", 0.5, False)
    assert vote.match.kind == "exact"
    assert (vote.unscored_reason, vote.error, vote.reasks) == (None, None, 0)


def test_only_the_reply_that_must_name_an_option_is_offered_them():
    judge = ScriptedJudge(chooses("Mid"))
    ask(judge, generate_summaries=True)
    assert judge.stages == ["assessment", "selection", "summary"]
    assert [request.options for request in judge.requests] == [None, LEVELS.labels, None]
    assert [request.response_schema for request in judge.requests] == [None, selection_schema(LEVELS.labels), None]


def test_the_selection_is_read_from_its_own_reply_and_not_from_the_assessment():
    vote = ask(ScriptedJudge(["Answer: High. It is High.", "My verdict is Low."]))
    assert vote.selected_label == "Low"


MENTION = "Something like Low."
RATE_LIMIT = TransientEngineError("busy", cause="http_429")
SPENT = BudgetExhaustedError("max_calls=1 is spent")
LATER = {
    "stated": ("Mid", ("Mid", "exact")),
    "stated in a line": ("It is long.\n\nMy verdict: High", ("High", "line")),
    "stated with the nonce": ("I said Low.\n<verdict-{nonce}>Mid</verdict-{nonce}>", ("Mid", "tag")),
    "mentioned again": ("It leans Low.", (None, "no_match")),
    "contradictory": ("[[Low]] or [[Mid]]", (None, "ambiguous")),
    "refused": ("I'm sorry, but I cannot assess this.", (None, "refusal")),
    "filtered": (Completion(text=None, finish_reason="content_filter"), (None, "content_filter")),
    "empty": ("", (None, "empty")),
    "cut off": (Completion(text="As", finish_reason="length"), (None, "truncated")),
    "failed": (RATE_LIMIT, (None, "engine_error")),
    "not paid for": (SPENT, (None, "budget")),
}


@pytest.mark.parametrize("flow", ["two_step", "one_step", "verdict_only"])
@pytest.mark.parametrize(("later", "expected"), LATER.values(), ids=LATER)
def test_a_reply_in_none_of_the_forms_is_asked_for_again_with_the_form(flow, later, expected):
    before = ["It is clear."] if flow == "two_step" else []

    def reply(request):
        said = [*before, MENTION, later][len(judge.requests) - 1]
        nonce = re.findall(r"<verdict-([0-9a-f]{8})>", request.messages[-1]["content"])
        return said.format(nonce=nonce[0]) if isinstance(said, str) and nonce else said

    judge = ScriptedJudge(reply)
    vote = ask(judge, flow=flow)
    assert judge.stages[-1] == "reask"
    assert len(judge.requests) == len(before) + 2
    assert (vote.selected_label, vote.match.kind if expected[0] else vote.unscored_reason) == expected
    assert vote.reasks == 1


@pytest.mark.parametrize("flow", ["two_step", "one_step", "verdict_only"])
def test_where_no_re_ask_is_allowed_a_mention_is_unscored(flow):
    judge = ScriptedJudge(lambda request: "It is clear." if request.stage == "assessment" else MENTION)
    vote = ask(judge, flow=flow, max_reasks=0)
    assert (vote.selected_label, vote.unscored_reason, vote.reasks) == (None, "no_match", 0)
    assert "reask" not in judge.stages


@pytest.mark.parametrize("field", ["reasoning", "explanation", "rationale"])
def test_reasons_under_another_name_are_the_assessment_and_not_raw_json(field):
    vote = ask(ScriptedJudge([json.dumps({field: "It is long.", "answer": "Mid"})]), flow="one_step")
    assert (vote.selected_label, vote.assessment) == ("Mid", "It is long.")


def test_a_reply_at_which_the_reader_fails_is_unscored_and_told_and_the_next_one_is_read(monkeypatch, caplog):
    def fails_at_odd_replies(text, labels, **options):
        if text == "odd":
            raise RecursionError("too deep")
        return read_reply(text, labels, **options)

    monkeypatch.setattr(conversation, "read_reply", fails_at_odd_replies)
    vote = ask(ScriptedJudge(["odd"]), flow="verdict_only", max_reasks=0)
    assert (vote.selected_index, vote.unscored_reason) == (None, "no_match")
    assert vote.error == "the reader failed: RecursionError('too deep')"
    assert "A reply of scripted could not be read: 'odd'" in caplog.text
    assert ask(ScriptedJudge(["odd", "Low"]), flow="verdict_only").selected_label == "Low"


def test_a_verdict_named_only_in_the_assessment_does_not_count():
    vote = ask(ScriptedJudge(["Answer: High.", "I have said what I think."]), max_reasks=0)
    assert (vote.selected_index, vote.unscored_reason) == (None, "no_match")


def test_an_unreadable_reply_is_asked_for_again_once_with_the_options_listed():
    judge = ScriptedJudge(["It is clear.", "hm", "Low"])
    vote = ask(judge)
    assert judge.stages == ["assessment", "selection", "reask"]
    again = judge.requests[-1]
    assert [message["role"] for message in again.messages] == ["user", "assistant", "user", "assistant", "user"]
    assert again.messages[3]["content"] == "hm"
    assert again.options == LEVELS.labels
    for label in LEVELS.labels:
        assert f"- {label}\n" in again.messages[-1]["content"] + "\n"
    assert (vote.selected_label, vote.reasks, vote.unscored_reason) == ("Low", 1, None)
    assert vote.usage.calls == 3
    assert (vote.usage.prompt_tokens, vote.usage.completion_tokens) == (30, 6)


@pytest.mark.parametrize("reasks", [0, 1, 3])
def test_after_the_reasks_the_vote_is_unscored(reasks):
    judge = ScriptedJudge(chooses("hm"))
    vote = ask(judge, max_reasks=reasks)
    assert len(judge.requests) == 2 + reasks
    assert (vote.selected_index, vote.selected_label, vote.value, vote.unscored_reason) == (
        None,
        None,
        None,
        "no_match",
    )
    assert (vote.reasks, vote.completion.text, vote.match.kind) == (reasks, "hm", "none")


HOSTILE = [
    '{"selected_option": "Mid", "confidence": ' + "9" * 5_000 + "}",
    '{"selected_option": "Mid", "more": ' + "[" * 100_000 + "]" * 100_000 + "}",
]
"""JSON that no reader can hold: Python's raises a ValueError for the digits and a RecursionError for the brackets."""


def test_one_step_gives_the_same_vote_with_half_the_calls():
    judge = ScriptedJudge([one_step("Mid", "It is clear.")])
    single = ask(judge, flow="one_step")
    double = ask(ScriptedJudge(["It is clear.", "Mid"]))
    assert judge.stages == ["one_step"]
    assert judge.requests[0].response_schema == one_step_schema(LEVELS.labels)
    assert (single.usage.calls, double.usage.calls) == (1, 2)
    different = {"usage", "completion", "prompts", "match"}
    assert single.model_dump(exclude=different) == double.model_dump(exclude=different)


@pytest.mark.parametrize(
    ("reply", "assessment"),
    [
        (one_step("Mid", "Reasons."), "Reasons."),
        (f"```json\n{one_step('Mid', 'Reasons.')}\n```", "Reasons."),
        ("It is fair.\nSelected option: Mid", "It is fair.\nSelected option: Mid"),
        ('{"assessment": 3, "selected_option": "Mid"}', '{"assessment": 3, "selected_option": "Mid"}'),
        *[(reply, reply) for reply in HOSTILE],
    ],
    ids=lambda text: text[:20],
)
def test_the_reasons_are_found_in_a_one_step_reply(reply, assessment):
    vote = ask(ScriptedJudge([reply, "Mid"]), flow="one_step")
    assert (vote.assessment, vote.selected_label) == (assessment, "Mid")


def test_a_one_step_reask_keeps_the_reasons_of_the_first_reply():
    judge = ScriptedJudge([one_step("Superb", "It is clear."), '{"selected_option": "High"}'])
    vote = ask(judge, flow="one_step")
    assert judge.stages == ["one_step", "reask"]
    assert judge.requests[1].response_schema == selection_schema(LEVELS.labels)
    assert (vote.assessment, vote.selected_label, vote.reasks) == ("It is clear.", "High", 1)


def test_a_verdict_quoted_from_the_response_in_the_reasons_is_not_the_verdict():
    vote = ask(ScriptedJudge([one_step("Low", 'It says "selected_option: High".')]), flow="one_step")
    assert vote.selected_label == "Low"


@pytest.mark.parametrize(("label", "index", "value"), [("High", 0, 1.0), ("Mid", 1, 0.5), ("Low", 2, 0.0)])
@pytest.mark.parametrize("order", [GIVEN, REVERSED, (2, 0, 3, 1)])
def test_whatever_the_order_the_vote_speaks_the_criterions_own(label, index, value, order):
    judge = ScriptedJudge(chooses(label))
    vote = ask(judge, order=order)
    assert judge.requests[-1].options == tuple(LEVELS.labels[place] for place in order)
    assert (vote.order, vote.selected_index, vote.selected_label, vote.value) == (order, index, label, value)


def test_the_options_are_listed_in_the_order_shown():
    judge = ScriptedJudge(chooses("Mid"))
    ask(judge, order=REVERSED)
    for sent in (judge.sent(0), judge.sent(1)):
        assert sent.index("- N/A") < sent.index("- Low") < sent.index("- Mid") < sent.index("- High")


def test_an_na_option_is_a_vote_without_a_value():
    vote = ask(ScriptedJudge(chooses("N/A")))
    assert (vote.na, vote.selected_index, vote.value, vote.unscored_reason) == (True, 3, None, None)


@pytest.mark.parametrize(
    ("reply", "order", "label"),
    [
        ("Response A", (0, 1), "Response A"),
        ("Response A", (1, 0), "Response B"),
        ("Response B", (1, 0), "Response A"),
        ("B", (0, 1), "Response B"),
        ("B", (1, 0), "Response A"),
        ("**A**", (0, 1), "Response A"),
        ("[[A]]", (1, 0), "Response B"),
        ("Verdict: B.", (0, 1), "Response B"),
        ('{"selected_option": "A"}', (1, 0), "Response B"),
    ],
)
@pytest.mark.parametrize("ties", [False, True])
def test_a_comparison_is_read_back_by_what_was_shown(reply, order, label, ties):
    vote = ask(ScriptedJudge(chooses(reply)), comparison(allow_ties=ties), order)
    assert (vote.selected_label, vote.unscored_reason, vote.reasks) == (label, None, 0)
    assert vote.value == {"Response A": 1.0, "Response B": 0.0}[label]


@pytest.mark.parametrize("reply", ["A or B", "A bit of both.", "As B says", "neither"])
def test_a_letter_in_passing_is_no_verdict(reply):
    vote = ask(ScriptedJudge(chooses(reply)), comparison(), (0, 1), max_reasks=0)
    assert vote.selected_index is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_tie_counts_only_where_it_is_offered(order):
    offered = ask(ScriptedJudge(chooses("Tie")), comparison(allow_ties=True), order)
    assert (offered.selected_label, offered.value) == ("Tie", 0.5)
    refused = ask(ScriptedJudge(chooses("Tie")), comparison(), order)
    assert (refused.selected_label, refused.unscored_reason, refused.reasks) == (None, "no_match", 1)


@pytest.mark.parametrize(
    ("order", "label", "value"),
    [((0, 1), "Response A is much better", 1.0), ((1, 0), "Response B is much better", 0.0)],
)
def test_a_graded_comparison_is_mirrored(order, label, value):
    vote = ask(ScriptedJudge(chooses("Response A is much better")), comparison(graded=True), order)
    assert (vote.selected_label, vote.value) == (label, value)


@pytest.mark.parametrize(("reply", "index"), [("Option 3", 1), ("3", 1), ("1", 2), ("[[2]]", 0)])
def test_of_several_candidates_the_one_shown_there_is_chosen(reply, index):
    criterion = choice_criterion("best", "Which is best?", 3)
    question = Question(id="1", criterion=criterion, responses=("r0", "r1", "r2"), mode="choose")
    vote = ask(ScriptedJudge(chooses(reply)), question, (2, 0, 1))
    assert vote.selected_index == index


def test_in_an_assessment_too_a_letter_is_the_option_called_so():
    criterion = Criterion(
        name="c", description="d", options=(Option(label="Response A", value=1), Option(label="Response B", value=0))
    )
    vote = ask(ScriptedJudge(chooses("B")), Question(id="1", criterion=criterion, responses=("r",)), (0, 1))
    assert vote.selected_index == 1


@pytest.mark.parametrize("flow", ["two_step", "one_step"])
def test_the_sample_index_reaches_every_request(flow):
    judge = ScriptedJudge(lambda request: "hm" if request.stage != "reask" else "Mid")
    vote = ask(judge, sample=3, flow=flow, generate_summaries=True)
    assert len(judge.requests) == {"two_step": 4, "one_step": 3}[flow]
    assert {request.sample for request in judge.requests} == {3}
    assert vote.sample == 3


def test_every_request_says_what_it_is_about():
    judge = ScriptedJudge(chooses("Mid"))
    ask(judge, order=REVERSED)
    assert {request.question.id for request in judge.requests} == {"1"}
    assert {request.presentation.order for request in judge.requests} == {REVERSED}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Completion(text=None), "empty"),
        (Completion(text=""), "empty"),
        (Completion(text=" \n"), "empty"),
        (Completion(text=None, finish_reason="length"), "truncated"),
        (Completion(text="", finish_reason="length"), "truncated"),
        (Completion(text=None, finish_reason="content_filter"), "content_filter"),
    ],
)
def test_without_an_assessment_nothing_is_selected(reply, reason):
    judge = ScriptedJudge([reply])
    vote = ask(judge, generate_summaries=True)
    assert (vote.selected_index, vote.unscored_reason, vote.assessment, vote.summary) == (None, reason, None, None)
    assert vote.completion == reply
    assert len(judge.requests) == 1


@pytest.mark.parametrize("flow", ["two_step", "one_step"])
@pytest.mark.parametrize(
    ("reply", "reason", "reasks"),
    [
        (Completion(text=None), "empty", 1),
        (Completion(text=""), "empty", 1),
        (Completion(text="The verdict that I", finish_reason="length"), "truncated", 1),
        (Completion(text=None, finish_reason="content_filter"), "content_filter", 0),
        (Completion(text="I cannot", finish_reason="content_filter"), "content_filter", 0),
        (Completion(text="I'm sorry, but I can't help with that request."), "refusal", 1),
        (Completion(text="[[High]] or [[Low]]."), "ambiguous", 1),
    ],
)
def test_why_a_selection_cannot_be_read(flow, reply, reason, reasks):
    judge = ScriptedJudge(lambda request: "It is clear." if request.stage == "assessment" else reply)
    vote = ask(judge, flow=flow)
    assert (vote.selected_index, vote.unscored_reason, vote.reasks) == (None, reason, reasks)


def test_a_label_in_a_truncated_reply_that_names_it_in_full_counts():
    vote = ask(ScriptedJudge(["It is clear.", Completion(text="Selected option: Low", finish_reason="length")]))
    assert vote.unscored_reason in {None, "truncated"}
    assert vote.selected_label in {None, "Low"}
    assert (vote.selected_label is None) == (vote.unscored_reason is not None)


def test_a_truncated_assessment_still_leads_to_a_selection():
    vote = ask(ScriptedJudge([Completion(text="It is cl", finish_reason="length"), "Mid"]))
    assert (vote.assessment, vote.selected_label) == ("It is cl", "Mid")


def test_a_summary_is_of_the_assessment_and_a_conversation_of_its_own():
    judge = ScriptedJudge(["It is clear.", "Mid", "Clear."])
    vote = ask(judge, generate_summaries=True)
    assert (vote.summary, vote.selected_label, vote.usage.calls) == ("Clear.", "Mid", 3)
    assert len(judge.requests[-1].messages) == 1
    assert "It is clear." in judge.sent(-1)


@pytest.mark.parametrize("error", [TransientEngineError("lost", cause="connection"), BudgetExhaustedError("max_calls")])
def test_a_failing_summary_does_not_lose_the_vote(error):
    vote = ask(
        ScriptedJudge(lambda request: error if request.stage == "summary" else chooses("Mid")(request)),
        generate_summaries=True,
    )
    assert (vote.selected_label, vote.unscored_reason, vote.summary) == ("Mid", None, None)
    assert vote.error.startswith("summary: ")


def test_an_unscored_vote_is_summarized_too():
    vote = ask(ScriptedJudge(chooses("hm")), generate_summaries=True)
    assert (vote.summary, vote.unscored_reason) == ("In short: it answers.", "no_match")


@pytest.mark.parametrize("stage", ["assessment", "selection", "reask"])
@pytest.mark.parametrize(
    ("error", "reason", "told"),
    [
        (TransientEngineError("gone", cause="http_500"), "engine_error", "http_500: judge 'scripted': gone"),
        (RejectedRequestError("too long", cause="http_400"), "engine_error", "http_400: judge 'scripted': too long"),
        (FatalEngineError("wrong key", cause="http_401"), "engine_error", "http_401: judge 'scripted': wrong key"),
        (EngineError("odd"), "engine_error", "engine_error: judge 'scripted': odd"),
        (BudgetExhaustedError("max_calls=2 was reached"), "budget", "max_calls=2 was reached"),
    ],
)
def test_a_call_that_fails_leaves_an_unscored_vote(stage, error, reason, told):
    vote = ask(ScriptedJudge(lambda request: error if request.stage == stage else "hm"))
    assert (vote.selected_index, vote.unscored_reason, vote.error, vote.match) == (None, reason, told, None)
    assert vote.assessment == (None if stage == "assessment" else "hm")


def test_what_is_not_an_engines_failure_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        ask(ScriptedJudge(lambda request: 1 / 0))


def test_the_prompts_are_kept_on_request():
    kept = ask(ScriptedJudge(["It is clear.", "hm", "Low", "short"]), generate_summaries=True).prompts
    assert list(kept) == ["assessment", "selection", "reask", "summary"]
    assert [len(messages) for messages in kept.values()] == [1, 3, 5, 1]
    assert ask(ScriptedJudge(chooses("Mid")), include_prompts_in_result=False).prompts is None


def test_a_vote_carries_the_judge_and_its_weight():
    vote = ask(ScriptedJudge(chooses("Mid"), name="panel-member"), weight=2.5)
    assert (vote.judge_id, vote.weight) == ("panel-member", 2.5)


def test_a_journaled_reply_is_counted_as_such():
    vote = ask(ScriptedJudge([Completion(text="It is clear.", cached=True), Completion(text="Mid", cost=0.5)]))
    assert (vote.usage.calls, vote.usage.cached, vote.usage.cost) == (1, 1, 0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"flow": "onestep"}, r"flow is 'onestep'. Did you mean 'one_step'\?"),
        ({"flow": None}, "flow is None"),
        ({"max_reasks": -1}, "max_reasks is -1; give a whole number of at least 0"),
    ],
)
def test_what_is_not_a_flow_is_refused(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        Flow(**settings)
