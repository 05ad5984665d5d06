"""The one renderer: a table of texts for a terminal, and as Markdown, HTML, LaTeX and CSV.

A terminal, a viewer or a spreadsheet shows any control character or markup of a name, a label or a reply, and does not
obey it. In a terminal no number is cut or wrapped. If a table is too wide, first headers, names and texts wrap, then
columns move to further tables, which repeat the names of the rows. If a number has no room next to the names, the lines
are longer than the terminal.
"""

from __future__ import annotations

import html
import io
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, takewhile
from typing import Final

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.errors import check_known
from evenhand.visible import visible, visible_line


@dataclass(frozen=True, slots=True)
class TextTable:
    """Headers, rows of texts, and the notes beneath them.

    It holds its texts as they may be shown; see :mod:`evenhand.visible`.

    Attributes:
        title: The title above the table.
        headers: One per column.
        rows: The rows, as wide as the headers.
        notes: Sentences beneath the table.
        kind: The short name of the table, such as ``scores``.
        naming: The number of columns, from the first, that name the subject of a row.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    kind: str = ""
    naming: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", visible_line(self.title))
        object.__setattr__(self, "headers", tuple(map(visible, self.headers)))  # of two lines, some
        object.__setattr__(self, "rows", tuple(tuple(map(visible_line, row)) for row in self.rows))
        object.__setattr__(self, "notes", tuple(map(visible_line, self.notes)))

    def to_markdown(self) -> str:
        """Return a pipe table with its title and notes."""
        lines = [f"**{as_markdown(self.title)}**", "", _pipe_row(self.headers), _pipe_row(["---"] * len(self.headers))]
        lines += [_pipe_row(row) for row in self.rows]
        for note in self.notes:
            lines += ["", as_paragraph(note)]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """Return a table element with a caption, and the notes as paragraphs."""
        head = "".join(f"<th>{html.escape(header)}</th>" for header in self.headers)
        wraps = ' class="text"'
        cells = [
            [f"<td{wraps * (len(cell) > _LONG_CELL)}>{html.escape(cell)}</td>" for cell in row] for row in self.rows
        ]
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        caption = html.escape(self.title)
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def to_latex(self) -> str:
        """Return a ``table`` environment with a caption and rules of the package booktabs, the notes beneath it."""
        columns = "l" + "r" * (len(self.headers) - 1)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_as_latex(self.title)}}}"]
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _latex_row(self.headers), r"\midrule"]
        lines += [_latex_row(row) for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\smallskip\footnotesize {_as_latex(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"]) + "\n"

    def to_csv(self) -> str:
        """Return the headers and rows as CSV, without title and notes.

        A text that a spreadsheet would take for a formula (it begins with =, +, -, @ or a tab, and is no number) has an
        apostrophe before it. Readers of data take such a cell as it stands: results are read again from what ``save``
        wrote, which changes no text.
        """
        return "".join(",".join(map(csv_cell, row)) + "\n" for row in (self.headers, *self.rows))

    def to_terminal(self, *, width: int | None = None) -> str:
        """Return the table with box-drawing lines, in a layout that fits: no number is cut or wrapped.

        Args:
            width: In cells; by default what :func:`~evenhand.results.render.terminal_width` finds.
        """
        width = width or terminal_width()
        text = io.StringIO()  # and not the terminal, which may be gone
        terminal = Console(force_jupyter=False).is_terminal  # a notebook would be shown each part, and get no text
        console = Console(file=text, width=_ANY_WIDTH, highlight=False, force_terminal=terminal, force_jupyter=False)

        def show(line: str, style: str = "") -> None:
            console.print(Text("\n".join(wrapped(line, width)), style=style), soft_wrap=True)

        show(self.title, "bold")
        parts = _parts(self, width)
        for number, part in enumerate(parts, start=1):
            if number > 1:
                show(f"The same rows, further columns ({number} of {len(parts)})", "bold")
            console.print(_boxed(part, width))
        for note in self.notes:
            show(note)
        return text.getvalue()


MOST_ROWS: Final = 50
"""The rows of a table that are printed."""

_LONG_CELL: Final = 60  # signs, beyond which a cell of a page wraps


class PrintedTables(ABC):
    """A result that prints as tables of texts; subclasses provide the tables."""

    @abstractmethod
    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables as texts."""

    def closing_notes(self) -> tuple[str, ...]:
        """Return the notes beneath all tables."""
        return ()

    def tables(self, kind: str | None = None) -> tuple[TextTable, ...]:
        """Return the tables that are printed, or those of a kind: ``scores``, ``differences``, ``matrix`` and so on.

        Each can be written alone: ``results.tables("scores")[0].to_latex()``.

        Raises:
            InvalidInputError: If the result has no such table; the message names those that it has.
        """
        if kind is None:
            return self.text_tables()
        every = self.text_tables()
        check_known(kind, [each.kind for each in every], f"there is no table {kind!r}")
        return tuple(table for table in every if table.kind == kind)

    def to_terminal(self, *, width: int | None = None) -> str:
        """Return the tables as they are printed, in a layout that fits: no number is cut or wrapped.

        Of a table with more than :data:`MOST_ROWS` rows the first are shown; :meth:`tables` gives it whole.

        Args:
            width: In cells; by default that of the terminal.
        """
        width = width or terminal_width()
        closing = ("\n".join(wrapped(note, width)) for note in self._closing())
        return "\n".join([*(table.to_terminal(width=width) for table in self._first_rows()), *closing])

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        return "\n".join([*(each.to_markdown() for each in self.text_tables()), *map(as_paragraph, self._closing())])

    def to_html(self) -> str:
        """Return the tables as HTML."""
        return self._html(self.text_tables())

    def to_page(self, title: str) -> str:
        """Return an HTML page of the tables alone."""
        head = f'<!doctype html>\n<meta charset="utf-8">\n<title>{html.escape(visible_line(title))}</title>'
        return f"{head}\n{self._html(self.text_tables())}\n"

    def to_latex(self) -> str:
        """Return the tables in LaTeX, for the package booktabs."""
        return "\n".join(table.to_latex() for table in self.text_tables())

    def to_csv(self) -> str:
        """Return the tables as CSV, separated by empty lines."""
        return "\n".join(table.to_csv() for table in self.text_tables())

    def __str__(self) -> str:
        return self.to_terminal()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._html(self._first_rows())

    def _closing(self) -> tuple[str, ...]:
        return tuple(map(visible_line, self.closing_notes()))

    def _html(self, tables: Iterable[TextTable]) -> str:
        notes = (f"<p>{html.escape(note)}</p>" for note in self._closing())
        return styled("".join([*(table.to_html() for table in tables), *notes]))

    def _first_rows(self) -> Iterable[TextTable]:
        """Return the tables as a screen shows them: of a long one the first rows."""
        for table in self.text_tables():
            more = f"{len(table.rows) - MOST_ROWS} more rows are in tables({table.kind!r})."
            long = len(table.rows) > MOST_ROWS
            yield replace(table, rows=table.rows[:MOST_ROWS], notes=(more, *table.notes)) if long else table


