"""The meaning of a cell: nothing, or one of a criterion's options. One reader for votes, gold and examples.

In this order:

1. **Nothing**: None, NaN, the missing values of pandas, and an empty text. It is missing, and neither the lowest nor
   the highest level. So are the texts ``None``, ``nan`` and ``null``, unless they are labels: unitxt writes a missing
   reference or prediction of a recipe so.
2. **A label**: compared as :func:`~evenhand.criteria.fold_label` does, without regard to case, white space and the
   form of Unicode. With an NA option, ``NA`` and ``N/A`` are it.
3. **A truth value** (True, False, or these words): the option called so, or Yes and No; of a binary criterion the
   option of the higher value and the other one. Where the two differ (Yes is worth 0), it is an error.
4. **A number** (a number of Python or numpy, or a text that shows one): the option whose *label* is that number (a
   grade of 1 to 5), or the one option that has it as its *value* (1 for Yes and 0 for No, wherever they stand in the
   list). All numbers of a column are of one kind: labels if all can be, else values. Where they can be both, and
   differ, they are labels if they are written as the labels are (``1`` or ``"1"`` for ``"1"``); else (1.0, which may
   be the label ``"1"`` or the value of ``"5"``) it is an error.

The *place* of an option (0 for the first) is what a number means only with ``as_index=True``; then every number is one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, Literal

from evenhand.criteria import NA_LABELS, Criterion, Option, fold_label
from evenhand.data.fields import check_names, column_of
from evenhand.data.plain import briefly, number_of, parse_cell, plain_cell
from evenhand.errors import EvenhandWarning, InvalidInputError, did_you_mean
from evenhand.numbers import format_count
from evenhand.votes import Completion, Match, Verdict, Vote, is_missing

_TRUTH = {"true": True, "false": False}
_TRUTH_LABELS = {True: ("true", "yes"), False: ("false", "no")}
_WRITTEN_NOTHING = frozenset({"none", "nan", "null"})
_DIGITS = 9
"""The decimals in which numbers of cells and values of options are compared."""

NOT_ASKED = object()
"""The cell of a judge not asked about an instance: a row without the column, a list that is shorter than others, a
mapping that does not name the judge. It is neither a vote nor an abstention, and counts nowhere."""

Reading = Literal["label", "value", "index"]
"""The meaning of the numbers of a column."""

MOST_OUT_OF_SCALE: Final = 0.01
"""The share of a table's votes that may name no option."""


class OutOfScaleWarning(EvenhandWarning):
    """A few recorded votes name no option and are set aside."""


@dataclass(frozen=True, slots=True)
class OutOfScale:
    """A vote that names no option.

    Attributes:
        who: The beginning of a message: whose vote it is, and a verb.
        cell: The recorded value.
        refusal: The message of an error about it.
    """

    who: str
    cell: str
    refusal: str


def as_text(cell: object) -> str:
    """Return a cell as text; what is not a text in one short line."""
    return cell if isinstance(cell, str) else briefly(cell)


def set_aside(votes: Iterable[object]) -> None:
    """Warn of the votes of a table that are out of scale.

    Args:
        votes: All of the table; None for an abstention.

    Raises:
        InvalidInputError: If more than :data:`MOST_OUT_OF_SCALE` of them are.
    """
    cast = [vote for vote in votes if vote is not None]
    strange = [vote for vote in cast if isinstance(vote, OutOfScale)]
    if len(strange) > MOST_OUT_OF_SCALE * len(cast):
        raise InvalidInputError(strange[0].refusal)
    if strange:
        named = "; ".join(f"{each.who} {briefly(each.cell)}" for each in strange[:5])
        warnings.warn(
            f"{format_count(len(strange))} of {format_count(len(cast))} recorded votes name no option and are set "
            f"aside as unscored: {named}"
            f"{'; …' if len(strange) > 5 else ''}. Correct them, or leave them empty",
            OutOfScaleWarning,
            stacklevel=2,
        )


def is_abstention(vote: object) -> bool:
    """Return whether nothing was recorded: a missing value, or a text without content.

    >>> [is_abstention(vote) for vote in (None, float("nan"), " ", 0, False, "no")]
    [True, True, True, False, False, False]
    """
    return not vote.strip() if isinstance(vote, str) else is_missing(vote)


def is_text_for_nothing(vote: object) -> bool:
    """Return whether it is the text that Python or JSON makes of nothing.

    >>> [is_text_for_nothing(vote) for vote in ("None", "NaN", "null", None, "no")]
    [True, True, True, False, False]
    """
    return isinstance(vote, str) and fold_label(vote) in _WRITTEN_NOTHING


