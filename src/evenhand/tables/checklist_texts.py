"""The tables of texts that a checked data set is shown as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.criteria import Checklist
from evenhand.modes.checklist import ChecklistReport, ItemReport
from evenhand.numbers import (
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_range,
    format_score,
    format_share,
)
from evenhand.results.measures import Column, measures_table
from evenhand.results.notes import (
    baseline_note,
    early_stop_note,
    unread_note,
    unscored_votes_note,
)
from evenhand.results.render import TextTable
from evenhand.scoring import readings_note
from evenhand.statistics import Interval

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
_TELL_NOTHING = ("all pass", "all fail")
METRICS = {"pass": "pass rate", "weighted": "weighted score", "normalized": "normalized score"}


def checklist_tables(
    reports: Mapping[str, ChecklistReport],
    checklists: Sequence[Checklist],
    parameters: Mapping[str, Any],
    gold: Mapping[str, Interval | None] | None,
) -> tuple[TextTable, ...]:
    """The systems, the questions, and the categories where there are several."""
    tables = [_systems_table(reports, checklists, parameters, gold)]
    if len(reports) == 1:
        (report,) = reports.values()
        tables.append(_questions_table(report, parameters))
    else:
        tables.append(_questions_by_system_table(reports, parameters))
    categories = list(dict.fromkeys(each.category for report in reports.values() for each in report.categories))
    if len(categories) > 1:
        tables.append(_categories_table(reports, categories, parameters))
    return tuple(tables)


def _level(parameters: Mapping[str, Any]) -> str:
    return format_level(parameters["level"])


def _systems_table(
    reports: Mapping[str, ChecklistReport],
    checklists: Sequence[Checklist],
    parameters: Mapping[str, Any],
    gold: Mapping[str, Interval | None] | None,
) -> TextTable:
    primary = METRICS[parameters["primary_metric"]]
    others = [name for name in METRICS.values() if name != primary and _differs(name, reports.values())]
    what = f"the checklist {checklists[0].name!r}" if len(checklists) == 1 else f"{len(checklists)} checklists"
    columns = (
        Column(f"{primary} [{_level(parameters)}]", lambda each: format_score(each.primary_score, each.unread)),
        *(Column(name, name.replace(" ", "_"), limits=False) for name in others),
        Column("all items", "micro_pass_rate", limits=False),
        Column("on 1–5", "scaled_score_1_5", limits=False),
        Column("n", "num_instances"),
        Column("clusters", "num_clusters", optional=True),
        Column("unscored", "num_unscored"),
        Column("answered", "answered_share", limits=False),
        Column("parse rate", "parse_rate", limits=False),
        Column("flips", "positional_bias", optional=True),
    )
    title = f"Checked by {what}, by {', '.join(parameters['judges'])}"
    by_name = {(system,): report for system, report in reports.items()}
    table = measures_table(title, ("system",), by_name, columns, _notes(reports, parameters))
    if gold is None:
        return table
    return table.with_column("agrees with people", [format_share(gold[system]) for system in reports])


def _differs(name: str, reports: Iterable[ChecklistReport]) -> bool:
    """Whether a score says anything beside the pass rate."""
    return name == METRICS["pass"] or any(
        format_estimate(getattr(each, name.replace(" ", "_"))) != format_estimate(each.pass_rate) for each in reports
    )


def _questions_table(report: ChecklistReport, parameters: Mapping[str, Any]) -> TextTable:
    """One system: every question with what it tells."""
    columns = (
        Column(f"pass rate [{_level(parameters)}]", "pass_rate"),
        *(Column(answer, answer) for answer in ("yes", "no")),
        Column("NA", "na"),
        Column("unanswered", "unanswered"),
        Column("discrimination", lambda item: _told(item) or format_interval(item.discrimination)),
    )
    named = [((_shortened(item.label), item.category), item) for item in report.items[:MOST_QUESTIONS]]
    notes = (_DISCRIMINATION, *_prerequisite_note(report.items), *_left_out_note(len(report.items)))
    return measures_table("Questions", ("question", "category"), named, columns, notes)


def _questions_by_system_table(reports: Mapping[str, ChecklistReport], parameters: Mapping[str, Any]) -> TextTable:
    """Several systems: every question with the pass rate of each."""
    labels = list(dict.fromkeys(item.label for report in reports.values() for item in report.items))
    items = {system: {item.label: item for item in report.items} for system, report in reports.items()}
    rows = []
    for label in labels[:MOST_QUESTIONS]:
        found = [items[system].get(label) for system in reports]
        known = [item for item in found if item is not None]
        rows.append(
            (
                _shortened(label),
                known[0].category,
                *(format_interval(item.pass_rate if item else None) for item in found),
                format_count(sum(item.unanswered for item in known)),
            )
        )
    every = [item for report in reports.values() for item in report.items]
    return TextTable(
        title=f"Pass rate of each question [{_level(parameters)}]",
        headers=("question", "category", *reports, "unanswered"),
        rows=tuple(rows),
        notes=(*_told_apart_note(items, labels), *_prerequisite_note(every), *_left_out_note(len(labels))),
    )


def _categories_table(
    reports: Mapping[str, ChecklistReport], categories: Sequence[str], parameters: Mapping[str, Any]
) -> TextTable:
    rates = {
        system: {each.category: each.pass_rate for each in report.categories} for system, report in reports.items()
    }
    return TextTable(
        title=f"Pass rate of each category, over its answers about all responses [{_level(parameters)}]",
        headers=("category", *reports),
        rows=tuple(
            (category, *(format_interval(rates[system].get(category)) for system in reports)) for category in categories
        ),
        notes=(_MICRO,),
    )


def _told_apart_note(items: Mapping[str, Mapping[str, ItemReport]], labels: Sequence[str]) -> tuple[str, ...]:
    """The questions that tell nothing, since every response of every system passes or fails them."""
    notes = []
    for finding in _TELL_NOTHING:
        named = [
            _shortened(label)
            for label in labels
            if all(_told(found[label]) == finding for found in items.values() if label in found)
        ]
        if named:
            notes.append(f"Questions that {finding.partition(' ')[2]} everywhere: {', '.join(named)}.")
    return tuple(notes)


def _told(item: ItemReport) -> str | None:
    """What is said of a question that tells responses apart by nothing."""
    return item.finding if item.finding in _TELL_NOTHING else None


def _prerequisite_note(items: Sequence[ItemReport]) -> tuple[str, ...]:
    failed = sum(item.by_prerequisite for item in items)
    return (f"{failed} of the no are due to a prerequisite that is not met.",) if failed else ()


def _left_out_note(questions: int) -> tuple[str, ...]:
    more = questions - MOST_QUESTIONS
    return (f"{more} more questions are in the reports of the table.",) if more > 0 else ()


def _notes(reports: Mapping[str, ChecklistReport], parameters: Mapping[str, Any]) -> tuple[str, ...]:
    votes: Counter[str] = Counter()
    unanswered: Counter[str] = Counter()
    for report in reports.values():
        votes.update(report.unscored_votes)
        unanswered.update(report.unanswered_reasons)
    notes = [*unscored_votes_note(votes), *readings_note(report.readings for report in reports.values())]
    notes += unread_note({system: each.unread for system, each in reports.items()})
    if unanswered:
        listed = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(unanswered.items()))
        bounds = "; ".join(
            f"{system}: {format_range(report.score_if_unscored_0, report.score_if_unscored_1, digits=3)}"
            for system, report in reports.items()
            if report.unanswered
        )
        notes.append(f"Items without an answer: {listed}. Scores if they had all been no, or yes: {bounds}.")
    other = sum(report.num_other_metric for report in reports.values())
    if other:
        notes.append(
            f"The {METRICS[parameters['primary_metric']]} of {other} response(s) is undefined, since the answered "
            "items weigh 0 in all; their pass rate stands in for it."
        )
    notes.append("All items: the share of yes among all answered items, whatever response they belong to.")
    return (*notes, *early_stop_note(parameters), *baseline_note(parameters["judges"]))


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1].rstrip() + "…"
