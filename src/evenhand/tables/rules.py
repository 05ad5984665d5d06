"""The rules under which stored votes can be read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from evenhand.aggregation import VoteRules
from evenhand.criteria import Rubric
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.rubric_scoring import rubric_as_judged
from evenhand.run_options import Aggregation


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


class RubricRules(Rules, total=False):
    """How votes become verdicts, and the verdicts on a rubric its score.

    Attributes:
        na_strategy: What a criterion that does not apply does: ``skip``, ``zero``, ``partial`` or ``fail``.
        na_partial: What ``partial`` counts.
    """

    na_strategy: str | None
    na_partial: float | None


def changed_rubric(rubric: Rubric | None, rules: RubricRules) -> tuple[Rubric | None, Rules]:
    """The rubric under other rules, and the rules that are not the rubric's.

    Raises:
        InvalidInputError: If there is no rubric whose rules could change, or a rule is not accepted.
    """
    own = {"na_strategy": rules.get("na_strategy"), "na_partial": rules.get("na_partial")}
    rest = cast(Rules, {name: rule for name, rule in rules.items() if name not in own})
    if all(rule is None for rule in own.values()):
        return rubric, rest
    if rubric is None:
        raise InvalidInputError("na_strategy and na_partial are for the table of a rubric; this one is of criteria")
    return (
        rubric_as_judged(
            rubric,
            auto_na_option=False,
            na_strategy=rules.get("na_strategy"),
            na_partial=rules.get("na_partial"),
        ),
        rest,
    )


def changed_rules(parameters: Mapping[str, Any], rules: Rules) -> VoteRules:
    """The rules given, and for what is not given those of the table.

    Raises:
        InvalidInputError: If something else is given.
    """
    for name in rules:
        if name not in Rules.__annotations__:
            raise InvalidInputError(f"there is no rule {name!r}. {did_you_mean(name, Rules.__annotations__)}")
    return VoteRules.from_parameters({**parameters, **rules})
