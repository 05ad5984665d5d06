"""What is done to a process that judges: it is killed, told to end, given little room, or has a neighbour."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.faults.cells import ENGINES, Run, Scene, planned_votes, run_once
from tests.faults.modes import MODES
from tests.support.processes import Running

CODE: Final = "import sys; from tests.faults.processes import child; child(sys.argv[1])"


def child(given: str) -> None:
    """What the process does: judge the rows, and write down what came of it."""
    job = json.loads(given)
    UNDER[job["under"]]()
    [mode] = [mode for mode in MODES if mode.name == job["mode"]]
    run = run_once(mode, ENGINES[job["engine"]](job["base_url"], **job["settings"]), job["numbers"], **job["options"])
    Path(job["told"]).write_text(json.dumps(vars(run)), encoding="utf-8")


def _little_room() -> None:
    """Files may grow no further than this, as on a full disk."""
    import resource  # noqa: PLC0415 - not on Windows

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


def _clock_ahead() -> None:
    true = time.time
    time.time = lambda: true() + 120


UNDER: Final[dict[str, Callable[[], None]]] = {
    "nothing": lambda: None,
    "little room": _little_room,
    "a clock ahead": _clock_ahead,
}


def start(scene: Scene, under: str = "nothing", name: str = "child") -> Running:
    """The process, which judges the rows of the trouble."""
    trouble = scene.trouble
    job = {
        "under": under,
        "mode": scene.mode.name,
        "engine": scene.engine,
        "base_url": scene.server.base_url,
        "settings": dict(trouble.settings),
        "numbers": list(trouble.numbers),
        "options": {"journal": str(scene.journal), **trouble.options},
        "told": str(scene.folder / f"{name}.json"),
    }
    return Running(CODE, json.dumps(job), output=scene.folder / f"{name}.txt")


def told(scene: Scene, process: Running, name: str = "child") -> Run:
    """What came of it; what it was when it ended if it could not say."""
    written = scene.folder / f"{name}.json"
    if written.exists():
        return Run(**json.loads(written.read_text(encoding="utf-8")))
    planned = planned_votes(scene.mode, tuple(scene.trouble.numbers))
    return Run([None] * planned, 0, {}, {}, f"exit code {process.code}: {process.told[-2000:]}")


def limited(under: str) -> Callable[[Scene], Run]:
    """In a process with little room or another clock."""

    def judge(scene: Scene) -> Run:
        process = start(scene, under)
        process.wait()
        return told(scene, process)

    return judge


def ended(name: str, share: float = 0.4) -> Callable[[Scene], Run]:
    """In a process that gets a signal when the server has answered this share of the requests that the votes need."""

    def judge(scene: Scene) -> Run:
        enough = share * planned_votes(scene.mode, tuple(scene.trouble.numbers))
        process = start(scene)
        process.wait_until(lambda: scene.server.finished >= enough)
        process.send(signal.Signals[name])
        process.wait()
        time.sleep(0.2)  # what was in flight at a kill is over at the server
        return told(scene, process)

    return judge


def together(*under: str) -> Callable[[Scene], Run]:
    """In several processes at once that share the journal; the first one's is told."""

    def judge(scene: Scene) -> Run:
        processes = [start(scene, each, f"child{place}") for place, each in enumerate(under)]
        for process in processes:
            process.wait()
        runs = [told(scene, process, f"child{place}") for place, process in enumerate(processes)]
        return min(runs, key=lambda run: run.votes)

    return judge


def without_a_server(scene: Scene) -> Run:
    """At an address where no server listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return scene.run(base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1")


def at_an_unknown_host(scene: Scene) -> Run:
    """At a name that no host has: RFC 6761 reserves it."""
    return scene.run(base_url="http://judge.invalid/v1")


def away(scene: Scene) -> Run:
    """While the server is away; when that is over the server is back for the next run."""
    run = scene.run()
    time.sleep(max((fault.seconds for fault in scene.trouble.faults), default=0))
    return run


def after_damage(scene: Scene) -> Run:
    """With a journal that holds the first half of the rows and was damaged in the middle since; it is moved away."""
    numbers = list(scene.trouble.numbers)
    scene.run(numbers[: len(numbers) // 2])
    with scene.journal.open("r+b") as file:
        file.seek(scene.journal.stat().st_size // 2)
        file.write(b"\x5a" * 4096)
    damaged = scene.run()
    scene.journal.rename(scene.journal.with_name("damaged.sqlite3"))
    return damaged


def in_mock_mode(scene: Scene) -> Run:
    """While unitxt is told not to send anything."""
    import unitxt  # noqa: PLC0415 - takes seconds, and few cells need it

    with unitxt.settings.context(mock_inference_mode=True):
        return scene.run()
