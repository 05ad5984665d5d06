"""The driver: it starts Ray, has Ray Data read the rows and workers judge them, and tells how far they are.

It holds no rows: what comes back of a block is how many it had. Ray's own words (progress bars, logs, tracebacks) are
kept from the screen; they are in Ray's folder of logs.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, cast

import evenhand.errors
from evenhand.by_name import open as open_results
from evenhand.data.identified import KnownRows, RowStream, as_rows
from evenhand.data.rows import RowBatch, row_batches
from evenhand.distributed.coordinator import Coordinator
from evenhand.distributed.shards import Shards
from evenhand.distributed.sources import first_rows, is_read_by_ray, paths_of, rows_of, source_of
from evenhand.distributed.worker import Order, Worker
from evenhand.engines.base import SharedRateEngine
from evenhand.engines.batches import BatchJudge
from evenhand.engines.budget import Prices
from evenhand.engines.journal import Journal, default_journal_path, this_process
from evenhand.errors import (
    DistributedRunError,
    EvenhandError,
    InvalidInputError,
    MissingDependencyError,
    Terminated,
    TooManyFailuresError,
)
from evenhand.files import expanded, is_opened, written_whole
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.interrupts import heeding_termination
from evenhand.judging.loop import GRACE_SECONDS
from evenhand.judging.progress import SECONDS_BETWEEN_LINES, tell
from evenhand.numbers import format_cost, format_count
from evenhand.results.made_by import write_run
from evenhand.results.results import Results
from evenhand.results.resumed import (
    RUN_FILE,
    check_same_run,
    held_alone,
    part_numbers,
    part_path,
    rows_of_part,
)
from evenhand.results.saved import header_of
from evenhand.streams import Job

if TYPE_CHECKING:
    import pyarrow


BAD_ROWS: Final = "rows-not-judged.jsonl"
VOTES_OF_A_PART: Final = 1024
FEWEST_ROWS: Final = 16
READ_CPUS: Final = 0.5
BLOCKS_AT_ONCE: Final = 2
"""That a worker judges side by side, so that no barrier stands between them; one more waits."""

_LOOK_SECONDS: Final = 1.0
_FIRST_ROWS: Final = 8
_BLOCK_BYTES: Final = 4 * 2**20


class JudgeBlocks:
    """A worker as Ray Data runs it: an actor that is given blocks."""

    def __init__(self, order: Order, known: Any, coordinator: Any) -> None:  # noqa: ANN401 - Ray's handles
        """Begin work.

        Args:
            order: What is to be done.
            known: The rows that parts hold already, in Ray's memory.
            coordinator: The actor.
        """
        import ray  # noqa: PLC0415 - the extra

        context = ray.get_runtime_context()
        actor = str(context.get_actor_id())

        def ask(method: str, *given: object) -> Any:  # noqa: ANN401 - as the coordinator answers
            return ray.get(getattr(coordinator, method).remote(*given))

        self._context, self._worker = context, Worker(order, ray.get(known[0]), actor, ask)

    def __call__(self, block: pyarrow.Table) -> pyarrow.Table:
        """Judge a block; what comes back is how many rows it had."""
        import pyarrow  # noqa: PLC0415 - in an actor

        told = self._worker.judge(rows_of(block), str(self._context.get_task_id()))
        return pyarrow.table({name: [value] for name, value in told.items()})


def judge_on_ray(
    job: Job,
    data: object,
    *,
    limit: int | None = None,
    record: Mapping[str, Any] | None = None,
    address: str | None = None,
    workers: int | None = None,
) -> Results | RunEstimate:
    """As :func:`evenhand.streams.judge_stream`, by workers on a cluster.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidInputError: Data or options that cannot be used.
        DistributedRunError: The cluster failed; what was judged holds.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    _check(job, data, limit=limit, workers=workers)
    split = job.options.split
    ray = _ray()
    shown = data
    if isinstance(data, Iterator):  # it can be read once
        one_by_one = (row for batch in row_batches(data, split) for row in batch)
        shown = list(islice(one_by_one, _FIRST_ROWS))
        data = chain(shown, one_by_one)
    folder = expanded(str(job.options.stream_to)).absolute()
    numbers, shards = part_numbers(folder), Shards(folder)
    with held_alone(folder), ExitStack() as stack:
        journal = _journal_of(job)
        shards.wait()
        shards.merge(journal)
        shards.put_in_place()
        numbers = part_numbers(folder)
        run = _Run(ray, job, folder, journal=journal, record=record)
        stack.callback(run.finish)
        stack.enter_context(heeding_termination())
        if is_read_by_ray(data):
            stack.enter_context(_quiet(ray, address))
        first = first_rows(shown, split, _FIRST_ROWS)
        rows = _rows_of_a_part(job, first, folder=folder, numbers=numbers)
        known = KnownRows(rows_of_part(folder, number) for number in numbers)
        if record is not None:
            write_run(folder / RUN_FILE, record)
        if not is_read_by_ray(data):  # what can be refused at once needs no cluster
            stack.enter_context(_quiet(ray, address))
        run.go(data, split, known, rows=rows, first_part=max(numbers, default=-1) + 1, workers=workers)
    run.check()
    result = cast("Results", open_results(folder))
    object.__setattr__(result, "run_file", record)
    return result


