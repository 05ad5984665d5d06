"""What a panel of judges and repeated draws say about themselves, from the verdicts alone: no call is made.

Read :func:`panel_report` first.
"""

from evenhand.panel.caution import spread_caution
from evenhand.panel.measure import panel_report
from evenhand.panel.of_run import planned_votes, report_of_run
from evenhand.panel.report import JudgeReport, JudgeStability, PairReport, PanelReport

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