@dataclass(frozen=True)
class LabelReader:
    """A reader of the option in a cell; the rule is that of this module.

    Attributes:
        criterion: Whose options are meant.
        as_index: Numbers are places of options.
    """

    criterion: Criterion
    as_index: bool = False

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Folded label -> place."""
        found = {fold_label(label): place for place, label in enumerate(self.criterion.labels)}
        if self.criterion.na_index is not None:
            for label in (*NA_LABELS, "NA"):
                found.setdefault(fold_label(label), self.criterion.na_index)
        return found

    @cached_property
    def numbers(self) -> Mapping[Reading, Mapping[float, int | None]]:
        """Reading -> number -> place of its option; None for a value that several options share."""
        options = list(enumerate(self.criterion.options))
        labels = [(number_of(option.label), place) for place, option in options]
        values: dict[float, int | None] = {}
        for place, option in options:
            if option.value is not None:
                number = round(option.value, _DIGITS)
                values[number] = None if number in values else place
        return {
            "label": {number: place for number, place in reversed(labels) if number is not None},
            "value": values,
            "index": {float(place): place for place, _ in options},
        }

    def index_of(self, cell: object, who: str) -> int | None:
        """Return the option that a single cell says, as in a column of its own; see :meth:`read`."""
        return self.read([cell], lambda _: who)[0]

    def read(self, cells: Sequence[object], who: Callable[[int], str]) -> tuple[int | None, ...]:
        """Return the option that each cell of a column says, as :meth:`read_most`; refuse a cell that says none."""
        found: list[int | None] = []
        for index in self.read_most(cells, who):
            if isinstance(index, OutOfScale):
                raise InvalidInputError(index.refusal)
            found.append(index)
        return tuple(found)

    def read_most(self, cells: Sequence[object], who: Callable[[int], str]) -> tuple[int | OutOfScale | None, ...]:
        """Return the option that each cell of a column says; None if it says nothing.

        Args:
            cells: As they were recorded.
            who: Place in the column -> the beginning of a message about it: whose label it is, and a verb.

        Raises:
            InvalidInputError: If a cell may mean two options.
        """
        given = [plain_cell(cell) for cell in cells]
        reading = self.reading(given, who)
        return tuple(self._option_of(cell, reading, who, place) for place, cell in enumerate(given))

    def reading(self, cells: Sequence[object], who: Callable[[int], str]) -> Reading:
        """Return what the numbers of a column are.

        Raises:
            InvalidInputError: If they can be two things.
        """
        if self.as_index:
            return "index"
        labels, values = self.numbers["label"], self.numbers["value"]
        numbers = [(place, _rounded(cell)) for place, cell in enumerate(cells)]
        known = [(place, number) for place, number in numbers if number in labels or number in values]
        are_labels = all(number in labels for _, number in known)
        are_values = all(values.get(number) is not None for _, number in known)
        if not labels or (are_values and not are_labels):
            return "value"
        for place, number in known if are_values else ():
            label, value = (self.criterion.labels[found[number] or 0] for found in (labels, values))
            if label != value and fold_label(str(cells[place])) not in self.places:
                raise InvalidInputError(
                    f"{who(place)} {cells[place]!r}, which may mean the label {label!r} of {self.criterion.name!r}, or "
                    f"the value {number:g} of the option {value!r}: write the labels as the criterion does"
                )
        return "label"

    def vote(self, judge: str, index: int | OutOfScale | None) -> Vote:
        """Return the vote of a judge for an option; an abstention where there is none."""
        about: dict[str, Any] = {"judge_id": judge, "order": tuple(range(len(self.criterion.options)))}
        if index is None:
            return Vote(**about, unscored_reason="abstained")
        if isinstance(index, OutOfScale):
            match = Match(index=None, kind="none", reason="no_match")
            return Vote(**about, unscored_reason="no_match", match=match, completion=Completion(text=index.cell))
        option = self.criterion.options[index]
        return Vote(**about, selected_index=index, selected_label=option.label, value=option.value, na=option.na)

    def _option_of(
        self, cell: object, reading: Reading, who: Callable[[int], str], place: int
    ) -> int | OutOfScale | None:
        if cell is NOT_ASKED or is_abstention(cell):
            return None
        number, folded, found = _rounded(cell), fold_label(as_text(cell)), None
        if isinstance(cell, str) and (math.isnan(number) or reading == "label"):
            found = self.places.get(folded)
        if found is None:
            found = self.numbers[reading].get(number)
        if found is None and folded in _TRUTH:
            found = self._option_of_truth(_TRUTH[folded], f"{who(place)} {briefly(cell)}")
        if found is None and not is_text_for_nothing(cell):
            return OutOfScale(who(place), as_text(cell), self._refusal(cell, who(place)))
        return found

    def _option_of_truth(self, truth: bool, said: str) -> int | None:
        options = self.criterion.options
        named = next((self.places[word] for word in _TRUTH_LABELS[truth] if word in self.places), None)
        if self.criterion.scale != "binary" or not self.criterion.has_values:
            return named
        scored = [place for place, option in enumerate(options) if not option.na]
        valued = sorted(scored, key=lambda place: options[place].value or 0.0)[-1 if truth else 0]
        if named is not None and named != valued:
            raise InvalidInputError(
                f"{said}, which may mean the answer {options[named].label!r} of {self.criterion.name!r}, or that it is "
                f"{'met' if truth else 'not met'}, which is {options[valued].label!r}: give labels"
            )
        return valued

    def _refusal(self, cell: object, who: str) -> str:
        options = self.criterion.options
        values = [f"{option.value:g} = {option.label}" for option in options if option.value is not None]
        number = "a number is a label, or the value of one option"
        meant = f"{number} ({', '.join(values) or 'these have none'}); as_index=True (--as-index) reads it as a place"
        if self.as_index:
            meant = f"a number is an index 0 … {len(options) - 1}"
        hint = did_you_mean(as_text(cell), self.criterion.labels)[:-1]
        none = f"which is not an option of {self.criterion.name!r}"
        return f"{who} {briefly(cell)}, {none}. {hint}; {meant}; None for an abstention"


def _rounded(cell: object) -> float:
    """Return the number that a cell shows, as values are compared; NaN for anything else."""
    number = number_of(cell)
    return math.nan if number is None else round(number, _DIGITS)


YES_OR_NO = Criterion(
    name="votes",
    description="Is it so?",
    options=(Option(label="No", value=0.0), Option(label="Yes", value=1.0)),
    scale="binary",
)
"""The default criterion of binary votes."""

NO_VERDICT = Verdict(unscored_reason="not_asked")
"""The verdict on an instance for which no vote and no abstention is recorded."""


def votes_by_judge(recorded: object, where: str, *, prefix: str = "judge") -> dict[str, object]:
    """Return the votes of one instance by judge; in a list, the judges are ``judge_0``, ``judge_1``, ….

    A text that holds a list or a mapping, as JSON or as Python writes it, is read as what it holds: unitxt's default
    post-processor makes such texts of predictions.

    Args:
        recorded: A list or a mapping.
        where: Which instance it is, for the message.
        prefix: Of the names of judges in a list.

    Raises:
        InvalidInputError: If it is something else.

    >>> votes_by_judge(["yes", None], "instance 0")
    {'judge_0': 'yes', 'judge_1': None}
    """
    given = parse_cell(recorded, where)
    if isinstance(given, Mapping):
        return {str(judge): vote for judge, vote in given.items()}
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return {f"{prefix}_{place}": vote for place, vote in enumerate(given)}
    raise InvalidInputError(
        f"{where}: the recorded votes are {recorded!r}; give a list with one vote per judge, or a mapping judge -> vote"
    )


def weights_by_judge(
    weights: Mapping[str, float] | Sequence[float] | None, judges: Sequence[str]
) -> dict[str, float] | None:
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
    if len(weights) != len(judges):
        raise InvalidInputError(f"there are {len(weights)} weights for the judges {judges!r}; give one per judge")
    return dict(zip(judges, weights, strict=True))


@dataclass(frozen=True, slots=True)
class VoteColumn:
    """The votes of one judge or person.

    Attributes:
        name: The name of the judge or person.
        cells: One per instance, as recorded; `NOT_ASKED` where the row has no entry for this judge or person.
    """

    name: str
    cells: tuple[object, ...]


def cells_of(rows: Sequence[Mapping[str, Any]], column: str, setting: str) -> list[Any]:
    """Return the cells of a column; `NOT_ASKED` where a row lacks it.

    Raises:
        InvalidInputError: If all rows lack it.
    """
    cells = column_of(rows, column, NOT_ASKED)
    if all(cell is NOT_ASKED for cell in cells):
        known = list(dict.fromkeys(key for row in rows for key in row))
        raise InvalidInputError(
            f"{setting} names the column {column!r}, which no row has. {did_you_mean(column, known)}"
        )
    return cells


def columns_of(
    rows: Sequence[Mapping[str, Any]], names: str | Sequence[str], what: str, *, within: bool = True
) -> tuple[VoteColumn, ...]:
    """Return the columns of a data set that hold votes.

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
    listed = check_names(names, what)
    columns = [VoteColumn(name, tuple(map(plain_cell, cells_of(rows, name, what)))) for name in listed]
    if within and len(columns) == 1 and any(_holds_several(cell) for cell in columns[0].cells):
        return columns_within(columns[0])
    return tuple(columns)


