"""Running a grid of votes: one flat queue a judge, no barriers between stages or batches.

The event loop lives in a thread of its own, so a run works in a script, a notebook, a thread, and beside another loop.
A failed call leaves one unscored vote, and the run goes on. The first interrupt (Control-C, SIGTERM, SIGHUP) stops the
launching of new calls and waits for the replies that are on their way; a second one does not wait.

What a run would take (its calls, tokens and cost) is counted without a call: see :func:`estimate_run`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import Self

from anyio.from_thread import start_blocking_portal

from evenhand.aggregation import draws_are_settled
from evenhand.engines.base import JudgeEngine, PricedEngine, Request, Stage
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls
from evenhand.engines.door import check_classified
from evenhand.engines.journal import Journal, canonical_json, describe_request, request_key
from evenhand.engines.turns import Turns
from evenhand.errors import JournalError, ServerAwayError, Terminated, TooManyFailuresError, ungrouped
from evenhand.judging.flow import Flow
from evenhand.judging.grid import Grid, Task, checked_weights, sheets_of, tasks_of
from evenhand.judging.interrupts import heeding_termination
from evenhand.judging.progress import Progress, progress_bar, tell
from evenhand.question import Question
from evenhand.results.spending import Spending
from evenhand.run_options import LimitOptions
from evenhand.visible import visible
from evenhand.votes import Completion, EarlyStop, Vote, held_once

_logger = logging.getLogger(__name__)

GRACE_SECONDS = 60.0


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


@dataclass(slots=True)
class _Lane:
    """One judge's share of the queue."""

    calls: Calls
    weight: float
    tasks: Iterator[Task]
    count: int


@dataclass(frozen=True, slots=True)
class _Run:
    """What the workers of one run share.

    Attributes:
        votes: Per question a place for each vote: by judge, order and sample.
    """

    flow: Flow
    grid: Grid
    budget: Budget
    progress: Progress
    votes: list[list[Vote | None]]
    journal: Journal | None


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
    weights = checked_weights(judges, weights)
    check_classified(questions, judges)
    sheets = sheets_of(questions, grid)
    budget = Budget(max_calls=limits.max_calls, max_cost=limits.max_cost)
    turns = None if journal is None else Turns(journal)
    votes: list[list[Vote | None]] = [[] for _ in questions]
    for sheet in sheets:
        for row in sheet.rows:
            votes[row] = [None] * (len(sheet.orders) * grid.samples * len(judges))
    lanes = [
        _Lane(
            calls=Calls(judge, turns, budget, offline=limits.offline),
            weight=weight,
            tasks=tasks_of(sheets, grid, place),
            count=sum(len(sheet.orders) for sheet in sheets) * (1 if grid.stop_early else grid.samples),
        )
        for place, (judge, weight) in enumerate(zip(judges, weights, strict=True))
    ]
    total = sum(len(row) for row in votes)
    _logger.info(
        "%d questions, %d votes by %s; %s",
        len(questions),
        total,
        visible(", ".join(judge.judge_id for judge in judges)),
        "no journal" if journal is None else f"the journal is {visible(str(journal.path))}",
    )
    with progress_bar(total, shown=limits.progress) as progress:
        try:
            _drive(lanes, _Run(flow, grid, budget, progress, votes, journal))
        except JournalError as error:
            error.votes = _given(votes)
            raise
    complete = _given(votes)
    _log_end(complete)
    _check_servers(lanes, complete, total, journaled=journal is not None)
    _check_failures(complete, limits.max_failure_rate, journaled=journal is not None)
    return complete


def _given(votes: Sequence[Sequence[Vote | None]]) -> list[tuple[Vote, ...]]:
    """The votes that were cast."""
    return [tuple(vote for vote in row if vote is not None) for row in votes]


def _log_end(votes: Sequence[Sequence[Vote]]) -> None:
    """What came, and why what did not."""
    flat = [vote for row in votes for vote in row]
    reasons = Counter(vote.unscored_reason for vote in flat if vote.unscored_reason is not None)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none"
    _logger.info("%d votes came; unread: %s. %s", len(flat), told, Spending.of(flat) or "Nothing was bought.")


def _drive(lanes: Sequence[_Lane], run: _Run) -> None:
    """Run all lanes on an event loop in another thread, until they are done or the run is interrupted."""
    with _heap_at_rest(), heeding_termination(), start_blocking_portal() as portal:
        running = portal.start_task_soon(_run_lanes, lanes, run)
        try:
            _await_end(running)
        except (KeyboardInterrupt, Terminated) as interrupt:
            for lane in lanes:
                lane.tasks = iter(())
            portal.start_task_soon(run.budget.stop)
            tell(
                f"{_name_of(interrupt)}: no new calls are made. Waiting {GRACE_SECONDS:g} s at most for the replies on "
                "their way; interrupt again not to wait"
            )
            try:
                _await_end(running, GRACE_SECONDS)
            except (KeyboardInterrupt, Terminated, TimeoutError):
                if running.done():  # it failed, and that is told
                    raise
            told = _what_is_left(run)
            tell(f"{_name_of(interrupt)}: {told}")
            interrupt.add_note(told)
            raise


def _name_of(interrupt: KeyboardInterrupt | Terminated) -> str:
    return f"ended by {interrupt.signal.name}" if isinstance(interrupt, Terminated) else "interrupted"


