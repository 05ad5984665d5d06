"""Judges that are open for questions, in one event loop with a thread of its own: for a run, a stream, or a ``Judge``.

The first interrupt (Control-C, SIGTERM, SIGHUP) of a run stops the launching of new calls and waits for the replies
that are on their way; a second one does not wait. SIGTERM (Slurm, Kubernetes, ``timeout``) and SIGHUP (a terminal that
closes) end a run as Control-C does.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from evenhand.aggregation.verdict import Levels, draws_are_settled
from evenhand.engines.base import JudgeEngine
from evenhand.engines.budget import Budget
from evenhand.engines.calls import Calls, JournalWriter, SharedCalls
from evenhand.engines.journal import Journal, open_journal
from evenhand.errors import (
    EvenhandError,
    ServerAwayError,
    Terminated,
    TooManyFailuresError,
    UnreachableError,
    ungrouped,
)
from evenhand.interrupts import heeding_termination
from evenhand.judging.conversation import Flow
from evenhand.judging.grid import Sheet, Task, checked_weights, sheets_of, tasks_of
from evenhand.judging.progress import Progress, progress_bar, tell
from evenhand.options import Grid, RunOptions
from evenhand.question import Question
from evenhand.results.measures import Spending
from evenhand.votes import Vote

GRACE_SECONDS: Final = 60.0


class InterruptedJudgingError(EvenhandError):
    """The stream to which this block of rows belongs was interrupted."""


@dataclass(slots=True, eq=False)
class Run:
    """One grid of votes.

    Attributes:
        sheets: The sheets that are asked.
        votes: Per question a place for each vote: by judge, order and sample.
        total: The number of votes.
    """

    flow: Flow
    grid: Grid
    sheets: list[Sheet]
    votes: list[list[Vote | None]]
    total: int

    async def cast_task(self, task: Task, calls: Calls, weight: float, budget: Budget, progress: Progress) -> None:
        """Ask one judge for the votes of a task, draw after draw, until no further one is needed."""
        sheet, draws = task.sheet, len(task.samples)
        limited = calls.budgeted and budget.limited
        expected = self.flow.expected_calls(sheet=bool(sheet.questions[0].sheet)) if limited else 0
        for left, sample, place in zip(range(draws - 1, -1, -1), task.samples, task.places, strict=True):
            shared = SharedCalls(calls, expected) if limited else None
            try:
                votes = await sheet.ask(self.flow, task.order, sample, shared or calls, weight)
            finally:
                if shared is not None:
                    shared.close()
            if draws > 1:
                votes = [vote.model_copy(update={"draws_planned": draws}) for vote in votes]
            for row, vote in zip(sheet.rows, votes, strict=True):
                self.votes[row][place] = vote
            progress.add(votes)
            if left and self._settled(task, place, left):
                progress.add((), left * len(sheet.rows))
                return

    def _settled(self, task: Task, place: int, left: int) -> bool:
        """Return whether the remaining draws cannot change, or are unlikely to change, the outcome of any question."""
        return all(
            draws_are_settled(
                [vote for vote in self.votes[row][task.places[0] : place + 1] if vote is not None],
                Levels.of(question.criterion),
                left,
            )
            for row, question in zip(task.sheet.rows, task.sheet.questions, strict=True)
        )

    def cast(self) -> list[tuple[Vote, ...]]:
        """Return the votes that were cast."""
        return [tuple(vote for vote in row if vote is not None) for row in self.votes]


@dataclass(slots=True)
class _Lane:
    """A judge of a panel, with a place per task that may wait at once."""

    calls: Calls
    weight: float
    places: asyncio.Semaphore


class OpenPanel(Sequence[JudgeEngine]):
    """Judges with an event loop, and with one journal, budget, progress and count of failures over all their runs.

    Args:
        judges: The judges.
        options: Limits of the run, and the weights of the judges.
        journal: The journal that keeps replies; None keeps none.
        progress: Counts the votes.
        budget: Replaces the limits on calls and cost.
        many: Several runs are judged.

    Raises:
        InvalidInputError: No judge, two judges with one name, or weights that do not fit the judges.
    """

    def __init__(
        self,
        judges: Sequence[JudgeEngine],
        options: RunOptions,
        journal: Journal | None = None,
        *,
        progress: Progress | None = None,
        budget: Budget | None = None,
        many: bool = False,
    ) -> None:
        self._judges, self.journal, self.many = judges, journal, many
        self.progress = progress or Progress()
        self.budget = budget or Budget(max_calls=options.max_calls, max_cost=options.max_cost)
        self._max_failure_rate = options.max_failure_rate
        writer = None if journal is None else JournalWriter(journal, self.budget)
        self._lanes = [
            _Lane(
                Calls(judge, writer, self.budget, offline=options.offline),
                weight,
                asyncio.Semaphore(judge.concurrency),
            )
            for judge, weight in zip(judges, checked_weights(judges, options.judge_weights), strict=True)
        ]
        self._lock = threading.Lock()
        self._runs: list[Run] = []  # that are not counted yet
        self._votes = self._finished = 0  # of all runs begun, and of those that are done
        self._causes: dict[tuple[str, str], tuple[int, str]] = {}  # judge, kind of failure -> number, first message
        self._casting: set[asyncio.Task[Any] | None] = set()
        self._interrupted = self._ended = False
        self._failure: BaseException | None = None
        self._opened, self._closed, self._stopped = (asyncio.Event() for _ in range(3))
        started: Future[asyncio.AbstractEventLoop] = Future()
        self.thread = threading.Thread(
            target=asyncio.run, args=(self._hold_loop(started),), name="evenhand-judging", daemon=True
        )
        self.thread.start()
        self._loop = started.result()
        self._serving = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)

    def __len__(self) -> int:
        return len(self._judges)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - as a sequence has it
        return self._judges[place]

    def expect(self, votes: int) -> None:
        """Set the number of votes that all runs have in progress; it never falls below that of the runs begun."""
        self.progress.total = max(votes, self._votes)

    def count_votes(self, votes: int) -> None:
        """Count votes that an earlier run cast, among which some may fail."""
        with self._lock:
            self._finished += votes

    def run_of(self, questions: Sequence[Question], grid: Grid, flow: Flow) -> Run:
        """Return a run in which nothing is cast yet."""
        sheets = sheets_of(questions, grid)
        votes: list[list[Vote | None]] = [[] for _ in questions]
        for sheet in sheets:
            for row in sheet.rows:
                votes[row] = [None] * (len(sheet.orders) * grid.samples * len(self._judges))
        return Run(flow, grid, sheets, votes, sum(map(len, votes)))

    def ask(self, run: Run) -> Future[list[tuple[Vote, ...]]]:
        """Begin to cast the votes of a run, next to those of others.

        Raises:
            CancelledError: If the panel was ended.
        """
        with self._lock:
            if self._ended:
                raise CancelledError("the judges were closed before this run began")
            return asyncio.run_coroutine_threadsafe(self._cast(run), self._loop)

    def cast(self, run: Run) -> None:
        """Cast the votes of a run, next to those of others.

        Raises:
            InterruptedJudgingError: If the runs were interrupted, in another thread.
        """
        with self._lock:
            self._runs.append(run)
        try:
            with ungrouped():
                self.ask(run).result()
        except CancelledError:
            self._interrupted = True
        if self._interrupted and self.many:
            raise InterruptedJudgingError("the run was interrupted; what came is in the journal, where there is one")

    def finish(self, run: Run) -> list[tuple[Vote, ...]]:
        """Return the votes of a run that was cast.

        Raises:
            ServerAwayError: A judge's server stayed away.
            TooManyFailuresError: More of the votes of all runs failed than may.
        """
        votes = run.cast()
        flat = [vote for row in votes for vote in row]
        for calls in (lane.calls for lane in self._lanes if isinstance(lane.calls.fatal, UnreachableError)):
            arrived = sum(vote.asked and vote.unscored_reason != "engine_error" for vote in flat)
            raise ServerAwayError(
                f"judge {calls.judge_id!r}: {calls.fatal}. {arrived} of {run.total} votes came; "
                f"{self._how_to_resume()}",
                votes=votes,
            )
        with self._lock:
            self._runs.remove(run)  # so that blocks that are done are not held
            self._finished += len(flat)
            for vote in flat:
                if vote.unscored_reason == "engine_error":
                    error = str(vote.error)
                    kind = (vote.judge_id, error.partition(":")[0])
                    number, first = self._causes.get(kind, (0, error))
                    self._causes[kind] = number + 1, first
            failed = sum(number for number, _ in self._causes.values())
            if failed <= self._max_failure_rate * self._finished + 1e-9:  # 0.29 · 100 is 28.999999999999996
                return votes
            ranked = sorted(self._causes.values(), key=lambda cause: -cause[0])
            causes = "; ".join(f"{number} × {first}" for number, first in ranked)
            spent = Spending.of(flat)
            raise TooManyFailuresError(
                f"{failed} of {self._finished} votes failed, more than max_failure_rate={self._max_failure_rate!r} "
                f"allows: {causes}. Mend the cause; this error holds the votes that came, and {self._how_to_resume()}"
                + ("" if spent is None else f". {spent}"),
                votes=votes,
            )

    def _how_to_resume(self) -> str:
        """Say what becomes of the replies if the same is run again."""
        if self.journal is None:
            again = "for the rows that are in no part" if self.many else "for everything"
            return f"nothing keeps the replies (journal=None), so a second run asks again {again}"
        late = f" but the {self.budget.in_flight} that were still on their way" if self.budget.in_flight else ""
        return (
            f"every reply that came{late} is in the journal {str(self.journal.path)!r}: run the same again, and only "
            "the rest is asked for"
        )

    @property
    def over(self) -> bool:
        """Whether nothing more can be asked here: it was closed, or an engine or the journal failed for good."""
        return self._serving.done() or self.budget.stopped or any(lane.calls.fatal for lane in self._lanes)

    async def _cast(self, run: Run) -> list[tuple[Vote, ...]]:
        self._casting.add(asyncio.current_task())
        try:
            self._votes += run.total
            self.progress.total = max(self.progress.total, self._votes)
            await self._opened.wait()
            if self._failure is not None:
                raise self._failure
            tasks = sum(len(sheet.orders) for sheet in run.sheets) * (1 if run.grid.stop_early else run.grid.samples)
            queues = [tasks_of(run.sheets, run.grid, place) for place in range(len(self._judges))]
            crews = [
                [(lane, queue)] * min(lane.calls.engine.concurrency, tasks)
                for lane, queue in zip(self._lanes, queues, strict=True)
            ]  # judge by judge in turns, so that every judge votes on the first questions
            workers = [self._work(run, *each) for turn in zip_longest(*crews) for each in turn if each is not None]
            if len(workers) == 1:  # no further task of the loop
                await workers[0]
            else:
                async with asyncio.TaskGroup() as group:
                    for worker in workers:
                        group.create_task(worker)
            return run.cast()
        finally:
            self._casting.discard(asyncio.current_task())

    async def _work(self, run: Run, lane: _Lane, tasks: Iterator[Task]) -> None:
        """Cast the votes of one task one by one; later runs wait for a place until there are no more."""
        async with lane.places:
            while not self.budget.stopped and (task := next(tasks, None)) is not None:
                await run.cast_task(task, lane.calls, lane.weight, self.budget, self.progress)

    async def _hold_loop(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        """Keep the loop open to the end; what runs then is cancelled."""
        started.set_result(asyncio.get_running_loop())
        await self._stopped.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self) -> None:
        """Hold the engines ready to the end."""
        try:
            async with AsyncExitStack() as stack:
                stack.callback(asyncio.create_task(self.progress.watch()).cancel)
                for lane in self._lanes:
                    await stack.enter_async_context(lane.calls.running(grace=GRACE_SECONDS))
                self._opened.set()
                await self._closed.wait()
                while casting := [task for task in self._casting if task is not None]:
                    await asyncio.wait(casting)
        except BaseException as failure:
            self._failure = failure
            raise
        finally:
            self._opened.set()

    def close(self, seconds: float | None = None) -> None:
        """Wait for what is under way, for some seconds at most; nothing more is asked.

        Raises:
            JournalError: Calls were not made, because their replies could not be recorded.
        """
        self._loop.call_soon_threadsafe(self._closed.set)
        with ungrouped():
            self._serving.result(seconds)

    def stop(self, interrupt: KeyboardInterrupt | Terminated | None = None) -> None:
        """Launch nothing more, and wait a while for the replies on their way, unless interrupted again.

        Args:
            interrupt: Ends the run; None if a failure does.
        """
        self._interrupted = True
        self._loop.call_soon_threadsafe(self.budget.stop)
        if interrupt is None:
            with suppress(Exception):  # the first failure is reported
                self.close(GRACE_SECONDS)
            return
        name = f"ended by {interrupt.signal.name}" if isinstance(interrupt, Terminated) else "interrupted"
        tell(
            f"{name}: no new calls are made. Waiting {GRACE_SECONDS:g} s at most for the replies on their way; "
            "interrupt again not to wait"
        )
        try:
            self.close(GRACE_SECONDS)
        except (KeyboardInterrupt, Terminated, TimeoutError):
            if self._serving.done():  # it failed
                raise
        open_votes = [vote for run in self._runs for row in run.votes for vote in row]
        cast = sum(vote is not None and vote.unscored_reason != "budget" for vote in open_votes) + self._finished
        total = max(len(open_votes) + self._finished, self.progress.total)
        text = f"{cast} of {total} votes were cast; {self._how_to_resume()}"
        tell(f"{name}: {text}")
        interrupt.add_note(text)

    def end(self) -> None:
        """Cancel what is under way; callers that wait for votes are cancelled."""
        with self._lock:
            self._ended = True
        self._loop.call_soon_threadsafe(self._stopped.set)
        self.thread.join()


def opened_journal(judges: Sequence[JudgeEngine], options: RunOptions) -> AbstractContextManager[Journal | None]:
    """Open the journal, unless it is switched off or no judge's replies need one."""
    needed = any(judge.identity() is not None for judge in judges)
    return (open_journal(options.journal) if needed else None) or nullcontext()


@contextmanager
def open_panel(judges: Sequence[JudgeEngine], options: RunOptions, *, many: bool = False) -> Iterator[OpenPanel]:
    """Open judges for one run, or for many in the threads of a pool; interrupts wait for the replies on their way.

    Where there are many runs, use it in the main thread, inside the pool of threads: an interrupt then ends the runs in
    them, which raise :class:`InterruptedJudgingError`.

    Raises:
        InvalidInputError: The same as :class:`OpenPanel`.
    """
    gc.freeze()  # unitxt, datasets and litellm leave a heap whose every walk takes longer than dozens of calls
    try:
        with (
            opened_journal(judges, options) as journal,
            heeding_termination(),
            progress_bar(shown=options.progress) as progress,
        ):
            panel = OpenPanel(judges, options, journal, progress=progress, many=many)
            try:
                yield panel
                panel.close()
            except (KeyboardInterrupt, Terminated) as interrupt:
                panel.stop(interrupt)
                raise
            except Exception:
                panel.stop()
                raise
            finally:
                panel.end()
    finally:
        gc.unfreeze()
