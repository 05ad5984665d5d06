"""How far draws move: by hand, and against draws whose deviation is known."""

import math

import pytest

from evenhand.statistics.consistency import within_row_deviation


def test_two_rows_by_hand():
    # 0, 1, 1 of one prompt: mean 2/3, squares 4/9 + 1/9 + 1/9 = 2/3, by 2: 1/3. 1, 1, 1 of another: 0. Mean 1/6.
    found = within_row_deviation([1 / 3, 0.0], [1, 1])
    assert found.estimate == pytest.approx(math.sqrt(1 / 6))
    assert found.low <= found.estimate <= found.high
    assert within_row_deviation([0.0], [0]) is None
