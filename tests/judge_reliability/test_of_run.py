"""The report of a run: where there is one, and how many draws it was to have."""

import pytest

from evenhand.aggregation.verdict import VoteRules, aggregate
from evenhand.criteria import yes_no_criterion
from evenhand.judge_reliability.panel_report import panel_report, planned_votes, report_of_run
from evenhand.votes import MISSING_RESPONSE, Verdict
from tests.aggregation.builders import draws, panel, vote

MET = yes_no_criterion("met", "Is it met?")


def verdict_of(votes):
    return aggregate(votes, MET)


def test_one_judge_asked_once_has_no_report():
    assert report_of_run([verdict_of(panel(0)), MISSING_RESPONSE], MET, VoteRules(), samples=1) is None
    assert report_of_run([MISSING_RESPONSE], MET, VoteRules(), samples=1) is None


def test_several_judges_or_draws_have_one():
    of_panel = report_of_run([verdict_of(panel(0, 1))], MET, VoteRules(), samples=1)
    assert [judge.judge_id for judge in of_panel.judges] == ["j0", "j1"]
    verdicts = [verdict_of(draws(0, 0, 1)), verdict_of(draws(0, 0))]
    report = report_of_run(verdicts, MET, VoteRules(), samples=3, level=0.9, seed=4)
    assert (report.num_votes, report.num_planned, report.num_left_out) == (5, 6, 1)
    assert (report.level, report.seed) == (0.9, 4)
    assert report == panel_report(verdicts, MET, planned_votes=6, level=0.9, seed=4)
    assert report_of_run([MISSING_RESPONSE], MET, VoteRules(), samples=3).num_planned == 0


def test_every_order_of_every_judge_was_to_be_drawn_as_often():
    votes = [vote(judge, 0, order=order) for judge in "ab" for order in [(0, 1), (1, 0)]]
    assert planned_votes([Verdict(votes=tuple(votes))] * 2, 5) == 2 * 2 * 2 * 5


@pytest.mark.parametrize(("samples", "planned"), [(1, 3), (2, 4)])
def test_an_order_that_was_shown_again_is_another_one(samples, planned):
    """A question with fewer orders than its sheet begins again, and the draws are numbered on."""
    votes = [vote("a", 0, order=(0, 1), sample=sample) for sample in range(3)]
    assert planned_votes([Verdict(votes=tuple(votes))], samples) == planned
