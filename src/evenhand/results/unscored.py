"""How many votes and verdicts are unscored: the one place that counts them, and the one sentence that says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

import numpy as np

from evenhand.numbers import Missing, format_count
from evenhand.results.measures import Column, measure
from evenhand.results.vote_columns import IntArray, VoteColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredCounts:
    """Unscored votes and verdicts, as every page, table, check and summary reports them.

    A vote is unscored if it selects nothing and is not NA, a verdict if none of its votes is scored.

    Attributes:
        votes: Votes asked for; a question that recorded votes do not cover (``not_asked``) is not one.
        unscored_votes: Those that are unscored.
        rows: Rows of the data with an unscored vote.
        verdicts: Questions.
        unscored_verdicts: Those whose verdict is unscored.
        reasons: Reason -> unscored votes.
    """

    votes: int = measure("count", name="num_asked_votes")
    unscored_votes: int = measure("count", name="num_unscored_votes")
    rows: int = measure("count", name="num_rows_affected")
    verdicts: int
    unscored_verdicts: int = measure("count", name="num_unscored_verdicts")
    reasons: Mapping[str, int] = measure("count", name="unscored_votes")

    @classmethod
    def of(cls, votes: VoteColumns, rows: IntArray | Sequence[int]) -> Self:
        """Count the votes on some questions.

        Args:
            votes: The votes.
            rows: The row of the data that each question is about.
        """
        unscored = votes.asked & ~votes.answered
        return cls(
            votes=int(votes.asked.sum()),
            unscored_votes=int(unscored.sum()),
            rows=len(np.unique(np.asarray(rows)[votes.question[unscored]])),
            verdicts=votes.n,
            unscored_verdicts=int((votes.per_question(votes.answered) == 0).sum()),
            reasons=MappingProxyType(votes.reasons_of(unscored)),
        )

    @property
    def share(self) -> float | Missing:
        """The share of the votes that are unscored."""
        return self.unscored_votes / self.votes if self.votes else Missing("no vote was asked for")

    @property
    def verdict_share(self) -> float | Missing:
        """The share of the verdicts that are unscored."""
        return self.unscored_verdicts / self.verdicts if self.verdicts else Missing("there are no verdicts")

    def __bool__(self) -> bool:
        return bool(self.unscored_votes or self.unscored_verdicts)

    def __str__(self) -> str:
        """The counts in one sentence.

        >>> some = UnscoredCounts(votes=800, unscored_votes=36, rows=35, verdicts=400, unscored_verdicts=1, reasons={})
        >>> str(some)
        '36 of 800 votes unscored (35 rows affected), 1 verdict unscored'
        >>> str(UnscoredCounts(votes=800, unscored_votes=0, rows=0, verdicts=400, unscored_verdicts=0, reasons={}))
        '0 of 800 votes unscored'
        """
        text = f"{format_count(self.unscored_votes)} of {format_count(self.votes, 'vote')} unscored"
        if self.unscored_votes:
            text += f" ({format_count(self.rows, 'row')} affected)"
        return f"{text}, {format_count(self.unscored_verdicts, 'verdict')} unscored" if self else text

    @property
    def with_reasons(self) -> str:
        """The sentence, and why votes are unscored.

        >>> refused = {"empty": 1, "refusal": 3}
        >>> counts = UnscoredCounts(
        ...     votes=80, unscored_votes=4, rows=4, verdicts=80, unscored_verdicts=4, reasons=refused
        ... )
        >>> counts.with_reasons
        '4 of 80 votes unscored (4 rows affected), 4 verdicts unscored: 3 refusal, 1 empty'
        """
        ordered = sorted(self.reasons.items(), key=lambda each: (-each[1], each[0]))
        listed = ", ".join(f"{format_count(count)} {reason}" for reason, count in ordered)
        return f"{self}: {listed}" if listed else str(self)


UNSCORED_VOTES: Final = Column(
    "unscored votes", lambda each: format_count(each.unscored_counts.unscored_votes), optional=True
)
"""The column of a table of results that have ``unscored_counts``."""


def unscored_note(counts: UnscoredCounts) -> tuple[str, ...]:
    """How many votes and verdicts are unscored, and why, beneath a table; nothing where all are scored.

    >>> one = {"refusal": 2, "empty": 1}
    >>> unscored_note(UnscoredCounts(votes=9, unscored_votes=3, rows=3, verdicts=9, unscored_verdicts=3, reasons=one))
    ('3 of 9 votes unscored (3 rows affected), 3 verdicts unscored: 2 refusal, 1 empty. No score includes them.',)
    """
    return (f"{counts.with_reasons}. No score includes them.",) if counts else ()
