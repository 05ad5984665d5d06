"""What is known of judges as tables of texts: recorded votes, pairs of raters, panels, and judges side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from evenhand.judge_reliability.one_judge import ChoiceReliability, CriterionReliability
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.judge_reliability.people import JudgesAgreement
from evenhand.judge_reliability.raters import Comparison, PanelAgreement, RaterPair, VoteSummary
from evenhand.judge_reliability.words import NO_NUMBER, finding_on_choices, findings, findings_on_judges
from evenhand.numbers import (
    MISSING,
    Missing,
    format_cost,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_p_value,
    format_percent,
    format_range,
    format_score,
    format_share,
)
from evenhand.results.render import TextTable
from evenhand.scoring import readings_note, unread_choices_note
from evenhand.statistics import Agreement, Interval

MOST_BY_JUDGE = 4
"""Cells of a table up to which the judges of a panel are listed one by one."""

signed_interval = partial(format_interval, signed=True)


def measure_at(result: object, path: str) -> Any:  # noqa: ANN401 - what the path leads to
    """What a result holds under names joined by points; None where one of them is missing.

    The interval stands for a coefficient of agreement.
    """
    for name in path.split("."):
        result = getattr(result, name)
        if result is None or isinstance(result, Missing):
            return None
    return result.interval if isinstance(result, Agreement) else result


def vote_summary_table(title: str, summary: VoteSummary, notes: Sequence[str]) -> TextTable:
    """What recorded votes come to: measure and value, one a row."""
    scores = summary.scores
    rows = [
        ("aggregated score", format_score(scores.score, scores.unread)),
        ("agreement with the verdict", format_share(scores.agreement)),
        ("Krippendorff's alpha", format_interval(measure_at(summary, "krippendorff_alpha"))),
        ("instances", format_count(scores.num_instances)),
        *([("clusters", format_count(scores.num_clusters))] if scores.num_clusters else []),
        ("unscored", format_count(scores.num_unscored)),
        ("NA", format_count(scores.num_na)),
        ("votes", format_count(summary.num_votes)),
        ("abstentions", format_count(summary.num_abstentions)),
    ]
    rows += [(f"selected {label!r}", format_count(count)) for label, count in summary.selections]
    rows += [
        (name, written(measure_at(summary, f"comparison.{path}")))
        for name, path, written in _COMPARED
        if not _is_absent(summary, path)
    ]
    return TextTable(
        title=title,
        headers=("measure", f"value [{format_level(summary.level)}]"),
        rows=tuple(rows),
        notes=(*_reasons(summary), *notes),
    )


_COMPARED: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("references", "num_references", format_count),
    ("compared", "num_compared", format_count),
    ("accuracy", "accuracy", format_share),
    ("within one level", "adjacent_accuracy", format_share),
    ("Cohen's kappa", "cohen_kappa", format_interval),
    ("quadratic-weighted kappa", "quadratic_weighted_kappa", format_interval),
    ("root mean square error", "errors.root_mean_square", format_interval),
    ("mean absolute error", "errors.mean_absolute", format_interval),
    ("bias", "errors.bias", signed_interval),
)
"""What a comparison with references is shown by: name, path, writer."""


def _is_absent(summary: VoteSummary, path: str) -> bool:
    """Whether the measure does not belong to the votes: no references, no order, or no values."""
    if summary.comparison is None:
        return True
    first, *inner = path.split(".")
    held = getattr(summary.comparison, first)
    return held is None or (bool(inner) and isinstance(held, Missing))


def _reasons(summary: VoteSummary) -> Iterable[str]:
    """Why a measure is missing, where one is, and what the unscored could change."""
    comparison = summary.comparison
    measures: list[object] = [summary.krippendorff_alpha]
    if comparison is not None:
        measures += [comparison.cohen_kappa, comparison.quadratic_weighted_kappa, comparison.errors]
    reasons = dict.fromkeys(measure.reason for measure in measures if isinstance(measure, Missing))
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


def matrix_of_labels(title: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> TextTable:
    """A confusion matrix; its last label stands for what is missing."""
    rows = tuple((label, *map(format_count, row)) for label, row in zip(labels, counts, strict=True))
    return TextTable(title=title, headers=("", *labels), rows=rows)


def confusion_table(comparison: Comparison) -> TextTable:
    """How often each reference got each verdict."""
    title = "References (rows) and verdicts (columns)"
    return matrix_of_labels(title, comparison.labels, comparison.confusion_matrix)


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
            format_share(measure_at(pair, "accuracy")),
            format_interval(measure_at(pair, "cohen_kappa")),
        )
        beyond = (
            format_share(measure_at(pair, "adjacent_accuracy")),
            format_interval(measure_at(pair, "quadratic_weighted_kappa")),
        )
        rows.append((*cells, *beyond) if ordinal else cells)
    return TextTable(
        title=title,
        headers=(*headers, "within one level", "quadratic-weighted kappa") if ordinal else headers,
        rows=tuple(rows),
        notes=(*_panel_notes(panels), *_pair_reasons(pairs), *notes),
    )


def _panel_notes(panels: Sequence[PanelAgreement]) -> Iterable[str]:
    for panel in panels:
        alpha = panel.krippendorff_alpha
        shown = f"undefined: {alpha.reason}" if isinstance(alpha, Missing) else format_interval(alpha.interval)
        kind = "" if isinstance(alpha, Missing) else f" ({alpha.weighting}, {alpha.n_units} instances)"
        yield f"Krippendorff's alpha of the {len(panel.raters)} {panel.name}{kind}: {shown}."


def _pair_reasons(pairs: Sequence[RaterPair]) -> Iterable[str]:
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        if isinstance(pair.cohen_kappa, Missing):
            reasons.setdefault(pair.cohen_kappa.reason, []).append(f"{pair.first} – {pair.second}")
    for reason, names in reasons.items():
        yield f"No kappa for {', '.join(names)}: {reason}."


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
        return (_panels_together(reports, level, ("Judge by judge: table.panel(system, criterion).",)),)
    return (_panels_together(reports, level), _panels_by_judge(reports))


def _panels_together(reports: Cells, level: float, more: tuple[str, ...] = ()) -> TextTable:
    rows = []
    for cell, report in reports:
        kappas = [pair.kappa.interval.estimate for pair in report.pairs if isinstance(pair.kappa, Agreement)]
        rows.append(
            (
                *cell,
                format_count(report.num_votes),
                format_count(report.num_left_out),
                format_share(measure_at(report, "agreement")),
                format_interval(measure_at(report, "alpha")),
                format_range(min(kappas, default=None), max(kappas, default=None)),
                format_interval(measure_at(report, "effective.effective")),
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
        notes=(*_notes_on_panels(reports), *more),
    )


def _notes_on_panels(reports: Cells) -> tuple[str, ...]:
    notes = dict.fromkeys(note for _, report in reports for note in report.notes)
    made = sum(report.num_votes for _, report in reports)
    left_out = sum(report.num_left_out or 0 for _, report in reports)
    if left_out:
        notes[f"Of the {made + left_out} draws of the full grid {left_out} were not made."] = None
    return tuple(notes)


def _panels_by_judge(reports: Cells) -> TextTable:
    judges = [(cell, judge) for cell, report in reports for judge in report.judges]
    rows = [
        (
            *cell,
            judge.judge_id,
            format_interval(measure_at(judge, "mean")),
            format_share(measure_at(judge, "stability.same_option")),
            format_interval(measure_at(judge, "stability.spread")),
            format_share(measure_at(judge, "stability.flip_rate")),
            signed_interval(measure_at(judge, "change_without")),
        )
        for cell, judge in judges
    ]
    return TextTable(
        title="Judge by judge",
        headers=("system", "criterion", "judge", "score", "equal draws", "spread", "flips", "score without it"),
        rows=tuple(rows),
        notes=("The last column is the score of the panel without the judge, less that of the whole panel.",)
        if any(isinstance(judge.change_without, Interval) for _, judge in judges)
        else (),
    )


def judges_table(agreement: JudgesAgreement, *, level: float) -> TextTable:
    """How far the judges agree on one criterion."""
    return pairs_of_raters_table(
        f"How far the judges agree on {agreement.criterion!r}",
        agreement.pairs,
        (agreement.all_judges,),
        [f"{found.measure}: {found.text}." for found in findings_on_judges(agreement)],
        level=level,
    )


def choices_table(found: Sequence[ChoiceReliability]) -> TextTable:
    """The Grade Score of every judge and prompt on one criterion, with and without the unrelated candidate."""
    first = found[0]
    several = len({each.judge_id for each in found}) > 1
    percentage = partial(format_estimate, share=True)
    return TextTable(
        title=f"The best of several on {first.criterion!r}, asked in all rotations",
        headers=(
            *(["judge"] if several else []),
            "prompt",
            "unrelated",
            "LLM score",
            "choice score",
            f"Grade Score [{format_level(first.level)}]",
            f"corrected [{format_level(first.level)}]",
            "answered",
            "n",
        ),
        rows=tuple(
            (
                *([each.judge_id] if several else []),
                each.prompt,
                f"chosen {percentage(measure_at(each, 'unrelated_chosen'))}" if each.with_unrelated else "no",
                format_estimate(measure_at(each, "llm_score")),
                format_estimate(measure_at(each, "choice_score")),
                format_interval(measure_at(each, "grade_score")),
                format_interval(measure_at(each, "chance_corrected")),
                percentage(measure_at(each, "answered")),
                format_count(each.num_scored),
            )
            for each in found
        ),
        notes=tuple(
            f"{each.judge_id + ': ' if several else ''}{said.measure}: {said.text}."
            for each in found
            for said in [finding_on_choices(each)]
        )
        + unread_choices_note(sum(share.count for each in found for share in each.unanswered)),
    )


def criterion_tables(results: Sequence[CriterionReliability]) -> tuple[TextTable, ...]:
    """All tables on one criterion: the measures of all judges, their flips, and a matrix for each judge.

    Args:
        results: One a judge, all on the same criterion.
    """
    tables = [_measures_table(results)]
    if any(not isinstance(result.flips, Missing) for result in results):
        tables.append(_flips_table(results))
    for result in results:
        if not isinstance(result.people, Missing):
            title = f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)"
            tables.append(matrix_of_labels(title, result.people.labels, result.people.confusion_matrix))
    return tuple(tables)


def _measures_table(results: Sequence[CriterionReliability]) -> TextTable:
    first = results[0]
    act = "Comparisons" if first.mode == "compare" else "Assessments"
    clusters = "" if first.num_clusters is None else f" of {format_count(first.num_clusters, 'cluster')}"
    rows = [(name, *(written(measure_at(each, path)) for each in results)) for name, path, written in _MEASURES]
    return TextTable(
        title=(
            f"{act} on {first.criterion!r}: {format_count(first.num_questions, 'question')} on "
            f"{format_count(first.num_instances, 'instance')}{clusters}, "
            f"{format_count(first.num_samples, 'draw')} of each prompt"
        ),
        headers=(f"measure [{format_level(first.level)}]", *(result.judge_id for result in results)),
        rows=tuple(row for row in rows if any(cell != MISSING for cell in row[1:])),
        notes=tuple(note for result in results for note in _notes_on_judge(result, named=len(results) > 1)),
    )


_MEASURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("position consistency", "position.position_consistency", format_share),
    ("  as Shi et al. count", "position.published_position_consistency", format_percent),
    (
        "  pairs checked",
        "position",
        lambda found: (
            MISSING if found is None else f"{format_count(found.n_checked)} ({format_count(found.n_lone)} lone)"
        ),
    ),
    ("preference fairness (− first, + second)", "position.preference_fairness", signed_interval),
    ("  inconsistent towards the first", "position.first_shown_share", format_share),
    ("  p of no preference", "position.p_value", format_p_value),
    ("repeated draws agree", "repetition.pair_agreement", format_share),
    ("  mode, as Shi et al. count", "repetition.published_stability", format_percent),
    ("spread of draws", "spread", partial(format_interval, digits=3)),
    ("Grade Score", "grade_score.grade_score", format_interval),
    ("  corrected for chance", "grade_score.chance_corrected", format_interval),
    ("wins at twice the length", "verbosity.win_probability_at_double.interval", format_share),
    ("  log-odds for each e-fold", "verbosity.slope.interval", signed_interval),
    (
        "  people's preference held fixed",
        "verbosity_given_people.win_probability_at_double.interval",
        format_share,
    ),
    ("verdicts as people", "people.verdict_accuracy", format_share),
    ("  single votes", "people.vote_accuracy", format_share),
    ("  right in every order", "people.all_orders_right", format_share),
    ("  Cohen's kappa", "people.cohen_kappa", format_interval),
    ("  quadratic-weighted kappa", "people.quadratic_weighted_kappa", format_interval),
    ("  Krippendorff's alpha", "people.krippendorff_alpha", format_interval),
    ("overconfidence", "confidences.calibration.overconfidence", signed_interval),
    ("  calibration error less noise", "confidences.calibration.debiased_error", format_interval),
    ("  Brier score", "confidences.brier.score", format_interval),
    ("parse rate", "replies.parse_rate", format_share),
    (
        "  votes (unscored)",
        "replies",
        lambda replies: (
            f"{format_count(replies.num_votes)} "
            f"({', '.join(f'{format_count(each.count)} {each.reason}' for each in replies.unscored) or 'all scored'})"
        ),
    ),
    ("  re-asks", "replies.num_reasks", format_count),
    (
        "calls + from the journal",
        "replies",
        lambda replies: f"{format_count(replies.calls)} + {format_count(replies.cached)}",
    ),
    ("  tokens", "replies", lambda replies: format_count(replies.prompt_tokens + replies.completion_tokens)),
    ("  cost", "replies.cost", format_cost),
)
"""What judges are shown side by side by: name, path, writer. A row that no judge has is left out."""


def _notes_on_judge(result: CriterionReliability, *, named: bool) -> list[str]:
    prefix = f"{result.judge_id}: " if named else ""
    said = findings(result)
    notes = [f"{prefix}{found.measure}: {found.text}." for found in said if found.measured]
    if unmeasured := [
        f"{found.measure} ({found.text.removeprefix(NO_NUMBER)})" for found in said if not found.measured
    ]:
        notes.append(f"{prefix}Not measured: {'; '.join(unmeasured)}.")
    notes += [f"{prefix}{note}" for note in readings_note([result.replies.readings])]
    if result.num_missing:
        put = "was" if result.num_missing == 1 else "were"
        notes.append(f"{prefix}{format_count(result.num_missing, 'question')} {put} not put for want of a response.")
    if not isinstance(result.people, Missing) and result.num_questions > result.num_instances:
        notes.append(
            f"{prefix}The intervals of kappa and alpha take the {format_count(result.num_questions)} questions as "
            "independent; those that share an instance may not be."
        )
    return notes


def _flips_table(results: Sequence[CriterionReliability]) -> TextTable:
    """How often each option is abandoned in another order, and of how many questions that selected it."""
    found = [None if isinstance(result.flips, Missing) else result.flips for result in results]
    labels = next([each.label for each in flips] for flips in found if flips is not None)

    def cell(place: int, judge: int) -> str:
        flips = found[judge]
        if flips is None:
            return MISSING
        each = flips[place].flips
        return f"{format_share(each.flip_rate)} of {format_count(each.n_selected)}"

    return TextTable(
        title=f"How often an option of {results[0].criterion!r} is abandoned in another order",
        headers=(f"option [{format_level(results[0].level)}]", *(result.judge_id for result in results)),
        rows=tuple(
            (label, *(cell(place, judge) for judge in range(len(results)))) for place, label in enumerate(labels)
        ),
    )
