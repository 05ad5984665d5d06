"""The options of the shell, made of what the Python functions declare: signatures, docstrings and option models."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import or_
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from cyclopts import Group, Parameter, Token
from pydantic.fields import FieldInfo

from evenhand.data.plain import read_text
from evenhand.errors import InvalidInputError
from evenhand.files import expanded
from evenhand.options import FunctionArguments, Options, RunOptions, kinds_of, literal_choices, option, refusal

Words = tuple[str, ...]
KINDS: Mapping[str, Any] = {
    "bool": bool,
    "int": int,
    "str": str,
    "Mapping[str, str]": Mapping[str, str],
    "Mapping[str, Any]": Mapping[str, str],
    "Sequence[float]": tuple[float, ...],
    "Sequence[str]": Words,
}
"""The types of parameters that the shell knows; None is what is not given."""


def declared(kind: Any, default: Any = None, sentence: str = "") -> FieldInfo:  # noqa: ANN401 - of any type
    """An option that no model declares; without a sentence, the docstring of its function has one."""
    return FieldInfo.from_annotated_attribute(kind, option(default, sentence))


SPELLED: Mapping[str, tuple[object, str]] = {
    "checklist": (str, "A catalog id, or the YAML or JSON file of a checklist."),
    "criteria": (str, "A catalog id, the JSON or YAML file of a criterion, or a plain sentence."),
    "dry_run": (bool, "Print calls, tokens and cost without a call."),
    "engine": (
        Words,
        "The judge, or several: a model as openai/gpt-4.1-mini, a server's address with --model, or a catalog id.",
    ),
    "mode": (str, "The kind of a mode, or MODULE:CLASS of one of your own."),
    "length_penalty": (
        Mapping[str, float],
        "What a response that is too long loses, as free_budget=300 max_cap=600 penalty_at_cap=0.5.",
    ),
    "num_examples": (int, ""),
    "split": (str, "Which split of a saved Hugging Face data set."),
}
"""What the shell takes where Python takes any object, or says in its own words: type and sentence."""

ADDED_UP = frozenset({"require", "format"})
"""Options that may be given several times."""

PAIRS: Mapping[str, tuple[str, str]] = {
    "gold_fields": ("CRITERION=COLUMN", "relevance=gold_relevance"),
    "label_fields": ("CRITERION=COLUMN", "relevance=gold_relevance"),
    "length_penalty": ("FIELD=VALUE", "free_budget=300"),
}
"""What the pairs of an option are of, and an example."""

METAVARS: Mapping[str, str] = {
    **dict.fromkeys(("checklist", "criteria", "engine", "rubric"), "ID"),
    **dict.fromkeys(("context_fields", "gold_fields", "group_fields", "response_fields", "votes"), "COLUMN"),
    "data_classification": "CLASS",
    **dict.fromkeys(("config", "examples", "out", "report", "run_file", "tables"), "FILE"),
    **dict.fromkeys(("guidelines", "prompt"), "TEXT|FILE"),
}
"""What a text is."""

_ASSESSMENT = Group("What the judge is shown, and how a rubric is judged", sort_key=1)
GROUPS: Mapping[str, Group] = {
    "AssessmentOptions": _ASSESSMENT,
    "ExampleOptions": _ASSESSMENT,
    "PairwiseOptions": Group("How to compare", sort_key=1),
    "ChecklistOptions": Group("How to check", sort_key=1),
    "JobOptions": Group("How much, what else is written, and what must hold", sort_key=3),
    "PlanOptions": Group("What to plan for, and what is assumed without a pilot", sort_key=1),
    "RecordedOptions": Group("How intervals are made", sort_key=1),
}
HOW = Group("How to judge", sort_key=2)
"""Where the help shows the options of a model."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A function as it is declared.

    Attributes:
        doc: Its docstring: the first sentence, and what its parameters are.
        own: Its parameters; what has no default is required.
        models: The models of its further options.
    """

    doc: str
    own: Mapping[str, FieldInfo]
    models: tuple[type[Options], ...]

    @property
    def sentences(self) -> dict[str, str]:
        """Parameter -> what its docstring says of it, without markup."""
        lines = (line.strip().partition(": ") for line in self.doc.partition("\nArgs:\n")[2].splitlines())
        return {
            name: re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"\1", text).replace("``", "") for name, _, text in lines if text
        }

    @classmethod
    @cache
    def of(cls, name: str) -> Declared:
        """The function of this name."""
        from evenhand.by_name import FUNCTIONS  # noqa: PLC0415 - seconds of import, which no help of all verbs needs

        function = FUNCTIONS[name]
        model: type[Options] = function.option_model  # type: ignore[attr-defined] # as takes sets it
        parameters = inspect.signature(function).parameters
        text = inspect.getdoc(function) or ""
        summary, arguments = text.partition("\n\n")[0], re.sub(r"\n {8}", " ", text.partition("\nArgs:\n")[2])
        own = {name: _own(each) for name, each in parameters.items() if name not in model.model_fields}
        models: tuple[type[Options], ...] = (model,)
        if model in get_args(FunctionArguments):  # what the model declares itself is the function's own
            own |= {name: _spelled(name, model.model_fields[name]) for name in vars(model)["__annotations__"]}
            models = model.__bases__[::-1]
        return cls(doc=f"{summary}\n\nArgs:\n{arguments}", own=own, models=models)


def _own(parameter: inspect.Parameter) -> FieldInfo:
    """A parameter as the shell takes it; one that is an option of runs is declared there."""
    name, value = parameter.name, ... if parameter.default is parameter.empty else parameter.default
    if name in RunOptions.model_fields:
        return RunOptions.model_fields[name]
    kinds = [KINDS[each] for each in str(parameter.annotation).split(" | ") if each in KINDS]
    kind, sentence = SPELLED.get(name, (reduce(or_, kinds) if kinds else str, ""))
    return declared(kind, value, sentence)


def model_options(model: type[Options], names: Collection[str]) -> Iterator[inspect.Parameter]:
    """One option of the shell for each of a model."""
    for name, info in model.model_fields.items():
        owner = next(each for each in model.__mro__ if name in vars(each).get("__annotations__", {}))
        usual = HOW if issubclass(model, RunOptions) else GROUPS.get(model.__name__, HOW)
        yield shell_option(name, _spelled(name, info), names, group=GROUPS.get(owner.__name__, usual))


def _spelled(name: str, info: FieldInfo) -> FieldInfo:
    """An option as the shell takes it."""
    if name not in SPELLED:
        return info
    kind, sentence = SPELLED[name]
    return declared(kind, info.default, sentence or info.description or "")


def shell_option(
    name: str, info: FieldInfo, names: Collection[str], *, required: bool = False, group: Group | None = None
) -> inspect.Parameter:
    """A declared option as cyclopts takes it.

    Args:
        name: In Python.
        info: What is declared.
        names: Of all options, in Python.
        required: It must be given.
        group: Where the help shows it.
    """
    kinds = kinds_of(info.annotation)
    several = any(get_origin(kind) in {tuple, Mapping} for kind in kinds)
    settings: dict[str, Any] = {
        "name": flag_of(name),
        "help": _sentence(info, names),
        "group": group,
        "allow_repeating": True,
        "show_default": _shown(info.default),
    }
    if flag := set(kinds) <= {bool, NoneType}:
        settings["negative"] = None if group else ()  # those of functions are False where they are not given
    else:
        settings["converter"] = partial(_last_given, name, info)
        settings["metavar"] = _metavar(name, info)
        settings["n_tokens"] = -1 if several else 1
        settings["consume_multiple"] = (1, None) if several else None
    kind: Any = bool | None if flag else object
    if name in ADDED_UP:
        kind, keep = Words | None, ("name", "help", "group", "metavar")
        settings = {**{key: settings[key] for key in keep}, "negative": ()}
    default = inspect.Parameter.empty if required else None if info.is_required() else info.default
    given = {key: value for key, value in settings.items() if value is not None}
    annotation = Annotated[kind, Parameter(**given)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def flag_of(name: str) -> str:
    """Return the name of an option in the shell.

    >>> flag_of("response_fields")
    '--response-fields'
    """
    return f"--{name.replace('_', '-')}"


def plain(text: str, names: Collection[str]) -> str:
    """A docstring without its markup, with options under their names in the shell.

    >>> plain("As ``gold_fields`` say; see :class:`~evenhand.options.RunOptions`.", ["gold_fields"])
    'As --gold-fields say; see RunOptions.'
    """
    text = re.sub(r":\w+:`(?:~[\w.]*\.)?([\w.]+)`", r"\1", text)
    text = re.sub(r"``(\w+)``", lambda found: flag_of(found[1]) if found[1] in names else found[1], text)
    return text.replace("``", "")


def _sentence(info: FieldInfo, names: Collection[str]) -> str | None:
    """What an option does, with all that it chooses among; None where the docstring of the function says it."""
    sentence = info.description or ""
    choices = [f"``{choice}``" for choice in literal_choices(info.annotation)]
    if not all(choice in sentence for choice in choices):
        sentence = f"{sentence} One of {', '.join(choices)}."
    return plain(sentence, names) or None


def _shown(default: object) -> str | bool:
    """A default as the help shows it; False and nothing go without saying."""
    return False if default is None or default is False or default == "" else "yes" if default is True else str(default)


def _metavar(name: str, info: FieldInfo) -> str:
    text = "COLUMN" if name.endswith("_field") else METAVARS.get(name, "TEXT")
    named: Mapping[object, str] = {bool: "true|false", int: "N", float: "NUMBER", str: text, NoneType: "none"}
    words: list[str] = []
    for kind in kinds_of(info.annotation):
        if get_origin(kind) is Mapping:
            words.append(PAIRS.get(name, ("NAME=VALUE",))[0])
        elif literal_choices(kind):
            words.append("NAME")
        else:
            words += [named[each] for each in (get_args(kind) or (kind,)) if each in named]
    return "|".join(dict.fromkeys(words)) or text


def _last_given(name: str, info: FieldInfo, _: object, tokens: Sequence[Token]) -> object:
    """The value of an option; given again, it replaces what was given before."""
    first = max(place for place, token in enumerate(tokens) if token.index == 0)
    return value_of(name, info, [token.value for token in tokens[first:]])


def value_of(name: str, info: FieldInfo, words: Sequence[str]) -> object:
    """Words as a value of an option.

    Raises:
        InvalidInputError: If they are none.
    """
    kinds = kinds_of(info.annotation)
    element, mapped = _inner(kinds, tuple), _inner(kinds, Mapping)
    if mapped is not None and (element is str or str not in kinds or len(words) > 1 or "=" in words[0]):
        return _pairs(name, words, mapped, bare=element is str)
    if element is str:
        return words[0] if len(words) == 1 and str in kinds else list(words)
    return _read(name, words[0], info) if element is None else [_read(name, word, info) for word in words]


def _inner(kinds: Collection[object], container: type) -> object:
    """What a container that an option may be holds; None where it may be none."""
    return next((get_args(kind)[container is Mapping] for kind in kinds if get_origin(kind) is container), None)


def _pairs(name: str, words: Sequence[str], kind: object, *, bare: bool) -> dict[str, str | float]:
    """``NAME=VALUE`` texts as a mapping; a bare ``NAME`` names itself where that is allowed."""
    flag, pairs = flag_of(name), dict[str, str | float]()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals and not bare:
            if name in PAIRS:
                raise InvalidInputError(f"{flag} is {word!r}; accepted: {', as '.join(PAIRS[name])}")
            raise InvalidInputError(f"{flag} is {list(words)!r}; give one value, or NAME=VALUE several times")
        try:
            number = kind is float and key != "sections"  # of a length penalty's fields the one that is a text
            pairs[key] = float(value) if number else value if equals else key
        except ValueError as error:
            raise InvalidInputError(f"{flag} is {word!r}; {value!r} is not a number") from error
    return pairs


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
    if {str, Any} & {*kinds} or literal_choices(info.annotation):
        return text_or_file(flag_of(name), text) if METAVARS.get(name) == "TEXT|FILE" else text
    refused, give, accepted = refusal(flag_of(name), text, info).rpartition("; give ")
    raise InvalidInputError(refused + give + accepted.replace("None", "'none'"))


def text_or_file(flag: str, given: str, folder: Path = Path()) -> str:
    """What is given, or the text of the file that it names, in this folder if its path is relative.

    Raises:
        InvalidInputError: If it looks like the name of a file that is not there, or cannot be read.
    """
    try:
        named = (folder / expanded(given)).exists()
    except OSError:  # a text too long for a file's name
        named = False
    if not named:
        if _FILE_NAME.fullmatch(given):
            raise InvalidInputError(
                f"{flag} is {given!r}, which looks like the name of a file that is not there; give the text itself, or "
                "the path of a file that holds it"
            )
        return given
    return read_text(folder / expanded(given), f"the file {given!r}")


_FILE_NAME = re.compile(r"\S+\.(txt|md|j2|jinja2?|json|ya?ml)|[~.]{0,2}/\S+", re.IGNORECASE)
