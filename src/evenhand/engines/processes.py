"""Telling whether the process that left a note in a shared file is still there."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told apart from a later one with the same number.

    Attributes:
        host: Where process numbers mean the same: the boot and the process namespace on Linux, else the host's name.
        pid: The process number.
        started: When it started, as the system counts; empty where that cannot be read.
    """

    host: str
    pid: int
    started: str


def this_process() -> Process:
    """The process that runs now."""
    return Process(_host(), os.getpid(), _state_and_start(os.getpid())[1])


def is_running(process: Process, here: str) -> bool | None:
    """Whether a process is running, seen from the host ``here``; None when that cannot be told."""
    if process.host != here or os.name != "posix":  # Windows has no signal that only asks
        return None
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    state, started = _state_and_start(process.pid)
    return state not in {"Z", "X"} and (not started or not process.started or started == process.started)


def _host() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def _state_and_start(pid: int) -> tuple[str, str]:
    """The state's letter and the start time in ticks since boot, where there is a ``/proc``."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    fields = status.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return fields[0], fields[19]
