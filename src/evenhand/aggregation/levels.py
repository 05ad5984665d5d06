"""A criterion's options as the aggregation needs them: values, ties and the option that is nearest to a number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from evenhand.criteria import Criterion
from evenhand.errors import InvalidCriterionError

TOLERANCE = 1e-9
"""Numbers closer than this are tied."""

UNNAMED_TIE = -1
"""The index of a pairwise tie that no option names."""


class Choice(NamedTuple):
    """An option chosen, and the number that led to it.

    Attributes:
        option: Its index in the criterion's own order, or :data:`UNNAMED_TIE`.
        value: The number before it was snapped to the option; None where the option has no value.
    """

    option: int
    value: float | None


@dataclass(frozen=True, slots=True)
class Levels:
    """The options of one criterion, read once per aggregation.

    Attributes:
        criterion: The criterion.
        values: Per option its value; None where it has none.
        na: Per option whether it says that the criterion does not apply.
        scored: The indices of the options that are not NA.
        has_values: Whether every scored option has a value.
    """

    criterion: Criterion
    values: tuple[float | None, ...]
    na: tuple[bool, ...]
    scored: tuple[int, ...]
    has_values: bool

    @classmethod
    def of(cls, criterion: Criterion) -> Levels:
        """The levels of a criterion.

        Raises:
            InvalidCriterionError: If a pairwise criterion lacks the values that say which side an option is on.
        """
        options = criterion.options
        values = tuple([option.value for option in options])
        na = tuple([option.na for option in options])
        scored = tuple([index for index, is_na in enumerate(na) if not is_na])
        has_values = all(values[index] is not None for index in scored)
        if criterion.scale == "pairwise" and not has_values:
            raise InvalidCriterionError(
                f"the pairwise criterion {criterion.name!r} has options without a value; give each one: "
                "1 where the first response is better, 0 where the second is, 0.5 for a tie"
            )
        return cls(criterion, values, na, scored, has_values)

    @property
    def pairwise(self) -> bool:
        """Whether the options take sides for one of two responses."""
        return self.criterion.scale == "pairwise"

    @property
    def graded(self) -> bool:
        """Whether a pairwise criterion has more than one option on a side."""
        sides = [self.side(self.number(index)) for index in self.scored]
        return sides.count(1) > 1 or sides.count(-1) > 1

    @property
    def by_value(self) -> bool:
        """Whether draws come to their median, and not to the option or side drawn most often."""
        return self.has_values and (self.graded if self.pairwise else self.criterion.scale == "ordinal")

    @property
    def met(self) -> int:
        """The option of a binary criterion that means MET: the higher value; without values the first."""
        return max(self.scored, key=self.number) if self.has_values else self.scored[0]

    @property
    def unmet(self) -> int:
        """The other option of a binary criterion."""
        return min(self.scored, key=self.number) if self.has_values else self.scored[-1]

    @property
    def tie(self) -> Choice:
        """The tie of a pairwise criterion: the option with the value ½, or no option."""
        named = [index for index in self.scored if self.side(self.number(index)) == 0]
        return Choice(named[0] if named else UNNAMED_TIE, 0.5)

    def number(self, index: int) -> float:
        """The value of an option that is known to have one."""
        value = self.values[index]
        if value is None:
            raise InvalidCriterionError(
                f"the option {self.criterion.options[index].label!r} of {self.criterion.name!r} has no value"
            )
        return value

    def choice(self, index: int) -> Choice:
        """An option as it was chosen."""
        return Choice(index, self.values[index])

    @staticmethod
    def side(value: float) -> int:
        """Whom a pairwise value favours: 1 the first response, -1 the second, 0 neither."""
        return (value > 0.5 + TOLERANCE) - (value < 0.5 - TOLERANCE)

    def worst(self, candidates: Iterable[int]) -> int:
        """The candidate that scores worst: see :func:`worst_option`."""
        sign = 1.0 if self.criterion.weight >= 0 else -1.0
        if not self.has_values:
            if self.criterion.scale == "binary":
                return max(candidates, key=lambda index: (index == self.unmet) == (sign > 0))
            return min(candidates)
        return min(candidates, key=lambda index: (sign * self.number(index), index))

    def snap(self, value: float) -> int:
        """The scored option whose value is nearest; ties as :func:`worst_option`, for pairwise toward the tie.

        A pairwise tie must favour neither side: at equal distance the option nearer to ½ is taken, and exactly ½ is
        the tie, whether an option names it or not.
        """
        if self.pairwise and self.side(value) == 0:
            return self.tie.option
        distances = {index: abs(self.number(index) - value) for index in self.scored}
        nearest = min(distances.values()) + TOLERANCE
        candidates = [index for index, distance in distances.items() if distance <= nearest]
        if self.pairwise:
            return min(candidates, key=lambda index: (abs(self.number(index) - 0.5), index))
        return self.worst(candidates)


def worst_option(criterion: Criterion, candidates: Iterable[int]) -> int:
    """The one of the candidates that scores worst, which is where ties are broken to.

    The lowest value for a weight >= 0, the highest for a weight < 0, the lowest index among equal values. Without
    values: the lowest index; for a binary criterion the second option (not met) for a weight >= 0, the first below.

    Example:
        >>> from evenhand.criteria import Option
        >>> levels = tuple(Option(label=str(value), value=value) for value in (0, 0.5, 1))
        >>> worst_option(Criterion(name="clear", description="", options=levels), [1, 2])
        1
        >>> worst_option(Criterion(name="rude", description="", options=levels, weight=-1), [1, 2])
        2
    """
    return Levels.of(criterion).worst(candidates)