def _what_is_left(run: _Run) -> str:
    """What an interrupted run came to, and how to go on."""
    votes = [vote for row in run.votes for vote in row]
    cast = sum(vote is not None and vote.unscored_reason != "budget" for vote in votes)
    late = f" but the {run.budget.in_flight} that were still on their way" if run.budget.in_flight else ""
    kept = (
        "nothing keeps the replies (journal=None), and a second run asks for everything again"
        if run.journal is None
        else f"every reply that came{late} is in the journal {str(run.journal.path)!r}: run the same again, and only "
        "the rest is asked for"
    )
    return f"{cast} of {len(votes)} votes were cast; {kept}"


@contextmanager
def _heap_at_rest() -> Iterator[None]:
    """Keep what is older than the run out of the garbage collections during it.

    unitxt, datasets and litellm leave a heap whose every walk takes longer than dozens of calls.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _await_end(running: Future[None], seconds: float | None = None) -> None:
    """Wait; what ended the run, such as a full disk under the journal, is raised as itself and not in a group.

    Raises:
        TimeoutError: If it goes on after so many seconds.
    """
    with ungrouped():
        running.result(seconds)


async def _run_lanes(lanes: Sequence[_Lane], run: _Run) -> None:
    async with AsyncExitStack() as stack:
        for lane in lanes:
            await stack.enter_async_context(lane.calls.running(grace=GRACE_SECONDS))
        async with asyncio.TaskGroup() as group:
            workers = [min(lane.calls.engine.concurrency, lane.count) for lane in lanes]
            for turn in range(max(workers)):  # in turns: the first questions get their votes from every judge
                for lane, count in zip(lanes, workers, strict=True):
                    if turn < count:
                        group.create_task(_work(lane, run))


async def _work(lane: _Lane, run: _Run) -> None:
    while not run.budget.stopped and (task := next(lane.tasks, None)) is not None:
        sheet = task.sheet
        expected = run.flow.expected_calls(sheet=sheet.together) if lane.calls.budgeted else 0
        for drawn, (sample, place) in enumerate(zip(task.samples, task.places, strict=True), start=1):
            share = run.budget.share(expected, (sheet.rows[0], place))
            try:
                cast = await sheet.ask(run.flow, task.order, sample, lane.calls.within(share), lane.weight)
            finally:
                share.close()
            if len(task.samples) > 1:
                stop = held_once(EarlyStop(planned=len(task.samples), confidence=run.grid.confidence))
                cast = [vote.model_copy(update={"early_stop": stop}) for vote in cast]
            for row, vote in zip(sheet.rows, cast, strict=True):
                run.votes[row][place] = vote
            run.progress.add(cast)
            left = len(task.samples) - drawn
            if left and _settled(task, run, place, left):
                run.progress.skip(left * len(sheet.rows))
                break


def _settled(task: Task, run: _Run, place: int, left: int) -> bool:
    """Whether the draws left could not change, or are unlikely to change, what is said on any question."""
    return all(
        draws_are_settled(
            [vote for vote in run.votes[row][task.places[0] : place + 1] if vote is not None],
            question.criterion,
            left,
            confidence=run.grid.confidence,
        )
        for row, question in zip(task.sheet.rows, task.sheet.questions, strict=True)
    )


def _check_servers(lanes: Sequence[_Lane], votes: list[tuple[Vote, ...]], total: int, *, journaled: bool) -> None:
    """A server that stayed away ends the run, however few votes were left: none of them failed by itself."""
    away = next((lane.calls for lane in lanes if lane.calls.away is not None), None)
    if away is None:
        return
    came = sum(vote.asked and vote.unscored_reason != "engine_error" for row in votes for vote in row)
    raise ServerAwayError(
        f"judge {away.judge_id!r}: {away.away}. {came} of {total} votes came"
        + (
            "; every reply is in the journal: run the same again when the server is back, and only what is missing is "
            "asked for"
            if journaled
            else "; they are in this error's votes. Without a journal (journal=None) a second run asks for everything "
            "again"
        ),
        votes=votes,
    )


def _check_failures(votes: list[tuple[Vote, ...]], max_failure_rate: float, *, journaled: bool) -> None:
    flat = [vote for row in votes for vote in row]
    failed = [vote for vote in flat if vote.unscored_reason == "engine_error"]
    if not failed or len(failed) <= max_failure_rate * len(flat) + 1e-9:  # 0.29 · 100 is 28.999999999999996
        return
    causes: dict[tuple[str, str], list[str]] = {}
    for vote in failed:
        causes.setdefault((vote.judge_id, str(vote.error).partition(":")[0]), []).append(str(vote.error))
    ranked = sorted(causes.values(), key=len, reverse=True)
    spent = Spending.of(flat)
    raise TooManyFailuresError(
        f"{len(failed)} of {len(flat)} votes failed, more than max_failure_rate={max_failure_rate!r} allows: "
        + "; ".join(f"{len(errors)} × {errors[0]}" for errors in ranked)
        + (
            ". Every reply that came is in the journal: mend the cause and run the same again, and only the failed "
            "calls are made"
            if journaled
            else ". Without a journal (journal=None) a second run asks for everything again: mend the cause first; "
            "the votes that came are in this error's votes"
        )
        + ("" if spent is None else f". {spent}"),
        votes=votes,
    )


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
    costs = [counter.cost for counter in counters if counter.cost is not None]
    requests = [counter.requests for counter in counters if counter.requests is not None]
    return RunEstimate(
        votes=sum(len(sheet.orders) * len(sheet.rows) for sheet in sheets) * grid.samples * len(judges),
        calls=sum(counter.calls for counter in counters),
        cached=sum(counter.cached for counter in counters),
        prompt_tokens=sum(counter.prompt_tokens for counter in counters),
        completion_tokens=sum(counter.completion_tokens for counter in counters),
        cost=sum(costs) if costs else None,
        requests=sum(requests) if len(requests) == len(counters) else None,
    )


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
