"""Judges as tables and in words: one line per measure gives its row and its sentence.

A sentence names an effect where the interval, or the test, excludes no effect at the report's level. Where an interval
is wider than `WIDE`, it says that there is too little to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from scipy.stats import binomtest

from evenhand.judge_reliability.against_people import PanelAgreement, RaterPair, VoteSummary
from evenhand.judge_reliability.one_judge import ChoiceReliability, CriterionReliability, JudgesAgreement
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.numbers import (
    MISSING,
    Missing,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_number,
    format_percent,
    format_range,
    format_share,
    state_p_value,
)
from evenhand.results.measures import Column, Kind, format_value, measures_table, score_cell
from evenhand.results.notes import unscored_note
from evenhand.results.render import TextTable
from evenhand.scoring import GRADED_ON_OTHERS, readings_note
from evenhand.statistics.agreement import Agreement

WIDE: Final = 0.3
"""The width of a share's interval from which on the data are too few."""

MOST_BY_JUDGE: Final = 4
"""The most cells of a table that lists the judges of a panel one by one."""


def measure_at(result: object, path: str) -> Any:  # noqa: ANN401 - what the path leads to
    """Follow names joined by points into a result; return what is missing, or None, where one of them is."""
    for name in path.split("."):
        result = getattr(result, name)
        if result is None or isinstance(result, Missing):
            return result
    return result


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence on one measure.

    Attributes:
        measure: The name of the measure.
        text: The number and what it shows; or why there is none.
        measured: Whether there is a number.
    """

    measure: str
    text: str
    measured: bool = True


class Line(NamedTuple):
    """A measure of a result: a row of its table and, where an effect is named, a sentence.

    Attributes:
        name: The name of the measure; indented where the line details the one above.
        path: The path in a result: names joined by points.
        kind: The format, or the function that writes it.
        nothing: The value without an effect; None if no effect is named.
        words: The effect above that value, below it, and the text if neither is shown.
        p_value: The path of the p-value that decides instead of the interval.
    """

    name: str
    path: str
    kind: Kind | Callable[[Any], str]
    nothing: float | None = None
    words: tuple[str, str, str] = ("", "", "")
    p_value: str = ""

    def cell(self, result: object) -> str | None:
        """Write the number; None if the result has no such measure."""
        found = measure_at(result, self.path)
        if callable(self.kind):
            return self.kind(found) if found else None if found is None else MISSING
        return None if found is None else format_value(found, self.kind)

    def remark(self, result: object, level: float) -> Remark | None:
        """Say what the number shows, or why there is none; None if neither is known."""
        found = measure_at(result, self.path)
        if found is None or (self.nothing is None and not isinstance(found, Missing)):
            return None
        if isinstance(found, Missing):  # a detail lacks what the line above lacks
            return None if self.name.startswith(" ") else Remark(self.name, found.reason, measured=False)
        p_value = measure_at(result, self.p_value) if self.p_value else None
        towards = 0 if found.low > self.nothing else 1 if found.high < self.nothing else 2
        if p_value is not None:
            towards = 2 if p_value >= 1 - level else 0 if found.estimate > self.nothing else 1
        text = f"{self.cell(result)}{'' if p_value is None else f' ({state_p_value(p_value)})'}: {self.words[towards]}"
        if found.high - found.low > WIDE:
            text += f"; too few to tell more (n = {format_count(found.n)})"
        return Remark(self.name.strip(), text)


_TASTE: Final = ("longer responses are preferred", "shorter responses are preferred", "no preference for length shown")
_DOUBLE: Final = "win_probability_at_double"
LINES: Final = (
    Line("parse rate", "replies.parse_rate", "share"),
    Line("  votes", "replies.unscored_counts.votes", "count"),
    Line("  unscored votes", "replies.unscored_counts.unscored_votes", "count"),
    Line("  unscored verdicts", "replies.unscored_counts.unscored_verdicts", "count"),
    Line("  re-asks", "replies.num_reasks", "count"),
    Line("position consistency", "position.position_consistency", "share"),
    Line("  pairs of votes checked", "position.n_checked", "count"),
    Line("  pairs with one selection only", "position.n_lone", "count"),
    Line("  preference fairness (− first, + second)", "position.preference_fairness", "difference"),
    Line(
        "  inconsistent towards the first",
        "position.first_shown_share",
        "share",
        0.5,
        ("what is shown first gains", "what is shown second gains", "no preference for a place shown"),
        "position.p_value",
    ),
    Line("  p of no preference", "position.p_value", "p_value"),
    Line("repeated draws agree", "repetition.pair_agreement", "share"),
    Line("  share of the mode", "repetition.mode_share", "share"),
    Line("spread of draws", "spread", partial(format_interval, digits=3)),
    Line("Grade Score", "grade_score.grade_score", "number"),
    Line("  of a random judge", "grade_score.chance", "number"),
    Line(
        "  corrected for chance",
        "grade_score.chance_corrected",
        "number",
        0.0,
        ("better than a random judge", "below what a random judge reaches", "not distinguishable from a random judge"),
    ),
    Line("wins at twice the length", f"verbosity.{_DOUBLE}", "share", 0.5, _TASTE),
    Line("  log-odds for each e-fold", "verbosity.slope", "difference"),
    Line("wins at twice the length given people's choice", f"verbosity_given_people.{_DOUBLE}", "share", 0.5, _TASTE),
    Line("verdicts as people", "people.accuracy", "share"),
    Line("  single votes", "people.vote_accuracy", "share"),
    Line("  right in every order", "people.all_orders_right", "share"),
    Line("  Cohen's kappa", "people.cohen_kappa", "number"),
    Line("  quadratic-weighted kappa", "people.quadratic_weighted_kappa", "number"),
    Line("  Krippendorff's alpha", "people.krippendorff_alpha", "number"),
    Line(
        "overconfidence",
        "confidences.overconfidence",
        "difference",
        0.0,
        ("the judge is overconfident", "the judge is underconfident", "no over- or underconfidence shown"),
    ),
    Line("  calibration error", "confidences.expected_calibration_error", "number"),
    Line("  Brier score", "confidences.brier", "number"),
    Line("calls", "replies.usage.calls", "count"),
    Line("  from the journal", "replies.usage.cached", "count"),
    Line("  tokens", "replies.usage", lambda usage: format_count(usage.prompt_tokens + usage.completion_tokens)),
    Line("  cost", "replies.usage.cost", "money"),
)
"""The measures of a judge on a criterion. A line that no judge has is left out of a table."""


def findings(report: CriterionReliability) -> tuple[Remark, ...]:
    """Say which effects the measures of a judge on a criterion show, and why a measure has no number."""
    return tuple(filter(None, (line.remark(report, report.level) for line in LINES)))


def _rows(lines: Iterable[Line], *results: object) -> list[tuple[str, ...]]:
    """Write a row per line with a cell per result; a line that no result has is left out."""
    found = [(line.name, *(line.cell(each) for each in results)) for line in lines]
    return [tuple(cell or MISSING for cell in row) for row in found if any(cell is not None for cell in row[1:])]


_SUMMARY: Final[tuple[Line, ...]] = (
    Line("aggregated score", "scores", score_cell),
    Line("agreement with the verdict", "scores.agreement", "share"),
    Line("Krippendorff's alpha", "krippendorff_alpha", "number"),
    Line("instances", "scores.num_instances", "count"),
    Line("clusters", "scores.num_clusters", "count"),
    Line("no score", "scores.num_unscored", "count"),
    Line("NA", "scores.num_na", "count"),
    Line("votes", "num_votes", "count"),
    Line("unscored votes", "scores.unscored_counts.unscored_votes", "count"),
    Line("abstentions", "num_abstentions", "count"),
)
_COMPARED: Final[tuple[Line, ...]] = (
    Line("references", "num_references", "count"),
    Line("compared", "num_compared", "count"),
    Line("accuracy", "accuracy", "share"),
    Line("within one level", "adjacent_accuracy", "share"),
    Line("Cohen's kappa", "cohen_kappa", "number"),
    Line("quadratic-weighted kappa", "quadratic_weighted_kappa", "number"),
)
_ERRORS: Final[tuple[Line, ...]] = (
    Line("root mean square error", "errors.root_mean_square", "number"),
    Line("mean absolute error", "errors.mean_absolute", "number"),
    Line("bias", "errors.bias", "difference"),
)


def vote_summary_table(title: str, summary: VoteSummary, notes: Sequence[str]) -> TextTable:
    """Make the table of recorded votes: one measure per row."""
    rows = _rows([line for line in _SUMMARY if line.name != "clusters" or summary.scores.num_clusters], summary)
    rows += [(f"selected {label!r}", format_count(count)) for label, count in summary.selections]
    if compared := summary.comparison:
        rows += _rows((*_COMPARED, *(_ERRORS if compared.errors else ())), compared)
    return TextTable(
        title=title,
        headers=("measure", f"value [{format_level(summary.level)}]"),
        rows=tuple(rows),
        notes=(*_missing_reasons(summary), *notes),
        kind="scores",
    )


def _missing_reasons(summary: VoteSummary) -> Iterator[str]:
    """Say why a measure is missing, where one is, and what unscored votes could change."""
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
    """Make the table of a confusion matrix; its last label stands for what is missing."""
    rows = tuple((label, *map(format_count, row)) for label, row in zip(labels, counts, strict=True))
    return TextTable(title=title, headers=("", *labels), rows=rows, kind="confusion")


def pairs_of_raters_table(
    title: str, pairs: Sequence[RaterPair], panels: Sequence[PanelAgreement], notes: Sequence[str], *, level: float
) -> TextTable:
    """Make a table with a row per pair, and the agreement of all beneath it."""
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
    rows = {(f"{pair.first} – {pair.second}", f"{pair.kinds[0]}–{pair.kinds[1]}"): pair for pair in pairs}
    said: list[str] = []
    for panel in panels:
        alpha, of = panel.krippendorff_alpha, f"Krippendorff's alpha of the {len(panel.raters)} {panel.name}"
        if isinstance(alpha, Missing):
            said.append(f"{of}: undefined: {alpha.reason}.")
        else:
            said.append(f"{of} ({alpha.weighting}, {alpha.n_units} instances): {format_interval(alpha)}.")
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        if isinstance(pair.cohen_kappa, Missing):
            reasons.setdefault(pair.cohen_kappa.reason, []).append(f"{pair.first} – {pair.second}")
    said += [f"No kappa for {', '.join(names)}: {reason}." for reason, names in reasons.items()]
    return measures_table(title, ("raters", "kind"), rows, columns, (*said, *notes), kind="raters")


def judges_table(agreement: JudgesAgreement, *, level: float) -> TextTable:
    """Make the table of how far the judges agree on one criterion."""
    title = f"How far the judges agree on {agreement.criterion!r}"
    return pairs_of_raters_table(title, agreement.pairs, (agreement.all_judges,), (), level=level)


def panel_tables(reports: Sequence[tuple[tuple[str, str], PanelReport]], *, level: float) -> tuple[TextTable, ...]:
    """Make the table of whole panels and, where there are few cells, that of the judges; nothing without reports.

    Args:
        reports: ``((system, criterion), report)``.
        level: The level of the intervals.
    """
    if not reports:
        return ()
    on_errors = all(report.correlated == "errors" for _, report in reports)

    def kappas(report: PanelReport) -> str:
        found = [pair.kappa.estimate for pair in report.pairs if isinstance(pair.kappa, Agreement)]
        return format_range(min(found, default=None), max(found, default=None))

    columns: tuple[Column, ...] = (
        Column("votes", "num_votes"),
        Column("left out", "num_left_out"),
        Column(f"agreement [{format_level(level)}]", "agreement"),
        Column("alpha", "alpha"),
        Column("kappas", kappas),
        Column(
            "effective judges" if on_errors else "effective votes",
            lambda report: format_interval(measure_at(report, "effective.effective")),
        ),
    )
    notes = list(dict.fromkeys(note for _, report in reports for note in report.notes))
    if left_out := sum(report.num_left_out or 0 for _, report in reports):
        made = sum(report.num_votes for _, report in reports)
        notes.append(f"Of the {made + left_out} draws of the full grid {left_out} were not made.")
    few = len(reports) <= MOST_BY_JUDGE
    notes += [] if few else ["Judge by judge: table.panel(system, criterion)."]
    labels, title = ("system", "criterion"), "What the votes say about the judges"
    panels = measures_table(title, labels, reports, columns, notes, kind="panel")
    if not few:
        return (panels,)
    judges = {(*cell, judge.judge_id): judge for cell, report in reports for judge in report.judges}
    columns = (
        Column("score", "mean"),
        Column("equal draws", lambda judge: format_share(judge.stability.same_option)),
        Column("spread", lambda judge: format_interval(judge.stability.spread)),
        Column("flips", lambda judge: format_share(judge.stability.flip_rate)),
        Column("score without it", "change_without"),
    )
    said = "The last column is the score of the panel without the judge, less that of the whole panel."
    notes = [said] if any(judge.change_without for judge in judges.values()) else []
    return panels, measures_table("Judge by judge", (*labels, "judge"), judges, columns, notes, kind="judges")


def choices_table(found: Sequence[ChoiceReliability]) -> TextTable:
    """Make the table of Grade Scores of every judge and prompt on one criterion, with and without the unrelated one."""
    several, unrelated = len({each.judge_id for each in found}) > 1, any(each.unrelated for each in found)
    level = format_level(float(found[0].grading.level))
    rows: dict[tuple[str, ...], object] = {}
    notes: list[str] = []
    for each in found:
        chosen = f"chosen {format_estimate(each.unrelated.chosen, share=True)}" if each.unrelated else "no"
        name = (*([each.judge_id] if several else []), each.prompt)
        rows[*name, chosen] = each
        notes += [f"{', '.join(name)}, unrelated {chosen}: {said}." for said in _on_places(each)]
    notes += [GRADED_ON_OTHERS] if any(each.grading.unanswered for each in found) else []
    columns = [
        Column("LLM score", lambda each: format_estimate(each.grading.llm_score)),
        Column("choice score", lambda each: format_estimate(each.grading.choice_score)),
        Column(f"Grade Score [{level}]", lambda each: format_interval(each.grading.grade_score)),
        Column("random judge", lambda each: format_number(each.grading.chance)),
        Column(f"corrected [{level}]", lambda each: format_interval(each.grading.chance_corrected)),
        Column("answered", lambda each: format_estimate(each.grading.answered, share=True)),
        Column("n", lambda each: format_count(each.grading.num_scored)),
    ]
    if unrelated:
        columns.append(
            Column(
                f"corrected, change by it [{level}]",
                lambda each: format_interval(each.unrelated and each.unrelated.corrected_difference, signed=True),
            )
        )
    title = f"The best of several on {found[0].criterion!r}, asked in all rotations"
    labels = (*(["judge"] if several else []), "prompt", "unrelated")
    return measures_table(title, labels, rows, columns, notes, kind="choices")


def _on_places(found: ChoiceReliability) -> Iterator[str]:
    """Say which place attracts the judge, where tests say that the places differ and that this one is ahead.

    The first is the test that all places are chosen alike; the second the binomial test of the most frequent place
    against the next, with Bonferroni's factor for all pairs of places, since the data pick the two.
    """
    alpha = 1 - float(found.grading.level)
    for histograms in found.grading.histograms:
        places = histograms.places
        if isinstance(places, Missing) or places.instance_p_value >= alpha:
            continue
        ranked = sorted(range(len(places.counts)), key=lambda place: -places.counts[place])
        most, following = (places.counts[place] for place in ranked[:2])
        ahead = binomtest(most, most + following).pvalue * len(ranked) * (len(ranked) - 1) / 2 < alpha
        yield (
            f"of {histograms.n_options} places number {ranked[0] + 1} is chosen{' most,' if ahead else ''} in "
            f"{format_percent(most / sum(places.counts))} of {format_count(sum(places.counts), 'answer')} "
            f"({state_p_value(places.instance_p_value)} if all are chosen alike)"
        )


def criterion_tables(results: Sequence[CriterionReliability]) -> tuple[TextTable, ...]:
    """Make all tables on one criterion: the measures of all judges, their flips, and a matrix for each judge.

    Args:
        results: One per judge, all on the same criterion.
    """
    first, level = results[0], format_level(results[0].level)
    judges = tuple(result.judge_id for result in results)
    clusters = "" if first.num_clusters is None else f" of {format_count(first.num_clusters, 'cluster')}"
    rows = _rows(LINES, *results)
    measures = TextTable(
        kind="measures",
        title=(
            f"{'Comparisons' if first.mode == 'compare' else 'Assessments'} on {first.criterion!r}: "
            f"{format_count(first.num_questions, 'question')} on {format_count(first.num_instances, 'instance')}"
            f"{clusters}, {format_count(first.num_samples, 'draw')} of each prompt"
        ),
        headers=(f"measure [{level}]", *judges),
        rows=tuple(row for row in rows if set(row[1:]) != {MISSING}),
        notes=tuple(
            f"{result.judge_id}: {note}" if len(results) > 1 else note
            for result in results
            for note in _notes_on_judge(result)
        ),
    )
    tables = [measures]
    if labels := next((list(result.flips) for result in results if result.flips), []):
        columns = [
            [f"{format_share(each.flip_rate)} of {format_count(each.n_selected)}" for each in result.flips.values()]
            if result.flips
            else [MISSING] * len(labels)
            for result in results
        ]
        tables.append(
            TextTable(
                kind="flips",
                title=f"How often an option of {first.criterion!r} is abandoned in another order",
                headers=(f"option [{level}]", *judges),
                rows=tuple(zip(labels, *columns, strict=True)),
            )
        )
    for result in results:
        if not isinstance(result.people, Missing):
            title = f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)"
            tables.append(labels_table(title, result.people.labels, result.people.confusion_matrix))
    return tuple(tables)


def _notes_on_judge(result: CriterionReliability) -> Iterator[str]:
    said = findings(result)
    yield from (f"{found.measure} {found.text}." for found in said if found.measured)
    if unmeasured := [f"{found.measure} ({found.text})" for found in said if not found.measured]:
        yield f"Not measured: {'; '.join(unmeasured)}."
    yield from unscored_note(result.replies.unscored_counts)
    yield from readings_note([result.replies.readings])
    if result.num_missing:
        were = "was" if result.num_missing == 1 else "were"
        yield f"{format_count(result.num_missing, 'question')} {were} not asked, as a response is missing."
    if not isinstance(result.people, Missing) and result.num_questions > result.num_instances:
        yield (
            f"The intervals of kappa and alpha take the {format_count(result.num_questions)} questions as independent; "
            "those that share an instance may not be."
        )