_STYLE: Final = (
    ".evenhand{overflow-x:auto;max-width:100%;line-height:1.4;font-variant-numeric:tabular-nums}"
    ".evenhand table{border-collapse:collapse;margin:.5em 0;color:inherit;background:none;font-size:inherit}"
    ".evenhand caption{caption-side:top;text-align:left;font-weight:600;padding:.3em .6em;color:inherit}"
    ".evenhand th,.evenhand td{padding:.25em .7em;text-align:right;vertical-align:top;white-space:nowrap;"
    "color:inherit;background:none;border:0;border-bottom:1px solid color-mix(in srgb,currentColor 18%,transparent)}"
    ".evenhand thead th{font-weight:600;white-space:pre-line;vertical-align:bottom;"
    "border-bottom:1px solid color-mix(in srgb,currentColor 55%,transparent)}"
    ".evenhand th:first-child,.evenhand td:first-child{text-align:left}"
    ".evenhand td.text{white-space:pre-wrap;text-align:left;min-width:12em;max-width:48em;overflow-wrap:anywhere}"
    ".evenhand p{margin:.3em .6em;max-width:60em}"
    ".evenhand mark{color:inherit;background:color-mix(in srgb,currentColor 18%,transparent);font-weight:600}"
    ".evenhand pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em .6em;padding:.4em .6em;color:inherit;"
    "background:none;border-left:3px solid color-mix(in srgb,currentColor 30%,transparent)}"
)
"""The style in a notebook: it takes the colours of the page around it, light or dark, and it scrolls."""


def styled(body: str) -> str:
    """Return HTML in a box of its own, whose style reaches nothing outside it."""
    return f'<div class="evenhand"><style>{_STYLE}</style>{body}</div>'


