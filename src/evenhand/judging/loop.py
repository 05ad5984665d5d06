"""One event loop in a thread of its own, in which judges are asked: by a run over rows, or by each call of a ``Judge``.

The first interrupt (Control-C, SIGTERM, SIGHUP) of a run stops the launching of new calls and waits for the replies
that are on their way; a second one does not wait.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Self, TypeVar

from evenhand.aggregation import draws_are_settled
from evenhand.engines.base import JudgeEngine
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls, Turns
from evenhand.engines.journal import Journal, open_journal
from evenhand.errors import EvenhandError, Terminated, TooManyFailuresError, UnreachableError, ungrouped
from evenhand.judging.flow import Flow
from evenhand.judging.grid import Sheet, Task, sheets_of, tasks_of
from evenhand.judging.interrupts import heeding_termination
from evenhand.judging.progress import Progress, progress_bar, tell
from evenhand.options import Grid, Limits
from evenhand.question import Question
from evenhand.results.notes import Spending
from evenhand.votes import EarlyStop, Vote, held_once

GRACE_SECONDS: Final = 60.0
MOST_REPLIES: Final = 50_000
"""The most replies held where no journal keeps them and requests come without end: an equal request among as many
others is sent once."""

Result = TypeVar("Result")

_shared: ContextVar[Judging | None] = ContextVar("_shared", default=None)


class InterruptedJudgingError(EvenhandError):
    """The runs with which this one shares its judging were interrupted, and so was it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Who is asked, and what holds for their calls.

    Attributes:
        weights: One per judge.
        limits: Budget and progress are those of the first panel in a loop.
        journal: Where replies are kept and found again; None keeps none.
    """

    judges: Sequence[JudgeEngine]
    weights: Sequence[float]
    limits: Limits
    journal: Journal | None = None


@dataclass(slots=True, eq=False)
class Run:
    """One grid of votes.

    Attributes:
        sheets: What is asked.
        votes: Per question a place for each vote: by judge, order and sample.
        number: Which of the runs in its loop it is.
    """

    flow: Flow
    grid: Grid
    sheets: list[Sheet]
    votes: list[list[Vote | None]]
    number: int = 0

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

    async def cast_task(self, task: Task, calls: Calls, weight: float, budget: Budget, progress: Progress) -> None:
        """Ask one judge for the votes of a task, draw after draw, until no further one is needed."""
        sheet, draws = task.sheet, len(task.samples)
        expected = self.flow.expected_calls(sheet=sheet.together) if calls.budgeted else 0
        for left, sample, place in zip(range(draws - 1, -1, -1), task.samples, task.places, strict=True):
            share = budget.share(expected)
            try:
                votes = await sheet.ask(self.flow, task.order, sample, calls.within(share), weight)
            finally:
                share.close()
            if draws > 1:
                stop = held_once(EarlyStop(planned=draws, confidence=self.grid.confidence))
                votes = [vote.model_copy(update={"early_stop": stop}) for vote in votes]
            for row, vote in zip(sheet.rows, votes, strict=True):
                self.votes[row][place] = vote
            progress.add(votes)
            if left and self._settled(task, place, left):
                progress.skip(left * len(sheet.rows))
                return

    def _settled(self, task: Task, place: int, left: int) -> bool:
        """Whether the draws left could not change, or are unlikely to change, what is said on any question."""
        return all(
            draws_are_settled(
                [vote for vote in self.votes[row][task.places[0] : place + 1] if vote is not None],
                question.criterion,
                left,
                confidence=self.grid.confidence,
            )
            for row, question in zip(task.sheet.rows, task.sheet.questions, strict=True)
        )

    def cast(self) -> list[tuple[Vote, ...]]:
        """The votes that were cast."""
        return [tuple(vote for vote in row if vote is not None) for row in self.votes]


@dataclass(slots=True)
class Lane:
    """A judge in a loop.

    Attributes:
        places: For as many tasks as it is useful to have waiting at once.
        opened: Set when the engine is ready for calls, or cannot be made ready.
    """

    calls: Calls
    places: asyncio.Semaphore
    opened: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Tally:
    """The votes of the runs that are done, and the failures among them.

    Attributes:
        votes: How many were cast.
        held: How many earlier runs cast, whose votes hold.
        causes: Judge and kind of failure -> how many, and the first of them in words.
    """

    votes: int = 0
    held: int = 0
    causes: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def add(self, votes: list[tuple[Vote, ...]], max_failure_rate: float, *, journaled: bool) -> None:
        """Count the votes of one more run.

        Raises:
            TooManyFailuresError: If more than this share of all votes failed.
        """
        for vote in (vote for row in votes for vote in row):
            self.votes += 1
            if vote.unscored_reason == "engine_error":
                error = str(vote.error)
                kind = (vote.judge_id, error.partition(":")[0])
                count, first = self.causes.get(kind, (0, error))
                self.causes[kind] = count + 1, first
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


class LoopThread:
    """A thread with an event loop, until it is stopped."""

    def __init__(self) -> None:
        ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        main = threading.Thread(target=asyncio.run, args=(_until_stopped(ready),), name="evenhand-judging", daemon=True)
        main.start()
        self._main = main
        self._loop, self._stopped = ready.result()

    def begin(self, coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine, in the context of the caller."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._main

    def stop(self) -> None:
        """Cancel what still runs, and wait for its end."""
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._main.join()


async def _until_stopped(ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    stopped = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), stopped))
    await stopped.wait()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Judging:
    """An event loop in which judges are asked, with journals, limits, failures and progress over all that is asked.

    Attributes:
        budget: The limits of the first run, over all.
        progress: Over all.
        thread: Where the loop runs.
    """

    budget: Budget
    progress: Progress

    def __init__(self, held: ExitStack, *, shared: bool) -> None:
        self.thread = LoopThread()
        self._held = held  # what is closed at the end: journals, the bar
        self._shared = shared
        self._lock = threading.Lock()
        self._lanes: dict[int, Lane] = {}
        self._journals: dict[object, Journal] = {}
        self._turns: dict[Journal, Turns] = {}
        self._runs: list[Run] = []  # that are not tallied
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._failure: BaseException | None = None
        self._numbers = count()
        self._tally = _Tally()
        self._votes = 0  # of the runs begun
        self._expected = 0
        self._begun = False
        self._lent: tuple[Budget, Journal | None] | None = None
        self._interrupted = False
        self._wanted: asyncio.Queue[Lane | None] = asyncio.Queue()
        self._serving = self.thread.begin(self._serve())

    def expect(self, votes: int) -> None:
        """Tell progress about how many votes all runs have; no fewer than those of the runs begun count."""
        self._expected = votes
        if self._begun:
            self.progress.total = self._total()

    def _total(self) -> int:
        return max(self._expected, self._votes)

    def count(self, votes: int) -> None:
        """Count votes that were cast before and hold: they are among those of which some may fail."""
        with self._lock:
            self._tally.held += votes

    def lend(self, budget: Budget, journal: Journal | None) -> None:
        """Before the first run: a budget in place of the runs' limits, and a journal in place of theirs."""
        self._lent = budget, journal

    def call(self, function: Callable[..., Result], *given: object) -> Result:
        """What a function returns that runs on the event loop."""

        async def called() -> Result:
            return function(*given)

        return self.thread.begin(called()).result()

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

    def cast(self, run: Run, panel: Panel) -> None:
        """Cast the votes of a run, beside those of others; returns when there are no more to come.

        Raises:
            InterruptedJudgingError: If the runs were interrupted, in another thread.
        """
        with self._lock:
            self._runs.append(run)
        try:
            with ungrouped():
                self.ask(run, panel).result()
        except CancelledError:
            self._interrupted = True
        if self._interrupted and self._shared:
            raise InterruptedJudgingError("the run was interrupted; what came is in the journal, where there is one")

    def ask(self, run: Run, panel: Panel) -> Future[list[tuple[Vote, ...]]]:
        """Begin to cast the votes of a run, beside those of others."""
        return self.thread.begin(self._cast(run, self._lanes_of(panel), panel.weights))

    def away(self, panel: Panel) -> tuple[str, UnreachableError] | None:
        """The first judge whose server stayed away, and why."""
        calls = [self._lanes[id(judge)].calls for judge in panel.judges]
        return next(((each.judge_id, each.away) for each in calls if each.away is not None), None)

    @property
    def over(self) -> bool:
        """Whether nothing more can be asked here: all was closed, or an engine or the journal failed for good."""
        ended = self._serving.done() or (self._begun and self.budget.stopped)
        return ended or any(lane.calls.failed for lane in self._lanes.values())

    def tally(self, run: Run, votes: list[tuple[Vote, ...]], max_failure_rate: float, *, journaled: bool) -> None:
        """Count the votes of a run that is done.

        Raises:
            TooManyFailuresError: More of the votes of all runs failed than may.
        """
        with self._lock:
            self._runs.remove(run)  # of thousands of blocks none is held once it is done
            self._tally.add(votes, max_failure_rate, journaled=journaled)

    def _lanes_of(self, panel: Panel) -> list[Lane]:
        with self._lock:
            limits = panel.limits
            budget, journal = self._lent or (None, panel.journal)
            if not self._begun:
                self.budget = budget or Budget(max_calls=limits.max_calls, max_cost=limits.max_cost)
                self.progress = self._held.enter_context(progress_bar(self._total(), shown=limits.progress))
                self._begun = True
            if journal is not None and journal not in self._turns:
                self._turns[journal] = Turns(journal)
            turns = None if journal is None else self._turns[journal]
            for judge in panel.judges:
                if id(judge) not in self._lanes:
                    most = MOST_REPLIES if self._shared else None
                    calls = Calls(judge, turns, self.budget, offline=limits.offline, most_replies=most)
                    self._lanes[id(judge)] = Lane(calls, asyncio.Semaphore(judge.concurrency))
            return [self._lanes[id(judge)] for judge in panel.judges]

    async def _cast(self, run: Run, lanes: Sequence[Lane], weights: Sequence[float]) -> list[tuple[Vote, ...]]:
        self._under_way += 1
        self._idle.clear()
        try:
            run.number = next(self._numbers)
            self._votes += run.total
            self.progress.total = self._total()
            for lane in lanes:
                if run.total and not lane.opened.is_set():
                    self._wanted.put_nowait(lane)
                    await lane.opened.wait()
            if self._failure is not None:
                raise self._failure
            workers = self._workers(run, lanes, weights)
            if len(workers) == 1:  # no further task of the loop
                await workers[0]
            else:
                async with asyncio.TaskGroup() as group:
                    for worker in workers:
                        group.create_task(worker)
            return run.cast()
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    def _workers(self, run: Run, lanes: Sequence[Lane], weights: Sequence[float]) -> list[Coroutine[Any, Any, None]]:
        """As many as are useful, judge by judge in turns: the first questions get their votes from every judge."""
        tasks = sum(len(sheet.orders) for sheet in run.sheets) * (1 if run.grid.stop_early else run.grid.samples)
        parts = [
            (lane, tasks_of(run.sheets, run.grid, place), weight)
            for place, (lane, weight) in enumerate(zip(lanes, weights, strict=True))
        ]
        wanted = [min(lane.calls.engine.concurrency, tasks) for lane in lanes]
        turns = range(max(wanted))
        return [
            self._work(run, *part) for turn in turns for part, most in zip(parts, wanted, strict=True) if turn < most
        ]

    async def _work(self, run: Run, lane: Lane, tasks: Iterator[Task], weight: float) -> None:
        """Cast the votes of one task after the other; whoever comes later waits for a place until there are no more."""
        async with lane.places:
            while not self.budget.stopped and (task := next(tasks, None)) is not None:
                await run.cast_task(task, lane.calls, weight, self.budget, self.progress)

    async def _serve(self) -> None:
        """Make engines ready, until all is done."""
        watch: asyncio.Task[None] | None = None
        try:
            async with AsyncExitStack() as stack:
                while (lane := await self._wanted.get()) is not None:
                    watch = watch or asyncio.create_task(self.progress.watch())
                    if not lane.opened.is_set():
                        await stack.enter_async_context(lane.calls.running(grace=GRACE_SECONDS))
                        lane.opened.set()
                await self._idle.wait()
        except BaseException as failure:
            self._failure = failure
            for lane in self._lanes.values():
                lane.opened.set()
            raise
        finally:
            if watch is not None:
                watch.cancel()

    async def _stop(self) -> None:
        """Launch nothing more."""
        if self._begun:
            self.budget.stop()
        self._wanted.put_nowait(None)

    def close(self) -> None:
        """Wait for what is under way; nothing more is asked."""
        self.thread.begin(self._wanted.put(None))
        _await_end(self._serving)

    def interrupt(self, interrupt: KeyboardInterrupt | Terminated) -> None:
        """Launch nothing more, and wait a while for the replies on their way, unless it is interrupted again."""
        self._interrupted = True
        self.thread.begin(self._stop())
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
        self.thread.begin(self._stop())
        with suppress(Exception):  # what failed first is told
            _await_end(self._serving, GRACE_SECONDS)

    def end(self) -> None:
        """Cancel what is under way; whoever waits for votes waits no longer."""
        self.thread.stop()

    def _what_is_left(self) -> str:
        """What interrupted runs have, and how to go on."""
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


