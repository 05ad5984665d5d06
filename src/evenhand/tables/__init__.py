"""Judging Hugging Face data sets without a recipe, and votes already recorded: frozen result tables."""

from evenhand.tables.aggregating import VoteTable, aggregate_votes
from evenhand.tables.agreeing import AgreementTable, agreement
from evenhand.tables.assessing import judge
from evenhand.tables.comparing import winrates
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.tables.rows import read_file, read_rows
from evenhand.tables.winrate_table import ContestEntry, WinrateTable

__all__ = [
    "AgreementTable",
    "ContestEntry",
    "Judgement",
    "JudgementTable",
    "VoteTable",
    "WinrateTable",
    "aggregate_votes",
    "agreement",
    "judge",
    "read_file",
    "read_rows",
    "winrates",
]
