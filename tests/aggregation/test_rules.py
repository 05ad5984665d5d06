import pytest

from evenhand.aggregation.verdict import (
    check_on_position_bias,
    check_weights,
)
from evenhand.errors import InvalidInputError, UnknownRuleError


def test_average_needs_values():
    with pytest.raises(UnknownRuleError, match="whose options have no values"):
        check_on_position_bias("average", "ordinal", has_values=False)
    assert check_on_position_bias(None, "ordinal", has_values=False) == "abstain"


def test_a_tie_is_for_pairwise_only():
    with pytest.raises(UnknownRuleError, match="does not fit the scale 'ordinal'"):
        check_on_position_bias("tie", "ordinal")


def test_weights_that_no_rule_can_use():
    with pytest.raises(InvalidInputError, match=r"every judge has the weight 0 .*; one must count"):
        check_weights({"a": 0, "b": 0})
    with pytest.raises(InvalidInputError, match="'b' has the weight -1"):
        check_weights({"a": 1, "b": -1})
