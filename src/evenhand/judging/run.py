"""Running a grid of votes: one flat queue a judge, no barriers between stages or batches.

The event loop lives in a thread of its own, so a run works in a script, a notebook, a thread, and beside another loop.
A failed call leaves one unscored vote, and the run goes on. The first interrupt stops the launching of new calls and
waits for the replies that are on their way; a second one does not wait.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

from anyio.from_thread import start_blocking_portal
from tqdm.auto import tqdm

from evenhand.aggregation import draws_are_settled
from evenhand.engines.base import JudgeEngine, PricedEngine, Request, Stage
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal, canonical_json, describe_request, request_key
from evenhand.errors import InvalidInputError, TooManyFailuresError, ungrouped
from evenhand.judging.conversation import Caller
from evenhand.judging.flow import Flow
from evenhand.judging.grid import Grid, Permutation
from evenhand.question import Question
from evenhand.votes import Completion, Usage, Vote

CHARACTERS_PER_TOKEN = 4
GRACE_SECONDS = 60.0
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
class Limits:
    """When a run stops, and what it puts up with.

    Attributes:
        max_calls: Calls to launch at most; votes beyond are unscored with the reason ``budget``. Replies in the journal
            are not calls. A vote that begins sets aside the calls that it is expected to need, so that the calls go
            to whole votes, in the order of the questions.
        max_cost: US dollars after which no call is launched; a reply without a known price ends the run too. Calls are
            set aside at the mean cost so far.
        max_failure_rate: The share of votes that may fail (reason ``engine_error``) before the run ends in an error.
        progress: Show a progress bar.
    """

    max_calls: int | None = None
    max_cost: float | None = None
    max_failure_rate: float = 0.2
    progress: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.max_failure_rate <= 1:
            raise InvalidInputError(f"max_failure_rate is {self.max_failure_rate!r}; it lies between 0 and 1")
        for name in ("max_calls", "max_cost"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidInputError(f"{name} is {value!r}; it must be 0 or more, or None for no limit")

    def after(self, votes: Iterable[Vote]) -> Self:
        """The limits that are left after these votes: a call that brought no reply counts too."""
        spent = list(votes)
        calls = sum(vote.usage.calls + (vote.unscored_reason == "engine_error") for vote in spent)
        cost = sum(vote.usage.cost or 0.0 for vote in spent)
        return replace(
            self,
            max_calls=None if self.max_calls is None else max(0, self.max_calls - calls),
            max_cost=None if self.max_cost is None else max(0.0, self.max_cost - cost),
        )


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run would do, at most: every reply that the journal holds is counted as cached.

    Attributes:
        votes: Votes in the grid.
        calls: Calls that would be made, without re-asks and retries.
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

    @classmethod
    def total(cls, parts: Sequence[RunEstimate]) -> Self:
        """What several runs would do together."""
        costs = [part.cost for part in parts if part.cost is not None]
        return cls(
            votes=sum(part.votes for part in parts),
            calls=sum(part.calls for part in parts),
            cached=sum(part.cached for part in parts),
            prompt_tokens=sum(part.prompt_tokens for part in parts),
            completion_tokens=sum(part.completion_tokens for part in parts),
            cost=sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What is asked in one call: one question, or those of a sheet; and the orders in which it is shown.

    Attributes:
        rows: The indices of the questions.
        questions: The questions.
        orders: Per order the permutation of each question. Where questions have different numbers of permutations,
            those that have fewer begin again: their votes are further draws in that order.
        offsets: Per order and question the number of draws in that order before.
    """

    rows: tuple[int, ...]
    questions: tuple[Question, ...]
    orders: tuple[tuple[Permutation, ...], ...]
    offsets: tuple[tuple[int, ...], ...]

    async def ask(self, flow: Flow, order: int, sample: int, caller: Caller, weight: float = 1.0) -> list[Vote]:
        """One vote a question."""
        shown = self.orders[order]
        if self.together:
            votes = await flow.ask_sheet(self.questions, shown, sample, caller, weight=weight)
            return [
                vote.model_copy(update={"sample": sample + offset}) if offset else vote
                for vote, offset in zip(votes, self.offsets[order], strict=True)
            ]
        return [await flow.ask(self.questions[0], shown[0], sample, caller, weight=weight)]

    @property
    def together(self) -> bool:
        """Whether one reply answers several questions."""
        return bool(self.questions[0].sheet)


@dataclass(frozen=True, slots=True)
class _Task:
    """Draws of one sheet in one order: one draw, or all of them where the later ones may not be needed."""

    sheet: _Sheet
    order: int
    samples: range
    places: range


@dataclass(slots=True)
class _Lane:
    """One judge's share of the queue."""

    calls: Calls
    weight: float
    tasks: Iterator[_Task]
    count: int


