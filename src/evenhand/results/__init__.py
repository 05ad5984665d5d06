"""Results: their measures, their tables, and how they are saved.

:class:`Results` is imported when it is asked for: what a run file says, and that a file is not there, is told without
it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.results.results import Results
    from evenhand.results.saved import open_results

    open = open_results  # noqa: A001 - the public name is evenhand.open

__all__ = ["Results", "open", "open_results"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class or a function
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "Results":
        return import_module("evenhand.results.results").Results
    return import_module("evenhand.results.saved").open_results