@contextmanager
def _opened(*, shared: bool) -> Iterator[Judging]:
    """A loop whose interrupts wait for the replies on their way."""
    with ExitStack() as held, _heap_at_rest(), heeding_termination():
        judging = Judging(held, shared=shared)
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
            judging.end()


class StandingLoop:
    """A loop that stays open between calls: until it is closed, its owner is collected, or the process ends.

    Args:
        owner: With whom it ends.
        budget: Of all that is asked.
        journal: The journal's setting.

    Raises:
        JournalError: If the journal cannot be opened.
    """

    def __init__(self, owner: object, budget: Budget, journal: object) -> None:
        self._held = ExitStack()
        opened = open_journal(journal)  # type: ignore[arg-type] # as settings hold it
        if opened is not None:
            self._held.callback(opened.close)
        self._judging = Judging(self._held, shared=True)
        self._judging.lend(budget, opened)
        self._process = os.getpid()
        self._end = weakref.finalize(owner, _end, self._judging, self._held, self._process)

    @property
    def over(self) -> bool:
        """Whether nothing more can be asked here."""
        return self._process != os.getpid() or self._judging.over

    def ask(self, run: Run, panel: Panel) -> Future[list[tuple[Vote, ...]]]:
        """Begin to cast the votes of a run."""
        return self._judging.ask(run, panel)

    def close(self) -> None:
        """Wait for what is under way, and close all.

        Raises:
            JournalError: Calls were not made, because their replies could not be recorded.
        """
        if self._process == os.getpid():  # a fork has no thread to wait for
            try:
                self._judging.close()
            finally:
                self._end()

    def leave(self) -> None:
        """Close it after a failure that was told."""
        with suppress(Exception):
            self.close()


def _end(judging: Judging, held: ExitStack, process: int) -> None:
    """End a loop without waiting for what is under way."""
    if process != os.getpid():
        return
    if judging.thread.is_here:  # where the garbage was collected: it cannot wait for itself
        threading.Thread(target=_end, args=(judging, held, process), daemon=True).start()
        return
    judging.end()
    held.close()


def is_shared() -> bool:
    """Whether judging is shared here."""
    return _shared.get() is not None


def judging() -> AbstractContextManager[Judging]:
    """The loop that is shared here, or else one for a single run."""
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
