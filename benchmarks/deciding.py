"""What asking until a comparison is decided costs, and how often it errs.

``python -m benchmarks.deciding`` prints three Markdown tables: how often equal systems are told apart at any look;
after how many of 1,000 prompts different ones are; and what the estimate and the interval at the stop are worth. The
simulation is that of :mod:`evenhand.modes.deciding`: its blocks, its Holm correction, its bets on the scores of
prompts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evenhand.modes.deciding import FIRST_BLOCK, GROWTH
from evenhand.statistics.anytime import LOG_PRIOR, STAKES, ConfidenceSequence
from evenhand.statistics.paired_differences import holm

Array = NDArray[np.float64]
PROMPTS, ALPHA = 1000, 0.05


@dataclass(frozen=True)
class Scores:
    """How a pair's scores are distributed: a name, and the five values 0, 1/4, 1/2, 3/4, 1 with these chances."""

    name: str
    chances: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The winrate."""
        return float(np.dot(self.chances, np.arange(5) / 4))

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int8]:
        """Which of the values."""
        edges = np.cumsum(self.chances)[:-1]
        return np.searchsorted(edges, generator.random(shape), side="right").astype(np.int8)


def with_ties(winrate: float, ties: float) -> Scores:
    """Wins, ties and losses."""
    win = winrate - ties / 2
    return Scores(f"winrate {winrate:g}, {ties:.0%} ties", (1 - ties - win, 0.0, ties, 0.0, win))


def looks(prompts: int) -> list[int]:
    """After how many prompts a run looks."""
    found: list[int] = []
    asked = 0
    while asked < prompts:
        asked = min(prompts, asked + max(FIRST_BLOCK, -(-asked // GROWTH)))
        found.append(asked)
    return found


def log_e_values(drawn: NDArray[np.int8], at: list[int], mean: float = 0.5) -> Array:
    """log K(mean) of sequences of the five values, shape (..., prompts), at these looks: shape (..., looks)."""
    values = np.arange(5) / 4
    above, below = np.zeros((2, *drawn.shape[:-1], len(at), len(STAKES)))
    for number in np.unique(drawn).tolist():
        value = float(values[number])
        counts = np.cumsum(drawn == number, axis=-1)[..., np.array(at) - 1, None]
        above += counts * np.log1p((value / mean - 1) * STAKES)
        below += counts * np.log1p(((1 - value) / (1 - mean) - 1) * STAKES)
    both = np.concatenate([above + LOG_PRIOR, below + LOG_PRIOR], axis=-1)
    most = both.max(axis=-1, keepdims=True)
    found: Array = most[..., 0] + np.log(np.exp(both - most).sum(axis=-1)) - np.log(2)
    return found


def batches(scores: Scores, generator: np.random.Generator, sets: int, pairs: int = 1) -> Iterator[NDArray[np.int8]]:
    """Data sets, shape (some, pairs, prompts), some at a time."""
    size = max(1, 200 // pairs)
    for start in range(0, sets, size):
        yield scores.draw(generator, (min(size, sets - start), pairs, PROMPTS))


def decided_at(drawn: NDArray[np.int8]) -> Array:
    """After how many prompts each pair is decided, shape (sets, pairs); infinite where it is not."""
    at = looks(PROMPTS)
    p_values = np.exp(-np.maximum(log_e_values(drawn, at), 0.0))
    found = np.full(drawn.shape[:2], np.inf)
    for number, held in enumerate(p_values):
        now = np.ones(held.shape[0])
        for look, asked in enumerate(at):
            open_pairs = np.isinf(found[number])
            now[open_pairs] = held[open_pairs, look]
            found[number, open_pairs & (holm(now) < ALPHA)] = asked
    return found


def fixed_told_apart(drawn: NDArray[np.int8]) -> tuple[Array, Array]:
    """Whether a t test at the level tells each pair apart, at the end, and at any look."""
    at = np.array(looks(PROMPTS))
    scores = drawn / 4 - 0.5
    mean, square = (np.cumsum(each, axis=-1)[..., at - 1] / at for each in (scores, scores**2))
    error = np.sqrt(np.maximum(square - mean**2, 1e-12) / (at - 1))
    apart = np.abs(mean) > stats.t.ppf(1 - ALPHA / 2, at - 1) * error
    return apart[..., -1], apart.any(axis=-1)


def error_rates(generator: np.random.Generator, sets: int) -> None:
    """Equal systems."""
    count = len(looks(PROMPTS))
    print(
        f"| equal systems, {PROMPTS:,} prompts, {count} looks | pairs | decided wrongly | t test, each look, no Holm |"
    )
    print("|---|---|---|---|")
    kinds = [with_ties(0.5, ties) for ties in (0.0, 0.3, 0.6, 0.9)]
    kinds += [Scores("five grades, even", (0.2,) * 5), Scores("rare wins of a quarter", (0.0, 0.1, 0.8, 0.1, 0.0))]
    kinds.append(Scores("skewed: 1 in a fifth, else 3/8 on average", (0.0, 0.4, 0.4, 0.0, 0.2)))
    for scores in kinds:
        assert abs(scores.mean - 0.5) < 1e-9
        for pairs in (1, 3, 10):
            wrong, peeked, families = 0, 0, sets // pairs
            for drawn in batches(scores, generator, families, pairs):
                wrong += int(np.isfinite(decided_at(drawn)).any(axis=1).sum())
                peeked += int(fixed_told_apart(drawn)[1].any(axis=1).sum())
            print(f"| {scores.name} | {pairs} | {wrong / families:.1%} | {peeked / families:.1%} |", flush=True)
    wrong = sum(clustered(generator) for _ in range(sets // 4))
    print(f"| 250 clusters of 1 to 8 rows that are much alike | 1 | {wrong / (sets // 4):.1%} | |", flush=True)


def clustered(generator: np.random.Generator) -> bool:
    """Whether equal systems are told apart at any look, where prompts belong together and clusters are unequal."""
    sizes = generator.integers(1, 9, size=250)
    chances = generator.beta(0.5, 0.5, size=250)
    wins = generator.binomial(sizes, chances)
    asked, seen = 0, 0
    while seen < len(sizes):
        until, block = asked, max(FIRST_BLOCK, -(-asked // GROWTH))
        while seen < len(sizes) and until - asked < block:
            until += int(sizes[seen])
            seen += 1
        asked = until
        if ConfidenceSequence.of(wins[:seen] / sizes[:seen], sizes[:seen] / sizes[:seen].max()).p_value() < ALPHA:
            return True
    return False


def power(generator: np.random.Generator, sets: int) -> None:
    """Different systems."""
    print(
        f"\n| different systems, one pair | winrates apart | median prompts | decided within {PROMPTS:,} "
        f"| t test of all {PROMPTS:,} | asked on average |"
    )
    print("|---|---|---|---|---|---|")
    for winrate in (0.55, 0.6, 0.7):
        for ties in (0.0, 0.3, 0.5):
            scores = with_ties(winrate, ties)
            after, fixed = [], 0
            for drawn in batches(scores, generator, sets):
                after.append(decided_at(drawn)[:, 0])
                fixed += int(fixed_told_apart(drawn)[0].sum())
            asked = np.concatenate(after)
            within, mean = np.isfinite(asked).mean(), np.minimum(asked, PROMPTS).mean() / PROMPTS
            print(
                f"| {scores.name} | {2 * winrate - 1:.1f} | {np.median(asked):,.0f} | {within:.1%} | "
                f"{fixed / sets:.1%} | {mean:.0%} |",
                flush=True,
            )


def estimates(generator: np.random.Generator, sets: int) -> None:
    """At the stop."""
    print("\n| at the stop | mean estimate | interval holds the winrate | t interval holds it |")
    print("|---|---|---|---|")
    for winrate in (0.5, 0.55, 0.6, 0.7):
        scores = with_ties(winrate, 0.3)
        found, held, fixed = [], 0, 0
        for drawn in batches(scores, generator, sets):
            for row, asked in zip(drawn[:, 0], decided_at(drawn)[:, 0], strict=True):
                own = row[: int(min(asked, PROMPTS))] / 4
                low, high = ConfidenceSequence.of(own).limits(1 - ALPHA)
                held += low <= winrate <= high
                half = stats.t.ppf(1 - ALPHA / 2, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own))
                fixed += abs(own.mean() - winrate) <= half
                found.append(own.mean())
        print(f"| {scores.name} | {np.mean(found):.3f} | {held / sets:.1%} | {fixed / sets:.1%} |", flush=True)


def main() -> None:
    """Print the tables."""
    generator = np.random.default_rng(14)
    error_rates(generator, 2000)
    power(generator, 2000)
    estimates(generator, 1000)


if __name__ == "__main__":
    main()
