"""A judge against gold: labels or numbers that people gave, in one table with every interval and standard error."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, Unpack

from evenhand.criteria import Criterion
from evenhand.data.cells import is_abstention, number_of
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.raters import (
    Drawing,
    LabelAgreement,
    Scale,
    as_array,
    defined,
    label_agreement,
    missing_label,
)
from evenhand.numbers import Missing, format_count, format_level, format_number, format_percent, format_range
from evenhand.results.measures import Kind, Measure, known, measure, measures_of
from evenhand.results.render import PrintedTables, TextTable
from evenhand.statistics import Interval
from evenhand.statistics.agreement import (
    Correlations,
    OptionRates,
    ValueErrors,
    balanced_accuracy,
    confusion_matrix,
    correlations,
    correlations_within,
    option_rates,
    value_errors,
)
from evenhand.statistics.intervals import FloatArray, IntervalLevel, Level
from evenhand.votes import Verdict

NO_GOLD = "no row has a gold label: name their column when judging, or give numbers, against_gold(gold=…)"
ARE_NUMBERS = Missing("the gold is numbers and not labels")
_NAMES = {
    "root_mean_square": "root mean square error",
    "mean_absolute": "mean absolute error",
    "cohen_kappa": "Cohen's kappa",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pair_accuracy": "pairs in the right order",
    "within_groups_pearson": "within groups: Pearson's r",
    "within_groups_spearman": "within groups: Spearman's rho",
    "within_groups_kendall": "within groups: Kendall's tau-b",
    "within_groups_pair_accuracy": "within groups: pairs in the right order",
}
_ERRORS: Mapping[str, Kind] = {"root_mean_square": "score", "mean_absolute": "score", "bias": "difference"}
NOT_GROUPED = Missing("the rows are not grouped: give groups=…")


class HasVerdict(Protocol):
    """An entry of a result, such as a judgement."""

    @property
    def instance(self) -> int:
        """The row of the data."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on it."""

    @property
    def cluster(self) -> str | None:
        """What it belongs to."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """What a judge and people say of one thing.

    Attributes:
        instance: The row of the data; rows of one instance belong together.
        system: What wrote it; None for a contest.
        selected: The option that the verdict selects; None for none.
        score: The score of the verdict; None for none.
        gold_label: The option that people chose; None where that is not known.
        gold_score: Its value, or the number that people gave.
        cluster: What the row belongs to beside its instance; None where it belongs to nothing else.
    """

    instance: int
    system: str | None
    selected: int | None
    score: float | None
    gold_label: int | None = None
    gold_score: float | None = None
    cluster: Hashable = None

    @classmethod
    def of(cls, entry: HasVerdict, criterion: Criterion, gold: str | None, *, system: str | None = None) -> Self:
        """An entry of a result with the verdict on a criterion, and the label that people gave."""
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
        label: Of the option.
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

    @classmethod
    def of(cls, label: str, rates: OptionRates) -> Self:
        """The rates, with the reason for those that are undefined."""
        return cls(
            label=label,
            num_gold=rates.num_true,
            num_judged=rates.num_judged,
            precision=known(rates.precision, f"no verdict is {label!r}"),
            recall=known(rates.recall, f"no gold label is {label!r}"),
            f1=known(rates.f1, f"neither a verdict nor a gold label is {label!r}"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """How the judge's scores go with the gold scores; see :class:`~evenhand.statistics.agreement.Correlations`.

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


