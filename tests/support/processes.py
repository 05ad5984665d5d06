"""Processes of their own that begin with the libraries imported, and evenhand not: unitxt and scipy take seconds.

They are forked from one process that has imported nothing else, so that each is as fresh as ``python -c`` is.
"""

import multiprocessing
import os
import signal
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ["aiohttp", "anyio", "cyclopts", "datasets", "jinja2", "pandas", "pydantic.dataclasses", "rapidfuzz.fuzz"]
LIBRARIES += ["ruamel.yaml", "scipy.optimize", "scipy.stats", "unitxt.api"]

_FORKED = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT = multiprocessing.get_context("forkserver" if _FORKED else "spawn")
_CONTEXT.set_forkserver_preload(LIBRARIES)


def _run(code, arguments, folder, environment, output):
    for name in ("SIGHUP", "SIGTERM"):  # whoever runs the tests may ignore them, as nohup does
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(opened, 1)
    os.dup2(opened, 2)
    sys.argv = ["-c", *arguments]
    sys.path.insert(0, "")
    warnings.simplefilter("error", UserWarning)
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


class Running:
    """``python -c code arguments…`` in a folder, started at once; ``output`` is a file for what it says."""

    def __init__(self, code, *arguments, output, folder=ROOT, environment=None):
        self._output = Path(output)
        given = (code, [str(each) for each in arguments], str(folder), dict(environment or os.environ), str(output))
        self._process = _CONTEXT.Process(target=_run, args=given)
        self._process.start()

    @property
    def told(self):
        return self._output.read_text(encoding="utf-8") if self._output.exists() else ""

    @property
    def code(self):
        """The exit code; None while it runs."""
        return self._process.exitcode

    def wait(self, seconds=120):
        """The exit code."""
        self._process.join(seconds)
        assert self.code is not None, f"it did not end in {seconds} s:\n{self.told}"
        return self.code

    def kill(self):
        """SIGKILL."""
        self._process.kill()
        self.wait(30)

    def send(self, number):
        """A signal."""
        os.kill(self._process.pid, number)

    def wait_until(self, reached):
        """Until it got so far."""
        deadline = time.monotonic() + 120
        while not reached():
            assert self.code is None, f"the run ended too early:\n{self.told}"
            assert time.monotonic() < deadline, f"the run did not get so far:\n{self.told}"
            time.sleep(0.01)

    def kill_when(self, reached):
        """SIGKILL as soon as it got so far."""
        self.wait_until(reached)
        self.kill()
