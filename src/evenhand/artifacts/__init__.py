"""Criteria, rubrics and checklists: as unitxt artifacts, as references to them, and as the frozen values meant.

Read :func:`load` first, then the module of what is loaded.
"""

from evenhand.artifacts.criterion_artifacts import (
    EvenhandCriterion,
    UndefinedScoreWarning,
    comparison_from_artifact,
    criterion_from_artifact,
    load_any_criterion,
    load_comparison,
    load_criteria_artifact,
    load_criterion,
)
from evenhand.artifacts.loading import (
    EvenhandChecklist,
    EvenhandRubric,
    checklist_artifact,
    kind_of,
    load,
    load_checklist,
    load_checklist_of_row,
    load_rubric,
    rubric_artifact,
)
from evenhand.artifacts.references import shown
from evenhand.documents import context_mapping

__all__ = [
    "EvenhandChecklist",
    "EvenhandCriterion",
    "EvenhandRubric",
    "UndefinedScoreWarning",
    "checklist_artifact",
    "comparison_from_artifact",
    "context_mapping",
    "criterion_from_artifact",
    "kind_of",
    "load",
    "load_any_criterion",
    "load_checklist",
    "load_checklist_of_row",
    "load_comparison",
    "load_criteria_artifact",
    "load_criterion",
    "load_rubric",
    "rubric_artifact",
    "shown",
]