def _ray() -> Any:  # noqa: ANN401 - a module
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # or what reads would start a cluster when the run's is gone
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_enable_output_error_log_if_still_retry", "0")  # a dead worker is told of in one line
    try:
        import ray.data  # noqa: PLC0415 - the extra
    except ImportError as error:
        raise MissingDependencyError(
            "judging on a cluster needs Ray, which is not installed: pip install 'evenhand[ray]'"
        ) from error
    return ray


def _check(job: Job, data: object, *, limit: int | None, workers: int | None) -> None:
    job.check()
    if data is None:
        raise InvalidInputError("there are no rows to judge: give a data set, or the path of a file or folder")
    if job.options.dry_run or limit is not None:
        raise InvalidInputError(
            f"{'dry_run' if job.options.dry_run else 'limit'} is not for judging on a cluster: leave out the cluster "
            "(address, in the shell --ray), or the other"
        )
    if job.is_long:
        raise InvalidInputError(
            f"systems_field is {getattr(job.options, 'systems_field', None)!r}: the rows of a prompt may come to "
            "different workers; give a row a prompt, with a column a system"
        )
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        raise InvalidInputError(f"workers is {workers!r}; give a whole number of at least 1, or None for one a CPU")
    _check_reach(job, data)
    if (most := job.options.max_cost) is not None:
        for judge in job.judges:
            if judge.identity() is not None:
                Prices(judge, most)


def _check_reach(job: Job, data: object) -> None:
    """Check that other processes can read the data, and go on with what one of them has sent."""
    for judge in job.judges:
        if isinstance(judge, BatchJudge):
            raise InvalidInputError(
                f"{judge.judge_id!r} sends batches (batch=True), for which one process suffices and by whose journal "
                "they are found again: leave out the cluster (address, in the shell --ray), or batch"
            )
    for path in paths_of(data):
        if str(path) == "-" or is_opened(Path(path)):
            raise InvalidInputError(
                f"the data are {str(path)!r}, which only this process can read: write them to a file, and give its path"
            )


def _journal_of(job: Job) -> Path | None:
    """The run's journal, which is there and up to date then; None where none is needed."""
    setting = job.options.journal
    if setting is None or all(judge.identity() is None for judge in job.judges):
        return None
    path = default_journal_path() if setting == "default" else expanded(setting)
    Journal(path).close()
    return path.absolute()


def _rows_of_a_part(job: Job, batches: Iterable[RowBatch], *, folder: Path, numbers: list[int]) -> int:
    """How many rows are judged together; the first are looked at, and what cannot be judged is refused."""
    first = list(islice(RowStream(batches, job.id_field), _FIRST_ROWS))
    shown = as_rows(first, job.id_field)
    votes = job.estimate(shown, journal=None).votes
    if numbers:
        check_same_run(header_of(part_path(folder, numbers[0])), job.unasked(shown), folder)
    return job.options.part_rows or max(FEWEST_ROWS, VOTES_OF_A_PART * len(first) // max(votes, len(first)))


@contextmanager
def _quiet(ray: Any, address: str | None) -> Iterator[None]:  # noqa: ANN401 - a module
    """A cluster: the one that this process is connected to, or that is named, or one on this machine."""
    from ray.data import DataContext  # noqa: PLC0415 - the extra

    own = not ray.is_initialized()
    if own:
        passed = {name: value for name, value in os.environ.items() if name.startswith(("EVENHAND_", "UNITXT_"))}
        here: dict[str, Any] = {"include_dashboard": False} if address in {None, "local"} else {}
        if not here:
            here["runtime_env"] = {"env_vars": passed}
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.FATAL, **here)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise DistributedRunError(f"there is no Ray cluster at {address or 'this machine'}: {error}") from error
    context = DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = _BLOCK_BYTES
    heard = [each for each in logging.getLogger("ray.data").handlers if "File" not in type(each).__name__]
    levels = [each.level for each in heard]
    try:
        for each in heard:
            each.setLevel(logging.FATAL)
        with DataContext.current(context):
            yield
    finally:
        for each, level in zip(heard, levels, strict=True):
            each.setLevel(level)
        if own:
            ray.shutdown()


