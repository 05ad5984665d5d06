"""The one renderer: a table of texts for a terminal, and as Markdown, HTML, LaTeX and CSV."""

from __future__ import annotations

import csv
import html
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNBOUND_WIDTH = 120
_TAG_OPENS = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True, slots=True)
class TextTable:
    """Headers, rows of texts, and what must be said beneath them.

    Attributes:
        title: Above the table.
        headers: One a column.
        rows: As wide as the headers.
        notes: Sentences beneath the table.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

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
        return replace(self, headers=(corner, *(row[0] for row in self.rows)), rows=tuple(turned))

    def to_markdown(self) -> str:
        """A pipe table with its title and notes."""
        lines = [f"**{_as_text(self.title)}**", "", _pipe_row(self.headers), _pipe_row(["---"] * len(self.headers))]
        lines += [_pipe_row(row) for row in self.rows]
        for note in self.notes:
            lines += ["", _as_text(note)]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """A table element with a caption, and the notes as paragraphs."""
        head = "".join(f"<th>{html.escape(header)}</th>" for header in self.headers)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
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
        """The headers and rows as CSV, without title and notes."""
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([self.headers, *self.rows])
        return text.getvalue()

    def to_terminal(self, *, width: int | None = None) -> str:
        """The table with box-drawing lines, no wider than the terminal."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, header in enumerate(self.headers):
            table.add_column(Text(header), justify="left" if place == 0 else "right", no_wrap=place == 0)
        for row in self.rows:
            table.add_row(*map(Text, row))
        console = Console(width=width, highlight=False)
        if width is None and not console.is_terminal:
            console = Console(width=UNBOUND_WIDTH, highlight=False)
        with console.capture() as captured:
            console.print(self.title, style="bold", markup=False)
            console.print(table)
            for note in self.notes:
                console.print(note, markup=False)
        return captured.get()


class PrintedTables(ABC):
    """A result that prints as tables of texts; what they say is its own matter."""

    @abstractmethod
    def text_tables(self) -> tuple[TextTable, ...]:
        """The tables as texts."""

    def closing_notes(self) -> tuple[str, ...]:
        """What must be said beneath all tables."""
        return ()

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return "\n".join([*(table.to_markdown() for table in self.text_tables()), *self.closing_notes()])

    def to_html(self) -> str:
        """The tables as HTML."""
        notes = [f"<p>{note}</p>" for note in self.closing_notes()]
        return "".join([*(table.to_html() for table in self.text_tables()), *notes])

    def to_latex(self) -> str:
        """The tables in LaTeX, for the package booktabs."""
        return "\n".join(table.to_latex() for table in self.text_tables())

    def to_csv(self) -> str:
        """The tables as CSV, an empty line between them."""
        return "\n".join(table.to_csv() for table in self.text_tables())

    def __str__(self) -> str:
        return "\n".join([*(table.to_terminal() for table in self.text_tables()), *self.closing_notes()])

    def _repr_html_(self) -> str:
        return self.to_html()


def _pipe_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_as_text(cell).replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"


def _as_text(text: str) -> str:
    """Markdown that shows what would be an HTML tag, such as a name in angle brackets, instead of obeying it."""
    return _TAG_OPENS.sub("&lt;", text)


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
    "½": r"$\frac{1}{2}$",
}


def _as_latex(text: str) -> str:
    """LaTeX that shows the text as it is."""
    return "".join(_LATEX.get(sign, sign) for sign in text.replace("\n", " "))


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_as_latex, cells)) + r" \\"
