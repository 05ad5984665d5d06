"""Recorded votes: read from the columns of a data set, and converted to the result of a run.

A vote says who cast it, on which instance, and in which draw. The mode adds which columns name the question
(:data:`RECORDINGS`) and how a cell selects an option. No judge is called.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar, get_args

from evenhand.aggregation.checklist_score import Answer
from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import NA_LABELS, Checklist, ChecklistItem, Criterion, fold_label, yes_no_criterion
from evenhand.data.cells import (
    NOT_ASKED,
    YES_OR_NO,
    LabelReader,
    OutOfScale,
    as_text,
    columns_of,
    is_abstention,
    is_text_for_nothing,
    set_aside,
    weights_by_judge,
)
from evenhand.data.fields import (
    field_of,
    field_or,
    group_columns,
    name_in,
    name_of,
    named_groups,
    read_clusters,
    text_of,
)
from evenhand.data.plain import briefly, number_of, parse_cell, plain_cell
from evenhand.data.rows import Row, read_rows
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.run import parameters_of
from evenhand.modes.checklist import ChecklistAnalysis, ChecklistMode
from evenhand.modes.contest import TIE, check_reduction, is_graded
from evenhand.modes.grade_scores import GradeAnalysis, GradeMode
from evenhand.modes.winrates import WinrateAnalysis
from evenhand.options import (
    ChecklistArguments,
    ChecklistOptions,
    GradeScoresArguments,
    RecordedOptions,
    RunOptions,
    VoteFields,
    WinratesArguments,
)
from evenhand.question import choice_criterion, comparison_criterion, swapped_index
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.version import __version__
from evenhand.votes import UnscoredReason, Vote, is_missing

IN_ORDER, SWAPPED = (0, 1), (1, 0)
VOTE: Final = "vote"
"""The column of votes in data that hold nothing else."""

RECORDED: Final = "recorded"
"""The name of the prompt of recorded choices."""

USUAL_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "id_field": ("id", "prompt_id", "instance"),
    "judge_field": ("judge", "judge_id"),
    "systems_field": ("system",),
    **{f"{name}_field": (name,) for name in ("sample", "first", "second", "swapped", "item", "order")},
}
"""Setting -> the columns read by default."""

SCORING: Final = {
    "aggregation",
    "on_position_bias",
    "judge_weights",
    "primary_metric",
    "allow_na",
    *RecordedOptions.model_fields,
}
"""The options of a run that say how votes are scored; all others say how judges are asked."""

_ANSWERS: Final[tuple[Answer, ...]] = ("yes", "no", "na")
_ANSWER_READER: Final = LabelReader(yes_no_criterion("gold", "The answer that a person gave.", na=True))
_SWAPPED: Final = YES_OR_NO.model_copy(update={"name": "swapped_field"})
_NA_LABELS: Final = frozenset(map(fold_label, (*NA_LABELS, "NA")))
_TOLERANCE: Final = 1e-9

Run = TypeVar("Run", bound=RunOptions)
Meaning = TypeVar("Meaning", bound=Hashable)
Selected = int | OutOfScale | None
"""The option that a cell selects; None if the cell is empty."""


@dataclass(frozen=True, slots=True)
class RecordedVote:
    """A recorded vote.

    Attributes:
        number: Of its row.
        row: The row.
        instance: The instance of the vote, by its place among the ids.
        judge: The judge who cast it; empty where a row says that there was nothing to judge.
        sample: The number of the draw, from 0.
        cell: The recorded value.
        reason: The reason why there is no vote, where a row says so.
    """

    number: int
    row: Row
    instance: int
    judge: str
    sample: int
    cell: object
    reason: UnscoredReason | None = None

    @property
    def who(self) -> str:
        """The beginning of a message about the vote."""
        return f"row {self.number}: the judge {self.judge!r} voted"


class RecordedQuestion(NamedTuple):
    """The subject of the votes of a row.

    Attributes:
        key: The instance, and what names the question within it.
        criterion: The criterion of the options offered.
        order: The order in which these, or the responses, were shown.
    """

    key: tuple[Any, ...]
    criterion: Criterion
    order: tuple[int, ...]


@dataclass(frozen=True)
class RecordedVotes:
    """The recorded votes of a data set.

    Attributes:
        rows: The data.
        votes: The votes, in the order of the rows.
        ids: The names of the instances, in the order of their first row; None if each row is an instance.
        instances: The instances of each row.
        fields: Setting -> the column that it names, of ``id_field`` and :class:`~evenhand.options.VoteFields`.
        columns: The columns that hold votes.
        usual: Whether :data:`USUAL_NAMES` are read too.
        judges: The judges, in the order of the columns, or of the rows if a column names them.
    """

    rows: Sequence[Row]
    votes: tuple[RecordedVote, ...]
    ids: tuple[str | None, ...]
    instances: tuple[int, ...]
    fields: Mapping[str, str]
    columns: tuple[str, ...]
    usual: bool = True
    judges: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        columns: object,
        fields: Mapping[str, str],
        *,
        several: bool = False,
        usual: bool = True,
        draws: bool = False,
        what: str = "votes",
    ) -> Self:
        """Find the votes.

        Args:
            rows: The data.
            columns: The column or columns of the votes.
            fields: The columns that are named.
            several: Several rows are about one instance, which must have a name then.
            usual: Read :data:`USUAL_NAMES` too.
            draws: A list in a cell holds repeated draws of one judge, and not the votes of several.
            what: The argument that names the columns.

        Raises:
            InvalidInputError: No such column, a row without a name, or a vote and a reason why there is none.
        """
        if not isinstance(columns, str | list | tuple) or not all(isinstance(name, str) for name in columns):
            raise InvalidInputError(
                f"{what} is a {type(columns).__name__}; with a data set it names the column or columns of the votes, "
                f"and without one it is the data: {what}=rows"
            )
        listed = (columns,) if isinstance(columns, str) else tuple(columns)
        found = cls(rows, (), (), (), fields, listed, usual)
        judge = found.column("judge_field") if len(listed) == 1 or "judge_field" in fields else None
        if judge is not None and len(listed) > 1:
            raise InvalidInputError(
                f"judge_field={judge!r} says that a row is one judge's, and {what} names {list(listed)!r}: name one "
                "column, or leave judge_field out for a column per judge"
            )
        held = columns_of(rows, listed, what, within=judge is None and not draws)
        identifier = found.column("id_field")
        if identifier is None and (several or (judge is not None and not draws)):
            raise InvalidInputError(
                "several votes are about one instance, and no column says which: name it with id_field=…; the data "
                f"have the columns {list(rows[0])!r}"
            )
        names = found.names("id_field") if identifier else range(len(rows))
        places: dict[Any, int] = {name: place for place, name in enumerate(dict.fromkeys(names))}
        samples = found._samples()
        votes: list[RecordedVote] = []
        for number, row in enumerate(rows):
            for column in held:
                if (cell := column.cells[number]) is NOT_ASKED:
                    continue
                reason = _reason(row, number, cell) if usual else None
                name = column.name
                if judge is not None:
                    allow_none = reason == "missing_response"
                    name = name_in(row, number, judge, "judge_field", allow_none=allow_none)
                place, cells = places[names[number]], cell if draws and isinstance(cell, list | tuple) else [cell]
                votes += [RecordedVote(number, row, place, name, samples[number], one, reason) for one in cells]
        judges = [column.name for column in held] if judge is None else [vote.judge for vote in votes if vote.judge]
        return replace(
            found,
            judges=list(dict.fromkeys(judges)),
            votes=tuple(votes),
            ids=tuple(places) if identifier else (None,) * len(rows),
            instances=tuple(places[name] for name in names),
        )

    def column(self, setting: str) -> str | None:
        """Return the column that a setting names, or a usual one that the data have; None for neither.

        Raises:
            InvalidInputError: If no row has the column that is named.
        """
        given = self.fields.get(setting)
        if given is None:
            usual = USUAL_NAMES[setting] if self.usual else ()
            return next((name for name in usual if any(name in row for row in self.rows)), None)
        if all(field_or(row, given, NOT_ASKED) is NOT_ASKED for row in self.rows):
            known = list(dict.fromkeys(key for row in self.rows for key in row))
            raise InvalidInputError(
                f"{setting} names the column {given!r}, which no row has. {did_you_mean(given, known)}"
            )
        return given

    def names(self, setting: str, default: str = "") -> list[str]:
        """Return the name that each row has in the column of a setting; the default where there is no column."""
        column = self.column(setting)
        if column is None:
            return [default] * len(self.rows)
        return [name_in(row, number, column, setting) for number, row in enumerate(self.rows)]

    def swapped(self) -> Sequence[int | None] | None:
        """Return 1 for each row whose votes were cast in the other order, None if it does not say; None without it."""
        column = self.column("swapped_field")
        if column is None:
            return None
        return LabelReader(_SWAPPED).read(
            self.cells(column, "swapped_field"), lambda row: f"row {row} has in {column!r}"
        )

    def _samples(self) -> list[int]:
        names = self.names("sample_field", "0")
        for number, name in enumerate(names):
            if not name.isdecimal():
                raise InvalidInputError(
                    f"row {number} has {name!r} in {self.column('sample_field')!r}, which numbers the draws "
                    "(sample_field=…): give 0, 1, …"
                )
        return list(map(int, names))

    def agreed(self, keys: Sequence[Hashable], values: Sequence[Any], what: str) -> dict[Any, Any]:
        """Return key -> the value of its rows, which must be the same or None.

        Args:
            keys: One per row.
            values: One per row.
            what: The name of the value, for the message.

        Raises:
            InvalidInputError: If rows with the same key contradict each other.
        """
        found: dict[Hashable, tuple[int, Any]] = {}
        for number, (key, value) in enumerate(zip(keys, values, strict=True)):
            if value is not None and found.setdefault(key, (number, value))[1] != value:
                other, known = found[key]
                raise InvalidInputError(
                    f"row {number} has {what} {value!r}, and row {other}, about the same, {known!r}: give both the "
                    "same value"
                )
        return {key: value for key, (_, value) in found.items()}

    def gold(
        self, column: str | None, keys: Sequence[Hashable], read: Callable[[Sequence[object]], Sequence[Any]]
    ) -> dict[Any, Any]:
        """Return key -> the label that people gave, which is in a column; nothing without it.

        Args:
            column: One label per row.
            keys: One per row; rows with the same key say the same, or nothing.
            read: Makes labels of cells.
        """
        return {} if column is None else self.agreed(keys, read(self.cells(column, "gold_fields")), "the gold label")

    def cells(self, column: str, setting: str) -> list[Any]:
        """Return what each row has in a column."""
        return [field_of(row, column, number, setting) for number, row in enumerate(self.rows)]

    def names_of_instances(self, column: str, setting: str) -> list[str | None]:
        """Return the name that each instance has in a column, such as that of its group; None for none."""
        names = [name_of(cell) or None for cell in self.cells(column, setting)]
        found = self.agreed(self.instances, names, f"under {column!r} ({setting}) the name")
        return [found.get(instance) for instance in range(len(self.ids))]

    def clusters(self, column: str | bool | None, *others: str | None) -> list[str | None]:
        """Return the cluster of each instance; None if instances are independent.

        Args:
            column: As ``cluster_field`` names it.
            *others: Further columns that are not clusters, such as that of gold labels.
        """
        if isinstance(column, str):
            self.names_of_instances(column, "cluster_field")
        settings = ("systems_field", "item_field", "order_field", "swapped_field")
        apart = {*self.columns, *others, *map(self.column, settings)} - {None}
        what = "row" if None in self.ids else "instance"
        first_rows = dict(zip(reversed(self.instances), reversed(self.rows), strict=True))
        rows = [first_rows[instance] for instance in range(len(self.ids))]
        found = read_clusters(rows, column, apart={str(name) for name in apart}, what=what)
        return [None] * len(self.ids) if found is None else list(found)

    def groups(self, columns: str | Sequence[str] | None) -> dict[str, Any]:
        """Return what a result repeats of the columns that group its rows."""
        return named_groups({each: self.names_of_instances(each, "group_fields") for each in group_columns(columns)})

    def run_options(self, given: Run, **grid: Any) -> Run:  # noqa: ANN401 - options
        """Return the options of a run that asked for these votes, in the orders that ``grid`` says.

        Raises:
            InvalidInputError: An option that says how judges are asked, or weights that are not one per judge.
        """
        asking = given.model_fields_set & ChecklistOptions.model_fields.keys() - SCORING
        for name, value in given.changed_from_default(*sorted(asking)).items():
            raise InvalidInputError(
                f"{name} is {value!r}, which says how a judge is asked, and recorded votes ask none: leave it out"
            )
        weights_by_judge(given.judge_weights, self.judges)
        samples = 1 + max((vote.sample for vote in self.votes), default=0)
        return given.model_copy(update={"samples": samples, "check_positional_bias": False, **grid})

    def parameters(self, options: RunOptions) -> dict[str, Any]:
        """Return what a result repeats of the votes, and of the options that say how they are scored."""
        return {
            "evenhand_version": __version__,
            "judges": list(self.judges),
            "n": len(self.ids),
            **self.groups(options.group_fields),
            "votes": list(self.columns),
            **self.fields,
            "id_field": self.column("id_field"),
            **parameters_of(options, VoteRules.from_parameters(dict(options)), None),
        }

    def read(self, reader_of: Callable[[RecordedVote], LabelReader]) -> list[Selected]:
        """Return the option that each vote selects; the numbers of one column are of one kind.

        Args:
            reader_of: The reader of the options that were offered to a vote.
        """
        columns: dict[tuple[str, int], list[int]] = {}
        long = self.column("judge_field") is not None
        for place, vote in enumerate(self.votes):
            columns.setdefault(("" if long else vote.judge, id(reader_of(vote))), []).append(place)
        found: dict[int, Selected] = {}
        for own in columns.values():
            reader, cells = reader_of(self.votes[own[0]]), [self.votes[place].cell for place in own]
            found |= zip(own, reader.read_most(cells, lambda at, own=own: self.votes[own[at]].who), strict=True)  # type: ignore[misc] # bound
        return [found[place] for place in range(len(self.votes))]

    def cast(
        self,
        questions: Mapping[int, RecordedQuestion] | Sequence[RecordedQuestion],
        selected: Sequence[Selected],
        weights: tuple[float, ...] | None = None,
    ) -> dict[tuple[Any, ...], list[Vote]]:
        """Return the votes on each question; a question about which there was nothing to judge has none.

        Args:
            questions: Of the rows that hold a vote, by their numbers.
            selected: The option of each vote.
            weights: One per judge; None for equal weights.

        Raises:
            InvalidInputError: If a judge voted twice on the same question, or too many votes select no option.
        """
        of_judge = weights_by_judge(weights, self.judges) or {}
        seen: dict[Hashable, int] = {}
        equal: dict[Hashable, Vote] = {}  # equal votes are one value
        found: dict[tuple[Any, ...], list[Vote]] = {}
        for vote, index in zip(self.votes, selected, strict=True):
            asked = questions[vote.number]
            other = seen.setdefault((asked.key, vote.judge, vote.sample, asked.order), vote.number)
            if other != vote.number:
                raise InvalidInputError(
                    f"rows {other} and {vote.number} both hold the vote of {vote.judge!r} on "
                    f"{self.ids[vote.instance]!r} in the same order and draw: number repeated draws in a column "
                    "(sample_field=…), give what differs an id of its own (id_field=…), or drop one"
                )
            own = found.setdefault(asked.key, [])
            if vote.judge and vote.reason != "missing_response":
                key = (vote.judge, vote.sample, vote.reason, id(asked.criterion), asked.order, index)
                if key not in equal:
                    more: dict[str, Any] = {"order": asked.order, "sample": vote.sample}
                    more["weight"] = of_judge.get(vote.judge, 1.0)
                    if index is None:
                        more["unscored_reason"] = vote.reason or "abstained"
                    equal[key] = LabelReader(asked.criterion).vote(vote.judge, index).model_copy(update=more)
                own.append(equal[key])
        set_aside(selected)
        return found


def _reason(row: Row, number: int, cell: object) -> UnscoredReason | None:
    """Return why there is no vote, where a row says so in the column ``unscored_reason``."""
    given = row.get("unscored_reason")
    if is_missing(given) or given == "":
        return None
    reasons: dict[object, UnscoredReason] = {reason: reason for reason in get_args(UnscoredReason)}
    if given not in reasons:
        raise InvalidInputError(
            f"row {number} has the unscored_reason {given!r}. {did_you_mean(given, get_args(UnscoredReason))}"
        )
    if not is_missing(cell) and cell != "":
        raise InvalidInputError(
            f"row {number} has the vote {cell!r} and the unscored_reason {given!r}, and only one of them holds: drop "
            "the other"
        )
    return reasons[given]


def _says_nothing(cell: object) -> bool:
    return is_abstention(cell) or is_text_for_nothing(cell)


def _meanings(cell: object, names: Sequence[tuple[str, Meaning]]) -> set[Meaning]:
    """Return what a cell may mean by a name; an exact name comes before one in other case."""
    label = as_text(plain_cell(cell)).strip()
    exact = {meaning for name, meaning in names if name == label}
    return exact or {meaning for name, meaning in names if fold_label(name) == fold_label(label)}


class Pair(NamedTuple):
    """The two systems of a recorded comparison.

    Attributes:
        first: The one that the row names first.
        second: The other one.
        swapped: 1 if the second was shown first; None if that is not known, and then no vote is for a place.
        systems: The two in the order of the result.
    """

    first: str
    second: str
    swapped: int | None
    systems: tuple[str, str]

    @property
    def shown(self) -> tuple[str, str]:
        """The two systems in the order in which the judge saw them."""
        return (self.second, self.first) if self.swapped else (self.first, self.second)

    @property
    def order(self) -> tuple[int, int]:
        """The same as an order of the systems of the result."""
        return IN_ORDER if self.shown == self.systems else SWAPPED

    def sides(self, cell: object) -> set[float]:
        """Return whom a label prefers: 1 for the first of :attr:`systems`, 0 for the second, ½ for neither.

        The set has several numbers where a system is called as a place is, and none where the label names neither. An
        exact name comes before one in other case: of the systems ``a`` and ``b``, ``a`` is a system and ``A`` a place.
        """
        values = {self.systems[0]: 1.0, self.systems[1]: 0.0}
        names = [*values.items(), ("first", values[self.first]), ("second", values[self.second]), (TIE, 0.5)]
        if self.swapped is not None:
            names += [(place, values[system]) for place, system in zip("AB", self.shown, strict=True)]
        return _meanings(cell, names)

    def refusal(self, cell: object, who: str, sides: Iterable[float], more: Sequence[str] = ()) -> str:
        """Say why a label does not prefer one of the two, or neither."""
        if any(True for _ in sides):
            return (
                f"{who} {briefly(cell)}, which may mean a system and a place in the comparison of {self.first!r} and "
                f"{self.second!r}: write 'first' or 'second', or rename the systems"
            )
        accepted = dict.fromkeys((*self.systems, TIE, "first", "second", "A", "B", *more))
        hint = did_you_mean(as_text(cell), tuple(accepted))
        return (
            f"{who} {briefly(cell)}, which is none of the pair. {hint} "
            "None for no vote; numbers are values of the options of a criterion that is given"
        )


def _pairs(read: RecordedVotes, systems: tuple[str, ...] | None) -> tuple[list[Pair], tuple[str, ...]]:
    """Return the pair of each row, and all systems."""
    if (read.column("first_field") is None or read.column("second_field") is None) and (
        read.column("first_field") != read.column("second_field") or systems is None or len(systems) != 2
    ):
        raise InvalidInputError(
            "a vote is about two systems: name the columns that say which with first_field=… and second_field=…, or, "
            "where all votes are about the same two, these with systems=[…]; the data have the columns "
            f"{list(read.rows[0])!r}"
        )
    one, other = systems if read.column("first_field") is None and systems is not None else ("", "")
    named = list(zip(read.names("first_field", one), read.names("second_field", other), strict=True))
    swapped = read.swapped()
    if swapped is not None and None in read.ids:
        raise InvalidInputError(
            f"{read.column('swapped_field')!r} says which votes were cast in the other order, and no column says to "
            "which prompt they belong: name it with id_field=…"
        )
    found = tuple(dict.fromkeys(system for pair in named for system in pair))
    given = found if systems is None else tuple(map(name_of, systems))
    for number, (first, second) in enumerate(named):
        if first == second:
            raise InvalidInputError(f"row {number} compares {first!r} with itself; a vote is about two systems")
    if len(given) < 2 or len(set(given)) < len(given):
        raise InvalidInputError(f"systems is {list(given)!r}; name at least two, each once")
    if apart := sorted({*given} ^ {*found}):
        raise InvalidInputError(
            f"systems is {list(given)!r}, and the votes are about {list(found)!r}: they differ in {apart[0]!r}; name "
            "the systems of the votes, or drop the rows of others"
        )
    pairs = []
    for number, (first, second) in enumerate(named):
        both = (first, second) if given.index(first) < given.index(second) else (second, first)
        pairs.append(Pair(first, second, 0 if swapped is None else swapped[number], both))
    return pairs, given


def _preferences(read: RecordedVotes, pairs: Sequence[Pair], criterion: Criterion, *, labels: bool) -> list[Selected]:
    """Return the option that each vote selects, in the order of the systems of the result.

    Args:
        read: The votes.
        pairs: The subjects of the votes of each row.
        criterion: The criterion of the options offered.
        labels: The criterion was given, so that votes may be its labels and values, as the judge saw them.
    """
    by_side = {
        side: index
        for index, option in reversed(list(enumerate(criterion.options)))
        for side in ((0.5,) if is_graded(criterion) else (1.0, 0.5, 0.0))
        if option.value is not None and abs(option.value - side) < _TOLERANCE
    }
    reader = LabelReader(criterion)
    shown = read.read(lambda _: reader) if labels else [None] * len(read.votes)
    found: list[Selected] = []
    for vote, option_shown in zip(read.votes, shown, strict=True):
        pair = pairs[vote.number]
        if _says_nothing(vote.cell):
            found.append(None)
            continue
        options = set()
        if isinstance(option_shown, int):
            mirrored = pair.order == SWAPPED
            options = {swapped_index(criterion.options, option_shown) if mirrored else option_shown}
        sides = pair.sides(vote.cell)
        options |= {by_side[side] for side in sides if side in by_side}
        if len(options) == 1:
            found.append(options.pop())
            continue
        if sides and not options:
            hint = "set allow_ties=True" if fold_label(str(vote.cell)) == TIE else "give the label of an option"
            raise InvalidInputError(
                f"{vote.who} {vote.cell!r}, for which {criterion.name!r} has no option of its own; its options are "
                f"{list(criterion.labels)!r}: {hint}"
            )
        refusal = pair.refusal(vote.cell, vote.who, options, criterion.labels)
        if options:
            raise InvalidInputError(refusal)
        if isinstance(option_shown, OutOfScale) and number_of(vote.cell) is not None:
            refusal = option_shown.refusal
        found.append(OutOfScale(vote.who, as_text(vote.cell), refusal))
    return found


def _length(row: Row, number: int, side: str) -> int | None:
    """Return the characters of a response: what ``first_length`` says, or those of ``first_response``."""
    length, response = row.get(f"{side}_length"), row.get(f"{side}_response")
    if not is_missing(length):
        characters = number_of(length)
        if characters is None or characters < 0 or not characters.is_integer():
            raise InvalidInputError(f"row {number} has {length!r} in '{side}_length'; give a number of characters")
        return int(characters)
    return None if is_missing(response) else len(text_of(response))


def _read_comparisons(
    read: RecordedVotes,
    options: WinratesArguments,
    criterion: Criterion | None,
    systems: tuple[str, ...] | None,
) -> Results:
    """Make the winrates of recorded comparisons.

    Args:
        read: The votes.
        options: The scoring of the votes, and whether ties were offered.
        criterion: The criterion of the options offered; None if votes name systems, places or a tie.
        systems: The systems in the order of the result; None for that of the rows.
    """
    pairs, names = _pairs(read, systems)
    ties = any(isinstance(vote.cell, str) and fold_label(vote.cell) == TIE for vote in read.votes)
    offered = criterion or comparison_criterion("recorded votes", "", allow_ties=options.allow_ties or ties)
    both = len({pair.order for pair in pairs}) > 1
    run = read.run_options(options, check_positional_bias=both)
    VoteRules.from_parameters(dict(run)).check("pairwise")
    questions = [
        RecordedQuestion((instance, *pair.systems), offered, pair.order)
        for instance, pair in zip(read.instances, pairs, strict=True)
    ]
    cast = read.cast(questions, _preferences(read, pairs, offered, labels=criterion is not None), run.judge_weights)
    keys, clusters = [each.key for each in questions], read.clusters(run.cluster_field, options.gold_fields)

    def preferred(cells: Sequence[object]) -> Iterator[str | None]:
        for number, (cell, pair) in enumerate(zip(cells, pairs, strict=True)):
            sides = list(set() if _says_nothing(cell) else pair.sides(cell))
            if len(sides) != 1 and not _says_nothing(cell):
                where = f"row {number}: the gold label in {options.gold_fields!r} is"
                raise InvalidInputError(pair.refusal(cell, where, sides))
            yield {1.0: pair.systems[0], 0.0: pair.systems[1], 0.5: TIE}[sides[0]] if sides else None

    gold = read.gold(options.gold_fields, keys, lambda cells: list(preferred(cells)))
    lengths = []
    for system in (0, 1):
        sides_shown = ["first" if pair.first == pair.systems[system] else "second" for pair in pairs]
        own = [
            _length(row, number, side) for number, (row, side) in enumerate(zip(read.rows, sides_shown, strict=True))
        ]
        lengths.append(read.agreed(keys, own, "a response of the length"))
    cells = []
    for key in sorted(cast, key=lambda key: (key[0], names.index(key[1]), names.index(key[2]))):
        about = {"instance": key[0], "first": key[1], "second": key[2], "round": 0, "cluster": clusters[key[0]]}
        about |= {
            "prompt_id": read.ids[key[0]],
            "first_length": lengths[0].get(key),
            "second_length": lengths[1].get(key),
        }
        cells.append(Cell({**about, "gold": gold.get(key)}, tuple(cast[key])))
    graded = is_graded(offered)
    parameters = {
        **read.parameters(run),
        "reduction": check_reduction(options.reduction, graded=graded),
        "gold_fields": options.gold_fields,
        "design": "recorded",
        "allow_ties": any(option.value == 0.5 for option in offered.options),
        "scale": "graded" if graded else "choice",
        **({"orders_known": False} if any(pair.swapped is None for pair in pairs) else {}),
    }
    return Results.of_cells(
        WinrateAnalysis,
        {"criterion": offered, "systems": list(names), "parameters": parameters},
        cells,
    )


def _read_answers(
    rows: Sequence[Row],
    columns: object,
    fields: Mapping[str, str],
    options: ChecklistArguments,
    given: Checklist | None,
) -> Results:
    """Make the result of recorded answers to a checklist.

    A row is an answer to one item; or it is a response, and its cells hold the answers to all items as a mapping.

    Args:
        rows: The data.
        columns: The columns with the answers.
        fields: The columns that are named.
        options: The scoring of the answers.
        given: The checklist; None for the items that occur, of equal weight.
    """
    item = fields.get("item_field", "item")
    if "item_field" not in fields and not any(item in row for row in rows):
        rows = _rows_of_items(rows, columns, fields)
    read = RecordedVotes.of(rows, columns, fields, several=True)
    mode = ChecklistMode(read.run_options(options))
    names, systems = read.names("item_field"), read.names("systems_field", "response")
    checklist = mode.offered(given or _items_named(read, names))
    by_text = {text: each.name for each in checklist.items for text in (each.question, each.name)}
    for number, name in enumerate(names):
        if name not in by_text:
            raise InvalidInputError(
                f"row {number} answers {name!r}, which is not an item of the checklist {checklist.name!r}. "
                f"{did_you_mean(name, [each.name for each in checklist.items])}"
            )
    keys = [(read.instances[number], systems[number], by_text[name]) for number, name in enumerate(names)]
    readers = {each.name: LabelReader(each.as_criterion()) for each in checklist.items}
    questions = [RecordedQuestion(key, readers[key[2]].criterion, IN_ORDER) for key in keys]
    cast = read.cast(questions, read.read(lambda vote: readers[keys[vote.number][2]]), mode.options.judge_weights)
    judges: dict[tuple[Any, ...], dict[str, None]] = {}
    for key, votes in cast.items():
        judges.setdefault(key[:2], {}).update(dict.fromkeys(vote.judge_id for vote in votes))
    column: str | None = options.gold_fields  # type: ignore[assignment] # of recorded answers it is one
    right = read.gold(
        column, keys, lambda cells: [answer_of(each, f"row {n}: the gold answer is") for n, each in enumerate(cells)]
    )
    clusters = read.clusters(mode.options.cluster_field, column)
    named = tuple(dict.fromkeys(key[1] for key in keys))
    cells = []
    for system, instance in product(named, range(len(read.ids))):
        # an item without an answer, of a response with others, was not asked: that is not a "no"
        asked = judges.get((instance, system), ())
        silent = [Vote(judge_id=judge, order=IN_ORDER, unscored_reason="not_asked") for judge in asked]
        for each in checklist.items:
            key = (instance, system, each.name)
            about = {"instance": instance, "system": system, "checklist": 0, "item": each.name}
            about |= {"gold": right.get(key), "cluster": clusters[instance]}
            cells.append(Cell(about, tuple(cast.get(key, silent))))
    parameters = {
        **read.parameters(mode.options),
        **{name: getattr(mode.options, name) for name in ("allow_na", "primary_metric")},
        "ids": list(read.ids),
        "gold_fields": column,
    }
    header = {"checklists": [checklist], "systems": list(named), "parameters": parameters}
    return Results.of_cells(ChecklistAnalysis, header, cells)


def _items_named(read: RecordedVotes, names: Sequence[str]) -> Checklist:
    """Return the items that occur, in the order of the rows; one that somebody found not to apply offers that."""
    offers: dict[str, bool] = {}
    for vote in read.votes:
        name = names[vote.number]
        offers[name] = offers.get(name, False) or fold_label(str(vote.cell)) in _NA_LABELS
    items = tuple(ChecklistItem(name=name, question=name, na=na) for name, na in offers.items())
    return Checklist(name="recorded votes", items=items)


def answer_of(cell: object, who: str) -> Answer | None:
    """Return the answer that a person gave; ``who`` begins a message about it."""
    place = _ANSWER_READER.index_of(cell, who)
    return None if place is None else _ANSWERS[place]


def _rows_of_items(rows: Sequence[Row], columns: object, fields: Mapping[str, str]) -> list[Row]:
    """Return a row per item, of rows whose cells hold the answers to all items."""
    listed = [columns] if isinstance(columns, str) else list(columns) if isinstance(columns, list | tuple) else []
    numbered = "id_field" not in fields and not any(name in row for row in rows for name in USUAL_NAMES["id_field"])
    found: list[Row] = []
    for number, row in enumerate(rows):
        held = {
            column: _answers_in(cell, f"row {number}: {column!r}")
            for column in listed
            if (cell := field_or(row, column, NOT_ASKED)) is not NOT_ASKED
        }
        about = {name: value for name, value in row.items() if name not in listed}
        about |= {"id": number} if numbered else {}
        for item in dict.fromkeys(name for answers in held.values() for name in answers):
            answered = {column: answers[item] for column, answers in held.items() if item in answers}
            found += [{**about, "item": item, **answered}]
    if not found:
        raise InvalidInputError(
            f"votes names {listed!r}, and no row has an answer in them: name the columns with the answers, and with "
            "item_field=… the one that says which item a row answers"
        )
    return found


def _answers_in(cell: object, who: str) -> dict[str, Any]:
    """Return item -> answer, of a cell that holds the answers to all items."""
    held = {} if is_abstention(cell) else parse_cell(cell, who)
    if not isinstance(held, Mapping):
        raise InvalidInputError(
            f"{who} is {cell!r}, and no column says which item that answers: name it with item_field=…, or let the "
            "cell hold item -> answer"
        )
    return {str(name): answer for name, answer in held.items()}


def _read_choices(
    read: RecordedVotes, options: GradeScoresArguments, criterion: Criterion | None, candidates: Sequence[str] | None
) -> Results:
    """Make the Grade Scores of recorded choices.

    Args:
        read: The votes, each with the order in which the candidates were shown.
        options: The scoring of the votes.
        criterion: The criterion of the best candidate.
        candidates: The names of all, in their own order; None for the first order of each instance.
    """
    column = read.column("order_field")
    if column is None:
        raise InvalidInputError(
            "a Grade Score is about the places at which candidates were shown: name the column with the list of their "
            f"names, in the order shown, with order_field=…; the data have the columns {list(read.rows[0])!r}"
        )
    run = GradeMode(read.run_options(options, orders="cyclic")).options
    judged = criterion or comparison_criterion("recorded votes", "")

    @cache
    def choice_of(number: int) -> Criterion:
        return choice_criterion(judged.name, judged.description, number)

    own: dict[int, tuple[str, ...]] = {}
    questions, selected = dict[int, RecordedQuestion](), list[Selected]()
    for vote in read.votes:
        shown = _order_shown(vote, column)
        names = own.setdefault(
            vote.instance, shown if candidates is None else tuple(name for name in candidates if name in shown)
        )
        order = _rotation(vote, shown, names, "candidates names" if candidates is not None else "other rows show")
        chosen = _candidate(vote, shown) if len(shown) > 1 else None
        selected.append(names.index(chosen) if isinstance(chosen, str) else chosen)
        questions[vote.number] = RecordedQuestion((vote.instance,), choice_of(max(len(names), 2)), order)
    cast = read.cast(questions, selected, run.judge_weights)
    clusters, cells = read.clusters(run.cluster_field), []
    for instance, names in sorted(own.items()):
        missing = [name for name in candidates or () if name not in names]
        about = {"instance": instance, "prompt": RECORDED, "with_unrelated": False, "unrelated": None}
        about |= {"cluster": clusters[instance], "candidates": list(names), "missing": missing}
        cells.append(Cell(about, tuple(cast[instance,])))
    parameters = {
        **read.parameters(run),
        "ids": list(read.ids),
        "prompts": [RECORDED],
        "systems": None if candidates is None else list(candidates),
        "unrelated_option": False,
    }
    return Results.of_cells(GradeAnalysis, {"criterion": judged, "parameters": parameters}, cells)


def _order_shown(vote: RecordedVote, column: str) -> tuple[str, ...]:
    """Return the candidates in the order in which they were shown."""
    given = field_of(vote.row, column, vote.number, "order_field")
    held = parse_cell(given, f"row {vote.number}")
    names = tuple(map(name_of, held)) if isinstance(held, list | tuple) else ()
    if (len(names) < 2 and vote.reason != "missing_response") or "" in names or len(set(names)) < len(names):
        raise InvalidInputError(
            f"row {vote.number} has {given!r} in {column!r}, which order_field names; give the list of at least two "
            "different names of candidates, in the order in which they were shown"
        )
    return names


def _rotation(vote: RecordedVote, shown: Sequence[str], names: Sequence[str], whose: str) -> tuple[int, ...]:
    """Return the order shown, as places in the candidates' own order; it must be a rotation of that."""
    order = tuple(names.index(name) for name in shown if name in names)
    turns = all((place - order[0]) % len(order) == at for at, place in enumerate(order))
    if set(shown) != set(names) or not turns:
        raise InvalidInputError(
            f"row {vote.number} shows {list(shown)!r}, which is not a rotation of {list(names)!r}, which {whose}: "
            "a Grade Score is about the rotations of one order, which candidates=[…] can name"
        )
    return order


