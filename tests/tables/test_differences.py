"""Systems compared on the same rows: in the table, its text, its file, and after other rules."""

import pytest

import evenhand
from evenhand.criteria import Checklist, ChecklistItem, Rubric, yes_no_criterion
from evenhand.functions import checklist, judge
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


def assess(criteria, **options):
    given = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, "cluster_field": False}
    return judge(ROWS, criteria, ScriptedJudge(verdicts), **{**given, **options})


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


def test_it_is_printed_below_the_scores(table):
    shown = str(table)
    assert shown.index("Direct assessment by") < shown.index("Paired differences of the scores on the same rows")
    markdown = table.to_markdown()
    assert "| alder – birch | clear | +0.64 [" in markdown
    assert "| 0.031 | 11 | 1 | 0.58 to 0.67 |" in markdown
    assert "Set aside: rows on which only one of the two has a score" in markdown
    assert "Paired differences" not in assess([POLITE], response_fields="alder").to_markdown()


def test_rows_of_a_document_are_one():
    clear, _ = assess([CLEAR, POLITE], cluster_field="doc").differences
    assert clear.test.clusters == 4  # rows 4 to 10 are of the documents 2 to 5
    assert clear.test.p_value == pytest.approx(2 / 2**4)


def test_rubric_scores_are_a_family_of_their_own():
    rubric = Rubric(name="answer", criteria=(CLEAR, POLITE))
    found = assess(rubric)
    (pair,) = found.rubric_differences
    assert pair.score == "answer"
    # The rubric is the mean of both criteria; where clear is unscored it rests on polite alone, and is 1 for both.
    assert pair.difference.estimate == pytest.approx((7 * 0.5 + 0) / 12)
    assert pair.test.adjusted_p_value == pytest.approx(1 / 64)
    assert "Paired differences of answer on the same rows" in str(found)


def test_checklists_too(tmp_path):
    items = Checklist(name="short", items=(ChecklistItem(name="clear", question="Is it clear?"),))

    def answers(request):
        name, row = request.question.responses[0].split()
        return "Yes" if name == "alder" or int(row) < 4 else "No"

    found = checklist(
        ROWS,
        items,
        ScriptedJudge(answers),
        response_fields=["alder", "birch"],
        mode="item",
        journal=None,
        progress=False,
        cluster_field=False,
    )
    (pair,) = found.differences
    assert pair.difference.estimate == pytest.approx(8 / 12)
    assert pair.test.p_value == pytest.approx(2 / 2**8)
    assert "Paired differences of pass rate on the same rows" in found.to_markdown()
    found.save(tmp_path / "table.jsonl")
    assert evenhand.open(tmp_path / "table.jsonl").differences == found.differences


def test_many_systems_are_compared_but_not_all_printed():
    systems = [f"s{number}" for number in range(7)]
    rows = [{system: f"{'alder' if system == 's3' else 'birch'} {row}" for system in systems} for row in range(11)]
    found = judge(
        rows, CLEAR, ScriptedJudge(verdicts), response_fields=systems, journal=None, progress=False, cluster_field=False
    )
    assert len(found.differences) == 21
    shown = found.to_markdown()
    assert shown.count(" – s") == 6
    assert all(f"| s3 – {other}" in shown or f"| {other} – s3" in shown for other in set(systems) - {"s3"})
    assert "Shown are the pairs with the best system; 15 more are in differences of the table." in shown


def test_a_cell_with_much_unscored_leads_with_its_bounds():
    def silent(request):
        return "" if request.question.responses[0] in {f"birch {row}" for row in range(8, 12)} else verdicts(request)

    found = judge(
        ROWS,
        CLEAR,
        ScriptedJudge(silent),
        response_fields=["alder", "birch"],
        journal=None,
        progress=False,
        cluster_field=False,
        max_failure_rate=1.0,
    )
    shown = found.to_markdown()
    # 4 of 8 read are clear, and of four nothing is known: 4 / 12 to 8 / 12.
    assert "| birch | clear | 0.33–0.67 [" in shown
    assert "], 33 % of rows affected |" in shown
    assert "| alder | clear | 1.00 [" in shown
    assert "Bounds lead for birch, clear: too many votes are unscored" in shown
    assert found.summaries["birch", "clear"].score.estimate == pytest.approx(4 / 8)
