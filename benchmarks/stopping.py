"""What early stopping saves, how often it comes to what all draws come to, and which numbers it leaves as they are.

``python -m benchmarks.stopping`` prints three Markdown tables. The first replays recorded draws (the file that
``EVENHAND_SHARED`` or the folder ``shared`` beside the checkout holds; left out where there is none), the second
computes exactly what simulated judges do, and the third judges simulated responses with and without early stopping.
"""

import gzip
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"

import numpy as np

from evenhand.aggregation import aggregate, draws_are_settled
from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Scale, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.functions import checklist, judge, winrates
from evenhand.options import Grid
from evenhand.votes import Vote

RECORDED = "data/composo_rewardbench2_k8.jsonl.gz"
DEFAULT = Grid().confidence
RULES = {f"default ({DEFAULT})": DEFAULT, "confidence=0.95": 0.95, "certain (None)": None}
ACCURACIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.97)
Counts = tuple[int, ...]


def levels(count: int, scale: Scale = "ordinal") -> Criterion:
    """A criterion with equally spaced levels."""
    options = tuple(Option(label=str(level), value=level / (count - 1)) for level in range(count))
    return Criterion(name=f"{scale} {count}", description="", options=options, scale=scale)


class Stopping:
    """One criterion's outcomes and ends of drawing, by the counts drawn."""

    def __init__(self, criterion: Criterion, confidence: Any) -> None:  # noqa: ANN401 - whatever the version accepts
        size = len(criterion.options)
        cast = [Vote(judge_id="judge", order=tuple(range(size)), selected_index=option) for option in range(size)]

        def votes(counts: Counts) -> list[Vote]:
            return [vote for vote, count in zip(cast, counts, strict=True) for _ in range(count)]

        @cache
        def outcome(counts: Counts) -> int | None:
            return aggregate(votes(counts), criterion).selected_index

        @cache
        def ends(counts: Counts, remaining: int) -> bool:
            return draws_are_settled(votes(counts), criterion, remaining, confidence=confidence)

        self.size = size
        self.outcome: Callable[[Counts], int | None] = outcome
        self.ends: Callable[[Counts, int], bool] = ends


def replay(rule: Stopping, cells: Counter[tuple[int | None, ...]]) -> tuple[float, float]:
    """The share of the calls made, and the share of the prompts that come to what all their draws come to."""
    calls = planned = same = 0
    for draws, weight in cells.items():
        counts = [0] * rule.size
        made = 0
        for drawn, option in enumerate(draws, start=1):
            if option is not None:
                counts[option] += 1
            made = drawn
            if drawn == len(draws) or (any(counts) and rule.ends(tuple(counts), len(draws) - drawn)):
                break
        every = tuple(draws.count(option) for option in range(rule.size))
        calls += weight * made
        planned += weight * len(draws)
        same += weight * (rule.outcome(tuple(counts)) == rule.outcome(every))
    return calls / planned, same / cells.total()


def expected(rule: Stopping, shares: Sequence[float], draws: int) -> tuple[float, float]:
    """The same for a judge that selects the options with these probabilities, exactly."""
    calls = same = 0.0
    open_states = {(0,) * rule.size: 1.0}
    for made in range(1, draws + 1):
        reached: dict[Counts, float] = {}
        for counts, mass in open_states.items():
            for option, share in enumerate(shares):
                if share > 0:
                    after = tuple(count + (place == option) for place, count in enumerate(counts))
                    reached[after] = reached.get(after, 0.0) + mass * share
        open_states = {}
        for counts, mass in reached.items():
            if made < draws and not rule.ends(counts, draws - made):
                open_states[counts] = mass
                continue
            calls += mass * made
            for further, likely in continuations(shares, draws - made):
                every = tuple(count + more for count, more in zip(counts, further, strict=True))
                same += mass * likely * (rule.outcome(every) == rule.outcome(counts))
    return calls / draws, same


@cache
def _continuations(shares: tuple[float, ...], draws: int) -> tuple[tuple[Counts, float], ...]:
    if len(shares) == 1:
        return (((draws,), shares[0] ** draws),)
    return tuple(
        ((own, *rest), comb(draws, own) * shares[0] ** own * likely)
        for own in range(draws + 1)
        for rest, likely in _continuations(shares[1:], draws - own)
    )


def continuations(shares: Sequence[float], draws: int) -> tuple[tuple[Counts, float], ...]:
    """What further draws can select, with its probability."""
    return _continuations(tuple(shares), draws)


def judges_of(accuracy: float) -> Iterator[tuple[str, Criterion, list[float]]]:
    """Simulated judges: what they choose among, and how often each option."""
    wrong = 1 - accuracy
    yield "yes/no", yes_no_criterion("met", ""), [accuracy, wrong]
    yield "five levels", levels(5), [0.1 * wrong, 0.2 * wrong, 0.35 * wrong, accuracy, 0.35 * wrong]
    yield "two of five levels", levels(5), [0.0, 0.0, wrong, accuracy, 0.0]
    yield "four kinds", levels(4, "nominal"), [accuracy, *[wrong / 3] * 3]


def recorded_cells(path: Path) -> Counter[tuple[int | None, ...]]:
    """Eight draws on levels from 1 to 10 of each prompt, with how often they occur; None is unscored."""
    cells: Counter[tuple[int | None, ...]] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            for draws in (*(row.get("full") or ()), *(row.get("mini") or ())):
                if any(draws):
                    cells[tuple(None if level is None else level - 1 for level in draws)] += 1
    return cells


