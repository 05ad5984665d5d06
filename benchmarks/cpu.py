"""CPU of the path from a question to its verdict: milliseconds for each one-step assessment, in one run.

``python -m benchmarks.cpu`` prints a Markdown table: a bare aiohttp loop that makes the same requests, evenhand over
loopback with a journal on disk, and evenhand with a simulated judge in process; of each the median and the least of
some rounds, everything from the rows to the table of judgements counted. Then the same for a run of 500 rows and for
200 calls of a ``Judge``, one after the other, and how much dearer a call is; and the CPU of a fresh process that judges
two rows, next to that of one that imports what it stands on. ``--profile RUN`` prints where the time goes.
"""

import argparse
import asyncio
import cProfile
import logging
import pstats
import resource
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory

import evenhand
from benchmarks.throughput import Body, openai_compatible, run_bare_aiohttp
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.judges import Judge
from tests.support.server import JudgeServerProcess

CRITERION = "criteria.evenhand.direct.relevance"


def rows(count: int) -> list[dict[str, str]]:
    """Assessments that no journal knows."""
    return [{"question": f"What is {index}?", "response": f"It is {uuid.uuid4()}."} for index in range(count)]


HOW = {"flow": "one_step", "check_positional_bias": False}
ROWS, CALLS = 500, 200


def judged(engine: object, data: Sequence[dict[str, str]], journal: str | None = None) -> int:
    """One call an assessment; how many have a verdict."""
    table = evenhand.judge(
        data,
        CRITERION,
        engine,
        context_fields=["question"],
        journal=journal,
        progress=False,
        **HOW,
    )
    return sum(judgement.verdict.scored for judgement in table.entries)


def journaled(base_url: str, in_flight: int, data: Sequence[dict[str, str]]) -> int:
    """Over HTTP, with a fresh journal."""
    with TemporaryDirectory() as folder:
        return judged(openai_compatible(base_url, in_flight), data, f"{folder}/journal.sqlite3")


def called(engine: object, data: Sequence[dict[str, str]], journal: str | None = None) -> int:
    """The same assessments by a judge that is called for one after the other."""

    async def called_for_each() -> int:
        async with Judge(CRITERION, engine, journal=journal, **HOW) as judge:
            verdicts = [await judge(response=row["response"], context={"question": row["question"]}) for row in data]
        return sum(verdict.scored for verdict in verdicts)

    return asyncio.run(called_for_each())


def bodies_of(count: int, labels: Sequence[str]) -> list[Body]:
    """The requests that evenhand sends for this number of assessments."""
    with JudgeServerProcess(labels=labels) as server:
        journaled(server.base_url, 64, rows(count))
        return [seen["body"] for seen in server.requests()]


def milliseconds(run: Callable[[], object], count: int) -> float:
    """Milliseconds of CPU for each of ``count`` assessments."""
    begin = time.process_time()
    run()
    return 1000 * (time.process_time() - begin) / count


IMPORTS = "import numpy, pandas, scipy.stats, pyarrow, pydantic"
TWO_ROWS = """
import evenhand

rows = [{"question": "How many legs has a spider?", "response": text} for text in ("It has eight.", "I like trains.")]
how = {"context_fields": ["question"], "journal": None, "progress": False}
evenhand.judge(rows, "Is it right?", evenhand.BaselineEngine(), **how)
"""


def fresh_process(code: str) -> float:
    """Seconds of CPU that a process takes to run some code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def profiled(lines: int) -> Iterator[None]:
    """Print where the time goes, in all threads."""
    profiles: list[cProfile.Profile] = []

    def begin(*_: object) -> None:
        sys.setprofile(None)
        profile = cProfile.Profile()
        profiles.append(profile)
        profile.enable()

    threading.setprofile(begin)
    begin()
    try:
        yield
    finally:
        threading.setprofile(None)
        for profile in profiles:
            profile.disable()
        stats = pstats.Stats(profiles[0])
        for profile in profiles[1:]:
            stats.add(profile)
        stats.strip_dirs().sort_stats("tottime").print_stats(lines)


def main() -> None:
    """Print one table, or a profile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assessments", type=int, default=3000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", choices=["simulated", "loopback"])
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    count, labels = options.assessments, evenhand.load(CRITERION).labels
    bodies = bodies_of(count, labels)
    found: dict[str, list[float]] = {}
    with JudgeServerProcess(labels=labels) as server:
        url, in_flight = server.base_url, options.in_flight
        runs: dict[str, Callable[[Sequence[dict[str, str]]], object]] = {
            "bare aiohttp loop": lambda _: run_bare_aiohttp(url, bodies, in_flight),
            "loopback": lambda data: journaled(url, in_flight, data),
            "simulated": lambda data: judged(SimulatedEngine(), data),
        }
        for run in runs.values():
            run(rows(50))
        if options.profile:
            data = rows(count)
            with profiled(70):
                runs[options.profile](data)
            return
        pairs = {
            "simulated": (lambda data: judged(SimulatedEngine(), data), lambda data: called(SimulatedEngine(), data)),
            "loopback": (
                lambda data: judged(openai_compatible(url, in_flight), data),
                lambda data: called(openai_compatible(url, in_flight), data),
            ),
        }
        sized = {name: (run, count) for name, run in runs.items()}
        for name, (by_rows, by_calls) in pairs.items():
            sized |= {f"a row of {ROWS}, {name}": (by_rows, ROWS), f"a call of {CALLS}, {name}": (by_calls, CALLS)}
        for _ in range(options.rounds):
            for name, (run, size) in sized.items():
                data = rows(size)
                found.setdefault(name, []).append(milliseconds(lambda run=run, data=data: run(data), size))
    alone, two_rows = ([fresh_process(code) for _ in range(options.rounds)] for code in (IMPORTS, TWO_ROWS))
    print("| | CPU ms an assessment | at least |\n|---|---|---|")
    for name, times in found.items():
        print(f"| {name} | {median(times):.3f} | {min(times):.3f} |")
    for name in pairs:
        row, call = (median(found[each]) for each in (f"a row of {ROWS}, {name}", f"a call of {CALLS}, {name}"))
        print(f"\n{name}: a call costs {call / row:.2f} times a row")
    ratio = median(two_rows) / median(alone)
    print(f"\na fresh process that judges two rows: {median(two_rows):.2f} s, {ratio:.2f} times its imports alone")


if __name__ == "__main__":
    main()
