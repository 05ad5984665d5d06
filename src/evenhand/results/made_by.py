"""The origin of a result: the judges, prompts and options that made it, and the run that makes it again.

The parameters of a result hold digits that stand for the judges, the prompts and what was shown of each row, computed
when judges are asked (:mod:`evenhand.judging.run`). The names of the models are those that the replies
bring; the options are the parameters themselves.

Paths in the record of a run are absolute in memory, and relative to the file that holds it on disk: a folder that is
moved or mailed as a whole is run again where it lies. What no file can say (rows in memory, an engine that is an
object) and what looks like a key is left out, and named under ``left_out``.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from ruamel.yaml import YAML

from evenhand.criteria import Criterion, Rubric
from evenhand.engines.base import Engine
from evenhand.engines.replies import redact
from evenhand.files import check_path, expanded, is_opened, write_texts
from evenhand.options import IntervalOptions, Seeded, VoteFields
from evenhand.version import __version__

LIMITS: Final = ("max_calls", "max_cost")
"""The limits of a run; results repeat those that were given."""

DIGITS: Final = 8
"""The number of digits per row."""

NOTHING: Final = "." * DIGITS
"""In place of a row without shown texts."""

NOT_OPTIONS: Final = frozenset(
    {"evenhand_version", "judges", "n", "ids", "groups", "group_fields", "fingerprint", "include_prompts_in_result"}
    | {"response_fields", "gold_fields", "votes", "replies", "criteria_given", "as_index", "resamples", "id_field"}
    | {*LIMITS, *IntervalOptions.model_fields, *Seeded.model_fields, *VoteFields.model_fields}
)
"""Parameters that say what was judged, how intervals are made or what was found, and not how judges are asked."""

_PLAIN: Final = json.JSONEncoder(sort_keys=True, default=str)


def digest(*parts: object, digits: int = 12) -> str:
    """Return hexadecimal digits that stand for these plain values.

    >>> digest("a", {"b": 1}) == digest("a", {"b": 1}), digest("a") == digest("b")
    (True, False)
    """
    text = _PLAIN.encode(parts)
    return blake2s(text.encode("utf-8", "surrogatepass"), digest_size=digits // 2).hexdigest()


@dataclass(frozen=True)
class Fingerprint:
    """The judges, prompts, criteria and options that made a result.

    Attributes:
        judges: The names of the judges.
        judge: Digits for all parameters of the engines: server, model, sampling; None for recorded votes.
        models: The models that the replies name, with versions if servers report them.
        prompts: Digits for the templates that were used, and the cases that are shown first; None for recorded votes.
        criteria: Digits for the criteria.
        options: The options by which judges were asked, and by which votes become scores.
        shown: System -> eight digits for each row, which stand for its response and the texts shown with it.
    """

    judges: tuple[str, ...]
    judge: str | None
    models: tuple[str, ...]
    prompts: str | None
    criteria: str
    options: Mapping[str, Any]
    shown: Mapping[str, str]

    @classmethod
    def of(cls, judged: Mapping[str, Any], parameters: Mapping[str, Any], models: Iterable[str]) -> Fingerprint:
        """Return the fingerprint of a result.

        Args:
            judged: The criteria and systems, as plain JSON.
            parameters: The parameters.
            models: The models as the replies name them.
        """
        held, flat = parameters.get("fingerprint", {}), dict(parameters)
        for name in ("grid", "flow"):
            flat |= flat.pop(name) if isinstance(flat.get(name), Mapping) else {}
        by = {name: value for name, value in judged.items() if name != "systems"}
        return cls(
            judges=tuple(parameters.get("judges") or parameters.get("votes") or ()),
            judge=held.get("judge"),
            models=tuple(sorted(models)),
            prompts=held.get("prompts"),
            criteria=digest(by),
            options={name: value for name, value in flat.items() if name not in NOT_OPTIONS},
            shown=held.get("shown", {}),
        )

    def shown_of(self, row: int, names: Sequence[str]) -> str | None:
        """Return the digits for the texts shown of a row; None if they are not known.

        Args:
            row: The row of the data.
            names: The systems; all if results know no systems.
        """
        chosen = [name for name in names if name in self.shown] or list(self.shown)
        digits = [self.shown[name][row * DIGITS : (row + 1) * DIGITS] for name in chosen]
        return "".join(digits) if any(each not in {NOTHING, ""} for each in digits) else None

    def changes(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the differences from another result: the judge, its version, prompts, criteria, options."""
        found = []
        one, two = (", ".join(each.judges) or "no judge" for each in (self, other))
        if one != two:
            found.append(f"judge ({one} → {two})")
        elif self.models and other.models and self.models != other.models:
            found.append(f"model behind the judge's name ({', '.join(self.models)} → {', '.join(other.models)})")
        elif self.judge and other.judge and self.judge != other.judge:
            found.append(f"settings of the judge {one} (server, model or sampling)")
        if self.prompts and other.prompts and self.prompts != other.prompts:
            found.append("prompts")
        if self.criteria != other.criteria:
            found.append("criteria")
        for name in dict.fromkeys([*self.options, *other.options]):
            before, after = self.options.get(name), other.options.get(name)
            if before != after:
                found.append(f"{name} ({before!r} → {after!r})")
        return tuple(found)