class _Run:
    """One run on a cluster."""

    def __init__(
        self,
        ray: Any,  # noqa: ANN401 - a module
        job: Job,
        folder: Path,
        *,
        journal: Path | None,
        record: Mapping[str, Any] | None,
    ) -> None:
        self._ray, self._job, self._folder, self._shards = ray, job, folder, Shards(folder)
        self._journal, self._record = journal, record
        self._shown = job.options.progress
        self._coordinator: Any = None
        self._state: dict[str, Any] = {"tally": {}, "errors": [], "busy": 0, "died": 0}
        self._bad: list[tuple[str, str]] | None = None  # known at the end
        self._died = 0
        self._ended = False
        self._said = time.monotonic()

    def go(
        self, data: object, split: str | None, known: KnownRows, *, rows: int, first_part: int, workers: int | None
    ) -> None:
        """Judge all rows.

        Raises:
            EvenhandError: What a worker said that ended the run.
        """
        ray = self._ray
        cpus = max(1.0, ray.cluster_resources().get("CPU", 1.0))
        workers = self._most_workers(workers or int(cpus))
        options = self._job.options
        limits: dict[str, Any] = {"max_calls": options.max_calls, "max_cost": options.max_cost}
        self._coordinator = (
            ray.remote(Coordinator)
            .options(num_cpus=0)
            .remote(
                **limits,
                workers=workers,
                first_part=first_part,
                spent_by=self._shards.spent,
                shard_of=self._shards.shard_of,
            )
        )
        job = self._job.changed(progress=False, max_failure_rate=1.0, max_calls=None, max_cost=None)
        order = Order(job, self._folder, self._journal, this_process().host, record=self._record, **limits)
        source = source_of(data, split, READ_CPUS)
        actors = ray.data.ActorPoolStrategy(
            size=workers,
            max_tasks_in_flight_per_actor=BLOCKS_AT_ONCE + 1,
            max_concurrent_calls_per_actor=BLOCKS_AT_ONCE,
            enable_true_multi_threading=True,
        )
        blocks = source.repartition(target_num_rows_per_block=rows, strict=True).map_batches(
            JudgeBlocks,
            fn_constructor_args=(order, [ray.put(known)], self._coordinator),
            batch_size=None,
            batch_format="pyarrow",
            compute=actors,
            # What reads and cuts needs a CPU of its own: where actors have them all, nothing is read, and all wait.
            num_cpus=min(1.0, (cpus - 1) / workers) if cpus > 1 else 0,
        )
        self._follow(blocks)

    def _most_workers(self, workers: int) -> int:
        """No more than there may be calls in flight, or some would never send one."""
        for judge in self._job.judges:
            most = getattr(getattr(judge, "settings", None), "max_in_flight", workers)
            if isinstance(judge, SharedRateEngine) and most < workers:
                tell(f"{judge.judge_id!r} has max_in_flight={most!r}: {most} workers judge instead of {workers}")
                workers = most
        return workers

    def _follow(self, blocks: Any) -> None:  # noqa: ANN401 - a data set of Ray
        """Wait until all is judged, and tell how far it is.

        A thread of its own takes what comes from Ray, which would end all workers at once if an interrupt met it.
        """
        from ray.exceptions import RayError  # noqa: PLC0415 - the extra

        done = Future[None]()
        Thread(target=self._take, args=(blocks, done), daemon=True).start()
        try:
            while not wait([done], _LOOK_SECONDS).done:
                self._look()
            done.result()
            self._look(at_end=True)
        except (KeyboardInterrupt, Terminated) as interrupt:
            self._end_gently(interrupt)
            raise
        except RayError as error:
            raise self._failed(error) from None
        except EvenhandError:
            with suppress(RayError):
                self._stop()
            raise
        finally:
            self._ended = True
            wait([done], _LOOK_SECONDS)

    def _take(self, blocks: Any, done: Future[None]) -> None:  # noqa: ANN401 - a data set of Ray
        try:
            for _ in blocks.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                if self._ended:
                    break
        except BaseException as error:  # noqa: BLE001 - of any kind: told in the thread of the caller
            done.set_exception(error)
        else:
            done.set_result(None)

    def _ask(self, method: str) -> Any:  # noqa: ANN401 - as the coordinator answers
        return self._ray.get(getattr(self._coordinator, method).remote())

    def _look(self, *, at_end: bool = False) -> None:
        """See how far it is, and tell.

        Raises:
            EvenhandError: What a worker could not go on from.
            TooManyFailuresError: More votes failed than ``max_failure_rate`` allows.
        """
        self._state = self._ask("state")
        if self._state["died"] > self._died:
            self._died = self._state["died"]
            tell(f"a worker died, and another one goes on with its rows; {format_count(self._died, 'worker')} so far")
        if at_end:
            self._bad = self._ask("bad_rows")
        if self._shown and (at_end or time.monotonic() - self._said > SECONDS_BETWEEN_LINES):
            self._said = time.monotonic()
            tell(f"judging: {self._told_so_far()}")
        for kind, told in self._state["errors"]:
            raise self._told(kind, told)
        self._check_failures()

    def _told_so_far(self) -> str:
        tally = self._state["tally"]
        parts = [
            f"{format_count(tally.get('judged', 0), 'row')} judged",
            f"{format_count(tally['met'])} judged before" if tally.get("met") else "",
            f"{format_count(tally['bad'])} that cannot be judged" if tally.get("bad") else "",
            format_count(tally.get("votes", 0), "vote"),
            f"{format_count(tally.get('unscored', 0), 'vote')} unscored",
            format_count(tally.get("calls", 0), "call"),
            format_cost(tally["cost"]) if tally.get("cost") else "",
        ]
        return ", ".join(filter(None, parts))

    def _end_gently(self, interrupt: KeyboardInterrupt | Terminated) -> None:
        """No new calls; the replies on their way are waited for, unless it is interrupted again."""
        name = f"ended by {interrupt.signal.name}" if isinstance(interrupt, Terminated) else "interrupted"
        tell(
            f"{name}: no new calls are made. Waiting {GRACE_SECONDS:g} s at most for the replies on their way; "
            "interrupt again not to wait"
        )
        with suppress(KeyboardInterrupt, Terminated, Exception):
            self._stop()
        told = f"{self._told_so_far()}; run the same again, and only the rest is asked for"
        tell(f"{name}: {told}")
        interrupt.add_note(told)

    def _stop(self) -> None:
        """Have no new calls made, and wait until no worker has any under way."""
        begun = time.monotonic()
        self._ask("stop")
        time.sleep(0.5)  # in which every worker hears of it
        while time.monotonic() - begun < GRACE_SECONDS:
            self._state = self._ask("state")
            if not self._state["busy"]:
                return
            time.sleep(0.2)

    def _failed(self, error: Exception) -> EvenhandError:
        """What Ray says, in one line: the first cause that is not Ray's."""
        cause: BaseException = error
        while (inner := getattr(cause, "cause", None) or cause.__cause__) is not None and inner is not cause:
            cause = inner
        if isinstance(cause, EvenhandError):
            return self._told(type(cause).__name__, str(cause))
        lines = [line for line in str(cause).splitlines() if line.strip()]
        return self._told("", f"{type(cause).__name__}: {lines[-1] if lines else ''}")

    def _told(self, kind: str, told: str) -> EvenhandError:
        """An error of a worker, as the user gets it."""
        found: Callable[..., EvenhandError] = getattr(evenhand.errors, kind, DistributedRunError)
        if found is DistributedRunError:
            told = f"a worker failed: {told}"
        again = f"What was judged is in {str(self._folder)!r}: run the same again, and it goes on from there"
        message = told if str(self._folder) in told else f"{told}. {again}"
        return found(message, votes=[]) if kind in {"TooManyFailuresError", "ServerAwayError"} else found(message)

    def finish(self) -> None:
        """When no worker is left: what is scattered comes to its place."""
        self._shards.wait()
        self._shards.put_in_place()
        self._shards.merge(self._journal)
        path = self._folder / BAD_ROWS
        if self._bad:
            with written_whole(path) as written:
                lines = (json.dumps({"id": name, "why": why}, ensure_ascii=False) + "\n" for name, why in self._bad)
                written.write_text("".join(lines), encoding="utf-8")
        elif self._bad is not None:
            path.unlink(missing_ok=True)

    def check(self) -> None:
        """Tell of rows that cannot be judged.

        Raises:
            InvalidInputError: None can be.
        """
        tally = self._state["tally"]
        if self._bad:
            name, why = self._bad[0]
            told = (
                f"{format_count(len(self._bad), 'row')} could not be judged, and stand with why in "
                f"{str(self._folder / BAD_ROWS)!r}; the first, {name!r}: {why}"
            )
            if not tally.get("judged") and not tally.get("met"):
                raise InvalidInputError(told)
            tell(told)

    def _check_failures(self) -> None:
        tally = self._state["tally"]
        failed, votes = tally.get("failed", 0), tally.get("votes", 0)
        rate = self._job.options.max_failure_rate
        if failed > rate * votes + 1e-9:
            causes = sorted(((n, c) for c, n in tally.items() if c.startswith("cause: ")), reverse=True)
            told = "; ".join(f"{number} × {cause.removeprefix('cause: ')}" for number, cause in causes[:5])
            raise TooManyFailuresError(
                f"{failed} of {votes} votes failed, more than max_failure_rate={rate!r} allows: {told}. Replies that "
                "came are in the journal: mend the cause and run the same again, and only the failed calls are made",
                votes=[],
            )
