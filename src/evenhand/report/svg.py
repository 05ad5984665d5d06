"""Pictures as inline SVG: no library, no script, no style sheet, nothing that is fetched.

Lines and texts take the colour of the page (``currentColor``), so that a picture is read in light, in dark and in
print. Shades have numbers written in them, and what is unscored is hatched: nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from itertools import accumulate
from typing import Any, Final
from unicodedata import east_asian_width
from xml.etree.ElementTree import Element, SubElement, tostring

from evenhand.numbers import format_count, format_number, format_percent
from evenhand.report.shapes import Axis, Curve, Mark, Marks, Matrix, Panel, Picture, Shares, one_line, short_names

WIDTH: Final = 640
ROW: Final = 21
LETTER: Final = 7.2
"""About the width of a letter of 12 px, in wide fonts."""

DIGIT: Final = 6.6
"""The same of numbers."""

MOST_LETTERS: Final = 30
"""Of a name."""

MOST_OF_A_HEADING: Final = 80
HIGH: Final = "var(--evenhand-high, #0072b2)"
LOW: Final = "var(--evenhand-low, #d55e00)"
STRONGEST: Final = 0.6
"""Of a shade: a text upon it can be read."""

_TEXT: Final = {"font-family": "system-ui, sans-serif", "font-size": "12", "fill": "currentColor"}


def draw(picture: Picture) -> str:
    """The picture as an ``<svg>`` element."""
    sheet = _Sheet(f"evenhand-{blake2s(repr((picture.title, picture.panels)).encode(), digest_size=6).hexdigest()}")
    root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **_TEXT})
    SubElement(root, "title").text = picture.title
    said = [f"{panel.title}: {panel.said()}" if panel.title else panel.said() for panel in picture.panels]
    SubElement(root, "desc").text = " ".join([picture.caption, *(f"{each}." for each in said)])
    for panel in picture.panels:
        _DRAWN[type(panel)](sheet, panel)
    width, height = sheet.width, sheet.top + 4
    root.attrib |= {"viewBox": f"0 0 {width} {height:g}", "width": f"{width}", "height": f"{height:g}"}
    if sheet.hatched:
        root.append(_hatching(sheet.name))
    root.extend(sheet.drawn)
    return tostring(root, encoding="unicode")


def _hatching(name: str) -> Element:
    made = Element("defs")
    about = {"id": name, "width": "6", "height": "6", "patternUnits": "userSpaceOnUse"}
    pattern = SubElement(made, "pattern", {**about, "patternTransform": "rotate(45)"})
    SubElement(
        pattern, "path", {"d": "M0 0V6", "stroke": "currentColor", "stroke-width": "2", "stroke-opacity": "0.35"}
    )
    return made


class _Sheet:
    """What is drawn already, and where the next thing goes.

    Attributes:
        name: Of the hatching, told apart from those of other pictures in a page.
        drawn: The elements.
        top: Where there is room.
        width: How far to the right it goes.
        hatched: Whether something is hatched.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.drawn: list[Element] = []
        self.top = 4.0
        self.width = WIDTH
        self.hatched = False

    def put(self, tag: str, text: str | None = None, whole: str | None = None, **attributes: Any) -> Element:  # noqa: ANN401 - texts and numbers
        """An element; numbers are rounded, underscores are hyphens, and a text that was cut has the whole to it."""
        given = {name.rstrip("_").replace("_", "-"): _plain(value) for name, value in attributes.items()}
        made = Element(tag, given)
        made.text = text
        if whole is not None and whole != text:
            SubElement(made, "title").text = whole
        self.drawn.append(made)
        return made

    def write(self, x: float, text: str, whole: str | None = None, *, y: float | None = None, **how: Any) -> None:  # noqa: ANN401 - as above
        """A text whose baseline is in the row at the top, or at a place."""
        self.put("text", text, whole, x=x, y=self.top + 14 if y is None else y, **how)

    def line(self, start: tuple[float, float], end: tuple[float, float], **how: Any) -> None:  # noqa: ANN401 - as above
        """A straight one."""
        (x1, y1), (x2, y2) = start, end
        self.put("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", **how)

    def head(self, title: str) -> None:
        """The title of a panel."""
        if title:
            self.write(0, one_line(title, MOST_OF_A_HEADING), title, font_weight="bold")
            self.top += ROW + 3


