"""What a run would take (its calls, tokens and cost), counted without a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from anyio.from_thread import start_blocking_portal

from evenhand.engines.base import JudgeEngine, PricedEngine, Request, Stage
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls, check_classified
from evenhand.engines.journal import Journal, canonical_json, describe_request, request_key
from evenhand.judging.conversation import Flow
from evenhand.judging.grid import checked_weights, sheets_of, tasks_of
from evenhand.options import Grid
from evenhand.question import Question
from evenhand.votes import Completion

CHARACTERS_PER_TOKEN = 4
EXPECTED_REPLY_TOKENS: Mapping[Stage, int] = {
    "assessment": 200,
    "one_step": 200,
    "summary": 60,
    "selection": 8,
    "reask": 8,
    "verdict": 8,
    "sheet": 0,  # by item
    "sheet_reask": 0,
}
EXPECTED_ITEM_TOKENS = {True: 60, False: 15}
"""Of one entry of a sheet, with reasons and without."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run would do, at most: every reply that the journal holds is counted as cached.

    Attributes:
        votes: Votes in the grid.
        calls: Calls that would be made, without re-asks and retries.
        requests: Requests at most, with every re-ask that is allowed and every retry; None where an engine does not say
            how often it tries (the engines of unitxt).
        cached: Calls that the journal already answers, or will by the time that they are made: equal requests are sent
            once.
        prompt_tokens: Estimated at four characters a token.
        completion_tokens: Estimated at 200 tokens an assessment, 60 a summary, 8 a selection, and for an entry of a
            sheet 60 with reasons and 15 without.
        cost: US dollars for the calls of the engines that know their price; None when none does.
    """

    votes: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    requests: int | None = None

    @classmethod
    def total(cls, parts: Sequence[RunEstimate]) -> Self:
        """What several runs would do together."""
        costs = [part.cost for part in parts if part.cost is not None]
        requests = [part.requests for part in parts if part.requests is not None]
        return cls(
            votes=sum(part.votes for part in parts),
            calls=sum(part.calls for part in parts),
            cached=sum(part.cached for part in parts),
            prompt_tokens=sum(part.prompt_tokens for part in parts),
            completion_tokens=sum(part.completion_tokens for part in parts),
            cost=sum(costs) if costs else None,
            requests=sum(requests) if len(requests) == len(parts) else None,
        )


def estimate_run(
    questions: Sequence[Question],
    judges: Sequence[JudgeEngine],
    *,
    grid: Grid | None = None,
    flow: Flow | None = None,
    journal: Journal | None = None,
    weights: Sequence[float] | None = None,
) -> RunEstimate:
    """What :func:`~evenhand.judging.run.run_votes` would do, without a call."""
    grid, flow = grid or Grid(), flow or Flow()
    checked_weights(judges, weights)
    check_classified(questions, judges)
    sheets = sheets_of(questions, grid)
    asked = set[str]()
    counters = [_DryCalls(judge, journal, asked) for judge in judges]

    async def count() -> None:
        for place, counter in enumerate(counters):
            for task in tasks_of(sheets, grid, place):
                await asyncio.sleep(0)  # where an interrupt is heeded
                for sample in task.samples:
                    before = counter.calls
                    await task.sheet.ask(flow, task.order, sample, counter)
                    counter.reasks += flow.max_reasks if counter.calls > before else 0

    with start_blocking_portal() as portal:
        portal.call(count)
    votes = sum(len(sheet.orders) * len(sheet.rows) for sheet in sheets) * grid.samples
    return RunEstimate.total([counter.estimate(votes) for counter in counters])


class _DryCalls:
    """Answers from the journal or with nothing, and counts what a judge would have been asked."""

    def __init__(self, judge: JudgeEngine, journal: Journal | None, asked: set[str]) -> None:
        self._judge, self._calls = judge, Calls(judge, journal, Budget(max_calls=0))
        identity = judge.identity()
        self._once = identity is not None
        self._identity = "" if identity is None else canonical_json(dict(identity))
        self._asked = asked
        self.calls = self.reasks = self.cached = self.prompt_tokens = self.completion_tokens = 0

    @property
    def judge_id(self) -> str:
        return self._judge.judge_id

    @property
    def cost(self) -> float | None:
        if not isinstance(self._judge, PricedEngine):
            return None
        return self._judge.estimated_cost(self.prompt_tokens, self.completion_tokens)

    @property
    def requests(self) -> int | None:
        """At most; None where the engine does not say how often it tries."""
        attempts: int | None = getattr(self._judge, "most_attempts", None) if self._once else 0
        return None if attempts is None else attempts * (self.calls + self.reasks)

    def estimate(self, votes: int) -> RunEstimate:
        """What this judge would do for so many votes."""
        return RunEstimate(
            votes=votes,
            calls=self.calls,
            cached=self.cached,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost=self.cost,
            requests=self.requests,
        )

    async def complete(self, request: Request) -> Completion:
        known = self._calls.journaled(request)
        if known is not None:
            self.cached += 1
            return known
        key = request_key(self._identity, describe_request(request))
        expected = Completion(text=_expected_text(request, key))
        if self._once and key in self._asked:
            self.cached += 1
            return expected
        self._asked.add(key)
        self.calls += 1
        self.prompt_tokens += sum(len(message["content"]) for message in request.messages) // CHARACTERS_PER_TOKEN
        self.completion_tokens += EXPECTED_REPLY_TOKENS[request.stage]
        self.completion_tokens += len(request.items) * EXPECTED_ITEM_TOKENS[request.reasoning]
        return expected


def _expected_text(request: Request, key: str) -> str:
    """A reply that can be read; an assessment is as long as expected, and another for every request."""
    if request.items:
        answers = [{"index": item.number, "answer": item.presentation.answers[0]} for item in request.items]
        return json.dumps({"answers": answers})
    return (
        request.options[0] if request.options else key.ljust(CHARACTERS_PER_TOKEN * EXPECTED_REPLY_TOKENS["assessment"])
    )
