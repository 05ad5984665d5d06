"""What an order shows, and how a choice in it is read back."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.question import Question, choice_criterion, comparison_criterion, response_label, response_letter

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=tuple(Option(label=label, value=value) for label, value in [("High", 1.0), ("Mid", 0.5), ("Low", 0.0)]),
)


def assessment(criterion=LEVELS):
    return Question(id="1", criterion=criterion, responses=("an answer",))


def comparison(criterion, *responses):
    return Question(id="1", criterion=criterion, responses=responses or ("first", "second"), mode="compare")


def meaning(criterion, shown, label):
    """The own label of the option whose shown label is ``label``."""
    return criterion.labels[shown.to_own[shown.labels.index(label)]]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_assessment_permutes_the_options_and_reads_them_back(order):
    shown = assessment().present(order)
    assert shown.labels == tuple(LEVELS.labels[index] for index in order)
    assert shown.responses == ("an answer",)
    for label in LEVELS.labels:
        assert meaning(LEVELS, shown, label) == label


def test_a_comparison_permutes_the_responses_and_keeps_the_letters():
    criterion = comparison_criterion("better", "Which is better?", allow_ties=True)
    question = comparison(criterion)
    given_order, swapped = question.present((0, 1)), question.present((1, 0))
    assert (given_order.responses, swapped.responses) == (("first", "second"), ("second", "first"))
    assert given_order.labels == swapped.labels == ("Response A", "Tie", "Response B")
    # shown first in the swapped order is the question's second response, whose option is Response B
    assert [meaning(criterion, swapped, label) for label in swapped.labels] == ["Response B", "Tie", "Response A"]
    assert [meaning(criterion, given_order, label) for label in given_order.labels] == list(criterion.labels)


def test_a_graded_comparison_mirrors_its_levels():
    criterion = comparison_criterion("better", "Which is better?", graded=True)
    swapped = comparison(criterion).present((1, 0))
    assert meaning(criterion, swapped, "Response A is much better") == "Response B is much better"
    assert meaning(criterion, swapped, "Response A is slightly better") == "Response B is slightly better"
    assert meaning(criterion, swapped, "Both are equally good") == "Both are equally good"


def test_a_tie_listed_last_stays_a_tie_when_the_responses_change_places():
    options = (
        Option(label="Response A", value=1.0),
        Option(label="Response B", value=0.0),
        Option(label="Tie", value=0.5),
    )
    criterion = Criterion(name="better", description="Which?", options=options, scale="pairwise")
    swapped = comparison(criterion).present((1, 0))
    assert [meaning(criterion, swapped, label) for label in swapped.labels] == ["Response B", "Response A", "Tie"]


def test_an_na_option_means_the_same_in_every_order():
    options = (
        Option(label="N/A", na=True),
        Option(label="Response A", value=1.0),
        Option(label="Response B", value=0.0),
    )
    criterion = Criterion(name="better", description="Which?", options=options, scale="pairwise")
    assert comparison(criterion).present((1, 0)).to_own == (0, 2, 1)


def test_two_candidates_without_values_change_places_too():
    assert comparison(choice_criterion("best", "Which?", 2)).present((1, 0)).to_own == (1, 0)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_several_candidates_a_letter_chooses_the_response_at_its_place(order):
    criterion = choice_criterion("best", "Which is best?", 3)
    shown = comparison(criterion, "r0", "r1", "r2").present(order)
    assert shown.labels == ("Response A", "Response B", "Response C")
    for place, response in enumerate(shown.responses):
        assert f"r{shown.to_own[place]}" == response


@given(st.integers(2, 6).flatmap(lambda count: st.tuples(st.just(count), st.permutations(range(count)))))
def test_a_choice_is_read_back_in_every_order(drawn):
    count, order = drawn
    responses = tuple(f"response {index}" for index in range(count))
    shown = comparison(choice_criterion("best", "Which?", count), *responses).present(tuple(order))
    assert [responses[own] for own in shown.to_own] == list(shown.responses)


@pytest.mark.parametrize("order", [(), (0,), (0, 1), (0, 1, 1), (1, 2, 3), (0, 1, 2, 3)])
def test_an_order_that_is_no_permutation_is_refused(order):
    with pytest.raises(InvalidInputError, match="is not a permutation of 0 … 2"):
        assessment().present(order)


def test_an_assessment_is_of_one_response_and_a_comparison_of_several():
    with pytest.raises(InvalidInputError, match="assesses 2 responses"):
        Question(id="1", criterion=LEVELS, responses=("a", "b"))
    with pytest.raises(InvalidInputError, match=r"compares 1 response\(s\)"):
        comparison(LEVELS, "only")


def test_responses_are_lettered_beyond_the_alphabet():
    assert [response_letter(place) for place in (0, 1, 25, 26, 51, 52)] == ["A", "B", "Z", "A2", "Z2", "A3"]
    assert len({response_label(place) for place in range(200)}) == 200


def test_the_values_of_a_comparison_say_which_is_better():
    assert [o.value for o in comparison_criterion("better", "?").options] == [1.0, 0.0]
    assert [o.value for o in comparison_criterion("better", "?", allow_ties=True).options] == [1.0, 0.5, 0.0]
    assert [o.value for o in comparison_criterion("better", "?", graded=True).options] == [1.0, 0.75, 0.5, 0.25, 0.0]
    assert all(option.value is None for option in choice_criterion("best", "?", 4).options)
    assert assessment(yes_no_criterion("a", "b")).places == 2
