"""Assessments per second over loopback: evenhand, unitxt's LLMJudgeDirect, autorubric, and bare loops, in one run.

``python -m benchmarks.throughput`` prints a Markdown table of ratios. The judge server runs in a process of its own.
All rivals make the same number of calls: two steps, two orders, 4 calls per assessment. autorubric, which makes one
call per criterion, grades four times as many texts; it is left out where it is not installed.

``python -m benchmarks.throughput --prefix-cache`` prints instead the bytes of the prompts, and those that a server's
prefix cache does not hold, for each byte of the rows' own data.
"""

import argparse
import asyncio
import importlib.util
import json
import logging
import os
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"
os.environ["OPENAI_API_KEY"] = "loopback"

import aiohttp
import datasets

import evenhand
from evenhand.criteria import Criterion, Option
from evenhand.engines.hosted import LiteLLMEngine, OpenAICompatibleEngine
from tests.support.prefix_cache import PrefixCache
from tests.support.server import JudgeServer, JudgeServerProcess

Body = dict[str, Any]
LABELS = ["Excellent", "Acceptable", "Could be Improved", "Bad"]
CRITERION = "metrics.llm_as_judge.direct.criteria.answer_relevance"
CALLS_PER_ASSESSMENT = 4


def rows(count: int) -> list[dict[str, str]]:
    """Assessments that no journal and no cache knows."""
    return [{"question": f"What is {index}?", "response": f"It is {uuid.uuid4()}."} for index in range(count)]


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of an action."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def run_evenhand(engine: object, count: int) -> tuple[float, float]:
    """The two-step flow in both orders, with a fresh journal on disk."""
    with tempfile.TemporaryDirectory() as folder:
        data = rows(count)
        return timed(
            lambda: evenhand.judge(
                data,
                CRITERION,
                engine,
                context_fields=["question"],
                journal=f"{folder}/journal.sqlite3",
                progress=False,
            )
        )


def run_unitxt(base_url: str, count: int) -> tuple[float, float]:
    """unitxt's own judge with its litellm engine at 1,000 requests a second."""
    from unitxt.inference import LiteLLMInferenceEngine  # noqa: PLC0415 - after the environment is set
    from unitxt.llm_as_judge import LLMJudgeDirect  # noqa: PLC0415

    asyncio.set_event_loop(asyncio.new_event_loop())
    engine = LiteLLMInferenceEngine(
        model="openai/judge",
        max_requests_per_second=1000,
        credentials={"api_base": base_url, "api_key": "loopback"},
        use_cache=False,
    )
    metric = LLMJudgeDirect(inference_engine=engine, criteria=CRITERION, context_fields=["question"])
    data = rows(count)
    return timed(
        lambda: metric.compute(
            references=[[] for _ in data],
            predictions=[row["response"] for row in data],
            task_data=[{"question": row["question"]} for row in data],
        )
    )


def run_bare_aiohttp(base_url: str, bodies: Sequence[Body], in_flight: int) -> tuple[float, float]:
    """The same requests without anything around them."""
    queue = list(bodies)

    async def work(session: aiohttp.ClientSession) -> None:
        while queue:
            async with session.post(f"{base_url}/chat/completions", json=queue.pop()) as response:
                json.loads(await response.read())

    async def drive() -> None:
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:
            await asyncio.gather(*(work(session) for _ in range(in_flight)))

    return timed(lambda: asyncio.run(drive()))


def run_bare_litellm(base_url: str, bodies: Sequence[Body], in_flight: int) -> tuple[float, float]:
    """The same requests by ``litellm.acompletion`` in a loop, without anything around it."""
    import litellm  # noqa: PLC0415 - seconds of import

    queue = list(bodies)

    async def work() -> None:
        while queue:
            body = queue.pop()
            await litellm.acompletion(
                model="openai/judge",
                messages=body["messages"],
                temperature=body["temperature"],
                api_base=base_url,
                api_key="loopback",
                max_retries=0,
            )

    async def drive() -> None:
        await asyncio.gather(*(work() for _ in range(in_flight)))

    return timed(lambda: asyncio.run(drive()))


def run_autorubric(base_url: str, count: int, in_flight: int) -> tuple[float, float]:
    """autorubric's way through litellm: one criterion, one call per text."""
    from autorubric import LLMConfig, Rubric  # noqa: PLC0415 - where it is installed
    from autorubric.graders import CriterionGrader  # noqa: PLC0415

    config = LLMConfig(
        model="openai/judge", api_base=base_url, api_key="loopback", temperature=0.0, max_parallel_requests=in_flight
    )
    grader = CriterionGrader(judge_model_config=config)
    rubric = Rubric.from_dict([{"name": "clarity", "requirement": "It is clear.", "weight": 1.0}])
    texts = [row["response"] for row in rows(CALLS_PER_ASSESSMENT * count)]

    async def grade() -> None:
        await asyncio.gather(*(rubric.grade(text, grader=grader) for text in texts))

    return timed(lambda: asyncio.run(grade()))


