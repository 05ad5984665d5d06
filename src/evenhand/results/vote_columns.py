"""Votes as a table with one row per vote: in memory, as a Parquet file, and as a folder of such parts.

pandas, DuckDB and ``datasets`` read the table. Each field of a vote is declared once (:data:`FIELDS`). Measures are
made of its columns (:class:`VoteColumns`, :class:`VerdictColumns`), which are the same in memory and from a file: a
missing number is NaN, a missing code is -1. A table of all votes is made in parts, to save memory. Prompts, the
greatest part of what votes hold, stay in the file that was read until they are asked for.

A part is a saved result of some rows of a run, ``part-000000.parquet`` and so on, whose votes carry the index that
their row has in the whole run (:class:`OnDisk`). pyarrow opens no part before the types of its columns are checked,
which a data set of pyarrow's would not do.
"""

from __future__ import annotations

import json
import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import accumulate, chain, compress, groupby, islice, repeat
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple, Self, get_args

import numpy as np
import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError
from pydantic_core import from_json

from evenhand.data.plain import as_json, briefly
from evenhand.data.rows import PARQUET_HEADER, bounded_table, parquet_file
from evenhand.errors import EvenhandError, EvenhandWarning, InvalidInputError
from evenhand.files import check_growth, check_layout, expanded, open_file, read_bytes, written_whole
from evenhand.numbers import format_count
from evenhand.results.made_by import DIGITS, LIMITS, NOTHING, digest
from evenhand.votes import (
    WITHHELD,
    Completion,
    Match,
    MatchKind,
    Prompts,
    TokenLogprob,
    UnscoredReason,
    Usage,
    Verdict,
    Vote,
    without_lone_surrogates,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

CELL: Final = "cell"
"""The column that numbers the cells; their own columns come before it."""

PROMPTS: Final = "prompts"
"""The column of what was sent: stage -> messages, as JSON."""

TEXTS: Final = ("assessment", "summary", "reply", "reasoning", "reply_logprobs", "error")
"""The columns of votes that no score needs, and that hold the most."""

PLACES: Final = ("instance", "checklist", "criterion", "question", "item")
"""The columns of what a cell is about that may count from 0."""

CELLS_IN_A_PART: Final = 4096
"""Cells, or rows of a file, that become a table at once, to save memory."""

_completion = lru_cache(maxsize=64)(Completion)  # the votes of a sheet share one


class Cell(NamedTuple):
    """The votes on one question.

    Attributes:
        about: The subject of the question: instance, system, criterion and the like, as plain values.
        votes: The votes; empty if nothing could be asked.
    """

    about: dict[str, Any]
    votes: tuple[Vote, ...]


@dataclass(frozen=True, slots=True)
class VoteField:
    """A field of a vote, or of a part of a vote, as a column.

    Attributes:
        name: The name of the column.
        type: The type of its values, as Arrow names it; ``[]`` behind it makes lists.
        path: Where the vote holds it, such as ``completion.text``; by default the vote's field of this name.
        write: The function that makes the column's value of one that is not None, where they differ.
        read: The function that makes the field of the column's value, where they differ.
    """

    name: str
    type: str
    path: str = ""
    write: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None

    def values(self, votes: Iterable[Vote | None]) -> list[Any]:
        """Return the column of some votes; None stands for no vote."""
        held: Iterable[Any] = votes
        for name in (self.path or self.name).split("."):
            held = [None if each is None else getattr(each, name) for each in held]
        return [None if each is None else self.write(each) for each in held] if self.write else list(held)


SHOWN: Final = (
    VoteField("judge_id", "string"),
    VoteField("order", "int32[]", write=list, read=tuple),
    VoteField("sample", "int64"),
    VoteField("selected_index", "int64"),
    VoteField("selected_label", "string"),
    VoteField("value", "float64"),
    VoteField("na", "bool"),
    VoteField("probabilities", "float64[]", write=list, read=tuple),
    VoteField("assessment", "string"),
    VoteField("summary", "string"),
    VoteField("unscored_reason", "string"),
    VoteField("error", "string"),
    VoteField("weight", "float64"),
    VoteField("reasks", "int64"),
    VoteField("match_kind", "string", "match.kind"),
    VoteField("reply", "string", "completion.text"),
    VoteField("finish_reason", "string", "completion.finish_reason", read=intern),
    VoteField("calls", "int64", "usage.calls"),
    VoteField("prompt_tokens", "int64", "usage.prompt_tokens"),
    VoteField("completion_tokens", "int64", "usage.completion_tokens"),
    VoteField("cost", "float64", "usage.cost"),
    VoteField("draws_planned", "int64"),
)
"""The columns that records show."""

FIELDS: Final = (
    *SHOWN,
    VoteField("model", "string", "completion.model", read=intern),
    VoteField("reasoning", "string", "completion.reasoning"),
    VoteField("cached_calls", "int64", "usage.cached"),
    VoteField("requests", "int64", "usage.requests"),
    VoteField("lost_requests", "int64", "usage.lost"),
    VoteField("unreported_replies", "int64", "usage.unreported"),
    VoteField("cost_at_risk", "float64", "usage.at_risk"),
    VoteField("cached_tokens", "int64", "usage.cached_tokens"),
    VoteField("replied", "bool"),
    VoteField("reply_prompt_tokens", "int64", "completion.prompt_tokens"),
    VoteField("reply_completion_tokens", "int64", "completion.completion_tokens"),
    VoteField("reply_cached_tokens", "int64", "completion.cached_tokens"),
    VoteField("reply_cost", "float64", "completion.cost"),
    VoteField("reply_cached", "bool", "completion.cached"),
    VoteField(
        "reply_logprobs",
        "string",
        "completion.logprobs",
        lambda logprobs: json.dumps([each.model_dump() for each in logprobs]),
        lambda written: tuple(map(TokenLogprob.model_validate, json.loads(written))),
    ),
    VoteField("match_index", "int64", "match.index"),
    VoteField("match_reason", "string", "match.reason"),
    VoteField(PROMPTS, "string", write=lambda prompts: prompts.as_json().decode()),
)
"""All that a vote consists of."""

PREFIX: Final = "verdict_"
"""The prefix of the names of the columns with a cell's verdict."""

_OF_VERDICTS: Final = {
    **dict.fromkeys(("score", "agreement", "spread", "lowest_score", "highest_score", "covered_mass"), "float64"),
    **dict.fromkeys(("na", "position_consistent"), "bool"),
    "unscored_reason": "string",
}
"""What measures need of verdicts -> the type of its column."""

_VERDICTS: Final = {
    **_OF_VERDICTS,
    **dict.fromkeys(("selected_option", "assessment", "rubric_unscored_reason"), "string"),
    "rubric_score": "float64",
}
"""All that a file says of verdicts -> the type of its column."""

_TYPES: Final = {
    name: pyarrow.list_(pyarrow.type_for_alias(kind[:-2])) if kind.endswith("[]") else pyarrow.type_for_alias(kind)
    for name, kind in [
        (CELL, "int64"),
        *((PREFIX + name, kind) for name, kind in _VERDICTS.items()),
        *((field.name, field.type) for field in FIELDS),
    ]
}
"""Column -> its type, which one without any value would not show."""

_COLUMNS: Final = {field.name: field for field in FIELDS}
_READ_FROM: Final = [(field.name, *(field.path or field.name).rpartition(".")[::2], field.read) for field in FIELDS]
"""Name, part of the vote, field there, and reader of each column."""


def vote_rows(votes: Iterable[Vote]) -> list[dict[str, Any]]:
    """Return a flat row for each vote.

    The fields of :class:`~evenhand.votes.Vote` have their names; of its reply there are ``reply``, ``finish_reason``
    and ``model``; ``calls``, ``prompt_tokens``, ``completion_tokens`` and ``cost`` are those of all its calls.
    """
    votes, names = list(votes), [field.name for field in SHOWN]
    columns = [field.values(votes) for field in SHOWN]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _vote_of(row: dict[str, Any], prompts: Prompts | None) -> Vote:
    """Return the vote of a row, which may lack the columns :data:`TEXTS`."""
    if row.get("reply") == row.get("assessment"):
        row["reply"] = row.get("assessment")  # held once
    parts: dict[str, dict[str, Any]] = {"": {}, "usage": {}, "completion": {}, "match": {}}
    for column, part, name, read in _READ_FROM:
        value = row.get(column)
        parts[part][name] = value if value is None or read is None else read(value)
    vote, replied = parts[""], parts[""].pop("replied")
    vote |= {PROMPTS: prompts, "usage": Usage(**parts["usage"]), "match": row["match_kind"] and Match(**parts["match"])}
    return Vote(**vote, completion=_completion(**parts["completion"]) if replied and "reasoning" in row else None)


def votes_tables(cells: Iterable[Cell], schema: pyarrow.Schema | None = None) -> Iterator[pyarrow.Table]:
    """Yield one row per vote, with its subject, in parts of whole cells; a cell without votes has one row of nulls.

    Args:
        cells: The votes.
        schema: The columns, where they are known; then no more cells are held than a part has.
    """
    if schema is None:
        cells = list(cells)
        schema = _schema_of(cells)
    left, first = iter(cells), 0
    while (held := list(islice(left, CELLS_IN_A_PART))) or not first:
        yield votes_table(held, schema, first)
        first += len(held) or 1


def votes_table(cells: Sequence[Cell], schema: pyarrow.Schema, first: int = 0) -> pyarrow.Table:
    """Return the table of cells that are numbered from ``first`` on, built column by column."""
    cast = [vote for cell in cells for vote in cell.votes or (None,)]
    places = pyarrow.array((place for place, cell in enumerate(cells) for _ in cell.votes or (None,)), pyarrow.int64())
    distinct = {id(vote): vote for vote in cast}  # equal recorded votes are one value
    if len(distinct) < len(cast):
        number = {key: place for place, key in enumerate(distinct)}
        numbers = pyarrow.array((number[id(vote)] for vote in cast), pyarrow.int64())
    columns = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name == CELL:
            columns.append(pc.add(places, first))
        elif (field := _COLUMNS.get(name)) is not None:
            column = pyarrow.array(field.values(distinct.values()), type=kind)
            columns.append(column if len(distinct) == len(cast) else column.take(numbers))
        else:
            column = pyarrow.array(_held([cell.about for cell in cells], name), type=kind)
            columns.append(column if len(cast) == len(cells) else column.take(places))
    return pyarrow.Table.from_arrays(columns, schema=schema)


def _schema_of(cells: Sequence[Cell]) -> pyarrow.Schema:
    """Return the columns of all cells: their own, their number, and those of verdicts and votes."""
    abouts = [cell.about for cell in cells]
    own = dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, abouts))))  # cells mostly have the same names
    names = [*sorted([*own, CELL], key=lambda name: name.startswith(PREFIX)), *_COLUMNS]
    types = {name: _TYPES.get(name) or pyarrow.array(_held(abouts, name)).type for name in names}
    return pyarrow.schema(types.items())


