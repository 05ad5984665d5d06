"""How a table of texts fits a width, without a number cut or wrapped.

What gives way, in this order: heads and texts wrap; names are shortened in the middle, with a legend; columns go into
further tables, which repeat what names a row; and where a number has no room beside a name, each row becomes a list.
A number wider than the terminal still stands whole on its line.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from rich.cells import cell_len
from rich.console import Console

UNBOUND_WIDTH = 120
"""Of lines that go to no terminal, where ``COLUMNS`` says nothing."""

PAIR = " – "
"""Between two names in one cell, each of which is shortened for itself."""

_LEAST_WIDTH: Final = 20
_GAP: Final = 3  # between two columns
_EDGES: Final = 2
_TEXT: Final = 20  # so narrow a text may be wrapped, and no narrower
_HEAD: Final = 12  # so narrow a word of a head may be folded
_NAME_IN_ONE_TABLE: Final = 20  # shorter names than this, and the columns part first
_NAME_IN_PARTS: Final = 14  # shorter names than this, and there are more tables
_SHORTEST_NAME: Final = 8
_ENDS: Final = (0.4, 0.2, 0.6)  # shares of a shortened name that are its end, tried until no two names look the same

_NUMBER: Final = r"[-+−]?\$?(?:\d[\d,]*(?:\.\d+)?|∞)"
_PHRASE: Final = (
    rf"(?<![\w.:/-])(?:p [<>=] |[<>≥≤] ?)?{_NUMBER}(?:–{_NUMBER})?(?: ?%)?(?: ± {_NUMBER})?"
    rf"(?: \[[<>]?{_NUMBER}, [<>]?{_NUMBER}\])?"
)
"""As ``numbers.py`` writes a number: with its sign, its unit, its spread and its interval."""
_UNBROKEN: Final = re.compile(rf"{_PHRASE}|\d[\d,.]*")
_BEGINS_AS_NUMBER: Final = re.compile(rf"\s*(?:{_PHRASE}|–(?: |$)|$)(?!.{{60}})")
_IS_NUMBER: Final = re.compile(rf"\s*(?:(?:{_PHRASE})(?: ?/ ?)?|–)*\s*")
_LONGEST_PHRASE: Final = 200


def terminal_width() -> int:
    """``COLUMNS`` where it is a number above 0; else that of the terminal, and 120 where there is none.

    A width below 20 counts as 20: there is no layout for less.
    """
    given = os.environ.get("COLUMNS", "").strip()
    if given.isdecimal() and int(given):
        return max(int(given), _LEAST_WIDTH)
    shown = Console(force_jupyter=False)
    return max(shown.width, _LEAST_WIDTH) if shown.is_terminal else UNBOUND_WIDTH


def wrapped(text: str, width: int) -> list[str]:
    """Its lines of at most so many cells: broken at spaces, else after a sign, else within a word, never in a number.

    >>> wrapped("The spread is 0.40 [0.31, 0.52], in claude-opus-4", 24)
    ['The spread is', '0.40 [0.31, 0.52], in', 'claude-opus-4']
    """
    lines = []
    for line in text.split("\n"):
        rest = line
        while (fits := _prefix(rest, width)) < len(rest) and (cut := _cut(rest, fits)) < len(rest):
            lines.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip()
        lines.append(rest)
    return lines


def _cut(line: str, fits: int) -> int:
    """Where a line is broken of which so many signs fit."""
    window = line[: fits + _LONGEST_PHRASE]
    whole = {place for found in _UNBROKEN.finditer(window) for place in range(found.start() + 1, found.end())}
    for allowed in (_after_space, _after_sign, _within_word):
        for place in range(fits, 0, -1):
            if place not in whole and allowed(line, place):
                return place
    return next((place for place in range(fits + 1, len(window)) if place not in whole), len(line))


def _after_space(line: str, place: int) -> bool:
    return line[place] == " " and bool(line[:place].strip())


def _after_sign(line: str, place: int) -> bool:
    return line[place - 1] in "-_/.:,;=" and line[place] != " "


def _within_word(line: str, place: int) -> bool:
    return cell_len(line[place]) > 0 and line[place - 1] != "\u200d" and bool(line[:place].strip())


def _prefix(text: str, width: int) -> int:
    """How many signs fit."""
    used = 0
    for place, sign in enumerate(text):
        used += cell_len(sign)
        if used > width:
            return place
    return len(text)


def _narrowest(text: str, least: int) -> int:
    """The least width to which a text is wrapped: that of its longest word, of which longer ones may be folded."""
    word = max(map(cell_len, text.split()), default=0)
    return max(map(cell_len, wrapped(text, min(max(word, 1), least))))


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name that is longer than so many cells -> its beginning and end, unlike every other name.

    A name that is a number stays as it is.

    >>> shortened(["claude-opus-4-20250514", "gpt-4o"], 14)
    {'claude-opus-4-20250514': 'claude-o…50514'}
    """
    known = list(dict.fromkeys(names))
    long = [name for name in known if cell_len(name) > width and not _IS_NUMBER.fullmatch(name)]
    for end in _ENDS:
        found = {name: _middle_left_out(name, width, end) for name in long}
        if len({*known, *found.values()}) == len(known) + len(long):
            return found
    taken, numbers = set(known), defaultdict[str, Iterator[int]](lambda: count(1))
    for name in long:
        alike = numbers[_middle_left_out(name, width, _ENDS[0])]
        shorts = (_middle_left_out(name, width, _ENDS[0], f"…{number}…") for number in alike)
        found[name] = next(short for short in shorts if short not in taken)
        taken.add(found[name])
    return found


