"""Columns of votes: what each judge or person said about every instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, SupportsIndex, TypeAlias

from evenhand.criteria import Criterion, Option, fold_label
from evenhand.data.cells import (
    NOT_ASKED,
    LabelReader,
    held_in,
    is_abstention,
    is_written_nothing,
    number_of,
    plain_cell,
)
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import Vote

RecordedVote: TypeAlias = str | bool | float | SupportsIndex | None
"""A label, the value of an option, whether it is so, or None for an abstention."""

RecordedVotes: TypeAlias = Sequence[RecordedVote] | Mapping[str, RecordedVote]
"""The votes of one instance: one a judge in a fixed order, or judge -> vote."""

YES_OR_NO = Criterion(
    name="votes",
    description="Is it so?",
    options=(Option(label="No", value=0.0), Option(label="Yes", value=1.0)),
    scale="binary",
)
"""What binary votes are about when nothing else is said."""


class VoteReader(LabelReader):
    """Reads the votes on one criterion."""

    def votes(self, recorded: object, where: str) -> tuple[Vote, ...]:
        """The votes of one instance.

        Args:
            recorded: A list with one vote a judge, or a mapping judge -> vote.
            where: Which instance it is, for the messages.

        Raises:
            InvalidInputError: If it is something else, or a vote cannot be read.
        """
        named = {judge: vote for judge, vote in named_votes(recorded, where).items() if vote is not NOT_ASKED}
        judges = list(named)
        read = self.read(list(named.values()), lambda place: f"{where}: the judge {judges[place]!r} voted")
        return tuple(self.vote(judge, index) for judge, index in zip(judges, read, strict=True))

    def vote(self, judge: str, index: int | None) -> Vote:
        """The vote of a judge for an option; an abstention where there is none."""
        order = tuple(range(len(self.criterion.options)))
        if index is None:
            return Vote(judge_id=judge, order=order, unscored_reason="abstained")
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
        f"{where}: the recorded votes are {recorded!r}; give a list with one vote a judge, or a mapping judge -> vote"
    )


def judge_weights(weights: object, votes: Sequence[Vote], where: str) -> dict[str, float] | None:
    """The weight of each judge that voted on an instance.

    Args:
        weights: Judge -> weight, or for votes in a list one weight a vote; None for none.
        votes: As they were read.
        where: Which instance it is, for the message.

    Raises:
        InvalidInputError: If a judge has no weight, or a list is not as long as that of the votes.
    """
    if weights is None:
        return None
    judges = [vote.judge_id for vote in votes]
    if isinstance(weights, Mapping):
        named = {str(judge): weight for judge, weight in weights.items()}
        if missing := [judge for judge in judges if judge not in named]:
            raise InvalidInputError(
                f"{where}: the weights {named!r} name no weight for the judge {missing[0]!r}; give one for each of "
                f"{judges!r}"
            )
        return {judge: named[judge] for judge in judges}
    if not isinstance(weights, Sequence) or isinstance(weights, str):
        raise InvalidInputError(f"the weights are {weights!r}; give a list, one a judge, or a mapping judge -> weight")
    if judges != [f"judge_{place}" for place in range(len(weights))]:
        raise InvalidInputError(
            f"{where}: there are {len(weights)} weights in a list for the judges {judges!r}; give one a vote in the "
            "order of the votes, or for judges with names a mapping judge -> weight"
        )
    return {judge: float(weight) for judge, weight in zip(judges, weights, strict=True)}


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
