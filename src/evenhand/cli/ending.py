"""What is done with the result of a verb: it is printed and written, and what must hold of it decides the exit code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evenhand.cli.flags import flag_of
from evenhand.cli.gating import EXIT_CHECK_FAILED, NOTHING, Gating
from evenhand.cli.output import OutputError, check_out, complain, is_quiet, say
from evenhand.cli.verb_table import Verb
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, expanded, write_as_it_ends
from evenhand.numbers import format_count, format_number, format_percent
from evenhand.options import JobOptions

if TYPE_CHECKING:
    from evenhand.report.gates import CheckedCondition
    from evenhand.results.measures import UnscoredCounts
    from evenhand.results.render import PrintedTables

MOST_UNSCORED = 0.1
"""The share of unscored votes that a run of judges may have. So many gaps can move a share by 0.1, as far as the
interval of a hundred rows reaches to each side: beyond it, what is missing outweighs chance."""

OUTPUTS = ("out", "leave_out", "report", "tables", "run_file", "format")
"""What is written: no part of the run that a result keeps, whose second run overwrites nothing."""

READ = ("data", "journal", "criteria", "rubric", "checklist", "examples")
"""What may name files that a run reads."""

ENDINGS: Mapping[str, tuple[str, ...]] = {
    "report": (".html",),
    "tables": (".md", ".csv", ".tex"),
    "run_file": (".yaml", ".yml"),
}
"""What is written beside the result, and how its name may end."""


@dataclass(frozen=True)
class Ending:
    """What is done with a result, checked before the first call.

    Attributes:
        verb: Whose.
        options: What must hold, and what is written beside the result.
        out: Where the result is written.
        left_out: What of the votes is not.
        asking: Judges are asked, or replies are read.
        record: The run, as a result keeps it.
        labels: Those of people by which scores are corrected, as :func:`evenhand.correct` takes them; none if empty.
        gating: What is checked of it, and how it is told.
    """

    verb: Verb
    options: JobOptions
    out: Path | None = None
    left_out: tuple[str, ...] = ()
    asking: bool = False
    record: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    gating: Gating = NOTHING

    @classmethod
    def of(cls, verb: Verb, given: Mapping[str, Any]) -> Self:
        """What is given of it.

        Raises:
            InvalidInputError: If something of it cannot be written or checked.
        """
        from evenhand.results.made_by import run_record  # noqa: PLC0415 - as below

        options = JobOptions(**{name: value for name, value in given.items() if name in JobOptions.model_fields})
        labels = dict(given.get("labels") or {})
        read = [text for name in READ for text in _texts(given.get(name))] + _texts(labels.get("gold"))
        out, left_out = check_out(given.get("out"), read), tuple(given.get("leave_out") or ())
        if out is not None:
            _check_file(verb, out, left_out)
        elif left_out:
            raise InvalidInputError("--leave-out says what --out does not write, and there is no --out: give one")
        _check_beside(options, out, read)
        if labels:
            _check_labels(labels)
        asking = verb.name == "read-replies" or given.get("engine") is not None
        record = run_record(verb.name, {name: value for name, value in given.items() if name not in OUTPUTS})
        return cls(verb, options, out, left_out, asking, record, labels, _gating(verb, options, labels))

    def shown(self, result: Any) -> int:  # noqa: ANN401 - of any verb
        """Print a result, write it, and say what does not hold.

        Returns:
            The exit code.
        """
        try:
            written, corrected = self.written(result)
        except BaseException:
            with suppress(OutputError):
                say(result)  # it is shown, at least
            raise
        said = [*([] if corrected is None else [corrected]), *([] if is_quiet() else written)]
        failed = self.failures(result)
        if self.verb.kind:
            return self.gating.end(result, *said, saved=self.out, unscored=failed, corrected=corrected)
        say(result, *said, saved=self.out)
        for each in failed:
            complain(each)
        return EXIT_CHECK_FAILED if failed else 0

    def written(self, result: Any) -> tuple[list[str], Any]:  # noqa: ANN401 - as above
        """Write a result, and what goes with it.

        Returns:
            What was written, a line each; and the scores that people would give, None without labels.
        """
        from evenhand.results.made_by import write_run  # noqa: PLC0415 - seconds of import

        said = []
        if self.out is not None:
            result.save(self.out, **({"leave_out": self.left_out} if self.left_out else {}))
            attribute, name = self.verb.written
            held = format_count(len(getattr(result, attribute)), name) if self.verb.kind else "the report was"
            said.append(f"{held} written to {self.out}")
        corrected = result.correct(**self.labels) if self.labels else None
        if self.options.tables is not None:
            _write_tables(self.options.tables, [result] if corrected is None else [result, corrected])
            said.append(f"the tables were written to {self.options.tables}")
        if self.options.report is not None:
            from evenhand.report.page import write_report  # noqa: PLC0415 - as above

            known = {name: self.labels[name] for name in ("gold", "design") if name in self.labels}
            write_report(self.options.report, result, **known)
            said.append(f"the report was written to {self.options.report}")
        if self.options.run_file is not None:
            write_run(self.options.run_file, self.record)
            said.append(f"what makes it again was written to {self.options.run_file}")
        return said, corrected

    def demand(self, result: Any, corrected: Any) -> None:  # noqa: ANN401 - as above
        """Check the conditions and the limit on unscored votes that were given, and write the formats.

        Args:
            result: The result.
            corrected: The scores that people would give; None without labels.

        Raises:
            CheckFailedError: If one does not hold.
        """
        if not self.verb.kind:
            return
        from evenhand.report.summaries import Summary  # noqa: PLC0415 - seconds of import

        unscored = self.failures(result) if self.options.max_unscored is not None else []
        report = self.gating.check(result, unscored, corrected)
        self.gating.write(Summary(result, report))
        report.raise_if_failed(result)

    def failures(self, result: Any) -> list[CheckedCondition]:  # noqa: ANN401 - as above
        """The limit on unscored votes, if it does not hold."""
        most = self.options.max_unscored
        if most is None:
            most = MOST_UNSCORED if self.asking else 1.0
        where = "" if self.out is None else f". What was judged is in {str(self.out)!r}"
        return [replace(each, found=each.found + where) for each in too_many_unscored(result, most)]


def _write_tables(path: str | Path, tables: Sequence[PrintedTables]) -> None:
    def in_form(form: str) -> Callable[[], str]:
        return lambda: "\n".join(getattr(each, f"to_{form}")() for each in tables)

    forms = zip(ENDINGS["tables"], ("markdown", "csv", "latex"), strict=True)
    write_as_it_ends(path, {ending: in_form(form) for ending, form in forms})


def too_many_unscored(result: Any, most: float = MOST_UNSCORED) -> Iterator[CheckedCondition]:  # noqa: ANN401 - as above
    """The limit on the share of unscored votes, if a result exceeds it."""
    from evenhand.report.gates import CheckedCondition  # noqa: PLC0415 - seconds of import

    counts: UnscoredCounts | None = getattr(result, "unscored_counts", None)  # a change between two runs has none
    if counts is not None and counts.unscored_votes > most * counts.votes + 1e-9:  # 0.29 · 100 is 28.999999999999996
        share = counts.unscored_votes / counts.votes
        found = (
            f"{counts.with_reasons}. That is {format_percent(share)} of the votes, more than --max-unscored "
            f"{format_number(most)} allows: {_next_step(counts.reasons)}"
        )
        condition = f"unscored <= {format_percent(most)}"
        yield CheckedCondition(condition, False, "unscored", (), share, most, counts.votes, found)


def _gating(verb: Verb, options: JobOptions, labels: Mapping[str, Any]) -> Gating:
    """What is checked, before the first call as far as that can be."""
    require, formats = tuple(_texts(options.require)), tuple(_texts(options.format))
    if not verb.kind and (require or formats):
        raise InvalidInputError(
            f"{verb.name} writes a report, which takes no --require, and no --format but that of --out"
        )
    return Gating(require, formats, labels.get("gold"), options.gold_design or labels.get("design"))


def _next_step(reasons: Collection[str]) -> str:
    if "budget" in reasons:
        return "raise --max-calls or --max-cost and run the same again; what the journal holds is not paid for again"
    if "offline" in reasons:
        return "run the same without --offline"
    return "the reasons say what to mend; --max-unscored 1 accepts any share of unscored votes"


def _check_file(verb: Verb, out: Path, left_out: Collection[str]) -> None:
    """Check before the first call that the result can be saved under a name that ends so, without that."""
    from evenhand.results import saved, vote_columns  # noqa: PLC0415 - only who writes a file needs it

    vote_columns.check_left_out(left_out)
    if verb.kind:
        saved.check_suffix(out)
    else:
        from evenhand.reliability_report import REPORT_SUFFIXES  # noqa: PLC0415 - seconds of import

        check_ending(out, REPORT_SUFFIXES)


def _check_beside(options: JobOptions, out: Path | None, read: Iterable[str]) -> None:
    """Check what is written beside the result: that it can be, and each to a place of its own."""
    taken = {} if out is None else {out.resolve(): "--out"}
    for name, endings in ENDINGS.items():
        flag, path = flag_of(name), getattr(options, name)
        place = check_out(path, read, flag)
        if place is None:
            continue
        check_ending(place, endings)
        if taken.setdefault(place.resolve(), flag) != flag:
            raise InvalidInputError(f"{flag} is {str(path)!r}, the same file as {taken[place.resolve()]}: give another")


def _check_labels(labels: Mapping[str, Any]) -> None:
    """Check what can be before there are scores."""
    gold = labels.get("gold")
    if isinstance(gold, str | Path) and not expanded(gold).exists():
        raise InvalidInputError(f"gold of the labels is {str(gold)!r}, and there is no such file")
    if "design" not in labels:
        raise InvalidInputError(
            "the labels have no design: say how the labelled rows were chosen, as design: random (or by_verdict, "
            "probabilities), for it cannot be seen in them"
        )


def _texts(given: object) -> list[str]:
    """The texts among what is given, which may be one, several, or an object."""
    return [
        str(each) for each in (given if isinstance(given, list | tuple) else [given]) if isinstance(each, str | Path)
    ]