def _candidate(vote: RecordedVote, shown: Sequence[str]) -> str | OutOfScale | None:
    """Return the candidate that a vote names, or the one at the place (A the first) that it names."""
    if _says_nothing(vote.cell):
        return None
    places = string.ascii_uppercase[: len(shown)]
    found = _meanings(name_of(vote.cell), [*zip(shown, shown, strict=True), *zip(places, shown, strict=False)])
    if len(found) == 1:
        return found.pop()
    if found:
        raise InvalidInputError(
            f"{vote.who} {vote.cell!r}, which may mean a candidate and a place in {list(shown)!r}: rename the "
            "candidates"
        )
    hint = did_you_mean(vote.cell, (*shown, *places))
    refusal = (
        f"{vote.who} {vote.cell!r}, which is no candidate of {list(shown)!r} and no place. {hint} None for no vote"
    )
    return OutOfScale(vote.who, str(vote.cell), refusal)


def read_assessments(
    read: RecordedVotes,
    reader: LabelReader,
    *,
    gold: str | None = None,
    cluster_field: str | bool | None = None,
    weights: tuple[float, ...] | None = None,
    cast: Mapping[tuple[Any, ...], Sequence[Vote]] | None = None,
) -> list[Cell]:
    """Return the recorded votes on each response, and the label that is right.

    Args:
        read: The votes. Where ``swapped_field`` is true, the options were shown in the reversed order.
        reader: The reader of the options that were voted on.
        gold: The column with the label that is right.
        cluster_field: As the options of intervals have it.
        weights: One per judge.
        cast: (Instance, system) -> votes, where these were read already.
    """
    labels, systems = reader.criterion.labels, read.names("systems_field")
    keys = list(zip(read.instances, systems, strict=True))
    if cast is None:
        swapped, own = read.swapped() or [None] * len(read.rows), tuple(range(len(labels)))
        orders = [own[::-1] if other else own for other in swapped]
        questions = [RecordedQuestion(key, reader.criterion, order) for key, order in zip(keys, orders, strict=True)]
        cast = read.cast(questions, read.read(lambda _: reader), weights)

    def label_of(cells: Sequence[object]) -> list[str | None]:
        given = reader.read_most(cells, lambda number: f"row {number}: the gold label in {gold!r} is")
        set_aside(given)
        return [labels[index] if isinstance(index, int) else None for index in given]

    right = read.gold(gold, keys, label_of)
    clusters, place = read.clusters(cluster_field, gold), {name: n for n, name in enumerate(dict.fromkeys(systems))}
    named = read.column("systems_field") is not None
    cells = []
    for key in sorted(dict.fromkeys(keys), key=lambda key: (key[0], place[key[1]])):
        about = {"instance": key[0], **({"system": key[1]} if named else {})}
        about |= {"reference": right.get(key), "cluster": clusters[key[0]]}
        cells.append(Cell(about, tuple(cast.get(key, ()))))
    return cells


