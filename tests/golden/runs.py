"""The runs: every mode over its public surfaces, by simulated judges, with panels, draws, faults, gaps and groups."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from typing import Any

from unitxt import create_dataset, evaluate
from unitxt.task import Task

import evenhand
from evenhand.cli import main
from evenhand.criteria import Criterion, Option
from evenhand.demo import load_demo_checklist, load_rows
from evenhand.engines.free_engines import SimulatedEngine

Run = Callable[[], Any]

SYSTEMS = ["alder", "birch", "cedar"]
RELEVANCE = "criteria.evenhand.direct.relevance"
QUALITY = "criteria.evenhand.pairwise.overall_quality"
BIASED = {"position_preference": 0.8, "accuracy": 0.9}
FAULTY = {"refusal_rate": 0.1, "truncation_rate": 0.05, "garbage_rate": 0.1, "recovery_rate": 0.3}
QUIET: dict[str, Any] = {"progress": False, "journal": None}
TONE = Criterion(
    name="tone",
    description="Which tone does the response have?",
    scale="nominal",
    options=(
        Option(label="Friendly", value=1.0),
        Option(label="Neutral", value=0.5),
        Option(label="Hostile", value=0.0),
        Option(label="No tone", na=True),
    ),
)
COLUMNS = ("gpt", "llama", "qwen", "human", "group")
VOTES: list[dict[str, Any]] = [
    dict(zip(COLUMNS, row, strict=True))
    for row in (
        ("Wholly relevant", "Largely relevant", None, "Wholly relevant", "a"),
        ("Largely relevant", "Largely relevant", "Barely relevant", "Largely relevant", "a"),
        ("Off topic", "Partly relevant", "Off topic", "Partly relevant", "b"),
        (None, None, None, "Off topic", "b"),
        ("Wholly relevant", "Wholly relevant", "Largely relevant", "Largely relevant", "c"),
    )
]


def judge_of(name: str = "simulated", **faults: Any) -> SimulatedEngine:
    return SimulatedEngine(name=name, **faults)


def rows(number: int = 8) -> list[dict[str, Any]]:
    return load_rows()[:number]


def gappy_rows() -> list[dict[str, Any]]:
    """A response that is None, and one that is not a number."""
    given = rows()
    given[2] = {**given[2], "alder": None}
    given[5] = {**given[5], "birch": float("nan")}
    return given


def panel() -> list[SimulatedEngine]:
    return [judge_of("one", noise=0.2, seed=1), judge_of("two", noise=0.4, seed=2), judge_of("three", **BIASED, seed=3)]


def direct() -> Any:
    return evenhand.judge(
        rows(),
        [RELEVANCE, "criteria.evenhand.direct.correctness"],
        judge_of(**BIASED),
        response_fields=["alder", "birch"],
        gold_fields={"relevance": "{system}_relevance"},
        context_fields=["question"],
        **QUIET,
    )


def direct_panel() -> Any:
    return evenhand.judge(
        rows(),
        RELEVANCE,
        panel(),
        response_fields="alder",
        samples=3,
        aggregation="mean",
        on_position_bias="abstain",
        **QUIET,
    )


def direct_stopped_early() -> Any:
    noisy = judge_of(noise=0.3)
    return evenhand.judge(rows(), RELEVANCE, noisy, response_fields="alder", samples=7, stop_early=True, **QUIET)


def direct_unscored() -> Any:
    return evenhand.judge(
        rows(48), RELEVANCE, judge_of(**FAULTY), response_fields="alder", flow="one_step", max_failure_rate=1.0, **QUIET
    )


def direct_missing() -> Any:
    return evenhand.judge(gappy_rows(), RELEVANCE, judge_of(), response_fields=["alder", "birch"], **QUIET)


def direct_nominal() -> Any:
    return evenhand.judge(rows(), TONE, judge_of(accuracy=0.6), response_fields="alder", samples=3, **QUIET)


def direct_expected() -> Any:
    return evenhand.judge(rows(), RELEVANCE, judge_of(noise=0.3), response_fields="alder", scoring="expected", **QUIET)


def direct_rescored() -> Any:
    return direct().rescore(on_position_bias="first")


def rubric() -> Any:
    return evenhand.judge(
        rows(),
        "rubrics.evenhand.summarization",
        judge_of(noise=0.2),
        response_fields=["alder", "birch"],
        na_strategy="partial",
        length_penalty={"free_budget": 10, "max_cap": 60, "penalty_at_cap": 0.5},
        context_fields={"document": "context"},
        **QUIET,
    )


def rubric_in_one_call() -> Any:
    return evenhand.judge(
        rows(), "rubrics.evenhand.dialogue", judge_of(**FAULTY), response_fields="alder", calls="per_item",
        context_fields={"conversation": "question"}, max_failure_rate=1.0, **QUIET,
    )  # fmt: skip


def checklist() -> Any:
    return evenhand.checklist(
        rows(), load_demo_checklist(), judge_of(noise=0.2), response_fields=["alder", "birch"], **QUIET
    )


def checklist_faulty() -> Any:
    return evenhand.checklist(
        rows(), "checklists.evenhand.rag_answer", judge_of(**FAULTY), response_fields="alder", mode="item",
        capture_reasoning=True, allow_na=True, max_failure_rate=1.0, **QUIET,
    )  # fmt: skip


def checklist_normalized() -> Any:
    return evenhand.checklist(
        rows(), load_demo_checklist(), panel(), response_fields="alder", primary_metric="normalized", **QUIET
    )


def winrates() -> Any:
    return evenhand.winrates(
        rows(24),
        QUALITY,
        judge_of(noise=0.5, **BIASED),
        response_fields=SYSTEMS,
        gold_fields="preferred_{first}_{second}",
        **QUIET,
    )


def winrates_baseline() -> Any:
    return evenhand.winrates(
        rows(24),
        QUALITY,
        panel(),
        response_fields=SYSTEMS,
        design="baseline:birch",
        allow_ties=True,
        samples=3,
        **QUIET,
    )


def winrates_swiss() -> Any:
    return evenhand.winrates(
        gappy_rows(), QUALITY, judge_of(noise=0.5, **FAULTY), response_fields=SYSTEMS, design="swiss:2", scale="graded",
        max_failure_rate=1.0, **QUIET,
    )  # fmt: skip


def grade_scores() -> Any:
    return evenhand.grade_scores(
        rows(), QUALITY, [judge_of("fair"), judge_of("biased", **BIASED)], response_fields=SYSTEMS,
        prompts=["select", "grade"], unrelated_option=True, **QUIET,
    )  # fmt: skip


def reliability() -> Any:
    return evenhand.reliability(
        rows(24), [QUALITY, RELEVANCE], [judge_of("fair", noise=0.3), judge_of("biased", noise=0.3, **BIASED)],
        response_fields=SYSTEMS, samples=3, **QUIET,
    )  # fmt: skip


def aggregated_votes() -> Any:
    return evenhand.aggregate_votes(VOTES, ["gpt", "llama", "qwen"], RELEVANCE, "median", gold_fields="human")


def agreement() -> Any:
    return evenhand.agreement(VOTES, ["gpt", "llama", "qwen"], gold_fields="human", criteria=RELEVANCE)


def demo() -> str:
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,  # where its report goes
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
    ):
        assert main(["demo", "--journal", "none", "--no-progress"]) == 0
    return printed.getvalue()


TABLES: dict[str, Run] = {
    run.__name__: run
    for run in (
        demo,
        direct,
        direct_panel,
        direct_stopped_early,
        direct_unscored,
        direct_missing,
        direct_nominal,
        direct_expected,
        direct_rescored,
        rubric,
        rubric_in_one_call,
        checklist,
        checklist_faulty,
        checklist_normalized,
        winrates,
        winrates_baseline,
        winrates_swiss,
        grade_scores,
        reliability,
        aggregated_votes,
        agreement,
    )
}


SIMULATED = (
    "engines.evenhand.simulated[noise=0.3,refusal_rate=0.05,garbage_rate=0.1,recovery_rate=0.5,accuracy=0.9,"
    "position_preference=0.5]"
)
ALWAYS = f"inference_engine={SIMULATED},progress=False,max_failure_rate=1,include_prompts_in_result=False"


def recipe(metrics: list[str], predictions: list[Any], fields: dict[str, Any], **groups: Any) -> Any:
    """What ``evaluate`` returns for a recipe over rows whose task data are these columns."""
    evenhand.register()
    names = list(fields)
    task = Task(
        input_fields=dict.fromkeys(names, Any), reference_fields={}, prediction_type=Any, metrics=metrics,
        default_template="templates.empty",
    )  # fmt: skip
    columns = [dict(zip(names, values, strict=True)) for values in zip(*fields.values(), strict=True)]
    data = create_dataset(task=task, test_set=columns, split="test", **groups)
    return evaluate(predictions=predictions, data=data)


def answers(system: str, number: int = 8) -> list[Any]:
    return [row[system] for row in rows(number)]


def column(name: str, number: int = 8) -> list[Any]:
    return [row[name] for row in rows(number)]


def metric_direct() -> Any:
    return recipe(
        [f"metrics.evenhand.direct[criteria={RELEVANCE},context_fields=[question],samples=3,{ALWAYS}]"],
        answers("alder"),
        {"question": column("question"), "kind": column("kind")},
        group_by=["kind"],
    )


def metric_rubric() -> Any:
    return recipe(
        [f"metrics.evenhand.rubric[rubric=rubrics.evenhand.essay_feedback,context_fields=[question],{ALWAYS}]"],
        answers("birch"),
        {"question": column("question")},
    )


def metric_checklist() -> Any:
    shown = f"context_fields=[question],{ALWAYS}"
    return recipe(
        [
            f"metrics.evenhand.checklist.batch[checklist=checklists.evenhand.essay,{shown}]",
            f"metrics.evenhand.checklist.normalized[checklist=checklists.evenhand.essay,score_prefix=normalized_,{shown}]",
        ],
        answers("birch"),
        {"question": column("question")},
    )


def metric_pairwise() -> Any:
    responses = [{system: row[system] for system in SYSTEMS} for row in rows()]
    return recipe(
        [f"metrics.evenhand.pairwise[criteria={QUALITY},context_fields=[question],allow_ties=True,{ALWAYS}]"],
        responses,
        {"question": column("question")},
    )


def metric_best_of() -> Any:
    responses = [[row[system] for system in SYSTEMS] for row in rows()]
    return recipe(
        [
            f"metrics.evenhand.best_of[criteria={QUALITY},context_fields=[question],{ALWAYS}]",
            f"metrics.evenhand.grade_score[criteria={QUALITY},context_fields=[question],score_prefix=grade_,{ALWAYS}]",
        ],
        responses,
        {"question": column("question")},
    )


def metric_votes() -> Any:
    recorded = [[row["gpt"], row["llama"], row["qwen"]] for row in VOTES]
    return recipe(
        [f"metrics.evenhand.votes.ordinal.median[criteria={RELEVANCE}]"],
        recorded,
        {"group": [row["group"] for row in VOTES]},
    )


METRICS: dict[str, Run] = {
    run.__name__: run
    for run in (metric_direct, metric_rubric, metric_checklist, metric_pairwise, metric_best_of, metric_votes)
}
