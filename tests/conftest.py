"""What every test needs: no look-ups on the network, and no file outside the test's own folder."""

import os
import tempfile
from itertools import count

import pytest
from hypothesis import HealthCheck, settings

ON_A_LOADED_MACHINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# A change is not refused for an example it did not bring: the examples are always the same, and so need not be many.
# EVENHAND_HYPOTHESIS=searching looks for others.
settings.register_profile("repeatable", max_examples=50, derandomize=True, **ON_A_LOADED_MACHINE)
settings.register_profile("searching", max_examples=1000, print_blob=True, **ON_A_LOADED_MACHINE)
settings.load_profile(os.environ.get("EVENHAND_HYPOTHESIS", "repeatable"))

os.environ.pop("COLUMNS", None)  # tables as wide as without a terminal, whatever processes run the tests
os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
os.environ["UNITXT_INFERENCE_ENGINE_CACHE_PATH"] = tempfile.mkdtemp(prefix="evenhand-tests-")


@pytest.fixture(scope="session")
def _caches(tmp_path_factory):
    """A folder for each test, made when something is written there: pytest looks through all folders to number one."""
    root = tmp_path_factory.mktemp("caches")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_cache(_caches, monkeypatch):
    """The default journal of a test is its own."""
    monkeypatch.setenv("EVENHAND_CACHE_DIR", str(next(_caches)))
