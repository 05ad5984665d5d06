"""The end of a verb: its result is checked, printed and written, and failed conditions decide the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import model_validator

from evenhand.cli.jobs import Job, LabelOptions
from evenhand.cli.output import OutputError, check_out, complain, is_quiet, say
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, expanded, write_as_it_ends, written_whole
from evenhand.numbers import format_count, format_number, format_percent
from evenhand.options import Options, option

if TYPE_CHECKING:
    from evenhand.report.gates import CheckedCondition, CheckReport, Summary

EXIT_CHECK_FAILED: Final = 3
MOST_UNSCORED: Final = 0.1
"""The share of unscored votes that a run of judges may have: beyond it, what is missing outweighs the interval."""

OUTPUTS: Final = ("out", "leave_out", "report", "tables", "run_file", "format")
"""Options that a saved run does not keep: a second run overwrites nothing."""

READ: Final = ("data", "journal", "criteria", "rubric", "checklist", "examples")
"""Options that may name files that a run reads."""

ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "report": (".html",),
    "tables": (".md", ".csv", ".tex"),
    "run_file": (".yaml", ".yml"),
}


class Checks(Options):
    """Conditions that a result is checked by, and how it is printed."""

    require: tuple[str, ...] = option(
        (),
        "A condition that must hold, else the exit code is 3: 'relevance.low >= 0.7' or 'unscored <= 2 %'. It may be "
        "given several times; all must hold.",
    )
    format: tuple[str, ...] = option(
        (), "How the result is printed: table, json, junit, markdown or github; NAME=FILE writes that to a file."
    )
    gold: Any = option(None, "A file of labels, for conditions on corrected scores.")
    gold_design: str | None = option(None, "How the labelled rows were chosen (see correct).")

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Check all that can be checked before anything is read or asked."""
        if self.require:
            from evenhand.report.gates import Condition  # noqa: PLC0415 - only who has conditions needs it

            for text in self.require:
                Condition.parse(text)
        for form, file in self._files:
            if form != "table":
                from evenhand.report.gates import check_format  # noqa: PLC0415 - seconds of import

                check_format(form)
            if file is not None and form in {"table", "github"}:
                raise InvalidInputError(f"--format is {form}={file}, and {form!r} is written to no file; leave it out")
            check_out(file, ())
        if len([form for form, file in self._files if file is None and form != "github"]) > 1:
            raise InvalidInputError(
                f"--format is {list(self.format)!r}, and only one is printed: write the others to files, as "
                "junit=checks.xml"
            )
        return self

    @property
    def _files(self) -> Sequence[tuple[str, str | None]]:
        """The names of formats, and the file of each; None if it is printed."""
        return [(form, file if sign else None) for form, sign, file in (each.partition("=") for each in self.format)]

    def check_before_run(
        self, ranges: Mapping[str, tuple[float, float]], systems: Sequence[str], *, complete: bool
    ) -> None:
        """Check the conditions before the first call: see :func:`evenhand.report.gates.check_before_run`.

        Raises:
            InvalidInputError: If they name something else, or compare it with what it cannot reach.
        """
        from evenhand.report.gates import CORRECTED, check_before_run  # noqa: PLC0415 - as above

        check_before_run(self.require, ranges, systems, complete=complete)
        for text in self.require:
            if CORRECTED in text and self.gold_design is None:
                raise InvalidInputError(
                    f"the condition {text!r} is on a corrected score, and nothing says how the labelled rows were "
                    "chosen: give labels their design, or with gold labels in the data --gold-design random (or "
                    "by_verdict, probabilities)"
                )

    def check(self, result: Any, unscored: Sequence[CheckedCondition] = (), corrected: Any = None) -> CheckReport:  # noqa: ANN401
        """Return the conditions, and whether they hold.

        Args:
            result: The result, or what changed between two.
            unscored: The limit on unscored votes, where it does not hold.
            corrected: The corrected scores, where they are known already.
        """
        from evenhand.report.gates import CheckReport, check  # noqa: PLC0415 - as above

        if not self.require:
            return CheckReport(tuple(unscored))
        found = check(result, self.require, gold=self.gold, design=self.gold_design, corrected=corrected)
        return CheckReport((*unscored, *found.conditions))

    def write(self, summary: Summary) -> str:
        """Write the formats that go to files, and to the step of GitHub Actions; return the format to print."""
        from evenhand.report import gates  # noqa: PLC0415 - as above

        printed = "table"
        for form, file in self._files:
            if form == "github":
                gates.append_to_step(summary)
            elif file is None:
                printed = form
            else:
                with written_whole(file) as temporary:
                    temporary.write_text(gates.WRITERS[form](summary) + "\n", encoding="utf-8")
        return printed

    def end(
        self,
        result: Any,  # noqa: ANN401 - of any verb
        *said: Any,  # noqa: ANN401 - texts and tables
        saved: Path | None = None,
        unscored: Sequence[CheckedCondition] = (),
        corrected: Any = None,  # noqa: ANN401 - as above
    ) -> int:
        """Check a result and print it; return the exit code.

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

    def _print(self, result: Any, report: CheckReport, said: Sequence[Any], saved: Path | None) -> None:  # noqa: ANN401
        from evenhand.report import gates  # noqa: PLC0415 - as above

        summary = gates.Summary(result, report)
        printed = self.write(summary)
        tables: tuple[Any, ...] = (result, *([report] if self.require and report.conditions else []), *said)
        if printed != "table":
            say(gates.WRITERS[printed](summary), saved=saved)
            for line in said:
                if isinstance(line, str):
                    complain(line)
        elif "github" in self.format:
            say(gates.unheeded("\n".join(map(str, tables))), *summary.annotations(), saved=saved)
        else:
            say(*tables, saved=saved)


NOTHING: Final = Checks()


@dataclass(frozen=True)
class JobOutput:
    """The actions of a job on its result, checked before the first call.

    Attributes:
        job: The job.
        out: The path of the saved result.
        record: The run, as a result keeps it.
        labels: The arguments of :func:`evenhand.correct`; empty without labels.
        checks: The conditions on it, and the way in which it is printed.
    """

    job: Job
    out: Path | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    checks: Checks = NOTHING

    @classmethod
    def of(cls, job: Job) -> Self:
        """Check what a job wants of its result.

        Raises:
            InvalidInputError: If something of it cannot be written or checked.
        """
        from evenhand.results.made_by import run_record  # noqa: PLC0415 - as below

        given: LabelOptions | None = getattr(job, "labels", None)
        labels = {} if given is None else {name: getattr(given, name) for name in given.model_fields_set}
        read = [text for name in READ for text in _texts(getattr(job, name, None))] + _texts(labels.get("gold"))
        out = check_out(job.out, read)
        _check_out(job, out)
        _check_others(job, out, read)
        _check_labels(labels)
        record = run_record(
            job.verb(),
            {name: value for name, value in job.given.items() if name not in {*OUTPUTS, "config"}},
        )
        require, formats = tuple(_texts(job.require)), tuple(_texts(job.format))
        if not job.kind and (require or formats):
            raise InvalidInputError("reliability writes a report, which takes no --require and no --format; see --out")
        checks = Checks(
            require=require,
            format=formats,
            gold=labels.get("gold"),
            gold_design=job.gold_design or labels.get("design"),
        )
        return cls(job, out, record, labels, checks)

    def show(self, result: Any) -> int:  # noqa: ANN401 - of any job
        """Write a result, print it, and say what does not hold; return the exit code."""
        try:
            written, corrected = self.write(result)
        except BaseException:
            with suppress(OutputError):
                say(result)  # it is shown, at least
            raise
        said = [*([] if corrected is None else [corrected]), *([] if is_quiet() else written)]
        failed = self.failures(result)
        if self.job.kind:
            return self.checks.end(result, *said, saved=self.out, unscored=failed, corrected=corrected)
        say(result, *said, saved=self.out)
        for each in failed:
            complain(each)
        return EXIT_CHECK_FAILED if failed else 0

    def write(self, result: Any) -> tuple[list[str], Any]:  # noqa: ANN401 - as above
        """Write a result, and what goes with it.

        Returns:
            What was written, a line each; and the scores that people would give, None without labels.
        """
        from evenhand.results.made_by import write_run  # noqa: PLC0415 - seconds of import

        said, job = [], self.job
        if self.out is not None:
            left_out = _texts(getattr(job, "leave_out", None))
            result.save(self.out, **({"leave_out": left_out} if left_out else {}))
            attribute, name = job.written
            held = format_count(len(getattr(result, attribute)), name) if job.kind else "the report was"
            said.append(f"{held} written to {self.out}")
        corrected = result.correct(**self.labels) if self.labels else None
        if job.tables is not None:
            tables = [result] if corrected is None else [result, corrected]
            write_as_it_ends(
                job.tables,
                {
                    ending: _in_form(form, tables)
                    for ending, form in zip(ENDINGS["tables"], ("markdown", "csv", "latex"), strict=True)
                },
            )
            said.append(f"the tables were written to {job.tables}")
        if job.report is not None:
            from evenhand.report.page import write_report  # noqa: PLC0415 - as above

            write_report(
                job.report, result, **{name: self.labels[name] for name in ("gold", "design") if name in self.labels}
            )
            said.append(f"the report was written to {job.report}")
        if job.run_file is not None:
            write_run(job.run_file, self.record)
            said.append(f"the run file was written to {job.run_file}")
        return said, corrected

    def demand(self, result: Any, corrected: Any) -> None:  # noqa: ANN401 - as above
        """Check the conditions and the limit on unscored votes that were given, and write the formats.

        Raises:
            CheckFailedError: If one does not hold.
        """
        if not self.job.kind:
            return
        from evenhand.report.gates import Summary  # noqa: PLC0415 - seconds of import

        unscored = self.failures(result) if self.job.max_unscored is not None else []
        report = self.checks.check(result, unscored, corrected)
        self.checks.write(Summary(result, report))
        report.raise_if_failed(result)

    def failures(self, result: Any) -> list[CheckedCondition]:  # noqa: ANN401 - as above
        """Return the limit on unscored votes, if it does not hold."""
        asking = self.job.function == "read_replies" or getattr(self.job, "engine", None) is not None
        most = self.job.max_unscored if self.job.max_unscored is not None else MOST_UNSCORED if asking else 1.0
        where = "" if self.out is None else f". What was judged is in {str(self.out)!r}"
        return [replace(each, found=each.found + where) for each in too_many_unscored(result, most)]


def too_many_unscored(result: Any, most: float = MOST_UNSCORED) -> Iterator[CheckedCondition]:  # noqa: ANN401 - as above
    """Yield the limit on the share of unscored votes, if a result exceeds it."""
    from evenhand.report.gates import CheckedCondition  # noqa: PLC0415 - seconds of import

    counts = getattr(result, "unscored_counts", None)  # a change between two runs has none
    if counts is None or counts.unscored_votes <= most * counts.votes + 1e-9:  # 0.29 · 100 is 28.999999999999996
        return
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
    condition = f"unscored <= {format_percent(most)}"
    yield CheckedCondition(condition, False, "unscored", (), share, most, counts.votes, found)


def _in_form(form: str, tables: Sequence[Any]) -> Callable[[], str]:
    return lambda: "\n".join(getattr(each, f"to_{form}")() for each in tables)


def _check_out(job: Job, out: Path | None) -> None:
    """Check before the first call that the result can be saved under this name, without what is left out."""
    left_out = _texts(getattr(job, "leave_out", None))
    if out is None:
        if left_out:
            raise InvalidInputError("--leave-out says what --out does not write, and there is no --out: give one")
        return
    from evenhand.results import saved, vote_columns  # noqa: PLC0415 - only who writes a file needs it

    vote_columns.check_left_out(left_out)
    if job.kind:
        saved.check_suffix(out)
    else:
        from evenhand.reliability_report import REPORT_SUFFIXES  # noqa: PLC0415 - seconds of import

        check_ending(out, REPORT_SUFFIXES)


def _check_others(job: Job, out: Path | None, read: Sequence[str]) -> None:
    """Check that the report, the tables and the run file can be written, each to a place of its own."""
    taken = {} if out is None else {out.resolve(): "--out"}
    for name, endings in ENDINGS.items():
        flag, path = f"--{name.replace('_', '-')}", getattr(job, name)
        place = check_out(path, read, flag)
        if place is None:
            continue
        check_ending(place, endings)
        if taken.setdefault(place.resolve(), flag) != flag:
            raise InvalidInputError(f"{flag} is {str(path)!r}, the same file as {taken[place.resolve()]}: give another")


def _check_labels(labels: Mapping[str, Any]) -> None:
    """Check what can be checked before there are scores."""
    gold = labels.get("gold")
    if isinstance(gold, str | Path) and not expanded(gold).exists():
        raise InvalidInputError(f"gold of the labels is {str(gold)!r}, and there is no such file")
    if labels and "design" not in labels:
        raise InvalidInputError(
            "the labels have no design: say how the labelled rows were chosen, as design: random (or by_verdict, "
            "probabilities), for it cannot be seen in them"
        )


def _texts(given: object) -> list[str]:
    """Return the texts in an option, which may be one, several, or an object."""
    each = given if isinstance(given, list | tuple) else [given]
    return [str(one) for one in each if isinstance(one, str | Path)]
