"""Rows of long data brought together by the names of prompts and systems."""

import unicodedata

import numpy as np
import pytest

from evenhand.data.rows import Layout
from evenhand.errors import InvalidInputError

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
