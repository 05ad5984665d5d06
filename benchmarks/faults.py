"""What is scored, lost, bought twice, wrong and spent when a server fails: evenhand, autorubric, unitxt's LLMJudge.

``python -m benchmarks.faults`` prints a Markdown table with a row per trouble of ``tests/faults/troubles.py``. All
judge the same rows at the same loopback server, which does the same to each and counts: what it sent in full is *lost*
where no vote tells it, and *bought twice* where the same request is answered again, in the run or when it is run again
after the trouble, each with the cache or journal that it has. Requests are those of the first run, as a multiple of
what that tool needs when nothing goes wrong. autorubric is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import logging
import os
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"

from tests.faults.cells import RETRIES, Body, Outcome, Run, Trouble, broken, counted, run_cell
from tests.faults.modes import ITEM, LEVELS, MODES, item, truth
from tests.faults.troubles import PROCESSES, TROUBLES
from tests.support.server import JudgeServer, conversation

Verdicts = Mapping[int, str | None]
SECONDS = 10.0


def number_in(body: Body) -> int:
    """The row that a request of any tool is about."""
    return int(ITEM.search(conversation(body))[0][-4:])


def asked_by_rival(body: Body) -> Mapping[str, str]:
    """The true verdict that a request of autorubric or of unitxt asks for."""
    if "criterion_status" in conversation(body):
        return {"clarity": truth(number_in(body), "clarity", ("Yes", "No"))}
    if "The selected criteria option is" in body["messages"][-1]["content"]:
        return {"warmth": truth(number_in(body), "warmth", LEVELS)}
    return {}


def reply_to_rival(body: Body) -> str:
    """The server's judge, for the prompts of autorubric and unitxt."""
    [*labels] = asked_by_rival(body).values()
    if not labels:
        return f"Of {item(number_in(body))} there is nothing else to say."
    if labels[0] in LEVELS:
        return labels[0]
    return json.dumps({"criterion_status": {"Yes": "MET", "No": "UNMET"}[labels[0]], "explanation": "So it is."})


def by_autorubric(base_url: str, numbers: Sequence[int], folder: Path, seconds: float) -> Verdicts:
    """One criterion, one call a row, with its response cache."""
    from autorubric import LLMConfig, Rubric  # noqa: PLC0415 - where it is installed
    from autorubric.graders import CriterionGrader  # noqa: PLC0415

    config = LLMConfig(
        model="openai/judge",
        api_base=base_url,
        api_key="none",
        temperature=0.0,
        timeout=seconds,
        max_retries=RETRIES,
        retry_min_wait=0.01,
        retry_max_wait=0.1,
        max_parallel_requests=4,
        cache_enabled=True,
        cache_dir=str(folder / "autorubric"),
    )
    grader = CriterionGrader(judge_model_config=config)
    rubric = Rubric.from_dict([{"name": "clarity", "requirement": "It has clarity.", "weight": 1.0}])

    async def grade() -> list[Any]:
        texts = [f"What {item(number)} says." for number in numbers]
        return await asyncio.gather(*(rubric.grade(text, grader=grader) for text in texts), return_exceptions=True)

    labels = {"MET": "Yes", "UNMET": "No"}
    verdicts = {}
    for number, report in zip(numbers, asyncio.run(grade()), strict=True):
        failed = isinstance(report, BaseException) or report.error is not None or report.report is None
        part = None if failed else report.report[0]
        unsure = part is None or any(vote.error for vote in part.votes)
        verdicts[number] = None if unsure else labels.get(part.final_verdict.value)
    return verdicts


def by_unitxt(base_url: str, numbers: Sequence[int], folder: Path, seconds: float) -> Verdicts:
    """An assessment and a selection a row, with its inference cache."""
    import unitxt  # noqa: PLC0415 - after the environment is set
    from unitxt.inference import LiteLLMInferenceEngine  # noqa: PLC0415
    from unitxt.llm_as_judge import LLMJudgeDirect  # noqa: PLC0415
    from unitxt.llm_as_judge_constants import CriteriaOption, CriteriaWithOptions  # noqa: PLC0415

    asyncio.set_event_loop(asyncio.new_event_loop())
    with unitxt.settings.context(inference_engine_cache_path=str(folder / "unitxt")):
        engine = LiteLLMInferenceEngine(
            model="openai/judge",
            max_requests_per_second=200,
            max_retries=RETRIES,
            credentials={"api_base": base_url, "api_key": "none", "timeout": seconds},
            use_cache=True,
        )
        metric = LLMJudgeDirect(
            inference_engine=engine,
            criteria=CriteriaWithOptions(
                name="warmth",
                description="How much warmth is in the response?",
                options=[CriteriaOption(label, "") for label in LEVELS],
                option_map=dict(zip(LEVELS, (1.0, 0.5, 0.0), strict=True)),
            ),
            context_fields=[],
            check_positional_bias=False,
        )
        scores = metric.compute(
            references=[[] for _ in numbers],
            predictions=[f"What {item(number)} says." for number in numbers],
            task_data=[{} for _ in numbers],
        )
    return {number: score["warmth_selected_option"] for number, score in zip(numbers, scores, strict=True)}


