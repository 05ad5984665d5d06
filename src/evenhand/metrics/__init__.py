"""The unitxt metrics. With any of them, unitxt knows the catalog, whose ids their fields take, and all its classes."""

from pathlib import Path

from evenhand.metrics import judge_metrics  # noqa: F401 - unitxt knows a class once its module is imported
from evenhand.unitxt import criteria_artifacts, engines  # noqa: F401 - as above
from evenhand.unitxt.loading import register_catalog


def register() -> Path:
    """Let unitxt find evenhand's metrics, engines and criteria by their ids; return the catalog's folder.

    Call it once before a recipe names an id of evenhand. Calling it again is harmless.
    """
    return register_catalog()


register()
