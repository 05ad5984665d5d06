"""The reliability of judges and people, from their votes alone: no call is made.

:func:`all_pairs` and :func:`panels` compare raters, :func:`summarize_votes` adds the scores of recorded votes, and
:func:`against_gold` compares verdicts with labels and numbers of people. :class:`Questions` are the questions on a
criterion with their votes, and :func:`criterion_reliability` measures position, repetition, length, people and
confidences of one judge.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeVar

import numpy as np

from evenhand.aggregation.verdict import Levels, VoteRules
from evenhand.criteria import Criterion, yes_no_criterion
from evenhand.criteria import Scale as ScaleName
from evenhand.data.fields import NO_VERDICT, is_abstention
from evenhand.data.plain import by_key, number_of
from evenhand.errors import EstimationError, InvalidInputError, did_you_mean
from evenhand.numbers import (
    MISSING,
    Missing,
    by_reason,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_percent,
    format_range,
    format_score,
    measure,
    or_missing,
)
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    Column,
    Line,
    Remark,
    measure_at,
    measures_table,
    readings_note,
    table_rows,
    unscored_note,
)
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.scoring import ReplyMeasures, ScoreSummary, reply_measures, summarize
from evenhand.statistics.agreement import (
    ALPHA_METRICS,
    Calibration,
    Correlations,
    OptionRates,
    ValueErrors,
    accuracy,
    balanced_accuracy,
    calibration,
    cohen_kappa,
    confusion_matrix,
    correlations,
    correlations_within,
    krippendorff_alpha,
    option_rates,
    value_errors,
)
from evenhand.statistics.consistency import (
    UNSCORED,
    PositionBias,
    RepetitionStability,
    position_bias,
    repetition_stability,
)
from evenhand.statistics.intervals import FloatArray, Interval, IntervalLevel, Level, ratio_intervals
from evenhand.statistics.strengths import VerbositySlope, verbosity_slope
from evenhand.votes import Verdict, Vote

Result = TypeVar("Result")
RaterKind = Literal["judge", "human"]
TIE = 0.5
OPTION_RATES = ("precision", "recall", "f1")


def defined(statistic: Callable[[], Result]) -> Result | Missing:
    """Compute a statistic, or give the reason why the data do not define it."""
    try:
        return statistic()
    except EstimationError as error:
        return Missing(str(error))


def as_array(numbers: Iterable[float | None]) -> FloatArray:
    """Make an array of numbers, NaN where there is none."""
    return np.array([np.nan if number is None else number for number in numbers], dtype=float)


SIDES = ("first", "second")
FIRST, SECOND, NEITHER, NOT_APPLICABLE = range(4)
SIDE_SCORES = {FIRST: 1.0, SECOND: 0.0, NEITHER: TIE}


@dataclass(frozen=True, slots=True)
class Scale:
    """The categories of a criterion, as numbers: its options, or the sides of a comparison.

    Sides are 0 if the first response is better, 1 if the second is, 2 for neither, 3 for not applicable; in a graded
    comparison the side counts, not the grade. People can find a tie where the judge was offered none, and so can the
    verdict of two orders.

    Attributes:
        kind: The scale of the criterion.
        labels: The labels of the categories: the options in the criterion's order, with the tie of a comparison,
            whether an option names it or not; or the names of the sides.
        levels: Per category its level from 0 for the lowest; None for NA. Categories of equal value are one level;
            without values the options count in the order in which they are listed.
        values: Per category its value, None if it has none.
        places: Per option of the criterion its category.
        bounds: The least and the greatest score.
    """

    kind: ScaleName
    labels: tuple[str, ...]
    levels: tuple[int | None, ...]
    values: tuple[float | None, ...]
    places: tuple[int, ...]
    bounds: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, criterion: Criterion, sides: tuple[str, str] | None = None) -> Scale:
        """Number the options of a criterion, or the sides of a comparison whose responses are called by these names."""
        labels, values = criterion.labels, [option.value for option in criterion.options]
        places: Iterable[int] = range(len(labels))
        given: Sequence[float | None] = values if criterion.has_values else [*range(len(labels))]
        order = [None if option.na else number for option, number in zip(criterion.options, given, strict=True)]
        if criterion.scale == "pairwise" and sides is not None:
            na = [option.label for option in criterion.options if option.na]
            numbers = {1: FIRST, 0: NEITHER, -1: SECOND}
            places = [NOT_APPLICABLE if value is None else numbers[Levels.side(value)] for value in order]
            labels, values = (*sides, "tie", *na[:1]), [*SIDE_SCORES.values(), *[None for _ in na[:1]]]
            order = values
        elif criterion.scale == "pairwise" and criterion.has_values and TIE not in order:
            labels, values, order = (*labels, "tie"), [*values, TIE], [*order, TIE]
        ranked = sorted({value for value in order if value is not None})
        return cls(
            kind=criterion.scale,
            labels=labels,
            levels=tuple(None if value is None else ranked.index(value) for value in order),
            values=tuple(values),
            places=tuple(places),
            bounds=criterion.score_range,
        )

    @property
    def compares(self) -> bool:
        """Whether the criterion is of two responses."""
        return self.kind == "pairwise"

    @property
    def ordinal(self) -> bool:
        """Whether the options have an order, so that levels can be near to each other."""
        return self.kind in {"ordinal", "pairwise"}

    @property
    def ratings(self) -> tuple[float | None, ...]:
        """Per option what it is in an agreement where NA is missing: a value or level if options have an order."""
        places: Sequence[float | None] = range(len(self.labels))
        if self.ordinal:
            scored = [value for value, level in zip(self.values, self.levels, strict=True) if level is not None]
            places = self.levels if None in scored else self.values
        return tuple(None if level is None else place for place, level in zip(places, self.levels, strict=True))

    @property
    def categories(self) -> list[float]:
        """All ratings, used or not, in order."""
        return sorted({rating for rating in self.ratings if rating is not None})

    def place_of(self, selected: Vote | Verdict) -> int | None:
        """Find the category that a vote or verdict selects; None for none. No option may name the tie of a verdict."""
        if selected.selected_index is not None:
            return self.places[selected.selected_index]
        return self.labels.index("tie") if selected.selected_label == "tie" else None

    def as_ratings(self, places: FloatArray) -> FloatArray:
        """Look up what agreement beyond chance is computed from, NaN where nothing or NA was selected."""
        return _look_up(self.ratings, places)

    def alpha(self, ratings: FloatArray, *, level: Level) -> Interval | Missing:
        """Compute Krippendorff's alpha of ratings, (n_instances, n_raters), by the metric that belongs to the scale."""
        metric = ALPHA_METRICS[self.kind]
        return defined(lambda: krippendorff_alpha(ratings, metric=metric, categories=self.categories, level=level))

    def kappa(self, first: FloatArray, second: FloatArray, *, level: Level) -> Interval | Missing:
        """Compute Cohen's kappa of two raters' ratings: quadratic-weighted where the options have an order."""
        weights: Literal["quadratic"] | None = "quadratic" if self.ordinal else None
        return defined(lambda: cohen_kappa(first, second, weights=weights, categories=self.categories, level=level))


