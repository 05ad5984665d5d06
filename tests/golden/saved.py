"""What every kind of result saves, its header and its rows with their votes, and the records that it gives."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import evenhand
from evenhand.demo import load_demo_checklist
from evenhand.modes.judgements import VerdictAnalysis, covered_mass
from evenhand.results.vote_columns import header_of
from tests.golden.runs import (
    BIASED,
    FAULTY,
    QUALITY,
    QUIET,
    RELEVANCE,
    SYSTEMS,
    VOTES,
    Run,
    aggregated_votes,
    agreement,
    judge_of,
    rows,
)

SHORT: dict[str, Any] = {**QUIET, "include_prompts_in_result": False}


def direct() -> Any:
    return evenhand.judge(
        rows(2), RELEVANCE, judge_of(**BIASED), response_fields=["alder", "birch"], samples=2, id_field="id",
        gold_fields={"relevance": "{system}_relevance"}, group_fields="kind", **SHORT,
    )  # fmt: skip


def direct_unscored() -> Any:
    faulty = judge_of(**{**FAULTY, "refusal_rate": 0.6})
    return evenhand.judge(rows(3), RELEVANCE, faulty, response_fields="alder", max_failure_rate=1.0, **SHORT)


def rubric() -> Any:
    return evenhand.judge(
        rows(1), "rubrics.evenhand.summarization", judge_of(noise=0.2), response_fields="alder", na_strategy="partial",
        context_fields={"document": "context"}, **SHORT,
    )  # fmt: skip


def checklist() -> Any:
    return evenhand.checklist(rows(1), load_demo_checklist(), judge_of(noise=0.2), response_fields="alder", **SHORT)


def winrates() -> Any:
    return evenhand.winrates(
        rows(2), QUALITY, judge_of(noise=0.5, **BIASED), response_fields=SYSTEMS, id_field="id",
        gold_fields="preferred_{first}_{second}", **SHORT,
    )  # fmt: skip


def grade_scores() -> Any:
    return evenhand.grade_scores(
        rows(2), QUALITY, judge_of(noise=0.5, **BIASED), response_fields=SYSTEMS, prompts=["select"], **SHORT
    )


def best_of() -> Any:
    return evenhand.run_mode(
        rows(2), "best_of", judge_of(noise=0.5, **BIASED), response_fields=SYSTEMS, criteria=QUALITY, **SHORT
    )


def corrected() -> Any:
    labels = {0: "Wholly relevant", 1: "Largely relevant", 2: "Off topic", 4: "Largely relevant"}
    votes = evenhand.aggregate_votes(VOTES, ["gpt", "llama", "qwen"], RELEVANCE, "median")
    return evenhand.correct(votes, labels, design="random")


KINDS: dict[str, Run] = {
    run.__name__: run
    for run in (
        direct,
        direct_unscored,
        rubric,
        checklist,
        winrates,
        grade_scores,
        best_of,
        aggregated_votes,
        agreement,
        corrected,
    )
}


def rows_of(result: Any) -> Iterator[dict[str, Any]]:
    """Each question with all its votes, and where a record is a verdict its numbers and bounds."""
    by_verdict = isinstance(result.analysis, VerdictAnalysis)
    records = result.records() if by_verdict else repeat({})
    verdicts = result.verdicts if by_verdict else repeat(None)
    for cell, record, verdict in zip(result.named_cells(), records, verdicts, strict=False):
        numbers = {}
        if verdict is not None:
            low, high = verdict.bounds or (None, None)
            mass = covered_mass(verdict, result.criterion_of(cell), result.rules)
            numbers = {"lowest_score": low, "highest_score": high, "covered_mass": mass}
        dumped = [vote.model_dump(mode="json", exclude_defaults=True) for vote in cell.votes]
        yield {**record, **numbers, **cell.about, "votes": dumped}


def saved(run: Run) -> Iterator[tuple[str, Any]]:
    """Each entry of the header, and each row, of what is saved; and each record."""
    result = run()
    with tempfile.TemporaryDirectory() as folder:
        if run is corrected:
            result.save(path := Path(folder, "corrected.json"))
            header, lines = json.loads(path.read_text(encoding="utf-8")), []
        else:
            result.save(path := Path(folder, "result.parquet"))
            header, lines = header_of(path), rows_of(result)
    yield from header.items()
    for line in lines:
        yield "row", json.loads(json.dumps(line))
    for record in () if run is corrected else result.records():
        yield "record", record