RECORDINGS: Final[Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]]] = {
    "winrates": ("comparisons", ("first_field", "second_field", "swapped_field"), ("stop", "alpha", "design")),
    "checklist": ("answers", ("item_field", "systems_field"), ("guidelines", "checklist_field")),
    "grade_scores": ("choices", ("order_field",), ("unrelated_option", "prompts")),
}
"""Mode -> the name of its votes, the columns that name a question, and options that only judges need."""


def read_votes(
    data: object,
    mode: Literal["winrates", "checklist", "grade_scores"],
    options: Any,  # noqa: ANN401 - of the function
    judged: Any,  # noqa: ANN401 - of the mode
    names: tuple[str, ...] | None = None,
) -> Results:
    """Make the result of recorded votes that a run of judges would have given.

    Args:
        data: The data; None if ``options.votes`` are the data.
        mode: The mode whose question the votes answer.
        options: The keywords of the function.
        judged: The criterion or checklist; None if the votes say it.
        names: The names of the systems or candidates, in the order of the result.

    Raises:
        InvalidInputError: Votes that cannot be read or contradict each other, or options that belong to asking.
    """
    what, columns, asking = RECORDINGS[mode]
    asking = ("engine", "dry_run", "response_fields", "context_fields", "reference_field", *asking)
    asked = options.changed_from_default(*(name for name in asking if name in type(options).model_fields))
    refuse_asking(asked)
    fields = named_columns(options, "id_field", *VoteFields.model_fields)
    for name in fields.keys() - {"id_field", "judge_field", "sample_field", *columns}:
        raise InvalidInputError(f"{name} is {fields[name]!r}, and recorded {what} have no such column: leave it out")
    rows, held = rows_of_votes(data, options.votes, options.split)
    if mode == "checklist":
        return _read_answers(rows, held, fields, options, judged)
    read = RecordedVotes.of(rows, held, fields, several=mode == "grade_scores")
    return (_read_comparisons if mode == "winrates" else _read_choices)(read, options, judged, names)


