"""A report on judges as tables of texts: the numbers side by side, the words beneath, flips and matrices after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenhand.judge_reliability import (
    NO_NUMBER,
    ChoiceReliability,
    CriterionReliability,
    JudgesAgreement,
    finding_on_choices,
    findings,
    findings_on_judges,
)
from evenhand.numbers import (
    MISSING,
    format_cost,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_p_value,
    format_percent,
    format_share,
)
from evenhand.recorded import Undefined
from evenhand.reports.recorded_votes import format_measure, pairs_of_raters_table
from evenhand.results.render import TextTable
from evenhand.scoring import readings_note, unread_choices_note
from evenhand.statistics import Interval

Cell = Callable[[CriterionReliability], str]


def criterion_tables(results: Sequence[CriterionReliability]) -> tuple[TextTable, ...]:
    """All tables on one criterion: the measures of all judges, their flips, and a matrix for each judge.

    Args:
        results: One a judge, all on the same criterion.
    """
    tables = [_measures_table(results)]
    if any(not isinstance(result.flips, Undefined) for result in results):
        tables.append(_flips_table(results))
    return (*tables, *(_confusion_table(result) for result in results if not isinstance(result.people, Undefined)))


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
                f"chosen {_percentage(each.unrelated_chosen)}" if each.with_unrelated else "no",
                _estimate(each.llm_score),
                _estimate(each.choice_score),
                format_measure(each.grade_score),
                format_measure(each.chance_corrected),
                _percentage(each.answered),
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


def _measures_table(results: Sequence[CriterionReliability]) -> TextTable:
    first = results[0]
    act = "Comparisons" if first.mode == "compare" else "Assessments"
    rows = [(name, *(cell(result) for result in results)) for name, cell in _MEASURES.items()]
    shown = tuple(row for row in rows if any(cell != MISSING for cell in row[1:]))
    return TextTable(
        title=(
            f"{act} on {first.criterion!r}: {format_count(first.num_questions, 'question')} on "
            f"{format_count(first.num_instances, 'instance')}{_of_clusters(first)}, "
            f"{format_count(first.num_samples, 'draw')} of each prompt"
        ),
        headers=(f"measure [{format_level(first.level)}]", *(result.judge_id for result in results)),
        rows=shown,
        notes=tuple(note for result in results for note in _notes(result, named=len(results) > 1)),
    )


def _of_clusters(result: CriterionReliability) -> str:
    return "" if result.num_clusters is None else f" of {format_count(result.num_clusters, 'cluster')}"


def _notes(result: CriterionReliability, *, named: bool) -> list[str]:
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
    if not isinstance(result.people, Undefined) and result.num_questions > result.num_instances:
        notes.append(
            f"{prefix}The intervals of kappa and alpha take the {format_count(result.num_questions)} questions as "
            "independent; those that share an instance may not be."
        )
    return notes


def _share(found: Interval | Undefined | None) -> str:
    return format_share(found if isinstance(found, Interval) else None)


def _estimate(found: Interval | Undefined) -> str:
    return format_estimate(found if isinstance(found, Interval) else None)


def _percentage(found: Interval | Undefined) -> str:
    return format_estimate(found if isinstance(found, Interval) else None, share=True)


def _position(measure: Callable[[CriterionReliability], Interval | None], *, share: bool) -> Cell:
    def cell(result: CriterionReliability) -> str:
        if isinstance(result.position, Undefined):
            return MISSING
        return format_share(measure(result)) if share else format_interval(measure(result), signed=True)

    return cell


def _fairness(result: CriterionReliability) -> Interval | None:
    return None if isinstance(result.position, Undefined) else result.position.preference_fairness


def _first(result: CriterionReliability) -> Interval | None:
    return None if isinstance(result.position, Undefined) else result.position.first_shown_share


def _consistency(result: CriterionReliability) -> Interval | None:
    return None if isinstance(result.position, Undefined) else result.position.position_consistency


def _published_consistency(result: CriterionReliability) -> str:
    found = None if isinstance(result.position, Undefined) else result.position.published_position_consistency
    return format_percent(found)


def _published_stability(result: CriterionReliability) -> str:
    found = None if isinstance(result.repetition, Undefined) else result.repetition.published_stability
    return format_percent(found)


def _position_p(result: CriterionReliability) -> str:
    p_value = None if isinstance(result.position, Undefined) else result.position.p_value
    return format_p_value(p_value)


def _checked(result: CriterionReliability) -> str:
    if isinstance(result.position, Undefined):
        return MISSING
    return f"{format_count(result.position.n_checked)} ({format_count(result.position.n_lone)} lone)"


def _repetition(result: CriterionReliability) -> str:
    return MISSING if isinstance(result.repetition, Undefined) else format_share(result.repetition.pair_agreement)


def _spread(result: CriterionReliability) -> str:
    return format_interval(result.spread if isinstance(result.spread, Interval) else None, digits=3)


def _grade_score(result: CriterionReliability) -> str:
    return MISSING if isinstance(result.grade_score, Undefined) else format_interval(result.grade_score.grade_score)


def _corrected(result: CriterionReliability) -> str:
    if isinstance(result.grade_score, Undefined):
        return MISSING
    return format_interval(result.grade_score.chance_corrected)


def _verbosity(result: CriterionReliability) -> str:
    if isinstance(result.verbosity, Undefined):
        return MISSING
    return format_share(result.verbosity.win_probability_at_double.interval)


def _slope(result: CriterionReliability) -> str:
    found = None if isinstance(result.verbosity, Undefined) else result.verbosity.slope.interval
    return format_interval(found, signed=True)


def _fixed_verbosity(result: CriterionReliability) -> str:
    if isinstance(result.verbosity_given_people, Undefined):
        return MISSING
    return format_share(result.verbosity_given_people.win_probability_at_double.interval)


def _people(measure: str, *, share: bool = False) -> Cell:
    def cell(result: CriterionReliability) -> str:
        if isinstance(result.people, Undefined):
            return MISSING
        return format_measure(getattr(result.people, measure), share=share)

    return cell


def _overconfidence(result: CriterionReliability) -> str:
    if isinstance(result.confidences, Undefined):
        return MISSING
    return format_interval(result.confidences.calibration.overconfidence, signed=True)


def _calibration_error(result: CriterionReliability) -> str:
    if isinstance(result.confidences, Undefined):
        return MISSING
    return format_interval(result.confidences.calibration.debiased_error)


def _brier(result: CriterionReliability) -> str:
    return MISSING if isinstance(result.confidences, Undefined) else format_interval(result.confidences.brier.score)


def _unscored(result: CriterionReliability) -> str:
    listed = ", ".join(f"{format_count(each.count)} {each.reason}" for each in result.replies.unscored)
    return f"{format_count(result.replies.num_votes)} ({listed or 'all scored'})"


def _calls(result: CriterionReliability) -> str:
    return f"{format_count(result.replies.calls)} + {format_count(result.replies.cached)}"


def _tokens(result: CriterionReliability) -> str:
    return format_count(result.replies.prompt_tokens + result.replies.completion_tokens)


def _cost(result: CriterionReliability) -> str:
    return format_cost(result.replies.cost)


_MEASURES: dict[str, Cell] = {
    "position consistency": _position(_consistency, share=True),
    "  as Shi et al. count": _published_consistency,
    "  pairs checked": _checked,
    "preference fairness (− first, + second)": _position(_fairness, share=False),
    "  inconsistent towards the first": _position(_first, share=True),
    "  p of no preference": _position_p,
    "repeated draws agree": _repetition,
    "  mode, as Shi et al. count": _published_stability,
    "spread of draws": _spread,
    "Grade Score": _grade_score,
    "  corrected for chance": _corrected,
    "wins at twice the length": _verbosity,
    "  log-odds for each e-fold": _slope,
    "  people's preference held fixed": _fixed_verbosity,
    "verdicts as people": _people("verdict_accuracy", share=True),
    "  single votes": _people("vote_accuracy", share=True),
    "  right in every order": _people("all_orders_right", share=True),
    "  Cohen's kappa": _people("cohen_kappa"),
    "  quadratic-weighted kappa": _people("quadratic_weighted_kappa"),
    "  Krippendorff's alpha": _people("krippendorff_alpha"),
    "overconfidence": _overconfidence,
    "  calibration error less noise": _calibration_error,
    "  Brier score": _brier,
    "parse rate": lambda result: _share(result.replies.parse_rate),
    "  votes (unscored)": _unscored,
    "  re-asks": lambda result: format_count(result.replies.num_reasks),
    "calls + from the journal": _calls,
    "  tokens": _tokens,
    "  cost": _cost,
}


def _flips_table(results: Sequence[CriterionReliability]) -> TextTable:
    """How often each option is abandoned in another order, and of how many questions that selected it."""
    rows = []
    labels = next(
        [each.label for each in result.flips] for result in results if not isinstance(result.flips, Undefined)
    )
    for place, label in enumerate(labels):
        cells = []
        for result in results:
            flips = None if isinstance(result.flips, Undefined) else result.flips[place].flips
            cells.append(
                MISSING if flips is None else f"{format_share(flips.flip_rate)} of {format_count(flips.n_selected)}"
            )
        rows.append((label, *cells))
    return TextTable(
        title=f"How often an option of {results[0].criterion!r} is abandoned in another order",
        headers=(f"option [{format_level(results[0].level)}]", *(result.judge_id for result in results)),
        rows=tuple(rows),
    )


def _confusion_table(result: CriterionReliability) -> TextTable:
    people = result.people
    if isinstance(people, Undefined):
        return TextTable(title="", headers=(), rows=())
    return TextTable(
        title=f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)",
        headers=("", *people.labels),
        rows=tuple(
            (label, *map(format_count, counts))
            for label, counts in zip(people.labels, people.confusion_matrix, strict=True)
        ),
    )
