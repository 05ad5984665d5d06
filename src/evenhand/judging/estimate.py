"""The estimate of a run (its calls, tokens and cost), counted without a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from anyio.from_thread import start_blocking_portal

from evenhand.engines.base import JudgeEngine, PricedEngine, Request, Stage
from evenhand.engines.calls import check_classified
from evenhand.engines.journal import Journal, canonical_json, describe_request, request_key
from evenhand.judging.conversation import Flow
from evenhand.judging.grid import checked_weights, sheets_of, tasks_of
from evenhand.judging.loop import opened_journal
from evenhand.judging.run import as_asked
from evenhand.options import RunOptions
from evenhand.question import Question
from evenhand.votes import Completion

CHARACTERS_PER_TOKEN = 4
EXPECTED_TOKENS: Mapping[Stage, int] = {"assessment": 200, "one_step": 200, "summary": 60}
EXPECTED_SELECTION_TOKENS = 8
EXPECTED_ITEM_TOKENS = {True: 60, False: 15}
"""Tokens of one entry of a sheet, with reasons and without."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The work of a run; each reply in the journal counts as cached.

    Attributes:
        votes: Votes in the grid.
        calls: Calls that would be made, without re-asks and retries.
        cached: Calls that the journal already answers, or will by the time that they are made: equal requests are sent
            once.
        prompt_tokens: Estimated at four characters per token.
        completion_tokens: Estimated at 200 tokens per assessment, 60 per summary, 8 per selection, and per entry of a
            sheet 60 with reasons and 15 without.
        cost: US dollars for the calls of the engines that know their price; None when none does.
    """

    votes: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    @classmethod
    def total(cls, parts: Sequence[RunEstimate]) -> Self:
        """Return what several runs would do together."""
        found: dict[str, Any] = {}
        for each in fields(cls):
            known = [value for part in parts if (value := getattr(part, each.name)) is not None]
            found[each.name] = sum(known) if known else None
        return cls(**found)


def estimate(
    questions: Sequence[Question], judges: Sequence[JudgeEngine], options: RunOptions, flow: Flow
) -> RunEstimate:
    """Return what :func:`~evenhand.judging.run.ask` would do, without a call."""
    questions = as_asked(questions, options, flow)
    checked_weights(judges, options.judge_weights)
    check_classified(questions, judges)
    sheets = sheets_of(questions, options)
    asked = set[str]()

    async def count(counters: Sequence[_DryCalls]) -> None:
        for place, counter in enumerate(counters):
            for task in tasks_of(sheets, options, place):
                await asyncio.sleep(0)  # where an interrupt ends it
                for sample in task.samples:
                    await task.sheet.ask(flow, task.order, sample, counter)

    with opened_journal(judges, options) as journal, start_blocking_portal() as portal:
        counters = [_DryCalls(judge, journal, asked) for judge in judges]
        portal.call(count, counters)
    votes = sum(len(sheet.orders) * len(sheet.rows) for sheet in sheets) * options.samples
    return RunEstimate.total([counter.estimate(votes) for counter in counters])


class _DryCalls:
    """Answers from the journal or with nothing, and counts the requests to a judge."""

    def __init__(self, judge: JudgeEngine, journal: Journal | None, asked: set[str]) -> None:
        self._judge, self._journal, self._asked = judge, journal, asked
        identity = judge.identity()
        self._identity = None if identity is None else canonical_json(dict(identity))
        self.judge_id = judge.judge_id
        self._calls = self._cached = self._prompt_tokens = self._completion_tokens = 0

    def estimate(self, votes: int) -> RunEstimate:
        """Return what this judge would do for this number of votes."""
        tokens = self._prompt_tokens, self._completion_tokens
        return RunEstimate(
            votes=votes,
            calls=self._calls,
            cached=self._cached,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            cost=self._judge.estimated_cost(*tokens) if isinstance(self._judge, PricedEngine) else None,
        )

    async def complete(self, request: Request) -> Completion:
        """Return the reply of the journal, or one that can be read."""
        key = request_key(self._identity or "", describe_request(request))
        known = None if self._journal is None or self._identity is None else self._journal.get(key)
        if known is not None:
            self._cached += 1
            return known
        if request.items:
            answers = [{"index": item.number, "answer": item.presentation.answers[0]} for item in request.items]
            text = json.dumps({"answers": answers})
        else:  # an assessment is as long as expected, and another for every request
            long = key.ljust(CHARACTERS_PER_TOKEN * EXPECTED_TOKENS["assessment"])
            text = request.options[0] if request.options else long
        if self._identity is not None and key in self._asked:
            self._cached += 1
        else:
            self._asked.add(key)
            self._calls += 1
            self._prompt_tokens += sum(len(each["content"]) for each in request.messages) // CHARACTERS_PER_TOKEN
            of_items = len(request.items) * EXPECTED_ITEM_TOKENS[request.reasoning]
            self._completion_tokens += of_items or EXPECTED_TOKENS.get(request.stage, EXPECTED_SELECTION_TOKENS)
        return Completion(text=text)
