"""A result that lies on disk in parts: a folder of ``part-000000.parquet`` and so on, each a saved result of some rows.

What the parts say of a run is joined here: how many rows there are, their ids and groups, and what was shown of each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

from evenhand.data.rows import KINDS, SavedKind
from evenhand.errors import InvalidInputError
from evenhand.files import expanded
from evenhand.results.made_by import DIGITS, NOTHING, digest
from evenhand.results.notes import LIMITS
from evenhand.results.saved import PART, header_of

if TYPE_CHECKING:
    import pyarrow

OF_ROWS: Final = frozenset({"n", "ids", "groups", "fingerprint", "evenhand_version", *LIMITS})
"""The parameters that differ from part to part."""

_OF_RUN: Final = ("evenhand", "about", "systems", "criteria", "criterion", "rubric")
"""What headers say of the run beside its parameters; the rest is what a part came to."""

OWN_LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "checklist": {"checklists": "checklist"},
    "mode_results": {"criteria": "criterion"},
}
"""Kind of result -> lists of headers that may differ from part to part, and the columns that count their entries."""


class JoinedColumn(Sequence[Any]):
    """A value for each row of all parts, held as Arrow holds it: a million ids take little more than their letters."""

    def __init__(self, parts: Iterable[Sequence[Any]]) -> None:
        """Join the values of the parts, in their order."""
        import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

        self._values: pyarrow.ChunkedArray = pyarrow.chunked_array([pyarrow.array(list(each)) for each in parts])

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, row: int) -> Any: ...  # noqa: ANN401 - as the data have it
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...

    def __getitem__(self, row: int | slice) -> Any:
        return self._values[row].to_pylist() if isinstance(row, slice) else self._values[row].as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.to_pylist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as a list

    def twice(self) -> tuple[int, int] | None:
        """The places of two equal values; None where there are none."""
        import pyarrow.compute  # noqa: PLC0415 - as above

        if pyarrow.compute.count_distinct(self._values).as_py() == len(self):
            return None
        known: dict[Any, int] = {}
        pairs = ((known.setdefault(value, place), place) for place, value in enumerate(self))
        return next((pair for pair in pairs if pair[0] != pair[1]), None)


def listed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with lists in the place of joined columns, as files have them."""
    return {
        name: listed(value) if isinstance(value, Mapping) else list(value) if isinstance(value, JoinedColumn) else value
        for name, value in parameters.items()
    }


