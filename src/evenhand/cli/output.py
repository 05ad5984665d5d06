"""The output of the command: control characters are escaped, and a failed print loses no result."""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TextIO

from evenhand.errors import InvalidInputError
from evenhand.judging.progress import tell
from evenhand.run_files import Checks
from evenhand.visible import visible

if TYPE_CHECKING:
    from evenhand.report.gates import CheckedCondition
    from evenhand.results.render import PrintedTables


class OutputError(Exception):
    """The standard output cannot be written: the cause, and the file that holds what was to be printed, if any."""


EXIT_CHECK_FAILED: Final = 3
LOGGER = logging.getLogger("evenhand")


class _ToScreen(logging.Handler):
    """Write log lines to the standard error stream, above the progress bars."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            tell(self.format(record))
        except Exception:  # noqa: BLE001 - as logging has it
            self.handleError(record)


@contextmanager
def logged(level: int) -> Iterator[None]:
    """Print log lines from this level on; without warnings where only errors are printed."""
    before, handler = LOGGER.level, _ToScreen()
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s" if level < logging.WARNING else "%(message)s"
    handler.setFormatter(logging.Formatter(form, "%H:%M:%S"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    try:
        with warnings.catch_warnings():
            if is_quiet():
                warnings.simplefilter("ignore")
            yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return LOGGER.getEffectiveLevel() >= logging.ERROR


def prepare() -> None:
    """Open the standard streams that are closed, and escape what their encoding or a terminal cannot show."""
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


def say(*texts: str | PrintedTables, saved: Path | None = None) -> None:
    """Print texts and tables.

    Raises:
        OutputError: If that is not possible; ``saved`` names the file that holds the result.
    """
    try:
        for each in texts:
            print(visible(each) if isinstance(each, str) else each)
        sys.stdout.flush()
    except OSError as error:
        abandon(sys.stdout)
        raise OutputError(error, saved) from error


def save(result: Any, place: Path | None, what: str) -> list[str]:  # noqa: ANN401 - of any verb
    """Save a result where a place is given, and return the sentence that says so."""
    if place is None:
        return []
    result.save(place)
    return [f"{what} written to {place}"]


def complain(message: object) -> None:
    """Print a message on the standard error stream, with its further lines indented."""
    with suppress(OSError, ValueError):
        print("evenhand:", visible(str(message)).replace("\n", "\n    "), file=sys.stderr)


def end_complaints() -> None:
    """Flush the standard error stream, or drop what it does not take: else the interpreter fails at its end."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Drop what a stream holds and what follows."""
    with suppress(OSError, ValueError):  # one that is no file, as in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end(
    result: Any,  # noqa: ANN401 - of any verb
    checks: Checks | None,
    *written: str,
    saved: Path | None = None,
    unscored: Sequence[CheckedCondition] = (),
) -> int:
    """Check a result and print it; return the exit code.

    Args:
        result: The result, or what changed between two.
        checks: The conditions, and how it is printed.
        *written: What was written, one sentence each.
        saved: The file that holds the result.
        unscored: The limit on unscored votes, where it does not hold.

    Raises:
        InvalidInputError: A condition that names what the result does not have; the result is printed all the same.
    """
    from evenhand.report import gates  # noqa: PLC0415 - seconds of import
    from evenhand.run_jobs import check_result  # noqa: PLC0415 - as above

    checks = checks or Checks()
    form = next((form for form, file in checks.formats if not file), "table")
    try:
        summary = check_result(result, checks, unscored)
    except InvalidInputError:
        say(result, saved=saved)
        raise
    if form == "table":
        say(result, *([summary.report] if checks.require else []), *written, saved=saved)
    else:
        say(gates.WRITERS[form](summary), saved=saved)
        for line in written:
            complain(line)
    for each in summary.report.failed:
        complain(each)
    return EXIT_CHECK_FAILED if summary.report.failed else 0
