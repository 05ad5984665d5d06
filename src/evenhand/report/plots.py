"""Pictures by matplotlib, for papers: figures with axes that can be changed, saved as SVG, PNG or PDF.

Nothing global is touched: neither pyplot nor a style. Texts stay texts in PDF and SVG. Colours are those of Okabe and
Ito (https://jfly.uni-koeln.de/color/), which the colour-blind tell apart; what matters is told by marks and numbers
too.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evenhand.errors import MissingDependencyError
from evenhand.numbers import format_count, format_percent
from evenhand.report.pictures import first_picture
from evenhand.report.shapes import Axis, Curve, Mark, Marks, Matrix, Panel, Picture, Shares, one_line, short_names
from evenhand.results.saved import check_ending, written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS: Final = (".svg", ".png", ".pdf")
COLUMN: Final = 3.5
"""Inches: the width of a column of most papers in two columns."""

LEAST: Final = 1.4
"""Inches of an axis."""

SIZE: Final = 7.0
"""Of letters, in points."""

LETTER: Final = 0.55 * SIZE / 72
"""About the width of a letter, in inches."""

ROW: Final = 0.17
MOST_LETTERS: Final = 24
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
GREY: Final = "0.6"
EDGE: Final[dict[str, Any]] = {"edgecolor": "black", "linewidth": 0.5}
HATCHED: Final[dict[str, Any]] = {"facecolor": "white", "hatch": "/////", **EDGE}
POINT: Final[dict[str, Any]] = {
    "marker": "o",
    "color": BLUE,
    "markersize": 4,
    "markeredgecolor": "black",
    "markeredgewidth": 0.5,
    "gid": "estimate",
    "clip_on": False,
    "zorder": 3,
}
SETTINGS: Final = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "evenhand",
    "font.family": ["sans-serif"],
    "font.size": SIZE,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": SIZE,
    "axes.titleweight": "bold",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.5,
    "text.parse_math": False,
    "text.usetex": False,
}
"""Whatever the user's own: a picture is the same everywhere, and a dollar in a name is no formula."""


def plot(results: Any, kind: str | None = None, path: str | Path | None = None) -> Figure:  # noqa: ANN401 - as in pictures_of
    """A picture for a paper, by matplotlib (``pip install 'evenhand[plot]'``).

    Args:
        results: A result of any kind, or a report on the reliability of judges.
        kind: ``scores``, ``winrates``, ``ranks``, ``matrix``, ``items``, ``levels``, ``flips``, ``agreement``,
            ``gold`` or ``calibration``, as far as this result has it; by default the first that it has.
        path: Write it there too: ``.svg``, ``.png`` or ``.pdf``, its caption in the metadata.

    Returns:
        A ``matplotlib.figure.Figure``, which notebooks show; its axes can be changed. The caption is that of
        :func:`~evenhand.report.pictures.pictures_of`.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
        InvalidInputError: A kind that this result does not have, or another ending.
        UnwritableFileError: If the file cannot be written.
    """
    if path is not None:
        check_ending(path, ENDINGS)
    picture = first_picture(results, kind)
    figure = figure_of(picture)
    if path is not None:
        save(figure, picture, path)
    return figure


def figure_of(picture: Picture) -> Figure:
    """The picture as a figure as wide as a column, with its ``caption``; a notebook shows it.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    matplotlib = _matplotlib()
    heights = [_height(panel) for panel in picture.panels]
    width = max(COLUMN, *map(_width, picture.panels))
    fonts = ["DejaVu Sans", *matplotlib.rcParams["font.sans-serif"]]  # the user's own for scripts that this one lacks
    with matplotlib.rc_context({**SETTINGS, "font.sans-serif": fonts}):
        figure: Figure = _figure_class()(figsize=(width, sum(heights) + 0.1), layout="constrained")
        figure.set_label(picture.title)
        figure.caption = picture.caption  # type: ignore[attr-defined] # of the class below
        grid = figure.subplots(len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})
        for panel, (axes,) in zip(picture.panels, grid, strict=True):
            if panel.title and not isinstance(panel, Shares):  # whose legend has it
                axes.set_title(panel.title)
            _DRAWN[type(panel)](axes, panel)
    return figure


@cache
def _figure_class() -> Any:  # noqa: ANN401 - of an optional library
    """A figure that a notebook shows without pyplot."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - a second of import, and optional

    class DrawnFigure(Figure):
        caption: str

        def _repr_png_(self) -> bytes:
            image = io.BytesIO()
            with _matplotlib().rc_context(SETTINGS):
                self.savefig(image, format="png", dpi=144, bbox_inches="tight")
            return image.getvalue()

    return DrawnFigure


