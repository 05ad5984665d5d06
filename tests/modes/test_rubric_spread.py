"""The spread of a rubric's score is that of its draws, and not the sum of its criteria's."""

import math

import pytest

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.modes.rubric import rubric_result, summarize_rubric, with_spread
from evenhand.numbers import Missing
from evenhand.results.measures import measures_of
from evenhand.votes import EarlyStop, Verdict, Vote

RUBRIC = Rubric(name="answer", criteria=(yes_no_criterion("right", "…"), yes_no_criterion("polite", "…")))
RULES = VoteRules()
YES, NO, UNSCORED = 0, 1, None


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
    return with_spread(rubric_result(verdicts, RUBRIC), RUBRIC, RULES)


def test_criteria_that_move_against_each_other_leave_the_score_where_it_is():
    found = result(drawn([YES, NO], [NO, YES]))
    assert [verdict.spread for verdict in found.verdicts] == [0.5, 0.5]
    assert (found.spread, found.draw_variance) == (0.0, 0.0)


def test_criteria_that_move_together_move_the_score():
    # draws 1, 1/2 and 0: mean 1/2, squares 1/4 + 0 + 1/4, by 3 and by 2
    found = result(drawn([YES, YES, NO], [YES, NO, NO]))
    assert found.spread == pytest.approx(math.sqrt(1 / 6))
    assert found.draw_variance == pytest.approx(1 / 4)


def test_what_length_takes_leaves_no_draw_below_0():
    # draws 1 and 0, of which length takes 1/2: 1/2 and 0, since none is below 0
    votes = drawn([YES, NO], [YES, NO])
    verdicts = [RULES.aggregate(own, criterion) for own, criterion in zip(votes, RUBRIC.criteria, strict=True)]
    found = with_spread(rubric_result(verdicts, RUBRIC, length_penalty=0.5), RUBRIC, RULES)
    assert found.spread == pytest.approx(1 / 4)
    assert found.draw_variance == pytest.approx(1 / 8)


def test_judges_are_apart_and_a_draw_that_is_not_read_whole_is_none():
    steady, torn = drawn([YES, YES], [NO, NO]), drawn([YES, NO], [YES, NO], judge="b")
    assert result(steady, torn).spread == pytest.approx((0 + 0.5) / 2)  # judges differ by nothing that is drawn
    assert result(drawn([YES, UNSCORED, NO], [YES, NO, NO])).spread == pytest.approx(0.5)  # of 1 and 0
    assert result(drawn([YES, UNSCORED], [YES, NO])).spread is None


def test_one_draw_and_draws_that_could_stop_have_no_spread():
    assert result(drawn([YES], [NO])).spread is None
    early = drawn([YES, YES], [NO, NO], early_stop=EarlyStop(planned=5, confidence=0.95))
    assert result(early).spread is None
    assert summarize_rubric([result(drawn([YES], [NO]))], RUBRIC).overall_spread == Missing(
        "nothing was drawn twice, or draws could stop early"
    )


def test_the_summary_is_the_mean_over_responses():
    found = summarize_rubric([result(drawn([YES, NO], [NO, YES])), result(drawn([YES, NO], [YES, NO]))], RUBRIC)
    assert found.overall_spread.estimate == pytest.approx(0.25)  # of 0 and 1/2
    assert found.overall_draw_deviation.estimate == pytest.approx(0.5)  # variances 0 and 1/2, mean 1/4


def test_where_much_is_unscored_the_weighted_sum_has_bounds_as_its_score_has():
    rubric = Rubric(
        name="answer", criteria=(yes_no_criterion("right", "…", weight=2), yes_no_criterion("polite", "…", weight=1))
    )
    met, unscored = Verdict(selected_index=0, value=1.0, aggregated_value=1.0), Verdict(unscored_reason="empty")
    assert rubric_result([met, unscored], rubric, length_penalty=0.25).raw_bounds == (2 - 0.25, 3 - 0.25)
    results = [rubric_result(each, rubric) for each in [[met, met]] * 3 + [[unscored, unscored]]]
    found = {each.name: each.bounds for each in measures_of(summarize_rubric(results, rubric)) if each.bounds}
    assert {name: (bounds.low, bounds.high) for name, bounds in found.items()} == {
        "": (3 / 4, 1),
        "raw_score": (9 / 4, 3),
    }
    whole = summarize_rubric(results[:3], rubric)
    assert whole.raw_unscored_bounds is None
    assert not any(each.bounds for each in measures_of(whole))
