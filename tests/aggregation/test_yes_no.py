from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.checklist_items import confidence_level, confident_answer, relative_confidence
from evenhand.errors import InvalidInputError


def test_a_probability_that_is_none():
    with pytest.raises(InvalidInputError, match=r"P\(no\) is -0.1"):
        relative_confidence(0.5, -0.1)


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
    there, back = relative_confidence(yes, no), relative_confidence(no, yes)
    assert there is not None
    assert back is not None
    assert there + back == pytest.approx(1)
