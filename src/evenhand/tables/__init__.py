"""Judging Hugging Face data sets without a recipe: frozen result tables."""

from evenhand.tables.assessing import judge
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.tables.rows import read_file, read_rows

__all__ = ["Judgement", "JudgementTable", "judge", "read_file", "read_rows"]
