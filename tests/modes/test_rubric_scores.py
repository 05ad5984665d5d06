"""Rubric scores of responses and of many of them, by examples whose arithmetic is done by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Criterion, Option, Rubric, yes_no_criterion
from evenhand.modes.judgements import rubric_as_judged, rubric_result, summarize_rubric
from evenhand.options import AssessmentOptions
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote

LEVELS = Criterion(
    name="clear",
    description="How clear is it?",
    weight=3,
    options=(
        Option(label="Good", value=1.0),
        Option(label="Fair", value=0.5),
        Option(label="Bad", value=0.25),
        Option(label="N/A", na=True),
    ),
)
CITES = yes_no_criterion("cites", "Does it cite a source?", weight=1, na=True)
RUDE = yes_no_criterion("rude", "Is it rude?", weight=-2)
RUBRIC = Rubric(name="answer", criteria=(LEVELS, CITES, RUDE))
GOOD, FAIR, BAD = (
    Verdict(selected_index=place, value=value, aggregated_value=value) for place, value in enumerate((1.0, 0.5, 0.25))
)
YES, NO = (Verdict(selected_index=place, value=value, aggregated_value=value) for place, value in enumerate((1.0, 0.0)))
NA = Verdict(na=True)
UNSCORED = Verdict(unscored_reason="no_match")


def test_an_unscored_criterion_is_left_out_and_bounded_by_its_worst_and_best_option():
    result = rubric_result([UNSCORED, YES, YES], RUBRIC)
    # (1 − 2) / 1 is below 0
    assert (result.score, result.raw_score) == (0.0, -1.0)
    assert result.incomplete
    # clear at Bad: (0.75 + 1 − 2) / 4 < 0; at Good: (3 + 1 − 2) / 4
    assert (result.bounds, result.raw_bounds) == ((0.0, 0.5), (0.75 + 1 - 2, 3 + 1 - 2))
    # a fault is worst where it is there: (3 + 1 − 2) / 4, and best where it is not: (3 + 1) / 4
    assert rubric_result([GOOD, YES, UNSCORED], RUBRIC).bounds == (0.5, 1.0)


def test_the_summary_by_hand():
    results = [
        rubric_result([GOOD, YES, NO], RUBRIC, length_penalty=0.25),  # 1 − 0.25
        rubric_result([FAIR, NA, NO], RUBRIC, length_penalty=0.0),  # 0.5
        rubric_result([UNSCORED, YES, NO], RUBRIC, length_penalty=0.0),  # 1, between (0.75 + 1) / 4 and 1
        rubric_result([UNSCORED, UNSCORED, UNSCORED], RUBRIC, length_penalty=0.0),
        rubric_result([MISSING_RESPONSE] * 3, RUBRIC),
    ]
    summary = summarize_rubric(results, RUBRIC)
    assert summary.score.estimate == pytest.approx((0.75 + 0.5 + 1) / 3)
    assert (summary.score.n, summary.num_instances) == (3, 5)
    assert (summary.num_unscored, summary.num_incomplete, summary.num_na) == (2, 1, 0)
    assert summary.score_if_unscored_0 == pytest.approx((0.75 + 0.5 + 1.75 / 4 + 0 + 0) / 5)
    assert summary.score_if_unscored_1 == pytest.approx((0.75 + 0.5 + 1 + 1 + 1) / 5)
    assert summary.length_penalty.estimate == pytest.approx(0.25 / 4)
    assert summary.raw_score.estimate == pytest.approx((4 - 0.25 + 1.5 + 1) / 3)


VERDICTS = st.tuples(
    st.sampled_from([GOOD, FAIR, BAD, NA, UNSCORED]),
    st.sampled_from([YES, NO, NA, UNSCORED]),
    st.sampled_from([YES, NO, NA, UNSCORED]),
)


@given(VERDICTS, st.sampled_from(["skip", "zero", "partial", "fail"]), st.floats(0, 0.5))
def test_every_way_of_filling_the_gaps_lies_within_the_bounds(verdicts, strategy, penalty):
    rubric = rubric_as_judged(RUBRIC, AssessmentOptions(auto_na_option=True, na_strategy=strategy))
    result = rubric_result(verdicts, rubric, length_penalty=penalty)
    low, high = result.bounds or (2, -1)  # without bounds no way gives a score
    assert result.bounds is None or 0 <= low <= high <= 1
    ways = [()]
    for verdict, options in zip(verdicts, ([GOOD, FAIR, BAD], [YES, NO], [YES, NO]), strict=True):
        ways = [(*way, choice) for way in ways for choice in (options if verdict is UNSCORED else [verdict])]
    for way in ways:
        filled = rubric_result(way, rubric, length_penalty=penalty)
        if filled.score is not None:
            assert low - 1e-12 <= filled.score <= high + 1e-12
            assert result.raw_bounds[0] - 1e-12 <= filled.raw_score <= result.raw_bounds[1] + 1e-12


def test_orders_that_disagree_are_averaged_and_not_rounded_to_one_of_them():
    def said(order, index):
        return Vote(judge_id="j", order=order, selected_index=index)

    split = aggregate([said((0, 1), 0), said((1, 0), 1)], CITES)
    assert split.value == 0.0  # a tie between the orders is not met
    # clear 3 · 1, cites 1 · ½, over 4; and one order says what it says
    assert rubric_result([GOOD, split, NO], RUBRIC).score == pytest.approx(3.5 / 4)
    assert rubric_result([GOOD, aggregate([said((0, 1), 0)], CITES), NO], RUBRIC).score == pytest.approx(1.0)
    # the mean of a panel's options in one order is rounded to an option, as section "judges" of aggregate() has it:
    panel = aggregate([Vote(judge_id=j, order=(0, 1, 2, 3), selected_index=i) for j, i in [("a", 0), ("b", 1)]], LEVELS)
    assert (panel.aggregated_value, panel.value) == (0.75, 0.5)
    assert rubric_result([panel, YES, NO], RUBRIC).score == pytest.approx((3 * 0.5 + 1) / 4)


POINTS = Rubric(
    name="points",
    criteria=(
        yes_no_criterion("helps", "?", weight=4),
        yes_no_criterion("explains", "?", weight=6),
        yes_no_criterion("harms", "?", weight=-20),
    ),
    clip="mean",
)


def test_points_are_clipped_at_the_mean_only():
    # (4 + 6) / 10 and (4 − 20) / 10
    results = [rubric_result(verdicts, POINTS) for verdicts in ([YES, YES, NO], [YES, NO, YES])]
    assert [result.score for result in results] == [1.0, -1.6]
    assert [result.bounds for result in results] == [(1.0, 1.0), (-1.6, -1.6)]
    summary = summarize_rubric([*results, results[0], results[0]], POINTS)
    assert summary.score.estimate == pytest.approx((3 * 1.0 - 1.6) / 4)
    assert 0 <= summary.score.low <= summary.score.estimate <= summary.score.high <= 1
    harmed = summarize_rubric(results, POINTS)  # the mean is −0.3
    assert (harmed.score.estimate, harmed.score_if_unscored_0, harmed.score_if_unscored_1) == (0.0, 0.0, 0.0)
    assert harmed.raw_score.estimate == (10 - 16) / 2
