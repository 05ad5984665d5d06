"""Columns of votes: what each judge or person said about every instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from evenhand.cells import NOT_ASKED, is_abstention, is_written_nothing, number_of, plain_cell
from evenhand.criteria import Criterion, Option, fold_label
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.recorded.reading import VoteReader, named_votes

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """What one judge or person said.

    Attributes:
        name: Of the judge or person.
        cells: One an instance, as recorded; `NOT_ASKED` where the row has no entry for this judge or person.
    """

    name: str
    cells: tuple[object, ...]


def columns_of(rows: Sequence[Row], names: str | Sequence[str], what: str) -> tuple[Column, ...]:
    """The columns of a data set that hold votes.

    A single column whose cells are lists or mappings stands for one judge an entry: ``votes_0``, ``votes_1``, …, or as
    the mapping names them.

    Args:
        rows: Of the data set.
        names: One column or several.
        what: The parameter that named them, for the message.

    Raises:
        InvalidInputError: No such column, or one named twice.
    """
    listed = [names] if isinstance(names, str) else list(names or ())
    if not listed or len(set(listed)) < len(listed) or not all(isinstance(name, str) for name in listed):
        raise InvalidInputError(f"{what} is {names!r}; name at least one column, each once")
    for name in listed:
        if not any(name in row for row in rows):
            known = list(dict.fromkeys(key for row in rows for key in row))
            raise InvalidInputError(f"{what} names the column {name!r}, which no row has. {did_you_mean(name, known)}")
    columns = [Column(name, tuple(plain_cell(row.get(name, NOT_ASKED)) for row in rows)) for name in listed]
    if len(columns) == 1 and any(_holds_several(cell) for cell in columns[0].cells):
        return _spread(columns[0])
    return tuple(columns)


def categories_of(columns: Sequence[Column]) -> Criterion:
    """The nominal criterion whose options are the labels that occur, for votes without a criterion.

    Raises:
        InvalidInputError: If fewer than two labels occur, or one column writes its labels as another cannot: numbers
            beside words, or truth values beside either, with none in common.
    """
    occurring = [_occurring(column) for column in columns]
    _check_comparable(columns, occurring)
    labels = {folded: label for found in reversed(occurring) for folded, label in found.items()}
    if len(labels) < 2:
        raise InvalidInputError(
            f"without criteria the options are the labels that occur, and only {list(labels.values())!r} did; give "
            "criteria, which say what could have been chosen"
        )
    options = tuple(Option(label=labels[folded]) for folded in sorted(labels))
    return Criterion(name="votes", description="", options=options, scale="nominal")


def read_column(column: Column, reader: VoteReader, kind: str) -> tuple[int | None, ...]:
    """The option that a judge or person chose, an instance; None where there was no vote.

    Args:
        column: What was recorded.
        reader: Of the criterion's votes.
        kind: ``judge`` or ``human``, for the message.

    Raises:
        InvalidInputError: If a vote cannot be read.
    """
    return reader.read(column.cells, lambda row: f"instance {row}: the {kind} {column.name!r} voted")


def _occurring(column: Column) -> dict[str, str]:
    """Folded label -> label, of those that occur in a column."""
    labels: dict[str, str] = {}
    for cell in column.cells:
        if cell is not NOT_ASKED and not is_abstention(cell) and not is_written_nothing(cell):
            label = _label(cell)
            labels.setdefault(fold_label(label), label)
    return labels


def _check_comparable(columns: Sequence[Column], occurring: Sequence[Mapping[str, str]]) -> None:
    for first, second in combinations(range(len(columns)), 2):
        mine, theirs = occurring[first], occurring[second]
        if not mine.keys() & theirs.keys() and not _kinds(mine) & _kinds(theirs) and mine and theirs:
            raise InvalidInputError(
                f"{columns[first].name!r} holds {list(mine.values())!r} and {columns[second].name!r} "
                f"{list(theirs.values())!r}, which have no label in common: without criteria nothing says which of "
                "them mean the same; give criteria with these labels and their values, such as "
                "evenhand.criteria.yes_no_criterion('votes', 'Is it so?')"
            )


def _kinds(labels: Iterable[str]) -> set[str]:
    return {
        "truth" if folded in {"true", "false"} else "word" if number_of(folded) is None else "number"
        for folded in labels
    }


def _label(cell: object) -> str:
    """A cell as a label; 2.0 is 2, since a column of whole numbers with a gap holds floats."""
    number = number_of(cell)
    return str(cell).strip() if number is None or not number.is_integer() else str(int(number))


def _holds_several(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.strip()[:1] in {"[", "{"}
    return isinstance(cell, Mapping) or (isinstance(cell, Sequence) and not isinstance(cell, bytes))


def _spread(column: Column) -> tuple[Column, ...]:
    """One column an entry of the lists or mappings that the cells hold, named ``votes_0`` or as in the mapping."""
    rows = [
        {} if cell is NOT_ASKED or is_abstention(cell) else named_votes(cell, f"instance {row}", prefix=column.name)
        for row, cell in enumerate(column.cells)
    ]
    judges = list(dict.fromkeys(judge for votes in rows for judge in votes))
    return tuple(Column(judge, tuple(votes.get(judge, NOT_ASKED) for votes in rows)) for judge in judges)


def recorded_columns(*given: str | Sequence[str] | None) -> set[str]:
    """The columns that hold votes and labels, as they were named.

    >>> sorted(recorded_columns(["judge_a", "judge_b"], "gold", None))
    ['gold', 'judge_a', 'judge_b']
    """
    named = [[each] if isinstance(each, str) else each or [] for each in given]
    return {column for columns in named for column in columns}
