"""The one module that formats numbers: rounding claims no certainty, and no other module formats numbers."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand import numbers
from evenhand.numbers import (
    format_cost,
    format_count,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
    format_range,
    format_share,
)
from evenhand.statistics import Interval, ratio_intervals

SOURCES = Path(numbers.__file__).parent
ANY = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)
TEXTS_FOR_THE_JUDGE = {"engines/free_engines.py"}
"""What these judges write as their reply is no report: its form is part of recorded runs."""


def interval(estimate: float, low: float, high: float) -> Interval:
    return Interval(estimate, low, high, 0.95, "exact", 10)


def test_3_of_800_unscored_are_not_a_parse_rate_of_100_percent():
    (rate,) = ratio_intervals([1.0] * 797 + [0.0] * 3, [1.0] * 800)
    assert format_share(rate).startswith("99.6 % [")  # 797 / 800 = 0.99625
    assert not format_share(rate).endswith("100]")


@given(st.floats(min_value=0, max_value=1))
@example(1 - 1e-9)
@example(1e-9)
@example(5e-324)
@example(0.995)
@example(0.4999999)
def test_a_share_is_written_as_0_or_100_percent_only_if_it_is_that(share: float):
    text = format_percent(share)
    if 1e-12 < share < 1 - 1e-12:
        assert text not in {"0 %", "100 %"}
    if text[0] == ">":
        assert float(text[1:-2]) < 100 * share < 100
    elif text[0] == "<":
        assert 0 < 100 * share < float(text[1:-2])
    else:
        assert float(text[:-2]) == pytest.approx(100 * share, abs=0.500001)


@given(ANY)
@example(-0.0)
@example(-1e-13)
@example(-0.004)
@example(0.9999999)
@example(-0.99999999)
def test_a_number_keeps_its_sign_and_its_side_of_0_and_1(value: float):
    text = format_number(value)
    assert not re.fullmatch(r"-0(\.0*)?", text)
    bare = text.replace(",", "")
    if bare[0] in "<>":
        assert value < float(bare[1:]) if bare[0] == "<" else value > float(bare[1:])
    else:
        assert float(bare) == pytest.approx(value, abs=0.0050001)
        for mark in (0.0, 1.0):
            if abs(value - mark) > 1e-9:
                assert float(bare) != mark


def test_what_is_missing_not_a_number_or_infinite():
    nan = float("nan")
    assert [format_number(nan), format_percent(nan), format_count(nan), format_p_value(nan), format_cost(nan)] == [
        "–"
    ] * 5
    assert [format_interval(None), format_share(None), format_range(None, None)] == ["–"] * 3
    assert format_interval(interval(nan, 0.0, 1.0)) == format_share(interval(nan, 0.0, 1.0)) == "–"
    assert format_interval(interval(0.25, -math.inf, math.inf), signed=True) == "+0.25 [-∞, +∞]"
    assert format_percent(math.inf) == "∞ %"


def test_nobody_else_writes_numbers():
    """No format specification for percentages, decimals or money outside the one writer."""
    stray = re.compile(r"\{[^{}]*:[^{}'\"]*(?:%|\.\d[ef]|,)\}|\$\{|\bround\([^()]*,\s*\d\)\s*\}")
    found = [
        f"{path.relative_to(SOURCES)}:{number}: {line.strip()}"
        for path in sorted(SOURCES.rglob("*.py"))
        if path.name != "numbers.py" and path.relative_to(SOURCES).as_posix() not in TEXTS_FOR_THE_JUDGE
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1)
        if stray.search(line)
    ]
    assert not found
