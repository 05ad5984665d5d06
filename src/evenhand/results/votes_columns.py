"""Votes as columns: one flat row per vote, which pandas, DuckDB and ``datasets`` read, and back.

A table of all votes is made in parts, so that no more than a part is ever held beside the votes. What was sent, the
greatest part of what votes hold, stays in a file that was read until somebody asks for it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evenhand.data.arrow_files import bounded_table
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import Completion, EarlyStop, Match, Prompts, TokenLogprob, Usage, Vote

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow
    import pyarrow.parquet

_SAME = (
    "judge_id",
    "order",
    "sample",
    "selected_index",
    "selected_label",
    "value",
    "na",
    "probabilities",
    "assessment",
    "summary",
    "unscored_reason",
    "error",
    "weight",
    "reasks",
)
"""The columns that are fields of a vote under their own names."""

CELL = "cell"
"""The column that numbers the cells; their own columns come before it."""


PROMPTS = "prompts"
"""The column of what was sent: stage -> messages, as JSON."""

TEXTS = ("assessment", "summary", "reply", "reasoning", "reply_logprobs", "error", "verdict_assessment")
"""The columns of which no score is made, and which hold the most."""

PLACES = ("instance", "checklist", "criterion", "question", "item")
"""The columns of what a cell is about that may count from 0."""

VOTES_IN_A_PART = 4096

_completion = lru_cache(maxsize=64)(Completion)  # the votes of a sheet share one


class Cell(NamedTuple):
    """The votes on one question.

    Attributes:
        about: What it was about: instance, system, criterion and the like, as plain values.
        votes: None where nothing could be asked.
        verdict: What they came to, as plain values, for readers of files; it is made anew from the votes.
    """

    about: dict[str, Any]
    votes: tuple[Vote, ...]
    verdict: Mapping[str, Any] = MappingProxyType({})

    def telling(self, record: Mapping[str, Any]) -> Cell:
        """The cell with what its votes came to: what a row says of it beside what it was about."""
        return self._replace(verdict={name: value for name, value in record.items() if name not in self.about})

    def without(self, left_out: Collection[str]) -> Cell:
        """The cell with votes that lack what is left out: see :data:`LONG`."""
        return self._replace(votes=tuple(_without(vote, left_out) for vote in self.votes)) if left_out else self


LONG = ("prompts", "reasoning", "logprobs")
"""What of votes may be left out of a file: it is long, and no score is made of it."""


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


def _without(vote: Vote, left_out: Collection[str]) -> Vote:
    changes: dict[str, Any] = {"prompts": None} if "prompts" in left_out else {}
    if vote.completion is not None:
        gone = {name: None for name in ("reasoning", "logprobs") if name in left_out}
        changes["completion"] = vote.completion.model_copy(update=gone)
    return vote.model_copy(update=changes)


def plain_vote(vote: Vote) -> dict[str, Any]:
    """Who voted what in which draw, as the readers of recorded votes take it."""
    return {
        "judge": vote.judge_id,
        "sample": vote.sample,
        "vote": vote.selected_label,
        "unscored_reason": vote.unscored_reason,
    }


_Values = Mapping[str, Callable[[Vote], Any]]

_SHOWN: Final[_Values] = {
    **{name: attrgetter(name) for name in _SAME},
    "order": lambda vote: list(vote.order),
    "probabilities": lambda vote: None if vote.probabilities is None else list(vote.probabilities),
    "match_kind": lambda vote: vote.match and vote.match.kind,
    "reply": lambda vote: vote.completion and vote.completion.text,
    "finish_reason": lambda vote: vote.completion and vote.completion.finish_reason,
    "calls": attrgetter("usage.calls"),
    "prompt_tokens": attrgetter("usage.prompt_tokens"),
    "completion_tokens": attrgetter("usage.completion_tokens"),
    "cost": attrgetter("usage.cost"),
    "draws_planned": lambda vote: vote.early_stop and vote.early_stop.planned,
}
"""Column -> what it shows of a vote."""

_COLUMNS: Final[_Values] = {
    **_SHOWN,
    "model": lambda vote: vote.completion and vote.completion.model,
    "reasoning": lambda vote: vote.completion and vote.completion.reasoning,
    "cached_calls": attrgetter("usage.cached"),
    "requests": attrgetter("usage.requests"),
    "lost_requests": attrgetter("usage.lost"),
    "unreported_replies": attrgetter("usage.unreported"),
    "cost_at_risk": attrgetter("usage.at_risk"),
    "cached_tokens": attrgetter("usage.cached_tokens"),
    "replied": lambda vote: vote.completion is not None,
    "reply_prompt_tokens": lambda vote: vote.completion and vote.completion.prompt_tokens,
    "reply_completion_tokens": lambda vote: vote.completion and vote.completion.completion_tokens,
    "reply_cached_tokens": lambda vote: vote.completion and vote.completion.cached_tokens,
    "reply_cost": lambda vote: vote.completion and vote.completion.cost,
    "reply_cached": lambda vote: vote.completion and vote.completion.cached,
    "reply_logprobs": lambda vote: _logprobs_of(vote.completion),
    "match_index": lambda vote: vote.match and vote.match.index,
    "match_reason": lambda vote: vote.match and vote.match.reason,
    PROMPTS: lambda vote: None if vote.prompts is None else vote.prompts.as_json().decode(),
    "stop_confidence": lambda vote: _confidence_of(vote.early_stop),
}
"""The same with all that a vote is made of."""


def vote_row(vote: Vote) -> dict[str, Any]:
    """A vote as a flat row.

    The fields of :class:`~evenhand.votes.Vote` have their names; of its reply there are ``reply``, ``finish_reason``
    and ``model``; ``calls``, ``prompt_tokens``, ``completion_tokens`` and ``cost`` are those of all its calls.
    """
    return {name: value(vote) for name, value in _SHOWN.items()}


def _logprobs_of(reply: Completion | None) -> str | None:
    known = None if reply is None else reply.logprobs
    return None if known is None else json.dumps([each.model_dump() for each in known])


def _confidence_of(stop: EarlyStop | None) -> str | None:
    return None if stop is None or stop.confidence is None else str(stop.confidence)


def _vote_of(row: Mapping[str, Any], prompts: Prompts | None) -> Vote:
    usage = Usage(
        calls=row["calls"],
        cached=row["cached_calls"],
        requests=row["requests"],
        lost=row["lost_requests"],
        unreported=row["unreported_replies"],
        at_risk=row["cost_at_risk"],
        cached_tokens=row["cached_tokens"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        cost=row["cost"],
    )
    own: dict[str, Any] = {name: row.get(name) for name in _SAME}
    own |= {"order": tuple(row["order"]), "probabilities": row["probabilities"] and tuple(row["probabilities"])}
    return Vote(
        **own,
        completion=_completion_of(row) if row["replied"] and "reply" in row else None,
        match=row["match_kind"] and Match(index=row["match_index"], kind=row["match_kind"], reason=row["match_reason"]),
        usage=usage,
        prompts=prompts,
        early_stop=row["draws_planned"] and early_stop_of(row["draws_planned"], row["stop_confidence"]),
    )


def _completion_of(row: Mapping[str, Any]) -> Completion:
    logprobs = row["reply_logprobs"]
    return _completion(
        text=row["assessment"] if row["reply"] == row["assessment"] else row["reply"],  # held once
        finish_reason=row["finish_reason"],
        prompt_tokens=row["reply_prompt_tokens"],
        completion_tokens=row["reply_completion_tokens"],
        cached_tokens=row["reply_cached_tokens"],
        cost=row["reply_cost"],
        model=row["model"],
        logprobs=None if logprobs is None else tuple(map(TokenLogprob.model_validate, json.loads(logprobs))),
        cached=row["reply_cached"],
        reasoning=row["reasoning"],
    )


def early_stop_of(planned: int, written: str | None) -> EarlyStop:
    """The rule that could end draws early, as a file has it."""
    confidence: Any = float(written) if written and written[0].isdigit() else written
    return EarlyStop(planned=planned, confidence=confidence)


def votes_table(cells: Iterable[Cell], schema: pyarrow.Schema | None = None) -> pyarrow.Table:
    """One row per vote, with what it was about; a cell without votes has one row in which they are null."""
    import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

    return pyarrow.concat_tables(votes_tables(cells, schema))


def votes_tables(cells: Iterable[Cell], schema: pyarrow.Schema | None = None) -> Iterator[pyarrow.Table]:
    """The same in parts, each of whole cells.

    Args:
        cells: The votes.
        schema: The columns, where they are known; then no more cells are held than a part has.
    """
    if schema is None:
        cells = list(cells)
        schema = _schema(cells)
    held: list[Cell] = []
    number = votes = 0
    for cell in cells:
        held.append(cell)
        votes += len(cell.votes) or 1
        if votes >= VOTES_IN_A_PART:
            yield _table(held, number, schema)
            number += len(held)
            held, votes = [], 0
    if held or not number:
        yield _table(held, number, schema)


def _table(cells: Sequence[Cell], first: int, schema: pyarrow.Schema) -> pyarrow.Table:
    """Cells that are numbered from ``first`` on, built column by column."""
    import pyarrow.compute  # noqa: PLC0415 - as above

    cast = [vote for cell in cells for vote in cell.votes or (None,)]
    places = pyarrow.array([place for place, cell in enumerate(cells) for _ in cell.votes or (None,)])
    columns = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name == CELL:
            columns.append(pyarrow.compute.add(places, first))
        elif (value := _COLUMNS.get(name)) is not None:
            columns.append(pyarrow.array([None if vote is None else value(vote) for vote in cast], type=kind))
        else:
            told = name.removeprefix(TOLD)
            own = [cell.verdict.get(told) if told != name else cell.about.get(name) for cell in cells]
            column = pyarrow.array(own, type=kind)
            columns.append(column if len(cast) == len(cells) else column.take(places))
    return pyarrow.Table.from_arrays(columns, schema=schema)


TOLD = "verdict_"
"""Before the names of what cells tell of their verdicts."""


def _schema(cells: Sequence[Cell]) -> pyarrow.Schema:
    """The columns of all cells: their own, their number, what they came to, and those of votes."""
    import pyarrow  # noqa: PLC0415 - as above

    abouts = [cell.about for cell in cells]
    told = [cell.verdict for cell in cells]
    kinds = {CELL: pyarrow.int64(), **dict(_kinds(pyarrow)), **dict(_kinds_of_told(pyarrow))}
    held = {
        **{name: [about.get(name) for about in abouts] for name in _names(abouts)},
        CELL: [],
        **{TOLD + name: [each.get(name) for each in told] for name in _names(told)},
        **dict.fromkeys(_COLUMNS, ()),
    }
    return pyarrow.schema(
        (name, kinds[name] if name in kinds else pyarrow.array(values).type) for name, values in held.items()
    )


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all rows, which are mostly the same ones."""
    return list(dict.fromkeys(name for names in dict.fromkeys(map(tuple, rows)) for name in names))


