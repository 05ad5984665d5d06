import pytest

from evenhand.aggregation.verdict import (
    RULES,
    Levels,
    check_on_position_bias,
    check_rule,
    check_weights,
)
from evenhand.errors import InvalidInputError, UnknownRuleError
from tests.aggregation.builders import criterion_of


@pytest.mark.parametrize(
    ("scale", "default"), [("binary", "majority"), ("ordinal", "mean"), ("nominal", "mode"), ("pairwise", "mode")]
)
def test_the_default_comes_first(scale, default):
    assert RULES[scale][0] == default
    assert check_rule(None, scale) == default


def test_a_rule_of_another_scale_is_refused():
    with pytest.raises(UnknownRuleError, match="'median' is not a rule for the scale 'nominal'") as caught:
        check_rule("median", "nominal")
    assert "Accepted: 'mode', 'weighted_mode', 'unanimous'" in str(caught.value)


def test_a_slip_is_named_with_its_neighbour():
    with pytest.raises(UnknownRuleError, match="Did you mean 'weighted_mean'"):
        check_rule("weigthed_mean", "ordinal")
    with pytest.raises(UnknownRuleError, match="Did you mean 'abstain'"):
        check_on_position_bias("abstein", "ordinal")


def test_average_needs_values():
    with pytest.raises(UnknownRuleError, match="whose options have no values"):
        check_on_position_bias("average", "ordinal", has_values=False)
    assert check_on_position_bias(None, "ordinal", has_values=False) == "abstain"


def test_a_tie_is_for_pairwise_only():
    with pytest.raises(UnknownRuleError, match="does not fit the scale 'ordinal'"):
        check_on_position_bias("tie", "ordinal")


def test_the_worst_option_follows_the_sign_of_the_weight():
    values = [0.5, 0, 1, 0.5]
    assert Levels.of(criterion_of(values)).worst([0, 2, 3]) == 0
    assert Levels.of(criterion_of(values, weight=-1)).worst([0, 3]) == 0
    assert Levels.of(criterion_of(values, weight=-1)).worst([0, 1]) == 0


def test_weights_that_no_rule_can_use():
    with pytest.raises(InvalidInputError, match=r"every judge has the weight 0 .*; one must count"):
        check_weights({"a": 0, "b": 0})
    with pytest.raises(InvalidInputError, match="'b' has the weight -1"):
        check_weights({"a": 1, "b": -1})
