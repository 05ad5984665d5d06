"""Votes as the numbers that statistics take: places of options, levels of an ordinal scale, values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.criteria import Scale as Kind
from evenhand.errors import EstimationError
from evenhand.statistics import ALPHA_METRICS, Agreement, krippendorff_alpha
from evenhand.votes import Verdict

FloatArray = NDArray[np.float64]
Result = TypeVar("Result")
TIE = 0.5


class Drawing(TypedDict):
    """How the intervals of coefficients are drawn.

    Attributes:
        level: Of the intervals.
        resamples: Draws.
        seed: Of the draws.
    """

    level: float
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
    """

    kind: Kind
    labels: tuple[str, ...]
    levels: tuple[int | None, ...]
    values: tuple[float | None, ...]

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
    def ranks(self) -> range:
        """All levels, used or not."""
        return range(1 + max(level for level in self.levels if level is not None))

    @property
    def ratings(self) -> Sequence[float]:
        """All ratings that :meth:`as_ratings` can give."""
        if self._has_distances:
            return sorted({value for value in self.values if value is not None})
        return self.ranks if self.ordinal else self.places

    @property
    def _has_distances(self) -> bool:
        valued = [value is not None for value, level in zip(self.values, self.levels, strict=True) if level is not None]
        return ALPHA_METRICS[self.kind] == "interval" and all(valued)

    def place_of(self, verdict: Verdict) -> int | None:
        """The place of what a verdict selects; None for nothing. A tie that no option names has the last place."""
        if verdict.selected_index is None and verdict.selected_label is not None:
            return len(self.labels) - 1
        return verdict.selected_index

    def as_places(self, indices: Iterable[int | None]) -> FloatArray:
        """Places of options, NaN where nothing was selected."""
        return _numbers(indices)

    def as_levels(self, indices: Iterable[int | None]) -> FloatArray:
        """Levels, NaN where nothing or NA was selected."""
        return _numbers(None if index is None else self.levels[index] for index in indices)

    def as_values(self, indices: Iterable[int | None]) -> FloatArray:
        """Values, NaN where nothing, NA or an option without a value was selected."""
        return _numbers(None if index is None else self.values[index] for index in indices)

    def as_ratings(self, indices: Iterable[int | None]) -> FloatArray:
        """What the agreement of a panel is computed from: NaN for NA; values for comparisons, levels, or places."""
        given = list(indices)
        if self._has_distances:
            return self.as_values(given)
        if self.ordinal:
            return self.as_levels(given)
        return _numbers(None if index is None or self.levels[index] is None else index for index in given)

    def alpha(self, ratings: FloatArray, **drawn: Unpack[Drawing]) -> Agreement | Undefined:
        """Krippendorff's alpha of ratings, (n_instances, n_raters), by the metric that belongs to the scale."""
        return defined(
            lambda: krippendorff_alpha(ratings, metric=ALPHA_METRICS[self.kind], categories=self.ratings, **drawn)
        )


def _numbers(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=float)


@dataclass(frozen=True, slots=True)
class Undefined:
    """A statistic that these data do not define, and why."""

    reason: str


def defined(statistic: Callable[[], Result]) -> Result | Undefined:
    """A statistic, or the reason why the data do not define it."""
    try:
        return statistic()
    except EstimationError as error:
        return Undefined(str(error))
