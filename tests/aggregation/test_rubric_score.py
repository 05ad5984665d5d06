"""Hand-worked rubric scores. The rubric of most tests: a 10, b 5, fault -5."""

import dataclasses
import math
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.rubric_score import LengthPenalty, RubricRange, rubric_range, rubric_score
from evenhand.criteria import Rubric, Section, yes_no_criterion
from evenhand.errors import InvalidInputError, UnknownRuleError
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
    assert (result.negative_only, result.unscored_reason) == (False, None)


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [((UNMET, UNMET), 1.0), ((MET, UNMET), 1 - 10 / 15), ((MET, MET), 0.0)],
)
def test_only_negative_weights_count_down_from_one(verdicts, score):
    result = rubric_score(verdicts, rubric(-10, -5))
    assert (result.score, result.negative_only) == (pytest.approx(score), True)


def test_the_form_depends_on_the_rubric_as_written():
    # the only positive criterion does not apply; counting down from 1 would call this perfect
    result = rubric_score([NA, UNMET], rubric(10, -5))
    assert (result.score, result.raw_score, result.unscored_reason) == (None, 0.0, "no_value")
    assert (result.counted, result.na, result.negative_only) == (("c1",), ("c0",), False)


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
    assert result.na == ("c1", "c2")
    assert (result.na_strategy, result.na_partial) == (strategy, 0.5)


def test_partial_credit():
    # (10 + 5 · .3) / 15
    assert rubric_score([MET, NA], rubric(10, 5, na_strategy="partial", na_partial=0.3)).score == pytest.approx(
        11.5 / 15
    )


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
    assert (result.score, result.counted, result.unscored) == (1.0, ("c0",), ("c1",))


def test_nothing_scored_is_unscored_with_the_most_frequent_reason():
    result = rubric_score([FAILED, REFUSED, REFUSED], MIXED)
    assert (result.score, result.raw_score, result.unscored_reason) == (None, None, "refusal")
    assert rubric_score([REFUSED, FAILED, NA], MIXED).unscored_reason == "engine_error"  # the more severe of two
    assert rubric_score([NA, NA, FAILED], MIXED).unscored_reason == "engine_error"


def test_nothing_applies_is_not_unscored():
    result = rubric_score([NA, NA, NA], MIXED)
    assert (result.score, result.unscored_reason, result.na) == (None, None, ("c0", "c1", "c2"))


def test_the_value_of_the_option_selected_counts_not_the_number_before_it():
    verdict = Verdict(selected_index=1, value=0.25, aggregated_value=0.375)
    assert rubric_score([verdict], Rubric(name="r", criteria=(criterion_of([0, 0.25, 1]),))).score == 0.25


def test_a_selection_without_a_value_is_unscored():
    verdict = Verdict(selected_index=1, selected_label="o1", unscored_reason="no_value")
    result = rubric_score([MET, verdict], rubric(1, 1))
    assert (result.score, result.unscored) == (1.0, ("c1",))


def test_one_verdict_per_criterion():
    with pytest.raises(InvalidInputError, match="2 verdicts for the 3 criteria of the rubric 'r'"):
        rubric_score([MET, MET], MIXED)


def test_the_result_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        rubric_score([MET], rubric(1)).score = 0.5  # type: ignore[misc]


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


@given(WEIGHTS, st.data())
def test_meeting_one_more_never_hurts_and_one_more_fault_never_helps(weights, data):
    verdicts = data.draw(st.lists(st.sampled_from([MET, UNMET]), min_size=len(weights), max_size=len(weights)))
    place = data.draw(st.integers(0, len(weights) - 1))
    better, worse = list(verdicts), list(verdicts)
    better[place], worse[place] = (MET, UNMET) if weights[place] > 0 else (UNMET, MET)
    assert rubric_score(better, rubric(*weights)).score >= rubric_score(worse, rubric(*weights)).score


@pytest.mark.parametrize("clip", ["score", "mean"])
def test_a_rubric_without_weights_has_no_score(clip):
    weightless = rubric(0.0, 0.0, clip=clip)
    cases = (((MET, UNMET), 0, "no_value"), ((MET, FAILED), 0, "engine_error"), ((NA, NA), None, None))
    for verdicts, raw, reason in cases:
        result = rubric_score(verdicts, weightless)
        assert (result.score, result.raw_score, result.unscored_reason) == (None, raw, reason)
    assert rubric_score([], Rubric(name="r", criteria=())).score is None


def test_sections_without_weights():
    criteria = [yes_no_criterion(name, "?", weight=weight) for name, weight in (("a", 0.0), ("b", 1.0))]
    parts = tuple(each.model_copy(update={"section": each.name}) for each in criteria)
    nested = Rubric(name="r", criteria=parts, sections=(Section(name="a"), Section(name="b")))
    result = rubric_score([MET, MET], nested)
    assert (result.score, dict(result.sections)) == (0.5, {"a": 0.0, "b": 1.0})
    outermost = nested.model_copy(update={"sections": (Section(name="a", weight=0), Section(name="b", weight=0))})
    assert rubric_score([MET, MET], outermost).score == 0.0
    without = outermost.model_copy(update={"criteria": tuple(part.model_copy(update={"weight": 0}) for part in parts)})
    assert rubric_score([MET, MET], without).score is None


LINEAR = LengthPenalty(free_budget=10, max_cap=30, penalty_at_cap=0.4, exponent=1)