class Parts(Sequence[Path]):
    """The files of a result on disk, and what they say together.

    Attributes:
        folder: Where they lie.
    """

    def __init__(self, folder: str | Path) -> None:
        """Find the parts of a folder.

        Raises:
            InvalidInputError: If it holds none.
        """
        self.folder = expanded(folder).absolute()
        self._files = tuple(sorted(self.folder.glob(PART)))
        if not self._files:
            raise InvalidInputError(
                f"the folder {str(self.folder)!r} holds no parts of a result ({PART}), as stream_to writes them; give "
                "such a folder, or the file of a saved result"
            )

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, number: int) -> Path: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Path, ...]: ...

    def __getitem__(self, number: int | slice) -> Path | tuple[Path, ...]:
        return self._files[number]

    @cached_property
    def kind(self) -> SavedKind:
        """What the parts hold.

        Raises:
            InvalidInputError: If the first is no saved result.
        """
        return KINDS[header_of(self._files[0])["evenhand"]]

    @property
    def sizes(self) -> Sequence[int]:
        """How many rows of the data each part is about."""
        return self._said[1]

    @property
    def cells(self) -> Sequence[int]:
        """How many cells each part has."""
        return self._said[2]

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first row of each part."""
        return tuple(accumulate(self.sizes[:-1], initial=0))

    def headers(self) -> Iterator[dict[str, Any]]:
        """What each part says before its votes.

        Raises:
            InvalidInputError: A part that cannot be read, or is no saved result.
        """
        return map(header_of, self._files)

    @property
    def header(self) -> dict[str, Any]:
        """What they say together.

        Raises:
            InvalidInputError: Parts of two runs.
        """
        return self._said[0]

    @cached_property
    def _said(self) -> tuple[dict[str, Any], list[int], list[int]]:
        """What they say together, and how many rows and cells each has; all are read once."""
        first: dict[str, Any] = {}
        of_rows: list[dict[str, Any]] = []
        lists: dict[str, list[Any]] = {}
        cells = []
        for path, header in zip(self._files, self.headers(), strict=True):
            own = OWN_LISTS.get(header["evenhand"], {}).keys() & header.keys()
            said: dict[str, Any] = {name: header[name] for name in _OF_RUN if name in header and name not in own}
            said["parameters"] = {name: each for name, each in header["parameters"].items() if name not in OF_ROWS}
            if not first:
                first = {**said, "run": header.get("run")}
            self._check_same(first, said, path)
            for name in own:
                lists[name] = _united(lists.get(name, []), header[name])
            cells.append(header["rows"])
            of_rows.append({name: each for name, each in header["parameters"].items() if name in OF_ROWS})
        parameters = {**joined(of_rows), **first["parameters"]}
        self._check_ids(parameters.get("ids"), of_rows)
        whole = {**first, **lists, "rows": sum(cells), "parameters": parameters}
        return whole, [each["n"] for each in of_rows], cells

    def _check_same(self, first: Mapping[str, Any], said: Mapping[str, Any], path: Path) -> None:
        for name, value in said.items():
            if first[name] != value:
                other = name
                if name == "parameters":
                    other = next(each for each in {**value, **first[name]} if value.get(each) != first[name].get(each))
                raise InvalidInputError(
                    f"{str(path)!r} is of another run than {str(self._files[0])!r}: they differ in {other!r}; a folder "
                    "holds the parts of one run"
                )

    def _check_ids(self, ids: JoinedColumn | None, of_rows: Sequence[Mapping[str, Any]]) -> None:
        """Check that no row is counted twice, as where a part was copied."""
        twice = None if ids is None else ids.twice()
        if ids is None or twice is None:
            return
        ends = list(accumulate(each["n"] for each in of_rows))
        one, other = (str(self._files[bisect_right(ends, place)]) for place in twice)
        raise InvalidInputError(
            f"the row {ids[twice[0]]!r} is in {one!r} and in {other!r}, and would count twice: move one of the two "
            "elsewhere"
        )


def _united(known: list[Any], own: list[Any]) -> list[Any]:
    """A list with the entries of another that it lacks."""
    if known == own:
        return known
    names = {digest(each): each for each in (*known, *own)}
    return list(names.values())


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters of parts that are about their rows, for all rows."""
    first = parts[0]
    found = {**first, "n": sum(each["n"] for each in parts)}
    if "ids" in first:
        found["ids"] = JoinedColumn(each["ids"] for each in parts)
    if "groups" in first:
        found["groups"] = {name: JoinedColumn(each["groups"][name] for each in parts) for name in first["groups"]}
    if "fingerprint" in first:
        found["fingerprint"] = _joined_fingerprint(parts)
    return found


def _joined_fingerprint(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Digits for the judges and prompts, and those of each row one after the other."""
    prints = [each.get("fingerprint", {}) for each in parts]
    shown = dict.fromkeys(name for each in prints for name in each.get("shown", {}))
    said = {name: dict.fromkeys(each[name] for each in prints if name in each) for name in ("judge", "prompts")}
    digits = {name: next(iter(found)) if len(found) == 1 else digest(*found) for name, found in said.items() if found}
    return {
        **digits,
        "shown": {
            name: "".join(
                own.get("shown", {}).get(name, "").ljust(part["n"] * DIGITS, NOTHING[0])
                for own, part in zip(prints, parts, strict=True)
            )
            for name in shown
        },
    }
