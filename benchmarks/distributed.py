"""How many rows a second workers on a cluster judge, beside one process.

``python -m benchmarks.distributed`` prints a Markdown table: one process with ``stream_to``, and one and two workers by
Ray on this machine, over the same JSON lines (one-step direct assessment). The judge is simulated and costs nothing but
CPU; with ``--latency 0.5`` it is the loopback server of the tests, ``--in-flight`` calls at once over all workers. Each
runs in a process of its own, which begins with nothing imported; "start" is what passes before the first row is judged
(imports, and for workers the cluster and its actors), and rows a second are counted from then to the end. The verdicts
of all must be equal.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["UNITXT_USE_ONLY_LOCAL_CATALOGS"] = "True"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["UNITXT_DEFAULT_VERBOSITY"] = "error"

ROOT = Path(__file__).resolve().parents[1]


def first_part_at(folder: Path) -> float:
    """When the first part was written."""
    return min(path.stat().st_mtime for path in folder.glob("part-*.parquet"))


def judge(data: str, folder: Path, workers: int, address: str, in_flight: int) -> dict[str, float | str]:
    """Judge once, in this process; what it took, and digits for the verdicts."""
    begun = time.time()
    import evenhand  # noqa: PLC0415 - the imports are measured
    from evenhand.engines.openai_compatible import OpenAICompatibleEngine  # noqa: PLC0415 - as above
    from evenhand.engines.simulated import SimulatedEngine  # noqa: PLC0415 - as above

    engine = SimulatedEngine(noise=0.3, seed=1)
    if address:
        engine = OpenAICompatibleEngine(base_url=address, model="judge", max_in_flight=in_flight)
    how = {"flow": "one_step", "check_positional_bias": False, "context_fields": ["question"], "id_field": "id"}
    how |= {"progress": False, "stream_to": folder, "journal": folder.parent / f"{folder.name}.sqlite3"}
    how |= {"include_prompts_in_result": False}
    if workers:
        from evenhand.integrations import ray_data  # noqa: PLC0415 - as above

        table = ray_data.judge(data, "Is it helpful?", engine, workers=workers, **how)
    else:
        table = evenhand.judge(data, "Is it helpful?", engine, **how)
    ended = time.time()
    frame = table.to_pandas()[["id", "selected_option"]].sort_values("id")
    digits = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
    return {"start": first_part_at(folder) - begun, "seconds": ended - begun, "digits": digits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2], help="0 is one process without Ray")
    parser.add_argument("--latency", type=float, help="seconds before a reply of the loopback server")
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        data, folder, workers, address = given.one
        print(json.dumps(judge(data, Path(folder), int(workers), address, given.in_flight)))
        return
    from tests.support.server import JudgeServerProcess  # noqa: PLC0415 - not in the processes that are measured

    serving = nullcontext() if given.latency is None else JudgeServerProcess(latency=given.latency)
    digits = set()
    with TemporaryDirectory() as folder, serving as server:
        data = Path(folder) / "rows.jsonl"
        with data.open("w", encoding="utf-8") as file:
            for row in range(given.rows):
                answer = " ".join(f"word{row * place % 977}" for place in range(1, 40))
                file.write(json.dumps({"id": f"row-{row}", "question": f"What is {row}?", "response": answer}) + "\n")
        print(f"{given.rows:,} rows\n\n| | start | rows a second | seconds in all |\n|---|---|---|---|")
        for workers in given.workers:
            one = [str(data), str(Path(folder) / f"out-{workers}"), str(workers), server.base_url if server else ""]
            command = [sys.executable, "-m", "benchmarks.distributed", "--in-flight", str(given.in_flight)]
            done = subprocess.run([*command, "--one", *one], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
            took = json.loads(done.stdout.splitlines()[-1])
            digits.add(took["digits"])
            name = f"{workers} worker{'s' * (workers > 1)}" if workers else "one process"
            rate = given.rows / (took["seconds"] - took["start"])
            print(f"| {name} | {took['start']:.0f} s | {rate:,.0f} | {took['seconds']:.0f} |", flush=True)
    assert len(digits) == 1, "the verdicts differ"


if __name__ == "__main__":
    main()
