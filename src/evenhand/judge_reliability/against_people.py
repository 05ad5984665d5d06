"""The agreement of judges and people: of raters with each other, and of verdicts with gold labels.

:func:`all_pairs` and :func:`panels` compare raters, :func:`compare_labels` compares verdicts with labels, and the
results that rest on it add what their data allow: :func:`summarize_votes` the scores of recorded votes,
:func:`compare_with_gold` rates of each option and correlations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Literal, Self, TypedDict, TypeVar, Unpack

import numpy as np

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Criterion
from evenhand.criteria import Scale as ScaleName
from evenhand.data.cells import NO_VERDICT, is_abstention
from evenhand.data.plain import number_of
from evenhand.errors import EstimationError, InvalidInputError
from evenhand.numbers import Missing, format_count, format_level, format_number, format_percent, format_range
from evenhand.results.measures import Kind, Measure, known, measure, measures_of
from evenhand.results.render import PrintedTables, TextTable
from evenhand.scoring import ScoreSummary, summarize
from evenhand.statistics import Interval
from evenhand.statistics.agreement import (
    ALPHA_METRICS,
    Agreement,
    Correlations,
    ValueErrors,
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    confusion_matrix,
    correlations,
    correlations_within,
    krippendorff_alpha,
    option_rates,
    value_errors,
)
from evenhand.statistics.intervals import FloatArray, IntervalLevel, Level
from evenhand.votes import Verdict, Vote

Result = TypeVar("Result")
RaterKind = Literal["judge", "human"]
TIE = 0.5


def defined(statistic: Callable[[], Result]) -> Result | Missing:
    """Compute a statistic, or give the reason why the data do not define it."""
    try:
        return statistic()
    except EstimationError as error:
        return Missing(str(error))


def as_array(numbers: Iterable[float | None]) -> FloatArray:
    """Make an array of numbers, NaN where there is none."""
    return np.array([np.nan if number is None else number for number in numbers], dtype=float)


class Drawing(TypedDict):
    """The resampling of the intervals of coefficients.

    Attributes:
        level: The level of the intervals.
        resamples: Draws.
        seed: The seed of the draws.
    """

    level: Level
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Scale:
    """The options of a criterion, as numbers.

    Attributes:
        kind: The scale of the criterion.
        labels: Of the options, in the criterion's order; of a comparison with the tie, whether an option names it or
            not.
        levels: Per option its level from 0 for the lowest; None for an NA option. Options of equal value are one level;
            without values the options count in the order in which they are listed.
        values: Per option its value, None if it has none.
        bounds: The least and the greatest score.
    """

    kind: ScaleName
    labels: tuple[str, ...]
    levels: tuple[int | None, ...]
    values: tuple[float | None, ...]
    bounds: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, criterion: Criterion) -> Scale:
        """Number the options of a criterion."""
        labels, values = criterion.labels, [option.value for option in criterion.options]
        order = [
            None if option.na else option.value if criterion.has_values else float(place)
            for place, option in enumerate(criterion.options)
        ]
        if criterion.scale == "pairwise" and criterion.has_values and TIE not in order:
            labels, values, order = (*labels, "tie"), [*values, TIE], [*order, TIE]
        ranked = sorted({value for value in order if value is not None})
        return cls(
            kind=criterion.scale,
            labels=labels,
            levels=tuple(None if value is None else ranked.index(value) for value in order),
            values=tuple(values),
            bounds=criterion.score_range,
        )

    @property
    def ordinal(self) -> bool:
        """Whether the options have an order, so that levels can be near to each other."""
        return self.kind in {"ordinal", "pairwise"}

    @property
    def places(self) -> range:
        """The places of all options, used or not."""
        return range(len(self.labels))

    @property
    def ratings(self) -> tuple[float | None, ...]:
        """Per option what it is in an agreement where NA is missing: a value or level if options have an order."""
        places: Sequence[float | None] = self.places
        if self.ordinal:
            scored = [value for value, level in zip(self.values, self.levels, strict=True) if level is not None]
            places = self.levels if None in scored else self.values
        return tuple(None if level is None else place for place, level in zip(places, self.levels, strict=True))

    @property
    def categories(self) -> list[float]:
        """All ratings, used or not, in order."""
        return sorted({rating for rating in self.ratings if rating is not None})

    def place_of(self, verdict: Verdict) -> int | None:
        """Find the place of what a verdict selects; None for nothing. A tie that no option names has the last place."""
        if verdict.selected_index is None and verdict.selected_label == self.labels[-1]:
            return len(self.labels) - 1
        return verdict.selected_index

    def as_places(self, indices: Iterable[int | None]) -> FloatArray:
        """Make an array of places of options, NaN where nothing was selected."""
        return as_array(indices)

    def as_values(self, places: FloatArray) -> FloatArray:
        """Look up values, NaN where nothing, NA or an option without a value was selected."""
        return _look_up(self.values, places)

    def as_ratings(self, places: FloatArray) -> FloatArray:
        """Look up what agreement beyond chance is computed from, NaN where nothing or NA was selected."""
        return _look_up(self.ratings, places)

    def alpha(self, ratings: FloatArray, **drawn: Unpack[Drawing]) -> Agreement | Missing:
        """Compute Krippendorff's alpha of ratings, (n_instances, n_raters), by the metric that belongs to the scale."""
        metric = ALPHA_METRICS[self.kind]
        return defined(lambda: krippendorff_alpha(ratings, metric=metric, categories=self.categories, **drawn))

    def kappa(self, first: FloatArray, second: FloatArray, **drawn: Unpack[Drawing]) -> Agreement | Missing:
        """Compute Cohen's kappa of two raters' ratings: quadratic-weighted where the options have an order."""
        weights: Literal["quadratic"] | None = "quadratic" if self.ordinal else None
        return defined(lambda: cohen_kappa(first, second, weights=weights, categories=self.categories, **drawn))


