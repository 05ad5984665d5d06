"""The options of a model as flags of the shell: cyclopts collects words, which become values that the model checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_args, get_origin

from cyclopts import Parameter
from pydantic import BaseModel, PlainValidator, create_model
from pydantic.fields import FieldInfo

from evenhand.options import Options, kinds_of, literal_choices
from evenhand.run_files import TEXTS, Job, RunFile, text_or_file

Model = TypeVar("Model", bound=Options)

ONE_EACH: Final = ("require", "format")
"""Options that take one word, and may be given several times."""


def flags_of(model: type[Options]) -> object:
    """Return the type of a parameter that takes the options of a model as flags, for cyclopts and pydantic."""
    return Annotated[words_of(model), Parameter(name="*"), PlainValidator(partial(options_of_words, model))]


if TYPE_CHECKING:
    Flags = Annotated[Model | None, "flags"]
else:

    class Flags:
        """``Flags[Model]``: the same as an annotation; None if no flag is given."""

        __class_getitem__ = staticmethod(flags_of)


def options_of_words(model: type[Model], words: Mapping[str, object]) -> Options:
    """Return the options that the words of the shell set; those of a job also by the environment and a run file."""
    given = {name: value_of(name, model.model_fields[name], value) for name, value in words.items()}
    if not issubclass(model, Job):
        return model(**given)
    config = given.pop("config", None)
    return model.settled(given, None if config is None else RunFile.read(str(config)))


def words_of(model: type[Options]) -> type[BaseModel]:
    """Return a model with the same options, whose values are the words of the shell."""
    skipped: Collection[str] = getattr(model, "not_flags", ())
    fields: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if name in skipped:
            continue
        kinds = kinds_of(info.annotation)
        several = Any in kinds or any(get_origin(kind) in {tuple, Mapping} for kind in kinds)
        kind: Any = bool if {*kinds} <= {bool, NoneType} else list[str] if several else str
        words = (1, None) if kind == list[str] and name not in ONE_EACH else False
        how = Parameter(
            help=help_of(info), consume_multiple=words, negative_bool="no-", metavar=None if kind is bool else "VALUE"
        )
        fields[name] = (Annotated[kind | None, how], None)
    return create_model(f"{model.__name__}Words", **fields)


def flag_of(name: str) -> str:
    """Return the name of an option in the shell.

    >>> flag_of("response_fields")
    '--response-fields'
    """
    return f"--{name.replace('_', '-')}"


def help_of(info: FieldInfo) -> str:
    """Return the sentence of an option without markup, with its choices and default."""
    text = re.sub(r":\w+:`(?:~[\w.]*\.)?([\w.]+)`", r"\1", info.description or "").replace("``", "")
    choices = literal_choices(info.annotation)
    if not all(choice in text for choice in choices):
        text += f" One of {', '.join(choices)}."
    shown = info.default not in {None, False, ""} if isinstance(info.default, (str, int, float, type(None))) else False
    return f"{text} [default: {info.default}]" if shown else text


def value_of(name: str, info: FieldInfo, given: object) -> object:
    """Return the words of the shell as a value of an option; the model refuses what is none.

    >>> from evenhand.options import JudgeArguments as Judge
    >>> value_of("samples", Judge.model_fields["samples"], "3")
    3
    >>> value_of("gold_fields", Judge.model_fields["gold_fields"], ["relevance=label"])
    {'relevance': 'label'}
    """
    if not isinstance(given, str | list):  # a flag
        return given
    words = [given] if isinstance(given, str) else given
    kinds = kinds_of(info.annotation)
    of_mapping: Any = next((get_args(kind)[1] for kind in kinds if get_origin(kind) is Mapping), None)
    of_mapping = Any if name == "length_penalty" else of_mapping
    of_tuple = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple), None)
    if of_mapping is not None and (all("=" in word for word in words) or (of_tuple and any("=" in w for w in words))):
        pairs = {key: value if equals else key for key, equals, value in (word.partition("=") for word in words)}
        return {key: scalar(value, (float,) if of_mapping is Any else (of_mapping,)) for key, value in pairs.items()}
    values = [scalar(word, kinds if of_tuple is None else (*kinds, of_tuple)) for word in words]
    one = len(values) == 1 and (of_tuple is None or str in kinds or values == [None])
    value = values[0] if one else values
    return text_or_file(flag_of(name), value) if name in TEXTS and isinstance(value, str) else value


def scalar(word: str, kinds: Collection[object]) -> object:
    """Return a word as the first of the types that it can be; else the word.

    >>> scalar("none", (int, NoneType)), scalar("0.5", (bool, float)), scalar("true", (bool,)), scalar("x", (int,))
    (None, 0.5, True, 'x')
    """
    named: dict[str, object] = {}
    if bool in kinds:
        named |= {"true": True, "false": False}
    if Literal[False] in kinds:
        named |= {"none": False, "false": False}
    if NoneType in kinds:
        named.setdefault("none", None)
    if word in named:
        return named[word]
    readers: list[Callable[[str], object]] = [kind for kind in (int, float) if kind in kinds]
    for reader in readers:
        try:
            return reader(word)
        except ValueError:
            continue
    return word
