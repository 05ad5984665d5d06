"""The votes that are asked for: judges × orders × samples for every question, as sheets and tasks one after the other.

A design says which pairs of systems are compared on which instances. A pair names two systems by their positions, the
lower one first: which of the two a judge is shown first is a matter of the orders.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple, cast

import numpy as np

from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.conversation import Caller, Flow, ask
from evenhand.options import Grid, Orders
from evenhand.prompts import FENCE_WORDS, Behind
from evenhand.question import Question
from evenhand.votes import Vote

Permutation = tuple[int, ...]


def permutations(questions: Sequence[Question], grid: Grid) -> list[tuple[Permutation, ...]]:
    """Return the orders in which each question is shown, the first one first."""
    rechecked: set[int] = set()
    if grid.orders not in {"both", "cyclic"} and grid.check_positional_bias:
        share = grid.check_positional_bias  # whether an instance is drawn does not depend on the others
        keys = {question.instance: question.draw_key or str(question.instance) for question in questions}
        rechecked = {
            instance for instance, key in keys.items() if share == 1 or draw(grid.seed, "recheck", key) < share
        }
    found = []
    for question in questions:
        shown = _shuffles(question, grid) if grid.orders == "shuffled" else _orders(grid.orders, question.places)
        again = [order[::-1] for order in shown] if question.instance in rechecked else []
        found.append(tuple(dict.fromkeys([*shown, *again])) if again else shown)
    return found


def _shuffles(question: Question, grid: Grid) -> tuple[Permutation, ...]:
    shuffled = question.sheet if question.mode == "check" else question.criterion.name
    lot = draw(grid.seed, "shuffle", question.draw_key or str(question.instance), shuffled, *question.responses)
    random = np.random.default_rng(int(lot * 2**64))
    wanted = min(grid.shuffles, math.factorial(question.places))
    drawn: dict[Permutation, None] = {}
    while len(drawn) < wanted:
        drawn[tuple(int(place) for place in random.permutation(question.places))] = None
    return tuple(drawn)


def draw(seed: int, *labels: str) -> float:
    """Return a number in [0, 1) that the seed and the labels determine."""
    material = json.dumps([seed, *labels]).encode()
    return int.from_bytes(hashlib.sha256(material).digest()[:8], "big") / 2**64


@cache
def _orders(orders: Orders, places: int) -> tuple[Permutation, ...]:
    """Return the orders that do not depend on the question."""
    given = tuple(range(places))
    found: dict[Orders, tuple[Permutation, ...]] = {
        "given": (given,),
        "reversed": (given[::-1],),
        "both": (given, given[::-1]),
        "cyclic": tuple(given[start:] + given[:start] for start in given),
    }
    return found[orders]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The questions of one call, one or those of a sheet; and the orders in which they are shown.

    Attributes:
        rows: The indices of the questions.
        questions: The questions.
        orders: Per order the permutation of each question. Where questions have different numbers of permutations,
            those that have fewer begin again: their votes are further draws in that order.
        offsets: Per order and question the number of draws in that order before.
        behind: The parts of the prompt after the response.
    """

    rows: tuple[int, ...]
    questions: tuple[Question, ...]
    orders: tuple[tuple[Permutation, ...], ...]
    offsets: tuple[tuple[int, ...], ...]
    behind: Behind = ()

    async def ask(self, flow: Flow, order: int, sample: int, caller: Caller, weight: float = 1.0) -> list[Vote]:
        """Cast one vote per question."""
        votes = await ask(flow, self.questions, self.orders[order], sample, caller, weight=weight, behind=self.behind)
        return [
            vote.model_copy(update={"sample": sample + offset}) if offset else vote
            for vote, offset in zip(votes, self.offsets[order], strict=True)
        ]


class Task(NamedTuple):
    """Draws of one sheet in one order: one draw, or all of them where the later ones may not be needed."""

    sheet: Sheet
    order: int
    samples: range
    places: range