@pytest.mark.parametrize(
    ("words", "penalty"),
    [(0, 0), (10, 0), (11, 0.02), (20, 0.2), (30, 0.4), (500, 0.4)],  # .4 · (words - 10) / 20
)
def test_it_grows_from_the_budget_to_the_cap(words, penalty):
    assert LINEAR.of_words(words) == pytest.approx(penalty)


def test_the_exponent_bends_it():
    # half way: .4 · (½)³ = .05
    assert LengthPenalty(free_budget=10, max_cap=30, penalty_at_cap=0.4, exponent=3).of_words(20) == pytest.approx(0.05)


def test_a_cap_at_the_budget_is_a_step():
    step = LengthPenalty(free_budget=10, max_cap=10, penalty_at_cap=0.3)
    assert (step.of_words(10), step.of_words(11)) == (0.0, 0.3)


@pytest.mark.parametrize(("sections", "words"), [("all", 40), ("output", 15), ("thinking", 25)])
def test_sections(sections, words):
    penalty = LengthPenalty(free_budget=10, max_cap=30, penalty_at_cap=0.4, exponent=1, sections=sections)
    assert penalty.of("w\n" * 15, thinking=" w" * 25) == penalty.of_words(words)


@pytest.mark.parametrize(
    "wrong", [{"free_budget": -1}, {"max_cap": float("nan")}, {"penalty_at_cap": -0.1}, {"exponent": 0}]
)
def test_bad_parameters(wrong):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        LengthPenalty(**wrong)


def test_an_unknown_section():
    with pytest.raises(UnknownRuleError, match="Did you mean 'output'"):
        LengthPenalty(sections="outputs")  # type: ignore[arg-type]


def published_points(points, met):
    """HealthBench (arXiv:2505.08775, section 3): the points that were met, of all that are positive; not clipped."""
    return sum(each for each, said in zip(points, met, strict=True) if said) / sum(each for each in points if each > 0)


def test_points_as_healthbench_counts_them():
    random = Random(1)
    clipped = 0
    for _ in range(600):
        points = [
            random.randint(1, 10),
            *(random.choice((-10, -6, -3, 1, 4, 7, 10)) for _ in range(random.randint(0, 12))),
        ]
        met = [random.random() < 0.5 for _ in points]
        result = rubric_score([MET if said else UNMET for said in met], rubric(*points, clip="mean"))
        assert result.score == published_points(points, met)
        clipped += not 0 <= result.score <= 1
    assert clipped > 50


def test_points_without_a_positive_one_are_no_score():
    # the published rule gives None too, where nothing could be earned
    result = rubric_score([MET, UNMET], rubric(-3, -4, clip="mean"))
    assert (result.score, result.unscored_reason) == (None, "no_value")


def test_an_absent_grade_of_points_is_left_out_and_not_counted_as_unmet():
    result = rubric_score([MET, FAILED], rubric(4, 6, clip="mean"))
    assert (result.score, result.unscored) == (1.0, ("c1",))


def generated_tree(random, leaves, levels):
    """A tree of so many leaves and at most so many levels: nested lists of (weight, met or a list of them)."""
    if levels == 1 or leaves == 1:
        return [(random.randint(0, 5), random.random() < 0.5) for _ in range(leaves)]
    parts = random.randint(1, min(leaves, 8))
    cuts = sorted(random.sample(range(1, leaves), parts - 1))
    sizes = [high - low for low, high in pairwise([0, *cuts, leaves])]
    return [(random.randint(0, 5), generated_tree(random, size, levels - 1)) for size in sizes]


def published_mean(parts):
    """PaperBench (arXiv:2504.01848, section 2): the weighted mean of the parts; 0 where none of them counts."""
    total = sum(weight for weight, _ in parts)
    scored = [(weight, published_mean(part) if isinstance(part, list) else float(part)) for weight, part in parts]
    return math.fsum(weight * score for weight, score in scored) / total if total else 0.0


def flattened(parts, within=""):
    """The criteria, sections and verdicts of a tree; the sections are called by their places."""
    criteria, sections, verdicts = [], [], []
    for place, (weight, part) in enumerate(parts):
        name = f"{within}.{place}"
        if isinstance(part, list):
            sections.append(Section(name=name, weight=weight, within=within))
            inner = flattened(part, name)
            criteria, sections, verdicts = criteria + inner[0], sections + inner[1], verdicts + inner[2]
        else:
            criteria.append(yes_no_criterion(name, "", weight=weight).model_copy(update={"section": within}))
            verdicts.append(MET if part else UNMET)
    return criteria, sections, verdicts


@pytest.mark.parametrize(("leaves", "levels", "times"), [(12, 3, 100), (60, 5, 40), (600, 4, 4), (3000, 5, 1)])
def test_a_tree_as_paperbench_counts_it(leaves, levels, times):
    random = Random(leaves)
    for _ in range(times):
        tree = generated_tree(random, leaves, levels)
        criteria, sections, verdicts = flattened(tree)
        assert len(criteria) == leaves
        result = rubric_score(verdicts, Rubric(name="r", criteria=tuple(criteria), sections=tuple(sections)))
        assert result.score == published_mean(tree)
        for place, (_, part) in enumerate(tree):
            if isinstance(part, list):
                assert result.sections[f".{place}"] == published_mean(part)


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


def test_between_which_numbers_a_score_lies():
    assert rubric_range(MIXED) == RubricRange((0.0, 1.0), (-5, 15))
    assert rubric_range(rubric(10, 5, -30, clip="mean")) == RubricRange((-2.0, 1.0), (-30, 15))
    assert rubric_range(NESTED) == RubricRange((0.0, 1.0), (0.0, 4.0))
