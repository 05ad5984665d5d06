"""What is checked of a result, and how it is told: gates, formats for programs, and the exit code 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from evenhand.cli.output import complain, say
from evenhand.errors import InvalidInputError, did_you_mean

if TYPE_CHECKING:
    from evenhand.labels.correct import CorrectedScores
    from evenhand.report.gates import GateReport
    from evenhand.report.summaries import Summary
    from evenhand.results import Results
    from evenhand.results.compare import RunComparison
    from evenhand.results.render import PrintedTables

EXIT_GATE: Final = 3
FAIL_IF: Final = (
    "What makes the run fail, with exit code 3, as 'relevance.low < 0.7' or 'unscored > 2 %' (of the votes); it may be "
    "given several times."
)
FORMAT: Final = (
    "How the result is told: table, json, junit, markdown or github (a step of GitHub Actions); NAME=FILE writes that "
    "to a file. It may be given several times."
)
WHOLE: Final = ("unscored", "unscored_verdicts")
"""The shares of a whole result that gates name."""

DESIGN: Final = "How labelled rows were chosen, for gates on corrected scores: random, by_verdict, … (as of correct)."


@Parameter(name="*")
@dataclass(frozen=True)
class Gating:
    """What is checked of a result, and how it is told.

    Attributes:
        fail_if: Gates.
        formats: How it is told: a name, or a name and a file.
        gold: Labels of people, for gates on corrected scores.
        design: How the labelled rows were chosen.
    """

    fail_if: Annotated[tuple[str, ...], Parameter(name="--fail-if", help=FAIL_IF, negative=(), show_default=False)] = ()
    formats: Annotated[tuple[str, ...], Parameter(name="--format", help=FORMAT, negative=(), show_default=False)] = ()
    gold: Annotated[
        Path | None, Parameter(help="Labels of people, for gates on corrected scores; by default those of the result.")
    ] = None
    design: Annotated[str | None, Parameter(name="--gold-design", help=DESIGN)] = None

    def __post_init__(self) -> None:
        """Check all that can be checked before anything is read or asked.

        Raises:
            InvalidInputError: What is no gate, or no format.
        """
        if not (self.fail_if or self.formats):
            return
        from evenhand.report.gate_expressions import parse  # noqa: PLC0415 - only who has gates needs it

        for expression in self.fail_if:
            parse(expression)
        if self.formats:
            self._check_formats()

    def _check_formats(self) -> None:
        from evenhand.cli.verbs import check_out  # noqa: PLC0415 - a second of import
        from evenhand.report.summaries import check_format  # noqa: PLC0415 - as above

        for form, file in self._told:
            if form != "table":
                check_format(form)
            if file is not None and form in {"table", "github"}:
                raise InvalidInputError(f"--format is {form}={file}, and {form!r} is written to no file; leave it out")
            check_out(file, ())
        if len([form for form, file in self._told if file is None and form != "github"]) > 1:
            raise InvalidInputError(
                f"--format is {list(self.formats)!r}, and only one is printed: write the others to files, as "
                "junit=gates.xml"
            )

    def check_names(
        self, scores: Sequence[str], systems: Sequence[str], ranges: Mapping[str, tuple[float, float]]
    ) -> None:
        """Check before the first call that gates name what the result will have, as far as that is known.

        Args:
            scores: What there will be scores of; empty where that is not known.
            systems: Whose; likewise.
            ranges: Name of a score -> between which numbers it will lie, as far as that is known.

        Raises:
            InvalidInputError: If they name something else, or compare it with what it cannot reach.
        """
        from evenhand.report.gate_evidence import check_known_limits, refuse_two_meanings  # noqa: PLC0415 - as above
        from evenhand.report.gate_expressions import comparisons_in, parse  # noqa: PLC0415 - as above
        from evenhand.results.gate_names import CORRECTED  # noqa: PLC0415 - as above

        known = {**ranges, **{name.replace(" ", "_"): each for name, each in ranges.items()}}
        begun = {*scores, *(score.replace(" ", "_") for score in scores), *WHOLE}
        for expression in self.fail_if:
            for named in (each for one in comparisons_in(parse(expression)) for each in one.measures):
                whole = ".".join(named.path)
                meant = whole.removesuffix(".low").removesuffix(".high")
                if meant in WHOLE and meant in scores and not named.of:
                    refuse_two_meanings(named)
                if CORRECTED in named.path[1:] and whole not in begun and self.design is None:
                    raise InvalidInputError(
                        f"--fail-if names {named.text!r}, and nothing says how the labelled rows were chosen: give "
                        "labels their design, or with gold labels in the data --gold-design random (or by_verdict, "
                        "probabilities)"
                    )
                if scores and not any(whole == name or whole.startswith(f"{name}.") for name in begun):
                    raise InvalidInputError(
                        f"--fail-if names {named.text!r}, and there will be no such score. "
                        f"{did_you_mean(named.path[0], sorted(begun))}"
                    )
                for system in named.of if systems else ():
                    if system not in systems:
                        raise InvalidInputError(
                            f"--fail-if names {named.text!r}, and there is no system {system!r}. "
                            f"{did_you_mean(system, systems)}"
                        )
            for comparison in comparisons_in(parse(expression)):
                check_known_limits(comparison, known)

    @property
    def _told(self) -> Sequence[tuple[str, str | None]]:
        """The names of formats, and the file of each; None where it is printed."""
        return [
            (form, file if equals else None) for form, equals, file in (each.partition("=") for each in self.formats)
        ]

    def end(
        self,
        result: Results[Any] | RunComparison,
        *said: str | PrintedTables,
        saved: Path | None = None,
        also: Sequence[str] = (),
        data: object = None,
        corrected: CorrectedScores | None = None,
    ) -> int:
        """Tell a result, and check it.

        Args:
            result: Which.
            *said: What was done with it.
            saved: The file that holds it.
            also: What fails beside gates, a line each.
            data: The rows that were judged, where the result keeps no column of groups.
            corrected: The corrected scores, where they are known already.

        Returns:
            The exit code: 3 where something fails.

        Raises:
            InvalidInputError: A gate that names what the result does not have; it is told all the same.
        """
        from evenhand.report.gates import GateReport, told_as_gate  # noqa: PLC0415 - as above

        report = GateReport(())
        try:
            report = self.checked(result, data, corrected)
        finally:
            self._tell(result, GateReport((*map(told_as_gate, also), *report.gates)), said, saved)
        for line in (*also, *map(str, report.failed)):
            complain(line)
        return EXIT_GATE if also or report.failed else 0

    def checked(
        self,
        result: Results[Any] | RunComparison,
        data: object = None,
        corrected: CorrectedScores | None = None,
    ) -> GateReport:
        """What becomes of the gates: the arguments are those of :meth:`end`."""
        from evenhand.report.gates import GateReport, check  # noqa: PLC0415 - as above

        if not self.fail_if:
            return GateReport(())
        known: dict[str, Any] = {"gold": self.gold, "design": self.design, "data": data}
        return check(result, self.fail_if, corrected=corrected, **known)

    def write(self, summary: Summary) -> str:
        """Write what is told to files, and to the step of GitHub Actions.

        Returns:
            The format in which the result is printed besides.
        """
        from evenhand.report import summaries  # noqa: PLC0415 - as above
        from evenhand.results.saved import written_whole  # noqa: PLC0415 - as above

        printed = "table"
        for form, file in self._told:
            if form == "github":
                summaries.append_to_step(summary)
            elif file is None:
                printed = form
            else:
                with written_whole(file) as beside:
                    beside.write_text(summaries.WRITERS[form](summary) + "\n", encoding="utf-8")
        return printed

    def _tell(
        self,
        result: Results[Any] | RunComparison,
        report: GateReport,
        said: Sequence[str | PrintedTables],
        saved: Path | None,
    ) -> None:
        from evenhand.report import summaries  # noqa: PLC0415 - as above

        summary = summaries.Summary(result, report)
        printed = self.write(summary)
        github = any(form == "github" for form, _ in self._told)
        if printed != "table":
            say(summaries.WRITERS[printed](summary), saved=saved)
            for line in said:
                if isinstance(line, str):
                    complain(line)
            return
        tables: tuple[Any, ...] = (result, *([report] if report.gates and self.fail_if else []))
        if github:
            say(summaries.unheeded("\n".join(map(str, (*tables, *said)))), *summary.annotations(), saved=saved)
        else:
            say(*tables, *said, saved=saved)


NOTHING: Final = Gating()
