"""Unscored votes, the rows that they affect and unscored verdicts: the same counts on every surface of every mode."""

import json
import re
from xml.etree import ElementTree

import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.votes import Vote
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


def direct(**given):
    judge = ScriptedJudge(half_silent)
    how = {"response_fields": "a", "context_fields": ["question"], "flow": "verdict_only", **QUIET, **given}
    return evenhand.judge(ROWS, yes_no_criterion("true", "Is it true?"), judge, **how)


@pytest.fixture(scope="module")
def judged():
    return direct()


def test_the_counts_of_the_issue(judged):
    counts = judged.unscored_counts
    assert str(counts) == SAID
    assert (counts.votes, counts.unscored_votes, counts.rows) == (800, 36, 35)
    assert (counts.verdicts, counts.unscored_verdicts) == (400, 1)


def test_the_page_says_votes_rows_and_verdicts(judged, tmp_path):
    judged.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count(SAID) >= 3  # in the facts, the cautions and with the score
    assert "unread" not in page


def test_the_terminal_says_them(judged):
    assert SAID in " ".join(str(judged).split())


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
    assert [said["unscored"][name] for name in ("votes", "unscored_votes", "rows", "unscored_verdicts")] == [
        800,
        36,
        35,
        1,
    ]
    score = next(each for each in said["findings"] if each["name"] == "true")
    assert [score["unscored"][name] for name in ("votes", "unscored_votes", "unscored_verdicts")] == [800, 36, 1]
    suite = ElementTree.fromstring(summary.to_junit())
    assert any(SAID in (each.get("value") or "") for each in suite.iter("property"))
    assert SAID in " ".join(summary.to_markdown().split())


def test_the_command_limits_votes(tmp_path, capsys):
    path = tmp_path / "run.parquet"
    direct().save(path)
    assert main(["show", str(path), "--require", "unscored <= 2 %"]) == 3
    assert SAID in " ".join(capsys.readouterr().err.split())
    assert main(["show", str(path), "--require", "unscored_verdicts <= 2 %"]) == 0


def test_a_part_of_the_rows_has_its_own_counts(judged):
    assert str(judged.filter(instance=list(range(3)))) != str(judged)
    assert str(judged.filter(instance=[0, 1, 2]).unscored_counts) == (
        "4 of 6 votes unscored (3 rows affected), 1 verdict unscored"
    )
    assert [view.instance for view in judged.unscored()] == [0]
    assert len(judged.unscored("refusal")) == 35


def test_rules_do_not_change_what_is_unscored(judged):
    assert judged.rescore(on_position_bias="abstain").unscored_counts == judged.unscored_counts


def test_a_panel_hides_none():
    panel = [ScriptedJudge(half_silent, name="one"), ScriptedJudge(lambda request: "No", name="two")]
    given = {"response_fields": "a", "context_fields": ["question"], "flow": "verdict_only", **QUIET}
    found = evenhand.judge(ROWS, yes_no_criterion("true", "Is it true?"), panel, **given)
    assert str(found.unscored_counts) == "36 of 1,600 votes unscored (35 rows affected), 0 verdicts unscored"


def test_what_orders_disagree_on_is_no_unscored_verdict():
    first = ScriptedJudge(lambda request: request.question.criterion.labels[request.presentation.order[0]])
    how = {"response_fields": "a", "flow": "verdict_only", "on_position_bias": "abstain", **QUIET}
    found = evenhand.judge(ROWS[:4], yes_no_criterion("true", "Is it true?"), first, **how)
    assert [summary.num_unscored for summary in found.summaries.values()] == [4]  # no row has a score
    assert str(found.unscored_counts) == "0 of 8 votes unscored"


RUBRIC = Rubric(name="both", criteria=(yes_no_criterion("clear", "Is it clear?"), yes_no_criterion("true", "Is it?")))
FAULTY = {"refusal_rate": 0.2, "garbage_rate": 0.1, "noise": 0.3, "recovery_rate": 0.0}


def judges(*names):
    return [SimulatedEngine(name=name, seed=place, **FAULTY) for place, name in enumerate(names)]


