"""The entries of a result that lies on disk: read part by part when they are asked for, never held together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce, wraps
from itertools import accumulate, compress, islice
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from evenhand.results.parts import OWN_LISTS, Parts
from evenhand.results.saved import Saved, read, read_abouts, read_columns, read_schema, reading
from evenhand.results.verdict_columns import OF_VOTES, VoteColumns
from evenhand.results.votes_columns import TOLD, Cell

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow

Entry = TypeVar("Entry")
Entry_co = TypeVar("Entry_co", covariant=True)
Given = ParamSpec("Given")
Row = TypeVar("Row")


class Result(Protocol[Entry_co]):
    """What is needed of a class of results."""

    kind: ClassVar[str]
    names: ClassVar[tuple[str, ...]]

    @property
    def entries(self) -> Sequence[Entry_co]:
        """What was judged, one by one."""

    @classmethod
    def loaded_cells(cls, saved: Saved) -> list[Cell]:
        """The cells that a file holds."""

    @classmethod
    def of_cells(cls, header: Mapping[str, Any], cells: Iterable[Cell]) -> Self:
        """The result of these votes."""


class Walked(Protocol):
    """What a walk goes over."""

    @property
    def entries(self) -> Sequence[Any]:
        """What was judged, one by one."""


Held = TypeVar("Held", bound=Walked)


@dataclass(frozen=True, eq=False)
class EntriesOnDisk(Sequence[Entry], Generic[Entry]):
    """The entries of all parts, one part after the other; in a part they are ordered as in any result of its kind.

    Rows are numbered on from part to part. No more than one part is held for each walk.

    Attributes:
        held_as: The class of the result.
        parts: The files.
        header: What the parts say together, under the rules that apply.
        kept: For each part, which of its cells are left; None where all are.
        as_saved: The rules are those by which the parts were saved.
    """

    held_as: type[Result[Entry]]
    parts: Parts
    header: Mapping[str, Any]
    kept: tuple[NDArray[np.bool_], ...] | None = None
    as_saved: bool = True
    _last: dict[int, Result[Entry]] = field(default_factory=dict, repr=False)

    @property
    def numbers(self) -> Sequence[int]:
        """The parts of which something is left."""
        return [number for number in range(len(self.parts)) if self.kept is None or self.kept[number].any()]

    def part(self, number: int, *, texts: bool = True) -> Result[Entry]:
        """The result of one part, whose rows have the numbers that they have in the whole.

        Args:
            number: Which part, from 0.
            texts: Read the reasons and replies too, of which no score is made.

        Raises:
            InvalidInputError: A part that cannot be read.
        """
        with reading(self.parts[number]):
            saved = read(self.parts[number], self.held_as.kind, texts=texts)
            cells = self.held_as.loaded_cells(saved)
            left = cells if self.kept is None else compress(cells, self.kept[number])
            return self._made_of(number, saved.header, left)

    def _made_of(self, number: int, header: Mapping[str, Any], cells: Iterable[Cell]) -> Result[Entry]:
        placed = (cell._replace(about=self._placed(number, header, cell.about)) for cell in cells)
        return self.held_as.of_cells(self.header, placed)

    def _placed(self, number: int, header: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
        """What a cell is about, with the numbers that its row and what it was judged by have in the whole."""
        found = {**about, "instance": about["instance"] + self.parts.firsts[number]}
        for name, column in OWN_LISTS.get(self.held_as.kind, {}).items():
            if column in about and header.get(name) != self.header.get(name):
                found[column] = self.header[name].index(header[name][about[column]])
        return found

    def abouts(self) -> Iterator[dict[str, Any]]:
        """What each cell is about, without its votes."""
        for number in self.numbers:
            header, abouts = read_abouts(self.parts[number])
            for place, about in enumerate(abouts):
                if self.kept is None or self.kept[number][place]:
                    yield self._placed(number, header, about)

    def columns(self, number: int, names: Collection[str]) -> pyarrow.Table:
        """Columns of one part, with all its cells: see :func:`~evenhand.results.saved.read_columns`."""
        return read_columns(self.parts[number], names)

    @property
    def cells(self) -> int:
        """How many cells are left."""
        return sum(self.parts.cells) if self.kept is None else sum(int(each.sum()) for each in self.kept)

    def schema(self, *, verdicts: bool = True) -> pyarrow.Schema:
        """The columns of a file that holds all parts, with those that tell of verdicts or without."""
        import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

        schemas = map(read_schema, self.parts)
        united = reduce(lambda one, other: pyarrow.unify_schemas([one, other]), schemas)
        return pyarrow.schema(each for each in united if verdicts or not each.name.startswith(TOLD))

    def vote_columns(self) -> VoteColumns:
        """Every vote, as far as measures need it."""
        found = []
        for number in self.numbers:
            votes = VoteColumns.of_table(self.columns(number, OF_VOTES))
            found.append(votes if self.kept is None else votes.only(self.kept[number]))
        return VoteColumns.joined(found)

    def without_texts(self) -> tuple[Entry, ...]:
        """All entries at once, without the reasons and replies, of which no score is made."""
        return tuple(entry for number in self.numbers for entry in self.part(number, texts=False).entries)

    def whole(self) -> Result[Entry]:
        """The result with these entries."""
        number = self.numbers[0]
        if self.kept is None:  # one row shows what all are like
            row = next(self.abouts())["instance"] - self.parts.firsts[number]
            saved = read(self.parts[number], self.held_as.kind, texts=False, row=row)
            template = self._made_of(number, saved.header, self.held_as.loaded_cells(saved))
        else:
            template = self.part(number, texts=False)
        table: Any = template  # a dataclass, as every result is
        held = next(each.name for each in fields(table) if getattr(table, each.name) is template.entries)
        return cast("Result[Entry]", replace(table, **{held: self}))

    def under(self, header: Mapping[str, Any]) -> Self:
        """The same votes under other rules.

        Args:
            header: What is judged, and the parameters.
        """
        return replace(self, header={**self.header, **header}, as_saved=False, _last={})

    def only(self, stays: Sequence[bool], header: Mapping[str, Any]) -> Self:
        """The entries of some of the cells.

        Args:
            stays: Of each of :meth:`abouts`, whether it does.
            header: What is judged, and the parameters, of what is left.
        """
        left = iter(stays)
        masks = []
        for number, cells in enumerate(self.parts.cells):
            mask = np.ones(cells, dtype=bool) if self.kept is None else self.kept[number].copy()
            mask[mask] = list(islice(left, int(mask.sum())))
            masks.append(mask)
        return replace(self, header={**self.header, **header}, kept=tuple(masks), _last={})

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        """How many entries each part has."""
        names = self.held_as.names
        counts = dict.fromkeys(range(len(self.parts)), 0)
        for number in self.numbers:
            _, abouts = read_abouts(self.parts[number])
            kept = [True] * len(abouts) if self.kept is None else self.kept[number]
            named = zip(abouts, kept, strict=True)
            counts[number] = len({tuple(about[name] for name in names) for about, held in named if held})
        return tuple(counts.values())

    def __len__(self) -> int:
        return sum(self._counts)

    def __iter__(self) -> Iterator[Entry]:
        for number in self.numbers:
            yield from self.part(number).entries

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Entry]: ...

    def __getitem__(self, place: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        ends = list(accumulate(self._counts))
        left = range(len(self))[place]
        number = bisect_right(ends, left)
        left -= ends[number] - self._counts[number]
        if number not in self._last:
            self._last.clear()
            self._last[number] = self.part(number)
        return self._last[number].entries[left]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # as a list


def part_by_part(
    walk: Callable[Concatenate[Held, Given], Iterator[Row]],
) -> Callable[Concatenate[Held, Given], Iterator[Row]]:
    """Make a walk over a result go through one part after the other where it lies on disk."""

    @wraps(walk)
    def walked(self: Held, *given: Given.args, **keyed: Given.kwargs) -> Iterator[Row]:
        entries = self.entries
        if not isinstance(entries, EntriesOnDisk):
            yield from walk(self, *given, **keyed)
            return
        for number in entries.numbers:
            yield from walk(entries.part(number), *given, **keyed)  # type: ignore[arg-type] # of the same class

    return cast("Callable[Concatenate[Held, Given], Iterator[Row]]", walked)
