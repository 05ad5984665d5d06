"""What a file of rows or of labels holds, and the verbs that take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evenhand.data.cells import is_abstention
from evenhand.data.rows import read_file
from evenhand.files import expanded
from evenhand.numbers import format_count
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.saved import PART, kind_if_saved

RESULT_VERBS: Final = "show, rescore, filter, export, compare, correct, to-label, plot, report"
ROW_VERBS: Final = (
    "judge, winrates, checklist, run-mode, reliability; with recorded votes aggregate-votes, agreement, read-replies"
)
LABEL_VERBS: Final = "correct RESULT --gold FILE, show RESULT --gold FILE"
_MOST_VALUES: Final = 3
_LONGEST: Final = 20


@dataclass(frozen=True)
class FileContents(PrintedTables):
    """The rows of a file.

    Attributes:
        path: The file.
        rows: All of them.
    """

    path: str
    rows: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of first occurrence."""
        return tuple(dict.fromkeys(str(name) for row in self.rows for name in row))

    @property
    def holds_labels(self) -> bool:
        """Whether a column has a name under which labels are read."""
        return "label" in self.columns

    def text_tables(self) -> tuple[TextTable, ...]:
        """One row per column: how many cells are filled, and the first different values."""
        kind = "rows or labels" if self.holds_labels else "rows"
        title = f"{self.path}: {kind}, {format_count(len(self.rows), 'row')}"
        rows = tuple(map(self._column, self.columns))
        return (TextTable(title, ("column", "filled", "first values"), rows, kind="columns"),)

    def _column(self, name: str) -> tuple[str, ...]:
        filled = [row[name] for row in self.rows if not is_abstention(row.get(name))]
        values = list(dict.fromkeys(" ".join(str(value).split()) for value in filled))[:_MOST_VALUES]
        shown = [value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…" for value in values]
        return name, format_count(len(filled)), ", ".join(shown)

    def closing_notes(self) -> tuple[str, ...]:
        """The verbs that take the file."""
        labels = (f"Verbs that take it as labels: {LABEL_VERBS}.",) if self.holds_labels else ()
        return f"Verbs that take it: {ROW_VERBS}.", *labels


def contents_of(path: str) -> FileContents | None:
    """The rows of a file; None where it is a saved result.

    Args:
        path: A saved result or the folder of one in parts, a table (JSON lines, JSON, CSV, Parquet) or a data set.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    place = expanded(path)
    may_be_saved = not place.is_dir() or any(place.glob(PART))
    if may_be_saved and kind_if_saved(path) is not None:
        return None
    return FileContents(path, read_file(Path(path)))
