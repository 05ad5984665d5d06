"""Systems compared on the same rows: in the table, its text, its file, and after other rules."""

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.functions import judge
from tests.support.judges import ScriptedJudge

CLEAR, POLITE = yes_no_criterion("clear", "Is it clear?"), yes_no_criterion("polite", "Is it polite?")
ROWS = [{"doc": f"d{row // 2}", "alder": f"alder {row}", "birch": f"birch {row}"} for row in range(12)]


def verdicts(request):
    """alder is clear everywhere, birch on rows 0 to 3; of birch 11 nothing is read; all are polite."""
    if request.options is None:
        return "Considered."
    name, row = request.question.responses[0].split()
    if request.question.criterion.name == "polite":
        return "Yes"
    if (name, row) == ("birch", "11"):
        return ""
    return "Yes" if name == "alder" or int(row) < 4 else "No"


def assess(criteria, read=verdicts, **options):
    given = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, "cluster_field": False}
    return judge(ROWS, criteria, ScriptedJudge(read), **{**given, **options})


@pytest.fixture(scope="module")
def table():
    return assess([CLEAR, POLITE])


def test_the_difference_its_test_and_what_was_set_aside(table):
    clear, polite = table.differences
    assert (clear.score, clear.first, clear.second) == ("clear", "alder", "birch")
    assert (clear.n_compared, clear.n_set_aside) == (11, 1)
    assert clear.difference.estimate == pytest.approx(7 / 11)
    # 7 of 11 rows differ: 2 / 2^7 = 0.0156; Holm over two criteria doubles it.
    assert clear.test.p_value == pytest.approx(1 / 64)
    assert clear.test.adjusted_p_value == pytest.approx(1 / 32)
    assert (clear.if_unscored_low, clear.if_unscored_high) == pytest.approx((7 / 12, 8 / 12))
    assert polite.difference.estimate == 0
    assert polite.test.p_value == 1