Rival = Callable[[str, Sequence[int], Path, float], Verdicts]
RIVALS: Mapping[str, tuple[Rival, Callable[[int], str]]] = {
    "autorubric": (by_autorubric, lambda number: truth(number, "clarity", ("Yes", "No"))),
    "unitxt": (by_unitxt, lambda number: truth(number, "warmth", LEVELS)),
}


def run_rival(name: str, server: JudgeServer, trouble: Trouble, folder: Path) -> Run:
    """The scores that a tool gives the rows; none if it ends with an error."""
    judge, true = RIVALS[name]
    numbers = list(dict.fromkeys(trouble.numbers))
    error = None
    verdicts: Verdicts = {}
    try:
        verdicts = judge(server.base_url, numbers, folder, float(trouble.settings.get("timeout", SECONDS)))
    except Exception as ended:  # noqa: BLE001 - a tool of others may end in anything, which is what is measured
        error = f"{type(ended).__name__}: {ended}"
    said = [verdicts.get(number) for number in numbers]
    wrong = sum(label is not None and label != true(number) for number, label in zip(numbers, said, strict=True))
    return Run(said, wrong, Counter(), Counter(), error)


def rival_cell(name: str, trouble: Trouble, folder: Path) -> Outcome:
    """The same as :func:`~tests.faults.cells.run_cell`, for another tool."""
    with JudgeServer(reply=reply_to_rival) as stranger, JudgeServer(reply=reply_to_rival) as server:
        for fault in trouble.at(stranger.base_url):
            server.faults.append(fault)
        first = run_rival(name, server, trouble, folder)
        seen = list(server.requests)
        server.clear_faults()
        again = run_rival(name, server, trouble, folder)
        requests = server.requests
        return counted(first, again, seen, requests, stranger.seen, reply=reply_to_rival, asked=asked_by_rival)


def cell(tool: str, mode: str, trouble: Trouble) -> Outcome:
    """The outcome of a tool in a trouble."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        if tool in RIVALS:
            return rival_cell(tool, trouble, Path(folder))
        [judged] = [each for each in MODES if each.name == mode]
        return run_cell(judged, tool, trouble, Path(folder))


@cache
def undisturbed(tool: str, mode: str, rows: int) -> int:
    """The requests that a tool needs when nothing goes wrong."""
    return cell(tool, mode, Trouble("nothing", numbers=range(rows))).requests


def summary(tool: str, mode: str, trouble: Trouble, outcome: Outcome) -> str:
    """A cell of the table."""
    first = outcome.first
    spent = outcome.requests / undisturbed(tool, mode, len(set(trouble.numbers)))
    counts = {"lost": outcome.lost, "twice": outcome.bought_twice, "wrong": first.wrong, "let out": outcome.let_out}
    failures = [f"{count} {what}" for what, count in counts.items() if count]
    ended = [re.split(r"[:\s]", first.error)[0]] if first.error else []
    return ", ".join([f"{first.scored:.0%}, {spent:.2f}×", *failures, *ended])


def can_be_had(tool: str, mode: str, trouble: Trouble) -> bool:
    """Whether the trouble is one for this tool: what is done to a process is done to our own engine's only."""
    if trouble.modes is not None and mode not in trouble.modes:
        return False
    alone = trouble.how is not None or bool(trouble.options)
    return not alone or tool == "own" if tool in {*RIVALS, "own"} else trouble.of_engine(tool) is not None and not alone


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=30, help="rows a cell")
    parser.add_argument("--mode", choices=[mode.name for mode in MODES], default="direct")
    parser.add_argument("--only", default="", help="troubles whose names contain this")
    parser.add_argument("--tools", nargs="+", default=["own", "litellm", "bridge", *RIVALS])
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    tools = [tool for tool in given.tools if tool != "autorubric" or importlib.util.find_spec("autorubric")]
    print(
        f"{given.rows} rows, mode {given.mode}: share scored, requests as a multiple of those needed; not 0: the rest\n"
    )
    print(f"| trouble | {' | '.join(tools)} |\n|---|{'---|' * len(tools)}")
    for listed in (*TROUBLES, *PROCESSES):
        if given.only not in listed.name:
            continue
        fixed = listed.options or len(set(listed.numbers)) < len(listed.numbers)  # a limit is one for these rows
        trouble = listed if fixed else replace(listed, numbers=range(given.rows))
        cells = []
        for tool in tools:
            if not can_be_had(tool, given.mode, trouble):
                cells.append("")
                continue
            outcome = cell(tool, given.mode, trouble)
            expected = None if tool in RIVALS else trouble.of_engine(tool)
            against = broken(outcome, expected) if expected else []
            cells.append(summary(tool, given.mode, trouble, outcome) + "".join(f" **{each}**" for each in against))
        print(f"| {trouble.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
