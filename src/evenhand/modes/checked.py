"""Responses checked by checklists: systems with their scores, questions with their pass rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Unpack, get_args

from evenhand.aggregation.checklist_score import Answer
from evenhand.aggregation.verdict import VoteRules, check_mean_over_draws
from evenhand.criteria import Checklist, Criterion, yes_no_criterion
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judge_reliability.against_people import JudgedRow, Scale
from evenhand.judge_reliability.panel_report import PanelReport, report_of_run
from evenhand.modes.checklist import (
    RANGES,
    ChecklistReport,
    ChecklistResult,
    ItemReport,
    item_record,
    report_checklists,
)
from evenhand.modes.differences import (
    best_system,
    differences_tables,
    reported_differences,
    scored_rows,
    system_differences,
)
from evenhand.numbers import (
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_range,
    format_score,
    format_share,
)
from evenhand.options import ChecklistMetric
from evenhand.results.analysis import Analysis, Rules, with_votes
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Measure,
    Outcome,
    Outcomes,
    Reported,
    measures_table,
)
from evenhand.results.notes import baseline_note, early_stop_note, unscored_bounds_note, unscored_note
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell, plain_vote
from evenhand.scoring import readings_note
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.intervals import IntervalLevel, Level
from evenhand.statistics.paired_differences import PairedDifference
from evenhand.votes import MISSING_RESPONSE, Verdict

MOST_QUESTIONS = 40
_LONGEST_LABEL = 38
_MICRO = (
    "Here and in the table of questions every answer counts the same (micro); the score of a system is a mean over "
    "responses, each of which counts the same (macro)."
)
_DISCRIMINATION = (
    "Discrimination: the correlation of a question with the share passed of the others; below 0, those pass it who "
    "fail the others."
)
_SAME_ANSWER = ("all pass", "all fail")
_ANSWERS = yes_no_criterion("answers", "Is it so?", na=True)
METRICS = {"pass": "pass rate", "weighted": "weighted score", "normalized": "normalized score"}


@dataclass(frozen=True, slots=True)
class CheckedResponse:
    """One response and its result.

    Attributes:
        instance: The row's index.
        system: The column that held the response.
        result: The result by its checklist, with the verdict on each item's own question.
        gold: The answers that a person gave, in the checklist's order; None for an item without one.
        cluster: The cluster of the row; None if rows are independent.
    """

    instance: int
    system: str
    result: ChecklistResult
    gold: tuple[Answer | None, ...]
    cluster: str | None = None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each item's own question."""
        return self.result.verdicts

    def item_records(self) -> Iterator[dict[str, Any]]:
        """Give the answer to each item, and what it rests on."""
        for item, gold in zip(self.result.items, self.gold, strict=True):
            yield {"item": item.item.name, **item_record(item), "spread": item.verdict.spread, "gold": gold}

    @property
    def names(self) -> dict[str, Any]:
        """What names the response in records."""
        return {"instance": self.instance, "system": self.system, "checklist": self.result.checklist.name}


