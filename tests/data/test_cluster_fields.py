"""Which rows belong together: read from a column, or warned of where a column plainly repeats."""

import warnings

import pytest

from evenhand.data.fields import RepeatedColumnWarning, read_clusters, repeated_column
from evenhand.errors import InvalidInputError

PASSAGE = "Passage {}: the rain in the north has filled every reservoir of the county, and the dams were opened."


def rows(count=60, **columns):
    return [{name: cell(number) for name, cell in columns.items()} for number in range(count)]


def test_a_cluster_is_the_same_however_the_number_was_read():
    given = [{"doc": 2}, {"doc": 2.0}, {"doc": "2"}, {"doc": "2.0"}, {"doc": "two"}]
    assert read_clusters(given, "doc") == ("2", "2", "2", "2.0", "two")


@pytest.mark.parametrize("nothing", [None, float("nan"), "", "  "])
def test_a_row_that_belongs_to_nothing_is_named(nothing):
    with pytest.raises(InvalidInputError, match=r"row 1 has .* in 'doc', which cluster_field names"):
        read_clusters([{"doc": "a"}, {"doc": nothing}], "doc")


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("doc_id", lambda number: number // 5),
        ("image_id", lambda number: number // 5),
        ("passageText", lambda number: f"p{number // 6}"),
        ("context", lambda number: PASSAGE.format(number // 6)),  # long texts, whatever the column is called
    ],
)
def test_a_column_that_plainly_repeats_is_warned_of_with_both_ways_out(column, cell):
    given = rows(**{column: cell, "response": lambda number: f"answer {number}"})
    with pytest.warns(RepeatedColumnWarning, match=rf"cluster_field='{column}' .*cluster_field=False"):
        assert read_clusters(given, None)[0] is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_clusters(given, False)[0] is None
        assert len(set(read_clusters(given, column))) < len(given)


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("id", lambda number: number),  # each its own
        ("doc_id", lambda number: number % 3),  # a category
        ("instruction", lambda number: PASSAGE),  # constant
        ("model_id", lambda number: f"m{number % 8}"),
        ("system_prompt", lambda number: f"m{number % 8}"),
        ("length", lambda number: number % 10),
        ("id", lambda number: number if number < 56 else 0),  # hardly repeats
        ("ids", lambda number: [number % 5]),
    ],
)
def test_other_columns_are_not(column, cell):
    assert repeated_column(rows(**{column: cell})) is None
