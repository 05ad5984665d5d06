"""The refusals: what a user mistypes, over the whole public surface, and the message that answers."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evenhand
from evenhand.cli import main
from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Rubric
from tests.golden.runs import QUALITY, QUIET, RELEVANCE, SYSTEMS, TONE, VOTES, answers, judge_of, recipe, rows

JUDGES = ["gpt", "llama", "qwen"]
SUMMARIZATION = "rubrics.evenhand.summarization"


def judge(data: Any = None, criteria: Any = RELEVANCE, engine: Any = None, **options: Any) -> Any:
    given = {"response_fields": "alder", **QUIET, **options}
    return evenhand.judge(rows(2) if data is None else data, criteria, engine or judge_of(), **given)


def winrates(systems: Any = SYSTEMS, **options: Any) -> Any:
    return evenhand.winrates(rows(4), QUALITY, judge_of(), response_fields=systems, **{**QUIET, **options})


def checklist(items: Any, **options: Any) -> Any:
    return evenhand.checklist(rows(2), items, judge_of(), **{"response_fields": "alder", **QUIET, **options})


def grade_scores(**options: Any) -> Any:
    return evenhand.grade_scores(rows(2), QUALITY, judge_of(), response_fields=SYSTEMS, **{**QUIET, **options})


def best_of(mode: Any = "best_of", **options: Any) -> Any:
    given = {"response_fields": SYSTEMS, "criteria": QUALITY, **QUIET, **options}
    return evenhand.run_mode(rows(2), mode, judge_of(), **given)


def aggregate(rule: str = "median", **options: Any) -> Any:
    return evenhand.aggregate_votes(VOTES, JUDGES, RELEVANCE, rule, **options)


def replies(**options: Any) -> Any:
    return evenhand.read_replies([{"reply": "Yes"}, {"reply": "No"}], **{"replies": "reply", **options})


def agreement(**options: Any) -> Any:
    return evenhand.agreement(VOTES, JUDGES, **{"gold_fields": "human", "criteria": RELEVANCE, **options})


def criterion(**fields: Any) -> Any:
    options = (Option(label="Yes", value=1.0), Option(label="No", value=0.0))
    return Criterion(
        **{"name": "polite", "description": "Is it polite?", "scale": "binary", "options": options, **fields}
    )


def metric(name: str, **fields: str) -> Any:
    given = {"inference_engine": "engines.evenhand.simulated", "progress": "False", **fields}
    listed = ",".join(f"{field}={value}" for field, value in given.items())
    return recipe([f"metrics.evenhand.{name}[{listed}]"], answers("alder", 2), {"question": ["Why?", "How?"]})


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def shell(*arguments: str) -> Callable[[], int]:
    """The verb in a folder with ``rows.jsonl``, ``votes.jsonl``, ``result.parquet`` and ``bad.jsonl``."""

    def call() -> int:
        write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows(3)))
        write("votes.jsonl", "".join(json.dumps(row) + "\n" for row in VOTES))
        write("bad.jsonl", '{"question": "Why?"\n')
        aggregate().save("result.parquet")
        return main(list(arguments))

    return call


ASKED = ("judge", "rows.jsonl", "--criteria", RELEVANCE, "--engine", "engines.evenhand.baseline")

REFUSALS: dict[str, Callable[[], Any]] = {
    "judge: an unknown option": lambda: judge(sample=3),
    "judge: an option of the wrong type": lambda: judge(samples="three"),
    "judge: an option out of bounds": lambda: judge(samples=0),
    "judge: a column that no row has": lambda: judge(response_fields="aldr"),
    "judge: a context column that no row has": lambda: judge(context_fields=["questions"]),
    "judge: an unknown criterion": lambda: judge(criteria="criteria.evenhand.direct.relevence"),
    "judge: no criterion": lambda: judge(criteria=[]),
    "judge: an unknown engine": lambda: judge(engine="engines.evenhand.litelm"),
    "judge: no rows": lambda: judge(data=[]),
    "judge: a file that is not there": lambda: judge(data="missing.jsonl"),
    "judge: a line that is not JSON": lambda: judge(data=write("bad.jsonl", '{"question": "Why?"\n')),
    "judge: a wrong rule for the scale": lambda: judge(aggregation="majority", engine=[judge_of("a"), judge_of("b")]),
    "judge: an unknown rule": lambda: judge(aggregation="meen"),
    "judge: an unknown interval": lambda: judge(interval="bootstraps"),
    "judge: a level that is a percentage": lambda: judge(level=95),
    "judge: two judges of one name": lambda: judge(engine=[judge_of("a"), judge_of("a")]),
    "judge: weights of other judges": lambda: judge(judge_weights=[0.5, 0.5]),
    "judge: two rows of one id": lambda: judge(data=[{**row, "id": "p-1"} for row in rows(2)], id_field="id"),
    "judge: gold that is no label": lambda: judge(gold_fields="question"),
    "judge: an unknown rubric": lambda: judge(criteria="rubrics.evenhand.summarisation"),
    "judge: a rule of rubrics for one criterion": lambda: judge(na_strategy="skip"),
    "judge: an unknown NA strategy": lambda: judge(criteria=SUMMARIZATION, na_strategy="ignore"),
    "winrates: an unknown design": lambda: winrates(design="all_pairs"),
    "winrates: an unknown baseline": lambda: winrates(design="baseline:brich"),
    "winrates: one system": lambda: winrates(["alder"]),
    "winrates: a system twice": lambda: winrates(["alder", "alder"]),
    "winrates: an unknown reduction": lambda: winrates(reduction="mean"),
    "checklist: no items": lambda: checklist([]),
    "checklist: an empty item": lambda: checklist(["Is it short?", " "]),
    "checklist: an unknown score": lambda: checklist(["Is it short?"], primary_metric="passrate"),
    "checklist: a criterion": lambda: checklist(RELEVANCE),
    "grade_scores: an unknown prompt": lambda: grade_scores(prompts=["rank"]),
    "grade_scores: a prompt of its own": lambda: grade_scores(prompts=["Which of {{ responses }} is best?"]),
    "grade_scores: an unknown policy": lambda: grade_scores(missing_policy="skip"),
    "run_mode: a mode with a function of its own": lambda: best_of("winrates"),
    "run_mode: one candidate": lambda: best_of(response_fields="alder"),
    "run_mode: an unknown option of the mode": lambda: best_of(mode_options={"winners": 2}),
    "aggregate_votes: a rule of another scale": lambda: aggregate("majority"),
    "aggregate_votes: an unknown column": lambda: evenhand.aggregate_votes(VOTES, ["gpt", "lama"], RELEVANCE),
    "aggregate_votes: labels that do not match": lambda: evenhand.aggregate_votes(
        [{"gpt": "Great"}], ["gpt"], RELEVANCE
    ),
    "aggregate_votes: an unknown weight": lambda: aggregate("weighted_mean", weights={"gpt4": 1.0}),
    "aggregate_votes: a negative weight": lambda: aggregate("weighted_mean", weights=[1.0, -1.0, 1.0]),
    "read_replies: an unknown column": lambda: replies(replies="replys"),
    "read_replies: a column that is no vote of a judge": lambda: replies(judge_field="judge"),
    "agreement: people who are judges": lambda: agreement(gold_fields="gpt"),
    "agreement: an unknown column": lambda: agreement(gold_fields="humans"),
    "correct: no design": lambda: evenhand.correct(aggregate(gold_fields="human")),
    "correct: an unknown design": lambda: evenhand.correct(aggregate(gold_fields="human"), design="rondom"),
    "correct: no labels": lambda: evenhand.correct(aggregate(), design="random"),
    "correct: labels of no row": lambda: evenhand.correct(aggregate(), {"p-1": "Off topic"}, design="random"),
    "correct: labels that do not match": lambda: evenhand.correct(aggregate(), {0: "Great"}, design="random"),
    "correct: no result": lambda: evenhand.correct([{"score": 0.5}], design="random"),
    "plan: nothing is asked": evenhand.plan,
    "plan: a half-width of 0": lambda: evenhand.plan(half_width=0),
    "plan: more labels than rows": lambda: evenhand.plan(rows=10, labels=20),
    "open: a file that is not there": lambda: evenhand.open("missing.jsonl"),
    "open: a file of something else": lambda: evenhand.open(write("rows.jsonl", json.dumps(rows(1)[0]) + "\n")),
    "open: a file that is cut off": lambda: evenhand.open(write("cut.jsonl", '{"evenhand_version": "0.1')),
    "results: an unknown system": lambda: winrates()["elder"],
    "results: an unknown field to filter by": lambda: judge().filter(sytem="alder"),
    "results: a condition that cannot be read": lambda: judge().check("score >> 0.5"),
    "results: a condition on no score": lambda: judge().check("scores > 0.5"),
    "results: an unknown rule to rescore by": lambda: judge().rescore(aggregation="meen"),
    "results: an unknown group": lambda: judge().by("kinds"),
    "results: a comparison with another kind": lambda: judge().compare(aggregate()),
    "results: an unknown ending": lambda: judge().save("result.docx"),
    "Option: a value that is not finite": lambda: Option(label="Yes", value=float("nan")),
    "Criterion: one option": lambda: criterion(options=(Option(label="Yes", value=1.0),)),
    "Criterion: labels that differ in case only": lambda: criterion(
        options=(Option(label="Yes", value=1.0), Option(label="yes ", value=0.0))
    ),
    "Criterion: an unknown scale": lambda: criterion(scale="interval"),
    "Criterion: a weight that is not finite": lambda: criterion(weight=float("inf")),
    "Rubric: two criteria of one name": lambda: Rubric(name="r", criteria=(TONE, TONE)),
    "Checklist: an item without a question": lambda: Checklist(name="c", items=(ChecklistItem(question=" "),)),
    "load: an unknown id": lambda: evenhand.load("checklists.evenhand.esay"),
    "metric: an unknown field": lambda: metric("direct", criteria=RELEVANCE, sample="3"),
    "metric: a field of the wrong type": lambda: metric("direct", criteria=RELEVANCE, samples="three"),
    "metric: a context field that the task lacks": lambda: metric(
        "direct", criteria=RELEVANCE, context_fields="[passage]"
    ),
    "metric: no criterion": lambda: metric("direct"),
    "metric: an unknown rubric": lambda: metric("rubric", rubric="rubrics.evenhand.essay"),
    "metric: a rule of another scale": lambda: metric("direct", criteria=RELEVANCE, aggregation="majority"),
    "metric: one response for a pairwise metric": lambda: metric("pairwise", criteria=QUALITY),
    "shell: an unknown verb": shell("juge", "rows.jsonl"),
    "shell: no criterion": shell("judge", "rows.jsonl", "--engine", "engines.evenhand.baseline"),
    "shell: an unknown option": shell(*ASKED, "--response-fields", "alder", "--sample", "3"),
    "shell: an option of the wrong type": shell(*ASKED, "--response-fields", "alder", "--samples", "three"),
    "shell: a column that no row has": shell(*ASKED, "--response-fields", "aldr"),
    "shell: a file that is not there": shell("judge", "missing.jsonl", *ASKED[2:], "--response-fields", "alder"),
    "shell: a line that is not JSON": shell("judge", "bad.jsonl", *ASKED[2:], "--response-fields", "alder"),
    "shell: an ending that nothing is saved in": shell(*ASKED, "--response-fields", "alder", "--out", "result.docx"),
    "shell: a folder that is not there": shell(*ASKED, "--response-fields", "alder", "--out", "no/result.parquet"),
    "shell: one system to compare": shell("winrates", "rows.jsonl", "--response-fields", "alder", *ASKED[2:]),
    "shell: a rule of another scale": shell(
        "aggregate-votes", "votes.jsonl", "--votes", *JUDGES, "--criteria", RELEVANCE, "--rule", "majority"
    ),
    "shell: rows instead of a result": shell("rescore", "rows.jsonl"),
    "shell: a row that the result lacks": shell("show", "result.parquet", "99"),
    "shell: an unknown entry of the catalog": shell("catalog", "show", "criteria.evenhand.direct.relevence"),
    "shell: a run file that is not there": shell("run", "missing.yaml"),
    "shell: correct without labels": shell("correct", "result.parquet", "--design", "random"),
    "shell: plan without a question": shell("plan"),
}


def refused(call: Callable[[], Any]) -> str:
    """The type and the message of its error; of a verb the exit code and what it wrote to stderr."""
    stderr = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(stderr),
    ):
        try:
            code = call()
        except SystemExit as ending:
            code = ending.code
        except Exception as error:  # noqa: BLE001 - the golden file shows its type
            return f"{type(error).__name__}: {_without_versions(str(error))}"
    if code not in {1, 2, 3}:
        return f"NOT REFUSED: {type(code).__name__}"
    return f"exit {code}: {stderr.getvalue()}".rstrip()


def _without_versions(message: str) -> str:
    """The message without the box of unitxt and the address of pydantic, which name versions."""
    return "\n".join(
        line for line in message.strip().splitlines() if not re.match(r"[┌│└]|\s+For further", line)
    ).strip()


def refusals() -> str:
    return "\n".join(f"{name}\n  {refused(call).replace(chr(10), chr(10) + '  ')}" for name, call in REFUSALS.items())
