"""The rules under which votes become verdicts, as one value: what a run, a metric and a table are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

from pydantic import model_validator

from evenhand.aggregation.collapse import Scoring
from evenhand.aggregation.rules import RULES, check_on_position_bias, check_rule, check_weights
from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Criterion, Scale
from evenhand.errors import InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.run_options import RuleOptions
from evenhand.votes import Verdict, Vote


class VoteRules(RuleOptions):
    """How the votes on a question become a verdict."""

    @model_validator(mode="after")
    def _scales_have_their_rules(self) -> Self:
        if isinstance(self.aggregation, Mapping):
            for scale, rule in self.aggregation.items():
                if scale not in RULES:
                    raise UnknownRuleError(f"aggregation names the scale {scale!r}. {did_you_mean(scale, RULES)}")
                check_rule(rule, cast(Scale, scale))
        return self

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The rules that :meth:`parameters` wrote, among a table's other parameters; what is not there is a default."""
        return cls(**{name: parameters[name] for name in cls.model_fields if name in parameters})

    def parameters(self) -> dict[str, Any]:
        """The rules as plain JSON."""
        chosen = self.aggregation
        return {
            "aggregation": dict(chosen) if isinstance(chosen, Mapping) else chosen,
            "on_position_bias": self.on_position_bias,
            "scoring": self.scoring,
            "min_mass": self.min_mass,
        }

    def panel_rule(self, scale: Scale) -> str | None:
        """The panel rule for a scale; None for its default."""
        return self.aggregation.get(scale) if isinstance(self.aggregation, Mapping) else self.aggregation

    def check(self, scale: Scale, *, has_values: bool = True, weights: Sequence[float] | None = None) -> None:
        """Check that the rules fit a scale, and weights the rule.

        Raises:
            UnknownRuleError: If a rule does not belong to the scale.
            InvalidInputError: If the rule would ignore unequal weights, or there is no value to expect.
        """
        rule = check_rule(self.panel_rule(scale), scale)
        check_weights({str(place): weight for place, weight in enumerate(weights or ())}, rule)
        check_on_position_bias(self.on_position_bias, scale, has_values=has_values)
        if self.scoring == "expected" and not has_values:
            raise InvalidInputError(
                "scoring='expected' is the mean of the options' values, and a criterion has options without a value: "
                "give each option a value in [0, 1], or use scoring='selected'"
            )

    def aggregate(
        self, votes: Sequence[Vote], criterion: Criterion, *, weights: Mapping[str, float] | None = None
    ) -> Verdict:
        """The verdict; see :func:`~evenhand.aggregation.aggregate`."""
        return aggregate(
            votes,
            criterion,
            self.panel_rule(criterion.scale),
            weights=weights,
            on_position_bias=self.on_position_bias,
            scoring=Scoring(expected=self.scoring == "expected", min_mass=self.min_mass),
        )
