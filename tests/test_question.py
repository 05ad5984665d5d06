"""What an order shows, and how a choice in it is read back."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.criteria import Criterion, Option
from evenhand.errors import InvalidInputError
from evenhand.parsing import match_closest_option
from evenhand.question import Question, choice_criterion, comparison_criterion, has_plain_answers, option_codes
from tests.support.questions import LEVELS


def assessment(criterion=LEVELS):
    return Question(id="1", criterion=criterion, responses=("an answer",))


def choice(*responses):
    criterion = choice_criterion("best", "Which is best?", len(responses))
    return Question(id="1", criterion=criterion, responses=responses, mode="choose")


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


def options_of(*labels, values=None, na=(), first_na=()):
    worth = values or [None] * len(labels)
    options = [Option(label=label, na=True) for label in first_na]
    options += [Option(label=label, value=value) for label, value in zip(labels, worth, strict=True)]
    options += [Option(label=label, na=True) for label in na]
    scale = "nominal" if values is None else "pairwise"
    return Criterion(name="order", description="In which order?", options=tuple(options), scale=scale)


@pytest.mark.parametrize(
    ("criterion", "swapped"),
    [
        (comparison_criterion("better", "?", allow_ties=True), (2, 1, 0)),
        (comparison_criterion("better", "?", graded=True), (4, 3, 2, 1, 0)),
        (options_of("Response A", "Response B", "Tie", values=(1.0, 0.0, 0.5)), (1, 0, 2)),
        (options_of("Response A", "Response B", values=(1.0, 0.0), first_na=["N/A"]), (0, 2, 1)),
        (options_of("A", "both good", "both bad", "B", values=(0.7, 0.5, 0.5, 0.3), na=["N/A"]), (3, 1, 2, 0, 4)),
    ],
)
def test_a_comparison_permutes_the_responses_and_mirrors_the_options(criterion, swapped):
    given_order, other = (comparison(criterion).present(order) for order in ((0, 1), (1, 0)))
    assert (given_order.responses, other.responses) == (("first", "second"), ("second", "first"))
    assert given_order.labels == other.labels == criterion.labels
    assert (given_order.to_own, other.to_own) == (tuple(range(len(swapped))), swapped)


@given(st.integers(2, 6).flatmap(lambda count: st.tuples(st.just(count), st.permutations(range(count)))))
def test_a_choice_is_read_back_in_every_order(drawn):
    count, order = drawn
    responses = tuple(f"response {index}" for index in range(count))
    shown = choice(*responses).present(tuple(order))
    assert shown.labels == tuple(f"Option {place + 1}" for place in range(count))
    assert [responses[own] for own in shown.to_own] == list(shown.responses)


NO_CHOICE = "Accepted: 'Option 1', 'Option 2', .*A ranking is not a choice"
NO_PAIRS = "in pairs of the values v and 1 - v"
RANKING = options_of(*(" > ".join(f"Option {place}" for place in order) for order in permutations((1, 2, 3))))
TWO_ASPECTS = options_of("A is clearer", "A is shorter", "B is clearer", "B is shorter", values=(1.0, 1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("mode", "responses", "criterion", "message"),
    [
        ("assess", "ab", LEVELS, r"2 response.*an assessment of exactly one"),
        ("compare", "a", LEVELS, r"1 response\(s\).*of exactly two"),
        ("compare", "abc", LEVELS, r"3 response\(s\).*of exactly two"),
        ("choose", "a", LEVELS, r"1 response\(s\).*at least two"),
        ("check", "a", LEVELS, "is an item of a sheet, but names none"),
        ("choose", "abc", RANKING, NO_CHOICE),
        ("choose", "abc", options_of("Option 1", "Option 2"), NO_CHOICE),  # the third cannot be chosen
        ("choose", "abc", options_of("Option 1", "Option 2", "Option 3", "All are alike"), NO_CHOICE),
        ("choose", "abc", LEVELS, NO_CHOICE),
        ("compare", "ab", options_of("A > B", "B > A"), NO_PAIRS),
        ("compare", "ab", options_of("A", "B", "neither", values=(1.0, 0.0, 0.25)), NO_PAIRS),
        ("compare", "ab", TWO_ASPECTS, NO_PAIRS),
    ],
)
def test_a_mode_takes_a_number_of_responses_and_options_that_fit_them(mode, responses, criterion, message):
    with pytest.raises(InvalidInputError, match=message):
        Question(id="1", criterion=criterion, responses=tuple(responses), mode=mode)


def test_an_option_for_none_of_the_candidates_means_the_same_in_every_order():
    best = options_of("Option 1", "Option 2", na=["None of them"])
    assert Question(id="1", criterion=best, responses=("a", "b"), mode="choose").present((1, 0)).to_own == (1, 0, 2)


def test_an_order_of_a_sheet_permutes_its_items_and_leaves_the_options():
    item = Question(id="1", criterion=LEVELS, responses=("a",), mode="check", sheet="all", sheet_size=4)
    assert item.places == 4
    shown = item.present((3, 1, 0, 2))
    assert (shown.order, shown.options) == ((3, 1, 0, 2), LEVELS.options)
    assert shown.to_own == tuple(range(len(LEVELS.options)))


def test_codes_follow_the_places_shown():
    shown = assessment().present((2, 0, 1), coded=True)
    assert shown.answers == ("1", "2", "3")
    assert shown.labels == tuple(LEVELS.labels[own] for own in (2, 0, 1))
    assert option_codes(10) == tuple("ABCDEFGHIJ")
    with pytest.raises(InvalidInputError, match="27 options cannot be distinguished"):
        option_codes(27)


def test_options_whose_labels_hold_numbers_have_letters_for_codes():
    options = tuple(Option(label=f"{stars} stars", value=(stars - 1) / 4) for stars in range(1, 6))
    stars = Question(id="1", criterion=Criterion(name="stars", description="", options=options), responses=("a",))
    shown = stars.present((4, 3, 2, 1, 0), coded=True)
    assert shown.answers == ("A", "B", "C", "D", "E")
    assert match_closest_option("5 stars", shown.answers).index is None  # by digits it would have been "1 stars"


def test_only_labels_of_one_token_need_no_code():
    def plain(*labels):
        options = (*(Option(label=label) for label in labels), Option(label="Does not apply", na=True))
        return has_plain_answers(Criterion(name="c", description="d", options=options))

    assert all(plain(*labels) for labels in [("Yes", "No"), ("1", "2", "3"), ("A", "B")])
    # Good and Bad are one token in some vocabularies, two in others
    assert not any(plain(*labels) for labels in [("Good", "Bad"), ("9", "10")])
