"""How far draws move: by hand, and against draws whose deviation is known."""

import math

import numpy as np
import pytest

from evenhand.statistics.consistency import within_row_deviation


def test_two_rows_by_hand():
    # 0, 1, 1 of one prompt: mean 2/3, squares 4/9 + 1/9 + 1/9 = 2/3, by 2: 1/3. 1, 1, 1 of another: 0. Mean 1/6.
    found = within_row_deviation([1 / 3, 0.0], [1, 1])
    assert found.estimate == pytest.approx(math.sqrt(1 / 6))
    assert found.low <= found.estimate <= found.high
    assert within_row_deviation([0.0], [0]) is None


@pytest.mark.parametrize("draws", [2, 3, 10])
def test_a_known_deviation_is_found_however_few_draws_there_are(draws):
    generator = np.random.default_rng(5)
    values = np.clip(generator.uniform(0.35, 0.65, (20_000, 1)) + generator.normal(0, 0.1, (20_000, draws)), 0, 1)
    found = within_row_deviation(values.var(axis=1, ddof=1), np.ones(20_000))
    assert found.estimate == pytest.approx(0.1, rel=0.02)
    assert found.low < 0.1 < found.high
    shares = generator.beta(1, 4, 20_000)  # a yes of a probability of its own on each row
    said = generator.random((20_000, draws)) < shares[:, None]
    found = within_row_deviation(said.var(axis=1, ddof=1), np.ones(20_000))
    assert found.estimate == pytest.approx(math.sqrt(np.mean(shares * (1 - shares))), rel=0.03)
