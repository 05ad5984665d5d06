"""How the job of a run file, or of a verb of the shell, runs; and what it writes and checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from evenhand.by_name import FUNCTIONS, run_job
from evenhand.data.rows import read_log, read_rows
from evenhand.demo import load_rows
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, check_out, write_texts
from evenhand.integrations.ray_data import judge_on_ray
from evenhand.judging.estimate import RunEstimate
from evenhand.labels.annotators import stand_in_test
from evenhand.numbers import format_number, format_percent
from evenhand.options import RunArguments
from evenhand.read_votes import measure_agreement
from evenhand.reliability_report import REPORT_SUFFIXES, ReliabilityReport
from evenhand.report import gates
from evenhand.report.gates import CheckedCondition, CheckReport, Summary, check
from evenhand.report.page import write_report
from evenhand.results.made_by import DEMO, run_record
from evenhand.results.results import SUFFIXES, Results
from evenhand.run_files import AgreementJob, AskingJob, Checks, Job, RecordedJob, RunFile
from evenhand.streams import FunctionCall

READ: Final = ("data", "journal", "criteria", "checklist", "examples")
"""Options that may name files that a run reads."""

MOST_UNSCORED: Final = 0.1
"""The share of unscored votes that a run of judges may have: beyond it, what is missing outweighs the interval."""


def check_result(result: Any, checks: Checks, unscored: Sequence[CheckedCondition] = ()) -> Summary:  # noqa: ANN401 - of any verb
    """Check the conditions, and write the formats that go to files.

    Args:
        result: The result, or what changed between two.
        checks: The conditions and formats.
        unscored: The limit on unscored votes, where it does not hold.
    """
    found = check(result, checks.require).conditions if checks.require else ()
    summary = Summary(result, CheckReport((*unscored, *found)))
    for form, file in checks.formats:
        if file:
            write_texts(file, [gates.WRITERS[form](summary), "\n"])
    return summary


def too_many_unscored(result: Any, most: float = MOST_UNSCORED) -> Sequence[CheckedCondition]:  # noqa: ANN401 - as above
    """Return the limit on the share of unscored votes, if a result exceeds it."""
    counts = result.unscored_counts if isinstance(result, Results | ReliabilityReport) else None
    if counts is None or counts.unscored_votes <= most * counts.votes + 1e-9:  # 0.29 · 100 is 28.999999999999996
        return []
    share = counts.unscored_votes / counts.votes
    found = (
        f"{counts.with_reasons}. That is {format_percent(share)} of the votes, more than --max-unscored "
        f"{format_number(most)} allows: the reasons say what to mend (raise --max-calls, leave out --offline), and the "
        "same run goes on from the journal; --max-unscored 1 accepts any share"
    )
    condition = f"unscored <= {format_percent(most)}"
    return [CheckedCondition(condition, False, "unscored", (), share, most, counts.votes, found)]


def result_of(job: Job) -> Any:  # noqa: ANN401 - of the function
    """Return what the function of a job returns; the result keeps the run that made it.

    Raises:
        InvalidInputError: The job lacks something, or what it writes cannot be written; found before the first call.
    """
    job.check_complete()
    check_outputs(job)
    demo = isinstance(job.data, str) and job.data == DEMO and not Path(DEMO).exists()
    data = load_rows() if demo else job.data
    record = run_record(job.verb(), job.given)
    call = FunctionCall(FUNCTIONS[job.function].run, job)
    if isinstance(job, AskingJob) and job.ray is not None:
        address = None if job.ray == "here" else job.ray
        return judge_on_ray(call, data, limit=job.limit, record=record, address=address, workers=job.workers)
    if isinstance(job, RunArguments) and job.stream_to is not None:
        return run_job(call, data, record, limit=job.limit)
    rows = read_rows(data, call.options.split)
    rows = (read_log(rows) if isinstance(job, RecordedJob) and job.log else rows)[: job.limit]
    job = job.model_copy(update={"split": None})  # the rows are read
    if isinstance(job, AgreementJob) and job.annotator_test is not None:
        return stand_in_test(measure_agreement(rows, job), job.annotator_test)
    return run_job(replace(call, options=job), rows, record)


def check_outputs(job: Job) -> None:
    """Check before the first call that a job can write its files, and that none of them is a file that it reads.

    Raises:
        InvalidInputError: If not.
    """
    read = [text for name in READ for text in _texts(job.given.get(name))]
    out = check_out(job.out, read)
    report = check_out(job.report, [*read, *([] if out is None else [str(out)])], "--report")
    if report is not None:
        check_ending(report, (".html",))
    if job.function == "reliability":
        if job.require or job.format:
            raise InvalidInputError("reliability writes a report, which takes no --require and no --format; see --out")
        if out is not None:
            check_ending(out, REPORT_SUFFIXES)
    elif out is not None:
        check_ending(out, SUFFIXES)


def write_result(result: Any, job: Job) -> list[str]:  # noqa: ANN401 - of any job
    """Write a result and its report, where a job says so; return one sentence for each file."""
    written = []
    if job.out is not None:
        result.save(job.out)
        written.append(f"the result was written to {job.out}")
    if job.report is not None:
        write_report(job.report, result)
        written.append(f"the report was written to {job.report}")
    return written


def unscored_of_job(result: Any, job: Job) -> Sequence[CheckedCondition]:  # noqa: ANN401 - as above
    """Return the limit of a job on unscored votes, if it does not hold."""
    asking = job.function == "read_replies" or job.given.get("engine") is not None
    default = MOST_UNSCORED if asking else 1.0
    return too_many_unscored(result, default if job.max_unscored is None else job.max_unscored)


def _texts(given: object) -> list[str]:
    """Return the texts in an option, which may be one, several, or an object."""
    each = given if isinstance(given, list | tuple) else [given]
    return [str(one) for one in each if isinstance(one, str | Path)]


def run(path: str | Path, **given: Any) -> Any:  # noqa: ANN401 - of any job
    """Run the job of a run file, as ``evenhand run`` does.

    Args:
        path: A run file (.yaml, .json), or a saved result, which holds the run that made it.
        **given: What counts instead of what the file says, by the names of the function that its job stands for:
            ``limit=20``, ``engine=…``, ``data=rows``.

    Returns:
        The result, which is written where the file says; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: The file or what is given cannot be used; found before the first call wherever it can be.
        CheckFailedError: A condition of the file does not hold; the result is written, and the error has it.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.

    Example::

        table = evenhand.run("run.yaml", limit=20)
    """
    file = RunFile.read(path)
    job = file.job.settled(given, file)
    result = result_of(job)
    if isinstance(result, RunEstimate):
        return result
    write_result(result, job)
    if job.function != "reliability":
        unscored = [] if job.max_unscored is None else unscored_of_job(result, job)
        check_result(result, job, unscored).report.raise_if_failed(result)
    return result
