"""What every kind of result saves, its header and its rows with their votes, and the records that it gives."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet

import evenhand
from evenhand.demo import load_demo_checklist
from evenhand.results.vote_columns import PREFIX, first_rows, header_of
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


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Each question of a file with all its votes, and where the file has columns of verdicts with these."""
    columns = first_rows(pyarrow.parquet.read_table(path))
    for row, cell in zip(columns.to_pylist(), evenhand.open(path).named_cells(), strict=True):
        verdict = {name.removeprefix(PREFIX): row[name] for name in row if name.startswith(PREFIX)}
        dumped = [vote.model_dump(mode="json", exclude_defaults=True) for vote in cell.votes]
        yield {**verdict, **cell.about, "votes": dumped}


def saved(run: Run) -> Iterator[tuple[str, Any]]:
    """Each entry of the header, and each row, of what is saved; and each record."""
    result = run()
    with tempfile.TemporaryDirectory() as folder:
        if run is corrected:
            result.save(path := Path(folder, "corrected.json"))
            header, lines = json.loads(path.read_text(encoding="utf-8")), []
        else:
            result.save(path := Path(folder, "result.parquet"))
            header, lines = header_of(path), list(rows_of(path))
    yield from header.items()
    for line in lines:
        yield "row", json.loads(json.dumps(line))
    for record in () if run is corrected else result.records():
        yield "record", record