def _look_up(numbers: Sequence[float | None], places: FloatArray) -> FloatArray:
    table = as_array([*numbers, None])
    found: FloatArray = table[np.where(np.isnan(places), -1, places).astype(int)]
    return found


Selections = Mapping[str, Sequence[int | None]]
"""Name of a judge or person -> per instance the option chosen; None if nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """The agreement of the labels of two raters, on the instances that both rated.

    Attributes:
        num_compared: Instances that both rated. NA is a rating like any other here.
        accuracy: The share on which both chose the same option: where the first is right, the second's accuracy.
        adjacent_accuracy: The share on which they are at most one level apart; None if options have no order.
        cohen_kappa: Beyond chance, over all options.
        quadratic_weighted_kappa: The same over all levels, used or not, without the instances that either found NA;
            None if options have no order.
    """

    num_compared: int = measure("count")
    accuracy: Interval | Missing = measure("share", always=True)
    adjacent_accuracy: Interval | Missing | None = measure("share", always=True)
    cohen_kappa: Interval | Missing = measure("number", always=True)
    quadratic_weighted_kappa: Interval | Missing | None = measure("number", always=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterPair(LabelAgreement):
    """The agreement of two raters.

    Attributes:
        first: The person's name, where one of the two is a person.
        second: The other's name.
        kinds: ``human`` and ``judge``, of the first and the second.
    """

    first: str
    second: str
    kinds: tuple[RaterKind, RaterKind]


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """The agreement of several raters.

    Attributes:
        name: ``judges``, ``humans`` or ``judges and humans``.
        raters: Their names.
        metric: The distance of two options for alpha: ``nominal``, ``ordinal`` or ``interval``.
        num_instances: Instances that at least two of them rated.
        krippendorff_alpha: At the criterion's level of measurement; abstentions and NA are missing.
    """

    name: str
    raters: tuple[str, ...]
    metric: str
    num_instances: int
    krippendorff_alpha: Interval | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(LabelAgreement):
    """Verdicts against the labels that are known to be right.

    Attributes:
        num_references: Instances with a label that is right.
        accuracy_if_unscored_0: The accuracy if every such instance without a verdict were wrong.
        accuracy_if_unscored_1: The same if they were right.
        labels: Of rows and columns of the confusion matrix; the last stands for what is missing.
        confusion_matrix: Rows are the right labels, columns verdicts; the cells add up to all instances.
        errors: The errors of scores against the values of the right labels, in their units; None if not measured.
    """

    num_references: int = measure("count")
    accuracy_if_unscored_0: float | Missing = measure("share")
    accuracy_if_unscored_1: float | Missing = measure("share")
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]
    errors: ValueErrors | Missing | None = None

    def notes_on_unscored(self) -> tuple[str, ...]:
        """Say how far unscored verdicts could move the accuracy, if there are any."""
        least, most = self.accuracy_if_unscored_0, self.accuracy_if_unscored_1
        if self.num_compared >= self.num_references or isinstance(least, Missing) or isinstance(most, Missing):
            return ()
        limits = f"{format_percent(least)} to {format_percent(most)}"
        return (f"Accuracy if every instance without a verdict were wrong or right: {limits}.",)


def label_agreement(truth: FloatArray, judged: FloatArray, scale: Scale, *, level: Level) -> dict[str, Any]:
    """Compute the fields of :class:`LabelAgreement` from places of options; the first is who counts as right."""
    ordinal = scale.ordinal
    far = len(scale.labels) + 1  # NA is right where the truth is NA, and no level is so near to it as to be adjacent
    levels = [far if level is None else level for level in scale.levels]
    near = _look_up(levels, truth), _look_up(levels, judged)
    rated = scale.as_ratings(truth), scale.as_ratings(judged)
    return {
        "num_compared": int((~np.isnan(truth) & ~np.isnan(judged)).sum()),
        "accuracy": defined(lambda: accuracy(truth, judged, level=level)),
        "adjacent_accuracy": defined(lambda: accuracy(*near, within=1, level=level)) if ordinal else None,
        "cohen_kappa": defined(lambda: cohen_kappa(truth, judged, categories=range(len(scale.labels)), level=level)),
        "quadratic_weighted_kappa": scale.kappa(*rated, level=level) if ordinal else None,
    }


def compare_labels(truth: FloatArray, judged: FloatArray, scale: Scale, *, level: Level) -> dict[str, Any]:
    """Compute the fields of :class:`Comparison` from places of options."""
    agreement = label_agreement(truth, judged, scale, level=level)
    right, references = int((truth == judged).sum()), int((~np.isnan(truth)).sum())
    if_right = right + references - agreement["num_compared"]
    missing = "(unscored)" if "unscored" in scale.labels else "unscored"
    return {
        **agreement,
        "num_references": references,
        "accuracy_if_unscored_0": right / references if references else Missing(NO_GOLD),
        "accuracy_if_unscored_1": if_right / references if references else Missing(NO_GOLD),
        "labels": (*scale.labels, missing),
        "confusion_matrix": confusion_matrix(truth, judged, len(scale.labels)),
    }


def all_pairs(judges: Selections, humans: Selections, scale: Scale, *, level: Level) -> tuple[RaterPair, ...]:
    """Compare every two raters: humans and judges, then humans, then judges; in each part in the order given."""
    people: list[tuple[str, RaterKind, FloatArray]] = [(name, "human", as_array(own)) for name, own in humans.items()]
    models: list[tuple[str, RaterKind, FloatArray]] = [(name, "judge", as_array(own)) for name, own in judges.items()]
    pairs = [*product(people, models), *combinations(people, 2), *combinations(models, 2)]
    return tuple(
        RaterPair(first=first, second=second, kinds=(one, other), **label_agreement(truth, judged, scale, level=level))
        for (first, one, truth), (second, other, judged) in pairs
    )


def panels(judges: Selections, humans: Selections, scale: Scale, *, level: Level) -> tuple[PanelAgreement, ...]:
    """Compare the judges, the humans, and all of them, as far as there are two."""
    groups = {"judges": judges, "humans": humans}
    if humans and judges:
        groups["judges and humans"] = {**judges, **humans}
    found = []
    for name, members in groups.items():
        if len(members) > 1:
            ratings = scale.as_ratings(np.column_stack([as_array(selected) for selected in members.values()]))
            rated, metric = int(((~np.isnan(ratings)).sum(axis=1) >= 2).sum()), ALPHA_METRICS[scale.kind]
            found.append(PanelAgreement(name, tuple(members), metric, rated, scale.alpha(ratings, level=level)))
    return tuple(found)


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
    notes_on_alpha: list[str] = []
    for panel in panels:
        alpha, found = panel.krippendorff_alpha, f" ({panel.metric}, {panel.num_instances} instances): "
        found = f": undefined: {alpha.reason}" if isinstance(alpha, Missing) else found + format_interval(alpha)
        notes_on_alpha.append(f"Krippendorff's alpha of the {len(panel.raters)} {panel.name}{found}.")
    kappas = by_reason((f"{pair.first} – {pair.second}", pair.cohen_kappa) for pair in pairs)
    undefined = [f"No kappa for {names}: {reason}." for reason, names in kappas.items()]
    notes = (*notes_on_alpha, *undefined, *notes)
    return measures_table(title, ("raters", "kind"), rows, columns, notes, kind="raters")


def labels_table(title: str, compared: Comparison) -> TextTable:
    """Make the table of a confusion matrix; its last label stands for what is missing."""
    matrix = zip(compared.labels, compared.confusion_matrix, strict=True)
    rows = tuple((label, *map(format_count, counts)) for label, counts in matrix)
    return TextTable(title=title, headers=("", *compared.labels), rows=rows, kind="confusion")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSummary:
    """The aggregated result of the recorded votes on ``scores.num_instances`` instances.

    Attributes:
        scores: The aggregated score and what it rests on.
        krippendorff_alpha: Of the judges, at the criterion's level of measurement; abstentions and NA are missing.
        num_votes: Votes and abstentions of those who were asked.
        num_abstentions: Votes of None: asked, but no answer. Who was not asked has no vote, and a call that failed
            is neither.
        num_out_of_scale: Votes that say no option and were set aside.
        num_na_votes: Votes for an NA option.
        selections: Label -> on how many instances it was selected.
        comparison: Against the references.
        level: The level of the intervals.
    """

    scores: ScoreSummary
    krippendorff_alpha: Interval | Missing = measure("number", always=True)
    num_votes: int = measure("count")
    num_abstentions: int = measure("count")
    num_out_of_scale: int = measure("count")
    num_na_votes: int = measure("count")
    selections: tuple[tuple[str, int], ...]
    comparison: Comparison | Missing = measure("number", name="")
    level: float


def summarize_votes(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    references: Sequence[int | None] | None = None,
    *,
    level: Level,
) -> VoteSummary:
    """Summarize scores, agreement and, where there are references, how often the verdicts are right.

    Args:
        verdicts: One per instance, on recorded votes (one order and one sample per judge).
        criterion: The criterion of the votes.
        references: Per instance the option that is right, None if it is not known.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the
            instances.
    """
    scale = Scale.of(criterion)
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    selected = [verdict.selected_index for verdict in verdicts]
    places = np.full((len(verdicts), max((len(verdict.votes) for verdict in verdicts), default=0)), np.nan)
    for row, verdict in enumerate(verdicts):  # those of instances with fewer votes than others are missing
        places[row, : len(verdict.votes)] = as_array(vote.selected_index for vote in verdict.votes)
    truth = as_array([None] * len(verdicts) if references is None else references)
    right, values = _look_up(scale.values, truth), as_array(verdict.aggregated_value for verdict in verdicts)
    return VoteSummary(
        scores=summarize(verdicts, criterion.limits, level=level),
        krippendorff_alpha=scale.alpha(scale.as_ratings(places), level=level),
        num_votes=len(votes),
        num_abstentions=sum(vote.unscored_reason == "abstained" for vote in votes),
        num_out_of_scale=sum(vote.unscored_reason == "no_match" for vote in votes),
        num_na_votes=sum(vote.na for vote in votes),
        selections=tuple((label, selected.count(place)) for place, label in enumerate(scale.labels)),
        comparison=Missing("no instance has a reference")
        if np.isnan(truth).all()
        else Comparison(
            errors=defined(lambda: value_errors(right, values, level=level, bounds=scale.bounds)),
            **compare_labels(truth, as_array(selected), scale, level=level),
        ),
        level=float(level),
    )


_SUMMARY: Final = (
    Line("aggregated score", "scores", lambda scores: format_score(scores.score, scores.unscored_bounds)),
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
_LABELS: Final = (
    Line("accuracy", "accuracy", "share"),
    Line("within one level", "adjacent_accuracy", "share"),
    Line("Cohen's kappa", "cohen_kappa", "number"),
    Line("quadratic-weighted kappa", "quadratic_weighted_kappa", "number"),
)
_COUNTS: Final = (Line("references", "num_references", "count"), Line("compared", "num_compared", "count"))
_ERRORS: Final = (
    Line("root mean square error", "errors.root_mean_square", "score"),
    Line("mean absolute error", "errors.mean_absolute", "score"),
    Line("bias", "errors.bias", "difference"),
)
_CORRELATIONS: Final = (
    Line("Pearson's r", "pearson", "number"),
    Line("Spearman's rho", "spearman", "number"),
    Line("Kendall's tau-b", "kendall", "number"),
    Line("pairs in the right order", "pair_accuracy", "share"),
)


def measured_table(
    title: str,
    lines: Iterable[tuple[Line, object]],
    notes: Sequence[str],
    *,
    level: float,
    kind: str,
    errors: bool = False,
) -> TextTable:
    """Make a table with a row per measure, and say beneath it why measures are missing.

    Args:
        title: The title.
        lines: The measures, each with the result that has it.
        notes: Further notes.
        level: The level of the intervals.
        kind: The kind of the table.
        errors: Show standard errors too.
    """
    rows: list[tuple[str, ...]] = []
    values: list[tuple[str, object]] = []
    for line, result in lines:
        if (cell := line.cell(result)) is not None:
            value = measure_at(result, line.path)
            values.append((line.name, value))
            error = format_number(getattr(value, "standard_error", None), digits=3)
            rows.append((line.name, cell, error) if errors else (line.name, cell))
    limits = format_level(level)
    headers = ("measure", f"estimate [{limits}]", "standard error") if errors else ("measure", f"value [{limits}]")
    undefined = [f"{names}: {reason}." for reason, names in by_reason(values).items()]
    return TextTable(title, headers, tuple(rows), (*notes, *undefined), kind)


def vote_summary_table(title: str, summary: VoteSummary, notes: Sequence[str]) -> TextTable:
    """Make the table of recorded votes: one measure per row."""
    compared = summary.comparison
    lines: list[tuple[Line, object]] = [
        (line, summary) for line in _SUMMARY if line.name != "clusters" or summary.scores.num_clusters
    ]
    for label, number in summary.selections:
        lines.append((Line(f"selected {label!r}", "number", "count"), SimpleNamespace(number=number)))
    if not isinstance(compared, Missing):
        lines += [(line, compared) for line in (*_COUNTS, *_LABELS, *(_ERRORS if compared.errors else ()))]
        notes = (*compared.notes_on_unscored(), *notes)
    return measured_table(title, lines, notes, level=summary.level, kind="scores")


NO_GOLD = "no row has a gold label: name their column when judging, or give numbers, against_gold(gold=…)"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its votes, gold labels and properties.

    Attributes:
        instance: The row of the data; all questions of a row are of one cluster.
        verdict: With the votes: of all judges, or of the judge reported; None if a response is missing.
        label: The category that people chose, see :class:`Scale`; None if it is not known.
        lengths: The lengths of the responses of a comparison, in characters; none that is not known.
        systems: The systems that wrote them; empty if that is not known.
        cluster: What the row belongs to; None if rows do not depend on each other.
        selected: The category that the verdict of the result selects; None for none.
        score: The score in the result; None for none.
    """

    instance: int
    verdict: Verdict
    label: int | None = None
    lengths: tuple[int, ...] = ()
    systems: tuple[str, ...] = ()
    cluster: str | None = None
    selected: int | None = None
    score: float | None = None

    @property
    def together(self) -> Hashable:
        """The cluster, or the row where it is one of its own: questions that have it in common depend on each other."""
        return self.instance if self.cluster is None else self.cluster

    @property
    def draws(self) -> dict[int, dict[tuple[int, ...], Vote]]:
        """Sample -> order -> vote."""
        return {sample: {vote.order: vote for vote in own} for sample, own in self._by("sample").items()}

    @property
    def prompts(self) -> dict[tuple[int, ...], list[Vote]]:
        """Order -> its draws."""
        return self._by("order")

    def _by(self, name: str) -> dict[Any, list[Vote]]:
        return by_key((getattr(vote, name), vote) for vote in sorted(self.verdict.votes, key=lambda vote: vote.sample))