@dataclass(frozen=True, kw_only=True)
class GoldComparison(LabelAgreement, PrintedTables):
    """The result of ``table.against_gold()``. Each estimate has ``low``, ``high`` and a ``standard_error``.

    Attributes:
        title: What was compared with which gold.
        num_gold: Rows with a gold label or number.
        num_clusters: What intervals are over: the rows, or what they belong to.
        accuracy_if_unscored_0: The accuracy if every row with a gold label and without a verdict were wrong.
        accuracy_if_unscored_1: The same if they were right.
        balanced_accuracy: The mean recall of the gold labels that occur.
        options: Precision, recall and F1 of each option.
        overall: Correlations over all rows.
        within_groups: The same averaged within groups.
        errors: Root mean square error, mean absolute error and bias of scores, in their units.
        labels: Of rows and columns of the confusion matrix; the last stands for what is missing.
        confusion_matrix: Rows are gold labels, columns verdicts; empty where the gold is numbers.
        parameters: Level, resamples and seed of the intervals.
    """

    title: str
    num_gold: int = measure("count")
    num_clusters: int = measure("count")
    accuracy_if_unscored_0: float | Missing = measure("share")
    accuracy_if_unscored_1: float | Missing = measure("share")
    balanced_accuracy: Interval | Missing = measure("share")
    options: tuple[OptionComparison, ...]
    overall: ScoreComparison | Missing = measure("number", name="")
    within_groups: ScoreComparison | Missing = measure("number")
    errors: ValueErrors | Missing
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]
    parameters: Mapping[str, Any]

    def measures(self) -> Iterator[Measure]:
        """Every estimate of the table, under its name."""
        counted = {"num_compared", "num_gold", "num_clusters", "accuracy_if_unscored_0", "accuracy_if_unscored_1"}
        yield from (each for each in measures_of(self) if each.name not in counted)
        for name, kind in _ERRORS.items():
            error = self.errors if isinstance(self.errors, Missing) else getattr(self.errors, name)
            yield Measure(name, error, kind)
        for option in self.options:
            if not option.num_gold + option.num_judged:
                continue
            yield from (replace(each, name=f"{each.name} of {option.label}") for each in measures_of(option))

    def text_tables(self) -> tuple[TextTable, ...]:
        """A row for each measure."""
        reasons: dict[str, list[str]] = {}
        rows, notes, spread = [], list(self._notes()), True
        for each in self.measures():
            name = _NAMES.get(each.name, each.name.replace("_", " ")) or "correlations"
            if isinstance(each.value, Missing):
                reasons.setdefault(each.value.reason, []).append(name)
            error = getattr(each.value, "standard_error", None)
            spread &= error is not None or isinstance(each.value, Missing)
            rows.append((name, str(each), format_number(error, digits=3)))
        if not spread:
            notes.append("Without a standard error: the sample has no spread, or too few clusters, to tell it from.")
        headers = ("measure", f"estimate [{format_level(self.parameters['level'])}]", "standard error")
        unknown = [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
        return (TextTable(self.title, headers, tuple(rows), (*notes, *unknown), "measures"),)

    def _notes(self) -> Iterator[str]:
        clusters = f" of {format_count(self.num_clusters, 'cluster')}"
        compared = format_count(self.num_compared, "row") + (clusters if self.num_clusters < self.num_compared else "")
        yield f"{compared} compared of {format_count(self.num_gold)} with gold."
        if not self.num_gold:
            yield NO_GOLD[0].upper() + NO_GOLD[1:] + "."
        least, most = self.accuracy_if_unscored_0, self.accuracy_if_unscored_1
        if self.num_compared < self.num_gold and not isinstance(least, Missing) and not isinstance(most, Missing):
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
    level: IntervalLevel,
    gold: Sequence[object] | Mapping[str, Sequence[object]] | None = None,
    groups: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> GoldComparison:
    """Verdicts against gold labels, or scores against gold numbers.

    Args:
        rows: What was judged, with gold labels where there are some.
        scale: Of the options.
        title: Of the table.
        level: Of the intervals, with their method; clusters are those of the rows.
        gold: Numbers in place of the labels, one for each row of the data (None or NaN where there is none), or for
            each system. They need not be values of options; correlations take any unit.
        groups: A label for each row of the data, such as its prompt; without it rows of one instance are a group,
            where some instance has several.
        resamples: Draws for the intervals of kappas and balanced accuracy.
        seed: Of the draws.

    Raises:
        InvalidInputError: Gold or groups that do not fit the rows of the data, or gold that is no number.
    """
    if gold is not None:
        rows = _with_numbers(rows, gold)
    kept = [row for row in rows if row.gold_score is not None or row.gold_label is not None]
    numbers = {each: number for number, each in enumerate(dict.fromkeys(row.together for row in kept))}
    drawn = Drawing(level=level.over([numbers[row.together] for row in kept]), resamples=resamples, seed=seed)
    truth, judged = as_array([row.gold_score for row in kept]), as_array([row.score for row in kept])
    chosen = [row.selected if gold is None else row.score for row in kept]
    return GoldComparison(
        title=title,
        num_gold=len(kept),
        num_clusters=len({row.together for row, choice in zip(kept, chosen, strict=True) if choice is not None}),
        overall=defined(lambda: _scores(correlations(truth, judged, level=drawn["level"]))),
        within_groups=_within(truth, judged, _groups(kept, groups), drawn["level"]),
        errors=_errors(truth, judged, scale, drawn["level"]),
        parameters={"level": float(level), "resamples": resamples, "seed": seed},
        **(_of_labels(kept, scale, **drawn) if gold is None else _without_labels(len(chosen) - chosen.count(None))),
    )


def _with_numbers(
    rows: Sequence[JudgedRow], gold: Sequence[object] | Mapping[str, Sequence[object]]
) -> list[JudgedRow]:
    """The rows with the numbers of people in place of their labels."""
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
                f"gold is {given!r} for row {row.instance}, which is no number; labels are read when judging, from the "
                "column that gold_fields (or gold_field, gold) names"
            )
        found.append(replace(row, gold_label=None, gold_score=number))
    return found


