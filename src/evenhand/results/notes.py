"""Sentences beneath tables of results: spending, unscored votes, and explanations of numbers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from evenhand.aggregation.verdict import REDRAW
from evenhand.numbers import format_cost, format_count
from evenhand.results.measures import UnscoredCounts, measure
from evenhand.results.vote_columns import REASONS, VoteColumns
from evenhand.votes import Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The requests and the cost of a run's engines, without those that send nothing.

    Attributes:
        bought: Replies newly bought.
        requests: Requests sent, including retries and calls that failed.
        cost: US dollars that the replies cost, a lower limit if some are unreported; None if no price is known.
        from_journal: Replies that the journal held, or that another request was asking for already.
        wasted: Replies bought that made no vote.
        wasted_cost: US dollars that wasted replies cost; None if no price is known.
        lost: Requests that brought no reply and may have been billed.
        unreported: Replies whose usage the server did not report, or reported with fewer tokens than their texts have.
        calls_left: The rest of ``max_calls``, in replies; None without.
        cost_left: The rest of ``max_cost``, in US dollars, without reserved amounts; None without.
        cost_reserved: The part of ``max_cost``, in US dollars, that the lost requests may have cost, and the unreported
            replies beyond their cost; None without.
        cached_tokens: Prompt tokens of newly bought replies that the servers' own caches held, if reported.
        unscored_from_journal: Unscored votes whose replies all came from the journal.
    """

    bought: int
    requests: int = measure("count")
    cost: float | None
    from_journal: int
    wasted: int = measure("count", name="wasted_replies")
    wasted_cost: float | None = measure("money")
    lost: int = measure("count", name="lost_requests")
    unreported: int = measure("count", name="unreported_replies")
    calls_left: int | None = measure("count")
    cost_left: float | None = measure("money")
    cost_reserved: float | None = measure("money")
    cached_tokens: int = 0
    unscored_from_journal: int = 0

    @classmethod
    def of(cls, votes: Iterable[Vote] | VoteColumns, limits: Mapping[str, Any] | None = None) -> Self | None:
        """Sum up the spending of votes; None if no engine was asked that sends anything.

        Args:
            votes: All of a run.
            limits: ``max_calls`` and ``max_cost``, where they were given.
        """
        columns = votes if isinstance(votes, VoteColumns) else VoteColumns.of([list(votes)])
        limits, sent = limits or {}, columns.sent
        if not sent.any():
            return None
        used, wasted = columns.used(sent), columns.used(sent & ~columns.selected)
        failed = int((sent & (columns.reason == REASONS.index("engine_error"))).sum())
        calls, cost = limits.get("max_calls"), limits.get("max_cost")
        return cls(
            bought=used.calls,
            requests=used.requests,
            cost=used.cost,
            from_journal=used.cached,
            wasted=wasted.calls,
            wasted_cost=None if used.cost is None else wasted.cost or 0.0,
            lost=used.lost,
            unreported=used.unreported,
            calls_left=None if calls is None else max(0, calls - used.calls - failed),
            cost_left=None if cost is None else max(0.0, cost - (used.cost or 0.0) - used.at_risk),
            cost_reserved=used.at_risk if cost is not None or used.at_risk else None,
            cached_tokens=used.cached_tokens,
            unscored_from_journal=columns.unscored_from_journal,
        )

    def __str__(self) -> str:
        least = "at least " if self.unreported else ""
        for_cost = "" if self.cost is None else f" for {least}{format_cost(self.cost)}"
        bought = f"Bought {format_count(self.bought, 'reply')}{for_cost} with {format_count(self.requests, 'request')}"
        parts = [f"{bought}; {format_count(self.from_journal)} came from the journal."]
        if self.cached_tokens:
            parts.append(f"The servers' own caches held {format_count(self.cached_tokens, 'token')} of the prompts.")
        if self.wasted:
            cost = f", {format_cost(self.wasted_cost)}" if self.wasted_cost is not None else ""
            parts.append(f"Wasted: {format_count(self.wasted, 'reply')}{cost} without a vote.")
        if self.unscored_from_journal:
            parts.append(
                f"{format_count(self.unscored_from_journal, 'unscored vote')} came from the journal, whose replies are "
                "never asked for again: to ask again, name a new journal (journal=…, in the shell --journal)."
            )
        replies, requests = format_count(self.unreported, "reply"), format_count(self.lost, "request")
        if self.lost:
            parts.append(f"{requests} brought no reply and may be billed.")
        if self.unreported:
            parts.append(f"The server did not report the usage of {replies}, or less than their texts have.")
        if self.cost_reserved:
            reserved_for = [f"{replies} whose usage the server did not report"] * bool(self.unreported)
            reserved_for += [f"{requests} without a reply"] * bool(self.lost)
            reserved = " and ".join(reserved_for)
            parts.append(f"{format_cost(self.cost_reserved)} of max_cost is reserved for {reserved}.")
        if self.cost_left is not None:
            parts.append(f"Left of max_cost: {format_cost(self.cost_left)}.")
        if self.calls_left is not None:
            parts.append(f"Left of max_calls: {format_count(self.calls_left)}.")
        return " ".join(parts)


