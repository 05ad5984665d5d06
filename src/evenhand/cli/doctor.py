"""``evenhand doctor``: what a file holds, what can be computed from it today, what is missing, and the commands."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.data.cells import number_of
from evenhand.data.column_roles import ColumnRole, Role, column_roles
from evenhand.data.fields import repeated_column
from evenhand.data.rows import Row, read_file
from evenhand.files import expanded
from evenhand.labels.people import holds_labels, paired, read_gold
from evenhand.numbers import format_count, format_number
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.results.saved import PART, kind_if_saved, open_results

JUDGE = "engines.evenhand.baseline"
FEW = 30
"""With fewer labels little can be said of a judge."""


@dataclass(frozen=True)
class Step:
    """What can be done with a file.

    Attributes:
        what: It is.
        commands: Each as it is typed, one after the other.
    """

    what: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Diagnosis(PrintedTables):
    """What a file is good for.

    Attributes:
        title: What it is.
        headers: Of what is known of its parts.
        parts: A row for each column, or for each score of a saved result.
        steps: What can be computed today.
        missing: What is missing, and for what.
    """

    title: str
    headers: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    missing: tuple[str, ...]

    def text_tables(self) -> tuple[TextTable, ...]:
        """What it holds."""
        return (TextTable(self.title, self.headers, self.parts, kind="parts"),)

    def closing_notes(self) -> tuple[str, ...]:
        """What can be computed, each command on a line of its own, and what is missing."""
        lines = ["What can be computed today:"] if self.steps else ["Nothing can be computed from this yet."]
        for step in self.steps:
            lines += [f"- {step.what}:", *(f"    {command}" for command in step.commands)]
        lines += ["What is missing:", *(f"- {each}" for each in self.missing)] if self.missing else []
        return tuple(lines)

    @property
    def commands(self) -> tuple[str, ...]:
        """All of them, in the order in which they can be run."""
        return tuple(command for step in self.steps for command in step.commands)


def diagnose(path: str) -> Diagnosis:
    """What a file holds, and what can be done with it.

    Args:
        path: A saved result, the folder of one in parts, or a table: JSON lines, JSON, CSV, Parquet or a data set.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    saved = Path(path).is_file() or any(expanded(path).glob(PART))
    kind = kind_if_saved(path) if saved else None
    return _of_rows(path, read_file(path)) if kind is None else _of_result(path, open_results(path))


def _command(*words: str) -> str:
    return shlex.join(["evenhand", *words])


# tables


@dataclass(frozen=True)
class _Table:
    """A table, by what its columns seem to be."""

    path: str
    rows: Sequence[Row]
    columns: Sequence[ColumnRole]

    def of(self, *roles: Role) -> list[str]:
        return [column.name for column in self.columns if column.role in roles]

    def column(self, name: str) -> ColumnRole:
        return next(column for column in self.columns if column.name == name)

    def option(self, flag: str, *roles: Role) -> list[str]:
        """The flag with the first column of these roles; nothing where there is none."""
        names = self.of(*roles)
        return [flag, names[0]] if names else []

    def clusters(self) -> list[str]:
        """Which rows belong together, as far as a column plainly says so."""
        apart = self.of("verdicts of a judge", "labels of people", "responses", "system", "who judged", "id")
        column = repeated_column(self.rows, apart)
        return [] if column is None else ["--cluster-field", column]

    def criterion(self, names: Sequence[str]) -> list[str]:
        """The criterion of these columns of labels; none for yes and no."""
        labels = list(dict.fromkeys(value for name in names for value in self.column(name).values))
        if {label.casefold() for label in labels} <= {"yes", "no", "true", "false", "0", "1"}:
            return []
        numbers = [number_of(label) for label in labels]
        options: list[dict[str, Any]] = [{"label": label} for label in labels]
        scale = "nominal"
        if None not in numbers:
            levels = sorted(zip(labels, numbers, strict=True), key=lambda pair: pair[1] or 0.0)
            options, scale = [{"label": label, "value": number} for label, number in levels], "ordinal"
        about = {"name": names[0], "description": f"What {names[0]} says.", "scale": scale, "options": options}
        return ["--criteria", json.dumps(about, ensure_ascii=False)]


