"""How often corrected scores hold what people would give, by simulation with known truth and on recorded data.

``python -m benchmarks.correction`` prints Markdown tables: for each kind of score the judge alone, the labels alone,
the corrected score and, for 0/1 scores, other methods, those of ``judgy``, ``ppi-python`` and ``cje-eval`` where these
are installed: how often a nominal 95 % interval holds the mean of the population that the rows are drawn from, in the
worst cell and on average, how often there is none, and its width against the labels alone. A cell is a judge with a
number of labels and of rows. ``--data-sets 100 --only "0/1"`` runs a small version; ``--no-rivals`` leaves the other
methods out, which take most of the time; without them all takes about two minutes for
``--data-sets 200``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy import stats

from evenhand.numbers import Missing
from evenhand.statistics.correction import Correction, corrected_mean
from evenhand.statistics.intervals import IntervalLevel

Limits = tuple[float, float] | None
"""None: undefined."""
Sample = tuple[np.ndarray, np.ndarray, dict[str, Any]]
"""Judge's scores and all labels of the rows drawn, and arguments that depend on them."""
Method = Callable[[np.ndarray, np.ndarray], Limits]
Sampler = Callable[[np.random.Generator], Sample]

LEVELS = np.linspace(0, 1, 5)
RECORDED = "data/llmjudge_trecdl23_panel.csv.gz"


@dataclass(frozen=True)
class Cell:
    """A population with a judge, and how its rows are labelled."""

    name: str
    truth: float
    sample: Sampler
    labels: int
    design: str = "random"
    support: tuple[float, ...] | None = None

    def generator(self, data_set: int) -> np.random.Generator:
        """Of a data set."""
        return np.random.default_rng([data_set, crc32(self.name.encode())])

    def correction(self, seed: int) -> tuple[Correction, np.ndarray, np.ndarray]:
        """One data set: its correction, the judge's scores and the labels."""
        generator = self.generator(seed)
        judged, truth, more = self.sample(generator)
        human = np.full(truth.shape, np.nan)
        human[self.chosen(generator, judged, truth, more)] = 1
        human *= truth
        return corrected_mean(judged, human, design=self.design, support=self.support, **more), judged, human

    def chosen(
        self, generator: np.random.Generator, judged: np.ndarray, truth: np.ndarray, more: dict[str, Any]
    ) -> np.ndarray:
        """The rows that are labelled."""
        rows = len(truth)
        if self.design == "probabilities":
            return np.flatnonzero(generator.random(rows) < more["probabilities"])
        if self.design == "random":
            return generator.permutation(rows)[: self.labels]
        by = np.where(np.isnan(judged), -1, judged)
        groups = np.unique(by)
        each = self.labels // len(groups)
        return np.concatenate([generator.permutation(np.flatnonzero(by == group))[:each] for group in groups])


def binary(rate: float, sensitivity: float, specificity: float, rows: int) -> Sampler:
    """0/1 scores of independent rows."""

    def sample(generator: np.random.Generator) -> Sample:
        truth = (generator.random(rows) < rate).astype(float)
        says = generator.random(rows) < np.where(truth == 1, sensitivity, 1 - specificity)
        return says.astype(float), truth, {}

    return sample


def noise(spread: float, shift: float = 0.0) -> np.ndarray:
    """How often a judge gives each level to rows of each level: normal around it, or around what is shifted."""
    level = np.arange(5)
    rates = np.exp(-((level - np.clip(level[:, None] + shift, 0, 4)) ** 2) / (2 * spread**2))
    return np.asarray(rates / rates.sum(axis=1, keepdims=True))


def drawn_from(generator: np.random.Generator, shares: np.ndarray) -> np.ndarray:
    """One level a row of shares."""
    return np.minimum((generator.random(len(shares))[:, None] > shares.cumsum(axis=1)).sum(axis=1), shares.shape[1] - 1)


def leveled(shares: list[float], rates: np.ndarray, rows: int) -> Sampler:
    """Five levels."""

    def sample(generator: np.random.Generator) -> Sample:
        truth = drawn_from(generator, np.tile(shares, (rows, 1)))
        return LEVELS[drawn_from(generator, rates[truth])], LEVELS[truth], {}

    return sample


