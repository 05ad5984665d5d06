"""Options that several verbs share."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from evenhand.checked_options import Options, kinds_of, literal_choices, refusal
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_cost
from evenhand.run_options import RunOptions

if TYPE_CHECKING:
    from evenhand.judging.estimate import RunEstimate


def add_verb(verbs: Any, name: str, summary: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse keeps the type private
    """A verb's parser, which knows what to run."""
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    verb.set_defaults(run=run)
    return verb


def add_data_options(
    verb: argparse.ArgumentParser, *, judges: str = "several form a panel", written: str = "as JSONL"
) -> None:
    """What is judged by whom, and where the result goes."""
    verb.add_argument("data", metavar="DATA", help="a .jsonl, .csv or .parquet file, or a saved Hugging Face data set")
    verb.add_argument("--engine", required=True, nargs="+", metavar="ID", help=f"the judge; {judges}")
    verb.add_argument("--context", nargs="+", metavar="COLUMN", help="context columns, or NAME=COLUMN")
    verb.add_argument("--reference", metavar="COLUMN", help="the column with a known good answer")
    verb.add_argument("--split", help="which split of a saved Hugging Face data set")
    verb.add_argument("--out", type=Path, metavar="FILE", help=f"write the result there {written}")
    verb.add_argument("--dry-run", action="store_true", help="print calls, tokens and cost without a call")


def add_as_index(verb: argparse.ArgumentParser) -> None:
    """How numbers among labels are read."""
    verb.add_argument(
        "--as-index",
        action="store_true",
        help="labels that are numbers are places of options, 0 for the first (default: values of options)",
    )


def check_out(options: argparse.Namespace) -> None:
    """Check before the first call that the result can be written, and over nothing that the user gave.

    Raises:
        InvalidInputError: If ``--out`` is a folder, lies in none, or is a file that the run reads.
    """
    out: Path | None = options.out
    if out is None:
        return
    if out.is_dir():
        raise InvalidInputError(f"--out is {str(out)!r}, which is a folder; name a file in it")
    folder = out.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"--out is {str(out)!r}, but its folder does not exist; create it first")
    if not os.access(out if out.exists() else folder, os.W_OK):
        raise InvalidInputError(f"--out is {str(out)!r}, which may not be written; give another path")
    for given in (options.data, getattr(options, "journal", ""), *_files_read(options)):
        path = Path(given).expanduser()
        if out.exists() and path.exists() and out.samefile(path):
            raise InvalidInputError(f"--out is {str(out)!r}, the same file as the input {given!r}; give another path")


def _files_read(options: argparse.Namespace) -> list[str]:
    """What is judged and what is shown first, which may be files."""
    named = [getattr(options, name, None) for name in ("criteria", "rubric", "checklist", "examples")]
    return [each for given in named if given is not None for each in ([given] if isinstance(given, str) else given)]


SHORT: Mapping[str, tuple[str, ...]] = {"cluster_field": ("--cluster",)}
"""Other names of options."""


def add_run_options(verb: argparse.ArgumentParser) -> None:
    """The options of a run, under the names that the Python functions give them."""
    add_options(verb.add_argument_group("how to judge"), RunOptions)


def run_options(options: argparse.Namespace) -> dict[str, Any]:
    """The run's options that were given, as the Python functions take them."""
    given = given_options(options, RunOptions)
    return {**given, "prompt": text_or_file(given["prompt"])} if "prompt" in given else given


def add_options(group: argparse._ActionsContainer, model: type[Options]) -> None:
    """One option of the shell for each of a model; what is not given is not in the namespace."""
    for name, info in model.model_fields.items():
        flag = f"--{name.replace('_', '-')}"
        text = f"{_plain(info.description or '')} [{_shown(info.default)}]".replace("%", "%%")
        if set(kinds_of(info.annotation)) <= {bool, NoneType}:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
        else:
            several = _several(info)
            group.add_argument(
                flag,
                *SHORT.get(name, ()),
                nargs="+" if several else None,
                default=argparse.SUPPRESS,
                help=text,
                metavar=_metavar(info),
            )


def given_options(options: argparse.Namespace, model: type[Options]) -> dict[str, Any]:
    """The options of a model that were given, as values of their types.

    Raises:
        InvalidInputError: If a text is no value of its option.
    """
    return {
        name: _value(name, getattr(options, name), info)
        for name, info in model.model_fields.items()
        if hasattr(options, name)
    }