def columns_within(column: VoteColumn) -> tuple[VoteColumn, ...]:
    """Return a column of lists or mappings as one column per entry, named ``votes_0`` or as in the mapping.

    Raises:
        InvalidInputError: If a cell is something else, and not empty either.
    """
    rows = [
        {} if cell is NOT_ASKED or is_abstention(cell) else votes_by_judge(cell, f"instance {row}", prefix=column.name)
        for row, cell in enumerate(column.cells)
    ]
    judges = list(dict.fromkeys(judge for votes in rows for judge in votes))
    return tuple(VoteColumn(judge, tuple(votes.get(judge, NOT_ASKED) for votes in rows)) for judge in judges)


def categories_of(columns: Sequence[VoteColumn]) -> Criterion:
    """Return the nominal criterion whose options are the labels that occur, for votes without a criterion.

    Raises:
        InvalidInputError: If fewer than two labels occur, or one column writes its labels as another cannot: numbers
            and words, or truth values and either, with no label in common.
    """
    occurring = [_labels_in(column) for column in columns]
    _check_comparable(columns, occurring)
    labels = {folded: label for found in reversed(occurring) for folded, label in found.items()}
    if len(labels) < 2:
        raise InvalidInputError(
            f"without criteria the options are the labels that occur, and only {list(labels.values())!r} did; give "
            "criteria, which say what could have been chosen"
        )
    options = tuple(Option(label=labels[folded]) for folded in sorted(labels))
    return Criterion(name="votes", description="", options=options, scale="nominal")


