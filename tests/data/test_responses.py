"""Predictions in every form in which they arrive."""

import math

import pytest

from evenhand.data.rows import common_systems, read_responses
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
    assert "lacks ['b'] and adds ['c']" in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"instance 1 .* it lacks \['3'\]"):
        common_systems([read_responses(["x", "y", "z"], 0), read_responses(["x", "y"], 1)])
