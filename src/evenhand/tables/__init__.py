"""Judging Hugging Face data sets without a recipe: frozen result tables."""

from evenhand.tables.assessing import judge
from evenhand.tables.comparing import winrates
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.tables.rows import read_file, read_rows
from evenhand.tables.winrate_table import ContestEntry, WinrateTable

__all__ = [
    "ContestEntry",
    "Judgement",
    "JudgementTable",
    "WinrateTable",
    "judge",
    "read_file",
    "read_rows",
    "winrates",
]
