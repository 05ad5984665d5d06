"""Votes as columns: one flat row per vote, which pandas, DuckDB and ``datasets`` read, and back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import Completion, EarlyStop, Match, TokenLogprob, Usage, Vote

if TYPE_CHECKING:
    import pyarrow

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

_CELL = "cell"
"""The column that numbers the cells; their own columns come before it."""


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
        "replied": reply is not None,
        "reply_prompt_tokens": reply.prompt_tokens if reply else None,
        "reply_completion_tokens": reply.completion_tokens if reply else None,
        "reply_cost": reply.cost if reply else None,
        "reply_cached": reply.cached if reply else None,
        "reply_logprobs": None if logprobs is None else json.dumps(logprobs),
        "match_index": match.index if match else None,
        "match_reason": match.reason if match else None,
        "prompts": None if vote.prompts is None else json.dumps(dict(vote.prompts), ensure_ascii=False),
        "stop_confidence": None if stop is None or stop.confidence is None else str(stop.confidence),
    }


def _vote_of(row: Mapping[str, Any]) -> Vote:
    usage = Usage(
        calls=row["calls"],
        cached=row["cached_calls"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        cost=row["cost"],
    )
    own = {name: row[name] for name in _SAME}
    own |= {"order": tuple(row["order"]), "probabilities": row["probabilities"] and tuple(row["probabilities"])}
    return Vote(
        **own,
        completion=_completion_of(row) if row["replied"] else None,
        match=row["match_kind"] and Match(index=row["match_index"], kind=row["match_kind"], reason=row["match_reason"]),
        usage=usage,
        prompts=row["prompts"] and json.loads(row["prompts"]),
        early_stop=row["draws_planned"] and EarlyStop(planned=row["draws_planned"], confidence=_confidence_of(row)),
    )


def _completion_of(row: Mapping[str, Any]) -> Completion:
    logprobs = row["reply_logprobs"]
    return Completion(
        text=row["reply"],
        finish_reason=row["finish_reason"],
        prompt_tokens=row["reply_prompt_tokens"],
        completion_tokens=row["reply_completion_tokens"],
        cost=row["reply_cost"],
        model=row["model"],
        logprobs=None if logprobs is None else tuple(map(TokenLogprob.model_validate, json.loads(logprobs))),
        cached=row["reply_cached"],
        reasoning=row.get("reasoning"),
    )


def _confidence_of(row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the model checks it
    written = row["stop_confidence"]
    return float(written) if written and written[0].isdigit() else written


def votes_table(cells: Iterable[Cell]) -> pyarrow.Table:
    """One row per vote, with what it was about; a cell without votes has one row in which they are null."""
    import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

    rows = []
    for number, (about, votes, verdict) in enumerate(cells):
        named = {**about, _CELL: number, **{f"verdict_{name}": value for name, value in verdict.items()}}
        rows += [{**named, **_whole_row(vote)} for vote in votes] or [named]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    kinds = dict(_kinds(pyarrow))
    return pyarrow.table(
        {
            name: pyarrow.array([row.get(name) for row in rows], type=kinds.get(name))
            for name in dict.fromkeys([*columns, *kinds])
        }
    )


def _kinds(pyarrow: Any) -> Iterator[tuple[str, pyarrow.DataType]]:  # noqa: ANN401 - the module
    """The types of the columns of votes, which a column without any value would not show."""
    numbers = ("sample", "selected_index", "match_index", "reasks", "calls", "cached_calls", "draws_planned")
    tokens = ("prompt_tokens", "completion_tokens", "reply_prompt_tokens", "reply_completion_tokens")
    texts = ("judge_id", "selected_label", "assessment", "summary", "unscored_reason", "error", "match_kind", "reply")
    replies = ("finish_reason", "model", "reasoning", "reply_logprobs", "match_reason", "prompts", "stop_confidence")
    yield from ((name, pyarrow.int64()) for name in (*numbers, *tokens))
    yield from ((name, pyarrow.string()) for name in (*texts, *replies))
    yield from ((name, pyarrow.float64()) for name in ("value", "weight", "cost", "reply_cost"))
    yield from ((name, pyarrow.bool_()) for name in ("na", "replied", "reply_cached"))
    yield "order", pyarrow.list_(pyarrow.int32())
    yield "probabilities", pyarrow.list_(pyarrow.float64())


def cells_of(table: pyarrow.Table) -> Iterator[Cell]:
    """The cells of a table that :func:`votes_table` made."""
    own = table.column_names[: table.column_names.index(_CELL)]
    rows = (row for batch in table.to_batches(max_chunksize=4096) for row in batch.to_pylist())
    for _, grouped in groupby(rows, key=lambda row: row[_CELL]):
        held = list(grouped)
        votes = tuple(_vote_of(row) for row in held if row["judge_id"] is not None)
        yield Cell({name: held[0][name] for name in own}, votes)
