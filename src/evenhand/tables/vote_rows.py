"""Recorded votes, a row a vote or a column a judge, as votes that were cast: by whom, on what, in which draw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar, get_args

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion
from evenhand.data.cells import NOT_ASKED, OutOfScale
from evenhand.data.fields import field_of, field_or, group_columns, name_of, named_groups, read_clusters
from evenhand.data.recorded_columns import VoteReader, columns_of, named_weights
from evenhand.data.rows import Row, read_rows
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.run import parameters_of
from evenhand.options import (
    ChecklistOptions,
    RecordedOptions,
    RunOptions,
    VoteFields,
)
from evenhand.version import __version__
from evenhand.votes import UnscoredReason, Vote, is_missing

VOTE = "vote"
"""The column of votes in rows that are nothing else."""

OF_RECORDED = {
    "aggregation",
    "on_position_bias",
    "judge_weights",
    "primary_metric",
    "allow_na",
    *RecordedOptions.model_fields,
}
ASKING = tuple(name for name in ChecklistOptions.model_fields if name not in OF_RECORDED)
"""The options of a run, and of a checklist, that say how judges are asked, and not what votes come to."""

Given = TypeVar("Given", bound=RunOptions)


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One vote as it was recorded.

    Attributes:
        number: Of the row.
        row: The row.
        instance: What the vote is about, by its place among the ids.
        judge: Who cast it; empty where a row says that nobody could be asked.
        sample: Which of the repeated draws, from 0.
        vote: The cell.
        reason: Why there is no vote, where there is none.
    """

    number: int
    row: Row
    instance: int
    judge: str
    sample: int
    vote: object
    reason: UnscoredReason | None

    @property
    def who(self) -> str:
        """The beginning of a message about it."""
        return f"row {self.number}: the judge {self.judge!r} voted"


