"""Rows named by the user's own ids, in records, tables and saved files."""

import pytest

import evenhand
from evenhand.errors import InvalidInputError

CLARITY = "criteria.evenhand.direct.clarity"
BASELINE = "engines.evenhand.baseline"
HOW = {"context_fields": [], "progress": False}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": 1, "small": "a"}, {"id": "1", "small": "b"}],
            "rows 0 and 1 both have the id '1' in 'id', which id_field",
        ),
        (
            [{"id": 1, "small": "a"}, {"id": None, "small": "b"}],
            "row 1 has None in 'id', which id_field names: every row",
        ),
        ([{"small": "a"}], "instance 0 has no field 'id', which id_field names"),
    ],
)
def test_ids_that_name_no_row_or_two_are_refused(rows, message):
    with pytest.raises(InvalidInputError, match=message):
        evenhand.judge(rows, CLARITY, BASELINE, response_fields="small", id_field="id", **HOW)
