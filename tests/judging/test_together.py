"""The criteria of a rubric as the questions of one sheet."""

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.judging.sheet import asked_together, check_calls
from evenhand.question import Question


def question(name, response="r", **context):
    return Question(id=name, criterion=yes_no_criterion(name, "?"), responses=(response,), context=context)


def test_each_is_shown_what_any_of_them_is():
    asked = asked_together([question("a", text="t"), question("b", text="t", question="q"), question("c")], "sheet")
    assert [each.criterion.name for each in asked] == ["a", "b", "c"]
    assert {each.sheet for each in asked} == {"sheet"}
    assert all(each.context == {"text": "t", "question": "q"} for each in asked)
    assert asked_together([], "sheet") == []


def test_what_one_call_cannot_hold_is_refused():
    with pytest.raises(InvalidInputError, match="'a' and 'b' judge different fields"):
        asked_together([question("a"), question("b", response="s")], "sheet")
    with pytest.raises(InvalidInputError, match="'b' shows another field as 'text'"):
        asked_together([question("a", text="t"), question("b", text="u")], "sheet")


@pytest.mark.parametrize(
    ("calls", "options", "examples", "message"),
    [
        ("all", {}, None, "calls is 'all'. Accepted: 'per_criterion', 'per_item'"),
        ("per_item", {"flow": "two_step"}, None, "accepted: 'one_step', or"),
        ("per_item", {"generate_summaries": True}, None, "drop generate_summaries"),
        ("per_item", {}, [{}], "shows no examples"),
    ],
)
def test_settings_that_do_not_go_together(calls, options, examples, message):
    with pytest.raises(InvalidInputError, match=message):
        check_calls(calls, options, examples=examples)


def test_settings_that_do():
    check_calls("per_criterion", {"flow": "two_step", "generate_summaries": True}, examples=[{}])
    check_calls("per_item", {"flow": "verdict_only"}, examples=None)
