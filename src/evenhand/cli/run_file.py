"""Run files: their jobs, templates to start from, and their JSON schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Union

from pydantic import Field, TypeAdapter

from evenhand.cli.jobs import JOBS, AskingJob, Job, ModeJob, RunFile
from evenhand.cli.outcome import MOST_UNSCORED, check_result, end, too_many_unscored, write_formats
from evenhand.cli.output import OutputError, check_out, is_quiet, note, say
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_ending
from evenhand.options import RunOptions

if TYPE_CHECKING:
    from evenhand.report.gates import CheckedCondition

NOT_KEPT: Final = ("out", "leave_out", "report", "format", "config")
"""Options that the run of a result does not keep: a second run overwrites nothing."""

READ: Final = ("data", "journal", "criteria", "checklist", "examples")
"""Options that may name files that a run reads."""

TEMPLATES: Final = Path(__file__).with_name("templates")


def result_of(job: Job) -> Any:  # noqa: ANN401 - of the function
    """Return what the function of a job returns; the result keeps the run that made it."""
    from evenhand.by_name import FUNCTIONS, run_job  # noqa: PLC0415 - seconds of import
    from evenhand.data.rows import row_batches, rows_known  # noqa: PLC0415 - as above
    from evenhand.results.made_by import run_record  # noqa: PLC0415 - as above
    from evenhand.streams import FunctionCall, judge_stream  # noqa: PLC0415 - as above

    asked, split = job, getattr(job, "split", None)
    data = rows_of(job) if _is_demo(job.data) else job.data
    batches = row_batches(data, split) if getattr(job, "stream_to", None) is not None else iter(())
    first = next(batches, None)
    rows = _limited(job, rows_of(job)) if first is None else first
    changes: dict[str, Any] = {"split": None} if hasattr(job, "split") else {}  # the rows are read
    if is_quiet() and isinstance(job, RunOptions):
        changes["progress"] = False
    if isinstance(job, ModeJob) and isinstance(job.mode, str) and ":" in job.mode:
        changes["mode"] = _imported(job.mode)
    job = job.model_copy(update=changes)
    call = FunctionCall(job.function, FUNCTIONS[job.function].run, job)
    options = {name: value for name, value in asked.given.items() if name not in NOT_KEPT}
    record = run_record(job.verb(), options)
    if isinstance(job, AskingJob) and job.ray is not None:
        from evenhand.integrations.ray_data import judge_on_ray  # noqa: PLC0415 - as above

        address = None if job.ray == "here" else job.ray
        return judge_on_ray(call, data, limit=job.limit, record=record, address=address, workers=job.workers)
    if first is not None:
        known = None if _is_demo(job.data) else rows_known(job.data, split)
        return judge_stream(call, chain([first], batches), count=known, limit=job.limit, record=record)
    return run_job(call, rows, record)


def check_outputs(job: Job) -> None:
    """Check before the first call that all can be written that a job writes, and over nothing that it reads.

    Raises:
        InvalidInputError: If it cannot.
    """
    read = [text for name in READ for text in _texts(getattr(job, name, None))]
    out, report = check_out(job.out, read), check_out(job.report, read, "--report")
    if report is not None:
        check_ending(report, (".html",))
        if out is not None and out.resolve() == report.resolve():
            raise InvalidInputError(f"--report is {str(job.report)!r}, the same file as --out: give another")
    left_out = _texts(getattr(job, "leave_out", None))
    if out is None:
        if left_out:
            raise InvalidInputError("--leave-out says what --out does not write, and there is no --out: give one")
    elif job.function == "reliability":
        from evenhand.reliability_report import REPORT_SUFFIXES  # noqa: PLC0415 - seconds of import

        check_ending(out, REPORT_SUFFIXES)
    else:
        from evenhand.results import saved, vote_columns  # noqa: PLC0415 - only who writes a file needs it

        vote_columns.check_left_out(left_out)
        saved.check_suffix(out)


def write_result(result: Any, job: Job) -> list[str]:  # noqa: ANN401 - of any job
    """Write a result and its report, where a job says so; return one sentence for each file."""
    written = []
    if job.out is not None:
        left_out = _texts(getattr(job, "leave_out", None))
        result.save(job.out, **({"leave_out": left_out} if left_out else {}))
        written.append(f"the result was written to {job.out}")
    if job.report is not None:
        from evenhand.report.page import write_report  # noqa: PLC0415 - seconds of import

        write_report(job.report, result)
        written.append(f"the report was written to {job.report}")
    return written


def end_job(result: Any, job: Job) -> int:  # noqa: ANN401 - as above
    """Write the result of a job, print it, and name what does not hold; return the exit code."""
    try:
        written = write_result(result, job)
    except BaseException:
        with suppress(OutputError):
            say(result)  # it is shown, at least
        raise
    saved = None if job.out is None else Path(job.out)
    return end(result, job, *([] if is_quiet() else written), saved=saved, unscored=unscored_of_job(result, job))


def unscored_of_job(result: Any, job: Job) -> Sequence[CheckedCondition]:  # noqa: ANN401 - as above
    """Return the limit of a job on unscored votes, if it does not hold."""
    asking = job.function == "read_replies" or getattr(job, "engine", None) is not None
    default = MOST_UNSCORED if asking else 1.0
    return too_many_unscored(result, default if job.max_unscored is None else job.max_unscored, job.out)


def _texts(given: object) -> list[str]:
    """Return the texts in an option, which may be one, several, or an object."""
    each = given if isinstance(given, list | tuple) else [given]
    return [str(one) for one in each if isinstance(one, str | Path)]


def rows_of(job: Job) -> Sequence[Mapping[str, Any]]:
    """Return the rows of the data."""
    from evenhand.data.rows import read_file, read_log, read_rows  # noqa: PLC0415 - only who judges needs it

    if _is_demo(job.data):
        from evenhand.demo import load_rows  # noqa: PLC0415 - as above

        return load_rows()
    split = getattr(job, "split", None)
    rows = read_file(job.data, split) if isinstance(job.data, str) else read_rows(job.data, split)
    return read_log(rows) if getattr(job, "log", False) else rows


def _is_demo(data: object) -> bool:
    """Return whether the data are those that ship with evenhand."""
    from evenhand.results.made_by import DEMO  # noqa: PLC0415 - as above

    return isinstance(data, str) and data == DEMO and not Path(DEMO).exists()


def _limited(job: Job, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the first rows; where a prompt has several rows, the rows of the first prompts."""
    if job.limit is None:
        return rows
    from evenhand.data.fields import name_of  # noqa: PLC0415 - as above

    asks = any("votes" in group for group in job.one_of)
    long = getattr(job, "systems_field", None) or job.function == "read_replies" or (asks and "votes" in job.given)
    column = getattr(job, "id_field", None) or ("id" if "id" in rows[0] else None)
    names = [name_of(row.get(column)) if long and column else str(place) for place, row in enumerate(rows)]
    first = list(dict.fromkeys(names))
    kept = {*first[: job.limit]}
    if len(kept) < len(first):
        what = f"prompts, named by {column!r}," if long and column else "rows"
        note(f"the first {job.limit} of {len(first)} {what} are taken (--limit {job.limit})")
    return [row for row, name in zip(rows, names, strict=True) if name in kept]


