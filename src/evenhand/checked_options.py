"""What a user sets, declared once: name, type, default, bounds and one sentence. Everything else is read from that."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from types import NoneType, UnionType
from typing import Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from evenhand.errors import InvalidInputError, did_you_mean

Part = TypeVar("Part", bound="Options")
Function = TypeVar("Function", bound=Callable[..., Any])


def option(default: Any, sentence: str, *, accepted: str = "", **bounds: Any) -> Any:  # noqa: ANN401 - as pydantic's Field
    """An option of an :class:`Options` model.

    Args:
        default: What holds when it is not given.
        sentence: What it does.
        accepted: What a refusal says is accepted, where the type and bounds do not say it well enough.
        **bounds: ``ge``, ``gt``, ``le``, ``lt``, as pydantic's ``Field`` takes them.
    """
    return Field(
        default, description=sentence, json_schema_extra={"accepted": accepted} if accepted else None, **bounds
    )


class Options(BaseModel):
    """Options that are checked once, when they are given, and never change.

    Raises:
        InvalidInputError: An option that does not exist, or a value that is not accepted; the message names it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - each option says its own type
        check_names(given, type(self).model_fields)
        try:
            super().__init__(**{name: _plain(value) for name, value in given.items()})
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
            raise InvalidInputError(refusal(name, given[name], type(self).model_fields[name])) from error

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """List the options in the docstring of their class."""
        cls.__doc__ = with_attributes(cls.__doc__, cls)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Name -> default."""
        return {name: info.default for name, info in cls.model_fields.items()}

    def part(self, kind: type[Part]) -> Part:
        """The options that ``kind``, one of the bases of this class, declares."""
        return kind(**{name: getattr(self, name) for name in kind.model_fields})

    def changed(self, **changes: Any) -> Self:  # noqa: ANN401 - as above
        """The same with other values, checked anew."""
        return type(self)(**{**self.given(), **changes})

    def given(self) -> dict[str, Any]:
        """Name -> value of every option."""
        return {name: getattr(self, name) for name in type(self).model_fields}


def takes(*models: type[Options]) -> Callable[[Function], Function]:
    """Make a function's ``**options`` the options of these models: in its signature, and for names that are neither.

    Calling it with a keyword that is neither a parameter nor an option raises
    :class:`~evenhand.errors.InvalidInputError` with the nearest name that is one.
    """

    def with_options(function: Function) -> Function:
        own = inspect.signature(function)
        named = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        options = {name: info for model in models for name, info in model.model_fields.items()}
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info.default, annotation=info.annotation)
            for name, info in options.items()
        ]
        known = [each.name for each in named] + list(options)

        @wraps(function)
        def checked(*given: Any, **keyed: Any) -> Any:  # noqa: ANN401 - those of the function
            check_names(keyed, known)
            return function(*given, **keyed)

        checked.__signature__ = own.replace(parameters=[*named, *keywords])  # type: ignore[attr-defined] # as inspect reads
        checked.option_models = models  # type: ignore[attr-defined] # for the shell
        return cast(Function, checked)

    return with_options


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """Check that every name is known.

    Raises:
        InvalidInputError: If one is not; the message names the nearest one that is.
    """
    for name in given:
        if name not in known:
            raise InvalidInputError(f"there is no option {name!r}. {did_you_mean(name, known)}")


def _plain(value: object) -> object:
    """A value as Python and an immutable option have it: no NumPy scalar, no list."""
    numpy = sys.modules.get("numpy")  # where it was not imported, nothing is of its kinds
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    return tuple(value) if isinstance(value, list) else value


def with_attributes(text: str | None, options: type[Options], left_out: Collection[str] = ()) -> str:
    """A docstring with a list of what the options are, but for those that are left out."""
    own, _, listed = (text or "").rstrip().partition("\n\n    Attributes:\n")
    sentences = [
        f"        {name}: {info.description}" for name, info in options.model_fields.items() if name not in left_out
    ]
    return "\n".join([own, "", "    Attributes:", *([listed] if listed else []), *sentences, ""])


def refusal(name: str, value: object, info: FieldInfo) -> str:
    """Why a value is no value of an option, and what is."""
    extra = info.json_schema_extra
    accepted = extra.get("accepted") if isinstance(extra, Mapping) else None
    choices = literal_choices(info.annotation)
    if accepted is None and choices:
        return f"{name} is {value!r}. {did_you_mean(value, choices)}"
    return f"{name} is {value!r}; give {accepted or _accepted(info)}"


def literal_choices(annotation: object) -> tuple[str, ...]:
    """The texts that an option chooses among; none where it is open.

    >>> literal_choices(Literal["a", "b"] | None)
    ('a', 'b')
    """
    if get_origin(annotation) is Literal:
        return tuple(choice for choice in get_args(annotation) if isinstance(choice, str))
    kinds = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()
    return tuple(choice for kind in kinds for choice in literal_choices(kind))


def kinds_of(annotation: object) -> tuple[object, ...]:
    """The types that a value may have, one by one.

    >>> kinds_of(int | None) == (int, NoneType)
    True
    """
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)


_NAMED: Mapping[object, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    NoneType: "None",
}


def _accepted(info: FieldInfo) -> str:
    kinds = kinds_of(info.annotation)
    names = [_NAMED[kind] for kind in kinds if kind in _NAMED]
    names += [f"a list, {_NAMED[get_args(kind)[0]]} each" for kind in kinds if get_origin(kind) is tuple]
    least, most = (
        next((getattr(each, end) for each in info.metadata if hasattr(each, end)), None) for end in ("ge", "le")
    )
    if least is not None:
        names[0] += f" of at least {least}" if most is None else f" between {least} and {most}"
    return ", or ".join(names)