BINARY = {
    "good": (0.6, 0.9, 0.85),
    "middling": (0.6, 0.75, 0.7),
    "worthless": (0.7, 0.5, 0.5),
    "lenient": (0.4, 0.95, 0.5),
    "rare": (0.1, 0.8, 0.95),
    "near perfect": (0.8, 0.98, 0.97),
}
SPREAD_OUT, TOP, ENDS = [0.1, 0.2, 0.3, 0.25, 0.15], [0.01, 0.02, 0.07, 0.2, 0.7], [0.45, 0.03, 0.04, 0.03, 0.45]
LEVELED = {
    "good": (SPREAD_OUT, noise(0.6)),
    "near perfect": (SPREAD_OUT, noise(0.4)),
    "middling": (SPREAD_OUT, noise(1.2)),
    "worthless": (SPREAD_OUT, np.tile([0.1, 0.2, 0.3, 0.2, 0.2], (5, 1))),
    "lenient": ([0.25, 0.25, 0.2, 0.2, 0.1], noise(0.8, 1.5)),
    "nearly all good": (TOP, noise(0.8)),
    "all or nothing": (ENDS, noise(1.5)),
}


def binary_cells() -> Iterator[Cell]:
    """0/1 scores: 6 judges, 4 numbers of labels, 2 of rows."""
    for name, (rate, sensitivity, specificity) in BINARY.items():
        for labels in (30, 50, 100, 200):
            for rows in (500, 5000):
                sample = binary(rate, sensitivity, specificity, rows)
                yield Cell(f"{name}, {labels} of {rows}", rate, sample, labels, support=(0, 1))


def leveled_cells() -> Iterator[Cell]:
    """Five levels: 7 judges, 3 numbers of labels, 2 of rows."""
    for name, (shares, rates) in LEVELED.items():
        for labels in (30, 60, 150):
            for rows in (500, 5000):
                truth = float(np.dot(shares, LEVELS))
                sample = leveled(shares, rates, rows)
                yield Cell(f"{name}, {labels} of {rows}", truth, sample, labels, support=tuple(LEVELS))


def pairs(rates: tuple[float, float], together: float, accuracy: tuple[float, float, float], rows: int) -> Sampler:
    """0/1 scores of two systems: the share of rows on which both score the same thing drawn once, and a judge."""

    def sample(generator: np.random.Generator) -> Sample:
        common = generator.random((rows, 1))
        own = np.where(generator.random((rows, 1)) < together, common, generator.random((rows, 2)))
        truth = (own < np.array(rates)).astype(float)
        sensitivity, specificity, favour = accuracy
        yes = np.where(truth == 1, sensitivity, 1 - specificity) + np.array([favour, 0.0])
        return (generator.random((rows, 2)) < yes).astype(float), truth, {}

    return sample


def leveled_pairs(noisy: float, ahead: float, rows: int) -> Sampler:
    """Five levels of two systems, from a common and an own normal quality."""

    def sample(generator: np.random.Generator) -> Sample:
        quality = generator.normal(0, 0.8, (rows, 1)) + generator.normal(0, 0.7, (rows, 2)) + np.array([ahead, 0.0])
        seen = quality + generator.normal(0.3, noisy, (rows, 2))
        cuts = [-1.2, -0.4, 0.4, 1.2]
        return LEVELS[np.searchsorted(cuts, seen)], LEVELS[np.searchsorted(cuts, quality)], {}

    return sample


def pair_cells() -> Iterator[Cell]:
    """Paired differences: 5 pairs of 0/1 scores, 3 of five levels, with 3 numbers of labelled rows of 1,000."""
    designs = {
        "ahead by .1": ((0.6, 0.5), 0.5, (0.85, 0.85, 0.0)),
        "equal, judge favours one": ((0.5, 0.5), 0.5, (0.8, 0.85, 0.1)),
        "worthless judge": ((0.7, 0.5), 0.3, (0.5, 0.5, 0.0)),
        "both high": ((0.92, 0.9), 0.6, (0.9, 0.8, 0.0)),
        "sharp judge": ((0.6, 0.4), 0.7, (0.96, 0.95, 0.0)),
    }
    for labels in (40, 80, 200):
        for name, (rates, together, accuracy) in designs.items():
            sample = pairs(rates, together, accuracy, 1000)
            yield Cell(f"0/1, {name}, {labels}", rates[0] - rates[1], sample, labels, support=(0, 1))
        for noisy, ahead in ((0.5, 0.3), (1.2, 0.0), (5.0, 0.3)):
            sample = leveled_pairs(noisy, ahead, 1000)
            truth = expected_difference(ahead)
            name = f"five levels, noise {noisy}, ahead {ahead}, {labels}"
            yield Cell(name, truth, sample, labels, support=tuple(LEVELS))