def _look_up(numbers: Sequence[float | None], places: FloatArray) -> FloatArray:
    table = as_array([*numbers, None])
    found: FloatArray = table[np.where(np.isnan(places), -1, places).astype(int)]
    return found


@dataclass(frozen=True, slots=True)
class Rater:
    """A judge or a person, with the rating of each instance.

    Attributes:
        name: The name of the judge or person.
        kind: ``judge`` or ``human``.
        selected: Per instance the option chosen; None if nothing was.
    """

    name: str
    kind: RaterKind
    selected: tuple[int | None, ...]


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
    cohen_kappa: Agreement | Missing = measure("number", always=True)
    quadratic_weighted_kappa: Agreement | Missing | None = measure("number", always=True)


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
        krippendorff_alpha: At the criterion's level of measurement; abstentions and NA are missing.
    """

    name: str
    raters: tuple[str, ...]
    krippendorff_alpha: Agreement | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(LabelAgreement):
    """Verdicts against the labels that are known to be right.

    Attributes:
        num_references: Instances with a label that is right.
        accuracy_if_unscored_0: The accuracy if every such instance without a verdict were wrong.
        accuracy_if_unscored_1: The same if they were right.
        labels: Of rows and columns of the confusion matrix; the last stands for what is missing.
        confusion_matrix: Rows are the right labels, columns verdicts; the cells add up to all instances.
    """

    num_references: int = measure("count")
    accuracy_if_unscored_0: float | Missing = measure("share")
    accuracy_if_unscored_1: float | Missing = measure("share")
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]


def label_agreement(truth: FloatArray, judged: FloatArray, scale: Scale, **drawn: Unpack[Drawing]) -> dict[str, Any]:
    """Compute the fields of :class:`LabelAgreement` from places of options; the first is who counts as right."""
    level, ordinal = drawn["level"], scale.ordinal
    far = len(scale.labels) + 1  # NA is right where the truth is NA, and no level is so near to it as to be adjacent
    levels = [far if level is None else level for level in scale.levels]
    near = _look_up(levels, truth), _look_up(levels, judged)
    rated = scale.as_ratings(truth), scale.as_ratings(judged)
    return {
        "num_compared": int((~np.isnan(truth) & ~np.isnan(judged)).sum()),
        "accuracy": defined(lambda: accuracy(truth, judged, level=level)),
        "adjacent_accuracy": defined(lambda: accuracy(*near, within=1, level=level)) if ordinal else None,
        "cohen_kappa": defined(lambda: cohen_kappa(truth, judged, categories=scale.places, **drawn)),
        "quadratic_weighted_kappa": scale.kappa(*rated, **drawn) if ordinal else None,
    }


def compare_labels(truth: FloatArray, judged: FloatArray, scale: Scale, **drawn: Unpack[Drawing]) -> dict[str, Any]:
    """Compute the fields of :class:`Comparison` from places of options."""
    agreement = label_agreement(truth, judged, scale, **drawn)
    right, references = int((truth == judged).sum()), int((~np.isnan(truth)).sum())
    if_right = right + references - agreement["num_compared"]
    return {
        **agreement,
        "num_references": references,
        "accuracy_if_unscored_0": right / references if references else Missing(NO_GOLD),
        "accuracy_if_unscored_1": if_right / references if references else Missing(NO_GOLD),
        "labels": (*scale.labels, missing_label(scale.labels)),
        "confusion_matrix": confusion_matrix(truth, judged, len(scale.labels)),
    }


def missing_label(labels: Sequence[str]) -> str:
    """Name what is missing in a confusion matrix.

    >>> missing_label(["Yes", "No"])
    'unscored'
    """
    name = "unscored"
    while name in labels:
        name = f"({name})"
    return name


def all_pairs(raters: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> tuple[RaterPair, ...]:
    """Compare every two raters: humans and judges, then humans, then judges; in each part in the order given."""
    places = [(rater, scale.as_places(rater.selected)) for rater in raters]
    humans = [each for each in places if each[0].kind == "human"]
    judges = [each for each in places if each[0].kind == "judge"]
    pairs = [*product(humans, judges), *combinations(humans, 2), *combinations(judges, 2)]
    return tuple(
        RaterPair(
            first=first.name,
            second=second.name,
            kinds=(first.kind, second.kind),
            **label_agreement(truth, judged, scale, **drawn),
        )
        for (first, truth), (second, judged) in pairs
    )


def panels(raters: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> tuple[PanelAgreement, ...]:
    """Compare the judges, the humans, and all of them, as far as there are two."""
    humans = [rater for rater in raters if rater.kind == "human"]
    judges = [rater for rater in raters if rater.kind == "judge"]
    groups = {"judges": judges, "humans": humans}
    if humans and judges:
        groups["judges and humans"] = [*judges, *humans]

    def alpha(members: Sequence[Rater]) -> Agreement | Missing:
        places = np.column_stack([scale.as_places(member.selected) for member in members])
        return scale.alpha(scale.as_ratings(places), **drawn)

    return tuple(
        PanelAgreement(name, tuple(member.name for member in members), alpha(members))
        for name, members in groups.items()
        if len(members) > 1
    )


def recorded_verdict(
    votes: Sequence[Vote], criterion: Criterion, rule: str | None, weights: Mapping[str, float] | None
) -> Verdict:
    """Aggregate the recorded votes on one instance; `NO_VERDICT` where no judge was asked."""
    return aggregate(votes, criterion, rule, weights=weights) if votes else NO_VERDICT


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteComparison(Comparison):
    """Verdicts on recorded votes against the references.

    Attributes:
        errors: The errors of the aggregated values against the values of the references.
    """

    errors: ValueErrors | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSummary:
    """The aggregated result of the recorded votes on ``scores.num_instances`` instances.

    Attributes:
        scores: The aggregated score and what it rests on.
        krippendorff_alpha: Of the judges, at the criterion's level of measurement; abstentions and NA are missing.
        num_votes: Votes and abstentions of those who were asked.
        num_abstentions: Votes of None: asked, and nothing said. Who was not asked has no vote, and a call that failed
            is neither.
        num_out_of_scale: Votes that say no option and were set aside.
        num_na_votes: Votes for an NA option.
        selections: Label -> on how many instances it was selected.
        comparison: Against the references.
        level: The level of the intervals.
    """

    scores: ScoreSummary
    krippendorff_alpha: Agreement | Missing = measure("number", always=True)
    num_votes: int = measure("count")
    num_abstentions: int = measure("count")
    num_out_of_scale: int = measure("count")
    num_na_votes: int = measure("count")
    selections: tuple[tuple[str, int], ...]
    comparison: VoteComparison | Missing = measure("number", name="")
    level: float


def summarize_votes(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    references: Sequence[int | None] | None = None,
    **drawn: Unpack[Drawing],
) -> VoteSummary:
    """Summarize scores, agreement and, where there are references, how often the verdicts are right.

    Args:
        verdicts: One per instance, on recorded votes (one order and one sample per judge).
        criterion: The criterion of the votes.
        references: Per instance the option that is right, None if it is not known.
        **drawn: Level (an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the instances),
            resamples and seed of the intervals of alpha and kappa.
    """
    scale, level = Scale.of(criterion), drawn["level"]
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    selected = [verdict.selected_index for verdict in verdicts]
    places = np.full((len(verdicts), max((len(verdict.votes) for verdict in verdicts), default=0)), np.nan)
    for row, verdict in enumerate(verdicts):  # those of instances with fewer votes than others are missing
        places[row, : len(verdict.votes)] = scale.as_places(vote.selected_index for vote in verdict.votes)
    truth = scale.as_places([None] * len(verdicts) if references is None else references)
    values = as_array(verdict.aggregated_value for verdict in verdicts)
    return VoteSummary(
        scores=summarize(verdicts, [criterion.score_range] * len(verdicts), level=level),
        krippendorff_alpha=scale.alpha(scale.as_ratings(places), **drawn),
        num_votes=len(votes),
        num_abstentions=sum(vote.unscored_reason == "abstained" for vote in votes),
        num_out_of_scale=sum(vote.unscored_reason == "no_match" for vote in votes),
        num_na_votes=sum(vote.na for vote in votes),
        selections=tuple((label, selected.count(place)) for place, label in enumerate(scale.labels)),
        comparison=Missing("no instance has a reference")
        if np.isnan(truth).all()
        else VoteComparison(
            errors=defined(lambda: value_errors(scale.as_values(truth), values, level=level, bounds=scale.bounds)),
            **compare_labels(truth, scale.as_places(selected), scale, **drawn),
        ),
        level=float(level),
    )


NO_GOLD = "no row has a gold label: name their column when judging, or give numbers, against_gold(gold=…)"
ARE_NUMBERS = Missing("the gold is numbers and not labels")
NOT_GROUPED = Missing("the rows are not grouped: give groups=…")
_COUNTS = {"num_compared", "num_references", "num_clusters", "accuracy_if_unscored_0", "accuracy_if_unscored_1"}
_ERRORS: Mapping[str, Kind] = {"root_mean_square": "score", "mean_absolute": "score", "bias": "difference"}
_NAMES = {
    "root_mean_square": "root mean square error",
    "mean_absolute": "mean absolute error",
    "cohen_kappa": "Cohen's kappa",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pair_accuracy": "pairs in the right order",
}
_WITHIN = "within_groups_"


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The labels of a judge and of people for one subject.

    Attributes:
        instance: The row of the data; rows of one instance belong together.
        system: The system that wrote it; None for a contest.
        selected: The option that the verdict selects; None for none.
        score: The score of the verdict; None for none.
        gold_label: The option that people chose; None if that is not known.
        gold_score: Its value, or the number that people gave.
        cluster: The cluster of the row; None if rows are independent.
    """

    instance: int
    system: str | None
    selected: int | None
    score: float | None
    gold_label: int | None = None
    gold_score: float | None = None
    cluster: Hashable = None

    @classmethod
    def of(cls, entry: Any, criterion: Criterion, gold: str | None, *, system: str | None = None) -> Self:  # noqa: ANN401
        """Take an entry of a result, with its instance, verdict and cluster, and the label that people gave."""
        right = None if gold is None else criterion.index_of(gold)
        value = None if right is None else criterion.options[right].value
        verdict = entry.verdict
        return cls(
            entry.instance, system, verdict.selected_index, verdict.aggregated_value, right, value, entry.cluster
        )

    @property
    def together(self) -> Hashable:
        """The cluster, or the row of the data where it is one of its own."""
        return ("instance", self.instance) if self.cluster is None else self.cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionComparison:
    """One option of the judge against the same of the gold labels; see :class:`OptionRates`.

    Attributes:
        label: The label of the option.
        num_gold: Rows with this gold label, and a verdict.
        num_judged: Rows with this verdict, and a gold label.
        precision: Of the verdicts, the share that is right.
        recall: Of the gold labels, the share that is found.
        f1: The harmonic mean of both.
    """

    label: str
    num_gold: int
    num_judged: int
    precision: Interval | Missing = measure("share")
    recall: Interval | Missing = measure("share")
    f1: Interval | Missing = measure("share")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """Correlations of the judge's scores with gold scores; see :class:`~evenhand.statistics.agreement.Correlations`.

    Attributes:
        pearson: The product-moment correlation.
        spearman: The correlation of ranks.
        kendall: Kendall's tau-b.
        pair_accuracy: Of the pairs that gold orders, the share that the judge orders the same way, ties counting half.
        num_groups: Groups over which the correlations are averaged; None for one of all rows.
        num_ordered_groups: Groups with a pair that gold orders.
    """

    pearson: Interval | Missing = measure("number")
    spearman: Interval | Missing = measure("number")
    kendall: Interval | Missing = measure("number")
    pair_accuracy: Interval | Missing = measure("share")
    num_groups: int | None = None
    num_ordered_groups: int | None = None

    @classmethod
    def of(cls, found: Correlations) -> Self:
        """Take the correlations, with the reason for those that are undefined."""
        where = "" if found.num_groups is None else " in every group"
        gold = f"the gold scores are all the same{where}"
        constant = f"the gold scores or the judge's are all the same{where}"
        return cls(
            **{name: known(getattr(found, name), constant) for name in ("pearson", "spearman", "kendall")},
            pair_accuracy=known(found.pair_accuracy, gold),
            num_groups=found.num_groups,
            num_ordered_groups=found.num_ordered_groups,
        )