_MARKDOWN: Final = re.compile(
    r"(?P<tag><(?=[A-Za-z/!?]))"
    r"|(?P<entity>&(?=#?\w+;))"
    r"|[`*|~]|\\(?=[!-/:-@\[-`{-~]|$)|(?<!\w)_|_(?!\w)|\](?=[(\[])"
)
"""Signs that Markdown would obey: tags, entities, code, emphasis, cells, links and images, and their ends."""
_BLOCK: Final = re.compile(r"\A(\d+(?=[.)](?:\s|$))|(?=[#>=+\[-]))")
"""The start of a paragraph that would become a list, a heading, a quotation or a definition."""


def as_markdown(text: str) -> str:
    """Return Markdown that shows the text as it is."""
    return _MARKDOWN.sub(lambda sign: "&lt;" if sign["tag"] else "&amp;" if sign["entity"] else f"\\{sign[0]}", text)


def as_paragraph(text: str) -> str:
    """Return the same for the start of a line, which could begin a list, a heading or a quotation too."""
    return _BLOCK.sub(r"\1\\", as_markdown(text.lstrip()))


def _pipe_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(as_markdown(cell).replace("\n", " ") for cell in cells) + " |"


_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|\t")


def csv_cell(cell: str) -> str:
    """Return a cell that spreadsheets take for a text or a number; some split unquoted cells at semicolons."""
    if _FORMULA.match(cell) and not _CSV_NUMBER.fullmatch(cell):
        cell = f"'{cell}"
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',;"\t\n') else cell


_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "∞": r"$\infty$",
    "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "½": r"$\frac{1}{2}$",
    "|": r"\textbar{}",
}
_LIGATURES: Final = re.compile(r"(?<=[-'`,!?])(?=[-'`,])|^(?=[\[*(])")
"""Where two signs would become one, or a bracket would be an argument of the line before."""


def _as_latex(text: str) -> str:
    """Return LaTeX that shows the text as it is."""
    parts = _LIGATURES.split(text.replace("\n", " "))
    return "{}".join("".join(_LATEX.get(sign, sign) for sign in part) for part in parts)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_as_latex, cells)) + r" \\"


UNBOUND_WIDTH = 120
"""The width of lines without a terminal, if ``COLUMNS`` is not set."""

_LEAST_WIDTH: Final = 20
_ANY_WIDTH: Final = 10**5  # of the console: lines are wrapped here
_GAP: Final = 3  # between two columns
_EDGES: Final = 2
_TEXT: Final = 20  # the least width at which a text is wrapped
_HEAD: Final = 12  # the least width at which the words of a header and of a name are folded

_NUMBER: Final = r"[-+−]?\$?(?:\d[\d,]*(?:\.\d+)?|∞)"
_PHRASE: Final = (
    rf"(?<![\w.:/-])(?:p [<>=] |[<>≥≤] ?)?{_NUMBER}(?:–{_NUMBER})?(?: ?%)?(?: ± {_NUMBER})?"
    rf"(?: \[[<>]?{_NUMBER}, [<>]?{_NUMBER}\])?"
)
"""A number as ``numbers.py`` writes it: with its sign, its unit, its spread and its interval."""
_CSV_NUMBER: Final = re.compile(rf"{_PHRASE}(?:, [<>]?{_NUMBER} % of [a-z]+ affected)?")
_UNBROKEN: Final = re.compile(rf"{_PHRASE}|\d[\d,.]*")
_BEGINS_AS_NUMBER: Final = re.compile(rf"\s*(?:{_PHRASE}|–(?: |$)|$)(?!.{{60}})")
_LONGEST_PHRASE: Final = 200


