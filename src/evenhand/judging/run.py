"""Running a grid of votes: one flat queue a judge, no barriers between stages or batches.

The event loop lives in a thread of its own, so a run works in a script, a notebook, a thread, and beside another loop.
A failed call leaves one unscored vote, and the run goes on. Runs within
:func:`~evenhand.judging.loop.shared_judging` are judged as if they were one.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from evenhand.engines.base import JudgeEngine
from evenhand.engines.calls import check_classified
from evenhand.engines.journal import Journal
from evenhand.errors import JournalError, ServerAwayError, UnreachableError
from evenhand.judging.flow import Flow
from evenhand.judging.grid import Grid, checked_weights
from evenhand.judging.loop import Panel, Run, is_shared, judging
from evenhand.question import Question
from evenhand.results.spending import Spending
from evenhand.run_options import LimitOptions
from evenhand.visible import visible
from evenhand.votes import Vote

_logger = logging.getLogger(__name__)


class Limits(LimitOptions):
    """When a run stops, and what it puts up with."""

    def after(self, votes: Iterable[Vote]) -> Self:
        """The limits that are left after these votes: a call that brought no reply counts too."""
        spent = list(votes)
        calls = sum(vote.usage.calls + (vote.unscored_reason == "engine_error") for vote in spent)
        cost = sum((vote.usage.cost or 0.0) + vote.usage.at_risk for vote in spent)
        return self.changed(
            max_calls=None if self.max_calls is None else max(0, self.max_calls - calls),
            max_cost=None if self.max_cost is None else max(0.0, self.max_cost - cost),
        )


def run_votes(
    questions: Sequence[Question],
    judges: Sequence[JudgeEngine],
    *,
    grid: Grid | None = None,
    flow: Flow | None = None,
    limits: Limits | None = None,
    journal: Journal | None = None,
    weights: Sequence[float] | None = None,
) -> list[tuple[Vote, ...]]:
    """Every vote of the grid: a tuple per question, ordered by judge, order and sample.

    Questions of one instance that name the same sheet are asked in one call.

    Args:
        questions: What is asked.
        judges: Who is asked; a panel when there are several.
        grid: Orders and samples.
        flow: How a judge is asked.
        limits: Budget, tolerated failures, progress bar.
        journal: Where replies are kept and found again; None keeps none.
        weights: One a judge; 1 each by default.

    Raises:
        InvalidInputError: No judge, two judges with one name, or weights that do not fit the judges.
        DataClassificationError: A judge may not be shown what a question is about; nobody was asked.
        TooManyFailuresError: More votes failed than ``limits.max_failure_rate`` allows; its ``votes`` are what this
            function would have returned.
        ServerAwayError: A judge's server stayed away; its ``votes`` are those that came.
        JournalError: Replies could not be recorded, so that calls were not made; its ``votes`` are as above.
    """
    grid, flow, limits = grid or Grid(), flow or Flow(), limits or Limits()
    panel = Panel(judges, checked_weights(judges, weights), limits, journal)
    check_classified(questions, judges)
    run = Run.of(questions, grid, flow, len(judges), block=is_shared())
    _logger.info(
        "%d questions, %d votes by %s; %s",
        len(questions),
        run.total,
        visible(", ".join(judge.judge_id for judge in judges)),
        "no journal" if journal is None else f"the journal is {visible(str(journal.path))}",
    )
    try:
        with judging() as place:
            place.cast(run, panel)
    except JournalError as error:
        error.votes = run.cast()
        raise
    votes, journaled = run.cast(), journal is not None
    _log_end(votes)
    if away := place.away(panel):  # however few votes were left: none of them failed by itself
        raise _server_away(*away, votes, run.total, journaled=journaled)
    place.tally(run, votes, limits.max_failure_rate, journaled=journaled)
    return votes


def _log_end(votes: Sequence[Sequence[Vote]]) -> None:
    """What came, and why what did not."""
    flat = [vote for row in votes for vote in row]
    reasons = Counter(vote.unscored_reason for vote in flat if vote.unscored)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none"
    _logger.info(
        "%d of %d votes unscored: %s. %s", reasons.total(), len(flat), told, Spending.of(flat) or "Nothing was bought."
    )


def _server_away(
    judge_id: str, why: UnreachableError, votes: list[tuple[Vote, ...]], total: int, *, journaled: bool
) -> ServerAwayError:
    came = sum(vote.asked and vote.unscored_reason != "engine_error" for row in votes for vote in row)
    return ServerAwayError(
        f"judge {judge_id!r}: {why}. {came} of {total} votes came"
        + (
            "; every reply is in the journal: run the same again when the server is back, and only what is missing is "
            "asked for"
            if journaled
            else "; they are in this error's votes. Without a journal (journal=None) a second run asks for everything "
            "again"
        ),
        votes=votes,
    )