def _of_row(column: Sequence[Any], instance: int, name: str) -> Any:  # noqa: ANN401 - whatever it holds
    if instance >= len(column):
        raise InvalidInputError(
            f"{name} has {len(column)} entries, and row {instance} was judged; give one for each row of the data"
        )
    return column[instance]


def _groups(rows: Sequence[JudgedRow], groups: Sequence[Hashable] | None) -> list[Hashable] | None:
    instances = [row.instance for row in rows]
    if groups is None:
        return list(instances) if len(set(instances)) < len(instances) else None
    column = list(groups)
    return [_of_row(column, instance, "groups") for instance in instances]


def _of_labels(rows: Sequence[JudgedRow], scale: Scale, **drawn: Unpack[Drawing]) -> dict[str, Any]:
    """The fields that compare labels."""
    right, selected = [row.gold_label for row in rows], [row.selected for row in rows]
    truth, judged = scale.as_places(right), scale.as_places(selected)
    agreement = label_agreement(right, selected, scale, **drawn)
    rates = defined(lambda: option_rates(truth, judged, len(scale.labels), level=drawn["level"]))
    hits, unscored = int((truth == judged).sum()), len(rows) - agreement["num_compared"]
    return {
        **agreement,
        "accuracy_if_unscored_0": hits / len(rows) if rows else Missing(NO_GOLD),
        "accuracy_if_unscored_1": (hits + unscored) / len(rows) if rows else Missing(NO_GOLD),
        "balanced_accuracy": defined(lambda: balanced_accuracy(truth, judged, **drawn)),
        "options": () if isinstance(rates, Missing) else tuple(map(OptionComparison.of, scale.labels, rates)),
        "labels": (*scale.labels, missing_label(scale.labels)),
        "confusion_matrix": confusion_matrix(truth, judged, len(scale.labels)),
    }


def _without_labels(num_compared: int) -> dict[str, Any]:
    """The fields that compare labels, where the gold is numbers."""
    names = ("accuracy", "accuracy_if_unscored_0", "accuracy_if_unscored_1", "balanced_accuracy", "cohen_kappa")
    nothing = dict.fromkeys((*names, "adjacent_accuracy", "quadratic_weighted_kappa"), ARE_NUMBERS)
    return {"num_compared": num_compared, **nothing, "options": (), "labels": (), "confusion_matrix": ()}


def _within(
    truth: FloatArray, judged: FloatArray, groups: Sequence[Hashable] | None, level: Level
) -> ScoreComparison | Missing:
    if groups is None:
        return NOT_GROUPED
    return defined(lambda: _scores(correlations_within(truth, judged, groups, level=level)))


def _scores(found: Correlations) -> ScoreComparison:
    """The correlations, with the reason for those that are undefined."""
    where = "" if found.num_groups is None else " in every group"
    constant = f"the gold scores or the judge's are all the same{where}"
    return ScoreComparison(
        pearson=known(found.pearson, constant),
        spearman=known(found.spearman, constant),
        kendall=known(found.kendall, constant),
        pair_accuracy=known(found.pair_accuracy, f"the gold scores are all the same{where}"),
        num_groups=found.num_groups,
        num_ordered_groups=found.num_ordered_groups,
    )


def _errors(truth: FloatArray, judged: FloatArray, scale: Scale, level: Level) -> ValueErrors | Missing:
    low, high = scale.bounds
    if ((truth < low) | (truth > high)).any():
        return Missing(f"gold scores lie outside the range of the judge's, {format_range(low, high)}")
    return defined(lambda: value_errors(truth, judged, level=level, bounds=scale.bounds))