def spending_notes(spent: Spending | None, reasons: Container[str]) -> tuple[str, ...]:
    """Return the note on the spending beneath a result; nothing if nothing was sent and nothing held back.

    Args:
        spent: The spending of the run.
        reasons: Why votes selected nothing.
    """
    held_back = (note for reason, note in _HELD_BACK.items() if reason in reasons)
    return (*(() if spent is None else (str(spent),)), *held_back)


_HELD_BACK: Final = {
    "mock_mode": "unitxt's mock_inference_mode was on: judges that send requests were not asked.",
    "offline": "Offline: what the journal does not hold was not asked for, and is unscored.",
}


def unscored_note(counts: UnscoredCounts) -> tuple[str, ...]:
    """Return the note on unscored votes and verdicts beneath a table, with reasons; nothing if all are scored.

    >>> one = {"refusal": 2, "empty": 1}
    >>> unscored_note(UnscoredCounts(votes=9, unscored_votes=3, rows=3, verdicts=9, unscored_verdicts=3, reasons=one))
    ('3 of 9 votes unscored (3 rows affected), 3 verdicts unscored: 2 refusal, 1 empty. No score includes them.',)
    """
    return (f"{counts.with_reasons}. No score includes them.",) if counts else ()


def could_stop_early(parameters: Mapping[str, Any]) -> bool:
    """Return whether a table's parameters say that draws could stop early."""
    grid = parameters.get("grid", {})
    return bool(grid.get("stop_early")) and grid["samples"] > 1


BASELINE = (
    "The baseline judge is text statistics without a model, the same for every criterion and question: the floor that "
    "a real judge must beat, not a measure of quality."
)


def early_stop_note(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the note on measures that do not use all draws, if these could stop early (`aggregation.verdict`)."""
    if not could_stop_early(parameters):
        return ()
    note = (
        "Draws stopped once their outcome was settled. Scores are those of the outcomes; agreement, parse rate, "
        "stability and what is estimated from single votes rest on the draws that are made in any case, the first two "
        f"of a prompt; means and spreads over draws are missing, because the stop would bias them: {REDRAW}."
    )
    return (note,)


def unscored_bounds_note(leading: Mapping[str, object | None]) -> tuple[str, ...]:
    """Return the note that explains bounds in the place of a score; nothing if there are none.

    Args:
        leading: Name of a score -> its bounds, if these lead.
    """
    named = [name for name, bounds in leading.items() if bounds is not None]
    if not named:
        return ()
    text = (
        f"Bounds lead for {'; '.join(named)}: too many votes are unscored for the mean of the rest to be the score, "
        "since unscored votes are not a random sample. Had all been scored, the score would lie between the bounds; "
        "the brackets are the interval around both."
    )
    return (text,)


def baseline_note(judges: Iterable[str]) -> tuple[str, ...]:
    """Return the note that explains the baseline, if it is among the judges."""
    if not any("baseline" in judge for judge in judges):
        return ()
    return (BASELINE,)


def spread_note(spreads: Iterable[object]) -> tuple[str, ...]:
    """Explain ± after a score; nothing if there is no spread.

    Args:
        spreads: The spreads of the scores shown; each is missing if nothing was drawn again.
    """
    if not any(spreads):
        return ()
    note = (
        "± is the spread of draws: the standard deviation of the scores of one prompt's draws, averaged over rows. It "
        "shows how steady the judge is on a row; the interval shows how precisely the rows determine the mean."
    )
    return (note,)
