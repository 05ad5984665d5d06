"""The report of a run: where there is one, and how many draws it was to have."""

from evenhand.aggregation.verdict import VoteRules, aggregate
from evenhand.criteria import yes_no_criterion
from evenhand.judge_reliability.panel_report import panel_report, report_of_run
from evenhand.votes import MISSING_RESPONSE
from tests.aggregation.builders import draws, panel

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
    assert report == panel_report(verdicts, MET, samples=3, level=0.9, seed=4)
    assert report_of_run([MISSING_RESPONSE], MET, VoteRules(), samples=3).num_planned == 0