def expected_difference(ahead: float) -> float:
    """Of the levels of `leveled_pairs`."""
    spread = math.hypot(0.8, 0.7)

    def mean(shift: float) -> float:
        return float(stats.norm.sf([-1.2, -0.4, 0.4, 1.2], shift, spread).mean())

    return mean(ahead) - mean(0.0)


def number_cells() -> Iterator[Cell]:
    """Scores that are numbers, as of rubrics and expected scores."""
    for name, (shape, noisy) in {
        "good": ((2.0, 2.0), 0.1),
        "middling": ((2.0, 2.0), 0.3),
        "worthless": ((2.0, 2.0), 5.0),
        "nearly all good": ((5.0, 0.7), 0.1),
        "bent": ((0.5, 0.5), 0.2),
    }.items():
        for labels in (30, 60, 150):

            def sample(
                generator: np.random.Generator, shape: tuple[float, float] = shape, noisy: float = noisy
            ) -> Sample:
                truth = generator.beta(*shape, 1000)
                return np.clip(truth**1.5 + generator.normal(0, noisy, 1000), 0, 1), truth, {}

            yield Cell(f"{name}, {labels}", shape[0] / sum(shape), sample, labels)


def clustered_cells() -> Iterator[Cell]:
    """Rows of clusters that share: 0/1 and five levels, random rows labelled."""
    for clusters, size, labels in ((30, 20, 60), (100, 10, 100), (60, 5, 60)):
        for share in (0.1, 0.4):
            for accuracy in (0.6, 0.9):

                def sample(
                    generator: np.random.Generator,
                    clusters: int = clusters,
                    size: int = size,
                    share: float = share,
                    accuracy: float = accuracy,
                ) -> Sample:
                    spread = math.sqrt(share / (1 - share))
                    of = np.repeat(np.arange(clusters), size)
                    topic = generator.normal(0, spread, clusters)[of]
                    truth = (topic + generator.normal(0, 1, len(of)) > 0).astype(float)
                    right = generator.random(len(of)) < accuracy + 0.1 * np.sign(topic)
                    return np.where(right, truth, 1 - truth), truth, {"level": IntervalLevel(clusters=of.tolist())}

                name = f"{clusters} × {size}, shares {share}, accuracy {accuracy}, {labels}"
                yield Cell(name, 0.5, sample, labels, support=(0, 1))


def design_cells() -> Iterator[Cell]:
    """Labels chosen by the verdict, or with probabilities; and a judge that leaves rows unscored."""
    for name, (rate, sensitivity, specificity) in BINARY.items():
        for labels in (40, 100):
            sample = binary(rate, sensitivity, specificity, 1000)
            yield Cell(f"by_verdict, {name}, {labels}", rate, sample, labels, "by_verdict", (0, 1))
            yield Cell(
                f"probabilities, {name}, {labels}", rate, unequal(sample, labels), labels, "probabilities", (0, 1)
            )
            yield Cell(f"unscored, {name}, {labels}", rate, refusing(sample), labels, "random", (0, 1))
    for name in ("good", "middling", "worthless", "nearly all good"):
        shares, rates = LEVELED[name]
        truth = float(np.dot(shares, LEVELS))
        for labels in (40, 100):
            sample = leveled(shares, rates, 1000)
            levels = tuple(LEVELS)
            yield Cell(f"by_verdict, five levels, {name}, {labels}", truth, sample, labels, "by_verdict", levels)
            yield Cell(
                f"probabilities, five levels, {name}, {labels}",
                truth,
                unequal(sample, labels),
                labels,
                "probabilities",
                levels,
            )


def unequal(sample: Sampler, labels: int) -> Sampler:
    """The same with probabilities of being labelled that depend on the verdict and on chance."""

    def chosen(generator: np.random.Generator) -> Sample:
        judged, truth, _ = sample(generator)
        odds = (1 + 2 * (judged < 0.5)) * generator.uniform(0.5, 1.5, len(judged))
        return judged, truth, {"probabilities": np.minimum(labels * odds / odds.sum(), 1.0)}

    return chosen


def rare_cells() -> Iterator[Cell]:
    """Rare labels, where rows of the judge's rare verdict are labelled an eighth as often."""
    for rate in (0.05, 0.1, 0.2, 0.35):
        for labels in (40, 100, 200):
            for right in (0.7, 0.85, 0.95):
                sample = seldom(binary(rate, right, right, 1000), labels)
                yield Cell(f"{rate}, right in {right}, {labels}", rate, sample, labels, "probabilities", (0, 1))


