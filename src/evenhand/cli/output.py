"""The last door of the command: what it prints is shown and not obeyed, and what cannot be printed costs no result."""

from __future__ import annotations

import io
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from evenhand.visible import visible

if TYPE_CHECKING:
    from evenhand.results.render import PrintedTables


class OutputError(Exception):
    """The standard output takes no more.

    Attributes:
        cause: Why.
        saved: The file that holds what was to be shown, if there is one.
    """

    def __init__(self, cause: OSError, saved: Path | None = None) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.saved = saved


def prepare() -> None:
    """Make the standard streams such as can be written to: one that is closed is nobody's, and holds its place.

    What an encoding lacks is written with its number, and a traceback passes this door too.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):  # a terminal that is gone
                stream.reconfigure(errors="backslashreplace")
    sys.excepthook = _show_traceback


def _show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(visible("".join(traceback.format_exception(kind, error, trace))))


def say(*said: str | PrintedTables, saved: Path | None = None) -> None:
    """Print texts, and tables as the renderer has made them.

    Raises:
        OutputError: If that is not possible; ``saved`` says what holds the result all the same.
    """
    try:
        for each in said:
            print(visible(each) if isinstance(each, str) else each)
        sys.stdout.flush()
    except OSError as error:
        abandon(sys.stdout)
        raise OutputError(error, saved) from error


def complain(message: object) -> None:
    """Print a message on the standard error stream; its lines after the first are set in, as they are no other one."""
    with suppress(OSError, ValueError):
        print("evenhand:", visible(str(message)).replace("\n", "\n    "), file=sys.stderr)


def end_complaints() -> None:
    """Let go of what the standard error stream does not take, or the interpreter fails on it at its end."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Send what a stream holds, and whatever follows, nowhere."""
    with suppress(OSError, ValueError):  # one that is no file, as in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
