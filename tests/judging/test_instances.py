"""Reading what is judged out of a row of data."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.judging.instances import context_of, field_of, text_of

ROW = {"question": "Why?", "meta": {"source": {"name": "wiki"}}, "a/b": "slash", "count": 3, "nothing": None}


@pytest.mark.parametrize(
    ("field", "value"),
    [("question", "Why?"), ("meta/source/name", "wiki"), ("a/b", "slash"), ("count", 3), ("nothing", None)],
)
def test_a_field_is_found_by_its_name_or_its_path(field, value):
    assert field_of(ROW, field, 4, "response_field") == value


@pytest.mark.parametrize("field", ["qestion", "meta/source/nmae", "question/deeper", "", "nothing/more"])
def test_a_field_that_is_not_there_is_named_with_its_row_and_setting(field):
    with pytest.raises(InvalidInputError, match=f"instance 4 has no field {field!r}, which response_field names"):
        field_of(ROW, field, 4, "response_field")


def test_the_closest_field_is_proposed():
    with pytest.raises(InvalidInputError, match=r"Did you mean 'question'\?"):
        field_of(ROW, "qestion", 0, "context_fields")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n ", "as it is\n "),
        (3, "3"),
        (True, "true"),
        (["a", 1], '["a", 1]'),
        ({"k": "é"}, '{"k": "é"}'),
        (None, ""),
        ("cut \ud83d", "cut \ufffd"),
        (["\ud83d"], '["\ufffd"]'),
    ],
)
def test_a_value_as_the_judge_reads_it(value, text):
    assert text_of(value) == text


def test_what_is_not_json_is_written_by_its_name():
    assert text_of({"path": pytest}).startswith('{"path": "<module')


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_every_value_has_a_text_that_can_be_sent(value):
    text_of(value).encode()
    if isinstance(value, list):
        json.loads(text_of(value))


def test_the_context_is_shown_under_its_names():
    assert context_of(ROW, {"the question": "question", "from": "meta/source/name"}, 0) == {
        "the question": "Why?",
        "from": "wiki",
    }


@pytest.mark.parametrize("field", ["reference", "references"])
def test_a_missing_reference_field_is_filled_from_the_references(field):
    assert context_of(ROW, {"reference": field}, 0, ["one", "two"]) == {"reference": "one\n\ntwo"}
    assert context_of({field: "own"}, {"reference": field}, 0, ["one"]) == {"reference": "own"}
    with pytest.raises(InvalidInputError, match="context_fields"):
        context_of(ROW, {"reference": field}, 0)
