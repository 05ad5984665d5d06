"""How far judges can be trusted, from their votes alone: no call is made.

:mod:`~evenhand.judge_reliability.columns` reads votes as people record them, :mod:`~evenhand.judge_reliability.raters`
compares raters with each other and with the truth; read :func:`panel_report` for panels and repeated draws, and
:func:`criterion_reliability` for a single judge. :func:`findings` says in words what the numbers mean.
"""

from evenhand.judge_reliability.asked import FIRST, NEITHER, SECOND, SIDES, Asked, Categories, Questions
from evenhand.judge_reliability.columns import (
    NO_VERDICT,
    YES_OR_NO,
    Column,
    VoteReader,
    aggregate,
    categories_of,
    columns_of,
    columns_within,
    read_column,
    recorded_columns,
    recorded_verdicts,
)
from evenhand.judge_reliability.one_judge import (
    ChoiceReliability,
    CriterionReliability,
    choice_reliability,
    criterion_reliability,
    reliability_of_judges,
)
from evenhand.judge_reliability.panel_report import PanelReport, panel_report, report_of_run
from evenhand.judge_reliability.people import JudgesAgreement, agreement_of_judges
from evenhand.judge_reliability.raters import (
    Comparison,
    Drawing,
    PanelAgreement,
    Rater,
    RaterPair,
    Scale,
    VoteSummary,
    all_pairs,
    panels,
    summarize_votes,
)
from evenhand.judge_reliability.report import (
    choices_table,
    criterion_tables,
    judges_table,
    labels_table,
    measure_at,
    pairs_of_raters_table,
    panel_tables,
    vote_summary_table,
)
from evenhand.judge_reliability.words import Finding, finding_on_choices, findings, findings_on_judges

__all__ = [
    "FIRST",
    "NEITHER",
    "NO_VERDICT",
    "SECOND",
    "SIDES",
    "YES_OR_NO",
    "Asked",
    "Categories",
    "ChoiceReliability",
    "Column",
    "Comparison",
    "CriterionReliability",
    "Drawing",
    "Finding",
    "JudgesAgreement",
    "PanelAgreement",
    "PanelReport",
    "Questions",
    "Rater",
    "RaterPair",
    "Scale",
    "VoteReader",
    "VoteSummary",
    "aggregate",
    "agreement_of_judges",
    "all_pairs",
    "categories_of",
    "choice_reliability",
    "choices_table",
    "columns_of",
    "columns_within",
    "criterion_reliability",
    "criterion_tables",
    "finding_on_choices",
    "findings",
    "findings_on_judges",
    "judges_table",
    "labels_table",
    "measure_at",
    "pairs_of_raters_table",
    "panel_report",
    "panel_tables",
    "panels",
    "read_column",
    "recorded_columns",
    "recorded_verdicts",
    "reliability_of_judges",
    "report_of_run",
    "summarize_votes",
    "vote_summary_table",
]
