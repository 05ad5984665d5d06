import pytest

from evenhand.aggregation import LengthPenalty
from evenhand.errors import InvalidInputError, UnknownRuleError

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