def _imported(named: str) -> object:
    """Return the class of ``MODULE:CLASS``; the module may lie in the current folder."""
    module, _, name = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:  # TypeError: a relative name
        raise InvalidInputError(
            f"--mode is {named!r}, which cannot be imported ({error}); give MODULE:CLASS, or the kind of a mode"
        ) from error
    finally:
        sys.path.pop(0)


def template(name: str) -> str:
    """Return the text of a run file to start from; of ``list`` the names of all.

    Raises:
        InvalidInputError: If there is none of this name.
    """
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.yaml"))}
    if name == "list":
        return "\n".join(f"{each:<14}{text.splitlines()[0].removeprefix('# ')}" for each, text in found.items())
    if name not in found:
        raise InvalidInputError(f"--template is {name!r}. {did_you_mean(name, found)}")
    return found[name].rstrip("\n")


def schema() -> str:
    """Return the JSON schema of run files, by which editors complete and check them."""
    jobs: Any = Annotated[Union[tuple(JOBS.values())], Field(discriminator="job")]  # noqa: UP007 - of a tuple
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(jobs).json_schema()}
    for shape in found["$defs"].values():
        if "job" in shape["properties"]:
            shape["properties"]["$schema"] = {"type": "string"}
            shape["required"] = ["job"]
    return json.dumps(found, indent=2, ensure_ascii=False)


def run(path: str | Path, **given: Any) -> Any:  # noqa: ANN401 - of any job
    """Run the job of a run file, as ``evenhand run`` does.

    Args:
        path: A run file (.yaml, .json, .toml), or a saved result, which holds the run that made it.
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
    from evenhand.report.gates import Summary  # noqa: PLC0415 - seconds of import

    file = RunFile.read(path)
    job = file.job.settled(given, file)
    job.check_complete()
    check_outputs(job)
    result = result_of(job)
    if getattr(job, "dry_run", False):
        return result
    write_result(result, job)
    if job.function != "reliability":
        unscored = [] if job.max_unscored is None else unscored_of_job(result, job)
        checked = check_result(result, job, unscored)
        write_formats(Summary(result, checked), job)
        checked.raise_if_failed(result)
    return result
