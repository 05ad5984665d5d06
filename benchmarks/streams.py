"""What a streamed run takes: CPU for each assessment, memory at every part, bytes on disk, and how fast it is read.

    python -m benchmarks.streams [ROWS] [--prompts]

One-step direct assessments by the simulated judge at zero latency, in one process: all that is measured is ours.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import evenhand
from evenhand.data.rows import Row

STEP = 50_000
CRITERION = "Is the answer right?"


def _memory() -> float:
    """MiB that the process holds now; its peak on systems without ``/proc``."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize() / 2**20
    except OSError:
        return _peak()


def _peak() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**10 if sys.platform != "darwin" else most / 2**20


def _rows(count: int) -> Iterator[Row]:
    begun = time.process_time()
    for number in range(count):
        if number and number % STEP == 0:
            used = time.process_time() - begun
            print(
                f"{number:>9,} rows read: {_memory():7.0f} MiB, {1000 * used / number:.3f} ms of CPU each", flush=True
            )
        text = f"Paragraph {number} says that {number} and {number + 1} add up to {2 * number + 1}. " * 4
        yield {"id": f"row-{number}", "question": f"How much is {number} + {number + 1}? {text}", "response": text}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("--prompts", action="store_true", help="keep the prompts")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, begun = Path(scratch) / "verdicts", time.process_time()
        evenhand.judge(
            _rows(given.rows),
            CRITERION,
            evenhand.SimulatedEngine(noise=0.2),
            id_field="id",
            context_fields=["question"],
            flow="one_step",
            check_positional_bias=False,
            include_prompts_in_result=given.prompts,
            progress=False,
            stream_to=folder,
        )
        used = time.process_time() - begun
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(
            f"```text\n{given.rows:,} judged: {_peak():.0f} MiB at most, {1000 * used / given.rows:.3f} ms of CPU each"
        )
        print(f"on disk: {size / given.rows:,.0f} bytes each, {len(list(folder.glob('part-*')))} parts")
        begun = time.process_time()
        print(evenhand.open(folder))
        print(f"opened and printed: {time.process_time() - begun:.2f} s of CPU, {_peak():.0f} MiB at most\n```")


if __name__ == "__main__":
    main()
