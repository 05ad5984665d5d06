"""Where the data that other people published lies: tested against in place, never part of this repository."""

import os
from pathlib import Path

import pytest


def shared_path(relative: str) -> Path:
    """The file below the shared folder, or a skip that says what is missing.

    ``EVENHAND_SHARED`` names the folder; without it, the folder ``shared`` beside the checkout.
    """
    root = Path(os.environ.get("EVENHAND_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    path = root / relative
    if not path.exists():
        pytest.skip(f"needs the recorded data {relative!r}; set EVENHAND_SHARED to the folder that holds it")
    return path
