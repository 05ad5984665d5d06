"""Early stopping by the counts drawn: what it saves, and how often it ends where all draws end."""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import comb
from pathlib import Path

from evenhand.aggregation.verdict import Levels, aggregate, draws_are_settled, is_certain
from evenhand.criteria import Criterion, Option, Scale
from evenhand.votes import Vote

RECORDED = "data/composo_rewardbench2_k8.jsonl.gz"
Counts = tuple[int, ...]


def levels(count: int, scale: Scale = "ordinal") -> Criterion:
    """A criterion with equally spaced levels."""
    options = tuple(Option(label=str(level), value=level / (count - 1)) for level in range(count))
    return Criterion(name=f"{scale} {count}", description="", options=options, scale=scale)


class Stopping:
    """One criterion's outcomes and ends of drawing, by the counts drawn."""

    def __init__(self, criterion: Criterion, *, certain: bool = False) -> None:
        size = len(criterion.options)
        cast = [Vote(judge_id="judge", order=tuple(range(size)), selected_index=option) for option in range(size)]

        def votes(counts: Counts) -> list[Vote]:
            return [vote for vote, count in zip(cast, counts, strict=True) for _ in range(count)]

        @cache
        def outcome(counts: Counts) -> int | None:
            return aggregate(votes(counts), criterion).selected_index

        @cache
        def ends(counts: Counts, remaining: int) -> bool:
            if certain:
                return is_certain(Levels.of(criterion), counts, remaining)
            return draws_are_settled(votes(counts), Levels.of(criterion), remaining)

        self.size = size
        self.outcome: Callable[[Counts], int | None] = outcome
        self.ends: Callable[[Counts, int], bool] = ends


def replay(rule: Stopping, cells: Counter[tuple[int | None, ...]]) -> tuple[float, float]:
    """The share of the calls made, and the share of the prompts that come to what all their draws come to."""
    calls = planned = same = 0
    for draws, weight in cells.items():
        counts = [0] * rule.size
        made = 0
        for drawn, option in enumerate(draws, start=1):
            if option is not None:
                counts[option] += 1
            made = drawn
            if drawn == len(draws) or (any(counts) and rule.ends(tuple(counts), len(draws) - drawn)):
                break
        every = tuple(draws.count(option) for option in range(rule.size))
        calls += weight * made
        planned += weight * len(draws)
        same += weight * (rule.outcome(tuple(counts)) == rule.outcome(every))
    return calls / planned, same / cells.total()


def expected(rule: Stopping, shares: Sequence[float], draws: int) -> tuple[float, float]:
    """The same for a judge that selects the options with these probabilities, exactly."""
    calls = same = 0.0
    open_states = {(0,) * rule.size: 1.0}
    for made in range(1, draws + 1):
        reached: dict[Counts, float] = {}
        for counts, mass in open_states.items():
            for option, share in enumerate(shares):
                if share > 0:
                    after = tuple(count + (place == option) for place, count in enumerate(counts))
                    reached[after] = reached.get(after, 0.0) + mass * share
        open_states = {}
        for counts, mass in reached.items():
            if made < draws and not rule.ends(counts, draws - made):
                open_states[counts] = mass
                continue
            calls += mass * made
            for further, likely in continuations(tuple(shares), draws - made):
                every = tuple(count + more for count, more in zip(counts, further, strict=True))
                same += mass * likely * (rule.outcome(every) == rule.outcome(counts))
    return calls / draws, same


@cache
def continuations(shares: tuple[float, ...], draws: int) -> tuple[tuple[Counts, float], ...]:
    if len(shares) == 1:
        return (((draws,), shares[0] ** draws),)
    return tuple(
        ((own, *rest), comb(draws, own) * shares[0] ** own * likely)
        for own in range(draws + 1)
        for rest, likely in continuations(shares[1:], draws - own)
    )


def recorded_cells(path: Path) -> Counter[tuple[int | None, ...]]:
    """Eight draws on levels from 1 to 10 of each prompt, with how often they occur; None is unscored."""
    cells: Counter[tuple[int | None, ...]] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            for draws in (*(row.get("full") or ()), *(row.get("mini") or ())):
                if any(draws):
                    cells[tuple(None if level is None else level - 1 for level in draws)] += 1
    return cells
