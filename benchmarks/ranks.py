"""Are the ranks right in every design? Contests are simulated with strengths that are known.

``python -m benchmarks.ranks [data sets]`` prints a table. A row is a design; the columns are the share of data sets of
equal systems in which any two differ significantly (the familywise error), the share in which all rank intervals
hold the true ranks, and Kendall's tau between the ranks and the truth, and that of the strengths. The outcomes of a
prompt depend on one another: each system is better or worse there than elsewhere. ``python -m benchmarks.ranks
baselines`` counts in how many of 60 designs against a baseline the best system is first; ``python -m benchmarks.ranks
speed`` measures rankings and paired differences of 60 systems on 9,000 prompts, each in a process of its own.
"""

import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from inspect import signature
from itertools import combinations
from multiprocessing import get_context

import numpy as np
from scipy.stats import kendalltau, norm

from evenhand.judging.grid import Pair, fixed_pairs, parse_design, swiss_pairs
from evenhand.statistics.contests import Contests
from evenhand.statistics.ranking import Ranking, paired_differences, rank_systems

Strengths = tuple[float, ...]
DEPENDENCE = 0.5
TIES = 0.3
DESIGNS = ("all", "all, 10 % unscored", "baseline:s0", "sample:6", "swiss:3", "swiss:6")


class Tournament:
    """Contests as a design brings them, round by round."""

    def __init__(self, generator: np.random.Generator, strengths: Strengths, prompts: int) -> None:
        self.generator = generator
        self.strengths = np.asarray(strengths)
        self.quality = generator.standard_normal((prompts, len(strengths)))
        self.prompts = prompts
        self.rows: list[tuple[int, int, int, int]] = []
        self.scores: list[float] = []

    def judge(self, drawn: list[tuple[Pair, ...]], number: int) -> None:
        """Let the pairs of every prompt meet."""
        rows = [(prompt, *pair, number) for prompt, pairs in enumerate(drawn) for pair in pairs]
        prompt, first, second, _ = np.array(rows).T
        margin = self.strengths[first] - self.strengths[second]
        weights = np.column_stack([np.exp(-margin / 2), np.full(len(margin), TIES), np.exp(margin / 2)])
        loss, loss_or_tie = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)[:, :2].T
        shared = (self.quality[prompt, first] - self.quality[prompt, second]) / np.sqrt(2)
        own = self.generator.standard_normal(len(rows))
        uniform = norm.cdf(np.sqrt(DEPENDENCE) * shared + np.sqrt(1 - DEPENDENCE) * own)
        self.rows += rows
        self.scores += np.where(uniform < loss, 0.0, np.where(uniform < loss_or_tie, 0.5, 1.0)).tolist()

    def hold(self, text: str, seed: int) -> None:
        """Hold the tournament of a design."""
        design, names = parse_design(text, seed=seed), self.names
        if design.kind != "swiss":
            self.judge(fixed_pairs(design, names, self.prompts), 0)
            return
        met: list[set[Pair]] = [set() for _ in range(self.prompts)]
        for number in range(design.rounds):
            wins, meetings = np.zeros(len(names)), np.zeros(len(names))
            for (_, first, second, _), score in zip(self.rows, self.scores, strict=True):
                wins[[first, second]] += score, 1 - score
                meetings[[first, second]] += 1
            standing = {name: wins[i] / meetings[i] if meetings[i] else None for i, name in enumerate(names)}
            drawn = swiss_pairs(design, names, self.prompts, round_number=number, winrates=standing, met=met)
            for pairs, held in zip(drawn, met, strict=True):
                held.update(pairs)
            self.judge(drawn, number)

    @property
    def names(self) -> list[str]:
        """Of the systems: s0, s1 and so on."""
        return [f"s{system}" for system in range(len(self.strengths))]


def ranking_of(
    generator: np.random.Generator, strengths: Strengths, design: str, prompts: int, seed: int
) -> tuple[Ranking, int]:
    """A simulated tournament's ranking, and its contests."""
    tournament = Tournament(generator, strengths, prompts)
    tournament.hold(design.split(",", maxsplit=1)[0], seed)
    prompt, first, second, number = np.array(tournament.rows).T
    score = np.array(tournament.scores)
    if "unscored" in design:
        score[generator.random(len(score)) < 0.1] = np.nan
    contests = Contests.of(tournament.names, first=first, second=second, score=score, cluster=prompt)
    rounds = {"rounds": number} if "rounds" in signature(rank_systems).parameters else {}  # also runs on older code
    return rank_systems(contests, **rounds), len(score)


def right(ranking: Ranking, strengths: Strengths) -> tuple[bool, float, float]:
    """Whether all intervals hold the true ranks, and Kendall's tau of the ranks and of the strengths."""
    true = {f"s{system}": value for system, value in enumerate(strengths)}
    held = True
    for entry in ranking.systems:
        above = sum(value > true[entry.system] for value in true.values())
        equal = sum(value == true[entry.system] for value in true.values())
        low, high = entry.rank_low or 1, entry.rank_high or len(true)
        held = held and low <= above + equal and high >= above + 1
    truth = [true[entry.system] for entry in ranking.systems]
    ranks = [-(entry.rank or np.nan) for entry in ranking.systems]
    found = [own.estimate if (own := entry.strength) else np.nan for entry in ranking.systems]
    of_strengths = np.nan if np.isnan(found).any() else kendalltau(found, truth).statistic
    return held, float(kendalltau(ranks, truth).statistic), float(of_strengths)


