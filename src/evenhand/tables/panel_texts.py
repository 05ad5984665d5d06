"""What votes say about the judges, as tables of texts."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.numbers import MISSING, format_count, format_interval, format_level, format_range, format_share
from evenhand.panel import PanelReport
from evenhand.results.render import TextTable

MOST_BY_JUDGE = 4
"""Cells up to which the judges are listed one by one."""

Cells = Sequence[tuple[tuple[str, str], PanelReport]]


def panel_tables(reports: Cells, *, level: float) -> tuple[TextTable, ...]:
    """The panel as a whole and, where there are few cells, judge by judge; nothing without reports.

    Args:
        reports: ``((system, criterion), report)``.
        level: Of the intervals.
    """
    if not reports:
        return ()
    if len(reports) > MOST_BY_JUDGE:
        return (_together(reports, level, ("Judge by judge: table.panel(system, criterion).",)),)
    return (_together(reports, level), _by_judge(reports))


def _together(reports: Cells, level: float, more: tuple[str, ...] = ()) -> TextTable:
    rows = []
    for (system, criterion), report in reports:
        kappas = [pair.kappa.interval.estimate for pair in report.pairs if pair.kappa is not None]
        rows.append(
            (
                system,
                criterion,
                format_count(report.num_votes),
                format_count(report.num_left_out),
                format_share(report.agreement),
                format_interval(report.alpha.interval if report.alpha else None),
                _range(kappas),
                format_interval(report.effective.effective if report.effective else None),
            )
        )
    return TextTable(
        title="What the votes say about the judges",
        headers=(
            "system",
            "criterion",
            "votes",
            "left out",
            f"agreement [{format_level(level)}]",
            "alpha",
            "kappas",
            "effective judges" if all(report.correlated == "errors" for _, report in reports) else "effective votes",
        ),
        rows=tuple(rows),
        notes=(*_notes(reports), *more),
    )


def _range(kappas: Sequence[float]) -> str:
    if not kappas:
        return MISSING
    return format_range(min(kappas), max(kappas))


def _by_judge(reports: Cells) -> TextTable:
    rows = [
        (
            system,
            criterion,
            judge.judge_id,
            format_interval(judge.mean),
            format_share(judge.stability.same_option),
            format_interval(judge.stability.spread),
            format_share(judge.stability.flip_rate),
            format_interval(judge.change_without, signed=True),
        )
        for (system, criterion), report in reports
        for judge in report.judges
    ]
    return TextTable(
        title="Judge by judge",
        headers=("system", "criterion", "judge", "score", "equal draws", "spread", "flips", "score without it"),
        rows=tuple(rows),
        notes=("The last column is the score of the panel without the judge, less that of the whole panel.",)
        if any(judge.change_without for _, report in reports for judge in report.judges)
        else (),
    )


def _notes(reports: Cells) -> tuple[str, ...]:
    notes = dict.fromkeys(note for _, report in reports for note in report.notes)
    made = sum(report.num_votes for _, report in reports)
    left_out = sum(report.num_left_out or 0 for _, report in reports)
    if left_out:
        notes[f"Of the {made + left_out} draws of the full grid {left_out} were not made."] = None
    return tuple(notes)
