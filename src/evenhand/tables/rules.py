"""The rules under which stored votes can be read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from evenhand.errors import InvalidInputError, did_you_mean


class Rules(TypedDict, total=False):
    """How votes become a verdict.

    Attributes:
        aggregation: The rule by which a panel's votes become one; None for the scale's default.
        on_position_bias: What a disagreement between orders counts; None for the scale's default.
    """

    aggregation: str | None
    on_position_bias: str | None


def changed_rules(parameters: Mapping[str, Any], rules: Rules) -> tuple[str | None, str | None]:
    """Aggregation and position policy: those given, and for what is not given those of the table.

    Raises:
        InvalidInputError: If something else is given.
    """
    for name in rules:
        if name not in Rules.__annotations__:
            raise InvalidInputError(f"there is no rule {name!r}. {did_you_mean(name, Rules.__annotations__)}")
    both = {"aggregation": parameters["aggregation"], "on_position_bias": parameters["on_position_bias"], **rules}
    return both["aggregation"], both["on_position_bias"]
