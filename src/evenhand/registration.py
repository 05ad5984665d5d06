"""Making evenhand known to unitxt: its catalog, and the classes that the catalog names."""

from pathlib import Path

import evenhand.artifacts
import evenhand.engines.artifacts
import evenhand.metrics.best_of
import evenhand.metrics.checklist_judge
import evenhand.metrics.direct
import evenhand.metrics.grade_score_judge
import evenhand.metrics.pairwise_judge
import evenhand.metrics.recorded_votes_metric
import evenhand.metrics.rubric  # noqa: F401 - a class is known to unitxt once its module is imported
from evenhand.catalogs import catalog_path, register_catalog

__all__ = ["catalog_path", "register"]


def register() -> Path:
    """Let unitxt find evenhand's metrics, engines and criteria by their ids; return the catalog's folder.

    Call it once before a recipe names an id of evenhand. Calling it again is harmless.
    """
    return register_catalog()
