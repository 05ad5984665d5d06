"""Votes as the numbers that statistics take: places of options, levels of an ordinal scale, values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.errors import EstimationError

FloatArray = NDArray[np.float64]
Result = TypeVar("Result")


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
        ordinal: Whether the options have an order.
        labels: Of the options, in the criterion's order.
        levels: Per option its level from 0 for the lowest; None for an NA option. Options of equal value are one level;
            without values the options count in the order in which they are listed.
        values: Per option its value, None where it has none.
    """

    ordinal: bool
    labels: tuple[str, ...]
    levels: tuple[int | None, ...]
    values: tuple[float | None, ...]

    @classmethod
    def of(cls, criterion: Criterion) -> Scale:
        """The scale of a criterion."""
        options = criterion.options
        order = [
            None if option.na else option.value if criterion.has_values else float(place)
            for place, option in enumerate(options)
        ]
        ranked = sorted({value for value in order if value is not None})
        return cls(
            ordinal=criterion.scale == "ordinal",
            labels=criterion.labels,
            levels=tuple(None if value is None else ranked.index(value) for value in order),
            values=tuple(option.value for option in options),
        )

    @property
    def places(self) -> range:
        """The places of all options, used or not."""
        return range(len(self.labels))

    @property
    def ranks(self) -> range:
        """All levels, used or not."""
        return range(1 + max(level for level in self.levels if level is not None))

    @property
    def metric(self) -> Literal["nominal", "ordinal"]:
        """Krippendorff's name of the level of measurement."""
        return "ordinal" if self.ordinal else "nominal"

    @property
    def ratings(self) -> range:
        """All ratings that :meth:`as_ratings` can give."""
        return self.ranks if self.ordinal else self.places

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
        """What the agreement of a panel is computed from: levels if there is an order, else places; NaN for NA."""
        given = list(indices)
        if self.ordinal:
            return self.as_levels(given)
        return _numbers(None if index is None or self.levels[index] is None else index for index in given)


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
