"""The signals that end a run: SIGTERM and SIGHUP are heeded as Control-C is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from evenhand.errors import Terminated

ECHO_SECONDS: Final = 0.25
# Windows has no SIGHUP
_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def heeding_termination() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise :class:`~evenhand.errors.Terminated`, as Control-C raises KeyboardInterrupt.

    In the main thread, and where they would end the process: a handler of the caller's stays, and what is ignored, as
    SIGHUP is under ``nohup``, stays ignored. ``timeout``, shells and service managers send a signal twice, or one after
    the other, within moments: a signal that follows the first so closely, a SIGINT too, is its echo.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first: float | None = None

    def end(number: int, _: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        if first is not None and now - first < ECHO_SECONDS:
            return
        first = now if first is None else first
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)

    ordinary = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(_SIGNALS, signal.SIG_DFL)}
    taken = {number: handler for number, handler in ordinary.items() if signal.getsignal(number) is handler}
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)