@dataclass(frozen=True)
class VoteRows:
    """The recorded votes of a data set.

    Attributes:
        rows: The data.
        votes: The votes in the order of the rows.
        ids: The ids of the instances, in the order of their first row; None where a row is an instance of its own.
        fields: The columns that were named.
        columns: The columns that hold votes.
    """

    rows: Sequence[Row]
    votes: tuple[VoteRow, ...]
    ids: tuple[str | None, ...]
    fields: Mapping[str, Any]
    columns: tuple[str, ...]

    @classmethod
    def of(
        cls, data: object, votes: object, fields: Mapping[str, Any], *, split: str | None = None, each: bool = False
    ) -> Self:
        """Find the votes.

        Args:
            data: The data, of which ``votes`` names columns; None where ``votes`` are the data.
            votes: One column or several, or the data.
            fields: The columns that are named: ``id_field``, and those of :class:`~evenhand.options.VoteFields`.
            split: Which split of a ``DatasetDict``.
            each: Several rows are about one instance, which must be named then.

        Raises:
            InvalidInputError: No such column, a row without a name, or a vote and a reason why there is none.
        """
        rows, named = recorded_rows(data, votes, split)
        if not isinstance(named, str) and not (
            isinstance(named, (list, tuple)) and all(isinstance(name, str) for name in named)
        ):
            raise InvalidInputError(
                f"votes is a {type(votes).__name__}; with a data set it names the column or columns of the votes, "
                "and without one it is the data: votes=rows"
            )
        listed = (named,) if isinstance(named, str) else tuple(named)
        found = cls(rows, (), (), fields, listed)
        judge = found.column("judge_field", *(("judge", "judge_id") if len(listed) == 1 else ()))
        if judge is not None and len(listed) > 1:
            raise InvalidInputError(
                f"judge_field={judge!r} says that a row is one judge's vote, and votes names {list(listed)!r}: "
                "name the one column with the votes, or leave judge_field out for a column per judge"
            )
        columns = columns_of(rows, listed, "votes", within=judge is None)
        identifier = found.column("id_field", "id", "prompt_id", "instance")
        if identifier is None and (each or judge is not None):
            raise InvalidInputError(
                "several votes are about one instance, and no column says which: name it with id_field=…; the data "
                f"have the columns {list(rows[0])!r}"
            )
        names = [None] * len(rows) if identifier is None else found.names(identifier, "id_field")
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        drawn = found._draws()
        cast = tuple(
            VoteRow(
                number,
                row,
                places[names[number]] if identifier else number,
                column.name if judge is None else name_of(field_of(row, judge, number, "judge_field")),
                drawn[number],
                cell,
                _reason(row, number, cell),
            )
            for number, row in enumerate(rows)
            for column in columns
            if (cell := column.cells[number]) is not NOT_ASKED
        )
        for vote in cast:
            if not vote.judge and vote.reason != "missing_response":
                raise InvalidInputError(
                    f"row {vote.number} has no name in {judge!r}, which names the judge (judge_field=…): it needs one"
                )
        return cls(rows, cast, tuple(places) if identifier else (None,) * len(rows), fields, listed)

    def column(self, setting: str, *usual: str) -> str | None:
        """The column that a setting names, else the first of the usual ones that there is; None for none.

        Raises:
            InvalidInputError: If the column that is named is in no row.
        """
        given = self.fields.get(setting)
        if given is None:
            return next((name for name in usual if any(name in row for row in self.rows)), None)
        if not isinstance(given, str) or all(field_or(row, given, NOT_ASKED) is NOT_ASKED for row in self.rows):
            known = list(dict.fromkeys(key for row in self.rows for key in row))
            raise InvalidInputError(
                f"{setting} names the column {given!r}, which no row has. {did_you_mean(given, known)}"
            )
        return given

    def names(self, column: str, setting: str) -> list[str]:
        """The name that each row has in a column.

        Raises:
            InvalidInputError: If a row has none.
        """
        found = [name_of(field_of(row, column, number, setting)) for number, row in enumerate(self.rows)]
        if "" in found:
            number = found.index("")
            raise InvalidInputError(
                f"row {number} has {self.rows[number].get(column)!r} in {column!r}, which {setting} names: it needs a "
                "name"
            )
        return found

    def _draws(self) -> list[int]:
        """Which draw each row is."""
        column = self.column("sample_field", "sample")
        if column is None:
            return [0] * len(self.rows)
        given = [field_of(row, column, number, "sample_field") for number, row in enumerate(self.rows)]
        for number, value in enumerate(given):
            if not name_of(value).isdecimal():
                raise InvalidInputError(
                    f"row {number} has {value!r} in {column!r}, which numbers the draws (sample_field=…): give 0, 1, "
                    "2, …"
                )
        return [int(name_of(value)) for value in given]

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Who voted, in the order of the rows."""
        return tuple(dict.fromkeys(vote.judge for vote in self.votes if vote.judge))

    @property
    def samples(self) -> int:
        """How many draws there are of a judge at most."""
        return 1 + max((vote.sample for vote in self.votes), default=0)

    def check_once(self, about: Callable[[VoteRow], Hashable]) -> None:
        """Check that no judge voted twice on the same thing.

        Args:
            about: What a vote was about beside its instance, judge and draw.

        Raises:
            InvalidInputError: If one did.
        """
        seen: dict[Hashable, int] = {}
        for vote in self.votes:
            other = seen.setdefault((vote.instance, vote.judge, vote.sample, about(vote)), vote.number)
            if other != vote.number:
                named = self.ids[vote.instance]
                raise InvalidInputError(
                    f"rows {other} and {vote.number} both hold the vote of {vote.judge!r} on {named!r} in the same "
                    "order and draw: number repeated draws in a column (sample_field=…), give what differs an id of "
                    "its own (id_field=…), or drop one"
                )

    def told(self, field: str | None, setting: str) -> list[Any]:
        """What the rows of each instance say in a column: all the same, or nothing.

        Raises:
            InvalidInputError: If they contradict each other.
        """
        said: list[Any] = [None] * len(self.ids)
        for vote in self.votes if field is not None else ():
            value = field_of(vote.row, str(field), vote.number, setting)
            known = said[vote.instance]
            if is_missing(value) or value == "":
                continue
            if known is not None and name_of(known) != name_of(value):
                raise InvalidInputError(
                    f"the rows of {self.ids[vote.instance]!r} contradict each other in {field!r}, which {setting} "
                    f"names: {known!r} and {value!r}; let them say the same"
                )
            said[vote.instance] = value
        return said

    def clusters(self, field: str | bool | None, apart: Sequence[str] = ()) -> list[str | None]:
        """What each instance belongs to; None where they do not depend on each other."""
        if isinstance(field, str):
            self.told(field, "cluster_field")
        first: dict[int, Row] = {}
        for vote in self.votes:
            first.setdefault(vote.instance, vote.row)
        found = read_clusters(list(first.values()), field, apart={*self.columns, *apart}, what="instance")
        return [None] * len(first) if found is None else list(found)

    def run_options(self, given: Given, **grid: Any) -> Given:
        """Return the options of a run that asked for these votes, in the orders that ``grid`` says.

        Raises:
            InvalidInputError: An option that says how judges are asked, or weights that are not one per judge.
        """
        asking = given.changed_from_default(*(name for name in ASKING if name in given.model_fields_set))
        for name, value in asking.items():
            raise InvalidInputError(
                f"{name} is {value!r}, which says how a judge is asked, and recorded votes ask none: leave it out"
            )
        named_weights(given.judge_weights, list(self.judges))
        return given.model_copy(update={"samples": self.samples, "check_positional_bias": False, **grid})

    def parameters(self, options: RunOptions) -> dict[str, Any]:
        """What a result repeats of the votes, and of the options but for those that say how a judge is asked."""
        return {
            "evenhand_version": __version__,
            "judges": list(self.judges),
            "n": len(self.ids),
            **named_groups({each: self.told(each, "group_fields") for each in group_columns(options.group_fields)}),
            "votes": list(self.columns),
            "id_field": self.column("id_field", "id", "prompt_id", "instance"),
            **{name: value for name, value in self.fields.items() if name != "id_field"},
            **parameters_of(options, VoteRules.from_parameters(dict(options)), None),
        }

    def cast(
        self,
        vote: VoteRow,
        criterion: Criterion,
        index: int | OutOfScale | None,
        order: tuple[int, ...],
        judge_weights: tuple[float, ...] | None,
    ) -> Vote:
        """A vote for an option, in the criterion's own order; unscored where there is none.

        Args:
            vote: As it was recorded.
            criterion: Whose options were offered.
            index: The option.
            order: The order in which they, or the responses, were shown.
            judge_weights: One per judge, or None for equal weights.
        """
        weights = named_weights(judge_weights, list(self.judges)) or {}
        changes: dict[str, Any] = {"order": order, "sample": vote.sample, "weight": weights.get(vote.judge, 1.0)}
        if index is None:
            changes["unscored_reason"] = vote.reason or "abstained"
        return VoteReader.of(criterion).vote(vote.judge, index).model_copy(update=changes)


def recorded_rows(data: object, votes: object, split: str | None) -> tuple[list[Row], object]:
    """The data, and what names the columns of the votes.

    Raises:
        InvalidInputError: If the data are the votes, and have no column of that name.
    """
    if data is not None:
        return read_rows(data, split), votes
    rows = read_rows(votes, split)
    if not any(VOTE in row for row in rows):
        raise InvalidInputError(
            f"the data given as votes have no column {VOTE!r}; give them first, and name the column that holds the "
            f"votes with votes=…; they have the columns {list(rows[0])!r}"
        )
    return rows, VOTE


def _reason(row: Row, number: int, cell: object) -> UnscoredReason | None:
    """Why there is no vote, where a row says so in the column ``unscored_reason``."""
    said = row.get("unscored_reason")
    if is_missing(said) or said == "":
        return None
    reasons: dict[object, UnscoredReason] = {reason: reason for reason in get_args(UnscoredReason)}
    if said not in reasons:
        raise InvalidInputError(
            f"row {number} has the unscored_reason {said!r}. {did_you_mean(said, get_args(UnscoredReason))}"
        )
    if not is_missing(cell) and cell != "":
        raise InvalidInputError(
            f"row {number} has the vote {cell!r} and the unscored_reason {said!r}, and only one of them holds: drop "
            "the other"
        )
    return reasons[said]


def swapped_in(row: Row, field: str, number: int) -> bool:
    """Whether a column says that the two responses were shown in the other order.

    Raises:
        InvalidInputError: If it says something else.
    """
    value = field_of(row, field, number, "swapped_field")
    given = value.strip().lower() if isinstance(value, str) else value
    if given not in (True, False, "true", "false", "1", "0"):
        raise InvalidInputError(
            f"row {number} has {value!r} in {field!r}, which swapped_field names; accepted: True or False"
        )
    return given in (True, "true", "1")


def refuse_asking(**given: object) -> None:
    """Refuse what belongs to asking judges, beside recorded votes.

    Raises:
        InvalidInputError: If something of it is given.
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise InvalidInputError(f"{name} is {value!r}, and recorded votes ask no judge: leave it out, or votes")


def vote_columns(options: RunOptions, fields: type[VoteFields]) -> dict[str, Any]:
    """Return the columns of recorded votes that are named: ``id_field``, and those of a model."""
    return {name: getattr(options, name) for name in dict.fromkeys(("id_field", *fields.model_fields))}


def refuse_vote_columns(options: RunOptions, fields: type[VoteFields]) -> None:
    """Refuse columns of recorded votes, where no votes are given.

    Raises:
        InvalidInputError: If one is named.
    """
    for name in fields.model_fields:
        if (column := getattr(options, name)) is not None:
            raise InvalidInputError(
                f"{name} is {column!r}, which names a column of recorded votes: give these with votes=…, or leave it "
                "out"
            )
