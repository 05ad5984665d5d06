"""The output of the command: terminals obey no character of it, and a failed print loses no result."""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from evenhand.errors import InvalidInputError
from evenhand.files import expanded
from evenhand.visible import visible

if TYPE_CHECKING:
    from evenhand.results.render import PrintedTables


class OutputError(Exception):
    """The standard output cannot be written.

    Attributes:
        cause: Why.
        saved: The file that holds what was to be printed, if there is one.
    """

    def __init__(self, cause: OSError, saved: Path | None = None) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.saved = saved


LOGGER = logging.getLogger("evenhand")


class _ToScreen(logging.Handler):
    """Write log lines to the standard error stream, above the progress bars."""

    def emit(self, record: logging.LogRecord) -> None:
        from evenhand.judging.progress import tell  # noqa: PLC0415 - only where something is logged

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


def note(message: str) -> None:
    """Print a message that is neither a result nor an error."""
    if not is_quiet():
        complain(message)


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


def say(*said: str | PrintedTables, saved: Path | None = None) -> None:
    """Print texts and tables.

    Raises:
        OutputError: If that is not possible; ``saved`` names the file that holds the result.
    """
    try:
        for each in said:
            print(visible(each) if isinstance(each, str) else each)
        sys.stdout.flush()
    except OSError as error:
        abandon(sys.stdout)
        raise OutputError(error, saved) from error


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


def check_out(given: str | Path | None, read: Iterable[str], flag: str = "--out") -> Path | None:
    """Check before the first call that the result can be written, and over nothing that the user gave.

    Args:
        given: Where.
        read: The files that the run reads.
        flag: The name of the flag.

    Raises:
        InvalidInputError: If it is a folder, lies in none, cannot be written, or is a file that the run reads.
    """
    if given is None:
        return None
    if not str(given).strip() or "\0" in str(given):
        raise InvalidInputError(f"{flag} is {str(given)!r}; name a file")
    out = expanded(given)
    try:
        _check_place(out, flag)
    except OSError as error:
        raise InvalidInputError(
            f"{flag} is {str(out)!r}, which cannot be written ({error.strerror}); give another path"
        ) from error
    for name in read:
        if _is_same(out, expanded(name)):
            raise InvalidInputError(f"{flag} is {str(out)!r}, the same file as the input {name!r}; give another path")
    return out


def _check_place(out: Path, flag: str) -> None:
    """Create and remove a file in the same folder, as saving does; an existing file stays."""
    if out.is_dir():
        raise InvalidInputError(f"{flag} is {str(out)!r}, which is a folder; name a file in it")
    if not out.resolve().parent.is_dir():
        raise InvalidInputError(f"{flag} is {str(out)!r}, but its folder does not exist; create it first")
    if out.exists() and not out.is_file():
        raise InvalidInputError(f"{flag} is {str(out)!r}, which is no regular file; give another path")
    if out.exists() and not os.access(out, os.W_OK):
        raise InvalidInputError(f"{flag} is {str(out)!r}, which may not be written; give another path")
    target = out.resolve()  # where a link leads
    part = target.with_name(f".{target.name}.{os.getpid()}")
    part.touch()
    part.unlink()


def _is_same(out: Path, path: Path) -> bool:
    try:
        return out.resolve() == path.resolve() or out.samefile(path)
    except (OSError, ValueError):  # one of them is not there, or a text that names no file
        return False
