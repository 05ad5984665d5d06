"""Pictures of a result by matplotlib: in its page, in notebooks, and as files for papers.

A kind of picture is a function from a result to panels of plain numbers and texts; a panel draws itself on axes.
matplotlib is imported when something is drawn, without pyplot and without a change of the user's settings. Colours are
those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which colour-blind people distinguish; marks and numbers say
the same.
"""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, cast

from rich.cells import cell_len

from evenhand.data.plain import by_key
from evenhand.errors import check_known
from evenhand.files import check_ending, written_whole
from evenhand.numbers import Missing, format_count, format_level, format_percent
from evenhand.report.gates import outcomes_of, score_ranges
from evenhand.results.measures import Measure, Outcomes
from evenhand.results.results import Results
from evenhand.statistics.intervals import Interval
from evenhand.visible import visible_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    class CaptionedFigure(Figure):
        """A figure with its caption."""

        caption: str


ENDINGS: Final = (".svg", ".png", ".pdf")

MOST_ROWS: Final = 240
"""Rows that a panel shows."""

MOST_SYSTEMS: Final = 16
"""Systems in a matrix: of more, the best."""

MOST_LETTERS: Final = 30
"""Letters of a name or a reason."""

COLUMN: Final = 3.5
"""Inches: the width of a column in most papers of two columns, and of a telephone."""

SIZE: Final = 8.0
"""Points of a letter."""

LINE: Final = 1.2 * SIZE / 72
"""The height of a line of text, in inches."""

LETTER: Final = 0.6 * SIZE / 72
"""About the width of a letter, in inches."""

BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
GREY: Final = "#6e7781"
PALE: Final = "#e3e6ea"
STYLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "limits": {"color": "black", "linewidth": 1.1, "marker": "|", "markersize": 4, "clip_on": False},
    "bounds": {"facecolor": "white", "hatch": "/////", "edgecolor": GREY, "linewidth": 0.5},
    "estimate": {"color": BLUE, "markeredgecolor": "white", "markersize": 5, "clip_on": False, "zorder": 3},
    "reference": {"color": GREY, "linewidth": 0.8, "linestyle": "--"},
}
SETTINGS: Final[dict[str, Any]] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "evenhand",
    "font.size": SIZE,
    "text.parse_math": False,
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": PALE,
    "ytick.major.size": 0,
}
"""Over matplotlib's defaults. Texts stay texts in PDF and SVG, and a dollar sign in a name begins no formula."""

LOCK: Final = RLock()
"""While something is drawn, matplotlib's settings are ours, in all threads."""

NOT_APPLICABLE: Final = "not applicable"
NO_VERDICT: Final = "no verdict"
BOUNDS_NOTE: Final = (
    "Hatched: the bounds of a score, where too many votes are unscored for its mean to lead, with the interval around "
    "both."
)


