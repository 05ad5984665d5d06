"""Recorded votes as tables of texts: what they come to, how they compare with the truth, and who agrees with whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evenhand.numbers import (
    MISSING,
    Missing,
    format_count,
    format_interval,
    format_level,
    format_percent,
    format_range,
    format_score,
    format_share,
)
from evenhand.recorded import Comparison, PanelAgreement, RaterPair, Undefined, VoteSummary
from evenhand.results.render import TextTable
from evenhand.statistics import Agreement, Interval


def vote_summary_table(title: str, summary: VoteSummary, notes: Sequence[str]) -> TextTable:
    """Measure and value, one a row."""
    scores = summary.scores
    rows = [
        ("aggregated score", format_score(scores.score, scores.unread)),
        ("agreement with the verdict", format_share(scores.agreement)),
        ("Krippendorff's alpha", format_measure(summary.krippendorff_alpha)),
        ("instances", format_count(scores.num_instances)),
        *([("clusters", format_count(scores.num_clusters))] if scores.num_clusters else []),
        ("unscored", format_count(scores.num_unscored)),
        ("NA", format_count(scores.num_na)),
        ("votes", format_count(summary.num_votes)),
        ("abstentions", format_count(summary.num_abstentions)),
    ]
    rows += [(f"selected {label!r}", format_count(count)) for label, count in summary.selections]
    if summary.comparison is not None:
        rows += _comparison_rows(summary.comparison)
    reasons = _reasons(summary)
    return TextTable(
        title=title,
        headers=("measure", f"value [{format_level(summary.level)}]"),
        rows=tuple(rows),
        notes=(*reasons, *notes),
    )


def confusion_table(comparison: Comparison) -> TextTable:
    """How often each reference got each verdict."""
    return TextTable(
        title="References (rows) and verdicts (columns)",
        headers=("", *comparison.labels),
        rows=tuple(
            (label, *map(format_count, counts))
            for label, counts in zip(comparison.labels, comparison.confusion_matrix, strict=True)
        ),
    )


def pairs_of_raters_table(
    title: str, pairs: Sequence[RaterPair], panels: Sequence[PanelAgreement], notes: Sequence[str], *, level: float
) -> TextTable:
    """One row a pair, with the agreement of all beneath it."""
    ordinal = any(pair.adjacent_accuracy is not None for pair in pairs)
    headers = ("raters", "kind", "n", f"same option [{format_level(level)}]", "Cohen's kappa")
    rows = []
    for pair in pairs:
        cells = (
            f"{pair.first} – {pair.second}",
            f"{pair.kinds[0]}–{pair.kinds[1]}",
            format_count(pair.num_compared),
            format_measure(pair.accuracy, share=True),
            format_measure(pair.cohen_kappa),
        )
        beyond = (
            format_measure(pair.adjacent_accuracy, share=True),
            format_measure(pair.quadratic_weighted_kappa),
        )
        rows.append((*cells, *beyond) if ordinal else cells)
    return TextTable(
        title=title,
        headers=(*headers, "within one level", "quadratic-weighted kappa") if ordinal else headers,
        rows=tuple(rows),
        notes=(*_panel_notes(panels), *_pair_reasons(pairs), *notes),
    )


def format_measure(found: Interval | Agreement | Undefined | None, *, share: bool = False) -> str:
    """A measure with its interval, or a dash where it is undefined."""
    interval = found.interval if isinstance(found, Agreement) else found
    if not isinstance(interval, Interval):
        return MISSING
    return format_share(interval) if share else format_interval(interval)


def _comparison_rows(comparison: Comparison) -> list[tuple[str, str]]:
    errors = comparison.errors
    named = [] if isinstance(errors, Undefined) else [errors.root_mean_square, errors.mean_absolute]
    rows = [
        ("references", format_count(comparison.num_references)),
        ("compared", format_count(comparison.num_compared)),
        ("accuracy", format_measure(comparison.accuracy, share=True)),
    ]
    if comparison.adjacent_accuracy is not None:
        rows.append(("within one level", format_measure(comparison.adjacent_accuracy, share=True)))
    rows.append(("Cohen's kappa", format_measure(comparison.cohen_kappa)))
    if comparison.quadratic_weighted_kappa is not None:
        rows.append(("quadratic-weighted kappa", format_measure(comparison.quadratic_weighted_kappa)))
    for name, interval in zip(("root mean square error", "mean absolute error"), named, strict=False):
        rows.append((name, format_interval(interval)))
    if not isinstance(errors, Undefined):
        rows.append(("bias", format_interval(errors.bias, signed=True)))
    return rows


def _reasons(summary: VoteSummary) -> Iterable[str]:
    """Why a measure is missing, where one is, and what the unscored could change."""
    comparison = summary.comparison
    measures: list[object] = [summary.krippendorff_alpha]
    if comparison is not None:
        measures += [comparison.cohen_kappa, comparison.quadratic_weighted_kappa, comparison.errors]
    reasons = dict.fromkeys(measure.reason for measure in measures if isinstance(measure, Undefined))
    yield from (f"{reason[0].upper()}{reason[1:]}." for reason in reasons)
    scores = summary.scores
    if not scores.score and sum(count for _, count in summary.selections) > scores.num_na:
        yield "The options selected have no values, so there is no score."
    elif summary.num_abstentions and not isinstance(scores.score_if_unscored_0, Missing):
        yield (
            f"Score if every abstention were the lowest or the highest level: "
            f"{format_range(scores.score_if_unscored_0, scores.score_if_unscored_1, digits=3)}."
        )
    if comparison is not None and comparison.num_compared < comparison.num_references:
        yield (
            f"Accuracy if every instance without a verdict were wrong or right: "
            f"{format_percent(comparison.accuracy_if_unscored_0)} to "
            f"{format_percent(comparison.accuracy_if_unscored_1)}."
        )


def _panel_notes(panels: Sequence[PanelAgreement]) -> Iterable[str]:
    for panel in panels:
        alpha = panel.krippendorff_alpha
        shown = f"undefined: {alpha.reason}" if isinstance(alpha, Undefined) else format_measure(alpha)
        kind = "" if isinstance(alpha, Undefined) else f" ({alpha.weighting}, {alpha.n_units} instances)"
        yield f"Krippendorff's alpha of the {len(panel.raters)} {panel.name}{kind}: {shown}."


def _pair_reasons(pairs: Sequence[RaterPair]) -> Iterable[str]:
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        if isinstance(pair.cohen_kappa, Undefined):
            reasons.setdefault(pair.cohen_kappa.reason, []).append(f"{pair.first} – {pair.second}")
    for reason, names in reasons.items():
        yield f"No kappa for {', '.join(names)}: {reason}."
