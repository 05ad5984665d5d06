"""The conditions that a result is checked by, the formats in which it is printed, and the exit code 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from evenhand.cli.output import check_out, complain, say
from evenhand.errors import InvalidInputError
from evenhand.files import written_whole

if TYPE_CHECKING:
    from evenhand.labels.correct import CorrectedScores
    from evenhand.report.gates import CheckedCondition, CheckReport
    from evenhand.report.summaries import Summary
    from evenhand.results.compare import RunComparison
    from evenhand.results.render import PrintedTables
    from evenhand.results.results import Results

EXIT_CHECK_FAILED: Final = 3
REQUIRE: Final = (
    "A condition that must hold, else the exit code is 3: 'relevance.low >= 0.7' or 'unscored <= 2 %' (of the votes). "
    "It may be given several times; all must hold."
)
FORMAT: Final = (
    "How the result is printed: table, json, junit, markdown or github (a step of GitHub Actions); NAME=FILE writes "
    "that to a file. It may be given several times."
)
DESIGN: Final = (
    "How labelled rows were chosen, for conditions on corrected scores: random, by_verdict, … (see correct)."
)


@Parameter(name="*")
@dataclass(frozen=True)
class Gating:
    """What must hold of a result, and how it is printed.

    Attributes:
        require: Conditions.
        formats: A name, or a name and a file.
        gold: Labels of people, for conditions on corrected scores.
        design: How the labelled rows were chosen.
    """

    require: Annotated[tuple[str, ...], Parameter(name="--require", help=REQUIRE, negative=(), show_default=False)] = ()
    formats: Annotated[tuple[str, ...], Parameter(name="--format", help=FORMAT, negative=(), show_default=False)] = ()
    gold: Annotated[
        Path | None,
        Parameter(help="Labels of people, for conditions on corrected scores; by default those of the result."),
    ] = None
    design: Annotated[str | None, Parameter(name="--gold-design", help=DESIGN)] = None

    def __post_init__(self) -> None:
        """Check all that can be checked before anything is read or asked.

        Raises:
            InvalidInputError: A text that is not a condition, or not a format.
        """
        if self.require:
            from evenhand.report.gates import Condition  # noqa: PLC0415 - only who has conditions needs it

            for text in self.require:
                Condition.parse(text)
        if self.formats:
            self._check_formats()

    def _check_formats(self) -> None:
        from evenhand.report.summaries import check_format  # noqa: PLC0415 - seconds of import

        for form, file in self._files:
            if form != "table":
                check_format(form)
            if file is not None and form in {"table", "github"}:
                raise InvalidInputError(f"--format is {form}={file}, and {form!r} is written to no file; leave it out")
            check_out(file, ())
        if len([form for form, file in self._files if file is None and form != "github"]) > 1:
            raise InvalidInputError(
                f"--format is {list(self.formats)!r}, and only one is printed: write the others to files, as "
                "junit=checks.xml"
            )

    def check_before_run(
        self, ranges: Mapping[str, tuple[float, float]], systems: Sequence[str], *, complete: bool
    ) -> None:
        """Check the conditions before the first call: see :func:`evenhand.report.gates.check_before_run`.

        Args:
            ranges: The scores that there will be, and their ranges.
            systems: The systems that will have them; empty where these are not known.
            complete: Whether no other score will be there.

        Raises:
            InvalidInputError: If they name something else, or compare it with what it cannot reach.
        """
        from evenhand.report.gates import CORRECTED, check_before_run  # noqa: PLC0415 - as above

        check_before_run(self.require, ranges, systems, complete=complete)
        for text in self.require:
            if CORRECTED in text and self.design is None:
                raise InvalidInputError(
                    f"the condition {text!r} is on a corrected score, and nothing says how the labelled rows were "
                    "chosen: give labels their design, or with gold labels in the data --gold-design random (or "
                    "by_verdict, probabilities)"
                )

    @property
    def _files(self) -> Sequence[tuple[str, str | None]]:
        """The names of formats, and the file of each; None where it is printed."""
        return [
            (form, file if equals else None) for form, equals, file in (each.partition("=") for each in self.formats)
        ]

    def end(
        self,
        result: Results | RunComparison,
        *said: str | PrintedTables,
        saved: Path | None = None,
        unscored: Sequence[CheckedCondition] = (),
        corrected: CorrectedScores | None = None,
    ) -> int:
        """Check a result, and print it.

        Args:
            result: The result.
            *said: What was done with it.
            saved: The file that holds it.
            unscored: The limit on unscored votes, where it does not hold.
            corrected: The corrected scores, where they are known already.

        Returns:
            The exit code: 3 where a condition does not hold.

        Raises:
            InvalidInputError: A condition that names what the result does not have; the result is printed all the same.
        """
        from evenhand.report.gates import CheckReport  # noqa: PLC0415 - as above

        report = CheckReport(tuple(unscored))
        try:
            report = self.check(result, unscored, corrected)
        finally:
            self._print(result, report, said, saved)
        for each in report.failed:
            complain(each)
        return EXIT_CHECK_FAILED if report.failed else 0

    def check(
        self,
        result: Results | RunComparison,
        unscored: Sequence[CheckedCondition] = (),
        corrected: CorrectedScores | None = None,
    ) -> CheckReport:
        """The conditions, and whether they hold: the arguments are those of :meth:`end`."""
        from evenhand.report.gates import CheckReport, check  # noqa: PLC0415 - as above

        if not self.require:
            return CheckReport(tuple(unscored))
        found = check(result, self.require, gold=self.gold, design=self.design, corrected=corrected)
        return CheckReport((*unscored, *found.conditions))

    def write(self, summary: Summary) -> str:
        """Write the formats that go to files, and to the step of GitHub Actions.

        Returns:
            The format in which the result is printed besides.
        """
        from evenhand.report import summaries  # noqa: PLC0415 - as above

        printed = "table"
        for form, file in self._files:
            if form == "github":
                summaries.append_to_step(summary)
            elif file is None:
                printed = form
            else:
                with written_whole(file) as beside:
                    beside.write_text(summaries.WRITERS[form](summary) + "\n", encoding="utf-8")
        return printed

    def _print(
        self,
        result: Results | RunComparison,
        report: CheckReport,
        said: Sequence[str | PrintedTables],
        saved: Path | None,
    ) -> None:
        from evenhand.report import summaries  # noqa: PLC0415 - as above

        summary = summaries.Summary(result, report)
        printed = self.write(summary)
        tables: tuple[Any, ...] = (result, *([report] if self.require and report.conditions else []), *said)
        if printed != "table":
            say(summaries.WRITERS[printed](summary), saved=saved)
            for line in said:
                if isinstance(line, str):
                    complain(line)
        elif "github" in self.formats:
            say(summaries.unheeded("\n".join(map(str, tables))), *summary.annotations(), saved=saved)
        else:
            say(*tables, saved=saved)


NOTHING: Final = Gating()
