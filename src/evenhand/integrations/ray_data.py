"""Judging on many processes and machines: a stream whose blocks are judged by workers of Ray Data.

    from evenhand.integrations import ray_data

    table = ray_data.judge(
        "rows/*.parquet", "criteria.evenhand.direct.relevance", "openai/gpt-4.1-mini", stream_to="verdicts", workers=8
    )

Each function takes what the function of the same name in :mod:`evenhand` takes with ``stream_to``, and gives the same
verdicts. One task reads the rows, as one process does, and cuts them into blocks. Each worker judges blocks with an
equal share of the budget and of the engine's limits, and writes its replies into a journal of its own.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import evenhand.errors
from evenhand.by_name import call_of
from evenhand.data.plain import is_of
from evenhand.data.rows import Row, check_types, named_rows
from evenhand.engines.base import Engine
from evenhand.engines.batches import BatchJudge
from evenhand.engines.budget import Budget
from evenhand.engines.journal import SELECT_REPLY, Journal, export_lines, import_lines, reply_of, this_host
from evenhand.engines.names import as_list, engine_of, engines_with
from evenhand.errors import DistributedRunError, EvenhandError, InvalidInputError, MissingDependencyError
from evenhand.files import is_opened
from evenhand.interrupts import heeding_termination
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.loop import OpenPanel, opened_journal
from evenhand.results.results import Results
from evenhand.streams import FunctionCall, Stream, judge_stream
from evenhand.votes import Completion

BLOCKS_AT_ONCE: Final = 2
"""The number of blocks that a worker judges at the same time, so that no call waits for the end of a block."""
_READ_CPUS: Final = 0.5
_SHARED: Final = ("max_in_flight", "requests_per_minute", "tokens_per_minute")
"""The limits of an engine that workers share equally."""


def judge(data: object, criteria: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.judge` does, by workers on a cluster.

    Args:
        data: The same as there, or a ``ray.data.Dataset``, such as ``ray.data.read_parquet("s3://…")``.
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
    return _run("judge", data, {"criteria": criteria, "engine": engine, **options})


def checklist(data: object, checklist: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.checklist` does, by workers on a cluster; see :func:`judge`."""
    return _run("checklist", data, {"checklist": checklist, "engine": engine, **options})


