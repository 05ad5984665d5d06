"""A table of texts, as Markdown, as HTML and for a terminal."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

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


def _pipe_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_as_text(cell).replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"


def _as_text(text: str) -> str:
    """Markdown that shows what would be an HTML tag, such as a name in angle brackets, instead of obeying it."""
    return _TAG_OPENS.sub("&lt;", text)
