"""What runs share that are judged together: one event loop in a thread of its own, with a queue for each judge.

A single run is judged so too, alone. The first interrupt (Control-C, SIGTERM, SIGHUP) stops the launching of new calls
and waits for the replies that are on their way; a second one does not wait.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from evenhand.aggregation import draws_are_settled
from evenhand.engines.base import JudgeEngine
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal, open_journal
from evenhand.engines.turns import Turns
from evenhand.errors import EvenhandError, Terminated, TooManyFailuresError, ungrouped
from evenhand.judging.flow import Flow
from evenhand.judging.grid import Grid, Sheet, Task, sheets_of, tasks_of
from evenhand.judging.interrupts import heeding_termination
from evenhand.judging.progress import Progress, progress_bar, tell
from evenhand.question import Question
from evenhand.results.notes import Spending
from evenhand.run_options import LimitOptions
from evenhand.votes import EarlyStop, Vote, held_once

GRACE_SECONDS = 60.0

MOST_REPLIES: Final = 50_000
"""So many replies are held where no journal keeps them and blocks come without end: an equal request is sent once
among as many others."""

Result = TypeVar("Result")

_shared: ContextVar[Judging | None] = ContextVar("_shared", default=None)


class InterruptedJudgingError(EvenhandError):
    """The runs with which this one shares its judging were interrupted, and so was it."""


@dataclass(slots=True, eq=False)
class Run:
    """One grid of votes.

    Attributes:
        sheets: What is asked.
        votes: Per question a place for each vote: by judge, order and sample.
        number: Which of the runs that share their judging it is.
        left: Judges who still have tasks.
        under_way: Tasks begun.
        done: Told when all is cast, or nothing more will be.
    """

    flow: Flow
    grid: Grid
    sheets: list[Sheet]
    votes: list[list[Vote | None]]
    number: int = 0
    left: int = 0
    under_way: int = 0
    done: Future[None] = field(default_factory=Future)

    @classmethod
    def of(cls, questions: Sequence[Question], grid: Grid, flow: Flow, judges: int, *, block: bool) -> Self:
        """A run in which nothing is cast yet."""
        sheets = sheets_of(questions, grid, block=block)
        votes: list[list[Vote | None]] = [[] for _ in questions]
        for sheet in sheets:
            for row in sheet.rows:
                votes[row] = [None] * (len(sheet.orders) * grid.samples * judges)
        return cls(flow, grid, sheets, votes)

    @property
    def total(self) -> int:
        """Votes to be cast."""
        return sum(map(len, self.votes))

    def cast(self) -> list[tuple[Vote, ...]]:
        """The votes that were cast."""
        return [tuple(vote for vote in row if vote is not None) for row in self.votes]

    def check(self) -> None:
        """See whether all is cast."""
        if not self.left and not self.under_way:
            self.end()

    def end(self, failure: BaseException | None = None) -> None:
        """Nothing more is cast."""
        if not self.done.done():
            self.done.set_exception(failure) if failure is not None else self.done.set_result(None)


@dataclass(slots=True)
class _Part:
    """What one judge is asked in a run.

    Attributes:
        count: How many workers can be of use.
    """

    run: Run
    tasks: Iterator[Task]
    weight: float
    count: int


@dataclass(slots=True)
class Lane:
    """A judge and its queue.

    Attributes:
        workers: How many tasks of the event loop work on the queue.
        opened: Whether the engine is ready for calls.
    """

    calls: Calls
    parts: deque[_Part] = field(default_factory=deque)
    workers: int = 0
    opened: bool = False

    def next(self) -> tuple[_Part, Task] | None:
        """The next task."""
        while self.parts:
            part = self.parts[0]
            task = next(part.tasks, None)
            if task is not None:
                part.run.under_way += 1
                return part, task
            self.parts.popleft()
            part.run.left -= 1
            part.run.check()
        return None

    def empty(self) -> None:
        """Begin nothing more."""
        while self.parts:
            run = self.parts.popleft().run
            run.left -= 1
            run.check()


@dataclass(slots=True)
class _Tally:
    """How many votes were cast in the runs that are done, and which of them failed, and why.

    Attributes:
        held: Those of earlier runs, which hold.
        causes: Judge and kind of failure -> how many, and the first of them in words.
    """

    votes: int = 0
    held: int = 0
    causes: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def add(self, votes: Iterable[Sequence[Vote]]) -> None:
        """Count the votes of one more run."""
        for vote in (vote for row in votes for vote in row):
            self.votes += 1
            if vote.unscored_reason == "engine_error":
                error = str(vote.error)
                kind = (vote.judge_id, error.partition(":")[0])
                count, first = self.causes.get(kind, (0, error))
                self.causes[kind] = count + 1, first

    def check(self, votes: list[tuple[Vote, ...]], max_failure_rate: float, *, journaled: bool) -> None:
        """See whether too many failed.

        Args:
            votes: Those of the last run.
            max_failure_rate: The share that may.
            journaled: Whether replies are kept.

        Raises:
            TooManyFailuresError: If more did.
        """
        failed = sum(count for count, _ in self.causes.values())
        asked = self.votes + self.held
        if not failed or failed <= max_failure_rate * asked + 1e-9:  # 0.29 · 100 is 28.999999999999996
            return
        ranked = sorted(self.causes.values(), key=lambda cause: -cause[0])
        spent = Spending.of(vote for row in votes for vote in row)
        raise TooManyFailuresError(
            f"{failed} of {asked} votes failed, more than max_failure_rate={max_failure_rate!r} allows: "
            + "; ".join(f"{count} × {first}" for count, first in ranked)
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


class Judging:
    """What runs that are judged together share: an event loop with a queue for each judge, journal, limits, progress.

    Attributes:
        budget: The limits of the first run, over all.
        progress: Over all.
    """

    budget: Budget
    progress: Progress

    def __init__(self, portal: BlockingPortal, held: ExitStack, *, shared: bool) -> None:
        self._portal = portal
        self._held = held  # what is closed at the end: journals, the bar
        self._shared = shared
        self._lock = threading.Lock()
        self._lanes: dict[int, Lane] = {}
        self._journals: dict[object, Journal] = {}
        self._turns: dict[Journal, Turns] = {}
        self._runs: list[Run] = []  # that are not tallied
        self._numbers = count()
        self._tally = _Tally()
        self._votes = 0  # of the runs that are in the queues
        self._expected = 0
        self._begun = False
        self._lent: tuple[Budget, Journal | None] | None = None
        self._interrupted = False
        self._wanted: asyncio.Queue[Lane | None] = portal.call(_queue)
        self._serving = portal.start_task_soon(self._serve)

    def expect(self, votes: int) -> None:
        """About how many votes all runs will come to, as progress tells; no fewer than those of the runs begun."""
        self._expected = votes
        if self._begun:
            self.progress.total = self._total()

    def _total(self) -> int:
        return max(self._expected, self._votes)

    def count(self, votes: int) -> None:
        """So many votes were cast before and hold: they are among those of which some may fail."""
        with self._lock:
            self._tally.held += votes

    def lend(self, budget: Budget, journal: Journal | None) -> None:
        """Before the first run: a budget in place of the runs' limits, and a journal in place of theirs."""
        self._lent = budget, journal

    def call(self, function: Callable[..., Result], *given: object) -> Result:
        """What a function returns that runs on the event loop."""
        return self._portal.call(function, *given)

    def journal(self, setting: object) -> Journal | None:
        """The journal of all runs that name it so; it is closed at the end."""
        if self._lent is not None:
            return None if setting is None else self._lent[1]
        with self._lock:
            if setting not in self._journals:
                opened = open_journal(setting)  # type: ignore[arg-type] # as settings hold it
                if opened is None:
                    return None
                self._held.callback(opened.close)
                self._journals[setting] = opened
            return self._journals[setting]

    def cast(
        self,
        run: Run,
        judges: Sequence[JudgeEngine],
        weights: Sequence[float],
        limits: LimitOptions,
        journal: Journal | None,
    ) -> list[Lane]:
        """Cast the votes of a run, beside those of others; returns when there are no more to come.

        Raises:
            InterruptedJudgingError: If the runs were interrupted, in another thread.
        """
        with self._lock:
            self._begin(limits)
            run.number = next(self._numbers)
            self._runs.append(run)
            lanes = [self._lane(judge, limits, journal) for judge in judges]
        tasks = sum(len(sheet.orders) for sheet in run.sheets) * (1 if run.grid.stop_early else run.grid.samples)
        parts = [
            _Part(run, tasks_of(run.sheets, run.grid, place), weight, tasks) for place, weight in enumerate(weights)
        ]
        self._portal.start_task_soon(self._enqueue, run, lanes, parts)
        with ungrouped():
            run.done.result()
        if self._interrupted and self._shared:
            raise InterruptedJudgingError("the run was interrupted; what came is in the journal, where there is one")
        return lanes

    def tally(self, run: Run, votes: list[tuple[Vote, ...]], max_failure_rate: float, *, journaled: bool) -> None:
        """Count the votes of a run that is done.

        Raises:
            TooManyFailuresError: More of the votes of all runs failed than may.
        """
        with self._lock:
            self._runs.remove(run)  # of thousands of blocks none is held once it is done
            self._tally.add(votes)
            self._tally.check(votes, max_failure_rate, journaled=journaled)

    def _begin(self, limits: LimitOptions) -> None:
        if not self._begun:
            own = self._lent or (Budget(max_calls=limits.max_calls, max_cost=limits.max_cost), None)
            self.budget = own[0]
            self.progress = self._held.enter_context(progress_bar(self._total(), shown=limits.progress))
            self._begun = True

    def _lane(self, judge: JudgeEngine, limits: LimitOptions, journal: Journal | None) -> Lane:
        if id(judge) not in self._lanes:
            if journal is not None and journal not in self._turns:
                self._turns[journal] = Turns(journal)
            turns = None if journal is None else self._turns[journal]
            most = MOST_REPLIES if self._shared else None
            calls = Calls(judge, turns, self.budget, offline=limits.offline, most_replies=most)
            self._lanes[id(judge)] = Lane(calls)
        return self._lanes[id(judge)]

    async def _enqueue(self, run: Run, lanes: Sequence[Lane], parts: Sequence[_Part]) -> None:
        """Put a run into the queues."""
        self._votes += run.total
        self.progress.total = self._total()
        if not run.total or self.budget.stopped or self._serving.done():
            run.end(self._serving.exception() if self._serving.done() else None)
            return
        run.left = len(parts)
        for lane, part in zip(lanes, parts, strict=True):
            lane.parts.append(part)
        wanted = [min(lane.calls.engine.concurrency, part.count) for lane, part in zip(lanes, parts, strict=True)]
        for turn in range(max(wanted)):  # in turns: the first questions get their votes from every judge
            for lane, most in zip(lanes, wanted, strict=True):
                if turn < most and lane.workers < lane.calls.engine.concurrency:
                    lane.workers += 1
                    self._wanted.put_nowait(lane)

    async def _serve(self) -> None:
        """Make engines ready, and keep as many workers as are wanted, until all is done."""
        try:
            async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
                watch: asyncio.Task[None] | None = None
                while (lane := await self._wanted.get()) is not None:
                    watch = watch or group.create_task(self.progress.watch())
                    if not lane.opened:
                        lane.opened = True
                        await stack.enter_async_context(lane.calls.running(grace=GRACE_SECONDS))
                    group.create_task(self._work(lane))
                if watch is not None:
                    watch.cancel()
        except BaseException as failure:
            for run in self._runs:
                run.end(failure)
            raise

    async def _work(self, lane: Lane) -> None:
        try:
            while not self.budget.stopped and (found := lane.next()) is not None:
                part, task = found
                await self._cast_task(lane, part, task)
                part.run.under_way -= 1
                part.run.check()
        finally:
            lane.workers -= 1
        if self.budget.stopped:
            for each in self._lanes.values():
                each.empty()

    async def _cast_task(self, lane: Lane, part: _Part, task: Task) -> None:
        run, sheet = part.run, task.sheet
        expected = run.flow.expected_calls(sheet=sheet.together) if lane.calls.budgeted else 0
        for drawn, (sample, place) in enumerate(zip(task.samples, task.places, strict=True), start=1):
            share = self.budget.share(expected, (run.number, sheet.rows[0], place))
            try:
                cast = await sheet.ask(run.flow, task.order, sample, lane.calls.within(share), part.weight)
            finally:
                share.close()
            if len(task.samples) > 1:
                stop = held_once(EarlyStop(planned=len(task.samples), confidence=run.grid.confidence))
                cast = [vote.model_copy(update={"early_stop": stop}) for vote in cast]
            for row, vote in zip(sheet.rows, cast, strict=True):
                run.votes[row][place] = vote
            self.progress.add(cast)
            left = len(task.samples) - drawn
            if left and _settled(task, run, place, left):
                self.progress.skip(left * len(sheet.rows))
                break

    async def _stop(self) -> None:
        """Launch nothing more."""
        for lane in self._lanes.values():
            lane.empty()
        if self._begun:
            self.budget.stop()
        self._wanted.put_nowait(None)

    def close(self) -> None:
        """Wait for what is under way; nothing more is asked."""
        self._portal.start_task_soon(self._wanted.put, None)
        _await_end(self._serving)

    def interrupt(self, interrupt: KeyboardInterrupt | Terminated) -> None:
        """Launch nothing more, and wait a while for the replies on their way, unless it is interrupted again."""
        self._interrupted = True
        self._portal.start_task_soon(self._stop)
        name = f"ended by {interrupt.signal.name}" if isinstance(interrupt, Terminated) else "interrupted"
        tell(
            f"{name}: no new calls are made. Waiting {GRACE_SECONDS:g} s at most for the replies on their way; "
            "interrupt again not to wait"
        )
        try:
            _await_end(self._serving, GRACE_SECONDS)
        except (KeyboardInterrupt, Terminated, TimeoutError):
            if self._serving.done():  # it failed, and that is told
                raise
        told = self._what_is_left()
        tell(f"{name}: {told}")
        interrupt.add_note(told)

    def fail(self) -> None:
        """One of the runs failed: launch nothing more, and wait a while for the replies on their way."""
        self._interrupted = True
        self._portal.start_task_soon(self._stop)
        with suppress(Exception):  # what failed first is told
            _await_end(self._serving, GRACE_SECONDS)

    def abandon(self) -> None:
        """Whoever waits for votes waits no longer."""
        for run in self._runs:
            run.end()

    def _what_is_left(self) -> str:
        """What interrupted runs came to, and how to go on."""
        open_votes = [vote for run in self._runs for row in run.votes for vote in row]
        cast = sum(vote is not None and vote.unscored_reason != "budget" for vote in open_votes) + self._tally.votes
        total = max(len(open_votes) + self._tally.votes, self._expected)
        in_flight = self.budget.in_flight if self._begun else 0
        late = f" but the {in_flight} that were still on their way" if in_flight else ""
        again = "again for those of what was under way" if self._shared else "for everything again"
        kept = (
            f"every reply that came{late} is in the journal {str(next(iter(self._turns)).path)!r}: run the same again, "
            "and only the rest is asked for"
            if self._turns
            else f"nothing keeps the replies (journal=None), and a second run asks {again}"
        )
        return f"{cast} of {total} votes were cast; {kept}"