def _of_rows(path: str, rows: Sequence[Row]) -> Diagnosis:
    table = _Table(path, rows, column_roles(rows))
    steps = [*_comparisons(table), *_long_votes(table), *_wide_votes(table), *_to_judge(table)]
    parts = [
        (column.name, column.role, _share(column.n_filled, len(rows)), _values(column)) for column in table.columns
    ]
    return Diagnosis(
        f"{path}: a table of {format_count(len(rows), 'row')}",
        ("column", "seems to be", "filled", "values"),
        tuple(parts),
        tuple(steps),
        tuple(_lacking(table)),
    )


def _values(column: ColumnRole) -> str:
    shown = [value if len(value) <= 20 else f"{value[:20]}…" for value in column.values[:4]]
    more = column.n_values - len(shown)
    return ", ".join(shown) + (f" and {format_count(more)} more" if more > 0 else "")


def _is_long(table: _Table) -> bool:
    """Whether a row is one vote."""
    return bool(table.of("who judged") and table.of("id"))


def _comparisons(table: _Table) -> Iterator[Step]:
    """Rows that are votes on two systems."""
    first, second = table.of("first system"), table.of("second system")
    votes = table.of("preference") or table.of("verdicts of a judge")
    if not (first and second and votes):
        return
    fields = ["--votes", votes[0], "--first-field", first[0], "--second-field", second[0]]
    fields += [*table.option("--id-field", "id"), *table.option("--judge-field", "who judged"), *table.clusters()]
    gold = table.option("--gold", "labels of people")
    yield Step("Which system is better, with intervals", (_command("compare", table.path, *fields, *gold),))
    yield Step("What the judge does when the order changes", (_command("judge-report", table.path, *fields, *gold),))


def _long_votes(table: _Table) -> Iterator[Step]:
    """Rows that are each the vote of one judge."""
    votes = table.of("verdicts of a judge")
    if not _is_long(table) or not votes or table.of("first system"):
        return
    gold = table.of("labels of people")
    fields = ["--votes", votes[0], *table.option("--judge-field", "who judged"), *table.option("--id-field", "id")]
    fields += [*table.option("--systems-field", "system"), *table.option("--gold", "labels of people")]
    report = _command("judge-report", table.path, *fields, *table.criterion([votes[0], *gold]), *table.clusters())
    yield Step("How far each judge can be trusted" + (", against people" if gold else ""), (report,))


def _wide_votes(table: _Table) -> Iterator[Step]:
    """Rows with a column for each judge and person."""
    votes, people = table.of("verdicts of a judge"), table.of("labels of people")
    if _is_long(table) or table.of("first system") or not (votes or people):
        return
    over = table.clusters()
    if len(votes) + len(people) > 1:
        raters = ["--votes", *(votes or people), *(["--gold", *people] if votes and people else [])]
        who = "judges and people" if votes and people else "judges" if votes else "people"
        yield Step(f"How far {who} agree", (_command("agree", table.path, *raters, *over),))
    if not votes:
        return
    gold, criterion = table.option("--gold", "labels of people"), table.criterion([votes[0], *people[:1]])
    saved = f"{Path(table.path).name.split('.')[0]}_{votes[0]}.parquet"
    named = [*table.option("--id-field", "id"), *criterion, *over]
    reduced = _command("aggregate", table.path, "--votes", votes[0], *gold, *named, "--out", saved)
    if gold:
        corrected = _command("correct", saved, "--design", "random")
        drawn = "if their rows were drawn at random; else say how: by_verdict, probabilities"
        what = f"The score that people would give, from {votes[0]} and the labels in {gold[1]} ({drawn})"
        yield Step(what, (reduced, corrected))
    else:
        yield Step(f"The score by {votes[0]} alone", (reduced,))
    if len(people) > 1:
        named = ["--votes", *votes, "--annotators", *people, "--epsilon", "skilled"]
        test = _command("stand-in", table.path, *named, *(over or ["--cluster-field", "false"]))
        yield Step("Whether a judge may stand in for these annotators", (test,))


def _to_judge(table: _Table) -> Iterator[Step]:
    """Responses that nobody has judged."""
    responses, shown = table.of("responses"), table.of("text shown")
    if not responses or _is_long(table) or table.of("first system") or table.of("system"):
        return
    asked = "question" if "question" in shown or not shown else f"question={shown[0]}"
    context = ["--context", asked, *(name for name in shown if name not in asked.split("="))] if shown else []
    how = [*context, "--engine", JUDGE, *table.option("--id-field", "id")]
    how += table.clusters() or ["--cluster-field", "false"]
    note = f"{JUDGE} is text statistics, free and offline: put the name of a model in its place"
    judged = _command("judge", table.path, "--response", *responses, "--criteria", "Is it helpful?", *how)
    yield Step(f"What a judge says of each response ({note})", (judged,))
    if len(responses) > 1 and shown:
        better = ["--systems", *responses, "--criteria", "criteria.evenhand.pairwise.overall_quality"]
        yield Step("Which of the responses is better", (_command("compare", table.path, *better, *how),))


