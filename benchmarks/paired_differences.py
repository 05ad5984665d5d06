"""How often the intervals of paired differences hold the truth, and how often equal systems differ significantly.

``python -m benchmarks.paired_differences`` prints a Markdown table: for independent rows and for rows of documents, the
share of pairs whose nominal 95 % interval holds the true difference, its mean width and, with the systems equal, the
share of data sets in which any pair has a p-value below 0.05 after Holm. Next to the clustered rows stand the figures
of the same data with the rows taken as independent.
"""

import numpy as np
from scipy import stats

from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.ranking import paired_differences

DATA_SETS = 300
DESIGNS = ((10, 1), (20, 1), (50, 1), (200, 1), (10, 8), (25, 8))
"""Documents and rows of each."""
LEVELS = (2, 5)
EFFECTS = ((0.0, 0.0, 0.0), (1.2, 0.9, 0.3), (2.0, 1.7, -0.5))
"""Qualities of the systems in standard deviations; a score is a level of (quality + document + row + noise)."""
SHARES = (0.25, 0.35, 0.4)
"""Of the variance: documents (of each system's own), rows (shared by the systems), noise."""


def scores(
    generator: np.random.Generator, effects: tuple[float, ...], design: tuple[int, int], levels: int
) -> np.ndarray:
    """Scores of one data set, (rows, systems)."""
    documents, rows = design
    own, shared, noise = np.sqrt(SHARES)
    quality = np.repeat(generator.normal(size=(documents, len(effects))) * own, rows, axis=0)
    quality = quality + generator.normal(size=(documents * rows, 1)) * shared
    quality = quality + generator.normal(size=quality.shape) * noise + np.array(effects)
    return np.minimum(np.floor(stats.norm.cdf(quality) * levels), levels - 1) / (levels - 1)


def expected(effect: float, levels: int) -> float:
    """The mean score of a system: the share above each cut, averaged."""
    cuts = stats.norm.ppf(np.arange(1, levels) / levels)
    return float(stats.norm.sf(cuts - effect).mean())


def cell(
    design: tuple[int, int], levels: int, effects: tuple[float, ...], *, clustered: bool
) -> tuple[float, float, float]:
    """Shares of intervals that hold the difference and of data sets with a significant pair; the mean width."""
    generator = np.random.default_rng([*design, levels, round(10 * effects[0])])
    documents, rows = design
    labels = np.repeat(np.arange(documents), rows).tolist() if clustered else None
    level = IntervalLevel(0.95, clusters=labels)
    held, widths, significant = [], [], 0
    for _ in range(DATA_SETS):
        found = paired_differences(scores(generator, effects, design, levels), level=level)
        significant += any(pair.p_value is not None and pair.p_value < 0.05 for pair in found)
        for pair in found:
            truth = expected(effects[int(pair.first)], levels) - expected(effects[int(pair.second)], levels)
            if pair.difference is not None:
                held.append(pair.difference.low <= truth <= pair.difference.high)
                widths.append(pair.difference.high - pair.difference.low)
    return float(np.mean(held)), significant / DATA_SETS, float(np.mean(widths))


def main() -> None:
    """Print the table."""
    print("| documents × rows | levels | qualities | held | significant | width |", end="")
    print(" rows as independent: held | significant | width |")
    print("|---|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        for levels in LEVELS:
            for effects in EFFECTS:
                clustered = design[1] > 1
                found = [*cell(design, levels, effects, clustered=clustered)]
                found += cell(design, levels, effects, clustered=False) if clustered else []
                texts = [f"{value:.3f}" for value in found] + [""] * (6 - len(found))
                print(f"| {design[0]} × {design[1]} | {levels} | {effects} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