def _kinds_of_told(pyarrow: Any) -> Iterator[tuple[str, pyarrow.DataType]]:  # noqa: ANN401 - the module
    numbers = ("score", "agreement", "spread", "draw_variance", "lowest_score", "highest_score", "covered_mass")
    yield from ((TOLD + name, pyarrow.float64()) for name in numbers)
    yield from ((TOLD + name, pyarrow.string()) for name in ("selected_option", "unscored_reason", "assessment"))
    yield from ((TOLD + name, pyarrow.bool_()) for name in ("na", "position_consistent"))


def _kinds(pyarrow: Any) -> Iterator[tuple[str, pyarrow.DataType]]:  # noqa: ANN401 - the module
    """The types of the columns of votes, which a column without any value would not show."""
    numbers = ("sample", "selected_index", "match_index", "reasks", "calls", "cached_calls", "requests")
    more = ("lost_requests", "unreported_replies", "draws_planned")
    tokens = ("prompt_tokens", "completion_tokens", "reply_prompt_tokens", "reply_completion_tokens")
    texts = ("judge_id", "selected_label", "assessment", "summary", "unscored_reason", "error", "match_kind", "reply")
    replies = ("finish_reason", "model", "reasoning", "reply_logprobs", "match_reason", "prompts", "stop_confidence")
    yield from ((name, pyarrow.int64()) for name in (*numbers, *more, *tokens, "cached_tokens", "reply_cached_tokens"))
    yield from ((name, pyarrow.string()) for name in (*texts, *replies))
    yield from ((name, pyarrow.float64()) for name in ("value", "weight", "cost", "cost_at_risk", "reply_cost"))
    yield from ((name, pyarrow.bool_()) for name in ("na", "replied", "reply_cached"))
    yield "order", pyarrow.list_(pyarrow.int32())
    yield "probabilities", pyarrow.list_(pyarrow.float64())