@dataclass(frozen=True, slots=True)
class Marks:
    """Numbers on one axis, each in a row: a point, its interval as a line, its bounds as a hatched bar.

    Attributes:
        label: The label of the axis.
        rows: The name and number of each row, from the top; a row without a number is the heading of those below it.
        ends: The least and the greatest number of the axis.
        reference: A number to compare with, at which a line is drawn.
    """

    label: str
    rows: Sequence[tuple[str, Measure | None]]
    ends: tuple[float, float] = (0.0, 1.0)
    reference: float | None = None

    @property
    def size(self) -> tuple[float, float]:
        """The width of the panel and the height of its axes, in inches."""
        texts = [_in_margin(number) for _, number in self.rows if number is not None]
        letters = _most_letters(name for name, _ in self.rows) + _most_letters(line for text in texts for line in text)
        spacing = 2.3 if any(len(text) > 1 for text in texts) else 1.5
        return 1.2 + LETTER * letters, LINE * spacing * len(self.rows)

    def draw(self, axes: Axes) -> None:
        """Draw the rows from the top."""
        margin: dict[str, Any] = {"va": "center", "transform": axes.get_yaxis_transform()}
        for place, (_, number) in enumerate(self.rows):
            if number is None:
                continue
            limits: Sequence[float] = ()
            if number.bounds is not None:
                low, high = number.bounds.low, number.bounds.high
                limits = number.bounds.interval_low, number.bounds.interval_high
                axes.barh(place, high - low, 0.5, low, gid="bounds", **STYLES["bounds"])
            elif (estimate := number.estimate) is None:
                axes.text(0.01, place, _shorten([str(number.value)])[0], color=GREY, **margin)
                continue
            else:
                value = number.value
                limits = () if isinstance(value, (int, float, Missing)) else (value.low, value.high)
                axes.plot(estimate, place, "o", gid="estimate", **STYLES["estimate"])
            axes.plot(limits, [place] * len(limits), gid="limits", **STYLES["limits"])
            axes.text(1.03, place, "\n".join(_in_margin(number)), **margin)
        if self.reference is not None:
            axes.axvline(self.reference, **STYLES["reference"])
        axes.set_xlim(*self.ends)
        axes.locator_params("x", nbins=4)
        axes.set_xlabel(_shorten([self.label])[0])
        axes.set_ylim(len(self.rows) - 0.5, -0.5)
        axes.set_yticks(range(len(self.rows)), _shorten([name for name, _ in self.rows]))
        for label, (_, number) in zip(axes.get_yticklabels(), self.rows, strict=True):
            label.set_fontweight("normal" if number is not None else "bold")
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers in a grid, with shades from -1 (one colour) over 0 (white) to 1 (the other).

    Attributes:
        names: The names of the rows.
        columns: Names of the columns.
        shades: One list per row; 0 also where there is no number.
        texts: The numbers as they are written.
        across: The label of the columns.
        down: The label of the rows.
    """

    names: Sequence[str]
    columns: Sequence[str]
    shades: Sequence[Sequence[float]]
    texts: Sequence[Sequence[str]]
    across: str = ""
    down: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """The width of the panel and the height of its axes, in inches."""
        cell = LETTER * max(4, _most_letters(text for row in self.texts for text in row)) + 0.1
        return cell * len(self.columns) + LETTER * (3 + _most_letters(self.names)), 1.8 * LINE * len(self.names)

    def draw(self, axes: Axes) -> None:
        """Draw a cell for each number, with the names of the columns on top."""
        for row, (shades, texts) in enumerate(zip(self.shades, self.texts, strict=True)):
            colours = [(BLUE if shade > 0 else VERMILION, 0.6 * abs(shade)) for shade in shades]
            left = [column - 0.5 for column in range(len(shades))]
            bars = axes.barh([row] * len(left), 1, 1, left, color=colours, edgecolor=PALE, linewidth=0.6)
            axes.bar_label(bars, texts, label_type="center", gid="cell")
        axes.set_xlim(-0.5, len(self.columns) - 0.5)
        axes.set_ylim(len(self.names) - 0.5, -0.5)
        axes.set_yticks(range(len(self.names)), _shorten(self.names))
        tilted: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
        axes.tick_params("x", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.set_xticks(range(len(self.columns)), _shorten(self.columns), **tilted)
        axes.set_xlabel(self.across)
        axes.xaxis.set_label_position("top")
        axes.set_ylabel(self.down)
        axes.spines[:].set_visible(False)


Panel = Marks | Matrix


def _in_margin(number: Measure) -> list[str]:
    """Return the lines of a number: bounds take two."""
    return number.written.replace("], ", "],\n").split("\n")


def _most_letters(texts: Iterable[str]) -> int:
    return max((min(cell_len(visible_line(text)), MOST_LETTERS) for text in texts), default=0)


def _shorten(names: Sequence[str]) -> list[str]:
    """Make names visible, and so short that they fit, each unlike the others."""
    shown = list(map(visible_line, names))
    half = MOST_LETTERS // 2
    short = [name if len(name) <= MOST_LETTERS else f"{name[:half]}…{name[1 - half :]}" for name in shown]
    return short if len({*short}) == len({*shown}) else [f"{place}. {name}" for place, name in enumerate(short, 1)]


@dataclass(frozen=True, slots=True)
class Picture:
    """The parts of a picture.

    Attributes:
        kind: A short name.
        title: In a few words.
        caption: The subject, n, the level and method of intervals, and what is unscored, in sentences.
        panels: From the top.
    """

    kind: str
    title: str
    caption: str
    panels: Sequence[Panel]

    def figure(self) -> CaptionedFigure:
        """Draw the picture, as wide as a column or as its texts need; a notebook shows the figure."""
        widths, heights = zip(*(panel.size for panel in self.panels), strict=True)
        frames = LINE * sum(
            3.5 if isinstance(panel, Marks) else 4 + 0.4 * _most_letters(panel.columns) for panel in self.panels
        )
        with _settings():
            figure = _figure_class()(figsize=(max(COLUMN, *widths), sum(heights) + frames), layout="constrained")
            figure.caption = self.caption
            grid = figure.subplots(len(self.panels), squeeze=False, height_ratios=heights)
            for axes, panel in zip(grid.flat, self.panels, strict=True):
                panel.draw(axes)
        return figure

    def save(self, figure: Figure, file: Path | io.BytesIO, form: str) -> None:
        """Write a figure with title and caption in the metadata; equal figures give equal files.

        Args:
            figure: This picture, drawn.
            file: The file to write.
            form: svg, png or pdf.
        """
        about = {"Title": self.title, "Subject" if form == "pdf" else "Description": self.caption}
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
        with _settings():
            figure.savefig(file, format=form, dpi=300, metadata={**about, **undated})

    def svg(self) -> bytes:
        """Draw the picture as a file for a page."""
        file = io.BytesIO()
        with warnings.catch_warnings():  # a browser has the letters that our font lacks
            warnings.filterwarnings("ignore", "Glyph|Matplotlib currently", UserWarning)
            self.save(self.figure(), file, "svg")
        return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    """Draw alike everywhere: the user's settings do not count, but for fonts of scripts that our font lacks."""
    import matplotlib as mpl  # noqa: PLC0415 - a second of import, for who draws

    with LOCK, mpl.rc_context():
        families = ["DejaVu Sans", *mpl.rcParams["font.family"]]
        sans_serif = mpl.rcParams["font.sans-serif"]
        mpl.rcdefaults()
        settings: Any = {**SETTINGS, "font.family": families, "font.sans-serif": sans_serif}
        mpl.rcParams.update(settings)
        yield


