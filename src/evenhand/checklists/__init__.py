"""Checking responses by a checklist: what is asked, what the answers come to, and what many of them say together.

Shared by the unitxt metric and by the table. :class:`Checking` is where to begin.
"""

from evenhand.checklists.asking import Checking, ChecklistResult, Subject
from evenhand.checklists.checklist_report import ChecklistReport, ItemReport, item_panels, report_checklists

__all__ = [
    "Checking",
    "ChecklistReport",
    "ChecklistResult",
    "ItemReport",
    "Subject",
    "item_panels",
    "report_checklists",
]
