"""Which rules there are, for which scale, and how a panel's choices of a criterion's options become one."""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from evenhand.criteria import Criterion, Scale
from evenhand.errors import EvenhandWarning, InvalidCriterionError, InvalidInputError, UnknownRuleError, did_you_mean

TOLERANCE = 1e-9
"""Numbers closer than this are tied; option values, closer than this share of their range."""

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
        tolerance: Values closer than this are tied.
    """

    criterion: Criterion
    values: tuple[float | None, ...]
    na: tuple[bool, ...]
    scored: tuple[int, ...]
    has_values: bool
    tolerance: float

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
        low, high = criterion.score_range
        return cls(criterion, values, na, scored, has_values, TOLERANCE * (high - low))

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

    def value_of(self, choice: Choice) -> float:
        """The number that led to a choice, or the value of its option where there was none."""
        return self.number(choice.option) if choice.value is None else choice.value

    def choice(self, index: int) -> Choice:
        """An option as it was chosen."""
        return Choice(index, self.values[index])

    @staticmethod
    def side(value: float) -> int:
        """Whom a pairwise value favours: 1 the first response, -1 the second, 0 neither."""
        return (value > 0.5 + TOLERANCE) - (value < 0.5 - TOLERANCE)

    def worst(self, candidates: Iterable[int]) -> int:
        """The one of the candidates that scores worst, which is where ties are broken to.

        The lowest value for a weight >= 0, the highest for a weight < 0, the lowest index among equal values. Without
        values: the lowest index; for a binary criterion the second option (not met) for a weight >= 0, the first below.

        Example:
            >>> from evenhand.criteria import Option
            >>> options = tuple(Option(label=str(value), value=value) for value in (0, 0.5, 1))
            >>> Levels.of(Criterion(name="clear", description="", options=options)).worst([1, 2])
            1
            >>> Levels.of(Criterion(name="rude", description="", options=options, weight=-1)).worst([1, 2])
            2
        """
        sign = 1.0 if self.criterion.weight >= 0 else -1.0
        if not self.has_values:
            if self.criterion.scale == "binary":
                return max(candidates, key=lambda index: (index == self.unmet) == (sign > 0))
            return min(candidates)
        return min(candidates, key=lambda index: (sign * self.number(index), index))

    def snap(self, value: float) -> int:
        """The scored option whose value is nearest; ties as :meth:`worst`, for pairwise toward the tie.

        A pairwise tie must favour neither side: at equal distance the option nearer to ½ is taken, and exactly ½ is
        the tie, whether an option names it or not.
        """
        if self.pairwise and self.side(value) == 0:
            return self.tie.option
        distances = {index: abs(self.number(index) - value) for index in self.scored}
        nearest = min(distances.values()) + self.tolerance
        candidates = [index for index, distance in distances.items() if distance <= nearest]
        if self.pairwise:
            return min(candidates, key=lambda index: (abs(self.number(index) - 0.5), index))
        return self.worst(candidates)


RULES: Mapping[Scale, tuple[str, ...]] = MappingProxyType(
    {
        "binary": ("majority", "weighted", "unanimous", "any", "absolute_majority"),
        "ordinal": ("mean", "median", "weighted_mean", "mode", "min", "max"),
        "nominal": ("mode", "weighted_mode", "unanimous"),
        "pairwise": ("mode", "weighted_mode", "mean", "weighted_mean", "absolute_majority"),
    }
)
"""Scale -> the panel rules that belong to it, the default first."""

ON_POSITION_BIAS: Mapping[Scale, tuple[str, ...]] = MappingProxyType(
    {
        "binary": ("average", "abstain", "first"),
        "ordinal": ("average", "abstain", "first"),
        "nominal": ("average", "abstain", "first"),
        "pairwise": ("tie", "average", "abstain", "first"),
    }
)
"""Scale -> what may be done when a judge's orders disagree, the default first. ``average`` needs options with values;
without them the default is ``abstain``."""

WEIGHTED_RULES = frozenset({"weighted", "weighted_mean", "weighted_mode"})
"""The rules that look at the judges' weights; every other rule ignores them."""


class AggregationWarning(EvenhandWarning):
    """A rule could not be applied as it is written, and another one was."""


class Ballot(NamedTuple):
    """What one judge comes to the panel with."""

    choice: Choice
    weight: float


