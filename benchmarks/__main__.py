"""All benchmarks in one run, as one page of Markdown.

``python -m benchmarks [NAME …] [--quick] [--out docs/benchmarks.md]`` runs each as a process of its own and prints
what it prints: a benchmark that fails or takes too long is reported and does not end the run. Where it measures other
tools too, it runs in a virtual environment that this command makes of them in a cache folder; where they do not
install, the page says why. Of a page that is there, what stands from the heading ``## Longer runs`` on is kept.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evenhand-benchmarks"
KEPT = "## Longer runs"
VERSIONS = ("evenhand", "unitxt", "litellm", "numpy", "scipy")


@dataclass(frozen=True)
class Benchmark:
    """A module of this package.

    Attributes:
        name: The name of the module; after a colon, the option that selects one of several measurements.
        about: What it measures, against what.
        quick: Arguments of the short form.
        rivals: The packages that pip installs first; the module leaves out those that are not installed.
        is_long: It has no short form: left out with ``--quick``.
    """

    name: str
    about: str
    quick: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    is_long: bool = False

    def command(self, *, quick: bool) -> list[str]:
        """What python is given."""
        module, _, measured = self.name.partition(":")
        option = [f"--{measured}"] if measured else []
        return ["-m", f"benchmarks.{module}", *option, *(self.quick if quick else ())]


def of(name: str, about: str, quick: str = "", *, rivals: Sequence[str] = (), is_long: bool = False) -> Benchmark:
    """A benchmark whose short form has these arguments, parted by spaces."""
    return Benchmark(name, about, tuple(quick.split()), tuple(rivals), is_long)


ALL = (
    of("size", "Lines, files, functions, import circles, and what a call enters"),
    of("throughput", "Assessments per second, with unitxt's judge and bare loops", "--assessments 100 --rounds 1"),
    of("throughput:prefix-cache", "Prompts that a server's prefix cache does not hold", "--assessments 50"),
    of("cpu", "CPU of a one-step assessment, with a bare aiohttp loop", "--assessments 1000 --rounds 3"),
    of("streams", "A streamed run: CPU, memory, bytes on disk", "5000"),
    of("ranks", "Rankings of 60 systems on 9,000 prompts: CPU and memory", "speed"),
    of("memory", "What a result takes in memory and on disk", "--assessments 500 --saved 5000"),
    of("intervals", "Global scores with intervals, with unitxt's bootstrap"),
    of("faults", "Troubles of a server, with autorubric and unitxt", "--rows 8 --only 500", rivals=("autorubric",)),
    of("reading", "How replies are read, on recorded replies"),
    of("paired_differences", "Coverage of paired differences", is_long=True),
    of("clusters", "Coverage where rows come in documents", is_long=True),
    of(
        "correction",
        "Corrected scores, with other methods",
        "--data-sets 20 --only 0/1 --resamples 200",
        rivals=("judgy", "ppi-python", "cje-eval"),
        is_long=True,
    ),
)


class NotInstalledError(Exception):
    """A rival's environment could not be made."""


def python_with(rivals: Sequence[str], cache: Path) -> str:
    """The Python that sees these packages and all that this one sees; the packages are installed by themselves.

    Raises:
        NotInstalledError: pip's last line.
    """
    if not rivals:
        return sys.executable
    named = hashlib.sha256(" ".join([sys.version, *rivals]).encode()).hexdigest()[:12]
    folder = cache / f"{rivals[0].partition('[')[0]}-{named}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "installed"
    if not done.exists():
        for command in ([sys.executable, "-m", "venv", "--clear", folder], [python, "-m", "pip", "install", *rivals]):
            made = subprocess.run(command, capture_output=True, text=True, check=False)
            if made.returncode:
                raise NotInstalledError(last_line(made.stderr or made.stdout))
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        place = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
        seen = [sysconfig.get_path("purelib"), *(each for each in sys.path if each and Path(each).is_dir())]
        Path(place.stdout.strip(), "evenhand.pth").write_text("\n".join(dict.fromkeys(seen)), encoding="utf-8")
        done.touch()
    return str(python)


def last_line(text: str) -> str:
    """Of what a process says, the line that says why it ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"


def run(benchmark: Benchmark, python: str, *, quick: bool, seconds: float) -> tuple[str, str | None]:
    """What a benchmark prints, and how it failed."""
    command = [python, *benchmark.command(quick=quick)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds, cwd=ROOT)
    except subprocess.TimeoutExpired as late:
        said = late.stdout or ""
        return said if isinstance(said, str) else said.decode(), f"not finished after {seconds:g} s"
    return ended.stdout, last_line(ended.stderr) if ended.returncode else None


def section(benchmark: Benchmark, options: argparse.Namespace) -> Iterator[str]:
    """A benchmark's part of the page."""
    arguments = " ".join(["python", *benchmark.command(quick=options.quick)])
    yield f"\n### {benchmark.about}\n\n`{arguments}`"
    if options.quick and benchmark.is_long:
        yield "\nNot run: it takes minutes, and this is the short form of the page."
        return
    python, begin = sys.executable, time.perf_counter()
    try:
        python = python_with(benchmark.rivals, options.cache)
    except NotInstalledError as error:
        yield f"\nWithout {', '.join(benchmark.rivals)}, not installed: {error}"
    said, failure = run(benchmark, python, quick=options.quick, seconds=options.seconds)
    yield f"\n{said.strip()}" if said.strip() else ""
    if failure:
        yield f"\n**Failed**: {failure}"
    yield f"\n{time.perf_counter() - begin:.0f} s in all."


def head(options: argparse.Namespace) -> Iterator[str]:
    """The machine and what was run."""
    versions = [f"{name} {metadata.version(name)}" for name in VERSIONS]
    cores = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield "# Benchmarks\n"
    command = " ".join(["python -m benchmarks", *options.names, *(["--quick"] if options.quick else [])])
    yield f"Written by `{command}` on {datetime.now(UTC):%Y-%m-%d}."
    load = f", load {os.getloadavg()[0]:.1f} when it began" if hasattr(os, "getloadavg") else ""
    yield f"{cores}{load}; {', '.join(versions)}. Ratios are of one run: read these, and not the seconds."


def page(options: argparse.Namespace) -> Iterator[str]:
    """The parts of the page, each as soon as it is known."""
    yield from head(options)
    yield "\n## This run"
    for benchmark in ALL:
        if not options.names or benchmark.name in options.names:
            yield from section(benchmark, options)
    if left_out := [each.name for each in ALL if options.names and each.name not in options.names]:
        yield f"\nNot run this time: {', '.join(left_out)}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, and write it."""
    names = [each.name for each in ALL]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which, all by default: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="short forms; what has none is left out")
    parser.add_argument("--out", type=Path, help="write the page there too; what stands under 'Longer runs' is kept")
    parser.add_argument("--seconds", type=float, default=3600.0, help="the longest that one may take")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the environments of other tools are made")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(names)):
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    old = options.out.read_text(encoding="utf-8") if options.out and options.out.exists() else ""
    kept = old[old.index(KEPT) :] if KEPT in old else ""
    lines = []
    for line in page(options):
        print(line, flush=True)
        lines.append(line)
        if options.out:  # each time: a run that is stopped leaves what it has
            options.out.write_text("\n".join([*lines, "", kept]).rstrip() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
