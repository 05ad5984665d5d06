"""The options of ``judge`` beside those of a run: which go with what, and what they come to."""

import pytest

from evenhand.options import JudgeArguments
from evenhand.row_runs import assessment_options


def options(*, rubric, **given):
    return assessment_options(JudgeArguments(**given), None, rubric=rubric)


@pytest.mark.parametrize(
    ("rubric", "given", "orders"),
    [
        (True, {}, "shuffled"),
        (False, {}, "given"),
        (True, {"orders": "cyclic"}, "cyclic"),
    ],
)
def test_the_order_of_the_options(rubric, given, orders):
    assert options(rubric=rubric, **given).orders == orders
