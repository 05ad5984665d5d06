"""Rows of long data brought together by the names of prompts and systems."""

import datetime
import unicodedata

import numpy as np
import pytest

import evenhand
from evenhand.data.fields import text_of
from evenhand.data.systems import Layout
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


@pytest.mark.parametrize("two", [(2, 2.5), ("2", "2.0"), ("x", "X"), ("1", "01")])
def test_other_ids_are_other_prompts(two):
    assert len(LONG.prompts(long(*two))) == 2


@pytest.mark.parametrize("nothing", [None, float("nan"), "", " "])
def test_a_row_needs_an_id(nothing):
    with pytest.raises(InvalidInputError, match=r"row 1 has .* in 'id', which id_field names: it needs a name"):
        LONG.prompts(long(1, nothing))


def test_systems_that_are_numbers_are_named_as_they_read():
    rows = [{"id": 1, "model": version, "text": "t"} for version in (1, 2.0)]
    (prompt,) = Layout("text", ("2", "1"), systems_field="model", id_field="id").prompts(rows)
    assert list(prompt.responses) == ["2", "1"]


def test_what_is_no_text_is_shown_as_it_reads():
    given = [np.int64(2), np.float64(0.5), datetime.date(2025, 1, 2), {"n": np.int64(3)}, np.array([1, 2]), True]
    assert [text_of(value) for value in given] == ["2", "0.5", "2025-01-02", '{"n": 3}', "[1, 2]", "true"]


def test_a_category_says_that_its_rate_counts_answers():
    # checklists of different length: where answers and responses do not count alike
    rows = [{"response": "r", "items": ["A?", "B?", "C?"]}, {"response": "s", "items": ["D?"]}]
    engine = "engines.evenhand.baseline"
    table = evenhand.checklist(rows, None, engine, checklist_field="items", journal=None, progress=False)
    assert "micro" not in str(table)  # a single category has no table
    for row in rows:
        row["items"] = [{"question": text, "category": f"c{place % 2}"} for place, text in enumerate(row["items"])]
    table = evenhand.checklist(rows, None, engine, checklist_field="items", journal=None, progress=False)
    text = " ".join(str(table).split())
    assert "Pass rate of each category, over its answers about all responses" in text
    assert "every answer counts the same (micro)" in text
