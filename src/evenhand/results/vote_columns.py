"""Votes as columns: one flat row per vote, which pandas, DuckDB and ``datasets`` read, and back.

Each field of a vote is declared once (:data:`FIELDS`). Measures are made of the columns (:class:`VoteColumns`,
:class:`VerdictColumns`), which are the same in memory and from a file: a missing number is NaN, a missing code is -1.
A table of all votes is made in parts, to save memory. Prompts, the greatest part of what votes hold, stay in the file
that was read until they are asked for.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import accumulate, chain, groupby
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, get_args

import numpy as np
import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import ArrayLike, NDArray

from evenhand.data.rows import bounded_table
from evenhand.errors import InvalidInputError, did_you_mean
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
)

if TYPE_CHECKING:
    from pathlib import Path

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

CELL: Final = "cell"
"""The column that numbers the cells; their own columns come before it."""

PROMPTS: Final = "prompts"
"""The column of what was sent: stage -> messages, as JSON."""

TEXTS: Final = ("assessment", "summary", "reply", "reasoning", "reply_logprobs", "error", "verdict_assessment")
"""The columns that no score needs, and that hold the most."""

PLACES: Final = ("instance", "checklist", "criterion", "question", "item")
"""The columns of what a cell is about that may count from 0."""

LONG: Final = ("prompts", "reasoning", "logprobs")
"""The fields of votes that may be left out of a file: they are long, and no score needs them."""

VOTES_IN_A_PART = 4096

_completion = lru_cache(maxsize=64)(Completion)  # the votes of a sheet share one


class Cell(NamedTuple):
    """The votes on one question.

    Attributes:
        about: The subject of the question: instance, system, criterion and the like, as plain values.
        votes: The votes; None if nothing could be asked.
        verdict: The verdict, as plain values, for readers of files; evenhand computes it again.
    """

    about: dict[str, Any]
    votes: tuple[Vote, ...]
    verdict: Mapping[str, Any] | None = None

    def telling(self, record: Mapping[str, Any]) -> Cell:
        """Return the cell with its verdict: the columns of a record that do not say what it was about."""
        return self._replace(verdict={name: value for name, value in record.items() if name not in self.about})

    def moved(self, first: int) -> Cell:
        """Return the cell of the row that comes ``first`` rows later."""
        return self._replace(about={**self.about, "instance": self.about["instance"] + first}) if first else self

    def without(self, left_out: Collection[str]) -> Cell:
        """Return the cell with votes that lack the given fields: see :data:`LONG`."""
        if not left_out:
            return self
        no_prompts: dict[str, Any] = {"prompts": None} if "prompts" in left_out else {}
        gone = {name: None for name in ("reasoning", "logprobs") if name in left_out}
        votes = []
        for vote in self.votes:
            completion = {} if vote.completion is None else {"completion": vote.completion.model_copy(update=gone)}
            votes.append(vote.model_copy(update={**no_prompts, **completion}))
        return self._replace(votes=tuple(votes))


def check_left_out(names: Collection[str]) -> None:
    """Check what is to be left out of a file.

    Raises:
        InvalidInputError: If it is something else than one of :data:`LONG`.
    """
    if isinstance(names, str):
        raise InvalidInputError(
            f"leave_out is {names!r}; give a list, such as [{names!r}]. {did_you_mean(names, LONG)}"
        )
    for name in names:
        if name not in LONG:
            raise InvalidInputError(f"leave_out names {name!r}. {did_you_mean(name, LONG)}")


def plain_vote(vote: Vote) -> dict[str, Any]:
    """Return the voter, vote and draw of a row, as the readers of recorded votes take them."""
    return {
        "judge": vote.judge_id,
        "sample": vote.sample,
        "vote": vote.selected_label,
        "unscored_reason": vote.unscored_reason,
    }


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


def _read_prompts(written: str) -> Prompts:
    return Prompts(json.loads(written))


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
    VoteField(PROMPTS, "string", write=lambda prompts: prompts.as_json().decode(), read=_read_prompts),
)
"""All that a vote consists of."""

PREFIX: Final = "verdict_"
"""Before the names of the columns that tell of a cell's verdict."""

