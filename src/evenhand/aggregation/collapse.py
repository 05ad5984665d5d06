"""One judge's votes to one choice: first the samples of each order, then the orders."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.aggregation.rules import TOLERANCE, Choice, Levels, average_of, plurality_choice
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.votes import Vote


def expected_value(
    probabilities: Sequence[float], values: Sequence[float | None], *, min_mass: float = 0.5
) -> float | None:
    r"""The mean value of the options, weighted by their probabilities: :math:`\sum p_i v_i / \sum p_i`.

    Both sums run over the options that have a value, so the result is the mean given that one of these is chosen; it
    lies within the range of the values. The divisor is the covered mass: what is missing to 1 was spent on NA, or
    on tokens that name no option.

    Args:
        probabilities: Per option in the criterion's own order its mass, as the model gave it, not normalised.
        values: Per option its value; None for NA and for an option without a value.
        min_mass: In [0, 1]. A distribution that covers less says too little.

    Returns:
        The mean; None when the covered mass is 0 or below ``min_mass``.

    Raises:
        InvalidInputError: If the lengths differ, a mass is negative or not finite, a value is not finite, or
            ``min_mass`` does not lie in [0, 1].

    Source: Liu et al. (2023), "G-Eval", section 2 (the sum; the division by the covered mass is ours).

    Example:
        >>> expected_value([0.25, 0.5, 0.25], [0.0, 0.5, None])  # 0.25 / 0.75
        0.3333333333333333
        >>> expected_value([0.25, 0.125, 0.625], [0.0, 1.0, None]) is None  # only 0.375 is covered
        True
    """
    if len(probabilities) != len(values):
        raise InvalidInputError(
            f"there are {len(probabilities)} probabilities and {len(values)} values; give both for every option"
        )
    if not 0 <= min_mass <= 1:
        raise InvalidInputError(f"min_mass is {min_mass!r}; it is a probability, in [0, 1]")
    _check_masses(probabilities)
    covered = [(mass, value) for mass, value in zip(probabilities, values, strict=True) if value is not None]
    if not all(math.isfinite(value) for _, value in covered):
        raise InvalidInputError(f"the values {list(values)!r} are not all finite; None stands for no value")
    total = math.fsum(mass for mass, _ in covered)
    if total <= 0 or total < min_mass - TOLERANCE:
        return None
    used = [value for mass, value in covered if mass > 0]
    mean = math.fsum(mass * value for mass, value in covered) / total
    return min(max(mean, min(used)), max(used))


def mean_covered_mass(votes: Sequence[Vote], criterion: Criterion) -> float | None:
    """How much of the probability expected values rest on: the mass of the options with a value.

    Args:
        votes: On one question.
        criterion: Whose options the probabilities belong to.

    Returns:
        The mean over the scored votes that have probabilities, those that cover too little included; None without any.
    """
    valued = [place for place, option in enumerate(criterion.options) if option.value is not None and not option.na]
    known = [vote.probabilities for vote in votes if vote.scored and vote.probabilities is not None]
    masses = [min(1.0, math.fsum(probabilities[place] for place in valued)) for probabilities in known]
    return math.fsum(masses) / len(masses) if masses else None


def _check_masses(probabilities: Sequence[float]) -> None:
    for mass in probabilities:
        if not (math.isfinite(mass) and mass >= 0):
            raise InvalidInputError(
                f"a probability is {mass!r} in {list(probabilities)!r}; it must be finite and >= 0: "
                "exponentiate log-probabilities first"
            )


MIN_MASS = 0.5
"""Probabilities that cover less than this say too little to be used."""

_NA = -2
"""Stands for "does not apply" where the answers of several orders are compared."""


@dataclass(frozen=True, slots=True)
class OrderResult:
    """What one judge says in one order.

    Attributes:
        choice: The choice; None when no vote of the order is scored.
        na: No vote is scored, and at least one says that the criterion does not apply.
        spread: The population standard deviation of the values drawn; None with fewer than two.
        draws: How many values were drawn.
        undecided: The draws stopped before they settled what they come to.
    """

    choice: Choice | None
    na: bool
    spread: float | None
    draws: int = 0
    undecided: bool = False

    @property
    def variance(self) -> float:
        """The sample variance of the values drawn, at least two."""
        return (self.spread or 0.0) ** 2 * self.draws / (self.draws - 1)


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What one judge says in all orders.

    Attributes:
        choice: The choice; None when the judge is unscored, abstains or says NA.
        na: The judge says that the criterion does not apply.
        abstains: The judge has chosen, but is set aside under ``abstain``: its orders disagree, or only one is scored.
        consistent: Whether all orders that were answered select the same option (pairwise: take the same side, whatever
            the grade); None with fewer than two.
        spreads: Per order with repeated draws the spread of the values.
        variances: The sample variances of the same.
    """

    choice: Choice | None
    na: bool
    abstains: bool
    consistent: bool | None
    spreads: tuple[float, ...]
    variances: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a vote is worth.

    Attributes:
        expected: A vote counts the mean value of the options under its probabilities, instead of the value of the
            option that it selects. A vote without probabilities counts its selection.
        min_mass: Probabilities that cover less than this of all replies are not used.
    """

    expected: bool = False
    min_mass: float = MIN_MASS


SELECTED = Scoring()


def collapse_samples(votes: Sequence[Vote], levels: Levels, scoring: Scoring = SELECTED) -> OrderResult:
    """One judge's draws in one order (section "samples" of :func:`~evenhand.aggregation.aggregate`)."""
    scored: list[tuple[Vote, int]] = []
    na = False
    for vote in votes:
        if is_na(vote, levels):
            na = True
        elif vote.selected_index is not None:
            scored.append((vote, vote.selected_index))
    if not scored:
        return OrderResult(None, na, None)
    if scoring.expected and levels.has_values:
        numbers = [_expected(vote, index, levels, scoring.min_mass) for vote, index in scored]
        mean = average_of(numbers)
        spread = _population_deviation(numbers) if len(numbers) > 1 else None
        return OrderResult(Choice(levels.snap(mean), mean), na=False, spread=spread, draws=len(numbers))
    indices = [index for _, index in scored]
    spread = None
    if len(indices) > 1 and levels.has_values:
        spread = _population_deviation([levels.number(index) for index in indices])
    return OrderResult(collapse_indices(indices, levels), na=False, spread=spread, draws=len(indices))


