"""What a panel of judges and repeated draws say about themselves, from the verdicts alone: no call is made.

Read :func:`panel_report` first.
"""

from evenhand.panel.measure import report_of_run
from evenhand.panel.panel_report import PanelReport

__all__ = [
    "PanelReport",
    "report_of_run",
]
