"""How often preferences run in a circle: a beats b, b beats c, c beats a."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval, ratio_intervals

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CycleRate:
    """Circular triads, over all prompts together and within prompts.

    Attributes:
        triples: Triples of systems of which every two met.
        cyclic: Those of them whose majority preferences run in a circle.
        rate: ``cyclic / triples``; None without a triple.
        prompt_triples: Pairs of a prompt and a triple of which every two met on that prompt.
        prompt_cyclic: Those of them that run in a circle.
        prompt_rate: Their ratio, with an interval by prompt; None without any.
    """

    triples: int
    cyclic: int
    rate: float | None
    prompt_triples: int
    prompt_cyclic: int
    prompt_rate: Interval | None


def cycle_rate(contests: Contests, *, level: float = 0.95) -> CycleRate:
    """Count the circular triads.

    System i is preferred to j when it took more than half of the score between them; an even split is no preference, so
    that a triple with one is not a circle, but is counted among the triples. A judge without any preference who flips
    a coin for each pair makes a quarter of the triples circular; a judge who ranks makes none. The rate over all
    prompts together tells of the systems (one is better on some prompts), the rate within prompts of the judge.

    Source: Kendall and Babington Smith, On the method of paired comparisons, Biometrika 31 (1940), "circular triads".

    Args:
        contests: Resolved, or presented: scores of a pair on a prompt are added up.
        level: Of the interval.

    >>> circle = Contests.of("abc", first=[0, 1, 2], second=[1, 2, 0], score=[1, 1, 1], cluster=[5, 5, 5])
    >>> cycle_rate(circle).rate
    1.0
    """
    prompts = contests.by_prompt
    wins, meetings = prompts.wins, prompts.meetings
    cyclic, triples = _circular_triads(wins.sum(axis=0, keepdims=True), meetings.sum(axis=0, keepdims=True))
    by_prompt_cyclic, by_prompt_triples = _circular_triads(wins, meetings)
    (interval,) = ratio_intervals(by_prompt_cyclic, by_prompt_triples, level=contests.prompt_level(level))
    return CycleRate(
        triples=int(triples[0]),
        cyclic=int(cyclic[0]),
        rate=float(cyclic[0] / triples[0]) if triples[0] else None,
        prompt_triples=int(by_prompt_triples.sum()),
        prompt_cyclic=int(by_prompt_cyclic.sum()),
        prompt_rate=interval,
    )


def _circular_triads(wins: FloatArray, meetings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Circular triads and triples, shape (n,) each: closed walks of length 3 over preferences, over meetings."""
    prefers = (wins > meetings / 2 + 1e-9).astype(np.float64)
    met = (meetings > 0).astype(np.float64)
    cyclic: FloatArray = np.rint(np.sum((prefers @ prefers) * prefers.transpose(0, 2, 1), axis=(1, 2)) / 3)
    triples: FloatArray = np.rint(np.sum((met @ met) * met, axis=(1, 2)) / 6)
    return cyclic, triples
