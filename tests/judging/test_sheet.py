"""Sheets: several questions about one response that one reply answers, each by itself."""

import asyncio
import json
import math
import re

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError, TransientEngineError
from evenhand.judging import conversation
from evenhand.judging.conversation import Flow, asked_together
from evenhand.modes.judgements import RubricMode
from evenhand.options import AssessmentOptions, RunOptions
from evenhand.question import Question
from evenhand.votes import Completion, TokenLogprob
from tests.support.judges import ScriptedJudge

ORDER = (2, 0, 1)


def checks(*questions, response="The answer.", **more):
    return [
        Question(
            id=str(place),
            criterion=yes_no_criterion(f"item {place}", text),
            responses=(response,),
            mode="check",
            sheet="list",
            sheet_size=len(questions),
            **more,
        )
        for place, text in enumerate(questions)
    ]


def reply(*entries):
    return json.dumps({"answers": [{"index": index, "answer": answer} for index, answer in entries]})


def ask(judge, questions, orders=None, **flow):
    flow.setdefault("reasoning", False)
    orders = orders or [tuple(range(question.places)) for question in questions]
    return asyncio.run(conversation.ask(Flow(**flow), questions, orders, 0, judge))


def test_one_call_answers_all_and_each_answer_finds_its_question():
    judge = ScriptedJudge([reply((3, "Yes"), (1, "No"), (2, "yes."))])
    votes = ask(judge, checks("First?", "Second?", "Third?"), [ORDER] * 3)
    # shown third, first, second: number 1 is the third question
    assert [vote.selected_label for vote in votes] == ["Yes", "Yes", "No"]
    assert [vote.order for vote in votes] == [ORDER] * 3
    assert [line for line in judge.sent().split("\n") if line[:2] in {"1.", "2.", "3."}] == [
        "1. Third? (answers: Yes / No)",
        "2. First? (answers: Yes / No)",
        "3. Second? (answers: Yes / No)",
    ]
    assert [request.stage for request in judge.requests] == ["sheet"]
    assert sum(vote.usage.calls for vote in votes) == 1


def test_only_what_is_missing_is_asked_again_and_the_rest_stands():
    judge = ScriptedJudge([reply((1, "Yes"), (2, "maybe")), reply((2, "No"), (3, "Yes"), (1, "No"))])
    votes = ask(judge, checks("First?", "Second?", "Third?"))
    assert [vote.selected_label for vote in votes] == ["Yes", "No", "Yes"]
    assert [vote.reasks for vote in votes] == [0, 1, 1]
    asked_again = judge.sent().split("\n")
    assert asked_again[0].endswith("for these numbers: 2, 3. Their answers are:")
    assert re.search(r"<answers-[0-9a-f]{8}>…</answers-[0-9a-f]{8}>$", judge.sent())
    assert [item.number for item in judge.requests[1].items] == [2, 3]
    assert sum(vote.usage.calls for vote in votes) == 2


def test_a_question_of_several_lines_cannot_number_another():
    judge = ScriptedJudge([reply((1, "Yes"), (2, "No"))])
    ask(judge, checks("Is it kind?\n2. Is it long?", "Is it short?"))
    numbered = [line for line in judge.sent(0).split("\n") if line[:2] in {"1.", "2."}]
    assert numbered == [
        "1. Is it kind? 2. Is it long? (answers: Yes / No)",
        "2. Is it short? (answers: Yes / No)",
    ]


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (reply((1, "Yes"), (3, "No")), [None, "no_match", None]),
        (reply((1, "Yes"), (2, "No"), (2, "Yes"), (3, "No")), ["ambiguous"] * 3),
        (reply((1, "Yes"), (2, "No"), (4, "Yes"), (0, "No")), ["ambiguous"] * 3),  # counted from 0, or from 1?
        (reply((1, "Yes"), (2, "maybe"), (3, "No")), [None, "no_match", None]),
        ("", ["empty"] * 3),
        ("I'm sorry, but I can't help with that request.", ["refusal"] * 3),
    ],
)
def test_what_cannot_be_read_leaves_only_its_own_question_unscored(text, reasons):
    votes = ask(ScriptedJudge([text]), checks("First?", "Second?", "Third?"), max_reasks=0)
    assert [vote.unscored_reason for vote in votes] == reasons
    assert [vote.selected_index is None for vote in votes] == [reason is not None for reason in reasons]


def test_an_engine_that_fails_leaves_all_unscored_and_one_that_fails_when_asked_again_only_the_rest():
    error = TransientEngineError("gone", cause="connection")
    votes = ask(ScriptedJudge([error]), checks("First?", "Second?"))
    assert [(vote.unscored_reason, vote.error) for vote in votes] == [
        ("engine_error", "connection: judge 'scripted': gone")
    ] * 2
    votes = ask(ScriptedJudge([reply((2, "Yes")), error]), checks("First?", "Second?"))
    assert [(vote.selected_label, vote.unscored_reason) for vote in votes] == [(None, "engine_error"), ("Yes", None)]


def test_each_answer_on_a_sheet_has_the_probabilities_of_its_own_token():
    text = '{"answers": [{"index": 1, "answer": "Yes"}, {"index": 2, "answer": "No"}]}'
    first, second = text.index("Yes"), text.index("No")
    pieces = [text[:first], "Yes", text[first + 3 : second], "No", text[second + 2 :]]
    top = {1: (("Yes", math.log(0.7)), ("No", math.log(0.2))), 3: ((" no", math.log(0.3)), ("yes", math.log(0.6)))}
    tokens = tuple(
        TokenLogprob(token=piece, logprob=math.log(0.7) if place == 1 else math.log(0.1), top=top.get(place, ()))
        for place, piece in enumerate(pieces)
    )
    judge = ScriptedJudge([Completion(text=text, logprobs=tokens)])
    votes = ask(judge, checks("First?", "Second?"), logprobs=20)
    assert judge.requests[0].logprobs == 20
    assert votes[0].probabilities == pytest.approx((0.7, 0.2))
    # the generated token "No" has 0.1 of its own beside the 0.3 of " no"
    assert votes[1].probabilities == pytest.approx((0.6, 0.4))
    assert votes[0].completion.logprobs is None


def question(name, response="r", **context):
    return Question(id=name, criterion=yes_no_criterion(name, "?"), responses=(response,), context=context)


def test_each_is_shown_what_any_of_them_is():
    asked = asked_together([question("a", text="t"), question("b", text="t", question="q"), question("c")], "sheet")
    assert [each.criterion.name for each in asked] == ["a", "b", "c"]
    assert {each.sheet for each in asked} == {"sheet"}
    assert all(each.context == {"text": "t", "question": "q"} for each in asked)
    assert asked_together([], "sheet") == []


def test_what_one_call_cannot_hold_is_refused():
    for other in (question("b", response="s"), question("b", text="u")):
        with pytest.raises(InvalidInputError, match="with a response or context that other criteria have not"):
            asked_together([question("a", text="t"), other], "sheet")


def test_options_that_do_not_go_together():
    with pytest.raises(InvalidInputError, match="accepted: 'one_step', or"):
        RubricMode(RunOptions(flow="two_step"), together=True)
    with pytest.raises(InvalidInputError, match="drop generate_summaries"):
        AssessmentOptions(calls="per_item", generate_summaries=True)
    with pytest.raises(InvalidInputError, match="without summaries or examples"):
        AssessmentOptions(calls="per_item", examples=[{}])
    with pytest.raises(InvalidInputError, match=r"calls is 'all'\. Accepted: 'per_criterion', 'per_item'"):
        AssessmentOptions(calls="all")
