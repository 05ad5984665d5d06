"""The end of a verb: its result is checked, written and printed, and failed conditions decide the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import model_validator

from evenhand.cli.output import check_out, complain, say
from evenhand.errors import InvalidInputError
from evenhand.files import written_whole
from evenhand.numbers import format_number, format_percent
from evenhand.options import Options, option

if TYPE_CHECKING:
    from evenhand.report.gates import CheckedCondition, CheckReport, Summary

EXIT_CHECK_FAILED: Final = 3
MOST_UNSCORED: Final = 0.1
"""The share of unscored votes that a run of judges may have: beyond it, what is missing outweighs the interval."""


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
