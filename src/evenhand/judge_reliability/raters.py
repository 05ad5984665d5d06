"""Judges and people as raters: their selections as numbers, and how far they agree with each other and with the truth.

Read :func:`all_pairs` and :func:`panels` for raters, :func:`summarize_votes` for verdicts on recorded votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.criteria import Scale as ScaleName
from evenhand.errors import EstimationError
from evenhand.numbers import Missing
from evenhand.results.measures import measure
from evenhand.scoring import ScoreSummary, summarize
from evenhand.statistics import Interval
from evenhand.statistics.agreement import (
    ALPHA_METRICS,
    Agreement,
    ValueErrors,
    accuracy,
    cohen_kappa,
    confusion_matrix,
    krippendorff_alpha,
    value_errors,
)
from evenhand.statistics.intervals import Level
from evenhand.votes import Verdict

FloatArray = NDArray[np.float64]
Result = TypeVar("Result")
Kind = Literal["judge", "human"]
TIE = 0.5


def defined(statistic: Callable[[], Result]) -> Result | Missing:
    """A statistic, or the reason why the data do not define it."""
    try:
        return statistic()
    except EstimationError as error:
        return Missing(str(error))


class Drawing(TypedDict):
    """How the intervals of coefficients are drawn.

    Attributes:
        level: Of the intervals.
        resamples: Draws.
        seed: Of the draws.
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
        values: Per option its value, None where it has none.
        bounds: The least and the greatest score.
    """

    kind: ScaleName
    labels: tuple[str, ...]
    levels: tuple[int | None, ...]
    values: tuple[float | None, ...]
    bounds: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, criterion: Criterion) -> Scale:
        """The scale of a criterion."""
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
        """The place of what a verdict selects; None for nothing. A tie that no option names has the last place."""
        if verdict.selected_index is None and verdict.selected_label == self.labels[-1]:
            return len(self.labels) - 1
        return verdict.selected_index

    def as_places(self, indices: Iterable[int | None]) -> FloatArray:
        """Places of options, NaN where nothing was selected."""
        return _looked_up(self.places, indices)

    def as_values(self, indices: Iterable[int | None]) -> FloatArray:
        """Values, NaN where nothing, NA or an option without a value was selected."""
        return _looked_up(self.values, indices)

    def as_ratings(self, indices: Iterable[int | None]) -> FloatArray:
        """What agreement beyond chance is computed from, NaN where nothing or NA was selected."""
        return _looked_up(self.ratings, indices)

    def alpha(self, ratings: FloatArray, **drawn: Unpack[Drawing]) -> Agreement | Missing:
        """Krippendorff's alpha of ratings, (n_instances, n_raters), by the metric that belongs to the scale."""
        metric = ALPHA_METRICS[self.kind]
        return defined(lambda: krippendorff_alpha(ratings, metric=metric, categories=self.categories, **drawn))

    def kappa(self, first: FloatArray, second: FloatArray, **drawn: Unpack[Drawing]) -> Agreement | Missing:
        """Cohen's kappa of two raters' ratings, (n_instances,): quadratic-weighted where the options have an order."""
        weights: Literal["quadratic"] | None = "quadratic" if self.ordinal else None
        return defined(lambda: cohen_kappa(first, second, weights=weights, categories=self.categories, **drawn))


def _looked_up(numbers: Sequence[float | None], indices: Iterable[int | None]) -> FloatArray:
    return as_array([None if index is None else numbers[index] for index in indices])


def as_array(numbers: Iterable[float | None]) -> FloatArray:
    """The numbers, NaN where there is none."""
    return np.array([np.nan if number is None else number for number in numbers], dtype=float)