def save(figure: Figure, picture: Picture, path: str | Path) -> None:
    """Write a figure with its title and caption in the metadata, in the format of the path's ending.

    Raises:
        InvalidInputError: If the path ends otherwise.
        UnwritableFileError: If the file cannot be written.
    """
    form = check_ending(path, ENDINGS).removeprefix(".")
    about = {
        "svg": {"Title": picture.title, "Description": picture.caption, "Date": None},
        "png": {"Title": picture.title, "Description": picture.caption},
        "pdf": {"Title": picture.title, "Subject": picture.caption, "CreationDate": None},
    }[form]
    with written_whole(path) as beside, _matplotlib().rc_context(SETTINGS):
        figure.savefig(beside, format=form, dpi=300, metadata=about, bbox_inches="tight", pad_inches=0.02)


def _matplotlib() -> Any:  # noqa: ANN401 - a module
    try:
        import matplotlib as found  # noqa: PLC0415 - as above
    except ImportError as error:
        raise MissingDependencyError(
            "pictures for papers are drawn by matplotlib, which is not installed: pip install 'evenhand[plot]'"
        ) from error
    return found


def _height(panel: Panel) -> float:
    """In inches."""
    title = 0.2 if panel.title else 0.0
    if isinstance(panel, Marks):
        return ROW * len(_rows(panel)) + 0.45 + title
    if isinstance(panel, Shares):
        return (ROW + 0.05) * len(panel.wholes) + 0.2 * (1 + len(panel.parts) // 2) + 0.1 + title
    if isinstance(panel, Matrix):
        return 0.22 * len(panel.names) + 0.13 * len(panel.numbered(MOST_LETTERS)[1]) + 0.45 + title
    return 2.8 + title


def _width(panel: Panel) -> float:
    """In inches, as much as names and numbers take beside what is drawn, where a column is not enough."""
    if isinstance(panel, Matrix):
        cell = LETTER * max(4, *(len(text) for row in panel.texts for text in row)) + 0.08
        return cell * len(panel.columns) + LETTER * (MOST_LETTERS + 4)
    if isinstance(panel, Marks):
        texts = [len(mark.text) for mark in panel.marks if mark.numbers]
        letters = max(min(len(mark.name), MOST_LETTERS) for mark in panel.marks) + max(texts, default=0)
        return LETTER * letters + LEAST
    return 0.0


def _rows(panel: Marks) -> list[Mark | str]:
    """The marks, and the headings that they stand beneath."""
    found: list[Mark | str] = []
    heading = ""
    for mark in panel.marks:
        if mark.heading != heading:
            heading = mark.heading
            found.append(heading)
        found.append(mark)
    return found


def _marks(axes: Axes, panel: Marks) -> None:
    rows = _rows(panel)
    names = iter(short_names([mark.name for mark in panel.marks], MOST_LETTERS))
    _horizontal(axes, panel.axis, len(rows))
    labels = [one_line(row, 44) if isinstance(row, str) else next(names) for row in rows]
    axes.set_yticks(
        range(len(rows)), ["" if isinstance(row, str) else name for row, name in zip(rows, labels, strict=True)]
    )
    axes.tick_params("y", length=0)
    for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
        if isinstance(row, str):
            axes.text(0, place, label, weight="bold", va="center", transform=axes.get_yaxis_transform())
        else:
            _mark(axes, panel.axis, row, place)


def _horizontal(axes: Axes, axis: Axis, rows: int) -> None:
    axes.set_xlim(axis.low, axis.high)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_xticks(axis.ticks, [axis.text(tick) for tick in axis.ticks])
    axes.set_xlabel(axis.label)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    if axis.reference is not None:
        axes.axvline(axis.reference, color=GREY, linewidth=0.8, linestyle="--")


def _mark(axes: Axes, axis: Axis, mark: Mark, place: int) -> None:
    """The interval as a line, open where the data leave it open; the number as a point; bounds as a hatched bar."""
    beside: dict[str, Any] = {"va": "center", "transform": axes.get_yaxis_transform()}
    if not mark.numbers:
        axes.text(0.01, place, one_line(mark.text, 44), color="0.35", **beside)
        return
    if mark.limits is not None:
        low, high = (min(max(limit, axis.low), axis.high) for limit in mark.limits)
        axes.plot([low, high], [place, place], color="black", linewidth=0.9, gid="limits", clip_on=False)
        for limit, end, arrow in ((mark.limits[0], low, "<"), (mark.limits[1], high, ">")):
            sign = "|" if axis.low <= limit <= axis.high else arrow
            axes.plot(end, place, sign, color="black", markersize=4, markeredgewidth=0.9, clip_on=False)
    if mark.bounds is not None:
        start, end = mark.bounds
        axes.barh(place, end - start, 0.5, start, gid="bounds", **HATCHED)
    if mark.estimate is not None:
        axes.plot(mark.estimate, place, **POINT)
    axes.text(1.03, place, mark.text, **beside)


def _matrix(axes: Axes, panel: Matrix) -> None:
    names, others = panel.numbered(MOST_LETTERS)
    width = len(panel.columns)
    axes.set_xlim(0, width)
    axes.set_ylim(len(names), 0)
    axes.set_yticks([place + 0.5 for place in range(len(names))], names)
    axes.set_xticks([place + 0.5 for place in range(width)], [format_count(place + 1) for place in range(width)])
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.set_xlabel(panel.across)
    axes.xaxis.set_label_position("top")
    axes.set_ylabel(panel.down)
    for row, (values, texts) in enumerate(zip(panel.values, panel.texts, strict=True)):
        for column, (value, text) in enumerate(zip(values, texts, strict=True)):
            shade = 0.0 if value is None else panel.shade(value)
            colour: Any = (BLUE if shade > 0 else VERMILION, 0.6 * abs(shade))
            axes.add_patch(_rectangle((column, row), 1, 1, facecolor=colour, edgecolor="0.75", linewidth=0.5))
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", gid="cell")
    for spine in axes.spines.values():
        spine.set_visible(False)
    if others:
        axes.annotate("\n".join(others), (0, 0), (0, -3), "axes fraction", "offset points", va="top")


def _rectangle(corner: tuple[float, float], width: float, height: float, **how: Any) -> Any:  # noqa: ANN401 - of matplotlib
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - as above

    return Rectangle(corner, width, height, **how)


def _shares(axes: Axes, panel: Shares) -> None:
    names = short_names([whole.name for whole in panel.wholes], MOST_LETTERS)
    _horizontal(axes, Axis("share of the rows", 0.0, 1.0, "share"), len(names))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params("y", length=0)
    for place, part in enumerate(panel.parts):
        starts = [list(accumulate(whole.shares, initial=0.0))[place] for whole in panel.wholes]
        shares = [whole.shares[place] for whole in panel.wholes]
        how = {"label": one_line(part, 30), "gid": "part", **_filling(panel, place)}
        axes.barh(range(len(names)), shares, 0.8, starts, **how)
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6} if "hatch" in how else None
        for row, (start, share) in enumerate(zip(starts, shares, strict=True)):
            if share >= 0.11:
                axes.text(start + share / 2, row, format_percent(share), ha="center", va="center", bbox=paper)
    for row, whole in enumerate(panel.wholes):
        count = f"n = {format_count(whole.total)}"
        axes.text(1.03, row, count, va="center", transform=axes.get_yaxis_transform())
    axes.grid(visible=False)
    legend = axes.legend(title=panel.title, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)
    legend.set(alignment="left")
    legend.get_title().set_fontweight("bold")


