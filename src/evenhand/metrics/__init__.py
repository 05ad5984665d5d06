"""The unitxt metrics. With any of them, unitxt knows the catalog, whose ids their fields take, and all its classes."""

from pathlib import Path

from evenhand.engines import artifacts
from evenhand.metrics import (
    checklist_judge,
    choice_judges,
    direct,
    mode_judge,
    pairwise_judge,
    recorded_votes_metric,
    rubric_judge,
)
from evenhand.unitxt import loading
from evenhand.unitxt.catalogs import register_catalog

_METRICS = (checklist_judge, choice_judges, direct, mode_judge, pairwise_judge, recorded_votes_metric, rubric_judge)
ARTIFACT_MODULES = (*_METRICS, artifacts, loading)
"""The modules of the classes that the catalog names: a class is known to unitxt once its module is imported."""


def register() -> Path:
    """Let unitxt find evenhand's metrics, engines and criteria by their ids; return the catalog's folder.

    Call it once before a recipe names an id of evenhand. Calling it again is harmless.
    """
    return register_catalog()


register()
