"""The scores of a rubric as a table of texts."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.criteria import Rubric
from evenhand.numbers import format_level, format_range
from evenhand.results.measures import Column, measures_table, score_cell
from evenhand.results.render import TextTable
from evenhand.rubric_scoring import RubricSummary
from evenhand.tables.notes import unread_note


def rubric_tables(rubric: Rubric | None, scores: Mapping[str, RubricSummary], *, level: float) -> tuple[TextTable, ...]:
    """The table of the rubric's scores, one row a system; none without a rubric."""
    if rubric is None:
        return ()
    columns = (
        Column(f"rubric score [{format_level(level)}]", score_cell),
        Column("n", "num_instances"),
        Column("clusters", "num_clusters", optional=True),
        Column("unscored", "num_unscored"),
        Column("incomplete", "num_incomplete"),
        Column("NA", "num_na"),
        Column("parse rate", "parse_rate"),
        Column("length penalty", "length_penalty", optional=True),
    )
    results = {(system,): summary for system, summary in scores.items()}
    return (measures_table(f"Rubric {rubric.name}", ("system",), results, columns, _notes(scores)),)


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
