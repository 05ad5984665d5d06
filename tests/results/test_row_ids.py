"""Rows named by the user's own ids, in records, tables and saved files."""

import pandas as pd
import pytest

import evenhand
from evenhand.errors import InvalidInputError

CLARITY = "criteria.evenhand.direct.clarity"
BASELINE = "engines.evenhand.baseline"
ROWS = [{"meta": {"id": name}, "small": f"{name} is.", "large": f"{name} is longer."} for name in ("p-1", 7, "p-3")]
IDS = ["p-1", "7", "p-3"]
HOW = {"context_fields": [], "progress": False}


def judged(**options):
    return evenhand.judge(ROWS, CLARITY, BASELINE, response_fields="small", id_field="meta/id", **HOW, **options)


def of_mode():
    return {
        "judge": judged,
        "aggregate_votes": lambda: evenhand.aggregate_votes(
            [{**row, "vote": True} for row in ROWS], "vote", id_field="meta/id"
        ),
        "read_replies": lambda: evenhand.read_replies(
            [{**row, "reply": "Yes"} for row in ROWS], "reply", id_field="meta/id"
        ),
    }


@pytest.mark.parametrize("name", list(of_mode()))
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_records_and_saved_files_have_the_ids_beside_the_index(name, suffix, tmp_path):
    table = of_mode()[name]()
    records = list(table.records())
    assert list(dict.fromkeys((row["instance"], row["id"]) for row in records)) == list(enumerate(IDS))
    assert "id" in table.to_pandas().columns
    assert set(table.votes().column("id").to_pylist()) == set(IDS)
    path = tmp_path / f"result.{suffix}"
    table.save(path)
    if suffix == "parquet":
        assert set(pd.read_parquet(path)["id"]) == set(IDS)
    opened = evenhand.open(path)
    assert opened == table
    assert list(opened.records()) == records
    only = opened.filter(id="p-3")
    assert {(row["instance"], row["id"]) for row in only.records()} == {(2, "p-3")}


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