def winrates(data: object, criteria: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.winrates` does, by workers on a cluster; see :func:`judge`."""
    return _run("winrates", data, {"criteria": criteria, "engine": engine, **options})


def run_mode(data: object, mode: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.run_mode` does, by workers on a cluster; see :func:`judge`."""
    return _run("run_mode", data, {"mode": mode, "engine": engine, **options})


def grade_scores(data: object, criteria: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """Do what :func:`evenhand.grade_scores` does, by workers on a cluster; see :func:`judge`."""
    return _run("grade_scores", data, {"criteria": criteria, "engine": engine, **options})


def _run(function: str, data: object, arguments: dict[str, Any]) -> Results | RunEstimate:
    cluster = {name: arguments.pop(name, None) for name in ("address", "workers")}
    call, record = call_of(function, data, arguments)
    return judge_on_ray(call, data, record=record, **cluster)


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
    if job.options.stream_to is None:
        raise InvalidInputError("stream_to is missing: name a folder for the verdicts, which all machines share")
    for judge in job.judges():
        if isinstance(judge, BatchJudge):
            raise InvalidInputError(
                f"{judge.judge_id!r} sends batches (batch=True), for which one process suffices: leave out batch or Ray"
            )
    is_pipe = isinstance(data, str | Path) and (str(data) == "-" or is_opened(Path(data)))
    if data is None or is_pipe or isinstance(data, Iterator):
        raise InvalidInputError(f"the data are {data!r}, which other processes cannot read; name a file")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # or a reader would start a cluster of its own
    try:
        import ray.data  # noqa: PLC0415 - the extra
    except ImportError as error:
        raise MissingDependencyError("Ray is not installed: pip install 'evenhand[ray]'") from error

    def judge_blocks(stream: Stream, _: int, record: Mapping[str, Any] | None) -> None:
        with _cluster(ray, address, progress=job.options.progress), heeding_termination():
            with opened_journal(stream.judges, job.options) as replies:
                journal = None if replies is None else replies.path.absolute()
            order = _Order(job, data, limit, stream.folder, journal, this_host(), record)
            order.merge()  # the journals of a run that was killed
            try:
                _judge_blocks(ray, order, workers)
            finally:
                order.merge()
            shutil.rmtree(order.journals, ignore_errors=True)

    return judge_stream(job, _rows_of(data, job.options.split), limit=limit, record=record, judge_blocks=judge_blocks)


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

    def merge(self) -> None:
        """Put the replies of the workers' journals into the journal of the run."""
        if self.journal is not None:
            for path in sorted(self.journals.glob("*.sqlite3")):
                import_lines(self.journal, export_lines(path))

    def shared_by(self, workers: int) -> _Order:
        """Return the order of one of several workers, with an equal share of the limits."""
        options, engines = self.job.options, []
        for engine in map(engine_of, engines_with(options.engine, options.model)):
            limits = {name: limit for name in _SHARED if (limit := getattr(engine, name, None)) is not None}
            share = {name: max(1, limit // workers) for name, limit in limits.items()}
            engines.append(engine.changed(**share) if isinstance(engine, Engine) else engine)
        changes = {"engine": engines, "progress": False, "model": None, "batch": None}
        changes["max_calls"] = options.max_calls and options.max_calls // workers
        changes["max_cost"] = options.max_cost and options.max_cost / workers
        return replace(self, job=replace(self.job, options=options.model_copy(update=changes)), data=None)


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
        self._panel = OpenPanel(judges, options, journal, budget=budget, many=True)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Judge a block, and return the kind and the text of an error, which are empty if there was none."""
        (block,) = batch["block"]
        kind = text = ""
        try:
            if isinstance(block, str):  # why no further block was read
                raise InvalidInputError(block)
            block.write(block.judge(self._order.job, self._panel), self._order.folder, self._order.record)
        except EvenhandError as error:
            kind, text = type(error).__name__, str(error)
        return {"kind": [kind], "error": [text]}


def _read_blocks(_: object, order: _Order) -> Iterator[dict[str, Any]]:
    """Read the blocks that must be judged, in one task of Ray; a message stands for what cannot be read."""
    try:
        stream = Stream.of(order.job, _rows_of(order.data, order.job.options.split), order.limit)
        yield from ({"block": [block]} for block, held in stream.blocks() if held is None)
    except InvalidInputError as error:
        yield {"block": [str(error)]}


def _rows_of(data: Any, split: str | None) -> Iterator[tuple[str, Row]]:  # noqa: ANN401 - of any library
    """Yield the place and the row for each row of data; Ray reads its own data sets."""
    if not is_of(data, "ray"):
        yield from named_rows(data, split)
        return
    number = count()
    for table in data.iter_batches(batch_size=1024, batch_format="pyarrow"):
        check_types(table.schema, "the data set")
        yield from ((f"row {next(number)} of the data set", row) for row in table.to_pylist())


@contextmanager
def _cluster(ray: Any, address: str | None, *, progress: bool) -> Iterator[None]:  # noqa: ANN401 - a module
    """Connect to a cluster: the one of this process, or that is named, or one on this machine."""
    own = not ray.is_initialized()
    if own:
        passed = {name: value for name, value in os.environ.items() if name.startswith(("EVENHAND_", "UNITXT_"))}
        how = {"log_to_driver": False, "logging_level": logging.FATAL, "runtime_env": {"env_vars": passed}}
        try:
            ray.init(address=address, include_dashboard=False, **how)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise DistributedRunError(f"there is no Ray cluster at {address or 'this machine'}: {error}") from error
    context = ray.data.DataContext.get_current().copy()
    context.enable_progress_bars, context.print_on_execution_start = progress, False
    context.target_max_block_size = 1  # a block of rows is one row of Ray's, which is handed on at once
    try:
        with ray.data.DataContext.current(context):
            yield
    finally:
        if own:
            ray.shutdown()


def _judge_blocks(ray: Any, order: _Order, workers: int | None) -> None:  # noqa: ANN401 - a module
    """Judge all blocks.

    Raises:
        EvenhandError: The error of a worker that ended the run.
    """
    cpus = max(1.0, ray.cluster_resources().get("CPU", 1.0))
    limits = [getattr(engine_of(each), "max_in_flight", None) for each in as_list(order.job.options.engine)]
    most = [limit for limit in (*limits, order.job.options.max_calls) if limit is not None]
    workers = max(1, min([workers or int(cpus), *most]))  # each may send a call
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
    try:
        for batch in blocks.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            for found in batch.to_pylist():
                if found["kind"]:
                    raise _error_of(found["kind"], found["error"], order.folder)
    except ray.exceptions.RayError as error:
        raise _error_of("", str(error).strip().rpartition("\n")[2], order.folder) from None


def _error_of(kind: str, text: str, folder: Path) -> EvenhandError:
    """Return the error of a worker as the caller gets it."""
    if str(folder) not in text:
        text = f"{text}. What was judged is in {str(folder)!r}: run the same again, and it continues from there"
    found: Any = getattr(evenhand.errors, kind, None)
    if found is None:
        return DistributedRunError(f"a worker failed: {text}")
    error: EvenhandError = found(text, votes=[]) if kind in {"TooManyFailuresError", "ServerAwayError"} else found(text)
    return error