def designs(data_sets: int, *, systems: int, prompts: int, spread: float) -> None:
    """Print a row a design."""
    print(f"\n{systems} systems, {prompts} prompts, true strengths {spread} log-odds apart, {data_sets} data sets\n")
    print("| design | share of the calls | familywise error | all ranks held | tau of ranks | of strengths | seconds |")
    print("|---|---|---|---|---|---|---|")
    unequal = tuple(np.linspace(spread / 2, -spread / 2, systems).tolist())
    every = prompts * systems * (systems - 1) / 2
    for design in DESIGNS:
        generator, started = np.random.default_rng(7), time.perf_counter()
        rejected, held, ranks, strengths = [], [], [], []
        contests = 0
        for seed in range(data_sets):
            equal, _ = ranking_of(generator, (0.0,) * systems, design, prompts, seed)
            rejected.append(len(equal.groups) > 1)
            shuffled = tuple(generator.permutation(unequal).tolist())
            ranking, contests = ranking_of(generator, shuffled, design, prompts, seed)
            for column, value in zip((held, ranks, strengths), right(ranking, shuffled), strict=True):
                column.append(value)
        seconds = (time.perf_counter() - started) / (2 * data_sets)
        figures = f"{np.mean(rejected):.3f} | {np.mean(held):.3f} | {np.mean(ranks):.3f} | {np.nanmean(strengths):.3f}"
        print(f"| {design} | {contests / every:.0%} | {figures} | {seconds:.2f} |", flush=True)


def baselines(data_sets: int = 60) -> None:
    """In how many designs against a strong baseline the best system, which beats it, is first."""
    strengths = (1.29, 1.89, 0.4, 0.1, -0.3, -0.6, -1.0, -1.78)
    first = 0
    for seed in range(data_sets):
        ranking, _ = ranking_of(np.random.default_rng(seed), strengths, "baseline:s0", 500, seed)
        first += ranking.systems[0].system == "s1"
    print(f"the best of 8 systems is first in {first} of {data_sets} designs against the second best as baseline")


def large_contests(per_prompt: int | None, systems: int = 60, prompts: int = 9_000) -> Contests:
    """Random pairs on every prompt, as many as asked for; or all systems against the first."""
    generator, strengths = np.random.default_rng(0), np.linspace(1.5, -1.5, systems)
    every = np.array([*combinations(range(systems), 2)])
    if per_prompt is None:
        pairs, prompt = np.tile(every[: systems - 1], (prompts, 1)), np.repeat(np.arange(prompts), systems - 1)
    else:  # every pair meets as often as any other
        rounds = prompts * per_prompt // len(every)
        pairs = np.concatenate([generator.permutation(every) for _ in range(max(rounds, 1))])[: prompts * per_prompt]
        prompt = np.arange(len(pairs)) % prompts
    quality = generator.standard_normal((prompts, systems))
    first, second = pairs.T
    margin = strengths[first] - strengths[second] + 0.7 * (quality[prompt, first] - quality[prompt, second])
    score = np.where(generator.random(len(first)) < 0.2, 0.5, generator.random(len(first)) < 1 / (1 + np.exp(-margin)))
    return Contests.of([f"s{each}" for each in range(systems)], first=first, second=second, score=score, cluster=prompt)


def measured(name: str) -> tuple[int, float, float]:
    """How many values there are, CPU seconds, and the most memory of the process in MB."""
    if name.startswith("scores"):
        generator = np.random.default_rng(0)
        quality = generator.standard_normal((9_000, 1)) + generator.standard_normal((9_000, 60))
        scores = np.clip(np.round(quality + np.linspace(2.5, 1.5, 60)), 0, 4) / 4
        size, begin = scores.size, time.process_time()
        paired_differences((scores > 0.5) * 1.0 if "yes" in name else scores)
    else:
        contests = large_contests({"1": 1, "6": 6}.get(name.split(" ", maxsplit=1)[0]))
        size, begin = len(contests), time.process_time()
        rank_systems(contests)
    return size, time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def speed() -> None:
    """Print a row an input."""
    print("60 systems, 9,000 prompts: ranks, intervals, groups and all 1,770 tests; memory is of the whole process\n")
    print("| input | values | CPU s | MB at most |\n|---|---|---|---|")
    names = ("1 random pair a prompt", "6 random pairs a prompt", "all against a baseline")
    for name in (*names, "scores of yes and no, compared in pairs", "scores of five levels, compared in pairs"):
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
            size, seconds, memory = pool.submit(measured, name).result()
        print(f"| {name} | {size:,} | {seconds:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    if "speed" in sys.argv:
        speed()
    elif "baselines" in sys.argv:
        baselines()
    else:
        size = int(sys.argv[1]) if len(sys.argv) > 1 else 200
        designs(size, systems=8, prompts=40, spread=2.0)
        designs(max(1, size // 10), systems=20, prompts=200, spread=3.0)
