"""Saved results of any kind: what a path holds is known before anything is imported that takes time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.files import check_path
from evenhand.results.saved import header_of

if TYPE_CHECKING:
    from evenhand.result_methods import ResultMethods


def open(path: str | Path) -> ResultMethods[Any]:  # noqa: A001 - the public name is evenhand.open
    """Open a saved result of any kind: what ``save`` wrote.

    A folder of parts, as ``stream_to`` writes them, is a result too: it stays on disk, and what its scores need is read
    when they are asked for.

    Raises:
        InvalidInputError: If the file cannot be read, or holds no result.
    """
    kind = header_of(check_path(path))["evenhand"]
    from evenhand.functions import RESULTS  # noqa: PLC0415 - seconds of import, after what is wrong has been told

    return RESULTS[kind].load(path)
