"""The one writer of numbers: every table, sentence and summary writes its numbers by these functions.

What is written is never more certain than the number: a share that is not 0, ½ or 1 is not written as 0 %, 50 % or
100 %, a number that is not 0 or 1 not as 0.00 or 1.00; there is no -0.00; what is missing is a dash, with its reason
where there is room for it; a limit that the data leave open is ∞.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeVar

MISSING = "–"
"""The sign for a missing number."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason why there is no number, held in its place.

    Attributes:
        reason: In a few words, such as ``no instance has a score``.
    """

    reason: str

    def __bool__(self) -> Literal[False]:
        return False

    def __str__(self) -> str:
        return f"{MISSING} ({self.reason})"


Kind = Literal["score", "share", "difference", "number", "count", "p_value", "money"]
"""The kind of a number: a score in its own units; a share in [0, 1]; a difference of scores, with a sign; any other
number; a count; the p-value of a test; US dollars."""

T = TypeVar("T")
DECLARED: Final = "measure"


@dataclass(frozen=True, slots=True)
class Declared:
    """The declaration of a measure; see :func:`measure`.

    Attributes:
        kind: The kind of the number.
        name: The name under which it is reported; the field's own by default, and the score itself if it is empty.
        always: Give unitxt NaN if it is missing, instead of leaving it out.
        shares: The mapping counts; report what share of all each entry is.
        only: The fields of a result that are meant; all by default.
        bounds: The field with the bounds that lead where too many votes are unscored, or with a mapping of the names of
            fields to them. A score that a condition can name and that unscored votes could move has some.
    """

    kind: Kind
    name: str | None = None
    always: bool = False
    shares: bool = False
    only: Collection[str] | None = None
    bounds: str | None = None


def measure(kind: Kind, **declared: Any) -> Any:  # noqa: ANN401 - the type of the field
    """Declare a field of a frozen result that is a measure.

    Its value is a number, an estimate with an interval, or :class:`Missing`; a mapping stands for a
    measure of each entry (``<name>_<key>``), and a result for its own measures.

    Args:
        kind: The kind of the number.
        **declared: The other attributes of :class:`Declared`.
    """
    return field(metadata={DECLARED: Declared(kind, **declared)})


def or_missing(value: T | None, reason: str) -> T | Missing:
    """Return the value, or why there is none.

    >>> or_missing(None, "no instance has a score")
    Missing(reason='no instance has a score')
    """
    return Missing(reason) if value is None else value


def by_reason(named: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return the reason of each missing value -> the names of the values that are missing for it.

    >>> by_reason([("a", Missing("no votes")), ("b", 1.0), ("c", Missing("no votes"))])
    {'no votes': 'a, c'}
    """
    found: dict[str, list[str]] = {}
    for name, value in named:
        if isinstance(value, Missing):
            found.setdefault(value.reason, []).append(name)
    return {reason: ", ".join(names) for reason, names in found.items()}


_NOISE = 1e-12
"""Closer to 0 or 1 than this is floating-point noise: the mean of equal numbers may be a last digit off."""

_PERCENT_PLACES = 2
_PLACES = 4


