"""Judging Hugging Face data sets without a recipe, and votes already recorded: frozen result tables.

Each name is imported when it is asked for: who opens a saved result, or mistypes an option, waits for no unitxt.
"""

from importlib import import_module
from typing import Any, Final

_HOMES: Final = {
    "annotator_test": ("alternative_annotator_test",),
    "assessing": ("judge",),
    "checking": ("checklist",),
    "checklist_table": ("ChecklistTable",),
    "comparing": ("winrates",),
    "grade_table": ("GradeTable",),
    "grading": ("grade_scores",),
    "judgements": ("JudgementTable",),
    "mode_results": ("ModeResults", "run_mode"),
    "reading_replies": ("read_replies",),
    "recorded_votes": ("AgreementTable", "VoteTable", "aggregate_votes", "agreement"),
    "reliability_of_judges": ("ReliabilityReport", "reliability"),
    "winrate_table": ("WinrateTable",),
}
_MODULES: Final = {name: f"evenhand.tables.{home}" for home, names in _HOMES.items() for name in names} | {
    "from_results": "evenhand.results.results",
    "read_file": "evenhand.data.rows",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - who checks types imports from the modules


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