def _middle_left_out(name: str, width: int, end: float, sign: str = "…") -> str:
    room = max(width - cell_len(sign), 2)
    last = max(int(room * end), 1)
    backwards = name[::-1]
    return name[: _prefix(name, room - last)] + sign + backwards[: _prefix(backwards, last)][::-1]


@dataclass(frozen=True, slots=True)
class _FittedColumn:
    """What a column needs.

    Attributes:
        header: Above it.
        cells: In it.
        names: Whether its cells are names, which are shortened and do not wrap.
        widest: The width at which nothing wraps.
        narrowest: The width below which it cannot go while names are whole.
    """

    header: str
    cells: tuple[str, ...]
    names: bool
    widest: int = field(init=False)
    narrowest: int = field(init=False)

    def __post_init__(self) -> None:
        head = _narrowest(self.header, _HEAD)
        cells = max(map(cell_len, self.cells), default=0)
        folded = max((cell_len(line) for cell in self.cells for line in self.lines(cell, _TEXT)), default=0)
        object.__setattr__(self, "widest", max(cells, *map(cell_len, self.header.split("\n"))))
        object.__setattr__(self, "narrowest", max(head, folded))

    def lines(self, cell: str, width: int) -> list[str]:
        """A cell at a width: of what is a number, or a name, there is one line."""
        return [cell] if self.names or _BEGINS_AS_NUMBER.match(cell) else wrapped(cell, width)


@dataclass(frozen=True, slots=True)
class Part:
    """Some columns of a table, as wide as they will be.

    Attributes:
        widths: Of each column.
        headers: Of each column, with its lines.
        rows: Cells with their lines.
    """

    widths: tuple[int, ...]
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        """Of the whole."""
        return _needed(self.widths)


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table as it fits.

    Attributes:
        parts: The columns, side by side; none where each row is a list.
        lists: A list of lines for each row, where no table fits.
        legend: Name -> what it was shortened to.
    """

    parts: tuple[Part, ...]
    lists: tuple[tuple[str, ...], ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)


def fit(headers: Sequence[str], rows: Sequence[Sequence[str]], naming: int, width: int) -> FittedTable:
    """The layout of a table in so many cells.

    Args:
        headers: One a column.
        rows: As wide as the headers.
        naming: How many columns name a row: these are repeated, and their names shortened.
        width: Of the terminal.
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(headers)
    columns = [
        _FittedColumn(header, tuple(own), place < naming and _are_names(own))
        for place, (header, own) in enumerate(zip(headers, cells, strict=True))
    ]
    names, values = columns[:naming], columns[naming:]
    if _needed(each.narrowest for each in columns) <= width:
        return FittedTable((_part(columns, width),))
    known = [name for column in names if column.names for cell in column.cells for name in cell.split(PAIR)]
    longest = max(map(cell_len, known), default=0)

    def shown(limit: int) -> list[_FittedColumn]:
        legend = shortened(known, limit)
        return [_with_short_names(each, legend) if each.names else each for each in names]

    def parts(limit: int) -> list[list[_FittedColumn]]:
        return _parted(shown(limit), values, width)

    limit = _greatest(lambda limit: len(parts(limit)) == 1, _NAME_IN_ONE_TABLE, longest)
    if limit is None:
        fewest = len(parts(_NAME_IN_PARTS)) or len(parts(_SHORTEST_NAME))
        limit = _greatest(lambda limit: 0 < len(parts(limit)) <= fewest, _SHORTEST_NAME, max(longest, _SHORTEST_NAME))
    if limit is not None and (fitting := parts(limit)):
        return FittedTable(tuple(_part(some, width) for some in fitting), legend=shortened(known, limit))
    return FittedTable((), tuple(tuple(_list(headers, row, naming, width)) for row in rows))


