"""What a picture is made of: marks on an axis, a matrix, shares of a whole, a curve, as plain numbers and texts.

Here is what is drawn, and nothing of how: :mod:`evenhand.report.svg` draws it for pages, and
:mod:`evenhand.report.plots` by matplotlib for papers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Final

from evenhand.numbers import HasLimits, LeadingBounds, Missing, format_number, format_score
from evenhand.results.layout import shortened
from evenhand.results.measures import Kind, format_value
from evenhand.visible import visible_line

TICKS: Final = 5
"""About how many an axis has."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale with its ticks.

    Attributes:
        label: What is measured on it, with units.
        low: Its least number.
        high: Its greatest.
        kind: By which its numbers are written.
        reference: A number to be compared with, at which a line is drawn.
    """

    label: str
    low: float
    high: float
    kind: Kind = "score"
    reference: float | None = None

    def over(self, numbers: Iterable[float]) -> Axis:
        """The same, as far beyond its ends as the numbers go that are finite."""
        finite = [number for number in numbers if math.isfinite(number)]
        low, high = min([self.low, *finite]), max([self.high, *finite])
        return replace(self, low=low, high=high if high > low else low + 1.0)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers between its ends.

        >>> Axis("score", 0.0, 1.0).ticks, Axis("score", 1.0, 5.0).ticks
        ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (1.0, 2.0, 3.0, 4.0, 5.0))
        """
        width = self.high - self.low
        power = 10.0 ** math.floor(math.log10(width / TICKS))
        sizes = (1, 2, 5, 10) if self.kind == "count" else (1, 2, 2.5, 5, 10)
        step = next(size * power for size in sizes if width / (size * power) <= TICKS + 1e-9)
        step = max(step, 1.0) if self.kind == "count" else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(place * step, 12) for place in range(first, last + 1))

    def text(self, tick: float) -> str:
        """How a tick is written."""
        if self.kind in {"count", "share"}:
            return format_value(tick, self.kind)
        return format_number(tick, digits=min(max(map(_digits, self.ticks)), 4))

    def place(self, value: float) -> float:
        """Where a number stands between the ends, as a share of the way; what lies beyond an end stands at it."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def _digits(number: float) -> int:
    """After the point, of a round number."""
    return len(str(number).partition(".")[2].rstrip("0"))


@dataclass(frozen=True, slots=True)
class Mark:
    """A number on an axis, with its limits.

    Attributes:
        name: Whose it is.
        text: The number as it is written, with its limits; a dash and the reason where there is none.
        estimate: The number; None where there is none, and where bounds stand in its place.
        limits: Of its interval, infinite where the data leave one open; None for a number without.
        bounds: The least and the greatest possible score, where too many votes are unscored for its mean to lead.
        heading: What the mark stands under with others; empty for nothing.
    """

    name: str
    text: str
    estimate: float | None = None
    limits: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    heading: str = ""

    def __post_init__(self) -> None:
        _show(self, "name", "text", "heading")

    @classmethod
    def of(
        cls,
        name: str,
        value: HasLimits | float | Missing,
        kind: Kind,
        *,
        leading: LeadingBounds | None = None,
        heading: str = "",
    ) -> Mark:
        """That of a number of a result.

        Args:
            name: Whose it is.
            value: The number.
            kind: By which it is written.
            leading: The bounds that stand in its place, where too many votes are unscored.
            heading: What it stands under.
        """
        if leading is not None:
            limits = leading.interval_low, leading.interval_high
            return cls(name, format_score(None, leading), None, limits, (leading.low, leading.high), heading)
        if isinstance(value, Missing):
            return cls(name, str(value), heading=heading)
        if isinstance(value, (int, float)):
            return cls(name, format_value(value, kind), float(value), heading=heading)
        text = format_value(value, kind)
        return cls(name, text, value.estimate, (value.low, value.high), heading=heading)

    @property
    def numbers(self) -> tuple[float, ...]:
        """All of it that stands on the axis."""
        own = () if self.estimate is None else (self.estimate,)
        return (*own, *(self.limits or ()), *(self.bounds or ()))


@dataclass(frozen=True, slots=True)
class Marks:
    """Numbers with their intervals on an axis, one beneath the other.

    Attributes:
        title: Above them; empty for nothing.
        axis: On which they stand.
        marks: From the top.
    """

    title: str
    axis: Axis
    marks: tuple[Mark, ...]

    def __post_init__(self) -> None:
        _show(self, "title")

    def said(self) -> str:
        """The numbers in words."""
        return "; ".join(f"{mark.heading}{', ' if mark.heading else ''}{mark.name}: {mark.text}" for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers in a grid, shaded by how far they are from the middle.

    Attributes:
        title: Above it; empty for nothing.
        names: Of the rows.
        columns: Of the columns: the same names, or others.
        values: A row each; None where there is no number.
        texts: The numbers as they are written.
        across: What the columns are.
        down: What the rows are.
        middle: Of the shades; below it is one shade, above it the other.
        ends: At which the shades are the strongest.
    """

    title: str
    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    across: str
    down: str
    middle: float = 0.0
    ends: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        _show(self, "title")
        for name in ("names", "columns"):
            object.__setattr__(self, name, tuple(map(visible_line, getattr(self, name))))

    def numbered(self, most: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the rows, with numbers where columns have the same ones; and those of the other columns.

        Args:
            most: Letters of a name of a row.
        """
        same = self.columns[: len(self.names)] == self.names
        rows = short_names(self.names, most)
        rows = tuple(f"{place} {name}" for place, name in enumerate(rows, 1)) if same else rows
        others = list(enumerate(self.columns, 1))[len(self.names) if same else 0 :]
        return rows, tuple(f"{place} {name}" for place, name in others)

    def shade(self, value: float) -> float:
        """From -1 at the low end to 1 at the high one; 0 in the middle."""
        low, high = self.ends
        span = high - self.middle if value >= self.middle else self.middle - low
        return min(max((value - self.middle) / span, -1.0), 1.0) if span else 0.0

    def said(self) -> str:
        """The numbers in words."""
        rows = zip(self.names, self.texts, strict=True)
        return "; ".join(f"{name}: {', '.join(map(_cell, self.columns, texts))}" for name, texts in rows)


def _cell(column: str, text: str) -> str:
    return f"{column} {text or '–'}"


@dataclass(frozen=True, slots=True)
class Whole:
    """How many of a whole are of each part.

    Attributes:
        name: Whose it is.
        counts: One a part.
    """

    name: str
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        _show(self, "name")

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.counts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Of the parts; 0 of nothing."""
        return tuple(count / self.total if self.total else 0.0 for count in self.counts)


@dataclass(frozen=True, slots=True)
class Shares:
    """What wholes are made of, as bars of the same length.

    Attributes:
        title: Above them; empty for nothing.
        parts: The names of the parts, in their order.
        apart: How many at the end are no levels: not applicable, unscored.
        wholes: From the top.
    """

    title: str
    parts: tuple[str, ...]
    apart: int
    wholes: tuple[Whole, ...]

    def __post_init__(self) -> None:
        _show(self, "title")
        object.__setattr__(self, "parts", tuple(map(visible_line, self.parts)))

    def strength(self, part: int) -> float:
        """How strongly a part is shaded, from 1 for the first level to near 0 for the last."""
        levels = len(self.parts) - self.apart
        return 1 - part / levels if part < levels else 0.0

    def said(self) -> str:
        """The numbers in words."""
        return "; ".join(
            f"{whole.name}: "
            + ", ".join(f"{count} {part}" for part, count in zip(self.parts, whole.counts, strict=True))
            for whole in self.wholes
        )


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve, with limits up and down.

    Attributes:
        across: Where it stands.
        mark: How high it stands.
        n: How many it rests on.
    """

    across: float
    mark: Mark
    n: int


@dataclass(frozen=True, slots=True)
class Curve:
    """What was stated against what came true; on the diagonal both are the same.

    Attributes:
        title: Above it; empty for nothing.
        across: The axis of what was stated.
        up: The axis of what came true.
        points: From the left.
    """

    title: str
    across: Axis
    up: Axis
    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        _show(self, "title")

    def said(self) -> str:
        """The numbers in words."""
        return "; ".join(f"{self.across.text(each.across)}: {each.mark.text}, n = {each.n}" for each in self.points)


Panel = Marks | Matrix | Shares | Curve


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, without any backend.

    Attributes:
        kind: A short name.
        title: In a few words.
        caption: What it is, n, the level and method of intervals, and what is unscored, in sentences.
        panels: From the top.
    """

    kind: str
    title: str
    caption: str
    panels: tuple[Panel, ...] = field(repr=False)

    def __post_init__(self) -> None:
        _show(self, "title", "caption")

    def to_svg(self) -> str:
        """The picture as an ``<svg>`` element, to stand in a page or by itself.

        Texts take the colour of the page, and the shades the CSS variables ``--evenhand-high`` and ``--evenhand-low``.
        """
        drawn: str = import_module("evenhand.report.svg").draw(self)
        return drawn

    def _repr_svg_(self) -> str:
        return self.to_svg()


def short_names(names: Sequence[str], most: int) -> tuple[str, ...]:
    """The names as they fit into so many letters, none like another."""
    short = shortened(names, most)
    return tuple(short.get(name, name) for name in names)


def one_line(text: str, most: int) -> str:
    """A text as it fits into so many letters."""
    return short_names([text], most)[0]


def _show(of: object, *names: str) -> None:
    """Make texts such as may be shown."""
    for name in names:
        object.__setattr__(of, name, visible_line(getattr(of, name)))