@dataclass(frozen=True, kw_only=True, repr=False)
class GoldComparison(Comparison, PrintedTables):
    """The result of ``table.against_gold()``. Each estimate has ``low``, ``high`` and a ``standard_error``.

    Attributes:
        title: The result and the gold compared.
        num_clusters: The number of units of the intervals: the rows or their clusters.
        balanced_accuracy: The mean recall of the gold labels that occur.
        options: Precision, recall and F1 of each option.
        overall: Correlations of scores over all rows.
        within_groups: The same averaged within groups.
        parameters: Level, resamples and seed of the intervals.
    """

    title: str
    num_clusters: int
    balanced_accuracy: Interval | Missing
    options: tuple[OptionRates, ...]
    overall: Correlations | Missing
    within_groups: Correlations | Missing
    parameters: Mapping[str, Any]

    def _lines(self) -> Iterator[tuple[Line, object]]:
        """Yield the measures, each with the result that has it."""
        yield from ((line, self) for line in (*_LABELS, Line("balanced accuracy", "balanced_accuracy", "share")))
        yield from ((line._replace(path=f"overall.{line.path}"), self) for line in _CORRELATIONS)
        for line in _CORRELATIONS:
            yield line._replace(name=f"within groups: {line.name}", path=f"within_groups.{line.path}"), self
        yield from ((line, self) for line in _ERRORS)
        for option in self.options:
            if option.num_gold + option.num_judged:
                yield from ((Line(f"{name} of {option.label}", name, "share"), option) for name in OPTION_RATES)

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return a row for each measure."""
        level = self.parameters["level"]
        return (
            measured_table(self.title, self._lines(), tuple(self._notes()), level=level, kind="measures", errors=True),
        )

    def _notes(self) -> Iterator[str]:
        clusters = f" of {format_count(self.num_clusters, 'cluster')}"
        compared = format_count(self.num_compared, "row") + (clusters if self.num_clusters < self.num_compared else "")
        yield f"{compared} compared of {format_count(self.num_references)} with gold."
        if not self.num_references:
            yield NO_GOLD[0].upper() + NO_GOLD[1:] + "."
        yield from self.notes_on_unscored()
        if isinstance(within := self.within_groups, Correlations):
            groups = format_count(within.num_groups or 0, "group")
            ordered = format_count(within.num_ordered_groups or 0)
            yield f"Within groups: means over {groups} in which both vary; pairs are those of {ordered} with an order."


def against_gold(
    results: Results,
    system: str | None = None,
    criterion: str | None = None,
    *,
    gold: Sequence[object] | None = None,
    groups: Sequence[Hashable] | None = None,
    resamples: int | None = None,
) -> GoldComparison:
    """Compare the judges with people: accuracy, precision, recall, F1, kappas, correlations, order of pairs.

    The labels of a checklist are the answers to its items, those on one response belonging together; its numbers
    are compared with the primary score. The labels of winrates are which of two systems is better, or tie; the
    score is 1 if the first is.

    Args:
        results: The result.
        system: Whose responses or contests; those of all systems by default.
        criterion: Which; needed if there are several.
        gold: Numbers that people gave in place of labels: one for each row of the data, None if there is none.
        groups: A label for each row of the data: correlations are averaged within these too. By default rows of one
            instance are a group, if some instance has several.
        resamples: Draws for the intervals of kappas and balanced accuracy; by default those of the result, or 1000.

    Raises:
        InvalidInputError: If there is no such system or criterion, or the gold does not fit.
    """
    asked, scale, title = _labelled_questions(results, system, criterion, numbers=gold is not None)
    if gold is None:
        kept = [(each, scale.values[each.label]) for each in asked if each.label is not None]
    else:
        numbers = zip(asked, _numbers_of(asked, gold), strict=True)
        kept = [(replace(each, label=None), number) for each, number in numbers if number is not None]
    rows = [each for each, _ in kept]
    compared = [row for row in rows if (row.selected if gold is None else row.score) is not None]
    over = results.analysis.level_over([]).over([row.together for row in rows])
    over = replace(over, resamples=resamples or over.resamples)
    truth, judged = as_array(number for _, number in kept), as_array(row.score for row in rows)
    labels = as_array(row.label for row in rows), as_array(row.selected for row in rows)
    instances = [row.instance for row in rows]
    grouped = None if groups is None else _of_rows(rows, groups, "groups")
    if grouped is None and len(set(instances)) < len(instances):
        grouped = instances
    low, high = scale.bounds
    outside = ((truth < low) | (truth > high)).any()
    of_labels = {
        **compare_labels(*labels, scale, level=over),
        "balanced_accuracy": defined(lambda: balanced_accuracy(*labels, level=over)),
        "options": defined(lambda: option_rates(*labels, scale.labels, level=over)) or (),
    }
    if gold is not None:
        of_labels = dict.fromkeys(of_labels, Missing("the gold is numbers and not labels"))
        of_labels |= dict.fromkeys(("labels", "confusion_matrix", "options"), ())
    return GoldComparison(
        **{**of_labels, "num_compared": len(compared), "num_references": len(rows)},
        title=f"{title} against gold",
        num_clusters=len({row.together for row in compared}),
        overall=defined(lambda: correlations(truth, judged, level=over)),
        within_groups=Missing("the rows are not grouped: give groups=…")
        if grouped is None
        else defined(lambda: correlations_within(truth, judged, grouped, level=over)),
        errors=Missing(f"gold scores lie outside the range of the judge's, {format_range(low, high)}")
        if outside
        else defined(lambda: value_errors(truth, judged, level=over, bounds=scale.bounds)),
        parameters={"level": over.level, "resamples": over.resamples, "seed": over.seed},
    )


def _numbers_of(asked: Sequence[Asked], gold: Sequence[object]) -> list[float | None]:
    """Return the number that people gave for each question."""
    if len({each.instance for each in asked}) < len(asked):
        raise InvalidInputError(
            "gold has one number for each row of the data, and these rows were judged several times: name one system "
            "with system=…"
        )
    entries = _of_rows(asked, gold, "gold")
    for each, given in zip(asked, entries, strict=True):
        if number_of(given) is None and not is_abstention(given):
            raise InvalidInputError(
                f"gold is {given!r} for row {each.instance}, which is not a number; labels are read when judging, from "
                "the column that gold_fields names"
            )
    return list(map(number_of, entries))


def _of_rows(asked: Sequence[Asked], entries: Iterable[Any], name: str) -> list[Any]:
    """Return the entry for the row of each question."""
    column = list(entries)
    beyond = next((each.instance for each in asked if each.instance >= len(column)), None)
    if beyond is not None:
        raise InvalidInputError(
            f"{name} has {len(column)} entries, and row {beyond} was judged; give one for each row of the data"
        )
    return [column[each.instance] for each in asked]


NO_LABELS = Missing("no labels of people were given")


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions on one criterion, with the votes of all judges.

    Attributes:
        criterion: The criterion of the votes.
        rules: The rules by which a judge's own votes become its verdict.
        asked: The questions.
        sides: The names of the two systems, if there are only two.
    """

    criterion: Criterion
    rules: VoteRules
    asked: tuple[Asked, ...]
    sides: tuple[str, str] = SIDES

    def of_judge(self, judge_id: str) -> list[Asked]:
        """Aggregate the votes of one judge on each question by themselves."""
        found = []
        for question in self.asked:
            votes = [vote for vote in question.verdict.votes if vote.judge_id == judge_id]
            if votes:
                found.append(replace(question, verdict=self.rules.aggregate(votes, self.criterion)))
        return found


