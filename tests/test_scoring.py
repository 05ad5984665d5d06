"""Summaries of verdicts, by examples whose arithmetic is done by hand."""

import math

import pytest

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Criterion, Option, with_na_option
from evenhand.numbers import Missing
from evenhand.scoring import summarize
from evenhand.votes import Vote
from tests.support.questions import LEVELS as THREE_LEVELS

LEVELS = with_na_option(THREE_LEVELS)
GIVEN, REVERSED = (0, 1, 2, 3), (3, 2, 1, 0)


def vote(label=None, order=GIVEN, *, reason=None, sample=0, judge="j"):
    given = {"judge_id": judge, "order": order, "sample": sample}
    if label is None:
        return Vote(**given, unscored_reason=reason)
    return Vote(**given, selected_index=LEVELS.index_of(label), selected_label=label, na=label == "N/A")


def verdict(*votes):
    return aggregate(votes, LEVELS)


def both(first, second):
    return verdict(vote(first), vote(second, REVERSED))


def test_six_instances_by_hand():
    verdicts = [
        both("High", "High"),  # 1
        both("High", "Mid"),  # (1 + 0.5) / 2 = 0.75, a flip
        both("Low", "Low"),  # 0
        verdict(vote("High"), vote(None, REVERSED, reason="no_match")),  # 1, one order only: no flip to speak of
        verdict(vote(None, reason="refusal"), vote(None, REVERSED, reason="engine_error")),  # unscored
        both("N/A", "N/A"),  # not applicable
    ]
    summary = summarize(verdicts)
    assert (summary.num_instances, summary.num_unscored, summary.num_na) == (6, 1, 1)
    assert summary.score.estimate == pytest.approx((1 + 0.75 + 0 + 1) / 4)
    assert summary.score.n == 4
    # the fourth's missing order at 0 makes it 0.5, at 1 it stays 1; the fifth is 0 or 1
    assert summary.score_if_unscored_0 == pytest.approx((1 + 0.75 + 0 + 0.5 + 0) / 5)
    assert summary.score_if_unscored_1 == pytest.approx((1 + 0.75 + 0 + 1 + 1) / 5)
    # shown in two orders and answered in both: instances 1, 2, 3 and 6; one of them disagrees
    assert summary.positional_bias.estimate == pytest.approx(1 / 4)
    # 12 votes, one without a reply (engine_error): of 11 replies 9 named an option
    assert summary.parse_rate.estimate == pytest.approx(9 / 11)
    assert dict(summary.unscored_counts.reasons) == {"engine_error": 1, "no_match": 1, "refusal": 1}


def test_a_clean_run_and_what_it_cannot_say():
    summary = summarize([verdict(vote("High")), verdict(vote("Low"))])
    assert (summary.score.estimate, summary.parse_rate.estimate) == (0.5, 1.0)
    assert summary.score_if_unscored_0 == summary.score_if_unscored_1 == 0.5
    assert summary.unscored_counts.reasons == {}
    # no instance was shown in two orders, has more than one vote, or was drawn twice
    for missing in (summary.positional_bias, summary.agreement, summary.spread, summarize([]).score):
        assert isinstance(missing, Missing)


def test_a_run_in_which_nothing_could_be_read():
    summary = summarize([verdict(vote(None, reason="empty")), verdict(vote(None, reason="no_match"))])
    assert isinstance(summary.score, Missing)
    assert (summary.score_if_unscored_0, summary.score_if_unscored_1) == (0.0, 1.0)
    assert summary.num_unscored == 2
    assert summary.parse_rate.estimate == 0.0


@pytest.mark.parametrize("given", [(0, None), (None, None), (0, 0)])
def test_without_values_there_is_no_score_to_bound(given):
    options = (Option(label="art"), Option(label="news"))
    topic = Criterion(name="topic", description="", options=options, scale="nominal")
    cast = {None: {"unscored_reason": "refusal"}, 0: {"selected_index": 0}}
    verdicts = [aggregate([Vote(judge_id="j", order=(0, 1), **cast[each])], topic) for each in given]
    summary = summarize(verdicts, topic.limits)
    for number in (summary.score, summary.score_if_unscored_0, summary.score_if_unscored_1):
        assert isinstance(number, Missing)
    assert summary.unscored_bounds is None
    # with rows of a criterion that has values, the bounds are those of these rows
    mixed = summarize([*verdicts, verdict(vote("High"))], [topic.limits] * len(verdicts) + [LEVELS.limits])
    assert (mixed.score.estimate, mixed.score_if_unscored_0, mixed.score_if_unscored_1) == (1.0, 1.0, 1.0)


def test_where_the_criterion_never_applies_there_is_no_score_and_nothing_is_unscored():
    summary = summarize([verdict(vote("N/A"))] * 3)
    assert (summary.num_na, summary.num_unscored) == (3, 0)
    missing = (summary.score, summary.score_if_unscored_0, summary.score_if_unscored_1)
    assert all(isinstance(each, Missing) for each in missing)
    assert summary.parse_rate.estimate == 1.0


def test_a_vote_that_was_not_read_beside_one_for_na_widens_the_bounds():
    beside = verdict(vote("N/A"), vote(reason="no_match", judge="k"))
    summary = summarize([verdict(vote("Mid")), beside])
    assert (summary.num_na, summary.score.estimate) == (1, 0.5)
    # had k said Low or High, the second instance would have had that score
    assert (summary.score_if_unscored_0, summary.score_if_unscored_1) == ((0.5 + 0) / 2, (0.5 + 1) / 2)


def test_agreement_counts_the_unscored_votes_and_only_panels():
    verdicts = [
        verdict(vote("High", judge="a"), vote("High", judge="b"), vote(None, judge="c", reason="empty")),  # 2 of 3
        verdict(vote("Mid")),  # one vote agrees with itself: not counted
    ]
    assert summarize(verdicts).agreement.estimate == pytest.approx(2 / 3)


def test_the_spread_is_that_of_repeated_draws():
    # High, High, Low: mean 2/3, population variance (2·(1/3)² + (2/3)²)/3 = 2/9; an unvaried instance has 0
    varied = verdict(vote("High"), vote("High", sample=1), vote("Low", sample=2))
    same = verdict(vote("Mid"), vote("Mid", sample=1))
    assert summarize([varied, same]).spread.estimate == pytest.approx(math.sqrt(2 / 9) / 2)
