"""One table of the statistics of this package, and what they have in common."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from evenhand.errors import EstimationError
from evenhand.statistics import Interval, mean_intervals, ratio_intervals
from evenhand.statistics.agreement import (
    accuracy,
    calibration,
    cohen_kappa,
    krippendorff_alpha,
    option_rates,
    percent_agreement,
    value_errors,
)
from evenhand.statistics.consistency import position_bias, repetition_stability

NAN = math.nan


@dataclass(frozen=True)
class Case:
    """A statistic of rows (instances, units, questions).

    ``rows`` is an ordinary sample; ``missing`` a row without data, to be added without effect; ``single`` one row for
    which the statistic is defined, if any is.
    """

    call: Callable[[Any], Any]
    rows: Any
    missing: Any
    single: Any = None


PAIRS = [[1, 1], [2, 2], [1, 2], [3, 3], [3, 2], [1, 1], [2, 2]]

CASES = {
    "mean_intervals": Case(lambda rows: mean_intervals(np.ravel(rows))[0], [[0.2], [1], [0.5]], [NAN], [0.4]),
    "mean_intervals with bounds": Case(
        lambda rows: mean_intervals(np.ravel(rows), bounds=(-9, 9))[0], [[0.2], [7], [-3]], [NAN], [0.4]
    ),
    "ratio_intervals": Case(
        lambda rows: ratio_intervals(*np.reshape(rows, (-1, 2)).T)[0], [[1, 2], [0, 3], [2, 2]], [0, 0], [1, 2]
    ),
    "percent_agreement": Case(percent_agreement, PAIRS, [1, NAN], [1, 2]),
    "cohen_kappa": Case(lambda rows: cohen_kappa(*np.reshape(rows, (-1, 2)).T), PAIRS, [1, NAN], [1, 2]),
    "krippendorff_alpha": Case(krippendorff_alpha, PAIRS, [NAN, 2], [1, 2]),
    "krippendorff_alpha ordinal": Case(
        lambda rows: krippendorff_alpha(rows, metric="ordinal"), PAIRS, [NAN, 2], [1, 2]
    ),
    "accuracy": Case(lambda rows: accuracy(*np.reshape(rows, (-1, 2)).T), PAIRS, [1, NAN], [1, 2]),
    "option_rates": Case(lambda rows: option_rates(*np.reshape(rows, (-1, 2)).T, "abcd")[1], PAIRS, [1, NAN], [1, 2]),
    "value_errors": Case(
        lambda rows: value_errors(*np.reshape(rows, (-1, 2)).T), [[0, 0.5], [1, 1], [1, 0.75]], [1, NAN], [1, 0.5]
    ),
    "calibration": Case(
        lambda rows: calibration(*np.reshape(rows, (-1, 2)).T), [[0.3, 0], [0.9, 1], [0.4, 1]], [0.4, NAN], [0.8, 1]
    ),
    "position_bias": Case(position_bias, [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1]], [-2, -2], [0, 1]),
    "repetition_stability": Case(
        repetition_stability, [[0, 0, 0], [1, 0, 1], [0, 1, 2], [2, 2, -1]], [-2, -2, -2], [0, 1, -1]
    ),
}
"""Statistics of rows: neither their order nor a row without data matters, and nothing comes from nothing."""


def numbers(result: Any) -> dict[str, Any]:
    """Every number of a result, except those that count rows and those that name single rows."""
    found = {}
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if dataclasses.is_dataclass(value):
            found |= {f"{field.name}.{name}": part for name, part in numbers(value).items()}
        elif isinstance(value, float | int):
            found[field.name] = value
    return {name: value for name, value in found.items() if name != "n"}


def intervals_of(result: Any) -> list[Interval]:
    if isinstance(result, Interval):
        return [result]
    values = [getattr(result, field.name) for field in dataclasses.fields(result)]
    return [value for value in values if isinstance(value, Interval)]


@pytest.mark.parametrize("name", CASES)
def test_neither_the_order_of_the_rows_nor_a_row_without_data_matters(name):
    case = CASES[name]
    expected = pytest.approx(numbers(case.call(np.array(case.rows))), abs=1e-8)
    assert numbers(case.call(np.array(case.rows)[::-1])) == expected
    assert numbers(case.call(np.array([*case.rows, case.missing]))) == expected


@pytest.mark.parametrize("name", CASES)
def test_without_any_data_there_is_no_number(name):
    case = CASES[name]
    for rows in (np.array(case.rows)[:0], np.array([case.missing])):
        try:
            result = case.call(rows)
        except EstimationError:
            continue
        assert result is None or not intervals_of(result)


@pytest.mark.parametrize("name", CASES)
def test_a_single_row_has_an_estimate_and_an_interval_that_says_how_little_that_is(name):
    case = CASES[name]
    found = intervals_of(case.call(np.array([case.single])))
    assert found
    for interval in found:
        assert interval.low <= interval.estimate <= interval.high
        assert interval.high - interval.low > 0.85  # one 0 or 1 leaves Beta(.6, 1.6): up to .853
