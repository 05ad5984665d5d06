"""Where the data that other people published lies: tested against in place, never part of this repository."""

import os
from pathlib import Path

import pytest


def shared_root() -> Path:
    """The shared folder: ``EVENHAND_SHARED`` names it; without that, the folder ``shared`` next to the checkout."""
    return Path(os.environ.get("EVENHAND_SHARED") or Path(__file__).resolve().parents[3] / "shared")


def shared_path(relative: str) -> Path:
    """The file below the shared folder, or a skip that says what is missing."""
    path = shared_root() / relative
    if not path.exists():
        pytest.skip(f"needs the recorded data {relative!r}; set EVENHAND_SHARED to the folder that holds it")
    return path
