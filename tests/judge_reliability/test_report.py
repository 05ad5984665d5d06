"""The report on judges as tables of texts."""

from dataclasses import replace

from evenhand.judge_reliability.one_judge import FIRST
from evenhand.judge_reliability.tables import criterion_tables
from tests.judge_reliability.builders import CITES, asked, comparison, report


def rows_of(table):
    return {row[0].strip(): row[1:] for row in table.rows}


def test_judges_stand_side_by_side():
    steady = report([comparison([("A", "A")] * 2, place, label=FIRST) for place in range(20)])
    stuck = replace(report([comparison([("A", "B")] * 2, place) for place in range(20)]), judge_id="stuck | <judge>")
    measures, flips, matrix = criterion_tables([steady, stuck])
    assert measures.headers == ("measure [95%]", "judge", "stuck | <judge>")
    rows = rows_of(measures)
    # Twenty clusters without, and with nothing but, a change of mind.
    assert rows["position consistency"][0].startswith("100 % [")
    assert rows["position consistency"][1].startswith("0 % [0,")
    assert rows["preference fairness (− first, + second)"][1].startswith("-1.00 [-1.00")
    assert rows["p of no preference"] == ("–", "< 0.001")
    assert [cell[:6] for cell in rows["Grade Score"]] == ["1.00 [", "0.00 ["]
    assert rows["verdicts as people"][1] == "–"
    assert [rows[name] for name in ("votes", "unscored votes", "unscored verdicts")] == [
        ("80", "80"),
        ("0", "0"),
        ("0", "0"),
    ]
    # What no judge has is no row, and has its reason beneath.
    assert "Brier score" not in rows
    assert any(note.startswith("judge: Not measured: ") and "overconfidence (" in note for note in measures.notes)
    assert rows_of(flips)["Tie"] == ("– of 0", "– of 0")
    assert matrix.title == "What people chose on 'better' (rows) and the verdicts of judge (columns)"
    assert rows_of(matrix)["first"] == ("20", "0", "0", "0")
    assert r"stuck \| &lt;judge>" in measures.to_markdown()
    assert "&lt;judge&gt;" in measures.to_html()


def test_what_is_missing_is_said():
    found = report([asked(CITES, [("Yes", None)], place) for place in range(4)], CITES, num_missing=3, level=0.999)
    (measures,) = criterion_tables([found])
    assert measures.headers == ("measure [99.9%]", "judge")
    rows = rows_of(measures)
    assert [rows[name] for name in ("votes", "unscored votes", "unscored verdicts")] == [("8",), ("4",), ("0",)]
    assert "3 questions were not asked, as a response is missing." in measures.notes
    assert any("position consistency (no question has a selection in both orders)" in note for note in measures.notes)
