"""How far draws move: by hand, and against draws whose deviation is known."""

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics.consistency import draws_to_settle, within_row_deviation


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


def test_draws_to_settle_by_hand():
    # 12 rows of 2 draws: 12 degrees of freedom, t = 2.1788; (2.1788 · 0.3 / 0.05)² / 12 = 14.24
    assert draws_to_settle(0.3, 2, 12, 0.05) == 15
    assert draws_to_settle(0.0, 2, 12, 0.05) == 1
    assert draws_to_settle(0.3, 2, 12, 0.0) is None
    for bad in ((0.3, 1, 12, 0.1), (0.3, 2, 0, 0.1), (math.nan, 2, 12, 0.1), (0.3, 2, 12, -0.1)):
        with pytest.raises(InvalidInputError, match="give two draws or more"):
            draws_to_settle(*bad)


def test_so_many_draws_settle_a_mean_and_half_as_many_do_not():
    """A mean of so many draws crosses a threshold at the margin in no more than 2.5 % of the runs."""
    deviation, rows, margin = 0.4, 8, 0.06
    draws = draws_to_settle(deviation, 50, rows, margin)
    generator = np.random.default_rng(2)

    def crossed(number: int) -> float:
        means = generator.normal(0, deviation, (4000, rows * number)).mean(axis=1)
        return float((means > margin).mean())

    assert crossed(draws) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 4000)
    assert crossed(draws // 2) > 0.05
    assert draws == math.ceil((stats.t.ppf(0.975, rows * 49) * deviation / margin) ** 2 / rows)
