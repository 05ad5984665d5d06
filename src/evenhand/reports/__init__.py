"""Result tables as text: Markdown, HTML, a terminal. Formats, and computes nothing."""

from evenhand.reports.ranking_tables import format_rank, matrix_table, pairs_table, ranking_notes
from evenhand.reports.recorded_votes import confusion_table, pairs_of_raters_table, vote_summary_table
from evenhand.reports.reliability import choices_table, criterion_tables, judges_table

__all__ = [
    "choices_table",
    "confusion_table",
    "criterion_tables",
    "format_rank",
    "judges_table",
    "matrix_table",
    "pairs_of_raters_table",
    "pairs_table",
    "ranking_notes",
    "vote_summary_table",
]
