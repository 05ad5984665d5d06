"""Result tables as text: Markdown, HTML, a terminal. Formats, and computes nothing."""

from evenhand.reports.ranking_tables import format_rank, matrix_table, pairs_table, ranking_notes

__all__ = [
    "format_rank",
    "matrix_table",
    "pairs_table",
    "ranking_notes",
]
