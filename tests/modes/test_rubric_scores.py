"""Rubric scores of responses and of many of them, by examples whose arithmetic is done by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.rubric_score import LengthPenalty
from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Criterion, Option, Rubric, Section, yes_no_criterion
from evenhand.errors import InvalidCriterionError, InvalidInputError, UnknownRuleError
from evenhand.modes.rubric import length_penalty_of, rubric_as_judged, rubric_result, summarize_rubric
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


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("skip", (3 * 0.5 - 2 * 0) / 3),  # cites is left out of both sums
        ("zero", 3 * 0.5 / 4),
        ("partial", (3 * 0.5 + 1 * 0.5) / 4),
        ("fail", 3 * 0.5 / 4),  # its worst option is No
    ],
)
def test_the_na_strategies(strategy, expected):
    result = rubric_result([FAIR, NA, NO], rubric_as_judged(RUBRIC, na_strategy=strategy))
    assert result.score == pytest.approx(expected)
    assert result.bounds == pytest.approx((expected, expected))
    assert result.unpenalized.na == ("cites",)


def test_a_fault_that_does_not_apply_fails_at_its_worst():
    rubric = rubric_as_judged(RUBRIC, na_strategy="fail")
    # clear 3·1, cites 1·1, rude at Yes: −2·1; over 3 + 1
    assert rubric_result([GOOD, YES, NA], rubric).score == pytest.approx((3 + 1 - 2) / 4)


def test_an_unscored_criterion_is_left_out_and_bounded_by_its_worst_and_best_option():
    result = rubric_result([UNSCORED, YES, YES], RUBRIC)
    # (1 − 2) / 1 is below 0
    assert (result.score, result.raw_score) == (0.0, -1.0)
    assert result.incomplete
    # clear at Bad: (0.75 + 1 − 2) / 4 < 0; at Good: (3 + 1 − 2) / 4
    assert result.bounds == (0.0, 0.5)
    # a fault is worst where it is there: (3 + 1 − 2) / 4, and best where it is not: (3 + 1) / 4
    assert rubric_result([GOOD, YES, UNSCORED], RUBRIC).bounds == (0.5, 1.0)


def test_votes_that_were_not_read_bound_a_scored_criterion_too():
    votes = [Vote(judge_id=judge, order=(0, 1, 2, 3), selected_index=index) for judge, index in [("a", 0), ("b", 1)]]
    lost = Vote(judge_id="c", order=(0, 1, 2, 3), unscored_reason="empty")
    verdict = aggregate([*votes, lost], LEVELS)
    # the mean of 1 and ½ is ¾, which ties to the worse option: Fair
    assert verdict.value == 0.5
    result = rubric_result([verdict, YES, NO], RUBRIC)
    assert result.score == pytest.approx((3 * 0.5 + 1) / 4)
    # with ¼: 7/12, nearest to ½; with 1: 5/6, nearest to 1
    assert result.bounds == pytest.approx(((3 * 0.5 + 1) / 4, 1.0))
    expected = rubric_result([verdict, YES, NO], RUBRIC, expected=True)
    assert expected.score == pytest.approx((3 * 0.75 + 1) / 4)
    assert expected.bounds == pytest.approx(((3 * 7 / 12 + 1) / 4, (3 * 5 / 6 + 1) / 4))


def test_nothing_read_and_nothing_applicable_are_different():
    unscored, beside, missing = (
        rubric_result(verdicts, RUBRIC) for verdicts in ([UNSCORED] * 3, [NA, NA, UNSCORED], [MISSING_RESPONSE] * 3)
    )
    assert (unscored.score, unscored.unscored_reason, unscored.bounds) == (None, "no_match", (0.0, 1.0))
    assert beside.unscored_reason == "no_match"
    assert (missing.unscored_reason, missing.bounds) == ("missing_response", (0.0, 1.0))
    rubric = Rubric(name="r", criteria=(LEVELS, CITES))
    apart = rubric_result([NA, NA], rubric)
    assert (apart.score, apart.unscored_reason, apart.bounds, apart.na) == (None, None, None, True)


def test_a_vote_that_was_not_read_beside_one_for_na_could_have_made_the_criterion_apply():
    not_applicable = Vote(judge_id="a", order=(0, 1, 2), selected_index=2, selected_label="N/A", na=True)
    unscored = Vote(judge_id="b", order=(0, 1, 2), unscored_reason="no_match")
    beside = aggregate([not_applicable, unscored], CITES)
    result = rubric_result([FAIR, beside, NO], RUBRIC)
    # as it is, cites is left out; had b said No or Yes, cites would be No or Yes
    assert result.score == pytest.approx(1.5 / 3)
    assert result.bounds == pytest.approx(((1.5 + 0) / 4, (1.5 + 1) / 4))
    alone = rubric_result([beside], Rubric(name="r", criteria=(CITES,)))
    assert (alone.score, alone.na, alone.bounds) == (None, True, (0.0, 1.0))


def test_a_criterion_without_values_has_no_part_in_score_and_bounds():
    kind = Criterion(name="kind", description="?", options=(Option(label="a"), Option(label="b")), scale="nominal")
    rubric = Rubric(name="r", criteria=(CITES, kind))
    chosen = Verdict(selected_index=0, selected_label="a", unscored_reason="no_value")
    result = rubric_result([YES, chosen], rubric)
    assert (result.score, result.bounds, result.unpenalized.unscored) == (1.0, (1.0, 1.0), ("kind",))
    assert (result.incomplete, rubric_result([YES, UNSCORED], rubric).incomplete) == (False, True)
    assert summarize_rubric([result], rubric).num_incomplete == 0


def test_the_length_penalty_is_taken_off_and_never_below_nothing():
    result = rubric_result([FAIR, YES, NO], RUBRIC, length_penalty=0.125)
    assert result.score == pytest.approx((1.5 + 1) / 4 - 0.125)
    assert result.raw_score == pytest.approx(2.5 - 0.125)
    harsh = rubric_result([BAD, NO, YES], RUBRIC, length_penalty=0.5)
    assert (harsh.score, harsh.raw_score) == (0.0, pytest.approx(0.75 - 2 - 0.5))


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
    assert summary.criteria["clear"].score.estimate == pytest.approx(0.75)
    assert summary.criteria["clear"].num_unscored == 3


VERDICTS = st.tuples(
    st.sampled_from([GOOD, FAIR, BAD, NA, UNSCORED]),
    st.sampled_from([YES, NO, NA, UNSCORED]),
    st.sampled_from([YES, NO, NA, UNSCORED]),
)


@given(VERDICTS, st.sampled_from(["skip", "zero", "partial", "fail"]), st.floats(0, 0.5))
def test_every_way_of_filling_the_gaps_lies_within_the_bounds(verdicts, strategy, penalty):
    rubric = rubric_as_judged(RUBRIC, na_strategy=strategy)
    result = rubric_result(verdicts, rubric, length_penalty=penalty)
    if result.na:
        return
    low, high = result.bounds
    assert 0 <= low <= high <= 1
    ways = [()]
    for verdict, options in zip(verdicts, ([GOOD, FAIR, BAD], [YES, NO], [YES, NO]), strict=True):
        ways = [(*way, choice) for way in ways for choice in (options if verdict is UNSCORED else [verdict])]
    for way in ways:
        filled = rubric_result(way, rubric, length_penalty=penalty)
        if filled.score is not None:
            assert low - 1e-12 <= filled.score <= high + 1e-12


def test_na_options_are_offered_where_there_is_none():
    judged = rubric_as_judged(RUBRIC)
    assert [criterion.labels[-1] for criterion in judged.criteria] == ["N/A"] * 3
    assert judged.criteria[:2] == RUBRIC.criteria[:2]
    assert rubric_as_judged(RUBRIC, auto_na_option=False) == RUBRIC


def test_wrong_settings_of_a_rubric():
    with pytest.raises(UnknownRuleError, match=r"na_strategy is 'skipp'.*Did you mean 'skip'"):
        rubric_as_judged(RUBRIC, na_strategy="skipp")
    with pytest.raises(InvalidCriterionError, match="na_partial 2"):
        rubric_as_judged(RUBRIC, na_partial=2)
    with pytest.raises(InvalidInputError, match="na_partial is '1'"):
        rubric_as_judged(RUBRIC, na_partial="1")


def test_a_length_penalty_from_its_fields():
    assert length_penalty_of(None) is None
    penalty = length_penalty_of({"free_budget": 10, "max_cap": 20})
    assert penalty == length_penalty_of(penalty) == LengthPenalty(free_budget=10, max_cap=20)
    for given_, message in [
        ({"free_bugdet": 10}, "no field 'free_bugdet'. Did you mean 'free_budget'"),
        ({"max_cap": "20"}, "max_cap='20'; it is a number"),
        ({"sections": "thinking"}, "no part is known to be thinking"),
        (0.5, "length_penalty is 0.5; give its fields"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            length_penalty_of(given_)


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


def test_unscored_points_have_bounds_below_0():
    result = rubric_result([YES, UNSCORED, UNSCORED], POINTS)
    # 4 / 4 of what was read; (4 − 20) / 10 at worst and (4 + 6) / 10 at best
    assert (result.score, result.bounds) == (1.0, (-1.6, 1.0))
    summary = summarize_rubric([result] * 4, POINTS)
    assert (summary.score.estimate, summary.score_if_unscored_0, summary.score_if_unscored_1) == (1.0, 0.0, 1.0)
    assert (summary.unscored_bounds.low, summary.unscored_bounds.high) == (0.0, 1.0)


def test_a_penalty_takes_points_below_0():
    assert rubric_result([NO, NO, NO], POINTS, length_penalty=0.25).score == -0.25


def test_a_rubric_is_judged_as_a_tree_and_clipped_as_it_was_written():
    sections = (Section(name="facts", weight=2),)
    criteria = (CITES.model_copy(update={"section": "facts"}), LEVELS)
    nested = Rubric(name="answer", criteria=criteria, sections=sections)
    assert rubric_as_judged(nested, na_strategy="fail").sections == sections
    assert rubric_as_judged(POINTS).clip == "mean"
    # facts 1, of weight 2; clear ½, of weight 3
    assert rubric_result([YES, FAIR], rubric_as_judged(nested)).score == pytest.approx((2 + 1.5) / 5)


def test_responses_with_rubrics_of_their_own_have_one_mean():
    other = Rubric(name="other", criteria=(RUDE.model_copy(update={"weight": 3}),), clip="mean")
    results = [rubric_result([YES, NO, NO], POINTS), rubric_result([YES], other)]
    summary = summarize_rubric(results, POINTS, other)
    assert (summary.score.estimate, summary.raw_score.estimate) == (pytest.approx(0.7), pytest.approx(3.5))
    assert (dict(summary.criteria), summary.num_instances) == ({}, 2)
    with pytest.raises(InvalidInputError, match="judge the rows with the one and with the other apart"):
        summarize_rubric(results, POINTS, RUBRIC)
