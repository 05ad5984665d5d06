"""The criteria of a rubric as the questions of one sheet."""

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.judging.sheet import asked_together
from evenhand.modes.judgements import RubricMode
from evenhand.options import AssessmentOptions, RunOptions
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


def test_options_that_do_not_go_together():
    with pytest.raises(InvalidInputError, match="accepted: 'one_step', or"):
        RubricMode(RunOptions(flow="two_step"), together=True)
    with pytest.raises(InvalidInputError, match="drop generate_summaries"):
        AssessmentOptions(calls="per_item", generate_summaries=True)
    with pytest.raises(InvalidInputError, match="shows no examples"):
        AssessmentOptions(calls="per_item", examples=[{}])
    with pytest.raises(InvalidInputError, match=r"calls is 'all'\. Accepted: 'per_criterion', 'per_item'"):
        AssessmentOptions(calls="all")