def _held(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Return the values of rows under a name, as a file can hold them."""
    return [_sound(row.get(name)) for row in rows]


def _sound(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_sound(each) for each in value]
    return without_lone_surrogates(value) if isinstance(value, str) else value


class PromptsOfFile:
    """The prompts in a Parquet file: compressed, each part read when it is needed."""

    def __init__(self, file: pyarrow.parquet.ParquetFile, path: Path, size: int) -> None:
        self._file = file
        self._path = path
        self._size = size
        parts = [file.metadata.row_group(part).num_rows for part in range(file.metadata.num_row_groups)]
        self._firsts = list(accumulate(parts, initial=0))
        self._read: tuple[int, pyarrow.ChunkedArray] | None = None

    def text(self, row: int) -> str | None:
        """Return the prompts of a row as JSON; None if none were kept."""
        part = bisect_right(self._firsts, row) - 1
        if self._read is None or self._read[0] != part:
            with reading(self._path):
                held = bounded_table(self._file, self._size, [PROMPTS], group=part)
            self._read = part, held.column(PROMPTS)
        text: str | None = self._read[1][row - self._firsts[part]].as_py()
        return text

    def __iter__(self) -> Iterator[Prompts | None]:
        """Give the prompts of each row; none is read if a part says how many it lacks."""
        column = [each.path for each in self._file.schema].index(PROMPTS)
        for part, first in enumerate(self._firsts[:-1]):
            rows = range(first, self._firsts[part + 1])
            statistics = self._file.metadata.row_group(part).column(column).statistics
            lacking = statistics.null_count if statistics is not None and statistics.has_null_count else None
            for row in rows:
                kept = lacking == 0 or (lacking != len(rows) and self.text(row) is not None)
                yield SavedPrompts(self, row) if kept else None


class SavedPrompts(Prompts):
    """The prompts of a row of a file."""

    __slots__ = ("_file", "_row")

    def __init__(self, file: PromptsOfFile, row: int) -> None:
        self._file, self._row = file, row

    def as_json(self) -> bytes:
        """Return the plain mapping as JSON."""
        return str(self._file.text(self._row)).encode()


def check_votes(table: pyarrow.Table, about: Iterable[str]) -> None:
    """Check that a table's columns are what :func:`votes_tables` writes.

    Raises:
        ValueError: If one is missing, of another type, or holds what none of ours does.
    """
    missing = {CELL, *about} - set(table.column_names)
    if missing:
        raise ValueError(f"it has no column {min(missing)!r}")
    for name, column in zip(table.column_names, table.columns, strict=True):
        wanted = pyarrow.int64() if name == "instance" else _TYPES.get(name, column.type)
        if column.type not in (wanted, pyarrow.null()):
            raise ValueError(f"its column {name!r} is of the type {column.type}, and not {wanted}")
        counts = pyarrow.types.is_integer(column.type) and (name in _TYPES or name in PLACES)
        if counts and (pc.min(column).as_py() or 0) < 0:
            raise ValueError(f"its column {name!r} holds a number below 0")
        is_float = name in _COLUMNS and pyarrow.types.is_floating(column.type)
        if is_float and pc.any(pc.invert(pc.is_finite(column))).as_py():
            raise ValueError(f"its column {name!r} holds a number that is not finite")
    steps = pc.pairwise_diff(table.column(CELL).combine_chunks())
    if len(table) and (table.column(CELL)[0].as_py() != 0 or not {*pc.unique(steps).to_pylist()} <= {None, 0, 1}):
        raise ValueError(f"its column {CELL!r} does not count the rows")


def first_rows(table: pyarrow.Table) -> pyarrow.Table:
    """Return the first row of each cell."""
    firsts = np.flatnonzero(np.diff(table.column(CELL).to_numpy(), prepend=-1))
    return table if len(firsts) == len(table) else table.take(firsts)


def cells_of(table: pyarrow.Table, prompts: Iterable[Prompts | None]) -> Iterator[Cell]:
    """Return the cells of a table that :func:`votes_table` made, with the prompts of each row."""
    own = table.column_names[: table.column_names.index(CELL)]
    rows = (row for batch in table.to_batches(max_chunksize=CELLS_IN_A_PART) for row in batch.to_pylist())
    for _, grouped in groupby(zip(rows, prompts, strict=True), key=lambda each: each[0][CELL]):
        held = list(grouped)
        votes = tuple(_vote_of(row, sent) for row, sent in held if row["judge_id"] is not None)
        about = {name: intern(value) if isinstance(value := held[0][0][name], str) else value for name in own}
        yield Cell(about, votes)


REASONS: Final[tuple[UnscoredReason, ...]] = get_args(UnscoredReason)
KINDS: Final[tuple[MatchKind, ...]] = get_args(MatchKind)
_NO_REPLY: Final = WITHHELD | {"engine_error", "not_asked"}
_WITHOUT_REPLY: Final = np.array([*(reason in _NO_REPLY for reason in REASONS), False])  # the last is that of -1
_USAGE: Final = {field.path[6:]: field.name for field in FIELDS if field.path[:6] == "usage." and field.type == "int64"}
"""Field of :class:`~evenhand.votes.Usage` -> its column."""
_SENT: Final = [place for place, name in enumerate(_USAGE) if name in {"requests", "cached"}]
_NUMBERS: Final = ("na", "reasks", "cost_at_risk", *_USAGE.values())
_DRAWS: Final = ("sample", "draws_planned")

OF_VOTES: Final = ("judge_id", "selected_index", "unscored_reason", "match_kind", "cost", *_NUMBERS, *_DRAWS)
"""The columns that say of votes what measures need."""

ROWS: Final = ("instance", "cluster", *(PREFIX + name for name in ("score", "selected_option", "na")))
"""The columns that say of the row of a verdict what measures need."""

_OF_VOTES_ALONE: Final = pyarrow.schema([(name, _TYPES[name]) for name in (CELL, *OF_VOTES)])
_OF_VERDICTS_AND_VOTES: Final = pyarrow.schema(
    [*_OF_VOTES_ALONE, *((PREFIX + name, _TYPES[PREFIX + name]) for name in _OF_VERDICTS)]
)
_NAMED: Final = ("system", "criterion", "cluster", f"{PREFIX}selected_option")
OF_JUDGEMENTS: Final = pyarrow.schema(
    [("instance", pyarrow.int64()), *((name, pyarrow.string()) for name in _NAMED), *_OF_VERDICTS_AND_VOTES]
)
"""The columns that say of judgements what measures need."""


def plain_verdict(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as records show it."""
    return {
        "selected_option": verdict.selected_label,
        "score": verdict.aggregated_value,
        "position_consistent": verdict.position_consistent,
        "agreement": verdict.agreement,
        "spread": verdict.spread,
        "na": verdict.na,
        "unscored_reason": verdict.unscored_reason,
        "assessment": verdict.assessment,
    }


def verdict_columns(
    verdict: Verdict, covered_mass: float | None, record: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the columns of a verdict, and what else its record says.

    Args:
        verdict: The verdict.
        covered_mass: The probability behind its expected value; None for the score of an option selected.
        record: What its record says; by default :func:`plain_verdict`.
    """
    low, high = verdict.bounds or (None, None)
    bounds = {"lowest_score": low, "highest_score": high, "covered_mass": covered_mass}
    return {PREFIX + name: value for name, value in {**(record or plain_verdict(verdict)), **bounds}.items()}


def numbers_of(column: pyarrow.ChunkedArray) -> FloatArray:
    """Return the numbers or truth values of a column, NaN if there is none."""
    found: FloatArray = column.cast("float64").to_numpy()
    return found


def codes_of(column: pyarrow.ChunkedArray, names: Sequence[str]) -> IntArray:
    """Return the place of each text of a column among names; -1 if there is none."""
    places = pc.index_in(column.cast("string"), value_set=pyarrow.array(names, type=pyarrow.string()))
    return np.asarray(pc.fill_null(places, -1).to_numpy(), dtype=np.int16)


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays with a row per vote or question, and columns inside them."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the questions of all, one after the other."""
        held: dict[str, Any] = {each.name: [getattr(part, each.name) for part in parts] for each in fields(cls)}
        return cls(
            **{
                name: np.concatenate(own) if isinstance(own[0], np.ndarray) else type(own[0]).joined(own)
                for name, own in held.items()
            }
        )


@dataclass(frozen=True, slots=True)
class VoteColumns(Columns):
    """The votes on ``n`` questions, question by question; shape (n_votes,) each but for ``sizes``.

    Attributes:
        sizes: Shape (n,): the number of votes on each question.
        selected: Whether an option was selected.
        answered: Whether it selects an option or says NA; one that does neither is unscored.
        asked: Whether it was asked for: not where nothing was recorded.
        reason: Why nothing was selected: a place in :data:`REASONS`.
        kind: The way in which the selection was read: a place in :data:`KINDS`.
        always: Whether the vote is cast for any outcome of the others; see :func:`~evenhand.votes.unselected_draws`.
        reasks: The number of times that the judge was asked again.
        replied: Whether there was a reply, of those cast in any case.
        sent: Whether the engine was one that sends something, or its journal answered.
        usage: The usage of the calls, shape (n_votes, 8): the counts of :class:`~evenhand.votes.Usage`.
        cost: The cost in US dollars.
        at_risk: US dollars at most that lost requests cost, and unreported replies beyond their cost.
    """

    sizes: IntArray
    selected: BoolArray
    answered: BoolArray
    asked: BoolArray
    reason: IntArray
    kind: IntArray
    always: BoolArray
    reasks: IntArray
    replied: BoolArray
    sent: BoolArray
    usage: IntArray
    cost: FloatArray
    at_risk: FloatArray

    @classmethod
    def of(cls, votes: Sequence[Sequence[Vote]]) -> Self:
        """Return the columns of the votes on each question."""
        return cls.of_table(votes_table([Cell({}, tuple(own)) for own in votes], _OF_VOTES_ALONE))

    @classmethod
    def of_table(cls, table: pyarrow.Table) -> Self:
        """Return the columns of a table with the columns :data:`OF_VOTES`."""
        cells = table.column(CELL).to_numpy()
        judged = table.column("judge_id")
        cast = table.filter(pc.is_valid(judged)) if judged.null_count else table
        numbers = {name: np.nan_to_num(numbers_of(cast.column(name))) for name in _NUMBERS}
        selected = cast.column("selected_index").is_valid().to_numpy()
        reason = codes_of(cast.column("unscored_reason"), REASONS)
        sample, planned = (numbers_of(cast.column(name)) for name in _DRAWS)
        always = np.isnan(planned) | (sample % planned < np.clip(planned - 1, 1, 2))
        counted = np.stack([numbers[name] for name in _USAGE.values()], axis=1)
        kind: type[np.integer[Any]] = np.int32 if counted.max(initial=0) < 2**31 else np.int64
        usage: IntArray = counted.astype(kind)
        return cls(
            sizes=np.bincount(cast.column(CELL).to_numpy(), minlength=int(cells.max(initial=-1)) + 1),
            selected=selected,
            answered=selected | (numbers["na"] > 0),
            asked=reason != REASONS.index("not_asked"),
            reason=reason,
            kind=codes_of(cast.column("match_kind"), KINDS),
            always=always,
            reasks=numbers["reasks"].astype(np.int32),
            replied=always & ~_WITHOUT_REPLY[reason],
            sent=usage[:, _SENT].max(axis=1) > 0,
            usage=usage,
            cost=numbers_of(cast.column("cost")),
            at_risk=numbers["cost_at_risk"],
        )

    @property
    def question(self) -> IntArray:
        """Shape (n_votes,): the number of the question, from 0, in ascending order."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def only(self, questions: BoolArray) -> Self:
        """Return the columns of some of the questions.

        Args:
            questions: Shape (n,): which.
        """
        columns = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "sizes"}
        kept = np.repeat(questions, self.sizes)
        return replace(self, sizes=self.sizes[questions], **{name: own[kept] for name, own in columns.items()})

    def per_question(self, counted: ArrayLike) -> FloatArray:
        """Return the sum over the votes on each question, shape (n,)."""
        weights = np.asarray(counted, dtype=float)
        return np.bincount(self.question, weights=weights, minlength=len(self.sizes)).astype(float)

    def replies(self) -> FloatArray:
        """Return, per question, the replies that named an option, and all replies; each re-ask follows a reply."""
        named, asked = self.replied & self.selected, self.replied * (1 + self.reasks)
        return np.stack([self.per_question(named), self.per_question(asked)], axis=1)

    def readings(self) -> Mapping[MatchKind, int]:
        """Count the forms in which selections of votes were read: kind -> votes.

        ``exact`` and ``normalized``: the option was the whole reply; ``near``: a misspelling of it was; ``json``,
        ``tag`` and ``line``: see :func:`~evenhand.parsing.match_closest_option`. Votes without a selection, and
        recorded ones, were not read and are not counted; without any vote that was, the result is empty.
        """
        read = self.kind[self.always & self.selected & (self.kind >= 0)]
        counts = np.bincount(read, minlength=len(KINDS)).tolist()
        named: dict[MatchKind, int] = {kind: n for kind, n in zip(KINDS, counts, strict=True) if kind != "none"}
        return MappingProxyType(named if len(read) else {})

    def used(self, chosen: BoolArray | None = None) -> Usage:
        """Return the usage of the calls of some votes, of all by default; sums ignore the order of the votes."""
        chosen = np.ones(len(self.asked), dtype=bool) if chosen is None else chosen
        costs = self.cost[chosen & ~np.isnan(self.cost)]
        sums = self.usage[chosen].sum(axis=0, dtype=np.int64).tolist()
        return Usage(
            **dict(zip(_USAGE, sums, strict=True)),
            cost=math.fsum(costs) if len(costs) else None,
            at_risk=math.fsum(self.at_risk[chosen]),
        )


@dataclass(frozen=True, slots=True)
class VerdictColumns(Columns):
    """Verdicts, one per row; shape (n,) each. See :class:`~evenhand.votes.Verdict`.

    Attributes:
        score: The ``aggregated_value`` of the verdict.
        na: Whether the question does not apply.
        reason: Why nothing was selected: a place in :data:`REASONS`.
        bounds: The bounds of the verdict, shape (n, 2).
        agreement: The agreement of its votes.
        spread: The spread of its draws.
        position_consistent: 1 or 0.
        covered_mass: The probability behind its expected value.
        votes: All votes; the questions are the verdicts.
    """

    score: FloatArray
    na: BoolArray
    reason: IntArray
    bounds: FloatArray
    agreement: FloatArray
    spread: FloatArray
    position_consistent: FloatArray
    covered_mass: FloatArray
    votes: VoteColumns

    @classmethod
    def of(cls, verdicts: Sequence[Verdict], covered_masses: Sequence[float | None] = ()) -> Self:
        """Return the columns of verdicts with all their votes.

        Args:
            verdicts: The verdicts.
            covered_masses: One per verdict; empty for scores of the options selected.
        """
        masses = covered_masses or [None] * len(verdicts)
        cells = [Cell(verdict_columns(*each), each[0].votes) for each in zip(verdicts, masses, strict=True)]
        return cls.of_table(votes_table(cells, _OF_VERDICTS_AND_VOTES))

    @classmethod
    def of_table(cls, table: pyarrow.Table) -> Self:
        """Return the columns of a table that has those of verdicts and votes."""
        rows = first_rows(table)
        numbers = {name: numbers_of(rows[PREFIX + name]) for name, kind in _OF_VERDICTS.items() if kind != "string"}
        return cls(
            na=numbers.pop("na") > 0,
            reason=codes_of(rows[f"{PREFIX}unscored_reason"], REASONS),
            bounds=np.stack([numbers.pop("lowest_score"), numbers.pop("highest_score")], axis=1),
            votes=VoteColumns.of_table(table),
            **numbers,
        )

    def only(self, rows: BoolArray) -> Self:
        """Return the columns of some verdicts.

        Args:
            rows: Shape (n,): which.
        """
        columns = {field.name: getattr(self, field.name)[rows] for field in fields(self) if field.name != "votes"}
        return replace(self, **columns, votes=self.votes.only(rows))

    def limits(self, ranges: FloatArray) -> FloatArray:
        """Return shape (n, 2): the least and the greatest score of each verdict if every vote had been scored.

        NaN if all judges answered that the criterion does not apply, or its options have no values.

        Args:
            ranges: Shape (n, 2): the `~evenhand.criteria.Criterion.limits` of the criteria.
        """
        values = np.stack([self.score, self.score], axis=1)
        known = np.where(np.isnan(values), ranges, values)
        known[self.na] = np.nan
        return np.where(np.isnan(self.bounds), known, self.bounds)


PART: Final = "part-*.parquet"
"""The names of the parts of a result that lies in a folder, in their order."""

LAYOUT: Final = 2
MOST_RESAMPLES: Final = 10**6
ALWAYS_HELD: Final = 10**6
"""Rows that a file may have, however small it is; beyond, no more than it has bytes."""
VOTE_BYTES: Final = 2000
"""The size of a vote in memory."""
SHOWN_CHARACTERS: Final = 300


def write(path: str | Path, header: Mapping[str, Any], cells: Iterable[Cell], schema: pyarrow.Schema | None) -> None:
    """Write a result as Parquet with a row per vote.

    Args:
        path: Ends in ``.parquet``.
        header: The kind, the number of questions, the criteria and the parameters, as plain JSON: the metadata
            ``evenhand`` of a Parquet file.
        cells: The votes.
        schema: The columns, if the cells are not to be held.

    Raises:
        UnwritableFileError: If it cannot be written.
    """
    tables = votes_tables(cells, schema)
    table = next(tables)
    about = table.column_names[: table.column_names.index(CELL)]
    head = {"evenhand": header["evenhand"], "layout": LAYOUT, "rows": header["rows"], "about": about}
    written = without_lone_surrogates(as_json({**head, **header}))
    schema = table.schema.with_metadata({PARQUET_HEADER: written.encode()})
    with (
        written_whole(path) as temporary,
        pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as writer,
    ):
        for part in chain([table], tables):
            writer.write_table(part)


class _Parameters(BaseModel):
    """The parameters in a header that decide how much is computed or held."""

    model_config = ConfigDict(extra="allow", strict=True)

    n: NonNegativeInt | None = None
    ids: list[str] | None = None
    groups: dict[str, list[JsonValue]] = Field(default_factory=dict)
    fingerprint: dict[str, JsonValue] = Field(default_factory=dict)
    resamples: Annotated[int, Field(ge=0, le=MOST_RESAMPLES)] = 0


class _Header(BaseModel):
    """A header; the tables that are made of it check its other fields."""

    model_config = ConfigDict(extra="allow", strict=True)

    rows: NonNegativeInt
    first: NonNegativeInt = 0
    about: list[str]
    parameters: _Parameters


FAULTS: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError)
"""The errors of Python, pyarrow and pydantic about a file that is not valid."""


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Turn every fault of a file of others into one error with its name.

    Raises:
        InvalidInputError: If the file cannot be read, or does not hold what it promises.
    """
    name = repr(str(path))
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{name} cannot be read ({error.strerror or error})") from error
    except EvenhandError as error:
        if str(path) in str(error):
            raise
        raise InvalidInputError(f"{name} cannot be used: {error}") from error
    except FAULTS as error:
        wrong = error.errors(include_url=False, include_input=False)[:3] if isinstance(error, ValidationError) else ()
        reason = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
        reason = " ".join((reason or f"{type(error).__name__}: {error}").split())[:SHOWN_CHARACTERS]
        raise InvalidInputError(
            f"{name} is not a saved result, or not a whole one ({reason}); save it again"
        ) from error


def read(path: str | Path, *, texts: bool = True) -> tuple[dict[str, Any], list[Cell]]:
    """Read the header and the votes of a saved result, whose rows are numbered from 0.

    Args:
        path: The file.
        texts: Read reasons, replies and prompts too, which no score needs.

    Raises:
        InvalidInputError: If the file cannot be read, is not a saved result, or is not whole.
    """
    path = expanded(path)
    header = header_of(path)
    with reading(path):
        data = read_bytes(path, None)
        file = parquet_file(pyarrow.BufferReader(data), path, texts_once=True)
        check_growth(len(data), VOTE_BYTES * file.metadata.num_rows)
        left_out = {"id", PROMPTS} if texts else {"id", PROMPTS, *TEXTS}
        names = [name for name in file.schema_arrow.names if name not in left_out and not name.startswith(PREFIX)]
        table = _checked_table(file, len(data), names, header)
        prompts = PromptsOfFile(file, path, len(data)) if texts else repeat(None, len(table))
        cells = list(cells_of(table, prompts)) if len(table) else []
        if header["rows"] != len(cells):
            raise ValueError(f"it has {len(cells)} of {header['rows']} rows")
    return header, cells


def read_columns(path: str | Path, names: Collection[str], header: Mapping[str, Any]) -> pyarrow.Table:
    """Read those of the columns that a saved result has, and the number of the cell of each row.

    Args:
        path: The file.
        names: The names of the columns.
        header: The number of its first row (``first``), which is subtracted from ``instance``, and the names of the
            columns that must be there (``about``).

    Raises:
        InvalidInputError: If it cannot be read.
    """
    path = expanded(path)
    with reading(path), open_file(path) as opened:
        file = parquet_file(opened, path, texts_once=True)
        return _checked_table(file, path.stat().st_size, {CELL, *names}, header)


def _checked_table(
    file: pyarrow.parquet.ParquetFile, size: int, names: Collection[str], header: Mapping[str, Any]
) -> pyarrow.Table:
    """Read columns, with rows numbered from 0."""
    table = bounded_table(file, size, names)
    check_votes(table, [name for name in header.get("about", ()) if name != "id"])
    if header.get("first") and "instance" in table.column_names:
        rows = pc.subtract(table["instance"], header["first"])
        if (pc.min(rows).as_py() or 0) < 0:
            raise ValueError("an index is below 0")
        table = table.set_column(table.column_names.index("instance"), "instance", rows)
    return table


def header_of(path: str | Path) -> dict[str, Any]:
    """Read the header of a saved result.

    Raises:
        InvalidInputError: If it cannot be read, or holds no result.
    """
    header = header_if_saved(path)
    if header is None:
        raise InvalidInputError(
            f"{str(expanded(path))!r} is not a saved result of evenhand, or not a whole one: "
            "results.save('results.parquet') writes one; JSON lines are an export, which is not read again"
        )
    return header


def header_if_saved(path: str | Path) -> dict[str, Any] | None:
    """Return the header of a saved result; None if the file holds something else.

    Raises:
        InvalidInputError: If it cannot be read, or its header is not one that is written here.
    """
    path = expanded(path)
    with reading(path):
        if path.is_dir():
            path = min(path.glob(PART), default=path)
        with open_file(path) as file:
            if file.read(4) != b"PAR1":
                return None
            text = (parquet_file(file, path).schema_arrow.metadata or {}).get(PARQUET_HEADER)
        try:
            header = None if text is None else from_json(text, allow_inf_nan=False)
        except ValueError:
            return None
        if not isinstance(header, dict) or str(header.get("evenhand")) not in RESULT_KINDS:
            return None
        check_layout(path, "a saved result", header.get("layout"), LAYOUT)
        checked = _Header.model_validate(header)
        size = path.stat().st_size
        if max(checked.rows, checked.parameters.n or 0) > max(ALWAYS_HELD, size):
            raise ValueError(f"a file of {size} bytes does not hold the rows that its header counts")
        return dict(header)


OF_ROWS: Final = frozenset({"n", "ids", "groups", "fingerprint", "evenhand_version", *LIMITS})
"""The parameters that differ from part to part."""

RESULT_KINDS: Final[Mapping[str, str]] = {
    "judgements": "judgements",
    "winrates": "contests",
    "checklist": "checked responses",
    "grade_scores": "graded instances",
    "mode_results": "results of a mode",
    "aggregated_votes": "aggregated votes",
    "agreement": "the agreement of raters",
}
"""Kind of a saved result in its header -> what it holds, for messages."""

_JUDGED: Final = ("systems", "criteria", "criterion", "rubric", "checklists")
"""The keys of headers that say what was judged."""

_OWN_LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "checklist": {"checklists": "checklist"},
    "mode_results": {"criteria": "criterion"},
}
"""Kind of result -> lists of headers that may differ from part to part, and the columns that count their entries."""


def run_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the headers of all parts of a run have in common: what was judged and how, by name."""
    found = header["parameters"]
    by_row = found.get("checklist_field") or found.get("rubric_field")
    own = _OWN_LISTS.get(header["evenhand"], {}) if by_row else {}
    common = {
        "kind of result": header["evenhand"],
        **{name: header[name] for name in _JUDGED if name in header and name not in own},
        **{name: value for name, value in found.items() if name not in {*OF_ROWS, "grid", "flow"}},
        **found.get("grid", {}),
        **found.get("flow", {}),
    }
    return {name: value for name, value in common.items() if name != "include_prompts_in_result"}


def difference_of(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """Say what differs between two runs, as :func:`run_of` describes them; None if nothing does."""
    for name in {**here, **there}:
        if there.get(name) != here.get(name):
            return f"{name} is {briefly(there.get(name))} there and {briefly(here.get(name))} here"
    return None


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

    def only(self, stays: Sequence[bool]) -> Self:
        """Return the votes of some of the cells."""
        return replace(self, held=tuple(compress(self.held, stays)))

    def vote_columns(self) -> VoteColumns:
        """Return every vote, as far as measures need it."""
        return VoteColumns.of([cell.votes for cell in self.held])

    def schema(self) -> None:
        """None: the columns are known when the cells are written."""

    def __len__(self) -> int:
        return len(self.held)


@dataclass(frozen=True)
class OnDisk:
    """Votes in the parts of a folder, in the order of their rows. A walk holds one part at a time.

    Attributes:
        files: The path of each part that has cells; how far its rows are from their numbers in the result, since a part
            of the run may be missing; and which of its cells are left.
        header: Their common header.
    """

    files: tuple[tuple[Path, int, BoolArray], ...]
    header: Mapping[str, Any]

    @classmethod
    def of(cls, folder: str | Path) -> Self:
        """Read the headers of the parts in a folder.

        Args:
            folder: The folder of the files.

        Raises:
            InvalidInputError: If it holds no parts, parts of two runs, or a file that is not a saved result.
        """
        folder = expanded(folder).absolute()
        found = [(path, header_of(path)) for path in sorted(folder.glob(PART))]
        if not found:
            raise InvalidInputError(
                f"the folder {str(folder)!r} holds no parts of a result ({PART}), as stream_to writes them; give such "
                "a folder, or the file of a saved result"
            )
        found.sort(key=lambda each: each[1].get("first", 0))
        paths, headers = zip(*found, strict=True)
        first, lists = headers[0], {}
        for path, header in found:
            if difference := difference_of(run_of(first), run_of(header)):
                raise InvalidInputError(
                    f"{str(path)!r} is of another run than {str(paths[0])!r}: {difference}; a folder holds the "
                    "parts of one run"
                )
        for name in _OWN_LISTS.get(first["evenhand"], {}).keys() & first.keys():
            lists[name] = list({digest(each): each for header in headers for each in header[name]}.values())
        parameters = {**first["parameters"], **joined([header["parameters"] for header in headers])}
        ids = Counter(parameters.get("ids", ()))
        if len(ids) < ids.total():
            twice = ids.most_common(1)[0][0]
            places = [repr(str(path)) for path, header in found if twice in header["parameters"]["ids"]]
            raise InvalidInputError(
                f"the row {twice!r} is in {' and in '.join(places)}, and would count twice: move one of them elsewhere"
            )
        firsts = accumulate((header["parameters"]["n"] for header in headers), initial=0)
        files = tuple(
            (path, header.get("first", 0) - number, np.ones(header["rows"], dtype=bool))
            for (path, header), number in zip(found, firsts, strict=False)
        )
        if (missing := files[-1][1]) > 0:
            warnings.warn(
                f"{str(folder)!r} lacks parts with {format_count(missing, 'row')} of the run, and no score includes "
                "them: the same run again judges them",
                EvenhandWarning,
                stacklevel=2,
            )
        whole = {**first, **lists, "rows": sum(header["rows"] for header in headers), "parameters": parameters}
        return cls(files, whole)

    def parts(self, *, texts: bool = True) -> Iterator[InMemory]:
        """Give the votes part by part, with rows numbered as in the whole run.

        Args:
            texts: Read reasons and replies, which no score needs.

        Raises:
            InvalidInputError: If a part cannot be read.
        """
        for path, shift, kept in self.files:
            header, cells = read(path, texts=texts)
            further, found = header.get("first", 0) - shift, []
            for about, votes in compress(cells, kept):
                placed = {**about, "instance": about["instance"] + further}
                found.append(Cell({**placed, **self._numbers(header, about)}, votes))
            yield InMemory(tuple(found))

    def _numbers(self, header: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers in the whole run of what a part counts by itself, such as checklists of its rows."""
        return {
            column: self.header[name].index(header[name][about[column]])
            for name, column in _OWN_LISTS.get(self.header["evenhand"], {}).items()
            if column in about and header.get(name) != self.header.get(name)
        }

    def cells(self, *, texts: bool = True) -> Iterator[Cell]:
        """Give the votes on each question."""
        for part in self.parts(texts=texts):
            yield from part.held

    def abouts(self) -> Iterator[dict[str, Any]]:
        """Give what each cell is about; no vote is read."""
        names = [name for name in self.header["about"] if name != "id"]
        counts = self.header["evenhand"] in _OWN_LISTS
        for (path, _, _), table in zip(self.files, self.tables(names), strict=True):
            header = header_of(path) if counts else {}
            with reading(path):
                abouts = first_rows(table).drop_columns([CELL]).to_pylist()
            yield from ({**about, **self._numbers(header, about)} for about in abouts) if counts else abouts

    def only(self, stays: Sequence[bool]) -> Self:
        """Return the votes of some of the cells.

        Args:
            stays: For each of :meth:`abouts`, whether it stays.
        """
        left, files = iter(stays), []
        for path, shift, kept in self.files:
            mask = kept.copy()
            mask[kept] = list(islice(left, int(kept.sum())))
            files += [(path, shift, mask)] if mask.any() else []
        return replace(self, files=tuple(files))

    def tables(self, names: Collection[str]) -> Iterator[pyarrow.Table]:
        """Give columns of the cells that are left, part by part, with rows numbered as in the whole run.

        Raises:
            InvalidInputError: If a part cannot be read, or lacks a column.
        """
        for path, shift, kept in self.files:
            table = read_columns(path, names, {"first": shift, "about": names})
            with reading(path):
                cells = table[CELL].to_numpy()
                if (found := int(cells.max(initial=-1)) + 1) != len(kept):
                    raise ValueError(f"it has {found} of {len(kept)} rows")
                left, place = pyarrow.array(kept[cells]), table.column_names.index(CELL)
                table = table.set_column(place, CELL, pyarrow.array((np.cumsum(kept) - 1)[cells])).filter(left)
            yield table

    def vote_columns(self) -> VoteColumns:
        """Return every vote, as far as measures need it."""
        return VoteColumns.joined([VoteColumns.of_table(table) for table in self.tables(OF_VOTES)])

    def schema(self) -> pyarrow.Schema:
        """Return the columns of a file that holds all parts."""
        schemas = []
        for path, _, _ in self.files:
            with reading(path), open_file(path) as file:
                schemas.append(parquet_file(file, path).schema_arrow.remove_metadata())
        return pyarrow.unify_schemas(schemas)

    def __len__(self) -> int:
        return sum(int(kept.sum()) for _, _, kept in self.files)


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the parameters of parts that describe their rows, for all rows."""
    first = parts[0]
    found: dict[str, Any] = {"n": sum(each["n"] for each in parts)}
    if "ids" in first:
        found["ids"] = [name for each in parts for name in each["ids"]]
    if "groups" in first:
        found["groups"] = {name: [own for each in parts for own in each["groups"][name]] for name in first["groups"]}
    if "fingerprint" in first:
        prints = [each.get("fingerprint", {}) for each in parts]
        digits = {name: dict.fromkeys(each[name] for each in prints if name in each) for name in ("judge", "prompts")}
        found["fingerprint"] = {
            **{name: next(iter(own)) if len(own) == 1 else digest(*own) for name, own in digits.items() if own},
            "shown": {
                name: "".join(
                    own.get("shown", {}).get(name, "").ljust(part["n"] * DIGITS, NOTHING[0])
                    for own, part in zip(prints, parts, strict=True)
                )
                for name in dict.fromkeys(name for each in prints for name in each.get("shown", {}))
            },
        }
    return found


Stored = InMemory | OnDisk
