"""Whether what is planned is what comes: half-widths and power by `evenhand.plan`, against simulation.

``python -m benchmarks.planning`` prints Markdown tables. Data are normal qualities, cut into scores; their standard
deviation and correlations are measured on 400,000 rows, planned with, and drawn anew through what evenhand reports:
`mean_intervals`, `paired_test`, `corrected_mean`. About a minute on one core; ``python -m benchmarks.planning
200`` makes fewer data sets.
"""

import sys

import numpy as np

import evenhand
from evenhand.statistics.correction import corrected_mean
from evenhand.statistics.intervals import Interval, mean_intervals
from evenhand.statistics.paired_differences import paired_test

MANY = 400_000
CELLS = (
    # levels, mean, spread of qualities, their correlation, difference
    (2, 0.5, 1.0, 0.0, 0.2), (2, 0.5, 1.0, 0.7, 0.1), (2, 0.8, 0.4, 0.7, 0.1), (2, 0.9, 0.3, 0.5, 0.05),
    (5, 0.5, 0.3, 0.0, 0.1), (5, 0.7, 0.25, 0.5, 0.05), (5, 0.6, 0.35, 0.6, 0.15), (5, 0.8, 0.2, 0.5, 0.03),
    (101, 0.6, 0.2, 0.5, 0.05),
)  # fmt: skip


def cut(quality: np.ndarray, levels: int) -> np.ndarray:
    """Scores from 0 to 1: the nearest level."""
    return np.clip(np.round(quality * (levels - 1)), 0, levels - 1) / (levels - 1)


def pairs(
    random: np.random.Generator, rows: int, cell: tuple[int, float, float, float, float], apart: float
) -> np.ndarray:
    """(rows, 2) scores of two systems whose qualities are so far apart."""
    levels, mean, spread, correlation, _ = cell
    shared, own = random.standard_normal((rows, 1)), random.standard_normal((rows, 2))
    quality = mean + spread * (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)
    return cut(quality + apart * np.array([0.5, -0.5]), levels)


def quality_apart(cell: tuple[int, float, float, float, float]) -> float:
    """How far qualities are apart where scores are as far apart as the cell says."""
    low, high = 0.0, 4.0
    for _ in range(20):
        middle = (low + high) / 2
        means = pairs(np.random.default_rng(0), MANY, cell, middle).mean(axis=0)
        low, high = (middle, high) if means[0] - means[1] < cell[4] else (low, middle)
    return low


def half(found: object) -> float:
    """The half-width of an interval."""
    assert isinstance(found, Interval)
    return (found.high - found.low) / 2


def print_power(data_sets: int) -> None:
    """Planned and simulated power, and the half-width of a score with that number of rows."""
    print("| scores | apart | rows | planned power | simulated | planned half-width | simulated | off |")
    print("|---|---|---|---|---|---|---|---|")
    for cell in CELLS:
        levels, mean, _, _, difference = cell
        random = np.random.default_rng(1)
        apart, many = quality_apart(cell), pairs(random, MANY, cell, 0.0)
        known = {"mean": float(many.mean())} if levels == 2 else {"sd": float(many.std())}
        how = {**known, "correlation": float(np.corrcoef(many.T)[0, 1])}
        rows = evenhand.plan(difference=difference, **how).lines["difference"].rows
        planned = evenhand.plan(difference=difference, rows=rows, systems=2, **how).lines
        told = [paired_test(np.subtract(*pairs(random, rows, cell, apart).T)).p_value for _ in range(data_sets)]
        widths = [half(each) for each in mean_intervals(np.column_stack(
            [pairs(random, rows, cell, 0.0)[:, 0] for _ in range(200)]))]  # fmt: skip
        off = planned["half_width"].value / np.mean(widths) - 1
        print(
            f"| {levels} levels, mean {mean} | {difference} | {rows} | {planned['power'].value:.3f} | "
            f"{np.mean(np.array(told) < 0.05):.3f} | {planned['half_width'].value:.4f} | {np.mean(widths):.4f} | "
            f"{off:+.1%} |",
            flush=True,
        )


def print_corrected(data_sets: int) -> None:
    """Planned and simulated half-widths of corrected scores."""
    print("\n| scores | judge correlates by | labels of rows | planned half-width | simulated | off |")
    print("|---|---|---|---|---|---|")
    for (levels, mean, spread), noise, labels, rows in (
        ((2, 0.5, 1.0), 0.5, 50, 500), ((2, 0.5, 1.0), 2.0, 100, 1000), ((2, 0.8, 0.4), 0.3, 60, 600),
        ((5, 0.6, 0.3), 0.2, 60, 600), ((5, 0.7, 0.25), 0.5, 100, 1000), ((5, 0.5, 0.3), 0.1, 200, 1000),
    ):  # fmt: skip

        def judged(random: np.random.Generator, rows: int, cell: tuple[int, float, float], noise: float) -> np.ndarray:
            quality = cell[1] + cell[2] * random.standard_normal(rows)
            return np.stack([cut(quality + noise * random.standard_normal(rows), cell[0]), cut(quality, cell[0])])

        random, widths = np.random.default_rng(labels), []
        many = judged(random, MANY, (levels, mean, spread), noise)
        together = float(np.corrcoef(many)[0, 1])
        for _ in range(data_sets // 4):
            said, told = judged(random, rows, (levels, mean, spread), noise)
            known = np.where(random.permutation(rows) < labels, told, np.nan)
            support = np.linspace(0, 1, levels).tolist()
            found = corrected_mean(said, known, design="random", support=support)
            widths.append(half(found.corrected))
        known = {"mean": float(many[1].mean())} if levels == 2 else {"sd": float(many[1].std())}
        how = {**known, "judge_correlation": together}
        planned = evenhand.plan(rows=rows, labels=labels, **how).lines["corrected_half_width"].value
        print(
            f"| {levels} levels, mean {mean} | {together:.2f} | {labels} of {rows} | {planned:.4f} | "
            f"{np.mean(widths):.4f} | {planned / np.mean(widths) - 1:+.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print_power(sets)
    print_corrected(sets)
