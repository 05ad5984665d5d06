"""Votes as columns: one flat row per vote, which pandas, DuckDB and ``datasets`` read, and back.

A table of all votes is made in parts, so that no more than a part is ever held beside the votes. What was sent, the
greatest part of what votes hold, stays in a file that was read until somebody asks for it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import Completion, EarlyStop, Match, Prompts, TokenLogprob, Usage, Vote

if TYPE_CHECKING:
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

VOTES_IN_A_PART = 1024

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


def vote_row(vote: Vote) -> dict[str, Any]:
    """A vote as a flat row.

    The fields of :class:`~evenhand.votes.Vote` have their names; of its reply there are ``reply``, ``finish_reason``
    and ``model``; ``calls``, ``prompt_tokens``, ``completion_tokens`` and ``cost`` are those of all its calls.
    """
    reply, match, stop = vote.completion, vote.match, vote.early_stop
    return {
        **{name: getattr(vote, name) for name in _SAME},
        "order": list(vote.order),
        "probabilities": None if vote.probabilities is None else list(vote.probabilities),
        "match_kind": match.kind if match else None,
        "reply": reply.text if reply else None,
        "finish_reason": reply.finish_reason if reply else None,
        "calls": vote.usage.calls,
        "prompt_tokens": vote.usage.prompt_tokens,
        "completion_tokens": vote.usage.completion_tokens,
        "cost": vote.usage.cost,
        "draws_planned": stop.planned if stop else None,
    }


def _whole_row(vote: Vote) -> dict[str, Any]:
    """The same with all that a vote is made of."""
    reply, match, stop = vote.completion, vote.match, vote.early_stop
    logprobs = None if reply is None or reply.logprobs is None else [each.model_dump() for each in reply.logprobs]
    return {
        **vote_row(vote),
        "model": reply.model if reply else None,
        "reasoning": reply.reasoning if reply else None,
        "cached_calls": vote.usage.cached,
        "requests": vote.usage.requests,
        "lost_requests": vote.usage.lost,
        "cost_at_risk": vote.usage.at_risk,
        "replied": reply is not None,
        "reply_prompt_tokens": reply.prompt_tokens if reply else None,
        "reply_completion_tokens": reply.completion_tokens if reply else None,
        "reply_cost": reply.cost if reply else None,
        "reply_cached": reply.cached if reply else None,
        "reply_logprobs": None if logprobs is None else json.dumps(logprobs),
        "match_index": match.index if match else None,
        "match_reason": match.reason if match else None,
        PROMPTS: None if vote.prompts is None else vote.prompts.as_json().decode(),
        "stop_confidence": None if stop is None or stop.confidence is None else str(stop.confidence),
    }


def _vote_of(row: Mapping[str, Any], prompts: Prompts | None) -> Vote:
    usage = Usage(
        calls=row["calls"],
        cached=row["cached_calls"],
        requests=row.get("requests", 0),  # files of 0.1 have none
        lost=row.get("lost_requests", 0),
        at_risk=row.get("cost_at_risk", 0.0),
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
        cost=row["reply_cost"],
        model=row["model"],
        logprobs=None if logprobs is None else tuple(map(TokenLogprob.model_validate, json.loads(logprobs))),
        cached=row["reply_cached"],
        reasoning=row.get("reasoning"),
    )


def early_stop_of(planned: int, written: str | None) -> EarlyStop:
    """The rule that could end draws early, as a file has it."""
    confidence: Any = float(written) if written and written[0].isdigit() else written
    return EarlyStop(planned=planned, confidence=confidence)


def votes_table(cells: Iterable[Cell]) -> pyarrow.Table:
    """One row per vote, with what it was about; a cell without votes has one row in which they are null."""
    import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

    return pyarrow.concat_tables(votes_tables(cells))


def votes_tables(cells: Iterable[Cell]) -> Iterator[pyarrow.Table]:
    """The same in parts, each of whole cells."""
    import pyarrow  # noqa: PLC0415 - as above

    held = list(cells)
    schema = _schema(held)
    rows: list[dict[str, Any]] = []
    for number, cell in enumerate(held):
        named = {**cell.about, CELL: number, **_told(cell)}
        rows += [{**named, **_whole_row(vote)} for vote in cell.votes] or [named]
        if len(rows) >= VOTES_IN_A_PART or number + 1 == len(held):
            yield pyarrow.Table.from_pylist(rows, schema=schema)
            rows = []
    if not held:
        yield schema.empty_table()


def _told(cell: Cell) -> dict[str, Any]:
    return {f"verdict_{name}": value for name, value in cell.verdict.items()}


def _schema(cells: Sequence[Cell]) -> pyarrow.Schema:
    """The columns of all cells: their own, their number, what they came to, and those of votes."""
    import pyarrow  # noqa: PLC0415 - as above

    abouts, told = [cell.about for cell in cells], [_told(cell) for cell in cells]
    cast = next((vote for cell in cells for vote in cell.votes), None)
    kinds = {CELL: pyarrow.int64(), **dict(_kinds(pyarrow))}
    names = dict.fromkeys((*_names(abouts), CELL, *_names(told), *(_whole_row(cast) if cast else ()), *kinds))
    held = {**dict.fromkeys(_names(abouts), abouts), **dict.fromkeys(_names(told), told)}
    return pyarrow.schema(
        (name, kinds[name] if name in kinds else pyarrow.array([each.get(name) for each in held[name]]).type)
        for name in names
    )


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _kinds(pyarrow: Any) -> Iterator[tuple[str, pyarrow.DataType]]:  # noqa: ANN401 - the module
    """The types of the columns of votes, which a column without any value would not show."""
    numbers = ("sample", "selected_index", "match_index", "reasks", "calls", "cached_calls", "requests")
    more = ("lost_requests", "draws_planned")
    tokens = ("prompt_tokens", "completion_tokens", "reply_prompt_tokens", "reply_completion_tokens")
    texts = ("judge_id", "selected_label", "assessment", "summary", "unscored_reason", "error", "match_kind", "reply")
    replies = ("finish_reason", "model", "reasoning", "reply_logprobs", "match_reason", "prompts", "stop_confidence")
    yield from ((name, pyarrow.int64()) for name in (*numbers, *more, *tokens))
    yield from ((name, pyarrow.string()) for name in (*texts, *replies))
    yield from ((name, pyarrow.float64()) for name in ("value", "weight", "cost", "cost_at_risk", "reply_cost"))
    yield from ((name, pyarrow.bool_()) for name in ("na", "replied", "reply_cached"))
    yield "order", pyarrow.list_(pyarrow.int32())
    yield "probabilities", pyarrow.list_(pyarrow.float64())


class PromptsOfFile:
    """What was sent, as a Parquet file holds it: compressed, a part read where it is asked for."""

    def __init__(self, file: pyarrow.parquet.ParquetFile) -> None:
        self._file = file
        parts = [file.metadata.row_group(part).num_rows for part in range(file.metadata.num_row_groups)]
        self._firsts = list(accumulate(parts, initial=0))
        self._read: tuple[int, pyarrow.ChunkedArray] | None = None

    def text(self, row: int) -> str | None:
        """The prompts of a row as JSON; None where none were kept."""
        part = bisect_right(self._firsts, row) - 1
        if self._read is None or self._read[0] != part:
            self._read = part, self._file.read_row_group(part, columns=[PROMPTS]).column(PROMPTS)
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
