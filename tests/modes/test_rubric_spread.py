"""The spread of a rubric's score is that of its draws, and not the sum of its criteria's."""

import math

import pytest

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.modes.judgements import rubric_result, summarize_rubric
from evenhand.numbers import Missing
from evenhand.votes import Vote

RUBRIC = Rubric(name="answer", criteria=(yes_no_criterion("right", "…"), yes_no_criterion("polite", "…")))
RULES = VoteRules()
YES, NO = 0, 1


def drawn(*criteria, judge="a", **about):
    """The votes on each criterion, one a draw."""
    return [
        [
            Vote(judge_id=judge, order=(0, 1), sample=sample, **about, unscored_reason="empty")
            if index is None
            else Vote(judge_id=judge, order=(0, 1), sample=sample, selected_index=index, value=1.0 - index, **about)
            for sample, index in enumerate(draws)
        ]
        for draws in criteria
    ]


def result(*votes):
    cast = [[vote for part in own for vote in part] for own in zip(*votes, strict=True)]
    verdicts = [RULES.aggregate(own, criterion) for own, criterion in zip(cast, RUBRIC.criteria, strict=True)]
    return rubric_result(verdicts, RUBRIC)


def test_criteria_that_move_against_each_other_leave_the_score_where_it_is():
    found = result(drawn([YES, NO], [NO, YES]))
    assert [verdict.spread for verdict in found.verdicts] == [0.5, 0.5]
    assert found.spread == 0.0


def test_criteria_that_move_together_move_the_score():
    # draws 1, 1/2 and 0: mean 1/2, squares 1/4 + 0 + 1/4, by 3
    found = result(drawn([YES, YES, NO], [YES, NO, NO]))
    assert found.spread == pytest.approx(math.sqrt(1 / 6))


def test_one_draw_and_draws_that_could_stop_have_no_spread():
    assert result(drawn([YES], [NO])).spread is None
    early = drawn([YES, YES], [NO, NO], draws_planned=5)
    assert result(early).spread is None
    assert summarize_rubric([result(drawn([YES], [NO]))], RUBRIC).spread == Missing(
        "nothing was drawn twice, or draws could stop early"
    )


def test_the_summary_is_the_mean_over_responses():
    found = summarize_rubric([result(drawn([YES, NO], [NO, YES])), result(drawn([YES, NO], [YES, NO]))], RUBRIC)
    assert found.spread.estimate == pytest.approx(0.25)  # of 0 and 1/2
