from math import inf, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation import confidence_level, confident_answer, yes_no_confidence, yes_no_probability
from evenhand.errors import InvalidInputError


def test_every_surface_form_is_summed():
    forms = ["Yes", " yes", "YES", "\u0120Yes", "\u2581yes", "**Yes", '"yes', "yes."]
    found = yes_no_confidence([(form, log(0.05)) for form in forms] + [("No", log(0.1)), (" NO", log(0.1))])
    # yes 8 · .05 = .4, no .2, .4 / .6
    assert found.yes == pytest.approx(0.4)
    assert found.no == pytest.approx(0.2)
    assert found.covered_mass == pytest.approx(0.6)
    assert found.confidence == pytest.approx(2 / 3)
    assert (found.level, found.answer) == ("yes_70", "yes")


@pytest.mark.parametrize("token", ["Y", "Ye", "Yesterday", "not", "None", "No way", "nope", "ja", ""])
def test_other_tokens_are_not_counted(token):
    found = yes_no_confidence([(token, log(0.9))])
    assert (found.yes, found.no, found.confidence, found.level, found.answer) == (0.0, 0.0, None, None, None)


def test_no_tokens_is_no_confidence():
    assert yes_no_confidence([]).confidence is None


def test_a_token_of_probability_zero():
    assert yes_no_confidence([("Yes", log(0.3)), ("No", -inf)]).confidence == 1.0


@pytest.mark.parametrize("logprob", [0.1, nan, inf])
def test_a_log_probability_that_is_none(logprob):
    with pytest.raises(InvalidInputError, match="must be <= 0"):
        yes_no_confidence([("Yes", logprob)])


def test_a_probability_that_is_none():
    with pytest.raises(InvalidInputError, match=r"P\(no\) is -0.1"):
        yes_no_probability(0.5, -0.1)


@pytest.mark.parametrize(
    ("confidence", "level", "answer"),
    [
        (0.0, "no_10", "no"),
        (0.2, "no_30", "no"),
        (0.4, "unsure", "no"),
        (0.6, "yes_70", "yes"),
        (0.8, "yes_90", "yes"),
        (1.0, "yes_90", "yes"),
    ],
)
def test_levels_begin_at_their_lower_bound(confidence, level, answer):
    assert (confidence_level(confidence), confident_answer(confidence)) == (level, answer)


@pytest.mark.parametrize("confidence", [-0.01, 1.01, nan])
def test_a_confidence_out_of_range(confidence):
    with pytest.raises(InvalidInputError, match="does not lie in"):
        confidence_level(confidence)


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_yes_and_no_are_treated_alike(yes, no):
    there, back = yes_no_probability(yes, no).confidence, yes_no_probability(no, yes).confidence
    assert there is not None
    assert back is not None
    assert there + back == pytest.approx(1)
