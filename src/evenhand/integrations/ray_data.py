"""Judging on many processes and machines: a stream whose blocks are judged by workers of Ray Data.

    from evenhand.integrations import ray_data

    table = ray_data.judge(
        "rows/*.parquet", "criteria.evenhand.helpfulness", "openai/gpt-4.1-mini", stream_to="verdicts", workers=8
    )

Each function takes what the function of the same name in :mod:`evenhand` takes with ``stream_to``, and gives the same
verdicts. One task reads the rows, as one process does, and cuts them into blocks. Each worker judges blocks with an
equal share of the budget and of the engine's limits, and writes its replies into a journal of its own.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

import evenhand.errors
from evenhand.by_name import job_of, record_of
from evenhand.data.row_files import check_types
from evenhand.data.rows import RowBatch, row_batches
from evenhand.engines.base import Engine
from evenhand.engines.batches import BatchJudge
from evenhand.engines.budget import Budget
from evenhand.engines.journal import COMPANIONS, SELECT_REPLY, Journal, default_journal_path, reply_of, this_host
from evenhand.engines.journal_tools import export_lines, import_lines
from evenhand.engines.names import engine_of, listed, with_model
from evenhand.errors import (
    DistributedRunError,
    EvenhandError,
    InvalidInputError,
    MissingDependencyError,
    Terminated,
)
from evenhand.files import expanded, is_opened
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.loop import GRACE_SECONDS, InterruptedJudgingError, OpenPanel, heeding_termination
from evenhand.judging.progress import SECONDS_BETWEEN_LINES, tell
from evenhand.numbers import format_count
from evenhand.results.made_by import write_run
from evenhand.results.results import Results
from evenhand.streams import RUN_FILE, Block, FunctionCall, Stream, held_alone, judge_stream
from evenhand.votes import Completion

PLACES: Final = {"checklist": ("checklist", "engine"), "run_mode": ("mode", "engine")}
"""Function -> the names of its arguments after the data, where they are not criteria and engine."""
BLOCKS_AT_ONCE: Final = 2
"""The number of blocks that a worker judges at the same time, so that no call waits for the end of a block."""
_ROWS_READ: Final = 1024
_READ_CPUS: Final = 0.5
_COUNTED: Final = ("rows", "votes", "unscored", "calls")
_LOOK_SECONDS: Final = 0.5
_SHARED: Final = ("max_in_flight", "requests_per_minute", "tokens_per_minute")
"""The limits of an engine that workers share equally."""


def judge(data: object, criteria: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.judge` does, by workers on a cluster.

    Args:
        data: The same as there, or a ``ray.data.Dataset``; Parquet files may lie anywhere that Ray reads (``s3://…``).
        criteria: The same as there.
        engine: The same as there.
        **options: As there. ``stream_to`` must be given: a folder that all machines share. ``address`` is that of a
            Ray cluster (None: the one that this process is connected to, or else one that is started on this machine),
            ``workers`` how many processes judge (None: one per CPU of the cluster). Each has an equal share of
            ``max_calls``, ``max_cost`` and the engine's limits; ``max_failure_rate`` holds for each.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidInputError: Data, fields or options that cannot be used.
        DistributedRunError: The cluster failed; the same call continues from the parts that are there.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return _run("judge", data, criteria, engine, **options)


def checklist(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.checklist` does, by workers on a cluster; see :func:`judge`."""
    return _run("checklist", data, *given, **options)