@dataclass(frozen=True, kw_only=True)
class GoldComparison(Comparison, PrintedTables):
    """The result of ``table.against_gold()``. Each estimate has ``low``, ``high`` and a ``standard_error``.

    Attributes:
        title: The result and the gold compared.
        num_clusters: The number of units of the intervals: the rows or their clusters.
        balanced_accuracy: The mean recall of the gold labels that occur.
        options: Precision, recall and F1 of each option.
        overall: Correlations over all rows.
        within_groups: The same averaged within groups.
        errors: Root mean square error, mean absolute error and bias of scores, in their units.
        parameters: Level, resamples and seed of the intervals.
    """

    title: str
    num_clusters: int = measure("count")
    balanced_accuracy: Interval | Missing = measure("share")
    options: tuple[OptionComparison, ...]
    overall: ScoreComparison | Missing = measure("number", name="")
    within_groups: ScoreComparison | Missing = measure("number")
    errors: ValueErrors | Missing
    parameters: Mapping[str, Any]

    def measures(self) -> Iterator[Measure]:
        """Yield every estimate of the table, under its name."""
        yield from (each for each in measures_of(self) if each.name not in _COUNTS)
        for name, kind in _ERRORS.items():
            yield Measure(name, self.errors if isinstance(self.errors, Missing) else getattr(self.errors, name), kind)
        for option in self.options:
            if option.num_gold + option.num_judged:
                yield from (replace(each, name=f"{each.name} of {option.label}") for each in measures_of(option))

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return a row for each measure."""
        reasons: dict[str, list[str]] = {}
        rows, notes, spread = [], list(self._notes()), True
        for each in self.measures():
            short = each.name.removeprefix(_WITHIN)
            name = _NAMES.get(short, short.replace("_", " ")) or "correlations"
            name = name if short == each.name else f"within groups: {name}"
            if isinstance(each.value, Missing):
                reasons.setdefault(each.value.reason, []).append(name)
            error = getattr(each.value, "standard_error", None)
            spread &= error is not None or isinstance(each.value, Missing)
            rows.append((name, str(each), format_number(error, digits=3)))
        if not spread:
            notes.append("Without a standard error: the sample has no spread, or too few clusters.")
        headers = ("measure", f"estimate [{format_level(self.parameters['level'])}]", "standard error")
        unknown = [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
        return (TextTable(self.title, headers, tuple(rows), (*notes, *unknown), "measures"),)

    def _notes(self) -> Iterator[str]:
        clusters = f" of {format_count(self.num_clusters, 'cluster')}"
        compared = format_count(self.num_compared, "row") + (clusters if self.num_clusters < self.num_compared else "")
        yield f"{compared} compared of {format_count(self.num_references)} with gold."
        if not self.num_references:
            yield NO_GOLD[0].upper() + NO_GOLD[1:] + "."
        least, most = self.accuracy_if_unscored_0, self.accuracy_if_unscored_1
        if self.num_compared < self.num_references and not isinstance(least, Missing) and not isinstance(most, Missing):
            yield (
                f"Accuracy if all without a verdict were wrong or right: {format_percent(least)} or "
                f"{format_percent(most)}."
            )
        if isinstance(within := self.within_groups, ScoreComparison):
            groups = format_count(within.num_groups or 0, "group")
            ordered = format_count(within.num_ordered_groups or 0)
            yield (
                f"Within groups: correlations are means over {groups} in which both vary; pairs are those of "
                f"{ordered} that gold orders."
            )

    def __repr__(self) -> str:
        return f"<GoldComparison of {self.num_compared} rows>\n{self}"


def compare_with_gold(
    rows: Sequence[JudgedRow],
    scale: Scale,
    *,
    title: str,
    level: Level,
    gold: Sequence[object] | Mapping[str, Sequence[object]] | None = None,
    groups: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> GoldComparison:
    """Compare verdicts with gold labels, or scores with gold numbers.

    Args:
        rows: The judged rows, with gold labels if there are any.
        scale: The scale of the options.
        title: The title of the table.
        level: The level of the intervals, with their method; clusters are those of the rows.
        gold: Numbers in place of the labels, one for each row of the data (None or NaN where there is none), or for
            each system. They need not be values of options; correlations take any unit.
        groups: A label for each row of the data, such as its prompt; without it rows of one instance are a group,
            where some instance has several.
        resamples: Draws for the intervals of kappas and balanced accuracy.
        seed: The seed of the draws.

    Raises:
        InvalidInputError: Gold or groups that do not fit the rows of the data, or gold that is not a number.
    """
    if gold is not None:
        rows = _with_numbers(rows, gold)
    kept = [row for row in rows if row.gold_score is not None or row.gold_label is not None]
    chosen = [row.selected if gold is None else row.score for row in kept]
    over = IntervalLevel.of(level).over([row.together for row in kept])
    drawn = Drawing(level=over, resamples=resamples, seed=seed)
    truth, judged = as_array(row.gold_score for row in kept), as_array(row.score for row in kept)
    instances = [row.instance for row in kept]
    grouped: list[Hashable] | None = None
    if groups is not None:
        grouped = [_of_row(list(groups), instance, "groups") for instance in instances]
    elif len(set(instances)) < len(instances):
        grouped = list(instances)
    low, high = scale.bounds
    outside = ((truth < low) | (truth > high)).any()
    return GoldComparison(
        title=title,
        num_clusters=len({row.together for row, choice in zip(kept, chosen, strict=True) if choice is not None}),
        overall=defined(lambda: ScoreComparison.of(correlations(truth, judged, level=over))),
        within_groups=NOT_GROUPED
        if grouped is None
        else defined(lambda: ScoreComparison.of(correlations_within(truth, judged, grouped, level=over))),
        errors=Missing(f"gold scores lie outside the range of the judge's, {format_range(low, high)}")
        if outside
        else defined(lambda: value_errors(truth, judged, level=over, bounds=scale.bounds)),
        parameters={"level": float(level), "resamples": resamples, "seed": seed},
        **(_of_labels(kept, scale, **drawn) if gold is None else _without_labels(chosen)),
    )


def _with_numbers(
    rows: Sequence[JudgedRow], gold: Sequence[object] | Mapping[str, Sequence[object]]
) -> list[JudgedRow]:
    """Put the numbers of people in place of their labels."""
    if not isinstance(gold, Mapping) and len({row.instance for row in rows}) < len(rows):
        raise InvalidInputError(
            "gold has one number for each row of the data, and these rows were judged several times: name one system "
            "with system=…, or give the numbers of each, gold={system: numbers}"
        )
    columns = {name: list(column) for name, column in (gold if isinstance(gold, Mapping) else {None: gold}).items()}
    found = []
    for row in rows:
        name = row.system if isinstance(gold, Mapping) else None
        if name not in columns:
            raise InvalidInputError(f"gold has the numbers of {list(columns)!r}, and not of the system {name!r}")
        given = _of_row(columns[name], row.instance, "gold")
        number = number_of(given)
        if number is None and not is_abstention(given):
            raise InvalidInputError(
                f"gold is {given!r} for row {row.instance}, which is not a number; labels are read when judging, from "
                "the column that gold_fields names"
            )
        found.append(replace(row, gold_label=None, gold_score=number))
    return found


def _of_row(column: Sequence[Any], instance: int, name: str) -> Any:  # noqa: ANN401 - any entry
    if instance >= len(column):
        raise InvalidInputError(
            f"{name} has {len(column)} entries, and row {instance} was judged; give one for each row of the data"
        )
    return column[instance]


def _of_labels(rows: Sequence[JudgedRow], scale: Scale, **drawn: Unpack[Drawing]) -> dict[str, Any]:
    """Compute the fields that compare labels."""
    truth, judged = as_array(row.gold_label for row in rows), as_array(row.selected for row in rows)
    rates = defined(lambda: option_rates(truth, judged, len(scale.labels), level=drawn["level"]))
    options = [
        OptionComparison(
            label=label,
            num_gold=found.num_true,
            num_judged=found.num_judged,
            precision=known(found.precision, f"no verdict is {label!r}"),
            recall=known(found.recall, f"no gold label is {label!r}"),
            f1=known(found.f1, f"neither a verdict nor a gold label is {label!r}"),
        )
        for label, found in zip(scale.labels, rates or (), strict=False)
    ]
    return {
        **compare_labels(truth, judged, scale, **drawn),
        "balanced_accuracy": defined(lambda: balanced_accuracy(truth, judged, **drawn)),
        "options": tuple(options),
    }


def _without_labels(scores: Sequence[float | None]) -> dict[str, Any]:
    """Give the fields that compare labels, where the gold is numbers."""
    names = ("accuracy", "accuracy_if_unscored_0", "accuracy_if_unscored_1", "balanced_accuracy", "cohen_kappa")
    nothing = dict.fromkeys((*names, "adjacent_accuracy", "quadratic_weighted_kappa"), ARE_NUMBERS)
    counts = {"num_compared": len(scores) - scores.count(None), "num_references": len(scores)}
    return {**counts, **nothing, "options": (), "labels": (), "confusion_matrix": ()}
