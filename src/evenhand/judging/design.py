"""Which pairs of systems are judged on which instances.

A pair names two systems by their positions, the lower one first, whatever the design: which of the two a judge is shown
first is the grid's business (:mod:`evenhand.judging.grid`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from evenhand.errors import InvalidInputError, did_you_mean

DesignKind = Literal["all", "baseline", "sample", "swiss"]
Pair = tuple[int, int]

ACCEPTED = "'all', 'baseline:<system>', 'sample:<pairs an instance>', 'swiss:<rounds>'"


@dataclass(frozen=True, slots=True)
class Design:
    """Which pairs meet.

    Attributes:
        kind: ``all`` pairs; ``baseline``: one system against each other one; ``sample``: ``count`` random pairs an
            instance, balanced over pairs and systems; ``swiss``: ``count`` rounds in which neighbours of the ranking
            so far meet, no pair twice on an instance.
        baseline: The system that meets all others.
        count: Pairs an instance, or rounds.
        seed: Of ``sample``, of the first round of ``swiss`` and of the ties in its ranking.

    In a Swiss design systems of like strength meet, so winrates are drawn towards ½: they rank, but a strength that
    accounts for the opponents (Bradley-Terry) says by how much.
    """

    kind: DesignKind = "all"
    baseline: str | None = None
    count: int | None = None
    seed: int = 0

    def __str__(self) -> str:
        tail = self.baseline if self.kind == "baseline" else self.count
        return self.kind if tail is None else f"{self.kind}:{tail}"

    @property
    def rounds(self) -> int:
        """How many runs follow one another; only ``swiss`` has several."""
        return self.count if self.kind == "swiss" and self.count is not None else 1

    def check_systems(self, systems: Sequence[str]) -> None:
        """Check that the design is possible with these systems.

        Raises:
            InvalidInputError: If the baseline is not one of them, or there are fewer pairs or rounds than asked for.
        """
        number = len(systems)
        if self.kind == "baseline" and self.baseline not in systems:
            raise InvalidInputError(
                f"design={str(self)!r} names a system that the predictions do not. "
                + did_you_mean(self.baseline, systems)
            )
        pairs, rounds = number * (number - 1) // 2, number - 1 if number % 2 == 0 else number
        if self.kind == "sample" and self.count is not None and self.count > pairs:
            raise InvalidInputError(
                f"design={str(self)!r} asks for {self.count} pairs an instance, but {number} systems make {pairs}: "
                "lower it, or use design='all'"
            )
        if self.kind == "swiss" and self.count is not None and self.count > rounds:
            raise InvalidInputError(
                f"design={str(self)!r} asks for {self.count} rounds, but in {rounds} every two of {number} systems "
                "can meet on every instance: lower it, or use design='all'"
            )


def parse_design(text: str, *, seed: int = 0) -> Design:
    """The design that a text names; the name of a baseline may contain colons.

    Raises:
        InvalidInputError: If it names none.

    Example:
        >>> parse_design("baseline:gpt:4").baseline
        'gpt:4'
        >>> parse_design("sample:0")
        Traceback (most recent call last):
            ...
        evenhand.errors.InvalidInputError: design='sample:0': '0' is not a number of pairs an instance; give a whole \
number from 1
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"design={text!r} is a {type(text).__name__}; accepted: {ACCEPTED}")
    kind, colon, tail = text.partition(":")
    if kind not in get_args(DesignKind):
        raise InvalidInputError(f"design={text!r} is not a design. {did_you_mean(kind, get_args(DesignKind))}")
    if kind == "all":
        if colon:
            raise InvalidInputError(f"design={text!r}: 'all' takes nothing after it; accepted: {ACCEPTED}")
        return Design(seed=seed)
    if kind == "baseline":
        if not tail:
            raise InvalidInputError(f"design={text!r} names no baseline; write 'baseline:' and a system's name")
        return Design("baseline", baseline=tail, seed=seed)
    unit = "pairs an instance" if kind == "sample" else "rounds"
    if not (tail.isascii() and tail.isdigit()) or int(tail) < 1:
        raise InvalidInputError(f"design={text!r}: {tail!r} is not a number of {unit}; give a whole number from 1")
    return Design("sample" if kind == "sample" else "swiss", count=int(tail), seed=seed)


