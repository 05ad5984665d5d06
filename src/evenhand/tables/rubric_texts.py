"""The scores of a rubric as a table of texts."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.criteria import Rubric
from evenhand.numbers import format_count, format_interval, format_level, format_range, format_score, format_share
from evenhand.reports import TextTable
from evenhand.rubric_scoring import RubricSummary
from evenhand.tables.notes import clusters_cell, clusters_header, unread_note


def rubric_tables(rubric: Rubric | None, scores: Mapping[str, RubricSummary], *, level: float) -> tuple[TextTable, ...]:
    """The table of the rubric's scores, one row a system; none without a rubric."""
    if rubric is None:
        return ()
    penalized = any(summary.length_penalty is not None for summary in scores.values())
    counted = ("n", *clusters_header(scores.values()), "unscored", "incomplete", "NA", "parse rate")
    headers = ("system", f"rubric score [{format_level(level)}]", *counted)
    rows = []
    for system, summary in scores.items():
        cells = (
            system,
            format_score(summary.score, summary.unread),
            format_count(summary.num_instances),
            *clusters_cell(summary),
            format_count(summary.num_unscored),
            format_count(summary.num_incomplete),
            format_count(summary.num_na),
            format_share(summary.parse_rate),
        )
        rows.append((*cells, format_interval(summary.length_penalty)) if penalized else cells)
    return (
        TextTable(
            title=f"Rubric {rubric.name}",
            headers=(*headers, "length penalty") if penalized else headers,
            rows=tuple(rows),
            notes=_notes(scores),
        ),
    )


def _notes(scores: Mapping[str, RubricSummary]) -> tuple[str, ...]:
    lacking = {
        system: summary
        for system, summary in scores.items()
        if summary.score_if_unscored_0 != summary.score_if_unscored_1
    }
    if not lacking:
        return ()
    bounds = "; ".join(
        f"{system}: {format_range(summary.score_if_unscored_0, summary.score_if_unscored_1, digits=3)}"
        for system, summary in lacking.items()
    )
    leading = unread_note({system: summary.unread for system, summary in scores.items()})
    return (
        *leading,
        f"Rubric scores if every unscored vote had selected the worst or the best option: {bounds}.",
    )
