"""Which votes are asked for: judges × orders × samples for every question."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.question import Question

Orders = Literal["given", "reversed", "both", "cyclic", "shuffled"]
Permutation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """How often every question is put, and under which changed conditions.

    Attributes:
        orders: ``given``, ``reversed``, ``both`` (given, then reversed), ``cyclic`` (every rotation, so that every item
            stands in every place once) or ``shuffled`` (``shuffles`` seeded random permutations a question).
        check_positional_bias: True adds the reversed order to ``given``, for every instance; a share in (0, 1) adds it
            for a seeded sample of the instances; False leaves the orders as they are.
        samples: Draws of the same prompt.
        shuffles: How many permutations ``shuffled`` draws, without repetition.
        seed: Of the sample of instances and of the shuffles.
    """

    orders: Orders = "given"
    check_positional_bias: bool | float = True
    samples: int = 1
    shuffles: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.orders not in get_args(Orders):
            raise InvalidInputError(f"orders is {self.orders!r}. {did_you_mean(self.orders, get_args(Orders))}")
        share: object = self.check_positional_bias
        if not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise InvalidInputError(
                f"check_positional_bias is {self.check_positional_bias!r}; accepted: True, False, or a share "
                "between 0 and 1"
            )
        for name, least in (("samples", 1), ("shuffles", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InvalidInputError(f"{name} is {value!r}; it must be a whole number of at least {least}")

    def permutations(self, questions: Sequence[Question]) -> list[tuple[Permutation, ...]]:
        """The orders in which each question is shown, the first one first."""
        rechecked = self._rechecked({question.instance for question in questions})
        return [self._permutations_of(question, rechecked) for question in questions]

    def _rechecked(self, instances: set[int]) -> set[int]:
        """The instances that are also shown in the reversed order."""
        if self.orders != "given" or not self.check_positional_bias:
            return set()
        if self.check_positional_bias is True or self.check_positional_bias == 1:
            return instances
        wanted = math.ceil(round(self.check_positional_bias * len(instances), 9))  # 0.07 · 100 is 7.000000000000001
        chosen = np.random.default_rng(self.seed).choice(sorted(instances), size=wanted, replace=False)
        return {int(instance) for instance in chosen}

    def _permutations_of(self, question: Question, rechecked: set[int]) -> tuple[Permutation, ...]:
        given = tuple(range(question.places))
        if self.orders == "shuffled":
            return self._shuffles(question)
        if self.orders == "cyclic":
            return tuple(given[start:] + given[:start] for start in given)
        if self.orders == "reversed":
            return (given[::-1],)
        if self.orders == "both" or question.instance in rechecked:
            return (given, given[::-1])
        return (given,)

    def _shuffles(self, question: Question) -> tuple[Permutation, ...]:
        digest = hashlib.sha256(f"{self.seed}\n{question.id}".encode("utf-8", "surrogatepass")).digest()
        random = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        wanted = min(self.shuffles, math.factorial(question.places))
        drawn: dict[Permutation, None] = {}
        while len(drawn) < wanted:
            drawn[tuple(int(place) for place in random.permutation(question.places))] = None
        return tuple(drawn)
