"""The reliability of judges on a data set: rows, criteria and judges in, a printable report per judge out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import names_of
from evenhand.data.fields import YES_OR_NO, LabelReader, check_label_columns
from evenhand.data.plain import as_json, as_plain
from evenhand.data.rows import read_rows
from evenhand.engines.names import as_list, judges_of, one_step_in_batches
from evenhand.errors import InvalidInputError
from evenhand.files import write_as_it_ends
from evenhand.judge_reliability.reliability import (
    CriterionReliability,
    JudgesAgreement,
    criterion_tables,
    findings,
    pairs_of_raters_table,
    questions_of,
    reliability_of_judges,
)
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.run import limits_after
from evenhand.options import (
    JudgeArguments,
    Options,
    ReliabilityArguments,
    RunOptions,
    WinratesArguments,
)
from evenhand.read_votes import COMPARISONS, read_assessments, refuse_vote_columns, verdicts_of_votes, votes_given
from evenhand.report.page import report_page
from evenhand.results.measures import Remark, Spending, UnscoredCounts, baseline_note
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.results.vote_columns import VoteColumns
from evenhand.row_runs import assess, compare_systems
from evenhand.statistics.intervals import IntervalLevel
from evenhand.unitxt.loading import load_any_criterion
from evenhand.version import __version__
from evenhand.votes import Vote

REPORT_SUFFIXES = (".json", ".md", ".html")


@dataclass(frozen=True, repr=False)
class ReliabilityReport(PrintedTables):
    """The result of :func:`evenhand.reliability`.

    Attributes:
        results: One per criterion and judge, in the order asked for, judges within criteria.
        agreements: One per criterion, where there are several judges: how far they agree.
        parameters: What made the report: judges, fields, orders, samples, rules, seed, interval level, version.
        unscored_counts: The number of unscored votes and verdicts, over all criteria and judges.
    """

    results: tuple[CriterionReliability, ...]
    agreements: tuple[JudgesAgreement, ...]
    parameters: Mapping[str, Any]
    unscored_counts: UnscoredCounts

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria, in the order asked for."""
        return tuple(dict.fromkeys(result.criterion for result in self.results))

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges, in the order asked for."""
        return tuple(dict.fromkeys(result.judge_id for result in self.results))

    def of(self, criterion: str | None = None, judge: str | None = None) -> CriterionReliability:
        """Return the numbers of one judge on one criterion; what there is only one of need not be named.

        Raises:
            InvalidInputError: If that is none, or several.
        """
        found = [
            result
            for result in self.results
            if criterion in {None, result.criterion} and judge in {None, result.judge_id}
        ]
        if len(found) != 1:
            raise InvalidInputError(
                f"{len(found)} results are of the criterion {criterion!r} and the judge {judge!r}; name one of the "
                f"criteria {list(self.criteria)!r} and of the judges {list(self.judges)!r}"
            )
        return found[0]

    def findings(self, criterion: str | None = None, judge: str | None = None) -> tuple[Remark, ...]:
        """Return what the numbers say in words, a sentence per measure."""
        return findings(self.of(criterion, judge))

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return all tables as texts."""
        tables: list[TextTable] = []
        for criterion in self.criteria:
            tables += criterion_tables([result for result in self.results if result.criterion == criterion])
        for each in self.agreements:
            title, level = f"How far the judges agree on {each.criterion!r}", self.parameters["level"]
            tables.append(pairs_of_raters_table(title, each.pairs, (each.all_judges,), (), level=level))
        return tuple(tables)

    def closing_notes(self) -> tuple[str, ...]:
        """Describe the baseline, if it is among the judges, and the replies bought."""
        return (*baseline_note(self.judges), *((str(self.spending),) if self.spending else ()))

    @property
    def spending(self) -> Spending | None:
        """Replies bought, taken from the journal and wasted, and the rest of the budget; None if nothing was sent."""
        spent = self.parameters.get("spending")
        return None if spent is None else Spending(**spent)

    def to_json(self) -> str:
        """Return parameters, all numbers and the words. An infinite limit is null."""
        document = {
            "evenhand": "reliability",
            **as_plain(self, reasons=True),
            "findings": [
                {"criterion": each.criterion, "judge": each.judge_id, **as_plain(found)}
                for each in self.results
                for found in findings(each)
            ],
        }
        return as_json(document, indent=1)

    def save(self, path: str | Path) -> None:
        """Write ``.json``, ``.md`` or ``.html``.

        Raises:
            InvalidInputError: If the name ends otherwise.
            UnwritableFileError: If the file cannot be written.
        """
        made = (self.to_json, self.to_markdown, lambda: report_page(self, title="How reliable is the judge?"))
        write_as_it_ends(path, dict(zip(REPORT_SUFFIXES, made, strict=True)))


