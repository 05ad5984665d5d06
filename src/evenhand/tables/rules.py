"""The rules under which stored votes can be read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from evenhand.aggregation import Aggregation, VoteRules
from evenhand.errors import InvalidInputError, did_you_mean


class Rules(TypedDict, total=False):
    """How votes become a verdict.

    Attributes:
        aggregation: The rule by which a panel's votes become one, or scale -> rule; None for the scale's default.
        on_position_bias: What a disagreement between orders counts; None for the scale's default.
        scoring: ``selected`` or ``expected``.
        min_mass: Probabilities that cover less are not used.
    """

    aggregation: Aggregation
    on_position_bias: str | None
    scoring: str
    min_mass: float


def changed_rules(parameters: Mapping[str, Any], rules: Rules) -> VoteRules:
    """The rules given, and for what is not given those of the table.

    Raises:
        InvalidInputError: If something else is given.
    """
    for name in rules:
        if name not in Rules.__annotations__:
            raise InvalidInputError(f"there is no rule {name!r}. {did_you_mean(name, Rules.__annotations__)}")
    return VoteRules.from_parameters({**parameters, **rules})