class PromptsOfFile:
    """What was sent, as a Parquet file holds it: compressed, a part read where it is asked for."""

    def __init__(self, file: pyarrow.parquet.ParquetFile, path: Path, size: int) -> None:
        self._file = file
        self._path = path
        self._size = size
        parts = [file.metadata.row_group(part).num_rows for part in range(file.metadata.num_row_groups)]
        self._firsts = list(accumulate(parts, initial=0))
        self._read: tuple[int, pyarrow.ChunkedArray] | None = None

    def text(self, row: int) -> str | None:
        """The prompts of a row as JSON; None where none were kept."""
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
        """The prompts of each row, none of which is read where a part says how many it lacks."""
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
        """The plain mapping as JSON."""
        return str(self._file.text(self._row)).encode()


def check_votes(table: pyarrow.Table, about: Iterable[str]) -> None:
    """Check that a table's columns are what :func:`votes_tables` writes.

    Raises:
        ValueError: If one is missing, of another type, or holds what none of ours does.
    """
    import pyarrow  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415

    votes = dict(_kinds(pyarrow))
    kinds = {CELL: pyarrow.int64(), **votes, **dict(_kinds_of_told(pyarrow))}
    missing = {CELL, *about} - set(table.column_names)
    if missing:
        raise ValueError(f"it has no column {min(missing)!r}")
    for name, column in zip(table.column_names, table.columns, strict=True):
        wanted = pyarrow.int64() if name == "instance" else kinds.get(name, column.type)
        if column.type not in (wanted, pyarrow.null()):
            raise ValueError(f"its column {name!r} is of the type {column.type}, and not {wanted}")
        counts = pyarrow.types.is_integer(column.type) and (name in kinds or name in PLACES)
        if counts and (pc.min(column).as_py() or 0) < 0:
            raise ValueError(f"its column {name!r} holds a number below 0")
        if name in votes and pyarrow.types.is_floating(column.type) and pc.any(pc.invert(pc.is_finite(column))).as_py():
            raise ValueError(f"its column {name!r} holds a number that is not finite")
    steps = pc.pairwise_diff(table.column(CELL).combine_chunks())
    if len(table) and (table.column(CELL)[0].as_py() != 0 or not {*pc.unique(steps).to_pylist()} <= {None, 0, 1}):
        raise ValueError(f"its column {CELL!r} does not count the rows")