def check_rule(rule: str | None, scale: Scale) -> str:
    """The rule, or the scale's default for None.

    Raises:
        UnknownRuleError: If the rule does not exist, or does not belong to the scale.

    Example:
        >>> check_rule(None, "ordinal")
        'mean'
        >>> check_rule("medain", "ordinal")
        Traceback (most recent call last):
            ...
        evenhand.errors.UnknownRuleError: 'medain' is not a rule for the scale 'ordinal'. Did you mean 'median'? \
Accepted: 'mean', 'median', 'weighted_mean', 'mode', 'min', 'max'.
    """
    accepted = _accepted(RULES, scale)
    if rule is None:
        return accepted[0]
    if rule not in accepted:
        raise UnknownRuleError(f"{rule!r} is not a rule for the scale {scale!r}. {did_you_mean(rule, accepted)}")
    return rule


def check_on_position_bias(policy: str | None, scale: Scale, *, has_values: bool = True) -> str:
    """The policy for orders that disagree, or the default for None.

    Raises:
        UnknownRuleError: If the policy does not exist, does not belong to the scale, or needs values that the
            criterion does not have.

    Example:
        >>> check_on_position_bias(None, "pairwise"), check_on_position_bias(None, "nominal", has_values=False)
        ('tie', 'abstain')
    """
    accepted = _accepted(ON_POSITION_BIAS, scale)
    if not has_values:
        accepted = tuple(name for name in accepted if name != "average")
    if policy is None:
        return accepted[0]
    if policy not in accepted:
        why = " whose options have no values" if not has_values else ""
        raise UnknownRuleError(
            f"on_position_bias={policy!r} does not fit the scale {scale!r}{why}. {did_you_mean(policy, accepted)}"
        )
    return policy


def check_weights(weights: Mapping[str, float] | None) -> None:
    """Refuse weights of judges that are out of range, whether the rule looks at them or not.

    Raises:
        InvalidInputError: If a weight is negative or not finite, or all are 0.

    Example:
        >>> check_weights({"a": 2, "b": -1})
        Traceback (most recent call last):
            ...
        evenhand.errors.InvalidInputError: the judge 'b' has the weight -1; it must be finite and >= 0
    """
    if not weights:
        return
    for judge, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise InvalidInputError(f"the judge {judge!r} has the weight {weight!r}; it must be finite and >= 0")
    if not any(weights.values()):
        raise InvalidInputError(f"every judge has the weight 0 ({dict(weights)!r}); one must count")


def _accepted(table: Mapping[Scale, tuple[str, ...]], scale: Scale) -> tuple[str, ...]:
    try:
        return table[scale]
    except KeyError:
        raise UnknownRuleError(f"{scale!r} is not a scale. {did_you_mean(scale, table)}") from None


def panel_choice(ballots: Sequence[Ballot], rule: str, levels: Levels, asked: int) -> Choice:
    """The choice of a panel under a rule of its scale (section "judges" of :func:`~evenhand.aggregation.aggregate`).

    Args:
        ballots: Of the judges who chose something.
        rule: One of the scale's.
        levels: Of the criterion.
        asked: How many judges were asked, whether they chose something or not.
    """
    if rule == "absolute_majority":
        return _absolute_majority(ballots, levels, asked)
    if len({ballot.choice for ballot in ballots}) == 1:
        return ballots[0].choice
    if rule not in WEIGHTED_RULES:
        ballots = [Ballot(ballot.choice, 1.0) for ballot in ballots]
    if rule in {"mean", "weighted_mean", "median", "min", "max"} and levels.has_values:
        return _choice_by_value(ballots, rule, levels)
    if levels.pairwise:
        return _winning_side(ballots, levels)
    if rule == "unanimous":
        return _unanimous(ballots, levels)
    if rule == "any":
        option = levels.met if any(ballot.choice.option == levels.met for ballot in ballots) else levels.unmet
    else:
        option = _plurality(ballots, levels)
    return _selected(ballots, option, levels)


def plurality_choice(choices: Sequence[Choice], levels: Levels) -> Choice:
    """The option chosen most often, ties to the worst; for pairwise the winning side, ties to the tie."""
    ballots = [Ballot(choice, 1.0) for choice in choices]
    if levels.pairwise:
        return _winning_side(ballots, levels)
    return levels.choice(_plurality(ballots, levels))