FOR_MEASURES: Final = ("draw_variance", "lowest_score", "highest_score", "covered_mass")
"""Numbers of a verdict that measures need, and that neither records nor votes have."""

_VERDICT_TYPES: Final = {
    **dict.fromkeys(("score", "agreement", "spread", *FOR_MEASURES), "float64"),
    **dict.fromkeys(("na", "position_consistent"), "bool"),
    **dict.fromkeys(("unscored_reason", "selected_option", "assessment"), "string"),
}
_TYPES: Final = {
    name: pyarrow.list_(pyarrow.type_for_alias(kind[:-2])) if kind.endswith("[]") else pyarrow.type_for_alias(kind)
    for name, kind in {
        CELL: "int64",
        **{field.name: field.type for field in FIELDS},
        **{PREFIX + name: kind for name, kind in _VERDICT_TYPES.items()},
    }.items()
}
"""Column -> its type, which one without any value would not show."""

_COLUMNS: Final = {field.name: field for field in FIELDS}
_PLACES: Final = [(field.name, *(field.path or field.name).rpartition(".")[::2], field.read) for field in FIELDS]
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
    for column, part, name, read in _PLACES:
        value = row.get(column)
        parts[part][name] = value if value is None or read is None else read(value)
    vote, replied = parts[""], parts[""].pop("replied")
    vote |= {PROMPTS: prompts, "usage": Usage(**parts["usage"]), "match": row["match_kind"] and Match(**parts["match"])}
    return Vote(**vote, completion=_completion(**parts["completion"]) if replied and "reasoning" in row else None)


def votes_table(cells: Iterable[Cell], schema: pyarrow.Schema | None = None) -> pyarrow.Table:
    """Return one row per vote, with its subject; a cell without votes has one row in which they are null."""
    return pyarrow.concat_tables(votes_tables(cells, schema))


def votes_tables(cells: Iterable[Cell], schema: pyarrow.Schema | None = None) -> Iterator[pyarrow.Table]:
    """Yield the same in parts, each of whole cells.

    Args:
        cells: The votes.
        schema: The columns, where they are known; then no more cells are held than a part has.
    """
    if schema is None:
        cells = list(cells)
        schema = _schema_of(cells)
    held: list[Cell] = []
    number = votes = 0
    for cell in cells:
        held.append(cell)
        votes += len(cell.votes) or 1
        if votes >= VOTES_IN_A_PART:
            yield _table(held, schema, number)
            number += len(held)
            held, votes = [], 0
    if held or not number:
        yield _table(held, schema, number)


def _table(cells: Sequence[Cell], schema: pyarrow.Schema, first: int = 0) -> pyarrow.Table:
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
            rows = [cell.verdict or {} if name.startswith(PREFIX) else cell.about for cell in cells]
            held = [row.get(name.removeprefix(PREFIX)) for row in rows]
            column = pyarrow.array(held, type=kind)
            columns.append(column if len(cast) == len(cells) else column.take(places))
    return pyarrow.Table.from_arrays(columns, schema=schema)


