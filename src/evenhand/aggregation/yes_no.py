"""How sure a yes or no is, from the log-probabilities of the token of the answer."""

from __future__ import annotations

import math
from typing import Literal

from evenhand.errors import InvalidInputError

Answer = Literal["yes", "no", "na"]
ConfidenceLevel = Literal["no_10", "no_30", "unsure", "yes_70", "yes_90"]

_LEVELS: tuple[tuple[float, ConfidenceLevel], ...] = ((0.2, "no_10"), (0.4, "no_30"), (0.6, "unsure"), (0.8, "yes_70"))


def relative_confidence(yes: float, no: float) -> float | None:
    """P(yes) / (P(yes) + P(no)); None when both are 0.

    Raises:
        InvalidInputError: If one of them is negative or not a finite number.
    """
    for name, mass in (("yes", yes), ("no", no)):
        if not (math.isfinite(mass) and mass >= 0):
            raise InvalidInputError(f"P({name}) is {mass!r}; a probability is finite and >= 0")
    return yes / (yes + no) if yes + no > 0 else None


def confidence_level(confidence: float) -> ConfidenceLevel:
    """The confidence in five steps: < 0.2, < 0.4, < 0.6, < 0.8, and above.

    Raises:
        InvalidInputError: If the confidence does not lie in [0, 1].

    Example:
        >>> confidence_level(0.19), confidence_level(0.2), confidence_level(0.8)
        ('no_10', 'no_30', 'yes_90')
    """
    if not 0 <= confidence <= 1:
        raise InvalidInputError(f"the confidence {confidence!r} does not lie in [0, 1]")
    return next((level for bound, level in _LEVELS if confidence < bound), "yes_90")


def confident_answer(confidence: float) -> Answer:
    """Yes at the levels ``yes_70`` and ``yes_90``, else no."""
    return "yes" if confidence_level(confidence).startswith("yes") else "no"