@dataclass(slots=True)
class _Progress:
    """The bar: judged, unscored, calls, tokens, cost, and the time left."""

    bar: tqdm[None]
    usage: Usage = field(default_factory=Usage)
    unscored: int = 0

    def add(self, votes: Sequence[Vote]) -> None:
        for vote in votes:
            self.usage += vote.usage
            self.unscored += vote.unscored_reason is not None
        if self.bar.disable:
            return
        cost = "" if self.usage.cost is None else f", ${self.usage.cost:.4f}"
        tokens = self.usage.prompt_tokens + self.usage.completion_tokens
        self.bar.set_postfix_str(
            f"{self.unscored} unscored, {self.usage.calls} calls, {tokens} tokens{cost}", refresh=False
        )
        self.bar.update(len(votes))

    def skip(self, votes: int) -> None:
        """Count draws that are not needed as done."""
        self.bar.update(votes)


@dataclass(frozen=True, slots=True)
class _Run:
    """What the workers of one run share.

    Attributes:
        votes: Per question a place for each vote: by judge, order and sample.
    """

    flow: Flow
    grid: Grid
    budget: Budget
    progress: _Progress
    votes: list[list[Vote | None]]


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
    """Every vote of the grid: a tuple a question, ordered by judge, order and sample.

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
        TooManyFailuresError: More votes failed than ``limits.max_failure_rate`` allows; its ``votes`` are what this
            function would have returned.
    """
    grid, flow, limits = grid or Grid(), flow or Flow(), limits or Limits()
    weights = _checked_weights(judges, weights)
    sheets = _sheets(questions, grid)
    budget = Budget(max_calls=limits.max_calls, max_cost=limits.max_cost)
    votes: list[list[Vote | None]] = [[] for _ in questions]
    for sheet in sheets:
        for row in sheet.rows:
            votes[row] = [None] * (len(sheet.orders) * grid.samples * len(judges))
    lanes = [
        _Lane(
            calls=Calls(judge, journal, budget),
            weight=weight,
            tasks=_tasks(sheets, grid, place),
            count=sum(len(sheet.orders) for sheet in sheets) * (1 if grid.stop_early else grid.samples),
        )
        for place, (judge, weight) in enumerate(zip(judges, weights, strict=True))
    ]
    total = sum(len(row) for row in votes)
    with tqdm(total=total, unit="vote", disable=not limits.progress, desc="judging") as bar:
        _drive(lanes, _Run(flow, grid, budget, _Progress(bar), votes))
    complete = [tuple(vote for vote in row if vote is not None) for row in votes]
    _check_failures(complete, limits.max_failure_rate, journaled=journal is not None)
    return complete


def estimate_run(
    questions: Sequence[Question],
    judges: Sequence[JudgeEngine],
    *,
    grid: Grid | None = None,
    flow: Flow | None = None,
    journal: Journal | None = None,
    weights: Sequence[float] | None = None,
) -> RunEstimate:
    """What :func:`run_votes` would do, without a call."""
    grid, flow = grid or Grid(), flow or Flow()
    _checked_weights(judges, weights)
    sheets = _sheets(questions, grid)
    asked = set[str]()
    counters = [_DryCalls(judge, journal, asked) for judge in judges]

    async def count() -> None:
        for place, counter in enumerate(counters):
            for task in _tasks(sheets, grid, place):
                for sample in task.samples:
                    await task.sheet.ask(flow, task.order, sample, counter)

    with start_blocking_portal() as portal:
        portal.call(count)
    costs = [counter.cost for counter in counters if counter.cost is not None]
    return RunEstimate(
        votes=sum(len(sheet.orders) * len(sheet.rows) for sheet in sheets) * grid.samples * len(judges),
        calls=sum(counter.calls for counter in counters),
        cached=sum(counter.cached for counter in counters),
        prompt_tokens=sum(counter.prompt_tokens for counter in counters),
        completion_tokens=sum(counter.completion_tokens for counter in counters),
        cost=sum(costs) if costs else None,
    )


def _checked_weights(judges: Sequence[JudgeEngine], weights: Sequence[float] | None) -> Sequence[float]:
    if not judges:
        raise InvalidInputError("no judge was given; give an inference engine, or a list of them for a panel")
    names = [judge.judge_id for judge in judges]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidInputError(
            f"the panel has several judges named {repeated!r}; their votes could not be told apart. "
            "For repeated draws of one judge set samples"
        )
    if weights is None:
        return [1.0] * len(judges)
    if len(weights) != len(judges) or any(not 0 < weight < math.inf for weight in weights):
        raise InvalidInputError(f"judge_weights is {list(weights)!r}; give one positive weight for each of {names!r}")
    return weights


