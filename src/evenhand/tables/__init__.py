"""Judging data sets without a recipe, and votes already recorded: frozen result tables."""

from evenhand.data.rows import read_file
from evenhand.results.results import from_results
from evenhand.tables.annotator_test import alternative_annotator_test
from evenhand.tables.assessing import judge
from evenhand.tables.checking import checklist
from evenhand.tables.checklist_table import ChecklistTable
from evenhand.tables.comparing import winrates
from evenhand.tables.grade_table import GradeTable
from evenhand.tables.grading import grade_scores
from evenhand.tables.judgements import JudgementTable
from evenhand.tables.mode_results import ModeResults, run_mode
from evenhand.tables.reading_replies import read_replies
from evenhand.tables.recorded_votes import AgreementTable, VoteTable, aggregate_votes, agreement
from evenhand.tables.reliability_of_judges import ReliabilityReport, reliability
from evenhand.tables.winrate_table import WinrateTable

__all__ = [
    "AgreementTable",
    "ChecklistTable",
    "GradeTable",
    "JudgementTable",
    "ModeResults",
    "ReliabilityReport",
    "VoteTable",
    "WinrateTable",
    "aggregate_votes",
    "agreement",
    "alternative_annotator_test",
    "checklist",
    "from_results",
    "grade_scores",
    "judge",
    "read_file",
    "read_replies",
    "reliability",
    "run_mode",
    "winrates",
]
