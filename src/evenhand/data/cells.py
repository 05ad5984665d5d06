"""What a cell of data says: nothing, or one of the options of a criterion. One reader for votes, gold and examples.

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

import ast
import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Final, Literal, Self

from evenhand.criteria import NA_LABELS, Criterion, fold_label
from evenhand.data.plain import briefly, unique_keys
from evenhand.errors import EvenhandWarning, InvalidInputError, did_you_mean
from evenhand.numbers import format_count
from evenhand.votes import is_missing

_TRUTH = {"true": True, "false": False}
_TRUTH_LABELS = {True: ("true", "yes"), False: ("false", "no")}
_WRITTEN_NOTHING = frozenset({"none", "nan", "null"})
_SAME_VALUE = 1e-9

NOT_ASKED = object()
"""The cell of who was not asked about an instance: a row without the column, a list that is shorter than others, a
mapping that does not name the judge. It is no vote and no abstention, and counts nowhere."""

Reading = Literal["label", "value", "index"]
"""What the numbers of a column are."""

MOST_OUT_OF_SCALE: Final = 0.01
"""The share of the votes of a table that may say no option."""


class OutOfScaleWarning(EvenhandWarning):
    """A few recorded votes say no option and are set aside."""


@dataclass(frozen=True, slots=True)
class OutOfScale:
    """A vote that says no option.

    Attributes:
        who: Whose it is, and a verb.
        cell: What was recorded.
        refusal: Why it is none.
    """

    who: str
    cell: str
    refusal: str


def as_text(cell: object) -> str:
    """Return what a cell says, in one short line where it is not a text."""
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
            f"{format_count(len(strange))} of {format_count(len(cast))} recorded votes say no option and are set "
            f"aside as unscored: {named}"
            f"{'; …' if len(strange) > 5 else ''}. Correct them, or leave them empty",
            OutOfScaleWarning,
            stacklevel=2,
        )


def is_abstention(vote: object) -> bool:
    """Whether nothing was recorded: a missing value, or a text without content.

    >>> [is_abstention(vote) for vote in (None, float("nan"), " ", 0, False, "no")]
    [True, True, True, False, False, False]
    """
    return not vote.strip() if isinstance(vote, str) else is_missing(vote)


def is_written_nothing(vote: object) -> bool:
    """Whether it is the text that Python or JSON makes of nothing.

    >>> [is_written_nothing(vote) for vote in ("None", "NaN", "null", None, "no")]
    [True, True, True, False, False]
    """
    return isinstance(vote, str) and fold_label(vote) in _WRITTEN_NOTHING


def number_of(value: object) -> float | None:
    """The number that a value is, or that a text shows; None for anything else, booleans among it.

    >>> [number_of(value) for value in (1, "2.0", " 3", True, "many", float("inf"))]
    [1.0, 2.0, 3.0, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, str | Real | Decimal):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def plain_cell(value: object) -> object:
    """A cell; numpy's scalars and arrays as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value


def held_in(text: str, where: str) -> object:
    """The list or mapping that a text holds, as JSON or as Python writes it; the text itself when it holds none.

    A bare ``nan``, as pandas has for nothing, is None there.

    Raises:
        InvalidInputError: If a mapping in it has a key twice.

    >>> held_in("{'ann': 'yes', 'bob': nan}", "row 0")
    {'ann': 'yes', 'bob': None}
    """
    if text.strip()[:1] not in {"[", "{", "("}:
        return text
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: unique_keys(pairs, where))
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(_Literal(where).visit(ast.parse(text.strip(), mode="eval")))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


class _Literal(ast.NodeTransformer):
    """A Python literal in which ``nan`` is None and keys differ."""

    def __init__(self, where: str) -> None:
        self.where = where

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(None) if node.id == "nan" else node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        unique_keys([(key.value, None) for key in node.keys if isinstance(key, ast.Constant)], self.where)
        return self.generic_visit(node)


@dataclass(frozen=True)
class LabelReader:
    """Reads which option of a criterion a cell says; the rule is that of this module.

    Attributes:
        criterion: Whose options are meant.
        as_index: Numbers are places of options.
    """

    criterion: Criterion
    as_index: bool = False

    @classmethod
    def of(cls, criterion: Criterion, *, as_index: bool = False) -> Self:
        """The reader of a criterion's labels.

        Raises:
            InvalidInputError: If it is something else.
        """
        if not isinstance(criterion, Criterion):
            raise InvalidInputError(
                f"the criterion is {criterion!r}; give a Criterion, such as "
                "evenhand.load('criteria.evenhand.direct.relevance')"
            )
        if not isinstance(as_index, bool):
            raise InvalidInputError(f"as_index is {as_index!r}; accepted: True or False")
        return cls(criterion, as_index)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Folded label -> place."""
        found = {fold_label(label): place for place, label in enumerate(self.criterion.labels)}
        if self.criterion.na_index is not None:
            for label in (*NA_LABELS, "NA"):
                found.setdefault(fold_label(label), self.criterion.na_index)
        return found

    @cached_property
    def numerals(self) -> Mapping[float, int]:
        """Number -> place of the option that has it as its label."""
        numbers = [(number_of(label), place) for place, label in enumerate(self.criterion.labels)]
        return {number: place for number, place in reversed(numbers) if number is not None}

    def index_of(self, cell: object, who: str) -> int | None:
        """The option that a single cell says, as in a column of its own; see :meth:`read`."""
        return self.read([cell], lambda _: who)[0]

    def read(self, cells: Sequence[object], who: Callable[[int], str]) -> tuple[int | None, ...]:
        """The option that each cell of a column says; as :meth:`read_most`, and a cell that says none is refused."""
        found: list[int | None] = []
        for index in self.read_most(cells, who):
            if isinstance(index, OutOfScale):
                raise InvalidInputError(index.refusal)
            found.append(index)
        return tuple(found)

    def read_most(self, cells: Sequence[object], who: Callable[[int], str]) -> tuple[int | OutOfScale | None, ...]:
        """The option that each cell of a column says; None where it says nothing.

        Args:
            cells: As they were recorded.
            who: Place in the column -> the beginning of a message about it: whose label it is, and a verb.

        Raises:
            InvalidInputError: If a cell may mean two options.
        """
        given = [plain_cell(cell) for cell in cells]
        reading = self.reading(given, who)
        return tuple(self._index(cell, reading, who, place) for place, cell in enumerate(given))

    def reading(self, cells: Sequence[object], who: Callable[[int], str]) -> Reading:
        """What the numbers of a column are.

        Raises:
            InvalidInputError: If they can be two things.
        """
        if self.as_index:
            return "index"
        numbers = [
            (place, number)
            for place, cell in enumerate(cells)
            if (number := number_of(cell)) is not None and (number in self.numerals or self._valued(number))
        ]
        labels = [self.numerals.get(number) for _, number in numbers]
        values = [self._valued(number) for _, number in numbers]
        if not self.numerals or (None in labels and all(len(found) == 1 for found in values)):
            return "value"
        if None not in labels and all(len(found) == 1 for found in values):
            for (place, number), label, [value] in zip(numbers, labels, values, strict=True):
                if label != value and fold_label(str(cells[place])) not in self.places:
                    options = self.criterion.options
                    raise InvalidInputError(
                        f"{who(place)} {cells[place]!r}, which may mean the label {options[label or 0].label!r} of "
                        f"{self.criterion.name!r}, or the value {number:g} of the option {options[value].label!r}: "
                        "write the labels as the criterion does"
                    )
        return "label"

    def note(self, columns: Sequence[Sequence[object]]) -> str | None:
        """How the numbers of these columns were read, where that is not seen: as values, or as places."""
        options = list(enumerate(self.criterion.options))
        read = set()
        for cells in columns:
            given = [plain_cell(cell) for cell in cells]
            if any(number_of(cell) is not None for cell in given):
                read.add(self.reading(given, lambda _: ""))
        if "index" in read:
            shown, what = ", ".join(f"{place} = {option.label}" for place, option in options), "places"
        elif "value" in read:
            worth = [(option.value, option.label) for _, option in options if option.value is not None]
            shown, what = ", ".join(f"{value:g} = {label}" for value, label in worth), "values"
        else:
            return None
        return f"Labels given as numbers were read as {what} of options: {shown}."

    def _index(self, cell: object, reading: Reading, who: Callable[[int], str], place: int) -> int | OutOfScale | None:
        if cell is NOT_ASKED or is_abstention(cell):
            return None
        number, found = number_of(cell), None
        folded = fold_label(cell) if isinstance(cell, str) else briefly(cell).casefold()
        if number is None or reading == "label":
            found = self.places.get(folded) if isinstance(cell, str) else None
        if found is None and number is not None:
            found = self._numbered(number, reading)
        if found is None and (isinstance(cell, bool) or folded in _TRUTH):
            found = self._true(_TRUTH[folded], f"{who(place)} {briefly(cell)}")
        if found is None and not is_written_nothing(cell):
            return OutOfScale(who(place), as_text(cell), self._refusal(cell, who(place), reading))
        return found

    def _numbered(self, number: float, reading: Reading) -> int | None:
        if reading == "label":
            return self.numerals.get(number)
        if reading == "index":
            return int(number) if number == int(number) and 0 <= number < len(self.criterion.options) else None
        found = self._valued(number)
        return found[0] if len(found) == 1 else None

    def _valued(self, number: float) -> list[int]:
        """The options that have a number as their value."""
        return [
            place
            for place, option in enumerate(self.criterion.options)
            if option.value is not None and abs(option.value - number) <= _SAME_VALUE
        ]

    def _true(self, truth: bool, said: str) -> int | None:
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

    def _refusal(self, cell: object, who: str, reading: Reading) -> str:
        options = self.criterion.options
        hint = did_you_mean(cell if isinstance(cell, str) else briefly(cell), self.criterion.labels)[:-1]
        places = "as_index=True reads numbers as places of options (in the shell --as-index)"
        if reading == "index":
            meant = f"an index 0 … {len(options) - 1}"
        elif reading == "label":
            meant = f"a number is a label here; {places}"
        elif not self.criterion.has_values:
            meant = f"a number is the value of an option, and these have none; {places}"
        else:
            worth = ", ".join(f"{option.value:g} = {option.label}" for option in options if option.value is not None)
            several = [options[place].label for place in self._valued(number_of(cell) or math.nan)]
            shared = f", which {several!r} share" if len(several) > 1 else ""
            meant = f"a number is the value of one option ({worth}){shared}; {places}"
        none = f"which is no option of {self.criterion.name!r}"
        return f"{who} {briefly(cell)}, {none}. {hint}; {meant}; None for an abstention"
