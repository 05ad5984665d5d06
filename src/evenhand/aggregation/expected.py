"""What a probability distribution over a criterion's options comes to: its mean value, and the mass that it covers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.aggregation.levels import TOLERANCE
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