def _lacking(table: _Table) -> Iterator[str]:
    """What a table lacks for more than it can do today."""
    votes, people = table.of("verdicts of a judge", "preference"), table.of("labels of people")
    if not votes and not table.of("responses", "replies of a judge"):
        yield "verdicts of a judge, or responses to judge: a column with either"
    if len(table.of("responses")) > 1 and not table.of("text shown"):
        yield "what was answered: a column such as 'question', by which responses are compared"
    if table.of("replies of a judge"):
        yield f"verdicts read from {table.of('replies of a judge')[0]!r}: evenhand read makes them"
    if votes and not people:
        yield (
            f"labels of people: a column such as 'human' with what people say of {FEW} to 200 rows drawn at random "
            f"(the score by {FEW} labels alone is known to about ±{format_number(_half_width(FEW))}, by 100 to "
            f"±{format_number(_half_width(100))}, by 400 to ±{format_number(_half_width(400))})"
        )
    for name in people:
        found = table.column(name)
        if 0 < found.n_filled < FEW:
            more = format_count(FEW - found.n_filled)
            yield f"labels in {name!r}: {format_count(found.n_filled)} are few; {more} more make {FEW}"
    if not table.of("id"):
        yield "an id for each row, a column such as 'id': without it labels find their rows by their place"
    if people and not table.of("probability of being labelled"):
        yield "how the labelled rows were drawn: say it with --design, or give a column 'probability'"


def _share(part: int, whole: int) -> str:
    return f"{format_count(part)} of {format_count(whole)}"


def _half_width(labels: int) -> float:
    """Of a nominal 95 % interval of a share of one half, from so many labels alone."""
    return 1.96 * math.sqrt(0.25 / labels)


# saved results


def _of_result(path: str, results: Results[Any]) -> Diagnosis:
    said: Mapping[str, Any] = results.parameters
    steps: list[Step] = []
    parts: list[tuple[str, ...]] = []
    missing: list[str] = []
    if results.kind not in {"agreement", "grade_scores"}:
        held = holds_labels(results)
        labelled = _labelled(results) if held else {}
        for each in results.outcomes():
            scored = sum(row.score is not None for row in each.rows)
            n_labels = labelled.get((each.system, each.criterion), 0)
            parts.append(
                (
                    each.system,
                    each.criterion,
                    _share(scored, len(each.rows)),
                    format_count(n_labels),
                )
            )
        if held:
            what = "The score that people would give (if the labelled rows were drawn at random; else say how)"
            steps.append(Step(what, (_command("correct", path, "--design", "random"),)))
            few = min((count for count in labelled.values() if count), default=0)
            if few < FEW:
                missing.append(f"labels: the least labelled score has {few}; {FEW} or more say something of a judge")
        else:
            missing.append(
                f"labels of people for {FEW} to 200 rows drawn at random (100 labels alone know the score to about "
                f"±{format_number(_half_width(100))}): evenhand to-label draws them and makes a sheet; or a file with "
                f"the columns "
                f"{['id', *results.labelled_by, 'label']!r}. Then: "
                + _command("correct", path, "--gold", "labels.csv", "--design", "random")
            )
        if results.kind in {"judgements", "winrates", "checklist"}:
            steps.append(
                Step("How many rows a half-width of .05 takes", (_command("plan", path, "--half-width", "0.05"),))
            )
    missing += [] if results.ids else ["ids of the rows (--id-field when judging): labels find their rows by number"]
    missing += [] if said.get("groups") else ["groups of rows (--group when judging): scores by topic or language"]
    missing += [] if "fingerprint" in said else ["a fingerprint of judge and prompts: it was recorded, or saved before"]
    title = f"{path}: {type(results).__name__} by {', '.join(said.get('judges') or said.get('votes') or ())}"
    return Diagnosis(title, ("system", "score of", "scored", "labels"), tuple(parts), tuple(steps), tuple(missing))


def _labelled(results: Results[Any]) -> dict[tuple[str, str], int]:
    """How many rows of each score have a label of people."""
    found = paired(results, read_gold(results))
    return {(own.judge.system, own.judge.criterion): int(own.labelled.sum()) for own in found}