def _filling(panel: Shares, part: int) -> dict[str, Any]:
    """A level by its shade, what is not applicable white, and what has no verdict, which comes last, hatched."""
    last = part == len(panel.parts) - 1
    return HATCHED if last else {"facecolor": (BLUE, 0.7 * panel.strength(part)), **EDGE}


def _curve(axes: Axes, panel: Curve) -> None:
    for axis, limits, ticks, label in (
        (panel.across, axes.set_xlim, axes.set_xticks, axes.set_xlabel),
        (panel.up, axes.set_ylim, axes.set_yticks, axes.set_ylabel),
    ):
        limits(axis.low, axis.high)
        ticks(axis.ticks, [axis.text(tick) for tick in axis.ticks])
        label(axis.label)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    axes.set_aspect("equal")
    for point in panel.points:
        mark = point.mark
        if mark.limits is not None:
            axes.plot([point.across] * 2, mark.limits, color="black", linewidth=0.9, gid="limits")
        if mark.estimate is not None:
            axes.plot(point.across, mark.estimate, **POINT)
        how: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": SIZE - 1.5}
        axes.annotate(f"n={format_count(point.n)}", (point.across, max(mark.numbers)), (0, 2), **how)


_DRAWN: Final[dict[type[Panel], Callable[[Any, Any], None]]] = {
    Marks: _marks,
    Matrix: _matrix,
    Shares: _shares,
    Curve: _curve,
}
