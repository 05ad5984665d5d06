"""Unscored votes, the rows that they affect and unscored verdicts: the same counts on every surface of every mode."""

import json
import re
from xml.etree import ElementTree

import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from tests.support.checklists import sheet
from tests.support.judges import ScriptedJudge

QUIET = {"journal": None, "progress": False, "max_reasks": 0, "max_failure_rate": 1.0}
SAID = "36 of 800 votes unscored (35 rows affected), 1 verdict unscored"
ROWS = [{"question": f"question {row}", "a": f"answer {row}", "b": f"other {row}"} for row in range(400)]


def row_of(request):
    return int(re.search(r"question (\d+)", request.messages[0]["content"])[1])


def half_silent(request, *, read="Yes", silent=35):
    """Refuses one of two orders of 34 rows, and both of row 0: 36 of 800 votes."""
    order, row = request.presentation.order, row_of(request)
    return "I cannot say." if row < silent and (row == 0 or order[0] == 0) else read


HOW = {"response_fields": "a", "context_fields": ["question"], "flow": "verdict_only", **QUIET}
TRUE = yes_no_criterion("true", "Is it true?")


@pytest.fixture(scope="module")
def judged():
    return evenhand.judge(ROWS, TRUE, ScriptedJudge(half_silent), **HOW)


def test_the_counts_of_the_issue_stand_on_the_page_and_in_the_terminal(judged, tmp_path):
    counts = judged.unscored_counts
    assert str(counts) == SAID
    assert (counts.votes, counts.unscored_votes, counts.rows) == (800, 36, 35)
    assert (counts.verdicts, counts.unscored_verdicts) == (400, 1)
    judged.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count(SAID) >= 3  # in the facts, the cautions and with the score
    assert SAID in " ".join(str(judged).split())
    assert judged.rescore(on_position_bias="abstain").unscored_counts == counts


def test_conditions_count_votes_or_verdicts(judged):
    report = judged.check(
        "unscored <= 2 %", "unscored_verdicts <= 2 %", "true.unscored <= 2 %", "true.unscored_verdicts <= 0.2 %"
    )
    assert [each.holds for each in report.conditions] == [False, True, False, False]
    assert all(SAID in str(each) for each in report.conditions)
    assert not judged.check("unscored == 0.045", "unscored_verdicts == 0.0025").failed


def test_summaries_say_them(judged):
    summary = judged.summarize("unscored <= 2 %")
    said = json.loads(summary.to_json())
    counts = {"votes": 800, "unscored_votes": 36, "rows": 35, "unscored_verdicts": 1}
    assert counts.items() <= said["unscored"].items()
    score = next(each for each in said["findings"] if each["name"] == "true")
    assert [score["unscored"][name] for name in ("votes", "unscored_votes", "unscored_verdicts")] == [800, 36, 1]
    suite = ElementTree.fromstring(summary.to_junit())
    assert any(SAID in (each.get("value") or "") for each in suite.iter("property"))
    assert SAID in " ".join(summary.to_markdown().split())


def test_the_command_limits_votes(judged, tmp_path, capsys):
    path = tmp_path / "run.parquet"
    judged.save(path)
    assert main(["show", str(path), "--require", "unscored <= 2 %"]) == 3
    assert SAID in " ".join(capsys.readouterr().err.split())
    assert main(["show", str(path), "--require", "unscored_verdicts <= 2 %"]) == 0


def test_a_panel_hides_none():
    panel = [ScriptedJudge(half_silent, name="one"), ScriptedJudge(lambda request: "No", name="two")]
    found = evenhand.judge(ROWS, TRUE, panel, **HOW)
    assert str(found.unscored_counts) == "36 of 1,600 votes unscored (35 rows affected), 0 verdicts unscored"


def test_what_orders_disagree_on_is_no_unscored_verdict():
    first = ScriptedJudge(lambda request: request.question.criterion.labels[request.presentation.order[0]])
    found = evenhand.judge(ROWS[:4], TRUE, first, **HOW, on_position_bias="abstain")
    assert [summary.num_unscored for summary in found.summaries.values()] == [4]  # no row has a score
    assert str(found.unscored_counts) == "0 of 8 votes unscored"


def test_items_of_a_sheet_are_votes_of_their_own():
    judge = ScriptedJudge(lambda request: sheet("Yes", "unclear"))
    how = {"response_fields": "a", "mode": "batch", **QUIET}
    found = evenhand.checklist(ROWS[:3], ["Is it short?", "Is it true?"], judge, **how)
    assert str(found.unscored_counts) == "3 of 6 votes unscored (3 rows affected), 3 verdicts unscored"


def test_a_report_on_judges_counts_rows_once():
    judge = ScriptedJudge(half_silent)
    criteria = [TRUE, yes_no_criterion("clear", "Is it clear?")]
    found = evenhand.reliability(ROWS[:40], criteria, judge, **HOW, samples=1)
    assert str(found.unscored_counts) == "72 of 160 votes unscored (35 rows affected), 2 verdicts unscored"
    assert "36 of 80 votes unscored (35 rows affected), 1 verdict unscored" in " ".join(str(found).split())