def terminal_width() -> int:
    """Return ``COLUMNS`` if it is a number above 0; else the width of the terminal, and 120 if there is none.

    A width below 20 counts as 20: there is no layout for less.
    """
    given = os.environ.get("COLUMNS", "").strip()
    if given.isdecimal() and int(given):
        return max(int(given), _LEAST_WIDTH)
    shown = Console(force_jupyter=False)
    return max(shown.width, _LEAST_WIDTH) if shown.is_terminal else UNBOUND_WIDTH


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a text into lines of at most ``width`` cells.

    A line is broken at a space, else after a sign, else within a word, and never in a number.

    >>> wrapped("The spread is 0.40 [0.31, 0.52], in claude-opus-4", 24)
    ['The spread is', '0.40 [0.31, 0.52], in', 'claude-opus-4']
    """
    lines = []
    for line in text.split("\n"):
        rest = line
        while (fits := _prefix(rest, width)) < len(rest) and (cut := _cut(rest, fits)) < len(rest):
            lines.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip()
        lines.append(rest)
    return lines


def _cut(line: str, fits: int) -> int:
    """Return the place to break a line if ``fits`` signs fit."""
    window = line[: fits + _LONGEST_PHRASE]
    whole = {place for found in _UNBROKEN.finditer(window) for place in range(found.start() + 1, found.end())}
    places = [place for place in range(fits, 0, -1) if place not in whole and line[:place].strip()]
    spaces = (place for place in places if line[place] == " ")
    signs = (place for place in places if line[place - 1] in "-_/.:,;=" and line[place] != " ")
    within_words = (place for place in places if cell_len(line[place]) > 0 and line[place - 1] != "\u200d")
    beyond = (place for place in range(fits + 1, len(window)) if place not in whole)
    return next(chain(spaces, signs, within_words, beyond), len(line))


def _prefix(text: str, width: int) -> int:
    """Return the number of signs that fit."""
    return sum(1 for _ in takewhile(lambda used: used <= width, accumulate(map(cell_len, text))))


@dataclass(frozen=True)
class _FittedColumn:
    """A column with the widths that it needs.

    Attributes:
        header: The header of the column.
        cells: The cells of the column.
        names: Whether its cells are names, which are folded like the words of a header.
    """

    header: str
    cells: tuple[str, ...]
    names: bool

    @cached_property
    def widest(self) -> int:
        """The width at which nothing wraps."""
        return max(map(cell_len, "\n".join((self.header, *self.cells)).split("\n")))

    @cached_property
    def narrowest(self) -> int:
        """The least width: the header is folded no further, and no number is cut."""
        least = _HEAD if self.names else _TEXT
        cells = max((cell_len(line) for cell in self.cells for line in self.lines(cell, least)), default=0)
        word = max(map(cell_len, self.header.split()), default=0)
        return max(cells, *map(cell_len, wrapped(self.header, min(max(word, 1), _HEAD))))

    def lines(self, cell: str, width: int) -> list[str]:
        """Wrap a cell at a width; a number stays in one line."""
        return cell.split("\n") if not self.names and _BEGINS_AS_NUMBER.match(cell) else wrapped(cell, width)


def _needed(widths: Iterable[int]) -> int:
    widths = list(widths)
    return sum(widths) + _GAP * (len(widths) - 1) + _EDGES


def _parts(table: TextTable, width: int) -> list[list[_FittedColumn]]:
    """Divide a table into tables that fit, each with the names of the rows and one column at least."""
    cells = list(zip(*table.rows, strict=True)) or [()] * len(table.headers)
    columns = [
        _FittedColumn(header, tuple(own), place < table.naming)
        for place, (header, own) in enumerate(zip(table.headers, cells, strict=True))
    ]
    parts = [columns[: table.naming]]
    for column in columns[table.naming :]:
        if len(parts[-1]) > table.naming and _needed(each.narrowest for each in (*parts[-1], column)) > width:
            parts.append(columns[: table.naming])
        parts[-1].append(column)
    return parts


def _boxed(columns: Sequence[_FittedColumn], width: int) -> Table:
    """Return the columns as wide as there is room: the widest are narrowed first, and names only if all else is."""
    if _needed(each.narrowest for each in columns) > width:  # what follows an interval takes a line of its own
        columns = [replace(each, cells=tuple(cell.replace("], ", "],\n") for cell in each.cells)) for each in columns]
    least = [each.widest if each.names else each.narrowest for each in columns]
    if _needed(least) > width:
        least = [each.narrowest for each in columns]
    widths = [each.widest for each in columns]
    widest = max(widths)
    while _needed(widths) > width and widest:
        widest -= 1
        widths = [min(each.widest, max(own, widest)) for each, own in zip(columns, least, strict=True)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    cells = []
    for place, (column, most) in enumerate(zip(columns, widths, strict=True)):
        header = Text("\n".join(wrapped(column.header, most)))
        cells.append([Text("\n".join(column.lines(cell, most))) for cell in column.cells])
        table.add_column(header, justify="left" if place == 0 else "right", no_wrap=True)
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    return table
