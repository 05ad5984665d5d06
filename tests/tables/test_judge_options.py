"""The options of ``judge`` beside those of a run: which go with what, and what they come to."""

import pytest

import evenhand
from evenhand.aggregation.rubric_score import LengthPenalty
from evenhand.errors import InvalidInputError
from evenhand.options import JudgeArguments
from evenhand.row_runs import FOR_RUBRICS, RUBRIC_DEFAULTS, _assessment_parameters, assessment_options


def options(*, rubric, **given):
    return assessment_options(JudgeArguments(**given), None, rubric=rubric)


def test_a_rubric_has_defaults_of_its_own_and_criteria_those_of_a_run():
    found = options(rubric=True)
    assert found.auto_na_option is True
    assert {name: getattr(found, name) for name in RUBRIC_DEFAULTS} == RUBRIC_DEFAULTS
    found = options(rubric=False)
    assert found == JudgeArguments(auto_na_option=False)
    found = options(rubric=True, flow="two_step", check_positional_bias=True, samples=3)
    assert (found.flow, found.check_positional_bias, found.orders, found.samples) == ("two_step", True, "shuffled", 3)


@pytest.mark.parametrize(
    ("rubric", "given", "orders"),
    [
        (True, {}, "shuffled"),
        (False, {}, "given"),
        (True, {"shuffle_options": False}, "given"),
        (False, {"shuffle_options": True}, "shuffled"),
        (True, {"orders": "cyclic"}, "cyclic"),
        (True, {"orders": "cyclic", "shuffle_options": False}, "cyclic"),
        (False, {"orders": "shuffled", "shuffle_options": True}, "shuffled"),
    ],
)
def test_the_order_of_the_options(rubric, given, orders):
    assert options(rubric=rubric, **given).orders == orders


@pytest.mark.parametrize("given", [("cyclic", True), ("given", True), ("shuffled", False)])
def test_orders_that_contradict_are_refused(given):
    orders, shuffled = given
    with pytest.raises(InvalidInputError, match="drop one of the two"):
        options(rubric=True, orders=orders, shuffle_options=shuffled)


@pytest.mark.parametrize("name", FOR_RUBRICS)
def test_what_is_for_a_rubric_does_not_go_with_criteria(name):
    with pytest.raises(InvalidInputError, match=f"{name} is for a rubric"):
        options(rubric=False, **{name: JudgeArguments.model_fields[name].default})


def test_what_a_table_repeats():
    found = options(rubric=True, calls="per_item", length_penalty={"max_cap": 9000}, guidelines="Be strict.")
    assert found.length_penalty == LengthPenalty(max_cap=9000)
    parameters = _assessment_parameters(found, rubric=True)
    assert parameters["length_penalty"]["max_cap"] == 9000
    assert (parameters["calls"], parameters["guidelines"], parameters["examples"]) == ("per_item", "Be strict.", 0)
    assert "calls" not in _assessment_parameters(JudgeArguments(), rubric=False)


def test_a_gold_column_alone_is_told_what_to_say():
    with pytest.raises(InvalidInputError, match=r"gold_fields is 'gold'; give the column of each criterion, as \{'is_"):
        evenhand.judge(
            [{"response": "x", "gold": "yes"}], "Is it kind?", "engines.evenhand.baseline", gold_fields="gold"
        )
