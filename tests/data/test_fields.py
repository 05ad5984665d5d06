"""Reading what is judged out of a row of data."""

import warnings

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.data.fields import LeftOutContextWarning, context_of, field_of, text_of, warn_of_left_out_context
from evenhand.errors import InvalidInputError

CRITERION = yes_no_criterion("good", "Is it?").model_copy(update={"context_fields": {"question": "question"}})
ROW = {"question": "Why?", "meta": {"source": {"name": "wiki"}}, "a/b": "slash", "count": 3, "nothing": None}


@pytest.mark.parametrize(
    ("field", "value"),
    [("question", "Why?"), ("meta/source/name", "wiki"), ("a/b", "slash"), ("count", 3), ("nothing", None)],
)
def test_a_field_is_found_by_its_name_or_its_path(field, value):
    assert field_of(ROW, field, 4, "response_fields") == value


@pytest.mark.parametrize("field", ["qestion", "meta/source/nmae", "question/deeper", "", "nothing/more"])
def test_a_field_that_is_not_there_is_named_with_its_row_and_setting(field):
    with pytest.raises(InvalidInputError, match=f"instance 4 has no field {field!r}, which response_fields names"):
        field_of(ROW, field, 4, "response_fields")


@pytest.mark.parametrize(
    ("value", "text"),
    [("as it is\n ", "as it is\n "), (["a", 1], '["a", 1]'), (None, ""), (["\ud83d"], '["\ufffd"]')],
)
def test_a_value_as_the_judge_reads_it(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize("field", ["reference", "references"])
def test_a_missing_reference_field_is_filled_from_the_references(field):
    fields = {"reference": field}
    assert context_of(ROW, fields, CRITERION, 0, ["one", "two"]) == {"reference": "one\n\ntwo"}
    assert context_of({field: "own"}, fields, CRITERION, 0, ["one"]) == {"reference": "own"}
    assert context_of({field: ["own", "other"]}, fields, CRITERION, 0) == {"reference": "own\n\nother"}
    with pytest.raises(InvalidInputError, match="context_fields"):
        context_of(ROW, fields, CRITERION, 0)


def test_leaving_out_what_the_criterion_is_judged_by_is_told():
    with pytest.warns(LeftOutContextWarning, match=r"'good' is judged by \['question'\]"):
        warn_of_left_out_context(CRITERION, {"source": "meta"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fields in (None, {"question": "ask"}, {"task": "question"}):
            warn_of_left_out_context(CRITERION, fields)