@dataclass(frozen=True, slots=True)
class Rater:
    """A judge or a person, and what each instance was rated.

    Attributes:
        name: Of the judge or person.
        kind: ``judge`` or ``human``.
        selected: Per instance the option chosen; None where nothing was.
    """

    name: str
    kind: Kind
    selected: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """How far the labels of two raters are the same, on the instances that both rated.

    Attributes:
        num_compared: Instances that both rated. NA is a rating like any other here.
        accuracy: The share on which both chose the same option: where the first is right, the second's accuracy.
        adjacent_accuracy: The share on which they are at most one level apart; None where options have no order.
        cohen_kappa: Beyond chance, over all options.
        quadratic_weighted_kappa: The same over all levels, used or not, without the instances that either found NA;
            None where options have no order.
    """

    num_compared: int = measure("count")
    accuracy: Interval | Missing = measure("share", always=True)
    adjacent_accuracy: Interval | Missing | None = measure("share", always=True)
    cohen_kappa: Agreement | Missing = measure("number", always=True)
    quadratic_weighted_kappa: Agreement | Missing | None = measure("number", always=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterPair(LabelAgreement):
    """How far two raters agree.

    Attributes:
        first: The person's name, where one of the two is a person.
        second: The other's name.
        kinds: ``human`` and ``judge``, of the first and the second.
    """

    first: str
    second: str
    kinds: tuple[Kind, Kind]


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How far several raters agree.

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
        num_references: Instances with a reference.
        accuracy_if_unscored_0: The accuracy if every instance with a reference and without a verdict were wrong.
        accuracy_if_unscored_1: The same if they were right.
        labels: Of rows and columns of the confusion matrix; the last stands for what is missing.
        confusion_matrix: Rows are references, columns verdicts; the cells add up to all instances.
        errors: Of the aggregated values against the values of the references.
    """

    num_references: int = measure("count")
    accuracy_if_unscored_0: float = measure("share")
    accuracy_if_unscored_1: float = measure("share")
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]
    errors: ValueErrors | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSummary:
    """What the recorded votes on ``scores.num_instances`` instances come to.

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
        level: Of the intervals.
    """

    scores: ScoreSummary
    krippendorff_alpha: Agreement | Missing = measure("number", always=True)
    num_votes: int = measure("count")
    num_abstentions: int = measure("count")
    num_out_of_scale: int = measure("count")
    num_na_votes: int = measure("count")
    selections: tuple[tuple[str, int], ...]
    comparison: Comparison | Missing = measure("number", name="")
    level: float


def all_pairs(raters: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> tuple[RaterPair, ...]:
    """Every two raters: humans and judges, then humans, then judges; in each part in the order given."""
    humans, judges = _by_kind(raters)
    pairs = [(human, judge) for human in humans for judge in judges]
    pairs += [*combinations(humans, 2), *combinations(judges, 2)]
    return tuple(
        RaterPair(
            first=first.name,
            second=second.name,
            kinds=(first.kind, second.kind),
            **label_agreement(first.selected, second.selected, scale, **drawn),
        )
        for first, second in pairs
    )


def panels(raters: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> tuple[PanelAgreement, ...]:
    """The judges, the humans, and all of them, as far as there are two."""
    humans, judges = _by_kind(raters)
    named = {"judges": judges, "humans": humans}
    if humans and judges:
        named["judges and humans"] = [*judges, *humans]
    return tuple(
        PanelAgreement(
            name=name,
            raters=tuple(member.name for member in members),
            krippendorff_alpha=scale.alpha(
                np.column_stack([scale.as_ratings(member.selected) for member in members]), **drawn
            ),
        )
        for name, members in named.items()
        if len(members) > 1
    )


def _by_kind(raters: Sequence[Rater]) -> tuple[list[Rater], list[Rater]]:
    """The people, and the judges."""
    return [each for each in raters if each.kind == "human"], [each for each in raters if each.kind == "judge"]


def label_agreement(
    first: Sequence[int | None], second: Sequence[int | None], scale: Scale, **drawn: Unpack[Drawing]
) -> dict[str, Any]:
    """The fields of :class:`LabelAgreement`; the first is who counts as right."""
    truth, judged = scale.as_places(first), scale.as_places(second)
    rated = scale.as_ratings(first), scale.as_ratings(second)
    level = drawn["level"]
    return {
        "num_compared": int((~np.isnan(truth) & ~np.isnan(judged)).sum()),
        "accuracy": defined(lambda: accuracy(truth, judged, level=level)),
        "adjacent_accuracy": defined(lambda: _adjacent_accuracy(scale, first, second, level))
        if scale.ordinal
        else None,
        "cohen_kappa": defined(lambda: cohen_kappa(truth, judged, categories=scale.places, **drawn)),
        "quadratic_weighted_kappa": scale.kappa(*rated, **drawn) if scale.ordinal else None,
    }


def _adjacent_accuracy(
    scale: Scale, truth: Sequence[int | None], judged: Sequence[int | None], level: Level = 0.95
) -> Interval:
    """The share of judgements at most one level beside the truth; NA is right where the truth is NA, else wrong.

    Raises:
        EstimationError: No unit has both.
    """
    far = len(scale.labels) + 1  # no level is so near to it as to count as adjacent
    levels = [far if level is None else level for level in scale.levels]
    return accuracy(_looked_up(levels, truth), _looked_up(levels, judged), within=1, level=level)


def summarize_votes(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    references: Sequence[int | None] | None = None,
    *,
    level: Level = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> VoteSummary:
    """Scores, agreement and, where there are references, how often the verdicts are right.

    Args:
        verdicts: One per instance, on recorded votes (one order and one sample per judge).
        criterion: Whose options were voted on.
        references: Per instance the option that is right, None where it is not known.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the instances.
        resamples: Draws for the intervals of alpha and kappa.
        seed: Of the draws.
    """
    scale = Scale.of(criterion)
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    drawn = Drawing(level=level, resamples=resamples, seed=seed)
    selected = [verdict.selected_index for verdict in verdicts]
    given = [] if references is None else references
    return VoteSummary(
        scores=summarize(verdicts, [criterion.score_range] * len(verdicts), level=level),
        krippendorff_alpha=_alpha_of_votes(verdicts, scale, **drawn),
        num_votes=len(votes),
        num_abstentions=sum(vote.unscored_reason == "abstained" for vote in votes),
        num_out_of_scale=sum(vote.unscored_reason == "no_match" for vote in votes),
        num_na_votes=sum(vote.na for vote in votes),
        selections=tuple((label, selected.count(place)) for place, label in enumerate(scale.labels)),
        comparison=Missing("no instance has a reference")
        if given.count(None) == len(given)
        else _comparison(verdicts, scale, given, **drawn),
        level=float(level),
    )


def _alpha_of_votes(verdicts: Sequence[Verdict], scale: Scale, **drawn: Unpack[Drawing]) -> Agreement | Missing:
    """Krippendorff's alpha of the judges; those of instances with fewer votes than others are missing."""
    width = max((len(verdict.votes) for verdict in verdicts), default=0)
    ratings = np.full((len(verdicts), width), np.nan)
    for row, verdict in enumerate(verdicts):
        ratings[row, : len(verdict.votes)] = scale.as_ratings(vote.selected_index for vote in verdict.votes)
    return scale.alpha(ratings, **drawn)


def _comparison(
    verdicts: Sequence[Verdict],
    scale: Scale,
    references: Sequence[int | None],
    **drawn: Unpack[Drawing],
) -> Comparison:
    """The verdicts against the references."""
    selected = [verdict.selected_index for verdict in verdicts]
    agreement = label_agreement(references, selected, scale, **drawn)
    truth, judged = scale.as_places(references), scale.as_places(selected)
    right, known = int((truth == judged).sum()), int((~np.isnan(truth)).sum())
    numbers = [verdict.aggregated_value for verdict in verdicts]
    return Comparison(
        num_references=known,
        accuracy_if_unscored_0=right / known,
        accuracy_if_unscored_1=(right + known - agreement["num_compared"]) / known,
        labels=(*scale.labels, missing_label(scale.labels)),
        confusion_matrix=confusion_matrix(truth, judged, len(scale.labels)),
        errors=defined(
            lambda: value_errors(
                scale.as_values(references),
                _looked_up(numbers, range(len(numbers))),
                level=drawn["level"],
                bounds=scale.bounds,
            )
        ),
        **agreement,
    )


def missing_label(labels: Sequence[str]) -> str:
    """What a confusion matrix calls a missing verdict or reference.

    >>> missing_label(["Yes", "No"])
    'unscored'
    """
    name = "unscored"
    while name in labels:
        name = f"({name})"
    return name
