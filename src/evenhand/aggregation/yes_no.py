"""How sure a yes or no is, from the log-probabilities of the token of the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evenhand.errors import InvalidInputError
from evenhand.tokens import spoken_word

Answer = Literal["yes", "no", "na"]
ConfidenceLevel = Literal["no_10", "no_30", "unsure", "yes_70", "yes_90"]

_LEVELS: tuple[tuple[float, ConfidenceLevel], ...] = ((0.2, "no_10"), (0.4, "no_30"), (0.6, "unsure"), (0.8, "yes_70"))


@dataclass(frozen=True, slots=True)
class YesNoProbability:
    """How probable yes and no are as the first token.

    Attributes:
        yes: P(yes), summed over every surface form among the tokens given.
        no: P(no), likewise.
        covered_mass: P(yes) + P(no): how much of the probability the confidence rests on.
        confidence: P(yes) / (P(yes) + P(no)); None when neither is among the tokens.
        level: The confidence in five steps; None without one.
    """

    yes: float
    no: float
    covered_mass: float
    confidence: float | None
    level: ConfidenceLevel | None

    @property
    def answer(self) -> Answer | None:
        """The answer that the probabilities alone support: yes from 0.6 on, no below, None without a confidence.

        A yes has to be earned: ``unsure`` does not pass. Where the reply itself was read, its answer counts.
        """
        if self.confidence is None:
            return None
        return confident_answer(self.confidence)


def yes_no_confidence(top_logprobs: Iterable[tuple[str, float]]) -> YesNoProbability:
    """The probability of yes and no from the likeliest first tokens and their natural log-probabilities.

    Every surface form counts: ``"Yes"``, ``" yes"``, ``"▁YES"``, ``'"yes'`` are all yes. Tokens that only begin a
    word (``"Y"``) are not.

    Raises:
        InvalidInputError: If a log-probability is not a number, or above 0 beyond rounding.

    Example:
        >>> from math import log
        >>> both = yes_no_confidence([("Yes", log(0.5)), (" yes", log(0.1)), ("No", log(0.2)), ("Maybe", log(0.2))])
        >>> round(both.yes, 9), round(both.covered_mass, 9), round(both.confidence, 9), both.level
        (0.6, 0.8, 0.75, 'yes_70')
    """
    masses: dict[str, list[float]] = {"yes": [], "no": []}
    for token, logprob in top_logprobs:
        if math.isnan(logprob) or logprob > 1e-6:
            raise InvalidInputError(f"the token {token!r} has the log-probability {logprob!r}; it must be <= 0")
        word = spoken_word(token)
        if word in masses:
            masses[word].append(math.exp(logprob))
    return yes_no_probability(math.fsum(masses["yes"]), math.fsum(masses["no"]))


def yes_no_probability(yes: float, no: float) -> YesNoProbability:
    """The same from P(yes) and P(no) themselves."""
    confidence = relative_confidence(yes, no)
    level = None if confidence is None else confidence_level(confidence)
    return YesNoProbability(yes=yes, no=no, covered_mass=yes + no, confidence=confidence, level=level)


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