def questions_of(results: Results, rules: VoteRules) -> list[Questions]:
    """Return the questions of a result by criterion, with the labels of people.

    Args:
        results: The result.
        rules: The rules by which a judge's own votes become its verdict.
    """
    found: dict[str, tuple[Criterion, list[Asked]]] = {}
    for cell, question in zip(results.cells(), results.asked(), strict=True):
        about, judged = cell.about, question.systems
        criterion = results.criterion if question.compares else results.criterion_of(cell)
        label, selected = (
            None if each is None else _category(each, question, criterion)
            for each in (question.gold, question.selected)
        )
        lengths = about.get("first_length"), about.get("second_length")
        asked = Asked(
            about["instance"],
            question.verdict,
            label,
            lengths=tuple(length for length in lengths if length is not None),
            systems=judged,
            cluster=about.get("cluster"),
            selected=selected,
            score=question.score,
        )
        found.setdefault(criterion.name, (criterion, []))[1].append(asked)
    systems: tuple[str, ...] = getattr(results, "systems", ())
    sides = (systems[0], systems[1]) if len(systems) == 2 and "tie" not in systems else SIDES
    return [Questions(criterion, rules, tuple(asked), sides) for criterion, asked in found.values()]


def _category(label: str, question: QuestionAsked, criterion: Criterion) -> int:
    """Return the category of a label; a comparison is labelled by the system that is better, or as a tie."""
    if question.compares:
        return question.systems.index(label) if label in question.systems else NEITHER
    return criterion.index_of(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleComparison(Comparison):
    """A judge against the labels or preferences that people gave. A person's tie is a label.

    Attributes:
        vote_accuracy: Share of the single votes that are the label, over the votes that selected something.
        all_orders_right: Share of the draws, scored in all orders, that are the label in every order.
    """

    vote_accuracy: Interval | Missing
    all_orders_right: Interval | Missing


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """The agreement of several judges on one criterion, each by its own verdicts.

    Attributes:
        criterion: The criterion's name.
        pairs: Every two judges.
        all_judges: Krippendorff's alpha of all.
    """

    criterion: str
    pairs: tuple[RaterPair, ...]
    all_judges: PanelAgreement


@dataclass(frozen=True, slots=True)
class CriterionReliability:
    """One judge on one criterion.

    Every interval takes instances as the sampling unit, with all their questions, orders and draws inside.

    Attributes:
        judge_id: The id of the judge.
        criterion: The criterion's name.
        scale: Its scale.
        num_instances: Instances with a question.
        num_questions: Questions put: instances × systems, or × pairs of systems.
        num_missing: Questions not put because a response is missing.
        num_samples: The most draws of one prompt.
        replies: The replies and their usage.
        position: Pairs of single votes in an order and its reverse: consistency, and what the rest moves towards. Of
            options, primacy is a move towards what is shown earlier.
        repetition: Agreement of the draws of a prompt.
        spread: Mean standard deviation of the values of a prompt's draws.
        verbosity: Of comparisons: the length of a response and its chance of winning a vote, the place held fixed.
        verbosity_given_people: The same with people's preference held fixed too.
        people: Against labels or preferences.
        confidences: The probabilities of the options that were selected, against whether people selected the same.
        level: The level of the intervals.
        num_clusters: Clusters that the instances are of; None if instances do not depend on each other.
    """

    judge_id: str
    criterion: str
    scale: ScaleName
    num_instances: int
    num_questions: int
    num_missing: int
    num_samples: int
    replies: ReplyMeasures
    position: PositionBias | Missing
    repetition: RepetitionStability | Missing
    spread: Interval | Missing
    verbosity: VerbositySlope | Missing
    verbosity_given_people: VerbositySlope | Missing
    people: PeopleComparison | Missing
    confidences: Calibration | Missing
    level: float
    num_clusters: int | None = None


def criterion_reliability(judge_id: str, questions: Questions, *, level: Level) -> CriterionReliability:
    """Measure a judge on one criterion by its votes.

    Position is measured on single votes: a draw in an order and the draw of the same number in the reverse order. So
    neither consistency nor preference depends on how many draws there are, or on how verdicts are made of them. The
    pairs, draws and votes of an instance, or of what instances belong to, are one cluster.

    Args:
        judge_id: The id of the judge.
        questions: The questions with the votes of all judges.
        level: The level of the intervals.

    Example:
        >>> from evenhand.aggregation.verdict import aggregate
        >>> from evenhand.criteria import yes_no_criterion
        >>> from evenhand.votes import Vote
        >>> cites = yes_no_criterion("cites", "Does the response cite a source?")
        >>> def votes(*selections):
        ...     orders = ((0, 1), (1, 0))
        ...     return [Vote(judge_id="a", order=order, selected_index=index, value=1.0 - index)
        ...             for order, index in zip(orders, selections)]
        >>> asked = [Asked(row, aggregate(votes(*pair), cites)) for row, pair in enumerate([(0, 0), (1, 1), (0, 1)])]
        >>> questions = Questions(cites, VoteRules(), tuple(asked))
        >>> report = criterion_reliability("a", questions, level=0.95)
        >>> round(report.position.position_consistency.estimate, 3), report.position.n_primacy
        (0.667, 1)
        >>> report.repetition.reason
        'no prompt has a selection in two draws: set samples to 3 or more'
    """
    asked, criterion = questions.of_judge(judge_id), questions.criterion
    scale, (low, high) = Scale.of(criterion, questions.sides), criterion.score_range
    repetition, spread = _of_draws(asked, scale, level, (high - low) / 2)
    return CriterionReliability(
        judge_id=judge_id,
        criterion=criterion.name,
        scale=criterion.scale,
        num_instances=len({question.instance for question in asked}),
        num_clusters=len({question.cluster for question in asked} - {None}) or None,
        num_questions=len(asked),
        num_missing=sum(not question.verdict.votes for question in questions.asked),
        num_samples=max((len(votes) for question in asked for votes in question.prompts.values()), default=0),
        replies=_replies(asked, level),
        position=_position(asked, scale, level),
        repetition=repetition,
        spread=spread,
        verbosity=verbosity(asked, scale, level),
        verbosity_given_people=verbosity(asked, scale, level, given_people=True),
        people=compare_with_people(asked, scale, level=level),
        confidences=confidences_of(asked, scale, level=level),
        level=float(level),
    )


def reliability_of_judges(
    questions: Sequence[Questions], judges: Sequence[str], *, level: Level
) -> tuple[tuple[CriterionReliability, ...], tuple[JudgesAgreement, ...]]:
    """Measure every judge on every criterion, and how far the judges agree where there are several.

    Two judges of a comparison agree if they prefer the same side; the alpha of all of them is that of what they
    selected, grades and all, as in the report of a panel (`evenhand.judge_reliability.panel_report`).
    """
    results = tuple(criterion_reliability(judge, each, level=level) for each in questions for judge in judges)
    agreements = []
    for each in questions if len(judges) > 1 else ():
        asked = {judge: each.of_judge(judge) for judge in judges}
        over = IntervalLevel.of(level).over([question.together for question in asked[judges[0]]])
        by_side, scale = Scale.of(each.criterion, each.sides), Scale.of(each.criterion)
        preferred, selected = (
            {judge: [own.place_of(question.verdict) for question in found] for judge, found in asked.items()}
            for own in (by_side, scale)
        )
        (everyone,) = panels(selected, {}, scale, level=over)
        agreements.append(JudgesAgreement(each.criterion.name, all_pairs(preferred, {}, by_side, level=over), everyone))
    return results, tuple(agreements)


def _labelled_questions(
    results: Results, system: str | None, criterion: str | None, *, numbers: bool
) -> tuple[list[Asked], Scale, str]:
    """Return what judges and people say of each response or contest, the scale, and a title.

    The answers to all items of a checklist are on one scale; numbers are compared with its primary score.
    """
    known = getattr(results, "systems", ())
    if system is not None and system not in known:
        raise InvalidInputError(f"system is {system!r}. {did_you_mean(system, known)}")
    scored = results.outcomes()  # refuses results that people could not have given
    found = questions_of(results, VoteRules())
    names, checks = [each.criterion.name for each in found], results.kind == "checklist"
    if checks and criterion is not None:
        raise InvalidInputError(f"criterion is {criterion!r}; a checklist has items: leave it out")
    if not checks and criterion not in ({None, *names} if len(names) == 1 else names):
        raise InvalidInputError(f"criterion is {criterion!r}; name one of the criteria {names!r}")
    if checks:
        scale, names = Scale.of(yes_no_criterion("answers", "", na=True)), []
        values = (*scale.values, None)
        asked = [
            replace(each, score=values[-1 if each.selected is None else each.selected])
            for own in found
            for each in own.asked
        ]
        if numbers:
            asked = [
                Asked(row.instance, NO_VERDICT, systems=(each.system,), cluster=row.cluster, score=row.score)
                for each in scored
                for row in each.rows
                if each.part_of is None
            ]
    else:
        (own,) = (each for each in found if criterion in {None, each.criterion.name})
        scale, asked, names = Scale.of(own.criterion, own.sides), list(own.asked), [own.criterion.name]
    asked = [each for each in asked if system in {None, *each.systems}]
    systems = dict.fromkeys(name for each in asked for name in each.systems)
    judges = results.parameters.get("judges") or results.parameters["votes"]
    return asked, scale, f"{', '.join((*systems, *names))}: {', '.join(judges)}"


def _share(
    parts: Sequence[tuple[Hashable, float, float]], level: Level, reason: str, bounds: tuple[float, float] = (0.0, 1.0)
) -> Interval | Missing:
    """Divide the sum of the second numbers by that of the third, with an interval over the clusters, the first."""
    clusters, numerators, denominators = zip(*parts, strict=True) if parts else ((), (), ())
    over = IntervalLevel.of(level).over(clusters)
    (interval,) = ratio_intervals(numerators, denominators, level=over, bounds=bounds)
    return or_missing(interval, reason)


def _replies(asked: Sequence[Asked], level: Level) -> ReplyMeasures:
    together = {each.instance: each.together for each in asked}
    numbers = {instance: number for number, instance in enumerate(together)}
    rows = np.array([numbers[each.instance] for each in asked], dtype=np.int64)
    over = IntervalLevel.of(level).over(list(together.values()))
    return ReplyMeasures(**reply_measures([each.verdict.votes for each in asked], rows=rows, level=over))


def _category_of(scale: Scale, vote: Vote) -> int:
    place = scale.place_of(vote)
    return UNSCORED if place is None else place


def _position(asked: Sequence[Asked], scale: Scale, level: Level) -> PositionBias | Missing:
    """Compare every draw that was asked for in an order with the same in the reverse order.

    A comparison has the sides themselves, in the order (0, 1) and then (1, 0). A pair of assessments has 0 and 0 if it
    selects the same option twice, 0 and 1 if each order selects an option that it shows earlier than the other order
    does, 1 and 0 if later: in the terms of `position_bias`, primacy and recency.
    """
    pairs = [
        (question.together, votes[order], votes[order[::-1]])
        for question in asked
        for votes in question.draws.values()
        for order in sorted(votes)
        if order <= order[::-1] and order[::-1] in votes
    ]

    def moved(first: Vote, second: Vote) -> list[int]:
        if scale.compares:
            return [_category_of(scale, first), _category_of(scale, second)]
        if first.selected_index is None or second.selected_index is None:
            return [UNSCORED if vote.selected_index is None else 0 for vote in (first, second)]
        place, other = first.order.index(first.selected_index), first.order.index(second.selected_index)
        if place == other:
            return [0, 0]
        return [0, 1] if place < other else [1, 0]

    over = IntervalLevel.of(level).over([together for together, _, _ in pairs])
    found = position_bias([moved(first, second) for _, first, second in pairs], level=over)
    reason = "no question has a selection in an order and in its reverse: leave check_positional_bias on"
    return found if found.n_checked else Missing(reason)


def _of_draws(
    asked: Sequence[Asked], scale: Scale, level: Level, greatest: float
) -> tuple[RepetitionStability | Missing, Interval | Missing]:
    """Compute agreement and spread of the draws of a prompt: of a question in one order."""
    once = "no prompt has a selection in two draws: set samples to 3 or more"
    prompts = [(question.together, votes) for question in asked for votes in question.prompts.values()]
    values = [(each, [vote.value for vote in votes if vote.value is not None]) for each, votes in prompts]
    spreads = [(cluster, statistics.pstdev(drawn), 1.0) for cluster, drawn in values if len(drawn) > 1]
    over = IntervalLevel.of(level).over([together for together, _ in prompts])
    found = repetition_stability([[_category_of(scale, vote) for vote in votes] for _, votes in prompts], level=over)
    return found if found.pair_agreement else Missing(once), _share(spreads, level, once, bounds=(0.0, greatest))


def verbosity(
    asked: Sequence[Asked], scale: Scale, level: Level, *, given_people: bool = False
) -> VerbositySlope | Missing:
    """Estimate the slope of winning on the logarithm of the ratio of lengths, the systems' own strengths held fixed.

    Every vote on two responses is a contest of them, and the place is held fixed.

    Args:
        asked: The questions.
        scale: The categories of the criterion.
        level: The level of the intervals.
        given_people: Hold fixed which of the two people prefer.
    """
    if given_people and all(question.label is None for question in asked):
        return NO_LABELS
    contests = [(question, vote) for question in asked if len(question.lengths) == 2 for vote in question.verdict.votes]
    if not contests:
        return Missing("no two responses with known lengths were compared")
    scores = [SIDE_SCORES.get(_category_of(scale, vote)) for _, vote in contests]
    preferred = 2 * as_array(SIDE_SCORES.get(UNSCORED if one.label is None else one.label) for one, _ in contests) - 1
    systems = [question.systems for question, _ in contests]
    return verbosity_slope(
        as_array(scores),
        [question.lengths for question, _ in contests],
        systems=systems if all(systems) else None,
        quality_difference=preferred if given_people else None,
        shown_first=[1 if vote.order == (0, 1) else -1 for _, vote in contests],
        ties="davidson" if TIE in scores else "half",
        level=IntervalLevel.of(level).over([question.together for question, _ in contests]),
    )


def compare_with_people(asked: Sequence[Asked], scale: Scale, *, level: Level) -> PeopleComparison | Missing:
    """Compare the votes and verdicts with the labels of people, on the questions that these labelled."""
    labelled = [question for question in asked if question.label is not None]
    if not labelled:
        return NO_LABELS
    votes, draws = [], []
    for question in labelled:
        selections = [[_category_of(scale, vote) for vote in own.values()] for own in question.draws.values()]
        single = [each == question.label for own in selections for each in own if each != UNSCORED]
        whole = [{*own} == {question.label} for own in selections if len(own) > 1 and UNSCORED not in own]
        votes.append((question.together, sum(single), len(single)))
        draws.append((question.together, sum(whole), len(whole)))
    truth = as_array(question.label for question in asked)
    judged = as_array(scale.place_of(question.verdict) for question in asked)
    over = IntervalLevel.of(level).over([question.together for question in asked])
    nothing = "nothing that people labelled has a selection of the judge"
    return PeopleComparison(
        **compare_labels(truth, judged, scale, level=over),
        vote_accuracy=_share(votes, level, nothing),
        all_orders_right=_share(draws, level, nothing),
    )


def confidences_of(asked: Sequence[Asked], scale: Scale, *, level: Level) -> Calibration | Missing:
    """Compare the probability of each option selected with whether people chose it, for every vote that has both."""
    votes = [
        (question, vote)
        for question in asked
        for vote in question.verdict.votes
        if vote.selected_index is not None and sum(vote.probabilities or ()) > 0
    ]
    if not votes:
        return Missing("the votes have no log-probabilities: ask for them with confidences=True")
    labelled = [(question, vote) for question, vote in votes if question.label is not None]
    if not labelled:
        return NO_LABELS
    stated = []
    for _, vote in labelled:  # of the probability that the options cover, what the category selected has
        shares, chosen = vote.probabilities or (), scale.place_of(vote)
        own = sum(share for place, share in zip(scale.places, shares, strict=False) if place == chosen)
        stated.append(min(own / sum(shares), 1.0))
    right = [float(scale.place_of(vote) == question.label) for question, vote in labelled]
    over = IntervalLevel.of(level).over([question.together for question, _ in labelled])
    return calibration(stated, right, level=over)


_TASTE: Final = ("longer responses are preferred", "shorter responses are preferred", "no preference for length shown")
_DOUBLE: Final = "win_probability_at_double"
LINES: Final = (
    Line("parse rate", "replies.parse_rate", "share"),
    Line("  votes", "replies.unscored_counts.votes", "count"),
    Line("  unscored votes", "replies.unscored_counts.unscored_votes", "count"),
    Line("  unscored verdicts", "replies.unscored_counts.unscored_verdicts", "count"),
    Line("  re-asks", "replies.reasks", "count"),
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
    Line("wins at twice the length", f"verbosity.{_DOUBLE}", "share", 0.5, _TASTE),
    Line("  log-odds for each e-fold", "verbosity.slope", "difference"),
    Line("wins at twice the length given people's choice", f"verbosity_given_people.{_DOUBLE}", "share", 0.5, _TASTE),
    Line("verdicts as people", "people.accuracy", "share"),
    Line("  single votes", "people.vote_accuracy", "share"),
    Line("  right in every order", "people.all_orders_right", "share"),
    Line("  Cohen's kappa", "people.cohen_kappa", "number"),
    Line("  quadratic-weighted kappa", "people.quadratic_weighted_kappa", "number"),
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


def criterion_tables(results: Sequence[CriterionReliability]) -> Iterator[TextTable]:
    """Make all tables on one criterion: the measures of all judges, and a matrix for each judge.

    Args:
        results: One per judge, all on the same criterion.
    """
    first, level = results[0], format_level(results[0].level)
    judges = tuple(result.judge_id for result in results)
    clusters = "" if first.num_clusters is None else f" of {format_count(first.num_clusters, 'cluster')}"
    rows = table_rows(LINES, *results)
    yield TextTable(
        kind="measures",
        title=(
            f"{'Comparisons' if first.scale == 'pairwise' else 'Assessments'} on {first.criterion!r}: "
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
    for result in results:
        if not isinstance(result.people, Missing):
            title = f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)"
            yield labels_table(title, result.people)


def _notes_on_judge(result: CriterionReliability) -> Iterator[str]:
    remarks = findings(result)
    yield from (f"{found.measure} {found.text}." for found in remarks if found.measured)
    if unmeasured := [f"{found.measure} ({found.text})" for found in remarks if not found.measured]:
        yield f"Not measured: {'; '.join(unmeasured)}."
    yield from unscored_note(result.replies.unscored_counts)
    yield from readings_note(result.replies.readings)
    if result.num_missing:
        yield f"{format_count(result.num_missing, 'question')} not asked, as a response is missing."
