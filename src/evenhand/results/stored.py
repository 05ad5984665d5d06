"""The places of the votes of a result: in memory, or in the parts of a folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import Any, Self

import numpy as np
import pyarrow

from evenhand.results.saved import OWN_LISTS, Parts, read, read_abouts, read_columns, reading, schema_of
from evenhand.results.vote_columns import OF_VOTES, BoolArray, Cell, VoteColumns


@dataclass(frozen=True)
class InMemory:
    """Votes that are held in memory.

    Attributes:
        held: The votes on each question.
    """

    held: tuple[Cell, ...]

    def cells(self, *, texts: bool = True) -> Iterator[Cell]:  # noqa: ARG002 - texts are held anyway
        """Give the votes on each question."""
        return iter(self.held)

    def abouts(self) -> Iterator[Mapping[str, Any]]:
        """Give what each cell is about."""
        return (cell.about for cell in self.held)

    def parts(self, *, texts: bool = True) -> Iterator[InMemory]:  # noqa: ARG002 - as above
        """Give the votes in parts that fit into memory."""
        yield self

    def only(self, stays: Sequence[bool]) -> Self:
        """Return the votes of some of the cells."""
        return replace(self, held=tuple(compress(self.held, stays)))

    def vote_columns(self) -> VoteColumns:
        """Return every vote, as far as measures need it."""
        return VoteColumns.of([cell.votes for cell in self.held])

    def schema(self, *, verdicts: bool = True) -> None:
        """None: the columns are known when the cells are written."""

    def __len__(self) -> int:
        return len(self.held)


@dataclass(frozen=True)
class OnDisk:
    """Votes in the parts of a folder. A walk holds one part at a time.

    Attributes:
        files: The parts.
        kept: The cells of each part that are left; None if all are.
    """

    files: Parts
    kept: tuple[BoolArray, ...] | None = None

    @property
    def numbers(self) -> Sequence[int]:
        """The parts that still have cells."""
        return [number for number in range(len(self.files.paths)) if self.kept is None or self.kept[number].any()]

    def parts(self, *, texts: bool = True) -> Iterator[InMemory]:
        """Give the votes part by part, with rows numbered as in the whole run.

        Args:
            texts: Read reasons and replies, which no score needs.

        Raises:
            InvalidInputError: If a part cannot be read.
        """
        for number in self.numbers:
            with reading(self.files.paths[number]):
                saved = read(self.files.paths[number], texts=texts)
            left = saved.cells if self.kept is None else compress(saved.cells, self.kept[number])
            placed = (cell._replace(about=self._placed(number, saved.header, cell.about)) for cell in left)
            yield InMemory(tuple(placed))

    def _placed(self, number: int, header: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a cell is about, with the numbers of its row and of its criterion in the whole run."""
        found = {**about, "instance": about["instance"] + self.files.firsts[number]}
        for name, column in OWN_LISTS.get(self.files.header["evenhand"], {}).items():
            if column in about and header.get(name) != self.files.header.get(name):
                found[column] = self.files.header[name].index(header[name][about[column]])
        return found

    def cells(self, *, texts: bool = True) -> Iterator[Cell]:
        """Give the votes on each question."""
        for part in self.parts(texts=texts):
            yield from part.held

    def abouts(self) -> Iterator[dict[str, Any]]:
        """Give what each cell is about; no vote is read."""
        for number in self.numbers:
            header, abouts = read_abouts(self.files.paths[number])
            for about in abouts if self.kept is None else compress(abouts, self.kept[number]):
                yield self._placed(number, header, about)

    def columns(self, number: int, names: Collection[str]) -> pyarrow.Table:
        """Return columns of one part, with all its cells, whose rows are counted from 0."""
        return read_columns(self.files.paths[number], names, self.files.saved_firsts[number])

    def only(self, stays: Sequence[bool]) -> Self:
        """Return the votes of some of the cells.

        Args:
            stays: For each of :meth:`abouts`, whether it stays.
        """
        left = iter(stays)
        masks = []
        for number, cells in enumerate(self.files.cells):
            mask = np.ones(cells, dtype=bool) if self.kept is None else self.kept[number].copy()
            mask[mask] = list(islice(left, int(mask.sum())))
            masks.append(mask)
        return replace(self, kept=tuple(masks))

    def vote_columns(self) -> VoteColumns:
        """Return every vote, as far as measures need it."""
        found = []
        for number in self.numbers:
            votes = VoteColumns.of_table(self.columns(number, OF_VOTES))
            found.append(votes if self.kept is None else votes.only(self.kept[number]))
        return VoteColumns.joined(found)

    def schema(self, *, verdicts: bool = True) -> pyarrow.Schema:
        """Return the columns of a file that holds all parts, with or without the columns of verdicts."""
        return schema_of(self.files.paths, verdicts=verdicts)

    def __len__(self) -> int:
        return sum(self.files.cells) if self.kept is None else sum(int(each.sum()) for each in self.kept)


Stored = InMemory | OnDisk


def in_memory(cells: Iterable[Cell]) -> InMemory:
    """Hold these votes."""
    return InMemory(tuple(cells))
