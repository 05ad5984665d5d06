"""Rows with rubrics of their own: read in the form of another tool, scored by their own points, kept and opened."""

import pytest

import evenhand
from tests.data.formats.test_autorubric import WRITTEN
from tests.data.formats.test_benchmark_rubrics import HEALTH_ROW
from tests.support.judges import ScriptedJudge

OTHER = {"rubrics": [{"criterion": "Says how much.", "points": 5}, {"criterion": "Lies.", "points": -10}]}
ROWS = [
    {**HEALTH_ROW, "response": "advice"},
    {**OTHER, "response": "amount"},
    {**OTHER, "response": "lie"},
    {**OTHER, "response": None},
]
SAID = {
    "advice": {"advises_to_see_a_doctor": "Yes", "names_a_dose_that_harms": "Yes", "asks_for_the_age": "No"},
    "amount": {"says_how_much": "Yes", "lies": "No"},
    "lie": {"says_how_much": "", "lies": "Yes"},
}


def says(request):
    return SAID[request.question.responses[0]][request.question.criterion.name]


def assess(rows=ROWS, criteria=None, **options):
    given = {"rubric_field": "rubrics", "journal": None, "progress": False, "max_reasks": 0, **options}
    return evenhand.judge(rows, criteria, ScriptedJudge(says), **given)


@pytest.fixture(scope="module")
def results():
    return assess()


def test_each_row_is_scored_by_its_own_points(results):
    # (7 − 9) / 10; 5 / 5; only the fault of the third was read; the fourth has no response
    assert [(each.result.score, each.result.unscored_reason) for each in results.entries] == [
        (-0.2, None),
        (1.0, None),
        (None, "empty"),
        (None, "missing_response"),
    ]
    measures = results.measures["response"]
    assert (measures.score.estimate, measures.num_instances, measures.num_unscored) == (pytest.approx(0.4), 4, 2)
    # at worst −0.2, 1, −10 / 5 and −10 / 5, whose mean is below 0; at best −0.2, 1, (5 − 10) / 5 and 5 / 5
    assert (measures.score_if_unscored_0, measures.score_if_unscored_1) == (0.0, pytest.approx(0.2))
    assert "rubric score" in str(results)


def test_the_row_says_what_each_of_its_criteria_got(results):
    first = next(results.records())
    assert first["criteria"][1] == {"name": "names_a_dose_that_harms", "weight": -9.0, "selected_option": "Yes"}


def test_a_row_may_name_its_rubric():
    rows = [
        {"rubric": "rubrics.evenhand.safety", "question": "?", "response": "x"},
        {"rubric": WRITTEN, "response": "y"},
    ]
    run = evenhand.judge(rows, None, ScriptedJudge(says), rubric_field="rubric", dry_run=True, journal=None)
    assert run.votes == 8 + 4
