"""A rubric judged without a recipe: its scores, how it is asked, kept and read again, and what a panel says."""

from collections import Counter

import pytest

from evenhand.criteria import Criterion, Option, Rubric, yes_no_criterion
from evenhand.functions import judge
from tests.support.judges import ScriptedJudge, chooses

CLEAR = Criterion(
    name="clear",
    description="How clear is it?",
    weight=3,
    options=(Option(label="Good", value=1.0), Option(label="Fair", value=0.5), Option(label="Bad", value=0.0)),
)
CITES = yes_no_criterion("cites", "Does it cite a source?", weight=1, na=True)
RUDE = yes_no_criterion("rude", "Is it rude?", weight=-2)
RUBRIC = Rubric(name="answer", criteria=(CLEAR, CITES, RUDE))
ROWS = [{"alder": "alder 0", "birch": "birch 0"}, {"alder": "alder 1", "birch": None}]
SAID = {
    "alder 0": {"clear": "Good", "cites": "Yes", "rude": "No"},
    "alder 1": {"clear": "Fair", "cites": "N/A", "rude": "No"},
    "birch 0": {"clear": "Bad", "cites": "Yes", "rude": "Who can say?"},
}


def says(request):
    return SAID[request.question.responses[0]][request.question.criterion.name]


def assess(engine=None, *, rows=ROWS, rubric=RUBRIC, **options):
    given = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, "max_reasks": 0, **options}
    return judge(rows, rubric, engine or ScriptedJudge(says), **given)


@pytest.fixture(scope="module")
def table():
    return assess()


def test_the_scores_by_hand(table):
    # alder: (3 + 1) / 4 and 3·½ / 3; birch: (0 + 1) / 4 without rude, and no response
    scores = {system: [result.score for result in results] for system, results in table.rubric_results.items()}
    assert scores == {"alder": [1.0, pytest.approx(0.5)], "birch": [0.25, None]}
    alder, birch = table.rubric_scores["alder"], table.rubric_scores["birch"]
    assert (alder.score.estimate, alder.score.n, alder.num_incomplete) == (0.75, 2, 0)
    assert (birch.score.estimate, birch.num_unscored, birch.num_incomplete) == (0.25, 1, 1)
    # birch 0 with rude at Yes: (1 − 2) / 4 < 0, at No: 1 / 4; birch 1 has no response: 0 to 1
    assert (birch.score_if_unscored_0, birch.score_if_unscored_1) == (0.0, (0.25 + 1) / 2)
    assert birch.parse_rate.estimate == pytest.approx(2 / 3)
    assert table.summaries["alder", "clear"].score.estimate == 0.75


def test_examples_balanced_and_never_the_row_itself():
    rows = [{"alder": f"answer {number}", "level": ("Good", "Fair", "Bad")[number % 3]} for number in range(9)]
    engine = ScriptedJudge(chooses("Good"))
    judge(
        rows,
        [CLEAR],
        engine,
        response_fields="alder",
        gold_fields={"clear": "level"},
        examples=rows,
        num_examples=6,
        guidelines="Dates must be exact.",
        flow="verdict_only",
        journal=None,
        progress=False,
    )
    assert len(engine.requests) == 18
    for request in engine.requests:
        cases = request.question.examples
        assert Counter(case.label for case in cases) == {"Good": 2, "Fair": 2, "Bad": 2}
        assert request.question.responses[0] not in {case.response for case in cases}
        assert "Dates must be exact." in request.messages[0]["content"]
