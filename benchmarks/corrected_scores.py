"""Does the interval of ``evenhand.correct`` hold what people would say? From judged data to the table, end to end.

    python -m benchmarks.corrected_scores [--replicates 150]

A simulated judge with noise and faults judges 3,000 rows of two systems once. People are simulated too: their label of
a row depends on the quality of the response, which the judge sees through its noise. Each replicate is a draw of 300
of the rows, and of 80 labels among these; the truth is the mean of people's labels over the 3,000. The statistics have
a benchmark of their own, ``benchmarks.correction``; this one would find a score laid beside another row's label.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import evenhand
from evenhand.criteria import Criterion, Option, Rubric, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.numbers import Missing

POPULATION, ROWS, LABELS = 3000, 300, 80
SYSTEMS = ("alder", "birch")
LEVELS = Criterion(
    name="depth",
    description="How deep is it?",
    options=tuple(Option(label=f"{level} of 4", value=level / 4) for level in range(5)),
)
GOOD = yes_no_criterion("good", "Is it good?")
BOTH = Rubric(name="both", criteria=(GOOD, LEVELS))
QUIET: dict[str, Any] = {"journal": None, "progress": False, "check_positional_bias": False, "flow": "verdict_only"}
Drawn = Iterator[tuple[str, float, Any]]
"""What is corrected, what is true, and the interval."""


@dataclass(frozen=True)
class World:
    """What the judge says, and what people say."""

    judged: Any
    compared: Any
    quality: np.ndarray
    levels: np.ndarray

    @classmethod
    def of(cls, seed: int) -> World:
        """Judged once."""
        generator = np.random.default_rng(seed)
        centre = np.array([0.62, 0.5])
        quality = np.clip(generator.normal(centre, 0.25, (POPULATION, 2)), 0, 1)
        levels = np.clip(np.round(4 * quality + generator.normal(0, 0.6, quality.shape)), 0, 4).astype(int)
        rows = [{system: f"{system} {row}" for system in SYSTEMS} for row in range(POPULATION)]
        texts = {
            f"{system} {row}": float(quality[row, place])
            for row in range(POPULATION)
            for place, system in enumerate(SYSTEMS)
        }
        judge = SimulatedEngine(quality=texts, noise=0.2, refusal_rate=0.04, accuracy=0.95, seed=seed)
        compared = SimulatedEngine(quality={text: 6 * each for text, each in texts.items()}, noise=0.8, seed=seed)
        how = {"response_fields": list(SYSTEMS), "max_failure_rate": 1.0, **QUIET}
        return cls(
            evenhand.judge(rows, BOTH, judge, **how),
            evenhand.winrates(rows, "Which is better?", compared, response_fields=list(SYSTEMS), **QUIET),
            quality,
            levels,
        )

    def labels(self, rows: np.ndarray, system: int, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
        """What people say of some rows."""
        found = []
        for row in map(int, rows):
            level = int(self.levels[row, system])
            said = {"good": "Yes" if level >= 3 else "No", "depth": f"{level} of 4"}
            found += [
                {"instance": row, "system": SYSTEMS[system], "criterion": kind, "label": said[kind]} for kind in kinds
            ]
        return found

    @cached_property
    def said(self) -> dict[int, str]:
        """What the judge says of them; empty where it says nothing."""
        of_alder = self.judged.filter(system="alder").judgements
        return {item.instance: item.verdict.selected_label or "" for item in of_alder if item.criterion == "good"}

    @property
    def good(self) -> np.ndarray:
        """Whether people find each response good."""
        return (self.levels >= 3).astype(float)


def some(results: evenhand.Results[Any], rows: np.ndarray) -> evenhand.Results[Any]:
    kept = {int(row) for row in rows}
    return results.filter(lambda about: about["instance"] in kept)


def scores(world: World, generator: np.random.Generator) -> Drawn:
    rows = generator.choice(POPULATION, ROWS, replace=False)
    table = some(world.judged, rows)
    drawn = [generator.choice(rows, LABELS, replace=False) for _ in SYSTEMS]
    gold = [row for place in (0, 1) for row in world.labels(drawn[place], place, ("good", "depth"))]
    found = evenhand.correct(table, gold, design="random")
    good, depth = world.good.mean(axis=0), (world.levels / 4).mean(axis=0)
    for place, system in enumerate(SYSTEMS):
        yield "0/1", good[place], found[system, "good"].corrected
        yield "0/1, the judge alone", good[place], found[system, "good"].judge
        yield "five levels", depth[place], found[system, "depth"].corrected
        yield "a rubric", (good[place] + depth[place]) / 2, found[system, "both"].corrected
    of_good = next(each for each in found.differences if each.criterion == "good")
    yield "a difference (level .983)", good[0] - good[1], of_good.corrected


def by_verdict(world: World, generator: np.random.Generator) -> Drawn:
    rows = generator.choice(POPULATION, ROWS, replace=False)
    table = some(world.judged, rows).filter(system="alder")
    kept = {int(row) for row in rows}
    strata: dict[str, list[int]] = {}
    for row in kept:
        strata.setdefault(world.said[row], []).append(row)
    drawn = [generator.choice(own, min(len(own), 30), replace=False) for own in strata.values()]
    found = evenhand.correct(table, world.labels(np.concatenate(drawn), 0, ("good",)), design="by_verdict")
    yield "0/1, 30 of each verdict", world.good[:, 0].mean(), found["alder", "good"].corrected


def contests(world: World, generator: np.random.Generator) -> Drawn:
    rows = generator.choice(POPULATION, ROWS, replace=False)
    better = np.sign(world.levels[:, 0] - world.levels[:, 1])
    named = {1: "alder", 0: "tie", -1: "birch"}
    gold = {int(row): named[int(better[row])] for row in generator.choice(rows, LABELS, replace=False)}
    found = evenhand.correct(some(world.compared, rows), gold, design="random")
    yield "a winrate", ((better + 1) / 2).mean(), found["alder"].corrected


PARTS: tuple[Callable[[World, np.random.Generator], Drawn], ...] = (scores, by_verdict, contests)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--replicates", type=int, default=150)
    replicates = given.parse_args().replicates
    world, generator = World.of(1), np.random.default_rng(2)
    found: dict[str, list[tuple[float, Any]]] = {}
    for part in PARTS:
        for _ in range(replicates):
            for name, truth, interval in part(world, generator):
                found.setdefault(name, []).append((truth, interval))
    print("| what is corrected | intervals | hold the truth | mean width | missing |\n|---|---|---|---|---|")
    for name, own in found.items():
        known = [(truth, each) for truth, each in own if not isinstance(each, Missing)]
        held = np.mean([each.low <= truth <= each.high for truth, each in known])
        width = np.mean([each.high - each.low for _, each in known])
        print(f"| {name} | {len(own)} | {held:.3f} | {width:.3f} | {len(own) - len(known)} |")


if __name__ == "__main__":
    main()