LEFT_OUT: Final = "left_out"
DEMO: Final = "demo"
"""The name of the data that ship with evenhand, unless a file has this name."""

PATHS: Final = frozenset({"data", "journal", "examples", "out", "report", "stream_to"})
"""The options that name a file."""

REFERENCES: Final = frozenset({"criteria", "checklist"})
"""The options that may name a file."""

NOT_KEPT: Final = ("dry_run", "progress", "out", "report", "format", "config")
"""The options that change no result, or name files that a second run would overwrite."""


def run_record(job: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function, as the mapping of a run file with absolute paths."""
    found: dict[str, Any] = {"job": job}
    left_out = []
    for name, value in given.items():
        if name in NOT_KEPT:
            continue
        try:
            found[name] = _path_text(value) if name in PATHS and value is not None else _plain_value(value)
        except TypeError:
            left_out.append(name)
    return absolute(found, Path.cwd()) | ({LEFT_OUT: left_out} if left_out else {})


def _path_text(value: object) -> str:
    """Return the path of a file as text.

    Raises:
        TypeError: If it is none: rows in memory, or a pipe, which is read once.
    """
    if not isinstance(value, str | Path) or is_opened(Path(value)):
        raise TypeError
    return str(value)


def _plain_value(value: object) -> Any:  # noqa: ANN401 - any plain value
    """Convert a value to plain data for a file.

    Raises:
        TypeError: If it cannot, or should not: it looks like a key.
    """
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, str) and redact(value) != value:
        raise TypeError
    if value is None or type(value) in {str, bool, int, float}:
        return value
    if isinstance(value, BaseModel) and not isinstance(value, Engine):  # a run file names engines by text
        is_judged = isinstance(value, Rubric | Criterion)  # as documents they have another default: see read_rubric
        return value.model_dump(mode="json", exclude_defaults=not is_judged)
    if isinstance(value, Mapping):
        return {str(_plain_value(key)): _plain_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(each) for each in value]
    raise TypeError


def absolute(run: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a run with absolute paths instead of paths relative to a folder."""

    def change(name: str, text: str) -> str:
        try:
            place = os.path.abspath(folder / expanded(text))  # noqa: PTH100 - links stay as they are
            return place if name in PATHS or Path(place).is_file() else text
        except (OSError, ValueError):  # a sentence too long for a name
            return text

    return _with_paths(run, folder, change)


def relative(run: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a run with paths relative to a folder, if they share more with it than the root."""
    base = os.path.abspath(folder)  # noqa: PTH100 - as above

    def change(_: str, text: str) -> str:
        try:
            shared = os.path.commonpath([base, text])
        except ValueError:  # a relative path, or one on another drive
            return text
        return Path(os.path.relpath(text, base)).as_posix() if shared != Path(base).anchor else text

    return _with_paths(run, folder, change)


def _with_paths(run: Mapping[str, Any], folder: Path, change: Callable[[str, str], str]) -> dict[str, Any]:
    """Return a run whose paths are changed by a function of the option's name and the path."""
    found = dict(run)
    for name in found.keys() & (PATHS | REFERENCES):
        value = found[name]
        if name in REFERENCES and isinstance(value, list | tuple):
            found[name] = [change(name, each) if isinstance(each, str) else each for each in value]
        elif isinstance(value, str) and not (
            (name == "journal" and value == "default")
            or (name == "data" and (is_opened(Path(value)) or (value == DEMO and not (folder / value).exists())))
        ):
            found[name] = change(name, value)
    return found


def run_yaml(run: Mapping[str, Any], folder: Path) -> str:
    """Return a run as the text of a run file in a folder."""
    text, yaml = io.StringIO(), YAML(pure=True)
    yaml.default_flow_style, yaml.width = False, 120
    yaml.dump({name: value for name, value in relative(run, folder).items() if name != LEFT_OUT}, text)
    why = "left out, as no file can say it, or it may be secret; give it here"
    left_out = "".join(f"# {name}: {why}\n" for name in run.get(LEFT_OUT, ()))
    return f"# Written by evenhand {__version__}; evenhand run FILE runs it again.\n{left_out}{text.getvalue()}"


def write_run(path: str | Path, run: Mapping[str, Any]) -> None:
    """Write a run file.

    Raises:
        UnwritableFileError: If it cannot be written.
    """
    write_texts(path, [run_yaml(run, check_path(path).parent)])
