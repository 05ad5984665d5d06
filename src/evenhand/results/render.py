"""The one renderer: a table of texts for a terminal, and as Markdown, HTML, LaTeX and CSV.

A terminal, a viewer or a spreadsheet shows any control character or markup of a name, a label or a reply, and does not
obey it. In a terminal no number is cut or wrapped. A table that is too wide changes in this order: headers and texts
wrap; names are shortened in the middle, with a legend; columns move to further tables, which repeat the names of the
rows; and if a number has no room next to a name, each row becomes a list. A number wider than the terminal stays whole.
"""

from __future__ import annotations

import html
import io
import os
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, Self

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.errors import InvalidInputError, did_you_mean
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

    def with_column(self, header: str, cells: Sequence[str]) -> Self:
        """Return the table with one more column on its right."""
        rows = tuple((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        return replace(self, headers=(*self.headers, header), rows=rows)

    def turned(self, corner: str) -> Self:
        """Return the table with rows and columns exchanged; the new headers are the first cells of the old rows.

        Args:
            corner: The header of the first column.
        """
        turned = zip(self.headers[1:], *(row[1:] for row in self.rows), strict=True)
        return replace(self, headers=(corner, *(row[0] for row in self.rows)), rows=tuple(turned), naming=1)

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
        body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
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
        return "".join(",".join(map(_csv_cell, row)) + "\n" for row in (self.headers, *self.rows))

    def to_terminal(self, *, width: int | None = None) -> str:
        """Return the table with box-drawing lines, in a layout that fits: no number is cut or wrapped.

        Args:
            width: In cells; by default what :func:`~evenhand.results.render.terminal_width` finds.
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
    """A result that prints as tables of texts; subclasses provide the tables."""

    @abstractmethod
    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables as texts."""

    def further_tables(self) -> tuple[TextTable, ...]:
        """Return tables too large to be printed by default; the writers give them by their kind."""
        return ()

    def closing_notes(self) -> tuple[str, ...]:
        """Return the notes beneath all tables."""
        return ()

    def tables(self, kind: str | None = None) -> tuple[TextTable, ...]:
        """Return the tables that are printed, or the one of a kind: ``scores``, ``differences``, ``matrix`` and so on.

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
        """Return the tables as they are printed, in a layout that fits: no number is cut or wrapped.

        Args:
            kind: Of one table, without what is said beneath all; see :meth:`tables`.
            width: In cells; by default that of the terminal.
        """
        width = width or terminal_width()
        closing = (note if note.startswith(_COMMAND) else "\n".join(wrapped(note, width)) for note in self._closing())
        shown = [table.to_terminal(width=width) for table in self.tables(kind)]
        return "\n".join([*shown, *(closing if kind is None else ())])

    def to_markdown(self, kind: str | None = None) -> str:
        """Return the tables in Markdown, or the one of a kind (see :meth:`tables`)."""
        notes = map(as_paragraph, self._closing()) if kind is None else ()
        return "\n".join([*(table.to_markdown() for table in self.tables(kind)), *notes])

    def to_html(self, *, kind: str | None = None) -> str:
        """Return the tables as HTML, or the one of a kind (see :meth:`tables`)."""
        notes = [f"<p>{html.escape(note)}</p>" for note in self._closing()] if kind is None else []
        return styled("".join([*(table.to_html() for table in self.tables(kind)), *notes]))

    def to_page(self, title: str) -> str:
        """Write a file of the tables alone, for a browser."""
        head = f'<!doctype html>\n<meta charset="utf-8">\n<title>{html.escape(visible_line(title))}</title>'
        return f"{head}\n{PrintedTables.to_html(self)}\n"

    def to_latex(self, kind: str | None = None) -> str:
        """Return the tables in LaTeX, for the package booktabs, or the one of a kind (see :meth:`tables`)."""
        return "\n".join(table.to_latex() for table in self.tables(kind))

    def to_csv(self, kind: str | None = None) -> str:
        """Return the table of a kind (see :meth:`tables`) as CSV; without one, all tables, separated by empty lines."""
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
_CSV_NUMBER: Final = re.compile(
    r"[-+](∞|\d[\d,]*(\.\d+)?)(–-?\d[\d.]*)?( ?%)?( ± \d[\d.]*)?( \[[-+<>∞\d.,% ]*\])?"
    r"(, [<>]?\d[\d.]* % of [a-z]+ affected)?"
)
"""A number as ``numbers.py`` writes it: with its interval or without, with its spread, and the bounds of a score."""


def _csv_cell(cell: str) -> str:
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

PAIR = " – "
"""The sign between two names in one cell; each name is shortened for itself."""

_LEAST_WIDTH: Final = 20
_GAP: Final = 3  # between two columns
_EDGES: Final = 2
_TEXT: Final = 20  # so narrow a text may be wrapped, and no narrower
_HEAD: Final = 12  # so narrow a word of a head may be folded
_NAME_IN_ONE_TABLE: Final = 20  # shorter names than this, and the columns part first
_NAME_IN_PARTS: Final = 14  # shorter names than this, and there are more tables
_SHORTEST_NAME: Final = 8
_ENDS: Final = (0.4, 0.2, 0.6)  # shares of a shortened name that are its end, tried until no two names look the same

_NUMBER: Final = r"[-+−]?\$?(?:\d[\d,]*(?:\.\d+)?|∞)"
_PHRASE: Final = (
    rf"(?<![\w.:/-])(?:p [<>=] |[<>≥≤] ?)?{_NUMBER}(?:–{_NUMBER})?(?: ?%)?(?: ± {_NUMBER})?"
    rf"(?: \[[<>]?{_NUMBER}, [<>]?{_NUMBER}\])?"
)
"""A number as ``numbers.py`` writes it: with its sign, its unit, its spread and its interval."""
_UNBROKEN: Final = re.compile(rf"{_PHRASE}|\d[\d,.]*")
_BEGINS_AS_NUMBER: Final = re.compile(rf"\s*(?:{_PHRASE}|–(?: |$)|$)(?!.{{60}})")
_IS_NUMBER: Final = re.compile(rf"\s*(?:(?:{_PHRASE})(?: ?/ ?)?|–)*\s*")
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
    for allowed in (_after_space, _after_sign, _within_word):
        for place in range(fits, 0, -1):
            if place not in whole and allowed(line, place):
                return place
    return next((place for place in range(fits + 1, len(window)) if place not in whole), len(line))


def _after_space(line: str, place: int) -> bool:
    return line[place] == " " and bool(line[:place].strip())


def _after_sign(line: str, place: int) -> bool:
    return line[place - 1] in "-_/.:,;=" and line[place] != " "


def _within_word(line: str, place: int) -> bool:
    return cell_len(line[place]) > 0 and line[place - 1] != "\u200d" and bool(line[:place].strip())


def _prefix(text: str, width: int) -> int:
    """Return the number of signs that fit."""
    used = 0
    for place, sign in enumerate(text):
        used += cell_len(sign)
        if used > width:
            return place
    return len(text)


def _narrowest(text: str, least: int) -> int:
    """Return the least width to which a text is wrapped: that of its longest word, or less if that may be folded."""
    word = max(map(cell_len, text.split()), default=0)
    return max(map(cell_len, wrapped(text, min(max(word, 1), least))))


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Return each name that is wider than ``width`` -> its beginning and end, unlike every other name.

    A name that is a number stays as it is.

    >>> shortened(["claude-opus-4-20250514", "gpt-4o"], 14)
    {'claude-opus-4-20250514': 'claude-o…50514'}
    """
    known = list(dict.fromkeys(names))
    long = [name for name in known if cell_len(name) > width and not _IS_NUMBER.fullmatch(name)]
    for end in _ENDS:
        found = {name: _middle_left_out(name, width, end) for name in long}
        if len({*known, *found.values()}) == len(known) + len(long):
            return found
    taken, numbers = set(known), defaultdict[str, Iterator[int]](lambda: count(1))
    for name in long:
        alike = numbers[_middle_left_out(name, width, _ENDS[0])]
        shorts = (_middle_left_out(name, width, _ENDS[0], f"…{number}…") for number in alike)
        found[name] = next(short for short in shorts if short not in taken)
        taken.add(found[name])
    return found


def _middle_left_out(name: str, width: int, end: float, sign: str = "…") -> str:
    room = max(width - cell_len(sign), 2)
    last = max(int(room * end), 1)
    backwards = name[::-1]
    return name[: _prefix(name, room - last)] + sign + backwards[: _prefix(backwards, last)][::-1]


@dataclass(frozen=True, slots=True)
class _FittedColumn:
    """A column with the widths that it needs.

    Attributes:
        header: The header of the column.
        cells: The cells of the column.
        names: Whether its cells are names, which are shortened and do not wrap.
        widest: The width at which nothing wraps.
        narrowest: The width below which it cannot go while names are whole.
    """

    header: str
    cells: tuple[str, ...]
    names: bool
    widest: int = field(init=False)
    narrowest: int = field(init=False)

    def __post_init__(self) -> None:
        head = _narrowest(self.header, _HEAD)
        cells = max(map(cell_len, self.cells), default=0)
        folded = max((cell_len(line) for cell in self.cells for line in self.lines(cell, _TEXT)), default=0)
        object.__setattr__(self, "widest", max(cells, *map(cell_len, self.header.split("\n"))))
        object.__setattr__(self, "narrowest", max(head, folded))

    def lines(self, cell: str, width: int) -> list[str]:
        """Wrap a cell at a width; a number or a name stays in one line."""
        return [cell] if self.names or _BEGINS_AS_NUMBER.match(cell) else wrapped(cell, width)


@dataclass(frozen=True, slots=True)
class Part:
    """Some columns of a table, as wide as they will be.

    Attributes:
        widths: The width of each column.
        headers: The header of each column, with its lines.
        rows: Cells with their lines.
    """

    widths: tuple[int, ...]
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        """The width of the whole."""
        return _needed(self.widths)


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table as it fits.

    Attributes:
        parts: The columns, side by side; none if each row is a list.
        lists: A list of lines for each row, if no table fits.
        legend: Name -> its short form.
    """

    parts: tuple[Part, ...]
    lists: tuple[tuple[str, ...], ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)


def fit(headers: Sequence[str], rows: Sequence[Sequence[str]], naming: int, width: int) -> FittedTable:
    """Lay out a table in ``width`` cells.

    Args:
        headers: One per column.
        rows: The rows, as wide as the headers.
        naming: The number of columns that name a row: these are repeated, and their names shortened.
        width: The width of the terminal.
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(headers)
    columns = [
        _FittedColumn(header, tuple(own), place < naming and _are_names(own))
        for place, (header, own) in enumerate(zip(headers, cells, strict=True))
    ]
    names, values = columns[:naming], columns[naming:]
    if _needed(each.narrowest for each in columns) <= width:
        return FittedTable((_part(columns, width),))
    known = [name for column in names if column.names for cell in column.cells for name in cell.split(PAIR)]
    longest = max(map(cell_len, known), default=0)

    def shown(limit: int) -> list[_FittedColumn]:
        legend = shortened(known, limit)
        return [_with_short_names(each, legend) if each.names else each for each in names]

    def parts(limit: int) -> list[list[_FittedColumn]]:
        return _parted(shown(limit), values, width)

    limit = _greatest(lambda limit: len(parts(limit)) == 1, _NAME_IN_ONE_TABLE, longest)
    if limit is None:
        fewest = len(parts(_NAME_IN_PARTS)) or len(parts(_SHORTEST_NAME))
        limit = _greatest(lambda limit: 0 < len(parts(limit)) <= fewest, _SHORTEST_NAME, max(longest, _SHORTEST_NAME))
    if limit is not None and (fitting := parts(limit)):
        return FittedTable(tuple(_part(some, width) for some in fitting), legend=shortened(known, limit))
    return FittedTable((), tuple(tuple(_list(headers, row, naming, width)) for row in rows))


def _are_names(cells: Iterable[str]) -> bool:
    """Return whether cells are names, each of one word, or pairs of these."""
    return not any(" " in cell.replace(PAIR, "") for cell in cells)


def _needed(widths: Iterable[int]) -> int:
    widths = list(widths)
    return sum(widths) + _GAP * (len(widths) - 1) + _EDGES


def _greatest(fits: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the greatest number from ``least`` to ``most`` that fits, if every smaller number fits too."""
    place = bisect_left(range(least, most + 1), True, key=lambda number: not fits(number))
    return least + place - 1 if place else None


def _with_short_names(column: _FittedColumn, legend: Mapping[str, str]) -> _FittedColumn:
    return replace(column, cells=tuple(_short(cell, legend) for cell in column.cells))


def _short(cell: str, legend: Mapping[str, str]) -> str:
    return PAIR.join(legend.get(name, name) for name in cell.split(PAIR))


def _parted(names: Sequence[_FittedColumn], values: Sequence[_FittedColumn], width: int) -> list[list[_FittedColumn]]:
    """Divide columns into tables that fit with the names, in their order; empty if a column does not fit."""
    parts = [[*names]]
    for value in values:
        if len(parts[-1]) > len(names) and _needed(each.narrowest for each in (*parts[-1], value)) > width:
            parts.append([*names])
        parts[-1].append(value)
    return parts if all(_needed(each.narrowest for each in part) <= width for part in parts) else []


def _part(columns: Sequence[_FittedColumn], width: int) -> Part:
    """Return the columns as wide as there is room: the widest are narrowed first."""
    widest = max(each.widest for each in columns)
    widths = [each.widest for each in columns]
    while _needed(widths) > width and widest:
        widest -= 1
        widths = [min(each.widest, max(each.narrowest, widest)) for each in columns]
    headers = tuple("\n".join(wrapped(each.header, own)) for each, own in zip(columns, widths, strict=True))
    cells = [
        ["\n".join(each.lines(cell, own)) for cell in each.cells] for each, own in zip(columns, widths, strict=True)
    ]
    widths = [
        max(cell_len(line) for text in (header, *own) for line in text.split("\n"))
        for header, own in zip(headers, cells, strict=True)
    ]
    return Part(tuple(widths), headers, tuple(zip(*cells, strict=True)))


def _list(headers: Sequence[str], row: Sequence[str], naming: int, width: int) -> Iterator[str]:
    """Yield the names of the row, and beneath them a line for each column."""
    if naming:
        yield from wrapped(", ".join(filter(None, row[:naming])), width)
    for header, cell in zip(headers[naming:], row[naming:], strict=True):
        head = "  " + header.replace("\n", " ") + ":"
        if cell_len(head) + 1 + cell_len(cell) <= width:
            yield f"{head} {cell}"
        else:
            yield from ("  " + line for line in wrapped(head.strip(), width - 2))
            lines = [cell] if _BEGINS_AS_NUMBER.match(cell) else wrapped(cell, width - 4)
            yield from ("    " + line for line in lines)