OF_PANELS = ("aggregation", "judge_weights", "stop_early")
"""The options that single judges do not take."""


def report_reliability(data: object, options: ReliabilityArguments) -> ReliabilityReport | RunEstimate:
    """Report how far judges can be trusted: see :func:`evenhand.functions.reliability`."""
    refused = {name: getattr(options, name) for name in OF_PANELS}
    _refuse(refused, "every judge is reported by itself, with all its draws")
    if options.votes is not None:
        return _recorded_report(data, options)
    refuse_vote_columns(options)
    options = options.or_else(**one_step_in_batches(options.engine, options.batch))
    rows, runs = read_rows(data, options.split), _runs(options)
    if options.dry_run or len(runs) > 1:  # check all runs before the first starts; a single run checks itself
        asked = [function(rows, own.model_copy(update={"dry_run": True})) for function, own in runs]
        estimate = RunEstimate.total(asked)
        if options.dry_run:
            return estimate
    tables: list[Results] = []
    cast: list[Vote] = []
    for function, arguments in runs:
        left = limits_after(options, cast)
        limits = {"max_calls": left.max_calls, "max_cost": left.max_cost}
        tables.append(function(rows, arguments.model_copy(update=limits)))
        cast += [vote for cell in tables[-1].cells() for vote in cell.votes]
    return _reported(tables, options, Spending.of(cast, dict(options)))


def _runs(options: ReliabilityArguments) -> list[tuple[Callable[..., Any], Options]]:
    """Return the runs of `judge` and `winrates` that answer what is asked, with their arguments."""
    why = "it chooses among the systems of recorded votes; responses are in response_fields"
    _refuse({"systems": options.systems}, why)
    criteria = [load_any_criterion(reference) for reference in as_list(options.criteria)]
    assessed = [each for each in criteria if each.scale != "pairwise"]
    given = options.response_fields
    fields = (given,) if isinstance(given, str) else given or ()
    if len(fields) < (1 if len(assessed) == len(criteria) else 2):
        raise InvalidInputError(
            f"response_fields names {list(fields)!r}; name one column or more, and two or more for "
            f"{[each.name for each in criteria]!r} if they are pairwise"
        )
    if len(assessed) == len(criteria):
        _refuse(options.changed_from_default("allow_ties", "scale"), "no criterion is pairwise")
    gold = _gold_columns(options.gold_fields, names_of(criteria))
    engine = list(judges_of(options.engine, options.model, batch=options.batch))
    shared = {**_of_runs(options), "engine": engine, **({"scoring": "expected"} if options.confidences else {})}
    runs: list[tuple[Callable[..., Any], Options]] = []
    if assessed:
        own = {each.name: gold[each.name] for each in assessed if each.name in gold}
        how: dict[str, Any] = {"criteria": assessed, "gold_fields": own, "as_index": options.as_index}
        runs.append((assess, JudgeArguments(**how, **shared)))
    for criterion in criteria:
        if criterion.scale == "pairwise":
            how = {"criteria": criterion, "gold_fields": gold.get(criterion.name)}
            how |= {"allow_ties": options.allow_ties, "scale": options.scale}
            runs.append((compare_systems, WinratesArguments(**how, **shared)))
    return runs


