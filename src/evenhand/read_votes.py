"""Recorded votes: read from the columns of a data set, and converted to the result of a run.

A vote says who cast it, on which instance, and in which draw. The function that takes the votes adds which columns name
the question, and how a cell selects an option. No judge is called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple, Self, TypeVar, get_args

from evenhand.aggregation.scores import Answer
from evenhand.aggregation.verdict import WEIGHTED_RULES, VoteRules, check_rule, check_weights
from evenhand.criteria import NA_LABELS, Checklist, ChecklistItem, Criterion, fold_label, yes_no_criterion
from evenhand.data.fields import (
    NOT_ASKED,
    YES_OR_NO,
    LabelReader,
    OutOfScale,
    as_text,
    categories_of,
    cell_error,
    cells_of,
    check_names,
    columns_of,
    field_of,
    group_columns,
    is_abstention,
    is_text_for_nothing,
    name_in,
    name_of,
    named_groups,
    read_clusters,
    row_groups,
    set_aside,
    text_of,
    weights_by_judge,
)
from evenhand.data.plain import briefly, by_key, plain_cell
from evenhand.data.rows import Row, read_rows, row_ids
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.run import parameters_of
from evenhand.modes.checklist import ChecklistAnalysis, ChecklistMode
from evenhand.modes.recorded_votes import AgreementAnalysis, VoteAnalysis
from evenhand.modes.winrates import TIE, WinrateAnalysis, check_reduction, is_graded
from evenhand.options import (
    AggregateVotesArguments,
    AgreementArguments,
    ChecklistArguments,
    ReadRepliesArguments,
    RecordedOptions,
    RunOptions,
    VoteFields,
    Weights,
    WinratesArguments,
)
from evenhand.parsing import compile_pattern, match_closest_option, match_pattern
from evenhand.question import comparison_criterion, swapped_index
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.unitxt.loading import load_criterion
from evenhand.version import __version__
from evenhand.votes import Completion, Match, UnscoredReason, Vote, is_missing

IN_ORDER, SWAPPED = (0, 1), (1, 0)
VOTE: Final = "vote"
"""The column of votes in data that hold nothing else."""

USUAL_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "id_field": ("id", "prompt_id", "instance"),
    "judge_field": ("judge", "judge_id"),
    "systems_field": ("system",),
    **{f"{name}_field": (name,) for name in ("sample", "first", "second", "swapped", "item")},
}
"""Setting -> the columns read by default; the first that the data have counts."""

TAKEN: Final = frozenset(
    {"votes", "id_field", "judge_field", "sample_field", "split", "gold_fields"}
    | {"aggregation", "on_position_bias", "judge_weights", *RecordedOptions.model_fields}
)
"""The options that all functions of recorded votes take; most others say how judges are asked."""

COMPARISONS: Final = frozenset(
    {"criteria", "systems", "first_field", "second_field", "swapped_field", "allow_ties", "scale", "reduction"}
)
ANSWERS: Final = frozenset({"checklist", "item_field", "systems_field", "primary_metric", "allow_na"})

_ANSWERS: Final[tuple[Answer, ...]] = ("yes", "no", "na")
_ANSWER_READER: Final = LabelReader(yes_no_criterion("gold", "The answer that a person gave.", na=True))

Run = TypeVar("Run", bound=RunOptions)
Selected = int | OutOfScale | None
"""The option that a cell selects; None if the cell is empty."""


@dataclass(frozen=True, slots=True)
class RecordedVote:
    """A recorded vote.

    Attributes:
        number: The number of its row.
        instance: The instance of the vote, by its place among the ids.
        judge: The judge who cast it.
        sample: The number of the draw, from 0.
        cell: The recorded value.
        reason: The reason why there is no vote, where a row says so.
    """

    number: int
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
        fields: Setting -> the column that it names, of ``id_field`` and :class:`~evenhand.options.VoteFields`.
        usual: Whether :data:`USUAL_NAMES` are read too.
        columns: The columns that hold votes.
        votes: The votes, in the order of the rows.
        ids: The names of the instances, in the order of their first row; None if each row is an instance.
        instances: The instances of each row.
        judges: The judges, in the order of the columns, or of the rows if a column names them.
    """

    rows: Sequence[Row]
    fields: Mapping[str, str]
    usual: bool = True
    columns: tuple[str, ...] = ()
    votes: tuple[RecordedVote, ...] = ()
    ids: tuple[str | None, ...] = ()
    instances: tuple[int, ...] = ()
    judges: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        columns: object,
        fields: Mapping[str, str],
        *,
        usual: bool = True,
        draws: bool = False,
        what: str = "votes",
    ) -> Self:
        """Find the votes.

        Args:
            rows: The data.
            columns: The column or columns of the votes.
            fields: The columns that are named.
            usual: Read :data:`USUAL_NAMES` too.
            draws: A list in a cell holds repeated draws of one judge, and not the votes of several.
            what: The argument that names the columns.

        Raises:
            InvalidInputError: No such column, or a row without a name.
        """
        found, listed = cls(rows, fields, usual), check_names(columns, what)
        judge = found.column("judge_field") if len(listed) == 1 or "judge_field" in fields else None
        if judge is not None and len(listed) > 1:
            raise InvalidInputError(f"judge_field is {judge!r}, and {what} names {list(listed)!r}: name one column")
        held = columns_of(rows, listed, what, within=judge is None and not draws)
        names: Sequence[Any] = found.names("id_field") if found.column("id_field") else range(len(rows))
        if judge is not None and not draws:
            found.need("id_field", "the votes of several judges are about one instance")
        places: dict[Any, int] = {name: place for place, name in enumerate(dict.fromkeys(names))}
        samples = found.names("sample_field", "0")
        votes: list[RecordedVote] = []
        for number, row in enumerate(rows):
            if not samples[number].isdecimal():
                raise cell_error(number, str(found.column("sample_field")), samples[number], "give 0, 1, …")
            for name, column in held.items():
                if (cell := column[number]) is NOT_ASKED:
                    continue
                who = name if judge is None else name_in(row, number, judge, "judge_field")
                about = (number, places[names[number]], who, int(samples[number]))
                cells = cell if draws and isinstance(cell, list | tuple) else [cell]
                votes += [RecordedVote(*about, one, _reason(row, number, one) if usual else None) for one in cells]
        judges = held if judge is None else [vote.judge for vote in votes]
        return replace(
            found,
            columns=listed,
            judges=list(dict.fromkeys(judges)),
            votes=tuple(votes),
            ids=tuple(places) if found.column("id_field") else (None,) * len(rows),
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
        cells_of(self.rows, given, setting)
        return given

    def need(self, setting: str, why: str) -> None:
        """Refuse data without the column of a setting."""
        if self.column(setting) is None:
            raise InvalidInputError(
                f"{why}, and no column says which: name it with {setting}=…; the data have the columns "
                f"{list(self.rows[0])!r}"
            )

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
        cells = self.cells(column, "swapped_field")
        return LabelReader(YES_OR_NO).read(cells, lambda row: f"row {row} has in {column!r}")

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
        settings = ("systems_field", "item_field", "swapped_field")
        apart = {*self.columns, *others, *map(self.column, settings)} - {None}
        what = "row" if None in self.ids else "instance"
        first_rows = dict(zip(reversed(self.instances), reversed(self.rows), strict=True))
        rows = [first_rows[instance] for instance in range(len(self.ids))]
        return list(read_clusters(rows, column, apart={str(name) for name in apart}, what=what))

    def run_options(self, given: Run, **grid: Any) -> Run:
        """Return the options of a run that asked for these votes, in the orders that ``grid`` says."""
        samples = 1 + max((vote.sample for vote in self.votes), default=0)
        return given.model_copy(update={"samples": samples, "check_positional_bias": False, **grid})

    def row_parameters(self, group_fields: str | Sequence[str] | None) -> dict[str, Any]:
        """Return what a result repeats of the rows and their columns."""
        groups = {each: self.names_of_instances(each, "group_fields") for each in group_columns(group_fields)}
        return {"evenhand_version": __version__, "n": len(self.ids), **named_groups(groups), **self.fields}

    def parameters(self, options: RunOptions) -> dict[str, Any]:
        """Return what a result repeats of the votes, and of the options that say how they are scored."""
        return {
            **self.row_parameters(options.group_fields),
            "judges": list(self.judges),
            "votes": list(self.columns),
            "id_field": self.column("id_field"),
            **parameters_of(options, VoteRules.from_parameters(dict(options)), None),
        }

    def read(self, reader_of: Callable[[RecordedVote], LabelReader]) -> list[Selected]:
        """Return the option that each vote selects; the numbers of one column are of one kind.

        Args:
            reader_of: The reader of the options that were offered to a vote.
        """
        long = self.column("judge_field") is not None
        columns = (("" if long else vote.judge, id(reader_of(vote))) for vote in self.votes)
        found: dict[int, Selected] = {}
        for own in by_key(zip(columns, range(len(self.votes)), strict=True)).values():
            reader, cells = reader_of(self.votes[own[0]]), [self.votes[place].cell for place in own]
            found |= zip(own, reader.read_most(cells, lambda at, own=own: self.votes[own[at]].who), strict=True)  # type: ignore[misc] # bound
        return [found[place] for place in range(len(self.votes))]

    def cast(
        self,
        questions: Sequence[RecordedQuestion],
        selected: Sequence[Selected],
        weights: tuple[float, ...] | None = None,
    ) -> dict[tuple[Any, ...], list[Vote]]:
        """Return the votes on each question; a question about which there was no response to judge has none.

        Args:
            questions: Of the rows.
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
            if vote.reason == "missing_response":
                continue
            key = (vote.judge, vote.sample, vote.reason, id(asked.criterion), asked.order, index)
            if key not in equal:
                more: dict[str, Any] = {"unscored_reason": vote.reason} if vote.reason else {}
                more |= {"order": asked.order, "sample": vote.sample, "weight": of_judge.get(vote.judge, 1.0)}
                equal[key] = LabelReader(asked.criterion).vote(vote.judge, index).model_copy(update=more)
            own.append(equal[key])
        set_aside(selected)
        return found


def _reason(row: Row, number: int, cell: object) -> UnscoredReason | None:
    """Return why there is no vote, where a row says so in the column ``unscored_reason``."""
    given, accepted = row.get("unscored_reason"), get_args(UnscoredReason)
    reason: UnscoredReason | None = next((each for each in accepted if each == given), None)
    if reason is None and not is_abstention(given):
        raise cell_error(number, "unscored_reason", given, did_you_mean(given, accepted))
    if reason and not is_abstention(cell):
        raise cell_error(number, "unscored_reason", given, f"there is the vote {cell!r} too, and only one holds")
    return reason


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

    def sides(self, cell: object) -> set[float] | None:
        """Return whom a label prefers: 1 for the first of :attr:`systems`, 0 for the second, ½ for neither.

        The set has several numbers where a system is called as a place is, and none where the label names neither; it
        is None where there is no label. An exact name comes before one in other case: of the systems ``a`` and ``b``,
        ``a`` is a system and ``A`` a place.
        """
        if is_abstention(cell) or is_text_for_nothing(cell):
            return None
        values = {self.systems[0]: 1.0, self.systems[1]: 0.0}
        names = [*values.items(), ("first", values[self.first]), ("second", values[self.second]), (TIE, 0.5)]
        if self.swapped is not None:
            names += [(place, values[system]) for place, system in zip("AB", self.shown, strict=True)]
        label = as_text(plain_cell(cell)).strip()
        exact = {side for name, side in names if name == label}
        return exact or {side for name, side in names if fold_label(name) == fold_label(label)}

    def preferred(self, cell: object, who: str) -> str | None:
        """Return the system that a label of a person prefers, or ``tie``; None without a label.

        Raises:
            InvalidInputError: If it names neither, or both.
        """
        sides = self.sides(cell)
        if sides is not None and len(sides) != 1:
            raise InvalidInputError(self.refusal(cell, who))
        return {1.0: self.systems[0], 0.0: self.systems[1], 0.5: TIE}[sides.pop()] if sides else None

    def refusal(self, cell: object, who: str, more: Sequence[str] = ()) -> str:
        """Say that a label does not prefer one of the two, or neither."""
        accepted = tuple(dict.fromkeys((*self.systems, TIE, "first", "second", "A", "B", *more)))
        return (
            f"{who} {briefly(cell)}, which is none of the pair, or both. {did_you_mean(as_text(cell), accepted)} "
            "None for no vote; numbers are values of the options of a criterion that is given"
        )


def _pairs(read: RecordedVotes, systems: tuple[str, ...] | None) -> tuple[list[Pair], tuple[str, ...]]:
    """Return the pair of each row, and all systems."""
    one, other = "", ""
    if systems is not None and len(systems) == 2 and not (read.column("first_field") or read.column("second_field")):
        one, other = systems
    else:
        for setting in ("first_field", "second_field"):
            read.need(setting, "a vote is about two systems (systems=[…] where all votes are about the same two)")
    named = list(zip(read.names("first_field", one), read.names("second_field", other), strict=True))
    swapped = read.swapped()
    if swapped is not None:
        read.need("id_field", "votes in two orders are about one prompt")
    found = tuple(dict.fromkeys(system for pair in named for system in pair))
    given = found if systems is None else check_names(tuple(map(name_of, systems)), "systems", 2)
    for number, (first, second) in enumerate(named):
        if first == second:
            raise InvalidInputError(f"row {number} compares {first!r} with itself; a vote is about two systems")
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
    accepted = (0.5,) if is_graded(criterion) else (1.0, 0.5, 0.0)
    options = reversed(list(enumerate(criterion.options)))
    by_side = {option.value: index for index, option in options if option.value in accepted}
    reader = LabelReader(criterion)
    shown = read.read(lambda _: reader) if labels else [None] * len(read.votes)
    found: list[Selected] = []
    for vote, option_shown in zip(read.votes, shown, strict=True):
        pair = pairs[vote.number]
        sides = pair.sides(vote.cell)
        if sides is None:
            found.append(None)
            continue
        chosen = {by_side[side] for side in sides if side in by_side}
        if isinstance(option_shown, int):
            mirrored = pair.order == SWAPPED
            chosen.add(swapped_index(criterion.options, option_shown) if mirrored else option_shown)
        if len(chosen) == 1:
            found.append(chosen.pop())
            continue
        if sides and not chosen:
            raise InvalidInputError(
                f"{vote.who} {vote.cell!r}, for which {criterion.name!r} has no option of its own; its options are "
                f"{list(criterion.labels)!r}: give the label of one, or set allow_ties=True for ties"
            )
        refusal = pair.refusal(vote.cell, vote.who, criterion.labels)
        if chosen:
            raise InvalidInputError(refusal)
        found.append(OutOfScale(vote.who, as_text(vote.cell), refusal))
    return found


def read_comparisons(data: object, options: WinratesArguments, criterion: Criterion | None) -> Results:
    """Make the winrates of recorded comparisons.

    Args:
        data: The data; None if ``options.votes`` are the data.
        options: The scoring of the votes, whether ties were offered, and the systems in the order of the result.
        criterion: The criterion of the options offered; None if votes name systems, places or a tie.

    Raises:
        InvalidInputError: Votes that cannot be read or contradict each other, or options that belong to asking.
    """
    read = votes_given(data, options, COMPARISONS)
    pairs, names = _pairs(read, options.systems)
    ties = any(isinstance(vote.cell, str) and fold_label(vote.cell) == TIE for vote in read.votes)
    offered = criterion or comparison_criterion("recorded votes", "", allow_ties=options.allow_ties or ties)
    run = read.run_options(options, check_positional_bias=len({pair.order for pair in pairs}) > 1)
    VoteRules.from_parameters(dict(run)).check("pairwise")
    questions = [
        RecordedQuestion((instance, *pair.systems), offered, pair.order)
        for instance, pair in zip(read.instances, pairs, strict=True)
    ]
    cast = read.cast(questions, _preferences(read, pairs, offered, labels=criterion is not None), run.judge_weights)
    keys, clusters = [each.key for each in questions], read.clusters(run.cluster_field, options.gold_fields)

    where = f"the gold label in {options.gold_fields!r} is"
    gold = read.gold(
        options.gold_fields,
        keys,
        lambda cells: [pairs[n].preferred(cell, f"row {n}: {where}") for n, cell in enumerate(cells)],
    )
    lengths = []
    for system in (0, 1):
        sides = ["first" if pair.first == pair.systems[system] else "second" for pair in pairs]
        texts = [row.get(f"{side}_response") for row, side in zip(read.rows, sides, strict=True)]
        own = [None if is_missing(text) else len(text_of(text)) for text in texts]
        lengths.append(read.agreed(keys, own, "a response of the length"))
    cells = []
    for key in sorted(cast, key=lambda key: (key[0], names.index(key[1]), names.index(key[2]))):
        about = {"instance": key[0], "first": key[1], "second": key[2], "round": 0, "cluster": clusters[key[0]]}
        about |= {"prompt_id": read.ids[key[0]], "gold": gold.get(key)}
        about |= {"first_length": lengths[0].get(key), "second_length": lengths[1].get(key)}
        cells.append(Cell(about, tuple(cast[key])))
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
    header = {"criterion": offered, "systems": list(names), "parameters": parameters}
    return Results.of_cells(WinrateAnalysis, header, cells)


def read_answers(data: object, options: ChecklistArguments, given: Checklist | None) -> Results:
    """Make the result of recorded answers to a checklist; a row is an answer to one item.

    Args:
        data: The data; None if ``options.votes`` are the data.
        options: The scoring of the answers.
        given: The checklist; None for the items that occur, of equal weight.

    Raises:
        InvalidInputError: Answers that cannot be read or contradict each other, or options that belong to asking.
    """
    column = options.gold_fields
    if isinstance(column, Mapping):
        raise InvalidInputError(
            f"gold_fields is {column!r}; of recorded answers name the one column with the answer of a person to the "
            "item of the row"
        )
    read = votes_given(data, options, ANSWERS)
    for setting in ("item_field", "id_field"):
        read.need(setting, "a vote is the answer to one item of a response")
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
    right = read.gold(
        column, keys, lambda cells: [answer_of(each, f"row {n}: the gold answer is") for n, each in enumerate(cells)]
    )
    clusters, named = read.clusters(mode.options.cluster_field, column), tuple(dict.fromkeys(key[1] for key in keys))
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


def answer_of(cell: object, who: str) -> Answer | None:
    """Return the answer that a person gave; ``who`` begins a message about it."""
    place = _ANSWER_READER.index_of(cell, who)
    return None if place is None else _ANSWERS[place]


def _items_named(read: RecordedVotes, names: Sequence[str]) -> Checklist:
    """Return the items that occur, in the order of the rows; an item found not to apply offers that."""
    not_applicable = set(map(fold_label, (*NA_LABELS, "NA")))
    na = {names[vote.number] for vote in read.votes if fold_label(str(vote.cell)) in not_applicable}
    items = tuple(ChecklistItem(name=name, question=name, na=name in na) for name in dict.fromkeys(names))
    return Checklist(name="recorded votes", items=items)


def read_assessments(
    read: RecordedVotes,
    reader: LabelReader,
    *,
    gold: str | None = None,
    cluster_field: str | bool | None = None,
    cast: Mapping[tuple[Any, ...], Sequence[Vote]] | None = None,
) -> list[Cell]:
    """Return the recorded votes on each response, and the label that is right.

    Args:
        read: The votes. Where ``swapped_field`` is true, the options were shown in the reversed order.
        reader: The reader of the options that were voted on.
        gold: The column with the label that is right.
        cluster_field: As the options of intervals have it.
        cast: (Instance, system) -> votes, where these were read already.
    """
    labels, systems = reader.criterion.labels, read.names("systems_field")
    keys = list(zip(read.instances, systems, strict=True))
    if cast is None:
        swapped, own = read.swapped() or [None] * len(read.rows), tuple(range(len(labels)))
        orders = [own[::-1] if other else own for other in swapped]
        questions = [RecordedQuestion(key, reader.criterion, order) for key, order in zip(keys, orders, strict=True)]
        cast = read.cast(questions, read.read(lambda _: reader))

    def label_of(cells: Sequence[object]) -> list[str | None]:
        given = reader.read_most(cells, lambda number: f"row {number}: the gold label in {gold!r} is")
        set_aside(given)
        return [labels[index] if isinstance(index, int) else None for index in given]

    right = read.gold(gold, keys, label_of)
    clusters, place = read.clusters(cluster_field, gold), {name: n for n, name in enumerate(dict.fromkeys(systems))}
    cells = []
    for key in sorted(dict.fromkeys(keys), key=lambda key: (key[0], place[key[1]])):
        about = {"instance": key[0], "system": key[1], "criterion": reader.criterion.name}
        about |= {"gold": right.get(key), "cluster": clusters[key[0]]}
        cells.append(Cell(about, tuple(cast.get(key, ()))))
    return cells


def votes_given(data: object, options: Any, taken: frozenset[str]) -> RecordedVotes:
    """Find the votes that a function is given in place of judges.

    Args:
        data: The data; None if ``options.votes`` are the data, whose votes are in the column ``vote``.
        options: The options of the function.
        taken: Those that say how these votes are read, in addition to :data:`TAKEN`.

    Raises:
        InvalidInputError: Any other option, or no such column.
    """
    others = type(options).model_fields.keys() - TAKEN - taken
    for name, value in options.changed_from_default(*sorted(others & options.model_fields_set)).items():
        raise InvalidInputError(f"{name} is {value!r}, and recorded votes ask no judge: leave it out, or votes")
    rows = read_rows(options.votes if data is None else data, options.split)
    return RecordedVotes.of(rows, VOTE if data is None else options.votes, named_columns(options))


def named_columns(options: Any) -> dict[str, str]:
    """Return setting -> the column of recorded votes that it names, of those that are given."""
    given = dict(options)
    return {name: given[name] for name in ("id_field", *VoteFields.model_fields) if given.get(name) is not None}


def refuse_vote_columns(options: Any, *but: str) -> None:
    """Refuse columns of recorded votes where no votes are given, except those that the function also takes then."""
    for name, column in named_columns(options).items():
        if name not in ("id_field", *but):
            raise InvalidInputError(f"{name} is {column!r}, a column of recorded votes: give votes=…, or leave it out")


def verdicts_of_votes(
    read: RecordedVotes, criterion: Criterion, cells: Sequence[Cell], options: Any, weights: Weights = None, **more: Any
) -> Results:
    """Return the verdicts that recorded votes give.

    Args:
        read: The votes.
        criterion: The criterion of the votes.
        cells: The votes on each instance.
        options: The options of the function.
        weights: The weights of the judges; None for equal ones.
        **more: Further parameters that the result repeats.
    """
    weights = weights_by_judge(weights, read.judges)
    check_weights(weights)
    lacking = [] if weights is None else [judge for judge in read.judges if judge not in weights]
    if lacking and more.get("rule") in WEIGHTED_RULES:
        raise InvalidInputError(f"the weights {weights!r} name no weight for the judge {lacking[0]!r}; add it")
    parameters = {
        **read.row_parameters(options.group_fields),
        "votes": list(read.judges),
        **({} if None in read.ids else {"ids": list(read.ids)}),
        "gold_fields": options.gold_fields,
        "criteria_given": options.criteria is not None,
        "as_index": options.as_index,
        "rule": None,
        "weights": weights,
        **options.values_of(RecordedOptions),
        **more,
    }
    systems = list(dict.fromkeys(cell.about["system"] for cell in cells))
    header = {"systems": systems, "criteria": [criterion], "parameters": parameters}
    return Results.of_cells(VoteAnalysis, header, cells)


def aggregate_recorded_votes(data: object, options: AggregateVotesArguments) -> Results:
    """Reduce recorded votes to verdicts: see :func:`evenhand.functions.aggregate_votes`."""
    criterion = YES_OR_NO if options.criteria is None else load_criterion(options.criteria)
    rule, fields = check_rule(options.rule, criterion.scale), named_columns(options)
    read = RecordedVotes.of(read_rows(data, options.split), options.votes, fields, usual=False)
    reader = LabelReader(criterion, as_index=options.as_index)
    cells = read_assessments(read, reader, gold=options.gold_fields, cluster_field=options.cluster_field)
    return verdicts_of_votes(read, criterion, cells, options, options.weights, rule=rule)


def measure_agreement(data: object, options: AgreementArguments) -> Results:
    """Measure the agreement of raters: see :func:`evenhand.functions.agreement`."""
    rows, given = read_rows(data, options.split), {"votes": options.votes, "gold_fields": options.gold_fields or ()}
    held = [
        RecordedVotes.of(rows, names, {}, usual=False, what=setting) if names or setting == "votes" else None
        for setting, names in given.items()
    ]
    reads = [read for read in held if read is not None]
    check_names([name for read in reads for name in read.judges], "votes and gold_fields", 2)
    if options.as_index and options.criteria is None:
        raise InvalidInputError("as_index=True says that numbers are places of options; give the criteria")
    if options.criteria is None:
        criterion = categories_of(by_key((vote.judge, vote.cell) for read in reads for vote in read.votes))
    else:
        criterion = load_criterion(options.criteria)
    reader, order = LabelReader(criterion, as_index=options.as_index), tuple(range(len(criterion.options)))
    questions = [RecordedQuestion((row,), criterion, order) for row in range(len(rows))]
    cast = [read.cast(questions, read.read(lambda _: reader)) for read in reads]
    clusters = read_clusters(rows, options.cluster_field, apart={name for read in reads for name in read.columns})
    cells = [
        Cell({"instance": row, "cluster": cluster}, tuple(vote for own in cast for vote in own.get((row,), ())))
        for row, cluster in enumerate(clusters)
    ]
    parameters = {
        "evenhand_version": __version__,
        "n": len(rows),
        **row_groups(rows, options.group_fields),
        "as_index": options.as_index,
        **row_ids(rows, options.id_field),
        **{setting: list(read.judges) if read else [] for setting, read in zip(given, held, strict=True)},
        "criteria_given": options.criteria is not None,
        **options.values_of(RecordedOptions),
    }
    return Results.of_cells(AgreementAnalysis, {"criterion": criterion, "parameters": parameters}, cells)


def read_recorded_replies(data: object, options: ReadRepliesArguments) -> Results:
    """Read recorded replies as votes: see :func:`evenhand.functions.read_replies`."""
    criterion = YES_OR_NO if options.criteria is None else load_criterion(options.criteria)
    rule = check_rule(options.rule, criterion.scale)
    compiled = None if options.pattern is None else compile_pattern(options.pattern)
    rows, fields = read_rows(data, options.split), named_columns(options)
    read = RecordedVotes.of(rows, options.replies, fields, usual=False, draws=True, what="replies")
    values = sorted(option.value for option in criterion.options if option.value is not None)
    mirrored = [values[0] + values[-1] - value for value in reversed(values)]
    if options.swapped_field is not None and (mirrored != values or not criterion.has_values):
        raise InvalidInputError(
            f"swapped_field={options.swapped_field!r} mirrors the options of {criterion.name!r} by their values, which "
            f"are {values!r}: give the first response's win 1, the second's 0, and a tie 0.5"
        )

    @cache
    def match(text: str | None, finish: str | None) -> Match:
        if compiled is not None:
            return match_pattern(text, criterion.labels, compiled)
        return match_closest_option(text, criterion.labels, finish_reason=finish)

    reader = LabelReader(criterion, as_index=options.as_index)
    swapped, systems, column = read.swapped(), read.names("systems_field"), options.finish_reason_field
    finishes = [""] * len(read.rows) if column is None else map(text_of, read.cells(column, "finish_reason_field"))
    reasons = [finish or None for finish in finishes]
    cast: dict[tuple[Any, ...], list[Vote]] = {}
    draws: dict[Hashable, int] = {}
    for vote in read.votes:
        text, finish = None if is_missing(vote.cell) else text_of(vote.cell), reasons[vote.number]
        found, turned = match(text, finish), swapped is not None and bool(swapped[vote.number])
        index = found.index if found.index is None or not turned else swapped_index(criterion.options, found.index)
        key = (vote.instance, systems[vote.number])
        sample = draws[key, vote.judge, turned] = draws.get((key, vote.judge, turned), -1) + 1
        more: dict[str, Any] = {"sample": sample, "match": found, "unscored_reason": found.reason}
        more["completion"] = Completion(text=text, finish_reason=finish)
        if swapped is not None:
            more["order"] = SWAPPED if turned else IN_ORDER
        cast.setdefault(key, []).append(reader.vote(vote.judge, index).model_copy(update=more))
    cells = read_assessments(read, reader, gold=options.gold_fields, cluster_field=options.cluster_field, cast=cast)
    more = {"replies": list(read.columns), "pattern": options.pattern, "rule": rule}
    return verdicts_of_votes(read, criterion, cells, options, options.weights, **more)
