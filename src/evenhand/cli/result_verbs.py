"""The verbs about files: show, compare, rescore, export and report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from evenhand.cli.flags import Flags
from evenhand.cli.output import end, save, say
from evenhand.data.plain import as_json, as_plain, briefly
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, check_out, expanded, write_texts
from evenhand.numbers import format_bytes, format_count
from evenhand.options import RuleOptions, option
from evenhand.results.render import TextTable
from evenhand.run_files import Checks

if TYPE_CHECKING:
    from evenhand.result_methods import ResultMethods as Results


def open_result(path: str) -> Results:
    """Open a saved result."""
    from evenhand.by_name import open as open_results  # noqa: PLC0415 - seconds of import

    return open_results(path)


def show(
    file: str,
    row: str | None = None,
    /,
    *,
    data: Path | None = None,
    run_file: bool = False,
    flips: bool = False,
    disagreements: bool = False,
    unscored: bool = False,
    worst: int | None = None,
    checks: Flags[Checks] = None,
) -> int:
    """Show a file: the first of its rows; of a saved result its tables, some verdicts, or one row whole.

    Args:
        file: A saved result, or rows or labels: CSV, JSONL, Parquet.
        row: A row by its id or index, or one verdict by its name, as 3/alder/relevance.
        data: The rows that were judged, for their texts, where no prompts were kept.
        run_file: Show the run file that makes it again.
        flips: List the verdicts that changed with the order shown.
        disagreements: List the verdicts on which the votes disagree.
        unscored: List the unscored verdicts.
        worst: List the N verdicts with the lowest scores.
        checks: The conditions, and how the result is printed.
    """
    listed = flips or disagreements or unscored or worst is not None
    alone = row is None and data is None and not run_file and not listed and checks is None and expanded(file).exists()
    from evenhand.data.rows import read_rows  # noqa: PLC0415 - seconds of import
    from evenhand.results.vote_columns import PART, header_if_saved  # noqa: PLC0415 - seconds of import

    saved = any(expanded(file).glob(PART)) if expanded(file).is_dir() else header_if_saved(file) is not None
    if alone and not saved:
        rows = read_rows(Path(file))
        shown = (f"  {name}: {briefly(value)}" for name, value in rows[0].items())
        say(f"{file}: {format_count(len(rows), 'row')}, the first one:", *shown)
        return 0
    results = open_result(file)
    if listed and (row is not None or checks is not None):
        raise InvalidInputError(
            "--flips, --disagreements, --unscored and --worst list verdicts, and go neither with a row nor with "
            "--require or --format: give one or the other"
        )
    if run_file:
        say(results.to_run_file().rstrip("\n"))
    elif listed:
        found = results.verdict_list(data)
        found = found.flips() if flips else found
        found = found.disagreements() if disagreements else found
        found = found.unscored() if unscored else found
        say(found if worst is None else found.sort("score", ascending=True).head(worst))
    elif row is None:
        return end(results, checks)
    else:
        say(str(results.row(row, data)))
    return 0


class RescoreRules(RuleOptions):
    """The rules by which the votes of a saved result can be scored again."""

    na_strategy: str | None = option(None, "Of a rubric: what a criterion counts that does not apply.")
    na_partial: float | None = option(None, "What it counts with --na-strategy partial.")
    primary_metric: str | None = option(None, "Of a checklist: pass, weighted or normalized.")
    rule: str | None = option(None, "Of recorded votes: the rule of the panel.")
    weights: Mapping[str, float] | None = option(None, "Of recorded votes: JUDGE=WEIGHT for each.")


def rescore(
    file: str, /, *, rules: Flags[RescoreRules] = None, out: Path | None = None, checks: Flags[Checks] = None
) -> int:
    """Score the votes of a saved result by other rules, without a call.

    Args:
        file: A saved result.
        rules: The rules.
        checks: The conditions, and how the result is printed.
        out: Write the result there: .parquet is read again, .jsonl is an export.
    """
    given = {} if rules is None else {name: getattr(rules, name) for name in rules.model_fields_set}
    return _keep(open_result(file).rescore(**given), file, out, checks)


def _keep(results: Results, file: str, out: Path | None, checks: Checks | None) -> int:
    """Print a result that was made of another, and write it if that is asked for."""
    place = check_out(out, [file])
    return end(results, checks, *save(results, place, "the result was"), saved=place)


def compare(before: str, after: str, /, *, checks: Flags[Checks] = None) -> int:
    """Report what changed between two saved results of the same rows: AFTER less BEFORE, paired row by row.

    Args:
        before: A saved result.
        after: Another one of its kind, of the same rows.
        checks: The conditions, and how the result is printed.
    """
    return end(open_result(before).compare(open_result(after)), checks)


def export(
    file: str,
    /,
    *,
    form: Annotated[Literal["csv", "jsonl", "markdown", "latex", "html"] | None, Parameter(name="--as")] = None,
    where: tuple[str, ...] = (),
    out: Path | None = None,
) -> int:
    """Write a saved result, or a part of it, in a form that other programs read.

    Args:
        file: A saved result.
        form: A row for each verdict (csv, jsonl), or the tables as they are printed (markdown, latex, html); by default
            a saved result, with --out.
        where: Keep some verdicts: COLUMN=VALUE of system, criterion, id or a column kept with --group-fields; several
            of one column are alternatives, several columns must all hold.
        out: The file; forms but that of a saved result are printed without it.
    """
    place = check_out(out, [file])
    results = _filtered(open_result(file), where)
    if form is None:
        return _keep(results, file, out, None)
    rows = [as_plain(dict(record)) for record in results.records()]
    if form == "jsonl":
        text = "\n".join(map(as_json, rows))
    elif form == "csv":
        headers = tuple(dict.fromkeys(name for row in rows for name in row))
        cells = tuple(tuple(_cell(row.get(name)) for name in headers) for row in rows)
        text = TextTable("verdicts", headers, cells, kind="verdicts").to_csv()
    else:
        text = results.to_page("evenhand") if form == "html" else getattr(results, f"to_{form}")()
    if place is None:
        say(text.rstrip("\n"))
        return 0
    write_texts(place, [text.rstrip("\n"), "\n"])
    say(f"the result was written to {place}")
    return 0


def _filtered(results: Results, where: Sequence[str]) -> Results:
    """Return the questions with one of the values in every column that is named."""
    wanted: dict[str, list[str]] = {}
    for word in where:
        column, equals, value = word.partition("=")
        if not equals or not column:
            raise InvalidInputError(f"--where is {word!r}; give COLUMN=VALUE, as language=de")
        wanted.setdefault(column, []).append(value)
    groups = {name: results.group_of(name) for name in wanted if name in results.parameters.get("groups", {})}

    def keep(about: Mapping[str, Any]) -> bool:
        return all(str(rows[about["instance"]]) in wanted[name] for name, rows in groups.items())

    others = {name: values for name, values in wanted.items() if name not in groups}
    return results.filter(keep, **others) if wanted else results


def _cell(value: object) -> str:
    """Return a value as text: numbers in full, what is missing empty, lists and mappings as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def report(
    run: str,
    other: str | None = None,
    /,
    *,
    out: Path | None = None,
    plot: str | None = None,
    data: Path | None = None,
    gold: Path | None = None,
    design: str | None = None,
    title: str | None = None,
) -> int:
    """Write one HTML file to open offline, mail or attach: summary, cautions, pictures, tables, and every verdict.

    Args:
        run: A saved result of any kind: what --out of a verb wrote.
        other: A second run: the page says what changed.
        out: The page (.html), by default report.html in the folder of RUN; or the picture.
        plot: Draw one picture for a paper instead, as .svg, .png or .pdf: scores, matrix, items, levels or gold, as
            far as the result has it.
        data: The data that were judged, for their texts: by default those of the prompts that were sent.
        gold: The file of labels of people; by default the gold labels that the result holds.
        design: How the labelled rows were chosen: random, by_verdict or probabilities; scores are corrected.
        title: The title of the page.
    """
    if plot is not None:
        if out is None:
            raise InvalidInputError("report --plot needs --out, the file of the picture: .svg, .png or .pdf")
        place = check_out(out, [run])
        say(open_result(run).plot(plot, out).caption, saved=place)
        return 0
    from evenhand.report.page import write_report  # noqa: PLC0415 - seconds of import

    folder = expanded(run) if expanded(run).is_dir() else expanded(run).parent
    named = out or folder / "report.html"
    place = check_out(named, [run, *(str(each) for each in (other, data, gold) if each is not None)]) or named
    check_ending(place, (".html",))
    how: dict[str, Any] = {"data": data, "gold": gold, "design": design, "title": title}
    if other is not None:
        how |= {"other": open_result(other), "names": (run, other)}
    write_report(place, open_result(run), **how)
    say(f"report written to {place} ({format_bytes(place.stat().st_size)})")
    return 0
