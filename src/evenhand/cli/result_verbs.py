"""The verbs about saved results: show, rescore, filter, export, and compare of two runs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from evenhand.cli.gating import NOTHING, Gating
from evenhand.cli.label_verbs import opened
from evenhand.cli.output import check_out, say
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded, written_whole
from evenhand.numbers import format_count

if TYPE_CHECKING:
    from evenhand.results.results import Results

File = Annotated[str, Parameter(name="FILE", help="A saved result: what --out of a verb wrote.")]
Out = Annotated[
    Path | None,
    Parameter(name="--out", help="Write the result there: .parquet has a row per vote, .jsonl a line each."),
]
TWO_FORMS: Final = (
    "evenhand compare A.parquet B.parquet compares two saved results; evenhand winrates ROWS … has a judge compare "
    "systems on rows"
)


def _switch(sentence: str) -> Parameter:
    """An option that is given or not, and has no value."""
    return Parameter(help=sentence, negative=(), show_default=False)


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
    worst: Annotated[int | None, Parameter(help="List the N verdicts with the lowest scores.")] = None,
    gating: Gating = NOTHING,
) -> int:
    """Show a file and name the verbs that take it; of a saved result its tables, some verdicts, or one row whole."""
    place, listed = expanded(file), flips or disagreements or unscored or worst is not None
    only_file = row is None and data is None and not run_file and not listed and gating == NOTHING
    alone = only_file and (place.is_file() or place.is_dir())
    if alone:
        from evenhand.cli.contents import RESULT_VERBS, contents_of  # noqa: PLC0415 - seconds of import

        if (contents := contents_of(file)) is not None:
            say(contents)
            return 0
    results = opened(file)
    if alone:
        kind = f"{file}: a saved result, {format_count(len(results))} {results.holds}."
        return gating.end(results, f"{kind} Verbs that take it: {RESULT_VERBS}.")
    if run_file:
        say(results.to_run_file().rstrip("\n"))
        return 0
    if listed:
        if row is not None or gating != NOTHING:
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
        return gating.end(results)
    from evenhand.results.looking import RowView  # noqa: PLC0415 - seconds of import

    named = tuple(view for view in results.verdict_views(data) if view.name == row)
    say(str(RowView(row, named) if named else results.row(row, data)))
    return 0


def rescore(
    file: File,
    /,
    *,
    aggregation: Annotated[
        tuple[str, ...],
        Parameter(
            help="The rule by which a panel's votes become one, or SCALE=RULE several times.",
            consume_multiple=True,
            negative=(),
        ),
    ] = (),
    on_position_bias: Annotated[
        str | None, Parameter(help="What a disagreement between orders counts: average, tie, abstain or first.")
    ] = None,
    scoring: Annotated[str | None, Parameter(help="selected, or expected by the probabilities of replies.")] = None,
    min_mass: Annotated[float | None, Parameter(help="Probabilities that cover less are not used.")] = None,
    na_strategy: Annotated[
        str | None, Parameter(help="Of a rubric: what a criterion counts that does not apply.")
    ] = None,
    na_partial: Annotated[float | None, Parameter(help="What it counts with --na-strategy partial.")] = None,
    primary_metric: Annotated[str | None, Parameter(help="Of a checklist: pass, weighted or normalized.")] = None,
    rule: Annotated[str | None, Parameter(help="Of recorded votes: the rule of the panel.")] = None,
    weights: Annotated[
        tuple[str, ...],
        Parameter(help="Of recorded votes: JUDGE=WEIGHT for each.", consume_multiple=True, negative=()),
    ] = (),
    out: Out = None,
    gating: Gating = NOTHING,
) -> int:
    """Score the votes of a saved result by other rules, without a call."""
    given: dict[str, Any] = {
        "aggregation": _rules(aggregation),
        "on_position_bias": on_position_bias,
        "scoring": scoring,
        "min_mass": min_mass,
        "na_strategy": na_strategy,
        "na_partial": na_partial,
        "primary_metric": primary_metric,
        "rule": rule,
        "weights": _weights(weights),
    }
    rules = {name: value for name, value in given.items() if value is not None}
    if not rules:
        raise InvalidInputError(f"rescore needs a rule to score by: one of {', '.join(map(_flag, given))}")
    results = opened(file)
    return _kept(_rescored(results, rules), file, out, gating)


def _rescored(results: Results, rules: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the same kind
    """The result by other rules, where its kind has these."""
    taken = inspect.signature(results.rescored).parameters
    accepted = set(taken) if not any(each.kind is each.VAR_KEYWORD for each in taken.values()) else None
    for name in rules:
        if accepted is not None and name not in accepted:
            known = ", ".join(_flag(each) for each in taken)
            raise InvalidInputError(f"{_flag(name)} is no rule for {results.holds}; it takes {known}")
    return results.rescore(**rules)


def _rules(words: Sequence[str]) -> str | dict[str, str] | None:
    """One rule, or scale -> rule; None for none."""
    pairs = [word.partition("=") for word in words]
    if len(words) == 1 and not pairs[0][1]:
        return words[0]
    if any(not equals for _, equals, _ in pairs):
        raise InvalidInputError(f"--aggregation is {list(words)!r}; give one rule, or SCALE=RULE for each scale")
    return {scale: rule for scale, _, rule in pairs} or None


def _weights(words: Sequence[str]) -> dict[str, float] | None:
    found = {}
    for word in words:
        judge, _, weight = word.rpartition("=")
        try:
            found[judge] = float(weight if judge else "")
        except ValueError:
            raise InvalidInputError(f"--weights is {word!r}; give JUDGE=WEIGHT, as gpt=2") from None
    return found or None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def filter_results(
    file: File,
    /,
    *,
    system: Annotated[tuple[str, ...], Parameter(help="These systems.", consume_multiple=True, negative=())] = (),
    criterion: Annotated[tuple[str, ...], Parameter(help="These criteria.", consume_multiple=True, negative=())] = (),
    id_: Annotated[
        tuple[str, ...], Parameter(name="--id", help="These rows.", consume_multiple=True, negative=())
    ] = (),
    where: Annotated[
        tuple[str, ...],
        Parameter(
            help="COLUMN=VALUE: what a question was about, or a column that was kept with --group-fields; several of "
            "one column are either, of several columns all.",
            consume_multiple=True,
            negative=(),
        ),
    ] = (),
    out: Out = None,
    gating: Gating = NOTHING,
) -> int:
    """Keep some questions of a saved result."""
    wanted: dict[str, list[str]] = {}
    for name, values in (("system", system), ("criterion", criterion), ("id", id_)):
        if values:
            wanted[name] = list(values)
    for word in where:
        column, equals, value = word.partition("=")
        if not equals or not column:
            raise InvalidInputError(f"--where is {word!r}; give COLUMN=VALUE, as language=de")
        wanted.setdefault(column, []).append(value)
    if not wanted:
        raise InvalidInputError("filter needs what to keep: --system, --criterion, --id or --where COLUMN=VALUE")
    return _kept(_filtered(opened(file), wanted), file, out, gating)


def _filtered(results: Results, wanted: Mapping[str, Sequence[str]]) -> Results:
    """The questions of which every column has one of its values; columns of groups are those of the rows."""
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


def _kept(results: Results, file: str, out: Path | None, gating: Gating) -> int:
    """Tell a result that was made of another, and write it if that is asked for."""
    place = check_out(out, [file])
    if place is None:
        return gating.end(results)
    results.save(place)
    return gating.end(results, f"{format_count(len(results), 'entry')} written to {place}", saved=place)


def compare(
    before: Annotated[str, Parameter(name="A", help="A saved result.")],
    after: Annotated[str, Parameter(name="B", help="Another one of its kind, of the same rows.")],
    /,
    *,
    gating: Gating = NOTHING,
) -> int:
    """What changed between two saved results of the same rows: B less A, paired row by row."""
    for name in (before, after):
        if not _is_saved(name):
            raise InvalidInputError(f"{name!r} is no saved result: {TWO_FORMS}")
    return gating.end(opened(before).compare(opened(after)))


def _is_saved(file: str) -> bool:
    from evenhand.results.saved import kind_if_saved  # noqa: PLC0415 - seconds of import

    return kind_if_saved(file) is not None


Exported = Literal["csv", "jsonl", "parquet", "markdown", "latex", "html"]


def export(
    file: File,
    /,
    *,
    form: Annotated[Exported, Parameter(name="--as", help="The format.")],
    of: Annotated[
        Literal["tables", "verdicts", "votes"] | None,
        Parameter(
            help="The tables as they are printed, a row for each verdict, or one for each vote: by default tables for "
            "markdown, latex and html, and verdicts for csv, jsonl and parquet."
        ),
    ] = None,
    out: Annotated[
        Path | None, Parameter(name="--out", help="The file; parquet needs one, others are printed.")
    ] = None,
) -> int:
    """Write a saved result in a form that other programs read."""
    place = check_out(out, [file])
    what = of or ("verdicts" if form in {"csv", "jsonl", "parquet"} else "tables")
    if what == "tables" and form in {"jsonl", "parquet"}:
        raise InvalidInputError(f"--of tables is not written as {form}; give csv, markdown, latex or html")
    if what != "tables" and form in {"latex", "html"}:
        raise InvalidInputError(f"--of {what} is not written as {form}; give csv, jsonl, parquet or markdown")
    if form == "parquet" and place is None:
        raise InvalidInputError("parquet is written to a file: give --out FILE.parquet")
    results = opened(file)
    if form == "parquet" and place is not None:
        _write_parquet(results, what, place)
    else:
        text = _tables(results, form) if what == "tables" else _rows(_records(results, what), form)
        if place is None:
            say(text.rstrip("\n"))
            return 0
        with written_whole(place) as beside:
            beside.write_text(text, encoding="utf-8")
    say(f"{what} written to {place}")
    return 0


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
    from evenhand.results.render import TextTable  # noqa: PLC0415 - as above

    rows = [plain(dict(record)) for record in records]
    if form == "jsonl":
        return "".join(as_json(row) + "\n" for row in rows)
    headers = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(_cell(row.get(name)) for name in headers) for row in rows)
    table = TextTable("verdicts", headers, cells, kind="verdicts")
    return table.to_csv() if form == "csv" else table.to_markdown()


def _cell(value: object) -> str:
    """A value as text: numbers in full, what is missing empty, lists and mappings as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write_parquet(results: Results, what: str, place: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet  # noqa: PLC0415 - as above

    from evenhand.results.measures import plain  # noqa: PLC0415 - as above

    table = results.votes() if what == "votes" else pa.Table.from_pylist([plain(row) for row in results.records()])
    with written_whole(place) as beside:
        pa.parquet.write_table(table, beside, compression="zstd")
