"""Which votes are asked for: judges × orders × samples for every question."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from evenhand.aggregation import check_confidence
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.question import Question
from evenhand.votes import PREDICTIVE, StopConfidence

Orders = Literal["given", "reversed", "both", "cyclic", "shuffled"]
Permutation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """How often every question is put, and under which changed conditions.

    Attributes:
        orders: ``given``, ``reversed``, ``both`` (given, then reversed), ``cyclic`` (every rotation, so that every item
            stands in every place once) or ``shuffled`` (``shuffles`` seeded random permutations a question).
        check_positional_bias: True shows every instance in the reverse of each of its orders too; a share in (0, 1)
            does so for a seeded sample, into which each instance is drawn with that probability, at least one; False
            leaves the orders as they are. ``both`` and ``cyclic`` hold what is needed already.
        samples: Draws of the same prompt.
        shuffles: How many permutations ``shuffled`` draws, without repetition.
        seed: Of the sample of instances and of the shuffles.
        stop_early: Draw one sample after the other, and no more once the draws of a judge in an order are settled
            (:func:`~evenhand.aggregation.draws_are_settled`).
        confidence: When they are: see :func:`~evenhand.aggregation.draws_are_settled`.
    """

    orders: Orders = "given"
    check_positional_bias: bool | float = True
    samples: int = 1
    shuffles: int = 1
    seed: int = 0
    stop_early: bool = False
    confidence: StopConfidence = PREDICTIVE

    def __post_init__(self) -> None:
        if self.orders not in get_args(Orders):
            raise InvalidInputError(f"orders is {self.orders!r}. {did_you_mean(self.orders, get_args(Orders))}")
        share: object = self.check_positional_bias
        if not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise InvalidInputError(
                f"check_positional_bias is {self.check_positional_bias!r}; accepted: True, False, or a share "
                "between 0 and 1"
            )
        if not isinstance(self.stop_early, bool):
            raise InvalidInputError(f"stop_early is {self.stop_early!r}; accepted: True or False")
        check_confidence(self.confidence)
        for name, least in (("samples", 1), ("shuffles", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InvalidInputError(f"{name} is {value!r}; it must be a whole number of at least {least}")

    def permutations(self, questions: Sequence[Question]) -> list[tuple[Permutation, ...]]:
        """The orders in which each question is shown, the first one first."""
        rechecked = self._rechecked(questions) if questions else set()
        return [self._permutations_of(question, rechecked) for question in questions]

    def _rechecked(self, questions: Sequence[Question]) -> set[int]:
        """The instances that are also shown in reverse. Whether one is drawn does not depend on the others."""
        if self.orders in {"both", "cyclic"} or not self.check_positional_bias:
            return set()
        if self.check_positional_bias is True or self.check_positional_bias == 1:
            return {question.instance for question in questions}
        lots = {question.instance: self._draw("recheck", _draw_key(question)) for question in questions}
        drawn = {instance for instance, lot in lots.items() if lot < self.check_positional_bias}
        return drawn or {min(lots, key=lots.__getitem__)}

    def _permutations_of(self, question: Question, rechecked: set[int]) -> tuple[Permutation, ...]:
        given = tuple(range(question.places))
        orders: dict[Orders, tuple[Permutation, ...]] = {
            "given": (given,),
            "reversed": (given[::-1],),
            "both": (given, given[::-1]),
            "cyclic": tuple(given[start:] + given[:start] for start in given),
        }
        shown = self._shuffles(question) if self.orders == "shuffled" else orders[self.orders]
        if question.instance not in rechecked:
            return shown
        return tuple(dict.fromkeys([*shown, *(order[::-1] for order in shown)]))

    def _shuffles(self, question: Question) -> tuple[Permutation, ...]:
        shuffled = question.sheet if question.mode == "check" else question.criterion.name
        lot = self._draw("shuffle", _draw_key(question), shuffled, *question.responses)
        random = np.random.default_rng(int(lot * 2**64))
        wanted = min(self.shuffles, math.factorial(question.places))
        drawn: dict[Permutation, None] = {}
        while len(drawn) < wanted:
            drawn[tuple(int(place) for place in random.permutation(question.places))] = None
        return tuple(drawn)

    def _draw(self, *labels: str) -> float:
        """A number in [0, 1) that the seed and the labels determine."""
        material = json.dumps([self.seed, *labels]).encode()
        return int.from_bytes(hashlib.sha256(material).digest()[:8], "big") / 2**64


def _draw_key(question: Question) -> str:
    return question.draw_key or str(question.instance)
