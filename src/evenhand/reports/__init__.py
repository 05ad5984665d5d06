"""Result tables as text: Markdown, HTML, a terminal. Formats, and computes nothing."""

from evenhand.reports.text_table import TextTable, format_count, format_interval, format_share

__all__ = ["TextTable", "format_count", "format_interval", "format_share"]
