"""How often a preference for length is found, with and without a term for the systems, by simulation with known truth.

``python -m benchmarks.verbosity`` prints a Markdown table: of 300 data sets each, the share in which the interval of
`verbosity_slope` excludes 0, and the share in which it holds the judge's own preference. The better of two systems is
ahead by 1.5 log-odds and writes 1.6 times as much as the other, or as little; lengths vary by a standard deviation of
0.5 (log).
"""

import numpy as np

from evenhand.statistics.length import verbosity_slope

DATA_SETS = 300
ADVANTAGE, RATIO, SPREAD = 1.5, 1.6, 0.5
CASES = ((0.0, RATIO, 50), (0.0, RATIO, 200), (0.0, 1 / RATIO, 200), (0.8, 1 / RATIO, 200), (0.8, RATIO, 200))


def contests(generator: np.random.Generator, taste: float, ratio: float, size: int) -> tuple[np.ndarray, ...]:
    """Scores, lengths and systems: the better system is number 1, in either place."""
    better = generator.integers(2, size=size)
    systems = np.stack([better, 1 - better], axis=1)
    lengths = np.exp(6 + np.log(ratio) * systems + generator.normal(0, SPREAD, (size, 2))).round()
    advantage = ADVANTAGE * (systems[:, 0] - systems[:, 1])
    advantage = advantage + taste * (np.log1p(lengths[:, 0]) - np.log1p(lengths[:, 1]))
    return (generator.random(size) < 1 / (1 + np.exp(-advantage))).astype(float), lengths, systems


def shares(taste: float, ratio: float, size: int, *, term: bool, data_sets: int = DATA_SETS) -> tuple[float, float]:
    """How often a preference is found, and how often the judge's taste lies in the interval."""
    generator = np.random.default_rng(0)
    found = held = 0
    for _ in range(data_sets):
        score, lengths, systems = contests(generator, taste, ratio, size)
        interval = verbosity_slope(score, lengths, systems=systems if term else None).slope.interval
        if interval is not None:
            found += not interval.low <= 0 <= interval.high
            held += interval.low <= taste <= interval.high
    return found / data_sets, held / data_sets


def main() -> None:
    """Print the table."""
    print("| judge's taste | better system is | prompts | term for systems | preference found | taste covered |")
    print("|---|---|---|---|---|---|")
    for taste, ratio, size in CASES:
        for term in (False, True):
            found, held = shares(taste, ratio, size, term=term)
            longer = "longer" if ratio > 1 else "shorter"
            print(f"| {taste} | {longer} | {size} | {'yes' if term else 'no'} | {found:.1%} | {held:.1%} |")


if __name__ == "__main__":
    main()