def average_of(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The (weighted) mean, independent of the order of the values and never outside their range."""
    low, high = min(values), max(values)
    if weights is None:
        mean = math.fsum(values) / len(values)
    else:
        mean = math.fsum(weight * value for weight, value in zip(weights, values, strict=True)) / math.fsum(weights)
    return min(max(mean, low), high)


def _choice_by_value(ballots: Sequence[Ballot], rule: str, levels: Levels) -> Choice:
    values = [levels.value_of(ballot.choice) for ballot in ballots]
    if rule in {"min", "max"}:
        extreme = min(values) if rule == "min" else max(values)
        indices = [ballot.choice.option for ballot, value in zip(ballots, values, strict=True) if value == extreme]
        return Choice(min(indices), extreme)
    weights = [ballot.weight for ballot in ballots]
    return _snapped(ballots, statistics.median(values) if rule == "median" else average_of(values, weights), levels)


def _snapped(ballots: Sequence[Ballot], value: float, levels: Levels) -> Choice:
    """The option that all ballots chose, else the one nearest to their value."""
    chosen = {ballot.choice.option for ballot in ballots}
    return Choice(chosen.pop() if len(chosen) == 1 else levels.snap(value), value)


def _unanimous(ballots: Sequence[Ballot], levels: Levels) -> Choice:
    if len({ballot.choice.option for ballot in ballots}) == 1:
        return _selected(ballots, ballots[0].choice.option, levels)
    if levels.criterion.scale == "binary":
        return _selected(ballots, levels.unmet, levels)
    if (na_index := levels.criterion.na_index) is not None:
        return Choice(na_index, None)
    warnings.warn(
        f"the judges of {levels.criterion.name!r} disagree under the rule 'unanimous', and the criterion has no NA "
        "option to select: falling back to 'mode'. Add an NA option, or choose the rule 'mode'",
        AggregationWarning,
        stacklevel=4,
    )
    return _selected(ballots, _plurality(ballots, levels), levels)


def _absolute_majority(ballots: Sequence[Ballot], levels: Levels, asked: int) -> Choice:
    """What more than half of all who were asked chose; without that, not met, and of two responses a tie."""
    equal = [Ballot(ballot.choice, 1.0) for ballot in ballots]
    if levels.pairwise:
        side = levels.side(levels.value_of(choice := _winning_side(equal, levels)))
        takers = [ballot for ballot in equal if levels.side(levels.value_of(ballot.choice)) == side]
        return choice if 2 * len(takers) > asked else levels.tie
    met = sum(ballot.choice.option == levels.met for ballot in equal)
    return _selected(equal, levels.met if 2 * met > asked else levels.unmet, levels)


def _winning_side(ballots: Sequence[Ballot], levels: Levels) -> Choice:
    """The side with the most weight, at the mean value of those who took it; no single winner is a tie."""
    weights: dict[int, list[float]] = {}
    for ballot in ballots:
        weights.setdefault(levels.side(levels.value_of(ballot.choice)), []).append(ballot.weight)
    sides = _leaders(weights)
    if len(sides) > 1:
        return levels.tie
    takers = [ballot for ballot in ballots if levels.side(levels.value_of(ballot.choice)) == sides[0]]
    value = average_of([levels.value_of(ballot.choice) for ballot in takers], [ballot.weight for ballot in takers])
    return _snapped(takers, value, levels)


def _plurality(ballots: Sequence[Ballot], levels: Levels) -> int:
    weights: dict[int, list[float]] = {}
    for ballot in ballots:
        weights.setdefault(ballot.choice.option, []).append(ballot.weight)
    return levels.worst(_leaders(weights))


def _leaders(weights: Mapping[int, list[float]]) -> list[int]:
    totals = {key: math.fsum(parts) for key, parts in weights.items()}
    most = max(totals.values()) * (1 - TOLERANCE)
    return [key for key, total in totals.items() if total >= most]


def _selected(ballots: Sequence[Ballot], index: int, levels: Levels) -> Choice:
    """An option selected by count, with the mean value of the judges that selected it.

    The mean is the option's own value unless a judge's orders disagreed and were averaged.
    """
    option_value = levels.values[index]
    takers = [ballot for ballot in ballots if ballot.choice.option == index]
    if option_value is None or not takers:
        return Choice(index, option_value)
    values = [levels.value_of(ballot.choice) for ballot in takers]
    return Choice(index, average_of(values, [ballot.weight for ballot in takers]))