def collapse_indices(indices: Sequence[int], levels: Levels) -> Choice:
    """What the scored draws of one judge in one order come to; at least one."""
    if indices.count(indices[0]) == len(indices):
        return levels.choice(indices[0])
    if levels.by_value:
        index = levels.snap(statistics.median([levels.number(index) for index in indices]))
        return levels.choice(index) if index >= 0 else levels.tie
    return plurality_choice([levels.choice(index) for index in indices], levels)


def collapse_orders(orders: Mapping[tuple[int, ...], OrderResult], policy: str, levels: Levels) -> JudgeResult:
    """One judge's orders (section "orders" of :func:`~evenhand.aggregation.aggregate`)."""
    results = orders.values()
    choices = [result.choice for result in results if result.choice is not None]
    answers = [_answer(choice, levels) for choice in choices] + [_NA for result in results if result.na]
    consistent = len(set(answers)) == 1 if len(answers) > 1 else None
    abstains = False
    if policy == "first" or len(orders) == 1:
        first = orders[min(orders)]
        choice, na = first.choice, first.na
    elif choices:
        abstains = policy == "abstain" and consistent is not True
        choice, na = None if abstains else _reconciled(choices, policy, levels), False
    else:
        choice, na = None, bool(answers)
    drawn = [result for result in results if result.spread is not None]
    spreads = tuple([result.spread for result in drawn if result.spread is not None])
    return JudgeResult(choice, na, abstains, consistent, spreads, tuple([result.variance for result in drawn]))


def is_na(vote: Vote, levels: Levels) -> bool:
    """Whether the vote says that the criterion does not apply."""
    return vote.na or (vote.selected_index is not None and levels.na[vote.selected_index])


def _expected(vote: Vote, index: int, levels: Levels, min_mass: float) -> float:
    """The mean value of the options under the vote's probabilities; without them the value of its selection."""
    if vote.probabilities is None:
        return levels.number(index)
    values = [None if na else value for value, na in zip(levels.values, levels.na, strict=True)]
    expected = expected_value(vote.probabilities, values, min_mass=min_mass)
    return levels.number(index) if expected is None else expected


def _answer(choice: Choice, levels: Levels) -> int:
    """What the answers of several orders are compared by: pairwise the side, whatever the grade, else the option."""
    if not levels.pairwise:
        return choice.option
    return levels.side(levels.value_of(choice))


def _population_deviation(values: Sequence[float]) -> float:
    mean = average_of(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _reconciled(choices: Sequence[Choice], policy: str, levels: Levels) -> Choice:
    if len(set(choices)) == 1:
        return choices[0]
    values = [levels.value_of(choice) for choice in choices]
    if policy == "tie" and len({levels.side(value) for value in values}) > 1:
        return levels.tie
    value = average_of(values)
    if levels.pairwise or levels.criterion.scale == "ordinal":
        return Choice(levels.snap(value), value)
    return Choice(plurality_choice(choices, levels).option, value)
