"""Responses in every form in which they arrive: predictions, and long data brought together by names."""

import math
import unicodedata

import numpy as np
import pytest

from evenhand.data.responses import Layout, common_systems, read_responses
from evenhand.errors import InvalidInputError


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        (["x", ""], {"1": "x", "2": ""}),
        (("x", None), {"1": "x", "2": None}),
        ({"tie": "x", "a b.c:d": math.nan}, {"tie": "x", "a b.c:d": None}),
        ({"a": {"answer": 3}, "b": ["é"]}, {"a": '{"answer": 3}', "b": '["é"]'}),
        ('["x", null]', {"1": "x", "2": None}),
        ("  {'a': 'it''s', 'b': None}\n", {"a": "its", "b": None}),
    ],
)
def test_forms(prediction, expected):
    found = read_responses(prediction, 0)
    assert found == expected
    assert list(found) == list(expected)


@pytest.mark.parametrize(
    "prediction",
    ["just text", "[broken", None, 3, "{1, 2}", "__import__('os')", "[open('x')]", "[" * 50_000, f"[{'9' * 5_000}]"],
    ids=lambda text: str(text)[:9],
)
def test_anything_else_is_an_error_that_names_the_instance(prediction):
    with pytest.raises(InvalidInputError, match="the predictions of instance 7 are a"):
        read_responses(prediction, 7)


def test_the_first_instance_that_differs_is_named_with_the_difference():
    rows = [{"a": "", "b": ""}, {"a": "", "b": ""}, {"a": "", "c": ""}, {"d": ""}]
    with pytest.raises(InvalidInputError) as caught:
        common_systems(rows)
    assert "instance 2" in str(caught.value)
    assert "names the systems ['a', 'c'], and instance 0 ['a', 'b']" in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"instance 1 names the systems \['1', '2'\]"):
        common_systems([read_responses(["x", "y", "z"], 0), read_responses(["x", "y"], 1)])


LONG = Layout(response_fields="text", systems_field="model", id_field="id")


def long(*ids):
    """One row an id, by two systems in turn."""
    return [{"id": given, "model": "ab"[place % 2], "text": f"{place}"} for place, given in enumerate(ids)]


@pytest.mark.parametrize(
    "same", [(2, 2.0), (1, "1"), (np.int64(3), 3.0), (" x", "x"), ("é", unicodedata.normalize("NFD", "é"))]
)
def test_one_prompt_however_its_id_is_written(same):
    (prompt,) = LONG.prompts(long(*same))
    assert prompt.responses == {"a": "0", "b": "1"}
    with pytest.raises(InvalidInputError, match="both hold a response of 'a'"):
        LONG.prompts([{**row, "model": "a"} for row in long(*same)])


@pytest.mark.parametrize("nothing", [None, float("nan"), "", " "])
def test_a_row_needs_an_id(nothing):
    with pytest.raises(InvalidInputError, match=r"row 1 has .* in 'id', which id_field names: every row needs a name"):
        LONG.prompts(long(1, nothing))


def test_systems_that_are_numbers_are_named_as_they_read():
    rows = [{"id": 1, "model": version, "text": "t"} for version in (1, 2.0)]
    (prompt,) = Layout("text", ("2", "1"), systems_field="model", id_field="id").prompts(rows)
    assert list(prompt.responses) == ["2", "1"]
