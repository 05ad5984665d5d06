"""Which rows belong together: the clusters that a column names, and columns that look as if they named some."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from typing import Any

from evenhand.errors import InvalidInputError
from evenhand.judging.instances import field_of, name_of
from evenhand.run_options import IntervalOptions
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import is_missing


class RepeatedColumnWarning(UserWarning):
    """A column of the data groups its rows, and nobody said whether rows of a group depend on each other."""


FEWEST_ROWS = 10
"""Fewer rows are too few to tell that a column groups them."""

FEWEST_VALUES = 5
"""A column with fewer values is a category, unless its cells are long texts."""

LONG_TEXT = 80
"""Characters from which a text is no category."""

_GROUPING = re.compile(
    r"(^|[^a-z])((uu)?id|url|doc|document|conversation|dialog(ue)?|session|thread|user|participant|patient|author|"
    r"article|passage|paragraph|story|prompt|template|question|cluster|parent)s?($|[^a-z])"
)
_CATEGORY = re.compile(
    r"(^|[^a-z])(system|model|judge|rater|annotator|engine|label|class|category|criteri(on|a)|rubric|checklist|split|"
    r"language|type|gold|rating|score|vote|answer|response|prediction|option)s?($|[^a-z])"
)


def read_clusters(
    rows: Sequence[Mapping[str, Any]],
    field: str | bool | None,
    *,
    apart: Collection[str] = (),
    what: str = "row",
) -> tuple[str, ...] | None:
    """The cluster of each row, as text; None if rows do not belong together.

    Two rows are of one cluster if it has one name: see :func:`~evenhand.judging.instances.name_of`.

    Args:
        rows: The data.
        field: The column that names the clusters; False where rows do not depend on each other. With None a column
            that plainly repeats is warned of: see :func:`repeated_column`.
        apart: Columns that are not looked at for that: those with responses, votes and labels.
        what: A row is called, in messages.

    Raises:
        InvalidInputError: What names no column, or a row without a value in it.
    """
    given: dict[str, Any] = {"cluster_field": field}
    IntervalOptions(**given)
    if not isinstance(field, str):
        if field is None:
            _warn_of_repeats(rows, apart)
        return None
    found = []
    for number, row in enumerate(rows):
        value = field_of(row, field, number, "cluster_field")
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            raise InvalidInputError(
                f"{what} {number} has {value!r} in {field!r}, which cluster_field names: every {what} needs to say "
                "what it belongs to; give one that belongs to no other a value of its own"
            )
        found.append(name_of(value))
    return tuple(found)


def clustered_level(level: float, clusters: Sequence[str | None], method: str = "auto") -> IntervalLevel:
    """The level of intervals over rows with these clusters; None, for all rows, where they do not belong together."""
    known = [cluster for cluster in clusters if cluster is not None]
    return IntervalLevel(level, known or None, method)


def repeated_column(rows: Sequence[Mapping[str, Any]], apart: Collection[str] = ()) -> str | None:
    """The column that most plainly groups the rows; None if none does.

    A column does so if its cells are long texts (80 characters or more at the median: a text is no category) of at
    least three kinds, or texts or whole numbers of at least five kinds under a name like an id's or a document's
    (``doc_id``, ``conversation``, ``user``); and if a value stands in two rows or more on average, and half of the rows
    share theirs with another row. Constant columns, categories, labels, and columns named like a system or a rating
    are none. Of several, the one with the most values counts: it is the least that depends.

    Args:
        rows: The data; fewer than 10 rows tell nothing.
        apart: Columns that are not looked at.

    >>> pages = [{"doc_id": number // 4, "answer": "yes", "grade": number % 3} for number in range(40)]
    >>> repeated_column(pages), repeated_column([{**row, "doc_id": 7} for row in pages])
    ('doc_id', None)
    """
    if len(rows) < FEWEST_ROWS:
        return None
    found = {}
    for column in rows[0]:
        cells = [row.get(column) for row in rows]
        fewest = None if column in apart else _fewest_values(str(column), cells)
        if fewest is None:
            continue
        counts = Counter(cells)
        shared = sum(count for count in counts.values() if count > 1)
        if len(counts) >= fewest and len(cells) >= 2 * len(counts) and shared * 2 >= len(cells):
            found[column] = len(counts)
    return max(found, key=lambda column: found[column], default=None)


def _fewest_values(column: str, cells: Sequence[Any]) -> int | None:
    """How many values a column must have to group rows, by its cells and its name; None where it cannot."""
    if any(isinstance(cell, bool) or not isinstance(cell, str | Integral) for cell in cells):
        return None
    lengths = sorted(len(cell) for cell in cells if isinstance(cell, str))
    if len(lengths) == len(cells) and lengths[len(lengths) // 2] >= LONG_TEXT:
        return 3
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column).lower()
    return FEWEST_VALUES if _GROUPING.search(words) and not _CATEGORY.search(words) else None


def _warn_of_repeats(rows: Sequence[Mapping[str, Any]], apart: Collection[str]) -> None:
    column = repeated_column(rows, apart)
    if column is not None:
        warnings.warn(
            f"the column {column!r} has {len({row[column] for row in rows})} values in {len(rows)} rows. If rows with "
            f"the same value depend on each other, intervals that do not know it are too narrow: name the column with "
            f"cluster_field={column!r} (in the shell --cluster-field {column}), or say that rows are independent with "
            "cluster_field=False (--cluster-field false)",
            RepeatedColumnWarning,
            stacklevel=4,
        )