def seldom(sample: Sampler, labels: int) -> Sampler:
    """The same with probabilities of being labelled that are an eighth where the judge says yes."""

    def chosen(generator: np.random.Generator) -> Sample:
        judged, truth, _ = sample(generator)
        odds = np.where(judged == 1, 1.0, 8.0)
        return judged, truth, {"probabilities": np.minimum(labels * odds / odds.sum(), 1.0)}

    return chosen


def refusing(sample: Sampler) -> Sampler:
    """The same with a judge that scores 4 of 5 bad rows and 19 of 20 good ones."""

    def seen(generator: np.random.Generator) -> Sample:
        judged, truth, more = sample(generator)
        return np.where(generator.random(len(truth)) < np.where(truth > 0.5, 0.05, 0.2), np.nan, judged), truth, more

    return seen


def recorded_cells() -> Iterator[Cell]:
    """33 judges of query-passage pairs: 1,500 rows drawn from those graded by people, 150 of them labelled."""
    root = Path(os.environ.get("EVENHAND_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (root / RECORDED).exists():
        return
    with gzip.open(root / RECORDED, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    human = np.array([float(row["human"]) / 3 for row in rows])
    for judge in list(rows[0])[3:]:
        judged = np.array([min(float(row[judge] or "nan"), 3.0) / 3 for row in rows])  # one gives a 5

        def sample(generator: np.random.Generator, judged: np.ndarray = judged) -> Sample:
            drawn = generator.integers(len(human), size=1500)
            return judged[drawn], human[drawn], {}

        yield Cell(judge, float(human.mean()), sample, 150, support=(0, 1 / 3, 2 / 3, 1))


KINDS: Mapping[str, Callable[[], Iterator[Cell]]] = {
    "0/1": binary_cells,
    "five levels": leveled_cells,
    "paired differences": pair_cells,
    "numbers": number_cells,
    "clusters": clustered_cells,
    "designs": design_cells,
    "rare": rare_cells,
    "recorded": recorded_cells,
}


def wilson(_: np.ndarray, human: np.ndarray) -> Limits:
    """Of the labels alone."""
    given = human[~np.isnan(human)]
    found = stats.binomtest(int(given.sum()), len(given)).proportion_ci(0.95, "wilson")
    return float(found.low), float(found.high)


def lee(judged: np.ndarray, human: np.ndarray) -> Limits:
    """Lee and others (2025), arXiv 2511.21140, with their adjusted counts; None for a judge that is chance."""
    known = ~np.isnan(human)
    z = float(stats.norm.ppf(0.975))
    no, yes = known & (human == 0), known & (human == 1)
    n, m0, m1 = len(judged), int(no.sum()), int(yes.sum())
    p, q0 = (judged.sum() + z**2 / 2) / (n + z**2), ((judged[no] == 0).sum() + 1) / (m0 + 2)
    q1 = ((judged[yes] == 1).sum() + 1) / (m1 + 2)
    gain = q0 + q1 - 1
    if gain <= 0 or not m0 or not m1:
        return None
    theta = (p + q0 - 1) / gain
    shift = 2 * z**2 * (-(1 - theta) * q0 * (1 - q0) / (m0 + 2) + theta * q1 * (1 - q1) / (m1 + 2))
    variance = p * (1 - p) / (n + z**2)
    variance += (1 - theta) ** 2 * q0 * (1 - q0) / (m0 + 2) + theta**2 * q1 * (1 - q1) / (m1 + 2)
    half = z * math.sqrt(variance) / gain
    return max(theta + shift - half, 0.0), min(theta + shift + half, 1.0)


def ppi(mean_interval: Callable[..., Any]) -> Method:
    """PPI++ of ppi-python, with its tuning."""

    def found(judged: np.ndarray, human: np.ndarray) -> Limits:
        known = ~np.isnan(human)
        low, high = mean_interval(human[known], judged[known], judged[~known], alpha=0.05)
        return float(low[0]), float(high[0])

    return found


def judgy(estimate: Callable[..., Any]) -> Method:
    """judgy; undefined where it says so, or gives NaN."""

    def found(judged: np.ndarray, human: np.ndarray) -> Limits:
        known = ~np.isnan(human)
        tables = [each.astype(int).tolist() for each in (human[known], judged[known], judged)]
        try:
            _, low, high = estimate(*tables, bootstrap_iterations=300)
        except ValueError:
            return None
        return defined(low, high)

    return found


def cje(mean_interval: Callable[..., Any]) -> Method:
    """cje-eval, as it comes."""

    def found(judged: np.ndarray, human: np.ndarray) -> Limits:
        try:
            return defined(*mean_interval(judged, human, ~np.isnan(human)).ci)
        except ValueError:
            return None

    return found


def defined(low: float, high: float) -> Limits:
    """Limits that are numbers."""
    return None if math.isnan(low) or math.isnan(high) else (float(low), float(high))


PACKAGES = {
    "PPI++ (ppi-python)": ("ppi_py", "ppi_mean_ci", ppi),
    "judgy": ("judgy", "estimate_success_rate", judgy),
    "cje-eval": ("cje", "calibrated_mean_ci", cje),
}


METHODS = ("labels alone (Wilson)", "Lee et al. 2025", *PACKAGES)


def rivals() -> dict[str, Method]:
    """Other methods for 0/1 scores: those of packages where these are installed."""
    found: dict[str, Method] = {"labels alone (Wilson)": wilson, "Lee et al. 2025": lee}
    for name, (module, function, method) in PACKAGES.items():
        if find_spec(module) is not None:
            found[name] = method(getattr(import_module(module), function))
    return found


def limits(found: object) -> Limits:
    """Of an interval."""
    return None if isinstance(found, Missing) else (found.low, found.high)  # type: ignore[attr-defined]


@dataclass
class Tally:
    """What a method did in a cell."""

    held: int = 0
    defined: int = 0
    width: float = 0.0
    labels_width: float = 0.0

    def add(self, truth: float, found: Limits, labels: Limits) -> None:
        """One data set."""
        if found is None:
            return
        self.defined += 1
        self.held += found[0] - 1e-12 <= truth <= found[1] + 1e-12
        self.width += found[1] - found[0]
        self.labels_width += math.nan if labels is None else labels[1] - labels[0]

    @property
    def coverage(self) -> float:
        """Of what is defined."""
        return self.held / self.defined if self.defined else math.nan

    @property
    def ratio(self) -> float:
        """Width against the labels alone, over the same data sets."""
        return self.width / self.labels_width if self.defined else math.nan


def tallied(cell: Cell, data_sets: int, others: Mapping[str, Method]) -> dict[str, Tally]:
    """All methods over the data sets of a cell; other methods over the first twentieth of them."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for seed in range(data_sets):
        found, judged, human = cell.correction(seed)
        labels = limits(found.labels)
        methods = {"judge alone": limits(found.judge), "labels alone": labels, "corrected": limits(found.corrected)}
        if seed < data_sets / 20:
            methods |= {name: method(judged, human) for name, method in others.items()}
        for name, given in methods.items():
            tallies[name].add(cell.truth, given, labels)
    return tallies


def show(kind: str, cells: list[tuple[Cell, dict[str, Tally]]], data_sets: int) -> None:
    """The table of a kind."""
    print(f"\n{kind}: {len(cells)} cells of {data_sets} data sets\n")
    print("| method | holds on average | worst cell | cells below .93 | undefined | width | widest cell |")
    print("|---|---|---|---|---|---|---|")
    for name in cells[0][1]:
        tallies = [found[name] for _, found in cells]
        coverage = np.array([tally.coverage for tally in tallies])
        ratio = np.array([tally.ratio for tally in tallies])
        made = data_sets // 20 if name in METHODS else data_sets
        undefined = 1 - sum(tally.defined for tally in tallies) / (made * len(tallies))
        below = int((coverage < 0.93).sum())
        print(
            f"| {name} | {np.nanmean(coverage):.3f} | {np.nanmin(coverage):.3f} | {below} of {len(cells)} "
            f"| {undefined:.1%} | {np.nanmean(ratio):.2f} | {np.nanmax(ratio):.2f} |"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--cells", action="store_true", help="print each cell too")
    parser.add_argument("--no-rivals", action="store_true", help="without the other methods for 0/1 scores")
    parser.add_argument("--match", default="", help="only cells whose name has this in it")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # of the other methods
    others = {} if options.no_rivals else rivals()
    for kind in options.only:
        done = []
        for cell in KINDS[kind]():
            if options.match not in cell.name:
                continue
            found = tallied(cell, options.data_sets, others if kind == "0/1" else {})
            done.append((cell, found))
            if options.cells:
                texts = (f"{name} {tally.coverage:.3f} ×{tally.ratio:.2f}" for name, tally in found.items())
                print(f"{cell.name}: {'; '.join(texts)}", flush=True)
        if done:
            show(kind, done, options.data_sets)


if __name__ == "__main__":
    main()
