"""What measures need of verdicts and of the votes on them, as columns: the same in memory and from a file.

Where something is missing, a number is NaN and a code is -1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.results.votes_columns import CELL, early_stop_of
from evenhand.votes import WITHHELD, MatchKind, UnscoredReason, Usage, Verdict, Vote, is_always_drawn

if TYPE_CHECKING:
    import pyarrow

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

REASONS: Final[tuple[UnscoredReason, ...]] = get_args(UnscoredReason)
KINDS: Final[tuple[MatchKind, ...]] = get_args(MatchKind)
NO_REPLY: Final = WITHHELD | {"engine_error", "not_asked"}

_REASON_CODES: Final[Mapping[str | None, int]] = {reason: code for code, reason in enumerate(REASONS)}
_KIND_CODES: Final[Mapping[str | None, int]] = {kind: code for code, kind in enumerate(KINDS)}
_WITHOUT_REPLY: Final = np.array([*(reason in NO_REPLY for reason in REASONS), False])  # the last is that of -1
_USAGE: Final = tuple(field.name for field in fields(Usage) if field.name not in {"cost", "at_risk"})


_RENAMED: Final = {"cached": "cached_calls", "lost": "lost_requests", "unreported": "unreported_replies"}
_USAGE_COLUMNS: Final = tuple(_RENAMED.get(name, name) for name in _USAGE)
_NUMBERS: Final = ("na", "reasks", "cost_at_risk", *_USAGE_COLUMNS)
_EARLY_STOP: Final = ("sample", "draws_planned", "stop_confidence")
OF_VOTES: Final = ("judge_id", "selected_index", "unscored_reason", "match_kind", "cost", *_NUMBERS, *_EARLY_STOP)
"""The columns of a saved result that say of votes what measures need."""

TOLD: Final = ("score", "na", "unscored_reason", "agreement", "spread", "position_consistent")
TOLD_FOR_MEASURES: Final = ("draw_variance", "lowest_score", "highest_score", "covered_mass")
"""What a saved result says of verdicts, behind ``verdict_``: what records show too, and what measures need beside."""

OF_VERDICTS: Final = tuple(f"verdict_{name}" for name in (*TOLD, *TOLD_FOR_MEASURES))


def told_for_measures(verdict: Verdict, covered_mass: float | None = None) -> dict[str, float | None]:
    """What measures need of a verdict, beside what a record shows and what is read off its votes."""
    low, high = verdict.bounds or (None, None)
    return dict(zip(TOLD_FOR_MEASURES, (verdict.draw_variance, low, high, covered_mass), strict=True))


def numbers_of(column: pyarrow.ChunkedArray) -> FloatArray:
    """The numbers or truth values of a column, NaN where there is none."""
    found: FloatArray = column.cast("float64").to_numpy()
    return found


def codes_of(column: pyarrow.ChunkedArray, names: Sequence[str]) -> IntArray:
    """The place of each text of a column among names; -1 where there is none."""
    import pyarrow  # noqa: PLC0415 - half a second of import that only this needs
    import pyarrow.compute as pc  # noqa: PLC0415

    places = pc.index_in(column.cast("string"), value_set=pyarrow.array(names, type=pyarrow.string()))
    return np.asarray(pc.fill_null(places, -1).to_numpy(), dtype=np.int16)


def _always_drawn(votes: pyarrow.Table) -> BoolArray:
    """Of the votes of a table, whether each is cast in any case."""
    always = np.ones(len(votes), dtype=bool)
    early = np.flatnonzero(votes.column("draws_planned").is_valid().to_numpy())
    for place, row in zip(early, votes.select(_EARLY_STOP).take(early).to_pylist(), strict=True):
        stop = early_stop_of(row["draws_planned"], row["stop_confidence"])
        always[place] = is_always_drawn(row["sample"], stop)
    return always


def _codes(codes: Mapping[str | None, int], names: Iterable[str | None]) -> IntArray:
    return np.array([codes.get(name, -1) for name in names], dtype=np.int16)


@dataclass(frozen=True, slots=True)
class VoteColumns:
    """The votes on ``n`` questions, one a row; shape (n_votes,) each.

    Attributes:
        n: Questions.
        question: The number of the question, from 0, in ascending order.
        selected: Whether an option was selected.
        na: Whether it says that the question does not apply.
        reason: Why nothing was selected: a place in :data:`REASONS`.
        kind: How the selection was read: a place in :data:`KINDS`.
        always: Whether the vote is cast whatever the others say; see :func:`~evenhand.votes.unselected_draws`.
        reasks: How many times the judge was asked again.
        usage: What the calls consumed, shape (n_votes, 8): the counts of :class:`~evenhand.votes.Usage` in its order.
        cost: US dollars.
        at_risk: US dollars at most that lost requests cost, and unreported replies beyond their cost.
    """

    n: int
    question: IntArray
    selected: BoolArray
    na: BoolArray
    reason: IntArray
    kind: IntArray
    always: BoolArray
    reasks: IntArray
    usage: IntArray
    cost: FloatArray
    at_risk: FloatArray

    @classmethod
    def of(cls, votes: Sequence[Sequence[Vote]]) -> Self:
        """Those of the votes on each question."""
        cast = [vote for own in votes for vote in own]
        usages = [vote.usage for vote in cast]
        return cls(
            n=len(votes),
            question=np.repeat(np.arange(len(votes)), [len(own) for own in votes]),
            selected=np.array([vote.selected_index is not None for vote in cast], dtype=bool),
            na=np.array([vote.na for vote in cast], dtype=bool),
            reason=_codes(_REASON_CODES, (vote.unscored_reason for vote in cast)),
            kind=np.array(
                [-1 if vote.match is None else _KIND_CODES[vote.match.kind] for vote in cast], dtype=np.int64
            ),
            always=np.array([is_always_drawn(vote.sample, vote.early_stop) for vote in cast], dtype=bool),
            reasks=np.array([vote.reasks for vote in cast], dtype=np.int32),
            usage=np.array([[getattr(each, name) for each in usages] for name in _USAGE], dtype=np.int64).T,
            cost=np.array([each.cost for each in usages], dtype=float),
            at_risk=np.array([each.at_risk for each in usages], dtype=float),
        )

    @classmethod
    def of_table(cls, table: pyarrow.Table) -> Self:
        """Those of the rows of a saved result, with the columns :data:`OF_VOTES`, as far as it has these."""
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        cells = table.column(CELL).to_numpy()
        judged = table.column("judge_id")
        cast = table.filter(pc.is_valid(judged)) if judged.null_count else table
        unread = np.zeros(len(cast))
        numbers = {
            name: np.nan_to_num(numbers_of(cast.column(name))) if name in cast.column_names else unread
            for name in _NUMBERS
        }
        return cls(
            n=int(cells.max(initial=-1)) + 1,
            question=cast.column(CELL).to_numpy(),
            selected=cast.column("selected_index").is_valid().to_numpy(),
            na=numbers["na"] > 0,
            reason=codes_of(cast.column("unscored_reason"), REASONS),
            kind=codes_of(cast.column("match_kind"), KINDS),
            always=_always_drawn(cast),
            reasks=numbers["reasks"].astype(np.int32),
            usage=np.stack([numbers[name] for name in _USAGE_COLUMNS], axis=1).astype(np.int64),
            cost=numbers_of(cast.column("cost")),
            at_risk=numbers["cost_at_risk"],
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The questions of all, numbered on."""
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
        """Those on some of the questions.

        Args:
            questions: Shape (n,): which.
        """
        kept = questions[self.question]
        columns = {field.name: getattr(self, field.name)[kept] for field in fields(self) if field.name != "n"}
        numbers = np.cumsum(questions) - 1
        return replace(self, **{**columns, "n": int(questions.sum()), "question": numbers[columns["question"]]})

    def per_question(self, counted: ArrayLike) -> FloatArray:
        """The sum over the votes on each question, shape (n,)."""
        weights = np.asarray(counted, dtype=float)
        return np.bincount(self.question, weights=weights, minlength=self.n).astype(float)

    @property
    def replied(self) -> BoolArray:
        """Whether there was a reply, of those cast in any case."""
        found: BoolArray = self.always & ~_WITHOUT_REPLY[self.reason]
        return found

    def replies(self) -> FloatArray:
        """On each question: replies that named an option, and replies; a re-ask follows one that named none."""
        named, asked = self.replied & self.selected, self.replied * (1 + self.reasks)
        return np.stack([self.per_question(named), self.per_question(asked)], axis=1)

    def unscored(self) -> Mapping[str, int]:
        """Reason -> votes without a selection, by name."""
        counts = np.bincount(self.reason + 1, minlength=len(REASONS) + 1)[1:].tolist()
        return MappingProxyType({reason: count for reason, count in sorted(zip(REASONS, counts, strict=True)) if count})

    def readings(self) -> Mapping[MatchKind, int]:
        """See :func:`~evenhand.scoring.count_readings`."""
        read = self.kind[self.always & self.selected & (self.kind >= 0)]
        counts = np.bincount(read, minlength=len(KINDS)).tolist()
        named: dict[MatchKind, int] = {kind: n for kind, n in zip(KINDS, counts, strict=True) if kind != "none"}
        return MappingProxyType(named if len(read) else {})

    def used(self, chosen: BoolArray | None = None) -> Usage:
        """What the calls of some votes consumed, of all by default; sums do not depend on the order of the votes."""
        chosen = np.ones(len(self.question), dtype=bool) if chosen is None else chosen
        costs = self.cost[chosen & ~np.isnan(self.cost)]
        return Usage(
            **dict(zip(_USAGE, self.usage[chosen].sum(axis=0, dtype=np.int64).tolist(), strict=True)),
            cost=math.fsum(costs) if len(costs) else None,
            at_risk=math.fsum(self.at_risk[chosen]),
        )

    @property
    def sent(self) -> BoolArray:
        """Whether the engine was one that sends something, or its journal answered."""
        found: BoolArray = (
            np.maximum(self.usage[:, _USAGE.index("requests")], self.usage[:, _USAGE.index("cached")]) > 0
        )
        return found

    def because(self, reason: UnscoredReason) -> BoolArray:
        """Whether nothing was selected for this reason."""
        found: BoolArray = self.reason == _REASON_CODES[reason]
        return found


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """Verdicts, one a row; shape (n,) each. See :class:`~evenhand.votes.Verdict`.

    Attributes:
        score: Its ``aggregated_value``.
        na: Whether the question does not apply.
        reason: Why nothing was selected: a place in :data:`REASONS`.
        bounds: Shape (n, 2).
        agreement: Of its votes.
        spread: Of its draws.
        draw_variance: Likewise.
        position_consistent: 1 or 0.
        covered_mass: How much of the probability its expected value rests on.
        votes: All of them; the questions are the verdicts.
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
        """Those of verdicts with all their votes.

        Args:
            verdicts: The verdicts.
            covered_masses: One a verdict; empty for scores of the options selected.
        """

        def column(number: Callable[[Verdict], float | None]) -> FloatArray:
            return np.array([number(verdict) for verdict in verdicts], dtype=float)  # NaN for None

        return cls(
            score=column(lambda verdict: verdict.aggregated_value),
            na=np.array([verdict.na for verdict in verdicts], dtype=bool),
            reason=_codes(_REASON_CODES, (verdict.unscored_reason for verdict in verdicts)),
            bounds=np.array([each.bounds or (None, None) for each in verdicts], dtype=float).reshape(-1, 2),
            agreement=column(lambda verdict: verdict.agreement),
            spread=column(lambda verdict: verdict.spread),
            draw_variance=column(lambda verdict: verdict.draw_variance),
            position_consistent=column(lambda verdict: verdict.position_consistent),
            covered_mass=np.array(covered_masses or [None] * len(verdicts), dtype=float),
            votes=VoteColumns.of([verdict.votes for verdict in verdicts]),
        )

    @classmethod
    def of_table(cls, table: pyarrow.Table) -> Self:
        """Those of the cells of a saved result, with the columns :data:`OF_VERDICTS` and :data:`OF_VOTES`."""
        firsts = np.flatnonzero(np.diff(table.column(CELL).to_numpy(), prepend=-1))
        told = table if len(firsts) == len(table) else table.take(firsts)
        numbers = {
            name: numbers_of(told.column(f"verdict_{name}"))
            for name in (*TOLD, *TOLD_FOR_MEASURES)
            if name != "unscored_reason"
        }
        return cls(
            score=numbers["score"],
            na=numbers["na"] > 0,
            reason=codes_of(told.column("verdict_unscored_reason"), REASONS),
            bounds=np.stack([numbers["lowest_score"], numbers["highest_score"]], axis=1),
            agreement=numbers["agreement"],
            spread=numbers["spread"],
            draw_variance=numbers["draw_variance"],
            position_consistent=numbers["position_consistent"],
            covered_mass=numbers["covered_mass"],
            votes=VoteColumns.of_table(table),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Those of all, one after the other."""
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name != "votes"
        }
        return cls(**columns, votes=VoteColumns.joined([part.votes for part in parts]))

    def only(self, rows: BoolArray) -> Self:
        """Some of them.

        Args:
            rows: Shape (n,): which.
        """
        if rows.all():
            return self
        columns = {field.name: getattr(self, field.name)[rows] for field in fields(self) if field.name != "votes"}
        return replace(self, **columns, votes=self.votes.only(rows))

    def __len__(self) -> int:
        return len(self.score)

    @property
    def scored(self) -> BoolArray:
        """Whether there is a number."""
        return np.isfinite(self.score)

    @property
    def no_value(self) -> BoolArray:
        """Whether the option that was selected has none."""
        found: BoolArray = self.reason == _REASON_CODES["no_value"]
        return found

    @property
    def unread_votes(self) -> FloatArray:
        """How many votes neither select an option nor say NA."""
        return self.votes.per_question(~self.votes.selected & ~self.votes.na)

    def limits(self, ranges: FloatArray) -> FloatArray:
        """Shape (n, 2): the least and the greatest score that each could have had if every vote had been readable.

        NaN where all that voted said that the criterion does not apply.

        Args:
            ranges: Shape (n, 2): those of the criteria.
        """
        values = np.stack([self.score, self.score], axis=1)
        known = np.where(np.isnan(values), ranges, values)
        known[self.na] = np.nan
        return np.where(np.isnan(self.bounds), known, self.bounds)

    def unread_limits(self, ranges: FloatArray) -> FloatArray:
        """The same for the bounds that lead; NaN too where all was read and a rule gives no score."""
        read = (self.votes.per_question(np.ones(len(self.votes.question))) > 0) & (self.unread_votes == 0)
        limits = self.limits(ranges)
        limits[~self.scored & (read | self.no_value)] = np.nan
        return limits