SIMULATED = [{"question": f"question {row}", "a": f"answer {row}", "b": f"other {row}", "c": ""} for row in range(12)]
BETTER = "criteria.evenhand.pairwise.overall_quality"
RECORDED = [{"x": 1, "y": None}, {"x": 0, "y": 0}, {"x": None, "y": None}]
KINDS = {
    "direct": lambda: evenhand.judge(SIMULATED, RUBRIC.criteria[0], judges("one"), response_fields=["a", "b"], **QUIET),
    "panel": lambda: evenhand.judge(SIMULATED, RUBRIC, judges("one", "two"), response_fields="a", samples=3, **QUIET),
    "sheet": lambda: evenhand.judge(SIMULATED, RUBRIC, judges("one"), response_fields="a", calls="per_item", **QUIET),
    "stopped early": lambda: evenhand.judge(
        SIMULATED, RUBRIC.criteria[0], judges("one"), response_fields="a", samples=5, stop_early=True, **QUIET
    ),
    "checklist": lambda: evenhand.checklist(
        SIMULATED, ["Is it short?", "Is it true?"], judges("one"), response_fields=["a", "b"], **QUIET
    ),
    "winrates": lambda: evenhand.winrates(SIMULATED, BETTER, judges("one"), response_fields=["a", "b", "c"], **QUIET),
    "best of": lambda: evenhand.run_mode(
        SIMULATED, "best_of", judges("one"), response_fields=["a", "b", "c"], criteria=BETTER, **QUIET
    ),
    "grade scores": lambda: evenhand.grade_scores(
        SIMULATED, BETTER, judges("one", "two"), response_fields=["a", "b", "c"], **QUIET
    ),
    "recorded": lambda: evenhand.aggregate_votes(RECORDED, ["x", "y"]),
    "agreement": lambda: evenhand.agreement(RECORDED, ["x", "y"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_mode_counts_its_votes(kind, tmp_path):
    found = KINDS[kind]()
    cells = list(found.cells())
    silent = [(cell, vote) for cell in cells for vote in cell.votes if vote.selected_index is None and not vote.na]
    counts = found.unscored_counts
    assert (counts.votes, counts.unscored_votes) == (sum(len(cell.votes) for cell in cells), len(silent))
    assert 0 < len(silent) < counts.votes
    assert counts.rows == len({cell.about["instance"] for cell, _ in silent})
    assert counts.verdicts == len(cells)
    assert counts.unscored_verdicts == sum(all(map(is_silent, cell.votes)) for cell in cells)
    shares = {each.name: each.value for each in found.findings() if not each.of}
    assert shares["unscored"] == len(silent) / counts.votes
    if kind != "agreement":
        assert str(counts) in " ".join(str(found).split())
    path = tmp_path / "run.parquet"
    found.save(path)
    assert evenhand.open(path).unscored_counts == counts
    views = list(found.verdict_views())
    assert sum(vote.unscored for view in views for vote in view.votes) == counts.unscored_votes
    assert sum(view.unscored for view in views) == counts.unscored_verdicts
    if found.kind in {"judgements", "checklist", "winrates"}:
        by_system = [each for each in found.findings() if each.name == "unscored" and each.of]
        assert by_system == [] or max(each.unscored.votes for each in by_system) <= counts.votes


def is_silent(vote: Vote):
    return vote.selected_index is None and not vote.na


def test_items_of_a_sheet_are_votes_of_their_own():
    judge = ScriptedJudge(lambda request: sheet("Yes", "unclear"))
    found = evenhand.checklist(
        SIMULATED[:3], ["Is it short?", "Is it true?"], judge, response_fields="a", mode="batch", **QUIET
    )
    assert str(found.unscored_counts) == "3 of 6 votes unscored (3 rows affected), 3 verdicts unscored"


def test_a_report_on_judges_counts_rows_once():
    judge = ScriptedJudge(half_silent)
    criteria = [yes_no_criterion("true", "Is it true?"), yes_no_criterion("clear", "Is it clear?")]
    how = {"response_fields": "a", "context_fields": ["question"], "flow": "verdict_only", "samples": 1, **QUIET}
    found = evenhand.reliability(ROWS[:40], criteria, judge, **how)
    assert str(found.unscored_counts) == "72 of 160 votes unscored (35 rows affected), 2 verdicts unscored"
    assert "36 of 80 votes unscored (35 rows affected), 1 verdict unscored" in " ".join(str(found).split())
