"""Assessments per second over loopback: evenhand, unitxt's LLMJudgeDirect, and a bare aiohttp loop, in one run.

``python -m benchmarks.throughput`` prints a Markdown table of ratios. The judge server runs in a process of its own.
All rivals make the same number of calls: two steps, two orders, 4 calls an assessment.
"""

import argparse
import asyncio
import json
import logging
import os
import tempfile
import time
import uuid
from collections.abc import Callable

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"
os.environ["OPENAI_API_KEY"] = "loopback"

import aiohttp
import datasets

import evenhand
from evenhand.engines.artifacts import LiteLLMEngine, OpenAICompatibleEngine
from tests.support.server import JudgeServerProcess

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


def run_bare_aiohttp(base_url: str, calls: int, in_flight: int) -> tuple[float, float]:
    """The same number of requests without anything around them."""
    data = rows(calls)

    async def work(session: aiohttp.ClientSession, queue: list[dict[str, str]]) -> None:
        while queue:
            body = {"model": "judge", "messages": [{"role": "user", "content": queue.pop()["response"]}]}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                json.loads(await response.read())

    async def drive() -> None:
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:
            await asyncio.gather(*(work(session, data) for _ in range(in_flight)))

    return timed(lambda: asyncio.run(drive()))


def run_bare_litellm(base_url: str, calls: int, in_flight: int) -> tuple[float, float]:
    """``litellm.acompletion`` in a loop, without anything around it."""
    import litellm  # noqa: PLC0415 - seconds of import

    data = rows(calls)

    async def work(queue: list[dict[str, str]]) -> None:
        while queue:
            messages = [{"role": "user", "content": queue.pop()["response"]}]
            await litellm.acompletion(
                model="openai/judge", messages=messages, api_base=base_url, api_key="loopback", max_retries=0
            )

    async def drive() -> None:
        await asyncio.gather(*(work(data) for _ in range(in_flight)))

    return timed(lambda: asyncio.run(drive()))


def openai_compatible(base_url: str, in_flight: int) -> OpenAICompatibleEngine:
    """The engine under measurement."""
    return OpenAICompatibleEngine(base_url=base_url, model="judge", max_in_flight=in_flight, structured_output=False)


def litellm_engine(base_url: str, in_flight: int) -> LiteLLMEngine:
    """The litellm engine under measurement."""
    return LiteLLMEngine(model="openai/judge", api_base=base_url, max_in_flight=in_flight, structured_output=False)


def measure(count: int, latency: float, in_flight: int) -> list[tuple[str, float, float, float]]:
    """Rival, calls per second, CPU milliseconds a call, share of in-flight / latency (0 when there is no latency)."""
    calls = count * CALLS_PER_ASSESSMENT
    ideal = in_flight / latency if latency else 0.0
    results = []
    with JudgeServerProcess(latency=latency, labels=LABELS) as server:
        url = server.base_url
        rivals: list[tuple[str, int, Callable[[], tuple[float, float]]]] = [
            ("bare aiohttp loop", calls, lambda: run_bare_aiohttp(url, calls, in_flight)),
            ("evenhand, openai_compatible", calls, lambda: run_evenhand(openai_compatible(url, in_flight), count)),
            ("bare litellm loop", calls, lambda: run_bare_litellm(url, calls, in_flight)),
            ("evenhand, litellm", calls, lambda: run_evenhand(litellm_engine(url, in_flight), count)),
            ("unitxt LLMJudgeDirect", calls, lambda: run_unitxt(url, count)),
        ]
        for name, made, run in rivals:
            before = server.stats()["finished"]
            wall, cpu = run()
            sent = server.stats()["finished"] - before
            assert sent == made, f"{name} made {sent} calls instead of {made}"
            rate = made / wall
            results.append((name, rate, 1000 * cpu / made, rate / ideal if ideal else 0.0))
    return results


def main() -> None:
    """Print one table a setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assessments", type=int, default=500)
    parser.add_argument("--latencies", type=float, nargs="+", default=[0.0, 0.5])
    parser.add_argument("--in-flight", type=int, nargs="+", default=[64, 256])
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    datasets.disable_progress_bars()
    for in_flight in options.in_flight:
        run_warm_up(in_flight)
        for latency in options.latencies:
            results = measure(options.assessments, latency, in_flight)
            unitxt = next(rate for name, rate, _, _ in results if name.startswith("unitxt"))
            print(f"\n{options.assessments} assessments, latency {latency * 1000:.0f} ms, {in_flight} in flight\n")
            print("| | assessments/s | × unitxt | CPU ms a call | of in-flight / latency |")
            print("|---|---|---|---|---|")
            for name, rate, cpu, share in results:
                of_ideal = f"{share:.0%}" if share else "–"
                print(f"| {name} | {rate / CALLS_PER_ASSESSMENT:.0f} | {rate / unitxt:.1f} | {cpu:.2f} | {of_ideal} |")


def run_warm_up(in_flight: int) -> None:
    """Import everything once, outside the measurement."""
    with JudgeServerProcess(labels=LABELS) as server:
        run_evenhand(openai_compatible(server.base_url, in_flight), 5)
        run_evenhand(litellm_engine(server.base_url, in_flight), 5)
        run_unitxt(server.base_url, 5)


if __name__ == "__main__":
    main()