def abouts_of(table: pyarrow.Table) -> list[dict[str, Any]]:
    """What each cell is about, of a table with these columns and the numbers of cells."""
    import numpy as np  # noqa: PLC0415 - what is mistyped is told without it

    numbers = table.column(CELL).to_numpy()
    firsts = np.flatnonzero(np.diff(numbers, prepend=-1))
    found: list[dict[str, Any]] = table.drop_columns([CELL]).take(firsts).to_pylist()
    return found


def cells_of(table: pyarrow.Table, prompts: Iterable[Prompts | None] | None = None) -> Iterator[Cell]:
    """The cells of a table that :func:`votes_table` made.

    Args:
        table: With or without the column of prompts.
        prompts: Those of each row, where the table is without.
    """
    own = table.column_names[: table.column_names.index(CELL)]
    rows = (row for batch in table.to_batches(max_chunksize=4096) for row in batch.to_pylist())
    if prompts is None:
        prompts = (text and Prompts(json.loads(text)) for text in table.column(PROMPTS).to_pylist())
    held_rows = zip(rows, prompts, strict=True)
    for _, grouped in groupby(held_rows, key=lambda each: each[0][CELL]):
        held = list(grouped)
        votes = tuple(_vote_of(row, sent) for row, sent in held if row["judge_id"] is not None)
        yield Cell({name: held[0][0][name] for name in own}, votes)