def fixed_pairs(design: Design, systems: Sequence[str], instances: int) -> list[tuple[Pair, ...]]:
    """The pairs of each instance under a design that needs no results: ``all``, ``baseline`` or ``sample``.

    Raises:
        InvalidInputError: If the systems do not fit the design.
    """
    design.check_systems(systems)
    if design.kind == "swiss":
        raise InvalidInputError("a Swiss design pairs by results: use swiss_pairs, a round at a time")
    if design.kind == "sample" and design.count is not None:
        return _dealt(len(systems), design.count, instances, design.seed)
    every = tuple(itertools.combinations(range(len(systems)), 2))
    if design.kind == "baseline":
        baseline = systems.index(str(design.baseline))
        every = tuple(pair for pair in every if baseline in pair)
    return [every] * instances


def swiss_pairs(
    design: Design,
    systems: Sequence[str],
    instances: int,
    *,
    round_number: int,
    winrates: Mapping[str, float | None],
    met: Sequence[AbstractSet[Pair]],
) -> list[tuple[Pair, ...]]:
    """The pairs of each instance in one round of a Swiss design.

    On each instance the best system that is still free meets the next best that is free and that it has not met there;
    a system without such an opponent sits the round out. In an odd field the system left over is the lowest.

    Args:
        design: The design.
        systems: The names.
        instances: How many.
        round_number: From 0.
        winrates: Of the rounds before, over all instances; None for a system without a scored contest. Equal winrates
            (in the first round, all) stand in a seeded random order of their own on each instance.
        met: Per instance the pairs that have met there.

    Raises:
        InvalidInputError: If the systems do not fit the design.
    """
    design.check_systems(systems)
    generator = np.random.default_rng([design.seed, round_number])
    standing = [0.5 if (rate := winrates.get(system)) is None else rate for system in systems]
    drawn = []
    for instance in range(instances):
        shuffled = [int(system) for system in generator.permutation(len(systems))]
        ranked = sorted(shuffled, key=lambda system: -standing[system])
        drawn.append(_neighbours(ranked, met[instance]))
    return drawn


def _neighbours(ranked: Sequence[int], met: AbstractSet[Pair]) -> tuple[Pair, ...]:
    free = list(ranked)
    pairs = []
    while free:
        best = free.pop(0)
        opponent = next((other for other in free if _pair(best, other) not in met), None)
        if opponent is not None:
            free.remove(opponent)
            pairs.append(_pair(best, opponent))
    return tuple(sorted(pairs))


def _dealt(number: int, count: int, instances: int, seed: int) -> list[tuple[Pair, ...]]:
    """Deal ``count`` pairs to each instance from a shuffled deck that holds every pair once, and then from the next.

    No pair is dealt two times more often than another, and no instance holds one twice. Of the pairs that an instance
    may have, it gets the topmost whose systems have had the fewest contests.
    """
    generator = np.random.default_rng(seed)
    every = list(itertools.combinations(range(number), 2))
    deck: list[Pair] = []
    contests = [0] * number
    hands = []
    for _ in range(instances):
        hand: list[Pair] = []
        while len(hand) < count:
            open_pairs = [pair for pair in deck if pair not in hand]
            if not open_pairs:
                deck += [every[place] for place in generator.permutation(len(every))]
                continue
            pair = min(open_pairs, key=lambda pair: contests[pair[0]] + contests[pair[1]])
            deck.remove(pair)
            hand.append(pair)
            for system in pair:
                contests[system] += 1
        hands.append(tuple(sorted(hand)))
    return hands


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
