"""The group of each row of a result: by a column that it keeps, by the data that it was made of, or as given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.data.fields import field_of, field_or, name_of
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError, did_you_mean

GroupNames = tuple[str | None, ...]
"""The group of each row of the data, by its index; None for a row of none."""


def group_names(rows: Mapping[int, str], said: Mapping[str, Any], by: object, data: object = None) -> GroupNames:
    """Return the group of each row: see :meth:`~evenhand.results.results.Results.group_of`.

    Args:
        rows: The index of each row that a result is about -> its id, or else its index as a text.
        said: The parameters of the result.
        by: The groups.
        data: The rows that were judged.
    """
    if data is not None:
        return _of_data(rows, said, by, data)
    if isinstance(by, str):
        return _kept(said, by)
    if isinstance(by, Mapping):
        return _mapped(rows, by)
    if isinstance(by, Iterable):
        found = tuple(name_of(each) or None for each in by)
        _check_length(rows, said, len(found), "by")
        return found
    raise InvalidInputError(
        f"by is {by!r}; give the name of a column, a group for each row, or a mapping from row (its id or index) to "
        "group"
    )


def _kept(said: Mapping[str, Any], column: str) -> GroupNames:
    kept: Mapping[str, Any] = said.get("groups", {})
    if column in kept:
        return tuple(kept[column])
    held = f"{did_you_mean(column, list(kept))} " if kept else ""
    raise InvalidInputError(
        f"the result keeps no column {column!r}. {held}Judge with group_fields={column!r} to keep it, or give the rows "
        f"that were judged: data=…, or a group for each row: by=[…], or by={{id: group}}"
    )


def _check_length(rows: Mapping[int, str], said: Mapping[str, Any], given: int, what: str) -> None:
    """Check that there is something for each row; of a filtered result the rows of the whole are counted."""
    last, judged = max(rows), said["n"]
    if given != judged if judged > last else given <= last:
        raise InvalidInputError(
            f"{what} holds {given} rows, and the result is about {max(judged, last + 1)}: give one for each row of the "
            "data that was judged, in the same order"
        )


def _mapped(rows: Mapping[int, str], groups: Mapping[Any, Any]) -> GroupNames:
    named = {name_of(row): name_of(group) or None for row, group in groups.items()}
    unknown = [row for row in named if row not in rows.values()]
    if len(unknown) == len(named):
        raise InvalidInputError(
            f"by names the rows {unknown[:3]!r}, of which the result holds none; its rows are named "
            f"{list(rows.values())[:3]!r}"
        )
    return tuple(named.get(rows.get(index, "")) for index in range(max(rows) + 1))


def _of_data(rows: Mapping[int, str], said: Mapping[str, Any], column: object, data: object) -> GroupNames:
    """Return the groups that a column of the data names: rows are matched by their ids, or else by their place."""
    if not isinstance(column, str):
        raise InvalidInputError(f"by is {column!r}; with data=… name the column of it")
    given, named_by = read_rows(data), said.get("id_field")
    groups = [name_of(field_of(row, column, number, "by")) or None for number, row in enumerate(given)]
    ids = None if named_by is None else [name_of(field_or(row, named_by)) for row in given]
    if ids is None or not any(ids):
        _check_length(rows, said, len(groups), "data")
        return tuple(groups)
    found: dict[str, str | None] = {}
    for identifier, group in zip(ids, groups, strict=True):
        if found.setdefault(identifier, group) != group:
            raise InvalidInputError(
                f"the rows of {identifier!r} contradict each other in {column!r}: {found[identifier]!r} and {group!r}; "
                "let them say the same"
            )
    missing = [name for name in rows.values() if name not in found]
    if missing:
        raise InvalidInputError(f"data has no row with the {named_by} {missing[0]!r}, which was judged")
    return _mapped(rows, found)