def read_column(column: VoteColumn, reader: LabelReader, kind: str) -> tuple[int | OutOfScale | None, ...]:
    """Return the option that a judge or person chose on each instance; None if there was no vote.

    Args:
        column: The recorded votes.
        reader: The reader of the criterion's votes.
        kind: ``judge`` or ``human``, for the message.
    """
    return reader.read_most(column.cells, lambda row: f"instance {row}: the {kind} {column.name!r} voted")


def cast_votes(
    columns: Sequence[VoteColumn], n_rows: int, reader: LabelReader, kind: str = "judge"
) -> list[tuple[Vote, ...]]:
    """Return the votes on each instance, of those who were asked; an abstention is a vote.

    Args:
        columns: Of the judges or people.
        n_rows: Instances.
        reader: The reader of the criterion's votes.
        kind: ``judge`` or ``human``, for the message.

    Raises:
        InvalidInputError: If more than a few votes cannot be read.
    """
    read = [read_column(column, reader, kind) for column in columns]
    set_aside(index for own in read for index in own)
    votes: list[list[Vote]] = [[] for _ in range(n_rows)]
    for column, chosen in zip(columns, read, strict=True):
        same: dict[int | OutOfScale | None, Vote] = {}  # equal votes are one value
        for own, cell, index in zip(votes, column.cells, chosen, strict=True):
            if cell is not NOT_ASKED:
                same[index] = same.get(index) or reader.vote(column.name, index)
                own.append(same[index])
    return [tuple(own) for own in votes]


def _labels_in(column: VoteColumn) -> dict[str, str]:
    """Return folded label -> label, of those that occur in a column."""
    cells = (cell for cell in column.cells if cell is not NOT_ASKED and not is_abstention(cell))
    labels = [_label(cell) for cell in cells if not is_text_for_nothing(cell)]
    return {fold_label(label): label for label in reversed(labels)}


def _check_comparable(columns: Sequence[VoteColumn], occurring: Sequence[Mapping[str, str]]) -> None:
    def kinds(labels: Iterable[str]) -> set[str]:
        return {"truth" if each in _TRUTH else "word" if number_of(each) is None else "number" for each in labels}

    for (one, mine), (other, theirs) in combinations(zip(columns, occurring, strict=True), 2):
        if mine and theirs and not mine.keys() & theirs.keys() and not kinds(mine) & kinds(theirs):
            raise InvalidInputError(
                f"{one.name!r} holds {list(mine.values())!r} and {other.name!r} {list(theirs.values())!r}, which have "
                "no label in common: without criteria nothing says which of them mean the same; give criteria with "
                "these labels and their values, such as evenhand.criteria.yes_no_criterion('votes', 'Is it so?')"
            )


def _label(cell: object) -> str:
    """Return a cell as a label; 2.0 is 2, since a column of whole numbers with a gap holds floats."""
    number = number_of(cell)
    return str(cell).strip() if number is None or not number.is_integer() else str(int(number))


def _holds_several(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.strip()[:1] in {"[", "{"}
    return isinstance(cell, Mapping) or (isinstance(cell, Sequence) and not isinstance(cell, bytes))
