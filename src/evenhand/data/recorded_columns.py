"""Recorded votes: columns of what each judge or person said about every instance.

:mod:`evenhand.data.cells` says what may stand for a vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from evenhand.criteria import Criterion, Option, fold_label
from evenhand.data.cells import (
    NOT_ASKED,
    LabelReader,
    OutOfScale,
    held_in,
    is_abstention,
    is_written_nothing,
    number_of,
    plain_cell,
    set_aside,
)
from evenhand.data.fields import column_of, columns_named
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import Completion, Match, Verdict, Vote

YES_OR_NO = Criterion(
    name="votes",
    description="Is it so?",
    options=(Option(label="No", value=0.0), Option(label="Yes", value=1.0)),
    scale="binary",
)
"""What binary votes are about when nothing else is said."""

NO_VERDICT = Verdict(unscored_reason="not_asked")
"""The verdict on an instance for which no vote and no abstention is recorded."""


class VoteReader(LabelReader):
    """Reads the votes on one criterion."""

    def vote(self, judge: str, index: int | OutOfScale | None) -> Vote:
        """The vote of a judge for an option; an abstention where there is none."""
        order = tuple(range(len(self.criterion.options)))
        if index is None:
            return Vote(judge_id=judge, order=order, unscored_reason="abstained")
        if isinstance(index, OutOfScale):
            said, match = Completion(text=index.cell), Match(index=None, kind="none", reason="no_match")
            return Vote(judge_id=judge, order=order, unscored_reason="no_match", match=match, completion=said)
        option = self.criterion.options[index]
        return Vote(
            judge_id=judge,
            order=order,
            selected_index=index,
            selected_label=option.label,
            value=option.value,
            na=option.na,
        )


def named_votes(recorded: object, where: str, *, prefix: str = "judge") -> dict[str, object]:
    """The votes of one instance by judge; in a list, the judges are ``judge_0``, ``judge_1``, ….

    A text that holds a list or a mapping, as JSON or as Python writes it, is read as what it holds: unitxt's default
    post-processor makes such texts of predictions.

    Args:
        recorded: A list or a mapping.
        where: Which instance it is, for the message.
        prefix: Of the names of judges in a list.

    Raises:
        InvalidInputError: If it is something else.

    >>> named_votes(["yes", None], "instance 0")
    {'judge_0': 'yes', 'judge_1': None}
    """
    given = held_in(recorded, where) if isinstance(recorded, str) else recorded
    if hasattr(given, "tolist"):  # a numpy array or a pandas series
        given = given.tolist()
    if isinstance(given, Mapping):
        return {str(judge): vote for judge, vote in given.items()}
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return {f"{prefix}_{place}": vote for place, vote in enumerate(given)}
    raise InvalidInputError(
        f"{where}: the recorded votes are {recorded!r}; give a list with one vote per judge, or a mapping judge -> vote"
    )


def named_weights(weights: object, judges: Sequence[str]) -> dict[str, float] | None:
    """Name the weights of judges; None for none.

    Args:
        weights: Judge -> weight, or one weight per judge in their order.
        judges: Who voted.

    Raises:
        InvalidInputError: If they are not one per judge, or name another judge.
    """
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        if unknown := [judge for judge in weights if judge not in judges]:
            raise InvalidInputError(f"the weights name {unknown!r}, who did not vote; the judges are {judges!r}")
        return dict(weights)
    if not isinstance(weights, Sequence) or isinstance(weights, str):
        raise InvalidInputError(f"the weights are {weights!r}; give a list, one per judge, or judge -> weight")
    if len(weights) != len(judges):
        raise InvalidInputError(f"there are {len(weights)} weights for the judges {judges!r}; give one per judge")
    return dict(zip(judges, weights, strict=True))


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VoteColumn:
    """What one judge or person said.

    Attributes:
        name: Of the judge or person.
        cells: One per instance, as recorded; `NOT_ASKED` where the row has no entry for this judge or person.
    """

    name: str
    cells: tuple[object, ...]


def columns_of(
    rows: Sequence[Row], names: str | Sequence[str], what: str, *, within: bool = True
) -> tuple[VoteColumn, ...]:
    """The columns of a data set that hold votes.

    A single column whose cells are lists or mappings stands for one judge per entry: ``votes_0``, ``votes_1``, …, or
    as the mapping names them.

    Args:
        rows: Of the data set.
        names: One column or several.
        what: The parameter that named them, for the message.
        within: Whether a cell may hold the votes of several.

    Raises:
        InvalidInputError: No such column, or one named twice.
    """
    listed = columns_named(names, what)
    columns = [VoteColumn(name, tuple(map(plain_cell, column_of(rows, name, NOT_ASKED)))) for name in listed]
    for column in columns:
        if all(cell is NOT_ASKED for cell in column.cells):
            known = list(dict.fromkeys(key for row in rows for key in row))
            raise InvalidInputError(
                f"{what} names the column {column.name!r}, which no row has. {did_you_mean(column.name, known)}"
            )
    if within and len(columns) == 1 and any(_holds_several(cell) for cell in columns[0].cells):
        return columns_within(columns[0])
    return tuple(columns)


def columns_within(column: VoteColumn) -> tuple[VoteColumn, ...]:
    """A column of lists or mappings as one column per entry, named ``votes_0`` or as in the mapping.

    Raises:
        InvalidInputError: If a cell is something else, and not empty either.
    """
    rows = [
        {} if cell is NOT_ASKED or is_abstention(cell) else named_votes(cell, f"instance {row}", prefix=column.name)
        for row, cell in enumerate(column.cells)
    ]
    judges = list(dict.fromkeys(judge for votes in rows for judge in votes))
    return tuple(VoteColumn(judge, tuple(votes.get(judge, NOT_ASKED) for votes in rows)) for judge in judges)


def categories_of(columns: Sequence[VoteColumn]) -> Criterion:
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


def read_columns(
    columns: Sequence[VoteColumn], reader: VoteReader, kind: str
) -> list[tuple[int | OutOfScale | None, ...]]:
    """The option that each judge or person chose on each instance; None where there was no vote.

    Args:
        columns: What was recorded.
        reader: Of the criterion's votes.
        kind: ``judge`` or ``human``, for the message.

    Raises:
        InvalidInputError: If more than a few votes cannot be read, see :func:`~evenhand.data.cells.set_aside`.
    """

    def read(column: VoteColumn) -> tuple[int | OutOfScale | None, ...]:
        return reader.read_most(column.cells, lambda row: f"instance {row}: the {kind} {column.name!r} voted")

    found = [read(column) for column in columns]
    set_aside(index for column in found for index in column)
    return found


def read_column(column: VoteColumn, reader: VoteReader, kind: str) -> tuple[int | None, ...]:
    """As :func:`read_columns`, of one column; None where a vote is set aside, too."""
    (found,) = read_columns([column], reader, kind)
    return tuple(index if isinstance(index, int) else None for index in found)


def cast_votes(
    columns: Sequence[VoteColumn], n_rows: int, reader: VoteReader, kind: str = "judge"
) -> list[tuple[Vote, ...]]:
    """The votes on each instance, of those who were asked; an abstention is a vote.

    Args:
        columns: Of the judges or people.
        n_rows: Instances.
        reader: Of the criterion's votes.
        kind: ``judge`` or ``human``, for the message.

    Raises:
        InvalidInputError: If more than a few votes cannot be read.
    """
    votes: list[list[Vote]] = [[] for _ in range(n_rows)]
    for column, read in zip(columns, read_columns(columns, reader, kind), strict=True):
        same: dict[int | OutOfScale | None, Vote] = {}  # equal votes are one value
        for own, cell, index in zip(votes, column.cells, read, strict=True):
            if cell is not NOT_ASKED:
                same[index] = same.get(index) or reader.vote(column.name, index)
                own.append(same[index])
    return [tuple(own) for own in votes]


def _occurring(column: VoteColumn) -> dict[str, str]:
    """Folded label -> label, of those that occur in a column."""
    labels: dict[str, str] = {}
    for cell in column.cells:
        if cell is not NOT_ASKED and not is_abstention(cell) and not is_written_nothing(cell):
            label = _label(cell)
            labels.setdefault(fold_label(label), label)
    return labels


def _check_comparable(columns: Sequence[VoteColumn], occurring: Sequence[Mapping[str, str]]) -> None:
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


def recorded_columns(*given: str | Sequence[str] | None) -> set[str]:
    """The columns that hold votes and labels, as they were named.

    >>> sorted(recorded_columns(["judge_a", "judge_b"], "gold", None))
    ['gold', 'judge_a', 'judge_b']
    """
    named = [[each] if isinstance(each, str) else each or [] for each in given]
    return {column for columns in named for column in columns}
