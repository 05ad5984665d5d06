"""How result tables are shown: as texts in a terminal, in a notebook, and in Markdown."""

from __future__ import annotations

from abc import ABC, abstractmethod

from evenhand.reports import TextTable


class PrintedTables(ABC):
    """A result that prints as tables of texts; what they say is its own matter."""

    @abstractmethod
    def text_tables(self) -> tuple[TextTable, ...]:
        """The tables as texts."""

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return "\n".join(table.to_markdown() for table in self.text_tables())

    def __str__(self) -> str:
        return "\n".join(table.to_terminal() for table in self.text_tables())

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self.text_tables())
