"""The mean value of a distribution, worked by hand, and what must always hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation.verdict import expected_value

MASSES = st.floats(0, 1)
VALUES = st.none() | st.floats(0, 1)


def test_the_mean_of_a_whole_distribution():
    # 0.1 * 0 + 0.3 * 0.5 + 0.6 * 1
    assert expected_value([0.1, 0.3, 0.6], [0.0, 0.5, 1.0]) == pytest.approx(0.75)


def test_na_counts_in_neither_sum_and_covers_nothing():
    assert expected_value([0.3, 0.3, 0.4], [0.0, 1.0, None]) == pytest.approx(0.5)
    assert expected_value([0.2, 0.2, 0.6], [0.0, 1.0, None]) is None


def test_the_least_mass_is_enough_and_less_is_not():
    assert expected_value([0.25, 0.25], [0.0, 1.0]) == 0.5
    assert expected_value([0.25, 0.24], [0.0, 1.0]) is None
    assert expected_value([0.1] * 5, [1.0] * 5) == 1.0  # a sum of 0.5 up to rounding
    assert expected_value([0.01, 0.03], [0.0, 1.0], min_mass=0.0) == pytest.approx(0.75)


@given(st.lists(st.tuples(MASSES, VALUES), min_size=1, max_size=6), st.floats(0.01, 1))
def test_the_mean_lies_within_the_values_and_scaling_the_masses_changes_nothing(pairs, factor):
    masses, values = [mass for mass, _ in pairs], [value for _, value in pairs]
    mean = expected_value(masses, values, min_mass=0.0)
    if mean is not None:
        possible = [value for mass, value in pairs if mass > 0 and value is not None]
        assert min(possible) <= mean <= max(possible)
        if min(mass for mass, value in pairs if mass > 0 and value is not None) > 1e-100:
            scaled = expected_value([factor * mass for mass in masses], values, min_mass=0.0)
            assert scaled == pytest.approx(mean, abs=1e-9)
