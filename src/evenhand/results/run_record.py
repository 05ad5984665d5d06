"""The run that made a result, as a run file says it: what ``evenhand run`` reads, every result keeps, and files hold.

Paths in it are absolute in memory, relative to the file that holds it on disk: a folder that is moved or mailed as a
whole is run again where it lies. What no file can say (rows in memory, an engine that is an object) and what looks like
a key is left out, and named under ``left_out``.
"""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel

from evenhand.engines.base import Engine
from evenhand.engines.replies import redactor
from evenhand.files import expanded, is_opened
from evenhand.version import __version__

Function = TypeVar("Function", bound=Callable[..., Any])

JOBS: Final[Mapping[str, str]] = {
    "aggregate_votes": "aggregate",
    "agreement": "agree",
    "checklist": "checklist",
    "judge": "judge",
    "read_replies": "read",
    "reliability": "judge-report",
    "run_mode": "run-mode",
    "winrates": "compare",
}
"""Function of Python -> what the shell and run files call it."""

LEFT_OUT: Final = "left_out"
DEMO: Final = "demo"
"""What the data that ship with evenhand are called, where no file has this name."""

WRITTEN: Final = frozenset({"out", "report", "tables", "run_file", "stream_to"})
PATHS: Final = frozenset({"data", "journal", "examples"}) | WRITTEN
PATHS_OF_LABELS: Final = frozenset({"gold", "data"})
"""What names a file."""

REFERENCES: Final = frozenset({"criteria", "rubric", "checklist"})
"""What may name one."""

NOT_KEPT: Final = ("dry_run", "progress")
"""What changes no result."""


def remembers(function: Function) -> Function:
    """Make the result of a function know the run that made it."""

    @wraps(function)
    def remembered(*given: Any, **keyed: Any) -> Any:  # noqa: ANN401 - those of the function
        result = function(*given, **keyed)
        if hasattr(result, "run_file"):
            arguments = inspect.signature(remembered).bind(*given, **keyed).arguments
            said = {"data" if name == "dataset" else name: value for name, value in arguments.items()}
            object.__setattr__(result, "run_file", run_record(JOBS[function.__name__], said))
        return result

    return cast(Function, remembered)


def run_record(job: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a function was given, as the mapping of a run file with absolute paths."""
    said: dict[str, Any] = {"job": job}
    left_out, redacted = [], redactor()
    for name, value in given.items():
        if name in NOT_KEPT:
            continue
        try:
            several = name == "data" and isinstance(value, list | tuple)
            places = [_place(each) for each in value] if several else None
            said[name] = places or (_place(value) if name in PATHS and value is not None else _said(value, redacted))
        except TypeError:
            left_out.append(name)
    return absolute(said, Path.cwd()) | ({LEFT_OUT: left_out} if left_out else {})


def _said(value: object, redacted: Callable[[str], str]) -> Any:  # noqa: ANN401 - what a file can say
    """A value as a file says it.

    Raises:
        TypeError: If it cannot, or should not: it looks like a key.
    """
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, str) and redacted(value) != value:
        raise TypeError
    if value is None or type(value) in {str, bool, int, float}:
        return value
    if isinstance(value, BaseModel) and not isinstance(value, Engine):  # a run file names engines by text
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(_said(key, redacted)): _said(each, redacted) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_said(each, redacted) for each in value]
    if isinstance(value, type) and value.__module__ != "__main__":
        return f"{value.__module__}:{value.__qualname__}"
    raise TypeError


def _place(value: object) -> str:
    """The path of a file.

    Raises:
        TypeError: If it is none: rows in memory, or a pipe, which is read once.
    """
    if not isinstance(value, str | Path) or is_opened(Path(value)):
        raise TypeError
    return str(value)


def absolute(run: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A run whose paths are relative to a folder, with absolute ones."""

    def of_path(text: str) -> str:
        return os.path.abspath(folder / expanded(text))  # noqa: PTH100 - links stay as they are

    def of_reference(text: str) -> str:
        try:
            return of_path(text) if (folder / expanded(text)).is_file() else text
        except (OSError, ValueError):  # a sentence too long for a name
            return text

    return _with_paths(run, folder, of_path, of_reference)


def relative(run: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A run with paths relative to a folder, where they have more in common with it than the root."""
    base = os.path.abspath(folder)  # noqa: PTH100 - as above

    def of_path(text: str) -> str:
        if not Path(text).is_absolute():
            return text
        try:
            shared = os.path.commonpath([base, text])
        except ValueError:  # on another drive
            return text
        return Path(os.path.relpath(text, base)).as_posix() if shared != Path(base).anchor else text

    return _with_paths(run, folder, of_path, of_path)


def _with_paths(
    run: Mapping[str, Any],
    folder: Path,
    of_path: Callable[[str], str],
    of_reference: Callable[[str], str],
    paths: frozenset[str] = PATHS,
) -> dict[str, Any]:
    found = dict(run)
    for name in found.keys() & (paths | REFERENCES):
        change, value = of_path if name in paths else of_reference, found[name]
        if isinstance(value, str) and not _is_no_path(name, value, folder):
            found[name] = change(value)
        elif name in {*REFERENCES, "data"} and isinstance(value, list | tuple):
            found[name] = [change(each) if isinstance(each, str) else each for each in value]
    if isinstance(found.get("labels"), Mapping):
        found["labels"] = _with_paths(found["labels"], folder, of_path, of_reference, PATHS_OF_LABELS)
    return found


def _is_no_path(name: str, value: str, folder: Path) -> bool:
    if name == "journal":
        return value == "default"
    return name == "data" and (is_opened(Path(value)) or (value == DEMO and not (folder / value).exists()))


def run_yaml(run: Mapping[str, Any], folder: Path) -> str:
    """A run as the text of a run file that lies in a folder."""
    text = yaml_text({name: value for name, value in relative(run, folder).items() if name != LEFT_OUT})
    why = "left out, as no file can say it, or it may be secret; give it here"
    left_out = "".join(f"# {name}: {why}\n" for name in run.get(LEFT_OUT, ()))
    return f"# Written by evenhand {__version__}; evenhand run FILE runs it again.\n{left_out}{text}"


def write_run(path: str | Path, run: Mapping[str, Any]) -> None:
    """Write a run file.

    Raises:
        UnwritableFileError: If it cannot be written.
    """
    from evenhand.results.saved import check_path, written_whole  # noqa: PLC0415 - what is only read needs no writer

    with written_whole(path) as beside:
        beside.write_text(run_yaml(run, check_path(path).parent), encoding="utf-8")


def yaml_text(data: Mapping[str, Any]) -> str:
    """Plain data as YAML; what is in a list or mapping of values alone stands in one line, where it fits into one."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only where YAML is written

    text = io.StringIO()
    for name, value in data.items():
        yaml = YAML(pure=True)
        yaml.default_flow_style = None if isinstance(value, Mapping | list) else False
        yaml.width = 120
        yaml.dump({name: value}, text)
    return text.getvalue()
