"""The rows of a stream with ids of their own: by a column, or by what they hold; and the blocks that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.data.fields import row_id, text_of
from evenhand.data.rows import IdentifiedRows, Row, RowBatch
from evenhand.errors import InvalidInputError

DIGITS: Final = 16
"""Of what a row holds, by which it is known again."""

MOST_SIGNS: Final = 64_000_000
"""So many signs of text a block may hold, however many rows it has."""


class IdentifiedRow(NamedTuple):
    """A row of a stream; of data with a row a response, all rows of a prompt.

    Attributes:
        id: Its own: no other row of the stream has it.
        content: Digits for all that it holds.
        signs: How long it is as a text.
        rows: As they are judged.
        name: What messages call it.
    """

    id: str
    content: str
    signs: int
    rows: tuple[Row, ...]
    name: str


class RowStream:
    """The rows of a stream, each with its id, of which no other row may have the same.

    A row without ``id_field`` is named by what it holds; of rows that hold the same, the second has ``-2`` behind its
    name, and so on.
    """

    def __init__(self, batches: Iterable[RowBatch], id_field: str | None, *, together: bool = False) -> None:
        """Read the rows of batches.

        Args:
            batches: The rows.
            id_field: The column that names each.
            together: Rows of one id that follow one another belong together.
        """
        self._batches, self._id_field, self._together = batches, id_field, together
        self._known, self._copies = DigestSet(), Counter[str]()

    def __iter__(self) -> Iterator[IdentifiedRow]:
        """The rows with their ids.

        Raises:
            InvalidInputError: A row without an id, or with that of another row.
        """
        for own in self._chunks():
            digests = as_digests(each.id for each in own)
            seen = self._known.has(digests)
            within: set[str] = set()
            for each, twice in zip(own, seen, strict=True):
                again = bool(twice) or each.id in within
                within.add(each.id)
                yield self._told_apart(each) if again else each
            self._known.add(digests[~seen])

    def _chunks(self) -> Iterator[list[IdentifiedRow]]:
        """Rows, some at a time; those that belong together are not parted."""
        if not self._together:
            yield from ([self._read(row, place, batch) for place, row in enumerate(batch)] for batch in self._batches)
            return
        single = (self._read(row, place, batch) for batch in self._batches for place, row in enumerate(batch))
        for name, own in groupby(single, key=lambda each: each.id):
            rows = list(own)
            content = _digits("".join(each.content for each in rows))[:DIGITS]
            signs = sum(each.signs for each in rows)
            yield [IdentifiedRow(name, content, signs, tuple(each.rows[0] for each in rows), rows[0].name)]

    def _read(self, row: Row, place: int, batch: RowBatch) -> IdentifiedRow:
        text = _text_of(dict(sorted(row.items(), key=lambda cell: str(cell[0]))))
        content = _digits(text)
        name = content if self._id_field is None else self._named(row, place, batch)
        return IdentifiedRow(name, content[:DIGITS], len(text), (row,), batch.name(place))

    def _named(self, row: Row, place: int, batch: RowBatch) -> str:
        try:
            return row_id(row, str(self._id_field), place)
        except InvalidInputError as error:
            raise InvalidInputError(f"{batch.name(place)}: {error}") from error

    def _told_apart(self, row: IdentifiedRow) -> IdentifiedRow:
        """A row whose id another row has had."""
        if self._id_field is not None:
            apart = "; rows of one prompt must follow one another: sort them by it" if self._together else ""
            raise InvalidInputError(
                f"{row.name} has the id {row.id!r} in {self._id_field!r}, which id_field names, and an earlier row has "
                f"it too: every row needs an id of its own{apart}"
            )
        self._copies[row.id] += 1
        return row._replace(id=f"{row.id}-{1 + self._copies[row.id]}")


def _text_of(row: Row) -> str:
    """All that a row holds, as a text; what has none, as a picture, no judge reads."""
    try:
        return text_of(row)
    except InvalidInputError:
        return text_of({name: _text_if_any(value) for name, value in row.items()})


def _text_if_any(value: object) -> str:
    try:
        return text_of(value)
    except InvalidInputError:
        return type(value).__name__


def _digits(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def blocks(rows: Iterable[IdentifiedRow], most: int) -> Iterator[list[IdentifiedRow]]:
    """Rows that are judged together: so many, or fewer where they are long."""
    held: list[IdentifiedRow] = []
    signs = 0
    for row in rows:
        if held and (len(held) == most or signs + row.signs > MOST_SIGNS):
            yield held
            held, signs = [], 0
        held.append(row)
        signs += row.signs
    if held:
        yield held


def as_rows(block: Sequence[IdentifiedRow], id_field: str | None) -> IdentifiedRows:
    """The rows of a block as they are judged."""
    rows = (row for each in block for row in each.rows)
    return IdentifiedRows(rows, (each.id for each in block), "".join(each.content for each in block), id_field)


Digests = NDArray[np.bytes_]


def as_digests(names: Iterable[str]) -> Digests:
    """Sixteen bytes for each name."""
    return np.array([blake2b(name.encode(), digest_size=16).digest() for name in names], dtype="S16")


class DigestSet:
    """Names that are known, by sixteen bytes each: sorted runs, of which each is longer than the next."""

    def __init__(self) -> None:
        self._runs: list[Digests] = []

    def has(self, digests: Digests) -> NDArray[np.bool_]:
        """Which of these are known."""
        found = np.zeros(len(digests), dtype=bool)
        for run in self._runs:
            found |= run[np.minimum(np.searchsorted(run, digests), len(run) - 1)] == digests
        return found

    def add(self, digests: Digests) -> None:
        """Know these too."""
        run = np.unique(digests)
        while self._runs and len(self._runs[-1]) <= len(run):
            run = np.unique(np.concatenate([self._runs.pop(), run]))
        if len(run):
            self._runs.append(run)


class KnownRows:
    """Rows that parts hold: what each held when it was judged, and the part that has it with votes that are missing.

    Attributes:
        numbers: Of the parts.
        rows: Number of a part -> the indices of its rows in the whole run.
        left: Number of a part -> how many of its rows are to be judged again.
        votes: How many votes there are on the other rows.
        met: How many of the rows were asked for.
    """

    def __init__(self, parts: Iterable[tuple[int, Sequence[str], Sequence[str], frozenset[str], int, int]]) -> None:
        """Know the rows of parts.

        Args:
            parts: Of each its number, the ids and contents of its rows, the ids of those not judged, how many votes
                there are on the others, and the index of its first row in the whole run.
        """
        digests, contents, open_in = [as_digests(())], [np.zeros(0, "S16")], [np.zeros(0, np.int64)]
        self.numbers: list[int] = []
        self.left: dict[int, int] = {}
        self.rows: dict[int, range] = {}
        self.votes = 0
        for number, ids, held, not_judged, votes, first in parts:
            self.votes += votes
            self.rows[number] = range(first, first + len(ids))
            self.numbers.append(number)
            digests.append(as_digests(ids))
            contents.append(np.array([each.encode() for each in held], dtype="S16"))
            open_in.append(np.array([number if each in not_judged else -1 for each in ids], dtype=np.int64))
            if not_judged:
                self.left[number] = len(not_judged)
        joined = np.concatenate(digests)
        order = np.argsort(joined)
        self._digests, self._contents = joined[order], np.concatenate(contents)[order]
        self._open_in = np.concatenate(open_in)[order]
        self.met = 0

    def __len__(self) -> int:
        return len(self._digests)

    def places(self, block: Sequence[IdentifiedRow]) -> list[int | None]:
        """Of each row, the number of the part in which it is to be judged again, -1 where it was judged; else None.

        Raises:
            InvalidInputError: A row that held something else when it was judged.
        """
        if not len(self):
            return [None] * len(block)
        digests = as_digests(each.id for each in block)
        place = np.minimum(np.searchsorted(self._digests, digests), len(self) - 1)
        known = self._digests[place] == digests
        self.met += int(known.sum())
        found: list[int | None] = []
        for row, at, is_known in zip(block, place, known, strict=True):
            if is_known and self._contents[at].decode() != row.content:
                raise InvalidInputError(
                    f"{row.name} has the id {row.id!r}, and holds something else than the row of this id that was "
                    "judged: give these data a folder of their own, or each row an id of its own"
                )
            found.append(int(self._open_in[at]) if is_known else None)
        return found
