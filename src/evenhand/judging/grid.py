"""Which votes are asked for: judges × orders × samples for every question."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

import numpy as np

from evenhand.question import Question
from evenhand.run_options import GridOptions, Orders

Permutation = tuple[int, ...]


class Grid(GridOptions):
    """How often every question is put, and under which changed conditions."""

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
