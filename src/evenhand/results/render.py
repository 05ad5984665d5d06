"""The one renderer: a table of texts for a terminal, and as Markdown, HTML, LaTeX and CSV.

Whatever a name, a label or a reply contains is shown and not obeyed: by a terminal, a viewer, or a spreadsheet.
"""

from __future__ import annotations

import html
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Self

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.results.layout import Part, fit, terminal_width, wrapped
from evenhand.visible import visible, visible_line


@dataclass(frozen=True, slots=True)
class TextTable:
    """Headers, rows of texts, and what must be said beneath them.

    It holds its texts as they may be shown; see :mod:`evenhand.visible`.

    Attributes:
        title: Above the table.
        headers: One a column.
        rows: As wide as the headers.
        notes: Sentences beneath the table.
        kind: The short name by which it is asked for, such as ``scores``.
        naming: How many columns, the first ones, name what a row is about.
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

    def with_column(self, header: str, cells: Sequence[str]) -> Self:
        """The table with a column more at its right."""
        rows = tuple((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        return replace(self, headers=(*self.headers, header), rows=rows)

    def turned(self, corner: str) -> Self:
        """The table with a row for each column, and a column for each row, headed by what the row began with.

        Args:
            corner: The header of the first column.
        """
        turned = zip(self.headers[1:], *(row[1:] for row in self.rows), strict=True)
        return replace(self, headers=(corner, *(row[0] for row in self.rows)), rows=tuple(turned), naming=1)

    def to_markdown(self) -> str:
        """A pipe table with its title and notes."""
        lines = [f"**{as_markdown(self.title)}**", "", _pipe_row(self.headers), _pipe_row(["---"] * len(self.headers))]
        lines += [_pipe_row(row) for row in self.rows]
        for note in self.notes:
            lines += ["", as_paragraph(note)]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """A table element with a caption, and the notes as paragraphs."""
        head = "".join(f"<th>{html.escape(header)}</th>" for header in self.headers)
        body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        caption = html.escape(self.title)
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def to_latex(self) -> str:
        """A ``table`` environment with a caption and rules of the package booktabs, the notes beneath it."""
        columns = "l" + "r" * (len(self.headers) - 1)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_as_latex(self.title)}}}"]
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _latex_row(self.headers), r"\midrule"]
        lines += [_latex_row(row) for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\smallskip\footnotesize {_as_latex(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"]) + "\n"

    def to_csv(self) -> str:
        """The headers and rows as CSV, without title and notes.

        A text that a spreadsheet would take for a formula (it begins with =, +, -, @ or a tab, and is no number) has an
        apostrophe before it. Readers of data take such a cell as it stands: results are read again from what ``save``
        wrote, which changes no text.
        """
        return "".join(",".join(map(_csv_cell, row)) + "\n" for row in (self.headers, *self.rows))

    def to_terminal(self, *, width: int | None = None) -> str:
        """The table with box-drawing lines, in a layout that fits: no number is cut or wrapped.

        Args:
            width: In cells; by default what :func:`~evenhand.results.layout.terminal_width` finds.
        """
        width = width or terminal_width()
        laid = fit(self.headers, self.rows, self.naming, width)
        legend = tuple(f"{short} = {name}" for name, short in laid.legend.items())
        text = io.StringIO()  # and not the terminal, which may be gone
        widest = max((part.width for part in laid.parts), default=0)
        terminal = Console(force_jupyter=False).is_terminal  # a notebook would be shown each part, and get no text
        room = max(width, widest)
        console = Console(file=text, width=room, highlight=False, force_terminal=terminal, force_jupyter=False)
        _print_lines(console, self.title, width, style="bold")
        for number, part in enumerate(laid.parts, start=1):
            if number > 1:
                _print_lines(
                    console, f"The same rows, further columns ({number} of {len(laid.parts)})", width, style="bold"
                )
            console.print(_boxed(part))
        for lines in laid.lists:
            console.print(Text("\n".join(["", *lines])), soft_wrap=True)
        for note in (*([""] if laid.lists else []), *legend, *self.notes):
            _print_lines(console, note, width)
        return text.getvalue()


def _html_cell(cell: str) -> str:
    opening = '<td class="text">' if len(cell) > _LONG_CELL else "<td>"
    return f"{opening}{html.escape(cell)}</td>"


def _print_lines(console: Console, text: str, width: int, *, style: str = "") -> None:
    console.print(Text("\n".join(wrapped(text, width)), style=style), soft_wrap=True)


def _boxed(part: Part) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, (header, width) in enumerate(zip(part.headers, part.widths, strict=True)):
        table.add_column(Text(header), justify="left" if place == 0 else "right", width=width, no_wrap=True)
    for row in part.rows:
        table.add_row(*map(Text, row))
    return table


_LONG_CELL: Final = 60  # signs, beyond which a cell of a page wraps
_COMMAND: Final = "    "
"""Before a closing note that is a command: it is copied whole, and no line of it ends."""


class PrintedTables(ABC):
    """A result that prints as tables of texts; what they say is its own matter."""

    @abstractmethod
    def text_tables(self) -> tuple[TextTable, ...]:
        """The tables as texts."""

    def further_tables(self) -> tuple[TextTable, ...]:
        """Tables too large to be printed unasked; the writers give them by their kind."""
        return ()

    def closing_notes(self) -> tuple[str, ...]:
        """What must be said beneath all tables."""
        return ()

    def tables(self, kind: str | None = None) -> tuple[TextTable, ...]:
        """The tables that are printed, or the one of a kind: ``scores``, ``differences``, ``matrix`` and so on.

        Where several tables are of one kind, the second is called ``measures-2``, and so on.

        Args:
            kind: The short name of a table, printed or not; all that are printed by default.

        Raises:
            InvalidInputError: If the result has no such table; the message names those that it has.
        """
        if kind is None:
            return self.text_tables()
        named = _by_kind(self.text_tables())
        if kind not in named:
            named = _by_kind((*self.text_tables(), *self.further_tables()))
        if kind not in named:
            raise InvalidInputError(f"there is no table {kind!r}. {did_you_mean(kind, list(named))}")
        return (named[kind],)

    def to_terminal(self, kind: str | None = None, *, width: int | None = None) -> str:
        """The tables as they are printed, in a layout that fits: no number is cut or wrapped.

        Args:
            kind: Of one table, without what is said beneath all; see :meth:`tables`.
            width: In cells; by default that of the terminal.
        """
        width = width or terminal_width()
        closing = (note if note.startswith(_COMMAND) else "\n".join(wrapped(note, width)) for note in self._closing())
        shown = [table.to_terminal(width=width) for table in self.tables(kind)]
        return "\n".join([*shown, *(closing if kind is None else ())])

    def to_markdown(self, kind: str | None = None) -> str:
        """The tables in Markdown, or the one of a kind (see :meth:`tables`)."""
        notes = map(as_paragraph, self._closing()) if kind is None else ()
        return "\n".join([*(table.to_markdown() for table in self.tables(kind)), *notes])

    def to_html(self, *, kind: str | None = None) -> str:
        """The tables as HTML, or the one of a kind (see :meth:`tables`)."""
        notes = [f"<p>{html.escape(note)}</p>" for note in self._closing()] if kind is None else []
        return styled("".join([*(table.to_html() for table in self.tables(kind)), *notes]))

    def to_page(self, title: str) -> str:
        """A file of the tables alone, for a browser."""
        head = f'<!doctype html>\n<meta charset="utf-8">\n<title>{html.escape(visible_line(title))}</title>'
        return f"{head}\n{PrintedTables.to_html(self)}\n"

    def to_latex(self, kind: str | None = None) -> str:
        """The tables in LaTeX, for the package booktabs, or the one of a kind (see :meth:`tables`)."""
        return "\n".join(table.to_latex() for table in self.tables(kind))

    def to_csv(self, kind: str | None = None) -> str:
        """The table of a kind (see :meth:`tables`) as CSV; without one, all tables, an empty line between them."""
        return "\n".join(table.to_csv() for table in self.tables(kind))

    def __str__(self) -> str:
        return self.to_terminal()

    def _closing(self) -> tuple[str, ...]:
        return tuple(map(visible_line, self.closing_notes()))

    def _repr_html_(self) -> str:
        return self.to_html()


def _by_kind(tables: Iterable[TextTable]) -> dict[str, TextTable]:
    named: dict[str, TextTable] = {}
    for table in tables:
        names = (f"{table.kind}-{number}" if number > 1 else table.kind for number in count(1))
        named[next(name for name in names if name not in named)] = table
    return named


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
    ".evenhand .row{display:flex;flex-wrap:wrap;gap:0 1em}.evenhand .row>div{flex:1 0 100%;min-width:0}"
    ".evenhand .row>div.beside{flex:1 1 18em}"
    ".evenhand .row h3,.evenhand .row h4,.evenhand .row h5{flex:1 0 100%;margin:.9em .6em .2em;padding:0;"
    "color:inherit;font-size:1em}.evenhand .row b{font-weight:400;opacity:.75}"
    ".evenhand pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em .6em;padding:.4em .6em;color:inherit;"
    "background:none;border-left:3px solid color-mix(in srgb,currentColor 30%,transparent)}"
)
"""Of what a notebook shows: its colours are those of the page that it stands in, light or dark, and it scrolls."""


def styled(body: str) -> str:
    """HTML in a box of its own, whose style reaches nothing outside it."""
    return f'<div class="evenhand"><style>{_STYLE}</style>{body}</div>'


_MARKDOWN: Final = re.compile(
    r"(?P<tag><(?=[A-Za-z/!?]))"
    r"|(?P<entity>&(?=#?\w+;))"
    r"|[`*|~]|\\(?=[!-/:-@\[-`{-~]|$)|(?<!\w)_|_(?!\w)|\](?=[(\[])"
)
"""What Markdown would obey: tags, entities, code, emphasis, cells, links and images, and what ends that."""
_BLOCK: Final = re.compile(r"\A(\d+(?=[.)](?:\s|$))|(?=[#>=+\[-]))")
"""Where a paragraph would begin as a list, a heading, a quotation or a definition."""


def as_markdown(text: str) -> str:
    """Markdown that shows the text as it is."""
    return _MARKDOWN.sub(lambda sign: "&lt;" if sign["tag"] else "&amp;" if sign["entity"] else f"\\{sign[0]}", text)


def as_paragraph(text: str) -> str:
    """The same at the beginning of a line, where a list, a heading or a quotation could begin too."""
    return _BLOCK.sub(r"\1\\", as_markdown(text.lstrip()))


def _pipe_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(as_markdown(cell).replace("\n", " ") for cell in cells) + " |"


_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|\t")
_NUMBER: Final = re.compile(
    r"[-+](∞|\d[\d,]*(\.\d+)?)(–-?\d[\d.]*)?( ?%)?( ± \d[\d.]*)?( \[[-+<>∞\d.,% ]*\])?"
    r"(, [<>]?\d[\d.]* % of [a-z]+ affected)?"
)
"""As ``numbers.py`` writes one: with its interval or without, with its spread, and the bounds of a score."""


def _csv_cell(cell: str) -> str:
    """A cell that spreadsheets take for a text or a number; a few of them part cells at semicolons too."""
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
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
    """LaTeX that shows the text as it is."""
    parts = _LIGATURES.split(text.replace("\n", " "))
    return "{}".join("".join(_LATEX.get(sign, sign) for sign in part) for part in parts)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_as_latex, cells)) + r" \\"
