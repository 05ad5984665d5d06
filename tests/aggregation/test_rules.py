import pytest

from evenhand.aggregation.verdict import (
    check_on_position_bias,
)
from evenhand.errors import UnknownRuleError


def test_average_needs_values():
    with pytest.raises(UnknownRuleError, match="whose options have no values"):
        check_on_position_bias("average", "ordinal", has_values=False)
    assert check_on_position_bias(None, "ordinal", has_values=False) == "abstain"


def test_a_tie_is_for_pairwise_only():
    with pytest.raises(UnknownRuleError, match="does not fit the scale 'ordinal'"):
        check_on_position_bias("tie", "ordinal")
