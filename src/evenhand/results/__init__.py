"""Results: their measures, their tables, and how they are saved."""

from evenhand.results.results import Results
from evenhand.results.saved import open_results

open = open_results  # noqa: A001 - the public name is evenhand.open

__all__ = ["Results", "open", "open_results"]
