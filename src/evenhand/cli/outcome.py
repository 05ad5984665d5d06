"""The end of a verb: its result is checked, written and printed, and failed conditions decide the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import model_validator

from evenhand.cli.output import OutputError, check_out, complain, is_quiet, say
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, written_whole
from evenhand.numbers import format_count, format_number, format_percent
from evenhand.options import Options, option

if TYPE_CHECKING:
    from evenhand.cli.jobs import Job
    from evenhand.report.gates import CheckedCondition, CheckReport, Summary

EXIT_CHECK_FAILED: Final = 3
MOST_UNSCORED: Final = 0.1
"""The share of unscored votes that a run of judges may have: beyond it, what is missing outweighs the interval."""

READ: Final = ("data", "journal", "criteria", "rubric", "checklist", "examples")
"""Options that may name files that a run reads."""


class Checks(Options):
    """Conditions that a result is checked by, and how it is printed."""

    require: str | tuple[str, ...] = option(
        (),
        "A condition that must hold, else the exit code is 3: 'relevance.low >= 0.7' or 'unscored <= 2 %'. It may be "
        "given several times; all must hold. The result is saved in any case.",
    )
    format: str | tuple[str, ...] = option(
        (),
        "How the result is printed: table, json, junit, markdown or github (a step of GitHub Actions); NAME=FILE "
        "writes that to a file. It may be given several times.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Check all that can be checked before anything is read or asked."""
        if self.require:
            from evenhand.report.gates import Condition  # noqa: PLC0415 - only who has conditions needs it

            for text in self.conditions:
                Condition.parse(text)
        for form, file in self.formats:
            if form != "table":
                from evenhand.report.gates import check_format  # noqa: PLC0415 - seconds of import

                check_format(form)
            if file is not None and form in {"table", "github"}:
                raise InvalidInputError(f"--format is {form}={file}, and {form!r} is written to no file; leave it out")
            check_out(file, ())
        if len([form for form, file in self.formats if file is None and form != "github"]) > 1:
            raise InvalidInputError(
                f"--format is {list(self.format)!r}, and only one is printed: write the others to files, as "
                "junit=checks.xml"
            )
        return self

    @property
    def conditions(self) -> tuple[str, ...]:
        """All conditions."""
        return (self.require,) if isinstance(self.require, str) else self.require

    @property
    def formats(self) -> Sequence[tuple[str, str | None]]:
        """The names of formats, and the file of each; None if it is printed."""
        given = (self.format,) if isinstance(self.format, str) else self.format
        return [(form, file if sign else None) for form, sign, file in (each.partition("=") for each in given)]


NOTHING: Final = Checks()


def check_result(result: Any, checks: Checks, unscored: Sequence[CheckedCondition] = ()) -> CheckReport:  # noqa: ANN401 - of any verb
    """Return the conditions, and whether they hold.

    Args:
        result: The result, or what changed between two.
        checks: The conditions.
        unscored: The limit on unscored votes, where it does not hold.
    """
    from evenhand.report.gates import CheckReport, check  # noqa: PLC0415 - seconds of import

    found = check(result, checks.conditions).conditions if checks.require else ()
    return CheckReport((*unscored, *found))


def write_formats(summary: Summary, checks: Checks) -> str:
    """Write the formats that go to files, and to the step of GitHub Actions; return the format to print."""
    from evenhand.report import gates  # noqa: PLC0415 - seconds of import

    printed = "table"
    for form, file in checks.formats:
        if form == "github":
            gates.append_to_step(summary)
        elif file is None:
            printed = form
        else:
            with written_whole(file) as temporary:
                temporary.write_text(gates.WRITERS[form](summary) + "\n", encoding="utf-8")
    return printed


def end(
    result: Any,  # noqa: ANN401 - of any verb
    checks: Checks | None,
    *written: str,
    saved: Path | None = None,
    unscored: Sequence[CheckedCondition] = (),
) -> int:
    """Check a result and print it; return the exit code.

    Args:
        result: The result, or what changed between two.
        checks: The conditions, and how it is printed.
        *written: What was written, one sentence each.
        saved: The file that holds the result.
        unscored: The limit on unscored votes, where it does not hold.

    Raises:
        InvalidInputError: A condition that names what the result does not have; the result is printed all the same.
    """
    from evenhand.report import gates  # noqa: PLC0415 - seconds of import

    checks, report = checks or NOTHING, gates.CheckReport(tuple(unscored))
    try:
        report = check_result(result, checks, unscored)
    finally:
        summary = gates.Summary(result, report)
        printed = write_formats(summary, checks)
        tables = (result, *([report] if checks.require and report.conditions else []), *written)
        if printed != "table":
            say(gates.WRITERS[printed](summary), saved=saved)
            for line in written:
                complain(line)
        elif ("github", None) in checks.formats:
            say(gates.unheeded("\n".join(map(str, tables))), *summary.annotations(), saved=saved)
        else:
            say(*tables, saved=saved)
    for each in report.failed:
        complain(each)
    return EXIT_CHECK_FAILED if report.failed else 0


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
        is_report = job.function == "reliability"
        held = "the report was" if is_report else f"{format_count(len(result))} {result.analysis.holds}"
        written.append(f"{held} written to {job.out}")
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


def too_many_unscored(
    result: Any,  # noqa: ANN401 - as above
    most: float = MOST_UNSCORED,
    out: str | Path | None = None,
) -> Sequence[CheckedCondition]:
    """Return the limit on the share of unscored votes, if a result exceeds it."""
    from evenhand.report.gates import CheckedCondition  # noqa: PLC0415 - seconds of import

    counts = result.unscored_counts
    if counts is None or counts.unscored_votes <= most * counts.votes + 1e-9:  # 0.29 · 100 is 28.999999999999996
        return []
    share = counts.unscored_votes / counts.votes
    step = "the reasons say what to mend; --max-unscored 1 accepts any share of unscored votes"
    if "budget" in counts.reasons:
        step = "raise --max-calls or --max-cost and run the same again; what the journal holds is not paid for again"
    elif "offline" in counts.reasons:
        step = "run the same without --offline"
    found = (
        f"{counts.with_reasons}. That is {format_percent(share)} of the votes, more than --max-unscored "
        f"{format_number(most)} allows: {step}"
    )
    found += "" if out is None else f". What was judged is in {str(out)!r}"
    condition = f"unscored <= {format_percent(most)}"
    return [CheckedCondition(condition, False, "unscored", (), share, most, counts.votes, found)]


def _texts(given: object) -> list[str]:
    """Return the texts in an option, which may be one, several, or an object."""
    each = given if isinstance(given, list | tuple) else [given]
    return [str(one) for one in each if isinstance(one, str | Path)]
