"""Hand-worked rubric scores. The rubric of most tests: a 10, b 5, fault -5."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.scores import rubric_score
from evenhand.criteria import Rubric, Section, yes_no_criterion
from evenhand.votes import Verdict
from tests.aggregation.builders import criterion_of

MET = Verdict(selected_index=0, value=1.0, aggregated_value=1.0)
UNMET = Verdict(selected_index=1, value=0.0, aggregated_value=0.0)
NA = Verdict(na=True)
FAILED = Verdict(unscored_reason="engine_error")
REFUSED = Verdict(unscored_reason="refusal")


def rubric(*weights, **options):
    criteria = tuple(yes_no_criterion(f"c{place}", "", weight=weight) for place, weight in enumerate(weights))
    return Rubric(name="r", criteria=criteria, **options)


MIXED = rubric(10, 5, -5)


@pytest.mark.parametrize(
    ("verdicts", "raw", "score"),
    [
        ((MET, MET, UNMET), 15, 1.0),
        ((MET, UNMET, UNMET), 10, 10 / 15),
        ((MET, UNMET, MET), 5, 5 / 15),
        ((UNMET, UNMET, MET), -5, 0.0),  # -5 / 15, clamped
    ],
)
def test_mixed_weights(verdicts, raw, score):
    result = rubric_score(verdicts, MIXED)
    assert (result.raw_score, result.score) == (raw, pytest.approx(score))
    assert result.unscored_reason is None


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [((UNMET, UNMET), 1.0), ((MET, UNMET), 1 - 10 / 15), ((MET, MET), 0.0)],
)
def test_only_negative_weights_count_down_from_one(verdicts, score):
    result = rubric_score(verdicts, rubric(-10, -5))
    assert result.score == pytest.approx(score)


def test_the_form_depends_on_the_rubric_as_written():
    # the only positive criterion does not apply; counting down from 1 would call this perfect
    result = rubric_score([NA, UNMET], rubric(10, -5))
    assert (result.score, result.raw_score, result.unscored_reason) == (None, 0.0, "no_value")
    assert result.counted == ("c1",)


@pytest.mark.parametrize(
    ("strategy", "raw", "score"),
    [
        ("skip", 10, 1.0),  # 10 / 10
        ("zero", 10, 10 / 15),
        ("partial", 12.5, 12.5 / 15),  # 10 + 5 · ½
        ("fail", 5, 5 / 15),  # b at its worst, 0, and the fault at its worst, 1: 10 - 5
    ],
)
def test_na_strategies(strategy, raw, score):
    result = rubric_score([MET, NA, NA], rubric(10, 5, -5, na_strategy=strategy))
    assert (result.raw_score, result.score) == (pytest.approx(raw), pytest.approx(score))


def test_fail_takes_the_worst_value_that_the_criterion_has():
    # options .2 .6 .8: the lowest for a weight of 4, the highest for -4
    for weight, score in ((4, 0.2), (-4, 1 - 0.8)):
        criterion = criterion_of([0.2, 0.6, 0.8], weight=weight)
        graded = Rubric(name="r", criteria=(criterion,), na_strategy="fail")
        assert rubric_score([NA], graded).score == pytest.approx(score)
    bare = Rubric(name="r", criteria=(criterion_of([None, None]),), na_strategy="fail")
    assert rubric_score([NA], bare).score is None


@pytest.mark.parametrize("strategy", ["skip", "zero", "partial", "fail"])
def test_an_unscored_verdict_is_left_out_under_every_strategy(strategy):
    result = rubric_score([MET, FAILED], rubric(10, 5, na_strategy=strategy))
    assert (result.score, result.counted) == (1.0, ("c0",))


def test_nothing_scored_is_unscored_with_the_most_frequent_reason():
    result = rubric_score([FAILED, REFUSED, REFUSED], MIXED)
    assert (result.score, result.raw_score, result.unscored_reason) == (None, None, "refusal")
    assert rubric_score([REFUSED, FAILED, NA], MIXED).unscored_reason == "engine_error"  # the more severe of two
    assert rubric_score([NA, NA, FAILED], MIXED).unscored_reason == "engine_error"


def test_the_value_of_the_option_selected_counts_not_the_number_before_it():
    verdict = Verdict(selected_index=1, value=0.25, aggregated_value=0.375)
    assert rubric_score([verdict], Rubric(name="r", criteria=(criterion_of([0, 0.25, 1]),))).score == 0.25


WEIGHTS = st.lists(st.integers(-10, 10).filter(bool), min_size=1, max_size=5)


@given(WEIGHTS, st.data())
def test_the_score_lies_in_the_unit_interval_and_scaling_the_weights_changes_nothing(weights, data):
    verdicts = data.draw(
        st.lists(st.sampled_from([MET, UNMET, NA, FAILED]), min_size=len(weights), max_size=len(weights))
    )
    strategy = data.draw(st.sampled_from(["skip", "zero", "partial", "fail"]))
    score = rubric_score(verdicts, rubric(*weights, na_strategy=strategy)).score
    scaled = rubric_score(verdicts, rubric(*[4 * weight for weight in weights], na_strategy=strategy)).score
    assert scaled == pytest.approx(score)
    assert score is None or 0 <= score <= 1


#   paper = (3 · method + 1 · text) / 4, method = (2 · a + 2 · deep) / 4, deep = b
NESTED = Rubric(
    name="paper",
    sections=(Section(name="method", weight=3), Section(name="deep", weight=2, within="method")),
    criteria=(
        yes_no_criterion("a", "", weight=2).model_copy(update={"section": "method"}),
        yes_no_criterion("b", "", weight=7).model_copy(update={"section": "deep"}),
        yes_no_criterion("text", ""),
    ),
)


@pytest.mark.parametrize(
    ("verdicts", "strategy", "score", "sections"),
    [
        ((MET, UNMET, MET), "skip", (3 * 0.5 + 1) / 4, {"method": 0.5, "deep": 0.0}),
        ((MET, FAILED, UNMET), "skip", 0.75, {"method": 1.0, "deep": None}),  # deep is left out of method
        ((FAILED, FAILED, MET), "skip", 1.0, {"method": None, "deep": None}),
        ((MET, NA, UNMET), "skip", 0.75, {"method": 1.0, "deep": None}),
        ((MET, NA, UNMET), "zero", 3 * 0.5 / 4, {"method": 0.5, "deep": 0.0}),
        ((MET, NA, UNMET), "partial", 3 * 0.75 / 4, {"method": 0.75, "deep": 0.5}),
        ((MET, NA, UNMET), "fail", 3 * 0.5 / 4, {"method": 0.5, "deep": 0.0}),
        ((FAILED, FAILED, FAILED), "skip", None, {"method": None, "deep": None}),
    ],
)
def test_what_is_absent_is_left_out_of_the_section_that_holds_it(verdicts, strategy, score, sections):
    result = rubric_score(verdicts, NESTED.model_copy(update={"na_strategy": strategy}))
    assert (result.score, dict(result.sections)) == (score, sections)