class ChecklistAnalysis(Analysis):
    """The result of :func:`checklist`: every verdict, the scores of each response, and a report per system."""

    kind: ClassVar = "checklist"
    judged: ClassVar = ("systems", "checklists")
    names: ClassVar = ("instance", "system")
    compared: ClassVar = ("primary_score", "primary_score")
    same_rows: ClassVar = ("system",)
    labelled_by: ClassVar = ("system", "item")
    further_ranges: ClassVar = RANGES

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check that the systems have the same rows, and each response all items of its checklist."""
        items = [[item["name"] for item in each["items"]] for each in header["checklists"]]
        given: dict[tuple[str, int, int], list[str]] = {}
        for about in abouts:
            given.setdefault((about["system"], about["instance"], about["checklist"]), []).append(about["item"])
        for (_, instance, checklist), named in given.items():
            if named != items[checklist]:
                raise InvalidInputError(
                    f"of the items {items[checklist]!r} of the checklist {header['checklists'][checklist]['name']!r} "
                    f"there are only {named!r} for instance {instance}; keep all items of a response, or none"
                )
        return super().check(header, abouts)

    def read(self, cells: Iterable[Cell]) -> Iterator[CheckedResponse]:
        """Make a response of the cells on its items."""
        grouped: dict[tuple[str, int], list[Cell]] = {}
        for cell in cells:
            grouped.setdefault((cell.about["system"], cell.about["instance"]), []).append(cell)
        for own in grouped.values():
            about = own[0].about
            checklist = self.checklists[about["checklist"]]
            verdicts = [
                self.rules.aggregate(cell.votes, item.as_criterion()) if cell.votes else MISSING_RESPONSE
                for item, cell in zip(checklist.items, own, strict=True)
            ]
            yield CheckedResponse(
                instance=about["instance"],
                system=about["system"],
                result=ChecklistResult.of(checklist, verdicts, self.parameters["primary_metric"], self.rules),
                gold=tuple(cell.about["gold"] for cell in own),
                cluster=about["cluster"],
            )

    @property
    def responses(self) -> tuple[CheckedResponse, ...]:
        """The entries, ordered by system and instance."""
        return self.entries

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order asked for."""
        return tuple(self.header["systems"])

    @cached_property
    def checklists(self) -> tuple[Checklist, ...]:
        """The checklists as they were asked; one unless each row had its own."""
        return tuple(map(Checklist.model_validate, self.header["checklists"]))

    @property
    def results(self) -> tuple[ChecklistResult, ...]:
        """The result of each response."""
        return tuple(response.result for response in self.entries)

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the primary score of each system, and its answers to each item of a checklist that all rows share."""
        found = []
        shared = self.checklists[0] if len(self.checklists) == 1 else None
        name = "checklist" if shared is None else shared.name
        for system in self.systems:
            own = self.by_system[system]
            rows = [
                Outcome(
                    each.instance,
                    tuple((each.instance, system, item.name) for item in each.result.checklist.items),
                    each.result.score,
                    na=each.result.na,
                    cluster=each.cluster,
                )
                for each in own
            ]
            found.append(Outcomes(system, name, tuple(rows)))
            for place, item in enumerate(() if shared is None else shared.items):
                answers = [
                    Outcome.of_verdict((each.instance, system, item.name), each.verdicts[place], each.cluster)
                    for each in own
                ]
                found.append(Outcomes.by(item.as_criterion(), answers, system=system, part_of=name))
        return tuple(found)

    def reported(self) -> Iterator[Reported]:
        """Return, per system, the primary score under the name of the checklist, other scores, items and categories."""
        name = self.checklists[0].name if len(self.checklists) == 1 else "checklist"
        for system, report in self.reports.items():
            n, counts = report.num_instances - report.num_unscored - report.num_na, report.unscored_counts
            main = Measure("", report.primary_score, "score", bounds=report.unscored_bounds)
            yield Reported(name, (system,), main, n, counts)
            yield Reported("", (system,), report, n, counts)
            for item in report.items:
                of_item = item.asked - item.unanswered, item.unscored_counts
                yield Reported(f"item.{item.label}", (system,), item, *of_item)
            for category in report.categories:
                yield Reported(f"category.{category.category}", (system,), category, category.answered)
            if (agrees := self.gold_agreement(system)) is not None:
                yield Reported("", (system,), Measure("gold_agreement", agrees, "share"), agrees.n)
        yield from reported_differences(self.differences)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each cell."""
        return tuple(verdict for response in self.entries for verdict in response.verdicts)

    def asked(self) -> Iterator[QuestionAsked]:
        """Give the questions of items under the names of their checklists."""
        named = {"yes": "Yes", "no": "No", "na": "N/A"}
        for cell, asked in zip(self.stored.cells(), super().asked(), strict=True):
            checklist = self.checklists[cell.about["checklist"]].name
            yield replace(asked, criterion=checklist, gold=named.get(str(cell.about["gold"])))

    def items(self) -> Iterator[Mapping[str, Any]]:
        """Return the items of the checklist that all rows share, one by one."""
        for each in self.outcomes():
            named = {"system": each.system, "item": each.criterion}
            for row in each.rows if each.part_of is not None else ():
                yield {"instance": row.instance, **named, "score": row.score, "selected": row.selected}

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the item, as a criterion."""
        checklist: Checklist = self.checklists[cell.about["checklist"]]
        return next(item.as_criterion() for item in checklist.items if item.name == cell.about["item"])

    @cached_property
    def by_system(self) -> Mapping[str, list[CheckedResponse]]:
        """System -> its responses."""
        found: dict[str, list[CheckedResponse]] = {system: [] for system in self.systems}
        for response in self.entries:
            found[response.system].append(response)
        return found

    @cached_property
    def reports(self) -> Mapping[str, ChecklistReport]:
        """System -> the report on its responses."""
        seed = self.parameters["seed"]
        return {
            system: report_checklists([each.result for each in own], level=self._level_of(system), seed=seed)
            for system, own in self.by_system.items()
        }

    def _level_of(self, system: str) -> IntervalLevel:
        """Return the level of intervals over the responses of a system, with their clusters."""
        return self.level_over([response.cluster for response in self.by_system[system]])

    def gold_agreement(self, system: str) -> Interval | None:
        """Return the share of a system's items on which a person and the judges agree, of those that both answered.

        Compared are the answers to the items' own questions, without their prerequisites.
        """
        counts = []
        for response in self.by_system[system]:
            given = zip(response.gold, response.result.items, strict=True)
            same = [gold == item.judged for gold, item in given if gold is not None and item.judged is not None]
            counts.append((float(sum(same)), float(len(same))))
        hits, compared = zip(*counts, strict=True) if counts else ((), ())
        return ratio_intervals(hits, compared, level=self._level_of(system))[0]

    def with_gold(
        self, system: str | None, criterion: str | None, *, numbers: bool
    ) -> tuple[list[JudgedRow], Scale, str]:
        """Return the answers to the items' own questions, or the primary scores, for a comparison with people."""
        if criterion is not None:
            raise InvalidInputError(f"criterion is {criterion!r}; a checklist has items: leave it out")
        places: Mapping[Answer | None, int] = {"yes": 0, "no": 1, "na": 2}
        values = {0: 1.0, 1: 0.0}
        systems = self.systems if system is None else (system,)
        rows = []
        for response in (each for name in systems for each in self.by_system[name]):
            about, cluster = (response.instance, response.system), response.cluster
            if numbers:
                rows.append(JudgedRow(*about, None, response.result.score, cluster=cluster))
            for item, gold in () if numbers else zip(response.result.items, response.gold, strict=True):
                own, right = places.get(item.judged), places.get(gold)
                score, best = (None if place is None else values.get(place) for place in (own, right))
                rows.append(JudgedRow(*about, own, score, right, best, cluster))
        return rows, Scale.of(_ANSWERS), f"{', '.join(systems)}: {', '.join(self.parameters['judges'])}"

    @cached_property
    def differences(self) -> tuple[PairedDifference, ...]:
        """Every two systems by their primary scores: paired over the rows that both have one on, p by Holm over all."""
        scored = {
            system: scored_rows((each.result.score, each.result.bounds) for each in own)
            for system, own in self.by_system.items()
        }
        return system_differences({_primary(self): scored}, self._level_of(self.systems[0]))

    def panels(self, system: str) -> Mapping[str, PanelReport]:
        """Return item name -> what the votes on a system's responses say about the judges.

        Empty if one judge was asked once, and if the rows have different checklists.
        """
        return item_panels(
            [each.result for each in self.by_system[system]],
            self.rules,
            samples=self.parameters["grid"]["samples"],
            level=self._level_of(system),
            seed=self.parameters["seed"],
        )

    def rescored(self, *, primary_metric: str | None = None, **rules: Unpack[Rules]) -> dict[str, Any]:  # type: ignore[override] # the rules by name
        """Return the same votes under another primary metric or other rules, without a call.

        Args:
            primary_metric: ``pass``, ``weighted`` or ``normalized``; None leaves it as it was.
            **rules: ``aggregation``, ``on_position_bias`` or ``min_mass``; what is not given stays as it was.

        Raises:
            InvalidInputError: A metric or a rule that does not exist, or ``normalized`` of draws that could stop early.
            UnknownRuleError: A rule that does not fit yes/no questions.
        """
        metric = self.parameters["primary_metric"] if primary_metric is None else primary_metric
        if metric not in get_args(ChecklistMetric):
            raise InvalidInputError(f"primary_metric is {metric!r}. {did_you_mean(metric, get_args(ChecklistMetric))}")
        changed = self.changed_rules(rules)
        if changed.scoring != "selected":
            raise InvalidInputError(
                f"scoring={changed.scoring!r} does not belong to a checklist: primary_metric='normalized' scores one "
                "by probabilities"
            )
        changed.check("binary")
        if metric == "normalized":
            votes = [vote for each in self.entries for verdict in each.verdicts for vote in verdict.votes]
            check_mean_over_draws(votes, "primary_metric='normalized'")
        return self.changed(changed, primary_metric=metric)

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of systems, their differences, the questions, and the categories if there are several."""
        best = best_system({system: report.primary_score for system, report in self.reports.items()})
        named = {
            system: {each.category: each.pass_rate for each in report.categories}
            for system, report in self.reports.items()
        }
        categories = dict.fromkeys(category for own in named.values() for category in own)
        by_category = TextTable(
            title=f"Pass rate of each category, over its answers about all responses {_level(self)}",
            headers=("category", *named),
            rows=tuple((each, *(format_interval(own.get(each)) for own in named.values())) for each in categories),
            notes=(_MICRO,),
            kind="categories",
        )
        return (
            _systems_table(self),
            *differences_tables(self.differences, {_primary(self): best}, level=self.parameters["level"]),
            _questions_table(self),
            *([by_category] if len(categories) > 1 else []),
        )

    def flat_records(self) -> Iterator[dict[str, Any]]:
        """Give a row for each item of a response."""
        for response in self.entries:
            yield from ({**response.names, **item, "cluster": response.cluster} for item in response.item_records())

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each response: its scores, with its items inside."""
        for response in self.entries:
            yield {
                **response.names,
                **response.result.record(),
                "cluster": response.cluster,
                **response.result.counts(),
                "items": [
                    with_votes(item, [verdict], votes=votes)
                    for item, verdict in zip(response.item_records(), response.verdicts, strict=True)
                ],
            }

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each answer, as ``checklist(votes=rows)`` reads them.

        An item of a response that is missing is a row without a judge.
        """
        found: list[dict[str, Any]] = []
        no_judge = {"judge": None, "sample": 0, "vote": None, "unscored_reason": "missing_response"}
        for about, votes, _ in self.stored.cells():
            row = {name: about[name] for name in ("system", "item", "gold", "cluster") if about[name] is not None}
            row["id"] = self.row_name(about["instance"])
            found += [{**row, **plain_vote(vote)} for vote in votes] or [{**row, **no_judge}]
        return found


def item_panels(
    results: Sequence[ChecklistResult], rules: VoteRules, *, samples: int, level: Level = 0.95, seed: int = 0
) -> dict[str, PanelReport]:
    """Return item name -> the report on the judges that answered it.

    Empty if each response had its own checklist, and if one judge was asked once.

    Args:
        results: One per response.
        rules: The rules that made the verdicts.
        samples: The most draws of each prompt that the run was to make.
        level: The level of the intervals.
        seed: The seed of the intervals that are drawn.
    """
    if not results or any(result.checklist != results[0].checklist for result in results):
        return {}
    asked = zip(results[0].checklist.items, zip(*(result.verdicts for result in results), strict=True), strict=True)
    reports = {
        item.name: report_of_run(own, item.as_criterion(), rules, samples=samples, level=level, seed=seed)
        for item, own in asked
    }
    return {name: report for name, report in reports.items() if report is not None}


def _primary(table: ChecklistAnalysis) -> str:
    """Return the name of the primary score."""
    return METRICS[table.parameters["primary_metric"]]


def _level(table: ChecklistAnalysis) -> str:
    """Format the level of intervals for headers."""
    return f"[{format_level(table.parameters['level'])}]"


def _systems_table(table: ChecklistAnalysis) -> TextTable:
    reports, checklists, primary = table.reports, table.checklists, _primary(table)
    pass_rates = [format_estimate(report.pass_rate) for report in reports.values()]
    others = {  # of scores that are equal to the pass rate in every row, only this one is shown
        name: name.replace(" ", "_")
        for name in METRICS.values()
        if name == METRICS["pass"]
        or pass_rates != [format_estimate(getattr(report, name.replace(" ", "_"))) for report in reports.values()]
    }
    what = f"the checklist {checklists[0].name!r}" if len(checklists) == 1 else f"{len(checklists)} checklists"
    columns = (
        Column(f"{primary} {_level(table)}", lambda each: format_score(each.primary_score, each.unscored_bounds)),
        *(Column(name, field, limits=False) for name, field in others.items() if name != primary),
        Column("all items", "micro_pass_rate", limits=False),
        Column("on 1–5", "scaled_score_1_5", limits=False),
        Column("n", "num_instances"),
        Column("clusters", "num_clusters", optional=True),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        Column("answered", "answered_share", limits=False),
        Column("parse rate", "parse_rate", limits=False),
        Column("flips", "positional_bias", optional=True),
    )
    title = f"Checked by {what}, by {', '.join(table.parameters['judges'])}"
    by_name = {(system,): report for system, report in reports.items()}
    shown = measures_table(title, ("system",), by_name, columns, _notes(table), kind="scores")
    if all(answer is None for response in table.entries for answer in response.gold):
        return shown
    return shown.with_column("agrees with people", [format_share(table.gold_agreement(system)) for system in reports])


def _questions_table(table: ChecklistAnalysis) -> TextTable:
    """Return the questions: of one system with all their measures, of several with the pass rate of each system."""
    items = {system: {item.label: item for item in report.items} for system, report in table.reports.items()}
    labels = list(dict.fromkeys(label for found in items.values() for label in found))
    every = [item for found in items.values() for item in found.values()]
    found = {label: {system: own[label] for system, own in items.items() if label in own} for label in labels}
    title, notes = f"Pass rate of each question {_level(table)}", []
    if len(items) == 1:
        title, notes = "Questions", [_DISCRIMINATION]
        columns = [
            Column(f"pass rate {_level(table)}", "pass_rate"),
            *(Column(answer, answer) for answer in ("yes", "no")),
            Column("NA", "na"),
            Column("unanswered", "unanswered"),
            Column("discrimination", lambda item: _same_answer(item) or format_interval(item.discrimination)),
        ]
        rows: list[tuple[tuple[str, ...], Any]] = [((_shortened(item.label), item.category), item) for item in every]
    else:

        def pass_rates(system: str) -> Column:
            return Column(system, lambda own: format_interval(own[system].pass_rate if system in own else None))

        columns = [pass_rates(system) for system in items]
        columns.append(Column("unanswered", lambda own: format_count(sum(item.unanswered for item in own.values()))))
        rows = [((_shortened(label), next(iter(own.values())).category), own) for label, own in found.items()]
        for answer in _SAME_ANSWER:
            alike = [
                _shortened(label)
                for label, own in found.items()
                if all(_same_answer(item) == answer for item in own.values())
            ]
            if alike:
                notes.append(f"Questions that {answer.partition(' ')[2]} everywhere: {', '.join(alike)}.")
    if failed := sum(item.by_prerequisite for item in every):
        notes.append(f"{failed} of the no are due to a prerequisite that is not met.")
    if len(rows) > MOST_QUESTIONS:
        notes.append(f"{len(rows) - MOST_QUESTIONS} more questions are in the reports of the table.")
    return measures_table(title, ("question", "category"), rows[:MOST_QUESTIONS], columns, notes, kind="questions")


def _same_answer(item: ItemReport) -> str | None:
    """Describe a question that does not distinguish responses."""
    return item.finding if item.finding in _SAME_ANSWER else None


def _notes(table: ChecklistAnalysis) -> tuple[str, ...]:
    reports, parameters = table.reports, table.parameters
    unanswered: Counter[str] = Counter()
    for report in reports.values():
        unanswered.update(report.unanswered_reasons)
    notes = [
        *unscored_note(table.unscored_counts),
        *readings_note(report.readings for report in reports.values()),
    ]
    notes += unscored_bounds_note({system: each.unscored_bounds for system, each in reports.items()})
    if unanswered:
        listed = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(unanswered.items()))
        bounds = "; ".join(
            f"{system}: {format_range(report.score_if_unscored_0, report.score_if_unscored_1, digits=3)}"
            for system, report in reports.items()
            if report.unanswered
        )
        notes.append(f"Items without an answer: {listed}. Scores if they had all been no, or yes: {bounds}.")
    notes.append("All items: the share of yes among all answered items, whatever response they belong to.")
    return (*notes, *early_stop_note(parameters), *baseline_note(parameters["judges"]))


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1].rstrip() + "…"
