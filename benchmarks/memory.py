"""What a result takes in memory for each assessment, and how long a great one takes to save and to open again.

``python -m benchmarks.memory`` prints three Markdown tables: kB for each assessment in both orders, with and without
prompts, in addition to the caller's data; and of a saved result the seconds to save and open, kB for each assessment
on disk and when opened, and by how much the process grew at most; and of a result in parts the seconds and the CPU
until it is opened, printed and its findings are made, and the peak of the process that does it (another, which judged
nothing).
The parts are one of 5,000 rows, copied under ids of their own. The judge is simulated, but writes reasons of
450 characters. Memory is the sum of Python's allocations (``tracemalloc``), with what is kept of a file.
"""

import argparse
import gc
import json
import os
import random
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from subprocess import run
from tempfile import TemporaryDirectory

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"

import pyarrow.parquet

import evenhand
from evenhand.data.rows import PARQUET_HEADER
from evenhand.engines.base import Request
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.results.results import Results
from evenhand.votes import Completion

CRITERION = "criteria.evenhand.direct.relevance"
WORDS = [f"word{number}" for number in range(2000)]
REASONS, RESPONSE, QUESTION = 60, 120, 30
"""How many words they have."""


def words(number: int, seed: int | str) -> str:
    """A text of this number of words, different for every seed."""
    return " ".join(random.Random(seed).choices(WORDS, k=number))


class Talkative(SimulatedEngine):
    """A simulated judge with reasons as long as a model's."""

    async def complete(self, request: Request) -> Completion:
        """The reply of the simulated judge, longer where it gives reasons."""
        reply = await SimulatedEngine.complete(self, request)
        if request.stage != "assessment":
            return reply
        return reply.model_copy(update={"text": f"{reply.text} {words(REASONS, request.messages[0]['content'])}"})


def rows(count: int) -> list[dict[str, str]]:
    """The caller's data."""
    return [{"question": words(QUESTION, 2 * row), "response": words(RESPONSE, 2 * row + 1)} for row in range(count)]


def judged(data: Sequence[dict[str, str]], *, prompts: bool) -> Results:
    """Every row assessed in both orders."""
    return evenhand.judge(data, CRITERION, Talkative(), include_prompts_in_result=prompts, journal=None, progress=False)


@contextmanager
def traced() -> Iterator[list[int]]:
    """The bytes that are held more at the end than at the beginning."""
    found: list[int] = []
    gc.collect()
    tracemalloc.start()
    try:
        yield found
        gc.collect()
        found.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()


def bytes_held(count: int, *, prompts: bool) -> float:
    """Bytes for each assessment."""
    data = rows(count)
    with traced() as found:
        table = judged(data, prompts=prompts)
    return found[0] / len(table)


def repeated(table: Results, count: int) -> Results:
    """A great result that holds the judgements of a small one again and again."""
    held = list(table.cells())
    repeats = (held[number % len(held)] for number in range(count))
    cells = (cell._replace(about={**cell.about, "instance": number}) for number, cell in enumerate(repeats))
    return table.of_cells(table.analyse, {**table.header, "parameters": table.parameters}, cells)


def saved(count: int, folder: Path) -> list[str]:
    """A row of the table of files."""
    table = repeated(judged(rows(min(count, 500)), prompts=True), count)
    path = folder / "result.parquet"
    before, start = getrusage(RUSAGE_SELF).ru_maxrss, time.perf_counter()
    table.save(path)
    seconds = [time.perf_counter() - start]
    del table
    start = time.perf_counter()
    table = evenhand.open(path)
    seconds.append(time.perf_counter() - start)
    grown = (getrusage(RUSAGE_SELF).ru_maxrss - before) * 1024 / count
    with traced() as found:
        table = evenhand.open(path)
    each = [path.stat().st_size / count, found[0] / len(table), grown]
    return [f"{count:,}", *(f"{value:.1f}" for value in seconds), *(f"{size / 1000:.2f}" for size in each)]


OPEN_AND_PRINT = """
import resource, sys, time
import evenhand, evenhand.functions, pyarrow.parquet
start = time.perf_counter(), time.process_time()
result = evenhand.open(sys.argv[1])
str(result), result.findings()
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
found = time.perf_counter() - start[0], time.process_time() - start[1], most
print(*(f"{each:.2f}" for each in found), sep=" | ")
"""


def write_parts(count: int, size: int, folder: Path) -> None:
    """A result of ``count`` rows in parts of one size: the first is judged, the others are copies of it."""
    data = [{"id": f"row-{row}", **each} for row, each in enumerate(rows(size))]
    how = {"flow": "one_step", "check_positional_bias": False, "journal": None, "progress": False}
    first = folder / "part-000000.parquet"
    evenhand.judge(data, CRITERION, Talkative(refusal_rate=0.02), id_field="id", **how).save(first)
    table = pyarrow.parquet.read_table(first)
    header = json.loads(table.schema.metadata[PARQUET_HEADER])
    for number in range(1, count // size):
        header["parameters"]["ids"] = [f"row-{number * size + row}" for row in range(size)]
        copy = table.replace_schema_metadata({PARQUET_HEADER: json.dumps(header).encode()})
        pyarrow.parquet.write_table(copy, folder / f"part-{number:06d}.parquet", compression="zstd")


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assessments", type=int, default=2000)
    parser.add_argument("--saved", type=int, default=100_000)
    parser.add_argument("--in-parts", type=int, default=1_000_000)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:  # first: Linux counts the peak of this process as one of the other's
        write_parts(options.in_parts, 5000, Path(folder))
        in_parts = run([sys.executable, "-c", OPEN_AND_PRINT, folder], check=True, capture_output=True, text=True)
    judged(rows(2), prompts=True)  # imports, templates and caches
    print("| prompts | kB an assessment |\n|---|---|")
    for prompts in (False, True):
        print(
            f"| {'kept' if prompts else 'not kept'} | {bytes_held(options.assessments, prompts=prompts) / 1000:.2f} |"
        )
    print("\n| assessments | s to save | s to open | kB each on disk | kB each opened | kB each at most |")
    print("|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        print(f"| {' | '.join(saved(options.saved, Path(folder)))} |")
    print("\n| assessments in parts | s to open and print | s of CPU | GiB at most |\n|---|---|---|---|")
    print(f"| {options.in_parts:,} | {in_parts.stdout.strip()} |")


if __name__ == "__main__":
    main()
