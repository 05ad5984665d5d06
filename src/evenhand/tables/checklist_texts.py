"""The tables of texts that a checked data set is shown as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.checklists import ChecklistReport, ItemReport
from evenhand.criteria import Checklist
from evenhand.numbers import (
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_range,
    format_score,
    format_share,
)
from evenhand.results.render import TextTable
from evenhand.scoring import readings_note
from evenhand.statistics import Interval
from evenhand.tables.notes import (
    baseline_note,
    clusters_cell,
    clusters_header,
    early_stop_note,
    unread_note,
    unscored_votes_note,
)

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
    scores = {system: _scores(report) for system, report in reports.items()}
    others = [name for name in METRICS.values() if name != primary and _differs(name, scores.values())]
    what = f"the checklist {checklists[0].name!r}" if len(checklists) == 1 else f"{len(checklists)} checklists"
    flips = any(report.positional_bias is not None for report in reports.values())
    headers = ["system", f"{primary} [{_level(parameters)}]", *others, "all items", "on 1–5", "n"]
    headers += [*clusters_header(reports.values()), "unscored", "answered", "parse rate"]
    rows = []
    for system, report in reports.items():
        cells = [system, format_score(report.primary_score, report.unread)]
        cells += [format_estimate(scores[system][name]) for name in others]
        cells += [format_estimate(report.micro_pass_rate), format_estimate(report.scaled_score_1_5)]
        cells += [format_count(report.num_instances), *clusters_cell(report), format_count(report.num_unscored)]
        cells += [format_estimate(each, share=True) for each in (report.answered_share, report.parse_rate)]
        cells += [format_share(report.positional_bias)] if flips else []
        cells += [format_share(gold[system])] if gold is not None else []
        rows.append(tuple(cells))
    headers += ["flips"] if flips else []
    headers += ["agrees with people"] if gold is not None else []
    return TextTable(
        title=f"Checked by {what}, by {', '.join(parameters['judges'])}",
        headers=tuple(headers),
        rows=tuple(rows),
        notes=_notes(reports, parameters),
    )


def _scores(report: ChecklistReport) -> dict[str, Interval | None]:
    return {
        "pass rate": report.pass_rate,
        "weighted score": report.weighted_score,
        "normalized score": report.normalized_score,
    }


def _differs(name: str, scores: Iterable[Mapping[str, Interval | None]]) -> bool:
    """Whether a score says anything beside the pass rate."""
    return name == "pass rate" or any(
        format_estimate(found[name]) != format_estimate(found["pass rate"]) for found in scores
    )


def _questions_table(report: ChecklistReport, parameters: Mapping[str, Any]) -> TextTable:
    """One system: every question with what it tells."""
    headers = ("question", "category", f"pass rate [{_level(parameters)}]", "yes", "no", "NA", "unanswered")
    rows = [
        (
            _shortened(item.label),
            item.category,
            format_interval(item.pass_rate),
            *(format_count(count) for count in (item.yes, item.no, item.na, item.unanswered)),
            _finding(item) or format_interval(item.discrimination),
        )
        for item in report.items[:MOST_QUESTIONS]
    ]
    return TextTable(
        title="Questions",
        headers=(*headers, "discrimination"),
        rows=tuple(rows),
        notes=(
            _DISCRIMINATION,
            *_prerequisite_note(report.items),
            *_left_out_note(len(report.items)),
        ),
    )


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
    for finding in ("all pass", "all fail"):
        named = [
            _shortened(label)
            for label in labels
            if all(_finding(found[label]) == finding for found in items.values() if label in found)
        ]
        if named:
            notes.append(f"Questions that {finding.partition(' ')[2]} everywhere: {', '.join(named)}.")
    return tuple(notes)


def _finding(item: ItemReport) -> str | None:
    if item.yes + item.no == 0:
        return None
    return "all pass" if item.no == 0 else "all fail" if item.yes == 0 else None


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