def _schema_of(cells: Sequence[Cell]) -> pyarrow.Schema:
    """Return the columns of all cells: their own, their number, their verdicts, and those of votes."""
    verdicts = [cell.verdict or {} for cell in cells]
    abouts = [cell.about for cell in cells]
    own: dict[str, Sequence[Any]] = {name: [about.get(name) for about in abouts] for name in _names(abouts)}
    own |= {CELL: ()}
    own |= {PREFIX + name: [each.get(name) for each in verdicts] for name in _names(verdicts)}
    own |= dict.fromkeys(_COLUMNS, ())
    return pyarrow.schema(
        (name, _TYPES[name] if name in _TYPES else pyarrow.array(values).type) for name, values in own.items()
    )


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of all rows, which are mostly the same ones."""
    return list(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, rows)))))


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
            try:
                held = bounded_table(self._file, self._size, [PROMPTS], group=part)
            except (OSError, ValueError, NotImplementedError) as error:
                raise InvalidInputError(f"the prompts in {str(self._path)!r} cannot be read ({error})") from error
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


def cells_of(table: pyarrow.Table, prompts: Iterable[Prompts | None] | None = None) -> Iterator[Cell]:
    """Return the cells of a table that :func:`votes_table` made.

    Args:
        table: With or without the column of prompts.
        prompts: The prompts of each row, if the table is without.
    """
    own = table.column_names[: table.column_names.index(CELL)]
    rows = (row for batch in table.to_batches(max_chunksize=VOTES_IN_A_PART) for row in batch.to_pylist())
    if prompts is None:
        prompts = (text and _read_prompts(text) for text in table.column(PROMPTS).to_pylist())
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

_OF_VERDICT: Final = ("na", "unscored_reason", "agreement", "spread", "position_consistent")
_MEASURED: Final = ("score", *_OF_VERDICT, *FOR_MEASURES)
OF_VERDICTS: Final = tuple(PREFIX + name for name in _MEASURED)
"""The columns that say of verdicts what measures need."""
_OF_VOTES_ALONE: Final = pyarrow.schema([(name, _TYPES[name]) for name in (CELL, *OF_VOTES)])
_OF_VERDICTS_AND_VOTES: Final = pyarrow.schema([(name, _TYPES[name]) for name in (CELL, *OF_VERDICTS, *OF_VOTES)])


def numbers_for_measures(verdict: Verdict, covered_mass: float | None = None) -> dict[str, float | None]:
    """Name in :data:`FOR_MEASURES` -> the number of a verdict."""
    low, high = verdict.bounds or (None, None)
    return dict(zip(FOR_MEASURES, (verdict.draw_variance, low, high, covered_mass), strict=True))


def numbers_of(column: pyarrow.ChunkedArray) -> FloatArray:
    """Return the numbers or truth values of a column, NaN if there is none."""
    found: FloatArray = column.cast("float64").to_numpy()
    return found


def codes_of(column: pyarrow.ChunkedArray, names: Sequence[str]) -> IntArray:
    """Return the place of each text of a column among names; -1 if there is none."""
    places = pc.index_in(column.cast("string"), value_set=pyarrow.array(names, type=pyarrow.string()))
    return np.asarray(pc.fill_null(places, -1).to_numpy(), dtype=np.int16)


@dataclass(frozen=True, slots=True)
class VoteColumns:
    """The votes on ``n`` questions, one per row; shape (n_votes,) each.

    Attributes:
        n: The number of questions.
        question: The number of the question, from 0, in ascending order.
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

    n: int
    question: IntArray
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
        return cls.of_table(_table([Cell({}, tuple(own)) for own in votes], _OF_VOTES_ALONE))

    @classmethod
    def of_table(cls, table: pyarrow.Table) -> Self:
        """Return the columns of a table with the columns :data:`OF_VOTES`, if it has these."""
        cells = table.column(CELL).to_numpy()
        judged = table.column("judge_id")
        cast = table.filter(pc.is_valid(judged)) if judged.null_count else table
        numbers = dict.fromkeys(_NUMBERS, np.zeros(len(cast)))
        for name in numbers.keys() & set(cast.column_names):
            given = numbers_of(cast.column(name))
            numbers[name] = np.where(np.isnan(given), 0.0, given)
        selected = cast.column("selected_index").is_valid().to_numpy()
        reason = codes_of(cast.column("unscored_reason"), REASONS)
        sample, planned = (numbers_of(cast.column(name)) for name in _DRAWS)
        always = np.isnan(planned) | (sample % planned < np.clip(planned - 1, 1, 2))
        counted = np.stack([numbers[name] for name in _USAGE.values()], axis=1)
        kind: type[np.integer[Any]] = np.int32 if counted.max(initial=0) < 2**31 else np.int64
        usage: IntArray = counted.astype(kind)
        return cls(
            n=int(cells.max(initial=-1)) + 1,
            question=cast.column(CELL).to_numpy(),
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

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the questions of all, numbered on."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(part.n for part in parts)])
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name not in {"n", "question"}
        }
        questions = [part.question + start for part, start in zip(parts, starts[:-1], strict=True)]
        return cls(n=int(starts[-1]), question=np.concatenate(questions), **columns)

    def only(self, questions: BoolArray) -> Self:
        """Return the columns of some of the questions.

        Args:
            questions: Shape (n,): which.
        """
        kept = questions[self.question]
        columns = {field.name: getattr(self, field.name)[kept] for field in fields(self) if field.name != "n"}
        numbers = np.cumsum(questions) - 1
        return replace(self, **{**columns, "n": int(questions.sum()), "question": numbers[columns["question"]]})

    def per_question(self, counted: ArrayLike) -> FloatArray:
        """Return the sum over the votes on each question, shape (n,)."""
        weights = np.asarray(counted, dtype=float)
        return np.bincount(self.question, weights=weights, minlength=self.n).astype(float)

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
        chosen = np.ones(len(self.question), dtype=bool) if chosen is None else chosen
        costs = self.cost[chosen & ~np.isnan(self.cost)]
        sums = self.usage[chosen].sum(axis=0, dtype=np.int64).tolist()
        return Usage(
            **dict(zip(_USAGE, sums, strict=True)),
            cost=math.fsum(costs) if len(costs) else None,
            at_risk=math.fsum(self.at_risk[chosen]),
        )

    @property
    def unscored_from_journal(self) -> int:
        """The number of unscored votes whose replies all came from the journal."""
        calls, cached = (self.usage[:, [*_USAGE].index(name)] for name in ("calls", "cached"))
        return int(((cached > 0) & (calls == 0) & self.replied & ~self.answered).sum())


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """Verdicts, one per row; shape (n,) each. See :class:`~evenhand.votes.Verdict`.

    Attributes:
        score: The ``aggregated_value`` of the verdict.
        na: Whether the question does not apply.
        reason: Why nothing was selected: a place in :data:`REASONS`.
        bounds: The bounds of the verdict, shape (n, 2).
        agreement: The agreement of its votes.
        spread: The spread of its draws.
        draw_variance: The variance of its draws.
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
    draw_variance: FloatArray
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
        cells = [
            Cell(
                {},
                verdict.votes,
                {
                    "score": verdict.aggregated_value,
                    **{name: getattr(verdict, name) for name in _OF_VERDICT},
                    **numbers_for_measures(verdict, mass),
                },
            )
            for verdict, mass in zip(verdicts, masses, strict=True)
        ]
        return cls.of_table(_table(cells, _OF_VERDICTS_AND_VOTES))

    @classmethod
    def of_table(cls, table: pyarrow.Table) -> Self:
        """Return the columns of a table with the columns :data:`OF_VERDICTS` and :data:`OF_VOTES`."""
        verdicts = first_rows(table)
        numbers = {name: numbers_of(verdicts.column(PREFIX + name)) for name in _MEASURED if name != "unscored_reason"}
        return cls(
            na=numbers.pop("na") > 0,
            reason=codes_of(verdicts.column(f"{PREFIX}unscored_reason"), REASONS),
            bounds=np.stack([numbers.pop("lowest_score"), numbers.pop("highest_score")], axis=1),
            votes=VoteColumns.of_table(table),
            **numbers,
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join all columns, one after the other."""
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name != "votes"
        }
        return cls(**columns, votes=VoteColumns.joined([part.votes for part in parts]))

    def only(self, rows: BoolArray) -> Self:
        """Return the columns of some verdicts.

        Args:
            rows: Shape (n,): which.
        """
        if rows.all():
            return self
        columns = {field.name: getattr(self, field.name)[rows] for field in fields(self) if field.name != "votes"}
        return replace(self, **columns, votes=self.votes.only(rows))

    def limits(self, ranges: FloatArray) -> FloatArray:
        """Return shape (n, 2): the least and the greatest score of each verdict if every vote had been scored.

        NaN if all judges answered that the criterion does not apply.

        Args:
            ranges: Shape (n, 2): those of the criteria.
        """
        values = np.stack([self.score, self.score], axis=1)
        known = np.where(np.isnan(values), ranges, values)
        known[self.na] = np.nan
        return np.where(np.isnan(self.bounds), known, self.bounds)

    def unscored_limits(self, ranges: FloatArray) -> FloatArray:
        """Return the same for the bounds that lead; NaN too if all votes are scored and a rule gives no score."""
        votes, answered = (self.votes.per_question(each) for each in (self.votes.answered | True, self.votes.answered))
        complete = (votes > 0) & (votes == answered)
        limits = self.limits(ranges)
        limits[~np.isfinite(self.score) & (complete | (self.reason == REASONS.index("no_value")))] = np.nan
        return limits
