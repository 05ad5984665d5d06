"""How often intervals hold the truth where rows come in documents, and for few 0/1 scores.

``python -m benchmarks.clusters`` prints Markdown tables: the share of simulated data sets whose nominal 95 % interval
of a mean holds it, and the mean width, over rows as if they did not depend on each other, and over the documents; then
the exact coverage of the methods for 0/1 scores, by enumeration over 1,999 rates. About three minutes on one core.
"""

import numpy as np
from scipy import stats

from evenhand.statistics import mean_intervals
from evenhand.statistics.intervals import IntervalLevel, Level

LEVEL = 0.95
REPEATS = 500
CORRELATIONS = (0.1, 0.3, 0.6)
METHODS = ("auto", "exact", "t", "bootstrap")
RATES = np.arange(1, 2000) / 2000


def documents(
    generator: np.random.Generator, count: int, rows: tuple[int, int], *, correlation: float, mean: float, graded: bool
) -> tuple[np.ndarray, list[int]]:
    """Scores (rows, repeats) of documents whose own rates are Beta with this mean and correlation of 0/1 rows.

    Args:
        generator: Draws.
        count: Documents.
        rows: The least and the greatest number of rows a document.
        correlation: The intraclass correlation of 0/1 scores: 1 / (a + b + 1) of Beta(a, b).
        mean: Of the scores.
        graded: Scores are Beta around their document's rate, and not 0 or 1.
    """
    labels = np.repeat(np.arange(count), generator.integers(rows[0], rows[1] + 1, size=count))
    spread = 1 / correlation - 1
    rates = generator.beta(mean * spread, (1 - mean) * spread, size=(count, REPEATS))[labels]
    if not graded:
        return (generator.random(rates.shape) < rates).astype(float), labels.tolist()
    inner = np.clip(rates, 1e-6, 1 - 1e-6)
    return generator.beta(3 * inner, 3 * (1 - inner)), labels.tolist()


def held(scores: np.ndarray, mean: float, level: Level) -> str:
    """The share of the columns whose interval holds the mean, and the mean width."""
    found = [each for each in mean_intervals(scores, level=level) if each is not None]
    share = np.mean([each.low <= mean <= each.high for each in found])
    return f"{share:.3f} / {np.mean([each.high - each.low for each in found]):.3f}"


def print_documents() -> None:
    """Coverage over rows and over documents."""
    generator = np.random.default_rng(0)
    print("| scores | mean | documents | rows each |", *(f"ICC {each} rows | documents |" for each in CORRELATIONS))
    print("|---|---|---|---|" + "---|---|" * len(CORRELATIONS))
    for graded in (False, True):
        for mean in (0.5, 0.9):
            for count in (20, 40, 100):
                for rows in ((5, 5), (20, 20), (5, 20)):
                    cells = []
                    for correlation in CORRELATIONS:
                        scores, labels = documents(
                            generator, count, rows, correlation=correlation, mean=mean, graded=graded
                        )
                        cells += [held(scores, mean, LEVEL), held(scores, mean, IntervalLevel(LEVEL, labels))]
                    kind, each = "graded" if graded else "0/1", f"{rows[0]}–{rows[1]}"
                    print(f"| {kind} | {mean} | {count} | {each} |", *(f"{cell} |" for cell in cells))


def exact_coverage(n: int, method: str) -> tuple[float, float, float]:
    """Mean and least coverage over the rates, and the mean width, of n scores of 0 or 1; by enumeration."""
    table = (np.arange(n)[:, None] < np.arange(n + 1)).astype(float)
    found = mean_intervals(table, level=IntervalLevel(LEVEL, method=method))
    low, high = np.array([(each.low, each.high) for each in found if each is not None]).T[:, :, None]
    chances = stats.binom.pmf(np.arange(n + 1)[:, None], n, RATES)
    covered = (chances * ((low <= RATES) & (high >= RATES))).sum(axis=0)
    width = (chances * (high - low)).sum(axis=0).mean()
    return float(covered.mean()), float(covered.min()), float(width)


def print_few_scores() -> None:
    """Coverage of few 0/1 scores by method."""
    print("\n| n |", *(f"{method} mean / least / width |" for method in METHODS))
    print("|---|" + "---|" * len(METHODS))
    for n in (1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 30, 50):
        cells = (exact_coverage(n, method) for method in METHODS)
        print(f"| {n} |", *(f"{mean:.3f} / {least:.3f} / {width:.3f} |" for mean, least, width in cells))


if __name__ == "__main__":
    print_few_scores()
    print_documents()