async def _queue() -> asyncio.Queue[Lane | None]:
    return asyncio.Queue()


@contextmanager
def _opened(*, shared: bool) -> Iterator[Judging]:
    with ExitStack() as held, _heap_at_rest(), heeding_termination(), start_blocking_portal() as portal:
        judging = Judging(portal, held, shared=shared)
        try:
            yield judging
            judging.close()
        except (KeyboardInterrupt, Terminated) as interrupt:
            judging.interrupt(interrupt)
            raise
        except Exception:
            judging.fail()
            raise
        finally:
            judging.abandon()


def is_shared() -> bool:
    """Whether judging is shared here."""
    return _shared.get() is not None


def judging() -> AbstractContextManager[Judging]:
    """That which is shared here, or else one for a single run."""
    found = _shared.get()
    return _opened(shared=False) if found is None else nullcontext(found)


@contextmanager
def shared_judging() -> Iterator[Judging]:
    """All that is judged within shares one event loop: queues, connections, journals, budget, failures and progress.

    Blocks of one job, each judged in a thread that runs in a copy of this context
    (``contextvars.copy_context().run``), are judged side by side as one run: no judge waits between them. The limits
    are those of the run that begins first. An engine that is the same object is opened once. Use it in the main thread,
    inside the pool of threads, so that an interrupt ends the runs in them: they raise
    :class:`InterruptedJudgingError` then.
    """
    with _opened(shared=True) as judging:
        token = _shared.set(judging)
        try:
            yield judging
        finally:
            _shared.reset(token)


@contextmanager
def opened_journal(setting: object) -> Iterator[Journal | None]:
    """The journal that a setting names, for a run; runs that share their judging share it."""
    shared = _shared.get()
    if shared is not None:
        yield shared.journal(setting)
        return
    with open_journal(setting) or nullcontext() as journal:  # type: ignore[arg-type] # as settings hold it
        yield journal


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


def _settled(task: Task, run: Run, place: int, left: int) -> bool:
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