def winrates(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.winrates` does, by workers on a cluster; see :func:`judge`."""
    return _run("winrates", data, *given, **options)


def run_mode(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.run_mode` does, by workers on a cluster; see :func:`judge`."""
    return _run("run_mode", data, *given, **options)


def grade_scores(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.grade_scores` does, by workers on a cluster; see :func:`judge`."""
    return _run("grade_scores", data, *given, **options)


def _run(
    function: str,
    data: object,
    *given: object,
    address: str | None = None,
    workers: int | None = None,
    **options: Any,  # noqa: ANN401 - as above
) -> Any:  # noqa: ANN401 - of the function
    arguments = {**dict(zip(PLACES.get(function, ("criteria", "engine")), given, strict=False)), **options}
    record = record_of(function, data, arguments)
    return judge_on_ray(job_of(function, arguments), data, record=record, address=address, workers=workers)


def judge_on_ray(
    job: FunctionCall,
    data: object,
    *,
    limit: int | None = None,
    record: Mapping[str, Any] | None = None,
    address: str | None = None,
    workers: int | None = None,
) -> Results | RunEstimate:
    """Do what :func:`evenhand.streams.judge_stream` does, by workers on a cluster.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidInputError: Data or options that cannot be used.
        DistributedRunError: The cluster failed; what was judged is in the folder.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    _check(job, data, workers)
    ray = _ray()
    if job.options.dry_run:
        return judge_stream(job, _batches(data, job.options.split), limit=limit)
    with _cluster(ray, address):
        stream = Stream.of(job, _batches(data, job.options.split), limit)
        order = _Order(job, data, limit, stream.folder, _journal_of(stream), this_host(), record)
        with held_alone(stream.folder), heeding_termination():
            _merge(order)
            order.stop.unlink(missing_ok=True)
            if record is not None:
                write_run(stream.folder / RUN_FILE, record)
            try:
                _judge_blocks(ray, order, workers)
            finally:
                _merge(order, remove=True)
        return stream.result(record)


@dataclass(frozen=True)
class _Order:
    """The instructions for the reader and all workers.

    Attributes:
        job: The function and its arguments; for workers with their share of the limits.
        data: The rows.
        limit: Take this many rows at most.
        folder: The folder of the parts and the workers' journals.
        journal: The journal of the run, which workers only read; None for none.
        host: The machine of the driver.
        record: The run, as results keep it.
    """

    job: FunctionCall
    data: object
    limit: int | None
    folder: Path
    journal: Path | None
    host: str
    record: Mapping[str, Any] | None

    @property
    def journals(self) -> Path:
        """The folder of the workers' journals."""
        return self.folder / ".workers"

    @property
    def stop(self) -> Path:
        """The file that tells workers to make no new calls."""
        return self.journals / "stop"

    def shared_by(self, workers: int) -> _Order:
        """Return the order of one of several workers, with an equal share of the limits."""
        options = self.job.options
        changes: dict[str, Any] = {"progress": False, "model": None, "batch": None}
        if options.max_calls is not None:
            changes["max_calls"] = options.max_calls // workers
        if options.max_cost is not None:
            changes["max_cost"] = options.max_cost / workers
        given = listed(self.job.options.engine)
        engines = [engine_of(each) for each in (given if options.model is None else with_model(given, options.model))]
        changes["engine"] = [_share(each, workers) for each in engines]
        job = replace(self.job, options=options.model_copy(update=changes))
        return replace(self, job=job, data=None)


def _share(engine: object, workers: int) -> object:
    """Return an engine with an equal share of its limits."""
    if not isinstance(engine, Engine):
        return engine
    limits = {name: limit for name in _SHARED if (limit := getattr(engine, name, None)) is not None}
    return engine.changed(**{name: max(1, limit // workers) for name, limit in limits.items()}) if limits else engine


def _journal_of(stream: Stream) -> Path | None:
    """Return the path of the run's journal, which exists then; None if none is needed."""
    setting = stream.job.options.journal
    if setting is None or all(judge.identity() is None for judge in stream.judges):
        return None
    path = (default_journal_path() if setting == "default" else expanded(setting)).absolute()
    Journal(path).close()
    return path


class _WorkerJournal(Journal):
    """The journal of one worker, which finds the replies in the journal of the run, too."""

    def __init__(self, path: Path, run: Path, host: str) -> None:
        super().__init__(path)
        how = "mode=ro" if host == this_host() else "mode=ro&immutable=1"  # no lock is seen on another machine
        self._run = sqlite3.connect(f"{run.as_uri()}?{how}", uri=True, check_same_thread=False)

    def get(self, key: str) -> Completion | None:
        """Return the recorded reply, marked as cached, from either journal."""
        found = super().get(key)
        if found is None and (row := self._run.execute(SELECT_REPLY, (key,)).fetchone()) is not None:
            return reply_of(key, *row)
        return found


class _Worker:
    """An actor of Ray Data that judges blocks, some at a time."""

    def __init__(self, order: _Order) -> None:
        import ray  # noqa: PLC0415 - the extra

        self._order, options = order, order.job.options
        actor = str(ray.get_runtime_context().get_actor_id())  # a worker that takes the place of a dead one keeps it
        judges, calls, cost, journal = order.job.judges(), 0, 0.0, None
        if order.journal is not None:
            journal = _WorkerJournal(order.journals / f"{actor}.sqlite3", order.journal, order.host)
            with journal.reading() as connection:  # what the dead one spent of the share
                spent = "SELECT count(*), total(json_extract(completion, '$.cost')) FROM reply"
                calls, cost = connection.execute(spent).fetchone()
        budget = Budget(
            None if options.max_calls is None else max(0, options.max_calls - calls),
            None if options.max_cost is None else max(0.0, options.max_cost - cost),
        )
        self._panel = OpenPanel(judges, options, journal, options.judge_weights, budget=budget, many=True)
        threading.Thread(target=self._heed_stop, daemon=True).start()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Judge a block, and return what the driver reports."""
        (block,) = batch["block"]
        found: dict[str, Any] = {**dict.fromkeys(_COUNTED, 0), "kind": "", "error": ""}
        if self._panel.budget.stopped:
            return {name: [value] for name, value in found.items()}
        if isinstance(block, _Failure):
            return {name: [value] for name, value in (found | asdict(block)).items()}
        try:
            result = block.judge(self._order.job, self._panel)
            block.write(result, self._order.folder, self._order.record)
        except InterruptedJudgingError:
            pass
        except EvenhandError as error:
            found |= {"kind": type(error).__name__, "error": str(error)}
        else:
            votes = [vote for cell in result.cells() for vote in cell.votes]
            found |= {"rows": len(block.names), "votes": len(votes), "unscored": sum(vote.unscored for vote in votes)}
            found |= {"calls": sum(vote.usage.calls for vote in votes)}
        return {name: [value] for name, value in found.items()}

    def _heed_stop(self) -> None:
        """Make no new calls once the driver says so."""
        while not self._order.stop.exists():
            time.sleep(_LOOK_SECONDS)
        self._panel.stop()


@dataclass(frozen=True)
class _Failure:
    """An error of the reader, in the place of a block."""

    kind: str
    error: str


def _read_blocks(_: object, order: _Order) -> Iterator[dict[str, Any]]:
    """Read the blocks that must be judged, in one task of Ray."""

    def blocks() -> Iterator[Block | _Failure]:
        try:
            yield from Stream.of(order.job, _batches(order.data, order.job.options.split), order.limit).blocks()
        except InvalidInputError as error:
            yield _Failure(type(error).__name__, str(error))

    for block in blocks():
        held = np.empty(1, dtype=object)
        held[0] = block
        yield {"block": held}


def _batches(data: Any, split: str | None) -> Iterator[RowBatch]:  # noqa: ANN401 - of any library
    """Read rows, some at a time; from Ray's own data sets and from addresses by Ray."""
    paths = _paths_of(data)
    if paths and all("://" in str(path) for path in paths):
        import ray.data  # noqa: PLC0415 - the extra

        data = ray.data.read_parquet([str(path) for path in paths], partitioning=None, file_extensions=None)
    if type(data).__module__.partition(".")[0] != "ray":
        yield from row_batches(data, split)
        return
    first = 0
    for table in data.iter_batches(batch_size=_ROWS_READ, batch_format="pyarrow"):
        check_types(table.schema, "the data set")
        yield RowBatch(table.to_pylist(), [(0, "the data set", first)])
        first += len(table)


def _paths_of(data: object) -> list[str | Path]:
    given = list(data) if isinstance(data, list | tuple) else [data]
    paths = [each for each in given if isinstance(each, str | Path)]
    return paths if len(paths) == len(given) else []


def _check(job: FunctionCall, data: object, workers: int | None) -> None:
    """Check what can be checked without Ray.

    Raises:
        InvalidInputError: Options that cannot be used, or data that other processes cannot read.
    """
    if job.options.stream_to is None:
        raise InvalidInputError(
            "stream_to is missing: name the folder to which the verdicts go, which all machines of the cluster share"
        )
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        raise InvalidInputError(f"workers is {workers!r}; give a whole number of at least 1, or None for one per CPU")
    for judge in job.judges():
        if isinstance(judge, BatchJudge):
            raise InvalidInputError(
                f"{judge.judge_id!r} sends batches (batch=True), for which one process suffices and whose journal "
                "finds them again: leave out the cluster (address, in the shell --ray), or batch"
            )
    opened = [str(path) for path in _paths_of(data) if str(path) == "-" or is_opened(Path(path))]
    if data is None or opened or isinstance(data, Iterator):
        raise InvalidInputError(
            f"the data are {opened[0] if opened else data!r}, which other processes cannot read: write them to a file, "
            "and give its path"
        )


def _ray() -> Any:  # noqa: ANN401 - a module
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # or a reader would start a cluster of its own
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_enable_output_error_log_if_still_retry", "0")  # a worker that dies is replaced
    try:
        import ray.data  # noqa: PLC0415 - the extra
    except ImportError as error:
        raise MissingDependencyError(
            "judging on a cluster needs Ray, which is not installed: pip install 'evenhand[ray]'"
        ) from error
    return ray


@contextmanager
def _cluster(ray: Any, address: str | None) -> Iterator[None]:  # noqa: ANN401 - a module
    """Connect to a cluster: the one that this process is connected to, or that is named, or one on this machine.

    Ray's own output (progress bars, logs, tracebacks) is not shown; it is in Ray's folder of logs.
    """
    own = not ray.is_initialized()
    if own:
        here: dict[str, Any] = {"include_dashboard": False}
        if address not in {None, "local"}:
            passed = {name: value for name, value in os.environ.items() if name.startswith(("EVENHAND_", "UNITXT_"))}
            here = {"runtime_env": {"env_vars": passed}}
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.FATAL, **here)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise DistributedRunError(f"there is no Ray cluster at {address or 'this machine'}: {error}") from error
    context = ray.data.DataContext.get_current().copy()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.target_max_block_size = 1  # a block of rows is one row of Ray's, which is handed on at once
    handlers = [each for each in logging.getLogger("ray.data").handlers if "File" not in type(each).__name__]
    levels = [each.level for each in handlers]
    try:
        for each in handlers:
            each.setLevel(logging.FATAL)
        with ray.data.DataContext.current(context):
            yield
    finally:
        for each, level in zip(handlers, levels, strict=True):
            each.setLevel(level)
        if own:
            ray.shutdown()


def _merge(order: _Order, *, remove: bool = False) -> None:
    """Put the replies of the workers' journals into the journal of the run.

    Args:
        order: The instructions of the run.
        remove: Remove the workers' journals, to which no worker writes any more.
    """
    for path in sorted(order.journals.glob("*.sqlite3")):
        if order.journal is not None:
            import_lines(order.journal, export_lines(path))
        if remove:
            for each in (path, *(path.with_name(path.name + ending) for ending in COMPANIONS)):
                each.unlink(missing_ok=True)
    if remove and order.journals.exists():
        order.stop.unlink(missing_ok=True)
        with suppress(OSError):
            order.journals.rmdir()


def _judge_blocks(ray: Any, order: _Order, workers: int | None) -> None:  # noqa: ANN401 - a module
    """Judge all blocks, and report the progress.

    A thread of its own takes what comes from Ray, which would end all workers at once if an interrupt met it.

    Raises:
        EvenhandError: The error of a worker that ended the run.
    """
    cpus = max(1.0, ray.cluster_resources().get("CPU", 1.0))
    workers = _most_workers(order.job, workers or int(cpus))
    blocks = (
        ray.data.from_items([{"start": 0}])
        .map_batches(_read_blocks, fn_args=(order,), batch_size=1, num_cpus=_READ_CPUS)
        .map_batches(
            _Worker,
            fn_constructor_args=(order.shared_by(workers),),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(
                size=workers,
                max_tasks_in_flight_per_actor=BLOCKS_AT_ONCE + 1,
                max_concurrent_calls_per_actor=BLOCKS_AT_ONCE,
                enable_true_multi_threading=True,
            ),
            num_cpus=min(1.0, max(0.0, cpus - 2 * _READ_CPUS) / workers),
        )
    )
    tally, done = Counter[str](), Future[None]()
    threading.Thread(target=_take, args=(blocks, order.folder, tally, done), daemon=True).start()
    try:
        _report(order.job, tally, done)
    except (KeyboardInterrupt, Terminated) as interrupt:
        tell(
            f"interrupted: no new calls are made. Waiting {GRACE_SECONDS:g} s at most for the replies on their way; "
            "interrupt again not to wait"
        )
        with suppress(KeyboardInterrupt, Terminated):
            _stop(order, tally)
        text = f"{_in_words(tally)}; run the same again, and only the rest is asked for"
        tell(f"interrupted: {text}")
        interrupt.add_note(text)
        raise
    except EvenhandError:
        _stop(order, tally)
        raise
    except ray.exceptions.RayError as error:
        raise _error_of("", str(error).strip().rpartition("\n")[2], order.folder) from None


def _take(blocks: Any, folder: Path, tally: Counter[str], done: Future[None]) -> None:  # noqa: ANN401 - a data set of Ray
    """Count what workers return until all is judged; the first error is set, and what is under way is waited for."""
    failure: BaseException | None = None
    try:
        for batch in blocks.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            for found in batch.to_pylist():
                tally.update({name: found[name] for name in _COUNTED})
                if found["kind"] and not done.done():
                    done.set_exception(_error_of(found["kind"], found["error"], folder))
    except BaseException as error:  # noqa: BLE001 - raised in the thread of the caller
        failure = error
    tally["over"] = 1
    if not done.done():
        done.set_result(None) if failure is None else done.set_exception(failure)


def _report(job: FunctionCall, tally: Mapping[str, int], done: Future[None]) -> None:
    """Wait until all is judged, and report the progress every ten seconds and at the end."""
    printed = time.monotonic()
    while not wait([done], _LOOK_SECONDS).done:
        if job.options.progress and time.monotonic() - printed > SECONDS_BETWEEN_LINES:
            printed = time.monotonic()
            tell(f"judging: {_in_words(tally)}")
    done.result()
    if job.options.progress:
        tell(f"judging: {_in_words(tally)}")


def _most_workers(job: FunctionCall, workers: int) -> int:
    """Return no more workers than there may be calls, or some could never send one."""
    limits: list[int | None] = [getattr(engine_of(each), "max_in_flight", None) for each in listed(job.options.engine)]
    limits.append(job.options.max_calls)
    return max(1, min(workers, *(limit for limit in [*limits, workers] if limit is not None)))


def _stop(order: _Order, tally: Mapping[str, int]) -> None:
    """Stop new calls, and wait for those under way."""
    order.journals.mkdir(parents=True, exist_ok=True)
    order.stop.touch()
    deadline = time.monotonic() + GRACE_SECONDS
    while not tally["over"] and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _in_words(tally: Mapping[str, int]) -> str:
    unscored = format_count(tally["unscored"], "vote")
    return (
        f"{format_count(tally['rows'], 'row')}, {format_count(tally['votes'], 'vote')}, {unscored} unscored, "
        f"{format_count(tally['calls'], 'call')}"
    )


def _error_of(kind: str, text: str, folder: Path) -> EvenhandError:
    """Return the error of a worker as the caller gets it."""
    if str(folder) not in text:
        text = f"{text}. What was judged is in {str(folder)!r}: run the same again, and it continues from there"
    found: Any = getattr(evenhand.errors, kind, None)
    if found is None:
        return DistributedRunError(f"a worker failed: {text}")
    error: EvenhandError = found(text, votes=[]) if kind in {"TooManyFailuresError", "ServerAwayError"} else found(text)
    return error