def openai_compatible(base_url: str, in_flight: int) -> OpenAICompatibleEngine:
    """The engine under measurement."""
    return OpenAICompatibleEngine(base_url=base_url, model="judge", max_in_flight=in_flight, structured_output=False)


def litellm_engine(base_url: str, in_flight: int, *, direct: bool = False) -> LiteLLMEngine:
    """The litellm engine under measurement, or what the name ``openai/judge`` stands for."""
    given = {"api_base": base_url, "max_in_flight": in_flight, "structured_output": False, "direct": direct}
    return LiteLLMEngine(model="openai/judge", **given)


def recorded_bodies(count: int) -> list[Body]:
    """The requests that evenhand sends for this number of assessments."""
    with JudgeServerProcess(labels=LABELS) as server:
        run_evenhand(openai_compatible(server.base_url, 64), count)
        return [seen["body"] for seen in server.requests()]


def measure(
    count: int, latency: float, in_flight: int, rounds: int, only: Sequence[str]
) -> dict[str, list[tuple[float, float]]]:
    """Rival -> calls per second and CPU milliseconds a call, one pair a round; the rivals take turns."""
    bodies = recorded_bodies(count)
    results: dict[str, list[tuple[float, float]]] = {}
    with JudgeServerProcess(latency=latency, labels=LABELS) as server:
        url = server.base_url
        rivals: dict[str, Callable[[], tuple[float, float]]] = {
            "bare aiohttp loop": lambda: run_bare_aiohttp(url, bodies, in_flight),
            "evenhand, openai_compatible": lambda: run_evenhand(openai_compatible(url, in_flight), count),
            "bare litellm loop": lambda: run_bare_litellm(url, bodies, in_flight),
            "evenhand, litellm": lambda: run_evenhand(litellm_engine(url, in_flight), count),
            "evenhand, openai/…": lambda: run_evenhand(litellm_engine(url, in_flight, direct=True), count),
            "unitxt LLMJudgeDirect": lambda: run_unitxt(url, count),
        }
        if importlib.util.find_spec("autorubric"):
            rivals["autorubric, litellm"] = lambda: run_autorubric(url, count, in_flight)
        for _ in range(rounds):
            for name, run in rivals.items():
                if only and name not in only:
                    continue
                before = server.stats()["finished"]
                wall, cpu = run()
                made = server.stats()["finished"] - before
                assert made == len(bodies), f"{name} made {made} calls instead of {len(bodies)}"
                results.setdefault(name, []).append((made / wall, 1000 * cpu / made))
    return results