def numbers(accuracy: float) -> Iterator[tuple[str, float | None, float | None, float | None]]:
    """What is measured: name, from all draws, from draws that stop by default, and where nothing could change."""
    rows = [{"question": f"question {row}", "one": f"one {row}", "other": f"other {row}"} for row in range(300)]
    odds = float(np.log(accuracy / (1 - accuracy)))
    quality = {row["one"]: 1.0 for row in rows}
    strengths = {row["one"]: odds for row in rows} | {row["other"]: 0.0 for row in rows}
    checks = Checklist(name="list", items=(ChecklistItem(question="Is it met?", name="met"),))
    shared: dict[str, Any] = {"samples": 9, "check_positional_bias": False, "journal": None, "progress": False}
    found = []
    ways: tuple[dict[str, Any], ...] = ({}, {"stop_early": True}, {"stop_early": True, "confidence": None})
    for stopping in ways:

        def engine(known: dict[str, float] = quality) -> SimulatedEngine:
            return SimulatedEngine(quality=known, accuracy=accuracy, seed=3)

        judged = judge(
            rows,
            yes_no_criterion("met", "Is it met?"),
            engine(),
            response_fields="one",
            flow="verdict_only",
            **shared,
            **stopping,
        )
        compared = winrates(
            rows,
            "criteria.evenhand.pairwise.overall_quality",
            engine(strengths),
            response_fields=["one", "other"],
            flow="verdict_only",
            resamples=50,
            **shared,
            **stopping,
        )
        checked = checklist(
            rows, checks, engine(), response_fields="one", mode="item", use_logprobs=False, **shared, **stopping
        )
        found.append(measured(judged, compared, checked))
    for name in found[0]:
        yield name, *(each[name] for each in found)


def measured(judged: Any, compared: Any, checked: Any) -> dict[str, float | None]:  # noqa: ANN401 - tables of any way
    """The numbers of three tables by their names."""
    summary, report = judged.summaries["one", "met"], checked.reports["one"]
    return {
        "score": number(summary.score),
        "agreement": number(summary.agreement),
        "spread": number(summary.spread),
        "stability": number(judged.panel("one", "met").judges[0].stability.same_option),
        "rescore(scoring='expected')": number(
            read(lambda: judged.rescore(scoring="expected").summaries["one", "met"].score)
        ),
        "winrate": number(compared.winrate("one")),
        "log strength of the better system": number(compared.entry("one").strength.log_strength),
        "winrates.rescore(scoring='expected')": number(
            read(lambda: compared.rescore(scoring="expected").winrate("one"))
        ),
        "checklist: normalized_score": number(report.normalized_score),
        "checklist: confidence": number(report.items[0].confidence),
        "checklist: rescore(primary_metric='normalized')": number(
            read(lambda: checked.rescore(primary_metric="normalized").reports["one"].primary_score)
        ),
    }


def read(reading: Callable[[], Any]) -> Any:  # noqa: ANN401 - an interval, or None where the votes cannot be read so
    """A reading of votes; None where it is refused."""
    try:
        return reading()
    except InvalidInputError:
        return None


def number(interval: Any) -> float | None:  # noqa: ANN401 - an interval or None
    """Its estimate."""
    return None if interval is None else float(interval.estimate)


def shown(value: float | None) -> str:
    """A number, or that it is missing."""
    return "missing" if value is None or np.isnan(value) else f"{value:.3f}"


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    root = Path(os.environ.get("EVENHAND_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if (root / RECORDED).exists():
        cells = recorded_cells(root / RECORDED)
        print(f"| {cells.total():,} recorded prompts, eight draws on ten levels | rule | calls | as all draws |")
        print("|---|---|---|---|")
        for criterion, (name, confidence) in product((levels(10), levels(10, "nominal")), RULES.items()):
            calls, same = replay(Stopping(criterion, confidence), cells)
            kind = "median" if criterion.scale == "ordinal" else "mode"
            print(f"| {kind} | {name} | {calls:.1%} | {same:.2%} |")
        print()
    print(
        f"| judge | draws | {' | '.join(f'accuracy {each}' for each in ACCURACIES)} | (as all draws / calls, default)"
    )
    print("|---" * (len(ACCURACIES) + 2) + "|")
    rules: dict[Criterion | str, Stopping] = {}
    for draws in (3, 5, 7, 9, 15):
        kinds = [[*judges_of(accuracy)] for accuracy in ACCURACIES]
        for place, (kind, criterion, _) in enumerate(kinds[0]):
            if draws > 9 and len(criterion.options) > 2:
                continue
            rule = rules.setdefault(kind, Stopping(criterion, DEFAULT))
            cells_shown = [expected(rule, of_accuracy[place][2], draws) for of_accuracy in kinds]
            print(f"| {kind} | {draws} | {' | '.join(f'{same:.3f} / {calls:.2f}' for calls, same in cells_shown)} |")
    for accuracy in (0.8,):
        print(f"\n| accuracy {accuracy} | all nine draws | stopped (default) | stopped when certain |")
        print("|---|---|---|---|")
        for name, *values in numbers(accuracy):
            print(f"| {name} | {' | '.join(map(shown, values))} |")


if __name__ == "__main__":
    main()
