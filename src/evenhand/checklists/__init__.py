"""Checking responses by a checklist: what is asked, what the answers come to, and what many of them say together.

Shared by the unitxt metric and by the table. :class:`Checking` is where to begin.
"""

from evenhand.checklists.checking import (
    Checking,
    Subject,
)
from evenhand.checklists.panels import item_panels
from evenhand.checklists.report import CategoryReport, ChecklistReport, ItemReport, report_checklists
from evenhand.checklists.result import ChecklistResult

__all__ = [
    "CategoryReport",
    "Checking",
    "ChecklistReport",
    "ChecklistResult",
    "ItemReport",
    "Subject",
    "item_panels",
    "report_checklists",
]