def checked_weights(judges: Sequence[JudgeEngine], weights: Sequence[float] | None) -> Sequence[float]:
    """Return one weight per judge; 1 each by default.

    Raises:
        InvalidInputError: No judge, two judges with one name, or weights that do not fit the judges.
    """
    if not judges:
        raise InvalidInputError("no judge was given; give an inference engine, or a list of them for a panel")
    names = [judge.judge_id for judge in judges]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidInputError(
            f"the panel has several judges named {repeated!r}, whose votes cannot be distinguished: give each engine a "
            "name, or for repeated draws of one judge set samples"
        )
    if weights is None:
        return [1.0] * len(judges)
    if len(weights) != len(judges) or any(not 0 < weight < math.inf for weight in weights):
        raise InvalidInputError(f"judge_weights is {list(weights)!r}; give one positive weight for each of {names!r}")
    return weights


def sheets_of(questions: Sequence[Question], grid: Grid) -> list[Sheet]:
    """Group the questions by call, in their order.

    Args:
        questions: Of a run.
        grid: The number of orders and samples per question.
    """
    together: dict[object, list[int]] = {}
    for row, question in enumerate(questions):
        together.setdefault((question.instance, question.sheet) if question.sheet else row, []).append(row)
    shown = permutations(questions, grid)
    behind = _shown_behind(questions, grid)
    sheets = []
    for rows in together.values():
        asked = tuple(questions[row] for row in rows)
        width = max(len(shown[row]) for row in rows)
        orders = tuple(tuple(shown[row][place % len(shown[row])] for row in rows) for place in range(width))
        offsets = tuple(tuple(place // len(shown[row]) * grid.samples for row in rows) for place in range(width))
        sheets.append(Sheet(tuple(rows), asked, orders, offsets, behind[rows[0]]))
    return sheets


MOST_BEHIND: Final = 300
"""Characters; longer criteria or options stand before what is judged, which is then sent again with each of them."""


def _shown_behind(questions: Sequence[Question], grid: Grid) -> list[Behind]:
    """Return the parts that each prompt shows after the response, so that other questions share the prompt's beginning.

    That is what these questions differ in: the criterion, where several are asked about one response, or else the
    options, where they are asked in several orders; where that is short. It depends on nothing else, above all not
    on the length of a response, so that all rows of a run are asked alike.
    """
    in_several_orders = (
        grid.orders in {"both", "cyclic"}
        or (grid.orders == "shuffled" and grid.shuffles > 1)
        or grid.check_positional_bias == 1
    )
    about: dict[object, list[int]] = {}
    for row, question in enumerate(questions):
        about.setdefault((question.instance, question.responses, tuple(question.context.values())), []).append(row)
    behind: list[Behind] = [()] * len(questions)
    for rows in about.values():
        asked = [questions[row] for row in rows]
        several = any(question.criterion != asked[0].criterion for question in asked[1:])
        parts: Behind = ()
        if several and all(_may_follow(question, criterion=True) for question in asked):
            parts = ("criterion", "verdicts")
        elif in_several_orders and all(q.mode == "assess" and _may_follow(q, criterion=False) for q in asked):
            parts = ("verdicts",)
        for row in rows:
            behind[row] = () if questions[row].sheet else parts
    return behind


def _may_follow(question: Question, *, criterion: bool) -> bool:
    """Return whether the options, and the criterion with them, may follow the response."""
    texts = [text for option in question.criterion.options for text in (option.label, option.description)]
    if criterion:
        texts += [question.criterion.name, question.criterion.description]
    short = sum(map(len, texts)) <= MOST_BEHIND and not (criterion and question.examples)
    return short and not any(FENCE_WORDS in text for text in texts)


def tasks_of(sheets: Sequence[Sheet], grid: Grid, judge: int) -> Iterator[Task]:
    """Return the tasks of one judge, with the places of the votes among those on a question."""
    draws = range(grid.samples)
    for sheet in sheets:
        place = judge * len(sheet.orders) * grid.samples
        again = any(offset for offsets in sheet.offsets for offset in offsets)  # those draws are collapsed together
        for order in range(len(sheet.orders)):
            if grid.stop_early and not again:
                yield Task(sheet, order, draws, range(place, place + grid.samples))
            else:
                for sample in draws:
                    yield Task(sheet, order, range(sample, sample + 1), range(place + sample, place + sample + 1))
            place += grid.samples


DesignKind = Literal["all", "baseline", "sample", "swiss"]
Pair = tuple[int, int]

_DESIGN = re.compile(r"all|baseline:(?P<baseline>.+)|(?:sample|swiss):(?P<count>0*[1-9][0-9]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Design:
    """The rule by which pairs meet.

    Attributes:
        kind: ``all`` pairs; ``baseline``: one system against each other one; ``sample``: ``count`` random pairs an
            instance, balanced over pairs and systems; ``swiss``: ``count`` rounds in which neighbours of the ranking
            so far meet, no pair twice on an instance.
        baseline: The system that meets all others.
        count: Pairs per instance, or rounds.
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
        """The number of consecutive runs; only ``swiss`` has several."""
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
        most, unit = (pairs, "pairs per instance") if self.kind == "sample" else (rounds, "rounds without a repetition")
        if self.count is not None and self.count > most:
            raise InvalidInputError(
                f"design={str(self)!r} asks for {self.count} {unit}, but {number} systems make {most}: lower it, or "
                "use design='all'"
            )


def parse_design(text: str, *, seed: int = 0) -> Design:
    """Parse the name of a design; the name of a baseline may contain colons.

    Raises:
        InvalidInputError: If it names none.

    Example:
        >>> parse_design("baseline:gpt:4").baseline
        'gpt:4'
        >>> parse_design("sample:0")
        Traceback (most recent call last):
            ...
        evenhand.errors.InvalidInputError: design='sample:0' is not a design; accepted: 'all', 'baseline:<system>', \
'sample:<pairs per instance>', 'swiss:<rounds>'
    """
    found = _DESIGN.fullmatch(str(text))
    if found is None:
        raise InvalidInputError(
            f"design={text!r} is not a design; accepted: 'all', 'baseline:<system>', 'sample:<pairs per instance>', "
            "'swiss:<rounds>'"
        )
    kind = cast("DesignKind", str(text).partition(":")[0])
    return Design(kind, found["baseline"], int(found["count"]) if found["count"] else None, seed)


def fixed_pairs(design: Design, systems: Sequence[str], instances: int) -> list[tuple[Pair, ...]]:
    """Return the pairs of each instance under a design that needs no results: ``all``, ``baseline`` or ``sample``.

    Raises:
        InvalidInputError: If the systems do not fit the design.
    """
    design.check_systems(systems)
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
    """Return the pairs of each instance in one round of a Swiss design.

    On each instance the best system that is still free meets the next best that is free and that it has not met there;
    a system without such an opponent sits the round out. In an odd field the system left over is the lowest.

    Args:
        design: The design.
        systems: The names.
        instances: The number of instances.
        round_number: From 0.
        winrates: The winrates of the rounds before, over all instances; None for a system without a scored
            contest. Equal winrates (in the first round, all) stand in a seeded random order per instance.
        met: Per instance the pairs that have met there.
    """
    generator = np.random.default_rng([design.seed, round_number])
    standing = [0.5 if (rate := winrates.get(system)) is None else rate for system in systems]
    drawn = []
    for instance in range(instances):
        shuffled = [int(system) for system in generator.permutation(len(systems))]
        ranked = sorted(shuffled, key=lambda system: -standing[system])
        pairs = []
        while ranked:
            best = ranked.pop(0)
            meetings = {other: (min(best, other), max(best, other)) for other in ranked}
            opponent = next((other for other in ranked if meetings[other] not in met[instance]), None)
            if opponent is not None:
                ranked.remove(opponent)
                pairs.append(meetings[opponent])
        drawn.append(tuple(sorted(pairs)))
    return drawn


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