def _are_names(cells: Iterable[str]) -> bool:
    """Whether they are names, each of one word, or pairs of these."""
    return not any(" " in cell.replace(PAIR, "") for cell in cells)


def _needed(widths: Iterable[int]) -> int:
    widths = list(widths)
    return sum(widths) + _GAP * (len(widths) - 1) + _EDGES


def _greatest(fits: Callable[[int], bool], least: int, most: int) -> int | None:
    """The greatest number between both that fits, where all that are less than one that fits do so too."""
    place = bisect_left(range(least, most + 1), True, key=lambda number: not fits(number))
    return least + place - 1 if place else None


def _with_short_names(column: _FittedColumn, legend: Mapping[str, str]) -> _FittedColumn:
    return replace(column, cells=tuple(_short(cell, legend) for cell in column.cells))


def _short(cell: str, legend: Mapping[str, str]) -> str:
    return PAIR.join(legend.get(name, name) for name in cell.split(PAIR))


def _parted(names: Sequence[_FittedColumn], values: Sequence[_FittedColumn], width: int) -> list[list[_FittedColumn]]:
    """As many columns a table as fit beside the names, in their order; nothing where one does not."""
    parts = [[*names]]
    for value in values:
        if len(parts[-1]) > len(names) and _needed(each.narrowest for each in (*parts[-1], value)) > width:
            parts.append([*names])
        parts[-1].append(value)
    return parts if all(_needed(each.narrowest for each in part) <= width for part in parts) else []


def _part(columns: Sequence[_FittedColumn], width: int) -> Part:
    """The columns as wide as there is room: the widest give way first."""
    widest = max(each.widest for each in columns)
    widths = [each.widest for each in columns]
    while _needed(widths) > width and widest:
        widest -= 1
        widths = [min(each.widest, max(each.narrowest, widest)) for each in columns]
    headers = tuple("\n".join(wrapped(each.header, own)) for each, own in zip(columns, widths, strict=True))
    cells = [
        ["\n".join(each.lines(cell, own)) for cell in each.cells] for each, own in zip(columns, widths, strict=True)
    ]
    widths = [
        max(cell_len(line) for text in (header, *own) for line in text.split("\n"))
        for header, own in zip(headers, cells, strict=True)
    ]
    return Part(tuple(widths), headers, tuple(zip(*cells, strict=True)))


def _list(headers: Sequence[str], row: Sequence[str], naming: int, width: int) -> Iterator[str]:
    """What names the row, and beneath it a line for each column."""
    if naming:
        yield from wrapped(", ".join(filter(None, row[:naming])), width)
    for header, cell in zip(headers[naming:], row[naming:], strict=True):
        head = "  " + header.replace("\n", " ") + ":"
        if cell_len(head) + 1 + cell_len(cell) <= width:
            yield f"{head} {cell}"
        else:
            yield from ("  " + line for line in wrapped(head.strip(), width - 2))
            lines = [cell] if _BEGINS_AS_NUMBER.match(cell) else wrapped(cell, width - 4)
            yield from ("    " + line for line in lines)
