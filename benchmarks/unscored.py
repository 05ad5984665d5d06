"""What printed scores hold where a judge does not answer, and what it does not answer depends on the truth.

``python -m benchmarks.unscored`` prints a Markdown table: for each rate of refusals, and each way in which they depend
on the true score, how often the mean leads in the cell, by the rule of
:func:`~evenhand.statistics.intervals.unscored_bounds`; how often its interval then holds the truth; how often the
bounds that lead otherwise hold the score that scoring every vote would have given, and the brackets the truth; how
often what is printed holds the truth; and what the interval of the mean would have held in all cells. It takes about
two minutes.
"""

import numpy as np

from evenhand.statistics import mean_intervals
from evenhand.statistics.intervals import unscored_bounds

DATA_SETS = 400
SIZES = (50, 200, 1000)
TRUTHS = (0.3, 0.5, 0.9)
REFUSED = (0.004, 0.02, 0.05, 0.2)
"""The share of all rows that is refused, on average."""
WAYS = {"at random": (1.0, 1.0), "what is bad": (1.0, 0.0), "what is good": (0.0, 1.0)}
"""How likely a row with the score 0, and with 1, is refused, relative to each other."""


def cell(size: int, truth: float, refused: float, way: tuple[float, float]) -> tuple[float, ...]:
    """Share of cells in which the mean leads; held by it, by bounds, by brackets, by either, and by every interval."""
    generator = np.random.default_rng([size, round(100 * truth), round(1000 * refused), *map(int, way)])
    factor = refused / ((1 - truth) * way[0] + truth * way[1])
    by_mean: list[bool] = []
    by_bounds: list[bool] = []
    by_brackets: list[bool] = []
    always: list[bool] = []
    for _ in range(DATA_SETS):
        scores = (generator.random(size) < truth).astype(float)
        read = generator.random(size) >= factor * np.where(scores == 1, way[1], way[0])
        (interval,) = mean_intervals(scores[read])
        limits = [
            (each, each) if seen else (0.0, 1.0) for each, seen in zip(scores.tolist(), read.tolist(), strict=True)
        ]
        bounds = unscored_bounds(interval, limits)
        held = interval is not None and interval.low <= truth <= interval.high
        always.append(held)
        if bounds is None:
            by_mean.append(held)
        else:
            by_bounds.append(bounds.low - 1e-12 <= scores.mean() <= bounds.high + 1e-12)
            by_brackets.append(bounds.interval_low <= truth <= bounds.interval_high)
    columns = (by_mean, by_bounds, by_brackets, by_mean + by_brackets, always)
    means = (float(np.mean(found)) if found else float("nan") for found in columns)
    return (len(by_mean) / DATA_SETS, *means)


def main() -> None:
    """Print the table."""
    print("| rows | truth | refused | which | mean leads | it holds | bounds hold | brackets hold | printed | before |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for size in SIZES:
        for truth in TRUTHS:
            for refused in REFUSED:
                for which, way in WAYS.items():
                    shares = cell(size, truth, min(refused, (1 - truth) * 0.9), way)
                    texts = " | ".join("–" if np.isnan(share) else f"{share:.3f}" for share in shares)
                    print(f"| {size} | {truth} | {refused} | {which} | {texts} |", flush=True)


if __name__ == "__main__":
    main()
