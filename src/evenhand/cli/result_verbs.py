"""The verbs about files: show, compare, rescore, export and report."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from evenhand.cli.flags import Flags, flag_of
from evenhand.cli.outcome import NOTHING, Checks
from evenhand.cli.output import check_out, say
from evenhand.data.cells import is_abstention
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_ending, expanded, written_whole
from evenhand.numbers import format_bytes, format_count
from evenhand.options import Options, option
from evenhand.results.render import PrintedTables, TextTable

if TYPE_CHECKING:
    from evenhand.result_methods import ResultMethods as Results

File = Annotated[str, Parameter(name="FILE", help="A saved result: what --out of a verb wrote.")]
Out = Annotated[Path | None, Parameter(help="Write the result there: .parquet is read again, .jsonl is an export.")]
Words = tuple[str, ...]
RESULT_VERBS: Final = "show, rescore, export, compare, report, correct, to-label"
ROW_VERBS: Final = (
    "judge, winrates, checklist, reliability; with recorded votes aggregate-votes, agreement, read-replies"
)
LABEL_VERBS: Final = "correct RESULT --gold FILE, show RESULT --gold FILE"
_MOST_VALUES: Final = 3
_LONGEST: Final = 20


def _switch(sentence: str) -> Parameter:
    """Declare an option that is given or not, and has no value."""
    return Parameter(help=sentence, negative=(), show_default=False)


def opened(path: str) -> Results:
    """Open a saved result."""
    from evenhand.by_name import open as open_results  # noqa: PLC0415 - seconds of import

    return open_results(path)


@dataclass(frozen=True)
class FileContents(PrintedTables):
    """The rows of a file.

    Attributes:
        path: The file.
        rows: All of them.
    """

    path: str
    rows: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of first occurrence."""
        return tuple(dict.fromkeys(str(name) for row in self.rows for name in row))

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return one row per column: the number of filled cells, and the first different values."""
        kind = "rows or labels" if "label" in self.columns else "rows"
        title = f"{self.path}: {kind}, {format_count(len(self.rows), 'row')}"
        rows = tuple(map(self._column, self.columns))
        return (TextTable(title, ("column", "filled", "first values"), rows, kind="columns"),)

    def _column(self, name: str) -> tuple[str, ...]:
        filled = [row[name] for row in self.rows if not is_abstention(row.get(name))]
        values = list(dict.fromkeys(" ".join(str(value).split()) for value in filled))[:_MOST_VALUES]
        shown = [value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…" for value in values]
        return name, format_count(len(filled)), ", ".join(shown)

    def closing_notes(self) -> tuple[str, ...]:
        """Name the verbs that take the file."""
        labels = (f"Verbs that take it as labels: {LABEL_VERBS}.",) if "label" in self.columns else ()
        return f"Verbs that take it: {ROW_VERBS}.", *labels


def _is_saved(file: str) -> bool:
    from evenhand.results.saved import PART, header_if_saved  # noqa: PLC0415 - seconds of import

    place = expanded(file)
    return (not place.is_dir() or any(place.glob(PART))) and header_if_saved(file) is not None


def show(
    file: Annotated[str, Parameter(name="FILE", help="A saved result, or rows or labels: CSV, JSONL, Parquet.")],
    row: Annotated[
        str | None,
        Parameter(name="ROW", help="A row by its id or index, or one verdict by its name, as 3/alder/relevance."),
    ] = None,
    /,
    *,
    data: Annotated[
        Path | None, Parameter(help="The rows that were judged, for their texts, where no prompts were kept.")
    ] = None,
    run_file: Annotated[bool, _switch("Show the run file that makes it again.")] = False,
    flips: Annotated[bool, _switch("List the verdicts that changed with the order shown.")] = False,
    disagreements: Annotated[bool, _switch("List the verdicts on which the votes disagree.")] = False,
    unscored: Annotated[bool, _switch("List the unscored verdicts.")] = False,
    worst: Annotated[int | None, Parameter(help="List the N verdicts with the lowest scores.", metavar="N")] = None,
    checks: Flags[Checks] = None,
) -> int:
    """Show a file and name the verbs that take it; of a saved result its tables, some verdicts, or one row whole."""
    listed = flips or disagreements or unscored or worst is not None
    alone = row is None and data is None and not run_file and not listed and checks is None and expanded(file).exists()
    if alone and not _is_saved(file):
        from evenhand.data.rows import read_file  # noqa: PLC0415 - seconds of import

        say(FileContents(file, read_file(Path(file))))
        return 0
    results = opened(file)
    if alone:
        kind = f"{file}: a saved result, {format_count(len(results))} {results.holds}."
        return (checks or NOTHING).end(results, f"{kind} Verbs that take it: {RESULT_VERBS}.")
    if run_file:
        say(results.to_run_file().rstrip("\n"))
        return 0
    if listed:
        if row is not None or checks is not None:
            raise InvalidInputError(
                "--flips, --disagreements, --unscored and --worst list verdicts, and go neither with a row nor with "
                "--require or --format: give one or the other"
            )
        found = results.verdict_list(data)
        found = found.flips() if flips else found
        found = found.disagreements() if disagreements else found
        found = found.unscored() if unscored else found
        say(found if worst is None else found.sort("score", ascending=True).head(worst))
        return 0
    if row is None:
        return (checks or NOTHING).end(results)
    from evenhand.results.looking import RowView  # noqa: PLC0415 - seconds of import

    named = tuple(view for view in results.verdict_views(data) if view.name == row)
    say(str(RowView(row, named) if named else results.row(row, data)))
    return 0


class RescoreRules(Options):
    """The rules by which the votes of a saved result can be scored again."""

    aggregation: str | Mapping[str, str] | None = option(None, "The panel rule, or SCALE=RULE for each scale.")
    on_position_bias: str | None = option(
        None, "What a disagreement between orders counts: average, tie, abstain or first."
    )
    scoring: str | None = option(None, "selected, or expected by the probabilities of replies.")
    min_mass: float | None = option(None, "Probabilities that cover less are not used.")
    na_strategy: str | None = option(None, "Of a rubric: what a criterion counts that does not apply.")
    na_partial: float | None = option(None, "What it counts with --na-strategy partial.")
    primary_metric: str | None = option(None, "Of a checklist: pass, weighted or normalized.")
    rule: str | None = option(None, "Of recorded votes: the rule of the panel.")
    weights: Mapping[str, float] | None = option(
        None, "Of recorded votes: JUDGE=WEIGHT for each.", accepted="JUDGE=WEIGHT for each judge, as gpt=2"
    )


def rescore(file: File, /, *, rules: Flags[RescoreRules] = None, out: Out = None, checks: Flags[Checks] = None) -> int:
    """Score the votes of a saved result by other rules, without a call."""
    given = {} if rules is None else rules.changed_from_default(*RescoreRules.model_fields)
    if not given:
        flags = ", ".join(map(flag_of, RescoreRules.model_fields))
        raise InvalidInputError(f"rescore needs a rule to score by: one of {flags}")
    results = opened(file)
    taken = inspect.signature(results.rescored).parameters
    open_ended = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    for name in given:
        if name not in taken and not open_ended:
            known = ", ".join(map(flag_of, taken))
            raise InvalidInputError(f"{flag_of(name)} is not a rule for {results.holds}; it takes {known}")
    return _keep(results.rescore(**given), file, out, checks)


def _keep(results: Any, file: str, out: Path | None, checks: Checks | None) -> int:  # noqa: ANN401 - of any kind
    """Print a result that was made of another, and write it if that is asked for."""
    place = check_out(out, [file])
    if place is None:
        return (checks or NOTHING).end(results)
    results.save(place)
    return (checks or NOTHING).end(results, f"{format_count(len(results), 'entry')} written to {place}", saved=place)


def compare(
    before: Annotated[str, Parameter(name="A", help="A saved result.")],
    after: Annotated[str, Parameter(name="B", help="Another one of its kind, of the same rows.")],
    /,
    *,
    checks: Flags[Checks] = None,
) -> int:
    """What changed between two saved results of the same rows: B less A, paired row by row."""
    for name in (before, after):
        if not _is_saved(name):
            raise InvalidInputError(
                f"{name!r} is not a saved result: evenhand compare A.parquet B.parquet compares two saved results; "
                "evenhand winrates ROWS … has a judge compare systems on rows"
            )
    return (checks or NOTHING).end(opened(before).compare(opened(after)))


def export(
    file: File,
    /,
    *,
    form: Annotated[
        Literal["csv", "jsonl", "parquet", "markdown", "latex", "html"] | None,
        Parameter(name="--as", help="The format; by default a saved result with --out, and printed tables without."),
    ] = None,
    of: Annotated[
        Literal["tables", "verdicts", "votes"] | None,
        Parameter(
            help="The tables as they are printed, a row for each verdict, or one for each vote: by default tables for "
            "markdown, latex and html, and verdicts for csv, jsonl and parquet."
        ),
    ] = None,
    where: Annotated[
        Words,
        Parameter(
            help="Keep some verdicts: COLUMN=VALUE of system, criterion, id or a column kept with --group-fields; "
            "several of one column are alternatives, several columns must all hold.",
            negative=(),
        ),
    ] = (),
    out: Annotated[Path | None, Parameter(help="The file; parquet needs one, others are printed.")] = None,
    checks: Flags[Checks] = None,
) -> int:
    """Write a saved result, or a part of it, in a form that other programs read."""
    place = check_out(out, [file])
    what = of or ("verdicts" if form in {"csv", "jsonl", "parquet"} else "tables")
    if what == "tables" and form in {"jsonl", "parquet"}:
        raise InvalidInputError(f"--of tables is not written as {form}; give csv, markdown, latex or html")
    if what != "tables" and form in {"latex", "html", None}:
        raise InvalidInputError(f"--of {what} is not written as {form}; give --as csv, jsonl, parquet or markdown")
    if form == "parquet" and place is None:
        raise InvalidInputError("parquet is written to a file: give --out FILE.parquet")
    results = _filtered(opened(file), where)
    if form is None:
        return _keep(results, file, out, checks)
    if form == "parquet" and place is not None:
        _write_parquet(results, what, place)
    else:
        text = _tables(results, form) if what == "tables" else _rows(_records(results, what), form)
        if place is None:
            say(text.rstrip("\n"))
            return 0
        with written_whole(place) as temporary:
            temporary.write_text(text, encoding="utf-8")
    say(f"{what} written to {place}")
    return 0


def _filtered(results: Results, where: Sequence[str]) -> Results:
    """Return the questions with one of the values in every column that is named."""
    wanted: dict[str, list[str]] = {}
    for word in where:
        column, equals, value = word.partition("=")
        if not equals or not column:
            raise InvalidInputError(f"--where is {word!r}; give COLUMN=VALUE, as language=de")
        wanted.setdefault(column, []).append(value)
    if not wanted:
        return results
    columns = next(iter(results.named_cells())).about
    kept: Mapping[str, Any] = results.parameters.get("groups", {})
    for name in wanted:
        if name not in columns and name not in kept:
            raise InvalidInputError(f"there is no column {name!r}. {did_you_mean(name, [*columns, *kept])}")
    groups = {name: results.group_of(name) for name in wanted if name not in columns}

    def keep(about: Mapping[str, Any]) -> bool:
        named = {**about, **{name: rows[about["instance"]] for name, rows in groups.items()}}
        return all(str(named.get(name)) in values for name, values in wanted.items())

    return results.filter(keep)


def _tables(results: Results, form: str) -> str:
    if form == "html":
        return results.to_page("evenhand")
    made = {"csv": results.to_csv, "markdown": results.to_markdown, "latex": results.to_latex}
    return str(made[form]())


def _records(results: Results, what: str) -> Iterable[dict[str, Any]]:
    if what == "verdicts":
        return results.records()
    rows: list[dict[str, Any]] = results.votes().to_pylist()
    return rows


def _rows(records: Iterable[Mapping[str, Any]], form: str) -> str:
    from evenhand.results.measures import as_json, plain  # noqa: PLC0415 - as above

    rows = [plain(dict(record)) for record in records]
    if form == "jsonl":
        return "".join(as_json(row) + "\n" for row in rows)
    headers = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(_cell(row.get(name)) for name in headers) for row in rows)
    table = TextTable("verdicts", headers, cells, kind="verdicts")
    return table.to_csv() if form == "csv" else table.to_markdown()


def _cell(value: object) -> str:
    """Return a value as text: numbers in full, what is missing empty, lists and mappings as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write_parquet(results: Results, what: str, place: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet  # noqa: PLC0415 - as above

    from evenhand.results.measures import plain  # noqa: PLC0415 - as above

    table = results.votes() if what == "votes" else pa.Table.from_pylist([plain(row) for row in results.records()])
    with written_whole(place) as temporary:
        pa.parquet.write_table(table, temporary, compression="zstd")


def report(
    run: Annotated[str, Parameter(name="RUN", help="A saved result of any kind: what --out of a verb wrote.")],
    other: Annotated[str | None, Parameter(name="OTHER", help="A second run: the page says what changed.")] = None,
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(help="The page (.html), by default report.html in the folder of RUN; or the picture."),
    ] = None,
    plot: Annotated[
        str | None,
        Parameter(
            help="Draw one picture for a paper instead, as .svg, .png or .pdf: scores, winrates, matrix, items, "
            "levels, agreement or gold, as far as the result has it; first is the first of them."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        Parameter(help="The data that were judged, for their texts: by default those of the prompts that were sent."),
    ] = None,
    gold: Annotated[
        Path | None, Parameter(help="The file of labels of people; by default the gold labels that the result holds.")
    ] = None,
    design: Annotated[
        str | None,
        Parameter(help="How the labelled rows were chosen: random, by_verdict or probabilities; scores are corrected."),
    ] = None,
    leave_out: Annotated[
        Words, Parameter(help="What of the votes the page does not hold: prompts, reasoning.", negative=())
    ] = (),
    title: Annotated[str | None, Parameter(help="Of the page.")] = None,
) -> int:
    """One HTML file to open offline, mail or attach: summary, cautions, pictures, tables, and every verdict."""
    if plot is not None:
        return _draw(run, None if plot == "first" else plot, out)
    from evenhand.report.page import write_report  # noqa: PLC0415 - seconds of import

    folder = expanded(run) if expanded(run).is_dir() else expanded(run).parent
    named = out or folder / "report.html"
    place = check_out(named, [run, *(str(each) for each in (other, data, gold) if each is not None)]) or named
    check_ending(place, (".html",))
    how: dict[str, Any] = {"data": data, "gold": gold, "design": design, "leave_out": leave_out, "title": title}
    if other is not None:
        how |= {"other": _opened(other), "names": (Path(run).stem, Path(other).stem)}
    write_report(place, _opened(run), **how)
    say(f"report written to {place} ({format_bytes(place.stat().st_size)})")
    return 0


def _draw(run: str, kind: str | None, out: Path | None) -> int:
    """Draw a picture, and print its caption."""
    from evenhand.report.pictures import ENDINGS  # noqa: PLC0415 - seconds of import

    if out is None:
        raise InvalidInputError("report --plot needs --out, the file of the picture: .svg, .png or .pdf")
    place = check_out(out, [run])
    check_ending(out, ENDINGS)
    say(opened(run).plot(kind, out).caption, saved=place)
    return 0


def _opened(path: str) -> Any:  # noqa: ANN401 - a result of any kind
    if Path(path).suffix.lower() != ".json":
        return opened(path)
    from evenhand.reliability_report import ReliabilityReport  # noqa: PLC0415 - seconds of import

    return ReliabilityReport.load(path)
