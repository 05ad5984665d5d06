"""Seconds for the global scores with intervals: evenhand's reduce and unitxt's bootstrap, over the same numbers.

``python -m benchmarks.intervals`` prints a Markdown table. unitxt's bootstrap is run where that takes seconds only.
"""

import os
import time
from collections.abc import Callable

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"

import numpy as np

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import Criterion
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.metrics.metric import JudgedInstance
from evenhand.modes.mode import Subject
from evenhand.unitxt.bases import MapReduceMetric
from evenhand.unitxt.loading import load_criterion
from evenhand.votes import Vote

SIZES = (1_000, 2_000, 4_000, 20_000, 100_000)
UNITXT_SIZES = (1_000, 2_000, 4_000)


class UnitxtMean(MapReduceMetric):
    """The mean of one number an instance, with unitxt's own interval."""

    main_score = "mean"

    def reduce(self, intermediates: list[float]) -> dict[str, float]:
        """The mean."""
        return {"mean": float(np.mean(intermediates))}


def assessments(count: int, criterion: Criterion, judge: DirectJudge) -> list[JudgedInstance]:
    """Instances with two votes each."""
    draws = np.random.default_rng(0).integers(0, len(criterion.options), size=(count, 2))

    def vote(order: tuple[int, ...], index: int) -> Vote:
        option = criterion.options[index]
        return Vote(
            judge_id="judge", order=order, selected_index=index, selected_label=option.label, value=option.value
        )

    given = tuple(range(len(criterion.options)))
    subjects = [Subject(row, {"response": "text"}, judged=criterion) for row in range(count)]
    mode = judge.mode_of([criterion])
    return [
        JudgedInstance(
            score_name=criterion.name,
            evaluator="judge",
            mode=mode,
            about=subject,
            result=aggregate([vote(given, int(first)), vote(given[::-1], int(second))], criterion),
        )
        for subject, (first, second) in zip(subjects, draws, strict=True)
    ]


def seconds(action: Callable[[], object]) -> float:
    """Wall seconds of an action."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    criterion = load_criterion("criteria.evenhand.direct.relevance")
    ours, theirs = DirectJudge(inference_engine="engines.evenhand.baseline", progress=False), UnitxtMean()
    print("| instances | evenhand, 5 scores with intervals, s | unitxt, 1 score, s | ratio |")
    print("|---|---|---|---|")
    for size in SIZES:
        intermediates = assessments(size, criterion, ours)
        own = seconds(lambda given=intermediates: ours.reduce(given))
        if size in UNITXT_SIZES:
            numbers = [float(item.result.aggregated_value or 0.0) for item in intermediates]
            other = seconds(lambda given=numbers: theirs.reduce_and_bootstrap(given))
            print(f"| {size:,} | {own:.2f} | {other:.2f} | {other / own:.1f} |")
        else:
            print(f"| {size:,} | {own:.2f} | – | – |")


if __name__ == "__main__":
    main()
