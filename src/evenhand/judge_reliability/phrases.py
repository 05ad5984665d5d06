"""Numbers as they stand in sentences."""

from __future__ import annotations

import math

from evenhand.statistics import Interval


def percent(share: float) -> str:
    """A share as a percentage, which is 0, 50 or 100 only if the share is: next to these a rounding would mislead.

    >>> percent(0.612), percent(0.997), percent(1.0), percent(0.0004), percent(0.502)
    ('61 %', '99.7 %', '100 %', '0.04 %', '50.2 %')
    """
    return f"{_digits(share)} %"


def percent_interval(interval: Interval) -> str:
    """A share and its limits.

    >>> percent_interval(Interval(0.97, 0.951, 0.988, 0.95, "exact", 100))
    '97 % [95, 99]'
    """
    low, high = (_digits(limit) for limit in (interval.low, interval.high))
    return f"{percent(interval.estimate)} [{low}, {high}]"


def points(difference: float) -> str:
    """A difference of shares in percentage points, which is 0 only if the difference is.

    >>> points(0.112), points(-0.004), points(0.0)
    ('11', '-0.4', '0')
    """
    return next(
        (text for places in range(4) if float(text := f"{100 * difference:z.{places}f}")), f"{100 * difference:z.0f}"
    )


def number_interval(interval: Interval, *, digits: int = 2, signed: bool = False) -> str:
    """A number and its limits.

    >>> number_interval(Interval(0.456, -0.004, float("inf"), 0.95, "cluster_t", 3))
    '0.46 [0.00, ∞]'
    """
    form = f"{'+' if signed else ''}z.{digits}f"
    estimate, low, high = (
        f"{value:{form}}".replace("inf", "∞") for value in (interval.estimate, interval.low, interval.high)
    )
    return f"{estimate} [{low}, {high}]"


def p_value(value: float) -> str:
    """A p-value, never as zero.

    >>> p_value(0.0421), p_value(1e-9)
    ('p = 0.042', 'p < 0.001')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "pair"), count(1200, "reply"), count(2, "vote")
    ('1 pair', '1,200 replies', '2 votes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"


_LANDMARKS = {0.0, 50.0, 100.0}


def _digits(share: float) -> str:
    """The percentage without its sign: whole, unless that would be 0, 50 or 100 for what is not."""
    percentage = 100 * share
    if not math.isfinite(percentage):
        return f"{percentage:f}".replace("inf", "∞")
    if percentage in _LANDMARKS:
        return f"{percentage:.0f}"
    for places in range(5):
        text = f"{percentage:.{places}f}"
        if float(text) not in _LANDMARKS:
            return text
    return f"{percentage:.0f}"
