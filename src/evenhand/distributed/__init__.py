"""Judging on many processes and machines: the functions of one process, with Ray Data between the rows and the judges.

    import evenhand.distributed

    table = evenhand.distributed.judge(
        "rows/*.parquet", "criteria.evenhand.helpfulness", "openai/gpt-4.1-mini", stream_to="verdicts", workers=8
    )

Each function takes what the function of the same name in :mod:`evenhand` takes with ``stream_to``, and gives the same
verdicts; ``address`` names a cluster. See the page "On a cluster" of the documentation.
"""

from __future__ import annotations

from typing import Any

from evenhand.errors import InvalidInputError

__all__ = ["checklist", "grade_scores", "judge", "run_mode", "winrates"]


def judge(data: object, criteria: object, engine: object, **options: Any) -> Any:  # noqa: ANN401 - as there
    """:func:`evenhand.judge` by workers on a cluster.

    Args:
        data: As there, or a ``ray.data.Dataset``; Parquet files may lie anywhere that Ray reads (``s3://…``).
        criteria: As there.
        engine: As there. ``max_in_flight`` and the requests and tokens a minute are those of all workers together.
        **options: As there. ``stream_to`` must be given: a folder that all machines share. ``address`` is that of a
            Ray cluster (None: the one that this process is connected to, or else one that is started on this machine),
            ``workers`` how many processes judge (None: one a CPU of the cluster). ``max_calls``, ``max_cost`` and
            ``max_failure_rate`` hold over all.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidInputError: Data, fields or options that cannot be used.
        DistributedRunError: The cluster failed; what was judged holds, and the same call goes on from there.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return _run("judge", data, criteria, engine, **options)


def checklist(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """:func:`evenhand.checklist` by workers on a cluster; see :func:`judge`."""
    return _run("checklist", data, *given, **options)


def winrates(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """:func:`evenhand.winrates` by workers on a cluster; see :func:`judge`."""
    return _run("winrates", data, *given, **options)


def run_mode(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """:func:`evenhand.run_mode` by workers on a cluster; see :func:`judge`."""
    return _run("run_mode", data, *given, **options)


def grade_scores(data: object, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as there
    """:func:`evenhand.grade_scores` by workers on a cluster; see :func:`judge`."""
    return _run("grade_scores", data, *given, **options)


def _run(
    function: str,
    data: object,
    *given: object,
    address: str | None = None,
    workers: int | None = None,
    **options: Any,  # noqa: ANN401 - as above
) -> Any:  # noqa: ANN401 - of the function
    from evenhand.distributed import cluster  # noqa: PLC0415 - seconds of import
    from evenhand.row_runs import ROW_FUNCTIONS, job_of, record_of  # noqa: PLC0415 - as above

    arguments = {**dict(zip(ROW_FUNCTIONS[function].places, given, strict=False)), **options}
    job = job_of(function, arguments)
    if job.options.stream_to is None:
        raise InvalidInputError(
            "stream_to is missing: name the folder to which the verdicts go, which all machines of the cluster share"
        )
    record = record_of(function, {"data": data, **arguments})
    return cluster.judge_on_ray(job, data, record=record, address=address, workers=workers)
