"""What an answer that is longer than it needs to be loses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from evenhand.errors import InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.tokens import count_words

Sections = Literal["all", "output", "thinking"]


@dataclass(frozen=True, slots=True)
class LengthPenalty:
    r"""A penalty that grows with the number of words w, from 0 at the free budget to its maximum at the cap.

    .. math:: \mathrm{penalty}(w) = p \left(\frac{w - \mathrm{free}}{\mathrm{cap} - \mathrm{free}}\right)^{e}

    0 up to and including the free budget, p from the cap on; a cap at or below the budget is a step right after the
    budget. Words are counted by :func:`~evenhand.tokens.count_words`, also where no spaces are written between them.

    Attributes:
        free_budget: Words that cost nothing.
        max_cap: Words from which the penalty grows no more.
        penalty_at_cap: p, the maximum.
        exponent: e; 1 is linear, larger is lenient near the budget.
        sections: Which words count: ``all``, only the ``output``, or only the ``thinking``.

    Example:
        >>> penalty = LengthPenalty(free_budget=10, max_cap=30, penalty_at_cap=0.4, exponent=2)
        >>> penalty.of_words(20), penalty.of("one two three", thinking="a b")
        (0.1, 0.0)
    """

    free_budget: int = 6000
    max_cap: int = 8000
    penalty_at_cap: float = 0.5
    exponent: float = 1.6
    sections: Sections = "all"

    def __post_init__(self) -> None:
        if self.sections not in get_args(Sections):
            raise UnknownRuleError(f"sections={self.sections!r}. {did_you_mean(self.sections, get_args(Sections))}")
        for name in ("free_budget", "max_cap", "penalty_at_cap"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InvalidInputError(f"{name}={value!r}; it must be finite and >= 0")
        if not (math.isfinite(self.exponent) and self.exponent > 0):
            raise InvalidInputError(f"exponent={self.exponent!r}; it must be finite and > 0")

    def of(self, output: str, *, thinking: str = "") -> float:
        """The penalty of a text."""
        words = {"output": count_words(output), "thinking": count_words(thinking)}
        return self.of_words(sum(words.values()) if self.sections == "all" else words[self.sections])

    def of_words(self, words: int) -> float:
        """The penalty of so many words."""
        if words <= self.free_budget:
            return 0.0
        if words >= self.max_cap:
            return self.penalty_at_cap
        excess = (words - self.free_budget) / (self.max_cap - self.free_budget)
        return float(self.penalty_at_cap * excess**self.exponent)