def _plain(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _letters(text: str) -> float:
    """The width of a text in letters, of which some scripts' count twice."""
    return sum(2.0 if east_asian_width(letter) in "WF" else 1.0 for letter in text)


@dataclass(frozen=True, slots=True)
class _Line:
    """Where an axis lies."""

    axis: Axis
    left: float
    right: float

    def x(self, value: float) -> float:
        return self.left + self.axis.place(value) * (self.right - self.left)


def _marks(sheet: _Sheet, panel: Marks) -> None:
    sheet.head(panel.title)
    names = short_names([mark.name for mark in panel.marks], MOST_LETTERS)
    left = LETTER * max(map(_letters, names)) + 18
    room = DIGIT * max((_letters(mark.text) for mark in panel.marks if mark.numbers), default=8) + 12
    line = _Line(panel.axis, left, WIDTH - room)
    top, heading = sheet.top, ""
    grid = len(sheet.drawn)
    for mark, name in zip(panel.marks, names, strict=True):
        if mark.heading != heading:
            heading = mark.heading
            sheet.write(0, one_line(heading, MOST_OF_A_HEADING), heading, font_weight="bold")
            sheet.top += ROW
        sheet.write(6, name, mark.name)
        _mark(sheet, line, mark)
        sheet.top += ROW
    behind = _Sheet(sheet.name)
    for tick in panel.axis.ticks:
        behind.line((line.x(tick), top), (line.x(tick), sheet.top), stroke_opacity="0.15")
    if panel.axis.reference is not None:
        place = line.x(panel.axis.reference)
        behind.line((place, top), (place, sheet.top), stroke_opacity="0.7", stroke_dasharray="4 3")
    sheet.drawn[grid:grid] = behind.drawn
    _axis(sheet, line)


def _mark(sheet: _Sheet, line: _Line, mark: Mark) -> None:
    """The interval as a line, open where the data leave it open; the number as a point; bounds as a hatched bar."""
    if not mark.numbers:
        sheet.write(line.left, one_line(mark.text, int((WIDTH - line.left) / LETTER)), mark.text, fill_opacity="0.75")
        return
    y = sheet.top + 10
    if mark.limits is not None:
        low, high = mark.limits
        _limits(sheet, line, (low, high), y)
    if mark.bounds is not None:
        start, end = map(line.x, mark.bounds)
        sheet.hatched = True
        how = {"fill": f"url(#{sheet.name})", "stroke": "currentColor"}
        sheet.put("rect", x=start, y=y - 5, width=max(end - start, 1.0), height=10, class_="bounds", **how)
    if mark.estimate is not None:
        sheet.put("circle", cx=line.x(mark.estimate), cy=y, r=4, fill=HIGH, stroke="currentColor", class_="estimate")
    sheet.write(line.right + 10, mark.text)


def _limits(sheet: _Sheet, line: _Line, limits: tuple[float, float], y: float) -> None:
    low, high = limits
    start, end = line.x(low), line.x(high)
    sheet.line((start, y), (end, y), stroke_width=1.5, class_="limits")
    for limit, place, outward in ((low, start, -1), (high, end, 1)):
        if line.axis.low <= limit <= line.axis.high:
            sheet.line((place, y - 4), (place, y + 4), stroke_width=1.5)
        else:  # an arrow head
            tip, back = place + 4 * outward, place - 2 * outward
            sheet.put(
                "path", d=f"M{back:g} {y - 4:g}L{tip:g} {y:g}L{back:g} {y + 4:g}", fill="none", stroke="currentColor"
            )


def _axis(sheet: _Sheet, line: _Line) -> None:
    sheet.line((line.left, sheet.top), (line.right, sheet.top))
    for tick in line.axis.ticks:
        x = line.x(tick)
        sheet.line((x, sheet.top), (x, sheet.top + 4))
        sheet.write(x, line.axis.text(tick), y=sheet.top + 17, text_anchor="middle", font_size=11, class_="tick")
    sheet.write((line.left + line.right) / 2, line.axis.label, y=sheet.top + 33, text_anchor="middle")
    sheet.top += 48


def _matrix(sheet: _Sheet, panel: Matrix) -> None:
    """Rows by name, columns by the number that stands before the name of their row, or beneath the matrix."""
    sheet.head(panel.title)
    names, others = panel.numbered(MOST_LETTERS)
    cell = max(40.0, DIGIT * max(_letters(text) for row in panel.texts for text in row) + 10)
    left = LETTER * max(map(_letters, (*names, panel.down))) + 14
    sheet.width = max(sheet.width, int(left + cell * len(panel.columns) + 8))
    sheet.write(0, panel.down, font_size=11)
    sheet.write(left, f"{panel.across} →", font_size=11)
    sheet.top += ROW
    for place in range(len(panel.columns)):
        sheet.write(left + cell * (place + 0.5), format_count(place + 1), text_anchor="middle", font_weight="bold")
    sheet.top += ROW
    for name, whole, values, texts in zip(names, panel.names, panel.values, panel.texts, strict=True):
        sheet.write(6, name, whole)
        for place, (value, text) in enumerate(zip(values, texts, strict=True)):
            _shaded(sheet, left + cell * place, cell, None if value is None else panel.shade(value), text)
        sheet.top += 26
    sheet.top += 4
    if others:
        _listed(sheet, [(each, None) for each in others])
    sheet.top += 6


def _shaded(sheet: _Sheet, x: float, width: float, shade: float | None, text: str) -> None:
    fill = "none" if not shade else HIGH if shade > 0 else LOW
    how: dict[str, Any] = {"fill": fill, "fill_opacity": STRONGEST * abs(shade or 0.0), "stroke": "currentColor"}
    sheet.put("rect", x=x, y=sheet.top - 3, width=width, height=26, class_="cell", stroke_opacity="0.25", **how)
    if text:
        sheet.write(x + width / 2, text, text_anchor="middle")


def _shares(sheet: _Sheet, panel: Shares) -> None:
    sheet.head(panel.title)
    _listed(sheet, [(part, _filling(sheet, panel, place)) for place, part in enumerate(panel.parts)])
    names = short_names([whole.name for whole in panel.wholes], MOST_LETTERS)
    left = LETTER * max(map(_letters, names)) + 14
    counts = [f"n = {format_count(whole.total)}" for whole in panel.wholes]
    right = WIDTH - DIGIT * max(map(len, counts)) - 12
    for whole, name, count in zip(panel.wholes, names, counts, strict=True):
        sheet.write(6, name, whole.name)
        sheet.write(right + 10, count)
        ends = [left + (right - left) * share for share in accumulate(whole.shares, initial=0.0)]
        for place, (start, end, share) in enumerate(zip(ends[:-1], ends[1:], whole.shares, strict=True)):
            if share:
                _part(sheet, (start, end), _filling(sheet, panel, place), format_percent(share), panel.parts[place])
        sheet.top += ROW + 3
    sheet.top += 10


def _part(sheet: _Sheet, ends: tuple[float, float], filling: dict[str, Any], text: str, part: str) -> None:
    start, end = ends
    about = f"{part}: {text}"
    sheet.put("rect", None, about, x=start, y=sheet.top, width=end - start, height=18, class_="part", **filling)
    if end - start > DIGIT * len(text) + 4:
        sheet.write((start + end) / 2, text, text_anchor="middle")


def _filling(sheet: _Sheet, panel: Shares, part: int) -> dict[str, Any]:
    """A level by its shade, what is not applicable white, and the unscored, which come last, hatched."""
    edge: dict[str, Any] = {"stroke": "currentColor", "stroke_opacity": "0.6"}
    if part == len(panel.parts) - 1:
        sheet.hatched = True
        return {"fill": f"url(#{sheet.name})", **edge}
    strength = panel.strength(part)
    return {"fill": "none", **edge} if not strength else {"fill": HIGH, "fill_opacity": STRONGEST * strength, **edge}


def _listed(sheet: _Sheet, entries: Sequence[tuple[str, dict[str, Any] | None]]) -> None:
    """A legend, in as many lines as it takes."""
    x = 6.0
    for text, filling in entries:
        short = one_line(text, MOST_OF_A_HEADING - 12)
        width = LETTER * _letters(short) + (34 if filling else 16)
        if x > 6 and x + width > WIDTH:
            x, sheet.top = 6.0, sheet.top + ROW
        if filling:
            sheet.put("rect", x=x, y=sheet.top + 3, width=14, height=14, **filling)
        sheet.write(x + (20 if filling else 0), short, text)
        x += width
    sheet.top += ROW + 3


def _curve(sheet: _Sheet, panel: Curve) -> None:
    sheet.head(panel.title)
    side, left = 300.0, 60.0
    across = _Line(panel.across, left, left + side)
    bottom = sheet.top + side

    def y(value: float) -> float:
        return bottom - panel.up.place(value) * side

    for tick in panel.up.ticks:
        sheet.line((left, y(tick)), (left + side, y(tick)), stroke_opacity="0.15")
        sheet.write(left - 6, panel.up.text(tick), y=y(tick) + 4, text_anchor="end", font_size=11)
    low, high = max(panel.across.low, panel.up.low), min(panel.across.high, panel.up.high)
    sheet.line((across.x(low), y(low)), (across.x(high), y(high)), stroke_opacity="0.7", stroke_dasharray="4 3")
    sheet.line((left, sheet.top), (left, bottom))
    middle = sheet.top + side / 2
    sheet.write(14, panel.up.label, y=middle, text_anchor="middle", transform=f"rotate(-90 14 {middle:g})")
    for point in panel.points:
        x = across.x(point.across)
        if point.mark.limits is not None:
            start, end = map(y, point.mark.limits)
            sheet.line((x, start), (x, end), stroke_width=1.5, class_="limits")
        if point.mark.estimate is not None:
            place = y(point.mark.estimate)
            sheet.put("circle", cx=x, cy=place, r=4, fill=HIGH, stroke="currentColor", class_="estimate")
    sheet.write(left + side + 24, "stated: confirmed (n)", font_size=11)
    for row, point in enumerate(panel.points, 1):
        stated = format_number(point.across)
        said = f"{stated}: {point.mark.text} ({format_count(point.n)})"
        sheet.write(left + side + 24, said, y=sheet.top + 14 + row * 19)
    sheet.top = bottom
    _axis(sheet, across)


_DRAWN: Final[dict[type[Panel], Callable[[_Sheet, Any], None]]] = {
    Marks: _marks,
    Matrix: _matrix,
    Shares: _shares,
    Curve: _curve,
}
