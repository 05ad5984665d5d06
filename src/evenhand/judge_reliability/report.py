"""What is known of judges as tables of texts: recorded votes, pairs of raters, panels, and judges side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from evenhand.judge_reliability.agreement_with_people import JudgesAgreement
from evenhand.judge_reliability.one_judge import ChoiceReliability, CriterionReliability
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.judge_reliability.raters import PanelAgreement, RaterPair, VoteSummary
from evenhand.judge_reliability.words import NO_NUMBER, finding_on_choices, findings, findings_on_judges
from evenhand.numbers import (
    MISSING,
    Missing,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_percent,
    format_range,
    format_share,
)
from evenhand.results.measures import Column, Kind, format_value, measures_table, score_cell
from evenhand.results.render import TextTable
from evenhand.scoring import GRADED_ON_OTHERS, readings_note
from evenhand.statistics.agreement import Agreement

MOST_BY_JUDGE = 4
"""Cells of a table up to which the judges of a panel are listed one by one."""

Line = tuple[str, str, Kind | Callable[[Any], str]]
"""A row on one measure: its name, where a result holds it (names joined by points), and its kind or what writes it."""


def measure_at(result: object, path: str) -> Any:  # noqa: ANN401 - what the path leads to
    """What a result holds under names joined by points; what is missing, or None, where one of them is."""
    for name in path.split("."):
        result = getattr(result, name)
        if result is None or isinstance(result, Missing):
            return result
    return result


def _cell(result: object, line: Line) -> str:
    _, path, written = line
    found = measure_at(result, path)
    if callable(written):
        return written(found) if found else MISSING
    return format_value(found, written)


def vote_summary_table(title: str, summary: VoteSummary, notes: Sequence[str]) -> TextTable:
    """What recorded votes come to: one measure per row."""
    compared = summary.comparison
    lines = [line for line in _SUMMARY if line[0] != "clusters" or summary.scores.num_clusters]
    rows = [(line[0], _cell(summary, line)) for line in lines]
    rows += [(f"selected {label!r}", format_count(count)) for label, count in summary.selections]
    if not isinstance(compared, Missing):
        lines = [line for line in _COMPARED if getattr(compared, line[1]) is not None]
        rows += [(line[0], _cell(compared, line)) for line in (*lines, *(_ERRORS if compared.errors else ()))]
    return TextTable(
        title=title,
        headers=("measure", f"value [{format_level(summary.level)}]"),
        rows=tuple(rows),
        notes=(*_reasons(summary), *notes),
        kind="scores",
    )


_SUMMARY: tuple[Line, ...] = (
    ("aggregated score", "scores", score_cell),
    ("agreement with the verdict", "scores.agreement", "share"),
    ("Krippendorff's alpha", "krippendorff_alpha", "number"),
    ("instances", "scores.num_instances", "count"),
    ("clusters", "scores.num_clusters", "count"),
    ("no score", "scores.num_unscored", "count"),
    ("NA", "scores.num_na", "count"),
    ("votes", "num_votes", "count"),
    ("unscored votes", "scores.unscored_counts.unscored_votes", "count"),
    ("abstentions", "num_abstentions", "count"),
)
_COMPARED: tuple[Line, ...] = (
    ("references", "num_references", "count"),
    ("compared", "num_compared", "count"),
    ("accuracy", "accuracy", "share"),
    ("within one level", "adjacent_accuracy", "share"),
    ("Cohen's kappa", "cohen_kappa", "number"),
    ("quadratic-weighted kappa", "quadratic_weighted_kappa", "number"),
)
_ERRORS: tuple[Line, ...] = (
    ("root mean square error", "errors.root_mean_square", "number"),
    ("mean absolute error", "errors.mean_absolute", "number"),
    ("bias", "errors.bias", "difference"),
)


def _reasons(summary: VoteSummary) -> Iterable[str]:
    """Why a measure is missing, where one is, and what unscored votes could change."""
    compared, scores = summary.comparison, summary.scores
    measures: list[object] = [summary.krippendorff_alpha]
    if not isinstance(compared, Missing):
        measures += [compared.cohen_kappa, compared.quadratic_weighted_kappa, compared.errors]
    reasons = dict.fromkeys(measure.reason for measure in measures if isinstance(measure, Missing))
    yield from (f"{reason[0].upper()}{reason[1:]}." for reason in reasons)
    if not scores.score and sum(count for _, count in summary.selections) > scores.num_na:
        yield "The options selected have no values, so there is no score."
    elif scores.unscored_counts.unscored_votes and not isinstance(scores.score_if_unscored_0, Missing):
        yield (
            f"Score if every unscored vote were the lowest or the highest level: "
            f"{format_range(scores.score_if_unscored_0, scores.score_if_unscored_1, digits=3)}."
        )
    if not isinstance(compared, Missing) and compared.num_compared < compared.num_references:
        yield (
            f"Accuracy if every instance without a verdict were wrong or right: "
            f"{format_percent(compared.accuracy_if_unscored_0)} to {format_percent(compared.accuracy_if_unscored_1)}."
        )


def labels_table(title: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> TextTable:
    """A confusion matrix; its last label stands for what is missing."""
    rows = tuple((label, *map(format_count, row)) for label, row in zip(labels, counts, strict=True))
    return TextTable(title=title, headers=("", *labels), rows=rows, kind="confusion")


def pairs_of_raters_table(
    title: str, pairs: Sequence[RaterPair], panels: Sequence[PanelAgreement], notes: Sequence[str], *, level: float
) -> TextTable:
    """One row per pair, with the agreement of all beneath it."""
    columns = [
        Column("n", "num_compared"),
        Column(f"same option [{format_level(level)}]", "accuracy"),
        Column("Cohen's kappa", "cohen_kappa"),
    ]
    if any(pair.adjacent_accuracy is not None for pair in pairs):
        columns += [
            Column("within one level", "adjacent_accuracy"),
            Column("quadratic-weighted kappa", "quadratic_weighted_kappa"),
        ]
    named = {(f"{pair.first} – {pair.second}", f"{pair.kinds[0]}–{pair.kinds[1]}"): pair for pair in pairs}
    return measures_table(
        title, ("raters", "kind"), named, columns, (*_panel_notes(panels), *_pair_reasons(pairs), *notes), kind="raters"
    )


def _panel_notes(panels: Sequence[PanelAgreement]) -> Iterable[str]:
    for panel in panels:
        alpha = panel.krippendorff_alpha
        shown = f"undefined: {alpha.reason}" if isinstance(alpha, Missing) else format_interval(alpha)
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
    on_errors = all(report.correlated == "errors" for _, report in reports)
    columns = (
        Column("votes", "num_votes"),
        Column("left out", "num_left_out"),
        Column(f"agreement [{format_level(level)}]", "agreement"),
        Column("alpha", "alpha"),
        Column("kappas", _range_of_kappas),
        Column(
            "effective judges" if on_errors else "effective votes",
            lambda report: format_interval(measure_at(report, "effective.effective")),
        ),
    )
    few = len(reports) <= MOST_BY_JUDGE
    notes = (*_notes_on_panels(reports), *(() if few else ("Judge by judge: table.panel(system, criterion).",)))
    title = "What the votes say about the judges"
    together = measures_table(title, ("system", "criterion"), dict(reports), columns, notes, kind="panel")
    return (together, _panels_by_judge(reports)) if few else (together,)


def _range_of_kappas(report: PanelReport) -> str:
    kappas = [pair.kappa.estimate for pair in report.pairs if isinstance(pair.kappa, Agreement)]
    return format_range(min(kappas, default=None), max(kappas, default=None))


def _notes_on_panels(reports: Cells) -> tuple[str, ...]:
    notes = dict.fromkeys(note for _, report in reports for note in report.notes)
    made = sum(report.num_votes for _, report in reports)
    left_out = sum(report.num_left_out or 0 for _, report in reports)
    if left_out:
        notes[f"Of the {made + left_out} draws of the full grid {left_out} were not made."] = None
    return tuple(notes)


def _panels_by_judge(reports: Cells) -> TextTable:
    judges = {(*cell, judge.judge_id): judge for cell, report in reports for judge in report.judges}
    columns = (
        Column("score", "mean"),
        Column("equal draws", lambda judge: format_share(judge.stability.same_option)),
        Column("spread", lambda judge: format_interval(judge.stability.spread)),
        Column("flips", lambda judge: format_share(judge.stability.flip_rate)),
        Column("score without it", "change_without"),
    )
    said = "The last column is the score of the panel without the judge, less that of the whole panel."
    notes = (said,) if any(judge.change_without for judge in judges.values()) else ()
    return measures_table("Judge by judge", ("system", "criterion", "judge"), judges, columns, notes, kind="judges")


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
    several = len({each.judge_id for each in found}) > 1
    level = format_level(found[0].level)
    columns = (
        Column("LLM score", lambda each: format_estimate(each.llm_score)),
        Column("choice score", lambda each: format_estimate(each.choice_score)),
        Column(f"Grade Score [{level}]", "grade_score"),
        Column(f"corrected [{level}]", "chance_corrected"),
        Column("answered", lambda each: format_estimate(each.answered, share=True)),
        Column("n", "num_scored"),
    )
    named = {}
    for each in found:
        chosen = f"chosen {format_estimate(each.unrelated_chosen, share=True)}" if each.with_unrelated else "no"
        named[*([each.judge_id] if several else []), each.prompt, chosen] = each
    notes = [
        f"{each.judge_id + ': ' if several else ''}{said.measure}: {said.text}."
        for each in found
        for said in [finding_on_choices(each)]
    ]
    unscored = (GRADED_ON_OTHERS,) if any(each.unanswered for each in found) else ()
    title = f"The best of several on {found[0].criterion!r}, asked in all rotations"
    labels = (*(["judge"] if several else []), "prompt", "unrelated")
    return measures_table(title, labels, named, columns, (*notes, *unscored), kind="choices")


def criterion_tables(results: Sequence[CriterionReliability]) -> tuple[TextTable, ...]:
    """All tables on one criterion: the measures of all judges, their flips, and a matrix for each judge.

    Args:
        results: One per judge, all on the same criterion.
    """
    tables = [_measures_table(results)]
    if any(not isinstance(result.flips, Missing) for result in results):
        tables.append(_flips_table(results))
    for result in results:
        if not isinstance(result.people, Missing):
            title = f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)"
            tables.append(labels_table(title, result.people.labels, result.people.confusion_matrix))
    return tuple(tables)


def _measures_table(results: Sequence[CriterionReliability]) -> TextTable:
    first = results[0]
    act = "Comparisons" if first.mode == "compare" else "Assessments"
    clusters = "" if first.num_clusters is None else f" of {format_count(first.num_clusters, 'cluster')}"
    rows = [(line[0], *(_cell(each, line) for each in results)) for line in _MEASURES]
    return TextTable(
        kind="measures",
        title=(
            f"{act} on {first.criterion!r}: {format_count(first.num_questions, 'question')} on "
            f"{format_count(first.num_instances, 'instance')}{clusters}, "
            f"{format_count(first.num_samples, 'draw')} of each prompt"
        ),
        headers=(f"measure [{format_level(first.level)}]", *(result.judge_id for result in results)),
        rows=tuple(row for row in rows if any(cell != MISSING for cell in row[1:])),
        notes=tuple(note for result in results for note in _notes_on_judge(result, named=len(results) > 1)),
    )


_MEASURES: tuple[Line, ...] = (
    ("position consistency", "position.position_consistency", "share"),
    (
        "  pairs checked",
        "position",
        lambda found: f"{format_count(found.n_checked)} ({format_count(found.n_lone)} lone)",
    ),
    ("preference fairness (− first, + second)", "position.preference_fairness", "difference"),
    ("  inconsistent towards the first", "position.first_shown_share", "share"),
    ("  p of no preference", "position.p_value", "p_value"),
    ("repeated draws agree", "repetition.pair_agreement", "share"),
    ("  share of the mode", "repetition.mode_share", "share"),
    ("spread of draws", "spread", partial(format_interval, digits=3)),
    ("Grade Score", "grade_score.grade_score", "number"),
    ("  corrected for chance", "grade_score.chance_corrected", "number"),
    ("wins at twice the length", "verbosity.win_probability_at_double.interval", "share"),
    ("  log-odds for each e-fold", "verbosity.slope.interval", "difference"),
    ("  people's preference held fixed", "verbosity_given_people.win_probability_at_double.interval", "share"),
    ("verdicts as people", "people.verdict_accuracy", "share"),
    ("  single votes", "people.vote_accuracy", "share"),
    ("  right in every order", "people.all_orders_right", "share"),
    ("  Cohen's kappa", "people.cohen_kappa", "number"),
    ("  quadratic-weighted kappa", "people.quadratic_weighted_kappa", "number"),
    ("  Krippendorff's alpha", "people.krippendorff_alpha", "number"),
    ("overconfidence", "confidences.calibration.overconfidence", "difference"),
    ("  calibration error", "confidences.calibration.expected_calibration_error", "number"),
    ("  Brier score", "confidences.calibration.brier", "number"),
    ("parse rate", "replies.parse_rate", "share"),
    ("  votes", "replies.unscored_counts.votes", "count"),
    ("  unscored votes", "replies.unscored_counts.unscored_votes", "count"),
    ("  unscored verdicts", "replies.unscored_counts.unscored_verdicts", "count"),
    ("  re-asks", "replies.num_reasks", "count"),
    ("calls + from the journal", "replies", lambda each: f"{format_count(each.calls)} + {format_count(each.cached)}"),
    ("  tokens", "replies", lambda replies: format_count(replies.prompt_tokens + replies.completion_tokens)),
    ("  cost", "replies.cost", "money"),
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
        notes.append(
            f"{prefix}{format_count(result.num_missing, 'question')} {put} not asked, as a response is missing."
        )
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
        kind="flips",
        title=f"How often an option of {results[0].criterion!r} is abandoned in another order",
        headers=(f"option [{format_level(results[0].level)}]", *(result.judge_id for result in results)),
        rows=tuple(
            (label, *(cell(place, judge) for judge in range(len(results)))) for place, label in enumerate(labels)
        ),
    )