def _sheets(questions: Sequence[Question], grid: Grid) -> list[_Sheet]:
    """What is asked in one call each, in the order of the questions.

    Raises:
        InvalidInputError: If the questions of a sheet are not about the same response.
    """
    together: dict[object, list[int]] = {}
    for row, question in enumerate(questions):
        together.setdefault((question.instance, question.sheet) if question.sheet else row, []).append(row)
    permutations = grid.permutations(questions)
    sheets = []
    for rows in together.values():
        asked = tuple(questions[row] for row in rows)
        if any(question.responses != asked[0].responses for question in asked):
            raise InvalidInputError(f"the sheet {asked[0].sheet!r} asks about different responses; give each its own")
        width = max(len(permutations[row]) for row in rows)
        orders = tuple(
            tuple(permutations[row][place % len(permutations[row])] for row in rows) for place in range(width)
        )
        offsets = tuple(tuple(place // len(permutations[row]) * grid.samples for row in rows) for place in range(width))
        sheets.append(_Sheet(tuple(rows), asked, orders, offsets))
    return sheets


def _tasks(sheets: Sequence[_Sheet], grid: Grid, judge: int) -> Iterator[_Task]:
    """What one judge is asked, with the places of the votes among those on a question."""
    draws = range(grid.samples)
    for sheet in sheets:
        place = judge * len(sheet.orders) * grid.samples
        for order in range(len(sheet.orders)):
            if grid.stop_early:
                yield _Task(sheet, order, draws, range(place, place + grid.samples))
            else:
                for sample in draws:
                    yield _Task(sheet, order, range(sample, sample + 1), range(place + sample, place + sample + 1))
            place += grid.samples


def _drive(lanes: Sequence[_Lane], run: _Run) -> None:
    """Run all lanes on an event loop in another thread, until they are done or the user interrupts."""
    with _heap_at_rest(), start_blocking_portal() as portal:
        running = portal.start_task_soon(_run_lanes, lanes, run)
        try:
            _await_end(running)
        except KeyboardInterrupt:
            for lane in lanes:
                lane.tasks = iter(())
            portal.start_task_soon(run.budget.stop)
            run.progress.bar.write(
                "interrupted: waiting for the replies that are on their way; interrupt again not to wait"
            )
            _await_end(running)
            raise


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


def _await_end(running: Future[None]) -> None:
    """Wait; what ended the run, such as a full disk under the journal, is raised as itself and not in a group."""
    with ungrouped():
        running.result()


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
    while (task := next(lane.tasks, None)) is not None:
        sheet = task.sheet
        expected = run.flow.expected_calls(sheet=sheet.together) if lane.calls.budgeted else 0
        for drawn, (sample, place) in enumerate(zip(task.samples, task.places, strict=True), start=1):
            share = run.budget.share(expected, (sheet.rows[0], place))
            try:
                cast = await sheet.ask(run.flow, task.order, sample, lane.calls.within(share), lane.weight)
            finally:
                share.close()
            for row, vote in zip(sheet.rows, cast, strict=True):
                run.votes[row][place] = vote
            run.progress.add(cast)
            left = len(task.samples) - drawn
            if left and _settled(task, run, place, left):
                run.progress.skip(left * len(sheet.rows))
                break


def _settled(task: _Task, run: _Run, place: int, left: int) -> bool:
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


def _check_failures(votes: list[tuple[Vote, ...]], max_failure_rate: float, *, journaled: bool) -> None:
    flat = [vote for row in votes for vote in row]
    failed = [vote for vote in flat if vote.unscored_reason == "engine_error"]
    if not failed or len(failed) <= max_failure_rate * len(flat) + 1e-9:  # 0.29 · 100 is 28.999999999999996
        return
    causes: dict[tuple[str, str], list[str]] = {}
    for vote in failed:
        causes.setdefault((vote.judge_id, str(vote.error).partition(":")[0]), []).append(str(vote.error))
    ranked = sorted(causes.values(), key=len, reverse=True)
    raise TooManyFailuresError(
        f"{len(failed)} of {len(flat)} votes failed, more than max_failure_rate={max_failure_rate!r} allows: "
        + "; ".join(f"{len(errors)} × {errors[0]}" for errors in ranked)
        + (
            ". Every reply that came is in the journal: mend the cause and run the same again, and only the failed "
            "calls are made"
            if journaled
            else ". Without a journal (journal=None) a second run asks for everything again: mend the cause first; "
            "the votes that came are in this error's votes"
        ),
        votes=votes,
    )


class _DryCalls:
    """Answers from the journal or with nothing, and counts what a judge would have been asked."""

    def __init__(self, judge: JudgeEngine, journal: Journal | None, asked: set[str]) -> None:
        self._judge, self._calls = judge, Calls(judge, journal, Budget(max_calls=0))
        identity = judge.identity()
        self._once = identity is not None
        self._identity = "" if identity is None else canonical_json(dict(identity))
        self._asked = asked
        self.calls = self.cached = self.prompt_tokens = self.completion_tokens = 0

    @property
    def judge_id(self) -> str:
        return self._judge.judge_id

    @property
    def cost(self) -> float | None:
        if not isinstance(self._judge, PricedEngine):
            return None
        return self._judge.estimated_cost(self.prompt_tokens, self.completion_tokens)

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
