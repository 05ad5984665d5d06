"""What a panel of judges and repeated draws say about themselves, from the verdicts alone: no call is made.

Read :func:`panel_report` first.
"""

from evenhand.panel.measure import panel_report, planned_votes, report_of_run, spread_caution
from evenhand.panel.panel_report import JudgeReport, JudgeStability, PairReport, PanelReport

__all__ = [
    "JudgeReport",
    "JudgeStability",
    "PairReport",
    "PanelReport",
    "panel_report",
    "planned_votes",
    "report_of_run",
    "spread_caution",
]