def print_table(results: dict[str, list[tuple[float, float]]], ideal: float) -> None:
    """Medians over the rounds; ratios are taken within a round."""
    print(
        "| | assessments/s | × unitxt | × its bare loop | CPU ms per call | × its bare loop | of in-flight / latency |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, pairs in results.items():
        rates = [rate for rate, _ in pairs]
        beside_unitxt = ratio(rates, results.get("unitxt LLMJudgeDirect"))
        bare = results.get("bare litellm loop" if "litellm" in name else "bare aiohttp loop")
        costs = [cpu for _, cpu in pairs]
        of_bare = ratio(costs, bare and [(cpu, rate) for rate, cpu in bare])
        of_ideal = f"{median(rates) / ideal:.0%}" if ideal else "–"
        print(
            f"| {name} | {median(rates) / CALLS_PER_ASSESSMENT:.0f} | {beside_unitxt} | {ratio(rates, bare)} "
            f"| {median(costs):.2f} | {of_bare} | {of_ideal} |"
        )


def ratio(rates: Sequence[float], others: Sequence[tuple[float, float]] | None) -> str:
    """The median of the ratios within the rounds; a dash without the rival."""
    if others is None:
        return "–"
    return f"{median(rate / other for rate, (other, _) in zip(rates, others, strict=True)):.2f}"


SHORT = Criterion(
    name="relevance",
    description="Does the response answer the question?",
    options=tuple(
        Option(label=label, value=value)
        for label, value in (("Excellent", 1.0), ("Acceptable", 0.7), ("Poor", 0.3), ("Bad", 0.0))
    ),
)
CRITERIA = [
    SHORT.model_copy(update={"name": name, "description": f"Is the response {name}? Weigh all of it."})
    for name in ("relevance", "clarity", "politeness", "completeness", "brevity")
]
ITEMS = [f"Does the response speak of the {thing} that the question is about?" for thing in ("cause", "cost", "end")]
ONE_ORDER: dict[str, Any] = {"check_positional_bias": False}
BOTH_ORDERS: dict[str, Any] = {"check_positional_bias": True}


def judged(criteria: object, **options: Any) -> Callable[[list[dict[str, str]], object], object]:  # noqa: ANN401
    """A run of assessments of the field ``first``."""
    return lambda data, engine: evenhand.judge(
        data, criteria, engine, response_fields="first", context_fields=["question"], **QUIET, **options
    )


QUIET: dict[str, Any] = {"journal": None, "progress": False, "include_prompts_in_result": False}
SHARING: dict[str, tuple[bool, Callable[[list[dict[str, str]], object], object]]] = {
    "one step, one order": (False, judged(SHORT, flow="one_step", **ONE_ORDER)),
    "verdict only, one order": (False, judged(SHORT, flow="verdict_only", **ONE_ORDER)),
    "two steps, one order": (False, judged(SHORT, **ONE_ORDER)),
    "two steps, both orders": (False, judged(SHORT, **BOTH_ORDERS)),
    "two steps, both orders, answer_relevance": (False, judged(CRITERION, **BOTH_ORDERS)),
    "one step, one order, 5 criteria": (False, judged(CRITERIA, flow="one_step", **ONE_ORDER)),
    "3 items one by one": (
        False,
        lambda data, engine: evenhand.checklist(
            data, ITEMS, engine, response_fields="first", context_fields=["question"], mode="item", **QUIET
        ),
    ),
    "comparison, two steps, both orders": (
        True,
        lambda data, engine: evenhand.winrates(
            data, "Which is better?", engine, response_fields=["first", "second"], context_fields=["question"], **QUIET
        ),
    ),
}


def own_rows(count: int, size: int) -> list[dict[str, str]]:
    """Rows in which a question and a response have ``size`` bytes together, and another response as many."""
    drawn = random.Random(size)

    def text(length: int) -> str:
        return "".join(drawn.choices("abcdefghijklmnopqrstuvwxyz      ", k=length))

    asked = size // 10
    return [{"question": text(asked), "first": text(size - asked), "second": text(size - asked)} for _ in range(count)]


def print_sharing(count: int, sizes: Sequence[int]) -> None:
    """How much is sent, and computed, of every byte that a row holds of its own."""
    print(f"\n{count} rows; prompt bytes sent, and not found in the prefix cache, for each byte of a row's own data\n")
    print("| | " + " | ".join(f"{size} bytes: sent | computed" for size in sizes) + " |")
    print("|---|" + "---|" * 2 * len(sizes))
    for name, (compares, run) in SHARING.items():
        cells = [name]
        for size in sizes:
            cache, data = PrefixCache(), own_rows(count, size)
            with JudgeServer(labels=[*LABELS, "Poor"], prefix_cache=cache) as server:
                run(data, OpenAICompatibleEngine(base_url=server.base_url, model="judge", max_in_flight=8))
            own = sum(len(row["question"] + row["first"] + (row["second"] if compares else "")) for row in data)
            cells += [f"{cache.sent / own:.2f}", f"{cache.computed / own:.2f}"]
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    """Print one table a setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assessments", type=int, default=500)
    parser.add_argument("--latencies", type=float, nargs="+", default=[0.0, 0.5])
    parser.add_argument("--in-flight", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="RIVAL", help="names of rivals; all by default")
    parser.add_argument("--prefix-cache", action="store_true", help="measure what prompts share, and nothing else")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000], help="bytes of a row, for that")
    options = parser.parse_args()
    if options.prefix_cache:
        datasets.disable_progress_bars()
        print_sharing(options.assessments, options.sizes)
        return
    logging.disable(logging.WARNING)
    datasets.disable_progress_bars()
    run_warm_up()
    for in_flight in options.in_flight:
        for latency in options.latencies:
            results = measure(options.assessments, latency, in_flight, options.rounds, options.only)
            title = f"{options.assessments} assessments, latency {latency * 1000:.0f} ms, {in_flight} in flight"
            print(f"\n{title}, median of {options.rounds} rounds\n")
            print_table(results, in_flight / latency if latency else 0.0)


def run_warm_up() -> None:
    """Import everything once, outside the measurement."""
    with JudgeServerProcess(labels=LABELS) as server:
        run_evenhand(openai_compatible(server.base_url, 8), 5)
        run_evenhand(litellm_engine(server.base_url, 8), 5)
        run_unitxt(server.base_url, 5)


if __name__ == "__main__":
    main()
