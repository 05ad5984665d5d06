"""Judging Hugging Face data sets without a recipe: frozen result tables."""

from evenhand.tables.judgements import Judgement, JudgementTable, judge
from evenhand.tables.rows import read_file, read_rows

__all__ = ["Judgement", "JudgementTable", "judge", "read_file", "read_rows"]
