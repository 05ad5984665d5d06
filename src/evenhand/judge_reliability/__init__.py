"""How reliable a judge is, from its votes alone: no call is made.

Read :func:`criterion_reliability` first; :func:`findings` says in words what the numbers mean.
"""

from evenhand.judge_reliability.asked import Asked, Categories
from evenhand.judge_reliability.measure import criterion_reliability
from evenhand.judge_reliability.people import agreement_of_judges
from evenhand.judge_reliability.report import (
    AgreementWithPeople,
    Confidences,
    CriterionReliability,
    JudgesAgreement,
    OptionFlipRate,
    Replies,
    UnscoredShare,
)
from evenhand.judge_reliability.words import Finding, findings, findings_on_judges

__all__ = [
    "AgreementWithPeople",
    "Asked",
    "Categories",
    "Confidences",
    "CriterionReliability",
    "Finding",
    "JudgesAgreement",
    "OptionFlipRate",
    "Replies",
    "UnscoredShare",
    "agreement_of_judges",
    "criterion_reliability",
    "findings",
    "findings_on_judges",
]