def _recorded_report(data: object, options: ReliabilityArguments) -> ReliabilityReport:
    """Return the report on the judges who cast recorded votes."""
    given = [] if options.criteria is None else list(as_list(options.criteria))
    if len(given) > 1:
        raise InvalidInputError(
            f"criteria is {options.criteria!r}; recorded votes are about one criterion: report on each by itself"
        )
    criterion = load_any_criterion(given[0]) if given else None
    read = votes_given(data, options, COMPARISONS | {"systems_field", "as_index"})
    pairs = options.systems is not None or read.column("first_field") is not None
    if criterion is None and not pairs:
        criterion = YES_OR_NO
    gold = options.gold_fields
    if criterion is not None:
        gold = _gold_columns(gold, [criterion.name]).get(criterion.name)
    if criterion is not None and criterion.scale != "pairwise":
        VoteRules.from_parameters(dict(options)).check(criterion.scale)
        reader, cluster = LabelReader(criterion, as_index=options.as_index), options.cluster_field
        cells = read_assessments(read, reader, gold=gold, cluster_field=cluster)  # type: ignore[arg-type] # a column
        table: Any = verdicts_of_votes(read, criterion, [cell for cell in cells if cell.votes], options)
        return _reported([table], options)
    names = ("criteria", "votes", "split", "allow_ties", "scale", "systems")
    how: dict[str, Any] = {name: getattr(options, name) for name in names}
    how |= {"gold_fields": gold, **read.fields, **_of_runs(options)}
    table = compare_systems(data, WinratesArguments(**how))
    return _reported([table], options)


def _reported(
    tables: Sequence[Results], options: ReliabilityArguments, spent: Spending | None = None
) -> ReliabilityReport:
    """Return the report on the judges of these results."""
    rules = VoteRules.from_parameters(dict(options))
    questions = [each for table in tables for each in questions_of(table, rules)]
    made = [{name: value for name, value in table.parameters.items() if name != "ids"} for table in tables]
    parameters = {
        "evenhand_version": __version__,
        "judges": made[0].get("judges") or made[0]["votes"],
        "criteria": [each.criterion.model_dump(mode="json") for each in questions],
        "level": options.level,
        "resamples": options.resamples,
        "seed": options.seed,
        "results": made,
        **({} if spent is None else {"spending": asdict(spent)}),
    }
    results, agreements = reliability_of_judges(
        questions,
        parameters["judges"],
        level=IntervalLevel(options.level, None, options.interval, options.resamples, options.seed),
    )
    held = [(each.instance, each.verdict.votes) for own in questions for each in own.asked]
    counts = UnscoredCounts.of(VoteColumns.of([votes for _, votes in held]), [row for row, _ in held])
    return ReliabilityReport(results, agreements, parameters, counts)


def _refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse the options that are given."""
    for name, value in given.items():
        if value:
            raise InvalidInputError(f"{name} is {value!r}, and {why}: leave it out")


def _of_runs(options: ReliabilityArguments) -> dict[str, Any]:
    """Return the options that were given, as the functions that judge take them with the engines built."""
    taken = RunOptions.model_fields.keys() | {"response_fields", "context_fields", "reference_field"}
    return {name: getattr(options, name) for name in sorted(options.model_fields_set & taken - {"model", "batch"})}


def _gold_columns(gold_fields: str | Mapping[str, str] | None, names: Sequence[str]) -> dict[str, str]:
    """Return criterion name -> column."""
    alone = isinstance(gold_fields, str) and len(names) == 1
    given: Any = {names[0]: gold_fields} if alone else gold_fields or {}
    check_label_columns(given, names, "gold_fields")
    return dict(given)
