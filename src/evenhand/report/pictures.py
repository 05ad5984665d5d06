"""Pictures of a result by matplotlib: in its page, in notebooks, and as files for papers.

A kind of picture is a function from a result to panels of plain numbers and texts; a panel draws itself on axes.
matplotlib is imported when something is drawn, without pyplot and without a change of the user's settings. Colours are
those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which colour-blind people distinguish; marks and numbers say
the same.
"""

from __future__ import annotations

import io
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby, product
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from rich.cells import cell_len

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_ending, written_whole
from evenhand.numbers import (
    Missing,
    format_count,
    format_level,
    format_percent,
)
from evenhand.results.measures import Kind, Measure, Outcomes
from evenhand.results.render import shortened
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

MOST_OF_A_LINE: Final = 50
"""Letters of a heading or a title."""

COLUMN: Final = 3.5
"""Inches: the width of a column in most papers of two columns, and of a telephone."""

SIZE: Final = 8.0
"""Points of a letter."""

LINE: Final = 1.2 * SIZE / 72
"""The height of a line of text, in inches."""

LETTER: Final = 0.55 * SIZE / 72
"""About the width of a letter, in inches."""

GAP: Final = 0.1
"""Inches between panels."""

BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
GREY: Final = "#6e7781"
PALE: Final = "#e3e6ea"
HATCHED: Final[dict[str, Any]] = {"facecolor": "white", "hatch": "/////", "edgecolor": GREY, "linewidth": 0.5}
POINT: Final[dict[str, Any]] = {
    "color": BLUE,
    "markeredgecolor": "white",
    "markersize": 5,
    "clip_on": False,
    "zorder": 3,
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
    "axes.titlelocation": "left",
    "axes.titlesize": SIZE,
    "axes.titleweight": "bold",
    "grid.color": PALE,
    "legend.frameon": False,
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


class Mark(NamedTuple):
    """A row of a panel: a number as a point, its interval as a line, its bounds as a hatched bar.

    Attributes:
        name: The name of the row.
        finding: The number.
        heading: The common heading of several rows; empty for none.
    """

    name: str
    finding: Measure
    heading: str = ""

    @property
    def text(self) -> str:
        """The number as it is written; a dash and the reason where there is none."""
        return str(self.finding.value) if self.span is None and self.estimate is None else self.finding.written

    @property
    def estimate(self) -> float | None:
        """The number; None if there is none, and where bounds lead."""
        return self.finding.estimate if self.finding.bounds is None else None

    @property
    def span(self) -> tuple[float, float] | None:
        """The limits of the interval, infinite if the data leave one open."""
        value, bounds = self.finding.value, self.finding.bounds
        if bounds is not None:
            return bounds.interval_low, bounds.interval_high
        return None if isinstance(value, (int, float, Missing)) else (value.low, value.high)

    @property
    def numbers(self) -> list[float]:
        """All finite numbers that stand on the axis."""
        known = (self.estimate, *(self.span or ()))
        return [each for each in known if each is not None and math.isfinite(each)]

    def draw(self, axes: Axes, place: int, ends: tuple[float, float]) -> None:
        """Draw the row."""
        margin: dict[str, Any] = {"va": "center", "transform": axes.get_yaxis_transform()}
        if self.estimate is None and self.span is None:
            axes.text(0.01, place, _shorten(self.text, MOST_LETTERS), color=GREY, **margin)
            return
        if self.span is not None:
            shown = [min(max(limit, ends[0]), ends[1]) for limit in self.span]
            axes.plot(shown, [place, place], color="black", linewidth=1.1, gid="limits", clip_on=False)
            for limit, end, arrow in zip(self.span, shown, "<>", strict=True):
                sign = "|" if math.isfinite(limit) else arrow
                axes.plot(end, place, sign, color="black", markersize=4, clip_on=False)
        if self.finding.bounds is not None:
            low, high = self.finding.bounds.low, self.finding.bounds.high
            axes.barh(place, high - low, 0.5, low, gid="bounds", **HATCHED)
        if self.estimate is not None:
            axes.plot(self.estimate, place, "o", gid="estimate", **POINT)
        axes.text(1.03, place, _in_margin(self.text), **margin)


def _in_margin(text: str) -> str:
    """Return the text of a number for the margin, where bounds take two lines."""
    return text.replace("], ", "],\n")


@dataclass(frozen=True, slots=True)
class Marks:
    """Numbers with their intervals on one axis, each in a row.

    Attributes:
        label: The label of the axis.
        rows: The numbers, from the top.
        ends: The least and the greatest number of the axis; it extends to numbers beyond them.
        kind: The kind of the numbers on the axis.
        reference: A number to compare with, at which a line is drawn.
        title: Above the panel; empty for nothing.
    """

    label: str
    rows: Sequence[Mark]
    ends: tuple[float, float] = (0.0, 1.0)
    kind: Kind = "score"
    reference: float | None = None
    title: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """Inches of the axes, which may become wider."""
        shown = self.rows[:MOST_ROWS]
        headings = sum(bool(heading) for heading, _ in groupby(mark.heading for mark in shown))
        spacing = 2.3 if any("\n" in _in_margin(mark.text) for mark in shown) else 1.5
        return 1.5, LINE * spacing * (len(shown) + headings)

    def draw(self, axes: Axes) -> None:
        """Draw the rows from the top."""
        shown = self.rows[:MOST_ROWS]
        numbers = [*self.ends, *chain.from_iterable(mark.numbers for mark in shown)]
        ends = min(numbers), max(numbers)
        places, heading, place = [], "", 0
        for mark in shown:
            if mark.heading and mark.heading != heading:
                heading = mark.heading
                title = _shorten(heading, MOST_OF_A_LINE)
                axes.text(0, place, title, weight="bold", va="center", transform=axes.get_yaxis_transform())
                place += 1
            mark.draw(axes, place, ends)
            places.append(place)
            place += 1
        axes.set_yticks(places, _shorten_all([mark.name for mark in shown]))
        axes.set_ylim(place - 0.5, -0.5)
        _draw_axis(axes, self.label, ends, self.kind)
        axes.set_title(_shorten(self.title, MOST_OF_A_LINE))
        axes.grid(axis="x")
        if self.reference is not None:
            axes.axvline(self.reference, color=GREY, linewidth=0.8, linestyle="--")


def _draw_axis(axes: Axes, label: str, ends: tuple[float, float], kind: Kind) -> None:
    """Draw a horizontal axis with round numbers, and none upwards."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - a second of import, for who draws

    axes.set_xlim(*ends)
    slack = 1e-9 * (ends[1] - ends[0])
    locator = MaxNLocator(2 if kind == "share" else 4, steps=[1, 2, 2.5, 5, 10], integer=kind == "count")
    ticks = [tick + 0.0 for tick in locator.tick_values(*ends) if ends[0] - slack <= tick <= ends[1] + slack]
    axes.set_xticks(ticks, [format_percent(tick) if kind == "share" else f"{tick:g}" for tick in ticks])
    axes.set_xlabel(_shorten(label, MOST_OF_A_LINE))
    axes.spines["left"].set_visible(False)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers in a grid, with shades from -1 (one colour) over 0 (white) to 1 (the other).

    Attributes:
        title: Above it; empty for nothing.
        names: The names of the rows.
        columns: Names of the columns.
        shades: One list per row; 0 also where there is no number.
        texts: The numbers as they are written.
        across: The label of the columns.
        down: The label of the rows.
    """

    title: str
    names: Sequence[str]
    columns: Sequence[str]
    shades: Sequence[Sequence[float]]
    texts: Sequence[Sequence[str]]
    across: str = ""
    down: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """Inches of the axes, which may become wider."""
        letters = max(4, *(len(text) for row in self.texts for text in row))
        return (LETTER * letters + 0.1) * len(self.columns), 1.8 * LINE * len(self.names)

    def draw(self, axes: Axes) -> None:
        """Draw a cell for each number, with the names of the columns on top."""
        for row, (shades, texts) in enumerate(zip(self.shades, self.texts, strict=True)):
            colours = [(BLUE if shade > 0 else VERMILION, 0.6 * abs(shade)) for shade in shades]
            left = [column - 0.5 for column in range(len(shades))]
            bars = axes.barh([row] * len(left), 1, 1, left, color=colours, edgecolor=PALE, linewidth=0.6)
            axes.bar_label(bars, texts, label_type="center", gid="cell")
        axes.set_xlim(-0.5, len(self.columns) - 0.5)
        axes.set_ylim(len(self.names) - 0.5, -0.5)
        axes.set_yticks(range(len(self.names)), _shorten_all(self.names))
        tilted: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
        axes.tick_params("x", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.set_xticks(range(len(self.columns)), _shorten_all(self.columns), **tilted)
        axes.set_xlabel(self.across)
        axes.xaxis.set_label_position("top")
        axes.set_ylabel(self.down)
        axes.set_title(_shorten(self.title, MOST_OF_A_LINE))
        axes.spines[:].set_visible(False)


Panel = Marks | Matrix


def _shorten_all(names: Sequence[str], most: int = MOST_LETTERS) -> list[str]:
    """Make names visible, and so short that they fit, each unlike the others."""
    shown = [visible_line(name) for name in names]
    short = shortened(shown, most)
    return [short.get(name, name) for name in shown]


def _shorten(text: str, most: int) -> str:
    return _shorten_all([text], most)[0]


def _wider(text: str) -> int:
    """Return how many letters wider a text may be than it is drawn: our font has no East Asian letters."""
    return max(cell_len(text) - len(text), 0)


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
        with _settings():
            figure = _figure_class()(figsize=(COLUMN, COLUMN))
            figure.caption = self.caption
            boxes = []  # of the axes with their texts, in inches from the lower left corner of the axes
            for panel in self.panels:
                axes = figure.add_axes((0, 0, panel.size[0] / COLUMN, panel.size[1] / COLUMN))
                panel.draw(axes)
                boxes.append((axes.get_tightbbox() or axes.bbox).transformed(figure.dpi_scale_trans.inverted()))
            names = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
            left = max(-box.x0 for box in boxes) + LETTER * max(map(_wider, names)) + GAP / 2
            right = max(box.x1 - panel.size[0] for box, panel in zip(boxes, self.panels, strict=True)) + GAP / 2
            width = max(COLUMN - left - right, *(panel.size[0] for panel in self.panels))
            whole = (left + width + right, sum(box.height + GAP for box in boxes))
            size = [math.ceil(round(10 * inches, 6)) / 10 for inches in whole]  # alike for fonts that differ by a hair
            figure.set_size_inches(size[0], size[1])
            top = size[1] - GAP / 2
            for axes, panel, box in zip(figure.axes, self.panels, boxes, strict=True):
                axes.set_position((left / size[0], (top - box.y1) / size[1], width / size[0], panel.size[1] / size[1]))
                top -= box.height + GAP
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


def _outcomes(results: Results) -> tuple[Outcomes, ...]:
    """Return the scores of each system on each criterion; none for a result without scores."""
    try:
        return tuple(results.outcomes())
    except InvalidInputError:
        return ()


def _of_systems(findings: Findings, name: str) -> list[Measure]:
    """Return the numbers of this name, of one system each or of the whole."""
    return [each for (own, of), each in findings.items() if own == name and len(of) <= 1]


AGREEMENT: Final[Mapping[str, str]] = {
    "positional_bias": "verdicts that change with the order",
    "judge_flip_rate": "verdicts of each judge that change with the order",
    "first_shown_preference": "choices of what is shown first (0.5 is no preference)",
    "agreement": "votes that equal the verdict",
    "percent_agreement": "judges that agree",
    "gold_agreement": "verdicts that equal gold",
    "accuracy": "same option selected",
    "krippendorff_alpha": "Krippendorff's alpha",
    "cohen_kappa": "Cohen's kappa",
}
"""The end of a measure's name -> the heading of its rows."""

Drawn = tuple[str, list[Panel], list[str]]
"""The title of a picture, its panels, and what its caption says in addition to intervals, n and unscored votes."""


def _scores(results: Results, findings: Findings) -> Drawn | None:
    """Return the score of each system, in a panel for each range of scores."""
    ranges: dict[tuple[float, float], dict[str, list[Measure]]] = {}
    for each in _outcomes(results):
        found = findings.get((each.criterion, (each.system,))) or findings.get((each.criterion, ()))
        if found is not None:
            ranges.setdefault(each.bounds, {}).setdefault(each.criterion, []).append(found)
    if not ranges and (graded := [each for (name, _), each in findings.items() if name == "grade_score"]):
        ranges = {(0.0, 1.0): {"Grade Score": graded}}
    if not ranges:
        return None
    panels: list[Panel] = []
    for ends, scores in ranges.items():
        label = f"score ({next(iter(scores))})" if len(scores) == 1 else "score"
        rows = [mark for name, own in scores.items() for mark in _score_marks(name, own, alone=len(scores) == 1)]
        panels.append(Marks(label, rows, ends))
    return f"Scores on {', '.join(dict.fromkeys(chain.from_iterable(ranges.values())))}", panels, []


def _score_marks(name: str, found: Sequence[Measure], *, alone: bool = False) -> Iterator[Mark]:
    """Yield a row for each system under the name of the score; the score names the row of a single system."""
    headed = len(found) > 1 and not alone
    for each in found:
        system = ", ".join(each.of) if headed or alone else ""
        yield Mark(system or name, each, name if headed else "")


def _winrates(results: Results, findings: Findings) -> Drawn | None:
    """Return the winrate of each system, best first."""
    rows = [Mark(each.of[0], each) for each in _of_systems(findings, "winrate") if each.of]
    if not rows:
        return None
    panels: list[Panel] = [Marks("winrate", rows, reference=0.5)]
    notes = ["Dashed: as many won as lost."]
    against_all = [Mark(each.of[0], each) for each in _of_systems(findings, "field_winrate") if each.value]
    if against_all:
        panels.append(Marks("winrate", against_all, reference=0.5, title="Expected against all the others"))
        notes.append("Not all met equally often: winrates above are over unequal opponents.")
    return f"{results.rate_name.capitalize()}s", panels, notes


def _matrix(results: Results, findings: Findings) -> Drawn | None:
    """Return how often each system beats each other one, best first."""
    systems = [each.of[0] for each in _of_systems(findings, "winrate") if each.of]
    shown = systems[:MOST_SYSTEMS]
    cells = {of: each for (name, of), each in findings.items() if name == "winrate" and len(of) == 2}
    if not cells:
        return None
    shades, texts = [[0.0] * len(shown) for _ in shown], [[""] * len(shown) for _ in shown]
    for (row, first), (column, second) in product(enumerate(shown), repeat=2):
        if first != second:
            mark = Mark("", cells[first, second])
            shades[row][column] = 0.0 if mark.estimate is None else 2 * mark.estimate - 1
            texts[row][column] = mark.text.partition(" ")[0]
    rate = results.rate_name.capitalize()
    notes = [f"{rate} of the system of the row against that of the column, best first; a tie counts half."]
    if any(each.bounds for each in cells.values()):
        notes.append("Where too many votes are unscored, bounds replace the winrate, without a shade.")
    if len(shown) < len(systems):
        notes.append(f"Shown are the best {format_count(len(shown))} of {format_count(len(systems), 'system')}.")
    panel = Matrix("", shown, shown, shades, texts, "against the column's", "the row's system")
    return "Who beats whom", [panel], notes


def _items(_: Results, findings: Findings) -> Drawn | None:
    """Return the pass rate of each item of a checklist."""
    rates: dict[str, list[Measure]] = {}
    for each in findings.values():
        if each.name.startswith("item.") and each.name.endswith(".pass_rate"):
            rates.setdefault(each.name.removeprefix("item.").removesuffix(".pass_rate"), []).append(each)
    if not rates:
        return None
    rows = [mark for name, own in rates.items() for mark in _score_marks(name, own)]
    return "Pass rate of each item", [Marks("pass rate", rows)], []


def _levels(results: Results, _: Findings) -> Drawn | None:
    """Return how often each level was selected, the best first, and how often none."""
    by_levels: dict[tuple[str, ...], list[Outcomes]] = {}
    for each in _outcomes(results):
        if each.labels and not each.criterion.startswith("against "):
            by_levels.setdefault(_best_first(each), []).append(each)
    panels: list[Panel] = []
    for levels, own in by_levels.items():
        criteria, systems = sorted({each.criterion for each in own}), {each.system for each in own}
        rest = [NOT_APPLICABLE] * any(row.na for each in own for row in each.rows)
        parts = (*levels, *rest, NO_VERDICT)
        names, counts = [], []
        for each in own[:MOST_ROWS]:
            criterion = each.criterion if len(criteria) > 1 else ""
            system = each.system if len(systems) > 1 or not criterion else ""
            selected = Counter(NOT_APPLICABLE if row.na else row.selected or NO_VERDICT for row in each.rows)
            names.append(", ".join(filter(None, (criterion, system))) or each.criterion)
            counts.append([selected[part] for part in parts])
        shades = _row_shares(counts)
        texts = [[format_percent(share) for share in row] for row in shades]
        panels.append(Matrix(_join_names(criteria), names, parts, shades, texts))
    note = "The share of each level among all rows, those without a verdict included."
    return ("Distribution of levels", panels, [note]) if panels else None


def _row_shares(counts: Sequence[Sequence[int]]) -> list[list[float]]:
    return [[count / (sum(row) or 1) for count in row] for row in counts]


def _best_first(found: Outcomes) -> tuple[str, ...]:
    """Return the labels by their values, where they have some."""
    if None in found.values:
        return found.labels
    values = dict(zip(found.labels, found.values, strict=True))
    return tuple(sorted(found.labels, key=lambda label: -(values[label] or 0)))


def _join_names(criteria: Sequence[str]) -> str:
    return ", ".join(criteria) if len(criteria) < 3 else f"{format_count(len(criteria))} questions"


def _agreement(_: Results, findings: Findings) -> Drawn | None:
    """Return flips, and the agreement of votes, judges and gold; without headings under which all is missing."""
    panels: list[Panel] = []
    axes: Sequence[tuple[Kind, str, float | None]] = [
        ("share", "share", None),
        ("number", "coefficient (0 is chance)", 0.0),
    ]
    for kind, label, reference in axes:
        marks: list[Mark] = []
        for each in findings.values():
            for word, phrase in AGREEMENT.items():
                score, named, rest = f".{each.name}".partition(f".{word}")
                part = rest and (not rest.startswith("_") or rest.endswith(("if_unscored_0", "if_unscored_1")))
                if named and not part and each.kind == kind:
                    heading = ", ".join(filter(None, (phrase, score.strip("."))))
                    whose = ", ".join(filter(None, (" – ".join(each.of), rest[1:].replace("_vs_", " – "))))
                    marks.append(Mark(whose or heading, each, heading if whose else ""))
        known = {mark.heading for mark in marks if mark.numbers}
        rows = sorted((mark for mark in marks if mark.heading in known), key=lambda mark: mark.heading)
        panels += [Marks(label, rows, kind=kind, reference=reference)] if rows else []
    return ("Agreement", panels, []) if panels else None


def _gold(results: Results, _: Findings) -> Drawn | None:
    """Return matrices of what people say against what was selected, one per set of labels."""
    counts: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    criteria: dict[tuple[str, ...], dict[str, None]] = {}
    systems = getattr(results, "systems", ())
    for asked in results.asked():
        if asked.gold is None or not asked.verdict.votes:
            continue
        labels, meant = asked.options, asked.options
        if asked.compares:
            labels = (*(systems if len(systems) == 2 else ("first", "second")), "tie")
            meant = asked.judged if len(systems) == 2 else labels
        names = dict(zip(map(str.casefold, asked.judged if asked.compares else labels), meant, strict=False))
        people = names.get(asked.gold.casefold(), "tie")
        selected = NO_VERDICT if asked.selected is None else names.get(asked.selected.casefold(), "tie")
        counts.setdefault(labels, Counter())[people, selected] += 1
        criteria.setdefault(labels, {})[asked.criterion] = None
    panels: list[Panel] = []
    for labels, found in counts.items():
        columns = (*labels, NO_VERDICT)
        grid = [[found[row, column] for column in columns] for row in labels]
        texts = [[format_count(count) for count in row] for row in grid]
        title = _join_names(list(criteria[labels]))
        panels.append(Matrix(title, labels, columns, _row_shares(grid), texts, "verdicts", "people"))
    note = "How many of what people chose (rows) was selected as what (columns); shades are shares of the row."
    return ("Verdicts against gold", panels, [note]) if panels else None


KINDS: Final[Mapping[str, Callable[[Results, Findings], Drawn | None]]] = {
    "scores": _scores,
    "winrates": _winrates,
    "matrix": _matrix,
    "items": _items,
    "levels": _levels,
    "agreement": _agreement,
    "gold": _gold,
}
"""The kinds of pictures, in the order in which they are shown."""


def pictures_of(results: object, kinds: Iterable[str] = tuple(KINDS)) -> Iterator[Picture]:
    """Yield the pictures of a result, of all kinds or of some, as far as it has them; nothing is drawn yet.

    Args:
        results: A result of any kind; other objects have no pictures.
        kinds: Names in :data:`KINDS`.
    """
    if not isinstance(results, Results):
        return
    findings = {(each.name, each.of): each for each in results.findings()}
    for kind in kinds:
        drawn = KINDS[kind](results, findings)
        if drawn is not None:
            title, panels, notes = drawn
            caption = " ".join([f"{title}.", *notes, *_notes(panels), _about(results)])
            yield Picture(kind, visible_line(title), visible_line(caption), panels)


def _about(results: Results) -> str:
    """Describe the judges, the amount of data, and what is unscored."""
    parameters = results.parameters
    judges = ", ".join(parameters.get("judges") or parameters.get("votes") or ())
    clusters = len(set(results.clusters().values()))
    of = f" of {format_count(clusters, 'cluster')}" if clusters else ""
    return f"Judged by {judges}; n = {format_count(parameters['n'], 'row')}{of}; {results.unscored_counts}."


def _notes(panels: Sequence[Panel]) -> Iterator[str]:
    """Explain intervals and hatched bars, and list the rows that are left out."""
    marks = [mark for panel in panels if isinstance(panel, Marks) for mark in panel.rows]
    values = (getattr(mark.finding.value, "interval", mark.finding.value) for mark in marks)
    intervals = [value for value in values if isinstance(value, Interval)]
    if intervals:
        methods = ", ".join(dict.fromkeys(each.method.replace("_", " ") for each in intervals))
        counts = sorted({mark.finding.n for mark in marks if mark.finding.n is not None})
        span = " to ".join(dict.fromkeys(map(format_count, (counts[0], counts[-1])))) if counts else ""
        rest = f", on {span} each" if counts else ""
        yield f"Points are estimates, lines {format_level(intervals[0].level)} intervals ({methods}){rest}."
    if any(mark.finding.bounds is not None for mark in marks):
        yield BOUNDS_NOTE
    for panel in panels:
        if isinstance(panel, Marks) and len(panel.rows) > MOST_ROWS:
            yield f"Shown are the first {format_count(MOST_ROWS)} of {format_count(len(panel.rows), 'row')}."


def plot(results: Results, kind: str | None = None, path: str | Path | None = None) -> CaptionedFigure:
    """Draw a picture of a result for a paper, by matplotlib.

    Args:
        results: A result of any kind.
        kind: ``scores``, ``winrates``, ``matrix``, ``items``, ``levels``, ``agreement`` or
            ``gold``, as far as this result has it; by default the first that it has.
        path: Write it there too: ``.svg``, ``.png`` or ``.pdf``, its caption in the metadata.

    Returns:
        A ``matplotlib.figure.Figure``, which notebooks show; its axes can be changed. Its ``caption`` says what it
        shows, n, and the level and method of intervals.

    Raises:
        InvalidInputError: A kind that this result does not have, or a path that ends otherwise.
        UnwritableFileError: If the file cannot be written.
    """
    if kind is not None and kind not in KINDS:
        raise InvalidInputError(f"there is no picture {kind!r}. {did_you_mean(kind, list(KINDS))}")
    form = "" if path is None else check_ending(path, ENDINGS).removeprefix(".")
    picture = next(pictures_of(results, KINDS if kind is None else [kind]), None)
    if picture is None:
        able = ", ".join(repr(each.kind) for each in pictures_of(results))
        raise InvalidInputError(
            f"this result has nothing to show as {kind!r}; it has the pictures {able}"
            if able
            else "a result of this kind has nothing that can be drawn"
        )
    figure = picture.figure()
    if path is not None:
        with written_whole(path) as file:
            picture.save(figure, file, form)
    return figure