def rows_of_votes(data: object, votes: object, split: str | None) -> tuple[list[Row], object]:
    """Return the rows, and what names the columns of the votes.

    Raises:
        InvalidInputError: If the votes are the data, and have no column ``vote``.
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


def named_columns(options: Any, *names: str) -> dict[str, str]:  # noqa: ANN401 - of a function
    """Return setting -> the column that it names, of those that are given."""
    return {name: column for name in names if (column := getattr(options, name)) is not None}


def refuse_asking(given: Mapping[str, object]) -> None:
    """Refuse options that only a judge needs; None stands for an option not given.

    Raises:
        InvalidInputError: If something else was.
    """
    for name, value in given.items():
        if value is not None:
            raise InvalidInputError(f"{name} is {value!r}, and recorded votes ask no judge: leave it out, or votes")


def refuse_vote_columns(options: Any, *but: str) -> None:  # noqa: ANN401 - of a function
    """Refuse columns of recorded votes, where no votes are given.

    Args:
        options: The options of the function.
        *but: The columns that it takes without votes too.
    """
    for name, column in named_columns(options, *VoteFields.model_fields).items():
        if name not in but:
            raise InvalidInputError(
                f"{name} is {column!r}, which names a column of recorded votes: give these with votes=…, or leave it "
                "out"
            )