def _value(name: str, given: Any, info: FieldInfo) -> Any:  # noqa: ANN401 - an option says its own type
    if isinstance(given, bool):
        return given
    if not isinstance(given, list):
        return _read(name, given, info)
    if any(get_origin(kind) is tuple for kind in kinds_of(info.annotation)):
        return [_read(name, text, info) for text in given]
    if len(given) == 1 and "=" not in given[0]:
        return _read(name, given[0], info)
    pairs = [text.partition("=") for text in given]
    if not all(equals for _, equals, _ in pairs):
        raise InvalidInputError(f"--{name.replace('_', '-')} is {given!r}; give one value, or NAME=VALUE several times")
    return {key: value for key, _, value in pairs}


def _read(name: str, text: str, info: FieldInfo) -> object:
    """A text as the first of the option's types that it is one of."""
    kinds = [get_args(kind)[0] if get_origin(kind) is tuple else kind for kind in kinds_of(info.annotation)]
    if Literal[False] in kinds and text in {"none", "false"}:
        return False
    if NoneType in kinds and text == "none":
        return None
    if bool in kinds and text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds or literal_choices(info.annotation):
        return text
    refused, give, accepted = refusal(f"--{name.replace('_', '-')}", text, info).rpartition("; give ")
    raise InvalidInputError(refused + give + accepted.replace("None", "'none'"))


def _several(info: FieldInfo) -> bool:
    return any(get_origin(kind) in {tuple, Mapping, dict} for kind in kinds_of(info.annotation))


def _metavar(info: FieldInfo) -> str:
    if choices := literal_choices(info.annotation):
        return "|".join(choices)
    kinds = kinds_of(info.annotation)
    named = {int: "N", float: "NUMBER", str: "TEXT", bool: "true|false"}
    words = [named[kind] for kind in (bool, int, float, str) if kind in kinds]
    words += ["NUMBER"] if any(get_origin(kind) is tuple for kind in kinds) else []
    words += ["NAME=VALUE"] if any(get_origin(kind) in {Mapping, dict} for kind in kinds) else []
    return "|".join([*words, *(["none"] if NoneType in kinds else [])])


def _plain(sentence: str) -> str:
    """A sentence of a docstring without its markup."""
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", sentence).replace("``", "")


def _shown(default: object) -> str:
    if default is None:
        return "none"
    return ("yes" if default else "no") if isinstance(default, bool) else str(default)


def text_or_file(given: str | None) -> str | None:
    """What is given, or the text of the file that it names."""
    try:
        named = given is not None and Path(given).expanduser().is_file()
    except OSError:  # a text too long for a file's name
        named = False
    return Path(str(given)).expanduser().read_text(encoding="utf-8") if named else given


def print_estimate(estimate: RunEstimate) -> None:
    """What ``--dry-run`` prints."""
    cost = "unknown (no price for this engine)" if estimate.cost is None else format_cost(estimate.cost)
    print(f"votes: {estimate.votes}")
    print(f"calls: {estimate.calls} (and {estimate.cached} answered by the journal), re-asks and retries not counted")
    print(f"tokens: about {estimate.prompt_tokens} in and {estimate.completion_tokens} out")
    print(f"cost: {cost}")


def system_names(words: Sequence[str] | None, known: Collection[str]) -> list[str] | None:
    """The systems that are named: a word is split at its commas, unless it is a name as it stands.

    >>> system_names(["gpt,llama", "a, b"], {"gpt", "llama", "a, b"})
    ['gpt', 'llama', 'a, b']
    """
    if words is None:
        return None
    names = [name for word in words for name in ([word] if word in known else word.split(","))]
    return [name.strip() if name not in known else name for name in names if name.strip()]


def column_pairs(given: Sequence[str] | None, option: str, *, bare: bool) -> dict[str, str] | None:
    """``NAME=COLUMN`` texts as a mapping; a bare ``COLUMN`` names itself where that is allowed."""
    if given is None:
        return None
    pairs = {}
    for text in given:
        name, equals, column = text.partition("=")
        if not equals and not bare:
            raise InvalidInputError(f"{option} is {text!r}; accepted: CRITERION=COLUMN, as relevance=gold_relevance")
        pairs[name] = column if equals else name
    return pairs
