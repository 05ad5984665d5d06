"""evenhand: LLM judges for unitxt that say truthfully how far their judgement can be trusted.

The names below are imported when they are first used: ``import evenhand`` loads neither unitxt nor litellm.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "AgreementTable",
    "Checklist",
    "ChecklistItem",
    "ChecklistTable",
    "Completion",
    "Criterion",
    "EvenhandError",
    "GradeTable",
    "JudgementTable",
    "Match",
    "Option",
    "Question",
    "ReliabilityReport",
    "Rubric",
    "Verdict",
    "Vote",
    "VoteTable",
    "WinrateTable",
    "__version__",
    "aggregate",
    "aggregate_votes",
    "agreement",
    "catalog_path",
    "checklist",
    "evaluation_module",
    "grade_scores",
    "judge",
    "load",
    "match_closest_option",
    "register",
    "reliability",
    "winrates",
]

_HOMES = {
    "AgreementTable": "evenhand.tables",
    "Checklist": "evenhand.criteria",
    "ChecklistItem": "evenhand.criteria",
    "ChecklistTable": "evenhand.tables",
    "Completion": "evenhand.votes",
    "Criterion": "evenhand.criteria",
    "EvenhandError": "evenhand.errors",
    "GradeTable": "evenhand.tables",
    "JudgementTable": "evenhand.tables",
    "Match": "evenhand.votes",
    "Option": "evenhand.criteria",
    "Question": "evenhand.question",
    "ReliabilityReport": "evenhand.tables",
    "Rubric": "evenhand.criteria",
    "Verdict": "evenhand.votes",
    "Vote": "evenhand.votes",
    "VoteTable": "evenhand.tables",
    "WinrateTable": "evenhand.tables",
    "aggregate": "evenhand.judge_reliability",
    "aggregate_votes": "evenhand.tables",
    "agreement": "evenhand.tables",
    "catalog_path": "evenhand.unitxt.catalogs",
    "checklist": "evenhand.tables",
    "evaluation_module": "evenhand.evaluate",
    "grade_scores": "evenhand.tables",
    "judge": "evenhand.tables",
    "load": "evenhand.unitxt.loading",
    "match_closest_option": "evenhand.parsing",
    "register": "evenhand.unitxt.catalogs",
    "reliability": "evenhand.tables",
    "winrates": "evenhand.tables",
}

if TYPE_CHECKING:
    from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Rubric
    from evenhand.errors import EvenhandError
    from evenhand.evaluate import evaluation_module
    from evenhand.judge_reliability import aggregate
    from evenhand.parsing import match_closest_option
    from evenhand.question import Question
    from evenhand.tables import (
        AgreementTable,
        ChecklistTable,
        GradeTable,
        JudgementTable,
        ReliabilityReport,
        VoteTable,
        WinrateTable,
        aggregate_votes,
        agreement,
        checklist,
        grade_scores,
        judge,
        reliability,
        winrates,
    )
    from evenhand.unitxt.catalogs import catalog_path, register
    from evenhand.unitxt.loading import load
    from evenhand.votes import Completion, Match, Verdict, Vote


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
