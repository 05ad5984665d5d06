from typing import get_args

from evenhand.aggregation.verdict import REASONS_BY_SEVERITY
from evenhand.votes import UnscoredReason


def test_every_reason_has_a_place():
    assert sorted(REASONS_BY_SEVERITY) == sorted(get_args(UnscoredReason))
