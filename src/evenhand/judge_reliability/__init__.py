"""How reliable a judge is, from its votes alone: no call is made.

Read :func:`criterion_reliability` first; :func:`findings` says in words what the numbers mean.
"""

from evenhand.judge_reliability.asked import FIRST, NEITHER, SECOND, SIDES, Asked, Categories, level_over
from evenhand.judge_reliability.one_judge import ChoiceReliability, choice_reliability, criterion_reliability
from evenhand.judge_reliability.people import agreement_of_judges
from evenhand.judge_reliability.report import CriterionReliability, JudgesAgreement
from evenhand.judge_reliability.words import NO_NUMBER, Finding, finding_on_choices, findings, findings_on_judges

__all__ = [
    "FIRST",
    "NEITHER",
    "NO_NUMBER",
    "SECOND",
    "SIDES",
    "Asked",
    "Categories",
    "ChoiceReliability",
    "CriterionReliability",
    "Finding",
    "JudgesAgreement",
    "agreement_of_judges",
    "choice_reliability",
    "criterion_reliability",
    "finding_on_choices",
    "findings",
    "findings_on_judges",
    "level_over",
]