class HasLimits(Protocol):
    """An estimate with its limits, such as `evenhand.statistics.Interval`."""

    @property
    def estimate(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """The lower limit; ``-inf`` when the data say nothing about it."""

    @property
    def high(self) -> float:
        """The upper limit; ``inf`` when the data say nothing about it."""


def format_number(value: float | Missing | None, *, digits: int = 2, signed: bool = False) -> str:
    """Return a number with thousands separators; a dash where there is none.

    A number that would be written as 0 or 1 and is neither gets up to four digits, and beyond them a sign: the sign of
    a limit, or whether a share is whole, is what a reader looks for.

    Args:
        value: The number to write. NaN is missing.
        digits: After the point.
        signed: Write a plus before what is positive.

    >>> format_number(0.456), format_number(-0.0), format_number(0.9975), format_number(1 - 1e-7), format_number(-1e-6)
    ('0.46', '0.00', '0.998', '>0.9999', '>-0.0001')
    >>> format_number(12345.6, digits=1), format_number(float("-inf")), format_number(None)
    ('12,345.6', '-∞', '–')
    """
    if value is None or isinstance(value, Missing) or math.isnan(value):
        return MISSING
    return _format_unlike(value, (0.0, 1.0, -1.0), digits, max(digits, _PLACES), "+" if signed else "")


def format_percent(share: float | Missing | None) -> str:
    """Return a share as a percentage; it is 0 %, 50 % or 100 % only if the share is exactly that.

    >>> format_percent(0.612), format_percent(797 / 800), format_percent(1.0), format_percent(0.502)
    ('61 %', '99.6 %', '100 %', '50.2 %')
    >>> format_percent(1 - 1e-6), format_percent(1e-6), format_percent(float("nan")), format_percent(-0.001)
    ('>99.99 %', '<0.01 %', '–', '-0.1 %')
    """
    if share is None or isinstance(share, Missing) or math.isnan(share):
        return MISSING
    return f"{_format_unlike(100 * share, (0.0, 50.0, 100.0, -50.0, -100.0), 0, _PERCENT_PLACES)} %"


def format_interval(interval: HasLimits | Missing | None, *, digits: int = 2, signed: bool = False) -> str:
    """Return an estimate with its limits, or a dash where there is none.

    >>> from evenhand.statistics import Interval
    >>> format_interval(Interval(0.456, -0.004, float("inf"), 0.95, "cluster_t", 3))
    '0.46 [-0.004, ∞]'
    >>> format_interval(None)
    '–'
    """
    if not interval or math.isnan(interval.estimate):
        return MISSING
    estimate, low, high = (
        format_number(number, digits=digits, signed=signed)
        for number in (interval.estimate, interval.low, interval.high)
    )
    return f"{estimate} [{low}, {high}]"


def format_share(interval: HasLimits | Missing | None) -> str:
    """Return a share as a percentage with its limits, or a dash where there is none.

    >>> from evenhand.statistics import Interval
    >>> format_share(Interval(0.97, 0.951, 0.9999, 0.95, "exact", 100))
    '97 % [95, 99.99]'
    """
    if not interval or math.isnan(interval.estimate):
        return MISSING
    low, high = (format_percent(limit).removesuffix(" %") for limit in (interval.low, interval.high))
    return f"{format_percent(interval.estimate)} [{low}, {high}]"


def format_apart(value: float, other: float) -> str:
    """Return a number with as many digits as distinguish it from another one.

    >>> format_apart(0.699, 0.7), format_apart(0.712, 0.7)
    ('0.699', '0.71')
    """
    for digits in range(2, 9):
        text = format_number(value, digits=digits)
        if text != format_number(other, digits=digits):
            return text
    return format_number(value)


def format_percent_apart(share: float, other: float) -> str:
    """Return a share as a percentage with as many digits as distinguish it from another one.

    >>> format_percent_apart(0.0214, 0.02), format_percent_apart(0.03, 0.02)
    ('2.14 %', '3 %')
    """
    text = format_percent(share)
    return text if text != format_percent(other) else f"{format_apart(100 * share, 100 * other)} %"


@dataclass(frozen=True, slots=True)
class UnscoredBounds:
    """The bounds of a score with too many unscored votes for its mean to lead.

    Attributes:
        low: The score of these rows if every unscored vote had been the lowest.
        high: The same with the highest. Had every vote been scored, the score would lie between the two.
        interval_low: The lower limit of the interval of ``low``.
        interval_high: The upper limit of the interval of ``high``.
        share: The share of the rows, among those to which the question applies, that have an unscored vote.
        unit: What ``share`` is a share of: rows, contests, items or verdicts.
    """

    low: float
    high: float
    interval_low: float
    interval_high: float
    share: float
    unit: str = "rows"

    def subtracted_from(self, total: float) -> UnscoredBounds:
        """Return the bounds of ``total - x``; the sides are swapped."""
        ends = (total - self.high, total - self.low, total - self.interval_high, total - self.interval_low)
        return UnscoredBounds(*ends, self.share, self.unit)


def format_score(
    score: HasLimits | Missing | None, bounds: UnscoredBounds | None, spread: HasLimits | Missing | None = None
) -> str:
    """Return a score with its interval, or its bounds with the interval around them where these lead.

    Args:
        score: The mean.
        bounds: The bounds, where they lead.
        spread: Of repeated draws; it follows the score after a ±.

    >>> format_score(None, UnscoredBounds(2 / 3, 0.986, 0.6, 1.0, 1 / 3))
    '0.67–0.99 [0.60, 1.00], 33 % of rows affected'
    >>> from evenhand.statistics import Interval
    >>> format_score(Interval(4.75, 4.5, 4.9, 0.95, "exact", 9), None, Interval(0.4, 0.3, 0.5, 0.95, "exact", 9))
    '4.75 ± 0.40 [4.50, 4.90]'
    """
    drawn = f" ± {format_number(spread.estimate)}" if spread else ""
    if bounds is None:
        estimate, limits, rest = format_interval(score).partition(" ")
        return f"{estimate}{drawn}{limits}{rest}" if rest else estimate
    limits = f"[{format_number(bounds.interval_low)}, {format_number(bounds.interval_high)}]"
    share = f"{format_percent(bounds.share)} of {bounds.unit} affected"
    return f"{format_bounds(bounds.low, bounds.high)}{drawn} {limits}, {share}"


def format_bounds(low: float, high: float) -> str:
    """Format two bounds of a score, if these lead.

    >>> format_bounds(2 / 3, 0.986)
    '0.67–0.99'
    """
    return f"{format_number(low)}–{format_number(high)}"


def format_range(low: float | Missing | None, high: float | Missing | None, *, digits: int = 2) -> str:
    """Return the least and the greatest of some numbers; one number where both read the same.

    >>> format_range(0.667, 0.986, digits=3), format_range(0.5, 0.5), format_range(None, None)
    ('0.667 to 0.986', '0.50', '–')
    """
    least, most = format_number(low, digits=digits), format_number(high, digits=digits)
    return least if least == most else f"{least} to {most}"


def format_level(level: float) -> str:
    """Return the level of an interval, as precise as it was given, without a space, so that no header breaks there.

    >>> format_level(0.95), format_level(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:g}%"


def format_p_value(p_value: float | Missing | None) -> str:
    """Return a p-value, never as 0, and as 1 only if it is that.

    >>> format_p_value(0.0421), format_p_value(1e-9), format_p_value(0.9997), format_p_value(1.0)
    ('0.042', '< 0.001', '> 0.999', '1.000')
    """
    if p_value is None or isinstance(p_value, Missing) or math.isnan(p_value):
        return MISSING
    if p_value < 0.001:
        return "< 0.001"
    return "> 0.999" if 0.9995 <= p_value < 1 - _NOISE else f"{p_value:.3f}"


def state_p_value(p_value: float) -> str:
    """Return a p-value as it stands in a sentence.

    >>> state_p_value(0.0421), state_p_value(1e-9)
    ('p = 0.042', 'p < 0.001')
    """
    text = format_p_value(p_value)
    return f"p {text}" if text[0] in "<>" else f"p = {text}"


def format_count(count: float | Missing | None, noun: str = "") -> str:
    """Return a whole number, or the mean of some, with its noun where one is given; a dash where there is none.

    >>> format_count(1200), format_count(1, "pair"), format_count(1200, "reply"), format_count(2, "batch")
    ('1,200', '1 pair', '1,200 replies', '2 batches')
    >>> format_count(None)
    '–'
    """
    if count is None or isinstance(count, Missing) or math.isnan(count):
        return MISSING
    number = f"{count:,.0f}"
    if not noun or number == "1":
        return f"{number} {noun}".rstrip()
    ending = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun[:-1] + 'ies' if noun.endswith('y') else noun + ending}"


def format_bytes(size: float) -> str:
    """Return a size of a file, or of room on a disk.

    >>> format_bytes(512), format_bytes(8 * 2**20)
    ('512 bytes', '8.0 MiB')
    """
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} bytes"


def format_duration(seconds: float) -> str:
    """Return a time that something takes, in minutes and seconds, or with hours where it takes one.

    >>> format_duration(9.4), format_duration(70), format_duration(7265)
    ('0:09', '1:10', '2:01:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_cost(cost: float | None) -> str:
    """Format US dollars, never as $0.0000 if something was paid; a dash if the price is not known.

    >>> format_cost(1234.5), format_cost(0.0), format_cost(1e-6), format_cost(None)
    ('$1,234.5000', '$0.0000', '<$0.0001', '–')
    """
    if cost is None or math.isnan(cost):
        return MISSING
    return "<$0.0001" if 0 < cost < 0.00005 else f"${cost:,.4f}"


def _format_unlike(value: float, marks: tuple[float, ...], digits: int, most: int, sign: str = "") -> str:
    """Return a number with as many digits as it takes not to read as one of the marks, unless it is one."""
    if math.isinf(value):
        return f"{value:{sign}f}".replace("inf", "∞")
    one = max(marks)
    mark = next((mark for mark in marks if abs(value - mark) < _NOISE * one), None)
    if mark is not None:
        return f"{mark:{sign if mark else ''}z.{digits}f}"
    for places in range(digits, most + 1):
        text = f"{value:{sign}z,.{places}f}"
        if float(text.replace(",", "")) not in marks:
            return text
    step = 10.0**-most
    nearest = next((mark for mark in (0.0, one, -one) if abs(value - mark) < step), None)
    if nearest is None:  # next to a half
        return f"{value:{sign}z.{most}f}"
    limit = nearest + step if value > nearest else nearest - step
    return f"{'<' if value > nearest else '>'}{limit:{sign}z.{most}f}"
