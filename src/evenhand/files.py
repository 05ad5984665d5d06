"""Open the files that users name, except those that wait for a writer or have no end.

A file is regular, or a pipe that the shell has opened for us: standard input, and ``<(zcat rows.jsonl.gz)``. A queue in
a folder, a socket and a device are none. What cannot be read is an :class:`OSError` whose ``strerror`` says why, as for
a file that is not there. A file is written whole, or not at all.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

import platformdirs

from evenhand.errors import InvalidInputError, UnwritableFileError

MOST_BYTES: Final = 16 * 1024**2
"""The most bytes of a document: a criterion, a rubric, a checklist, a prompt, a report."""

MOST_PIPED_BYTES: Final = 1024**3
"""The most bytes that are read from a pipe, whose size is not known beforehand."""

ALWAYS_INFLATED: Final = 256 * 1024**2
MOST_GROWTH: Final = 200
"""Compressed data may grow to :data:`ALWAYS_INFLATED` bytes, and beyond that to this multiple of their size."""

_OPENED = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path in which ``~`` is replaced by the user's folder; that of an unknown user stays as written."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def is_opened(path: Path) -> bool:
    """Return whether a path is one that the shell opened for this process, whose name says no format.

    >>> is_opened(Path("/dev/fd/63")), is_opened(Path("rows.jsonl"))
    (True, False)
    """
    return path.as_posix().startswith(_OPENED)


def cache_folder() -> Path:
    """Return ``EVENHAND_CACHE_DIR``, or without it evenhand's folder in the user's cache directory."""
    folder = os.environ.get("EVENHAND_CACHE_DIR")
    return expanded(folder) if folder else platformdirs.user_cache_path("evenhand")


def open_file(path: Path) -> BinaryIO:
    """Open a file to read it.

    Raises:
        OSError: If it cannot be opened, or is neither a regular file nor a pipe that the shell has opened.
    """
    try:
        _check_kind(path, path.stat().st_mode)
        wait = 0 if is_opened(path) else getattr(os, "O_NONBLOCK", 0)  # what is put in its place meanwhile
        descriptor = os.open(path, os.O_RDONLY | wait | getattr(os, "O_BINARY", 0))
    except ValueError as error:
        raise OSError(errno.EINVAL, "its name holds a NUL") from error
    try:
        _check_kind(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and is_opened(path)):
        return
    kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    raise OSError(errno.EINVAL, f"it is {kind}, and only regular files and the shell's own pipes are read")


def read_bytes(path: Path, most: int | None = MOST_BYTES) -> bytes:
    """Read a file.

    Args:
        path: The file.
        most: The most bytes it may hold; None for any number, or for a pipe :data:`MOST_PIPED_BYTES`.

    Raises:
        OSError: If it cannot be read, or holds more.
    """
    with open_file(path) as file:
        if most is None and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            most = MOST_PIPED_BYTES
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"it holds more than {most // 1024**2} MiB, the most that is read")
    return data


def check_layout(name: str | os.PathLike[str], kind: str, found: object, accepted: int) -> None:
    """Refuse a file of another format than the one that is read.

    Args:
        name: The file.
        kind: The kind of the file, such as ``a saved result``.
        found: The number of its format.
        accepted: The number of the format that is read.

    Raises:
        InvalidInputError: If the two differ.
    """
    if found != accepted:
        raise InvalidInputError(
            f"{str(name)!r} is {kind} of the format {found!r}. Accepted: {accepted!r}. Write it again with this "
            "version of evenhand, or read it with the version that wrote it"
        )


def check_growth(packed: int, inflated: int) -> None:
    """Check that decompressed data are not far larger than data usually are.

    Raises:
        OSError: If they are.
    """
    if inflated > max(ALWAYS_INFLATED, MOST_GROWTH * packed):
        raise OSError(
            errno.EFBIG,
            f"its {packed} bytes grow to more than {inflated // 1024**2} MiB, over {MOST_GROWTH} times their size: if "
            "that is right, decompress it first",
        )


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """Open a temporary file next to a path, and move it there when all is written; until then the old file stays.

    A link leads to the file that is replaced, and a file that was there keeps its permissions.

    Raises:
        InvalidInputError: If no file can have this name.
        UnwritableFileError: If the file cannot be written, as on a full disk.
    """
    path = check_path(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{token_hex(8)}")
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666))
        try:
            yield temporary
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UnwritableFileError(
            f"{str(path)!r} cannot be written ({error.strerror or error}), and what was there is as it was; mend that, "
            "or give another path"
        ) from error


def write_texts(path: str | Path, texts: Iterable[str]) -> None:
    """Write texts one after the other, whole or not at all: see :func:`written_whole`."""
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(texts)


def check_path(path: str | Path) -> Path:
    """Return a path, after checking that it is one.

    Raises:
        InvalidInputError: If no file can have this name.
    """
    given: object = path
    if not isinstance(given, (str, Path)) or not str(given) or "\0" in str(given):
        raise InvalidInputError(f"{path!r} is not the path of a file; give a str or pathlib.Path")
    return Path(path)


def check_ending(path: str | Path, accepted: Collection[str]) -> str:
    """Return the ending of a path, after checking that it is accepted.

    Raises:
        InvalidInputError: If its ending says none of the formats accepted.
    """
    suffix = check_path(path).suffix.lower()
    if suffix not in accepted:
        raise InvalidInputError(
            f"{str(path)!r} ends in {Path(path).suffix!r}. Accepted: {', '.join(map(repr, accepted))}"
        )
    return suffix


def write_as_it_ends(path: str | Path, written: Mapping[str, Callable[[], str]]) -> None:
    """Write a text in the format that the path's ending says.

    Args:
        path: The file.
        written: Ending -> what makes the text.

    Raises:
        InvalidInputError: If the name ends otherwise.
        UnwritableFileError: If the file cannot be written.
    """
    text = written[check_ending(path, written)]
    write_texts(path, [text(), "\n"])


def check_out(given: str | Path | None, read: Iterable[str], flag: str = "--out") -> Path | None:
    """Check before the first call that the result can be written, and that its file is not an input.

    Args:
        given: Where.
        read: The files that the run reads.
        flag: The name of the flag.

    Raises:
        InvalidInputError: If it is a folder, lies in none, cannot be written, or is a file that the run reads.
    """
    if given is None:
        return None
    out = expanded(check_path(given))
    try:
        if out.exists() and not (out.is_file() and os.access(out, os.W_OK)):
            raise InvalidInputError(f"{flag} is {str(out)!r}, which is not a file that may be written")
        target = out.resolve()  # where a link leads
        part = target.with_name(f".{target.name}.{os.getpid()}")  # made and removed, as saving does
        part.touch()
        part.unlink()
    except OSError as error:
        raise InvalidInputError(
            f"{flag} is {str(out)!r}, which cannot be written ({error.strerror}); give another path"
        ) from error
    for name in read:
        if _is_same(out, expanded(name)):
            raise InvalidInputError(f"{flag} is {str(out)!r}, the same file as the input {name!r}; give another path")
    return out


def _is_same(out: Path, path: Path) -> bool:
    try:
        return out.resolve() == path.resolve() or out.samefile(path)
    except (OSError, ValueError):  # one of them is not there, or a text that names no file
        return False