@cache
def _figure_class() -> type[CaptionedFigure]:
    """Return the class of a figure that a notebook shows without pyplot."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    class NotebookFigure(Figure):
        caption: str

        def _repr_png_(self) -> bytes:
            image = io.BytesIO()
            with _settings():
                self.savefig(image, format="png", dpi=144)
            return image.getvalue()

    return cast("type[CaptionedFigure]", NotebookFigure)


Findings = Mapping[tuple[str, tuple[str, ...]], Measure]
"""(Name, of whom) -> the number."""

Drawn = tuple[str, list[Panel], list[str]]
"""The title of a picture, its panels, and what its caption says in addition to intervals, n and unscored votes."""


def leading_scores(results: Results) -> dict[str, list[Measure]]:
    """Return the scores that the other numbers are about, by name; else the first number with an interval."""
    reported = list(results.reported())
    named = [each for each in reported if each.name and len(each.of) < 2]
    found = [one for each in named for one in each.findings() if one.name == each.name]
    if not named:
        numbers = [one for each in reported for one in each.findings()]
        known = [each for each in numbers if each.kind in {"score", "share", "number"} and hasattr(each.value, "low")]
        first = next((each for each in sorted(known, key=lambda each: each.kind != "score") if each.of), None)
        found = [each for each in known if each.kind == "score"]
        if first is not None:
            found = [each for each in numbers if each.name == first.name and len(each.of) == len(first.of)]
    return by_key((each.name, each) for each in found)


def _mark_rows(scores: Mapping[str, Sequence[Measure]]) -> list[tuple[str, Measure | None]]:
    """Return a row for each system under the name of the score; the score names the row of a single system."""
    rows: list[tuple[str, Measure | None]] = []
    for name, found in scores.items():
        headed = len(found) > 1
        rows += [(name, None)] * (headed and len(scores) > 1)
        rows += [(", ".join(each.of) if headed and each.of else name, each) for each in found]
    return rows[:MOST_ROWS]


def _scores(results: Results, _: Findings) -> Drawn | None:
    """Return the score of each system, in a panel for each range of scores."""
    by_range: dict[tuple[float, float], dict[str, list[Measure]]] = {}
    ranges, scores = score_ranges(results), leading_scores(results)
    for name, found in scores.items():
        by_range.setdefault(ranges.get(name, (0.0, 1.0)), {})[name] = found
    contests = results.kind == "winrates"
    panels: list[Panel] = [
        Marks(next(iter(own)) if len(own) == 1 else "score", _mark_rows(own), ends, 0.5 if contests else None)
        for ends, own in by_range.items()
    ]
    title = f"{results.rate_name.capitalize()}s" if contests else f"Scores on {', '.join(scores)}"
    return (title, panels, ["Dashed: as many won as lost."] * contests) if panels else None


def _matrix(results: Results, findings: Findings) -> Drawn | None:
    """Return how often each system beats each other one, best first."""
    cells = {of: each for (name, of), each in findings.items() if name == "winrate" and len(of) == 2}
    systems = [of[0] for name, of in findings if name == "winrate" and len(of) == 1][:MOST_SYSTEMS]
    if not cells:
        return None
    known = {
        of: 2 * each.estimate - 1 for of, each in cells.items() if each.bounds is None and each.estimate is not None
    }
    shades = [[known.get((row, column), 0.0) for column in systems] for row in systems]
    texts = [
        ["" if row == column else cells[row, column].written.partition(" ")[0] for column in systems] for row in systems
    ]
    rate = results.rate_name.capitalize()
    notes = [f"{rate} of the system of the row against that of the column, best first; a tie counts half."]
    notes += [f"Shown are the best {MOST_SYSTEMS} systems."] * (len(systems) == MOST_SYSTEMS)
    panel = Matrix(systems, systems, shades, texts, "against the column's", "the row's system")
    return "Who beats whom", [panel], notes


_ITEM: Final = re.compile(r"item\.(.*)\.pass_rate", re.DOTALL)


def _items(_: Results, findings: Findings) -> Drawn | None:
    """Return the pass rate of each item of a checklist."""
    named = ((_ITEM.fullmatch(each.name), each) for each in findings.values())
    rates = by_key((name[1], each) for name, each in named if name is not None)
    return ("Pass rate of each item", [Marks("pass rate", _mark_rows(rates))], []) if rates else None


def _levels(results: Results, _: Findings) -> Drawn | None:
    """Return how often each level was selected, the best first, and how often none."""
    by_levels: dict[tuple[str, ...], list[Outcomes]] = {}
    for each in outcomes_of(results):
        if each.labels and not each.criterion.startswith("against "):
            values = [0.0 if value is None else value for value in each.values]
            best_first = sorted(zip(each.labels, values, strict=True), key=lambda level: -level[1])
            by_levels.setdefault(tuple(label for label, _ in best_first), []).append(each)
    panels: list[Panel] = []
    for levels, own in by_levels.items():
        rest = [NOT_APPLICABLE] * any(row.na for each in own for row in each.rows)
        counts = {
            ", ".join(filter(None, (each.criterion, each.system))): Counter(
                NOT_APPLICABLE if row.na else row.selected or NO_VERDICT for row in each.rows
            )
            for each in own[:MOST_ROWS]
        }
        parts = (*levels, *rest, NO_VERDICT)
        shares = _shares_of(counts.values(), parts)
        texts = [[format_percent(share) for share in row] for row in shares]
        panels.append(Matrix(list(counts), parts, shares, texts))
    note = "The share of each level among all rows, those without a verdict included."
    return ("Distribution of levels", panels, [note]) if panels else None


def _gold(results: Results, _: Findings) -> Drawn | None:
    """Return matrices of gold labels against what was selected, one per set of labels."""
    counts: dict[tuple[str, ...], dict[str, Counter[str]]] = {}
    for asked in results.asked():
        if asked.gold is None or not asked.verdict.votes:
            continue
        labels = ("first", "second", "tie") if asked.compares else asked.options
        names = dict(zip(asked.systems if asked.compares else labels, labels, strict=False))
        selected = NO_VERDICT if asked.selected is None else names.get(asked.selected, "tie")
        found = counts.setdefault(labels, {label: Counter() for label in labels})
        found[names.get(asked.gold, "tie")][selected] += 1
    panels: list[Panel] = []
    for labels, found in counts.items():
        columns = (*labels, NO_VERDICT)
        texts = [[format_count(own[column]) for column in columns] for own in found.values()]
        panels.append(Matrix(labels, columns, _shares_of(found.values(), columns), texts, "verdicts", "gold"))
    note = "The verdicts with each gold label (rows), by what was selected (columns); shades are shares of the row."
    return ("Verdicts against gold", panels, [note]) if panels else None


def _shares_of(counts: Iterable[Counter[str]], columns: Sequence[str]) -> list[list[float]]:
    return [[own[column] / (own.total() or 1) for column in columns] for own in counts]


KINDS: Final[Mapping[str, Callable[[Results, Findings], Drawn | None]]] = {
    "scores": _scores,
    "matrix": _matrix,
    "items": _items,
    "levels": _levels,
    "gold": _gold,
}
"""The kinds of pictures, in the order in which they are shown."""


def pictures_of(results: object) -> Iterator[Picture]:
    """Yield the pictures of a result, as far as it has them; nothing is drawn yet.

    Args:
        results: A result of any kind; other objects have no pictures.
    """
    if not isinstance(results, Results):
        return
    findings = {(each.name, each.of): each for each in results.findings()}
    parameters, clusters = results.parameters, len(set(results.clusters().values()))
    judges = ", ".join(parameters.get("judges") or parameters.get("votes") or ())
    rows = format_count(parameters["n"], "row") + (f" of {format_count(clusters, 'cluster')}" if clusters else "")
    for kind, panels_of in KINDS.items():
        drawn = panels_of(results, findings)
        if drawn is not None:
            title, panels, notes = drawn
            about = f"Judged by {judges}; n = {rows}; {results.unscored_counts}."
            caption = " ".join([f"{title}.", *notes, *_notes(panels), about])
            yield Picture(kind, visible_line(title), visible_line(caption), panels)


def _notes(panels: Sequence[Panel]) -> Iterator[str]:
    """Explain intervals and hatched bars."""
    numbers = [number for panel in panels if isinstance(panel, Marks) for _, number in panel.rows if number is not None]
    intervals = [number.value for number in numbers if isinstance(number.value, Interval)]
    if intervals:
        methods = ", ".join(dict.fromkeys(each.method.replace("_", " ") for each in intervals))
        counts = sorted({number.n for number in numbers if number.n is not None})
        span = " to ".join(dict.fromkeys(map(format_count, (counts[0], counts[-1])))) if counts else ""
        rest = f", on {span} each" if counts else ""
        yield f"Points are estimates, lines {format_level(intervals[0].level)} intervals ({methods}){rest}."
    if any(number.bounds is not None for number in numbers):
        yield BOUNDS_NOTE
    if any(len(panel.rows) == MOST_ROWS for panel in panels if isinstance(panel, Marks)):
        yield f"Shown are the first {format_count(MOST_ROWS)} rows."


def plot(results: Results, kind: str | None = None, path: str | Path | None = None) -> CaptionedFigure:
    """Draw a picture of a result for a paper, by matplotlib.

    Args:
        results: A result of any kind.
        kind: ``scores``, ``matrix``, ``items``, ``levels`` or ``gold``, as far as this result has it; by default the
            first that it has.
        path: Write it there too: ``.svg``, ``.png`` or ``.pdf``, its caption in the metadata.

    Returns:
        A ``matplotlib.figure.Figure``, which notebooks show; its axes can be changed. Its ``caption`` says what it
        shows, n, and the level and method of intervals.

    Raises:
        InvalidInputError: A kind that this result does not have, or a path that ends otherwise.
        UnwritableFileError: If the file cannot be written.
    """
    form = "" if path is None else check_ending(path, ENDINGS).removeprefix(".")
    able = {each.kind: each for each in pictures_of(results)}
    kind = kind or next(iter(able), "")
    check_known(kind, able, f"this result has no picture {kind!r}")
    figure = able[kind].figure()
    if path is not None:
        with written_whole(path) as file:
            able[kind].save(figure, file, form)
    return figure
